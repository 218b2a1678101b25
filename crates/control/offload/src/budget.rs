//! Rate limit of table changes on the fast target: a small token bucket.

/// Share of a second's allowance that may be kept for later. As much less grows, so that no second sees more than its allowance.
const KEPT: f64 = 0.06;

/// Changes that may be made now.
#[derive(Clone, Debug)]
pub(crate) struct Budget {
    per_second: f64,
    most: f64,
    left: f64,
    at_ns: u64,
}

impl Budget {
    /// `per_second` changes in any second.
    pub(crate) fn new(per_second: u32) -> Budget {
        let per_second = f64::from(per_second);
        let most = per_second * KEPT;
        Budget { per_second: per_second * (1.0 - KEPT), most, left: most, at_ns: 0 }
    }

    /// Lets time pass; a clock that steps back is ignored.
    pub(crate) fn advance(&mut self, now_ns: u64) {
        let elapsed_ns = now_ns.saturating_sub(self.at_ns);
        self.at_ns = self.at_ns.max(now_ns);
        self.left = self.most.min(self.left + self.per_second * elapsed_ns as f64 / 1e9);
    }

    /// Whether so many changes may be made. More than can be kept may be made when all is there: what follows then waits longer.
    pub(crate) fn allows(&self, changes: u32) -> bool {
        self.most > 0.0 && self.left >= f64::from(changes).min(self.most)
    }

    /// Most changes that may be made one by one.
    pub(crate) fn left(&self) -> usize {
        self.left.max(0.0) as usize
    }

    /// Notes changes that are made.
    pub(crate) fn spend(&mut self, changes: u32) {
        self.left -= f64::from(changes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whatever the sizes and the ticks, no second has more changes than allowed, but for one session that is larger than the allowance kept.
    #[test]
    fn no_second_has_more_than_its_allowance() {
        let mut rng = testkit::rng(5);
        for per_second in [10, 100, 1000] {
            let (mut budget, mut now_ns, mut spent) = (Budget::new(per_second), 0u64, Vec::new());
            for _ in 0..3000 {
                now_ns += rand::Rng::random_range(&mut rng, 0..120_000_000);
                budget.advance(now_ns);
                let changes = rand::Rng::random_range(&mut rng, 1..=per_second / 10);
                while budget.allows(changes) {
                    budget.spend(changes);
                    spent.push((now_ns, changes));
                }
            }
            for (i, (from, _)) in spent.iter().enumerate() {
                let within: u32 = spent[i..].iter().take_while(|(at, _)| at - from < 1_000_000_000).map(|(_, n)| n).sum();
                assert!(within <= per_second, "{within} of {per_second} in a second");
            }
            let sum: u32 = spent.iter().map(|(_, n)| n).sum();
            assert!(f64::from(sum) > 0.6 * f64::from(per_second) * now_ns as f64 / 1e9, "{sum} in {now_ns} ns");
        }
    }

    #[test]
    fn a_large_session_waits_for_all_and_the_next_one_longer() {
        let mut budget = Budget::new(10);
        assert!(budget.allows(4));
        budget.spend(4);
        for (ms, allowed) in [(100, false), (300, false), (460, true)] {
            budget.advance(ms * 1_000_000);
            assert_eq!(budget.allows(4), allowed, "{ms} ms");
        }
        assert!(!Budget::new(0).allows(0), "no allowance, no changes");
    }
}
