// Numbers wider than the widest value of the IR are pieces, the top one first.
#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_INGRESS
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; bit<200> a; bit<200> b; int<200> s; }
const bit<256> BIG = 1 << 200;
const bit<256> TENTH = BIG / 10;

control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    apply {
        meta.a = meta.a + meta.b;
        meta.b = meta.a - 200w1;
        meta.ok = meta.a <= meta.b || meta.s < -1;
        meta.s = meta.s >> 3;
        meta.a[130:120] = meta.b[10:0];
        meta.x = (bit<32>)(meta.a ++ meta.b);
        meta.y = (TENTH ^ BIG)[200:193];
    }
}
#include "../frame/tail.p4"
