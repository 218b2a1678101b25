#include <core.p4>
control c(out bit<8> x) { apply { x = y; } }
