//! Ports with a rate: do packets leave by their queues, in order and at the rate, and is each sent or counted with a reason?

use base::{DropReason, Packet, PortId, Verdict};
use crossbeam_channel::bounded;
use engine::{Engine, Fill, MarkSettings, Marks, QueueSettings, Settings, Treatment};
use pktio::Port;
use pktio::memory::MemoryPort;
use program::CounterId;
use shaper::codel::Law;
use shaper::{PortSettings, Service, SliceSettings};
use std::collections::BTreeMap;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use target_api::{Counted, Lane, Target};
use target_kit::{StandIn, stand_in};

/// How long anything may take that does not depend on how busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);
const OUT: PortId = PortId(1);
const LENGTH: usize = 1000;
const MS: u64 = 1_000_000;
const NEVER: Law = Law { target_ns: u64::MAX, interval_ns: 100 * MS };

/// 1000 packets a second: longer than a busy machine takes for a step or two. CoDel never acts.
fn settings(services: &[(usize, Service)], delay_ns: u64) -> QueueSettings {
    let slices = vec![SliceSettings::default()];
    let mut queues = PortSettings { rate: 1_000_000, queues: Default::default(), slices, packets: 10_000, law: NEVER };
    queues.queues.iter_mut().for_each(|queue| queue.delay_ns = delay_ns);
    services.iter().for_each(|(number, service)| queues.queues[*number].service = *service);
    QueueSettings { port: OUT, queues, fill: Arc::new(BySecondByte) }
}

#[derive(Debug)]
struct BySecondByte;

impl Fill for BySecondByte {
    fn queue(&self, frame: &[u8]) -> u8 {
        frame[1] & 7
    }
}

/// A packet that the program sends to that queue.
fn packet(queue: u8, number: u32) -> Packet {
    let mut bytes = vec![0xff; LENGTH];
    bytes[..2].copy_from_slice(&[queue, 0]);
    bytes[4..8].copy_from_slice(&number.to_be_bytes());
    Packet::new(&bytes, PortId(0))
}

fn number(packet: &Packet) -> (u8, u32) {
    (packet.data()[0], u32::from_be_bytes(packet.data()[4..8].try_into().unwrap()))
}

/// An engine that finds these packets when it starts, and the far end of the port with the rate.
fn start(queues: QueueSettings, packets: &[Packet]) -> (Engine, MemoryPort) {
    let target = stand_in(|packet| Verdict { reason: packet.data()[0] & 7, ..Verdict::forward(OUT) });
    let (near, mut far) = pktio::memory::pair("in", "far in", 4096);
    let (out, far_out) = pktio::memory::pair("out", "far out", 4096);
    for burst in packets.chunks(64) {
        assert_eq!(far.transmit(burst).unwrap(), burst.len());
    }
    let ports: Vec<(PortId, Box<dyn Port>)> = vec![(PortId(0), Box::new(near)), (OUT, Box::new(out))];
    let settings = Settings { queues: vec![queues], ..Settings::default() };
    (Engine::start(&target, vec![ports], settings, bounded(16).0).unwrap(), far_out)
}

fn receive(port: &mut MemoryPort, n: usize) -> Vec<Packet> {
    let (mut got, end) = (Vec::new(), Instant::now() + PATIENCE);
    let mut burst: Vec<Packet> = (0..64).map(|_| Packet::empty(0)).collect();
    while got.len() < n {
        let k = port.receive(&mut burst).unwrap();
        got.extend(burst[..k].iter().cloned());
        assert!(Instant::now() < end, "{} of {n} came", got.len());
        std::thread::yield_now();
    }
    got
}

