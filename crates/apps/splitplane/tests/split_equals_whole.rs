//! Split equals whole: the product's promise. For the same packets, table entries and clock, x86 alone and a chip's model in
//! front of x86 give the same verdicts, bytes, order and counters as the interpreter that runs the whole of `upf.p4`.
//!
//! Sessions go through the real lowering (`upf::plane`), punted packets to the real host; networks, sessions and frames are
//! random. `SPLIT_SEED` and `SPLIT_CASES` choose the cases; a failing one prints its seed, the frame, both ends and the
//! interpreter's trace.
//!
//! Sessions move between the chip and x86 at random, and their rates with them. Where several targets police one rate, each has a
//! bucket of its own: a class's rate shared by sessions of both targets is not exact. [`world::Flavour`] keeps those where they are.

#[path = "split_equals_whole/churn.rs"]
mod churn;
mod common;
#[path = "split_equals_whole/packets.rs"]
mod packets;
#[path = "split_equals_whole/sessions.rs"]
mod sessions;
#[path = "split_equals_whole/user_packet.rs"]
mod user_packet;
#[path = "split_equals_whole/world.rs"]
mod world;

use std::collections::{BTreeMap, HashMap};
use std::time::{Duration, Instant};

use base::{PortId, VerdictKind};
use churn::Churn;
use common::{CHECKED, Cases, Compared, Fleet, Frame, Setup, compile, native};
use offload::{Policy, Unit};
use pfcp::rules::{Seid, SessionRules, UserPlane};
use program::{ApplyError, Batch, CounterId, Program};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use rand_chacha::rand_core::SeedableRng;
use sessions::Shape;
use target_asic::Chip;
use upf::criteria::Criteria;
use upf::host::Action;
use upf::plane::{BufferFate, DataPlane, Plane, SessionInfo};
use world::World;

/// The fleet as a user plane's data plane.
struct Data {
    fleet: Fleet,
    chosen: [Criteria; 2],
    /// Frames that wait, by PDR number.
    buffered: HashMap<u32, Vec<Frame>>,
    /// Those to go through the pipeline again.
    released: Vec<Frame>,
    sent: Vec<Frame>,
}

impl DataPlane for Data {
    fn apply(&mut self, session: &SessionInfo, batch: &Batch, buffers: &[(u32, BufferFate)]) -> Result<(), ApplyError> {
        self.fleet.apply(&self.facts(session), batch)?;
        for (pdr, fate) in buffers {
            let waiting = self.buffered.remove(pdr).unwrap_or_default();
            if *fate == BufferFate::Release {
                self.released.extend(waiting);
            }
        }
        Ok(())
    }

    fn count(&mut self, counter: CounterId, cell: u64) -> target_api::Count {
        self.fleet.count(counter, cell)
    }

    fn transmit(&mut self, port: PortId, bytes: Vec<u8>) {
        self.sent.push(Frame { port, bytes });
    }
}

impl Data {
    fn facts(&self, session: &SessionInfo) -> Unit {
        let chosen = self.chosen.iter().any(|of| of.hold_for(session));
        Unit { id: session.seid, metered: session.has_meters, chosen, ..Unit::default() }
    }
}

/// A case on its way.
struct Run {
    rng: ChaCha8Rng,
    world: World,
    /// Whether the fast target is the kernel.
    kernel: bool,
    plane: Plane<Data>,
    sessions: BTreeMap<Seid, SessionRules>,
    next_seid: Seid,
    churn: Churn,
    /// Rules that the plane refused.
    refused: u64,
    /// Most sessions that were on the chip at a time.
    on_chip: usize,
}

fn case(setup: &Setup, seed: u64) -> (Compared, u64, usize) {
    let mut rng = ChaCha8Rng::seed_from_u64(seed);
    let world = World::new(&mut rng);
    let setup = Setup { policy: world.policy.clone(), chip: world.chip, ..setup.clone() };
    let fleet = Fleet::new(&setup, rng.random_range(0..1 << 50));
    let data = Data { fleet, chosen: world.chosen.clone(), buffered: HashMap::new(), released: Vec::new(), sent: Vec::new() };
    let plane = Plane::new(&world.config, &setup.ir.program, data).unwrap_or_else(|e| panic!("{e}"));
    let kernel = setup.kernel;
    let mut run =
        Run { rng, world, kernel, plane, sessions: BTreeMap::new(), next_seid: 1, churn: Churn::default(), refused: 0, on_chip: 0 };
    run.start(&setup);
    for round in 0..14 {
        // Many at first, then some of everything.
        for _ in 0..if round == 0 { 12 } else { run.rng.random_range(0..5) } {
            run.change_session();
        }
        run.change_shared(&setup);
        run.packets();
        run.move_sessions();
        run.on_chip = run.on_chip.max(run.plane.data().fleet.split().sessions_on_fast());
        if run.rng.random_bool(0.3) {
            run.poll();
        }
        if round % 7 == 3 {
            run.plane.data_mut().fleet.check_state();
        }
    }
    run.end()
}

