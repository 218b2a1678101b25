//! Does a service look the same from a lane, wherever it runs? One run of random calls in the lane, on threads and in a second process, each compared with a
//! plain twin; then what each place must bear: full rings, a service that stops, one that is killed.
//!
//! The second process is this test's own binary, started again: see [`the_second_process`].

use base::{Packet, PortId};
use rand::Rng;
use service::caller::Rings;
use service::{
    Access, Call, Caller, Counters, Deployment, FIELDS_MAX, Field, Interface, Outcome, Place, Reason, Service, Setting, SettingError,
    process,
};
use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::AtomicBool;
use std::time::{Duration, Instant};

/// How long anything may take that does not depend on how busy the machine is.
const PATIENCE: Duration = Duration::from_secs(60);
const MS: u64 = 1_000_000;
/// How long the service keeps what it keeps.
const KEEP_NS: u64 = 3 * MS;
/// Bytes in front of the payload.
const FRONT: usize = 20;

static INTERFACE: Interface = Interface {
    name: "counting",
    request: &[Field { name: "mode", width: 8 }, Field { name: "key", width: 16 }],
    answer: &[Field { name: "seen", width: 32 }, Field { name: "setting", width: 8 }],
    key: Some(1),
    reasons: &["asked_for"],
    access: |fields| match fields[0] {
        XOR | GROW => Access::Write,
        SUM => Access::Read,
        _ => Access::None,
    },
    sends_own: false,
    check_setting: |_, _| Ok(()),
};
/// Changes each byte of the payload.
const XOR: u8 = 0;
/// Makes the payload longer.
const GROW: u8 = 1;
/// Drops, if the payload's sum is even.
const SUM: u8 = 2;
/// Keeps for a while, then answers.
const KEEP: u8 = 3;
/// The same with a copy before.
const COPY: u8 = 4;
/// Keeps and drops later.
const KEEP_DROP: u8 = 5;
const MODES: u8 = 6;

/// Counts the calls of each key: its answers tell who owns the key, and in which order calls came.
#[derive(Default)]
struct Counting {
    seen: HashMap<u16, u32>,
    kept: Vec<(u64, u32, Call)>,
    setting: u8,
    now_ns: u64,
}

fn answer(seen: u32, setting: u8) -> [u8; 5] {
    let [a, b, c, d] = seen.to_be_bytes();
    [a, b, c, d, setting]
}

impl Service for Counting {
    fn interface(&self) -> &'static Interface {
        &INTERFACE
    }

    fn call(&mut self, burst: &mut [Call], now_ns: u64) {
        self.now_ns = now_ns;
        for call in burst {
            let (mode, key) = (call.fields[0], u16::from_be_bytes([call.fields[1], call.fields[2]]));
            let seen = self.seen.entry(key).or_default();
            *seen += 1;
            let seen = *seen;
            match mode {
                XOR => {
                    call.payload_mut().iter_mut().for_each(|byte| *byte ^= seen as u8);
                    call.answer(&answer(seen, self.setting));
                }
                GROW => {
                    let len = call.payload().len();
                    assert!(call.resize_payload(len + 3));
                    call.payload_mut()[len..].fill(0xee);
                    call.answer(&answer(seen, self.setting));
                }
                SUM if call.payload().iter().map(|byte| u32::from(*byte)).sum::<u32>() % 2 == 0 => call.drop_for(Reason::own(0)),
                SUM => call.answer(&answer(seen, self.setting)),
                KEEP | COPY | KEEP_DROP => self.kept.push((now_ns + KEEP_NS, seen, call.take())),
                _ => call.drop_for(Reason::MALFORMED),
            }
        }
    }

    fn poll(&mut self, now_ns: u64, out: &mut Vec<Call>) {
        self.now_ns = now_ns;
        for (_, seen, mut call) in self.kept.extract_if(.., |(due_ns, ..)| *due_ns <= now_ns) {
            if call.fields[0] == COPY {
                out.push(call.copy(&answer(seen, 0xcc)));
            }
            if call.fields[0] == KEEP_DROP {
                call.drop_for(Reason::own(0));
            } else {
                call.answer(&answer(seen, self.setting));
            }
            out.push(call);
        }
    }

    fn next_deadline_ns(&self) -> Option<u64> {
        self.kept.iter().map(|(due_ns, ..)| *due_ns).min()
    }

    fn set(&mut self, setting: &Setting) -> Result<(), SettingError> {
        self.setting = setting.value.as_ref().map_or(0, |value| value[0]);
        Ok(())
    }
}

