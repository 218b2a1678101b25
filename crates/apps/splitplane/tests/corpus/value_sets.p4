// Value sets of one field and of a struct, filled and emptied while packets come.
#include <core.p4>
#include <v1model.p4>

header op_t { bit<16> a; bit<8> b; bit<8> found; }
struct headers { op_t o; }
struct meta { bit<8> found; }
struct pair_t { bit<16> a; bit<8> b; }

parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    value_set<pair_t>(4) pairs;
    value_set<bit<16>>(2) numbers;
    state start {
        pkt.extract(hdr.o);
        transition select(hdr.o.a, hdr.o.b) { pairs: in_pairs; (1, 1): ones; default: other; }
    }
    state in_pairs { m.found = 1; transition other; }
    state ones { m.found = 2; transition other; }
    state other { transition select(hdr.o.a) { numbers: in_numbers; default: accept; } }
    state in_numbers { m.found = m.found + 4; transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    apply { sm.egress_spec = 1; hdr.o.found = m.found; }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr.o); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
