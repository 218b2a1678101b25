// Varbit fields are swapped through a variable, and compared.
#include <core.p4>
#include <v1model.p4>

header size_t { bit<8> first; bit<8> second; }
header data_t { bit<8> tag; varbit<64> bytes; }
header mark_t { bit<8> equal; }
struct headers { size_t size; data_t a; data_t b; mark_t mark; }
struct meta { varbit<64> kept; }

parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    state start {
        pkt.extract(hdr.size);
        pkt.extract(hdr.a, (bit<32>)hdr.size.first << 3);
        pkt.extract(hdr.b, (bit<32>)hdr.size.second << 3);
        transition accept;
    }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    varbit<64> other;
    apply {
        sm.egress_spec = 1;
        hdr.mark.setValid();
        hdr.mark.equal = 0;
        if (hdr.a.bytes == hdr.b.bytes) { hdr.mark.equal = 1; }
        m.kept = hdr.a.bytes;
        other = hdr.b.bytes;
        hdr.a.bytes = other;
        hdr.b.bytes = m.kept;
        if (hdr.b.bytes == m.kept && hdr.a.bytes == other) { hdr.mark.equal[7:4] = 0xf; }
    }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr.mark); pkt.emit(hdr.a); pkt.emit(hdr.b); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
