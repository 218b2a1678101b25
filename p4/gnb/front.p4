/* What stands in front of the whole program on N3: build option FRONT, for the kernel's XDP hook or a NIC. It carries the downlink of bearers that need nothing that P4 cannot
 * do: RLC UM, neither ciphered nor integrity protected, packets no longer than a grant. It is Memarian et al.'s steps 0 to 3 with the radio link of the whole program (§V-C).
 *
 * A bearer's COUNT is a register of who runs it, so a bearer that is here is nowhere else: what it cannot have here is dropped and not handed on, where another
 * COUNT would begin. Packets over the rate do not wait, and longer ones are not cut. Whatever is of no bearer of ours passes on as it came, to the kernel and the program behind it. */
#ifndef GNB_FRONT_P4
#define GNB_FRONT_P4

control Front(inout gnb_headers_t hdr, inout gnb_metadata_t meta, inout standard_metadata_t standard_metadata) {
    Frame() frame;
    FromCore() from_core;
    DownlinkBearer() bearer;
    Source() source;
    RadioRate() radio_rate;
    Spend() spend;
    Count() count;
    CountDownlink() count_downlink;
    PdcpHeader() pdcp_header;
    Grant() grant;
    RlcHeader() rlc_header;
    ToRadio() to_radio;
    Peer() peer;

    apply {
        frame.apply(hdr, meta, standard_metadata);       // sound, and for us, or it passes on
        from_core.apply(hdr, meta, standard_metadata);   // a user's packet, of which flow, or it passes on
        bearer.apply(hdr, meta, standard_metadata);      // on which bearer, or it passes on
        source.apply(hdr, meta, standard_metadata);      // from the UPF
        meta.prefix_bytes = (meta.pdcp_long == 1 ? 8w3 : 8w2) + (bit<8>)meta.sdap_header;
        grant.apply(meta);                               // in one PDU
        if (meta.segment_bytes != 0) {
            meta.reason = Reason.too_big;
            mark_to_drop(standard_metadata);
            exit;
        }
        radio_rate.apply(meta, standard_metadata);       // within the rate
        spend.apply(meta);                               // under which COUNT
        count.apply(meta, standard_metadata);            // while there are COUNTs
        count_downlink.apply(meta);
        pdcp_header.apply(hdr, meta);                    // SDAP and PDCP
        meta.payload_bytes = meta.payload_bytes + (bit<16>)meta.prefix_bytes;
        rlc_header.apply(hdr, meta);
        to_radio.apply(hdr, meta);
        peer.apply(hdr, meta, standard_metadata);        // where it goes
    }
}

#endif
