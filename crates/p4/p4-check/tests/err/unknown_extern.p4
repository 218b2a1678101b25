#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_INGRESS
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }
extern Own { Own(); void run(in bit<32> v); }
extern void notify(in bit<32> v);
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    Own() o;
    apply {
        o.run(meta.x);
        notify(meta.x);
    }
}
#include "../frame/tail.p4"
