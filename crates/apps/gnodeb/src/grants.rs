//! Which bytes are sent by radio when? A rate: a token bucket of a few milliseconds, in place of MAC's scheduler.

/// How long a rate may be saved up, ns: more than a process that waits for the kernel's clock sleeps.
const DEPTH_NS: u64 = 4_000_000;

/// A rate, and what of it may be used now.
#[derive(Clone, Debug)]
pub struct Grants {
    rate_bps: u64,
    pdu_bytes: usize,
    /// Bits, in units of 1/10^9, so that nothing is rounded away.
    tokens: u128,
    filled_ns: u64,
}

const UNIT: u128 = 1_000_000_000;

impl Grants {
    /// A bucket for one grant, of `pdu_bytes` as all of them.
    pub fn new(rate_bps: u64, pdu_bytes: usize) -> Grants {
        let mut grants = Grants { rate_bps, pdu_bytes, tokens: 0, filled_ns: 0 };
        grants.tokens = grants.one();
        grants
    }

    /// A grant more than is saved up: what is left below a grant is not lost, and a slow rate comes to a whole one.
    fn depth(&self) -> u128 {
        u128::from(self.rate_bps) * u128::from(DEPTH_NS) + self.one()
    }

    fn one(&self) -> u128 {
        self.pdu_bytes as u128 * 8 * UNIT
    }

    /// Bytes of a grant, if there may be one now.
    pub fn grant(&mut self, now_ns: u64) -> Option<usize> {
        let passed = now_ns.saturating_sub(self.filled_ns);
        self.filled_ns = self.filled_ns.max(now_ns);
        self.tokens = (self.tokens + u128::from(self.rate_bps) * u128::from(passed)).min(self.depth());
        (self.tokens >= self.one()).then_some(self.pdu_bytes)
    }

    /// So many bytes of a grant were used.
    pub fn spend(&mut self, bytes: usize) {
        self.tokens = self.tokens.saturating_sub(bytes as u128 * 8 * UNIT);
    }

    /// When there is a grant next.
    pub fn next_grant(&self) -> u64 {
        let missing = self.one().saturating_sub(self.tokens);
        self.filled_ns + u64::try_from(missing.div_ceil(u128::from(self.rate_bps))).unwrap_or(u64::MAX)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_second_of_grants_is_the_rate_however_often_it_is_asked() {
        for step_ns in [10_000, 137_000, 1_000_000, 3_999_999] {
            let mut grants = Grants::new(8_000_000, 500);
            let (mut now, mut sent) = (0, 0);
            while now <= 1_000_000_000 {
                while let Some(grant) = grants.grant(now) {
                    grants.spend(grant);
                    sent += grant;
                }
                assert!(grants.next_grant() > now);
                now += step_ns;
            }
            // A second's 1,000,000 bytes and the first grant; what the last step left is not yet granted.
            assert!((996_000..=1_000_500).contains(&sent), "{sent} with steps of {step_ns} ns");
        }
    }

    #[test]
    fn a_slow_rate_grants_a_whole_pdu_when_it_has_saved_up_for_it() {
        let mut grants = Grants::new(8_000, 1000);
        assert_eq!(grants.grant(0), Some(1000));
        grants.spend(1000);
        assert_eq!((grants.grant(999_999_999), grants.next_grant()), (None, 1_000_000_000));
        assert_eq!(grants.grant(1_000_000_000), Some(1000));
    }
}
