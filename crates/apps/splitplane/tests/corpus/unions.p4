// A stack of header unions: extracted by next, read by an index that the packet gives, moved.
#include <core.p4>
#include <v1model.p4>

header base_t { bit<8> kinds; bit<8> index; }
header byte_t { bit<8> v; }
header short_t { bit<16> v; }
header_union u_t { byte_t b; short_t s; }
header seen_t { bit<16> v; bit<8> last; }
struct headers { base_t base; u_t[3] u; seen_t seen; }
struct meta { bit<32> last; }

parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    state start {
        pkt.extract(hdr.base);
        transition more;
    }
    state more {
        hdr.base.kinds = hdr.base.kinds << 2;
        transition select(pkt.lookahead<bit<8>>()) {
            1: one;
            2: two;
            default: done;
        }
    }
    state one { pkt.advance(8); pkt.extract(hdr.u.next.b); transition more; }
    state two { pkt.advance(8); pkt.extract(hdr.u.next.s); transition more; }
    state done { m.last = hdr.u.lastIndex; transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        hdr.seen.setValid();
        bit<8> i = hdr.base.index;
        if (hdr.u[i].b.isValid()) { hdr.seen.v = 8w0 ++ hdr.u[i].b.v; }
        if (hdr.u[i].s.isValid()) { hdr.seen.v = hdr.u[i].s.v; }
        hdr.seen.last = (bit<8>)m.last;
        hdr.u[0].s.setValid();
        hdr.u[0].s.v = 0xeeee;
        hdr.u.push_front(1);
        if (sm.parser_error != error.NoError) { hdr.u.pop_front(2); }
    }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr.seen); pkt.emit(hdr.u); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
