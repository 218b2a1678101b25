//! Two copies of an index: readers use one while the writer changes the other.
//!
//! A change is made to the copy that has no readers, and recorded. After [`Sides::flip`], look-ups that begin read that copy;
//! after a grace period, when all that began before have ended, [`Sides::settle`] replays the recorded changes on the other copy. The index
//! costs twice the changes and memory, look-ups cost nothing more. That suits indices of routes and filters, which are small compared with their
//! records; the large exact tables mark slots instead ([`crate::exact`]).

use std::cell::UnsafeCell;
use std::sync::Arc;

/// What can be kept in two copies: the same changes in the same order give the same index.
pub(crate) trait Index {
    /// A change that is known to be possible.
    type Change;
    fn change(&mut self, change: &Self::Change);
    /// Called after changes, before look-ups: what is cheaper done once for many changes.
    fn finish(&mut self) {}
}

pub(crate) struct Sides<T: Index> {
    copies: Arc<[UnsafeCell<T>; 2]>,
    /// The copy that look-ups read.
    current: usize,
    /// What the other copy has not seen yet (before `settle`), or has seen alone (before `flip`).
    log: Vec<T::Change>,
    flipped: bool,
}

// SAFETY: it is two indices and a log; see below for who touches which copy.
unsafe impl<T: Index + Send> Send for Sides<T> where T::Change: Send {}
// SAFETY: `&Sides` only reads, and the copy that is changed is changed under `&mut Sides`.
unsafe impl<T: Index + Sync> Sync for Sides<T> where T::Change: Sync {}

impl<T: Index> Sides<T> {
    /// Of two equal copies.
    pub(crate) fn new(copies: [T; 2]) -> Sides<T> {
        // The Arc is for an address that stays, and that `&mut Sides` says nothing about.
        let copies = Arc::new(copies.map(UnsafeCell::new));
        Sides { copies, current: 0, log: Vec::new(), flipped: false }
    }

    /// With all changes.
    pub(crate) fn latest(&self) -> &T {
        let latest = if self.flipped { self.current } else { 1 - self.current };
        // SAFETY: that copy is changed under `&mut self` only.
        unsafe { &*self.copies[latest].get() }
    }

    /// What look-ups read that begin now, for the owner to read.
    pub(crate) fn read(&self) -> &T {
        // SAFETY: that copy is changed under `&mut self` only.
        unsafe { &*self.copies[self.current].get() }
    }

    /// What look-ups read that begin now.
    pub(crate) fn current(&self) -> *const T {
        self.copies[self.current].get()
    }

    /// Makes a change, for look-ups to see after the next flip.
    ///
    /// # Panics
    /// After a flip before it is settled.
    pub(crate) fn change(&mut self, change: T::Change) {
        assert!(!self.flipped, "a flip must settle before the next change");
        // SAFETY: look-ups read the other copy, and `&mut self` excludes the owner's.
        unsafe { (*self.copies[1 - self.current].get()).change(&change) };
        self.log.push(change);
    }

    /// Look-ups that begin from now on see the changes.
    pub(crate) fn flip(&mut self) {
        assert!(!self.flipped, "a flip must settle before the next");
        if !self.log.is_empty() {
            // SAFETY: look-ups read the other copy, and `&mut self` excludes the owner's.
            unsafe { (*self.copies[1 - self.current].get()).finish() };
        }
        self.current = 1 - self.current;
        self.flipped = true;
    }

    /// Brings the copy that is not read up to date.
    ///
    /// # Safety
    /// No look-up runs that began before the last flip.
    pub(crate) unsafe fn settle(&mut self) {
        if std::mem::take(&mut self.flipped) && !self.log.is_empty() {
            for change in self.log.drain(..) {
                // SAFETY: the caller promises that the copy has no reader any more.
                unsafe { (*self.copies[1 - self.current].get()).change(&change) };
            }
            // SAFETY: as above.
            unsafe { (*self.copies[1 - self.current].get()).finish() };
        }
    }
}
