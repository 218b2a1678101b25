//! What does the worst that a peer or a sender may do cost, and what does the buffer do at the edges of windows and time?

use buffer::rlc::{BearerConfig, BearerError, Key};
use buffer::status::{Nack, SO_END, SnLength, emit};
use buffer::{Event, Limits, Payload, Reason, RlcBuffer};

#[derive(Debug, PartialEq, Eq, Clone, Copy)]
struct Item(usize);

impl Payload for Item {
    fn sdu_bytes(&self) -> usize {
        self.0
    }
}

const UNLIMITED: Limits = Limits { packets: usize::MAX, bytes: u64::MAX };

fn config(sn_length: SnLength) -> BearerConfig {
    BearerConfig {
        sn_length,
        window: sn_length.window(),
        bytes: u64::MAX,
        poll_retransmit_ms: 45,
        poll_pdu: None,
        poll_byte: None,
        max_retransmissions: 8,
    }
}

/// One bearer with the first `count` numbers kept.
fn filled(sn_length: SnLength, count: u32) -> RlcBuffer<Item> {
    let mut buffer = RlcBuffer::new(1, UNLIMITED);
    buffer.add(0, config(sn_length)).unwrap();
    for sn in 0..count {
        buffer.keep(0, sn, Item(1400), false, 0).unwrap();
    }
    buffer
}

fn pdu(sn_length: SnLength, ack_sn: u32, nacks: &[Nack]) -> Vec<u8> {
    let mut pdu = Vec::new();
    emit(sn_length, ack_sn, nacks, &mut pdu);
    pdu
}

/// Steps that a status took.
fn steps(buffer: &mut RlcBuffer<Item>, pdu: &[u8]) -> u64 {
    let before = buffer.counters().steps;
    let _ = buffer.status(0, pdu, &mut |_| {});
    buffer.counters().steps - before
}

#[test]
fn a_status_costs_its_nacks_and_the_packets_that_it_frees_or_names_not_the_window() {
    let length = SnLength::Bits18;
    let window = length.window();
    // Every second packet is missing: 64 KB of single NACKs.
    let mut buffer = filled(length, window);
    let nacks: Vec<Nack> = (0..21_800).map(|at| Nack::of(2 * at)).collect();
    let long = pdu(length, 43_600, &nacks);
    assert!(long.len() > 65_000);
    let (named, freed) = (21_800, 21_800);
    assert_eq!(steps(&mut buffer, &long), 2 * 21_800 + named + freed);
    // The same again frees nothing and walks over nothing but what it names.
    let again = steps(&mut buffer, &long);
    assert_eq!(again, 2 * 21_800 + named);
    // One is still missing, the others are freed; then nothing is left to do.
    assert_eq!(steps(&mut buffer, &pdu(length, 43_600, &[Nack::of(0)])), 2 + 1 + 21_799);
    assert_eq!(steps(&mut buffer, &pdu(length, 0, &[])), 0);

    // Ranges name 255 packets in five bytes, each packet once.
    let mut buffer = filled(length, window);
    let ranges: Vec<Nack> = (0..514).map(|at| Nack { sn: 255 * at, range: 255, segment: None }).collect();
    let worst = pdu(length, 514 * 255, &ranges);
    assert_eq!(steps(&mut buffer, &worst), 2 * 514 + 514 * 255);
    // Out of order, they are put in order, and each packet is named once.
    let backwards: Vec<Nack> = ranges.iter().rev().copied().collect();
    assert_eq!(steps(&mut buffer, &pdu(length, 514 * 255, &backwards)), 514 + 1 + 514 * 255);
    // Sixteen thousand segments of one packet.
    let mut buffer = filled(length, 2);
    let segments = vec![Nack { sn: 0, range: 1, segment: Some((7, SO_END)) }; 9_300];
    let segments = pdu(length, 2, &segments);
    assert!(segments.len() > 64_000);
    assert_eq!(steps(&mut buffer, &segments), 2 * 9_300 + 1 + 1);
}