#[test]
fn a_strict_queue_leaves_first_and_each_queue_in_order() {
    let begin = Instant::now();
    let packets: Vec<Packet> = (0..200).map(|n| packet(0, n)).chain((0..50).map(|n| packet(7, n))).collect();
    let (engine, mut far) = start(settings(&[(7, Service::Strict)], 60_000 * MS), &packets);
    let came: Vec<(u8, u32)> = receive(&mut far, packets.len()).iter().map(number).collect();
    let elapsed = begin.elapsed();
    for queue in [0, 7] {
        let of: Vec<u32> = came.iter().filter(|(q, _)| *q == queue).map(|(_, n)| *n).collect();
        assert!(of.iter().copied().eq(0..of.len() as u32), "{of:?}");
    }
    let last = came.iter().rposition(|(queue, _)| *queue == 7).unwrap();
    assert!(last < 120, "place {last}: those that came later and are strict go before 200 others");
    // But for what goes at once after a pause, and the last one's time on the line.
    assert!(elapsed >= Duration::from_millis(packets.len() as u64 - 4), "{elapsed:?}: faster than the rate");
    engine.stop();
    let (ledger, queues) = (engine.ledger(), &engine.queues()[&OUT]);
    assert_eq!((ledger.imbalance(), ledger.ports[&OUT].waiting), (0, 0));
    assert_eq!((queues[0].sent, queues[7].sent, queues[0].sent_bytes), (200, 50, 200_000));
    assert_eq!(queues[7].delays.iter().sum::<u64>(), 50);
    assert!(queues[0].delay_us(0.9) > queues[7].delay_us(0.5), "{queues:?}");
}

#[test]
fn weighted_queues_share_the_line() {
    let packets: Vec<Packet> = (0..200).flat_map(|n| [packet(1, n), packet(2, n)]).collect();
    let services = [(1, Service::Weighted(3)), (2, Service::Weighted(1))];
    let (engine, mut far) = start(settings(&services, 60_000 * MS), &packets);
    let came = receive(&mut far, 240);
    let first = came[40..].iter().filter(|packet| number(packet).0 == 1).count();
    assert!((140..=160).contains(&first), "{first} of 200 are of the queue with three of four shares");
    engine.stop();
}

#[test]
fn packets_without_a_queue_of_the_programs_go_where_the_port_puts_them() {
    // By their second byte; the program names a queue for the last two only.
    let frames: Vec<[u8; 60]> = [(0, 6), (0, 1), (0, 7), (0, 0), (0, 1), (3, 6), (2, 0)]
        .map(|(own, byte)| {
            let mut frame = [0; 60];
            frame[..2].copy_from_slice(&[own, byte]);
            frame
        })
        .to_vec();
    let packets: Vec<Packet> = frames.iter().map(|frame| Packet::new(frame, PortId(0))).collect();
    let (engine, mut far) = start(settings(&[], 60_000 * MS), &packets);
    receive(&mut far, packets.len());
    engine.stop();
    let queues = engine.queues()[&OUT];
    let sent: Vec<u64> = queues.iter().map(|of| of.sent).collect();
    assert_eq!(sent, [1, 2, 1, 1, 0, 0, 1, 1]);
}

#[test]
fn what_does_not_fit_waits_too_long_or_still_waits_at_the_end_is_counted() {
    // A queue for 20 packets; one whose packets are too late after a few; one that still has some at the end.
    let mut of = settings(&[(7, Service::Strict)], 60_000 * MS);
    (of.queues.queues[7].delay_ns, of.queues.queues[2].delay_ns) = (20 * MS, 10 * MS);
    let packets: Vec<Packet> = (0..300).flat_map(|n| [packet(7, n), packet(2, n), packet(0, n)]).collect();
    let (engine, mut far) = start(of, &packets);
    let came = receive(&mut far, 60);
    engine.stop();
    let ledger = engine.ledger();
    assert_eq!(ledger.imbalance(), 0, "{ledger:?}");
    let dropped = |reason: DropReason| ledger.dropped.get(&reason.0).map_or(0, |count| count.packets);
    let reasons = [DropReason::QUEUE_FULL, DropReason::QUEUE_LATE, DropReason::STOPPING].map(dropped);
    assert!(reasons.iter().all(|n| *n > 0), "{reasons:?}");
    let sent = ledger.ports[&OUT].transmitted.packets;
    assert_eq!(sent + reasons.iter().sum::<u64>(), packets.len() as u64);
    assert!(sent >= came.len() as u64);
    let queues = engine.queues()[&OUT];
    let all: u64 = queues.iter().map(|of| of.sent + of.dropped.iter().sum::<u64>()).sum();
    assert_eq!(all, packets.len() as u64, "by queue as in all");
}

