//! A program in the kernel's XDP hook: C text (from `p4-emit`) compiled by clang, verified by the kernel, on tables that user
//! space writes directly into the programs' memory.
//!
//! It holds a subset of the sessions, cannot buffer or punt, and passes what it misses to the next target unchanged, through an
//! AF_XDP socket or, without one, up the kernel's stack.
//!
//! - **Batches** ([`store`]): every cell is stamped with the generations that see it; a packet reads the generation once, so it
//!   sees a batch whole or not at all. One exception: meter cells and cleared counters change just before the entries do.
//!   Generations have 32 bits; when all are used up they are renumbered, which takes two waits for packets.
//! - **Waits** ([`cores`]): a batch that removes something returns when no packet in flight saw it: by per-core packet counts, in
//!   microseconds.
//! - **Tables** are array maps mapped into this process: a change costs no system call; their addresses are in the text ([`memory`]).
//!   Exact ones are hash tables with their entries in the home cells; the others look through the masks in use, at most 64 of them.
//! - **Memory as it is used** ([`segments`]): tables of sessions, and large counters and meters, have room for a few sessions at first.
//! - **A table without room** ([`shortage`]) that is not `@split` sends the packets that would look it up to the next target, which has it whole.
//! - **Counters** have a row of cells for each core and are summed when they are read.
//! - **Meters** ([`meters`]) are exact: cores that meet at a cell wait for each other, for a bounded time, after which the packet is handed
//!   on. Their cells may be shared with the target behind it ([`Xdp::share_meters`]): then a rate is policed in one place, wherever packets run.
//! - **On interfaces** ([`Xdp::attach`]) it meets packets before the engine does, keeps a ledger of what it carried, and hands
//!   the rest to AF_XDP sockets. It stays only as long as this process, however that ends, or until the next one, if that is asked for ([`Keep`]).
//! - **Too large for the kernel**: the emitted text has a simple form, with which it is compiled again then ([`Xdp::is_simple`]).
//!
//! [`Xdp::lane`] runs packets through the program without an interface (BPF_PROG_TEST_RUN): how it is compared with the
//! interpreter. Packets below 14 bytes (but see
//! [`Options::short_packets`]) and above 3,500 do not pass there, and go to the slow path.
#![warn(missing_docs)]

mod attach;
mod cells;
mod compile;
mod cores;
mod digests;
mod features;
mod keep;
mod lane;
mod load;
mod memory;
mod meters;
pub mod object;
pub mod probe;
mod segments;
mod shortage;
mod state;
mod store;
pub mod sys;
mod waits;

pub use attach::{Mode, RESERVE, sends_redirected, socket_key};
pub use compile::compiler;
pub use cores::Waited;
pub use keep::Keep;

use base::{DropReason, PortId};
use cells::{Cells, LEDGER, PORTS, REASONS};
use cores::Cores;
use cranelift_entity::EntityRef;
use digests::Digests;
use keep::Folder;
use lane::{HandingOn, XdpLane};
use load::{COUNTER, Open, REGISTER, build, counter_size};
use meters::Meter;
use program::packing::CellLayout;
use program::{ApplyError, Batch, CounterId, Digest, Entry, MeterId, Op, Program, RegisterId, RuleError, TableId};
use shortage::Shortage;
use state::{CLOCK, CONTROL, GENERATION, LAST_GENERATION, Refused, SUBSET, Staged, State};
use std::ops::Range;
use std::os::fd::{AsRawFd, BorrowedFd, OwnedFd};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use store::{Held, HomesWord, Refusal, Room, Store, masks_len};
use target_api::Meters as _;
use target_api::{Ahead, Capabilities, Carried, Count, DrainToken, Facets, InFlight, Lane, MeterState, Recovery, RegisterError, Registers};
use target_api::{HeldEntry, Picked, Picker, SharedMeter, TableStats, Tables, Target, TargetError, Words};
use waits::Waits;

