//! Does the published buffer do what a list of packets does that is searched from end to end?

use buffer::resubmit::ResubmitBuffer;
use buffer::{Event, Limits, Payload, Reason};
use rand::Rng as _;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Item {
    number: u64,
    bytes: usize,
}

impl Payload for Item {
    fn sdu_bytes(&self) -> usize {
        self.bytes
    }
}

struct TwinPacket {
    id: u64,
    item: Item,
    came_ms: u64,
    attempts: u32,
    acknowledged: bool,
}

#[derive(Debug, PartialEq, Eq)]
enum Did {
    Sent(u64, Item),
    Left(Event<u64, Item>),
}

fn twin_advance(packets: &mut Vec<TwinPacket>, last_ms: u64, now_ms: u64, interval: u64, most: u32) -> Vec<Did> {
    let mut did = Vec::new();
    for ms in (last_ms + 1).max((now_ms + 1).saturating_sub(interval))..=now_ms {
        packets.retain_mut(|packet| {
            if packet.came_ms % interval != ms % interval {
                return true;
            }
            let (key, item) = (packet.id, packet.item);
            if packet.acknowledged {
                did.push(Did::Left(Event::Acknowledged { key, packet: item }));
                false
            } else if packet.attempts == most {
                did.push(Did::Left(Event::Discarded { key, packet: item, reason: Reason::Attempts }));
                false
            } else {
                packet.attempts += 1;
                did.push(Did::Sent(key, item));
                true
            }
        });
    }
    did
}

#[test]
fn it_does_what_a_searched_list_does() {
    let mut rng = testkit::rng(0xa160_0001);
    let (mut sent, mut jumps, mut unknown) = (0, 0, 0);
    let (mut acknowledged, mut discarded) = (0, [0; Reason::ALL.len()]);
    for _ in 0..20 {
        let (interval, most) = (rng.random_range(1..12), rng.random_range(0..4));
        let limits = Limits { packets: rng.random_range(0..60), bytes: [5_000, u64::MAX][rng.random_range(0..2)] };
        let mut real = ResubmitBuffer::new(interval, most, limits);
        let mut twin: Vec<TwinPacket> = Vec::new();
        let (mut now_ns, mut last_ms, mut number) = (0u64, 0u64, 0u64);
        for _ in 0..5_000 {
            match rng.random_range(0..10) {
                0..5 => {
                    number += 1;
                    let id = rng.random_range(0..120);
                    let item = Item { number, bytes: rng.random_range(0..400) };
                    let bytes: u64 = twin.iter().map(|packet| packet.item.bytes as u64).sum();
                    let expected = if twin.len() >= limits.packets {
                        Err(Reason::Packets)
                    } else if bytes + item.bytes as u64 > limits.bytes {
                        Err(Reason::Bytes)
                    } else if twin.iter().any(|packet| packet.id == id && !packet.acknowledged) {
                        Err(Reason::Duplicate)
                    } else {
                        twin.push(TwinPacket { id, item, came_ms: last_ms, attempts: 0, acknowledged: false });
                        Ok(())
                    };
                    let got = real.keep(id, item).map_err(|refused| {
                        assert_eq!(refused.packet, item);
                        refused.reason
                    });
                    assert_eq!(got, expected);
                }
                5..8 => {
                    let id = rng.random_range(0..130);
                    let named = twin.iter_mut().find(|packet| packet.id == id && !packet.acknowledged);
                    unknown += u64::from(named.is_none());
                    let expected = named.map(|packet| packet.acknowledged = true).is_some();
                    assert_eq!(real.status(id), expected);
                }
                _ => {
                    now_ns = match rng.random_range(0..12) {
                        0 => now_ns.saturating_sub(3_000_000),
                        1 => {
                            jumps += 1;
                            now_ns + rng.random_range(0..100_000_000)
                        }
                        _ => now_ns + rng.random_range(0..2_500_000),
                    };
                    let did = std::cell::RefCell::new(Vec::new());
                    real.advance(now_ns, &mut |id, item| did.borrow_mut().push(Did::Sent(id, *item)), &mut |event| {
                        did.borrow_mut().push(Did::Left(event));
                    });
                    let expected = twin_advance(&mut twin, last_ms, now_ns / 1_000_000, interval.into(), most);
                    last_ms = last_ms.max(now_ns / 1_000_000);
                    sent += expected.iter().filter(|did| matches!(did, Did::Sent(..))).count();
                    // Packets of a bucket in the order in which they came.
                    assert_eq!(did.into_inner(), expected);
                }
            }
            let c = real.counters();
            assert_eq!(c.offered, number);
            assert_eq!(c.offered, c.acknowledged + c.discarded_in_all() + real.packets() as u64, "{c:?}");
            assert_eq!(real.packets(), twin.len());
            assert_eq!(real.bytes(), twin.iter().map(|packet| packet.item.bytes as u64).sum::<u64>());
        }
        acknowledged += real.counters().acknowledged;
        (0..discarded.len()).for_each(|at| discarded[at] += real.counters().discarded[at]);
    }
    eprintln!("sent {sent}, jumps {jumps}, unknown {unknown}, acknowledged {acknowledged}, discarded {discarded:?}");
    for reason in [Reason::Packets, Reason::Bytes, Reason::Duplicate, Reason::Attempts] {
        assert!(discarded[reason as usize] > 300, "{reason:?}: {discarded:?}");
    }
    assert!(sent > 2_000 && jumps > 300 && unknown > 2_000 && acknowledged > 2_000);
}
