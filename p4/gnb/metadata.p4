/* What is known of a packet on its way, and why it may end. */
#ifndef GNB_METADATA_P4
#define GNB_METADATA_P4

/* Reasons of drops and punts; the engine counts packets by them. What a service drops is counted by the service's own reasons. */
enum bit<8> Reason {
    none                 = 0,
    // punts: the control plane acts on them
    arp                  = 1,
    host                 = 3,   // to an address of ours, but neither tunnel nor radio
    gtpu_signalling      = 4,   // echo, error indication, end marker
    unknown_teid         = 5,   // G-PDU without a bearer: error indication, TS 29.281 §7.3.1
    // drops
    malformed            = 16,  // the parser could not finish, or nothing is behind the headers
    ipv4_checksum        = 17,
    length_mismatch      = 18,  // lengths of frame, IP, UDP and GTP-U do not fit each other
    not_our_mac          = 19,
    unsupported_protocol = 20,  // no IPv4 with UDP
    header_chain         = 21,  // IPv4 options, or a fragment
    gtpu_version         = 22,
    gtpu_extension       = 23,  // other than one downlink PDU session container
    too_big              = 24,  // an SDU of more than 9000 bytes (TS 38.323 §4.3.1)
    radio_framing        = 25,  // no framing of an uplink RLC PDU, or that of another mode than the bearer's
    no_bearer            = 26,  // no such UE or DRB
    count_exhausted      = 27,  // COUNT has come to its end: the bearer needs new keys (TS 33.501 §6.3)
    pdcp_control         = 28,  // a status report, or feedback of a compression that we have not: nobody here takes it
    sdap_length          = 29,  // no SDAP header, or nothing behind it
    no_peer              = 30,  // no way out
    wrong_source         = 31,  // of a bearer, but not from its UPF or its radio unit
    wrong_marker         = 32,  // with MARKER: of no group, or not of its bearer's (gnb/steps.p4)
    in_front             = 33,  // of a bearer whose COUNT is in front of us, but it was handed on (gnb/front.p4)
    // waits for the radio's rate; with FRONT it is dropped
    rate_exceeded        = 40,
    // what has been processed and goes no further
    status_processed     = 48,  // a STATUS PDU of the UE, by the buffer
    in_segments          = 49,  // an SDU longer than a grant: the buffer sends its segments
    absorbed             = 50,  // a segment whose SDU is not whole yet
    sdap_end_marker      = 51,  // TS 37.324 §6.2.3
    sent_again           = 52   // by the buffer, where there is no radio (gnb/steps.p4)
}

enum bit<2> RlcMode {
    tm = 0,
    um = 1,
    am = 2
}

struct gnb_metadata_t {
    // The bearer: see bearer.p4.
    bit<32> bearer;
    RlcMode rlc_mode;
    bit<1>  rlc_long;      // AM: 18 bits and not 12; UM: 12 and not 6
    bit<1>  pdcp_long;     // 18 bits and not 12
    bit<1>  sdap_header;
    bit<1>  reflective;
    bit<1>  is_protected;  // ciphered, with a MAC-I, or both
    bit<16> key_index;
    bit<16> ue;
    bit<8>  drb;
    bit<16> peer;          // where the packet goes: a radio unit, or a UPF
    bit<16> radio;         // of an uplink packet: where the radio unit is
    bit<1>  to_radio;      // it leaves by the radio
    bit<32> source;        // who alone sends packets of the bearer: the UPF, or the radio unit
    bit<16> source_port;   // and its UDP port; 0: any
    bit<32> count_base;    // see bearer.p4
    bit<6>  qfi;
    teid_t  teid;

    bit<8>  rlc_first;     // first byte of an uplink RLC PDU
    bit<32> place;         // of RLC AM: the packet's place in the buffer
    bit<32> count;         // COUNT (TS 38.323 §6.3.5)
    bit<32> prefix;        // PDCP's and SDAP's headers, in the last prefix_bytes bytes
    bit<8>  prefix_bytes;
    bit<16> payload_bytes; // what is behind the headers
    bit<16> pdu_bytes;     // longest RLC PDU: a grant
    bit<16> segment_bytes; // what a segment of a longer SDU holds; 0: the SDU is not cut
    bit<16> segment_offset;
    bit<2>  segmentation;  // SI: 0 a whole SDU, 1 its first segment, 2 its last, 3 one between (TS 38.322 §6.2.3.4)
    bit<18> rlc_sn;
    bit<1>  poll;

    // What counters and the meter take: bytes of a user's packet, or of an RLC PDU.
    @pdu_length
    bit<64> counted_bytes;

    // Of a packet that waits for the radio's rate: its queue, which is its bearer's.
    @mark
    bit<32> mark;

    @drop_reason
    Reason  reason;
}

#endif
