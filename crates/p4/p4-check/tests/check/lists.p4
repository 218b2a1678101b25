// Initialisers of structs, headers, stacks and tuples.
header h_t { bit<8> a; bit<16> b; }
struct s_t { bit<8> a; bit<16> b; }
header_union u_t { h_t x; h_t y; }
control c(inout h_t h, inout s_t s, inout h_t[2] st, inout u_t u) {
    apply {
        s = { 1, 2 };
        s = { 1 };
        s = { 1, 2, 3 };
        s = { a = 1, c = 2 };
        s = { a = 1 };
        s = { a = 1, ... };
        s = { ..., 1 };
        s = { b = 1, a = 2, b = 3 };
        h = { true, 2 };
        h = {#};
        s = {#};
        st = { { 1, 2 } };
        st = { h, s };
        st = { h, ... };
        u = { { 1, 2 }, { 3, 4 } };
        u.x = { 1, 2 };
        tuple<bit<8>, bool> t = { 1, 2 };
        t = { 1, true };
        tuple<bit<8>, bool> good = { 1, true };
        bit<8> e = good[2];
        bit<8> f = 1;
        f = good[f];
        h = good;
        good = { 1, 2 };
        s = h;
        match_kind k;
        tuple<void> v;
        list<bit<8>> l;
    }
}
