//! Does the service receive, wait, order and report through the seam, the same in each place?

use base::{Packet, PortId};
use gnb::pdcp::pdu::Format;
use gnb::pdcp::{CountGuard, Kind, OrderConfig};
use gnb::rlc::SnLength;
use gnb::rlc::am_rx::RxConfig;
use radio_bearer::*;
use service::caller::{Make, Rings};
use service::{Call, Caller, Deployment, Outcome, Place, Reason};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);
const MS: u64 = 1_000_000;
const FRONT: usize = 10;

fn config() -> BearerConfig {
    let sn_length = SnLength::Bits12;
    BearerConfig {
        rlc: RlcConfig::Am(RxConfig { sn_length, window: 64, partial_bytes: 1 << 16, reassembly_ns: 35 * MS, status_prohibit_ns: 0 }),
        format: Format { kind: Kind::Drb, sn_length, integrity: false, sdap_header: false },
        order: OrderConfig {
            sn_length,
            window: 64,
            bytes: 1 << 16,
            reordering_ns: None,
            out_of_order: false,
            stop: CountGuard::default().stop,
        },
    }
}

fn make() -> Make {
    Arc::new(|| Box::new(RadioBearerService::new(8)))
}

fn call(request: Request, payload: &[u8], tag: u32) -> Call {
    Call::new(Packet::new(&[&[0xab; FRONT], payload].concat(), PortId(1)), FRONT, request.fields(), tag)
}

/// An AMD PDU of 12 bits: polled or not, whole or a segment, with a PDCP PDU of 12 bits, or a part of one.
fn receive(bearer: u32, first: u8, sn: u8, pdu: &[u8], tag: u32) -> Call {
    call(Request { operation: RECEIVE, bearer, count: 0 }, &[&[first, sn], pdu].concat(), tag)
}

const WHOLE: u8 = 0x80;
const POLL: u8 = 0x40;
const FIRST: u8 = 0x10;
const LAST: u8 = 0x20;

struct World {
    caller: Caller,
    now_ns: u64,
}

/// What came out: tag, outcome, answer and payload.
type Out = (u32, Outcome, Option<Answer>, Vec<u8>);

impl World {
    /// Gives a call in and takes `n` that come out, at once or later.
    fn give(&mut self, call: Call, n: usize) -> Vec<Out> {
        let mut burst = [call];
        self.caller.call(&mut burst, self.now_ns);
        let [call] = burst;
        self.take([call].into_iter().filter(|call| call.outcome != Outcome::Kept).collect(), n)
    }

    fn take(&mut self, mut out: Vec<Call>, n: usize) -> Vec<Out> {
        let end = Instant::now() + PATIENCE;
        loop {
            self.caller.poll(self.now_ns, &mut out);
            if out.len() >= n {
                break;
            }
            assert!(Instant::now() < end, "{} of {n} came out: {out:?}", out.len());
            std::thread::yield_now();
        }
        let read = |call: Call| {
            assert!(call.packet.data().starts_with(&[0xab; FRONT]), "what is in front is the caller's");
            let answered = matches!(call.outcome, Outcome::Answered | Outcome::Copy);
            let payload = if answered { call.payload().to_vec() } else { Vec::new() };
            (call.tag, call.outcome, answered.then(|| Answer::read(&call.fields)), payload)
        };
        let mut out: Vec<Out> = out.into_iter().map(read).collect();
        out.sort_by_key(|(tag, outcome, ..)| (*tag, *outcome == Outcome::Copy));
        out
    }
}

fn pdu(count: u32, payload: &[u8]) -> Option<Answer> {
    Some(Answer { event: PDU, count, prefix: 0x8000 | count, payload_bytes: payload.len() as u16 })
}

/// The process ends with us, also where a check fails.
struct AtEnd<'a>(&'a AtomicBool);

impl Drop for AtEnd<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

