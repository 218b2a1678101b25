/* Downlink: from N3 to the radio. */
#ifndef GNB_DOWNLINK_P4
#define GNB_DOWNLINK_P4

/* Longest SDU (TS 38.323 §4.3.1). */
const bit<32> MAX_SDU = 9000;
/* What RLC, PDCP and SDAP put around it, at most: 3 bytes, 3, 1, and a MAC-I of 4. */
const bit<64> LAYER_BYTES = 11;

/* What of GTP-U is a user's packet, and of which flow. */
control FromCore(inout gnb_headers_t hdr, inout gnb_metadata_t meta, inout standard_metadata_t standard_metadata) {

    action drop(Reason reason) {
        meta.reason = reason;
#ifdef FRONT
        standard_metadata.egress_spec = PUNT_PORT;
#else
        mark_to_drop(standard_metadata);
#endif
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

/* The radio's rate, of what is sent for the first time: in place of MAC's scheduler. A packet over it waits, as it came in, and runs through the program
 * again when it may go (include/splitplane.p4). So it spends a COUNT only then. Each bearer's packets wait in a queue of their own, and bearers take turns. With FRONT
 * nothing can wait. */
control RadioRate(inout gnb_metadata_t meta, inout standard_metadata_t standard_metadata) {

    @pdu_length
    meter(1, MeterType.bytes) radio_rate;

#ifndef FRONT
    /* When it was exceeded last, and one more. The packets of a burst have one time: behind one that waits, a smaller one must not pass by what is left. */
    register<bit<48>>(1) exceeded;
#endif

    apply {
        bit<2> colour = 0;
#ifndef FRONT
        bit<48> last;
        bit<48> now = standard_metadata.ingress_global_timestamp + 1;
        exceeded.read(last, 0);
#endif
        meta.counted_bytes = (bit<64>)meta.payload_bytes + LAYER_BYTES;
        // It must be asked in any case: a packet waits for what it was asked about.
        radio_rate.execute_meter(0, colour);
#ifdef FRONT
        if (colour == 2) {
            meta.reason = Reason.rate_exceeded;
            mark_to_drop(standard_metadata);
            exit;
        }
#else
        if (colour == 2 || last == now) {
            exceeded.write(0, now);
            meta.mark = meta.bearer;
            meta.reason = Reason.rate_exceeded;
            standard_metadata.egress_spec = BUFFER_PORT;
            exit;
        }
#endif
    }
}

/* Users' packets and their bytes, from their IP header on. */
control CountDownlink(inout gnb_metadata_t meta) {

    @pdu_length
    counter(BEARERS, CounterType.packets_and_bytes) downlink_packets;

    apply {
        meta.counted_bytes = (bit<64>)meta.payload_bytes;
        downlink_packets.count(meta.bearer);
    }
}

#ifndef FRONT

control Downlink(inout gnb_headers_t hdr, inout gnb_metadata_t meta, inout standard_metadata_t standard_metadata) {
    FromCore() from_core;
    DownlinkBearer() bearer;
    Source() source;
    RadioRate() radio_rate;
    Room() room;
    Spend() spend;
    Count() count;
    CountDownlink() count_downlink;
    PdcpHeader() pdcp_header;
    Protect() protect;
    Grant() grant;
    Keep() keep;
    Cut() cut;
    RlcHeader() rlc_header;

    apply {
        from_core.apply(hdr, meta, standard_metadata);   // a user's packet, of which flow
        bearer.apply(hdr, meta, standard_metadata);      // on which bearer
        source.apply(hdr, meta, standard_metadata);      // from the UPF
        radio_rate.apply(meta, standard_metadata);       // when the radio has time for it
        if (meta.rlc_mode == RlcMode.am) {
            room.apply(meta);                            // if it can be kept, and under which COUNT
        } else {
            spend.apply(meta);                           // under which COUNT
        }
        count.apply(meta, standard_metadata);            // while there are COUNTs
        count_downlink.apply(meta);
        pdcp_header.apply(hdr, meta);                    // SDAP and PDCP
        hdr.gtpu.setInvalid();
        hdr.gtpu_optional.setInvalid();
        hdr.gtpu_psc.setInvalid();
        protect.apply(meta);                             // MAC-I and ciphering
        grant.apply(meta);                               // in how many PDUs
        if (meta.rlc_mode == RlcMode.am) {
            keep.apply(meta, standard_metadata);         // until the UE has it
        } else {
            cut.apply(meta, standard_metadata);
        }
        meta.payload_bytes = meta.payload_bytes + (bit<16>)meta.prefix_bytes;
        rlc_header.apply(hdr, meta);
        meta.to_radio = 1;
    }
}

#endif

#endif
