//! Which flows or sessions are heavy: detectors, the ground truth for the same packets, and seeded traffic to compare them.
//!
//! | file | question it answers |
//! |---|---|
//! | [`decay`] | how do bytes fade with time in whole numbers, and which rate do the bytes that are left stand for? |
//! | [`hash`] | where in a table is a flow? |
//! | [`gap`] | what do the two published forms of inter-packet gap detection have in common? |
//! | [`ipg_hardware`] | how does the form that ran on a switch decide? |
//! | [`ipg_simulator`] | how does the form that was released as a simulation decide? |
//! | [`decayed_two_way`] | how does ours decide where a chip knows nothing of sessions? |
//! | [`session_rate`] | how does ours decide where every session has a place of its own? |
//! | [`counter_rate`] | which rates follow from counters that are read now and then? |
//! | [`polled`] | what does a control plane see that reads rates now and then, as a detector beside the others? |
//! | [`truth`] | which flows were heavy, exactly? |
//! | [`workload`] | which packets does a seeded population of flows send? |
//! | [`table6`] | how many heavy hitters a second did Singh et al. count, and which population has as many? |
//! | [`score`] | how right were the reports, and how late? |
//!
//! Nothing here does I/O or reads a clock: time is nanoseconds given with each packet, randomness is a generator that is passed in.
//! Rates are bytes a second; a megabit a second is 125,000 of them.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod gap;
pub mod hash;

pub mod ipg_hardware;
pub mod ipg_simulator;

pub mod decayed_two_way;

pub mod counter_rate;

pub mod polled;

pub mod truth;

pub mod workload;

pub mod table6;

pub mod score;

pub use decay::session_rate::{self, SessionRates};
pub use decayed_two_way::DecayedTwoWay;
pub use ipg_hardware::IpgHardware;
pub use ipg_simulator::IpgSimulator;
pub use truth::Truth;

/// Sees packets one by one and says when a flow has become heavy.
pub trait Detector {
    /// A packet of flow `key` with so many bytes at `now_ns`, which may be anything: going back in time, or far ahead, must neither
    /// panic nor spoil more than the flow's own estimate. A report is about the packet's own flow.
    fn packet(&mut self, key: u64, bytes: u32, now_ns: u64) -> Option<Report>;

    /// What its state would take in a data plane: bits of all cells, in bytes. Not what it takes in this process.
    fn memory_bytes(&self) -> usize;
}

/// A flow is heavy.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Report {
    /// The flow.
    pub key: u64,
    /// The detector's estimate of its rate.
    pub bytes_per_second: u64,
    /// When.
    pub at_ns: u64,
}

/// Bytes a second of so many bits a second.
pub const fn bytes_per_second(bits_per_second: u64) -> u64 {
    bits_per_second / 8
}

/// 5 Mbit/s: the threshold of the published constants, in bytes a second.
pub const PUBLISHED_THRESHOLD: u64 = bytes_per_second(5_000_000);
