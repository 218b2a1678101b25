#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<16> a;
    bit<8> b;
    bit<8> c;
    bit<128> w;
}
struct headers_t {
    h_t h;
}
struct meta_t {
    bit<32> x;
}

parser P(packet_in packet, out headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.h);
        transition accept;
    }
}

control V(inout headers_t hdr, inout meta_t meta) {
    apply { }
}

control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        for (bit<8> i in 0 .. 3) {
            digest<bit<8>>(1, i);
        }
    }
}

control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t sm) {
    apply { }
}

control C(inout headers_t hdr, inout meta_t meta) {
    apply { }
}

control D(packet_out packet, in headers_t hdr) {
    apply { packet.emit(hdr); }
}

V1Switch(P(), V(), I(), E(), C(), D()) main;
