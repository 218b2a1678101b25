//! The gNodeB's user plane and UEs as running things, over the entities of the crate `gnb`, or, of a gNodeB, over the program `p4/gnb.p4`.
//!
//! | question | file |
//! |---|---|
//! | what may a file say, and what does it mean? | [`config`] |
//! | PDCP of a bearer, and RLC of a bearer: one call in, one call out | [`bearer`] |
//! | which bytes are sent by radio when? | [`grants`] |
//! | the side of N3: PDU sessions, SDAP, PDCP (CU-UP) | [`cu`] |
//! | the side of the radio: RLC, and what of it is told to the CU (DU) | [`du`] |
//! | how is a frame between CU and DU written? | [`f1u`] |
//! | how does a UE pass from one gNodeB to another? | [`handover`] |
//! | how is a packet written that one forwards to the other? | [`forwarding`] |
//! | CU-UP and DU in one, or one of them | [`node`] |
//! | both in one, as a program | [`pipeline`] |
//! | what of it runs in front, on N3's interface | [`front`] |
//! | what is it asked about its bearers while it runs? | [`control`] |
//! | what does a message of N3 ask for? | [`n3`] |
//! | a UE | [`ue`] |
//! | sockets, TUN devices, time | [`run`] |
//!
//! [`cu`], [`du`], [`node`], [`n3`] and [`ue`] do no I/O and read no clock. What passes between CU and DU is NR-U's (TS 38.425), also where both
//! are in one process.
//!
//! MAC and PHY are not here: a datagram is one RLC PDU, behind the tags that Wireshark reads (`gnb::framing`), and grants come from a rate.
//! RRC, NGAP, Xn and E1AP are not here: bearers come from a file, and by requests while it runs.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod bearer;
pub mod config;
pub mod control;
pub mod counts;
pub mod cu;
pub mod du;
pub mod f1u;
pub mod forwarding;
pub mod front;
pub mod grants;
pub mod handover;
pub mod n3;
pub mod node;
pub mod pipeline;
pub mod run;
pub mod ue;

/// A bearer of a UE.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
pub struct Bearer {
    /// The UE's number.
    pub ue: u16,
    /// Identity of its data radio bearer.
    pub drb: gnb::sdap::DrbId,
}
