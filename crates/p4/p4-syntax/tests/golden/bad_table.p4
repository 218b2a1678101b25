control c() {
    table t {
        key = { a; b: ; c: exact }
        actions = { x y; }
        entries = { 1 : ; 2 : x; priority = : 3 : x; };
        const = 1;
        size = 10
    }
    apply { }
    apply { }
    bit<8> after;
}
control no_apply() { bit<8> x; }
control loose() { x = 1; x.y(); ; apply {} }
table outside { }
