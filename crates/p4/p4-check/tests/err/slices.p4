#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_INGRESS
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    apply {
        meta.x = (bit<32>) meta.x[32:0];
        meta.x = (bit<32>) meta.x[3:7];
        meta.ok = (bool) meta.ok[0:0];
        meta.y = 5[7:0];
    }
}
#include "../frame/tail.p4"
