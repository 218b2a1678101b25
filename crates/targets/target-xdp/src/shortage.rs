//! Which tables lack entries here, for want of room, so that packets that would look them up are handed on?
//!
//! Of tables that both targets hold in whole. One that lacks a rule gives wrong results; the next target has all of them. The other packets
//! stay. It lasts until the target begins anew: entries that were not taken are not known here, so nobody can tell when there is room again.

use crate::store::Refusal;
use cranelift_entity::EntityRef;
use program::packing::{TABLE_BITS, may_run_short};
use program::{Program, TableId};

/// By table.
pub struct Shortage {
    /// Whether its look-ups may be handed on.
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

    /// Whether it is handed on, and changes of it are of no effect.
    pub fn has(&self, table: TableId) -> bool {
        self.handed_on[table.index()]
    }

    /// Whether the table is handed on from this batch on, rather than that the batch is refused.
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

    /// The target has begun anew.
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
