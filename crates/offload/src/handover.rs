//! How does a session move to a fast target that stands *in front of* the workers, without a packet overtaking another?
//!
//! A protocol, tested with a model of such a target (`tests/handover.rs`). None uses it yet: XDP has a coarser form, and shares its meters' cells.
//!
//! Such a target (the kernel's XDP hook, a chip) hands packets on into rings, and the base target's lanes run them later. If a copy took
//! effect at once, the next packet would leave before those in the rings. So a copy is installed as **held**, with a [`Handover`] beside
//! its entries, shared by the fast target's cores, the base target's lanes and the control plane:
//!
//! 1. *Install.* Entries and configured meters; all packets of the session are still handed on, and each is **counted** and marked as counted
//!    ([`Handover::arrive`]). The control plane notes where each ring's producer stands.
//! 2. *Drain.* When every ring's consumer has passed that place, and what it took is done, no packet is under way that was handed on before
//!    it could be counted: [`Handover::drained`].
//! 3. *Switch.* A lane that is done with a counted packet, whatever became of it, writes the buckets of the session's meters into
//!    the fast target's cells, and then counts it as **out** ([`Handover::left`]). When a packet arrives while as many are out as were handed
//!    on, none of the session is behind it or beside it: the state becomes **open** in the same step, and this packet and all after it
//!    run on the fast target. Nobody executes its meters before, so that buckets need no lock. Of a session that is silent then,
//!    the control plane opens it ([`Handover::open_if_idle`]).
//! 4. *Give up.* A session so busy that one of its packets is always in a ring does not switch. After a bounded time the control plane
//!    cancels ([`Handover::cancel`]) and deletes the copy: everything is as before, and the planner tries again later, and later.
//!
//! *Back* ([`Handover::close`]): the control plane stops the base target's lanes between two bursts, closes, waits until the fast target's
//! cores are done with packets that saw it open and its output queues have passed what they held then, carries the buckets back, deletes
//! the copy, and lets the lanes go on. What was handed on meanwhile waits in the rings, in order.
//!
//! A session whose packets wait in an idle-mode buffer is moved back before they are released, as they run on the base target.
//! Order is kept for each flow; flows of a session that come by different rings have no order among each other, as before.
//!
//! All of this is a word, a counter and a comparison for each packet of a held session, and nothing for those of others.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

/// Packets run on the fast target.
const OPEN: u64 = 1 << 63;
/// All that were handed on without being counted are out.
const DRAINED: u64 = 1 << 62;
/// Packets are handed on, and not counted any more.
const CLOSED: u64 = 1 << 61;
const HANDED_ON: u64 = CLOSED - 1;

/// A session on its way to the fast target, or there.
#[derive(Debug, Default)]
pub struct Handover {
    /// State, and packets counted as handed on: in one word, so that no core opens while another hands on.
    word: AtomicU64,
    /// Of those, done on the base target.
    out: AtomicU64,
    /// One lane at a time carries buckets.
    carrying: Mutex<()>,
}

/// What becomes of a packet that arrives at the fast target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// It runs there.
    Run,
    /// It is handed on, and told to be counted: [`Handover::left`] is due for it.
    Counted,
    /// It is handed on.
    HandOn,
}

impl Handover {
    /// Held: nothing has been handed on yet that is counted.
    pub fn new() -> Handover {
        Handover::default()
    }

    /// A packet of the session arrives at the fast target.
    pub fn arrive(&self) -> Arrival {
        let mut word = self.word.load(Ordering::Acquire);
        loop {
            if word & OPEN != 0 {
                return Arrival::Run;
            }
            if word & CLOSED != 0 {
                return Arrival::HandOn;
            }
            let (next, arrival) = if self.may_open(word) { (word | OPEN, Arrival::Run) } else { (word + 1, Arrival::Counted) };
            match self.word.compare_exchange_weak(word, next, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return arrival,
                Err(other) => word = other,
            }
        }
    }

