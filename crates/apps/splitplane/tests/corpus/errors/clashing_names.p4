// Nothing is wrong with this program but that the control plane sees two tables and two actions of the same name.
#include <core.p4>
#include <v1model.p4>
struct headers { }
struct meta_t { }
parser p(packet_in b, out headers hdr, inout meta_t meta, inout standard_metadata_t std) { state start { transition accept; } }
control inner(inout standard_metadata_t std) {
    @name(".t0") table t { key = { std.ingress_port: exact; } actions = { NoAction; } }
    apply { t.apply(); }
}
control ingress(inout headers hdr, inout meta_t meta, inout standard_metadata_t std) {
    inner() one;
    inner() two;
    @name(".same") action a() { std.egress_spec = 1; }
    @name(".same") action b() { std.egress_spec = 2; }
    table t { key = { std.ingress_port: exact; } actions = { a; b; } }
    apply { one.apply(std); two.apply(std); t.apply(); }
}
control egress(inout headers hdr, inout meta_t meta, inout standard_metadata_t std) { apply { } }
control sums(inout headers hdr, inout meta_t meta) { apply { } }
control deparser(packet_out b, in headers hdr) { apply { } }
V1Switch(p(), sums(), ingress(), egress(), sums(), deparser()) main;
