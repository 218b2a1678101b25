//! Handover of a bearer between two gNodeBs, whatever the radio has lost when it begins: the UE and the UPF get every packet once and in order.

use std::sync::Arc;

use ciphering::{Choice, Direction, Engine, Nea, Nia};
use gnb::pdcp::handover::{Downlink, FORWARDING_NS, HandoverError, PathSwitch, Uplink};
use gnb::pdcp::pdu::Format;
use gnb::pdcp::rx::{Prepared, RxDrop};
use gnb::pdcp::security::Packet;
use gnb::pdcp::tx::TxDrop;
use gnb::pdcp::{CountGuard, Kind, Rx, RxConfig, Security, SnLength, Tx, TxConfig};
use proptest::prelude::*;
use rand::Rng;
use rand::seq::SliceRandom;

const FORMAT: Format = Format { kind: Kind::Drb, sn_length: SnLength::Bits12, integrity: true, sdap_header: false };
const WINDOW: u32 = 256;

fn tx_config() -> TxConfig {
    TxConfig {
        format: FORMAT,
        acknowledged: true,
        window: WINDOW,
        queue_sdus: 10_000,
        bytes: 1 << 20,
        discard_ns: None,
        guard: CountGuard::default(),
    }
}

fn rx_config() -> RxConfig {
    RxConfig {
        format: FORMAT,
        acknowledged: true,
        window: WINDOW,
        bytes: 1 << 20,
        reordering_ns: None,
        out_of_order: false,
        guard: CountGuard::default(),
    }
}

/// Keys of one direction under one gNodeB.
fn security(engine: &Engine, direction: Direction, key: u8) -> Security {
    Security {
        cipher: Some(Arc::new(engine.cipher_key(Nea::Nea2, &[key; 16]))),
        integrity: Some(Arc::new(engine.integrity_key(Nia::Nia2, &[key + 1; 16]))),
        bearer: 3,
        direction,
    }
}

fn sdu(number: u32) -> Vec<u8> {
    number.to_be_bytes().into_iter().chain(std::iter::repeat_n(number as u8, number as usize % 50)).collect()
}

fn numbers(sdus: &[Vec<u8>]) -> Vec<u32> {
    sdus.iter().map(|of| u32::from_be_bytes(of[..4].try_into().unwrap())).inspect(|number| assert!(sdus.contains(&sdu(*number)))).collect()
}

/// Everything that can be pulled, protected, with COUNT.
fn pull(tx: &mut Tx, engine: &mut Engine, keys: &Security, most: usize) -> Vec<(u32, Vec<u8>)> {
    let mut packets: Vec<Packet> = Vec::new();
    while packets.len() < most
        && let Some(packet) = tx.pull(0, &mut |_| {})
    {
        packets.push(packet);
    }
    keys.run(engine, &mut packets);
    packets.into_iter().filter_map(|packet| tx.finish(packet)).collect()
}

/// A data PDU for an entity, or a status report for its other half.
fn receive(rx: &mut Rx, tx: Option<&mut Tx>, engine: &mut Engine, keys: &Security, pdu: Vec<u8>, up: &mut Vec<Vec<u8>>) {
    match rx.prepare(pdu) {
        Ok(Prepared::Data(packet)) => {
            let mut packets = [packet];
            keys.run(engine, &mut packets);
            let [packet] = packets;
            let _ = rx.finish(packet, 0, &mut |_, sdu| up.push(sdu.to_vec()));
        }
        Ok(Prepared::Status(report)) => tx.expect("no report is expected").status(&report.report(), &mut |_| {}),
        // Late or doubled.
        Err(_) => {}
    }
}

/// One way with a sender and a receiver: some of what is sent arrives, in any order, and of that the sender learns some.
struct Way<'a> {
    tx: &'a mut Tx,
    rx: &'a mut Rx,
    keys: Security,
    up: &'a mut Vec<Vec<u8>>,
}

