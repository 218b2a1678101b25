/* Filters, random early detection and parser counters. With __TARGET_TOFINO__=2 it is a program for the second generation. */
#include <core.p4>
#if __TARGET_TOFINO__ == 2
#include <t2na.p4>
#else
#include <tna.p4>
#endif

header tag_h { bit<16> id; bit<8> level; bit<8> result; }
header option_h { bit<8> value; }
struct headers_t { tag_h tag; option_h[4] options; }
struct meta_t { bit<8> rate; bit<8> drop; bit<8> own; bit<8> own_drop; }
struct no_headers_t { }
struct no_meta_t { }

parser InParser(packet_in packet, out headers_t hdr, out meta_t meta, out ingress_intrinsic_metadata_t intrinsic) {
    ParserCounter() left;
    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        packet.extract(hdr.tag);
        meta = { 0, 0, 0, 0 };
        left.set(8w3);
        transition select(left.is_zero()) { true: accept; false: options; }
    }
    state options {
        packet.extract(hdr.options.next);
        left.decrement(1);
        transition select(left.is_zero()) { true: accept; false: options; }
    }
}

control Ingress(inout headers_t hdr, inout meta_t meta, in ingress_intrinsic_metadata_t intrinsic,
                in ingress_intrinsic_metadata_from_parser_t from_parser,
                inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    Lpf<bit<8>, bit<16>>(4096) rates;
    Wred<bit<8>, bit<16>>(4096, 1, 0) early;
    DirectLpf<bit<8>>() own_rate;
    DirectWred<bit<8>>(1, 0) own_early;
    Register<bit<32>, bit<16>>(1024) seen;
    RegisterAction<bit<32>, bit<16>, void>(seen) count = { void apply(inout bit<32> value) { value = value + 1; } };
    action filter() { meta.own = own_rate.execute(hdr.tag.level); }
    action drop_early() { meta.own_drop = own_early.execute(hdr.tag.level); }
    table by_id {
        key = { hdr.tag.id: exact; }
        actions = { filter; @defaultonly NoAction; }
        default_action = NoAction();
        filters = own_rate;
        size = 2048;
    }
    table by_level {
        key = { hdr.tag.level: exact; }
        actions = { drop_early; @defaultonly NoAction; }
        default_action = NoAction();
        filters = own_early;
        size = 256;
    }
    apply {
        meta.rate = rates.execute(hdr.tag.level, hdr.tag.id);
        meta.drop = early.execute(hdr.tag.level, hdr.tag.id);
        by_id.apply();
        by_level.apply();
        count.execute(hdr.tag.id);
        for_deparser.drop_ctl = meta.drop[2:0] | meta.own_drop[2:0];
        hdr.tag.result = meta.rate ^ meta.own;
        for_tm.ucast_egress_port = intrinsic.ingress_port;
    }
}
control InDeparser(packet_out packet, inout headers_t hdr, in meta_t meta, in ingress_intrinsic_metadata_for_deparser_t d) {
    apply { packet.emit(hdr); }
}
parser OutParser(packet_in packet, out no_headers_t hdr, out no_meta_t meta, out egress_intrinsic_metadata_t intrinsic) {
    state start { packet.extract(intrinsic); transition accept; }
}
control Egress(inout no_headers_t hdr, inout no_meta_t meta, in egress_intrinsic_metadata_t intrinsic,
               in egress_intrinsic_metadata_from_parser_t from_parser, inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_port) { apply { } }
control OutDeparser(packet_out packet, inout no_headers_t hdr, in no_meta_t meta, in egress_intrinsic_metadata_for_deparser_t d) { apply { } }
Pipeline(InParser(), Ingress(), InDeparser(), OutParser(), Egress(), OutDeparser()) pipe;
Switch(pipe) main;
