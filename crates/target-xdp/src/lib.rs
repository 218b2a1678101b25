//! A program in the kernel's XDP hook: C text (from `p4-emit`) compiled by clang, verified by the kernel, on tables that user
//! space writes directly into the programs' memory.
//!
//! It holds a subset of the sessions, cannot buffer or punt, and hands what it misses to the next target unchanged, through an
//! AF_XDP socket or, where there is none, up the kernel's stack.
//!
//! - **Batches** ([`store`]): every cell is stamped with the generations that see it; a packet reads the generation once, so it
//!   sees a batch whole or not at all. One exception: meter cells and cleared counters change just before the entries do.
//! - **Tables** are array maps mapped into this process: a change costs no system call. Exact ones are hash tables with their
//!   entries in the home cells; the others look through the masks in use, at most 64 of them.
//! - **Counters** have a row of cells for each core and are summed when they are read.
//! - **Meters** are exact while one core sees a cell's packets one by one; cores that meet wait for each other for a bounded
//!   time. Buckets above 9.2 × 10^9 units are refused.
//! - **On interfaces** ([`Xdp::attach`]) it meets packets before the engine does, keeps a ledger of what it carried, and hands
//!   the rest to AF_XDP sockets. It stays only as long as this process, however that ends.
//!
//! [`Xdp::lane`] runs packets through the program without an interface (BPF_PROG_TEST_RUN): how it is compared with the
//! interpreter. Packets below 14 bytes (but see
//! [`Options::short_packets`]) and above 3,500 do not pass there, and are handed on.
#![warn(missing_docs)]

mod attach;
mod compile;
mod digests;
mod features;
mod lane;
pub mod object;
mod store;
pub mod sys;

pub use attach::{Mode, sends_redirected, socket_key};

use attach::Attached;
use base::{DropReason, PortId};
use cranelift_entity::EntityRef;
use digests::Digests;
use lane::{HandingOn, XdpLane};
use object::{Object, Sizes};
use program::packing::{CellLayout, MOST_DIRECT};
use program::{Batch, CounterId, Digest, Entry, MeterConfig, MeterId, Op, Program, RegisterId, RuleError, TableId};
use std::collections::HashMap;
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use store::{Refusal, Room, Store, cells_for, masks_len};
use sys::Shared;
use target::{Capabilities, Carried, Count, Lane, MeterState, RegisterError, TableStats, Target};

/// How to load.
#[derive(Clone, Debug)]
pub struct Options {
    /// The C compiler; otherwise `clang` on `PATH`.
    pub cc: Option<PathBuf>,
    /// Most entries that a table holds, whatever size it is declared with: memory is taken at once.
    pub entries: u64,
    /// Most entries that a `@split` table holds: the sessions' room.
    pub split_entries: u64,
    /// Whether the target holds a subset of the tables: see [`target::Capabilities::subset`]. Without it a miss in a split table
    /// runs the default action, and packets to be punted or buffered are rewritten: for comparing with other targets.
    pub subset: bool,
    /// Keys the tables' hashes: random where keys come from strangers.
    pub seed: u64,
    /// Whether [`Xdp::lane`] takes packets below 14 bytes too. Such a program is for comparing only: it cannot be attached.
    pub short_packets: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { cc: None, entries: 65536, split_entries: u64::MAX, subset: true, seed: 0, short_packets: false }
    }
}

/// Why a program does not run here.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LoadError {
    /// The process may not.
    #[error("XDP needs {0}: run as root, or grant it")]
    Capability(String),
    /// There is none on this machine.
    #[error("C compiler {} not found: install clang (Debian: apt install clang)", .0.display())]
    NoCompiler(PathBuf),
    /// It refused the text: a defect of the emitter, or a compiler that is too old.
    #[error("{} cannot compile the generated code: {errors}", compiler.display())]
    Compiler {
        /// The compiler.
        compiler: PathBuf,
        /// Its first errors.
        errors: String,
    },
    /// Files and memory.
    #[error("{0}")]
    Io(String),
    /// The program is larger than what BPF holds: its stack, or the verifier's patience.
    #[error("the program is too large for the kernel: {0}")]
    Limit(String),
    /// The kernel refused a map or a program.
    #[error("the kernel does not take the program: {0}")]
    Kernel(String),
    /// The text is not of this program, or of another version of the emitter.
    #[error("the generated code does not fit the program: {0}")]
    Layout(String),
    /// An interface.
    #[error("interface {interface}: {error}")]
    Attach {
        /// Its name.
        interface: String,
        /// Why not.
        error: String,
    },
}

