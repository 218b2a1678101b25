//! Zeroed memory at a stable address: the whole size is reserved at once, pages are allocated when first written.
//!
//! So a table declared for millions of entries uses memory only for those that it holds, grows without moving anything, and finds a
//! record by one multiplication. Pages that are no longer needed can be [forgotten](Region::forget). If less is known in advance, an [`crate::Array`] of the same pages grows like a vector.

use std::ptr::NonNull;

/// The system gave no address space.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct NoMemory {
    /// How much was asked for.
    pub bytes: usize,
}

/// A reservation. Every byte reads as zero until written.
pub struct Region {
    start: NonNull<u8>,
    bytes: usize,
    /// Bytes of the allocation before `start`.
    #[cfg(not(target_os = "linux"))]
    skip: usize,
}

// SAFETY: a region is plain memory with no tie to a thread; who may touch it when is the owning table's contract.
unsafe impl Send for Region {}
// SAFETY: as above; `&Region` itself only gives out the address.
unsafe impl Sync for Region {}

impl Region {
    /// Address of the first byte, aligned to a page.
    #[inline(always)]
    pub fn start(&self) -> *mut u8 {
        self.start.as_ptr()
    }
}

/// Regions of at least this size are laid on huge pages where the system has them: random look-ups in 4 KiB pages
/// would pay for a page walk each, under a hypervisor several cache misses.
pub const HUGE_PAGE: usize = 2 << 20;

#[cfg(target_os = "linux")]
impl Region {
    /// Gives a huge page's memory back to the system, if the region is of huge pages: it reads as zero until it is written again.
    /// Its content must not be needed any more; a reader finds old bytes or zeros.
    pub fn forget(&mut self, page: usize) {
        if self.bytes < HUGE_PAGE || page >= self.bytes / HUGE_PAGE {
            return;
        }
        // SAFETY: the page is within our own private mapping, which begins at a huge page's boundary, and holds plain memory.
        // Failure costs memory only.
        unsafe {
            libc::madvise(self.start.as_ptr().add(page * HUGE_PAGE).cast(), HUGE_PAGE, libc::MADV_DONTNEED);
        }
    }

    /// Reserves `bytes`, rounded up to whole pages.
    ///
    /// # Errors
    /// The system has no such address space.
    pub fn reserve(bytes: usize) -> Result<Region, NoMemory> {
        let refused = NoMemory { bytes };
        let huge = bytes >= HUGE_PAGE;
        let bytes = bytes.max(1).next_multiple_of(if huge { HUGE_PAGE } else { 4096 });
        // Room to cut the start to a huge page's boundary.
        let mapped = bytes + if huge { HUGE_PAGE } else { 0 };
        let flags = libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: an anonymous mapping at an address of the kernel's choice touches no memory of ours.
        let address = unsafe { libc::mmap(std::ptr::null_mut(), mapped, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if address == libc::MAP_FAILED {
            return Err(refused);
        }
        let Some(mut start) = NonNull::new(address.cast::<u8>()) else { return Err(refused) };
        if huge {
            let skip = start.align_offset(HUGE_PAGE);
            // SAFETY: [start, start + mapped) is ours and not in use; `skip` is below HUGE_PAGE, so what stays is
            // `bytes` long and what is unmapped lies outside of it. Failure of either call costs memory or speed only.
            unsafe {
                if skip > 0 {
                    libc::munmap(start.as_ptr().cast(), skip);
                }
                start = start.add(skip);
                if skip < HUGE_PAGE {
                    libc::munmap(start.add(bytes).as_ptr().cast(), HUGE_PAGE - skip);
                }
                libc::madvise(start.as_ptr().cast(), bytes, libc::MADV_HUGEPAGE);
            }
        }
        Ok(Region { start, bytes })
    }
}

#[cfg(target_os = "linux")]
impl Drop for Region {
    fn drop(&mut self) {
        // SAFETY: exactly the mapping that `reserve` made, and the region has no other holder.
        unsafe {
            libc::munmap(self.start.as_ptr().cast(), self.bytes);
        }
    }
}

#[cfg(not(target_os = "linux"))]
impl Region {
    /// Memory stays.
    pub fn forget(&mut self, _page: usize) {}

    /// Room to begin at a page; small alignment, because allocators write zeros themselves where a larger one is asked for.
    fn layout(bytes: usize) -> Option<std::alloc::Layout> {
        std::alloc::Layout::from_size_align(bytes.checked_add(4096)?, 8).ok()
    }

    /// Allocates `bytes`; whether pages are taken lazily is up to the allocator.
    ///
    /// # Errors
    /// There is no such memory.
    pub fn reserve(bytes: usize) -> Result<Region, NoMemory> {
        let refused = NoMemory { bytes };
        let Some(layout) = Self::layout(bytes) else { return Err(refused) };
        // SAFETY: the layout has a size above zero.
        let Some(allocated) = NonNull::new(unsafe { std::alloc::alloc_zeroed(layout) }) else { return Err(refused) };
        let skip = allocated.align_offset(4096);
        // SAFETY: `skip` is below 4096, which the layout has beyond `bytes`.
        Ok(Region { start: unsafe { allocated.add(skip) }, bytes, skip })
    }
}

#[cfg(not(target_os = "linux"))]
impl Drop for Region {
    fn drop(&mut self) {
        if let Some(layout) = Self::layout(self.bytes) {
            // SAFETY: where and with which layout `reserve` allocated.
            unsafe { std::alloc::dealloc(self.start.as_ptr().sub(self.skip), layout) }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    #[cfg(target_os = "linux")]
    fn large_reservation_costs_only_what_is_touched() {
        let bytes = 64 << 30;
        let region = Region::reserve(bytes).unwrap();
        assert_eq!(region.start() as usize % (2 << 20), 0);
        for at in [0, bytes / 2, bytes - 1] {
            // SAFETY: inside the region, which has no other holder.
            unsafe {
                assert_eq!(region.start().add(at).read(), 0);
                region.start().add(at).write(7);
                assert_eq!(region.start().add(at).read(), 7);
            }
        }
    }

    #[test]
    fn impossible_reservation_is_an_error() {
        assert!(matches!(Region::reserve(1 << 60), Err(NoMemory { .. })));
    }
}
