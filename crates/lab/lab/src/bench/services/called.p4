/* IPv4 forwarding by the destination, with a call of a service that does nothing in the middle: CALL waits for it, SEND does not. */
#include <core.p4>
#include <v1model.p4>
#include <service.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header ipv4_t {
    bit<8> version_ihl; bit<8> tos; bit<16> length; bit<16> id; bit<16> fragment;
    bit<8> ttl; bit<8> protocol; bit<16> checksum; bit<32> src; bit<32> dst;
}
struct headers { ethernet_t eth; ipv4_t ip; }
struct meta { bit<8> result; }
struct request_t { bit<32> bearer; bit<32> sn; }
struct answer_t { bit<8> result; }

parser P(packet_in b, out headers hdr, inout meta m, inout standard_metadata_t s) {
    state start {
        b.extract(hdr.eth);
        transition select(hdr.eth.type) { 0x0800: ipv4; default: accept; }
    }
    state ipv4 { b.extract(hdr.ip); transition accept; }
}

control I(inout headers hdr, inout meta m, inout standard_metadata_t s) {
    Service<request_t, answer_t>("null") service;
    action forward(bit<9> port, bit<48> dst) { s.egress_spec = port; hdr.eth.dst = dst; }
    action refuse() { mark_to_drop(s); }
    table route { key = { hdr.ip.dst: exact; } actions = { forward; refuse; } default_action = refuse(); size = 1024; }
    apply {
        if (hdr.ip.isValid()) {
#ifdef CALL
            answer_t answer;
            service.call({ hdr.ip.dst, (bit<32>)hdr.ip.id }, answer);
            m.result = answer.result;
#endif
#ifdef SEND
            service.send({ hdr.ip.dst, (bit<32>)hdr.ip.id });
#endif
            hdr.ip.ttl = hdr.ip.ttl - 1 - m.result;
            route.apply();
        } else {
            mark_to_drop(s);
        }
    }
}

control E(inout headers hdr, inout meta m, inout standard_metadata_t s) { apply { } }
control V(inout headers hdr, inout meta m) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out b, in headers hdr) { apply { b.emit(hdr.eth); b.emit(hdr.ip); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
