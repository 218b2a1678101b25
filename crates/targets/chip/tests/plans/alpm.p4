/* Many prefixes lie in SRAM, by partitions; few in TCAM. */
#include "top.inc"
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    action send(bit<9> port) { s.egress_spec = port; }
    action none() { }
    table few { key = { hdr.h.c: lpm; } actions = { send; none; } default_action = none(); size = 1024; }
    table many { key = { hdr.h.d: lpm; } actions = { send; none; } default_action = none(); size = 100000; }
    apply { if (hdr.h.a == 1) { few.apply(); } else { many.apply(); } }
}
V1Switch(P(), VC(), I(), E(), CC(), D()) main;
