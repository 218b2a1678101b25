//! Random programs on x86 behave as in the interpreter.

mod common;

use common::random_ir::{random_ir, random_ir_with_classes, random_packets};
use common::{Pair, rng};
use rand_chacha::ChaCha8Rng;

fn check(ir: p4_ir::Ir, seed: u64, flags: &[&str]) -> (u64, u64, [u64; 5]) {
    let mut pair = Pair::new(ir, seed, flags);
    let mut source = rng(seed ^ 0xfeed);
    let packets = random_packets(&mut source, 150);
    pair.run(&packets);
    pair.fill(0.8);
    pair.run(&packets);
    pair.run(&random_packets(&mut source, 100));
    pair.check_state();
    let (mut hits, mut misses) = (0, 0);
    for table in pair.ir.program.tables.values() {
        let (h, m) = pair.hits_and_misses(&table.name);
        hits += h;
        misses += m;
    }
    (hits, misses, pair.kinds)
}

fn check_all(make: fn(ChaCha8Rng) -> p4_ir::Ir, seeds: std::ops::Range<u64>, flags: &[&str]) {
    let (mut hits, mut misses, mut kinds) = (0, 0, [0; 5]);
    for seed in seeds.clone() {
        let (h, m, k) = std::panic::catch_unwind(|| check(make(rng(seed)), seed, flags)).unwrap_or_else(|_| panic!("seed {seed} failed"));
        hits += h;
        misses += m;
        kinds.iter_mut().zip(k).for_each(|(sum, n)| *sum += n);
    }
    let n = seeds.end - seeds.start;
    println!("{n} programs: {hits} hits, {misses} misses, verdicts {kinds:?}");
    assert!(hits > 20 * n && misses > 20 * n, "{hits} hits and {misses} misses");
    assert!(kinds[0] > 30 * n && kinds[3] > 10 * n, "verdicts {kinds:?}");
}

/// `SEEDS=100..200` runs others than the usual ones.
fn seeds() -> Option<std::ops::Range<u64>> {
    let seeds = std::env::var("SEEDS").ok()?;
    let (from, to) = seeds.split_once("..")?;
    Some(from.parse().ok()?..to.parse().ok()?)
}

#[test]
fn random_programs_agree() {
    check_all(random_ir, seeds().unwrap_or(0..40), &["-O1"]);
}

#[test]
fn random_programs_agree_fully_optimised() {
    check_all(random_ir, 1000..1006, &[]);
}

#[test]
fn random_programs_with_classes_agree() {
    let with =
        seeds().unwrap_or(2000..2040).filter(|s| p4_emit::emit_x86(&random_ir_with_classes(rng(*s))).is_ok_and(|t| t.contains("class_1_")));
    let with = with.count();
    println!("{with} programs with classes");
    assert!(with > 15, "{with} programs with classes");
    check_all(random_ir_with_classes, seeds().unwrap_or(2000..2040), &["-O1"]);
}
