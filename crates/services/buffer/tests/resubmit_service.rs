//! Does Algorithm 1 keep, send again, acknowledge and give up through the seam, the same in each place?

use base::{Packet, PortId};
use buffer::Limits;
use buffer::resubmit::service::*;
use service::caller::{Make, Rings};
use service::{Call, Caller, Deployment, FIELDS_MAX, Outcome, Place, Question, Reason, SettingError};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

const PATIENCE: Duration = Duration::from_secs(60);
const MS: u64 = 1_000_000;
const FRONT: usize = 10;
const INTERVAL_MS: u32 = 10;

fn make() -> Make {
    Arc::new(|| Box::new(ResubmitService::new(INTERVAL_MS, 2, Limits { packets: 4, bytes: 100 })))
}

fn call(operation: u8, flow: u32, id: u32, payload: &[u8], tag: u32) -> Call {
    let packet = Packet::new(&[&[0xab; FRONT], payload].concat(), PortId(1));
    Call::new(packet, FRONT, Request { operation, flow, id }.fields(), tag)
}

type Came = (u32, Outcome, Option<(u8, u32, u32)>);

struct World {
    caller: Caller,
    now_ns: u64,
}

impl World {
    /// Gives a call in and takes `n` that come out, at once or later: tag, outcome, event with flow and id.
    fn give(&mut self, call: Call, n: usize) -> Vec<Came> {
        let mut burst = [call];
        self.caller.call(&mut burst, self.now_ns);
        let [call] = burst;
        let mut out: Vec<Call> = [call].into_iter().filter(|call| call.outcome != Outcome::Kept).collect();
        self.take(&mut out, n)
    }

    fn take(&mut self, out: &mut Vec<Call>, n: usize) -> Vec<Came> {
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
            let Request { operation, flow, id } = Request::read(&call.fields);
            (call.tag, call.outcome, answered.then_some((operation, flow, id)))
        };
        out.drain(..).map(read).collect()
    }

    /// Goes on to a time: the service has seen it when the second answer is there. What it brings, without those two.
    fn go_to(&mut self, ms: u64) -> Vec<Came> {
        self.now_ns = ms * MS;
        let asked = |came: &Came| came.1 == Outcome::Dropped(Reason::MALFORMED);
        let mut out: Vec<Came> = Vec::new();
        for answers in [1, 2] {
            out.extend(self.give(call(99, 1, 0, b"", 0), 0));
            // What the time brings may come before the answer.
            while out.iter().filter(|came| asked(came)).count() < answers {
                out.extend(self.take(&mut Vec::new(), 1));
            }
        }
        out.retain(|came| !asked(came));
        out
    }
}