/// How to load.
#[derive(Clone, Debug)]
pub struct Options {
    /// The C compiler; otherwise `clang` on `PATH`.
    pub cc: Option<PathBuf>,
    /// Objects that were compiled ahead ([`compile_ahead`]). They are not used where a compiler is asked for.
    pub shipped: Option<c_compile::Shipped>,
    /// Where objects are kept from one start to the next; none: each process compiles them.
    pub cache: Option<c_compile::Cache>,
    /// Most entries that a table holds, whatever size it is declared with: memory is taken at once.
    pub entries: u64,
    /// Most entries that a `@split` table holds: the sessions' room.
    pub split_entries: u64,
    /// Most entries that another table holds.
    pub shared_entries: u64,
    /// Whether the target holds a subset of the tables: see [`target_api::Capabilities::subset`]. Without it a miss in a split table
    /// runs the default action, and packets to be punted or buffered are rewritten: for comparing with other targets.
    pub subset: bool,
    /// Of a subset: whether a table that is not `@split` and has no room for an entry becomes short, as [`Xdp::slow_path_tables`] says, rather than
    /// that the batch is refused.
    pub hand_on_full: bool,
    /// Whether cells of large counters and meters take memory when an op names them ([`Op::ClearCounter`], [`Op::Meter`]) rather than from the start: a packet
    /// that would use another cell goes to the slow path.
    pub cells_as_named: bool,
    /// Keys the tables' hashes: random where keys come from strangers.
    pub seed: u64,
    /// Whether [`Xdp::lane`] takes packets below 14 bytes too. Such a program is for comparing only: it cannot be attached.
    pub short_packets: bool,
    /// How packets will come: the kernel verifies only what that needs.
    pub entry: EntryPoints,
    /// What stays on the interfaces when the process ends; none: nothing.
    pub keep: Option<Keep>,
    /// With a form, [`Xdp::load`] returns before the kernel has verified the program, which takes most of the time, and all packets of interfaces go to the
    /// slow path until [`Xdp::verify`]. Not for lanes, and not with `keep`.
    pub later: Option<Form>,
    /// For tests: the number that generations begin with, and start over with.
    #[doc(hidden)]
    pub first_generation: u32,
    /// For tests: how often arrays that grow get memory.
    #[doc(hidden)]
    pub most_segments: u32,
}

impl Options {
    fn objects(&self) -> compile::Objects<'_> {
        compile::Objects { cc: self.cc.as_deref(), shipped: self.shipped.as_ref(), cache: self.cache.as_ref() }
    }
}

/// Compiles a program's text ahead, in both its forms, for tables of all sizes that fit one value of a map (512 MiB); names of the files in `to`.
///
/// # Errors
/// As for [`Xdp::load`], but for what the kernel says.
pub fn compile_ahead(text: &str, cc: Option<&Path>, to: &c_compile::Shipped) -> Result<Vec<String>, LoadError> {
    compile::ahead(text, cc, &load::forms(text), to)
}

/// The form of a program's text.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Form {
    /// With text of their own for likely packets.
    Full,
    /// Without, where the kernel refuses the full one as too large.
    Simple,
}

/// How packets come to a program.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EntryPoints {
    /// By [`Xdp::lane`], until it is attached.
    Both,
    /// On interfaces only: its lanes miss every packet.
    Interfaces,
    /// By [`Xdp::lane`] only: it cannot be attached.
    Lanes,
}

