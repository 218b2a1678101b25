// The architecture is the program's own declaration: fewer fields of the metadata, others of its own, and of those that nothing fills other widths.
#include <core.p4>

match_kind { range }
struct standard_metadata_t {
    bit<9> ingress_port; bit<9> egress_spec; bit<9> egress_port; bit<32> packet_length; bit<32> enq_qdepth; bit<32> deq_qdepth; bit<7> own;
    error parser_error;
}
extern void mark_to_drop(inout standard_metadata_t standard_metadata);
parser Parser<H, M>(packet_in b, out H h, inout M m, inout standard_metadata_t s);
control VerifyChecksum<H, M>(inout H h, inout M m);
control Ingress<H, M>(inout H h, inout M m, inout standard_metadata_t s);
control Egress<H, M>(inout H h, inout M m, inout standard_metadata_t s);
control ComputeChecksum<H, M>(inout H h, inout M m);
control Deparser<H>(packet_out b, in H h);
package V1Switch<H, M>(Parser<H, M> p, VerifyChecksum<H, M> v, Ingress<H, M> i, Egress<H, M> e, ComputeChecksum<H, M> c, Deparser<H> d);

header h_t { bit<8> a; bit<8> b; }
struct headers { h_t h; }
struct meta { }

parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t s) { state start { pkt.extract(hdr.h); transition accept; } }
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t s) {
    action send() { s.egress_spec = s.ingress_port + 1; s.own = 5; }
    action drop() { mark_to_drop(s); }
    table t { key = { hdr.h.a: range; } actions = { send; drop; } default_action = send(); }
    apply { t.apply(); }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t s) {
    apply {
        if (s.deq_qdepth > 5) { hdr.h.a = 1; }
        hdr.h.b = (bit<8>)s.own + (bit<8>)s.packet_length + (s.parser_error == error.NoError ? 8w0 : 0x80);
    }
}
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
