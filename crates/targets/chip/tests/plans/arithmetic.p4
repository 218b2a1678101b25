/* What no ALU of a stage does. */
#include "top.inc"
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    apply {
        m.x = m.x * hdr.h.b;
        m.y = hdr.h.b << hdr.h.a;
        m.w = m.w + m.v;
        truncate(64);
        s.egress_spec = (bit<9>)(m.x + m.y + (bit<16>)m.w);
    }
}
V1Switch(P(), VC(), I(), E(), CC(), D()) main;
