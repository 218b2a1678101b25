control Pipe<H, M>(inout H hdr, inout M meta);
extern Counter<I> { Counter(bit<32> size); @mayfail abstract void on(in I i); void count(in I index); I last(); }
extern Register<T, I> { Register(bit<32> size, @optional T init); T read(in I index); void write(in I index, in T value); }
extern Checksum;
package Switch<H, M>(Pipe<H, M> ingress, @optional Pipe<H, M> egress = none);

action drop_all(inout bit<8> x, bit<9> port) { x = 0; }

bit<8> max<T>(in bit<8> a, in bit<8> b) {
    if (a > b) return a;
    else { return b; }
}

@name("ingress") @pragma stage 3 4
control ingress(inout headers_t hdr, inout meta_t meta)(bit<32> size, bool flag = true) {
    const bit<8> LOCAL = 3;
    bit<8> tmp;
    @hidden bit<8>[2] arr;
    Counter<bit<8>>(size) hits;
    Register<bit<8>, bit<8>>(init = 1, size = 4) reg;
    Counter<bit<8>>(1) own = {
        void on(in bit<8> i) { tmp = i; }
        Register<bit<8>, bit<8>>(1) inner;
    };
    action a() { tmp = 1; return; }
    action b(in bit<8> x, bit<8> y) { hits.count(x); exit; }
    @name("t") table t {
        key = {
            hdr.eth.dst: exact @name("dst") @foo;
            hdr.ip.isValid(): ternary;
            (hdr.ip.dst & 0xff) + 1 : lpm;
            meta.x ? 1w1 : 1w0 : exact;
        }
        actions = { a; @defaultonly .NoAction(); b(tmp); }
        const entries = {
            (1, true, 5 &&& 7, _) : a();
            (1 .. 3, default, 8w1, 1) : b(tmp, 4) @name("e") ;
            _ : a;
        }
        const default_action = b(tmp, 1);
        size = 1 << 10;
        @custom psa_impl = Counter<bit<8>>(4);
        largest_priority_wins = false;
    }
    table u {
        key = { tmp: exact; }
        actions = { a; }
        entries = {
            const priority = 10 : 1 : a();
            priority = (LOCAL + 1) : (2) : a();
            3 &&& 1 : a();
            (4 + 1) &&& 3 : a();
            (bit<8>) 5 : a();
            (6 .. 7) : a();
        }
        default_action = a;
    }
    table nothing { actions = {} }
    apply @atomic {
        t.apply();
        if (t.apply().hit) { u.apply(); } else if (tmp == 1) tmp = 2; else ;
        switch (t.apply().action_run) {
            a: { tmp = 1; }
            b:
            NoAction: @x { tmp = 2; }
            default: {}
        }
        switch (tmp) { 8w1: {} LOCAL: {} (bit<8>) 4 + 1: {} }
        Inner.apply(hdr, meta = meta);
        Outer<bit<8>>.apply(hdr);
        .drop_all(tmp, 1);
    }
}

Switch(ingress(32, flag = false), egress = other()) main;
