//! Does the shaper do what a simple one does, which looks at every queue at every moment?

use rand::Rng;
use shaper::codel::{Codel, Law};
use shaper::wheel::TICK_NS;
use shaper::{Fate, Limits, Node, Offered, Rates, Reason, Shaper, Take, Tree};
use std::collections::VecDeque;

const LIMITS: Limits = Limits { nodes: 40, packets: 300, delay_ns: 30_000_000, law: Law { target_ns: 2_000_000, interval_ns: 20_000_000 } };

/// Rates of which some leaves' packets may wait for less than others.
struct Delayed(Tree);

impl Rates for Delayed {
    fn take(&mut self, leaf: u32, size: u32, now_ns: u64) -> Take {
        self.0.take(leaf, size, now_ns)
    }

    fn give_back(&mut self, leaf: u32, size: u32, guaranteed: bool) {
        self.0.give_back(leaf, size, guaranteed);
    }

    fn when_ns(&self, leaf: u32, size: u32, now_ns: u64) -> u64 {
        self.0.when_ns(leaf, size, now_ns)
    }

    fn rate(&self, leaf: u32) -> u64 {
        self.0.rate(leaf)
    }

    fn delay_ns(&self, leaf: u32) -> u64 {
        // Less, more, and as all.
        [4_000_000, 90_000_000, u64::MAX][leaf as usize % 3]
    }
}

#[derive(Default)]
struct Queue {
    packets: VecDeque<(u64, u32, bool, u64)>,
    codel: Codel,
    limit_bytes: u64,
}

/// Queues without wheel, rings or linked lists. For leaves that share no node.
#[derive(Default)]
struct Slow {
    queues: Vec<Queue>,
}

impl Slow {
    fn offer(&mut self, leaf: u32, packet: u64, size: u32, marks: bool, now_ns: u64, rates: &Delayed) -> Option<Reason> {
        if self.queues.iter().map(|q| q.packets.len()).sum::<usize>() >= LIMITS.packets as usize {
            return Some(Reason::Full);
        }
        let queue = &mut self.queues[leaf as usize];
        if queue.packets.is_empty() {
            queue.codel = Codel::default();
            queue.limit_bytes = rates.rate(leaf) * LIMITS.delay_ns.min(rates.delay_ns(leaf)) / 1_000_000_000;
        }
        let bytes: u64 = queue.packets.iter().map(|p| u64::from(p.1)).sum();
        if queue.packets.len() >= 4 && bytes + u64::from(size) > queue.limit_bytes {
            return Some(Reason::QueueFull);
        }
        queue.packets.push_back((packet, size, marks, now_ns));
        None
    }

    fn poll(&mut self, now_ns: u64, rates: &mut Delayed, out: &mut Vec<Fate<u64>>) {
        for (leaf, queue) in self.queues.iter_mut().enumerate() {
            let leaf = leaf as u32;
            let waited = !queue.packets.is_empty();
            while let Some((packet, size, marks, at_ns)) = queue.packets.front().copied() {
                let waited_ns = now_ns - at_ns;
                let bytes: u64 = queue.packets.iter().map(|p| u64::from(p.1)).sum();
                let drop = |reason| Fate::Dropped { leaf, packet, reason };
                if waited_ns > LIMITS.delay_ns.min(rates.delay_ns(leaf)) {
                    out.push(drop(Reason::Late));
                } else {
                    match rates.take(leaf, size, now_ns) {
                        Take::At { .. } => break,
                        Take::Never => out.push(drop(Reason::NoRate)),
                        Take::Now { guaranteed } => {
                            let chosen = queue.codel.leaves(&LIMITS.law, now_ns, waited_ns, bytes, u64::from(size));
                            if chosen && !marks {
                                rates.give_back(leaf, size, guaranteed);
                                out.push(drop(Reason::Codel));
                            } else {
                                out.push(Fate::Sent { leaf, packet, mark: chosen });
                            }
                        }
                    }
                }
                queue.packets.pop_front();
            }
            if waited && queue.packets.is_empty() {
                out.push(Fate::Idle { leaf });
            }
        }
    }
}

