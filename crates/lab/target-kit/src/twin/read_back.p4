// A table of each kind, with direct counters: what is put into them is to be read back.
#include <v1model.p4>

header fields_t { bit<16> a; bit<32> b; bit<4> c; bit<12> d; }
struct H { fields_t f; }
struct M { bit<8> mark; }

parser P(packet_in p, out H h, inout M m, inout standard_metadata_t s) {
    state start { p.extract(h.f); transition accept; }
}

control I(inout H h, inout M m, inout standard_metadata_t s) {
    direct_counter(CounterType.packets_and_bytes) small_count;
    direct_counter(CounterType.packets) exact_count;
    direct_counter(CounterType.bytes) route_count;
    direct_counter(CounterType.packets_and_bytes) filter_count;
    action mark(bit<8> value, bit<100> wide) { m.mark = m.mark ^ value ^ wide[99:92]; }
    action to(bit<9> port) { s.egress_spec = port; }
    action nothing() { }
    table small {
        key = { h.f.c: exact; }
        actions = { mark; nothing; }
        default_action = nothing();
        counters = small_count;
        size = 16;
    }
    table exacts {
        key = { h.f.d: exact; h.f.b: exact; }
        actions = { mark; to; nothing; }
        default_action = nothing();
        counters = exact_count;
        size = 512;
    }
    table routes {
        key = { h.f.c: exact; h.f.b: lpm; }
        actions = { mark; to; nothing; }
        default_action = nothing();
        counters = route_count;
        size = 512;
    }
    table filters {
        key = { h.f.c: exact; h.f.b: lpm; h.f.a: range; h.f.d: ternary; h.f.a[3:0]: optional @name("low"); }
        actions = { mark; nothing; }
        default_action = nothing();
        counters = filter_count;
        size = 512;
    }
    table fixed {
        key = { h.f.d: ternary; h.f.a: range; }
        actions = { mark; nothing; }
        default_action = nothing();
        const entries = {
            (5, 1..9): mark(3, 4);
            (5 &&& 7, _): mark(5, 6);
            (_, 7): nothing();
        }
    }
    apply {
        s.egress_spec = 1;
        small.apply();
        exacts.apply();
        routes.apply();
        filters.apply();
        fixed.apply();
    }
}

control V(inout H h, inout M m) { apply { } }
control E(inout H h, inout M m, inout standard_metadata_t s) { apply { h.f.c = m.mark[3:0]; } }
control C(inout H h, inout M m) { apply { } }
control D(packet_out p, in H h) { apply { p.emit(h.f); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
