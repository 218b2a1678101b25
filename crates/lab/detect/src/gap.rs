//! What do the two published forms of inter-packet gap detection have in common?
//!
//! Both keep, in one row of slots, the flow that holds a slot, its weighted gap between packets, its last packet's time and `tau`, evidence
//! that it is heavy. A flow's own packets move the gap towards the true one; each foreign packet makes it a little longer, until
//! the slot's holder looks light and loses its place. Time is cut to a few bits, so a flow's clock wraps often; each time it does,
//! evidence grows by a step that a table gives for the gap: the shorter the gap, the smaller the step, so that every flow reaches
//! the limit after about as many packets as the threshold rate has in a second.
//!
//! Gaps know packets, not bytes: a packet length is assumed. Nothing here mends what is weak in the published algorithms; they
//! are what others are compared with.

/// Length that the published constants assume of every packet, in bytes.
pub const ASSUMED_BYTES: u64 = 1000;
/// Bits of a slot: flow 32, gap 16, last time 16, evidence 16, in use 1.
pub const SLOT_BITS: usize = 81;

/// Constants that follow from a threshold rate.
#[derive(Clone, Debug)]
pub struct Constants {
    /// Gap of a flow at the threshold, in ticks of a microsecond: 1600 for 5 Mbit/s.
    pub threshold_gap: u32,
    /// Packets of such a flow in a second: 625 for 5 Mbit/s.
    pub packets: u64,
    /// Ticks after which time wraps.
    pub wrap: u32,
    /// Evidence beyond which a flow is reported.
    pub tau_limit: u32,
    /// Step of evidence by gap; nothing for a gap of 0 and from the threshold's on.
    pub tau_steps: Vec<u16>,
}

impl Constants {
    /// Of a threshold in bytes a second: at least 16 kB/s (the gap has 16 bits) and at most 500 MB/s; others are taken for the nearest.
    pub fn new(threshold: u64, wrap: u32, tau_limit: u32) -> Constants {
        let threshold = threshold.clamp(16_000, 500_000_000);
        let threshold_gap = (ASSUMED_BYTES * 1_000_000 / threshold) as u32;
        let packets = (threshold / ASSUMED_BYTES).max(1);
        let step = |gap: u32| {
            // Times that the clock comes round until a flow of that gap has sent its packets.
            let rounds = packets * u64::from(gap) / u64::from(wrap);
            let rounds = if rounds == 0 { 2 } else { rounds };
            (u64::from(tau_limit) / rounds).max(1) as u16
        };
        let tau_steps = (0..threshold_gap).map(|gap| if gap == 0 { 0 } else { step(gap) }).collect();
        Constants { threshold_gap, packets, wrap, tau_limit, tau_steps }
    }

    /// Step of evidence of a flow whose weighted gap was that when its clock came round.
    pub fn tau_step(&self, gap: u32) -> u16 {
        self.tau_steps.get(gap as usize).copied().unwrap_or(0)
    }

    /// Rate that a gap stands for, in bytes a second, if packets are as long as assumed.
    pub fn rate(gap: f64) -> u64 {
        (ASSUMED_BYTES as f64 * 1e6 / gap.max(1.0)) as u64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_published_constants_follow_from_five_megabits() {
        let hardware = Constants::new(crate::PUBLISHED_THRESHOLD, 4096, 300);
        assert_eq!((hardware.threshold_gap, hardware.packets), (1600, 625));
        // n = 625 * gap / 4096: 0 is taken for 2; 15 for a gap of 100; 244 for the longest.
        let steps = [0, 1, 6, 7, 13, 14, 100, 1599, 1600, 65_535].map(|gap| hardware.tau_step(gap));
        assert_eq!(steps, [0, 150, 150, 300, 300, 150, 20, 1, 0, 0]);
    }

    #[test]
    fn no_threshold_breaks_the_table() {
        for threshold in [0, 1, 16_000, 500_000_000, u64::MAX] {
            let constants = Constants::new(threshold, 4096, 300);
            assert!((2..=62_500).contains(&constants.threshold_gap), "{threshold}");
            assert_eq!(constants.tau_steps.len(), constants.threshold_gap as usize);
        }
    }
}
