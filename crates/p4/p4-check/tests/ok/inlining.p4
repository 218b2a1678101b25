// Functions, actions and controls in place: directions, copies where arguments overlap, returns.
#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_INGRESS
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }

bit<32> twice(in bit<32> v) { return v + v; }
void swap(inout bit<32> a, inout bit<32> b) { bit<32> t = a; a = b; b = t; }
bit<8> clamp(in bit<8> v, in bit<8> top = 9) { if (v > top) { return top; } return v; }
T pick<T>(in bool first, in T a, in T b) { if (first) { return a; } else { return b; } }
void fill(out tag_t t, in bit<12> id) { t.setValid(); t.id = id; }
control Inner(inout bit<32> v, in bit<8> n)(bit<32> step) {
    bit<32> sum = 0;
    action add(bit<32> by) { sum = sum + by + step; }
    table steps { key = { n: exact; } actions = { add; NoAction; } default_action = add(1); }
    apply {
        if (n == 0) { return; }
        steps.apply();
        v = v + sum;
    }
}
control Outer(inout bit<32> v, inout meta_t m) {
    Inner(3) one;
    Inner(4) two;
    apply { one.apply(v, m.y); two.apply(v, m.y + 1); }
}
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    Outer() outer;
    Inner(7) both;
    action set(inout bit<32> to, bit<32> v) { to = v; if (v == 0) { return; } to = to + 1; }
    action run(in bit<32> v) { meta.x = meta.x + v; meta.x = meta.x + v; }
    table t { key = { meta.y: exact; } actions = { set(meta.x); } default_action = set(meta.x, 4); }
    apply {
        swap(meta.x, hdr.ip.src);
        swap(meta.x, meta.x);
        meta.x = meta.x + twice(meta.x) + twice(twice(1));
        meta.y = clamp(meta.y) + clamp(v = meta.y, top = 3);
        meta.x = pick(meta.ok, meta.x, hdr.ip.dst);
        fill(hdr.tags[1], 5);
        set(meta.x, 9);
        run(meta.x);
        outer.apply(meta.x, meta);
        both.apply(meta.x, meta.y);
        both.apply(hdr.ip.dst, 3);
        t.apply();
    }
}
#include "../frame/tail.p4"
