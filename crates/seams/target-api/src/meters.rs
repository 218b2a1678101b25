//! How is one rate policed by two targets at once? They execute the same cells, which one of them shares.
//!
//! A target ahead of the engine hands packets on of sessions that it holds. If the target behind it had cells of its own, each would let a
//! burst and the rate pass. So the one ahead, whose memory the kernel has made, shares its cells ([`SharedMeter`]) when the other is loaded. The
//! other target, which holds every session, configures them and gives them their rates; the owner only notes which cells its entries may lead to,
//! and executes them. Packets take a cell's lock on either side, so that no token is spent twice, and both read one clock.
//!
//! A cell that the other target no longer needs keeps its rate while the owner's entries may still lead to it ([`SharedMeter::is_kept`]).

use crate::facets::MeterState;
use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};

/// Words of a cell: committed bucket, peak bucket (10^-9 units), latest time seen, and in the last one, as two halves in memory's order, the number
/// of its profile (with [`ONE_RATE`] and [`WAITING`]; 0: not configured, always green) and the lock.
pub const CELL_WORDS: usize = 4;
/// Words of a profile: committed rate, committed burst, peak rate, peak burst (rates in units a second, bursts in 10^-9 units).
pub const PROFILE_WORDS: usize = 4;
/// Of the number of the profile in a cell whose two buckets are alike: only the peak bucket is kept.
pub const ONE_RATE: u32 = 1 << 31;
/// Of the same, in how many workers packets wait for the cell, each [`WAITING_ONE`]: then it is red for all that come to a target in front, which passes
/// them on to where the others wait.
pub const WAITING: u32 = 0x7f00_0000;
/// One worker.
pub const WAITING_ONE: u32 = 1 << 24;
/// What is left of it: numbers of profiles are lower.
pub const PROFILES: u32 = WAITING_ONE;

/// Where in the last word the lock is: it is the second half in memory.
const LOCK: u64 = if cfg!(target_endian = "little") { 1 << 32 } else { 1 };
const LOCK_HALF: u64 = LOCK * u32::MAX as u64;
const NANO: u64 = 1_000_000_000;

/// Memory that others read and write too.
pub trait Words: Send + Sync {
    /// All of it.
    fn words(&self) -> &[AtomicU64];

    /// These words are going to be used: who shares memory that grows has it grow there, if it can.
    fn make_room(&self, words: Range<usize>) {
        let _ = words;
    }
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

    /// A cell is going to be configured. To be called before it is: the owner may have to make room, and passes packets of cells on for which it has none.
    pub fn make_room(&self, index: u64) {
        let at = usize::try_from(index).ok().and_then(|index| index.checked_mul(CELL_WORDS));
        if let Some(at) = at.filter(|at| *at < self.cells().len()) {
            self.cells.make_room(at..at + CELL_WORDS);
        }
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

    /// Executes a cell for a packet of so many units, for a target without generated code (RFC 2698 §3, colour-blind, as `meter.h` of `p4-emit` has it).
    /// `None`: it is not configured.
    pub fn execute(&self, index: u64, now_ns: u64, units: u64) -> Option<Executed> {
        self.locked(index, |[committed, peak, last], profile| {
            let [cir, cbs, pir, pbs] = self.profile(profile)?;
            let red = Executed { colour: 2, taken: [0; 2] };
            if profile & WAITING != 0 {
                return Some(red);
            }
            let elapsed_ns = now_ns.saturating_sub(last.load(Ordering::Relaxed));
            let held = refill(peak.load(Ordering::Relaxed), pir, pbs, elapsed_ns);
            let one_rate = profile & ONE_RATE != 0;
            let sure = if one_rate { held } else { refill(committed.load(Ordering::Relaxed), cir, cbs, elapsed_ns) };
            last.fetch_max(now_ns, Ordering::Relaxed);
            let cost = units.checked_mul(NANO).filter(|cost| *cost <= held);
            let executed = match cost {
                None => red,
                Some(cost) if cost <= sure => Executed { colour: 0, taken: [cost, cost] },
                Some(cost) => Executed { colour: 1, taken: [0, cost] },
            };
            committed.store(sure - executed.taken[0], Ordering::Relaxed);
            peak.store(held - executed.taken[1], Ordering::Relaxed);
            Some(executed)
        })?
    }

    /// Gives back what a packet took that another target is going to charge.
    pub fn give_back(&self, index: u64, taken: [u64; 2]) {
        self.locked(index, |[committed, peak, _], profile| {
            let Some([_, cbs, _, pbs]) = self.profile(profile) else { return };
            for (bucket, most, taken) in [(committed, cbs, taken[0]), (peak, pbs, taken[1])] {
                bucket.store(bucket.load(Ordering::Relaxed).saturating_add(taken).min(most), Ordering::Relaxed);
            }
        });
    }

    /// What is in a configured cell's buckets.
    pub fn state(&self, index: u64) -> Option<MeterState> {
        self.locked(index, |[committed, peak, last], profile| {
            let peak = peak.load(Ordering::Relaxed);
            // Of two buckets that are alike, only one is kept.
            let committed = if profile & ONE_RATE != 0 { peak } else { committed.load(Ordering::Relaxed) };
            (profile & (PROFILES - 1) != 0).then(|| MeterState { committed, peak, last_ns: last.load(Ordering::Relaxed) })
        })?
    }

    /// Buckets, time and the profile's half of a cell, under its lock; `None` if there is no such cell.
    fn locked<R>(&self, index: u64, what: impl FnOnce([&AtomicU64; 3], u32) -> R) -> Option<R> {
        let at = usize::try_from(index).ok()?.checked_mul(CELL_WORDS)?;
        let [committed, peak, last, word] = self.cells().get(at..)?.first_chunk::<CELL_WORDS>()?;
        let free = |word: u64| (word & LOCK_HALF == 0).then_some(word | LOCK);
        while word.fetch_update(Ordering::Acquire, Ordering::Relaxed, free).is_err() {
            // Who holds it is some instructions from its end.
            std::thread::yield_now();
        }
        let halves = word.load(Ordering::Relaxed);
        let profile = if cfg!(target_endian = "little") { halves as u32 } else { (halves >> 32) as u32 };
        let result = what([committed, peak, last], profile);
        word.fetch_and(!LOCK_HALF, Ordering::Release);
        Some(result)
    }

    /// Rates and bursts of the profile of that number.
    fn profile(&self, profile: u32) -> Option<[u64; PROFILE_WORDS]> {
        let at = (profile & (PROFILES - 1)) as usize * PROFILE_WORDS;
        let words = self.profiles().get(at..)?.first_chunk::<PROFILE_WORDS>().filter(|_| at > 0)?;
        Some(std::array::from_fn(|i| words[i].load(Ordering::Relaxed)))
    }

    /// Whether the owner's entries may lead to that cell: it must not lose its rate.
    pub fn is_kept(&self, index: u64) -> bool {
        self.kept.get((index / 64) as usize).is_some_and(|word| word.load(Ordering::Acquire) >> (index % 64) & 1 == 1)
    }
}

/// What became of a packet at a cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Executed {
    /// Green, yellow or red: 0 to 2.
    pub colour: u8,
    /// What was taken of the committed and of the peak bucket, in 10^-9 units.
    pub taken: [u64; 2],
}

fn refill(tokens: u64, rate: u64, burst: u64, elapsed_ns: u64) -> u64 {
    rate.checked_mul(elapsed_ns).and_then(|gained| tokens.checked_add(gained)).map_or(burst, |sum| sum.min(burst))
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
