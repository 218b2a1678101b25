//! Exact match: a hash table whose entries lie with their keys in one cache line where they fit.
//!
//! A burst runs in three passes, so that the misses of the cache overlap: hash every key and prefetch its bucket; compare tags
//! and prefetch the record that bears the tag; compare keys. Records hold the key, in words of 8 bytes, and then the value.

mod buckets;

use crate::hash::HashKey;
use crate::records::Records;
use crate::{BURST, MAX_KEY_LEN, Shape, Table, TableError, check_key, check_shape, check_value, padded, prefetch};
use buckets::{Bucket, Buckets, alternate, tag_of};

/// Words of the longest key: [`MAX_KEY_LEN`] and what the ternary table adds of its own.
const MAX_WORDS: usize = MAX_KEY_LEN / 8 + 1;

/// An exact-match table. Its entries are identified by their keys.
pub struct Exact {
    shape: Shape,
    /// Words of a key.
    words: usize,
    /// The bytes of the last word that belong to the key.
    tail: u64,
    hash: HashKey,
    buckets: Buckets,
    records: Records,
}

/// A key in words, bytes past its end zero; only the first `words` count.
type Words = [u64; MAX_WORDS];

impl Exact {
    /// An empty table. `seed` keys the hash: it should be random where keys come from strangers.
    pub fn new(shape: Shape, seed: u64) -> Result<Exact, TableError> {
        check_shape(&shape)?;
        Self::with_long_key(shape, seed)
    }

    /// The same for keys of up to 8 * MAX_WORDS bytes.
    pub(crate) fn with_long_key(shape: Shape, seed: u64) -> Result<Exact, TableError> {
        let words = shape.key_len.div_ceil(8);
        let tail = u64::MAX >> (8 * (8 * words - shape.key_len));
        let capacity = shape.capacity as u32;
        let records = Records::new(8 * words + shape.value_len, capacity)?;
        Ok(Exact { shape, words, tail, hash: HashKey::new(seed), buckets: Buckets::new(capacity)?, records })
    }

    /// Calls `each` with every key and value, in no particular order.
    pub fn for_each(&self, mut each: impl FnMut(&[u8], &[u8])) {
        for handle in self.buckets.handles() {
            let record = self.records.at(handle);
            // SAFETY: a live record is key and value, initialised; changes need `&mut self`.
            let key = unsafe { std::slice::from_raw_parts(record, self.shape.key_len) };
            each(key, self.value(handle));
        }
    }

    fn value_at(&self, handle: u32) -> *mut u8 {
        self.records.at(handle).wrapping_add(8 * self.words)
    }

    fn value(&self, handle: u32) -> &[u8] {
        // SAFETY: a live record has `value_len` initialised bytes after its key; changes need `&mut self`.
        unsafe { std::slice::from_raw_parts(self.value_at(handle), self.shape.value_len) }
    }

    fn to_words(&self, key: &[u8]) -> Words {
        let mut bytes = [0; 8 * MAX_WORDS];
        bytes[..key.len()].copy_from_slice(key);
        let mut words = [0; MAX_WORDS];
        for (word, eight) in words.iter_mut().zip(bytes.as_chunks::<8>().0) {
            *word = u64::from_le_bytes(*eight);
        }
        words
    }

    fn find(&self, hash: u64, key: &[u64]) -> Option<(buckets::Place, u32)> {
        self.buckets.find(hash, |handle| {
            let record = self.records.at(handle);
            // SAFETY: handles in buckets are of live records, which begin with the key's words.
            key.iter().enumerate().all(|(i, word)| unsafe { read_word(record, i) } == *word)
        })
    }

    fn find_key(&self, key: &[u8]) -> Option<(u64, buckets::Place, u32)> {
        if key.len() != self.shape.key_len {
            return None;
        }
        let words = self.to_words(key);
        let hash = self.hash.of(&words[..self.words]);
        self.find(hash, &words[..self.words]).map(|(place, handle)| (hash, place, handle))
    }
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
        self.records.len().into()
    }

    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<*mut u8, TableError> {
        check_key(&self.shape, key)?;
        check_value(&self.shape, value)?;
        let words = self.to_words(key);
        let words = &words[..self.words];
        let hash = self.hash.of(words);
        if self.find(hash, words).is_some() {
            return Err(TableError::Exists);
        }
        let handle = self.records.alloc().ok_or(TableError::Full { capacity: self.shape.capacity })?;
        let record = self.records.at(handle);
        for (i, word) in words.iter().enumerate() {
            // SAFETY: the record is ours alone and begins with `words` aligned words.
            unsafe { record.cast::<u64>().add(i).write(word.to_le()) };
        }
        // SAFETY: `value_len` bytes follow the key in the record, and `value` cannot overlap what nobody holds.
        unsafe { std::ptr::copy_nonoverlapping(value.as_ptr(), self.value_at(handle), value.len()) };
        let (records, hash_key, n) = (&self.records, self.hash, self.words);
        self.buckets.insert(hash, handle, records.len(), |other| {
            let mut words = [0; MAX_WORDS];
            for (i, word) in words[..n].iter_mut().enumerate() {
                // SAFETY: handles in buckets are of live records, which begin with the key's words.
                *word = unsafe { read_word(records.at(other), i) };
            }
            hash_key.of(&words[..n])
        });
        Ok(self.value_at(handle))
    }

    fn remove(&mut self, key: &[u8]) -> Result<(), TableError> {
        let (hash, place, handle) = self.find_key(key).ok_or(TableError::Missing)?;
        self.buckets.remove(hash, place);
        self.records.release(handle);
        Ok(())
    }

    fn get(&self, key: &[u8]) -> Option<&[u8]> {
        self.find_key(key).map(|(_, _, handle)| self.value(handle))
    }

    fn get_mut(&mut self, key: &[u8]) -> Option<&mut [u8]> {
        let (_, _, handle) = self.find_key(key)?;
        // SAFETY: as in `value`, and `&mut self` excludes every other slice.
        Some(unsafe { std::slice::from_raw_parts_mut(self.value_at(handle), self.shape.value_len) })
    }

    unsafe fn lookup_burst(&self, keys: *const u8, stride: usize, n: usize, out: *mut *mut u8) -> u64 {
        let n = n.min(BURST);
        // SAFETY: the caller's contract is theirs; `words` is 1 to MAX_WORDS.
        unsafe {
            match self.words {
                1 => self.burst::<1>(keys, stride, n, out),
                2 => self.burst::<2>(keys, stride, n, out),
                3 => self.burst::<3>(keys, stride, n, out),
                4 => self.burst::<4>(keys, stride, n, out),
                5 => self.burst::<5>(keys, stride, n, out),
                6 => self.burst::<6>(keys, stride, n, out),
                7 => self.burst::<7>(keys, stride, n, out),
                8 => self.burst::<8>(keys, stride, n, out),
                _ => self.burst::<9>(keys, stride, n, out),
            }
        }
    }
}

