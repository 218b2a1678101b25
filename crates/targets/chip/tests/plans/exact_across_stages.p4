/* A table of 400,000 entries spans stages; what needs its result comes behind the last. */
#include "top.inc"
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    action set(bit<32> d) { hdr.h.d = d; }
    action none() { }
    table large { key = { hdr.h.c: exact; } actions = { set; none; } default_action = none(); size = 400000; }
    action send(bit<9> port) { s.egress_spec = port; }
    table small { key = { hdr.h.d: exact; } actions = { send; none; } default_action = none(); size = 1024; }
    apply { large.apply(); small.apply(); }
}
V1Switch(P(), VC(), I(), E(), CC(), D()) main;
