//! Targets of one program beside each other: what is done to one is done to all, and everything that can be seen of them
//! must be equal.
//!
//! The oracle is the interpreter with the whole of every table. Compared with it are x86 alone, and a chip's model in front
//! of x86. All steps are kept: when something differs, they are replayed to find a shorter way to it ([`crate::common::shrink`]).

use std::collections::{BTreeMap, HashMap};

use base::{DropReason, Packet, PortId, Verdict, VerdictKind};
use offload::{Path, Split, Unit};
use program::{ApplyError, Batch, CounterId, Program, TableId};
use target_api::{BURST, Count, Lane, Target};
use target_asic::{Asic, Limits};

use super::mirror::Mirror;
use super::program::Setup;
use super::shrink;

/// A frame to come in.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Frame {
    /// By this port.
    pub port: PortId,
    /// From the first byte of Ethernet on.
    pub bytes: Vec<u8>,
}

/// What the oracle made of a frame.
#[derive(Clone, Debug)]
pub(crate) struct Outcome {
    /// Its decision.
    pub verdict: Verdict,
    /// The frame afterwards.
    pub bytes: Vec<u8>,
}

/// One step of a case.
#[derive(Clone)]
pub(super) enum Step {
    /// A session's changes, or nobody's with the facts of session 0.
    Apply(Unit, Batch),
    /// A burst at a time.
    Burst(u64, Vec<Frame>),
    /// A session moves to the chip, with this copy of it, or from it.
    Move(Unit, Option<Batch>),
}

/// What has been compared, and how often each thing has happened.
#[derive(Default, Debug)]
pub(crate) struct Compared {
    /// Packets.
    pub packets: u64,
    /// Batches that all applied, and that all refused.
    pub batches: (u64, u64),
    /// Verdicts of the oracle, by kind.
    pub kinds: [u64; 8],
    /// Drops and punts of the oracle, by reason.
    pub reasons: HashMap<u8, u64>,
    /// Hits and misses in the oracle, by table.
    pub tables: HashMap<String, (u64, u64)>,
    /// Forwarded packets of rare kinds, as the test calls them.
    pub shapes: BTreeMap<&'static str, u64>,
    /// Packets that the pair's chip and x86 ran to their end.
    pub paths: (u64, u64),
    /// Sessions that the chip refused.
    pub refused_by_chip: u64,
    /// Sessions that moved to the chip, and from it.
    pub moves: (u64, u64),
}

/// A difference, and where it showed.
pub(super) struct Difference {
    /// In words.
    pub what: String,
    /// The frame of the last step that differs; `None`: a batch or a counter.
    pub frame: Option<usize>,
}

/// The model of a chip. Of most small ones packets that ask for more than a chip does go on to x86; sessions with a rate stay away from those.
fn model(setup: &Setup) -> Asic {
    let asic = Asic::load(setup.ir.clone(), setup.chip).unwrap_or_else(|e| panic!("{e}"));
    let entries = setup.chip.session_entries;
    if entries >= 40 || entries % 10 >= 7 {
        return asic;
    }
    asic.limited(Limits { once: true, parse_depth_bytes: 40 + entries * 7 % 160, varbits: false, digests_per_second: 1000 })
}

/// The targets of a case.
pub(crate) struct Fleet {
    setup: Setup,
    oracle: Asic,
    oracle_lane: Box<dyn Lane>,
    whole_lane: Box<dyn Lane>,
    split: Split,
    split_lane: Box<dyn Lane>,
    mirror: Mirror,
    /// Hits and misses of x86 alone before the case.
    before: HashMap<TableId, (u64, u64)>,
    steps: Vec<Step>,
    now_ns: u64,
    compared: Compared,
}

impl Fleet {
    /// Targets with empty tables. The clock shows `now_ns`.
    pub(crate) fn new(setup: &Setup, now_ns: u64) -> Fleet {
        let oracle = Asic::oracle(setup.ir.clone()).unwrap_or_else(|e| panic!("{e}"));
        let fast: Box<dyn Target> = match setup.kernel {
            true => super::program::kernel(&setup.ir, setup.chip),
            false => Box::new(model(setup)),
        };
        let base = Box::new(setup.base.clone());
        let split = Split::new(fast, base, setup.policy.clone()).unwrap_or_else(|e| panic!("{e}"));
        let mut before = HashMap::new();
        for id in setup.ir.program.tables.keys() {
            let stats = setup.whole.table_stats(id);
            before.insert(id, (stats.hits, stats.misses));
        }
        Fleet {
            oracle_lane: oracle.lane(0),
            whole_lane: setup.whole.lane(0),
            split_lane: split.lane(0),
            setup: setup.clone(),
            oracle,
            split,
            mirror: Mirror::default(),
            before,
            steps: Vec::new(),
            now_ns,
            compared: Compared::default(),
        }
    }

