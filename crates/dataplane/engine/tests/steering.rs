//! Do flows keep their order, and lose nothing, while their buckets move, workers come and go, and UEs fall idle and wake?
//!
//! The target forwards a packet across, or buffers it while its flow is idle. Every packet has the number of its flow and its
//! place in the flow; what comes out is compared with what went in.

use base::{DropReason, Metered, Packet, PortId, Verdict, VerdictKind};
use buffer::idle::{IdleBuffer, Limits};
use crossbeam_channel::{Receiver, bounded};
use engine::{
    BUCKETS, BalanceSettings, BufferFate, Engine, Event, MarkSettings, Marks, Move, Moved, Queues, Settings, ShapeSettings, WhenFull,
    WorkerPorts,
};
use pktio::{DeviceDrops, Port, PortError, memory, steered};
use program::{CounterId, MeterId};
use rand::Rng;
use rand::seq::IndexedRandom;
use shaper::codel::Law;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::SeqCst};
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use target_api::{Counted, Lane, Rates, Taken, Target};
use target_kit::{StandIn, stand_in};

/// Flows of each direction.
const FLOWS: usize = 64;

/// What lanes share.
#[derive(Default)]
struct Flows {
    /// A flow's packets are buffered while this is set; both directions, as one queue.
    idle: Vec<AtomicBool>,
    /// While set, whoever gets a packet of flow 0 stands.
    stuck: AtomicBool,
}

fn by_flow(flows: Arc<Flows>) -> Arc<dyn Target> {
    stand_in(move |packet| {
        let (flow, _) = read(packet);
        while flow == 0 && flows.stuck.load(SeqCst) {
            std::thread::yield_now();
        }
        if flows.idle[flow].load(SeqCst) {
            Verdict { kind: VerdictKind::Buffer, mark: flow as u32, ..Verdict::default() }
        } else {
            Verdict::forward(PortId(packet.port.0 ^ 1))
        }
    })
}

fn write(packet: &mut Packet, flow: usize, place: u32) {
    let mut bytes = [0; 60];
    bytes[..4].copy_from_slice(&(flow as u32).to_be_bytes());
    bytes[4..8].copy_from_slice(&place.to_be_bytes());
    packet.set(&bytes);
}

/// Flow, and place in the flow.
fn read(packet: &Packet) -> (usize, u32) {
    let word = |at: usize| u32::from_be_bytes(packet.data()[at..at + 4].try_into().unwrap());
    (word(0) as usize, word(4))
}

/// Both directions of a flow have one hash. Flow `n` has bucket `8 * n`, so that all begin with one worker of two.
fn hash(frame: &[u8], _: PortId) -> u32 {
    u32::from_be_bytes(frame[..4].try_into().unwrap()) * 8
}

/// How packets get to workers, and from them to the port.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    /// By the master; workers send themselves.
    Master,
    /// By the master, both ways.
    MasterBothWays,
    /// By ports that steer.
    Ports,
}

/// A port that only its holder can send by.
struct OneHandle(memory::MemoryPort);

impl Port for OneHandle {
    fn name(&self) -> &str {
        self.0.name()
    }
    fn receive(&mut self, packets: &mut [Packet]) -> Result<usize, PortError> {
        self.0.receive(packets)
    }
    fn transmit(&mut self, packets: &[Packet]) -> Result<usize, PortError> {
        self.0.transmit(packets)
    }
    fn flush(&mut self) -> Result<(), PortError> {
        self.0.flush()
    }
    fn max_frame(&self) -> usize {
        self.0.max_frame()
    }
    fn device_drops(&mut self) -> DeviceDrops {
        self.0.device_drops()
    }
}

/// An engine, and the far ends of its ports 0 and 1.
struct World {
    engine: Engine,
    flows: Arc<Flows>,
    _events: Receiver<Event>,
    far: Vec<Box<dyn Port>>,
    /// For each direction and flow: packets sent, packets come out.
    sent: Vec<Vec<u32>>,
    received: Vec<Vec<u32>>,
    /// For each direction and flow: the place of the packet that comes next.
    next: Vec<Vec<u32>>,
    /// A flow of which packets are dropped where its worker's ring is full.
    may_lose: Option<usize>,
    burst: Vec<Packet>,
}

