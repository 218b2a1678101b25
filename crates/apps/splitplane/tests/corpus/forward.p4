// A header is read, one field picks the way out, the frame length is counted.
#include <core.p4>
#include <v1model.p4>

header h_t { bit<8> key; bit<8> value; }
struct headers { h_t h; }
struct meta { }

parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    state start { pkt.extract(hdr.h); transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    counter(4, CounterType.packets_and_bytes) seen;
    action send(bit<9> port) { sm.egress_spec = port; seen.count((bit<32>)hdr.h.value); }
    action drop() { mark_to_drop(sm); }
    table t { key = { hdr.h.key: exact; } actions = { send; drop; } default_action = drop(); }
    apply { t.apply(); }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) { apply { hdr.h.value = hdr.h.value + 1; } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
