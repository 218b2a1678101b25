//! How do records get from one process to the other, though either may write anything anywhere?
//!
//! A ring has one writer and one reader. A record is some words; the low half of its first says how many. The writer's and the reader's place are words in the
//! ring that the other side may set to anything: each side keeps its own place to itself and takes the other's as a claim, which is either within the ring
//! or [`Corrupt`]. A record is read word by word, once; its end is where its first word said when it was looked at.
//!
//! ```text
//!   word 0   tail: words written so far    (the writer's line)
//!   word 8   head: words read so far       (the reader's line)
//!   word 16  notes, by whoever uses the ring: 8 words
//!   word 24  the records, wrapping around
//! ```

use crate::Region;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};

const TAIL: usize = 0;
const HEAD: usize = 8;
/// The first of the words that a ring's users share for themselves.
const NOTES: usize = 16;
/// Words that a ring's users share for themselves.
pub const NOTES_LEN: usize = 8;
const RECORDS: usize = NOTES + NOTES_LEN;

/// The other side has written what no ring holds: it is broken or hostile, and the ring is of no use any more.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
#[error("the other process has damaged the ring")]
pub struct Corrupt;

/// Words of a region that a ring of `capacity` words takes.
///
/// # Panics
/// If that is not a power of two.
pub fn ring_words(capacity: usize) -> usize {
    assert!(capacity.is_power_of_two(), "a ring of {capacity} words: expected a power of two");
    RECORDS + capacity
}

/// Where a ring lies.
#[derive(Clone)]
struct Place {
    region: Arc<Region>,
    at: usize,
    capacity: u64,
}

impl Place {
    /// # Panics
    /// If the ring is not in the region: whoever made the region knows its size, and the other side has checked it.
    fn new(region: Arc<Region>, at: usize, capacity: usize) -> Place {
        assert!(at + ring_words(capacity) <= region.words().len(), "a ring behind the end of the memory");
        Place { region, at, capacity: capacity as u64 }
    }

    #[inline]
    fn word(&self, index: usize) -> &AtomicU64 {
        &self.region.words()[self.at + index]
    }

    /// The words of the records.
    #[inline]
    fn records(&self) -> &[AtomicU64] {
        &self.region.words()[self.at + RECORDS..][..self.capacity as usize]
    }
}

/// The writer.
pub struct Producer {
    place: Place,
    /// Words written, published or not.
    tail: u64,
    /// The reader's place when it was last looked at.
    head: u64,
    /// Where the record ends that is being written.
    end: u64,
}

impl Producer {
    /// Of a ring of `capacity` words from word `at` of the region on, that nobody has used.
    ///
    /// # Panics
    /// If it is not in the region, or `capacity` is no power of two.
    pub fn new(region: Arc<Region>, at: usize, capacity: usize) -> Producer {
        Producer { place: Place::new(region, at, capacity), tail: 0, head: 0, end: 0 }
    }

    /// Begins a record of `words` words, its first with `high` in its upper half. False: there is no room now.
    ///
    /// # Errors
    /// If the reader claims to have read what was not written.
    #[inline]
    pub fn begin(&mut self, words: usize, high: u32) -> Result<bool, Corrupt> {
        let words = words as u64;
        if self.place.capacity - (self.tail - self.head) < words {
            let head = self.place.word(HEAD).load(Acquire);
            // Between what it had read before and what is written.
            if head.wrapping_sub(self.head) > self.tail - self.head {
                return Err(Corrupt);
            }
            self.head = head;
            if self.place.capacity - (self.tail - self.head) < words {
                return Ok(false);
            }
        }
        self.end = self.tail + words;
        self.put(u64::from(high) << 32 | words);
        Ok(true)
    }

    /// The record's next word.
    ///
    /// # Panics
    /// If the record has no more.
    #[inline]
    pub fn put(&mut self, word: u64) {
        assert!(self.tail < self.end, "a record has the words that it was begun with");
        self.place.records()[(self.tail & (self.place.capacity - 1)) as usize].store(word, Relaxed);
        self.tail += 1;
    }