/// Most packets on their way: all fit into any one queue, so that none is lost to a far end that is slow.
const IN_FLIGHT: u64 = 4000;
const QUEUE: usize = 8192;

impl World {
    fn new(way: Way, workers: usize, settings: Settings) -> World {
        let flows = Flows { idle: (0..FLOWS).map(|_| AtomicBool::new(false)).collect(), stuck: AtomicBool::new(false) };
        let flows = Arc::new(flows);
        World::on(&by_flow(flows.clone()), flows, way, workers, settings)
    }

    fn on(target: &Arc<dyn Target>, flows: Arc<Flows>, way: Way, workers: usize, settings: Settings) -> World {
        let buffer = IdleBuffer::deploy(Limits { per_queue: 1 << 20, total: 1 << 20, ..Limits::default() });
        let settings = Settings { buffer: Some(buffer), ..settings };
        // Nobody reads the events: punts there are none, and what is buffered the tests know.
        let (sender, events) = bounded(1 << 16);
        let mut far: Vec<Box<dyn Port>> = Vec::new();
        let engine = if way == Way::Ports {
            let mut of_workers: Vec<WorkerPorts> = (0..4).map(|_| Vec::new()).collect();
            for id in [0, 1] {
                let (near, end) = steered::device("dev", PortId(id), 4, BUCKETS, QUEUE, hash).unwrap();
                far.push(Box::new(end));
                for (worker, port) in of_workers.iter_mut().zip(near) {
                    worker.push((PortId(id), Box::new(port)));
                }
            }
            let settings = Settings { port_hash: Some(hash), ..settings };
            Engine::start_some(target, of_workers, workers, settings, sender).unwrap()
        } else {
            let mut ports: WorkerPorts = Vec::new();
            for id in [0, 1] {
                let (near, end) = memory::pair("near", "far", QUEUE);
                far.push(Box::new(end));
                ports.push((PortId(id), if way == Way::Master { Box::new(near) } else { Box::new(OneHandle(near)) }));
            }
            Engine::start_steered(target, ports, hash, workers, settings, sender).unwrap()
        };
        let zero = || vec![vec![0; FLOWS]; 2];
        World {
            engine,
            flows,
            _events: events,
            far,
            sent: zero(),
            received: zero(),
            next: zero(),
            may_lose: None,
            burst: (0..64).map(|_| Packet::empty(0)).collect(),
        }
    }

    /// Sends the next packet of each of these flows.
    fn send(&mut self, direction: usize, flows: &[usize]) {
        for flows in flows.chunks(64) {
            for (packet, flow) in self.burst.iter_mut().zip(flows) {
                write(packet, *flow, self.sent[direction][*flow]);
                self.sent[direction][*flow] += 1;
            }
            let mut done = 0;
            while done < flows.len() {
                done += self.far[direction].transmit(&self.burst[done..flows.len()]).unwrap();
                if done < flows.len() {
                    std::thread::yield_now();
                }
            }
        }
    }

    /// Takes what has come out; each must be the next of its flow.
    fn receive(&mut self) {
        for direction in [0, 1] {
            let n = self.far[direction ^ 1].receive(&mut self.burst).unwrap();
            for packet in &self.burst[..n] {
                let (flow, place) = read(packet);
                let next = &mut self.next[direction][flow];
                let lost = place > *next && self.may_lose == Some(flow);
                assert!(place == *next || lost, "flow {flow} of direction {direction}: {place}, not {next}: lost, doubled or out of order");
                *next = place + 1;
                self.received[direction][flow] += 1;
            }
        }
    }

    fn in_flight(&self) -> u64 {
        let sum = |counts: &[Vec<u32>]| counts.iter().flatten().map(|n| u64::from(*n)).sum::<u64>();
        sum(&self.sent) - sum(&self.received)
    }

    fn receive_until(&mut self, what: &str, mut holds: impl FnMut(&World) -> bool) {
        let end = Instant::now() + Duration::from_secs(60);
        while !holds(self) {
            self.receive();
            assert!(Instant::now() < end, "{what}");
            std::thread::yield_now();
        }
    }

