/* Packets of two classes, those with a tag and those without: a tag is taken off or put on by a rule, and packets are metered. */
#include <core.p4>
#include <v1model.p4>

header ethernet_t {
    bit<48> dst;
    bit<48> src;
    bit<16> ethertype;
}

header tag_t {
    bit<4>  kind;
    bit<12> id;
    bit<16> ethertype;
}

struct headers_t {
    ethernet_t ethernet;
    tag_t made;
    tag_t tag;
}

struct metadata_t {
    bit<12> id;
    bit<2>  colour;
}

parser P(packet_in packet, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    @likely state start {
        packet.extract(hdr.ethernet);
        transition select(hdr.ethernet.ethertype) {
            0x8100: parse_tag;
            0x9100: parse_other;
            default: accept;
        }
    }

    @likely state parse_tag {
        packet.extract(hdr.tag);
        meta.id = hdr.tag.id;
        transition accept;
    }

    @unlikely state parse_other {
        transition parse_tag;
    }
}

control V(inout headers_t hdr, inout metadata_t meta) { apply { } }

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    meter(16, MeterType.bytes) rate;

    action drop() {
        mark_to_drop(standard_metadata);
        exit;
    }

    action permit() { }

    action send(bit<9> port, bit<12> id) {
        standard_metadata.egress_spec = port;
        hdr.tag.setInvalid();
        if (id != 0) {
            hdr.made.setValid();
            hdr.made.kind = 3;
            hdr.made.id = id;
            hdr.made.ethertype = hdr.ethernet.ethertype;
            hdr.ethernet.ethertype = 0x8100;
        }
    }

    table rules {
        key = { meta.id: ternary; hdr.ethernet.src: ternary; }
        actions = { permit; drop; }
        default_action = permit();
    }

    table stations {
        key = { hdr.ethernet.dst: exact; meta.id: exact; }
        actions = { send; drop; }
        default_action = drop();
    }

    apply {
        rules.apply();
        rate.execute_meter((bit<32>)meta.id, meta.colour);
        if (meta.colour == 2) {
            drop();
        }
        stations.apply();
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) { apply { } }
control C(inout headers_t hdr, inout metadata_t meta) { apply { } }

control D(packet_out packet, in headers_t hdr) {
    apply {
        packet.emit(hdr.ethernet);
        packet.emit(hdr.made);
        packet.emit(hdr.tag);
    }
}

V1Switch(P(), V(), I(), E(), C(), D()) main;
