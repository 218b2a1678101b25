//! Do UEs keep their order, and lose nothing, while their buckets move between the AF_XDP sockets of one queue, while workers
//! come and go, and while a skewed load is evened out? The whole way: veth, the program in the kernel, sockets, the engine's
//! workers, sockets, veth. Needs root; says so and passes without.
//!
//! Every packet is a UE's, in a tunnel from N3 or plain from N6, and has the number of its UE and its place among the UE's packets
//! in its last bytes. What comes out is compared with what went in. No more packets are under way than the shortest queue of the
//! kernel's holds (256, veth), so that whatever is missing was lost by us.

mod common;

use base::{DropReason, Packet, PortId, Verdict};
use common::*;
use crossbeam_channel::bounded;
use engine::{BUCKETS, BalanceSettings, Engine, Move, Moved, Settings, WorkerPorts};
use pktio::af_xdp::{Frames, Options};
use pktio::{AfXdp, DeviceDrops, Port};
use rand::Rng;
use rand::seq::IndexedRandom;
use std::sync::atomic::{AtomicBool, Ordering::SeqCst};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};
use target_api::Target;
use target_kit::stand_in;

const N3: PortId = PortId(0);
const N6: PortId = PortId(128);
/// UEs, with traffic both ways each.
const UES: usize = 64;
/// Most packets on their way.
const IN_FLIGHT: u64 = 200;

/// Forwards everything across, as it is; a packet of UE 0 stops its worker while `stuck`.
fn across(stuck: Arc<AtomicBool>) -> Arc<dyn Target> {
    stand_in(move |packet| {
        while stuck.load(SeqCst) && read(packet).is_some_and(|(ue, _)| ue == 0) {
            std::thread::yield_now();
        }
        match read(packet) {
            Some(_) => Verdict::forward(if packet.port == N3 { N6 } else { N3 }),
            None => Verdict::drop(DropReason(20)),
        }
    })
}

/// The frame of a UE's packet that has this place among those of its direction.
fn frame(direction: usize, ue: usize, place: u32) -> Vec<u8> {
    let payload = [b"steering", &(ue as u32).to_be_bytes()[..], &place.to_be_bytes()].concat();
    let (address, server) = ([10, 45, 0, ue as u8], [192, 0, 2, 1]);
    if direction == 0 {
        let qfi = wire::gtpu::SessionContainer::Uplink { qfi: 9 };
        frames::tunnel(Some(qfi), &frames::ipv4(address, server, 17, &frames::udp(53, &payload)))
    } else {
        frames::ethernet(&frames::ipv4(server, address, 17, &frames::udp(4000, &payload)))
    }
}

/// UE and place; none if the frame is not one of ours.
fn read(packet: &Packet) -> Option<(usize, u32)> {
    let (_, tail) = packet.data().split_last_chunk::<16>()?;
    let word = |at: usize| u32::from_be_bytes([tail[at], tail[at + 1], tail[at + 2], tail[at + 3]]);
    (&tail[..8] == b"steering").then(|| (word(8) as usize, word(12)))
}

fn bucket(ue: usize) -> u16 {
    (upf::steer::ue_hash(&frame(1, ue, 0), N6) as usize % BUCKETS) as u16
}

/// One test at a time: workers that look for packets without pause take the cores from each other's.
fn alone(test: impl FnOnce() + Send + 'static) {
    static ONE: Mutex<()> = Mutex::new(());
    let _one = ONE.lock().unwrap_or_else(PoisonError::into_inner);
    in_namespace(test);
}

/// An engine between N3 and N6, and their far ends.
struct World {
    engine: Arc<Engine>,
    stuck: Arc<AtomicBool>,
    /// The queues of each.
    far: [Vec<AfXdp>; 2],
    /// For each direction and UE: packets sent, packets come out.
    sent: Vec<Vec<u32>>,
    received: Vec<Vec<u32>>,
    burst: Vec<Packet>,
}

