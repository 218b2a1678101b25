//! Does the idle-mode buffer do what a list of packets does that is searched from end to end, and does each packet come out of it once while lanes share it?

use base::{Packet, PortId};
use buffer::idle::{self, AGED, FULL, IdleBuffer, Limits, SHARDS};
use rand::Rng as _;
use service::{Call, Caller, Outcome, Reason, SharedDeployment};
use std::collections::{BTreeMap, BTreeSet};
use std::sync::atomic::{AtomicU32, Ordering::SeqCst};
use std::time::Duration;

/// A packet: where it waits, who gave it, and when it came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Held {
    queue: u32,
    lane: u32,
    since_ns: u64,
    number: u32,
}

/// What becomes of a packet that is given in.
#[derive(Debug, PartialEq, Eq)]
enum Given {
    Kept { notify: bool },
    Again,
    Full,
}

/// All that waits, in the order in which it came.
struct Plain {
    limits: Limits,
    held: Vec<Held>,
    closed: BTreeSet<u32>,
}

impl Plain {
    fn len(&self, queue: u32) -> usize {
        self.held.iter().filter(|held| held.queue == queue).count()
    }

    /// Whether room must be made for a packet that is given in, and if so how long a queue must be to lose one.
    fn lacks_room(&self, queue: u32) -> Option<usize> {
        let fits = self.held.len() < self.limits.total || self.len(queue) >= self.limits.per_queue || self.closed.contains(&queue);
        (!fits).then(|| self.len(queue) + 2)
    }

    fn give(&mut self, held: Held) -> Given {
        if self.closed.contains(&held.queue) {
            return Given::Again;
        }
        if self.len(held.queue) >= self.limits.per_queue || self.held.len() >= self.limits.total {
            return Given::Full;
        }
        self.held.push(held);
        Given::Kept { notify: self.len(held.queue).is_power_of_two() }
    }

    fn longest(&self) -> usize {
        self.held.iter().map(|held| self.len(held.queue)).max().unwrap_or(0)
    }

    fn newest(&self, queue: u32) -> Option<Held> {
        self.held.iter().rfind(|held| held.queue == queue).copied()
    }

    fn take(&mut self, wanted: impl Fn(&Held) -> bool) -> Vec<(u32, u32)> {
        self.held.extract_if(.., |held| wanted(held)).map(|held| (held.lane, held.number)).collect()
    }
}

fn number(call: &Call) -> u32 {
    u32::from_be_bytes(call.packet.data().try_into().expect("a packet of ours"))
}

fn packet(number: u32) -> Packet {
    Packet::new(&number.to_be_bytes(), PortId(0))
}

/// Who gave the packets, and which they are; all with that outcome.
fn packets(calls: &[Call], outcome: Outcome) -> Vec<(u32, u32)> {
    assert!(calls.iter().all(|call| call.outcome == outcome), "{calls:?}");
    calls.iter().map(|call| (call.tag, number(call))).collect()
}

/// Gives a packet in; what became of it, and what was displaced.
fn give(caller: &mut Caller, held: Held) -> (Given, Vec<u32>) {
    let mut burst = [Call::new(packet(held.number), 0, idle::request(held.queue), held.lane)];
    caller.call(&mut burst, held.since_ns);
    let mut displaced = Vec::new();
    if caller.next_deadline_ns().is_some() {
        caller.poll(held.since_ns, &mut displaced);
    }
    let [call] = burst;
    let given = match call.outcome {
        Outcome::Kept => Given::Kept { notify: call.fields[0] == 1 },
        Outcome::Answered => Given::Again,
        Outcome::Dropped(FULL) => Given::Full,
        other => panic!("{other:?}"),
    };
    assert_eq!(call.packet.is_void(), call.outcome == Outcome::Kept);
    (given, packets(&displaced, Outcome::Dropped(FULL)).into_iter().map(|(_, number)| number).collect())
}

fn sorted(mut all: Vec<(u32, u32)>) -> Vec<(u32, u32)> {
    all.sort_unstable();
    all
}

#[test]
fn it_keeps_the_contract_of_what_lanes_share() {
    target_kit::check_shared(&IdleBuffer::deploy(Limits::default()), idle::request);
}

