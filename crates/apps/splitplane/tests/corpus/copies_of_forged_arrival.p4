// What a program writes over the packet's length, port and time of arrival: copies see the packet's own again, a multicast copy
// keeps what was written.
#include <core.p4>
#include <v1model.p4>

header op_t { bit<8> ops; bit<8> length; bit<8> port; bit<8> forged_time; }
struct headers { op_t op; }
struct meta { }

parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    state start { pkt.extract(hdr.op); transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        if (sm.instance_type == 4) { hdr.op.ops = 0; }
        if (sm.instance_type == 4 || sm.instance_type == 6) { return; }
        sm.packet_length = 0xee;
        sm.ingress_port = 0x1d;
        sm.ingress_global_timestamp = 0xffffffffffff;
        if (hdr.op.ops[0:0] == 1) { clone(CloneType.I2E, 5); }
        if (hdr.op.ops[1:1] == 1) { sm.mcast_grp = 9; }
        if (hdr.op.ops[2:2] == 1) { resubmit_preserving_field_list(0); }
    }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    apply {
        hdr.op.length = (bit<8>)sm.packet_length;
        hdr.op.port = (bit<8>)sm.ingress_port;
        hdr.op.forged_time = sm.ingress_global_timestamp == 0xffffffffffff ? 8w1 : 8w0;
        if (sm.instance_type != 2 && hdr.op.ops[3:3] == 1) { clone(CloneType.E2E, 7); }
        if (hdr.op.ops[4:4] == 1) { recirculate_preserving_field_list(0); }
    }
}
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr.op); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
