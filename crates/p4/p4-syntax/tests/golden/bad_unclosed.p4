control c(inout bit<8> x) {
    action a() {
        x = 1;
    table t {
        actions = { a; }
    }
    apply { x = 2; }
}
parser p() {
    state start { transition accept; }
header h_t { bit<8> f; }
const bit ok = 1;
