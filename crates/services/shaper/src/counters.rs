//! What was sent and dropped, and after what delay?

use crate::shaper::Reason;

/// Buckets of the histogram of delays: bucket `i` holds delays below `2^i` microseconds that no earlier one holds, the last one all others.
pub const BUCKETS: usize = 20;

/// Of all queues of a shaper since it was made.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counters {
    /// Packets that were taken to wait.
    pub queued: u64,
    /// Packets that were sent after having waited.
    pub sent: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// How long they had waited, in ns.
    pub waited_ns: u64,
    /// Of them, packets that CoDel marked (CE).
    pub marked: u64,
    /// Packets dropped, whether refused or after having waited, by [`Reason`].
    pub dropped: [u64; Reason::ALL.len()],
    /// Packets sent, by delay.
    pub delays: [u64; BUCKETS],
}

impl Counters {
    pub(crate) fn count_sent(&mut self, size: u32, waited_ns: u64, marked: bool) {
        self.sent += 1;
        self.sent_bytes += u64::from(size);
        self.waited_ns = self.waited_ns.saturating_add(waited_ns);
        self.marked += u64::from(marked);
        self.delays[bucket(waited_ns)] += 1;
    }

    pub(crate) fn count_drop(&mut self, reason: Reason) {
        self.dropped[reason as usize] += 1;
    }

    /// [`delay_us`] of the packets sent.
    pub fn delay_us(&self, share: f64) -> u64 {
        delay_us(&self.delays, share)
    }
}

/// The delay, in microseconds, that at least that share (0 to 1) of the packets of a histogram did not exceed; 0 if it is empty. Rounded up to a power of two:
/// number `i` of `delays` are packets that waited for less than `2^i` microseconds.
pub fn delay_us(delays: &[u64], share: f64) -> u64 {
    let all: u64 = delays.iter().sum();
    let mut seen = 0;
    let reached = |n: &u64| {
        seen += n;
        seen as f64 >= share * all as f64
    };
    if all == 0 { 0 } else { delays.iter().position(reached).map_or(0, |i| 1 << i) }
}

fn bucket(waited_ns: u64) -> usize {
    let us = waited_ns / 1000;
    ((64 - us.leading_zeros()) as usize).min(BUCKETS - 1)
}

impl std::ops::AddAssign for Counters {
    fn add_assign(&mut self, other: Counters) {
        self.queued += other.queued;
        self.sent += other.sent;
        self.sent_bytes += other.sent_bytes;
        self.waited_ns = self.waited_ns.saturating_add(other.waited_ns);
        self.marked += other.marked;
        self.dropped.iter_mut().zip(other.dropped).for_each(|(to, n)| *to += n);
        self.delays.iter_mut().zip(other.delays).for_each(|(to, n)| *to += n);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn delays_are_found_again_within_a_power_of_two() {
        let mut counters = Counters::default();
        assert_eq!(counters.delay_us(0.5), 0);
        for ms in 1..=100u64 {
            counters.count_sent(100, ms * 1_000_000, false);
        }
        counters.count_sent(100, u64::MAX, true);
        assert_eq!((counters.sent, counters.sent_bytes, counters.marked), (101, 10_100, 1));
        assert_eq!((counters.delay_us(0.25), counters.delay_us(0.5), counters.delay_us(0.95)), (32_768, 65_536, 131_072));
        let mut twice = counters;
        twice += counters;
        assert_eq!((twice.sent, twice.delay_us(0.5)), (202, counters.delay_us(0.5)));
    }
}
