header h_t {
    bit<8> a
    bit<8> b;
}
control c() {
    bit<8> x
    apply {
        x = 1
        x = 2;
        f(x)
    }
}
const bit y = 1 const bit z = 2;
