// The smallest program: everything is forwarded to port 0.
#include "../frame/head.p4"
#include "../frame/tail.p4"
