//! A block of a list of rules, and bitmaps that say which of its rules a key may match.
//!
//! A block holds rules in the order in which they win, at most a cache line of bits of them. Of a few bytes of the key it
//! has a bitmap for each value that the byte may have: the rules that do not exclude it. The bitmaps of a key's bytes, anded, leave
//! the candidates; those are compared in full, best first, and the first that matches is the answer. So bitmaps may be too generous (the
//! later bytes of a range are) and may leave bytes out: which bytes they are of is found by trying keys that the rules suggest.
//! Changes go to the rules; [`Block::finish`] rebuilds the bitmaps.

use super::Range;
use super::lists::{Listed, within};
use crate::prefetch;

/// Rules of a block at most: the bits of a cache line.
pub(super) const MAX_BLOCK: usize = 512;
/// Bytes of a key that have bitmaps at most. Each costs a look-up a cache line, and a block of 512 rules 16 KiB.
const MAX_BYTES: usize = 8;
/// The same for blocks of up to 64 rules, whose bitmaps take 2 KiB a byte; so that a rule has at most about half a KiB of them.
const MAX_BYTES_SMALL: usize = 4;
/// Keys that are tried to choose the bytes.
const SAMPLES: usize = 32;
/// A byte gets bitmaps if those spare comparing that many rules of all samples: a third of a rule a key, about what the line costs.
const WORTHWHILE: u32 = SAMPLES as u32 / 3;

/// Candidates as bits, the best rule lowest.
pub(super) type Bits = [u64; MAX_BLOCK / 64];

#[derive(Default)]
pub(super) struct Block {
    /// For each rule: pairs of mask and value, a word of the key each.
    pub(super) bits: Vec<(u64, u64)>,
    /// For each rule, the best first.
    pub(super) rules: Vec<Listed>,
    /// `None` where comparing all rules is as fast.
    maps: Option<Box<Maps>>,
    /// Changes that the bitmaps do not have.
    changes: u32,
    /// Changes since the bytes were chosen.
    aged: u32,
}

/// Bitmaps of some bytes of a key.
struct Maps {
    /// Places of the bytes in the key; `count` of them.
    bytes: [u8; MAX_BYTES],
    count: usize,
    /// Words of a bitmap: 1, 2, 4 or 8.
    words: usize,
    /// For each byte, for each of its 256 values, a bitmap; several to a line if they are short.
    lines: Vec<Line>,
}

#[derive(Clone)]
#[repr(align(64))]
struct Line(Bits);

impl Block {
    /// The first `at` rules stay, the others go to a new block. `words` is how many a key has.
    pub(super) fn split_off(&mut self, at: usize, words: usize) -> Block {
        self.changed();
        let rest = Block { bits: self.bits.split_off(at * words), rules: self.rules.split_off(at), ..Block::default() };
        Block { changes: rest.rules.len() as u32, aged: rest.rules.len() as u32, ..rest }
    }

    /// Takes over the rules of a block that comes after this.
    pub(super) fn append(&mut self, mut other: Block) {
        self.changes += other.rules.len() as u32;
        self.aged += other.rules.len() as u32;
        self.bits.append(&mut other.bits);
        self.rules.append(&mut other.rules);
    }

    /// Records that rules were inserted or deleted.
    pub(super) fn changed(&mut self) {
        self.changes += 1;
        self.aged += 1;
    }

    /// Whether its bitmaps are to be used.
    pub(super) fn is_mapped(&self) -> bool {
        self.maps.is_some()
    }

