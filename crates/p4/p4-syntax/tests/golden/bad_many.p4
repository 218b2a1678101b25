const bit<8> = 1;
header h { bit<8 a; }
struct s { int; }
control c() {
    action a( { }
    table t { key = { x exact; } actions = { a, b } size 4; }
    apply {
        if (x = 1) { }
        y == 2;
        foo(1, ;
        while (1) { z = 1; }
        a[1;
        return 1 +;
        x.y;
        bit _;
        else { }
        transition accept;
    }
}
enum E { A = 1, B }
enum bit<8> F { }
}
extern X { m(); X(bit<8> n); Y<T>(in T x); }
package P(;
typedef x;
