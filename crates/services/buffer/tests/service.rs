//! Does the buffer keep, send, acknowledge, retransmit and discard through the seam, the same in each place?

use base::{Packet, PortId};
use buffer::rlc::BearerConfig;
use buffer::service::*;
use buffer::status::{Nack, SnLength, emit};
use buffer::{Limits, Reason as Why};
use service::caller::{Make, Rings};
use service::{Call, Caller, Deployment, Outcome, Place, Reason, SettingError};
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
    Call::new(packet, FRONT, Request { operation, bearer, sn, flags: 0, prefix_bytes: 0, segment_bytes: 0 }.fields(), tag)
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

#[test]
fn a_packet_that_the_buffer_numbers_itself_spends_a_number_only_if_it_is_kept() {
    let deployment = Deployment::new(&Place::Lane, make(), Rings::default()).unwrap();
    deployment.set(3, Some(bearer_setting(&BearerConfig { window: 2, poll_pdu: None, ..CONFIG }).into())).unwrap();
    let mut w = World { caller: deployment.caller(), now_ns: MS };
    let next = |tag| {
        let packet = Packet::new(&[&[0xab; FRONT][..], b"sdu"].concat(), PortId(1));
        Call::new(packet, FRONT, Request { operation: NEXT, bearer: 3, sn: 77, flags: 0, prefix_bytes: 4, segment_bytes: 0 }.fields(), tag)
    };
    assert_eq!(w.give(next(1), 1), [(1, Outcome::Copy, answer(SENT, 3, 0, (0, 7), 0))], "its header belongs to the SDU");
    assert_eq!(w.give(next(2), 1), [(2, Outcome::Copy, answer(SENT, 3, 1, (0, 7), POLL))]);
    assert_eq!(w.give(next(3), 1), [(3, Outcome::Dropped(Reason::own(Why::Window as usize)), None)]);
    w.give(status(3, 1, &[]), 2);
    assert_eq!(w.give(next(4), 1), [(4, Outcome::Copy, answer(SENT, 3, 2, (0, 7), POLL))], "the number that 3 did not spend");
}

/// Segments as they come out: answer and payload.
fn segments(place: &Place) {
    let deployment = Deployment::new(place, make(), Rings::default()).unwrap();
    deployment.set(3, Some(bearer_setting(&BearerConfig { poll_pdu: None, ..CONFIG }).into())).unwrap();
    let mut caller = deployment.caller();
    let request = Request { operation: NEXT, bearer: 3, sn: 0, flags: POLL, prefix_bytes: 4, segment_bytes: 10 };
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
    give(call_of(request, b"ABCDEFGHIJ", 2), 2);
    let missing = [Nack { sn: 0, range: 1, segment: Some((15, 27)) }, Nack { sn: 1, range: 1, segment: Some((1, 2)) }];
    let again = give(status(3, 2, &missing), 4);
    let expected = [
        part(RETRANSMISSION, 0, (15, 25), MORE, b"lmnopqrstu"),
        part(RETRANSMISSION, 0, (25, 28), MORE, b"vwx"),
        part(RETRANSMISSION, 1, (0, 5), MORE | POLL, b"A"),
    ];
    assert_eq!(again[1..], expected);
    // Nothing is kept of what is only cut.
    let cut = give(call_of(Request { operation: CUT, sn: 9, flags: 0, ..request }, sdu, 3), 3);
    let expected =
        [part(SENT, 9, (0, 12), MORE, b"abcdefgh"), part(SENT, 9, (12, 22), MORE, b"ijklmnopqr"), part(SENT, 9, (22, 30), 0, b"stuvwxyz")];
    assert_eq!(cut, expected);
    let counters = deployment.counters();
    assert_eq!((counters.imbalance(), counters.waiting()), (0, 2));
}

#[test]
fn an_sdu_longer_than_a_pdu_comes_out_in_segments_and_again_as_far_as_it_is_missing() {
    segments(&Place::Lane);
    segments(&Place::Threads(1));
}

#[test]
fn a_packet_that_asks_for_room_is_dropped_for_the_reason_that_it_would_not_be_kept_for() {
    let deployment = Deployment::new(&Place::Lane, make(), Rings::default()).unwrap();
    let room = |payload: &[u8], tag| call(ROOM, 3, 77, payload, tag);
    let mut w = World { caller: deployment.caller(), now_ns: MS };
    let dropped = |why: Why| Outcome::Dropped(Reason::own(why as usize));
    assert_eq!(w.give(room(b"sdu", 1), 1), [(1, dropped(Why::NoBearer), None)]);
    deployment.set(3, Some(bearer_setting(&BearerConfig { window: 2, bytes: 100, poll_pdu: None, ..CONFIG }).into())).unwrap();
    assert_eq!(w.give(room(&[0; 101], 2), 1), [(2, dropped(Why::BearerBytes), None)]);
    // Asking takes nothing.
    for tag in 3..6 {
        assert_eq!(w.give(room(b"sdu", tag), 1), [(tag, Outcome::Answered, answer(HAS_ROOM, 3, 0, (0, 0), 0))]);
    }
    w.give(call(NEXT, 3, 0, b"sdu", 6), 1);
    assert_eq!(w.give(room(b"sdu", 7), 1), [(7, Outcome::Answered, answer(HAS_ROOM, 3, 1, (0, 0), 0))]);
    w.give(call(NEXT, 3, 0, b"sdu", 8), 1);
    assert_eq!(w.give(room(b"sdu", 9), 1), [(9, dropped(Why::Window), None)]);
    let counters = deployment.counters();
    assert_eq!((counters.imbalance(), counters.waiting()), (0, 2));
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
