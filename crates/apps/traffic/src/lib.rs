//! What surrounds a UPF, emulated: the SMF on N4, the gNodeB on N3, servers on N6, and packets made without any of them.
//!
//! | file | question it answers |
//! |---|---|
//! | [`plan`] | what is a session to be like, and which rules does an SMF of a given kind make of it? |
//! | [`smf`] | how does an SMF set up, modify, delete and charge sessions? |
//! | [`scenario`] | does a UPF carry users through the procedures of TS 23.502 as SMFs in use ask for them? |
//! | [`record`] | what does the RAN need to know of a session? |
//! | [`ran`] | how do unmodified programs get through a gNodeB to the UPF, each packet counted? |
//! | [`dn`] | what do they talk to behind N6? |
//! | [`synth`] | which frames does a seeded population of sessions send? |
//! | [`expect`] | what must a UPF make of such a frame, computed without it? |
//! | [`around`] | what is around the UPF of our own demo and tests, as its configuration has it and as frames have it? |
//!
//! The emulators are peers to test with, not products: a gNodeB without a radio, an SMF without the rest of the core.
#![forbid(unsafe_code)]

pub mod around;
pub mod dn;
pub mod expect;
pub mod plan;
pub mod ran;
pub mod record;
mod router;
pub mod scenario;
pub mod smf;
pub mod synth;

pub use record::{SessionRecord, Tunnel};
