//! For tests: sessions that live, change and move, on a chain whose targets in front of the base target fail on purpose, beside the
//! interpreter that runs all of it alone.
#![forbid(unsafe_code)]

use base::{Packet, PortId, Verdict, VerdictKind};
use offload::{MoveError, OnRefusal, Path, Policy, Split, Stage, Unit};
use p4_ir::Ir;
use program::*;
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use std::collections::BTreeMap;
use std::sync::Arc;
use target_api::{BURST, HeldEntry, Lane, Meters, SharedMeter, Target, in_chunks};
use target_asic::{Asic, Chip};
use target_chaos::{Chaos, Faults, Tally};

/// Cells of counter and meter; 0 is nobody's.
const CELLS: u64 = 256;
/// Most sessions at a time.
const SESSIONS: usize = 40;
const NANO: u64 = 1_000_000_000;

/// The program of sessions that move: a key leads to a group, with a class to a rule, and that to a count and a way out.
pub const SOURCE: &str = include_str!("moves.p4");

/// [`SOURCE`], optimised.
pub fn compile() -> Arc<Ir> {
    compile_with(&[])
}

/// The same, with packets that are over a rate waiting.
pub fn compile_shaped() -> Arc<Ir> {
    compile_with(&[("SHAPE".into(), "1".into())])
}

fn compile_with(defines: &[(String, String)]) -> Arc<Ir> {
    p4_driver::Program::compile_text("moves.p4", SOURCE, defines).unwrap_or_else(|e| panic!("{e}")).ir
}

/// The program as native code.
pub fn native(ir: &Ir) -> target_x86::X86 {
    native_with(ir, Vec::new())
}

/// On meters that another target shares.
pub fn native_with(ir: &Ir, meters: Vec<Option<Arc<SharedMeter>>>) -> target_x86::X86 {
    let options = target_x86::Options { flags: vec!["-O1".into()], seed: 3, meters, ..Default::default() };
    p4_driver::X86Program::of(ir).and_then(|x86| x86.load_whole(&options)).unwrap_or_else(|e| panic!("{e}"))
}

/// Objects of [`SOURCE`].
#[derive(Clone, Copy)]
pub struct Ids {
    /// A session's key to its rule, or to its group and class. Split.
    pub by_key: TableId,
    /// A packet's kind to a class. Held by all.
    pub filter: TableId,
    /// Group and class to a rule. Split.
    pub by_class: TableId,
    /// Counts, polices and sends.
    pub rule: ActionId,
    /// Goes on with `filter` and `by_class`.
    pub classify: ActionId,
    /// Of `filter`.
    pub set_class: ActionId,
    /// By a session's cell.
    pub usage: CounterId,
    /// By a session's cell for meters.
    pub rate: MeterId,
}

impl Ids {
    /// Finds them.
    pub fn new(program: &Program) -> Ids {
        let table = |name: &str| program.tables.iter().find(|(_, t)| t.name == name).unwrap().0;
        let action = |name: &str| program.actions.iter().find(|(_, a)| a.name == name).unwrap().0;
        Ids {
            by_key: table("by_key"),
            filter: table("filter"),
            by_class: table("by_class"),
            rule: action("rule"),
            classify: action("classify"),
            set_class: action("set_class"),
            usage: program.counters.keys().next().unwrap(),
            rate: program.meters.keys().next().unwrap(),
        }
    }
}

/// A session as the control plane knows it.
#[derive(Clone, Default)]
pub struct Session {
    /// Tables' entries in the order of their insertion.
    pub entries: Vec<Entry>,
    pub keys: Vec<u32>,
    pub meters: BTreeMap<u64, MeterConfig>,
    pub cells: Vec<u64>,
}

impl Session {
    /// What a move takes along.
    pub fn copy(&self, ids: &Ids) -> Batch {
        let meters = self.meters.iter().map(|(index, config)| Op::Meter { meter: ids.rate, index: *index, config: Some(*config) });
        Batch { ops: meters.chain(self.entries.iter().cloned().map(Op::Insert)).collect() }
    }
}

