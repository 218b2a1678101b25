#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_PARSER
#define OWN_DEPARSER
struct headers_t { eth_t eth; error x; }
struct meta_t { bit<32> x; }
parser P(packet_in pkt, out headers_t hdr, inout meta_t meta, inout standard_metadata_t std) { state start { transition accept; } }
control D(packet_out pkt, in headers_t hdr) { apply { pkt.emit(hdr.eth); } }
#include "../frame/tail.p4"
