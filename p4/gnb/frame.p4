/* Is the frame sound, and is it for us? */
#ifndef GNB_FRAME_P4
#define GNB_FRAME_P4

/* Bytes of Ethernet; and of Ethernet, IPv4 and UDP. */
const bit<32> ETHERNET_BYTES = 14;
const bit<32> UDP_BYTES = 42;

control Frame(inout gnb_headers_t hdr, inout gnb_metadata_t meta, inout standard_metadata_t standard_metadata) {

    /* In front it is not known who shares the interface with us: what is not ours passes on. */
    action drop(Reason reason) {
        meta.reason = reason;
#ifdef FRONT
        standard_metadata.egress_spec = PUNT_PORT;
#else
        mark_to_drop(standard_metadata);
#endif
        exit;
    }

    action punt(Reason reason) {
        meta.reason = reason;
        standard_metadata.egress_spec = PUNT_PORT;
        exit;
    }

    mac_t our_mac = 0;
    ipv4_t our_address = 0;

    action ours(mac_t mac, ipv4_t address) {
        our_mac = mac;
        our_address = address;
    }

    action none() { }

    table station {
        key = { standard_metadata.ingress_port: exact @name("port"); }
        actions = { ours; none; }
        default_action = none();
        size = 512;
    }

    apply {
        if (standard_metadata.parser_error != error.NoError) {
            drop(Reason.malformed);
        }
        station.apply();
        if (hdr.ethernet.ethertype == ETHERTYPE_ARP) {
            punt(Reason.arp);
        }
        if (hdr.ethernet.dst != our_mac) {
            drop(Reason.not_our_mac);
        }
        if (!hdr.ipv4.isValid()) {
            drop(Reason.unsupported_protocol);
        }
        if (standard_metadata.checksum_error == 1) {
            drop(Reason.ipv4_checksum);
        }
        if (hdr.ipv4.dst != our_address) {
            drop(Reason.not_our_mac);
        }
        if (!hdr.udp.isValid()) {
            if (hdr.ipv4.version != 4 || hdr.ipv4.ihl != 5 || hdr.ipv4.more_fragments == 1 || hdr.ipv4.fragment_offset != 0) {
                drop(Reason.header_chain);
            }
            punt(Reason.host);
        }
        // Nothing may be behind what the headers speak of: a frame is never so short that Ethernet pads it.
        if ((bit<32>)hdr.ipv4.total_length + ETHERNET_BYTES != standard_metadata.packet_length
            || hdr.udp.length + 20 != hdr.ipv4.total_length) {
            drop(Reason.length_mismatch);
        }
    }
}

#endif
