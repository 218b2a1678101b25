//! Millions of look-ups a second on one core, in bursts of 64 random keys, every value read and checked.
//!
//! `cargo run --release --example table_speed -p table [-- exact|small|lpm|sdf]`. Time is that of the thread, as machines are shared with
//! others; median and best of some rounds. Compare figures of one run only, or of runs in turn.

use rand::{Rng, SeedableRng, rngs::StdRng};
use table::{BURST, Direct, Exact, Limits, Lpm, Prefix, Range, Rule, Shape, Table, Ternary};

const VALUE_LEN: usize = 56;
const BURSTS: usize = 1 << 13;
const ROUNDS: usize = 9;

fn main() {
    let only: Vec<String> = std::env::args().skip(1).collect();
    let wanted = |what: &str| only.is_empty() || only.iter().any(|o| o == what);
    let mut rng = StdRng::seed_from_u64(1);
    if wanted("exact") {
        for entries in [1 << 10, 1 << 16, 1 << 20] {
            exact(entries, &mut rng);
        }
    }
    if only.iter().any(|o| o == "huge") {
        exact(16 << 20, &mut rng);
    }
    if wanted("small") {
        exact(1, &mut rng);
        exact(8, &mut rng);
        direct(&mut rng);
    }
    if wanted("lpm") {
        for routes in [1, 64, 1_000, 1_000_000] {
            lpm_v4(routes, &mut rng);
        }
        for routes in [2_000, 20_000, 200_000] {
            lpm_v6(routes, &mut rng);
        }
        lpm_hosts(1 << 20, &mut rng);
    }
    if wanted("sdf") {
        for (filters, sets) in [(3, 1), (4_096, 1_200), (4_096, 128), (4_096, 64), (4_096, 8), (4_096, 1), (8_192, 1), (65_536, 20_000)] {
            for narrow_first in [false, true] {
                sdf(filters, sets, narrow_first, Limits::default(), &mut rng);
                if filters >= 64 * sets {
                    sdf(filters, sets, narrow_first, Limits { scan: 40, list: 40, ..Limits::default() }, &mut rng);
                }
            }
        }
        ternary(1 << 16, &mut rng);
    }
}

fn exact(entries: u64, rng: &mut StdRng) {
    let shape = Shape { key_len: 8, value_len: VALUE_LEN, capacity: entries };
    let mut table = Exact::new(shape, rng.random()).expect("a table");
    let key_of = |i: u64| mixed(i).to_ne_bytes();
    let begin = thread_ns();
    for i in 0..entries {
        table.insert(&key_of(i), &value(i)).expect("room");
    }
    println!("  insert {:.0} ns an entry", (thread_ns() - begin) as f64 / entries as f64);
    for (what, hit_share) in [("hits", 1.0), ("half hits", 0.5), ("misses", 0.0)] {
        let picks = picks(entries, hit_share, rng);
        let keys: Vec<u8> = picks.iter().flat_map(|pick| key_of(pick.unwrap_or_else(|| entries + rng.random_range(0..entries)))).collect();
        report(&format!("exact 8+56 B, {entries} entries, {what}"), &table, &keys, 8, &picks);
    }
}

fn direct(rng: &mut StdRng) {
    let mut table = Direct::new(Shape { key_len: 2, value_len: VALUE_LEN, capacity: 4_096 }).expect("a table");
    for i in 0..4_096u64 {
        table.insert(&(i as u16 * 16).to_be_bytes(), &value(i)).expect("room");
    }
    let picks = picks(4_096, 1.0, rng);
    let keys: Vec<u8> = picks.iter().flatten().flat_map(|i| ((*i as u16 * 16).to_be_bytes()).into_iter().chain([0; 6])).collect();
    report("direct, 4096 of 65536", &table, &keys, 8, &picks);
}

