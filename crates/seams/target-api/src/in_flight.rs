//! In-flight packets per flow: passed on by a target ahead of the engine, and not yet sent by the engine. None may be overtaken.
//!
//! A target ahead (the kernel's XDP hook) hands packets on into rings, and lanes run them later. A packet that it runs at once would overtake
//! those of its flow in the rings. So it keeps a row for each flow, in memory that it shares: how many packets it has passed on, and how many of them
//! the engine is done with (sent or dropped). A flow's packets go to the slow path as long as earlier ones are in flight, and
//! run again from the first one on that finds none. A flow that never pauses comes to such a moment too: when the engine is done with what it
//! took before the next packet arrives.
//!
//! - Each packet that is counted carries the number of its row ([`base::Packet::flow`]), and the engine counts it when what became of
//!   it is with the device ([`InFlight::sent`]), or waits in a buffer.
//! - Some never come there: lost in a ring, or passed to the kernel's stack. So every now and then the target is drained
//!   ([`crate::Ahead::begin_drain`], [`crate::Ahead::finish_drain`]). Counts are kept for two turns, which the beginning of a drain ends
//!   and begins: at its end what the turn before still lacks is lost, whatever goes to the slow path meanwhile.
//! - Rows are hashed: flows that share one follow each other's packets, which costs them a little time and never their order.
//! - A packet of a flow that the target has no entry for is in no row, nor is one that cannot be marked. So an entry that comes while packets of its
//!   keys may be in flight ([`crate::Target::apply_deferred`]) is *pending* until a drain has finished that began after it, and a pending entry's
//!   packets go to the slow path, by their row. Entries that are changed so that packets leave a buffer are pending again.
//!
//! [`InFlight::hand_on`] and [`InFlight::follows`] are the twins of what the program in the kernel does (`p4-emit`, `bpf/runtime.h`).

use crate::meters::Words;
use std::sync::atomic::{AtomicU64, Ordering};

/// Words of a row, one for each of two turns: packets passed on (high half) and sent (low half), both modulo 2^32.
pub const ROW_WORDS: usize = 2;
/// Words of the clock: all that went to the slow path before `[0]` is drained; nothing has been passed on since `[1]`, in ns, which is written at most once in
/// [`SLACK_NS`], and so is ahead; the turn, 0 or 1.
pub const CLOCK_WORDS: usize = 3;
/// How far the second word of the clock is ahead, in ns.
pub const SLACK_NS: u64 = 1_000_000;

const ONE_SLOW_PATH: u64 = 1 << 32;
const SENT: u64 = ONE_SLOW_PATH - 1;

/// A drain that has begun.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[must_use = "until a drain is finished, what is pending stays so"]
pub struct DrainToken {
    began_ns: u64,
}

/// The rows of a target ahead of the engine.
pub struct InFlight {
    rows: Box<dyn Words>,
    clock: Box<dyn Words>,
}

impl InFlight {
    /// Rows of [`ROW_WORDS`] words each and a clock of [`CLOCK_WORDS`], all zeros, in memory that lives as long as this.
    pub fn new(rows: Box<dyn Words>, clock: Box<dyn Words>) -> InFlight {
        InFlight { rows, clock }
    }

    /// A packet that carried `flow` has been sent or dropped. No effect for 0, or if it is no row.
    pub fn sent(&self, flow: u32) {
        if let Some(counts) = self.counts(flow) {
            // What was taken for lost may be sent after all.
            let one_more = |word: u64| (!is_even(word)).then_some(word & !SENT | word.wrapping_add(1) & SENT);
            let _ = counts.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more);
        }
    }

    /// Counts a packet of that row that the target passes on. Returns what the packet carries; 0 if it is no row.
    pub fn hand_on(&self, row: u32, now_ns: u64) -> u32 {
        let [_, until, turn] = self.clock() else { return 0 };
        let flow = row.saturating_add(1).saturating_mul(2) | turn.load(Ordering::Acquire) as u32 & 1;
        let Some(counts) = self.counts(flow) else { return 0 };
        until.fetch_max(now_ns + SLACK_NS, Ordering::AcqRel);
        counts.fetch_add(ONE_SLOW_PATH, Ordering::AcqRel);
        flow
    }

    /// Begins a drain: what goes to the slow path from now on counts for the other turn.
    pub fn begin_drain(&self, now_ns: u64) -> DrainToken {
        if let [_, _, turn] = self.clock() {
            turn.fetch_xor(1, Ordering::AcqRel);
        }
        DrainToken { began_ns: now_ns }
    }

    /// Everything that went to the slow path before the drain began, the last one that did, has been sent or is lost.
    pub fn finish_drain(&self, drain: DrainToken) {
        let [out, _, turn] = self.clock() else { return };
        let before = 1 - (turn.load(Ordering::Acquire) & 1) as usize;
        for row in self.rows.words().chunks_exact(ROW_WORDS) {
            let counts = &row[before];
            if !is_even(counts.load(Ordering::Acquire)) {
                let evened = |word: u64| Some(word & !SENT | word >> 32);
                let _ = counts.fetch_update(Ordering::AcqRel, Ordering::Acquire, evened);
            }
        }
        out.store(drain.began_ns, Ordering::Release);
    }

    /// Whether something may be in flight: if not, no row needs to be looked at.
    pub fn is_any(&self) -> bool {
        matches!(self.clock(), [out, until, _] if until.load(Ordering::Acquire) > out.load(Ordering::Acquire))
    }

    /// Whether a packet of that row has others before it, and so goes to the slow path.
    pub fn follows(&self, row: u32) -> bool {
        let at = ROW_WORDS * row as usize;
        let counts = self.rows.words().get(at..at + ROW_WORDS).filter(|_| self.is_any());
        counts.is_some_and(|counts| counts.iter().any(|word| !is_even(word.load(Ordering::Acquire))))
    }

    fn clock(&self) -> &[AtomicU64] {
        self.clock.words()
    }

    fn counts(&self, flow: u32) -> Option<&AtomicU64> {
        let row = (flow / 2).checked_sub(1)?;
        self.rows.words().get(ROW_WORDS * row as usize + (flow & 1) as usize)
    }
}

/// Whether all that went to the slow path have been sent.
fn is_even(word: u64) -> bool {
    word >> 32 == word & SENT
}

impl std::fmt::Debug for InFlight {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rows = self.rows.words().chunks_exact(ROW_WORDS);
        let in_flight = rows.filter(|row| row.iter().any(|word| !is_even(word.load(Ordering::Relaxed)))).count();
        f.debug_struct("InFlight").field("flows", &in_flight).finish_non_exhaustive()
    }
}
