//! What batches change, under one lock: tables, meters, and what packets see of both.

use crate::attach::Attached;
use crate::cells::Cells;
use crate::keep::Folder;
use crate::meters::Meter;
use crate::object::Object;
use crate::shortage::Shortage;
use crate::store::{Refusal, Store};
use crate::sys::Shared;
use crate::waits::Waits;
use cranelift_entity::EntityRef;
use program::packing::TABLE_BITS;
use program::{MeterId, Op, TableId};
use std::sync::Arc;
use std::sync::atomic::Ordering;

/// `struct sp_control`: the generation and which of its tables are empty, whether others hold what is not here, which tables they alone hold
/// whole, the two words of `target_api::InFlight`'s clock, and its length.
pub(crate) const GENERATION: usize = 0;
pub(crate) const SUBSET: usize = 8;
pub(crate) const SLOW_PATH: usize = 12;
pub(crate) const CLOCK: usize = 16;
pub(crate) const CONTROL: usize = CLOCK + 8 * target_api::CLOCK_WORDS;
/// After it generations are renumbered: the numbers above mean that something has no end, or is not seen yet.
pub(crate) const LAST_GENERATION: u32 = u32::MAX - 2;

/// What batches change.
pub(crate) struct State {
    pub object: Object,
    pub stores: Vec<Store>,
    pub shortage: Shortage,
    pub meters: Vec<Meter>,
    pub control: Shared,
    pub generation: u32,
    pub first_generation: u32,
    /// Whether packets may be in flight that see the last generation before the first one.
    pub renumbered: bool,
    pub waits: Arc<Waits>,
    pub attached: Vec<Attached>,
    /// Where the program stays when the process ends.
    pub kept: Option<Folder>,
    /// Whether all packets go to the slow path, those of interfaces that are not live yet included.
    pub retired: bool,
}

/// Why an op was refused.
pub(crate) enum Refused {
    Entry(Refusal),
    /// A meter with too many different rates.
    Rates(MeterId),
    /// There is nothing like that here.
    Lacks(&'static str),
}

/// What becomes of a meter's or counter's cell.
#[derive(Clone, Copy)]
pub(crate) enum CellChange {
    /// The profile, and whether there is to be one.
    Meter {
        profile: u32,
        configured: bool,
    },
    Clear,
}

/// A change of a cell: the array's number, the cell and what.
pub(crate) type CellOp = (usize, u64, CellChange);

/// A batch that is written where no packet sees it.
pub(crate) struct Staged {
    /// Entries of each store before.
    pub(crate) lens: Vec<u64>,
    /// What becomes of cells.
    pub(crate) cells: Vec<CellOp>,
}

impl Staged {
    /// As if it had never been.
    pub(crate) fn undo(self, state: &mut State) {
        for (store, len) in state.stores.iter_mut().zip(self.lens) {
            store.undo();
            store.set_len(len);
        }
        state.shortage.undo();
        for (array, _, change) in self.cells {
            if let CellChange::Meter { profile, .. } = change {
                state.meters[array].give_back(profile);
            }
        }
    }
}

impl State {
    /// Sees to it that there is a generation for one more batch.
    pub(crate) fn next_generation(&mut self) -> std::io::Result<()> {
        if self.generation >= LAST_GENERATION {
            // Packets that end meanwhile need nothing that ended before this generation; those in flight see it.
            self.waits.wait()?;
            self.stores.iter_mut().for_each(Store::renumber);
            self.waits.renumber(self.first_generation);
            (self.generation, self.renumbered) = (self.first_generation, true);
            self.show();
        }
        if self.renumbered {
            // To those of before, entries of later generations would look old.
            self.waits.wait()?;
            self.renumbered = false;
        }
        Ok(())
    }

    pub(crate) fn op(&mut self, op: &Op, cells: &mut Vec<CellOp>) -> Result<(), Refused> {
        let table = match op {
            Op::Insert(e) | Op::Modify(e) | Op::Delete(e) | Op::EntryMeter { entry: e, .. } => Some(e.table),
            Op::SetDefault { table, .. } => Some(*table),
            _ => None,
        };
        if table.is_some_and(|t| self.shortage.has(t)) {
            return Ok(());
        }
        match (self.change(op, cells), table) {
            (Err(Refused::Entry(why)), Some(table)) if self.shortage.begin(table, why) => Ok(()),
            (done, _) => done,
        }
    }

    fn change(&mut self, op: &Op, cells: &mut Vec<CellOp>) -> Result<(), Refused> {
        match op {
            Op::Insert(e) => self.stores[e.table.index()].insert(e).map_err(Refused::Entry),
            Op::Modify(e) => self.stores[e.table.index()].modify(e).map_err(Refused::Entry),
            Op::Delete(e) => self.stores[e.table.index()].delete(e).map_err(Refused::Entry),
            Op::SetDefault { table, action, args } => {
                self.stores[table.index()].set_default(*action, args);
                Ok(())
            }
            Op::Meter { meter, index, config } => {
                let profile = self.meters[meter.index()].take(*config).ok_or(Refused::Rates(*meter))?;
                cells.push((meter.index(), *index, CellChange::Meter { profile, configured: config.is_some() }));
                Ok(())
            }
            Op::Mirror { .. } => Err(Refused::Lacks("clone sessions")),
            Op::Multicast { .. } => Err(Refused::Lacks("multicast groups")),
            Op::InsertValue { .. } | Op::DeleteValue { .. } => Err(Refused::Lacks("value sets")),
            Op::EntryMeter { .. } => Err(Refused::Lacks("direct meters")),
            Op::ClearCounter { counter, index } => {
                cells.push((counter.index(), *index, CellChange::Clear));
                Ok(())
            }
        }
    }

    /// Gives the tables that are short from now on.
    pub(crate) fn commit(&mut self, counted: &Cells, cells: &[CellOp]) -> Vec<(TableId, Refusal)> {
        let next = self.generation + 1;
        for (array, index, change) in cells {
            match change {
                CellChange::Clear => counted.clear(*array, *index),
                CellChange::Meter { profile, configured } => self.meters[*array].set(*index, *profile, *configured),
            }
        }
        for (i, store) in self.stores.iter_mut().enumerate() {
            for cell in store.take_direct_clear() {
                if let Some(counter) = counted.direct[i] {
                    counted.clear(counter, cell.into());
                }
            }
            store.release_direct();
            store.commit(next);
        }
        self.generation = next;
        self.show();
        self.waits.move_on(next);
        self.shortage.commit()
    }

    /// Until no packet is in flight that saw what batches have taken away: its cells can be used again.
    pub(crate) fn wait_for_packets(&mut self) -> std::io::Result<()> {
        self.waits.wait()?;
        self.stores.iter_mut().for_each(Store::unlink);
        Ok(())
    }

    /// From now on packets that begin see the generation.
    pub(crate) fn show(&self) {
        let slow_path = self.shortage.bits();
        let bit =
            |(t, store): (usize, &Store)| u64::from(t < TABLE_BITS && store.is_empty() && slow_path >> t & 1 == 0) << (t % TABLE_BITS);
        let empty: u64 = self.stores.iter().enumerate().map(bit).sum();
        // Before the generation that lacks something.
        self.control.word(SLOW_PATH).store(slow_path, Ordering::Release);
        // One word, so that a packet finds the tables of its generation empty or not.
        self.control.long(GENERATION).store(empty << 32 | u64::from(self.generation), Ordering::Release);
    }
}
