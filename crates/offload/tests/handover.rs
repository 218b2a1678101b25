//! Sessions move to a fast target in front of the workers, and back, while packets wait in rings between the two: order, packets,
//! counters and meters are those of the interpreter alone.

#[allow(dead_code)]
#[path = "moves/world.rs"]
mod world;

use base::{Packet, PortId, Verdict, VerdictKind};
use offload::handover::{Arrival, Handover};
use program::*;
use rand::Rng;
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier, Mutex, mpsc};
use target::{Lane, Target};
use target_asic::{Asic, Chip};
use world::{Ids, Kept, Session, frame};

const RINGS: usize = 3;
const SESSIONS: u64 = 12;
/// Turns that a move may take.
const PATIENCE: u64 = 60;

/// A packet in a ring.
struct Waiting {
    bytes: Vec<u8>,
    key: u32,
    at_ns: u64,
    counted: Option<Arc<Handover>>,
    seid: u64,
}

/// A ring, and how many packets have gone in and are done.
#[derive(Default)]
struct Ring {
    packets: VecDeque<Waiting>,
    produced: u64,
    done: u64,
}

/// A session under way.
struct UnderWay {
    handover: Arc<Handover>,
    /// Where the rings stood.
    from: [u64; RINGS],
    drained: bool,
    turns: u64,
}

#[derive(Default, Debug)]
struct Seen {
    opened: u64,
    cancelled: u64,
    back: u64,
    fast: u64,
    counted: u64,
    handed_on: u64,
    drops: u64,
    overtaken: u64,
}

struct Model {
    ids: Ids,
    oracle: Asic,
    oracle_lane: Box<dyn Lane>,
    fast: Asic,
    fast_lane: Box<dyn Lane>,
    base: Kept<target_x86::X86>,
    base_lane: Box<dyn Lane>,
    rings: [Ring; RINGS],
    sessions: BTreeMap<u64, Session>,
    /// What the fast target looks at for each of its sessions.
    slots: HashMap<u64, Arc<Handover>>,
    under_way: BTreeMap<u64, UnderWay>,
    /// What the oracle made of each packet of a flow, in order: nothing, if it dropped it.
    expected: HashMap<u32, VecDeque<(Verdict, Vec<u8>)>>,
    now_ns: u64,
    /// Copies take effect at once: what the protocol is there to avoid.
    naive: bool,
    seen: Seen,
}

impl Model {
    fn new(rng: &mut impl Rng, naive: bool) -> Model {
        let ir = world::compile();
        let fast = Asic::load(ir.clone(), Chip::default()).unwrap();
        let base = Kept(Arc::new(world::native(&ir)));
        let oracle = Asic::oracle(ir.clone()).unwrap();
        let mut model = Model {
            ids: Ids::new(&ir.program),
            oracle_lane: oracle.lane(0),
            oracle,
            fast_lane: fast.lane(0),
            fast,
            base_lane: base.lane(0),
            base,
            rings: Default::default(),
            sessions: BTreeMap::new(),
            slots: HashMap::new(),
            under_way: BTreeMap::new(),
            expected: HashMap::new(),
            now_ns: 1_000_000_000,
            naive,
            seen: Seen::default(),
        };
        for seid in 1..=SESSIONS {
            model.establish(seid, rng);
        }
        model
    }

    /// Two keys with a rate each, of several classes for one of them.
    fn establish(&mut self, seid: u64, rng: &mut impl Rng) {
        let ids = self.ids;
        let mut session = Session::default();
        for direction in 0..2u64 {
            let (key, cell) = ((2 * seid + direction) as u32, 2 * seid + direction);
            let (rate, burst) = (rng.random_range(2_000..2_000_000), rng.random_range(100..2_000));
            session.keys.push(key);
            session.meters.insert(cell, MeterConfig { cir: rate, cbs: burst, pir: 2 * rate, pbs: 2 * burst });
            let rule =
                |table, keys| Entry { table, keys, priority: 0, action: ids.rule, args: vec![cell.into(), cell.into(), seid.into(), 1] };
            let exact = |key: u32| KeyMatch::Exact(key.into());
            if direction == 0 {
                session.entries.push(rule(ids.by_key, vec![exact(key)]));
            } else {
                session.entries.push(rule(ids.by_class, vec![exact(key), exact(0)]));
                let args = vec![key.into()];
                session.entries.push(Entry { table: ids.by_key, keys: vec![exact(key)], priority: 0, action: ids.classify, args });
            }
        }
        let all = session.copy(&ids);
        self.oracle.apply(&all).unwrap();
        self.base.apply(&all).unwrap();
        self.sessions.insert(seid, session);
    }

