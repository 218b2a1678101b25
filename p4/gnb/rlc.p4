/* Downlink: RLC (TS 38.322 §5.2). A PDU holds an SDU, or a segment of one that is longer than a grant. What is sent in AM is kept by the buffer until the UE
 * has it, and comes from there again: behind the call it does not matter for which time, nor which segment it is. */
#ifndef GNB_RLC_P4
#define GNB_RLC_P4

struct buffer_request_t {
    bit<8>  operation;
    bit<32> bearer;
    bit<32> sn;
    bit<8>  flags;
    bit<8>  prefix_bytes;
    bit<16> segment_bytes;
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
const bit<8> BUFFER_CUT    = 5;
const bit<8> EVENT_ACKNOWLEDGED = 0;
const bit<8> EVENT_RETRANSMISSION = 1;
/* Nothing waits behind an SDU, as each is sent at once: the UE is asked what it has (TS 38.322 §5.3.3.2). How often it answers its `t-StatusProhibit` says. */
const bit<8> POLL = 1;
/* Of PDCP and SDAP, with a MAC-I: what an SDU becomes longer by, at most. */
const bit<8> MOST_PREFIX = 8;

/* Bytes of the field SO. */
const bit<16> SO_BYTES = 2;

/* Whether the buffer has room: if not it drops the packet, before a COUNT is spent on it. */
control Room(inout gnb_metadata_t meta) {
    Service<buffer_request_t, buffer_answer_t>("buffer") buffer;

    apply {
        buffer_answer_t answer;
        buffer.call({ BUFFER_ROOM, meta.bearer, 0, 0, MOST_PREFIX, 0 }, answer);
    }
}

/* Whether the SDU is longer than a grant, and what a segment of it holds then. The grant comes with the bearer, in place of MAC's scheduler. */
control Grant(inout gnb_metadata_t meta) {
    apply {
        bit<16> sdu_bytes = meta.payload_bytes + (bit<16>)meta.prefix_bytes;
        bit<16> header_bytes = 2;
        bit<16> whole_bytes = 2;
        if (meta.rlc_mode == RlcMode.am) {
            if (meta.rlc_long == 1) {
                header_bytes = 3;
                whole_bytes = 3;
            }
        } else {
            whole_bytes = 1;
            if (meta.rlc_long == 0) {
                header_bytes = 1;
            }
        }
        meta.segment_bytes = 0;
        if (meta.rlc_mode != RlcMode.tm && sdu_bytes + whole_bytes > meta.pdu_bytes) {
            meta.segment_bytes = meta.pdu_bytes - header_bytes - SO_BYTES;
        }
    }
}

/* What of its SDU a PDU holds, as the buffer says it. Headers of PDCP and SDAP are in the first segment alone. */
control Segment(inout gnb_headers_t hdr, inout gnb_metadata_t meta, in buffer_answer_t answer) {
    apply {
        if (answer.flags[2:2] == 1) {
            meta.segment_offset = answer.start;
            meta.segmentation = (answer.start == 0 ? 1w0 : 1w1) ++ answer.flags[3:3];
            meta.payload_bytes = answer.end - answer.start;
            if (answer.start != 0) {
                hdr.pdcp12.setInvalid();
                hdr.pdcp18.setInvalid();
                hdr.sdap.setInvalid();
            }
        } else {
            meta.payload_bytes = meta.payload_bytes + (bit<16>)meta.prefix_bytes;
        }
    }
}

control Keep(inout gnb_headers_t hdr, inout gnb_metadata_t meta, inout standard_metadata_t standard_metadata) {
    Service<buffer_request_t, buffer_answer_t>("buffer") buffer;
    Segment() segment;

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
        buffer.call({ BUFFER_NEXT, meta.bearer, 0, POLL, meta.prefix_bytes, meta.segment_bytes }, answer);
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
        segment.apply(hdr, meta, answer);
    }
}

/* RLC UM: nothing is kept. Only an SDU that is cut has a number (TS 38.322 §5.2.2.1.1). */
control Cut(inout gnb_headers_t hdr, inout gnb_metadata_t meta) {
    Service<buffer_request_t, buffer_answer_t>("buffer") buffer;
    Segment() segment;

    /* Numbers that a bearer has spent. The cell outlives the bearer. */
    register<bit<16>>(BEARERS) spent_um;

    apply {
        buffer_answer_t answer = { 0, 0, 0, 0, 0, 0 };
        if (meta.segment_bytes != 0) {
            bit<16> before;
            spent_um.read(before, meta.bearer);
            spent_um.write(meta.bearer, before + 1);
            buffer.call({ BUFFER_CUT, meta.bearer, (bit<32>)(before + meta.um_base), 0, meta.prefix_bytes, meta.segment_bytes }, answer);
            meta.rlc_sn = answer.sn[17:0];
        }
        segment.apply(hdr, meta, answer);
    }
}

control RlcHeader(inout gnb_headers_t hdr, inout gnb_metadata_t meta) {
    apply {
        if (meta.rlc_mode == RlcMode.am) {
            if (meta.rlc_long == 1) {
                hdr.rlc_am18.setValid();
                hdr.rlc_am18.data = 1;
                hdr.rlc_am18.poll = meta.poll;
                hdr.rlc_am18.segmentation = meta.segmentation;
                hdr.rlc_am18.sn = meta.rlc_sn;
                meta.payload_bytes = meta.payload_bytes + 3;
            } else {
                hdr.rlc_am12.setValid();
                hdr.rlc_am12.data = 1;
                hdr.rlc_am12.poll = meta.poll;
                hdr.rlc_am12.segmentation = meta.segmentation;
                hdr.rlc_am12.sn = meta.rlc_sn[11:0];
                meta.payload_bytes = meta.payload_bytes + 2;
            }
        } else if (meta.rlc_mode == RlcMode.um) {
            if (meta.segmentation != 0 && meta.rlc_long == 1) {
                hdr.rlc_um12.setValid();
                hdr.rlc_um12.segmentation = meta.segmentation;
                hdr.rlc_um12.sn = meta.rlc_sn[11:0];
                meta.payload_bytes = meta.payload_bytes + 2;
            } else {
                hdr.rlc_um.setValid();
                hdr.rlc_um.segmentation = meta.segmentation;
                if (meta.segmentation != 0) {
                    hdr.rlc_um.sn = meta.rlc_sn[5:0];
                }
                meta.payload_bytes = meta.payload_bytes + 1;
            }
        }
        if (meta.segmentation[1:1] == 1) {
            hdr.rlc_so.setValid();
            hdr.rlc_so.offset = meta.segment_offset;
            meta.payload_bytes = meta.payload_bytes + SO_BYTES;
        }
    }
}

#endif
