#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_PARSER
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }
parser Sub(packet_in pkt, out eth_t e) { state start { pkt.extract(e); transition accept; } }
parser P(packet_in pkt, out headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    Sub() s;
    state start { if (meta.ok) { s.apply(pkt, hdr.eth); } transition accept; }
}
#include "../frame/tail.p4"
