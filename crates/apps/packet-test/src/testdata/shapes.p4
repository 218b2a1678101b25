/* Each packet says which queue it belongs to and how many bytes it counts. What may go has in front how long it has waited. */
#include <core.p4>
#include <v1model.p4>
#include <service.p4>

header request_t { bit<32> queue; bit<32> bytes; bit<8> flags; }
header answer_t { bit<32> waited_us; bit<8> flags; }
struct shaper_request_t { bit<32> queue; bit<32> bytes; bit<8> flags; }
struct shaper_answer_t { bit<32> waited_us; bit<8> flags; }
struct headers { request_t request; answer_t answer; }
struct meta { shaper_answer_t answer; }

parser P(packet_in b, out headers hdr, inout meta m, inout standard_metadata_t s) {
    state start { b.extract(hdr.request); transition accept; }
}

control I(inout headers hdr, inout meta m, inout standard_metadata_t s) {
    Service<shaper_request_t, shaper_answer_t>("shaper") shaper;
    apply {
        shaper.call({ hdr.request.queue, hdr.request.bytes, hdr.request.flags }, m.answer);
        hdr.request.setInvalid();
        hdr.answer.setValid();
        hdr.answer.waited_us = m.answer.waited_us;
        hdr.answer.flags = m.answer.flags;
        s.egress_spec = 1;
    }
}

control E(inout headers hdr, inout meta m, inout standard_metadata_t s) { apply { } }
control V(inout headers hdr, inout meta m) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out b, in headers hdr) { apply { b.emit(hdr.answer); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
