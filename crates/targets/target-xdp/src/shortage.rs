//! Short tables: they lack entries for want of room, so packets that would look them up go to the slow path.
//!
//! Of tables that both targets hold in whole. One that lacks a rule gives wrong results; the next target has all of them. The other packets
//! stay. It lasts until the target starts over: entries that were refused are not known here, so it is not known when there is room again.

use crate::store::Refusal;
use cranelift_entity::EntityRef;
use program::packing::{TABLE_BITS, may_run_short};
use program::{Program, TableId};

/// By table.
pub(crate) struct Shortage {
    /// Whether the table may become short.
    may: Vec<bool>,
    slow_path: Vec<bool>,
    /// Since this batch, and why.
    new: Vec<(TableId, Refusal)>,
}

impl Shortage {
    /// None yet. `possible`: whether there is a next target, which has all entries.
    pub(crate) fn new(program: &Program, possible: bool) -> Shortage {
        let may: Vec<bool> = program.tables.values().map(|t| possible && may_run_short(t)).collect();
        Shortage { slow_path: vec![false; may.len()], may, new: Vec::new() }
    }

    /// Whether it is short, so that changes of it have no effect.
    pub(crate) fn has(&self, table: TableId) -> bool {
        self.slow_path[table.index()]
    }

    /// Whether the table becomes short with this batch, instead of the batch being refused.
    pub(crate) fn begin(&mut self, table: TableId, why: Refusal) -> bool {
        let at = table.index();
        let begins = self.may[at] && matches!(why, Refusal::Full | Refusal::Masks);
        if begins {
            self.slow_path[at] = true;
            self.new.push((table, why));
        }
        begins
    }

    /// Takes the batch back.
    pub(crate) fn undo(&mut self) {
        for (table, _) in self.new.drain(..) {
            self.slow_path[table.index()] = false;
        }
    }

    /// The batch is made. Gives what began with it.
    pub(crate) fn commit(&mut self) -> Vec<(TableId, Refusal)> {
        std::mem::take(&mut self.new)
    }

    /// The target has started over.
    pub(crate) fn clear(&mut self) {
        self.new.clear();
        self.slow_path.fill(false);
    }

    /// As packets read it.
    pub(crate) fn bits(&self) -> u32 {
        let of = |(t, slow_path): (usize, &bool)| u32::from(*slow_path) << t.min(TABLE_BITS - 1);
        self.slow_path.iter().enumerate().fold(0, |bits, at| bits | of(at))
    }
}
