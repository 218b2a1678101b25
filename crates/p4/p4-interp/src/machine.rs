//! The control plane's side: entries, meters, counters, registers, value sets; and what the packets' side works on.

use crate::Count;
use crate::meter::{MeterCell, SharedCells};
use crate::packet::PacketState;
use crate::run::replicate::Extra;
use crate::run::{self, Mode, Output, Standard};
use crate::table::{Refused, Removed, Table};
use crate::trace::{NoTrace, Tracer};
use base::{Bits, PortId};
use cranelift_entity::PrimaryMap;
use p4_ir::{CounterId, Ir, MeterId, RegisterId, TableId, ValueSetId, VerifyError};
use program::{ActionId, Batch, Digest, Entry, KeyMatch, Mirror, Op, Replica, RuleError};
use std::collections::{BTreeMap, HashMap};
use std::sync::Arc;

/// Most cells of all counters and registers together: their memory is allocated up front.
const MAX_CELLS: u64 = 1 << 26;

/// Why a program cannot run.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MachineError {
    /// The compiler's fault: the IR breaks its invariants.
    #[error("broken program: {}", .0.iter().map(|e| e.0.as_str()).collect::<Vec<_>>().join("; "))]
    Broken(Vec<VerifyError>),
    /// Counters and registers need too much memory.
    #[error("counters and registers have {cells} cells together, more than {MAX_CELLS}")]
    TooBig {
        /// How many.
        cells: u64,
    },
}

/// State of one table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableStats {
    /// Entries held.
    pub entries: u64,
    /// Entries that fit.
    pub capacity: u64,
    /// Look-ups that found an entry.
    pub hits: u64,
    /// Look-ups that did not.
    pub misses: u64,
}

/// A program with its tables and cells, ready for packets.
///
/// Ids given to it must be of its program; its methods panic on others. Cell indices and batches may be anything.
pub struct Machine {
    ir: Arc<Ir>,
    pub(crate) state: State,
    pub(crate) packet: PacketState,
    pub(crate) work: run::Work,
    standard: Standard,
}

/// What lasts from packet to packet.
pub(crate) struct State {
    pub tables: PrimaryMap<TableId, Table>,
    pub counters: PrimaryMap<CounterId, Vec<Count>>,
    /// The configured cells.
    pub meters: PrimaryMap<MeterId, HashMap<u64, MeterCell>>,
    /// Cells that are executed in their place.
    pub shared_meters: PrimaryMap<MeterId, Option<Box<dyn SharedCells>>>,
    pub registers: PrimaryMap<RegisterId, Vec<u128>>,
    pub value_sets: PrimaryMap<ValueSetId, Vec<Vec<KeyMatch>>>,
    /// Where the clones of each session go.
    pub mirrors: BTreeMap<u32, Mirror>,
    /// The copies of each multicast group.
    pub groups: BTreeMap<u16, Vec<Replica>>,
    /// State of the `random` extern: the same packets see the same numbers.
    pub random: u64,
}

impl Machine {
    /// Readies a program: its constant entries and default actions are in place, everything else is empty.
    pub fn new(ir: Arc<Ir>) -> Result<Machine, MachineError> {
        p4_ir::verify(&ir).map_err(MachineError::Broken)?;
        let program = &ir.program;
        let counted = program.counters.values().filter(|c| c.table.is_none()).map(|c| c.size);
        let cells = counted.chain(program.registers.values().map(|r| r.size)).fold(0, u64::saturating_add);
        if cells > MAX_CELLS {
            return Err(MachineError::TooBig { cells });
        }
        let counter_cells = |c: &program::CounterInfo| if c.table.is_none() { c.size as usize } else { 0 };
        let state = State {
            tables: program.tables.iter().map(|(id, info)| Table::new(id, info)).collect(),
            counters: program.counters.values().map(|c| vec![Count::default(); counter_cells(c)]).collect(),
            meters: program.meters.values().map(|_| HashMap::new()).collect(),
            shared_meters: program.meters.values().map(|_| None).collect(),
            registers: program.registers.values().map(|r| vec![r.initial; r.size as usize]).collect(),
            value_sets: ir.program.value_sets.values().map(|_| Vec::new()).collect(),
            mirrors: BTreeMap::new(),
            groups: BTreeMap::new(),
            random: 1,
        };
        let (packet, standard) = (PacketState::new(&ir), Standard::new(&ir));
        Ok(Machine { state, packet, standard, work: run::Work::default(), ir })
    }

