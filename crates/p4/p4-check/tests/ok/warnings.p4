// What is worth a warning.
#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_INGRESS
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }
type bit<8> number_t;

control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    action idle() { }
    table never { key = { meta.x: exact; } actions = { idle; } }
    table t { key = { meta.x: exact; } actions = { NoAction; } support_timeout = true; sise = 3; }
    apply {
        meta.y = 300;
        meta.y = meta.y << 9;
        meta.x = 8w256 ++ 24w0;
        t.apply();
    }
}
const number_t seven = 7;
#include "../frame/tail.p4"
