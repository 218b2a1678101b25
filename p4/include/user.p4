/* One view of the user's packet, whether it stands alone or in a tunnel, and the checks that any of it needs. */
#ifndef USER_P4
#define USER_P4

/* Is there a source route among IPv4 options that begin with these four bytes (RFC 791 §3.1)? Only no-operations and one
 * option are looked at; more are refused where they leave room for a source route with an address, which is seven bytes. */
control OptionsAreHarmless(in bit<32> first, in bit<4> ihl, inout Reason reason) {
    apply {
        bit<8> option = first[7:0];
        bit<8> seen = 4;
        if (first[31:24] != 1) {
            option = first[31:24];
            seen = first[23:16];
        } else if (first[23:16] != 1) {
            option = first[23:16];
            seen = 1 + first[15:8];
        } else if (first[15:8] != 1) {
            option = first[15:8];
            seen = 2 + first[7:0];
        }
        bit<8> all = ((bit<8>)ihl - 5) << 2;
        if (option == IPV4_OPTION_LSRR || option == IPV4_OPTION_SSRR) {
            reason = Reason.source_route;
        } else if (option != 0 && (seen < 2 || (seen < all && all - seen > 6))) {
            reason = Reason.header_chain;
        }
    }
}

control UserPacket(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {

    action drop(Reason reason) {
        meta.reason = reason;
        mark_to_drop(standard_metadata);
        exit;
    }

    OptionsAreHarmless() options;

    apply {
        if (standard_metadata.parser_error != error.NoError) {
            if (standard_metadata.parser_error == error.HeaderChain) {
                drop(Reason.header_chain);
            }
            drop(Reason.malformed);
        }
        if (standard_metadata.checksum_error == 1) {
            drop(Reason.ipv4_checksum);
        }

        Reason reason = Reason.none;
        if (hdr.ipv4_options.isValid()) {
            options.apply(meta.options, hdr.ipv4.ihl, reason);
        }
        if (hdr.inner_ipv4_options.isValid() && reason == Reason.none) {
            options.apply(meta.inner_options, hdr.inner_ipv4.ihl, reason);
        }
        if (meta.source_routed == 1) {
            reason = Reason.source_route;
        }
        if (reason != Reason.none) {
            drop(reason);
        }

        if (hdr.inner_ipv4.isValid()) {
            meta.user_is_inner = 1;
            meta.ip_version = 4;
            meta.src_v4 = hdr.inner_ipv4.src;
            meta.dst_v4 = hdr.inner_ipv4.dst;
            meta.protocol = hdr.inner_ipv4.protocol;
            meta.tos = hdr.inner_ipv4.tos;
            meta.pdu_length = (bit<32>)hdr.inner_ipv4.total_length;
            meta.header_length = (bit<32>)hdr.inner_ipv4.ihl << 2;
        } else if (hdr.inner_ipv6.isValid()) {
            meta.user_is_inner = 1;
            meta.ip_version = 6;
            meta.src_v6 = hdr.inner_ipv6.src;
            meta.dst_v6 = hdr.inner_ipv6.dst;
            meta.protocol = hdr.inner_ipv6.next_header;
            meta.tos = hdr.inner_ipv6.traffic_class;
            meta.pdu_length = (bit<32>)hdr.inner_ipv6.payload_length + 40;
            meta.header_length = 40;
        } else if (hdr.gtpu.isValid()) {
            meta.user_is_inner = 1;
        } else if (hdr.ipv4.isValid()) {
            meta.ip_version = 4;
            meta.src_v4 = hdr.ipv4.src;
            meta.dst_v4 = hdr.ipv4.dst;
            meta.protocol = hdr.ipv4.protocol;
            meta.tos = hdr.ipv4.tos;
            meta.pdu_length = (bit<32>)hdr.ipv4.total_length;
            meta.header_length = (bit<32>)hdr.ipv4.ihl << 2;
        } else if (hdr.ipv6.isValid()) {
            meta.ip_version = 6;
            meta.src_v6 = hdr.ipv6.src;
            meta.dst_v6 = hdr.ipv6.dst;
            meta.protocol = hdr.ipv6.next_header;
            meta.tos = hdr.ipv6.traffic_class;
            meta.pdu_length = (bit<32>)hdr.ipv6.payload_length + 40;
            meta.header_length = 40;
        }

        // What filters see behind extension headers. A later fragment has the protocol that its header names, and no ports.
        if (hdr.extension_1.isValid()) {
            meta.protocol = meta.next_header;
            meta.header_length = meta.header_length + meta.extension_bytes;
        }

        if (hdr.inner_ports.isValid()) {
            meta.src_port = hdr.inner_ports.src;
            meta.dst_port = hdr.inner_ports.dst;
            meta.header_length = meta.header_length + 4;
        } else if (meta.user_is_inner == 0 && hdr.ports.isValid()) {
            meta.src_port = hdr.ports.src;
            meta.dst_port = hdr.ports.dst;
            meta.header_length = meta.header_length + 4;
        }

        // An IP length beyond what carries it is a lie that would be charged and re-sent. One below its own headers, ports
        // included, would be charged as nothing, or have filters look at bytes that are not the packet's. Less than what carries it is padding: trim.p4 cuts it off.
        if (meta.ip_version != 0) {
            bit<32> end = meta.pdu_length + (bit<32>)meta.user_offset;
            if (end > standard_metadata.packet_length || meta.pdu_length < meta.header_length) {
                drop(Reason.length_mismatch);
            }
            if (hdr.gtpu.isValid()) {
                // GTP-U's length is counted from behind its eight bytes, UDP's from its header. Each ends within the next:
                // the user's packet, GTP-U, UDP, the tunnel's IPv4, the frame.
                bit<32> tunnel = hdr.underlay_ethernet.isValid() ? 32w64 : 32w14;
                bit<32> udp = tunnel + ((bit<32>)hdr.ipv4.ihl << 2);
                bit<32> gtpu_end = udp + 16 + (bit<32>)hdr.gtpu.length;
                bit<32> udp_end = udp + (bit<32>)hdr.udp_rest.length;
                bit<32> tunnel_end = tunnel + (bit<32>)hdr.ipv4.total_length;
                if (end > gtpu_end || gtpu_end > udp_end || udp_end > tunnel_end
                    || tunnel_end > standard_metadata.packet_length) {
                    drop(Reason.length_mismatch);
                }
            }
        }
    }
}

#endif
