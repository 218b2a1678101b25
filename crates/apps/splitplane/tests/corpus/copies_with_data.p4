// clone3, resubmit and recirculate with data: fields of the metadata, with the values that they have at the end of the block and not at the call.
#include <core.p4>
#include <v1model.p4>

header op_t { bit<8> ops; bit<8> type; bit<8> a; bit<8> b; bit<16> port; }
struct headers { op_t op; }
struct inner { bit<8> b; bool set; }
struct meta { bit<8> a; inner own; bit<8> lost; }

parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    state start { pkt.extract(hdr.op); transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control Ask(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    apply {
        if (hdr.op.ops[0:0] == 1) { clone3(CloneType.I2E, 5, { m.a, sm.ingress_port }); }
        if (hdr.op.ops[1:1] == 1) { clone3<inner>(CloneType.I2E, 5, m.own); }
        if (hdr.op.ops[2:2] == 1) { resubmit(m); }
        if (hdr.op.ops[3:3] == 1) { resubmit(sm); }
        if (hdr.op.ops[6:6] == 1) { clone3(CloneType.I2E, 5, {}); }
    }
}
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    Ask() ask;
    apply {
        if (sm.instance_type == 6 || sm.instance_type == 4) {
            // All of it was kept, and what the architecture sets itself is as for any resubmitted packet.
            hdr.op.port = (bit<16>)sm.egress_spec;
            sm.egress_spec = 1;
            hdr.op.ops = 0;
            return;
        }
        sm.egress_spec = 2;
        m.a = 0x11;
        m.lost = 0xf0;
        ask.apply(hdr, m, sm);
        // Behind the call: this is what is kept.
        m.a = 0x22;
        m.own.b = 0x33;
        m.own.set = true;
    }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    apply {
        hdr.op.type = (bit<8>)sm.instance_type;
        hdr.op.a = m.a | m.lost;
        hdr.op.b = m.own.b;
        if (m.own.set) { hdr.op.b[7:7] = 1; }
        if (sm.instance_type == 1) { hdr.op.port = (bit<16>)sm.ingress_port; }
        if (hdr.op.ops[4:4] == 1 && sm.instance_type == 0) { recirculate({ m.own.b }); m.own.b = 0x44; }
        if (hdr.op.ops[5:5] == 1 && sm.instance_type == 0) { clone3(CloneType.E2E, 5, { m.a }); }
    }
}
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr.op); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
