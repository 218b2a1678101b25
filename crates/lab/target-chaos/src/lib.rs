//! Target `chaos`: fault injection around any other target. Code that survives it survives a device behind a bus.
//!
//! Every control call draws from a seed, so that a failure can be reproduced. It may be refused before anything was done, after all
//! was done, or after a part was done; the answer is then [`ApplyError::Unknown`], as of a device that does not answer. Room may shrink; the
//! device may die, and be restarted with empty tables. Lanes may miss packets that they could have run, and miss every packet while
//! the device is dead.
//!
//! A dead device's counters and token buckets can still be read, as from a driver's memory; after a restart
//! counters continue, and no meter is configured.
#![forbid(unsafe_code)]

use base::{Packet, Verdict, VerdictKind};
use program::{ApplyError, Batch, CounterId, Entry, KeyMatch, MeterId, Op, Program, RuleError, TableId};
use rand::{Rng, SeedableRng};
use rand_chacha::ChaCha8Rng;
use std::collections::{BTreeMap, HashMap, HashSet};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use target_api::{
    BURST, Capabilities, Count, Counted, Extra, Facets, Lane, MeterState, Meters, Rates, Recovery, Returned, TableStats, Target,
    TargetError,
};

/// How likely each fault is, from 0 to 1. Of a batch, unless it says otherwise.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Faults {
    /// Nothing is done, and an error is returned.
    pub before: f64,
    /// Everything is done, and an error is returned.
    pub after: f64,
    /// Some of the changes are done, in any order, and an error is returned.
    pub partly: f64,
    /// The control call takes a while: other threads go on meanwhile.
    pub slow: f64,
    /// The room is another from now on, between all of it and none.
    pub room: f64,
    /// It dies, without doing anything.
    pub death: f64,
    /// Dead, it can be restarted, of an attempt.
    pub restart: f64,
    /// Buckets of a meter are not taken over, of a call.
    pub buckets: f64,
    /// It does not run packets again, of an attempt.
    pub serve: f64,
    /// Probability that a lane misses a packet.
    pub hand_on: f64,
    /// It dies while packets run, of a burst.
    pub sudden_death: f64,
}

/// How often each thing has happened.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Tally(pub BTreeMap<&'static str, u64>);

/// A target that fails on purpose.
pub struct Chaos {
    inner: Box<dyn Target>,
    state: Arc<Mutex<State>>,
    shared: Arc<Shared>,
}

/// What lanes look at.
struct Shared {
    dead: AtomicBool,
    seed: u64,
    lanes: AtomicU64,
}

struct State {
    rng: ChaCha8Rng,
    faults: Faults,
    tally: Tally,
    /// Entries that fit.
    room: Option<usize>,
    entries: HashSet<Identity>,
    meters: HashSet<(MeterId, u64)>,
    defaults: HashSet<TableId>,
    /// Of everything else what undoes it.
    others: HashMap<String, Op>,
}

/// How a batch is given to the target.
type Apply = fn(&dyn Target, &Batch) -> Result<(), ApplyError>;

type Identity = (TableId, Vec<KeyMatch>, u32);

fn identity(e: &Entry) -> Identity {
    (e.table, e.keys.clone(), e.priority)
}

/// What a device says that does not answer.
fn silent(what: &str) -> TargetError {
    TargetError(format!("no answer ({what})"))
}

/// The same of a batch.
fn unknown(what: &str) -> ApplyError {
    ApplyError::Unknown(silent(what).0)
}

impl Chaos {
    /// `inner` in good health: no faults yet.
    pub fn new(inner: Box<dyn Target>, seed: u64) -> Chaos {
        let state = State {
            rng: ChaCha8Rng::seed_from_u64(seed),
            faults: Faults::default(),
            tally: Tally::default(),
            room: None,
            entries: HashSet::new(),
            meters: HashSet::new(),
            defaults: HashSet::new(),
            others: HashMap::new(),
        };
        let shared = Shared { dead: AtomicBool::new(false), seed, lanes: AtomicU64::new(0) };
        Chaos { inner, state: Arc::new(Mutex::new(state)), shared: Arc::new(shared) }
    }

    /// Which faults there are from now on.
    pub fn set_faults(&self, faults: Faults) {
        self.lock().faults = faults;
    }

