/* What programs for the chip use beside tables and registers: the metadata of a port, an action profile and selector, a parameter of a
   register action, partitions of prefixes, the size of headers, what is left of a checksum. */
#include <core.p4>
#include <tna.p4>

header tag_h { bit<16> id; bit<16> kind; }
struct port_t { bit<16> tenant; bit<48> rest; }
struct headers_t { tag_h tag; }
struct meta_t { port_t port; bit<32> seen; bit<16> left; bit<32> bytes; }
struct no_headers_t { }
struct no_meta_t { }

parser InParser(packet_in packet, out headers_t hdr, out meta_t meta, out ingress_intrinsic_metadata_t intrinsic) {
    Checksum() sum;
    state start {
        packet.extract(intrinsic);
        meta.port = port_metadata_unpack<port_t>(packet);
        packet.extract(hdr.tag);
        sum.subtract({ hdr.tag.id });
        sum.subtract_all_and_deposit(meta.left);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout meta_t meta, in ingress_intrinsic_metadata_t intrinsic,
                in ingress_intrinsic_metadata_from_parser_t from_parser,
                inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    Register<bit<32>, bit<16>>(1024) seen;
    Register<bit<32>, bit<1>>(1) last;
    RegisterAction<bit<32>, bit<1>, bit<32>>(last) latest = {
        void apply(inout bit<32> value, out bit<32> rv) { rv = value; }
    };
    RegisterParam<bit<32>>(7) step;
    RegisterAction<bit<32>, bit<16>, bit<32>>(seen) count = {
        void apply(inout bit<32> value, out bit<32> rv) {
            value = value + step.read();
            rv = value;
        }
    };
    ActionProfile(256) ways;
    ActionProfile(64) members;
    Hash<bit<16>>(HashAlgorithm_t.CRC16) spread;
    ActionSelector(members, spread, SelectorMode_t.FAIR, 32w16, 32w8) groups;
    action mark(bit<16> kind) { hdr.tag.kind = kind; }
    table balanced {
        key = { hdr.tag.kind: exact; hdr.tag.id: selector; }
        actions = { mark; @defaultonly NoAction; }
        default_action = NoAction();
        implementation = groups;
        size = 512;
    }
    action send(PortId_t port) { for_tm.ucast_egress_port = port; }
    table tenants {
        key = { meta.port.tenant: exact; hdr.tag.id: exact; }
        actions = { send; @defaultonly NoAction; }
        default_action = NoAction();
        implementation = ways;
        size = 2048;
    }
    Alpm(number_partitions = 1024, subtrees_per_partition = 2) partitions;
    Counter<bit<64>, bit<9>>(512, CounterType_t.BYTES) left;
    action count_left() { left.count(intrinsic.ingress_port, sizeInBytes(hdr.tag)); }
    table prefixes {
        key = { meta.seen: lpm; }
        actions = { count_left; @defaultonly NoAction; }
        default_action = NoAction();
        implementation = partitions;
        size = 40000;
    }
    apply {
        tenants.apply();
        balanced.apply();
        meta.seen = count.execute(hdr.tag.id);
        meta.seen = meta.seen + latest.execute(0);
        for_deparser.drop_ctl = meta.seen[2:0];
        prefixes.apply();
        meta.bytes = sizeInBits(hdr.tag) + sizeInBytes(meta.port);
        if (meta.left == 0) { hdr.tag.kind = meta.bytes[15:0]; }
    }
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
