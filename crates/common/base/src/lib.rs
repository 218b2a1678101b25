//! What every crate shares: typed ids, values of P4 width, packets, verdicts and drop reasons.
//!
//! Nothing here does I/O, reads a clock or draws randomness.
#![forbid(unsafe_code)]

mod bits;
mod buffer;
mod packet;
mod verdict;

pub use bits::{Bits, MAX_WIDTH};
pub use buffer::BufferFate;
pub use packet::{HEADROOM, MAX_PACKET, Metered, Packet};
pub use verdict::{DropReason, Verdict, VerdictKind};

/// Number of a data-plane port, as P4's `standard_metadata.ingress_port` carries it (9 bits in v1model).
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug, Default, serde::Serialize, serde::Deserialize)]
#[serde(transparent)]
pub struct PortId(pub u16);

impl PortId {
    /// v1model's drop port: what `mark_to_drop` writes to `egress_spec`.
    pub const DROP: PortId = PortId(511);
    /// The CPU port: the packet is punted to the control plane.
    pub const PUNT: PortId = PortId(510);
    /// The buffer port: the packet waits in the idle-mode buffer (TS 29.244 FAR BUFF).
    pub const BUFFER: PortId = PortId(509);
    /// The port that packets of services' own came in by: no other packet does.
    pub const SERVICES: PortId = PortId(509);
    /// The highest number that a real port may have.
    pub const MAX: u16 = 508;
}

impl std::fmt::Display for PortId {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}
