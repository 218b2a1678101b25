/* IPv4 header checksums (RFC 791, RFC 1071). The user's transport checksum is end to end and stays untouched. */
#ifndef CHECKSUM_P4
#define CHECKSUM_P4

/* A packet with a wrong checksum is discarded by the router that finds it (RFC 1812 §5.2.2): that is us for the
 * tunnel's header and for the user's. */
control UpfVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.underlay_ipv4.isValid() && hdr.underlay_ipv4.ihl == 5, IPV4_FIELDS(hdr.underlay_ipv4),
                        hdr.underlay_ipv4.checksum, HashAlgorithm.csum16);
        verify_checksum(hdr.ipv4.isValid() && !hdr.ipv4_options.isValid(), IPV4_FIELDS(hdr.ipv4),
                        hdr.ipv4.checksum, HashAlgorithm.csum16);
        verify_checksum(hdr.ipv4_options.isValid(), IPV4_FIELDS_AND_OPTIONS(hdr.ipv4, hdr.ipv4_options),
                        hdr.ipv4.checksum, HashAlgorithm.csum16);
        verify_checksum(hdr.inner_ipv4.isValid() && !hdr.inner_ipv4_options.isValid(), IPV4_FIELDS(hdr.inner_ipv4),
                        hdr.inner_ipv4.checksum, HashAlgorithm.csum16);
        verify_checksum(hdr.inner_ipv4_options.isValid(),
                        IPV4_FIELDS_AND_OPTIONS(hdr.inner_ipv4, hdr.inner_ipv4_options),
                        hdr.inner_ipv4.checksum, HashAlgorithm.csum16);
    }
}

/* Headers whose fields we set are summed anew. A decremented TTL is worked into the old sum where it happens
 * (RFC 1624), so that user headers are not read again here. */
control UpfComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.tunnel_ipv4.isValid(), IPV4_FIELDS(hdr.tunnel_ipv4),
                        hdr.tunnel_ipv4.checksum, HashAlgorithm.csum16);
        update_checksum(hdr.underlay_ipv4.isValid(), IPV4_FIELDS(hdr.underlay_ipv4),
                        hdr.underlay_ipv4.checksum, HashAlgorithm.csum16);
    }
}

#endif
