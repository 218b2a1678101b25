/* Uplink: from the radio to N3. What P4 cannot hold, the windows of RLC and PDCP, is the service `radio_bearer`. */
#ifndef GNB_UPLINK_P4
#define GNB_UPLINK_P4

struct bearer_request_t {
    bit<8>  operation;
    bit<32> bearer;
    bit<32> count;
}

struct bearer_answer_t {
    bit<8>  event;
    bit<32> count;
    bit<32> prefix;
    bit<16> payload_bytes;
}

const bit<8> BEARER_RECEIVE = 0;
const bit<8> BEARER_ORDER   = 1;
const bit<8> EVENT_PDU      = 0;
const bit<8> EVENT_STATUS   = 1;
const bit<8> EVENT_ABSORBED = 2;
const bit<8> EVENT_CONTROL  = 3;

/* What the UE has to say of what it got: RLC's STATUS PDUs go to the buffer. */
control Acknowledge(inout gnb_metadata_t meta, inout standard_metadata_t standard_metadata) {
    Service<buffer_request_t, buffer_answer_t>("buffer") buffer;

    action drop(Reason reason) {
        meta.reason = reason;
        mark_to_drop(standard_metadata);
        exit;
    }

    apply {
        buffer_answer_t answer;
        buffer.call({ BUFFER_STATUS, meta.bearer, 0, 0, 0, 0, 0 }, answer);
        drop(Reason.status_processed);
    }
}

/* From an RLC PDU to an SDU of PDCP: reassembled, deciphered, verified and in order. One that is late or doubled, and one whose MAC-I is wrong, is
 * dropped by the service that finds it, and has changed nothing. */
control Receive(inout gnb_headers_t hdr, inout gnb_metadata_t meta, inout standard_metadata_t standard_metadata) {
    Service<bearer_request_t, bearer_answer_t>("radio_bearer") bearer;
    Service<cipher_request_t, cipher_answer_t>("cipher") cipher;

    /* As downlink_count_high; and the last COUNT that was counted so. */
    counter(BEARERS, CounterType.packets) uplink_count_high;
    register<bit<32>>(BEARERS) uplink_count;

    action drop(Reason reason) {
        meta.reason = reason;
        mark_to_drop(standard_metadata);
        exit;
    }

    apply {
        bearer_answer_t answer;
        bearer.call({ BEARER_RECEIVE, meta.bearer, 0 }, answer);
        if (answer.event == EVENT_ABSORBED) {
            drop(Reason.absorbed);
        }
        if (answer.event == EVENT_CONTROL) {
            drop(Reason.pdcp_control);
        }
        meta.payload_bytes = answer.payload_bytes;
        if (answer.event == EVENT_STATUS) {
            // A STATUS PDU of ours, on the way that the UE's PDU came.
            meta.ue = hdr.framing.ue;
            meta.drb = hdr.framing.drb;
            meta.peer = meta.radio;
            meta.to_radio = 1;
        } else {
            meta.prefix = answer.prefix;
            meta.prefix_bytes = meta.pdcp_long == 1 ? 8w3 : 8w2;
            if (meta.sdap_header == 1) {
                meta.prefix_bytes = meta.prefix_bytes + 1;
            }
            meta.count = answer.count;
            if (meta.is_protected == 1) {
                cipher_answer_t recovered;
                cipher.call({ meta.key_index, meta.count, hdr.framing.drb - 1, UPLINK, 1, 0, meta.prefix, meta.prefix_bytes }, recovered);
            }
            bearer.call({ BEARER_ORDER, meta.bearer, meta.count }, answer);
            meta.payload_bytes = answer.payload_bytes;
            if (answer.count >= COUNT_NOTIFY) {
                uplink_count_high.count(meta.bearer);
                uplink_count.write(meta.bearer, answer.count);
            }
        }
    }
}

/* The tunnel to the UPF, with an uplink PDU session container (TS 38.415 §5.5.2.2). */
control ToCore(inout gnb_headers_t hdr, inout gnb_metadata_t meta) {

    /* Users' packets and their bytes, from their IP header on. */
    @pdu_length
    counter(BEARERS, CounterType.packets_and_bytes) uplink_packets;

    apply {
        meta.counted_bytes = (bit<64>)meta.payload_bytes;
        uplink_packets.count(meta.bearer);
        hdr.framing.setInvalid();
        hdr.gtpu.setValid();
        hdr.gtpu.version = 1;
        hdr.gtpu.protocol_type = 1;
        hdr.gtpu.has_extension = 1;
        hdr.gtpu.message_type = GTPU_GPDU;
        hdr.gtpu.length = meta.payload_bytes + 8;
        hdr.gtpu.teid = meta.teid;
        hdr.gtpu_optional.setValid();
        hdr.gtpu_optional.next_extension = GTPU_EXT_PSC;
        hdr.gtpu_psc.setValid();
        hdr.gtpu_psc.length = 1;
        hdr.gtpu_psc.pdu_type = 1;
        hdr.gtpu_psc.qos = (bit<8>)meta.qfi;
        hdr.gtpu_psc.next_extension = GTPU_EXT_NONE;
        meta.payload_bytes = meta.payload_bytes + 16;
    }
}

control Uplink(inout gnb_headers_t hdr, inout gnb_metadata_t meta, inout standard_metadata_t standard_metadata) {
    FromRadio() from_radio;
    Acknowledge() acknowledge;
    Receive() receive;
    ToCore() to_core;

    action drop(Reason reason) {
        meta.reason = reason;
        mark_to_drop(standard_metadata);
        exit;
    }

    apply {
        from_radio.apply(hdr, meta, standard_metadata);    // which bearer's
        if (meta.rlc_mode == RlcMode.am && meta.rlc_first[7:7] == 0) {
            acknowledge.apply(meta, standard_metadata);    // STATUS
        }
        receive.apply(hdr, meta, standard_metadata);       // whole, deciphered, in order
        if (meta.to_radio == 0) {
            // TS 37.324 §6.2.2.3: D/C, a reserved bit, QFI. A control PDU is nothing but its header.
            if (meta.sdap_header == 1) {
                meta.qfi = meta.prefix[5:0];
                if (meta.prefix[7:7] == 0) {
                    if (meta.payload_bytes == 0) {
                        drop(Reason.sdap_end_marker);
                    }
                    drop(Reason.sdap_length);
                }
            }
            if (meta.payload_bytes == 0) {
                drop(Reason.sdap_length);
            }
            to_core.apply(hdr, meta);
        }
    }
}

#endif
