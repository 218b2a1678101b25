//! Arrays of counters, meters and registers: large, zero at first, and costing memory only where they are used; or shared by another target.

use crate::LoadError;
use crate::abi::{CCell, CMeter};
use memmap2::{Advice, MmapMut, MmapOptions};
use program::Program;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use target_api::{CELL_WORDS, Count, PROFILE_WORDS, SharedMeter, Words};

/// Smaller arrays are not worth a huge page.
const HUGE_PAGE: usize = 2 << 20;

/// `len` values, zero at first.
pub(crate) struct Cells {
    /// The first value.
    start: NonNull<u64>,
    /// From one value to the next, in words of 8 bytes.
    stride: usize,
    _memory: Memory,
    len: u64,
}

/// Where an array lies.
enum Memory {
    Ours {
        _map: Arc<MmapMut>,
    },
    /// It stays mapped as long as this is held.
    Shared {
        _owner: Arc<SharedMeter>,
    },
}

// SAFETY: the memory is plain words, which are read and written through atomics, or by one thread at a time as the
// owner's locks see to.
unsafe impl Send for Cells {}
// SAFETY: as above.
unsafe impl Sync for Cells {}

impl Cells {
    /// Values of `words` words, one behind the other. Asks the system for zero pages.
    pub(crate) fn new(len: u64, words: usize) -> Result<Cells, LoadError> {
        let too_big = || LoadError::Memory { bytes: len.saturating_mul(8 * words as u64) };
        let bytes = usize::try_from(len).ok().and_then(|n| n.checked_mul(8 * words)).ok_or_else(too_big)?;
        // Not from the allocator: it writes zeros itself where the memory was used before, and all of it is resident then.
        let mut map = MmapOptions::new().len(bytes.max(1)).no_reserve_swap().map_anon().map_err(|_| too_big())?;
        // Packets meet cells at random: in small pages each costs a TLB miss too. Where the system has no huge pages it goes without.
        if bytes >= HUGE_PAGE {
            let _ = map.advise(Advice::HugePage);
        }
        let start = NonNull::new(map.as_mut_ptr()).ok_or_else(too_big)?.cast();
        Ok(Cells { start, stride: words, _memory: Memory::Ours { _map: map.into() }, len })
    }

    /// Cells of a counter and of a meter: those of a number lie in one cache line, so that a packet that uses both waits for one line.
    pub(crate) fn pair(len: u64) -> Result<(Cells, Cells), LoadError> {
        const LINE: usize = 8;
        let counter = Cells::new(len, LINE)?;
        let Memory::Ours { _map: map } = &counter._memory else { unreachable!("they were just made") };
        // SAFETY: the second half of the first line. The mapping is of whole pages.
        let start = unsafe { counter.start.add(LINE / 2) };
        let meter = Cells { start, stride: LINE, _memory: Memory::Ours { _map: map.clone() }, len };
        Ok((counter, meter))
    }

    /// The first `len` cells of a meter that another target executes too.
    pub(crate) fn shared(meter: Arc<SharedMeter>, len: u64) -> Result<Cells, LoadError> {
        let words = meter.cells();
        let Some(start) = NonNull::new(words.as_ptr().cast_mut().cast()).filter(|_| len <= meter.len()) else {
            return Err(LoadError::Layout(format!("a meter of {len} cells, but {} are shared", meter.len())));
        };
        if !words.as_ptr().addr().is_multiple_of(size_of::<CMeter>()) {
            return Err(LoadError::Layout("shared cells do not lie within cache lines".into()));
        }
        Ok(Cells { start, stride: CELL_WORDS, _memory: Memory::Shared { _owner: meter }, len })
    }

    /// Number of cells.
    pub(crate) fn len(&self) -> u64 {
        self.len
    }

    /// The first cell.
    pub(crate) fn start<T>(&self) -> *mut T {
        self.start.as_ptr().cast()
    }

    /// Bytes from one cell to the next.
    pub(crate) fn stride(&self) -> u64 {
        8 * self.stride as u64
    }

    /// Address of a cell, or of none if the array is not so long.
    pub(crate) fn at<T>(&self, index: u64) -> *mut T {
        self.start.as_ptr().wrapping_add(index as usize * self.stride).cast()
    }

    /// A counter's cell, if the array is one of counters.
    pub(crate) fn counter(&self, index: u64) -> Option<&CCell> {
        // SAFETY: the index is within the array, whose cells are pairs of words that are only used as atomics.
        (index < self.len).then(|| unsafe { &*self.at::<CCell>(index) })
    }

    /// A register's cell, if the array is one of registers of up to 64 bits.
    pub(crate) fn register(&self, index: u64) -> Option<&AtomicU64> {
        self.register_word(1, index, 0)
    }

    /// Word `word` of a register's cell, if the array is one of registers of so many words.
    pub(crate) fn register_word(&self, words: u64, index: u64, word: u64) -> Option<&AtomicU64> {
        // SAFETY: as above, with so many words a cell, as the array was made.
        (index < self.len && word < words).then(|| unsafe { &*self.start::<AtomicU64>().add((index * words + word) as usize) })
    }
}

/// Memory of meters that a target in this process executes too.
struct Longs {
    cells: Cells,
    len: usize,
}

impl Words for Longs {
    fn words(&self) -> &[AtomicU64] {
        // SAFETY: so many words were asked for; they live as long as this, and are only used as atomics or under a cell's lock.
        unsafe { std::slice::from_raw_parts(self.cells.start(), self.len) }
    }
}

/// Meters of a program, by number, for another target of this process and for [`crate::Options::meters`]: both execute the same cells, and a rate is one
/// wherever packets run. `None` for meters of entries. They cost memory only where they are used.
///
/// # Errors
/// The system has no such address space.
pub fn shared_meters(program: &Program) -> Result<Vec<Option<Arc<SharedMeter>>>, LoadError> {
    let longs = |len: u64, words: usize| {
        let cells = Cells::new(len, words)?;
        Ok::<Box<dyn Words>, LoadError>(Box::new(Longs { len: len as usize * words, cells }))
    };
    let shared = |size: u64| {
        // As many profiles as `Meters` may number.
        let profiles = size.saturating_mul(2).saturating_add(2);
        Ok(Arc::new(SharedMeter::new(longs(size, CELL_WORDS)?, longs(profiles, PROFILE_WORDS)?)))
    };
    program.meters.values().map(|info| info.table.is_none().then(|| shared(info.size)).transpose()).collect()
}

impl CCell {
    /// What it has counted.
    pub(crate) fn read(&self) -> Count {
        Count { packets: self.packets.load(Ordering::Relaxed), bytes: self.bytes.load(Ordering::Relaxed) }
    }

    /// Adds to it, or takes off it. Its lane alone does so, as its code counts.
    pub(crate) fn add(&self, packets: i32, bytes: i32) {
        for (cell, more) in [(&self.packets, packets), (&self.bytes, bytes)] {
            cell.store(cell.load(Ordering::Relaxed).wrapping_add_signed(more.into()), Ordering::Relaxed);
        }
    }

    /// Back to zero; no lane may be counting.
    pub(crate) fn clear(&self) {
        self.packets.store(0, Ordering::Relaxed);
        self.bytes.store(0, Ordering::Relaxed);
    }
}
