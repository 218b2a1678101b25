//! The meter against RFC 2698 computed in fractions, and against worked examples.

use proptest::prelude::*;
use proptest::test_runner::{Config, TestRunner};
use std::cell::RefCell;
use table::{Colour, Meter};

const SECOND: u64 = 1_000_000_000;

/// RFC 2698 §3 with buckets in 10^-9 units, so that a nanosecond at a rate of 1 is a whole number.
struct Slow {
    cir: u128,
    cbs: u128,
    pir: u128,
    pbs: u128,
    tc: u128,
    tp: u128,
    time: u128,
}

impl Slow {
    fn new([cir, cbs, pir, pbs]: [u64; 4], now: u64) -> Slow {
        let nano = |units: u64| u128::from(units) * u128::from(SECOND);
        Slow { cir: cir.into(), cbs: nano(cbs), pir: pir.into(), pbs: nano(pbs), tc: nano(cbs), tp: nano(pbs), time: now.into() }
    }

    fn execute(&mut self, now: u64, units: u64) -> Colour {
        let now = u128::from(now).max(self.time);
        let elapsed = now - self.time;
        self.time = now;
        self.tc = self.tc.saturating_add(self.cir * elapsed).min(self.cbs);
        self.tp = self.tp.saturating_add(self.pir * elapsed).min(self.pbs);
        let cost = u128::from(units) * u128::from(SECOND);
        if self.tp < cost {
            Colour::Red
        } else if self.tc < cost {
            self.tp -= cost;
            Colour::Yellow
        } else {
            self.tp -= cost;
            self.tc -= cost;
            Colour::Green
        }
    }
}

/// Ordinary and extreme numbers.
fn number() -> impl Strategy<Value = u64> {
    prop_oneof![0u64..4, 500u64..5_000, 100_000u64..20_000_000, Just(u64::MAX), Just(u64::MAX - 1), any::<u64>()]
}

#[test]
fn agrees_with_the_slow_twin() {
    let config = prop_oneof![
        // Rates and bursts in proportion to the packets, so that all colours come.
        4 => (100_000u64..20_000_000, 1_000u64..10_000, 1u64..4, 1u64..4).prop_map(|(cir, cbs, p, b)| [cir, cbs, cir * p, cbs * b]),
        1 => [number(), number(), number(), number()],
        // A few packets a second, where fractions of a unit decide.
        1 => [1u64..50_000, 1u64..4_000, 1u64..100_000, 1u64..8_000],
    ];
    let gap = prop_oneof![4 => 0i64..2_000_000, 1 => -5_000_000i64..0, 1 => 0i64..(20 * SECOND as i64), 1 => any::<i64>()];
    let units = prop_oneof![6 => 40u64..3_000, 1 => number()];
    let packets = proptest::collection::vec((gap, units), 1..200);
    let colours = RefCell::new([0u64; 3]);
    let mut runner = TestRunner::new(Config { cases: 500, failure_persistence: None, ..Config::default() });
    runner
        .run(&(config, any::<u32>(), packets), |(config, start, packets)| {
            let mut now = u64::from(start);
            let [cir, cbs, pir, pbs] = config;
            let (mut fast, mut slow) = (Meter::new(cir, cbs, pir, pbs, now), Slow::new(config, now));
            for (gap, units) in packets {
                now = now.saturating_add_signed(gap);
                let colour = fast.execute(now, units);
                prop_assert_eq!(colour, slow.execute(now, units));
                colours.borrow_mut()[colour as usize] += 1;
            }
            Ok(())
        })
        .unwrap_or_else(|failure| panic!("{failure}"));
    assert!(colours.borrow().iter().all(|n| *n > 2_000), "green, yellow, red: {colours:?}");
}

/// 1000 B/s committed with 1500 B, 2000 B/s peak with 3000 B, packets of 1000 B.
#[test]
fn worked_example() {
    let mut meter = Meter::new(1_000, 1_500, 2_000, 3_000, 0);
    let mut at = |ms: u64| meter.execute(ms * 1_000_000, 1_000);
    assert_eq!(at(0), Colour::Green); // Tc 1500 -> 500, Tp 3000 -> 2000
    assert_eq!(at(0), Colour::Yellow); // Tc 500, Tp -> 1000
    assert_eq!(at(0), Colour::Yellow); // Tp -> 0
    assert_eq!(at(0), Colour::Red);
    assert_eq!(at(499), Colour::Red); // Tp 998
    assert_eq!(at(500), Colour::Green); // Tc 1000 -> 0, Tp 1000 -> 0
    assert_eq!(at(400), Colour::Red); // time does not go back
    assert_eq!(at(1_000), Colour::Yellow); // Tc 500, Tp 1000 -> 0: the earlier time did not count twice
    assert_eq!(at(10_000), Colour::Green); // both full
    assert_eq!(at(10_000), Colour::Yellow);
}

/// What flows over a full bucket is lost, the part of a unit too.
#[test]
fn a_full_bucket_keeps_no_fraction() {
    let mut meter = Meter::new(1, 1, 1, 1, 0);
    assert_eq!(meter.execute(0, 1), Colour::Green);
    assert_eq!(meter.execute(SECOND * 3 / 2, 1), Colour::Green);
    assert_eq!(meter.execute(SECOND * 2, 1), Colour::Red);
    assert_eq!(meter.execute(SECOND * 5 / 2, 1), Colour::Green);
}

/// A cell of zeros, as in a new record, lets everything pass.
#[test]
fn an_unset_cell_is_green() {
    let mut meter = Meter::default();
    for now in [0, 5, u64::MAX, 1] {
        assert_eq!(meter.execute(now, u64::MAX), Colour::Green);
    }
    assert_eq!(meter, Meter::default());
}

/// Fractions are not lost: 3 units a second asked for every nanosecond-odd moment still give 3 a second.
#[test]
fn slow_rates_are_exact_over_time() {
    let mut meter = Meter::new(3, 1, 3, 1, 0);
    let mut green = 0;
    let mut now = 0;
    while now < 100 * SECOND {
        green += u64::from(meter.execute(now, 1) == Colour::Green);
        now += 333_333;
    }
    // Each grant waits up to one step for its moment, and the cap drops nothing because asking is frequent.
    assert!((299..=301).contains(&green), "{green} in 100 s at 3 a second");
}
