//! `bench tables`: the match tables alone, and what changes cost readers.
//!
//! Exact and longest-prefix tables are called as generated code calls them, in bursts of 64 random keys that all hit, every value
//! read and checked. SDF filters are measured twice: a program that has only their table, and the whole UPF.

use super::measure::{Rounds, Runner, thread_time};
use super::micro;
use super::options::Common;
use super::report;
use super::sdf;
use base::PortId;
use cli::failure::Failure;
use pktio::LoopPort;
use program::{Batch, Entry, KeyMatch, Op};
use rand::{Rng, SeedableRng, rngs::StdRng};
use serde_json::{Value, json};
use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::{Duration, Instant};
use table::{BURST, Exact, Lpm, Prefix, Shape, Table};
use target_api::Target;

/// Keys that are gone through before they repeat.
const KEYS: usize = 1 << 20;
/// As a UPF's session rule has.
const VALUE_LEN: usize = 56;

/// Options of `bench tables`.
#[derive(clap::Args, Clone, Debug)]
pub struct Args {
    /// Entries of the exact table [default: 1000,64000,1000000,15000000; with --quick: 1000].
    #[arg(long, value_delimiter = ',', value_parser = clap::value_parser!(u64).range(1..=30_000_000))]
    entries: Vec<u64>,
    #[command(flatten)]
    pub common: Common,
}

impl Args {
    /// As `bench all` has them.
    pub fn with(common: Common) -> Args {
        Args { entries: Vec::new(), common }
    }
}

/// Runs it; the figures as JSON.
pub(super) fn tables(args: &Args) -> Result<Value, Failure> {
    let common = &args.common;
    let machine = report::machine();
    report::print_machine(&machine);
    println!("bench tables: one core, bursts of {BURST} random keys, all hits; by this thread's time unless said otherwise");
    let full = [1_000, 64_000, 1_000_000, 15_000_000];
    let sizes: &[u64] = if !args.entries.is_empty() { &args.entries } else { common.size(&full, &[1_000]) };
    let bar = report::progress(sizes.len() as u64 + 7);
    let mut rows = Vec::new();
    let mut done = |row: Value| {
        bar.suspend(|| report::print_rate(&row));
        bar.inc(1);
        rows.push(row);
    };
    for entries in sizes {
        bar.set_message(format!("exact, {entries} entries"));
        done(exact(*entries, common)?);
    }
    bar.set_message("longest prefix");
    for (routes, v6) in [(1, false), (64, false), (common.size(1_000_000, 2_000), false), (common.size(200_000, 1_000), true)] {
        done(longest_prefix(routes, v6, common)?);
    }
    bar.set_message("SDF filters");
    for row in sdf::sdf(common)? {
        done(row);
    }
    bar.set_message("changes while others look up");
    for batch in [64, 1_000] {
        done(changes(batch, common)?);
    }
    bar.finish_and_clear();
    let figures = json!({ "bench": "tables", "machine": machine, "round_ms": common.round().as_millis() as u64, "rows": rows });
    common.write(&figures)?;
    Ok(figures)
}

fn exact(entries: u64, common: &Common) -> Result<Value, Failure> {
    let before = super::contestant::resident_bytes();
    let mut table = Exact::new(Shape { key_len: 8, value_len: VALUE_LEN, capacity: entries }, 1).map_err(failed)?;
    let begin = thread_time();
    for i in 0..entries {
        table.insert(&mixed(i).to_ne_bytes(), &value(i)).map_err(failed)?;
    }
    let insert_ns = (thread_time() - begin).as_nanos() as f64 / entries as f64;
    let resident = super::contestant::resident_bytes().saturating_sub(before);
    let mut rng = StdRng::seed_from_u64(2);
    let keys: Vec<(Vec<u8>, u64)> = (0..common.size(KEYS, 4096))
        .map(|_| {
            let i = rng.random_range(0..entries);
            (mixed(i).to_ne_bytes().to_vec(), i)
        })
        .collect();
    let mut row = look_up(&format!("exact, {entries} entries of 8 + {VALUE_LEN} bytes"), &table, &keys, common)?;
    row["insert_ns"] = json!(insert_ns);
    row["resident_bytes"] = json!(resident);
    row["note"] = json!(format!("insert {insert_ns:.0} ns, {} MiB", resident >> 20));
    Ok(row)
}

