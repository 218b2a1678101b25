/* Headers of the user plane. */
#ifndef HEADERS_P4
#define HEADERS_P4

typedef bit<48> mac_t;
typedef bit<32> ipv4_t;
typedef bit<32> teid_t;

const bit<16> ETHERTYPE_IPV4 = 0x0800;
const bit<16> ETHERTYPE_ARP  = 0x0806;
const bit<16> ETHERTYPE_IPV6 = 0x86DD;

const bit<8> PROTO_TCP    = 6;
const bit<8> PROTO_UDP    = 17;
const bit<8> PROTO_ICMPV6 = 58;
const bit<8> PROTO_SCTP   = 132;

// Extension headers of IPv6 (RFC 8200 §4, RFC 6275, RFC 7401, RFC 5533), all of the form of RFC 6564 but the fragment's.
// AH and ESP are protocols, as for IPv4.
const bit<8> IPV6_HOP_BY_HOP  = 0;
const bit<8> IPV6_ROUTING     = 43;
const bit<8> IPV6_FRAGMENT    = 44;
const bit<8> IPV6_DESTINATION = 60;
const bit<8> IPV6_MOBILITY    = 135;
const bit<8> IPV6_HIP         = 139;
const bit<8> IPV6_SHIM6       = 140;

const bit<8> IPV4_OPTION_LSRR = 131; // RFC 791 §3.1
const bit<8> IPV4_OPTION_SSRR = 137;

const bit<16> PORT_GTPU  = 2152;  // TS 29.281 §4.4.2
const bit<16> PORT_VXLAN = 4789;  // RFC 7348 §5

const bit<8> GTPU_GPDU = 255;     // TS 29.281 §6.1
const bit<8> GTPU_EXT_NONE = 0x00;
const bit<8> GTPU_EXT_PSC  = 0x85; // PDU session container, TS 29.281 §5.2.2.7
const bit<8> GTPU_EXT_PDCP = 0xC0; // PDCP PDU number, TS 29.281 §5.2.2.2: goes along with packets forwarded at a handover

header ethernet_h {
    mac_t   dst;
    mac_t   src;
    bit<16> ethertype;
}

header ipv4_h {
    bit<4>  version;
    bit<4>  ihl;
    bit<8>  tos;
    bit<16> total_length;
    bit<16> identification;
    bit<1>  reserved;
    bit<1>  dont_fragment;
    bit<1>  more_fragments;
    bit<13> fragment_offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    ipv4_t  src;
    ipv4_t  dst;
}

header ipv4_options_h {
    varbit<320> options;
}

header ipv6_h {
    bit<4>   version;
    bit<8>   traffic_class;
    bit<20>  flow_label;
    bit<16>  payload_length;
    bit<8>   next_header;
    bit<8>   hop_limit;
    bit<128> src;
    bit<128> dst;
}

/* An extension header of up to 64 bytes. What follows the length is named for a fragment header. */
header ipv6_extension_h {
    bit<8>  next_header;
    bit<8>  length;          // in units of eight bytes, without the first; means nothing in a fragment header
    bit<13> fragment_offset;
    bit<2>  reserved;
    bit<1>  more_fragments;
    bit<32> identification;
    varbit<448> rest;
}

/* What an IPv4 header's checksum is of. */
#define IPV4_FIELDS(h) { h.version, h.ihl, h.tos, h.total_length, h.identification, h.reserved, h.dont_fragment, \
                         h.more_fragments, h.fragment_offset, h.ttl, h.protocol, h.src, h.dst }
#define IPV4_FIELDS_AND_OPTIONS(h, o) { h.version, h.ihl, h.tos, h.total_length, h.identification, h.reserved, \
                         h.dont_fragment, h.more_fragments, h.fragment_offset, h.ttl, h.protocol, h.src, h.dst, o.options }

/* The ports that begin TCP, UDP and SCTP alike. */
header ports_h {
    bit<16> src;
    bit<16> dst;
}

/* What follows the ports in UDP. */
header udp_rest_h {
    bit<16> length;
    bit<16> checksum;
}

