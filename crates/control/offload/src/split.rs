//! The split: changes of sessions go to the base target, then to the stages in front of it. How sessions move is in [`crate::moves`].
//!
//! **A batch has two phases.** First each stage that may refuse for all ([`OnRefusal::RefuseBatch`]) is asked whether it takes what all stages are to hold
//! ([`Target::check`]); one that does not refuses the batch, and nothing has changed anywhere. Then the base target applies the batch, which decides it: what it
//! refuses has changed nothing anywhere. From there on the batch stands. Each stage in front follows, or a session leaves it, or it is retired: it
//! gets no packets then, so no reader sees a stage that lacks what the others have. Where the program is cut into stages no lane is within a burst meanwhile.

use crate::decisions::{Decision, Decisions};
use crate::lane::{SplitLane, StageLane};
use crate::moves::Gate;
use crate::placed::{OnStage, Part, Placed, part};
use crate::planner::{Outcome, Place, Why};
use crate::policy::{OutOfRange, Policy, Unit};
use crate::shadow::{Lost, Shadow};
use crate::traffic::{LaneTraffic, Path, Ran, TargetTraffic};
use base::{Packet, PortId, Verdict};
use parking_lot::RwLock;
use program::{ApplyError, Batch, CounterId, Digest, Entry, KeyMatch, MeterId, Op, Program, TableId};
use std::collections::{BTreeMap, VecDeque};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use target_api::{
    Ahead, BURST, Capabilities, Count, Digests, Facets, HeldEntry, Lane, MeterState, Meters, TableStats, Tables, Target, TargetError,
};

/// A chain of targets: stages that hold some sessions each, before a base target that holds all. A packet enters at the first stage.
pub struct Split {
    /// In the order in which a packet meets them.
    pub(crate) fronts: Vec<Front>,
    pub(crate) base: Box<dyn Target>,
    policy: RwLock<Policy>,
    books: Mutex<Books>,
    traffic: Mutex<Vec<Arc<LaneTraffic>>>,
    pub(crate) gate: Arc<RwLock<()>>,
}

/// A target in front of the base target.
pub struct Stage {
    /// It must be able to hold a subset of the sessions.
    pub target: Box<dyn Target>,
    /// What becomes of a change that all stages are to hold.
    pub on_refusal: OnRefusal,
}

/// What becomes of a change of what all stages hold (all but sessions) when a stage does not take it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum OnRefusal {
    /// The change is made without the stage, which is retired until it takes it.
    #[default]
    Retire,
    /// The change is refused, by all, as long as the stage is in service.
    RefuseBatch,
}

/// A stage in front, in the split.
pub(crate) struct Front {
    pub(crate) target: Box<dyn Target>,
    on_refusal: OnRefusal,
    /// Set when it refused something that all must hold, or does not say what it did: it then gets no packets.
    retired: Arc<AtomicBool>,
}

impl Front {
    pub(crate) fn is_retired(&self) -> bool {
        self.retired.load(Relaxed)
    }

    pub(crate) fn set_retired(&self, retired: bool) {
        self.retired.store(retired, Relaxed);
    }
}

/// Why targets are no chain.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SplitError {
    /// Entries of one would mean something else in the other. With equal names: built with other options, or from another version of the source.
    #[error("targets run different programs: {fast} and {base}: compile both from one source with the same options")]
    Programs {
        /// Name and fingerprint of the stage's.
        fast: String,
        /// Name and fingerprint of the base target's.
        base: String,
    },
    /// A stage in front holds all or nothing.
    #[error("target {0} cannot hold a subset of the sessions")]
    NoSubset(String),
    /// It sees packets before the stages in front of it do.
    #[error("target {0} is ahead of the engine: make it the first of the chain")]
    NotFirst(String),
    /// The program is cut for a longer chain.
    #[error("the program goes on at stage {stage}, and the chain has {targets} targets, counted from 0")]
    NoStage {
        /// The stage.
        stage: u8,
        /// Targets of the chain.
        targets: usize,
    },
    /// Packets that stop in it come to the engine as any other: nothing says where they go on.
    #[error("target {0} is ahead of the engine: it cannot run a part of a program that is cut for a chain")]
    AheadOfStages(String),
    /// A value of the policy is out of range: the operator's fault.
    #[error(transparent)]
    Policy(#[from] OutOfRange),
    /// A stage in front was used before.
    #[error("target {target} holds {entries} entries of table {table}: reload it")]
    NotEmpty {
        /// Its name.
        target: String,
        /// The table's name.
        table: String,
        /// How many.
        entries: u64,
    },
}

