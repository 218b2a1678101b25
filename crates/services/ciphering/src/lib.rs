//! NEA0 to NEA3 and NIA0 to NIA3: PDCP's ciphering and integrity protection, a burst at a time.
//!
//! | question | file |
//! |---|---|
//! | what is done to one packet, and what may come of it? | [`job`] |
//! | how is a key held, and wiped? | [`key`] |
//! | how is a burst ordered, and which implementation takes it? | [`engine`] |
//! | how does a P4 program call it? | [`service`](mod@service) |
//! | how is it done without any library of the system? | `portable.rs`; SNOW 3G is `snow3g.rs` |
//! | how is it done fast, with libipsec-mb? | `ipsec_mb.rs` |
//!
//! TS 33.501 Annex D: NEA1 to NEA3 are EEA1 to EEA3 of TS 33.401 Annex B, NIA1 to NIA3 are EIA1 to EIA3: SNOW 3G (TS 35.215, 35.216),
//! AES (CTR and CMAC), ZUC (TS 35.221, 35.222). Keys are 16 bytes. Lengths are whole bytes, as PDCP's are; the algorithms' lengths in
//! bits are not offered.
#![deny(unsafe_code)]

pub mod engine;
#[allow(unsafe_code)]
mod ipsec_mb;
mod iv;
pub mod job;
pub mod key;
mod portable;
pub mod service;
mod snow3g;

pub use engine::{Choice, Engine};
pub use ipsec_mb::Alone;
pub use job::{Direction, Error, Fault, Job, LONGEST, MAC_LEN, Outcome, Step};
pub use key::{Key, Nea, Nia, UnknownAlgorithm};
