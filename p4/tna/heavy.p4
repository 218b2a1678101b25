/* A wire with the detector of heavy hitters on it (ipg.p4), and nothing else: what the detector alone takes of a chip. */
#include <core.p4>
#include <tna.p4>

#include "../include/headers.p4"
#include "ipg.p4"

struct heavy_headers_t {
    ethernet_h ethernet;
    ipv4_h     ipv4;
    ports_h    ports;
}

struct heavy_report_t {
    bit<32> flow;
    ipv4_t  src;
    ipv4_t  dst;
}

parser HeavyIngressParser(packet_in packet, out heavy_headers_t hdr, out heavy_metadata_t meta,
                          out ingress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        meta.again = intrinsic.resubmit_flag;
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
            (5, 0, PROTO_TCP): parse_ports;
            (5, 0, PROTO_UDP): parse_ports;
            default: accept;
        }
    }

    state parse_ports {
        packet.extract(hdr.ports);
        meta.counts = 1;
        transition accept;
    }
}

control HeavyIngress(inout heavy_headers_t hdr, inout heavy_metadata_t meta, in ingress_intrinsic_metadata_t intrinsic,
                     in ingress_intrinsic_metadata_from_parser_t from_parser,
                     inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                     inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    Heavy() heavy;

    /* A wire with a detector on it: ports 2n and 2n+1 are its ends. */
    action forward(PortId_t port) {
        for_tm.ucast_egress_port = port;
        for_tm.bypass_egress = 1;
    }

    table wire {
        key = { intrinsic.ingress_port: exact; }
        actions = { forward; @defaultonly NoAction; }
        default_action = NoAction();
        size = 512;
    }

    apply {
        wire.apply();
        heavy.apply(hdr.ipv4, hdr.ports, meta, intrinsic, for_deparser);
    }
}

control HeavyIngressDeparser(packet_out packet, inout heavy_headers_t hdr, in heavy_metadata_t meta,
                             in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    Resubmit(RESUBMIT_TAKE) resubmit;
    Digest<heavy_report_t>(DIGEST_HEAVY) report;

    apply {
        if (for_deparser.resubmit_type == RESUBMIT_TAKE) {
            resubmit.emit();
        }
        if (for_deparser.digest_type == DIGEST_HEAVY) {
            report.pack({ meta.flow, hdr.ipv4.src, hdr.ipv4.dst });
        }
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ports);
    }
}

/* Nothing is left for egress: packets go past it. */
struct no_headers_t { }
struct no_metadata_t { }

parser HeavyEgressParser(packet_in packet, out no_headers_t hdr, out no_metadata_t meta,
                         out egress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        transition accept;
    }
}

control HeavyEgress(inout no_headers_t hdr, inout no_metadata_t meta, in egress_intrinsic_metadata_t intrinsic,
                    in egress_intrinsic_metadata_from_parser_t from_parser,
                    inout egress_intrinsic_metadata_for_deparser_t for_deparser,
                    inout egress_intrinsic_metadata_for_output_port_t for_port) {
    apply { }
}

control HeavyEgressDeparser(packet_out packet, inout no_headers_t hdr, in no_metadata_t meta,
                            in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply { }
}

Pipeline(HeavyIngressParser(), HeavyIngress(), HeavyIngressDeparser(),
         HeavyEgressParser(), HeavyEgress(), HeavyEgressDeparser()) pipe;

Switch(pipe) main;