/// What is known of all stages. One change at a time.
pub(crate) struct Books {
    pub(crate) placed: Placed,
    pub(crate) shadow: Shadow,
    /// Of each stage in front, while it is retired.
    pub(crate) lost: Vec<Lost>,
    pub(crate) retirements: u64,
    pub(crate) moves: Moves,
    pub(crate) decisions: Decisions,
    pub(crate) deferred: Deferred,
}

/// Says that all that came before a change has been sent.
type Sent = Box<dyn Fn() -> bool + Send>;

/// Changes that the base target has and the stages in front are yet to get, oldest first: one without [`Sent`] waits for those before it.
type Deferred = VecDeque<(Option<Sent>, Batch)>;

/// Moves of sessions while they lived, since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Moves {
    /// To a stage in front.
    pub to_front: u64,
    /// To the base target.
    pub to_base: u64,
    /// To a stage in front that did not take the session.
    pub failed: u64,
}

impl Split {
    /// A chain of two: `fast` in front of `base`. Both must run the same program; `fast` must be able to hold a subset, and be empty.
    pub fn new(fast: Box<dyn Target>, base: Box<dyn Target>, policy: Policy) -> Result<Split, SplitError> {
        Split::chain(vec![Stage { target: fast, on_refusal: OnRefusal::Retire }], base, policy)
    }

    /// A chain of any length: `fronts` in the order in which a packet meets them, then `base`. All must run the same program; those in front must be able to
    /// hold a subset, and be empty. Only the first may be ahead of the engine.
    ///
    /// The program may be cut into stages, for at most as many targets: then each target is a [`target_api::Replicating`] of the cut program.
    pub fn chain(fronts: Vec<Stage>, base: Box<dyn Target>, policy: Policy) -> Result<Split, SplitError> {
        for (at, Stage { target: fast, .. }) in fronts.iter().enumerate() {
            let (ours, its) = (fast.program(), base.program());
            if !ours.is_same(its) {
                let named = |p: &Program| format!("{} ({})", p.name, p.fingerprint);
                return Err(SplitError::Programs { fast: named(ours), base: named(its) });
            }
            if !fast.capabilities().subset {
                return Err(SplitError::NoSubset(fast.name().to_owned()));
            }
            if at > 0 && fast.facets().ahead.is_some() {
                return Err(SplitError::NotFirst(fast.name().to_owned()));
            }
        }
        let targets = fronts.len() + 1;
        if let Some(stage) = base.program().stages.iter().find(|stage| usize::from(**stage) >= targets) {
            return Err(SplitError::NoStage { stage: *stage, targets });
        }
        let cut = !base.program().stages.is_empty();
        if let Some(ahead) = fronts.iter().find(|front| cut && front.target.facets().ahead.is_some()) {
            return Err(SplitError::AheadOfStages(ahead.target.name().to_owned()));
        }
        policy.validate()?;
        // Whoever filled them is gone, and nobody knows whose entries they are.
        for Stage { target: fast, .. } in &fronts {
            for (id, table) in &fast.program().tables {
                let entries = fast.table_stats(id).entries.saturating_sub(table.entries.len() as u64);
                if entries > 0 {
                    return Err(SplitError::NotEmpty { target: fast.name().to_owned(), table: table.name.clone(), entries });
                }
            }
        }
        let front = |Stage { target, on_refusal }| Front { target, on_refusal, retired: Arc::default() };
        Ok(Split::of(fronts.into_iter().map(front).collect(), base, policy))
    }

    /// A chain of one: `base` holds all sessions and runs all packets, at the cost of the target alone.
    pub fn alone(base: Box<dyn Target>) -> Split {
        Split::of(Vec::new(), base, Policy::None)
    }

