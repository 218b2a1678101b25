parser p(packet_in pkt) {
    state start {
        transition select(x) {
            1: a
            2: b;
            (3, ): c;
            (): d;
            4 -> e;
        }
        x = 1;
    }
    bit<8> late;
    state a { transition; }
    state b { transition select x { } }
    apply { }
}
