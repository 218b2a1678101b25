/* L3 and the way out: longest prefix in the FAR's network instance, next hop, and VXLAN where the next hop is behind
 * one (Singh et al., Table 3). The user's packet is still as it came in, so one whose next hop must first be resolved
 * is punted whole and comes back through the pipeline. */
#ifndef ROUTE_P4
#define ROUTE_P4

control Route(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {

    action drop(Reason reason) {
        meta.reason = reason;
        mark_to_drop(standard_metadata);
        exit;
    }

    action set_nexthop(bit<16> nexthop) {
        meta.nexthop = nexthop;
    }

    table route_ipv4 {
        key = {
            meta.out_vrf: exact @name("vrf");
            meta.dst_v4: lpm @name("destination");
        }
        actions = { set_nexthop; drop; }
        default_action = drop(Reason.no_route);
        size = 1048576;
    }

    table route_ipv6 {
        key = {
            meta.out_vrf: exact @name("vrf");
            meta.dst_v6: lpm @name("destination");
        }
        actions = { set_nexthop; drop; }
        default_action = drop(Reason.no_route);
        size = 262144;
    }

    /* mtu: longest IP packet on the port, in bytes. */
    action send(bit<9> port, mac_t src_mac, mac_t dst_mac, bit<16> mtu) {
        meta.mtu = mtu;
        hdr.underlay_ethernet.setInvalid();
        hdr.underlay_ipv4.setInvalid();
        hdr.underlay_udp.setInvalid();
        hdr.vxlan.setInvalid();
        standard_metadata.egress_spec = port;
        hdr.ethernet.src = src_mac;
        hdr.ethernet.dst = dst_mac;
    }

    /* VXLAN encapsulation: the frame goes behind Ethernet, IPv4, UDP and VXLAN (14 + 20 + 8 + 8 bytes). The source
     * port carries entropy for the underlay (RFC 7348 §5). */
    action send_vxlan(bit<9> port, mac_t src_mac, mac_t dst_mac, bit<24> vni, ipv4_t vtep_src, ipv4_t vtep_dst,
                      mac_t underlay_src_mac, mac_t underlay_dst_mac, bit<16> mtu) {
        send(port, src_mac, dst_mac, mtu);
        bit<16> frame = 14 + (bit<16>)meta.out_length;
        hdr.underlay_ethernet.setValid();
        hdr.underlay_ethernet.dst = underlay_dst_mac;
        hdr.underlay_ethernet.src = underlay_src_mac;
        hdr.underlay_ethernet.ethertype = ETHERTYPE_IPV4;
        hdr.underlay_ipv4.setValid();
        hdr.underlay_ipv4.version = 4;
        hdr.underlay_ipv4.ihl = 5;
        hdr.underlay_ipv4.tos = 0;
        hdr.underlay_ipv4.identification = 0;
        hdr.underlay_ipv4.reserved = 0;
        hdr.underlay_ipv4.more_fragments = 0;
        hdr.underlay_ipv4.fragment_offset = 0;
        hdr.underlay_ipv4.checksum = 0;
        hdr.underlay_ipv4.total_length = frame + 36;
        hdr.underlay_ipv4.dont_fragment = 1;
        hdr.underlay_ipv4.ttl = 64;
        hdr.underlay_ipv4.protocol = PROTO_UDP;
        hdr.underlay_ipv4.src = vtep_src;
        hdr.underlay_ipv4.dst = vtep_dst;
        hdr.underlay_udp.setValid();
        hdr.underlay_udp.src = 0xC000 | (meta.dst_v4[15:0] ^ meta.src_port);
        hdr.underlay_udp.dst = PORT_VXLAN;
        hdr.underlay_udp.length = frame + 16;
        hdr.underlay_udp.checksum = 0;
        hdr.vxlan.setValid();
        hdr.vxlan.flags = 0x08;
        hdr.vxlan.vni = vni;
        hdr.vxlan.reserved = 0;
        hdr.vxlan.reserved2 = 0;
    }

    action unresolved(bit<32> nexthop) {
        meta.mark = nexthop;
        meta.reason = Reason.neighbour_unknown;
        standard_metadata.egress_spec = PUNT_PORT;
        exit;
    }

    /* The control plane tells the sender (RFC 1812 §4.3.3 and §5.3.1, RFC 4443 §3), in the network instance of the mark's upper half; the lower is what
     * would fit, in bytes. The packet is as it came in, but for the link's addresses. */
    action tell(Reason reason, bit<16> fits) {
        hdr.underlay_ethernet.setInvalid();
        hdr.underlay_ipv4.setInvalid();
        hdr.underlay_udp.setInvalid();
        hdr.vxlan.setInvalid();
        meta.mark = meta.out_vrf ++ fits;
        meta.reason = reason;
        standard_metadata.egress_spec = PUNT_PORT;
        exit;
    }

    table nexthop {
        key = { meta.nexthop: exact; }
        actions = { send; send_vxlan; unresolved; drop; }
        default_action = drop(Reason.no_route);
        size = 4096;
    }

    RelayedLength() relayed;

    apply {
        meta.out_length = meta.pdu_length;
        if (meta.encapsulation == Encapsulation.gtpu) {
            meta.out_length = meta.pdu_length + GTPU_OVERHEAD;
        } else if (meta.encapsulation != Encapsulation.none) {
            meta.out_length = meta.pdu_length + GTPU_OVERHEAD + PSC_OVERHEAD;
        }
        if (meta.encapsulation != Encapsulation.none) {
            meta.dst_v4 = meta.tunnel_dst;
            route_ipv4.apply();
            if (hdr.gtpu_psc.isValid() || hdr.gtpu_numbers.isValid()) {
                relayed.apply(hdr, meta);
            }
        } else if (meta.ip_version == 4) {
            route_ipv4.apply();
        } else {
            route_ipv6.apply();
        }
        nexthop.apply();
        // Here, so that it is neither policed nor charged; and behind the look-up, as what is for us may have any TTL.
        if ((meta.flags & PDR_DECREMENT_TTL) != 0) {
            bit<8> ttl;
            if (hdr.inner_ipv4.isValid()) {
                ttl = hdr.inner_ipv4.ttl;
            } else if (hdr.inner_ipv6.isValid()) {
                ttl = hdr.inner_ipv6.hop_limit;
            } else if (hdr.ipv4.isValid()) {
                ttl = hdr.ipv4.ttl;
            } else {
                ttl = hdr.ipv6.hop_limit;
            }
            if (ttl <= 1) {
                tell(Reason.ttl_expired, 0);
            }
            if (meta.out_length > (bit<32>)meta.mtu) {
                tell(Reason.too_big, meta.mtu - (bit<16>)(meta.out_length - meta.pdu_length));
            }
        } else if (meta.out_length > (bit<32>)meta.mtu) {
            // Between two tunnels: the sender is in nobody's network here.
            drop(Reason.too_big);
        }
    }
}

#endif