/// A program in the kernel.
pub struct Xdp {
    program: Arc<Program>,
    state: Mutex<State>,
    /// Sums of these need no lock.
    cells: Cells,
    test: Arc<aya::programs::ProgramFd>,
    /// Bytes behind each packet.
    behind: usize,
    digests: Mutex<Digests>,
    /// Whether it has been attached to an interface.
    ahead: AtomicBool,
}

/// What programs count in.
struct Cells {
    cpus: u32,
    contexts: Shared,
    context_len: usize,
    ledgers: Shared,
    counters: Vec<Shared>,
    sizes: Vec<u64>,
    registers: Vec<Shared>,
    /// The direct counter of each table.
    direct: Vec<Option<usize>>,
}

/// What batches change.
struct State {
    object: Object,
    stores: Vec<Store>,
    meters: Vec<Shared>,
    profiles: Profiles,
    control: Shared,
    generation: u32,
    attached: Vec<Attached>,
}

/// Bytes behind packets of a program that takes short ones: the shortest frame of the kernel's.
const BEHIND: usize = 14;
/// Bytes of a context before hits: `ends`.
const HITS: usize = 8 * 8;
/// A core's ledger: rows of packets and bytes, received and sent by port, and dropped by reason.
const ROW: usize = 16;
const PORTS: usize = 512;
const REASONS: usize = 256;
const LEDGER: usize = ROW * (PORTS + PORTS + REASONS);
/// Bytes of a profile, and of a meter.
const PROFILE: usize = 48;
const METER: usize = 32;
/// Different rates that there may be at once.
const MOST_PROFILES: u32 = 65536;

