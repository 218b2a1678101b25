// P4_16 §8.21: header unions; §8.18: headers, {#}, equality.
#include <v1model.p4>

header start_t { bit<8> op; bit<8> r; }
header one_t { bit<8> v; }
header two_t { bit<8> v; bit<8> w; }
header_union either_t { one_t one; two_t two; }
struct headers { start_t start; either_t u; either_t other; one_t h; one_t k; }
struct metadata { }

void renew(inout one_t x) { x.setValid(); x.setInvalid(); }

parser P(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.start);
        packet.extract(hdr.u.one);
        transition select(hdr.start.op) { 9: again; default: accept; }
    }
    // Extracting another member takes the first one's place.
    state again { packet.extract(hdr.u.two); transition accept; }
}
control V(inout headers hdr, inout metadata meta) { apply { } }
control I(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        if (hdr.start.op == 1) { hdr.u.two = { 1, 2 }; hdr.start.r = (bit<8>) (bit<1>) hdr.u.one.isValid(); }
        else if (hdr.start.op == 2) { hdr.u.two.setValid(); hdr.u.two.v = 5; hdr.u.two.w = 6; }
        else if (hdr.start.op == 3) { hdr.u.one.setInvalid(); if (!hdr.u.isValid()) { hdr.start.r = 1; } }
        // An invalid header to one member leaves no other valid.
        else if (hdr.start.op == 4) { two_t t; t.setInvalid(); hdr.u.two = t; }
        else if (hdr.start.op == 5) { hdr.u.one = (one_t) {#}; }
        // A whole union.
        else if (hdr.start.op == 6) { hdr.other = hdr.u; if (hdr.other == hdr.u) { hdr.start.r = 1; } hdr.other.one.v = 9; if (hdr.other != hdr.u) { hdr.start.r = hdr.start.r + 2; } }
        else if (hdr.start.op == 7) { hdr.u = (either_t) {#}; if (hdr.u == hdr.other) { hdr.start.r = 1; } }
        // Made valid and invalid again in a callee: what comes back is an invalid member, and the union is invalid.
        else if (hdr.start.op == 8) { hdr.u.two = { 3, 4 }; renew(hdr.u.one); }
        // Headers are equal if both are invalid, whatever they held, or both valid with equal fields.
        else if (hdr.start.op == 10) {
            hdr.h.setValid(); hdr.h.v = 1; hdr.k.setValid(); hdr.k.v = 2;
            if (hdr.h != hdr.k) { hdr.start.r = 1; }
            hdr.h.setInvalid();
            if (hdr.h == {#}) { hdr.start.r = hdr.start.r + 2; }
            if (hdr.h != hdr.k) { hdr.start.r = hdr.start.r + 4; }
            hdr.k.setInvalid();
            if (hdr.h == hdr.k) { hdr.start.r = hdr.start.r + 8; }
        }
        // A list makes a header valid; writing a field does not.
        else if (hdr.start.op == 11) { hdr.h.v = 3; hdr.k = { v = 4 }; }
        // Assignment copies validity.
        else if (hdr.start.op == 12) { hdr.k = { v = 4 }; hdr.k = hdr.h; }
    }
}
control E(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout metadata meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
