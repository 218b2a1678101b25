//! Is ours as right as we say, at 81 KiB and the threshold of the published constants? Whole populations, for a second and a half.

use detect::polled::{Polled, Source};
use detect::score::{Score, run};
use detect::workload::{Case, Workload};
use detect::{DecayedTwoWay, Detector, IpgHardware, IpgSimulator, PUBLISHED_THRESHOLD};

/// Ours, the two published forms, and polled cells.
fn scores(case: Case, seed: u64) -> [Score; 4] {
    let memory = 81 * 1024;
    let mut detectors: Vec<Box<dyn Detector>> = vec![
        Box::new(DecayedTwoWay::new(memory, PUBLISHED_THRESHOLD, testkit::rng(seed))),
        Box::new(IpgHardware::new(memory, PUBLISHED_THRESHOLD)),
        Box::new(IpgSimulator::new(memory, PUBLISHED_THRESHOLD)),
        Box::new(Polled::new(Source::Cells, PUBLISHED_THRESHOLD, 100_000_000)),
    ];
    assert!(detectors[..3].iter().all(|detector| (memory / 2..=memory).contains(&detector.memory_bytes())));
    let (reports, truth) = run(Workload::new(&case.config(seed, 1_500_000_000)), PUBLISHED_THRESHOLD, &mut detectors);
    let scores = [0, 1, 2, 3].map(|i| reports[i].score(&truth));
    for (name, score) in ["ours", "hardware form", "simulator form", "cells"].iter().zip(&scores) {
        println!("{case:?}: {name}: F1 {:.3}, {score:?}", score.f1());
    }
    scores
}

#[test]
fn ours_is_right_of_mixed_lengths() {
    let [ours, hardware, simulator, cells] = scores(Case::B, 21);
    assert!(ours.heavy > 150, "{ours:?}");
    assert!(ours.f1() >= 0.95 && cells.f1() >= 0.95, "{ours:?} {cells:?}");
    assert!(hardware.f1() < 0.75 && simulator.f1() < 0.75, "{hardware:?} {simulator:?}");
}

#[test]
fn ours_is_right_of_bursts() {
    let [ours, hardware, simulator, cells] = scores(Case::C, 22);
    assert!(ours.heavy > 50, "{ours:?}");
    assert!(ours.f1() >= 0.90 && cells.f1() >= 0.90, "{ours:?} {cells:?}");
    assert!(hardware.f1() < 0.75 && simulator.f1() < 0.75, "{hardware:?} {simulator:?}");
}

/// What they were made for: as right as they were said to be.
#[test]
fn the_published_forms_are_right_of_packets_of_the_assumed_length() {
    let [ours, hardware, simulator, _] = scores(Case::A, 23);
    assert!(ours.f1() >= 0.95, "{ours:?}");
    assert!(hardware.f1() > 0.7 && simulator.f1() > 0.8, "{hardware:?} {simulator:?}");
    assert!(hardware.precision() > 0.95 && simulator.precision() > 0.95, "{hardware:?} {simulator:?}");
}
