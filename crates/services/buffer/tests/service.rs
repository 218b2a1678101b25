//! Does the buffer keep, send, acknowledge, retransmit and discard through the seam, the same in each place?

use base::{Packet, PortId};
use buffer::rlc::BearerConfig;
use buffer::service::*;
use buffer::status::{Nack, SnLength, emit};
use buffer::{Limits, Reason as Why};
use service::caller::{Make, Rings};
use service::{Call, Caller, Deployment, Outcome, Place, Reason, SettingError};
use std::cell::Cell;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);
const MS: u64 = 1_000_000;
const FRONT: usize = 10;

const CONFIG: BearerConfig = BearerConfig {
    sn_length: SnLength::Bits12,
    window: 64,
    bytes: 10_000,
    poll_retransmit_ms: 45,
    poll_pdu: Some(4),
    poll_byte: None,
    max_retransmissions: 2,
};

fn make() -> Make {
    Arc::new(|| Box::new(BufferService::new(8, Limits { packets: 100, bytes: 1 << 20 })))
}

fn call(operation: u8, bearer: u32, sn: u32, payload: &[u8], tag: u32) -> Call {
    let packet = Packet::new(&[&[0xab; FRONT], payload].concat(), PortId(1));
    Call::new(packet, FRONT, Request::new(operation, bearer, sn).fields(), tag)
}

fn status(bearer: u32, ack_sn: u32, nacks: &[Nack]) -> Call {
    let mut pdu = Vec::new();
    emit(SnLength::Bits12, ack_sn, nacks, &mut pdu);
    call(STATUS, bearer, 0, &pdu, 1000)
}

struct World {
    caller: Caller,
    now_ns: u64,
}

impl World {
    /// Gives a call in and takes `n` that come out, at once or later: tag, outcome, answer, and whether the bytes in front are as they were.
    fn give(&mut self, call: Call, n: usize) -> Vec<(u32, Outcome, Option<Answer>)> {
        let mut burst = [call];
        self.caller.call(&mut burst, self.now_ns);
        let [call] = burst;
        let mut out: Vec<Call> = [call].into_iter().filter(|call| call.outcome != Outcome::Kept).collect();
        self.take(&mut out, n)
    }

    fn take(&mut self, out: &mut Vec<Call>, n: usize) -> Vec<(u32, Outcome, Option<Answer>)> {
        let end = Instant::now() + PATIENCE;
        loop {
            self.caller.poll(self.now_ns, out);
            if out.len() >= n {
                break;
            }
            assert!(Instant::now() < end, "{} of {n} came out", out.len());
            std::thread::yield_now();
        }
        let read = |call: Call| {
            assert!(call.packet.data().starts_with(&[0xab; FRONT]), "what is in front is the caller's");
            let answered = matches!(call.outcome, Outcome::Answered | Outcome::Copy);
            (call.tag, call.outcome, answered.then(|| Answer::read(&call.fields)))
        };
        out.drain(..).map(read).collect()
    }
}

fn answer(event: u8, bearer: u32, sn: u32, (start, end): (u16, u16), flags: u8) -> Option<Answer> {
    Some(Answer { event, bearer, sn, start, end, flags })
}

