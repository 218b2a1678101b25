/* Extension headers and numbers of a tunnel that go on into the next one, as they came (TS 29.281 §5.2.1, TS 29.244 table 8.2.64-1
 * note 1). Of a PDU session container a QER's QFI replaces the QFI: what else it says, such as RQI and PPI, stays. */
#ifndef RELAY_P4
#define RELAY_P4

/* How long they are. Before the packet changes, for it may be too long for the way out. */
control RelayedLength(inout headers_t hdr, inout metadata_t meta) {
    apply {
        if (hdr.gtpu_psc.isValid()) {
            meta.relayed_bytes = 4;
            meta.container_bytes = 4;
        }
        if ((meta.flags & PDR_DELETE_CONTAINER) != 0) {
            meta.relayed_bytes = meta.relayed_bytes - meta.container_bytes;
            meta.container_bytes = 0;
        }
        if (meta.encapsulation != Encapsulation.gtpu && meta.container_bytes == 0) {
            meta.new_container = 1;
            meta.relayed_bytes = meta.relayed_bytes + 4;
        }
        meta.out_length = meta.pdu_length + GTPU_OVERHEAD + (bit<32>)meta.relayed_bytes;
        if (meta.relayed_bytes != 0 || hdr.gtpu.has_sequence == 1 || hdr.gtpu.has_npdu == 1) {
            meta.out_length = meta.out_length + 4;
        }
    }
}

/* Behind the header that tunnel.p4 has made. */
control Relay(inout headers_t hdr, inout metadata_t meta) {
    bit<8> pdu_type = 0;
    bit<8> qfi = 0;      // of a QER
    bit<8> kept = 0xFF;  // of the octet with the QFI

/* Each of a row. */
#define RELAY(e)                                                                                                      \
    if (e.isValid()) {                                                                                                \
        if (e.kind[7:6] == 1) {                                                                                       \
            e.setInvalid();                                                                                           \
        } else if (e.kind == GTPU_EXT_PSC) {                                                                          \
            if ((meta.flags & PDR_DELETE_CONTAINER) != 0) {                                                           \
                e.setInvalid();                                                                                       \
            } else {                                                                                                  \
                e.qos = (e.qos & kept) | qfi;                                                                         \
            }                                                                                                         \
        }                                                                                                             \
    }

    apply {
        if (meta.encapsulation != Encapsulation.gtpu) {
            pdu_type = meta.encapsulation == Encapsulation.psc_uplink ? 8w0x10 : 8w0;
            if ((meta.flags & PDR_KEEP_QFI) == 0) {
                qfi = meta.psc_qos;
                kept = 0xC0;
            }
        }
        hdr.tunnel_gtpu.has_extension = meta.relayed_bytes == 0 ? 1w0 : 1w1;
        hdr.tunnel_gtpu.has_sequence = hdr.gtpu.has_sequence;
        hdr.tunnel_gtpu.has_npdu = hdr.gtpu.has_npdu;
        bool empty = meta.relayed_bytes == 0 && hdr.gtpu.has_sequence == 0 && hdr.gtpu.has_npdu == 0;
        if (hdr.gtpu_psc.isValid()) {
            if (meta.new_container == 1) {
                hdr.gtpu_psc.pdu_type = pdu_type[7:4];
                hdr.gtpu_psc.spare = 0;
                hdr.gtpu_psc.qos = meta.psc_qos;
            } else if ((meta.flags & PDR_DELETE_CONTAINER) == 0) {
                hdr.gtpu_psc.qos = (hdr.gtpu_psc.qos & kept) | qfi;
            } else {
                hdr.gtpu_psc.setInvalid();
                hdr.gtpu_optional.next_extension = GTPU_EXT_NONE;
                if (empty) {
                    hdr.gtpu_optional.setInvalid();
                }
            }
        } else {
            RELAY(hdr.gtpu_extension_1)
            RELAY(hdr.gtpu_extension_2)
            RELAY(hdr.gtpu_extension_3)
            RELAY(hdr.gtpu_extension_4)
            hdr.gtpu_end.none = GTPU_EXT_NONE;
            if (meta.new_container == 1) {
                // The first of them, as TS 29.281 §5.2.2.7 recommends.
                hdr.gtpu_container.setValid();
                hdr.gtpu_container.kind = GTPU_EXT_PSC;
                hdr.gtpu_container.length = 1;
                hdr.gtpu_container.pdu_type = pdu_type;
                hdr.gtpu_container.qos = meta.psc_qos;
            } else if (empty) {
                hdr.gtpu_numbers.setInvalid();
                hdr.gtpu_end.setInvalid();
            }
        }
    }
}

#endif
