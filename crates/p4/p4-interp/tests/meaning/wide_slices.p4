// P4_16 §8.6, §12.1: slices of more than 128 bits of numbers, header fields and slices may be assigned as narrower ones are.
#include <v1model.p4>

header start_t { bit<8> op; bit<8> n; }
header wide_t { bit<320> v; }
struct headers { start_t start; wide_t a; wide_t b; }
struct metadata { bit<320> m; }

void fill(out bit<160> x) { x = 160w0x11223344556677889900aabbccddeeff01020304; }
void swap(inout bit<144> x, inout bit<144> y) { bit<144> t = x; x = y; y = t; }

parser P(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    state start { packet.extract(hdr.start); packet.extract(hdr.a); packet.extract(hdr.b); transition accept; }
}
control V(inout headers hdr, inout metadata meta) { apply { } }
control I(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        if (hdr.start.op == 1) { hdr.a.v[255:64] = hdr.b.v[319:128]; }
        else if (hdr.start.op == 2) { hdr.a.v[299:100] = hdr.a.v[219:20]; }
        else if (hdr.start.op == 3) { hdr.a.v[200:61] = 0; }
        else if (hdr.start.op == 4) { hdr.a.v[200:61] = ~hdr.a.v[200:61]; }
        else if (hdr.start.op == 5) { fill(hdr.a.v[167:8]); }
        else if (hdr.start.op == 6) { swap(hdr.a.v[287:144], hdr.b.v[151:8]); }
        else if (hdr.start.op == 7) { hdr.a.v[303:16][263:88][159:8] = hdr.b.v[151:0]; }
        else if (hdr.start.op == 8) { hdr.a.v[200:100][80:20] = 61w0x123456789abcdef; }
        else if (hdr.start.op == 9) { hdr.a.v[255:64] |= hdr.b.v[191:0]; }
        else if (hdr.start.op == 10) { meta.m = hdr.b.v; meta.m[299:60] = hdr.a.v[239:0]; hdr.a.v = meta.m; }
        else if (hdr.start.op == 11) { hdr.a.v[319:128] = 192w0xffff0000ffff0000ffff0000ffff0000ffff0000ffff0000; hdr.a.v[127:0] = 5; }
        else if (hdr.start.op == 12) { hdr.b.v[319:256] = 7; hdr.a.v[287:96] = hdr.b.v[319:128]; }
    }
}
control E(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout metadata meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
