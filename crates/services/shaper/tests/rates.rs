//! What users are promised: rates to the per cent, guarantees, fair shares, order, and no packet without an end.

use rand::Rng;
use shaper::codel::Law;
use shaper::{Fate, Limits, Node, Offered, Rates, Reason, Shaper, Take, Tree};
use std::collections::HashMap;

const MS: u64 = 1_000_000;
const S: u64 = 1000 * MS;

fn limits(nodes: u32) -> Limits {
    Limits { nodes, packets: 1 << 20, delay_ns: 100 * MS, law: Law::default() }
}

fn node(parent: Option<u32>, mbit: u64) -> Node {
    Node { parent, rate: mbit * 125_000, burst: 10_000, guaranteed: 0, weight: 1 }
}

/// Senders that keep their queues filled, and what each got.
struct World {
    tree: Tree,
    shaper: Shaper<(u32, u64)>,
    now: u64,
    sent: HashMap<u32, u64>,
    next: HashMap<u32, u64>,
    out: HashMap<u32, u64>,
}

impl World {
    fn new(tree: Tree, nodes: u32) -> World {
        let (sent, next, out) = Default::default();
        World { tree, shaper: Shaper::new(limits(nodes)), now: 0, sent, next, out }
    }

    fn offer(&mut self, leaf: u32, size: u32) -> bool {
        let number = self.next.entry(leaf).or_default();
        let packet = (size, *number);
        *number += 1;
        if !self.shaper.waits(leaf) && matches!(self.tree.take(leaf, size, self.now), Take::Now { .. }) {
            self.count(leaf, packet);
            return true;
        }
        matches!(self.shaper.offer(leaf, packet, size, true, self.now, &mut self.tree, &mut |_| ()), Offered::Waits)
    }

    fn count(&mut self, leaf: u32, (size, number): (u32, u64)) {
        *self.sent.entry(leaf).or_default() += u64::from(size);
        let last = self.out.insert(leaf, number);
        assert!(last.is_none_or(|last| last < number), "leaf {leaf}: {number} came after {last:?}");
    }

    /// Until then, filling queues of these leaves each 100 us.
    fn run(&mut self, until: u64, greedy: &[u32], size: u32) {
        while self.now < until {
            for leaf in greedy {
                while self.offer(*leaf, size) {}
            }
            self.now += MS / 10;
            self.poll();
        }
    }

    fn poll(&mut self) {
        let mut fates = Vec::new();
        self.shaper.poll(self.now, &mut self.tree, usize::MAX, &mut |f| fates.push(f));
        for fate in fates {
            if let Fate::Sent { leaf, packet, .. } = fate {
                self.count(leaf, packet);
            }
        }
    }
}

#[test]
fn each_of_many_leaves_gets_its_rate_within_one_per_cent_over_each_second() {
    let mut tree = Tree::default();
    let mbit = [5, 20, 100, 500];
    let leaves: Vec<u32> = (0..20).map(|i| tree.add(node(None, mbit[i % 4]), 0).unwrap()).collect();
    let mut world = World::new(tree, 20);
    // The burst at the start is not the rate's.
    world.run(S / 5, &leaves, 1250);
    for second in 1..=3 {
        world.sent.clear();
        let until = world.now + S;
        world.run(until, &leaves, 1250);
        for (i, leaf) in leaves.iter().enumerate() {
            let (got, due) = (world.sent[leaf] as f64, (mbit[i % 4] * 125_000) as f64);
            assert!((got / due - 1.0).abs() < 0.01, "second {second}, {} Mbit/s: {got} bytes of {due}", mbit[i % 4]);
        }
    }
}

