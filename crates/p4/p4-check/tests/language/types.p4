// Every kind of type, and what may be made of it (P4_16 §7).
#include <core.p4>

typedef bit<48> mac_t;
type bit<9> port_t;
type bool flag_t;
enum suit_t { clubs, hearts }
enum bit<8> proto_t { tcp = 6, udp = 17, quic = udp, next = udp + 1 }
enum int<8> temp_t { cold = -5, warm = 20 }
header h_t { bit<8> a; int<8> b; bool c; varbit<64> d; proto_t e; port_t f; bit<6> pad; }
struct in_header_t { bit<4> hi; bit<4> lo; }
header arrays_t { bit<8>[4] bytes; in_header_t[2] parts; }
header arrays2_t { bit<8>[2][3] grid; }
header_union u_t { h_t x; arrays2_t y; }
header small_t { bit<8> a; }
struct generic_t<T, U> { T a; U[2] b; tuple<T, U> c; }
struct outer_t { generic_t<bit<8>, h_t> g; u_t[3] unions; h_t[4] stack; error e; suit_t s; }
const tuple<bit<8>, bool> pair = { 1, true };
const bit<8> first = pair[0];
const list<tuple<bit<8>, suit_t>> listed = { { 1, suit_t.clubs }, { 2, suit_t.hearts } };
const int huge = 0xffff_ffff_ffff_ffff_ffff_ffff_ffff_ffff_ffff;
const bit<8> low = (bit<8>) (huge >> 100);
const int from_bits = 8w5;
const bool both = (proto_t.quic == proto_t.udp) && (proto_t.tcp == 6);
const string text = "a" ++ "b" ++ "c";
const bit<64> sized = (bit<64>) (int) (mac_t.minSizeInBits() + h_t.maxSizeInBytes());
const match_kind k = exact;
const tuple<match_kind> ks = { lpm };
extern void sink<T>(in T x);

control c(inout outer_t o, in bit<2> i) {
    port_t p = (port_t) 9w3;
    flag_t f = (flag_t) true;
    @noWarn("unused") small_t small = { a = 1, ... };
    h_t local = {#};
    generic_t<bit<8>, bit<16>> g = { a = 1, b = { 2, 3 }, c = { 4, 5 } };
    tuple<> nothing = { };
    bit none = 1;
    apply {
        o = { ... };
        o.g.a = g.c[0] ++ 8w1 == 16w5 ? 8w1 : 2;
        o.stack[i].a = g.b[1][7:0];
        o.stack[i + 1] = local;
        o.stack.push_front(1);
        o.stack.pop_front(2);
        o.unions[0].x = local;
        o.unions[1] = (u_t) {#};
        o.e = error.NoError;
        o.s = suit_t.hearts;
        local = {#};
        local.setValid();
        if (o.unions[0].isValid() && !local.isValid() && local == o.stack[0]) { sink(nothing); }
        none = (bit) (bool) none;
        bit<9> raw = (bit<9>) p;
        bool b = (bool) f;
        sink({ raw, b, none, { 1w1, { } } });
    }
}
