// bit<0> is a type like any other, with one value (P4_16 §7.1.6.2); nothing runs it here.
#include <core.p4>

typedef bit<0> none_t;
header h_t { none_t n; bit<8> a; }
const none_t zero = 0;
const none_t same = ~zero + zero;
enum bit<8> e_t { a = zero ++ 8w3 }

control c(inout h_t h, inout none_t v, in bit<8> w) {
    action set(none_t x) { v = x; }
    table t { key = { h.n: exact; v: ternary @name("v"); } actions = { set; } default_action = set(0);
        const entries = { (0, 0 &&& 0): set(0); (0, _): set(0w0); } }
    apply {
        v = v + 0 - v * v & v | v ^ ~v;
        v = v |+| v |-| v;
        v = v << w >> w;
        v = -v;
        h.a = v ++ w ++ v;
        bit<16> x = (bit<16>) v;
        v = (bit<0>) x;
        if (v == 0 && v <= h.n && h.n != zero) { t.apply(); }
        switch (v) { 0: { v = same; } default: { } }
        for (none_t i in v .. h.n) { v = i; }
        h = { 0, 5 };
        int<8> s = 1;
        s = s << v;
        h.a = (bit<8>) s;
    }
}
parser p(packet_in b, out h_t h) {
    state start {
        none_t n = 0;
        b.extract(h);
        transition select(h.n, n) { (0, 0): accept; (0 &&& 0, _): accept; (0 .. 0, 0): accept; default: reject; }
    }
}
