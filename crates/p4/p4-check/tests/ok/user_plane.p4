// The shape of a user plane: tunnels, sessions, rules, counters, meters, checksums.
#include <core.p4>
#include <v1model.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
header ipv4_t {
    bit<4> version; bit<4> ihl; bit<8> tos; bit<16> total_length; bit<16> id; bit<3> flags; bit<13> offset;
    bit<8> ttl; bit<8> protocol; bit<16> checksum; bit<32> src; bit<32> dst;
}
header udp_t { bit<16> sport; bit<16> dport; bit<16> length; bit<16> checksum; }
header gtpu_t { bit<3> version; bit<1> pt; bit<1> spare; bit<1> e; bit<1> s; bit<1> pn; bit<8> type; bit<16> length; bit<32> teid; }
struct headers_t { ethernet_t ethernet; ipv4_t outer_ipv4; udp_t udp; gtpu_t gtpu; ipv4_t ipv4; }

enum bit<8> reason_t { none = 0, no_pdr = 1, gate_closed = 2, mbr = 3 }
const bit<9> PUNT = 510;
struct metadata_t {
    @drop_reason reason_t reason;
    @mark bit<32> mark;
    @pdu_length bit<32> pdu_length;
    bit<32> far_id;
    bool uplink;
    bit<2> color;
    bit<8> qfi;
}

parser UpfParser(packet_in pkt, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    state start {
        pkt.extract(hdr.ethernet);
        transition select(hdr.ethernet.type) { 0x800: outer_ipv4; default: accept; }
    }
    state outer_ipv4 {
        pkt.extract(hdr.outer_ipv4);
        verify(hdr.outer_ipv4.version == 4, error.ParserInvalidArgument);
        transition select(hdr.outer_ipv4.protocol, hdr.outer_ipv4.ihl) {
            (17, 5): udp;
            (0x10 &&& 0xf0, 6..15): reject;
            (_, _): accept;
        }
    }
    state udp {
        pkt.extract(hdr.udp);
        transition select(hdr.udp.dport) { 2152: gtpu; _: accept; }
    }
    state gtpu {
        pkt.extract(hdr.gtpu);
        transition select(pkt.lookahead<bit<4>>()) { 4: ipv4; default: accept; }
    }
    state ipv4 { pkt.extract(hdr.ipv4); meta.pdu_length = (bit<32>) hdr.ipv4.total_length; transition accept; }
}

control UpfVerify(inout headers_t hdr, inout metadata_t meta) {
    apply {
        verify_checksum(hdr.outer_ipv4.isValid(),
            { hdr.outer_ipv4.version, hdr.outer_ipv4.ihl, hdr.outer_ipv4.tos, hdr.outer_ipv4.total_length, hdr.outer_ipv4.id,
              hdr.outer_ipv4.flags, hdr.outer_ipv4.offset, hdr.outer_ipv4.ttl, hdr.outer_ipv4.protocol, hdr.outer_ipv4.src,
              hdr.outer_ipv4.dst },
            hdr.outer_ipv4.checksum, HashAlgorithm.csum16);
    }
}

control UpfIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) {
    @pdu_length counter(1024, CounterType.packets_and_bytes) usage;
    @pdu_length meter(1024, MeterType.bytes) session_mbr;
    action drop(reason_t reason) { meta.reason = reason; mark_to_drop(std); }
    action set_session(bit<32> far_id, bit<8> qfi, bit<10> cell) {
        meta.far_id = far_id;
        meta.qfi = qfi;
        usage.count((bit<32>) cell);
    }
    action forward(bit<9> port) { std.egress_spec = port; }
    action punt() { std.egress_spec = PUNT; meta.mark = meta.far_id; }

    @split("horizontal")
    table pdr_by_teid {
        key = { hdr.gtpu.teid: exact @name("teid"); }
        actions = { set_session; @defaultonly drop; }
        default_action = drop(reason_t.no_pdr);
        size = 4096;
    }
    table pdr_by_ue { key = { hdr.outer_ipv4.dst: lpm; } actions = { set_session; NoAction; } }
    table far { key = { meta.far_id: exact; } actions = { forward; punt; drop; } const default_action = drop(reason_t.none); }
    table acl {
        key = { hdr.ipv4.src: ternary; hdr.udp.dport: range; hdr.ipv4.protocol: optional; }
        actions = { drop; NoAction; }
        const entries = {
            (0x0a000000 &&& 0xff000000, 1..100, 6): drop(reason_t.gate_closed);
            (_, 53, _): NoAction();
        }
    }
    apply {
        if (hdr.gtpu.isValid()) {
            meta.uplink = true;
            if (!pdr_by_teid.apply().hit) { return; }
        } else {
            switch (pdr_by_ue.apply().action_run) {
                set_session: { meta.uplink = false; }
                NoAction: { drop(reason_t.no_pdr); return; }
            }
        }
        session_mbr.execute_meter(meta.far_id, meta.color);
        if (meta.color == V1MODEL_METER_COLOR_RED) { drop(reason_t.mbr); }
        acl.apply();
        far.apply();
        if (meta.uplink) {
            hdr.outer_ipv4.setInvalid();
            hdr.udp.setInvalid();
            hdr.gtpu.setInvalid();
        } else {
            hdr.gtpu.setValid();
            hdr.gtpu = { 1, 1, 0, 0, 0, 0, 255, (bit<16>) meta.pdu_length, meta.far_id };
        }
        if (hdr.ipv4.isValid() && hdr.ipv4.ttl > 1) { hdr.ipv4.ttl = hdr.ipv4.ttl - 1; }
    }
}

control UpfEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t std) { apply { } }

control UpfCompute(inout headers_t hdr, inout metadata_t meta) {
    apply {
        update_checksum(hdr.ipv4.isValid(), { hdr.ipv4.version, hdr.ipv4.ihl, hdr.ipv4.ttl }, hdr.ipv4.checksum, HashAlgorithm.csum16);
        update_checksum_with_payload(hdr.udp.isValid(), { hdr.udp.sport, hdr.udp.dport }, hdr.udp.checksum, HashAlgorithm.csum16);
    }
}
control UpfDeparser(packet_out pkt, in headers_t hdr) { apply { pkt.emit(hdr); } }
V1Switch(UpfParser(), UpfVerify(), UpfIngress(), UpfEgress(), UpfCompute(), UpfDeparser()) main;
