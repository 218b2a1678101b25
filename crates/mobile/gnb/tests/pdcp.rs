//! PDCP, case by case: COUNT and its guards, order, replays, wrong MAC-I, discard, status reports, re-establishment.

use std::sync::Arc;

use ciphering::{Choice, Direction, Engine, Nea, Nia, Outcome};
use gnb::pdcp::pdu::{Format, Pdu};
use gnb::pdcp::rx::{Prepared, RxDrop};
use gnb::pdcp::security::Packet;
use gnb::pdcp::tx::{TxDrop, TxEvent};
use gnb::pdcp::{ConfigError, CountGuard, Kind, MAX_SDU, Rx, RxConfig, Security, SnLength, Tx, TxConfig};
use proptest::prelude::*;
use rand::Rng;

const MS: u64 = 1_000_000;
const FORMAT: Format = Format { kind: Kind::Drb, sn_length: SnLength::Bits12, integrity: true, sdap_header: false };

fn tx_config() -> TxConfig {
    TxConfig {
        format: FORMAT,
        acknowledged: true,
        window: 2048,
        queue_sdus: 10_000,
        bytes: 1 << 24,
        discard_ns: None,
        guard: CountGuard::default(),
    }
}

fn rx_config() -> RxConfig {
    RxConfig {
        format: FORMAT,
        acknowledged: true,
        window: 2048,
        bytes: 1 << 24,
        reordering_ns: Some(100 * MS),
        out_of_order: false,
        guard: CountGuard::default(),
    }
}

fn engine() -> Engine {
    Engine::new(Choice::Portable).unwrap()
}

fn security(engine: &Engine, key: u8) -> Security {
    Security {
        cipher: Some(Arc::new(engine.cipher_key(Nea::Nea2, &[key; 16]))),
        integrity: Some(Arc::new(engine.integrity_key(Nia::Nia2, &[key + 1; 16]))),
        bearer: 3,
        direction: Direction::Downlink,
    }
}

/// Two sides of a bearer under the same keys.
struct Bearer {
    tx: Tx,
    rx: Rx,
    engine: Engine,
    security: Security,
    up: Vec<(u32, Vec<u8>)>,
    events: Vec<TxEvent>,
}

impl Bearer {
    fn new(tx: TxConfig, rx: RxConfig) -> Bearer {
        let engine = engine();
        let security = security(&engine, 7);
        Bearer { tx: Tx::new(tx).unwrap(), rx: Rx::new(rx).unwrap(), engine, security, up: Vec::new(), events: Vec::new() }
    }

    fn plain() -> Bearer {
        Bearer::new(tx_config(), rx_config())
    }

    /// What can be pulled now, protected.
    fn pull(&mut self, now: u64) -> Vec<(u32, Vec<u8>)> {
        let mut packets: Vec<Packet> = Vec::new();
        while let Some(packet) = self.tx.pull(now, &mut |event| self.events.push(event)) {
            packets.push(packet);
        }
        self.security.run(&mut self.engine, &mut packets);
        packets.into_iter().map(|packet| self.tx.finish(packet).expect("a job that was run")).collect()
    }

    fn send(&mut self, sdus: std::ops::Range<u32>) -> Vec<Vec<u8>> {
        for number in sdus {
            self.tx.enqueue(sdu(number), 0).unwrap();
        }
        self.pull(0).into_iter().map(|(_, pdu)| pdu).collect()
    }

    fn receive(&mut self, pdu: &[u8], now: u64) -> Result<bool, RxDrop> {
        let Prepared::Data(packet) = self.rx.prepare(pdu.to_vec())? else { panic!("a data PDU") };
        let mut packets = [packet];
        self.security.run(&mut self.engine, &mut packets);
        let [packet] = packets;
        self.rx.finish(packet, now, &mut |count, sdu| self.up.push((count, sdu.to_vec())))
    }

    fn advance(&mut self, now: u64) {
        self.rx.advance(now, &mut |count, sdu| self.up.push((count, sdu.to_vec())));
    }