impl World {
    /// With room for `most` workers, of whom `workers` run. Rings are small: each frame is used many times.
    fn new(queues: u32, most: usize, workers: usize, settings: Settings) -> World {
        let mut of_workers: Vec<WorkerPorts> = (0..most).map(|_| Vec::new()).collect();
        let options = Options { ring: 256, ..Options::default() };
        let far = [(N3, true), (N6, false)].map(|(id, tunnels)| {
            let (near, far) = veth_of(&format!("p{id}"), queues);
            let frames = Frames { tunnels: tunnels.then_some(gtpu_steering::GTPU), vxlan: false };
            let ports = AfXdp::open_steered("near", &near, most, frames, options).unwrap();
            for (worker, ports) in of_workers.iter_mut().zip(ports) {
                assert_eq!(ports.len(), queues as usize);
                worker.extend(ports.into_iter().map(|port| (id, Box::new(port) as Box<dyn Port>)));
            }
            AfXdp::open_queues("far", &far, &(0..queues).collect::<Vec<_>>(), Frames::default(), Options::default()).unwrap()
        });
        let stuck = Arc::new(AtomicBool::new(false));
        let target = across(stuck.clone());
        let settings = Settings { port_hash: Some(upf::steer::ue_hash), ..settings };
        let engine = Arc::new(Engine::start_some(&target, of_workers, workers, settings, bounded(16).0).unwrap());
        let zero = || vec![vec![0; UES]; 2];
        World { engine, stuck, far, sent: zero(), received: zero(), burst: buffers(64) }
    }

    /// Sends the next packet of each of these UEs, UEs of odd numbers by the second queue, as soon as so many may be under way.
    fn send(&mut self, direction: usize, ues: &[usize]) {
        let queues = self.far[direction].len();
        for queue in 0..queues {
            let of_queue: Vec<usize> = ues.iter().copied().filter(|ue| ue % queues == queue).collect();
            for ues in of_queue.chunks(32) {
                self.receive_until("there is room", |w| w.in_flight() + 32 <= IN_FLIGHT);
                for (packet, ue) in self.burst.iter_mut().zip(ues) {
                    packet.set(&frame(direction, *ue, self.sent[direction][*ue]));
                    self.sent[direction][*ue] += 1;
                }
                let far = &mut self.far[direction][queue];
                assert_eq!(far.transmit(&self.burst[..ues.len()]).unwrap(), ues.len());
                far.flush().unwrap();
            }
        }
    }

    /// Takes what has come out; each must be the next of its UE.
    fn receive(&mut self) -> usize {
        let mut count = 0;
        for direction in [0, 1] {
            for far in &mut self.far[direction ^ 1] {
                let n = far.receive(&mut self.burst).unwrap();
                for packet in &self.burst[..n] {
                    let Some((ue, place)) = read(packet) else { continue };
                    let next = &mut self.received[direction][ue];
                    assert_eq!(place, *next, "UE {ue} of direction {direction}: lost, doubled or out of order");
                    assert_eq!(packet.data(), frame(direction, ue, place), "unchanged");
                    *next += 1;
                    count += 1;
                }
            }
        }
        count
    }

    fn stuck(&self) -> Stuck {
        self.stuck.store(true, SeqCst);
        Stuck(self.stuck.clone())
    }

    fn in_flight(&self) -> u64 {
        total(&self.sent) - total(&self.received)
    }

    fn receive_until(&mut self, what: &str, mut holds: impl FnMut(&World) -> bool) {
        let end = Instant::now() + PATIENCE;
        while !holds(self) {
            if self.receive() == 0 {
                std::thread::yield_now();
            }
            assert!(Instant::now() < end, "{what}: {} under way, {:?}", self.in_flight(), self.engine.ledger());
        }
    }

