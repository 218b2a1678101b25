/* The radio link: framing in and out. MAC and PHY are not here. */
#ifndef GNB_RADIO_P4
#define GNB_RADIO_P4

const bit<16> FRAMING_BYTES = 18;

/* Whether the framing is of an uplink RLC PDU, in the bearer's mode. It comes from the radio, so nothing is believed. */
control FromRadio(inout gnb_headers_t hdr, inout gnb_metadata_t meta, inout standard_metadata_t standard_metadata) {

    UplinkBearer() bearer;
    Source() source;

    /* RLC PDUs that were taken, and their bytes. */
    @pdu_length
    counter(BEARERS, CounterType.packets_and_bytes) radio_received;

    action drop(Reason reason) {
        meta.reason = reason;
        mark_to_drop(standard_metadata);
        exit;
    }

    apply {
        if (hdr.framing.name != FRAMING_NAME || hdr.framing.direction_tag != FRAMING_DIRECTION || hdr.framing.direction != UPLINK
            || hdr.framing.ue_tag != FRAMING_UE || hdr.framing.type_tag != FRAMING_BEARER_TYPE
            || hdr.framing.bearer_type != BEARER_TYPE_DRB || hdr.framing.bearer_tag != FRAMING_BEARER
            || hdr.framing.payload_tag != FRAMING_PAYLOAD) {
            drop(Reason.radio_framing);
        }
        bearer.apply(hdr, meta, standard_metadata);
        source.apply(hdr, meta, standard_metadata);
        bit<16> format = FRAMING_TM ++ 8w0;
        if (meta.rlc_mode == RlcMode.am) {
            format = FRAMING_AM ++ (meta.rlc_long == 1 ? 8w18 : 8w12);
        } else if (meta.rlc_mode == RlcMode.um) {
            format = FRAMING_UM ++ (meta.rlc_long == 1 ? 8w12 : 8w6);
        }
        if (hdr.framing.mode ++ hdr.framing.sn_bits != format) {
            drop(Reason.radio_framing);
        }
        meta.counted_bytes = (bit<64>)(standard_metadata.packet_length - UDP_BYTES - (bit<32>)FRAMING_BYTES);
        radio_received.count(meta.bearer);
    }
}

/* An RLC PDU of payload_bytes, headers and all, on its way to the UE. */
control ToRadio(inout gnb_headers_t hdr, inout gnb_metadata_t meta) {

    /* RLC PDUs that were sent, and their bytes. */
    @pdu_length
    counter(BEARERS, CounterType.packets_and_bytes) radio_sent;

    apply {
        meta.counted_bytes = (bit<64>)meta.payload_bytes;
        radio_sent.count(meta.bearer);
        hdr.gtpu.setInvalid();
        hdr.gtpu_optional.setInvalid();
        hdr.gtpu_psc.setInvalid();
        hdr.framing.setValid();
        hdr.framing.name = FRAMING_NAME;
        if (meta.rlc_mode == RlcMode.am) {
            hdr.framing.mode = FRAMING_AM;
            hdr.framing.sn_bits = meta.rlc_long == 1 ? 8w18 : 8w12;
        } else if (meta.rlc_mode == RlcMode.um) {
            hdr.framing.mode = FRAMING_UM;
            hdr.framing.sn_bits = meta.rlc_long == 1 ? 8w12 : 8w6;
        } else {
            hdr.framing.mode = FRAMING_TM;
            hdr.framing.sn_bits = 0;
        }
        hdr.framing.direction_tag = FRAMING_DIRECTION;
        hdr.framing.direction = DOWNLINK;
        hdr.framing.ue_tag = FRAMING_UE;
        hdr.framing.ue = meta.ue;
        hdr.framing.type_tag = FRAMING_BEARER_TYPE;
        hdr.framing.bearer_type = BEARER_TYPE_DRB;
        hdr.framing.bearer_tag = FRAMING_BEARER;
        hdr.framing.drb = meta.drb;
        hdr.framing.payload_tag = FRAMING_PAYLOAD;
        meta.payload_bytes = meta.payload_bytes + FRAMING_BYTES;
    }
}

#endif
