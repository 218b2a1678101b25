//! Services for random programs, beside the interpreter: do programs that call services elsewhere do what the interpreter does, though answers are late,
//! lost and repeated?
//!
//! A second process is the test's own binary, started again: it has an ignored test `the_second_process` that calls [`serve_as_told`].

use crate::Watched;
use base::{DropReason, Packet, PortId, Verdict, VerdictKind};
use p4_gen::random::{self, Rng, Shape};
use p4_interp::{Machine, Mode, ServiceCall, ServiceFate, Services};
use p4_ir::{Ir, ServiceId};
use service::caller::{Make, Rings};
use service::{
    Access, AtOnce, Call, Deployment, FIELDS_MAX, Field, Interface, Order, Place, Question, Reason, Requests, Service, Setting,
    SettingError,
};
use std::collections::{HashMap, HashSet};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Mutex};
use std::time::{Duration, Instant};
use target_api::{Extra, Lane, Returned, Target};

/// How long anything may take that does not depend on how busy the machine is.
pub const PATIENCE: Duration = Duration::from_secs(120);
const fn interface(name: &'static str, request: &'static [Field], answer: &'static [Field]) -> Interface {
    let check_setting = |index, _: Option<&[u8]>| Err(SettingError::Index { index, limit: 0 });
    // By the first field to one of several threads.
    let key = if request.is_empty() { None } else { Some(0) };
    Interface { name, request, answer, key, reasons: &["now_and_then"], access: |_| Access::Write, sends_own: false, check_setting }
}

const fn field(name: &'static str, width: u32) -> Field {
    Field { name, width }
}

/// Those that programs of [`Shape::Calls`] call, as `p4_gen::random` declares them.
pub static INTERFACES: [Interface; 3] = [
    interface("answers", &[field("a", 8), field("b", 3), field("c", 64)], &[field("x", 8), field("y", 9), field("z", 1), field("w", 32)]),
    interface("rewrites", &[field("a", 16)], &[field("x", 8)]),
    interface("silent", &[], &[]),
];

/// When a service answers.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Manner {
    /// Before the call returns.
    AtOnce,
    /// As `AtOnce`, and it says so of three requests in four.
    Asked,
    /// The same, where the order of calls matters.
    AskedInOrder,
    /// As `Asked`, of all requests, and payloads are changed where they lie.
    InPlace,
    /// As `InPlace`, but now and then it declines to answer, and is called.
    Declines,
    /// The same, where the order of calls matters.
    DeclinesInOrder,
    /// As `InPlace`, where the order of calls matters: each answer says how many calls were before it.
    Counts,
    /// By the next poll.
    Late,
    /// At once, by some later poll in another order, or not at all; and now and then twice.
    Chaos,
}

/// One of them, which does what [`random::serve`] does.
pub struct Random {
    number: usize,
    manner: Manner,
    kept: Vec<Call>,
    rng: Rng,
    calls: u8,
}

impl Random {
    /// By its number in [`INTERFACES`].
    pub fn new(number: usize, manner: Manner) -> Random {
        Random { number, manner, kept: vec![], rng: Rng::new(number as u64), calls: 0 }
    }

    /// A second answer to a packet that is kept; its payload is as it came, so not of one that changes it.
    fn copy(&mut self, call: &Call) -> Option<Call> {
        let mut copy = call.copy(&[]);
        copy.fields = call.fields;
        self.serve(&mut copy);
        if self.number == 1 || copy.outcome != service::Outcome::Answered {
            return None;
        }
        copy.outcome = service::Outcome::Copy;
        Some(copy)
    }

    fn serve_in_place(&mut self, question: &mut Question<'_>) {
        let mut call = Call::new(Packet::new(question.payload(), question.port), 0, question.fields, 0);
        self.serve(&mut call);
        if call.outcome == service::Outcome::Answered {
            assert!(question.resize_payload(call.payload().len()), "there is always room for some more bytes");
            question.room[..call.payload().len()].copy_from_slice(call.payload());
        }
        (question.fields, question.outcome) = (call.fields, call.outcome);
    }

