// P4_16 §12.8: tables that are applied in loops (§14.2).
#include <v1model.p4>
#include "frame.p4"

INGRESS {
    action add(bit<8> v) { hdr.h.c = hdr.h.c + v; }
    action go(bit<8> to) { hdr.h.a = to; }
    action stop() { hdr.h.e = 0xee; exit; }
    table chain {
        key = { hdr.h.a : exact; }
        actions = { go; stop; NoAction; }
        const entries = { 1 : go(2); 2 : go(5); 5 : go(7); 9 : stop(); }
        const default_action = NoAction();
    }
    table sums {
        key = { hdr.h.b : ternary; }
        actions = { add; NoAction; }
        const entries = { 0x10 &&& 0xf0 : add(1); 0x20 &&& 0xf0 : add(3); }
        const default_action = add(0x40);
    }
    table plain { actions = { add; } const default_action = add(2); }
    table filled { key = { hdr.h.b : exact; } actions = { add; NoAction; } default_action = NoAction(); size = 16; }
    apply {
        sm.egress_spec = 1;
        bit<8> n = 0;
        if (hdr.h.op == 1) {
            // Each round sees what the action of the round before has done.
            for (bit<8> i in 1 .. 8) { if (!chain.apply().hit) { break; } n = n + 1; }
            hdr.h.d = n;
        } else if (hdr.h.op == 2) {
            for (bit<8> i in 1 .. 3) { sums.apply(); hdr.h.b = hdr.h.b + 0x10; }
        } else if (hdr.h.op == 3) {
            for (bit<8> i in 1 .. 4) { switch (chain.apply().action_run) { go: { n = n + 1; } NoAction: { n = n + 0x10; } default: { } } }
            hdr.h.d = n;
        } else if (hdr.h.op == 4) {
            for (bit<8> i in 1 .. 3) { plain.apply(); }
        } else if (hdr.h.op == 5) {
            for (bit<8> i in 1 .. 2) {
                for (bit<8> j in 1 .. 3) {
                    if (j == 2) { continue; }
                    plain.apply();
                    if (filled.apply().miss) { n = n + 1; }
                }
                hdr.h.b = hdr.h.b + 1;
            }
            hdr.h.d = n;
        } else if (hdr.h.op == 6) {
            // A table before a loop, in it and behind it.
            filled.apply();
            for (bit<8> i in 1 .. 2) { hdr.h.b = hdr.h.b + 1; filled.apply(); }
            chain.apply();
            hdr.h.d = 1;
        }
        hdr.h.f = 1;
    }
}
MAIN
