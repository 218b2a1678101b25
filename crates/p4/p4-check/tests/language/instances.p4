// Externs, abstract methods, arrays of instances, generic blocks, packages with defaults (P4_16 §7.2.10, §11.3, §13 - §16).
#include <core.p4>

extern Cell<T> { Cell(T start); Cell(T start, string name); T get(); void put(in T x); U as<U>(in U like); }
extern Hook<T> { Hook(); bit<8> go(in T x); abstract bit<8> run(in T x, @optional out bit<8> more); @optional abstract void stop(); }
extern Cell<T> make<T>(T x);
extern Counter { Counter(int size); void count(int at); }

parser id<T>(packet_in p, out T h) { state start { p.extract(h); transition accept; } }
control keep<T>(inout T x)(T start, bit<32> size) {
    Cell<T>(start) cell;
    apply { T old = cell.get(); cell.put(x); x = old; }
}
header h_t { bit<8> a; }
const bit<8> named_constant = 9;
struct two_t<A> { A x; A y; }
typedef Cell<bit<32>> cell32_t;

control user(inout h_t h) {
    keep(8w1, 32) with_inferred;
    keep<bit<8>>(start = 2, size = 3) with_given;
    Cell<bit<8>>(5) many[4];
    Cell(16w3) inferred;
    cell32_t(7, "name") named;
    Counter(16) counter;
    Hook<bit<8>>() hook = {
        bit<8> run(in bit<8> x) { if (x == 0) { return this.go(1); } return x + named_constant; }
        void stop() { }
    };
    Hook<two_t<bit<8>>>() pairs = { bit<8> run(in two_t<bit<8>> v, out bit<8> more) { more = v.y; return v.x; } };
    apply {
        with_inferred.apply(h.a);
        with_given.apply(h.a);
        h.a = hook.go(h.a) + pairs.go({ h.a, 1 }) + many[2].get() + many[h.a[1:0]].get();
        inferred.put(inferred.as(16w1) + (bit<16>) named.get()[15:0]);
        counter.count(3);
        if (h.a == 1) { Cell(8w1).put(2); }
    }
}

parser ParserT<H>(packet_in p, out H h);
control ControlT<H>(inout H h, @optional in bit<8> extra);
control nothing<H>(inout H h) { apply { } }
package Stage<H>(ControlT<H> c, bit<8> n = 5);
package Stage<H>(ControlT<H> c, ControlT<H> d);
package Top<H>(ParserT<H> p, Stage<H> s, @optional Stage<H> t);

control instances(inout h_t h) { user() u; apply { u.apply(h); } }
Stage(instances()) first;
@noWarn("unused") Stage(c = instances(), d = nothing<h_t>()) second;
Top(id<h_t>(), first, first) main;
