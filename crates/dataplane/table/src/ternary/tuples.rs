//! A tuple space: one hash look-up a distinct mask.
//!
//! Entries with the same mask form a tuple; within it, those with the same masked value form a group, a chain in the
//! order in which they win. A burst visits the tuples, highest priority first, masks its keys and looks the
//! groups up in one [`Exact`] for all tuples (the tuple's number is part of the key), until nothing better can come. Ranges are
//! checked along the chain. So a look-up costs the number of distinct masks (few where rules have few
//! shapes, such as TS 29.244 §5.2.1A SDF filters), and ranges that share mask and value a comparison each.

use super::{Best, Range, Rule};
use crate::hash::HashKey;
use crate::{BURST, Exact, MAX_KEY_LEN, Shape, Table, TableError};
use std::collections::BTreeMap;
use std::mem::MaybeUninit;

/// Words of the longest masked key and the number of its tuple.
const MAX_WORDS: usize = MAX_KEY_LEN / 8 + 1;

/// Rules by their masks.
pub(super) struct Tuples {
    key_len: usize,
    /// Tuples by number; those that no entry uses are in `free_tuples`.
    tuples: Vec<Tuple>,
    free_tuples: Vec<u32>,
    by_mask: BTreeMap<Box<[u8]>, u32>,
    /// Tuples in use in the order in which they are visited: highest priority first.
    visits: Vec<Visit>,
    /// From masked key and tuple to [`Group`].
    groups: Exact,
    /// By number; number 0 is none.
    entries: Vec<Entry>,
    free_entries: Vec<u32>,
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
    handle: u32,
    /// 1 if the head has ranges.
    ranges: u32,
}

/// What ranks an entry, and its successor in the group (0: none).
#[derive(Clone, Default)]
struct Entry {
    handle: u32,
    priority: u32,
    next: u32,
    order: u64,
    ranges: Box<[Range]>,
}

impl Tuples {
    /// No rules. `seed` keys the hash of masked keys.
    pub(super) fn new(shape: &Shape, seed: u64) -> Result<Tuples, TableError> {
        let group = Shape { key_len: shape.key_len + 4, value_len: size_of::<Group>(), capacity: shape.capacity };
        Ok(Tuples {
            key_len: shape.key_len,
            tuples: Vec::new(),
            free_tuples: Vec::new(),
            by_mask: BTreeMap::new(),
            visits: Vec::new(),
            groups: Exact::with_long_key(group, HashKey::new(seed))?,
            entries: vec![Entry::default()],
            free_entries: Vec::new(),
        })
    }

    /// Number of distinct masks: hash look-ups that a key costs at most.
    pub(super) fn masks(&self) -> usize {
        self.visits.len()
    }

    /// The handle of that rule.
    pub(super) fn get(&self, rule: &Rule<'_>) -> Option<u32> {
        self.find(rule).map(|(_, _, number)| self.entries[number as usize].handle)
    }

    /// Adds a new rule. `order` is its place among those of equal priority.
    pub(super) fn insert(&mut self, rule: &Rule<'_>, handle: u32, order: u64) {
        let tuple = self.tuple_of(rule.mask);
        let key = group_key(tuple, rule.value);
        let head = self.group(&key).map_or(0, |group| group.head);
        // Behind all that win against it: those of higher, and the earlier ones of equal, priority.
        let wins = |entry: &Entry| (entry.priority, std::cmp::Reverse(entry.order)) > (rule.priority, std::cmp::Reverse(order));
        let (mut before, mut at) = (0, head);
        while at != 0 && wins(&self.entries[at as usize]) {
            (before, at) = (at, self.entries[at as usize].next);
        }
        let number = self.free_entries.pop().unwrap_or_else(|| {
            self.entries.push(Entry::default());
            self.entries.len() as u32 - 1
        });
        self.entries[number as usize] = Entry { handle, priority: rule.priority, next: at, order, ranges: rule.ranges.into() };
        self.count(tuple, rule.mask, rule.priority, true);
        if before == 0 {
            self.set_group(&key, number);
        } else {
            self.entries[before as usize].next = number;
        }
    }