fn rates() -> Delayed {
    let mut tree = Tree::default();
    for leaf in 0..LIMITS.nodes {
        let rate = if leaf == 7 { 0 } else { 20_000 << (leaf % 10) };
        let guaranteed = if leaf % 3 == 0 { rate / 2 } else { 0 };
        tree.add(Node { parent: None, rate, burst: 3000, guaranteed, weight: 1 }, 0).unwrap();
    }
    Delayed(tree)
}

fn of_leaf(fates: &[Fate<u64>], leaf: u32) -> Vec<&Fate<u64>> {
    let is =
        |f: &&Fate<u64>| matches!(f, Fate::Sent { leaf: l, .. } | Fate::Dropped { leaf: l, .. } | Fate::Idle { leaf: l } if *l == leaf);
    fates.iter().filter(is).collect()
}

#[test]
fn every_packet_of_each_leaf_has_the_fate_that_the_simple_shaper_gives_it() {
    let mut rng = testkit::rng(3);
    let (mut fast, mut slow) = (Shaper::new(LIMITS), Slow { queues: (0..LIMITS.nodes).map(|_| Queue::default()).collect() });
    let (mut fast_rates, mut slow_rates) = (rates(), rates());
    let (mut now, mut packet) = (0, 0u64);
    let mut seen = [0u64; 8];
    for round in 0..60_000 {
        // At ticks, where the wheel looks.
        now += TICK_NS * rng.random_range(1..if round % 1000 == 999 { 5000 } else { 30 });
        let (mut of_fast, mut of_slow) = (Vec::new(), Vec::new());
        fast.poll(now, &mut fast_rates, usize::MAX, &mut |f| of_fast.push(f));
        slow.poll(now, &mut slow_rates, &mut of_slow);
        for leaf in 0..LIMITS.nodes {
            assert_eq!(of_leaf(&of_fast, leaf), of_leaf(&of_slow, leaf), "leaf {leaf} at {now}");
        }
        for fate in &of_fast {
            seen[match fate {
                Fate::Sent { mark: false, .. } => 0,
                Fate::Sent { mark: true, .. } => 1,
                Fate::Idle { .. } => 2,
                Fate::Dropped { reason: Reason::Codel, .. } => 3,
                Fate::Dropped { reason: Reason::Late, .. } => 4,
                Fate::Dropped { .. } => 5,
            }] += 1;
        }
        // Now and then all at once, so that all queues together are full.
        let many = if round % 500 < 20 { 60 } else { rng.random_range(0..6) };
        for _ in 0..many {
            let (leaf, size, marks) = (rng.random_range(0..LIMITS.nodes), rng.random_range(40..1500), rng.random_bool(0.3));
            packet += 1;
            let ours = match fast.offer(leaf, packet, size, marks, now, &mut fast_rates, &mut |_| ()) {
                Offered::Waits => None,
                Offered::Dropped(back, reason) => {
                    assert_eq!(back, packet);
                    Some(reason)
                }
            };
            assert_eq!(ours, slow.offer(leaf, packet, size, marks, now, &slow_rates), "packet {packet} of leaf {leaf}");
            seen[6] += u64::from(ours == Some(Reason::Full));
            seen[7] += u64::from(ours == Some(Reason::QueueFull));
        }
        assert_eq!(fast.len(), slow.queues.iter().map(|q| q.packets.len()).sum::<usize>());
        assert!((0..LIMITS.nodes).all(|leaf| fast.waits(leaf) != slow.queues[leaf as usize].packets.is_empty()));
        if round % 20_000 == 19_999 {
            let mut ended = Vec::new();
            fast.end(&mut |f| ended.push(f));
            let waited: usize = slow.queues.iter_mut().map(|q| std::mem::take(&mut q.packets).len()).sum();
            assert_eq!(ended.len(), waited);
            assert!(ended.iter().all(|f| matches!(f, Fate::Dropped { reason: Reason::Ended, .. })) && fast.is_empty());
        }
    }
    assert!(seen.iter().all(|n| *n > 20), "each kind of fate must come: {seen:?}");
    let counted = fast.counters();
    assert_eq!((counted.sent, counted.marked), (seen[0] + seen[1], seen[1]));
    assert_eq!(counted.queued, counted.sent + counted.dropped.iter().sum::<u64>() - seen[6] - seen[7]);
}