    fn of(fronts: Vec<Front>, base: Box<dyn Target>, policy: Policy) -> Split {
        let books = Books {
            placed: Placed::default(),
            shadow: Shadow::default(),
            lost: fronts.iter().map(|_| Lost::default()).collect(),
            retirements: 0,
            moves: Moves::default(),
            decisions: Decisions::default(),
            deferred: Deferred::new(),
        };
        Split { fronts, base, policy: RwLock::new(policy), books: Mutex::new(books), traffic: Mutex::default(), gate: Arc::default() }
    }

    /// Applies the changes of one session: all of it on the base target, or an error and nothing anywhere; and, if the policy
    /// wants the session in front and a stage there has room, on the first such stage too. A change that belongs to no session goes to all, behind those that
    /// are deferred ([`Split::apply_after`]).
    pub fn apply_session(&self, session: &Unit, batch: &Batch) -> Result<(), ApplyError> {
        if self.fronts.is_empty() {
            return self.base.apply(batch);
        }
        let mut books = self.lock();
        if session.id == 0 && !books.deferred.is_empty() {
            return self.defer(&mut books, batch);
        }
        self.catch_up_before(&mut books, batch);
        self.prepare(session.id, batch)?;
        let mut gate = self.gate();
        // A packet that goes on at another stage sees the change in both or in none.
        if !self.base.program().stages.is_empty() {
            gate.close();
        }
        self.base.apply(batch)?;
        self.follow(&mut books, session, batch, gate);
        Ok(())
    }

    /// Of a change of what all sessions share: the base target has it, or with an error no target. The stages in front continue as before.
    pub(crate) fn apply_to_base(&self, batch: &Batch) -> Result<(), ApplyError> {
        self.prepare(0, batch)?;
        self.base.apply(batch)
    }

    /// Before any change, with a first stage that is not ready yet: it gets neither packets nor sessions until [`Split::recover`]. It has not fallen over,
    /// and nothing is counted as if it had.
    pub fn hold_back(&self) {
        let _books = self.lock();
        if let Some(front) = self.fronts.first() {
            front.set_retired(true);
        }
        self.retire_fast();
    }

    /// From now on a first stage that can be retired passes every packet on: its counters are final.
    pub fn retire_fast(&self) {
        if let Some(recovery) = self.fast().and_then(|fast| fast.facets().recovery) {
            recovery.retire();
        }
    }

    /// Sessions that have entries in front of the base target.
    pub fn sessions_on_fast(&self) -> usize {
        self.lock().placed.sessions.len()
    }

    /// Sessions that a static policy wants in front of the base target, and that may be there, whether they are or not. With a planner ask
    /// [`Planner::wanted`](crate::planner::Planner::wanted).
    pub fn sessions_wanted(&self) -> u64 {
        self.lock().placed.wanted
    }

    /// Sessions that have entries on that stage, counted from 0.
    pub fn sessions_on(&self, stage: usize) -> usize {
        self.lock().placed.sessions.values().filter(|of| of.stage == stage).count()
    }

    /// Whether this session has entries in front of the base target.
    pub fn is_on_fast(&self, id: u64) -> bool {
        self.stage_of(id) < self.fronts.len()
    }

    /// The stage that the session's packets run on, counted from 0; the last one is the base target.
    pub fn stage_of(&self, id: u64) -> usize {
        self.lock().placed.sessions.get(&id).map_or(self.fronts.len(), |of| of.stage)
    }

    /// How often a stage had no room for a session that was to be there.
    pub fn refused_by_fast(&self) -> u64 {
        self.lock().placed.refused
    }

    /// What is put in front.
    pub fn policy(&self) -> Policy {
        self.policy.read().clone()
    }

    /// What is put in front from now on. Sessions are where they were: [`Split::reconsider`] moves them. By DSCP lanes choose packets as they were made, so
    /// such a policy neither comes nor goes.
    ///
    /// # Errors
    /// Naming the value of it that is out of range.
    pub fn set_policy(&self, policy: Policy) -> Result<(), OutOfRange> {
        policy.validate()?;
        debug_assert!(!matches!((&policy, self.policy()), (Policy::Dscps(..), _) | (_, Policy::Dscps(..))), "lanes have it");
        *self.policy.write() = policy;
        Ok(())
    }

