//! The user plane function on x86 behaves as in the interpreter: sound, truncated and mutated packets of all its kinds.

mod common;

use base::VerdictKind;
use common::rng;
use common::twin::user_plane::{choose, packet, program_with};
use rand_chacha::ChaCha8Rng;

#[test]
fn the_upf_agrees() {
    agrees(&[]);
}

/// As the daemon has it by default: rates are asked before routes.
#[test]
fn the_upf_whose_packets_wait_agrees() {
    agrees(&["SHAPE"]);
}

fn agrees(macros: &[&str]) {
    let mut pair = common::pair(program_with(1024, macros), 7, &[]);
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
    println!("verdicts {:?}, {:?}", pair.kinds, pair.reasons);
    for table in pair.ir.program.tables.values() {
        let (hits, misses) = pair.hits_and_misses(&table.name);
        println!("{}: {hits} hits, {misses} misses", table.name);
        assert!(hits >= 20 && misses >= 20, "{}: {hits} hits, {misses} misses", table.name);
    }
    let classes = pair.native.class_stats();
    println!("{classes:?}");
    assert!(classes.packets.len() > 6 && classes.packets.iter().all(|n| *n > 20) && classes.spared > 20, "{classes:?}");
    assert!(pair.kinds[0] > 500 && pair.kinds[1] > 20 && pair.kinds[2] > 100, "{:?}", pair.kinds);
}

/// As above, but all users have the same meter, and not much else keeps their packets.
fn choose_one_meter(rng: &mut ChaCha8Rng, action: &str, param: &str) -> Option<u128> {
    match (action, param) {
        ("set_pdr", "disposition" | "flags" | "meter_2" | "meter_3") => Some(0),
        ("set_pdr", "meter_1") => Some(1),
        _ => choose(rng, action, param),
    }
}

/// Packets of all classes and of none use one cell up, in bursts in which they are mixed: who comes first must be served first.
#[test]
fn packets_of_all_classes_share_a_meter() {
    share_a_meter(&[], VerdictKind::Drop);
}

#[test]
fn packets_of_all_classes_share_a_meter_that_they_wait_for() {
    share_a_meter(&["SHAPE"], VerdictKind::Shape);
}

fn share_a_meter(macros: &[&str], over_rate: VerdictKind) {
    let mut pair = common::pair(program_with(1024, macros), 8, &[]);
    pair.choose = choose_one_meter;
    let mut source = rng(78);
    for round in 0..6 {
        let packets: Vec<_> = (0..4000).map(|_| packet(&mut source)).collect();
        pair.run(&packets);
        if round < 5 {
            pair.fill(if round < 2 { 0.8 } else { 0.25 });
        }
    }
    pair.check_state();
    const RATE_EXCEEDED: u8 = 32;
    let red = pair.reasons.get(&(over_rate, RATE_EXCEEDED)).copied().unwrap_or_default();
    let classes = pair.native.class_stats();
    println!("{red} red, {} forwarded, {classes:?}", pair.kinds[0]);
    assert!(red > 100 && pair.kinds[0] > 200, "{red} red, {} forwarded", pair.kinds[0]);
    assert!(classes.packets.len() > 6 && classes.packets.iter().all(|n| *n > 20), "{classes:?}");
}
