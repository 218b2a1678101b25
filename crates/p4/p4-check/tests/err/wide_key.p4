#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_INGRESS
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; bit<200> wide; }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    action nothing() { }
    table wide_key { key = { meta.wide: lpm; } actions = { nothing; } }
    table bool_prefix { key = { meta.ok: lpm; } actions = { nothing; } }
    table bool_range { key = { meta.ok: range; } actions = { nothing; } }
    apply { wide_key.apply(); bool_prefix.apply(); bool_range.apply(); }
}
#include "../frame/tail.p4"
