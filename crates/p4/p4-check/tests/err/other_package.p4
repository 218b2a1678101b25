#include <core.p4>
control c_t();
package Other(c_t c);
control C() { apply { } }
Other(C()) main;
