//! Ternary match with ranges and priorities: one hash look-up a distinct mask.
//!
//! Entries with the same mask form a tuple; within it, those with the same masked value form a group, a chain in the
//! order in which they win. A burst visits the tuples, highest priority first, masks its keys and looks the
//! groups up in one [`Exact`] for all tuples (the tuple's number is part of the key), until nothing better can come. Ranges are
//! checked along the chain. So a look-up costs the number of distinct masks (few where rules have few
//! shapes, such as TS 29.244 §5.2.1A SDF filters), and ranges that share mask and value a comparison each.

use crate::records::Records;
use crate::{BURST, Exact, MAX_KEY_LEN, Shape, Table, TableError, check_key, check_shape, check_value};
use std::collections::BTreeMap;

/// A field that must lie within bounds, beside value and mask.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Range {
    /// First byte of the field in the key.
    pub offset: usize,
    /// Its bytes, 1 to 16, most significant first.
    pub len: usize,
    /// Lowest value that matches.
    pub low: u128,
    /// Highest value that matches.
    pub high: u128,
}

/// What an entry of a [`Ternary`] matches, and how it ranks.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Rule<'a> {
    /// What the key must be where the mask has ones; zero elsewhere.
    pub value: &'a [u8],
    /// One bits are compared.
    pub mask: &'a [u8],
    /// Further conditions. Two rules that differ in their order are two rules.
    pub ranges: &'a [Range],
    /// Larger wins; of equal ones the entry that was inserted first.
    pub priority: u32,
}

impl Rule<'_> {
    pub(crate) fn check(&self, shape: &Shape) -> Result<(), TableError> {
        check_key(shape, self.value)?;
        check_key(shape, self.mask)?;
        if self.value.iter().zip(self.mask).any(|(v, m)| v & !m != 0) {
            return Err(TableError::Invalid("bits of the value outside of the mask are not zero".into()));
        }
        for range in self.ranges {
            let fits = (1..=16).contains(&range.len) && range.offset.checked_add(range.len).is_some_and(|end| end <= shape.key_len);
            let max = if fits { u128::MAX >> (128 - 8 * range.len) } else { 0 };
            if !fits || range.low > range.high || range.high > max {
                return Err(TableError::Invalid(format!("{range:?} does not fit a key of {} bytes", shape.key_len)));
            }
        }
        Ok(())
    }
}

impl Range {
    /// Whether the key's field lies within; the range must have been checked against the key's length.
    pub(crate) fn holds(&self, key: &[u8]) -> bool {
        let field = key[self.offset..self.offset + self.len].iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte));
        (self.low..=self.high).contains(&field)
    }
}

/// Words of the longest masked key and the number of its tuple.
const MAX_WORDS: usize = MAX_KEY_LEN / 8 + 1;

/// A ternary table. An entry's identity is the whole [`Rule`].
pub struct Ternary {
    shape: Shape,
    /// Tuples by number; those that no entry uses are in `free_tuples`.
    tuples: Vec<Tuple>,
    free_tuples: Vec<u32>,
    by_mask: BTreeMap<Box<[u8]>, u32>,
    /// Tuples in use in the order in which they are visited: highest priority first.
    visits: Vec<Visit>,
    /// From masked key and tuple to [`Group`].
    groups: Exact,
    /// By the handles of `records`.
    entries: Vec<Entry>,
    records: Records,
    /// Number of the next insertion.
    next_order: u64,
}

/// Entries of one mask.
#[derive(Default)]
struct Tuple {
    /// Words to and, then or, a key with to get its group's key.
    and: [u64; MAX_WORDS],
    or: [u64; MAX_WORDS],
    /// Number of entries by priority.
    priorities: BTreeMap<u32, u32>,
}

#[derive(Clone, Copy)]
struct Visit {
    max_priority: u32,
    tuple: u32,
}

/// First entry of a chain, repeated in the group's record so that most look-ups need no more.
#[derive(Clone, Copy)]
#[repr(C)]
struct Group {
    head: u32,
    priority: u32,
    order: u64,
    /// 1 if the head has ranges.
    ranges: u64,
}

