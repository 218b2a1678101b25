// A look-ahead of more bits than the widest value, at a struct's fields; a literal, a sum and a comparison of such width in a parser.
#include <core.p4>
#include <v1model.p4>

struct ahead_t { bit<8> first; bit<160> sum; int<136> rest; }
header in_t { bit<304> all; }
header out_t { bit<8> first; bit<160> sum; bit<136> rest; bit<8> large; }
struct headers { in_t i; out_t o; }
struct meta { bit<8> first; bit<160> sum; int<136> rest; bool large; }

parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    state start {
        ahead_t a = pkt.lookahead<ahead_t>();
        m.first = a.first;
        m.sum = a.sum + 160w0x0100000000000000000000000000000000000001;
        m.rest = a.rest >> 4;
        m.large = a.sum > 160w0x7fffffffffffffffffffffffffffffffffffffff;
        pkt.extract(hdr.i);
        transition select(a.sum) {
            0: none;
            160w0x55 << 120 &&& 160w0xff << 120: marked;
            default: accept;
        }
    }
    state none { m.first = 0xee; transition accept; }
    state marked { m.first = 0xdd; transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    apply {
        if (sm.parser_error != error.NoError) { mark_to_drop(sm); return; }
        sm.egress_spec = 1;
        hdr.o = { m.first, m.sum, (bit<136>)m.rest, m.large ? 8w1 : 8w0 };
        hdr.o.setValid();
        hdr.i.setInvalid();
    }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr.o); pkt.emit(hdr.i); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
