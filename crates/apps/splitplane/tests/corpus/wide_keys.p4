// Keys and data of entries that are wider than 128 bits, a `type` of such a width, and hashes that a control plane could change on BMv2.
#include <core.p4>
#include <v1model.p4>

type bit<256> name_t;
header h_t { name_t name; bit<160> address; bit<8> tag; bit<16> sum; bit<32> check; }
struct headers { h_t h; }
struct meta { name_t last; }

parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    state start {
        pkt.extract(hdr.h);
        m.last = hdr.h.name;
        transition accept;
    }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    action send(bit<9> port, bit<160> address) {
        sm.egress_spec = port;
        hdr.h.address = address;
    }
    action rename(name_t name) { hdr.h.name = name; }
    action found(bit<8> n) { hdr.h.tag = n; }
    table whole { key = { hdr.h.address : exact; hdr.h.name : exact; } actions = { send; } }
    // 84 bytes
    table longest { key = { hdr.h.name : exact; hdr.h.address : exact; m.last : exact; } actions = { send; } }
    table masked { key = { hdr.h.address : ternary; } actions = { found; rename; } }
    table fixed {
        key = { hdr.h.address : ternary; hdr.h.tag : exact; }
        actions = { send; NoAction; }
        default_action = NoAction();
        const entries = {
            (0x1234_00000000_00000000_00000000_00000000 &&& 0xffff_00000000_00000000_00000000_00000000, 9) : send(3, 160w1 << 159 | 5);
        }
    }
    apply {
        whole.apply();
        longest.apply();
        masked.apply();
        fixed.apply();
        if (hdr.h.name != m.last) { hdr.h.tag = hdr.h.tag + 1; }
        hash(hdr.h.sum, HashAlgorithm.crc16_custom, 16w0, { hdr.h.address }, 32w0x10000);
        hash(hdr.h.check, HashAlgorithm.crc32_custom, 32w0, { hdr.h.address }, 64w0x1_0000_0000);
    }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr.h); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
