//! Which packets does a seeded population of flows send?
//!
//! Each flow has a rate and a length of its packets. Packets, or trains of them, come as a Poisson process: the whole population's
//! is one too, and each arrival is some flow's with a chance in proportion to its rate. The same [`Config`] gives the same packets
//! everywhere.

use crate::table6;
use rand::{Rng, RngCore, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rand_distr::{Distribution, Exp1, weighted::WeightedAliasIndex};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// Packet lengths of a mixed population, in bytes: a third of the flows each.
pub const MIXED: [u32; 3] = [90, 500, 1400];
/// Packets of a train, and nanoseconds between them.
pub const TRAIN: Arrivals = Arrivals::Trains { packets: 16, gap_ns: 10_000 };

/// A population and how long it sends.
#[derive(Clone, Debug)]
pub struct Config {
    /// Random seed.
    pub seed: u64,
    /// How many flows there are. Not each of them sends within the time.
    pub flows: u32,
    /// How fast each of them is.
    pub rates: Rates,
    /// How long their packets are.
    pub sizes: Sizes,
    /// When packets come.
    pub arrivals: Arrivals,
    /// For how long, in nanoseconds.
    pub duration_ns: u64,
}

/// How fast flows are, from the fastest on. A flow's place in this order is its *rank*, counted from 1.
#[derive(Clone, Debug, PartialEq)]
pub enum Rates {
    /// Packets in proportion to `rank^-exponent`, so many a second in all.
    Zipf {
        /// Of the rank, positive.
        exponent: f64,
        /// Of all flows.
        packets_per_second: f64,
    },
    /// Bytes a second as a curve says.
    Curve(table6::Curve),
}

/// How long packets are. All packets of a flow are alike.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Sizes {
    /// All the same.
    Fixed(u32),
    /// Each flow has one of these, as likely as any other.
    PerFlow(Vec<u32>),
}

/// When packets come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrivals {
    /// Independently of each other.
    Poisson,
    /// In trains, independently of each other.
    Trains {
        /// Packets of a train; at least 1.
        packets: u32,
        /// Between the starts of two of them.
        gap_ns: u64,
    },
}

/// A packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// Its flow: a number without a pattern, different for each.
    pub key: u64,
    /// Its length.
    pub bytes: u32,
    /// When. Never earlier than the packet before.
    pub at_ns: u64,
}

/// The three populations that detectors are compared by. The threshold is [`crate::PUBLISHED_THRESHOLD`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Case {
    /// What the published constants are made for: 200,000 flows, a million packets a second, all of 1000 bytes, independent.
    A,
    /// A million flows with packets of 90, 500 or 1400 bytes, four million packets a second, independent.
    B,
    /// 200,000 flows with packets of 90, 500 or 1400 bytes in trains of 16, a million packets a second.
    C,
}

impl Case {
    /// The population, sending for so long.
    pub fn config(self, seed: u64, duration_ns: u64) -> Config {
        let zipf = |packets_per_second| Rates::Zipf { exponent: 1.0, packets_per_second };
        let mixed = Sizes::PerFlow(MIXED.to_vec());
        let (flows, rates, sizes, arrivals) = match self {
            Case::A => (200_000, zipf(1e6), Sizes::Fixed(1000), Arrivals::Poisson),
            Case::B => (1_000_000, zipf(4e6), mixed, Arrivals::Poisson),
            Case::C => (200_000, zipf(1e6), mixed, TRAIN),
        };
        Config { seed, flows, rates, sizes, arrivals, duration_ns }
    }
}

/// The packets of a [`Config`], in order of time.
pub struct Workload {
    rng: ChaCha8Rng,
    /// Which flow the next arrival is of. None if nobody sends.
    choice: Option<WeightedAliasIndex<f64>>,
    sizes: Vec<u32>,
    keys: u64,
    /// Nanoseconds between arrivals, on average.
    pause_ns: f64,
    /// Time of the next arrival, in nanoseconds.
    next_ns: f64,
    arrivals: Arrivals,
    duration_ns: u64,
    /// Packets of trains that are on their way: time, flow, how many are left.
    trains: BinaryHeap<Reverse<(u64, u32, u32)>>,
}

impl Workload {
    /// Readies a population: some dozens of bytes for each flow.
    pub fn new(config: &Config) -> Workload {
        let mut rng = ChaCha8Rng::seed_from_u64(config.seed);
        let keys = rng.next_u64();
        let sizes: Vec<u32> = match &config.sizes {
            Sizes::Fixed(size) => vec![*size; config.flows as usize],
            Sizes::PerFlow(sizes) if sizes.is_empty() => vec![0; config.flows as usize],
            Sizes::PerFlow(sizes) => (0..config.flows).map(|_| sizes[rng.random_range(0..sizes.len())]).collect(),
        };
        let weights = config.rates.packets_per_second(&sizes);
        let total: f64 = weights.iter().sum();
        let a_train = match config.arrivals {
            Arrivals::Poisson => 1.0,
            Arrivals::Trains { packets, .. } => f64::from(packets.max(1)),
        };
        let pause_ns = 1e9 * a_train / total;
        let choice = WeightedAliasIndex::new(weights).ok().filter(|_| pause_ns.is_finite());
        let next_ns = pause_ns * Distribution::<f64>::sample(&Exp1, &mut rng);
        let (arrivals, duration_ns) = (config.arrivals, config.duration_ns);
        Workload { rng, choice, sizes, keys, pause_ns, next_ns, arrivals, duration_ns, trains: BinaryHeap::new() }
    }

