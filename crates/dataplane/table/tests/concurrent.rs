//! Do look-ups beside a writer see all of each batch or nothing, no torn record, and every key that is there?
//!
//! A writer makes random batches over five kinds of tables that grow, refuse and reuse what they have; readers check what holds
//! between them after every batch, and in no moment between. `STRESS_BATCHES=1000000` runs longer than the usual.

use rand::{Rng, SeedableRng, rngs::StdRng};
use std::cell::UnsafeCell;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use table::{BURST, Direct, Epoch, Exact, Lpm, Prefix, Presence, Rule, Shape, Table, TableError, Ternary, View};

/// Keys that live either in `here` or in `there`, of which more and more are in use.
const KEYS: u64 = 10_000;
/// Of these, the ones in `here` are also in the tables that are slower to change.
const SHORT: u64 = 2_000;
const RULES: u64 = 300;
/// Entries of `full`, which are consecutive numbers.
const FULL: u64 = 700;
/// Number of a key that all tables have: its version is the number of the last batch.
const BATCH: u64 = u64::MAX;

const HERE: usize = 0;
const THERE: usize = 1;
const FULL_ONE: usize = 2;
const SHORT_ONE: usize = 3;
const ROUTES: usize = 4;
const FILTERS: usize = 5;
const TABLES: usize = 6;

/// A record that describes itself.
#[derive(Clone, Copy, PartialEq, Debug)]
struct Value {
    key: u64,
    version: u64,
    /// Of [`BATCH`]: keys in use, and the first in `full`.
    keys: u64,
    first: u64,
}

impl Value {
    const LEN: usize = 56;

    fn to_bytes(self) -> [u8; Value::LEN] {
        let mut bytes = [0; Value::LEN];
        let words = [self.key, self.version, self.keys, self.first, self.key ^ self.version.rotate_left(17)];
        let sum = words.iter().fold(0x9e37_79b9_7f4a_7c15u64, |sum, word| (sum ^ word).wrapping_mul(0xff51_afd7_ed55_8ccd).rotate_left(29));
        for (to, word) in bytes.as_chunks_mut::<8>().0.iter_mut().zip(words.iter().chain([&sum, &!sum])) {
            *to = word.to_le_bytes();
        }
        bytes
    }

    /// Reads a record, which must be whole.
    fn read(bytes: &[u8; Value::LEN]) -> Value {
        let word = |i: usize| u64::from_le_bytes(bytes.as_chunks::<8>().0[i]);
        let value = Value { key: word(0), version: word(1), keys: word(2), first: word(3) };
        assert_eq!(value.to_bytes(), *bytes, "a torn record");
        value
    }
}

fn route(key: u64) -> [u8; 8] {
    let address = if key == BATCH { 0xffff_ffff } else { (key as u32).wrapping_mul(0x9e37_79b1) & 0x7fff_ffff };
    (u64::from(key.is_multiple_of(3)) << 32 | u64::from(address)).to_be_bytes()
}

fn filter(key: u64) -> ([u8; 8], [u8; 8]) {
    let mask = (u64::MAX << (key % 4)).to_be_bytes();
    let value = (key << 8).to_be_bytes();
    (std::array::from_fn(|i| value[i] & mask[i]), mask)
}

fn short(key: u64) -> [u8; 2] {
    (key as u16).to_be_bytes()
}

struct Tables {
    exact: [Exact; 3],
    short: Direct,
    routes: Lpm,
    filters: Ternary,
}

#[derive(Clone, Copy)]
enum Change {
    Insert,
    Replace,
    Remove,
}

impl Tables {
    fn new() -> Tables {
        let shape = |key_len, capacity| Shape { key_len, value_len: Value::LEN, capacity };
        let exact = [KEYS + 1, KEYS + 1, FULL + 1].map(|capacity| Exact::new(shape(8, capacity), capacity).unwrap());
        Tables {
            exact,
            short: Direct::new(shape(2, SHORT + 1)).unwrap(),
            routes: Lpm::new(shape(8, SHORT + 1), 4, 3).unwrap(),
            filters: Ternary::new(shape(8, RULES + 1), 4).unwrap(),
        }
    }

