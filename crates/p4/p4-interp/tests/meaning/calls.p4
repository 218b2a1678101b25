// P4_16 §6.8: calling convention: call by copy in/copy out.
#include <v1model.p4>
#include "frame.p4"

void add(inout bit<8> x, in bit<8> y) { x = x + y; }
bit<8> bump(inout bit<8> z) { z = z + 16; return z; }
void two(out bit<8> x, out bit<8> y) { x = 1; y = 2; }
void both(inout bit<8> x, inout bit<8> y) { x = x + 1; y = y + x; }
void grow(inout bit<8> x, in bit<8> y) { x = x + 1; x = x + y; }
void nothing(inout bit<8> x, in bit<8> y) { }
void count4(inout bit<4> x, inout bit<4> y) { x = x + 1; y = y + 2; }
void weigh(inout bit<8> x, in bit<8> y = 5, in bit<8> z = 7) { x = x + y - z; }
void hand(inout h_t x, in bit<8> y) { x.b = x.b + y; }
bit<8> spoil(inout h_t x) { x.b = 0x77; x.c = 0x66; return 1; }
void clear(out h_t x) { if (!x.isValid()) { x = { 1, 2, 3, 4, 5, 6, 7, 8 }; } }
void drop_it(inout h_t x, in bit<8> y) { x.setInvalid(); }
void whole(inout bit<8> x, inout h_t y) { x = x + 1; y.b = x; }
T last<T>(in T x, in T y) { return y; }

INGRESS {
    bit<8> old;
    action look(inout bit<8> x) { x = x + 1; hdr.h.b = hdr.h.a; }
    action leave(inout bit<8> x) { x = x + 1; if (x == 6) { return; } x = x + 1; }
    action stop(inout bit<8> x) { x = 0x55; exit; }
    action outer(inout bit<8> x) { stop(x); x = 0; }
    action change() { hdr.h.a = hdr.h.a + 32; }
    table t { key = { hdr.h.op : exact; } actions = { change; NoAction; } const default_action = change(); }
    apply {
        h_t h = hdr.h;
        // The text's own example: the first argument is what it was before the second is evaluated.
        if (hdr.h.op == 1) { add(hdr.h.a, bump(hdr.h.a)); }
        // Named arguments are evaluated as they are written.
        else if (hdr.h.op == 2) { add(y = bump(hdr.h.a), x = hdr.h.a); }
        else if (hdr.h.op == 3) { add(x = hdr.h.a, y = bump(hdr.h.a)); }
        // Results are copied out from left to right: the last one stays.
        else if (hdr.h.op == 4) { two(hdr.h.a, hdr.h.a); }
        else if (hdr.h.op == 5) { two(y = hdr.h.a, x = hdr.h.a); }
        // Parameters are no aliases of each other.
        else if (hdr.h.op == 6) { both(hdr.h.a, hdr.h.a); }
        else if (hdr.h.op == 7) { both(y = hdr.h.a, x = hdr.h.a); }
        else if (hdr.h.op == 8) { grow(hdr.h.a, hdr.h.a); }
        // Nor of what the callee sees otherwise.
        else if (hdr.h.op == 9) { look(hdr.h.a); }
        // A result is copied out even if nothing was written to it.
        else if (hdr.h.op == 10) { nothing(hdr.h.a, bump(hdr.h.a)); }
        // §12.4, §12.5: return and exit copy out, through all callers.
        else if (hdr.h.op == 11) { leave(hdr.h.a); }
        else if (hdr.h.op == 12) { stop(hdr.h.a); hdr.h.b = 0; }
        else if (hdr.h.op == 13) { outer(hdr.h.a); hdr.h.b = 0; }
        // Slices of one field are places of their own.
        else if (hdr.h.op == 14) { count4(hdr.h.a[7:4], hdr.h.a[3:0]); }
        else if (hdr.h.op == 15) { count4(hdr.h.a[5:2], hdr.h.a[3:0]); }
        // Default values stand for arguments that are left out.
        else if (hdr.h.op == 16) { weigh(hdr.h.a); }
        else if (hdr.h.op == 17) { weigh(x = hdr.h.a, z = 1); }
        // Whole headers, and fields of them.
        else if (hdr.h.op == 18) { hand(hdr.h, spoil(hdr.h)); }
        else if (hdr.h.op == 19) { clear(hdr.h); }
        else if (hdr.h.op == 20) { hand(h, bump(h.b)); hdr.h = h; }
        else if (hdr.h.op == 21) { whole(hdr.h.b, hdr.h); }
        else if (hdr.h.op == 22) { whole(y = hdr.h, x = hdr.h.b); }
        else if (hdr.h.op == 23) { drop_it(h, bump(h.a)); if (h.isValid()) { hdr.h.a = 0; } else { hdr.h.a = 1; } }
        // An argument that applies a table, whose action writes to the place of one before it.
        else if (hdr.h.op == 24) { add(hdr.h.a, t.apply().miss ? 8w1 : 8w2); }
        // Calls in calls.
        else if (hdr.h.op == 25) { add(hdr.h.a, bump(hdr.h.a) + bump(hdr.h.a)); }
        else if (hdr.h.op == 26) { hdr.h.b = last(hdr.h.a, bump(hdr.h.a)) + hdr.h.a; }
        else if (hdr.h.op == 27) { hdr.h.b = last(bump(hdr.h.a), hdr.h.a); }
        // An argument that does not matter, and one that is not written to.
        else if (hdr.h.op == 28) { two(_, hdr.h.a); }
        sm.egress_spec = 1;
    }
}
MAIN