#[test]
fn one_thread_that_sends_for_all_has_no_queues() {
    let target = stand_in(|_| Verdict::forward(OUT));
    let (near, _far) = pktio::memory::pair("in", "far in", 64);
    let (out, _far_out) = pktio::memory::pair("out", "far out", 64);
    let settings = || Settings { queues: vec![settings(&[], MS)], ..Settings::default() };
    let both: Vec<(PortId, Box<dyn Port>)> = vec![(PortId(0), Box::new(near)), (OUT, Box::new(out))];
    let refused = Engine::start_steered(&target, both, |_, _| 0, 2, settings(), bounded(1).0).err().map(|e| e.to_string());
    assert_eq!(refused.as_deref(), Some("ports have no queues where one thread sends for all workers"));
    let (near, _far) = pktio::memory::pair("in", "far in", 64);
    let one: Vec<(PortId, Box<dyn Port>)> = vec![(PortId(0), Box::new(near))];
    let refused = Engine::start(&target, vec![one], settings(), bounded(1).0).err().map(|e| e.to_string());
    assert!(refused.as_deref().is_some_and(|text| text.contains("which there is not")), "{refused:?}");
}

/// Counts each packet in the cell that is its mark when it sends it, as a program does, and what the engine adds.
struct Counting(Arc<Mutex<BTreeMap<u32, (i64, i64)>>>);

impl Lane for Counting {
    fn process(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], _: u64) {
        let mut cells = self.0.lock().unwrap();
        for (packet, verdict) in packets.iter().zip(verdicts) {
            let [queue, _, mark, ..] = *packet.data() else { panic!() };
            *verdict = Verdict { reason: queue & 7, mark: mark.into(), ..Verdict::forward(OUT) };
            let cell = cells.entry(mark.into()).or_default();
            (cell.0, cell.1) = (cell.0 + 1, cell.1 + packet.len() as i64);
        }
    }

    fn count(&mut self, counter: CounterId, more: &[Counted]) -> bool {
        assert_eq!(counter, CounterId::from_u32(3));
        let mut cells = self.0.lock().unwrap();
        for of in more {
            let cell = cells.entry(of.cell).or_default();
            (cell.0, cell.1) = (cell.0 + i64::from(of.packets), cell.1 + i64::from(of.bytes));
        }
        true
    }

    target_api::lane_without!(process_asking, take_extra, ran_by, poll, next_poll_ns, shape, with_rates);
}

/// A packet of a mark, to a queue.
fn marked(queue: u8, mark: u8, number: u32) -> Packet {
    let mut packet = packet(queue, number);
    packet.data_mut()[2] = mark;
    packet
}

