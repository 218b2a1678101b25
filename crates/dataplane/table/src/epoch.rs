//! Epoch-based visibility: a batch becomes visible to all readers at once, and the writer knows when the grace period has passed.
//!
//! The owner counts batches in an [`Epoch`]. A reader announces in its [`Presence`] the epoch that it begins a burst with, and
//! that it has ended. So the owner's one store in [`Epoch::advance`] is the moment at which bursts begin to see the batch, and
//! [`Presence::wait_past`] returns when the bursts that began before have ended. A reader never waits for the owner. It pays one
//! load and one ordered store a burst.

#[cfg(loom)]
use loom::sync::atomic::{AtomicU64, Ordering};
#[cfg(not(loom))]
use std::sync::atomic::{AtomicU64, Ordering};

/// Number of the latest batch.
pub struct Epoch(AtomicU64);

impl Default for Epoch {
    fn default() -> Self {
        Epoch(AtomicU64::new(1))
    }
}

impl Epoch {
    /// Bursts that begin from now on are of the next epoch, which is returned. Only the owner calls this, and what it wrote before
    /// is seen by those bursts.
    pub fn advance(&self) -> u64 {
        let next = self.0.load(Ordering::Relaxed) + 1;
        self.0.store(next, Ordering::SeqCst);
        order();
        next
    }
}

/// Whether a reader is within a burst, and of which epoch.
#[repr(align(64))]
pub struct Presence(AtomicU64);

impl Default for Presence {
    fn default() -> Self {
        Presence(AtomicU64::new(Self::RESTS))
    }
}

/// Ends the burst when it goes.
pub struct Burst<'a> {
    presence: &'a Presence,
    /// The epoch that it is of.
    pub epoch: u64,
}

impl Presence {
    /// Epochs begin at 1, so this is none.
    const RESTS: u64 = 0;

    /// Begins a burst. One thread at a time uses a presence.
    #[inline]
    pub fn enter(&self, epoch: &Epoch) -> Burst<'_> {
        let mut now = epoch.0.load(Ordering::Acquire);
        loop {
            // Either the owner sees this store, or its own came before and is seen by the load after.
            self.0.store(now, Ordering::SeqCst);
            order();
            let after = epoch.0.load(Ordering::SeqCst);
            if after == now {
                return Burst { presence: self, epoch: now };
            }
            now = after;
        }
    }

    /// Returns when the reader rests or is in a burst of that epoch or a later one. For the owner, after [`Epoch::advance`].
    pub fn wait_past(&self, epoch: u64) {
        let mut turns = 0u32;
        while !matches!(self.0.load(Ordering::SeqCst), now if now == Self::RESTS || now >= epoch) {
            wait(turns);
            turns = turns.saturating_add(1);
        }
    }
}

impl Drop for Burst<'_> {
    #[inline]
    fn drop(&mut self) {
        self.presence.0.store(Presence::RESTS, Ordering::Release);
    }
}

/// Sequentially consistent accesses are all that it takes, but the model checker knows that order from fences only.
#[inline(always)]
fn order() {
    #[cfg(loom)]
    loom::sync::atomic::fence(Ordering::SeqCst);
}

/// A burst takes microseconds, unless its thread has been put to sleep.
#[cfg(not(loom))]
fn wait(turns: u32) {
    if turns < 200 { std::hint::spin_loop() } else { std::thread::yield_now() }
}

#[cfg(loom)]
fn wait(_: u32) {
    loom::thread::yield_now();
}
