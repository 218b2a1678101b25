//! AM, case by case: windows, polls, statuses that lie, and cases that stalled other implementations.

use buffer::status::{Nack, SO_END, SnLength, Status, emit};
use gnb::rlc::am::{Am, AmDrop, Pulled};
use gnb::rlc::am_rx::{AmRx, RxConfig, RxDrop};
use gnb::rlc::am_tx::{AmTx, MAX_PARTS, StatusDrop, TxConfig, TxEvent};
use gnb::rlc::pdu::{Amd, PduFault, Si};
use gnb::rlc::{ConfigError, MAX_SDU, QueueLimits, Refusal};

const MS: u64 = 1_000_000;
const SN: SnLength = SnLength::Bits12;

fn tx_config() -> TxConfig {
    TxConfig {
        sn_length: SN,
        window: 2048,
        queue: QueueLimits { sdus: 4096, bytes: 1 << 24 },
        poll_retransmit_ns: 45 * MS,
        poll_pdu: None,
        poll_byte: None,
        max_retransmissions: 4,
    }
}

fn rx_config() -> RxConfig {
    RxConfig { sn_length: SN, window: 2048, partial_bytes: 1 << 20, reassembly_ns: 35 * MS, status_prohibit_ns: 0 }
}

fn tx() -> AmTx<Vec<u8>> {
    AmTx::new(tx_config()).unwrap()
}

fn rx() -> AmRx {
    AmRx::new(rx_config()).unwrap()
}

/// A sender of `sdus` SDUs of 100 bytes, all sent whole.
fn sent(sdus: u32) -> AmTx<Vec<u8>> {
    let mut tx = tx();
    for tag in 0..sdus {
        tx.enqueue(tag, vec![tag as u8; 100]).unwrap();
        tx.pull(1000, 0, &mut Vec::new()).unwrap();
    }
    tx
}

fn status(ack: u32, nacks: &[Nack]) -> Vec<u8> {
    let mut pdu = Vec::new();
    emit(SN, ack, nacks, &mut pdu);
    pdu
}

fn segment(sn: u32, start: u16, end: u16) -> Nack {
    Nack { sn, range: 1, segment: Some((start, end)) }
}

/// Tags that the status delivers.
fn delivered(tx: &mut AmTx<Vec<u8>>, pdu: &[u8]) -> Vec<u32> {
    let mut tags = Vec::new();
    tx.status(pdu, &mut |event| {
        if let TxEvent::Delivered { tag, .. } = event {
            tags.push(tag);
        }
    })
    .unwrap();
    tags
}

fn refused(tx: &mut AmTx<Vec<u8>>, pdu: &[u8]) -> StatusDrop {
    let (state, has_data) = (*tx.state(), tx.has_data());
    let drop = tx.status(pdu, &mut |event| panic!("{event:?}")).unwrap_err();
    assert_eq!((*tx.state(), tx.has_data()), (state, has_data), "nothing has changed");
    assert_eq!(tx.counters().ignored[drop as usize], 1);
    drop
}

fn amd(sn: u32, poll: bool, data: &[u8]) -> Amd<'_> {
    Amd { poll, si: Si::Whole, sn, so: 0, data }
}

fn pulled_status(rx: &mut AmRx, grant: usize, now_ns: u64) -> Option<(u32, Vec<Nack>)> {
    let mut out = Vec::new();
    let len = rx.pull_status(grant, now_ns, &mut out)?;
    assert!(len == out.len() && len <= grant);
    let read = Status::new_checked(&out, SN).unwrap();
    Some((read.ack_sn(), read.nacks().collect()))
}

fn nothing(_: &[u8]) {}