fn story(place: &Place) {
    let deployment = Deployment::new(place, make(), Rings::default()).unwrap();
    let setting = bearer_setting(&CONFIG);
    deployment.set(3, Some(setting.clone().into())).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let mut w = World { caller: deployment.caller(), now_ns: MS };
        if let Place::Process(path) = place {
            scope.spawn(|| service::process::serve(path, &make(), &stop).unwrap());
            let end = Instant::now() + PATIENCE;
            while w.give(call(99, 0, 0, b"", 0), 1)[0].1 == Outcome::Dropped(Reason::DOWN) {
                assert!(Instant::now() < end, "nobody came");
                w.now_ns += 10 * MS;
            }
        }
        let dropped = |why: Why| Outcome::Dropped(Reason::own(why as usize));
        // Kept, and nothing comes of it yet.
        assert_eq!(w.give(call(KEEP, 3, 0, b"zero", 10), 0), []);
        assert_eq!(w.give(call(KEEP, 3, 1, b"one", 11), 0), []);
        // Sent by the buffer: a copy, and the fourth packet is due for a poll.
        assert_eq!(w.give(call(SEND, 3, 2, b"second", 12), 1), [(12, Outcome::Copy, answer(SENT, 3, 2, (0, 6), 0))]);
        assert_eq!(w.give(call(SEND, 3, 3, b"third", 13), 1), [(13, Outcome::Copy, answer(SENT, 3, 3, (0, 5), POLL))]);
        // What the buffer does not take.
        assert_eq!(w.give(call(KEEP, 3, 1, b"again", 14), 1), [(14, dropped(Why::OutOfOrder), None)]);
        assert_eq!(w.give(call(KEEP, 4, 0, b"nobody's", 15), 1), [(15, dropped(Why::NoBearer), None)]);
        assert_eq!(w.give(call(KEEP, 77, 0, b"nobody's", 15), 1), [(15, dropped(Why::NoBearer), None)]);
        assert_eq!(w.give(call(9, 3, 0, b"", 16), 1), [(16, Outcome::Dropped(Reason::MALFORMED), None)]);
        assert_eq!(w.give(call(STATUS, 3, 0, &[0x80], 17), 1)[0].1, Outcome::Dropped(Reason::own(11)), "status_length");
        // 0 and 2 are there, 1 is not: two come out, one goes again, as the last that is pending with a poll.
        let mut out = w.give(status(3, 3, &[Nack::of(1)]), 4);
        assert_eq!(out.remove(0), (1000, Outcome::Answered, answer(REPORT, 3, 2, (1, 0), 0)));
        let expected = [
            (10, Outcome::Answered, answer(ACKNOWLEDGED, 3, 0, (0, 0), 0)),
            (12, Outcome::Answered, answer(ACKNOWLEDGED, 3, 2, (0, 0), 0)),
            (11, Outcome::Copy, answer(RETRANSMISSION, 3, 1, (0, 3), POLL)),
        ];
        assert_eq!(out, expected);
        // No status: the last one goes again when the timer expires, and the third time it says that it is too often.
        for _ in 0..2 {
            w.now_ns += 50 * MS;
            let out = w.take(&mut Vec::new(), 1);
            assert_eq!(out, [(13, Outcome::Copy, answer(RETRANSMISSION, 3, 3, (0, 5), POLL))]);
        }
        w.now_ns += 50 * MS;
        let out = w.take(&mut Vec::new(), 1);
        assert_eq!(out, [(13, Outcome::Copy, answer(RETRANSMISSION, 3, 3, (0, 5), POLL | MAX_RETRANSMISSIONS))]);
        // The same setting again changes nothing; a removed bearer gives back what it kept.
        deployment.set(3, Some(setting.clone().into())).unwrap();
        assert_eq!(w.give(call(KEEP, 3, 4, b"last", 18), 0), []);
        deployment.set(3, None).unwrap();
        let mut out = w.take(&mut Vec::new(), 3);
        out.sort_by_key(|(tag, ..)| *tag);
        assert_eq!(out, [11, 13, 18].map(|tag| (tag, dropped(Why::Removed), None)));
        let counters = deployment.counters();
        assert_eq!((counters.imbalance(), counters.waiting(), counters.copies), (0, 0, 6));
        stop.store(true, Relaxed);
    });
}

/// An SDU that the buffer numbers and keeps a copy of, with headers of the program's in front of it.
fn next_of(place: u32, segment_bytes: u16, payload: &[u8], tag: u32) -> Call {
    let packet = Packet::new(&[&[0xab; FRONT], payload].concat(), PortId(1));
    let request = Request { prefix_bytes: 3, prefix: u32::from_be_bytes(*b"-HDR"), segment_bytes, ..Request::new(NEXT, 3, place) };
    Call::new(packet, FRONT, request.fields(), tag)
}

