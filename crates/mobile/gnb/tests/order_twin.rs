//! What comes up, and what is counted as missing, as in a twin that walks from COUNT to COUNT; and gaps of half the numbers cost no more than others.

use std::collections::BTreeMap;

use gnb::pdcp::rx::RxDrop;
use gnb::pdcp::{Order, OrderConfig, SnLength};
use proptest::prelude::*;
use rand::Rng;

/// TS 38.323 §5.2.2 with a map, one COUNT after the other.
struct Twin {
    config: OrderConfig,
    kept: BTreeMap<u32, Option<u64>>,
    next: u32,
    deliv: u32,
    reord: u32,
    timer: Option<u64>,
    delivered: u64,
    missing: u64,
    forced: u64,
    expiries: u64,
}

impl Twin {
    fn new(config: OrderConfig) -> Twin {
        let (delivered, missing, forced, expiries) = (0, 0, 0, 0);
        Twin { config, kept: BTreeMap::new(), next: 0, deliv: 0, reord: 0, timer: None, delivered, missing, forced, expiries }
    }

    fn one(&mut self, up: &mut Vec<u32>) -> bool {
        let kept = self.kept.remove(&self.deliv);
        if let Some(Some(_)) = kept {
            self.delivered += 1;
            up.push(self.deliv);
        }
        kept.is_some()
    }

    fn pass_over(&mut self, to: u32, up: &mut Vec<u32>) {
        while self.deliv < to {
            self.missing += u64::from(!self.one(up));
            self.deliv += 1;
        }
        while self.one(up) {
            self.deliv += 1;
        }
    }

    fn bytes(&self) -> u64 {
        self.kept.values().flatten().sum()
    }

    fn take(&mut self, count: u32, bytes: u64, now: u64, up: &mut Vec<u32>) -> Result<(), RxDrop> {
        if count < self.deliv {
            return Err(RxDrop::Late);
        }
        if self.kept.contains_key(&count) {
            return Err(RxDrop::Duplicate);
        }
        let before = self.deliv;
        if count - self.deliv >= self.config.window {
            self.pass_over(count - self.config.window + 1, up);
        }
        while !self.config.out_of_order && count > self.deliv && self.bytes() + bytes > self.config.bytes {
            let first = self.kept.keys().next().copied().filter(|first| *first < count);
            self.pass_over(first.unwrap_or(count), up);
        }
        self.forced += u64::from(self.deliv != before);
        self.next = self.next.max(count + 1);
        if self.config.out_of_order {
            self.delivered += 1;
            up.push(count);
            self.kept.insert(count, None);
        } else {
            self.kept.insert(count, Some(bytes));
        }
        let deliv = self.deliv;
        self.pass_over(deliv, up);
        if self.timer.is_some() && self.deliv >= self.reord {
            self.timer = None;
        }
        self.start(now);
        self.advance(now, up);
        Ok(())
    }

    fn start(&mut self, now: u64) {
        if self.timer.is_none() && self.deliv < self.next {
            self.reord = self.next;
            self.timer = self.config.reordering_ns.map(|ns| now + ns);
        }
    }

    fn advance(&mut self, now: u64, up: &mut Vec<u32>) {
        if self.timer.is_some_and(|timer| timer <= now) {
            self.timer = None;
            self.expiries += 1;
            self.pass_over(self.reord, up);
            self.start(now);
        }
    }
}

#[derive(Default, Debug)]
struct Hits {
    taken: u64,
    refused: u64,
    missing: u64,
    forced: u64,
    expiries: u64,
    begun: u64,
}

