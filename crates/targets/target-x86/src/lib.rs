//! A program on x86 cores: C text (from `p4-emit`) compiled by the system's compiler, tables of crate `table`.
//!
//! [`X86::load`] compiles the text, loads the object and makes the tables; from then on the object calls tables and meters
//! through function pointers, and everything that it may touch is owned here. Kinds of state:
//! - **tables and default actions** ([`tables`]), of which lanes read one side while a batch is staged on the other. A lane takes no
//!   lock: it announces its bursts ([`table::Presence`]), and takes a batch over as a whole when it begins the first one after it;
//! - **counters and statistics** ([`cells`]) of each lane alone, summed when they are read: a lane's cells stay when it ends
//!   and go to the next lane of its index. A read while lanes run may see a packet counted whose bytes are not yet;
//! - **value sets** ([`sets`]), replaced as a whole with a batch, and **digests** ([`digests`]), a ring of each lane;
//! - **meters and registers**, shared by all lanes. With more than one lane, or with cells that another target shares, meters are locked one by one; a register is
//!   read and written whole, but what a program does between a read and a write is not one step, as on a switch.
//!
//! After a drop the packet's bytes are unspecified, as the generated code changes headers in place; its window is as it was.
#![warn(missing_docs)]

mod abi;
mod apply;
mod ask;
mod cells;
mod compile;
mod digests;
mod lane;
mod meters;
mod sets;
mod tables;

pub use cells::shared_meters;
pub use compile::{FLAGS, LEVELS, NATIVE, check, compile_ahead, compiler, level};
pub use lane::X86Lane;

use abi::{CMeter, CSet, CTable};
use cells::Cells;
use cranelift_entity::EntityRef;
use digests::Ring;
use meters::{MeterCell, Meters};
use program::{ApplyError, Batch, CounterId, CounterInfo, Digest, Entry, MeterId, Program, RegisterId, RegisterInfo, TableId};
use sets::Sets;
use std::cell::UnsafeCell;
use std::collections::BTreeMap;
use std::ops::Range;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use table::{Epoch, Presence, View};
use tables::{Held, ProgramTable};
use target_api::{
    Capabilities, Count, Digests, Facets, HeldEntry, Lane, MeterState, Picked, Picker, RegisterError, Registers, SharedMeter, TableStats,
    Tables, Target, TargetError,
};

/// Arrays of at most so many cells stay in the processor's caches, so nothing is gained by cells that share lines.
const SMALL_ARRAY: u64 = 1024;

/// How to make native code.
#[derive(Clone, Debug, Default)]
pub struct Options {
    /// The C compiler; otherwise the environment's `CC`, else the first of clang, gcc and cc on `PATH`.
    pub cc: Option<PathBuf>,
    /// Further arguments for it, e.g. `-O1` where compiling fast counts more than running fast.
    pub flags: Vec<String>,
    /// Objects that were compiled ahead ([`compile_ahead`]). They are not used where a compiler is asked for.
    pub shipped: Option<c_compile::Shipped>,
    /// Where its object is kept from one start to the next; none: it is compiled each time.
    pub cache: Option<c_compile::Cache>,
    /// Keys the tables' hashes: random where keys come from strangers.
    pub seed: u64,
    /// Indexed meters, by number, whose cells a target in front of this one executes too ([`shared_meters`], or its own memory); those of others are
    /// this target's alone.
    pub meters: Vec<Option<Arc<SharedMeter>>>,
}

