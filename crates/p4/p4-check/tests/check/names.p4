// Names: not declared, declared twice, meant otherwise.
#include <core.p4>
struct headers_t { bit<8> value; }
const bit<8> width = 8;
const bit<8> width = 9;
error { Mine, Mine, NoError }
match_kind { mine, exact }
const headrs_t x = { 1 };
control c(inout headers_t h, inout headers_t h) {
    bit<8> v = h.valu;
    action a() { v = widht; }
    apply {
        a();
        b();
        v = error.Min;
        v = .width;
        v = .nothing;
        h = headers_t;
        width = 1;
        c.apply(h, h);
        a.apply();
        headers_t.value = 1;
    }
}
control later() { apply { after.apply(); } }
control after() { apply { } }
