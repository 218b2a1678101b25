//! Which sessions are on which target, and with which entries.

use program::{Entry, KeyMatch, MeterId, Op, Program, TableId};
use std::collections::{BTreeMap, BTreeSet};

/// What tells an entry from others.
pub(crate) type Identity = (TableId, Vec<KeyMatch>, u32);

pub(crate) fn identity(e: &Entry) -> Identity {
    (e.table, e.keys.clone(), e.priority)
}

/// The deletion of an entry.
pub(crate) fn deletion(program: &Program, (table, keys, priority): Identity) -> Op {
    Op::Delete(Entry { table, keys, priority, action: program.tables[table].default_action.0, args: Vec::new() })
}

/// A cell of an indexed meter.
pub(crate) type MeterAt = (MeterId, u64);

/// Whose a change is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// An entry of a session: where the session is.
    Entry,
    /// A meter's cell of a session: it goes along.
    Meter,
    /// All targets hold it.
    Shared,
}

/// Session 0 means no session: such entries are on all targets.
pub(crate) fn part(program: &Program, id: u64, op: &Op) -> Part {
    match op {
        Op::Insert(e) | Op::Modify(e) | Op::Delete(e) | Op::EntryMeter { entry: e, .. } if program.tables[e.table].split => Part::Entry,
        Op::Meter { .. } if id != 0 => Part::Meter,
        _ => Part::Shared,
    }
}

/// What of a session is on a stage in front of the base target: on one at most.
#[derive(Clone, Debug)]
pub(crate) struct OnStage {
    /// Which, from 0.
    pub(crate) stage: usize,
    pub(crate) entries: BTreeSet<Identity>,
    pub(crate) meters: BTreeSet<MeterAt>,
}

impl OnStage {
    /// Nothing so far.
    pub(crate) fn new(stage: usize) -> OnStage {
        OnStage { stage, entries: BTreeSet::new(), meters: BTreeSet::new() }
    }

    /// After changes that the stage has made.
    pub(crate) fn follow(&mut self, program: &Program, id: u64, ops: &[Op]) {
        for op in ops {
            match (part(program, id, op), op) {
                (Part::Entry, Op::Insert(e)) => _ = self.entries.insert(identity(e)),
                (Part::Entry, Op::Delete(e)) => _ = self.entries.remove(&identity(e)),
                (Part::Meter, Op::Meter { meter, index, config: Some(_) }) => _ = self.meters.insert((*meter, *index)),
                (Part::Meter, Op::Meter { meter, index, config: None }) => _ = self.meters.remove(&(*meter, *index)),
                _ => {}
            }
        }
    }

    /// What takes it away.
    pub(crate) fn deletions(self, program: &Program) -> Vec<Op> {
        let meters = self.meters.into_iter().map(|(meter, index)| Op::Meter { meter, index, config: None });
        self.entries.into_iter().map(|e| deletion(program, e)).chain(meters).collect()
    }
}

/// What the base target holds of a session, as far as moving it needs to know.
#[derive(Clone, Debug, Default)]
pub(crate) struct Held {
    /// Entries in `@split` tables.
    pub(crate) entries: u64,
    /// Configured meter cells.
    pub(crate) meters: Vec<MeterAt>,
    /// An entry has, or has had, a direct meter.
    pub(crate) direct_meters: bool,
    /// A static policy wants it in front, where it may be.
    wanted: bool,
}

/// The books.
#[derive(Default)]
pub(crate) struct Placed {
    /// Those on a stage in front.
    pub(crate) sessions: BTreeMap<u64, OnStage>,
    /// A tree: a hash table of a million would stop to grow.
    held: BTreeMap<u64, Held>,
    /// How many of them a static policy wants in front.
    pub(crate) wanted: u64,
    pub(crate) refused: u64,
    /// Sessions that left without being asked to: grown out of their room, or with their whole stage.
    pub(crate) left: BTreeSet<u64>,
}

impl Placed {
    /// What the base target holds of a session.
    pub(crate) fn held(&self, id: u64) -> Held {
        self.held.get(&id).cloned().unwrap_or_default()
    }

    /// Notes a batch that the base target has taken; tells what it held before.
    pub(crate) fn hold(&mut self, program: &Program, id: u64, ops: &[Op]) -> Held {
        let before = self.held(id);
        let mut held = before.clone();
        for op in ops {
            match (part(program, id, op), op) {
                (Part::Entry, Op::Insert(_)) => held.entries += 1,
                (Part::Entry, Op::Delete(_)) => held.entries = held.entries.saturating_sub(1),
                (Part::Entry, Op::EntryMeter { .. }) => held.direct_meters = true,
                (Part::Meter, Op::Meter { meter, index, config }) => {
                    held.meters.retain(|at| *at != (*meter, *index));
                    if config.is_some() {
                        held.meters.push((*meter, *index));
                    }
                }
                _ => {}
            }
        }
        if held.entries == 0 && held.meters.is_empty() {
            self.want(id, false);
            self.held.remove(&id);
            self.left.remove(&id);
        } else {
            self.held.insert(id, held);
        }
        before
    }

    /// Notes whether a static policy wants a session in front.
    pub(crate) fn want(&mut self, id: u64, wanted: bool) {
        let Some(held) = self.held.get_mut(&id) else { return };
        match (std::mem::replace(&mut held.wanted, wanted), wanted) {
            (false, true) => self.wanted += 1,
            (true, false) => self.wanted -= 1,
            _ => {}
        }
    }
}
