#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_INGRESS
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    action a() { t.apply(); }
    table t {
        key = { hdr.ip.dst : exact; }
        actions = { a; NoAction; }
    }
    apply {
        if (hdr.ip.isValid) { t.apply(); }
    }
}
#include "../frame/tail.p4"
