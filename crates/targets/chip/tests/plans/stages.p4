/* Thirteen tables, each with the result of the one before as its key. */
#include "top.inc"
control I(inout headers_t hdr, inout meta_t m, inout standard_metadata_t s) {
    action set(bit<16> v) { m.x = v; }
    action none() { }
    table t1 { key = { m.x: exact; } actions = { set; none; } default_action = none(); size = 256; }
    table t2 { key = { m.x: exact; } actions = { set; none; } default_action = none(); size = 256; }
    table t3 { key = { m.x: exact; } actions = { set; none; } default_action = none(); size = 256; }
    table t4 { key = { m.x: exact; } actions = { set; none; } default_action = none(); size = 256; }
    table t5 { key = { m.x: exact; } actions = { set; none; } default_action = none(); size = 256; }
    table t6 { key = { m.x: exact; } actions = { set; none; } default_action = none(); size = 256; }
    table t7 { key = { m.x: exact; } actions = { set; none; } default_action = none(); size = 256; }
    table t8 { key = { m.x: exact; } actions = { set; none; } default_action = none(); size = 256; }
    table t9 { key = { m.x: exact; } actions = { set; none; } default_action = none(); size = 256; }
    table t10 { key = { m.x: exact; } actions = { set; none; } default_action = none(); size = 256; }
    table t11 { key = { m.x: exact; } actions = { set; none; } default_action = none(); size = 256; }
    table t12 { key = { m.x: exact; } actions = { set; none; } default_action = none(); size = 256; }
    table t13 { key = { m.x: exact; } actions = { set; none; } default_action = none(); size = 256; }
    apply {
        t1.apply();
        t2.apply();
        t3.apply();
        t4.apply();
        t5.apply();
        t6.apply();
        t7.apply();
        t8.apply();
        t9.apply();
        t10.apply();
        t11.apply();
        t12.apply();
        t13.apply();
    }
}
V1Switch(P(), VC(), I(), E(), CC(), D()) main;
