//! One table of the program: which table type holds it, and entries as its keys and records.

use crate::LoadError;
use crate::abi::TableLayout;
use base::Bits;
use program::{ActionId, Entry, KeyMatch, MatchKind, TableInfo};
use std::hash::Hasher;
use table::{Direct, Exact, Lpm, Prefix, Range, Rule, Shape, Table, TableError, Ternary, View};
use target_api::Picker;

/// Keys of up to that many bytes index their records directly.
const DIRECT_LEN: usize = 2;
/// Most entries of a small table.
const SMALL: u64 = 1024;

/// Its entries and its default action.
pub(crate) struct ProgramTable {
    layout: TableLayout,
    kinds: Vec<MatchKind>,
    widths: Vec<u32>,
    store: Store,
    /// The default action's record, in words so that it is aligned; and earlier ones that lanes may still be reading.
    miss: Box<[u64]>,
    retired_misses: Vec<Box<[u64]>>,
    /// Entries that fit.
    pub capacity: u64,
    /// Numbers of entries that have been removed, to be given out again; only where a direct counter wants numbers.
    free: Vec<u32>,
    /// The same, of entries that lanes may still be counting.
    retired: Vec<u32>,
    next_handle: u32,
    /// Where a record is put together.
    record: Vec<u8>,
    /// Changes are staged.
    touched: bool,
}

enum Store {
    /// No key: the default action always runs.
    Keyless,
    Direct(Box<Direct>),
    Exact(Box<Exact>),
    Lpm(Box<Lpm>),
    Ternary(Box<Ternary>),
}

/// What an entry runs, and its number where it has one.
pub(crate) struct Held {
    pub action: ActionId,
    pub args: Vec<u128>,
    pub handle: Option<u32>,
}

/// What an entry matches, in the form of its table; equal for equal identities.
#[derive(Clone, Default, PartialEq, Eq, Debug)]
pub(crate) struct Identity {
    key: Vec<u8>,
    mask: Vec<u8>,
    ranges: Vec<Range>,
    /// Prefix length, or priority.
    number: u32,
}

impl ProgramTable {
    /// An empty table. `seed` keys its hash.
    pub(crate) fn new(info: &TableInfo, layout: TableLayout, seed: u64) -> Result<ProgramTable, LoadError> {
        let fail = |e: TableError| LoadError::Table { table: info.name.clone(), error: e.to_string() };
        let capacity = info.size.max(info.entries.len() as u64).max(1);
        let shape = Shape { key_len: layout.key_len, value_len: layout.record_len, capacity };
        let prefix = info.keys.iter().position(|k| k.kind == MatchKind::Lpm);
        let ranked = info.keys.iter().any(|k| !matches!(k.kind, MatchKind::Exact | MatchKind::Lpm));
        let store = match prefix {
            _ if info.keys.is_empty() => Store::Keyless,
            _ if ranked => {
                let mut common = vec![0; layout.key_len];
                for (field, key) in info.keys.iter().enumerate().filter(|(_, key)| key.kind == MatchKind::Exact) {
                    layout.put(&mut common, field, Bits::mask(key.width));
                }
                Store::Ternary(Box::new(Ternary::with_common(shape, &common, seed).map_err(fail)?))
            }
            Some(field) => {
                let exact_len = layout.fields[field].offset;
                Store::Lpm(Box::new(Lpm::new(shape, exact_len, seed).map_err(fail)?))
            }
            None if layout.key_len <= DIRECT_LEN => Store::Direct(Box::new(Direct::new(shape).map_err(fail)?)),
            None => Store::Exact(Box::new(Exact::new(shape, seed).map_err(fail)?)),
        };
        let miss = Box::default();
        let widths = info.keys.iter().map(|k| k.width).collect();
        let mut table = ProgramTable {
            layout,
            kinds: info.keys.iter().map(|k| k.kind).collect(),
            widths,
            store,
            miss,
            retired_misses: Vec::new(),
            capacity,
            free: Vec::new(),
            retired: Vec::new(),
            next_handle: 0,
            record: Vec::new(),
            touched: false,
        };
        table.set_default(info.default_action.0, &info.default_action.1);
        Ok(table)
    }

