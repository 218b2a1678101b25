//! Does the RLC buffer do what a plain one does that looks at everything? Random operations on both: packets in order, with gaps, again;
//! statuses that are right, late, repeated and hostile; clocks that jump; bearers that come and go.

use std::collections::VecDeque;

use buffer::plain::rlc::{PlainBearer, PlainRlc};
use buffer::rlc::{BearerConfig, Key, Retransmission};
use buffer::status::{Nack, SO_END, SnLength, StatusFault, emit};
use buffer::{Event, Limits, Payload, Reason, RlcBuffer};

const BEARERS: u32 = 6;

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Item {
    id: u64,
    bytes: usize,
}

impl Payload for Item {
    fn sdu_bytes(&self) -> usize {
        self.bytes
    }
}

type Events = Vec<Event<Key, Item>>;

/// The same, whatever the order of bearers and of packets and indications within them.
fn sorted(events: Events) -> Vec<(u32, u32, u32, Option<Item>)> {
    let mut sorted: Vec<_> = events
        .into_iter()
        .map(|event| match event {
            Event::Acknowledged { key, packet } => (key.bearer, key.sn, 1000, Some(packet)),
            Event::Discarded { key, packet, reason } => (key.bearer, key.sn, reason as u32, Some(packet)),
            Event::MaxRetransmissions { key } => (key.bearer, key.sn, 2000, None),
        })
        .collect();
    sorted.sort();
    sorted
}

#[derive(Default, Debug)]
struct Hits {
    kept: u64,
    polls: u64,
    no_polls: u64,
    wraps: [u64; 2],
    absent: u64,
    nacked: u64,
    partial: u64,
    jumps: u64,
    places: u64,
    no_places: [u64; Reason::ALL.len()],
}

fn config(rng: &mut impl rand::Rng) -> BearerConfig {
    let sn_length = if rng.random() { SnLength::Bits12 } else { SnLength::Bits18 };
    BearerConfig {
        sn_length,
        window: *pick(rng, &[1, 7, 64, 500, sn_length.window()]),
        bytes: *pick(rng, &[3_000, 200_000, u64::MAX]),
        poll_retransmit_ms: *pick(rng, &[1, 5, 45, 800, 4000]),
        poll_pdu: *pick(rng, &[None, Some(4), Some(32)]),
        poll_byte: *pick(rng, &[None, Some(2_000)]),
        max_retransmissions: *pick(rng, &[1, 2, 8]),
    }
}

fn pick<'a, T>(rng: &mut impl rand::Rng, of: &'a [T]) -> &'a T {
    &of[rng.random_range(0..of.len())]
}

/// What a peer might send: it covers up to somewhere, and misses some of what is kept or was never given.
fn status_of(state: &PlainBearer<Item>, rng: &mut impl rand::Rng) -> Vec<u8> {
    let modulus = state.modulus();
    let mut ack = rng.random_range(state.next_ack..=state.next);
    if rng.random_ratio(1, 3) {
        ack = state.next;
    }
    let mut nacks = Vec::new();
    let mut at = state.next_ack.max(ack.saturating_sub(60));
    let misses = *pick(rng, &[0.0, 0.05, 0.5]);
    while at < ack {
        if !rng.random_bool(misses) {
            at += 1;
            continue;
        }
        let sn = (at % modulus) as u32;
        match rng.random_range(0..4) {
            0 => {
                let range = rng.random_range(1..=20).min(ack - at) as u8;
                let segment = rng.random_bool(0.3).then(|| (rng.random_range(0..200), SO_END));
                nacks.push(Nack { sn, range, segment });
                at += u64::from(range);
            }
            1 => {
                let start = rng.random_range(0..300);
                nacks.push(Nack { sn, range: 1, segment: Some((start, start + 40)) });
                if rng.random() {
                    nacks.push(Nack { sn, range: 1, segment: Some((start + 100, *pick(rng, &[SO_END, start + 110]))) });
                }
                at += 1;
            }
            _ => {
                nacks.push(Nack::of(sn));
                at += 1;
            }
        }
    }
    let mut pdu = Vec::new();
    emit(state.config.sn_length, (ack % modulus) as u32, &nacks, &mut pdu);
    pdu
}

