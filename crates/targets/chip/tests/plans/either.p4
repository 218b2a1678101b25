/* One meter in two branches is reached once. */
#include "top.inc"
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    meter(1024, MeterType.bytes) rate;
    apply {
        if (hdr.h.b == 1) { rate.execute_meter((bit<32>)hdr.h.a, m.colour); }
        else { rate.execute_meter((bit<32>)hdr.h.e, m.colour); }
        if (m.colour == 2) { mark_to_drop(s); }
    }
}
V1Switch(P(), VC(), I(), E(), CC(), D()) main;
