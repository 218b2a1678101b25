//! The engine with a target that does what a packet's first byte says.

use base::{DropReason, Packet, PortId, Verdict, VerdictKind};
use buffer::idle::{IdleBuffer, Limits};
use crossbeam_channel::{Receiver, bounded};
use engine::{BufferFate, Engine, Event, Settings};
use pktio::Port;
use pktio::memory::MemoryPort;
use service::SharedDeployment;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use target_api::{Count, Target};
use target_kit::stand_in;

const FORWARD: u8 = 0;
const BUFFER: u8 = 1;
const PUNT: u8 = 2;
const DROP: u8 = 3;
const NOWHERE: u8 = 4;
const PANIC: u8 = 5;
const VITAL: u8 = 6;
const TOLD: u8 = 7;
/// How long anything may take that does not depend on how busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);
/// The queue of buffered packets.
const QUEUE: u32 = 7;

/// Packets that say BUFFER are buffered until `released`, then forwarded.
fn scripted(released: Arc<AtomicBool>) -> Arc<dyn Target> {
    stand_in(move |packet| {
        let across = Verdict::forward(PortId(packet.port.0 ^ 1));
        match packet.data()[0] {
            FORWARD => across,
            BUFFER if released.load(Ordering::SeqCst) => across,
            BUFFER => Verdict { kind: VerdictKind::Buffer, mark: QUEUE, ..Verdict::default() },
            PUNT => Verdict { kind: VerdictKind::Punt, reason: 9, mark: 3, ..Verdict::default() },
            VITAL => Verdict { kind: VerdictKind::Punt, reason: 10, ..Verdict::default() },
            TOLD => Verdict { kind: VerdictKind::Punt, reason: 11, ..Verdict::default() },
            PANIC => panic!("as it was told"),
            NOWHERE => Verdict::forward(PortId(77)),
            _ => Verdict::drop(DropReason(20)),
        }
    })
}

struct World {
    engine: Engine,
    released: Arc<AtomicBool>,
    events: Receiver<Event>,
    /// For each worker its far ends of ports 0 and 1.
    far: Vec<[MemoryPort; 2]>,
    buffer: Arc<SharedDeployment>,
}

/// Packets that fit a port.
const PORT_PACKETS: usize = 4096;

fn world(workers: usize, buffers: Limits) -> World {
    world_with_events(workers, buffers, 1024)
}

/// With room for so many events that the control plane has not taken yet.
fn world_with_events(workers: usize, buffers: Limits, room: usize) -> World {
    let released = Arc::new(AtomicBool::new(false));
    let target = scripted(released.clone());
    let (sender, events) = bounded(room);
    let (mut near, mut far) = (Vec::new(), Vec::new());
    for _ in 0..workers {
        let (a, far_a) = pktio::memory::pair("a", "far a", PORT_PACKETS);
        let (b, far_b) = pktio::memory::pair("b", "far b", PORT_PACKETS);
        let ports: Vec<(PortId, Box<dyn Port>)> = vec![(PortId(0), Box::new(a)), (PortId(1), Box::new(b))];
        near.push(ports);
        far.push([far_a, far_b]);
    }
    let buffer = IdleBuffer::deploy(buffers);
    let settings = Settings { buffer: Some(buffer.clone()), vital_punts: vec![10], told_punts: vec![11], ..Settings::default() };
    let engine = Engine::start(&target, near, settings, sender).unwrap();
    World { engine, released, events, far, buffer }
}

impl World {
    /// The engine's ledger and the buffer's own counters say the same.
    fn stop(&self) {
        self.engine.stop();
        let (ledger, counters) = (self.engine.ledger(), self.buffer.counters());
        assert_eq!((counters.kept, counters.returned), (ledger.buffered.packets, ledger.released.packets), "{counters:?}");
        assert_eq!((counters.imbalance(), counters.waiting()), (0, 0), "{counters:?}");
    }
}

fn packet(what: u8, number: u32) -> Packet {
    let mut bytes = vec![what, 0, 0, 0];
    bytes.extend(number.to_be_bytes());
    Packet::new(&bytes, PortId(0))
}

