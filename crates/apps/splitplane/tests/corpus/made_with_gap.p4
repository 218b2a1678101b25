// Two made headers around one that is surely invalid where packets leave: in the output they follow each other, in memory not.
#include <core.p4>
#include <v1model.p4>

header base_t { bit<8> v; }
header short_t { bit<16> v; }
struct headers { base_t base; short_t first; short_t between; short_t second; }
struct meta { }

parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    state start { pkt.extract(hdr.base); transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        if (hdr.base.v[0:0] == 1) { hdr.first.setValid(); hdr.first.v = 0x1111; }
        if (hdr.base.v[1:1] == 1) { hdr.between.setValid(); hdr.between.v = 0x2222; }
        if (hdr.base.v[2:2] == 1) { hdr.second.setValid(); hdr.second.v = 0x3333; }
        hdr.base.v = (bit<8>)hdr.between.v;
        hdr.between.setInvalid();
    }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out pkt, in headers hdr) {
    apply { pkt.emit(hdr.base); pkt.emit(hdr.first); pkt.emit(hdr.between); pkt.emit(hdr.second); }
}
V1Switch(P(), V(), I(), E(), C(), D()) main;
