// What a parser's declarations begin with: for a packet that is parsed again they are of its own arrival, too.
#include <core.p4>
#include <v1model.p4>

header op_t { bit<8> ops; bit<8> port; bit<8> length; bit<8> passes; }
struct headers { op_t op; }
struct meta { bit<8> port; bit<8> length; @field_list(1) bit<8> passes; bit<8> before; }

parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    bit<9> port = sm.ingress_port;
    bit<32> length = sm.packet_length;
    bit<8> before = m.passes;
    state start {
        pkt.extract(hdr.op);
        m.port = (bit<8>) port;
        m.length = (bit<8>) length;
        m.before = before;
        transition accept;
    }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        m.passes = m.passes + 1;
        if (hdr.op.ops[0:0] == 1 && sm.instance_type == 0) { resubmit_preserving_field_list(1); }
        if (hdr.op.ops[1:1] == 1 && sm.instance_type == 0) { clone_preserving_field_list(CloneType.I2E, 5, 1); }
    }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    apply {
        hdr.op.port = m.port;
        hdr.op.length = m.length;
        hdr.op.passes = m.passes << 4 | m.before;
        if (hdr.op.ops[2:2] == 1 && sm.instance_type == 0) { recirculate_preserving_field_list(1); }
    }
}
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr.op); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
