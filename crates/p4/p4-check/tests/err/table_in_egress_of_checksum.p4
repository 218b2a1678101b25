#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_VERIFY
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }
control V(inout headers_t hdr, inout meta_t meta) {
    table t { key = { meta.x : exact; } actions = { NoAction; } }
    apply { t.apply(); }
}
#include "../frame/tail.p4"