/// Why a program does not run here.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum LoadError {
    /// There is none on this machine.
    #[error("no C compiler found: install gcc or clang (Debian: apt install gcc) or set CC")]
    NoCompiler,
    /// The one that was asked for is not there.
    #[error("C compiler {} not found: install gcc or clang (Debian: apt install gcc) or set CC", .0.display())]
    NoSuchCompiler(PathBuf),
    /// It refused the text: a defect of the emitter, or a compiler that is too old.
    #[error("{} cannot compile the generated code: {errors}", compiler.display())]
    Compiler {
        /// The compiler.
        compiler: PathBuf,
        /// Its first errors.
        errors: String,
    },
    /// Files.
    #[error("{0}")]
    Io(String),
    /// The dynamic linker refused the object.
    #[error("the compiled program does not load: {0}")]
    Object(String),
    /// The text is not of this program, or of another version of the emitter.
    #[error("the generated code does not fit the program: {0}")]
    Layout(String),
    /// A table that cannot be held.
    #[error("table {table}: {error}")]
    Table {
        /// Its name.
        table: String,
        /// Why.
        error: String,
    },
    /// The system gives no such array.
    #[error("no memory for an array of {bytes} bytes")]
    Memory {
        /// How much was asked for.
        bytes: u64,
    },
}

/// A program on x86 cores.
pub struct X86 {
    shared: Arc<Shared>,
}

/// What the target and its lanes share.
pub(crate) struct Shared {
    program: Arc<Program>,
    object: compile::Object,
    /// One batch at a time.
    control: Mutex<State>,
    /// Counts batches, and changes of the number of lanes.
    epoch: Epoch,
    /// Whether there is more than one lane, or another target executes the cells too, so that meters must be locked.
    meters_shared: AtomicBool,
    cells_shared: bool,
    /// Taken after `control`, never before it.
    lanes: Mutex<Vec<Arc<LaneCells>>>,
    /// Cells of each counter.
    counter_sizes: Vec<u64>,
    registers: Vec<Cells>,
    /// Words of the longest digest; 0 if there is none.
    digest_words: u64,
}

/// What batches change.
pub(crate) struct State {
    tables: Vec<ProgramTable>,
    meters: Vec<Meters>,
    sets: Sets,
    /// Lanes that exist.
    lanes: usize,
    work: apply::Work,
}

/// What a lane takes over at the start of its first burst after a batch.
pub(crate) struct Update {
    /// Where to look up (nowhere in an empty table), the default action's record, and whether it is small, of each table.
    views: Box<[(Option<View>, *const u8, bool)]>,
    /// The members of each value set.
    sets: Box<[CSet]>,
    /// Counters and cells to clear.
    clears: Vec<(usize, u64)>,
    /// Meters to set. Only where there is one lane.
    meters: Vec<(MeterCell, CMeter)>,
}

// SAFETY: its pointers lead to what `State` owns and keeps until every lane has taken the next update.
unsafe impl Send for Update {}
// SAFETY: as above; it is only read.
unsafe impl Sync for Update {}

/// Counters and statistics of a lane; they outlive it.
pub(crate) struct LaneCells {
    index: usize,
    /// A lane uses it; its packets may be in flight.
    used: AtomicBool,
    /// Its bursts.
    presence: Presence,
    /// What it has not taken over yet. Whoever does so holds the lock until it is done.
    update: Mutex<Option<Arc<Update>>>,
    counters: Vec<Cells>,
    /// What generated code works in.
    run: Cells,
    /// What generated code reads of each table, and its hits and misses: those are read by all, written by generated code alone.
    tables: TableViews,
    sets: SetViews,
    digests: Ring,
}

/// The array that generated code reads its value sets from.
pub(crate) struct SetViews(Box<[UnsafeCell<CSet>]>);

// SAFETY: it is read by the lane within its bursts, and written by who takes over an update: the lane itself, or the owner while it
// rests, under the update's lock.
unsafe impl Sync for SetViews {}
// SAFETY: the pointers in it lead to what `State` owns and keeps until the lane has taken the next update.
unsafe impl Send for SetViews {}

impl SetViews {
    fn new(n: usize) -> SetViews {
        SetViews((0..n).map(|_| UnsafeCell::new(CSet { members: std::ptr::null(), size: 0 })).collect())
    }

