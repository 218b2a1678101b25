//! Which packets of a queue are marked or dropped so that its senders slow down? CoDel (RFC 8289 §5): those that leave while the smallest delay of the last
//! interval was above the target, at a frequency that grows with the square root of their number.
//!
//! Not here: dropping several packets at once when the clock has jumped over several times to drop (§5.5 `while`): the caller asks again for the
//! next packet, so that each is asked about once.

/// State of one queue. Fresh for an empty queue.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Codel {
    /// When the delay will have been above the target for an interval; 0: it is below.
    first_above_ns: u64,
    /// When the next packet is to go, while dropping.
    drop_next_ns: u64,
    /// Packets dropped since dropping began, at most [`MOST`].
    count: u32,
    /// `count` when dropping began last; and [`DROPPING`]: a queue's state is one line of memory with what else a queue has.
    last_count: u32,
}

/// While dropping.
const DROPPING: u32 = 1 << 31;
const MOST: u32 = DROPPING - 1;

/// What the law is set to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Law {
    /// Delay that a queue may have for ever, in ns (RFC 8289 §4.4: 5 to 10 % of the interval).
    pub target_ns: u64,
    /// About the longest round trip time of most connections, in ns (§4.3).
    pub interval_ns: u64,
}

impl Default for Law {
    fn default() -> Law {
        Law { target_ns: 5_000_000, interval_ns: 100_000_000 }
    }
}

impl Codel {
    /// Whether a packet that has waited for `waited_ns` and leaves a queue of `bytes` (its own among them) must be marked or dropped. `packet` bytes or
    /// fewer never are: a queue of one packet is no queue.
    pub fn leaves(&mut self, law: &Law, now_ns: u64, waited_ns: u64, bytes: u64, packet: u64) -> bool {
        let due = self.is_above(law, now_ns, waited_ns, bytes, packet);
        if self.last_count & DROPPING != 0 {
            if !due {
                self.last_count &= !DROPPING;
                return false;
            }
            if now_ns < self.drop_next_ns {
                return false;
            }
            self.count = (self.count + 1).min(MOST);
            self.drop_next_ns = self.next_ns(law, self.drop_next_ns);
            return true;
        }
        if !due {
            return false;
        }
        // §5.4: if dropping ended lately, its frequency then is a good one to begin with.
        let delta = self.count.wrapping_sub(self.last_count);
        let lately = now_ns.saturating_sub(self.drop_next_ns) < 16 * law.interval_ns;
        self.count = if delta > 1 && lately && self.count > 0 { delta } else { 1 };
        self.last_count = self.count | DROPPING;
        self.drop_next_ns = self.next_ns(law, now_ns);
        true
    }

    fn is_above(&mut self, law: &Law, now_ns: u64, waited_ns: u64, bytes: u64, packet: u64) -> bool {
        if waited_ns < law.target_ns || bytes <= packet {
            self.first_above_ns = 0;
            return false;
        }
        if self.first_above_ns == 0 {
            self.first_above_ns = now_ns + law.interval_ns;
            return false;
        }
        now_ns >= self.first_above_ns
    }

    /// §5.3: the interval divided by the square root of the count, later.
    fn next_ns(&self, law: &Law, from_ns: u64) -> u64 {
        from_ns + (law.interval_ns as f64 / f64::from(self.count.max(1)).sqrt()) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: u64 = 1_000_000;

    /// Times in ms at which packets that leave one a ms, each with that delay, are to go.
    fn drops(delay_ms: impl Fn(u64) -> u64, until_ms: u64) -> Vec<u64> {
        let mut codel = Codel::default();
        (1..until_ms).filter(|at| codel.leaves(&Law::default(), at * MS, delay_ms(*at) * MS, 100_000, 1500)).collect()
    }

    #[test]
    fn a_queue_below_the_target_loses_nothing_nor_does_one_that_is_above_for_less_than_an_interval() {
        assert!(drops(|_| 4, 10_000).is_empty());
        assert!(drops(|at| if at % 90 == 0 { 4 } else { 50 }, 10_000).is_empty());
    }

    #[test]
    fn drops_come_at_the_interval_over_the_square_root_of_their_number() {
        // RFC 8289 §5.3: 100, 70.7, 57.7, 50 ms later.
        assert_eq!(drops(|_| 20, 500), [101, 201, 272, 330, 380, 425, 465]);
    }

    #[test]
    fn a_single_packet_is_no_queue() {
        let mut codel = Codel::default();
        assert!((1..1000).all(|at| !codel.leaves(&Law::default(), at * MS, 50 * MS, 1500, 1500)));
    }

    #[test]
    fn dropping_that_begins_again_soon_goes_on_at_its_frequency() {
        let pause = |at| if (500..520).contains(&at) { 1 } else { 20 };
        let times = drops(pause, 1000);
        let gaps: Vec<u64> = times.iter().filter(|t| **t > 520).collect::<Vec<_>>().windows(2).map(|w| w[1] - w[0]).collect();
        assert!(gaps[0] < 60, "{times:?}");
    }
}