    /// From now on there are no faults, and all fits that the target itself has room for. If it was dead it can be restarted.
    pub fn heal(&self) {
        let mut state = self.lock();
        state.faults = Faults { restart: 1.0, ..Faults::default() };
        state.room = None;
    }

    /// It dies now.
    pub fn kill(&self) {
        self.shared.dead.store(true, Relaxed);
    }

    /// What has happened so far.
    pub fn tally(&self) -> Tally {
        self.lock().tally.clone()
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn come_back(&self, state: &mut State) {
        let program = self.inner.program();
        let entry = |(table, keys, priority): Identity| {
            let (action, args) = program.tables[table].default_action.clone();
            Entry { table, keys, priority, action, args }
        };
        let mut ops: Vec<Op> = state.entries.drain().map(|e| Op::Delete(entry(e))).collect();
        ops.extend(state.meters.drain().map(|(meter, index)| Op::Meter { meter, index, config: None }));
        ops.extend(state.defaults.drain().map(|table| {
            let (action, args) = program.tables[table].default_action.clone();
            Op::SetDefault { table, action, args }
        }));
        ops.extend(state.others.drain().map(|(_, undo)| undo));
        if let Err(error) = self.inner.apply(&Batch { ops }) {
            panic!("what was put into {} cannot be taken out: {error}", self.inner.name());
        }
        self.shared.dead.store(false, Relaxed);
    }

    /// Gives changes to the target, and notes what it holds by them.
    fn really(&self, state: &mut State, ops: &[Op], apply: Apply) -> Result<(), ApplyError> {
        apply(&*self.inner, &Batch { ops: ops.to_vec() })?;
        for op in ops {
            match op {
                Op::Insert(e) => _ = state.entries.insert(identity(e)),
                Op::Delete(e) => _ = state.entries.remove(&identity(e)),
                Op::Modify(_) | Op::ClearCounter { .. } => {}
                Op::Meter { meter, index, config: Some(_) } => _ = state.meters.insert((*meter, *index)),
                Op::Meter { meter, index, config: None } => _ = state.meters.remove(&(*meter, *index)),
                Op::SetDefault { table, .. } => _ = state.defaults.insert(*table),
                // It ends with its entry.
                Op::EntryMeter { .. } => {}
                Op::Mirror { session, .. } => {
                    _ = state.others.insert(format!("mirror {session}"), Op::Mirror { session: *session, to: None })
                }
                Op::Multicast { group, .. } => {
                    _ = state.others.insert(format!("group {group}"), Op::Multicast { group: *group, replicas: Vec::new() });
                }
                Op::InsertValue { set, member } => {
                    let undo = Op::DeleteValue { set: *set, member: member.clone() };
                    state.others.insert(format!("value {set:?} {member:?}"), undo);
                }
                Op::DeleteValue { set, member } => _ = state.others.remove(&format!("value {set:?} {member:?}")),
            }
        }
        Ok(())
    }

    /// Some of the changes, each alone, in any order. Those that do not fit are left out.
    fn some(&self, state: &mut State, ops: &[Op], apply: Apply) {
        let mut order: Vec<usize> = (0..ops.len()).collect();
        for i in (1..order.len()).rev() {
            let other = state.rng.random_range(0..=i);
            order.swap(i, other);
        }
        let most = state.rng.random_range(0..=ops.len());
        for at in order.into_iter().take(most) {
            let _ = self.really(state, &ops[at..=at], apply);
        }
    }
}

impl State {
    fn happens(&mut self, likely: f64, what: &'static str) -> bool {
        let happens = likely > 0.0 && self.rng.random_bool(likely.min(1.0));
        if happens {
            self.tally.note(what);
        }
        happens
    }
}

impl Tally {
    fn note(&mut self, what: &'static str) {
        *self.0.entry(what).or_default() += 1;
    }

    /// How often that has happened.
    pub fn of(&self, what: &str) -> u64 {
        self.0.get(what).copied().unwrap_or_default()
    }

    /// Adds another's.
    pub fn add(&mut self, other: &Tally) {
        for (what, n) in &other.0 {
            *self.0.entry(what).or_default() += n;
        }
    }
}

impl Target for Chaos {
    fn name(&self) -> &str {
        "chaos"
    }

