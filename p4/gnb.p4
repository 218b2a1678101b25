/* The user plane of a gNodeB (TS 38.300 §4.4): N3 and the radio, SDAP, PDCP and RLC.
 *
 * Singh et al., §5.6 and Figure 6; Memarian et al., §IV. Read it top to bottom: parser, frame, then downlink or uplink, each a file in gnb/ with its
 * steps. What P4 cannot do is done by services (include/service.p4): `cipher`, `buffer` (RLC AM's transmission window) and `radio_bearer`
 * (the receiving sides of RLC and PDCP).
 *
 * Build options: STEP=0 to 5 is Memarian et al.'s pipeline as it grows (gnb/steps.p4), with CIPHER also PDCP's security; FRONT is what a card in front of the whole
 * program runs (gnb/front.p4); BEARERS the size of the bearer tables (65536).
 */
#include <core.p4>
#include <v1model.p4>
#include <service.p4>

#include "include/splitplane.p4"
#include "gnb/headers.p4"
#include "gnb/metadata.p4"
#include "gnb/parser.p4"
#include "gnb/frame.p4"
#include "gnb/bearer.p4"
#include "gnb/pdcp.p4"
#include "gnb/rlc.p4"
#include "gnb/radio.p4"
#include "gnb/peer.p4"
#include "gnb/downlink.p4"
#ifdef FRONT
#include "gnb/front.p4"
#else
#include "gnb/uplink.p4"
#endif
#ifdef STEP
#include "gnb/steps.p4"
#endif

#ifdef STEP

control GnbIngress(inout gnb_headers_t hdr, inout gnb_metadata_t meta, inout standard_metadata_t standard_metadata) {
    Steps() steps;

    apply {
        steps.apply(hdr, meta, standard_metadata);
    }
}

#elif defined(FRONT)

control GnbIngress(inout gnb_headers_t hdr, inout gnb_metadata_t meta, inout standard_metadata_t standard_metadata) {
    Front() front;

    apply {
        front.apply(hdr, meta, standard_metadata);
    }
}

#else

control GnbIngress(inout gnb_headers_t hdr, inout gnb_metadata_t meta, inout standard_metadata_t standard_metadata) {
    Frame() frame;
    Downlink() downlink;
    Uplink() uplink;
    FromBuffer() from_buffer;
    ToRadio() to_radio;
    Peer() peer;

    apply {
        if (standard_metadata.ingress_port == SERVICE_PORT) {
            from_buffer.apply(hdr, meta, standard_metadata); // an RLC PDU once more, or a segment
        } else {
            frame.apply(hdr, meta, standard_metadata);       // is it sound, is it for us
            if ((standard_metadata.ingress_port & RADIO_PORT_FLAG) == 0) {
                downlink.apply(hdr, meta, standard_metadata);// from a tunnel to an RLC PDU
            } else {
                uplink.apply(hdr, meta, standard_metadata);  // and back; or to a STATUS PDU, which answers
            }
        }
        if (meta.to_radio == 1) {
            to_radio.apply(hdr, meta);
        }
        peer.apply(hdr, meta, standard_metadata);            // where it goes
    }
}

#endif

control GnbEgress(inout gnb_headers_t hdr, inout gnb_metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply {
#ifdef STEP
#if STEP == 4
        // The clone, of which nothing is wanted but what it costs.
        if (standard_metadata.instance_type != 0) {
            mark_to_drop(standard_metadata);
        }
#endif
#endif
    }
}

V1Switch(GnbParser(), GnbVerifyChecksum(), GnbIngress(), GnbEgress(), GnbComputeChecksum(), GnbDeparser()) main;
