//! Batches: first what each change would meet is found, without changing anything; then all are made at once.

use crate::tables::Identity;
use crate::{Shared, State};
use cranelift_entity::EntityRef;
use program::{Batch, Entry, MeterConfig, Op, RuleError, TableId};
use std::collections::HashMap;
use std::sync::PoisonError;
use table::{Meter, TableError};

/// Applies all of `batch` or nothing.
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
    let _one_at_a_time = shared.control.lock().unwrap_or_else(PoisonError::into_inner);
    // Lanes go on meanwhile: only batches change tables, and this is the only one.
    let identities = rehearse(shared, batch)?;
    let mut state = shared.write();
    state.generation += 1;
    for (op, identity) in batch.ops.iter().zip(identities) {
        change(shared, &mut state, op, identity).map_err(|e| RuleError::Target(e.to_string()))?;
    }
    Ok(())
}

/// Goes through the batch with what tables hold and what the batch itself changes before; gives entries' identities.
fn rehearse(shared: &Shared, batch: &Batch) -> Result<Vec<Option<Identity>>, RuleError> {
    let state = shared.read();
    let mut present: HashMap<(TableId, Identity), bool> = HashMap::new();
    let mut lens: HashMap<TableId, u64> = HashMap::new();
    let mut identities = Vec::with_capacity(batch.ops.len());
    for (i, op) in batch.ops.iter().enumerate() {
        let (Op::Insert(entry) | Op::Modify(entry) | Op::Delete(entry)) = op else {
            identities.push(None);
            continue;
        };
        let table = &state.tables[entry.table.index()];
        let name = || shared.program.tables[entry.table].name.clone();
        let identity = table.identity(entry);
        let key = (entry.table, identity.clone());
        let exists = present.get(&key).copied().unwrap_or_else(|| table.contains(&identity));
        let len = lens.entry(entry.table).or_insert_with(|| table.len());
        match op {
            Op::Insert(_) if exists => return Err(RuleError::Exists { op: i, table: name() }),
            Op::Insert(_) if *len >= table.capacity => {
                return Err(RuleError::Full { op: i, table: name(), capacity: table.capacity });
            }
            Op::Insert(_) => {
                *len += 1;
                present.insert(key, true);
            }
            _ if !exists => return Err(RuleError::Missing { op: i, table: name() }),
            Op::Delete(_) => {
                *len -= 1;
                present.insert(key, false);
            }
            _ => {}
        }
        identities.push(Some(identity));
    }
    Ok(identities)
}

/// Makes one change, which fits as the rehearsal showed.
fn change(shared: &Shared, state: &mut State, op: &Op, identity: Option<Identity>) -> Result<(), TableError> {
    let identity = || identity.as_ref().ok_or_else(|| TableError::Invalid("an entry without identity".into()));
    match op {
        Op::Insert(e) => {
            if let Some(handle) = state.tables[e.table.index()].insert(identity()?, e.action, &e.args)? {
                clear_direct(shared, e, handle);
            }
        }
        Op::Modify(e) => state.tables[e.table.index()].replace(identity()?, e.action, &e.args)?,
        Op::Delete(e) => state.tables[e.table.index()].remove(identity()?)?,
        Op::SetDefault { table, action, args } => state.tables[table.index()].set_default(*action, args),
        Op::Meter { meter, index, config } => {
            let cell = config.map_or_else(Meter::default, |MeterConfig { cir, cbs, pir, pbs }| Meter::new(cir, cbs, pir, pbs, 0));
            let cells = &state.meters[meter.index()];
            if *index < cells.len() {
                // SAFETY: within the array, which has a meter's 64 bytes a cell; lanes are kept away by the write side.
                unsafe { cells.start::<Meter>().add(*index as usize).write(cell) }
            }
        }
        Op::ClearCounter { counter, index } => {
            for lane in shared.lanes().iter() {
                if let Some(cell) = lane.counters[counter.index()].counter(*index) {
                    cell.clear();
                }
            }
        }
        // Refused before.
        Op::Mirror { .. } | Op::Multicast { .. } | Op::InsertValue { .. } | Op::DeleteValue { .. } => {}
    }
    Ok(())
}

/// A new entry's direct counter begins at zero, whoever had its number before.
fn clear_direct(shared: &Shared, entry: &Entry, handle: u32) {
    let Some(counter) = shared.program.tables[entry.table].direct_counter else { return };
    for lane in shared.lanes().iter() {
        if let Some(cell) = lane.counters[counter.index()].counter(handle.into()) {
            cell.clear();
        }
    }
}
