//! The user plane function in the kernel behaves as in the interpreter: sound, truncated and mutated packets of all its kinds.

mod common;

use common::twin::user_plane::{choose, packet, program};
use common::{Pair, rng};
use p4_interp::Mode;

fn agrees(mode: Mode) -> Pair {
    let mut pair = Pair::load(program(1024), 7, mode, &());
    pair.choose = choose;
    let mut source = rng(77);
    // Each round's entries lead some packets to tables that they did not reach before.
    for round in 0..10 {
        let packets: Vec<_> = (0..1500).map(|_| packet(&mut source)).collect();
        pair.run(&packets);
        if round < 9 {
            pair.fill(if round < 2 { 0.8 } else { 0.25 });
        }
    }
    pair.check_state();
    assert!(pair.refused * 2 < pair.accepted, "{} refused, {} accepted", pair.refused, pair.accepted);
    println!("verdicts {:?}, {:?}", pair.kinds, pair.reasons);
    pair
}

#[test]
fn the_whole_upf_agrees() {
    if !testkit::root_or_skip("the_whole_upf_agrees") {
        return;
    }
    let pair = agrees(Mode::Whole);
    for table in pair.ir.program.tables.values() {
        let (hits, misses) = pair.hits_and_misses(&table.name);
        println!("{}: {hits} hits, {misses} misses", table.name);
        assert!(hits >= 20 && misses >= 20, "{}: {hits} hits, {misses} misses", table.name);
    }
    assert!(pair.kinds[0] > 500 && pair.kinds[1] > 20 && pair.kinds[2] > 100, "{:?}", pair.kinds);
}

#[test]
fn a_subset_of_the_upf_hands_on_without_a_trace() {
    if !testkit::root_or_skip("a_subset_of_the_upf_hands_on_without_a_trace") {
        return;
    }
    let pair = agrees(Mode::Subset);
    assert!(pair.kinds[0] > 200 && pair.kinds[3] > 500 && pair.kinds[4] > 1000, "{:?}", pair.kinds);
    assert_eq!(pair.kinds[1] + pair.kinds[2], 0, "what is to be buffered or punted is handed on");
}
