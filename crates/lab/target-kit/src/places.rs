//! Does a service do the same in the lane, on threads and in a second process?
//!
//! Time is the story's own. A service elsewhere has seen a time, and has done all that was asked for before, when it has answered two probes.

use base::{Packet, PortId};
use service::caller::{Make, Rings};
use service::{Call, Caller, Deployment, FIELDS_MAX, Interface, Outcome, Place, Reason};
use std::collections::HashSet;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::time::{Duration, Instant};

/// How long anything may take that does not depend on how busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);
/// What is in front of the payload, and is the caller's.
const FRONT: [u8; 10] = [0xab; 10];
const PORT: PortId = PortId(3);
/// Tags of probes have this bit.
const PROBE: u32 = 1 << 31;
/// A story begins at a multiple of this: of whole milliseconds, and of 2^14 ns.
const PERIOD_NS: u64 = 256_000_000;
/// By so much time goes on while a lane waits for the other process, which it looks for every 10 ms.
const LOOK_NS: u64 = 10_000_000;

/// What a service is asked, and when.
pub struct Story<'a> {
    /// Makes it.
    pub make: &'a Make,
    /// Its settings, which are in place from the start.
    pub settings: &'a [(u32, Vec<u8>)],
    /// Bursts of requests by their times in ns, which grow from 0 on. At the last one nothing may be kept any more.
    pub steps: &'a [(u64, Vec<[u8; FIELDS_MAX]>)],
    /// A request of each key that the service drops at once as malformed.
    pub probes: &'a [[u8; FIELDS_MAX]],
}

/// What came out: the number of its request, the outcome, and the answer's fields.
pub type Came = (u32, Outcome, [u8; FIELDS_MAX]);

/// Panics if the service breaks its contract in one of the places, or does not do there what it does in the lane: what comes out in each step, and of each key in which
/// order. Returns that. `folder` is for the socket; of a service with a limit on all keys together the story stays below it.
pub fn check_places(story: &Story<'_>, folder: &Path) -> Vec<Vec<Came>> {
    let lane = run(story, &Place::Lane);
    for place in [Place::Threads(1), Place::Threads(3), Place::Process(folder.join("service.sock"))] {
        for (at, (got, expected)) in run(story, &place).into_iter().zip(&lane).enumerate() {
            assert_eq!(&got, expected, "{place}, step {at}");
        }
    }
    lane
}

fn run(story: &Story<'_>, place: &Place) -> Vec<Vec<Came>> {
    let deployment = Deployment::new(place, story.make.clone(), Rings::default()).expect("it starts");
    for (index, value) in story.settings {
        deployment.set(*index, Some(value.clone().into())).expect("a setting of the service");
    }
    let (stop, interface) = (AtomicBool::new(false), deployment.interface());
    let mut teller =
        Teller { caller: deployment.caller(), interface, now_ns: 0, probes: 0, came: Vec::new(), asked: Vec::new(), ended: HashSet::new() };
    std::thread::scope(|scope| {
        if let Place::Process(path) = place {
            let stop = &stop;
            scope.spawn(move || service::process::serve(path, story.make, stop).expect("it serves"));
        }
        // The thread ends also if the story does not hold.
        let stops = Stops(&stop);
        teller.attach(story.probes[0]);
        let begin_ns = (teller.now_ns / PERIOD_NS + 1) * PERIOD_NS;
        let mut all = Vec::new();
        for (at_ns, requests) in story.steps {
            teller.now_ns = begin_ns + at_ns;
            teller.sync(story.probes);
            teller.ask(requests);
            teller.sync(story.probes);
            let key = |came: &Came| interface.steering_key(&teller.asked[came.0 as usize]);
            teller.came.sort_by_key(key);
            all.push(std::mem::take(&mut teller.came));
        }
        assert_eq!(teller.ended.len(), teller.asked.len(), "{place}: each packet comes out once");
        let counters = deployment.counters();
        assert_eq!((counters.imbalance(), counters.waiting(), counters.refused_settings), (0, 0, 0), "{place}: {counters:?}");
        drop(stops);
        all
    })
}

struct Stops<'a>(&'a AtomicBool);

impl Drop for Stops<'_> {
    fn drop(&mut self) {
        self.0.store(true, Relaxed);
    }
}

struct Teller {
    caller: Caller,
    interface: &'static Interface,
    now_ns: u64,
    /// Probes that have come back.
    probes: usize,
    came: Vec<Came>,
    /// Each request, by its number.
    asked: Vec<[u8; FIELDS_MAX]>,
    ended: HashSet<u32>,
}

impl Teller {
    fn call(number: u32, fields: [u8; FIELDS_MAX]) -> Call {
        let bytes = [&FRONT[..], &number.to_be_bytes()].concat();
        Call::new(Packet::new(&bytes, PORT), FRONT.len(), fields, number)
    }

    /// Waits until somebody serves.
    fn attach(&mut self, probe: [u8; FIELDS_MAX]) {
        let end = Instant::now() + PATIENCE;
        loop {
            let mut burst = [Teller::call(PROBE, probe)];
            self.caller.call(&mut burst, self.now_ns);
            let [call] = burst;
            match call.outcome {
                Outcome::Dropped(Reason::DOWN) => self.now_ns += LOOK_NS,
                Outcome::Kept => return self.wait_for(1),
                _ => return,
            }
            assert!(Instant::now() < end, "nobody serves");
            std::thread::yield_now();
        }
    }