/// What comes of a call at once and by polls: of the packet itself its answer, of packets of the service's own their bytes too.
fn own_packets(place: &Place) {
    let deployment = Deployment::new(place, make(), Rings::default()).unwrap();
    deployment.set(3, Some(bearer_setting(&BearerConfig { window: 2, poll_pdu: None, ..CONFIG }).into())).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let (mut caller, now_ns) = (deployment.caller(), Cell::new(MS));
        let mut give = |call: Call, n: usize| -> Vec<(u32, Outcome, Answer, Vec<u8>)> {
            let mut burst = [call];
            caller.call(&mut burst, now_ns.get());
            let [call] = burst;
            let mut out: Vec<Call> = [call].into_iter().filter(|call| call.outcome != Outcome::Kept).collect();
            let end = Instant::now() + PATIENCE;
            while out.len() < n {
                caller.poll(now_ns.get(), &mut out);
                assert!(Instant::now() < end, "{} of {n} came out", out.len());
                std::thread::yield_now();
            }
            let own = |call: &Call| if call.tag == Call::OWN_TAG { call.payload().to_vec() } else { Vec::new() };
            out.iter().map(|call| (call.tag, call.outcome, Answer::read(&call.fields), own(call))).collect()
        };
        if let Place::Process(path) = place {
            scope.spawn(|| service::process::serve(path, &make(), &stop).unwrap());
            let end = Instant::now() + PATIENCE;
            while give(call(99, 0, 0, b"", 0), 1)[0].1 == Outcome::Dropped(Reason::DOWN) {
                assert!(Instant::now() < end, "nobody came");
                now_ns.set(now_ns.get() + 10 * MS);
            }
        }
        let sent = |sn, end, flags| Answer { event: SENT, bearer: 3, sn, start: 0, end, flags };
        assert_eq!(give(next_of(0, 0, b"first", 1), 1), [(1, Outcome::Answered, sent(0, 8, 0), vec![])]);
        // The second fills the window, so that a poll is due.
        assert_eq!(give(next_of(1, 0, b"2nd", 2), 1), [(2, Outcome::Answered, sent(1, 6, POLL), vec![])]);
        let dropped = give(next_of(2, 0, b"3rd", 3), 1);
        assert_eq!(dropped[0].1, Outcome::Dropped(Reason::own(Why::Window as usize)), "it has spent no number");
        let own = |event, sn, (start, end), flags, bytes: &[u8]| {
            (Call::OWN_TAG, Outcome::Copy, Answer { event, bearer: 3, sn, start, end, flags }, bytes.to_vec())
        };
        // The second is missing: it comes again, whole, without the caller's bytes in front. Of the first nothing comes out.
        let again = give(status(3, 2, &[Nack::of(1)]), 2);
        assert_eq!(again[1..], [own(RETRANSMISSION, 1, (0, 6), POLL, b"HDR2nd")]);
        // In segments; and again as far as it is missing, headers being bytes like others.
        let segments = give(next_of(2, 4, b"abcdefgh", 4), 4);
        let part = |event, range, flags, bytes: &[u8]| own(event, 2, range, PART | flags, bytes);
        let in_segments = (4, Outcome::Answered, Answer { event: IN_SEGMENTS, ..sent(2, 11, POLL) }, vec![]);
        let parts = [part(SENT, (0, 6), MORE, b"HDRabc"), part(SENT, (6, 10), MORE, b"defg"), part(SENT, (10, 11), POLL, b"h")];
        // Elsewhere they may be out ahead of the answer.
        let (own, answer): (Vec<_>, Vec<_>) = segments.into_iter().partition(|(tag, ..)| *tag == Call::OWN_TAG);
        assert_eq!((&own[..], &answer[..]), (&parts[..], &[in_segments][..]));
        let missing = [Nack { sn: 2, range: 1, segment: Some((1, 7)) }];
        let again = give(status(3, 3, &missing), 3);
        let expected = [part(RETRANSMISSION, (1, 5), MORE, b"DRab"), part(RETRANSMISSION, (5, 8), MORE | POLL, b"cde")];
        assert_eq!(again[1..], expected);
        give(status(3, 3, &[]), 1);
        let counters = deployment.counters();
        assert_eq!((counters.imbalance(), counters.waiting()), (0, 0));
        stop.store(true, Relaxed);
    });
}

#[test]
fn what_the_buffer_sends_of_copies_are_packets_of_its_own_in_each_place() {
    own_packets(&Place::Lane);
    own_packets(&Place::Threads(1));
    own_packets(&Place::Threads(3));
    let folder = tempfile::tempdir().unwrap();
    own_packets(&Place::Process(folder.path().join("buffer.sock")));
}

#[test]
fn packets_that_are_only_cut_are_numbered_from_the_requests_number_on() {
    let deployment = Deployment::new(&Place::Lane, make(), Rings::default()).unwrap();
    let mut caller = deployment.caller();
    let mut cut = |sn: u32| -> Vec<(u32, Vec<u8>)> {
        let request = Request { segment_bytes: 4, prefix_bytes: 1, prefix: b'H'.into(), ..Request::new(CUT, 5, sn) };
        let mut burst = [Call::new(Packet::new(b"abcdefgh", PortId(1)), 0, request.fields(), 7)];
        caller.call(&mut burst, MS);
        assert_eq!((burst[0].outcome, burst[0].fields[0]), (Outcome::Answered, IN_SEGMENTS));
        let mut out = Vec::new();
        caller.poll(MS, &mut out);
        out.iter().map(|call| (Answer::read(&call.fields).sn, call.payload().to_vec())).collect()
    };
    let parts = |sn| vec![(sn, b"Habcde".to_vec()), (sn, b"fgh".to_vec())];
    assert_eq!((cut(60), cut(60), cut(60)), (parts(60), parts(61), parts(62)));
    // Another bearer has the number from now on.
    deployment.set(5, None).unwrap();
    assert_eq!(cut(0), parts(0));
    let counters = deployment.counters();
    assert_eq!((counters.imbalance(), counters.waiting(), counters.copies), (0, 0, 8));
}