    /// Makes bitmaps that have all changes, if the block has more than `unmapped` rules.
    pub(super) fn finish(&mut self, words: usize, key_len: usize, unmapped: usize) {
        if std::mem::take(&mut self.changes) == 0 {
            return;
        }
        if self.rules.len() <= unmapped {
            self.maps = None;
            self.aged = 0;
            return;
        }
        let places = match &self.maps {
            Some(maps) if (self.aged as usize) <= self.rules.len() / 8 && (maps.words == 1) == (self.rules.len() <= 64) => {
                maps.places().to_vec()
            }
            _ => {
                self.aged = 0;
                self.choose(words, key_len)
            }
        };
        let old = self.maps.take().map(|maps| maps.lines).unwrap_or_default();
        self.maps = (!places.is_empty()).then(|| Box::new(self.maps_of(&places, words, old)));
    }

    /// Bitmaps of the bytes at `places`, in the memory of old ones.
    fn maps_of(&self, places: &[u8], words: usize, mut lines: Vec<Line>) -> Maps {
        let width = self.rules.len().div_ceil(64).next_power_of_two();
        lines.clear();
        lines.resize(places.len() * 256 * width / 8, Line([0; 8]));
        let mut bytes = [0; MAX_BYTES];
        // More places than a block keeps are asked for while it chooses.
        let kept = places.len().min(MAX_BYTES);
        bytes[..kept].copy_from_slice(&places[..kept]);
        let mut maps = Maps { bytes, count: kept, words: width, lines };
        for (j, place) in places.iter().enumerate() {
            self.map_byte(&mut maps, j, usize::from(*place), words);
        }
        maps
    }

    /// The bitmaps of the byte at `place`.
    fn map_byte(&self, maps: &mut Maps, j: usize, place: usize, words: usize) {
        let mut always: Bits = [0; 8];
        for (slot, (listed, bits)) in self.rules.iter().zip(self.bits.chunks_exact(words)).enumerate() {
            let (word, bit) = (slot / 64, 1 << (slot % 64));
            let byte = |word: u64| word.to_ne_bytes()[place % 8];
            let (mask, value) = (byte(bits[place / 8].0), byte(bits[place / 8].1));
            let (low, high) = bounds(&listed.ranges, place);
            match mask {
                0 if (low, high) == (0, 255) => always[word] |= bit,
                0 => (low..=high).for_each(|b| maps.line_mut(j, b)[word] |= bit),
                255 => maps.line_mut(j, value)[word] |= bit,
                _ => (low..=high).filter(|b| b & mask == value).for_each(|b| maps.line_mut(j, b)[word] |= bit),
            }
        }
        for b in 0..=255 {
            for (to, always) in maps.line_mut(j, b).iter_mut().zip(always) {
                *to |= always;
            }
        }
    }

    /// The bytes of the key that tell most, most first: each is the one that leaves the fewest rules to keys that rules suggest.
    fn choose(&self, words: usize, key_len: usize) -> Vec<u8> {
        let compared = |place: &u8| {
            let (word, byte) = (usize::from(*place) / 8, usize::from(*place) % 8);
            self.bits.iter().skip(word).step_by(words).any(|(mask, _)| mask.to_ne_bytes()[byte] != 0)
                || self.rules.iter().any(|rule| bounds(&rule.ranges, (*place).into()) != (0, 255))
        };
        let mut places: Vec<u8> = (0..key_len as u8).filter(compared).collect();
        let all = self.maps_of(&places, words, Vec::new());
        let samples: Vec<Vec<u8>> =
            (0..SAMPLES).map(|i| self.suggested((2 * i + 1) * self.rules.len() / (2 * SAMPLES), words, key_len)).collect();
        let mut left = [[u64::MAX; 8]; SAMPLES];
        for left in &mut left {
            for (slot, word) in left.iter_mut().enumerate() {
                let above = self.rules.len().saturating_sub(64 * slot).min(64);
                *word = if above == 0 { 0 } else { u64::MAX >> (64 - above) };
            }
        }
        let mut columns: Vec<usize> = (0..places.len()).collect();
        let mut chosen = Vec::new();
        let mut candidates: u32 = left.iter().flatten().map(|word| word.count_ones()).sum();
        let most = if self.rules.len() <= 64 { MAX_BYTES_SMALL } else { MAX_BYTES };
        while chosen.len() < most {
            let leaves = |(column, place): (usize, u8)| -> u32 {
                let lines = samples.iter().zip(&left).map(|(key, left)| (all.line(column, key[usize::from(place)]), left));
                lines.flat_map(|(line, left)| line.iter().zip(left)).map(|(a, b)| (a & b).count_ones()).sum()
            };
            let best = columns.iter().copied().zip(places.iter().copied()).enumerate().min_by_key(|(_, byte)| leaves(*byte));
            let Some((at, byte)) = best else { break };
            let fewer = leaves(byte);
            // The first is chosen anyway, so that a block of rules that are not all alike has some.
            if candidates - fewer < if chosen.is_empty() { 1 } else { WORTHWHILE } {
                break;
            }
            candidates = fewer;
            for (key, left) in samples.iter().zip(&mut left) {
                for (word, left) in left.iter_mut().enumerate() {
                    *left &= all.line(byte.0, key[usize::from(byte.1)]).get(word).copied().unwrap_or(0);
                }
            }
            chosen.push(byte.1);
            columns.remove(at);
            places.remove(at);
        }
        chosen
    }

