// Packages, overloaded ones, and what main is.
#include <core.p4>
control C<H>(inout H h);
control mine(inout bit<8> h) { apply { } }
control other(inout bit<16> h) { apply { } }
parser prs() { state start { transition accept; } }
package Pair<H>(C<H> a, C<H> b);
package Pair<H>(C<H> only);
package Inner<H>(C<H> c);
package Outer<H>(Inner<H> i);
package WithDefault<H>(C<H> c = mine());
Pair(mine(), mine()) both;
Pair(mine()) one;
Pair(mine(), other()) unlike;
Pair(mine(), mine(), mine()) three;
Inner(mine()) inner;
Outer<bit<16>>(inner) wrong;
Outer(inner) right;
WithDefault() fine;
Inner(prs()) parser_in_place_of_control;
struct s_t { Inner<bit<8>> p; }
typedef tuple<Inner<bit<8>>> t_t;
extern E { E(); }
E() main;