    /// Under a static policy: a session that the policy does not want in front goes to the base target, and one that it wants there is among those that
    /// [`Comeback::bring_back`](crate::Comeback::bring_back) brings.
    pub fn reconsider(&self, session: &Unit) {
        let wanted = self.policy.read().wants(session) && self.may_be_in_front(session);
        let mut books = self.lock();
        books.placed.want(session.id, wanted);
        let in_front = books.placed.sessions.contains_key(&session.id);
        if wanted && !in_front {
            books.placed.left.insert(session.id);
        }
        drop(books);
        if in_front && !wanted {
            // An error says that the stage is out of service: the session is on the base target anyhow.
            let _ = self.move_to_base(session.id);
            let why = if self.policy.read().wants(session) { Why::Metered } else { Why::NotChosen };
            self.decided(Decision::new(session.id, Place::Base, why, Outcome::Done));
        }
    }

    /// Notes a move that its caller decided.
    pub fn decided(&self, decision: Decision) {
        self.lock().decisions.note(decision);
    }

    /// Decisions since the last call, oldest first, the last 64 at most.
    pub fn take_decisions(&self) -> Vec<Decision> {
        self.lock().decisions.take()
    }

    /// Moves that were made, and those that were not.
    pub fn moves(&self) -> Moves {
        self.lock().moves
    }

    /// The targets, in the order in which a packet meets them; the base target is the last one.
    pub fn targets(&self) -> impl Iterator<Item = &dyn Target> {
        self.fronts.iter().map(|front| &*front.target).chain([&*self.base])
    }

    /// The first stage in front of the base target; `None` for a chain of one.
    pub fn fast(&self) -> Option<&dyn Target> {
        self.fronts.first().map(|front| &*front.target)
    }

    /// The base target.
    pub fn base(&self) -> &dyn Target {
        &*self.base
    }

    /// The target that the session's packets run on.
    pub fn target_of(&self, id: u64) -> &dyn Target {
        self.fronts.get(self.stage_of(id)).map_or(&*self.base, |front| &*front.target)
    }

    /// Traffic of the base target, and of all in front together.
    pub fn traffic(&self) -> TargetTraffic {
        let mut total = TargetTraffic::new();
        for stage in 0..=self.fronts.len() {
            let path = if stage < self.fronts.len() { Path::Fast } else { Path::Base };
            for (port, count) in self.traffic_of(stage) {
                *total.entry((path, port)).or_default() += count;
            }
        }
        total
    }

    /// Packets and received bytes that a stage ran to their end, by ingress port. Stages count from 0; the last one is the base target.
    pub fn traffic_of(&self, stage: usize) -> BTreeMap<PortId, Count> {
        let mut total: BTreeMap<PortId, Count> = self.ran_of(stage).into_iter().map(|(port, ran)| (port, ran.all())).collect();
        let ahead = self.fronts.get(stage).and_then(|front| front.target.facets().ahead);
        for (port, count) in ahead.map(Ahead::carried).unwrap_or_default().received {
            *total.entry(port).or_default() += count;
        }
        total
    }

