// Type parameters are opaque; type arguments fit.
#include <core.p4>
struct g_t<T> { T a; }
extern E<T> { E(T init); T get(); void put(in T x); }
struct two_t<A, B> { A a; B b; }
typedef g_t<bit<8>> g8_t;
bool same<T>(in T x, in T y) { return x == y; }
T plus<T>(in T x) { return x + 1; }
bit<8> narrow<T>(in T x) { return x; }
T ok<T>(in T x) { g_t<T> y; y.a = x; return y.a; }
typedef g_t<g8_t> nested_t;
typedef g_t bare_t;
typedef two_t<bit<8>> half_t;
typedef bit<8> eight_t;
typedef eight_t<bit<8>> none_t;
control wants(E x) { apply { } }
control fits<T>(inout T x)(T start) { E<T>(start) e; apply { e.put(x); x = e.get(); x.f = 1; } }
control user(inout bit<8> v) {
    fits(8w1) f;
    E(16w1) e;
    E<E<bit<8>>>(1) deep;
    apply {
        f.apply(v);
        e.put(8w1);
        v = ok<bit<8>, bit<8>>(v);
        v = ok<bit<16>>(v);
    }
}
struct nest_t<T> { g_t<g_t<T>> inner; }
struct fine_t<T> { g_t<T> inner; }
typedef fine_t<g_t<bit<8>>> fine8_t;
typedef g_t<tuple<g8_t>> through_t;
