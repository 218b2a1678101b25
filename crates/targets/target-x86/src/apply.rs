//! Batches: first each change is checked against the tables, without changing anything; then all are staged where no lane sees them, and
//! made visible to all lanes at once.
//!
//! Lanes do not wait, and a burst sees all of a batch or none. Cells that generated code writes cannot have two sides:
//! counters are cleared by their own lane as it takes the batch over, and so are meters set while there is one lane; with more, a meter is
//! set under its lock just before the batch becomes visible, or, if it is to have no configuration, when no burst runs by the entries from before: what
//! these lead to the meter for would pass it.
//!
//! An agent applies millions of entries in a row, most of them to tables that exceed the cache: a batch's working memory
//! is kept for the next one, and the places of entries are prefetched while their keys are built.

use crate::abi::CMeter;
use crate::meters::MeterCell;
use crate::sets::Changed;
use crate::tables::{Identity, ProgramTable};
use crate::{Shared, State, Update};
use cranelift_entity::EntityRef;
use foldhash::fast::RandomState;
use hashbrown::HashTable;
use hashbrown::hash_table::Entry as Slot;
use program::{ApplyError, Batch, Entry, MeterConfig, MeterId, Op, RuleError};
use std::collections::{HashMap, hash_map};
use std::hash::{BuildHasher, Hasher};
use std::sync::Arc;

/// Changes of a batch whose working memory is kept for the next one; memory of larger batches is freed.
const KEPT_OPS: usize = 4096;

/// What a batch is worked on in.
#[derive(Default)]
pub(crate) struct Work {
    /// By operation; of those that are not about entries they mean nothing. There may be more, from batches before.
    identities: Vec<Identity>,
    rehearsal: Rehearsal,
}

/// What the batch itself has changed.
#[derive(Default)]
struct Rehearsal {
    /// Entries that it has met.
    known: HashTable<Known>,
    /// Entries of each table.
    lens: Vec<u64>,
    /// Members of the value sets that it changes.
    sets: Changed,
    /// Peers choose keys, so the hash is one that they cannot know.
    hash: RandomState,
}

struct Known {
    hash: u64,
    /// The first operation about it.
    op: usize,
    exists: bool,
}

/// Whether all of `batch` would be applied.
pub(crate) fn check(shared: &Shared, batch: &Batch) -> Result<(), ApplyError> {
    check_ops(shared, batch)?;
    work_on(shared, batch, |state, work| rehearse(shared, state, work, batch))
}

/// Applies all of `batch` or nothing. On return no burst is in flight that has not seen it.
pub(crate) fn apply(shared: &Shared, batch: &Batch) -> Result<(), ApplyError> {
    check_ops(shared, batch)?;
    work_on(shared, batch, |state, work| apply_checked(shared, state, work, batch))
}

fn check_ops(shared: &Shared, batch: &Batch) -> Result<(), ApplyError> {
    for (i, op) in batch.ops.iter().enumerate() {
        shared.program.check_op(i, op)?;
        let what = match op {
            Op::Mirror { .. } => "clone sessions",
            Op::Multicast { .. } => "multicast groups",
            _ => continue,
        };
        return Err(ApplyError::Unsupported { op: i, target: "x86".into(), what });
    }
    Ok(())
}

/// With the tables, and the working memory of the batch before.
fn work_on(shared: &Shared, batch: &Batch, on: impl FnOnce(&mut State, &mut Work) -> Result<(), RuleError>) -> Result<(), ApplyError> {
    let mut state = shared.control();
    let mut work = std::mem::take(&mut state.work);
    let result = on(&mut state, &mut work);
    if batch.ops.len() > KEPT_OPS {
        work = Work::default();
    }
    state.work = work;
    Ok(result?)
}

/// Goes through the batch without changing anything.
fn rehearse(shared: &Shared, state: &State, work: &mut Work, batch: &Batch) -> Result<(), RuleError> {
    if work.identities.len() < batch.ops.len() {
        work.identities.resize_with(batch.ops.len(), Identity::default);
    }
    for (op, identity) in batch.ops.iter().zip(&mut work.identities) {
        if let Some(entry) = entry_of(op) {
            let table = &state.tables[entry.table.index()];
            table.identify(entry, identity);
            table.prefetch(identity);
        }
    }
    work.rehearsal.run(shared, state, batch, &work.identities)
}

fn apply_checked(shared: &Shared, state: &mut State, work: &mut Work, batch: &Batch) -> Result<(), RuleError> {
    rehearse(shared, state, work, batch)?;
    let mut cells = CellChanges::of(batch);
    for meter in shared.program.meters.keys() {
        for index in state.meters[meter.index()].let_go() {
            set_meter(state, &mut cells, meter, index, None);
        }
    }
    state.sets.stage(&shared.program, &mut work.rehearsal.sets);
    for (op, identity) in batch.ops.iter().zip(&work.identities) {
        stage(shared, state, &mut cells, op, entry_of(op).map(|_| identity));
    }
    publish(shared, state, cells);
    Ok(())
}

