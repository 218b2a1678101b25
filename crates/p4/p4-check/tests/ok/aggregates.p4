// Structs, tuples, lists, headers and stacks as values.
#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_INGRESS
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }

struct pair_t { bit<32> a; bit<8> b; }
struct box_t<T> { T v; pair_t p; }
const pair_t zero = { a = 0, b = 0 };
bool same(in tag_t a, in tag_t b) { return a == b; }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    pair_t p = { 1, 2 };
    box_t<bit<16>> box = { v = 3, p = { 4, 5 } };
    tuple<bit<32>, bit<8>> pair = { 6, 7 };
    tag_t spare;
    apply {
        p = { (bit<32>) p.b, (bit<8>) p.a };
        p = box.p;
        box = { 9, zero };
        box = ...;
        pair = { p.a, p.b };
        meta.x = pair[0];
        meta.ok = p == zero || pair == { 1, 2 };
        spare = hdr.tags[0];
        hdr.tags[0] = hdr.tags[1];
        hdr.tags[1] = spare;
        meta.ok = same(hdr.tags[0], hdr.tags[2]) && hdr.tags[0] != { 0, 0, 0, ... };
        hdr.tags[2] = (tag_t) {#};
        hdr.tags.push_front(1);
        hdr.tags.pop_front(2);
        hdr.tags[0] = { pri = 1, ... };
        meta.ok = hdr.tags[meta.x].isValid();
    }
}
#include "../frame/tail.p4"
