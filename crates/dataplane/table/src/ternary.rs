//! Ternary match with ranges and priorities.
//!
//! Rules are divided into parts by the bits that all rules of the table compare, if any are declared (an SDF filter's set): one hash look-up. A part
//! is a list in the order in which rules win ([`lists`]). A short one is read from the front; a longer one is cut into blocks of up to 512 rules, of
//! which bitmaps of a few bytes of the key leave one or two to compare ([`blocks`]). A part that outgrows that goes to a tuple space that all such parts
//! share ([`tuples`]): a hash look-up for each distinct mask.
//!
//! Measured in one run of `examples/table_speed.rs sdf` (filters of random prefixes, protocols, ports and ranges of ports, 16 masks; M look-ups a second on
//! one core of an AMD EPYC 9005), where priorities are random, and where narrow filters go first:
//!
//! | filters | lists and bitmaps | tuple space, were lists of 40 rules at most |
//! |---|---|---|
//! | 4096 in 1200 sets (read through) | 32, 35 | the same |
//! | 4096 in 64 sets | 38, 28 | 5.7, 7.8 |
//! | 4096 in 8 sets | 38, 17 | 5.4, 6.7 |
//! | 4096 in one set | 47, 7.2 | 10, 5.7 |
//! | 8192 in one set | 47, 3.9 | 5.8, 5.6 |
//!
//! The look-up in a list costs the blocks that it goes through until a rule matches, so a list of thousands whose keys match late is the
//! worst case; that of a tuple space, as many masks as rules, is far worse. A change rebuilds the bitmaps of its block, once per batch: 15 to 20 us for
//! a single filter, both sides together.

mod blocks;
mod lists;
mod tuples;

use crate::records::{Records, RecordsAt};
use crate::sides::{Index, Sides};
use crate::{BURST, Shape, Table, TableError, View, check_key, check_shape, check_value};
use lists::Lists;
use std::ffi::c_void;
use tuples::Tuples;

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

/// A ternary table. An entry's identity is the whole [`Rule`].
pub struct Ternary {
    shape: Shape,
    /// Bits that every rule compares.
    common: Box<[u8]>,
    sides: Sides<Rules>,
    records: Records,
    /// Of each handle the rule that has it in the latest side. For [`Ternary::for_each`].
    rules: Vec<Option<OwnedRule>>,
    len: u64,
    /// Number of the next insertion.
    next_order: u64,
}

/// Which form rules have whose common bits are the same, by their number. For tests, which reach each form with few rules by other limits.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Up to so many are compared one by one.
    pub scan: usize,
    /// More than so many are cut into blocks of their own, each with bitmaps; 2 to 512.
    pub block: usize,
    /// More than so many go to the tuple space.
    pub list: usize,
}

impl Default for Limits {
    fn default() -> Limits {
        // Reading through 16 rules of three words costs about what bitmaps do (34 and 38 M look-ups a second). A look-up in 8192 rules
        // goes through up to 32 blocks: where keys match late that costs somewhat more than 16 masks in a tuple space, where they match
        // early an eighth.
        Limits { scan: 16, block: 512, list: 8192 }
    }
}

/// From a key to a record's handle.
struct Rules {
    lists: Lists,
    tuples: Tuples,
    records: RecordsAt,
}

/// Adds a rule, gives one another handle, or takes one away.
struct Change {
    rule: OwnedRule,
    to: To,
}

enum To {
    /// Handle and place in the order of insertions of a new rule.
    Added(u32, u64),
    Handle(u32),
    Gone,
}

#[derive(Clone)]
struct OwnedRule {
    value: Box<[u8]>,
    mask: Box<[u8]>,
    ranges: Box<[Range]>,
    priority: u32,
}

impl OwnedRule {
    fn of(rule: Rule<'_>) -> OwnedRule {
        OwnedRule { value: rule.value.into(), mask: rule.mask.into(), ranges: rule.ranges.into(), priority: rule.priority }
    }

    fn view(&self) -> Rule<'_> {
        Rule { value: &self.value, mask: &self.mask, ranges: &self.ranges, priority: self.priority }
    }
}

