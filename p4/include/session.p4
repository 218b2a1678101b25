/* Which PDR does the packet match (TS 29.244 §5.2.1), and what do its FAR and QERs say.
 *
 * A look-up key of a session (tunnel endpoint or UE address) leads to a *PDR group*: the PDRs with that key in order
 * of precedence. A group of one PDR without filters is answered at once: the entry carries the whole rule. Otherwise
 * the entry names a filter set, whose filters give a class, and (group, class) is the key of the rule. Equal filter
 * sets are one set, whoever uses them, so a million sessions with the same three filters cost three filters.
 */
#ifndef SESSION_P4
#define SESSION_P4

#ifndef SESSIONS
#define SESSIONS 1048576
#endif

control Session(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {

    action drop(Reason reason) {
        meta.reason = reason;
        mark_to_drop(standard_metadata);
        exit;
    }

    action punt(Reason reason) {
        meta.reason = reason;
        standard_metadata.egress_spec = PUNT_PORT;
        exit;
    }

    /* A PDR with its FAR and QERs folded in.
     *   pdr           number that the control plane knows it by; goes with buffered packets
     *   disposition   FAR's Apply Action, QERs' gates, URRs' quotas
     *   flags         PDR_*
     *   usage         cell of `usage`, shared by PDRs of the same URRs and direction; 0 for none
     *   meter_1..3    cells of `mbr`, one for each QER with an MBR; 0 for none. Those behind are quotas: PDR_QUOTA_n
     *   ue_ipv4, ue_prefix   what an uplink packet's source must be; 0: that version is not allowed
     *   encapsulation, tunnel_*, psc_qos   Outer Header Creation, Transport Level Marking, RQI and QFI
     *   out_vrf       FAR's network instance
     */
    action set_pdr(bit<32> pdr, Disposition disposition, bit<8> flags, bit<32> usage,
                   bit<32> meter_1, bit<32> meter_2, bit<32> meter_3, ipv4_t ue_ipv4, bit<64> ue_prefix,
                   Encapsulation encapsulation, teid_t tunnel_teid, ipv4_t tunnel_dst, ipv4_t tunnel_src,
                   bit<8> psc_qos, bit<8> tunnel_tos, bit<16> out_vrf) {
        meta.mark = pdr;
#ifdef HEAVY
        meta.pdr = pdr;
#endif
        meta.disposition = disposition;
        meta.flags = flags;
        meta.usage = usage;
        meta.meter_1 = meter_1;
        meta.meter_2 = meter_2;
        meta.meter_3 = meter_3;
        meta.ue_ipv4 = ue_ipv4;
        meta.ue_prefix = ue_prefix;
        meta.encapsulation = encapsulation;
        meta.tunnel_teid = tunnel_teid;
        meta.tunnel_dst = tunnel_dst;
        meta.tunnel_src = tunnel_src;
        meta.psc_qos = psc_qos;
        meta.tunnel_tos = tunnel_tos;
        meta.out_vrf = out_vrf;
    }

    action classify(bit<32> group, bit<16> filter_set) {
        meta.classified = 1;
        meta.group = group;
        meta.filter_set = filter_set;
    }

    action miss() { }

    @split("horizontal")
    table pdr_by_teid {
        key = {
            hdr.ipv4.dst: exact @name("endpoint");
            hdr.gtpu.teid: exact @name("teid");
        }
        actions = { set_pdr; classify; miss; }
        default_action = miss();
        size = SESSIONS;
    }

    @split("horizontal")
    table pdr_by_ue_ipv4 {
        key = {
            meta.vrf: exact;
            meta.dst_v4: exact @name("ue");
        }
        actions = { set_pdr; classify; miss; }
        default_action = miss();
        size = SESSIONS;
    }

    /* A UE has a /64 (TS 23.501 §5.8.2.2). */
    @split("horizontal")
    table pdr_by_ue_ipv6 {
        key = {
            meta.vrf: exact;
            meta.dst_v6[127:64]: exact @name("ue_prefix");
        }
        actions = { set_pdr; classify; miss; }
        default_action = miss();
        size = SESSIONS;
    }

    action gtpu_endpoint() { }

    action host() {
        punt(Reason.host);
    }

    action not_local() { }

    /* Our own addresses. Only packets without a session come here. */
    table local_ipv4 {
        key = {
            meta.vrf: exact;
            hdr.ipv4.dst: exact @name("address");
        }
        actions = { gtpu_endpoint; host; not_local; }
        default_action = not_local();
        size = 256;
    }

    /* Our own IPv6 addresses and the groups that neighbour discovery uses. */
    table local_ipv6 {
        key = {
            meta.vrf: exact;
            hdr.ipv6.dst: ternary @name("address");
        }
        actions = { host; not_local; }
        default_action = not_local();
        size = 256;
    }

    action set_filter(bit<8> class) {
        meta.class = class;
    }

    action no_filter() {
        drop(Reason.no_pdr);
    }

    /* SDF filters (TS 29.244 §8.2.5), remote and UE side turned by direction, so that one filter serves both. */
    bit<32>  remote_v4 = 0;
    bit<32>  local_v4 = 0;
    bit<128> remote_v6 = 0;
    bit<128> local_v6 = 0;
    bit<16>  remote_port = 0;
    bit<16>  local_port = 0;
    bit<20>  flow_label = 0;

    table sdf_ipv4 {
        key = {
            meta.filter_set: exact;
            remote_v4: ternary;
            local_v4: ternary;
            meta.protocol: ternary;
            remote_port: range;
            local_port: range;
            meta.tos: ternary;
            meta.qfi: ternary;
        }
        actions = { set_filter; no_filter; }
        default_action = no_filter();
        size = 65536;
    }

    table sdf_ipv6 {
        key = {
            meta.filter_set: exact;
            remote_v6: ternary;
            local_v6: ternary;
            meta.protocol: ternary;
            remote_port: range;
            local_port: range;
            meta.tos: ternary;
            flow_label: ternary;
            meta.qfi: ternary;
        }
        actions = { set_filter; no_filter; }
        default_action = no_filter();
        size = 65536;
    }

    action no_pdr() {
        drop(Reason.no_pdr);
    }

    @split("horizontal")
    table pdr_by_class {
        key = {
            meta.group: exact;
            meta.class: exact;
        }
        actions = { set_pdr; no_pdr; }
        default_action = no_pdr();
        size = SESSIONS;
    }

    apply {
        if (hdr.gtpu.isValid()) {
            meta.uplink = 1;
            // Of the tunnel's ends one is ours, and the other no martian. With our own address as source it would come from us.
            bit<8> src = hdr.ipv4.src[31:24];
            if (src == 0 || src >= 224 || ((src == 127 || hdr.ipv4.src == hdr.ipv4.dst) && meta.loopback == 0)) {
                drop(Reason.martian);
            }
            if (hdr.gtpu.version != 1 || hdr.gtpu.protocol_type != 1) {
                drop(Reason.gtpu_version);
            }
            if (hdr.gtpu.message_type != GTPU_GPDU) {
                switch (local_ipv4.apply().action_run) {
                    gtpu_endpoint: { punt(Reason.gtpu_signalling); }
                    default: { drop(Reason.gtpu_not_local); }
                }
            }
            if (pdr_by_teid.apply().miss) {
                switch (local_ipv4.apply().action_run) {
                    gtpu_endpoint: { punt(Reason.unknown_teid); }
                    default: { drop(Reason.gtpu_not_local); }
                }
            }
        } else if (meta.ip_version == 4) {
            if (pdr_by_ue_ipv4.apply().miss) {
                bit<8> src = hdr.ipv4.src[31:24];
                if (src == 0 || src >= 224 || ((src == 127 || hdr.ipv4.src == hdr.ipv4.dst) && meta.loopback == 0)) {
                    drop(Reason.martian);
                }
                switch (local_ipv4.apply().action_run) {
                    gtpu_endpoint: {
                        if (hdr.ipv4.protocol == PROTO_UDP && (hdr.ipv4.more_fragments == 1 || hdr.ipv4.fragment_offset != 0)) {
                            drop(Reason.fragmented_tunnel);
                        }
                        punt(Reason.host);
                    }
                    default: { drop(Reason.no_session); }
                }
            }
        } else if (meta.ip_version == 6) {
            if (pdr_by_ue_ipv6.apply().miss) {
                // A neighbour that has no address yet solicits from :: (RFC 4861 §4.3).
                if ((meta.src_v6[127:32] == 0 && meta.src_v6[31:0] != 0) || meta.src_v6[127:32] == 0xffff
                    || meta.src_v6[127:120] == 0xff || meta.src_v6 == meta.dst_v6) {
                    drop(Reason.martian);
                }
                local_ipv6.apply();
                drop(Reason.no_session);
            }
        } else if (hdr.ethernet.ethertype == ETHERTYPE_ARP) {
            punt(Reason.arp);
        } else {
            drop(Reason.unsupported_protocol);
        }

        // PDU sessions of type Ethernet and unstructured are not served.
        if (meta.ip_version == 0) {
            drop(Reason.unsupported_protocol);
        }

        if (meta.classified == 1) {
            if (meta.uplink == 1) {
                remote_v4 = meta.dst_v4;
                local_v4 = meta.src_v4;
                remote_v6 = meta.dst_v6;
                local_v6 = meta.src_v6;
                remote_port = meta.dst_port;
                local_port = meta.src_port;
            } else {
                remote_v4 = meta.src_v4;
                local_v4 = meta.dst_v4;
                remote_v6 = meta.src_v6;
                local_v6 = meta.dst_v6;
                remote_port = meta.src_port;
                local_port = meta.dst_port;
            }
            if (meta.ip_version == 4) {
                sdf_ipv4.apply();
            } else {
                flow_label = meta.user_is_inner == 1 ? hdr.inner_ipv6.flow_label : hdr.ipv6.flow_label;
                sdf_ipv6.apply();
            }
            pdr_by_class.apply();
        }
    }
}

#endif
