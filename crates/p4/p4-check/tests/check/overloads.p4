// Calls that fit none or several.
extern Two { Two(); void f(in bit<8> a); void f(in bit<8> b); void f(in bit<8> a, in bit<8> b); void f(in bit<16> a); }
bit<8> g(in bit<8> x) { return x; }
bit<8> g(in bit<8> x, in bit<8> y) { return x + y; }
bit<8> g(in bit<16> x) { return 1; }
control c(inout bit<8> v) {
    Two() t;
    apply {
        t.f(v);
        t.f(a = v);
        t.f(v, v);
        t.f(v, v, v);
        v = g(v, y = v);
        v = g(z = v);
        v = g(x = v, x = v);
        v = g();
    }
}
