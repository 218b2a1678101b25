// An instance supplies what its extern leaves abstract, and only that.
extern V {
    V();
    void run();
    abstract bit<8> f(in bit<8> x);
    @optional abstract void g();
}
V() good = { bit<8> f(in bit<8> y) { return y + 1; } };
V() lacks;
V() other_type = { bit<16> f(in bit<8> x) { return 1; } };
V() other_direction = { bit<8> f(inout bit<8> x) { return x; } };
V() not_there = { bit<8> f(in bit<8> x) { return x; } void h() { } };
V() not_abstract = { bit<8> f(in bit<8> x) { return x; } void run() { } };
V() no_result = { bit<8> f(in bit<8> x) { return; } };
V() of_int = { int f(in bit<8> x) { return 1; } };
V() uses_this = { bit<8> f(in bit<8> x) { this.run(); return x; } };
control c() {
    apply { this.run(); }
}
control d()() { apply { } }
parser p() {
    V() local = { bit<8> f(in bit<8> x) { return z; } };
    state start { transition accept; }
}
control k() {
    d() inst = { };
    apply { V().run(); }
}
