//! What is in a meter's cells, and whose are they? This target's own, or shared with the one behind it, which then configures them.
//!
//! Cells of equal configuration share a profile, so that two cells fit a cache line. A cell is only used under its lock: by packets, on any
//! core, by us, and, where cells are shared, by the lanes of the other target ([`SharedMeter`]).

use crate::LoadError;
use crate::object::Object;
use crate::sys::Shared;
use program::{MeterConfig, MeterInfo};
use std::collections::HashMap;
use std::ops::Range;
use std::sync::Arc;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use target_api::{CELL_WORDS, MeterState, ONE_RATE, PROFILE_WORDS, PROFILES, SharedMeter, WAITING, Words};

const NANO: u64 = 1_000_000_000;
/// Different rates that a meter's cells may have at once: 2 MB. With shared cells, packets of others go to the slow path.
pub(crate) const MOST_PROFILES: u64 = 65_536;
/// Bytes of a cell, and of a profile.
pub(crate) const CELL: usize = 8 * CELL_WORDS;
pub(crate) const PROFILE: usize = 8 * PROFILE_WORDS;

impl Words for Shared {
    fn words(&self) -> &[AtomicU64] {
        self.longs()
    }

    /// Without it, who asks uses the memory alone.
    fn make_room(&self, words: Range<usize>) {
        let bytes = 8 * words.start..8 * words.end;
        if Shared::make_room(self, bytes.clone()).is_err() {
            self.give_up(bytes);
        }
    }
}

/// Entries of the maps of an indexed meter: cells, and profiles. A batch may give every cell another rate, while the old ones are still there; and
/// profile 0 is none.
pub(crate) fn entries(info: &MeterInfo) -> (u64, u64) {
    let cells = info.size.max(1);
    (cells, cells.saturating_mul(2).saturating_add(2).min(MOST_PROFILES))
}

/// An array of meter cells.
pub(crate) struct Meter {
    memory: Arc<SharedMeter>,
    /// Whether the next target configures them.
    shared: bool,
    known: HashMap<MeterConfig, (u32, u64)>,
    free: Vec<u32>,
    /// The first number of a profile that was never used.
    next: u32,
}

impl Meter {
    /// That of number `i`, none of its cells configured.
    /// `all`: with memory for all of them, not only for the first ones.
    pub(crate) fn new(object: &Object, i: usize, info: &MeterInfo, all: bool) -> Result<Meter, LoadError> {
        let (cells, profiles) = entries(info);
        let first = if all { cells as usize * CELL } else { CELL };
        let cells = object.shared(&format!("sp_p{i}"), cells, CELL)?;
        cells.make_room(0..first).map_err(|e| LoadError::Kernel(format!("cannot make {first} bytes of meter cells: {e}")))?;
        let profiles = object.shared(&format!("sp_q{i}"), profiles, PROFILE)?;
        let memory = Arc::new(SharedMeter::new(Box::new(cells), Box::new(profiles)));
        Ok(Meter { memory, shared: false, known: HashMap::new(), free: Vec::new(), next: 1 })
    }

    /// Lets another target configure the cells from now on. They must not be configured yet.
    pub(crate) fn share(&mut self) -> Arc<SharedMeter> {
        self.shared = true;
        self.memory.clone()
    }

    /// Memory for a cell.
    pub(crate) fn make_room(&self, index: u64) {
        self.memory.make_room(index);
    }

    /// A use of a profile, for [`Meter::set`]; 0 for none, and where cells are shared. `None`: there are too many different rates.
    pub(crate) fn take(&mut self, config: Option<MeterConfig>) -> Option<u32> {
        let Some(config) = config.filter(|_| !self.shared) else { return Some(0) };
        if let Some((number, uses)) = self.known.get_mut(&config) {
            *uses += 1;
            return Some(*number);
        }
        let number = match self.free.pop() {
            Some(number) => number,
            None if (self.next as usize) < self.memory.profiles().len() / PROFILE_WORDS => {
                self.next += 1;
                self.next - 1
            }
            None => return None,
        };
        const FITS: &str = "the batch's check saw to it that bursts fit";
        let nano = |burst: u64| burst.checked_mul(NANO).expect(FITS);
        let words = [config.cir, nano(config.cbs), config.pir, nano(config.pbs)];
        for (word, value) in self.memory.profiles()[number as usize * PROFILE_WORDS..].iter().zip(words) {
            word.store(value, Ordering::Relaxed);
        }
        self.known.insert(config, (number, 1));
        Some(number)
    }