#[test]
fn timers_of_a_living_entity_change_and_its_numbers_go_on() {
    let mut am: Am<Vec<u8>> = Am::new(tx_config(), rx_config()).unwrap();
    let send = |am: &mut Am<Vec<u8>>, now: u64| {
        am.enqueue(0, vec![1; 100]).unwrap();
        let Some(Pulled::Data(sent)) = am.pull(1000, now, &mut Vec::new()) else { panic!("a PDU") };
        (sent.count, am.next_deadline())
    };
    assert_eq!(send(&mut am, 0), (0, Some(45 * MS)));
    let other = TxConfig { poll_retransmit_ns: 90 * MS, queue: QueueLimits { sdus: 1, bytes: 1 << 20 }, ..tx_config() };
    am.reconfigure(other, RxConfig { reassembly_ns: 10 * MS, ..rx_config() }).unwrap();
    assert_eq!(am.next_deadline(), Some(45 * MS), "one that runs stays");
    assert_eq!(send(&mut am, 0), (1, Some(90 * MS)));
    am.receive(&[0x80, 1, 7], 0, &mut nothing, &mut |_| {}).unwrap();
    assert_eq!(am.next_deadline(), Some(10 * MS), "number 0 is missing");
    am.enqueue(2, vec![1; 100]).unwrap();
    assert_eq!(am.enqueue(3, vec![1; 100]).unwrap_err().reason, Refusal::QueueSdus);
    // What the peer counts on stays as it is.
    for (tx, rx, why) in [
        (TxConfig { window: 1024, ..other }, rx_config(), ConfigError::Window),
        (other, RxConfig { window: 1024, ..rx_config() }, ConfigError::Window),
        (TxConfig { sn_length: SnLength::Bits18, ..other }, RxConfig { sn_length: SnLength::Bits18, ..rx_config() }, ConfigError::SnLength),
        (TxConfig { poll_retransmit_ns: 0, ..other }, rx_config(), ConfigError::PollRetransmit),
    ] {
        assert_eq!(am.reconfigure(tx, rx), Err(why));
    }
}

#[test]
fn a_poll_on_a_pdu_outside_the_window_or_received_before_is_answered() {
    let mut rx = rx();
    for sn in 0..4 {
        rx.receive(&amd(sn, false, b"x"), 0, &mut nothing).unwrap();
    }
    assert_eq!(pulled_status(&mut rx, 100, 0), None);
    // All came, the STATUS was lost, and the peer asks with its last SDU: it is before the window now.
    assert_eq!(rx.receive(&amd(3, true, b"x"), 0, &mut nothing), Err(RxDrop::OutsideWindow));
    assert_eq!(pulled_status(&mut rx, 100, 0), Some((4, vec![])));
    rx.receive(&amd(6, false, b"x"), 0, &mut nothing).unwrap();
    assert_eq!(rx.receive(&amd(6, true, b"x"), 0, &mut nothing), Err(RxDrop::Duplicate));
    assert_eq!(pulled_status(&mut rx, 100, 0), Some((4, vec![])));
}

#[test]
fn a_status_about_an_sdu_under_segmentation_is_processed() {
    let mut tx = tx();
    tx.enqueue(0, vec![1; 100]).unwrap();
    tx.enqueue(1, vec![2; 100]).unwrap();
    tx.pull(200, 0, &mut Vec::new()).unwrap();
    tx.pull(42, 0, &mut Vec::new()).unwrap();
    // SDU 1: bytes 0 to 39 are sent. The peer has only some, and ACK_SN is behind it: that is TX_Next.
    assert_eq!(delivered(&mut tx, &status(2, &[segment(1, 10, SO_END)])), [0]);
    assert_eq!(tx.state().tx_next_ack, 1);
    let mut pdu = Vec::new();
    let sent = tx.pull(1000, 0, &mut pdu).unwrap();
    // What was sent and is missing, and not more of it: bytes 10 to 39.
    assert!(sent.again && !sent.poll);
    assert_eq!(pdu.len(), Amd::header_len(SN, 10) + 30);
    let rest = tx.pull(1000, 0, &mut Vec::new()).unwrap();
    assert!(!rest.again && rest.poll);
    // A NACK of bytes that were not sent yet asks for nothing.
    let mut tx = self::tx();
    tx.enqueue(0, vec![1; 100]).unwrap();
    tx.pull(42, 0, &mut Vec::new()).unwrap();
    assert_eq!(delivered(&mut tx, &status(1, &[segment(0, 40, SO_END)])), [0; 0]);
    assert!(!tx.pull(1000, 0, &mut Vec::new()).unwrap().again);
}

