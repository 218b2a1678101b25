//! Direct index: keys of up to 3 bytes, read as a number, pick the record without a search.

use crate::records::stride;
use crate::region::Region;
use crate::{BURST, Shape, Table, TableError, check_key, check_shape, check_value, prefetch};

/// A table for short keys: the record of key `k` (most significant byte first) is the `k`-th.
pub struct Direct {
    shape: Shape,
    stride: usize,
    records: Region,
    /// Bit `k`: key `k` has an entry.
    present: Vec<u64>,
    len: u64,
}

impl Direct {
    /// An empty table. Refuses keys of more than 3 bytes.
    pub fn new(shape: Shape) -> Result<Direct, TableError> {
        check_shape(&shape)?;
        if shape.key_len > 3 {
            return Err(TableError::Invalid(format!("a key of {} bytes is too long for a direct index", shape.key_len)));
        }
        let (indices, stride) = (1 << (8 * shape.key_len), stride(shape.value_len));
        Ok(Direct { shape, stride, records: Region::reserve(indices * stride)?, present: vec![0; indices / 64], len: 0 })
    }

    fn index(&self, key: &[u8]) -> Option<usize> {
        (key.len() == self.shape.key_len).then(|| key.iter().fold(0, |index, byte| index << 8 | usize::from(*byte)))
    }

    fn present(&self, index: usize) -> bool {
        self.present[index / 64] >> (index % 64) & 1 == 1
    }

    #[inline(always)]
    fn record(&self, index: usize) -> *mut u8 {
        self.records.start().wrapping_add(index * self.stride)
    }

    fn entry(&self, key: &[u8]) -> Option<usize> {
        self.index(key).filter(|index| self.present(*index))
    }
}

impl Table for Direct {
    type Match<'a> = &'a [u8];

    fn shape(&self) -> Shape {
        self.shape
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn insert(&mut self, key: &[u8], value: &[u8]) -> Result<*mut u8, TableError> {
        check_key(&self.shape, key)?;
        check_value(&self.shape, value)?;
        let index = key.iter().fold(0, |index, byte| index << 8 | usize::from(*byte));
        if self.present(index) {
            return Err(TableError::Exists);
        }
        if self.len == self.shape.capacity {
            return Err(TableError::Full { capacity: self.shape.capacity });
        }
        self.present[index / 64] |= 1 << (index % 64);
        self.len += 1;
        // SAFETY: the region has a record of at least `value_len` bytes for every index; `&mut self` excludes slices of it.
        unsafe { std::ptr::copy_nonoverlapping(value.as_ptr(), self.record(index), value.len()) };
        Ok(self.record(index))
    }

    fn remove(&mut self, key: &[u8]) -> Result<(), TableError> {
        let index = self.entry(key).ok_or(TableError::Missing)?;
        self.present[index / 64] &= !(1 << (index % 64));
        self.len -= 1;
        Ok(())
    }

    fn get(&self, key: &[u8]) -> Option<&[u8]> {
        let index = self.entry(key)?;
        // SAFETY: a record of `value_len` initialised bytes; changes need `&mut self`.
        Some(unsafe { std::slice::from_raw_parts(self.record(index), self.shape.value_len) })
    }

    fn get_mut(&mut self, key: &[u8]) -> Option<&mut [u8]> {
        let index = self.entry(key)?;
        // SAFETY: as in `get`, and `&mut self` excludes every other slice.
        Some(unsafe { std::slice::from_raw_parts_mut(self.record(index), self.shape.value_len) })
    }

    unsafe fn lookup_burst(&self, keys: *const u8, stride: usize, n: usize, out: *mut *mut u8) -> u64 {
        let mut hits = 0;
        for i in 0..n.min(BURST) {
            // SAFETY: the first word of a key is readable and `out` has `n` places: the caller's contract.
            unsafe {
                let word = keys.add(i * stride).cast::<u64>().read_unaligned();
                let index = (u64::from_be(word) >> (64 - 8 * self.shape.key_len)) as usize;
                let hit = self.present(index);
                prefetch(self.record(index));
                *out.add(i) = if hit { self.record(index) } else { std::ptr::null_mut() };
                hits |= u64::from(hit) << i;
            }
        }
        hits
    }
}
