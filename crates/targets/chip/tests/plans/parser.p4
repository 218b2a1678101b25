/* A parser that computes, reads a field of variable length, goes deep, as ingress may, and looks at too much. */
#define PARSER
#include "top.inc"
header big_h { bit<1024> x; bit<1024> y; }
header var_h { bit<8> length; varbit<320> rest; }
struct more_t { h_h h; big_h big; var_h v; }
parser Q(packet_in p, out more_t hdr, inout meta_t m, inout standard_metadata_t s) {
    state start {
        p.extract(hdr.h);
        m.x = m.x + 1;
        transition select(hdr.h.c) {
            1 .. 0xFFFFFFFE: deep;
            default: variable;
        }
    }
    state deep { p.extract(hdr.big); transition accept; }
    state variable { p.extract(hdr.v, hdr.h.c); transition accept; }
}
control VC2(inout more_t hdr, inout meta_t m) { apply { } }
control I(inout more_t hdr, inout meta_t m, inout standard_metadata_t s) { apply { s.egress_spec = (bit<9>)m.x; } }
control E2(inout more_t hdr, inout meta_t m, inout standard_metadata_t s) { apply { } }
control CC2(inout more_t hdr, inout meta_t m) { apply { } }
control D2(packet_out p, in more_t hdr) { apply { p.emit(hdr.h); p.emit(hdr.big); p.emit(hdr.v); } }
V1Switch(Q(), VC2(), I(), E2(), CC2(), D2()) main;
