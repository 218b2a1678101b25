// The port is read from a header that the deparser moves: it is what the header held before.
#include <core.p4>
#include <v1model.p4>

header base_t { bit<8> v; }
struct headers { base_t base; base_t second; }
struct meta { }

parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    @likely state start { pkt.extract(hdr.base); pkt.extract(hdr.second); transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) { apply { sm.egress_spec = (bit<9>)hdr.base.v; } }
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr.second); pkt.emit(hdr.base); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
