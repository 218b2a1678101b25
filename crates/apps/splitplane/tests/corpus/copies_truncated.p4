// truncate with copies: it cuts the packet that asks for it where it leaves, or goes round; copies, made of it or of what arrived, are whole until they ask themselves.
#include <core.p4>
#include <v1model.p4>

header op_t { bit<8> ops; bit<8> n; bit<8> type; }
struct headers { op_t op; }
struct meta { }

parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    state start { pkt.extract(hdr.op); transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    apply {
        if (sm.instance_type == 4 || sm.instance_type == 6) {
            sm.egress_spec = 1;
            return;
        }
        sm.egress_spec = 2;
        if (hdr.op.ops[0:0] == 1) { truncate((bit<32>)hdr.op.n); }
        if (hdr.op.ops[1:1] == 1) { clone(CloneType.I2E, 5); }
        if (hdr.op.ops[2:2] == 1) { sm.mcast_grp = 1; }
        if (hdr.op.ops[3:3] == 1) { resubmit_preserving_field_list(0); }
    }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    apply {
        hdr.op.type = (bit<8>)sm.instance_type;
        if (hdr.op.ops[4:4] == 1 && sm.instance_type == 0) { truncate(4); }
        if (hdr.op.ops[5:5] == 1 && sm.instance_type == 0) { clone(CloneType.E2E, 5); }
        if (hdr.op.ops[6:6] == 1 && sm.instance_type == 0) { recirculate_preserving_field_list(0); }
        if (hdr.op.ops[7:7] == 1 && sm.instance_type != 0) { truncate(4); }
    }
}
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr.op); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