fn number(packet: &Packet) -> u32 {
    u32::from_be_bytes(packet.data()[4..8].try_into().unwrap())
}

/// Waits for `n` packets from a far end.
fn receive(port: &mut MemoryPort, n: usize) -> Vec<Packet> {
    let mut got = Vec::new();
    let mut burst: Vec<Packet> = (0..64).map(|_| Packet::empty(0)).collect();
    let end = Instant::now() + PATIENCE;
    while got.len() < n && Instant::now() < end {
        let k = port.receive(&mut burst).unwrap();
        got.extend(burst[..k].iter().cloned());
        if k == 0 {
            std::thread::yield_now();
        }
    }
    assert_eq!(got.len(), n);
    got
}

fn wait_until(what: &str, mut holds: impl FnMut() -> bool) {
    let end = Instant::now() + PATIENCE;
    while !holds() {
        assert!(Instant::now() < end, "{what}");
        std::thread::yield_now();
    }
}

#[test]
fn every_fate_is_counted_where_it_happens() {
    let mut w = world(1, Limits { per_queue: 2, total: 10, ..Default::default() });
    for (n, what) in [FORWARD, PUNT, DROP, NOWHERE, BUFFER, BUFFER, BUFFER].into_iter().enumerate() {
        assert_eq!(w.far[0][0].transmit(&[packet(what, n as u32)]).unwrap(), 1);
    }
    assert_eq!(number(&receive(&mut w.far[0][1], 1)[0]), 0);
    wait_until("all packets are received", || w.engine.ledger().ports[&PortId(0)].received.packets == 7);
    wait_until("the ledger balances", || w.engine.ledger().imbalance() == 0);
    let events: Vec<Event> = w.events.try_iter().collect();
    assert!(matches!(events[..], [Event::Punt { reason: 9, mark: 3, .. }, Event::Buffering { queue: QUEUE }, ..]), "{events:?}");
    assert!(events[1..].iter().all(|e| matches!(e, Event::Buffering { queue: QUEUE })), "{events:?}");
    let ledger = w.engine.ledger();
    assert_eq!(ledger.ports[&PortId(1)].transmitted, Count { packets: 1, bytes: 8 });
    assert_eq!(ledger.punted[&9].packets, 1);
    assert_eq!(ledger.dropped[&20].packets, 1);
    assert_eq!(ledger.dropped[&DropReason::NO_PORT.0].packets, 1);
    assert_eq!(ledger.dropped[&DropReason::BUFFER_FULL.0].packets, 1);
    let by_port: Vec<(u8, u64)> = ledger.ports[&PortId(0)].dropped.iter().map(|(reason, count)| (*reason, count.packets)).collect();
    let mut expected = [20, DropReason::NO_PORT.0, DropReason::BUFFER_FULL.0].map(|reason| (reason, 1));
    expected.sort_unstable();
    assert_eq!(by_port, expected, "at the port that they came in by");
    assert!(ledger.ports[&PortId(1)].dropped.is_empty() && ledger.ports.values().all(|port| port.unsent.is_empty()), "{ledger:?}");
    assert_eq!((ledger.buffered.packets, ledger.waiting()), (2, 2));
    w.stop();
    let ledger = w.engine.ledger();
    assert_eq!(ledger.dropped[&DropReason::STOPPING.0].packets, 2, "what waited is not lost in silence");
    assert_eq!((ledger.waiting(), ledger.imbalance()), (0, 0));
    assert!(w.engine.inject(vec![packet(FORWARD, 0)]).is_err());
}

/// Punts may be lost to a control plane that is behind, with a reason; that a UE is to be paged may not, and packets do not
/// wait until it is told.
#[test]
fn that_packets_are_buffered_is_told_even_when_punts_fill_the_queue() {
    let mut w = world_with_events(1, Limits { per_queue: 8, total: 8, ..Default::default() }, 1);
    for (n, what) in [PUNT, PUNT, BUFFER, BUFFER, FORWARD].into_iter().enumerate() {
        assert_eq!(w.far[0][0].transmit(&[packet(what, n as u32)]).unwrap(), 1);
    }
    assert_eq!(number(&receive(&mut w.far[0][1], 1)[0]), 4);
    wait_until("the ledger balances", || w.engine.ledger().imbalance() == 0);
    let ledger = w.engine.ledger();
    assert_eq!((ledger.punted[&9].packets, ledger.dropped[&DropReason::PUNT_FULL.0].packets), (1, 1));
    let next = || w.events.recv_timeout(PATIENCE).unwrap();
    assert!(matches!(next(), Event::Punt { .. }));
    assert!(matches!(next(), Event::Buffering { queue: QUEUE }));
    assert!(matches!(next(), Event::Buffering { queue: QUEUE }));
}

