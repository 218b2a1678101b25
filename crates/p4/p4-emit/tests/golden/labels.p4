/* A stack that the parser fills in a loop, and a label taken off. */
#include <core.p4>
#include <v1model.p4>

header mpls_h { bit<20> label; bit<3> tc; bit<1> bottom; bit<8> ttl; }
struct headers_t { mpls_h[3] mpls; }
struct metadata_t { }

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.mpls.next);
        transition select(hdr.mpls.last.bottom) {
            0: start;
            default: accept;
        }
    }
}
control V(inout headers_t hdr, inout metadata_t meta) { apply { } }
control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    action pop(bit<9> port) {
        hdr.mpls.pop_front(1);
        standard_metadata.egress_spec = port;
    }
    table labels {
        key = { hdr.mpls[0].label: ternary; hdr.mpls[0].ttl: range; }
        actions = { pop; NoAction; }
        default_action = NoAction();
        const entries = {
            (100 &&& 0xff, 2..255): pop(7);
            (_, 0): pop(8);
        }
    }
    apply { labels.apply(); }
}
control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) { apply { } }
control C(inout headers_t hdr, inout metadata_t meta) { apply { } }
control D(packet_out packet, in headers_t hdr) { apply { packet.emit(hdr.mpls); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
