//! What only some targets can do, each as a trait of its own.

use crate::Count;
#[cfg(doc)]
use crate::SharedMeter;
use crate::entries::Tables;
use crate::in_flight::{DrainToken, InFlight};
use base::{DropReason, PortId};
use program::{Digest, MeterId, Program, RegisterId};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::Arc;

/// The facets of a target. A new one is a new field, so the compiler finds every wrapper that lacks it.
#[derive(Clone, Copy)]
pub struct Facets<'a> {
    /// It meets packets before the engine does. Whether it does changes only while no lanes exist.
    pub ahead: Option<&'a dyn Ahead>,
    /// It can lose what it holds, be retired, and be recovered.
    pub recovery: Option<&'a dyn Recovery>,
    /// The buckets of its meters can be read and set.
    pub meters: Option<&'a dyn Meters>,
    /// Its registers can be read.
    pub registers: Option<&'a dyn Registers>,
    /// Its program sends messages to the control plane.
    pub digests: Option<&'a dyn Digests>,
    /// Its tables can be read back.
    pub tables: Option<&'a dyn Tables>,
}

impl Facets<'_> {
    /// Of a target that has none. Not for a wrapper, which must say of each what becomes of it.
    pub const NONE: Facets<'static> = Facets { ahead: None, recovery: None, meters: None, registers: None, digests: None, tables: None };
}

/// A target that meets packets before the engine does, as a program on an interface: the engine sees only what it passes on, and its
/// lanes need not be asked.
///
/// **Order.** It passes on packets of a flow as long as earlier ones are in flight in the engine ([`InFlight`]), though its entries let them
/// pass. What it cannot count by flow is drained now and then: [`Ahead::begin_drain`], then wait until the engine has sent
/// all that was in its ports, then [`Ahead::finish_drain`].
pub trait Ahead: Send + Sync {
    /// The packets that it finished itself.
    fn carried(&self) -> Carried;

    /// What it has passed on by flow, and has not been sent or dropped yet; the engine counts that.
    fn in_flight(&self) -> Arc<InFlight>;

    /// Waits until all that it has passed on so far is in the engine's ports: some milliseconds, so not on a thread that others wait for. None:
    /// there is nothing to drain. One drain at a time: the next begins when this one has finished, or was given up.
    fn begin_drain(&self) -> Option<DrainToken>;

    /// All that went to the slow path before the drain began has been sent, is lost, or waits in a buffer: entries that were pending
    /// then ([`crate::Target::apply_deferred`]) are so no longer.
    fn finish_drain(&self, drain: DrainToken);
}

/// The packets that a target ahead of the engine finished. Those that it passes on are in none of the rows.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Carried {
    /// Packets and bytes as received, by the port that they came in by. As many packets as were sent and dropped.
    pub received: BTreeMap<PortId, Count>,
    /// Packets and bytes as sent, by the port that they left by.
    pub sent: BTreeMap<PortId, Count>,
    /// Packets and bytes as received, by the reason for the drop.
    pub dropped: BTreeMap<DropReason, Count>,
    /// Packets that it passed on.
    pub slow_path: u64,
}

/// A target that can be out of service.
pub trait Recovery: Send + Sync {
    /// From now on it misses every packet.
    fn retire(&self);

    /// Begins anew, where a target has lost what it held: tables and default actions as declared, no meter configured; counters go on.
    /// Until then such a target answers every batch with [`program::ApplyError::Unknown`] and its lanes miss every packet: it
    /// never comes back by itself with less than its owner believes. An error if there is nothing to begin, or it cannot yet.
    fn restart(&self) -> Result<(), TargetError>;

    /// After [`Recovery::retire`]: from now on it runs packets again. On return no packet is in flight that
    /// has met it as it was before, but for those in the engine's ports.
    fn serve(&self) -> Result<(), TargetError>;
}

/// A target whose indexed meters tell what is in their buckets.
pub trait Meters: Send + Sync {
    /// Whether its cells are those of the target behind it, in the same memory: a rate is policed in one place then, wherever the
    /// packets run, and no buckets need to move. See [`SharedMeter`].
    fn shares_meters(&self) -> bool;

    /// The buckets of a cell, to go along where the cell's packets move. `None` if the cell is not configured or the target cannot tell.
    /// Exact while no lane is within a burst.
    fn meter_state(&self, meter: MeterId, index: u64) -> Option<MeterState>;

    /// Sets the buckets of a configured cell, as far as they hold so much; its rates stay. To be called while no lane is within a
    /// burst. An error if the cell is not configured.
    fn set_meter_state(&self, meter: MeterId, index: u64, state: MeterState) -> Result<(), TargetError>;
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

/// A target that gives out its registers, and has them set.
pub trait Registers: Send + Sync {
    /// Appends the cells of a register array in that range to `into`, in their order. Each is read whole; packets in flight
    /// may change some of them meanwhile.
    fn read_registers(&self, register: RegisterId, range: Range<u64>, into: &mut Vec<u64>) -> Result<(), RegisterError>;

    /// Sets a cell; bits beyond the register's width are left out. A packet in flight may write it at the same time: the later one wins.
    fn set_register(&self, register: RegisterId, index: u64, value: u64) -> Result<(), RegisterError>;
}

/// A target whose program sends messages to the control plane (v1model's `digest`).
pub trait Digests: Send + Sync {
    /// Appends the messages since the last call, those of a lane in order. A target keeps some thousands of them; what finds no
    /// room is lost, and counted.
    fn take_digests(&self, into: &mut Vec<Digest>);

    /// Messages that were lost since the program was loaded.
    fn lost_digests(&self) -> u64;
}

/// What a target could not do, and why, as a text. Nothing has changed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct TargetError(pub String);

/// Why registers cannot be read or set. Nothing has changed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RegisterError {
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
