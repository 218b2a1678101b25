//! One trait for everything that can run a program: x86, a switch chip's model, the kernel's XDP hook.
//!
//! A [`Target`] owns tables and counters and is driven by one control plane; a [`Lane`] is its share in one
//! worker: the part that sees packets. `upf`, `offload` and `engine` know targets only through these two.
#![forbid(unsafe_code)]

mod meters;
mod replicate;
mod under_way;

pub use meters::{CELL_WORDS, ONE_RATE, PROFILE_WORDS, SharedMeter, Words};
pub use replicate::Replicating;
pub use under_way::{CLOCK_WORDS, ROW_WORDS, SLACK_NS, UnderWay};

use base::{DropReason, Packet, PortId, Verdict};
use program::{Batch, CounterId, Digest, MeterId, Program, RegisterId, RuleError, TableId};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// Most packets that [`Lane::process`] takes at once.
pub const BURST: usize = 64;

/// A place where a program runs.
///
/// Control calls (`apply`, counters) may come while lanes process packets on other threads: a lane sees a batch
/// entirely or not at all within one burst.
pub trait Target: Send + Sync {
    /// Short name: `x86`, `asic`.
    fn name(&self) -> &str;

    /// What the target can hold and do.
    fn capabilities(&self) -> Capabilities;

    /// The program it runs.
    fn program(&self) -> &Arc<Program>;

    /// Applies all of `batch`, or, with an error, nothing of it. Full tables refuse; they never evict.
    fn apply(&self, batch: &Batch) -> Result<(), RuleError>;

    /// As [`Target::apply`], of a session whose packets another target has run until now: none of those that are on their way there may be
    /// overtaken. Only a target that meets packets before the engine does needs to do more for it.
    fn take_over(&self, batch: &Batch) -> Result<(), RuleError> {
        self.apply(batch)
    }

    /// A new worker's share. `index` counts workers from 0 and makes per-worker storage.
    fn lane(&self, index: usize) -> Box<dyn Lane>;

    /// A cell of an indexed counter, summed over all lanes past and present.
    fn counter(&self, counter: CounterId, index: u64) -> Count;

    /// Appends the cells of a register array in that range to `into`, in their order. Each is read whole; packets that are on
    /// their way may change some of them meanwhile. A target that has no registers, or does not give them out, says so.
    fn read_registers(&self, _register: RegisterId, _range: Range<u64>, _into: &mut Vec<u64>) -> Result<(), RegisterError> {
        Err(RegisterError::NotSupported)
    }

    /// Entries, capacity, hits and misses of a table, summed over all lanes.
    fn table_stats(&self, table: TableId) -> TableStats;

    /// Appends the messages that the program sent to the control plane since the last call (v1model's `digest`), those of a lane in
    /// order. A target keeps some thousands of them; what finds no room is lost, and counted.
    fn take_digests(&self, _into: &mut Vec<Digest>) {}

    /// Messages that were lost since the program was loaded.
    fn lost_digests(&self) -> u64 {
        0
    }

    /// Begins anew, where a target has lost what it held: tables and default actions as declared, no meter configured; counters go on.
    /// Until it is told to, such a target refuses every batch with [`RuleError::Target`] and its lanes hand all packets on: it
    /// never comes back by itself with less than its owner believes. An error if there is nothing to begin, or it cannot yet.
    fn restart(&self) -> Result<(), RuleError> {
        Err(RuleError::Target(format!("the {} target has not lost anything", self.name())))
    }

    /// The buckets of a cell of an indexed meter, to go along where the cell's packets move. `None` if the cell is not
    /// configured or the target cannot tell. Exact while no lane is within a burst.
    fn meter_state(&self, _meter: MeterId, _index: u64) -> Option<MeterState> {
        None
    }

    /// Sets the buckets of a configured cell, as far as they hold so much; its rates stay. To be called while no lane is within a
    /// burst. An error if the cell is not configured or the target cannot.
    fn set_meter_state(&self, _meter: MeterId, _index: u64, _state: MeterState) -> Result<(), RuleError> {
        Err(RuleError::Target(format!("the {} target does not take buckets over", self.name())))
    }

