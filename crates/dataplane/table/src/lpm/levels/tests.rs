//! Do routes that come and go in all numbers and lengths agree with a map of them?

use super::*;
use rand::{Rng, SeedableRng, rngs::StdRng};
use std::collections::BTreeMap;

/// The routes by VRF, length and bits: the slow twin. Ordered, so that a run repeats from its seed.
type Truth = BTreeMap<(u32, u32, u128), u32>;

fn cut(bits: u128, len: u32) -> u128 {
    bits & !u128::MAX.checked_shr(len).unwrap_or(0)
}

fn longest(truth: &Truth, vrf: u32, key: u128) -> u32 {
    (0..=128).rev().find_map(|len| truth.get(&(vrf, len, cut(key, len)))).copied().unwrap_or(0)
}

/// Looks keys up, all of one VRF or each of its own.
fn look_up<const LEN: usize>(levels: &Levels, keys: &[(u32, u128)]) -> Vec<u32> {
    let lane = |i: usize| keys.get(i).copied().unwrap_or_default();
    let mut lanes = Lanes {
        node: std::array::from_fn(|i| lane(i).0),
        high: std::array::from_fn(|i| (lane(i).1 >> 64) as u64),
        low: std::array::from_fn(|i| lane(i).1 as u64),
        best: [0; BURST],
        active: std::array::from_fn(|i| i as u8),
        actives: keys.len(),
    };
    if keys.iter().all(|(vrf, _)| *vrf == keys[0].0) {
        levels.look_up_in::<LEN>(keys[0].0, &mut lanes);
    } else {
        levels.look_up::<LEN>(&mut lanes);
    }
    levels.prefetch_found(&lanes.best[..keys.len()]);
    lanes.best[..keys.len()].iter().map(|best| levels.handle(*best)).collect()
}

/// Routes come and go in waves, so that tops and dense nodes do; all answers as of the twin. `width` bits are in use.
fn come_and_go<const LEN: usize>(width: u32, seed: u64) {
    let mut rng = StdRng::seed_from_u64(seed);
    let mut levels = Levels::new();
    let vrfs: Vec<u32> = (0..3).map(|_| levels.add_vrf()).collect();
    let mut truth = Truth::new();
    let networks: Vec<u128> = (0..6).map(|_| rng.random()).collect();
    // Bits that agree with a network's up to somewhere, so that prefixes nest and part at all depths.
    let random_bits = |rng: &mut StdRng| {
        let part = if rng.random() { rng.random_range(0..=width) } else { width.min(16) };
        let bits = cut(networks[rng.random_range(0..networks.len())], part) | rng.random::<u128>().checked_shr(part).unwrap_or(0);
        cut(bits, width)
    };
    let (mut hits, mut misses, mut replaced, mut tails_and_more) = (0, 0, 0, 0);
    let (mut tops, mut denses, mut without) = (0, 0, 0);
    for wave in 0..10 {
        let grows = wave % 2 == 0;
        for _ in 0..600 {
            let vrf = vrfs[rng.random_range(0..100usize).min(60) / 30];
            if rng.random_bool(if grows { 0.8 } else { 0.1 }) {
                let len = rng.random_range(0..=width);
                let (bits, handle) = (cut(random_bits(&mut rng), len), rng.random_range(1..=HANDLE));
                levels.set(vrf, bits, len, handle);
                replaced += u64::from(truth.insert((vrf, len, bits), handle).is_some());
            } else if let Some((at, _)) = truth.iter().nth(rng.random_range(0..truth.len().max(1))) {
                let (vrf, len, bits) = *at;
                levels.remove(vrf, bits, len);
                truth.remove(&(vrf, len, bits));
                assert_eq!(levels.get(vrf, bits, len), None);
            }
        }
        tops = tops.max(levels.tops.used());
        denses = denses.max(levels.dense.used());
        without += usize::from(levels.tops.used() == 0);
        for (&(vrf, len, bits), &handle) in &truth {
            assert_eq!(levels.get(vrf, bits, len), Some(handle), "{bits:x}/{len}");
        }
        for _ in 0..60 {
            let of_one = rng.random_bool(0.5);
            let keys: Vec<(u32, u128)> = (0..rng.random_range(1..=BURST))
                .map(|_| (vrfs[if of_one { 0 } else { rng.random_range(0..3) }], random_bits(&mut rng)))
                .collect();
            for ((vrf, key), found) in keys.iter().zip(look_up::<LEN>(&levels, &keys)) {
                let expected = longest(&truth, *vrf, *key);
                assert_eq!(found, expected, "{key:x} in {vrf}");
                hits += u64::from(found != 0);
                misses += u64::from(found == 0);
                tails_and_more += u64::from((25..=width).any(|len| truth.get(&(*vrf, len, cut(*key, len))) == Some(&expected)));
            }
        }
        if !grows {
            for (vrf, len, bits) in truth.keys().filter(|_| wave % 4 == 3).copied().collect::<Vec<_>>() {
                levels.remove(vrf, bits, len);
                truth.remove(&(vrf, len, bits));
            }
        }
    }
    println!(
        "{hits} hits, {misses} misses, {replaced} replaced, {tops} tops, {denses} dense, {without} waves without, {tails_and_more} deep"
    );
    assert!(hits > 5_000 && misses > 500 && tops >= 2 && (width < 24 || denses >= 3), "{hits} {misses} {tops} {denses}");
    assert!(width <= 25 || tails_and_more > 100, "{tails_and_more} of prefixes below all cells");
    for (vrf, len, bits) in truth.into_keys() {
        levels.remove(vrf, bits, len);
    }
    assert!(vrfs.iter().all(|vrf| levels.is_empty(*vrf)));
    assert_eq!((levels.tops.used(), levels.dense.used()), (0, 0));
    vrfs.iter().for_each(|vrf| levels.remove_vrf(*vrf));
    assert_eq!(levels.trie.nodes_used(), 0);
}