    /// As [`Split::traffic_of`], by what became of them; without what a stage ahead of the engine ran, which keeps a ledger of its own.
    pub fn ran_of(&self, stage: usize) -> BTreeMap<PortId, Ran> {
        let mut total = BTreeMap::new();
        for lane in self.traffic.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            lane.sum_into(stage, &mut total);
        }
        total
    }

    /// Whether the first target is ahead of the engine: its misses come to the lanes for the stages behind it only.
    pub fn fast_is_ahead(&self) -> bool {
        self.is_ahead(0)
    }

    pub(crate) fn is_ahead(&self, stage: usize) -> bool {
        self.fronts.get(stage).is_some_and(|front| front.target.facets().ahead.is_some())
    }

    /// Whether the session, as it is now, may be on that stage: one with a rate only if all its packets run there.
    pub(crate) fn may_hold(&self, stage: usize, session: &Unit) -> bool {
        self.policy.read().keeps(session) && !(session.metered && self.shuns_rates(stage))
    }

    /// Whether the session may be on one of the stages in front.
    pub(crate) fn may_be_in_front(&self, session: &Unit) -> bool {
        (0..self.fronts.len()).any(|stage| self.may_hold(stage, session))
    }

    /// Whether a session with a rate must stay away from that stage: some of its packets would be policed elsewhere.
    pub(crate) fn shuns_rates(&self, stage: usize) -> bool {
        self.fronts[stage].target.capabilities().selective && !self.shares_meters(stage)
    }

    /// Whether that stage executes the base target's cells of meters: a rate is policed in one place, wherever packets run.
    pub(crate) fn shares_meters(&self, stage: usize) -> bool {
        self.fronts[stage].target.facets().meters.is_some_and(Meters::shares_meters)
    }

    /// The first phase: whether every stage that may refuse for all takes what all are to hold. Nothing has changed, whatever it says.
    fn prepare(&self, id: u64, batch: &Batch) -> Result<(), ApplyError> {
        let asked = |front: &&Front| front.on_refusal == OnRefusal::RefuseBatch && !front.is_retired();
        for front in self.fronts.iter().filter(asked) {
            let shared = batch.ops.iter().enumerate().filter(|(_, op)| part(self.base.program(), id, op) == Part::Shared);
            let (at, ops): (Vec<usize>, Vec<Op>) = shared.map(|(i, op)| (i, op.clone())).unzip();
            match front.target.check(&Batch { ops }) {
                // One that does not answer does not answer the change either, and is retired then.
                Ok(()) | Err(ApplyError::Unknown(_)) => {}
                Err(error) => return Err(error.renumbered(|op| at.get(op).copied().unwrap_or(op))),
            }
        }
        Ok(())
    }

    /// Brings the stages in front after the base target. Nothing that fails here is an error of the caller: the base
    /// target has it all.
    pub(crate) fn follow<'a>(&'a self, books: &mut Books, session: &Unit, batch: &Batch, mut gate: Gate<'a>) {
        let (program, id) = (self.base.program(), session.id);
        let is = |op: &Op, what: Part| part(program, id, op) == what;
        let before = books.placed.hold(program, id, &batch.ops);
        let wanted = self.policy.read().wants(session);
        books.placed.want(id, wanted && self.may_be_in_front(session));
        let shared = Batch { ops: batch.ops.iter().filter(|op| is(op, Part::Shared)).cloned().collect() };
        shared.ops.iter().for_each(|op| books.shadow.follow(op));
        // Meters that start over with this batch: their buckets are full, wherever they are.
        let anew: Vec<_> = batch
            .ops
            .iter()
            .filter_map(|op| match op {
                Op::Meter { meter, index, .. } => Some((*meter, *index)),
                _ => None,
            })
            .collect();
        let stage_of = |books: &Books| books.placed.sessions.get(&id).map(|of| of.stage);
        if let Some(stage) = stage_of(books)
            && !self.may_hold(stage, session)
        {
            self.leave(books, id, &anew, &mut gate);
            // One that ends leaves too.
            if books.placed.held(id).entries > 0 {
                books.decisions.note(Decision::new(id, Place::Base, Why::Metered, Outcome::Done));
            }
        }
        let already = stage_of(books);
        // A session comes with its first entries or by a move, and with all its meters: with a part of them there its packets,
        // and so its rates, would be in two places.
        let whole = before.entries == 0 && before.meters.iter().all(|at| anew.contains(at));
        let comes = whole && batch.ops.iter().any(|op| is(op, Part::Entry)) && self.policy.read().wants(session);
        let changes = batch.ops.iter().any(|op| !is(op, Part::Shared));
        let mut has_it = None;
        for (stage, front) in self.fronts.iter().enumerate() {
            let stays = already == Some(stage) && changes;
            let may_come = comes && already.is_none() && has_it.is_none() && self.may_hold(stage, session);
            if !front.is_retired() && (stays || may_come) {
                self.close(&mut gate, stage);
                let applied = if session.wakes { front.target.apply_deferred(batch) } else { front.target.apply(batch) };
                match applied {
                    Ok(()) => {
                        has_it = Some(stage);
                        let on_stage = books.placed.sessions.entry(id).or_insert_with(|| OnStage::new(stage));
                        on_stage.follow(program, id, &batch.ops);
                        if on_stage.entries.is_empty()
                            && let Some(rest) = books.placed.sessions.remove(&id)
                        {
                            self.delete(books, stage, rest.deletions(program), &mut gate);
                        }
                        continue;
                    }
                    Err(error) => {
                        books.placed.refused += 1;
                        tracing::debug!(id, "{} does not take it: {error}", front.target.name());
                        if error.may_have_changed() {
                            self.retire(books, stage, &batch.ops, &anew, &mut gate, &error);
                            continue;
                        }
                        if stays {
                            self.leave(books, id, &anew, &mut gate);
                            books.placed.left.insert(id);
                            books.decisions.note(Decision::new(id, Place::Base, Why::NoRoom, Outcome::Done));
                        }
                    }
                }
            }
            // It may have been retired on the way here, by a session that it did not let go.
            if front.is_retired() {
                shared.ops.iter().for_each(|op| books.lost[stage].perhaps(op, |counter, cell| front.target.counter(counter, cell)));
            } else if !shared.ops.is_empty()
                && let Err(error) = if session.wakes { front.target.apply_deferred(&shared) } else { front.target.apply(&shared) }
            {
                self.retire(books, stage, &shared.ops, &anew, &mut gate, &error);
            }
        }
        // One that would be on a stage that is out of service comes when that is back.
        let would = |stage: usize| self.fronts[stage].is_retired() && self.may_hold(stage, session);
        let waits = stage_of(books).is_none() && self.policy.read().wants(session) && (0..self.fronts.len()).any(would);
        if waits && books.placed.held(id).entries > 0 {
            books.placed.left.insert(id);
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Target for Split {
    fn name(&self) -> &str {
        if self.fronts.is_empty() { self.base.name() } else { "split" }
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { modelled: self.targets().any(|target| target.capabilities().modelled), ..self.base.capabilities() }
    }

    fn program(&self) -> &Arc<Program> {
        self.base.program()
    }

    /// Whether the base target takes it, and all stages that may refuse for all.
    fn check(&self, batch: &Batch) -> Result<(), ApplyError> {
        let _books = self.lock();
        self.prepare(0, batch)?;
        self.base.check(batch)
    }

    /// Changes that belong to no session go to all.
    fn apply(&self, batch: &Batch) -> Result<(), ApplyError> {
        self.apply_session(&Unit::default(), batch)
    }

    fn apply_deferred(&self, batch: &Batch) -> Result<(), ApplyError> {
        self.apply_session(&Unit { wakes: true, ..Unit::default() }, batch)
    }

    fn lane(&self, index: usize) -> Box<dyn Lane> {
        if self.fronts.is_empty() {
            return self.base.lane(index);
        }
        let traffic = Arc::new(LaneTraffic::new(self.fronts.len() + 1));
        self.traffic.lock().unwrap_or_else(PoisonError::into_inner).push(traffic.clone());
        let dscps = match &*self.policy.read() {
            Policy::Dscps(list, of) => Some((list.iter().fold(0u64, |set, d| set | 1 << d), *of)),
            _ => None,
        };
        let front = |(stage, front): (usize, &Front)| StageLane {
            lane: front.target.lane(index),
            retired: front.retired.clone(),
            ahead: self.is_ahead(stage),
        };
        Box::new(SplitLane {
            fronts: self.fronts.iter().enumerate().map(front).collect(),
            base: self.base.lane(index),
            dscps,
            traffic,
            ran_by: [0; BURST],
            gate: self.gate.clone(),
            stops: self.base.program().stages.len(),
            again: Vec::with_capacity(BURST),
            picked: Vec::with_capacity(BURST),
            packets: (0..BURST).map(|_| Packet::empty(0)).collect(),
            verdicts: vec![Verdict::default(); BURST],
        })
    }

    fn counter(&self, counter: CounterId, index: u64) -> Count {
        let mut sum = self.base.counter(counter, index);
        for (stage, front) in self.fronts.iter().enumerate() {
            let mut count = front.target.counter(counter, index);
            if front.is_retired()
                && let Some(before) = self.lock().lost[stage].cleared.get(&(counter, index))
            {
                count.packets = count.packets.saturating_sub(before.packets);
                count.bytes = count.bytes.saturating_sub(before.bytes);
            }
            sum += count;
        }
        sum
    }

    fn table_stats(&self, table: TableId) -> TableStats {
        let mut sum = self.base.table_stats(table);
        if self.program().is_ask(table) {
            // Services are called by the base target alone: stages in front have no such table.
            return sum;
        }
        for front in &self.fronts {
            let stats = front.target.table_stats(table);
            sum.hits += stats.hits;
            // A miss in front is not one of the chain where a later stage is asked again.
            if !self.program().tables[table].split {
                sum.misses += stats.misses;
            }
        }
        sum
    }

    /// What a lane of the chain does not do by itself: packets in flight are those of the first target, a cell's buckets those of the place where its
    /// session's packets run, messages come from all. A register has cells in each, of which no sum tells anything. The chain does not go
    /// out of service: the base target holds everything, and [`Split::recover`] brings the others back.
    fn facets(&self) -> Facets<'_> {
        let base = self.base.facets();
        if self.fronts.is_empty() {
            return base;
        }
        Facets {
            ahead: self.fronts.first().and_then(|front| front.target.facets().ahead),
            recovery: None,
            meters: base.meters.map(|_| self as &dyn Meters),
            registers: None,
            digests: self.digests().next().map(|_| self as &dyn Digests),
            tables: base.tables.map(|_| self as &dyn Tables),
        }
    }
}

