//! One table: how its entries are kept, found and changed.
//!
//! Three forms, by the kinds of its keys (P4_16 §14.2.1, v1model):
//! - **exact**: a hash map from the key fields;
//! - **longest prefix**: a hash map from the fields, the prefix field cut to its length, and that length; a look-up
//!   tries the lengths that occur, longest first;
//! - **ranked**, as soon as a key is ternary, range or optional: entries in the order in which they win (largest
//!   priority, then first inserted), in one list for each combination of the exact fields; the first match counts.
//!   A longest-prefix field in such a table only matches its prefix: the priority decides, as in BMv2.
//!
//! Callers have checked entries with [`program::Program::check_op`].

use crate::Count;
use crate::meter::MeterCell;
use base::Bits;
use p4_ir::{ActionId, TableId};
use program::{Entry, KeyMatch, MatchKind, TableInfo};
use std::collections::HashMap;

/// A table's entries, default action and statistics.
pub(crate) struct Table {
    id: TableId,
    keys: Vec<(MatchKind, u32)>,
    store: Store,
    /// What runs on a miss.
    pub default: (ActionId, Box<[u128]>),
    /// Entries that fit.
    pub capacity: u64,
    /// Entries held.
    pub len: u64,
    /// Look-ups that found an entry.
    pub hits: u64,
    /// Look-ups that did not.
    pub misses: u64,
    /// Cells of the direct counter, one an entry; empty without a direct counter or meter.
    pub direct: Vec<Count>,
    /// The configured cells of the direct meter, numbered as those of the counter.
    pub meters: HashMap<u32, MeterCell>,
    /// Whether entries have cells.
    celled: bool,
    free: Vec<u32>,
}

/// What an entry runs.
pub(crate) struct Slot {
    pub action: ActionId,
    pub args: Box<[u128]>,
    /// Index in [`Table::direct`] and [`Table::meters`].
    pub cell: u32,
    pub priority: u32,
}

type Fields = Box<[u128]>;

enum Store {
    Exact(HashMap<Fields, Slot>),
    Lpm {
        /// Position of the prefix field.
        at: usize,
        /// Number of entries by prefix length.
        lengths: Vec<u64>,
        map: HashMap<Fields, Slot>,
    },
    Ranked {
        /// Positions of the exact fields.
        exact: Vec<usize>,
        /// Entries in the order in which they win, by exact fields.
        lists: HashMap<Fields, Vec<Ranked>>,
    },
}

struct Ranked {
    keys: Box<[KeyMatch]>,
    slot: Slot,
}

/// Why an insert was refused.
#[derive(Debug)]
pub(crate) enum Refused {
    Exists,
    Full,
}

/// An entry that was taken out: what it takes to put it back exactly.
pub(crate) struct Removed {
    at: Fields,
    slot: Slot,
    /// Of a ranked table: the entry's position in its list, and its keys.
    position: usize,
    keys: Box<[KeyMatch]>,
}

impl Table {
    pub(crate) fn new(id: TableId, info: &TableInfo) -> Table {
        let keys: Vec<(MatchKind, u32)> = info.keys.iter().map(|k| (k.kind, k.width)).collect();
        let ranked = keys.iter().any(|(k, _)| !matches!(k, MatchKind::Exact | MatchKind::Lpm));
        let lpm = keys.iter().position(|(k, _)| *k == MatchKind::Lpm);
        let store = match lpm {
            _ if ranked => {
                let exact = (0..keys.len()).filter(|i| keys[*i].0 == MatchKind::Exact).collect();
                Store::Ranked { exact, lists: HashMap::new() }
            }
            Some(at) => Store::Lpm { at, lengths: vec![0; keys[at].1 as usize + 1], map: HashMap::new() },
            None => Store::Exact(HashMap::new()),
        };
        let default = (info.default_action.0, info.default_action.1.clone().into());
        let celled = info.direct_counter.is_some() || info.direct_meter.is_some();
        let mut table = Table {
            id,
            keys,
            store,
            default,
            capacity: info.size,
            len: 0,
            hits: 0,
            misses: 0,
            direct: vec![],
            meters: HashMap::new(),
            celled,
            free: vec![],
        };
        for e in &info.entries {
            // Of equal entries in the source the first one wins, and the source's entries always fit.
            let _ = table.put(e);
        }
        table
    }

