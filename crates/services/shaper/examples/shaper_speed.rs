//! What does a packet cost? A million leaves, each over its rate, so that every packet waits; and packets that need not wait. Times are those that the
//! processor gave us, so a busy machine matters less. Leaves are rates by themselves, and, as the engine's workers have them, rates with queues for 15
//! connections each, of which one has packets.
//!
//! `cargo run --release -p shaper --example shaper_speed`

use shaper::codel::Law;
use shaper::shaper::AHEAD;
use shaper::{Fate, Limits, Node, Rates, Shaper, Take, Tree};

const BURST: usize = 64;
const FLOWS: u32 = 15;

/// Rates, each with so many flows.
struct Flows {
    tree: Tree,
    flows: u32,
}

impl Flows {
    fn leaf(&self, rate: u32) -> u32 {
        // One of them. Behind them is the node that they share.
        if self.flows == 1 { rate } else { rate * (self.flows + 1) + rate % self.flows }
    }

    fn rate_of(&self, leaf: u32) -> u32 {
        if self.flows == 1 { leaf } else { leaf / (self.flows + 1) }
    }
}

impl Rates for Flows {
    fn take(&mut self, leaf: u32, size: u32, now_ns: u64) -> Take {
        match self.tree.take(self.rate_of(leaf), size, now_ns) {
            Take::At { at_ns, .. } => Take::At { node: self.shared(leaf), at_ns },
            take => take,
        }
    }

    fn give_back(&mut self, leaf: u32, size: u32, guaranteed: bool) {
        self.tree.give_back(self.rate_of(leaf), size, guaranteed);
    }

    fn when_ns(&self, leaf: u32, size: u32, now_ns: u64) -> u64 {
        self.tree.when_ns(self.rate_of(leaf), size, now_ns)
    }

    fn rate(&self, leaf: u32) -> u64 {
        self.tree.rate(self.rate_of(leaf))
    }

    fn look_ahead(&self, leaf: u32) -> u64 {
        self.tree.look_ahead(self.rate_of(leaf))
    }

    fn shared(&self, leaf: u32) -> u32 {
        if self.flows == 1 { leaf } else { self.rate_of(leaf) * (self.flows + 1) + self.flows }
    }
}

fn main() {
    for (leaves, flows) in [1_000u32, 100_000, 1_000_000].into_iter().flat_map(|leaves| [(leaves, 1), (leaves, FLOWS)]) {
        let resident = resident_kib();
        let mut tree = Tree::default();
        for _ in 0..leaves {
            // 8 packets of 1000 bytes a second of simulated time for each leaf, offered at a little more.
            tree.add(Node { parent: None, rate: 8000, burst: 2000, guaranteed: 0, weight: 1 }, 0).expect("a node");
        }
        let limits = Limits {
            nodes: leaves * (flows + 1),
            packets: 8 << 20,
            delay_ns: 10_000_000_000,
            law: Law { target_ns: u64::MAX, ..Law::default() },
        };
        let mut shaper = Shaper::<u64>::new(limits);
        let mut tree = Flows { tree, flows };
        // Each leaf gets a queue, which stays as long as packets come at its rate: each of them waits.
        for leaf in 0..leaves {
            let leaf = tree.leaf(leaf);
            while matches!(tree.take(leaf, 1000, 0), Take::Now { .. }) {}
            (0..2).for_each(|_| _ = shaper.offer(leaf, 7, 1000, false, 0, &mut tree, &mut |_| ()));
        }
        // Simulated time that a packet takes if all leaves send at their rates.
        let step_ns = 125_000_000 / u64::from(leaves);
        let (mut now, mut sent, mut waited) = (0u64, 0u64, 0u64);
        let mut leaf = 0u32;
        let mut rounds = |packets: u64, shaper: &mut Shaper<u64>, tree: &mut Flows| {
            let begin_ns = processor_ns();
            for _ in 0..packets / BURST as u64 {
                let burst: [u32; BURST] = std::array::from_fn(|_| {
                    // A stride that visits all leaves and no neighbours.
                    leaf = (leaf as u64 + 7_919 * 101).rem_euclid(u64::from(leaves)) as u32;
                    tree.leaf(leaf)
                });
                burst.chunks(AHEAD).for_each(|leaves| shaper.look_ahead(leaves, |leaf| tree.shared(leaf)));
                for at in burst {
                    if !shaper.waits(at) && matches!(tree.take(at, 1000, now), Take::Now { .. }) {
                        sent += 1;
                    } else {
                        waited += 1;
                        shaper.offer(at, 7, 1000, false, now, tree, &mut |_| ());
                    }
                }
                now += step_ns * BURST as u64;
                shaper.poll(now, tree, usize::MAX, &mut |f| sent += u64::from(matches!(f, Fate::Sent { .. })));
            }
            (processor_ns() - begin_ns) as f64 / packets as f64
        };
        rounds(u64::from(leaves), &mut shaper, &mut tree);
        let mut each: Vec<f64> = (0..5).map(|_| rounds(4_000_000, &mut shaper, &mut tree)).collect();
        each.sort_by(f64::total_cmp);
        let memory = (resident_kib() - resident) as f64 * 1024.0 / f64::from(leaves);
        let waits = waited as f64 / (waited + sent) as f64;
        println!(
            "{leaves:>9} rates, {flows:>2} connections each, queues of {}: {:.1} ns a packet, {:.1} Mpps; {:.0} bytes a rate; waited: {waits:.2}",
            shaper.len(),
            each[2],
            1e3 / each[2],
            memory
        );
    }
    // No wait: the price of asking.
    let (mut tree, leaves) = (Tree::default(), 1_000u32);
    for _ in 0..leaves {
        tree.add(Node { parent: None, rate: 1 << 40, burst: 1 << 30, guaranteed: 0, weight: 1 }, 0).expect("a node");
    }
    let limits = Limits { nodes: leaves, packets: 1 << 20, delay_ns: 100_000_000, law: Law::default() };
    let shaper = Shaper::<u64>::new(limits);
    for ask in [false, true] {
        let begin_ns = processor_ns();
        let mut sent = 0u64;
        for n in 0..50_000_000u64 {
            let leaf = (n * 7919 % u64::from(leaves)) as u32;
            sent += u64::from((!ask || !shaper.waits(leaf)) && matches!(tree.take(leaf, 1000, n), Take::Now { .. }));
        }
        let what = if ask { "its rate, and whether others wait" } else { "its rate alone" };
        println!("a packet that need not wait, asked for {what}: {:.1} ns ({sent})", (processor_ns() - begin_ns) as f64 / 50e6);
    }
}

/// Processor time of this thread, in ns.
fn processor_ns() -> u64 {
    let times = std::fs::read_to_string("/proc/thread-self/schedstat").unwrap_or_default();
    times.split(' ').next().and_then(|ns| ns.parse().ok()).expect("Linux with /proc")
}

fn resident_kib() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    status.lines().find_map(|l| l.strip_prefix("VmRSS:")?.split_whitespace().next()?.parse().ok()).unwrap_or(0)
}