impl Xdp {
    /// Compiles `text`, which `p4-emit` has made of the program, loads it, and fills the constant tables.
    pub fn load(program: Arc<Program>, text: &str, options: &Options) -> Result<Xdp, LoadError> {
        sys::require_capabilities()?;
        if !sys::can_wait() {
            return Err(LoadError::Io("the kernel lacks the membarrier command that waits for all cores (nohz_full?)".into()));
        }
        let cpus = sys::possible_cpus();
        let (sizes, rooms) = sizes(&program, options, cpus)?;
        let behind = if options.short_packets { BEHIND } else { 0 };
        let mut defines = vec![("SP_BEHIND".to_owned(), behind as u32)];
        for (t, (_, homes, total)) in rooms.iter().enumerate() {
            defines.extend([(format!("SP_CELLS_{t}"), *total), (format!("SP_HOMES_{t}"), homes - 1)]);
        }
        let bytes = compile::compile(text, options.cc.as_deref(), &defines)?;
        let mut object = Object::load(&bytes, &sizes, &["sp_xdp", "sp_test"])?;
        let mut stores = Vec::new();
        for (id, info) in &program.tables {
            let (layout, t) = (CellLayout::new(&program, id), id.index());
            let (capacity, homes, total) = rooms[t];
            let cells = match total as usize <= MOST_DIRECT / layout.len {
                true => object.shared(&format!("sp_t{t}"), 1, total as usize * layout.len)?,
                false => object.shared(&format!("sp_t{t}"), total.into(), layout.len)?,
            };
            let defaults = object.shared(&format!("sp_d{t}"), 2, layout.len)?;
            let masks = match layout.wild {
                true => Some(object.shared(&format!("sp_m{t}"), 2, masks_len(&layout))?),
                false => None,
            };
            stores.push(Store::new(info, layout, Room { cells, homes, total, masks, defaults, capacity, seed: options.seed }));
        }
        let sizes: Vec<u64> = program.counters.values().map(|c| counter_size(&program, c)).collect();
        let mut counters = Vec::new();
        for (i, size) in sizes.iter().enumerate() {
            counters.push(object.shared(&format!("sp_n{i}"), (size * u64::from(cpus)).max(1), 16)?);
        }
        let mut meters = Vec::new();
        for (i, info) in program.meters.values().enumerate() {
            meters.push(object.shared(&format!("sp_p{i}"), info.size.max(1), METER)?);
        }
        let mut registers = Vec::new();
        for (i, info) in program.registers.values().enumerate() {
            registers.push(object.shared(&format!("sp_r{i}"), info.size.max(1), 8)?);
        }
        let context_len = object.value_len("sp_contexts")?;
        let contexts = object.shared("sp_contexts", cpus.into(), context_len)?;
        if context_len < HITS + 16 * program.tables.len().max(1) + 8 {
            return Err(LoadError::Layout("contexts are too short".into()));
        }
        let ledgers = object.shared("sp_ledgers", cpus.into(), LEDGER)?;
        let control = object.shared("sp_control", 1, 16)?;
        control.word(4).store(options.subset.into(), Ordering::Relaxed);
        control.word(0).store(1, Ordering::Release);
        let profiles = Profiles::new(object.shared("sp_profiles", MOST_PROFILES.into(), PROFILE)?);
        let test = Arc::new(object.program_fd("sp_test")?);
        let digests = Mutex::new(Digests::new(&mut object)?);
        let direct = program.tables.values().map(|t| t.direct_counter.map(|c| c.index())).collect();
        let cells = Cells { cpus, contexts, context_len, ledgers, counters, sizes, registers, direct };
        let state = State { object, stores, meters, profiles, control, generation: 1, attached: Vec::new() };
        let ahead = AtomicBool::new(false);
        let xdp = Xdp { program: program.clone(), state: Mutex::new(state), cells, test, ahead, behind, digests };
        xdp.constant_entries(&program)?;
        Ok(xdp)
    }

    /// Entries of the source always fit; of equal ones the first wins.
    fn constant_entries(&self, program: &Program) -> Result<(), LoadError> {
        let mut state = self.lock();
        for (id, info) in &program.tables {
            for entry in &info.entries {
                if state.stores[id.index()].insert(entry) == Err(Refusal::Full) {
                    return Err(LoadError::Layout(format!("the entries of table {} do not fit", info.name)));
                }
            }
        }
        state.commit(&self.cells, &[]);
        Ok(())
    }

    /// The direct counter of an entry, summed over all cores; `None` if there is no such entry or no counter.
    pub fn entry_count(&self, entry: &Entry) -> Option<Count> {
        let counter = self.program.tables.get(entry.table)?.direct_counter?;
        let cell = self.lock().stores[entry.table.index()].direct_of(entry)?;
        Some(self.cells.sum(counter, cell))
    }

    /// A cell of a register array; `None` beyond its end.
    pub fn register(&self, register: RegisterId, index: u64) -> Option<u64> {
        let info = self.program.registers.get(register).filter(|r| index < r.size)?;
        let value = self.cells.registers[register.index()].long(8 * index as usize).load(Ordering::Relaxed);
        Some(if info.width < 64 { value & ((1 << info.width) - 1) } else { value })
    }

    /// Sets a cell of a register array; says whether there is such a cell. Bits beyond the register's width are left out.
    pub fn set_register(&self, register: RegisterId, index: u64, value: u64) -> bool {
        let Some(info) = self.program.registers.get(register).filter(|r| index < r.size) else { return false };
        let value = if info.width < 64 { value & ((1 << info.width) - 1) } else { value };
        self.cells.registers[register.index()].long(8 * index as usize).store(value, Ordering::Relaxed);
        true
    }

    /// Messages of `digest()` that nobody has taken, at most `most` of them, the oldest first.
    pub fn digests(&self, most: usize) -> Vec<Digest> {
        self.digests.lock().unwrap_or_else(PoisonError::into_inner).take(most)
    }