fn make() -> service::caller::Make {
    Arc::new(|| Box::<Counting>::default())
}

/// Not a test: what runs in the second process.
#[test]
#[ignore = "the second process of the others"]
fn the_second_process() {
    let path = std::env::var_os("SPLITPLANE_TEST_SOCKET").expect("started by another test");
    process::serve(Path::new(&path), &make(), &AtomicBool::new(false)).unwrap();
}

/// It ends with the test.
struct Second(Child);

impl Second {
    fn start(path: &Path) -> Second {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command.args(["--exact", "the_second_process", "--ignored"]).env("SPLITPLANE_TEST_SOCKET", path);
        Second(command.stdout(Stdio::null()).spawn().unwrap())
    }

    fn signal(&self, signal: &str) {
        assert!(Command::new("kill").args([signal, &self.0.id().to_string()]).status().unwrap().success());
    }

    /// When this returns it is dead.
    fn kill(&mut self) {
        self.0.kill().unwrap();
        self.0.wait().unwrap();
    }
}

impl Drop for Second {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// What a call must come back as.
#[derive(PartialEq, Eq, Debug, Clone)]
struct Expected {
    bytes: Vec<u8>,
    outcome: Outcome,
    seen: Option<u32>,
}

/// The service, plainly.
#[derive(Default)]
struct Twin {
    seen: BTreeMap<u16, u32>,
    expected: BTreeMap<u32, Expected>,
    /// Tags of which a copy must come too.
    copies: BTreeMap<u32, Vec<u8>>,
    modes: BTreeMap<u8, u32>,
}

impl Twin {
    fn call(&mut self, tag: u32, mode: u8, key: u16, mut bytes: Vec<u8>) {
        *self.modes.entry(mode).or_default() += 1;
        let seen = self.seen.entry(key).or_default();
        *seen += 1;
        let seen = *seen;
        let mut outcome = Outcome::Answered;
        match mode {
            XOR => (FRONT..bytes.len()).for_each(|i| bytes[i] ^= seen as u8),
            GROW => bytes.extend([0xee; 3]),
            SUM if bytes[FRONT..].iter().filter(|byte| **byte % 2 == 1).count() % 2 == 0 => outcome = Outcome::Dropped(Reason::own(0)),
            COPY => _ = self.copies.insert(tag, bytes.clone()),
            KEEP_DROP => outcome = Outcome::Dropped(Reason::own(0)),
            _ => {}
        }
        let seen = (outcome == Outcome::Answered).then_some(seen);
        self.expected.insert(tag, Expected { bytes, outcome, seen });
    }
}

/// Lanes of one deployment, and a twin of each.
struct World {
    deployment: Deployment,
    lanes: Vec<(Caller, Twin)>,
    now_ns: u64,
    next_tag: u32,
    full: u32,
    late: u32,
    out: Vec<Call>,
}

impl World {
    fn new(place: &Place, lanes: usize, rings: Rings) -> World {
        let deployment = Deployment::new(place, make(), rings).unwrap();
        let lanes = (0..lanes).map(|_| (deployment.caller(), Twin::default())).collect();
        World { deployment, lanes, now_ns: 1, next_tag: 0, full: 0, late: 0, out: Vec::new() }
    }

    /// A burst of a lane; what has an outcome at once is judged at once.
    fn burst(&mut self, lane: usize, rng: &mut impl Rng, size: usize) {
        let keys = 16;
        let mut asked = Vec::new();
        let calls = (0..size).map(|_| {
            let (mode, key) = (rng.random_range(0..MODES), lane as u16 * keys + rng.random_range(0..keys));
            let len = if rng.random_bool(0.02) { 9000 } else { rng.random_range(0..200) };
            let bytes: Vec<u8> = (0..FRONT + len).map(|_| rng.random()).collect();
            let mut fields = [0; FIELDS_MAX];
            fields[0] = mode;
            fields[1..3].copy_from_slice(&key.to_be_bytes());
            let tag = self.next_tag;
            self.next_tag += 1;
            asked.push((tag, mode, key, bytes.clone()));
            Call::new(Packet::new(&bytes, PortId(3)), FRONT, fields, tag)
        });
        let mut calls: Vec<Call> = calls.collect();
        self.lanes[lane].0.call(&mut calls, self.now_ns);
        for (call, (tag, mode, key, bytes)) in calls.into_iter().zip(asked) {
            if let Outcome::Dropped(reason) = call.outcome
                && reason.code() < Reason::FIRST_OWN
            {
                assert_eq!((reason, call.packet.data()), (Reason::FULL, &*bytes));
                self.full += 1;
                continue;
            }
            self.lanes[lane].1.call(tag, mode, key, bytes);
            if call.outcome != Outcome::Kept {
                self.judge(lane, call);
            }
        }
    }