/// Changes of what generated code writes.
#[derive(Default)]
pub(crate) struct CellChanges {
    /// Counter and cell.
    clears: Vec<(usize, u64)>,
    meters: Vec<(MeterCell, CMeter)>,
    /// Where in `meters` a meter's cell is.
    meter_at: HashMap<(usize, u64), usize, RandomState>,
    /// Meters and profiles that cells have had before.
    profiles: Vec<(usize, u32)>,
}

impl CellChanges {
    /// With room for those of a batch: one may bring hundreds of sessions.
    fn of(batch: &Batch) -> CellChanges {
        let count = |is: fn(&Op) -> bool| batch.ops.iter().filter(|op| is(op)).count();
        let (meters, clears) = (count(|op| matches!(op, Op::Meter { .. })), count(|op| matches!(op, Op::ClearCounter { .. })));
        CellChanges {
            clears: Vec::with_capacity(clears),
            meters: Vec::with_capacity(meters),
            meter_at: HashMap::with_capacity_and_hasher(meters, RandomState::default()),
            profiles: Vec::with_capacity(meters),
        }
    }
}

/// Shows lanes what is staged and has each take it over, or does so in its place while it rests; then clears up.
pub(crate) fn publish(shared: &Shared, state: &mut State, cells: CellChanges) {
    let lanes = shared.lanes();
    for table in &mut state.tables {
        table.flip();
    }
    let views = state.tables.iter().map(|t| (t.view(), t.miss(), t.is_small())).collect();
    let CellChanges { clears, mut meters, profiles, .. } = cells;
    let mut unset = Vec::new();
    if state.lanes != 1 || shared.cells_shared {
        for (cell, meter) in meters.drain(..) {
            match meter.profile {
                0 => unset.push(cell),
                _ => cell.set_locked(meter),
            }
        }
    }
    let update = Arc::new(Update { views, sets: state.sets.views(), clears, meters });
    for lane in lanes.iter() {
        lane.set_update(update.clone());
    }
    let epoch = shared.epoch.advance();
    for lane in lanes.iter() {
        lane.presence.wait_past(epoch);
        lane.take_update();
    }
    for cell in unset {
        cell.set_locked(CMeter::default());
    }
    for table in &mut state.tables {
        // SAFETY: every lane has been seen resting or in a burst that began after the flip.
        unsafe { table.settle() }
    }
    state.sets.settle();
    for (meter, profile) in profiles {
        state.meters[meter].give_back(profile);
    }
}

fn entry_of(op: &Op) -> Option<&Entry> {
    match op {
        Op::Insert(entry) | Op::Modify(entry) | Op::Delete(entry) | Op::EntryMeter { entry, .. } => Some(entry),
        _ => None,
    }
}

