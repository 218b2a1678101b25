/* Read, changed and written in one go; a second register a stage later. */
#include "top.inc"
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    register<bit<32>>(2048) last;
    register<bit<16>>(2048) count;
    apply {
        bit<32> old;
        last.read(old, (bit<32>)hdr.h.b);
        if (old > hdr.h.c) { old = 0; } else { old = hdr.h.c; }
        last.write((bit<32>)hdr.h.b, old);
        bit<16> n;
        count.read(n, old);
        n = n + 1;
        count.write(old, n);
        m.x = n;
        if (m.x == 9) { mark_to_drop(s); }
    }
}
V1Switch(P(), VC(), I(), E(), CC(), D()) main;