    /// Bytes as words, the last filled with zeros.
    ///
    /// # Panics
    /// If the record has not as many.
    #[inline]
    pub fn put_bytes(&mut self, bytes: &[u8]) {
        let words = bytes.len().div_ceil(8) as u64;
        assert!(self.tail + words <= self.end, "a record has the words that it was begun with");
        let (chunks, rest) = bytes.as_chunks::<8>();
        let records = self.place.records();
        let mask = self.place.capacity - 1;
        for chunk in chunks {
            records[(self.tail & mask) as usize].store(u64::from_le_bytes(*chunk), Relaxed);
            self.tail += 1;
        }
        if !rest.is_empty() {
            let mut last = [0; 8];
            last[..rest.len()].copy_from_slice(rest);
            self.put(u64::from_le_bytes(last));
        }
    }

    /// Lets the reader see all records so far. One that was begun must be whole.
    #[inline]
    pub fn publish(&mut self) {
        debug_assert_eq!(self.tail, self.end, "a record is published whole");
        self.place.word(TAIL).store(self.tail, Release);
    }

    /// A word that the ring's users share for themselves: the other side may set it to anything.
    ///
    /// # Panics
    /// If `index` is not below [`NOTES_LEN`].
    #[inline]
    pub fn note(&self, index: usize) -> &AtomicU64 {
        note(&self.place, index)
    }
}

/// The reader.
pub struct Consumer {
    place: Place,
    /// Words read, released or not.
    head: u64,
    /// The writer's place when it was last looked at.
    tail: u64,
    /// Where the record ends that is being read.
    end: u64,
}

impl Consumer {
    /// As [`Producer::new`].
    ///
    /// # Panics
    /// As [`Producer::new`].
    pub fn new(region: Arc<Region>, at: usize, capacity: usize) -> Consumer {
        Consumer { place: Place::new(region, at, capacity), head: 0, tail: 0, end: 0 }
    }

    /// The next record: what its first word has in its upper half, and how many words follow. What is left of the one before is passed over.
    ///
    /// # Errors
    /// If the writer claims more than the ring holds, or a record that is not all there.
    #[inline]
    pub fn begin(&mut self) -> Result<Option<(u32, usize)>, Corrupt> {
        self.head = self.end;
        if self.tail == self.head {
            let tail = self.place.word(TAIL).load(Acquire);
            if tail.wrapping_sub(self.head) > self.place.capacity {
                return Err(Corrupt);
            }
            self.tail = tail;
            if tail == self.head {
                return Ok(None);
            }
        }
        let first = self.load();
        let words = first & 0xffff_ffff;
        if words == 0 || words > self.tail.wrapping_sub(self.head) {
            return Err(Corrupt);
        }
        self.end = self.head.wrapping_add(words);
        self.head = self.head.wrapping_add(1);
        Ok(Some(((first >> 32) as u32, words as usize - 1)))
    }

    /// The record's next word; 0 behind its end.
    #[inline]
    pub fn take(&mut self) -> u64 {
        if self.head == self.end {
            return 0;
        }
        let word = self.load();
        self.head = self.head.wrapping_add(1);
        word
    }

    /// Fills `bytes` from the record's next words; with zeros behind its end.
    #[inline]
    pub fn take_bytes(&mut self, bytes: &mut [u8]) {
        let (chunks, rest) = bytes.as_chunks_mut::<8>();
        for chunk in chunks {
            *chunk = self.take().to_le_bytes();
        }
        if !rest.is_empty() {
            let last = self.take().to_le_bytes();
            rest.copy_from_slice(&last[..rest.len()]);
        }
    }

    /// Overwrites the record that was begun last with zeros: it held a secret.
    pub fn wipe(&mut self, words: usize) {
        let records = self.place.records();
        for back in 0..=words as u64 {
            let at = self.end.wrapping_sub(1 + back) & (self.place.capacity - 1);
            records[at as usize].store(0, Relaxed);
        }
    }

    /// Lets the writer use the room of all that was read; the record that was begun last is read then.
    #[inline]
    pub fn release(&mut self) {
        self.head = self.end;
        self.place.word(HEAD).store(self.head, Release);
    }

    /// As [`Producer::note`].
    ///
    /// # Panics
    /// If `index` is not below [`NOTES_LEN`].
    #[inline]
    pub fn note(&self, index: usize) -> &AtomicU64 {
        note(&self.place, index)
    }

    #[inline]
    fn load(&self) -> u64 {
        self.place.records()[(self.head & (self.place.capacity - 1)) as usize].load(Relaxed)
    }
}

#[inline]
fn note(place: &Place, index: usize) -> &AtomicU64 {
    assert!(index < NOTES_LEN, "note {index}: a ring has {NOTES_LEN}");
    place.word(NOTES + index)
}
