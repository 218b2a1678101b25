//! Which flows have packets that a target ahead of the engine has handed on, and that have not left yet? None of them may be overtaken.
//!
//! A target ahead (the kernel's XDP hook) hands packets on into rings, and lanes run them later. A packet that it runs at once would overtake
//! those of its flow in the rings. So it keeps a row for each flow, in memory that it shares: how many packets it has handed on, how many of them
//! have *left* (been sent or dropped), and when it handed one on last. A flow's packets are handed on as long as earlier ones are under way, and
//! run again from the first one on that finds none. A flow that never pauses comes to such a moment too: when the engine is done with what it
//! took before the next packet arrives.
//!
//! - Each packet that is handed on carries the number of its row ([`base::Packet::flow`]), and the engine counts it as left when what became of
//!   it is with the device ([`UnderWay::left`]). What goes into an idle-mode buffer has left; before a buffer is let go, its packets are
//!   counted as handed on anew ([`UnderWay::hand_on`]).
//! - Some are never counted as left: lost in a ring, or passed to the kernel's stack. So every now and then everything that was handed on before a
//!   moment is waited for ([`crate::Target::handed_on`], [`crate::Target::left`]), and a flow of which nothing was handed on since begins anew.
//! - Rows are hashed: flows that share one follow each other's packets, which costs them a little time and never their order.
//! - A packet of a flow that the target has no entry for is in no row. So an entry that comes while the target is ahead is *young* until everything
//!   that was handed on before has left, and a young entry's packets are handed on, by their row.
//!
//! [`UnderWay::hand_on`] and [`UnderWay::follows`] are also the twins of what the program in the kernel does (`p4-emit`, `bpf/runtime.h`).

use crate::meters::Words;
use std::sync::atomic::{AtomicU64, Ordering};

/// Words of a row: packets handed on (high half) and left (low half), both modulo 2^32; and when the last one was handed on, in ns.
pub const ROW_WORDS: usize = 2;
/// Words of the clock: all that was handed on before `[0]` has left; nothing has been handed on since `[1]`, in ns. The second is written
/// at most once in [`SLACK_NS`], and so is ahead.
pub const CLOCK_WORDS: usize = 2;
/// How far the second word of the clock is ahead, in ns.
pub const SLACK_NS: u64 = 1_000_000;

const ONE_HANDED_ON: u64 = 1 << 32;
const LEFT: u64 = ONE_HANDED_ON - 1;

/// The rows of a target ahead of the engine.
pub struct UnderWay {
    rows: Box<dyn Words>,
    clock: Box<dyn Words>,
}

impl UnderWay {
    /// Rows of [`ROW_WORDS`] words each and a clock of [`CLOCK_WORDS`], all zeros, in memory that lives as long as this.
    pub fn new(rows: Box<dyn Words>, clock: Box<dyn Words>) -> UnderWay {
        UnderWay { rows, clock }
    }

    /// A packet that carried `flow` has left, or has been dropped. Nothing for 0, and for what is no row.
    pub fn left(&self, flow: u32) {
        if let Some([counts, _]) = self.row(flow) {
            let one_more = |word: u64| Some(word & !LEFT | (word + 1) & LEFT);
            let _ = counts.fetch_update(Ordering::AcqRel, Ordering::Acquire, one_more);
        }
    }

    /// A packet of that flow is under way from `now_ns` on. Programs do the same for those that they hand on. Nothing for 0, and for what is no row.
    pub fn hand_on(&self, flow: u32, now_ns: u64) {
        let (Some([counts, last_ns]), Some(until)) = (self.row(flow), self.clock.words().get(1)) else { return };
        // Before the count: who sees the count must not take it for an old one.
        last_ns.store(now_ns, Ordering::Release);
        until.fetch_max(now_ns + SLACK_NS, Ordering::AcqRel);
        counts.fetch_add(ONE_HANDED_ON, Ordering::AcqRel);
    }

    /// Everything that was handed on before `moment_ns` has left or is lost.
    pub fn all_left(&self, moment_ns: u64) {
        if let Some(out) = self.clock.words().first() {
            out.store(moment_ns, Ordering::Release);
        }
    }

    /// Whether something may be under way: if not, no row needs to be looked at.
    pub fn is_any(&self) -> bool {
        matches!(self.clock.words(), [out, until, ..] if until.load(Ordering::Acquire) > out.load(Ordering::Acquire))
    }

    /// Whether a packet of that flow has others before it, and so is handed on: the twin of what programs do themselves.
    pub fn follows(&self, flow: u32) -> bool {
        let Some([counts, last_ns]) = self.row(flow).filter(|_| self.is_any()) else { return false };
        let word = counts.load(Ordering::Acquire);
        if word >> 32 == word & LEFT {
            return false;
        }
        if self.clock.words().first().is_none_or(|out| last_ns.load(Ordering::Acquire) >= out.load(Ordering::Acquire)) {
            return true;
        }
        // The others are lost. Should another packet be handed on right now, it begins with what it finds.
        let _ = counts.compare_exchange(word, word & !LEFT | word >> 32, Ordering::AcqRel, Ordering::Acquire);
        false
    }

    fn row(&self, flow: u32) -> Option<[&AtomicU64; ROW_WORDS]> {
        let at = ROW_WORDS * flow.checked_sub(1)? as usize;
        match self.rows.words().get(at..at + ROW_WORDS)? {
            [counts, last_ns] => Some([counts, last_ns]),
            _ => None,
        }
    }
}

impl std::fmt::Debug for UnderWay {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let rows = self.rows.words().chunks_exact(ROW_WORDS).map(|row| row[0].load(Ordering::Relaxed));
        let under_way = rows.filter(|word| word >> 32 != word & LEFT).count();
        f.debug_struct("UnderWay").field("flows", &under_way).finish_non_exhaustive()
    }
}
