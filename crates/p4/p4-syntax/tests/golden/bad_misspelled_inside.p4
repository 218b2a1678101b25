// Misspelt keywords inside of parsers, controls and tables: one error each, and what follows is read.
parser p(packet_in b, out H h) {
    cosnt bit<8> one = 1;
    table t {
        key = { h.x: exact; }
        actions = { a; }
    }
    action a(bit<8> x) { h.x = x; }
    sate first { transition accept; }
    state start { transtion accept; }
    state other { trasition select(h.x) { 1: accept; default: first; } }
}
control c(inout H h) {
    tabel t { key = { h.x: exact; } actions = { a; } }
    acton a(bit<8> x) { h.x = x; }
    table u {
        keys = { h.x: exact; }
        action = { a; }
        entires = { 1: a(2); }
        size = 3;
    }
    aply {
        if (h.dst == aa:bb:cc:dd:ee:ff) { h.x = 1; }
    }
}
control d(inout H h) {
    apply {
        if (h.dst == aa:bb:cc:dd:ee:ff) { h.x = 1; }
        transition_t transition_x;
        h.x = 1;
    }
}
