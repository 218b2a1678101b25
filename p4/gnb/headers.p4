/* Headers of a gNodeB: those of N3 are shared with upf.p4, those of the radio are here. */
#ifndef GNB_HEADERS_P4
#define GNB_HEADERS_P4

#include "../include/headers.p4"

/* What carries an RLC PDU over the radio link, as Wireshark's heuristic `rlc_nr_udp` reads it: a name, mode and bits of sequence numbers,
 * then tags with a value each, in this order. */
const bit<48> FRAMING_NAME = 0x726c632d6e72; // "rlc-nr"
const bit<8> FRAMING_TM = 1;
const bit<8> FRAMING_UM = 2;
const bit<8> FRAMING_AM = 4;
const bit<8> FRAMING_DIRECTION = 0x02;
const bit<8> FRAMING_UE = 0x03;
const bit<8> FRAMING_BEARER_TYPE = 0x04;
const bit<8> FRAMING_BEARER = 0x05;
const bit<8> FRAMING_PAYLOAD = 0x01;
const bit<8> BEARER_TYPE_DRB = 5;

const bit<8> UPLINK = 0;
const bit<8> DOWNLINK = 1;

header framing_h {
    bit<48> name;
    bit<8>  mode;
    bit<8>  sn_bits;
    bit<8>  direction_tag;
    bit<8>  direction;
    bit<8>  ue_tag;
    bit<16> ue;
    bit<8>  type_tag;
    bit<8>  bearer_type;
    bit<8>  bearer_tag;
    bit<8>  drb;
    bit<8>  payload_tag;
}

/* AMD PDU that holds a whole SDU (TS 38.322 §6.2.2.4). */
header rlc_am12_h {
    bit<1>  data;
    bit<1>  poll;
    bit<2>  segmentation;
    bit<12> sn;
}

header rlc_am18_h {
    bit<1>  data;
    bit<1>  poll;
    bit<2>  segmentation;
    bit<2>  reserved;
    bit<18> sn;
}

/* UMD PDU that holds a whole SDU, without a sequence number, or a segment with one of 6 bits (TS 38.322 §6.2.2.3). */
header rlc_um_h {
    bit<2> segmentation;
    bit<6> sn;
}

header rlc_um12_h {
    bit<2>  segmentation;
    bit<2>  reserved;
    bit<12> sn;
}

/* Of a segment that is not its SDU's first: where it begins (TS 38.322 §6.2.3.5). */
header rlc_so_h {
    bit<16> offset;
}

/* PDCP data PDU of a DRB (TS 38.323 §6.2.2.2, §6.2.2.3). */
header pdcp12_h {
    bit<1>  data;
    bit<3>  reserved;
    bit<12> sn;
}

header pdcp18_h {
    bit<1>  data;
    bit<5>  reserved;
    bit<18> sn;
}

/* Downlink (TS 37.324 §6.2.2.2). */
header sdap_h {
    bit<1> rdi;
    bit<1> rqi;
    bit<6> qfi;
}

/* What packets of the buffer's own begin with: its answer (rlc.p4). */
const bit<32> BUFFER_BYTES = 14;

header buffer_h {
    bit<8>  event;
    bit<32> bearer;
    bit<32> sn;
    bit<16> start;
    bit<16> end;
    bit<4>  reserved;
    bit<1>  more;
    bit<1>  part;
    bit<1>  max_retransmissions;
    bit<1>  poll;
}

struct gnb_headers_t {
    buffer_h        buffer;
    ethernet_h      ethernet;
    ipv4_h          ipv4;
    udp_h           udp;
    gtpu_h          gtpu;
    gtpu_optional_h gtpu_optional;
    gtpu_psc_h      gtpu_psc;
    framing_h       framing;
    rlc_am12_h      rlc_am12;
    rlc_am18_h      rlc_am18;
    rlc_um_h        rlc_um;
    rlc_um12_h      rlc_um12;
    rlc_so_h        rlc_so;
    pdcp12_h        pdcp12;
    pdcp18_h        pdcp18;
    sdap_h          sdap;
}

#endif
