// P4_16 §8.20: whatever is done to a member of a header union as a whole, no other is valid behind it.
#include <v1model.p4>

header start_t { bit<8> op; bit<8> r; bit<8> one; }
header one_t { bit<8> v; }
header two_t { bit<8> v; bit<8> w; }
header_union either_t { one_t one; two_t two; one_t same; }
struct pair_t { either_t u; either_t w; }
struct headers { start_t start; either_t u; either_t other; one_t h; }
struct metadata { }

void touch(inout two_t x) { }
void fill(out two_t x, in bool valid) { if (valid) { x = { 7, 8 }; } }
void change(inout two_t x, in bool valid) { if (valid) { x.setValid(); x.v = 7; x.w = 8; } }
two_t make(in bool valid) { two_t x; if (valid) { x = { 7, 8 }; } return x; }

control Member(inout two_t x) { apply { if (x.isValid()) { x.v = 1; } } }
control Whole(inout either_t x) { apply { x.same.setInvalid(); } }

parser P(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    state start { packet.extract(hdr.start); packet.extract(hdr.u.one); transition select(hdr.start.op) { 0x80: parsed; default: accept; } }
    state parsed { hdr.u.two.setInvalid(); transition accept; }
}
control V(inout headers hdr, inout metadata meta) { apply { } }
control I(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    Member() c;
    Whole() Inner;
    action emptied() { hdr.u.same = {#}; }
    table t { actions = { emptied; } default_action = emptied(); }
    apply {
        sm.egress_spec = 1;
        if (hdr.start.op == 1) { hdr.u.two.setInvalid(); }
        else if (hdr.start.op == 2) { two_t t; t.setInvalid(); hdr.u.two = t; }
        else if (hdr.start.op == 3) { two_t t; hdr.u.two = t; }
        else if (hdr.start.op == 4) { hdr.u.two = (two_t) {#}; }
        else if (hdr.start.op == 5) { hdr.u.two = {#}; }
        else if (hdr.start.op == 6) { touch(hdr.u.two); }
        else if (hdr.start.op == 7) { fill(hdr.u.two, false); }
        else if (hdr.start.op == 8) { fill(hdr.u.two, true); }
        else if (hdr.start.op == 9) { change(hdr.u.two, false); }
        else if (hdr.start.op == 10) { change(hdr.u.two, true); }
        else if (hdr.start.op == 11) { hdr.u.two = make(false); }
        else if (hdr.start.op == 12) { hdr.u.two = make(true); }
        else if (hdr.start.op == 13) { two_t t; t.setValid(); t = { 1, 2 }; two_t n; hdr.u.two = (hdr.start.r == 0 ? n : t); }
        else if (hdr.start.op == 14) { two_t t; t.setValid(); t = { 1, 2 }; two_t n; hdr.u.two = (hdr.start.r == 1 ? n : t); }
        else if (hdr.start.op == 15) { hdr.u.two = hdr.other.two; }
        else if (hdr.start.op == 16) { hdr.u.one = hdr.h; }
        else if (hdr.start.op == 17) { hdr.u.same = hdr.u.one; }
        else if (hdr.start.op == 18) { hdr.u.one = hdr.u.same; }
        else if (hdr.start.op == 19) { hdr.u.one = hdr.u.one; }
        else if (hdr.start.op == 20) { hdr.u.two = hdr.u.two; }
        else if (hdr.start.op == 21) { hdr.u = hdr.other; }
        else if (hdr.start.op == 22) { hdr.u = (either_t) {#}; }
        else if (hdr.start.op == 23) { pair_t p; p.u = hdr.u; p.u.two.setInvalid(); hdr.u = p.u; }
        else if (hdr.start.op == 24) { pair_t p; p.u = hdr.u; hdr.u.one.setInvalid(); hdr.u = p.u; }
        else if (hdr.start.op == 25) { t.apply(); }
        else if (hdr.start.op == 26) { hdr.u.two.v = 9; }
        else if (hdr.start.op == 27) { hdr.u.one.setValid(); }
        else if (hdr.start.op == 28) { hdr.u.two.setValid(); hdr.u.two.v = 1; hdr.u.two.w = 2; hdr.u.one.setInvalid(); }
        else if (hdr.start.op == 29) { c.apply(hdr.u.two); }
        else if (hdr.start.op == 30) { Inner.apply(hdr.u); }
        else if (hdr.start.op == 31) { emptied(); }
        hdr.start.r = hdr.u.isValid() ? 8w1 : 0;
        hdr.start.one = hdr.u.one.isValid() ? 8w1 : 0;
    }
}
control E(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout metadata meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
