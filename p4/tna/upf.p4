/* The part of the user plane function that a switch chip does (Tofino Native Architecture): IPv4 sessions of one PDR a direction
 * without SDF filters, in GTP-U or out of it. Everything else goes unchanged to the port behind which the whole UPF runs
 * (p4/upf.p4 on x86): what the parser does not take to its end, sessions that the chip does not hold, QERs with more
 * than one rate, buffering, signalling, IPv6, options, fragments.
 *
 * It is placed, not run: it shows what has room. Left out are the checks of lengths and addresses and the cut behind the user's packet
 * (../include/user.p4, enforce.p4, trim.p4), which whoever runs it on a switch must add: their parser states and gateways are not in the figures.
 *
 * Ingress decides and edits nothing but the way out: whose packet is it, has it a right to its source, its rate, its next hop.
 * Egress has stages and a header vector of its own: there the tunnel comes off or on. What egress must know goes in front of the
 * packet in a bridge header.
 *
 * Shared with p4/upf.p4: headers, metadata and Station. The tables of sessions have the same names as there, for
 * who fills both.
 */
#include <core.p4>
#include <tna.p4>

#include "standard.p4"
#include "../include/splitplane.p4"
#include "../include/headers.p4"
#include "../include/metadata.p4"
#include "../include/station.p4"
#include "tunnel.p4"

/* Sessions that the chip holds, tunnel peers, and next hops. */
#ifndef SESSIONS
#define SESSIONS 65536
#endif
#ifndef PEERS
#define PEERS 256
#endif
#ifndef ROUTES
#define ROUTES 1024
#endif

/* The port behind which the whole UPF runs. */
const PortId_t WHOLE_UPF_PORT = 64;

struct ingress_headers_t {
    bridge_h  bridge;
    headers_t upf;
}

struct ingress_metadata_t {
    standard_metadata_t standard;
    metadata_t upf;
    bit<1>  held;            // the chip has the session
    bit<8>  peer;
    bit<8>  colour;
}

/* ------------------------------------------------------------------------------------------------------------------------ */

parser IngressParser(packet_in packet, out ingress_headers_t hdr, out ingress_metadata_t meta,
                     out ingress_intrinsic_metadata_t intrinsic) {

    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        meta.standard.ingress_port = intrinsic.ingress_port;
        transition select(intrinsic.ingress_port) {
            PLAIN_PORT_FLAG &&& PLAIN_PORT_FLAG: parse_plain_ethernet;
            default: parse_ethernet;
        }
    }

    /* From N6: a UE's own packet, whatever is in it. */
    state parse_plain_ethernet {
        packet.extract(hdr.upf.ethernet);
        transition select(hdr.upf.ethernet.ethertype) {
            ETHERTYPE_IPV4: parse_plain_ipv4;
            default: accept;
        }
    }

    /* No options, no fragments. */
    state parse_plain_ipv4 {
        packet.extract(hdr.upf.ipv4);
        transition select(hdr.upf.ipv4.version, hdr.upf.ipv4.ihl, hdr.upf.ipv4.more_fragments, hdr.upf.ipv4.fragment_offset) {
            (4, 5, 0, 0): plain;
            default: accept;
        }
    }

    state plain {
        meta.upf.ip_version = 4;
        transition accept;
    }

    /* From N3 or N9: a tunnel's. */
    state parse_ethernet {
        packet.extract(hdr.upf.ethernet);
        transition select(hdr.upf.ethernet.ethertype) {
            ETHERTYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.upf.ipv4);
        transition select(hdr.upf.ipv4.version, hdr.upf.ipv4.ihl, hdr.upf.ipv4.more_fragments, hdr.upf.ipv4.fragment_offset,
                          hdr.upf.ipv4.protocol) {
            (4, 5, 0, 0, PROTO_UDP): parse_udp;
            default: accept;
        }
    }

    state parse_udp {
        packet.extract(hdr.upf.ports);
        packet.extract(hdr.upf.udp_rest);
        transition select(hdr.upf.ports.dst) {
            PORT_GTPU: parse_gtpu;
            default: accept;
        }
    }

    state parse_gtpu {
        packet.extract(hdr.upf.gtpu);
        transition select(hdr.upf.gtpu.version, hdr.upf.gtpu.protocol_type, hdr.upf.gtpu.has_extension,
                          hdr.upf.gtpu.has_sequence, hdr.upf.gtpu.has_npdu, hdr.upf.gtpu.message_type) {
            (1, 1, 0, 0, 0, GTPU_GPDU): parse_user;
            (1, 1, 1, 0, 0, GTPU_GPDU): parse_gtpu_optional;
            default: accept;
        }
    }

    state parse_gtpu_optional {
        packet.extract(hdr.upf.gtpu_optional);
        transition select(hdr.upf.gtpu_optional.next_extension) {
            GTPU_EXT_PSC: parse_psc;
            default: accept;
        }
    }

    /* One container of one unit, and nothing behind it. */
    state parse_psc {
        packet.extract(hdr.upf.gtpu_psc);
        transition select(hdr.upf.gtpu_psc.length, hdr.upf.gtpu_psc.next_extension) {
            (1, GTPU_EXT_NONE): parse_user;
            default: accept;
        }
    }

    state parse_user {
        transition select(packet.lookahead<bit<8>>()) {
            0x45: parse_inner_ipv4;
            default: accept;
        }
    }

    state parse_inner_ipv4 {
        packet.extract(hdr.upf.inner_ipv4);
        transition accept;
    }
}

