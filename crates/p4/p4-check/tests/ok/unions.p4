// Header unions as members, in stacks, and as values.
#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_INGRESS
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }

control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    l4_t u;
    l4_t[2] us;
    apply {
        u.tag.setValid();
        u.tag = { 1, 0, 2, 3 };
        us[1] = u;
        u = us[0];
        meta.ok = u.isValid() && us[1].tag.isValid();
        us[0].tag = hdr.tags[0];
    }
}
#include "../frame/tail.p4"
