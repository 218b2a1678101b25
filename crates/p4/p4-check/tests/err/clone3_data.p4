// What old forms keep are fields of the metadata. Nothing else is dropped in silence.
#include "../frame/head.p4"
#define OWN_TYPES
#define OWN_INGRESS
struct headers_t { eth_t eth; ip_t ip; tag_t[3] tags; }
struct meta_t { bit<32> x; bit<8> y; bool ok; }
control I(inout headers_t hdr, inout meta_t meta, inout standard_metadata_t std) {
    bit<32> mine = 1;
    apply {
        clone3(CloneType.I2E, 5, { meta.x, hdr.eth });
        clone3(CloneType.I2E, 5, { meta.x + 1 });
        resubmit({ mine });
        recirculate(meta);
    }
}
#include "../frame/tail.p4"
