void f() {
    x = 1;
    x += 1; x -= 2; x *= 3; x /= 4; x %= 5; x &= 6; x |= 7; x ^= 8; x <<= 1; x >>= 2; x |+|= 3; x |-|= 4;
    a.b[3].c[7:4] = d;
    x[i +: 8] = 1;
    (y) = 2;
    this.z = 3;
    h.setValid();
    f<bit<8>, bool>(1, _);
    g.h<T>(x);
    bit<8> v;
    T t = {1, 2};
    T<bit<8>> u = {a = 1, ...};
    T[3] stack;
    T[3][4] grid = ...;
    const bit<8> C = 1;
    @unused bit<8> w = 3;
    header_t hh = {#};
    MyExtern(1) e;
    MyExtern<bit<8>>(1) ee;
    for (bit<8> i = 0, bit<8> j = 1; i < 10; i = i + 1, j += 2) { sum += i; continue; }
    for (;  true; ) break;
    for (x = 0, g.h(); x < 3; f()) ;
    for (bit<8> i in 1 .. 10) { sum = sum + i; }
    @unroll for (@name("k") elem_t k in stack) sum += k.v;
    for (bit<8> i in lo + 1 .. hi * 2) {}
    if (a < b) if (c) x = 1; else x = 2;
    if (a) { if (b) x = 1; } else x = 2;
    x = a < b ? c >> 2 : (d > e ? 1 : 0);
    return;
}
