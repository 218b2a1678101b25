// A connection tracker for PNA: entries that the data plane adds.
#include <core.p4>
#include <pna.p4>

header ip_t { bit<32> src; bit<32> dst; }
struct headers_t { ip_t ip; }
struct meta_t { ExpireTimeProfileId_t expiry; bool add; }
struct hit_params_t { PortId_t port; }

control Pre(in headers_t hdr, inout meta_t meta, in pna_pre_input_metadata_t istd, inout pna_pre_output_metadata_t ostd) {
    apply { ostd.decrypt = istd.loopedback && istd.pass == (PassNumber_t) 3w1; }
}
parser MainParser(packet_in pkt, out headers_t hdr, inout meta_t meta, in pna_main_parser_input_metadata_t istd) {
    state start {
        pkt.extract(hdr.ip);
        transition select(istd.direction) {
            PNA_Direction_t.NET_TO_HOST: accept;
            PNA_Direction_t.HOST_TO_NET: accept;
        }
    }
}
control Main(inout headers_t hdr, inout meta_t meta, in pna_main_input_metadata_t istd, inout pna_main_output_metadata_t ostd) {
    action forward(PortId_t port) {
        send_to_port(port);
        restart_expire_timer();
    }
    action learn() {
        meta.add = add_entry("forward", (hit_params_t) { port = istd.input_port }, meta.expiry);
        if (!meta.add) { drop_packet(); }
    }
    table flows {
        key = {
            SelectByDirection(istd.direction, hdr.ip.src, hdr.ip.dst): exact @name("far");
            SelectByDirection(istd.direction, hdr.ip.dst, hdr.ip.src): exact @name("near");
        }
        actions = { @tableonly forward; @defaultonly learn; }
        add_on_miss = true;
        const default_action = learn;
    }
    apply {
        flows.apply();
        mirror_packet((MirrorSlotId_t) 8w3, PNA_MIRROR_SESSION_TO_CPU);
    }
}
control Deparser(packet_out pkt, in headers_t hdr, in meta_t meta, in pna_main_output_metadata_t ostd) {
    apply { pkt.emit(hdr.ip); }
}
PNA_NIC(MainParser(), Pre(), Main(), Deparser()) main;