    /// All came out, and the books say so too.
    fn close(mut self) -> Moved {
        self.receive_until("all packets come out", |w| w.in_flight() == 0);
        self.engine.stop();
        let (ledger, total) = (self.engine.ledger(), self.sent.iter().flatten().map(|n| u64::from(*n)).sum::<u64>());
        assert_eq!((ledger.imbalance(), ledger.waiting(), ledger.dropped.len()), (0, 0, 0), "{ledger:?}");
        assert_eq!(ledger.ports.values().map(|p| p.received.packets).sum::<u64>(), total);
        assert_eq!(ledger.ports.values().map(|p| p.transmitted.packets).sum::<u64>(), total);
        self.engine.moved()
    }
}

/// Random moves, workers that come and go, UEs that fall idle and wake, under a skewed load from both sides.
fn nothing_is_lost_doubled_or_overtaken(way: Way, seed: u64) {
    let settings = Settings { ring: 64, when_full: WhenFull::Wait, ..Settings::default() };
    let mut world = World::new(way, 2, settings);
    let (busy, buffered) = (AtomicBool::new(true), AtomicU64::new(0));
    let (engine, flows) = (std::mem::replace(&mut world.engine, idle_engine()), world.flows.clone());
    let mut rng = testkit::rng(seed);
    std::thread::scope(|scope| {
        let (engine, flows, busy, buffered) = (&engine, &flows, &busy, &buffered);
        let mut actions = testkit::rng(seed + 1);
        let control = scope.spawn(move || {
            // Enough of everything, and enough packets met by it, however the threads are scheduled.
            let met = |m: Moved| m.held >= 500 && engine.ledger().released.packets >= 2000 && buffered.load(SeqCst) > 100;
            let done = |m: Moved| m.buckets >= 2000 && m.added >= 30 && m.removed >= 30 && met(m);
            let end = Instant::now() + Duration::from_secs(60);
            while !done(engine.moved()) {
                assert!(Instant::now() < end, "{:?}, {} released", engine.moved(), engine.ledger().released.packets);
                act(engine, Some(flows), &mut actions);
            }
            for flow in 0..FLOWS {
                wake(engine, flows, flow);
            }
            busy.store(false, SeqCst);
        });
        while busy.load(SeqCst) {
            if control.is_finished() {
                // It failed: its message is the test's.
                break;
            }
            let waiting = engine.ledger().waiting();
            buffered.fetch_max(waiting, SeqCst);
            if world.in_flight() < IN_FLIGHT {
                let n = rng.random_range(1..200);
                // Half of all packets are of four flows.
                let flow = |rng: &mut testkit::Rng| if rng.random() { rng.random_range(0..4) } else { rng.random_range(0..FLOWS) };
                let burst: Vec<usize> = (0..n).map(|_| flow(&mut rng)).collect();
                world.send(rng.random_range(0..2), &burst);
            }
            world.receive();
        }
    });
    world.engine = engine;
    assert!(buffered.load(SeqCst) > 100, "{buffered:?} packets waited at once");
    let moved = world.close();
    assert!(moved.buckets >= 2000 && moved.added >= 30 && moved.removed >= 30, "{moved:?}");
    assert!(moved.held >= 500, "moves met packets under way: {way:?} {moved:?}");
}

/// The buffer of one flow is released while packets of another worker's flow go through.
#[test]
fn other_workers_go_on_while_a_queue_is_released() {
    for way in [Way::Master, Way::Ports] {
        let mut world = World::new(way, 2, Settings::default());
        world.engine.move_buckets(&[Move { bucket: 8, to: 1 }]).unwrap();
        world.flows.idle[0].store(true, SeqCst);
        world.send(0, &[0; 10]);
        world.receive_until("they wait", |w| w.engine.ledger().waiting() == 10);
        let engine = std::mem::replace(&mut world.engine, idle_engine());
        let change = || {
            world.flows.idle[0].store(false, SeqCst);
            world.send(0, &[1; 10]);
            world.receive_until("the other flow comes out meanwhile", |w| w.received[0][1] == 10);
            // It is released when this has ended.
            assert_eq!(world.received[0][0], 0, "{way:?}");
            Ok::<(), ()>(())
        };
        engine.end_buffering(&[(0, BufferFate::Release)], change).unwrap().unwrap();
        world.engine = engine;
        world.close();
    }
}