    /// A key that the rule in that slot matches, or nearly.
    fn suggested(&self, slot: usize, words: usize, key_len: usize) -> Vec<u8> {
        let mut key: Vec<u8> = Vec::with_capacity(8 * words);
        for (word, (mask, value)) in self.bits[slot * words..][..words].iter().enumerate() {
            // Any bits that are not the same for all.
            let noise = ((slot * 8 + word + 1) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15);
            key.extend((value | (noise ^ noise >> 29) & !mask).to_ne_bytes());
        }
        for range in &self.rules[slot].ranges {
            key[range.offset..][..range.len].copy_from_slice(&range.low.to_be_bytes()[16 - range.len..]);
        }
        key.truncate(key_len);
        key
    }

    /// Asks for the bitmaps that a key needs.
    ///
    /// # Safety
    /// The key is readable.
    #[inline(always)]
    pub(super) unsafe fn prefetch(&self, key: *const u8) {
        let Some(maps) = &self.maps else { return };
        for (j, place) in maps.places().iter().enumerate() {
            // SAFETY: places are within the key.
            let at = maps.at(j, unsafe { *key.add(usize::from(*place)) });
            prefetch(maps.lines.as_ptr().wrapping_add(at / 8).cast());
        }
    }

    /// The rules that a key may match; it matches no other.
    ///
    /// # Safety
    /// The key is readable.
    #[inline(always)]
    pub(super) unsafe fn candidates(&self, key: *const u8, to: &mut Bits) {
        let Some(maps) = &self.maps else { return };
        // SAFETY: the caller's promise.
        unsafe {
            match maps.words {
                1 => maps.and::<1>(key, to),
                2 => maps.and::<2>(key, to),
                4 => maps.and::<4>(key, to),
                _ => maps.and::<8>(key, to),
            }
        }
    }

    /// The handle of the first rule that the key at `key` matches, 0 if none does.
    ///
    /// # Safety
    /// `W` words of the key, which has `key_len` bytes, are readable there.
    #[inline(always)]
    pub(super) unsafe fn scan<const W: usize>(&self, key: *const u8, key_len: usize) -> u32 {
        // SAFETY: the caller's promise.
        let words: [u64; W] = std::array::from_fn(|w| unsafe { key.cast::<u64>().add(w).read_unaligned() });
        for (at, bits) in self.bits.as_chunks::<W>().0.iter().enumerate() {
            // SAFETY: the caller's promise.
            if is_in(&words, bits) && unsafe { self.is_within(at, key, key_len) } {
                return self.rules[at].handle;
            }
        }
        0
    }

