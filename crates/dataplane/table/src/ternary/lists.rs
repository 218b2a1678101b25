//! Rules by the bits that all of them compare, as lists.
//!
//! A list keeps masks and values of its rules in one array and the rest in another, the best rule first. So the first that
//! matches is the answer. Keys of a burst find their lists by one hash look-up together. A short list is read from its front; a long one is
//! cut into [`Block`]s, whose bitmaps leave a rule or two to compare.

use super::blocks::{Bits, Block, MAX_BLOCK};
use super::{Limits, OwnedRule, Range, Rule};
use crate::hash::HashKey;
use crate::{BURST, Exact, MAX_KEY_LEN, Shape, Table, TableError, prefetch};
use std::cmp::Reverse;
use std::mem::MaybeUninit;

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
    /// Parts whose bitmaps lack changes.
    unfinished: Vec<u32>,
    limits: Limits,
}

/// Rules whose common bits are the same.
#[derive(Default)]
struct Part {
    /// The best rules. Without rules only if the whole list is.
    head: Block,
    /// Those that lose to them, none empty.
    tail: Vec<Block>,
    /// Number of rules that are in the tuple space. If there are any, all are, and none in the list.
    large: u64,
    /// Number of rules that are not.
    len: usize,
}

pub(super) struct Listed {
    pub(super) handle: u32,
    pub(super) priority: u32,
    pub(super) order: u64,
    pub(super) ranges: Box<[Range]>,
}

impl Listed {
    /// Greater wins.
    fn rank(&self) -> (u32, Reverse<u64>) {
        (self.priority, Reverse(self.order))
    }
}

impl Lists {
    pub(super) fn new(shape: &Shape, common: &[u8], seed: u64, limits: Limits) -> Result<Lists, TableError> {
        let words = words_of(common);
        let common: Vec<(usize, u64)> = words.iter().copied().enumerate().filter(|(_, bits)| *bits != 0).collect();
        let numbers = match common.len() {
            0 => None,
            n => Some(Exact::with_long_key(Shape { key_len: 8 * n, value_len: 4, capacity: shape.capacity }, HashKey::new(seed))?),
        };
        // Without common bits the one part is always there.
        let parts = if numbers.is_none() { vec![Part::default()] } else { Vec::new() };
        Ok(Lists { key_len: shape.key_len, common, numbers, parts, free: Vec::new(), unfinished: Vec::new(), limits })
    }

    /// Whether the rules with the common bits of that value are in the tuple space.
    pub(super) fn is_large(&self, value: &[u8]) -> bool {
        self.number(value).is_some_and(|part| self.parts[part as usize].large > 0)
    }

    /// The handle of that rule, if it is in a list.
    pub(super) fn get(&self, rule: &Rule<'_>) -> Option<u32> {
        let part = &self.parts[self.number(rule.value)? as usize];
        part.position(rule, self.words()).map(|(block, at)| part.block(block).rules[at].handle)
    }

    /// Adds a new rule. If its list has become too long, the rules that were in it are returned, for the tuple space.
    pub(super) fn insert(&mut self, rule: &Rule<'_>, handle: u32, order: u64) -> Vec<(OwnedRule, u32, u64)> {
        let (words, key_len) = (self.words(), self.key_len);
        let number = self.number(rule.value).unwrap_or_else(|| self.add_part(rule.value));
        self.unfinished.push(number);
        let part = &mut self.parts[number as usize];
        let new = Listed { handle, priority: rule.priority, order, ranges: rule.ranges.into() };
        let index = part.tail.partition_point(|block| block.rules[0].rank() > new.rank());
        let block = part.block_mut(index);
        let at = block.rules.partition_point(|listed| listed.rank() > new.rank());
        block.rules.insert(at, new);
        let bits = words_of(rule.mask).into_iter().zip(words_of(rule.value)).take(words);
        block.bits.splice(at * words..at * words, bits);
        block.changed();
        let rules = block.rules.len();
        if rules > self.limits.block.min(MAX_BLOCK) {
            let rest = block.split_off(rules / 2, words);
            part.tail.insert(index, rest);
        }
        part.len += 1;
        if part.len <= self.limits.list {
            return Vec::new();
        }
        let Part { head, tail, len, .. } = std::mem::take(part);
        part.large = len as u64;
        let mut all = head;
        tail.into_iter().for_each(|block| all.append(block));
        let bits = all.bits;
        let owned = |(i, listed): (usize, Listed)| {
            let (mask, value) = bits[i * words..][..words].iter().copied().unzip();
            let bytes = |words: Vec<u64>| words.into_iter().flat_map(u64::to_ne_bytes).take(key_len).collect();
            let Listed { handle, priority, order, ranges } = listed;
            (OwnedRule { value: bytes(value), mask: bytes(mask), ranges, priority }, handle, order)
        };
        all.rules.into_iter().enumerate().map(owned).collect()
    }

