#include <core.p4>
#include <v1model.p4>
header base_t { bit<4> a; bit<12> b; int<8> s; bit<8> k; }
header opt_t { bit<8> x; int<16> y; bit<8> z; }
header tag_t { bit<1> more; bit<7> v; }
struct pair_t { bit<8> p; bit<8> q; }
header state_t { bit<8> m8; bit<16> m16; bit<8> n8; int<8> i8; int<16> i16; bit<8> hot; bit<8> flags; pair_t pair; bit<32> codes; }
header_union either_t { tag_t tag; opt_t opt; }
struct headers { base_t base; base_t other; opt_t opt; tag_t[3] tags; either_t u; state_t state; }
struct metadata { bit<8> m8; bit<16> m16; bit<8> n8; int<8> i8; int<16> i16; bit<8> hot; bool flag; bit<3> m3; bit<1> m1; pair_t pair; tag_t tag; bit<32> codes; }
error { Odd, Even }
bool f3(out bit<8> p1, in bit<1> p2) {
    p1 = (8w255 | 8w205);
    p1[4:3] = 2w0;
    return true;
}
void f5(in bit<8> p4) {
}
bit<8> f7(in pair_t p6) {
    f5(((bit<8>) ((16w0 ^ 16w43439))));
    return p6.p;
}
bit<8> f9(inout bit<8> p8) {
    f5(f7(p6 = (pair_t) { (p8 ^ 8w0), p8 }));
    opt_t v10 = (opt_t) { x = p8, y = 16s2, z = (~(p8)) };
    v10.setValid();
    v10.y = v10.y;
    return v10.x;
}
bit<16> f13(inout bit<1> p11, inout base_t p12) {
    p12.k[6:3] = p12.a;
    if ((16s2 == 16s0)) {
        f3(p12.k, ((p11 | p11) - ((bit<1>) (1w1))));
    }
    else {
        p12.b = ((((bit<12>) (12s2047)) |+| (p12.b - p12.b)) |+| ((false || false) ? p12.b : p12.b));
    }
    opt_t v14 = (opt_t) { x = 8w255, y = 16s24719, z = (p12.k - p12.k) };
    return ((v14.x[6:4] ++ v14.y[13:1]) |+| (16w0 | 16w1));
}
parser P(packet_in packet, out headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    state start {
        hdr.opt.setInvalid();
        packet.extract(hdr.base);
        verify((meta.i16 <= hdr.u.opt.y), error.Odd);
        transition select((meta.m16)[5:4], hdr.base.k[1:0]) {
            (1, 1) : s_union;
            (1, 0 &&& 1) : s_union;
            default : accept;
        }
    }
    state s_opt {
        meta.i8 |-|= (hdr.base.s << f7(p6 = meta.pair));
        packet.extract(hdr.opt);
        verify(meta.flag, error.Odd);
        transition select((hdr.u.tag.more + meta.m1)) {
            0 &&& 0 : s_end;
            default : reject;
        }
    }
    state s_other {
        packet.extract(hdr.other);
        transition select((meta.m8[6:5] >> hdr.other.b[9:2])) {
            1 &&& 1 : s_union;
            default : s_end;
        }
    }
    state s_tags {
        packet.extract(hdr.tags.next);
        verify((false && meta.flag), error.Even);
        transition select(hdr.tags.last.more) {
            0 .. 1 : s_tags;
            default : s_look;
        }
    }
    state s_union {
        meta.hot[6:0] = ((bit<7>) (7s0));
        packet.extract(hdr.u.opt);
        hdr.other.s[2:1] = ((bit<2>) (((int<2>) (meta.i8[5:4]))));
        transition select((hdr.other.a[2:1] - 2w2)) {
            0 .. 2 : s_tags;
            0 .. 1 : s_union;
            _ : accept;
            default : s_other;
        }
    }
    state s_look {
        meta.m16 = packet.lookahead<bit<16>>();
        packet.advance(8);
        transition select((meta.m16)[14:12]) {
            _ : s_look;
            default : s_end;
        }
    }
    state s_end {
        hdr.u.opt = hdr.opt;
        transition accept;
    }
}
control V(inout headers hdr, inout metadata meta) { apply { } }
control Sub(inout bit<8> x, inout opt_t h, in bit<8> y, out int<8> z) {
    bit<8> own = 3;
    action a17(inout bool p15, inout bit<8> p16) {
        h.y = ((((int<16>) (16w0)) << 17) * h.y);
        p16[4:3] = (2w0 ^ h.y[2:1]);
        if (h.z[5:3] == 5 && (!p15)) { exit; }
    }
    apply {
        z = -1;
        f9(h.x);
        h = h;
        own[7:7] = (16w2)[4:4];
         {
            h.y[6:6] = h.z[1:1];
            x[2:0] = (f3(h.z, (1w0 << (x << h.z))) ? ((8s0 == z) ? (16w49364)[3:1] : own[3:1]) : z[5:3]);
        }
    }
}
control I(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    register<bit<8>>(4) cells;
    counter(4, CounterType.packets) seen;
    bit<8> local = 7;
    Sub() sub;
    action a21(bit<8> d19, bit<8> d20) {
        hdr.opt = hdr.u.opt;
    }
    action a25(bit<1> d23, int<16> d24) {
        hdr.tags[d24[2:0]].setValid();
        meta.hot[4:0] = (((meta.tag == hdr.u.tag) && (!true)) ? ((meta.flag ? 5w20 : hdr.other.s[6:2]) | 5w15) : (5w0 |+| (5w11 |-| hdr.u.opt.z[6:2])));
        hdr.tags[hdr.base.s[1:0]] = hdr.u.tag;
    }
    action a29(out bool p26, out bit<8> p27, inout opt_t p28) {
        p26 = (!meta.flag);
        p27 = (~(local));
        int<8> v30 = meta.i8;
        bit<16> v31 = f13(p11 = meta.m8[6:6], p12 = hdr.base);
    }
    action a34(inout bit<3> p32, out bit<16> p33) {
        p33 = (16w0 |+| meta.m16);
        hdr.opt.y[14:9] = 6w0;
    }
    table t35 {
        key = { (~(2w2)) : exact @name("k0"); meta.m1 : exact @name("k1"); }
        actions = { a21; a25; a29(meta.flag, hdr.base.b[9:2], hdr.u.opt); a34(p32 = hdr.other.k[5:3], p33 = _); NoAction; }
        default_action = NoAction();
    }
    table t36 {
        key = { (meta.m16)[2:0] : ternary @name("k0"); ((meta.m16 + meta.m16))[6:4] : exact @name("k1"); }
        actions = { a21; a25; a29(meta.flag, meta.hot, hdr.opt); a34(meta.hot[7:5], meta.m16); NoAction; }
        default_action = NoAction();
    }
    apply {
        sm.egress_spec = 1;
        for (bit<8> i37 = 0; i37 < 2; i37 = i37 + 1) {
            meta.hot[6:0] = ((~((meta.hot[6:5] ^ meta.i8[3:2]))) ++ ((bit<5>) (f13(p12 = hdr.other, p11 = meta.m8[3:3]))));
            meta.hot[6:3] = ((bit<4>) (4s7));
        }
        f3(p2 = ((bit<1>) (((bit<1>) (meta.m16)))), p1 = hdr.opt.y[9:2]);
        meta.hot[6:3] = ((bit<4>) (f9(p8 = local)));
        cells.read(meta.m8, (bit<32>) ((meta.m3 |-| meta.m3)));
        switch (t35.apply().action_run) {
            a34:
            NoAction: {
                hdr.opt.setValid();
            }
            default: {
                meta.hot = f9(meta.m16[10:3]);
            }
        }
         {
            for (bit<8> i38 = 0; i38 < 2; i38 = i38 + 1) {
                hdr.u.opt.x = (f9(meta.hot) |-| f7(meta.pair));
            }
            f3(p2 = meta.m1, p1 = hdr.u.opt.x);
        }
        a25(d23 = hdr.u.tag.more, d24 = ((int<16>) (8s4)));
        switch (t36.apply().action_run) {
            a25:
            NoAction: {
                 {
                    meta.i8[6:5] = (((meta.m16)[3:2] + (hdr.other.s[4:3] >> 15)) >> 6);
                    meta.m8 = 8w47;
                }
                bool v39 = meta.flag;
            }
            default: {
                meta.hot[4:1] = hdr.other.a;
                hdr.u.opt.x = hdr.u.opt.z;
            }
        }
        meta.i8 = hdr.base.s;
        opt_t v40 = hdr.opt;
        if (hdr.u.tag.isValid()) {
            cells.read(v40.z, (bit<32>) (((bit<3>) (meta.m16))));
            cells.read(hdr.opt.y[15:8], (bit<32>) (hdr.u.opt.z[2:0]));
        }
        else {
            if (meta.m3 == 5 && (meta.m3 == meta.m3)) { return; }
        }
    }
}
control E(inout headers hdr, inout metadata meta, inout standard_metadata_t sm) {
    apply {
        // Everything that was computed leaves with the packet.
        bit<8> flags = (bit<1>) meta.flag ++ meta.m1 ++ meta.m3 ++ (bit<1>) meta.tag.isValid() ++ (bit<1>) (sm.parser_error == error.NoError) ++ (bit<1>) (sm.parser_error == error.StackOutOfBounds);
        hdr.state = { meta.m8, meta.m16, meta.n8, meta.i8, meta.i16, meta.hot, flags, meta.pair, meta.codes };
        if (meta.tag.isValid()) { hdr.state.m8 = hdr.state.m8 ^ (meta.tag.more ++ meta.tag.v); }
    }
}
control C(inout headers hdr, inout metadata meta) { apply { } }
control D(packet_out packet, in headers hdr) { apply { packet.emit(hdr.state); packet.emit(hdr); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
