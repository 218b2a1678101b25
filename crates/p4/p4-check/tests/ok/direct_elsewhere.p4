#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_INGRESS
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    direct_counter(CounterType.packets) hits;
    direct_meter<bit<8>>(MeterType.bytes) rate;
    action a(bit<8> v) {
        hits.count();
        rate.read(meta.y);
        meta.x = meta.x + 1;
    }
    table has {
        key = { hdr.ip.dst : exact; }
        actions = { a; NoAction; }
        counters = hits;
        meters = rate;
    }
    table lacks {
        key = { hdr.ip.src : exact; }
        actions = { a; @defaultonly NoAction; }
        default_action = NoAction;
        size = 0;
    }
    apply {
        has.apply();
        lacks.apply();
    }
}
#include "../frame/tail.p4"
