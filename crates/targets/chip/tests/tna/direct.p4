/* Direct registers: a cell for each entry of a table, and one program that several actions run. */
#include <core.p4>
#include <tna.p4>

header tag_h { bit<16> id; bit<16> kind; bit<32> seen; }
struct headers_t { tag_h tag; }
struct meta_t { }
struct no_headers_t { }
struct no_meta_t { }

parser InParser(packet_in packet, out headers_t hdr, out meta_t meta, out ingress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        packet.extract(hdr.tag);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout meta_t meta, in ingress_intrinsic_metadata_t intrinsic,
                in ingress_intrinsic_metadata_from_parser_t from_parser,
                inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    DirectRegister<bit<32>>() seen;
    DirectRegisterAction<bit<32>, bit<32>>(seen) count = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + 1;
            rv = value;
        }
    };
    Register<bit<32>, bit<16>>(1024) kinds;
    RegisterAction<bit<32>, bit<16>, bit<32>>(kinds) add = {
        void apply(inout bit<32> value) { value = value + 1; }
    };
    action send(PortId_t port) { hdr.tag.seen = count.execute(); for_tm.ucast_egress_port = port; }
    table tags {
        key = { hdr.tag.id: exact; hdr.tag.kind: exact; }
        actions = { send; @defaultonly NoAction; }
        default_action = NoAction();
        registers = seen;
        size = 4096;
    }
    // One table reaches cells in one way only: all by what an entry says, or all by one field.
    action a(bit<16> at) { add.execute(at); }
    action b(bit<16> at) { add.execute(at); hdr.tag.kind = 1; }
    action c(bit<16> at) { add.execute(at); hdr.tag.kind = 2; }
    action d(bit<16> at) { add.execute(at); hdr.tag.kind = 3; }
    action e(bit<16> at) { add.execute(at); hdr.tag.kind = 4; }
    table kind { key = { intrinsic.ingress_port: exact; } actions = { a; b; c; d; e; } size = 512; }
    apply { tags.apply(); kind.apply(); }
}

control InDeparser(packet_out packet, inout headers_t hdr, in meta_t meta,
                   in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply { packet.emit(hdr.tag); }
}

parser OutParser(packet_in packet, out no_headers_t hdr, out no_meta_t meta, out egress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        transition accept;
    }
}

control Egress(inout no_headers_t hdr, inout no_meta_t meta, in egress_intrinsic_metadata_t intrinsic,
               in egress_intrinsic_metadata_from_parser_t from_parser,
               inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_port) {
    apply { }
}

control OutDeparser(packet_out packet, inout no_headers_t hdr, in no_meta_t meta,
                    in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply { }
}

Pipeline(InParser(), Ingress(), InDeparser(), OutParser(), Egress(), OutDeparser()) pipe;

Switch(pipe) main;
