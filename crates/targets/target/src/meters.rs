//! How is one rate policed by two targets at once? They execute the same cells, which one of them shares.
//!
//! A target ahead of the engine hands packets on of sessions that it holds. If the target behind it had cells of its own, each would let a
//! burst and the rate pass. So the one ahead, whose memory the kernel has made, shares its cells ([`SharedMeter`]) when the other is loaded. The
//! other target, which holds every session, configures them and gives them their rates; the owner only notes which cells its entries may lead to,
//! and executes them. Packets take a cell's lock on either side, so that no token is spent twice, and both read one clock.
//!
//! A cell that the other target no longer needs keeps its rate while the owner's entries may still lead to it ([`SharedMeter::is_kept`]).

use std::sync::atomic::{AtomicU64, Ordering};

/// Words of a cell: committed bucket, peak bucket (10^-9 units), latest time seen, and in the last one, as two halves in memory's order, the number
/// of its profile (with [`ONE_RATE`]; 0: not configured, always green) and the lock.
pub const CELL_WORDS: usize = 4;
/// Words of a profile: committed rate, committed burst, peak rate, peak burst (rates in units a second, bursts in 10^-9 units).
pub const PROFILE_WORDS: usize = 4;
/// Of the number of the profile in a cell whose two buckets are alike: only the peak bucket is kept.
pub const ONE_RATE: u32 = 1 << 31;

/// Memory that others read and write too.
pub trait Words: Send + Sync {
    /// All of it.
    fn words(&self) -> &[AtomicU64];
}

/// An indexed meter whose cells two targets execute.
pub struct SharedMeter {
    cells: Box<dyn Words>,
    profiles: Box<dyn Words>,
    /// A bit a cell.
    kept: Box<[AtomicU64]>,
}

impl SharedMeter {
    /// Cells and profiles, all zeros, in memory that lives as long as this. Profile 0 is none. Of a cell whose profile's number is beyond the
    /// last one, the owner passes packets to the slow path.
    pub fn new(cells: Box<dyn Words>, profiles: Box<dyn Words>) -> SharedMeter {
        let len = cells.words().len() / CELL_WORDS;
        SharedMeter { cells, profiles, kept: (0..len.div_ceil(64)).map(|_| AtomicU64::new(0)).collect() }
    }

    /// Number of cells.
    pub fn len(&self) -> u64 {
        (self.cells.words().len() / CELL_WORDS) as u64
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The cells, [`CELL_WORDS`] words each.
    pub fn cells(&self) -> &[AtomicU64] {
        self.cells.words()
    }

    /// The profiles, [`PROFILE_WORDS`] words each.
    pub fn profiles(&self) -> &[AtomicU64] {
        self.profiles.words()
    }

    /// The owner's entries may lead to that cell from now on, or do no longer. Nothing if there is no such cell.
    pub fn keep(&self, index: u64, keep: bool) {
        let Some(word) = self.kept.get((index / 64) as usize) else { return };
        let bit = 1 << (index % 64);
        match keep {
            true => word.fetch_or(bit, Ordering::AcqRel),
            false => word.fetch_and(!bit, Ordering::AcqRel),
        };
    }

    /// The owner has no entries any more.
    pub fn keep_none(&self) {
        self.kept.iter().for_each(|word| word.store(0, Ordering::Release));
    }

    /// Whether the owner's entries may lead to that cell: it must not lose its rate.
    pub fn is_kept(&self, index: u64) -> bool {
        self.kept.get((index / 64) as usize).is_some_and(|word| word.load(Ordering::Acquire) >> (index % 64) & 1 == 1)
    }
}

impl std::fmt::Debug for SharedMeter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let kept: u32 = self.kept.iter().map(|word| word.load(Ordering::Relaxed).count_ones()).sum();
        f.debug_struct("SharedMeter").field("cells", &self.len()).field("kept", &kept).finish_non_exhaustive()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Memory(Vec<AtomicU64>);

    impl Words for Memory {
        fn words(&self) -> &[AtomicU64] {
            &self.0
        }
    }

    fn memory(words: usize) -> Box<dyn Words> {
        Box::new(Memory((0..words).map(|_| AtomicU64::new(0)).collect()))
    }

    #[test]
    fn a_cell_is_kept_until_it_is_let_go() {
        let meter = SharedMeter::new(memory(70 * CELL_WORDS), memory(8));
        assert_eq!((meter.len(), meter.is_empty()), (70, false));
        for index in [0, 63, 64, 69] {
            meter.keep(index, true);
            meter.keep(index, true);
        }
        meter.keep(63, false);
        let kept: Vec<u64> = (0..200).filter(|index| meter.is_kept(*index)).collect();
        assert_eq!(kept, [0, 64, 69]);
        meter.keep(1 << 40, true);
        meter.keep_none();
        assert!((0..200).all(|index| !meter.is_kept(index)));
    }
}
