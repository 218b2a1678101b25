//! A link beside its slow twin, and what must hold for any configuration.

use link::{Config, ConfigError, Dropped, Link, MAX_DELAY_NS};
use proptest::prelude::*;
use rand::{Rng, SeedableRng};

const MS: u64 = 1_000_000;

/// A packet: when it is sent, and its bytes.
type Packet = (u64, usize);

/// What becomes of each packet, computed for each from all before it: when it arrives, or why not.
fn twin(config: &Config, seed: u64, packets: &[Packet]) -> Vec<Result<u64, Dropped>> {
    let mut rng = rand_chacha::ChaCha8Rng::seed_from_u64(seed);
    // When each packet that was taken began to be sent and has left, in units of 1/rate ns, so that all is whole numbers.
    let mut taken: Vec<(u128, usize)> = Vec::new();
    let rate = u128::from(config.rate_bps.unwrap_or(1));
    let mut outcomes: Vec<Result<u64, Dropped>> = Vec::new();
    let mut in_order = 0;
    for (sent, bytes) in packets {
        let draws: [f64; 4] = [rng.random(), rng.random(), rng.random(), rng.random()];
        let here = |outcome: &Result<u64, Dropped>| outcome.is_ok_and(|arrival| arrival > *sent);
        let leaves = |end: u128| u64::try_from(end.div_ceil(rate)).unwrap();
        let waiting: usize = taken.iter().filter(|(end, _)| leaves(*end) > *sent).map(|(_, bytes)| bytes).sum();
        let full = config.rate_bps.is_some() && (waiting + bytes) as u64 > config.queue_bytes;
        if full || outcomes.iter().filter(|outcome| here(outcome)).count() >= config.packets {
            outcomes.push(Err(Dropped::Queue));
            continue;
        }
        let mut left = *sent;
        if config.rate_bps.is_some() {
            let free = taken.last().map_or(0, |(end, _)| if leaves(*end) > *sent { *end } else { 0 });
            let end = free.max(u128::from(*sent) * rate) + *bytes as u128 * 8 * 1_000_000_000;
            taken.push((end, *bytes));
            left = leaves(end);
        }
        if draws[0] < config.loss {
            outcomes.push(Err(Dropped::Lost));
            continue;
        }
        let mut arrival = in_order.max(left + config.delay_ns + (draws[2] * config.jitter_ns as f64) as u64);
        if draws[1] < config.reorder {
            arrival += (draws[3] * config.reorder_ns as f64) as u64;
        } else {
            in_order = arrival;
        }
        outcomes.push(Ok(arrival));
    }
    outcomes
}

/// What a link makes of packets, each with the time at which it came out.
fn run(config: Config, seed: u64, packets: &[Packet]) -> Vec<Result<u64, Dropped>> {
    let mut link = Link::new(config, seed).unwrap();
    let mut outcomes = vec![Ok(0); packets.len()];
    let collect = |link: &mut Link<usize>, until: u64, outcomes: &mut Vec<Result<u64, Dropped>>| {
        while let Some(arrival) = link.next_arrival().filter(|arrival| *arrival <= until) {
            assert!(arrival == 0 || link.receive(arrival - 1).is_none(), "nothing comes early");
            outcomes[link.receive(arrival).unwrap()] = Ok(arrival);
        }
    };
    for (number, (sent, bytes)) in packets.iter().enumerate() {
        collect(&mut link, *sent, &mut outcomes);
        if let Err(dropped) = link.send(number, *bytes, *sent) {
            outcomes[number] = Err(dropped);
        }
        let counters = link.counters();
        assert_eq!(counters.sent, counters.arrived + counters.queue + counters.lost + link.on_the_way() as u64);
    }
    collect(&mut link, u64::MAX, &mut outcomes);
    assert_eq!((link.on_the_way(), link.next_arrival()), (0, None));
    let counters = link.counters();
    assert_eq!(counters.arrived, outcomes.iter().filter(|outcome| outcome.is_ok()).count() as u64);
    outcomes
}

fn config() -> impl Strategy<Value = Config> {
    let share = || prop_oneof![Just(0.0), Just(1.0), 0.0..0.5];
    let time = || prop_oneof![Just(0), 0..20 * MS];
    let rate = prop_oneof![Just(None), (1_000_000..1_000_000_000u64).prop_map(Some)];
    (rate, 1000..100_000u64, share(), time(), time(), share(), time(), prop_oneof![Just(1 << 16), 1..20usize]).prop_map(
        |(rate_bps, queue_bytes, loss, delay_ns, jitter_ns, reorder, reorder_ns, packets)| Config {
            rate_bps,
            queue_bytes,
            loss,
            delay_ns,
            jitter_ns,
            reorder,
            reorder_ns,
            packets,
        },
    )
}