header udp_h {
    bit<16> src;
    bit<16> dst;
    bit<16> length;
    bit<16> checksum;
}

/* Bytes of IPv4, UDP and GTP-U; and of the optional fields with the container. */
const bit<32> GTPU_OVERHEAD = 36;
const bit<32> PSC_OVERHEAD = 8;

/* TS 29.281 §5.1. length counts what follows these eight bytes. */
header gtpu_h {
    bit<3>  version;
    bit<1>  protocol_type;
    bit<1>  spare;
    bit<1>  has_extension;
    bit<1>  has_sequence;
    bit<1>  has_npdu;
    bit<8>  message_type;
    bit<16> length;
    teid_t  teid;
}

/* Present as a whole when any of the three flags is set. */
header gtpu_optional_h {
    bit<16> sequence;
    bit<8>  npdu;
    bit<8>  next_extension;
}

/* PDU session container as we send it: one unit of four bytes, TS 38.415 §5.5.2. */
header gtpu_psc_h {
    bit<8> length;         // in units of four bytes
    bit<4> pdu_type;       // 0 downlink, 1 uplink
    bit<4> spare;
    bit<8> qos;            // downlink: PPP, RQI, QFI; uplink: two spare bits, QFI
    bit<8> next_extension;
}

/* The optional fields of any other row of extension headers. The octet with the type of the first one is that one's here, the
 * octet that ends each is the next one's: so one may leave the row, or come into it, and the others stay as they are. */
header gtpu_numbers_h {
    bit<16> sequence;
    bit<8>  npdu;
}

/* An extension header of up to 64 bytes. What follows the length is named for a PDU session container. */
header gtpu_extension_h {
    bit<8> kind;
    bit<8> length;         // in units of four bytes
    bit<8> pdu_type;
    bit<8> qos;
    varbit<480> rest;
}

/* A PDU session container among them. */
header gtpu_container_h {
    bit<8> kind;
    bit<8> length;
    bit<8> pdu_type;
    bit<8> qos;
}

/* The end of the row. */
header gtpu_end_h {
    bit<8> none;
}

/* RFC 7348 §5. */
header vxlan_h {
    bit<8>  flags;
    bit<24> reserved;
    bit<24> vni;
    bit<8>  reserved2;
}

struct headers_t {
    // Underlay: received on a VXLAN port, or put in front by a VXLAN next hop.
    ethernet_h      underlay_ethernet;
    ipv4_h          underlay_ipv4;
    udp_h           underlay_udp;
    vxlan_h         vxlan;

    ethernet_h      ethernet;

    // Tunnel that we create. It has its own headers, so that a packet may leave one tunnel and enter another.
    ipv4_h          tunnel_ipv4;
    udp_h           tunnel_udp;
    gtpu_h          tunnel_gtpu;
    gtpu_optional_h tunnel_optional;
    gtpu_psc_h      tunnel_psc;

    // The first IP packet of the frame: the user's own on N6, the tunnel's on N3 and N9.
    ipv4_h          ipv4;
    ipv4_options_h  ipv4_options;
    ipv6_h          ipv6;
    ports_h         ports;
    udp_rest_h      udp_rest;
    gtpu_h          gtpu;
    gtpu_optional_h gtpu_optional;
    gtpu_psc_h      gtpu_psc;

    // In place of the last two, where it is not one session container of one unit.
    gtpu_numbers_h   gtpu_numbers;
    gtpu_container_h gtpu_container;   // that we create
    gtpu_extension_h gtpu_extension_1;
    gtpu_extension_h gtpu_extension_2;
    gtpu_extension_h gtpu_extension_3;
    gtpu_extension_h gtpu_extension_4;
    gtpu_end_h       gtpu_end;

    // The user's packet inside a tunnel.
    ipv4_h          inner_ipv4;
    ipv4_options_h  inner_ipv4_options;
    ipv6_h          inner_ipv6;

    // Of the only IPv6 header, wherever it is. The ports behind are the inner ones.
    ipv6_extension_h extension_1;
    ipv6_extension_h extension_2;
    ipv6_extension_h extension_3;
    ipv6_extension_h extension_4;

    ports_h         inner_ports;
}

#endif
