//! Memory shared with the kernel: mappings, and the rings that lie in them.
//!
//! A ring has one producer and one consumer, of which one is the kernel; the exclusive holder of a [`Ring`] is the other.

use std::io;
use std::marker::PhantomData;
use std::mem::size_of;
use std::os::fd::{AsRawFd, BorrowedFd, RawFd};
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use libc::{c_int, off_t, xdp_ring_offset};

/// Memory from mmap(2), unmapped when dropped.
pub(crate) struct Mapping {
    start: NonNull<u8>,
    length: usize,
}

// SAFETY: plain memory, which may be unmapped from any thread.
unsafe impl Send for Mapping {}
// SAFETY: bytes are reached by atomic words only, or by unsafe methods whose callers promise that those bytes have no other user.
unsafe impl Sync for Mapping {}

impl Mapping {
    pub(crate) fn anonymous(length: usize) -> io::Result<Mapping> {
        Mapping::map(length, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS | libc::MAP_POPULATE, -1, 0)
    }

    pub(crate) fn map(length: usize, flags: c_int, fd: RawFd, offset: off_t) -> io::Result<Mapping> {
        let access = libc::PROT_READ | libc::PROT_WRITE;
        // SAFETY: a new mapping where the kernel likes: no existing memory is touched.
        let start = unsafe { libc::mmap(std::ptr::null_mut(), length, access, flags, fd, offset) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let start = NonNull::new(start.cast::<u8>()).ok_or_else(|| io::Error::other("mmap returned null"))?;
        Ok(Mapping { start, length })
    }

    /// First byte, for who tells the kernel where the memory is.
    pub(crate) fn address(&self) -> u64 {
        self.start.as_ptr() as u64
    }

    pub(crate) fn len(&self) -> usize {
        self.length
    }

    /// A word that the kernel reads or writes at the same time. None outside the mapping, or off its four bytes.
    pub(crate) fn word(&self, offset: usize) -> Option<&AtomicU32> {
        let inside = self.contains(offset as u64, size_of::<u32>()) && offset.is_multiple_of(align_of::<u32>());
        // SAFETY: inside the mapping, which begins at a page; both sides access it atomically, or by unsafe methods whose callers
        // own it.
        inside.then(|| unsafe { &*self.start.as_ptr().add(offset).cast::<AtomicU32>() })
    }

    fn contains(&self, address: u64, length: usize) -> bool {
        usize::try_from(address).ok().and_then(|a| a.checked_add(length)).is_some_and(|end| end <= self.length)
    }

    /// # Safety
    /// While the slice lives nothing, the kernel included, writes there.
    pub(crate) unsafe fn bytes(&self, address: u64, length: usize) -> Option<&[u8]> {
        // SAFETY: inside the mapping as just checked; initialised, as mmap gives zeroes.
        self.contains(address, length).then(|| unsafe { std::slice::from_raw_parts(self.start.as_ptr().add(address as usize), length) })
    }

    /// # Safety
    /// While the slice lives nothing else, the kernel included, reads or writes there.
    #[expect(clippy::mut_from_ref, reason = "the caller owns that part of the memory, not all of it")]
    pub(crate) unsafe fn bytes_mut(&self, address: u64, length: usize) -> Option<&mut [u8]> {
        // SAFETY: as above, and the caller promises that these bytes have no other user.
        self.contains(address, length).then(|| unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr().add(address as usize), length) })
    }
}

impl Drop for Mapping {
    fn drop(&mut self) {
        // SAFETY: exactly what was mapped, and no slice of it outlives `self`.
        unsafe { libc::munmap(self.start.as_ptr().cast(), self.length) };
    }
}

/// A single-producer, single-consumer ring shared with the kernel, whichever side we are: `push` and `submit` for the rings that
/// we fill, `pop` and `release` for those we empty. Indices run freely and wrap at 2^32.
pub(crate) struct Ring<T> {
    mapping: Mapping,
    producer: usize,
    consumer: usize,
    flags: usize,
    entries: usize,
    size: u32,
    /// Our index, ahead of the shared one until `submit` or `release`.
    mine: u32,
    /// The kernel's index when last read.
    theirs: u32,
    entry: PhantomData<T>,
}

impl<T: Copy> Ring<T> {
    pub(crate) fn map(fd: BorrowedFd<'_>, page: off_t, offsets: &xdp_ring_offset, size: u32) -> io::Result<Ring<T>> {
        let entries = offsets.desc as usize;
        let length = entries + size as usize * size_of::<T>();
        let mapping = Mapping::map(length, libc::MAP_SHARED | libc::MAP_POPULATE, fd.as_raw_fd(), page)?;
        let inside = |offset: u64| mapping.contains(offset, size_of::<u32>()) && offset.is_multiple_of(4);
        if !(inside(offsets.producer) && inside(offsets.consumer) && inside(offsets.flags) && entries.is_multiple_of(align_of::<T>())) {
            return Err(io::Error::other("the kernel's ring offsets make no sense"));
        }
        Ok(Ring {
            mapping,
            producer: offsets.producer as usize,
            consumer: offsets.consumer as usize,
            flags: offsets.flags as usize,
            entries,
            size,
            mine: 0,
            theirs: 0,
            entry: PhantomData,
        })
    }

