// A NIC that only forwards, so every target runs it: what comes from the network goes to the host port of its MAC address, what comes from the host to the network.
#include <core.p4>
#include <pna.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header ipv4_t {
    bit<4> version; bit<4> ihl; bit<8> tos; bit<16> length;
    bit<16> id; bit<3> flags; bit<13> offset;
    bit<8> ttl; bit<8> protocol; bit<16> checksum;
    bit<32> src; bit<32> dst;
}
struct headers_t { ethernet_t eth; ipv4_t ip; }
struct meta_t { @mark bit<32> flow; }
struct none_t {}

parser Parse(packet_in p, out headers_t h, inout meta_t m, in pna_main_parser_input_metadata_t istd) {
    state start {
        p.extract(h.eth);
        transition select(h.eth.type, istd.direction) {
            (0x800, PNA_Direction_t.HOST_TO_NET) : ip;
            default : accept;
        }
    }
    state ip {
        p.extract(h.ip);
        transition accept;
    }
}

control Pre(in none_t h, inout none_t m, in pna_pre_input_metadata_t istd, inout pna_pre_output_metadata_t ostd) { apply { } }

control Steer(inout headers_t h, inout meta_t m, in pna_main_input_metadata_t istd, inout pna_main_output_metadata_t ostd) {
    Counter<bit<32>, bit<1>>(2, PNA_CounterType_t.PACKETS_AND_BYTES) ways;
    action to(PortId_t port) { send_to_port(port); }
    action drop() { drop_packet(); }
    table address {
        key = { SelectByDirection(istd.direction, h.eth.dst, h.eth.src) : exact @name("address"); }
        actions = { to; drop; }
        const default_action = drop();
    }
    apply {
        ways.count(istd.direction == PNA_Direction_t.HOST_TO_NET ? 1w1 : 1w0);
        address.apply();
        if (h.ip.isValid()) {
            if (h.ip.ttl < 2) { drop_packet(); } else { h.ip.ttl = h.ip.ttl - 1; }
        }
    }
}

control Deparse(packet_out p, in headers_t h, in meta_t m, in pna_main_output_metadata_t ostd) {
    apply {
        p.emit(h.eth);
        p.emit(h.ip);
    }
}

@host_ports(2)
PNA_NIC(Parse(), Pre(), Steer(), Deparse()) main;
