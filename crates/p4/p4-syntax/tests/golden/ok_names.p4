// Words that are keywords in one place only.
const bit apply = 1;
struct key { bit<8> actions; bit<8> entries; bit<8> state; bit<8> type; bit<8> priority; bit<8> list; bit<8> optional; }
control c(in key type, inout bit<8> list) {
    action actions(bit<8> entries) { list = entries; }
    table state { key = { type.state: exact; } actions = { actions; } priority = 3; list = 4; optional = 1; }
    apply { state.apply(); list = type.list; apply = 1; key = 2; priority = priority + list; }
}
