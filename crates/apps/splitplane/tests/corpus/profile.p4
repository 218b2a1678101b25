// Tables with an action profile, with a selector, and two that share one: members, groups, and entries that name an action directly.
#include <core.p4>
#include <v1model.p4>

header h_t { bit<8> key; bit<8> flow; bit<8> way; }
struct headers { h_t h; }
struct meta { }

parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    state start { pkt.extract(hdr.h); transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    direct_counter(CounterType.packets) hits;
    action send(bit<9> port) { sm.egress_spec = port; }
    action stamp(bit<8> v) { hdr.h.way = v; hits.count(); }
    table plain {
        key = { hdr.h.key: exact; }
        actions = { send; NoAction; }
        @name("ap") implementation = action_profile(16);
    }
    action_selector(HashAlgorithm.identity, 16, 8) lag;
    table balanced {
        key = { hdr.h.key: exact; hdr.h.flow: selector; }
        actions = { stamp; NoAction; }
        implementation = lag;
        counters = hits;
    }
    action mark(bit<8> v) { hdr.h.way = v; }
    action_selector(HashAlgorithm.identity, 16, 8) shared;
    table first {
        key = { hdr.h.key: exact; hdr.h.flow: selector; }
        actions = { mark; NoAction; }
        implementation = shared;
    }
    table second {
        key = { hdr.h.way: exact; hdr.h.flow: selector; }
        actions = { mark; NoAction; }
        implementation = shared;
    }
    apply {
        switch (plain.apply().action_run) {
            send: { hdr.h.key = hdr.h.key | 0x80; }
            default: { sm.egress_spec = 9; }
        }
        hdr.h.key = hdr.h.key & 0x7f;
        if (balanced.apply().hit) { hdr.h.key = 0x55; }
        if (first.apply().hit && second.apply().hit) { hdr.h.key = hdr.h.key + 1; }
    }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
