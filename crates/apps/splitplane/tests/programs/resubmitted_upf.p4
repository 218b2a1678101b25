/* The UPF, and what leaves it is with the service `resubmit`, which numbers nothing: a flow's packets are counted here. The copy that is to be sent again goes on, until a
 * frame of EtherType 0x88b6 has come: from then on copies are dropped. A frame of EtherType 0x88b5 is a status for the packet whose flow and number are
 * the last four bytes of its source address. Without the step `trim`: a program that truncates cannot be cut. */
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

/* As `buffer::resubmit::service::INTERFACE` declares them. */
struct resubmit_request_t { bit<8> operation; bit<32> flow; bit<32> id; }
struct resubmit_answer_t { bit<8> event; bit<32> flow; bit<32> id; }

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
    Service<resubmit_request_t, resubmit_answer_t>("resubmit") resubmit;
    register<bit<32>>(32) numbers;
    register<bit<8>>(1) quiet;

    apply {
        resubmit_answer_t answer;
        if (hdr.ethernet.isValid() && hdr.ethernet.ethertype == 0x88b6) {
            quiet.write(0, 1);
            meta.reason = Reason.multicast;
            mark_to_drop(standard_metadata);
            exit;
        }
        if (hdr.ethernet.isValid() && hdr.ethernet.ethertype == 0x88b5) {
            resubmit.call({ 8w1, (bit<32>)hdr.ethernet.src[31:16], (bit<32>)hdr.ethernet.src[15:0] }, answer);  // STATUS
            meta.reason = Reason.martian;
            mark_to_drop(standard_metadata);
            exit;
        }
        user_packet.apply(hdr, meta, standard_metadata);       // what came in, is it sound
        bit<32> of;
        flow.apply(meta, of);                                   // before a tunnel's addresses take the place of the user's
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
            bit<32> number;
            numbers.read(number, of);
            numbers.write(of, number + 1);
            resubmit.call({ 8w0, of, number }, answer);  // KEEP
            bit<8> drops;
            quiet.read(drops, 0);
            if (answer.event == 0) {       // a status has named it
                meta.reason = Reason.gate_closed;
                mark_to_drop(standard_metadata);
            } else if (drops == 1) {
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
