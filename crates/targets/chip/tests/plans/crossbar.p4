/* A key of 68 bytes is more than a stage's ternary crossbar takes. */
#include "top.inc"
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    action send(bit<9> port) { s.egress_spec = port; }
    action none() { }
    table wide {
        key = { m.w: ternary; m.v: ternary; (m.w | 1) ^ m.v: ternary @name("p"); m.w & m.v: ternary @name("q"); hdr.h.c: ternary; }
        actions = { send; none; } default_action = none(); size = 64;
    }
    apply { m.w = (bit<128>)hdr.h.c; m.v = (bit<128>)hdr.h.d; wide.apply(); }
}
V1Switch(P(), VC(), I(), E(), CC(), D()) main;
