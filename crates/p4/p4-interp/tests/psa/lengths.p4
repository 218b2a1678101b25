// What `packet.length()` is in each pass: the bytes that the pipe's own parser has before it, whatever the pipe before added.
#include "common.p4"

const bit<8> ADD = 1;           // ingress adds a header
const bit<8> RECIRCULATE = 2;   // ... and the packet goes round once
const bit<8> CLONE = 3;         // ... and a clone goes as it came

header more_t { bit<32> filler; }
struct both_t {
    tag_t tag;      // port: to where; trace: length in ingress; note: length in egress
    more_t more;
}

parser IngressParse(packet_in p, out both_t h, inout none_t m, in psa_ingress_parser_input_metadata_t istd,
                    in none_t resubmit_meta, in none_t recirculate_meta) {
    state start {
        p.extract(h.tag);
        h.tag.trace = (bit<8>) p.length();
        transition accept;
    }
}

control Add(inout both_t h, inout none_t m, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
    apply {
        send_to_port(ostd, (PortId_t) (bit<32>) h.tag.port);
        bool again = istd.packet_path == PSA_PacketPath_t.RECIRCULATE;
        if (h.tag.what != 0 && !again) {
            h.more.setValid();
            h.more.filler = 0xaaaaaaaa;
        }
        if (h.tag.what == RECIRCULATE && !again) { send_to_port(ostd, PSA_PORT_RECIRCULATE); }
        if (h.tag.what == CLONE) {
            ostd.clone = true;
            ostd.clone_session_id = (CloneSessionId_t) 9;
        }
    }
}

control IngressDeparse(packet_out p, out none_t clone_i2e_meta, out none_t resubmit_meta, out none_t normal_meta, inout both_t h,
                       in none_t m, in psa_ingress_output_metadata_t istd) {
    apply {
        p.emit(h);
    }
}

parser EgressParse(packet_in p, out headers_t h, inout none_t m, in psa_egress_parser_input_metadata_t istd, in none_t normal_meta,
                   in none_t clone_i2e_meta, in none_t clone_e2e_meta) {
    state start {
        p.extract(h.tag);
        h.tag.note = (bit<8>) p.length();
        transition accept;
    }
}

control Leave(inout headers_t h, inout none_t m, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
    apply { }
}

control EgressDeparse(packet_out p, out none_t clone_e2e_meta, out none_t recirculate_meta, inout headers_t h, in none_t m,
                      in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
    apply {
        p.emit(h.tag);
    }
}

IngressPipeline(IngressParse(), Add(), IngressDeparse()) ingress;
EgressPipeline(EgressParse(), Leave(), EgressDeparse()) egress;
PSA_Switch(ingress, PacketReplicationEngine(), egress, BufferingQueueingEngine()) main;
