/* Counters by index live in one stage. */
#include "top.inc"
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    counter(1000000, CounterType.packets_and_bytes) all;
    apply { all.count(hdr.h.c); }
}
V1Switch(P(), VC(), I(), E(), CC(), D()) main;
