// P4_16 §13: select, verify, extract in both forms, lookahead, advance, sub-parsers, errors.
#include <v1model.p4>

header start_t { bit<8> op; bit<8> n; bit<8> m; }
header result_t { bit<8> error_; bit<8> x; bit<8> y; }
header one_t { bit<8> v; }
header options_t { bit<8> kind; varbit<24> data; }
struct headers { result_t result; start_t start; one_t one; options_t options; one_t late; }
struct metadata { bit<8> x; bit<8> y; }
error { Mine }
struct peek_t { bit<4> high; bit<4> low; }

parser Sub(packet_in packet, inout bit<8> x, out one_t h) {
    state start {
        x = x + 1;
        packet.extract(h);
        transition select(h.v) { 0xee: reject; default: more; }
    }
    state more { x = x + 1; transition accept; }
}

parser P(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    Sub() sub;
    state start {
        packet.extract(hdr.start);
        transition select(hdr.start.op) {
            1: selects;
            2: no_match;
            3: verifies;
            4: varbits;
            5: looks;
            6: skips;
            7: subs;
            8: rejects;
            9: twice;
            default: accept;
        }
    }
    // §13.6: cases from top to bottom; masks, ranges, several keys, tuples of sets.
    state selects {
        transition select(hdr.start.n, hdr.start.m) {
            (1, 2): s1;
            (0x10 &&& 0xf0, _): s2;
            (5 .. 9, 0x80 &&& 0x80): s3;
            (5 .. 9, default): s4;
            (_, 0x33): s5;
            default: s6;
        }
    }
    state s1 { meta.x = 1; transition accept; }
    state s2 { meta.x = 2; transition accept; }
    state s3 { meta.x = 3; transition accept; }
    state s4 { meta.x = 4; transition accept; }
    state s5 { meta.x = 5; transition accept; }
    state s6 { meta.x = 6; transition accept; }
    // No case: NoMatch.
    state no_match { meta.x = 7; transition select(hdr.start.n) { 1: s1; } }
    // §13.7: what was done before stays done.
    state verifies {
        meta.x = 1;
        verify(hdr.start.n == 1, error.Mine);
        meta.x = 2;
        packet.extract(hdr.one);
        verify(hdr.one.v != 0, error.NoMatch);
        meta.x = 3;
        transition accept;
    }
    // §13.8.2
    state varbits {
        packet.extract(hdr.options, (bit<32>) hdr.start.n);
        packet.extract(hdr.late);
        transition accept;
    }
    // §13.8.3: nothing is consumed.
    state looks {
        meta.x = packet.lookahead<bit<8>>();
        peek_t p = packet.lookahead<peek_t>();
        meta.y = (bit<8>) p.low;
        bit<16> w = packet.lookahead<bit<16>>();
        packet.extract(hdr.one);
        meta.y = meta.y + w[7:0];
        transition accept;
    }
    // §13.8.4
    state skips { packet.advance((bit<32>) hdr.start.n); meta.x = 1; packet.extract(hdr.one); transition accept; }
    // §13.10
    state subs { meta.x = 1; sub.apply(packet, meta.x, hdr.one); meta.y = meta.x; sub.apply(packet, meta.x, hdr.late); transition accept; }
    state rejects { meta.x = 9; transition reject; }
    // A header that is extracted again is replaced.
    state twice { packet.extract(hdr.one); packet.extract(hdr.one); transition accept; }
}
control V(inout headers hdr, inout metadata meta) { apply { } }
control I(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        hdr.result = { 0, meta.x, meta.y };
        if (sm.parser_error == error.PacketTooShort) { hdr.result.error_ = 1; }
        else if (sm.parser_error == error.NoMatch) { hdr.result.error_ = 2; }
        else if (sm.parser_error == error.Mine) { hdr.result.error_ = 3; }
        else if (sm.parser_error == error.HeaderTooShort) { hdr.result.error_ = 4; }
        else if (sm.parser_error == error.ParserInvalidArgument) { hdr.result.error_ = 5; }
        else if (sm.parser_error != error.NoError) { hdr.result.error_ = 6; }
    }
}
control E(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout metadata meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
