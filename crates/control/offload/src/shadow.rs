//! A shadow of what both targets hold, to rebuild a fast target that was lost or refused some of it.

use crate::placed::{Identity, MeterAt, deletion, identity};
use program::{ActionId, Batch, CounterId, Entry, KeyMatch, MeterConfig, Mirror, Op, Program, Replica, TableId, ValueSetId};
use std::collections::{BTreeMap, BTreeSet};
use target_api::Count;

/// Everything that belongs to no session, as it should be. What was there once and is no more is known too, as it may still be there on a
/// target that has missed something.
#[derive(Default)]
pub(crate) struct Shadow {
    entries: BTreeMap<Identity, Entry>,
    entry_meters: BTreeMap<Identity, (Entry, Option<MeterConfig>)>,
    defaults: BTreeMap<TableId, (ActionId, Vec<u128>)>,
    meters: BTreeMap<MeterAt, Option<MeterConfig>>,
    mirrors: BTreeMap<u32, Option<Mirror>>,
    groups: BTreeMap<u16, Vec<Replica>>,
    values: BTreeMap<(ValueSetId, Vec<KeyMatch>), bool>,
}

impl Shadow {
    /// After a change.
    pub(crate) fn follow(&mut self, op: &Op) {
        match op {
            Op::Insert(e) | Op::Modify(e) => _ = self.entries.insert(identity(e), e.clone()),
            Op::Delete(e) => {
                let identity = identity(e);
                self.entries.remove(&identity);
                self.entry_meters.remove(&identity);
            }
            Op::SetDefault { table, action, args } => _ = self.defaults.insert(*table, (*action, args.clone())),
            Op::Meter { meter, index, config } => _ = self.meters.insert((*meter, *index), *config),
            Op::EntryMeter { entry, config } => _ = self.entry_meters.insert(identity(entry), (entry.clone(), *config)),
            Op::Mirror { session, to } => _ = self.mirrors.insert(*session, *to),
            Op::Multicast { group, replicas } => _ = self.groups.insert(*group, replicas.clone()),
            Op::InsertValue { set, member } => _ = self.values.insert((*set, member.clone()), true),
            Op::DeleteValue { set, member } => _ = self.values.insert((*set, member.clone()), false),
            Op::ClearCounter { .. } => {}
        }
    }

    /// All of it, for a target that holds no entries.
    fn ops(&self) -> impl Iterator<Item = Op> {
        let entries = self.entries.values().cloned().map(Op::Insert);
        let defaults =
            self.defaults.iter().map(|(table, (action, args))| Op::SetDefault { table: *table, action: *action, args: args.clone() });
        let meters = self.meters.iter().map(|((meter, index), config)| Op::Meter { meter: *meter, index: *index, config: *config });
        let of_entries = self.entry_meters.values().map(|(entry, config)| Op::EntryMeter { entry: entry.clone(), config: *config });
        let mirrors = self.mirrors.iter().map(|(session, to)| Op::Mirror { session: *session, to: *to });
        let groups = self.groups.iter().map(|(group, replicas)| Op::Multicast { group: *group, replicas: replicas.clone() });
        let there = self.values.iter().filter(|(_, there)| **there);
        let values = there.map(|((set, member), _)| Op::InsertValue { set: *set, member: member.clone() });
        entries.chain(defaults).chain(meters).chain(of_entries).chain(mirrors).chain(groups).chain(values)
    }
}

/// What a fast target that gets no packets any more may hold, and what it has missed.
#[derive(Default)]
pub(crate) struct Lost {
    entries: BTreeSet<Identity>,
    meters: BTreeSet<MeterAt>,
    /// Counters' cells that started over since, and what the fast target still shows for them.
    pub(crate) cleared: BTreeMap<(CounterId, u64), Count>,
}

impl Lost {
    /// A change that may have been made, or not.
    pub(crate) fn perhaps(&mut self, op: &Op, count: impl Fn(CounterId, u64) -> Count) {
        match op {
            Op::Insert(e) | Op::Modify(e) | Op::Delete(e) => _ = self.entries.insert(identity(e)),
            Op::Meter { meter, index, .. } => _ = self.meters.insert((*meter, *index)),
            Op::ClearCounter { counter, index } => _ = self.cleared.insert((*counter, *index), count(*counter, *index)),
            // The shadow has the rest.
            _ => {}
        }
    }

    /// Everything that both hold may be there.
    pub(crate) fn perhaps_shared(&mut self, shadow: &Shadow) {
        self.entries.extend(shadow.entries.keys().cloned());
    }

    /// What takes away all that may be there, one by one: some of it is there and some is not.
    pub(crate) fn deletions(&self, program: &Program, shadow: &Shadow) -> Vec<Op> {
        let values = shadow.values.keys().map(|(set, member)| Op::DeleteValue { set: *set, member: member.clone() });
        self.entries.iter().map(|e| deletion(program, e.clone())).chain(values).collect()
    }

    /// What brings an empty target after.
    pub(crate) fn rebuilding(&self, shadow: &Shadow) -> Batch {
        let meters = self.meters.iter().map(|(meter, index)| Op::Meter { meter: *meter, index: *index, config: None });
        let counters = self.cleared.keys().map(|(counter, index)| Op::ClearCounter { counter: *counter, index: *index });
        Batch { ops: meters.chain(counters).chain(shadow.ops()).collect() }
    }
}