/// What a case may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Flavour {
    /// Rates, and a fast target that runs all that it holds while it lives.
    Rates,
    /// A fast target that hands on what it likes and dies under traffic; no rates, which would be in two places then.
    Whims,
    /// Both at once, on a pair that shares its meters' cells.
    Shared,
}

/// What has happened.
#[derive(Default, Debug)]
pub struct Seen {
    pub moves: u64,
    pub to_fast: u64,
    pub failed: BTreeMap<&'static str, u64>,
    pub packets: u64,
    pub kinds: BTreeMap<String, u64>,
    pub paths: (u64, u64),
    /// Packets by stage.
    pub stages: Vec<u64>,
    /// Bursts of a chain with some stages in service and some retired.
    pub in_part: u64,
    /// Changes that a stage refused for all.
    pub refused: u64,
    /// Batches of which targets said that they do not fit a second time.
    pub refused_again: u64,
    pub left: u64,
    pub recoveries: u64,
    /// Buckets that were neither full nor empty and equal on both sides, when they were compared.
    pub partial_buckets: u64,
    /// Entries that were read back, and compared.
    pub read_back: usize,
    pub faults: Tally,
}

impl Seen {
    pub fn add(&mut self, other: Seen) {
        self.moves += other.moves;
        self.to_fast += other.to_fast;
        self.packets += other.packets;
        self.read_back += other.read_back;
        self.left += other.left;
        self.recoveries += other.recoveries;
        self.partial_buckets += other.partial_buckets;
        self.in_part += other.in_part;
        self.refused += other.refused;
        self.refused_again += other.refused_again;
        self.stages.resize(other.stages.len().max(self.stages.len()), 0);
        self.stages.iter_mut().zip(other.stages).for_each(|(sum, n)| *sum += n);
        self.paths = (self.paths.0 + other.paths.0, self.paths.1 + other.paths.1);
        other.failed.into_iter().for_each(|(what, n)| *self.failed.entry(what).or_default() += n);
        other.kinds.into_iter().for_each(|(what, n)| *self.kinds.entry(what).or_default() += n);
        self.faults.add(&other.faults);
    }
}

pub struct World {
    pub rng: ChaCha8Rng,
    flavour: Flavour,
    ids: Ids,
    oracle: Asic,
    oracle_lane: Box<dyn Lane>,
    pub split: Split,
    split_lane: Box<dyn Lane>,
    /// The targets in front.
    chaos: Vec<Arc<Chaos>>,
    sessions: BTreeMap<u64, Session>,
    next_seid: u64,
    next_key: u32,
    version: u128,
    free_cells: Vec<u64>,
    filters: BTreeMap<u8, Entry>,
    sequence: u32,
    now_ns: u64,
    seen: Seen,
}

impl World {
    pub fn new(ir: &Arc<Ir>, base: Arc<target_x86::X86>, flavour: Flavour, mut rng: ChaCha8Rng) -> World {
        let chip = Chip { session_entries: rng.random_range(6..80) };
        let asic = Asic::load(ir.clone(), chip).unwrap();
        World::of(ir, Box::new(asic), base, flavour, rng)
    }

    /// `fast`, failing on purpose, in front of `base`.
    pub fn of(ir: &Arc<Ir>, fast: Box<dyn Target>, base: Arc<target_x86::X86>, flavour: Flavour, rng: ChaCha8Rng) -> World {
        World::chain(ir, vec![(fast, OnRefusal::Retire)], base, flavour, rng)
    }

    /// `fronts`, failing on purpose each in its own way, in front of `base`.
    pub fn chain(
        ir: &Arc<Ir>,
        fronts: Vec<(Box<dyn Target>, OnRefusal)>,
        base: Arc<target_x86::X86>,
        flavour: Flavour,
        mut rng: ChaCha8Rng,
    ) -> World {
        let (mut chaos, mut stages) = (Vec::new(), Vec::new());
        for (target, on_refusal) in fronts {
            let failing = Arc::new(Chaos::new(target, rng.random()));
            stages.push(Stage { target: Box::new(failing.clone()), on_refusal });
            chaos.push(failing);
        }
        let split = Split::chain(stages, Box::new(base), Policy::Planned).unwrap();
        let oracle = Asic::oracle(ir.clone()).unwrap();
        World {
            rng,
            flavour,
            ids: Ids::new(&ir.program),
            oracle_lane: oracle.lane(0),
            oracle,
            split_lane: split.lane(0),
            split,
            chaos,
            sessions: BTreeMap::new(),
            next_seid: 1,
            next_key: 1,
            version: 1,
            free_cells: (1..CELLS).collect(),
            filters: BTreeMap::new(),
            sequence: 0,
            now_ns: 5 * NANO,
            seen: Seen::default(),
        }
    }

