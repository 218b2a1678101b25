//! Do flows that share one rate get their shares of it, and does the shaper do with them what a simple one does?

use rand::Rng;
use shaper::codel::{Codel, Law};
use shaper::wheel::TICK_NS;
use shaper::{Fate, Limits, Node, Offered, Rates, Reason, Shaper, Take, Tree};
use std::collections::VecDeque;

const CELLS: u32 = 6;
const FLOWS: u32 = 5;
const LEAVES: u32 = CELLS * FLOWS;
const QUANTUM: i64 = 1514;
const LIMITS: Limits =
    Limits { nodes: LEAVES + CELLS, packets: 250, delay_ns: 30_000_000, law: Law { target_ns: 2_000_000, interval_ns: 20_000_000 } };

/// Cells with flows: leaves first, then the nodes that they share.
struct Shared(Tree);

impl Rates for Shared {
    fn take(&mut self, leaf: u32, size: u32, now_ns: u64) -> Take {
        match self.0.take(leaf / FLOWS, size, now_ns) {
            Take::At { at_ns, .. } => Take::At { node: LEAVES + leaf / FLOWS, at_ns },
            take => take,
        }
    }

    fn give_back(&mut self, leaf: u32, size: u32, guaranteed: bool) {
        self.0.give_back(leaf / FLOWS, size, guaranteed);
    }

    fn when_ns(&self, leaf: u32, size: u32, now_ns: u64) -> u64 {
        self.0.when_ns(leaf / FLOWS, size, now_ns)
    }

    fn rate(&self, leaf: u32) -> u64 {
        self.0.rate(leaf / FLOWS)
    }

    fn shared(&self, leaf: u32) -> u32 {
        LEAVES + leaf / FLOWS
    }
}

fn rates(of: impl Fn(u32) -> u64) -> Shared {
    let mut tree = Tree::default();
    for cell in 0..CELLS {
        tree.add(Node { parent: None, rate: of(cell), burst: 3000, guaranteed: 0, weight: 1 }, 0).unwrap();
    }
    Shared(tree)
}

#[derive(Default)]
struct Flow {
    packets: VecDeque<(u64, u32, bool, u64)>,
    codel: Codel,
    deficit: i64,
}

impl Flow {
    fn bytes(&self) -> u64 {
        self.packets.iter().map(|p| u64::from(p.1)).sum()
    }
}

/// A rate and its flows in lists. It is looked at when it was said that it would let the first packet pass, as the ring's timer is.
#[derive(Default)]
struct Slow {
    flows: Vec<Flow>,
    ring: VecDeque<usize>,
    at_ns: Option<u64>,
    limit_bytes: u64,
}

impl Slow {
    fn new() -> Slow {
        Slow { flows: (0..FLOWS).map(|_| Flow::default()).collect(), ..Slow::default() }
    }

    fn len(&self) -> usize {
        self.flows.iter().map(|flow| flow.packets.len()).sum()
    }

    fn offer(
        &mut self,
        leaf: u32,
        packet: (u64, u32, bool),
        waiting: usize,
        now_ns: u64,
        rates: &Shared,
        out: &mut Vec<Fate<u64>>,
    ) -> Option<Reason> {
        if waiting >= LIMITS.packets as usize {
            return Some(Reason::Full);
        }
        let (number, size, marks) = packet;
        let flow = (leaf % FLOWS) as usize;
        if self.len() == 0 {
            self.limit_bytes = rates.rate(leaf) * LIMITS.delay_ns / 1_000_000_000;
        }
        while self.len() >= 4 && self.flows.iter().map(Flow::bytes).sum::<u64>() + u64::from(size) > self.limit_bytes {
            let mut longest = None;
            for at in self.ring.iter().copied().filter(|at| self.flows[*at].packets.len() > 1) {
                if longest.is_none_or(|of: usize| self.flows[at].bytes() > self.flows[of].bytes()) {
                    longest = Some(at);
                }
            }
            let Some(longest) = longest.filter(|at| *at != flow) else { return Some(Reason::QueueFull) };
            if self.flows[longest].bytes() <= self.flows[flow].bytes() + u64::from(size) {
                return Some(Reason::QueueFull);
            }
            let (packet, ..) = self.flows[longest].packets.pop_front().unwrap();
            out.push(Fate::Dropped { leaf: leaf - leaf % FLOWS + longest as u32, packet, reason: Reason::Longest });
        }
        if self.flows[flow].packets.is_empty() {
            self.flows[flow] = Flow::default();
            self.ring.push_back(flow);
            self.at_ns.get_or_insert_with(|| rates.when_ns(leaf, size, now_ns).min(now_ns + LIMITS.delay_ns + 1));
        }
        self.flows[flow].packets.push_back((number, size, marks, now_ns));
        None
    }

