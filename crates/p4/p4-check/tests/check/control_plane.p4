// What the control plane must be able to name: keys that are computed, names that clash only by their instances, types that
// it translates; and priorities that say something.
#include <core.p4>
#include <v1model.p4>
@p4runtime_translation("uri/a", string) type bit<9> a_t;
@p4runtime_translation("uri/b", bit<32>) type bit<9> b_t;
@p4runtime_translation("uri/c", 32) type bit<9> c_t;
@p4runtime_translation("uri/d", bool) type bit<9> d_t;
@p4runtime_translation("uri/e", bit<5+3>) type bit<9> e_t;
@p4runtime_translation(bit<8>) type bit<9> f_t;
header h_t { bit<8> x; bit<8> y; }
struct headers { h_t h; h_t[2] s; }
struct meta_t { bit<8> m; }
control keys(inout headers hdr, inout meta_t meta) {
    table named {
        key = {
            hdr.h.x: exact; hdr.s[1].x: exact; hdr.h.y[3:0]: exact; hdr.h.y & 0xf0: ternary; hdr.h.isValid(): exact;
            hdr.h.x + 1: exact @name("next"); 8w5: exact;
        }
        actions = { NoAction; }
    }
    table computed {
        key = { hdr.h.x + hdr.h.y: exact; (bit<4>)hdr.h.x: exact; hdr.h.x == 3: exact; hdr.h.x & (hdr.h.y + 1): ternary; }
        actions = { NoAction; }
    }
    table first {
        key = { hdr.h.x: ternary; }
        actions = { NoAction; }
        entries = { 1: NoAction(); priority = 5: 2: NoAction(); }
    }
    table constant {
        key = { hdr.h.x: ternary; }
        actions = { NoAction; }
        const entries = { 1: NoAction(); priority = 5: 2: NoAction(); }
    }
    apply { named.apply(); computed.apply(); first.apply(); constant.apply(); }
}
control hides(inout headers hdr, inout bit<8> x, out bit<8> y)(bit<8> n) {
    bit<8> y = n;
    action a(bit<8> v) { bit<8> v = 1; hdr.h.x = v; }
    action b(bit<8> v) { bit<8> x = v; bit<8> y = v; hdr.h.x = x + y; }
    apply {
        headers hdr = hdr;
        if (x == 1) { bit<8> x = 2; hdr.h.x = x; } else { const bit<8> n = 3; hdr.h.x = n; }
        for (bit<8> x in 1 .. 3) { hdr.h.y = x; }
        for (bit<8> n = 1; n < 3; n = n + 1) { hdr.h.y = n; }
    }
}
