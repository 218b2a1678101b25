//! Direct index: keys of up to 3 bytes, read as a number, pick the entry without a search.

use crate::records::{Records, RecordsAt};
use crate::sides::{Index, Sides};
use crate::{BURST, Shape, Table, TableError, View, check_key, check_shape, check_value, ffi, prefetch};
use pages::Region;
use std::ffi::c_void;

/// A table for short keys, which are read as numbers (most significant byte first).
pub struct Direct {
    shape: Shape,
    sides: Sides<Handles>,
    records: Records,
    len: u64,
}

/// The handle of each key, 0 for none.
struct Handles {
    key_len: usize,
    region: Region,
    records: RecordsAt,
}

impl Handles {
    #[inline(always)]
    fn address(&self, index: usize) -> *mut u32 {
        self.region.start().cast::<u32>().wrapping_add(index)
    }

    fn get(&self, index: usize) -> u32 {
        // SAFETY: an index that `Direct::index` made is within the region, and this copy is not being changed.
        unsafe { *self.address(index) }
    }
}

impl Index for Handles {
    /// Key and new handle.
    type Change = (usize, u32);

    fn change(&mut self, (index, handle): &(usize, u32)) {
        // SAFETY: as in `get`, and `&mut self`.
        unsafe { *self.address(*index) = *handle }
    }
}

impl Direct {
    /// An empty table. Refuses keys of more than 3 bytes.
    pub fn new(shape: Shape) -> Result<Direct, TableError> {
        check_shape(&shape)?;
        if shape.key_len > 3 {
            return Err(TableError::Invalid(format!("a key of {} bytes is too long for a direct index", shape.key_len)));
        }
        let records = Records::new(shape.value_len, shape.capacity)?;
        let handles = || -> Result<Handles, TableError> {
            Ok(Handles { key_len: shape.key_len, region: Region::reserve(4 << (8 * shape.key_len))?, records: records.places() })
        };
        Ok(Direct { shape, sides: Sides::new([handles()?, handles()?]), records, len: 0 })
    }

    /// Calls `each` with every key and value, staged changes included, by key.
    pub fn for_each(&self, mut each: impl FnMut(&[u8], &[u8])) {
        let handles = self.sides.latest();
        for index in 0..1usize << (8 * self.shape.key_len) {
            let handle = handles.get(index);
            if handle != 0 {
                each(&(index as u32).to_be_bytes()[4 - self.shape.key_len..], self.records.value(handle));
            }
        }
    }

    fn index(&self, key: &[u8]) -> Option<usize> {
        (key.len() == self.shape.key_len).then(|| key.iter().fold(0, |index, byte| index << 8 | usize::from(*byte)))
    }

    /// Takes back a record: when look-ups have ended that may read it, or at once if none ever could.
    fn retire(&mut self, index: usize, handle: u32) {
        if self.sides.read().get(index) == handle {
            self.records.retire(handle);
        } else {
            self.records.release(handle);
        }
    }

    /// Index and handle of an entry.
    fn entry(&self, key: &[u8]) -> Option<(usize, u32)> {
        let index = self.index(key)?;
        let handle = self.sides.latest().get(index);
        (handle != 0).then_some((index, handle))
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

    fn stage_insert(&mut self, key: &[u8], value: &[u8]) -> Result<(), TableError> {
        check_key(&self.shape, key)?;
        check_value(&self.shape, value)?;
        if self.entry(key).is_some() {
            return Err(TableError::Exists);
        }
        let full = TableError::Full { capacity: self.shape.capacity };
        if self.len == self.shape.capacity {
            return Err(full);
        }
        let index = self.index(key).ok_or(TableError::Missing)?;
        let handle = self.records.alloc_with(value).ok_or(full)?;
        self.sides.change((index, handle));
        self.len += 1;
        Ok(())
    }

    fn stage_replace(&mut self, key: &[u8], value: &[u8]) -> Result<(), TableError> {
        check_value(&self.shape, value)?;
        let (index, old) = self.entry(key).ok_or(TableError::Missing)?;
        let handle = self.records.alloc_with(value).ok_or(TableError::Full { capacity: self.shape.capacity })?;
        self.sides.change((index, handle));
        self.retire(index, old);
        Ok(())
    }

    fn stage_remove(&mut self, key: &[u8]) -> Result<(), TableError> {
        let (index, handle) = self.entry(key).ok_or(TableError::Missing)?;
        self.sides.change((index, 0));
        self.retire(index, handle);
        self.len -= 1;
        Ok(())
    }

    fn flip(&mut self) {
        self.sides.flip();
    }

    unsafe fn settle(&mut self) {
        // SAFETY: the caller's promise is the same.
        unsafe { self.sides.settle() };
        self.records.free_retired();
    }

    fn get(&self, key: &[u8]) -> Option<&[u8]> {
        self.entry(key).map(|(_, handle)| self.records.value(handle))
    }

    fn view(&self) -> View {
        View { lookup: lookup_burst, table: self.sides.current().cast(), exact: std::ptr::null() }
    }
}

/// The [`ffi::LookupFn`].
unsafe extern "C" fn lookup_burst(table: *const c_void, keys: *const u8, stride: usize, n: usize, out: *mut *mut u8) -> u64 {
    // SAFETY: a view of ours, in use as its contract says.
    let handles = unsafe { &*table.cast::<Handles>() };
    let n = n.min(BURST);
    let mut found = [0u32; BURST];
    // SAFETY: the first word of a key is readable: the caller's contract.
    let index =
        |i: usize| unsafe { (u64::from_be(keys.add(i * stride).cast::<u64>().read_unaligned()) >> (64 - 8 * handles.key_len)) as usize };
    if handles.key_len > 2 {
        (0..n).for_each(|i| prefetch(handles.address(index(i)).cast()));
    }
    for (i, handle) in found[..n].iter_mut().enumerate() {
        *handle = handles.get(index(i));
    }
    let mut hits = 0;
    for (i, handle) in found[..n].iter().enumerate() {
        // SAFETY: `out` has `n` places.
        unsafe { *out.add(i) = handles.records.found(*handle) };
        hits |= u64::from(*handle != 0) << i;
    }
    hits
}

const _: ffi::LookupFn = lookup_burst;
