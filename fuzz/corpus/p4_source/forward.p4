// Routes IPv4 by longest prefix, counts per entry.
// packet 02aaaaaaaaaa 02bbbbbbbbbb 0800 4500001c 00010000 4001aea8 0a2d0002 c0000209 0800f7fd00010001
#include <core.p4>
#include <v1model.p4>

typedef bit<48> mac_t;

header ethernet_t {
    mac_t dst;
    mac_t src;
    bit<16> kind;
}

header ipv4_t {
    bit<4> version;
    bit<4> ihl;
    bit<8> tos;
    bit<16> len;
    bit<32> skipped;
    bit<8> ttl;
    bit<8> protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

struct headers_t {
    ethernet_t eth;
    ipv4_t ip;
}

struct meta_t {}

parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start {
        p.extract(h.eth);
        transition select(h.eth.kind) {
            0x0800: ip;
            default: accept;
        }
    }
    state ip {
        p.extract(h.ip);
        verify(h.ip.ihl >= 5, error.HeaderTooShort);
        transition accept;
    }
}

control Check(inout headers_t h, inout meta_t m) {
    apply {
        verify_checksum(h.ip.isValid(), { h.ip.version, h.ip.ihl, h.ip.tos, h.ip.len }, h.ip.checksum, HashAlgorithm.csum16);
    }
}

control In(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    direct_counter(CounterType.packets_and_bytes) hits;
    action drop() {
        mark_to_drop(s);
    }
    action forward(bit<9> port, mac_t next) {
        s.egress_spec = port;
        h.eth.src = h.eth.dst;
        h.eth.dst = next;
        h.ip.ttl = h.ip.ttl |-| 1;
        hits.count();
    }
    table routes {
        key = {
            h.ip.dst: lpm;
            s.ingress_port: ternary @name("port");
        }
        actions = { forward; drop; @defaultonly NoAction; }
        default_action = drop();
        counters = hits;
        size = 1024;
    }
    apply {
        if (h.ip.isValid() && h.ip.ttl > 1) {
            routes.apply();
        } else {
            drop();
        }
    }
}

control Eg(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    apply {}
}

control Sum(inout headers_t h, inout meta_t m) {
    apply {
        update_checksum(h.ip.isValid(), { h.ip.version, h.ip.ihl, h.ip.tos, h.ip.len }, h.ip.checksum, HashAlgorithm.csum16);
    }
}

control D(packet_out p, in headers_t h) {
    apply {
        p.emit(h);
    }
}

V1Switch(P(), Check(), In(), Eg(), Sum(), D()) main;
