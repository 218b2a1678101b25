/* A learning switch: source and destination MAC look-up, forward by port. */
#include <core.p4>
#include <v1model.p4>

#include "include/splitplane.p4"

enum bit<8> Reason { none = 0, malformed = 16, unknown_destination = 17, same_port = 18 }

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

    action drop(Reason reason) {
        meta.reason = reason;
        mark_to_drop(standard_metadata);
        exit;
    }

    action known() { }

    /* A source that is not known yet is punted, so that the control plane may learn it. */
    action learn() {
        standard_metadata.egress_spec = PUNT_PORT;
        exit;
    }

    table source {
        key = {
            hdr.ethernet.src: exact @name("mac");
            standard_metadata.ingress_port: exact @name("port");
        }
        actions = { known; learn; }
        default_action = known();
        size = 65536;
    }

    action forward(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    table destination {
        key = { hdr.ethernet.dst: exact @name("mac"); }
        actions = { forward; drop; }
        default_action = drop(Reason.unknown_destination);
        size = 65536;
    }

    apply {
        if (standard_metadata.parser_error != error.NoError) {
            drop(Reason.malformed);
        }
        source.apply();
        destination.apply();
        if (standard_metadata.egress_spec == standard_metadata.ingress_port) {
            drop(Reason.same_port);
        }
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
