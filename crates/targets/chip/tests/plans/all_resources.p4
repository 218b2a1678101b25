/* Something of everything that a stage has: fits, until one figure of the chip is made smaller. */
#include "top.inc"
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    direct_counter(CounterType.packets_and_bytes) hits;
    meter(1024, MeterType.bytes) rate;
    action set_x(bit<16> x, bit<32> d) { m.x = x; hdr.h.d = d; hits.count(); }
    action none() { hits.count(); }
    table exact_table { key = { hdr.h.c: exact; } actions = { set_x; none; } default_action = none(); counters = hits; size = 4096; }
    action send(bit<9> port) { s.egress_spec = port; }
    action nothing() { }
    table ternary_table { key = { hdr.h.b: ternary; } actions = { send; nothing; } default_action = nothing(); size = 512; }
    apply {
        exact_table.apply();
        ternary_table.apply();
        if (hdr.h.a == 3) {
            rate.execute_meter((bit<32>)hdr.h.e, m.colour);
            if (m.colour == 2) { mark_to_drop(s); }
        }
    }
}
V1Switch(P(), VC(), I(), E(), CC(), D()) main;
