//! Which rates follow from counters that are read now and then?
//!
//! A session that is charged has a counter of its own, and two readings of it are a rate that costs the data plane nothing. It is the
//! exact average between the readings: what comes in trains or stops halfway is seen as if it had been spread.

use std::collections::HashMap;

/// The last readings.
#[derive(Clone, Debug, Default)]
pub struct CounterRates {
    last: HashMap<u64, (u64, u64)>,
}

impl CounterRates {
    /// A reading: the bytes that a session's counter has counted so far. Its rate since the last reading, in bytes a second; none
    /// with the first one, when time has not gone on, or when the counter has been cleared meanwhile.
    pub fn read(&mut self, session: u64, bytes: u64, now_ns: u64) -> Option<u64> {
        let (before, then) = self.last.insert(session, (bytes, now_ns))?;
        let passed = now_ns.checked_sub(then).filter(|passed| *passed > 0)?;
        let counted = bytes.checked_sub(before)?;
        Some(u64::try_from(u128::from(counted) * 1_000_000_000 / u128::from(passed)).unwrap_or(u64::MAX))
    }

    /// The session has ended: another one may have its number.
    pub fn forget(&mut self, session: u64) {
        self.last.remove(&session);
    }

    /// Sessions that have been read.
    pub fn sessions(&self) -> usize {
        self.last.len()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rate_is_bytes_by_time() {
        let mut rates = CounterRates::default();
        assert_eq!(rates.read(1, 5000, 0), None);
        assert_eq!(rates.read(1, 6000, 500_000_000), Some(2000));
        assert_eq!(rates.read(1, 6000, 700_000_000), Some(0));
        assert_eq!(rates.read(2, 9, 700_000_000), None, "each session for itself");
        assert_eq!(rates.read(1, u64::MAX, 700_000_001), Some(u64::MAX));
        rates.forget(2);
        assert_eq!(rates.read(2, 10, 800_000_000), None);
        assert_eq!(rates.sessions(), 2);
    }

    #[test]
    fn clocks_and_counters_that_go_back_begin_anew() {
        let mut rates = CounterRates::default();
        rates.read(1, 5000, 1_000);
        assert_eq!(rates.read(1, 6000, 1_000), None);
        assert_eq!(rates.read(1, 7000, 500), None);
        assert_eq!(rates.read(1, 100, 1_000_000), None);
        assert_eq!(rates.read(1, 200, 1_001_000_000), Some(100));
    }
}
