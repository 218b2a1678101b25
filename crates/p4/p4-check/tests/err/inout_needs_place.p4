#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_INGRESS
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }
void f(inout bit<8> w) { w = 1; }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    apply {
        f(meta.y + 1);
        f(5);
        f(meta.x);
    }
}
#include "../frame/tail.p4"
