//! Rules by the bits that all of them compare, as short lists.
//!
//! A list keeps masks and values of its rules in one array and what else is known of them in another, the best rule first. So the first that
//! matches is the answer. Keys of a burst find their lists by one hash look-up together.

use super::{OwnedRule, Range, Rule};
use crate::hash::HashKey;
use crate::{BURST, Exact, MAX_KEY_LEN, Shape, Table, TableError, prefetch};
use std::cmp::Reverse;

/// Rules of a list at most: reading through 64 of three words each costs about what a tuple space of 10 masks does.
const MAX_LIST: usize = 64;
/// Words of a key, and two so that a field of up to 16 bytes can be read as a whole.
const KEY_WORDS: usize = MAX_KEY_LEN / 8 + 2;

/// All parts, small or large.
pub(super) struct Lists {
    key_len: usize,
    /// Which words of a key have common bits, and which bits. None: there is one part.
    common: Vec<(usize, u64)>,
    /// From the common bits to the number of the part, where there are common bits.
    numbers: Option<Exact>,
    /// By number, those that no rule is in are in `free`. Without common bits there is one, number 0.
    parts: Vec<Part>,
    free: Vec<u32>,
}

/// Rules whose common bits are the same.
#[derive(Default)]
struct Part {
    /// For each rule: pairs of mask and value, a word of the key each.
    bits: Vec<(u64, u64)>,
    /// For each rule, the best first.
    rules: Vec<Listed>,
    /// Number of rules that are in the tuple space. If there are any, all are, and none in the list.
    large: u64,
}

struct Listed {
    handle: u32,
    priority: u32,
    order: u64,
    ranges: Box<[Range]>,
}

impl Lists {
    pub(super) fn new(shape: &Shape, common: &[u8], seed: u64) -> Result<Lists, TableError> {
        let words = words_of(common);
        let common: Vec<(usize, u64)> = words.iter().copied().enumerate().filter(|(_, bits)| *bits != 0).collect();
        let numbers = match common.len() {
            0 => None,
            n => Some(Exact::with_long_key(Shape { key_len: 8 * n, value_len: 4, capacity: shape.capacity }, HashKey::new(seed))?),
        };
        // Without common bits the one part is always there.
        let parts = if numbers.is_none() { vec![Part::default()] } else { Vec::new() };
        Ok(Lists { key_len: shape.key_len, common, numbers, parts, free: Vec::new() })
    }

    /// Whether the rules with the common bits of that value are in the tuple space.
    pub(super) fn is_large(&self, value: &[u8]) -> bool {
        self.number(value).is_some_and(|part| self.parts[part as usize].large > 0)
    }

    /// The handle of that rule, if it is in a list.
    pub(super) fn get(&self, rule: &Rule<'_>) -> Option<u32> {
        let part = &self.parts[self.number(rule.value)? as usize];
        part.position(rule, self.words()).map(|at| part.rules[at].handle)
    }

    /// Adds a rule that is not there. If its list has become too long, the rules that were in it are returned, for the tuple space.
    pub(super) fn insert(&mut self, rule: &Rule<'_>, handle: u32, order: u64) -> Vec<(OwnedRule, u32, u64)> {
        let (words, key_len) = (self.words(), self.key_len);
        let number = self.number(rule.value).unwrap_or_else(|| self.add_part(rule.value));
        let part = &mut self.parts[number as usize];
        let at = part.rules.partition_point(|r| (r.priority, Reverse(r.order)) > (rule.priority, Reverse(order)));
        part.rules.insert(at, Listed { handle, priority: rule.priority, order, ranges: rule.ranges.into() });
        let bits = words_of(rule.mask).into_iter().zip(words_of(rule.value)).take(words);
        part.bits.splice(at * words..at * words, bits);
        if part.rules.len() <= MAX_LIST {
            return Vec::new();
        }
        let bits = std::mem::take(&mut part.bits);
        part.large = part.rules.len() as u64;
        let owned = |(i, listed): (usize, Listed)| {
            let (mask, value) = bits[i * words..][..words].iter().copied().unzip();
            let bytes = |words: Vec<u64>| words.into_iter().flat_map(u64::to_ne_bytes).take(key_len).collect();
            let Listed { handle, priority, order, ranges } = listed;
            (OwnedRule { value: bytes(value), mask: bytes(mask), ranges, priority }, handle, order)
        };
        std::mem::take(&mut part.rules).into_iter().enumerate().map(owned).collect()
    }

