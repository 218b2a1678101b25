//! Exact match: a hash table whose entries lie with their keys in one cache line where they fit.
//!
//! A burst runs in three passes, so that the misses of the cache overlap: hash every key and prefetch its bucket; compare tags
//! and prefetch the record that bears the tag; compare keys. Records hold the key, in words of 8 bytes, and then the value.
//!
//! Both sides of the table are in one array: a staged entry is in a slot that is hidden from the current side, one that
//! is staged for removal is hidden from the next, and settling frees it. How look-ups stay correct while entries move is described in
//! [`buckets`].

mod buckets;

use crate::ffi::ExactIndex;
use crate::hash::HashKey;
use crate::records::{Records, RecordsAt};
use crate::{BURST, MAX_KEY_LEN, Shape, Table, TableError, View, check_key, check_shape, check_value, padded, prefetch};
use buckets::{Bucket, Buckets, Growth, Item, Place, alternate, tag_of};
use std::ffi::c_void;
use std::sync::Arc;

/// Words of the longest key: [`MAX_KEY_LEN`] and what the ternary table adds of its own.
const MAX_WORDS: usize = MAX_KEY_LEN / 8 + 1;

/// An exact-match table. Its entries are identified by their keys.
pub struct Exact {
    shape: Shape,
    core: Arc<Core>,
    /// Of `core`, for generated code.
    index: Box<ExactIndex>,
    growth: Growth,
    records: Records,
    /// The side that look-ups are on.
    current: usize,
    flipped: bool,
    /// What is not the same on both sides.
    pending: Vec<Pending>,
    len: u64,
}

/// What look-ups read. Its address, or the next, is a [`View`]'s: odd for side 1.
#[repr(align(64))]
struct Core {
    /// Words of a key.
    words: usize,
    /// The bytes of the last word that belong to the key.
    tail: u64,
    hash: HashKey,
    records: RecordsAt,
    buckets: Buckets,
}

/// An entry whose slot settling has to see to.
enum Pending {
    New { hash: u64, handle: u32 },
    Gone { hash: u64, handle: u32 },
}

/// A key in words, bytes past its end zero; only the first `words` count.
type Words = [u64; MAX_WORDS];

impl Exact {
    /// An empty table. `seed` keys the hash: it should be random where keys come from strangers.
    pub fn new(shape: Shape, seed: u64) -> Result<Exact, TableError> {
        check_shape(&shape)?;
        Self::with_long_key(shape, HashKey::new(seed))
    }

    /// The same for keys of up to 8 * MAX_WORDS bytes.
    pub(crate) fn with_long_key(shape: Shape, hash: HashKey) -> Result<Exact, TableError> {
        let words = shape.key_len.div_ceil(8);
        let tail = u64::MAX >> (8 * (8 * words - shape.key_len));
        let records = Records::new(8 * words + shape.value_len, shape.capacity)?;
        // As many slots as records, for the case that one batch replaces everything.
        let buckets = Buckets::new(2 * shape.capacity)?;
        let core = Arc::new(Core { words, tail, hash, records: records.places(), buckets });
        let index = Box::new(core.index());
        Ok(Exact { shape, core, index, growth: Growth::default(), records, current: 0, flipped: false, pending: Vec::new(), len: 0 })
    }

    /// Calls `each` with every key and value, staged changes included, in no particular order.
    pub fn for_each(&self, mut each: impl FnMut(&[u8], &[u8])) {
        for (handle, hidden) in self.core.buckets.entries() {
            if hidden >> self.latest() & 1 == 0 {
                each(&self.records.value(handle)[..self.shape.key_len], self.value(handle));
            }
        }
    }

    /// Prefetches the place of the entry with that key, before many changes.
    pub fn prefetch(&self, key: &[u8]) {
        if key.len() == self.shape.key_len {
            let words = to_words(key);
            let home = self.core.buckets.extent().home(self.core.hash.of(&words[..self.core.words]));
            prefetch(std::ptr::from_ref(self.core.buckets.bucket(home)).cast());
        }
    }