/// What ranks an entry, and its successor in the group (0: none).
#[derive(Clone, Default)]
struct Entry {
    priority: u32,
    next: u32,
    order: u64,
    ranges: Box<[Range]>,
}

/// What a lane has found so far.
#[derive(Clone, Copy)]
struct Best {
    handle: u32,
    priority: u32,
    order: u64,
}

impl Best {
    const NONE: Best = Best { handle: 0, priority: 0, order: u64::MAX };

    #[inline(always)]
    fn loses_to(&self, priority: u32, order: u64) -> bool {
        self.handle == 0 || priority > self.priority || priority == self.priority && order < self.order
    }
}

impl Ternary {
    /// An empty table. `seed` keys the hash of masked keys.
    pub fn new(shape: Shape, seed: u64) -> Result<Ternary, TableError> {
        check_shape(&shape)?;
        let group = Shape { key_len: shape.key_len + 4, value_len: size_of::<Group>(), capacity: shape.capacity };
        Ok(Ternary {
            shape,
            tuples: Vec::new(),
            free_tuples: Vec::new(),
            by_mask: BTreeMap::new(),
            visits: Vec::new(),
            groups: Exact::with_long_key(group, seed)?,
            entries: vec![Entry::default()],
            records: Records::new(shape.value_len, shape.capacity as u32)?,
            next_order: 0,
        })
    }

    /// Number of distinct masks: hash look-ups that a key costs at most.
    pub fn masks(&self) -> usize {
        self.visits.len()
    }

    /// Key of the group in `groups`.
    fn group_key(&self, tuple: u32, masked: &[u8]) -> Vec<u8> {
        [masked, &tuple.to_le_bytes()].concat()
    }

    fn group(&self, key: &[u8]) -> Option<Group> {
        self.groups.get(key).map(Group::from_bytes)
    }

    /// Tuple, predecessor in the chain (0: none) and handle of the entry.
    fn find(&self, rule: &Rule<'_>) -> Option<(u32, u32, u32)> {
        rule.check(&self.shape).ok()?;
        let tuple = *self.by_mask.get(rule.mask)?;
        let (mut before, mut at) = (0, self.group(&self.group_key(tuple, rule.value))?.head);
        while at != 0 {
            let entry = &self.entries[at as usize];
            if entry.priority == rule.priority && *entry.ranges == *rule.ranges {
                return Some((tuple, before, at));
            }
            (before, at) = (at, entry.next);
        }
        None
    }

    /// Writes the group's record for the chain that begins at `head`; without one, removes the group.
    fn set_group(&mut self, key: &[u8], head: u32) -> Result<(), TableError> {
        if head == 0 {
            return self.groups.remove(key);
        }
        let Entry { priority, order, ranges, .. } = &self.entries[head as usize];
        let group = Group { head, priority: *priority, order: *order, ranges: u64::from(!ranges.is_empty()) }.to_bytes();
        match self.groups.get_mut(key) {
            Some(record) => record.copy_from_slice(&group),
            None => {
                // There are no more groups than entries, so this one fits.
                self.groups.insert(key, &group)?;
            }
        }
        Ok(())
    }

    fn tuple_of(&mut self, mask: &[u8]) -> u32 {
        if let Some(tuple) = self.by_mask.get(mask) {
            return *tuple;
        }
        let number = self.free_tuples.pop().unwrap_or_else(|| {
            self.tuples.push(Tuple::default());
            self.tuples.len() as u32 - 1
        });
        let (mut and, mut or) = ([0; 8 * MAX_WORDS], [0; 8 * MAX_WORDS]);
        and[..mask.len()].copy_from_slice(mask);
        or[mask.len()..][..4].copy_from_slice(&number.to_le_bytes());
        self.tuples[number as usize] = Tuple { and: native_words(and), or: native_words(or), priorities: BTreeMap::new() };
        self.by_mask.insert(mask.into(), number);
        number
    }

