/* A header put in front, with its checksum; a counter for each entry and one that many share; ways that meet again. */
#include <core.p4>
#include <v1model.p4>

header ethernet_h { bit<48> dst; bit<48> src; bit<16> ethertype; }
header ipv4_h {
    bit<4> version; bit<4> ihl; bit<8> tos; bit<16> total_length;
    bit<16> identification; bit<3> flags; bit<13> fragment_offset;
    bit<8> ttl; bit<8> protocol; bit<16> checksum; bit<32> src; bit<32> dst;
}
struct headers_t { ethernet_h ethernet; ipv4_h outer; ipv4_h ipv4; }
struct metadata_t { bit<16> next; bool known; }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            0x0800: parse_ipv4;
            default: accept;
        }
    }
    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.version == 4, error.ParserInvalidArgument);
        transition accept;
    }
}
control V(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid(), { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.tos, hdr.ipv4.total_length,
            hdr.ipv4.identification, hdr.ipv4.flags, hdr.ipv4.fragment_offset, hdr.ipv4.ttl, hdr.ipv4.protocol, hdr.ipv4.src,
            hdr.ipv4.dst }, hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    counter(100000, CounterType.packets_and_bytes) by_next;
    direct_counter(CounterType.packets) by_route;
    meter(16, MeterType.bytes) rate;
    action drop() {
        mark_to_drop(standard_metadata);
        exit;
    }
    action route(bit<16> next) {
        by_route.count();
        meta.next = next;
    }
    action tunnel(bit<32> src, bit<32> dst, bit<9> port) {
        hdr.outer.setValid();
        hdr.outer.version = 4;
        hdr.outer.ihl = 5;
        hdr.outer.total_length = hdr.ipv4.total_length + 20;
        hdr.outer.ttl = 64;
        hdr.outer.protocol = 4;
        hdr.outer.src = src;
        hdr.outer.dst = dst;
        standard_metadata.egress_spec = port;
    }
    table routes {
        key = { hdr.ipv4.dst: lpm; }
        actions = { route; drop; }
        default_action = drop();
        counters = by_route;
    }
    table tunnels {
        key = { meta.next: exact; }
        actions = { tunnel; NoAction; }
        default_action = NoAction();
    }
    apply {
        if (hdr.ipv4.isValid()) {
            meta.known = routes.apply().hit;
        } else {
            meta.next = 1;
        }
        by_next.count((bit<32>)meta.next);
        bit<2> colour;
        rate.execute_meter((bit<32>)meta.next, colour);
        if (colour == 2) {
            drop();
        }
        tunnels.apply();
    }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) { apply { } }
control C(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.outer.isValid(), { hdr.outer.version, hdr.outer.ihl, hdr.outer.tos, hdr.outer.total_length,
            hdr.outer.identification, hdr.outer.flags, hdr.outer.fragment_offset, hdr.outer.ttl, hdr.outer.protocol,
            hdr.outer.src, hdr.outer.dst }, hdr.outer.checksum, HashAlgorithm.csum16);
    }
}
control D(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.outer);
        packet.emit(hdr.ipv4);
    }
}
V1Switch(P(), V(), I(), E(), C(), D()) main;
