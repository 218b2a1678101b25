/* What the shared blocks know of v1model, for a top of the Tofino Native Architecture: the fields of standard_metadata that
 * they use, and mark_to_drop. The tops turn them into TNA's own metadata. */
#ifndef SPLITPLANE_TNA_STANDARD_P4
#define SPLITPLANE_TNA_STANDARD_P4

const bit<9> DROP_PORT = 511;

struct standard_metadata_t {
    bit<9> ingress_port;
    bit<9> egress_spec;
}

void mark_to_drop(inout standard_metadata_t standard_metadata) {
    standard_metadata.egress_spec = DROP_PORT;
}

#endif
