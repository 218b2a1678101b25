//! How many frames does a link carry, and what does a chip on it forward? The model of a chip's speed in all reproductions.
//!
//! A chip forwards at the speed of its links: its pipeline takes a packet each clock, 1.2 thousand million a second on Tofino 1, which
//! is more than these links bring. So the link that it sends by, or the one that it receives by, is what limits.

/// Preamble, start of frame and gap between frames, in bytes (IEEE 802.3 §3.1.1 and §4.4.2).
const BETWEEN: f64 = 20.0;

/// Frames a second, in millions, of a link; `frame` in bytes with its check sequence.
pub(super) fn mpps(link_bps: f64, frame: f64) -> f64 {
    link_bps / ((frame + BETWEEN) * 8.0) / 1e6
}

/// Millions of frames a second that come in with `frame` bytes and leave with `grown` bytes, both links of one speed.
pub(super) fn through_mpps(link_bps: f64, frame: f64, grown: f64) -> f64 {
    mpps(link_bps, frame.max(grown))
}

/// Share of the receiving link that is in use then, in bit/s as RFC 2544 testers count it: with what is between frames.
pub(super) fn offered_bps(mpps: f64, frame: f64) -> f64 {
    mpps * 1e6 * (frame + BETWEEN) * 8.0
}

/// What a chip on `link_mpps` with the share `share` of the packets, and an x86 with `x86_mpps` behind it for the others, forward together:
/// whichever is full first stops the growth of both, as the shares are given.
pub(super) fn hybrid_mpps(share: f64, link_mpps: f64, x86_mpps: f64) -> f64 {
    if share >= 1.0 { link_mpps } else { link_mpps.min(x86_mpps / (1.0 - share)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_rates_are_those_that_everybody_knows() {
        // RFC 2544 and every data sheet: 14.88 Mpps of 64-byte frames on 10 Gbit/s.
        assert!((mpps(10e9, 64.0) - 14.881).abs() < 0.001);
        assert!((mpps(100e9, 1518.0) - 8.127).abs() < 0.001);
        assert!((offered_bps(mpps(100e9, 256.0), 256.0) - 100e9).abs() < 1.0);
        assert_eq!(through_mpps(10e9, 64.0, 100.0), mpps(10e9, 100.0));
        assert_eq!(through_mpps(10e9, 100.0, 64.0), mpps(10e9, 100.0));
    }

    #[test]
    fn a_hybrid_lies_between_its_parts() {
        assert_eq!(hybrid_mpps(0.0, 10.0, 2.5), 2.5);
        assert_eq!(hybrid_mpps(0.5, 10.0, 2.5), 5.0);
        assert_eq!(hybrid_mpps(0.9, 10.0, 2.5), 10.0);
        assert_eq!(hybrid_mpps(1.0, 10.0, 0.0), 10.0);
        let all: Vec<f64> = (0..=10).map(|s| hybrid_mpps(f64::from(s) / 10.0, 10.0, 2.5)).collect();
        assert!(all.is_sorted());
    }
}
