// Registers, meters, header stacks, unions and switches.
// packet 03ff 0300 0200 04 11 22 33 44
#include <core.p4>
#include <v1model.p4>

#define DEPTH 3
enum bit<8> Kind { Data = 0, Label = 1 + 1, End = 0xff }
error { TooDeep }

header label_t {
    bit<7> value;
    bit<1> more;
    Kind kind;
}
header a_t { bit<8> x; }
header b_t { varbit<64> y; }
header_union u_t { a_t a; b_t b; }

struct headers_t {
    label_t[DEPTH] labels;
    u_t u;
}
struct meta_t {
    bit<32> seen;
    bit<2> colour;
    tuple<bit<8>, bool> pair;
}

parser P(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata_t s) {
    state start { transition next; }
    state next {
        p.extract(h.labels.next);
        transition select(h.labels.last.more, (bit<8>) h.labels.last.kind) {
            (1, _): next;
            (0, 0 &&& 0x0f): tail;
            (0, 0x10 .. 0x20): accept;
            default: reject;
        }
    }
    state tail {
        bit<8> n = p.lookahead<bit<8>>();
        p.extract(h.u.b, (bit<32>) n << 3);
        transition accept;
    }
}

control C(inout headers_t h, inout meta_t m) { apply {} }

control In(inout headers_t h, inout meta_t m, inout standard_metadata_t s) {
    register<bit<32>>(64) seen;
    meter(16, MeterType.bytes) rate;
    bit<8> t = 8w1 ++ 1w0 == 9w2 ? 8w3 : (bit<8>) 4s7[3:0];
    action bump(in bit<6> at, bit<32> by) {
        seen.read(m.seen, (bit<32>) at);
        m.seen = (m.seen + by) ^ ~m.seen | 1;
        seen.write((bit<32>) at, m.seen);
    }
    action nothing() {}
    table kinds {
        key = { h.labels[0].kind: exact; h.labels[0].value: range; }
        actions = { bump(6w3); nothing; }
        const entries = {
            (Kind.Label, 1 .. 5): bump(6w3, 10);
            (Kind.End, _): nothing() @priority(3);
        }
        const default_action = nothing;
    }
    apply {
        switch (kinds.apply().action_run) {
            bump: { rate.execute_meter<bit<2>>(0, m.colour); }
            default: { h.labels.pop_front(1); return; }
        }
        if (kinds.apply().hit) { h.u.a.setValid(); h.u.a = { t }; exit; }
        random(m.seen, 0, 100);
        hash(m.seen, HashAlgorithm.crc32, (bit<32>) 0, { h.labels[0].value, m.pair[0] }, 32w64);
    }
}
control Eg(inout headers_t h, inout meta_t m, inout standard_metadata_t s) { apply {} }
control D(packet_out p, in headers_t h) { apply { p.emit(h.labels); p.emit(h.u); } }
V1Switch(P(), C(), In(), Eg(), C(), D()) main;
