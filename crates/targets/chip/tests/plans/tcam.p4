/* More ternary entries than all stages have blocks. */
#include "top.inc"
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    action send(bit<9> port) { s.egress_spec = port; }
    action none() { }
    table acl { key = { hdr.h.c: ternary; hdr.h.d: ternary; } actions = { send; none; } default_action = none(); size = 200000; }
    apply { acl.apply(); }
}
V1Switch(P(), VC(), I(), E(), CC(), D()) main;
