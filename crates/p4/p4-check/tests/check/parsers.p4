// Parsers that never end, and states that are not there.
#include <core.p4>
header h_t { bit<8> x; }
header v_t { varbit<8> a; varbit<8> b; }
parser round(packet_in p) {
    state start { transition one; }
    state one { transition two; }
    state two { transition one; }
}
parser ends(packet_in p, out h_t h) {
    state start { p.extract(h); transition select(h.x) { 1: start; 2: nowhere; 3: acept; } }
}
parser built_in() {
    state start { transition accept; }
    state accept { transition reject; }
}
parser two_varbits(packet_in p, out v_t h) { state start { p.extract(h, 8); transition accept; } }
parser keys(in bit<8> a, in bool b, in h_t h) {
    state start {
        transition select(a, b) {
            (1, true): accept;
            (1, 2): accept;
            (a &&& a, _): accept;
            (1 .. a, _): accept;
            (1, true, 1): accept;
            (true, _): accept;
            default: more;
        }
    }
    state more { transition select(h) { default: last; } }
    state last { transition select(5) { default: accept; } }
}