    /// The program.
    pub fn ir(&self) -> &Arc<Ir> {
        &self.ir
    }

    /// Whether every change fits the program, without looking at what the tables hold.
    pub fn check(&self, batch: &Batch) -> Result<(), RuleError> {
        batch.ops.iter().enumerate().try_for_each(|(i, op)| self.ir.program.check_op(i, op))
    }

    /// Applies all of the batch, or, with an error, nothing: first every change is checked against the program, then
    /// they are made in order, and unmade if one does not fit what the tables hold.
    pub fn apply(&mut self, batch: &Batch) -> Result<(), RuleError> {
        for undo in self.make(batch)? {
            if let Undo::Removed(t, removed) = undo {
                self.state.tables[t].release(removed);
            }
        }
        Ok(())
    }

    /// Whether [`Machine::apply`] would apply the batch, as things are. Nothing has changed then.
    pub fn would_apply(&mut self, batch: &Batch) -> Result<(), RuleError> {
        let made = self.make(batch)?;
        made.into_iter().rev().for_each(|u| self.state.undo(u));
        Ok(())
    }

    /// Makes all changes, or, with an error, none; tells how to unmake them.
    fn make<'b>(&mut self, batch: &'b Batch) -> Result<Vec<Undo<'b>>, RuleError> {
        self.check(batch)?;
        let mut done = Vec::with_capacity(batch.ops.len());
        for (i, op) in batch.ops.iter().enumerate() {
            match self.state.apply_op(&self.ir, i, op) {
                Ok(undo) => done.push(undo),
                Err(e) => {
                    done.into_iter().rev().for_each(|u| self.state.undo(u));
                    return Err(e);
                }
            }
        }
        Ok(done)
    }

    /// Sets how many entries fit a table, in place of its declared size. Entries already there stay.
    pub fn set_capacity(&mut self, table: TableId, capacity: u64) {
        self.state.tables[table].capacity = capacity;
    }

    /// Sets what the program calls; without it a packet that calls a service is dropped with `SERVICE_DOWN`.
    pub fn set_services(&mut self, services: Box<dyn crate::Services>) {
        self.work.services = Some(services);
    }

    /// From now on packets execute those cells of an indexed meter, which another target configures.
    pub fn share_meter(&mut self, meter: MeterId, cells: Box<dyn SharedCells>) {
        self.state.shared_meters[meter] = Some(cells);
    }

    /// Sets the limits of a chip that is modelled; they hold in [`Mode::Subset`].
    pub fn set_limits(&mut self, limits: crate::Limits) {
        self.work.watch.limits = Some(limits);
    }

    /// Whether limits are set.
    pub fn is_limited(&self) -> bool {
        self.work.watch.limits.is_some()
    }

    /// How often packets asked for more than the limits allow.
    pub fn beyond(&self) -> crate::Beyond {
        self.work.watch.beyond
    }

    /// Entries, capacity, hits and misses of a table.
    pub fn table_stats(&self, table: TableId) -> TableStats {
        let t = &self.state.tables[table];
        TableStats { entries: t.len, capacity: t.capacity, hits: t.hits, misses: t.misses }
    }

    /// A table's entries, in an order that does not depend on that of their insertion (except among those of equal
    /// priority in tables where that decides).
    pub fn entries(&self, table: TableId) -> Vec<Entry> {
        self.state.tables[table].entries()
    }

    /// A cell of an indexed counter; zero beyond its end.
    pub fn counter(&self, counter: CounterId, index: u64) -> Count {
        let cell = usize::try_from(index).ok().and_then(|i| self.state.counters[counter].get(i));
        cell.copied().unwrap_or_default()
    }

    /// The direct counter of an entry of a table; `None` if there is no such entry or no counter.
    pub fn entry_count(&self, entry: &Entry) -> Option<Count> {
        self.ir.program.tables.get(entry.table)?.direct_counter?;
        let table = &self.state.tables[entry.table];
        let cell = table.cell(entry)?;
        table.direct.get(cell as usize).copied()
    }

    /// A cell of a register array; `None` beyond its end.
    pub fn register(&self, register: RegisterId, index: u64) -> Option<u128> {
        usize::try_from(index).ok().and_then(|i| self.state.registers[register].get(i)).copied()
    }

    /// Sets a cell of a register array to `value` modulo its width; tells whether there is such a cell.
    pub fn set_register(&mut self, register: RegisterId, index: u64, value: u128) -> bool {
        let mask = Bits::mask(self.ir.program.registers[register].width);
        let cell = usize::try_from(index).ok().and_then(|i| self.state.registers[register].get_mut(i));
        cell.map(|c| *c = value & mask).is_some()
    }

    /// The state of a configured meter cell.
    pub fn meter(&self, meter: MeterId, index: u64) -> Option<&MeterCell> {
        self.state.meters[meter].get(&index)
    }

    /// The same, to be changed.
    pub fn meter_mut(&mut self, meter: MeterId, index: u64) -> Option<&mut MeterCell> {
        self.state.meters[meter].get_mut(&index)
    }

    /// The state of an entry's direct meter; `None` if there is no such entry or its meter is not configured.
    pub fn entry_meter(&self, entry: &Entry) -> Option<&MeterCell> {
        let table = self.state.tables.get(entry.table)?;
        table.meters.get(&table.cell(entry)?)
    }

    /// Restarts the `random` extern from a seed.
    pub fn seed(&mut self, seed: u64) {
        self.state.random = seed;
    }

    /// Runs the program on one packet that came in by `port` at `now_ns`.
    pub fn process<'a>(&'a mut self, packet: &'a [u8], port: PortId, now_ns: u64, mode: Mode) -> Output<'a> {
        self.process_traced(packet, port, now_ns, mode, &mut NoTrace)
    }

    /// What the last packet became beside its own result: clones, multicast copies. In the order in which they were done.
    pub fn extra(&self) -> &[Extra] {
        &self.work.extra
    }

    /// The messages to the control plane since the last call, oldest first; at most [`MAX_DIGESTS`](crate::MAX_DIGESTS) wait.
    pub fn take_digests(&mut self) -> Vec<Digest> {
        std::mem::take(&mut self.work.digests)
    }

    /// Messages that found no room.
    pub fn lost_digests(&self) -> u64 {
        self.work.lost_digests
    }

    /// As [`Machine::process`], telling every step.
    pub fn process_traced<'a, T: Tracer>(
        &'a mut self,
        packet: &'a [u8],
        port: PortId,
        now_ns: u64,
        mode: Mode,
        tracer: &mut T,
    ) -> Output<'a> {
        let Machine { ir, state, packet: p, work, standard } = self;
        let input = run::Input { bytes: packet, port, now_ns, mode };
        let verdict = run::run(ir, standard, state, p, work, &input, tracer);
        let bytes = if run::rewrites(verdict.kind) { p.out.as_slice() } else { packet };
        Output { verdict, bytes }
    }
}

