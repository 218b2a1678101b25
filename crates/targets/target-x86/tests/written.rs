//! A header in the packet whose fields are written one by one, wholly or in part, in one branch or both, ahead of a look-up or behind it, read again, copied over, and
//! then moved to the front or the back, or left where it is: what leaves is what the interpreter sends.

mod common;

use base::PortId;
use program::{Entry, KeyMatch, Op};
use rand::Rng;

/// `flags`: 1 a header comes behind `a`, which moves to the front; 2 the one behind it goes, and it moves to the back; 4, 8, 16 which fields of `a` are written; 32 all of it is written behind the look-up, and it moves to the front, or with 1 to the back; 64 it is
/// copied over; 128 a field is written from itself.
const PROGRAM: &str = "
#include <core.p4>
#include <v1model.p4>
header f_t { bit<8> flags; bit<8> key; bit<8> more; }
header a_t { bit<48> to; bit<40> from; bit<4> low; bit<12> high; bit<72> wide; }
header b_t { bit<24> inner; }
struct headers { f_t f; a_t a; b_t b; b_t gone; a_t other; }
struct meta { bit<48> seen; }
parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    state start { pkt.extract(hdr.f); pkt.extract(hdr.a); pkt.extract(hdr.gone); transition select(hdr.f.more) { 0: other; default: common; } }
    state other { pkt.extract(hdr.other); transition accept; }
    @likely state common { pkt.extract(hdr.other); transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    action put(bit<40> from, bit<12> high) { hdr.a.from = from; hdr.a.high = high; }
    table keys { key = { hdr.f.key: exact; } actions = { put; NoAction; } default_action = NoAction(); size = 1024; }
    apply {
        sm.egress_spec = 1;
        if (hdr.f.flags & 4 != 0) { hdr.a.to = 0x112233445566; } else { m.seen = hdr.a.to; }
        if (hdr.f.flags & 8 != 0) { hdr.a.from = hdr.a.to[39:0]; hdr.a.low = 5; }
        if (hdr.f.flags & 16 != 0) { hdr.a.high = hdr.a.from[11:0]; hdr.a.wide = 24w0xabcdef ++ hdr.a.to; }
        if (hdr.f.flags & 64 != 0) { hdr.a = hdr.other; }
        if (hdr.f.flags & 128 != 0) { hdr.a.wide[31:8] = hdr.a.wide[23:0]; hdr.a.low = hdr.a.low + 1; }
        keys.apply();
        if (hdr.f.flags & 32 != 0) {
            hdr.a.to = hdr.a.to + 1; hdr.a.low = 3; hdr.a.high = 0x345; hdr.a.wide = 72w7; hdr.a.from = 40w9;
            if (hdr.f.flags & 1 != 0) {
                hdr.gone.setInvalid();
            } else {
                hdr.b.setValid();
                hdr.b.inner = hdr.a.to[23:0];
            }
        } else if (hdr.f.flags & 1 != 0) {
            hdr.b.setValid();
            hdr.b.inner = hdr.a.to[47:24];
        }
        if (hdr.f.flags & 2 != 0) { hdr.gone.setInvalid(); }
    }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) { apply { if (hdr.f.flags & 4 != 0) { hdr.a.high = (bit<12>)hdr.a.from; } } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out pkt, in headers hdr) {
    apply { pkt.emit(hdr.f); pkt.emit(hdr.a); pkt.emit(hdr.b); pkt.emit(hdr.gone); pkt.emit(hdr.other); }
}
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

#[test]
fn a_header_that_is_written_and_moved_leaves_as_the_interpreter_sends_it() {
    let mut ir = p4_check::compile_str("written.p4", PROGRAM, &p4_check::Options::default()).unwrap_or_else(|e| panic!("{e}")).ir;
    p4_passes::optimise(&mut ir).unwrap();
    let c = p4_emit::emit_x86(&ir).unwrap();
    // Held where it is written, and put from there where all of it is.
    let moved = c.lines().filter(|line| line.trim_start().starts_with("sp_st64(p ") && line.contains("f_a_0_to")).count();
    assert!(c.contains("f_a_0_to = 0x112233445566ull;") && moved > 1, "{moved}: {c}");
    let mut pair = common::pair(ir, 21, &["-O2"]);
    let program = pair.ir.program.clone();
    let mut rng = common::rng(22);
    let (table, action) =
        (program.tables.iter().next().unwrap().0, program.actions.iter().find(|(_, a)| a.name.ends_with("put")).unwrap().0);
    let entry = |key: u8, from: u64, high: u16| Entry {
        table,
        keys: vec![KeyMatch::Exact(key.into())],
        priority: 0,
        action,
        args: vec![u128::from(from & 0xff_ffff_ffff), u128::from(high & 0xfff)],
    };
    pair.apply((0..128).map(|key| Op::Insert(entry(key, rng.random(), rng.random()))).collect()).unwrap();
    // Every set of flags, hit and miss, of the class and of none.
    let mut packets = 0;
    for round in 0..16u8 {
        for flags in (0..=255u8).collect::<Vec<_>>().chunks(64) {
            let burst: Vec<_> = flags
                .iter()
                .map(|flags| {
                    let mut bytes = vec![*flags, rng.random::<u8>(), u8::from(round % 4 != 0)];
                    bytes.extend((0..3 + 22 + 22 + 5).map(|_| rng.random::<u8>()));
                    (bytes, PortId(0))
                })
                .collect();
            packets += burst.len();
            pair.run(&burst);
        }
    }
    pair.check_state();
    let (hits, misses) = pair.hits_and_misses("I.keys");
    assert!(packets == 4096 && hits > 1500 && misses > 1500, "{packets}: {hits} hits, {misses} misses");
    let stats = pair.native.class_stats();
    assert_eq!(stats.packets, [1024, 3072]);
}