    fn start(&self) -> *const CSet {
        UnsafeCell::raw_get(self.0.as_ptr())
    }

    /// # Safety
    /// No burst of the lane is running, and no other thread calls this.
    unsafe fn set(&self, sets: &[CSet]) {
        for (view, set) in self.0.iter().zip(sets) {
            // SAFETY: the caller's promise.
            unsafe { view.get().write(*set) }
        }
    }
}

/// The array that generated code reads its tables from.
pub(crate) struct TableViews(Box<[UnsafeCell<CTable>]>);

// SAFETY: all but hits and misses is read by the lane within its bursts, and written by who takes over an update: the lane
// itself, or the owner while it rests, under the update's lock. Those two are atomics that others only read.
unsafe impl Sync for TableViews {}
// SAFETY: the pointers in it lead to what `State` owns and keeps until the lane has taken the next update.
unsafe impl Send for TableViews {}

impl TableViews {
    fn new(n: usize) -> TableViews {
        let none = AtomicU64::default;
        let (table, exact, miss) = (std::ptr::null(), std::ptr::null(), std::ptr::null());
        let empty = || CTable { table, lookup: None, exact, miss, hits: none(), misses: none(), small: 1 };
        TableViews((0..n).map(|_| UnsafeCell::new(empty())).collect())
    }

    fn start(&self) -> *mut CTable {
        UnsafeCell::raw_get(self.0.as_ptr())
    }

    /// Writes all but hits and misses.
    ///
    /// # Safety
    /// No burst of the lane is running, and no other thread calls this.
    unsafe fn set(&self, views: &[(Option<View>, *const u8, bool)]) {
        for (view, (look, miss, small)) in self.0.iter().map(UnsafeCell::get).zip(views) {
            // SAFETY: the caller's promise; the statistics beside are not touched.
            unsafe {
                (*view).lookup = look.map(|l| l.lookup);
                (*view).table = look.map_or(std::ptr::null(), |l| l.table);
                (*view).exact = look.map_or(std::ptr::null(), |l| l.exact);
                (*view).miss = *miss;
                (*view).small = u64::from(*small);
            }
        }
    }

    fn hits_and_misses(&self, table: usize) -> (u64, u64) {
        let view = self.0[table].get();
        // SAFETY: the references are to the atomics alone.
        let (hits, misses) = unsafe { (&(*view).hits, &(*view).misses) };
        (hits.load(Ordering::Relaxed), misses.load(Ordering::Relaxed))
    }
}