#[test]
fn what_leaves_is_charged_and_what_is_dropped_still_waits_or_has_ended_is_not() {
    let cells = Arc::<Mutex<BTreeMap<u32, (i64, i64)>>>::default();
    let counted = cells.clone();
    let target: Arc<dyn Target> = Arc::new(StandIn::new(move |_| Box::new(Counting(counted.clone()))));
    let marks = Arc::new(Marks::new(100));
    for (mark, cell) in [(5, 5), (6, 6), (7, 0)] {
        marks.set(mark, Some(Treatment { cell, ..Treatment::default() }));
    }
    // 8 is not known, and 6 ends.
    let mut of = settings(&[(7, Service::Strict)], 60_000 * MS);
    of.queues.queues[2].delay_ns = 20 * MS;
    let known = MarkSettings { marks: marks.clone(), counter: CounterId::from_u32(3) };
    let settings = Settings { queues: vec![of], marks: Some(known), ..Settings::default() };
    let (near, mut far) = pktio::memory::pair("in", "far in", 4096);
    let (out, mut far_out) = pktio::memory::pair("out", "far out", 4096);
    let packets: Vec<Packet> =
        (0..100).flat_map(|n| [marked(0, 5, n), marked(2, 5, n), marked(0, 6, n), marked(0, 7, n), marked(0, 8, n)]).collect();
    for burst in packets.chunks(64) {
        assert_eq!(far.transmit(burst).unwrap(), burst.len());
    }
    let ports: Vec<(PortId, Box<dyn Port>)> = vec![(PortId(0), Box::new(near)), (OUT, Box::new(out))];
    let engine = Engine::start(&target, vec![ports], settings, bounded(16).0).unwrap();
    let mut came = receive(&mut far_out, 100);
    marks.set(6, None);
    came.extend(receive(&mut far_out, 120));
    engine.stop();
    let mut burst: Vec<Packet> = (0..64).map(|_| Packet::empty(0)).collect();
    while let n @ 1.. = far_out.receive(&mut burst).unwrap() {
        came.extend(burst[..n].iter().cloned());
    }
    let ledger = engine.ledger();
    assert_eq!((ledger.imbalance(), ledger.ports[&OUT].transmitted.packets), (0, came.len() as u64), "{ledger:?}");
    let of = |mark: u8| came.iter().filter(|packet| packet.data()[2] == mark).count() as i64;
    let cells = cells.lock().unwrap();
    let dropped = |reason: DropReason| ledger.dropped.get(&reason.0).map_or(0, |count| count.packets);
    assert!(dropped(DropReason::QUEUE_FULL) + dropped(DropReason::QUEUE_LATE) >= 50, "queue 2 takes 20 packets: {ledger:?}");
    assert!(of(6) >= 10 && dropped(DropReason::QUEUE_ENDED) >= 10 && dropped(DropReason::STOPPING) > 0, "{ledger:?}");
    for mark in [5, 6] {
        assert_eq!(cells[&mark.into()], (of(mark), of(mark) * LENGTH as i64), "mark {mark}: as much as came");
    }
    // What has no cell, or is not known, is as the program counted it.
    assert_eq!((cells[&7].0, cells[&8].0, cells.get(&0)), (100, 100, None));
}

/// As [`Counting`], and lets others look between counting and what the engine then takes off.
struct Slow(Counting);

impl Lane for Slow {
    fn process(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64) {
        self.0.process(packets, verdicts, now_ns);
        std::thread::sleep(Duration::from_millis(1));
    }

    fn count(&mut self, counter: CounterId, more: &[Counted]) -> bool {
        self.0.count(counter, more)
    }

    target_api::lane_without!(process_asking, take_extra, ran_by, poll, next_poll_ns, shape, with_rates);
}

#[test]
fn a_count_between_bursts_has_no_packet_that_waits() {
    let cells = Arc::<Mutex<BTreeMap<u32, (i64, i64)>>>::default();
    let counted = cells.clone();
    let target: Arc<dyn Target> = Arc::new(StandIn::new(move |_| Box::new(Slow(Counting(counted.clone())))));
    let marks = Arc::new(Marks::new(100));
    marks.set(5, Some(Treatment { cell: 5, ..Treatment::default() }));
    let known = MarkSettings { marks, counter: CounterId::from_u32(3) };
    let settings = Settings { queues: vec![settings(&[], 60_000 * MS)], marks: Some(known), ..Settings::default() };
    let (near, mut far) = pktio::memory::pair("in", "far in", 4096);
    let (out, mut far_out) = pktio::memory::pair("out", "far out", 4096);
    let ports: Vec<(PortId, Box<dyn Port>)> = vec![(PortId(0), Box::new(near)), (OUT, Box::new(out))];
    let engine = Engine::start(&target, vec![ports], settings, bounded(16).0).unwrap();
    let count = || cells.lock().unwrap().get(&5).map_or(0, |of| of.0);
    let sent = || engine.ledger().ports.get(&OUT).map_or(0, |port| port.transmitted.packets.cast_signed());
    let (mut offered, mut waiting_seen, mut read) = (0, 0, 0);
    let end = Instant::now() + PATIENCE;
    while read < 200 || waiting_seen < 10 {
        assert!(Instant::now() < end, "{read} reads, {waiting_seen} between counting and taking off");
        let burst: Vec<Packet> = (0..8).map(|n| marked(0, 5, n)).collect();
        offered += far.transmit(&burst).unwrap() as u64;
        // What it says first is not more than has left by the time of the second.
        let exact = engine.between_bursts(count);
        assert!(exact <= sent(), "{exact} are charged, {} have left", sent());
        read += 1;
        waiting_seen += u32::from(count() > sent());
        receive_some(&mut far_out);
    }
    engine.stop();
    assert!(offered > 200 && engine.ledger().imbalance() == 0, "{offered}");
    // Of one that has stopped too.
    assert!(engine.between_bursts(count) <= sent());
}

