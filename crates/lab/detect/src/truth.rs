//! Which flows were heavy, exactly?
//!
//! A flow is heavy if a window of one second has at least the threshold's bytes of it. Windows are ten consecutive steps of 100 ms,
//! so a window ends at each step. Everything is kept: a few dozen bytes for each flow that ever sent.

use std::collections::HashMap;

/// A step, in nanoseconds.
pub const STEP_NS: u64 = 100_000_000;
/// Steps of a window.
pub const WINDOW_STEPS: u64 = 10;

/// See the file's top.
pub struct Truth {
    threshold_bytes: u64,
    flows: HashMap<u64, Flow>,
    heavy: HashMap<u64, u64>,
}

#[derive(Clone, Default)]
struct Flow {
    /// The step of the last packet.
    step: u64,
    /// Bytes of the last ten steps, by step modulo ten.
    bytes: [u64; WINDOW_STEPS as usize],
}

impl Truth {
    /// Heavy is what has so many bytes in a second.
    pub fn new(threshold_bytes: u64) -> Truth {
        Truth { threshold_bytes, flows: HashMap::new(), heavy: HashMap::new() }
    }

    /// A packet. One that is older than its flow's last one counts as if it came with that.
    pub fn packet(&mut self, key: u64, bytes: u32, now_ns: u64) {
        let flow = self.flows.entry(key).or_default();
        let step = (now_ns / STEP_NS).max(flow.step);
        for passed in 1..=(step - flow.step).min(WINDOW_STEPS) {
            flow.bytes[((flow.step + passed) % WINDOW_STEPS) as usize] = 0;
        }
        flow.step = step;
        let now = &mut flow.bytes[(step % WINDOW_STEPS) as usize];
        *now = now.saturating_add(bytes.into());
        if flow.bytes.iter().fold(0u64, |sum, bytes| sum.saturating_add(*bytes)) >= self.threshold_bytes {
            self.heavy.entry(key).or_insert(now_ns);
        }
    }

    /// The flows that have been heavy, and when each of them was for the first time.
    pub fn heavy(&self) -> &HashMap<u64, u64> {
        &self.heavy
    }

    /// Flows that sent at all.
    pub fn flows(&self) -> usize {
        self.flows.len()
    }
}

/// How many flows reached each of some thresholds in each second of the clock: the count of Table 6 of Singh et al.
pub struct PerSecond {
    thresholds: Vec<u64>,
    second: u64,
    bytes: HashMap<u64, u64>,
    counts: Vec<Vec<usize>>,
}

impl PerSecond {
    /// Thresholds in bytes a second.
    pub fn new(thresholds: &[u64]) -> PerSecond {
        PerSecond { thresholds: thresholds.to_vec(), second: 0, bytes: HashMap::new(), counts: Vec::new() }
    }

    /// A packet. One of a second that is over counts in the one that is not. Seconds without packets are not counted.
    pub fn packet(&mut self, key: u64, bytes: u32, now_ns: u64) {
        let second = (now_ns / 1_000_000_000).max(self.second);
        if second != self.second {
            self.end();
            self.second = second;
        }
        let sum = self.bytes.entry(key).or_default();
        *sum = sum.saturating_add(bytes.into());
    }

    fn end(&mut self) {
        if !self.bytes.is_empty() {
            let count = |least: &u64| self.bytes.values().filter(|bytes| *bytes >= least).count();
            self.counts.push(self.thresholds.iter().map(count).collect());
            self.bytes.clear();
        }
    }

    /// Heavy hitters of a second by threshold, averaged over the seconds that had packets; the last one is taken for whole.
    pub fn average(mut self) -> Vec<f64> {
        self.end();
        let seconds = self.counts.len().max(1) as f64;
        (0..self.thresholds.len()).map(|i| self.counts.iter().map(|of| of[i] as f64).sum::<f64>() / seconds).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;
    use std::collections::HashSet;

    /// As said at the file's top: all windows, all packets.
    fn slow_twin(packets: &[(u64, u32, u64)], threshold: u64) -> HashSet<u64> {
        let last = packets.iter().map(|(_, _, at)| at / STEP_NS).max().unwrap_or(0);
        let mut heavy = HashSet::new();
        for end in 0..=last {
            let mut sums: HashMap<u64, u64> = HashMap::new();
            for (key, bytes, at) in packets {
                let step = at / STEP_NS;
                if step <= end && step + WINDOW_STEPS > end {
                    *sums.entry(*key).or_default() += u64::from(*bytes);
                }
            }
            heavy.extend(sums.iter().filter(|(_, sum)| **sum >= threshold).map(|(key, _)| *key));
        }
        heavy
    }

    #[test]
    fn windows_are_those_of_the_slow_twin() {
        let (mut heavy, mut light) = (0, 0);
        for seed in 0..200 {
            let mut rng = testkit::rng(seed);
            let threshold = rng.random_range(1_000..8_000);
            let mut at = 0;
            let packets: Vec<_> = (0..rng.random_range(1..120))
                .map(|_| {
                    at += rng.random_range(0..120_000_000);
                    (rng.random_range(0..6), rng.random_range(1..1500), at)
                })
                .collect();
            let mut truth = Truth::new(threshold);
            packets.iter().for_each(|(key, bytes, at)| truth.packet(*key, *bytes, *at));
            let expected = slow_twin(&packets, threshold);
            assert_eq!(truth.heavy().keys().copied().collect::<HashSet<_>>(), expected);
            heavy += expected.len();
            light += truth.flows() - expected.len();
        }
        assert!(heavy > 200 && light > 200, "{heavy} heavy, {light} light");
    }

    #[test]
    fn the_first_time_is_when_the_threshold_is_reached() {
        let mut truth = Truth::new(1000);
        truth.packet(1, 600, 0);
        truth.packet(1, 399, 950_000_000);
        assert!(truth.heavy().is_empty());
        // The first packet's window is over.
        truth.packet(1, 600, 1_000_000_000);
        assert!(truth.heavy().is_empty());
        truth.packet(1, 1, 1_100_000_000);
        assert_eq!(truth.heavy()[&1], 1_100_000_000);
    }

    #[test]
    fn seconds_are_counted_one_by_one() {
        let mut seconds = PerSecond::new(&[100, 200]);
        for (key, bytes, second) in [(1, 150, 0), (2, 99, 0), (1, 250, 1), (2, 100, 1), (3, 300, 7)] {
            seconds.packet(key, bytes, second * 1_000_000_000);
        }
        // 1 and 0; 2 and 1; 1 and 1.
        assert_eq!(seconds.average(), [4.0 / 3.0, 2.0 / 3.0]);
    }
}
