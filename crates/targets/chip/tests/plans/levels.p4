/* Sums of sums take a stage each; both branches share them. */
#include "top.inc"
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    apply {
        m.x = hdr.h.b + 1 + (bit<16>)hdr.h.a;
        m.y = m.x + m.z;
        if (hdr.h.c > hdr.h.d) { hdr.h.b = m.y; } else { hdr.h.b = m.x; }
    }
}
V1Switch(P(), VC(), I(), E(), CC(), D()) main;
