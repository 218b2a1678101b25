// A program at the driver: decrements a TTL.
#include <xdp_model.p4>

header ip_t { bit<8> ttl; bit<8> proto; bit<16> sum; }
struct headers_t { ip_t ip; }

parser Prs(packet_in p, out headers_t h) { state start { p.extract(h.ip); transition accept; } }
control Sw(inout headers_t h, in xdp_input i, out xdp_output o) {
    apply {
        o = { xdp_action.XDP_PASS, i.input_port };
        if (h.ip.ttl == 0) { o.output_action = xdp_action.XDP_DROP; }
        h.ip.sum = csum_replace2(h.ip.sum, h.ip.ttl ++ h.ip.proto, (h.ip.ttl - 1) ++ h.ip.proto);
        h.ip.ttl = h.ip.ttl - 1;
    }
}
control Dep(in headers_t h, packet_out p) { apply { p.emit(h.ip); } }
xdp(Prs(), Sw(), Dep()) main;
