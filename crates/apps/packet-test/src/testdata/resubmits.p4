/* Singh et al., Algorithm 1: each packet is sent, and kept by its flow and number. It is sent again until a status names it. */
#include <core.p4>
#include <v1model.p4>
#include <service.p4>

header request_t { bit<8> operation; bit<32> flow; bit<32> id; }
header answer_t { bit<8> event; bit<32> flow; bit<32> id; }
struct asked_t { bit<8> operation; bit<32> flow; bit<32> id; }
struct answered_t { bit<8> event; bit<32> flow; bit<32> id; }
struct headers { request_t request; answer_t answer; }
struct meta { answered_t answered; }

parser P(packet_in b, out headers hdr, inout meta m, inout standard_metadata_t s) {
    state start { b.extract(hdr.request); transition accept; }
}

control I(inout headers hdr, inout meta m, inout standard_metadata_t s) {
    apply {
        s.egress_spec = 1;
        if (hdr.request.operation == 0) {
            clone(CloneType.I2E, 1);
        }
    }
}

control E(inout headers hdr, inout meta m, inout standard_metadata_t s) {
    Service<asked_t, answered_t>("resubmit") buffer;
    apply {
        // The packet itself goes; its copy is kept.
        if (s.instance_type == 1 || hdr.request.operation != 0) {
            buffer.call({ hdr.request.operation, hdr.request.flow, hdr.request.id }, m.answered);
            if (m.answered.event == 0) {
                // The peer has it.
                mark_to_drop(s);
            } else if (m.answered.event == 2) {
                hdr.request.setInvalid();
                hdr.answer.setValid();
                hdr.answer.event = m.answered.event;
                hdr.answer.flow = m.answered.flow;
                hdr.answer.id = m.answered.id;
            }
        }
    }
}

control V(inout headers hdr, inout meta m) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out b, in headers hdr) { apply { b.emit(hdr.request); b.emit(hdr.answer); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
