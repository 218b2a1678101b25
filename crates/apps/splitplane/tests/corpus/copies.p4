// Clones from ingress and egress, with and without metadata, to a port and to a group; multicast, resubmit, recirculate.
#include <core.p4>
#include <v1model.p4>

header op_t { bit<8> ops; bit<8> trail; bit<8> type; bit<8> kept; }
header opt_t { bit<8> len; varbit<32> bytes; }
struct headers { op_t op; opt_t opt; }
struct meta { @field_list(1) bit<8> kept; bit<8> lost; @field_list(2, 1) bool flag; }

parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    state start {
        pkt.extract(hdr.op);
        transition select(pkt.lookahead<bit<8>>()) {
            0 .. 4: options;
            default: accept;
        }
    }
    state options { pkt.extract(hdr.opt, (bit<32>)pkt.lookahead<bit<8>>() << 3); transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    counter(8, CounterType.bytes) by_type;
    action leave() { exit; }
    action stay() { }
    table gate { key = { hdr.op.ops: exact; } actions = { leave; stay; } default_action = stay(); }
    apply {
        by_type.count(sm.instance_type);
        sm.egress_spec = 1;
        m.lost = 0x77;
        hdr.op.trail = hdr.op.trail + 1;
        if (sm.instance_type == 6) { hdr.op.trail = hdr.op.trail + 0x20; return; }
        if (sm.instance_type == 4) { hdr.op.trail = hdr.op.trail + 0x40; hdr.op.ops = 0; return; }
        m.kept = 0xab;
        m.flag = true;
        if (hdr.op.ops[0:0] == 1) { clone_preserving_field_list(CloneType.I2E, 5, 1); }
        if (hdr.op.ops[1:1] == 1) { clone(CloneType.I2E, 6); mark_to_drop(sm); }
        if (hdr.op.ops[2:2] == 1) { sm.mcast_grp = 9; }
        if (hdr.op.ops[3:3] == 1) { resubmit_preserving_field_list(2); }
        m.kept = 0xcd;
        gate.apply();
        hdr.op.trail = hdr.op.trail + 1;
    }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    counter(8, CounterType.packets_and_bytes) out_by_type;
    apply {
        out_by_type.count(sm.instance_type);
        hdr.op.type = (bit<8>)sm.instance_type;
        hdr.op.kept = m.kept | m.lost;
        if (m.flag) { hdr.op.type[7:7] = 1; }
        hdr.op.trail = hdr.op.trail + (bit<8>)sm.egress_rid;
        if (sm.instance_type != 2 && hdr.op.ops[4:4] == 1) { clone_preserving_field_list(CloneType.E2E, 7, 1); }
        if (hdr.op.ops[5:5] == 1) { recirculate_preserving_field_list(1); }
        if (hdr.op.ops[6:6] == 1) { mark_to_drop(sm); }
    }
}
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr.op); pkt.emit(hdr.opt); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
