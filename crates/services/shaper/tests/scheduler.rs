//! Is a port's line kept busy, are strict queues strict, are weights exact, and is nothing lost, overtaken or kept for ever?

use rand::Rng;
use shaper::codel::Law;
use shaper::scheduler::{Left, QUANTUM};
use shaper::shaper::Reason;
use shaper::{Guaranteed, Place, PortRates, PortSettings, QUEUES, QueueSettings, Scheduler, Service, SliceSettings};
use std::collections::VecDeque;

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;
/// 100 Mbit/s.
const RATE: u64 = 12_500_000;
/// CoDel never acts.
const NEVER: Law = Law { target_ns: u64::MAX, interval_ns: 100 * MS };
const LONGEST: u32 = 1514;
/// Flows of each queue, at random.
const FLOWS: usize = 4;

fn settings_of(services: [Service; QUEUES], delay_ns: u64, law: Law) -> PortSettings {
    let queues = services.map(|service| QueueSettings { service, delay_ns });
    PortSettings { rate: RATE, queues, slices: vec![SliceSettings::default()], packets: 100_000, law }
}

/// Nothing ends while it waits.
fn wanted<P>(_: &P) -> bool {
    true
}

const STRICT: Service = Service::Strict;
fn weighted(weight: u16) -> Service {
    Service::Weighted(weight)
}

#[test]
fn weights_of_full_queues_are_exact_within_a_round_however_long() {
    let mut rng = testkit::rng(41);
    let weights = [1u16, 1, 2, 3, 5, 8, 40, 100];
    let settings = settings_of(weights.map(weighted), u64::MAX, NEVER);
    let mut scheduler = Scheduler::<u32>::new(&settings);
    let rates = PortRates::new(&settings, 0);
    let (mut now, mut sent, mut most) = (0, [0u64; QUEUES], 0.0f64);
    let mut waiting = [0u32; QUEUES];
    for step in 0..200_000 {
        for (queue, waiting) in waiting.iter_mut().enumerate() {
            while *waiting < 3 {
                // Queues of long packets get no more than such of short ones.
                let size = if queue % 2 == 0 { LONGEST } else { rng.random_range(60..=LONGEST) };
                scheduler.offer(Place::queue(queue), size, size, false, now).unwrap();
                *waiting += 1;
            }
        }
        let next = scheduler.poll(now, &rates, 1, wanted, &mut |left| {
            let Left::Sent { queue, packet, .. } = left else { panic!("{left:?}") };
            sent[queue] += u64::from(packet);
            waiting[queue] -= 1;
        });
        now = next.expect("all are full");
        if step > 0 {
            let shares: Vec<f64> = (0..QUEUES).map(|q| sent[q] as f64 / f64::from(weights[q])).collect();
            let spread = shares.iter().copied().fold(0.0, f64::max) - shares.iter().copied().fold(f64::INFINITY, f64::min);
            most = most.max(spread);
        }
    }
    assert!(most <= (QUANTUM + 2 * u64::from(LONGEST)) as f64, "{most} bytes of weight 1");
    assert!(sent.iter().all(|bytes| *bytes > 100_000), "{sent:?}");
}

