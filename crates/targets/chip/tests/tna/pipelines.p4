/* A switch whose pipes 0 and 2 run one pipeline and whose pipe 1 runs another, with blocks that both use: an ingress, and an egress of headers
   and metadata of its own. */
#include <core.p4>
#include <tna.p4>

header tag_h { bit<16> id; bit<16> kind; }
header mark_h { bit<32> flow; }

struct in_headers_t { tag_h tag; mark_h mark; }
struct out_headers_t { mark_h mark; tag_h[4] tags; }
struct meta_t { bit<1> right; }

parser InParser(packet_in packet, out in_headers_t hdr, out meta_t meta, out ingress_intrinsic_metadata_t intrinsic) {
    Checksum() sum;
    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        packet.extract(hdr.tag);
        sum.add(hdr.tag);
        meta.right = (bit<1>)sum.verify();
        transition accept;
    }
}

control Ingress(inout in_headers_t hdr, inout meta_t meta, in ingress_intrinsic_metadata_t intrinsic,
                in ingress_intrinsic_metadata_from_parser_t from_parser,
                inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    action send(PortId_t port, bit<32> flow) {
        for_tm.ucast_egress_port = port;
        hdr.mark.setValid();
        hdr.mark.flow = flow;
    }
    table ports {
        key = { hdr.tag.id: exact; }
        actions = { send; @defaultonly NoAction; }
        default_action = NoAction();
        size = 4096;
    }
    apply { ports.apply(); }
}

control InDeparser(packet_out packet, inout in_headers_t hdr, in meta_t meta,
                   in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply { packet.emit(hdr.mark); packet.emit(hdr.tag); }
}

parser OutParser(packet_in packet, out out_headers_t hdr, out meta_t meta, out egress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        packet.extract(hdr.mark);
        transition tags;
    }
    state tags {
        packet.extract(hdr.tags.next);
        transition select(hdr.tags.last.kind) {
            0: tags;
            default: accept;
        }
    }
}

control Counted(inout out_headers_t hdr, inout meta_t meta, in egress_intrinsic_metadata_t intrinsic,
                in egress_intrinsic_metadata_from_parser_t from_parser,
                inout egress_intrinsic_metadata_for_deparser_t for_deparser,
                inout egress_intrinsic_metadata_for_output_port_t for_port) {
    Counter<bit<32>, bit<9>>(512, CounterType_t.PACKETS_AND_BYTES) sent;
    DirectCounter<bit<32>>(CounterType_t.PACKETS) hits;
    action count() { hits.count(); }
    action strip() { hits.count(); hdr.mark.setInvalid(); }
    table flows {
        key = { hdr.mark.flow: exact; }
        actions = { count; strip; }
        default_action = count();
        counters = hits;
        size = 2048;
    }
    apply {
        flows.apply();
        sent.count(intrinsic.egress_port);
    }
}

control Plain(inout out_headers_t hdr, inout meta_t meta, in egress_intrinsic_metadata_t intrinsic,
              in egress_intrinsic_metadata_from_parser_t from_parser,
              inout egress_intrinsic_metadata_for_deparser_t for_deparser,
              inout egress_intrinsic_metadata_for_output_port_t for_port) {
    apply { hdr.mark.setInvalid(); }
}

control OutDeparser(packet_out packet, inout out_headers_t hdr, in meta_t meta,
                    in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply { packet.emit(hdr.mark); packet.emit(hdr.tags); }
}

Pipeline(InParser(), Ingress(), InDeparser(), OutParser(), Counted(), OutDeparser()) counted;
Pipeline(InParser(), Ingress(), InDeparser(), OutParser(), Plain(), OutDeparser()) plain;

Switch(counted, plain, counted) main;