    /// A packet comes to the fast target. The oracle runs it at once.
    fn arrive(&mut self, seid: u64, key: u32, sequence: u32, payload: usize) {
        let bytes = frame(key, sequence, 0, payload);
        let (verdict, out) = run(&mut self.oracle_lane, &bytes, self.now_ns);
        self.expected.entry(key).or_default().push_back((verdict, out));
        let slot = self.slots.get(&seid).cloned();
        match slot.as_ref().map(|handover| handover.arrive()) {
            Some(Arrival::Run) => {
                let (verdict, out) = run(&mut self.fast_lane, &bytes, self.now_ns);
                assert_ne!(verdict.kind, VerdictKind::Next, "the copy is not whole");
                self.seen.fast += 1;
                self.leaves(key, verdict, out);
            }
            arrival => {
                let counted = slot.filter(|_| arrival == Some(Arrival::Counted));
                self.seen.counted += u64::from(counted.is_some());
                self.seen.handed_on += 1;
                // All of a session come by one queue, as a NIC that hashes addresses gives them.
                let ring = &mut self.rings[seid as usize % RINGS];
                ring.produced += 1;
                ring.packets.push_back(Waiting { bytes, key, at_ns: self.now_ns, counted, seid });
            }
        }
    }

    /// A lane takes some packets from a ring.
    fn lane(&mut self, ring: usize, most: usize) {
        for _ in 0..most {
            let Some(packet) = self.rings[ring].packets.pop_front() else { return };
            let (verdict, out) = run(&mut self.base_lane, &packet.bytes, packet.at_ns);
            self.leaves(packet.key, verdict, out);
            if let Some(handover) = packet.counted {
                handover.left(|| self.carry(packet.seid, true));
            }
            self.rings[ring].done += 1;
        }
    }

    /// Buckets of a session, to the fast target's cells or back.
    fn carry(&self, seid: u64, to_fast: bool) {
        let (from, to): (&dyn Target, &dyn Target) = if to_fast { (&self.base, &self.fast) } else { (&self.fast, &self.base) };
        for cell in self.sessions[&seid].meters.keys() {
            // The copy may have been taken away, with its meters.
            if let Some(state) = from.meter_state(self.ids.rate, *cell) {
                let _ = to.set_meter_state(self.ids.rate, *cell, state);
            }
        }
    }

    /// A packet goes out: it must be the next of its flow, as the oracle made it.
    fn leaves(&mut self, key: u32, verdict: Verdict, out: Vec<u8>) {
        self.seen.drops += u64::from(verdict.kind == VerdictKind::Drop);
        let of_flow = self.expected.get_mut(&key).unwrap();
        let sequence = |bytes: &[u8]| bytes[4..8].to_vec();
        if self.naive {
            let at = of_flow.iter().position(|(_, bytes)| sequence(bytes) == sequence(&out)).unwrap();
            self.seen.overtaken += at as u64;
            of_flow.remove(at);
            return;
        }
        let (expected_verdict, expected) = of_flow.pop_front().expect("a packet that nobody sent");
        assert_eq!(sequence(&out), sequence(&expected), "flow {key}: a packet overtakes another");
        assert_eq!(verdict, expected_verdict, "flow {key}");
        assert!(verdict.kind == VerdictKind::Drop || out == expected, "flow {key}: {out:?}, not {expected:?}");
    }

    fn begin_move(&mut self, seid: u64) {
        if self.slots.contains_key(&seid) {
            return;
        }
        self.fast.apply(&self.sessions[&seid].copy(&self.ids)).unwrap();
        let handover = Arc::new(Handover::new());
        self.slots.insert(seid, handover.clone());
        let from = std::array::from_fn(|ring| self.rings[ring].produced);
        if self.naive {
            handover.drained(|| self.carry(seid, true));
            return;
        }
        self.under_way.insert(seid, UnderWay { handover, from, drained: false, turns: 0 });
    }

