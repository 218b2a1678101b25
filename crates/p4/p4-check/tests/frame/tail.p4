// The parts of v1model's pipeline that a test program does not bring itself.
#ifndef OWN_TYPES
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }
#endif
#ifndef OWN_PARSER
parser P(packet_in pkt, out headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    state start { pkt.extract(hdr.eth); transition accept; }
}
#endif
#ifndef OWN_VERIFY
control V(inout headers_t hdr, inout meta_t meta) { apply { } }
#endif
#ifndef OWN_INGRESS
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
#ifdef LOCALS
    LOCALS
#endif
    apply {
#ifdef BODY
        BODY
#endif
    }
}
#endif
#ifndef OWN_EGRESS
control E(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) { apply { } }
#endif
#ifndef OWN_COMPUTE
control C(inout headers_t hdr, inout meta_t meta) { apply { } }
#endif
#ifndef OWN_DEPARSER
control D(packet_out pkt, in headers_t hdr) { apply { pkt.emit(hdr); } }
#endif
V1Switch(P(), V(), I(), E(), C(), D()) main;
