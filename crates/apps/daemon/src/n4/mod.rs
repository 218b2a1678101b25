//! N4 on its socket: which PFCP messages go first, how are they sent, when did this node start, and what survives a crash? The protocol is `pfcp`'s.

pub mod output;
pub mod socket;
pub(crate) mod stamp;
pub mod store;
