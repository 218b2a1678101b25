/* Extension headers of a tunnel that go on into the next one, as they came (TS 29.281 §5.2.1): PDCP PDU numbers of packets
 * that a gNodeB forwards at a handover are the ones that matter. The session container is made anew: tunnel.p4. */
#ifndef RELAY_P4
#define RELAY_P4

/* How many bytes they are. */
control RelayedExtensions(inout headers_t hdr, inout metadata_t meta) {
    apply {
        if (meta.encapsulation == Encapsulation.none) {
            meta.relayed_bits = 0;
        }
        if (meta.relayed_bits != 0) {
            meta.out_length = meta.out_length + (meta.relayed_bits >> 3);
            if (meta.encapsulation == Encapsulation.gtpu) {
                meta.out_length = meta.out_length + 4; // the optional fields, which a container would have brought
            }
        }
    }
}

/* Behind what tunnel.p4 has made. */
control Relay(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
        if (hdr.gtpu_chain.isValid()) {
            hdr.gtpu_chain.setInvalid();
            if (meta.relayed_bits != 0) {
                if (hdr.tunnel_psc.isValid()) {
                    hdr.tunnel_psc.next_extension = meta.relayed_type;
                } else {
                    hdr.tunnel_gtpu.has_extension = 1;
                    hdr.tunnel_optional.setValid();
                    hdr.tunnel_optional.sequence = 0;
                    hdr.tunnel_optional.npdu = 0;
                    hdr.tunnel_optional.next_extension = meta.relayed_type;
                }
                hdr.tunnel_unit_1.setValid();
                hdr.tunnel_unit_1.octets = meta.relayed[31:0];
                if (meta.relayed_bits > 32) {
                    hdr.tunnel_unit_2.setValid();
                    hdr.tunnel_unit_2.octets = meta.relayed[63:32];
                }
                if (meta.relayed_bits > 64) {
                    hdr.tunnel_unit_3.setValid();
                    hdr.tunnel_unit_3.octets = meta.relayed[95:64];
                }
                if (meta.relayed_bits > 96) {
                    hdr.tunnel_unit_4.setValid();
                    hdr.tunnel_unit_4.octets = meta.relayed[127:96];
                }
            }
        }
    }
}

#endif
