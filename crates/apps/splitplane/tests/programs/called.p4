// A program that calls a service for an answer, and sends it something: for `p4 ir --after cut`.
#include <core.p4>
#include <v1model.p4>
#include <service.p4>
header flow_t { bit<8> key; bit<8> number; }
struct headers_t { flow_t flow; }
struct meta_t { bit<8> seen; }
struct request_t { bit<8> key; }
struct answer_t { bit<8> number; }
parser P(packet_in p, out headers_t hdr, inout meta_t m, inout standard_metadata_t sm) {
    state start { p.extract(hdr.flow); transition accept; }
}
control V(inout headers_t hdr, inout meta_t m) { apply { } }
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t sm) {
    Service<request_t, answer_t>("answers") answers;
    apply {
        answer_t answer;
        m.seen = hdr.flow.number + 1;
        answers.send({ hdr.flow.key });
        answers.call({ hdr.flow.key }, answer);
        hdr.flow.number = answer.number + m.seen;
        sm.egress_spec = 1;
    }
}
control E(inout headers_t hdr, inout meta_t m, inout standard_metadata_t sm) { apply { } }
control C(inout headers_t hdr, inout meta_t m) { apply { } }
control D(packet_out p, in headers_t hdr) { apply { p.emit(hdr.flow); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
