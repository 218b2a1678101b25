// `out` parameters that nothing sets; headers are invalid from the start, and what is set in part is named.
#include <core.p4>
#include <v1model.p4>

header h_t { bit<8> x; }
struct headers { h_t h; }
struct pair { bit<8> a; bit<8> b; }
struct meta { pair p; }

bit<8> both(in bit<8> x, out bit<8> y) { return x; }
void part(out pair p) { p.a = 1; }
void passed(out pair p) { part(p); }
parser P(packet_in packet, out headers hdr, inout meta m, inout standard_metadata_t sm) { state start { transition accept; } }
control V(inout headers hdr, inout meta m) { apply { } }
control Inner(out pair result, out h_t made) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    action count(out bit<8> n) { }
    Inner() inner;
    apply {
        bit<8> y;
        y = both(1, m.p.a);
        passed(m.p);
        count(m.p.b);
        inner.apply(m.p, hdr.h);
    }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