    /// So many moves, and all else meanwhile.
    pub fn run(mut self, moves: u64) -> Seen {
        let mut step = 0u64;
        while self.seen.moves < moves {
            assert!(step < 200 * moves + 20_000, "hardly any moves: {:?} {:?} {:?}", self.split.recover(), self.seen, self.faults());
            if step.is_multiple_of(64) {
                self.change_faults();
            }
            match self.rng.random_range(0..100) {
                0..=4 => self.change_session(),
                5 => self.change_filters(),
                6..=8 => self.recover(),
                9..=55 => self.burst(None),
                _ => self.move_one(),
            }
            step += 1;
            if step.is_multiple_of(250) {
                self.compare_state();
            }
        }
        self.end()
    }

    /// Mostly some faults, sometimes none, sometimes many.
    fn change_faults(&mut self) {
        for i in 0..self.chaos.len() {
            self.change_faults_of(i);
        }
    }

    fn faults(&self) -> Tally {
        let mut sum = Tally::default();
        self.chaos.iter().for_each(|chaos| sum.add(&chaos.tally()));
        sum
    }

    fn change_faults_of(&mut self, i: usize) {
        let rng = &mut self.rng;
        let likely = [0.0, 0.01, 0.05, 0.3][rng.random_range(0..4)];
        let mut some = || if rng.random_bool(0.5) { likely } else { 0.0 };
        let mut faults = Faults {
            before: some(),
            after: some(),
            partly: some(),
            slow: some() / 10.0,
            room: some(),
            death: some() / 4.0,
            restart: 0.2,
            buckets: some(),
            serve: some(),
            ..Faults::default()
        };
        if self.flavour != Flavour::Rates {
            faults.hand_on = some();
            faults.sudden_death = some() / 8.0;
        }
        if likely == 0.0 {
            self.chaos[i].heal();
        }
        self.chaos[i].set_faults(faults);
    }

    fn change_session(&mut self) {
        let some = self.rng.random_range(0..self.sessions.len().max(1));
        let known = self.sessions.keys().nth(some).copied();
        match (self.rng.random_range(0..4), known) {
            (0, Some(seid)) if self.sessions.len() > 5 => self.end_session(seid),
            (1 | 2, Some(seid)) => self.modify_session(seid),
            _ if self.sessions.len() < SESSIONS => self.establish(),
            _ => {}
        }
    }

    fn establish(&mut self) {
        let seid = self.next_seid;
        self.next_seid += 1;
        let mut session = Session::default();
        let mut ops = Vec::new();
        self.add_rules(&mut session, &mut ops);
        self.apply(seid, ops);
        self.sessions.insert(seid, session);
    }

    /// A key, direct or by classes, with a cell and perhaps a rate.
    fn add_rules(&mut self, session: &mut Session, ops: &mut Vec<Op>) {
        let (Some(cell), key) = (self.free_cells.pop(), self.next_key) else { return };
        self.next_key += 1;
        session.cells.push(cell);
        session.keys.push(key);
        ops.push(Op::ClearCounter { counter: self.ids.usage, index: cell });
        let metered = self.flavour != Flavour::Whims && self.rng.random_bool(0.7);
        if metered {
            let config = self.rates();
            session.meters.insert(cell, config);
            ops.push(Op::Meter { meter: self.ids.rate, index: cell, config: Some(config) });
        }
        let meter_cell = if metered { cell } else { 0 };
        let classes = if self.rng.random_bool(0.4) { self.rng.random_range(1..4u8) } else { 0 };
        let mut entries = Vec::new();
        for class in 0..classes {
            let keys = vec![KeyMatch::Exact(key.into()), KeyMatch::Exact(class.into())];
            entries.push(self.rule(self.ids.by_class, keys, cell, meter_cell));
        }
        let keys = vec![KeyMatch::Exact(key.into())];
        entries.push(match classes {
            0 => self.rule(self.ids.by_key, keys, cell, meter_cell),
            _ => Entry { table: self.ids.by_key, keys, priority: 0, action: self.ids.classify, args: vec![key.into()] },
        });
        ops.extend(entries.iter().cloned().map(Op::Insert));
        session.entries.extend(entries);
    }

