// V1MODEL_VERSION selects the newer externs, with index types as parameters.
#define V1MODEL_VERSION 20200408
#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_INGRESS
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }

control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    counter<bit<9>>(512, CounterType.packets) c;
    register<bit<8>, bit<4>>(16) r;
    meter<bit<4>>(16, MeterType.bytes) m;
    apply {
        PortId_t p = std.ingress_port;
        c.count(p);
        r.write(p[3:0], 1);
        m.execute_meter(p[3:0], meta.y);
    }
}
#include "../frame/tail.p4"