#[test]
fn a_gap_of_a_whole_window_costs_nothing_to_acknowledge() {
    let length = SnLength::Bits18;
    let mut buffer = filled(length, 1);
    buffer.keep(0, length.window() - 1, Item(1), false, 0).unwrap();
    assert_eq!(steps(&mut buffer, &pdu(length, length.window(), &[])), 2);
    assert_eq!(buffer.packets(), 0);
}

#[test]
fn timers_cost_the_bearers_that_are_due_and_one_look_at_each_slot_after_a_long_time() {
    let bearers = 16_384;
    let mut buffer = RlcBuffer::new(bearers, UNLIMITED);
    for bearer in 0..bearers as u32 {
        buffer.add(bearer, BearerConfig { window: 4, ..config(SnLength::Bits12) }).unwrap();
        buffer.keep(bearer, 0, Item(100), true, 0).unwrap();
    }
    buffer.advance(44_999_999, &mut |_| {});
    assert_eq!(buffer.counters().expired, 0, "never early");
    buffer.advance(45_000_000, &mut |_| {});
    assert_eq!(buffer.counters().expired, bearers as u64);
    // The end of time: no bearer is looked at for each of the ticks between.
    let mut seen = std::collections::BTreeSet::new();
    while let Some(sent) = buffer.next_retransmission(50_000_000) {
        assert!(sent.poll);
        assert!(seen.insert(sent.key.bearer), "each bearer has its turn");
    }
    assert_eq!(seen.len(), bearers);
    buffer.advance(u64::MAX, &mut |_| {});
    assert_eq!(buffer.counters().expired, 2 * bearers as u64);
    buffer.keep(0, 1, Item(1), true, u64::MAX).unwrap();
    buffer.advance(u64::MAX, &mut |_| {});
    buffer.advance(0, &mut |_| {});
}

/// What is sent again: number, start and end.
fn again(buffer: &mut RlcBuffer<Item>) -> Vec<(u32, usize, usize)> {
    std::iter::from_fn(|| buffer.next_retransmission(0).map(|of| (of.key.sn, of.start, of.end))).collect()
}

/// As a UE has sent it: a grant had cut it within the second NACK, and bearers of such UEs stood still for ever.
#[test]
fn a_status_whose_nack_reaches_ack_sn_does_not_stop_the_bearer() {
    let mut buffer = RlcBuffer::new(1, UNLIMITED);
    buffer.add(0, config(SnLength::Bits18)).unwrap();
    for sn in 0..3 {
        buffer.keep(0, sn, Item(600), sn == 2, 0).unwrap();
    }
    let cut = [0x00, 0x00, 0x06, 0x00, 0x00, 0x18, 0x01, 0xe1, 0x00, 0x23, 0x02];
    let report = buffer.status(0, &cut, &mut |event| panic!("{event:?}")).unwrap();
    assert_eq!((report.nacked, report.acknowledged), (2, 0));
    assert_eq!(again(&mut buffer), [(0, 481, 600), (1, 0, 36)]);
    let mut acknowledged = 0;
    buffer.status(0, &pdu(SnLength::Bits18, 3, &[]), &mut |_| acknowledged += 1).unwrap();
    assert_eq!(acknowledged, 3);
}