    /// Counts a rule in (`more`) or out whose part is in the tuple space. When the last one is removed, the part starts over.
    pub(super) fn count(&mut self, rule: &Rule<'_>, more: bool) {
        let number = self.number(rule.value).expect("a part of that rule");
        let part = &mut self.parts[number as usize];
        part.large = if more { part.large + 1 } else { part.large - 1 };
        self.remove_if_empty(number, rule.value);
    }

    /// Replaces the handle of a rule that is in a list.
    pub(super) fn set(&mut self, rule: &Rule<'_>, handle: u32) {
        let (words, number) = (self.words(), self.number(rule.value).expect("a part of that rule"));
        let part = &mut self.parts[number as usize];
        let (block, at) = part.position(rule, words).expect("a rule that is there");
        part.block_mut(block).rules[at].handle = handle;
    }

    /// Removes a rule that is in a list.
    pub(super) fn remove(&mut self, rule: &Rule<'_>) {
        let (words, number) = (self.words(), self.number(rule.value).expect("a part of that rule"));
        let part = &mut self.parts[number as usize];
        let (index, at) = part.position(rule, words).expect("a rule that is there");
        let block = part.block_mut(index);
        block.rules.remove(at);
        block.bits.drain(at * words..(at + 1) * words);
        block.changed();
        part.len -= 1;
        part.join(index, self.limits.block.min(MAX_BLOCK) / 2);
        self.unfinished.push(number);
        self.remove_if_empty(number, rule.value);
    }

    /// Brings bitmaps up to date, before look-ups.
    pub(super) fn finish(&mut self) {
        let words = self.words();
        for number in self.unfinished.drain(..) {
            let part = &mut self.parts[number as usize];
            for block in std::iter::once(&mut part.head).chain(&mut part.tail) {
                block.finish(words, self.key_len, self.limits.scan);
            }
        }
    }

