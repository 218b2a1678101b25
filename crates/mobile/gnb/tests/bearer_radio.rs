//! A whole bearer over a radio that loses, doubles and reorders: PDCP over RLC AM, ciphered, both ways. Every SDU comes up once, in order; so it does
//! if the bearer is re-established under new keys on the way, as in a handover, or RLC alone is, with a data recovery.

use std::collections::BTreeMap;
use std::sync::Arc;

use ciphering::{Choice, Direction, Engine, Nea, Nia};
use gnb::pdcp::pdu::Format;
use gnb::pdcp::rx::{Prepared, StatusPdu};
use gnb::pdcp::tx::TxEvent;
use gnb::pdcp::{CountGuard, Kind, Rx, RxConfig, Security, Tx, TxConfig};
use gnb::rlc::am::Am;
use gnb::rlc::{QueueLimits, SnLength, am_rx, am_tx};
use proptest::prelude::*;
use rand::Rng;

const MS: u64 = 1_000_000;
/// PDUs that RLC holds before PDCP is asked for more.
const RLC_QUEUE: usize = 8;

struct End {
    tx: Tx,
    rx: Rx,
    rlc: Am<Vec<u8>>,
    engine: Engine,
    send: Security,
    receive: Security,
    up: Vec<Vec<u8>>,
}

fn keys(engine: &Engine, direction: Direction, generation: u8) -> Security {
    Security {
        cipher: Some(Arc::new(engine.cipher_key(Nea::Nea2, &[generation; 16]))),
        integrity: Some(Arc::new(engine.integrity_key(Nia::Nia2, &[generation + 100; 16]))),
        bearer: 0,
        direction,
    }
}

const WAYS: [Direction; 2] = [Direction::Downlink, Direction::Uplink];

impl End {
    fn new(side: usize, case: &Case) -> End {
        let sn_length = if case.sn_18_bits { SnLength::Bits18 } else { SnLength::Bits12 };
        let format = Format { kind: Kind::Drb, sn_length, integrity: true, sdap_header: false };
        let window = 512;
        let guard = CountGuard::default();
        let tx = TxConfig { format, acknowledged: true, window, queue_sdus: 100_000, bytes: 1 << 30, discard_ns: None, guard };
        let rx = RxConfig { format, acknowledged: true, window, bytes: 1 << 24, reordering_ns: None, out_of_order: false, guard };
        let queue = QueueLimits { sdus: 600, bytes: 1 << 24 };
        let rlc_tx = am_tx::TxConfig {
            sn_length,
            window: case.rlc_window,
            queue,
            poll_retransmit_ns: 45 * MS,
            poll_pdu: Some(8),
            poll_byte: None,
            max_retransmissions: 32,
        };
        let rlc_rx = am_rx::RxConfig {
            sn_length,
            window: case.rlc_window,
            partial_bytes: 1 << 20,
            reassembly_ns: 35 * MS,
            status_prohibit_ns: 5 * MS,
        };
        let engine = Engine::new(Choice::Portable).unwrap();
        let (send, receive) = (keys(&engine, WAYS[side], 1), keys(&engine, WAYS[1 - side], 1));
        End {
            tx: Tx::new(tx).unwrap(),
            rx: Rx::new(rx).unwrap(),
            rlc: Am::new(rlc_tx, rlc_rx).unwrap(),
            engine,
            send,
            receive,
            up: Vec::new(),
        }
    }

    /// PDCP to RLC, as far as there is room.
    fn fill(&mut self, now: u64) {
        while self.rlc.tx().queued().0 < RLC_QUEUE {
            let Some(packet) = self.tx.pull(now, &mut |_| {}) else { break };
            let mut packets = [packet];
            self.send.run(&mut self.engine, &mut packets);
            let [packet] = packets;
            let (count, pdu) = self.tx.finish(packet).expect("a job that was run");
            self.rlc.enqueue(count, pdu).expect("room");
        }
    }

    /// A PDU of the radio.
    fn receive(&mut self, pdu: &[u8], now: u64) {
        let mut pdcp = Vec::new();
        let tx = &mut self.tx;
        let _ = self.rlc.receive(pdu, now, &mut |sdu| pdcp.push(sdu.to_vec()), &mut |event| {
            if let am_tx::TxEvent::Delivered { tag, .. } = event {
                tx.delivered(tag);
            }
        });
        for pdu in pdcp {
            match self.rx.prepare(pdu) {
                Ok(Prepared::Data(packet)) => {
                    let mut packets = [packet];
                    self.receive.run(&mut self.engine, &mut packets);
                    let [packet] = packets;
                    // A PDU of a COUNT that came before the re-establishment is dropped there.
                    let _ = self.rx.finish(packet, now, &mut |_, sdu| self.up.push(sdu.to_vec()));
                }
                Ok(Prepared::Status(report)) => self.report(&report),
                Err(_) => {}
            }
        }
    }

