#define F(x, y) x ## y
#if defined(F) && !0
const bit<8> a = 1; /* c */ // d
#elif 1 == 2
#else
#error no
#endif
#ifndef Q
#line 7 "x.p4"
@pragma x y
@a[k=1, l="s"] const string s = "\"\n";
#endif
const bool b = 1 < 2 && (3 >= 4 || !true);