#[test]
fn punted_packets_of_users_leave_room_for_those_that_links_live_by() {
    let mut w = world_with_events(1, Limits::default(), 64);
    let mut sent = 0;
    let mut send = |what: u8, count: u32| {
        let packets: Vec<Packet> = (0..count).map(|n| packet(what, n)).collect();
        assert_eq!(w.far[0][0].transmit(&packets).unwrap(), packets.len());
        sent += u64::from(count);
        wait_until("all are punted or dropped", || {
            let ledger = w.engine.ledger();
            ledger.imbalance() == 0 && ledger.ports[&PortId(0)].received.packets == sent
        });
        let ledger = w.engine.ledger();
        let of = |reason: u8| ledger.punted.get(&reason).map_or(0, |count| count.packets);
        let dropped = |reason: u8| ledger.dropped.get(&reason).map_or(0, |count| count.packets);
        (of(9), of(10), of(11), dropped(DropReason::PUNT_FULL.0), dropped(11))
    };
    // Those that end here, and whose senders are told, have a quarter; beyond they are dropped for what they are.
    assert_eq!(send(TOLD, 20), (0, 0, 16, 0, 4));
    assert_eq!(send(PUNT, 100), (40, 0, 16, 60, 4));
    assert_eq!(send(VITAL, 20), (40, 8, 16, 72, 4));
    drop(w.events);
}

/// Packets keep coming while those of an idle UE are released: none may overtake, none may be lost.
#[test]
fn released_packets_are_not_overtaken() {
    for workers in [1, 2] {
        let mut w = world(workers, Limits { per_queue: 1 << 20, total: 1 << 20, ..Default::default() });
        let mut sent = vec![0u32; workers];
        let mut got: Vec<Vec<u32>> = vec![Vec::new(); workers];
        let mut send = |far: &mut [[MemoryPort; 2]], worker: usize| {
            sent[worker] += far[worker][0].transmit(&[packet(BUFFER, sent[worker])]).unwrap() as u32;
            sent[worker]
        };
        let mut so_far = vec![0; workers];
        for n in 0..500 * workers {
            so_far[n % workers] = send(&mut w.far, n % workers) as usize;
        }
        wait_until("these are buffered", || w.engine.ledger().waiting() == 500 * workers as u64);
        let mut burst: Vec<Packet> = (0..64).map(|_| Packet::empty(0)).collect();
        std::thread::scope(|scope| {
            let (engine, released) = (&w.engine, &w.released);
            let releasing = scope.spawn(move || {
                std::thread::sleep(Duration::from_millis(2));
                engine.end_buffering(&[(QUEUE, BufferFate::Release)], || {
                    released.store(true, Ordering::SeqCst);
                    Ok::<(), ()>(())
                })
            });
            // Until some that came later are through, however long the release takes on a busy machine: what comes out is
            // taken away meanwhile, and what is still to come out fits the port, as a full one would lose packets.
            let (end, mut n) = (Instant::now() + PATIENCE, 0);
            while !releasing.is_finished() || got.iter().any(|got| got.len() < 1000) {
                assert!(Instant::now() < end, "{:?} came out", got.iter().map(Vec::len).collect::<Vec<_>>());
                let worker = n % workers;
                if so_far[worker] - got[worker].len() < PORT_PACKETS / 2 {
                    so_far[worker] = send(&mut w.far, worker) as usize;
                }
                let k = w.far[worker][1].receive(&mut burst).unwrap();
                got[worker].extend(burst[..k].iter().map(number));
                n += 1;
            }
            assert_eq!(releasing.join().unwrap().unwrap(), Ok(()));
        });
        let dropped = w.engine.ledger().dropped;
        assert!(dropped.is_empty(), "{dropped:?}");
        for (worker, (count, mut got)) in sent.iter().zip(got).enumerate() {
            got.extend(receive(&mut w.far[worker][1], *count as usize - got.len()).iter().map(number));
            assert!(got.iter().copied().eq(0..*count), "worker {worker} of {workers}: order is kept");
        }
        w.stop();
        let ledger = w.engine.ledger();
        let buffered = ledger.buffered.packets;
        assert!(buffered >= 500 * workers as u64 && u64::from(sent.iter().sum::<u32>()) > buffered, "{buffered} of {sent:?} were buffered");
        assert_eq!((ledger.imbalance(), ledger.waiting(), ledger.dropped.len()), (0, 0, 0));
    }
}

