// A table of wildcard rules without entries is passed over, and a header is made in its action only: what is valid is told all the same.
#include <core.p4>
#include <v1model.p4>

header base_t { bit<8> v; }
struct headers { base_t base; base_t second; base_t made; }
struct meta { }

parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    @likely state start { pkt.extract(hdr.base); pkt.extract(hdr.second); transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    action make() { hdr.made.setValid(); hdr.made.v = 0xee; }
    action to(bit<9> port) { sm.egress_spec = port; }
    table wild {
        key = { hdr.base.v : ternary; }
        actions = { make; NoAction; }
        default_action = NoAction();
    }
    table port {
        key = { hdr.second.v : exact; }
        actions = { to; NoAction; }
        const entries = { 8w2 : to(1); }
        default_action = NoAction();
    }
    apply {
        wild.apply();
        port.apply();
        if (hdr.made.isValid()) { hdr.base.v = 0xdd; }
    }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr.made); pkt.emit(hdr.base); pkt.emit(hdr.second); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