    /// COUNTs that went up since the last call; their SDUs are as they were given.
    fn counts(&mut self) -> Vec<u32> {
        self.up.drain(..).map(|(count, sdu)| (sdu == self::sdu(count)).then_some(count).expect("the SDU of its COUNT")).collect()
    }
}

fn sdu(number: u32) -> Vec<u8> {
    (0..1 + number % 90).map(|at| (number + at) as u8).collect()
}

#[test]
fn a_pdu_is_ciphered_and_what_is_ciphered_comes_up_as_it_was() {
    for sn_length in [SnLength::Bits12, SnLength::Bits18] {
        for sdap_header in [false, true] {
            for integrity in [false, true] {
                let format = Format { sn_length, sdap_header, integrity, ..FORMAT };
                let mut bearer = Bearer::new(TxConfig { format, ..tx_config() }, RxConfig { format, ..rx_config() });
                if !integrity {
                    bearer.security.integrity = None;
                }
                let given = [&[0x49][..], &[5; 60]].concat();
                bearer.tx.enqueue(given.clone(), 0).unwrap();
                let (count, pdu) = bearer.pull(0).remove(0);
                assert_eq!((count, pdu.len()), (0, format.header_len() + 61 + format.trailer_len()));
                // The SDAP header is not ciphered.
                assert_eq!(pdu[format.header_len()] == 0x49, sdap_header);
                assert_ne!(pdu[format.header_len() + 1..][..60], [5; 60]);
                bearer.receive(&pdu, 0).unwrap();
                assert_eq!(bearer.up, [(0, given)]);
            }
        }
    }
}

#[test]
fn sdus_come_up_in_order_and_a_replayed_or_late_one_is_dropped() {
    let mut bearer = Bearer::plain();
    let pdus = bearer.send(0..6);
    for at in [0, 3, 2, 5] {
        bearer.receive(&pdus[at], 0).unwrap();
    }
    assert_eq!(bearer.counts(), [0]);
    assert_eq!(bearer.receive(&pdus[3], 0), Err(RxDrop::Duplicate));
    assert_eq!(bearer.receive(&pdus[0], 0), Err(RxDrop::Late));
    bearer.receive(&pdus[1], 0).unwrap();
    assert_eq!(bearer.counts(), [1, 2, 3]);
    assert_eq!(bearer.rx.next_deadline(), Some(100 * MS), "5 waits for 4");
    bearer.advance(100 * MS);
    assert_eq!(bearer.counts(), [5]);
    assert_eq!(bearer.receive(&pdus[4], 0), Err(RxDrop::Late));
    assert_eq!((bearer.rx.counters().missing, bearer.rx.counters().reordering_expiries), (1, 1));
    assert_eq!((bearer.rx.next_deadline(), bearer.rx.waiting()), (None, (0, 0)));
}

/// TS 38.323 §5.2.2.3: `t-Reordering` that is reconfigured starts again, for all that is missing then.
#[test]
fn a_living_bearer_goes_on_with_other_timers_and_limits() {
    let mut bearer = Bearer::plain();
    let pdus = bearer.send(0..5);
    bearer.receive(&pdus[1], 0).unwrap();
    bearer.receive(&pdus[3], 50 * MS).unwrap();
    assert_eq!(bearer.rx.next_deadline(), Some(100 * MS));
    bearer.rx.reconfigure(1 << 24, Some(30 * MS), 60 * MS).unwrap();
    assert_eq!(bearer.rx.next_deadline(), Some(90 * MS));
    bearer.advance(90 * MS);
    assert_eq!(bearer.counts(), [1, 3], "what was missing at that time is passed over");
    bearer.receive(&pdus[4], 90 * MS).unwrap();
    assert_eq!(bearer.counts(), [4]);
    // To infinity and back, with something missing.
    let pdus = bearer.send(5..8);
    bearer.receive(&pdus[1], 100 * MS).unwrap();
    bearer.rx.reconfigure(1 << 24, None, 110 * MS).unwrap();
    assert_eq!(bearer.rx.next_deadline(), None);
    bearer.rx.reconfigure(1 << 24, Some(30 * MS), 120 * MS).unwrap();
    assert_eq!(bearer.rx.next_deadline(), Some(150 * MS));
    assert_eq!(bearer.rx.reconfigure(1 << 24, Some(3001 * MS), 120 * MS), Err(ConfigError::Timer("reordering_ns")));
    assert_eq!(bearer.rx.next_deadline(), Some(150 * MS));

    let mut tx = Tx::new(tx_config()).unwrap();
    tx.enqueue(sdu(0), 0).unwrap();
    tx.reconfigure(2, 1 << 24, Some(20 * MS)).unwrap();
    tx.enqueue(sdu(1), 0).unwrap();
    assert_eq!(tx.enqueue(sdu(2), 0).unwrap_err().1, TxDrop::QueueSdus);
    assert_eq!(tx.next_deadline(), None, "the first has no timer, and the second is not discarded before it");
    assert_eq!(tx.pull(0, &mut |_| {}).unwrap().count, 0);
    assert_eq!(tx.next_deadline(), Some(20 * MS));
    assert_eq!(tx.reconfigure(0, 1 << 24, None), Err(ConfigError::Room("queue_sdus")));
}

