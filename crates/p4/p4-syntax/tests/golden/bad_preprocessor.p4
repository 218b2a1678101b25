#include "missing.p4"
#include <missing/too.p4>
#include missing
#include "include/broken.p4"
#define
#define 7 x
#define defined 1
#define F(a, a) a
#define G(a b) a
#define H(..., x) a
#define I(a) ## a
#define J(a, b) a ## b
#define OK 1
#define OK 2
#define K(x) x
#define V(a, b, ...) a __VA_OPT__(b
#define W(a, ...) __VA_OPT__ a
#define X(a, b, ...) a
#undef
#if
#endif
#if 1 +
#endif
#if 1 / 0
#endif
#if (1
#endif
#if "text"
#endif
#ifdef
#endif
#else
#elif 1
#endif
#error this is wrong
#inlcude "x"
#if 1
#else
#else
#endif
const int a = J(+, +) + J(1, +);
const int b = K(1, 2);
const int c = K() + X(1);
const int n = 8w##1 + 9w-1;
#if OK
const int d = K(1
