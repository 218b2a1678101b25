//! Millions of look-ups a second on one core, in bursts of 64 random keys, every value read and checked.
//!
//! `cargo run --release --example table_bench -p table`. Median and best of some rounds; machines shared with others drift, so
//! compare figures of one run only.

use rand::{Rng, SeedableRng, rngs::StdRng};
use std::time::Instant;
use table::{BURST, Exact, Lpm, Prefix, Rule, Shape, Table, Ternary};

const VALUE_LEN: usize = 56;
const BURSTS: usize = 1 << 14;
const ROUNDS: usize = 11;

fn main() {
    for entries in [1 << 10, 1 << 16, 1 << 20] {
        let mut rng = StdRng::seed_from_u64(1);
        exact(entries, &mut rng);
        lpm(entries, &mut rng);
        ternary(entries, &mut rng);
    }
}

fn exact(entries: u64, rng: &mut StdRng) {
    let shape = Shape { key_len: 8, value_len: VALUE_LEN, capacity: entries };
    let mut table = Exact::new(shape, rng.random()).expect("a table");
    let key_of = |i: u64| mixed(i).to_ne_bytes();
    let begin = Instant::now();
    let (mut before, mut slowest_ns) = (0, 0);
    for i in 0..entries {
        table.insert(&key_of(i), &value(i)).expect("room");
        let now = begin.elapsed().as_nanos();
        slowest_ns = slowest_ns.max(now - before);
        before = now;
    }
    let insert_ns = before as f64 / entries as f64;
    for (what, hit_share) in [("hits", 1.0), ("half hits", 0.5), ("misses", 0.0)] {
        let picks = picks(entries, hit_share, rng);
        let keys: Vec<u8> = picks.iter().flat_map(|pick| key_of(pick.unwrap_or_else(|| entries + rng.random_range(0..entries)))).collect();
        report(&format!("exact 8+56 B, {entries} entries, {what}"), &table, &keys, 8, &picks);
    }
    println!("  insert {insert_ns:.0} ns an entry, the slowest {:.0} us", slowest_ns as f64 / 1e3);
}

/// Host routes and their /24s of IPv4, behind a 4-byte VRF.
fn lpm(entries: u64, rng: &mut StdRng) {
    let shape = Shape { key_len: 8, value_len: VALUE_LEN, capacity: entries };
    let mut table = Lpm::new(shape, 4, rng.random()).expect("a table");
    let key_of = |i: u64| (u64::from(i % 4 == 3) << 32 | (mixed(i) & 0xffff_ffff)).to_be_bytes();
    let mut hosts = Vec::new();
    for i in 0..entries {
        if table.insert(Prefix { key: &key_of(i), prefix_len: 32 }, &value(i)).is_ok() {
            hosts.push(i);
        }
    }
    let picks: Vec<_> = (0..BURSTS * BURST).map(|_| Some(hosts[rng.random_range(0..hosts.len())])).collect();
    let keys: Vec<u8> = picks.iter().flatten().flat_map(|i| key_of(*i)).collect();
    report(&format!("lpm vrf + random IPv4 /32, {entries} entries"), &table, &keys, 8, &picks);
}

/// Rules of four masks over 16 bytes; each key matches one.
fn ternary(entries: u64, rng: &mut StdRng) {
    let shape = Shape { key_len: 16, value_len: VALUE_LEN, capacity: entries };
    let mut table = Ternary::new(shape, rng.random()).expect("a table");
    let mask = |i: u64| (u128::MAX << (8 * (i % 4))).to_be_bytes();
    let key_of = |i: u64| (u128::from(mixed(i)) << 64 | 0x1111).to_be_bytes();
    for i in 0..entries {
        let value_bits: Vec<u8> = key_of(i).iter().zip(mask(i)).map(|(k, m)| k & m).collect();
        table.insert(Rule { value: &value_bits, mask: &mask(i), ranges: &[], priority: (i % 4) as u32 }, &value(i)).expect("room");
    }
    let picks = picks(entries, 1.0, rng);
    let keys: Vec<u8> = picks.iter().flatten().flat_map(|i| key_of(*i)).collect();
    report(&format!("ternary 4 masks, {entries} entries"), &table, &keys, 16, &picks);
}

/// A bijection, so that keys differ.
fn mixed(i: u64) -> u64 {
    (i ^ (i << 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15).swap_bytes()
}

fn value(i: u64) -> [u8; VALUE_LEN] {
    let mut value = [0; VALUE_LEN];
    value[..8].copy_from_slice(&(i + 1).to_ne_bytes());
    value
}

/// Which entry each key is for, `None` for a miss.
fn picks(entries: u64, hit_share: f64, rng: &mut StdRng) -> Vec<Option<u64>> {
    (0..BURSTS * BURST).map(|_| rng.random_bool(hit_share).then(|| rng.random_range(0..entries))).collect()
}

fn report(what: &str, table: &impl Table, keys: &[u8], key_len: usize, picks: &[Option<u64>]) {
    let expected: u64 = picks.iter().flatten().map(|i| i + 1).sum();
    let expected_hits = picks.iter().flatten().count() as u32;
    let mut rates: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let mut out = [std::ptr::null_mut::<u8>(); BURST];
            let (mut sum, mut count) = (0u64, 0);
            let begin = Instant::now();
            for burst in keys.chunks_exact(BURST * key_len) {
                let mut hits = table.lookup_many(burst, key_len, &mut out);
                count += hits.count_ones();
                while hits != 0 {
                    // SAFETY: a hit's record has VALUE_LEN bytes, and nobody changes the table.
                    sum += unsafe { out[hits.trailing_zeros() as usize].cast::<u64>().read_unaligned() };
                    hits &= hits - 1;
                }
            }
            let seconds = begin.elapsed().as_secs_f64();
            assert_eq!((sum, count), (expected, expected_hits), "{what}: wrong values");
            picks.len() as f64 / seconds / 1e6
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    println!("{what}: {:.1} Mlookups/s (best {:.1})", rates[ROUNDS / 2], rates[ROUNDS - 1]);
}
