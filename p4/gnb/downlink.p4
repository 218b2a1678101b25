/* Downlink: from N3 to the radio. */
#ifndef GNB_DOWNLINK_P4
#define GNB_DOWNLINK_P4

/* Longest SDU (TS 38.323 §4.3.1). */
const bit<32> MAX_SDU = 9000;

/* What of GTP-U is a user's packet, and of which flow. */
control FromCore(inout gnb_headers_t hdr, inout gnb_metadata_t meta, inout standard_metadata_t standard_metadata) {

    action drop(Reason reason) {
        meta.reason = reason;
        mark_to_drop(standard_metadata);
        exit;
    }

    action punt(Reason reason) {
        meta.reason = reason;
        standard_metadata.egress_spec = PUNT_PORT;
        exit;
    }

    apply {
        if (!hdr.gtpu.isValid()) {
            punt(Reason.host);
        }
        if (hdr.gtpu.version != 1 || hdr.gtpu.protocol_type != 1) {
            drop(Reason.gtpu_version);
        }
        if (hdr.gtpu.message_type != GTPU_GPDU) {
            punt(Reason.gtpu_signalling);
        }
        if ((bit<32>)hdr.gtpu.length + 8 + UDP_BYTES != standard_metadata.packet_length) {
            drop(Reason.length_mismatch);
        }
        bit<32> bytes = (bit<32>)hdr.gtpu.length;
        if (hdr.gtpu_optional.isValid()) {
            bytes = bytes - 4;
        }
        if (hdr.gtpu_psc.isValid()) {
            if (hdr.gtpu_psc.length != 1 || hdr.gtpu_psc.pdu_type != 0 || hdr.gtpu_psc.next_extension != GTPU_EXT_NONE) {
                drop(Reason.gtpu_extension);
            }
            meta.qfi = hdr.gtpu_psc.qos[5:0];
            bytes = bytes - 4;
        } else if (hdr.gtpu.has_extension == 1 && hdr.gtpu_optional.next_extension != GTPU_EXT_NONE) {
            drop(Reason.gtpu_extension);
        }
        if (bytes == 0) {
            drop(Reason.malformed);
        }
        if (bytes > MAX_SDU) {
            drop(Reason.too_big);
        }
        meta.payload_bytes = (bit<16>)bytes;
    }
}

control Downlink(inout gnb_headers_t hdr, inout gnb_metadata_t meta, inout standard_metadata_t standard_metadata) {
    FromCore() from_core;
    DownlinkBearer() bearer;
    PdcpHeader() pdcp_header;
    Protect() protect;
    Keep() keep;
    RlcHeader() rlc_header;

    apply {
        from_core.apply(hdr, meta, standard_metadata);   // a user's packet, of which flow
        bearer.apply(hdr, meta, standard_metadata);      // on which bearer, under which COUNT
        pdcp_header.apply(hdr, meta);                    // SDAP and PDCP
        hdr.gtpu.setInvalid();
        hdr.gtpu_optional.setInvalid();
        hdr.gtpu_psc.setInvalid();
        protect.apply(meta);                             // MAC-I and ciphering
        if (meta.rlc_mode == RlcMode.am) {
            keep.apply(meta, standard_metadata);         // until the UE has it
        }
        meta.payload_bytes = meta.payload_bytes + (bit<16>)meta.prefix_bytes;
        rlc_header.apply(hdr, meta);
        meta.to_radio = 1;
    }
}

#endif
