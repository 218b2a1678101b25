/* Frames of N3 (ports 0 to 127) and of the radio (ports from 128): how far the headers go. What is behind them is payload, and services see it. */
#ifndef GNB_PARSER_P4
#define GNB_PARSER_P4

/* Port numbers say what is behind them: see splitplane.p4. */
const bit<9> RADIO_PORT_FLAG = PLAIN_PORT_FLAG;

parser GnbParser(packet_in packet, out gnb_headers_t hdr, inout gnb_metadata_t meta,
                 inout standard_metadata_t standard_metadata) {

    state start {
#ifdef STEP
        transition parse_ethernet;
#elif defined(FRONT)
        transition parse_ethernet;
#else
        transition select(standard_metadata.ingress_port) {
            SERVICE_PORT: parse_buffer;
            default: parse_ethernet;
        }
    }

    state parse_buffer {
        packet.extract(hdr.buffer);
        transition accept;
#endif
    }

    state parse_ethernet {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            ETHERTYPE_IPV4: parse_ipv4;
            default: accept;
        }
    }

    /* Neither tunnels nor radio links have options or fragments. */
    state parse_ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.more_fragments, hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (4, 5, 0, 0, PROTO_UDP): parse_udp;
            default: accept;
        }
    }

    state parse_udp {
        packet.extract(hdr.udp);
        transition select(standard_metadata.ingress_port & RADIO_PORT_FLAG, hdr.udp.dst) {
            (0, PORT_GTPU): parse_gtpu;
            (RADIO_PORT_FLAG, _): parse_framing;
            default: accept;
        }
    }

    /* TS 29.281 §5.1. */
    state parse_gtpu {
        packet.extract(hdr.gtpu);
        transition select(hdr.gtpu.version, hdr.gtpu.protocol_type, hdr.gtpu.has_extension, hdr.gtpu.has_sequence, hdr.gtpu.has_npdu) {
            (1, 1, 0, 0, 0): accept;
            (1, 1, _, _, _): parse_gtpu_optional;
            default: accept;
        }
    }

    state parse_gtpu_optional {
        packet.extract(hdr.gtpu_optional);
        transition select(hdr.gtpu.message_type, hdr.gtpu.has_extension, hdr.gtpu_optional.next_extension) {
            (GTPU_GPDU, 1, GTPU_EXT_PSC): parse_psc;
            default: accept;
        }
    }

    @likely state parse_psc {
        packet.extract(hdr.gtpu_psc);
        transition accept;
    }

    /* RLC's own header stays in the payload: what it means depends on the receiving window, which is the service's. One byte tells data from control. */
    @likely state parse_framing {
        packet.extract(hdr.framing);
        meta.rlc_first = packet.lookahead<bit<8>>();
        transition accept;
    }
}

control GnbDeparser(packet_out packet, in gnb_headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.udp);
        packet.emit(hdr.gtpu);
        packet.emit(hdr.gtpu_optional);
        packet.emit(hdr.gtpu_psc);
        packet.emit(hdr.framing);
        packet.emit(hdr.rlc_am12);
        packet.emit(hdr.rlc_am18);
        packet.emit(hdr.rlc_um);
        packet.emit(hdr.rlc_um12);
        packet.emit(hdr.rlc_so);
        packet.emit(hdr.pdcp12);
        packet.emit(hdr.pdcp18);
        packet.emit(hdr.sdap);
    }
}

control GnbVerifyChecksum(inout gnb_headers_t hdr, inout gnb_metadata_t meta) {
    apply {
        verify_checksum(hdr.ipv4.isValid() && hdr.ipv4.ihl == 5, IPV4_FIELDS(hdr.ipv4), hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

control GnbComputeChecksum(inout gnb_headers_t hdr, inout gnb_metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(), IPV4_FIELDS(hdr.ipv4), hdr.ipv4.checksum, HashAlgorithm.csum16);
    }
}

#endif
