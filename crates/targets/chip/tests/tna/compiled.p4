/* Tables of the sizes, keys and data of programs whose layout by the chip's own compiler is published: open-p4studio's tna_exact_match
   (`exact_mac`, `route`, `aged_mac`), and with -D PREFIXES tables of its tna_action_profile and tna_action_selector (`fib`, `fallback`, `by_port`,
   `destination`). The text is ours. */
#include <core.p4>
#include <tna.p4>

header mac_h { bit<48> dst; bit<48> src; bit<16> kind; }
header address_h { bit<32> src; bit<32> dst; }
struct headers_t { mac_h mac; address_h address; }
struct meta_t { bit<10> vrf; bit<16> index; }
struct no_headers_t { }
struct no_meta_t { }

parser InParser(packet_in packet, out headers_t hdr, out meta_t meta, out ingress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        packet.advance(PORT_METADATA_SIZE);
        packet.extract(hdr.mac);
        packet.extract(hdr.address);
        transition accept;
    }
}

control Ingress(inout headers_t hdr, inout meta_t meta, in ingress_intrinsic_metadata_t intrinsic,
                in ingress_intrinsic_metadata_from_parser_t from_parser,
                inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                inout ingress_intrinsic_metadata_for_tm_t for_tm) {
    action to(PortId_t port) { for_tm.ucast_egress_port = port; }
#ifdef PREFIXES
    action next_hop(PortId_t port) { for_tm.ucast_egress_port = port; }
    action set_index(bit<16> index) { meta.index = index; }
    action none() { }
    table by_port {
        key = { intrinsic.ingress_port: exact; }
        actions = { to; set_index; none; }
        size = 512;
    }
    table fib {
        key = { meta.vrf: exact; hdr.address.dst: lpm; }
        actions = { next_hop; none; }
        size = 8192;
    }
    table fallback {
        key = { hdr.address.dst: lpm; }
        actions = { next_hop; none; }
        size = 4096;
    }
    table destination {
        key = { meta.index: exact; }
        actions = { to; NoAction; }
        size = 4096;
    }
    apply {
        if (fib.apply().miss) {
            fallback.apply();
        }
        by_port.apply();
        destination.apply();
    }
#else
    bit<16> vrf = (bit<16>)intrinsic.ingress_port;
    @noWarn("unused") bit<2> colour;
    DirectCounter<bit<32>>(CounterType_t.PACKETS_AND_BYTES) routed;
    DirectMeter(MeterType_t.BYTES) rate;
    action missed(bit<3> drop) { for_deparser.drop_ctl = drop; }
    table exact_mac {
        key = { hdr.mac.dst: exact; }
        actions = { to; @defaultonly missed; }
        const default_action = missed(1);
        size = 1024;
    }
    action rewrite(bit<48> src, bit<48> dst, PortId_t port) {
        for_tm.ucast_egress_port = port;
        hdr.mac.dst = dst;
        hdr.mac.src = src;
        routed.count();
        colour = (bit<2>)rate.execute();
        for_deparser.drop_ctl = 0;
    }
    action translate(bit<32> src, bit<32> dst, PortId_t port) {
        for_tm.ucast_egress_port = port;
        hdr.address.dst = dst;
        hdr.address.src = src;
        routed.count();
        colour = (bit<2>)rate.execute();
        for_deparser.drop_ctl = 0;
    }
    table route {
        key = { vrf: exact; hdr.address.dst: exact; }
        actions = { rewrite; translate; }
        size = 1024;
        counters = routed;
        meters = rate;
    }
    action nop() { }
    table aged_mac {
        key = { hdr.mac.dst: exact; }
        actions = { to; nop; }
        const default_action = nop();
        size = 200000;
    }
    apply {
        exact_mac.apply();
        vrf = 0;
        route.apply();
        aged_mac.apply();
        for_tm.bypass_egress = 1;
    }
#endif
}

control InDeparser(packet_out packet, inout headers_t hdr, in meta_t meta,
                   in ingress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply { packet.emit(hdr); }
}

parser OutParser(packet_in packet, out no_headers_t hdr, out no_meta_t meta, out egress_intrinsic_metadata_t intrinsic) {
    state start {
        packet.extract(intrinsic);
        transition accept;
    }
}

control Egress(inout no_headers_t hdr, inout no_meta_t meta, in egress_intrinsic_metadata_t intrinsic,
               in egress_intrinsic_metadata_from_parser_t from_parser,
               inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t for_port) {
    apply { }
}

control OutDeparser(packet_out packet, inout no_headers_t hdr, in no_meta_t meta,
                    in egress_intrinsic_metadata_for_deparser_t for_deparser) {
    apply { }
}

Pipeline(InParser(), Ingress(), InDeparser(), OutParser(), Egress(), OutDeparser()) pipe;

Switch(pipe) main;