/// Random packets, services and pauses: everything that must hold at each moment.
#[test]
fn the_line_is_never_idle_strict_is_strict_and_each_packet_comes_out_once_in_its_flows_order() {
    let mut rng = testkit::rng(42);
    let (mut passed_over, mut late, mut full, mut busy) = (0u64, 0u64, [0u64; 2], 0u64);
    for case in 0..60 {
        let services: [Service; QUEUES] =
            std::array::from_fn(|_| if rng.random_bool(0.3) { STRICT } else { weighted(rng.random_range(1..10)) });
        let delay_ns = [2 * MS, 20 * MS, S][case % 3];
        let burst_ns = [0, MS][case % 2];
        let settings = PortSettings { packets: 400, ..settings_of(services, delay_ns, NEVER) };
        let mut scheduler = Scheduler::<(u64, u32)>::new(&settings);
        let rates = PortRates::new(&settings, burst_ns);
        let (mut now, mut number, mut sent_bytes) = (rng.random_range(0..S), 0u64, 0u64);
        let begin = now;
        let mut twin: [[VecDeque<(u64, u32, u64)>; FLOWS]; QUEUES] = Default::default();
        for _ in 0..3_000 {
            for _ in 0..rng.random_range(0..6) {
                let (queue, flow, size) = (rng.random_range(0..QUEUES + 1), rng.random_range(0..FLOWS), rng.random_range(60..=LONGEST));
                number += 1;
                let of = &mut twin[queue.min(QUEUES - 1)];
                let all = scheduler.len();
                // Every flow in use has its share of what the queue takes.
                let others = (0..FLOWS).filter(|other| *other != flow && !of[*other].is_empty()).count() as u128;
                let share = u128::from(RATE) * u128::from(delay_ns) / u128::from(S) / (others + 1);
                let of = &mut of[flow];
                let bytes: u64 = of.iter().map(|p| u64::from(p.1)).sum();
                let too_much = of.len() >= 4 && u128::from(bytes + u64::from(size)) > share;
                let expected = match (too_much, of.len() >= 400 - all) {
                    (true, _) => Err(Reason::QueueFull),
                    (false, true) => Err(Reason::Full),
                    (false, false) => Ok(()),
                };
                let place = Place { flow: flow as u32, ..Place::queue(queue) };
                let came = scheduler.offer(place, (number, size), size, false, now);
                if came.is_ok() {
                    of.push_back((number, size, now));
                }
                full[0] += u64::from(expected == Err(Reason::QueueFull));
                full[1] += u64::from(expected == Err(Reason::Full));
                assert_eq!(came, expected.map_err(|reason| ((number, size), reason)));
            }
            let mut gone = 0;
            let next = scheduler.poll(now, &rates, 1000, wanted, &mut |left| {
                gone += 1;
                let (queue, packet) = match &left {
                    Left::Sent { queue, packet, .. } | Left::Dropped { queue, packet, .. } => (*queue, *packet),
                };
                let higher = |other: &usize| services[*other] == STRICT && (services[queue] != STRICT || *other > queue);
                assert!(
                    (0..QUEUES).filter(higher).all(|other| twin[other].iter().all(VecDeque::is_empty)),
                    "{services:?}: {queue} too early"
                );
                let flow = twin[queue].iter_mut().find(|flow| flow.front().is_some_and(|p| (p.0, p.1) == packet));
                let (first, _, at_ns) = flow.expect("it is the first of its flow").pop_front().expect("it waited");
                match left {
                    Left::Sent { mark, .. } => {
                        assert!(!mark && now - at_ns <= delay_ns);
                        sent_bytes += u64::from(packet.1);
                        passed_over += u64::from(twin[queue].iter().any(|of| of.front().is_some_and(|p| p.0 < first)));
                    }
                    Left::Dropped { reason, .. } => {
                        assert!(reason == Reason::Late && now - at_ns > delay_ns);
                        late += 1;
                    }
                }
            });
            assert_eq!(scheduler.len(), twin.iter().flatten().map(VecDeque::len).sum::<usize>());
            // Work conserving: what waits waits for the line alone.
            assert_eq!(next.is_none(), scheduler.is_empty());
            assert!(next.is_none_or(|at| at > now) && gone < 1000);
            if let Some(at) = next {
                busy += 1;
                assert!(at - now <= 121_120, "{} ns: longer than the longest packet takes", at - now);
                // Mostly as soon as the line is free; sometimes late, as a thread is.
                now = if rng.random_bool(0.9) { at } else { now + rng.random_range(0..3 * MS) };
            } else {
                now += rng.random_range(0..MS);
            }
            let most = (now - begin + burst_ns) as f64 / 1e9 * RATE as f64 + f64::from(LONGEST);
            assert!(sent_bytes as f64 <= most + 1.0, "{sent_bytes} bytes, {most} at most");
        }
        let sent: u64 = scheduler.counters().iter().map(|c| c.sent_bytes).sum();
        assert_eq!(sent, sent_bytes);
        let mut ended = 0;
        scheduler.end(&mut |left| ended += usize::from(matches!(left, Left::Dropped { reason: Reason::Ended, .. })));
        assert_eq!((ended, scheduler.len()), (twin.iter().flatten().map(VecDeque::len).sum::<usize>(), 0));
    }
    assert!(
        passed_over > 10_000 && late > 1_000 && full.iter().all(|n| *n > 1_000) && busy > 20_000,
        "{passed_over} {late} {full:?} {busy}"
    );
}