/// Routes as in a full table of the Internet: most of them /24 or /48.
fn longest_prefix(routes: u64, v6: bool, common: &Common) -> Result<Value, Failure> {
    const VRF: [u8; 2] = [0, 2];
    let address_len = if v6 { 16 } else { 4 };
    let shape = Shape { key_len: 2 + address_len, value_len: 8, capacity: routes };
    let mut table = Lpm::new(shape, 2, 1).map_err(failed)?;
    let mut rng = StdRng::seed_from_u64(3);
    let mut known: HashMap<(u32, u128), u64> = HashMap::new();
    let mut list: Vec<(u32, u128)> = Vec::new();
    while (list.len() as u64) < routes {
        let prefix_len = if routes == 1 { 0 } else { prefix_len(v6, &mut rng) };
        let address = cut(random_address(v6, &mut rng), prefix_len, v6);
        if known.contains_key(&(prefix_len, address)) {
            continue;
        }
        let i = list.len() as u64;
        let key = [&VRF[..], &bytes(address, v6)].concat();
        table.insert(Prefix { key: &key, prefix_len }, &(i + 1).to_ne_bytes()).map_err(failed)?;
        known.insert((prefix_len, address), i);
        list.push((prefix_len, address));
    }
    // Longest first; the expectation is found the slow way.
    let mut lengths: Vec<u32> = list.iter().map(|(len, _)| *len).collect();
    lengths.sort_by(|a, b| b.cmp(a));
    lengths.dedup();
    let keys: Vec<(Vec<u8>, u64)> = (0..common.size(KEYS, 4096))
        .map(|_| {
            let (prefix_len, prefix) = list[rng.random_range(0..list.len())];
            let host = random_address(v6, &mut rng);
            let address = prefix | (host & !cut(u128::MAX, prefix_len, v6) & cut(u128::MAX, if v6 { 128 } else { 32 }, v6));
            let found = lengths.iter().find_map(|len| known.get(&(*len, cut(address, *len, v6))));
            let mut key = [&VRF[..], &bytes(address, v6)].concat();
            key.resize(table::padded(shape.key_len), 0);
            (key, *found.expect("its own route matches"))
        })
        .collect();
    let family = if v6 { "IPv6" } else { "IPv4" };
    look_up(&format!("longest prefix, {routes} {family} routes"), &table, &keys, common)
}

fn prefix_len(v6: bool, rng: &mut impl Rng) -> u32 {
    match (v6, rng.random_range(0..100)) {
        (false, 0..60) => 24,
        (false, 60..97) => rng.random_range(16..24),
        (false, 97..99) => rng.random_range(8..16),
        (false, _) => rng.random_range(25..=32),
        (true, 0..50) => 48,
        (true, 50..90) => rng.random_range(29..48),
        (true, _) => rng.random_range(49..=64),
    }
}

fn random_address(v6: bool, rng: &mut impl Rng) -> u128 {
    // 2000::/3 is what is given out (RFC 4291 §2.4).
    if v6 { (rng.random::<u128>() >> 3) | 1 << 125 } else { rng.random::<u32>().into() }
}

/// An address, or all ones, with only the first bits left.
fn cut(address: u128, prefix_len: u32, v6: bool) -> u128 {
    let width = if v6 { 128 } else { 32 };
    let all = if v6 { u128::MAX } else { u128::from(u32::MAX) };
    let host = if prefix_len == 0 { all } else { (1u128 << (width - prefix_len)) - 1 };
    address & all & !host
}

fn bytes(address: u128, v6: bool) -> Vec<u8> {
    if v6 { address.to_be_bytes().to_vec() } else { (address as u32).to_be_bytes().to_vec() }
}

