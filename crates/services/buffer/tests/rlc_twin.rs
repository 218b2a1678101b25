//! Does the RLC buffer do what a plain one does that looks at everything? Random operations on both: packets in order, with gaps, again;
//! statuses that are right, late, repeated and hostile; clocks that jump; bearers that come and go.

use std::collections::{BTreeMap, VecDeque};

use buffer::rlc::{BearerConfig, Key, Report};
use buffer::status::{Nack, SO_END, SnLength, Status, StatusFault, emit};
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

/// Numbers never wrap here.
struct TwinBearer {
    config: BearerConfig,
    next_ack: u64,
    next: u64,
    kept: BTreeMap<u64, TwinPacket>,
    pending: VecDeque<u64>,
    pdus: u64,
    bytes: u64,
    poll_sn: u64,
    /// Of the poll that the timer runs for.
    started_ns: Option<u64>,
}

struct TwinPacket {
    item: Item,
    retx_count: Option<u32>,
    missing: (u16, u16),
}

struct Twin {
    bearers: BTreeMap<u32, TwinBearer>,
    limits: Limits,
    now_ns: u64,
    max_retx: u64,
}

type Events = Vec<Event<Key, Item>>;

impl TwinBearer {
    fn modulus(&self) -> u64 {
        u64::from(self.config.sn_length.modulus())
    }

    /// The only number from half the numbers before `TX_Next_Ack` on that is sent as `sn`.
    fn count(&self, sn: u32) -> u64 {
        let half = self.modulus() / 2;
        let from = self.next_ack - half;
        from + (u64::from(sn) + self.modulus() - from % self.modulus()) % self.modulus()
    }

    fn bytes_kept(&self) -> u64 {
        self.kept.values().map(|packet| packet.item.bytes as u64).sum()
    }

    fn poll(&mut self, now_ns: u64) {
        (self.pdus, self.bytes) = (0, 0);
        self.poll_sn = self.next - 1;
        self.started_ns = Some(now_ns);
    }

    /// Whether the packet's retransmission is one too many.
    fn consider(&mut self, count: u64, part: (u16, u16)) -> Option<bool> {
        let packet = self.kept.get_mut(&count)?;
        if self.pending.contains(&count) {
            packet.missing = (packet.missing.0.min(part.0), packet.missing.1.max(part.1));
            return None;
        }
        packet.missing = part;
        packet.retx_count = Some(packet.retx_count.map_or(0, |count| count + 1));
        self.pending.push_back(count);
        Some(packet.retx_count == Some(self.config.max_retransmissions.into()))
    }
}

impl Twin {
    fn packets(&self) -> usize {
        self.bearers.values().map(|bearer| bearer.kept.len()).sum()
    }

    fn keep(&mut self, bearer: u32, sn: u32, item: Item, poll: bool, now_ns: u64) -> Result<bool, Reason> {
        self.now_ns = self.now_ns.max(now_ns);
        let (packets, bytes) = (self.packets(), self.bearers.values().map(TwinBearer::bytes_kept).sum::<u64>());
        let (now_ns, limits) = (self.now_ns, self.limits);
        let state = self.bearers.get_mut(&bearer).ok_or(Reason::NoBearer)?;
        let mut count = state.count(sn);
        // The number that is half of all ahead is ahead, not behind.
        if count == state.next_ack - state.modulus() / 2 {
            count = state.next_ack + state.modulus() / 2;
        }
        let reason = if u64::from(sn) >= state.modulus() {
            Some(Reason::Window)
        } else if count < state.next {
            Some(Reason::OutOfOrder)
        } else if count >= state.next_ack + u64::from(state.config.window) {
            Some(Reason::Window)
        } else if state.bytes_kept() + item.bytes as u64 > state.config.bytes {
            Some(Reason::BearerBytes)
        } else if packets >= limits.packets {
            Some(Reason::Packets)
        } else if bytes + item.bytes as u64 > limits.bytes {
            Some(Reason::Bytes)
        } else {
            None
        };
        if let Some(reason) = reason {
            if reason != Reason::OutOfOrder && !state.kept.is_empty() && state.started_ns.is_none() {
                state.poll(now_ns);
            }
            return Err(reason);
        }
        state.kept.insert(count, TwinPacket { item, retx_count: None, missing: (0, 0) });
        state.next = count + 1;
        state.pdus += 1;
        state.bytes += item.bytes as u64;
        let due = poll
            || state.config.poll_pdu.is_some_and(|most| state.pdus >= most.into())
            || state.config.poll_byte.is_some_and(|most| state.bytes >= most.into())
            || state.next - state.next_ack == state.config.window.into();
        if due {
            state.poll(now_ns);
        }
        Ok(due)
    }