impl X86 {
    /// Compiles and loads `text`, which `p4-emit` has made of the program, and fills the constant tables.
    pub fn load(program: Arc<Program>, text: &str, options: &Options) -> Result<X86, LoadError> {
        let object = compile::compile(text, options)?;
        let (layouts, digest_words) = abi::read_layout(&object.layout, &program)?;
        let mut tables: Vec<ProgramTable> = Vec::new();
        for ((id, info), layout) in program.tables.iter().zip(layouts) {
            let mut table = ProgramTable::new(info, layout, options.seed.wrapping_add(id.index() as u64))?;
            for entry in &info.entries {
                let identity = table.identity(entry);
                let fail = |e: table::TableError| LoadError::Table { table: info.name.clone(), error: e.to_string() };
                table.insert(&identity, entry.action, &entry.args).map_err(fail)?;
            }
            table.flip();
            // SAFETY: there are no lanes yet.
            unsafe { table.settle() }
            tables.push(table);
        }
        let registers = program.registers.values().map(registers).collect::<Result<_, _>>()?;
        // Entries of a full table that one batch replaces by others keep their numbers until no lane can count them.
        let cells = |table: Option<TableId>, size| table.map_or(size, |t| 2 * tables[t.index()].capacity);
        let counter_sizes = program.counters.values().map(|c| cells(c.table, c.size)).collect();
        let owner = |id: MeterId| options.meters.get(id.index()).cloned().flatten();
        let mut beside_meters = BTreeMap::new();
        let mut meters = Vec::with_capacity(program.meters.len());
        for (id, m) in &program.meters {
            let (size, owner) = (cells(m.table, m.size), owner(id).filter(|_| m.table.is_none()));
            // A counter and a meter of the same size mostly belong to the same rules, with equal numbers.
            let beside = |(c, info): (CounterId, &CounterInfo)| {
                info.table.is_none() && info.size == size && size > SMALL_ARRAY && !beside_meters.contains_key(&c.index())
            };
            meters.push(match program.counters.iter().find(|c| m.table.is_none() && owner.is_none() && beside(*c)) {
                Some((counter, _)) => {
                    let (meters, counts) = Meters::with_counter(size)?;
                    beside_meters.insert(counter.index(), counts);
                    meters
                }
                None => Meters::new(size, owner)?,
            });
        }
        let cells_shared = meters.iter().any(Meters::are_shared);
        let shared = Shared {
            object,
            counter_sizes,
            control: Mutex::new(State { tables, meters, sets: Sets::new(&program), lanes: 0, work: apply::Work::default() }),
            epoch: Epoch::default(),
            meters_shared: cells_shared.into(),
            cells_shared,
            lanes: Mutex::new(Vec::new()),
            registers,
            digest_words,
            program,
        };
        // Whatever a lane needs is asked for now, so that a lane does not fail later.
        let first = LaneCells::new(&shared, 0, beside_meters)?;
        shared.lanes().push(Arc::new(first));
        Ok(X86 { shared: Arc::new(shared) })
    }

    /// The direct counter of an entry, summed over all lanes; `None` if there is no such entry or no counter.
    pub fn entry_count(&self, entry: &Entry) -> Option<Count> {
        let info = self.shared.program.tables.get(entry.table)?;
        let counter = info.direct_counter?;
        let state = self.shared.control();
        let table = &state.tables[entry.table.index()];
        let handle = table.handle(&table.identity(entry))?;
        Some(self.shared.sum(counter, handle.into()))
    }

    /// A cell of a register array; `None` beyond its end. The halves of one of more than 64 bits are read one after the other: packets in
    /// flight may come between.
    pub fn register(&self, register: RegisterId, index: u64) -> Option<u128> {
        let words = register_words(self.shared.program.registers.get(register)?.width) as u64;
        let cells = self.shared.registers.get(register.index())?;
        let word = |i: u64| Some(u128::from(cells.register_word(words, index, i)?.load(Ordering::Relaxed)));
        Some(word(0)? | if words > 1 { word(1)? << 64 } else { 0 })
    }
}

/// The cells of a register, as they are at first.
fn registers(info: &RegisterInfo) -> Result<Cells, LoadError> {
    let words = register_words(info.width);
    let cells = Cells::new(info.size, words)?;
    if info.initial != 0 {
        for (index, word) in (0..info.size).flat_map(|index| (0..words as u64).map(move |word| (index, word))) {
            if let Some(cell) = cells.register_word(words as u64, index, word) {
                cell.store((info.initial >> (64 * word)) as u64, Ordering::Relaxed);
            }
        }
    }
    Ok(cells)
}

/// Words of a register's cell.
fn register_words(width: u32) -> usize {
    if width > 64 { 2 } else { 1 }
}

/// What the classes of packets were good for, of all lanes past and present.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ClassStats {
    /// Packets by class; first those of none, in a program that has classes.
    pub packets: Vec<u64>,
    /// Look-ups that packets had in common with the packet before.
    pub spared: u64,
    /// Keys that packets of classes looked up in exact tables, and that were not at their first place: of no entry, or of one that lies elsewhere.
    pub further: u64,
}

