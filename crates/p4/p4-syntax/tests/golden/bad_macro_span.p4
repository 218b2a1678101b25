#define FIELD(name) bit<8> name
#define BROKEN(x) x = = 1;
struct s {
    FIELD(a);
    FIELD();
}
control c() {
    apply {
        BROKEN(y)
    }
}
