// Ids that P4Runtime cannot have.
#include <v1model.p4>

header ip_t { bit<32> dst; bit<32> src; }
struct H { ip_t ip; }
struct M { bit<8> mark; }
struct two_t { bit<8> a; bit<8> b; }

parser P(packet_in b, out H h, inout M m, inout standard_metadata_t s) {
    state start { b.extract(h.ip); transition accept; }
}

control I(inout H h, inout M m, inout standard_metadata_t s) {
    // One of an action.
    @id(0x01000007) counter(16, CounterType.packets) wrong_kind;
    // None.
    @id(0) counter(16, CounterType.packets) zero;
    @id(0x1_0000_0000) counter(16, CounterType.packets) too_large;
    @id(0xffff_ffff_ffff_ffff_ffff) counter(16, CounterType.packets) far_too_large;
    @id("seven") meter(16, MeterType.packets) no_number;
    @id(3) register<two_t>(4) parts;

    @id(7) action a(@id(2) bit<8> x, @id(2) bit<8> y) { m.mark = x + y; }
    // The same, written in full.
    @id(0x01000007) action b() { m.mark = 1; }
    @id(8) table t {
        key = { h.ip.dst: exact @id(0); h.ip.src: exact @id(4); }
        actions = { a; b; }
        default_action = b();
    }
    @id(8) table u {
        key = { h.ip.dst: exact; }
        actions = { b; }
        default_action = b();
    }
    apply {
        t.apply();
        u.apply();
        wrong_kind.count(0);
        zero.count(0);
        too_large.count(0);
        far_too_large.count(0);
        no_number.execute_meter(0, m.mark);
    }
}

control V(inout H h, inout M m) { apply {} }
control E(inout H h, inout M m, inout standard_metadata_t s) { apply {} }
control C(inout H h, inout M m) { apply {} }
control D(packet_out b, in H h) { apply { b.emit(h.ip); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
