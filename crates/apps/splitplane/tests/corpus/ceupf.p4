/* The shipped program, for the packet tests beside this file. */
#include <v1model.p4>
#include "../../../../../p4/ceupf.p4"