impl X86 {
    /// Packets by class ([`p4_emit`](../p4_emit/index.html) says what that is) since the program was loaded.
    pub fn class_stats(&self) -> ClassStats {
        let mut stats = ClassStats::default();
        for lane in self.shared.lanes().iter() {
            let word = |i: u64| lane.run.register(i).map_or(0, |w| w.load(Ordering::Relaxed));
            let classes = word(0).min(lane.run.len().saturating_sub(3));
            stats.packets.resize(stats.packets.len().max(classes as usize), 0);
            stats.spared += word(1);
            stats.further += word(2);
            for class in 0..classes {
                stats.packets[class as usize] += word(3 + class);
            }
        }
        stats
    }
}

impl Target for X86 {
    fn name(&self) -> &str {
        "x86"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { modelled: false, subset: false, buffers: true, selective: false }
    }

    fn program(&self) -> &Arc<Program> {
        &self.shared.program
    }

    fn check(&self, batch: &Batch) -> Result<(), ApplyError> {
        apply::check(&self.shared, batch)
    }

    fn apply(&self, batch: &Batch) -> Result<(), ApplyError> {
        apply::apply(&self.shared, batch)
    }

    fn apply_deferred(&self, batch: &Batch) -> Result<(), ApplyError> {
        self.apply(batch)
    }

    fn lane(&self, index: usize) -> Box<dyn Lane> {
        Box::new(X86Lane::new(self.shared.clone(), index))
    }

    fn counter(&self, counter: CounterId, index: u64) -> Count {
        match self.shared.program.counters.get(counter) {
            Some(info) if info.table.is_none() => self.shared.sum(counter, index),
            _ => Count::default(),
        }
    }

    fn table_stats(&self, table: TableId) -> TableStats {
        let mut stats = match self.shared.control().tables.get(table.index()) {
            Some(of) => TableStats { entries: of.len(), capacity: of.capacity, ..TableStats::default() },
            None => return TableStats::default(),
        };
        for lane in self.shared.lanes().iter() {
            let (hits, misses) = lane.tables.hits_and_misses(table.index());
            stats.hits += hits;
            stats.misses += misses;
        }
        stats
    }

    fn facets(&self) -> Facets<'_> {
        Facets { ahead: None, recovery: None, meters: Some(self), registers: Some(self), digests: Some(self), tables: Some(self) }
    }
}

impl Tables for X86 {
    fn entries(&self, table: TableId, after: Option<&Entry>, most: usize) -> Vec<HeldEntry> {
        let state = self.shared.control();
        let Some(of) = state.tables.get(table.index()) else { return Vec::new() };
        let counter = self.shared.program.tables[table].direct_counter;
        let mut picker = Picker::new(after, most);
        of.offer_to(&mut picker);
        let held = |Picked { keys, priority, rest }: Picked<Held>| HeldEntry {
            entry: Entry { table, keys, priority, action: rest.action, args: rest.args },
            count: counter.zip(rest.handle).map(|(counter, handle)| self.shared.sum(counter, handle.into())),
        };
        picker.finish().into_iter().map(held).collect()
    }
}

impl target_api::Meters for X86 {
    /// Where another target executes them too, that one shares them with this one, which holds every session.
    fn shares_meters(&self) -> bool {
        false
    }

    fn meter_state(&self, meter: MeterId, index: u64) -> Option<MeterState> {
        self.shared.control().meters.get(meter.index())?.state(index)
    }

    fn set_meter_state(&self, meter: MeterId, index: u64, state: MeterState) -> Result<(), TargetError> {
        let mut control = self.shared.control();
        let meters = control.meters.get_mut(meter.index()).ok_or_else(|| TargetError("no such meter".into()))?;
        meters.set_state(index, state)
    }
}

impl Registers for X86 {
    fn read_registers(&self, register: RegisterId, range: Range<u64>, into: &mut Vec<u64>) -> Result<(), RegisterError> {
        target_api::check_registers(&self.shared.program, register, &range)?;
        // `check_registers` has refused those of more than a word.
        into.extend(range.map(|index| self.register(register, index).unwrap_or(0) as u64));
        Ok(())
    }