/// What unmakes one change.
enum Undo<'a> {
    Inserted(&'a Entry),
    Removed(TableId, Removed),
    Replaced(&'a Entry, ActionId, Box<[u128]>),
    Default(TableId, (ActionId, Box<[u128]>)),
    Meter(MeterId, u64, Option<MeterCell>),
    EntryMeter(TableId, u32, Option<MeterCell>),
    Counter(CounterId, u64, Count),
    ValueInserted(ValueSetId),
    ValueDeleted(ValueSetId, usize, Vec<KeyMatch>),
    Mirror(u32, Option<Mirror>),
    Multicast(u16, Vec<Replica>),
}

impl State {
    fn apply_op<'a>(&mut self, ir: &Ir, i: usize, op: &'a Op) -> Result<Undo<'a>, RuleError> {
        let name = |t: TableId| ir.program.tables[t].name.clone();
        match op {
            Op::Insert(e) => {
                let table = &mut self.tables[e.table];
                match table.insert(e) {
                    Ok(()) => Ok(Undo::Inserted(e)),
                    Err(Refused::Exists) => Err(RuleError::Exists { op: i, table: name(e.table) }),
                    Err(Refused::Full) => Err(RuleError::Full { op: i, table: name(e.table), capacity: table.capacity }),
                }
            }
            Op::Modify(e) => {
                let old = self.tables[e.table].replace(e, e.action, e.args.clone().into());
                let missing = || RuleError::Missing { op: i, table: name(e.table) };
                old.map(|(action, args)| Undo::Replaced(e, action, args)).ok_or_else(missing)
            }
            Op::Delete(e) => {
                let missing = || RuleError::Missing { op: i, table: name(e.table) };
                self.tables[e.table].remove(e).map(|r| Undo::Removed(e.table, r)).ok_or_else(missing)
            }
            Op::SetDefault { table, action, args } => {
                let new = (*action, args.clone().into());
                Ok(Undo::Default(*table, std::mem::replace(&mut self.tables[*table].default, new)))
            }
            Op::Meter { meter, index, config } => {
                let cells = &mut self.meters[*meter];
                let old = match config {
                    Some(config) => cells.insert(*index, MeterCell::new(*config)),
                    None => cells.remove(index),
                };
                Ok(Undo::Meter(*meter, *index, old))
            }
            Op::EntryMeter { entry, config } => {
                let table = &mut self.tables[entry.table];
                let cell = table.cell(entry).ok_or_else(|| RuleError::Missing { op: i, table: name(entry.table) })?;
                Ok(Undo::EntryMeter(entry.table, cell, table.set_meter(cell, config.map(MeterCell::new))))
            }
            Op::ClearCounter { counter, index } => {
                let cell = &mut self.counters[*counter][*index as usize];
                Ok(Undo::Counter(*counter, *index, std::mem::take(cell)))
            }
            Op::InsertValue { set, member } => {
                let info = &ir.program.value_sets[*set];
                let members = &mut self.value_sets[*set];
                if members.contains(member) {
                    return Err(RuleError::Exists { op: i, table: info.name.clone() });
                }
                if members.len() as u64 >= info.size {
                    return Err(RuleError::Full { op: i, table: info.name.clone(), capacity: info.size });
                }
                members.push(member.clone());
                Ok(Undo::ValueInserted(*set))
            }
            Op::DeleteValue { set, member } => {
                let members = &mut self.value_sets[*set];
                let missing = || RuleError::Missing { op: i, table: ir.program.value_sets[*set].name.clone() };
                let at = members.iter().position(|m| m == member).ok_or_else(missing)?;
                Ok(Undo::ValueDeleted(*set, at, members.remove(at)))
            }
            Op::Mirror { session, to } => Ok(Undo::Mirror(*session, self.set_mirror(*session, *to))),
            Op::Multicast { group, replicas } => Ok(Undo::Multicast(*group, self.set_group(*group, replicas.clone()))),
        }
    }

    fn undo(&mut self, undo: Undo<'_>) {
        match undo {
            Undo::Inserted(e) => {
                let table = &mut self.tables[e.table];
                if let Some(removed) = table.remove(e) {
                    table.release(removed);
                }
            }
            Undo::Removed(t, removed) => self.tables[t].put_back(removed),
            Undo::Replaced(e, action, args) => {
                self.tables[e.table].replace(e, action, args);
            }
            Undo::Default(t, default) => self.tables[t].default = default,
            Undo::Meter(m, index, Some(cell)) => {
                self.meters[m].insert(index, cell);
            }
            Undo::Meter(m, index, None) => {
                self.meters[m].remove(&index);
            }
            Undo::EntryMeter(t, cell, old) => {
                self.tables[t].set_meter(cell, old);
            }
            Undo::Counter(c, index, count) => self.counters[c][index as usize] = count,
            Undo::ValueInserted(set) => {
                self.value_sets[set].pop();
            }
            Undo::ValueDeleted(set, at, member) => self.value_sets[set].insert(at, member),
            Undo::Mirror(session, to) => {
                self.set_mirror(session, to);
            }
            Undo::Multicast(group, replicas) => {
                self.set_group(group, replicas);
            }
        }
    }

    fn set_mirror(&mut self, session: u32, to: Option<Mirror>) -> Option<Mirror> {
        match to {
            Some(to) => self.mirrors.insert(session, to),
            None => self.mirrors.remove(&session),
        }
    }

    fn set_group(&mut self, group: u16, replicas: Vec<Replica>) -> Vec<Replica> {
        let old = if replicas.is_empty() { self.groups.remove(&group) } else { self.groups.insert(group, replicas) };
        old.unwrap_or_default()
    }
}