    /// Takes back a use.
    pub(crate) fn give_back(&mut self, number: u32) {
        let Some(config) = self.config(number) else { return };
        let Some((_, uses)) = self.known.get_mut(&config) else { return };
        *uses -= 1;
        if *uses == 0 {
            self.known.remove(&config);
            self.free.push(number);
        }
    }

    /// Gives a cell that profile and full buckets, and takes back the one that it has had; or, where cells are shared, notes whether our entries may
    /// lead to it.
    pub(crate) fn set(&mut self, index: u64, number: u32, configured: bool) {
        if self.shared {
            return self.memory.keep(index, configured);
        }
        let Some(cell) = self.cell(index) else { return };
        let config = self.config(number).unwrap_or_default();
        let state = MeterState { committed: config.cbs.saturating_mul(NANO), peak: config.pbs.saturating_mul(NANO), last_ns: 0 };
        let one_rate = if number != 0 && config.cir == config.pir && config.cbs == config.pbs { ONE_RATE } else { 0 };
        let old = cell.locked(|cell| {
            cell.store(state);
            cell.half(0).swap(number | one_rate, Ordering::AcqRel)
        });
        self.give_back(old & !ONE_RATE);
    }

    /// What is in a configured cell's buckets.
    pub(crate) fn state(&self, index: u64) -> Option<MeterState> {
        let (number, state) = self.cell(index)?.locked(|cell| (cell.half(0).load(Ordering::Acquire) & !WAITING, cell.load()));
        // Of two buckets that are alike, only one is kept.
        let committed = if number & ONE_RATE != 0 { state.peak } else { state.committed };
        (number != 0).then_some(MeterState { committed, ..state })
    }

    /// Sets the buckets of a configured cell, as far as they hold so much; says whether it is one.
    pub(crate) fn set_state(&self, index: u64, to: MeterState) -> bool {
        let Some(cell) = self.cell(index) else { return false };
        cell.locked(|cell| {
            let number = cell.half(0).load(Ordering::Acquire) & (PROFILES - 1);
            let Some([_, cbs, _, pbs]) = self.profile(number) else { return false };
            cell.store(MeterState { committed: to.committed.min(cbs), peak: to.peak.min(pbs), ..to });
            true
        })
    }

    /// No cell is configured any more; or, where cells are shared, our entries lead to none.
    pub(crate) fn clear(&mut self) {
        if self.shared {
            return self.memory.keep_none();
        }
        for index in 0..self.memory.len() {
            if self.cell(index).is_some_and(|cell| cell.half(0).load(Ordering::Acquire) != 0) {
                self.set(index, 0, false);
            }
        }
    }

    fn config(&self, number: u32) -> Option<MeterConfig> {
        let [cir, cbs, pir, pbs] = self.profile(number)?;
        Some(MeterConfig { cir, cbs: cbs / NANO, pir, pbs: pbs / NANO })
    }

    /// The words of a profile that is one.
    fn profile(&self, number: u32) -> Option<[u64; PROFILE_WORDS]> {
        let at = (number as usize).checked_mul(PROFILE_WORDS).filter(|at| *at > 0)?;
        let words = self.memory.profiles().get(at..at + PROFILE_WORDS)?;
        Some(std::array::from_fn(|i| words[i].load(Ordering::Relaxed)))
    }

    fn cell(&self, index: u64) -> Option<Cell<'_>> {
        let at = usize::try_from(index).ok()?.checked_mul(CELL_WORDS)?;
        Some(Cell(self.memory.cells().get(at..at.checked_add(CELL_WORDS)?)?))
    }
}

/// A meter's cell: [`CELL_WORDS`] words.
struct Cell<'a>(&'a [AtomicU64]);

impl Cell<'_> {
    fn load(&self) -> MeterState {
        let word = |i: usize| self.0[i].load(Ordering::Relaxed);
        MeterState { committed: word(0), peak: word(1), last_ns: word(2) }
    }

    fn store(&self, state: MeterState) {
        for (word, value) in self.0.iter().zip([state.committed, state.peak, state.last_ns]) {
            word.store(value, Ordering::Relaxed);
        }
    }

    /// A half of the last word: 0 the profile, 1 the lock.
    fn half(&self, half: usize) -> &AtomicU32 {
        crate::sys::half(&self.0[CELL_WORDS - 1], half)
    }

    fn locked<R>(&self, what: impl FnOnce(&Self) -> R) -> R {
        // Packets hold it for some instructions, and a lane of another target may have been stopped at them.
        while self.half(1).compare_exchange_weak(0, 1, Ordering::Acquire, Ordering::Relaxed).is_err() {
            std::thread::yield_now();
        }
        let result = what(self);
        self.half(1).store(0, Ordering::Release);
        result
    }
}