    /// The entry that matches `fields`. A table without keys always misses. `scratch` is any buffer.
    pub(crate) fn find(&self, fields: &[u128], scratch: &mut Vec<u128>) -> Option<&Slot> {
        if fields.is_empty() {
            return None;
        }
        match &self.store {
            Store::Exact(map) => map.get(fields),
            Store::Lpm { at, lengths, map } => {
                scratch.clear();
                scratch.extend_from_slice(fields);
                scratch.push(0);
                let width = self.keys[*at].1;
                (0..=width).rev().filter(|len| lengths[*len as usize] > 0).find_map(|len| {
                    scratch[*at] = prefix(fields[*at], len, width);
                    scratch[fields.len()] = u128::from(len);
                    map.get(&scratch[..])
                })
            }
            Store::Ranked { exact, lists } => {
                scratch.clear();
                scratch.extend(exact.iter().map(|i| fields[*i]));
                let list = lists.get(&scratch[..])?;
                let matches = |r: &&Ranked| r.keys.iter().zip(&self.keys).zip(fields).all(|((m, (_, w)), v)| matches(m, *w, *v));
                list.iter().find(matches).map(|r| &r.slot)
            }
        }
    }

    /// Adds an entry, if it is new and there is room.
    pub(crate) fn insert(&mut self, e: &Entry) -> Result<(), Refused> {
        if self.find_entry(e).is_some() {
            return Err(Refused::Exists);
        }
        if self.len >= self.capacity {
            return Err(Refused::Full);
        }
        self.put(e)
    }

    /// Replaces what an entry runs, and gives what it ran before; `None` if there is no such entry.
    pub(crate) fn replace(&mut self, e: &Entry, action: ActionId, args: Box<[u128]>) -> Option<(ActionId, Box<[u128]>)> {
        let slot = self.find_entry_mut(e)?;
        Some((std::mem::replace(&mut slot.action, action), std::mem::replace(&mut slot.args, args)))
    }

    /// Takes an entry out. Its direct counter cell stays reserved until [`Table::release`].
    pub(crate) fn remove(&mut self, e: &Entry) -> Option<Removed> {
        let at = self.place(e);
        let mut of_ranked = (0, Box::default());
        let slot = match &mut self.store {
            Store::Exact(map) => map.remove(&at)?,
            Store::Lpm { lengths, map, .. } => {
                let slot = map.remove(&at)?;
                lengths[at[at.len() - 1] as usize] -= 1;
                slot
            }
            Store::Ranked { lists, .. } => {
                let list = lists.get_mut(&at)?;
                let i = position(list, e)?;
                let Ranked { keys, slot } = list.remove(i);
                if list.is_empty() {
                    lists.remove(&at);
                }
                of_ranked = (i, keys);
                slot
            }
        };
        self.len -= 1;
        Some(Removed { at, slot, position: of_ranked.0, keys: of_ranked.1 })
    }

    /// Undoes [`Table::remove`], if nothing has changed since.
    pub(crate) fn put_back(&mut self, removed: Removed) {
        let Removed { at, slot, position, keys } = removed;
        match &mut self.store {
            Store::Exact(map) => {
                map.insert(at, slot);
            }
            Store::Lpm { lengths, map, .. } => {
                lengths[at[at.len() - 1] as usize] += 1;
                map.insert(at, slot);
            }
            Store::Ranked { lists, .. } => lists.entry(at).or_default().insert(position, Ranked { keys, slot }),
        }
        self.len += 1;
    }

    /// Frees the direct counter and meter cell of a deleted entry.
    pub(crate) fn release(&mut self, removed: Removed) {
        if self.celled {
            self.meters.remove(&removed.slot.cell);
            self.free.push(removed.slot.cell);
        }
    }

    /// Sets a cell of the direct meter, and gives what it was.
    pub(crate) fn set_meter(&mut self, cell: u32, to: Option<MeterCell>) -> Option<MeterCell> {
        match to {
            Some(to) => self.meters.insert(cell, to),
            None => self.meters.remove(&cell),
        }
    }

    /// The direct counter and meter cell of an entry.
    pub(crate) fn cell(&self, e: &Entry) -> Option<u32> {
        self.find_entry(e).map(|s| s.cell)
    }

    /// All entries, in an order that depends only on them (ranked tables: the order of winning within equal priority).
    pub(crate) fn entries(&self) -> Vec<Entry> {
        let entry =
            |keys: Vec<KeyMatch>, s: &Slot| Entry { table: self.id, keys, priority: s.priority, action: s.action, args: s.args.to_vec() };
        let mut all: Vec<Entry> = match &self.store {
            Store::Exact(map) => map.iter().map(|(k, s)| entry(k.iter().map(|v| KeyMatch::Exact(*v)).collect(), s)).collect(),
            Store::Lpm { at, map, .. } => {
                let keys = |k: &Fields| {
                    let fields = k[..k.len() - 1].iter().enumerate();
                    let prefix_len = k[k.len() - 1] as u32;
                    fields.map(|(i, v)| if i == *at { KeyMatch::Lpm { value: *v, prefix_len } } else { KeyMatch::Exact(*v) }).collect()
                };
                map.iter().map(|(k, s)| entry(keys(k), s)).collect()
            }
            Store::Ranked { lists, .. } => {
                let mut lists: Vec<_> = lists.iter().collect();
                lists.sort_by(|a, b| a.0.cmp(b.0));
                let mut all: Vec<Entry> = lists.iter().flat_map(|(_, l)| l.iter()).map(|r| entry(r.keys.to_vec(), &r.slot)).collect();
                all.sort_by_key(|e| std::cmp::Reverse(e.priority));
                return all;
            }
        };
        all.sort_by(|a, b| a.keys.cmp(&b.keys));
        all
    }

