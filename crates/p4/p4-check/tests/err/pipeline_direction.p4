#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_EGRESS
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }
control E(inout headers_t hdr, in meta_t meta, inout standard_metadata_t std) { apply { } }
#include "../frame/tail.p4"