    fn rates(&mut self) -> MeterConfig {
        let rate = self.rng.random_range(1_000..200_000);
        let burst = self.rng.random_range(40..2_000);
        // Some have one rate, which fast targets keep in one bucket.
        match self.rng.random_bool(0.3) {
            true => MeterConfig { cir: rate, cbs: burst, pir: rate, pbs: burst },
            false => MeterConfig { cir: rate, cbs: burst, pir: rate * 2, pbs: burst * 2 },
        }
    }

    fn rule(&mut self, table: TableId, keys: Vec<KeyMatch>, cell: u64, meter_cell: u64) -> Entry {
        self.version += 1;
        let args = vec![cell.into(), meter_cell.into(), self.version & 0xffff_ffff, self.rng.random_range(1..4)];
        Entry { table, keys, priority: 0, action: self.ids.rule, args }
    }

    fn modify_session(&mut self, seid: u64) {
        let mut session = self.sessions.remove(&seid).unwrap();
        let mut ops = Vec::new();
        match self.rng.random_range(0..3) {
            // Grows.
            0 if session.keys.len() < 4 => self.add_rules(&mut session, &mut ops),
            // Other rates.
            1 if !session.meters.is_empty() => {
                let cell = *session.meters.keys().next().unwrap();
                let config = self.rates();
                session.meters.insert(cell, config);
                ops.push(Op::Meter { meter: self.ids.rate, index: cell, config: Some(config) });
            }
            // Other rules.
            _ => {
                let ids = self.ids;
                for entry in session.entries.iter_mut().filter(|e| e.action == ids.rule) {
                    self.version += 1;
                    entry.args[2] = self.version & 0xffff_ffff;
                    entry.args[3] = self.rng.random_range(1..4);
                    ops.push(Op::Modify(entry.clone()));
                }
            }
        }
        self.apply(seid, ops);
        self.sessions.insert(seid, session);
    }

    fn end_session(&mut self, seid: u64) {
        let session = self.sessions.remove(&seid).unwrap();
        let mut ops: Vec<Op> = session.entries.iter().rev().cloned().map(Op::Delete).collect();
        ops.extend(session.meters.keys().map(|index| Op::Meter { meter: self.ids.rate, index: *index, config: None }));
        self.apply(seid, ops);
        assert!(!self.split.is_on_fast(seid), "an ended session is on the fast target");
        self.free_cells.extend(session.cells);
    }

    fn change_filters(&mut self) {
        let value = self.rng.random_range(0..8u8);
        let keys = vec![KeyMatch::Ternary { value: value.into(), mask: 7 }];
        let args = vec![self.rng.random_range(0..4)];
        let entry = Entry { table: self.ids.filter, keys, priority: 1, action: self.ids.set_class, args };
        let op = match self.filters.contains_key(&value) {
            false => Op::Insert(entry.clone()),
            true if self.rng.random_bool(0.5) => Op::Modify(entry.clone()),
            true => Op::Delete(entry.clone()),
        };
        let deletes = matches!(op, Op::Delete(_));
        match self.apply(0, vec![op]) {
            false => {}
            true if deletes => drop(self.filters.remove(&value)),
            true => drop(self.filters.insert(value, entry)),
        }
    }

