//! How does memory get into two processes, and stay as large as it was?
//!
//! One process makes it without a name (memfd) and seals its size, so that no other can cut it short while it is mapped, which would kill the reader with
//! SIGBUS. The other gets the descriptor by a socket and maps it only if it is sealed.

use memmap2::{MmapOptions, MmapRaw};
use rustix::fs::{MemfdFlags, SealFlags, fcntl_add_seals, fcntl_get_seals, fstat, ftruncate, memfd_create};
use rustix::io::Errno;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::sync::atomic::AtomicU64;

/// Bytes of a word.
const WORD: usize = size_of::<AtomicU64>();
/// Most words of a region: 1 GiB, more than any ring needs. What comes by a socket says its size by itself.
pub const MAX_WORDS: usize = 1 << 27;

/// Why there is no region.
#[derive(Debug, thiserror::Error)]
pub enum RegionError {
    /// The kernel refused.
    #[error("shared memory: {0}")]
    Kernel(#[from] std::io::Error),
    /// Its owner could cut it short.
    #[error("shared memory: its size is not sealed")]
    NotSealed,
    /// Too small or too large.
    #[error("shared memory: {0} bytes: expected a multiple of 8 from 8 bytes to 1 GiB")]
    Size(u64),
}

impl From<Errno> for RegionError {
    fn from(error: Errno) -> RegionError {
        RegionError::Kernel(error.into())
    }
}

/// Mapped memory. It may be written by others at any time.
pub struct Region {
    map: MmapRaw,
    fd: OwnedFd,
}

impl Region {
    /// New memory of so many words, all zero.
    ///
    /// # Errors
    /// If it is of no valid size, or the kernel has none.
    pub fn create(words: usize) -> Result<Region, RegionError> {
        let bytes = (words as u64).saturating_mul(WORD as u64);
        let fd = memfd_create(c"splitplane", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING)?;
        ftruncate(&fd, bytes)?;
        fcntl_add_seals(&fd, SEALS)?;
        Region::open(fd)
    }

    /// Another's memory.
    ///
    /// # Errors
    /// If its size is not sealed or not valid.
    pub fn open(fd: OwnedFd) -> Result<Region, RegionError> {
        if !fcntl_get_seals(&fd).map_err(|_| RegionError::NotSealed)?.contains(SEALS) {
            return Err(RegionError::NotSealed);
        }
        let bytes = fstat(&fd)?.st_size as u64;
        if bytes == 0 || !bytes.is_multiple_of(WORD as u64) || bytes > (MAX_WORDS * WORD) as u64 {
            return Err(RegionError::Size(bytes));
        }
        let map = MmapOptions::new().len(bytes as usize).map_raw(&fd)?;
        Ok(Region { map, fd })
    }

    /// To be sent to the other process.
    pub fn fd(&self) -> BorrowedFd<'_> {
        self.fd.as_fd()
    }

    /// The memory.
    pub fn words(&self) -> &[AtomicU64] {
        // SAFETY: the mapping has this length and is page aligned; it stays mapped as long as `self`, and its file cannot shrink, as it is sealed. All
        // access is by atomics, so what others write at the same time is a value, whatever it is.
        unsafe { std::slice::from_raw_parts(self.map.as_ptr().cast::<AtomicU64>(), self.map.len() / WORD) }
    }
}

const SEALS: SealFlags = SealFlags::SHRINK.union(SealFlags::GROW).union(SealFlags::SEAL);

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::atomic::Ordering::Relaxed;

    #[test]
    fn what_one_mapping_writes_another_reads_and_the_size_is_fixed() {
        let region = Region::create(1024).unwrap();
        let other = Region::open(region.fd().try_clone_to_owned().unwrap()).unwrap();
        region.words()[1023].store(77, Relaxed);
        assert_eq!((other.words().len(), other.words()[1023].load(Relaxed)), (1024, 77));
        assert!(ftruncate(other.fd(), 8).is_err());
    }

    #[test]
    fn memory_that_can_be_cut_short_is_refused() {
        let fd = memfd_create(c"test", MemfdFlags::CLOEXEC | MemfdFlags::ALLOW_SEALING).unwrap();
        ftruncate(&fd, 4096).unwrap();
        assert!(matches!(Region::open(fd), Err(RegionError::NotSealed)));
        let file = std::fs::File::open("/proc/self/exe").unwrap();
        assert!(matches!(Region::open(file.into()), Err(RegionError::NotSealed)));
        assert!(matches!(Region::create(0), Err(RegionError::Size(0))));
        assert!(matches!(Region::create(MAX_WORDS + 1), Err(RegionError::Size(_))));
    }
}