fn story(place: &Place) {
    let deployment = Deployment::new(place, make(), Rings::default()).unwrap();
    let stop = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let mut w = World { caller: deployment.caller(), now_ns: MS };
        if let Place::Process(path) = place {
            scope.spawn(|| service::process::serve(path, &make(), &stop).unwrap());
            let end = Instant::now() + PATIENCE;
            while w.give(call(99, 1, 0, b"", 0), 1)[0].1 == Outcome::Dropped(Reason::DOWN) {
                assert!(Instant::now() < end, "nobody came");
                w.now_ns += 10 * MS;
            }
        }
        // Its buckets turn every 10 ms from here on.
        let base = w.now_ns / MS / 1000 * 1000 + 1000;
        let dropped = |reason: &str| Outcome::Dropped(Reason::own(INTERFACE.reasons.iter().position(|own| *own == reason).unwrap()));
        assert_eq!(w.go_to(base), []);
        assert_eq!(w.give(call(KEEP, 1, 7, b"seven", 17), 0), []);
        assert_eq!(w.give(call(KEEP, 1, 7, b"again", 18), 1), [(18, dropped("duplicate"), None)]);
        assert_eq!(w.go_to(base + 5), []);
        assert_eq!(w.give(call(KEEP, 1, 8, b"eight", 28), 0), []);
        // A service elsewhere takes it before it hears of a later time.
        assert_eq!(w.go_to(base + 5), []);
        // Each goes again in its own ms, and the other does not.
        let again = |tag, id| (tag, Outcome::Copy, Some((RESUBMISSION, 1, id)));
        let mut came = w.go_to(base + 10);
        came.extend(w.take(&mut Vec::new(), 1 - came.len()));
        assert_eq!(came, [again(17, 7)]);
        // A status names one: it leaves with its bucket's turn, and a second status is too late.
        assert_eq!(w.give(call(STATUS, 1, 7, b"", 40), 1), [(40, Outcome::Answered, Some((REPORT, 1, 7)))]);
        assert_eq!(w.give(call(STATUS, 1, 7, b"", 41), 1), [(41, dropped("status_stale"), None)]);
        let mut came = w.go_to(base + 15);
        came.extend(w.take(&mut Vec::new(), 1 - came.len()));
        assert_eq!(came, [again(28, 8)]);
        let mut came = w.go_to(base + 20);
        came.extend(w.take(&mut Vec::new(), 1 - came.len()));
        assert_eq!(came, [(17, Outcome::Answered, Some((ACKNOWLEDGED, 1, 7)))]);
        // Two attempts are allowed; then it is given up.
        let mut came = w.go_to(base + 25);
        came.extend(w.take(&mut Vec::new(), 1 - came.len()));
        assert_eq!(came, [again(28, 8)]);
        let mut came = w.go_to(base + 35);
        came.extend(w.take(&mut Vec::new(), 1 - came.len()));
        assert_eq!(came, [(28, dropped("attempts"), None)]);
        // Both limits hold.
        for id in 0..4 {
            assert_eq!(w.give(call(KEEP, 1, id, &[1; 20], id), 0), []);
        }
        assert_eq!(w.give(call(KEEP, 1, 4, b"one too many", 4), 1), [(4, dropped("packets"), None)]);
        assert_eq!(w.give(call(STATUS, 1, 2, b"", 50), 1), [(50, Outcome::Answered, Some((REPORT, 1, 2)))]);
        let came = w.go_to(base + 45);
        let came = if came.len() < 4 { [came.clone(), w.take(&mut Vec::new(), 4 - came.len())].concat() } else { came };
        assert_eq!(came.len(), 4);
        assert_eq!(w.give(call(KEEP, 1, 5, &[1; 41], 5), 1), [(5, dropped("bytes"), None)]);
        let counters = deployment.counters();
        assert_eq!((counters.imbalance(), counters.waiting(), counters.copies), (0, 3, 6));
        stop.store(true, Relaxed);
    });
}

#[test]
fn algorithm_1_is_the_same_in_each_place() {
    story(&Place::Lane);
    story(&Place::Threads(1));
    story(&Place::Threads(3));
    let folder = tempfile::tempdir().unwrap();
    story(&Place::Process(folder.path().join("resubmit.sock")));
}

#[test]
fn fields_are_read_as_they_are_written_and_there_are_no_settings() {
    let request = Request { operation: STATUS, flow: 0x0102_0304, id: 0xa0b0_c0d0 };
    let mut fields = [0; FIELDS_MAX];
    fields[..9].copy_from_slice(&[1, 1, 2, 3, 4, 0xa0, 0xb0, 0xc0, 0xd0]);
    assert_eq!((request.fields(), Request::read(&fields)), (fields, request));
    assert_eq!(INTERFACE.steering_key(&fields), 0x0102_0304);
    let deployment = Deployment::new(&Place::Lane, make(), Rings::default()).unwrap();
    assert_eq!(deployment.set(0, Some(vec![1].into())), Err(SettingError::Index { index: 0, limit: 0 }));
}

#[test]
fn a_status_is_answered_where_it_lies_and_what_is_kept_has_to_be_called() {
    let deployment = Deployment::new(&Place::Lane, make(), Rings::default()).unwrap();
    let mut caller = deployment.caller();
    let mut burst = [call(KEEP, 1, 7, b"seven", 17)];
    caller.call(&mut burst, MS);
    let mut rooms = [[0; 8]; 4];
    let ask = [(STATUS, 7), (STATUS, 7), (KEEP, 8), (STATUS, 9)];
    let question = |(room, (operation, id)): (_, (u8, u32))| {
        let room: &mut [u8; 8] = room;
        let fields = Request { operation, flow: 1, id }.fields();
        Question { fields, room: &mut room[..], len: 0, packet: 0, port: PortId(1), outcome: Outcome::Pending }
    };
    let mut questions: Vec<Question<'_>> = rooms.iter_mut().zip(ask).map(question).collect();
    caller.answer(&mut questions, MS);
    let ends: Vec<Outcome> = questions.iter().map(|question| question.outcome).collect();
    assert_eq!(
        ends,
        [Outcome::Answered, Outcome::Dropped(STALE), Outcome::Pending, Outcome::Pending],
        "a call that must wait, and all behind it"
    );
    assert_eq!(Request::read(&questions[0].fields), Request { operation: REPORT, flow: 1, id: 7 });
    assert_eq!((deployment.counters().calls, deployment.counters().imbalance()), (3, 0));
}
