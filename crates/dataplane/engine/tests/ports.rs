//! Do ports come and go while packets flow, without a packet that is lost, doubled or overtaken, and is what waited there sent or counted with a reason?

use base::{DropReason, Packet, PortId, Verdict};
use crossbeam_channel::{bounded, unbounded};
use engine::{BUCKETS, Engine, EngineError, Fill, NewPort, QueueSettings, Settings, WhenFull, WorkerPorts};
use pktio::{Port, memory, steered};
use shaper::codel::Law;
use shaper::{PortSettings, SliceSettings};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU16, Ordering::SeqCst};
use std::time::{Duration, Instant};
use target_kit::stand_in;

/// How long anything may take that does not depend on how busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);
const FLOWS: usize = 16;
/// Each holds all that may be in flight.
const QUEUE: usize = 8192;
const IN_FLIGHT: usize = 2000;
/// Workers' slots where packets are steered.
const SLOTS: usize = 4;

/// How packets get to workers.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Way {
    OneWorker,
    Master,
    Steered,
}

fn frame(flow: usize, place: u32) -> Packet {
    let mut bytes = [0; 60];
    bytes[..4].copy_from_slice(&(flow as u32).to_be_bytes());
    bytes[4..8].copy_from_slice(&place.to_be_bytes());
    Packet::new(&bytes, PortId(0))
}

/// Flow, and place in the flow.
fn read(packet: &Packet) -> (usize, u32) {
    let word = |at: usize| u32::from_be_bytes(packet.data()[at..at + 4].try_into().unwrap());
    (word(0) as usize, word(4))
}

fn hash(frame: &[u8], _: PortId) -> u32 {
    u32::from_be_bytes(frame[..4].try_into().unwrap())
}

/// By worker.
type Devices = Vec<Vec<Box<dyn Port>>>;

/// The devices of a port, and its far end.
fn open(way: Way, id: PortId) -> (Devices, Box<dyn Port>) {
    if way == Way::Steered {
        let (near, far) = steered::device("dev", id, SLOTS, BUCKETS, QUEUE, hash).unwrap();
        return (near.into_iter().map(|port| vec![Box::new(port) as Box<dyn Port>]).collect(), Box::new(far));
    }
    let (near, far) = memory::pair("near", "far", QUEUE);
    (vec![vec![Box::new(near)]], Box::new(far))
}

/// An engine on these ports that sends what comes by port 0 to the port `out`, and all else to port 0.
fn start(way: Way, ports: &[PortId], out: Arc<AtomicU16>) -> (Engine, Vec<Box<dyn Port>>) {
    let target = stand_in(move |packet| Verdict::forward(PortId(if packet.port == PortId(0) { out.load(SeqCst) } else { 0 })));
    let mut shares: Vec<WorkerPorts> = (0..if way == Way::Steered { SLOTS } else { 1 }).map(|_| Vec::new()).collect();
    let mut fars = Vec::new();
    for id in ports {
        let (of_workers, far) = open(way, *id);
        shares.iter_mut().zip(of_workers).for_each(|(share, of)| share.extend(of.into_iter().map(|device| (*id, device))));
        fars.push(far);
    }
    let events = bounded(16).0;
    let settings = Settings { when_full: WhenFull::Wait, ..Settings::default() };
    let engine = match way {
        Way::OneWorker => Engine::start(&target, shares, settings, events),
        Way::Master => Engine::start_steered(&target, shares.remove(0), hash, 2, settings, events),
        Way::Steered => Engine::start_some(&target, shares, 2, Settings { port_hash: Some(hash), ..settings }, events),
    };
    (engine.unwrap(), fars)
}

fn receive(far: &mut dyn Port, into: &mut Vec<(usize, u32)>) {
    let mut burst: Vec<Packet> = (0..64).map(|_| Packet::empty(0)).collect();
    let n = far.receive(&mut burst).unwrap();
    into.extend(burst[..n].iter().map(read));
}

fn send(far: &mut dyn Port, packet: &Packet) {
    let end = Instant::now() + PATIENCE;
    while far.transmit(std::slice::from_ref(packet)).unwrap() == 0 {
        assert!(Instant::now() < end, "no room");
    }
}

