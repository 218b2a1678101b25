//! Does a trial count, time and name what the device did, and does the search find the rate that the device has? The device is a model with
//! a clock of its own: no figure depends on this machine.

mod device;

use device::{Faults, around, with_arp};
use load::outcome::Trial;
use load::plan::Sizes;
use load::rfc2544::{Bound, Search, throughput};
use load::tester::Settings;

/// 20 ms at 300,000 packets a second, one up for two down.
const SETTINGS: Settings =
    Settings { sizes: Sizes::Fixed(64), ratio: [1.0, 2.0], rate: Some(300_000.0), seconds: 0.02, mirror: 0, drain_ns: 3_000_000 };

#[test]
fn a_trial_sends_what_is_due_and_times_it_one_way_and_there_and_back() {
    for qfi in [None, Some(9)] {
        let (mut tester, _world) = around(7, qfi, 1e9, 50_000);
        let trial = tester.trial(&Settings { mirror: 10, ..SETTINGS }).unwrap();
        let [up, down] = &trial.flows[..] else { panic!("{trial}") };
        assert_eq!((up.sent, up.received, down.sent, down.received), (2000, 2000, 4000, 4000));
        assert!((trial.loss(), trial.misdelivered(), trial.is_limited(), trial.foreign) == (0.0, 0, false, 0), "{trial}");
        for flow in [up, down] {
            let (latency, replies) = (flow.latency.as_ref().unwrap(), flow.replies.as_ref().unwrap());
            // 50 us, and what a round of polls takes.
            assert!((50.0..75.0).contains(&latency.p50_us) && latency.packets == flow.sent, "{trial}");
            assert_eq!((replies.sent, replies.received, replies.not_sent), (flow.sent / 10, flow.sent / 10, 0));
            let rtt = replies.rtt.as_ref().unwrap();
            assert!((100.0..150.0).contains(&rtt.p50_us) && rtt.packets == flow.sent / 10, "{trial}");
        }
        // 60 bytes of IP and Ethernet with 4 of check sequence.
        assert!((up.received_mbps - 100_000.0 * 64.0 * 8.0 / 1e6).abs() < 1.0, "{trial}");
        // The same tester again: nothing is left of the first trial.
        let trial = tester.trial(&Settings { sizes: Sizes::Imix, ..SETTINGS }).unwrap();
        assert_eq!((trial.sent(), trial.loss(), trial.flows[0].replies.is_none()), (6000, 0.0, true));
    }
}

#[test]
fn each_fault_of_a_device_has_a_name() {
    let with = |faults: Faults| -> Trial {
        let (mut tester, world) = around(7, None, 1e9, 20_000);
        world.lock().unwrap().faults = faults;
        tester.trial(&SETTINGS).unwrap()
    };
    let sum = |trial: &Trial, of: fn(&load::outcome::Flow) -> u64| trial.flows.iter().map(of).sum::<u64>();
    let trial = with(Faults { drop: 100, ..Faults::default() });
    assert_eq!((sum(&trial, |f| f.lost), sum(&trial, |f| f.received)), (60, 5940));
    assert!((trial.loss() - 0.01).abs() < 1e-9);
    let trial = with(Faults { duplicate: 100, ..Faults::default() });
    assert_eq!((sum(&trial, |f| f.duplicates), trial.loss()), (60, 0.0), "a copy makes up for no loss");
    let trial = with(Faults { drop: 100, duplicate: 150, ..Faults::default() });
    assert_eq!(sum(&trial, |f| f.lost), 60);
    let trial = with(Faults { swap: 100, ..Faults::default() });
    let reordered = sum(&trial, |f| f.reordered);
    // One that waits for a packet of the other direction is not late in its own.
    assert!((10..=60).contains(&reordered) && sum(&trial, |f| f.lost) <= 1, "{trial}");
    let trial = with(Faults { misdeliver: 99, ..Faults::default() });
    let astray = trial.misdelivered();
    assert!(astray >= 20 && astray == sum(&trial, |f| f.lost), "in another session's tunnel: {trial}");
}