impl Default for Options {
    fn default() -> Options {
        Options {
            cc: None,
            shipped: None,
            cache: None,
            entries: 65536,
            split_entries: u64::MAX,
            shared_entries: u64::MAX,
            subset: true,
            hand_on_full: true,
            cells_as_named: false,
            seed: 0,
            short_packets: false,
            entry: EntryPoints::Both,
            keep: None,
            later: None,
            first_generation: 1,
            most_segments: u32::MAX,
        }
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
    /// For lanes, if it was loaded for them.
    test: Option<Arc<aya::programs::ProgramFd>>,
    /// Bytes behind each packet.
    behind: usize,
    /// Whether it may be attached.
    attachable: bool,
    simple: bool,
    digests: Mutex<Digests>,
    /// Whether it has been attached to an interface.
    ahead: AtomicBool,
    /// Whether another target configures the meters' cells.
    shares: AtomicBool,
    waits: Arc<Waits>,
    in_flight: Arc<InFlight>,
}

/// The clock of what is in flight, in the memory of `struct sp_control`.
struct Clock(sys::Shared);

impl Words for Clock {
    fn words(&self) -> &[AtomicU64] {
        &self.0.longs()[CLOCK / 8..][..target_api::CLOCK_WORDS]
    }
}

/// `SP_FLOWS` of the text, and bytes of a row.
const FLOWS: u64 = 1 << 16;
const FLOW: usize = 8 * target_api::ROW_WORDS;

/// Bytes behind packets of a program that takes short ones: the shortest frame of the kernel's.
const BEHIND: usize = 14;
/// Bytes of a context before hits: `ends`.
const HITS: usize = 8 * 8;
impl Xdp {
    /// Compiles `text`, which `p4-emit` has made of the program, loads it, and fills the constant tables.
    pub fn load(program: Arc<Program>, text: &str, options: &Options) -> Result<Xdp, LoadError> {
        sys::require_capabilities()?;
        if !sys::can_wait() {
            return Err(LoadError::Io("the kernel lacks the membarrier command that waits for all cores (nohz_full?)".into()));
        }
        let cpus = sys::possible_cpus();
        // Before all that takes time: it may be the operator's mistake.
        let kept = options.keep.clone().map(|keep| Folder::open(keep, cpus)).transpose()?;
        let Open { sizes, large, rooms } = load::open(&program, options, cpus)?;
        let behind = if options.short_packets { BEHIND } else { 0 };
        let entry = if options.short_packets { EntryPoints::Lanes } else { options.entry };
        let entry_points: &[&str] = match entry {
            EntryPoints::Both => &["sp_xdp", "sp_test"],
            EntryPoints::Interfaces if options.later.is_some() => &["sp_pass"],
            EntryPoints::Interfaces => &["sp_xdp"],
            EntryPoints::Lanes => &["sp_test"],
        };
        if options.later.is_some() && (entry != EntryPoints::Interfaces || kept.is_some()) {
            return Err(LoadError::Layout("only a program for interfaces that does not stay there is verified later".into()));
        }
        let (mut object, simple) = build(text, options, load::defines(behind, large), &sizes, entry_points)?;
        let mut stores = Vec::new();
        let first_generation = options.first_generation.clamp(1, LAST_GENERATION - 4);
        let context_len = object.memory_len("sp_contexts")? / cpus as usize;
        let lost = HITS + 16 * program.tables.len().max(1);
        if context_len < lost + 24 {
            return Err(LoadError::Layout("contexts are too short".into()));
        }
        let waits = Arc::new(Waits::new(first_generation, Cores::new(&object, cpus, context_len, lost + 8)?));
        for (id, info) in &program.tables {
            let (layout, t) = (CellLayout::new(&program, id), id.index());
            let (capacity, homes, total) = rooms[t];
            let cells = object.shared(&format!("sp_t{t}"), total.into(), layout.len)?;
            let defaults = object.shared(&format!("sp_d{t}"), 2, layout.len)?;
            let masks = match layout.wild {
                true => Some(object.shared(&format!("sp_m{t}"), 2, masks_len(&layout))?),
                false => None,
            };
            let words = || object.shared("sp_homes", program.tables.len() as u64, 4);
            let homes_word = program::packing::grows(info).then(words).transpose()?.map(|words| HomesWord { words, at: t });
            let (seed, waits) = (options.seed, waits.clone());
            stores.push(Store::new(info, layout, Room { cells, homes, homes_word, total, masks, defaults, capacity, seed, waits }));
        }
        let sizes: Vec<u64> = program.counters.values().map(|c| counter_size(&program, c)).collect();
        let mut counters = Vec::new();
        for (i, size) in sizes.iter().enumerate() {
            counters.push(object.shared(&format!("sp_n{i}"), (size * u64::from(cpus)).max(1), COUNTER)?);
        }
        let all = !options.cells_as_named;
        let mut meters = Vec::new();
        for (i, info) in program.meters.values().enumerate() {
            meters.push(Meter::new(&object, i, info, all)?);
        }
        let mut registers = Vec::new();
        for (i, info) in program.registers.values().enumerate() {
            registers.push(object.shared(&format!("sp_r{i}"), info.size.max(1), REGISTER)?);
        }
        let contexts = object.shared("sp_contexts", cpus.into(), context_len)?;
        let ledgers = object.shared("sp_ledgers", cpus.into(), LEDGER)?;
        let control = object.shared("sp_control", 1, CONTROL)?;
        control.word(SUBSET).store(options.subset.into(), Ordering::Relaxed);
        let clock = Clock(object.shared("sp_control", 1, CONTROL)?);
        let in_flight = Arc::new(InFlight::new(Box::new(object.shared("sp_flows", FLOWS, FLOW)?), Box::new(clock)));
        // The first commit says which tables are empty.
        control.long(GENERATION).store(first_generation.into(), Ordering::Release);
        let test = match entry {
            EntryPoints::Interfaces => None,
            _ => Some(Arc::new(object.program_fd("sp_test")?)),
        };
        let digests = Mutex::new(Digests::new(&mut object)?);
        let direct = program.tables.values().map(|t| t.direct_counter.map(|c| c.index())).collect();
        let cells = Cells { cpus, contexts, context_len, ledgers, counters, sizes, registers, direct };
        let no_room = |e: std::io::Error| LoadError::Kernel(format!("cannot make cells of counters: {e}"));
        for (id, counter) in program.counters.keys().zip(&cells.counters) {
            match &kept {
                Some(kept) if kept.counter() == id => counter.hold_all().map_err(no_room)?,
                _ if all => counter.make_room(0..usize::MAX).map_err(no_room)?,
                _ => cells.make_room(id, 0),
            }
        }
        object.open_segments()?;
        let state = State {
            object,
            stores,
            shortage: Shortage::new(&program, options.subset && options.hand_on_full),
            meters,
            control,
            generation: first_generation,
            first_generation,
            renumbered: false,
            waits: waits.clone(),
            attached: Vec::new(),
            kept,
            retired: false,
        };
        let (state, ahead, shares) = (Mutex::new(state), AtomicBool::new(false), AtomicBool::new(false));
        let attachable = entry != EntryPoints::Lanes;
        let program = program.clone();
        let xdp = Xdp { program, state, cells, test, ahead, shares, behind, attachable, simple, digests, waits, in_flight };
        xdp.constant_entries(&mut xdp.lock())?;
        Ok(xdp)
    }