    /// Packets of attached interfaces by their end: forward, buffer, punt, drop, next (the last one: handed on).
    pub fn ends(&self) -> [u64; 5] {
        std::array::from_fn(|kind| self.cells.sum_contexts(8 * kind))
    }

    /// Attaches the program to an interface: in the driver, or, where it cannot, in front of the kernel's stack. Until
    /// [`Xdp::set_port`] it passes all packets to the kernel. It leaves the interface when the target is dropped or the process
    /// ends, however it ends.
    ///
    /// From now on lanes hand everything on, so attach before lanes are made.
    pub fn attach(&self, interface: &str, ifindex: u32) -> Result<Mode, LoadError> {
        if self.behind > 0 {
            let error = "the program was loaded for comparing, with short packets".to_owned();
            return Err(LoadError::Attach { interface: interface.to_owned(), error });
        }
        let mut state = self.lock();
        let attached = attach::attach(&mut state.object, interface, ifindex)?;
        let mode = attached.mode;
        state.attached.push(attached);
        self.ahead.store(true, Ordering::Release);
        Ok(mode)
    }

    /// Makes `new`, which holds the same entries, run on this target's interfaces, one after the other: each packet runs in one
    /// of the two. `new` must have its ports, ways out and sockets; what was counted here stays here. With an error all is as
    /// before.
    pub fn replace_by(&self, new: &Xdp) -> Result<(), LoadError> {
        if std::ptr::eq(self, new) {
            return Ok(());
        }
        let (mut old, mut new_state) = (self.lock(), new.lock());
        new.ahead.store(true, Ordering::Release);
        let State { object, attached, .. } = &mut *old;
        for (n, interface) in attached.iter().enumerate() {
            if let Err(error) = attach::replace(&mut new_state.object, interface) {
                for moved in &attached[..n] {
                    attach::replace(object, moved)?;
                }
                return Err(error);
            }
        }
        new_state.attached.append(attached);
        Ok(())
    }

    /// Descriptor of the program that is attached to interfaces, for what runs it itself.
    pub fn program_fd(&self) -> Result<aya::programs::ProgramFd, LoadError> {
        self.lock().object.program_fd("sp_xdp")
    }

    /// Descriptor of the map of AF_XDP sockets, by [`socket_key`]: what is handed on goes to the socket of the interface's slot
    /// and the queue that it came by, or, where there is none, to the kernel's stack.
    pub fn sockets(&self) -> Result<OwnedFd, LoadError> {
        self.lock().object.map_fd("sp_sockets")
    }

    /// From now on what a slot's interface hands on goes through this XDP program, by a tail call, which finds the socket of the
    /// UE's worker; the sockets at [`socket_key`] get nothing. The program is kept as long as this target.
    pub fn set_steerer(&self, slot: u32, program: BorrowedFd<'_>) -> Result<(), LoadError> {
        if slot >= attach::SLOTS {
            return Err(LoadError::Io(format!("slot {slot}: there are {}", attach::SLOTS)));
        }
        self.lock().object.put("sp_steerers", &slot.to_ne_bytes(), &program.as_raw_fd().to_ne_bytes())
    }

    /// From now on packets of an interface come in by that port, and what is handed on goes to the sockets of that slot; `None`:
    /// all of it passes to the kernel.
    pub fn set_port(&self, ifindex: u32, port: Option<(PortId, u32)>) -> Result<(), LoadError> {
        attach::set_port(&self.lock().object, ifindex, port)
    }