fn receive_some(port: &mut dyn Port) {
    let mut burst: Vec<Packet> = (0..64).map(|_| Packet::empty(0)).collect();
    port.receive(&mut burst).unwrap();
}

#[test]
fn a_guaranteed_flow_goes_before_a_strict_queue_and_slices_take_turns() {
    let target = stand_in(|packet| Verdict { reason: packet.data()[0] & 7, mark: packet.data()[2].into(), ..Verdict::forward(OUT) });
    let marks = Arc::new(Marks::new(100));
    // Half of the line.
    marks.set(5, Some(Treatment { flow: 5, guaranteed_kbps: 4000, ..Treatment::default() }));
    marks.set(6, Some(Treatment { slice: 1, ..Treatment::default() }));
    let mut of = settings(&[(7, Service::Strict)], 60_000 * MS);
    of.queues.slices = vec![SliceSettings::default(), SliceSettings { weight: 2, rate: None }];
    let known = MarkSettings { marks, counter: CounterId::from_u32(3) };
    let refused = Settings { queues: vec![of.clone()], marks: Some(known.clone()), ..Settings::default() };
    let (near, mut far) = pktio::memory::pair("in", "far in", 4096);
    let (out, mut far_out) = pktio::memory::pair("out", "far out", 4096);
    let packets: Vec<Packet> = (0..300).flat_map(|n| [marked(7, 1, n), marked(0, 5, n), marked(0, 6, n)]).collect();
    for burst in packets.chunks(64) {
        assert_eq!(far.transmit(burst).unwrap(), burst.len());
    }
    let ports: Vec<(PortId, Box<dyn Port>)> = vec![(PortId(0), Box::new(near)), (OUT, Box::new(out))];
    let error = Engine::start(&target, vec![ports], refused, bounded(16).0).err().map(|e| e.to_string());
    assert!(error.as_deref().is_some_and(|text| text.contains("cannot count what waits")), "{error:?}");

    let counting: Arc<dyn Target> = Arc::new(StandIn::new(|_| Box::new(Counting(Arc::default()))));
    let (near, mut far) = pktio::memory::pair("in", "far in", 4096);
    let (out, mut far_again) = pktio::memory::pair("out", "far out", 4096);
    std::mem::swap(&mut far_out, &mut far_again);
    for burst in packets.chunks(64) {
        assert_eq!(far.transmit(burst).unwrap(), burst.len());
    }
    let ports: Vec<(PortId, Box<dyn Port>)> = vec![(PortId(0), Box::new(near)), (OUT, Box::new(out))];
    let settings = Settings { queues: vec![of], marks: Some(known), ..Settings::default() };
    let engine = Engine::start(&counting, vec![ports], settings, bounded(16).0).unwrap();
    let came = receive(&mut far_out, 400);
    engine.stop();
    let of = |mark: u8| came[50..].iter().filter(|packet| packet.data()[2] == mark).count();
    // Of what the flow leaves the second slice has two of three parts.
    let (strict, flow, slice) = (of(1), of(5), of(6));
    // Where the thread stood the flow makes up for it.
    assert!((155..=330).contains(&flow), "{flow} of 350 are the flow's, which has half of the line");
    assert!(slice > strict && (1.3..=3.0).contains(&(slice as f64 / strict as f64)), "{slice} to {strict}");
}