    fn put(&mut self, e: &Entry) -> Result<(), Refused> {
        if self.find_entry(e).is_some() {
            return Err(Refused::Exists);
        }
        let at = self.place(e);
        let slot = Slot { action: e.action, args: e.args.clone().into(), cell: self.new_cell(), priority: e.priority };
        match &mut self.store {
            Store::Exact(map) => {
                map.insert(at, slot);
            }
            Store::Lpm { lengths, map, .. } => {
                lengths[at[at.len() - 1] as usize] += 1;
                map.insert(at, slot);
            }
            Store::Ranked { lists, .. } => {
                let list = lists.entry(at).or_default();
                // Behind all of its priority: the first one inserted wins.
                let i = list.partition_point(|r| r.slot.priority >= e.priority);
                list.insert(i, Ranked { keys: e.keys.clone().into(), slot });
            }
        }
        self.len += 1;
        Ok(())
    }

    fn new_cell(&mut self) -> u32 {
        if !self.celled {
            return 0;
        }
        if let Some(cell) = self.free.pop() {
            self.direct[cell as usize] = Count::default();
            return cell;
        }
        self.direct.push(Count::default());
        self.direct.len() as u32 - 1
    }

    fn find_entry(&self, e: &Entry) -> Option<&Slot> {
        let at = self.place(e);
        match &self.store {
            Store::Exact(map) | Store::Lpm { map, .. } => map.get(&at),
            Store::Ranked { lists, .. } => {
                let list = lists.get(&at)?;
                position(list, e).map(|i| &list[i].slot)
            }
        }
    }

    fn find_entry_mut(&mut self, e: &Entry) -> Option<&mut Slot> {
        let at = self.place(e);
        match &mut self.store {
            Store::Exact(map) | Store::Lpm { map, .. } => map.get_mut(&at),
            Store::Ranked { lists, .. } => {
                let list = lists.get_mut(&at)?;
                position(list, e).map(|i| &mut list[i].slot)
            }
        }
    }

    /// The key of the hash map under which the entry is kept.
    fn place(&self, e: &Entry) -> Fields {
        match &self.store {
            Store::Exact(_) => e.keys.iter().map(value).collect(),
            Store::Lpm { at, .. } => {
                let len = match e.keys[*at] {
                    KeyMatch::Lpm { prefix_len, .. } => prefix_len,
                    _ => 0,
                };
                e.keys.iter().map(value).chain([u128::from(len)]).collect()
            }
            Store::Ranked { exact, .. } => exact.iter().map(|i| value(&e.keys[*i])).collect(),
        }
    }
}

/// Where in a list sorted by falling priority the entry of this identity is.
fn position(list: &[Ranked], e: &Entry) -> Option<usize> {
    let from = list.partition_point(|r| r.slot.priority > e.priority);
    let of_priority = list[from..].iter().take_while(|r| r.slot.priority == e.priority);
    of_priority.enumerate().find(|(_, r)| *r.keys == *e.keys).map(|(i, _)| from + i)
}

/// Whether a field of `width` bits matches.
pub(crate) fn matches(m: &KeyMatch, width: u32, field: u128) -> bool {
    match *m {
        KeyMatch::Exact(v) => field == v,
        KeyMatch::Lpm { value, prefix_len } => prefix(field, prefix_len, width) == value,
        KeyMatch::Ternary { value, mask } => field & mask == value,
        KeyMatch::Range { low, high } => (low..=high).contains(&field),
        KeyMatch::Optional(v) => v.is_none_or(|v| field == v),
    }
}

/// The first `len` of `width` bits, the others zero.
fn prefix(value: u128, len: u32, width: u32) -> u128 {
    value & !Bits::mask(width.saturating_sub(len))
}

/// The value of an exact or prefix match.
fn value(m: &KeyMatch) -> u128 {
    match *m {
        KeyMatch::Exact(v) => v,
        KeyMatch::Lpm { value, .. } => value,
        KeyMatch::Ternary { .. } | KeyMatch::Range { .. } | KeyMatch::Optional(_) => 0,
    }
}