impl Way<'_> {
    fn run(&mut self, engine: &mut Engine, rng: &mut testkit::Rng, most: usize, arrives: f64, told: f64) -> usize {
        let mut pdus = pull(self.tx, engine, &self.keys, most);
        let sent = pdus.len();
        pdus.shuffle(rng);
        for (count, pdu) in pdus {
            if rng.random_bool(arrives) {
                receive(self.rx, None, engine, &self.keys, pdu.clone(), self.up);
                if rng.random_bool(0.1) {
                    receive(self.rx, None, engine, &self.keys, pdu, self.up);
                }
                if rng.random_bool(told) {
                    self.tx.delivered(count);
                }
            }
        }
        sent
    }
}

/// The target's entities. `streamed`: SDUs come one by one by tunnels that reorder, as a gNodeB's do.
fn target(rng: &mut testkit::Rng, streamed: bool, downlink: Downlink, uplink: Uplink, at_upf: &mut Vec<Vec<u8>>) -> (Tx, Rx) {
    if !streamed {
        return (Tx::take_over(tx_config(), downlink, 0).unwrap(), Rx::take_over(rx_config(), uplink, 0).unwrap());
    }
    let Downlink { next, mut numbered, fresh } = downlink;
    let Uplink { deliv, mut waiting } = uplink;
    let mut tx = Tx::take_over(tx_config(), Downlink { next, ..Downlink::default() }, 0).unwrap();
    let mut rx = Rx::take_over(rx_config(), Uplink { deliv, waiting: Vec::new() }, 0).unwrap();
    numbered.shuffle(rng);
    waiting.shuffle(rng);
    for (count, sdu) in numbered {
        tx.forwarded(count, sdu, 0).unwrap();
    }
    for (count, sdu) in waiting {
        rx.forwarded(count & 0xfff, &sdu.unwrap(), 0, &mut |_, sdu| at_upf.push(sdu.to_vec())).unwrap();
    }
    fresh.into_iter().for_each(|sdu| tx.enqueue(sdu, 0).unwrap());
    (tx, rx)
}