#[test]
fn a_status_that_lies_is_counted_and_changes_nothing() {
    let whole = |pdu: &[u8]| refused(&mut sent(10), pdu);
    assert_eq!(whole(&status(11, &[])), StatusDrop::NotSent);
    assert_eq!(whole(&status(2000, &[])), StatusDrop::NotSent);
    assert_eq!(whole(&status(4000, &[])), StatusDrop::Stale);
    assert_eq!(whole(&status(5, &[Nack { sn: 3, range: 0, segment: Some((0, 1)) }])), StatusDrop::Field);
    assert_eq!(whole(&status(5, &[Nack::of(3)])[..4]), StatusDrop::Length);
    assert_eq!(whole(&[0x80, 0, 0]), StatusDrop::NotStatus);
    // All of an SDU whose last bytes are still here.
    let mut tx = sent(1);
    tx.enqueue(1, vec![0; 100]).unwrap();
    tx.pull(50, 0, &mut Vec::new()).unwrap();
    assert_eq!(refused(&mut tx, &status(2, &[])), StatusDrop::NotSent);
}

/// What is sent again until there is nothing: number, start and end.
fn again(tx: &mut AmTx<Vec<u8>>, sn_length: SnLength) -> Vec<(u32, usize, usize)> {
    let mut parts = Vec::new();
    while tx.has_data() {
        let mut pdu = Vec::new();
        let sent = tx.pull(1000, 0, &mut pdu).unwrap();
        let gnb::rlc::pdu::AmPdu::Data(read) = gnb::rlc::pdu::AmPdu::parse(&pdu, sn_length).unwrap() else { panic!() };
        assert!(sent.again);
        parts.push((read.sn, usize::from(read.so), usize::from(read.so) + read.data.len()));
    }
    parts
}

#[test]
fn a_nack_or_a_segment_out_of_place_costs_neither_ack_sn_nor_the_others() {
    let (run, end) = (|sn, range| Nack { sn, range, segment: None }, 100);
    for (nacks, tags, parts) in [
        // At ACK_SN and behind it (§5.3.2), up to what was sent.
        (vec![Nack::of(5)], vec![0, 1, 2, 3, 4], vec![(5, 0, end)]),
        (vec![run(3, 3)], vec![0, 1, 2], vec![(3, 0, end), (4, 0, end), (5, 0, end)]),
        (vec![Nack::of(1), run(8, 9)], vec![0, 2, 3, 4], vec![(1, 0, end), (8, 0, end), (9, 0, end)]),
        (vec![Nack::of(10), Nack::of(2000)], vec![0, 1, 2, 3, 4], vec![]),
        // Out of order, twice, one in another.
        (vec![Nack::of(3), segment(2, 5, 9)], vec![0, 1, 4], vec![(2, 0, end), (3, 0, end)]),
        (vec![Nack::of(3), Nack::of(3)], vec![0, 1, 2, 4], vec![(3, 0, end)]),
        (vec![run(1, 3), Nack::of(2)], vec![0, 4], vec![(1, 0, end), (2, 0, end), (3, 0, end)]),
        // Of bytes that the SDU has not, or backwards.
        (vec![segment(3, 100, SO_END), segment(4, 10, 19)], vec![0, 1, 2], vec![(3, 0, end), (4, 10, 20)]),
        (vec![segment(3, 0, 100)], vec![0, 1, 2, 4], vec![(3, 0, end)]),
        (vec![segment(3, 5, 4)], vec![0, 1, 2, 4], vec![(3, 0, end)]),
    ] {
        let mut tx = sent(10);
        assert_eq!(delivered(&mut tx, &status(5, &nacks)), tags, "{nacks:?}");
        assert_eq!(again(&mut tx, SN), parts, "{nacks:?}");
        // And then all of it comes.
        assert_eq!(delivered(&mut tx, &status(10, &[])).len() + tags.len(), 10, "{nacks:?}");
    }
}

/// As a UE has sent it: a grant had cut it within the second NACK, and bearers of such UEs stood still for ever.
#[test]
fn a_status_whose_nack_reaches_ack_sn_does_not_stop_the_bearer() {
    let mut tx = AmTx::new(TxConfig { sn_length: SnLength::Bits18, ..tx_config() }).unwrap();
    (0..3).for_each(|tag| tx.enqueue(tag, vec![0; 600]).unwrap());
    while tx.has_data() {
        tx.pull(300, 0, &mut Vec::new()).unwrap();
    }
    let nothing = delivered(&mut tx, &[0x00, 0x00, 0x06, 0x00, 0x00, 0x18, 0x01, 0xe1, 0x00, 0x23, 0x02]);
    assert_eq!((nothing, tx.state().tx_next_ack), (vec![], 0));
    assert_eq!(again(&mut tx, SnLength::Bits18), [(0, 481, 600), (1, 0, 36)]);
    let mut pdu = Vec::new();
    buffer::status::emit(SnLength::Bits18, 3, &[], &mut pdu);
    assert_eq!(delivered(&mut tx, &pdu), [0, 1, 2]);
}