    /// All came out, and the books say so too; how much has moved.
    fn close(mut self) -> Moved {
        self.receive_until("all packets come out", |w| w.in_flight() == 0);
        self.engine.stop();
        let ledger = self.engine.ledger();
        assert_eq!((ledger.imbalance(), ledger.waiting(), ledger.dropped.len()), (0, 0, 0), "{ledger:?}");
        let total = total(&self.sent);
        assert_eq!(ledger.ports.values().map(|p| p.received.packets).sum::<u64>(), total);
        assert_eq!(ledger.ports.values().map(|p| p.transmitted.packets).sum::<u64>(), total);
        assert!(ledger.ports.values().all(|p| p.device == DeviceDrops::default()), "{ledger:?}");
        self.engine.moved()
    }
}

/// While it lives, packets of UE 0 stop their worker; also when a test fails the engine must end.
struct Stuck(Arc<AtomicBool>);

impl Drop for Stuck {
    fn drop(&mut self) {
        self.0.store(false, SeqCst);
    }
}

fn total(counts: &[Vec<u32>]) -> u64 {
    counts.iter().flatten().map(|n| u64::from(*n)).sum()
}

/// Random traffic while another thread changes things; each change once it has returned.
fn under_load(world: &mut World, seed: u64, change: impl FnOnce(&Engine) + Send) {
    let mut rng = testkit::rng(seed);
    let engine = world.engine.clone();
    std::thread::scope(|scope| {
        let control = scope.spawn(move || change(&engine));
        while !control.is_finished() {
            // Half of all packets are of four UEs.
            let ue = |rng: &mut testkit::Rng| if rng.random() { rng.random_range(0..4) } else { rng.random_range(0..UES) };
            let ues: Vec<usize> = (0..rng.random_range(1..64)).map(|_| ue(&mut rng)).collect();
            world.send(rng.random_range(0..2), &ues);
            world.receive();
        }
    });
}

/// So many packets more have come in by then.
fn let_flow(engine: &Engine, packets: u64) {
    let received = || engine.ledger().ports.values().map(|p| p.received.packets).sum::<u64>();
    let (from, end) = (received(), Instant::now() + PATIENCE);
    while received() < from + packets {
        assert!(Instant::now() < end, "packets flow");
        std::thread::yield_now();
    }
}

#[test]
fn workers_become_three_and_two_while_packets_flow() {
    alone(|| {
        let mut world = World::new(1, 3, 1, Settings::default());
        under_load(&mut world, 1, |engine| {
            for _ in 0..10 {
                let_flow(engine, 500);
                assert_eq!((engine.add_worker().unwrap(), engine.add_worker().unwrap()), (1, 2));
                let_flow(engine, 500);
                let before = engine.loads();
                // However the system shares two cores among three workers, each gets its packets in the end.
                let shares =
                    || engine.loads().workers.iter().zip(&before.workers).map(|(a, b)| a.packets - b.packets).collect::<Vec<u64>>();
                let end = Instant::now() + PATIENCE;
                while shares().len() != 3 || shares().iter().any(|n| *n <= 100) {
                    assert!(Instant::now() < end, "all three work: {:?}", shares());
                    let_flow(engine, 100);
                }
                engine.remove_worker(1).unwrap();
                let_flow(engine, 500);
                assert_eq!(engine.workers(), [0, 2]);
                engine.remove_worker(2).unwrap();
            }
        });
        let moved = world.close();
        assert_eq!((moved.added, moved.removed), (20, 20));
        assert!(moved.buckets > 2000, "{moved:?}");
    });
}