    /// The side that has all staged changes.
    fn latest(&self) -> usize {
        if self.flipped { self.current } else { 1 - self.current }
    }

    fn value(&self, handle: u32) -> &[u8] {
        &self.records.value(handle)[8 * self.core.words..]
    }

    /// Hash, place and handle of the entry with that key.
    fn find_key(&self, key: &[u8]) -> Option<(u64, Place, u32)> {
        if key.len() != self.shape.key_len {
            return None;
        }
        let words = to_words(key);
        let words = &words[..self.core.words];
        let hash = self.core.hash.of(words);
        let found = self.core.find(self.core.buckets.extent(), self.latest(), hash, words);
        found.map(|(place, handle)| (hash, place, handle))
    }

    /// Stages an entry that is not there, or not in its new form.
    fn add(&mut self, hash: u64, words: &[u64], value: &[u8]) -> Result<(), TableError> {
        let handle = self.records.alloc().ok_or(TableError::Full { capacity: self.shape.capacity })?;
        let record = self.core.records.at(handle);
        for (i, word) in words.iter().enumerate() {
            // SAFETY: the record is ours alone and begins with `words` aligned words.
            unsafe { record.cast::<u64>().add(i).write(word.to_le()) };
        }
        self.write_value(handle, value);
        let item = Item { hash, handle, hidden: 1 << self.current };
        let core = &*self.core;
        core.buckets.insert(&mut self.growth, item, self.records.used(), |other| core.hash_of(other));
        self.pending.push(Pending::New { hash, handle });
        Ok(())
    }

    /// Writes a value that no look-up reads.
    fn write_value(&mut self, handle: u32, value: &[u8]) {
        let to = self.core.records.at(handle).wrapping_add(8 * self.core.words);
        // SAFETY: `value_len` bytes follow the key in the record; `value` cannot overlap it, since no slice of it exists.
        unsafe { std::ptr::copy_nonoverlapping(value.as_ptr(), to, value.len()) };
    }

    /// Stages that an entry goes.
    fn drop_entry(&mut self, hash: u64, place: Place, handle: u32) {
        if self.is_new(place) {
            // It was never visible, so it need not stay.
            self.core.buckets.remove(&mut self.growth, hash, place);
            self.records.release(handle);
        } else {
            let next = self.latest();
            self.core.buckets.hide(&mut self.growth, place, 1 << next);
            self.pending.push(Pending::Gone { hash, handle });
        }
    }

    /// Whether look-ups do not see that entry yet.
    fn is_new(&self, place: Place) -> bool {
        self.core.buckets.hidden(place) >> self.current & 1 == 1
    }

    fn assert_settled(&self) {
        assert!(!self.flipped, "a flip must settle before the next change");
    }
}

fn to_words(key: &[u8]) -> Words {
    let mut bytes = [0; 8 * MAX_WORDS];
    bytes[..key.len()].copy_from_slice(key);
    let mut words = [0; MAX_WORDS];
    for (word, eight) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
        *word = u64::from_le_bytes(*eight);
    }
    words
}

/// The `i`-th word at `at`.
///
/// # Safety
/// It is readable.
#[inline(always)]
unsafe fn read_word(at: *const u8, i: usize) -> u64 {
    // SAFETY: the caller's promise; the read is unaligned.
    u64::from_le(unsafe { at.cast::<u64>().add(i).read_unaligned() })
}

impl Table for Exact {
    type Match<'a> = &'a [u8];