    /// Counts a rule in (`more`) or out whose part is in the tuple space. When the last has gone, the part starts anew.
    pub(super) fn count(&mut self, rule: &Rule<'_>, more: bool) {
        let number = self.number(rule.value).expect("a part of that rule");
        let part = &mut self.parts[number as usize];
        part.large = if more { part.large + 1 } else { part.large - 1 };
        self.remove_if_empty(number, rule.value);
    }

    /// Gives a rule that is in a list another handle.
    pub(super) fn set(&mut self, rule: &Rule<'_>, handle: u32) {
        let (words, number) = (self.words(), self.number(rule.value).expect("a part of that rule"));
        let part = &mut self.parts[number as usize];
        let at = part.position(rule, words).expect("a rule that is there");
        part.rules[at].handle = handle;
    }

    /// Takes out a rule that is in a list.
    pub(super) fn remove(&mut self, rule: &Rule<'_>) {
        let (words, number) = (self.words(), self.number(rule.value).expect("a part of that rule"));
        let part = &mut self.parts[number as usize];
        let at = part.position(rule, words).expect("a rule that is there");
        part.rules.remove(at);
        part.bits.drain(at * words..(at + 1) * words);
        self.remove_if_empty(number, rule.value);
    }

    /// Words of a key.
    fn words(&self) -> usize {
        self.key_len.div_ceil(8)
    }

    /// The common bits of a value, as a key of `numbers`.
    fn common_of(&self, value: &[u8]) -> Vec<u8> {
        let words = words_of(value);
        self.common.iter().flat_map(|(word, bits)| (words[*word] & bits).to_ne_bytes()).collect()
    }

    fn number(&self, value: &[u8]) -> Option<u32> {
        match &self.numbers {
            None => Some(0),
            Some(numbers) => numbers.get(&self.common_of(value)).and_then(|n| n.try_into().ok()).map(u32::from_ne_bytes),
        }
    }

    fn add_part(&mut self, value: &[u8]) -> u32 {
        let number = self.free.pop().unwrap_or_else(|| {
            self.parts.push(Part::default());
            self.parts.len() as u32 - 1
        });
        let key = self.common_of(value);
        if let Some(numbers) = &mut self.numbers {
            numbers.insert(&key, &number.to_ne_bytes()).expect("there are no more parts than entries");
        }
        number
    }

    fn remove_if_empty(&mut self, number: u32, value: &[u8]) {
        let part = &mut self.parts[number as usize];
        if !part.rules.is_empty() || part.large > 0 {
            return;
        }
        *part = Part::default();
        let key = self.common_of(value);
        if let Some(numbers) = &mut self.numbers {
            numbers.remove(&key).expect("a part of that number");
            self.free.push(number);
        }
    }

