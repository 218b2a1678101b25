/* Leaving and entering tunnels (TS 29.281 §5, TS 29.244 §8.2.56 and §8.2.64), and the router's duty to the TTL. */
#ifndef TUNNEL_P4
#define TUNNEL_P4

control Tunnel(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {

    /* TTL and the checksum, by RFC 1624 equation 3: HC' = ~(~HC + ~m + m') with m' = m - 0x0100, which is HC + 0x0100
     * with the carry taken round, and 0 for 0xFFFF. */
    action decrement_ipv4(inout bit<8> ttl, inout bit<16> checksum) {
        ttl = ttl - 1;
        bit<17> sum = (bit<17>)checksum + 0x0100;
        checksum = sum >= 0xFFFF ? sum[15:0] + 1 : sum[15:0];
    }

    /* Between the tunnel and the user's packet go UDP (8), GTP-U (8) and, with a container, optional fields (4) and
     * the container (4). The UDP checksum is zero, as IPv4 allows and TS 29.281 §4.4.1 leaves open. */
    action put_in_tunnel(bit<16> gtpu_payload) {
        hdr.tunnel_ipv4.setValid();
        hdr.tunnel_ipv4.version = 4;
        hdr.tunnel_ipv4.ihl = 5;
        hdr.tunnel_ipv4.tos = meta.tunnel_tos;
        hdr.tunnel_ipv4.total_length = (bit<16>)meta.out_length;
        hdr.tunnel_ipv4.identification = 0;
        hdr.tunnel_ipv4.reserved = 0;
        hdr.tunnel_ipv4.dont_fragment = 1;
        hdr.tunnel_ipv4.more_fragments = 0;
        hdr.tunnel_ipv4.fragment_offset = 0;
        hdr.tunnel_ipv4.ttl = 64;
        hdr.tunnel_ipv4.protocol = PROTO_UDP;
        hdr.tunnel_ipv4.checksum = 0;
        hdr.tunnel_ipv4.src = meta.tunnel_src;
        hdr.tunnel_ipv4.dst = meta.tunnel_dst;
        hdr.tunnel_udp.setValid();
        hdr.tunnel_udp.src = PORT_GTPU;
        hdr.tunnel_udp.dst = PORT_GTPU;
        hdr.tunnel_udp.length = gtpu_payload + 16;
        hdr.tunnel_udp.checksum = 0;
        hdr.tunnel_gtpu.setValid();
        hdr.tunnel_gtpu.version = 1;
        hdr.tunnel_gtpu.protocol_type = 1;
        hdr.tunnel_gtpu.spare = 0;
        hdr.tunnel_gtpu.has_extension = 0;
        hdr.tunnel_gtpu.has_sequence = 0;
        hdr.tunnel_gtpu.has_npdu = 0;
        hdr.tunnel_gtpu.message_type = GTPU_GPDU;
        hdr.tunnel_gtpu.length = gtpu_payload;
        hdr.tunnel_gtpu.teid = meta.tunnel_teid;
    }

    action add_session_container(bit<4> pdu_type) {
        hdr.tunnel_gtpu.has_extension = 1;
        hdr.tunnel_optional.setValid();
        hdr.tunnel_optional.sequence = 0;
        hdr.tunnel_optional.npdu = 0;
        hdr.tunnel_optional.next_extension = GTPU_EXT_PSC;
        hdr.tunnel_psc.setValid();
        hdr.tunnel_psc.length = 1;
        hdr.tunnel_psc.pdu_type = pdu_type;
        hdr.tunnel_psc.spare = 0;
        hdr.tunnel_psc.qos = meta.psc_qos;
        hdr.tunnel_psc.next_extension = GTPU_EXT_NONE;
    }

    action leave_tunnel() {
        hdr.ipv4.setInvalid();
        hdr.ipv4_options.setInvalid();
        hdr.ports.setInvalid();
        hdr.udp_rest.setInvalid();
        hdr.gtpu.setInvalid();
    }

    Relay() relay;

    apply {
        // Between two tunnels, and to the CP function, packets are relayed, not routed: router solicitations and
        // advertisements must keep their hop limit of 255 (RFC 4861 §6.1). That of the others is above 1: route.p4.
        if ((meta.flags & PDR_DECREMENT_TTL) != 0) {
            if (hdr.inner_ipv4.isValid()) {
                decrement_ipv4(hdr.inner_ipv4.ttl, hdr.inner_ipv4.checksum);
            } else if (hdr.inner_ipv6.isValid()) {
                hdr.inner_ipv6.hop_limit = hdr.inner_ipv6.hop_limit - 1;
            } else if (hdr.ipv4.isValid()) {
                decrement_ipv4(hdr.ipv4.ttl, hdr.ipv4.checksum);
            } else {
                hdr.ipv6.hop_limit = hdr.ipv6.hop_limit - 1;
            }
        }

        if (meta.encapsulation == Encapsulation.none) {
            hdr.ethernet.ethertype = meta.ip_version == 4 ? ETHERTYPE_IPV4 : ETHERTYPE_IPV6;
            if (hdr.gtpu.isValid()) {
                leave_tunnel();
                hdr.gtpu_optional.setInvalid();
                hdr.gtpu_psc.setInvalid();
                hdr.gtpu_numbers.setInvalid();
                hdr.gtpu_extension_1.setInvalid();
                hdr.gtpu_extension_2.setInvalid();
                hdr.gtpu_extension_3.setInvalid();
                hdr.gtpu_extension_4.setInvalid();
                hdr.gtpu_end.setInvalid();
            }
        } else {
            hdr.ethernet.ethertype = ETHERTYPE_IPV4;
            put_in_tunnel((bit<16>)(meta.out_length - GTPU_OVERHEAD));
            if (hdr.gtpu_psc.isValid() || hdr.gtpu_numbers.isValid()) {
                relay.apply(hdr, meta);
            } else if (meta.encapsulation != Encapsulation.gtpu) {
                add_session_container(meta.encapsulation == Encapsulation.psc_uplink ? 4w1 : 4w0);
            }
            if (hdr.gtpu.isValid()) {
                leave_tunnel();
            }
        }
    }
}

#endif
