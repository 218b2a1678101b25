//! Two-rate three-colour meter, colour-blind (RFC 2698 §3), in integers and without rounding.
//!
//! # What it computes, exactly
//! A cell has a committed and a peak bucket, full when configured. At a packet of `units` (bytes, or 1) at time
//! `now_ns`: first, each bucket gains `rate * elapsed_ns / 10^9` units, as a fraction with denominator 10^9, nothing lost,
//! and is capped at its burst (where the fraction is dropped); `elapsed_ns` is counted from the latest time the cell has seen, and is 0 for
//! a time before that. Then, with `Tp` and `Tc` the buckets' contents: red if `Tp < units`; else yellow if `Tc < units`,
//! and the peak bucket loses `units`; else green, and both lose them. So the colour depends only on
//! configuration, times and sizes, on every target alike.
//!
//! Generated code has a smaller form of its own (`meter.h` of `p4-emit`): buckets in 10^-9 units, bursts up to `program::MAX_BURST`. This
//! one takes all bursts, and is its twin in tests.
//!
//! A cell of zero bytes is not configured and always green. A cell is plain data of 64 bytes; one thread at a time may use it.

/// Colour of a packet.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Debug)]
#[repr(u8)]
pub enum Colour {
    /// Within the committed rate.
    Green = 0,
    /// Over the committed, within the peak rate.
    Yellow = 1,
    /// Over the peak rate.
    Red = 2,
}

const NANO: u64 = 1_000_000_000;
/// In `peak_fraction`, above the fraction's 30 bits.
const CONFIGURED: u32 = 1 << 31;

/// A cell: configuration and state in one cache line.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Meter {
    cir: u64,
    cbs: u64,
    pir: u64,
    pbs: u64,
    /// Whole units in the buckets.
    committed: u64,
    peak: u64,
    /// Latest time seen.
    last_ns: u64,
    /// What is in the buckets besides, in 10^-9 units.
    committed_fraction: u32,
    peak_fraction: u32,
}

const _: () = assert!(size_of::<Meter>() == 64);

impl Meter {
    /// A cell with full buckets: committed and peak rate in units per second, committed and peak burst in units.
    /// `now_ns` is when it begins.
    pub fn new(cir: u64, cbs: u64, pir: u64, pbs: u64, now_ns: u64) -> Meter {
        Meter { cir, cbs, pir, pbs, committed: cbs, peak: pbs, last_ns: now_ns, committed_fraction: 0, peak_fraction: CONFIGURED }
    }

    /// Colours a packet of `units` and takes it out of the buckets.
    #[inline]
    pub fn execute(&mut self, now_ns: u64, units: u64) -> Colour {
        if self.peak_fraction & CONFIGURED == 0 {
            return Colour::Green;
        }
        let elapsed_ns = now_ns.saturating_sub(self.last_ns);
        if elapsed_ns > 0 {
            self.last_ns = now_ns;
            (self.committed, self.committed_fraction) = refill(self.committed, self.committed_fraction, self.cir, self.cbs, elapsed_ns);
            let (peak, fraction) = refill(self.peak, self.peak_fraction & !CONFIGURED, self.pir, self.pbs, elapsed_ns);
            (self.peak, self.peak_fraction) = (peak, fraction | CONFIGURED);
        }
        if self.peak < units {
            return Colour::Red;
        }
        self.peak -= units;
        if self.committed < units {
            return Colour::Yellow;
        }
        self.committed -= units;
        Colour::Green
    }
}

/// Bucket content after `elapsed_ns` at `rate`, capped at `burst`.
#[inline]
fn refill(tokens: u64, fraction: u32, rate: u64, burst: u64, elapsed_ns: u64) -> (u64, u32) {
    // Up to 18 units a nanosecond for a second, in 64 bits; beyond, 128 hold every product: (2^64 - 1)^2 + 2^30 < 2^128.
    let (gained, fraction) = match rate.checked_mul(elapsed_ns).and_then(|nano| nano.checked_add(fraction.into())) {
        Some(nano) => (nano / NANO, (nano % NANO) as u32),
        None => {
            let nano = u128::from(rate) * u128::from(elapsed_ns) + u128::from(fraction);
            (u64::try_from(nano / u128::from(NANO)).unwrap_or(u64::MAX), (nano % u128::from(NANO)) as u32)
        }
    };
    match tokens.checked_add(gained) {
        Some(sum) if sum < burst => (sum, fraction),
        _ => (burst, 0),
    }
}
