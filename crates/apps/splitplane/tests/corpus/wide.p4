// Fields wider than 128 bits, a header of no whole number of bytes, a register of structs.
#include <core.p4>
#include <v1model.p4>

header wide_t { bit<200> v; }
header odd_t { bit<3> a; bit<10> b; }
header out_t { bit<8> top; bit<16> across; bit<8> equal; bit<8> read; }
struct cell_t { bit<8> n; bool flag; }
struct headers { wide_t x; wide_t y; odd_t odd; out_t o; }
struct meta { bit<200> kept; }

parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    state start { pkt.extract(hdr.x); pkt.extract(hdr.y); pkt.extract(hdr.odd); transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    register<cell_t>(4) cells;
    apply {
        sm.egress_spec = 1;
        cell_t c;
        cells.read(c, 2);
        hdr.o.setValid();
        hdr.o.top = hdr.x.v[199:192];
        hdr.o.across = hdr.x.v[79:64];
        hdr.o.equal = hdr.x.v == hdr.y.v ? 8w1 : 8w0;
        hdr.o.read = c.flag ? c.n : 8w0xff;
        m.kept = hdr.x.v;
        hdr.x.v = hdr.y.v;
        hdr.y.v = m.kept;
        hdr.y.v[7:0] = 0xee;
        hdr.odd.a = hdr.odd.a + 1;
        c.n = c.n + 5;
        c.flag = true;
        cells.write(2, c);
    }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr.o); pkt.emit(hdr.x); pkt.emit(hdr.y); pkt.emit(hdr.odd); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
