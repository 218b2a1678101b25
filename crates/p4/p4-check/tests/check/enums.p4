// Enums with and without values.
typedef bit<8> byte_t;
type bit<8> new_t;
enum byte_t ok { a = 1, b = a + 1, c = (bit<8>) b }
enum new_t over_new { a = 1 }
enum bool over_bool { a = true }
enum bit<8> missing { a, b = 2 }
enum plain { a, b }
enum bit<8> twice { a = 1, a = 2 }
enum bit<8> unknown { a = z }
control c(inout ok v, inout bit<8> w) {
    apply {
        v = ok.a;
        v = 1;
        v = w;
        w = v;
        v = (ok) w;
        v = ok.d;
        w = plain.a;
        plain p = 0;
        p = plain.b + 1;
        if (v == 1 || v == ok.b) { w = ok.c; }
        switch (v) { ok.a: { } 2: { } ok.a: { } }
    }
}