#[test]
fn a_nack_or_a_segment_out_of_place_costs_neither_ack_sn_nor_the_others() {
    let run = |sn, range| Nack { sn, range, segment: None };
    let part = |sn, start, end| Nack { sn, range: 1, segment: Some((start, end)) };
    let all = 1400;
    for (nacks, acknowledged, parts) in [
        (vec![run(3, 3)], 3, vec![(3, 0, all), (4, 0, all), (5, 0, all)]),
        (vec![run(1, 1), run(8, 9)], 4, vec![(1, 0, all), (8, 0, all), (9, 0, all)]),
        (vec![run(10, 1), run(2000, 1)], 5, vec![]),
        (vec![run(3, 1), part(2, 5, 9)], 3, vec![(2, 0, all), (3, 0, all)]),
        (vec![run(1, 3), run(2, 1)], 2, vec![(1, 0, all), (2, 0, all), (3, 0, all)]),
        (vec![part(3, 1400, SO_END), part(4, 10, 19)], 3, vec![(3, 0, all), (4, 10, 20)]),
        (vec![part(3, 5, 4)], 4, vec![(3, 0, all)]),
    ] {
        let mut buffer = filled(SnLength::Bits12, 10);
        let report = buffer.status(0, &pdu(SnLength::Bits12, 5, &nacks), &mut |_| {}).unwrap();
        assert_eq!((report.acknowledged, again(&mut buffer)), (acknowledged, parts), "{nacks:?}");
        // And then all of it comes.
        let report = buffer.status(0, &pdu(SnLength::Bits12, 10, &[]), &mut |_| {}).unwrap();
        assert_eq!(report.acknowledged + acknowledged, 10, "{nacks:?}");
    }
}

#[test]
fn a_nack_far_behind_ack_sn_costs_no_walk_over_the_window() {
    let length = SnLength::Bits18;
    let mut buffer = filled(length, length.window());
    let far = pdu(length, 0, &[Nack { sn: length.window() - 300, range: 255, segment: None }]);
    assert!(steps(&mut buffer, &far) <= 2 + 2 * 255);
    assert_eq!(again(&mut buffer).len(), 255);
}

#[test]
fn a_poll_restarts_the_timer_and_a_status_about_it_stops_it() {
    let length = SnLength::Bits12;
    let mut buffer = filled(length, 3);
    buffer.keep(0, 3, Item(9), true, 10_000_000).unwrap();
    // Restarted 20 ms later.
    buffer.keep(0, 4, Item(9), true, 30_000_000).unwrap();
    buffer.advance(55_000_000, &mut |_| {});
    assert_eq!(buffer.counters().expired, 0);
    // POLL_SN is 4. A status up to 4 says nothing about it.
    buffer.status(0, &pdu(length, 4, &[]), &mut |_| {}).unwrap();
    buffer.advance(75_000_000, &mut |_| {});
    assert_eq!(buffer.counters().expired, 1);
    let sent = buffer.next_retransmission(76_000_000).unwrap();
    assert_eq!((sent.key.sn, sent.start, sent.end, sent.poll), (4, 0, 9, true));
    // A negative acknowledgement of POLL_SN stops it too.
    buffer.status(0, &pdu(length, 5, &[Nack::of(4)]), &mut |_| {}).unwrap();
    buffer.advance(10_000_000_000, &mut |_| {});
    assert_eq!(buffer.counters().expired, 1);
}

#[test]
fn a_stalled_bearer_polls_although_nothing_was_polled_before() {
    let mut buffer = RlcBuffer::new(1, Limits { packets: 2, bytes: u64::MAX });
    buffer.add(0, config(SnLength::Bits12)).unwrap();
    for sn in 0..2 {
        assert!(!buffer.keep(0, sn, Item(5), false, 0).unwrap().poll);
    }
    assert_eq!(buffer.keep(0, 2, Item(5), false, 1_000_000).unwrap_err().reason, Reason::Packets);
    buffer.advance(46_000_000, &mut |_| {});
    assert!(buffer.next_retransmission(46_000_000).unwrap().poll);
}

#[test]
fn a_full_window_of_all_numbers_is_acknowledged_to_its_end() {
    for length in [SnLength::Bits12, SnLength::Bits18] {
        let mut buffer = filled(length, length.window());
        assert_eq!(buffer.keep(0, length.window(), Item(1), false, 0).unwrap_err().reason, Reason::Window);
        let mut order = Vec::new();
        buffer
            .status(0, &pdu(length, length.window(), &[]), &mut |event| match event {
                Event::Acknowledged { key, .. } => order.push(key.sn),
                other => panic!("{other:?}"),
            })
            .unwrap();
        assert!(order.into_iter().eq(0..length.window()));
        buffer.keep(0, length.window(), Item(1), false, 0).unwrap();
    }
}

