//! How does the form of inter-packet gap detection that was released as a simulation decide?
//!
//! It shares its name with the switch's and differs in almost all numbers: time wraps after 20 ms; the average is a true one that
//! keeps 0.98 of the old gap; a foreign packet adds a thousandth of the threshold's gap; the limit of evidence is 200; a flow's number is
//! a sum of its addresses and ports and not a hash. Numbers are real here, as they were there.
//!
//! Our keys are opaque: their number is the sum of the key's halves, and the slot that number modulo the slots.

use crate::gap::{Constants, SLOT_BITS};
use crate::{Detector, Report};

/// Ticks of a microsecond after which its clock wraps: 20 ms.
pub const WRAP: u32 = 20_000;
/// Evidence beyond which a flow is reported.
pub const TAU_LIMIT: u32 = 200;
/// What an average keeps of itself with each packet.
const KEPT: f64 = 0.98;
/// Of the threshold's gap, what a foreign packet adds to the holder's.
const FOREIGN_SHARE: f64 = 0.001;

/// See the file's top.
pub struct IpgSimulator {
    constants: Constants,
    slots: Vec<Slot>,
}

#[derive(Clone, Copy, Default)]
struct Slot {
    used: bool,
    flow: u64,
    last: u32,
    gap: f64,
    tau: u32,
}

impl IpgSimulator {
    /// As many slots as fit so many bytes, at least one. The threshold is in bytes a second.
    pub fn new(memory_bytes: usize, threshold: u64) -> IpgSimulator {
        let slots = (memory_bytes.saturating_mul(8) / SLOT_BITS).max(1);
        IpgSimulator { constants: Constants::new(threshold, WRAP, TAU_LIMIT), slots: vec![Slot::default(); slots] }
    }
}

impl Detector for IpgSimulator {
    fn packet(&mut self, key: u64, _bytes: u32, now_ns: u64) -> Option<Report> {
        let flow = (key >> 32) + (key & 0xffff_ffff);
        let now = (now_ns / 1000 % u64::from(WRAP)) as u32;
        let threshold_gap = f64::from(self.constants.threshold_gap);
        let new = Slot { used: true, flow, last: now, gap: threshold_gap, tau: 0 };
        let index = (flow % self.slots.len() as u64) as usize;
        let slot = &mut self.slots[index];
        if !slot.used {
            *slot = new;
            return None;
        }
        if slot.flow != flow {
            if slot.gap > threshold_gap {
                *slot = new;
            } else {
                slot.gap += FOREIGN_SHARE * threshold_gap;
            }
            return None;
        }
        let came_round = slot.last > now;
        let gap = f64::from(if came_round { WRAP - slot.last + now } else { now - slot.last });
        let weighted = slot.gap;
        slot.gap = KEPT * weighted + (1.0 - KEPT) * gap;
        slot.last = now;
        if slot.tau > self.constants.tau_limit {
            slot.tau = 0;
            return Some(Report { key, bytes_per_second: Constants::rate(slot.gap), at_ns: now_ns });
        }
        if came_round {
            slot.tau += u32::from(self.constants.tau_step(weighted as u32));
        }
        None
    }

    fn memory_bytes(&self) -> usize {
        (self.slots.len() * SLOT_BITS).div_ceil(8)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn reports(gap_us: u64, packets: u64) -> usize {
        let mut detector = IpgSimulator::new(20_736, 625_000);
        (0..packets).filter(|n| detector.packet(7, 1000, n * gap_us * 1000).is_some()).count()
    }

    #[test]
    fn a_fast_flow_is_reported_now_and_then_and_a_slow_one_never() {
        assert!((5..40).contains(&reports(400, 10_000)), "{}", reports(400, 10_000));
        assert_eq!(reports(2500, 10_000), 0);
        assert_ne!(reports(20_100, 10_000), 0, "a weakness of the published form: its clock comes round unseen");
    }
}
