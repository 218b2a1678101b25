// Functions: results, directions, what they may call.
#include <core.p4>
action act() { }
extern bit<8> ext(in bit<8> x, @optional in bit<8> y);
bit<8> none(in bit<8> x) { if (x == 1) { return 2; } }
bit<8> all(in bit<8> x) { if (x == 1) { return 2; } else if (x == 2) { return 3; } else { return 4; } }
void nothing() { return 1; }
bit<8> something() { return; }
bit<8> bad_call() { act(); return 1; }
bit<8> leaves() { exit; }
bit<8> out_default(out bit<8> x = 5) { return 1; }
bit<8> twice(in bit<8> x, in bit<8> x) { return x; }
int any() { return 1; }
bit<8> self(in bit<8> x) { return self(x); }
control c(inout bit<8> v) {
    apply {
        v = all(v) + all(300);
        v = ext(v) + ext(v, v) + ext();
        nothing();
        v = nothing();
        all(v) = 1;
        none(5);
        out_default(v);
        out_default(5);
        v();
        missing(v);
        v.f();
        break;
        bit<8> w = w;
    }
}
