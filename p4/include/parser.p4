/* From bytes to headers. What the parser rejects is dropped by the control as `malformed`. */
#ifndef PARSER_P4
#define PARSER_P4

error { GtpuExtensionLength, IpHeader, HeaderChain }

/* One of the extension headers of IPv6, and then the next. A later fragment has no header behind it. The window of four is
 * unrolled, because what is taken off the packet must have a place of its own to be put back from. */
#define IPV6_EXTENSION(n, next)                                                                                       \
    state extension_##n {                                                                                             \
        transition select(meta.next_header) {                                                                         \
            PROTO_UDP: parse_inner_ports_behind_extensions;                                                           \
            PROTO_TCP: parse_inner_ports_behind_extensions;                                                           \
            PROTO_SCTP: parse_inner_ports_behind_extensions;                                                          \
            IPV6_FRAGMENT: fragment_##n;                                                                              \
            IPV6_ROUTING: routing_##n;                                                                                \
            IPV6_HOP_BY_HOP: options_##n;                                                                             \
            IPV6_DESTINATION: options_##n;                                                                            \
            IPV6_MOBILITY: options_##n;                                                                               \
            IPV6_HIP: options_##n;                                                                                    \
            IPV6_SHIM6: options_##n;                                                                                  \
            default: accept;                                                                                          \
        }                                                                                                             \
    }                                                                                                                 \
    state fragment_##n {                                                                                              \
        packet.extract(hdr.extension_##n, 0);                                                                         \
        meta.next_header = hdr.extension_##n.next_header;                                                             \
        meta.extension_bytes = meta.extension_bytes + 8;                                                              \
        transition select(hdr.extension_##n.fragment_offset) {                                                        \
            0: extension_##next;                                                                                      \
            default: accept;                                                                                          \
        }                                                                                                             \
    }                                                                                                                 \
    state routing_##n {                                                                                               \
        bit<24> head = packet.lookahead<bit<24>>();                                                                   \
        meta.source_routed = head[7:0] == 0 ? 1w1 : meta.source_routed;                                               \
        transition options_##n;                                                                                       \
    }                                                                                                                 \
    state options_##n {                                                                                               \
        bit<16> head = packet.lookahead<bit<16>>();                                                                   \
        verify(head[7:0] <= 7, error.HeaderChain);                                                                    \
        packet.extract(hdr.extension_##n, (bit<32>)head[7:0] << 6);                                                   \
        meta.next_header = head[15:8];                                                                                \
        meta.extension_bytes = meta.extension_bytes + 8 + ((bit<32>)head[7:0] << 3);                                  \
        transition extension_##next;                                                                                  \
    }

/* One of the extension headers of GTP-U, and then the next. What becomes of each is said by the two highest bits of its type
 * (TS 29.281 §5.2.1, figure 5.2.1-2): 00 and 10 go on into the next tunnel, 01 do not; 10 must be comprehended by the end
 * of the tunnel, 11 by everybody. We comprehend the session container alone; PDCP PDU numbers are for the next gNodeB. */
#define GTPU_EXTENSION(n, next)                                                                                       \
    state gtpu_extension_##n {                                                                                        \
        transition select(packet.lookahead<bit<8>>()) {                                                               \
            GTPU_EXT_NONE: end_of_extensions;                                                                         \
            default: take_gtpu_extension_##n;                                                                         \
        }                                                                                                             \
    }                                                                                                                 \
    state take_gtpu_extension_##n {                                                                                   \
        bit<16> head = packet.lookahead<bit<16>>();                                                                   \
        verify(head[7:0] != 0 && head[7:0] <= 16, error.GtpuExtensionLength);                                         \
        packet.extract(hdr.gtpu_extension_##n, ((bit<32>)head[7:0] - 1) << 5);                                        \
        bit<16> bytes = (bit<16>)head[7:0] << 2;                                                                      \
        meta.user_offset = meta.user_offset + bytes;                                                                  \
        meta.relayed_bytes = meta.relayed_bytes + (head[15:14] == 1 ? 16w0 : bytes);                                  \
        transition select(head[15:8]) {                                                                               \
            GTPU_EXT_PSC: gtpu_container_##n;                                                                         \
            GTPU_EXT_PDCP: gtpu_for_endpoint_##n;                                                                     \
            0x80 &&& 0xC0: gtpu_for_endpoint_##n;                                                                     \
            0xC0 &&& 0xC0: gtpu_mandatory_##n;                                                                        \
            default: gtpu_extension_##next;                                                                           \
        }                                                                                                             \
    }                                                                                                                 \
    state gtpu_container_##n {                                                                                        \
        meta.qfi = hdr.gtpu_extension_##n.qos[5:0];                                                                   \
        meta.container_bytes = meta.container_bytes + ((bit<16>)hdr.gtpu_extension_##n.length << 2);                  \
        transition gtpu_extension_##next;                                                                             \
    }                                                                                                                 \
    state gtpu_for_endpoint_##n {                                                                                     \
        meta.endpoint_extension = 1;                                                                                  \
        transition gtpu_extension_##next;                                                                             \
    }                                                                                                                 \
    state gtpu_mandatory_##n {                                                                                        \
        meta.unknown_extension = 1;                                                                                   \
        transition gtpu_extension_##next;                                                                             \
    }

