// Loops, stacks, sub-parsers, varbit, lookahead, value sets, all kinds of key sets.
#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_PARSER

struct headers_t { eth_t eth; tag_t[3] tags; opt_t opt; ip_t ip; l4_t l4; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }
struct peek_t { bit<4> hi; bit<4> lo; }
enum bit<8> proto_t { tcp = 6, udp = 17 }
parser Tags(packet_in pkt, inout headers_t hdr, out bit<8> n)(bit<16> more) {
    state start { n = 0; transition next; }
    state next {
        pkt.extract(hdr.tags.next);
        n = n + 1;
        transition select(hdr.tags.last.type) { more: next; 0x800: accept; _: reject; }
    }
}
parser P(packet_in pkt, out headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    Tags(0x8100) tags;
    value_set<bit<16>>(4) known;
    value_set<tuple<bit<8>, bit<8>>>(4) pairs;
    bit<8> n = 0;
    state start {
        pkt.extract(hdr.eth);
        transition select(hdr.eth.type) { 0x8100: tagged; 0x0800: ip; known: ip; 0x9000 .. 0x90ff: accept; 1 &&& 3: reject; }
    }
    state tagged {
        meta.x = 1;
        tags.apply(pkt, hdr, n);
        meta.y = n + (bit<8>) hdr.tags.lastIndex;
        transition ip;
    }
    state ip {
        peek_t p = pkt.lookahead<peek_t>();
        meta.ok = p.hi == 4;
        if (meta.ok) { pkt.advance(8); }
        pkt.extract(hdr.ip);
        transition select(hdr.ip.tos, hdr.ip.proto, meta.ok) {
            (0, 6, true): accept;
            (1 .. 5, _, false): options;
            (_, (bit<8>) proto_t.udp, _): l4;
            default: accept;
        }
    }
    state options {
        pkt.extract(hdr.opt, ((bit<32>) pkt.lookahead<bit<8>>()) << 3);
        verify(hdr.opt.len != 0, error.ParserInvalidArgument);
        transition select(hdr.opt.len, meta.y) { pairs: accept; _: reject; }
    }
    state l4 {
        pkt.extract<tag_t>(_);
        pkt.extract(hdr.l4.tag);
        transition accept;
    }
}
#include "../frame/tail.p4"
