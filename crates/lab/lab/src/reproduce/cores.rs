//! How does a rate grow with cores? Measured on one and on two, each core's share by its own time; modelled beyond.

use super::outcome::How;
use cli::failure::Failure;

/// What parts have in common that share nothing, with more cores than two.
pub(super) const RULE: &str = "more than two cores are modelled: each doubling multiplies the rate as the first one did here, from one core to two, and by two at most";

/// Rates of one core and of two.
#[derive(Clone, Copy, Debug)]
pub(super) struct Growth {
    /// On one core.
    pub(super) one: f64,
    /// On two: the sum of both.
    pub(super) two: f64,
}

impl Growth {
    /// Measures `rate` once alone, and twice at the same time.
    pub(super) fn measure(rate: impl Fn() -> Result<f64, Failure> + Sync) -> Result<Growth, Failure> {
        let one = rate()?;
        let both = std::thread::scope(|scope| {
            let other = scope.spawn(&rate);
            let ours = rate();
            let others = other.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
            Ok::<_, Failure>(ours? + others?)
        })?;
        Ok(Growth { one, two: both })
    }

    /// What two cores do of what they would if each did as much as one alone.
    pub(super) fn factor(&self) -> f64 {
        self.two / (2.0 * self.one)
    }

    /// The rate on so many cores, a power of two, and how it came about.
    pub(super) fn on(&self, cores: u32) -> (f64, How) {
        match cores {
            1 => (self.one, How::Measured),
            2 => (self.two, How::Measured),
            _ => (self.one * (self.two / self.one).min(2.0).powi(cores.ilog2() as i32), How::Modelled),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_doubling_does_as_the_first_one() {
        let growth = Growth { one: 4.0, two: 6.0 };
        assert_eq!((growth.on(1), growth.on(2), growth.on(8)), ((4.0, How::Measured), (6.0, How::Measured), (13.5, How::Modelled)));
        assert_eq!(growth.factor(), 0.75);
        assert_eq!(Growth { one: 4.0, two: 9.0 }.on(4), (16.0, How::Modelled), "parts that share nothing gain nothing either");
        let counted = Growth::measure(|| Ok(2.0)).unwrap();
        assert_eq!((counted.one, counted.two), (2.0, 4.0));
        assert!(Growth::measure(|| Err(Failure::Failed("no".into()))).is_err());
    }
}
