// Types shared by golden programs.

#ifndef TYPES_P4
#define TYPES_P4

/* The column of the name below is pinned by a test. */
typedef bit<32> ipv4_addr_t;
type bit<9> port_t;

#endif
