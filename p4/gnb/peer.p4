/* The way out: the peer's addresses, in the IPv4 and UDP headers that the packet came with. */
#ifndef GNB_PEER_P4
#define GNB_PEER_P4

control Peer(inout gnb_headers_t hdr, inout gnb_metadata_t meta, inout standard_metadata_t standard_metadata) {

    action no_peer() {
        meta.reason = Reason.no_peer;
        mark_to_drop(standard_metadata);
        exit;
    }

    action send(bit<9> port, mac_t src_mac, mac_t dst_mac, ipv4_t src, ipv4_t dst, bit<16> src_port, bit<16> dst_port) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.src = src_mac;
        hdr.ethernet.dst = dst_mac;
        hdr.ipv4.src = src;
        hdr.ipv4.dst = dst;
        hdr.udp.src = src_port;
        hdr.udp.dst = dst_port;
    }

    table peer {
        key = { meta.peer: exact; }
        actions = { send; no_peer; }
        default_action = no_peer();
        size = 8192;
    }

    apply {
        peer.apply();
        hdr.ipv4.tos = 0;
        hdr.ipv4.total_length = meta.payload_bytes + 28;
        hdr.ipv4.identification = 0;
        hdr.ipv4.reserved = 0;
        hdr.ipv4.dont_fragment = 1;
        hdr.ipv4.ttl = 64;
        hdr.udp.length = meta.payload_bytes + 8;
        hdr.udp.checksum = 0;
    }
}

#endif
