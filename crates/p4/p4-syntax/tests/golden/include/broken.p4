header h_t {
    bit<8> f
    bit<8> g;
}