fn hostile(state: &PlainBearer<Item>, rng: &mut impl rand::Rng) -> Vec<u8> {
    let mut pdu = status_of(state, rng);
    match rng.random_range(0..4) {
        0 => (0..rng.random_range(0..40)).map(|_| rng.random()).collect(),
        1 => {
            let at = rng.random_range(0..pdu.len());
            pdu[at] ^= 1 << rng.random_range(0..8);
            pdu
        }
        2 => {
            pdu.truncate(rng.random_range(0..=pdu.len()));
            pdu
        }
        _ => {
            let sn = |rng: &mut _| ((state.next_ack + rand::Rng::random_range(rng, 0..80)) % state.modulus()) as u32;
            let nacks: Vec<Nack> = (0..rng.random_range(0..4))
                .map(|_| Nack {
                    sn: sn(rng),
                    range: *pick(rng, &[0, 1, 5, 29]),
                    segment: rng.random::<bool>().then_some((5, rng.random_range(3..90))),
                })
                .collect();
            pdu.clear();
            emit(state.config.sn_length, sn(rng), &nacks, &mut pdu);
            pdu
        }
    }
}

#[test]
fn it_does_what_a_plain_buffer_does() {
    let mut rng = testkit::rng(0x5eed_38322);
    let mut hits = Hits::default();
    let mut counters = buffer::Counters::default();
    for _ in 0..12 {
        run(&mut rng, &mut hits, &mut counters, 15_000);
    }
    eprintln!("{hits:?}\n{counters:?}");
    for reason in Reason::ALL {
        let algorithm_1_only = matches!(reason, Reason::Duplicate | Reason::Attempts);
        assert!(algorithm_1_only || counters.discarded(reason) > 100, "{reason:?}: {counters:?}");
    }
    for fault in StatusFault::ALL {
        assert!(counters.ignored_statuses[fault as usize] > 100, "{fault:?}: {counters:?}");
    }
    for (what, count, least) in [
        ("kept", hits.kept, 20_000),
        ("polls", hits.polls, 2_000),
        ("no polls", hits.no_polls, 2_000),
        ("wraps of 12 bits", hits.wraps[0], 5),
        ("wraps of 18 bits", hits.wraps[1], 5),
        ("absent", hits.absent, 1_000),
        ("nacked", hits.nacked, 2_000),
        ("partial retransmissions", hits.partial, 300),
        ("expired", counters.expired, 300),
        ("time jumps", hits.jumps, 50),
        ("acknowledged", counters.acknowledged, 10_000),
        ("retransmitted", counters.retransmitted, 2_000),
        ("bad segments", counters.bad_segments, 100),
        ("too many retransmissions", counters.max_retransmissions, 300),
        ("places", hits.places, 5_000),
        ("windows without a place", hits.no_places[Reason::Window as usize], 300),
        ("bearers without bytes for one", hits.no_places[Reason::BearerBytes as usize], 100),
        ("buffers without packets for one", hits.no_places[Reason::Packets as usize], 100),
        ("buffers without bytes for one", hits.no_places[Reason::Bytes as usize], 100),
    ] {
        assert!(count >= least, "{what}: {count} < {least}");
    }
}