/// Segments as they come out: answer and payload.
fn segments(place: &Place) {
    let deployment = Deployment::new(place, make(), Rings::default()).unwrap();
    deployment.set(3, Some(bearer_setting(&BearerConfig { poll_pdu: None, ..CONFIG }).into())).unwrap();
    let mut caller = deployment.caller();
    let request = Request { flags: POLL, prefix_bytes: 4, segment_bytes: 10, ..Request::new(SEND, 3, 0) };
    let call_of = |request: Request, payload: &[u8], tag| {
        Call::new(Packet::new(&[&[0xab; FRONT], payload].concat(), PortId(1)), FRONT, request.fields(), tag)
    };
    let mut give = |call: Call, n: usize| -> Vec<(Option<Answer>, Vec<u8>)> {
        let mut burst = [call];
        caller.call(&mut burst, MS);
        let [call] = burst;
        let mut out: Vec<Call> = [call].into_iter().filter(|call| call.outcome != Outcome::Kept).collect();
        let end = Instant::now() + PATIENCE;
        while out.len() < n {
            caller.poll(MS, &mut out);
            assert!(Instant::now() < end, "{} of {n} came out", out.len());
            std::thread::yield_now();
        }
        out.iter().map(|call| (Some(Answer::read(&call.fields)), call.payload().to_vec())).collect()
    };
    let sdu = b"abcdefghijklmnopqrstuvwxyz";
    let part = |event, sn, (start, end), flags, payload: &[u8]| (answer(event, 3, sn, (start, end), PART | flags), payload.to_vec());
    // 4 bytes of headers and 26 of payload: 12 in the first PDU, which has no segment offset, 10 in others. The last one polls.
    let first = give(call_of(request, sdu, 1), 3);
    let expected = [
        part(SENT, 0, (0, 12), MORE, b"abcdefgh"),
        part(SENT, 0, (12, 22), MORE, b"ijklmnopqr"),
        part(SENT, 0, (22, 30), POLL, b"stuvwxyz"),
    ];
    assert_eq!(first, expected);
    // The peer misses bytes 15 to 27, and 2 of another packet: headers go whole.
    give(call_of(Request { sn: 1, ..request }, b"ABCDEFGHIJ", 2), 2);
    let missing = [Nack { sn: 0, range: 1, segment: Some((15, 27)) }, Nack { sn: 1, range: 1, segment: Some((1, 2)) }];
    let again = give(status(3, 2, &missing), 4);
    let expected = [
        part(RETRANSMISSION, 0, (15, 25), MORE, b"lmnopqrstu"),
        part(RETRANSMISSION, 0, (25, 28), MORE, b"vwx"),
        part(RETRANSMISSION, 1, (0, 5), MORE | POLL, b"A"),
    ];
    assert_eq!(again[1..], expected);
    let counters = deployment.counters();
    assert_eq!((counters.imbalance(), counters.waiting()), (0, 2));
}

#[test]
fn an_sdu_longer_than_a_pdu_comes_out_in_segments_and_again_as_far_as_it_is_missing() {
    segments(&Place::Lane);
    segments(&Place::Threads(1));
}

