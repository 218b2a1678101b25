//! Do look-ups of routes beside a writer find the longest prefix of each batch, while default and nested routes are replaced, come and go?
//!
//! The writer decides by the number of the batch which prefixes there are ([`is_there`]), so a reader knows what it must find. Keys lie on a
//! chain of nested prefixes of all lengths; routes beside it come and go in numbers that change how the table lays them out.

use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use table::{BURST, Epoch, Lpm, Prefix, Presence, Shape, Table, View};

const BATCHES: u64 = 120;
/// Routes beside the chain in the batches that have many.
const BESIDE: u64 = 200;

struct Shared {
    epoch: Epoch,
    presence: Presence,
    /// By the parity of the epoch; the writer writes the one that no burst reads.
    views: [UnsafeCell<View>; 2],
    done: AtomicBool,
    bursts: AtomicU64,
}

// SAFETY: `views` as said there.
unsafe impl Sync for Shared {}

/// A key's bytes: a VRF, and a field of `FIELD` bytes with the bits of a pattern up to `len`.
fn key<const FIELD: usize>(len: u32) -> [u8; 24] {
    let bits = 0x2a02_0db8_9abc_def1_0fed_cba9_8765_4321u128 & !u128::MAX.checked_shr(len).unwrap_or(0);
    let mut key = [0; 24];
    key[3] = 9;
    key[4..4 + FIELD].copy_from_slice(&bits.to_be_bytes()[..FIELD]);
    key
}

/// Another route, most of the same first 16 bits; never on the chain.
fn beside<const FIELD: usize>(i: u64) -> ([u8; 24], u32) {
    let mut key = key::<FIELD>(16);
    key[6] = 0xc0 | (i as u8 >> 2);
    key[7] = (i as u8) << 6;
    (key, if i.is_multiple_of(3) { 32 } else { 26 })
}

fn has_beside(batch: u64) -> bool {
    batch / 8 % 2 == 1
}

/// The default is always there; of each other length one batch in a few goes without.
fn is_there(batch: u64, len: u32) -> bool {
    len == 0 || (batch / 2 + u64::from(len)) % 5 < 2
}

/// A record: length, batch, and a sum of them in the rest.
fn record(len: u32, batch: u64) -> [u8; 32] {
    let words = [u64::from(len), batch, batch.rotate_left(9) ^ u64::from(len), !batch];
    let mut bytes = [0; 32];
    bytes.as_chunks_mut::<8>().0.iter_mut().zip(words).for_each(|(to, word)| *to = word.to_le_bytes());
    bytes
}

fn run<const FIELD: usize>() {
    let shape = Shape { key_len: 4 + FIELD, value_len: 32, capacity: 8 * FIELD as u64 + 1 + BESIDE };
    let mut table = Lpm::new(shape, 4, 5).unwrap();
    let width = 8 * FIELD as u32;
    let views = [UnsafeCell::new(table.view()), UnsafeCell::new(table.view())];
    let shared = Shared { epoch: Epoch::default(), presence: Presence::default(), views, done: false.into(), bursts: 0.into() };
    let mut found = (0, 0);
    std::thread::scope(|scope| {
        let reader = scope.spawn(|| read::<FIELD>(&shared));
        for batch in 1..=BATCHES {
            let enough = shared.bursts.load(Ordering::Relaxed) + batch % 4;
            while shared.bursts.load(Ordering::Relaxed) < enough && !reader.is_finished() {
                std::thread::yield_now();
            }
            for len in 0..=width {
                let bytes = key::<FIELD>(len);
                let entry = Prefix { key: &bytes[..shape.key_len], prefix_len: len };
                match (batch > 1 && is_there(batch - 1, len), is_there(batch, len)) {
                    (false, true) => table.stage_insert(entry, &record(len, batch)).unwrap(),
                    (true, true) => table.stage_replace(entry, &record(len, batch)).unwrap(),
                    (true, false) => table.stage_remove(entry).unwrap(),
                    (false, false) => {}
                }
            }
            for i in 0..BESIDE {
                let (bytes, prefix_len) = beside::<FIELD>(i);
                let entry = Prefix { key: &bytes[..shape.key_len], prefix_len };
                match (has_beside(batch - 1), has_beside(batch)) {
                    (false, true) => table.stage_insert(entry, &record(200, batch)).unwrap(),
                    (true, false) => table.stage_remove(entry).unwrap(),
                    _ => {}
                }
            }
            table.flip();
            // Epochs begin at 1: batch n is seen by the bursts of epoch n + 1.
            // SAFETY: the reader has left the epoch whose view is overwritten.
            unsafe { *shared.views[(batch as usize + 1) % 2].get() = table.view() };
            let epoch = shared.epoch.advance();
            assert_eq!(epoch, batch + 1);
            shared.presence.wait_past(epoch);
            // SAFETY: the reader has been seen resting or in a burst of this epoch.
            unsafe { table.settle() };
        }
        shared.done.store(true, Ordering::Release);
        found = reader.join().unwrap();
    });
    let (hits, batches) = found;
    println!("{hits} of the chain found, in {batches} batches");
    assert!(hits > 10_000 && batches > 40, "{hits} hits in {batches} batches");
}