impl Rehearsal {
    /// Goes through the batch with what tables hold and what the batch itself changes before.
    fn run(&mut self, shared: &Shared, state: &State, batch: &Batch, identities: &[Identity]) -> Result<(), RuleError> {
        self.lens.clear();
        self.lens.extend(state.tables.iter().map(ProgramTable::len));
        self.known.clear();
        self.sets.clear();
        self.known.reserve(batch.ops.len(), |known| known.hash);
        for (i, op) in batch.ops.iter().enumerate() {
            let Some(entry) = entry_of(op) else {
                state.sets.rehearse(&shared.program, i, op, &mut self.sets)?;
                continue;
            };
            let table = &state.tables[entry.table.index()];
            let name = || shared.program.tables[entry.table].name.clone();
            let hash = self.hash(entry, &identities[i]);
            let same = |known: &Known| {
                let table = entry_of(&batch.ops[known.op]).map(|other| other.table);
                known.hash == hash && table == Some(entry.table) && identities[known.op] == identities[i]
            };
            let known = match self.known.entry(hash, same, |known| known.hash) {
                Slot::Occupied(known) => known.into_mut(),
                Slot::Vacant(slot) => slot.insert(Known { hash, op: i, exists: table.contains(&identities[i]) }).into_mut(),
            };
            let len = &mut self.lens[entry.table.index()];
            match op {
                Op::Insert(_) if known.exists => return Err(RuleError::Exists { op: i, table: name() }),
                Op::Insert(_) if *len >= table.capacity => {
                    return Err(RuleError::Full { op: i, table: name(), capacity: table.capacity });
                }
                Op::Insert(_) => {
                    *len += 1;
                    known.exists = true;
                }
                _ if !known.exists => return Err(RuleError::Missing { op: i, table: name() }),
                Op::Delete(_) => {
                    *len -= 1;
                    known.exists = false;
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn hash(&self, entry: &Entry, identity: &Identity) -> u64 {
        let mut hasher = self.hash.build_hasher();
        hasher.write_usize(entry.table.index());
        identity.hash_to(&mut hasher);
        hasher.finish()
    }
}

/// Stages one change, which fits as the rehearsal showed.
fn stage(shared: &Shared, state: &mut State, cells: &mut CellChanges, op: &Op, identity: Option<&Identity>) {
    const FITS: &str = "the rehearsal showed that it fits";
    match (op, identity) {
        (Op::Insert(e), Some(identity)) => {
            if let Some(handle) = state.tables[e.table.index()].insert(identity, e.action, &e.args).expect(FITS) {
                clear_direct(shared, state, cells, e, handle);
            }
        }
        (Op::Modify(e), Some(identity)) => state.tables[e.table.index()].replace(identity, e.action, &e.args).expect(FITS),
        (Op::Delete(e), Some(identity)) => state.tables[e.table.index()].remove(identity).expect(FITS),
        (Op::EntryMeter { entry, config }, Some(identity)) => {
            let meter = shared.program.tables[entry.table].direct_meter;
            let handle = state.tables[entry.table.index()].handle(identity);
            if let (Some(meter), Some(handle)) = (meter, handle) {
                set_meter(state, cells, meter, handle.into(), *config);
            }
        }
        (Op::Insert(_) | Op::Modify(_) | Op::Delete(_) | Op::EntryMeter { .. }, None) => unreachable!("entries have identities"),
        (Op::SetDefault { table, action, args }, _) => state.tables[table.index()].set_default(*action, args),
        (Op::Meter { meter, index, config }, _) => set_meter(state, cells, *meter, *index, *config),
        (Op::ClearCounter { counter, index }, _) => cells.clears.push((counter.index(), *index)),
        // Staged set by set.
        (Op::InsertValue { .. } | Op::DeleteValue { .. }, _) => {}
        (Op::Mirror { .. } | Op::Multicast { .. }, _) => unreachable!("refused before anything was staged"),
    }
}

/// A meter's cell, with full buckets.
fn set_meter(state: &mut State, cells: &mut CellChanges, meter: MeterId, index: u64, config: Option<MeterConfig>) {
    let of = &mut state.meters[meter.index()];
    let Some(cell) = of.cell(index) else { return };
    match config {
        None if of.owner_keeps(index) => return,
        _ => of.hold(index),
    }
    let set = of.take(config);
    match cells.meter_at.entry((meter.index(), index)) {
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

/// A new entry's direct counter begins at zero, and its meter is green, whatever entry had its number before. No lane uses a number that is
/// free.
fn clear_direct(shared: &Shared, state: &State, cells: &mut CellChanges, entry: &Entry, handle: u32) {
    let table = &shared.program.tables[entry.table];
    if let Some(counter) = table.direct_counter {
        for lane in shared.lanes().iter() {
            lane.clear(counter.index(), handle.into());
        }
    }
    let cell = table.direct_meter.and_then(|m| Some((m, state.meters[m.index()].cell(handle.into())?)));
    if let Some((meter, cell)) = cell
        && cell.profile() != 0
    {
        cells.profiles.push((meter.index(), cell.profile()));
        cell.set_locked(CMeter::default());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{LaneCells, Options, X86};
    use p4_ir::{Expr, Extern, Ir, LValue, Stmt, Ty};
    use program::CountUnit;
    use target_api::Target;

    /// A quota's cell is released in the batch by which packets are dropped for it.
    #[test]
    fn a_meter_that_is_unset_holds_until_no_burst_runs_by_the_entries_from_before() {
        let mut ir = Ir::v1model("meter.p4");
        let (meter, colour) = (ir.add_meter("quota", 2, CountUnit::Bytes), ir.add_var("meta.colour", Ty::Bit(2)));
        *ir.ingress_mut() = vec![Stmt::Extern(Extern::Meter { meter, index: Expr::bit(32, 1), result: LValue::Var(colour) })];
        p4_ir::verify(&ir).unwrap();
        let options = Options { flags: vec!["-O1".into()], ..Options::default() };
        let x86 = X86::load(Arc::new(ir.program.clone()), &p4_emit::emit_x86(&ir).unwrap(), &options).unwrap();
        let _used = [x86.lane(0), x86.lane(1)];
        let set = |config| x86.apply(&Batch { ops: vec![Op::Meter { meter, index: 1, config }] });
        set(Some(MeterConfig { cir: 0, cbs: 9, pir: 0, pbs: 9 })).unwrap();
        let cell = x86.shared.control().meters[meter.index()].cell(1).unwrap();
        let lanes: Vec<Arc<LaneCells>> = x86.shared.lanes().clone();
        let burst = lanes[1].presence.enter(&x86.shared.epoch);
        let began_with = burst.epoch;
        let is_visible = || lanes[0].presence.enter(&x86.shared.epoch).epoch > began_with;
        std::thread::scope(|scope| {
            let applied = scope.spawn(|| set(None));
            while !is_visible() {
                std::thread::yield_now();
            }
            let held = cell.profile();
            drop(burst);
            assert_eq!(applied.join().unwrap(), Ok(()));
            assert_ne!(held, 0, "packets of the burst that runs would pass");
        });
        assert_eq!(cell.profile(), 0);
    }
}