/// Of a chain whose base target tells its entries.
impl Tables for Split {
    /// Those of the base target, which holds all. What stages in front have counted for their copies is added while they are there.
    fn entries(&self, table: TableId, after: Option<&Entry>, most: usize) -> Vec<HeldEntry> {
        // A session's move deletes its copies, and what it comes to hold is not whole before it ends.
        let _books = self.lock();
        let mut held = self.base.facets().tables.map_or_else(Vec::new, |base| base.entries(table, after, most));
        let counted = held.first().is_some_and(|first| first.count.is_some());
        // What a retired one holds nobody knows.
        for front in self.fronts.iter().filter(|front| counted && !front.is_retired()) {
            let Some(tables) = front.target.facets().tables else { continue };
            // As many of a part of the same entries reach at least as far.
            let mut copies = tables.entries(table, after, most).into_iter().peekable();
            fn place(held: &HeldEntry) -> (&[KeyMatch], u32) {
                (&held.entry.keys, held.entry.priority)
            }
            for held in &mut held {
                while copies.next_if(|copy| place(copy) < place(held)).is_some() {}
                if let Some(copy) = copies.next_if(|copy| place(copy) == place(held))
                    && let (Some(count), Some(more)) = (&mut held.count, copy.count)
                {
                    *count += more;
                }
            }
        }
        held
    }
}