    fn status(&mut self, bearer: u32, pdu: &[u8]) -> (Result<Report, StatusFault>, Events) {
        let Some(state) = self.bearers.get_mut(&bearer) else { return (Err(StatusFault::NoBearer), Vec::new()) };
        let status = match Status::new_checked(pdu, state.config.sn_length) {
            Ok(status) => status,
            Err(fault) => return (Err(fault), Vec::new()),
        };
        let Some(ack) = (state.next_ack..=state.next).find(|count| count % state.modulus() == u64::from(status.ack_sn())) else {
            let late = state.count(status.ack_sn()) < state.next_ack;
            return (Err(if late { StatusFault::Stale } else { StatusFault::OutsideWindow }), Vec::new());
        };
        // Each number that is named, with what of it.
        let mut named: Vec<(u64, Option<(u16, u16)>)> = Vec::new();
        for nack in status.nacks() {
            let first = state.count(nack.sn);
            let last = first + u64::from(nack.range) - 1;
            if let Some((before, part)) = named.last() {
                let next_segment = first == *before && part.is_some() && nack.segment.is_some();
                if first <= *before && !next_segment {
                    return (Err(StatusFault::Order), Vec::new());
                }
            }
            for count in first..=last {
                let part =
                    nack.segment.map(|(start, end)| (if count == first { start } else { 0 }, if count == last { end } else { SO_END }));
                named.push((count, part));
            }
            if last >= ack {
                return (Err(StatusFault::Order), Vec::new());
            }
        }
        let (mut report, mut events) = (Report::default(), Vec::new());
        let (modulus, next_ack) = (state.modulus(), state.next_ack);
        let sn = |count: u64| (count % modulus) as u32;
        let missing: std::collections::BTreeSet<u64> = named.iter().map(|(count, _)| *count).collect();
        let received: Vec<u64> = state.kept.range(..ack).map(|(count, _)| *count).filter(|count| !missing.contains(count)).collect();
        for count in received {
            let packet = state.kept.remove(&count).unwrap();
            state.pending.retain(|pending| *pending != count);
            report.acknowledged += 1;
            events.push(Event::Acknowledged { key: Key { bearer, sn: sn(count) }, packet: packet.item });
        }
        for (count, part) in named.into_iter().filter(|(count, _)| *count >= next_ack) {
            let part = part.unwrap_or((0, SO_END));
            let Some(packet) = state.kept.get(&count) else {
                report.absent += 1;
                continue;
            };
            if usize::from(part.0) >= packet.item.bytes.max(1) {
                continue;
            }
            if let Some(too_often) = state.consider(count, part) {
                report.nacked += 1;
                if too_often {
                    self.max_retx += 1;
                    events.push(Event::MaxRetransmissions { key: Key { bearer, sn: sn(count) } });
                }
            }
        }
        if state.poll_sn < ack {
            state.started_ns = None;
        }
        state.next_ack = state.kept.range(..ack).next().map_or(ack, |(count, _)| *count);
        (Ok(report), events)
    }

    fn advance(&mut self, now_ns: u64) -> Events {
        self.now_ns = self.now_ns.max(now_ns);
        let mut events = Vec::new();
        for (bearer, state) in &mut self.bearers {
            let Some(started_ns) = state.started_ns else { continue };
            if started_ns.div_ceil(1_000_000) + u64::from(state.config.poll_retransmit_ms) > self.now_ns / 1_000_000 {
                continue;
            }
            state.started_ns = None;
            let last = state.kept.keys().next_back().copied();
            if let Some(last) = last.filter(|_| state.pending.is_empty())
                && state.consider(last, (0, SO_END)) == Some(true)
            {
                self.max_retx += 1;
                let sn = (last % state.modulus()) as u32;
                events.push(Event::MaxRetransmissions { key: Key { bearer: *bearer, sn } });
            }
        }
        events
    }
}

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
fn status_of(state: &TwinBearer, rng: &mut impl rand::Rng) -> Vec<u8> {
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

fn hostile(state: &TwinBearer, rng: &mut impl rand::Rng) -> Vec<u8> {
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
                    range: rng.random_range(0..30),
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
    ] {
        assert!(count >= least, "{what}: {count} < {least}");
    }
}

