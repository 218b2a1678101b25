// Tables: properties in their order, actions that are actions, keys and entries that fit.
#include <core.p4>
header h_t { bit<8> x; bit<16> y; }
action NoAction2() { }
bit<8> fun() { return 1; }
control c(inout h_t h) {
    action a(bit<8> v) { h.x = v; }
    action b(in bit<8> d, bit<8> v) { h.x = v + d; }
    table early { default_action = a(1); actions = { a; } key = { h.x: exact; } }
    table none { key = { h.x: exact; } }
    table twice { actions = { a; a; } key = { h.x: exact; } key = { h.y: exact; } }
    table kinds { key = { h.x: exakt; h: exact; 5: exact; } actions = { a; } }
    table bound { actions = { b; } }
    table bound2 { actions = { b(h.x); } default_action = b(h.y, 1); }
    table unlisted { actions = { a; } default_action = NoAction2; }
    table functions { actions = { fun; nothere; } }
    table entries_ {
        key = { h.x: ternary; h.y: lpm; }
        actions = { a; @defaultonly NoAction; }
        const entries = {
            (1 &&& 3, 0x8000 &&& 0x8000): a(1);
            (1, 2): a();
            (1, 2): a(1, 2);
            (1 .. 3, 2): a(1);
            (1, 5 &&& 5): a(1);
            (1): a(1);
            (1, true): a(1);
            (1, 2): NoAction();
            (h.x, 2): a(1);
            (_, _): a(h.x);
        }
    }
    table sized { key = { h.x: exact; } actions = { a; } size = true; }
    table implemented { key = { h.x: exact; } actions = { a; } implementation = nowhere(5); }
    apply {
        early.apply(); none.apply(); twice.apply(); kinds.apply(); bound.apply(); bound2.apply();
        if (entries_.apply().hitt) { }
        switch (entries_.apply().action_run) { a: { } b: { } a: { } default: { } default: { } }
        unlisted.apply(1);
        entries_();
    }
}
