/* A program around one construct of constructs.txt. */
#include <core.p4>
#include <tna.p4>
header tag_h { bit<8> a; bit<8> b; bit<8> c; bit<8> d; bit<16> h; bit<16> i; bit<16> j; bit<16> k; bit<32> x; bit<32> y; bit<32> z; bit<32> w; }
struct headers_t { tag_h t; }
struct meta_t { bit<16> m; bit<16> n; bit<32> o; bit<1> f; }
struct pair_t { bit<16> lo; bit<16> hi; }
struct no_headers_t { }
struct no_meta_t { }
parser InParser(packet_in packet, out headers_t hdr, out meta_t meta, out ingress_intrinsic_metadata_t intrinsic) {
    state start { packet.extract(intrinsic); packet.advance(PORT_METADATA_SIZE); packet.extract(hdr.t); meta.m = 0; meta.n = 0; meta.o = 0; meta.f = 0; transition accept; }
}
control Ingress(inout headers_t hdr, inout meta_t meta, in ingress_intrinsic_metadata_t intrinsic,
                in ingress_intrinsic_metadata_from_parser_t from_parser,
                inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    DECLARATIONS
    apply { for_tm.ucast_egress_port = 1; STATEMENTS }
}
control InDeparser(packet_out packet, inout headers_t hdr, in meta_t meta,
                   in ingress_intrinsic_metadata_for_deparser_t for_deparser) { apply { packet.emit(hdr.t); } }
parser OutParser(packet_in packet, out no_headers_t hdr, out no_meta_t meta, out egress_intrinsic_metadata_t intrinsic) {
    state start { packet.extract(intrinsic); transition accept; }
}
control Egress(inout no_headers_t hdr, inout no_meta_t meta, in egress_intrinsic_metadata_t intrinsic,
               in egress_intrinsic_metadata_from_parser_t from_parser,
               inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_port) { apply { } }
control OutDeparser(packet_out packet, inout no_headers_t hdr, in no_meta_t meta,
                    in egress_intrinsic_metadata_for_deparser_t for_deparser) { apply { } }
Pipeline(InParser(), Ingress(), InDeparser(), OutParser(), Egress(), OutDeparser()) pipe;
Switch(pipe) main;
