/* Each packet is a request to the buffer service with its payload behind it. What comes back has the answer in place of the request. */
#include <core.p4>
#include <v1model.p4>
#include <service.p4>

header request_t { bit<8> operation; bit<32> bearer; bit<32> sn; bit<8> flags; bit<8> prefix_bytes; bit<16> segment_bytes; bit<32> prefix; }
header answer_t { bit<8> event; bit<32> bearer; bit<32> sn; bit<16> start; bit<16> end; bit<8> flags; }
struct asked_t { bit<8> operation; bit<32> bearer; bit<32> sn; bit<8> flags; bit<8> prefix_bytes; bit<16> segment_bytes; bit<32> prefix; }
struct answered_t { bit<8> event; bit<32> bearer; bit<32> sn; bit<16> start; bit<16> end; bit<8> flags; }
struct headers { request_t request; answer_t answer; }
struct meta { answered_t answered; }

parser P(packet_in b, out headers hdr, inout meta m, inout standard_metadata_t s) {
    state start { b.extract(hdr.request); transition accept; }
}

control I(inout headers hdr, inout meta m, inout standard_metadata_t s) {
    Service<asked_t, answered_t>("buffer") buffer;
    apply {
        buffer.call({ hdr.request.operation, hdr.request.bearer, hdr.request.sn, hdr.request.flags, hdr.request.prefix_bytes,
                      hdr.request.segment_bytes, hdr.request.prefix }, m.answered);
        hdr.request.setInvalid();
        hdr.answer.setValid();
        hdr.answer.event = m.answered.event;
        hdr.answer.bearer = m.answered.bearer;
        hdr.answer.sn = m.answered.sn;
        hdr.answer.start = m.answered.start;
        hdr.answer.end = m.answered.end;
        hdr.answer.flags = m.answered.flags;
        s.egress_spec = 1;
        // The peer has it.
        if (m.answered.event == 0) {
            mark_to_drop(s);
        }
    }
}

control E(inout headers hdr, inout meta m, inout standard_metadata_t s) { apply { } }
control V(inout headers hdr, inout meta m) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out b, in headers hdr) { apply { b.emit(hdr.answer); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
