// P4_16 §7.1.6.2, §8.6: bit<0> has one value, takes no room on the wire and gives nothing where it is joined to another.
#include <core.p4>
#include <v1model.p4>

typedef bit<0> none_t;
const none_t nothing = 0w0;
header h_t { bit<8> op; none_t n; bit<8> a; bit<8> b; bit<0> o; bit<8> c; }
// A header without a bit.
header empty_t { none_t n; }
struct pair_t { none_t n; bit<8> v; }
struct headers { h_t h; empty_t e; h_t[2] s; }
struct metadata { none_t n; bit<8> x; }

parser P(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.h);
        packet.extract(hdr.e);
        none_t n = hdr.h.n;
        transition select(n, hdr.h.op) { (0, 4): more; (0 &&& 0, 5): ahead; (0 .. 0, 6): third; (_, _): accept; }
    }
    state more { packet.extract(hdr.s.next); meta.x = hdr.s.last.c; transition accept; }
    state ahead {
        pair_t p = packet.lookahead<pair_t>();
        none_t none = packet.lookahead<none_t>();
        meta.x = p.v ++ none ++ p.n;
        transition accept;
    }
    state third { transition select(hdr.h.n) { nothing: matched; default: accept; } }
    state matched { meta.x = 0x77; transition accept; }
}
control V(inout headers hdr, inout metadata meta) { apply { } }
bit<8> with(in none_t n, inout none_t m, in bit<8> v) { m = n; return v ++ m; }
control I(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    register<none_t>(2) cells;
    register<pair_t>(2) pairs;
    action set(none_t n, bit<8> v) { hdr.h.n = n; hdr.h.b = v; }
    action other(bit<8> v, none_t n) { hdr.h.c = v + (bit<8>)n; meta.n = n; }
    table t {
        key = { hdr.h.n : exact; hdr.h.a : exact; meta.n : ternary; }
        actions = { set; other; }
        const entries = { (0, 1, _): set(0, 0x11); (nothing, 2, 0 &&& 0): other(0x22, 0); }
        const default_action = set(0w0, 0x99);
    }
    table filled { key = { hdr.h.a : exact; } actions = { set; other; } default_action = other(1, 0); }
    apply {
        sm.egress_spec = 1;
        none_t n = hdr.h.n;
        none_t m = ~n + 0 - n * nothing & -n | (n |+| nothing) ^ (n |-| n);
        if (hdr.h.op == 1) {
            hdr.h.b = hdr.h.a ++ n;
            hdr.h.c = n ++ hdr.h.a ++ m;
            int<8> s = -3;
            hdr.h.a = (bit<8>)(s >> n) + (bit<8>)(bit<16>)m;
        } else if (hdr.h.op == 2) {
            hdr.h.b = (n == m ? 8w1 : 0) | (n != m ? 8w2 : 0) | (n < m ? 8w4 : 0) | (n <= m ? 8w8 : 0) | (n > 0 ? 8w16 : 0) | (n >= 0 ? 8w32 : 0);
            switch (n) { 0: { hdr.h.c = 1; } default: { hdr.h.c = 2; } }
            if (hdr.e.isValid() && hdr.e == (empty_t){ 0 }) { hdr.h.a = 0xee; }
        } else if (hdr.h.op == 3) {
            if (t.apply().hit) { hdr.h.a = hdr.h.a + 0x40; }
        } else if (hdr.h.op == 4 || hdr.h.op == 5 || hdr.h.op == 6) {
            hdr.h.b = meta.x;
        } else if (hdr.h.op == 7) {
            for (none_t i in n .. m) { hdr.h.b = hdr.h.b + 1; }
            pair_t p = { 0, hdr.h.a };
            pair_t q = p;
            hdr.h.c = with(q.n, p.n, q == p ? q.v : 0);
        } else if (hdr.h.op == 8) {
            cells.read(n, 1);
            cells.write(1, m);
            pair_t p;
            pairs.read(p, 1);
            hdr.h.b = p.v;
            pairs.write(1, { m, hdr.h.a });
        } else if (hdr.h.op == 9) {
            bit<16> a; bit<16> b;
            hash(a, HashAlgorithm.csum16, 16w0, { hdr.h.a, n, hdr.h.b }, 32w0x10000);
            hash(b, HashAlgorithm.csum16, 16w0, { hdr.h.a, hdr.h.b }, 32w0x10000);
            hash(m, HashAlgorithm.csum16, n, { hdr.h.a }, 32w1);
            hdr.h.c = a == b ? 8w1 : 2;
        } else if (hdr.h.op == 10) {
            filled.apply();
        } else if (hdr.h.op == 11) {
            hdr.s[0].setValid();
            hdr.s[0] = { 1, 0, 2, 3, 0, 4 };
            hdr.s[0].n = hdr.h.n;
            hdr.s.push_front(1);
            hdr.s[(bit<32>)hdr.h.a].c = 5;
            hdr.s[(bit<32>)hdr.h.a].o = n;
        }
    }
}
control E(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout metadata meta) {
    apply { update_checksum(hdr.h.op == 12, { hdr.h.a, hdr.h.n, hdr.h.b }, hdr.h.n, HashAlgorithm.csum16); }
}
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
