/* Downlink: RLC (TS 38.322 §5.2). A PDU holds an SDU, or a segment of one that is longer than a grant. Of what is sent in AM the buffer keeps a copy until the UE
 * has it. What is sent again, and segments, are packets of the buffer's own. */
#ifndef GNB_RLC_P4
#define GNB_RLC_P4

struct buffer_request_t {
    bit<8>  operation;
    bit<32> bearer;
    bit<32> sn;
    bit<8>  flags;
    bit<8>  prefix_bytes;
    bit<16> segment_bytes;
    bit<32> prefix;
}

struct buffer_answer_t {
    bit<8>  event;
    bit<32> bearer;
    bit<32> sn;
    bit<16> start;
    bit<16> end;
    bit<8>  flags;
}

const bit<8> BUFFER_STATUS = 1;
const bit<8> BUFFER_NEXT   = 3;
const bit<8> BUFFER_ROOM   = 4;
const bit<8> BUFFER_CUT    = 5;
const bit<8> EVENT_RETRANSMISSION = 1;
const bit<8> EVENT_IN_SEGMENTS = 5;
/* Nothing waits behind an SDU, as each is sent at once: the UE is asked what it has (TS 38.322 §5.3.3.2). How often it answers its `t-StatusProhibit` says. */
const bit<8> POLL = 1;
/* Of PDCP and SDAP, with a MAC-I: what an SDU becomes longer by, at most. */
const bit<8> MOST_PREFIX = 8;

/* Bytes of the field SO. */
const bit<16> SO_BYTES = 2;

/* A place in the buffer: if there is none it drops the packet, before a COUNT is spent on it. Places are numbered as the bearer's packets are. */
control Room(inout gnb_metadata_t meta) {
    Service<buffer_request_t, buffer_answer_t>("buffer") buffer;

    apply {
        buffer_answer_t answer;
        buffer.call({ BUFFER_ROOM, meta.bearer, 0, 0, MOST_PREFIX, 0, 0 }, answer);
        meta.place = answer.sn;
        // Behind the last COUNT there is none.
        meta.count = answer.sn |+| meta.count_base;
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

/* RLC AM: a copy of the SDU is kept until the UE has it. */
control Keep(inout gnb_metadata_t meta, inout standard_metadata_t standard_metadata) {
    Service<buffer_request_t, buffer_answer_t>("buffer") buffer;

    action drop(Reason reason) {
        meta.reason = reason;
        mark_to_drop(standard_metadata);
        exit;
    }

    apply {
        buffer_answer_t answer;
        buffer.call({ BUFFER_NEXT, meta.bearer, meta.place, POLL, meta.prefix_bytes, meta.segment_bytes, meta.prefix }, answer);
        if (answer.event == EVENT_IN_SEGMENTS) {
            drop(Reason.in_segments);
        }
        meta.rlc_sn = answer.sn[17:0];
        meta.poll = answer.flags[0:0];
    }
}

/* RLC UM: nothing is kept. Only an SDU that is cut has a number (TS 38.322 §5.2.2.1.1). */
control Cut(inout gnb_metadata_t meta, inout standard_metadata_t standard_metadata) {
    Service<buffer_request_t, buffer_answer_t>("buffer") buffer;

    action drop(Reason reason) {
        meta.reason = reason;
        mark_to_drop(standard_metadata);
        exit;
    }

    apply {
        if (meta.segment_bytes != 0) {
            buffer_answer_t answer;
            buffer.call({ BUFFER_CUT, meta.bearer, 0, 0, meta.prefix_bytes, meta.segment_bytes, meta.prefix }, answer);
            drop(Reason.in_segments);
        }
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

#ifndef FRONT
#ifndef STEP

/* A packet of the buffer's own: an SDU as PDCP has made it, or a part of one, behind the fields of an answer. Ethernet, IPv4 and UDP are made for it. */
control FromBuffer(inout gnb_headers_t hdr, inout gnb_metadata_t meta, inout standard_metadata_t standard_metadata) {
    RlcHeader() rlc_header;

    /* By bearer: retransmissions beyond maxRetxThreshold, for RRC (TS 38.322 §5.3.2). */
    counter(BEARERS, CounterType.packets) max_retransmissions;

    counter(BEARERS, CounterType.packets) retransmissions;

    action no_bearer() {
        meta.reason = Reason.no_bearer;
        mark_to_drop(standard_metadata);
        exit;
    }

    /* Of the arguments of a downlink bearer (bearer.p4) those that RLC and the radio link take. */
    action set_bearer(RlcMode rlc_mode, bit<1> rlc_long, bit<16> ue, bit<8> drb, bit<16> peer) {
        meta.rlc_mode = rlc_mode;
        meta.rlc_long = rlc_long;
        meta.ue = ue;
        meta.drb = drb;
        meta.peer = peer;
    }

    table bearer_by_number {
        key = { hdr.buffer.bearer: exact @name("bearer"); }
        actions = { set_bearer; no_bearer; }
        default_action = no_bearer();
        size = BEARERS;
    }

    apply {
        bearer_by_number.apply();
        meta.bearer = hdr.buffer.bearer;
        if (hdr.buffer.event == EVENT_RETRANSMISSION) {
            retransmissions.count(meta.bearer);
        }
        if (hdr.buffer.max_retransmissions == 1) {
            max_retransmissions.count(meta.bearer);
        }
        meta.rlc_sn = hdr.buffer.sn[17:0];
        meta.poll = hdr.buffer.poll;
        if (hdr.buffer.part == 1) {
            meta.segment_offset = hdr.buffer.start;
            meta.segmentation = (hdr.buffer.start == 0 ? 1w0 : 1w1) ++ hdr.buffer.more;
        }
        meta.payload_bytes = (bit<16>)(standard_metadata.packet_length - BUFFER_BYTES);
        hdr.buffer.setInvalid();
        hdr.ethernet.setValid();
        hdr.ethernet.ethertype = ETHERTYPE_IPV4;
        hdr.ipv4.setValid();
        hdr.ipv4.version = 4;
        hdr.ipv4.ihl = 5;
        hdr.ipv4.protocol = PROTO_UDP;
        hdr.udp.setValid();
        rlc_header.apply(hdr, meta);
        meta.to_radio = 1;
    }
}

#endif
#endif

#endif
