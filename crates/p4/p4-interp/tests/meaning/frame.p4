// What the programs here share: a packet of eight bytes or more, the first of which says which case is tested.
#include <core.p4>
#include <v1model.p4>

header h_t { bit<8> op; bit<8> a; bit<8> b; bit<8> c; bit<8> d; bit<8> e; bit<8> f; bit<8> g; }
struct headers { h_t h; }
struct metadata { bit<8> x; bit<8> y; }

parser P(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    state start { packet.extract(hdr.h); transition accept; }
}
control V(inout headers hdr, inout metadata meta) { apply { } }
control E(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout metadata meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr.h); } }
#define MAIN V1Switch(P(), V(), I(), E(), C(), D()) main;
#define INGRESS control I(inout headers hdr, inout metadata meta, inout standard_metadata_t sm)