    /// The same of candidates.
    ///
    /// # Safety
    /// As above.
    #[inline(always)]
    pub(super) unsafe fn first<const W: usize>(&self, candidates: &Bits, key: *const u8, key_len: usize) -> u32 {
        // SAFETY: the caller's promise.
        let words: [u64; W] = std::array::from_fn(|w| unsafe { key.cast::<u64>().add(w).read_unaligned() });
        let rules = self.bits.as_chunks::<W>().0;
        for (word, bits) in candidates.iter().enumerate() {
            let mut bits = *bits;
            while bits != 0 {
                let at = 64 * word + bits.trailing_zeros() as usize;
                bits &= bits - 1;
                // SAFETY: the caller's promise.
                if rules.get(at).is_some_and(|bits| is_in(&words, bits)) && unsafe { self.is_within(at, key, key_len) } {
                    return self.rules[at].handle;
                }
            }
        }
        0
    }

    /// Whether the ranges of a rule hold.
    ///
    /// # Safety
    /// The key of `key_len` bytes is readable.
    #[inline(always)]
    unsafe fn is_within(&self, at: usize, key: *const u8, key_len: usize) -> bool {
        let ranges = &self.rules[at].ranges;
        // SAFETY: the caller's promise.
        ranges.is_empty() || within(ranges, unsafe { std::slice::from_raw_parts(key, key_len) })
    }

    /// Asks for what comparing a rule needs.
    #[inline(always)]
    pub(super) fn prefetch_rule<const W: usize>(&self, slot: usize) {
        prefetch(self.bits.as_ptr().wrapping_add(slot * W).cast());
        prefetch(self.rules.as_ptr().wrapping_add(slot).cast());
    }
}

/// Whether a key matches mask and value.
#[inline(always)]
fn is_in<const W: usize>(words: &[u64; W], bits: &[(u64, u64); W]) -> bool {
    (0..W).fold(0, |differs, w| differs | words[w] & bits[w].0 ^ bits[w].1) == 0
}

impl Maps {
    fn places(&self) -> &[u8] {
        &self.bytes[..self.count]
    }

    /// The word at which the bitmap begins of a value of the `j`-th byte.
    #[inline(always)]
    fn at(&self, j: usize, value: u8) -> usize {
        (j * 256 + usize::from(value)) * self.words
    }

    fn line(&self, j: usize, value: u8) -> &[u64] {
        let at = self.at(j, value);
        &self.lines[at / 8].0[at % 8..][..self.words]
    }

    fn line_mut(&mut self, j: usize, value: u8) -> &mut [u64] {
        let at = self.at(j, value);
        &mut self.lines[at / 8].0[at % 8..][..self.words]
    }

    /// # Safety
    /// The key is readable.
    #[inline(always)]
    unsafe fn and<const N: usize>(&self, key: *const u8, to: &mut Bits) {
        let mut and = [u64::MAX; N];
        for (j, place) in self.places().iter().enumerate() {
            // SAFETY: places are within the key.
            let value = unsafe { *key.add(usize::from(*place)) };
            let at = (j * 256 + usize::from(value)) * N;
            let Some(line) = self.lines.get(at / 8).and_then(|line| line.0.get(at % 8..at % 8 + N)) else { continue };
            for (and, line) in and.iter_mut().zip(line) {
                *and &= line;
            }
        }
        *to = [0; 8];
        to[..N].copy_from_slice(&and);
    }
}

/// What the ranges allow the byte at `place`, whatever the bytes before it are; or after those that they fix.
fn bounds(ranges: &[Range], place: usize) -> (u8, u8) {
    let (mut low, mut high) = (0, 255);
    for range in ranges.iter().filter(|range| (range.offset..range.offset + range.len).contains(&place)) {
        let behind = 8 * (range.offset + range.len - 1 - place);
        // A later byte is free within the field's bounds, if not all before it are fixed.
        if behind + 8 >= 128 || range.low >> (behind + 8) == range.high >> (behind + 8) {
            (low, high) = (low.max((range.low >> behind) as u8), high.min((range.high >> behind) as u8));
        }
    }
    (low, high)
}