/// Rounds over keys and the entries that they must hit.
fn look_up(what: &str, table: &impl Table, keys: &[(Vec<u8>, u64)], common: &Common) -> Result<Value, Failure> {
    let stride = keys.first().map_or(8, |(key, _)| key.len());
    let flat: Vec<u8> = keys.iter().flat_map(|(key, _)| key.iter().copied()).collect();
    for (key, i) in keys.iter().step_by(keys.len() / 4096) {
        let found = table.lookup(&key[..table.shape().key_len]).and_then(|v| v.first_chunk()).map(|v| u64::from_ne_bytes(*v));
        if found != Some(i + 1) {
            return Err(Failure::Failed(format!("{what}: key {key:02x?} found {found:?} and not entry {}", i + 1)));
        }
    }
    let expected: Vec<u64> = keys.chunks(BURST).map(|c| c.iter().fold(0u64, |sum, (_, i)| sum.wrapping_add(i + 1))).collect();
    let mut rates = Rounds::default();
    for _ in 0..common.rounds() {
        let (mut done, begin) = (0u64, thread_time());
        while thread_time() - begin < common.round() {
            for (burst, expected) in flat.chunks(BURST * stride).zip(&expected) {
                let mut out = [std::ptr::null_mut::<u8>(); BURST];
                let n = burst.len() / stride;
                if baseline::lookups::burst(table, burst, stride, &mut out[..n]) != (n as u32, *expected) {
                    return Err(Failure::Failed(format!("{what}: a burst found other values than were inserted")));
                }
            }
            done += keys.len() as u64;
        }
        rates.0.push(done as f64 / (thread_time() - begin).as_secs_f64() / 1e6);
    }
    Ok(report::rate(what, "M/s", &rates, keys.len()))
}

