// P4_16 §8.7 bit<W>, §8.8 int<W>, §8.9 int, §8.10 concatenation and shifts, §8.12 casts, §8.16 sets.
#include <v1model.p4>
#include "frame.p4"

enum bit<8> Colour { Red = 1, Green = 2 }
const int BIG = 1 << 100;

INGRESS {
    apply {
        bit<8> a = hdr.h.a;
        bit<8> b = hdr.h.b;
        int<8> s = (int<8>) a;
        int<8> t = (int<8>) b;
        sm.egress_spec = 1;
        // §8.7: results wrap around.
        if (hdr.h.op == 1) { hdr.h.c = a + b; hdr.h.d = a - b; hdr.h.e = a * b; hdr.h.f = -a; hdr.h.g = ~a; }
        // Saturating ones stay between 0 and 2^W - 1, and between -2^(W-1) and 2^(W-1) - 1.
        else if (hdr.h.op == 2) { hdr.h.c = a |+| b; hdr.h.d = a |-| b; hdr.h.e = (bit<8>) (s |+| t); hdr.h.f = (bit<8>) (s |-| t); }
        // Comparisons by the type.
        else if (hdr.h.op == 3) {
            hdr.h.c = (bit<1>) (a < b) ++ (bit<1>) (a <= b) ++ (bit<1>) (a > b) ++ (bit<1>) (a >= b) ++ 4w0;
            hdr.h.d = (bit<1>) (s < t) ++ (bit<1>) (s <= t) ++ (bit<1>) (s > t) ++ (bit<1>) (s >= t) ++ 4w0;
        }
        // §8.10: shifts by more than the width leave nothing, or the sign.
        else if (hdr.h.op == 4) { hdr.h.c = a << b; hdr.h.d = a >> b; hdr.h.e = (bit<8>) (s << b); hdr.h.f = (bit<8>) (s >> b); }
        else if (hdr.h.op == 5) { hdr.h.c = a << 3; hdr.h.d = (bit<8>) (s >> 7); hdr.h.e = (bit<8>) (int<8>) ((int<16>) s >> 4); }
        // The left operand is on top, and its sign is the result's.
        else if (hdr.h.op == 6) {
            bit<16> u = a ++ b;
            int<16> v = s ++ b;
            hdr.h.c = u[11:4];
            hdr.h.d = (bit<8>) (int<8>) (v >> 12);
            hdr.h.e = (a[3:0] ++ b[7:4]);
        }
        // §8.7: slices are unsigned and places.
        else if (hdr.h.op == 7) { hdr.h.c[6:2] = a[4:0]; hdr.h.d = (bit<8>) s[7:4]; hdr.h.e[7:7] = s[0:0]; }
        else if (hdr.h.op == 8) { hdr.h.c = (bit<8>) a[b[2:0]+:2]; }
        // §8.12: casts keep the low bits, or extend by the sign of what is cast.
        else if (hdr.h.op == 9) {
            bit<16> wide = (bit<16>) (int<16>) s;
            hdr.h.c = wide[15:8];
            wide = (bit<16>) a;
            hdr.h.d = wide[15:8];
            hdr.h.e = (bit<8>) (bit<4>) a;
            hdr.h.f = (bit<8>) (int<8>) (int<4>) s;
            hdr.h.g = (bit<8>) (bit<1>) (a == b);
        }
        else if (hdr.h.op == 10) { hdr.h.c = (bit<8>) (BIG >> 96); hdr.h.d = (bit<8>) (-1); hdr.h.e = (bit<8>) (7 / 2 + 7 % 4); }
        // §8.3: an enum with an underlying type holds any of its values.
        else if (hdr.h.op == 11) {
            Colour colour = (Colour) a;
            if (colour == Colour.Green) { hdr.h.c = 1; }
            hdr.h.d = (bit<8>) colour;
            hdr.h.e = Colour.Red + 1;
        }
        // Signed products, bitwise operations in two's complement.
        else if (hdr.h.op == 12) { hdr.h.c = (bit<8>) (s * t); hdr.h.d = (bit<8>) (s & t); hdr.h.e = (bit<8>) (s ^ t); hdr.h.f = (bit<8>) (-s); hdr.h.g = (bit<8>) (~s); }
        // Wide ones.
        else if (hdr.h.op == 13) {
            bit<64> w = 64w0xffff_ffff_ffff_ff00 + (bit<64>) a;
            w = w + (bit<64>) b;
            hdr.h.c = w[7:0];
            hdr.h.d = w[63:56];
            int<100> v = (int<100>) s;
            v = v + v;
            hdr.h.e = v[99:92];
            hdr.h.f = (bit<8>) (bit<1>) (v < 0);
        }
    }
}
MAIN
