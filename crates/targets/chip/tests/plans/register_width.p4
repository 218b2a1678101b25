/* A cell of 128 bits, and three comparisons, are more than a stateful ALU does. */
#include "top.inc"
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    register<bit<128>>(64) wide;
    apply {
        bit<128> v;
        wide.read(v, (bit<32>)hdr.h.b);
        if (v == 1) { v = 2; } else if (v == 3) { v = 4; } else if (v == 5) { v = 6; }
        wide.write((bit<32>)hdr.h.b, v);
    }
}
V1Switch(P(), VC(), I(), E(), CC(), D()) main;
