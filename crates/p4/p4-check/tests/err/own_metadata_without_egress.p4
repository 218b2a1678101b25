// An architecture of the program's own without what an extern of it needs.
#include <core.p4>
struct standard_metadata_t {
    bit<9> ingress_port; bit<9> egress_port;
}
extern void mark_to_drop(inout standard_metadata_t s);
parser Parser<H, M>(packet_in b, out H h, inout M m, inout standard_metadata_t s);
control VerifyChecksum<H, M>(inout H h, inout M m);
control Ingress<H, M>(inout H h, inout M m, inout standard_metadata_t s);
control Egress<H, M>(inout H h, inout M m, inout standard_metadata_t s);
control ComputeChecksum<H, M>(inout H h, inout M m);
control Deparser<H>(packet_out b, in H h);
package V1Switch<H, M>(Parser<H, M> p, VerifyChecksum<H, M> v, Ingress<H, M> i, Egress<H, M> e, ComputeChecksum<H, M> c, Deparser<H> d);
header h_t { bit<8> a; }
struct H { h_t h; }
struct M { }
parser P(packet_in k, out H h, inout M m, inout standard_metadata_t s) { state start { k.extract(h.h); transition accept; } }
control V(inout H h, inout M m) { apply { } }
control I(inout H h, inout M m, inout standard_metadata_t s) { apply { mark_to_drop(s); } }
control E(inout H h, inout M m, inout standard_metadata_t s) { apply { } }
control C(inout H h, inout M m) { apply { } }
control D(packet_out k, in H h) { apply { k.emit(h.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
