// Objects of every kind that P4Runtime knows, with and without ids of their own.
#include <v1model.p4>

header ip_t { bit<8> ttl; bit<32> dst; bit<16> port; }
struct H { ip_t ip; }
struct M { bit<8> mark; }
struct learn_t { bit<32> dst; bit<8> mark; }

parser P(packet_in b, out H h, inout M m, inout standard_metadata_t s) {
    @id(0x030000ab) value_set<bit<16>>(4) ports;
    state start {
        b.extract(h.ip);
        transition select(h.ip.port) {
            ports: accept;
            default: accept;
        }
    }
}

control I(inout H h, inout M m, inout standard_metadata_t s) {
    @id(9) counter(16, CounterType.packets_and_bytes) packets;
    meter(8, MeterType.bytes) rate;
    direct_counter(CounterType.bytes) per_route;
    direct_meter<bit<8>>(MeterType.packets) per_filter;
    register<bit<32>>(32) last;

    action forward(@id(7) bit<9> port, bit<8> mark) {
        s.egress_spec = port;
        m.mark = mark;
        per_route.count();
    }
    @id(0x01000042) action drop() { mark_to_drop(s); }
    action learn() { digest<learn_t>(1, { h.ip.dst, m.mark }); }
    action mark(bit<9> port, bit<8> value) {
        s.egress_spec = port;
        m.mark = value;
    }
    action police() { per_filter.read(m.mark); }

    @id(5)
    table routes {
        key = { h.ip.dst: lpm @id(3); h.ip.ttl: exact @name("ttl"); }
        actions = { forward; drop; @defaultonly learn; }
        default_action = learn();
        size = 100;
        counters = per_route;
    }
    table filters {
        key = { h.ip.dst: ternary; h.ip.port: range; h.ip.ttl: optional; }
        actions = { police; @tableonly drop; NoAction; }
        const default_action = NoAction;
        const entries = { (10 &&& 15, 1..9, _): drop(); }
        meters = per_filter;
    }
    table marked {
        key = { m.mark: exact; }
        actions = { mark; }
        default_action = mark(300, 5);
    }
    apply {
        routes.apply();
        filters.apply();
        marked.apply();
        packets.count(1);
        rate.execute_meter(2, m.mark);
        last.write(0, h.ip.dst);
    }
}

control V(inout H h, inout M m) { apply {} }
control E(inout H h, inout M m, inout standard_metadata_t s) { apply {} }
control C(inout H h, inout M m) { apply {} }
control D(packet_out b, in H h) { apply { b.emit(h.ip); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