    fn serve(&mut self, call: &mut Call) {
        let bytes = |fields: &[Field]| fields.iter().map(|f| f.width as usize).sum::<usize>().div_ceil(8);
        let info = &INTERFACES[self.number];
        let mut payload = call.payload().to_vec();
        let mut answer = vec![0; bytes(info.answer)];
        let drop = random::serve(ServiceId::from_u32(self.number as u32), &call.fields[..bytes(info.request)], &mut payload, &mut answer);
        if self.manner == Manner::Counts {
            count(&mut self.calls, &mut answer);
        }
        assert!(call.resize_payload(payload.len()));
        call.payload_mut().copy_from_slice(&payload);
        match drop {
            Some(_) => call.drop_for(Reason::own(0)),
            None => call.answer(&answer),
        }
    }
}

impl Service for Random {
    fn interface(&self) -> &'static Interface {
        &INTERFACES[self.number]
    }

    fn call(&mut self, burst: &mut [Call], _: u64) {
        for call in burst {
            match self.manner {
                Manner::Chaos if self.rng.once_in(16) => call.drop_for(Reason::LOST),
                Manner::Chaos if self.rng.once_in(4) => self.serve(call),
                Manner::Late | Manner::Chaos => self.kept.push(call.take()),
                _ => self.serve(call),
            }
        }
    }

    fn answer(&mut self, burst: &mut [Question<'_>], now_ns: u64) {
        match self.manner {
            Manner::InPlace | Manner::Counts => burst.iter_mut().for_each(|question| self.serve_in_place(question)),
            Manner::Declines => {
                for question in burst {
                    if !self.rng.once_in(4) {
                        self.serve_in_place(question);
                    }
                }
            }
            Manner::DeclinesInOrder => {
                let asked = burst.len() - if self.rng.once_in(2) { self.rng.below(burst.len() + 1) } else { 0 };
                burst[..asked].iter_mut().for_each(|question| self.serve_in_place(question));
            }
            _ => service::question::by_calls(self, burst, now_ns),
        }
    }

    fn poll(&mut self, _: u64, out: &mut Vec<Call>) {
        let mut kept = std::mem::take(&mut self.kept);
        if self.manner == Manner::Chaos && !kept.is_empty() {
            let first = self.rng.below(kept.len());
            kept.rotate_left(first);
            self.kept = kept.split_off(kept.len().div_ceil(2));
        }
        for mut call in kept {
            if self.manner == Manner::Chaos && self.rng.once_in(4) {
                out.extend(self.copy(&call));
            }
            self.serve(&mut call);
            out.push(call);
        }
    }

    fn next_deadline_ns(&self) -> Option<u64> {
        (!self.kept.is_empty()).then_some(0)
    }

    fn at_once(&self) -> AtOnce {
        match self.manner {
            Manner::Asked | Manner::AskedInOrder => AtOnce {
                requests: Requests::Those(|fields| fields[0] & 3 != 0),
                order: if self.manner == Manner::Asked { Order::Any } else { Order::Packets },
            },
            Manner::InPlace | Manner::Declines => AtOnce::ALWAYS,
            Manner::DeclinesInOrder | Manner::Counts => AtOnce { requests: Requests::All, order: Order::Packets },
            _ => AtOnce::NEVER,
        }
    }

    fn set(&mut self, _: &Setting) -> Result<(), SettingError> {
        Ok(())
    }
}

/// Makes one of them.
pub fn make(number: usize, manner: Manner) -> Make {
    Arc::new(move || Box::new(Random::new(number, manner)))
}

/// Starts one of them.
///
/// # Panics
/// If its place cannot be had.
pub fn deploy(place: &Place, number: usize, manner: Manner) -> Arc<Deployment> {
    Arc::new(Deployment::new(place, make(number, manner), Rings::default()).unwrap_or_else(|e| panic!("{e}")))
}

/// Writes into an answer how many calls there were.
fn count(calls: &mut u8, answer: &mut [u8]) {
    *calls = calls.wrapping_add(1);
    answer.iter_mut().for_each(|byte| *byte ^= *calls);
}

/// What a packet waited for, in the interpreter: the numbers of the services that were called for it, each with the key by which a place steers the call.
pub type Way = Vec<(u32, u64)>;

/// The services inline, for the interpreter.
#[derive(Default)]
pub struct Twin {
    /// How often each was called, of [`Manner::Counts`].
    pub calls: Option<[u8; 3]>,
    /// What the packet that is processed has waited for so far, if somebody wants to know.
    pub way: Option<Arc<Mutex<Way>>>,
}

