/* L2: is the frame for us, and in which network instance does it arrive (Singh et al. §5.1, L2/Ethernet and
 * virtualisation). On VXLAN ports the tunnel endpoint and the network number are looked up too; the underlay stays on
 * the packet until it is sent, so that what is punted is whole. */
#ifndef STATION_P4
#define STATION_P4

control Station(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {

    action route(bit<16> vrf) {
        meta.vrf = vrf;
    }

    /* A port that has an address in 127.0.0.0/8, or routes there. */
    action loopback(bit<16> vrf) {
        meta.vrf = vrf;
        meta.loopback = 1;
    }

    /* Broadcast, or a group that we listen to: neighbours ask so. */
    action group(bit<16> vrf) {
        meta.vrf = vrf;
    }

    action drop(Reason reason) {
        meta.reason = reason;
        mark_to_drop(standard_metadata);
        exit;
    }

    /* Our MAC address on each port, and the broadcast and multicast ones that we listen to. */
    table station {
        key = {
            standard_metadata.ingress_port: exact @name("port");
            hdr.ethernet.dst: exact @name("mac");
        }
        actions = { route; loopback; group; drop; }
        default_action = drop(Reason.not_our_mac);
        size = 1024;
    }

    /* VXLAN ports only: the tunnel endpoint and network that we take part in. */
    table vxlan_termination {
        key = {
            hdr.underlay_ipv4.dst: exact @name("vtep");
            hdr.vxlan.vni: exact @name("vni");
        }
        actions = { route; drop; }
        default_action = drop(Reason.vxlan);
        size = 1024;
    }

    apply {
        if (hdr.underlay_ethernet.isValid() && !hdr.vxlan.isValid()) {
            if (hdr.underlay_ethernet.ethertype == ETHERTYPE_ARP) {
                meta.reason = Reason.arp;
                standard_metadata.egress_spec = PUNT_PORT;
                exit;
            }
            drop(Reason.vxlan);
        }
        switch (station.apply().action_run) {
            group: {
                // What is for one host is neither forwarded nor taken (RFC 1812 §5.3.4, RFC 1122 §3.3.6). No IPv4 broadcast is for us.
                if (hdr.ipv4.isValid() || (hdr.ipv6.isValid() && hdr.ipv6.dst[127:120] != 0xff)) {
                    drop(Reason.link_broadcast);
                }
            }
        }
        if (hdr.vxlan.isValid()) {
            if (hdr.underlay_ethernet.dst[40:40] == 1) {
                drop(Reason.link_broadcast);
            }
            vxlan_termination.apply();
        }
    }
}

#endif
