//! Arrays of counters, meters and registers: large, zero at first, and costing memory only where they are used; or shared by another target.

use crate::LoadError;
use crate::abi::{CCell, CMeter};
use std::alloc::Layout;
use std::ptr::NonNull;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use target::{Count, SharedMeter};

/// `len` values of 8 bytes times `words`, zero at first and aligned to `8 * words` (to 16 at most, to 64 for 4 words and more).
pub struct Cells {
    /// The first value.
    start: NonNull<u64>,
    memory: Memory,
    len: u64,
}

/// Where an array lies.
enum Memory {
    Ours {
        allocation: NonNull<u8>,
        layout: Layout,
    },
    /// It stays mapped as long as this is held.
    Lent {
        _owner: Arc<SharedMeter>,
    },
}

// SAFETY: the memory is plain words, which are read and written through atomics, or by one thread at a time as the
// owner's locks see to.
unsafe impl Send for Cells {}
// SAFETY: as above.
unsafe impl Sync for Cells {}

impl Cells {
    /// Asks the system for zero pages.
    pub fn new(len: u64, words: usize) -> Result<Cells, LoadError> {
        let too_big = || LoadError::Memory { bytes: len.saturating_mul(8 * words as u64) };
        let bytes = usize::try_from(len).ok().and_then(|n| n.checked_mul(8 * words)).ok_or_else(too_big)?;
        // Allocators take zero pages from the system as they are only where no more than 16 bytes of alignment are asked for.
        let layout = bytes.checked_add(64).and_then(|b| Layout::from_size_align(b, 16).ok()).ok_or_else(too_big)?;
        // SAFETY: the size is at least 64.
        let allocation = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) }).ok_or_else(too_big)?;
        let skip = if words >= 4 { allocation.align_offset(64) } else { 0 };
        // SAFETY: at most 63 bytes, of the 64 added.
        let start = unsafe { allocation.add(skip) }.cast();
        Ok(Cells { start, memory: Memory::Ours { allocation, layout }, len })
    }

    /// The first `len` cells of a meter that another target executes too.
    pub fn shared(meter: Arc<SharedMeter>, len: u64) -> Result<Cells, LoadError> {
        let words = meter.cells();
        let Some(start) = NonNull::new(words.as_ptr().cast_mut().cast()).filter(|_| len <= meter.len()) else {
            return Err(LoadError::Layout(format!("a meter of {len} cells, but {} are shared", meter.len())));
        };
        if !words.as_ptr().addr().is_multiple_of(size_of::<CMeter>()) {
            return Err(LoadError::Layout("shared cells do not lie within cache lines".into()));
        }
        Ok(Cells { start, memory: Memory::Lent { _owner: meter }, len })
    }

    /// Number of cells.
    pub fn len(&self) -> u64 {
        self.len
    }

    /// The first cell.
    pub fn start<T>(&self) -> *mut T {
        self.start.as_ptr().cast()
    }

    /// A counter's cell, if the array is one of counters.
    pub fn counter(&self, index: u64) -> Option<&CCell> {
        // SAFETY: the index is within the array, whose cells are pairs of words that are only used as atomics.
        (index < self.len).then(|| unsafe { &*self.start::<CCell>().add(index as usize) })
    }

    /// A register's cell, if the array is one of registers.
    pub fn register(&self, index: u64) -> Option<&AtomicU64> {
        // SAFETY: as above, with one word a cell.
        (index < self.len).then(|| unsafe { &*self.start::<AtomicU64>().add(index as usize) })
    }
}

impl Drop for Cells {
    fn drop(&mut self) {
        if let Memory::Ours { allocation, layout } = self.memory {
            // SAFETY: allocated with that layout.
            unsafe { std::alloc::dealloc(allocation.as_ptr(), layout) }
        }
    }
}

impl CCell {
    /// What it has counted.
    pub fn read(&self) -> Count {
        Count { packets: self.packets.load(Ordering::Relaxed), bytes: self.bytes.load(Ordering::Relaxed) }
    }

    /// Back to zero; no lane may be counting.
    pub fn clear(&self) {
        self.packets.store(0, Ordering::Relaxed);
        self.bytes.store(0, Ordering::Relaxed);
    }
}
