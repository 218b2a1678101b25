/* More entries than all stages have blocks. */
#include "top.inc"
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    action send(bit<9> port) { s.egress_spec = port; }
    action none() { }
    table huge { key = { hdr.h.c: exact; } actions = { send; none; } default_action = none(); size = 8000000; }
    apply { huge.apply(); }
}
V1Switch(P(), VC(), I(), E(), CC(), D()) main;
