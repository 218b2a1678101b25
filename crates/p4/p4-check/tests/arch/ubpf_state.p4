// A stateful program in a user-space BPF machine.
#include <core.p4>
#include <ubpf_model.p4>

header ip_t { bit<32> src; bit<32> dst; }
struct headers_t { ip_t ip; }
struct meta_t { bit<32> h; }

parser Prs(packet_in p, out headers_t h, inout meta_t m, inout standard_metadata std) { state start { p.extract(h.ip); transition accept; } }
control Pipe(inout headers_t h, inout meta_t m, inout standard_metadata std) {
    Register<bit<48>, bit<32>>(1024) last;
    apply {
        hash(m.h, HashAlgorithm.lookup3, { h.ip.src, h.ip.dst });
        if (ubpf_time_get_ns() - last.read(m.h) < 1000) { mark_to_drop(); } else { mark_to_pass(); }
        last.write(m.h, ubpf_time_get_ns());
        std.output_action = ubpf_action.REDIRECT;
    }
}
control Dep(packet_out b, in headers_t h) { apply { b.emit(h.ip); } }
ubpf(Prs(), Pipe(), Dep()) main;