fn check(seed: u64, arrives: f64, told: f64, before: u32, after: u32, reports: bool, streamed: bool) {
    let mut rng = testkit::rng(seed);
    let engine = &mut Engine::new(Choice::Portable).unwrap();
    let (old_down, new_down) = (security(engine, Direction::Downlink, 7), security(engine, Direction::Downlink, 9));
    let (old_up, new_up) = (security(engine, Direction::Uplink, 17), security(engine, Direction::Uplink, 19));
    let (mut source_tx, mut source_rx) = (Tx::new(tx_config()).unwrap(), Rx::new(rx_config()).unwrap());
    let (mut ue_tx, mut ue_rx) = (Tx::new(tx_config()).unwrap(), Rx::new(rx_config()).unwrap());
    let (mut at_ue, mut at_upf) = (Vec::new(), Vec::new());
    for number in 0..before {
        source_tx.enqueue(sdu(number), 0).unwrap();
        ue_tx.enqueue(sdu(number), 0).unwrap();
    }
    // What does not arrive is lost with RLC, which begins anew.
    let most = rng.random_range(0..=before as usize);
    Way { tx: &mut source_tx, rx: &mut ue_rx, keys: old_down, up: &mut at_ue }.run(engine, &mut rng, most, arrives, told);
    Way { tx: &mut ue_tx, rx: &mut source_rx, keys: old_up, up: &mut at_upf }.run(engine, &mut rng, most, arrives, told);

    let downlink = source_tx.hand_over();
    let uplink = source_rx.hand_over(&mut |_, sdu| at_upf.push(sdu.to_vec()));
    let (mut target_tx, mut target_rx) = target(&mut rng, streamed, downlink, uplink, &mut at_upf);
    ue_tx.re_establish();
    ue_rx.re_establish(&mut |_, _| {});
    if reports {
        let (mut of_ue, mut of_target) = (Vec::new(), Vec::new());
        ue_rx.status_report(&mut of_ue);
        target_rx.status_report(&mut of_target);
        receive(&mut target_rx, Some(&mut target_tx), engine, &new_up, of_ue, &mut at_upf);
        receive(&mut ue_rx, Some(&mut ue_tx), engine, &new_down, of_target, &mut at_ue);
    }
    // The UPF switches in between: some come by the old path yet, are forwarded, and are overtaken by those of the new one.
    let mut switch = PathSwitch::new(1 << 20, 1000);
    let forwarded = rng.random_range(0..=after);
    let (mut old, mut new) = (before..before + forwarded, before + forwarded..before + after);
    while !old.is_empty() || !new.is_empty() {
        match if rng.random_bool(0.5) { old.next().map(|n| (n, true)) } else { new.next().map(|n| (n, false)) } {
            Some((number, true)) => target_tx.enqueue(sdu(number), 0).unwrap(),
            Some((number, false)) => {
                if let Some(packet) = switch.packet(sdu(number), 0) {
                    target_tx.enqueue(packet, 0).unwrap();
                }
            }
            None => {}
        }
        if old.is_empty() {
            switch.end_marker(&mut |packet| target_tx.enqueue(packet, 0).unwrap());
        }
    }
    switch.end_marker(&mut |packet| target_tx.enqueue(packet, 0).unwrap());
    (before..before + after).for_each(|number| ue_tx.enqueue(sdu(number), 0).unwrap());
    // RLC AM loses nothing from here on.
    loop {
        let down = Way { tx: &mut target_tx, rx: &mut ue_rx, keys: new_down.clone(), up: &mut at_ue }.run(engine, &mut rng, 50, 1.0, 1.0);
        let up = Way { tx: &mut ue_tx, rx: &mut target_rx, keys: new_up.clone(), up: &mut at_upf }.run(engine, &mut rng, 50, 1.0, 1.0);
        if down + up == 0 {
            break;
        }
    }
    let all: Vec<u32> = (0..before + after).collect();
    assert_eq!(numbers(&at_ue), all, "downlink");
    assert_eq!(numbers(&at_upf), all, "uplink");
    assert_eq!((target_tx.queued(), ue_tx.queued(), switch.dropped()), ((0, 0, 0), (0, 0, 0), 0));
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 96, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn nothing_is_lost_doubled_or_overtaken(
        seed in any::<u64>(), arrives in 0.0..1.0f64, told in 0.0..1.0f64, before in 0..WINDOW, after in 0..200u32, reports in any::<bool>(), streamed in any::<bool>()
    ) {
        check(seed, arrives, told, before, after, reports, streamed);
    }
}

#[test]
fn a_status_report_spares_what_the_other_side_has() {
    let engine = &mut Engine::new(Choice::Portable).unwrap();
    let keys = security(engine, Direction::Downlink, 7);
    let (mut tx, mut rx, mut up) = (Tx::new(tx_config()).unwrap(), Rx::new(rx_config()).unwrap(), Vec::new());
    (0..6).for_each(|number| tx.enqueue(sdu(number), 0).unwrap());
    let pdus = pull(&mut tx, engine, &keys, 6);
    // 0, 2 and 5 are there, and nobody was told.
    for at in [0, 2, 5] {
        receive(&mut rx, None, engine, &keys, pdus[at].1.clone(), &mut up);
    }
    let mut target = Tx::take_over(tx_config(), tx.hand_over(), 0).unwrap();
    let mut report = Vec::new();
    rx.status_report(&mut report);
    let mut of_target = Rx::new(rx_config()).unwrap();
    receive(&mut of_target, Some(&mut target), engine, &keys, report, &mut up);
    let again: Vec<u32> = pull(&mut target, engine, &keys, 10).into_iter().map(|(count, _)| count).collect();
    assert_eq!(again, [1, 3, 4]);
}

