// A header of the packet stays, or is taken away and made again: the same headers are valid, but their bytes are elsewhere.
#include <core.p4>
#include <v1model.p4>

header base_t { bit<8> v; }
struct headers { base_t base; base_t second; }
struct meta { }

parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    @likely state start { pkt.extract(hdr.base); pkt.extract(hdr.second); transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        if (hdr.base.v == 1) { hdr.second.setInvalid(); }
        hdr.base.v = 0xee;
        hdr.second.setValid();
    }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr.base); pkt.emit(hdr.second); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
