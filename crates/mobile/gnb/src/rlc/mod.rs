//! In which pieces is a packet sent, and which of them again? RLC (TS 38.322).
//!
//! | question | file |
//! |---|---|
//! | what does a PDU say? | [`pdu`] |
//! | AM: an entity of both sides, as a bearer has it | [`am`] |
//! | AM, sending: what goes into a grant, what is freed or sent again by a STATUS, when is polled? | [`am_tx`] |
//! | AM, receiving: which SDUs are whole, and what does a STATUS say? | [`am_rx`] |
//! | UM: both sides | [`um`] |
//! | TM: both sides | [`tm`] |
//! | which bytes of an SDU are there? | `reassembly.rs` |
//! | which sequence numbers of a window are there? | `bits.rs` |
//!
//! An SDU is handed up when it is whole, in any order: PDCP puts them in order (TS 38.322 §4.2.1.3.3).

pub mod am;
pub mod am_rx;
pub mod am_tx;
mod bits;
pub mod pdu;
mod queue;
mod reassembly;
pub mod tm;
pub mod um;

pub use buffer::status::SnLength;
pub use queue::{QueueLimits, Refusal, Refused};

/// Longest SDU in bytes: a PDCP SDU of 9000 bytes (TS 38.323 §4.3.1) with headers and MAC-I, and room to spare.
pub const MAX_SDU: usize = ciphering::LONGEST;

/// `t-Reassembly`, `t-PollRetransmit` and `t-StatusProhibit` end below this: TS 38.331 has at most 4 s.
pub const MAX_TIMER_NS: u64 = 4_000_000_000;

/// Why an entity's configuration is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ConfigError {
    /// Of the sending or of the receiving side.
    #[error("window: expected 1 to AM_Window_Size (2048 with 12 bits, 131072 with 18)")]
    Window,
    /// Both sides of an AM entity.
    #[error("sn_length: expected the same for sending and receiving")]
    SnLength,
    /// A timer.
    #[error("{0}: expected at most 4 s")]
    Timer(&'static str),
    /// `t-PollRetransmit`.
    #[error("poll_retransmit_ns: expected 1 or more")]
    PollRetransmit,
    /// `pollPDU`, `pollByte`.
    #[error("poll_pdu, poll_byte: expected 1 or more; leave them out for infinity")]
    Poll,
    /// `maxRetxThreshold`.
    #[error("max_retransmissions: expected 1 or more")]
    MaxRetransmissions,
    /// Limits below what one SDU needs.
    #[error("{0}: expected room for one SDU of 9216 bytes at least")]
    Room(&'static str),
}

fn check_timer(name: &'static str, timer_ns: u64) -> Result<(), ConfigError> {
    if timer_ns > MAX_TIMER_NS { Err(ConfigError::Timer(name)) } else { Ok(()) }
}
