// All ways of a packet through a NIC: to the network, to the host, dropped, mirrored, recirculated, to the CPU; and what it is told on each.
#include <core.p4>
#include <pna.p4>

const bit<8> TO_PORT = 0;
const bit<8> DROP = 1;
const bit<8> SAYS_NOTHING = 2;
const bit<8> MIRROR = 3;
const bit<8> MIRROR_AND_DROP = 4;
const bit<8> RECIRCULATE = 5;
const bit<8> LAST_WINS = 6;
const bit<8> CPU = 7;
const bit<8> NOWHERE = 8;
const bit<8> EXIT = 9;
const bit<8> MIRROR_AND_RECIRCULATE = 10;

header tag_t {
    bit<8> what;       // what is to be done with the packet
    bit<8> port;
    bit<8> told;       // direction, as the parser and the main control have it; the pass
    bit<8> note;       // what the user's metadata had for the deparser
}

struct headers_t { tag_t tag; }
struct meta_t { bit<8> note; bit<1> from_host; }
struct pre_meta_t { bit<8> seen; }

control Pre(in headers_t hdr, inout pre_meta_t m, in pna_pre_input_metadata_t istd, inout pna_pre_output_metadata_t ostd) {
    Counter<bit<32>, bit<8>>(8, PNA_CounterType_t.PACKETS) passes;
    apply {
        ostd.decrypt = false;
        // Nothing has parsed a packet here.
        m.seen = hdr.tag.isValid() ? 8w7 : (bit<8>) (bit<3>) (PassNumberUint_t) istd.pass;
        passes.count(m.seen);
    }
}

parser Parse(packet_in p, out headers_t hdr, inout meta_t m, in pna_main_parser_input_metadata_t istd) {
    state start {
        m.from_host = istd.direction == PNA_Direction_t.HOST_TO_NET ? 1w1 : 1w0;
        transition select(p.lookahead<bit<8>>()) {
            0xff : nothing;
            default : tagged;
        }
    }
    state tagged {
        p.extract(hdr.tag);
        transition accept;
    }
    state nothing {
        verify(false, error.NoMatch);
        transition accept;
    }
}

control Decide(inout headers_t hdr, inout meta_t m, in pna_main_input_metadata_t istd, inout pna_main_output_metadata_t ostd) {
    DirectCounter<bit<32>>(PNA_CounterType_t.PACKETS) taken;

    action to(PortId_t port) { taken.count(); send_to_port(port); }
    action drop() { taken.count(); drop_packet(); }
    action mirror(MirrorSessionId_t session) { taken.count(); mirror_packet((MirrorSlotId_t) 0, session); }
    table way {
        key = { hdr.tag.what : exact; }
        actions = { to; drop; mirror; NoAction; }
        default_action = NoAction();
        pna_direct_counter = taken;
    }

    apply {
        if (istd.parser_error != error.NoError) { send_to_port((PortId_t) 99); exit; }
        bit<8> direction = istd.direction == PNA_Direction_t.HOST_TO_NET ? 8w0x10 : 8w0;
        hdr.tag.told = direction | (bit<8>) m.from_host << 5 | (bit<8>) (PassNumberUint_t) istd.pass;
        m.note = SelectByDirection(istd.direction, 8w0xa0, 8w0xb0) | (bit<8>) (bit<4>) (PortIdUint_t) istd.input_port;
        bit<8> what = hdr.tag.what;
        PortId_t port = (PortId_t) (bit<32>) hdr.tag.port;
        if (what == TO_PORT || what == MIRROR || what == EXIT || what == LAST_WINS) { send_to_port(port); }
        if (what == EXIT) { exit; }
        if (what == DROP) { send_to_port(port); drop_packet(); }
        if (what == MIRROR_AND_DROP) {
            mirror_packet((MirrorSlotId_t) 0, (MirrorSessionId_t) 1);
            mirror_packet((MirrorSlotId_t) 0, (MirrorSessionId_t) 9);
            drop_packet();
        }
        if ((what == RECIRCULATE || what == MIRROR_AND_RECIRCULATE) && (bit<8>) (PassNumberUint_t) istd.pass < 3) { recirculate(); }
        else if (what == RECIRCULATE || what == MIRROR_AND_RECIRCULATE) { send_to_port(port); }
        if (what == MIRROR_AND_RECIRCULATE && (PassNumberUint_t) istd.pass == 1) { mirror_packet((MirrorSlotId_t) 0, (MirrorSessionId_t) 8); }
        if (what == LAST_WINS) { recirculate(); drop_packet(); send_to_port((PortId_t) 6); }
        if (what == CPU) { send_to_port((PortId_t) (PortIdUint_t) (InterfaceIdUint_t) PNA_PORT_CPU); }
        if (what == NOWHERE) { send_to_port((PortId_t) 509); }
        way.apply();
    }
}

control Deparse(packet_out p, in headers_t hdr, in meta_t m, in pna_main_output_metadata_t ostd) {
    headers_t left;
    apply {
        left = hdr;
        // A copy has the metadata too.
        left.tag.note = m.note;
        p.emit(left.tag);
    }
}

@host_ports(3, 4)
PNA_NIC(Parse(), Pre(), Decide(), Deparse()) main;
