/* Downlink: RLC (TS 38.322 §5.2). A PDU holds a whole SDU. What is sent in AM is kept by the buffer until the UE has it, and comes
 * from there again: behind the call it does not matter for which time. */
#ifndef GNB_RLC_P4
#define GNB_RLC_P4

struct buffer_request_t {
    bit<8>  operation;
    bit<32> bearer;
    bit<32> sn;
    bit<8>  flags;
    bit<8>  prefix_bytes;
}

struct buffer_answer_t {
    bit<8>  event;
    bit<32> bearer;
    bit<32> sn;
    bit<16> start;
    bit<16> end;
    bit<8>  flags;
}

const bit<8> BUFFER_KEEP   = 0;
const bit<8> BUFFER_STATUS = 1;
const bit<8> BUFFER_NEXT   = 3;
const bit<8> BUFFER_ROOM   = 4;
const bit<8> EVENT_ACKNOWLEDGED = 0;
const bit<8> EVENT_RETRANSMISSION = 1;
/* Nothing waits behind an SDU, as each is sent at once: the UE is asked what it has (TS 38.322 §5.3.3.2). How often it answers its `t-StatusProhibit` says. */
const bit<8> POLL = 1;
/* Of PDCP and SDAP, with a MAC-I: what an SDU becomes longer by, at most. */
const bit<8> MOST_PREFIX = 8;

/* Whether the buffer has room: if not it drops the packet, before a COUNT is spent on it. */
control Room(inout gnb_metadata_t meta) {
    Service<buffer_request_t, buffer_answer_t>("buffer") buffer;

    apply {
        buffer_answer_t answer;
        buffer.call({ BUFFER_ROOM, meta.bearer, 0, 0, MOST_PREFIX }, answer);
    }
}

control Keep(inout gnb_metadata_t meta, inout standard_metadata_t standard_metadata) {
    Service<buffer_request_t, buffer_answer_t>("buffer") buffer;

    /* By bearer: retransmissions beyond maxRetxThreshold, for RRC (TS 38.322 §5.3.2). */
    counter(BEARERS, CounterType.packets) max_retransmissions;

    counter(BEARERS, CounterType.packets) retransmissions;

    action drop(Reason reason) {
        meta.reason = reason;
        mark_to_drop(standard_metadata);
        exit;
    }

    apply {
        buffer_answer_t answer;
        buffer.call({ BUFFER_NEXT, meta.bearer, 0, POLL, meta.prefix_bytes }, answer);
        if (answer.event == EVENT_ACKNOWLEDGED) {
            drop(Reason.acknowledged);
        }
        if (answer.event == EVENT_RETRANSMISSION) {
            retransmissions.count(meta.bearer);
        }
        if (answer.flags[1:1] == 1) {
            max_retransmissions.count(meta.bearer);
        }
        meta.rlc_sn = answer.sn[17:0];
        meta.poll = answer.flags[0:0];
    }
}

control RlcHeader(inout gnb_headers_t hdr, inout gnb_metadata_t meta) {
    apply {
        if (meta.rlc_mode == RlcMode.am) {
            if (meta.rlc_long == 1) {
                hdr.rlc_am18.setValid();
                hdr.rlc_am18.data = 1;
                hdr.rlc_am18.poll = meta.poll;
                hdr.rlc_am18.sn = meta.rlc_sn;
                meta.payload_bytes = meta.payload_bytes + 3;
            } else {
                hdr.rlc_am12.setValid();
                hdr.rlc_am12.data = 1;
                hdr.rlc_am12.poll = meta.poll;
                hdr.rlc_am12.sn = meta.rlc_sn[11:0];
                meta.payload_bytes = meta.payload_bytes + 2;
            }
        } else if (meta.rlc_mode == RlcMode.um) {
            hdr.rlc_um.setValid();
            meta.payload_bytes = meta.payload_bytes + 1;
        }
    }
}

#endif
