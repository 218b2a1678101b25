#include <mini_core.p4>
#include "include/types.p4"
#include <types.p4>

const bit<8> K = 8w0x0f;
const int BIG = 0xFFFF_FFFF_FFFF_FFFF_FFFF;
header ethernet_t { bit<48> dst; bit<48> src; @name("type") bit<16> ether_type; }
header options_t { varbit<(K * 8)> data; }
header_union l3_t { ipv4_t v4; ipv6_t v6; }
struct empty_t {}
struct pair_t<A, B> { A first; B second; }
struct all_t {
    bool a;
    int<7> b;
    bit c;
    bit<(K + 1)> d;
    bit<K+2> e;
    error f;
    ethernet_t[4] g;
    tuple<bit<8>, tuple<bool>, tuple<>> h;
    pair_t<bit<8>, pair_t<bool, bool>> i;
    list<bit<8>> j;
    string k;
    port_t l;
    .pair_t<_, .port_t> m;
    bit<8> n[3];
    int o;
}
enum color_t { red, green, blue, }
enum bit<8> proto_t { tcp = 6, udp = 17, sctp = 6 + 126 }
typedef ethernet_t alias_t;
typedef struct inner_t { bit x; } outer_t;
typedef tuple<bit, bit> both_t;
error { BadHeader, BadLength }
match_kind { range, optional, }
