/* A small UPF: a key leads to a session's rule, or over a class that all share; a rate, a count, and out. */
#include <core.p4>
#include <v1model.p4>

enum bit<8> Reason { none = 0, malformed = 16, no_session = 17, no_class = 18, red = 19 }

header packet_h {
    bit<32> key;
    bit<32> sequence;
    bit<8>  kind;    // of traffic: what classes go by
    bit<8>  colour;  // out: what the meter said
    bit<16> via;     // out: class, or 0
    bit<32> version; // out: of the rule
}

struct headers_t { packet_h packet; }

struct metadata_t {
    @drop_reason
    Reason  reason;
#ifdef SHAPE
    @mark
    bit<32> mark;
#endif
    bit<1>  classified;
    bit<32> group;
    bit<8>  class;
    bit<32> cell;
    bit<32> meter_cell;
}

parser P(packet_in p, out headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    state start {
        p.extract(hdr.packet);
        transition accept;
    }
}

control V(inout headers_t hdr, inout metadata_t meta) { apply { } }

control I(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    counter(256, CounterType.packets_and_bytes) usage;
    meter(256, MeterType.bytes) rate;

    action drop(Reason reason) {
        meta.reason = reason;
        mark_to_drop(standard_metadata);
        exit;
    }

    action rule(bit<32> cell, bit<32> meter_cell, bit<32> version, bit<9> port) {
        meta.cell = cell;
        meta.meter_cell = meter_cell;
        hdr.packet.version = version;
        standard_metadata.egress_spec = port;
    }

    action classify(bit<32> group) {
        meta.classified = 1;
        meta.group = group;
    }

    action miss() { }

    @split("horizontal")
    table by_key {
        key = { hdr.packet.key: exact @name("key"); }
        actions = { rule; classify; miss; }
        default_action = miss();
        size = 512;
    }

    action set_class(bit<8> class) {
        meta.class = class;
    }

    table filter {
        key = { hdr.packet.kind: ternary @name("kind"); }
        actions = { set_class; }
        default_action = set_class(0);
        size = 64;
    }

    action no_class() {
        drop(Reason.no_class);
    }

    @split("horizontal")
    table by_class {
        key = {
            meta.group: exact;
            meta.class: exact;
        }
        actions = { rule; no_class; }
        default_action = no_class();
        size = 512;
    }

    apply {
        if (standard_metadata.parser_error != error.NoError) {
            drop(Reason.malformed);
        }
        if (by_key.apply().miss) {
            drop(Reason.no_session);
        }
        if (meta.classified == 1) {
            filter.apply();
            hdr.packet.via = (bit<16>)meta.class + 1;
            by_class.apply();
        }
        if (meta.meter_cell != 0) {
            bit<2> colour = 0;
            rate.execute_meter(meta.meter_cell, colour);
            hdr.packet.colour = (bit<8>)colour + 1;
            if (colour == 2) {
#ifdef SHAPE
                // As it came in: it runs again.
                meta.reason = Reason.red;
                meta.mark = meta.meter_cell;
                standard_metadata.egress_spec = 509;
                hdr.packet.colour = 0;
                hdr.packet.via = 0;
                hdr.packet.version = 0;
                exit;
#else
                drop(Reason.red);
#endif
            }
        }
        if (meta.cell != 0) {
            usage.count(meta.cell);
        }
    }
}

control E(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) { apply { } }
control C(inout headers_t hdr, inout metadata_t meta) { apply { } }
control D(packet_out p, in headers_t hdr) { apply { p.emit(hdr.packet); } }

V1Switch(P(), V(), I(), E(), C(), D()) main;