/// A drain waits for packets that are held back while their buckets move, and what it waits for keeps nobody from the engine.
#[test]
fn what_was_in_the_ports_has_been_sent_when_they_are_drained_while_buckets_move() {
    for (way, seed) in [(Way::Master, 4), (Way::MasterBothWays, 5), (Way::Ports, 6)] {
        let mut world = World::new(way, 2, Settings { ring: 64, when_full: WhenFull::Wait, ..Settings::default() });
        let engine = std::mem::replace(&mut world.engine, idle_engine());
        let (mut rng, mut actions) = (testkit::rng(seed), testkit::rng(seed + 1));
        let busy = AtomicBool::new(true);
        std::thread::scope(|scope| {
            let (engine, busy) = (&engine, &busy);
            let control = scope.spawn(move || {
                while busy.load(SeqCst) {
                    act(engine, None, &mut actions);
                }
            });
            let (mut rounds, end) = (0, Instant::now() + Duration::from_secs(60));
            while !control.is_finished() && (rounds < 40 || engine.moved().buckets < 40) {
                assert!(Instant::now() < end, "{rounds} rounds, {:?}", engine.moved());
                for direction in [0, 1] {
                    let burst: Vec<usize> = (0..500).map(|_| rng.random_range(0..FLOWS)).collect();
                    world.send(direction, &burst);
                }
                let drain = engine.begin_drain().unwrap();
                engine.age_buffers();
                drain.wait();
                // All at once: nothing is waited for.
                (0..64).for_each(|_| world.receive());
                assert_eq!(world.in_flight(), 0, "{way:?}, round {rounds}");
                rounds += 1;
            }
            busy.store(false, SeqCst);
        });
        world.engine = engine;
        world.close();
    }
}

/// In the place of one that is lent out.
fn idle_engine() -> Engine {
    let target = by_flow(Arc::default());
    Engine::start(&target, vec![Vec::new()], Settings::default(), bounded(1).0).unwrap()
}

/// One thing that a control plane may do at any time; without `flows` none falls idle.
fn act(engine: &Engine, flows: Option<&Flows>, rng: &mut testkit::Rng) {
    let workers = engine.workers();
    match (rng.random_range(0..8), flows) {
        (0, _) if workers.len() < 4 => drop(engine.add_worker().unwrap()),
        (1, _) if workers.len() > 1 => engine.remove_worker(*workers.choose(rng).unwrap()).unwrap(),
        (2 | 3, Some(flows)) => {
            let flow = rng.random_range(0..FLOWS);
            if flows.idle[flow].load(SeqCst) {
                wake(engine, flows, flow);
            } else {
                flows.idle[flow].store(true, SeqCst);
            }
        }
        _ => {
            let bucket = |rng: &mut testkit::Rng| if rng.random() { rng.random_range(0..FLOWS) * 8 } else { rng.random_range(0..BUCKETS) };
            let n = rng.random_range(1..40);
            let moves: Vec<Move> = (0..n).map(|_| Move { bucket: bucket(rng) as u16, to: *workers.choose(rng).unwrap() as u16 }).collect();
            engine.move_buckets(&moves).unwrap();
        }
    }
}

fn wake(engine: &Engine, flows: &Flows, flow: usize) {
    let change = || {
        flows.idle[flow].store(false, SeqCst);
        Ok::<(), ()>(())
    };
    engine.end_buffering(&[(flow as u32, BufferFate::Release)], change).unwrap().unwrap();
}

#[test]
fn flows_keep_their_order_through_the_master() {
    nothing_is_lost_doubled_or_overtaken(Way::Master, 1);
}

#[test]
fn flows_keep_their_order_through_the_master_both_ways() {
    nothing_is_lost_doubled_or_overtaken(Way::MasterBothWays, 2);
}