#[test]
fn a_worker_that_fails_is_named_and_nobody_waits_for_it() {
    let mut w = world(2, Limits::default());
    assert_eq!(w.engine.failed(), None);
    w.far[1][0].transmit(&[packet(PANIC, 0)]).unwrap();
    wait_until("its end is seen", || w.engine.failed().as_deref() == Some("worker-1"));
    assert!(w.engine.end_buffering(&[], || Ok::<(), ()>(())).is_err() && w.engine.drain().is_err());
    // The other goes on.
    w.far[0][0].transmit(&[packet(FORWARD, 3)]).unwrap();
    assert_eq!(number(&receive(&mut w.far[0][1], 1)[0]), 3);
    w.engine.stop();
    assert_eq!((w.engine.failed(), w.engine.ledger().imbalance()), (None, 1), "what it had is missed");
}

#[test]
fn packets_that_wait_too_long_in_a_buffer_are_dropped_with_a_reason() {
    let mut w = world(1, Limits { max_age: Duration::ZERO, ..Limits::default() });
    for n in 0..3 {
        w.far[0][0].transmit(&[packet(BUFFER, n)]).unwrap();
    }
    wait_until("they are buffered", || w.engine.ledger().buffered.packets == 3);
    wait_until("they are dropped", || {
        w.engine.age_buffers();
        w.engine.ledger().waiting() == 0
    });
    let ledger = w.engine.ledger();
    assert_eq!((ledger.dropped[&DropReason::BUFFER_AGED.0].packets, ledger.imbalance()), (3, 0));
}

/// What was told before the change is in the channel when it is made, and what the change gives is run before anything that comes later.
#[test]
fn what_the_control_plane_lets_go_is_not_overtaken() {
    for workers in [1, 2] {
        let mut w = world(workers, Limits::default());
        for round in 0..200u32 {
            w.far[0][0].transmit(&[packet(PUNT, 2 * round)]).unwrap();
            wait_until("it is punted", || !w.events.is_empty());
            // It comes while the change is made.
            let (far, events) = (&mut w.far, &w.events);
            let change = || {
                far[0][0].transmit(&[packet(FORWARD, 2 * round + 1)]).unwrap();
                let punted =
                    events.try_iter().map(|event| if let Event::Punt { packet, .. } = event { packet } else { panic!("{event:?}") });
                let again = punted.map(|p| packet(FORWARD, number(&p)));
                Ok::<_, ()>(again.collect())
            };
            w.engine.release(change).unwrap().unwrap();
            let got: Vec<u32> = receive(&mut w.far[0][1], 2).iter().map(number).collect();
            assert_eq!(got, [2 * round, 2 * round + 1]);
        }
        w.engine.stop();
        let ledger = w.engine.ledger();
        assert_eq!((ledger.injected.packets, ledger.imbalance()), (200, 0));
    }
}

#[test]
fn a_change_that_fails_ends_no_wait() {
    let mut w = world(1, Limits::default());
    w.far[0][0].transmit(&[packet(BUFFER, 0)]).unwrap();
    wait_until("it is buffered", || w.engine.ledger().waiting() == 1);
    assert_eq!(w.engine.end_buffering(&[(QUEUE, BufferFate::Discard)], || Err("no")).unwrap(), Err("no"));
    assert_eq!(w.engine.ledger().waiting(), 1);
    assert_eq!(w.engine.end_buffering(&[(QUEUE, BufferFate::Discard)], || Ok::<(), ()>(())).unwrap(), Ok(()));
    wait_until("it is discarded", || w.engine.ledger().waiting() == 0);
    assert_eq!(w.engine.ledger().dropped[&DropReason::BUFFER_DISCARDED.0].packets, 1);
    w.stop();
}

