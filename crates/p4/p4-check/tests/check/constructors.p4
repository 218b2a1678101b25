// Constructors have no result and no directions; instances come where they may.
#include <core.p4>
extern X { void X(); }
extern Y { Y(in bit<8> n); }
control type_c();
control with_body() { apply { } }
parser some_parser() { state start { transition accept; } }
extern W { W(type_c c); }
package P(in bit<8> n);
control a(inout bit<8> x)(out bit<8> n) { apply { } }
control b(with_body w) { apply { } }
control c()(with_body w) { apply { } }
control d(type_c t) { apply { } }
control f() { some_parser() p; apply { } }
parser g() { with_body() w; state start { transition accept; } }
control o(in bit<8> x)(@optional bit<8> n) { apply { } }
bit<8> h(@optional in bit<8> x) { return x; }
control m() { action act(int x) { } action ext(Y y) { } action str(string s) { } apply { } }
extern void with_string(in string s);
extern void with_tuple(in tuple<string, bit<8>> s);
void takes<T>(in T t) { }
control n() { type_c2() t; apply { takes(t); } }