#[test]
fn thousands_of_buckets_move_while_packets_flow() {
    alone(|| {
        let mut world = World::new(1, 3, 3, Settings::default());
        let used: Vec<u16> = (0..UES).map(bucket).collect();
        under_load(&mut world, 2, |engine| {
            let mut rng = testkit::rng(3);
            let received = || engine.ledger().ports.values().map(|p| p.received.packets).sum::<u64>();
            // And as many more as it takes to meet packets.
            let (done, end) = (|m: Moved| m.buckets >= 5000 && m.held > 500 && received() > 5000, Instant::now() + PATIENCE);
            while !done(engine.moved()) {
                assert!(Instant::now() < end, "{:?}, {} packets", engine.moved(), received());
                let to = |rng: &mut testkit::Rng| rng.random_range(0..3);
                let of_ues = (0..40).map(|_| Move { bucket: *used.choose(&mut rng).unwrap(), to: to(&mut rng) });
                let mut moves: Vec<Move> = of_ues.collect();
                moves.extend((0..20).map(|_| Move { bucket: rng.random_range(0..BUCKETS as u16), to: to(&mut rng) }));
                engine.move_buckets(&moves).unwrap();
            }
        });
        let moved = world.close();
        assert!(moved.buckets >= 5000 && moved.held > 500, "{moved:?}");
    });
}

#[test]
fn queues_of_a_device_are_divided_among_more_workers() {
    alone(|| {
        let mut world = World::new(2, 3, 1, Settings::default());
        under_load(&mut world, 4, |engine| {
            for _ in 0..5 {
                engine.add_worker().unwrap();
                let_flow(engine, 500);
                engine.add_worker().unwrap();
                let_flow(engine, 500);
                engine.remove_worker(1).unwrap();
                engine.remove_worker(2).unwrap();
            }
        });
        let moved = world.close();
        assert_eq!((moved.added, moved.removed), (10, 10));
    });
}

/// All UEs with traffic begin with worker 0. Without a balancer they stay there; with one, each of two workers soon does about half
/// of the work, counted in packets.
#[test]
fn a_skewed_load_is_evened_out() {
    let eager = BalanceSettings { period: Duration::from_millis(2), busy_high: 0.0, patience: 1, ..BalanceSettings::default() };
    alone(|| skewed_load(None));
    alone(move || skewed_load(Some(eager)));
}

fn skewed_load(balance: Option<BalanceSettings>) {
    let skewed: Vec<usize> = (0..UES).filter(|ue| bucket(*ue).is_multiple_of(2)).collect();
    assert!(skewed.len() > 16, "{skewed:?}");
    let mut world = World::new(1, 2, 2, Settings { balance, ..Settings::default() });
    let mut heaviest = 1.0;
    for _ in 0..if balance.is_some() { 500 } else { 5 } {
        let before = world.engine.loads();
        for _ in 0..20 {
            world.send(0, &skewed);
            world.send(1, &skewed);
        }
        world.receive_until("all come out", |w| w.in_flight() == 0);
        // A worker tells its load after it has sent.
        let count = |loads: &engine::Loads| loads.workers.iter().map(|w| w.packets).sum::<u64>();
        let sent = 40 * skewed.len() as u64;
        world.receive_until("all are counted", |w| count(&w.engine.loads()) >= count(&before) + sent);
        let after = world.engine.loads();
        let work: Vec<u64> = after.workers.iter().zip(&before.workers).map(|(a, b)| a.packets - b.packets).collect();
        assert_eq!(work.iter().sum::<u64>(), sent);
        heaviest = *work.iter().max().unwrap() as f64 / (40 * skewed.len()) as f64;
        if heaviest < 0.6 {
            break;
        }
    }
    match balance {
        None => assert_eq!(heaviest, 1.0),
        Some(_) => assert!(heaviest < 0.6, "one worker does {heaviest} of the work"),
    }
    assert_eq!(world.close().buckets > 0, balance.is_some());
}