#[test]
fn a_full_window_is_acknowledged_whole() {
    let mut tx = sent(2048);
    tx.enqueue(2048, vec![0; 10]).unwrap();
    assert_eq!(tx.pull(1000, 0, &mut Vec::new()), None);
    assert_eq!((tx.counters().window_full, tx.has_data()), (1, false));
    assert_eq!(delivered(&mut tx, &status(2048, &[])).len(), 2048);
    let sent = tx.pull(1000, 0, &mut Vec::new()).unwrap();
    assert_eq!(sent.count, 2048);
}

#[test]
fn ranges_and_segments_of_one_status_are_sent_again_in_order_and_cut_to_the_grant() {
    let mut tx = sent(20);
    let nacks = [Nack::of(2), segment(5, 10, 19), segment(5, 50, SO_END), Nack { sn: 10, range: 3, segment: Some((90, 4)) }];
    let tags = delivered(&mut tx, &status(18, &nacks));
    assert_eq!(tags, [0, 1, 3, 4, 6, 7, 8, 9, 13, 14, 15, 16, 17]);
    let mut seen = Vec::new();
    while tx.has_data() {
        let mut pdu = Vec::new();
        let sent = tx.pull(64, 0, &mut pdu).unwrap();
        assert!(sent.again && pdu.len() <= 64);
        let gnb::rlc::pdu::AmPdu::Data(read) = gnb::rlc::pdu::AmPdu::parse(&pdu, SN).unwrap() else { panic!() };
        seen.push((read.sn, usize::from(read.so), usize::from(read.so) + read.data.len(), sent.poll));
        assert!(read.data.iter().all(|byte| u32::from(*byte) == read.sn));
    }
    let expected = [
        (2, 0, 62, false),
        (2, 62, 100, false),
        (5, 10, 20, false),
        (5, 50, 100, false),
        (10, 90, 100, false),
        (11, 0, 62, false),
        (11, 62, 100, false),
        (12, 0, 5, true),
    ];
    assert_eq!(seen, expected);
    assert_eq!(tx.state().poll_sn, 19);
}

#[test]
fn polls_come_by_pdus_by_bytes_and_with_the_last_pdu() {
    let polls = |poll_pdu, poll_byte| {
        let mut tx = AmTx::new(TxConfig { poll_pdu, poll_byte, ..tx_config() }).unwrap();
        (0..10).for_each(|tag| tx.enqueue(tag, vec![0; 100]).unwrap());
        (0..10).filter(|_| tx.pull(1000, 0, &mut Vec::new()).unwrap().poll).count()
    };
    assert_eq!(polls(None, None), 1);
    assert_eq!(polls(Some(4), None), 3);
    assert_eq!(polls(None, Some(250)), 4);
    assert_eq!(polls(Some(1), Some(1)), 10);
}

#[test]
fn a_poll_without_answer_is_repeated_with_the_last_sdu_and_a_limit_is_reported_once() {
    let mut tx = sent(3);
    let mut events = Vec::new();
    let mut now = 0;
    for round in 0..8 {
        assert_eq!(tx.next_deadline(), Some(now + 45 * MS));
        now += 45 * MS;
        tx.advance(now - 1, &mut |event| events.push(event));
        assert!(!tx.has_data());
        tx.advance(now, &mut |event| events.push(event));
        let sent = tx.pull(1000, now, &mut Vec::new()).unwrap();
        assert!(sent.poll && sent.again && sent.count == 2, "{round}");
    }
    // RETX_COUNT is 0 the first time.
    assert_eq!(events, [TxEvent::MaxRetransmissions { tag: 2 }]);
    assert_eq!(delivered(&mut tx, &status(3, &[])), [0, 1, 2]);
    assert_eq!(tx.next_deadline(), None);
}