    fn capabilities(&self) -> Capabilities {
        self.inner.capabilities()
    }

    fn program(&self) -> &Arc<Program> {
        self.inner.program()
    }

    /// A dead device does not tell; one that lives says how much room there is now, and may have another when the change comes.
    fn check(&self, batch: &Batch) -> Result<(), ApplyError> {
        let mut state = self.lock();
        state.tally.note("checks");
        if self.shared.dead.load(Relaxed) {
            return Err(unknown("dead"));
        }
        self.check_room(&state, batch)?;
        self.inner.check(batch)
    }

    fn apply(&self, batch: &Batch) -> Result<(), ApplyError> {
        self.apply_with(batch, |inner, batch| inner.apply(batch))
    }

    fn apply_deferred(&self, batch: &Batch) -> Result<(), ApplyError> {
        self.apply_with(batch, |inner, batch| inner.apply_deferred(batch))
    }

    fn lane(&self, index: usize) -> Box<dyn Lane> {
        let number = self.shared.lanes.fetch_add(1, Relaxed);
        Box::new(ChaosLane {
            inner: self.inner.lane(index),
            state: self.state.clone(),
            shared: self.shared.clone(),
            rng: ChaCha8Rng::seed_from_u64(self.shared.seed ^ (number + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15)),
            picked: Vec::with_capacity(BURST),
            packets: (0..BURST).map(|_| Packet::empty(0)).collect(),
            verdicts: vec![Verdict::default(); BURST],
        })
    }

    fn counter(&self, counter: CounterId, index: u64) -> Count {
        self.inner.counter(counter, index)
    }

    fn table_stats(&self, table: TableId) -> TableStats {
        self.inner.table_stats(table)
    }

    /// Those of the target, where each may fail; and it recovers, whatever the target is.
    fn facets(&self) -> Facets<'_> {
        let Facets { ahead, recovery: _, meters, registers, digests, tables } = self.inner.facets();
        let meters = meters.map(|_| self as &dyn Meters);
        Facets { ahead, recovery: Some(self), meters, registers, digests, tables }
    }
}

impl Chaos {
    fn check_room(&self, state: &State, batch: &Batch) -> Result<(), RuleError> {
        let inserts = batch.ops.iter().filter(|op| matches!(op, Op::Insert(_))).count();
        let first = batch.ops.iter().position(|op| matches!(op, Op::Insert(_)));
        if let (Some(room), Some(op)) = (state.room, first)
            && state.entries.len() + inserts > room
            && let Op::Insert(e) = &batch.ops[op]
        {
            let table = self.inner.program().tables[e.table].name.clone();
            return Err(RuleError::Full { op, table, capacity: room as u64 });
        }
        Ok(())
    }

    /// Applies a batch or does not; what the target makes of it, it does by `apply`.
    fn apply_with(&self, batch: &Batch, apply: Apply) -> Result<(), ApplyError> {
        let program = self.inner.program();
        for (i, op) in batch.ops.iter().enumerate() {
            program.check_op(i, op)?;
        }
        let mut state = self.lock();
        let faults = state.faults;
        if state.happens(faults.slow, "slow") {
            (0..50).for_each(|_| std::thread::yield_now());
        }
        if self.shared.dead.load(Relaxed) {
            state.tally.note("dead");
            return Err(unknown("dead"));
        }
        if state.happens(faults.death, "deaths") {
            self.shared.dead.store(true, Relaxed);
            return Err(unknown("died"));
        }
        if state.happens(faults.room, "room changes") {
            let most = 2 * state.entries.len() + 4;
            let room = state.rng.random_range(0..=most);
            state.room = (room < most).then_some(room);
        }
        if state.happens(faults.before, "refused before") {
            return Err(unknown("before"));
        }
        if let Err(full) = self.check_room(&state, batch) {
            state.tally.note("no room");
            return Err(full.into());
        }
        if state.happens(faults.partly, "done in part") {
            self.some(&mut state, &batch.ops, apply);
            return Err(unknown("in part"));
        }
        self.really(&mut state, &batch.ops, apply)?;
        if state.happens(faults.after, "refused after") {
            return Err(unknown("after"));
        }
        state.tally.note("done");
        Ok(())
    }
}

impl Recovery for Chaos {
    fn retire(&self) {
        self.lock().tally.note("retired");
        if let Some(recovery) = self.inner.facets().recovery {
            recovery.retire();
        }
    }