    /// Of its keys and records.
    pub(crate) fn layout(&self) -> &TableLayout {
        &self.layout
    }

    /// Where lanes look up that begin now; `None` while the table is empty.
    pub(crate) fn view(&self) -> Option<View> {
        if self.len() == 0 {
            return None;
        }
        match &self.store {
            Store::Keyless => None,
            Store::Direct(t) => Some(t.view()),
            Store::Exact(t) => Some(t.view()),
            Store::Lpm(t) => Some(t.view()),
            Store::Ternary(t) => Some(t.view()),
        }
    }

    /// Whether it has so few entries that they stay in the processor's caches.
    pub(crate) fn is_small(&self) -> bool {
        self.len() <= SMALL
    }

    /// The default action's record, which stays until the table has settled after it was given another.
    pub(crate) fn miss(&self) -> *const u8 {
        self.miss.as_ptr().cast()
    }

    /// Makes what is staged visible in the next [`ProgramTable::view`]; says whether anything was.
    pub(crate) fn flip(&mut self) -> bool {
        if self.touched {
            match &mut self.store {
                Store::Keyless => {}
                Store::Direct(t) => t.flip(),
                Store::Exact(t) => t.flip(),
                Store::Lpm(t) => t.flip(),
                Store::Ternary(t) => t.flip(),
            }
        }
        self.touched
    }

    /// Clears up after a flip.
    ///
    /// # Safety
    /// No lane is in a burst that began before the flip.
    pub(crate) unsafe fn settle(&mut self) {
        if std::mem::take(&mut self.touched) {
            // SAFETY: the caller's promise is the same.
            unsafe {
                match &mut self.store {
                    Store::Keyless => {}
                    Store::Direct(t) => t.settle(),
                    Store::Exact(t) => t.settle(),
                    Store::Lpm(t) => t.settle(),
                    Store::Ternary(t) => t.settle(),
                }
            }
        }
        self.free.append(&mut self.retired);
        self.retired_misses.clear();
    }

    /// Entries held, staged changes included.
    pub(crate) fn len(&self) -> u64 {
        match &self.store {
            Store::Keyless => 0,
            Store::Direct(t) => t.len(),
            Store::Exact(t) => t.len(),
            Store::Lpm(t) => t.len(),
            Store::Ternary(t) => t.len(),
        }
    }

    /// Whether its entries have numbers, for direct counters.
    pub(crate) fn numbered(&self) -> bool {
        self.layout.handle.is_some()
    }

    /// What runs on a miss, after the next flip.
    pub(crate) fn set_default(&mut self, action: ActionId, args: &[u128]) {
        let mut record = Vec::new();
        self.layout.write_record(&mut record, action, args, u32::MAX);
        let words = record.chunks(8).map(|bytes| {
            let mut eight = [0; 8];
            eight[..bytes.len()].copy_from_slice(bytes);
            u64::from_ne_bytes(eight)
        });
        let old = std::mem::replace(&mut self.miss, words.collect());
        self.retired_misses.push(old);
    }

    /// The identity of a checked entry.
    pub(crate) fn identity(&self, entry: &Entry) -> Identity {
        let mut id = Identity::default();
        self.identify(entry, &mut id);
        id
    }

    /// The same in the memory of another.
    pub(crate) fn identify(&self, entry: &Entry, id: &mut Identity) {
        let Identity { key, mask, ranges, number } = id;
        key.clear();
        key.resize(self.layout.key_len, 0);
        mask.clear();
        ranges.clear();
        *number = 0;
        if let Store::Ternary(_) = self.store {
            id.number = entry.priority;
            id.mask.resize(self.layout.key_len, 0);
            for (i, (key, width)) in entry.keys.iter().zip(&self.widths).enumerate() {
                self.rank(id, i, *key, Bits::mask(*width), *width);
            }
            return;
        }
        for (i, key) in entry.keys.iter().enumerate() {
            match *key {
                KeyMatch::Lpm { value, prefix_len } => {
                    self.layout.put(&mut id.key, i, value);
                    id.number = prefix_len;
                }
                KeyMatch::Exact(value) | KeyMatch::Ternary { value, .. } => self.layout.put(&mut id.key, i, value),
                KeyMatch::Range { low, .. } => self.layout.put(&mut id.key, i, low),
                KeyMatch::Optional(value) => self.layout.put(&mut id.key, i, value.unwrap_or(0)),
            }
        }
    }