    /// Entries of the source always fit; of equal ones the first wins.
    fn constant_entries(&self, state: &mut State) -> Result<(), LoadError> {
        for (id, info) in &self.program.tables {
            for entry in &info.entries {
                if matches!(state.stores[id.index()].insert(entry), Err(Refusal::Full | Refusal::Masks)) {
                    return Err(LoadError::Layout(format!("the entries of table {} do not fit", info.name)));
                }
            }
        }
        state.commit(&self.cells, &[]);
        Ok(())
    }

    /// The cells of indexed meters, by number, for the target behind this one to be loaded with: it configures them from now on, and this one
    /// executes them. `None` for direct meters. To be called before any meter is configured.
    pub fn share_meters(&self) -> Vec<Option<Arc<SharedMeter>>> {
        let mut state = self.lock();
        self.shares.store(true, Ordering::Release);
        let indexed = state.meters.iter_mut().zip(self.program.meters.values());
        indexed.map(|(meter, info)| info.table.is_none().then(|| meter.share())).collect()
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

    /// Messages of `digest()` not yet fetched, at most `most` of them, the oldest first.
    pub fn digests(&self, most: usize) -> Vec<Digest> {
        self.digests.lock().unwrap_or_else(PoisonError::into_inner).take(most)
    }

    /// Has the kernel verify the program that was to be loaded later, and puts it in the place of what has passed all packets on. That takes as long as it
    /// takes; tables can be changed meanwhile. It must be retired ([`Recovery::retire`]) when it is called: packets that are passed on are not counted by
    /// flow until then. Interfaces that are deleted meanwhile are no error.
    ///
    /// # Errors
    /// What the kernel refuses; and that it was verified, or refused, before.
    pub fn verify(&self) -> Result<(), LoadError> {
        let retired = || {
            let state = self.lock();
            if state.retired { Ok(state) } else { Err(LoadError::Layout("it is in service already".into())) }
        };
        let programs = retired()?.object.programs();
        let program = programs.load("sp_xdp");
        programs.forget();
        let program = program?;
        let mut state = retired()?;
        state.object.add("sp_xdp", program);
        let State { object, attached, .. } = &*state;
        attached.iter().try_for_each(|attached| attach::replace(object, attached))
    }

    /// The form that is loaded.
    pub fn form(&self) -> Form {
        if self.simple { Form::Simple } else { Form::Full }
    }

    /// Whether it is loaded in its simple form, since the other is too large for the kernel: without text of their own for likely
    /// packets, and slower.
    pub fn is_simple(&self) -> bool {
        self.simple
    }

    /// Tables that both targets hold, and that had no room here for one entry more: packets that would look them up go to the slow path, and changes of
    /// them have no effect here, until [`Recovery::restart`].
    pub fn slow_path_tables(&self) -> Vec<TableId> {
        let state = self.lock();
        self.program.tables.keys().filter(|t| state.shortage.has(*t)).collect()
    }

    /// Packets of attached interfaces by their end: forward, buffer, punt, drop, next (the last one: passed on).
    pub fn ends(&self) -> [u64; 5] {
        std::array::from_fn(|kind| self.cells.sum_contexts(8 * kind))
    }

    /// Attaches the program to an interface: in the driver, or, where it cannot, in front of the kernel's stack. Until
    /// [`Xdp::set_port`] it passes all packets to the kernel. It leaves the interface when the target is dropped or the process
    /// ends, however it ends.
    ///
    /// From now on lanes miss every packet, so attach before lanes are made.
    pub fn attach(&self, interface: &str, ifindex: u32) -> Result<Mode, LoadError> {
        if !self.attachable {
            let error = "the program was loaded for lanes only".to_owned();
            return Err(LoadError::Attach { interface: interface.to_owned(), error });
        }
        let mut state = self.lock();
        if !state.retired {
            self.waits.cores.set_closed(false);
        }
        let State { object, kept, .. } = &mut *state;
        let attached = match kept.as_ref().and_then(|kept| kept.link(ifindex)) {
            Some(left) => attach::adopt(object, ifindex, left)?,
            None => attach::attach(object, interface, ifindex)?,
        };
        kept.as_ref().map_or(Ok(()), |kept| kept.attached(&attached))?;
        let mode = attached.mode;
        state.attached.push(attached);
        self.ahead.store(true, Ordering::Release);
        Ok(mode)
    }

    /// Takes the program off an interface, or forgets an interface that was deleted. [`Xdp::set_way_out`] is the caller's business.
    ///
    /// # Errors
    /// [`LoadError::Io`] for an interface that cannot have been attached.
    pub fn detach(&self, ifindex: u32) -> Result<(), LoadError> {
        let mut state = self.lock();
        attach::set_port(&state.object, ifindex, None, false)?;
        state.attached.retain(|attached| attached.ifindex != ifindex);
        if let Some(kept) = &state.kept {
            kept.detached(ifindex);
        }
        Ok(())
    }

    /// Whether a program of a process before runs on an interface that has been attached, until [`Xdp::stay`].
    pub fn was_left(&self) -> bool {
        self.lock().attached.iter().any(|attached| attached.was_left)
    }

    /// From now on this program stays when the process ends, if it was loaded so ([`Options::keep`]), and runs where one of a process before has:
    /// each packet runs in one of the two. Tables must be filled, and ports set. When it returns no packet runs in the old one any more. With an error
    /// some interfaces may still have the old one.
    pub fn stay(&self) -> Result<(), LoadError> {
        let mut state = self.lock();
        let State { object, attached, kept, .. } = &mut *state;
        let Some(kept) = kept else { return Ok(()) };
        let counter = kept.counter().index();
        let maps = match self.cells.counters[counter].held() {
            Some(held) => held.map_err(|e| LoadError::Io(e.to_string()))?,
            None => vec![object.map_fd(&format!("sp_n{counter}"))?],
        };
        kept.stay(&maps, self.cells.sizes[counter], attached)?;
        let mut replaced = false;
        for attached in attached.iter_mut().filter(|attached| attached.was_left) {
            attach::replace(object, attached)?;
            (attached.was_left, replaced) = (false, true);
        }
        if replaced {
            sys::wait_for_packets().map_err(|e| LoadError::Io(cannot_wait(e).0))?;
        }
        Ok(())
    }

    /// The number of this process among those whose counters stay; `None`: nothing stays.
    pub fn epoch(&self) -> Option<u64> {
        self.lock().kept.as_ref().map(Folder::epoch)
    }

    /// What a cell of the kept counter has counted for the process with that number. It is final after [`Xdp::stay`]. `None`: that is not known.
    pub fn left_count(&self, epoch: u64, cell: u64) -> Option<Count> {
        self.lock().kept.as_ref()?.left_count(epoch, cell)
    }

    /// Forgets what processes before have counted, and takes their programs off interfaces that are not attached here.
    pub fn forget_left(&self) {
        let mut state = self.lock();
        let State { attached, kept, .. } = &mut *state;
        if let Some(kept) = kept {
            kept.forget_left(attached);
        }
    }

    /// Nothing stays when this process ends.
    ///
    /// # Errors
    /// A file cannot be deleted.
    pub fn leave_nothing(&self) -> std::io::Result<()> {
        self.lock().kept.as_ref().map_or(Ok(()), |kept| keep::remove(kept.folder()))
    }

    /// How often a change has waited for packets in flight, since it was loaded.
    pub fn waited(&self) -> Waited {
        self.waits.cores.waited()
    }

    /// For tests and benchmarks: packets in flight are waited for as where the kernel runs no program on a given core.
    #[doc(hidden)]
    pub fn wait_by_kernel(&self, by_kernel: bool) {
        self.waits.cores.set_by_kernel(by_kernel);
    }

    /// Makes `new`, which holds the same entries, run on this target's interfaces, one after the other: each packet runs in one
    /// of the two. `new` must have its ports, ways out and sockets; what was counted here stays here. With an error all is as
    /// before.
    pub fn replace_by(&self, new: &Xdp) -> Result<(), LoadError> {
        if std::ptr::eq(self, new) {
            return Ok(());
        }
        if !self.program.is_same(&new.program) {
            let named = |p: &Program| format!("{} ({})", p.name, p.fingerprint);
            let message = format!(
                "{} is to be replaced by {}: entries of one mean something else in the other",
                named(&self.program),
                named(&new.program)
            );
            return Err(LoadError::Layout(message));
        }
        if self.shares_meters() {
            return Err(LoadError::Layout("its meters' cells are shared, and would stay behind".into()));
        }
        let (mut old, mut new_state) = (self.lock(), new.lock());
        new.ahead.store(true, Ordering::Release);
        new.waits.cores.set_closed(false);
        let State { object, attached, .. } = &mut *old;
        for (n, interface) in attached.iter().enumerate() {
            if let Err(error) = attach::replace(&new_state.object, interface) {
                for moved in &attached[..n] {
                    attach::replace(object, moved)?;
                }
                return Err(error);
            }
        }
        new_state.attached.append(attached);
        // What the old program has passed on may be in flight.
        new_state.stores.iter_mut().for_each(Store::all_pending);
        Ok(())
    }

    /// Descriptor of the program that is attached to interfaces, for what runs it itself.
    pub fn program_fd(&self) -> Result<aya::programs::ProgramFd, LoadError> {
        self.lock().object.program_fd("sp_xdp")
    }

    /// Gives back what programs are loaded from, some megabytes, unless the program is still to be verified: then [`Xdp::verify`] does.
    pub fn load_no_more(&self) {
        let state = self.lock();
        if state.object.program_fd("sp_pass").is_err() {
            state.object.programs().forget();
        }
    }

    /// Loads one more program that the text has been given, on the same tables, for what measures parts of it. Changes do not wait for its packets.
    ///
    /// # Errors
    /// The kernel refuses it; or it is after [`Xdp::load_no_more`].
    pub fn load_also(&self, name: &str) -> Result<aya::programs::ProgramFd, LoadError> {
        self.lock().object.load_also(name)
    }

    /// Descriptor of the map of AF_XDP sockets, by [`socket_key`]: packets of the slow path go to the socket of the interface's slot
    /// and the queue that it came by, or, where there is none, to the kernel's stack.
    pub fn sockets(&self) -> Result<OwnedFd, LoadError> {
        self.lock().object.map_fd("sp_sockets")
    }

    /// From now on what a slot's interface passes on goes through this XDP program, by a tail call, which finds the socket of the
    /// flow's worker; the sockets at [`socket_key`] get nothing. The program is kept as long as this target.
    pub fn set_steerer(&self, slot: u32, program: BorrowedFd<'_>) -> Result<(), LoadError> {
        if slot >= attach::SLOTS {
            return Err(LoadError::Io(format!("slot {slot}: there are {}", attach::SLOTS)));
        }
        self.lock().object.put("sp_steerers", &slot.to_ne_bytes(), &program.as_raw_fd().to_ne_bytes())
    }

    /// From now on packets of an interface come in by that port, and those of the slow path go to the sockets of that slot; `None`:
    /// all of it passes to the kernel. A retired target misses every packet ([`Xdp::is_retired`]).
    pub fn set_port(&self, ifindex: u32, port: Option<(PortId, u32)>) -> Result<(), LoadError> {
        let state = self.lock();
        if !state.retired {
            self.waits.cores.set_closed(false);
        }
        attach::set_port(&state.object, ifindex, port, state.retired)
    }

    /// Whether it was retired, so that it misses every packet: [`Recovery::retire`].
    pub fn is_retired(&self) -> bool {
        self.lock().retired
    }

    /// Says which interface a port leads to: see [`sends_redirected`]. Packets that leave by ports of none go to the slow path.
    pub fn set_way_out(&self, port: PortId, ifindex: Option<u32>) -> Result<(), LoadError> {
        attach::set_way_out(&mut self.lock().object, port, ifindex)
    }

    /// Whether it has been attached to an interface, and so meets packets before the engine.
    fn is_ahead(&self) -> bool {
        self.ahead.load(Ordering::Acquire)
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
        let state = self.lock();
        let subset = state.control.word(SUBSET).load(Ordering::Relaxed) != 0;
        Capabilities { modelled: false, subset, buffers: !subset, selective: state.shortage.bits() != 0 }
    }

    fn program(&self) -> &Arc<Program> {
        &self.program
    }

    fn check(&self, batch: &Batch) -> Result<(), ApplyError> {
        let mut state = self.lock();
        let staged = self.stage(&mut state, batch, false)?;
        staged.undo(&mut state);
        Ok(())
    }

    fn apply(&self, batch: &Batch) -> Result<(), ApplyError> {
        self.apply_as(batch, false)
    }

    fn apply_deferred(&self, batch: &Batch) -> Result<(), ApplyError> {
        self.apply_as(batch, self.is_ahead())
    }

    fn lane(&self, _index: usize) -> Box<dyn Lane> {
        match &self.test {
            Some(test) if !self.is_ahead() => Box::new(XdpLane::new(test.clone(), self.behind)),
            _ => Box::new(HandingOn),
        }
    }

    fn counter(&self, counter: CounterId, index: u64) -> Count {
        match self.program.counters.get(counter) {
            Some(info) if info.table.is_none() => self.cells.sum(counter, index),
            _ => Count::default(),
        }
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

    fn facets(&self) -> Facets<'_> {
        let ahead = self.is_ahead().then_some(self as &dyn Ahead);
        Facets { ahead, recovery: Some(self), meters: Some(self), registers: Some(self), digests: Some(self), tables: Some(self) }
    }
}

impl Tables for Xdp {
    /// A table that is short ([`Xdp::handed_on_tables`]) holds less than it was given.
    fn entries(&self, table: TableId, after: Option<&Entry>, most: usize) -> Vec<HeldEntry> {
        let state = self.lock();
        let Some(store) = state.stores.get(table.index()) else { return Vec::new() };
        let counter = self.program.tables[table].direct_counter;
        let mut picker = Picker::new(after, most);
        store.offer_to(&mut picker);
        let held = |Picked { keys, priority, rest }: Picked<Held>| HeldEntry {
            entry: Entry { table, keys, priority, action: rest.action, args: rest.args },
            count: counter.zip(rest.direct).map(|(counter, cell)| self.cells.sum(counter, cell.into())),
        };
        picker.finish().into_iter().map(held).collect()
    }
}

/// Of a program that has been attached to an interface.
impl Ahead for Xdp {
    fn carried(&self) -> Carried {
        let rows = |first: usize, n: usize| {
            let counted = (0..n).map(move |i| (i, self.cells.ledger(first + i)));
            counted.filter(|(_, count)| count.packets != 0)
        };
        Carried {
            received: rows(0, PORTS).map(|(i, count)| (PortId(i as u16), count)).collect(),
            sent: rows(PORTS, PORTS).map(|(i, count)| (PortId(i as u16), count)).collect(),
            dropped: rows(2 * PORTS, REASONS).map(|(i, count)| (DropReason(i as u8), count)).collect(),
            slow_path: self.ends()[4],
        }
    }