    fn shape(&self) -> Shape {
        self.shape
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn stage_insert(&mut self, key: &[u8], value: &[u8]) -> Result<(), TableError> {
        self.assert_settled();
        check_key(&self.shape, key)?;
        check_value(&self.shape, value)?;
        let words = to_words(key);
        let words = &words[..self.core.words];
        let hash = self.core.hash.of(words);
        if self.core.find(self.core.buckets.extent(), self.latest(), hash, words).is_some() {
            return Err(TableError::Exists);
        }
        if self.len == self.shape.capacity {
            return Err(TableError::Full { capacity: self.shape.capacity });
        }
        self.add(hash, words, value)?;
        self.len += 1;
        Ok(())
    }

    fn stage_replace(&mut self, key: &[u8], value: &[u8]) -> Result<(), TableError> {
        self.assert_settled();
        check_value(&self.shape, value)?;
        let (hash, place, handle) = self.find_key(key).ok_or(TableError::Missing)?;
        if self.is_new(place) {
            self.write_value(handle, value);
            return Ok(());
        }
        self.drop_entry(hash, place, handle);
        let words = to_words(key);
        self.add(hash, &words[..self.core.words], value)
    }

    fn stage_remove(&mut self, key: &[u8]) -> Result<(), TableError> {
        self.assert_settled();
        let (hash, place, handle) = self.find_key(key).ok_or(TableError::Missing)?;
        self.drop_entry(hash, place, handle);
        self.len -= 1;
        Ok(())
    }

    fn flip(&mut self) {
        assert!(!self.flipped, "a flip must settle before the next");
        self.current = 1 - self.current;
        self.flipped = true;
    }

    unsafe fn settle(&mut self) {
        if !std::mem::take(&mut self.flipped) {
            return;
        }
        let buckets = &self.core.buckets;
        // SAFETY: all changes so far were made before the flip, and the caller says that look-ups from before it have ended.
        unsafe { buckets.free_retired(&mut self.growth) };
        for pending in self.pending.drain(..) {
            match pending {
                Pending::New { hash, handle } => {
                    if let Some(place) = buckets.locate(hash, handle) {
                        let gone = buckets.hidden(place) & 1 << self.current;
                        buckets.hide(&mut self.growth, place, gone);
                    }
                }
                Pending::Gone { hash, handle } => {
                    if let Some(place) = buckets.locate(hash, handle) {
                        buckets.remove(&mut self.growth, hash, place);
                    }
                    self.records.release(handle);
                }
            }
        }
    }

    fn get(&self, key: &[u8]) -> Option<&[u8]> {
        self.find_key(key).map(|(_, _, handle)| self.value(handle))
    }

    fn view(&self) -> View {
        let lookup = match self.core.words {
            1 => lookup_burst::<1>,
            2 => lookup_burst::<2>,
            3 => lookup_burst::<3>,
            4 => lookup_burst::<4>,
            5 => lookup_burst::<5>,
            6 => lookup_burst::<6>,
            7 => lookup_burst::<7>,
            8 => lookup_burst::<8>,
            9 => lookup_burst::<9>,
            10 => lookup_burst::<10>,
            11 => lookup_burst::<11>,
            12 => lookup_burst::<12>,
            13 => lookup_burst::<13>,
            14 => lookup_burst::<14>,
            15 => lookup_burst::<15>,
            16 => lookup_burst::<16>,
            _ => lookup_burst::<17>,
        };
        View { lookup, table: Arc::as_ptr(&self.core).wrapping_byte_add(self.current).cast(), exact: &raw const *self.index }
    }
}

/// The [`crate::ffi::LookupFn`] for keys of `W` words.
unsafe extern "C" fn lookup_burst<const W: usize>(
    table: *const c_void,
    keys: *const u8,
    stride: usize,
    n: usize,
    out: *mut *mut u8,
) -> u64 {
    let side = table.addr() & 1;
    // SAFETY: a view of ours, in use as its contract says; a core is aligned to 64.
    unsafe { (*table.wrapping_byte_sub(side).cast::<Core>()).burst::<W>(side, keys, stride, n.min(BURST), out) }
}

/// What one pass of a burst leaves for the next.
struct Lanes {
    hash: [u64; BURST],
    home: [u32; BURST],
    /// Slots of the bucket with that tag when it was read, and the handle of the lowest, 0 if that was hidden.
    matches: [u8; BURST],
    handle: [u32; BURST],
}

/// The look-up itself, once for each width of key. All functions share the contract of [`View::lookup_burst`], with
/// `W` the words of a key and `n` at most [`BURST`].
impl Core {
    /// For generated code: addresses within this core, which stays where it is.
    fn index(&self) -> ExactIndex {
        let (buckets, live, moves) = self.buckets.parts();
        let ([start, multiplier, finish], records) = (self.hash.parts(), self.records);
        ExactIndex { buckets, live, moves, start, multiplier, finish, records: records.at(0), stride: records.stride() as u64 }
    }

