// P4_16 §12: assignments of structs, return, exit, if, switch, for; §11.2: variables; §14.3: invoking controls.
#include <v1model.p4>
#include "frame.p4"

struct pair_t { bit<8> x; bit<8> y; }
bit<8> bump(inout bit<8> z) { z = z + 1; return z; }
bit<8> early(in bit<8> v) { if (v == 1) { return 10; } if (v == 2) { return 20; } return 30; }

control Inner(inout bit<8> v, inout headers hdr) {
    bit<8> own = 5;
    action mark() { hdr.h.e = 0x77; }
    table t { key = { v : exact; } actions = { mark; NoAction; } const entries = { 9 : mark(); } const default_action = NoAction(); }
    apply {
        // A local variable starts anew each time.
        own = own + 1;
        hdr.h.d = own;
        if (v == 1) { v = 2; return; }
        if (v == 3) { v = 4; exit; }
        t.apply();
        v = v + 1;
    }
}

INGRESS {
    Inner() inner;
    action set(bit<8> v) { hdr.h.c = v; }
    action other() { hdr.h.c = 0xcc; }
    action third() { hdr.h.c = 0xdd; }
    table t {
        key = { hdr.h.a : exact; }
        actions = { set; other; third; NoAction; }
        const entries = { 1 : set(0x11); 2 : other(); 3 : third(); }
        const default_action = set(0x99);
    }
    apply {
        sm.egress_spec = 1;
        bit<8> n = 0;
        // §12.1: both sides are there before anything is written.
        if (hdr.h.op == 1) { pair_t p = { hdr.h.a, hdr.h.b }; p = { p.y, p.x }; hdr.h.a = p.x; hdr.h.b = p.y; }
        else if (hdr.h.op == 2) { pair_t p = { 1, 2 }; pair_t q = p; q.x = 9; hdr.h.a = p.x; hdr.h.b = q.x; if (p != q) { hdr.h.c = 1; } }
        // §12.7: by the action that ran, hit or miss; a label without a body falls through.
        else if (hdr.h.op == 3) { switch (t.apply().action_run) { set: { hdr.h.d = 1; } other: third: { hdr.h.d = 2; } default: { hdr.h.d = 3; } } }
        else if (hdr.h.op == 4) { switch (hdr.h.a) { 1: 2: { hdr.h.b = 1; } 3: { } 4: { hdr.h.b = 4; } default: { hdr.h.b = 9; } } }
        else if (hdr.h.op == 5) { switch (hdr.h.a) { 1: { hdr.h.b = 1; } 2: } hdr.h.c = 1; }
        // §14.2.3: hit and miss.
        else if (hdr.h.op == 6) { if (t.apply().hit) { hdr.h.d = 1; } else { hdr.h.d = 2; } }
        else if (hdr.h.op == 7) { bool missed = t.apply().miss; if (missed) { hdr.h.d = 1; } }
        // §12.4, §12.5, §14.3
        else if (hdr.h.op == 8) { inner.apply(hdr.h.a, hdr); hdr.h.f = 1; }
        else if (hdr.h.op == 9) { bit<8> v = 8; inner.apply(v, hdr); hdr.h.b = hdr.h.d; inner.apply(v, hdr); hdr.h.a = v; }
        else if (hdr.h.op == 10) { hdr.h.b = early(hdr.h.a); }
        // §12.8
        else if (hdr.h.op == 11) { for (bit<8> i in 1 .. 4) { n = n + i; } hdr.h.b = n; }
        else if (hdr.h.op == 12) { for (bit<8> i = 0; i < hdr.h.a; i = i + 1) { if (i == 2) { continue; } if (i == 5) { break; } n = n + i; } hdr.h.b = n; }
        else if (hdr.h.op == 13) { for (bit<8> i in hdr.h.a .. hdr.h.b) { n = n + 1; } hdr.h.c = n; }
        // The bounds are evaluated once, before the first turn.
        else if (hdr.h.op == 14) { bit<8> end = 3; for (bit<8> i in 1 .. end) { end = 9; n = n + 1; } hdr.h.c = n; }
        else if (hdr.h.op == 15) { for (bit<8> i in 1 .. 2) { for (bit<8> j in 1 .. 5) { if (j == 3) { break; } n = n + 1; } } hdr.h.c = n; }
        // else belongs to the innermost if.
        else if (hdr.h.op == 16) { if (hdr.h.a == 1) if (hdr.h.b == 1) { hdr.h.c = 1; } else { hdr.h.c = 2; } }
        // A name of an inner block hides the outer one.
        else if (hdr.h.op == 17) { bit<8> v = 1; { bit<8> v = 2; hdr.h.b = v; } hdr.h.c = v; }
    }
}
MAIN