    fn in_flight(&self) -> Arc<InFlight> {
        self.in_flight.clone()
    }

    fn begin_drain(&self) -> Option<DrainToken> {
        let mut state = self.lock();
        let mut pending = false;
        state.stores.iter_mut().for_each(|store| pending |= store.begin_drain());
        drop(state);
        if !pending && !self.in_flight.is_any() {
            return None;
        }
        let drain = self.in_flight.begin_drain(sys::monotonic_ns());
        // Not by the cores' counts: sockets show what they got when the driver is done with its packets, after our program.
        let _ = sys::wait_for_packets();
        Some(drain)
    }

    fn finish_drain(&self, drain: DrainToken) {
        // First, as rows are looked at for entries that are pending no more.
        self.in_flight.finish_drain(drain);
        self.lock().stores.iter_mut().for_each(Store::finish_drain);
    }
}

impl Recovery for Xdp {
    fn retire(&self) {
        let mut state = self.lock();
        state.retired = true;
        let mut closed = true;
        for attached in &state.attached {
            if let Err(error) = attach::close(&state.object, attached.ifindex) {
                tracing::error!("interface {} cannot be detached from XDP: {error}", attached.ifindex);
                closed = false;
            }
        }
        // Not by the cores' counts: the ledger is written, and what was redirected leaves, after a packet has read its last table.
        closed &= sys::wait_for_packets().is_ok();
        self.waits.cores.set_closed(closed && self.is_ahead());
        if self.shares_meters() {
            // Nothing leads to them any more.
            state.meters.iter_mut().for_each(Meter::clear);
        }
    }

