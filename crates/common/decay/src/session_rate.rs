//! What is the rate of a session that has a cell of its own?
//!
//! The look-up of a packet's session ends at its entry anyway, so the entry names a cell: decayed bytes and their epoch
//! ([`crate`]), eight bytes a session. The data plane adds to it, and compares nothing; the control plane reads all cells at
//! once, lets them decay to the present and has every session's rate. No session takes another's place, and none can hide. The P4
//! form is `p4/include/heavy.p4`.
//!
//! A cell is a word of 64 bits: 16 of the epoch, then 48 of bytes.

use crate as decay;

/// Bytes of memory that a cell takes.
pub const CELL_BYTES: usize = 8;
/// Bits of a cell that are bytes.
pub const BYTES_BITS: u32 = 48;
const BYTES: u64 = (1 << BYTES_BITS) - 1;

/// A session and its rate at the given instant.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Its cell's number.
    pub session: u64,
    /// Its rate.
    pub bytes_per_second: u64,
}

/// A cell after a packet: the twin of the program's step.
pub fn add(cell: u64, bytes: u32, now_us: u64) -> u64 {
    let (then, now) = ((cell >> BYTES_BITS) as u16, decay::epoch(now_us));
    let halvings = decay::halvings(then, now);
    // A late packet leaves the epoch as it is.
    let epoch = if halvings == 0 { then } else { now };
    let left = (cell & BYTES).checked_shr(halvings).unwrap_or(0);
    u64::from(epoch) << BYTES_BITS | (left + u64::from(bytes)).min(BYTES)
}

/// The rate that a cell stands for at an instant, in bytes a second.
pub fn rate(cell: u64, now_us: u64) -> u64 {
    decay::rate(add(cell, 0, now_us) & BYTES, now_us)
}

/// The sessions of cells that were read at an instant whose rate is at least that; cells are numbered from `first`.
pub fn samples(cells: &[u64], first: u64, at_least: u64, now_us: u64) -> impl Iterator<Item = Sample> {
    // Most cells have never been met.
    cells.iter().zip(first..).filter(|(cell, _)| **cell & BYTES != 0).filter_map(move |(cell, session)| {
        let bytes_per_second = rate(*cell, now_us);
        (bytes_per_second >= at_least).then_some(Sample { session, bytes_per_second })
    })
}

/// All cells, for callers without a data plane.
#[derive(Clone, Debug, Default)]
pub struct SessionRates {
    cells: Vec<u64>,
}

impl SessionRates {
    /// Of so many sessions.
    pub fn new(sessions: usize) -> SessionRates {
        SessionRates { cells: vec![0; sessions] }
    }

    /// Room for another session: its number.
    pub fn open(&mut self) -> usize {
        self.cells.push(0);
        self.cells.len() - 1
    }

    /// A packet of a session; nothing if there is no such session, as in a program.
    pub fn packet(&mut self, session: usize, bytes: u32, now_us: u64) {
        if let Some(cell) = self.cells.get_mut(session) {
            *cell = add(*cell, bytes, now_us);
        }
    }

    /// A session's rate; 0 if there is no such session.
    pub fn rate(&self, session: usize, now_us: u64) -> u64 {
        self.cells.get(session).map_or(0, |cell| rate(*cell, now_us))
    }

    /// As they would be read from a data plane.
    pub fn cells(&self) -> &[u64] {
        &self.cells
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{EPOCH_US, Ideal};
    use proptest::prelude::*;

    #[test]
    fn sessions_do_not_disturb_each_other() {
        let mut rates = SessionRates::new(2);
        for n in 0..4000u64 {
            // 8 Mbit/s, and a tenth of it.
            rates.packet(0, 1000, n * 1000);
            rates.packet(1, 100, n * 1000);
            rates.packet(2, 1000, n * 1000);
        }
        let now_us = 4_000_000;
        assert!((990_000..1_010_000).contains(&rates.rate(0, now_us)), "{}", rates.rate(0, now_us));
        assert!((99_000..101_000).contains(&rates.rate(1, now_us)), "{}", rates.rate(1, now_us));
        assert_eq!(rates.rate(2, now_us), 0);
        let heavy: Vec<_> = samples(rates.cells(), 10, 625_000, now_us).map(|sample| sample.session).collect();
        assert_eq!(heavy, [10]);
        // Eleven epochs later a thousandth is left.
        assert_eq!(samples(rates.cells(), 10, 1_000, now_us + 11 * EPOCH_US).count(), 0);
    }

    proptest! {
        /// Whatever the clock does, a cell holds no more than was added, and nothing panics.
        #[test]
        fn no_clock_makes_bytes(packets in prop::collection::vec((any::<u32>(), any::<u64>()), 1..50), start: u64) {
            let (mut cell, mut sum) = (start, start & BYTES);
            for (bytes, now_us) in packets {
                sum = sum.saturating_add(bytes.into());
                cell = add(cell, bytes, now_us);
                prop_assert!(cell & BYTES <= sum);
                let _ = rate(cell, now_us.wrapping_mul(3));
            }
        }

        #[test]
        fn a_cell_follows_its_twin_of_real_numbers(packets in prop::collection::vec((0u32..1600, 0u64..2_000_000), 1..200)) {
            let (mut cell, mut ideal, mut now_us) = (0, Ideal::default(), 0);
            for (bytes, pause_us) in packets {
                now_us += pause_us;
                cell = add(cell, bytes, now_us);
                ideal.add(bytes, now_us);
                let left = (cell & BYTES) as f64;
                prop_assert!(left <= ideal.bytes && ideal.bytes < left + 2.0);
            }
        }
    }
}