#[test]
fn a_line_that_is_asked_in_time_sends_exactly_its_rate() {
    for rate in [12_500, RATE, 12_500_000_000] {
        let settings = PortSettings { rate, ..settings_of([weighted(1); QUEUES], u64::MAX, NEVER) };
        let mut scheduler = Scheduler::<u32>::new(&settings);
        // Of a nanosecond's rounding nothing is lost.
        let rates = PortRates::new(&settings, 1_000);
        let (mut now, mut bytes, mut packets) = (5 * S, 0u64, 0u64);
        while packets < 20_000 {
            for size in [60, 1514, 594] {
                scheduler.offer(Place::queue(0), size, size, false, now).unwrap();
            }
            while let Some(at) = scheduler.poll(now, &rates, 1, wanted, &mut |left| {
                if let Left::Sent { packet, .. } = left {
                    (bytes, packets) = (bytes + u64::from(packet), packets + 1);
                }
            }) {
                now = at.max(now);
            }
        }
        let expected = (now - 5 * S) as f64 / 1e9 * rate as f64;
        assert!((bytes as f64 / expected - 1.0).abs() < 0.002, "{rate}: {bytes} bytes, not {expected}");
    }
}

/// RFC 8289 and RFC 3168: a queue that stands is thinned out, and senders that understand marks are spared.
#[test]
fn a_standing_queue_is_marked_or_thinned_out_and_the_others_are_not() {
    let law = Law { target_ns: 5 * MS, interval_ns: 100 * MS };
    let settings = settings_of([weighted(1); QUEUES], 40 * MS, law);
    let mut scheduler = Scheduler::<u32>::new(&settings);
    let rates = PortRates::new(&settings, 0);
    let (mut now, mut marked, mut dropped) = (0, [0u64; QUEUES], [0u64; QUEUES]);
    for step in 0..200_000u64 {
        // Queues 0 and 1 are overloaded, 0 by senders that take marks; queue 2 has a packet now and then.
        for queue in [0, 1] {
            let _ = scheduler.offer(Place::queue(queue), 0, LONGEST, queue == 0, now);
        }
        if step % 50 == 0 {
            scheduler.offer(Place::queue(2), 0, 100, false, now).unwrap();
        }
        now += 121_120;
        scheduler.poll(now, &rates, 1000, wanted, &mut |left| match left {
            Left::Sent { queue, mark, .. } => marked[queue] += u64::from(mark),
            Left::Dropped { queue, reason, .. } => dropped[queue] += u64::from(reason == Reason::Codel),
        });
    }
    assert!(marked[0] > 100 && dropped[0] == 0, "{marked:?} {dropped:?}");
    assert!(dropped[1] > 100 && marked[1] == 0, "{marked:?} {dropped:?}");
    assert_eq!((marked[2], dropped[2]), (0, 0));
    let counters = scheduler.counters();
    assert_eq!(counters[0].marked, marked[0]);
    assert!(counters[2].delay_us(0.99) <= 512, "{:?}: a queue with little waits for a round at most", counters[2]);
}

#[test]
fn threads_that_share_a_line_send_its_rate_together() {
    let settings = settings_of([weighted(1); QUEUES], u64::MAX, NEVER);
    let rates = PortRates::new(&settings, 0);
    let mut workers: [Scheduler<u32>; 3] = std::array::from_fn(|_| Scheduler::new(&settings));
    let (mut now, mut bytes) = (0, 0u64);
    for _ in 0..30_000 {
        for worker in &mut workers {
            worker.offer(Place::queue(0), LONGEST, LONGEST, false, now).unwrap();
            worker.poll(now, &rates, 10, wanted, &mut |left| bytes += u64::from(matches!(left, Left::Sent { .. })) * u64::from(LONGEST));
        }
        now += 50_000;
    }
    let expected = now as f64 / 1e9 * RATE as f64;
    // Asked every 50 us, the line rests a little between two packets.
    assert!((0.75..=1.001).contains(&(bytes as f64 / expected)), "{bytes} of {expected}");
}

