//! Is a port's line kept busy, are strict queues strict, are weights exact, and is nothing lost, overtaken or kept for ever?

use rand::Rng;
use shaper::codel::Law;
use shaper::scheduler::{Left, QUANTUM};
use shaper::shaper::Reason;
use shaper::{Pace, PortSettings, QUEUES, QueueSettings, Scheduler, Service};
use std::collections::VecDeque;

const MS: u64 = 1_000_000;
const S: u64 = 1_000 * MS;
/// 100 Mbit/s.
const RATE: u64 = 12_500_000;
/// CoDel never acts.
const NEVER: Law = Law { target_ns: u64::MAX, interval_ns: 100 * MS };
const LONGEST: u32 = 1514;

fn settings(services: [Service; QUEUES], delay_ns: u64, law: Law) -> PortSettings {
    PortSettings { rate: RATE, queues: services.map(|service| QueueSettings { service, delay_ns }), packets: 100_000, law }
}

const STRICT: Service = Service::Strict;
fn weighted(weight: u16) -> Service {
    Service::Weighted(weight)
}

#[test]
fn weights_of_full_queues_are_exact_within_a_round_however_long() {
    let mut rng = testkit::rng(41);
    let weights = [1u16, 1, 2, 3, 5, 8, 40, 100];
    let mut scheduler = Scheduler::<u32>::new(&settings(weights.map(weighted), u64::MAX, NEVER));
    let pace = Pace::new(RATE, 0);
    let (mut now, mut sent, mut most) = (0, [0u64; QUEUES], 0.0f64);
    let mut waiting = [0u32; QUEUES];
    for step in 0..200_000 {
        for (queue, waiting) in waiting.iter_mut().enumerate() {
            while *waiting < 3 {
                // Queues of long packets get no more than such of short ones.
                let size = if queue % 2 == 0 { LONGEST } else { rng.random_range(60..=LONGEST) };
                scheduler.offer(queue, size, size, false, now).unwrap();
                *waiting += 1;
            }
        }
        let next = scheduler.poll(now, &pace, 1, &mut |left| {
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
fn the_line_is_never_idle_strict_is_strict_and_each_packet_comes_out_once_in_order() {
    let mut rng = testkit::rng(42);
    let (mut passed_over, mut late, mut full, mut busy) = (0u64, 0u64, 0u64, 0u64);
    for case in 0..60 {
        let services: [Service; QUEUES] =
            std::array::from_fn(|_| if rng.random_bool(0.3) { STRICT } else { weighted(rng.random_range(1..10)) });
        let delay_ns = [2 * MS, 20 * MS, S][case % 3];
        let burst_ns = [0, MS][case % 2];
        let mut scheduler = Scheduler::<(u64, u32)>::new(&PortSettings { packets: 400, ..settings(services, delay_ns, NEVER) });
        let pace = Pace::new(RATE, burst_ns);
        let (mut now, mut number, mut sent_bytes) = (rng.random_range(0..S), 0u64, 0u64);
        let begin = now;
        let mut twin: [VecDeque<(u64, u32, u64)>; QUEUES] = Default::default();
        for _ in 0..3_000 {
            for _ in 0..rng.random_range(0..6) {
                let (queue, size) = (rng.random_range(0..QUEUES + 1), rng.random_range(60..=LONGEST));
                number += 1;
                let of = &mut twin[queue.min(QUEUES - 1)];
                let all = scheduler.len();
                match scheduler.offer(queue, (number, size), size, false, now) {
                    Ok(()) => of.push_back((number, size, now)),
                    Err((packet, reason)) => {
                        assert_eq!(packet, (number, size));
                        let bytes: u64 = of.iter().map(|p| u64::from(p.1)).sum();
                        let too_much =
                            of.len() >= 4 && u128::from(bytes + u64::from(size)) * u128::from(S) > u128::from(RATE) * u128::from(delay_ns);
                        assert!(if reason == Reason::QueueFull { too_much } else { all == 400 }, "{reason:?}");
                        full += 1;
                    }
                }
            }
            let mut gone = 0;
            let next = scheduler.poll(now, &pace, 1000, &mut |left| {
                gone += 1;
                let (queue, packet) = match &left {
                    Left::Sent { queue, packet, .. } | Left::Dropped { queue, packet, .. } => (*queue, *packet),
                };
                let higher = |other: &usize| services[*other] == STRICT && (services[queue] != STRICT || *other > queue);
                assert!((0..QUEUES).filter(higher).all(|other| twin[other].is_empty()), "{services:?}: {queue} is served too early");
                let (first, size, at_ns) = twin[queue].pop_front().expect("it waited");
                assert_eq!((first, size), packet, "in the order of arrival");
                match left {
                    Left::Sent { mark, .. } => {
                        assert!(!mark && now - at_ns <= delay_ns);
                        sent_bytes += u64::from(size);
                        passed_over += u64::from(twin.iter().any(|of| of.front().is_some_and(|p| p.0 < first)));
                    }
                    Left::Dropped { reason, .. } => {
                        assert!(reason == Reason::Late && now - at_ns > delay_ns);
                        late += 1;
                    }
                }
            });
            assert_eq!(scheduler.len(), twin.iter().map(VecDeque::len).sum::<usize>());
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
        assert_eq!((ended, scheduler.len()), (twin.iter().map(VecDeque::len).sum::<usize>(), 0));
    }
    assert!(passed_over > 10_000 && late > 1_000 && full > 1_000 && busy > 20_000, "{passed_over} {late} {full} {busy}");
}

#[test]
fn a_line_that_is_asked_in_time_sends_exactly_its_rate() {
    for rate in [12_500, RATE, 12_500_000_000] {
        let mut scheduler = Scheduler::<u32>::new(&PortSettings { rate, ..settings([weighted(1); QUEUES], u64::MAX, NEVER) });
        // Of a nanosecond's rounding nothing is lost.
        let pace = Pace::new(rate, 1_000);
        let (mut now, mut bytes, mut packets) = (5 * S, 0u64, 0u64);
        while packets < 20_000 {
            for size in [60, 1514, 594] {
                scheduler.offer(0, size, size, false, now).unwrap();
            }
            while let Some(at) = scheduler.poll(now, &pace, 1, &mut |left| {
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
    let mut scheduler = Scheduler::<u32>::new(&settings([weighted(1); QUEUES], 40 * MS, law));
    let pace = Pace::new(RATE, 0);
    let (mut now, mut marked, mut dropped) = (0, [0u64; QUEUES], [0u64; QUEUES]);
    for step in 0..200_000u64 {
        // Queues 0 and 1 are overloaded, 0 by senders that take marks; queue 2 has a packet now and then.
        for queue in [0, 1] {
            let _ = scheduler.offer(queue, 0, LONGEST, queue == 0, now);
        }
        if step % 50 == 0 {
            scheduler.offer(2, 0, 100, false, now).unwrap();
        }
        now += 121_120;
        scheduler.poll(now, &pace, 1000, &mut |left| match left {
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
    let pace = Pace::new(RATE, 0);
    let mut workers: [Scheduler<u32>; 3] = std::array::from_fn(|_| Scheduler::new(&settings([weighted(1); QUEUES], u64::MAX, NEVER)));
    let (mut now, mut bytes) = (0, 0u64);
    for _ in 0..30_000 {
        for worker in &mut workers {
            worker.offer(0, LONGEST, LONGEST, false, now).unwrap();
            worker.poll(now, &pace, 10, &mut |left| bytes += u64::from(matches!(left, Left::Sent { .. })) * u64::from(LONGEST));
        }
        now += 50_000;
    }
    let expected = now as f64 / 1e9 * RATE as f64;
    // Asked every 50 us, the line rests a little between two packets.
    assert!((0.75..=1.001).contains(&(bytes as f64 / expected)), "{bytes} of {expected}");
}