    fn poll(&mut self, lane: usize) {
        let mut out = std::mem::take(&mut self.out);
        self.lanes[lane].0.poll(self.now_ns, &mut out);
        self.late += out.len() as u32;
        out.drain(..).for_each(|call| self.judge(lane, call));
        self.out = out;
    }

    /// Each comes once, as its twin says.
    fn judge(&mut self, lane: usize, call: Call) {
        let twin = &mut self.lanes[lane].1;
        let seen = u32::from_be_bytes(call.fields[..4].try_into().unwrap());
        if call.outcome == Outcome::Copy {
            assert_eq!(call.fields[4], 0xcc);
            let bytes = twin.copies.remove(&call.tag).expect("one copy, before the packet");
            return assert_eq!((call.packet.data(), Some(seen)), (&*bytes, twin.expected[&call.tag].seen));
        }
        assert!(!twin.copies.contains_key(&call.tag), "the copy comes before the packet");
        let expected = twin.expected.remove(&call.tag).expect("each comes out once");
        let seen = (call.outcome == Outcome::Answered).then_some(seen);
        assert_eq!(Expected { bytes: call.packet.data().to_vec(), outcome: call.outcome, seen }, expected, "tag {}", call.tag);
    }

    /// Time passes until nothing is out.
    fn settle(&mut self) -> Counters {
        let end = Instant::now() + PATIENCE;
        loop {
            self.now_ns += MS;
            (0..self.lanes.len()).for_each(|lane| self.poll(lane));
            let counters = self.deployment.counters();
            assert_eq!(counters.imbalance(), 0);
            if counters.waiting() == 0 {
                assert!(self.lanes.iter().all(|(_, twin)| twin.expected.is_empty() && twin.copies.is_empty()));
                return counters;
            }
            assert!(Instant::now() < end, "{counters:?}");
            std::thread::yield_now();
        }
    }

