//! A vector that is on huge pages when it is large; an ordinary allocation gets them only by chance. With 200,000 IPv6 routes
//! that makes 34 instead of 31 M look-ups a second.

use crate::region::Region;
use std::alloc::{Layout, handle_alloc_error};
use std::ops::{Deref, DerefMut};
use std::ptr::NonNull;

/// A vector in a [`Region`]. It only grows.
pub(crate) struct Array<T> {
    start: NonNull<T>,
    len: usize,
    capacity: usize,
    /// What `start` is the start of.
    region: Option<Region>,
}

// SAFETY: it owns its elements as a vector does.
unsafe impl<T: Send> Send for Array<T> {}
// SAFETY: as above.
unsafe impl<T: Sync> Sync for Array<T> {}

impl<T> Default for Array<T> {
    fn default() -> Self {
        Array { start: NonNull::dangling(), len: 0, capacity: 0, region: None }
    }
}

impl<T: Copy> Array<T> {
    /// Adds `more` elements. Like a vector it ends the process if there is no memory.
    pub(crate) fn grow(&mut self, more: usize, element: T) {
        let len = self.len + more;
        if len > self.capacity {
            // Address space costs nothing, and what is moved seldom is moved while it is small.
            let capacity = len.max(8 * self.capacity);
            let layout = Layout::array::<T>(capacity).expect("some 32 bits of elements");
            let Ok(region) = Region::reserve(layout.size()) else { handle_alloc_error(layout) };
            let start = NonNull::new(region.start().cast::<T>()).expect("a region has an address");
            // SAFETY: both have room for `self.len` elements, and a new region overlaps no other.
            unsafe { std::ptr::copy_nonoverlapping(self.start.as_ptr(), start.as_ptr(), self.len) };
            (self.start, self.capacity, self.region) = (start, capacity, Some(region));
        }
        for i in self.len..len {
            // SAFETY: below the capacity; regions begin at a page, so elements are aligned.
            unsafe { self.start.add(i).write(element) };
        }
        self.len = len;
    }
}

impl<T> Deref for Array<T> {
    type Target = [T];

    #[inline(always)]
    fn deref(&self) -> &[T] {
        // SAFETY: the first `len` elements have been written; `&mut self` alone changes them.
        unsafe { std::slice::from_raw_parts(self.start.as_ptr(), self.len) }
    }
}

impl<T> DerefMut for Array<T> {
    fn deref_mut(&mut self) -> &mut [T] {
        // SAFETY: as above, and `&mut self` excludes others.
        unsafe { std::slice::from_raw_parts_mut(self.start.as_ptr(), self.len) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn elements_stay_as_the_array_grows() {
        let mut array = Array::default();
        assert!(array.is_empty());
        for i in 0..100_000u64 {
            array.grow(1 + i as usize % 3, i);
        }
        array[7] = 77;
        let mut expected: Vec<u64> = (0..100_000u64).flat_map(|i| vec![i; 1 + i as usize % 3]).collect();
        expected[7] = 77;
        assert_eq!(*array, *expected);
    }
}