#[test]
fn one_status_counts_an_sdu_once_and_a_pending_one_is_not_counted_again() {
    let mut tx = AmTx::new(TxConfig { max_retransmissions: 1, ..tx_config() }).unwrap();
    tx.enqueue(7, vec![0; 100]).unwrap();
    tx.pull(1000, 0, &mut Vec::new()).unwrap();
    let mut reports = 0;
    let pdu = status(1, &[segment(0, 0, 9), segment(0, 20, 29)]);
    for round in 0..2 {
        for _ in 0..5 {
            tx.status(&pdu, &mut |_| reports += 1).unwrap();
        }
        assert_eq!(reports, round);
        while tx.pull(1000, 0, &mut Vec::new()).is_some() {}
    }
}

#[test]
fn crumbs_asked_for_are_joined_instead_of_kept_apart() {
    let mut tx = sent(1);
    let nacks: Vec<Nack> = (0..49).map(|part| segment(0, 2 * part, 2 * part)).collect();
    tx.status(&status(1, &nacks), &mut |_| {}).unwrap();
    let mut parts = Vec::new();
    let mut pdu = Vec::new();
    while tx.pull(1000, 0, &mut pdu).is_some() {
        parts.push(pdu.len());
        pdu.clear();
    }
    assert_eq!(parts.len(), MAX_PARTS);
    assert_eq!(parts.last(), Some(&(4 + 35)), "up to the last byte asked for");
}

#[test]
fn a_grant_too_small_for_a_byte_sends_nothing_and_spends_no_number() {
    let mut tx = tx();
    tx.enqueue(0, vec![0; 10]).unwrap();
    for grant in 0..3 {
        assert_eq!(tx.pull(grant, 0, &mut Vec::new()), None);
    }
    assert_eq!((tx.state().tx_next, tx.state().pdu_without_poll), (0, 0));
    tx.pull(3, 0, &mut Vec::new()).unwrap();
    for grant in 0..5 {
        assert_eq!(tx.pull(grant, 0, &mut Vec::new()), None);
    }
    assert_eq!(tx.discard(0), None, "a byte of it was sent");
    tx.enqueue(1, vec![0; 10]).unwrap();
    assert_eq!(tx.discard(1), Some(vec![0; 10]));
    assert_eq!(tx.queued(), (0, 0));
}

#[test]
fn a_queue_takes_no_more_than_it_may() {
    let mut tx = AmTx::new(TxConfig { queue: QueueLimits { sdus: 3, bytes: 9216 }, ..tx_config() }).unwrap();
    tx.enqueue(0, vec![0; 9000]).unwrap();
    let refused = tx.enqueue(1, vec![0; 217]).unwrap_err();
    assert_eq!((refused.reason, refused.sdu.len()), (Refusal::QueueBytes, 217));
    tx.enqueue(1, vec![0; 1]).unwrap();
    tx.enqueue(2, vec![0; 1]).unwrap();
    assert_eq!(tx.enqueue(3, vec![0; 1]).unwrap_err().reason, Refusal::QueueSdus);
    assert_eq!((tx.refused(Refusal::QueueBytes), tx.refused(Refusal::QueueSdus)), (1, 1));
}

#[test]
fn a_receiver_takes_nothing_from_outside_its_window_or_its_sdu() {
    let mut rx = AmRx::new(RxConfig { window: 64, partial_bytes: 9216, ..rx_config() }).unwrap();
    let receive = |pdu: &Amd<'_>, rx: &mut AmRx| {
        let state = *rx.state();
        let result = rx.receive(pdu, 0, &mut nothing);
        assert!(result.is_ok() || state == *rx.state(), "a PDU that is dropped changes nothing");
        result
    };
    assert_eq!(receive(&amd(2048, false, b"x"), &mut rx), Err(RxDrop::OutsideWindow));
    assert_eq!(receive(&amd(64, true, b"x"), &mut rx), Err(RxDrop::Limit));
    assert_eq!(pulled_status(&mut rx, 100, 0), Some((0, vec![])), "its poll counts");
    assert_eq!(receive(&amd(1, false, &[0; MAX_SDU + 1]), &mut rx), Err(RxDrop::BeyondSdu));
    let part = |sn, si, so, data| Amd { poll: false, si, sn, so, data };
    assert_eq!(receive(&part(1, Si::Middle, u16::MAX, b"x"), &mut rx), Err(RxDrop::BeyondSdu));
    assert_eq!(rx.partial_bytes(), 0);
    receive(&part(1, Si::Last, 9000, &[0; 100]), &mut rx).unwrap();
    assert_eq!(receive(&part(1, Si::Middle, 9100, b"x"), &mut rx), Err(RxDrop::BeyondSdu));
    assert_eq!(receive(&part(1, Si::Last, 9000, &[0; 99]), &mut rx), Err(RxDrop::BeyondSdu));
    assert_eq!(receive(&part(1, Si::Middle, 9010, b"x"), &mut rx), Err(RxDrop::Duplicate));
    assert_eq!(rx.partial_bytes(), 9100);
    assert_eq!(receive(&part(2, Si::Middle, 200, b"x"), &mut rx), Err(RxDrop::PartialBytes));
    receive(&amd(1, false, b"whole"), &mut rx).unwrap();
    assert_eq!(rx.partial_bytes(), 0);
    assert_eq!(receive(&part(1, Si::First, 0, b"x"), &mut rx), Err(RxDrop::Duplicate));
    assert_eq!(rx.counters().dropped, [1, 1, 2, 4, 0, 1]);
}