    /// Writes the handle that each key finds in its list, 0 for none; returns as bits the keys that are to be looked up in the tuple space.
    ///
    /// # Safety
    /// The `n` keys, at most [`BURST`], are readable as [`crate::View::lookup_burst`] says, and no change runs at the same time.
    pub(super) unsafe fn burst(&self, keys: *const u8, stride: usize, n: usize, found: &mut [u32; BURST]) -> u64 {
        let mut parts: [Option<&Part>; BURST] = [None; BURST];
        match &self.numbers {
            None => parts[..n].fill(self.parts.first()),
            Some(numbers) => {
                let words = self.common.len();
                let mut common = [0u64; BURST * (MAX_KEY_LEN / 8)];
                for (i, to) in common.chunks_exact_mut(words).take(n).enumerate() {
                    for (to, (word, bits)) in to.iter_mut().zip(&self.common) {
                        // SAFETY: the key's words are readable, as the caller promised.
                        *to = unsafe { keys.add(i * stride).cast::<u64>().add(*word).read_unaligned() } & bits;
                    }
                }
                let mut records = [std::ptr::null_mut(); BURST];
                // SAFETY: `common` holds that many keys of whole words; nothing changes meanwhile.
                let mut hits = unsafe { numbers.view().lookup_burst(common.as_ptr().cast(), 8 * words, n, records.as_mut_ptr()) };
                while hits != 0 {
                    let i = hits.trailing_zeros() as usize;
                    hits &= hits - 1;
                    // SAFETY: a record of `numbers` is 4 bytes.
                    let part = self.parts.get(unsafe { records[i].cast::<u32>().read_unaligned() } as usize);
                    parts[i] = part;
                    prefetch(part.map_or(std::ptr::null(), |part| std::ptr::from_ref(part).cast()));
                }
                for part in parts[..n].iter().flatten() {
                    prefetch(part.bits.as_ptr().cast());
                    prefetch(part.rules.as_ptr().cast());
                }
            }
        }
        let mut large = 0;
        for (i, part) in parts[..n].iter().enumerate() {
            let Some(part) = part else { continue };
            if part.large > 0 {
                large |= 1 << i;
                continue;
            }
            // SAFETY: the caller's key.
            found[i] = unsafe {
                let key = keys.add(i * stride);
                match self.words() {
                    1 => part.search::<1>(key, self.key_len),
                    2 => part.search::<2>(key, self.key_len),
                    3 => part.search::<3>(key, self.key_len),
                    4 => part.search::<4>(key, self.key_len),
                    5 => part.search::<5>(key, self.key_len),
                    6 => part.search::<6>(key, self.key_len),
                    7 => part.search::<7>(key, self.key_len),
                    _ => part.search::<8>(key, self.key_len),
                }
            };
        }
        large
    }
}

impl Part {
    fn position(&self, rule: &Rule<'_>, words: usize) -> Option<usize> {
        let (mask, value) = (words_of(rule.mask), words_of(rule.value));
        self.rules.iter().zip(self.bits.chunks_exact(words)).position(|(listed, bits)| {
            let same_bits = bits.iter().enumerate().all(|(w, bits)| *bits == (mask[w], value[w]));
            same_bits && listed.priority == rule.priority && *listed.ranges == *rule.ranges
        })
    }

    /// The handle of the first rule that the key at `key` matches, 0 if none does.
    ///
    /// # Safety
    /// `W` words of the key are readable there.
    #[inline(always)]
    unsafe fn search<const W: usize>(&self, key: *const u8, key_len: usize) -> u32 {
        // SAFETY: the caller's promise.
        let words: [u64; W] = std::array::from_fn(|w| unsafe { key.cast::<u64>().add(w).read_unaligned() });
        for (at, bits) in self.bits.as_chunks::<W>().0.iter().enumerate() {
            let differs = (0..W).fold(0, |differs, w| differs | words[w] & bits[w].0 ^ bits[w].1);
            if differs == 0 {
                let listed = &self.rules[at];
                // SAFETY: within the words of the key.
                if listed.ranges.is_empty() || within(&listed.ranges, unsafe { std::slice::from_raw_parts(key, key_len) }) {
                    return listed.handle;
                }
            }
        }
        0
    }
}

/// Whether a key is within all of those ranges.
#[inline(never)]
fn within(ranges: &[Range], key: &[u8]) -> bool {
    let mut padded = [0u8; 8 * KEY_WORDS];
    padded[..key.len()].copy_from_slice(key);
    ranges.iter().all(|range| {
        let Some((field, _)) = padded[range.offset..].split_first_chunk::<16>() else { return false };
        let field = u128::from_be_bytes(*field) >> (128 - 8 * range.len);
        (range.low..=range.high).contains(&field)
    })
}

/// A key, mask or value in words, bytes past its end zero.
fn words_of(bytes: &[u8]) -> [u64; MAX_KEY_LEN / 8] {
    let mut padded = [0; MAX_KEY_LEN];
    padded[..bytes.len()].copy_from_slice(bytes);
    std::array::from_fn(|i| u64::from_ne_bytes(std::array::from_fn(|b| padded[8 * i + b])))
}
