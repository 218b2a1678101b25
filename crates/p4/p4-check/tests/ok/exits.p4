// exit copies pending results out, and return ends what it stands in.
#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_INGRESS
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }

void two(inout bit<8> a, inout bit<8> b) { a = 1; if (b == 0) { return; } b = 2; }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    action leave(inout bit<8> v, in bit<8> w) { v = w; if (w == 3) { exit; } v = v + 1; }
    action stop() { exit; }
    table t { key = { meta.x: exact; } actions = { stop; NoAction; } }
    apply {
        leave(meta.y, meta.y);
        leave(hdr.ip.ttl, 4);
        two(meta.y, hdr.ip.ttl);
        two(meta.y, meta.y);
        t.apply();
        if (meta.ok) { return; }
        meta.x = 2;
    }
}
#include "../frame/tail.p4"
