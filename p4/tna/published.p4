/* Two programs of Singh et al. for the chip, for its Tables 4 and 5: UPF-Tofino, and with -D HEAVY the hybrid H-UPF, where only
 * flows that the detector of heavy hitters has named stay on the chip. Functions as in its Table 3, as far as Table 4 shows
 * that they took anything of the chip: no TCAM and no meters in UPF-Tofino, so routes are next hops by exact match.
 *
 * The table that grows with the UEs is the one by their IPv4 address: 32 bits of key, tunnel endpoint and peer's address as data
 * (sections 6.1.2 and 6.1.3). Its text is not published; this is ours.
 */
#include <core.p4>
#include <tna.p4>

#include "../include/headers.p4"
#include "ipg.p4"

#ifndef SESSIONS
#define SESSIONS 10240
#endif

const PortId_t X86_PORT = 64;
const bit<3> RESUBMIT_TAKE_SLOT = 1;

struct published_headers_t {
    ethernet_h ethernet;
    ipv4_h     tunnel_ipv4;
    udp_h      tunnel_udp;
    gtpu_h     tunnel_gtpu;
    ipv4_h     ipv4;
    ports_h    ports;
    udp_rest_h udp_rest;
    gtpu_h     gtpu;
    ipv4_h     inner_ipv4;
}

struct published_metadata_t {
    heavy_metadata_t heavy;
    bit<8>  route;
    bit<1>  downlink;
    teid_t  teid;
    ipv4_t  peer;
}

parser PublishedParser(packet_in packet, out published_headers_t hdr, out published_metadata_t meta,
                       out ingress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        meta.heavy.again = intrinsic.resubmit_flag;
        packet.advance(PORT_METADATA_SIZE);
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            ETHERTYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }

    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.ihl, hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (5, 0, PROTO_UDP): parse_udp;
            (5, 0, PROTO_TCP): parse_ports;
            default: accept;
        }
    }

    state parse_ports {
        packet.extract(hdr.ports);
        meta.heavy.counts = 1;
        transition accept;
    }

    state parse_udp {
        packet.extract(hdr.ports);
        meta.heavy.counts = 1;
        transition select(hdr.ports.dst) {
            PORT_GTPU: parse_gtpu;
            default: accept;
        }
    }

    state parse_gtpu {
        packet.extract(hdr.udp_rest);
        packet.extract(hdr.gtpu);
        packet.extract(hdr.inner_ipv4);
        transition accept;
    }
}

control Published(inout published_headers_t hdr, inout published_metadata_t meta, in ingress_intrinsic_metadata_t intrinsic,
                  in ingress_intrinsic_metadata_from_parser_t from_parser,
                  inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                  inout ingress_intrinsic_metadata_for_tm_t for_tm) {
#ifdef HEAVY
    Heavy() heavy;
#endif

    action drop() {
        for_deparser.drop_ctl = 1;
    }

    action ours(bit<8> route) {
        meta.route = route;
    }

    /* Uplink: an address of the UPF's. */
    table upf_ipv4 {
        key = { hdr.ipv4.dst: exact; }
        actions = { ours; drop; }
        default_action = drop();
        size = 64;
    }

    action ue(teid_t teid, ipv4_t peer) {
        meta.downlink = 1;
        meta.teid = teid;
        meta.peer = peer;
    }

    action to_x86() {
        for_tm.ucast_egress_port = X86_PORT;
        for_tm.bypass_egress = 1;
    }

    /* Downlink: the UE's address. What is not here goes to x86. */
    @split("horizontal")
    table ue_ipv4 {
        key = { hdr.ipv4.dst: exact; }
        actions = { ue; to_x86; }
        default_action = to_x86();
        size = SESSIONS;
    }

    action put_in_tunnel() {
        hdr.tunnel_ipv4.setValid();
        hdr.tunnel_ipv4.src = hdr.ipv4.src;
        hdr.tunnel_ipv4.dst = meta.peer;
        hdr.tunnel_ipv4.total_length = hdr.ipv4.total_length + 36;
        hdr.tunnel_udp.setValid();
        hdr.tunnel_udp.length = hdr.ipv4.total_length + 16;
        hdr.tunnel_gtpu.setValid();
        hdr.tunnel_gtpu.length = hdr.ipv4.total_length;
        hdr.tunnel_gtpu.teid = meta.teid;
    }

    action take_out() {
        hdr.ipv4.setInvalid();
        hdr.ports.setInvalid();
        hdr.udp_rest.setInvalid();
        hdr.gtpu.setInvalid();
    }

    action forward(PortId_t port, mac_t src, mac_t dst) {
        for_tm.ucast_egress_port = port;
        for_tm.bypass_egress = 1;
        hdr.ethernet.src = src;
        hdr.ethernet.dst = dst;
    }

    table next_hop {
        key = { meta.route: exact; }
        actions = { forward; drop; }
        default_action = drop();
        size = 64;
    }

    apply {
#ifdef HEAVY
        heavy.apply(hdr.ipv4, hdr.ports, meta.heavy, intrinsic, for_deparser);
#endif
        if (hdr.gtpu.isValid()) {
            upf_ipv4.apply();
            take_out();
            next_hop.apply();
        } else {
            ue_ipv4.apply();
            if (meta.downlink == 1) {
                put_in_tunnel();
            }
        }
    }
}

control PublishedDeparser(packet_out packet, inout published_headers_t hdr, in published_metadata_t meta,
                          in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    Resubmit(RESUBMIT_TAKE_SLOT) resubmit;
    apply {
        if (for_deparser.resubmit_type == RESUBMIT_TAKE_SLOT) {
            resubmit.emit();
        }
        packet.emit(hdr.ethernet);
        packet.emit(hdr.tunnel_ipv4);
        packet.emit(hdr.tunnel_udp);
        packet.emit(hdr.tunnel_gtpu);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ports);
        packet.emit(hdr.udp_rest);
        packet.emit(hdr.gtpu);
        packet.emit(hdr.inner_ipv4);
    }
}

struct published_nothing_t { }
struct published_none_t { }

parser PublishedEgressParser(packet_in packet, out published_nothing_t hdr, out published_none_t meta,
                             out egress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        transition accept;
    }
}

control PublishedEgress(inout published_nothing_t hdr, inout published_none_t meta, in egress_intrinsic_metadata_t intrinsic,
                        in egress_intrinsic_metadata_from_parser_t from_parser,
                        inout egress_intrinsic_metadata_for_deparser_t for_deparser,
                        inout egress_intrinsic_metadata_for_output_port_t for_port) {
    apply { }
}

control PublishedEgressDeparser(packet_out packet, inout published_nothing_t hdr, in published_none_t meta,
                                in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply { }
}

Pipeline(PublishedParser(), Published(), PublishedDeparser(),
         PublishedEgressParser(), PublishedEgress(), PublishedEgressDeparser()) pipe;

Switch(pipe) main;
