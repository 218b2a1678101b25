//! One trait for everything that can run a program: x86, a switch chip's model, the kernel's XDP hook.
//!
//! A [`Target`] owns tables and counters and is driven by one control plane; a [`Lane`] is its share in one
//! worker: the part that sees packets. What only some targets have is a [facet](Facets). All others know targets only through these.
#![forbid(unsafe_code)]

mod asks;
mod entries;
mod facets;
mod in_flight;
mod meters;
mod rates;
mod replicate;

pub use asks::Asks;
pub use entries::{HeldEntry, Picked, Picker, Tables, all_entries, in_chunks};
pub use facets::{Ahead, Carried, Digests, Facets, MeterState, Meters, Recovery, RegisterError, Registers, TargetError, check_registers};
pub use in_flight::{CLOCK_WORDS, DrainToken, InFlight, ROW_WORDS, SLACK_NS};
pub use meters::{CELL_WORDS, Executed, ONE_RATE, PROFILE_WORDS, PROFILES, SharedMeter, WAITING, WAITING_ONE, Words};
pub use rates::{Rates, Taken};
pub use replicate::{Replicating, ServicesError};
pub use service::{FIELDS_MAX, Order, Outcome, Question};

use base::{Packet, Verdict};
use program::{ApplyError, Batch, CounterId, MeterId, Program, TableId};
use std::sync::Arc;

/// Most packets that [`Lane::process`] takes at once.
pub const BURST: usize = 64;

/// A place where a program runs.
///
/// Control calls (`apply`, counters) may come while lanes process packets on other threads: a lane sees a batch
/// entirely or not at all within one burst. What only some targets can do is a facet ([`Target::facets`]).
pub trait Target: Send + Sync {
    /// Short name: `x86`, `asic`.
    fn name(&self) -> &str;

    /// What the target can hold and do.
    fn capabilities(&self) -> Capabilities;

    /// The program it runs.
    fn program(&self) -> &Arc<Program>;

    /// The first phase of a change of several targets: whether [`Target::apply`] would take `batch`, as things are. Nothing changes, whatever the answer.
    /// It holds until the next change; [`ApplyError::Unknown`] says that the target cannot tell.
    fn check(&self, batch: &Batch) -> Result<(), ApplyError>;

    /// Applies all of `batch`, or, with [`ApplyError::Refused`] and [`ApplyError::Unsupported`], nothing of it. After
    /// [`ApplyError::Unknown`] some of it may have been applied. Full tables refuse; they never evict.
    fn apply(&self, batch: &Batch) -> Result<(), ApplyError>;

    /// As [`Target::apply`], of entries whose packets another target has run until now: none of those in flight there may be overtaken. On a
    /// target [ahead](Ahead) of the engine the entries are *pending*, and their packets go to the slow path, until a drain has finished that began after
    /// this. Elsewhere it is the same as [`Target::apply`].
    fn apply_deferred(&self, batch: &Batch) -> Result<(), ApplyError>;

    /// A new worker's share. `index` counts workers from 0 and makes per-worker storage.
    fn lane(&self, index: usize) -> Box<dyn Lane>;

    /// A cell of an indexed counter, summed over all lanes past and present.
    fn counter(&self, counter: CounterId, index: u64) -> Count;

    /// Entries, capacity, hits and misses of a table, summed over all lanes.
    fn table_stats(&self, table: TableId) -> TableStats;

    /// What this target can do beyond the above. Whoever wraps a target names each facet, so that none is lost in silence.
    fn facets(&self) -> Facets<'_>;
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

    fn check(&self, batch: &Batch) -> Result<(), ApplyError> {
        (**self).check(batch)
    }

    fn apply(&self, batch: &Batch) -> Result<(), ApplyError> {
        (**self).apply(batch)
    }

    fn apply_deferred(&self, batch: &Batch) -> Result<(), ApplyError> {
        (**self).apply_deferred(batch)
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

    fn facets(&self) -> Facets<'_> {
        (**self).facets()
    }
}

/// A worker's share of a target. Dropped at the end of the worker; its counts remain in the target.
///
/// No method has a default: a wrapper would lose it in silence. A lane says what it does not do by [`lane_without`].
pub trait Lane: Send {
    /// Runs the program on up to [`BURST`] packets.
    ///
    /// On return `verdicts[i]` tells what becomes of `packets[i]`, whose bytes are the deparsed packet for
    /// forward, buffer and punt, and the packet as received for next. After a drop its length is as received and its
    /// bytes are unspecified: a target may have edited them in place. After kept the packet is void, or a spare one: a service that the program called
    /// has it, and it comes back by [`Lane::poll`].
    ///
    /// A packet with the verdict buffer waits ahead of the program, where the caller keeps it: in a service that all lanes share ([`service::Shared`]), until
    /// control code releases its queue, the verdict's mark. With the verdict shape it waits until the meter's cell of that number lets it pass ([`Lane::shape`]).
    /// Then it is given to this again, to any lane, as if it had just come: what the program has changed of it before, it changes twice.
    /// `now_ns` is the burst's arrival time on a clock that never goes back: meters and timestamps use it. The engine gives CLOCK_MONOTONIC, which
    /// a target ahead of it reads too.
    ///
    /// # Panics
    /// If the slices differ in length or are longer than [`BURST`].
    fn process(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64);

    /// As [`Lane::process`], of a program that was cut where it calls services: the look-ups that stand for calls ([`Program::asks`]) are put to `asks`. A lane that
    /// cannot ask finds nothing there, and its packets stop at the calls.
    fn process_asking(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64, asks: &mut dyn Asks);

