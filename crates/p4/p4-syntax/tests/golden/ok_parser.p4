#include <mini_core.p4>
parser Proto<H>(packet_in p, out H h);
parser p(packet_in pkt, out headers_t hdr, inout meta_t meta)(bit<8> limit) {
    value_set<bit<16>>(4) ports;
    value_set<tuple<bit<8>, bit<8>>>(LIMIT + 1) pairs;
    bit<8> n = limit;
    const bit<8> ONE = 1;
    Sub() sub;
    @name("begin") state start {
        pkt.extract(hdr.eth);
        pkt.extract<ipv4_t>(hdr.ip);
        pkt.extract(hdr.opts, (bit<32>) (hdr.ip.ihl - 5) << 5);
        bit<16> look = pkt.lookahead<bit<16>>();
        n = n - 1;
        { n = 1; }
        if (n == 0) { n = 2; }
        verify(n < 4, error.PacketTooShort);
        transition select(look, n) {
            (0x800, _): ipv4;
            (0x86dd &&& 0xfff0, 1 .. 3): ipv6;
            (ports, default): next;
            (_, _): accept;
        }
    }
    state ipv4 { sub.apply(pkt); transition select(hdr.ip.proto) { 6: tcp; (17): accept; default: reject; } }
    state next { transition state; }
    state state { transition ipv6; }
    state ipv6 { pkt.advance(32); }
}
