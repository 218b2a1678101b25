//! What tries and measures Splitplane and is no part of what carries packets: demo, attacks, benchmarks, the papers' experiments, P4 conformance.
//!
//! | module | question it answers |
//! |---|---|
//! | [`demo`] | does the whole UPF carry real traffic, with every byte accounted for? |
//! | [`attack`] | what do honest users lose while somebody attacks? |
//! | [`bench`] | how fast is it, compared with the alternatives? |
//! | [`reproduce`] | what comes of the papers' experiments here? |
//! | [`p4`] | do programs mean on each target what they should? |
#![forbid(unsafe_code)]

pub mod attack;
pub mod bench;
pub mod demo;
pub mod p4;
mod programs;
pub mod reproduce;