    /// Whatever targets in front do, a batch that the oracle takes is taken; but for what one of them may refuse for all, and then nobody has
    /// it.
    fn apply(&mut self, seid: u64, ops: Vec<Op>) -> bool {
        let batch = Batch { ops };
        let facts = Unit { id: seid, metered: self.flavour != Flavour::Whims, ..Unit::default() };
        self.split.base().check(&batch).unwrap();
        match self.split.apply_session(&facts, &batch) {
            Ok(()) => {
                self.oracle.apply(&batch).unwrap();
                // What exists now, or is no more, does not fit again, for the same reason everywhere. Nothing changes when a target is asked.
                let asked = self.oracle.check(&batch);
                self.seen.refused_again += u64::from(asked.is_err());
                assert_eq!(self.split.base().check(&batch), asked);
            }
            Err(ApplyError::Refused(RuleError::Full { .. })) if self.chaos.len() > 1 && seid == 0 => {
                self.seen.refused += 1;
                return false;
            }
            Err(error) => panic!("{error}"),
        }
        true
    }

    fn move_one(&mut self) {
        let some = self.rng.random_range(0..self.sessions.len().max(1));
        let Some((seid, session)) = self.sessions.iter().nth(some).map(|(seid, session)| (*seid, session.clone())) else { return };
        let facts = Unit { id: seid, ..Unit::default() };
        let result = match self.split.is_on_fast(seid) {
            true if self.chaos.len() == 1 || self.rng.random_bool(0.5) => self.split.move_to_base(seid),
            on_fast => {
                let copy = session.copy(&self.ids);
                let stage = self.rng.random_range(0..2 * self.chaos.len());
                let result = match stage < self.chaos.len() && self.chaos.len() > 1 || on_fast {
                    true => self.split.move_to_stage(stage % self.chaos.len(), &facts, &copy),
                    false => self.split.move_to_fast(&facts, &copy),
                };
                self.seen.to_fast += u64::from(result.is_ok());
                result
            }
        };
        match result {
            Ok(()) => self.seen.moves += 1,
            Err(error) => {
                let what = match error {
                    MoveError::Retired => "out of service",
                    MoveError::NoRoom(_) => "no room",
                    MoveError::There if self.chaos.len() > 1 => "there",
                    MoveError::Failed(_) | MoveError::Buckets(_) => "failed",
                    MoveError::Unfit(why) if session.entries.is_empty() => {
                        assert!(why.contains("0 entries"), "{why}");
                        "nothing to move"
                    }
                    other => panic!("{other}"),
                };
                *self.seen.failed.entry(what).or_default() += 1;
            }
        }
        if self.split.is_retired() && self.rng.random_bool(0.3) {
            self.recover();
        }
        // Its next packets follow at once.
        if self.rng.random_bool(0.7) {
            self.burst(Some(&session));
        }
    }

    fn recover(&mut self) {
        self.seen.left += self.split.take_left().len() as u64;
        if self.split.is_retired() && self.split.recover().is_ok() {
            self.seen.recoveries += 1;
        }
    }

    /// Packets to sessions that live, and to keys that are nobody's.
    fn burst(&mut self, of: Option<&Session>) {
        self.now_ns += [0, 1_000, 200_000, 10_000_000, 3 * NANO][self.rng.random_range(0..5)];
        let n = self.rng.random_range(1..10);
        let mut frames = Vec::with_capacity(n);
        for _ in 0..n {
            let some = self.rng.random_range(0..self.sessions.len().max(1));
            let session = of.filter(|_| self.rng.random_bool(0.7)).or_else(|| self.sessions.values().nth(some));
            let keys = session.map_or(&[][..], |s| &s.keys);
            let key = if keys.is_empty() || self.rng.random_bool(0.02) { 0xffff } else { keys[self.rng.random_range(0..keys.len())] };
            self.sequence += 1;
            frames.push(frame(key, self.sequence, self.rng.random_range(0..8), self.rng.random_range(0..200)));
        }
        // What is handed on within a burst comes after what is not: a bucket that both share would be asked in another order.
        let together = if self.flavour == Flavour::Shared { 1 } else { n };
        frames.chunks(together).for_each(|frames| self.compare_burst(frames));
    }