impl Services for Twin {
    fn call(&mut self, service: ServiceId, call: ServiceCall<'_>) -> ServiceFate {
        if let Some(way) = self.way.as_ref().filter(|_| call.answer.is_some()) {
            let mut fields = [0; FIELDS_MAX];
            fields[..call.request.len()].copy_from_slice(call.request);
            let key = INTERFACES[service.as_u32() as usize].steering_key(&fields);
            way.lock().expect("nobody panics with it").push((service.as_u32(), key));
        }
        let drop = call.answer.and_then(|answer| {
            let drop = random::serve(service, call.request, call.payload, answer);
            if let Some(calls) = &mut self.calls {
                count(&mut calls[service.as_u32() as usize], answer);
            }
            drop
        });
        drop.map_or(ServiceFate::Answered, |_| ServiceFate::Drop(DropReason::SERVICE_REFUSED))
    }
}

/// What became of a packet: a verdict, and the bytes unless it was dropped.
pub type Ended = (Verdict, Vec<u8>);

/// Of a packet that has a verdict.
pub fn ended(verdict: Verdict, bytes: &[u8]) -> Ended {
    (verdict, if verdict.kind == VerdictKind::Drop { vec![] } else { bytes.to_vec() })
}

/// What runs in the second process: one of the services, in the manner that it is told, until its pipeline has gone.
///
/// # Panics
/// Unless [`Second::start`] has started this process.
pub fn serve_as_told() {
    let path = std::env::var_os("SPLITPLANE_TEST_SOCKET").expect("started by another test");
    let number = std::env::var("SPLITPLANE_TEST_SERVICE").ok().and_then(|n| n.parse().ok()).expect("started by another test");
    let manner = if std::env::var_os("SPLITPLANE_TEST_LATE").is_some() { Manner::Late } else { Manner::Chaos };
    service::process::serve(Path::new(&path), &make(number, manner), &AtomicBool::new(false)).expect("it serves");
}

/// A second process with one of the services. It ends with the test.
pub struct Second(Child);

impl Second {
    /// Starts the test's own binary again, for the service of that number in [`Manner::Late`] or [`Manner::Chaos`].
    ///
    /// # Panics
    /// If it does not start.
    pub fn start(path: &Path, number: usize, manner: Manner) -> Second {
        let mut command = Command::new(std::env::current_exe().expect("this test"));
        command.args(["--exact", "the_second_process", "--ignored"]).stdout(Stdio::null());
        command.env("SPLITPLANE_TEST_SOCKET", path).env("SPLITPLANE_TEST_SERVICE", number.to_string());
        match manner {
            Manner::Late => command.env("SPLITPLANE_TEST_LATE", "1"),
            Manner::Chaos => &mut command,
            other => panic!("a second process is not told of {other:?}"),
        };
        Second(command.spawn().expect("this test starts again"))
    }

    /// Kills it with SIGKILL.
    ///
    /// # Panics
    /// If it has ended before.
    pub fn kill(&mut self) {
        self.0.kill().and_then(|()| self.0.wait()).expect("it runs");
    }
}

impl Drop for Second {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// How often each fate of a packet was met.
#[derive(Clone, Copy, Default, Debug)]
pub struct Fates {
    /// Packets, and copies, that ended as the interpreter's.
    pub right: u64,
    /// Copies among those: what the program made beside the packets that came in.
    pub copied: u64,
    /// Packets that repeated answers made.
    pub repeated: u64,
    /// Packets that a service has lost.
    pub lost: u64,
    /// Packets whose service was not there.
    pub down: u64,
    /// Bursts of which nothing was lost or repeated: of those every copy was there.
    pub whole: u64,
}

impl Fates {
    /// Adds those of another program.
    pub fn add(&mut self, other: &Fates) {
        self.right += other.right;
        self.copied += other.copied;
        self.repeated += other.repeated;
        self.lost += other.lost;
        self.down += other.down;
        self.whole += other.whole;
    }
}

/// A lane whose services are elsewhere, beside the interpreter. The program has no registers and meters: they would show the order of packets.
pub struct Contest {
    lane: Watched,
    whole: Machine,
    services: Vec<Arc<Deployment>>,
    rng: Rng,
    now_ns: u64,
    /// All that the interpreter has given so far: a repeated answer may come late.
    given: HashSet<String>,
    /// What was met so far.
    pub fates: Fates,
    until: Instant,
}

impl Contest {
    /// Fills both with entries.
    ///
    /// # Panics
    /// If one of the two refuses them.
    pub fn new(seed: u64, shape: Shape, ir: &Ir, target: &dyn Target, services: &[Arc<Deployment>]) -> Contest {
        let mut whole = Machine::new(Arc::new(ir.clone())).expect("runs");
        whole.set_services(Box::new(Twin::default()));
        let mut batches = vec![random::entries(ir, seed)];
        batches.extend(shape.copies().then(|| random::copies(seed)));
        for batch in &batches {
            whole.apply(batch).expect("fits");
            target.apply(batch).expect("fits");
        }
        Contest {
            lane: Watched::new(target.lane(0)),
            whole,
            services: services.to_vec(),
            rng: Rng::new(seed ^ 0xfeed),
            now_ns: 0,
            given: HashSet::new(),
            fates: Fates::default(),
            until: Instant::now() + PATIENCE,
        }
    }