    /// Number of blocks that have bitmaps.
    pub(super) fn mapped_blocks(&self) -> usize {
        self.parts.iter().flat_map(|part| std::iter::once(&part.head).chain(&part.tail)).filter(|block| block.is_mapped()).count()
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
        if part.len > 0 || part.large > 0 {
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
                let mut common = [const { MaybeUninit::<u64>::uninit() }; BURST * (MAX_KEY_LEN / 8)];
                for (i, to) in common.chunks_exact_mut(words).take(n).enumerate() {
                    for (to, (word, bits)) in to.iter_mut().zip(&self.common) {
                        // SAFETY: the key's words are readable, as the caller promised.
                        to.write(unsafe { keys.add(i * stride).cast::<u64>().add(*word).read_unaligned() } & bits);
                    }
                }
                let mut records = [std::ptr::null_mut(); BURST];
                // SAFETY: that many keys of whole words were written to `common`; nothing changes meanwhile.
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
                    prefetch(part.head.bits.as_ptr().cast());
                    prefetch(part.head.rules.as_ptr().cast());
                }
            }
        }
        // SAFETY: the caller's promise.
        unsafe {
            match self.words() {
                1 => self.search::<1>(&parts[..n], keys, stride, found),
                2 => self.search::<2>(&parts[..n], keys, stride, found),
                3 => self.search::<3>(&parts[..n], keys, stride, found),
                4 => self.search::<4>(&parts[..n], keys, stride, found),
                5 => self.search::<5>(&parts[..n], keys, stride, found),
                6 => self.search::<6>(&parts[..n], keys, stride, found),
                7 => self.search::<7>(&parts[..n], keys, stride, found),
                8 => self.search::<8>(&parts[..n], keys, stride, found),
                9 => self.search::<9>(&parts[..n], keys, stride, found),
                10 => self.search::<10>(&parts[..n], keys, stride, found),
                11 => self.search::<11>(&parts[..n], keys, stride, found),
                12 => self.search::<12>(&parts[..n], keys, stride, found),
                13 => self.search::<13>(&parts[..n], keys, stride, found),
                14 => self.search::<14>(&parts[..n], keys, stride, found),
                15 => self.search::<15>(&parts[..n], keys, stride, found),
                _ => self.search::<16>(&parts[..n], keys, stride, found),
            }
        }
    }

    /// The same for keys of `W` words that have found their parts.
    #[inline(always)]
    unsafe fn search<const W: usize>(&self, parts: &[Option<&Part>], keys: *const u8, stride: usize, found: &mut [u32; BURST]) -> u64 {
        let (mut large, mut mapped, mut count) = (0, [0u8; BURST], 0);
        for (i, part) in parts.iter().enumerate() {
            let Some(part) = part else { continue };
            if part.large > 0 {
                large |= 1 << i;
            } else if part.head.is_mapped() || !part.tail.is_empty() {
                mapped[count] = i as u8;
                count += 1;
            } else {
                // SAFETY: the caller's key.
                found[i] = unsafe { part.head.scan::<W>(keys.add(i * stride), self.key_len) };
            }
        }
        if count > 0 {
            // SAFETY: the caller's keys.
            unsafe { self.search_mapped::<W>(parts, &mut mapped[..count], keys, stride, found) };
        }
        large
    }

    /// Goes through the blocks of long lists, a block of each key at a time, so that the misses of the cache overlap.
    #[inline(never)]
    unsafe fn search_mapped<const W: usize>(
        &self,
        parts: &[Option<&Part>],
        mut lanes: &mut [u8],
        keys: *const u8,
        stride: usize,
        found: &mut [u32; BURST],
    ) {
        let mut candidates: [Bits; BURST] = [[0; 8]; BURST];
        let mut index = 0;
        while !lanes.is_empty() {
            let block_of = |lane: u8| parts[usize::from(lane)].and_then(|part| part.get_block(index));
            // SAFETY: here and below, the keys are the caller's, and `lanes` some of them.
            let key_of = |lane: u8| unsafe { keys.add(usize::from(lane) * stride) };
            for block in lanes.iter().map(|lane| (block_of(*lane), key_of(*lane))) {
                if let (Some(block), key) = block {
                    // SAFETY: see above.
                    unsafe { block.prefetch(key) };
                }
            }
            for (lane, bits) in lanes.iter().zip(&mut candidates) {
                let Some(block) = block_of(*lane) else { continue };
                // SAFETY: see above.
                unsafe { block.candidates(key_of(*lane), bits) };
                if let Some(word) = bits.iter().position(|word| *word != 0) {
                    block.prefetch_rule::<W>(64 * word + bits[word].trailing_zeros() as usize);
                }
            }
            let mut still = 0;
            for at in 0..lanes.len() {
                let lane = lanes[at];
                let Some(block) = block_of(lane) else { continue };
                // SAFETY: see above.
                let handle = unsafe {
                    if block.is_mapped() {
                        block.first::<W>(&candidates[at], key_of(lane), self.key_len)
                    } else {
                        block.scan::<W>(key_of(lane), self.key_len)
                    }
                };
                found[usize::from(lane)] = handle;
                if handle == 0 {
                    lanes[still] = lane;
                    still += 1;
                }
            }
            lanes = &mut lanes[..still];
            index += 1;
        }
    }
}

impl Part {
    fn get_block(&self, index: usize) -> Option<&Block> {
        if index == 0 { Some(&self.head) } else { self.tail.get(index - 1) }
    }

    fn block(&self, index: usize) -> &Block {
        self.get_block(index).expect("a block of the part")
    }

    fn block_mut(&mut self, index: usize) -> &mut Block {
        if index == 0 { &mut self.head } else { &mut self.tail[index - 1] }
    }

    /// Block and place in it.
    fn position(&self, rule: &Rule<'_>, words: usize) -> Option<(usize, usize)> {
        let (mask, value) = (words_of(rule.mask), words_of(rule.value));
        for (index, block) in std::iter::once(&self.head).chain(&self.tail).enumerate() {
            let from = block.rules.partition_point(|listed| listed.priority > rule.priority);
            let equal = block.rules[from..].iter().take_while(|listed| listed.priority == rule.priority);
            let place = equal.zip(block.bits[from * words..].chunks_exact(words)).position(|(listed, bits)| {
                bits.iter().enumerate().all(|(w, bits)| *bits == (mask[w], value[w])) && *listed.ranges == *rule.ranges
            });
            if let Some(place) = place {
                return Some((index, from + place));
            }
        }
        None
    }

    /// After a block has lost a rule: joins it with a neighbour if it is empty or the two have at most `at_most` rules.
    fn join(&mut self, index: usize, at_most: usize) {
        for first in [index, index.saturating_sub(1)] {
            let Some(second) = self.tail.get(first).map(|block| block.rules.len()) else { continue };
            let rules = self.block(first).rules.len();
            if rules == 0 || second == 0 || rules + second <= at_most {
                let second = self.tail.remove(first);
                self.block_mut(first).append(second);
            }
        }
    }
}

/// Whether a key is within all of those ranges.
#[inline(never)]
pub(super) fn within(ranges: &[Range], key: &[u8]) -> bool {
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
