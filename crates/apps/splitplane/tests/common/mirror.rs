//! What is in the targets' tables and meters: kept beside them, so that they can be emptied between cases.

use std::collections::{HashMap, HashSet};

use program::{Batch, Entry, KeyMatch, MatchKind, MeterId, Op, Program, TableId};
use target_api::Target;

/// Entries and configured meter cells.
#[derive(Default)]
pub(super) struct Mirror {
    entries: HashMap<Identity, Entry>,
    meters: HashSet<(MeterId, u64)>,
    /// All entries that ever were to be inserted.
    tried: HashMap<Identity, Entry>,
}

type Identity = (TableId, Vec<KeyMatch>, u32);

fn identity(program: &Program, e: &Entry) -> Identity {
    let ranked = program.tables[e.table].keys.iter().any(|k| !matches!(k.kind, MatchKind::Exact | MatchKind::Lpm));
    (e.table, e.keys.clone(), if ranked { e.priority } else { 0 })
}

impl Mirror {
    /// Remembers what a batch is to insert, whether or not a target takes it.
    pub(super) fn attempt(&mut self, program: &Program, batch: &Batch) {
        for op in &batch.ops {
            if let Op::Insert(e) = op {
                self.tried.insert(identity(program, e), e.clone());
            }
        }
    }

    /// Follows a batch that has been applied.
    pub(super) fn follow(&mut self, program: &Program, batch: &Batch) {
        let identity = |e: &Entry| identity(program, e);
        for op in &batch.ops {
            match op {
                Op::Insert(e) | Op::Modify(e) => drop(self.entries.insert(identity(e), e.clone())),
                Op::Delete(e) => drop(self.entries.remove(&identity(e))),
                Op::Meter { meter, index, config: Some(_) } => drop(self.meters.insert((*meter, *index))),
                Op::Meter { meter, index, config: None } => drop(self.meters.remove(&(*meter, *index))),
                // No entries, and nothing that the UPF uses.
                _ => {}
            }
        }
    }

    /// Entries of a table.
    pub(super) fn len(&self, table: TableId) -> u64 {
        self.entries.keys().filter(|(t, ..)| *t == table).count() as u64
    }

    /// What empties tables, meters and counters. Default actions are not restored: the tests do not change them.
    pub(super) fn emptying(&self, program: &Program) -> Batch {
        let entries = self.entries.values().map(|e| Op::Delete(e.clone()));
        let meters = self.meters.iter().map(|(meter, index)| Op::Meter { meter: *meter, index: *index, config: None });
        let counters = program.counters.iter().filter(|(_, c)| c.table.is_none());
        let cells = counters.flat_map(|(counter, c)| (0..c.size).map(move |index| Op::ClearCounter { counter, index }));
        Batch { ops: entries.chain(meters).chain(cells).collect() }
    }

    /// The same one by one, whatever a target has of it: after a difference they need not hold the same.
    pub(super) fn scrub(&self, program: &Program, target: &dyn Target) {
        let deletes = self.tried.values().map(|e| Op::Delete(e.clone()));
        let rest = self.emptying(program).ops.into_iter().filter(|op| !matches!(op, Op::Delete(_)));
        for op in deletes {
            // An entry that is not there is as good as one that goes.
            let _ = target.apply(&Batch { ops: vec![op] });
        }
        let _ = target.apply(&Batch { ops: rest.collect() });
    }
}