    fn compare_burst(&mut self, frames: &[Vec<u8>]) {
        assert!(frames.len() <= BURST);
        let run = |lane: &mut Box<dyn Lane>| {
            let mut packets: Vec<Packet> = frames.iter().map(|f| Packet::new(f, PortId(0))).collect();
            let mut verdicts = vec![Verdict::default(); frames.len()];
            lane.process(&mut packets, &mut verdicts, self.now_ns);
            (packets, verdicts)
        };
        let (expected, expected_verdicts) = run(&mut self.oracle_lane);
        let (packets, verdicts) = run(&mut self.split_lane);
        for i in 0..frames.len() {
            let same =
                verdicts[i] == expected_verdicts[i] && (verdicts[i].kind == VerdictKind::Drop || packets[i].data() == expected[i].data());
            assert!(same, "packet {:?}: {:?} {:?}, not {:?} {:?}", frames[i], verdicts[i], packets[i], expected_verdicts[i], expected[i]);
            let kind = match verdicts[i].kind {
                VerdictKind::Forward => format!("colour {}", packets[i].data()[9]),
                kind => format!("{kind:?} {}", verdicts[i].reason),
            };
            *self.seen.kinds.entry(kind).or_default() += 1;
        }
        self.seen.packets += frames.len() as u64;
        let retired = (0..self.chaos.len()).filter(|stage| self.split.is_stage_retired(*stage)).count();
        self.seen.in_part += u64::from(retired > 0 && retired < self.chaos.len());
    }

    /// Counters and buckets to the last byte.
    fn compare_state(&mut self) {
        for cell in 0..CELLS {
            let (expected, got) = (self.oracle.counter(self.ids.usage, cell), self.split.counter(self.ids.usage, cell));
            assert_eq!(got, expected, "counter cell {cell}");
            let (expected, got) = (self.oracle.meter_state(self.ids.rate, cell), self.split.meter_state(self.ids.rate, cell));
            assert_eq!(got, expected, "meter cell {cell}");
            self.seen.partial_buckets += u64::from(expected.is_some_and(|s| s.last_ns > 0 && s.peak > 0));
        }
        let traffic: u64 = self.split.traffic().values().map(|count| count.packets).sum();
        assert_eq!(traffic, self.seen.packets, "packets that one of the targets has run");
        for table in [self.ids.by_key, self.ids.filter, self.ids.by_class] {
            let [got, expected] = [self.split.facets().tables, self.oracle.facets().tables].map(|tables| {
                let held: Vec<HeldEntry> = in_chunks(tables.unwrap(), table, 7).collect();
                held
            });
            assert_eq!(got, expected, "what is read back");
            self.seen.read_back += got.len();
        }
    }

    /// In good health again everything comes back, moves, and ends without a trace.
    fn end(mut self) -> Seen {
        self.chaos.iter().for_each(|chaos| chaos.heal());
        self.split.recover().unwrap();
        self.compare_state();
        while !self.sessions.is_empty() {
            self.move_one();
            let seid = *self.sessions.keys().next().unwrap();
            if self.rng.random_bool(0.3) {
                self.end_session(seid);
            }
        }
        for filter in std::mem::take(&mut self.filters).into_values() {
            self.apply(0, vec![Op::Delete(filter)]);
        }
        self.compare_state();
        assert_eq!(self.split.sessions_on_fast(), 0);
        for table in [self.ids.by_key, self.ids.by_class, self.ids.filter] {
            assert!(self.split.targets().all(|target| target.table_stats(table).entries == 0));
        }
        // They may be the next case's too.
        let clear = Batch { ops: (0..CELLS).map(|index| Op::ClearCounter { counter: self.ids.usage, index }).collect() };
        self.split.targets().for_each(|target| target.apply(&clear).unwrap());
        for ((path, _), count) in self.split.traffic() {
            *(if path == Path::Fast { &mut self.seen.paths.0 } else { &mut self.seen.paths.1 }) += count.packets;
        }
        let by_stage = (0..=self.chaos.len()).map(|stage| self.split.traffic_of(stage).values().map(|count| count.packets).sum());
        self.seen.stages = by_stage.collect();
        self.seen.faults = self.faults();
        self.seen
    }
}

/// A packet of the test's own protocol.
pub fn frame(key: u32, sequence: u32, kind: u8, payload: usize) -> Vec<u8> {
    let mut frame = Vec::with_capacity(16 + payload);
    frame.extend(key.to_be_bytes());
    frame.extend(sequence.to_be_bytes());
    frame.extend([kind, 0, 0, 0, 0, 0, 0, 0]);
    frame.resize(16 + payload, 0);
    frame
}
