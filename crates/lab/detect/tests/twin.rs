//! Does ours report just the heavy flows, where flows are clearly heavy or clearly light?

use detect::score::{Reports, run};
use detect::workload::Arrival;
use detect::{DecayedTwoWay, Detector, PUBLISHED_THRESHOLD};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::HashSet;

/// Packets of flows with regular pauses, half the threshold or less, or 1.5 times and more; and of a swarm of flows with a few
/// packets each.
fn packets(rng: &mut impl Rng, flows: u64, swarm: u64) -> Vec<Arrival> {
    let mut packets = Vec::new();
    for flow in 0..flows {
        let times = if rng.random_bool(0.5) { rng.random_range(0.1..0.5) } else { rng.random_range(1.5..6.0) };
        let bytes = rng.random_range(64..1400u32);
        let pause_ns = f64::from(bytes) / (PUBLISHED_THRESHOLD as f64 * times) * 1e9;
        let first: f64 = rng.random_range(0.0..pause_ns);
        let count = ((2.5e9 - first) / pause_ns) as u64;
        packets.extend((0..count).map(|n| Arrival { key: flow, bytes, at_ns: (first + n as f64 * pause_ns) as u64 }));
    }
    packets.extend((0..swarm).map(|n| Arrival { key: 1_000 + n / 3, bytes: 90, at_ns: rng.random_range(0..2_500_000_000) }));
    packets.sort_by_key(|packet| packet.at_ns);
    packets
}

#[test]
fn what_is_clearly_heavy_is_reported_and_nothing_else() {
    let (mut heavy, mut light) = (0, 0);
    for seed in 0..12 {
        let mut rng = testkit::rng(seed);
        let packets = packets(&mut rng, 40, 60_000);
        let numbers = ChaCha8Rng::seed_from_u64(seed);
        let mut detectors: Vec<Box<dyn Detector>> = vec![Box::new(DecayedTwoWay::new(20_736, PUBLISHED_THRESHOLD, numbers))];
        let (reports, truth) = run(packets.into_iter(), PUBLISHED_THRESHOLD, &mut detectors);
        let score = reports[0].score(&truth);
        assert_eq!((score.right, score.reported), (score.heavy, score.heavy), "seed {seed}: {score:?}");
        heavy += score.heavy;
        light += truth.flows() - score.heavy;
    }
    assert!(heavy > 100 && light > 10_000, "{heavy} heavy, {light} light");
}

#[test]
fn the_seeds_decide_the_reports() {
    let report = |seed| {
        let mut rng = ChaCha8Rng::seed_from_u64(3);
        let packets = packets(&mut rng, 400, 100_000);
        let mut detector = DecayedTwoWay::new(2_000, PUBLISHED_THRESHOLD, ChaCha8Rng::seed_from_u64(seed));
        let mut reports = Reports::default();
        let all: Vec<_> = packets.iter().filter_map(|p| detector.packet(p.key, p.bytes, p.at_ns)).collect();
        all.iter().for_each(|r| reports.add(*r));
        let keys: HashSet<u64> = all.iter().map(|r| r.key).collect();
        assert!(keys.len() > 50, "{}", keys.len());
        (all, detector.admissions())
    };
    assert_eq!(report(1), report(1));
    assert_ne!(report(1).1, report(2).1);
}
