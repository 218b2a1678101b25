// Every stage does something; names are the ingress control's.
#include "../frame/head.p4"
#define OWN_EGRESS
#define OWN_VERIFY
#define OWN_COMPUTE
#define OWN_DEPARSER
#define OWN_TYPES
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }

control E(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    action rewrite(bit<48> mac) { h.eth.src = mac; }
    table ports { key = { s.egress_port: exact; } actions = { rewrite; NoAction; } }
    apply {
        if (!ports.apply().hit) { mark_to_drop(s); exit; }
        recirculate_preserving_field_list(0);
    }
}
control V(inout headers_t h, inout meta_t m) {
    apply { verify_checksum_with_payload(h.ip.isValid() && h.ip.flags == 0, { h.ip.src, h.ip.dst }, h.ip.sum, HashAlgorithm.csum16); }
}
control C(inout headers_t h, inout meta_t m) {
    apply { update_checksum(true, { 16w0, h.ip.src }, h.ip.sum, HashAlgorithm.xor16); }
}
control D(packet_out b, in headers_t h) {
    apply { b.emit(h.eth); if (h.tags[0].isValid()) { b.emit(h.tags); } b.emit(h.ip); }
}
#include "../frame/tail.p4"