    /// One burst, until each of its packets is out; whether all services were there.
    ///
    /// # Panics
    /// If a packet does not end as in the interpreter, nor as one that a service has lost; or does not come out.
    pub fn round(&mut self) -> bool {
        let mut expected: HashMap<String, usize> = HashMap::new();
        let mut packets = Vec::new();
        let mut expect = |given: &mut HashSet<String>, ended: Ended| {
            let text = format!("{ended:?}");
            given.insert(text.clone());
            *expected.entry(text).or_default() += 1;
        };
        for _ in 0..32 {
            let (port, bytes) = (PortId(self.rng.below(9) as u16), random::packet(&mut self.rng));
            let out = self.whole.process(&bytes, port, self.now_ns, Mode::Whole);
            expect(&mut self.given, ended(out.verdict, out.bytes));
            self.whole.extra().iter().for_each(|extra| expect(&mut self.given, ended(extra.verdict, &extra.bytes)));
            packets.push(Packet::new(&bytes, port));
        }
        let mut verdicts = vec![Verdict::default(); packets.len()];
        self.lane.process(&mut packets, &mut verdicts, self.now_ns);
        let mut extra: Vec<Extra> = Vec::new();
        self.lane.take_extra(&mut extra);
        let all = packets.len() + extra.len();
        let here = packets.iter().zip(&verdicts).map(|(packet, verdict)| (packet, *verdict));
        let here = here.chain(extra.iter().map(|extra| (&extra.packet, extra.verdict)));
        let mut own: Vec<Ended> =
            here.filter(|(_, verdict)| verdict.kind != VerdictKind::Kept).map(|(packet, verdict)| ended(verdict, packet.data())).collect();
        let mut beside: Vec<Ended> = Vec::new();
        let mut back: Vec<Returned> = Vec::new();
        while own.len() < all || self.services.iter().any(|service| service.counters().waiting() > 0) {
            assert!(Instant::now() < self.until, "{} packets of {all} are out: {:?}", own.len(), self.fates);
            self.now_ns += 1_000_000;
            self.lane.poll(self.now_ns, &mut back);
            for returned in back.drain(..) {
                let ended = ended(returned.verdict, returned.packet.data());
                if returned.copy { &mut beside } else { &mut own }.push(ended);
            }
            std::thread::yield_now();
        }
        assert_eq!(own.len(), all, "each comes out once");
        let before = self.fates;
        let copies = all - packets.len();
        self.fates.copied += copies as u64;
        own.into_iter().for_each(|ended| self.judge(&ended, &mut expected, false));
        beside.into_iter().for_each(|ended| self.judge(&ended, &mut expected, true));
        let Fates { repeated, lost, down, .. } = self.fates;
        if (repeated, lost, down) == (before.repeated, before.lost, before.down) {
            assert!(expected.values().all(|left| *left == 0), "nothing was lost, and these did not come out: {expected:?}");
            self.fates.whole += 1;
        }
        self.now_ns += 1_000_000;
        down == before.down
    }

    /// `beside` are copies that came back from a service, or were made of what came back.
    fn judge(&mut self, ended: &Ended, expected: &mut HashMap<String, usize>, beside: bool) {
        match DropReason(ended.0.reason) {
            DropReason::SERVICE_LOST if is_gone(ended) => self.fates.lost += 1,
            DropReason::SERVICE_DOWN if is_gone(ended) => self.fates.down += 1,
            _ => {
                let text = format!("{ended:?}");
                if let Some(left) = expected.get_mut(&text).filter(|left| **left > 0) {
                    *left -= 1;
                    self.fates.right += 1;
                    self.fates.copied += u64::from(beside);
                } else {
                    // Of a repeated answer, maybe one of a burst before.
                    assert!(
                        beside && self.given.contains(&text),
                        "the interpreter gives no such packet: {text}, beside {beside}, fates {:?}, left {expected:?}",
                        self.fates
                    );
                    self.fates.repeated += 1;
                }
            }
        }
    }

