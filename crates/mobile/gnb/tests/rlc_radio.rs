//! What comes through a radio that loses, doubles and reorders, in grants of any size? With AM every SDU, once; with UM each at most once and
//! unharmed. Then everything is at rest: no timer runs and no byte is kept.

use std::collections::BTreeMap;

use gnb::rlc::am::Am;
use gnb::rlc::am_rx::RxConfig;
use gnb::rlc::am_tx::{TxConfig, TxEvent};
use gnb::rlc::pdu::UmSnLength;
use gnb::rlc::um::{UmRx, UmRxConfig, UmTx};
use gnb::rlc::{QueueLimits, SnLength};
use proptest::prelude::*;
use rand::Rng;
use testkit::Rng as TestRng;

const MS: u64 = 1_000_000;

#[derive(Debug, Clone)]
struct Radio {
    seed: u64,
    /// Of 100.
    loss: u32,
    duplicates: u32,
    /// Each PDU takes 1 to so many ms.
    delay_ms: u64,
    grants: (usize, usize),
    sn_18_bits: bool,
    window: u32,
    poll_pdu: Option<u32>,
    prohibit_ms: u64,
    sdus: u32,
}

fn radio() -> impl Strategy<Value = Radio> {
    let grants = prop_oneof![Just((6, 40)), Just((10, 2000)), Just((200, 201)), Just((3, 12))];
    (any::<u64>(), 0..50u32, 0..30u32, 1..20u64, grants, any::<bool>(), 1..300u32, proptest::option::of(1..20u32), 0..30u64, 1..120u32)
        .prop_map(|(seed, loss, duplicates, delay_ms, grants, sn_18_bits, window, poll_pdu, prohibit_ms, sdus)| Radio {
            seed,
            loss,
            duplicates,
            delay_ms,
            grants,
            sn_18_bits,
            window,
            poll_pdu,
            prohibit_ms,
            sdus,
        })
}

/// PDUs in the air by arrival, and in the order of their making.
#[derive(Default)]
struct Air {
    pdus: BTreeMap<(u64, u64), (usize, Vec<u8>)>,
    made: u64,
}

impl Air {
    fn send(&mut self, radio: &Radio, rng: &mut TestRng, to: usize, pdu: &[u8], now: u64, perfect: bool) {
        let copies = 1 + u32::from(rng.random_range(0..100) < radio.duplicates);
        for _ in 0..copies {
            if perfect || rng.random_range(0..100) >= radio.loss {
                self.made += 1;
                let at = now + rng.random_range(1..=radio.delay_ms) * MS;
                self.pdus.insert((at, self.made), (to, pdu.to_vec()));
            }
        }
    }

    fn arrived(&mut self, now: u64) -> Option<(usize, Vec<u8>)> {
        let first = self.pdus.first_entry()?;
        (first.key().0 <= now).then(|| first.remove())
    }
}

fn sdu(side: usize, tag: u32) -> Vec<u8> {
    let len = 1 + (tag as usize * 37 + side * 11) % 400;
    let mut sdu: Vec<u8> = (0..len).map(|at| (at as u32 * 7 + tag) as u8).collect();
    sdu.splice(0..len.min(4), (tag << 1 | side as u32).to_be_bytes().into_iter().rev().take(len.min(4)));
    sdu
}