#[test]
fn without_a_buffer_packets_for_it_are_dropped_by_name() {
    let (sender, _events) = bounded(16);
    let ((a, mut far), (b, _far_b)) = (pktio::memory::pair("a", "far a", 64), pktio::memory::pair("b", "far b", 64));
    let ports: Vec<(PortId, Box<dyn Port>)> = vec![(PortId(0), Box::new(a)), (PortId(1), Box::new(b))];
    let engine = Engine::start(&scripted(Arc::default()), vec![ports], Settings::default(), sender).unwrap();
    far.transmit(&[packet(BUFFER, 0)]).unwrap();
    wait_until("it is dropped", || engine.ledger().dropped.contains_key(&DropReason::SERVICE_DOWN.0));
    assert_eq!(engine.end_buffering(&[(QUEUE, BufferFate::Release)], || Ok::<(), ()>(())).unwrap(), Ok(()));
    assert!(!engine.waits(QUEUE));
    engine.age_buffers();
    engine.stop();
    assert_eq!((engine.ledger().imbalance(), engine.ledger().waiting()), (0, 0));
}

#[test]
fn what_the_control_plane_sends_is_counted_too() {
    let mut w = world(1, Limits::default());
    w.engine.inject(vec![packet(FORWARD, 5)]).unwrap();
    assert_eq!(number(&receive(&mut w.far[0][1], 1)[0]), 5);
    w.engine.transmit(PortId(0), packet(DROP, 6)).unwrap();
    assert_eq!(number(&receive(&mut w.far[0][0], 1)[0]), 6);
    w.engine.stop();
    assert_eq!((w.engine.ledger().injected.packets, w.engine.ledger().imbalance()), (2, 0));
}

#[test]
fn what_was_in_the_ports_has_left_when_they_are_drained() {
    let mut world = world(2, Limits::default());
    for round in 0..50 {
        for far in &mut world.far {
            let packets: Vec<Packet> = (0..300).map(|n| packet(FORWARD, 300 * round + n)).collect();
            assert_eq!(far[0].transmit(&packets).unwrap(), 300);
        }
        world.engine.drain().unwrap();
        // All at once: nothing is waited for.
        let mut burst: Vec<Packet> = (0..301).map(|_| Packet::empty(0)).collect();
        for far in &mut world.far {
            let n = far[1].receive(&mut burst).unwrap();
            assert!(burst[..n].iter().map(number).eq(300 * round..300 * round + 300), "round {round}: {n} of 300");
        }
    }
    world.engine.stop();
    assert!(world.engine.drain().is_err());
}

/// The control plane answers peers meanwhile, and changes sessions.
#[test]
fn a_drain_that_a_packet_holds_up_holds_nobody_else_up() {
    let stuck = Arc::new(AtomicBool::new(true));
    let held = stuck.clone();
    let target = stand_in(move |packet| {
        while packet.data()[0] == BUFFER && held.load(Ordering::SeqCst) {
            std::thread::yield_now();
        }
        Verdict::forward(PortId(packet.port.0 ^ 1))
    });
    let (sender, _events) = bounded(16);
    let ((a, mut far_a), (b, mut far_b)) = (pktio::memory::pair("a", "far a", 64), pktio::memory::pair("b", "far b", 64));
    let ports: Vec<(PortId, Box<dyn Port>)> = vec![(PortId(0), Box::new(a)), (PortId(1), Box::new(b))];
    let engine = Engine::start(&target, vec![ports], Settings::default(), sender).unwrap();
    far_a.transmit(&[packet(BUFFER, 0)]).unwrap();
    let drains = [engine.begin_drain().unwrap(), engine.begin_drain().unwrap()];
    engine.transmit(PortId(1), packet(FORWARD, 1)).unwrap();
    engine.age_buffers();
    assert_eq!((engine.workers(), engine.failed()), (vec![0], None));
    assert!(drains.iter().all(|drain| !drain.is_finished()));
    stuck.store(false, Ordering::SeqCst);
    drains.into_iter().for_each(engine::Draining::wait);
    let mut burst: Vec<Packet> = (0..3).map(|_| Packet::empty(0)).collect();
    assert!(far_b.receive(&mut burst).unwrap() >= 1, "what was drained has been sent");
}