    /// Asks the cache for where the entry of that identity is, or would be, in a table that may be larger than the cache.
    pub(crate) fn prefetch(&self, id: &Identity) {
        if let Store::Exact(t) = &self.store {
            t.prefetch(&id.key);
        }
    }

    /// One field of an entry of a ternary table.
    fn rank(&self, id: &mut Identity, field: usize, key: KeyMatch, all: u128, width: u32) {
        let (value, mask) = match key {
            KeyMatch::Exact(value) | KeyMatch::Optional(Some(value)) => (value, all),
            KeyMatch::Optional(None) => (0, 0),
            KeyMatch::Ternary { value, mask } => (value, mask),
            KeyMatch::Lpm { value, prefix_len } => (value, all & !Bits::mask(width - prefix_len.min(width))),
            KeyMatch::Range { low, high } if low == high => (low, all),
            KeyMatch::Range { low, high } => {
                if low > 0 || high < all {
                    let place = self.layout.fields[field];
                    id.ranges.push(Range { offset: place.offset, len: place.bytes, low, high });
                }
                (0, 0)
            }
        };
        self.layout.put(&mut id.key, field, value);
        self.layout.put(&mut id.mask, field, mask);
    }

    /// Whether there is an entry of that identity.
    pub(crate) fn contains(&self, id: &Identity) -> bool {
        self.record(id).is_some()
    }

    /// The number of the entry of that identity, where entries have numbers.
    pub(crate) fn handle(&self, id: &Identity) -> Option<u32> {
        self.layout.handle_of(self.record(id)?)
    }

    /// Offers all entries, with their actions, arguments and numbers.
    pub(crate) fn offer_to(&self, picker: &mut Picker<'_, Held>) {
        let mut keys = Vec::with_capacity(self.kinds.len());
        let mut offer = |keys: &[KeyMatch], priority: u32, record: &[u8]| {
            picker.offer(keys, priority, || {
                let (action, args) = self.layout.read_record(record);
                Held { action, args, handle: self.layout.handle_of(record) }
            });
        };
        let exact = |keys: &mut Vec<KeyMatch>, key: &[u8]| {
            keys.clear();
            keys.extend((0..self.kinds.len()).map(|field| KeyMatch::Exact(self.layout.get(key, field))));
        };
        match &self.store {
            Store::Keyless => {}
            Store::Direct(t) => t.for_each(|key, record| {
                exact(&mut keys, key);
                offer(&keys, 0, record);
            }),
            Store::Exact(t) => t.for_each(|key, record| {
                exact(&mut keys, key);
                offer(&keys, 0, record);
            }),
            Store::Lpm(t) => t.for_each(|prefix, record| {
                exact(&mut keys, prefix.key);
                for (key, kind) in keys.iter_mut().zip(&self.kinds) {
                    if let (KeyMatch::Exact(value), MatchKind::Lpm) = (*key, kind) {
                        *key = KeyMatch::Lpm { value, prefix_len: prefix.prefix_len };
                    }
                }
                offer(&keys, 0, record);
            }),
            Store::Ternary(t) => t.for_each(|rule, record| {
                keys.clear();
                keys.extend((0..self.kinds.len()).map(|field| self.unrank(&rule, field)));
                offer(&keys, rule.priority, record);
            }),
        }
    }

