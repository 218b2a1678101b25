//! A lane's messages to the control plane: a lock-free ring that generated code writes.
//!
//! A message without room is lost and counted: packets do not wait for the control plane.

use crate::LoadError;
use crate::abi::CDigests;
use crate::cells::Cells;
use program::Digest;
use std::sync::atomic::{AtomicU64, Ordering};

/// Messages that a ring has room for, if they are not very long.
const MESSAGES: u64 = 1 << 12;
/// Most words of a ring, unless one message alone is longer.
const MAX_WORDS: u64 = 1 << 20;

/// A ring.
pub(crate) struct Ring {
    words: Cells,
    shared: Box<CDigests>,
}

// SAFETY: words are written by the lane alone, where the reader has been, and read by one reader, where the lane has been: that is
// what the atomics in `shared` say.
unsafe impl Send for Ring {}
// SAFETY: as above; `take` says who may call it.
unsafe impl Sync for Ring {}

impl Ring {
    /// Room for messages of at most `longest` words; none if that is 0.
    pub(crate) fn new(longest: u64) -> Result<Ring, LoadError> {
        let size = if longest == 0 { 0 } else { (MESSAGES * longest).min(MAX_WORDS).max(longest).next_power_of_two() };
        let words = Cells::new(size, 1)?;
        let zero = || AtomicU64::new(0);
        let shared = Box::new(CDigests { words: words.start(), size, head: zero(), tail: zero(), lost: zero() });
        Ok(Ring { words, shared })
    }

    /// What generated code is given.
    pub(crate) fn start(&self) -> *const CDigests {
        &raw const *self.shared
    }

    /// Messages that found no room.
    pub(crate) fn lost(&self) -> u64 {
        self.shared.lost.load(Ordering::Relaxed)
    }

    /// Takes all messages that there are, the oldest first. One thread at a time: the target's lock sees to it.
    pub(crate) fn take(&self, into: &mut Vec<Digest>) {
        let CDigests { size, head, tail, .. } = &*self.shared;
        let end = head.load(Ordering::Acquire);
        let mut at = tail.load(Ordering::Relaxed);
        let mut next = || {
            let word = self.words.register(at & (size - 1)).map_or(0, |w| w.load(Ordering::Relaxed));
            at += 1;
            word
        };
        let mut left = end - tail.load(Ordering::Relaxed);
        while left > 0 {
            let n = next();
            left -= 1 + 2 * n;
            let mut values = (0..n).map(|_| {
                let (low, high) = (next(), next());
                u128::from(high) << 64 | u128::from(low)
            });
            let receiver = values.next().unwrap_or(0);
            into.push(Digest { receiver, values: values.collect() });
        }
        tail.store(end, Ordering::Release);
    }
}
