// Structured annotations come once, with plain values; some annotations want a string.
#include <core.p4>
extern e { e(); }
e() x;
@dup[] @dup[] const bit<8> a = 1;
@mixed(3) @mixed[4] const bit<8> b = 1;
@keys[k = 1, l = 2, k = 3] const bit<8> c = 1;
@list[{ 1, 2 }] const bit<8> d = 1;
@same[x == x] const bit<8> f = 1;
@unknown[nowhere] const bit<8> g = 1;
@name(4) const bit<8> h = 1;
@name("a" ++ "b") const bit<8> fine = 1;
@deprecated("a" | "b") const bit<8> i = 1;
@pkginfo const bit<8> j = 1;
struct s_t { @match(1 + 1) bit<8> m; @match(ternary) bit<8> n; }