    /// Until the services have been there for so many.
    ///
    /// # Panics
    /// As [`Contest::round`], or if the services do not come.
    pub fn rounds(&mut self, mut count: u32) {
        while count > 0 {
            assert!(Instant::now() < self.until, "the services do not come: {:?}", self.fates);
            count -= u32::from(self.round());
        }
    }
}

fn is_gone((verdict, _): &Ended) -> bool {
    verdict.kind == VerdictKind::Drop && [DropReason::SERVICE_LOST, DropReason::SERVICE_DOWN].contains(&DropReason(verdict.reason))
}

/// Gives the target of a program, by its seed, with its services; `None` if it calls none or cannot be loaded.
pub type Load<'a, T> = dyn FnMut(u64, &Ir, &[Arc<Deployment>]) -> Option<T> + 'a;

/// What was met over several programs.
#[derive(Default, Debug)]
pub struct Met {
    /// Programs that call a service.
    pub programs: u64,
    /// Of all of them.
    pub fates: Fates,
    /// Calls answered, by service.
    pub answered: [u64; 3],
}

/// Programs beside the interpreter, with services in [`Manner::Chaos`] at `places`. `between` runs after eight bursts, ahead of four more.
///
/// # Panics
/// As [`Contest::round`], or if answers were not late, lost and repeated often enough to have tested anything.
pub fn chaos<T: Target>(
    (shape, seeds): (Shape, impl Iterator<Item = u64>),
    places: &[Place; 3],
    load: &mut Load<'_, T>,
    between: &mut dyn FnMut(&mut Contest, &T),
) -> Met {
    let mut met = Met::default();
    for seed in seeds {
        assert!(seed.is_multiple_of(2), "programs of odd seeds have registers and meters");
        let ir = random::shaped(seed, shape);
        println!("seed {seed}");
        let services: Vec<Arc<Deployment>> = places.iter().enumerate().map(|(n, place)| deploy(place, n, Manner::Chaos)).collect();
        let Some(target) = load(seed, &ir, &services) else { continue };
        let mut contest = Contest::new(seed, shape, &ir, &target, &services);
        contest.rounds(8);
        between(&mut contest, &target);
        contest.rounds(4);
        met.programs += 1;
        met.fates.add(&contest.fates);
        for (service, answered) in services.iter().zip(&mut met.answered) {
            let counters = service.counters();
            assert_eq!(counters.imbalance(), 0);
            *answered += counters.answered;
        }
    }
    println!("{met:?}");
    let Fates { right, copied, repeated, lost, .. } = met.fates;
    // The third has no fields, and few programs call it.
    assert!(met.answered[..2].iter().all(|n| *n > 50), "{met:?}");
    assert!(right > 1000 && repeated > 20 && lost > 20 && (copied > 100 || !shape.copies()), "{met:?}");
    met
}

/// What was met where order was looked at.
#[derive(Clone, Copy, Default, Debug)]
pub struct Ordered {
    /// Programs that call a service.
    pub programs: u64,
    /// Packets that waited.
    pub waited: u64,
    /// Packets that came out behind another one of the same way, told apart from it.
    pub pairs: u64,
    /// The same, of packets that waited for several calls.
    pub several: u64,
}

/// Several bursts on the way at once, without a service that reorders by itself ([`Manner::Late`]): does each packet come out as in the interpreter, and those that
/// waited for the same services under the same keys in the order in which they came in?
///
/// # Panics
/// If not. The programs have no registers and meters, and copy no packets.
pub fn in_order<T: Target>(seeds: impl Iterator<Item = u64>, places: &[Place; 3], load: &mut Load<'_, T>) -> Ordered {
    let mut met = Ordered::default();
    for seed in seeds {
        assert!(seed.is_multiple_of(2), "programs of odd seeds have registers and meters");
        println!("seed {seed}");
        let ir = random::shaped(seed, Shape::Calls);
        let services: Vec<Arc<Deployment>> = places.iter().enumerate().map(|(n, place)| deploy(place, n, Manner::Late)).collect();
        let Some(target) = load(seed, &ir, &services) else { continue };
        let mut queue = Queue::new(seed, &ir, &target);
        let mut rounds = 8;
        while rounds > 0 {
            assert!(Instant::now() < queue.until, "the services do not come");
            rounds -= u32::from(queue.round(&mut met));
        }
        services.iter().for_each(|service| assert_eq!(service.counters().imbalance(), 0));
        met.programs += 1;
    }
    println!("{met:?}");
    met
}

/// One program of those.
struct Queue {
    lane: Watched,
    whole: Machine,
    way: Arc<Mutex<Way>>,
    rng: Rng,
    now_ns: u64,
    until: Instant,
}

impl Queue {
    fn new(seed: u64, ir: &Ir, target: &dyn Target) -> Queue {
        let way = Arc::new(Mutex::new(Way::new()));
        let mut whole = Machine::new(Arc::new(ir.clone())).expect("runs");
        whole.set_services(Box::new(Twin { way: Some(way.clone()), ..Twin::default() }));
        let batch = random::entries(ir, seed);
        whole.apply(&batch).expect("fits");
        target.apply(&batch).expect("fits");
        let (rng, until) = (Rng::new(seed ^ 0x0bde), Instant::now() + PATIENCE);
        Queue { lane: Watched::new(target.lane(0)), whole, way, rng, now_ns: 0, until }
    }

