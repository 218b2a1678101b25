#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_INGRESS
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    apply {
        hdr.tags[0] = { 1, 0, 7 };
        hdr.tags[1] = { 1, 0, 7, 8, 9 };
        hdr.tags[2] = { pri = 1, dei = 0, vid = 3, type = 4 };
        hdr.tags[2] = { pri = 1, dei = 0 };
    }
}
#include "../frame/tail.p4"