/* Whose is it: the only table of each direction that grows with the number of sessions. An entry carries the whole rule. */
control FastSession(inout headers_t hdr, inout ingress_metadata_t meta) {
    DirectCounter<bit<36>>(CounterType_t.PACKETS_AND_BYTES) uplink_usage;
    DirectCounter<bit<36>>(CounterType_t.PACKETS_AND_BYTES) downlink_usage;
    DirectMeter(MeterType_t.BYTES) uplink_mbr;
    DirectMeter(MeterType_t.BYTES) downlink_mbr;

    action miss() { }

    /* Out of the tunnel, to N6. */
    action decapsulate(ipv4_t ue_ipv4) {
        meta.held = 1;
        meta.upf.ue_ipv4 = ue_ipv4;
        meta.upf.encapsulation = Encapsulation.none;
        meta.colour = uplink_mbr.execute();
        uplink_usage.count();
    }

    @split("horizontal")
    table pdr_by_teid {
        key = {
            hdr.ipv4.dst: exact @name("endpoint");
            hdr.gtpu.teid: exact @name("teid");
        }
        actions = { decapsulate; @defaultonly miss; }
        default_action = miss();
        counters = uplink_usage;
        meters = uplink_mbr;
        size = SESSIONS;
    }

    /* Into the tunnel, to N3 or N9. */
    action encapsulate(teid_t teid, bit<8> peer, bit<8> psc_qos) {
        meta.held = 1;
        meta.peer = peer;
        meta.upf.encapsulation = Encapsulation.psc_downlink;
        meta.upf.tunnel_teid = teid;
        meta.upf.psc_qos = psc_qos;
        meta.colour = downlink_mbr.execute();
        downlink_usage.count();
    }

    @split("horizontal")
    table pdr_by_ue_ipv4 {
        key = {
            meta.upf.vrf: exact @name("vrf");
            hdr.ipv4.dst: exact @name("ue");
        }
        actions = { encapsulate; @defaultonly miss; }
        default_action = miss();
        counters = downlink_usage;
        meters = downlink_mbr;
        size = SESSIONS;
    }

    apply {
        if (hdr.inner_ipv4.isValid()) {
            pdr_by_teid.apply();
        } else if (meta.upf.ip_version == 4) {
            pdr_by_ue_ipv4.apply();
        }
    }
}

/* Where to: the peer's address for what goes into a tunnel, then a prefix, then the next hop. */
control FastRoute(inout headers_t hdr, inout ingress_metadata_t meta) {

    action tunnel(ipv4_t src, ipv4_t dst, bit<16> nexthop) {
        meta.upf.tunnel_src = src;
        meta.upf.tunnel_dst = dst;
        meta.upf.nexthop = nexthop;
    }

    action set_nexthop(bit<16> nexthop) {
        meta.upf.nexthop = nexthop;
    }

    action unknown() {
        meta.held = 0;
    }

    table tunnel_peer {
        key = { meta.peer: exact; }
        actions = { tunnel; unknown; }
        default_action = unknown();
        size = PEERS;
    }

    table route_ipv4 {
        key = {
            meta.upf.vrf: exact @name("vrf");
            hdr.inner_ipv4.dst: lpm @name("destination");
        }
        actions = { set_nexthop; unknown; }
        default_action = unknown();
        size = ROUTES;
    }

    action send(bit<9> port, mac_t src_mac, mac_t dst_mac) {
        meta.standard.egress_spec = port;
        hdr.ethernet.src = src_mac;
        hdr.ethernet.dst = dst_mac;
    }

    table nexthop {
        key = { meta.upf.nexthop: exact; }
        actions = { send; unknown; }
        default_action = unknown();
        size = 1024;
    }

    apply {
        if (meta.upf.encapsulation == Encapsulation.none) {
            route_ipv4.apply();
        } else {
            tunnel_peer.apply();
        }
        if (meta.held == 1) {
            nexthop.apply();
        }
    }
}