fn check(seed: u64, config: OrderConfig, jump: u32, hits: &mut Hits) {
    let mut rng = testkit::rng(seed);
    let (mut order, mut twin) = (Order::new(config).unwrap(), Twin::new(config));
    let (mut seen, mut expected, mut now) = (Vec::new(), Vec::new(), 0);
    for _ in 0..600 {
        now += rng.random_range(0..3);
        match rng.random_range(0..100) {
            0 => {
                order.begin_anew(&mut |count, ()| seen.push(count));
                let next = twin.next;
                twin.timer = None;
                twin.pass_over(next, &mut expected);
                (twin.next, twin.deliv, twin.reord) = (0, 0, 0);
                hits.begun += 1;
            }
            1..20 => {
                order.advance(now, &mut |count, ()| seen.push(count));
                twin.advance(now, &mut expected);
            }
            _ => {
                let far = if rng.random_bool(0.05) { jump } else { 12 };
                let count = (twin.deliv + rng.random_range(0..=far)).saturating_sub(2);
                let bytes = rng.random_range(1..=9000);
                let taken = order.take(count, (), bytes, now, &mut |count, ()| seen.push(count)).map_err(|((), drop)| drop);
                assert_eq!(taken, twin.take(count, bytes, now, &mut expected), "COUNT {count}, seed {seed}");
                (hits.taken, hits.refused) = (hits.taken + u64::from(taken.is_ok()), hits.refused + u64::from(taken.is_err()));
            }
        }
        assert_eq!(seen, expected, "seed {seed}");
        let (state, counters) = (order.state(), order.counters());
        assert_eq!((state.rx_next, state.rx_deliv), (twin.next, twin.deliv), "seed {seed}");
        assert_eq!(order.waiting(), (twin.kept.len(), twin.bytes()), "seed {seed}");
        assert_eq!(
            (counters.delivered, counters.missing, counters.forced, counters.reordering_expiries),
            (twin.delivered, twin.missing, twin.forced, twin.expiries),
            "seed {seed}"
        );
    }
    hits.missing += twin.missing;
    hits.forced += twin.forced;
    hits.expiries += twin.expiries;
}

#[test]
fn what_comes_up_and_what_is_missing_is_as_in_a_twin_that_walks_from_count_to_count() {
    let mut runner =
        proptest::test_runner::TestRunner::new(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() });
    let config = (
        prop_oneof![1..8u32, 8..300u32],
        prop_oneof![Just(9005u64), Just(20_000), Just(1 << 20)],
        proptest::option::of(0..12u64),
        any::<bool>(),
    )
        .prop_map(|(window, bytes, reordering_ns, out_of_order)| OrderConfig {
            sn_length: SnLength::Bits12,
            window,
            bytes,
            reordering_ns,
            out_of_order,
            stop: u32::MAX,
        });
    let hits = std::cell::RefCell::new(Hits::default());
    runner
        .run(&(any::<u64>(), config, 12..900u32), |(seed, config, jump)| {
            check(seed, config, jump, &mut hits.borrow_mut());
            Ok(())
        })
        .unwrap();
    let Hits { taken, refused, missing, forced, expiries, begun } = hits.into_inner();
    assert!(
        [taken, refused, missing, forced, expiries, begun].iter().all(|hits| *hits > 500),
        "{taken} {refused} {missing} {forced} {expiries} {begun}"
    );
}

/// A UE owns its keys, and may send the farthest COUNT that its sequence numbers can name each time: all COUNTs are gone behind 33,000 PDUs of some bytes each. Walked
/// from COUNT to COUNT, that is 2^32 steps for a bearer, in the thread that all UEs share; 64 bearers do so here.
#[test]
fn a_peer_that_always_sends_the_farthest_count_costs_no_more_than_its_pdus() {
    for (window, reordering_ns) in [(1, None), (4096, None), (65_536, None), (131_072, Some(0))] {
        for _ in 0..16 {
            let config =
                OrderConfig { sn_length: SnLength::Bits18, window, bytes: 1 << 20, reordering_ns, out_of_order: false, stop: u32::MAX };
            let (mut order, mut up, mut taken) = (Order::new(config).unwrap(), 0u64, 0u64);
            loop {
                let sn = order.state().rx_deliv.wrapping_add(131_071) & 0x3_ffff;
                let Ok(count) = order.count_of(sn).or_else(|_| order.count_of((sn + 1) & 0x3_ffff)) else { break };
                order.take(count, (), 8, 0, &mut |_, ()| up += 1).unwrap();
                taken += 1;
            }
            let (waiting, counters, state) = (order.waiting().0 as u64, *order.counters(), *order.state());
            assert_eq!((counters.delivered, taken), (up, up + waiting), "window {window}");
            assert_eq!(counters.missing + up, u64::from(state.rx_deliv), "window {window}");
            assert!(taken > 32_000 && state.rx_deliv > u32::MAX - 400_000, "window {window}: {taken} {state:?}");
        }
    }
}
