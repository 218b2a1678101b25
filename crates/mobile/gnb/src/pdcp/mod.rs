//! In which order, under which COUNT and key, for how long? PDCP (TS 38.323).
//!
//! | question | file |
//! |---|---|
//! | what does a PDU say? | [`pdu`] |
//! | which keys is a bearer under, and what is done to a burst? | [`security`] |
//! | sending: which SDU gets the next COUNT, which waits, is dropped, or goes again? | [`tx`] |
//! | receiving: which COUNT is a PDU, and is it genuine? | [`rx`] |
//! | what may be handed up, and what waits for an earlier one? | [`order`] |
//! | what of a bearer passes to another gNodeB? | [`handover`] |
//!
//! An entity never runs a cipher. It prepares a packet, the caller runs [`security::Security::job`] of a whole burst, here or in a
//! service, and the entity finishes the packet.
//!
//! Left out of TS 38.323:
//! - §5.7, §5.12, §5.14: ROHC, EHC, UDC. A control PDU of theirs is dropped, counted.
//! - §5.11, §5.13: duplication and DAPS. A bearer has one RLC entity.
//! - §5.1.4: suspend; §5.6: a data volume for buffer status reports beyond [`tx::Tx::queued`].

pub mod order;
pub mod pdu;
pub mod rx;
pub mod security;
pub mod tx;

pub mod handover;

pub use buffer::status::SnLength;
pub use order::{Order, OrderConfig};
pub use pdu::{Kind, PduFault};
pub use rx::{Rx, RxConfig};
pub use security::Security;
pub use tx::{Tx, TxConfig};

/// Longest SDU in bytes (TS 38.323 §4.3.1).
pub const MAX_SDU: usize = 9000;

/// Longest `discardTimer` and `t-Reordering`: TS 38.331 has at most 3 s; infinity is none.
pub const MAX_TIMER_NS: u64 = 3_000_000_000;

/// Two COUNTs that an entity looks out for, so that none is used twice with a key (TS 33.501 §6.3, TS 38.331 `counterCheck`).
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct CountGuard {
    /// From this COUNT on the upper layer is told, once, so that it can change the key.
    pub notify: u32,
    /// From this COUNT on nothing is sent or taken.
    pub stop: u32,
}

impl Default for CountGuard {
    fn default() -> CountGuard {
        CountGuard { notify: 0xc000_0000, stop: 0xffff_ffff }
    }
}

/// Why an entity's configuration is refused.
#[derive(Clone, Copy, PartialEq, Eq, Debug, thiserror::Error)]
pub enum ConfigError {
    /// More than half of the numbers.
    #[error("window: expected 1 to half of the sequence numbers (2048 with 12 bits, 131072 with 18)")]
    Window,
    /// A timer.
    #[error("{0}: expected at most 3 s; leave it out for infinity")]
    Timer(&'static str),
    /// TS 38.323 §6.2.2.1.
    #[error("sn_length: expected 12 bits for a signalling radio bearer")]
    SrbSn,
    /// TS 38.323 §6.2.2.1: a signalling bearer's PDUs end with a MAC-I, and have no SDAP header.
    #[error("integrity, sdap_header: a signalling radio bearer has a MAC-I and no SDAP header")]
    Srb,
    /// Limits below what one SDU needs.
    #[error("{0}: expected room for one SDU of 9000 bytes at least")]
    Room(&'static str),
    /// Guards in the wrong order.
    #[error("guard: expected `notify` not above `stop`")]
    Guard,
}

/// What both sides have.
fn check(
    format: &pdu::Format,
    window: u32,
    timer: (&'static str, Option<u64>),
    bytes: (&'static str, u64),
    guard: CountGuard,
) -> Result<(), ConfigError> {
    match () {
        () if !(1..=format.sn_length.window()).contains(&window) => Err(ConfigError::Window),
        () if timer.1.is_some_and(|timer_ns| timer_ns > MAX_TIMER_NS) => Err(ConfigError::Timer(timer.0)),
        () if bytes.1 < MAX_SDU as u64 => Err(ConfigError::Room(bytes.0)),
        () if format.kind == Kind::Srb && format.sn_length != SnLength::Bits12 => Err(ConfigError::SrbSn),
        () if format.kind == Kind::Srb && (!format.integrity || format.sdap_header) => Err(ConfigError::Srb),
        () if guard.notify > guard.stop => Err(ConfigError::Guard),
        () => Ok(()),
    }
}