#[test]
fn two_copies_in_one_burst_come_up_once() {
    let mut bearer = Bearer::plain();
    let pdu = bearer.send(0..1).remove(0);
    let mut packets: Vec<Packet> = (0..2)
        .map(|_| match bearer.rx.prepare(pdu.clone()) {
            Ok(Prepared::Data(packet)) => packet,
            other => panic!("{other:?}"),
        })
        .collect();
    bearer.security.run(&mut bearer.engine, &mut packets);
    let mut up = 0;
    let results: Vec<_> = packets.into_iter().map(|packet| bearer.rx.finish(packet, 0, &mut |_, _| up += 1)).collect();
    assert_eq!((results, up), (vec![Ok(false), Err(RxDrop::Late)], 1));
}

#[test]
fn a_wrong_mac_is_counted_and_changes_nothing() {
    let mut bearer = Bearer::plain();
    let pdus = bearer.send(0..3);
    bearer.receive(&pdus[0], 0).unwrap();
    let state = *bearer.rx.state();
    for at in 0..pdus[2].len() {
        let mut forged = pdus[2].clone();
        forged[at] ^= 0x01;
        let result = bearer.receive(&forged, 0);
        assert!(matches!(result, Err(RxDrop::WrongMac)), "byte {at}: {result:?}");
        assert_eq!(*bearer.rx.state(), state);
    }
    // Under another key all are wrong.
    let own = std::mem::replace(&mut bearer.security, security(&engine(), 9));
    assert_eq!(bearer.receive(&pdus[1], 0), Err(RxDrop::WrongMac));
    bearer.security = own;
    assert_eq!((bearer.rx.waiting(), bearer.rx.next_deadline()), ((0, 0), None));
    bearer.receive(&pdus[1], 0).unwrap();
    bearer.receive(&pdus[2], 0).unwrap();
    assert_eq!(bearer.counts(), [0, 1, 2]);
    assert_eq!(bearer.rx.dropped(RxDrop::WrongMac), pdus[2].len() as u64 + 1);
}

#[test]
fn a_packet_that_no_cipher_has_seen_is_not_taken() {
    let mut bearer = Bearer::plain();
    let pdu = bearer.send(0..1).remove(0);
    let Ok(Prepared::Data(packet)) = bearer.rx.prepare(pdu) else { panic!() };
    assert_eq!(bearer.rx.finish(packet, 0, &mut |_, _| panic!("handed up")), Err(RxDrop::Job));
    bearer.tx.enqueue(sdu(1), 0).unwrap();
    let packet = bearer.tx.pull(0, &mut |_| {}).unwrap();
    assert_eq!(packet.outcome, Outcome::Pending);
    assert_eq!(bearer.tx.finish(packet), None);
    assert_eq!(bearer.tx.dropped(TxDrop::Job), 1);
}