#[test]
fn a_status_is_cut_to_its_grant_and_acknowledges_nothing_that_it_does_not_name() {
    let lossy = || {
        let mut rx = rx();
        // Missing: 0, 2 to 4, 6 to 299, and bytes 10 to 19 and from 30 on of 301.
        for sn in [1, 5, 300] {
            rx.receive(&amd(sn, false, b"x"), 0, &mut nothing).unwrap();
        }
        for (si, so) in [(Si::First, 0), (Si::Middle, 20)] {
            rx.receive(&Amd { poll: false, si, sn: 301, so, data: &[0; 10] }, 0, &mut nothing).unwrap();
        }
        rx.advance(35 * MS);
        rx.advance(70 * MS);
        rx
    };
    let all = [
        Nack::of(0),
        Nack { sn: 2, range: 3, segment: None },
        Nack { sn: 6, range: 255, segment: None },
        Nack { sn: 261, range: 39, segment: None },
        segment(301, 10, 19),
        segment(301, 30, SO_END),
    ];
    let mut acks = Vec::new();
    for grant in 0..40 {
        let mut rx = lossy();
        let Some((ack, nacks)) = pulled_status(&mut rx, grant, 70 * MS) else {
            assert!(grant < 3);
            continue;
        };
        acks.push(ack);
        // Either the NACKs of the whole one, or the last one is a range cut to its first SDU.
        let whole = nacks.iter().zip(&all).take_while(|(a, b)| a == b).count();
        assert!(whole == nacks.len() || (whole + 1 == nacks.len() && nacks[whole] == Nack::of(all[whole].sn)), "{nacks:?}");
        if nacks.len() < all.len() {
            let behind = nacks.last().map_or(0, |nack| nack.sn + u32::from(nack.range));
            let missing = |sn: &u32| ![1, 5, 300].contains(sn);
            assert_eq!(ack, (behind..302).find(missing).unwrap_or(302), "the first that is missing and not named");
        }
    }
    assert_eq!((acks[0], acks[acks.len() - 1]), (0, 302));
    assert!(acks.is_sorted());
}

#[test]
fn statuses_keep_their_distance() {
    let mut rx = AmRx::new(RxConfig { status_prohibit_ns: 10 * MS, ..rx_config() }).unwrap();
    rx.receive(&amd(0, true, b"x"), 0, &mut nothing).unwrap();
    assert_eq!(pulled_status(&mut rx, 100, 0), Some((1, vec![])));
    rx.receive(&amd(1, true, b"x"), MS, &mut nothing).unwrap();
    assert_eq!((pulled_status(&mut rx, 100, MS), rx.next_deadline()), (None, Some(10 * MS)));
    assert_eq!(pulled_status(&mut rx, 100, 10 * MS), Some((2, vec![])));
    assert_eq!((pulled_status(&mut rx, 100, 30 * MS), rx.next_deadline()), (None, None));
}

