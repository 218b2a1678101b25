/* Leaving and entering tunnels as ../include/tunnel.p4 does, for IPv4 and in the form that the chip takes: each action runs in one stage and
 * has no condition, ingress has said how long the tunnel's packet is, and the deparser sums headers anew, the user's too. A user's packet whose
 * checksum was wrong must not get a right one: as p4/upf.p4 does, whoever runs this on a switch lets the parser of ingress verify it. */
#ifndef SPLITPLANE_TNA_TUNNEL_P4
#define SPLITPLANE_TNA_TUNNEL_P4

/* Bytes of IPv4, UDP and GTP-U, the optional fields and the container; and of those, what UDP and GTP-U do not count. */
const bit<16> TUNNEL_BYTES = 44;
const bit<16> BEFORE_UDP   = 20;
const bit<16> BEFORE_GTPU  = 36;

/* From ingress to egress, on packets that the chip does itself. */
header bridge_h {
    Encapsulation encapsulation;
    bit<8>  psc_qos;
    bit<8>  tunnel_tos;
    bit<16> out_length;      // of the IPv4 packet that leaves, if it leaves in a tunnel
    teid_t  tunnel_teid;
    ipv4_t  tunnel_dst;
    ipv4_t  tunnel_src;
}

control FastTunnel(inout headers_t hdr, in bridge_h bridge, inout egress_intrinsic_metadata_for_deparser_t for_deparser) {

    action expired() {
        for_deparser.drop_ctl = 1;
    }

    action take_out() {
        hdr.inner_ipv4.ttl = hdr.inner_ipv4.ttl - 1;
        hdr.ipv4.setInvalid();
        hdr.ports.setInvalid();
        hdr.udp_rest.setInvalid();
        hdr.gtpu.setInvalid();
        hdr.gtpu_optional.setInvalid();
        hdr.gtpu_psc.setInvalid();
    }

    /* Between the tunnel and the user's packet go UDP (8), GTP-U (8), optional fields (4) and the container (4). The UDP checksum is zero,
     * as IPv4 allows and TS 29.281 §4.4.1 leaves open. */
    action put_in() {
        hdr.ipv4.ttl = hdr.ipv4.ttl - 1;
        hdr.tunnel_ipv4.setValid();
        hdr.tunnel_ipv4.version = 4;
        hdr.tunnel_ipv4.ihl = 5;
        hdr.tunnel_ipv4.tos = bridge.tunnel_tos;
        hdr.tunnel_ipv4.total_length = bridge.out_length;
        hdr.tunnel_ipv4.identification = 0;
        hdr.tunnel_ipv4.reserved = 0;
        hdr.tunnel_ipv4.dont_fragment = 1;
        hdr.tunnel_ipv4.more_fragments = 0;
        hdr.tunnel_ipv4.fragment_offset = 0;
        hdr.tunnel_ipv4.ttl = 64;
        hdr.tunnel_ipv4.protocol = PROTO_UDP;
        hdr.tunnel_ipv4.src = bridge.tunnel_src;
        hdr.tunnel_ipv4.dst = bridge.tunnel_dst;
        hdr.tunnel_udp.setValid();
        hdr.tunnel_udp.src = PORT_GTPU;
        hdr.tunnel_udp.dst = PORT_GTPU;
        hdr.tunnel_udp.length = bridge.out_length - BEFORE_UDP;
        hdr.tunnel_udp.checksum = 0;
        hdr.tunnel_gtpu.setValid();
        hdr.tunnel_gtpu.version = 1;
        hdr.tunnel_gtpu.protocol_type = 1;
        hdr.tunnel_gtpu.spare = 0;
        hdr.tunnel_gtpu.has_extension = 1;
        hdr.tunnel_gtpu.has_sequence = 0;
        hdr.tunnel_gtpu.has_npdu = 0;
        hdr.tunnel_gtpu.message_type = GTPU_GPDU;
        hdr.tunnel_gtpu.length = bridge.out_length - BEFORE_GTPU;
        hdr.tunnel_gtpu.teid = bridge.tunnel_teid;
        hdr.tunnel_optional.setValid();
        hdr.tunnel_optional.sequence = 0;
        hdr.tunnel_optional.npdu = 0;
        hdr.tunnel_optional.next_extension = GTPU_EXT_PSC;
        hdr.tunnel_psc.setValid();
        hdr.tunnel_psc.length = 1;
        hdr.tunnel_psc.pdu_type = 0;
        hdr.tunnel_psc.spare = 0;
        hdr.tunnel_psc.qos = bridge.psc_qos;
        hdr.tunnel_psc.next_extension = GTPU_EXT_NONE;
    }

    apply {
        if (hdr.inner_ipv4.isValid()) {
            if (hdr.inner_ipv4.ttl <= 1) {
                expired();
            } else {
                take_out();
            }
        } else if (hdr.ipv4.ttl <= 1) {
            expired();
        } else {
            put_in();
        }
    }
}

#endif
