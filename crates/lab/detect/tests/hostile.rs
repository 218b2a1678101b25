//! Do detectors stand any time and any length, and are they right again when the clock is?

use detect::polled::{Polled, Source};
use detect::{DecayedTwoWay, Detector, IpgHardware, IpgSimulator, PUBLISHED_THRESHOLD};
use proptest::prelude::*;
use rand::SeedableRng;
use rand_chacha::ChaCha8Rng;

fn detectors(memory: usize) -> Vec<(&'static str, Box<dyn Detector>)> {
    vec![
        ("hardware form", Box::new(IpgHardware::new(memory, PUBLISHED_THRESHOLD))),
        ("simulator form", Box::new(IpgSimulator::new(memory, PUBLISHED_THRESHOLD))),
        ("two ways", Box::new(DecayedTwoWay::new(memory, PUBLISHED_THRESHOLD, ChaCha8Rng::seed_from_u64(1)))),
        ("cells", Box::new(Polled::new(Source::Cells, PUBLISHED_THRESHOLD, 100_000_000))),
        ("counters", Box::new(Polled::new(Source::Counters, PUBLISHED_THRESHOLD, 500_000_000))),
    ]
}

/// Times that break things: about the ends of clocks of all widths, and anything.
fn time() -> impl Strategy<Value = u64> {
    prop_oneof![
        any::<u64>(),
        (0u32..64, -3i64..3).prop_map(|(bit, by)| (1u64 << bit).wrapping_add_signed(by)),
        (0u32..44, -3i64..3).prop_map(|(bit, by)| ((1u64 << bit).wrapping_add_signed(by)).wrapping_mul(1000)),
        0u64..10_000_000_000,
    ]
}

proptest! {
    /// Then, 100 days and an hour later, a flow of 40 Mbit/s sends for three seconds.
    #[test]
    fn any_clock_is_survived_and_forgotten(
        packets in prop::collection::vec((0u64..40, any::<u32>(), time()), 0..200),
        memory in prop_oneof![Just(0usize), 1usize..100, Just(20_736)],
    ) {
        for (name, mut detector) in detectors(memory) {
            for (key, bytes, now_ns) in &packets {
                if let Some(report) = detector.packet(*key, *bytes, *now_ns)
                    && !["cells", "counters"].contains(&name)
                {
                    prop_assert_eq!((report.key, report.at_ns), (*key, *now_ns));
                }
            }
            // The polled ones wait for the time of their next reading, which they have seen in the packets.
            if ["cells", "counters"].contains(&name) {
                continue;
            }
            let start = 8_643_600_000_000_000;
            let found = (0..15_000u64).any(|n| detector.packet(77, 1000, start + n * 200_000).is_some_and(|report| report.key == 77));
            prop_assert!(found, "{} does not find it", name);
        }
    }
}

/// Two workers' clocks differ by a burst: what meets a cell across an epoch's end must not forget it.
#[test]
fn clocks_that_differ_a_little_cost_nothing() {
    let mut detector = DecayedTwoWay::new(20_736, PUBLISHED_THRESHOLD, ChaCha8Rng::seed_from_u64(1));
    let mut reports = Vec::new();
    // 8 Mbit/s by two workers, the second one 50 us behind.
    for n in 0..5_000u64 {
        let now_ns = 1_000_000_000 + n * 1_000_000;
        reports.extend(detector.packet(5, 500, now_ns));
        reports.extend(detector.packet(5, 500, now_ns - 50_000));
    }
    assert_eq!(reports.len(), 1, "{reports:?}");
}
