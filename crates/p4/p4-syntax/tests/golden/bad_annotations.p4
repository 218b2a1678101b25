@ ; const bit a = 1;
@y[1, k = 2] const bit c = 1;
@z[k = 1, 2] const bit d = 1;
@w const bit e = 1
@loose x = 1;
@pragma p (
const bit f = 1;
@pragma q )
const bit g = 1;
control c() { apply { @x a = 1; @y f(); } }
@x(a (b) const bit b = 1;
