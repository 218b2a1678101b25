//! Does the published buffer do what a list of packets does that is searched from end to end?

use buffer::plain::resubmit::{Did, PlainResubmit};
use buffer::resubmit::ResubmitBuffer;
use buffer::{Limits, Payload, Reason};
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

#[test]
fn it_does_what_a_searched_list_does() {
    let mut rng = testkit::rng(0xa160_0001);
    let (mut sent, mut jumps, mut unknown) = (0, 0, 0);
    let (mut acknowledged, mut discarded) = (0, [0; Reason::ALL.len()]);
    for _ in 0..20 {
        let (interval, most) = (rng.random_range(1..12), rng.random_range(0..4));
        let limits = Limits { packets: rng.random_range(0..60), bytes: [5_000, u64::MAX][rng.random_range(0..2)] };
        let mut real = ResubmitBuffer::new(interval, most, limits);
        let mut twin = PlainResubmit::new(interval, most, limits);
        let (mut now_ns, mut number) = (0u64, 0u64);
        // The last that was sent again for the first time: none that came before it is sent again for the first time later.
        let (mut first, mut last_first) = (std::collections::HashSet::new(), 0);
        for _ in 0..5_000 {
            match rng.random_range(0..10) {
                0..5 => {
                    number += 1;
                    let id = rng.random_range(0..120);
                    let item = Item { number, bytes: rng.random_range(0..400) };
                    let [got, expected] = [real.keep(id, item), twin.keep(id, item)].map(|kept| {
                        kept.map_err(|refused| {
                            assert_eq!(refused.packet, item);
                            refused.reason
                        })
                    });
                    assert_eq!(got, expected);
                }
                5..8 => {
                    let id = rng.random_range(0..130);
                    let expected = twin.status(id);
                    unknown += u64::from(!expected);
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
                    let expected = twin.advance(now_ns, |_, item| *item);
                    for did in &expected {
                        if let Did::Sent(_, item) = did
                            && first.insert(item.number)
                        {
                            assert!(item.number > last_first, "{} after {last_first}", item.number);
                            last_first = item.number;
                        }
                    }
                    sent += expected.iter().filter(|did| matches!(did, Did::Sent(..))).count();
                    // Packets of a bucket in the order in which they came.
                    assert_eq!(did.into_inner(), expected);
                }
            }
            let c = real.counters();
            assert_eq!(c.offered, number);
            assert_eq!(c.offered, c.acknowledged + c.discarded_in_all() + real.packets() as u64, "{c:?}");
            assert_eq!((real.packets(), real.bytes()), (twin.packets(), twin.bytes()));
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