    /// The reverse of [`ProgramTable::rank`].
    fn unrank(&self, rule: &Rule<'_>, field: usize) -> KeyMatch {
        let (value, mask) = (self.layout.get(rule.value, field), self.layout.get(rule.mask, field));
        match self.kinds[field] {
            MatchKind::Exact => KeyMatch::Exact(value),
            MatchKind::Lpm => KeyMatch::Lpm { value, prefix_len: mask.count_ones() },
            MatchKind::Ternary => KeyMatch::Ternary { value, mask },
            MatchKind::Optional => KeyMatch::Optional((mask != 0).then_some(value)),
            MatchKind::Range if mask != 0 => KeyMatch::Range { low: value, high: value },
            MatchKind::Range => {
                let range = rule.ranges.iter().find(|range| range.offset == self.layout.fields[field].offset);
                let (low, high) = range.map_or((0, Bits::mask(self.widths[field])), |range| (range.low, range.high));
                KeyMatch::Range { low, high }
            }
        }
    }

    fn record(&self, id: &Identity) -> Option<&[u8]> {
        match &self.store {
            Store::Keyless => None,
            Store::Direct(t) => t.get(&id.key),
            Store::Exact(t) => t.get(&id.key),
            Store::Lpm(t) => t.get(Prefix { key: &id.key, prefix_len: id.number }),
            Store::Ternary(t) => t.get(id.rule()),
        }
    }

    /// Stages an entry; gives its number where entries have them.
    pub(crate) fn insert(&mut self, id: &Identity, action: ActionId, args: &[u128]) -> Result<Option<u32>, TableError> {
        let handle = self.numbered().then(|| self.free.last().copied().unwrap_or(self.next_handle));
        self.layout.write_record(&mut self.record, action, args, handle.unwrap_or(0));
        let record = &self.record;
        match &mut self.store {
            Store::Keyless => return Err(TableError::Invalid("a table without keys has no entries".into())),
            Store::Direct(t) => t.stage_insert(&id.key, record),
            Store::Exact(t) => t.stage_insert(&id.key, record),
            Store::Lpm(t) => t.stage_insert(Prefix { key: &id.key, prefix_len: id.number }, record),
            Store::Ternary(t) => t.stage_insert(id.rule(), record),
        }?;
        self.touched = true;
        if handle.is_some() && self.free.pop().is_none() {
            self.next_handle += 1;
        }
        Ok(handle)
    }

    /// Stages another action for an entry; its number stays.
    pub(crate) fn replace(&mut self, id: &Identity, action: ActionId, args: &[u128]) -> Result<(), TableError> {
        let handle = if self.numbered() { self.handle(id) } else { None };
        self.layout.write_record(&mut self.record, action, args, handle.unwrap_or(0));
        let record = &self.record;
        match &mut self.store {
            Store::Keyless => return Err(TableError::Missing),
            Store::Direct(t) => t.stage_replace(&id.key, record),
            Store::Exact(t) => t.stage_replace(&id.key, record),
            Store::Lpm(t) => t.stage_replace(Prefix { key: &id.key, prefix_len: id.number }, record),
            Store::Ternary(t) => t.stage_replace(id.rule(), record),
        }?;
        self.touched = true;
        Ok(())
    }

    /// Stages the removal of an entry.
    pub(crate) fn remove(&mut self, id: &Identity) -> Result<(), TableError> {
        let handle = if self.numbered() { self.handle(id) } else { None };
        match &mut self.store {
            Store::Keyless => return Err(TableError::Missing),
            Store::Direct(t) => t.stage_remove(&id.key),
            Store::Exact(t) => t.stage_remove(&id.key),
            Store::Lpm(t) => t.stage_remove(Prefix { key: &id.key, prefix_len: id.number }),
            Store::Ternary(t) => t.stage_remove(id.rule()),
        }?;
        self.touched = true;
        self.retired.extend(handle);
        Ok(())
    }
}

impl Identity {
    /// Feeds a hash with all of it.
    pub(crate) fn hash_to(&self, hasher: &mut impl Hasher) {
        hasher.write_u32(self.number);
        hasher.write(&self.key);
        hasher.write(&self.mask);
        for range in &self.ranges {
            hasher.write_usize(range.offset);
            hasher.write_u128(range.low);
            hasher.write_u128(range.high);
        }
    }

    fn rule(&self) -> Rule<'_> {
        Rule { value: &self.key, mask: &self.mask, ranges: &self.ranges, priority: self.number }
    }
}
