// Operators, widths, implicit and explicit casts, constants that fold.
#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_INGRESS
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }

const int big = 1 << 20;
const bit<16> mask = (bit<16>) (big >> 4) - 1;
type bit<9> port_t;
enum bit<8> kind_t { a = 1, b = 2 }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    apply {
        bit<16> w = mask;
        int<16> s = (int<16>) w;
        meta.x = w ++ 16w0 == 0 ? 32w1 : 32w2;
        meta.x = meta.x + 5 * 3 - (meta.x >> 2) |+| 0xffff_ffff;
        meta.x = -meta.x & ~32w0xff ^ (meta.x << meta.y);
        s = s >> 3;
        s = (int<16>) ((int<8>) meta.y);
        meta.y = meta.x[15:8] |-| 8w3;
        meta.x[7:0] = meta.y;
        meta.x[11:4] = meta.x[7:0];
        meta.ok = s < -3 && w != mask || !(meta.y >= 7);
        meta.ok = (bool) meta.x[0:0];
        kind_t k = (kind_t) meta.y;
        meta.y = k;
        if (k == kind_t.b) { meta.y = k + 1; }
        port_t p = (port_t) 9w5;
        std.egress_spec = (bit<9>) p;
        meta.x = (bit<32>) (w ++ (bit<16>) s);
        meta.x = meta.x % 7 / 2;
        meta.y = meta.x[meta.y +: 8];
        meta.x = (bit<32>) hdr.ip.minSizeInBytes() + (bit<32>) hdr.tags.size;
    }
}
#include "../frame/tail.p4"
