// Pushes, pops, sets and clears labels as the packet says, four times over: so many ways for valid bits to come about that a verifier
// that follows each of them gives up.
#include <core.p4>
#include <v1model.p4>

header order_t {
    bit<8> first;
    bit<8> second;
    bit<8> third;
    bit<8> fourth;
    bit<8> seen;
    bit<8> labels;
}

header label_t {
    bit<20> value;
    bit<3>  class;
    bit<1>  last;
    bit<8>  ttl;
}

struct headers {
    order_t order;
    label_t[6] labels;
}

struct metadata { }

parser P(packet_in packet, out headers h, inout metadata m, inout standard_metadata_t s) {
    state start {
        packet.extract(h.order);
        transition select(h.order.labels) {
            0: accept;
            default: label;
        }
    }
    state label {
        packet.extract(h.labels.next);
        transition select(h.labels.last.last) {
            1: accept;
            default: label;
        }
    }
}

control Obey(inout headers h, in bit<8> order) {
    apply {
        if (order[7:6] == 1) {
            if (order[2:0] == 1) { h.labels.push_front(1); }
            else if (order[2:0] == 2) { h.labels.push_front(2); }
            else if (order[2:0] == 3) { h.labels.push_front(3); }
            else if (order[2:0] == 4) { h.labels.push_front(4); }
        } else if (order[7:6] == 2) {
            if (order[2:0] == 1) { h.labels.pop_front(1); }
            else if (order[2:0] == 2) { h.labels.pop_front(2); }
            else if (order[2:0] == 3) { h.labels.pop_front(3); }
            else if (order[2:0] == 4) { h.labels.pop_front(4); }
        } else if (order[7:6] == 3) {
            if (order[2:0] == 0) { h.labels[0].setValid(); h.labels[0].value = 0xa0a0a; h.labels[0].ttl = 1; }
            else if (order[2:0] == 1) { h.labels[1].setValid(); h.labels[1].value = 0xa1a1a; h.labels[1].ttl = 2; }
            else if (order[2:0] == 2) { h.labels[2].setValid(); h.labels[2].value = 0xa2a2a; h.labels[2].ttl = 3; }
            else if (order[2:0] == 3) { h.labels[3].setValid(); h.labels[3].value = 0xa3a3a; h.labels[3].ttl = 4; }
            else if (order[2:0] == 4) { h.labels[4].setInvalid(); }
            else if (order[2:0] == 5) { h.labels[5].setInvalid(); }
            else if (order[2:0] == 6) { h.labels[0].setInvalid(); }
            else { h.labels[1].setInvalid(); }
        }
    }
}

control In(inout headers h, inout metadata m, inout standard_metadata_t s) {
    Obey() obey;
    apply {
        s.egress_spec = 1;
        if (h.order.isValid()) {
            obey.apply(h, h.order.first);
            obey.apply(h, h.order.second);
            obey.apply(h, h.order.third);
            obey.apply(h, h.order.fourth);
            h.order.seen = 0;
            if (h.labels[0].isValid()) { h.order.seen[0:0] = 1; }
            if (h.labels[1].isValid()) { h.order.seen[1:1] = 1; }
            if (h.labels[2].isValid()) { h.order.seen[2:2] = 1; }
            if (h.labels[3].isValid()) { h.order.seen[3:3] = 1; }
            if (h.labels[4].isValid()) { h.order.seen[4:4] = 1; }
            if (h.labels[5].isValid()) { h.order.seen[5:5] = 1; }
            if (h.order.seen == 0) { mark_to_drop(s); }
        }
    }
}

control Eg(inout headers h, inout metadata m, inout standard_metadata_t s) { apply { } }
control Verify(inout headers h, inout metadata m) { apply { } }
control Compute(inout headers h, inout metadata m) { apply { } }
control Out(packet_out packet, in headers h) {
    apply {
        packet.emit(h.order);
        packet.emit(h.labels);
    }
}

V1Switch(P(), Verify(), In(), Eg(), Compute(), Out()) main;
