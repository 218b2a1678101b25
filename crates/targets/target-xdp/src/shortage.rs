//! Short tables: they lack entries for want of room, so packets that would look them up go to the slow path.
//!
//! Of tables that both targets hold in whole. One that lacks a rule gives wrong results; the next target has all of them. The other packets
//! stay. It lasts until the target starts over: entries that were refused are not known here, so it is not known when there is room again.

use crate::store::Refusal;
use cranelift_entity::EntityRef;
use program::packing::{TABLE_BITS, may_run_short};
use program::{Program, TableId};

/// By table.
pub struct Shortage {
    /// Whether the table may become short.
    may: Vec<bool>,
    handed_on: Vec<bool>,
    /// Since this batch, and why.
    new: Vec<(TableId, Refusal)>,
}

impl Shortage {
    /// None yet. `possible`: whether there is a next target, which has all entries.
    pub fn new(program: &Program, possible: bool) -> Shortage {
        let may: Vec<bool> = program.tables.values().map(|t| possible && may_run_short(t)).collect();
        Shortage { handed_on: vec![false; may.len()], may, new: Vec::new() }
    }

    /// Whether it is short, so that changes of it have no effect.
    pub fn has(&self, table: TableId) -> bool {
        self.handed_on[table.index()]
    }

    /// Whether the table becomes short with this batch, instead of the batch being refused.
    pub fn begin(&mut self, table: TableId, why: Refusal) -> bool {
        let at = table.index();
        let begins = self.may[at] && matches!(why, Refusal::Full | Refusal::Masks);
        if begins {
            self.handed_on[at] = true;
            self.new.push((table, why));
        }
        begins
    }

    /// Takes the batch back.
    pub fn undo(&mut self) {
        for (table, _) in self.new.drain(..) {
            self.handed_on[table.index()] = false;
        }
    }

    /// The batch is made. Gives what began with it.
    pub fn commit(&mut self) -> Vec<(TableId, Refusal)> {
        std::mem::take(&mut self.new)
    }

    /// The target has started over.
    pub fn clear(&mut self) {
        self.new.clear();
        self.handed_on.fill(false);
    }

    /// As packets read it.
    pub fn bits(&self) -> u32 {
        let of = |(t, handed_on): (usize, &bool)| u32::from(*handed_on) << t.min(TABLE_BITS - 1);
        self.handed_on.iter().enumerate().fold(0, |bits, at| bits | of(at))
    }
}