#[test]
fn a_master_and_its_workers_are_drained_together() {
    let target = scripted(Arc::default());
    let (sender, _events) = bounded(16);
    let (a, mut far_a) = pktio::memory::pair("a", "far a", PORT_PACKETS);
    let (b, mut far_b) = pktio::memory::pair("b", "far b", PORT_PACKETS);
    let ports: Vec<(PortId, Box<dyn Port>)> = vec![(PortId(0), Box::new(a)), (PortId(1), Box::new(b))];
    // To both workers.
    let hash = |bytes: &[u8], _: PortId| u32::from(bytes[7]).wrapping_mul(0x9e37_79b9);
    let engine = Engine::start_steered(&target, ports, hash, 2, Settings::default(), sender).unwrap();
    for round in 0..50 {
        let packets: Vec<Packet> = (0..300).map(|n| packet(FORWARD, 300 * round + n)).collect();
        assert_eq!(far_a.transmit(&packets).unwrap(), 300);
        engine.drain().unwrap();
        let mut burst: Vec<Packet> = (0..301).map(|_| Packet::empty(0)).collect();
        let n = far_b.receive(&mut burst).unwrap();
        let mut numbers: Vec<u32> = burst[..n].iter().map(number).collect();
        numbers.sort_unstable();
        assert!(numbers.into_iter().eq(300 * round..300 * round + 300), "round {round}: {n} of 300");
    }
}

/// Takes packets, and gives them away only when it has been asked several times.
#[derive(Clone, Default)]
struct Reluctant(Arc<AtomicUsize>);

impl Port for Reluctant {
    fn name(&self) -> &str {
        "reluctant"
    }
    fn receive(&mut self, _: &mut [Packet]) -> Result<usize, pktio::PortError> {
        Ok(0)
    }
    fn transmit(&mut self, packets: &[Packet]) -> Result<usize, pktio::PortError> {
        Ok(packets.len())
    }
    fn flush(&mut self) -> Result<(), pktio::PortError> {
        self.0.fetch_add(1, Ordering::SeqCst);
        Ok(())
    }
    fn unsent(&self) -> usize {
        usize::from(self.0.load(Ordering::SeqCst) < 10)
    }
    fn max_frame(&self) -> usize {
        1514
    }
    fn device_drops(&mut self) -> pktio::DeviceDrops {
        pktio::DeviceDrops::default()
    }
}

#[test]
fn what_a_device_left_over_does_not_wait_for_the_next_packet() {
    let target = scripted(Arc::default());
    for by_master in [false, true] {
        let (sender, _events) = bounded(16);
        let (a, mut far) = pktio::memory::pair("a", "far a", 64);
        let device = Reluctant::default();
        let ports: Vec<(PortId, Box<dyn Port>)> = vec![(PortId(0), Box::new(a)), (PortId(1), Box::new(device.clone()))];
        let _engine = if by_master {
            Engine::start_steered(&target, ports, |_, _| 0, 1, Settings::default(), sender).unwrap()
        } else {
            Engine::start(&target, vec![ports], Settings::default(), sender).unwrap()
        };
        assert_eq!(far.transmit(&[packet(FORWARD, 0)]).unwrap(), 1);
        wait_until("it is asked until it has sent all", || device.unsent() == 0);
    }
}

#[test]
fn a_full_port_drops_with_a_reason() {
    let mut w = world(1, Limits::default());
    let mut sent = 0;
    while sent < 6000 {
        sent += w.far[0][0].transmit(&[packet(FORWARD, sent as u32)]).unwrap();
    }
    wait_until("all are accounted for", || {
        let ledger = w.engine.ledger();
        ledger.ports[&PortId(0)].received.packets == 6000 && ledger.imbalance() == 0
    });
    let ledger = w.engine.ledger();
    let full = ledger.dropped[&DropReason::TX_FULL.0].packets;
    assert_eq!(full + ledger.ports[&PortId(1)].transmitted.packets, 6000);
    assert!(full > 0);
}

