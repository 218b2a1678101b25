// v1model's registers with cells of more than 64 bits: they are written and read whole, and what lies beyond the end reads zero.
#include <v1model.p4>
#include "frame.p4"

INGRESS {
    register<bit<128>>(4) widest;
    register<bit<72>>(3) wide;
    apply {
        sm.egress_spec = 1;
        bit<128> v = 0;
        bit<72> w = 0;
        if (hdr.h.op == 1) {
            v[127:120] = hdr.h.b; v[119:0] = 1; v[71:56] = hdr.h.c ++ hdr.h.d; v[7:0] = hdr.h.e;
            widest.write((bit<32>)hdr.h.a, v);
        } else if (hdr.h.op == 2) {
            widest.read(v, (bit<32>)hdr.h.a);
            hdr.h.b = v[127:120]; hdr.h.c = v[71:64]; hdr.h.d = v[63:56]; hdr.h.e = v[7:0];
        } else if (hdr.h.op == 3) {
            // A sum that carries from one half into the other, and then out of the cell.
            wide.read(w, (bit<32>)hdr.h.a);
            w = w + ((bit<72>)hdr.h.b << 60);
            wide.write((bit<32>)hdr.h.a, w);
            hdr.h.c = w[71:64]; hdr.h.d = w[63:56];
        }
    }
}
MAIN