    /// The flow of that rank, counted from 0, as its packets name it.
    pub fn key(&self, rank: u32) -> u64 {
        // A bijection: the finaliser of splitmix64.
        let z = self.keys.wrapping_add(rank.into());
        let z = (z ^ z >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    fn arrival(&self, flow: u32, at_ns: u64) -> Arrival {
        Arrival { key: self.key(flow), bytes: self.sizes[flow as usize], at_ns }
    }
}

impl Iterator for Workload {
    type Item = Arrival;

    fn next(&mut self) -> Option<Arrival> {
        let first_ns = self.next_ns as u64;
        // A train that is on its way goes before one that has not begun.
        if let Some(Reverse((at_ns, flow, left))) = self.trains.peek().copied().filter(|Reverse((at_ns, ..))| *at_ns <= first_ns) {
            self.trains.pop();
            if let Arrivals::Trains { gap_ns, .. } = self.arrivals
                && left > 1
            {
                self.trains.push(Reverse((at_ns.saturating_add(gap_ns), flow, left - 1)));
            }
            return (at_ns < self.duration_ns).then(|| self.arrival(flow, at_ns));
        }
        if first_ns >= self.duration_ns {
            return None;
        }
        let flow = self.choice.as_ref()?.sample(&mut self.rng) as u32;
        self.next_ns += self.pause_ns * Distribution::<f64>::sample(&Exp1, &mut self.rng);
        if let Arrivals::Trains { packets, gap_ns } = self.arrivals
            && packets > 1
        {
            self.trains.push(Reverse((first_ns.saturating_add(gap_ns), flow, packets - 1)));
        }
        Some(self.arrival(flow, first_ns))
    }
}

impl Rates {
    /// Packets a second of each flow, whose packets have that length.
    fn packets_per_second(&self, sizes: &[u32]) -> Vec<f64> {
        let ranks = (1..=sizes.len()).map(|rank| rank as f64);
        match self {
            Rates::Zipf { exponent, packets_per_second } => {
                let shares: Vec<f64> = ranks.map(|rank| rank.powf(-exponent)).collect();
                let total: f64 = shares.iter().sum();
                shares.into_iter().map(|share| share / total * packets_per_second).collect()
            }
            Rates::Curve(curve) => ranks.zip(sizes).map(|(rank, size)| curve.bytes_per_second(rank) / f64::from((*size).max(1))).collect(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashMap;

    #[test]
    fn the_seed_decides_the_packets() {
        for case in [Case::A, Case::B, Case::C] {
            let packets = |seed| Workload::new(&case.config(seed, 20_000_000)).collect::<Vec<_>>();
            assert_eq!(packets(1), packets(1));
            assert_ne!(packets(1), packets(2));
        }
    }

    #[test]
    fn packets_come_in_order_at_the_rate_and_with_the_shares() {
        for (case, packets) in [(Case::A, 100_000), (Case::B, 400_000), (Case::C, 100_000)] {
            let workload = Workload::new(&case.config(3, 100_000_000));
            let first = workload.key(0);
            let all: Vec<Arrival> = workload.collect();
            assert!(all.is_sorted_by_key(|packet| packet.at_ns));
            assert!(all.last().is_some_and(|last| last.at_ns < 100_000_000));
            let count = all.len() as f64 / f64::from(packets);
            assert!((0.95..1.05).contains(&count), "{case:?}: {} packets", all.len());
            let of_first = all.iter().filter(|packet| packet.key == first).count() as f64 / all.len() as f64;
            // One of 12.8 or 14.4: the harmonic numbers of the flows. Trains make it unsteady.
            assert!((0.05..0.11).contains(&of_first), "{case:?}: {of_first}");
            let mut sizes: HashMap<u64, u32> = HashMap::new();
            assert!(
                all.iter().all(|packet| *sizes.entry(packet.key).or_insert(packet.bytes) == packet.bytes),
                "a flow's packets are alike"
            );
        }
    }

    #[test]
    fn trains_are_of_sixteen() {
        let config = Config { flows: 1, ..Case::C.config(5, 1_000_000_000) };
        let times: Vec<u64> = Workload::new(&Config { rates: Rates::Zipf { exponent: 1.0, packets_per_second: 1000.0 }, ..config })
            .map(|p| p.at_ns)
            .collect();
        let gaps: Vec<u64> = times.windows(2).map(|pair| pair[1] - pair[0]).collect();
        let close = gaps.iter().filter(|gap| **gap == 10_000).count();
        assert!(close * 16 > gaps.len() * 14, "{close} of {} gaps are those of trains", gaps.len());
        assert!(gaps.iter().any(|gap| *gap > 1_000_000));
    }

    #[test]
    fn nobody_sends_nothing() {
        let base = Case::A.config(1, 1_000_000);
        let quiet = Rates::Zipf { exponent: 1.0, packets_per_second: 0.0 };
        for config in [
            Config { flows: 0, ..base.clone() },
            Config { rates: quiet, ..base.clone() },
            Config { duration_ns: 0, ..base.clone() },
            Config { flows: 0, sizes: Sizes::PerFlow(vec![]), ..base },
        ] {
            assert_eq!(Workload::new(&config).count(), 0, "{config:?}");
        }
    }
}
