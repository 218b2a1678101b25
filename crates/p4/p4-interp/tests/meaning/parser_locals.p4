// P4_16 §13.4: a parser's variables get their values each time that it runs, before the start state, whatever these look at.
#include <v1model.p4>

header start_t { bit<8> op; bit<8> n; }
header result_t { bit<8> a; bit<8> b; bit<8> c; bit<8> d; bit<8> e; bit<8> f; bit<8> error_; }
header one_t { bit<8> v; }
struct peek_t { bit<4> high; bit<4> low; }
struct headers { result_t result; start_t start; one_t[2] hs; }
struct metadata { bit<8> a; bit<8> b; bit<8> c; bit<8> d; bit<8> e; bit<8> f; }

bit<8> twice(in bit<8> x) { return 2 * x; }
one_t made(in bit<8> x) { one_t h; h.setValid(); h.v = x; if (x == 0xff) { h.setInvalid(); } return h; }

parser Sub(packet_in packet, inout bit<8> x) {
    bit<8> seen = packet.lookahead<bit<8>>();
    bit<8> more = seen + 1;
    state start { x = x + more; transition accept; }
}

parser P(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    Sub() sub;
    bit<8> y = 3;
    bit<8> x = y + 1;
    one_t h = packet.lookahead<one_t>();
    bit<4> slice = packet.lookahead<bit<8>>()[7:4];
    peek_t peek = packet.lookahead<peek_t>();
    bit<16> both = packet.lookahead<bit<16>>();
    bool next = hdr.hs.next.isValid();
    bit<8> sum = twice(h.v) + (bit<8>) slice;
    one_t m = made(h.v);
    bit<8> chosen = both[15:8] == 1 ? both[7:0] : 8w0x77;
    const bit<8> five = 5;
    state start {
        packet.extract(hdr.start);
        meta.a = x;
        meta.b = h.v;
        meta.c = sum;
        meta.d = (bit<8>) peek.low + (next ? 8w0x80 : 0);
        meta.e = m.isValid() ? m.v : five;
        meta.f = chosen;
        x = 99;
        transition select(hdr.start.n) { 0xaa: subs; default: accept; }
    }
    state subs { sub.apply(packet, meta.a); sub.apply(packet, meta.b); transition accept; }
}
control V(inout headers hdr, inout metadata meta) { apply { } }
control I(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        hdr.result = { meta.a, meta.b, meta.c, meta.d, meta.e, meta.f, 0 };
        if (sm.parser_error == error.PacketTooShort) { hdr.result.error_ = 1; }
        else if (sm.parser_error != error.NoError) { hdr.result.error_ = 2; }
    }
}
control E(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout metadata meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