/// What the passes of a burst hand on.
struct Lanes {
    hash: [u64; BURST],
    home: [u32; BURST],
    handle: [u32; BURST],
}

/// The look-up itself, once for each width of key. All functions share the contract of [`Table::lookup_burst`], with
/// `W` the words of a key and `n` at most [`BURST`].
impl Exact {
    #[inline(never)]
    unsafe fn burst<const W: usize>(&self, keys: *const u8, stride: usize, n: usize, out: *mut *mut u8) -> u64 {
        let mut lanes = Lanes { hash: [0; BURST], home: [0; BURST], handle: [0; BURST] };
        for i in 0..n {
            // SAFETY: the caller's key.
            let hash = self.hash.of(&unsafe { self.load::<W>(keys, stride, i) });
            let home = self.buckets.home(hash);
            prefetch(self.buckets.address(home).cast());
            lanes.hash[i] = hash;
            lanes.home[i] = home as u32;
        }
        for i in 0..n {
            let bucket = self.buckets.bucket(lanes.home[i] as usize);
            lanes.handle[i] = bucket.first(bucket.matches(tag_of(lanes.hash[i])));
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
            hits |= unsafe { self.burst_left::<W>(keys, stride, &left[..lefts], &mut lanes, out) };
        }
        hits
    }

    /// Keys that are not what the first tag of their home bucket promised: missing, elsewhere, or (1 in thousands) behind
    /// an entry with an equal tag.
    unsafe fn burst_left<const W: usize>(&self, keys: *const u8, stride: usize, left: &[u8], lanes: &mut Lanes, out: *mut *mut u8) -> u64 {
        let mut hits = 0;
        let mut away = [0u8; BURST];
        let mut aways = 0;
        let found = |i: usize, handle: u32| {
            // SAFETY: `i` is the number of a key, and `out` has a place for each.
            unsafe { *out.add(i) = self.records.at(handle).wrapping_add(8 * W) };
            1u64 << i
        };
        for i in left.iter().map(|i| usize::from(*i)) {
            let (home, tag) = (lanes.home[i] as usize, tag_of(lanes.hash[i]));
            let bucket = self.buckets.bucket(home);
            let matches = bucket.matches(tag);
            if matches & matches.wrapping_sub(1) != 0 {
                // SAFETY: the caller's key.
                let key = unsafe { self.load::<W>(keys, stride, i) };
                if let Some((_, handle)) = self.find(lanes.hash[i], &key) {
                    hits |= found(i, handle);
                }
            } else {
                let other = alternate(home, tag);
                prefetch(self.buckets.address(other).cast());
                lanes.home[i] = other as u32;
                away[aways] = i as u8;
                aways += usize::from(bucket.away != 0);
            }
        }
        for i in away[..aways].iter().map(|i| usize::from(*i)) {
            let bucket: &Bucket = self.buckets.bucket(lanes.home[i] as usize);
            lanes.handle[i] = bucket.first(bucket.matches(tag_of(lanes.hash[i])));
            self.prefetch_record(lanes.handle[i]);
        }
        for i in away[..aways].iter().map(|i| usize::from(*i)) {
            // SAFETY: the caller's key; handles in buckets are of live records.
            let (key, hit) = unsafe {
                let key = self.load::<W>(keys, stride, i);
                (key, self.is_key(lanes.handle[i], &key))
            };
            if hit {
                hits |= found(i, lanes.handle[i]);
            } else if (lanes.handle[i] != 0 || !self.buckets.strays.is_empty())
                && let Some((_, handle)) = self.find(lanes.hash[i], &key)
            {
                hits |= found(i, handle);
            }
        }
        hits
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
                    let (records, words) = (&table.records, table.words);
                    table.buckets.check(|handle| {
                        // SAFETY: handles in buckets are of live records, which begin with the key's words.
                        let words: Vec<u64> = (0..words).map(|i| unsafe { read_word(records.at(handle), i) }).collect();
                        table.hash.of(&words)
                    });
                }
            }
            assert!(full > 0, "{key_len}-byte keys never filled the table");
        }
    }

    /// A broken hash (all keys alike) makes look-ups slow, never wrong.
    #[test]
    fn strays_are_found_by_bursts() {
        let mut table = Exact::new(Shape { key_len: 8, value_len: 8, capacity: 64 }, 5).unwrap();
        table.hash = HashKey::constant();
        for i in 0..64u64 {
            table.insert(&i.to_le_bytes(), &i.to_le_bytes()).unwrap();
        }
        assert_eq!(table.buckets.strays.len(), 64 - 2 * buckets::SLOTS);
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