fn packets() -> impl Strategy<Value = Vec<Packet>> {
    proptest::collection::vec((prop_oneof![Just(0), 0..MS], 1..2000usize), 1..200).prop_map(|gaps| {
        let mut now = 0;
        gaps.into_iter()
            .map(|(gap, bytes)| {
                now += gap;
                (now, bytes)
            })
            .collect()
    })
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_link_does_what_its_twin_does(config in config(), seed in any::<u64>(), packets in packets()) {
        prop_assert_eq!(run(config, seed, &packets), twin(&config, seed, &packets));
    }

    #[test]
    fn jitter_alone_changes_no_order(config in config(), seed in any::<u64>(), packets in packets()) {
        let arrivals: Vec<u64> = run(Config { reorder: 0.0, ..config }, seed, &packets).into_iter().filter_map(Result::ok).collect();
        prop_assert!(arrivals.is_sorted());
    }

    #[test]
    fn another_delay_loses_no_other_packet(config in config(), seed in any::<u64>(), packets in packets(), delay_ns in 0..MS) {
        let config = Config { rate_bps: None, packets: 1 << 16, ..config };
        let lost = |config| run(config, seed, &packets).into_iter().map(|outcome| outcome.is_err()).collect::<Vec<_>>();
        prop_assert_eq!(lost(config), lost(Config { delay_ns, jitter_ns: 0, reorder: 0.5, ..config }));
    }
}

#[test]
fn a_saturated_link_carries_its_rate_and_loses_its_share() {
    // 100 Mbit/s, offered twice that for a second: 1250 bytes each 50 us.
    let config = Config { rate_bps: Some(100_000_000), queue_bytes: 50_000, loss: 0.05, delay_ns: 5 * MS, ..Config::default() };
    let packets: Vec<Packet> = (0..20_000).map(|number| (number * 50_000, 1250)).collect();
    let outcomes = run(config, 1, &packets);
    let count = |wanted: &dyn Fn(&Result<u64, Dropped>) -> bool| outcomes.iter().filter(|outcome| wanted(outcome)).count();
    let (queue, lost) = (count(&|o| *o == Err(Dropped::Queue)), count(&|o| *o == Err(Dropped::Lost)));
    // 9,999 have left when the last is offered, and the queue holds 40.
    assert_eq!(packets.len() - queue, 10_039);
    assert!((392..=612).contains(&lost), "5 % of 10,039, within five standard deviations: {lost}");
    let late = outcomes.iter().flatten().max().unwrap();
    assert!((1000 * MS..=1009 * MS + MS).contains(late), "the queue is 4 ms, the delay 5 ms: {late}");
}

#[test]
fn packets_that_are_picked_are_overtaken() {
    let config = Config { delay_ns: MS, reorder: 0.2, reorder_ns: 10 * MS, ..Config::default() };
    let packets: Vec<Packet> = (0..1000).map(|number| (number * MS, 100)).collect();
    let arrivals: Vec<u64> = run(config, 3, &packets).into_iter().map(Result::unwrap).collect();
    let overtaken = arrivals.iter().enumerate().filter(|(at, arrival)| arrivals[at + 1..].iter().any(|later| later < arrival)).count();
    assert!((120..=200).contains(&overtaken), "most of 200 are late by more than a packet's 1 ms: {overtaken}");
}

#[test]
fn a_delay_that_changes_lets_nothing_be_overtaken() {
    let mut link = Link::new(Config { delay_ns: 10 * MS, ..Config::default() }, 0).unwrap();
    link.send('a', 100, 0).unwrap();
    link.set_delay(MS).unwrap();
    link.send('b', 100, 2 * MS).unwrap();
    link.send('c', 100, 20 * MS).unwrap();
    assert_eq!(link.set_delay(MAX_DELAY_NS + 1), Err(ConfigError::Delay("delay_ns")));
    link.send('d', 100, 22 * MS).unwrap();
    let arrivals: Vec<_> = std::iter::from_fn(|| {
        let at = link.next_arrival()?;
        link.receive(at).map(|packet| (packet, at / MS))
    })
    .collect();
    assert_eq!(arrivals, [('a', 10), ('b', 10), ('c', 21), ('d', 23)]);
}

#[test]
fn a_configuration_that_makes_no_sense_is_refused_by_name() {
    let refused = |config: Config, error: &str| {
        let why: Result<(), ConfigError> = config.check();
        assert_eq!(why.unwrap_err().to_string(), error);
        assert!(Link::<()>::new(config, 0).is_err());
    };
    let good = Config::default();
    refused(Config { rate_bps: Some(0), ..good }, "rate_bps: expected 1 or more; leave it out for no limit");
    refused(Config { loss: 1.1, ..good }, "loss: expected 0 to 1");
    refused(Config { loss: f64::NAN, ..good }, "loss: expected 0 to 1");
    refused(Config { reorder: -0.1, ..good }, "reorder: expected 0 to 1");
    refused(Config { delay_ns: MAX_DELAY_NS + 1, ..good }, "delay_ns: expected at most 60 s");
    refused(Config { jitter_ns: MAX_DELAY_NS + 1, ..good }, "jitter_ns: expected at most 60 s");
    refused(Config { reorder_ns: MAX_DELAY_NS + 1, ..good }, "reorder_ns: expected at most 60 s");
    refused(Config { packets: 0, ..good }, "packets: expected 1 or more");
}
