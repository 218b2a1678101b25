//! Packets over a rate wait on the base target while their sessions are on a fast one, move, change, and the fast one fails: what is sent, when, in which
//! order and what is charged is what the base target alone would have done.

use base::{DropReason, Packet, PortId, Verdict, VerdictKind};
use engine::{Queues, ShapeSettings, Shaping};
use offload::{Policy, Split, Unit};
use offload_kit::{Ids, Session};
use program::{Batch, Entry, KeyMatch, MeterConfig, Op};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use shaper::Limits;
use shaper::codel::Law;
use std::collections::BTreeMap;
use std::sync::Arc;
use target_api::{BURST, Lane, Target};
use target_asic::{Asic, Chip};
use target_chaos::{Chaos, Faults, Tally};

const MS: u64 = 1_000_000;
const LIMITS: Limits = Limits { nodes: 256, packets: 4096, delay_ns: 20 * MS, law: Law { target_ns: 5 * MS, interval_ns: 100 * MS } };
/// Sessions that a case has at most, each with a cell and a key of its own.
const SESSIONS: u64 = 250;

/// A worker without ports: a lane and its queues.
struct Worker {
    lane: Box<dyn Lane>,
    shaping: Shaping,
    /// What was sent since the last look, in order.
    sent: Vec<Vec<u8>>,
    /// And what was dropped; before that, how many of each key.
    dropped: Vec<(Vec<u8>, u8)>,
    ended: BTreeMap<u32, u64>,
    waited: u64,
}

impl Worker {
    fn new(mut lane: Box<dyn Lane>, ids: &Ids) -> Worker {
        let settings = ShapeSettings { meter: ids.rate, queues: Queues::Cells, limits: LIMITS, delays: None, owed: None };
        let shaping = Shaping::new(settings, &mut *lane, Arc::default()).expect("x86 lends its rates");
        Worker { lane, shaping, sent: Vec::new(), dropped: Vec::new(), ended: BTreeMap::new(), waited: 0 }
    }

    fn burst(&mut self, packets: &mut [Packet], now_ns: u64) {
        let mut verdicts = vec![Verdict::default(); packets.len()];
        self.lane.process(packets, &mut verdicts, now_ns);
        for (packet, verdict) in packets.iter_mut().zip(verdicts) {
            match verdict.kind {
                VerdictKind::Forward => self.sent.push(packet.data().to_vec()),
                VerdictKind::Drop => self.dropped.push((packet.data()[..8].to_vec(), verdict.reason)),
                VerdictKind::Shape => {
                    let (burst, mut why) = (std::slice::from_mut(packet), None);
                    self.shaping.wait(burst, &[verdict], now_ns, &mut *self.lane, &mut |_, reason| why = reason);
                    match why {
                        None => self.waited += 1,
                        Some(DropReason(reason)) => self.dropped.push((packet.data()[..8].to_vec(), reason)),
                    }
                }
                other => panic!("{other:?}"),
            }
        }
    }

    fn waits(&self, cell: u32) -> bool {
        self.shaping.waits(cell)
    }

    /// As often as there is something to do.
    fn poll(&mut self, now_ns: u64) {
        while self.shaping.next_ns().is_some_and(|at| at <= now_ns) {
            let mut ready: Vec<Packet> = (0..BURST).map(|_| Packet::void()).collect();
            let n = self.shaping.poll(now_ns, &mut *self.lane, &mut ready);
            self.dropped.extend(self.shaping.dropped.drain(..).map(|(packet, reason)| (packet.data()[..8].to_vec(), reason.0)));
            self.burst(&mut ready[..n], now_ns);
        }
    }
}

#[derive(Default, Debug)]
struct Seen {
    sent: u64,
    waited: u64,
    /// Packets that ran on the chip, and on x86.
    paths: (u64, u64),
    /// Moves to the chip of a session with packets in its queue, and away from it.
    full: (u64, u64),
    /// Sessions with a queue whose packets ran on the chip again behind it.
    returned: u64,
    moves: u64,
    changed: u64,
    faults: Tally,
}

#[test]
fn what_is_over_a_rate_waits_on_the_base_target_and_is_not_overtaken_nor_charged_twice() {
    let ir = offload_kit::compile_shaped();
    let mut seen = Seen::default();
    for seed in 1..=12u64 {
        eprintln!("seed {seed}");
        case(&ir, seed, &mut seen);
    }
    println!("{seen:#?}");
    assert!(seen.sent > 20_000 && seen.waited > 5_000, "{seen:?}");
    assert!(seen.paths.0 > 5_000 && seen.paths.1 > 5_000, "{seen:?}");
    assert!(seen.full.0 > 200 && seen.full.1 > 100 && seen.returned > 200 && seen.moves > 2_000 && seen.changed > 500, "{seen:?}");
    for fault in ["refused before", "done in part", "no room", "deaths", "restarts", "sudden deaths", "packets run"] {
        assert!(seen.faults.of(fault) > 20, "{fault}: {:?}", seen.faults);
    }
}

