/* What the detectors share: frames of flows, a flow's number, and what becomes of packets.
 *
 * A flow is an IPv4 5-tuple; ports are zero where there are none, and behind fragments. What is not IPv4 passes unseen.
 * Packets leave by their port's neighbour, as with P4Wire; the packet that makes a flow heavy is punted, with the
 * detector's estimate as its mark: whoever takes it installs the flow on the fast path and sends it on (Singh et al.
 * §5.4).
 */
#ifndef FLOW_P4
#define FLOW_P4

#include "../include/splitplane.p4"

enum bit<8> Reason { none = 0, heavy = 1 }

header ethernet_h {
    bit<48> dst;
    bit<48> src;
    bit<16> ethertype;
}

header ipv4_h {
    bit<4>  version;
    bit<4>  ihl;
    bit<8>  tos;
    bit<16> total_length;
    bit<16> identification;
    bit<3>  flags;
    bit<13> fragment_offset;
    bit<8>  ttl;
    bit<8>  protocol;
    bit<16> checksum;
    bit<32> src;
    bit<32> dst;
}

header ipv4_options_h {
    varbit<320> options;
}

header ports_h {
    bit<16> src;
    bit<16> dst;
}

struct headers_t {
    ethernet_h     ethernet;
    ipv4_h         ipv4;
    ipv4_options_h options;
    ports_h        ports;
}

struct metadata_t {
    bit<1>  is_flow;
    bit<1>  is_heavy;
    bit<16> src_port;
    bit<16> dst_port;
    bit<32> flow;            // CRC-32 of the 5-tuple

    @drop_reason
    Reason  reason;
    @mark
    bit<32> mark;
}

parser FlowParser(packet_in packet, out headers_t hdr, inout metadata_t meta,
                  inout standard_metadata_t standard_metadata) {
    state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            0x0800: ipv4;
            default: accept;
        }
    }

    state ipv4 {
        packet.extract(hdr.ipv4);
        transition select(hdr.ipv4.version, hdr.ipv4.ihl) {
            (4, 5): transport;
            (4, 6 .. 15): options;
            default: accept;
        }
    }

    state options {
        packet.extract(hdr.options, ((bit<32>)hdr.ipv4.ihl - 5) << 5);
        transition transport;
    }

    state transport {
        meta.is_flow = 1;
        transition select(hdr.ipv4.fragment_offset, hdr.ipv4.protocol) {
            (0, 6): ports;
            (0, 17): ports;
            (0, 132): ports;
            default: accept;
        }
    }

    state ports {
        packet.extract(hdr.ports);
        meta.src_port = hdr.ports.src;
        meta.dst_port = hdr.ports.dst;
        transition accept;
    }
}

/* Numbers the flow. */
control FlowNumber(in headers_t hdr, inout metadata_t meta) {
    apply {
        hash(meta.flow, HashAlgorithm.crc32, 32w0,
             { hdr.ipv4.src, hdr.ipv4.dst, hdr.ipv4.protocol, meta.src_port, meta.dst_port }, 64w0x1_0000_0000);
    }
}

control FlowOut(inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (meta.is_heavy == 1) {
            meta.reason = Reason.heavy;
            standard_metadata.egress_spec = PUNT_PORT;
        } else {
            standard_metadata.egress_spec = standard_metadata.ingress_port ^ 1;
        }
    }
}

control FlowVerifyChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control FlowEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control FlowComputeChecksum(inout headers_t hdr, inout metadata_t meta) {
    apply { }
}

control FlowDeparser(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr);
    }
}

#endif
