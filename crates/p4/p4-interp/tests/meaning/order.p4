// P4_16 §8.1: expression evaluation order; §12.1: assignment; §14.2.2: order of a table's keys.
#include <v1model.p4>
#include "frame.p4"

bit<8> bump(inout bit<8> z) { z = z + 16; return z; }
bit<3> next(inout bit<8> z) { z = z + 1; return z[2:0]; }
bool yes(inout bit<8> z) { z = z + 1; return true; }
bool no(inout bit<8> z) { z = z + 1; return false; }

INGRESS {
    action hit(bit<8> v) { hdr.h.b = v; }
    table keys {
        key = { hdr.h.a : exact; bump(hdr.h.a) : exact @name("bumped"); hdr.h.a : exact @name("again"); }
        actions = { hit; NoAction; }
        const entries = { (1, 17, 17) : hit(0x99); (17, 17, 17) : hit(0x88); (1, 17, 1) : hit(0x77); }
        const default_action = NoAction();
    }
    apply {
        // Operands from left to right.
        if (hdr.h.op == 1) { hdr.h.b = hdr.h.a - bump(hdr.h.a); }
        else if (hdr.h.op == 2) { hdr.h.b = bump(hdr.h.a) - hdr.h.a; }
        else if (hdr.h.op == 3) { hdr.h.b = hdr.h.a + bump(hdr.h.a) + hdr.h.a; }
        // The second operand of && and || only where it is needed.
        else if (hdr.h.op == 4) { if (no(hdr.h.a) && yes(hdr.h.b)) { hdr.h.c = 1; } }
        else if (hdr.h.op == 5) { if (yes(hdr.h.a) && no(hdr.h.b)) { hdr.h.c = 1; } }
        else if (hdr.h.op == 6) { if (yes(hdr.h.a) || yes(hdr.h.b)) { hdr.h.c = 1; } }
        else if (hdr.h.op == 7) { if (no(hdr.h.a) || yes(hdr.h.b)) { hdr.h.c = 1; } }
        // One side of ?: alone.
        else if (hdr.h.op == 8) { hdr.h.c = hdr.h.a == 1 ? bump(hdr.h.b) : bump(hdr.h.d); }
        else if (hdr.h.op == 9) { hdr.h.c = bump(hdr.h.a) == 17 ? hdr.h.a : 8w0; }
        // The left side, then the right one, then the assignment.
        else if (hdr.h.op == 10) { hdr.h.a = bump(hdr.h.a) + 1; }
        else if (hdr.h.op == 11) { hdr.h.a[3:0] = bump(hdr.h.a)[7:4]; }
        // A += B is A = A + B.
        else if (hdr.h.op == 12) { hdr.h.a += bump(hdr.h.a); }
        else if (hdr.h.op == 13) { hdr.h.a[3:0] += bump(hdr.h.a)[7:4]; }
        // Each key is evaluated to a variable of its own.
        else if (hdr.h.op == 14) { keys.apply(); }
        // Lists too.
        else if (hdr.h.op == 15) { tuple<bit<8>, bit<8>> p = { hdr.h.a, bump(hdr.h.a) }; hdr.h.b = p[0]; hdr.h.c = p[1]; }
        else if (hdr.h.op == 16) { if ({ hdr.h.a, bump(hdr.h.a) } == { 8w1, 8w17 }) { hdr.h.b = 1; } }
        // The expression of a switch, whose effects its cases see.
        else if (hdr.h.op == 17) { switch (bump(hdr.h.a)) { 17: { hdr.h.b = hdr.h.a; } default: { hdr.h.b = 0xff; } } }
        // Concatenation, shifts and slices.
        else if (hdr.h.op == 18) { bit<16> w = hdr.h.a ++ bump(hdr.h.a); hdr.h.b = w[15:8]; hdr.h.c = w[7:0]; }
        else if (hdr.h.op == 19) { hdr.h.b = hdr.h.b << next(hdr.h.a); }
        else if (hdr.h.op == 20) { hdr.h.b = hdr.h.a << next(hdr.h.a); }
        sm.egress_spec = 1;
    }
}
MAIN
