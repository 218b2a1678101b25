/* The UPF, and what leaves it is with the service `buffer` until a peer acknowledges it. The buffer numbers it and sends the first copy, which goes on. A frame of
 * EtherType 0x88b5 is the peer's: its payload is a STATUS PDU for the bearer that its source address names. Without the step `trim`: a program that truncates
 * cannot be cut. */
#include <core.p4>
#include <v1model.p4>
#include <service.p4>

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
#include "include/usage.p4"

/* As `buffer::service::INTERFACE` declares them. */
struct buffer_request_t { bit<8> operation; bit<32> bearer; bit<32> sn; bit<8> flags; bit<8> prefix_bytes; bit<16> segment_bytes; bit<32> prefix; }
struct buffer_answer_t { bit<8> event; bit<32> bearer; bit<32> sn; bit<16> start; bit<16> end; bit<8> flags; }

/* Which flow: session, direction and IP version. */
control Flow(in metadata_t meta, out bit<32> flow) {
    apply {
        bit<3> ue = meta.ip_version == 4
            ? (meta.user_is_inner == 1 ? meta.src_v4[2:0] : meta.dst_v4[2:0])
            : (meta.user_is_inner == 1 ? meta.src_v6[66:64] : meta.dst_v6[66:64]);
        flow = (bit<32>)(meta.user_is_inner ++ meta.ip_version[1:1] ++ ue);
    }
}

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
    Usage() usage;
    Flow() flow;
    Service<buffer_request_t, buffer_answer_t>("buffer") buffer;

    apply {
        buffer_answer_t answer;
        if (hdr.ethernet.isValid() && hdr.ethernet.ethertype == 0x88b5) {
            buffer.call({ 8w1, (bit<32>)hdr.ethernet.src, 32w0, 8w0, 8w0, 16w0, 32w0 }, answer);  // STATUS
            meta.reason = Reason.martian;
            mark_to_drop(standard_metadata);
            exit;
        }
        user_packet.apply(hdr, meta, standard_metadata);       // what came in, is it sound
        bit<32> bearer;
        flow.apply(meta, bearer);                                   // before a tunnel's addresses take the place of the user's
        station.apply(hdr, meta, standard_metadata);           // is it for us
        session.apply(hdr, meta, standard_metadata);           // whose is it: PDR
        firewall.apply(hdr, meta, standard_metadata);          // global rules
        enforce.apply(hdr, meta, standard_metadata);           // FAR, QER gates
        traffic_class.apply(hdr, meta, standard_metadata);     // 5-tuple class: queue
        route.apply(hdr, meta, standard_metadata);             // where to
        police.apply(hdr, meta, standard_metadata);            // QER and class rates
        tunnel.apply(hdr, meta, standard_metadata);            // TTL, decapsulation, encapsulation
        usage.apply(hdr, meta, standard_metadata);             // URR
        if (standard_metadata.egress_spec < 256) {
            buffer.call({ 8w2, bearer, 32w0, 8w0x10, 8w0, 16w0, 32w0 }, answer);  // SEND, under the next number
            if (answer.event == 0) {          // acknowledged
                meta.reason = Reason.gate_closed;
                mark_to_drop(standard_metadata);
            } else if (answer.event == 1) {   // to be sent again
                meta.reason = Reason.firewall;
                mark_to_drop(standard_metadata);
            }
        }
    }
}

control UpfEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

V1Switch(UpfParser(), UpfVerifyChecksum(), UpfIngress(), UpfEgress(), UpfComputeChecksum(), UpfDeparser()) main;
