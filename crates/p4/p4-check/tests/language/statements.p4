// Every statement and operator (P4_16 §8, §12).
#include <core.p4>

match_kind { range, optional }
header h_t { bit<8> a; bit<16> b; }
extern bit<8> pick(in bit<8> x, @optional in bit<8> y);
extern bit<8> pick(in bit<8> x, in bit<8> y, in bit<8> z);
bit<8> twice(in bit<8> x = 4, in bit<8> factor = 2) { return x * factor; }
T same<T>(in T x) { return x; }
void swap<T>(inout T x, inout T y) { T t = x; x = y; y = t; }
bit<8> early(in bit<8> x) {
    switch (x) { 1: { return 5; } 2: 3: { return 6; } default: { return 7; } }
}

control inner_c(inout bit<8> x) { apply { x = x + 1; } }
control c(inout h_t h, inout bit<8> a, inout int<8> s, out bool ok) {
    inner_c() inst;
    action noop() { }
    action set(inout bit<8> to, bit<8> v) { to = v; if (v == 3) { exit; } return; }
    table t { key = { h.a: exact @name("a"); h.b[7:0]: ternary; } actions = { noop; set(a); } const default_action = set(a, 1);
        const entries = { (1, 2 &&& 3): noop(); (2, _): set(a, 5); (3, 0x10): set(4) @name("x"); }
        size = 4 * 256; }
    table priorities {
        key = { h.a: range; h.b: optional; }
        actions = { noop; @tableonly set(a); @defaultonly NoAction; }
        largest_priority_wins = true;
        priority_delta = 10;
        entries = { const priority = 10: (1 .. 5, 3): noop(); priority = 20: (_, _): set(7); (6, default): noop; }
    }
    apply {
        ok = true;
        a = a + 1 - 2 * 3 & 0xf | a ^ ~a;
        a = a |+| 250 |-| 3;
        a = a << 2 >> a;
        a = a / 3 % 5;
        s = -s + (int<8>) a >> 1;
        a += 1; a -= 1; a *= 2; a &= 7; a |= 8; a ^= 1; a <<= 1; a >>= 1; a |+|= 200; a |-|= 100;
        h.b = a ++ a[7:4] ++ 4w3;
        h.b[3:0] = a[2 +: 4];
        h.b = ok ? h.b : 5;
        a = twice() + twice(3) + twice(factor = 3, x = a) + pick(a) + pick(a, a) + pick(x = a, y = 1, z = 2);
        a = same(a) + same<bit<8>>(5) + early(a);
        swap(a, h.a);
        set(a, 5);
        if (a == 1 || a != 2 && !(a < 3) && a <= 4) ; else if (a > 5) { return; } else a = 1;
        if (t.apply().hit) { a = 1; } else if (t.apply().miss) { a = 2; }
        switch (priorities.apply().action_run) { noop: set: { a = 3; } default: { exit; } }
        switch (h.b) { 1: 2: { a = 1; } 16w3: { } }
        for (bit<8> i = 0, bit<8> j = 5; i < j; i = i + 1, j = j - 1) { if (i == 2) continue; a = a + i; }
        for (bit<8> i in 1 .. a) { if (i == 3) { break; } }
        for (bit<8> i in (list<bit<8>>) { 1, 2, 3 }) a = a + i;
        @note { bit<8> b = 3; h.a = b; }
        const bit<8> inner = 5;
        { bit<8> x = inner; { bit<16> x = 3; h.b = x; } h.a = x; }
        inst.apply(a);
        inner_c.apply(a);
    }
}
