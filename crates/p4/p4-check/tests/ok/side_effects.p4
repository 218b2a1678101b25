// Calls inside expressions: order, short circuit, choices, indices.
#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_INGRESS
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }

bit<8> next(inout bit<8> n) { n = n + 1; return n; }
bool odd(inout bit<8> n) { n = n + 1; return n[0:0] == 1; }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    table t { key = { next(meta.y): exact @name("next"); meta.x: ternary; } actions = { NoAction; } }
    register<bit<32>>(16) r;
    apply {
        meta.y = meta.y + next(meta.y) + meta.y;
        meta.ok = odd(meta.y) && odd(meta.y) || meta.ok;
        meta.y = meta.ok ? next(meta.y) : 3;
        if (meta.ok || t.apply().hit) { meta.x = 1; } else { meta.x = 2; }
        if (t.apply().miss) { exit; }
        hdr.tags[meta.x].id = (bit<12>) next(meta.y);
        hdr.tags[next(meta.y)] = { 1, 0, 7, 0x800 };
        r.read(meta.x, (bit<32>) next(meta.y));
        r.write(3, meta.x);
    }
}
#include "../frame/tail.p4"