    /// Replaces the handle of an existing rule.
    pub(super) fn set(&mut self, rule: &Rule<'_>, handle: u32) {
        let (tuple, before, number) = self.find(rule).expect("a rule that is there");
        self.entries[number as usize].handle = handle;
        if before == 0 {
            self.set_group(&group_key(tuple, rule.value), number);
        }
    }

    /// Removes an existing rule.
    pub(super) fn remove(&mut self, rule: &Rule<'_>) {
        let (tuple, before, number) = self.find(rule).expect("a rule that is there");
        let next = std::mem::take(&mut self.entries[number as usize]).next;
        self.free_entries.push(number);
        if before == 0 {
            self.set_group(&group_key(tuple, rule.value), next);
        } else {
            self.entries[before as usize].next = next;
        }
        self.count(tuple, rule.mask, rule.priority, false);
    }

    fn group(&self, key: &[u8]) -> Option<Group> {
        self.groups.get(key).map(Group::from_bytes)
    }

    /// Tuple, predecessor in the chain (0: none) and number of the entry.
    fn find(&self, rule: &Rule<'_>) -> Option<(u32, u32, u32)> {
        let tuple = *self.by_mask.get(rule.mask)?;
        let (mut before, mut at) = (0, self.group(&group_key(tuple, rule.value))?.head);
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
    fn set_group(&mut self, key: &[u8], head: u32) {
        const FITS: &str = "there are no more groups than entries";
        if head == 0 {
            return self.groups.remove(key).expect("a group of the chain");
        }
        let Entry { handle, priority, order, ranges, .. } = &self.entries[head as usize];
        let group = Group { head, priority: *priority, order: *order, handle: *handle, ranges: u32::from(!ranges.is_empty()) }.to_bytes();
        match self.groups.get(key) {
            Some(_) => self.groups.replace(key, &group).expect(FITS),
            None => self.groups.insert(key, &group).expect(FITS),
        }
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
                *best = Best { handle: entry.handle, priority: entry.priority, order: entry.order };
                return;
            }
            at = entry.next;
        }
    }

    /// Looks for better than `best` for the keys with the numbers `lanes`, at most [`BURST`].
    ///
    /// # Safety
    /// Those keys are readable as [`crate::View::lookup_burst`] says, and no change runs at the same time.
    pub(super) unsafe fn burst(&self, keys: *const u8, stride: usize, lanes: &[u8], best: &mut [Best; BURST]) {
        let key_words = self.key_len.div_ceil(8);
        let group_words = (self.key_len + 4).div_ceil(8);
        let mut active = [0u8; BURST];
        active[..lanes.len()].copy_from_slice(lanes);
        let mut actives = lanes.len();
        let mut masked = [const { MaybeUninit::<u64>::uninit() }; BURST * MAX_WORDS];
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
                    word.write(key & tuple.and[w] | tuple.or[w]);
                }
            }
            // SAFETY: that many keys of whole words were written to `masked`; `&self` excludes changes.
            let mut hits = unsafe { self.groups.view().lookup_burst(masked.as_ptr().cast(), 8 * group_words, actives, found.as_mut_ptr()) };
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
                    best[i] = Best { handle: group.handle, priority: group.priority, order: group.order };
                } else {
                    // SAFETY: the caller's key.
                    let key = unsafe { std::slice::from_raw_parts(keys.add(i * stride), self.key_len) };
                    self.chain(&group, key, &mut best[i]);
                }
            }
        }
    }
}

/// Key of a group in `groups`.
fn group_key(tuple: u32, masked: &[u8]) -> Vec<u8> {
    [masked, &tuple.to_le_bytes()].concat()
}

impl Group {
    fn to_bytes(self) -> [u8; size_of::<Group>()] {
        let mut bytes = [0; size_of::<Group>()];
        bytes[..4].copy_from_slice(&self.head.to_ne_bytes());
        bytes[4..8].copy_from_slice(&self.priority.to_ne_bytes());
        bytes[8..16].copy_from_slice(&self.order.to_ne_bytes());
        bytes[16..20].copy_from_slice(&self.handle.to_ne_bytes());
        bytes[20..].copy_from_slice(&self.ranges.to_ne_bytes());
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