impl Digests for Split {
    fn take_digests(&self, into: &mut Vec<Digest>) {
        self.digests().for_each(|target| target.take_digests(into));
    }

    fn lost_digests(&self) -> u64 {
        self.digests().map(Digests::lost_digests).sum()
    }
}

impl Meters for Split {
    fn shares_meters(&self) -> bool {
        false
    }

    fn meter_state(&self, meter: MeterId, index: u64) -> Option<MeterState> {
        buckets(self.place_of(meter, index), meter, index)
    }

    fn set_meter_state(&self, meter: MeterId, index: u64, state: MeterState) -> Result<(), TargetError> {
        let place = self.place_of(meter, index);
        let meters = place.facets().meters.ok_or_else(|| TargetError(format!("{} does not take the buckets of a meter", place.name())))?;
        meters.set_meter_state(meter, index, state)
    }
}

impl Split {
    /// Where the packets of the cell's session run.
    fn place_of(&self, meter: MeterId, index: u64) -> &dyn Target {
        let books = self.lock();
        let stage = books.placed.sessions.values().find(|of| of.meters.contains(&(meter, index))).map(|of| of.stage);
        stage.and_then(|stage| self.fronts.get(stage)).map_or(&*self.base, |front| &*front.target)
    }

    fn digests(&self) -> impl Iterator<Item = &dyn Digests> {
        self.targets().filter_map(|target| target.facets().digests)
    }
}

/// The buckets of a meter's cell, if the target tells them.
pub(crate) fn buckets(target: &dyn Target, meter: MeterId, index: u64) -> Option<MeterState> {
    target.facets().meters?.meter_state(meter, index)
}
