/* A table that is before another in one branch, and behind it in the other. */
#include "top.inc"
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    action set_x(bit<16> v) { m.x = v; }
    action set_y(bit<16> v) { m.y = v; }
    action none() { }
    table a { key = { m.y: exact; } actions = { set_x; none; } default_action = none(); }
    table b { key = { m.x: exact; } actions = { set_y; none; } default_action = none(); }
    apply { if (hdr.h.a == 1) { a.apply(); b.apply(); } else { b.apply(); a.apply(); } }
}
V1Switch(P(), VC(), I(), E(), CC(), D()) main;
