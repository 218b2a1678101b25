/* What is known of a packet on its way, and why it may end. */
#ifndef METADATA_P4
#define METADATA_P4

/* Reasons of drops and punts; the engine counts packets by them. */
enum bit<8> Reason {
    none                 = 0,
    // punts: the control plane acts on them
    arp                  = 1,
    host                 = 3,   // to an address of ours: ICMP echo, neighbour discovery and the like
    gtpu_signalling      = 4,   // echo, error indication, end marker; and a G-PDU with an extension header that we
                                // must comprehend (TS 29.281 §5.2.1) and do not: see enforce.p4
    unknown_teid         = 5,   // G-PDU to our endpoint without a session: error indication, TS 29.281 §7.3.1
    neighbour_unknown    = 6,   // next hop not resolved yet
    // ttl_expired and too_big too: the sender is told
    // drops
    malformed            = 16,  // the parser could not finish
    ipv4_checksum        = 17,
    length_mismatch      = 18,  // lengths of user packet, tunnel and frame do not fit each other
    not_our_mac          = 19,
    unsupported_protocol = 20,  // neither IPv4 nor IPv6
    fragmented_tunnel    = 21,  // the outer packet is a fragment
    gtpu_version         = 22,
    gtpu_not_local       = 24,  // GTP-U to an address that is not ours
    vxlan                = 25,  // a VXLAN port, but no VXLAN or one not for us
    no_session           = 26,  // no PDR for this UE address
    no_pdr               = 27,  // a session, but none of its SDF filters matches
    far_drop             = 28,
    gate_closed          = 29,
    quota_exhausted      = 30,
    source_spoofed       = 31,  // uplink packet whose source is not the UE's address
    rate_exceeded        = 32,  // MBR of a QER
    firewall             = 33,
    class_rate_exceeded  = 34,  // meter of a 5-tuple class
    ttl_expired          = 35,
    no_route             = 36,
    too_big              = 37,  // exceeds the MTU of the way out, tunnel included
    header_chain         = 38,  // IPv6 extension headers or IPv4 options that are too many or too long to be walked
    source_route         = 39,  // IPv4 LSRR or SSRR, IPv6 routing header of type 0 (RFC 7126 §4.3, RFC 5095)
    martian              = 40,  // from or to an address that must never be on a wire (RFC 1812 §5.3.7, RFC 4291 §2.5)
    multicast            = 41,  // a user's, to a group: there is no multicast routing
    link_broadcast       = 42,  // for one host, in a frame to all or to a group
    machine_address      = 43   // a user's, to an address of the machine behind a TUN device
}

/* What a PDR's FAR and QERs say of a packet, in the order of decision. */
enum bit<8> Disposition {
    forward         = 0,
    drop            = 1,
    buffer          = 2,
    gate_closed     = 3,
    quota_exhausted = 4
}

/* How a packet is put in a tunnel: FAR's Outer Header Creation and QER's QFI. */
enum bit<8> Encapsulation {
    none         = 0,
    gtpu         = 1,
    psc_downlink = 2,
    psc_uplink   = 3
}

const bit<8> PDR_DECREMENT_TTL = 0x01;
const bit<8> PDR_CHECK_SOURCE  = 0x02;
// meter_3, _2, _1 is what is left of a volume quota.
const bit<8> PDR_QUOTA_3       = 0x04;
const bit<8> PDR_QUOTA_2       = 0x08;
const bit<8> PDR_QUOTA_1       = 0x10;
// Between two tunnels: a session container that came does not go on; or it keeps its QFI, which no QER gives.
const bit<8> PDR_DELETE_CONTAINER = 0x20;
const bit<8> PDR_KEEP_QFI      = 0x40;

struct metadata_t {
    // The user's packet, wherever in the frame it is.
    bit<1>   user_is_inner;
    bit<4>   ip_version;     // 4, 6, or 0: none found
    ipv4_t   src_v4;
    ipv4_t   dst_v4;
    bit<128> src_v6;
    bit<128> dst_v6;
    bit<8>   protocol;
    bit<8>   tos;
    bit<16>  src_port;
    bit<16>  dst_port;
    bit<16>  user_offset;    // bytes of the frame before it
    @pdu_length
    bit<32>  pdu_length;     // bytes of it, by its own header
    bit<32>  header_length;  // bytes of it that were parsed: IP header, options or extension headers, ports

    // From the parser.
    bit<8>   next_header;    // behind the extension headers so far
    bit<32>  extension_bytes;
    bit<1>   source_routed;
    bit<32>  options;        // the first four bytes of the IPv4 options
    bit<32>  inner_options;
    bit<1>   unknown_extension;  // comprehension is required of all, and we have none
    bit<1>   endpoint_extension; // comprehension is required of the tunnel's end
    bit<6>   qfi;            // of the PDU session container, 0 if none
    bit<16>  relayed_bytes;  // of GTP-U extension headers that go on into another tunnel
    bit<16>  container_bytes;    // of PDU session containers among them
    bit<1>   new_container;  // none goes on, and the next tunnel needs one

    // From the tables.
    bit<16>  vrf;            // network instance that the packet came in by
    bit<1>   loopback;       // 127.0.0.0/8 is a network of the port
    bit<1>   uplink;         // came by a tunnel
    bit<1>   classified;     // the session has several PDRs
    bit<32>  group;          // PDR group: one a look-up key of a session
    bit<16>  filter_set;
    bit<8>   class;

    // The PDR that matched: see set_pdr.
    Disposition disposition;
    bit<8>   flags;
    bit<32>  usage;
    bit<32>  meter_1;
    bit<32>  meter_2;
    bit<32>  meter_3;
    ipv4_t   ue_ipv4;
    bit<64>  ue_prefix;
    Encapsulation encapsulation;
    teid_t   tunnel_teid;
    ipv4_t   tunnel_dst;
    ipv4_t   tunnel_src;
    bit<8>   psc_qos;
    bit<8>   tunnel_tos;
    bit<16>  out_vrf;

    bit<16>  class_meter;
    bit<16>  nexthop;
    bit<32>  out_length;     // bytes of the IP packet that leaves, tunnel included
    bit<16>  mtu;

    @drop_reason
    Reason   reason;
    @mark
    bit<32>  mark;
#ifdef HEAVY
    bit<32>  pdr;            // the PDR's number: mark may become another's
#endif
}

#endif