#[test]
fn too_many_retransmissions_are_indicated_once_and_the_packet_is_kept() {
    let length = SnLength::Bits12;
    let mut buffer = filled(length, 2);
    let mut indicated = Vec::new();
    for round in 0..20 {
        buffer
            .status(0, &pdu(length, 2, &[Nack::of(0)]), &mut |event| {
                if let Event::MaxRetransmissions { key } = event {
                    indicated.push((round, key));
                }
            })
            .unwrap();
        // Twice in one round, and while it is pending, counts once.
        buffer.status(0, &pdu(length, 2, &[Nack::of(0)]), &mut |_| {}).unwrap();
        assert_eq!(buffer.next_retransmission(0).unwrap().key.sn, 0);
    }
    // RETX_COUNT is 0 the first time, and 8 the ninth.
    assert_eq!(indicated, [(8, Key { bearer: 0, sn: 0 })]);
    assert_eq!(buffer.packets(), 1);
}

#[test]
fn parameters_out_of_range_are_refused() {
    let mut buffer: RlcBuffer<Item> = RlcBuffer::new(1, UNLIMITED);
    let good = config(SnLength::Bits12);
    for (bad, error) in [
        (BearerConfig { window: 0, ..good }, BearerError::Window),
        (BearerConfig { window: 2049, ..good }, BearerError::Window),
        (BearerConfig { poll_retransmit_ms: 0, ..good }, BearerError::PollRetransmit),
        (BearerConfig { poll_retransmit_ms: 4001, ..good }, BearerError::PollRetransmit),
        (BearerConfig { poll_pdu: Some(0), ..good }, BearerError::Poll),
        (BearerConfig { poll_byte: Some(0), ..good }, BearerError::Poll),
        (BearerConfig { max_retransmissions: 0, ..good }, BearerError::MaxRetransmissions),
    ] {
        assert_eq!(buffer.add(0, bad), Err(error));
    }
    assert_eq!(buffer.add(1, good), Err(BearerError::Number));
    assert_eq!(buffer.add(0, good), Ok(()));
    assert_eq!(buffer.add(0, good), Err(BearerError::Exists));
}

#[test]
fn touching_takes_any_key_and_changes_nothing() {
    let mut buffer = filled(SnLength::Bits12, 5);
    let before = *buffer.counters();
    let keys = [(0, 5), (0, u32::MAX), (1, 0), (u32::MAX, 7)].map(|(bearer, sn)| Key { bearer, sn });
    buffer.touch(&keys);
    assert_eq!((*buffer.counters(), buffer.bearer(0)), (before, Some((5, 7000, 0))));
    buffer.keep(0, 5, Item(1), false, 0).unwrap();
}

#[test]
fn a_packets_bytes_stay_where_they_are() {
    let mut buffer = RlcBuffer::new(1, UNLIMITED);
    buffer.add(0, config(SnLength::Bits12)).unwrap();
    let packet = base::Packet::new(&[7; 1400], base::PortId(1));
    let at = packet.data().as_ptr();
    buffer.keep(0, 0, packet, false, 0).unwrap();
    let status = pdu(SnLength::Bits12, 1, &[Nack { sn: 0, range: 1, segment: Some((100, 199)) }]);
    buffer.status(0, &status, &mut |_| {}).unwrap();
    let sent = buffer.next_retransmission(0).unwrap();
    assert_eq!((sent.start, sent.end, sent.packet.data().as_ptr()), (100, 200, at));
    let mut freed = None;
    buffer
        .status(0, &pdu(SnLength::Bits12, 1, &[]), &mut |event| match event {
            Event::Acknowledged { packet, .. } => freed = Some(packet),
            other => panic!("{other:?}"),
        })
        .unwrap();
    assert_eq!(freed.unwrap().data().as_ptr(), at);
}
