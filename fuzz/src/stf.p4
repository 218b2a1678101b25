// What scripts of the target `stf` name: a table of each kind of key, and a counter.
#include <core.p4>
#include <v1model.p4>

header h_t {
    bit<8> a;
    bit<16> b;
    bit<32> c;
    bit<4> d;
    bit<4> e;
}

struct headers_t {
    h_t h;
}

struct meta_t {}

parser P(packet_in p, out headers_t hs, inout meta_t m, inout standard_metadata_t s) {
    state start {
        p.extract(hs.h);
        transition accept;
    }
}

control None(inout headers_t hs, inout meta_t m) {
    apply {}
}

control In(inout headers_t hs, inout meta_t m, inout standard_metadata_t s) {
    counter(4, CounterType.packets_and_bytes) seen;
    action to(bit<9> port) {
        s.egress_spec = port;
    }
    action mark(bit<16> b, bit<32> c) {
        hs.h.b = b;
        hs.h.c = c;
    }
    table small {
        key = { hs.h.a: exact; }
        actions = { to; mark; NoAction; }
        size = 4;
    }
    table prefixes {
        key = { hs.h.b: exact; hs.h.c: lpm; }
        actions = { to; mark; NoAction; }
        size = 16;
    }
    table masks {
        key = { hs.h.a: ternary; hs.h.c: range; hs.h.d: optional; }
        actions = { to; mark; NoAction; }
        default_action = to(1);
        size = 16;
    }
    apply {
        seen.count((bit<32>) hs.h.e);
        masks.apply();
        if (!small.apply().hit) {
            prefixes.apply();
        }
    }
}

control Eg(inout headers_t hs, inout meta_t m, inout standard_metadata_t s) {
    apply {}
}

control D(packet_out p, in headers_t hs) {
    apply {
        p.emit(hs);
    }
}

V1Switch(P(), None(), In(), Eg(), None(), D()) main;
