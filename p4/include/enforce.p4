/* What the PDR's rules allow: FAR's Apply Action and QER gates (TS 29.244 §5.2.3, §5.4), and the UE's right to its
 * source address; and whether its extension headers allow that it goes on. Nothing of the packet has been changed yet, so what waits in the buffer is what came in. */
#ifndef ENFORCE_P4
#define ENFORCE_P4

control Enforce(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {

    action drop(Reason reason) {
        meta.reason = reason;
        mark_to_drop(standard_metadata);
        exit;
    }

    action punt(Reason reason) {
        meta.reason = reason;
        standard_metadata.egress_spec = PUNT_PORT;
        exit;
    }

    apply {
        if (meta.disposition != Disposition.forward) {
            if (meta.disposition == Disposition.buffer) {
                standard_metadata.egress_spec = BUFFER_PORT;
                exit;
            } else if (meta.disposition == Disposition.gate_closed) {
                drop(Reason.gate_closed);
            } else if (meta.disposition == Disposition.quota_exhausted) {
                drop(Reason.quota_exhausted);
            }
            drop(Reason.far_drop);
        }

        if ((meta.flags & PDR_CHECK_SOURCE) != 0) {
            if (meta.ip_version == 4) {
                if (meta.ue_ipv4 == 0 || meta.src_v4 != meta.ue_ipv4) {
                    drop(Reason.source_spoofed);
                }
            } else if (meta.ue_prefix == 0 || meta.src_v6[127:64] != meta.ue_prefix) {
                drop(Reason.source_spoofed);
            }
        }

        // Addresses that no router passes on (RFC 1812 §5.3.7, RFC 4291 §2.5). What is only relayed, from tunnel to tunnel or to
        // the CP function, is not for us to judge: router solicitations come from link-local addresses, DHCP from none.
        // A group is no route's: only multicast routing, which is not served, passes its packets on (RFC 1812 §5.2.1, RFC 4291 §2.7).
        if ((meta.flags & PDR_DECREMENT_TTL) != 0) {
            if (meta.ip_version == 4) {
                bit<8> src = meta.src_v4[31:24];
                bit<8> dst = meta.dst_v4[31:24];
                if (src == 0 || src >= 224 || dst == 0 || dst >= 240
                    || ((src == 127 || dst == 127) && meta.loopback == 0)) {
                    drop(Reason.martian);
                } else if (dst >= 224) {
                    drop(Reason.multicast);
                }
            } else if (meta.src_v6[127:32] == 0 || meta.src_v6[127:32] == 0xffff || meta.src_v6[127:120] == 0xff
                       || meta.src_v6[127:118] == 0x3fa || meta.dst_v6[127:32] == 0 || meta.dst_v6[127:32] == 0xffff
                       || meta.dst_v6[127:118] == 0x3fa) {
                drop(Reason.martian);
            } else if (meta.dst_v6[127:120] == 0xff) {
                drop(Reason.multicast);
            }
        }

        // Where the packet leaves its tunnel we are the tunnel's end, else we stand between two (TS 29.281 §5.2.1). The
        // sender is told what we comprehend.
        if (hdr.gtpu_numbers.isValid()) {
            if (meta.unknown_extension == 1
                || (meta.endpoint_extension == 1 && meta.encapsulation == Encapsulation.none)) {
                punt(Reason.gtpu_signalling);
            }
        }
    }
}

#endif
