// A constant argument is no constant to the callee: an index beyond the end is one of run time (P4_16 §8.18), a division by zero too.
#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_INGRESS
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    action mark(bit<4> at) { hdr.tags[at].setValid(); }
    action share(in bit<32> by) { meta.x = meta.x / by; meta.x = meta.x % by; }
    action part(in bit<8> at) { meta.y = meta.x[at+:8]; }
    apply {
        mark(4);
        mark(1);
        share(0);
        part(30);
    }
}
#include "../frame/tail.p4"
