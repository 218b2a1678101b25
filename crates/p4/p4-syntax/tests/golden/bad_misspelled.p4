heder h_t { bit<8> f; }
contorl c() { apply {} }
control d() {
    table t {
        kye { x: exact; }
        actions = { a; }
        defualt_action a;
    }
    apply { swtich x; retrun y; }
}