    /// Counts an entry in (`more`) or out, and keeps `visits` in order.
    fn count(&mut self, number: u32, mask: &[u8], priority: u32, more: bool) {
        let key = |v: &Visit| (std::cmp::Reverse(v.max_priority), v.tuple);
        let tuple = &mut self.tuples[number as usize];
        let old = tuple.priorities.last_key_value().map(|(max, _)| *max);
        let entries = tuple.priorities.entry(priority).or_default();
        *entries = if more { *entries + 1 } else { *entries - 1 };
        if *entries == 0 {
            tuple.priorities.remove(&priority);
        }
        let new = tuple.priorities.last_key_value().map(|(max, _)| *max);
        if old != new {
            let visit = |max_priority| Visit { max_priority, tuple: number };
            if let Some(at) = old.and_then(|old| self.visits.binary_search_by_key(&key(&visit(old)), key).ok()) {
                self.visits.remove(at);
            }
            if let Some(new) = new.map(visit) {
                let at = self.visits.partition_point(|v| key(v) < key(&new));
                self.visits.insert(at, new);
            }
        }
        if new.is_none() {
            self.by_mask.remove(mask);
            self.free_tuples.push(number);
        }
    }

    /// The best of a chain whose ranges hold, if it beats `best`.
    fn chain(&self, group: &Group, key: &[u8], best: &mut Best) {
        let mut at = group.head;
        while at != 0 {
            let entry = &self.entries[at as usize];
            if !best.loses_to(entry.priority, entry.order) {
                return;
            }
            if entry.ranges.iter().all(|range| range.holds(key)) {
                *best = Best { handle: at, priority: entry.priority, order: entry.order };
                return;
            }
            at = entry.next;
        }
    }
}

impl Group {
    fn to_bytes(self) -> [u8; size_of::<Group>()] {
        let mut bytes = [0; size_of::<Group>()];
        bytes[..4].copy_from_slice(&self.head.to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.priority.to_ne_bytes());
        bytes[8..16].copy_from_slice(&self.order.to_ne_bytes());
        bytes[16..].copy_from_slice(&self.ranges.to_ne_bytes());
        bytes
    }

    fn from_bytes(record: &[u8]) -> Group {
        assert_eq!(record.len(), size_of::<Group>(), "a group's record");
        // SAFETY: that many bytes, any of which are a valid group.
        unsafe { record.as_ptr().cast::<Group>().read_unaligned() }
    }
}

fn native_words(bytes: [u8; 8 * MAX_WORDS]) -> [u64; MAX_WORDS] {
    std::array::from_fn(|i| u64::from_ne_bytes(std::array::from_fn(|b| bytes[8 * i + b])))
}

impl Table for Ternary {
    type Match<'a> = Rule<'a>;

    fn shape(&self) -> Shape {
        self.shape
    }

    fn len(&self) -> u64 {
        self.records.len().into()
    }

    fn insert(&mut self, rule: Rule<'_>, value: &[u8]) -> Result<*mut u8, TableError> {
        rule.check(&self.shape)?;
        check_value(&self.shape, value)?;
        if self.find(&rule).is_some() {
            return Err(TableError::Exists);
        }
        let handle = self.records.alloc().ok_or(TableError::Full { capacity: self.shape.capacity })?;
        let tuple = self.tuple_of(rule.mask);
        let key = self.group_key(tuple, rule.value);
        let head = self.group(&key).map_or(0, |group| group.head);
        // Behind all that win against it: those of higher, and the earlier ones of equal, priority.
        let (mut before, mut at) = (0, head);
        while at != 0 && self.entries[at as usize].priority >= rule.priority {
            (before, at) = (at, self.entries[at as usize].next);
        }
        if self.entries.len() <= handle as usize {
            self.entries.resize(handle as usize + 1, Entry::default());
        }
        self.entries[handle as usize] = Entry { priority: rule.priority, next: at, order: self.next_order, ranges: rule.ranges.into() };
        self.next_order += 1;
        self.count(tuple, rule.mask, rule.priority, true);
        if before == 0 {
            self.set_group(&key, handle)?;
        } else {
            self.entries[before as usize].next = handle;
        }
        let record = self.records.at(handle);
        // SAFETY: the record is `value_len` bytes of ours alone.
        unsafe { std::ptr::copy_nonoverlapping(value.as_ptr(), record, value.len()) };
        Ok(record)
    }

