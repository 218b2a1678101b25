#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_INGRESS
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    action a() { }
    action b() { }
    table t { key = { meta.x : exact; } actions = { a; } default_action = a; }
    apply {
        switch (t.apply().action_run) {
            a: { meta.x = 1; }
            b: { meta.x = 2; }
            a: { meta.x = 3; }
        }
        switch (meta.y) {
            1: { meta.x = 1; }
            default: { meta.x = 2; }
            300: { meta.x = 3; }
        }
    }
}
#include "../frame/tail.p4"
