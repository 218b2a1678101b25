//! The two-rate three-colour marker, colour-blind (RFC 2698 §3), in integers wide enough never to round or overflow.
//!
//! Both buckets hold units (bytes or packets) times 10^9, so that a rate in units per second times a time in
//! nanoseconds needs no division. This is the plain version that faster ones are compared with.

use program::MeterConfig;

/// What a meter says of a packet; the number is what the program sees.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Colour {
    /// Within the committed rate.
    Green = 0,
    /// Within the peak rate.
    Yellow = 1,
    /// Beyond.
    Red = 2,
}

/// One configured cell.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct MeterCell {
    config: MeterConfig,
    /// Committed bucket, units × 10^9.
    tc: u128,
    /// Peak bucket, units × 10^9.
    tp: u128,
    /// Latest time seen, in nanoseconds; `None` before the first packet.
    last_ns: Option<u64>,
}

/// Cells of an indexed meter that another target executes too, in place of the machine's own.
pub trait SharedCells: Send + Sync {
    /// Marks a packet of `units`, and tells what it took. `None`: the cell is not configured.
    fn execute(&self, index: u64, now_ns: u64, units: u64) -> Option<(Colour, [u64; 2])>;

    /// Gives back what a packet took that goes to the next target.
    fn give_back(&self, index: u64, taken: [u64; 2]);
}

const NANO: u128 = 1_000_000_000;

impl MeterCell {
    /// A cell whose buckets are full.
    pub fn new(config: MeterConfig) -> MeterCell {
        MeterCell { config, tc: u128::from(config.cbs) * NANO, tp: u128::from(config.pbs) * NANO, last_ns: None }
    }

    /// Committed bucket and peak bucket in 10^-9 units, and the latest time seen, 0 before the first packet.
    pub fn buckets(&self) -> (u128, u128, u64) {
        (self.tc, self.tp, self.last_ns.unwrap_or(0))
    }

    /// Goes on with the buckets of another cell of this configuration.
    pub fn set_buckets(&mut self, committed: u128, peak: u128, last_ns: u64) {
        self.tc = committed.min(u128::from(self.config.cbs) * NANO);
        self.tp = peak.min(u128::from(self.config.pbs) * NANO);
        self.last_ns = Some(last_ns);
    }

    /// Marks a packet of `units` at `now_ns`. A clock that steps back adds nothing and is ignored.
    pub fn execute(&mut self, now_ns: u64, units: u64) -> Colour {
        let c = self.config;
        let last_ns = self.last_ns.unwrap_or(now_ns);
        let elapsed_ns = u128::from(now_ns.saturating_sub(last_ns));
        self.last_ns = Some(last_ns.max(now_ns));
        self.tc = (u128::from(c.cbs) * NANO).min(self.tc + u128::from(c.cir) * elapsed_ns);
        self.tp = (u128::from(c.pbs) * NANO).min(self.tp + u128::from(c.pir) * elapsed_ns);
        let cost = u128::from(units) * NANO;
        if self.tp < cost {
            return Colour::Red;
        }
        self.tp -= cost;
        if self.tc < cost {
            return Colour::Yellow;
        }
        self.tc -= cost;
        Colour::Green
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CONFIG: MeterConfig = MeterConfig { cir: 1000, cbs: 500, pir: 2000, pbs: 1000 };

    #[test]
    fn a_burst_goes_green_yellow_red() {
        let mut m = MeterCell::new(CONFIG);
        let colours: Vec<Colour> = (0..5).map(|_| m.execute(7, 300)).collect();
        // Committed holds 500: one packet. Peak holds 1000: three packets.
        assert_eq!(colours, [Colour::Green, Colour::Yellow, Colour::Yellow, Colour::Red, Colour::Red]);
    }

    #[test]
    fn buckets_refill_at_their_rates_up_to_their_sizes() {
        let mut m = MeterCell::new(CONFIG);
        assert_eq!(m.execute(0, 500), Colour::Green);
        assert_eq!(m.execute(0, 500), Colour::Yellow);
        // After 100 ms: 100 committed, 200 peak.
        assert_eq!(m.execute(100_000_000, 200), Colour::Yellow);
        assert_eq!(m.execute(100_000_000, 1), Colour::Red);
        // After an hour both are full, not fuller.
        let hour = 3_600_000_000_000;
        assert_eq!(m.execute(hour, 501), Colour::Yellow);
        assert_eq!(m.execute(hour, 499), Colour::Green);
        assert_eq!(m.execute(hour, 1), Colour::Red);
    }

    #[test]
    fn buckets_go_on_in_another_cell() {
        let (mut a, mut b) = (MeterCell::new(CONFIG), MeterCell::new(CONFIG));
        assert_eq!(a.execute(5, 400), Colour::Green);
        let (committed, peak, last_ns) = a.buckets();
        b.set_buckets(committed, peak, last_ns);
        assert_eq!(a, b);
        b.set_buckets(u128::MAX, u128::MAX, 5);
        assert_eq!(b.buckets(), (500 * NANO, 1000 * NANO, 5), "no bucket holds more than its size");
    }

    #[test]
    fn time_never_goes_back_and_nothing_overflows() {
        let mut m = MeterCell::new(CONFIG);
        assert_eq!(m.execute(1_000_000_000, 500), Colour::Green);
        assert_eq!(m.execute(0, 500), Colour::Yellow);
        assert_eq!(m.execute(1_000_000_000, 1), Colour::Red);
        let max = u64::MAX;
        let mut m = MeterCell::new(MeterConfig { cir: max, cbs: max, pir: max, pbs: max });
        assert_eq!(m.execute(0, max), Colour::Green);
        assert_eq!(m.execute(max, max), Colour::Green);
    }
}