    fn stage(&mut self, table: usize, change: Change, value: Value) -> Result<(), TableError> {
        fn to<T: Table>(table: &mut T, entry: T::Match<'_>, change: Change, value: Value) -> Result<(), TableError> {
            match change {
                Change::Insert => table.stage_insert(entry, &value.to_bytes()),
                Change::Replace => table.stage_replace(entry, &value.to_bytes()),
                Change::Remove => table.stage_remove(entry),
            }
        }
        let key = value.key;
        match table {
            SHORT_ONE => to(&mut self.short, &short(key), change, value),
            ROUTES => to(&mut self.routes, Prefix { key: &route(key), prefix_len: 32 }, change, value),
            FILTERS => {
                let (bits, mask) = filter(key);
                to(&mut self.filters, Rule { value: &bits, mask: &mask, ranges: &[], priority: (key % 5) as u32 }, change, value)
            }
            exact => to(&mut self.exact[exact], &key.to_le_bytes(), change, value),
        }
    }

    /// The same in `here` and in the smaller tables that follow it.
    fn stage_here(&mut self, change: Change, value: Value) {
        self.stage(HERE, change, value).unwrap();
        for (table, keys) in [(SHORT_ONE, SHORT), (ROUTES, SHORT), (FILTERS, RULES)] {
            if value.key < keys || value.key == BATCH {
                self.stage(table, change, value).unwrap();
            }
        }
    }

    fn flip(&mut self) -> [View; TABLES] {
        self.exact.iter_mut().for_each(Exact::flip);
        self.short.flip();
        self.routes.flip();
        self.filters.flip();
        let [here, there, full] = &self.exact;
        [here.view(), there.view(), full.view(), self.short.view(), self.routes.view(), self.filters.view()]
    }

    /// # Safety
    /// As [`Table::settle`].
    unsafe fn settle(&mut self) {
        // SAFETY: the caller's promise.
        unsafe {
            self.exact.iter_mut().for_each(|table| table.settle());
            self.short.settle();
            self.routes.settle();
            self.filters.settle();
        }
    }
}

/// What the writer and the readers share: views by the parity of the epoch. The writer writes those of the next epoch when all readers have
/// left the one before.
struct Shared {
    epoch: Epoch,
    views: [UnsafeCell<[View; TABLES]>; 2],
    presences: [Presence; 2],
    done: AtomicBool,
    bursts: AtomicU64,
    hits: AtomicU64,
    misses: AtomicU64,
    versions: AtomicU64,
}

// SAFETY: `views` is used as said above; the rest is shareable.
unsafe impl Sync for Shared {}

#[test]
fn bursts_beside_a_writer_see_whole_batches() {
    let batches = std::env::var("STRESS_BATCHES").ok().and_then(|n| n.parse().ok()).unwrap_or(300);
    let mut tables = Tables::new();
    let mut truth = Truth { there: Vec::new(), first: 0, batch: 0 };
    for table in [THERE, FULL_ONE] {
        tables.stage(table, Change::Insert, truth.batch_value()).unwrap();
    }
    tables.stage_here(Change::Insert, truth.batch_value());
    for key in 0..FULL {
        tables.stage(FULL_ONE, Change::Insert, Value { key, version: 0, keys: 0, first: 0 }).unwrap();
    }
    let views = tables.flip();
    // SAFETY: there are no readers yet.
    unsafe { tables.settle() };
    let shared = Shared {
        epoch: Epoch::default(),
        views: [views, views].map(UnsafeCell::new),
        presences: Default::default(),
        done: false.into(),
        bursts: 0.into(),
        hits: 0.into(),
        misses: 0.into(),
        versions: 0.into(),
    };
    std::thread::scope(|scope| {
        for reader in 0..shared.presences.len() {
            let shared = &shared;
            scope.spawn(move || read(shared, reader));
        }
        let mut rng = StdRng::seed_from_u64(77);
        for _ in 0..batches {
            // However threads get their turns, there are bursts between batches.
            let enough = shared.bursts.load(Ordering::Relaxed) + rng.random_range(0..10);
            while shared.bursts.load(Ordering::Relaxed) < enough {
                std::thread::yield_now();
            }
            truth.change(&mut tables, &mut rng);
            let views = tables.flip();
            // Epochs begin at 1.
            // SAFETY: readers have left the epoch whose views are overwritten.
            unsafe { *shared.views[(truth.batch as usize + 1) % 2].get() = views };
            let epoch = shared.epoch.advance();
            assert_eq!(epoch, truth.batch + 1);
            shared.presences.iter().for_each(|presence| presence.wait_past(epoch));
            // SAFETY: all readers have been seen resting or in a burst of this epoch.
            unsafe { tables.settle() };
        }
        shared.done.store(true, Ordering::Release);
    });
    let [hits, misses, versions] = [&shared.hits, &shared.misses, &shared.versions].map(|n| n.load(Ordering::Relaxed));
    println!("{batches} batches, {} keys: {hits} hits, {misses} misses, {versions} versions seen", truth.there.len());
    assert!(hits > 50_000 && misses > 50_000, "{hits} hits, {misses} misses");
    assert!(versions > batches / 10, "{versions} of {batches} versions were seen");
    assert_eq!(truth.there.len() as u64, KEYS, "the tables never filled");
    assert_eq!(tables.exact[HERE].len() + tables.exact[THERE].len(), KEYS + 2);
}