/// Looks up until the writer is done: how many it found, in how many batches.
fn read<const FIELD: usize>(shared: &Shared) -> (u64, u64) {
    let width = 8 * FIELD as u32;
    let (mut hits, mut batches, mut last, mut turn) = (0, 0, 0, 0u32);
    while !shared.done.load(Ordering::Acquire) || turn < 500 {
        let burst = shared.presence.enter(&shared.epoch);
        let batch = burst.epoch - 1;
        // SAFETY: the view of this epoch is not written until this burst has ended.
        let view = unsafe { *shared.views[burst.epoch as usize % 2].get() };
        let keys: [([u8; 24], u32); BURST] = std::array::from_fn(|i| {
            let i = i as u32 + turn;
            if i % 8 == 7 {
                let (mut bytes, len) = beside::<FIELD>(u64::from(i) % BESIDE);
                bytes[4 + FIELD - 1] |= u8::from(len == 26);
                (bytes, 200)
            } else {
                let len = i % (width + 1);
                // On the chain to there, and not one bit more.
                let mut bytes = key::<FIELD>(len);
                let on = key::<FIELD>(width);
                for bit in (len..width).take(1).map(|bit| bit as usize) {
                    bytes[4 + bit / 8] |= !on[4 + bit / 8] & 0x80 >> (bit % 8);
                }
                (bytes, len)
            }
        });
        let bytes = keys.map(|(bytes, _)| bytes);
        let mut out = [std::ptr::null_mut(); BURST];
        // SAFETY: keys of 24 bytes, room for their records, within a burst.
        let found = unsafe { view.lookup_burst(bytes.as_ptr().cast(), 24, BURST, out.as_mut_ptr()) };
        for (i, (_, len)) in keys.iter().enumerate() {
            if batch == 0 {
                assert_eq!(found >> i & 1, 0, "nothing is there yet");
                continue;
            }
            let expected = if *len == 200 && has_beside(batch) {
                // The batch that put it there.
                record(200, batch / 8 * 8)
            } else {
                let from = if *len == 200 { 16 } else { *len };
                record((0..=from).rev().find(|len| is_there(batch, *len)).expect("there is a default"), batch)
            };
            assert!(!out[i].is_null(), "the default fits all");
            // SAFETY: a hit's record of 32 bytes, which stays for this burst.
            assert_eq!(unsafe { out[i].cast::<[u8; 32]>().read() }, expected, "lane {i} in batch {batch}");
            hits += 1;
        }
        batches += u64::from(batch != last);
        last = batch;
        turn += 1;
        drop(burst);
        shared.bursts.fetch_add(1, Ordering::Relaxed);
    }
    (hits, batches)
}

#[test]
fn ipv4_look_ups_beside_a_writer_find_the_longest_prefix() {
    run::<4>();
}

#[test]
fn ipv6_look_ups_beside_a_writer_find_the_longest_prefix() {
    run::<16>();
}