fn run(rng: &mut impl rand::Rng, hits: &mut Hits, sum: &mut buffer::Counters, operations: usize) {
    let limits = Limits { packets: *pick(rng, &[150, 2_000]), bytes: *pick(rng, &[60_000, u64::MAX]) };
    let mut real: RlcBuffer<Item> = RlcBuffer::new(BEARERS as usize, limits);
    let mut twin = PlainRlc::new(BEARERS as usize, limits);
    // Where each item is: it must come out once.
    let mut inside = std::collections::BTreeSet::new();
    let mut late: VecDeque<(u32, Vec<u8>)> = VecDeque::new();
    let (mut now_ns, mut id) = (0u64, 0u64);
    let left = |events: &Events, inside: &mut std::collections::BTreeSet<u64>| {
        for event in events {
            if let Event::Acknowledged { packet, .. } | Event::Discarded { packet, .. } = event {
                assert!(inside.remove(&packet.id), "{packet:?} came out twice, or was never kept");
            }
        }
    };
    for _ in 0..operations {
        let bearer = rng.random_range(0..=BEARERS);
        match rng.random_range(0..100) {
            0..2 if bearer < BEARERS => {
                let config = config(rng);
                assert_eq!(real.add(bearer, config), twin.add(bearer, config));
            }
            2 if rng.random_ratio(1, 4) => {
                let mut events = Vec::new();
                let removed = real.remove(bearer, &mut |event| events.push(event));
                left(&events, &mut inside);
                let expected = twin.remove(bearer);
                assert_eq!((removed, events), (expected.is_some(), expected.unwrap_or_default()), "in order");
            }
            3..60 => {
                let (mut sn, modulus) = match twin.bearer(bearer) {
                    Some(state) => ((state.next % state.modulus()) as u32, state.modulus() as u32),
                    None => (0, 1 << 12),
                };
                let burst = rng.random_range(1..20);
                for _ in 0..burst {
                    let window = twin.bearer(bearer).map_or(1, |state| state.config.window);
                    match rng.random_range(0..60) {
                        0 => sn += rng.random_range(0..3),
                        1 => sn = sn.wrapping_sub(rng.random_range(0..70)) % modulus,
                        2 => sn += window / 2 + rng.random_range(0..window),
                        3 => sn = rng.random_range(0..modulus + 2),
                        _ => {}
                    }
                    if rng.random_ratio(99, 100) {
                        sn %= modulus;
                    }
                    id += 1;
                    let item = Item { id, bytes: *pick(rng, &[0, 40, 128, 400, 1400]) };
                    // A place for it, or for one that does not come.
                    if rng.random_ratio(1, 3) {
                        let place = real.reserve(bearer, item.bytes as u64 + 8, now_ns);
                        assert_eq!(place, twin.reserve(bearer, item.bytes as u64 + 8, now_ns));
                        match place {
                            Ok(number) => {
                                hits.places += 1;
                                if rng.random_ratio(4, 5) {
                                    let number = number.wrapping_sub(rng.random_range(0..3));
                                    real.claim(bearer, number);
                                    twin.claim(bearer, number);
                                }
                            }
                            Err(reason) => hits.no_places[reason as usize] += 1,
                        }
                    }
                    let poll = rng.random_ratio(1, 30);
                    let before = twin.bearer(bearer).map(|state| state.next / state.modulus());
                    let got = real.keep(bearer, sn, item, poll, now_ns);
                    let expected = twin.keep(bearer, sn, item, poll, now_ns);
                    match got {
                        Ok(kept) => {
                            assert_eq!(Some(kept), expected.ok());
                            hits.kept += 1;
                            *if kept.poll { &mut hits.polls } else { &mut hits.no_polls } += 1;
                            inside.insert(id);
                            sn = (sn + 1) % modulus;
                        }
                        Err(refused) => {
                            assert_eq!(Some(refused.reason), expected.err().map(|refused| refused.reason));
                            assert_eq!(refused.packet, item, "a refused packet is given back");
                        }
                    }
                    if let Some(state) = twin.bearer(bearer) {
                        let wrapped = before != Some(state.next / state.modulus());
                        hits.wraps[usize::from(state.config.sn_length == SnLength::Bits18)] += u64::from(wrapped);
                    }
                }
            }
            60..80 => {
                let pdu = match (twin.bearer(bearer), rng.random_range(0..10)) {
                    (Some(state), 0..5) => status_of(state, rng),
                    (Some(state), 5..7) => hostile(state, rng),
                    _ => match late.get(rng.random_range(0..late.len().max(1))) {
                        Some((_, pdu)) if rng.random_ratio(1, 10) => pdu.clone(),
                        Some((from, pdu)) if *from == bearer => pdu.clone(),
                        _ => vec![0, rng.random(), rng.random::<u8>() & 0x7d],
                    },
                };
                late.push_back((bearer, pdu.clone()));
                if late.len() > 12 {
                    late.pop_front();
                }
                // Some are lost.
                if rng.random_ratio(1, 8) {
                    continue;
                }
                let mut events = Vec::new();
                let got = real.status(bearer, &pdu, &mut |event| events.push(event));
                left(&events, &mut inside);
                let (expected, expected_events) = twin.status(bearer, &pdu);
                assert_eq!(got, expected, "{pdu:02x?}");
                assert_eq!(sorted(events), sorted(expected_events), "{pdu:02x?}");
                if let Ok(report) = got {
                    hits.absent += u64::from(report.absent);
                    hits.nacked += u64::from(report.nacked);
                }
            }
            80..90 => {
                for _ in 0..rng.random_range(1..30) {
                    let Some(got) = real.next_retransmission(now_ns) else {
                        assert!(twin.bearers().all(|(_, state)| !state.is_pending()));
                        break;
                    };
                    let expected = twin.next_of(got.key.bearer, now_ns).expect("nothing is pending");
                    let of = |this: &Retransmission<Item>| (this.key, (this.start, this.end), this.poll, *this.packet);
                    assert_eq!(of(&got), of(&expected));
                    let part = (got.start, got.end);
                    hits.partial += u64::from(part != (0, got.packet.bytes));
                }
            }
            90..97 => {
                now_ns = match rng.random_range(0..20) {
                    0 => now_ns.saturating_sub(50_000_000),
                    1 => {
                        hits.jumps += 1;
                        now_ns + rng.random_range(0..20_000_000_000)
                    }
                    2..8 => now_ns + rng.random_range(0..100_000_000),
                    _ => now_ns + rng.random_range(0..3_000_000),
                };
                let mut events = Vec::new();
                real.advance(now_ns, &mut |event| events.push(event));
                assert_eq!(sorted(events), sorted(twin.advance(now_ns)));
            }
            // The clock goes on between two looks at the timers.
            97 => now_ns += rng.random_range(0..10_000_000),
            _ => {
                let sn = match twin.bearer(bearer) {
                    Some(state) => ((state.next_ack + rng.random_range(0..10)) % state.modulus()) as u32,
                    None => rng.random_range(0..5000),
                };
                let got = real.discard(bearer, sn);
                let expected = twin.discard(bearer, sn);
                assert_eq!(got, expected);
                if let Some(item) = got {
                    assert!(inside.remove(&item.id));
                }
            }
        }
        let c = real.counters();
        assert_eq!(c.offered, c.acknowledged + c.discarded_in_all() + real.packets() as u64, "{c:?}");
        assert_eq!((real.packets(), c.offered), (inside.len(), id));
        assert_eq!(real.packets(), twin.packets());
        for (bearer, state) in twin.bearers() {
            let expected = (state.packets(), state.bytes_kept(), (state.next_ack % state.modulus()) as u32);
            assert_eq!(real.bearer(bearer), Some(expected));
        }
    }
    let c = real.counters();
    assert_eq!(c.max_retransmissions, twin.max_retransmissions);
    sum.acknowledged += c.acknowledged;
    sum.retransmitted += c.retransmitted;
    sum.bad_segments += c.bad_segments;
    sum.expired += c.expired;
    sum.max_retransmissions += c.max_retransmissions;
    (0..c.discarded.len()).for_each(|at| sum.discarded[at] += c.discarded[at]);
    (0..c.ignored_statuses.len()).for_each(|at| sum.ignored_statuses[at] += c.ignored_statuses[at]);
}