/// Flows go to a port; another is added, takes them over, and the first goes, again and again. Numbers are used twice, workers come and go between.
#[test]
fn flows_move_to_a_port_that_was_added_and_nothing_is_lost_when_the_other_goes() {
    const ROUNDS: u16 = 12;
    for way in [Way::OneWorker, Way::Master, Way::Steered] {
        let out = Arc::new(AtomicU16::new(1));
        let (engine, mut fars) = start(way, &[PortId(0), PortId(1)], out.clone());
        let (opened, more) = unbounded::<Box<dyn Port>>();
        let done = AtomicBool::new(false);
        let mut source = fars.remove(0);
        let mut came: Vec<Vec<(usize, u32)>> = vec![Vec::new()];
        let (mut sent, mut back) = (vec![0u32; FLOWS], Vec::new());
        std::thread::scope(|scope| {
            let (engine, done, out) = (&engine, &done, &out);
            let control = scope.spawn(move || {
                for round in 0..ROUNDS {
                    let (old, id) = (PortId(1 + round % 3), PortId(1 + (round + 1) % 3));
                    let before = engine.ledger().ports[&old].transmitted.packets;
                    let end = Instant::now() + PATIENCE;
                    while engine.ledger().ports[&old].transmitted.packets < before + 500 {
                        assert!(Instant::now() < end, "{way:?}: nothing flows in round {round}");
                        std::thread::yield_now();
                    }
                    if way != Way::OneWorker && round % 3 == 1 {
                        engine.add_worker().unwrap();
                    }
                    let (of_workers, mut far) = open(way, id);
                    engine.add_port(NewPort { id, of_workers, queues: None }).unwrap();
                    // What has come before it is received from waits.
                    (0..10).for_each(|n| send(&mut *far, &frame(n, u32::MAX)));
                    opened.send(far).unwrap();
                    out.store(id.0, SeqCst);
                    engine.listen(id).unwrap();
                    engine.remove_port(old).unwrap();
                    assert_eq!(engine.ports(), [PortId(0), id]);
                    if way != Way::OneWorker && round % 3 == 2 {
                        engine.remove_worker(*engine.workers().last().unwrap()).unwrap();
                    }
                }
                done.store(true, SeqCst);
            });
            let end = Instant::now() + PATIENCE;
            loop {
                fars.extend(more.try_iter());
                came.resize(fars.len(), Vec::new());
                let total: usize = came.iter().map(Vec::len).sum();
                let all: usize = sent.iter().map(|n| *n as usize).sum();
                if done.load(SeqCst) && total == all && back.len() == 10 * usize::from(ROUNDS)
                    || control.is_finished() && !done.load(SeqCst)
                {
                    break;
                }
                assert!(Instant::now() < end, "{way:?}: {total} of {all} came, {} back", back.len());
                if all - total < IN_FLIGHT && !done.load(SeqCst) {
                    for (flow, next) in sent.iter_mut().enumerate() {
                        send(&mut *source, &frame(flow, *next));
                        *next += 1;
                    }
                }
                fars.iter_mut().zip(&mut came).for_each(|(far, came)| receive(&mut **far, came));
                receive(&mut *source, &mut back);
            }
        });
        // Port after port, every flow is whole and in order.
        let mut next = vec![0u32; FLOWS];
        for (flow, place) in came.iter().flatten() {
            assert_eq!(*place, next[*flow], "{way:?}, flow {flow}");
            next[*flow] += 1;
        }
        assert_eq!(next, sent);
        assert!(came[..usize::from(ROUNDS)].iter().all(|came| !came.is_empty()), "each port but the last had its share");
        engine.stop();
        let ledger = engine.ledger();
        assert_eq!((ledger.imbalance(), ledger.dropped.len()), (0, 0), "{way:?}: {ledger:?}");
        // A port's counts go on when its number comes back.
        let total: u64 = sent.iter().map(|n| u64::from(*n)).sum();
        assert_eq!(ledger.ports.iter().filter(|(id, _)| id.0 > 0).map(|(_, of)| of.transmitted.packets).sum::<u64>(), total);
    }
}

#[derive(Debug)]
struct Rest;

impl Fill for Rest {
    fn queue(&self, _: &[u8]) -> u8 {
        0
    }
}

/// A packet each in a second or so: what a test sends waits.
fn slow(id: PortId) -> QueueSettings {
    let law = Law { target_ns: u64::MAX, interval_ns: 100_000_000 };
    let mut queues = PortSettings { rate: 60, queues: Default::default(), slices: vec![SliceSettings::default()], packets: 1000, law };
    queues.queues.iter_mut().for_each(|queue| queue.delay_ns = 600_000_000_000);
    QueueSettings { port: id, queues, fill: Arc::new(Rest) }
}

