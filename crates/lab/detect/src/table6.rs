//! How many heavy hitters a second did Singh et al. count, and which population has as many?
//!
//! Its Table 6 counts them in four captures of a backbone link of 10 Gbit/s, of which we have none. A [`Curve`] is a population's
//! rates by rank that passes through one row's counts: as many flows are faster than a threshold as the row says. Below the lowest
//! threshold, where the table says nothing, rates fall with a power of the rank that makes the whole load the link to a given
//! share.

use crate::workload::{Arrivals, Config, MIXED, Rates, Sizes};

/// The table's thresholds, in bytes a second: 2, 5, 10 and 20 Mbit/s.
pub const THRESHOLDS: [u64; 4] = [250_000, 625_000, 1_250_000, 2_500_000];

/// A row of the table: a capture, and how much of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Row {
    /// Date of the capture.
    pub capture: &'static str,
    /// Flows, `f` in the table.
    pub flows: u32,
    /// Heavy hitters a second, by [`THRESHOLDS`].
    pub heavy: [u32; 4],
}

/// The table, first its half of 100,000 flows and a million packets, then that of 500,000 and nine million.
pub const PAPER: [Row; 8] = [
    Row { capture: "CAIDA 2016/01/21", flows: 100_000, heavy: [632, 186, 56, 23] },
    Row { capture: "CAIDA 2016/02/18", flows: 100_000, heavy: [612, 162, 46, 16] },
    Row { capture: "CAIDA 2016/03/17", flows: 100_000, heavy: [646, 193, 62, 27] },
    Row { capture: "CAIDA 2016/04/06", flows: 100_000, heavy: [648, 196, 60, 26] },
    Row { capture: "CAIDA 2016/01/21", flows: 500_000, heavy: [513, 107, 26, 13] },
    Row { capture: "CAIDA 2016/02/18", flows: 500_000, heavy: [509, 102, 19, 10] },
    Row { capture: "CAIDA 2016/03/17", flows: 500_000, heavy: [528, 119, 35, 16] },
    Row { capture: "CAIDA 2016/04/06", flows: 500_000, heavy: [518, 117, 32, 17] },
];

/// The link's bytes a second.
pub const LINK: f64 = 1.25e9;

/// Rates by rank.
#[derive(Clone, Debug, PartialEq)]
pub struct Curve {
    /// Ranks and rates that it passes through, straight between them on logarithmic scales.
    points: Vec<(f64, f64)>,
    /// Of ranks beyond the last point.
    tail_exponent: f64,
}

/// Share of the link that populations of [`Row::config`] fill: rates of the tail follow from it.
pub const LOAD: f64 = 0.8;

impl Row {
    /// A population with the row's counts: packets of [`MIXED`] lengths, independent, on a link with [`LOAD`].
    pub fn config(&self, seed: u64, duration_ns: u64) -> Config {
        let (rates, sizes) = (Rates::Curve(self.curve(LOAD)), Sizes::PerFlow(MIXED.to_vec()));
        Config { seed, flows: self.flows, rates, sizes, arrivals: Arrivals::Poisson, duration_ns }
    }

    /// Rates with the row's counts that load the link to that share, as far as its flows can: each of those beyond the counts is
    /// slower than the lowest threshold.
    pub fn curve(&self, load: f64) -> Curve {
        // Between the flow that just has the threshold and the next one.
        let points = THRESHOLDS.iter().zip(self.heavy).rev().map(|(rate, rank)| (f64::from(rank) + 0.5, *rate as f64)).collect();
        let mut curve = Curve { points, tail_exponent: 0.0 };
        let total = |exponent: f64| {
            let curve = Curve { tail_exponent: exponent, ..curve.clone() };
            (1..=self.flows).map(|rank| curve.bytes_per_second(rank.into())).sum::<f64>()
        };
        // The steeper the tail, the less there is of it.
        let (mut flat, mut steep) = (0.01, 8.0);
        for _ in 0..30 {
            let middle = (flat + steep) / 2.0;
            if total(middle) > load * LINK { flat = middle } else { steep = middle }
        }
        curve.tail_exponent = steep;
        curve
    }
}

impl Curve {
    /// Rate of the flow of that rank, counted from 1, in bytes a second.
    pub fn bytes_per_second(&self, rank: f64) -> f64 {
        let line = |(r1, b1): (f64, f64), (r2, b2): (f64, f64)| {
            let slope = (b2 / b1).ln() / (r2 / r1).ln();
            b1 * (rank / r1).powf(slope)
        };
        match self.points.as_slice() {
            [] => 0.0,
            [.., last] if rank > last.0 => last.1 * (rank / last.0).powf(-self.tail_exponent),
            [only] => only.1,
            points => {
                // The first line also serves the ranks before it.
                let at = points.iter().position(|(r, _)| *r >= rank).unwrap_or(points.len() - 1).max(1);
                line(points[at - 1], points[at])
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::truth::PerSecond;
    use crate::workload::Workload;

    #[test]
    fn curves_have_the_counts_and_load_the_link() {
        for row in PAPER {
            let curve = row.curve(0.8);
            let rates: Vec<f64> = (1..=row.flows).map(|rank| curve.bytes_per_second(rank.into())).collect();
            assert!(rates.is_sorted_by(|a, b| a >= b), "{row:?}");
            let heavy = THRESHOLDS.map(|least| rates.iter().filter(|rate| **rate >= least as f64).count() as u32);
            assert_eq!(heavy, row.heavy);
            let load = rates.iter().sum::<f64>() / LINK;
            assert!((0.79..0.81).contains(&load), "{row:?}: {load}");
        }
    }

    /// What is counted in packets is what the paper counted, but for the chance of each second.
    #[test]
    fn packets_have_the_papers_heavy_hitters() {
        for row in [PAPER[0], PAPER[4]] {
            let mut seconds = PerSecond::new(&THRESHOLDS);
            Workload::new(&row.config(11, 1_000_000_000)).for_each(|p| seconds.packet(p.key, p.bytes, p.at_ns));
            for (counted, paper) in seconds.average().into_iter().zip(row.heavy) {
                let far = (counted - f64::from(paper)).abs();
                assert!(far <= f64::from(paper) * 0.08 + 3.0, "{row:?}: {counted} instead of {paper}");
            }
        }
    }
}