    /// A dead one does not.
    fn serve(&self) -> Result<(), TargetError> {
        let mut state = self.lock();
        let likely = state.faults.serve;
        if self.shared.dead.load(Relaxed) || state.happens(likely, "serving refused") {
            return Err(silent("serve"));
        }
        self.inner.facets().recovery.map_or(Ok(()), Recovery::serve)
    }

    /// After death alone. A device that did not answer, but lives, has lost nothing.
    fn restart(&self) -> Result<(), TargetError> {
        let mut state = self.lock();
        if !self.shared.dead.load(Relaxed) {
            return Err(TargetError("it lives".into()));
        }
        let likely = state.faults.restart;
        if !state.happens(likely, "restarts") {
            return Err(silent("restart"));
        }
        self.come_back(&mut state);
        Ok(())
    }
}

/// Of a target that has such a facet.
impl Meters for Chaos {
    fn shares_meters(&self) -> bool {
        self.inner.facets().meters.is_some_and(Meters::shares_meters)
    }

    fn meter_state(&self, meter: MeterId, index: u64) -> Option<MeterState> {
        self.inner.facets().meters?.meter_state(meter, index)
    }

    fn set_meter_state(&self, meter: MeterId, index: u64, to: MeterState) -> Result<(), TargetError> {
        let mut state = self.lock();
        let likely = state.faults.buckets;
        if self.shared.dead.load(Relaxed) || state.happens(likely, "buckets refused") {
            return Err(silent("buckets"));
        }
        let meters = self.inner.facets().meters.ok_or_else(|| TargetError("it has no such meters".into()))?;
        meters.set_meter_state(meter, index, to)
    }
}

struct ChaosLane {
    inner: Box<dyn Lane>,
    state: Arc<Mutex<State>>,
    shared: Arc<Shared>,
    rng: ChaCha8Rng,
    picked: Vec<usize>,
    packets: Vec<Packet>,
    verdicts: Vec<Verdict>,
}

impl Lane for ChaosLane {
    fn process(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64) {
        assert!(packets.len() == verdicts.len() && packets.len() <= BURST);
        verdicts.fill(Verdict::next());
        let faults = {
            let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
            let faults = state.faults;
            if !self.shared.dead.load(Relaxed) && state.happens(faults.sudden_death, "sudden deaths") {
                self.shared.dead.store(true, Relaxed);
            }
            faults
        };
        if self.shared.dead.load(Relaxed) {
            return;
        }
        self.picked.clear();
        for i in 0..packets.len() {
            if faults.hand_on == 0.0 || !self.rng.random_bool(faults.hand_on.min(1.0)) {
                self.picked.push(i);
            }
        }
        let n = self.picked.len();
        for (slot, i) in self.picked.iter().enumerate() {
            std::mem::swap(&mut packets[*i], &mut self.packets[slot]);
        }
        self.inner.process(&mut self.packets[..n], &mut self.verdicts[..n], now_ns);
        let mut run = 0;
        for (slot, i) in self.picked.iter().enumerate() {
            std::mem::swap(&mut packets[*i], &mut self.packets[slot]);
            verdicts[*i] = self.verdicts[slot];
            run += u64::from(verdicts[*i].kind != VerdictKind::Next);
        }
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        *state.tally.0.entry("packets run").or_default() += run;
        *state.tally.0.entry("packets handed on").or_default() += (packets.len() as u64) - run;
    }

    fn take_extra(&mut self, into: &mut Vec<Extra>) {
        self.inner.take_extra(into);
    }

    fn poll(&mut self, now_ns: u64, into: &mut Vec<Returned>) {
        self.inner.poll(now_ns, into);
    }

    fn next_poll_ns(&self) -> Option<u64> {
        self.inner.next_poll_ns()
    }

    fn shape(&mut self, meter: MeterId) -> bool {
        self.inner.shape(meter)
    }

    fn count(&mut self, counter: CounterId, more: &[Counted]) -> bool {
        self.inner.count(counter, more)
    }

    fn with_rates(&mut self, work: &mut dyn FnMut(&mut dyn Rates)) {
        self.inner.with_rates(work);
    }

    target_api::lane_without!(process_asking, ran_by);
}
