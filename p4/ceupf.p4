/* CeUPF: a switch pipeline in front of a foreign UPF (CeUPF, §2). Five tables: what no rule names goes to the
 * foreign UPF and comes back from it, unchanged; what a rule names is put into its tunnel, or taken out of it, here.
 *
 * Four ports, by number. What comes from the foreign UPF is only handed on, so nothing goes round.
 *
 *     base stations  ACCESS_PORT <-> FOREIGN_ACCESS_PORT   foreign UPF
 *     data network   CORE_PORT   <-> FOREIGN_CORE_PORT     foreign UPF
 *
 * The pipeline takes only packets that it can finish. All others are the foreign UPF's, though a rule names them: echo
 * requests, end markers, sequence numbers, fragments of tunnels, IPv4 options, IPv6, a TTL that ends, wrong checksums and
 * lengths, packets that outgrow the next link, frames to all or to a group (RFC 1812 §5.3.4). There they are answered, put together or dropped as if there were no switch.
 */
#include <core.p4>
#include <v1model.p4>

#include "include/splitplane.p4"
#include "include/headers.p4"

#ifndef RULES
#define RULES 131072
#endif

const bit<9> ACCESS_PORT         = 0;
const bit<9> FOREIGN_ACCESS_PORT = 1;
const bit<9> CORE_PORT           = 128;
const bit<9> FOREIGN_CORE_PORT   = 129;

/* Cells of `ways`. */
const bit<32> WAY_ENCAPSULATED   = 0;
const bit<32> WAY_DECAPSULATED   = 1;
const bit<32> WAY_TO_FOREIGN     = 2;
const bit<32> WAY_FROM_FOREIGN   = 3;
const bit<32> WAYS               = 4;

/* Bytes of the tunnel: IPv4, UDP and GTP-U; and of the optional fields with the session container. */
const bit<32> TUNNEL    = 36;
const bit<32> CONTAINER = 8;
const bit<32> ETHERNET  = 14;

enum bit<8> Reason { none = 0, unknown_port = 16 }

enum bit<8> Way { foreign = 0, encapsulate = 1, encapsulate_with_container = 2, decapsulate = 3 }

struct ceupf_headers_t {
    ethernet_h      ethernet;

    // The tunnel that we create.
    ipv4_h          tunnel_ipv4;
    udp_h           tunnel_udp;
    gtpu_h          tunnel_gtpu;
    gtpu_optional_h tunnel_optional;
    gtpu_psc_h      tunnel_psc;

    // The first IP packet of the frame: the user's from the data network, the tunnel's from base stations.
    ipv4_h          ipv4;
    udp_h           udp;
    gtpu_h          gtpu;
    gtpu_optional_h gtpu_optional;
    gtpu_psc_h      gtpu_psc;

    ipv4_h          inner_ipv4;
}

struct ceupf_metadata_t {
    bit<16>  user_offset;   // bytes of the frame before the user's packet
    bit<32>  user_length;   // bytes of it, by its own header

    // From the rule.
    Way      way;
    bit<32>  rule;
    teid_t   teid;
    ipv4_t   tunnel_src;
    ipv4_t   tunnel_dst;
    bit<8>   qos;
    bit<16>  next_hop;

    // From L2 forward.
    bit<9>   port;
    mac_t    src_mac;
    mac_t    dst_mac;
    bit<32>  mtu;

    @drop_reason
    Reason   reason;
}