/// The best that a key has found so far.
#[derive(Clone, Copy)]
struct Best {
    /// Its record, 0 for none.
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
        Self::with_common(shape, &vec![0; shape.key_len], seed)
    }

    /// The same for rules whose masks all have the bits of `common`, of `key_len` bytes; others are refused. The more these bits
    /// tell rules apart, the faster the table.
    pub fn with_common(shape: Shape, common: &[u8], seed: u64) -> Result<Ternary, TableError> {
        Self::with_limits(shape, common, seed, Limits::default())
    }

    /// The same with other limits.
    pub fn with_limits(shape: Shape, common: &[u8], seed: u64, limits: Limits) -> Result<Ternary, TableError> {
        check_shape(&shape)?;
        if !(2..=blocks::MAX_BLOCK).contains(&limits.block) {
            return Err(TableError::Invalid(format!("blocks of {} rules are not of 2 to {}", limits.block, blocks::MAX_BLOCK)));
        }
        check_key(&shape, common)?;
        let records = Records::new(shape.value_len, shape.capacity)?;
        let rules = || -> Result<Rules, TableError> {
            Ok(Rules { lists: Lists::new(&shape, common, seed, limits)?, tuples: Tuples::new(&shape, seed)?, records: records.places() })
        };
        let sides = Sides::new([rules()?, rules()?]);
        Ok(Ternary { shape, common: common.into(), sides, records, rules: Vec::new(), len: 0, next_order: 0 })
    }

    /// Number of distinct masks among the rules that are not in lists: hash look-ups that a key costs at most, beside that of its part.
    pub fn masks(&self) -> usize {
        self.sides.latest().tuples.masks()
    }

    /// Number of blocks of rules that have bitmaps.
    pub fn mapped_blocks(&self) -> usize {
        self.sides.read().lists.mapped_blocks()
    }

    /// Calls `each` with every rule and value, staged changes included, in no particular order.
    pub fn for_each(&self, mut each: impl FnMut(Rule<'_>, &[u8])) {
        for (handle, rule) in self.rules.iter().enumerate() {
            if let Some(rule) = rule {
                each(rule.view(), self.records.value(handle as u32));
            }
        }
    }

    /// Notes which rule has a handle from now on.
    fn note(&mut self, handle: u32, rule: Option<OwnedRule>) {
        let at = handle as usize;
        if self.rules.len() <= at {
            self.rules.resize_with(at + 1, || None);
        }
        self.rules[at] = rule;
    }

    fn check(&self, rule: &Rule<'_>) -> Result<(), TableError> {
        rule.check(&self.shape)?;
        if rule.mask.iter().zip(&self.common).any(|(mask, common)| !mask & common != 0) {
            return Err(TableError::Invalid("the mask lacks bits that every rule has to compare".into()));
        }
        Ok(())
    }

    fn find(&self, rule: &Rule<'_>) -> Option<u32> {
        self.check(rule).ok()?;
        self.sides.latest().get(rule)
    }

    fn change(&mut self, rule: Rule<'_>, to: To) {
        self.sides.change(Change { rule: OwnedRule::of(rule), to });
    }

    /// Takes back a record: when look-ups have ended that may read it, or at once if none ever could.
    fn retire(&mut self, rule: &Rule<'_>, handle: u32) {
        if self.sides.read().get(rule) == Some(handle) {
            self.records.retire(handle);
        } else {
            self.records.release(handle);
        }
    }
}

impl Table for Ternary {
    type Match<'a> = Rule<'a>;

