// A router for PSA: what its two pipelines need of the architecture, with a digest, a meter and a checksum.
#include <core.p4>
#include <psa.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> kind; }
header ipv4_t {
    bit<4> version; bit<4> ihl; bit<8> tos; bit<16> len; bit<16> id; bit<3> flags; bit<13> offset;
    bit<8> ttl; bit<8> proto; bit<16> sum; bit<32> src; bit<32> dst;
}
struct headers_t { ethernet_t eth; ipv4_t ip; }
struct meta_t { bit<16> class; PSA_MeterColor_t colour; }
struct empty_t { }
struct learn_t { PortId_t port; bit<48> src; }

parser IgParser(packet_in buffer, out headers_t hdr, inout meta_t meta, in psa_ingress_parser_input_metadata_t istd,
                in empty_t resubmitted, in empty_t recirculated) {
    InternetChecksum() sum;
    state start {
        buffer.extract(hdr.eth);
        transition select(hdr.eth.kind, istd.packet_path) {
            (0x0800, PSA_PacketPath_t.NORMAL): ip;
            (_, PSA_PacketPath_t.RECIRCULATE): reject;
            default: accept;
        }
    }
    state ip {
        buffer.extract(hdr.ip);
        sum.clear();
        sum.add({ hdr.ip.src, hdr.ip.dst });
        sum.subtract(hdr.ip.sum);
        verify(sum.get() == 0, error.NoMatch);
        transition accept;
    }
}

control Ig(inout headers_t hdr, inout meta_t meta, in psa_ingress_input_metadata_t istd, inout psa_ingress_output_metadata_t ostd) {
    Counter<bit<64>, bit<10>>(1024, PSA_CounterType_t.PACKETS_AND_BYTES) per_class;
    DirectCounter<bit<32>>(PSA_CounterType_t.BYTES) per_route;
    Meter<bit<10>>(1024, PSA_MeterType_t.BYTES) police;
    DirectMeter(PSA_MeterType_t.PACKETS) own;
    Register<bit<32>, PortId_t>(16, 7) seen;
    Hash<bit<16>>(PSA_HashAlgorithm_t.CRC16) h;
    Random<bit<8>>(0, 99) dice;
    @noWarn("unused") Digest<learn_t>() learn;
    @noWarn("unused") ActionProfile(128) members;
    ActionSelector(PSA_HashAlgorithm_t.CRC32, 64, 16) choose;

    action route(PortId_t port, bit<48> mac) {
        hdr.eth.dst = mac;
        send_to_port(ostd, port);
        per_route.count();
        meta.colour = own.execute(PSA_MeterColor_t.GREEN);
    }
    action drop() { ingress_drop(ostd); }
    table routes {
        key = { hdr.ip.dst: lpm; istd.ingress_port: optional; }
        actions = { route; drop; }
        default_action = drop;
        psa_direct_counter = per_route;
        psa_direct_meter = own;
        psa_idle_timeout = PSA_IdleTimeout_t.NOTIFY_CONTROL;
    }
    table spread {
        key = { hdr.ip.proto: exact; hdr.ip.src: selector; }
        actions = { route; NoAction; }
        psa_implementation = choose;
    }
    apply {
        meta.class = h.get_hash(16w8, { hdr.ip.src, hdr.ip.proto }, 16w1000) ^ h.get_hash(hdr.ip.dst);
        per_class.count((bit<10>) meta.class);
        if (police.execute((bit<10>) meta.class) == PSA_MeterColor_t.RED || dice.read() < 3) {
            ingress_drop(ostd);
        } else if (routes.apply().hit) {
            switch (spread.apply().action_run) {
                route: { seen.write(istd.ingress_port, seen.read(istd.ingress_port) + 1); }
                default: { }
            }
        }
        if (istd.ingress_port == PSA_PORT_CPU) {
            multicast(ostd, (MulticastGroup_t) (MulticastGroupUint_t) 5);
        }
    }
}

control IgDeparser(packet_out buffer, out empty_t clone_meta, out empty_t resubmit_meta, out empty_t normal_meta,
                   inout headers_t hdr, in meta_t meta, in psa_ingress_output_metadata_t istd) {
    @noWarn("unused") Digest<learn_t>() learn;
    apply {
        if (psa_normal(istd)) {
            learn.pack({ istd.egress_port, hdr.eth.src });
        }
        buffer.emit(hdr);
    }
}

parser EgParser(packet_in buffer, out headers_t hdr, inout meta_t meta, in psa_egress_parser_input_metadata_t istd,
                in empty_t normal, in empty_t cloned_i2e, in empty_t cloned_e2e) {
    state start { transition accept; }
}
control Eg(inout headers_t hdr, inout meta_t meta, in psa_egress_input_metadata_t istd, inout psa_egress_output_metadata_t ostd) {
    apply {
        if (istd.parser_error != error.NoError) { egress_drop(ostd); }
        ostd.clone_session_id = psa_CloneSessionId_header_to_int(psa_CloneSessionId_int_to_header(PSA_CLONE_SESSION_TO_CPU));
    }
}
control EgDeparser(packet_out buffer, out empty_t clone_meta, out empty_t recirculate_meta, inout headers_t hdr, in meta_t meta,
                   in psa_egress_output_metadata_t istd, in psa_egress_deparser_input_metadata_t edstd) {
    Checksum<bit<16>>(PSA_HashAlgorithm_t.ONES_COMPLEMENT16) sum;
    apply {
        sum.update(hdr.ip.ttl);
        hdr.ip.sum = sum.get();
        buffer.emit(hdr.eth);
        buffer.emit(hdr.ip);
    }
}

IngressPipeline(IgParser(), Ig(), IgDeparser()) ip;
EgressPipeline(EgParser(), Eg(), EgDeparser()) ep;
PSA_Switch(ip, PacketReplicationEngine(), ep, BufferingQueueingEngine()) main;