parser UpfParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                 inout standard_metadata_t standard_metadata) {

    state start {
        meta.user_offset = 14;
        transition select(standard_metadata.ingress_port & VXLAN_PORT_FLAG) {
            0: parse_ethernet;
            default: parse_underlay;
        }
    }

    /* RFC 7348 on ports that say so. What is no VXLAN stays unparsed: ARP for the underlay goes to the control plane. */
    @unlikely state parse_underlay {
        packet.extract(hdr.underlay_ethernet);
        transition select(hdr.underlay_ethernet.ethertype) {
            ETHERTYPE_IPV4: parse_underlay_ipv4;
            default: accept;
        }
    }

    state parse_underlay_ipv4 {
        packet.extract(hdr.underlay_ipv4);
        transition select(hdr.underlay_ipv4.ihl, hdr.underlay_ipv4.more_fragments, hdr.underlay_ipv4.fragment_offset,
                          hdr.underlay_ipv4.protocol) {
            (5, 0, 0, PROTO_UDP): parse_underlay_udp;
            default: accept;
        }
    }

    state parse_underlay_udp {
        packet.extract(hdr.underlay_udp);
        transition select(hdr.underlay_udp.dst) {
            PORT_VXLAN: parse_vxlan;
            default: accept;
        }
    }

    state parse_vxlan {
        packet.extract(hdr.vxlan);
        meta.user_offset = 64;
        transition parse_ethernet;
    }

    state parse_ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            ETHERTYPE_IPV4: parse_ipv4;
            ETHERTYPE_IPV6: parse_ipv6;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        verify(hdr.ipv4.version == 4 && hdr.ipv4.ihl >= 5, error.IpHeader); // RFC 1812 §5.2.2
        transition select(hdr.ipv4.ihl) {
            5: parse_ipv4_payload;
            default: parse_ipv4_options;
        }
    }

    state parse_ipv4_options {
        meta.options = packet.lookahead<bit<32>>();
        packet.extract(hdr.ipv4_options, (bit<32>)(hdr.ipv4.ihl - 5) << 5);
        transition parse_ipv4_payload;
    }

    state parse_ipv4_payload {
        transition select(hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (0, PROTO_UDP): parse_udp;
            (0, PROTO_TCP): parse_ports;
            (0, PROTO_SCTP): parse_ports;
            default: accept;
        }
    }

    state parse_ipv6 {
        packet.extract(hdr.ipv6);
        verify(hdr.ipv6.version == 6, error.IpHeader);
        transition select(hdr.ipv6.next_header) {
            PROTO_UDP: parse_ports;
            PROTO_TCP: parse_ports;
            PROTO_SCTP: parse_ports;
            IPV6_HOP_BY_HOP: parse_extensions_of_ipv6;
            IPV6_ROUTING: parse_extensions_of_ipv6;
            IPV6_FRAGMENT: parse_extensions_of_ipv6;
            IPV6_DESTINATION: parse_extensions_of_ipv6;
            IPV6_MOBILITY: parse_extensions_of_ipv6;
            IPV6_HIP: parse_extensions_of_ipv6;
            IPV6_SHIM6: parse_extensions_of_ipv6;
            default: accept;
        }
    }

    @unlikely state parse_extensions_of_ipv6 {
        meta.next_header = hdr.ipv6.next_header;
        transition extension_1;
    }

    @likely state parse_ports {
        packet.extract(hdr.ports);
        transition accept;
    }

    /* Tunnels live on UDP over IPv4, whole packets only: a first fragment of a tunnel has its ports, but must not
     * be taken for the whole. */
    @likely state parse_udp {
        packet.extract(hdr.ports);
        transition select(standard_metadata.ingress_port & PLAIN_PORT_FLAG, hdr.ipv4.more_fragments, hdr.ports.dst) {
            (0, 0, PORT_GTPU): parse_gtpu;
            default: accept;
        }
    }

    /* TS 29.281 §5.1. */
    state parse_gtpu {
        packet.extract(hdr.udp_rest);
        packet.extract(hdr.gtpu);
        meta.user_offset = meta.user_offset + 16 + ((bit<16>)hdr.ipv4.ihl << 2);
        transition select(hdr.gtpu.version, hdr.gtpu.protocol_type, hdr.gtpu.has_extension,
                          hdr.gtpu.has_sequence, hdr.gtpu.has_npdu, hdr.gtpu.message_type) {
            (1, 1, 0, 0, 0, GTPU_GPDU): parse_user;
            (1, 1, 1, _, _, GTPU_GPDU): parse_extensions;
            (1, 1, 0, _, _, GTPU_GPDU): parse_numbers;
            // An end marker may be its eight bytes.
            (1, 1, 0, 0, 0, _): accept;
            (1, 1, _, _, _, _): parse_gtpu_optional;
            default: accept;
        }
    }

    @unlikely state parse_gtpu_optional {
        packet.extract(hdr.gtpu_optional);
        transition accept;
    }

    /* TS 29.281 §5.2.1: a row of extension headers, each of `length` units of four bytes, the last byte naming the
     * next. Nearly always it is one session container of one unit, which has a header of its own. */
    state parse_extensions {
        bit<32> optional = packet.lookahead<bit<32>>();
        transition select(optional[7:0]) {
            GTPU_EXT_PSC: parse_container;
            default: parse_row;
        }
    }

    state parse_container {
        bit<64> head = packet.lookahead<bit<64>>();
        transition select(head[31:24], head[7:0]) {
            (1, GTPU_EXT_NONE): parse_psc;
            default: parse_row;
        }
    }

    state parse_psc {
        packet.extract(hdr.gtpu_optional);
        packet.extract(hdr.gtpu_psc);
        meta.qfi = hdr.gtpu_psc.qos[5:0];
        meta.user_offset = meta.user_offset + 8;
        transition parse_user;
    }

    /* Sequence numbers alone, of some 4G peers. Without the E flag the octet behind them means nothing. */
    @unlikely state parse_numbers {
        packet.extract(hdr.gtpu_numbers);
        meta.user_offset = meta.user_offset + 4;
        transition end_of_extensions;
    }

    @unlikely state parse_row {
        packet.extract(hdr.gtpu_numbers);
        meta.user_offset = meta.user_offset + 4;
        transition gtpu_extension_1;
    }

    GTPU_EXTENSION(1, 2)
    GTPU_EXTENSION(2, 3)
    GTPU_EXTENSION(3, 4)
    GTPU_EXTENSION(4, 5)

    state gtpu_extension_5 {
        verify(packet.lookahead<bit<8>>() == GTPU_EXT_NONE, error.GtpuExtensionLength);
        transition end_of_extensions;
    }

    state end_of_extensions {
        packet.extract(hdr.gtpu_end);
        transition parse_user;
    }

    state parse_user {
        transition select(packet.lookahead<bit<4>>()) {
            4: parse_inner_ipv4;
            6: parse_inner_ipv6;
            default: accept;
        }
    }

    state parse_inner_ipv4 {
        packet.extract(hdr.inner_ipv4);
        verify(hdr.inner_ipv4.ihl >= 5, error.IpHeader);
        transition select(hdr.inner_ipv4.ihl) {
            5: parse_inner_ipv4_payload;
            default: parse_inner_ipv4_options;
        }
    }

    state parse_inner_ipv4_options {
        meta.inner_options = packet.lookahead<bit<32>>();
        packet.extract(hdr.inner_ipv4_options, (bit<32>)(hdr.inner_ipv4.ihl - 5) << 5);
        transition parse_inner_ipv4_payload;
    }

    state parse_inner_ipv4_payload {
        transition select(hdr.inner_ipv4.fragment_offset, hdr.inner_ipv4.protocol) {
            (0, PROTO_UDP): parse_inner_ports;
            (0, PROTO_TCP): parse_inner_ports;
            (0, PROTO_SCTP): parse_inner_ports;
            default: accept;
        }
    }

    state parse_inner_ipv6 {
        packet.extract(hdr.inner_ipv6);
        transition select(hdr.inner_ipv6.next_header) {
            PROTO_UDP: parse_inner_ports;
            PROTO_TCP: parse_inner_ports;
            PROTO_SCTP: parse_inner_ports;
            IPV6_HOP_BY_HOP: parse_extensions_of_inner_ipv6;
            IPV6_ROUTING: parse_extensions_of_inner_ipv6;
            IPV6_FRAGMENT: parse_extensions_of_inner_ipv6;
            IPV6_DESTINATION: parse_extensions_of_inner_ipv6;
            IPV6_MOBILITY: parse_extensions_of_inner_ipv6;
            IPV6_HIP: parse_extensions_of_inner_ipv6;
            IPV6_SHIM6: parse_extensions_of_inner_ipv6;
            default: accept;
        }
    }

    @unlikely state parse_extensions_of_inner_ipv6 {
        meta.next_header = hdr.inner_ipv6.next_header;
        transition extension_1;
    }

    IPV6_EXTENSION(1, 2)
    IPV6_EXTENSION(2, 3)
    IPV6_EXTENSION(3, 4)
    IPV6_EXTENSION(4, 5)

    /* Behind four of them something must follow that is none. */
    state extension_5 {
        verify(meta.next_header != IPV6_HOP_BY_HOP && meta.next_header != IPV6_ROUTING
               && meta.next_header != IPV6_FRAGMENT && meta.next_header != IPV6_DESTINATION
               && meta.next_header != IPV6_MOBILITY && meta.next_header != IPV6_HIP
               && meta.next_header != IPV6_SHIM6, error.HeaderChain);
        transition select(meta.next_header) {
            PROTO_UDP: parse_inner_ports_behind_extensions;
            PROTO_TCP: parse_inner_ports_behind_extensions;
            PROTO_SCTP: parse_inner_ports_behind_extensions;
            default: accept;
        }
    }

    state parse_inner_ports_behind_extensions {
        packet.extract(hdr.inner_ports);
        transition accept;
    }

    @likely state parse_inner_ports {
        packet.extract(hdr.inner_ports);
        transition accept;
    }
}

control UpfDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.underlay_ethernet);
        packet.emit(hdr.underlay_ipv4);
        packet.emit(hdr.underlay_udp);
        packet.emit(hdr.vxlan);
        packet.emit(hdr.ethernet);
        packet.emit(hdr.tunnel_ipv4);
        packet.emit(hdr.tunnel_udp);
        packet.emit(hdr.tunnel_gtpu);
        packet.emit(hdr.tunnel_optional);
        packet.emit(hdr.tunnel_psc);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ipv4_options);
        packet.emit(hdr.ipv6);
        packet.emit(hdr.ports);
        packet.emit(hdr.udp_rest);
        packet.emit(hdr.gtpu);
        packet.emit(hdr.gtpu_optional);
        packet.emit(hdr.gtpu_psc);
        packet.emit(hdr.gtpu_numbers);
        packet.emit(hdr.gtpu_container);
        packet.emit(hdr.gtpu_extension_1);
        packet.emit(hdr.gtpu_extension_2);
        packet.emit(hdr.gtpu_extension_3);
        packet.emit(hdr.gtpu_extension_4);
        packet.emit(hdr.gtpu_end);
        packet.emit(hdr.inner_ipv4);
        packet.emit(hdr.inner_ipv4_options);
        packet.emit(hdr.inner_ipv6);
        packet.emit(hdr.extension_1);
        packet.emit(hdr.extension_2);
        packet.emit(hdr.extension_3);
        packet.emit(hdr.extension_4);
        packet.emit(hdr.inner_ports);
    }
}

#endif
