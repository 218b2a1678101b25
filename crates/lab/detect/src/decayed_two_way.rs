//! How does ours decide where a chip knows nothing of sessions?
//!
//! Two ways, each a row of cells: a flow's number of 32 bits, its decayed bytes ([`decay`]) with the epoch that they are of,
//! and a flag that it has been reported. A flow is looked for in its two cells. If it is in neither, it takes the one with fewer
//! bytes left, *perhaps*: in about one of so many cases as these are times its packet's length. So a few packets do not displace a
//! heavy flow, and a heavy flow gets a place soon, wherever it is. Bytes that are left halve with time, so a flow that has ended
//! gives its place away by itself.
//!
//! Only shifts, additions, comparisons and masks are needed: the chance is `length / 2^n`, with the least `2^n` above the bytes
//! left, which is the comparison of some low bits of a random number. A report is made when a flow's bytes reach the threshold of
//! that step of the epoch, and again only after they have been below half of it. Its P4 form is `p4/detect/decayed.p4`.

use crate::hash::{self, Hashed};
use crate::{Detector, Report};
use decay::{self, MOST_BYTES};
use rand::RngCore;

/// Bits of a cell: flow 32, epoch 16, flag 1, bytes 31.
pub const CELL_BITS: usize = 80;

/// Reports begin so many percent above the threshold. A cell sees less of the past than a window of a second and is asked with each
/// packet, so flows close below the threshold would cross it by chance more often than their windows do. Measured: with 0, 5 and 9
/// %, F1 in the bursts of [`crate::workload::Case::C`] is 0.92, 0.95 and 0.96, in the mixed lengths of `B` 0.98, 0.99 and 0.97.
pub const MARGIN_PERCENT: u64 = 5;

/// See the file's top. `R` decides which flows get a place.
pub struct DecayedTwoWay<R> {
    /// Bytes from which on a flow is heavy, by step of the epoch.
    thresholds: [u32; 16],
    ways: [Vec<Cell>; 2],
    rng: R,
    admissions: Admissions,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Cell {
    flow: u32,
    epoch: u16,
    reported: bool,
    bytes: u32,
}

/// What became of packets whose flow had no cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Admissions {
    /// Their flow took a cell.
    pub taken: u64,
    /// It did not.
    pub refused: u64,
}

impl<R: RngCore> DecayedTwoWay<R> {
    /// As many cells in each way as fit so many bytes and are a power of two; at least one and at most 2^16, as places of one way
    /// are numbers of 16 bits. The threshold is in bytes a second.
    pub fn new(memory_bytes: usize, threshold: u64, rng: R) -> DecayedTwoWay<R> {
        let fit = (memory_bytes.saturating_mul(8) / (2 * CELL_BITS)).clamp(1, 1 << 16);
        let cells = if fit.is_power_of_two() { fit } else { fit.next_power_of_two() / 2 };
        let thresholds = thresholds(threshold);
        DecayedTwoWay {
            thresholds,
            ways: [vec![Cell::default(); cells], vec![Cell::default(); cells]],
            rng,
            admissions: Admissions::default(),
        }
    }

    /// How often flows without a cell took one.
    pub fn admissions(&self) -> Admissions {
        self.admissions
    }

    /// Cells of a way.
    pub fn cells(&self) -> usize {
        self.ways[0].len()
    }

    /// A packet of a flow with these hashes. The flow's bytes if it is to be reported.
    pub fn packet_at(&mut self, flow: Hashed, length: u32, now_us: u64) -> Option<u32> {
        let mask = self.ways[0].len() - 1;
        let places = [flow.crc32 as usize & mask, usize::from(flow.crc16) & mask];
        let epoch = decay::epoch(now_us);
        let threshold = self.thresholds[decay::step(now_us) as usize];
        let length = length.min(MOST_BYTES);

        // What the cells would hold if they were met by nobody: their bytes now, and the epoch that these are of.
        let now: [Cell; 2] = std::array::from_fn(|way| self.ways[way][places[way]].at(epoch));
        let own = now.iter().position(|cell| cell.flow == flow.crc32);
        let (way, mut cell) = match own {
            Some(way) => (way, now[way]),
            None => {
                let way = usize::from(now[1].bytes < now[0].bytes);
                // Ones in all bits up to the highest of the bytes left.
                let below = u32::MAX.checked_shr(now[way].bytes.leading_zeros()).unwrap_or(0);
                if self.rng.next_u32() & below >= length {
                    self.admissions.refused += 1;
                    return None;
                }
                self.admissions.taken += 1;
                (way, Cell { flow: flow.crc32, epoch: now[way].epoch, reported: false, bytes: 0 })
            }
        };
        cell.bytes = cell.bytes.saturating_add(length).min(MOST_BYTES);
        let reports = !cell.reported && cell.bytes >= threshold;
        cell.reported = reports || cell.reported && cell.bytes >= threshold >> 1;
        self.ways[way][places[way]] = cell;
        reports.then_some(cell.bytes)
    }
}