#[test]
fn count_goes_on_behind_the_end_of_the_sequence_numbers() {
    let mut bearer = Bearer::plain();
    let mut expected = 0;
    for round in 0..30u32 {
        let mut pdus = bearer.send(round * 500..(round + 1) * 500);
        // Out of order across the wrap.
        pdus.swap(0, 499);
        pdus.swap(100, 300);
        for pdu in &pdus {
            bearer.receive(pdu, 0).unwrap();
        }
        for count in bearer.counts() {
            assert_eq!(count, expected);
            bearer.tx.delivered(count);
            expected += 1;
        }
    }
    assert_eq!((expected, bearer.rx.state().rx_deliv, bearer.tx.queued()), (15_000, 15_000, (0, 0, 0)));
}

#[test]
fn count_is_guarded_on_both_sides() {
    let guard = CountGuard { notify: 3, stop: 5 };
    let mut bearer = Bearer::new(TxConfig { guard, ..tx_config() }, RxConfig { guard, ..rx_config() });
    // SDUs that wait have a COUNT each, so what comes behind the last is refused at once: nothing waits for ever.
    (0..5).for_each(|number| bearer.tx.enqueue(sdu(number), 0).unwrap());
    for number in 5..8 {
        assert_eq!(bearer.tx.enqueue(sdu(number), 0).unwrap_err().1, TxDrop::CountExhausted);
    }
    let pdus: Vec<_> = bearer.pull(0).into_iter().map(|(_, pdu)| pdu).collect();
    assert_eq!((pdus.len(), bearer.tx.tx_next(), bearer.tx.has_data()), (5, 5, false));
    assert_eq!(bearer.tx.enqueue(sdu(5), 0).unwrap_err().1, TxDrop::CountExhausted);
    assert_eq!((bearer.tx.dropped(TxDrop::CountExhausted), bearer.pull(0)), (4, vec![]));
    assert_eq!(bearer.events, [TxEvent::CountHigh, TxEvent::CountStopped]);
    let told: Vec<_> = pdus.iter().map(|pdu| bearer.receive(pdu, 0).unwrap()).collect();
    assert_eq!(told, [false, false, false, true, false]);
    let mut further = pdus[4].clone();
    further[1] = 5;
    assert_eq!(bearer.receive(&further, 0), Err(RxDrop::Count));
    // With a COUNT of 0 expected, 4095 would be before the first.
    let mut fresh = Bearer::plain();
    assert_eq!(fresh.receive(&[0x8f, 0xff, 1, 2, 3, 4, 5], 0), Err(RxDrop::Count));
}

#[test]
fn what_runs_out_before_it_has_a_count_spends_none() {
    let mut bearer = Bearer::new(TxConfig { discard_ns: Some(50 * MS), ..tx_config() }, rx_config());
    for (number, at) in [(90, 0), (91, 10), (0, 30)] {
        bearer.tx.enqueue(sdu(number), at * MS).unwrap();
    }
    assert_eq!(bearer.tx.next_deadline(), Some(50 * MS));
    let pulled = bearer.pull(60 * MS);
    assert_eq!(pulled.iter().map(|(count, _)| *count).collect::<Vec<_>>(), [0]);
    assert_eq!(bearer.tx.dropped(TxDrop::Discarded), 2);
    bearer.receive(&pulled[0].1, 0).unwrap();
    assert_eq!(bearer.counts(), [0]);
    // Behind its COUNT RLC is told.
    assert_eq!(bearer.tx.next_deadline(), Some(80 * MS));
    bearer.tx.advance(80 * MS, &mut |event| assert_eq!(event, TxEvent::Discard { count: 0 }));
    assert_eq!((bearer.tx.dropped(TxDrop::DiscardedLate), bearer.tx.queued(), bearer.tx.next_deadline()), (1, (0, 0, 0), None));
}

#[test]
fn what_is_not_taken_is_given_back_and_spends_no_count() {
    let mut tx = Tx::new(TxConfig { queue_sdus: 2, bytes: 9000, ..tx_config() }).unwrap();
    assert_eq!(tx.enqueue(vec![], 0).unwrap_err().1, TxDrop::Empty);
    assert_eq!(tx.enqueue(vec![0; MAX_SDU + 1], 0).unwrap_err().1, TxDrop::TooLong);
    tx.enqueue(vec![0; 8999], 0).unwrap();
    assert_eq!(tx.enqueue(vec![0; 2], 0).unwrap_err(), (vec![0; 2], TxDrop::Bytes));
    tx.enqueue(vec![0; 1], 0).unwrap();
    assert_eq!(tx.enqueue(vec![0; 1], 0).unwrap_err().1, TxDrop::QueueSdus);
    assert_eq!(tx.tx_next(), 0);
    assert_eq!(tx.counters().dropped[..4], [1, 1, 1, 1]);
}

