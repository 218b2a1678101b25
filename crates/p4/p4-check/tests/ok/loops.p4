// for in all its forms, break, continue, and switch on values.
#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_INGRESS
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }

control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    apply {
        for (bit<8> k = 0; k < 10; k = k + 1) {
            if (k == 3) { continue; }
            if (meta.x == 0) { break; }
            meta.x = meta.x - (bit<32>) k;
        }
        for (bit<8> k in 1 .. meta.y) { meta.x = meta.x ^ (bit<32>) k; }
        for (tag_t tag in hdr.tags) { if (tag.isValid()) { meta.y = meta.y + 1; } }
        for (bit<32> v in { 3, 5, 8 }) { if (v == meta.x) { break; } meta.x = meta.x + v; }
        switch (meta.y) {
            1:
            2: { meta.x = 1; }
            3: { meta.x = 3; }
            default: { meta.x = 0; }
        }
    }
}
#include "../frame/tail.p4"
