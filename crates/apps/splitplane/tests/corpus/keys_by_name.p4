// Keys whose names have brackets, colons and blanks.
#include <core.p4>
#include <v1model.p4>

header h_t { bit<8> a; bit<8> b; }
struct headers { h_t h; h_t[2] hs; }
struct meta { }

parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t s) {
    state start { pkt.extract(hdr.h); transition select(hdr.h.b) { 0: accept; default: more; } }
    state more { pkt.extract(hdr.hs.next); transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t s) {
    action send(bit<9> port) { s.egress_spec = port; }
    table t {
        key = {
            hdr.hs[0].isValid(): exact;
            hdr.h.a[7:4]: exact;
            hdr.h.a[ 3 : 0 ]: ternary;
            hdr.h.b & 0x0f: exact @name("low: [3:0] of (b)");
        }
        actions = { send; }
        default_action = send(9);
    }
    apply { t.apply(); }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t s) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