#[test]
fn ipv4_routes_come_and_go() {
    come_and_go::<4>(32, 1);
}

#[test]
fn ipv6_routes_come_and_go() {
    come_and_go::<16>(128, 2);
}

#[test]
fn routes_of_other_widths_come_and_go() {
    for (seed, width) in [9, 16, 17, 24, 25, 64, 72].into_iter().enumerate() {
        come_and_go::<0>(width, 10 + seed as u64);
    }
}

/// Every length over one key, each put in and taken out under all others, from both ends.
#[test]
fn a_chain_of_all_lengths() {
    let key = 0x2001_0db8_9abc_def1_0fed_cba9_8765_4321u128;
    for (width, up) in [(32, true), (32, false), (128, true), (128, false)] {
        let mut levels = Levels::new();
        let vrf = levels.add_vrf();
        let mut order: Vec<u32> = (0..=width).collect();
        // Enough beside the chain for a top and a dense node throughout.
        for i in 0..64u128 {
            levels.set(vrf, cut(key, 16) | i << 106, 24, 1000 + i as u32);
        }
        if !up {
            order.reverse();
        }
        for (n, len) in order.iter().enumerate() {
            levels.set(vrf, cut(key, *len), *len, len + 1);
            let best = if up { *len } else { width };
            assert_eq!(look_up::<16>(&levels, &[(vrf, cut(key, width))]), [best + 1], "{n} of the chain");
        }
        assert_eq!((levels.tops.used(), levels.dense.used()), (1, 1));
        for len in &order {
            levels.remove(vrf, cut(key, *len), *len);
            let best = match up {
                true if *len < width => width + 1,
                true => 0,
                false => *len,
            };
            assert_eq!(look_up::<16>(&levels, &[(vrf, cut(key, width))]), [best], "after {len} went");
        }
    }
}

/// Many VRFs of some routes get no tops for nothing.
#[test]
fn tops_are_rationed() {
    let mut levels = Levels::new();
    let vrfs: Vec<u32> = (0..100).map(|_| levels.add_vrf()).collect();
    for vrf in &vrfs {
        for i in 0..u128::from(TOP_MIN) {
            levels.set(*vrf, i << 108, 20, *vrf + 1);
        }
    }
    assert_eq!(levels.tops.used(), FREE_TOPS);
    let last = vrfs[99];
    for i in 0..u128::from(TOP_MIN_LATER) {
        levels.set(last, i << 108, 20, last + 1);
    }
    assert_eq!(levels.tops.used(), FREE_TOPS + 1);
    // Of the ones beyond, a VRF that becomes small gives its top back.
    for i in TOP_MIN_LATER / 2 - 1..TOP_MIN_LATER {
        levels.remove(last, u128::from(i) << 108, 20);
    }
    assert_eq!(levels.tops.used(), FREE_TOPS);
    for vrf in vrfs {
        assert_eq!(look_up::<4>(&levels, &[(vrf, 5 << 108), (vrf, u128::MAX)]), [vrf + 1, 0]);
    }
}