    /// Whether the indexed meters' cells are those of the target behind it, in the same memory: a rate is policed in one place then, wherever the
    /// packets run, and no buckets need to move. See [`SharedMeter`].
    fn shares_meters(&self) -> bool {
        false
    }

    /// What the target carried by itself, if it meets packets before the engine does, as a program on an interface: the engine
    /// then sees only what it hands on, and its lanes need not be asked. `None`: packets reach it by its lanes only. Which of the
    /// two does not change while lanes exist.
    fn carried(&self) -> Option<Carried> {
        None
    }

    /// Whether [`Target::carried`] gives something, without summing it up.
    fn is_ahead(&self) -> bool {
        false
    }

    /// Of a target ahead of the engine: what it has handed on by flow and has not left yet. It hands on packets of a flow as long as earlier ones
    /// are under way, though its entries let them pass: none is overtaken. The engine counts what has left.
    fn under_way(&self) -> Option<Arc<UnderWay>> {
        None
    }

    /// Waits until all that a target ahead of the engine has handed on so far is in the engine's ports, and gives the moment, in ns of
    /// CLOCK_MONOTONIC. When all of that has left, or waits in a buffer, tell it by [`Target::left`]: until then it hands on what its new entries
    /// let pass. To be called now and then; none: there is nothing to wait for.
    fn handed_on(&self) -> Option<u64> {
        None
    }

    /// What was handed on before that moment has left, is lost, or waits in a buffer. For targets that are not ahead there is nothing to do.
    fn left(&self, _moment: u64) {}

    /// From now on a target that meets packets before the engine hands all of them on. For others there is nothing to do.
    fn retire(&self) {}

    /// After [`Target::retire`]: from now on a target that meets packets before the engine runs them again. On return no packet is under way that
    /// has met it as it was before, but for those in the engine's ports. For others there is nothing to do.
    fn serve(&self) -> Result<(), RuleError> {
        Ok(())
    }
}

/// A target that several hold.
impl<T: Target + ?Sized> Target for Arc<T> {
    fn name(&self) -> &str {
        (**self).name()
    }

    fn capabilities(&self) -> Capabilities {
        (**self).capabilities()
    }

    fn program(&self) -> &Arc<Program> {
        (**self).program()
    }

    fn apply(&self, batch: &Batch) -> Result<(), RuleError> {
        (**self).apply(batch)
    }

    fn take_over(&self, batch: &Batch) -> Result<(), RuleError> {
        (**self).take_over(batch)
    }

    fn lane(&self, index: usize) -> Box<dyn Lane> {
        (**self).lane(index)
    }

    fn counter(&self, counter: CounterId, index: u64) -> Count {
        (**self).counter(counter, index)
    }

    fn table_stats(&self, table: TableId) -> TableStats {
        (**self).table_stats(table)
    }

    fn read_registers(&self, register: RegisterId, range: Range<u64>, into: &mut Vec<u64>) -> Result<(), RegisterError> {
        (**self).read_registers(register, range, into)
    }

    fn take_digests(&self, into: &mut Vec<Digest>) {
        (**self).take_digests(into);
    }

    fn lost_digests(&self) -> u64 {
        (**self).lost_digests()
    }

    fn carried(&self) -> Option<Carried> {
        (**self).carried()
    }

    fn is_ahead(&self) -> bool {
        (**self).is_ahead()
    }

    fn under_way(&self) -> Option<Arc<UnderWay>> {
        (**self).under_way()
    }

    fn handed_on(&self) -> Option<u64> {
        (**self).handed_on()
    }

    fn left(&self, moment: u64) {
        (**self).left(moment);
    }

    fn retire(&self) {
        (**self).retire();
    }

    fn serve(&self) -> Result<(), RuleError> {
        (**self).serve()
    }

    fn shares_meters(&self) -> bool {
        (**self).shares_meters()
    }

    fn restart(&self) -> Result<(), RuleError> {
        (**self).restart()
    }

    fn meter_state(&self, meter: MeterId, index: u64) -> Option<MeterState> {
        (**self).meter_state(meter, index)
    }

    fn set_meter_state(&self, meter: MeterId, index: u64, state: MeterState) -> Result<(), RuleError> {
        (**self).set_meter_state(meter, index, state)
    }
}

