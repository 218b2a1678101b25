/* P4Wire, the lower bound of Memarian et al. (§V-B): nothing is parsed, a table says the way out by the way in. */
#include <core.p4>
#include <v1model.p4>

enum bit<8> Reason { none = 0, unknown_port = 16 }

struct headers_t { }

struct metadata_t {
    @drop_reason
    Reason reason;
}

parser WireParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    state start {
        transition accept;
    }
}

control WireVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control WireIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {

    action forward(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    action drop() {
        meta.reason = Reason.unknown_port;
        mark_to_drop(standard_metadata);
    }

    table exit_port {
        key = { standard_metadata.ingress_port: exact @name("port"); }
        actions = { forward; drop; }
        default_action = drop();
        size = 512;
        /* To begin with: two wires. */
        entries = {
            0: forward(1);
            1: forward(0);
            2: forward(3);
            3: forward(2);
        }
    }

    apply {
        exit_port.apply();
    }
}

control WireEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control WireComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control WireDeparser(packet_out packet, in headers_t hdr) {
    apply { }
}

V1Switch(WireParser(), WireVerifyChecksum(), WireIngress(), WireEgress(), WireComputeChecksum(), WireDeparser()) main;