    fn poll(&mut self, cell: u32, now_ns: u64, rates: &mut Shared, out: &mut Vec<Fate<u64>>) {
        if self.at_ns.take_if(|at| *at <= now_ns).is_none() {
            return;
        }
        while let Some(at) = self.ring.front().copied() {
            let (leaf, alone) = (cell * FLOWS + at as u32, self.ring.len() == 1);
            let flow = &mut self.flows[at];
            let bytes = flow.bytes();
            let Some((packet, size, marks, at_ns)) = flow.packets.front().copied() else {
                self.ring.pop_front();
                out.push(Fate::Idle { leaf });
                continue;
            };
            let waited_ns = now_ns - at_ns;
            let mut drop = |reason| out.push(Fate::Dropped { leaf, packet, reason });
            if waited_ns > LIMITS.delay_ns {
                drop(Reason::Late);
            } else if !alone && flow.deficit < i64::from(size) {
                flow.deficit += QUANTUM;
                self.ring.rotate_left(1);
                continue;
            } else {
                match rates.take(leaf, size, now_ns) {
                    Take::Never => drop(Reason::NoRate),
                    Take::At { at_ns: next_ns, .. } => {
                        self.at_ns = Some(next_ns.min(at_ns + LIMITS.delay_ns + 1).max(now_ns + 1));
                        return;
                    }
                    Take::Now { guaranteed } => {
                        let chosen = flow.codel.leaves(&LIMITS.law, now_ns, waited_ns, bytes, u64::from(size));
                        if chosen && !marks {
                            rates.give_back(leaf, size, guaranteed);
                            drop(Reason::Codel);
                        } else {
                            flow.deficit -= if alone { 0 } else { i64::from(size) };
                            out.push(Fate::Sent { leaf, packet, mark: chosen });
                        }
                    }
                }
            }
            flow.packets.pop_front();
        }
    }
}

fn of_cell(fates: &[Fate<u64>], cell: u32) -> Vec<&Fate<u64>> {
    let is =
        |f: &&Fate<u64>| matches!(f, Fate::Sent { leaf, .. } | Fate::Dropped { leaf, .. } | Fate::Idle { leaf } if *leaf / FLOWS == cell);
    fates.iter().filter(is).collect()
}

#[test]
fn every_packet_of_flows_that_share_a_rate_has_the_fate_and_turn_that_the_simple_shaper_gives_it() {
    let mut rng = testkit::rng(29);
    let of = |cell| if cell == 3 { 0 } else { 50_000u64 << (2 * cell) };
    let (mut fast, mut fast_rates) = (Shaper::new(LIMITS), rates(of));
    let (mut slow, mut slow_rates): (Vec<Slow>, Shared) = ((0..CELLS).map(|_| Slow::new()).collect(), rates(of));
    let (mut now, mut number) = (0, 0u64);
    let mut seen = [0u64; 10];
    for round in 0..60_000 {
        // At ticks, where the wheel looks.
        now += TICK_NS * rng.random_range(1..if round % 1000 == 999 { 5000 } else { 30 });
        let mut of_fast = Vec::new();
        fast.poll(now, &mut fast_rates, usize::MAX, &mut |f| of_fast.push(f));
        for (cell, slow) in (0..).zip(&mut slow) {
            let mut of_slow = Vec::new();
            slow.poll(cell, now, &mut slow_rates, &mut of_slow);
            assert_eq!(of_cell(&of_fast, cell), of_slow.iter().collect::<Vec<_>>(), "cell {cell} at {now}");
            let turn = |two: &&[Fate<u64>]| matches!(two, [Fate::Sent { leaf: a, .. }, Fate::Sent { leaf: b, .. }] if a != b);
            seen[9] += of_slow.windows(2).filter(turn).count() as u64;
            for fate in &of_slow {
                seen[match fate {
                    Fate::Sent { mark: false, .. } => 0,
                    Fate::Sent { mark: true, .. } => 1,
                    Fate::Idle { .. } => 2,
                    Fate::Dropped { reason: Reason::Codel, .. } => 3,
                    Fate::Dropped { reason: Reason::Late, .. } => 4,
                    Fate::Dropped { .. } => 5,
                }] += 1;
            }
        }
        // Now and then all at once, so that all queues together are full.
        let many = if round % 500 < 20 { 60 } else { rng.random_range(0..6) };
        for _ in 0..many {
            // Some flows are greedy.
            let leaf = if rng.random_bool(0.5) { rng.random_range(0..CELLS) * FLOWS } else { rng.random_range(0..LEAVES) };
            let packet = (number, rng.random_range(40..1500), rng.random_bool(0.3));
            number += 1;
            let (mut of_fast, mut of_slow) = (Vec::new(), Vec::new());
            let ours = match fast.offer(leaf, packet.0, packet.1, packet.2, now, &mut fast_rates, &mut |f| of_fast.push(f)) {
                Offered::Waits => None,
                Offered::Dropped(back, reason) => {
                    assert_eq!(back, packet.0);
                    Some(reason)
                }
            };
            let waiting = slow.iter().map(Slow::len).sum();
            let theirs = slow[(leaf / FLOWS) as usize].offer(leaf, packet, waiting, now, &slow_rates, &mut of_slow);
            assert_eq!((ours, &of_fast), (theirs, &of_slow), "packet {} of leaf {leaf}", packet.0);
            seen[6] += u64::from(ours == Some(Reason::Full));
            seen[7] += u64::from(ours == Some(Reason::QueueFull));
            seen[8] += of_fast.len() as u64;
        }
        assert_eq!(fast.len(), slow.iter().map(Slow::len).sum::<usize>());
        for (cell, slow) in (0..).zip(&slow) {
            assert_eq!(fast.waits(LEAVES + cell), slow.len() > 0, "cell {cell}");
            assert!((0..FLOWS).all(|flow| fast.waits(cell * FLOWS + flow) != slow.flows[flow as usize].packets.is_empty()));
        }
    }
    assert!(seen.iter().all(|n| *n > 20), "each kind of fate must come: {seen:?}");
}

