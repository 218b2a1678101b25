/* L2: is the frame for us, and in which network instance does it arrive (first paper §5.1, L2/Ethernet and
 * virtualisation). VXLAN has been taken off by the parser; here its VTEP and VNI are checked. */
#ifndef STATION_P4
#define STATION_P4

control Station(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {

    action route(bit<16> vrf) {
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
        actions = { route; drop; }
        default_action = drop(Reason.not_our_mac);
        size = 1024;
    }

    /* VXLAN ports only: the tunnel endpoint and network that we take part in. */
    table vxlan_termination {
        key = {
            meta.vtep: exact;
            meta.vni: exact;
        }
        actions = { route; drop; }
        default_action = drop(Reason.vxlan);
        size = 1024;
    }

    apply {
        station.apply();
        if (meta.had_vxlan == 1) {
            vxlan_termination.apply();
        } else if ((standard_metadata.ingress_port & VXLAN_PORT_FLAG) != 0) {
            drop(Reason.vxlan);
        }
    }
}

#endif