/// The old worker stands with packets in its ring, the bucket has moved, and the new worker has the UE's next packets already.
#[test]
fn what_waits_for_the_old_worker_goes_first() {
    alone(|| {
        let mut world = World::new(1, 2, 2, Settings::default());
        let engine = world.engine.clone();
        engine.move_buckets(&[Move { bucket: bucket(0), to: 0 }, Move { bucket: bucket(1), to: 0 }]).unwrap();
        let before = engine.moved().held;
        std::thread::scope(|scope| {
            let stuck = world.stuck();
            world.send(0, &[0]);
            world.send(0, &[1; 32]);
            let moving = scope.spawn(|| engine.move_buckets(&[Move { bucket: bucket(1), to: 1 }]));
            world.receive_until("the bucket has moved", |w| w.engine.owners().unwrap()[usize::from(bucket(1))] == 1);
            let received = |w: &World| w.engine.ledger().ports[&N3].received.packets;
            let of_old_worker = received(&world);
            world.send(0, &[1; 32]);
            world.receive_until("the new worker has them", |w| received(w) == of_old_worker + 32);
            assert!(!moving.is_finished() && total(&world.received) == 0);
            drop(stuck);
            moving.join().unwrap().unwrap();
        });
        assert_eq!(world.close().held - before, 32);
    });
}

/// A worker that stands fills its own ring, which is counted, and takes nothing from the other one: not its packets, and not the
/// frames that they need.
#[test]
fn a_worker_that_is_behind_loses_its_own_packets_only() {
    alone(|| {
        let mut world = World::new(1, 2, 2, Settings::default());
        world.engine.move_buckets(&[Move { bucket: bucket(0), to: 0 }, Move { bucket: bucket(1), to: 1 }]).unwrap();
        let stuck = world.stuck();
        let flood: Vec<Packet> = (0..32).map(|place| Packet::new(&frame(1, 0, place), PortId(0))).collect();
        for _ in 0..40 {
            assert_eq!(world.far[1][0].transmit(&flood).unwrap(), 32);
            world.far[1][0].flush().unwrap();
            // More of these than there are frames in all.
            world.send(0, &[1; 32]);
            world.send(1, &[1; 32]);
        }
        world.receive_until("UE 1 is served", |w| w.in_flight() == 0);
        assert_eq!(world.received[1][1], 40 * 32);
        drop(stuck);
        let end = Instant::now() + PATIENCE;
        let mut burst = buffers(64);
        let mut got = 0;
        loop {
            got += world.far[0][0].receive(&mut burst).unwrap();
            let ledger = world.engine.ledger();
            let n6 = &ledger.ports[&N6];
            // A full ring, and the burst that the worker stood with.
            if n6.received.packets + n6.device.rx_full == 2 * 40 * 32 && got as u64 == n6.received.packets - 40 * 32 {
                assert!(n6.device.rx_full >= 40 * 32 - 256 - 64, "{ledger:?}");
                assert_eq!(ledger.ports[&N3].device.rx_full, 0);
                break;
            }
            assert!(Instant::now() < end, "all is accounted for: {got} {ledger:?}");
        }
    });
}

#[test]
fn what_cannot_be_is_refused() {
    alone(|| {
        let (near, _far) = veth_of("x", 1);
        for workers in [0, 65] {
            let error = AfXdp::open_steered("n3", &near, workers, Frames::default(), Options::default()).err().unwrap().to_string();
            assert_eq!(error, format!("n3: {workers} workers, instead of 1 to 64"));
        }
        let ports = AfXdp::open_steered("n3", &near, 2, Frames::default(), Options { ring: 64, ..Options::default() }).unwrap();
        assert_eq!(ports[1][0].name(), format!("n3 (af_xdp {near} worker 1)"));
        let (worker, steering) = ports[1][0].steering().unwrap();
        assert_eq!((worker, steering.buckets(), steering.queues()), (1, BUCKETS, 2));
        for moves in [[(0, 1), (BUCKETS as u16, 0)], [(0, 1), (1, 2)]] {
            assert!(steering.assign(&moves).unwrap_err().to_string().contains("has no bucket"), "{moves:?}");
        }
        steering.assign(&[(0, 1), (511, 1), (0, 0)]).unwrap();
    });
}
