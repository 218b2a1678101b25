/* The packet ends where the user's packet ends. What came behind that is Ethernet's padding, or somebody's way past rates and
 * charging: it is nobody's, and does not go on. */
#ifndef TRIM_P4
#define TRIM_P4

control Trim(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        truncate(meta.out_length + (hdr.underlay_ethernet.isValid() ? 32w64 : 32w14));
    }
}

#endif
