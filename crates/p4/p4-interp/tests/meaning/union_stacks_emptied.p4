// P4_16 §8.18, §8.20: elements of a stack of header unions, by constant and other indices.
#include <v1model.p4>

header start_t { bit<8> op; bit<8> n; bit<8> first; bit<8> second; }
header tag_t { bit<8> kind; }
header one_t { bit<8> v; }
header two_t { bit<8> v; bit<8> w; }
header_union either_t { one_t one; two_t two; }
struct headers { start_t start; either_t[3] us; }
struct metadata { }

void touch(inout two_t x) { }

parser P(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    tag_t tag;
    state start { packet.extract(hdr.start); transition tags; }
    state tags { packet.extract(tag); transition select(tag.kind) { 1: one; 2: two; default: reject; } }
    state one { packet.extract(hdr.us.next.one); transition tags; }
    state two { packet.extract(hdr.us.next.two); transition select(hdr.start.op) { 0x80: emptied; default: accept; } }
    // The last element is the one that was extracted last.
    state emptied { hdr.us.last.one.setInvalid(); transition accept; }
}
control V(inout headers hdr, inout metadata meta) { apply { } }
control I(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        if (hdr.start.op == 1) { hdr.us[0].two.setInvalid(); }
        else if (hdr.start.op == 2) { hdr.us[1].one.setInvalid(); }
        else if (hdr.start.op == 3) { hdr.us[hdr.start.n].two.setInvalid(); }
        else if (hdr.start.op == 4) { two_t t; hdr.us[hdr.start.n].two = t; }
        else if (hdr.start.op == 5) { hdr.us[hdr.start.n].two = {#}; }
        else if (hdr.start.op == 6) { hdr.us[hdr.start.n + 1].one = {#}; }
        else if (hdr.start.op == 7) { hdr.us[hdr.start.n + 2].one = {#}; }
        else if (hdr.start.op == 8) { touch(hdr.us[hdr.start.n].two); }
        else if (hdr.start.op == 9) { hdr.us[hdr.start.n] = hdr.us[2]; }
        else if (hdr.start.op == 10) { hdr.us[hdr.us[0].one.v - 0xaa].two.setInvalid(); }
        else if (hdr.start.op == 11) { hdr.us[hdr.us[0].one.v - 0xaa] = hdr.us[1]; }
        else if (hdr.start.op == 12) { hdr.us.pop_front(1); }
        else if (hdr.start.op == 13) { hdr.us.push_front(1); }
        else if (hdr.start.op == 14) { hdr.us[hdr.start.n].two = { 1, 2 }; }
        hdr.start.first = hdr.us[0].isValid() ? 8w1 : 0;
        hdr.start.second = hdr.us[1].isValid() ? 8w1 : 0;
    }
}
control E(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout metadata meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
