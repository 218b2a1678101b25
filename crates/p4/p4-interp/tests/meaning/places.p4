// P4_16 §6.8 with §8.18, §8.20, §8.21: parameters are variables of their own, whatever place they were given.
#include <v1model.p4>

header start_t { bit<8> op; bit<8> n; }
header one_t { bit<8> v; }
header two_t { bit<8> v; bit<8> w; }
header_union either_t { one_t one; two_t two; }
struct headers { start_t start; one_t absent; one_t[2] s; either_t u; }
struct metadata { bit<8> x; }

void seven(inout bit<8> x, out bit<8> y) { x = 7; y = x; }
void renew(inout one_t x) { x.setValid(); x.setInvalid(); }
void swap(inout one_t x, inout one_t y) { one_t t = x; x = y; y = t; }
bit<8> bump(inout bit<8> z) { z = z + 1; return z; }
void put(inout bit<8> x, in bit<8> y) { x = y; }
void make(inout two_t x, inout bit<8> y) { x = { y, y + 1 }; y = 0; }

parser P(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.start);
        transition select(hdr.start.op) { 3 .. 7: with_stack; default: with_union; }
    }
    state with_stack { packet.extract(hdr.s[0]); packet.extract(hdr.s[1]); transition with_union; }
    state with_union { packet.extract(hdr.u.one); transition accept; }
}
control V(inout headers hdr, inout metadata meta) { apply { } }
control Sub(inout bit<8> x, out bit<8> y) { apply { x = 7; y = x; } }
control I(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    Sub() sub;
    apply {
        sm.egress_spec = 1;
        // A field of an invalid header keeps nothing, the parameter does.
        if (hdr.start.op == 1) { seven(hdr.absent.v, hdr.start.n); }
        else if (hdr.start.op == 2) { sub.apply(hdr.absent.v, hdr.start.n); }
        // Elements of a stack by an index that an argument changes, and that lies beyond the end.
        else if (hdr.start.op == 3) { swap(hdr.s[hdr.start.n], hdr.s[1]); }
        else if (hdr.start.op == 4) { put(hdr.s[hdr.start.n].v, bump(hdr.start.n)); }
        else if (hdr.start.op == 5) { put(hdr.s[bump(hdr.start.n)].v, hdr.start.n); }
        else if (hdr.start.op == 6) { hdr.s[hdr.start.n].v = bump(hdr.start.n); }
        else if (hdr.start.op == 7) { hdr.s[hdr.start.n].v += bump(hdr.start.n); }
        // An invalid header copied to a member of a union leaves no other valid.
        else if (hdr.start.op == 8) { renew(hdr.absent); hdr.u.two.setInvalid(); }
        else if (hdr.start.op == 9) { make(hdr.u.two, hdr.u.one.v); }
        // Two places of the same union, copied out one after the other: the last one that is valid stays.
        else if (hdr.start.op == 10) { make(y = hdr.u.one.v, x = hdr.u.two); }
    }
}
control E(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout metadata meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