/// Keys and numbers of packets.
fn names(packets: &[Vec<u8>]) -> Vec<&[u8]> {
    packets.iter().map(|packet| &packet[..8]).collect()
}

fn case(ir: &Arc<p4_ir::Ir>, seed: u64, seen: &mut Seen) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let ids = Ids::new(&ir.program);
    let meters = target_x86::shared_meters(&ir.program).unwrap();
    let asic = Asic::load(ir.clone(), Chip { session_entries: 12 }).unwrap().sharing(meters.clone());
    let chaos = Arc::new(Chaos::new(Box::new(asic), seed));
    let split = Split::new(Box::new(chaos.clone()), Box::new(offload_kit::native_with(ir, meters)), Policy::Planned).unwrap();
    let whole = offload_kit::native(ir);
    let mut workers = [Worker::new(split.lane(0), &ids), Worker::new(whole.lane(0), &ids)];
    // A chip that passes on what it likes runs the packets of a burst in another order.
    let (whims, longest) = if seed.is_multiple_of(3) { (true, 1) } else { (false, 12) };

    let facts = |seid| Unit { id: seid, metered: true, ..Unit::default() };
    let mut sessions: BTreeMap<u64, Session> = BTreeMap::new();
    let mut next = 1u64;
    // Of each key, the last number that was sent, and packets and bytes.
    let mut last = BTreeMap::<u32, (u32, u64, u64)>::new();
    let mut waits = BTreeMap::<u64, bool>::new();
    let (mut sequence, mut now_ns) = (0u32, 5_000 * MS);
    for step in 0..6_000u32 {
        if step % 100 == 0 {
            let mut some = || if rng.random_bool(0.5) { [0.0, 0.02, 0.1][rng.random_range(0..3)] } else { 0.0 };
            let (hand_on, sudden_death) = if whims { (some(), some() / 8.0) } else { (0.0, some() / 20.0) };
            let faults = Faults {
                before: some(),
                after: some(),
                partly: some(),
                room: some(),
                death: some() / 4.0,
                restart: 0.5,
                ..Faults::default()
            };
            chaos.heal();
            chaos.set_faults(Faults { hand_on, sudden_death, ..faults });
        }
        let apply = |seid: u64, ops: Vec<Op>| {
            let batch = Batch { ops };
            split.apply_session(&facts(seid), &batch).unwrap();
            whole.apply(&batch).unwrap();
        };
        let known = sessions.keys().nth(rng.random_range(0..sessions.len().max(1))).copied();
        let rate = |rng: &mut ChaCha8Rng| {
            let (pir, pbs) = ([20_000, 100_000, 400_000][rng.random_range(0..3)], rng.random_range(400..3_000));
            if rng.random_bool(0.7) {
                MeterConfig { cir: pir, cbs: pbs, pir, pbs }
            } else {
                MeterConfig { cir: pir / 2, cbs: pbs / 2, pir, pbs }
            }
        };
        match (rng.random_range(0..100), known) {
            (0..=2, _) if sessions.len() < 16 && next <= SESSIONS => {
                let config = rate(&mut rng);
                let keys = vec![KeyMatch::Exact(next.into())];
                let args = vec![next.into(), next.into(), 7, 1];
                let session = Session {
                    entries: vec![Entry { table: ids.by_key, keys, priority: 0, action: ids.rule, args }],
                    meters: [(next, config)].into(),
                    ..Session::default()
                };
                apply(next, session.copy(&ids).ops);
                sessions.insert(next, session);
                next += 1;
            }
            (3, Some(seid)) if sessions.len() > 8 => {
                let session = sessions.remove(&seid).unwrap();
                let entry = Op::Delete(session.entries[0].clone());
                apply(seid, vec![entry, Op::Meter { meter: ids.rate, index: seid, config: None }]);
            }
            (4..=5, Some(seid)) => {
                let config = rate(&mut rng);
                sessions.get_mut(&seid).unwrap().meters.insert(seid, config);
                apply(seid, vec![Op::Meter { meter: ids.rate, index: seid, config: Some(config) }]);
                seen.changed += 1;
            }
            (6..=25, Some(seid)) => {
                let full = u64::from(waits.get(&seid) == Some(&true));
                if split.is_on_fast(seid) {
                    seen.full.1 += full * u64::from(split.move_to_base(seid).is_ok());
                } else if split.move_to_fast(&facts(seid), &sessions[&seid].copy(&ids)).is_ok() {
                    seen.full.0 += full;
                }
                seen.moves += 1;
            }
            (26..=28, _) if split.is_retired() => _ = split.recover(),
            _ => {}
        }
        now_ns += [0, 10_000, 300_000, 2 * MS][rng.random_range(0..4)];
        // Some sessions at a time are greedy.
        let some: Vec<u64> = sessions.keys().copied().skip(step as usize / 50 % 8).take(4).collect();
        let frames = (0..rng.random_range(0..=longest)).filter_map(|_| {
            let key = *some.get(rng.random_range(0..some.len().max(1)))?;
            sequence += 1;
            Some(offload_kit::frame(key as u32, sequence, 0, rng.random_range(0..300)))
        });
        let frames: Vec<Vec<u8>> = frames.collect();
        for worker in &mut workers {
            worker.poll(now_ns);
            let mut packets: Vec<Packet> = frames.iter().map(|frame| Packet::new(frame, PortId(0))).collect();
            worker.burst(&mut packets, now_ns);
        }
        let [ours, twin] = &mut workers;
        assert!(ours.sent == twin.sent, "step {step}: {:?}, not {:?}", names(&ours.sent), names(&twin.sent));
        // Of a session that has ended the chip's cell keeps its rate for a moment longer: its packets end then, and as many.
        let [dropped, expected] = [&mut *ours, &mut *twin].map(|worker| {
            let all: Vec<(u32, u8)> =
                worker.dropped.drain(..).map(|(name, reason)| (u32::from_be_bytes(name[..4].try_into().unwrap()), reason)).collect();
            all.iter().for_each(|(key, _)| *worker.ended.entry(*key).or_default() += 1);
            all.into_iter().filter(|(key, _)| sessions.contains_key(&u64::from(*key))).collect::<Vec<_>>()
        });
        assert_eq!(dropped, expected, "step {step}");
        twin.sent.clear();
        for packet in ours.sent.drain(..) {
            let number = |at: usize| u32::from_be_bytes(packet[at..at + 4].try_into().unwrap());
            let (before, packets, bytes) = last.entry(number(0)).or_default();
            assert!(*before < number(4), "step {step}: key {} sends {} behind {before}", number(0), number(4));
            (*before, *packets, *bytes) = (number(4), *packets + 1, *bytes + packet.len() as u64);
        }
        for (seid, _) in sessions.iter().filter(|(seid, _)| split.is_on_fast(**seid)) {
            let is_full = ours.waits(*seid as u32);
            seen.returned += u64::from(waits.insert(*seid, is_full) == Some(true) && !is_full);
        }
        sessions.keys().for_each(|seid| _ = waits.insert(*seid, ours.waits(*seid as u32)));
    }
    // All that waits leaves, and is charged then.
    now_ns += LIMITS.delay_ns + MS;
    let [ours, twin] = &mut workers;
    ours.poll(now_ns);
    twin.poll(now_ns);
    assert!(ours.sent == twin.sent, "{:?}, not {:?}", names(&ours.sent), names(&twin.sent));
    for worker in [&mut *ours, &mut *twin] {
        for (name, _) in worker.dropped.drain(..) {
            *worker.ended.entry(u32::from_be_bytes(name[..4].try_into().unwrap())).or_default() += 1;
        }
    }
    assert_eq!(ours.ended, twin.ended);
    for packet in &ours.sent {
        let (_, packets, bytes) = last.entry(u32::from_be_bytes(packet[..4].try_into().unwrap())).or_default();
        (*packets, *bytes) = (*packets + 1, *bytes + packet.len() as u64);
    }
    for seid in 1..next {
        let (_, packets, bytes) = last.get(&(seid as u32)).copied().unwrap_or_default();
        let count = split.counter(ids.usage, seid);
        assert_eq!((count.packets, count.bytes), (packets, bytes), "session {seid}");
        assert_eq!(count, whole.counter(ids.usage, seid), "session {seid}");
        seen.sent += packets;
    }
    seen.waited += ours.waited;
    for ((path, _), count) in split.traffic() {
        *(if path == offload::Path::Fast { &mut seen.paths.0 } else { &mut seen.paths.1 }) += count.packets;
    }
    seen.faults.add(&chaos.tally());
}