/// Gives a scheduler of slices packets of [`LONGEST`] bytes as its places have none left, and polls it as the line is free: bytes that each place has sent.
fn fill(settings: &PortSettings, places: &[(Place, usize)], until_ns: u64) -> Vec<u64> {
    let (mut scheduler, rates) = (Scheduler::<usize>::new(settings), PortRates::new(settings, MS));
    let (mut now, mut sent, mut waiting) = (0, vec![0u64; places.len()], vec![0; places.len()]);
    while now < until_ns {
        for (i, (place, most)) in places.iter().enumerate() {
            while waiting[i] < *most {
                scheduler.offer(*place, i, LONGEST, false, now).unwrap();
                waiting[i] += 1;
            }
        }
        let next = scheduler.poll(now, &rates, 1, wanted, &mut |left| {
            let Left::Sent { packet, .. } = left else { panic!("{left:?}") };
            sent[packet] += u64::from(LONGEST);
            waiting[packet] -= 1;
        });
        now = next.expect("all are full");
    }
    sent
}

#[test]
fn slices_share_the_line_by_weight_and_none_exceeds_a_rate_of_its_own() {
    // A strict queue is strict in its slice alone, and many queues of one slice are no more than one of another.
    let slice = |weight, rate| SliceSettings { weight, rate };
    let mut services = [weighted(1); QUEUES];
    services[7] = STRICT;
    let slices = vec![slice(1, None), slice(3, None), slice(4, Some(RATE / 10))];
    let settings = PortSettings { slices, ..settings_of(services, u64::MAX, NEVER) };
    let place = |slice, queue| (Place { slice, ..Place::queue(queue) }, 3);
    let places = [place(0, 7), place(0, 0), place(1, 0), place(1, 1), place(1, 2), place(2, 0), place(9, 0)];
    let sent = fill(&settings, &places, 10 * S);
    let share = |of: &[usize]| of.iter().map(|i| sent[*i]).sum::<u64>() as f64 / (10 * RATE) as f64;
    // A tenth of the line is the third's, of what is left a quarter is the first's; an unknown slice is the first.
    assert!((share(&[5]) - 0.1).abs() < 0.002, "{sent:?}");
    assert!((share(&[0]) - 0.225).abs() < 0.002 && (share(&[2, 3, 4]) - 0.675).abs() < 0.002, "{sent:?}");
    assert_eq!(sent[1] + sent[6], 0, "behind a strict queue of their slice that is never empty");
    assert!(sent[2].abs_diff(sent[3]) < 10_000 && sent[3].abs_diff(sent[4]) < 10_000, "{sent:?}");
    let all = share(&[0, 1, 2, 3, 4, 5, 6]);
    assert!((0.999..=1.001).contains(&all), "{all}: the line is never idle");
    // Alone it leaves the line idle, and is asked again in time.
    let alone = fill(&settings, &places[5..6], 10 * S);
    assert!((alone[0] as f64 / RATE as f64 - 1.0).abs() < 0.002, "{alone:?}");
}