fn run(rng: &mut impl rand::Rng, hits: &mut Hits, sum: &mut buffer::Counters, operations: usize) {
    let limits = Limits { packets: *pick(rng, &[150, 2_000]), bytes: *pick(rng, &[60_000, u64::MAX]) };
    let mut real: RlcBuffer<Item> = RlcBuffer::new(BEARERS as usize, limits);
    let mut twin = Twin { bearers: BTreeMap::new(), limits, now_ns: 0, max_retx: 0 };
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
                let exists = twin.bearers.contains_key(&bearer);
                assert_eq!(real.add(bearer, config).is_ok(), !exists);
                // Far from 0, as the twin looks back by half the numbers.
                let base = 1 << 40;
                twin.bearers.entry(bearer).or_insert(TwinBearer {
                    config,
                    next_ack: base,
                    next: base,
                    kept: BTreeMap::new(),
                    pending: VecDeque::new(),
                    pdus: 0,
                    bytes: 0,
                    poll_sn: base - 1,
                    started_ns: None,
                });
            }
            2 if rng.random_ratio(1, 4) => {
                let mut events = Vec::new();
                let removed = real.remove(bearer, &mut |event| events.push(event));
                left(&events, &mut inside);
                let expected = twin.bearers.remove(&bearer);
                assert_eq!(removed, expected.is_some());
                let expected: Vec<Item> =
                    expected.map(|state| state.kept.into_values().map(|packet| packet.item).collect()).unwrap_or_default();
                let items: Vec<Item> = events
                    .iter()
                    .map(|event| match event {
                        Event::Discarded { packet, reason: Reason::Removed, .. } => *packet,
                        other => panic!("{other:?}"),
                    })
                    .collect();
                assert_eq!(items, expected, "in order");
            }
            3..60 => {
                let (mut sn, modulus) = match twin.bearers.get(&bearer) {
                    Some(state) => ((state.next % state.modulus()) as u32, state.modulus() as u32),
                    None => (0, 1 << 12),
                };
                let burst = rng.random_range(1..20);
                for _ in 0..burst {
                    let window = twin.bearers.get(&bearer).map_or(1, |state| state.config.window);
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
                    let poll = rng.random_ratio(1, 30);
                    let before = twin.bearers.get(&bearer).map(|state| state.next / state.modulus());
                    let got = real.keep(bearer, sn, item, poll, now_ns);
                    let expected = twin.keep(bearer, sn, item, poll, now_ns);
                    match got {
                        Ok(kept) => {
                            assert_eq!(Ok(kept.poll), expected);
                            hits.kept += 1;
                            *if kept.poll { &mut hits.polls } else { &mut hits.no_polls } += 1;
                            inside.insert(id);
                            sn = (sn + 1) % modulus;
                        }
                        Err(refused) => {
                            assert_eq!(Err(refused.reason), expected);
                            assert_eq!(refused.packet, item, "a refused packet is given back");
                        }
                    }
                    if let Some(state) = twin.bearers.get(&bearer) {
                        let wrapped = before != Some(state.next / state.modulus());
                        hits.wraps[usize::from(state.config.sn_length == SnLength::Bits18)] += u64::from(wrapped);
                    }
                }
            }
            60..80 => {
                let pdu = match (twin.bearers.get(&bearer), rng.random_range(0..10)) {
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
                        assert!(twin.bearers.values().all(|state| state.pending.is_empty()));
                        break;
                    };
                    twin.now_ns = twin.now_ns.max(now_ns);
                    let now_ns = twin.now_ns;
                    let state = twin.bearers.get_mut(&got.key.bearer).unwrap();
                    let count = state.pending.pop_front().expect("nothing is pending");
                    let poll = state.pending.is_empty();
                    if poll {
                        state.poll(now_ns);
                    }
                    let packet = &state.kept[&count];
                    let end = if packet.missing.1 == SO_END { usize::MAX } else { usize::from(packet.missing.1) + 1 };
                    let part = (usize::from(packet.missing.0), end.min(packet.item.bytes));
                    let expected = ((count % state.modulus()) as u32, part, poll, packet.item);
                    assert_eq!((got.key.sn, (got.start, got.end), got.poll, *got.packet), expected);
                    hits.partial += u64::from(part != (0, packet.item.bytes));
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
                let sn = match twin.bearers.get(&bearer) {
                    Some(state) => ((state.next_ack + rng.random_range(0..10)) % state.modulus()) as u32,
                    None => rng.random_range(0..5000),
                };
                let got = real.discard(bearer, sn);
                let expected = twin.bearers.get_mut(&bearer).and_then(|state| {
                    let count = state.count(sn);
                    state.pending.retain(|pending| *pending != count);
                    state.kept.remove(&count).map(|packet| packet.item)
                });
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
        for (bearer, state) in &twin.bearers {
            let expected = (state.kept.len(), state.bytes_kept(), (state.next_ack % state.modulus()) as u32);
            assert_eq!(real.bearer(*bearer), Some(expected));
        }
    }
    let c = real.counters();
    assert_eq!(c.max_retransmissions, twin.max_retx);
    sum.acknowledged += c.acknowledged;
    sum.retransmitted += c.retransmitted;
    sum.bad_segments += c.bad_segments;
    sum.expired += c.expired;
    sum.max_retransmissions += c.max_retransmissions;
    (0..c.discarded.len()).for_each(|at| sum.discarded[at] += c.discarded[at]);
    (0..c.ignored_statuses.len()).for_each(|at| sum.ignored_statuses[at] += c.ignored_statuses[at]);
}
