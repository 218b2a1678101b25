//! What do control code and workers say to each other? Events come up one channel of all workers; what commands ([`crate::command`]) are made of.

use base::{Packet, PortId};
use crossbeam_channel::{Receiver, Sender};
use std::collections::VecDeque;

/// What workers tell the control plane.
#[derive(Debug)]
pub enum Event {
    /// A packet that the program punted.
    Punt {
        /// The packet as the program left it.
        packet: Packet,
        /// The program's reason.
        reason: u8,
        /// The program's mark.
        mark: u32,
    },
    /// A packet went into the queue's empty buffer, or as many wait there again.
    Buffering {
        /// The queue's number: the verdict's mark.
        queue: u32,
    },
    /// A port failed and is not used; it is reopened if possible.
    PortDown {
        /// Which.
        port: PortId,
        /// Why.
        why: String,
    },
    /// A port that had failed is used again.
    PortUp {
        /// Which.
        port: PortId,
    },
}

/// A worker is held: it sends once on `arrived`, releases what comes on `release`, drops `arrived`, and continues when `resume` ends.
pub(crate) struct Hold {
    pub(crate) arrived: Sender<()>,
    pub(crate) release: Receiver<Vec<(VecDeque<Packet>, LetGo)>>,
    pub(crate) resume: Receiver<()>,
}

/// Packets of the buckets that are set are kept, not processed, until `until` ends.
pub(crate) struct Aside {
    pub(crate) buckets: Box<[bool]>,
    pub(crate) until: Receiver<()>,
}

/// Which ports are drained.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Drained {
    Steered,
    All,
}

/// Why packets are run through the program while workers stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LetGo {
    /// They have waited in the buffer.
    Released,
    /// The control plane has kept them.
    Injected,
}