#[test]
fn flows_keep_their_order_through_ports_that_steer() {
    nothing_is_lost_doubled_or_overtaken(Way::Ports, 3);
}

/// All flows begin with worker 0. Without a balancer they stay there; with one, each of two workers soon does about half of the work,
/// counted in packets.
#[test]
fn a_skewed_load_is_evened_out() {
    let eager = BalanceSettings { period: Duration::from_millis(2), busy_high: 0.0, patience: 1, ..BalanceSettings::default() };
    for way in [Way::Master, Way::Ports] {
        for balance in [None, Some(eager)] {
            let mut world = World::new(way, 2, Settings { balance, when_full: WhenFull::Wait, ..Settings::default() });
            let all: Vec<usize> = (0..FLOWS).collect();
            let mut heaviest = 1.0;
            for _ in 0..if balance.is_some() { 500 } else { 5 } {
                let before = world.engine.loads();
                for _ in 0..50 {
                    world.send(0, &all);
                    world.receive_until("room", |w| w.in_flight() < IN_FLIGHT);
                }
                world.receive_until("all come out", |w| w.in_flight() == 0);
                let after = world.engine.loads();
                let work: Vec<u64> = after.workers.iter().zip(&before.workers).map(|(a, b)| a.packets - b.packets).collect();
                assert_eq!(work.iter().sum::<u64>(), 50 * FLOWS as u64);
                heaviest = *work.iter().max().unwrap() as f64 / (50 * FLOWS) as f64;
                if heaviest < 0.6 {
                    break;
                }
            }
            match balance {
                None => assert_eq!(heaviest, 1.0, "{way:?}"),
                Some(_) => assert!(heaviest < 0.6, "{way:?}: one worker does {heaviest} of the work"),
            }
            let moved = world.close();
            assert_eq!((moved.buckets > 0, moved.added, moved.removed), (balance.is_some(), 0, 0));
        }
    }
}

#[test]
fn workers_come_and_go_by_themselves() {
    let quick =
        BalanceSettings { period: Duration::from_millis(1), scale_patience: 1, workers: Some((1, 3)), ..BalanceSettings::default() };
    let more = BalanceSettings { busy_high: 0.0, ..quick };
    let less = BalanceSettings { busy_high: 2.0, busy_low: 1.0, ..quick };
    for way in [Way::Master, Way::Ports] {
        for (balance, start, end) in [(more, 1, 3), (less, 3, 1)] {
            let mut world = World::new(way, start, Settings { balance: Some(balance), ..Settings::default() });
            world.receive_until("the number of workers", |w| w.engine.workers().len() == end);
            world.send(1, &(0..FLOWS).collect::<Vec<_>>());
            world.close();
        }
    }
}

/// The number that is asked for, again and again, with and without a balancer that would have another, under a load that none of it may touch.
#[test]
fn the_number_of_workers_is_set_while_packets_flow() {
    const ROUNDS: usize = 40;
    let of = |count| BalanceSettings { period: Duration::from_millis(1), workers: Some((count, count)), ..BalanceSettings::default() };
    for (way, seed) in [(Way::Master, 21), (Way::MasterBothWays, 22), (Way::Ports, 23)] {
        let settings = Settings { ring: 64, when_full: WhenFull::Wait, balance: Some(of(4)), ..Settings::default() };
        let mut world = World::new(way, 2, settings);
        let engine = std::mem::replace(&mut world.engine, idle_engine());
        let (mut rng, mut numbers) = (testkit::rng(seed), testkit::rng(seed + 100));
        std::thread::scope(|scope| {
            let engine = &engine;
            let control = scope.spawn(move || {
                let mut changed = 0;
                for round in 0..ROUNDS {
                    let (before, count) = (engine.workers().len(), numbers.random_range(1..=4));
                    let met = engine.ledger().ports.values().map(|p| p.transmitted.packets).sum::<u64>();
                    // In every fourth round a balancer goes on to another.
                    let wanted = if round % 4 == 3 { numbers.random_range(1..=4) } else { count };
                    engine.set_workers(count..=count, (round % 4 == 3).then(|| of(wanted))).unwrap();
                    changed += usize::from(before != count);
                    let end = Instant::now() + Duration::from_secs(60);
                    while engine.workers().len() != wanted
                        || engine.ledger().ports.values().map(|p| p.transmitted.packets).sum::<u64>() < met + 300
                    {
                        assert!(Instant::now() < end, "{way:?}, round {round}: {} workers, not {wanted}", engine.workers().len());
                        std::thread::yield_now();
                    }
                }
                assert!(changed >= ROUNDS / 3, "{changed}");
            });
            while !control.is_finished() {
                if world.in_flight() < IN_FLIGHT {
                    let burst: Vec<usize> = (0..rng.random_range(1..100)).map(|_| rng.random_range(0..FLOWS)).collect();
                    world.send(rng.random_range(0..2), &burst);
                }
                world.receive();
            }
        });
        assert!(engine.moved().added >= 10 && engine.moved().removed >= 10, "{:?}", engine.moved());
        world.engine = engine;
        world.close();
    }
}

