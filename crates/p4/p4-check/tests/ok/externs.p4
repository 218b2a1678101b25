// Every extern of v1model that has a form in the IR.
#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_INGRESS
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }

struct note_t { bit<32> a; bit<8> b; }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    counter(8, CounterType.packets) c;
    meter(8, MeterType.packets) m;
    register<bit<16>>(4) r;
    bit<16> v = 0;
    apply {
        c.count(meta.x);
        m.execute_meter(meta.x, meta.y);
        r.read(v, 1);
        r.write(2, v + 1);
        hash(v, HashAlgorithm.crc16, 16w0, { hdr.ip.src, hdr.ip.dst, 8w6 }, 16w1024);
        hash(meta.x, HashAlgorithm.crc32, 32w1, hdr.eth, 32w0);
        random(meta.y, 1, 6);
        digest<note_t>(1, { meta.x, meta.y });
        clone(CloneType.I2E, 100);
        clone_preserving_field_list(CloneType.I2E, 100, 1);
        resubmit_preserving_field_list(2);
        truncate(64);
        assert(meta.ok);
        assume(meta.x != 0);
        log_msg("hello");
        log_msg("x {} y {}", { meta.x, meta.y });
        mark_to_drop(std);
    }
}
#include "../frame/tail.p4"
