//! Moves under traffic, on a fast target that fails at every step: packets, order, counters and meters are those of the interpreter
//! alone.
//!
//! `MOVES=1000000` chooses how many moves are made in all, `MOVES_SEED` with which seed they begin. A failing case prints its seed.

#[path = "moves/world.rs"]
mod world;

use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use std::sync::Arc;
use world::{Flavour, Seen, World};

/// Moves of a case.
const CASE: u64 = 1000;

fn number(name: &str) -> Option<u64> {
    let text = std::env::var(name).ok()?;
    Some(text.parse().unwrap_or_else(|_| panic!("{name}={text}: not a number")))
}

#[test]
fn moving_sessions_changes_nothing_that_can_be_seen() {
    let usual = 20_000;
    let (moves, first) = (number("MOVES").unwrap_or(usual), number("MOVES_SEED").unwrap_or(1));
    let ir = world::compile();
    let base = Arc::new(world::native(&ir));
    let mut sum = Seen::default();
    let mut seed = first;
    while sum.moves < moves {
        let flavour = if seed.is_multiple_of(3) { Flavour::Whims } else { Flavour::Rates };
        let case = || World::new(&ir, base.clone(), flavour, ChaCha8Rng::seed_from_u64(seed)).run(CASE.min(moves - sum.moves));
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(case)) {
            Ok(seen) => sum.add(seen),
            Err(failure) => {
                eprintln!("MOVES_SEED={seed} MOVES={CASE} repeats the case, after {} moves without a fault", sum.moves);
                std::panic::resume_unwind(failure);
            }
        }
        seed += 1;
    }
    println!("{} moves, 0 violations: {sum:#?}", sum.moves);
    if moves >= usual {
        check_coverage(&sum);
    }
}

/// Everything must have happened often enough for its equality to mean something.
fn check_coverage(sum: &Seen) {
    let mut missing = Vec::new();
    let mut at_least = |what: &str, count: u64, least: u64| {
        if count < least {
            missing.push(format!("{what}: {count}, not {least}"));
        }
    };
    at_least("moves to the fast target", sum.to_fast, 5_000);
    at_least("packets on the fast target", sum.paths.0, 5_000);
    at_least("packets on the base target", sum.paths.1, 20_000);
    at_least("sessions that left by themselves", sum.left, 500);
    at_least("recoveries", sum.recoveries, 100);
    at_least("buckets between full and empty", sum.partial_buckets, 1_000);
    for kind in ["colour 0", "colour 1", "colour 2", "Drop 17", "Drop 18", "Drop 19"] {
        at_least(kind, sum.kinds.get(kind).copied().unwrap_or_default(), 500);
    }
    for fault in
        ["refused before", "refused after", "done in part", "no room", "deaths", "restarts", "buckets refused", "slow", "sudden deaths"]
    {
        at_least(fault, sum.faults.of(fault), 20);
    }
    for failure in ["out of service", "no room", "failed"] {
        at_least(failure, sum.failed.get(failure).copied().unwrap_or_default(), 100);
    }
    assert!(missing.is_empty(), "too few:\n{}", missing.join("\n"));
}
