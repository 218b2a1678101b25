//! Keeps packets until they are acknowledged: the ARQ buffer of a gNodeB, which P4 cannot be.
//!
//! | file | question it answers |
//! |---|---|
//! | [`payload`] | what is a packet to the buffer? |
//! | [`rlc`] | by bearer and sequence number, as RLC AM needs it: which packets wait, which are sent again, when is a poll due? |
//! | [`service`](mod@service) | how does a P4 program call it? |
//! | [`status`] | what does a STATUS PDU acknowledge, and what is missing? |
//! | [`resubmit`] | by packet id, as published: send each packet again every n ms until a status names it. Its [`resubmit::service`] is what programs call |
//! | [`idle`] | how do packets wait for a receiver that is idle, until control code releases them? |
//! | `store` | where are they, and copies of them? |
//! | `wheel` | which timers may be due? |
//!
//! A lane calls it a burst at a time. Nothing here does I/O, reads a clock or starts threads: time is nanoseconds given with each call.
//! A clock that goes back stands still. Memory is taken when a buffer is made or a bearer is added; keeping, acknowledging and
//! retransmitting allocate nothing. The service keeps packets and copies in memory that grows to what was kept at once, of each size of copies.
//!
//! **Packets are not copied**, unless the service is asked to keep a copy. The buffer is generic over a handle ([`Payload`]): it is moved in by `keep`, lent for a retransmission, and
//! moved out by an [`Event`]. For [`base::Packet`] 32 bytes are moved and the packet's bytes stay where they are. A lane whose ports lend it
//! a burst of packets sends the burst first, then moves each packet that must be kept out of it with `std::mem::replace` and a
//! spare one; packets that are acknowledged are the next spares. Where sending ends later than keeping, the handle is an
//! `Arc`, or a reference-counted mbuf.
//!
//! **Every packet that is given in comes out once**: as acknowledged, or discarded with a [`Reason`]; until then it is kept. [`Counters`]
//! say so: `offered` is `acknowledged`, all of `discarded` and what is kept now.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod idle;
pub mod payload;
pub mod plain;
pub mod resubmit;
pub mod rlc;
pub mod service;
pub mod status;
mod store;
mod wheel;

pub use payload::Payload;
pub use resubmit::ResubmitBuffer;
pub use rlc::RlcBuffer;

/// Why a packet was discarded.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
#[repr(usize)]
pub enum Reason {
    /// There is no such bearer.
    NoBearer,
    /// Its sequence number, or one after it, was given before.
    OutOfOrder,
    /// Its sequence number is beyond the window: too many wait already.
    Window,
    /// Its bearer has no room for so many bytes.
    BearerBytes,
    /// The buffer holds as many packets as it may.
    Packets,
    /// The buffer holds as many bytes as it may.
    Bytes,
    /// A packet with this id is kept already.
    Duplicate,
    /// It was sent as often as is allowed.
    Attempts,
    /// The upper layer asked for it.
    UpperLayer,
    /// Its bearer was removed.
    Removed,
}

impl Reason {
    /// All of them, in the order of their numbers.
    pub const ALL: [Reason; 10] = [
        Reason::NoBearer,
        Reason::OutOfOrder,
        Reason::Window,
        Reason::BearerBytes,
        Reason::Packets,
        Reason::Bytes,
        Reason::Duplicate,
        Reason::Attempts,
        Reason::UpperLayer,
        Reason::Removed,
    ];

    /// Its name in counters.
    pub fn name(self) -> &'static str {
        match self {
            Reason::NoBearer => "no_bearer",
            Reason::OutOfOrder => "out_of_order",
            Reason::Window => "window",
            Reason::BearerBytes => "bearer_bytes",
            Reason::Packets => "packets",
            Reason::Bytes => "bytes",
            Reason::Duplicate => "duplicate",
            Reason::Attempts => "attempts",
            Reason::UpperLayer => "upper_layer",
            Reason::Removed => "removed",
        }
    }
}

/// A packet that is not kept, given back.
#[derive(Debug)]
pub struct Refused<P> {
    /// The packet.
    pub packet: P,
    /// Why.
    pub reason: Reason,
}

/// A packet that leaves, or something that upper layers must know. `K` is what packets are named by.
#[derive(Debug, PartialEq, Eq)]
pub enum Event<K, P> {
    /// The peer has the packet.
    Acknowledged {
        /// Its name.
        key: K,
        /// The packet.
        packet: P,
    },
    /// The packet is not kept any longer.
    Discarded {
        /// Its name.
        key: K,
        /// The packet.
        packet: P,
        /// Why.
        reason: Reason,
    },
    /// A packet has been retransmitted as often as the bearer allows (`maxRetxThreshold`, TS 38.322 §5.3.2). It is still kept, and the bearer
    /// goes on: the upper layer decides, and removes the bearer.
    MaxRetransmissions {
        /// Its name.
        key: K,
    },
}

/// What happened so far.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Default)]
pub struct Counters {
    /// Packets given in, kept or not.
    pub offered: u64,
    /// Packets that came out as acknowledged.
    pub acknowledged: u64,
    /// Packets that were discarded, by [`Reason`].
    pub discarded: [u64; Reason::ALL.len()],
    /// Packets, or segments of them, that were handed out to be sent again.
    pub retransmitted: u64,
    /// Statuses that were processed.
    pub statuses: u64,
    /// Statuses that were ignored as a whole, by [`status::StatusFault`].
    pub ignored_statuses: [u64; status::StatusFault::ALL.len()],
    /// NACKs of parts that are not in the packet.
    pub bad_segments: u64,
    /// Timers that expired.
    pub expired: u64,
    /// Indications that a packet was retransmitted too often.
    pub max_retransmissions: u64,
    /// NACKs and kept packets that statuses made us look at: what they cost.
    pub steps: u64,
}

impl Counters {
    /// Packets that were discarded for this reason.
    pub fn discarded(&self, reason: Reason) -> u64 {
        self.discarded[reason as usize]
    }

    /// Packets that were discarded.
    pub fn discarded_in_all(&self) -> u64 {
        self.discarded.iter().sum()
    }
}

/// How much a buffer may hold in all.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Limits {
    /// Packets.
    pub packets: usize,
    /// Bytes of their SDUs.
    pub bytes: u64,
}
