/* The UPF, and what leaves it was ciphered and deciphered on the way: the payload behind its headers comes out as it was, if the service has
 * done both with the same key, and not at all if the MAC-I is wrong. Without the step `trim`: a program that truncates cannot be cut. */
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

/* As `ciphering::service::INTERFACE` declares them. */
struct cipher_request_t { bit<16> key_index; bit<32> count; bit<8> bearer; bit<8> direction; bit<8> step; bit<16> clear_bytes; bit<32> prefix; bit<8> prefix_bytes; }
struct cipher_answer_t { bit<16> payload_bytes; }

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
    Service<cipher_request_t, cipher_answer_t>("cipher") cipher;

    apply {
        cipher_answer_t answer;
        user_packet.apply(hdr, meta, standard_metadata);       // what came in, is it sound
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
            cipher.call({ 16w1, (bit<32>)meta.user_offset, 8w3, 8w1, 8w0, 16w0, 32w0, 8w0 }, answer);  // protect
            cipher.call({ 16w1, (bit<32>)meta.user_offset, 8w3, 8w1, 8w1, 16w0, 32w0, 8w0 }, answer);  // recover
        }
    }
}

control UpfEgress(inout headers_t hdr, inout metadata_t meta, inout standard_metadata_t standard_metadata) {
    apply { }
}

V1Switch(UpfParser(), UpfVerifyChecksum(), UpfIngress(), UpfEgress(), UpfComputeChecksum(), UpfDeparser()) main;
