// A package of the program's own of that name that says nothing of its blocks' types: they must agree all the same.
#include <core.p4>
struct standard_metadata_t { bit<9> ingress_port; bit<9> egress_spec; bit<9> egress_port; }
parser Parser<H, M>(packet_in b, out H h, inout M m, inout standard_metadata_t s);
control Two<A, B>(inout A a, inout B b);
control Three<A, B, C>(inout A a, inout B b, inout C c);
control Deparser<H>(packet_out b, in H h);
package V1Switch<H, M, A, B, C, D, E>(Parser<H, M> p, Two<H, M> v, Three<A, B, C> i, Three<H, M, D> e, Two<H, M> c, Deparser<E> d);
header h_t { bit<8> a; }
header k_t { bit<16> a; }
struct H { h_t h; }
struct K { k_t k; }
struct M { }
parser P(packet_in k, out H h, inout M m, inout standard_metadata_t s) { state start { k.extract(h.h); transition accept; } }
control V(inout H h, inout M m) { apply { } }
control I(inout M m, inout H h, inout standard_metadata_t s) { apply { s.egress_spec = 1; } }
control E(inout H h, inout M m, inout standard_metadata_t s) { apply { } }
control D(packet_out k, in K h) { apply { k.emit(h.k); } }
V1Switch(P(), V(), I(), E(), V(), D()) main;