    /// After [`Recovery::retire`], of a program on interfaces. Generations start over too.
    fn restart(&self) -> Result<(), TargetError> {
        let mut state = self.lock();
        if !state.retired || !self.is_ahead() {
            return Err(TargetError("the xdp target has not been retired".into()));
        }
        state.waits.wait().map_err(cannot_wait)?;
        let stores = std::mem::take(&mut state.stores).into_iter().zip(self.program.tables.values());
        state.stores = stores.map(|(store, info)| store.anew(info)).collect();
        // Packets of all generations are done.
        state.waits.renumber(state.first_generation);
        state.shortage.clear();
        state.meters.iter_mut().for_each(Meter::clear);
        (state.generation, state.renumbered) = (state.first_generation, false);
        state.show();
        self.constant_entries(&mut state).map_err(|e| TargetError(e.to_string()))
    }

    fn serve(&self) -> Result<(), TargetError> {
        let mut state = self.lock();
        self.waits.cores.set_closed(false);
        for attached in &state.attached {
            attach::open(&state.object, attached.ifindex).map_err(|e| TargetError(e.to_string()))?;
        }
        state.retired = false;
        // Earlier packets of the slow path are in the sockets: as above.
        sys::wait_for_packets().map_err(cannot_wait)
    }
}

impl target_api::Meters for Xdp {
    fn shares_meters(&self) -> bool {
        self.shares.load(Ordering::Acquire)
    }

