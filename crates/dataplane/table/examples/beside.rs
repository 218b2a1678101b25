//! What do a writer's batches cost the look-ups beside them, and how fast is the writer?
//!
//! `cargo run --release --example beside -p table [-- ENTRIES]`. One thread looks up in an exact table of 8 + 56 bytes, another inserts
//! and removes in batches. Rates are per time that the thread has run, so that a busy machine shows less.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use table::{BURST, Epoch, Exact, Presence, Shape, Table, View};

const VALUE: [u8; 56] = [7; 56];
const ROUND: u64 = 40_000;

struct Shared {
    epoch: Epoch,
    presence: Presence,
    /// By the parity of the epoch; the writer writes the one that no burst reads.
    views: [UnsafeCell<View>; 2],
    present: AtomicU64,
    done: AtomicBool,
}

// SAFETY: `views` as said there.
unsafe impl Sync for Shared {}

fn main() {
    let entries: u64 = std::env::args().nth(1).and_then(|n| n.parse().ok()).unwrap_or(1 << 20);
    let before = resident_bytes();
    let shape = Shape { key_len: 8, value_len: VALUE.len(), capacity: 2 * entries };
    let mut table = Exact::new(shape, 1).expect("a table");
    let begin = thread_ns();
    let mut slowest = 0;
    for i in 0..entries {
        let from = if i % 64 == 0 { thread_ns() } else { 0 };
        table.insert(&key(i), &VALUE).expect("room");
        if from > 0 {
            slowest = slowest.max(thread_ns() - from);
        }
    }
    let ns = (thread_ns() - begin) as f64 / entries as f64;
    println!("{entries} entries: {ns:.0} ns an insert of its own, the slowest seen {} us", slowest / 1_000);
    println!("  {:.1} bytes an entry", (resident_bytes() - before) as f64 / entries as f64);
    for batch in [64, 1_000] {
        let views = [UnsafeCell::new(table.view()), UnsafeCell::new(table.view())];
        let shared = Shared { epoch: Epoch::default(), presence: Presence::default(), views, present: entries.into(), done: false.into() };
        let mut alone: Vec<f64> = (0..5).map(|_| read(&shared, ROUND)).collect();
        let (mut beside, writes) = std::thread::scope(|scope| {
            let reader = scope.spawn(|| {
                let rates: Vec<f64> = (0..5).map(|_| read(&shared, ROUND)).collect();
                shared.done.store(true, Ordering::Release);
                rates
            });
            let writes = write(&shared, &mut table, entries, batch);
            (reader.join().expect("a reader"), writes)
        });
        alone.extend((0..5).map(|_| read(&shared, ROUND)));
        let (alone, beside) = (median(&mut alone), median(&mut beside));
        println!(
            "batches of {batch}: look-ups {alone:.1} M/s alone, {beside:.1} beside ({:.0} %), {writes:.2} M changes/s",
            100.0 * beside / alone
        );
    }
}

/// Inserts new entries and removes them again, in batches. Millions of changes a second of this thread.
fn write(shared: &Shared, table: &mut Exact, entries: u64, batch: u64) -> f64 {
    let begin = thread_ns();
    let (mut changes, mut epoch) = (0, 1);
    let mut first = entries;
    let mut adds = true;
    while !shared.done.load(Ordering::Acquire) || !adds {
        let end = (first + batch).min(2 * entries);
        for i in first..end {
            if adds {
                table.stage_insert(&key(i), &VALUE).expect("room");
            } else {
                table.stage_remove(&key(i)).expect("it is there");
            }
        }
        changes += end - first;
        if !adds {
            first = if end == 2 * entries { entries } else { end };
        }
        adds = !adds;
        table.flip();
        epoch += 1;
        // SAFETY: the reader has left the epoch before the current one.
        unsafe { *shared.views[epoch % 2].get() = table.view() };
        let now = shared.epoch.advance();
        shared.presence.wait_past(now);
        // SAFETY: the reader rests or has begun a later burst.
        unsafe { table.settle() };
    }
    changes as f64 / (thread_ns() - begin) as f64 * 1e3
}

/// Looks up keys that are there in `bursts` bursts. Millions a second of this thread.
fn read(shared: &Shared, bursts: u64) -> f64 {
    let mut state = 1u64;
    let begin = thread_ns();
    let mut hits = 0;
    for _ in 0..bursts {
        let mut keys = [[0; 8]; BURST];
        for to in &mut keys {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            *to = key(((u128::from(state) * u128::from(shared.present.load(Ordering::Relaxed))) >> 64) as u64);
        }
        let burst = shared.presence.enter(&shared.epoch);
        // SAFETY: not written while a burst of this epoch runs.
        let view = unsafe { *shared.views[burst.epoch as usize % 2].get() };
        let mut out = [std::ptr::null_mut(); BURST];
        // SAFETY: keys of 8 bytes, room for what is found, within the burst.
        hits += unsafe { view.lookup_burst(keys.as_ptr().cast(), 8, BURST, out.as_mut_ptr()) }.count_ones() as u64;
    }
    let ns = thread_ns() - begin;
    assert_eq!(hits, bursts * BURST as u64, "a key that is there was missed");
    hits as f64 / ns as f64 * 1e3
}

fn key(i: u64) -> [u8; 8] {
    (i ^ (i << 32)).wrapping_mul(0x9e37_79b9_7f4a_7c15).to_ne_bytes()
}

fn median(rates: &mut [f64]) -> f64 {
    rates.sort_by(f64::total_cmp);
    rates[rates.len() / 2]
}

/// Memory of this process that is really there.
fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    statm.split(' ').nth(1).and_then(|pages| pages.parse::<u64>().ok()).unwrap_or(0) * 4_096
}

/// Time that this thread has run.
fn thread_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: it writes the one that it is given.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
