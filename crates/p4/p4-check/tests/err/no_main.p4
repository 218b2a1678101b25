#include <v1model.p4>
struct headers_t { }
