// Copies that keep 208 bytes of metadata: more than the room that ports leave in front of a packet.
#include <core.p4>
#include <v1model.p4>

header op_t { bit<8> ops; bit<16> v; }
header out_t { bit<128> sum; bit<128> mix; }
struct headers { out_t o; op_t op; }
struct meta {
    @field_list(1) bit<128> a0;
    @field_list(1) bit<128> a1;
    @field_list(1) bit<128> a2;
    @field_list(1) bit<128> a3;
    @field_list(1) bit<128> a4;
    @field_list(1) bit<128> a5;
    @field_list(1) bit<128> a6;
    @field_list(1) bit<128> a7;
    @field_list(1) bit<128> a8;
    @field_list(1) bit<128> a9;
    @field_list(1) bit<128> a10;
    @field_list(1) bit<128> a11;
    @field_list(1) bit<128> a12;
}

parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    state start { pkt.extract(hdr.op); transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 2;
        if (sm.instance_type == 6) {
            sm.egress_spec = 1;
            return;
        }
        m.a0 = ((bit<128>)hdr.op.v + 1) << 0;
        m.a1 = ((bit<128>)hdr.op.v + 2) << 8;
        m.a2 = ((bit<128>)hdr.op.v + 3) << 16;
        m.a3 = ((bit<128>)hdr.op.v + 4) << 24;
        m.a4 = ((bit<128>)hdr.op.v + 5) << 32;
        m.a5 = ((bit<128>)hdr.op.v + 6) << 40;
        m.a6 = ((bit<128>)hdr.op.v + 7) << 48;
        m.a7 = ((bit<128>)hdr.op.v + 8) << 56;
        m.a8 = ((bit<128>)hdr.op.v + 9) << 64;
        m.a9 = ((bit<128>)hdr.op.v + 10) << 72;
        m.a10 = ((bit<128>)hdr.op.v + 11) << 80;
        m.a11 = ((bit<128>)hdr.op.v + 12) << 88;
        m.a12 = ((bit<128>)hdr.op.v + 13) << 96;
        if (hdr.op.ops[0:0] == 1) { clone_preserving_field_list(CloneType.I2E, 5, 1); }
        if (hdr.op.ops[1:1] == 1) { clone(CloneType.I2E, 5); }
        if (hdr.op.ops[2:2] == 1) { resubmit_preserving_field_list(1); }
    }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    apply {
        hdr.o.setValid();
        hdr.o.sum = hdr.o.sum + m.a0;
        hdr.o.mix = ((hdr.o.mix << 7) | (hdr.o.mix >> 121)) ^ m.a0;
        hdr.o.sum = hdr.o.sum + m.a1;
        hdr.o.mix = ((hdr.o.mix << 7) | (hdr.o.mix >> 121)) ^ m.a1;
        hdr.o.sum = hdr.o.sum + m.a2;
        hdr.o.mix = ((hdr.o.mix << 7) | (hdr.o.mix >> 121)) ^ m.a2;
        hdr.o.sum = hdr.o.sum + m.a3;
        hdr.o.mix = ((hdr.o.mix << 7) | (hdr.o.mix >> 121)) ^ m.a3;
        hdr.o.sum = hdr.o.sum + m.a4;
        hdr.o.mix = ((hdr.o.mix << 7) | (hdr.o.mix >> 121)) ^ m.a4;
        hdr.o.sum = hdr.o.sum + m.a5;
        hdr.o.mix = ((hdr.o.mix << 7) | (hdr.o.mix >> 121)) ^ m.a5;
        hdr.o.sum = hdr.o.sum + m.a6;
        hdr.o.mix = ((hdr.o.mix << 7) | (hdr.o.mix >> 121)) ^ m.a6;
        hdr.o.sum = hdr.o.sum + m.a7;
        hdr.o.mix = ((hdr.o.mix << 7) | (hdr.o.mix >> 121)) ^ m.a7;
        hdr.o.sum = hdr.o.sum + m.a8;
        hdr.o.mix = ((hdr.o.mix << 7) | (hdr.o.mix >> 121)) ^ m.a8;
        hdr.o.sum = hdr.o.sum + m.a9;
        hdr.o.mix = ((hdr.o.mix << 7) | (hdr.o.mix >> 121)) ^ m.a9;
        hdr.o.sum = hdr.o.sum + m.a10;
        hdr.o.mix = ((hdr.o.mix << 7) | (hdr.o.mix >> 121)) ^ m.a10;
        hdr.o.sum = hdr.o.sum + m.a11;
        hdr.o.mix = ((hdr.o.mix << 7) | (hdr.o.mix >> 121)) ^ m.a11;
        hdr.o.sum = hdr.o.sum + m.a12;
        hdr.o.mix = ((hdr.o.mix << 7) | (hdr.o.mix >> 121)) ^ m.a12;
    }
}
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr.o); pkt.emit(hdr.op); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