    /// The clock.
    pub(crate) fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// The pair.
    pub(crate) fn split(&self) -> &Split {
        &self.split
    }

    /// A counter's cell, from the oracle; the others are compared with it by [`Fleet::finish`].
    pub(crate) fn count(&self, counter: CounterId, cell: u64) -> Count {
        self.oracle.counter(counter, cell)
    }

    /// Counts a forwarded packet of a rare kind.
    pub(crate) fn note(&mut self, shape: &'static str) {
        *self.compared.shapes.entry(shape).or_default() += 1;
    }

    /// Lets time pass.
    pub(crate) fn wait(&mut self, ns: u64) {
        self.now_ns += ns;
    }

    /// Applies changes to all targets, which must agree whether they fit.
    pub(crate) fn apply(&mut self, facts: &Unit, batch: &Batch) -> Result<(), ApplyError> {
        let step = Step::Apply(*facts, batch.clone());
        self.steps.push(step.clone());
        match self.step(&step) {
            Ok((result, _)) => result,
            Err(difference) => self.fail(difference),
        }
    }

    /// Moves a session of the pair to the chip, with this copy of it, or from it, if it can be.
    pub(crate) fn move_session(&mut self, facts: &Unit, copy: Option<Batch>) {
        let step = Step::Move(*facts, copy);
        self.steps.push(step.clone());
        if let Err(difference) = self.step(&step) {
            self.fail(difference);
        }
    }

    /// Runs frames in bursts through all targets and compares; gives what became of them in the oracle.
    pub(crate) fn run(&mut self, frames: &[Frame]) -> Vec<Outcome> {
        let mut outcomes = Vec::with_capacity(frames.len());
        for burst in frames.chunks(BURST) {
            let step = Step::Burst(self.now_ns, burst.to_vec());
            self.steps.push(step.clone());
            match self.step(&step) {
                Ok((_, of_burst)) => outcomes.extend(of_burst),
                Err(difference) => self.fail(difference),
            }
        }
        outcomes
    }

    /// Compares counters and tables now.
    pub(crate) fn check_state(&mut self) {
        if let Some(what) = self.state_difference() {
            self.fail(Difference { what, frame: None });
        }
    }

    /// Compares counters and tables, empties the targets and gives the tally.
    pub(crate) fn finish(&mut self) -> Compared {
        self.check_state();
        let program = &self.setup.ir.program;
        for (id, table) in &program.tables {
            let stats = self.oracle.table_stats(id);
            self.compared.tables.insert(table.name.clone(), (stats.hits, stats.misses));
        }
        for ((path, _), count) in self.split.traffic() {
            let sum = if path == Path::Fast { &mut self.compared.paths.0 } else { &mut self.compared.paths.1 };
            *sum += count.packets;
        }
        self.compared.refused_by_chip = self.split.refused_by_fast();
        let emptying = self.mirror.emptying(program);
        for target in [&self.setup.whole, &self.setup.base] {
            target.apply(&emptying).unwrap_or_else(|e| panic!("{} cannot be emptied: {e}", target.name()));
        }
        for (id, table) in &program.tables {
            let source = table.entries.len() as u64;
            assert_eq!(self.setup.whole.table_stats(id).entries, source, "x86 alone, table {}", table.name);
            assert_eq!(self.setup.base.table_stats(id).entries, source, "x86 of the pair, table {}", table.name);
        }
        std::mem::take(&mut self.compared)
    }

    /// Takes the case's entries out of the targets that other cases use too, even if they are not what they should be.
    pub(super) fn scrub(&self) {
        for target in [&self.setup.whole, &self.setup.base] {
            self.mirror.scrub(&self.setup.ir.program, &**target);
        }
    }

