//! A target ahead hands packets on into a ring, in which some are lost, and runs others at once: nothing of a flow is overtaken, whatever comes
//! when, and every flow comes to the target ahead though it never pauses.

use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;
use target_api::{CLOCK_WORDS, DrainToken, InFlight, ROW_WORDS, Words};

struct Memory(Arc<Vec<AtomicU64>>);

impl Words for Memory {
    fn words(&self) -> &[AtomicU64] {
        &self.0
    }
}

const FLOWS: usize = 6;
/// Flows share them.
const ROWS: usize = 4;

/// What the target ahead knows of a flow.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Entry {
    None,
    Pending,
    Settled,
    /// What comes is handed on, and waits.
    Idle,
}

#[derive(Clone, Copy)]
struct Packet {
    flow: usize,
    number: u64,
    /// By what it is counted, if it is.
    counted: u32,
}

/// Parts of the protocol that can be left out.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Without {
    Nothing,
    Pending,
    Rows,
    PendingAtRelease,
}

#[derive(Default, Debug)]
struct Seen {
    at_once: u64,
    followed: u64,
    lost: u64,
    released: u64,
    overtaken: u64,
    /// Moves after which the flow came to run ahead.
    arrived: u64,
}

struct Model {
    in_flight: InFlight,
    without: Without,
    now_ns: u64,
    entries: [Entry; FLOWS],
    next: [u64; FLOWS],
    ring: VecDeque<Packet>,
    /// Taken by the device, and not yet sent.
    device: VecDeque<Packet>,
    buffers: [Vec<Packet>; FLOWS],
    out: [u64; FLOWS],
    /// A drain that has begun: packets of the ring that must still be taken, and the entries that were pending.
    wait: Option<(DrainToken, usize, Vec<usize>)>,
    seen: Seen,
}

impl Model {
    fn new(without: Without) -> Model {
        let memory = |words: usize| Box::new(Memory(Arc::new((0..words).map(|_| AtomicU64::new(0)).collect())));
        Model {
            in_flight: InFlight::new(memory(ROWS * ROW_WORDS), memory(CLOCK_WORDS)),
            without,
            now_ns: 5_000_000,
            entries: [Entry::None; FLOWS],
            next: [1; FLOWS],
            ring: VecDeque::new(),
            device: VecDeque::new(),
            buffers: Default::default(),
            out: [0; FLOWS],
            wait: None,
            seen: Seen::default(),
        }
    }

    fn leaves(&mut self, packet: Packet) {
        self.seen.overtaken += u64::from(packet.number <= self.out[packet.flow]);
        self.out[packet.flow] = packet.number;
    }

    /// A packet arrives at the target ahead.
    fn arrive(&mut self, flow: usize, rng: &mut impl Rng) {
        let row = (flow % ROWS) as u32;
        let packet = Packet { flow, number: self.next[flow], counted: 0 };
        self.next[flow] += 1;
        let follows = self.without != Without::Rows && self.in_flight.follows(row);
        let counted = match self.entries[flow] {
            Entry::Settled if !follows => {
                self.seen.at_once += 1;
                return self.leaves(packet);
            }
            Entry::None => 0,
            _ => self.in_flight.hand_on(row, self.now_ns),
        };
        self.seen.followed += u64::from(follows);
        if rng.random_bool(0.02) {
            self.seen.lost += 1;
        } else {
            self.ring.push_back(Packet { counted, ..packet });
        }
    }

    /// A lane takes some from the ring.
    fn take(&mut self, most: usize) {
        for _ in 0..most {
            let Some(packet) = self.ring.pop_front() else { break };
            if let Some((_, left, _)) = &mut self.wait {
                *left = left.saturating_sub(1);
            }
            match self.entries[packet.flow] {
                Entry::Idle => {
                    self.in_flight.sent(packet.counted);
                    self.buffers[packet.flow].push(packet);
                }
                _ => self.device.push_back(packet),
            }
        }
    }

    /// The device has sent all that it has.
    fn send(&mut self) {
        while let Some(packet) = self.device.pop_front() {
            self.leaves(packet);
            self.in_flight.sent(packet.counted);
        }
    }

    fn begin_or_end_wait(&mut self) {
        match self.wait.take() {
            None => {
                let pending = (0..FLOWS).filter(|flow| self.entries[*flow] == Entry::Pending).collect();
                let drain = self.in_flight.begin_drain(self.now_ns);
                self.wait = Some((drain, self.ring.len(), pending));
            }
            Some((drain, 0, pending)) => {
                self.send();
                self.in_flight.finish_drain(drain);
                for flow in pending {
                    if self.entries[flow] == Entry::Pending {
                        self.entries[flow] = Entry::Settled;
                        self.seen.arrived += 1;
                    }
                }
            }
            not_yet => self.wait = not_yet,
        }
    }