/// What the tables should hold.
struct Truth {
    /// Which keys are in `there`.
    there: Vec<bool>,
    first: u64,
    batch: u64,
}

impl Truth {
    fn batch_value(&self) -> Value {
        Value { key: BATCH, version: self.batch, keys: self.there.len() as u64, first: self.first }
    }

    /// Stages a batch.
    fn change(&mut self, tables: &mut Tables, rng: &mut StdRng) {
        self.batch += 1;
        let version = self.batch;
        let value = |key| Value { key, version, keys: 0, first: 0 };
        for _ in 0..rng.random_range(0..150) {
            // Few of the many batches change what is expensive to change.
            let keys = if rng.random_bool(0.3) { SHORT } else { KEYS };
            let key = rng.random_range(0..keys.min(self.there.len() as u64).max(1));
            let Some(there) = self.there.get_mut(key as usize) else { continue };
            match (rng.random_range(0..3), *there) {
                (0, true) => tables.stage(THERE, Change::Replace, value(key)).unwrap(),
                (0, false) => tables.stage_here(Change::Replace, value(key)),
                (_, true) => {
                    tables.stage(THERE, Change::Remove, value(key)).unwrap();
                    tables.stage_here(Change::Insert, value(key));
                    *there = false;
                }
                (_, false) => {
                    tables.stage_here(Change::Remove, value(key));
                    tables.stage(THERE, Change::Insert, value(key)).unwrap();
                    *there = true;
                }
            }
        }
        for _ in 0..rng.random_range(0..120).min(KEYS - self.there.len() as u64) {
            let there = rng.random();
            let new = value(self.there.len() as u64);
            if there {
                tables.stage(THERE, Change::Insert, new).unwrap()
            } else {
                tables.stage_here(Change::Insert, new)
            }
            self.there.push(there);
        }
        let full = TableError::Full { capacity: FULL + 1 };
        for _ in 0..rng.random_range(0..if version.is_multiple_of(50) { FULL } else { 20 }) {
            assert_eq!(tables.stage(FULL_ONE, Change::Insert, value(self.first + FULL)), Err(full.clone()));
            tables.stage(FULL_ONE, Change::Remove, value(self.first)).unwrap();
            tables.stage(FULL_ONE, Change::Insert, value(self.first + FULL)).unwrap();
            self.first += 1;
        }
        for table in [THERE, FULL_ONE] {
            tables.stage(table, Change::Replace, self.batch_value()).unwrap();
        }
        tables.stage_here(Change::Replace, self.batch_value());
    }
}

