#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_INGRESS
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }
enum bit<8> E8 { a = 1 }
enum E16 { a, b }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    apply {
        E8 e = 2;
        E16 f = E16.a;
        if (e == f) { meta.x = 1; }
    }
}
#include "../frame/tail.p4"