    /// Four bursts, which are looked at unless a service was not there.
    fn round(&mut self, met: &mut Ordered) -> bool {
        // Of each way what comes out, in order; and which ways give a packet.
        let mut expected: HashMap<Way, Vec<String>> = HashMap::new();
        let mut ways: HashMap<String, HashSet<Way>> = HashMap::new();
        let (mut out, mut all) = (Vec::new(), 0);
        for _ in 0..4 {
            let mut packets = Vec::new();
            for _ in 0..32 {
                let (port, bytes) = (PortId(self.rng.below(9) as u16), random::packet(&mut self.rng));
                let end = self.whole.process(&bytes, port, self.now_ns, Mode::Whole);
                let text = format!("{:?}", ended(end.verdict, end.bytes));
                let way = std::mem::take(&mut *self.way.lock().expect("nobody panics with it"));
                ways.entry(text.clone()).or_default().insert(way.clone());
                expected.entry(way).or_default().push(text);
                packets.push(Packet::new(&bytes, port));
            }
            let mut verdicts = vec![Verdict::default(); packets.len()];
            self.lane.process(&mut packets, &mut verdicts, self.now_ns);
            all += packets.len();
            let here = packets.iter().zip(&verdicts).filter(|(_, verdict)| verdict.kind != VerdictKind::Kept);
            out.extend(here.map(|(packet, verdict)| ended(*verdict, packet.data())));
        }
        let (mut back, waited) = (Vec::new(), (all - out.len()) as u64);
        while out.len() < all {
            assert!(Instant::now() < self.until, "{} packets of {all} are out", out.len());
            self.now_ns += 1_000_000;
            self.lane.poll(self.now_ns, &mut back);
            out.extend(back.drain(..).map(|returned| ended(returned.verdict, returned.packet.data())));
            std::thread::yield_now();
        }
        self.now_ns += 10_000_000;
        if out.iter().any(is_gone) {
            return false;
        }
        let out: Vec<String> = out.iter().map(|ended| format!("{ended:?}")).collect();
        let mut sorted: [Vec<&String>; 2] = [out.iter().collect(), expected.values().flatten().collect()];
        sorted.iter_mut().for_each(|texts| texts.sort());
        assert_eq!(sorted[0], sorted[1], "each packet comes out as in the interpreter");
        for (way, texts) in &expected {
            // What two ways give tells nothing.
            let own = |text: &&String| ways[*text].len() == 1 && ways[*text].contains(way);
            let expected: Vec<&String> = texts.iter().filter(own).collect();
            let got: Vec<&String> = out.iter().filter(own).collect();
            assert_eq!(got, expected, "packets that waited for {way:?}");
            let pairs = expected.windows(2).filter(|pair| pair[0] != pair[1]).count() as u64;
            met.pairs += if way.is_empty() { 0 } else { pairs };
            met.several += if way.len() > 1 { pairs } else { 0 };
        }
        met.waited += waited;
        true
    }
}
