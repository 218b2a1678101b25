/* Calls of services: in ingress and egress, in branches, of instances that share a service, and without an answer. */
#include <core.p4>
#include <v1model.p4>
#include <service.p4>

header tag_t { bit<16> bearer; bit<8> kind; }
struct headers { tag_t tag; }
struct sn_t { bit<18> value; bool used; }
struct meta { bit<8> code; sn_t sn; bit<32> left; }

struct cipher_request_t { bit<16> bearer; sn_t sn; }
struct cipher_answer_t { bit<8> code; }
struct keep_request_t { bit<16> bearer; }
struct nothing_t { }

parser P(packet_in b, out headers hdr, inout meta m, inout standard_metadata_t s) {
    state start { b.extract(hdr.tag); transition accept; }
}

control Cipher(inout headers hdr, inout meta m) {
    Service<cipher_request_t, cipher_answer_t>("ciphering") cipher;
    apply {
        cipher_answer_t answer;
        cipher.call({ hdr.tag.bearer, m.sn }, answer);
        m.code = answer.code;
    }
}

control I(inout headers hdr, inout meta m, inout standard_metadata_t s) {
    Cipher() down;
    Cipher() up;
    Service<keep_request_t, nothing_t>("buffer") keep;
    action count() { m.left = m.left + 1; }
    table t { key = { hdr.tag.kind: exact; } actions = { count; NoAction; } default_action = NoAction(); }
    apply {
        s.egress_spec = 1;
        if (hdr.tag.isValid()) {
            switch (hdr.tag.kind) {
                1: { down.apply(hdr, m); }
                2: { keep.send({ hdr.tag.bearer }); }
                default: { up.apply(hdr, m); }
            }
            t.apply();
            if (m.code != 0) { mark_to_drop(s); }
        }
    }
}

control E(inout headers hdr, inout meta m, inout standard_metadata_t s) {
    Service<keep_request_t, sn_t>("number") number;
    apply {
        number.call({ hdr.tag.bearer }, m.sn);
        if (m.sn.used) { hdr.tag.kind = hdr.tag.kind ^ (bit<8>)m.left; }
    }
}

control V(inout headers hdr, inout meta m) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out b, in headers hdr) { apply { b.emit(hdr.tag); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