    #[inline(always)]
    unsafe fn burst<const W: usize>(&self, side: usize, keys: *const u8, stride: usize, n: usize, out: *mut *mut u8) -> u64 {
        let moves = self.buckets.moves();
        let extent = self.buckets.extent();
        let mut lanes = Lanes { hash: [0; BURST], home: [0; BURST], matches: [0; BURST], handle: [0; BURST] };
        for i in 0..n {
            // SAFETY: the caller's key.
            let hash = self.hash.of(&unsafe { self.load::<W>(keys, stride, i) });
            let home = extent.home(hash);
            prefetch(self.buckets.address(home).cast());
            lanes.hash[i] = hash;
            lanes.home[i] = home as u32;
        }
        for i in 0..n {
            let bucket = self.buckets.bucket(lanes.home[i] as usize);
            let matches = bucket.matches(tag_of(lanes.hash[i]));
            lanes.matches[i] = matches as u8;
            lanes.handle[i] = bucket.first(matches, side);
            self.prefetch_record(lanes.handle[i]);
        }
        let mut hits = 0;
        let mut left = [0u8; BURST];
        let mut lefts = 0;
        for i in 0..n {
            // SAFETY: the caller's key; handles in buckets are of live records; `out` takes `n` pointers.
            let hit = unsafe {
                let hit = self.is_key(lanes.handle[i], &self.load::<W>(keys, stride, i));
                *out.add(i) = if hit { self.records.at(lanes.handle[i]).wrapping_add(8 * W) } else { std::ptr::null_mut() };
                hit
            };
            hits |= u64::from(hit) << i;
            left[lefts] = i as u8;
            lefts += usize::from(!hit);
        }
        if lefts > 0 {
            // SAFETY: the caller's keys and `out`; `left` are numbers of keys.
            hits |= unsafe { self.burst_left::<W>(side, keys, stride, &left[..lefts], &mut lanes, out) };
        }
        if self.buckets.moves_after() != moves {
            // SAFETY: the caller's contract.
            hits = unsafe { self.again::<W>(side, keys, stride, n, out) };
        }
        hits
    }