#[test]
fn a_full_window_waits_for_the_peer() {
    let mut bearer = Bearer::new(TxConfig { window: 3, ..tx_config() }, rx_config());
    assert_eq!(bearer.send(0..5).len(), 3);
    assert_eq!(bearer.tx.counters().window_full, 1);
    bearer.tx.delivered(1);
    assert_eq!(bearer.pull(0).len(), 0, "0 is the first that the peer may not have");
    bearer.tx.delivered(0);
    assert_eq!(bearer.pull(0).len(), 2);
    bearer.tx.delivered(0);
    bearer.tx.delivered(4_000_000);
    assert_eq!(bearer.tx.counters().delivered, 2);
}

#[test]
fn a_status_report_tells_the_sender_what_the_peer_has() {
    let mut bearer = Bearer::plain();
    let pdus = bearer.send(0..20);
    for at in [0, 1, 3, 7, 12] {
        bearer.receive(&pdus[at], 0).unwrap();
    }
    let mut report = Vec::new();
    bearer.rx.status_report(&mut report);
    assert_eq!(report, [0, 0, 0, 0, 2, 0b1000_1000, 0b0100_0000]);
    let Ok(Prepared::Status(pdu)) = bearer.rx.prepare(report) else { panic!("a report") };
    let mut events = Vec::new();
    bearer.tx.status(&pdu.report(), &mut |event| events.push(event));
    assert_eq!(events, [0, 1, 3, 7, 12].map(|count| TxEvent::Discard { count }));
    // What it does not name goes again when RLC was re-established, as it was.
    bearer.tx.recover_data();
    let again = bearer.pull(0);
    assert_eq!(again.len(), 15);
    for (count, pdu) in &again {
        assert_eq!(*pdu, pdus[*count as usize]);
        bearer.receive(pdu, 0).unwrap();
    }
    assert_eq!(bearer.counts(), (0..20).collect::<Vec<_>>());
}

#[test]
fn a_status_report_about_what_was_not_sent_changes_nothing() {
    let mut bearer = Bearer::plain();
    bearer.send(0..4);
    for report in [&[0, 0, 0, 0, 5][..], &[0, 0xff, 0xff, 0xff, 0xff], &[0, 0, 0, 0, 1, 0x20], &[0, 0, 0, 0, 0, 0, 1]] {
        let Ok(Pdu::Status(report)) = FORMAT.parse(report) else { panic!("a report") };
        bearer.tx.status(&report, &mut |event| panic!("{event:?}"));
    }
    assert_eq!((bearer.tx.counters().bad_reports, bearer.tx.queued().1), (4, 4));
}

#[test]
fn a_re_establishment_sends_again_under_new_keys_what_the_peer_may_not_have() {
    let mut bearer = Bearer::plain();
    let pdus = bearer.send(0..6);
    for at in [0, 2, 4] {
        bearer.receive(&pdus[at], 0).unwrap();
    }
    bearer.tx.delivered(0);
    bearer.tx.delivered(2);
    // A packet that is with the cipher meanwhile goes again too.
    bearer.tx.enqueue(sdu(6), 0).unwrap();
    let in_flight = bearer.tx.pull(0, &mut |_| {}).unwrap();
    bearer.tx.re_establish();
    bearer.rx.re_establish(&mut |_, _| panic!("RLC AM keeps what waits"));
    bearer.security = security(&bearer.engine, 20);
    assert_eq!(bearer.tx.finish(in_flight), None);
    assert_eq!(bearer.tx.dropped(TxDrop::OldKeys), 1);
    bearer.tx.enqueue(sdu(7), 0).unwrap();
    let again = bearer.pull(0);
    assert_eq!(again.iter().map(|(count, _)| *count).collect::<Vec<_>>(), [1, 3, 4, 5, 6, 7]);
    assert_ne!(again[0].1, pdus[1], "under the new keys");
    for (count, pdu) in &again {
        assert_eq!(bearer.receive(pdu, 0).is_err(), *count == 4, "4 was received under the old ones");
    }
    assert_eq!(bearer.counts(), (0..8).collect::<Vec<_>>());
    // A PDU of the old keys that comes now.
    assert_eq!(bearer.rx.prepare(pdus[5].clone()), Err(RxDrop::Late));
}

