/* P4Wire, the papers' lower bound (Memarian et al., §V-B): nothing is parsed. There a table says the way out by the way in; here ports come in pairs. */
#include <core.p4>
#include <v1model.p4>

struct headers_t { }

struct metadata_t { }

parser WireParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    state start {
        transition accept;
    }
}

control WireVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

/* Ports come in pairs: 0 and 1, 2 and 3 ... */
control WireIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        standard_metadata.egress_spec = standard_metadata.ingress_port ^ 1;
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
