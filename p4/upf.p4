/* The user plane function: N3, N6 and N9 (TS 23.501 §6.2.3, TS 29.244, TS 29.281).
 *
 * Function list: Singh et al., Table 3. Read it top to bottom: parser, then the steps of UpfIngress, each a
 * control in the file of its name. The blocks know of v1model only standard_metadata and the externs, so that
 * another architecture's top can take them over.
 */
#include <core.p4>
#include <v1model.p4>

#include "include/splitplane.p4"
#include "include/headers.p4"
#include "include/metadata.p4"
#include "include/parser.p4"
#include "include/checksum.p4"
#include "include/station.p4"
#include "include/user.p4"
#include "include/firewall.p4"
#include "include/session.p4"
#include "include/enforce.p4"
#include "include/police.p4"
#include "include/relay.p4"
#include "include/tunnel.p4"
#include "include/route.p4"
#include "include/trim.p4"
#include "include/usage.p4"
#ifdef HEAVY
#include "include/heavy.p4"
#endif

control UpfIngress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    Station() station;
    UserPacket() user_packet;
    Firewall() firewall;
    Session() session;
    Enforce() enforce;
    TrafficClass() traffic_class;
    Route() route;
    Police() police;
    Tunnel() tunnel;
    Trim() trim;
    Usage() usage;
#ifdef HEAVY
    Heavy() heavy;
#endif

    apply {
        user_packet.apply(hdr, meta, standard_metadata);       // what came in, is it sound
        station.apply(hdr, meta, standard_metadata);           // is it for us
        session.apply(hdr, meta, standard_metadata);           // whose is it: PDR
        firewall.apply(hdr, meta, standard_metadata);          // global rules
        enforce.apply(hdr, meta, standard_metadata);           // FAR, QER gates
        traffic_class.apply(hdr, meta, standard_metadata);     // 5-tuple class: queue
#ifndef SHAPE
        route.apply(hdr, meta, standard_metadata);             // where to
        police.apply(hdr, meta, standard_metadata);            // QER and class rates
#else
        police.apply(hdr, meta, standard_metadata);            // what is over an MBR waits, as it came in
        route.apply(hdr, meta, standard_metadata);             // where to
#endif
        tunnel.apply(hdr, meta, standard_metadata);            // TTL, decapsulation, encapsulation
        trim.apply(hdr, meta, standard_metadata);              // nothing behind the user's packet
        usage.apply(hdr, meta, standard_metadata);             // URR
#ifdef HEAVY
        heavy.apply(hdr, meta, standard_metadata);             // recent rate, for placement
#endif
    }
}

control UpfEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

V1Switch(UpfParser(), UpfVerifyChecksum(), UpfIngress(), UpfEgress(), UpfComputeChecksum(), UpfDeparser()) main;
