//! A compiled program as plain data: what a control plane and a target need to know of it.
//!
//! The compiler produces a [`Program`]; targets and the user-plane agent consume it. Names are bound to ids
//! once, here ([`Program::table`], [`Program::action`] ...), never on the packet path. The executable form of
//! the program is not here: it is the IR (`p4-ir`) for the interpreter and C text for the native targets.
#![forbid(unsafe_code)]

mod batch;
mod bridge;
mod fingerprint;
pub mod ids;
mod info;
mod p4info;
pub mod packing;

pub use batch::{
    ApplyError, Batch, Digest, Entry, KeyMatch, MAX_BURST, MAX_REPLICAS, MAX_SESSION, MeterConfig, Mirror, Op, Replica, RuleError,
};
pub use bridge::{BitField, Bridge, BridgeCall, BridgeStop, Switch};
pub use fingerprint::Fingerprint;
pub use info::*;