/// What a slice did not use, by its own rate or as there was nothing else to send, gives it nothing later; and a moment in which it must wait for its own rate is no
/// turn of the other's.
#[test]
fn a_slice_with_a_rate_of_its_own_shares_by_weight_with_one_that_comes_later() {
    let rate = 100 * RATE;
    for (weights, own, fair) in
        [([1000, 1000], 90, 0.5), ([1, 1], 90, 0.5), ([1000, 1000], 60, 0.5), ([300, 100], 80, 0.75), ([3, 1], 50, 0.5), ([1, 3], 90, 0.25)]
    {
        for burst_ns in [50_000, 2 * MS] {
            let slices =
                vec![SliceSettings { weight: weights[0], rate: Some(own * RATE) }, SliceSettings { weight: weights[1], rate: None }];
            let settings = PortSettings { rate, slices, ..settings_of([weighted(1); QUEUES], u64::MAX, NEVER) };
            let (mut scheduler, rates) = (Scheduler::<usize>::new(&settings), PortRates::new(&settings, burst_ns));
            let (mut now, mut sent, mut waiting, mut apart) = (0, [0u64; 2], [0; 2], 0.0f64);
            while now < 300 * MS {
                // The second one comes after 100 ms.
                for (slice, waiting) in waiting.iter_mut().enumerate().filter(|(slice, _)| *slice == 0 || now >= 100 * MS) {
                    while *waiting < 5 {
                        scheduler.offer(Place { slice, ..Place::queue(0) }, slice, LONGEST, false, now).unwrap();
                        *waiting += 1;
                    }
                }
                let next = scheduler.poll(now, &rates, 1, wanted, &mut |left| {
                    let Left::Sent { packet, .. } = left else { panic!("{left:?}") };
                    (sent[packet], waiting[packet]) = (sent[packet] + u64::from(now >= 100 * MS) * u64::from(LONGEST), waiting[packet] - 1);
                });
                now = next.expect("one is full").max(now);
                let expected = (sent[0] + sent[1]) as f64 * fair;
                apart = apart.max((sent[0] as f64 - expected).abs());
            }
            // A round, and what the line and the slice may send at once after a pause.
            let bound = (QUANTUM * u64::from(weights[0].max(weights[1])) + 2 * rate * burst_ns / S) as f64;
            assert!(
                apart <= bound,
                "{weights:?}, own rate {own} %, burst {burst_ns} ns: {sent:?}, {apart} bytes from its share, more than {bound}"
            );
            assert!((sent[0] + sent[1]) as f64 > 0.999 * (rate / 5) as f64, "the line is never idle: {sent:?}");
        }
    }
}

/// Sessions of one queue: who is offered more than a share gets a share, the others what they are offered, soon, and without loss.
#[test]
fn flows_of_a_queue_share_it_by_bytes_and_who_takes_less_than_a_share_waits_little_and_loses_nothing() {
    let mut rng = testkit::rng(45);
    let settings = PortSettings { packets: 2000, ..settings_of([weighted(1); QUEUES], 50 * MS, NEVER) };
    let (mut scheduler, rates) = (Scheduler::<(u32, u64)>::new(&settings), PortRates::new(&settings, 0));
    // Of 100 Mbit/s: ten flows that send without end, packets of 1514 or 200 bytes or both, and one of 1 Mbit/s.
    let (mut now, mut sent, mut lost, mut longest) = (0, [0u64; 11], [0u64; 11], 0);
    let mut due = 0;
    while now < 5 * S {
        for flow in 0..10u32 {
            let size = [LONGEST, 200, rng.random_range(60..=LONGEST)][flow as usize % 3];
            let place = Place { flow, ..Place::queue(0) };
            lost[flow as usize] += u64::from(scheduler.offer(place, (flow, now), size, false, now).is_err());
        }
        while due <= now {
            let place = Place { flow: 10, ..Place::queue(0) };
            lost[10] += u64::from(scheduler.offer(place, (10, now), 500, false, now).is_err());
            due += 4 * MS;
        }
        now = now.max(
            scheduler
                .poll(now, &rates, 1, wanted, &mut |left| match left {
                    Left::Sent { packet: (flow, at_ns), .. } => {
                        sent[flow as usize] += 1;
                        longest = longest.max(if flow == 10 { now - at_ns } else { 0 });
                    }
                    Left::Dropped { packet: (flow, _), .. } => lost[flow as usize] += 1,
                })
                .expect("full"),
        );
    }
    let bytes = |flow: usize| sent[flow] * [LONGEST as u64, 200][flow % 3];
    // A second of warm-up for queues that fill: they are of one size then.
    let shares: Vec<u64> = [0, 3, 6, 9, 1, 4, 7].map(bytes).to_vec();
    let (least, most) = (*shares.iter().min().unwrap() as f64, *shares.iter().max().unwrap() as f64);
    assert!(most / least < 1.02, "{shares:?}");
    assert!(least > 0.95 * (5 * (RATE - RATE / 100)) as f64 / 10.0, "{shares:?}");
    assert!((0..10).all(|flow| lost[flow] > 100) && lost[10] == 0 && sent[10] > 1000, "{lost:?} {sent:?}");
    // A round of the others, and the frame on the line.
    assert!(longest < 20 * u64::from(LONGEST) * S / RATE, "{longest} ns");
}