    /// Says which interface a port leads to: see [`sends_redirected`]. Packets that leave by ports of none are handed on.
    pub fn set_way_out(&self, port: PortId, ifindex: Option<u32>) -> Result<(), LoadError> {
        attach::set_way_out(&mut self.lock().object, port, ifindex)
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        // A batch that panicked is not committed, and what it wrote is not seen.
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Target for Xdp {
    fn name(&self) -> &str {
        "xdp"
    }

    fn capabilities(&self) -> Capabilities {
        let subset = self.lock().control.word(4).load(Ordering::Relaxed) != 0;
        Capabilities { modelled: false, subset, buffers: !subset, selective: false }
    }

    fn program(&self) -> &Arc<Program> {
        &self.program
    }

    fn apply(&self, batch: &Batch) -> Result<(), RuleError> {
        for (i, op) in batch.ops.iter().enumerate() {
            self.program.check_op(i, op)?;
        }
        let mut state = self.lock();
        if state.generation >= u32::MAX - 2 {
            return Err(RuleError::Target("generations are used up: load the program anew".into()));
        }
        let lens: Vec<u64> = state.stores.iter().map(|s| s.len).collect();
        let mut cells = Vec::new();
        for (i, op) in batch.ops.iter().enumerate() {
            if let Err(refusal) = state.op(op, &mut cells) {
                for (store, len) in state.stores.iter_mut().zip(&lens) {
                    store.undo();
                    store.set_len(*len);
                }
                for (_, _, profile) in cells {
                    if let CellChange::Profile(p) = profile {
                        state.profiles.give_back(p);
                    }
                }
                return Err(self.error(i, op, refusal, &state));
            }
        }
        state.commit(&self.cells, &cells);
        // Whoever deletes wants to read final counts, and to use their cells again: no packet may be under way that saw the old
        // entries. The wait takes milliseconds, so a session that only comes does without.
        let only_adds = |op: &Op| matches!(op, Op::Insert(_) | Op::ClearCounter { .. } | Op::Meter { config: Some(_), .. });
        if self.ahead.load(Ordering::Acquire)
            && !batch.ops.iter().all(only_adds)
            && let Err(error) = sys::wait_for_packets()
        {
            // It worked when the program was loaded.
            tracing::warn!("cannot wait for packets under way: {error}");
        }
        Ok(())
    }

    fn lane(&self, _index: usize) -> Box<dyn Lane> {
        match self.ahead.load(Ordering::Acquire) {
            true => Box::new(HandingOn),
            false => Box::new(XdpLane::new(self.test.clone(), self.behind)),
        }
    }

    fn counter(&self, counter: CounterId, index: u64) -> Count {
        match self.program.counters.get(counter) {
            Some(info) if info.table.is_none() => self.cells.sum(counter, index),
            _ => Count::default(),
        }
    }

    /// Of a program that is attached to interfaces the time is the kernel's, which is not the workers': it must not be given to
    /// other targets then.
    fn meter_state(&self, meter: MeterId, index: u64) -> Option<MeterState> {
        let (state, at) = (self.lock(), self.meter_at(meter, index)?);
        let cells = &state.meters[meter.index()];
        let word = |offset: usize| cells.long(at + offset).load(Ordering::Relaxed);
        let configured = cells.word(at).load(Ordering::Acquire) != 0;
        configured.then(|| MeterState { last_ns: word(8), committed: word(16), peak: word(24) })
    }

    fn set_meter_state(&self, meter: MeterId, index: u64, to: MeterState) -> Result<(), RuleError> {
        let missing = || RuleError::Target(format!("meter cell {index} is not configured"));
        let (mut state, at) = (self.lock(), self.meter_at(meter, index).ok_or_else(missing)?);
        let profile = state.meters[meter.index()].word(at).load(Ordering::Acquire);
        if profile == 0 {
            return Err(missing());
        }
        let (committed, peak) = state.profiles.buckets(profile);
        let set = MeterState { committed: to.committed.min(committed), peak: to.peak.min(peak), ..to };
        state.write_meter(meter.index(), at, profile, set);
        Ok(())
    }

    fn take_digests(&self, into: &mut Vec<Digest>) {
        // As many as the ring may hold: the kernel may go on filling it.
        into.extend(self.digests(1 << 16));
    }

    fn lost_digests(&self) -> u64 {
        self.cells.sum_contexts(HITS + 16 * self.program.tables.len().max(1))
    }

    fn read_registers(&self, register: RegisterId, range: Range<u64>, into: &mut Vec<u64>) -> Result<(), RegisterError> {
        target::check_registers(&self.program, register, &range)?;
        into.extend(range.map(|index| self.register(register, index).unwrap_or(0)));
        Ok(())
    }

    fn table_stats(&self, table: TableId) -> TableStats {
        let state = self.lock();
        let Some(store) = state.stores.get(table.index()) else { return TableStats::default() };
        let at = HITS + 8 * table.index();
        let misses = at + 8 * self.program.tables.len();
        TableStats {
            entries: store.len,
            capacity: store.capacity,
            hits: self.cells.sum_contexts(at),
            misses: self.cells.sum_contexts(misses),
        }
    }

    fn is_ahead(&self) -> bool {
        self.ahead.load(Ordering::Acquire)
    }

    fn carried(&self) -> Option<Carried> {
        if !self.is_ahead() {
            return None;
        }
        let rows = |first: usize, n: usize| {
            let counted = (0..n).map(move |i| (i, self.cells.ledger(first + i)));
            counted.filter(|(_, count)| count.packets != 0)
        };
        Some(Carried {
            received: rows(0, PORTS).map(|(i, count)| (PortId(i as u16), count)).collect(),
            sent: rows(PORTS, PORTS).map(|(i, count)| (PortId(i as u16), count)).collect(),
            dropped: rows(2 * PORTS, REASONS).map(|(i, count)| (DropReason(i as u8), count)).collect(),
            handed_on: self.ends()[4],
        })
    }

    fn handed_on(&self) -> u64 {
        let now = sys::monotonic_ns();
        // Sockets show what they got when a core is done with its packets.
        let _ = sys::wait_for_packets();
        now
    }

    fn left(&self, moment: u64) {
        self.lock().control.long(8).store(moment, Ordering::Release);
    }

    fn retire(&self) {
        let state = self.lock();
        for attached in &state.attached {
            if let Err(error) = attach::close(&state.object, attached.ifindex) {
                tracing::error!("interface {} cannot be closed to XDP: {error}", attached.ifindex);
            }
        }
        let _ = sys::wait_for_packets();
    }
}

impl Xdp {
    /// Where a cell of an indexed meter is.
    fn meter_at(&self, meter: MeterId, index: u64) -> Option<usize> {
        let info = self.program.meters.get(meter).filter(|info| info.table.is_none() && index < info.size)?;
        debug_assert!(info.size <= u32::MAX.into(), "checked when it was loaded");
        Some(index as usize * METER)
    }

    fn error(&self, op: usize, of: &Op, why: Refused, state: &State) -> RuleError {
        let table = match of {
            Op::Insert(e) | Op::Modify(e) | Op::Delete(e) => Some(e.table),
            _ => None,
        };
        let name = table.map_or_else(String::new, |t| self.program.tables[t].name.clone());
        match why {
            Refused::Entry(Refusal::Exists) => RuleError::Exists { op, table: name },
            Refused::Entry(Refusal::Missing) => RuleError::Missing { op, table: name },
            Refused::Entry(Refusal::Full) => {
                RuleError::Full { op, table: name, capacity: table.map_or(0, |t| state.stores[t.index()].capacity) }
            }
            Refused::Other(what) => RuleError::Target(format!("op {op}: {what}")),
        }
    }
}

/// Why an op was refused.
enum Refused {
    Entry(Refusal),
    Other(String),
}

/// What becomes of a meter's or counter's cell.
#[derive(Clone, Copy)]
enum CellChange {
    Profile(u32),
    Clear,
}

/// A change of a cell: the array's number, the cell and what.
type CellOp = (usize, u64, CellChange);

impl State {
    fn op(&mut self, op: &Op, cells: &mut Vec<CellOp>) -> Result<(), Refused> {
        match op {
            Op::Insert(e) => self.stores[e.table.index()].insert(e).map_err(Refused::Entry),
            Op::Modify(e) => self.stores[e.table.index()].modify(e).map_err(Refused::Entry),
            Op::Delete(e) => self.stores[e.table.index()].delete(e).map_err(Refused::Entry),
            Op::SetDefault { table, action, args } => {
                self.stores[table.index()].set_default(*action, args);
                Ok(())
            }
            Op::Meter { meter, index, config } => {
                let profile = config.map_or(Ok(0), |c| self.profiles.take(c)).map_err(Refused::Other)?;
                cells.push((meter.index(), *index, CellChange::Profile(profile)));
                Ok(())
            }
            Op::Mirror { .. } | Op::Multicast { .. } => Err(Refused::Other("the xdp target makes no copies of packets".into())),
            Op::InsertValue { .. } | Op::DeleteValue { .. } => Err(Refused::Other("the xdp target has no value sets".into())),
            Op::EntryMeter { .. } => Err(Refused::Other("the xdp target has no direct meters".into())),
            Op::ClearCounter { counter, index } => {
                cells.push((counter.index(), *index, CellChange::Clear));
                Ok(())
            }
        }
    }

    fn commit(&mut self, counted: &Cells, cells: &[CellOp]) {
        let next = self.generation + 1;
        for (array, index, change) in cells {
            match change {
                CellChange::Clear => counted.clear(*array, *index),
                CellChange::Profile(profile) => self.set_meter(*array, *index as usize, *profile),
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
        self.control.word(0).store(next, Ordering::Release);
    }

    /// A cell is off while its buckets are written.
    fn set_meter(&mut self, meter: usize, index: usize, profile: u32) {
        let (committed, peak) = self.profiles.buckets(profile);
        let old = self.write_meter(meter, index * METER, profile, MeterState { committed, peak, last_ns: 0 });
        self.profiles.give_back(old);
    }

    /// Gives the profile that the cell has had.
    fn write_meter(&mut self, meter: usize, at: usize, profile: u32, to: MeterState) -> u32 {
        let cells = &self.meters[meter];
        let old = cells.word(at).swap(0, Ordering::AcqRel);
        cells.long(at + 8).store(to.last_ns, Ordering::Relaxed);
        cells.long(at + 16).store(to.committed, Ordering::Relaxed);
        cells.long(at + 24).store(to.peak, Ordering::Relaxed);
        cells.word(at).store(profile, Ordering::Release);
        old
    }
}

impl Cells {
    fn sum(&self, counter: CounterId, index: u64) -> Count {
        let i = counter.index();
        let mut sum = Count::default();
        if self.sizes.get(i).is_none_or(|size| index >= *size) {
            return sum;
        }
        for cpu in 0..u64::from(self.cpus) {
            let at = 16 * (cpu * self.sizes[i] + index) as usize;
            sum.packets = sum.packets.wrapping_add(self.counters[i].long(at).load(Ordering::Relaxed));
            sum.bytes = sum.bytes.wrapping_add(self.counters[i].long(at + 8).load(Ordering::Relaxed));
        }
        sum
    }

    fn clear(&self, counter: usize, index: u64) {
        for cpu in 0..u64::from(self.cpus) {
            let at = 16 * (cpu * self.sizes[counter] + index) as usize;
            self.counters[counter].long(at).store(0, Ordering::Relaxed);
            self.counters[counter].long(at + 8).store(0, Ordering::Relaxed);
        }
    }

    /// A row of the ledger, over all cores.
    fn ledger(&self, row: usize) -> Count {
        let at = |cpu: u32| cpu as usize * LEDGER + row * ROW;
        let long = |at: usize| self.ledgers.long(at).load(Ordering::Relaxed);
        let sum = |offset: usize| (0..self.cpus).map(|cpu| long(at(cpu) + offset)).fold(0, u64::wrapping_add);
        Count { packets: sum(0), bytes: sum(8) }
    }

    fn sum_contexts(&self, at: usize) -> u64 {
        let of = |cpu: u32| self.contexts.long(cpu as usize * self.context_len + at).load(Ordering::Relaxed);
        (0..self.cpus).map(of).fold(0, u64::wrapping_add)
    }
}

/// Different rates, each kept once: cells only name them, so that two fit in a cache line.
struct Profiles {
    memory: Shared,
    by_config: HashMap<[u64; 4], u32>,
    used: Vec<(u64, Option<[u64; 4]>)>,
    free: Vec<u32>,
}

impl Profiles {
    fn new(memory: Shared) -> Profiles {
        Profiles { memory, by_config: HashMap::new(), used: vec![(1, None)], free: Vec::new() }
    }

    fn take(&mut self, config: MeterConfig) -> Result<u32, String> {
        let key = [config.cir, config.cbs, config.pir, config.pbs];
        if let Some(id) = self.by_config.get(&key) {
            self.used[*id as usize].0 += 1;
            return Ok(*id);
        }
        // Twice a full bucket must fit 64 bits.
        const MOST: u64 = (1 << 63) / 1_000_000_000;
        if config.cbs > MOST || config.pbs > MOST {
            return Err(format!("a burst of {} units, more than {MOST}", config.cbs.max(config.pbs)));
        }
        let id = match self.free.pop() {
            Some(id) => id,
            None if self.used.len() < MOST_PROFILES as usize => {
                self.used.push((0, None));
                self.used.len() as u32 - 1
            }
            None => return Err(format!("more than {MOST_PROFILES} different rates")),
        };
        let nano = |units: u64| units * 1_000_000_000;
        let fill_ns = |rate: u64, bucket: u64| if rate == 0 { u64::MAX } else { nano(bucket).div_ceil(rate) };
        let values =
            [config.cir, nano(config.cbs), fill_ns(config.cir, config.cbs), config.pir, nano(config.pbs), fill_ns(config.pir, config.pbs)];
        for (i, v) in values.into_iter().enumerate() {
            self.memory.long(id as usize * PROFILE + 8 * i).store(v, Ordering::Relaxed);
        }
        self.used[id as usize] = (1, Some(key));
        self.by_config.insert(key, id);
        Ok(id)
    }

    fn give_back(&mut self, id: u32) {
        let Some((count, key)) = self.used.get_mut(id as usize).filter(|_| id != 0) else { return };
        *count -= 1;
        if *count == 0 {
            if let Some(key) = key.take() {
                self.by_config.remove(&key);
            }
            self.free.push(id);
        }
    }

    fn buckets(&self, id: u32) -> (u64, u64) {
        if id == 0 {
            return (0, 0);
        }
        let at = |i: usize| self.memory.long(id as usize * PROFILE + 8 * i).load(Ordering::Relaxed);
        (at(1), at(4))
    }
}

fn counter_size(program: &Program, info: &program::CounterInfo) -> u64 {
    info.table.map_or(info.size, |t| program.tables[t].size)
}

/// Capacity, home cells and all cells of each table.
type Rooms = Vec<(u64, u32, u32)>;

fn sizes(program: &Program, options: &Options, cpus: u32) -> Result<(Sizes, Rooms), LoadError> {
    let mut sizes = Sizes { seed: options.seed, ..Sizes::default() };
    let mut rooms = Vec::new();
    let fits = |name: &str, n: u64| u32::try_from(n.max(1)).map_err(|_| LoadError::Io(format!("{name} has {n} cells: too many")));
    for info in program.tables.values() {
        let most = if info.split { options.entries.min(options.split_entries) } else { options.entries };
        let capacity = info.size.min(most.max(info.entries.len() as u64));
        let (homes, total) = cells_for(capacity);
        rooms.push((capacity, homes, total));
    }
    for (i, info) in program.counters.values().enumerate() {
        let n = counter_size(program, info).saturating_mul(cpus.into());
        sizes.entries.push((format!("sp_n{i}"), fits(&info.name, n)?));
    }
    for (i, info) in program.meters.values().enumerate() {
        sizes.entries.push((format!("sp_p{i}"), fits(&info.name, info.size)?));
    }
    for (i, info) in program.registers.values().enumerate() {
        sizes.entries.push((format!("sp_r{i}"), fits(&info.name, info.size)?));
    }
    sizes.entries.push(("sp_contexts".into(), cpus));
    sizes.entries.push(("sp_ledgers".into(), cpus));
    sizes.entries.push(("sp_profiles".into(), MOST_PROFILES));
    sizes.constants.push(("sp_cpus".into(), cpus));
    Ok((sizes, rooms))
}