    /// What the control plane does every now and then.
    fn control(&mut self, rng: &mut impl Rng) {
        for (seid, mut move_) in std::mem::take(&mut self.under_way) {
            move_.turns += 1;
            if !move_.drained && self.rings.iter().zip(move_.from).all(|(ring, from)| ring.done >= from) {
                move_.drained = true;
                move_.handover.drained(|| self.carry(seid, true));
            }
            if move_.handover.is_open() || rng.random_bool(0.2) && move_.handover.open_if_idle() {
                self.seen.opened += 1;
            } else if move_.turns > PATIENCE && move_.handover.cancel() {
                self.seen.cancelled += 1;
                self.delete(seid);
            } else {
                self.under_way.insert(seid, move_);
            }
        }
    }

    /// The lanes stand meanwhile.
    fn move_back(&mut self, seid: u64) {
        let Some(handover) = self.slots.get(&seid).filter(|h| h.is_open() && !self.under_way.contains_key(&seid)) else { return };
        handover.close();
        self.carry(seid, false);
        self.delete(seid);
        self.seen.back += 1;
    }

    fn delete(&mut self, seid: u64) {
        self.slots.remove(&seid);
        let session = &self.sessions[&seid];
        let meters = session.meters.keys().map(|index| Op::Meter { meter: self.ids.rate, index: *index, config: None });
        let ops = session.entries.iter().cloned().map(Op::Delete).chain(meters).collect();
        self.fast.apply(&Batch { ops }).unwrap();
    }

    fn run(mut self, rng: &mut impl Rng, turns: u32) -> Seen {
        let (mut busy, mut slow) = (1, false);
        for turn in 0..turns {
            // Some sessions are busy, some hardly; at times the lanes are slow, and the rings are long.
            if turn % 100 == 0 {
                (busy, slow) = (rng.random_range(1..=SESSIONS), rng.random_bool(0.5));
            }
            for i in 0..rng.random_range(1..12) {
                self.now_ns += rng.random_range(0..200_000);
                let seid = if rng.random_bool(0.6) { busy } else { rng.random_range(1..=SESSIONS) };
                let key = self.sessions[&seid].keys[rng.random_range(0..2)];
                self.arrive(seid, key, turn * 16 + i, rng.random_range(0..300));
            }
            for ring in 0..RINGS {
                self.lane(ring, if slow { rng.random_range(0..4) } else { rng.random_range(0..16) });
            }
            let seid = rng.random_range(1..=SESSIONS);
            match rng.random_range(0..16) {
                0 | 1 => self.begin_move(seid),
                2 | 3 => self.move_back(seid),
                _ => {}
            }
            self.control(rng);
        }
        for ring in 0..RINGS {
            self.lane(ring, usize::MAX);
        }
        assert!(self.expected.values().all(VecDeque::is_empty), "packets are lost");
        if !self.naive {
            for cell in 0..2 * SESSIONS + 2 {
                let mut sum = self.base.counter(self.ids.usage, cell);
                sum += self.fast.counter(self.ids.usage, cell);
                assert_eq!(sum, self.oracle.counter(self.ids.usage, cell), "counter cell {cell}");
            }
        }
        self.seen
    }
}

fn run(lane: &mut Box<dyn Lane>, bytes: &[u8], now_ns: u64) -> (Verdict, Vec<u8>) {
    let (mut packet, mut verdict) = ([Packet::new(bytes, PortId(0))], [Verdict::default()]);
    lane.process(&mut packet, &mut verdict, now_ns);
    (verdict[0], packet[0].data().to_vec())
}

#[test]
fn nothing_overtakes_what_waits_in_a_ring() {
    let mut rng = testkit::rng(31);
    let seen = Model::new(&mut rng, false).run(&mut rng, 40_000);
    println!("{seen:?}");
    assert!(seen.opened > 1_000 && seen.cancelled > 20 && seen.back > 800, "{seen:?}");
    assert!(seen.fast > 20_000 && seen.counted > 5_000 && seen.drops > 1_000, "{seen:?}");
}

/// The test above would see it.
#[test]
fn without_the_protocol_packets_are_overtaken() {
    let mut rng = testkit::rng(32);
    let seen = Model::new(&mut rng, true).run(&mut rng, 2_000);
    assert!(seen.overtaken > 100, "{seen:?}");
}

