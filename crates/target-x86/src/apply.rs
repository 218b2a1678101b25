//! Batches: first what each change would meet is found, without changing anything; then all are staged where no lane sees them, and
//! shown to all lanes at once.
//!
//! Lanes do not wait, and a burst sees all of a batch or nothing. What generated code itself writes cannot have two sides:
//! counters are cleared by their own lane as it takes the batch over, and so are meters set while there is one lane; with more, a meter is
//! set under its lock just before the batch is shown.

use crate::abi::CMeter;
use crate::meters::MeterCell;
use crate::tables::{Identity, ProgramTable};
use crate::{Shared, State, Update};
use cranelift_entity::EntityRef;
use program::{Batch, Entry, Op, RuleError, TableId};
use std::collections::{HashMap, hash_map};
use std::sync::Arc;

/// Applies all of `batch` or nothing. On return no burst is on its way that has not seen it.
pub(crate) fn apply(shared: &Shared, batch: &Batch) -> Result<(), RuleError> {
    for (i, op) in batch.ops.iter().enumerate() {
        shared.program.check_op(i, op)?;
        let missing = match op {
            Op::InsertValue { .. } | Op::DeleteValue { .. } => "members of value sets",
            Op::Mirror { .. } => "clone sessions",
            Op::Multicast { .. } => "multicast groups",
            _ => continue,
        };
        return Err(RuleError::Target(format!("the x86 target has no {missing} yet")));
    }
    let mut state = shared.control();
    let identities: Vec<_> = batch.ops.iter().map(|op| entry_of(op).map(|e| state.tables[e.table.index()].identity(e))).collect();
    rehearse(shared, &state, batch, &identities)?;
    let mut cells = CellChanges::default();
    for (op, identity) in batch.ops.iter().zip(&identities) {
        stage(shared, &mut state, &mut cells, op, identity.as_ref());
    }
    publish(shared, &mut state, cells);
    Ok(())
}

/// Changes of what generated code writes.
#[derive(Default)]
pub(crate) struct CellChanges {
    /// Counter and cell.
    clears: Vec<(usize, u64)>,
    meters: Vec<(MeterCell, CMeter)>,
    /// Where in `meters` a meter's cell is.
    meter_at: HashMap<(usize, u64), usize>,
    /// Meters and profiles that cells have had before.
    profiles: Vec<(usize, u32)>,
}

/// Shows lanes what is staged and has each take it over, or does so in its place while it rests; then clears up.
pub(crate) fn publish(shared: &Shared, state: &mut State, cells: CellChanges) {
    let lanes = shared.lanes();
    for table in &mut state.tables {
        table.flip();
    }
    let views = state.tables.iter().map(|t| (t.view(), t.miss())).collect();
    let CellChanges { clears, mut meters, profiles, .. } = cells;
    if state.lanes != 1 {
        for (cell, meter) in meters.drain(..) {
            cell.set_locked(meter);
        }
    }
    let update = Arc::new(Update { views, clears, meters });
    for lane in lanes.iter() {
        lane.set_update(update.clone());
    }
    let epoch = shared.epoch.advance();
    for lane in lanes.iter() {
        lane.presence.wait_past(epoch);
        lane.take_update();
    }
    for table in &mut state.tables {
        // SAFETY: every lane has been seen resting or in a burst that began after the flip.
        unsafe { table.settle() }
    }
    for (meter, profile) in profiles {
        state.meters[meter].give_back(profile);
    }
}

fn entry_of(op: &Op) -> Option<&Entry> {
    match op {
        Op::Insert(entry) | Op::Modify(entry) | Op::Delete(entry) => Some(entry),
        _ => None,
    }
}

/// Goes through the batch with what tables hold and what the batch itself changes before.
fn rehearse(shared: &Shared, state: &State, batch: &Batch, identities: &[Option<Identity>]) -> Result<(), RuleError> {
    let mut present: HashMap<(TableId, &Identity), bool> = HashMap::with_capacity(batch.ops.len());
    let mut lens: Vec<u64> = state.tables.iter().map(ProgramTable::len).collect();
    for (i, (op, identity)) in batch.ops.iter().zip(identities).enumerate() {
        let (Some(entry), Some(identity)) = (entry_of(op), identity) else { continue };
        let table = &state.tables[entry.table.index()];
        let name = || shared.program.tables[entry.table].name.clone();
        let exists = present.entry((entry.table, identity)).or_insert_with(|| table.contains(identity));
        let len = &mut lens[entry.table.index()];
        match op {
            Op::Insert(_) if *exists => return Err(RuleError::Exists { op: i, table: name() }),
            Op::Insert(_) if *len >= table.capacity => {
                return Err(RuleError::Full { op: i, table: name(), capacity: table.capacity });
            }
            Op::Insert(_) => {
                *len += 1;
                *exists = true;
            }
            _ if !*exists => return Err(RuleError::Missing { op: i, table: name() }),
            Op::Delete(_) => {
                *len -= 1;
                *exists = false;
            }
            _ => {}
        }
    }
    Ok(())
}

/// Stages one change, which fits as the rehearsal showed.
fn stage(shared: &Shared, state: &mut State, cells: &mut CellChanges, op: &Op, identity: Option<&Identity>) {
    const FITS: &str = "the rehearsal showed that it fits";
    match (op, identity) {
        (Op::Insert(e), Some(identity)) => {
            if let Some(handle) = state.tables[e.table.index()].insert(identity, e.action, &e.args).expect(FITS) {
                clear_direct(shared, e, handle);
            }
        }
        (Op::Modify(e), Some(identity)) => state.tables[e.table.index()].replace(identity, e.action, &e.args).expect(FITS),
        (Op::Delete(e), Some(identity)) => state.tables[e.table.index()].remove(identity).expect(FITS),
        (Op::Insert(_) | Op::Modify(_) | Op::Delete(_), None) => unreachable!("entries have identities"),
        (Op::SetDefault { table, action, args }, _) => state.tables[table.index()].set_default(*action, args),
        (Op::Meter { meter, index, config }, _) => {
            let of = &mut state.meters[meter.index()];
            let Some(cell) = of.cell(*index) else { return };
            let set = of.take(*config);
            match cells.meter_at.entry((meter.index(), *index)) {
                hash_map::Entry::Occupied(at) => {
                    let earlier = std::mem::replace(&mut cells.meters[*at.get()].1, set);
                    of.give_back(earlier.profile);
                }
                hash_map::Entry::Vacant(at) => {
                    at.insert(cells.meters.len());
                    cells.meters.push((cell, set));
                    cells.profiles.push((meter.index(), cell.profile()));
                }
            }
        }
        (Op::ClearCounter { counter, index }, _) => cells.clears.push((counter.index(), *index)),
        (Op::Mirror { .. } | Op::Multicast { .. } | Op::InsertValue { .. } | Op::DeleteValue { .. }, _) => {
            unreachable!("refused before anything was staged")
        }
    }
}

/// A new entry's direct counter begins at zero, whoever had its number before. No lane counts with a number that is free.
fn clear_direct(shared: &Shared, entry: &Entry, handle: u32) {
    let Some(counter) = shared.program.tables[entry.table].direct_counter else { return };
    for lane in shared.lanes().iter() {
        lane.clear(counter.index(), handle.into());
    }
}