    fn fail(&mut self, difference: Difference) -> ! {
        let steps = std::mem::take(&mut self.steps);
        self.scrub();
        if self.setup.kernel {
            // To load the program anew for each attempt takes seconds: no search for a smaller case.
            panic!("{}\n{:#?}", difference.what, difference.frame);
        }
        panic!("{}", shrink::report(&self.setup, steps, difference));
    }

    /// Does one step and compares.
    pub(super) fn step(&mut self, step: &Step) -> Result<(Result<(), ApplyError>, Vec<Outcome>), Difference> {
        match step {
            Step::Apply(facts, batch) => Ok((self.apply_step(facts, batch)?, Vec::new())),
            Step::Burst(now_ns, frames) => {
                self.now_ns = *now_ns;
                Ok((Ok(()), self.burst_step(frames)?))
            }
            Step::Move(facts, copy) => {
                match copy {
                    Some(copy) => self.compared.moves.0 += u64::from(self.split.move_to_fast(facts, copy).is_ok()),
                    None => self.compared.moves.1 += u64::from(self.split.move_to_base(facts.id).is_ok()),
                }
                Ok((Ok(()), Vec::new()))
            }
        }
    }

    fn apply_step(&mut self, facts: &Unit, batch: &Batch) -> Result<Result<(), ApplyError>, Difference> {
        self.mirror.attempt(&self.setup.ir.program, batch);
        let oracle = self.oracle.apply(batch);
        let whole = self.setup.whole.apply(batch);
        let split = self.split.apply_session(facts, batch);
        if oracle != whole || oracle != split {
            let what = format!("a batch's result differs\noracle: {oracle:?}\nx86:    {whole:?}\nsplit:  {split:?}");
            return Err(Difference { what, frame: None });
        }
        match &oracle {
            Ok(()) => {
                self.mirror.follow(&self.setup.ir.program, batch);
                self.compared.batches.0 += 1;
            }
            Err(_) => self.compared.batches.1 += 1,
        }
        Ok(oracle)
    }

    fn burst_step(&mut self, frames: &[Frame]) -> Result<Vec<Outcome>, Difference> {
        let run = |lane: &mut Box<dyn Lane>| {
            let mut packets: Vec<Packet> = frames.iter().map(|f| Packet::new(&f.bytes, f.port)).collect();
            let mut verdicts = vec![Verdict::default(); frames.len()];
            lane.process(&mut packets, &mut verdicts, self.now_ns);
            (packets, verdicts)
        };
        let (expected, verdicts) = run(&mut self.oracle_lane);
        for (name, lane) in [("x86", &mut self.whole_lane), ("split", &mut self.split_lane)] {
            let (packets, others) = run(lane);
            for (i, frame) in frames.iter().enumerate() {
                let what = difference(frame, (&verdicts[i], &expected[i]), (&others[i], &packets[i]));
                if let Some(what) = what {
                    let what = format!("frame {i} of {}: {name} differs from the oracle: {what}", frames.len());
                    return Err(Difference { what, frame: Some(i) });
                }
            }
        }
        self.compared.packets += frames.len() as u64;
        for verdict in &verdicts {
            self.compared.kinds[verdict.kind as usize] += 1;
            if matches!(verdict.kind, VerdictKind::Drop | VerdictKind::Punt) {
                *self.compared.reasons.entry(verdict.reason).or_default() += 1;
            }
        }
        Ok(expected.iter().zip(verdicts).map(|(p, verdict)| Outcome { verdict, bytes: p.data().to_vec() }).collect())
    }