#[test]
fn what_another_gnodeb_says_is_not_believed() {
    let downlink =
        |next, counts: &[u32]| Downlink { next, numbered: counts.iter().map(|count| (*count, vec![1])).collect(), fresh: vec![] };
    let take = |downlink| Tx::take_over(tx_config(), downlink, 0).map(drop);
    assert_eq!(take(downlink(9, &[3, 5, 8])), Ok(()));
    assert_eq!(take(downlink(9, &[5, 3])), Err(HandoverError::Count(3)));
    assert_eq!(take(downlink(9, &[3, 3])), Err(HandoverError::Count(3)));
    assert_eq!(take(downlink(9, &[9])), Err(HandoverError::Count(9)));
    assert_eq!(take(downlink(9, &[9, 8])), Err(HandoverError::Count(9)));
    assert_eq!(take(downlink(1000, &[0])), Err(HandoverError::Window(1000)));
    let empty = Downlink { numbered: vec![(0, vec![])], ..downlink(1, &[]) };
    assert_eq!(take(empty), Err(HandoverError::Sdu(0)));
    let much = Downlink { next: 200, numbered: (0..200).map(|count| (count, vec![0; 9000])).collect(), fresh: vec![] };
    assert_eq!(take(much), Err(HandoverError::Sdu(116)), "more than 1 MiB");
    let um = TxConfig { acknowledged: false, ..tx_config() };
    assert_eq!(Tx::take_over(um, downlink(9, &[]), 0).map(drop), Err(HandoverError::Count(9)));

    let uplink = |deliv, counts: &[u32]| Uplink { deliv, waiting: counts.iter().map(|count| (*count, Some(vec![1]))).collect() };
    let take = |uplink| Rx::take_over(rx_config(), uplink, 0).map(drop);
    assert_eq!(take(uplink(5, &[6, 9])), Ok(()));
    assert_eq!(take(uplink(5, &[5])), Err(HandoverError::Count(5)));
    assert_eq!(take(uplink(5, &[9, 6])), Err(HandoverError::Count(6)));
    assert_eq!(take(uplink(5, &[5 + WINDOW])), Err(HandoverError::Window(5 + WINDOW)));
    assert_eq!(take(uplink(u32::MAX, &[])), Ok(()), "COUNT is at its end, and stays there");
    assert_eq!(take(uplink(u32::MAX - 1, &[u32::MAX])), Err(HandoverError::Count(u32::MAX)));
    assert_eq!(take(Uplink { deliv: 0, waiting: vec![(1, Some(vec![]))] }), Err(HandoverError::Sdu(1)));
}

#[test]
fn packets_of_the_new_path_wait_for_the_end_marker_and_no_longer_than_they_may() {
    let mut switch = PathSwitch::new(128, 100);
    let mut went = Vec::new();
    assert!(!switch.advance(1000, &mut |packet| went.push(packet)), "nothing waits yet");
    assert_eq!((switch.packet(vec![1; 4], 5), switch.packet(vec![2; 6], 50), switch.packet(vec![3], 50)), (None, None, None));
    assert_eq!((switch.dropped(), switch.waiting(), switch.next_deadline()), (1, 2, Some(105)));
    assert!(!switch.advance(104, &mut |packet| went.push(packet)) && went.is_empty());
    assert!(switch.advance(105, &mut |packet| went.push(packet)));
    assert_eq!(went, [vec![1; 4], vec![2; 6]]);
    assert_eq!((switch.packet(vec![4], 106), switch.next_deadline()), (Some(vec![4]), None));
}