/// Bytes from which on a cell of that step of an epoch is reported.
pub fn thresholds(threshold: u64) -> [u32; 16] {
    let with_margin = (u128::from(threshold) * u128::from(100 + MARGIN_PERCENT) / 100).min(u64::MAX.into()) as u64;
    std::array::from_fn(|step| decay::threshold_bytes(with_margin, step as u32))
}

impl Cell {
    /// The cell as it has decayed until that epoch. A late packet leaves the epoch as it is.
    fn at(self, epoch: u16) -> Cell {
        match decay::halvings(self.epoch, epoch) {
            0 => self,
            halvings => Cell { epoch, bytes: decay::decayed(self.bytes, halvings), ..self },
        }
    }
}

impl<R: RngCore> Detector for DecayedTwoWay<R> {
    fn packet(&mut self, key: u64, bytes: u32, now_ns: u64) -> Option<Report> {
        let left = self.packet_at(hash::of(key), bytes, now_ns / 1000)?;
        Some(Report { key, bytes_per_second: decay::rate(left.into(), now_ns / 1000), at_ns: now_ns })
    }

    fn memory_bytes(&self) -> usize {
        self.ways[0].len() * 2 * CELL_BITS / 8
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::PUBLISHED_THRESHOLD;

    fn detector(memory_bytes: usize) -> DecayedTwoWay<testkit::Rng> {
        DecayedTwoWay::new(memory_bytes, PUBLISHED_THRESHOLD, testkit::rng(1))
    }

    #[test]
    fn it_takes_no_more_memory_than_the_published_table() {
        for (memory, cells) in [(20_736, 1024), (82_944, 4096), (331_776, 16_384), (20_479, 512), (0, 1)] {
            let detector = detector(memory);
            assert_eq!(detector.cells(), cells);
            assert!(detector.memory_bytes() <= memory.max(20));
        }
    }

    #[test]
    fn a_flow_is_reported_once_until_it_has_been_light() {
        let mut detector = detector(20_736);
        // 8 Mbit/s for two seconds, 1.6 for two, 8 for two.
        let pauses = [(1_000, 2_000), (5_000, 400), (1_000, 2_000)];
        let (mut now_ns, mut reports) = (0, Vec::new());
        for (pause_us, packets) in pauses {
            for _ in 0..packets {
                now_ns += pause_us * 1000;
                reports.extend(detector.packet(9, 1000, now_ns));
            }
        }
        assert_eq!(reports.len(), 2, "{reports:?}");
        assert!(reports[0].at_ns < 1_000_000_000 && reports[1].at_ns > 4_000_000_000, "{reports:?}");
        for report in reports {
            assert!((600_000..1_100_000).contains(&report.bytes_per_second), "{report:?}");
        }
    }

    #[test]
    fn an_empty_cell_is_taken_at_once_and_a_full_one_seldom() {
        let mut detector = detector(1);
        for n in 0..1000 {
            detector.packet(1, 1000, n * 1000);
        }
        assert_eq!(detector.admissions(), Admissions { taken: 1, refused: 0 });
        // The second of the two cells is free, then a thousand bytes deep.
        detector.packet(2, 100, 1_000_000);
        assert_eq!(detector.admissions(), Admissions { taken: 2, refused: 0 });
        for key in 3..1003 {
            detector.packet(key, 100, 1_000_000);
        }
        let Admissions { taken, refused } = detector.admissions();
        assert!(taken > 500 && refused > 50, "{taken} taken, {refused} refused");
        assert!(detector.ways[0][0].flow == hash::of(1).crc32, "the heavy flow has stayed");
    }

    #[test]
    fn a_flow_that_has_ended_gives_its_place_away() {
        let mut detector = detector(1);
        for n in 0..2000 {
            detector.packet(n % 2, 1400, n * 1000);
        }
        // After 20 epochs a million bytes are one.
        detector.packet(7, 64, 6_000_000_000);
        assert_eq!(detector.ways[0][0].flow, hash::of(7).crc32);
    }
}