    /// Counters and tables that are not as the oracle's.
    pub(super) fn state_difference(&self) -> Option<String> {
        let mut lines = Vec::new();
        let program = &self.setup.ir.program;
        for (id, counter) in program.counters.iter().filter(|(_, c)| c.table.is_none()) {
            for cell in 0..counter.size {
                let expected = self.oracle.counter(id, cell);
                let (whole, split) = (self.setup.whole.counter(id, cell), self.split.counter(id, cell));
                if whole != expected || split != expected {
                    lines.push(format!("counter {}[{cell}]: oracle {expected:?}, x86 {whole:?}, split {split:?}", counter.name));
                }
            }
        }
        for (id, table) in &program.tables {
            let expected = self.oracle.table_stats(id);
            let whole = self.setup.whole.table_stats(id);
            let base = self.split.base().table_stats(id);
            let fast = self.split.fast().expect("a chain of two").table_stats(id);
            let mut differ = |what: &str, a: u64, b: u64| {
                if a != b {
                    lines.push(format!("table {}, {what}: oracle {a}, other {b}", table.name));
                }
            };
            differ("entries kept beside", expected.entries, self.mirror.len(id) + table.entries.len() as u64);
            differ("entries of x86", expected.entries, whole.entries);
            differ("entries of the pair's x86", expected.entries, base.entries);
            if !table.split {
                differ("entries of the pair's chip", expected.entries, fast.entries);
            }
            let (hits, misses) = self.before.get(&id).copied().unwrap_or_default();
            differ("hits of x86", expected.hits, whole.hits - hits);
            differ("misses of x86", expected.misses, whole.misses - misses);
        }
        let more = lines.len().saturating_sub(20);
        lines.truncate(20);
        if more > 0 {
            lines.push(format!("and {more} more"));
        }
        (!lines.is_empty()).then(|| format!("counters or tables differ:\n{}", lines.join("\n")))
    }
}

/// What differs between two ends of a frame.
fn difference(frame: &Frame, expected: (&Verdict, &Packet), other: (&Verdict, &Packet)) -> Option<String> {
    let end = |(v, p): (&Verdict, &Packet)| format!("{v:?}\n  {}", hex(p.data()));
    let same = expected.0 == other.0
        && match expected.0.kind {
            // The bytes are unspecified then, not their number.
            VerdictKind::Drop => other.1.len() == frame.bytes.len(),
            _ => expected.1.data() == other.1.data(),
        }
        && expected.1.port == other.1.port;
    (!same).then(|| format!("\noracle {}\nother  {}", end(expected), end(other)))
}

/// Bytes as two digits each.
pub(super) fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

impl Compared {
    /// Adds another case's.
    pub(crate) fn add(&mut self, other: Compared) {
        self.packets += other.packets;
        self.batches = (self.batches.0 + other.batches.0, self.batches.1 + other.batches.1);
        self.kinds.iter_mut().zip(other.kinds).for_each(|(sum, n)| *sum += n);
        other.reasons.into_iter().for_each(|(reason, n)| *self.reasons.entry(reason).or_default() += n);
        for (table, (hits, misses)) in other.tables {
            let sum = self.tables.entry(table).or_default();
            *sum = (sum.0 + hits, sum.1 + misses);
        }
        other.shapes.into_iter().for_each(|(shape, n)| *self.shapes.entry(shape).or_default() += n);
        self.paths = (self.paths.0 + other.paths.0, self.paths.1 + other.paths.1);
        self.refused_by_chip += other.refused_by_chip;
        self.moves = (self.moves.0 + other.moves.0, self.moves.1 + other.moves.1);
    }

    /// As text, by names.
    pub(crate) fn summary(&self, program: &Program) -> String {
        let mut tables: Vec<String> = self.tables.iter().map(|(name, (hits, misses))| format!("  {name}: {hits}/{misses}")).collect();
        let mut reasons: Vec<String> = self.reasons.iter().map(|(code, n)| format!("  {}: {n}", program.reason_name(*code))).collect();
        tables.sort();
        reasons.sort();
        let [forward, buffer, punt, drop, ..] = self.kinds;
        format!(
            "{} packets: {forward} forward, {buffer} buffer, {punt} punt, {drop} drop\nthe chip ran {}, x86 behind it {}; {} sessions without room, {} moved there and {} back\n\
             {} batches applied, {} refused\nhits/misses:\n{}\nreasons:\n{}\nshapes: {:?}",
            self.packets,
            self.paths.0,
            self.paths.1,
            self.refused_by_chip,
            self.moves.0,
            self.moves.1,
            self.batches.0,
            self.batches.1,
            tables.join("\n"),
            reasons.join("\n"),
            self.shapes,
        )
    }

    /// Drops and punts for a reason.
    pub(crate) fn reason(&self, code: u8) -> u64 {
        self.reasons.get(&code).copied().unwrap_or(0)
    }

    /// Drops because the frame did not fit any more.
    pub(crate) fn too_long(&self) -> u64 {
        self.reason(DropReason::NO_HEADROOM.0)
    }
}
