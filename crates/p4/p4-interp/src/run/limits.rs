//! What does a chip not do for a packet? A machine that models one gives such a packet, unchanged and without effects, to the next
//! target.
//!
//! - A packet reaches each table, counter, meter and register array once; a register may be read and then written, which a chip's
//!   stateful ALU does in one go.
//! - The parser reaches so many bytes, and may lack headers of variable length.
//! - Digests leave at so many a second; more are lost, which a chip does too.
//!
//! Only in [`Mode::Subset`]: a target that holds the whole program has no slow path. Buffers, punts and copies are nothing for a
//! subset in any case.

use super::{Flow, Halt, Mode, Run};
use crate::trace::Tracer;
use p4_ir::{CounterId, Extern, MeterId, RegisterId, TableId};

/// A chip's limits to what one packet may ask for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Whether tables and cells are reached once.
    pub once: bool,
    /// Bytes that the parser reaches.
    pub parse_depth_bytes: u64,
    /// Whether headers of variable length are parsed.
    pub varbits: bool,
    /// Digests that leave in a second; at most a millisecond's worth at once.
    pub digests_per_second: u64,
}

/// How often packets asked for more. Packets are counted once each, by what they asked for first.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Beyond {
    /// A second access of a table or of cells.
    pub twice: u64,
    /// Bytes that the parser does not reach.
    pub depth: u64,
    /// A header of variable length.
    pub varbits: u64,
    /// Clones, resubmitted and recirculated packets, and multicast.
    pub copies: u64,
    /// Bytes of those packets.
    pub copied_bytes: u64,
    /// Digests that were lost.
    pub digests: u64,
}

/// What is there once.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Place {
    Table(TableId),
    Counter(CounterId),
    Meter(MeterId),
    /// And whether it was written.
    Register(RegisterId, bool),
}

/// What is known of a chip's limits, and of the packet's way so far.
#[derive(Default)]
pub(crate) struct Watch {
    pub limits: Option<Limits>,
    pub beyond: Beyond,
    pub reached: Vec<Place>,
    /// When the digests that have left will be through.
    digests_until_ns: u64,
}

impl<T: Tracer> Run<'_, '_, T> {
    fn limits(&self) -> Option<Limits> {
        self.work.watch.limits.filter(|_| self.input.mode == Mode::Subset)
    }

    /// Records that the packet reaches a place; it continues if it has been there.
    pub(super) fn reach(&mut self, place: Place) -> Option<Flow> {
        if !self.limits()?.once {
            return None;
        }
        let reached = &mut self.work.watch.reached;
        let again = match place {
            // Read and then written is one access.
            Place::Register(r, true) => {
                reached.contains(&place)
                    || (reached.contains(&Place::Register(r, false)) && reached.last() != Some(&Place::Register(r, false)))
            }
            Place::Register(r, false) => reached.contains(&place) || reached.contains(&Place::Register(r, true)),
            _ => reached.contains(&place),
        };
        if again {
            self.work.watch.beyond.twice += 1;
            return Some(Flow::Halt(Halt::Beyond));
        }
        reached.push(place);
        None
    }

    pub(super) fn reach_extern(&mut self, e: &Extern) -> Option<Flow> {
        match e {
            Extern::Count { counter, .. } => self.reach(Place::Counter(*counter)),
            Extern::Meter { meter, .. } => self.reach(Place::Meter(*meter)),
            Extern::RegisterRead { register, .. } => self.reach(Place::Register(*register, false)),
            Extern::RegisterWrite { register, .. } => self.reach(Place::Register(*register, true)),
            _ => None,
        }
    }

    /// Whether the parser can take what ends at byte `end`.
    pub(super) fn parses(&mut self, end: usize, varbit: bool) -> Option<Flow> {
        let limits = self.limits()?;
        let beyond = &mut self.work.watch.beyond;
        match () {
            () if varbit && !limits.varbits => beyond.varbits += 1,
            () if end as u64 > limits.parse_depth_bytes => beyond.depth += 1,
            () => return None,
        }
        Some(Flow::Halt(Halt::Beyond))
    }

    /// Whether a digest leaves, or is lost.
    pub(super) fn digest_leaves(&mut self) -> bool {
        let Some(limits) = self.limits() else { return true };
        let now = self.input.now_ns;
        let watch = &mut self.work.watch;
        if watch.digests_until_ns > now.saturating_add(1_000_000) || limits.digests_per_second == 0 {
            watch.beyond.digests += 1;
            return false;
        }
        watch.digests_until_ns = watch.digests_until_ns.max(now).saturating_add(1_000_000_000 / limits.digests_per_second);
        true
    }
}
