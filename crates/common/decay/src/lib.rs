//! How do bytes fade with time in whole numbers, and which rate do the bytes that are left stand for?
//!
//! Time is cut into *epochs* of 2^18 microseconds, 262 ms, counted by a few bits of a microsecond clock. Whoever meets a cell
//! shifts its bytes right by one for each epoch that has passed since it was last met, and adds its own. So halving is the only
//! arithmetic, and meeting a cell often or rarely gives the same bytes but for the fractions that shifts cut off, fewer than two
//! bytes in all (an [`Ideal`] cell is the twin that keeps them).
//!
//! Bytes of a steady flow grow through an epoch and are halved at its end: with rate `r` they are `r * E * (1 + x)`, `x` being the
//! share of the epoch of `E` seconds that has passed. Since all cells halve at the same instants, `x` is a matter of the clock
//! alone: thresholds rise with it ([`threshold_bytes`]), in sixteen steps, so that a chip finds them in a table of sixteen entries.
//!
//! Such a cell sees about as much of the past as a window of 0.7 to 0.8 seconds does: the variance of its estimate is that of such
//! a window.

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod session_rate;

/// An epoch is 2^18 microseconds.
pub const EPOCH_SHIFT: u32 = 18;
/// Microseconds of an epoch.
pub const EPOCH_US: u64 = 1 << EPOCH_SHIFT;
/// An epoch has 2^4 steps of its own threshold.
pub const STEP_SHIFT: u32 = EPOCH_SHIFT - 4;
/// Most bytes that a cell counts: it stops there. 31 bits, beside a flag in a word of 32.
pub const MOST_BYTES: u32 = (1 << 31) - 1;
/// So many epochs of difference count as none: packets of several workers meet a cell with clocks that differ by a burst or so, and
/// one that comes late across an epoch's end must not be taken for one after 2^16 epochs.
pub const LATE_EPOCHS: u16 = 16;

/// Epoch of an instant, 16 bits of it: they wrap after 4.7 hours.
pub fn epoch(now_us: u64) -> u16 {
    (now_us >> EPOCH_SHIFT) as u16
}

/// Which sixteenth of its epoch an instant is in.
pub fn step(now_us: u64) -> u32 {
    (now_us >> STEP_SHIFT) as u32 & 15
}

/// How often bytes of epoch `then` have halved by epoch `now`. What seems to be of a future that is close is as young as can be; of a
/// future far away, as old: a cell that a clock's jump has left behind is forgotten and not kept for hours.
pub fn halvings(then: u16, now: u16) -> u32 {
    let passed = now.wrapping_sub(then);
    if passed > u16::MAX - LATE_EPOCHS { 0 } else { u32::from(passed) }
}

/// Bytes after so many halvings.
pub fn decayed(bytes: u32, halvings: u32) -> u32 {
    bytes.checked_shr(halvings).unwrap_or(0)
}

/// Bytes that a cell of a flow with that rate has in that [`step`] of an epoch, at most [`MOST_BYTES`]; the middle of the step counts.
pub fn threshold_bytes(bytes_per_second: u64, step: u32) -> u32 {
    // (1 + (step + 1/2) / 16) epochs, in thirty-seconds.
    let scaled = u128::from(bytes_per_second) * u128::from(EPOCH_US) * u128::from(33 + 2 * (step & 15));
    u32::try_from(scaled / 32_000_000).unwrap_or(MOST_BYTES).min(MOST_BYTES)
}

/// Rate that so many bytes stand for at an instant: the other direction of [`threshold_bytes`], with the instant itself.
pub fn rate(bytes: u64, now_us: u64) -> u64 {
    bytes.saturating_mul(1_000_000) / (EPOCH_US + (now_us & (EPOCH_US - 1)))
}

/// A cell with real numbers: what [`decayed`] would give if it cut nothing off.
#[derive(Clone, Copy, Debug, Default)]
pub struct Ideal {
    /// Bytes left.
    pub bytes: f64,
    /// Epoch of the last packet, not cut to 16 bits.
    epoch: u64,
}

impl Ideal {
    /// A packet. Time that goes back stands still.
    pub fn add(&mut self, bytes: u32, now_us: u64) {
        let epoch = (now_us >> EPOCH_SHIFT).max(self.epoch);
        self.bytes = self.bytes * (-((epoch - self.epoch) as f64)).exp2() + f64::from(bytes);
        self.epoch = epoch;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn a_late_packet_halves_nothing_and_an_old_cell_is_forgotten() {
        assert_eq!(halvings(5, 5), 0);
        assert_eq!(halvings(5, 7), 2);
        assert_eq!(halvings(5, 4), 0);
        assert_eq!(halvings(16, 0), 0);
        assert_eq!(halvings(17, 0), 65519);
        assert_eq!(halvings(65535, 1), 2);
        assert_eq!(decayed(u32::MAX, 31), 1);
        assert_eq!(decayed(u32::MAX, 32), 0);
        assert_eq!(decayed(u32::MAX, 65519), 0);
    }

    #[test]
    fn thresholds_of_an_epoch_rise_to_twice_the_first() {
        let rates: Vec<u32> = (0..16).map(|step| threshold_bytes(625_000, step)).collect();
        assert!(rates.is_sorted());
        assert_eq!(rates[0], 168_960);
        assert_eq!(rates[15], 322_560);
        assert_eq!(threshold_bytes(u64::MAX, 3), MOST_BYTES);
        assert_eq!(rate(168_960, EPOCH_US / 32), 625_000);
    }

    proptest! {
        /// Whole numbers lose less than two bytes against real ones, whatever the packets: a shift cuts off less than one, and the
        /// next ones halve that.
        #[test]
        fn whole_numbers_lose_fewer_than_two_bytes(packets in prop::collection::vec((0u32..1600, 0u64..700_000), 1..300)) {
            let (mut ideal, mut bytes, mut last, mut now_us, mut halved) = (Ideal::default(), 0u32, 0u16, 0u64, 0);
            for (length, pause_us) in packets {
                now_us += pause_us;
                let times = halvings(last, epoch(now_us));
                halved += times;
                bytes = decayed(bytes, times) + length;
                last = epoch(now_us);
                ideal.add(length, now_us);
                prop_assert!(f64::from(bytes) <= ideal.bytes && ideal.bytes < f64::from(bytes) + 2.0, "{bytes} and {}", ideal.bytes);
            }
            prop_assert!(halved > 0 || now_us < 2 * EPOCH_US);
        }

        /// A steady flow is estimated at its rate wherever in an epoch it is looked at.
        #[test]
        fn a_steady_flow_has_its_rate(bytes_per_second in 100_000u64..100_000_000, look_us in 3_000_000u64..4_000_000) {
            let mut ideal = Ideal::default();
            let pause_us = 1_000.0 * 1e6 / bytes_per_second as f64;
            let packets = (look_us as f64 / pause_us) as u64;
            (1..=packets).for_each(|n| ideal.add(1000, (n as f64 * pause_us) as u64));
            // What has halved until the moment of looking.
            ideal.add(0, look_us);
            let estimate = rate(ideal.bytes as u64, look_us) as f64;
            let error = (estimate - bytes_per_second as f64).abs();
            // A packet more or less, and what the first epochs have not brought.
            prop_assert!(error < bytes_per_second as f64 * 0.001 + 8_000.0, "{estimate} of {bytes_per_second}");
        }
    }
}