#[test]
fn a_shared_node_bounds_its_leaves_together_and_shares_by_weight_and_nothing_is_left_unused() {
    let mut tree = Tree::default();
    let port = tree.add(node(None, 1000), 0).unwrap();
    let slice = tree.add(node(Some(port), 100), 0).unwrap();
    let weighted = |weight| Node { weight, ..node(Some(slice), 80) };
    let leaves: Vec<u32> = [1, 1, 2].into_iter().map(|weight| tree.add(weighted(weight), 0).unwrap()).collect();
    let mut world = World::new(tree, 10);
    world.run(S / 5, &leaves, 1000);
    world.sent.clear();
    let until = world.now + S;
    world.run(until, &leaves, 1000);
    let got: Vec<f64> = leaves.iter().map(|leaf| world.sent[leaf] as f64 / 125_000.0).collect();
    assert!((got.iter().sum::<f64>() - 100.0).abs() < 1.0, "{got:?}");
    assert!(got.iter().zip([25.0, 25.0, 50.0]).all(|(got, due)| (got / due - 1.0).abs() < 0.05), "{got:?}");
    // One stops: the others take its share, up to their own rates.
    world.run(world.now + S / 5, &leaves[1..], 1000);
    world.sent.clear();
    let until = world.now + S;
    world.run(until, &leaves[1..], 1000);
    let got: Vec<f64> = leaves[1..].iter().map(|leaf| world.sent[leaf] as f64 / 125_000.0).collect();
    assert!((got.iter().sum::<f64>() - 100.0).abs() < 1.0 && got[1] > 60.0, "{got:?}");
}

#[test]
fn a_guaranteed_flow_keeps_its_rate_and_a_low_delay_among_two_hundred_greedy_ones() {
    let mut tree = Tree::default();
    // More than it sends between two polls.
    let port = tree.add(Node { burst: 20_000, ..node(None, 1000) }, 0).unwrap();
    let greedy: Vec<u32> = (0..200).map(|_| tree.add(node(Some(port), 400), 0).unwrap()).collect();
    let flow = Node { guaranteed: 50 * 125_000, burst: 100_000, ..node(Some(port), 60) };
    let flow = tree.add(flow, 0).unwrap();
    let mut world = World::new(tree, 300);
    let (mut delays, mut begun, mut offered) = (Vec::new(), HashMap::new(), 0);
    while world.now < 2 * S {
        for leaf in &greedy {
            while world.offer(*leaf, 1500) {}
        }
        let before = world.out.get(&flow).copied();
        // 50 Mbit/s: a packet of 1250 bytes each 200 us.
        if world.now.is_multiple_of(MS / 5) {
            begun.insert(offered, world.now);
            world.offer(flow, 1250);
            offered += 1;
        }
        world.now += MS / 10;
        world.poll();
        if let Some(last) = world.out.get(&flow).copied().filter(|last| Some(*last) != before) {
            delays.extend((before.map_or(0, |n| n + 1)..=last).filter_map(|n| Some(world.now - begun.remove(&n)?)));
        }
    }
    delays.sort_unstable();
    let got = world.sent[&flow] as f64 / (offered * 1250) as f64;
    assert!(got >= 0.98, "{got} of {offered} packets");
    let p99 = delays[delays.len() * 99 / 100];
    assert!(p99 <= 10 * MS, "p99 {p99} ns");
    let all: u64 = world.sent.values().sum();
    let share = all as f64 / (2.0 * 125_000_000.0);
    assert!((0.99..1.01).contains(&share), "the port is used, and no more than it has: {share}");
}

#[test]
fn a_rate_that_is_raised_is_used_at_once_and_one_that_is_lowered_holds_at_once() {
    let mut tree = Tree::default();
    let leaf = tree.add(node(None, 10), 0).unwrap();
    let mut world = World::new(tree, 1);
    for mbit in [10, 200, 1, 50] {
        world.tree.change(leaf, mbit * 125_000, 0, 10_000, world.now).unwrap();
        world.run(world.now + S / 4, &[leaf], 1000);
        world.sent.clear();
        let until = world.now + S;
        world.run(until, &[leaf], 1000);
        let got = world.sent[&leaf] as f64 / (mbit * 125_000) as f64;
        assert!((got - 1.0).abs() < 0.01, "{mbit} Mbit/s: {got}");
    }
}

