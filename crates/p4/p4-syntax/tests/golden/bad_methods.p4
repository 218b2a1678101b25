extern E {
    E(bit<8> size)
    void f(in bit<8>);
    g(in bit<8> x);
    abstract E(bit<8> x);
    bit<8> h(in out bit<8> x);
    void k(bit<8> x = );
}
extern void l(in bit<8> x) { }
extern;
bit<8> m(in bit<8> x);