    /// The base target is done with a counted packet. `carry` brings the buckets of the session's meters, as they are now, into the
    /// fast target's cells.
    pub fn left(&self, carry: impl FnOnce()) {
        let _one = self.carrying.lock().unwrap_or_else(PoisonError::into_inner);
        carry();
        self.out.fetch_add(1, Ordering::Release);
    }

    /// Every packet that was handed on before this began is done, and the buckets are in the fast target's cells as they are
    /// now: by `carry`, if no counted packet has brought them.
    pub fn drained(&self, carry: impl FnOnce()) {
        let _one = self.carrying.lock().unwrap_or_else(PoisonError::into_inner);
        carry();
        self.word.fetch_or(DRAINED, Ordering::AcqRel);
    }

    /// Opens if nothing is under way now; tells whether it is open.
    pub fn open_if_idle(&self) -> bool {
        let word = self.word.load(Ordering::Acquire);
        if word & (OPEN | CLOSED) == 0 && self.may_open(word) {
            // Whoever came between has opened it, or handed a packet on.
            let _ = self.word.compare_exchange(word, word | OPEN, Ordering::AcqRel, Ordering::Acquire);
        }
        self.is_open()
    }

    /// Gives up; tells whether it came in time. Otherwise the session is open.
    pub fn cancel(&self) -> bool {
        let mut word = self.word.load(Ordering::Acquire);
        while word & OPEN == 0 {
            match self.word.compare_exchange_weak(word, word | CLOSED, Ordering::AcqRel, Ordering::Acquire) {
                Ok(_) => return true,
                Err(other) => word = other,
            }
        }
        false
    }

    /// From now on packets are handed on. Cores that saw it open may be at it still.
    pub fn close(&self) {
        let closed = |word: u64| Some(word & !OPEN | CLOSED);
        let _ = self.word.fetch_update(Ordering::AcqRel, Ordering::Acquire, closed);
    }

    /// Whether packets run on the fast target.
    pub fn is_open(&self) -> bool {
        self.word.load(Ordering::Acquire) & OPEN != 0
    }

    /// As many are out as were handed on, and no others are under way. The count in `word` is of the state that is then exchanged.
    fn may_open(&self, word: u64) -> bool {
        word & DRAINED != 0 && self.out.load(Ordering::Acquire) == word & HANDED_ON
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_opens_when_all_are_out_and_not_before() {
        let h = Handover::new();
        assert_eq!([h.arrive(), h.arrive()], [Arrival::Counted; 2]);
        h.left(|| {});
        h.left(|| {});
        assert!(!h.open_if_idle(), "earlier ones may be under way");
        h.drained(|| {});
        assert_eq!(h.arrive(), Arrival::Run);
        assert_eq!(h.arrive(), Arrival::Run);
        assert!(!h.cancel(), "too late");
        h.close();
        assert_eq!(h.arrive(), Arrival::HandOn);
        assert!(!h.open_if_idle());
    }

    #[test]
    fn one_that_is_under_way_holds_it() {
        let h = Handover::new();
        h.drained(|| {});
        assert_eq!(h.arrive(), Arrival::Run, "nothing is under way");
        let h = Handover::new();
        assert_eq!(h.arrive(), Arrival::Counted);
        h.drained(|| {});
        assert_eq!(h.arrive(), Arrival::Counted);
        h.left(|| {});
        assert_eq!((h.arrive(), h.open_if_idle()), (Arrival::Counted, false));
        h.left(|| {});
        h.left(|| {});
        assert!(h.open_if_idle());
    }

    #[test]
    fn given_up_it_hands_on_and_what_is_under_way_does_no_harm() {
        let h = Handover::new();
        assert_eq!(h.arrive(), Arrival::Counted);
        assert!(h.cancel());
        assert_eq!(h.arrive(), Arrival::HandOn);
        h.left(|| {});
        h.drained(|| {});
        assert!(!h.open_if_idle());
    }
}
