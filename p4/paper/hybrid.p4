/* The chip's program of the first paper's Tables 4 and 5, as far as the paper tells: the thin downlink of its Table 3, the
 * inter-packet-gap detector, or both. For the model of a chip (`splitplane plan`, `splitplane reproduce`); the UPF that is run
 * is upf.p4.
 *
 * With UPF: Ethernet and outer L3 by exact match, UE address, GTP-U encapsulation, next hop by exact match. The paper's table
 * has no TCAM and no meter ALU for its UPF-Tofino, so firewall, meters, classes and prefixes of its Table 3 were not in the
 * program that was measured, and are not here.
 * With IPG: the detector as released (five registers of 2048 cells, the steps of its evidence in a table; a flow takes a slot in
 * a second pass of its packet). Its program is told apart from the forwarding by a table on the ports, as a switch's is.
 * Each register is read, worked on and written in one go, which is what a stateful ALU does.
 */
#include <core.p4>
#include <v1model.p4>

#include "../include/splitplane.p4"
#include "../include/headers.p4"

#ifndef UES
#define UES 10000
#endif

const bit<32> RESUBMITTED = 6;

struct hybrid_headers_t {
    ethernet_h ethernet;
    ipv4_h     tunnel_ipv4;
    udp_h      tunnel_udp;
    gtpu_h     tunnel_gtpu;
    ipv4_h     ipv4;
    ports_h    ports;
}

struct hybrid_metadata_t {
    bit<1>  ours;
    bit<1>  held;        // the UE's tunnel is on the chip
    bit<1>  heavy;
    bit<16> peer;        // the base station
    teid_t  teid;

    bit<32> flow;
    bit<16> slot;
    bit<16> now;
    bit<1>  used;        // somebody has the slot
    bit<1>  again;       // the packet's second pass
    bit<1>  mine;
    bit<32> holder;
    bit<16> then;
    bit<16> gap;         // between this packet and the one before
    bit<16> weighted;
    bit<16> step;
    bit<16> evidence;
}

parser HybridParser(packet_in packet, out hybrid_headers_t hdr, inout hybrid_metadata_t meta,
                    inout standard_metadata_t standard_metadata) {
    state start {
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
        transition accept;
    }
}

control HybridVerifyChecksum(inout hybrid_headers_t hdr, inout hybrid_metadata_t meta) {
    apply { }
}

#ifdef IPG
/* Who is heavy. */
control Gaps(inout hybrid_headers_t hdr, inout hybrid_metadata_t meta, inout standard_metadata_t standard_metadata) {
    register<bit<1>>(2048)  used;
    register<bit<32>>(2048) flows;
    register<bit<16>>(2048) last;
    register<bit<16>>(2048) gaps;
    register<bit<16>>(2048) taus;

    action step(bit<16> by) {
        meta.step = by;
    }

    table steps {
        key = { meta.weighted: exact; }
        actions = { step; NoAction; }
        default_action = NoAction();
        size = 1600;
    }

    /* As the published program decides on which side of the threshold a gap is. */
    action light() {
        meta.heavy = 0;
    }

    action heavy() {
        meta.heavy = 1;
    }

    table threshold {
        key = { meta.evidence: range; }
        actions = { heavy; light; }
        default_action = light();
        size = 8;
    }

    apply {
        hash(meta.flow, HashAlgorithm.crc32, 32w0,
             { hdr.ipv4.src, hdr.ipv4.dst, hdr.ipv4.protocol, hdr.ports.src, hdr.ports.dst }, 64w0x1_0000_0000);
        hash(meta.slot, HashAlgorithm.crc32, 16w0,
             { hdr.ipv4.src, hdr.ipv4.dst, hdr.ipv4.protocol, hdr.ports.src, hdr.ports.dst }, 64w2048);
        meta.now = (bit<16>)standard_metadata.ingress_global_timestamp[21:10] & 0x0fff;
        if (standard_metadata.instance_type == RESUBMITTED) {
            meta.again = 1;
        }

        {
            used.read(meta.used, (bit<32>)meta.slot);
            used.write((bit<32>)meta.slot, 1);
        }
        {
            flows.read(meta.holder, (bit<32>)meta.slot);
            if (meta.used == 0 || meta.again == 1) {
                flows.write((bit<32>)meta.slot, meta.flow);
            }
        }
        if (meta.holder == meta.flow || meta.used == 0 || meta.again == 1) {
            meta.mine = 1;
        }
        {
            last.read(meta.then, (bit<32>)meta.slot);
            if (meta.mine == 1) {
                last.write((bit<32>)meta.slot, meta.now);
            }
        }
        meta.gap = meta.now - meta.then;
        meta.gap = meta.gap & 0x0fff;
        meta.gap = meta.gap >> 4;
        {
            bit<16> cell;
            gaps.read(cell, (bit<32>)meta.slot);
            meta.weighted = cell;
            if (meta.mine == 1) {
                cell = cell + meta.gap;
            } else {
                cell = cell + 20;
            }
            gaps.write((bit<32>)meta.slot, cell);
        }
        steps.apply();
        {
            taus.read(meta.evidence, (bit<32>)meta.slot);
            if (meta.evidence > 300) {
                taus.write((bit<32>)meta.slot, 0);
            } else {
                taus.write((bit<32>)meta.slot, meta.evidence + meta.step);
            }
        }
        threshold.apply();
        if (meta.mine == 0 && meta.weighted > 1600) {
            resubmit_preserving_field_list(0);
        }
    }
}
#endif