/// A device whose interface comes and goes.
#[derive(Clone)]
struct Fickle {
    gone: Arc<AtomicBool>,
    asked: Arc<AtomicUsize>,
    sent: Arc<AtomicUsize>,
}

impl Fickle {
    fn check(&self) -> Result<(), pktio::PortError> {
        match self.gone.load(Ordering::SeqCst) {
            true => Err(pktio::PortError::Config("it is gone".into())),
            false => Ok(()),
        }
    }
}

impl Port for Fickle {
    fn name(&self) -> &str {
        "fickle"
    }
    fn receive(&mut self, _: &mut [Packet]) -> Result<usize, pktio::PortError> {
        self.check().map(|()| 0)
    }
    fn transmit(&mut self, packets: &[Packet]) -> Result<usize, pktio::PortError> {
        self.check()?;
        self.sent.fetch_add(packets.len(), Ordering::SeqCst);
        Ok(packets.len())
    }
    fn flush(&mut self) -> Result<(), pktio::PortError> {
        Ok(())
    }
    fn reopen(&self) -> Option<Result<Box<dyn Port>, pktio::PortError>> {
        self.asked.fetch_add(1, Ordering::SeqCst);
        Some(self.check().map(|()| Box::new(self.clone()) as Box<dyn Port>))
    }
    fn max_frame(&self) -> usize {
        1514
    }
    fn device_drops(&mut self) -> pktio::DeviceDrops {
        pktio::DeviceDrops { rx_full: 3, ..pktio::DeviceDrops::default() }
    }
}

#[test]
fn an_interface_that_is_made_anew_is_used_again_and_what_was_for_it_meanwhile_is_counted() {
    for by_master in [false, true] {
        let (sender, events) = bounded(16);
        let (a, mut far) = pktio::memory::pair("a", "far a", 64);
        let device = Fickle { gone: Arc::default(), asked: Arc::default(), sent: Arc::default() };
        let ports: Vec<(PortId, Box<dyn Port>)> = vec![(PortId(0), Box::new(a)), (PortId(1), Box::new(device.clone()))];
        let target = scripted(Arc::default());
        let engine = match by_master {
            true => Engine::start_steered(&target, ports, |_, _| 0, 1, Settings::default(), sender).unwrap(),
            false => Engine::start(&target, vec![ports], Settings::default(), sender).unwrap(),
        };
        device.gone.store(true, Ordering::SeqCst);
        assert!(matches!(events.recv_timeout(PATIENCE), Ok(Event::PortDown { port: PortId(1), .. })));
        far.transmit(&[packet(FORWARD, 1), packet(FORWARD, 2)]).unwrap();
        let dropped = || engine.ledger().dropped.get(&DropReason::PORT_DOWN.0).map_or(0, |count| count.packets);
        wait_until("what was to leave by it is dropped", || dropped() == 2);
        wait_until("it is tried again", || device.asked.load(Ordering::SeqCst) >= 2);
        device.gone.store(false, Ordering::SeqCst);
        assert!(matches!(events.recv_timeout(PATIENCE), Ok(Event::PortUp { port: PortId(1) })));
        far.transmit(&[packet(FORWARD, 3)]).unwrap();
        wait_until("packets leave by it again", || device.sent.load(Ordering::SeqCst) == 1);
        engine.stop();
        let ledger = engine.ledger();
        assert_eq!((ledger.imbalance(), ledger.ports[&PortId(1)].device.rx_full, dropped()), (0, 6, 2));
        // At the port that they were to leave by.
        let unsent = |port: u16| ledger.ports[&PortId(port)].unsent.get(&DropReason::PORT_DOWN.0).map_or(0, |count| count.packets);
        assert_eq!((unsent(0), unsent(1), ledger.ports[&PortId(0)].dropped.len()), (0, 2, 0));
    }
}