/// Which flow of a queue is next, by looking at all of them: the one that will first have sent its first packet, each at its weight's rate since it had its
/// first; of equals the one that has waited longest for its turn.
#[derive(Default)]
struct Turns {
    /// Weight, what it has sent, when it took its turn, and what waits.
    flows: Vec<(u16, u128, u64, VecDeque<u32>)>,
    time: u128,
    turn: u64,
}

impl Turns {
    /// When it will have sent that, in parts of a byte of weight 1: as the scheduler's, and exact for no weight but powers of two.
    fn until(&self, flow: usize) -> u128 {
        let (weight, sent, _, waiting) = &self.flows[flow];
        sent + (u128::from(waiting[0]) << 16) / u128::from(*weight)
    }

    fn offer(&mut self, flow: usize, size: u32) {
        let of = &mut self.flows[flow];
        if of.3.is_empty() {
            self.turn += 1;
            (of.1, of.2) = (self.time, self.turn);
        }
        of.3.push_back(size);
    }

    fn next(&mut self) -> usize {
        let waits = (0..self.flows.len()).filter(|flow| !self.flows[*flow].3.is_empty());
        let next = waits.min_by_key(|flow| (self.until(*flow), self.flows[*flow].2)).expect("one waits");
        self.time = self.until(next);
        self.turn += 1;
        let of = &mut self.flows[next];
        of.3.pop_front();
        (of.1, of.2) = (self.time, self.turn);
        next
    }
}

/// Sessions of different weights in one queue: each packet is the one that a scan of all flows finds, and of flows that stay full none is further from its share than
/// a packet of its own and one of the other's.
#[test]
fn flows_share_a_queue_by_weight_packet_by_packet_and_the_order_is_that_of_a_scan_of_all() {
    let mut rng = testkit::rng(46);
    let (mut full, mut others, mut apart) = (0u64, 0u64, 0.0f64);
    for case in 0..40 {
        let settings = settings_of([if case % 4 == 0 { STRICT } else { weighted(1) }; QUEUES], u64::MAX, NEVER);
        let (mut scheduler, rates) = (Scheduler::<usize>::new(&settings), PortRates::new(&settings, 0));
        let most = [1, 3, 100, 1000][case % 4];
        let weights: Vec<u16> = (0..rng.random_range(2..12)).map(|_| rng.random_range(1..=most)).collect();
        // The first two always have packets, the others now and then.
        let mut twin = Turns { flows: weights.iter().map(|weight| (*weight, 0, 0, VecDeque::new())).collect(), ..Turns::default() };
        let (mut now, mut sent) = (0, vec![0u64; weights.len()]);
        for _ in 0..4_000 {
            for (flow, weight) in weights.iter().copied().enumerate() {
                while twin.flows[flow].3.len() < 2 && (flow < 2 || rng.random_bool(0.1)) {
                    let size = rng.random_range(60..=LONGEST);
                    let place = Place { flow: flow as u32, weight, ..Place::queue(3) };
                    scheduler.offer(place, flow, size, false, now).unwrap();
                    twin.offer(flow, size);
                }
            }
            let mut left = None;
            while left.is_none() {
                now = scheduler
                    .poll(now, &rates, 1, wanted, &mut |of| {
                        let Left::Sent { packet, .. } = of else { panic!("{of:?}") };
                        left = Some(packet);
                    })
                    .expect("two are full");
            }
            let flow = left.unwrap();
            let size = twin.flows[flow].3[0];
            assert_eq!(flow, twin.next(), "weights {weights:?}, sent {sent:?}");
            sent[flow] += u64::from(size);
            full += u64::from(flow < 2);
            others += u64::from(flow >= 2);
            let share = |flow: usize| sent[flow] as f64 / f64::from(weights[flow]);
            let packets = f64::from(LONGEST) / f64::from(weights[0]) + f64::from(LONGEST) / f64::from(weights[1]);
            apart = apart.max((share(0) - share(1)).abs() / packets);
        }
    }
    assert!(apart <= 1.0, "{apart} of a packet each");
    assert!(full > 20_000 && others > 20_000, "{full} {others}");
}