    /// Appends the packets that the last burst made beside those that came in: clones and multicast copies (v1model), in
    /// the order of the packets that they were made of. A lane that never makes any leaves this as it is;
    /// callers ask after every burst, and what they do not take is lost with the next one.
    fn take_extra(&mut self, into: &mut Vec<Extra>);

    /// The target of a chain, counted from its front, that gave the verdict of that packet of the last burst: for who looks at packets. 0 of one that is no chain.
    fn ran_by(&self, place: usize) -> u8;

    /// Appends packets that services had and that are through the program now, and copies that services made of packets that they still have. Each that was
    /// kept comes out once, with a verdict that is neither next nor kept again; one that is kept anew by a further call stays out until that is answered.
    /// A packet that was lost with its service comes out empty, with a drop.
    ///
    /// Callers ask after every burst, and without one by [`Lane::next_poll_ns`]. `now_ns` is as for [`Lane::process`].
    fn poll(&mut self, now_ns: u64, into: &mut Vec<Returned>);

    /// When [`Lane::poll`] must be called at the latest, on the clock of [`Lane::process`]; `None`: nothing is waited for.
    fn next_poll_ns(&self) -> Option<u64>;

    /// From now on packets that find a cell of this indexed meter red may wait: the worker keeps them and asks by [`Lane::with_rates`]. `false` if the lane
    /// cannot: they are to be dropped.
    fn shape(&mut self, meter: MeterId) -> bool;

    /// Adds to cells of an indexed counter, beside what the program counts in them: of packets that it has sent, and that leave later, or never. `false` if the
    /// lane cannot, which it says of none too.
    fn count(&mut self, counter: CounterId, more: &[Counted]) -> bool;

    /// Lends the rates of the meter that [`Lane::shape`] named, all of one moment between two batches; not called where there is none.
    fn with_rates(&mut self, work: &mut dyn FnMut(&mut dyn Rates));
}

/// In an `impl` of [`Lane`]: the methods of those names say that the lane does no such thing. It asks no service, makes no copies, is no chain, has no packets
/// with services, lets none wait for a rate, and adds nothing to counters.
#[macro_export]
macro_rules! lane_without {
    ($($method:ident),+) => { $($crate::lane_without!(@ $method);)+ };
    (@ process_asking) => {
        fn process_asking(&mut self, packets: &mut [$crate::lane::Packet], verdicts: &mut [$crate::lane::Verdict], now_ns: u64, _: &mut dyn $crate::Asks) {
            $crate::Lane::process(self, packets, verdicts, now_ns);
        }
    };
    (@ take_extra) => { fn take_extra(&mut self, _: &mut Vec<$crate::Extra>) {} };
    (@ ran_by) => { fn ran_by(&self, _: usize) -> u8 { 0 } };
    (@ poll) => { fn poll(&mut self, _: u64, _: &mut Vec<$crate::Returned>) {} };
    (@ next_poll_ns) => { fn next_poll_ns(&self) -> Option<u64> { None } };
    (@ shape) => { fn shape(&mut self, _: $crate::lane::MeterId) -> bool { false } };
    (@ count) => { fn count(&mut self, _: $crate::lane::CounterId, _: &[$crate::Counted]) -> bool { false } };
    (@ with_rates) => { fn with_rates(&mut self, _: &mut dyn FnMut(&mut dyn $crate::Rates)) {} };
}

/// What [`lane_without`] names.
#[doc(hidden)]
pub mod lane {
    pub use base::{Packet, Verdict};
    pub use program::{CounterId, MeterId};
}

/// A packet that comes back from a service.
#[derive(Clone, Debug)]
pub struct Returned {
    /// The packet. Bytes as [`Lane::process`] leaves them.
    pub packet: Packet,
    /// What becomes of it.
    pub verdict: Verdict,
    /// Whether it is beside those that came in: a copy that a service made, while it still has the packet; or of which the program made one when it went on.
    pub copy: bool,
}

/// A packet that a burst made beside those that came in.
#[derive(Clone, Debug)]
pub struct Extra {
    /// The packet; its `port` is that of the packet it was made of. Bytes as [`Lane::process`] leaves them.
    pub packet: Packet,
    /// What becomes of it. Never [`base::VerdictKind::Next`]; [`base::VerdictKind::Kept`] if a service has it.
    pub verdict: Verdict,
}

/// What a target can hold and do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Capabilities {
    /// Whether its speed and resources are a model's, not a device's: reports must say "modelled".
    pub modelled: bool,
    /// Whether it can hold a subset of `@split` tables and give [`base::VerdictKind::Next`] on a miss.
    pub subset: bool,
    /// Whether it can buffer and punt. A chip passes such packets to the next target instead.
    pub buffers: bool,
    /// Whether it may pass on a packet of a session that it holds, because the packet asks for more than it does. A session with a rate
    /// stays away from it, since the rate would be policed in two places, unless it shares its meters.
    pub selective: bool,
}

/// What is added to a counter's cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Counted {
    /// The cell.
    pub cell: u32,
    /// Packets, or less than zero: taken off again.
    pub packets: i32,
    /// Their bytes, as the program counts them.
    pub bytes: i32,
}

/// Packets and bytes. For a counter of one unit the other field is zero. Of one target that others run in front of, they may be less than zero, as two's
/// complement, where it takes off what those have counted ([`Lane::count`]).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Count {
    /// Packets.
    pub packets: u64,
    /// Bytes, from the first byte of the frame as received (v1model's `packet_length`).
    pub bytes: u64,
}

impl std::ops::AddAssign for Count {
    fn add_assign(&mut self, other: Count) {
        self.packets = self.packets.wrapping_add(other.packets);
        self.bytes = self.bytes.wrapping_add(other.bytes);
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
