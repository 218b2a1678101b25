//! Load for a device with two sides: packets at a rate, counted and timed when they have come through; and the search of RFC 2544 for
//! the rate at which none is lost.
//!
//! The device is a UPF (GTP-U on its access side, plain IP on its core side) or anything that carries plain IP. Sender and sink of both
//! directions are one process with one clock, so that latency is measured one way. Sessions take turns, so a packet's number says whose it
//! is, and the sink checks address and TEID of each.
//!
//! | file | question |
//! |---|---|
//! | [`device`] | which ports does a text name? |
//! | [`plan`] | whose packets are sent, between which addresses, and how long are they? |
//! | [`tag`] | what does a packet say of itself? |
//! | [`frames`] | how is a frame made at full rate? |
//! | [`sink`] | what is a frame that has arrived? |
//! | [`seen`] | has it arrived before, or late? |
//! | [`side`] | what does one side of the tester do: send, receive, mirror, answer ARP and echo? |
//! | [`tester`] | how does a trial run, on one thread or two? |
//! | [`rfc2544`] | at which rate is nothing lost, and how long do packets take below it? |
//! | [`outcome`] | what came of a trial? |
//!
//! Besides, [`n4`] loads a UPF's N4.
#![forbid(unsafe_code)]

pub mod device;
pub mod frames;
pub mod n4;
pub mod outcome;
pub mod plan;
pub mod rfc2544;
pub mod seen;
pub mod side;
pub mod sink;
pub mod tag;
pub mod tester;

/// Why a trial cannot be run, or has no result.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// The user's: sessions, sizes or a device that cannot be.
    #[error("{0}")]
    Usage(String),
    /// A port cannot be opened or fails.
    #[error("{}", port(.0))]
    Port(#[from] pktio::PortError),
    /// The device under test: nothing answers, or nothing comes through.
    #[error("{0}")]
    Failed(String),
}

/// With what the system says: its text alone does not have it.
fn port(error: &pktio::PortError) -> String {
    match error {
        pktio::PortError::Io { what, source } => format!("{what}: {source}"),
        other => other.to_string(),
    }
}

/// Which way a packet goes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Direction {
    /// From the access side to the core side.
    Up,
    /// From the core side to the access side.
    Down,
}

impl Direction {
    /// Both, up first.
    pub const BOTH: [Direction; 2] = [Direction::Up, Direction::Down];

    /// The other one.
    pub fn back(self) -> Direction {
        match self {
            Direction::Up => Direction::Down,
            Direction::Down => Direction::Up,
        }
    }

    /// The name for people and programs.
    pub fn name(self) -> &'static str {
        match self {
            Direction::Up => "up",
            Direction::Down => "down",
        }
    }
}
