// Parsers: states, select, value sets, stacks, sub-parsers (P4_16 §13).
#include <core.p4>

header tag_t { bit<15> id; bit<1> more; }
header opt_t { bit<8> n; varbit<320> data; }
header_union either_t { tag_t t; opt_t o; }
struct headers_t { tag_t[4] tags; opt_t opt; either_t either; bit<8> seen; }
struct fields_t { bit<8> kind; bit<16> port; }
error { TooMany, BadTag }

parser one_tag(packet_in p, inout tag_t[4] tags)(bit<32> most) {
    state start {
        p.extract(tags.next);
        verify(tags.lastIndex < most, error.TooMany);
        verify(tags.last.id != 0, error.BadTag);
        transition select(tags.last.more) { 1: start; default: accept; }
    }
}
parser main_parser(packet_in p, out headers_t h, in fields_t f, in bit<32> len) {
    value_set<bit<16>>(4) ports;
    @name("pairs") value_set<fields_t>(8) pairs;
    one_tag(3) sub;
    const bit<8> magic = 0x2a;
    bit<8> count = 0;
    state start {
        count = count + 1;
        transition select(f.port, f.kind) {
            (ports, _): tags;
            (80, magic): options;
            (1 .. 1024, 0x10 &&& 0xf0): options;
            (_, 1): reject;
            default: next;
        }
    }
    state tags { sub.apply(p, h.tags); transition next; }
    state next {
        transition select(f) { pairs: options; { 1, 2 }: tags; default: look; }
    }
    state look {
        bit<8> n = p.lookahead<bit<8>>();
        tag_t t = p.lookahead<tag_t>();
        if (n > 5) { p.advance(8); } else { p.extract<tag_t>(_); }
        transition select(t.more, p.length() > 100, { n, 8w1 }) {
            (1, true, { 1, 1 }): options;
            (0, false, _): accept;
        }
    }
    @name("last")
    state options {
        p.extract(h.opt, (bit<32>) (len * 8));
        p.extract(h.either.t);
        h.seen = count;
        transition accept;
    }
}