#[test]
fn what_waits_for_the_rate_of_a_port_that_goes_is_counted_as_dropped() {
    let (engine, mut fars) = start(Way::OneWorker, &[PortId(0), PortId(1)], Arc::new(AtomicU16::new(2)));
    let (of_workers, _far) = open(Way::OneWorker, PortId(2));
    engine.add_port(NewPort { id: PortId(2), of_workers, queues: Some(slow(PortId(2))) }).unwrap();
    (0..50).for_each(|place| send(&mut *fars[0], &frame(0, place)));
    let end = Instant::now() + PATIENCE;
    while engine.ledger().ports[&PortId(0)].received.packets < 50 {
        assert!(Instant::now() < end, "nothing is received");
        std::thread::yield_now();
    }
    engine.remove_port(PortId(2)).unwrap();
    let ledger = engine.ledger();
    let (of, dropped) = (&ledger.ports[&PortId(2)], ledger.dropped[&DropReason::PORT_DOWN.0].packets);
    assert_eq!((of.transmitted.packets + dropped, of.waiting, ledger.imbalance()), (50, 0, 0), "{ledger:?}");
    assert_eq!(of.unsent[&DropReason::PORT_DOWN.0].packets, dropped);
    assert!(dropped > 0 && !engine.queues().contains_key(&PortId(2)));
    // What still leads there is a drop with a reason.
    send(&mut *fars[0], &frame(0, 50));
    while engine.ledger().dropped.get(&DropReason::NO_PORT.0).is_none_or(|count| count.packets == 0) {
        assert!(Instant::now() < end, "{:?}", engine.ledger());
        std::thread::yield_now();
    }
}

#[test]
fn a_port_that_does_not_fit_is_refused_and_changes_nothing() {
    for way in [Way::OneWorker, Way::Master, Way::Steered] {
        let (engine, _fars) = start(way, &[PortId(0), PortId(1)], Arc::new(AtomicU16::new(1)));
        let refused = |id: u16, of_workers: Devices, queues: Option<QueueSettings>| {
            let id = PortId(id);
            assert!(matches!(engine.add_port(NewPort { id, of_workers, queues }), Err(EngineError::Config(_))), "{way:?}: port {id}");
            assert_eq!(engine.ports(), [PortId(0), PortId(1)], "{way:?}");
        };
        let (devices, _far) = open(way, PortId(1));
        refused(1, devices, None);
        let (devices, _far) = open(way, PortId(2));
        refused(PortId::MAX + 1, devices, None);
        let (mut devices, _far) = open(way, PortId(2));
        devices.push(Vec::new());
        refused(2, devices, None);
        if way == Way::Master {
            let (devices, _far) = open(way, PortId(2));
            refused(2, devices, Some(slow(PortId(2))));
        }
        if way == Way::Steered {
            let (mut devices, _far) = open(way, PortId(2));
            devices.swap(0, 1);
            refused(2, devices, None);
        }
        engine.stop();
        let (devices, _far) = open(way, PortId(2));
        assert!(matches!(engine.add_port(NewPort { id: PortId(2), of_workers: devices, queues: None }), Err(EngineError::Stopped)));
    }
}

/// A socket that only one worker receives by.
#[test]
fn a_port_that_cannot_be_steered_keeps_a_worker_that_runs_until_it_goes() {
    let (engine, mut fars) = start(Way::Steered, &[PortId(0), PortId(1)], Arc::new(AtomicU16::new(2)));
    engine.remove_worker(0).unwrap();
    let (near, mut far) = memory::pair("near", "far", QUEUE);
    let mut of_workers: Devices = vec![vec![Box::new(near)]];
    of_workers.extend((1..SLOTS).map(|_| vec![Box::new(pktio::TransmitOnly(memory::pair("none", "none", 1).0)) as Box<dyn Port>]));
    engine.add_port(NewPort { id: PortId(2), of_workers, queues: None }).unwrap();
    engine.listen(PortId(2)).unwrap();
    send(&mut far, &frame(3, 0));
    let (mut back, end) = (Vec::new(), Instant::now() + PATIENCE);
    while back.is_empty() {
        assert!(Instant::now() < end, "nobody receives from it");
        receive(&mut *fars[0], &mut back);
    }
    engine.add_worker().unwrap();
    assert!(engine.remove_worker(1).unwrap_err().to_string().contains("it alone receives"));
    engine.remove_port(PortId(2)).unwrap();
    engine.remove_worker(1).unwrap();
}