    /// Until the second process is there for every lane: a call is answered.
    fn attach(&mut self) {
        let end = Instant::now() + PATIENCE;
        for lane in 0..self.lanes.len() {
            loop {
                self.now_ns += MS;
                let mut fields = [0; FIELDS_MAX];
                (fields[0], fields[1]) = (SUM, 0xff);
                let mut probe = [Call::new(Packet::new(&[1; FRONT + 1], PortId(1)), FRONT, fields, u32::MAX - 1)];
                self.lanes[lane].0.call(&mut probe, self.now_ns);
                match probe[0].outcome {
                    Outcome::Answered => break,
                    Outcome::Dropped(reason) => assert_eq!(reason, Reason::DOWN),
                    _ => {
                        let mut out = Vec::new();
                        while out.is_empty() {
                            assert!(Instant::now() < end, "no answer");
                            self.lanes[lane].0.poll(self.now_ns, &mut out);
                        }
                        assert_eq!(out[0].outcome, Outcome::Answered);
                        break;
                    }
                }
                assert!(Instant::now() < end, "nobody has come");
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

fn folder() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

fn socket(folder: &tempfile::TempDir) -> PathBuf {
    folder.path().join("service.sock")
}

/// The same in each place.
fn conform(place: &Place, seed: u64) {
    let mut rng = testkit::rng(seed);
    // Small enough to be full now and then.
    let mut world = World::new(place, 2, Rings { calls: 64, words: 1 << 12 });
    let second = match place {
        Place::Process(path) => Some(Second::start(path)),
        _ => None,
    };
    if second.is_some() {
        world.attach();
    }
    let enough = |world: &World| {
        let all = |twin: &Twin| (0..MODES).all(|mode| twin.modes.get(&mode).is_some_and(|n| *n > 500));
        let elsewhere = *place == Place::Lane || (world.full > 100 && world.late > 10_000);
        elsewhere && world.lanes.iter().all(|(_, twin)| all(twin))
    };
    // Where a service elsewhere seldom has its turn, rings are full more often.
    for round in 0..30_000 {
        if round >= 1500 {
            if enough(&world) {
                break;
            }
            std::thread::yield_now();
        }
        world.now_ns += 100_000;
        let lane = rng.random_range(0..2);
        let size = if round % 50 == 0 { 200 } else { rng.random_range(0..48) };
        world.burst(lane, &mut rng, size);
        // A lane that is late now and then.
        if rng.random_bool(0.8) {
            world.poll(lane);
        }
    }
    let counters = world.settle();
    let modes = || world.lanes.iter().map(|(_, twin)| &twin.modes).collect::<Vec<_>>();
    assert!(enough(&world), "full {} late {}: {:?}", world.full, world.late, modes());
    assert!(counters.copies > 1000 && counters.kept > 5000, "{counters:?}");
    if *place != Place::Lane {
        assert_eq!(u64::from(world.full), counters.dropped_for(Reason::FULL));
    }
}

#[test]
fn in_the_lane_a_service_does_what_its_twin_does() {
    conform(&Place::Lane, 1);
}

#[test]
fn on_threads_a_service_does_what_its_twin_does() {
    conform(&Place::Threads(1), 2);
    conform(&Place::Threads(3), 3);
}

#[test]
fn in_a_second_process_a_service_does_what_its_twin_does() {
    let folder = folder();
    conform(&Place::Process(socket(&folder)), 4);
}

#[test]
fn packets_of_a_process_that_is_killed_are_lost_by_name_and_another_takes_its_place() {
    let folder = folder();
    let path = socket(&folder);
    let mut rng = testkit::rng(5);
    let mut world = World::new(&Place::Process(path.clone()), 2, Rings::default());
    world.deployment.set(7, Some(vec![42].into())).unwrap();
    world.burst_down(0);
    for life in 0..3 {
        let mut second = Second::start(&path);
        world.attach();
        (0..20).for_each(|_| world.burst(0, &mut rng, 30));
        (0..20).for_each(|_| world.burst(1, &mut rng, 30));
        let out = (0..2).map(|lane| world.lanes[lane].1.expected.len()).sum::<usize>();
        assert!(out > 500, "{out} packets are with it");
        let lost_before = world.deployment.counters().dropped_for(Reason::LOST);
        second.kill();
        // Within a moment of the lanes' time, and without any other sign.
        world.now_ns += 2 * process::CHECK_NS;
        let (mut lost, mut answered) = (0, 0);
        for (caller, twin) in &mut world.lanes {
            let mut polled = Vec::new();
            caller.poll(world.now_ns, &mut polled);
            for call in polled {
                match call.outcome {
                    Outcome::Dropped(Reason::LOST) => {
                        assert!(twin.expected.remove(&call.tag).is_some(), "each comes out once");
                        assert!(call.packet.len() >= FRONT, "the packet itself was never away");
                        lost += 1;
                    }
                    Outcome::Copy => {}
                    _ => {
                        twin.expected.remove(&call.tag).expect("each comes out once");
                        answered += 1;
                    }
                }
            }
            assert!(twin.expected.is_empty(), "{} packets are missing", twin.expected.len());
            // Its state went with it.
            *twin = Twin::default();
        }
        let counters = world.deployment.counters();
        assert_eq!((counters.waiting(), counters.imbalance()), (0, 0));
        assert!(lost > 100, "life {life}: {lost} lost, {answered} answered");
        assert_eq!(counters.dropped_for(Reason::LOST) - lost_before, lost);
        world.burst_down(0);
    }
    let _second = Second::start(&path);
    world.attach();
    let mut calls = vec![Call::new(Packet::new(&[1; FRONT + 1], PortId(1)), FRONT, [SUM; FIELDS_MAX], 9)];
    world.lanes[0].0.call(&mut calls, world.now_ns);
    let mut out = Vec::new();
    while out.is_empty() {
        world.now_ns += MS;
        world.lanes[0].0.poll(world.now_ns, &mut out);
    }
    assert_eq!(out[0].fields[4], 42, "settings are in place again");
}

impl World {
    /// With nobody there, calls are dropped as such.
    fn burst_down(&mut self, lane: usize) {
        let mut calls = vec![Call::new(Packet::new(&[1; FRONT + 1], PortId(1)), FRONT, [0; FIELDS_MAX], 9)];
        self.lanes[lane].0.call(&mut calls, self.now_ns);
        assert_eq!(calls[0].outcome, Outcome::Dropped(Reason::DOWN));
    }
}

#[test]
fn a_process_that_hangs_fills_its_ring_and_stops_nobody() {
    let folder = folder();
    let path = socket(&folder);
    let mut rng = testkit::rng(6);
    let mut world = World::new(&Place::Process(path.clone()), 1, Rings { calls: 64, words: 1 << 12 });
    let second = Second::start(&path);
    world.attach();
    second.signal("-STOP");
    for _ in 0..100 {
        world.now_ns += MS;
        world.burst(0, &mut rng, 32);
        world.poll(0);
    }
    assert!(world.full > 1000, "{} found the ring full", world.full);
    let counters = world.deployment.counters();
    assert_eq!((counters.dropped_for(Reason::FULL), counters.dropped_for(Reason::LOST)), (u64::from(world.full), 0));
    second.signal("-CONT");
    world.settle();
}

#[test]
fn another_service_or_a_second_one_beside_the_first_is_turned_away() {
    let folder = folder();
    let path = socket(&folder);
    let mut world = World::new(&Place::Process(path.clone()), 1, Rings::default());
    use std::io::{Read, Write};
    let mut stranger = std::os::unix::net::UnixStream::connect(&path).unwrap();
    stranger.write_all(&[b'x'; 64]).unwrap();
    for _ in 0..3 {
        world.now_ns += process::CHECK_NS;
        world.burst_down(0);
    }
    assert_eq!(stranger.read(&mut [0; 8]).unwrap(), 0, "closed");
    // Who says nothing is turned away after a while.
    let mut silent = std::os::unix::net::UnixStream::connect(&path).unwrap();
    for _ in 0..200 {
        world.now_ns += process::CHECK_NS;
        world.burst_down(0);
    }
    assert_eq!(silent.read(&mut [0; 8]).unwrap(), 0, "closed");
    let _second = Second::start(&path);
    world.attach();
}

/// Each of them had the place for a second, and others' turn came behind all of them.
#[test]
fn who_connects_and_says_nothing_keeps_no_service_out() {
    let folder = folder();
    let path = socket(&folder);
    let mut world = World::new(&Place::Process(path.clone()), 1, Rings::default());
    use std::io::{ErrorKind, Read, Write};
    let mut silent: Vec<_> = (0..100).map(|_| std::os::unix::net::UnixStream::connect(&path).unwrap()).collect();
    // One behind them that says who it is: it is turned away for that.
    let mut heard = std::os::unix::net::UnixStream::connect(&path).unwrap();
    heard.set_nonblocking(true).unwrap();
    heard.write_all(&[b'x'; 64]).unwrap();
    let mut looks = 0;
    while heard.read(&mut [0; 8]).is_err_and(|e| e.kind() == ErrorKind::WouldBlock) {
        looks += 1;
        assert!(looks <= 20, "it is not heard");
        world.now_ns += process::CHECK_NS;
        world.burst_down(0);
    }
    // The last ones of them may still say it.
    silent[99].set_nonblocking(true).unwrap();
    assert!(silent[99].read(&mut [0; 8]).is_err_and(|e| e.kind() == ErrorKind::WouldBlock));
    let _second = Second::start(&path);
    world.attach();
}

/// By the lanes' own time: what 100 ms are to a machine that has other work is not the seam's.
#[test]
fn a_process_that_is_killed_is_noticed_within_100_ms() {
    const LIMIT_NS: u64 = 100_000_000;
    const { assert!(process::CHECK_NS < LIMIT_NS) };
    let folder = folder();
    let path = socket(&folder);
    let mut rng = testkit::rng(8);
    for _ in 0..5 {
        let mut world = World::new(&Place::Process(path.clone()), 1, Rings::default());
        let mut second = Second::start(&path);
        world.attach();
        (0..20).for_each(|_| world.burst(0, &mut rng, 30));
        second.kill();
        let killed_ns = world.now_ns;
        let (mut lost, mut out) = (0, Vec::new());
        while world.now_ns < killed_ns + LIMIT_NS && lost == 0 {
            world.now_ns += MS;
            world.lanes[0].0.poll(world.now_ns, &mut out);
            lost = out.iter().filter(|call| call.outcome == Outcome::Dropped(Reason::LOST)).count();
        }
        assert!(lost > 0, "nothing was lost in {} ms", (world.now_ns - killed_ns) / MS);
        assert_eq!(world.deployment.counters().waiting(), 0, "what it had came out together");
    }
}