impl Run {
    fn start(&mut self, setup: &Setup) {
        let initial = self.plane.initial_batch().clone();
        let by_hand = world::by_hand(&mut self.rng, &setup.ir.program, self.plane.ids());
        for batch in [initial, by_hand] {
            self.plane.data_mut().fleet.apply(&Unit::default(), &batch).unwrap_or_else(|e| panic!("static entries: {e}"));
        }
    }

    /// Establishes, modifies or ends a session.
    fn change_session(&mut self) {
        let shape = |seid| Shape { seid, rates: self.world.rates() };
        let kind = if self.sessions.len() < 3 { 0 } else { self.rng.random_range(0..10) };
        let some = self.rng.random_range(0..self.sessions.len().max(1));
        let known = self.sessions.iter().nth(some).map(|(seid, rules)| (*seid, rules.clone()));
        match (kind, known) {
            (5..=8, Some((seid, mut rules))) => {
                let shape = shape(seid);
                sessions::modify(&mut self.rng, &shape, &mut rules);
                self.commit(seid, rules);
            }
            (9, Some((seid, _))) => {
                self.sessions.remove(&seid);
                self.plane.commit(seid, None).unwrap_or_else(|e| panic!("session {seid} does not end: {e:?}"));
            }
            _ => {
                // Some have no rates at first.
                let mut shape = shape(self.next_seid);
                shape.rates &= self.rng.random_bool(0.6);
                self.next_seid += 1;
                let rules = sessions::establish(&mut self.rng, &shape);
                self.commit(shape.seid, rules);
            }
        }
        self.settle_released();
    }

    /// Changes entries that belong to no session, or tries to.
    fn change_shared(&mut self, setup: &Setup) {
        let program = &setup.ir.program;
        for _ in 0..self.rng.random_range(0..3) {
            let batch = self.churn.batch(&mut self.rng, program, self.plane.ids());
            if self.plane.data_mut().fleet.apply(&Unit::default(), &batch).is_ok() {
                self.churn.follow(&batch);
            }
        }
        if self.rng.random_bool(0.2) {
            let batch = churn::misfit(&mut self.rng, program, self.plane.ids());
            let result = self.plane.data_mut().fleet.apply(&Unit::default(), &batch);
            assert!(result.is_err(), "a batch that does not fit is applied");
        }
    }

    fn commit(&mut self, seid: Seid, rules: SessionRules) {
        match self.plane.commit(seid, Some(&rules)) {
            Ok(_) => drop(self.sessions.insert(seid, rules)),
            Err(_) => self.refused += 1,
        }
    }

    /// Bursts of random sizes, at random times.
    fn packets(&mut self) {
        for _ in 0..self.rng.random_range(2..6) {
            let ns = match self.rng.random_range(0..10) {
                0 => 0,
                1 => self.rng.random_range(0..10_000_000_000),
                2..=5 => self.rng.random_range(0..100_000_000),
                _ => self.rng.random_range(0..1_000_000),
            };
            self.plane.data_mut().fleet.wait(ns);
            // Often the frames are for a few sessions, whose rates are then used up.
            let few = self.rng.random_bool(0.5);
            let mut busy = self.sessions.clone();
            while few && busy.len() > 2 {
                let some = busy.keys().nth(self.rng.random_range(0..busy.len())).copied();
                busy.retain(|seid, _| Some(*seid) != some);
            }
            let mut frames: Vec<Frame> = (0..self.rng.random_range(1..=64)).map(|_| packets::frame(&mut self.rng, &busy)).collect();
            // A test run in the kernel takes no longer ones: it would hand them on, and a session's rate would be policed in two places.
            frames.retain(|frame| !self.kernel || frame.bytes.len() <= 3500);
            self.run(frames, 0);
        }
    }

    /// Moves some sessions, with packets between and behind.
    fn move_sessions(&mut self) {
        // A class's rate is policed where its sessions are.
        if self.world.flavour == world::Flavour::Rates {
            return;
        }
        for _ in 0..self.rng.random_range(0..4) {
            for _ in 0..self.rng.random_range(1..4) {
                let some = self.rng.random_range(0..self.sessions.len().max(1));
                let Some(seid) = self.sessions.keys().nth(some).copied() else { return };
                let on_chip = self.plane.data().fleet.split().is_on_fast(seid);
                let copy = if on_chip { None } else { self.plane.copy(seid) };
                let facts = Unit { id: seid, ..Unit::default() };
                self.plane.data_mut().fleet.move_session(&facts, copy);
            }
            self.packets();
        }
    }

