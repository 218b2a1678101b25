//! Records: fixed-size cells at stable addresses, named by handles from 1 up.

use crate::TableError;
use pages::{HUGE_PAGE, Region};

/// Room for records. Handle 0 is a record too, all zero and never given out: the one that "nothing found" may read.
pub(crate) struct Records {
    region: Region,
    stride: usize,
    value_len: usize,
    limit: u32,
    /// Highest handle ever given out.
    high: u32,
    free: Vec<u32>,
    /// Out of use, but look-ups may still be reading them.
    retired: Vec<u32>,
    /// Records in use by huge page; one that lies on two counts in both.
    in_page: Vec<u32>,
    /// The page that came out of use last: it is kept, so that records that come and go do not take and give it back each time.
    empty: Option<usize>,
}

/// Where records are, for look-ups.
#[derive(Clone, Copy)]
pub(crate) struct RecordsAt {
    start: *mut u8,
    stride: usize,
}

// SAFETY: an address; who may read what lies there is said by who uses it.
unsafe impl Send for RecordsAt {}
// SAFETY: as above.
unsafe impl Sync for RecordsAt {}

/// Distance of two records of `len` bytes: one of up to 64 bytes lies in one cache line, a longer one starts at one.
fn stride(len: usize) -> usize {
    if len <= 64 { len.next_power_of_two().max(8) } else { len.next_multiple_of(64) }
}

impl Records {
    /// Room for records of `len` bytes: twice `capacity` of them, as one batch may replace every entry of a full table, and
    /// the replaced ones stay until no look-up can be reading them; and one more for a value being written. What is never used
    /// costs address space only.
    pub(crate) fn new(len: usize, capacity: u64) -> Result<Records, TableError> {
        let stride = stride(len);
        let limit = u32::try_from(2 * capacity + 1).map_err(|_| TableError::Memory { bytes: usize::MAX })?;
        let region = Region::reserve((limit as usize + 1).saturating_mul(stride))?;
        Ok(Records {
            region,
            stride,
            value_len: len,
            limit,
            high: 0,
            free: Vec::new(),
            retired: Vec::new(),
            in_page: Vec::new(),
            empty: None,
        })
    }

    /// The huge pages that a record lies on.
    fn pages(&self, handle: u32) -> std::ops::RangeInclusive<usize> {
        let start = handle as usize * self.stride;
        start / HUGE_PAGE..=(start + self.stride - 1) / HUGE_PAGE
    }

    /// Records in use, retired ones included.
    pub(crate) fn used(&self) -> u32 {
        self.high - self.free.len() as u32
    }

    /// A record with unspecified content, `None` when all are in use.
    pub(crate) fn alloc(&mut self) -> Option<u32> {
        let handle = match self.free.pop() {
            Some(handle) => handle,
            None if self.high == self.limit => return None,
            None => {
                self.high += 1;
                self.high
            }
        };
        for page in self.pages(handle) {
            if page >= self.in_page.len() {
                self.in_page.resize(page + 1, 0);
            }
            self.in_page[page] += 1;
        }
        Some(handle)
    }

    /// The same, holding `value`.
    pub(crate) fn alloc_with(&mut self, value: &[u8]) -> Option<u32> {
        let handle = self.alloc()?;
        self.write(handle, value);
        Some(handle)
    }

    /// Writes a record that no look-up can be reading.
    pub(crate) fn write(&mut self, handle: u32, value: &[u8]) {
        assert_eq!(value.len(), self.value_len);
        // SAFETY: a record is at least `value_len` bytes; `&mut self` and the caller exclude readers.
        unsafe { std::ptr::copy_nonoverlapping(value.as_ptr(), self.places().at(handle), value.len()) };
    }

    /// The content of a record that was given out.
    pub(crate) fn value(&self, handle: u32) -> &[u8] {
        debug_assert!(handle <= self.high);
        // SAFETY: `value_len` initialised bytes (regions are zero at first), which only `&mut self` writes.
        unsafe { std::slice::from_raw_parts(self.places().at(handle), self.value_len) }
    }

    /// Frees a record that has no readers.
    pub(crate) fn release(&mut self, handle: u32) {
        debug_assert!(handle != 0 && handle <= self.high);
        for page in self.pages(handle) {
            self.in_page[page] -= 1;
            // The first holds the record of "nothing found", and is never given back.
            if self.in_page[page] == 0
                && page > 0
                && let Some(before) = self.empty.replace(page)
                && before != page
                && self.in_page[before] == 0
            {
                self.region.forget(before);
            }
        }
        self.free.push(handle);
        if self.free.len() as u32 == self.high {
            // None is in use: numbers restart, and the free list is dropped.
            (self.high, self.free) = (0, Vec::new());
        }
    }

    /// Takes back a record when [`Records::free_retired`] is called.
    pub(crate) fn retire(&mut self, handle: u32) {
        debug_assert!(handle != 0 && handle <= self.high);
        self.retired.push(handle);
    }

    /// Retired records may be given out again.
    pub(crate) fn free_retired(&mut self) {
        for handle in std::mem::take(&mut self.retired) {
            self.release(handle);
        }
    }

    /// Where they are.
    pub(crate) fn places(&self) -> RecordsAt {
        RecordsAt { start: self.region.start(), stride: self.stride }
    }
}

impl RecordsAt {
    /// Distance of two records in bytes.
    #[inline(always)]
    pub(crate) fn stride(self) -> usize {
        self.stride
    }

    /// Address of a record; `handle` is 0 or was given out by `alloc`.
    #[inline(always)]
    pub(crate) fn at(self, handle: u32) -> *mut u8 {
        // A wrapping offset: a wrong handle would be a wrong address, not undefined behaviour here.
        self.start.wrapping_add(handle as usize * self.stride)
    }

    /// What a look-up gives for a handle: the record's address, null for 0. The record's first lines are asked for.
    #[inline(always)]
    pub(crate) fn found(self, handle: u32) -> *mut u8 {
        let record = self.at(handle);
        crate::prefetch(record);
        if handle == 0 { std::ptr::null_mut() } else { record }
    }
}