    fn change(&mut self, flow: usize, rng: &mut impl Rng) {
        self.entries[flow] = match self.entries[flow] {
            Entry::None if self.without == Without::Pending => Entry::Settled,
            Entry::None => Entry::Pending,
            // While it ages its entry may go and come again: another one.
            Entry::Pending => return,
            Entry::Settled if rng.random_bool(0.5) => Entry::None,
            Entry::Settled => Entry::Idle,
            Entry::Idle => {
                let waiting = std::mem::take(&mut self.buffers[flow]);
                self.seen.released += waiting.len() as u64;
                self.device.extend(waiting.into_iter().map(|packet| Packet { counted: 0, ..packet }));
                if self.without == Without::PendingAtRelease { Entry::Settled } else { Entry::Pending }
            }
        };
    }
}

fn run(without: Without, seed: u64) -> Seen {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let mut model = Model::new(without);
    for _ in 0..20_000 {
        model.now_ns += rng.random_range(1_000..50_000);
        match rng.random_range(0..100) {
            0..60 => model.arrive(rng.random_range(0..FLOWS), &mut rng),
            60..80 => model.take(rng.random_range(1..6)),
            80..92 => model.send(),
            92..98 => model.begin_or_end_wait(),
            _ => model.change(rng.random_range(0..FLOWS), &mut rng),
        }
    }
    model.seen
}

#[test]
fn nothing_is_overtaken_and_each_flow_comes_to_run_ahead() {
    let mut all = Seen::default();
    for seed in 0..40 {
        let seen = run(Without::Nothing, seed);
        assert_eq!(seen.overtaken, 0, "seed {seed}: {seen:?}");
        all.at_once += seen.at_once;
        all.followed += seen.followed;
        all.lost += seen.lost;
        all.released += seen.released;
        all.arrived += seen.arrived;
    }
    let enough = [all.at_once > 50_000, all.followed > 20_000, all.lost > 2_000, all.released > 5_000, all.arrived > 1_000];
    assert!(enough.iter().all(|e| *e), "{all:?}");
}

/// Each part is needed: the model sees what happens without it.
#[test]
fn without_any_part_of_it_packets_are_overtaken() {
    for without in [Without::Pending, Without::Rows, Without::PendingAtRelease] {
        let overtaken: u64 = (0..10).map(|seed| run(without, seed).overtaken).sum();
        assert!(overtaken > 20, "{without:?}: {overtaken}");
    }
}

#[test]
fn rows_that_there_are_not_are_nobodys() {
    let in_flight = Model::new(Without::Nothing).in_flight;
    for row in [ROWS as u32, u32::MAX / 2, u32::MAX] {
        assert_eq!(in_flight.hand_on(row, 1), 0);
        in_flight.sent(row);
        assert!(!in_flight.follows(row) && !in_flight.is_any());
    }
    in_flight.sent(0);
    in_flight.sent(1);
    assert_ne!(in_flight.hand_on(0, 7), 0);
    assert!(in_flight.is_any() && in_flight.follows(0) && !in_flight.follows(1));
    assert_eq!(format!("{in_flight:?}"), "InFlight { flows: 1, .. }");
}

/// A flow that never pauses is held up by a lost packet for no longer than a wait, and what was taken for lost may leave after all.
#[test]
fn a_lost_packet_holds_a_busy_flow_up_for_one_drain() {
    let in_flight = Model::new(Without::Nothing).in_flight;
    let late = in_flight.hand_on(2, 10);
    let drain = in_flight.begin_drain(15);
    let next = in_flight.hand_on(2, 20);
    in_flight.finish_drain(drain);
    assert!(in_flight.follows(2), "the next one is in flight");
    in_flight.sent(next);
    assert!(!in_flight.follows(2));
    let one = in_flight.hand_on(2, 30);
    in_flight.sent(late);
    assert!(in_flight.follows(2), "that was another one");
    in_flight.sent(one);
    assert!(!in_flight.follows(2));
}

/// Counts are of 32 bits, and only their difference means something.
#[test]
fn counts_may_wrap() {
    let words = Arc::new((0..2 * ROW_WORDS).map(|_| AtomicU64::new(u64::MAX)).collect::<Vec<_>>());
    let clock = Memory(Arc::new((0..CLOCK_WORDS).map(|_| AtomicU64::new(0)).collect()));
    let in_flight = InFlight::new(Box::new(Memory(words)), Box::new(clock));
    for row in [0, 1] {
        let flow = in_flight.hand_on(row, 7);
        assert!(in_flight.follows(row));
        in_flight.sent(flow);
        assert!(!in_flight.follows(row));
    }
}