    fn remove(&mut self, rule: Rule<'_>) -> Result<(), TableError> {
        let (tuple, before, handle) = self.find(&rule).ok_or(TableError::Missing)?;
        let next = std::mem::take(&mut self.entries[handle as usize]).next;
        if before == 0 {
            self.set_group(&self.group_key(tuple, rule.value), next)?;
        } else {
            self.entries[before as usize].next = next;
        }
        self.count(tuple, rule.mask, rule.priority, false);
        self.records.release(handle);
        Ok(())
    }

    fn get(&self, rule: Rule<'_>) -> Option<&[u8]> {
        let (_, _, handle) = self.find(&rule)?;
        // SAFETY: a live record is `value_len` initialised bytes; changes need `&mut self`.
        Some(unsafe { std::slice::from_raw_parts(self.records.at(handle), self.shape.value_len) })
    }

    fn get_mut(&mut self, rule: Rule<'_>) -> Option<&mut [u8]> {
        let (_, _, handle) = self.find(&rule)?;
        // SAFETY: as in `get`, and `&mut self` excludes every other slice.
        Some(unsafe { std::slice::from_raw_parts_mut(self.records.at(handle), self.shape.value_len) })
    }

    unsafe fn lookup_burst(&self, keys: *const u8, stride: usize, n: usize, out: *mut *mut u8) -> u64 {
        let n = n.min(BURST);
        let key_words = self.shape.key_len.div_ceil(8);
        let group_words = (self.shape.key_len + 4).div_ceil(8);
        let mut best = [Best::NONE; BURST];
        let mut active: [u8; BURST] = std::array::from_fn(|i| i as u8);
        let mut actives = n;
        let mut masked = [0u64; BURST * MAX_WORDS];
        let mut found = [std::ptr::null_mut(); BURST];
        for visit in &self.visits {
            let mut still = 0;
            for a in 0..actives {
                let i = active[a];
                active[still] = i;
                let lane = &best[usize::from(i)];
                // An equal priority can still win, by having come first.
                still += usize::from(lane.handle == 0 || lane.priority <= visit.max_priority);
            }
            actives = still;
            if actives == 0 {
                break;
            }
            let tuple = &self.tuples[visit.tuple as usize];
            for (lane, to) in active[..actives].iter().zip(masked.chunks_exact_mut(group_words)) {
                for (w, word) in to.iter_mut().enumerate() {
                    let key = if w < key_words {
                        // SAFETY: the key's words are readable, as the caller promised.
                        unsafe { keys.add(usize::from(*lane) * stride).cast::<u64>().add(w).read_unaligned() }
                    } else {
                        0
                    };
                    *word = key & tuple.and[w] | tuple.or[w];
                }
            }
            // SAFETY: `masked` holds that many keys of whole words; `&self` excludes changes.
            let mut hits = unsafe { self.groups.lookup_burst(masked.as_ptr().cast(), 8 * group_words, actives, found.as_mut_ptr()) };
            while hits != 0 {
                let a = hits.trailing_zeros() as usize;
                hits &= hits - 1;
                let i = usize::from(active[a]);
                // SAFETY: a record of `groups` is a Group, aligned to 8 bytes.
                let group = unsafe { found[a].cast::<Group>().read() };
                if !best[i].loses_to(group.priority, group.order) {
                    continue;
                }
                if group.ranges == 0 {
                    best[i] = Best { handle: group.head, priority: group.priority, order: group.order };
                } else {
                    // SAFETY: the caller's key.
                    let key = unsafe { std::slice::from_raw_parts(keys.add(i * stride), self.shape.key_len) };
                    self.chain(&group, key, &mut best[i]);
                }
            }
        }
        let mut hits = 0;
        for (i, best) in best[..n].iter().enumerate() {
            let hit = best.handle != 0;
            // SAFETY: `out` takes `n` pointers.
            unsafe { *out.add(i) = if hit { self.records.at(best.handle) } else { std::ptr::null_mut() } };
            hits |= u64::from(hit) << i;
        }
        hits
    }
}