    /// Runs frames; what is buffered waits, what is punted goes to the host.
    fn run(&mut self, frames: Vec<Frame>, depth: u32) {
        let outcomes = self.plane.data_mut().fleet.run(&frames);
        let mut again = Vec::new();
        for (frame, outcome) in frames.iter().zip(outcomes) {
            match outcome.verdict.kind {
                VerdictKind::Forward => {
                    let shapes = packets::shapes(&frame.bytes, &outcome.bytes);
                    shapes.into_iter().for_each(|shape| self.plane.data_mut().fleet.note(shape));
                }
                VerdictKind::Buffer => {
                    let waiting = self.plane.data_mut().buffered.entry(outcome.verdict.mark).or_default();
                    waiting.push(Frame { port: frame.port, bytes: outcome.bytes });
                }
                VerdictKind::Punt => {
                    let now = Duration::from_nanos(self.plane.data().fleet.now_ns());
                    let actions = self.plane.punt(&outcome.bytes, frame.port, outcome.verdict.reason, outcome.verdict.mark, now);
                    again.extend(self.obey(actions));
                }
                _ => {}
            }
        }
        if !again.is_empty() && depth < 3 {
            self.run(again, depth + 1);
        }
    }

    /// Does what the host wants; gives the frames that are to go through the pipeline.
    fn obey(&mut self, actions: Vec<Action>) -> Vec<Frame> {
        let mut frames = Vec::new();
        for action in actions {
            match action {
                Action::Apply(batch) => {
                    let result = self.plane.data_mut().fleet.apply(&Unit::default(), &batch);
                    result.unwrap_or_else(|e| panic!("the host's batch: {e}"));
                }
                Action::Reinject { port, frame } => frames.push(Frame { port, bytes: frame }),
                Action::Resolved { number } => {
                    let (host, data) = self.plane.host_and_data();
                    let released = host.release(number, []);
                    let result = data.fleet.apply(&Unit::default(), &released.batch);
                    result.unwrap_or_else(|e| panic!("the host's batch: {e}"));
                    frames.extend(released.packets.into_iter().map(|(port, bytes)| Frame { port, bytes }));
                }
                Action::Transmit { port, frame } => frames.extend(packets::answer(port, &frame)),
                Action::Path { .. }
                | Action::ErrorIndication { .. }
                | Action::EndMarker { .. }
                | Action::Drop { .. }
                | Action::Unsent { .. } => {}
            }
        }
        frames
    }

    fn poll(&mut self) {
        let now = Duration::from_nanos(self.plane.data().fleet.now_ns());
        let actions = self.plane.poll(now);
        let frames = self.obey(actions);
        self.run(frames, 0);
    }

    /// What waited goes on, before any later packet.
    fn settle_released(&mut self) {
        let released = std::mem::take(&mut self.plane.data_mut().released);
        self.run(released, 0);
    }

    /// Ends all sessions; with them go their entries.
    fn end(mut self) -> (Compared, u64, usize) {
        for seid in std::mem::take(&mut self.sessions).into_keys() {
            self.plane.commit(seid, None).unwrap_or_else(|e| panic!("session {seid} does not end: {e:?}"));
        }
        assert_eq!(self.plane.in_use(), upf::plane::InUse::default());
        assert!(self.plane.data().fleet.split().sessions_on_fast() <= 1, "more than the entries made by hand");
        (self.plane.data_mut().fleet.finish(), self.refused, self.on_chip)
    }
}

/// How often each thing must have happened in all cases together.
struct Least {
    hits: u64,
    misses: u64,
    /// Of each kind of verdict.
    verdicts: u64,
    /// Each reason that the program declares: few, as a rule.
    reason: u64,
    /// Frames that outgrow the buffer: the MTU stops most.
    too_long: u64,
    /// Packets run by the chip, and as many by x86 behind it.
    path: u64,
    refused_by_chip: u64,
    /// To the chip, and as many from it.
    moves: u64,
    batches: u64,
    batches_refused: u64,
}

/// Of 600 cases with the model of a chip.
const MODEL: Least = Least {
    hits: 2000,
    misses: 1000,
    verdicts: 10_000,
    reason: 300,
    too_long: 1,
    path: 100_000,
    refused_by_chip: 500,
    moves: 2000,
    batches: 20_000,
    batches_refused: 1000,
};