    fn shape(&self) -> Shape {
        self.shape
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn stage_insert(&mut self, rule: Rule<'_>, value: &[u8]) -> Result<(), TableError> {
        self.check(&rule)?;
        check_value(&self.shape, value)?;
        if self.find(&rule).is_some() {
            return Err(TableError::Exists);
        }
        let full = TableError::Full { capacity: self.shape.capacity };
        if self.len == self.shape.capacity {
            return Err(full);
        }
        let handle = self.records.alloc_with(value).ok_or(full)?;
        self.change(rule, To::Added(handle, self.next_order));
        self.note(handle, Some(OwnedRule::of(rule)));
        self.next_order += 1;
        self.len += 1;
        Ok(())
    }

    fn stage_replace(&mut self, rule: Rule<'_>, value: &[u8]) -> Result<(), TableError> {
        check_value(&self.shape, value)?;
        let old = self.find(&rule).ok_or(TableError::Missing)?;
        let handle = self.records.alloc_with(value).ok_or(TableError::Full { capacity: self.shape.capacity })?;
        self.change(rule, To::Handle(handle));
        let owned = self.rules.get_mut(old as usize).and_then(Option::take);
        self.note(handle, owned);
        self.retire(&rule, old);
        Ok(())
    }

    fn stage_remove(&mut self, rule: Rule<'_>) -> Result<(), TableError> {
        let handle = self.find(&rule).ok_or(TableError::Missing)?;
        self.change(rule, To::Gone);
        self.note(handle, None);
        self.retire(&rule, handle);
        self.len -= 1;
        Ok(())
    }

    fn flip(&mut self) {
        self.sides.flip();
    }

    unsafe fn settle(&mut self) {
        // SAFETY: the caller's promise is the same.
        unsafe { self.sides.settle() };
        self.records.free_retired();
    }

    fn get(&self, rule: Rule<'_>) -> Option<&[u8]> {
        self.find(&rule).map(|handle| self.records.value(handle))
    }

    fn view(&self) -> View {
        View { lookup: lookup_burst, table: self.sides.current().cast(), exact: std::ptr::null() }
    }
}

impl Rules {
    fn get(&self, rule: &Rule<'_>) -> Option<u32> {
        if self.lists.is_large(rule.value) { self.tuples.get(rule) } else { self.lists.get(rule) }
    }
}

impl Index for Rules {
    type Change = Change;

    fn change(&mut self, Change { rule, to }: &Change) {
        let rule = rule.view();
        let large = self.lists.is_large(rule.value);
        match *to {
            To::Added(handle, order) if large => {
                self.lists.count(&rule, true);
                self.tuples.insert(&rule, handle, order);
            }
            To::Added(handle, order) => {
                for (rule, handle, order) in self.lists.insert(&rule, handle, order) {
                    self.tuples.insert(&rule.view(), handle, order);
                }
            }
            To::Handle(handle) if large => self.tuples.set(&rule, handle),
            To::Handle(handle) => self.lists.set(&rule, handle),
            To::Gone if large => {
                self.lists.count(&rule, false);
                self.tuples.remove(&rule);
            }
            To::Gone => self.lists.remove(&rule),
        }
    }

    fn finish(&mut self) {
        self.lists.finish();
    }
}

/// The [`crate::ffi::LookupFn`].
unsafe extern "C" fn lookup_burst(table: *const c_void, keys: *const u8, stride: usize, n: usize, out: *mut *mut u8) -> u64 {
    // SAFETY: a view of ours, in use as its contract says.
    let rules = unsafe { &*table.cast::<Rules>() };
    let n = n.min(BURST);
    let mut found = [0; BURST];
    // SAFETY: the caller's keys.
    let large = unsafe { rules.lists.burst(keys, stride, n, &mut found) };
    if large != 0 {
        let mut best = [Best::NONE; BURST];
        let mut lanes = [0u8; BURST];
        let mut count = 0;
        for i in (0..n).filter(|i| large >> i & 1 == 1) {
            lanes[count] = i as u8;
            count += 1;
        }
        // SAFETY: the caller's keys.
        unsafe { rules.tuples.burst(keys, stride, &lanes[..count], &mut best) };
        for lane in &lanes[..count] {
            found[usize::from(*lane)] = best[usize::from(*lane)].handle;
        }
    }
    let mut hits = 0;
    for (i, handle) in found[..n].iter().enumerate() {
        // SAFETY: `out` takes `n` pointers.
        unsafe { *out.add(i) = rules.records.found(*handle) };
        hits |= u64::from(*handle != 0) << i;
    }
    hits
}