control Ingress(inout ingress_headers_t hdr, inout ingress_metadata_t meta, in ingress_intrinsic_metadata_t intrinsic,
                in ingress_intrinsic_metadata_from_parser_t from_parser,
                inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    Station() station;
    FastSession() session;
    FastRoute() route;

    /* Unchanged, past egress. */
    action hand_on() {
        for_tm.ucast_egress_port = WHOLE_UPF_PORT;
        for_tm.bypass_egress = 1;
    }

    action bridge() {
        hdr.bridge.setValid();
        hdr.bridge.encapsulation = meta.upf.encapsulation;
        hdr.bridge.psc_qos = meta.upf.psc_qos;
        hdr.bridge.tunnel_tos = 0;
        hdr.bridge.out_length = hdr.upf.ipv4.total_length + TUNNEL_BYTES;
        hdr.bridge.tunnel_teid = meta.upf.tunnel_teid;
        hdr.bridge.tunnel_dst = meta.upf.tunnel_dst;
        hdr.bridge.tunnel_src = meta.upf.tunnel_src;
        for_tm.ucast_egress_port = meta.standard.egress_spec;
    }

    apply {
        station.apply(hdr.upf, meta.upf, meta.standard);      // is it for us
        session.apply(hdr.upf, meta);                         // whose is it
        if (meta.held == 1) {
            route.apply(hdr.upf, meta);                       // where to
        }
        if (meta.standard.egress_spec == DROP_PORT) {
            for_deparser.drop_ctl = 1;
        } else if (meta.held == 0) {
            hand_on();
        } else if (meta.colour == 3) {
            for_deparser.drop_ctl = 1;                        // rate exceeded
        } else if (hdr.upf.inner_ipv4.isValid() && meta.upf.ue_ipv4 != hdr.upf.inner_ipv4.src) {
            for_deparser.drop_ctl = 1;                        // source spoofed
        } else {
            bridge();
        }
    }
}

control IngressDeparser(packet_out packet, inout ingress_headers_t hdr, in ingress_metadata_t meta,
                        in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply {
        packet.emit(hdr.bridge);
        packet.emit(hdr.upf.ethernet);
        packet.emit(hdr.upf.ipv4);
        packet.emit(hdr.upf.ports);
        packet.emit(hdr.upf.udp_rest);
        packet.emit(hdr.upf.gtpu);
        packet.emit(hdr.upf.gtpu_optional);
        packet.emit(hdr.upf.gtpu_psc);
        packet.emit(hdr.upf.inner_ipv4);
    }
}

/* ------------------------------------------------------------------------------------------------------------------------ */

struct egress_headers_t {
    bridge_h  bridge;
    headers_t upf;
}

struct egress_metadata_t { }

parser EgressParser(packet_in packet, out egress_headers_t hdr, out egress_metadata_t meta,
                    out egress_intrinsic_metadata_t intrinsic) {

    state start {
        packet.extract(intrinsic);
        packet.extract(hdr.bridge);
        packet.extract(hdr.upf.ethernet);
        packet.extract(hdr.upf.ipv4);
        transition select(hdr.bridge.encapsulation) {
            Encapsulation.none: parse_tunnel;
            default: accept;
        }
    }

    /* Ingress has seen that it is one. */
    state parse_tunnel {
        packet.extract(hdr.upf.ports);
        packet.extract(hdr.upf.udp_rest);
        packet.extract(hdr.upf.gtpu);
        transition select(hdr.upf.gtpu.has_extension) {
            1: parse_psc;
            default: parse_inner_ipv4;
        }
    }

    state parse_psc {
        packet.extract(hdr.upf.gtpu_optional);
        packet.extract(hdr.upf.gtpu_psc);
        transition parse_inner_ipv4;
    }

    state parse_inner_ipv4 {
        packet.extract(hdr.upf.inner_ipv4);
        transition accept;
    }
}

control Egress(inout egress_headers_t hdr, inout egress_metadata_t meta, in egress_intrinsic_metadata_t intrinsic,
               in egress_intrinsic_metadata_from_parser_t from_parser,
               inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_port) {
    FastTunnel() tunnel;

    apply {
        tunnel.apply(hdr.upf, hdr.bridge, for_deparser);
    }
}

control EgressDeparser(packet_out packet, inout egress_headers_t hdr, in egress_metadata_t meta,
                       in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    Checksum() tunnel_checksum;
    Checksum() ipv4_checksum;
    Checksum() inner_ipv4_checksum;

    /* The tunnel's, and the user's, whose TTL has changed. */
    apply {
        if (hdr.upf.tunnel_ipv4.isValid()) {
            hdr.upf.tunnel_ipv4.checksum = tunnel_checksum.update(IPV4_FIELDS(hdr.upf.tunnel_ipv4));
        }
        if (hdr.upf.ipv4.isValid()) {
            hdr.upf.ipv4.checksum = ipv4_checksum.update(IPV4_FIELDS(hdr.upf.ipv4));
        }
        if (hdr.upf.inner_ipv4.isValid()) {
            hdr.upf.inner_ipv4.checksum = inner_ipv4_checksum.update(IPV4_FIELDS(hdr.upf.inner_ipv4));
        }
        packet.emit(hdr.upf.ethernet);
        packet.emit(hdr.upf.tunnel_ipv4);
        packet.emit(hdr.upf.tunnel_udp);
        packet.emit(hdr.upf.tunnel_gtpu);
        packet.emit(hdr.upf.tunnel_optional);
        packet.emit(hdr.upf.tunnel_psc);
        packet.emit(hdr.upf.ipv4);
        packet.emit(hdr.upf.ports);
        packet.emit(hdr.upf.udp_rest);
        packet.emit(hdr.upf.gtpu);
        packet.emit(hdr.upf.gtpu_optional);
        packet.emit(hdr.upf.gtpu_psc);
        packet.emit(hdr.upf.inner_ipv4);
    }
}

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser()) pipe;

Switch(pipe) main;
