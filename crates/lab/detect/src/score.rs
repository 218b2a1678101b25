//! How right were the reports, and how late?
//!
//! A flow counts once: it is heavy or not, and it has been reported or not, whenever. Precision is the share of the reported flows
//! that are heavy, recall the share of the heavy ones that were reported, F1 their harmonic mean.

use crate::truth::Truth;
use crate::workload::Arrival;
use crate::{Detector, Report};
use std::collections::HashMap;

/// A detector's result.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Score {
    /// Flows that are heavy.
    pub heavy: usize,
    /// Flows that were reported.
    pub reported: usize,
    /// Flows that are both.
    pub right: usize,
    /// Reports in all: what the control plane has to take.
    pub reports: u64,
    /// Of the flows that are both: the median of the time from when the flow was heavy for the first time to its first report, in
    /// nanoseconds. Below zero where an estimate runs ahead of the window.
    pub median_delay_ns: Option<i64>,
}

impl Score {
    /// Share of the reported flows that are heavy; 1 if there were no reports.
    pub fn precision(&self) -> f64 {
        share(self.right, self.reported)
    }

    /// Share of the heavy flows that were reported; 1 if there are none.
    pub fn recall(&self) -> f64 {
        share(self.right, self.heavy)
    }

    /// Their harmonic mean.
    pub fn f1(&self) -> f64 {
        share(2 * self.right, self.reported + self.heavy)
    }
}

fn share(of: usize, all: usize) -> f64 {
    if all == 0 { 1.0 } else { of as f64 / all as f64 }
}

/// Reports of one detector, as they come.
#[derive(Clone, Debug, Default)]
pub struct Reports {
    first: HashMap<u64, u64>,
    all: u64,
}

impl Reports {
    /// Another one.
    pub fn add(&mut self, report: Report) {
        self.all += 1;
        self.first.entry(report.key).or_insert(report.at_ns);
    }

    /// Beside what is true.
    pub fn score(&self, truth: &Truth) -> Score {
        let heavy = truth.heavy();
        let mut delays: Vec<i64> = self.first.iter().filter_map(|(key, at)| Some(at.wrapping_sub(*heavy.get(key)?) as i64)).collect();
        delays.sort_unstable();
        Score {
            heavy: heavy.len(),
            reported: self.first.len(),
            right: delays.len(),
            reports: self.all,
            median_delay_ns: delays.get(delays.len() / 2).copied(),
        }
    }
}

/// Feeds all packets to all detectors: what each reported, in order, and the ground truth for a threshold in bytes a second.
pub fn run(packets: impl Iterator<Item = Arrival>, threshold: u64, detectors: &mut [Box<dyn Detector>]) -> (Vec<Reports>, Truth) {
    let mut truth = Truth::new(threshold);
    let mut reports = vec![Reports::default(); detectors.len()];
    for packet in packets {
        truth.packet(packet.key, packet.bytes, packet.at_ns);
        for (detector, reports) in detectors.iter_mut().zip(&mut reports) {
            if let Some(report) = detector.packet(packet.key, packet.bytes, packet.at_ns) {
                reports.add(report);
            }
        }
    }
    (reports, truth)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_of_flows() {
        let mut truth = Truth::new(100);
        [1, 2, 3, 4].iter().for_each(|key| truth.packet(*key, 100, 1_000_000_000));
        truth.packet(9, 99, 1_000_000_000);
        let mut reports = Reports::default();
        for (key, at_ns) in [(1, 1_000_000_500), (1, 2_000_000_000), (2, 999_999_000), (3, 1_000_000_100), (9, 1_000_000_000)] {
            reports.add(Report { key, bytes_per_second: 1, at_ns });
        }
        let score = reports.score(&truth);
        assert_eq!((score.heavy, score.reported, score.right, score.reports, score.median_delay_ns), (4, 4, 3, 5, Some(100)));
        assert_eq!((score.precision(), score.recall(), score.f1()), (0.75, 0.75, 0.75));
        let nothing = Reports::default().score(&truth);
        assert_eq!((nothing.precision(), nothing.recall(), nothing.f1(), nothing.median_delay_ns), (1.0, 0.0, 0.0, None));
    }
}