    /// On the clock of lanes, or of the kernel (CLOCK_MONOTONIC) where the program is attached to interfaces.
    fn meter_state(&self, meter: MeterId, index: u64) -> Option<MeterState> {
        self.program.meters.get(meter).filter(|info| info.table.is_none())?;
        self.lock().meters[meter.index()].state(index)
    }

    fn set_meter_state(&self, meter: MeterId, index: u64, to: MeterState) -> Result<(), TargetError> {
        let indexed = self.program.meters.get(meter).is_some_and(|info| info.table.is_none());
        match indexed && self.lock().meters[meter.index()].set_state(index, to) {
            true => Ok(()),
            false => Err(TargetError(format!("meter cell {index} is not configured"))),
        }
    }
}

impl target_api::Digests for Xdp {
    fn take_digests(&self, into: &mut Vec<Digest>) {
        // As many as the ring may hold: the kernel may go on filling it.
        into.extend(self.digests(1 << 16));
    }

    fn lost_digests(&self) -> u64 {
        self.cells.sum_contexts(HITS + 16 * self.program.tables.len().max(1))
    }
}

impl Registers for Xdp {
    fn read_registers(&self, register: RegisterId, range: Range<u64>, into: &mut Vec<u64>) -> Result<(), RegisterError> {
        target_api::check_registers(&self.program, register, &range)?;
        into.extend(range.map(|index| self.register(register, index).unwrap_or(0)));
        Ok(())
    }

