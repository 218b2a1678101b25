// P4_16 §14.2: tables: match kinds, constant entries and their order, priorities, default actions, bound arguments.
#include <v1model.p4>
#include "frame.p4"

INGRESS {
    action set(bit<8> v) { hdr.h.c = v; }
    action both(inout bit<8> x, in bit<8> y, bit<8> v) { x = x + v; hdr.h.d = y; }
    // Constant entries are tried in the order of the program.
    table ternaries {
        key = { hdr.h.a : ternary; hdr.h.b : ternary; }
        actions = { set; }
        const entries = {
            (0x10 &&& 0xf0, 1) : set(1);
            (0x11, _) : set(2);
            (_, 7) : set(3);
            (0x80 &&& 0x80, 0x0f &&& 0x0c) : set(4);
        }
        const default_action = set(0xff);
    }
    table ranges {
        key = { hdr.h.a : range; hdr.h.b : exact; }
        actions = { set; }
        const entries = { (5 .. 10, 1) : set(1); (8 .. 20, 1) : set(2); (_, 2) : set(3); (255 .. 255, 3) : set(4); }
        const default_action = set(0xff);
    }
    table prefixes {
        key = { hdr.h.a : lpm; }
        actions = { set; }
        const entries = { 0x80 &&& 0x80 : set(1); 0xc0 &&& 0xc0 : set(2); 0xc1 : set(3); _ : set(4); }
        const default_action = set(0xff);
    }
    // Larger priorities win, wherever they stand; entries without one follow the one before.
    table priorities {
        key = { hdr.h.a : ternary; }
        actions = { set; }
        entries = { priority = 10 : 0x10 &&& 0xf0 : set(1); priority = 30 : 0x11 &&& 0xff : set(2); 0x01 &&& 0x01 : set(3); }
        default_action = set(0xff);
    }
    table smallest {
        key = { hdr.h.a : ternary; }
        actions = { set; }
        largest_priority_wins = false;
        entries = { priority = 10 : 0x10 &&& 0xf0 : set(1); priority = 5 : 0x11 &&& 0xff : set(2); }
        default_action = set(0xff);
    }
    // Arguments with a direction are evaluated when the action runs.
    table bound {
        key = { hdr.h.a : exact; }
        actions = { both(hdr.h.c, hdr.h.b); NoAction; }
        default_action = both(hdr.h.c, hdr.h.b, 100);
    }
    table keyless { actions = { set; } default_action = set(5); }
    table choices { key = { hdr.h.a : optional; } actions = { set; } default_action = set(0xff); }
    apply {
        sm.egress_spec = 1;
        if (hdr.h.op == 1) { ternaries.apply(); }
        else if (hdr.h.op == 2) { ranges.apply(); }
        else if (hdr.h.op == 3) { prefixes.apply(); }
        else if (hdr.h.op == 4) { priorities.apply(); }
        else if (hdr.h.op == 5) { smallest.apply(); }
        else if (hdr.h.op == 6) { bound.apply(); }
        // Without a key nothing hits.
        else if (hdr.h.op == 7) { if (keyless.apply().hit) { hdr.h.d = 1; } else { hdr.h.d = 2; } }
        else if (hdr.h.op == 8) { choices.apply(); }
    }
}
MAIN