    fn report(&mut self, pdu: &StatusPdu) {
        let rlc = &mut self.rlc;
        self.tx.status(&pdu.report(), &mut |event| {
            if let TxEvent::Discard { count } = event {
                rlc.discard(count);
            }
        });
    }

    fn at_rest(&self, now: u64) -> bool {
        self.tx.queued().0 == 0 && self.tx.queued().1 == 0 && !self.rlc.has_data(now) && self.rlc.next_deadline().is_none()
    }
}

#[derive(Debug, Clone)]
struct Case {
    seed: u64,
    loss: u32,
    duplicates: u32,
    delay_ms: u64,
    grants: (usize, usize),
    sn_18_bits: bool,
    rlc_window: u32,
    sdus: u32,
    /// When RLC is re-established, in ms; and whether PDCP is too.
    breaks: Vec<(u64, bool)>,
}

fn case() -> impl Strategy<Value = Case> {
    let grants = prop_oneof![Just((20, 60)), Just((10, 2000)), Just((200, 201))];
    let breaks = proptest::collection::vec((0..600u64, any::<bool>()), 0..4);
    (any::<u64>(), 0..40u32, 0..20u32, 1..15u64, grants, any::<bool>(), 4..300u32, 1..150u32, breaks).prop_map(
        |(seed, loss, duplicates, delay_ms, grants, sn_18_bits, rlc_window, sdus, mut breaks)| {
            breaks.sort_unstable();
            Case { seed, loss, duplicates, delay_ms, grants, sn_18_bits, rlc_window, sdus, breaks }
        },
    )
}

fn sdu(side: usize, number: u32) -> Vec<u8> {
    let mut sdu = vec![side as u8; 8 + (number as usize * 53) % 700];
    sdu[1..5].copy_from_slice(&number.to_be_bytes());
    sdu
}

fn run(case: &Case) {
    let mut rng = testkit::rng(case.seed);
    let mut ends = [End::new(0, case), End::new(1, case)];
    let mut air: BTreeMap<(u64, u64), (usize, Vec<u8>)> = BTreeMap::new();
    let mut breaks = case.breaks.iter().peekable();
    let (mut given, mut now, mut made, mut generation) = (0, 0, 0u64, 1);
    loop {
        let ms = now / MS;
        let perfect = ms > 1500;
        if given < case.sdus {
            for (side, end) in ends.iter_mut().enumerate() {
                end.tx.enqueue(sdu(side, given), now).unwrap();
            }
            given += 1;
        }
        if let Some((_, with_pdcp)) = breaks.next_if(|(at, _)| *at <= ms) {
            // Lower layers start anew: what was in the air is lost.
            air.clear();
            generation += 1;
            for (side, end) in ends.iter_mut().enumerate() {
                end.rlc.re_establish();
                if *with_pdcp {
                    end.tx.re_establish();
                    end.rx.re_establish(&mut |_, _| panic!("nothing comes up"));
                    end.send = keys(&end.engine, WAYS[side], generation);
                    end.receive = keys(&end.engine, WAYS[1 - side], generation);
                } else {
                    end.tx.recover_data();
                }
            }
            // A report each way, and the peer does not send again what it names.
            for side in 0..2 {
                let mut report = Vec::new();
                ends[side].rx.status_report(&mut report);
                let Ok(Prepared::Status(report)) = ends[1 - side].rx.prepare(report) else { panic!("a report") };
                ends[1 - side].report(&report);
            }
        }
        for (side, end) in ends.iter_mut().enumerate() {
            end.rlc.advance(now, &mut |_| {});
            end.fill(now);
            let grant = rng.random_range(case.grants.0..=case.grants.1);
            let mut pdu = Vec::new();
            while end.rlc.pull(grant, now, &mut pdu).is_some() {
                for _ in 0..1 + u32::from(rng.random_range(0..100) < case.duplicates) {
                    if perfect || rng.random_range(0..100) >= case.loss {
                        made += 1;
                        air.insert((now + rng.random_range(1..=case.delay_ms) * MS, made), (1 - side, pdu.clone()));
                    }
                }
                pdu.clear();
                if rng.random_range(0..3) == 0 {
                    break;
                }
            }
        }
        while let Some(first) = air.first_entry().filter(|first| first.key().0 <= now) {
            let (to, pdu) = first.remove();
            ends[to].receive(&pdu, now);
        }
        if given == case.sdus && breaks.peek().is_none() && air.is_empty() && ends.iter().all(|end| end.at_rest(now)) {
            break;
        }
        assert!(ms < 600_000, "stalled: {:?} {:?}", ends[0].rlc.tx().state(), ends[0].tx.queued());
        now += MS;
    }
    for (side, end) in ends.iter().enumerate() {
        let expected: Vec<Vec<u8>> = (0..case.sdus).map(|number| sdu(1 - side, number)).collect();
        assert_eq!(end.up.len(), expected.len());
        assert!(end.up == expected, "every SDU once, in order");
        assert_eq!(end.rx.waiting(), (0, 0));
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_sdu_comes_up_once_and_in_order_whatever_the_radio_does(case in case()) {
        run(&case);
    }
}
