/* What a call of a service may not be. */
#include <core.p4>
#include <v1model.p4>
#include <service.p4>

header tag_t { bit<16> bearer; varbit<64> rest; }
struct headers { tag_t tag; }
struct meta { bit<8> code; }
struct request_t { bit<16> bearer; }
struct answer_t { bit<8> code; }
struct other_t { bit<9> code; }
struct long_t { bit<128> a; bit<128> b; bit<8> c; }

Service<request_t, answer_t>("global") global;

parser P(packet_in b, out headers hdr, inout meta m, inout standard_metadata_t s) {
    state start { transition accept; }
}

control I(inout headers hdr, inout meta m, inout standard_metadata_t s) {
    Service<request_t, answer_t>("ciphering") cipher;
    Service<request_t, other_t>("ciphering") again;
    Service<tag_t, answer_t>("header") of_header;
    Service<bit<16>, answer_t>("scalar") of_scalar;
    Service<long_t, answer_t>("long") of_long;
    answer_t a;
    action in_table() { cipher.call({ 1 }, a); }
    action direct() { cipher.call({ 2 }, a); }
    table t { key = { m.code: exact; } actions = { in_table; direct; } default_action = direct(); }
    apply {
        t.apply();
        direct();
        for (bit<8> i = 0; i < 4; i = i + 1) { cipher.call({ 3 }, a); }
        for (bit<8> i in 1..4) { cipher.send({ 4 }); }
        cipher.call({ 5 });
        cipher.call({ 6 }, m);
        m.code = a.code;
    }
}

control E(inout headers hdr, inout meta m, inout standard_metadata_t s) { apply { } }
control V(inout headers hdr, inout meta m) {
    Service<request_t, answer_t>("ciphering") cipher;
    apply { cipher.send({ 7 }); }
}
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out b, in headers hdr) { apply { } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