    fn set_register(&self, register: RegisterId, index: u64, value: u64) -> Result<(), RegisterError> {
        target_api::check_registers(&self.program, register, &(index..index.saturating_add(1)))?;
        Xdp::set_register(self, register, index, value);
        Ok(())
    }
}

fn cannot_wait(error: std::io::Error) -> TargetError {
    TargetError(format!("cannot wait for packets in flight: {error}"))
}

impl Xdp {
    /// `pending`: packets of the entries that come may be in flight.
    /// Writes all of `batch` where no packet sees it, or, with an error, nothing.
    fn stage(&self, state: &mut State, batch: &Batch, pending: bool) -> Result<Staged, ApplyError> {
        for (i, op) in batch.ops.iter().enumerate() {
            self.program.check_op(i, op)?;
        }
        self.make_room(state, batch);
        // Nothing has changed yet, but what can no longer wait for packets must get none.
        state.next_generation().map_err(|error| ApplyError::Unknown(cannot_wait(error).0))?;
        let lens = state.stores.iter().map(|s| s.len).collect();
        state.stores.iter_mut().for_each(|store| store.set_pending(pending));
        let mut staged = Staged { lens, cells: Vec::new() };
        for (i, op) in batch.ops.iter().enumerate() {
            if let Err(refusal) = state.op(op, &mut staged.cells) {
                staged.undo(state);
                return Err(self.error(i, op, refusal, state));
            }
        }
        Ok(staged)
    }

    /// Memory for what the batch brings, as far as the kernel has it. What is short of it is refused, or passed on by packets.
    fn make_room(&self, state: &mut State, batch: &Batch) {
        let mut inserts = vec![0; state.stores.len()];
        for op in &batch.ops {
            match op {
                Op::Insert(e) => inserts[e.table.index()] += 1,
                Op::ClearCounter { counter, index } => self.cells.make_room(*counter, *index),
                Op::Meter { meter, index, config: Some(_) } => state.meters[meter.index()].make_room(*index),
                _ => {}
            }
        }
        let stores = state.stores.iter_mut().zip(inserts);
        stores.filter(|(_, more)| *more > 0).for_each(|(store, more)| store.make_room(more));
    }

    fn apply_as(&self, batch: &Batch, pending: bool) -> Result<(), ApplyError> {
        let mut state = self.lock();
        let Staged { cells, .. } = self.stage(&mut state, batch, pending)?;
        for (table, why) in state.commit(&self.cells, &cells) {
            let name = &self.program.tables[table].name;
            let why = match why {
                Refusal::Masks => format!("has no room for more than {} combinations of masks or prefixes", program::packing::MAX_TUPLES),
                _ => format!("is full, with {} of {} entries", state.stores[table.index()].len, state.stores[table.index()].capacity),
            };
            tracing::warn!("table {name} of the xdp target {why}: until restart, packets that look it up go to the slow path");
        }
        // Whoever deletes wants to read final counts, and to use their cells again: no packet may be in flight that saw the old
        // entries. Where the kernel has to wait that takes milliseconds, so a session that only comes does without.
        let only_adds = |op: &Op| matches!(op, Op::Insert(_) | Op::ClearCounter { .. } | Op::Meter { config: Some(_), .. });
        if !batch.ops.iter().all(only_adds)
            && let Err(error) = state.wait_for_packets()
        {
            // It worked when the program was loaded.
            tracing::warn!("cannot wait for packets in flight: {error}");
        }
        Ok(())
    }

    fn error(&self, op: usize, of: &Op, why: Refused, state: &State) -> ApplyError {
        let table = match of {
            Op::Insert(e) | Op::Modify(e) | Op::Delete(e) => Some(e.table),
            _ => None,
        };
        let name = table.map_or_else(String::new, |t| self.program.tables[t].name.clone());
        ApplyError::Refused(match why {
            Refused::Entry(Refusal::Exists) => RuleError::Exists { op, table: name },
            Refused::Entry(Refusal::Missing) => RuleError::Missing { op, table: name },
            Refused::Entry(Refusal::Full) => {
                RuleError::Full { op, table: name, capacity: table.map_or(0, |t| state.stores[t.index()].capacity) }
            }
            Refused::Rates(meter) => {
                let table = format!("of different rates of meter {}", self.program.meters[meter].name);
                RuleError::Full { op, table, capacity: meters::MOST_PROFILES }
            }
            Refused::Lacks(what) => return ApplyError::Unsupported { op, target: self.name().to_owned(), what },
            Refused::Entry(Refusal::Masks) => RuleError::Masks { op, table: name, most: program::packing::MAX_TUPLES as u64 },
        })
    }
}