#[test]
fn what_comes_by_a_forwarding_tunnel_is_not_believed() {
    let mut tx = Tx::take_over(tx_config(), Downlink { next: 1000, ..Downlink::default() }, 0).unwrap();
    for (count, sdu, taken) in [
        (1000, vec![1], Err(TxDrop::ForwardedCount)),
        (u32::MAX, vec![1], Err(TxDrop::ForwardedCount)),
        (1000 - WINDOW - 1, vec![1], Err(TxDrop::ForwardedCount)),
        (1000 - WINDOW, vec![1], Ok(())),
        (1000 - WINDOW, vec![1], Err(TxDrop::ForwardedCount)),
        (999, vec![], Err(TxDrop::Empty)),
        (999, vec![1; 9001], Err(TxDrop::TooLong)),
    ] {
        assert_eq!(tx.forwarded(count, sdu, 0), taken, "{count}");
    }
    let refused = (1000 - WINDOW + 1..1000).find_map(|count| tx.forwarded(count, vec![1; 9000], 0).err());
    assert_eq!(refused, Some(TxDrop::Bytes), "more than 1 MiB");
    let um = TxConfig { acknowledged: false, ..tx_config() };
    assert_eq!(Tx::new(um).unwrap().forwarded(0, vec![1], 0), Err(TxDrop::ForwardedCount));

    let mut rx = Rx::take_over(rx_config(), Uplink { deliv: 5, waiting: Vec::new() }, 0).unwrap();
    let mut take = |sn, sdu: &[u8]| rx.forwarded(sn, sdu, 0, &mut |_, _| panic!("4095 SDUs are missing before it"));
    assert_eq!(take(7, &[1]), Ok(()));
    assert_eq!((take(7, &[1]), take(4, &[1])), (Err(RxDrop::Duplicate), Err(RxDrop::Late)));
    assert_eq!((take(4096, &[1]), take(8, &[])), (Err(RxDrop::Count), Err(RxDrop::Length)));
    assert_eq!(take(8, &[1; 9001]), Err(RxDrop::TooLong));
}

/// As [`taken_over`] with a window of 4.
fn narrow(deliv: u32, bytes: u64) -> (Rx, impl FnMut(&mut Rx, u32, u64) -> Vec<u32>) {
    taken_over(deliv, 4, bytes)
}

/// A receiving side that has taken over at `deliv`, and a sender of the UE's under the same keys.
fn taken_over(deliv: u32, window: u32, bytes: u64) -> (Rx, impl FnMut(&mut Rx, u32, u64) -> Vec<u32>) {
    let config = RxConfig { window, bytes, ..rx_config() };
    let rx = Rx::take_over(config, Uplink { deliv, waiting: Vec::new() }, 0).unwrap();
    let mut engine = Engine::new(Choice::Portable).unwrap();
    let keys = security(&engine, Direction::Uplink, 7);
    let send = move |rx: &mut Rx, count: u32, now_ns: u64| {
        let mut ue = Tx::take_over(tx_config(), Downlink { next: count, ..Downlink::default() }, 0).unwrap();
        ue.enqueue(sdu(count), 0).unwrap();
        let (_, pdu) = pull(&mut ue, &mut engine, &keys, 1).remove(0);
        let mut up = Vec::new();
        let Ok(Prepared::Data(packet)) = rx.prepare(pdu) else { return Vec::new() };
        let mut packets = [packet];
        keys.run(&mut engine, &mut packets);
        let [packet] = packets;
        let _ = rx.finish(packet, now_ns, &mut |count, _| up.push(count));
        up
    };
    (rx, send)
}

/// The source has 5 to 7, and the UE knows: it goes on with 8, as fast as it may.
#[test]
fn what_the_ue_sends_behind_forwarded_sdus_waits_for_them_however_short_the_window_is() {
    let (mut rx, mut send) = narrow(5, 1 << 20);
    for count in (8..2000).rev() {
        assert!(send(&mut rx, count, 0).is_empty());
    }
    assert_eq!((rx.waiting().0, send(&mut rx, 900, 0), rx.dropped(RxDrop::Duplicate)), (1992, vec![], 1));
    let mut report = Vec::new();
    rx.status_report(&mut report);
    let Ok(gnb::pdcp::pdu::Pdu::Status(report)) = FORMAT.parse(&report) else { panic!("a status report") };
    assert!(report.fmc == 5 && report.received().eq(8..2000));
    let mut up = Vec::new();
    for count in [6, 7, 5] {
        assert_eq!(up, []);
        rx.forwarded(count, &sdu(count), 1, &mut |count, _| up.push(count)).unwrap();
    }
    assert_eq!((up, rx.counters().missing, rx.counters().forced), ((5..2000).collect(), 0, 0));
}