#[test]
fn places_are_reserved_until_their_packets_come_or_later_ones_do() {
    let deployment = Deployment::new(&Place::Lane, make(), Rings::default()).unwrap();
    let room = |payload: &[u8], tag| call(ROOM, 3, 77, payload, tag);
    let mut w = World { caller: deployment.caller(), now_ns: MS };
    let dropped = |why: Why| Outcome::Dropped(Reason::own(why as usize));
    assert_eq!(w.give(room(b"sdu", 1), 1), [(1, dropped(Why::NoBearer), None)]);
    deployment.set(3, Some(bearer_setting(&BearerConfig { window: 3, bytes: 100, poll_pdu: None, ..CONFIG }).into())).unwrap();
    assert_eq!(w.give(room(&[0; 101], 2), 1), [(2, dropped(Why::BearerBytes), None)]);
    let has_room = |tag, number| [(tag, Outcome::Answered, answer(HAS_ROOM, 3, number, (0, 0), 0))];
    assert_eq!(w.give(room(&[0; 40], 3), 1), has_room(3, 0));
    assert_eq!(w.give(room(&[0; 40], 4), 1), has_room(4, 1));
    assert_eq!(w.give(room(&[0; 40], 5), 1), [(5, dropped(Why::BearerBytes), None)], "80 of 100 are taken");
    assert_eq!(w.give(room(&[0; 10], 6), 1), has_room(6, 2));
    assert_eq!(w.give(room(b"", 7), 1), [(7, dropped(Why::Window), None)], "three of three are taken");
    // The first did not come, so the second has its number with the peer; of three places one is left.
    assert_eq!(w.give(next_of(1, 0, b"sdu", 8), 1), [(8, Outcome::Answered, answer(SENT, 3, 0, (0, 6), 0))]);
    assert_eq!(w.give(room(b"", 9), 1), has_room(9, 3));
    assert_eq!(w.give(room(b"", 10), 1), [(10, dropped(Why::Window), None)]);
    assert_eq!(w.give(next_of(3, 0, b"sdu", 11), 1), [(11, Outcome::Answered, answer(SENT, 3, 1, (0, 6), 0))]);
    assert_eq!(w.give(room(&[0; 80], 12), 1), has_room(12, 4));
    // Of what waits at both ends of the bearer nothing comes any more: the peer has what was sent, and what has a place was dropped. So the timer frees the places.
    assert_eq!(w.give(status(3, 2, &[]), 1), [(1000, Outcome::Answered, answer(REPORT, 3, 2, (0, 0), 0))]);
    assert_eq!(w.give(room(&[0; 30], 14), 1), [(14, dropped(Why::BearerBytes), None)]);
    w.now_ns += 2 * u64::from(CONFIG.poll_retransmit_ms) * MS;
    assert_eq!(w.take(&mut Vec::new(), 0), []);
    assert_eq!(w.give(room(&[0; 100], 15), 1), has_room(15, 5));
    // Longer than a packet of the service's own is no SDU.
    assert_eq!(w.give(room(&[0; base::MAX_PACKET - FRONT], 16), 1), [(16, Outcome::Dropped(Reason::MALFORMED), None)]);
    let counters = deployment.counters();
    assert_eq!((counters.imbalance(), counters.waiting()), (0, 0));
}

#[test]
fn the_buffers_story_is_the_same_in_each_place() {
    story(&Place::Lane);
    story(&Place::Threads(1));
    story(&Place::Threads(3));
    let folder = tempfile::tempdir().unwrap();
    story(&Place::Process(folder.path().join("buffer.sock")));
}

#[test]
fn a_setting_that_is_no_bearer_is_refused() {
    let deployment = Deployment::new(&Place::Lane, make(), Rings::default()).unwrap();
    let good = bearer_setting(&CONFIG);
    let zero = bearer_setting(&BearerConfig { window: 0, ..CONFIG });
    for wrong in [good[1..].to_vec(), [&[13], &good[1..]].concat(), zero, Vec::new()] {
        assert!(matches!(deployment.set(0, Some(wrong.into())), Err(SettingError::Value { .. })));
    }
    assert!(matches!(deployment.set(1 << 20, None), Err(SettingError::Index { .. })));
}

/// A peer that says that it misses everything, as often as it can.
#[test]
fn what_is_sent_again_keeps_to_its_pace_and_is_added_up() {
    use buffer::service::Pace;
    use std::sync::atomic::AtomicU64;
    let sent = Arc::new(AtomicU64::new(0));
    // 100 bytes a millisecond.
    let pace = Pace { bytes_per_s: 100_000, sent: sent.clone() };
    let mut service = BufferService::new(8, Limits { packets: 100, bytes: 1 << 20 }).paced(pace);
    use service::{Service, Setting};
    service.set(&Setting { version: 1, index: 3, value: Some(Arc::new(bearer_setting(&CONFIG).into())) }).unwrap();
    let mut out = Vec::new();
    for sn in 0..60 {
        service.call(&mut [call(KEEP, 3, sn, &[7; 95], sn)], MS);
    }
    let mut again = 0;
    for ms in 1..=1000 {
        service.call(&mut [status(3, 60, &[Nack { sn: 0, range: 60, segment: None }])], ms * MS);
        service.poll(ms * MS, &mut out);
        let copies = out.drain(..).filter(|call| Answer::read(&call.fields).event == RETRANSMISSION && call.outcome == Outcome::Copy);
        again += copies.count() as u64;
    }
    // One a millisecond, and four that were saved up.
    assert!((990..=1005).contains(&again), "{again}");
    assert_eq!(sent.load(Relaxed), again * 100);
}