    fn word(&self, offset: usize) -> &AtomicU32 {
        // SAFETY: `map` checked that the offset is inside the mapping and aligned; both sides access it atomically.
        unsafe { &*self.mapping.start.as_ptr().add(offset).cast::<AtomicU32>() }
    }

    fn entry(&self, index: u32) -> *mut T {
        let at = self.entries + (index & (self.size - 1)) as usize * size_of::<T>();
        // SAFETY: masked to the ring's size: inside the mapping, whose length `map` computed from it.
        unsafe { self.mapping.start.as_ptr().add(at).cast::<T>() }
    }

    /// As producer: entries that there is room for.
    pub(crate) fn room(&self) -> u32 {
        self.size - self.unconsumed()
    }

    /// As consumer: entries that the producer has shown and we have not taken.
    pub(crate) fn waiting(&self) -> u32 {
        self.word(self.producer).load(Ordering::Acquire).wrapping_sub(self.mine)
    }

    /// As producer: whether there is no room.
    pub(crate) fn is_full(&mut self) -> bool {
        if self.mine.wrapping_sub(self.theirs) == self.size {
            self.theirs = self.word(self.consumer).load(Ordering::Acquire);
        }
        self.mine.wrapping_sub(self.theirs) == self.size
    }

    /// As producer: adds an entry, which the kernel sees after `submit`. Does nothing if the ring is full.
    pub(crate) fn push(&mut self, entry: T) {
        if self.is_full() {
            debug_assert!(false, "ring overrun");
            return;
        }
        // SAFETY: between our index and the kernel's the entry is ours to write.
        unsafe { self.entry(self.mine).write(entry) };
        self.mine = self.mine.wrapping_add(1);
    }

    pub(crate) fn submit(&mut self) {
        self.word(self.producer).store(self.mine, Ordering::Release);
    }

    /// As producer: entries that the kernel has not consumed.
    pub(crate) fn unconsumed(&self) -> u32 {
        self.mine.wrapping_sub(self.word(self.consumer).load(Ordering::Acquire))
    }

    /// As consumer: the next entry; the kernel may reuse its place after `release`.
    pub(crate) fn pop(&mut self) -> Option<T> {
        if self.mine == self.theirs {
            self.theirs = self.word(self.producer).load(Ordering::Acquire);
        }
        if self.mine == self.theirs {
            return None;
        }
        // SAFETY: between our index and the kernel's the entry is filled and ours to read.
        let entry = unsafe { self.entry(self.mine).read() };
        self.mine = self.mine.wrapping_add(1);
        Some(entry)
    }

    pub(crate) fn release(&mut self) {
        self.word(self.consumer).store(self.mine, Ordering::Release);
    }

    pub(crate) fn needs_wakeup(&self) -> bool {
        self.word(self.flags).load(Ordering::Relaxed) & libc::XDP_RING_NEED_WAKEUP != 0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A ring over plain memory: the test plays the kernel.
    fn ring() -> Ring<u64> {
        let mapping = Mapping::anonymous(4096).unwrap();
        Ring {
            mapping,
            producer: 0,
            consumer: 64,
            flags: 128,
            entries: 192,
            size: 4,
            mine: u32::MAX - 1,
            theirs: u32::MAX - 1,
            entry: PhantomData,
        }
    }

    #[test]
    fn a_ring_wraps_and_fills() {
        let mut producer = ring();
        producer.word(producer.consumer).store(u32::MAX - 1, Ordering::Release);
        for value in 0..4 {
            assert!(!producer.is_full());
            producer.push(value);
        }
        assert!(producer.is_full());
        producer.submit();
        assert_eq!(producer.unconsumed(), 4);
        producer.word(producer.consumer).store(0, Ordering::Release);
        assert!(!producer.is_full());
        assert_eq!(producer.unconsumed(), 2);

        let mut consumer = ring();
        consumer.word(consumer.producer).store(1, Ordering::Release);
        for index in [u32::MAX - 1, u32::MAX, 0] {
            // SAFETY: the index is masked; the test owns the memory.
            unsafe { consumer.entry(index).write(u64::from(index)) };
        }
        let got: Vec<u64> = std::iter::from_fn(|| consumer.pop()).collect();
        assert_eq!(got, [u64::from(u32::MAX - 1), u64::from(u32::MAX), 0]);
        consumer.release();
        assert_eq!(consumer.word(consumer.consumer).load(Ordering::Acquire), 1);
    }

    #[test]
    fn memory_outside_the_mapping_is_never_handed_out() {
        let mapping = Mapping::anonymous(8192).unwrap();
        // SAFETY: the mapping has no other user.
        unsafe {
            assert_eq!(mapping.bytes(8190, 2).map(<[u8]>::len), Some(2));
            assert!(mapping.bytes(8190, 3).is_none());
            assert!(mapping.bytes(u64::MAX, 1).is_none());
            assert!(mapping.bytes(1, usize::MAX).is_none());
        }
    }
}
