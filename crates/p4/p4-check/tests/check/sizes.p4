// Widths and sizes: known, positive, and within reason.
#include <core.p4>
header h_t { bit<8> x; }
typedef bit<-1> a_t;
typedef int<0> b_t;
typedef bit<70000> c_t;
typedef bit<99999999999999999999> d_t;
typedef varbit<40000> e_t;
typedef h_t[-1] f_t;
typedef h_t[5000] g_t;
typedef bit<8>[1000][1000] i_t;
typedef bit<true> j_t;
const int big = 1 << 100000;
const bit<8> signed0 = 0s0;
control c()(bit<32> n) {
    apply {
        h_t[n] stack;
        bit<(n + 1)> wide;
        h_t[4] four;
        four[4].x = 1;
        bit<8> y = four[1].x[8:1];
        y = four[0].x[-1:0];
    }
}