/// Routes with lengths as on the Internet, most /24; each key is of one of them, and may be of a longer one.
fn lpm_v4(routes: u64, rng: &mut StdRng) {
    let shape = Shape { key_len: 8, value_len: VALUE_LEN, capacity: routes + 2 };
    let mut table = Lpm::new(shape, 4, rng.random()).expect("a table");
    let mut installed: Vec<(u32, u32)> = Vec::new();
    if routes < 100 {
        table.insert(Prefix { key: &[0; 8], prefix_len: 0 }, &value(0)).expect("room");
        installed.push((0, 0));
    }
    while (installed.len() as u64) < routes {
        let len = [24, 24, 24, 24, 24, 24, 23, 22, 22, 21, 20, 19, 16, 18][rng.random_range(0..14)];
        let net = rng.random_range(0x0100_0000u32..0xdf00_0000) & u32::MAX << (32 - len);
        if table.insert(Prefix { key: &u64::from(net).to_be_bytes(), prefix_len: len }, &value(installed.len() as u64)).is_ok() {
            installed.push((net, len));
        }
    }
    let keys: Vec<u64> = (0..BURSTS * BURST)
        .map(|_| {
            let (net, len) = installed[rng.random_range(0..installed.len())];
            u64::from(net | rng.random::<u32>() & u32::MAX.checked_shr(len).unwrap_or(0))
        })
        .collect();
    report_found(&format!("lpm vrf + IPv4, {routes} routes"), &table, &keys.iter().flat_map(|k| k.to_be_bytes()).collect::<Vec<_>>(), 8);
    let begin = thread_ns();
    for (net, len) in installed.iter().take(1_000) {
        table.replace(Prefix { key: &u64::from(*net).to_be_bytes(), prefix_len: *len }, &value(7)).expect("it is there");
    }
    println!("  replace {:.2} us a route", (thread_ns() - begin) as f64 / 1e3 / installed.len().min(1_000) as f64);
    if routes > 100 {
        let begin = thread_ns();
        table.remove(Prefix { key: &u64::from(installed[0].0).to_be_bytes(), prefix_len: installed[0].1 }).expect("it is there");
        table.insert(Prefix { key: &[0; 8], prefix_len: 0 }, &value(7)).expect("room");
        println!("  a default route instead of another {:.0} us", (thread_ns() - begin) as f64 / 1e3);
        for prefix_len in [8, 1] {
            let wide = Prefix { key: &[0; 8], prefix_len };
            table.insert(wide, &value(7)).expect("there was none");
            let begin = thread_ns();
            table.replace(wide, &value(8)).expect("it is there");
            println!("  replace a /{prefix_len} {:.0} us", (thread_ns() - begin) as f64 / 1e3);
        }
    }
}

fn lpm_v6(routes: u64, rng: &mut StdRng) {
    let shape = Shape { key_len: 20, value_len: VALUE_LEN, capacity: routes };
    let mut table = Lpm::new(shape, 4, rng.random()).expect("a table");
    let mut installed: Vec<(u128, u32)> = Vec::new();
    let field = |net: u128| [&[0; 4][..], &net.to_be_bytes()].concat();
    let providers: Vec<u128> = (0..20_000).map(|_| 0x2000u128 << 112 | (rng.random::<u32>() as u128 & 0xfff_ffff) << 96).collect();
    while (installed.len() as u64) < routes {
        let len = [48, 48, 48, 48, 32, 36, 40, 44, 64, 56][rng.random_range(0..10)];
        let net = (providers[rng.random_range(0..providers.len())] | rng.random::<u128>() >> 32) & u128::MAX << (128 - len);
        if table.insert(Prefix { key: &field(net), prefix_len: len }, &value(installed.len() as u64)).is_ok() {
            installed.push((net, len));
        }
    }
    let keys: Vec<u8> = (0..BURSTS * BURST)
        .flat_map(|_| {
            let (net, len) = installed[rng.random_range(0..installed.len())];
            [&field(net | rng.random::<u128>() >> len)[..], &[0; 4]].concat()
        })
        .collect();
    report_found(&format!("lpm vrf + IPv6, {routes} routes"), &table, &keys, 24);
}

/// Host routes of IPv4, behind a 4-byte VRF.
fn lpm_hosts(entries: u64, rng: &mut StdRng) {
    let shape = Shape { key_len: 8, value_len: VALUE_LEN, capacity: entries };
    let mut table = Lpm::new(shape, 4, rng.random()).expect("a table");
    let key_of = |i: u64| (u64::from(i % 4 == 3) << 32 | (mixed(i) & 0xffff_ffff)).to_be_bytes();
    let hosts: Vec<u64> = (0..entries).filter(|i| table.insert(Prefix { key: &key_of(*i), prefix_len: 32 }, &value(*i)).is_ok()).collect();
    let picks: Vec<_> = (0..BURSTS * BURST).map(|_| Some(hosts[rng.random_range(0..hosts.len())])).collect();
    let keys: Vec<u8> = picks.iter().flatten().flat_map(|i| key_of(*i)).collect();
    report(&format!("lpm vrf + random IPv4 /32, {entries} entries"), &table, &keys, 8, &picks);
}