#[test]
fn um_begins_anew_when_re_established_and_hands_up_what_waits() {
    let (tx, rx) = (TxConfig { acknowledged: false, ..tx_config() }, RxConfig { acknowledged: false, ..rx_config() });
    let mut bearer = Bearer::new(tx, rx);
    let pdus = bearer.send(0..4);
    assert_eq!(bearer.tx.queued(), (0, 0, 0), "nothing is kept");
    bearer.receive(&pdus[0], 0).unwrap();
    bearer.receive(&pdus[2], 0).unwrap();
    let Ok(Prepared::Data(old)) = bearer.rx.prepare(pdus[3].clone()) else { panic!() };
    bearer.rx.re_establish(&mut |count, sdu| bearer.up.push((count, sdu.to_vec())));
    assert_eq!(bearer.counts(), [0, 2]);
    assert_eq!((bearer.rx.state().rx_next, bearer.rx.next_deadline()), (0, None));
    assert_eq!(bearer.rx.finish(old, 0, &mut |_, _| panic!("old keys")), Err(RxDrop::OldKeys));
    bearer.tx.re_establish();
    assert_eq!(bearer.tx.tx_next(), 0);
}

#[test]
fn a_signalling_bearer_drops_everything_when_re_established() {
    let format = Format { kind: Kind::Srb, ..FORMAT };
    let mut bearer = Bearer::new(TxConfig { format, ..tx_config() }, RxConfig { format, ..rx_config() });
    let pdus = bearer.send(0..3);
    assert_eq!(pdus[0][0] & 0x80, 0);
    bearer.receive(&pdus[1], 0).unwrap();
    bearer.rx.re_establish(&mut |_, _| panic!("dropped"));
    bearer.tx.enqueue(sdu(3), 0).unwrap();
    bearer.tx.re_establish();
    assert_eq!((bearer.rx.waiting(), bearer.tx.queued(), bearer.tx.dropped(TxDrop::ReEstablished)), ((0, 0), (0, 0, 0), 4));
}

#[test]
fn sdus_come_up_at_once_and_once_if_order_is_not_asked_for() {
    let mut bearer = Bearer::new(tx_config(), RxConfig { out_of_order: true, ..rx_config() });
    let pdus = bearer.send(0..4);
    for at in [2, 1, 0, 3] {
        bearer.receive(&pdus[at], 0).unwrap();
    }
    assert_eq!(bearer.counts(), [2, 1, 0, 3]);
    assert!(bearer.receive(&pdus[2], 0).is_err());
    assert_eq!(bearer.rx.waiting(), (0, 0));
}

#[test]
fn an_outage_longer_than_the_window_does_not_stop_a_bearer() {
    let mut bearer = Bearer::new(tx_config(), RxConfig { window: 16, ..rx_config() });
    let pdus = bearer.send(0..200);
    bearer.receive(&pdus[0], 0).unwrap();
    bearer.receive(&pdus[2], 0).unwrap();
    bearer.receive(&pdus[150], 0).unwrap();
    assert_eq!(bearer.counts(), [0, 2]);
    assert_eq!((bearer.rx.state().rx_deliv, bearer.rx.counters().forced), (135, 1));
    bearer.advance(100 * MS);
    assert_eq!(bearer.counts(), [150]);
    // The same for bytes: what waits goes up before more is kept.
    let mut bearer = Bearer::new(tx_config(), RxConfig { bytes: 9000, ..rx_config() });
    for _ in 0..3 {
        bearer.tx.enqueue(vec![1; 5000], 0).unwrap();
    }
    let pdus = bearer.pull(0);
    bearer.receive(&pdus[1].1, 0).unwrap();
    bearer.receive(&pdus[2].1, 0).unwrap();
    assert_eq!(bearer.up.drain(..).map(|(count, _)| count).collect::<Vec<_>>(), [1, 2]);
    assert_eq!((bearer.rx.counters().forced, bearer.rx.waiting()), (1, (0, 0)));
}

