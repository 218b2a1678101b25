//! A session's rate: averages of polled counters.

/// Packets and bits a second, averaged.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Rate {
    pub(crate) pps: f64,
    pub(crate) bps: f64,
    pub(crate) packets: u64,
    pub(crate) bytes: u64,
    /// Time of the last sample; `None` before the first.
    pub(crate) at_ns: Option<u64>,
    /// Whether it has a rate: of one count alone there is none.
    pub(crate) measured: bool,
}

impl Rate {
    /// Another count. Counts that go back start over.
    pub(crate) fn note(&mut self, packets: u64, bytes: u64, now_ns: u64, window_ns: u64) {
        let before = *self;
        (self.packets, self.bytes) = (packets, bytes);
        let Some(at_ns) = before.at_ns else {
            self.at_ns = Some(now_ns);
            return;
        };
        if now_ns <= at_ns || packets < before.packets || bytes < before.bytes {
            if now_ns <= at_ns {
                *self = before;
            } else {
                self.at_ns = Some(now_ns);
            }
            return;
        }
        let seconds = (now_ns - at_ns) as f64 / 1e9;
        let (pps, bps) = ((packets - before.packets) as f64 / seconds, (bytes - before.bytes) as f64 * 8.0 / seconds);
        // The first rate is all that is known.
        let share = if before.measured { 1.0 - (-((now_ns - at_ns) as f64) / window_ns as f64).exp() } else { 1.0 };
        self.pps += share * (pps - self.pps);
        self.bps += share * (bps - self.bps);
        (self.at_ns, self.measured) = (Some(now_ns), true);
    }

    /// The rate without a newer sample: unchanged for a window, in which a sample may be late, then it decays.
    pub(crate) fn now(&self, now_ns: u64, window_ns: u64) -> (f64, f64) {
        let silent = now_ns.saturating_sub(self.at_ns.unwrap_or(now_ns)).saturating_sub(window_ns);
        let left = if silent == 0 { 1.0 } else { (-(silent as f64) / window_ns as f64).exp() };
        (self.pps * left, self.bps * left)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn counts_that_go_back_begin_anew_and_silence_lowers_a_rate() {
        let mut rate = Rate::default();
        let second = 1_000_000_000;
        rate.note(100, 0, second, second);
        assert_eq!(rate.now(second, second).0, 0.0, "one count is no rate");
        rate.note(1100, 0, 2 * second, second);
        assert_eq!(rate.now(2 * second, second).0, 1000.0);
        rate.note(5, 0, 3 * second, second);
        assert_eq!(rate.pps, 1000.0, "a cell that was given out anew tells nothing");
        assert!(rate.now(10 * second, second).0 < 3.0);
        rate.note(5, 0, 2 * second, second);
        assert_eq!(rate.at_ns, Some(3 * second), "time does not go back");
    }
}