/// Looks up and checks until the writer is done.
fn read(shared: &Shared, reader: usize) {
    let mut rng = StdRng::seed_from_u64(reader as u64);
    let mut last = 0;
    let (mut bursts, mut versions, mut hits, mut misses) = (0, 0, 0, 0);
    while !shared.done.load(Ordering::Acquire) || bursts < 1_500 {
        let burst = shared.presences[reader].enter(&shared.epoch);
        // SAFETY: the views of this epoch are not written until this burst has ended.
        let views = unsafe { *shared.views[burst.epoch as usize % 2].get() };
        let look_up = |table: usize, keys: &[u64; BURST]| -> [Option<Value>; BURST] {
            let mut bytes = [[0u8; 8]; BURST];
            for (bytes, key) in bytes.iter_mut().zip(keys) {
                match table {
                    SHORT_ONE => bytes[..2].copy_from_slice(&short(*key)),
                    ROUTES => *bytes = route(*key),
                    FILTERS => *bytes = filter(*key).0,
                    _ => *bytes = key.to_le_bytes(),
                }
            }
            let mut out = [std::ptr::null_mut(); BURST];
            // SAFETY: keys of 8 bytes, room for their records, within a burst.
            let hits = unsafe { views[table].lookup_burst(bytes.as_ptr().cast(), 8, BURST, out.as_mut_ptr()) };
            std::array::from_fn(|i| {
                assert_eq!(hits >> i & 1 == 1, !out[i].is_null());
                // SAFETY: a hit's record.
                (!out[i].is_null()).then(|| Value::read(unsafe { &*out[i].cast() }))
            })
        };
        // The first key tells the batch; it must be the same in all tables.
        let mut keys = [BATCH; BURST];
        let state = look_up(HERE, &keys)[0].expect("the batch's number is always there");
        assert!(state.version >= last && state.version + 1 == burst.epoch, "version {} in epoch {}", state.version, burst.epoch);
        versions += u64::from(state.version != last);
        last = state.version;
        let some = |max: u64, rng: &mut StdRng| {
            let mut keys = [BATCH; BURST];
            keys[1..].iter_mut().for_each(|key| *key = rng.random_range(0..max.min(state.keys).max(1)));
            keys
        };
        let check = |key: u64, value: Option<Value>| {
            if let Some(value) = value {
                assert_eq!(value.key, key, "the record of another key");
                assert!(value.version <= state.version, "a record of a batch to come");
            }
        };
        keys[1..].copy_from_slice(&some(KEYS, &mut rng)[1..]);
        let (here, there) = (look_up(HERE, &keys), look_up(THERE, &keys));
        assert_eq!((here[0], there[0]), (Some(state), Some(state)));
        for i in 1..BURST {
            check(keys[i], here[i]);
            check(keys[i], there[i]);
            let places = u32::from(here[i].is_some()) + u32::from(there[i].is_some());
            assert_eq!(places, u32::from(keys[i] < state.keys), "key {} of {} in {places} tables", keys[i], state.keys);
            hits += u64::from(places);
            misses += 2 - u64::from(places);
        }
        let followers = if bursts % 2 == 0 { [(SHORT_ONE, SHORT), (ROUTES, SHORT)] } else { [(ROUTES, SHORT), (FILTERS, RULES)] };
        for (table, max) in followers {
            let keys = some(max, &mut rng);
            let (here, follower) = (look_up(HERE, &keys), look_up(table, &keys));
            for i in 0..BURST {
                assert_eq!(here[i], follower[i], "key {} in table {table}", keys[i]);
            }
        }
        let around: [u64; BURST] = std::array::from_fn(|_| (state.first + rng.random_range(0..FULL + 100)).saturating_sub(50));
        for (key, value) in around.iter().zip(look_up(FULL_ONE, &around)) {
            check(*key, value);
            assert_eq!(value.is_some(), (state.first..state.first + FULL).contains(key), "key {key} of {} on", state.first);
        }
        assert_eq!(look_up(FULL_ONE, &[BATCH; BURST]), [Some(state); BURST]);
        bursts += 1;
        drop(burst);
        shared.bursts.fetch_add(1, Ordering::Relaxed);
    }
    shared.hits.fetch_add(hits, Ordering::Relaxed);
    shared.misses.fetch_add(misses, Ordering::Relaxed);
    shared.versions.fetch_add(versions, Ordering::Relaxed);
}