/// Of 12 cases with the kernel, whose test runs take no long frames.
const KERNEL: Least = Least {
    hits: 150,
    misses: 20,
    verdicts: 100,
    reason: 3,
    too_long: 0,
    path: 5000,
    refused_by_chip: 20,
    moves: 40,
    batches: 400,
    batches_refused: 20,
};

/// Everything must have happened often enough for its equality to mean something.
fn check_coverage(sum: &Compared, program: &Program, least: &Least) {
    let mut missing = Vec::new();
    let mut at_least = |what: &str, count: u64, least: u64| {
        if count < least {
            missing.push(format!("{what}: {count}, not {least}"));
        }
    };
    for (table, (hits, misses)) in &sum.tables {
        at_least(&format!("hits of {table}"), *hits, least.hits);
        at_least(&format!("misses of {table}"), *misses, least.misses);
    }
    for kind in [VerdictKind::Forward, VerdictKind::Buffer, VerdictKind::Punt, VerdictKind::Drop] {
        at_least(&format!("{kind:?}"), sum.kinds[kind as usize], least.verdicts);
    }
    for (code, name) in program.reasons.iter().filter(|(code, _)| *code != 0) {
        at_least(name, sum.reason(*code), least.reason);
    }
    at_least("too long", sum.too_long(), least.too_long);
    for shape in ["bytes behind the user's packet", "relayed extension headers", "IPv6 extension headers"] {
        at_least(shape, sum.shapes.get(shape).copied().unwrap_or(0), least.reason);
    }
    at_least("packets run by the chip", sum.paths.0, least.path);
    at_least("packets run by x86 behind the chip", sum.paths.1, least.path);
    at_least("sessions without room on the chip", sum.refused_by_chip, least.refused_by_chip);
    at_least("moves to the chip", sum.moves.0, least.moves);
    at_least("moves from the chip", sum.moves.1, least.moves);
    at_least("batches applied", sum.batches.0, least.batches);
    at_least("batches refused", sum.batches.1, least.batches_refused);
    assert!(missing.is_empty(), "too few:\n{}", missing.join("\n"));
}

#[test]
fn split_equals_whole() {
    let ir = compile("upf.p4", &[("SESSIONS", "256")]);
    let (whole, base) = (native(&ir, 11, &["-O1"]), native(&ir, 12, &["-O0"]));
    let setup = Setup { ir: ir.clone(), whole, base, chip: Chip::default(), policy: Policy::None, kernel: false };
    let (started, cases) = (Instant::now(), Cases::from_env(600));
    let (mut sum, mut refused, mut on_chip) = (Compared::default(), 0, 0);
    for seed in cases.seeds() {
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case(&setup, seed))) {
            Ok((compared, of_case, chip)) => {
                sum.add(compared);
                refused += of_case;
                on_chip += chip;
            }
            Err(failure) => {
                eprintln!("seed {seed:#x} failed; {CHECKED}");
                std::panic::resume_unwind(failure);
            }
        }
    }
    println!("{}", sum.summary(&ir.program));
    println!("{refused} rules refused, {on_chip} sessions on chips, {:?}", started.elapsed());
    if cases.enough() {
        check_coverage(&sum, &ir.program, &MODEL);
    }
}

/// The same with the kernel's XDP hook in front of x86, in test runs.
#[test]
fn kernel_and_x86_equal_the_whole() {
    if !testkit::root_or_skip("kernel_and_x86_equal_the_whole") {
        return;
    }
    let ir = compile("upf.p4", &[("SESSIONS", "256")]);
    let (whole, base) = (native(&ir, 11, &["-O1"]), native(&ir, 12, &["-O0"]));
    let setup = Setup { ir: ir.clone(), whole, base, chip: Chip::default(), policy: Policy::None, kernel: true };
    let cases = Cases::from_env(12);
    let (mut sum, mut on_chip) = (Compared::default(), 0);
    for seed in cases.seeds() {
        match std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| case(&setup, seed))) {
            Ok((compared, _, chip)) => {
                sum.add(compared);
                on_chip += chip;
            }
            Err(failure) => {
                eprintln!("seed {seed:#x} failed; {CHECKED}");
                std::panic::resume_unwind(failure);
            }
        }
    }
    println!("{}", sum.summary(&ir.program));
    println!("{on_chip} sessions in the kernel");
    if cases.enough() {
        check_coverage(&sum, &ir.program, &KERNEL);
        assert!(on_chip > 20, "{on_chip} sessions");
    }
}
