/* Whose is the packet: the radio bearer by TEID and QFI (TS 37.324 §5.2.1), or by UE and DRB. */
#ifndef GNB_BEARER_P4
#define GNB_BEARER_P4

/* Entries of each table, and cells of what is kept by bearer. */
#ifndef BEARERS
#define BEARERS 65536
#endif

control DownlinkBearer(inout gnb_headers_t hdr, inout gnb_metadata_t meta, inout standard_metadata_t standard_metadata) {

    action unknown() {
        meta.reason = Reason.unknown_teid;
        standard_metadata.egress_spec = PUNT_PORT;
        exit;
    }

    /* A data radio bearer, downlink.
     *   bearer        its number: cell of `spent`, and what services know it by
     *   rlc_mode, rlc_long, pdcp_long   formats of RLC and PDCP
     *   sdap_header, reflective   whether there is one, and whether it asks the UE to follow (RDI)
     *   is_protected, key_index   the ciphers' setting; without either ciphering or integrity protection they are not called
     *   ue, drb       for the radio's framing; BEARER is drb less 1
     *   count_base    COUNT is this and the packet's place in the buffer; without RLC AM this and what the cell says: so a bearer begins at 0, whoever had the cell before
     *   pdu_bytes     longest RLC PDU, 16 and more: of longer packets segments are sent
     *   peer          the radio unit
     *   upf           where the tunnel comes from: packets of others are dropped
     */
    action set_bearer(bit<32> bearer, RlcMode rlc_mode, bit<1> rlc_long, bit<1> pdcp_long, bit<1> sdap_header, bit<1> reflective,
                      bit<1> is_protected, bit<16> key_index, bit<16> ue, bit<8> drb, bit<32> count_base, bit<16> pdu_bytes,
                      bit<16> peer, ipv4_t upf) {
        meta.bearer = bearer;
        meta.rlc_mode = rlc_mode;
        meta.rlc_long = rlc_long;
        meta.pdcp_long = pdcp_long;
        meta.sdap_header = sdap_header;
        meta.reflective = reflective;
        meta.is_protected = is_protected;
        meta.key_index = key_index;
        meta.ue = ue;
        meta.drb = drb;
        meta.pdu_bytes = pdu_bytes;
        meta.peer = peer;
        meta.count_base = count_base;
        meta.source = upf;
    }

#ifdef FRONT
    /* It passes on. This table holds bearers that nobody else has, so it is no part of another one (`@split`). */
    table bearer_by_flow {
        key = {
            hdr.gtpu.teid: exact @name("teid");
            meta.qfi: exact @name("qfi");
        }
        actions = { set_bearer; unknown; }
        default_action = unknown();
        size = BEARERS;
    }

    apply {
        bearer_by_flow.apply();
    }
#else
    action miss() { }

    /* A target in front of us has the bearer, and its COUNT (front.p4). */
    action in_front() {
        meta.reason = Reason.in_front;
        mark_to_drop(standard_metadata);
        exit;
    }

    @split("horizontal")
    table bearer_by_flow {
        key = {
            hdr.gtpu.teid: exact @name("teid");
            meta.qfi: exact @name("qfi");
        }
        actions = { set_bearer; in_front; miss; }
        default_action = miss();
        size = BEARERS;
    }

    /* Takes flows that no rule maps (TS 38.331 `defaultDRB`). */
    @split("horizontal")
    table default_bearer {
        key = { hdr.gtpu.teid: exact @name("teid"); }
        actions = { set_bearer; unknown; }
        default_action = unknown();
        size = BEARERS;
    }

    apply {
        if (bearer_by_flow.apply().miss) {
            default_bearer.apply();
        }
    }
#endif
}

/* Does a packet of the bearer come from where it must? Others may know its TEID, or its UE's number. */
control Source(inout gnb_headers_t hdr, inout gnb_metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (hdr.ipv4.src != meta.source || (meta.source_port != 0 && hdr.udp.src != meta.source_port)) {
            meta.reason = Reason.wrong_source;
            mark_to_drop(standard_metadata);
            exit;
        }
    }
}

/* From this COUNT on a bearer needs new keys soon: a COUNT must not come twice under a key (TS 33.501 §6.9.4). */
const bit<32> COUNT_NOTIFY = 0xC0000000;

/* COUNT of a downlink packet (TS 38.323 §5.2.1), where the buffer does not number the bearer's packets. It is spent when nothing is left that could drop the packet before
 * the radio: the UE waits for each. */
control Spend(inout gnb_metadata_t meta) {

    /* COUNTs that a bearer has spent. The cell outlives the bearer: see count_base. */
    register<bit<32>>(BEARERS) spent;

    apply {
        bit<32> before;
        spent.read(before, meta.bearer);
        meta.count = before + meta.count_base;
        // Behind the last COUNT there is none.
        if (meta.count != 0xFFFFFFFF) {
            spent.write(meta.bearer, before + 1);
        }
    }
}

/* Whether a packet's COUNT is near its end, or there. */
control Count(inout gnb_metadata_t meta, inout standard_metadata_t standard_metadata) {

    /* Packets from COUNT_NOTIFY on: the control plane looks at it. */
    counter(BEARERS, CounterType.packets) downlink_count_high;

    action drop(Reason reason) {
        meta.reason = reason;
        mark_to_drop(standard_metadata);
        exit;
    }

    apply {
        if (meta.count == 0xFFFFFFFF) {
            drop(Reason.count_exhausted);
        }
        if (meta.count >= COUNT_NOTIFY) {
            downlink_count_high.count(meta.bearer);
        }
    }
}

control UplinkBearer(inout gnb_headers_t hdr, inout gnb_metadata_t meta, inout standard_metadata_t standard_metadata) {

    action no_bearer() {
        meta.reason = Reason.no_bearer;
        mark_to_drop(standard_metadata);
        exit;
    }

    /* As downlink. radio is the radio unit, which takes the STATUS PDUs that answer, and unit and unit_port its address, from which alone PDUs are taken; peer
     * the UPF; teid the UPF's. qfi is that of a bearer without SDAP header. */
    action set_bearer(bit<32> bearer, RlcMode rlc_mode, bit<1> rlc_long, bit<1> pdcp_long, bit<1> sdap_header, bit<1> is_protected,
                      bit<16> key_index, bit<6> qfi, teid_t teid, bit<16> radio, bit<16> peer, ipv4_t unit, bit<16> unit_port) {
        meta.bearer = bearer;
        meta.rlc_mode = rlc_mode;
        meta.rlc_long = rlc_long;
        meta.pdcp_long = pdcp_long;
        meta.sdap_header = sdap_header;
        meta.is_protected = is_protected;
        meta.key_index = key_index;
        meta.qfi = qfi;
        meta.teid = teid;
        meta.radio = radio;
        meta.peer = peer;
        meta.source = unit;
        meta.source_port = unit_port;
    }

    @split("horizontal")
    table bearer_by_ue {
        key = {
            hdr.framing.ue: exact @name("ue");
            hdr.framing.drb: exact @name("drb");
        }
        actions = { set_bearer; no_bearer; }
        default_action = no_bearer();
        size = BEARERS;
    }

    apply {
        bearer_by_ue.apply();
    }
}

#endif
