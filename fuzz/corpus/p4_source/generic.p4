// Declarations without an architecture: generics, externs, packages, functions, loops.
extern void log<T>(in T value);
extern Store<K, V> {
    Store(bit<32> size);
    V get(in K key);
    @pure abstract void miss(in K key);
}
match_kind { exact }
typedef int<16> small;
type bit<32> Address;
struct Pair<A, B> { A a; B b; }
const Pair<bit<8>, bool> origin = { a = 1, b = true };
const list<bit<4>> few = { 1, 2, 3 };

bit<8> twice(in bit<8> x = 4) {
    return (bit<8>) (x + x) << 1;
}

parser Sub<H>(in H h)(bit<8> depth) {
    value_set<bit<8>>(4) seen;
    state start { transition select(depth) { seen: accept; ...: reject; } }
}
control Ctl<T>(inout T t) {
    Store<bit<8>, T>(16) store = {
        void miss(in bit<8> key) { log(key); }
    };
    apply {
        for (bit<8> i = 0; i < 4; i += 1) { if (i == 2) continue; else break; }
        for (bit<4> v in few) { log<bit<4>>(v); }
        t = store.get(key = twice(x = 3));
        { small x = -4s3 |+| 1; x = x[15:0]; }
    }
}
control Any<T>(inout T t);
package Top<T>(Any<T> c, @optional bit<8> n);
Top(Ctl<bit<8>>()) main;
