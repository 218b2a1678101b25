#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_DEPARSER
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }
control D(packet_out pkt, in headers_t hdr) {
    apply {
        hdr.ip.ttl = 1;
        hdr.eth.setInvalid();
        pkt.emit(hdr.eth);
    }
}
#include "../frame/tail.p4"
