#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_INGRESS
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }
enum bit<8> A { a, b = 2 }
enum bit<4> C { a = 1, a = 2 }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    apply {
        meta.x = 1;
    }
}
#include "../frame/tail.p4"
