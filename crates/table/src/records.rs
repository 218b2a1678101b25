//! Records: fixed-size cells at stable addresses, named by handles from 1 up.

use crate::TableError;
use crate::region::Region;

/// Room for records. Handle 0 is a record too, all zero and never given out: the one that "nothing found" may read.
pub(crate) struct Records {
    region: Region,
    stride: usize,
    capacity: u32,
    /// Highest handle ever given out.
    high: u32,
    free: Vec<u32>,
}

/// Distance of two records of `len` bytes: one of up to 64 bytes lies in one cache line, a longer one starts at one.
pub(crate) fn stride(len: usize) -> usize {
    if len <= 64 { len.next_power_of_two().max(8) } else { len.next_multiple_of(64) }
}

impl Records {
    /// Room for `capacity` records of `len` bytes.
    pub(crate) fn new(len: usize, capacity: u32) -> Result<Records, TableError> {
        let stride = stride(len);
        let region = Region::reserve((capacity as usize + 1).saturating_mul(stride))?;
        Ok(Records { region, stride, capacity, high: 0, free: Vec::new() })
    }

    pub(crate) fn len(&self) -> u32 {
        self.high - self.free.len() as u32
    }

    /// A record with unspecified content, `None` when all are in use.
    pub(crate) fn alloc(&mut self) -> Option<u32> {
        if let Some(handle) = self.free.pop() {
            return Some(handle);
        }
        if self.high == self.capacity {
            return None;
        }
        self.high += 1;
        Some(self.high)
    }

    /// Takes back a record that `alloc` gave.
    pub(crate) fn release(&mut self, handle: u32) {
        debug_assert!(handle != 0 && handle <= self.high);
        self.free.push(handle);
    }

    /// Distance of two records in bytes.
    #[inline(always)]
    pub(crate) fn stride(&self) -> usize {
        self.stride
    }

    /// Address of a record; `handle` is 0 or was given out by `alloc`.
    #[inline(always)]
    pub(crate) fn at(&self, handle: u32) -> *mut u8 {
        debug_assert!(handle <= self.high);
        // A wrapping offset: a wrong handle would be a wrong address, not undefined behaviour here.
        self.region.start().wrapping_add(handle as usize * self.stride)
    }
}