fn story(place: &Place) {
    let deployment = Deployment::new(place, make(), Rings::default()).unwrap();
    deployment.set(3, Some(bearer_setting(&config()).into())).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let _stop = AtEnd(&stop);
        let mut w = World { caller: deployment.caller(), now_ns: MS };
        if let Place::Process(path) = place {
            scope.spawn(|| service::process::serve(path, &make(), &stop).unwrap());
            let end = Instant::now() + PATIENCE;
            let nothing = Request { operation: 9, bearer: 3, count: 0 };
            while w.give(call(nothing, b"", 0), 1)[0].1 == Outcome::Dropped(Reason::DOWN) {
                assert!(Instant::now() < end, "nobody came");
                w.now_ns += 10 * MS;
            }
        }
        // A whole SDU: its header is in the answer.
        assert_eq!(w.give(receive(3, WHOLE, 0, b"\x80\0zero", 1), 1), [(1, Outcome::Answered, pdu(0, b"zero"), b"zero".to_vec())]);
        // The same again, one of no bearer, and one that is too short.
        let dropped = |name: &str| {
            let at = INTERFACE.reasons.iter().position(|reason| *reason == name).expect("a reason");
            Outcome::Dropped(Reason::own(at))
        };
        assert_eq!(w.give(receive(3, WHOLE, 0, b"\x80\0zero", 2), 1)[0].1, dropped("am_outside_window"));
        assert_eq!(w.give(receive(4, WHOLE, 0, b"\x80\0zero", 3), 1)[0].1, Outcome::Dropped(NO_BEARER));
        assert_eq!(w.give(receive(3, WHOLE, 1, b"\x80", 4), 1)[0].1, dropped("pdcp_length"));
        // Two segments: the first is absorbed, the second brings the SDU.
        let absorbed = Some(Answer { event: ABSORBED, count: 0, prefix: 0, payload_bytes: 0 });
        let out = w.give(receive(3, WHOLE | FIRST, 2, b"\x80\x01on", 5), 1);
        assert_eq!((out[0].0, out[0].1, out[0].2), (5, Outcome::Answered, absorbed));
        let out = w.give(receive(3, WHOLE | LAST | POLL, 2, b"\0\x04e", 6), 2);
        assert_eq!(out[0], (6, Outcome::Answered, pdu(1, b"one"), b"one".to_vec()));
        // The poll is answered: all up to 2 is there.
        let status = Some(Answer { event: STATUS, count: 0, prefix: 0, payload_bytes: 3 });
        assert_eq!(out[1], (6, Outcome::Copy, status, vec![0, 3, 0]));
        // COUNT 1 is before 0 here: it waits until that one was genuine.
        let order = |count, payload: &[u8], tag| call(Request { operation: ORDER, bearer: 3, count }, payload, tag);
        assert_eq!(w.give(order(1, b"one", 7), 0), []);
        let answer = |count| Some(Answer { event: PDU, count, prefix: 0, payload_bytes: 0 });
        let out = w.give(order(0, b"zero", 8), 2);
        let told = |answer: Option<Answer>| answer.map(|answer| Answer { payload_bytes: 0, ..answer });
        let seen: Vec<_> = out.iter().map(|(tag, outcome, answer, _)| (*tag, *outcome, told(*answer))).collect();
        assert_eq!(seen, [(7, Outcome::Answered, answer(1)), (8, Outcome::Answered, answer(0))]);
        assert_eq!(w.give(order(0, b"zero", 9), 1)[0].1, dropped("pdcp_late"));
        // 3 is missing: when `t-Reassembly` has expired, a STATUS names it, and a packet that was kept for it comes out.
        let out = w.give(receive(3, WHOLE, 4, b"\x80\x03three", 10), 1);
        assert_eq!((out[0].1, out[0].2), (Outcome::Copy, pdu(3, b"three")), "the packet itself is kept for the STATUS");
        w.now_ns += 40 * MS;
        let out = w.take(Vec::new(), 2);
        assert_eq!(out.len(), 2, "{out:?}");
        assert_eq!((out[0].1, out[0].2), (Outcome::Answered, absorbed));
        assert_eq!(out[1].1, Outcome::Copy);
        assert_eq!(out[1].3, [0, 5, 0x80, 0, 0x30], "ACK_SN 5, a NACK of 3");
        // What waits is dropped with its bearer.
        assert_eq!(w.give(order(5, b"five", 11), 0), []);
        deployment.set(3, None).unwrap();
        assert_eq!(w.take(Vec::new(), 1)[0].1, Outcome::Dropped(REMOVED));
        let counters = deployment.counters();
        assert_eq!((counters.imbalance(), counters.waiting()), (0, 0));
    });
}

/// PDUs that came out together with those before them asked for their turn first, and got it.
#[test]
fn sdus_whose_turn_it_is_come_out_before_pdus_that_are_yet_to_ask_for_theirs() {
    let deployment = Deployment::new(&Place::Lane, make(), Rings::default()).unwrap();
    deployment.set(3, Some(bearer_setting(&config()).into())).unwrap();
    let mut caller = deployment.caller();
    let order = |count, tag| call(Request { operation: ORDER, bearer: 3, count }, b"sdu", tag);
    // COUNT 1 waits for 0. 2 is kept as the STATUS is made that it asks for; then 0 comes.
    let mut burst = [order(1, 1), receive(3, WHOLE | POLL, 0, b"\x80\x02two", 2), order(0, 0)];
    burst.iter_mut().for_each(|call| caller.call(std::slice::from_mut(call), MS));
    let mut out: Vec<Call> = burst.into_iter().filter(|call| call.outcome != Outcome::Kept).collect();
    caller.poll(MS, &mut out);
    let tags: Vec<u32> = out.iter().filter(|call| call.outcome == Outcome::Answered).map(|call| call.tag).collect();
    assert_eq!(tags, [0, 1, 2]);
}

#[test]
fn the_bearers_story_is_the_same_in_each_place() {
    story(&Place::Lane);
    story(&Place::Threads(1));
    story(&Place::Threads(3));
    let folder = tempfile::tempdir().unwrap();
    story(&Place::Process(folder.path().join("bearer.sock")));
}
