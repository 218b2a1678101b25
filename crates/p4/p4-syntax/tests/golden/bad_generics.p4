extern G<T> { void m<U>(in U u); }
const G<bit<8> a = 1;
const G<bit<8>, > b = 1;
const G<1> c = 1;
const tuple<bit<8> d = 1;
const list<bit, bit> e = 1;
const varbit f = 1;
control c() { apply { G<bit<8>>.m(; g<bit<8>>(1; } }