#[test]
fn a_configuration_out_of_range_is_refused_by_name() {
    let tx = |change: fn(&mut TxConfig)| {
        let mut config = tx_config();
        change(&mut config);
        Tx::new(config).err()
    };
    assert_eq!(tx(|c| c.window = 0), Some(ConfigError::Window));
    assert_eq!(tx(|c| c.window = 2049), Some(ConfigError::Window));
    assert_eq!(tx(|c| c.discard_ns = Some(u64::MAX)), Some(ConfigError::Timer("discard_ns")));
    assert_eq!(tx(|c| c.bytes = 8999), Some(ConfigError::Room("bytes")));
    assert_eq!(tx(|c| c.queue_sdus = 0), Some(ConfigError::Room("queue_sdus")));
    assert_eq!(tx(|c| c.guard = CountGuard { notify: 2, stop: 1 }), Some(ConfigError::Guard));
    let srb = |format| Tx::new(TxConfig { format: Format { kind: Kind::Srb, ..format }, ..tx_config() }).err();
    assert_eq!(srb(Format { sn_length: SnLength::Bits18, ..FORMAT }), Some(ConfigError::SrbSn));
    assert_eq!(srb(Format { integrity: false, ..FORMAT }), Some(ConfigError::Srb));
    assert_eq!(srb(Format { sdap_header: true, ..FORMAT }), Some(ConfigError::Srb));
    assert_eq!(Rx::new(RxConfig { window: 4096, ..rx_config() }).err(), Some(ConfigError::Window));
    assert_eq!(Rx::new(RxConfig { reordering_ns: Some(3001 * MS), ..rx_config() }).err(), Some(ConfigError::Timer("reordering_ns")));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..ProptestConfig::default() })]

    /// The twin: a PDU comes up if it was not before, and none with a higher COUNT came up.
    #[test]
    fn sdus_come_up_in_order_and_at_most_once_whatever_comes(
        seed in any::<u64>(),
        window in 1u32..200,
        reach in 1u32..300,
        reordering_ms in proptest::option::of(0u64..50),
        sn_18_bits in any::<bool>(),
    ) {
        let sn_length = if sn_18_bits { SnLength::Bits18 } else { SnLength::Bits12 };
        let format = Format { sn_length, ..FORMAT };
        let reordering_ns = reordering_ms.map(|ms| ms * MS);
        let mut bearer = Bearer::new(TxConfig { format, acknowledged: false, ..tx_config() }, RxConfig { format, window, reordering_ns, ..rx_config() });
        let pdus = bearer.send(0..6000);
        let mut rng = testkit::rng(seed);
        let (mut head, mut last) = (0u32, None);
        let (mut taken, mut up) = (0, 0);
        for step in 0..1200u64 {
            head += rng.random_range(0..5);
            let at = (head + rng.random_range(0..reach)).saturating_sub(rng.random_range(0..reach));
            let before = *bearer.rx.state();
            match bearer.receive(&pdus[at as usize], step * MS) {
                Ok(_) => taken += 1,
                Err(RxDrop::Late) => prop_assert!(at < before.rx_deliv),
                Err(drop) => prop_assert_eq!(drop, RxDrop::Duplicate),
            }
            bearer.advance(step * MS);
            for count in bearer.counts() {
                prop_assert!(last.is_none_or(|last| last < count));
                last = Some(count);
                up += 1;
            }
            let state = *bearer.rx.state();
            prop_assert!(before.rx_deliv <= state.rx_deliv && state.rx_deliv <= state.rx_next);
            prop_assert!(state.rx_next - state.rx_deliv <= window);
            // What waits is waited for.
            prop_assert!(reordering_ns.is_none() || bearer.rx.next_deadline().is_some() == (state.rx_deliv < state.rx_next));
        }
        prop_assert_eq!(up + bearer.rx.waiting().0, taken, "what was taken came up or waits");
    }
}
