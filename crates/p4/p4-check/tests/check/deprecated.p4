// Every use of what is declared `@deprecated` is warned of, and no use of its sibling; with a fault at the end.
#include <core.p4>
#include <v1model.p4>

@deprecated("use checked_add") bit<8> add(in bit<8> a) { return a + 1; }
bit<8> add(in bit<8> a, in bit<8> b) { return a + b; }
@deprecated("a count of 16 bits is too short") typedef bit<16> count_t;
extern Old {
    @deprecated("give a size") Old();
    Old(bit<32> size);
    @deprecated("use later") void now();
    void later();
}
struct headers { }
struct meta { count_t n; }

parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) { state start { transition accept; } }
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    Old() first;
    Old(32) second;
    @deprecated("") action gone() { }
    apply {
        bit<8> x = add(8w1);
        x = add(x, 2);
        first.now();
        second.later();
        gone();
        mark_to_drop();
        mark_to_drop(sm);
        m.n = true;
    }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out pkt, in headers hdr) { apply { } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
