// All ways of a packet: unicast, drop, multicast, clones of both kinds, resubmit, recirculate, the CPU. Each takes metadata along.
#include "common.p4"

const bit<8> UNICAST = 0;
const bit<8> DROP = 1;
const bit<8> MULTICAST = 2;
const bit<8> CLONE_I2E = 3;
const bit<8> CLONE_E2E = 4;
const bit<8> RESUBMIT = 5;
const bit<8> RECIRCULATE = 6;
const bit<8> CPU = 7;
const bit<8> DROP_IN_EGRESS = 8;
const bit<8> NOWHERE = 9;

struct ingress_t { bit<8> came; }

parser IngressParse(packet_in p, out headers_t h, inout ingress_t m, in psa_ingress_parser_input_metadata_t istd,
                    in note_t resubmit_meta, in note_t recirculate_meta) {
    state start {
        p.extract(h.tag);
        m.came = 0;
        transition select(istd.packet_path) {
            PSA_PacketPath_t.RESUBMIT: resubmitted;
            PSA_PacketPath_t.RECIRCULATE: recirculated;
            default: accept;
        }
    }
    state resubmitted {
        m.came = resubmit_meta.note;
        transition accept;
    }
    state recirculated {
        m.came = recirculate_meta.note;
        transition accept;
    }
}

control Decide(inout headers_t h, inout ingress_t m, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
    Counter<bit<32>, bit<8>>(16, PSA_CounterType_t.PACKETS) seen;
    Register<bit<8>, bit<1>>(1) last;

    action to(bit<32> port) { send_to_port(ostd, (PortId_t) port); }
    action nothing() { }
    table way {
        key = { h.tag.what : exact; }
        actions = { to; nothing; }
        default_action = nothing();
        const entries = {
            UNICAST : nothing();
            CPU : to(0xfffffffd);
            NOWHERE : to(0x12345);
        }
    }

    apply {
        seen.count(h.tag.what);
        h.tag.trace = h.tag.trace | 1;
        if (istd.packet_path == PSA_PacketPath_t.RESUBMIT || istd.packet_path == PSA_PacketPath_t.RECIRCULATE) {
            h.tag.note = m.came;
            if (istd.packet_path == PSA_PacketPath_t.RECIRCULATE && istd.ingress_port != PSA_PORT_RECIRCULATE) { h.tag.note = 0xee; }
            send_to_port(ostd, (PortId_t) (bit<32>) h.tag.port);
            exit;
        }
        h.tag.note = last.read(0);
        last.write(0, h.tag.port);
        // The packet is dropped unless something says otherwise.
        if (h.tag.what != DROP) { send_to_port(ostd, (PortId_t) (bit<32>) h.tag.port); }
        ostd.class_of_service = (ClassOfService_t) 3;
        if (h.tag.what == MULTICAST) { multicast(ostd, (MulticastGroup_t) 5); }
        if (h.tag.what == CLONE_I2E) {
            ostd.clone = true;
            ostd.clone_session_id = (CloneSessionId_t) 8;
            ingress_drop(ostd);
        }
        if (h.tag.what == RESUBMIT) { ostd.resubmit = true; }
        if (h.tag.what == RECIRCULATE) { send_to_port(ostd, PSA_PORT_RECIRCULATE); }
        way.apply();
    }
}

control IngressDeparse(packet_out p, out note_t clone_i2e_meta, out note_t resubmit_meta, out note_t normal_meta, inout headers_t h,
                       in ingress_t m, in psa_ingress_output_metadata_t istd) {
    apply {
        clone_i2e_meta.note = 0xc1;
        resubmit_meta.note = 0x5b;
        normal_meta.note = 0x40 + h.tag.note;
        p.emit(h.tag);
    }
}

parser EgressParse(packet_in p, out headers_t h, inout note_t m, in psa_egress_parser_input_metadata_t istd, in note_t normal_meta,
                   in note_t clone_i2e_meta, in note_t clone_e2e_meta) {
    state start {
        p.extract(h.tag);
        transition select(istd.packet_path) {
            PSA_PacketPath_t.CLONE_I2E: of_i2e;
            PSA_PacketPath_t.CLONE_E2E: of_e2e;
            default: of_normal;
        }
    }
    state of_i2e {
        m.note = clone_i2e_meta.note;
        transition accept;
    }
    state of_e2e {
        m.note = clone_e2e_meta.note;
        transition accept;
    }
    state of_normal {
        m.note = normal_meta.note;
        transition accept;
    }
}

control Leave(inout headers_t h, inout note_t m, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
    apply {
        h.tag.trace = h.tag.trace | 2;
        h.tag.note = m.note;
        if (istd.packet_path == PSA_PacketPath_t.NORMAL_MULTICAST) { h.tag.port = (bit<8>) (EgressInstanceUint_t) istd.instance; }
        if (istd.class_of_service == (ClassOfService_t) 3) { h.tag.trace = h.tag.trace | 4; }
        if (h.tag.what == CLONE_E2E && istd.packet_path != PSA_PacketPath_t.CLONE_E2E) {
            ostd.clone = true;
            ostd.clone_session_id = (CloneSessionId_t) 9;
        }
        if (h.tag.what == DROP_IN_EGRESS) { egress_drop(ostd); }
    }
}

control EgressDeparse(packet_out p, out note_t clone_e2e_meta, out note_t recirculate_meta, inout headers_t h, in note_t m,
                      in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
    apply {
        clone_e2e_meta.note = 0xe2;
        recirculate_meta.note = 0x5e;
        p.emit(h.tag);
    }
}

IngressPipeline(IngressParse(), Decide(), IngressDeparse()) ingress;
EgressPipeline(EgressParse(), Leave(), EgressDeparse()) egress;
PSA_Switch(ingress, PacketReplicationEngine(), egress, BufferingQueueingEngine()) main;