/// Each flow has a rate, which all lanes share; what is over it waits.
struct RateLane {
    /// For each flow: when its next packet may go, in ns.
    next_ns: Arc<[Mutex<u64>]>,
    /// Packets of these wait in this lane's worker.
    waits: [bool; FLOWS],
}

/// 10,000 packets a second, and as many at once as go in 10 ms.
const PACKET_NS: u64 = 100_000;
const BURST_NS: u64 = 10_000_000;
const LENGTH: u64 = 60;

impl Lane for RateLane {
    fn process(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64) {
        for (packet, verdict) in packets.iter_mut().zip(verdicts) {
            let (flow, _) = read(packet);
            let has_waited = std::mem::take(&mut packet.metered) != Metered::default();
            let passes = has_waited || !self.waits[flow] && self.take(flow as u32, LENGTH as u32, now_ns) == Taken::Now;
            *verdict = if passes {
                Verdict::forward(PortId(packet.port.0 ^ 1))
            } else {
                packet.metered = Metered::new(1, LENGTH as u16).unwrap();
                Verdict { kind: VerdictKind::Shape, mark: flow as u32, reason: DropReason::SHAPER_FULL.0, ..Verdict::default() }
            };
        }
    }

    fn shape(&mut self, _meter: MeterId) -> bool {
        true
    }

    fn with_rates(&mut self, work: &mut dyn FnMut(&mut dyn Rates)) {
        work(self);
    }

    target_api::lane_without!(process_asking, take_extra, ran_by, poll, next_poll_ns, count);
}

impl Rates for RateLane {
    fn take(&mut self, cell: u32, _units: u32, now_ns: u64) -> Taken {
        let mut next_ns = self.next_ns[cell as usize].lock().unwrap();
        if *next_ns > now_ns {
            return Taken::At(*next_ns);
        }
        *next_ns = (*next_ns).max(now_ns.saturating_sub(BURST_NS)) + PACKET_NS;
        Taken::Now
    }

    fn give_back(&mut self, cell: u32, _units: u32) {
        *self.next_ns[cell as usize].lock().unwrap() -= PACKET_NS;
    }

    fn rate(&self, _cell: u32) -> u64 {
        LENGTH * 1_000_000_000 / PACKET_NS
    }

    fn set_waiting(&mut self, cell: u32, waits: bool) {
        self.waits[cell as usize] = waits;
    }
}

