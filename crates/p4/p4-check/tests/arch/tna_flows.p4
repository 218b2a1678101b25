// A flow counter for TNA: registers with actions of their own, hashes with a polynomial, and parameters left out.
#include <core.p4>
#include <tna.p4>
#if __TARGET_TOFINO__ != 1
#error "headers of several generations ask which one it is"
#endif

header ethernet_t { bit<48> dst; bit<48> src; bit<16> kind; }
struct headers_t { ethernet_t eth; }
struct meta_t { bit<16> index; bit<1> first; }
struct pair_t { bit<32> packets; bit<32> last; }

parser IgParser(packet_in pkt, out headers_t hdr, out meta_t md, out ingress_intrinsic_metadata_t intr) {
    ParserCounter() left;
    Checksum() sum;
    state start {
        pkt.extract(intr);
        pkt.advance(PORT_METADATA_SIZE);
        left.set(8w4);
        transition select(DEVPORT_PIPE(intr.ingress_port), left.is_zero()) {
            (0, false): eth;
            default: accept;
        }
    }
    state eth {
        pkt.extract(hdr.eth);
        sum.add(hdr.eth);
        left.decrement(1);
        transition accept;
    }
}

control Ig(inout headers_t hdr, inout meta_t md, in ingress_intrinsic_metadata_t intr, in ingress_intrinsic_metadata_from_parser_t prsr,
           inout ingress_intrinsic_metadata_for_deparser_t dprsr, inout ingress_intrinsic_metadata_for_tm_t tm) {
    CRCPolynomial<bit<16>>(16w0x8005, true, false, false, 16w0, 16w0) poly;
    Hash<bit<16>>(HashAlgorithm_t.CRC16, poly) h;
    Register<pair_t, bit<16>>(65536, { 0, 0 }) flows;
    RegisterParam<bit<32>>(100) limit;
    RegisterAction<pair_t, bit<16>, bit<1>>(flows) bump = {
        void apply(inout pair_t value, out bit<1> rv) {
            rv = 0;
            if (value.packets == 0) { rv = 1; }
            value.packets = value.packets |+| 1;
            value.last = prsr.global_tstamp[47:16];
            if (value.packets > limit.read()) { value.packets = 0; }
        }
    };
    RegisterAction<pair_t, bit<16>, bit<1>>(flows) clear = {
        void apply(inout pair_t value) { value = { 0, 0 }; }
    };
    Meter<bit<16>>(65536, MeterType_t.BYTES) police;
    DirectCounter<bit<64>>(CounterType_t.PACKETS) hits;
    ActionProfile(32) members;
    ActionSelector(members, h, SelectorMode_t.FAIR, 16, 8) choose;

    action to(PortId_t port) {
        tm.ucast_egress_port = port;
        tm.qid = 3;
        hits.count(14);
    }
    table ports {
        key = { hdr.eth.dst: exact; md.index: selector; }
        actions = { to; @defaultonly NoAction; }
        const default_action = NoAction();
        implementation = choose;
        counters = hits;
        size = 512;
    }
    apply {
        md.index = h.get({ hdr.eth.src, hdr.eth.dst });
        md.first = bump.execute(md.index);
        if (md.first == 1 && max(hdr.eth.kind, 16w0x600) == hdr.eth.kind) {
            clear.execute(md.index);
            dprsr.mirror_type = 1;
        }
        if (police.execute(md.index, MeterColor_t.GREEN) == (bit<8>) MeterColor_t.RED) {
            dprsr.drop_ctl = dprsr.drop_ctl | 1;
        }
        ports.apply();
    }
}
control IgDeparser(packet_out pkt, inout headers_t hdr, in meta_t md, in ingress_intrinsic_metadata_for_deparser_t dprsr) {
    Mirror(1) mirror;
    apply {
        if (dprsr.mirror_type == 1) { mirror.emit(10w5, hdr.eth); }
        pkt.emit(hdr);
    }
}
parser EgParser(packet_in pkt, out headers_t hdr, out meta_t md, out egress_intrinsic_metadata_t intr) {
    state start { pkt.extract(intr); transition accept; }
}
control Eg(inout headers_t hdr, inout meta_t md, in egress_intrinsic_metadata_t intr, in egress_intrinsic_metadata_from_parser_t prsr,
           inout egress_intrinsic_metadata_for_deparser_t dprsr, inout egress_intrinsic_metadata_for_output_port_t oport) {
    apply { if (intr.deq_qdepth > 1000) { dprsr.drop_ctl = 1; } }
}
control EgDeparser(packet_out pkt, inout headers_t hdr, in meta_t md, in egress_intrinsic_metadata_for_deparser_t dprsr) {
    apply { pkt.emit(hdr); }
}
Pipeline(IgParser(), Ig(), IgDeparser(), EgParser(), Eg(), EgDeparser()) pipe;
Switch(pipe) main;
