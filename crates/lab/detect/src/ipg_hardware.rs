//! How does the form of inter-packet gap detection that ran on a switch decide? (Singh et al., §5.4 and its reference \[38\].)
//!
//! Its P4 form is `p4/detect/ipg.p4`. A packet meets its slot:
//! 1. *empty*, or it has been resubmitted: it takes the slot, with the threshold's gap and no evidence;
//! 2. *its own*: the weighted gap moves a sixteenth towards the packet's: `w - w/16` if that is shorter, `w + gap/16` if not. If the
//!    clock has wrapped, evidence grows by the step for the old gap; evidence beyond the limit is a report, and forgotten;
//! 3. *another's*: the holder's gap grows by an eightieth of the threshold's; had it been longer than the threshold's, the packet is
//!    resubmitted and takes the slot.
//!
//! The flow's number is its CRC-32, the slot the low bits of the same: two flows of one number are one flow.

use crate::gap::{Constants, SLOT_BITS};
use crate::{Detector, Report, hash};

/// Ticks after which its clock of 12 bits wraps: 4.19 ms.
pub const WRAP: u32 = 4096;
/// Evidence beyond which a flow is reported.
pub const TAU_LIMIT: u32 = 300;
/// Of the threshold's gap, what a foreign packet adds to the holder's: 20 of 1600.
const FOREIGN_SHARE: u32 = 80;

/// See the file's top.
pub struct IpgHardware {
    constants: Constants,
    foreign: u16,
    slots: Vec<Slot>,
    resubmitted: u64,
}

/// A slot. Time is [`WRAP`] ticks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Slot {
    used: bool,
    flow: u32,
    last: u16,
    gap: u16,
    tau: u16,
}

impl IpgHardware {
    /// As many slots as fit so many bytes and are a power of two; at least one. The threshold is in bytes a second.
    pub fn new(memory_bytes: usize, threshold: u64) -> IpgHardware {
        let fit = (memory_bytes.saturating_mul(8) / SLOT_BITS).max(1);
        let slots = if fit.is_power_of_two() { fit } else { fit.next_power_of_two() / 2 };
        let constants = Constants::new(threshold, WRAP, TAU_LIMIT);
        let foreign = (constants.threshold_gap / FOREIGN_SHARE).max(1) as u16;
        IpgHardware { constants, foreign, slots: vec![Slot::default(); slots], resubmitted: 0 }
    }

    /// Its constants.
    pub fn constants(&self) -> &Constants {
        &self.constants
    }

    /// Packets that had to go through the switch twice.
    pub fn resubmitted(&self) -> u64 {
        self.resubmitted
    }

    /// A packet of the flow of that number in a tick, of which [`WRAP`] count. The weighted gap if the flow is to be reported.
    pub fn packet_at(&mut self, flow: u32, tick: u16) -> Option<u16> {
        let now = tick & (WRAP - 1) as u16;
        let threshold_gap = self.constants.threshold_gap as u16;
        let new = Slot { used: true, flow, last: now, gap: threshold_gap, tau: 0 };
        let index = flow as usize & (self.slots.len() - 1);
        let slot = &mut self.slots[index];
        if !slot.used {
            *slot = new;
            return None;
        }
        if slot.flow != flow {
            let holder_is_light = slot.gap > threshold_gap;
            slot.gap = slot.gap.saturating_add(self.foreign);
            if holder_is_light {
                self.resubmitted += 1;
                *slot = new;
            }
            return None;
        }
        let came_round = slot.last > now;
        let gap = now.wrapping_sub(slot.last) & (WRAP - 1) as u16;
        let weighted = slot.gap;
        slot.gap = if weighted > gap { weighted - (weighted >> 4) } else { weighted.saturating_add(gap >> 4) };
        slot.last = now;
        if u32::from(slot.tau) > self.constants.tau_limit {
            slot.tau = 0;
            return Some(slot.gap);
        }
        if came_round {
            slot.tau = slot.tau.saturating_add(self.constants.tau_step(weighted.into()));
        }
        None
    }
}

impl Detector for IpgHardware {
    /// Its ticks are bits 21 to 10 of the time, 1.024 us each, taken for microseconds.
    fn packet(&mut self, key: u64, _bytes: u32, now_ns: u64) -> Option<Report> {
        let gap = self.packet_at(hash::of(key).crc32, (now_ns >> 10) as u16)?;
        Some(Report { key, bytes_per_second: Constants::rate(f64::from(gap)), at_ns: now_ns })
    }

    fn memory_bytes(&self) -> usize {
        (self.slots.len() * SLOT_BITS).div_ceil(8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn feed(detector: &mut IpgHardware, key: u64, gap_us: u64, packets: u64) -> Vec<u64> {
        (0..packets).filter_map(|n| detector.packet(key, 1000, n * gap_us * 1024).map(|r| r.at_ns)).collect()
    }

    #[test]
    fn the_published_slots_fit_the_published_memory() {
        assert_eq!(IpgHardware::new(20_736, 625_000).slots.len(), 2048);
        assert_eq!(IpgHardware::new(20_735, 625_000).slots.len(), 1024);
        assert_eq!(IpgHardware::new(20_736, 625_000).memory_bytes(), 20_736);
        assert_eq!(IpgHardware::new(0, 625_000).slots.len(), 1);
    }

    #[test]
    fn a_fast_flow_is_reported_about_once_a_second_and_a_slow_one_never() {
        // 400 us: four times the threshold. Evidence grows by 4 or 5 each 4096 ticks: 300 take about 0.3 s.
        let times = feed(&mut IpgHardware::new(20_736, 625_000), 7, 400, 10_000);
        assert!((5..20).contains(&times.len()), "{times:?}");
        // 2.5 ms: less than the threshold, and short enough for the clock.
        assert_eq!(feed(&mut IpgHardware::new(20_736, 625_000), 7, 2500, 10_000), []);
    }

    #[test]
    fn a_pause_that_the_clock_does_not_see_makes_a_slow_flow_look_fast() {
        // A packet each 4.2 ms, a seventh of the threshold: its gap seems to be 4 ticks.
        assert_ne!(feed(&mut IpgHardware::new(20_736, 625_000), 7, 4100, 10_000), [], "a weakness of the published form");
    }

    #[test]
    fn the_light_holder_of_a_slot_loses_it() {
        let mut detector = IpgHardware::new(1, 625_000);
        assert_eq!(detector.packet_at(1, 0), None);
        assert_eq!(detector.slots[0].flow, 1);
        // The first foreign packet makes the gap longer than the threshold's, the second one takes the slot.
        detector.packet_at(2, 10);
        assert_eq!((detector.slots[0].flow, detector.slots[0].gap, detector.resubmitted()), (1, 1620, 0));
        detector.packet_at(3, 11);
        assert_eq!((detector.slots[0].flow, detector.slots[0].gap, detector.resubmitted()), (3, 1600, 1));
    }
}