    /// Keys that are not what the first tag of their home bucket promised: missing, elsewhere, hidden, or (1 in thousands)
    /// behind an entry with an equal tag.
    #[inline(never)]
    unsafe fn burst_left<const W: usize>(
        &self,
        side: usize,
        keys: *const u8,
        stride: usize,
        left: &[u8],
        lanes: &mut Lanes,
        out: *mut *mut u8,
    ) -> u64 {
        let mut hits = 0;
        let mut away = [0u8; BURST];
        let mut aways = 0;
        let extent = self.buckets.extent();
        let found = |i: usize, handle: u32| {
            // SAFETY: `i` is the number of a key, and `out` has a place for each.
            unsafe { *out.add(i) = self.records.at(handle).wrapping_add(8 * W) };
            1u64 << i
        };
        for i in left.iter().map(|i| usize::from(*i)) {
            let (home, tag) = (lanes.home[i] as usize, tag_of(lanes.hash[i]));
            // What was seen then decides: by now the slot that hid the right one may have been cleared.
            let matches = lanes.matches[i];
            let tried_all = matches == 0 || matches.is_power_of_two() && lanes.handle[i] != 0;
            if !tried_all {
                // SAFETY: the caller's key.
                let key = unsafe { self.load::<W>(keys, stride, i) };
                if let Some((_, handle)) = self.find(extent, side, lanes.hash[i], &key) {
                    hits |= found(i, handle);
                }
            } else {
                let other = alternate(home, tag);
                prefetch(self.buckets.address(other).cast());
                lanes.home[i] = other as u32;
                away[aways] = i as u8;
                aways += usize::from(self.buckets.bucket(home).has_away());
            }
        }
        for i in away[..aways].iter().map(|i| usize::from(*i)) {
            let bucket: &Bucket = self.buckets.bucket(lanes.home[i] as usize);
            let matches = bucket.matches(tag_of(lanes.hash[i]));
            lanes.matches[i] = matches as u8;
            lanes.handle[i] = bucket.first(matches, side);
            self.prefetch_record(lanes.handle[i]);
        }
        let strays = !self.buckets.strays().is_empty();
        for i in away[..aways].iter().map(|i| usize::from(*i)) {
            // SAFETY: the caller's key; handles in buckets are of live records.
            let (key, hit) = unsafe {
                let key = self.load::<W>(keys, stride, i);
                (key, self.is_key(lanes.handle[i], &key))
            };
            if hit {
                hits |= found(i, lanes.handle[i]);
            } else if (lanes.matches[i] != 0 || strays)
                && let Some((_, handle)) = self.find(extent, side, lanes.hash[i], &key)
            {
                hits |= found(i, handle);
            }
        }
        hits
    }

    /// The burst once more, a key at a time, after entries have moved meanwhile: each key until nothing moved while it was looked up.
    #[cold]
    #[inline(never)]
    unsafe fn again<const W: usize>(&self, side: usize, keys: *const u8, stride: usize, n: usize, out: *mut *mut u8) -> u64 {
        let mut hits = 0;
        for i in 0..n {
            // SAFETY: the caller's key.
            let key = unsafe { self.load::<W>(keys, stride, i) };
            let hash = self.hash.of(&key);
            let found = loop {
                let moves = self.buckets.moves();
                let found = self.find(self.buckets.extent(), side, hash, &key);
                if self.buckets.moves_after() == moves {
                    break found;
                }
            };
            // SAFETY: `out` takes `n` pointers.
            unsafe { *out.add(i) = found.map_or(std::ptr::null_mut(), |(_, handle)| self.records.at(handle).wrapping_add(8 * W)) };
            hits |= u64::from(found.is_some()) << i;
        }
        hits
    }

    /// The entry with that hash and key that is not hidden from that side.
    fn find(&self, extent: buckets::Extent, side: usize, hash: u64, key: &[u64]) -> Option<(Place, u32)> {
        self.buckets.find(extent, hash, |handle, hidden| {
            let record = self.records.at(handle);
            // SAFETY: handles in buckets are of live records, which begin with the key's words.
            hidden >> side & 1 == 0 && key.iter().enumerate().all(|(i, word)| unsafe { read_word(record, i) } == *word)
        })
    }

    /// The hash of an entry's key.
    fn hash_of(&self, handle: u32) -> u64 {
        let mut words = [0; MAX_WORDS];
        for (i, word) in words[..self.words].iter_mut().enumerate() {
            // SAFETY: handles in buckets are of live records, which begin with the key's words.
            *word = unsafe { read_word(self.records.at(handle), i) };
        }
        self.hash.of(&words[..self.words])
    }

    /// The words of the `i`-th key of a burst.
    #[inline(always)]
    unsafe fn load<const W: usize>(&self, keys: *const u8, stride: usize, i: usize) -> [u64; W] {
        let mut words = [0; W];
        for (w, word) in words.iter_mut().enumerate() {
            // SAFETY: the key's words are readable, as the caller promised of the burst.
            *word = unsafe { read_word(keys.add(i * stride), w) };
        }
        words[W - 1] &= self.tail;
        words
    }