parser CeupfParser(packet_in packet, out ceupf_headers_t hdr, inout ceupf_metadata_t meta,
                   inout standard_metadata_t standard_metadata) {
    state start {
        meta.user_offset = 14;
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            ETHERTYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition select(standard_metadata.ingress_port & PLAIN_PORT_FLAG, hdr.ipv4.version, hdr.ipv4.ihl,
                          hdr.ipv4.more_fragments, hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (0, 4, 5, 0, 0, PROTO_UDP): parse_udp;
            (0, _, _, _, _, _): accept;
            default: parse_plain;
        }
    }

    @likely state parse_plain {
        transition accept;
    }

    state parse_udp {
        packet.extract(hdr.udp);
        transition select(hdr.udp.dst) {
            PORT_GTPU: parse_gtpu;
            default: accept;
        }
    }

    /* TS 29.281 §5.1. Optional fields are taken with one session container and nothing else. */
    state parse_gtpu {
        packet.extract(hdr.gtpu);
        meta.user_offset = 50;
        transition select(hdr.gtpu.version, hdr.gtpu.protocol_type, hdr.gtpu.has_extension, hdr.gtpu.has_sequence,
                          hdr.gtpu.has_npdu, hdr.gtpu.message_type) {
            (1, 1, 0, 0, 0, GTPU_GPDU): parse_inner;
            (1, 1, 1, 0, 0, GTPU_GPDU): parse_gtpu_optional;
            default: accept;
        }
    }

    state parse_gtpu_optional {
        packet.extract(hdr.gtpu_optional);
        transition select(hdr.gtpu_optional.next_extension) {
            GTPU_EXT_PSC: parse_psc;
            default: accept;
        }
    }

    state parse_psc {
        packet.extract(hdr.gtpu_psc);
        meta.user_offset = 58;
        transition select(hdr.gtpu_psc.length, hdr.gtpu_psc.next_extension) {
            (1, GTPU_EXT_NONE): parse_inner;
            default: accept;
        }
    }

    state parse_inner {
        transition select(packet.lookahead<bit<4>>()) {
            4: parse_inner_ipv4;
            default: accept;
        }
    }

    @likely state parse_inner_ipv4 {
        packet.extract(hdr.inner_ipv4);
        transition accept;
    }
}

#define IPV4_FIELDS(h) { h.version, h.ihl, h.tos, h.total_length, h.identification, h.reserved, h.dont_fragment, \
                         h.more_fragments, h.fragment_offset, h.ttl, h.protocol, h.src, h.dst }

control CeupfVerifyChecksum(inout ceupf_headers_t hdr, inout ceupf_metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid(), IPV4_FIELDS(hdr.ipv4), hdr.ipv4.checksum, HashAlgorithm.csum16);
        verify_checksum(hdr.inner_ipv4.isValid(), IPV4_FIELDS(hdr.inner_ipv4), hdr.inner_ipv4.checksum,
                        HashAlgorithm.csum16);
    }
}

