//! A look-up whose usual action has a function of the stage to itself: packets with it and rows of packets with others, in one burst, do what the interpreter
//! does one packet after the other, also where order matters behind it. A near table's packets with other actions are handed over one by one.

mod common;

use base::PortId;
use program::{Entry, KeyMatch, Op};
use rand::Rng;

/// `set` is the usual action, as `push` makes a header. Behind both a register's cell counts packets, and each packet carries what it found.
const PROGRAM: &str = "
#include <core.p4>
#include <v1model.p4>
header a_t { bit<8> key; bit<8> cell; bit<32> found; bit<16> value; }
header b_t { bit<16> inner; }
struct headers { b_t b; a_t a; }
struct meta { }
parser P(packet_in pkt, out headers hdr, inout meta m, inout standard_metadata_t sm) {
    state start { pkt.extract(hdr.a); transition select(hdr.a.key) { 200 .. 255: other; default: common; } }
    @likely state common { transition accept; }
    state other { transition accept; }
}
control V(inout headers hdr, inout meta m) { apply { } }
control I(inout headers hdr, inout meta m, inout standard_metadata_t sm) {
    register<bit<32>>(16) seen;
    bit<32> n;
    action set(bit<16> value) { hdr.a.value = value; }
    action push(bit<16> inner) { hdr.b.setValid(); hdr.b.inner = inner; }
    action refuse() { mark_to_drop(sm); exit; }
    table t { key = { hdr.a.key: exact; } actions = { set; push; refuse; } default_action = refuse(); size = SIZE; }
    apply {
        sm.egress_spec = 1;
        t.apply();
        seen.read(n, (bit<32>)hdr.a.cell);
        seen.write((bit<32>)hdr.a.cell, n + 1);
        hdr.a.found = n;
        if (hdr.b.isValid()) { hdr.b.inner = hdr.b.inner + 1; }
    }
}
control E(inout headers hdr, inout meta m, inout standard_metadata_t sm) { apply { } }
control C(inout headers hdr, inout meta m) { apply { } }
control D(packet_out pkt, in headers hdr) { apply { pkt.emit(hdr.b); pkt.emit(hdr.a); } }
V1Switch(P(), V(), I(), E(), C(), D()) main;
";

const BURSTS: usize = 300;
const BURST: usize = 40;

#[test]
fn packets_with_the_usual_action_and_rows_with_others_keep_their_order() {
    keep_their_order("65536", "_others(run, row);");
}

#[test]
fn packets_of_a_near_table_with_the_usual_action_and_others_keep_their_order() {
    keep_their_order("64", "_t(run, bit);");
}

/// With a table of that size, whose packets with other actions are handed over so.
fn keep_their_order(size: &str, hand_over: &str) {
    let text = PROGRAM.replace("SIZE", size);
    let mut ir = p4_check::compile_str("usual.p4", &text, &p4_check::Options::default()).unwrap_or_else(|e| panic!("{e}")).ir;
    p4_passes::optimise(&mut ir).unwrap();
    let c = p4_emit::emit_x86(&ir).unwrap();
    assert!(c.contains(hand_over), "the look-up has no function for its usual action: {c}");
    let mut pair = common::pair(ir, 5, &["-O1"]);
    let program = pair.ir.program.clone();
    let table = program.tables.iter().find(|(_, t)| t.name.ends_with('t')).map(|(id, _)| id).unwrap();
    let action = |end: &str| program.actions.iter().find(|(_, a)| a.name.ends_with(end)).map(|(id, _)| id).unwrap();
    let (set, push, refuse) = (action("set"), action("push"), action("refuse"));
    // Of sixteen keys, in turn; the rest and packets of no class miss.
    let actions = [set, push, refuse, set, push, push, set, set];
    let entry = |key: u8| {
        let action = actions[usize::from(key) % actions.len()];
        let args = if action == refuse { vec![] } else { vec![u128::from(key) + 7] };
        Entry { table, keys: vec![KeyMatch::Exact(key.into())], priority: 0, action, args }
    };
    pair.apply((0..16).map(|key| Op::Insert(entry(key))).collect()).unwrap();
    let mut rng = common::rng(6);
    let (mut rows, mut singles, mut turns) = (0, 0, 0);
    for _ in 0..BURSTS {
        let mut packets = Vec::new();
        let mut row = 0;
        for _ in 0..BURST {
            let key: u8 = if rng.random_bool(0.1) { rng.random_range(0..=255) } else { rng.random_range(0..16) };
            let usual = key < 16 && actions[usize::from(key) % actions.len()] == set;
            match (usual, row) {
                (false, _) => row += 1,
                (true, 0) => {}
                (true, n) => {
                    turns += 1;
                    if n == 1 {
                        singles += 1
                    } else {
                        rows += 1
                    }
                    row = 0;
                }
            }
            let cell = rng.random_range(0..4);
            packets.push((vec![key, cell, 0, 0, 0, 0, 0, 0, 0xab], PortId(0)));
        }
        pair.run(&packets);
    }
    pair.check_state();
    assert!(rows > 1000 && singles > 1000, "{rows} rows, {singles} packets alone, {turns} turns");
    let [forwarded, dropped, ..] = [base::VerdictKind::Forward, base::VerdictKind::Drop].map(|kind| pair.kinds[kind as usize]);
    assert!(forwarded > 5000 && dropped > 1000, "{forwarded} forwarded, {dropped} dropped");
}
