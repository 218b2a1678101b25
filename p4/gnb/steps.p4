/* The pipeline as Memarian et al. grow it, one addition a step (§V-C, Figure 7): build option STEP.
 *
 *   STEP=0   L2FWD: the MAC addresses are swapped, and the frame goes back
 *   STEP=1   and GTP-U is decapsulated
 *   STEP=2   and headers of SDAP, PDCP and RLC are put in front, with numbers from the TEID (Singh et al., §5.6)
 *   STEP=3   and a table of 64K bearers says what is in them
 *   STEP=4   and each packet is cloned; the clone is dropped
 *   STEP=5   and the copy goes to the buffer instead, until a STATUS PDU, which comes by the radio, acknowledges it. What the buffer sends again goes no further
 *
 * With CIPHER, from STEP=3 on: what the bearer protects is ciphered, and gets its MAC-I, before RLC's header.
 *
 * With MARKER a packet says in the IPv4 Identification of its tunnel which group it is of, as in the paper (§V-C, Figure 9): its upper six bits. A target in
 * front runs the groups that it holds and passes the others on. Without it a target in front runs the bearers that it holds (bearer.p4). COUNT is a register of the
 * target that ran the packet, so all packets of a bearer must run on one: with MARKER the group is the lowest six bits of the bearer's number, and a packet
 * that says another is dropped. Steps before 3 have no COUNT, and take any marker.
 *
 * The paper's figure for x86 (Figure 8) counts from one more: its step 0 receives and drops, its 1 is our 0, its 5 our 5 without a 4.
 * What leaves is Ethernet and the RLC PDU, as there; the whole program has a radio link instead.
 */
#ifndef GNB_STEPS_P4
#define GNB_STEPS_P4

/* IEEE Std 802, local experimental EtherType 1. */
const bit<16> ETHERTYPE_RLC = 0x88B5;

#if STEP < 0 || STEP > 5
#error "STEP is 0 to 5"
#endif
#ifdef CIPHER
#if STEP < 3
#error "CIPHER is for bearers: STEP=3 and more"
#endif
#endif
#ifdef MARKER
/* Groups of packets, by marker. */
const bit<32> MARKER_GROUPS = 64;
#endif

control Steps(inout gnb_headers_t hdr, inout gnb_metadata_t meta, inout standard_metadata_t standard_metadata) {

#if STEP >= 1 || defined(MARKER)
    action drop(Reason reason) {
        meta.reason = reason;
        mark_to_drop(standard_metadata);
        exit;
    }
#endif

#ifdef MARKER
    action run() { }

    @split("horizontal")
    table marked {
        key = { hdr.ipv4.identification[15:10]: exact @name("group"); }
        actions = { run; drop; }
        default_action = drop(Reason.wrong_marker);
        size = MARKER_GROUPS;
    }
#endif

#if STEP >= 2
    PdcpHeader() pdcp_header;
    RlcHeader() rlc_header;
#endif
#if STEP >= 3
    DownlinkBearer() bearer;
    Spend() spend;
    Count() count;
#endif
#ifdef CIPHER
    Protect() protect;
#endif
#if STEP == 5
    UplinkBearer() uplink_bearer;
    Acknowledge() acknowledge;
    Service<buffer_request_t, buffer_answer_t>("buffer") buffer;
#endif

    apply {
#ifdef MARKER
        // A UE's packets have none: their bearer says where they run.
        if (hdr.ipv4.isValid() && !hdr.framing.isValid()) {
            marked.apply();
        }
#endif
        mac_t dst = hdr.ethernet.dst;
        hdr.ethernet.dst = hdr.ethernet.src;
        hdr.ethernet.src = dst;
        standard_metadata.egress_spec = standard_metadata.ingress_port;
#if STEP == 5
        if (standard_metadata.ingress_port == SERVICE_PORT) {
            drop(Reason.sent_again);
        }
        if (hdr.framing.isValid() && standard_metadata.parser_error == error.NoError) {
            // A UE's: its data goes no further.
            uplink_bearer.apply(hdr, meta, standard_metadata);
            if (meta.rlc_mode == RlcMode.am && meta.rlc_first[7:7] == 0) {
                acknowledge.apply(meta, standard_metadata);
            }
            drop(Reason.radio_framing);
        }
#endif
#if STEP >= 1
        if (standard_metadata.parser_error != error.NoError || !hdr.gtpu.isValid() || hdr.gtpu.message_type != GTPU_GPDU) {
            drop(Reason.malformed);
        }
#if STEP >= 2
        meta.qfi = hdr.gtpu_psc.isValid() ? hdr.gtpu_psc.qos[5:0] : 0;
#if STEP >= 3
        bearer.apply(hdr, meta, standard_metadata);
#ifdef MARKER
        if (meta.bearer[5:0] != hdr.ipv4.identification[15:10]) {
            drop(Reason.wrong_marker);
        }
#endif
        spend.apply(meta);
        count.apply(meta, standard_metadata);
#else
        meta.rlc_mode = RlcMode.am;
        meta.rlc_long = 1;
        meta.pdcp_long = 1;
        meta.sdap_header = 1;
        meta.count = hdr.gtpu.teid;
#endif
        pdcp_header.apply(hdr, meta);
        // Each SDU is one PDU, and nothing is lost on the way from PDCP to RLC.
        meta.rlc_sn = meta.count[17:0];
        rlc_header.apply(hdr, meta);
        hdr.ethernet.ethertype = ETHERTYPE_RLC;
#endif
        hdr.ipv4.setInvalid();
        hdr.udp.setInvalid();
        hdr.gtpu.setInvalid();
        hdr.gtpu_optional.setInvalid();
        hdr.gtpu_psc.setInvalid();
#endif
#ifdef CIPHER
        protect.apply(meta);
#endif
#if STEP == 4
        clone(CloneType.I2E, 1);
#endif
#if STEP == 5
        // The buffer numbers what it keeps as COUNT does while it refuses nothing, as the measurement sees to.
        buffer.send({ BUFFER_NEXT, meta.bearer, 0, 0, meta.prefix_bytes, 0, meta.prefix });
#endif
    }
}

#endif