#[test]
fn a_device_with_no_way_up_is_told_from_one_that_answers_nothing() {
    let (mut tester, world) = around(7, None, 1e9, 20_000);
    tester.prepare(&SETTINGS).unwrap();
    // Most of the time nothing happens.
    let patient = |world: &device::World| world.look_ns.store(100_000, std::sync::atomic::Ordering::Relaxed);
    patient(&world.lock().unwrap());
    world.lock().unwrap().faults.drop = 1;
    let error = tester.prepare(&SETTINGS).unwrap_err().to_string();
    assert!(error.starts_with("no packet came through up"), "{error}");
    let (mut tester, world) = with_arp(3);
    patient(&world.lock().unwrap());
    world.lock().unwrap().deaf = true;
    let error = tester.prepare(&SETTINGS).unwrap_err().to_string();
    assert!(error.starts_with("10.3.0.1 does not answer ARP"), "{error}");
}

#[test]
fn neighbours_are_asked_and_answered_and_a_path_is_kept_alive() {
    let (mut tester, world) = with_arp(3);
    tester.prepare(&SETTINGS).unwrap();
    let trial = tester.trial(&SETTINGS).unwrap();
    assert_eq!((trial.sent(), trial.loss()), (6000, 0.0), "{trial}");
    assert_eq!(world.lock().unwrap().echoes, [77]);
}

#[test]
fn the_search_finds_the_rate_of_a_device() {
    for capacity in [40_000.0, 250_000.0] {
        let (mut tester, _world) = around(7, None, capacity, 20_000);
        let search = Search { max_pps: Some(600_000.0), resolution: 0.01, loss: 0.0 };
        // Long enough that the 256 packets that the device holds beyond do not count.
        let mut trial = |rate: Option<f64>| tester.trial(&Settings { rate, seconds: 0.2, ..SETTINGS });
        let mut found = throughput(&search, 64.0, &mut trial).unwrap();
        found.add_latencies(&[50, 100], |rate| trial(Some(rate))).unwrap();
        let high = capacity + 256.0 / 0.2 + 1.0;
        assert_eq!(found.bound, Bound::Device);
        assert!(found.pps <= high && found.pps > capacity - 6_000.0, "{} of {capacity}", found.pps);
        assert!(found.trials.len() < 10 && found.trials.iter().any(|[_, loss]| *loss > 0.0), "{:?}", found.trials);
        let loads: Vec<(u32, f64)> = found.latencies.iter().map(|at| (at.load_percent, at.trial.loss())).collect();
        assert_eq!(loads, [(50, 0.0), (100, 0.0)]);
    }
}

#[test]
fn a_search_says_when_it_was_not_the_device_that_ended_it() {
    let (mut tester, _world) = around(7, None, 1e9, 20_000);
    let mut trial = |rate: Option<f64>| tester.trial(&Settings { rate, ..SETTINGS });
    let search = Search { max_pps: Some(100_000.0), resolution: 0.01, loss: 0.0 };
    let found = throughput(&search, 64.0, &mut trial).unwrap();
    assert_eq!((found.bound, found.trials.len()), (Bound::Asked, 1));
    let found = throughput(&Search { max_pps: None, ..search }, 64.0, &mut trial).unwrap();
    assert_eq!((found.bound, found.trials.len()), (Bound::Tester, 1));
    // More than it can send.
    let found = throughput(&Search { max_pps: Some(1e9), ..search }, 64.0, &mut trial).unwrap();
    assert_eq!((found.bound, found.trials.len()), (Bound::Tester, 1));
}

#[test]
fn a_frame_that_does_not_fit_a_port_is_refused_by_name() {
    let (mut tester, _world) = around(7, Some(9), 1e9, 0);
    let error = tester.trial(&Settings { sizes: Sizes::Fixed(1600), ..SETTINGS }).unwrap_err().to_string();
    assert!(error.starts_with("access (test): frames of 1640 bytes, at most 1600 fit"), "{error}");
    for (wrong, name) in [
        (Settings { ratio: [0.0, 0.0], ..SETTINGS }, "ratio"),
        (Settings { seconds: f64::NAN, ..SETTINGS }, "seconds"),
        (Settings { rate: Some(0.5), ..SETTINGS }, "rate"),
    ] {
        assert!(tester.trial(&wrong).unwrap_err().to_string().contains(name));
    }
}

#[test]
fn one_direction_alone_is_a_trial_too() {
    let (mut tester, _world) = around(7, None, 1e9, 20_000);
    let trial = tester.trial(&Settings { ratio: [0.0, 1.0], ..SETTINGS }).unwrap();
    assert_eq!((trial.flows.len(), trial.flows[0].direction, trial.sent(), trial.loss()), (1, load::Direction::Down, 6000, 0.0));
}