#[test]
fn packets_of_a_rate_of_zero_are_dropped_and_not_kept() {
    let mut tree = Tree::default();
    let leaf = tree.add(Node { rate: 0, ..node(None, 0) }, 0).unwrap();
    let mut shaper = Shaper::new(limits(1));
    assert_eq!(shaper.offer(leaf, 5, 100, false, 0, &mut tree, &mut |_| ()), Offered::Waits);
    let mut fates = Vec::new();
    shaper.poll(0, &mut tree, 64, &mut |f| fates.push(f));
    assert_eq!(fates, [Fate::Dropped { leaf, packet: 5, reason: Reason::NoRate }, Fate::Idle { leaf }]);
    assert!(matches!(shaper.offer(9, 6, 100, false, 0, &mut tree, &mut |_| ()), Offered::Dropped(6, Reason::Full)), "no such leaf");
}

/// Random trees, sizes, pauses, changes and ends.
#[test]
fn every_packet_that_is_offered_comes_out_once_and_in_the_order_of_its_leaf() {
    let mut rng = testkit::rng(11);
    let (mut sent, mut dropped) = (0, 0);
    for _ in 0..60 {
        let mut tree = Tree::default();
        let nodes = rng.random_range(1..30);
        for n in 0..nodes {
            let parent = (n > 0 && rng.random_bool(0.7)).then(|| rng.random_range(0..n));
            let rate = if rng.random_bool(0.03) { 0 } else { 1 << rng.random_range(3..28) };
            let guaranteed = if rng.random_bool(0.2) { rate / 2 } else { 0 };
            tree.add(Node { parent, rate, burst: rng.random_range(1400..20_000), guaranteed, weight: rng.random_range(0..5) }, 0).unwrap();
        }
        let packets = rng.random_range(1..500);
        let mut shaper = Shaper::new(Limits { packets, ..limits(nodes) });
        let (mut now, mut number) = (0, 0u64);
        let mut waiting: HashMap<u32, std::collections::VecDeque<u64>> = HashMap::new();
        let mut fate = |waiting: &mut HashMap<u32, std::collections::VecDeque<u64>>, fate| match fate {
            Fate::Sent { leaf, packet, .. } => {
                sent += 1;
                assert_eq!(waiting.get_mut(&leaf).and_then(|w| w.pop_front()), Some(packet));
            }
            Fate::Dropped { leaf, packet, .. } => {
                dropped += 1;
                assert_eq!(waiting.get_mut(&leaf).and_then(|w| w.pop_front()), Some(packet));
            }
            Fate::Idle { leaf } => assert!(waiting[&leaf].is_empty()),
        };
        for _ in 0..3000 {
            match rng.random_range(0..100) {
                0..60 => {
                    let leaf = rng.random_range(0..nodes);
                    number += 1;
                    if shaper.offer(leaf, number, rng.random_range(0..2000), rng.random(), now, &mut tree, &mut |_| ()) == Offered::Waits {
                        waiting.entry(leaf).or_default().push_back(number);
                    }
                }
                60..97 => {
                    let most = if rng.random_bool(0.1) { 10 * S } else { MS };
                    now += rng.random_range(0..most);
                    let most = if rng.random_bool(0.3) { rng.random_range(0..5) } else { 1000 };
                    let n = shaper.poll(now, &mut tree, most, &mut |f| fate(&mut waiting, f));
                    assert!(n <= most);
                    assert!(n == most || shaper.next_ns().is_none_or(|at| at > now));
                }
                97..99 => {
                    let n = rng.random_range(0..nodes);
                    tree.change(n, rng.random_range(0..1 << 25), 0, rng.random_range(1400..20_000), now).unwrap();
                }
                _ if rng.random_bool(0.1) => shaper.end(&mut |f| fate(&mut waiting, f)),
                _ => {}
            }
            assert_eq!(shaper.len(), waiting.values().map(|w| w.len()).sum::<usize>());
            assert_eq!(shaper.next_ns().is_none(), shaper.is_empty(), "who waits has a time");
        }
    }
    assert!(sent > 5000 && dropped > 1000, "{sent} {dropped}");
}

#[test]
fn a_tree_refuses_circles_and_bursts_that_pass_nothing() {
    let mut tree = Tree::default();
    assert_eq!(tree.add(node(Some(0), 1), 0), Err(shaper::tree::Fault::Parent));
    assert_eq!(tree.add(Node { burst: 0, ..node(None, 1) }, 0), Err(shaper::tree::Fault::Burst));
    assert_eq!(tree.change(0, 1, 0, 1, 0), Err(shaper::tree::Fault::Unknown));
}