#[test]
fn it_does_what_a_searched_list_does() {
    let mut rng = testkit::rng(0x1d1e_0001);
    let mut seen: BTreeMap<&str, u64> = BTreeMap::new();
    let mut saw = |what: &'static str, n: usize| *seen.entry(what).or_default() += n as u64;
    for _ in 0..30 {
        let limits = Limits {
            per_queue: rng.random_range(1..12),
            total: rng.random_range(1..80),
            max_age: Duration::from_nanos(rng.random_range(200..5_000)),
        };
        let real = IdleBuffer::deploy(limits);
        let mut callers: Vec<Caller> = (0..3).map(|_| real.caller()).collect();
        let mut plain = Plain { limits, held: Vec::new(), closed: BTreeSet::new() };
        let (mut now_ns, mut numbers) = (0, 0);
        // Some queues share a lock.
        let queue = |rng: &mut testkit::Rng| [rng.random_range(0..5), rng.random_range(0..60)][rng.random_range(0..2)];
        let mut closed = None;
        for _ in 0..3_000 {
            now_ns += rng.random_range(0..20);
            match rng.random_range(0..40) {
                0..30 => {
                    let lane = rng.random_range(0..3);
                    let held = Held { queue: queue(&mut rng), lane, since_ns: now_ns, number: numbers };
                    numbers += 1;
                    let (needs, longest) = (plain.lacks_room(held.queue), plain.longest());
                    let (given, displaced) = give(&mut callers[lane as usize], held);
                    if needs.is_some_and(|least| longest >= least) {
                        // Of one of the longest queues the newest.
                        let [number] = displaced[..] else { panic!("{displaced:?} made room") };
                        let of = plain.held.iter().find(|held| held.number == number).expect("it was there").queue;
                        assert_eq!((plain.newest(of).map(|held| held.number), plain.len(of)), (Some(number), longest));
                        plain.take(|held| held.number == number);
                        saw("displaced", 1);
                    } else {
                        assert_eq!(displaced, []);
                    }
                    let full = if plain.len(held.queue) < limits.per_queue { "all full" } else { "queue full" };
                    let expected = plain.give(held);
                    match &expected {
                        Given::Kept { notify } => saw(if *notify { "kept and told" } else { "kept" }, 1),
                        Given::Again => saw("again", 1),
                        Given::Full => saw(full, 1),
                    }
                    assert_eq!(given, expected);
                }
                30..34 => {
                    let queue = queue(&mut rng);
                    assert_eq!(real.waiting(queue), plain.len(queue));
                    let mut looked = Vec::new();
                    real.look(queue, |kept| looked.push(kept.tag()));
                    let discard = rng.random_range(0..2) == 0;
                    let got = match discard {
                        true => packets(&real.discard(queue), Outcome::Dropped(Reason::DISCARDED)),
                        false => packets(&real.release(queue), Outcome::Answered),
                    };
                    saw(if discard { "discarded" } else { "released" }, got.len());
                    assert!(looked.iter().eq(got.iter().map(|(lane, _)| lane)));
                    assert_eq!(got, plain.take(|held| held.queue == queue));
                }
                34..37 => {
                    let age_ns = limits.max_age.as_nanos() as u64;
                    let calls: Vec<Call> = (0..SHARDS).flat_map(|_| real.poll(now_ns)).collect();
                    saw("aged", calls.len());
                    let expected = plain.take(|held| held.since_ns + age_ns < now_ns);
                    assert_eq!(sorted(packets(&calls, Outcome::Dropped(AGED))), sorted(expected));
                }
                37..39 => {
                    closed = None;
                    assert!(!real.is_closed());
                    plain.closed.clear();
                    if rng.random_range(0..2) == 0 {
                        plain.closed = (0..8).map(|_| queue(&mut rng)).collect();
                        // One of them twice.
                        closed = Some(real.close(plain.closed.iter().copied().chain(plain.closed.first().copied())));
                        assert!(real.is_closed());
                    }
                }
                _ if rng.random_range(0..20) == 0 => {
                    let calls = real.discard_all();
                    saw("stopped", calls.len());
                    assert_eq!(sorted(packets(&calls, Outcome::Dropped(Reason::STOPPING))), sorted(plain.take(|_| true)));
                }
                _ => {}
            }
            let counters = real.counters();
            assert_eq!((counters.calls, counters.imbalance()), (u64::from(numbers), 0), "{counters:?}");
            assert_eq!(counters.waiting(), plain.held.len() as u64);
        }
        drop(closed);
    }
    eprintln!("{seen:?}");
    let expected = ["again", "aged", "all full", "discarded", "displaced", "kept", "kept and told", "queue full", "released", "stopped"];
    assert!(seen.keys().copied().eq(expected) && seen.values().all(|n| *n > 300), "{seen:?}");
}

/// Lets lanes go on to their end, also if a check fails.
struct AllRounds<'a>(&'a AtomicU32);

impl Drop for AllRounds<'_> {
    fn drop(&mut self) {
        self.0.store(u32::MAX, SeqCst);
    }
}