#[test]
fn a_poll_ahead_of_a_gap_is_answered_when_reassembly_has_given_up() {
    let mut rx = rx();
    rx.receive(&amd(2, true, b"x"), 0, &mut nothing).unwrap();
    assert_eq!(pulled_status(&mut rx, 100, 0), None);
    assert_eq!(rx.next_deadline(), Some(35 * MS));
    rx.advance(35 * MS);
    assert_eq!(pulled_status(&mut rx, 100, 35 * MS), Some((3, vec![Nack { sn: 0, range: 2, segment: None }])));
    // Or at once when the gap is closed.
    let mut rx = self::rx();
    for sn in [1, 0] {
        assert!(!rx.status_due(0));
        rx.receive(&amd(sn, sn == 1, b"x"), 0, &mut nothing).unwrap();
    }
    assert_eq!(pulled_status(&mut rx, 100, 0), Some((2, vec![])));
}

#[test]
fn an_entity_sends_a_status_first_and_forgets_everything_when_re_established() {
    let mut am: Am<Vec<u8>> = Am::new(tx_config(), rx_config()).unwrap();
    let mut peer: Am<Vec<u8>> = Am::new(tx_config(), rx_config()).unwrap();
    am.enqueue(0, vec![7; 20]).unwrap();
    peer.enqueue(0, vec![8; 20]).unwrap();
    let mut pdu = Vec::new();
    assert!(matches!(peer.pull(100, 0, &mut pdu), Some(Pulled::Data(_))));
    am.receive(&pdu, 0, &mut nothing, &mut |_| {}).unwrap();
    assert!(am.has_data(0));
    pdu.clear();
    assert_eq!(am.pull(100, 0, &mut pdu), Some(Pulled::Status(3)));
    peer.receive(&pdu, 0, &mut nothing, &mut |event| assert_eq!(event, TxEvent::Delivered { tag: 0, sdu: vec![8; 20] })).unwrap();
    assert_eq!(am.pull(10, 0, &mut pdu).unwrap().bytes(), 10);
    assert_eq!(am.receive(&[0x10], 0, &mut nothing, &mut |_| {}), Err(AmDrop::Pdu(PduFault::ControlType)));
    assert_eq!(am.faults(PduFault::ControlType), 1);
    am.re_establish();
    assert_eq!((am.tx().state().tx_next, am.rx().state().rx_next, am.has_data(0), am.next_deadline()), (0, 0, false, None));
}

#[test]
fn a_configuration_out_of_range_is_refused_by_name() {
    let tx = |change: fn(&mut TxConfig)| {
        let mut config = tx_config();
        change(&mut config);
        AmTx::<Vec<u8>>::new(config).err()
    };
    assert_eq!(tx(|c| c.window = 0), Some(ConfigError::Window));
    assert_eq!(tx(|c| c.window = 2049), Some(ConfigError::Window));
    assert_eq!(tx(|c| c.poll_retransmit_ns = 0), Some(ConfigError::PollRetransmit));
    assert_eq!(tx(|c| c.poll_retransmit_ns = 4001 * MS), Some(ConfigError::Timer("poll_retransmit_ns")));
    assert_eq!(tx(|c| c.poll_pdu = Some(0)), Some(ConfigError::Poll));
    assert_eq!(tx(|c| c.poll_byte = Some(0)), Some(ConfigError::Poll));
    assert_eq!(tx(|c| c.max_retransmissions = 0), Some(ConfigError::MaxRetransmissions));
    assert_eq!(tx(|c| c.queue.sdus = 0), Some(ConfigError::Room("queue")));
    let rx = |change: fn(&mut RxConfig)| {
        let mut config = rx_config();
        change(&mut config);
        AmRx::new(config).err()
    };
    assert_eq!(rx(|c| c.window = 2049), Some(ConfigError::Window));
    assert_eq!(rx(|c| c.partial_bytes = 9215), Some(ConfigError::Room("partial_bytes")));
    assert_eq!(rx(|c| c.reassembly_ns = 4001 * MS), Some(ConfigError::Timer("reassembly_ns")));
    assert_eq!(rx(|c| c.status_prohibit_ns = u64::MAX), Some(ConfigError::Timer("status_prohibit_ns")));
    let other = RxConfig { sn_length: SnLength::Bits18, ..rx_config() };
    assert_eq!(Am::<Vec<u8>>::new(tx_config(), other).err(), Some(ConfigError::SnLength));
    assert_eq!(ConfigError::Timer("reassembly_ns").to_string(), "reassembly_ns: expected at most 4 s");
}
