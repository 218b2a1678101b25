// Tofino 2: the ghost thread keeps queue lengths in a register, which ingress reads.
#include <core.p4>
#include <t2na.p4>

header ethernet_t { bit<48> dst; bit<48> src; bit<16> type; }
struct headers_t { ethernet_t ethernet; }
struct metadata_t { bit<18> length; bit<8> stack; }

parser IngressParser(packet_in pkt, out headers_t hdr, out metadata_t meta, out ingress_intrinsic_metadata_t ig) {
    ParserCounter() counter;
    state start {
        meta = { 0, 0 };
        pkt.extract(ig);
        pkt.advance(PORT_METADATA_SIZE);
        counter.push(8w2);
        counter.pop();
        pkt.extract(hdr.ethernet);
        transition accept;
    }
}
Register<bit<32>, bit<11>>(2048) lengths;
control Ghost(in ghost_intrinsic_metadata_t g) {
    RegisterAction<bit<32>, bit<11>, bit<32>>(lengths) store = {
        void apply(inout bit<32> cell) { cell = (bit<32>) g.qlength; }
    };
    apply { store.execute(g.qid); }
}
control Ingress(inout headers_t hdr, inout metadata_t meta, in ingress_intrinsic_metadata_t ig,
                in ingress_intrinsic_metadata_from_parser_t from_parser, inout ingress_intrinsic_metadata_for_deparser_t for_deparser,
                inout ingress_intrinsic_metadata_for_tm_t for_tm, in ghost_intrinsic_metadata_t g) {
    RegisterAction<bit<32>, bit<11>, bit<32>>(lengths) load = {
        void apply(inout bit<32> cell, out bit<32> result) { result = cell; }
    };
    RegisterAction2<bit<32>, bit<11>, bit<16>, bit<8>>(lengths) halves = {
        void apply(inout bit<32> cell, out bit<16> high, out bit<8> low) { high = cell[31:16]; low = cell[7:0]; }
    };
    Counter<bit<64>, PortId_t>(512, CounterType_t.BYTES, true) sent;
    apply {
        QueueId_t queue = 7w100;
        bit<8> low;
        meta.length = (bit<18>) load.execute(g.qid);
        meta.length = meta.length + (bit<18>) load.execute(0);
        hdr.ethernet.type = halves.execute(11w5, low);
        meta.stack = low;
        for_tm.qid = queue;
        for_deparser.mirror_type = 4w9;
        for_deparser.mtu_trunc_len = 1500;
        for_deparser.pktgen = 1;
        sent.count(ig.ingress_port);
    }
}
control IngressDeparser(packet_out pkt, inout headers_t hdr, in metadata_t meta, in ingress_intrinsic_metadata_for_deparser_t d) {
    apply { pkt.emit(hdr); }
}
struct none_t { }
parser EgressParser(packet_in pkt, out none_t hdr, out none_t meta, out egress_intrinsic_metadata_t eg) {
    state start { pkt.extract(eg); transition accept; }
}
control Egress(inout none_t hdr, inout none_t meta, in egress_intrinsic_metadata_t eg,
               in egress_intrinsic_metadata_from_parser_t from_parser, inout egress_intrinsic_metadata_for_deparser_t for_deparser,
               inout egress_intrinsic_metadata_for_output_port_t port) {
    apply { if (eg.deq_timedelta > 32w0x10000) { for_deparser.drop_ctl = 1; } }
}
control EgressDeparser(packet_out pkt, inout none_t hdr, in none_t meta, in egress_intrinsic_metadata_for_deparser_t d) { apply { } }

Pipeline(IngressParser(), Ingress(), IngressDeparser(), EgressParser(), Egress(), EgressDeparser(), Ghost()) pipe;
Switch(pipe) main;