/// What a target carried that meets packets before the engine does. Packets that it hands on are in none of the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// Packets and bytes as received, by the port that they came in by. As many packets as were sent and dropped.
    pub received: BTreeMap<PortId, Count>,
    /// Packets and bytes as sent, by the port that they left by.
    pub sent: BTreeMap<PortId, Count>,
    /// Packets and bytes as received, by the reason for the drop.
    pub dropped: BTreeMap<DropReason, Count>,
    /// Packets that it handed on.
    pub handed_on: u64,
}

/// Why registers cannot be read. `into` is as it was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
    /// The target does not give them out.
    #[error("registers cannot be read on this target")]
    NotSupported,
    /// There is no such register, or it has fewer cells.
    #[error("the register has {size} cells")]
    OutOfRange {
        /// Its cells; 0 if there is none.
        size: u64,
    },
    /// Its cells have more than 64 bits.
    #[error("cells of {width} bits do not fit 64")]
    TooWide {
        /// Bits of a cell.
        width: u32,
    },
}

/// Whether the program has that register with that range of cells, and whether they fit a word: what every target asks first.
pub fn check_registers(program: &Program, register: RegisterId, range: &Range<u64>) -> Result<(), RegisterError> {
    let Some(info) = program.registers.get(register) else {
        return Err(RegisterError::OutOfRange { size: 0 });
    };
    if info.width > 64 {
        return Err(RegisterError::TooWide { width: info.width });
    }
    if range.start > range.end || range.end > info.size {
        return Err(RegisterError::OutOfRange { size: info.size });
    }
    Ok(())
}

/// A worker's share of a target. Dropped at the end of the worker; its counts remain in the target.
pub trait Lane: Send {
    /// Runs the program on up to [`BURST`] packets.
    ///
    /// On return `verdicts[i]` tells what becomes of `packets[i]`, whose bytes are the deparsed packet for
    /// forward, buffer and punt, and the packet as received for next. After a drop its length is as received and its
    /// bytes are unspecified: a target may have edited them in place.
    /// `now_ns` is the burst's arrival time on a clock that never goes back: meters and timestamps use it. The engine gives CLOCK_MONOTONIC, which
    /// a target ahead of it reads too.
    ///
    /// # Panics
    /// If the slices differ in length or are longer than [`BURST`].
    fn process(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64);

    /// Appends the packets that the last burst made beside those that came in: clones and multicast copies (v1model), in
    /// the order of the packets that they were made of. A lane that never makes any, like the UPF's, leaves this as it is;
    /// callers ask after every burst, and what they do not take is lost with the next one.
    fn take_extra(&mut self, _into: &mut Vec<Extra>) {}
}

/// A packet that a burst made beside those that came in.
#[derive(Clone, Debug)]
pub struct Extra {
    /// The packet; its `port` is that of the packet it was made of. Bytes as [`Lane::process`] leaves them.
    pub packet: Packet,
    /// What becomes of it. Never [`base::VerdictKind::Next`].
    pub verdict: Verdict,
}

/// What a target can hold and do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Whether its speed and resources are a model's, not a device's: reports must say "modelled".
    pub modelled: bool,
    /// Whether it can hold a subset of `@split` tables and give [`base::VerdictKind::Next`] on a miss.
    pub subset: bool,
    /// Whether buffered and punted packets may leave it directly. A chip hands them to the next target instead.
    pub buffers: bool,
    /// Whether it may hand on a packet of a session that it holds, because the packet asks for more than it does. A session with a rate
    /// stays away from it, since the rate would be policed in two places, unless it shares its meters.
    pub selective: bool,
}

/// Packets and bytes. For a counter of one unit the other field is zero.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes, from the first byte of the frame as received (v1model's `packet_length`).
    pub bytes: u64,
}

impl std::ops::AddAssign for Count {
    fn add_assign(&mut self, other: Count) {
        self.packets += other.packets;
        self.bytes += other.bytes;
    }
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

/// What is in the two buckets of a meter's cell (RFC 2698).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MeterState {
    /// Committed bucket, in 10^-9 units.
    pub committed: u64,
    /// Peak bucket, in 10^-9 units.
    pub peak: u64,
    /// Latest time that the cell has seen, on the clock of [`Lane::process`]; 0 before the first packet.
    pub last_ns: u64,
}