/// A flow's packets come from one lane: they come out in their order, and no packet is lost or comes twice.
#[test]
fn packets_of_lanes_that_share_it_come_out_once_and_in_order() {
    const LANES: u32 = 3;
    const EACH: u32 = 20_000;
    const QUEUES: u32 = 40;
    /// Of control code: lanes and rounds wait for each other, so that they meet however the threads run.
    const ROUNDS: u32 = 400;
    let real = IdleBuffer::deploy(Limits { per_queue: 200, total: 600, max_age: Duration::from_nanos(500) });
    let (clock, rounds) = (AtomicU32::new(0), AtomicU32::new(0));
    let mut out: Vec<(u32, Reason)> = Vec::new();
    let mut released: Vec<(u32, u32)> = Vec::new();
    let again = std::sync::Mutex::new(Vec::new());
    let lane = |of: u32, real: &SharedDeployment| {
        let mut caller = real.caller();
        let (mut ends, mut waits) = (Vec::new(), Vec::new());
        for n in 0..EACH {
            while n / (EACH / ROUNDS) > rounds.load(SeqCst) {
                std::thread::yield_now();
            }
            let number = n * LANES + of;
            let since_ns = clock.fetch_add(1, SeqCst).into();
            let mut burst = [Call::new(packet(number), 0, idle::request(number % QUEUES), of)];
            caller.call(&mut burst, since_ns);
            let mut displaced = Vec::new();
            caller.poll(since_ns, &mut displaced);
            for call in burst.iter().filter(|call| call.outcome != Outcome::Kept).chain(&displaced) {
                match call.outcome {
                    Outcome::Answered => waits.push(number),
                    Outcome::Dropped(reason) => ends.push((self::number(call), reason)),
                    other => panic!("{other:?}"),
                }
            }
        }
        again.lock().unwrap().extend(waits);
        ends
    };
    std::thread::scope(|scope| {
        let _lanes_end = AllRounds(&rounds);
        let lanes: Vec<_> = (0..LANES)
            .map(|of| {
                scope.spawn({
                    let (lane, real) = (&lane, &real);
                    move || lane(of, real)
                })
            })
            .collect();
        let mut rng = testkit::rng(0x1d1e_0002);
        for round in 0..ROUNDS {
            // Half of what lanes give in a round.
            while clock.load(SeqCst) < (2 * round + 1) * (LANES * EACH / ROUNDS / 2) {
                assert!(round + 1 == ROUNDS || !lanes.iter().any(|lane| lane.is_finished()), "a lane has failed");
                std::thread::yield_now();
            }
            let queue = rng.random_range(0..QUEUES);
            match rng.random_range(0..3) {
                0 => {
                    let _closed = real.close([queue]);
                    let calls = real.release(queue);
                    let last: Vec<(u32, u32)> = packets(&calls, Outcome::Answered);
                    for of in 0..LANES {
                        assert!(last.iter().filter(|(lane, _)| *lane == of).is_sorted(), "{last:?}");
                    }
                    released.extend(last);
                    assert_eq!(real.waiting(queue), 0, "nothing is added to what is closed");
                }
                1 => out.extend(real.discard(queue).iter().map(|call| (number(call), Reason::DISCARDED))),
                _ => out.extend(real.poll(clock.load(SeqCst).into()).iter().map(|call| (number(call), AGED))),
            }
            rounds.fetch_add(1, SeqCst);
        }
        lanes.into_iter().for_each(|lane| out.extend(lane.join().unwrap()));
    });
    out.extend(real.discard_all().iter().map(|call| (number(call), Reason::STOPPING)));
    let again = again.into_inner().unwrap();
    let counters = real.counters();
    assert_eq!((counters.calls, counters.imbalance(), counters.waiting()), (u64::from(LANES * EACH), 0, 0), "{counters:?}");
    assert_eq!(counters.answered, (released.len() + again.len()) as u64);
    let mut all: Vec<u32> = out.iter().map(|(number, _)| *number).collect();
    all.extend(released.iter().map(|(_, number)| number));
    all.extend(again);
    all.sort_unstable();
    assert!(all.into_iter().eq(0..LANES * EACH), "each comes out once");
    let mut reasons: BTreeMap<Reason, u64> = BTreeMap::new();
    out.iter().for_each(|(_, reason)| *reasons.entry(*reason).or_default() += 1);
    assert_eq!(reasons, counters.dropped);
    eprintln!("{} released, {reasons:?}", released.len());
    assert!(released.len() > 20 && reasons.values().all(|n| *n > 0), "{} released, {reasons:?}", released.len());
}