    fn set_register(&self, register: RegisterId, index: u64, value: u64) -> Result<(), RegisterError> {
        target_api::check_registers(&self.shared.program, register, &(index..index.saturating_add(1)))?;
        let mask = base::Bits::mask(self.shared.program.registers[register].width) as u64;
        if let Some(cell) = self.shared.registers[register.index()].register(index) {
            cell.store(value & mask, Ordering::Relaxed);
        }
        Ok(())
    }
}

impl Digests for X86 {
    fn take_digests(&self, into: &mut Vec<Digest>) {
        // Rings have one reader at a time.
        let _one = self.shared.control();
        for lane in self.shared.lanes().iter() {
            lane.digests.take(into);
        }
    }

    fn lost_digests(&self) -> u64 {
        self.shared.lanes().iter().map(|lane| lane.digests.lost()).sum()
    }
}

impl Shared {
    fn control(&self) -> MutexGuard<'_, State> {
        self.control.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn lanes(&self) -> MutexGuard<'_, Vec<Arc<LaneCells>>> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn sum(&self, counter: CounterId, index: u64) -> Count {
        let mut sum = Count::default();
        for lane in self.lanes().iter() {
            if let Some(cell) = lane.counters.get(counter.index()).and_then(|c| c.counter(index)) {
                let count = cell.read();
                sum.packets = sum.packets.wrapping_add(count.packets);
                sum.bytes = sum.bytes.wrapping_add(count.bytes);
            }
        }
        sum
    }
}

impl LaneCells {
    /// `beside`: cells of counters that lie beside those of a meter, of which there is one array; so the first lane has them, and no other.
    fn new(shared: &Shared, index: usize, mut beside: BTreeMap<usize, Cells>) -> Result<LaneCells, LoadError> {
        let counters = shared.counter_sizes.iter().enumerate();
        let counters =
            counters.map(|(counter, n)| beside.remove(&counter).map_or_else(|| Cells::new(*n, 2), Ok)).collect::<Result<_, _>>()?;
        let run = Cells::new(shared.object.run_len.div_ceil(64), 8)?;
        Ok(LaneCells {
            index,
            used: false.into(),
            presence: Presence::default(),
            update: Mutex::default(),
            counters,
            run,
            tables: TableViews::new(shared.program.tables.len()),
            sets: SetViews::new(shared.program.value_sets.len()),
            digests: Ring::new(shared.digest_words)?,
        })
    }

    /// Gives the lane something to take over when it sees the next epoch. It has taken over all before.
    fn set_update(&self, update: Arc<Update>) {
        let earlier = self.update.lock().unwrap_or_else(PoisonError::into_inner).replace(update);
        debug_assert!(earlier.is_none(), "an update that nobody has taken over");
    }

    /// Takes over what there is to take over. For the lane at the start of a burst of an epoch that is new to it; for the owner after that
    /// lane has been seen resting or in such a burst, which waits for the same lock first.
    fn take_update(&self) {
        let mut update = self.update.lock().unwrap_or_else(PoisonError::into_inner);
        let Some(update) = update.take() else { return };
        // SAFETY: see above; the lock keeps the other one out.
        unsafe {
            self.tables.set(&update.views);
            self.sets.set(&update.sets);
        }
        for (counter, index) in &update.clears {
            self.clear(*counter, *index);
        }
        if self.used.load(Ordering::Relaxed) {
            for (cell, meter) in &update.meters {
                // SAFETY: only this lane, the only one, uses the cell, in its bursts.
                unsafe { cell.set(*meter) }
            }
        }
    }

    /// A counter's cell back to zero, while the lane does not count in it.
    fn clear(&self, counter: usize, index: u64) {
        if let Some(cell) = self.counters[counter].counter(index) {
            cell.clear();
        }
    }
}
