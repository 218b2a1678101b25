/* L2FWD, the baseline of Memarian et al. (§V-B): the MAC addresses are swapped, and the frame leaves by the port it came by. */
#include <core.p4>
#include <v1model.p4>

enum bit<8> Reason { none = 0, malformed = 16 }

header ethernet_h {
    bit<48> dst;
    bit<48> src;
    bit<16> ethertype;
}

struct headers_t {
    ethernet_h ethernet;
}

struct metadata_t {
    @drop_reason
    Reason reason;
}

parser L2Parser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition accept;
    }
}

control L2VerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control L2Ingress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (standard_metadata.parser_error != error.NoError) {
            meta.reason = Reason.malformed;
            mark_to_drop(standard_metadata);
            exit;
        }
        bit<48> dst = hdr.ethernet.dst;
        hdr.ethernet.dst = hdr.ethernet.src;
        hdr.ethernet.src = dst;
        standard_metadata.egress_spec = standard_metadata.ingress_port;
    }
}

control L2Egress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control L2ComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control L2Deparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
    }
}

V1Switch(L2Parser(), L2VerifyChecksum(), L2Ingress(), L2Egress(), L2ComputeChecksum(), L2Deparser()) main;
