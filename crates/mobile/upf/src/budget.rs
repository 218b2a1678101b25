//! A token bucket for actions that anybody can cause: a number per second, which is also the burst.

use std::time::Duration;

/// A bucket; time never goes back.
#[derive(Debug)]
pub(crate) struct Budget {
    per_s: u32,
    /// In billionths.
    left: u128,
    last: Duration,
}

impl Budget {
    /// A full one.
    pub(crate) fn new(per_s: u32) -> Budget {
        Budget { per_s, left: u128::from(per_s) * 1_000_000_000, last: Duration::ZERO }
    }

    /// Whether one more is allowed, which is then spent.
    pub(crate) fn take(&mut self, now: Duration) -> bool {
        const ONE: u128 = 1_000_000_000;
        let earned = now.saturating_sub(self.last).as_nanos() * u128::from(self.per_s);
        self.left = self.left.saturating_add(earned).min(u128::from(self.per_s) * ONE);
        self.last = self.last.max(now);
        let allowed = self.left >= ONE;
        self.left -= if allowed { ONE } else { 0 };
        allowed
    }
}