/// Inserts and removals by one thread through the target, while another looks up: changes a second, and what share of its rate is
/// left to who looks up. By the clock, as waiting costs no thread's time; and by threads' time beside, which leaves out other people's
/// processes.
fn changes(batch: u64, common: &Common) -> Result<Value, Failure> {
    let entries = common.size(500_000u64, 2_000);
    let ir = micro::exact(2 * entries)?;
    let (x86, oracle) = micro::load(&ir)?;
    drop(oracle);
    let table = ir.program.table("t").ok_or_else(|| Failure::Failed("no table".into()))?;
    let action = ir.program.action("act").ok_or_else(|| Failure::Failed("no action".into()))?;
    let entry =
        |i: u64| Entry { table, keys: vec![KeyMatch::Exact(mixed(i).into())], priority: 0, action, args: vec![u128::from(i % 500)] };
    let inserts = |from: u64, to: u64| Batch { ops: (from..to).map(|i| Op::Insert(entry(i))).collect() };
    for from in (0..entries).step_by(1_000) {
        x86.apply(&inserts(from, (from + 1_000).min(entries))).map_err(failed)?;
    }
    // Changed are others than are looked up; they are made beforehand, as this is not about making them.
    let changed = common.size(100_000u64, 1_000);
    let in_batches = |op: fn(Entry) -> Op| -> Vec<Batch> {
        let starts = (entries..entries + changed).step_by(batch as usize);
        starts.map(|from| Batch { ops: (from..(from + batch).min(entries + changed)).map(|i| op(entry(i))).collect() }).collect()
    };
    let (adding, removing) = (in_batches(Op::Insert), in_batches(Op::Delete));
    let mut rng = StdRng::seed_from_u64(4);
    let frames: Vec<Vec<u8>> = (0..common.size(65_536, 1024)).map(|_| mixed(rng.random_range(0..entries)).to_be_bytes().to_vec()).collect();
    let (looked_up, reader_ns, stop) = (AtomicU64::new(0), AtomicU64::new(0), AtomicBool::new(false));
    let (mut idle, mut busy, mut rates) = (Rounds::default(), Rounds::default(), Rounds::default());
    let (mut idle_own, mut busy_own, mut rates_own) = (Rounds::default(), Rounds::default(), Rounds::default());
    let lane = x86.lane(0);
    std::thread::scope(|scope| -> Result<(), Failure> {
        let reader = scope.spawn(|| -> Result<(), Failure> {
            let mut runner = Runner::new(lane);
            let mut source = LoopPort::new("keys", &frames, None).map_err(failed)?;
            while !stop.load(Ordering::Relaxed) {
                let (_, verdicts) = runner.burst(&mut source, PortId(0), BURST)?;
                if verdicts.iter().any(|v| v.kind != base::VerdictKind::Forward) {
                    return Err(Failure::Failed("an entry that stays was not found while others changed".into()));
                }
                let done = looked_up.fetch_add(BURST as u64, Ordering::Relaxed);
                if done % (BURST as u64 * 64) == 0 {
                    reader_ns.store(thread_time().as_nanos() as u64, Ordering::Relaxed);
                }
            }
            Ok(())
        });
        let now = || (Instant::now(), looked_up.load(Ordering::Relaxed), reader_ns.load(Ordering::Relaxed));
        // Look-ups since then by the clock, and by the reader's own time, in millions a second.
        let since = |(begin, before, before_ns): (Instant, u64, u64)| {
            let count = (looked_up.load(Ordering::Relaxed) - before) as f64;
            let own_ns = (reader_ns.load(Ordering::Relaxed) - before_ns).max(1);
            (count / begin.elapsed().as_secs_f64() / 1e6, count * 1e3 / own_ns as f64)
        };
        // Whether a window may end: on a busy machine the reader may have had no time in it yet. It fails by itself, or at last here.
        let seen = |(begin, _, before_ns): (Instant, u64, u64)| -> Result<bool, Failure> {
            if reader.is_finished() || begin.elapsed() > common.round() + Duration::from_secs(60) {
                return Err(Failure::Failed("the thread that looks up has stopped, or gets no time".into()));
            }
            Ok(begin.elapsed() >= common.round() && reader_ns.load(Ordering::Relaxed) > before_ns)
        };
        let mut work = || -> Result<(), Failure> {
            for _ in 0..common.rounds() {
                let start = now();
                while !seen(start)? {
                    std::thread::sleep(common.round());
                }
                let (clock, own) = since(start);
                idle.0.push(clock);
                idle_own.0.push(own);
                let (start, own_start) = (now(), thread_time());
                let mut made = 0u64;
                while !seen(start)? {
                    for batch in adding.iter().chain(&removing) {
                        x86.apply(batch).map_err(failed)?;
                        made += batch.ops.len() as u64;
                    }
                }
                rates.0.push(made as f64 / start.0.elapsed().as_secs_f64() / 1e6);
                rates_own.0.push(made as f64 / (thread_time() - own_start).as_secs_f64() / 1e6);
                let (clock, own) = since(start);
                busy.0.push(clock);
                busy_own.0.push(own);
            }
            Ok(())
        };
        let result = work();
        stop.store(true, Ordering::Relaxed);
        // What the reader says comes first: it is why the work stopped.
        reader.join().unwrap_or_else(|_| Err(Failure::Failed("the thread that looks up panicked".into())))?;
        result
    })?;
    if x86.table_stats(table).entries != entries {
        return Err(Failure::Failed("the table does not hold what it held before the changes".into()));
    }
    let (share, share_own) = (busy.ratio(&idle), busy_own.ratio(&idle_own));
    let what = format!("changes in batches of {batch}, {entries} entries, another thread looking up");
    let mut row = report::rate(&what, "M/s", &rates, looked_up.load(Ordering::Relaxed) as usize);
    row["lookups_idle"] = idle.json();
    row["lookups_busy"] = busy.json();
    row["lookups_share"] = share.json();
    row["by_thread_time"] = rates_own.json();
    row["lookups_share_by_thread_time"] = share_own.json();
    row["note"] = json!(format!(
        "look-ups go on at {:.0} % of {:.1} M/s; by threads' time {:.2} M/s, {:.0} % of {:.1}",
        share.median() * 100.0,
        idle.median(),
        rates_own.median(),
        share_own.median() * 100.0,
        idle_own.median()
    ));
    Ok(row)
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

fn failed(e: impl std::fmt::Display) -> Failure {
    Failure::Failed(e.to_string())
}