control HybridIngress(inout hybrid_headers_t hdr, inout hybrid_metadata_t meta, inout standard_metadata_t standard_metadata) {
#ifdef IPG
    Gaps() detector;
#endif

    action forward(bit<9> port) {
        standard_metadata.egress_spec = port;
    }

    action drop() {
        mark_to_drop(standard_metadata);
    }

#ifdef UPF
    action is_ours() {
        meta.ours = 1;
    }

    /* Ethernet and the tunnel's side. */
    table l2 {
        key = { hdr.ethernet.dst: exact; }
        actions = { is_ours; forward; NoAction; }
        default_action = NoAction();
        size = 1024;
    }

    action tunnel(teid_t teid, bit<16> peer) {
        meta.held = 1;
        meta.teid = teid;
        meta.peer = peer;
    }

    /* What Table 5 counts: UEs by their address. */
    @split("horizontal")
    table gtp_encap {
        key = { hdr.ipv4.dst: exact; }
        actions = { tunnel; NoAction; }
        default_action = NoAction();
        size = UES;
    }

    action send(bit<9> port, mac_t src_mac, mac_t dst_mac, ipv4_t src, ipv4_t dst) {
        standard_metadata.egress_spec = port;
        hdr.ethernet.src = src_mac;
        hdr.ethernet.dst = dst_mac;
        hdr.tunnel_ipv4.setValid();
        hdr.tunnel_ipv4.version = 4;
        hdr.tunnel_ipv4.ihl = 5;
        hdr.tunnel_ipv4.tos = 0;
        hdr.tunnel_ipv4.identification = 0;
        hdr.tunnel_ipv4.reserved = 0;
        hdr.tunnel_ipv4.dont_fragment = 1;
        hdr.tunnel_ipv4.more_fragments = 0;
        hdr.tunnel_ipv4.fragment_offset = 0;
        hdr.tunnel_ipv4.ttl = 64;
        hdr.tunnel_ipv4.protocol = PROTO_UDP;
        hdr.tunnel_ipv4.checksum = 0;
        hdr.tunnel_ipv4.total_length = hdr.ipv4.total_length + 36;
        hdr.tunnel_ipv4.src = src;
        hdr.tunnel_ipv4.dst = dst;
        hdr.tunnel_udp.setValid();
        hdr.tunnel_udp.src = PORT_GTPU;
        hdr.tunnel_udp.dst = PORT_GTPU;
        hdr.tunnel_udp.length = hdr.ipv4.total_length + 16;
        hdr.tunnel_udp.checksum = 0;
        hdr.tunnel_gtpu.setValid();
        hdr.tunnel_gtpu.version = 1;
        hdr.tunnel_gtpu.protocol_type = 1;
        hdr.tunnel_gtpu.spare = 0;
        hdr.tunnel_gtpu.has_extension = 0;
        hdr.tunnel_gtpu.has_sequence = 0;
        hdr.tunnel_gtpu.has_npdu = 0;
        hdr.tunnel_gtpu.message_type = GTPU_GPDU;
        hdr.tunnel_gtpu.length = hdr.ipv4.total_length;
        hdr.tunnel_gtpu.teid = meta.teid;
    }

    table peers {
        key = { meta.peer: exact; }
        actions = { send; drop; }
        default_action = drop();
        size = 256;
    }
#endif

    /* Where to without a tunnel here: the x86 behind the chip. */
    table ports {
        key = { standard_metadata.ingress_port: exact; }
        actions = { forward; drop; }
        default_action = drop();
        size = 64;
    }

    apply {
#ifdef UPF
        l2.apply();
        gtp_encap.apply();
#endif
#ifdef IPG
        detector.apply(hdr, meta, standard_metadata);
#endif
#ifdef UPF
        if (meta.held == 1) {
            peers.apply();
        } else {
            ports.apply();
        }
#else
        ports.apply();
#endif
    }
}

control HybridEgress(inout hybrid_headers_t hdr, inout hybrid_metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

control HybridComputeChecksum(inout hybrid_headers_t hdr, inout hybrid_metadata_t meta) {
    apply {
        update_checksum(hdr.tunnel_ipv4.isValid(),
                        { hdr.tunnel_ipv4.version, hdr.tunnel_ipv4.ihl, hdr.tunnel_ipv4.tos, hdr.tunnel_ipv4.total_length,
                          hdr.tunnel_ipv4.identification, hdr.tunnel_ipv4.reserved, hdr.tunnel_ipv4.dont_fragment,
                          hdr.tunnel_ipv4.more_fragments, hdr.tunnel_ipv4.fragment_offset, hdr.tunnel_ipv4.ttl,
                          hdr.tunnel_ipv4.protocol, hdr.tunnel_ipv4.src, hdr.tunnel_ipv4.dst },
                        hdr.tunnel_ipv4.checksum, HashAlgorithm.csum16);
    }
}

control HybridDeparser(packet_out packet, in hybrid_headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.tunnel_ipv4);
        packet.emit(hdr.tunnel_udp);
        packet.emit(hdr.tunnel_gtpu);
        packet.emit(hdr.ipv4);
        packet.emit(hdr.ports);
    }
}

V1Switch(HybridParser(), HybridVerifyChecksum(), HybridIngress(), HybridEgress(), HybridComputeChecksum(), HybridDeparser()) main;
