#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_INGRESS
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }
const bit<32> limit = 7;
void f(in bit<32> v, inout bit<8> w) { v = 2; w = 1; }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    apply {
        f(meta.x, meta.y);
        limit = 3;
        meta.x[3:0] = 5;
    }
}
#include "../frame/tail.p4"
