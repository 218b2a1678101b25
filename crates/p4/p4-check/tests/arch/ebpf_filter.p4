// A packet filter for the kernel.
#include <core.p4>
#include <ebpf_model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> kind; }
struct headers_t { ethernet_t eth; }

parser Prs(packet_in p, out headers_t headers) {
    state start { p.extract(headers.eth); transition accept; }
}
control Pipe(inout headers_t headers, out bool accept) {
    CounterArray(32w10, true) count;
    action match(bool ok) { accept = ok; }
    table check {
        key = { headers.eth.kind: exact; }
        actions = { match; NoAction; }
        implementation = hash_table(64);
        const default_action = NoAction;
    }
    apply {
        accept = true;
        check.apply();
        count.increment((bit<32>) headers.eth.kind);
    }
}
ebpfFilter(Prs(), Pipe()) main;