/// Under overload from all, each gets its share of the line, and holds its share of what a queue may hold.
#[test]
fn overloaded_flows_get_their_shares_within_a_hundredth_and_hold_as_much_of_the_queue() {
    let settings = PortSettings { packets: 4000, ..settings_of([weighted(1); QUEUES], 200 * MS, NEVER) };
    for weights in [[1u16, 2, 5, 12, 30], [30, 12, 5, 2, 1]] {
        let (mut scheduler, rates) = (Scheduler::<(usize, u64)>::new(&settings), PortRates::new(&settings, 0));
        let all: u32 = weights.iter().map(|weight| u32::from(*weight)).sum();
        let (mut now, mut sent, mut lost, mut waits) = (0, [0u64; 5], [0u64; 5], [(0u64, 0u64); 5]);
        while now < 60 * S {
            for (flow, weight) in weights.into_iter().enumerate() {
                let place = Place { flow: flow as u32, weight, ..Place::queue(0) };
                while scheduler.offer(place, (flow, now), LONGEST, false, now).is_ok() {}
                lost[flow] += 1;
            }
            // The first second is of queues that fill, or of what was in them before.
            let next = scheduler.poll(now, &rates, 1, wanted, &mut |left| match left {
                Left::Sent { packet: (flow, at_ns), .. } if now > S => {
                    sent[flow] += u64::from(LONGEST);
                    waits[flow] = (waits[flow].0 + (now - at_ns), waits[flow].1 + 1);
                }
                Left::Sent { .. } => {}
                Left::Dropped { packet: (flow, _), .. } => lost[flow] += 1,
            });
            now = next.expect("all are full").max(now);
        }
        let whole: u64 = sent.iter().sum();
        assert!(whole as f64 > 0.995 * (59 * RATE) as f64, "{whole}: the line is never idle");
        for (flow, weight) in weights.into_iter().enumerate() {
            let share = sent[flow] as f64 / whole as f64 * f64::from(all) / f64::from(weight);
            assert!((share - 1.0).abs() < 0.01, "weight {weight}: {share} of its share, {sent:?}");
            // As much time in each queue, but for four packets that each may hold.
            let mean_ns = waits[flow].0 / waits[flow].1;
            assert!((100 * MS..=201 * MS).contains(&mean_ns), "weight {weight}: {mean_ns} ns");
        }
        assert!(lost.iter().all(|n| *n > 1000), "{lost:?}");
    }
}