/// Both sides send `sdus` SDUs over the radio, which is perfect after a while. Gives the ms that it took.
fn run_am(radio: &Radio) -> u64 {
    let mut rng = testkit::rng(radio.seed);
    let sn_length = if radio.sn_18_bits { SnLength::Bits18 } else { SnLength::Bits12 };
    let tx = TxConfig {
        sn_length,
        window: radio.window,
        queue: QueueLimits { sdus: 100_000, bytes: 1 << 30 },
        poll_retransmit_ns: 45 * MS,
        poll_pdu: radio.poll_pdu,
        poll_byte: None,
        max_retransmissions: 32,
    };
    let rx = RxConfig {
        sn_length,
        window: radio.window,
        partial_bytes: 1 << 20,
        reassembly_ns: 35 * MS,
        status_prohibit_ns: radio.prohibit_ms * MS,
    };
    let mut ends: [Am<Vec<u8>>; 2] = std::array::from_fn(|_| Am::new(tx, rx).unwrap());
    let mut air = Air::default();
    let mut up: [BTreeMap<Vec<u8>, u32>; 2] = Default::default();
    let mut confirmed: [Vec<u32>; 2] = Default::default();
    let mut given = 0;
    let mut now = 0;
    let lossy_until = u64::from(radio.sdus) * 4 + 400;
    let mut pdu = Vec::new();
    loop {
        let ms = now / MS;
        if given < radio.sdus {
            for (side, end) in ends.iter_mut().enumerate() {
                end.enqueue(given, sdu(side, given)).unwrap();
            }
            given += 1;
        }
        for (side, end) in ends.iter_mut().enumerate() {
            end.advance(now, &mut |_| {});
            let mut grant = rng.random_range(radio.grants.0..=radio.grants.1);
            for _ in 0..8 {
                pdu.clear();
                let Some(pulled) = end.pull(grant, now, &mut pdu) else { break };
                assert!(pulled.bytes() == pdu.len() && pdu.len() <= grant, "a PDU is in its grant");
                air.send(radio, &mut rng, 1 - side, &pdu, now, ms > lossy_until);
                grant -= pdu.len();
            }
        }
        while let Some((to, pdu)) = air.arrived(now) {
            let (up, confirmed) = (&mut up[to], &mut confirmed[to]);
            let deliver = &mut |sdu: &[u8]| *up.entry(sdu.to_vec()).or_default() += 1;
            // A PDU that came before, or a STATUS that is late: the entity counts it.
            let _ = ends[to].receive(&pdu, now, deliver, &mut |event| {
                if let TxEvent::Delivered { tag, sdu } = event {
                    assert_eq!(sdu, self::sdu(to, tag), "the SDU comes back as it was given");
                    confirmed.push(tag);
                }
            });
        }
        // In flight is never more than the window.
        for end in &ends {
            let state = end.tx().state();
            assert!(state.tx_next.wrapping_sub(state.tx_next_ack) <= radio.window);
        }
        let at_rest = ends.iter().all(|end| !end.has_data(now) && end.next_deadline().is_none()) && air.pdus.is_empty();
        if given == radio.sdus && at_rest {
            break;
        }
        assert!(ms < lossy_until + 600_000, "stalled: {:?} {:?}", ends[0].tx().state(), ends[1].rx().state());
        now += MS;
    }
    for side in 0..2 {
        confirmed[side].sort_unstable();
        assert!(confirmed[side].iter().copied().eq(0..radio.sdus), "each SDU is confirmed once");
        let mut expected: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
        (0..radio.sdus).for_each(|tag| *expected.entry(sdu(side, tag)).or_default() += 1);
        assert_eq!(up[1 - side], expected, "the peer has each SDU once");
        assert_eq!(ends[side].rx().partial_bytes(), 0);
    }
    now / MS
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn am_brings_every_sdu_once_whatever_the_radio_does(radio in radio()) {
        run_am(&radio);
    }

    #[test]
    fn um_brings_each_sdu_at_most_once_and_unharmed(radio in radio(), bits_6 in any::<bool>()) {
        run_um(&radio, if bits_6 { UmSnLength::Bits6 } else { UmSnLength::Bits12 });
    }
}

#[test]
fn numbers_of_12_bits_wrap_many_times_without_harm() {
    let radio = Radio {
        seed: 5,
        loss: 20,
        duplicates: 10,
        delay_ms: 6,
        grants: (100, 3000),
        sn_18_bits: false,
        window: 256,
        poll_pdu: Some(16),
        prohibit_ms: 5,
        sdus: 10_000,
    };
    run_am(&radio);
}

/// One side sends; the radio loses to its end.
fn run_um(radio: &Radio, sn_length: UmSnLength) {
    let mut rng = testkit::rng(radio.seed);
    let mut tx = UmTx::new(sn_length, QueueLimits { sdus: 100_000, bytes: 1 << 30 }).unwrap();
    let mut rx = UmRx::new(UmRxConfig { sn_length, reassembly_ns: 35 * MS, partial_bytes: 1 << 20 }).unwrap();
    let mut air = Air::default();
    let mut up: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
    let (mut given, mut now) = (0, 0);
    let mut pdu = Vec::new();
    // With 6 bits numbers wrap within the radio's delay: keep it short of that, as a scheduler does.
    let radio = &Radio { delay_ms: radio.delay_ms.min(6), ..radio.clone() };
    loop {
        if given < radio.sdus {
            tx.enqueue(given, sdu(0, given)).unwrap();
            given += 1;
        }
        rx.advance(now);
        let mut grant = rng.random_range(radio.grants.0..=radio.grants.1);
        for _ in 0..4 {
            pdu.clear();
            let Some(len) = tx.pull(grant, &mut pdu) else { break };
            assert!(len == pdu.len() && len <= grant);
            air.send(radio, &mut rng, 0, &pdu, now, false);
            grant -= len;
        }
        while let Some((_, pdu)) = air.arrived(now) {
            let _ = rx.receive(&pdu, now, &mut |sdu: &[u8]| *up.entry(sdu.to_vec()).or_default() += 1);
        }
        if given == radio.sdus && !tx.has_data() && air.pdus.is_empty() && rx.next_deadline().is_none() {
            break;
        }
        assert!(now < 600_000 * MS, "stalled: {:?}", rx.state());
        now += MS;
    }
    let mut expected: BTreeMap<Vec<u8>, u32> = BTreeMap::new();
    (0..radio.sdus).for_each(|tag| *expected.entry(sdu(0, tag)).or_default() += 1);
    for (sdu, times) in &up {
        // A whole SDU has no number, so the radio may double it.
        let doubled = radio.duplicates > 0 && sdu.len() < radio.grants.1;
        assert!(expected.contains_key(sdu), "not an SDU that was sent: {} bytes", sdu.len());
        assert!(doubled || *times <= expected[sdu]);
    }
    if radio.loss == 0 {
        assert!(expected.keys().all(|sdu| up.contains_key(sdu)), "{} of {}", up.len(), expected.len());
        assert_eq!((rx.partial_bytes(), rx.abandoned()), (0, 0));
    }
}
