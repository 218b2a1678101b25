//! What became of all calls?

use crate::call::{Call, Outcome, REASONS, Reason};
use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// What became of the calls of one service, all lanes together.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets given in.
    pub calls: u64,
    /// Packets that came out answered, at once or later.
    pub answered: u64,
    /// Packets that were kept, of those that came in.
    pub kept: u64,
    /// Packets that came out after they had been kept.
    pub returned: u64,
    /// Copies of kept packets.
    pub copies: u64,
    /// Packets that were dropped, at once or later.
    pub dropped: BTreeMap<Reason, u64>,
    /// Settings that the service did not take.
    pub refused_settings: u64,
}

impl Counters {
    /// Of all lanes.
    pub(crate) fn sum(lanes: &[Arc<Cells>]) -> Counters {
        // What is returned was kept before, by whichever lane: read in this order, it is hardly ever more.
        let returned = lanes.iter().map(|cells| cells.returned.load(Relaxed)).sum();
        let mut sum = Counters { returned, ..Counters::default() };
        lanes.iter().for_each(|cells| cells.add_to(&mut sum));
        sum
    }

    /// Packets that are kept now.
    pub fn waiting(&self) -> u64 {
        // Read while lanes count, more may have come back than was seen to be kept.
        self.kept.saturating_sub(self.returned)
    }

    /// Packets dropped for a reason.
    pub fn dropped_for(&self, reason: Reason) -> u64 {
        self.dropped.get(&reason).copied().unwrap_or_default()
    }

    /// Packets that came in and are neither out nor kept: zero, or there is a defect.
    pub fn imbalance(&self) -> i64 {
        let out = self.answered + self.dropped.values().sum::<u64>() + self.waiting();
        self.calls as i64 - out as i64
    }
}

/// A lane's share; it is the one writer.
pub(crate) struct Cells {
    calls: AtomicU64,
    answered: AtomicU64,
    kept: AtomicU64,
    returned: AtomicU64,
    copies: AtomicU64,
    dropped: [AtomicU64; REASONS],
    refused_settings: AtomicU64,
}

impl Default for Cells {
    fn default() -> Cells {
        let cell = AtomicU64::default;
        let dropped = std::array::from_fn(|_| cell());
        Cells { calls: cell(), answered: cell(), kept: cell(), returned: cell(), copies: cell(), dropped, refused_settings: cell() }
    }
}

fn add(cell: &AtomicU64, n: u64) {
    cell.store(cell.load(Relaxed) + n, Relaxed);
}

impl Cells {
    /// Counts a burst that was given in. A question that was declined is counted when it is called.
    #[inline]
    pub(crate) fn count_burst(&self, burst: impl ExactSizeIterator<Item = Outcome> + Clone) {
        let mut calls = burst.len() as u64;
        let (mut answered, mut kept) = (0, 0);
        // What nearly all bursts are, without a branch for each packet.
        if burst.clone().fold(true, |all, outcome| all & (outcome == Outcome::Answered)) {
            add(&self.calls, calls);
            return add(&self.answered, calls);
        }
        for outcome in burst {
            match outcome {
                Outcome::Answered => answered += 1,
                Outcome::Kept => kept += 1,
                Outcome::Dropped(reason) => add(&self.dropped[usize::from(reason.code())], 1),
                Outcome::Pending => calls -= 1,
                Outcome::Copy => unreachable!("the caller has made drops of them"),
            }
        }
        add(&self.calls, calls);
        add(&self.answered, answered);
        add(&self.kept, kept);
    }

    /// Counts what a poll gave.
    pub(crate) fn count_polled(&self, polled: &[Call]) {
        for call in polled {
            match call.outcome {
                Outcome::Copy => {
                    add(&self.copies, 1);
                    continue;
                }
                Outcome::Answered => add(&self.answered, 1),
                Outcome::Dropped(reason) => add(&self.dropped[usize::from(reason.code())], 1),
                Outcome::Pending | Outcome::Kept => unreachable!("the caller has made drops of them"),
            }
            add(&self.returned, 1);
        }
    }

    pub(crate) fn count_refused_setting(&self) {
        add(&self.refused_settings, 1);
    }

    fn add_to(&self, sum: &mut Counters) {
        sum.calls += self.calls.load(Relaxed);
        sum.answered += self.answered.load(Relaxed);
        sum.kept += self.kept.load(Relaxed);
        sum.copies += self.copies.load(Relaxed);
        sum.refused_settings += self.refused_settings.load(Relaxed);
        for (code, cell) in self.dropped.iter().enumerate() {
            let n = cell.load(Relaxed);
            if let Some(reason) = Reason::from_code(code as u8).filter(|_| n > 0) {
                *sum.dropped.entry(reason).or_default() += n;
            }
        }
    }
}