/// Workers come and go while packets of theirs wait for a rate: a bucket moves when none of its packets waits with its old worker.
#[test]
fn what_waits_for_a_rate_is_sent_in_order_when_its_worker_goes_or_its_bucket_moves() {
    const ROUNDS: usize = 6;
    for way in [Way::Master, Way::MasterBothWays] {
        let next_ns: Arc<[Mutex<u64>]> = (0..FLOWS).map(|_| Mutex::new(0)).collect();
        let lane = move |_| Box::new(RateLane { next_ns: next_ns.clone(), waits: [false; FLOWS] }) as Box<dyn Lane>;
        let target: Arc<dyn Target> = Arc::new(StandIn::new(lane));
        // So long that none is late on a busy machine; CoDel never acts.
        let law = Law { target_ns: u64::MAX, interval_ns: 100_000_000 };
        let limits = shaper::Limits { nodes: FLOWS as u32, packets: 10_000, delay_ns: 30_000_000_000, law };
        let shape = Some(ShapeSettings { meter: MeterId::from_u32(0), queues: Queues::Cells, limits, delays: None, owed: None });
        let settings = Settings { ring: 64, when_full: WhenFull::Wait, shape, ..Settings::default() };
        let flows = Arc::new(Flows { idle: Vec::new(), stuck: AtomicBool::new(false) });
        let mut world = World::on(&target, flows, way, 2, settings);
        let engine = std::mem::replace(&mut world.engine, idle_engine());
        std::thread::scope(|scope| {
            let engine = &engine;
            let control = scope.spawn(move || {
                let until_some_wait = || {
                    let end = Instant::now() + Duration::from_secs(60);
                    let waiting = || engine.ledger().with_services();
                    while waiting() < 100 {
                        assert!(Instant::now() < end, "{} packets wait", waiting());
                        std::thread::yield_now();
                    }
                };
                for _ in 0..ROUNDS {
                    until_some_wait();
                    // From the first worker, which stays, to one that goes. They all begin there.
                    engine.move_buckets(&[Move { bucket: 0, to: 1 }, Move { bucket: 8, to: 1 }]).unwrap();
                    until_some_wait();
                    engine.set_workers(1..=1, None).unwrap();
                    engine.set_workers(2..=2, None).unwrap();
                }
            });
            while !control.is_finished() {
                if world.in_flight() < 1000 {
                    world.send(0, &[0, 1, 0, 1, 0, 1, 0, 1]);
                }
                world.receive();
            }
        });
        assert!(engine.moved().held >= ROUNDS as u64, "{:?}", engine.moved());
        world.engine = engine;
        let moved = world.close();
        assert_eq!(moved.removed, ROUNDS as u64);
    }
}

/// A worker that cannot start leaves its ports to the next that is to run there.
#[test]
fn a_worker_that_could_not_start_can_later() {
    struct CountLane(Arc<AtomicBool>);
    impl Lane for CountLane {
        fn process(&mut self, _packets: &mut [Packet], verdicts: &mut [Verdict], _now_ns: u64) {
            verdicts.fill(Verdict::forward(PortId(0)));
        }
        fn count(&mut self, _counter: CounterId, _more: &[Counted]) -> bool {
            self.0.load(SeqCst)
        }

        target_api::lane_without!(process_asking, take_extra, ran_by, poll, next_poll_ns, shape, with_rates);
    }
    let counts = Arc::new(AtomicBool::new(true));
    let of_lane = counts.clone();
    let target: Arc<dyn Target> = Arc::new(StandIn::new(move |_| Box::new(CountLane(of_lane.clone())) as Box<dyn Lane>));
    let marks = Some(MarkSettings { marks: Arc::new(Marks::new(64)), counter: CounterId::from_u32(0) });
    let settings = Settings { marks, ..Settings::default() };
    let flows = Arc::new(Flows { idle: Vec::new(), stuck: AtomicBool::new(false) });
    let world = World::on(&target, flows, Way::Ports, 1, settings);
    counts.store(false, SeqCst);
    let error = world.engine.set_workers(2..=2, None).unwrap_err();
    assert!(error.to_string().contains("cannot count"), "{error}");
    assert_eq!(world.engine.workers(), [0]);
    counts.store(true, SeqCst);
    world.engine.set_workers(4..=4, None).unwrap();
    assert_eq!(world.engine.workers(), [0, 1, 2, 3]);
    world.engine.set_workers(2..=3, None).unwrap();
    assert_eq!(world.engine.workers(), [0, 1, 2], "the nearest number");
    world.engine.set_workers(1..=4, None).unwrap();
    assert_eq!(world.engine.workers(), [0, 1, 2], "it is one of these");
    let (most, least) = (3, 1);
    assert!(world.engine.set_workers(most..=least, None).is_err());
}

