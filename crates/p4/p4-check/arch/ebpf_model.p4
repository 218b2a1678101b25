// ebpf_model.p4: a packet filter in the kernel: a parser, and a control that says accept or drop.
// Part of Splitplane; served for #include <ebpf_model.p4>. Programs for it are parsed and checked; nothing here runs them.

#ifndef _EBPF_MODEL_P4_
#define _EBPF_MODEL_P4_

#include <core.p4>

// Counters by index; `sparse` ones live in a hash map.
extern CounterArray {
    CounterArray(bit<32> max_index, bool sparse);
    void increment(in bit<32> index);
    void add(in bit<32> index, in bit<32> value);
}

// What a table's `implementation` may be: an eBPF array, or a hash map.
extern array_table {
    array_table(bit<32> size);
}
extern hash_table {
    hash_table(bit<32> size);
}

parser parse<H>(packet_in packet, out H headers);
control filter<H>(inout H headers, out bool accept);

package ebpfFilter<H>(parse<H> prs, filter<H> filt);

#endif