/// The UE has kept 100 and those behind the source's, up to a whole window of its own: the target delivers 100, and the UE goes on while the source's are on their way.
#[test]
fn a_ue_whose_window_is_full_when_it_goes_overtakes_nothing_that_is_forwarded() {
    for window in [1, 2, 10, 64, 300] {
        let (mut rx, mut send) = taken_over(100, window, 1 << 20);
        let forwarded = 101..=100 + (window / 2).max(1);
        let behind = forwarded.end() + 1..=forwarded.end() + window;
        let mut up = send(&mut rx, 100, 0);
        behind.clone().for_each(|count| up.extend(send(&mut rx, count, 3_000_000)));
        assert_eq!(up, [100], "window {window}");
        for count in forwarded {
            rx.forwarded(count & 0xfff, &sdu(count), 7_000_000, &mut |count, _| up.push(count)).unwrap();
        }
        assert_eq!(up, (100..=*behind.end()).collect::<Vec<_>>(), "window {window}");
        assert_eq!((rx.counters().missing, rx.counters().forced, rx.dropped(RxDrop::Late)), (0, 0, 0), "window {window}");
    }
}

/// What does not come at all is waited for no longer than it may, and for no more bytes than are kept.
#[test]
fn forwarded_sdus_that_are_lost_are_passed_over_when_their_time_or_the_bytes_are_over() {
    let (mut rx, mut send) = narrow(5, 1 << 20);
    assert_eq!(rx.next_deadline(), Some(FORWARDING_NS));
    (6..100).for_each(|count| assert!(send(&mut rx, count, FORWARDING_NS - 1).is_empty()));
    let mut up = Vec::new();
    rx.advance(FORWARDING_NS, &mut |count, _| up.push(count));
    assert_eq!((up, rx.waiting().0, rx.next_deadline()), ((6..100).collect(), 0, None));
    // From then on the window is short again.
    (101..104).for_each(|count| assert!(send(&mut rx, count, FORWARDING_NS).is_empty()));
    assert_eq!(send(&mut rx, 104, FORWARDING_NS), [101, 102, 103, 104]);
    // Some at the window's end are missing too: they may still come.
    let (mut rx, mut send) = narrow(5, 1 << 20);
    [6, 7, 90, 97, 99].into_iter().for_each(|count| assert!(send(&mut rx, count, 0).is_empty()));
    let mut up = Vec::new();
    rx.advance(FORWARDING_NS, &mut |count, _| up.push(count));
    assert_eq!((up, rx.state().rx_deliv, rx.waiting().0), (vec![6, 7, 90], 96, 2));
    assert_eq!([send(&mut rx, 96, FORWARDING_NS), send(&mut rx, 98, FORWARDING_NS)], [[96, 97], [98, 99]]);
    let (mut rx, mut send) = narrow(5, 9000);
    let first = (6..2000).find_map(|count| send(&mut rx, count, 0).first().copied());
    assert_eq!((first, rx.counters().forced), (Some(6), 1));
}

/// One that the source keeps sending after the UE has had it spends no memory for ever.
#[test]
fn an_sdu_that_is_forwarded_again_and_again_is_named_no_more_often_than_the_window_is_long() {
    let mut tx = Tx::take_over(tx_config(), Downlink { next: 9, ..Downlink::default() }, 0).unwrap();
    let taken = (0..10_000).filter(|_| {
        let taken = tx.forwarded(3, vec![1], 0).is_ok();
        tx.delivered(3);
        taken
    });
    assert_eq!(taken.count(), WINDOW as usize);
}