    /// Whether the record bears that key. The record of handle 0 bears none.
    #[inline(always)]
    unsafe fn is_key<const W: usize>(&self, handle: u32, key: &[u64; W]) -> bool {
        let record = self.records.at(handle);
        let mut differs = u64::from(handle == 0);
        for (w, word) in key.iter().enumerate() {
            // SAFETY: live records, and the zero record, begin with the key's words.
            differs |= unsafe { read_word(record, w) } ^ word;
        }
        differs == 0
    }

    /// A record's first lines: the caller reads the value next.
    #[inline(always)]
    fn prefetch_record(&self, handle: u32) {
        let record = self.records.at(handle);
        prefetch(record);
        if self.records.stride() > 64 {
            prefetch(record.wrapping_add(64));
        }
    }
}

const _: () = assert!(padded(MAX_KEY_LEN) < 8 * MAX_WORDS && size_of::<Bucket>() == 64);

#[cfg(test)]
mod tests {
    use super::*;

    /// Entries come and go at full table; after each stretch the buckets' bookkeeping is right.
    #[test]
    fn bookkeeping_survives_churn_at_capacity() {
        for (key_len, capacity) in [(1, 100), (3, 384), (8, 5_000), (24, 30_000)] {
            let mut table = Exact::new(Shape { key_len, value_len: 4, capacity }, 5).unwrap();
            let key_of = |i: u64| {
                let mut key = [0; 24];
                key[..8].copy_from_slice(&i.to_le_bytes());
                key[..key_len].to_vec()
            };
            let distinct = if key_len == 1 { 256 } else { 4 * capacity };
            let mut state = 1u64;
            let mut full = 0;
            for step in 0..8 * capacity {
                state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
                let key = key_of((state >> 33) % distinct);
                match table.insert(&key, &[7; 4]) {
                    Ok(_) => assert!(table.len() <= capacity),
                    Err(TableError::Exists) => table.remove(&key).unwrap(),
                    Err(error) => {
                        assert_eq!(error, TableError::Full { capacity });
                        assert_eq!(table.len(), capacity);
                        full += 1;
                        // Make room again by removing some of what is there.
                        let mut present = Vec::new();
                        table.for_each(|key, _| present.push(key.to_vec()));
                        assert_eq!(present.len() as u64, capacity);
                        for key in present.iter().step_by(3) {
                            table.remove(key).unwrap();
                        }
                    }
                }
                if step % (capacity / 4) == 0 {
                    table.core.buckets.check(|handle| table.core.hash_of(handle));
                }
            }
            assert!(full > 0, "{key_len}-byte keys never filled the table");
        }
    }

    /// A broken hash (all keys alike) makes look-ups slow, never wrong.
    #[test]
    fn strays_are_found_by_bursts() {
        let mut table = Exact::with_long_key(Shape { key_len: 8, value_len: 8, capacity: 64 }, HashKey::constant()).unwrap();
        for i in 0..64u64 {
            table.insert(&i.to_le_bytes(), &i.to_le_bytes()).unwrap();
        }
        assert_eq!(table.core.buckets.strays().len(), 64 - 2 * buckets::SLOTS);
        let keys: Vec<u8> = (0..64u64).flat_map(|i| (2 * i).to_le_bytes()).collect();
        let mut out = [std::ptr::null_mut(); 64];
        assert_eq!(table.lookup_many(&keys, 8, &mut out), u64::from(u32::MAX));
        for (i, record) in out.iter().enumerate().take(32) {
            // SAFETY: a hit's record holds 8 bytes, and the table does not change here.
            assert_eq!(unsafe { record.cast::<u64>().read() }, 2 * i as u64);
        }
    }

    #[test]
    fn an_empty_table_takes_little() {
        let table = Exact::new(Shape { key_len: 8, value_len: 56, capacity: crate::MAX_CAPACITY }, 5).unwrap();
        assert_eq!(table.lookup(&[0; 8]), None);
        assert!(table.is_empty());
    }
}