/// One UE's flood takes nothing from the UEs of other workers, and what it loses is counted.
#[test]
fn a_worker_that_is_behind_loses_its_own_packets_only() {
    let mut world = World::new(Way::Master, 2, Settings { ring: 256, ..Settings::default() });
    // Its worker may take a burst out of the full ring at any time, and so make room in the middle of the flow.
    world.may_lose = Some(0);
    world.engine.move_buckets(&[Move { bucket: 8, to: 1 }]).unwrap();
    world.flows.stuck.store(true, SeqCst);
    for _ in 0..30 {
        world.send(0, &[0; 100]);
        world.send(0, &[1; 10]);
    }
    world.receive_until("flow 1 comes out", |w| w.received[0][1] == 300);
    assert_eq!(world.received[0][0], 0);
    // It can be got out of its worker's way only when the worker goes on: a move waits for it, others do not.
    world.flows.stuck.store(false, SeqCst);
    world.receive_until("all is accounted for", |w| {
        let ledger = w.engine.ledger();
        ledger.ports[&PortId(0)].received.packets == 3300 && ledger.imbalance() == 0
    });
    let lost = world.engine.ledger().dropped[&DropReason::WORKER_FULL.0].packets;
    assert!(lost > 1000, "{lost} lost");
    assert_eq!(world.engine.ledger().ports[&PortId(1)].transmitted.packets, 3300 - lost);
    assert_eq!(world.engine.ledger().dropped.len(), 1);
}

/// ARP and the like have no UE, and so the hash 0.
#[test]
fn what_is_of_no_ue_has_a_place_where_users_packets_fill_the_ring() {
    let mut world = World::new(Way::Master, 1, Settings { ring: 64, ..Settings::default() });
    world.may_lose = Some(1);
    world.flows.stuck.store(true, SeqCst);
    world.send(0, &[0]);
    (0..10).for_each(|_| world.send(0, &[1; 60]));
    world.receive_until("the ring is full", |w| w.engine.ledger().ports[&PortId(0)].received.packets == 601);
    world.send(0, &[0; 20]);
    world.receive_until("those of no UE are taken", |w| w.engine.ledger().ports[&PortId(0)].received.packets == 621);
    world.flows.stuck.store(false, SeqCst);
    world.receive_until("they come out", |w| w.received[0][0] == 21);
    let lost = world.engine.ledger().dropped[&DropReason::WORKER_FULL.0].packets;
    assert!(lost > 300, "{lost} lost");
    world.receive_until("the others too", |w| u64::from(w.received[0][1]) == 600 - lost);
    assert_eq!(world.engine.ledger().imbalance(), 0);
}

#[test]
fn what_cannot_be_is_refused() {
    let world = World::new(Way::Master, 1, Settings::default());
    assert!(world.engine.remove_worker(0).is_err(), "the last stays");
    assert!(world.engine.remove_worker(1).is_err());
    assert!(world.engine.move_buckets(&[Move { bucket: 0, to: 1 }]).is_err());
    assert!(world.engine.move_buckets(&[Move { bucket: BUCKETS as u16, to: 0 }]).is_err());
    assert_eq!(world.engine.add_worker().unwrap(), 1);
    world.engine.stop();
    assert!(world.engine.add_worker().is_err() && world.engine.remove_worker(1).is_err());
    let world = World::new(Way::Ports, 4, Settings::default());
    assert!(world.engine.add_worker().is_err(), "there are four queues");
    world.engine.remove_worker(2).unwrap();
    assert_eq!(world.engine.add_worker().unwrap(), 2);
    world.engine.set_workers(3..=3, None).unwrap();
    assert!(world.engine.set_workers(5..=5, None).is_err(), "there are four queues");
    assert_eq!(world.engine.workers().len(), 3, "as many as before");
    assert!(world.engine.set_workers(0..=0, None).is_err(), "the last stays");
    assert_eq!(world.engine.workers().len(), 3, "as many as before");
    let fixed = idle_engine();
    fixed.set_workers(1..=1, Some(BalanceSettings::default())).unwrap();
    assert!(fixed.set_workers(2..=2, None).is_err() && fixed.workers().len() == 1);
    assert!(fixed.owners().is_none() && fixed.add_worker().is_err() && fixed.move_buckets(&[]).is_err());
}
