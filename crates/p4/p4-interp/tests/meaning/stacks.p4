// P4_16 §8.20 and §13.9: header stacks in parsers: next, last, lastIndex, and what lies beyond their ends.
#include <v1model.p4>

header start_t { bit<8> op; bit<8> n; }
header tag_t { bit<1> more; bit<7> v; }
header result_t { bit<8> error_; bit<8> x; bit<8> y; }
struct headers { result_t result; start_t start; tag_t[3] tags; tag_t[3] copy; }
struct metadata { bit<8> x; bit<8> y; }

parser P(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    state start {
        packet.extract(hdr.start);
        transition select(hdr.start.op) {
            1: tags;
            2: look_at_last;
            3: select_last;
            4: write_next;
            5: last_if_asked;
            6: copied;
            7: tags;
            8: moved;
            default: accept;
        }
    }
    state tags {
        packet.extract(hdr.tags.next);
        meta.x = (bit<8>) hdr.tags.lastIndex;
        transition select(hdr.tags.last.more) { 1: tags; default: accept; }
    }
    // `last` of an empty stack rejects with StackOutOfBounds; nothing behind it is done.
    state look_at_last { meta.x = 1; meta.y = (bit<8>) hdr.tags.last.v; meta.x = 2; transition accept; }
    state select_last { meta.x = 1; transition select(hdr.tags.last.more) { default: accept; } }
    // So does `next` of a full one, also where it is only assigned to.
    state write_next {
        packet.extract(hdr.tags.next);
        hdr.tags.next = (tag_t) { 1, 9 };
        packet.extract(hdr.tags.next);
        packet.extract(hdr.tags.next);
        meta.x = 1;
        hdr.tags.next = (tag_t) { 1, 9 };
        meta.x = 2;
        transition accept;
    }
    // Only where it is evaluated.
    state last_if_asked {
        meta.x = 1;
        if (hdr.start.n == 1 && hdr.tags.last.v == 3) { meta.y = 1; }
        meta.x = hdr.start.n == 2 ? (bit<8>) hdr.tags.last.v : 8w2;
        transition accept;
    }
    // An assignment takes nextIndex along.
    state copied {
        packet.extract(hdr.tags.next);
        packet.extract(hdr.tags.next);
        hdr.copy = hdr.tags;
        packet.extract(hdr.copy.next);
        meta.x = (bit<8>) hdr.copy.lastIndex;
        transition accept;
    }
    // So do push_front and pop_front, up to the ends.
    state moved {
        packet.extract(hdr.tags.next);
        hdr.tags.push_front(1);
        packet.extract(hdr.tags.next);
        meta.x = (bit<8>) hdr.tags.lastIndex;
        hdr.tags.pop_front(3);
        meta.y = (bit<8>) hdr.tags.last.v;
        transition accept;
    }
}
control V(inout headers hdr, inout metadata meta) { apply { } }
control I(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    apply {
        sm.egress_spec = 1;
        hdr.result = { 0, meta.x, meta.y };
        if (sm.parser_error == error.StackOutOfBounds) { hdr.result.error_ = 1; }
        else if (sm.parser_error == error.PacketTooShort) { hdr.result.error_ = 2; }
        else if (sm.parser_error != error.NoError) { hdr.result.error_ = 3; }
        // §8.20: pushed elements are invalid, popped ones are gone.
        if (hdr.start.op == 7) {
            if (hdr.start.n == 1) { hdr.tags.push_front(1); }
            else if (hdr.start.n == 2) { hdr.tags.pop_front(2); }
            else if (hdr.start.n == 3) { hdr.tags.push_front(5); }
            else if (hdr.start.n == 4) { hdr.tags.push_front(2); hdr.tags.pop_front(1); }
            hdr.result.y = (bit<1>) hdr.tags[0].isValid() ++ (bit<1>) hdr.tags[1].isValid() ++ (bit<1>) hdr.tags[2].isValid() ++ 5w0;
        }
    }
}
control E(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout metadata meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr.result); packet.emit(hdr.start); packet.emit(hdr.tags); packet.emit(hdr.copy); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