/// Two cores of a fast target, one lane of the base target and the control plane, all at once.
#[test]
fn cores_agree_when_to_switch() {
    const FLOWS: usize = 8;
    const PACKETS: u32 = 20_000;
    let logs: Arc<Vec<Mutex<Vec<u32>>>> = Arc::new((0..FLOWS).map(|_| Mutex::default()).collect());
    let slot: Arc<Mutex<Option<Arc<Handover>>>> = Arc::default();
    let ended = Arc::new(AtomicBool::new(false));
    type Handed = (usize, u32, Option<Arc<Handover>>);
    // What the lane has done: of each ring, in order.
    let (gate, done) = (Arc::new(Mutex::new(())), Arc::new(Mutex::new([0u64; 2])));
    let pause = Arc::new(Barrier::new(2));
    let (mut rings, mut cores, mut running) = (Vec::new(), Vec::new(), 0u64);
    for core in 0..2 {
        let (ring, receiver) = mpsc::sync_channel::<Handed>(64);
        rings.push(receiver);
        let (logs, slot, done, pause) = (logs.clone(), slot.clone(), done.clone(), pause.clone());
        cores.push(std::thread::spawn(move || {
            let (mut run, mut handed_on) = (0u64, 0u64);
            for sequence in 0..PACKETS {
                // A pause of all now and then: who never pauses is never moved.
                if sequence % 50 == 0 {
                    while done.lock().unwrap()[core] < handed_on {
                        std::thread::yield_now();
                    }
                    pause.wait();
                }
                // Each flow comes to one core; all are of one session.
                for flow in (core..FLOWS).step_by(2) {
                    // A core is within a packet while it holds this: what a grace period waits for.
                    let current = slot.lock().unwrap();
                    let arrival = current.as_ref().map_or(Arrival::HandOn, |h| h.arrive());
                    let counted = current.clone().filter(|_| arrival == Arrival::Counted);
                    if arrival == Arrival::Run {
                        run += 1;
                        logs[flow].lock().unwrap().push(sequence);
                        drop(current);
                        if sequence % 16 == 0 {
                            std::thread::yield_now();
                        }
                        continue;
                    }
                    drop(current);
                    handed_on += 1;
                    ring.send((flow, sequence, counted)).unwrap();
                }
            }
            run
        }));
    }
    let lane = {
        let (logs, gate, done, ended) = (logs.clone(), gate.clone(), done.clone(), ended.clone());
        std::thread::spawn(move || {
            loop {
                let last = ended.load(Ordering::Acquire);
                let mut some = false;
                for (i, ring) in rings.iter().enumerate() {
                    let _burst = gate.lock().unwrap();
                    if let Ok((flow, sequence, counted)) = ring.try_recv() {
                        logs[flow].lock().unwrap().push(sequence);
                        counted.inspect(|h| h.left(|| {}));
                        done.lock().unwrap()[i] += 1;
                        some = true;
                    }
                }
                if last && !some {
                    return;
                }
                std::thread::yield_now();
            }
        })
    };
    // The control plane: to and fro. A ring of 64 has passed a place when 64 more, and the one that waits to go in, are done.
    let (mut opened, mut cancelled) = (0, 0);
    while !cores.iter().all(|core| core.is_finished()) {
        let handover = Arc::new(Handover::new());
        *slot.lock().unwrap() = Some(handover.clone());
        let from = *done.lock().unwrap();
        let passed = |now: [u64; 2]| now.iter().zip(from).all(|(now, from)| *now >= from + 66);
        while !passed(*done.lock().unwrap()) && !cores.iter().all(|core| core.is_finished()) {
            std::thread::yield_now();
        }
        if !passed(*done.lock().unwrap()) {
            break;
        }
        handover.drained(|| {});
        for _ in 0..2_000 {
            if handover.open_if_idle() {
                break;
            }
            std::thread::yield_now();
        }
        if !handover.is_open() && handover.cancel() {
            cancelled += 1;
            *slot.lock().unwrap() = None;
            continue;
        }
        opened += 1;
        (0..100).for_each(|_| std::thread::yield_now());
        // Back: the lane stands, and the slot's lock is the grace period.
        let _standing = gate.lock().unwrap();
        handover.close();
        *slot.lock().unwrap() = None;
    }
    for core in cores {
        running += core.join().unwrap();
    }
    ended.store(true, Ordering::Release);
    lane.join().unwrap();
    for (flow, log) in logs.iter().enumerate() {
        let log = log.lock().unwrap();
        assert!(log.iter().copied().eq(0..PACKETS), "flow {flow}: {:?}", log.windows(2).find(|w| w[1] != w[0] + 1));
    }
    println!("{opened} opened, {cancelled} given up, {running} packets on the fast target");
    assert!(opened > 3 && running > 100, "{opened} opened, {running} packets");
}