#[test]
fn a_guaranteed_flow_gets_its_rate_within_a_few_frames_times_while_the_line_is_congested_and_a_share_of_what_is_spare() {
    let (mut waits_most, mut over) = (0, 0);
    for greedy in [false, true] {
        let slices = vec![SliceSettings::default(), SliceSettings { weight: 1, rate: Some(RATE / 50) }];
        let mut services = [weighted(1); QUEUES];
        services[7] = STRICT;
        let settings = PortSettings { slices, ..settings_of(services, S, NEVER) };
        let (mut scheduler, rates) = (Scheduler::<(u32, u64)>::new(&settings), PortRates::new(&settings, 0));
        // 5 Mbit/s each of 100: one in a slice that has less, one beside a strict queue that is never empty. Both are offered just that, or more than they get.
        let rate = RATE / 20;
        let flow = |flow: u32, slice| Place { slice, queue: 3, flow, weight: 1, guaranteed: Some(Guaranteed { rate, size: LONGEST }) };
        let places = [Place::queue(7), Place::queue(0), flow(900, 0), flow(901, 1)];
        let gap_ns = u64::from(LONGEST) * S / rate;
        let (mut now, mut sent, mut waiting, mut due) = (0, [0u64; 4], [0; 4], [0u64; 4]);
        while now < 10 * S {
            for i in 0..4 {
                let flows = i >= 2 && !greedy;
                while if flows { due[i] <= now } else { waiting[i] < 3 } {
                    scheduler.offer(places[i], (i as u32, due[i]), LONGEST, false, now).unwrap();
                    (waiting[i], due[i]) = (waiting[i] + 1, due[i] + gap_ns);
                }
            }
            let next = scheduler.poll(now, &rates, 1, wanted, &mut |left| {
                let Left::Sent { packet: (i, due), .. } = left else { panic!("{left:?}") };
                sent[i as usize] += u64::from(LONGEST);
                waiting[i as usize] -= 1;
                if i >= 2 && !greedy {
                    waits_most = waits_most.max(now - due);
                }
            });
            now = next.expect("the strict queue is full").max(now);
        }
        for i in [2, 3] {
            let got = sent[i] as f64 / (10 * rate) as f64;
            assert!(got >= 0.998, "{got} of the guarantee, greedy {greedy}");
            assert!(got <= 1.002 || greedy && i == 2, "{got}: nothing is spare behind a strict queue, nor in a slice that has less");
            over += u64::from(got > 1.002);
        }
        assert!(sent[1] == 0 && sent.iter().sum::<u64>() as f64 > 9.98 * RATE as f64, "{sent:?}");
    }
    assert_eq!(over, 0);
    // The frame on the line, and the other flow's.
    assert!(waits_most <= 4 * u64::from(LONGEST) * S / RATE, "{waits_most} ns");
}

#[test]
fn guaranteed_flows_keep_their_order_share_what_is_spare_and_are_forgotten() {
    let mut rng = testkit::rng(43);
    let settings = settings_of([weighted(1); QUEUES], u64::MAX, NEVER);
    let guaranteed = Some(Guaranteed { rate: RATE / 1000, size: LONGEST });
    let flow = |flow: u32| Place { flow, guaranteed, ..Place::queue(0) };
    // A flow with little of a guarantee gets what others of its queue get, whatever number those have.
    let places = [(Place { flow: 5, ..Place::queue(0) }, 3), (Place::queue(1), 3), (flow(5), 3), (flow(6), 3)];
    let sent = fill(&settings, &places, 6 * S);
    for (i, bytes) in sent.iter().enumerate() {
        let share = if i == 1 { 3.0 } else { 1.0 };
        assert!((*bytes as f64 / RATE as f64 - share).abs() < 0.02 * share, "{sent:?}");
    }
    // Many that come and go: each in its order, and none for ever.
    let (mut scheduler, rates) = (Scheduler::<(u32, u64)>::new(&settings), PortRates::new(&settings, 0));
    let (mut now, mut number, mut last, mut all) = (0, 0u64, std::collections::BTreeMap::<u32, u64>::new(), (0, 0));
    for round in 0..20_000u32 {
        let id = round / 100 + rng.random_range(0..10);
        if scheduler.len() < 1000 {
            scheduler.offer(flow(id), (id, number), rng.random_range(60..=LONGEST), false, now).unwrap();
            (number, all.0) = (number + 1, all.0 + 1);
        }
        let next = scheduler.poll(now, &rates, 3, |(_, number)| number % 7 != 3, &mut |left| {
            let (Left::Sent { packet: (id, number), .. } | Left::Dropped { packet: (id, number), .. }) = &left;
            let ended = matches!(left, Left::Dropped { reason: Reason::Ended, .. });
            assert_eq!(ended, number % 7 == 3, "{left:?}");
            assert!(last.insert(*id, *number).is_none_or(|before| before < *number), "{id}: in the order of arrival");
            all.1 += 1;
        });
        now = next.unwrap_or(now).max(now) + rng.random_range(0..200_000);
    }
    scheduler.end(&mut |_| all.1 += 1);
    assert_eq!(all.0, all.1, "each comes out once");
    assert!(last.len() > 190 && scheduler.is_empty());
    // The next one is asked long after: those before it are gone by then.
    scheduler.poll(now + 1000 * S, &rates, 10, wanted, &mut |left| panic!("{left:?}"));
    assert_eq!(scheduler.flows(), 0);
}