    fn ask(&mut self, requests: &[[u8; FIELDS_MAX]]) {
        let first = self.asked.len() as u32;
        self.asked.extend(requests);
        let mut burst: Vec<Call> = (first..).zip(requests).map(|(number, fields)| Teller::call(number, *fields)).collect();
        self.caller.call(&mut burst, self.now_ns);
        burst.into_iter().for_each(|call| self.take(call));
    }

    /// All that was asked for is done, and what this time brings has come.
    fn sync(&mut self, probes: &[[u8; FIELDS_MAX]]) {
        for _ in 0..2 {
            let mut burst: Vec<Call> = probes.iter().map(|fields| Teller::call(PROBE, *fields)).collect();
            self.caller.call(&mut burst, self.now_ns);
            burst.into_iter().for_each(|call| self.take(call));
            self.wait_for(probes.len());
        }
    }

    fn wait_for(&mut self, probes: usize) {
        let end = Instant::now() + PATIENCE;
        loop {
            let mut out = Vec::new();
            self.caller.poll(self.now_ns, &mut out);
            out.into_iter().for_each(|call| self.take(call));
            if self.probes >= probes {
                break;
            }
            assert!(Instant::now() < end, "{} of {probes} probes came back", self.probes);
            std::thread::yield_now();
        }
        self.probes = 0;
    }

    /// Notes what came out.
    fn take(&mut self, call: Call) {
        if call.outcome == Outcome::Kept {
            return;
        }
        let bytes = call.packet.data();
        assert!(bytes.starts_with(&FRONT) && call.packet.port == PORT, "what is in front is the caller's: {call:?}");
        assert_eq!(bytes[FRONT.len()..], call.tag.to_be_bytes(), "a packet comes out with its own tag");
        if call.tag == PROBE {
            assert_eq!(call.outcome, Outcome::Dropped(Reason::MALFORMED), "a probe");
            self.probes += 1;
            return;
        }
        assert!((call.tag as usize) < self.asked.len(), "{call:?}: nobody has asked");
        if call.outcome != Outcome::Copy {
            assert!(self.ended.insert(call.tag), "packet {} comes out twice", call.tag);
        } else {
            assert!(!self.ended.contains(&call.tag), "a copy of packet {}, which is not kept any longer", call.tag);
        }
        if let Outcome::Dropped(reason) = call.outcome {
            assert_ne!(self.interface.reason_name(reason), "unknown", "{call:?}");
        }
        let answer = if matches!(call.outcome, Outcome::Dropped(_)) { [0; FIELDS_MAX] } else { call.fields };
        self.came.push((call.tag, call.outcome, answer));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use service::{Access, Field, Service, Setting, SettingError};
    use std::sync::Arc;

    static INTERFACE: Interface = Interface {
        name: "keeper",
        request: &[Field { name: "ms", width: 8 }, Field { name: "key", width: 8 }],
        answer: &[Field { name: "ms", width: 8 }],
        key: Some(1),
        reasons: &[],
        access: |_| Access::None,
        sends_own: false,
        check_setting: |_, _| Ok(()),
    };

    /// Keeps a packet for as many ms as it says, and gives it back so many times.
    struct Keeper {
        times: usize,
        kept: Vec<(u64, Call)>,
    }

    impl Service for Keeper {
        fn interface(&self) -> &'static Interface {
            &INTERFACE
        }

        fn call(&mut self, burst: &mut [Call], now_ns: u64) {
            for call in burst {
                match call.fields[0] {
                    0xff => call.drop_for(Reason::MALFORMED),
                    ms => self.kept.push((now_ns + 1_000_000 * u64::from(ms), call.take())),
                }
            }
        }

        fn poll(&mut self, now_ns: u64, out: &mut Vec<Call>) {
            let (due, rest) = std::mem::take(&mut self.kept).into_iter().partition(|(at_ns, _)| *at_ns <= now_ns);
            self.kept = rest;
            for (_, mut call) in due {
                call.answer(&[call.fields[0]]);
                out.extend((0..self.times).map(|_| call.clone()));
            }
        }

        fn next_deadline_ns(&self) -> Option<u64> {
            self.kept.iter().map(|(at_ns, _)| *at_ns).min()
        }

        fn set(&mut self, _: &Setting) -> Result<(), SettingError> {
            Ok(())
        }
    }

    fn tell(times: usize) -> Vec<Vec<Came>> {
        let make: Make = Arc::new(move || Box::new(Keeper { times, kept: Vec::new() }));
        let request = |ms: u8| std::array::from_fn(|i| if i == 0 { ms } else { 0 });
        let steps = [(0, vec![request(4), request(0), request(4)]), (3_000_000, vec![]), (4_000_000, vec![])];
        let folder = tempfile::tempdir().expect("a folder");
        let story = Story { make: &make, settings: &[(1, vec![])], steps: &steps, probes: &[request(0xff)] };
        check_places(&story, folder.path())
    }

    #[test]
    fn a_service_that_keeps_the_contract_does_the_same_in_each_place() {
        let numbers: Vec<Vec<u32>> = tell(1).iter().map(|step| step.iter().map(|came| came.0).collect()).collect();
        assert_eq!(numbers, [vec![1], vec![], vec![0, 2]]);
    }

    #[test]
    #[should_panic(expected = "packet 1 comes out twice")]
    fn a_service_that_gives_packets_back_twice_is_found() {
        tell(2);
    }

    #[test]
    #[should_panic(expected = "each packet comes out once")]
    fn a_service_that_loses_packets_is_found() {
        tell(0);
    }
}