/// What a flow sends: a packet of `size` bytes every `every_ns`.
struct Sender {
    flow: u32,
    size: u32,
    every_ns: u64,
}

/// Of each sender the bytes that came through, what was lost, and the longest delay in ns, in ten seconds at 10 Mbit/s.
fn ten_seconds(senders: &[Sender]) -> Vec<(u64, u64, u64)> {
    let limits = Limits {
        nodes: LEAVES + CELLS,
        packets: 10_000,
        delay_ns: 20_000_000,
        law: Law { target_ns: 10_000_000, interval_ns: 100_000_000 },
    };
    let mut shaper = Shaper::<(usize, u64, u32)>::new(limits);
    let mut rates = rates(|_| 1_250_000);
    let mut of = vec![(0u64, 0u64, 0u64); senders.len()];
    let mut next: Vec<u64> = senders.iter().map(|sender| sender.every_ns).collect();
    for tick in 0..10_000_000_000 / TICK_NS {
        let now = tick * TICK_NS;
        let mut account = |fate: Fate<(usize, u64, u32)>| match fate {
            Fate::Sent { packet: (at, sent_ns, size), .. } => {
                let (bytes, _, longest) = &mut of[at];
                (*bytes, *longest) = (*bytes + u64::from(size), u64::max(now - sent_ns, *longest));
            }
            Fate::Dropped { packet: (at, ..), .. } => of[at].1 += 1,
            Fate::Idle { .. } => {}
        };
        shaper.poll(now, &mut rates, usize::MAX, &mut account);
        for (at, sender) in senders.iter().enumerate() {
            while next[at] <= now {
                next[at] += sender.every_ns;
                if let Offered::Dropped(packet, reason) =
                    shaper.offer(sender.flow, (at, now, sender.size), sender.size, false, now, &mut rates, &mut account)
                {
                    account(Fate::Dropped { leaf: sender.flow, packet, reason });
                }
            }
        }
    }
    of
}

/// Beside a flow that sends ten times the rate, by flow and all in one queue.
#[test]
fn a_greedy_flow_takes_what_the_others_leave_and_not_more() {
    // 10 times the rate; and 20, 10 and 1 % of it.
    let senders = |flow: fn(u32) -> u32| {
        [(1500, 120_000), (500, 2_000_000), (1250, 10_000_000), (125, 10_000_000)]
            .into_iter()
            .zip(0..)
            .map(move |((size, every_ns), n)| Sender { flow: flow(n), size, every_ns })
    };
    let apart = ten_seconds(&senders(|n| n).collect::<Vec<_>>());
    let together = ten_seconds(&senders(|_| 0).collect::<Vec<_>>());
    let rate = 12_500_000;
    for (n, share) in [(1, 0.20), (2, 0.10), (3, 0.01)] {
        let (bytes, lost, longest_ns) = apart[n];
        assert_eq!(lost, 0, "flow {n}");
        assert!(bytes as f64 > 0.99 * share * rate as f64, "flow {n}: {bytes}");
        // A round of four flows, and the bucket's burst: 5 ms.
        assert!(longest_ns < 8_000_000, "flow {n}: {longest_ns} ns");
        let (bytes, lost, _) = together[n];
        assert!(lost > 50 && (bytes as f64) < 0.8 * share * rate as f64, "in one queue: {:?}", together[n]);
    }
    let all: u64 = apart.iter().map(|of| of.0).sum();
    assert!(apart[0].0 as f64 > 0.68 * rate as f64 && (rate - 50_000..=rate + 3000).contains(&all), "{apart:?}");
}

/// Of senders of short and of long packets.
#[test]
fn greedy_flows_have_equal_shares_in_bytes() {
    let of = ten_seconds(
        &[(64, 10_000), (1500, 200_000), (700, 100_000), (1500, 100_000)]
            .into_iter()
            .zip(0..)
            .map(|((size, every_ns), flow)| Sender { flow, size, every_ns })
            .collect::<Vec<_>>(),
    );
    let all: u64 = of.iter().map(|of| of.0).sum();
    assert!((12_450_000..=12_503_000).contains(&all), "{of:?}");
    for (bytes, lost, _) in &of {
        let share = *bytes as f64 * 4.0 / all as f64;
        assert!((0.97..1.03).contains(&share) && *lost > 100, "{of:?}");
    }
}
