/* One view of the user's packet, whether it stands alone or in a tunnel, and the checks that any of it needs. */
#ifndef USER_P4
#define USER_P4

control UserPacket(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {

    action drop(Reason reason) {
        meta.reason = reason;
        mark_to_drop(standard_metadata);
        exit;
    }

    apply {
        if (standard_metadata.parser_error != error.NoError) {
            drop(Reason.malformed);
        }
        if (standard_metadata.checksum_error == 1) {
            drop(Reason.ipv4_checksum);
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
        }

        if (meta.user_is_inner == 1) {
            if (hdr.inner_ports.isValid()) {
                meta.src_port = hdr.inner_ports.src;
                meta.dst_port = hdr.inner_ports.dst;
            }
        } else if (hdr.ports.isValid()) {
            meta.src_port = hdr.ports.src;
            meta.dst_port = hdr.ports.dst;
        }

        // An IP length beyond what carries it is a lie that would be charged and re-sent, and one below its own header
        // would be charged as nothing. Less than what carries it is padding: trim.p4 cuts it off.
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
