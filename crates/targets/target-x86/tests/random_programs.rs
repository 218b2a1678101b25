//! Random programs on x86 behave as in the interpreter.

mod common;

use common::rng;
use common::twin::random_ir::{random_ir, random_ir_with_classes, random_packets};
use rand_chacha::ChaCha8Rng;
use target_x86::ClassStats;

fn check(ir: p4_ir::Ir, seed: u64, flags: &[&'static str]) -> (u64, u64, [u64; 8], ClassStats, [usize; 2]) {
    let mut pair = common::pair(ir, seed, flags);
    let mut source = rng(seed ^ 0xfeed);
    let packets = random_packets(&mut source, 150);
    pair.run(&packets);
    pair.fill(0.8);
    pair.run(&packets);
    pair.run(&random_packets(&mut source, 100));
    pair.check_state();
    let (read, counted) = pair.check_entries(1 + seed as usize % 5);
    let (mut hits, mut misses) = (0, 0);
    for table in pair.ir.program.tables.values() {
        let (h, m) = pair.hits_and_misses(&table.name);
        hits += h;
        misses += m;
    }
    (hits, misses, pair.kinds, pair.native.class_stats(), [read, counted])
}

fn check_all(make: fn(ChaCha8Rng) -> p4_ir::Ir, seeds: std::ops::Range<u64>, flags: &[&'static str]) -> ClassStats {
    let (mut hits, mut misses, mut kinds, mut classes) = (0, 0, [0; 8], ClassStats { packets: vec![0; 2], ..ClassStats::default() });
    let mut read = [0; 2];
    for seed in seeds.clone() {
        let (h, m, k, c, r) =
            std::panic::catch_unwind(|| check(make(rng(seed)), seed, flags)).unwrap_or_else(|_| panic!("seed {seed} failed"));
        hits += h;
        misses += m;
        // Packets of no class in programs that have some, and packets of classes.
        if c.packets.len() > 1 {
            classes.packets[0] += c.packets[0];
            classes.packets[1] += c.packets[1..].iter().sum::<u64>();
            classes.spared += c.spared;
        }
        kinds.iter_mut().zip(k).for_each(|(sum, n)| *sum += n);
        read.iter_mut().zip(r).for_each(|(sum, n)| *sum += n);
    }
    let n = seeds.end - seeds.start;
    println!("{n} programs: {hits} hits, {misses} misses, verdicts {kinds:?}; {read:?} entries read back and those counted");
    // Their tables hold little: `read_back.rs` has more.
    assert!(read[0] > n as usize / 2, "{read:?} entries read back and those counted");
    assert!(hits > 20 * n && misses > 20 * n, "{hits} hits and {misses} misses");
    assert!(kinds[0] > 30 * n && kinds[3] > 10 * n, "verdicts {kinds:?}");
    classes
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
    check_all(random_ir, 1024..1032, &[]);
}

#[test]
fn random_programs_with_classes_agree() {
    let seeds = seeds().unwrap_or(2000..2030);
    let n = seeds.end - seeds.start;
    let ClassStats { packets, spared, .. } = check_all(random_ir_with_classes, seeds, &["-O1"]);
    println!("{} packets of classes, {} of none beside them, {spared} look-ups spared", packets[1], packets[0]);
    assert!(packets[1] > 20 * n && packets[0] > 5 * n && spared > n, "packets {packets:?}, {spared} look-ups spared");
}