control CeupfIngress(inout ceupf_headers_t hdr, inout ceupf_metadata_t meta,
                     inout standard_metadata_t standard_metadata) {
    counter(RULES, CounterType.packets_and_bytes) rules;
    counter(WAYS, CounterType.packets_and_bytes) ways;

    action drop(Reason reason) {
        meta.reason = reason;
        mark_to_drop(standard_metadata);
        exit;
    }

    action forward(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    table gtp_default_forward {
        key = { standard_metadata.ingress_port: exact @name("port"); }
        actions = { forward; drop; }
        default_action = drop(Reason.unknown_port);
        size = 16;
    }

    table ip_default_forward {
        key = { standard_metadata.ingress_port: exact @name("port"); }
        actions = { forward; drop; }
        default_action = drop(Reason.unknown_port);
        size = 16;
    }

    action encapsulate(bit<32> rule, teid_t teid, ipv4_t tunnel_src, ipv4_t tunnel_dst, bit<16> next_hop) {
        meta.way = Way.encapsulate;
        meta.rule = rule;
        meta.teid = teid;
        meta.tunnel_src = tunnel_src;
        meta.tunnel_dst = tunnel_dst;
        meta.next_hop = next_hop;
    }

    action encapsulate_with_container(bit<32> rule, teid_t teid, ipv4_t tunnel_src, ipv4_t tunnel_dst,
                                      bit<16> next_hop, bit<8> qos) {
        encapsulate(rule, teid, tunnel_src, tunnel_dst, next_hop);
        meta.way = Way.encapsulate_with_container;
        meta.qos = qos;
    }

    table gtp_encap {
        key = {
            hdr.ipv4.dst: exact @name("ue");
            hdr.ipv4.src: optional @name("remote");
        }
        actions = { encapsulate; encapsulate_with_container; NoAction; }
        default_action = NoAction();
        size = RULES;
    }

    action decapsulate(bit<32> rule, bit<16> next_hop) {
        meta.way = Way.decapsulate;
        meta.rule = rule;
        meta.next_hop = next_hop;
    }

    table gtp_decap {
        key = {
            hdr.ipv4.dst: exact @name("upf");
            hdr.gtpu.teid: exact @name("teid");
            hdr.inner_ipv4.src: exact @name("ue");
            hdr.inner_ipv4.dst: optional @name("remote");
        }
        actions = { decapsulate; NoAction; }
        default_action = NoAction();
        size = RULES;
    }

    /* mtu: longest IP packet on the link, in bytes. */
    action send(bit<9> port, mac_t src_mac, mac_t dst_mac, bit<16> mtu) {
        meta.port = port;
        meta.src_mac = src_mac;
        meta.dst_mac = dst_mac;
        meta.mtu = (bit<32>)mtu;
    }

    table l2_forward {
        key = { meta.next_hop: exact; }
        actions = { send; NoAction; }
        default_action = NoAction();  // a link on which nothing fits
        size = 4096;
    }

    /* The router's duty to the TTL; the checksum by RFC 1624 equation 3, as in include/tunnel.p4. */
    action decrement(inout bit<8> ttl, inout bit<16> checksum) {
        ttl = ttl - 1;
        bit<17> sum = (bit<17>)checksum + 0x0100;
        checksum = sum >= 0xFFFF ? sum[15:0] + 1 : sum[15:0];
    }

    action leave() {
        standard_metadata.egress_spec = meta.port;
        hdr.ethernet.src = meta.src_mac;
        hdr.ethernet.dst = meta.dst_mac;
    }

    action put_in_tunnel(bit<16> gtpu_payload) {
        hdr.tunnel_ipv4.setValid();
        hdr.tunnel_ipv4.version = 4;
        hdr.tunnel_ipv4.ihl = 5;
        hdr.tunnel_ipv4.tos = 0;
        hdr.tunnel_ipv4.total_length = gtpu_payload + 36;
        hdr.tunnel_ipv4.identification = 0;
        hdr.tunnel_ipv4.reserved = 0;
        hdr.tunnel_ipv4.dont_fragment = 1;
        hdr.tunnel_ipv4.more_fragments = 0;
        hdr.tunnel_ipv4.fragment_offset = 0;
        hdr.tunnel_ipv4.ttl = 64;
        hdr.tunnel_ipv4.protocol = PROTO_UDP;
        hdr.tunnel_ipv4.checksum = 0;
        hdr.tunnel_ipv4.src = meta.tunnel_src;
        hdr.tunnel_ipv4.dst = meta.tunnel_dst;
        hdr.tunnel_udp.setValid();
        hdr.tunnel_udp.src = PORT_GTPU;
        hdr.tunnel_udp.dst = PORT_GTPU;
        hdr.tunnel_udp.length = gtpu_payload + 16;
        hdr.tunnel_udp.checksum = 0;
        hdr.tunnel_gtpu.setValid();
        hdr.tunnel_gtpu.version = 1;
        hdr.tunnel_gtpu.protocol_type = 1;
        hdr.tunnel_gtpu.spare = 0;
        hdr.tunnel_gtpu.has_extension = 0;
        hdr.tunnel_gtpu.has_sequence = 0;
        hdr.tunnel_gtpu.has_npdu = 0;
        hdr.tunnel_gtpu.message_type = GTPU_GPDU;
        hdr.tunnel_gtpu.length = gtpu_payload;
        hdr.tunnel_gtpu.teid = meta.teid;
    }

    action add_session_container() {
        hdr.tunnel_gtpu.has_extension = 1;
        hdr.tunnel_optional.setValid();
        hdr.tunnel_optional.sequence = 0;
        hdr.tunnel_optional.npdu = 0;
        hdr.tunnel_optional.next_extension = GTPU_EXT_PSC;
        hdr.tunnel_psc.setValid();
        hdr.tunnel_psc.length = 1;
        hdr.tunnel_psc.pdu_type = 0;
        hdr.tunnel_psc.spare = 0;
        hdr.tunnel_psc.qos = meta.qos;
        hdr.tunnel_psc.next_extension = GTPU_EXT_NONE;
    }

    action take_out_of_tunnel() {
        hdr.ipv4.setInvalid();
        hdr.udp.setInvalid();
        hdr.gtpu.setInvalid();
        hdr.gtpu_optional.setInvalid();
        hdr.gtpu_psc.setInvalid();
    }

    apply {
        // Is it one that a rule may take? Its rule, and the bytes that would leave.
        bit<32> out_length = 0;
        if (standard_metadata.parser_error == error.NoError && standard_metadata.checksum_error == 0
            && hdr.ethernet.dst[40:40] == 0) {
            if (standard_metadata.ingress_port == CORE_PORT && hdr.ipv4.isValid()) {
                meta.user_length = (bit<32>)hdr.ipv4.total_length;
                if (hdr.ipv4.version == 4 && hdr.ipv4.ihl == 5 && hdr.ipv4.ttl > 1 && meta.user_length >= 20
                    && meta.user_length + ETHERNET <= standard_metadata.packet_length) {
                    gtp_encap.apply();
                    out_length = meta.user_length + TUNNEL;
                    if (meta.way == Way.encapsulate_with_container) {
                        out_length = out_length + CONTAINER;
                    }
                }
            } else if (standard_metadata.ingress_port == ACCESS_PORT && hdr.inner_ipv4.isValid()) {
                meta.user_length = (bit<32>)hdr.inner_ipv4.total_length;
                bit<32> end = meta.user_length + (bit<32>)meta.user_offset;
                if (hdr.inner_ipv4.ihl == 5 && hdr.inner_ipv4.ttl > 1 && meta.user_length >= 20
                    && end <= standard_metadata.packet_length && end <= ETHERNET + (bit<32>)hdr.ipv4.total_length
                    && end <= 50 + (bit<32>)hdr.gtpu.length) {
                    gtp_decap.apply();
                    out_length = meta.user_length;
                }
            }
        }

        if (meta.way != Way.foreign) {
            l2_forward.apply();
            if (out_length > meta.mtu) {
                meta.way = Way.foreign;
            }
        }

        if (meta.way == Way.foreign) {
            if (hdr.gtpu.isValid()) {
                gtp_default_forward.apply();
            } else {
                ip_default_forward.apply();
            }
            if (standard_metadata.ingress_port == FOREIGN_ACCESS_PORT
                || standard_metadata.ingress_port == FOREIGN_CORE_PORT) {
                ways.count(WAY_FROM_FOREIGN);
            } else {
                ways.count(WAY_TO_FOREIGN);
            }
        } else {
            rules.count(meta.rule);
            leave();
            if (meta.way == Way.decapsulate) {
                ways.count(WAY_DECAPSULATED);
                decrement(hdr.inner_ipv4.ttl, hdr.inner_ipv4.checksum);
                take_out_of_tunnel();
            } else {
                ways.count(WAY_ENCAPSULATED);
                decrement(hdr.ipv4.ttl, hdr.ipv4.checksum);
                if (meta.way == Way.encapsulate) {
                    put_in_tunnel((bit<16>)meta.user_length);
                } else {
                    put_in_tunnel((bit<16>)(meta.user_length + CONTAINER));
                    add_session_container();
                }
            }
        }
    }
}

control CeupfEgress(inout ceupf_headers_t hdr, inout ceupf_metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    apply { }
}

control CeupfComputeChecksum(inout ceupf_headers_t hdr, inout ceupf_metadata_t meta) {
    apply {
        update_checksum(hdr.tunnel_ipv4.isValid(), IPV4_FIELDS(hdr.tunnel_ipv4), hdr.tunnel_ipv4.checksum,
                        HashAlgorithm.csum16);
    }
}

control CeupfDeparser(packet_out packet, in ceupf_headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.tunnel_ipv4);
        packet.emit(hdr.tunnel_udp);
        packet.emit(hdr.tunnel_gtpu);
        packet.emit(hdr.tunnel_optional);
        packet.emit(hdr.tunnel_psc);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.udp);
        packet.emit(hdr.gtpu);
        packet.emit(hdr.gtpu_optional);
        packet.emit(hdr.gtpu_psc);
        packet.emit(hdr.inner_ipv4);
    }
}

V1Switch(CeupfParser(), CeupfVerifyChecksum(), CeupfIngress(), CeupfEgress(), CeupfComputeChecksum(), CeupfDeparser()) main;