/// SDF filters as of `upf.p4`: set, remote and local address, protocol, remote and local port range, type of service, QFI.
fn sdf(filters: u64, sets: u64, narrow_first: bool, limits: Limits, rng: &mut StdRng) {
    const KEY: usize = 24;
    let shape = Shape { key_len: 19, value_len: VALUE_LEN, capacity: filters };
    let mut table = ternary_by_set(shape, limits, rng.random());
    let mut samples: Vec<[u8; KEY]> = Vec::new();
    let (mut i, mut tries) = (0, 0);
    let begin = thread_ns();
    while i < filters {
        let (mut bits, mut mask) = ([0u8; 19], [0u8; 19]);
        let mut set = |at: usize, to: &[u8], m: &[u8]| {
            for (k, (b, m)) in to.iter().zip(m).enumerate() {
                (bits[at + k], mask[at + k]) = (b & m, *m);
            }
        };
        set(0, &((tries % sets) as u32).to_be_bytes(), &[255; 4]);
        tries += 1;
        let prefix = [0, 0, 16, 24, 32, 32][rng.random_range(0..6)];
        set(4, &rng.random::<[u8; 4]>(), &u32::MAX.checked_shl(32 - prefix).unwrap_or(0).to_be_bytes());
        if rng.random_bool(0.7) {
            set(12, &[[6, 17, 17, 1][rng.random_range(0..4)]], &[255]);
        }
        let mut ranges = Vec::new();
        match rng.random_range(0..3) {
            0 => set(13, &[0, 80 + rng.random_range(0..50)], &[255; 2]),
            1 => {
                let low = u128::from(rng.random_range(0u16..60_000));
                ranges.push(Range { offset: 13, len: 2, low, high: low + rng.random_range(1..5_000) });
            }
            _ => {}
        }
        let narrow = 4 * prefix + u32::from(mask[12] != 0) + u32::from(mask[13] != 0 || !ranges.is_empty());
        let priority = if narrow_first { narrow } else { rng.random_range(0..256) };
        let rule = Rule { value: &bits, mask: &mask, ranges: &ranges, priority };
        if table.insert(rule, &value(i)).is_err() {
            continue;
        }
        i += 1;
        let mut key = [0; KEY];
        rng.fill(&mut key[4..]);
        for k in 0..19 {
            key[k] = key[k] & !mask[k] | bits[k];
        }
        if let Some(range) = ranges.first() {
            key[13..15].copy_from_slice(&(rng.random_range(range.low..=range.high) as u16).to_be_bytes());
        }
        samples.push(key);
    }
    println!("  insert {:.2} us a filter", (thread_ns() - begin) as f64 / 1e3 / filters as f64);
    let keys: Vec<u8> = (0..BURSTS * BURST)
        .flat_map(|_| {
            let mut key = samples[rng.random_range(0..samples.len())];
            if rng.random_bool(0.3) {
                // Of the same set, but something else.
                rng.fill(&mut key[4..]);
            }
            key
        })
        .collect();
    let order = if narrow_first { "narrow ones first" } else { "in any order" };
    report_found(&format!("sdf, {filters} filters in {sets} sets, {order}"), &table, &keys, KEY);
    println!("  {} blocks with bitmaps, {} masks in the tuple space", table.mapped_blocks(), table.masks());
}

fn ternary_by_set(shape: Shape, limits: Limits, seed: u64) -> Ternary {
    let common: Vec<u8> = (0..shape.key_len).map(|i| if i < 4 { 255 } else { 0 }).collect();
    Ternary::with_limits(shape, &common, seed, limits).expect("a table")
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

fn report(what: &str, table: &impl Table, keys: &[u8], stride: usize, picks: &[Option<u64>]) {
    let expected: u64 = picks.iter().flatten().map(|i| i + 1).sum();
    let expected_hits = picks.iter().flatten().count() as u64;
    measure(what, table, keys, stride, Some((expected, expected_hits)));
}

/// For tables where it is not known beforehand which entry is found.
fn report_found(what: &str, table: &impl Table, keys: &[u8], stride: usize) {
    measure(what, table, keys, stride, None);
}

fn measure(what: &str, table: &impl Table, keys: &[u8], stride: usize, expected: Option<(u64, u64)>) {
    let mut answer = expected;
    let mut rates: Vec<f64> = (0..ROUNDS)
        .map(|_| {
            let mut out = [std::ptr::null_mut::<u8>(); BURST];
            let (mut sum, mut count) = (0u64, 0u64);
            let begin = thread_ns();
            for burst in keys.chunks_exact(BURST * stride) {
                let mut hits = table.lookup_many(burst, stride, &mut out);
                count += u64::from(hits.count_ones());
                while hits != 0 {
                    // SAFETY: a hit's record has VALUE_LEN bytes, and nobody changes the table.
                    sum += unsafe { out[hits.trailing_zeros() as usize].cast::<u64>().read_unaligned() };
                    hits &= hits - 1;
                }
            }
            let ns = thread_ns() - begin;
            assert_eq!(*answer.get_or_insert((sum, count)), (sum, count), "{what}: wrong values");
            (keys.len() / stride) as f64 / ns as f64 * 1e3
        })
        .collect();
    rates.sort_by(f64::total_cmp);
    let hits = answer.map_or(0, |(_, hits)| 100 * hits / (keys.len() / stride) as u64);
    println!("{what}: {:.1} Mlookups/s (best {:.1}), {hits} % hits", rates[ROUNDS / 2], rates[ROUNDS - 1]);
}

/// Time that this thread has run.
fn thread_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes the one that it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
