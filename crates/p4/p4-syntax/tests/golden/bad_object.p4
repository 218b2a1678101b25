E(1) e = {
    void f() { x = 1 }
    int 7;
    F() g;
};
E(1) h = 3;
E w;
