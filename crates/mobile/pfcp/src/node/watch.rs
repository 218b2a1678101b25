//! Which URRs and sessions are looked at, and when, so that idle ones cost nothing.
//!
//! A volume limit is as many bytes away as are left of it. No URR's usage grows by more than all packets together have carried: until that
//! many bytes more were carried, the limit cannot be reached and is not looked at. What waits for its first packet is looked at when
//! anything was carried at all, some at a time.

use std::collections::BTreeSet;
use std::ops::Bound;
use std::time::Duration;

use crate::rules::Seid;

/// A URR of a session, or with `None` the session itself.
pub(super) type Awaiting = (Seid, Option<u32>);

/// Of those that wait for a packet as many are looked at with one poll: half a millisecond's work.
const AWAITING_AT_ONCE: usize = 500;

/// How often limits are looked at: seldom while none is near, and often enough that one is passed by no more than a few bursts.
const SELDOM: Duration = Duration::from_millis(50);
const OFTEN: Duration = Duration::from_millis(1);
/// Where nothing moves, but a burst at the highest rate there was would reach a limit.
const ON_GUARD: Duration = Duration::from_millis(5);

/// What a user plane that does not know how much it carries may have carried since the last poll.
const UNKNOWN: u64 = 1 << 40;

/// All of them.
#[derive(Default)]
pub(super) struct Watch {
    /// By how many bytes may be carried before they are looked at.
    limits: BTreeSet<(u64, Seid, u32)>,
    awaiting: BTreeSet<Awaiting>,
    cursor: Option<Awaiting>,
    /// At the last poll: bytes carried, the time, whether they had moved, and the highest rate so far in bytes a second.
    carried: u64,
    polled_at: Duration,
    moved: bool,
    peak: u64,
}

impl Watch {
    /// Notes what was carried until `now`.
    pub(super) fn advance(&mut self, carried: Option<u64>, now: Duration) {
        let carried = carried.map_or(self.carried.saturating_add(UNKNOWN), |carried| carried.max(self.carried));
        let grown = carried - self.carried;
        let micros = now.saturating_sub(self.polled_at).as_micros().max(1);
        let rate = u128::from(grown) * 1_000_000 / micros;
        // A timer that fires twice at once makes no peak.
        if micros >= OFTEN.as_micros() / 2 {
            self.peak = self.peak.max(u64::try_from(rate).unwrap_or(u64::MAX));
        }
        (self.carried, self.polled_at, self.moved) = (carried, now, grown > 0);
    }

    /// When to poll again.
    pub(super) fn next_poll(&self) -> Duration {
        let nearest = self.limits.first().map(|(deadline, ..)| deadline.saturating_sub(self.carried));
        let Some(left) = nearest.filter(|_| self.peak > 0) else { return SELDOM };
        let reached_after = Duration::from_micros(u64::try_from(u128::from(left) * 1_000_000 / u128::from(self.peak)).unwrap_or(u64::MAX));
        reached_after.clamp(if self.moved { OFTEN } else { ON_GUARD }, SELDOM)
    }

    /// The deadline of a limit that many bytes are left of.
    pub(super) fn deadline(&self, left: u64) -> u64 {
        self.carried.saturating_add(left)
    }

    /// Has a limit looked at from this deadline on instead of that one.
    pub(super) fn set_limit(&mut self, seid: Seid, urr_id: u32, old: Option<u64>, new: Option<u64>) {
        if old == new {
            return;
        }
        if let Some(deadline) = old {
            self.limits.remove(&(deadline, seid, urr_id));
        }
        if let Some(deadline) = new {
            self.limits.insert((deadline, seid, urr_id));
        }
    }

    /// Has the next packet of a URR or session noticed, or not.
    pub(super) fn set_awaiting(&mut self, what: Awaiting, awaits: bool) {
        if awaits {
            self.awaiting.insert(what);
        } else {
            self.awaiting.remove(&what);
        }
    }

    /// Limits that may be reached, those first that may have been for longest.
    pub(super) fn limits_to_look_at(&self, most: usize) -> Vec<(Seid, u32)> {
        let due = self.limits.range(..=(self.carried, Seid::MAX, u32::MAX));
        due.take(most).map(|(_, seid, urr_id)| (*seid, *urr_id)).collect()
    }

    /// Some of those that wait for a packet, each in its turn; none if there was no packet.
    pub(super) fn awaiting_to_look_at(&mut self) -> Vec<Awaiting> {
        if !self.moved {
            return Vec::new();
        }
        let start = self.cursor.map_or(Bound::Unbounded, Bound::Excluded);
        let batch: Vec<Awaiting> = self.awaiting.range((start, Bound::Unbounded)).take(AWAITING_AT_ONCE).copied().collect();
        self.cursor = batch.last().copied().filter(|_| batch.len() == AWAITING_AT_ONCE);
        batch
    }
}
