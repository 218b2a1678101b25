//! Moving a session under traffic: make before break. Its packets, and its rates, are never in two places.
//!
//! The base target always holds every session, so a move creates or deletes a copy, on one stage in front of it at a time:
//! - *to fast* ([`Split::move_to_fast`], [`Split::move_to_stage`]): the copy, all of it or nothing, with the buckets of its meters as they are on the base
//!   target; the next burst finds it;
//! - *to base* ([`Split::move_to_base`]): the buckets go back, and the copy is deleted.
//!
//! **In one process** a lane of the chain runs each burst to its end on all targets, and a move is made while no lane is within a burst
//! ([`Gate`]). So a packet of a flow is finished before the next one starts, and order, meters and counters hold. Counters are summed
//! over all targets, and their cells stay where they are.
//!
//! **A fast target ahead of the engine**, such as XDP or a chip, passes packets on through a queue. There a copy that takes
//! effect at once would let packets overtake those in the queue. So its entries are *pending* at first ([`target_api::Target::apply_deferred`]), and pass packets on
//! until those that came before them have been sent; from then on it counts what is in flight, flow by flow ([`target_api::InFlight`]).
//!
//! **Failures.** [`ApplyError::Refused`] and [`ApplyError::Unsupported`] change nothing. After [`ApplyError::Unknown`] it is not known what was
//! done. A session's copy is then deleted entry by entry; if that fails too, or if the
//! change was of what all hold, the stage is *retired*: from the next burst on it gets no packets. [`Split::recover`] restarts or
//! empties it, installs again what all hold, and lets packets and moves return. The other stages go on meanwhile.
//!
//! **Rates.** Where a stage shares its meters' cells with the base target ([`target_api::Meters::shares_meters`]), as XDP does with x86, there is one bucket
//! wherever packets run, and nothing to transfer. Sessions with rates do not move to a target ahead of the engine that does not share: it would run
//! packets while the buckets are in flight.
//!
//! What is lost with a target: the counts of a target that loses its memory, and the buckets of its meters,
//! which begin where the base target's were left when the session went. A daemon that is killed takes its fast targets along: the model
//! is in the process, and an XDP program is a link that ends with it. So it starts clean.

use crate::decisions::Decision;
use crate::placed::{MeterAt, OnStage, Part, part};
use crate::planner::{Outcome, Place, Why};
use crate::policy::{Policy, Unit};
use crate::shadow::Lost;
use crate::split::{Books, Front, Split, buckets};
use parking_lot::{RwLock, RwLockWriteGuard};
use program::{ApplyError, Batch, Op, RuleError};
use std::collections::HashSet;
use target_api::{Recovery, TargetError};

/// Why a session was not moved. Nothing has changed, but where it says so.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum MoveError {
    /// The fast target gets no packets at the moment.
    #[error("the fast target is out of service")]
    Retired,
    /// It is where it should go.
    #[error("the session is on that target already")]
    There,
    /// The policy does not allow it, or the copy is not the whole session.
    #[error("{0}")]
    Unfit(String),
    /// The fast target is full.
    #[error("no room: {0}")]
    NoRoom(RuleError),
    /// The fast target failed. If it did not say what it has done, and could not be put right, it is retired now.
    #[error("the fast target failed: {0}")]
    Failed(ApplyError),
    /// Its token buckets could not be transferred.
    #[error("the buckets of a meter do not move: {0}")]
    Buckets(TargetError),
}

/// Why a fast target is not back in service.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RecoverError {
    /// It does not take what it needs to hold.
    #[error(transparent)]
    Apply(#[from] ApplyError),
    /// It does not run packets again.
    #[error(transparent)]
    Serve(#[from] TargetError),
    /// It did not delete earlier entries.
    #[error("table {table} still holds {entries} entries")]
    NotEmpty {
        /// The table's name.
        table: String,
        /// How many.
        entries: u64,
    },
}

/// Keeps lanes between two bursts, from when it is closed until it is dropped.
pub(crate) struct Gate<'a> {
    lock: &'a RwLock<()>,
    closed: Option<RwLockWriteGuard<'a, ()>>,
}

impl Gate<'_> {
    /// On return no lane is within a burst of the chain.
    pub(crate) fn close(&mut self) {
        if self.closed.is_none() {
            self.closed = Some(self.lock.write());
        }
    }
}

impl Split {
    /// Open.
    pub(crate) fn gate(&self) -> Gate<'_> {
        Gate { lock: &self.gate, closed: None }
    }

    /// Before a change of a stage in front: on return no lane is within a burst. Of a target ahead lanes run only the stages behind it, and its changes,
    /// which may take milliseconds, are not their business.
    pub(crate) fn close<'a>(&'a self, gate: &mut Gate<'a>, stage: usize) {
        if !self.is_ahead(stage) {
            gate.close();
        }
    }

    /// Moves a session from the base target to the first stage in front that takes it. `copy` is the whole session: the insertion of each of its
    /// entries in `@split` tables, and the configuration of each of its meters. What all targets hold, such as filters, exists already. An error is
    /// that of the last stage.
    pub fn move_to_fast(&self, session: &Unit, copy: &Batch) -> Result<(), MoveError> {
        let mut books = self.lock();
        if books.placed.sessions.contains_key(&session.id) {
            return Err(MoveError::There);
        }
        let mut result = Err(MoveError::Unfit("there is no target in front of the base target".into()));
        for stage in 0..self.fronts.len() {
            result = self.place(&mut books, stage, session, copy);
            if result.is_ok() {
                break;
            }
        }
        result
    }

    /// Moves a session to a stage, counted from 0; `copy` is as for [`Split::move_to_fast`]. From another stage in front it goes by the base target,
    /// where it stays if that stage does not take it.
    pub fn move_to_stage(&self, stage: usize, session: &Unit, copy: &Batch) -> Result<(), MoveError> {
        if stage >= self.fronts.len() {
            return self.move_to_base(session.id);
        }
        let mut books = self.lock();
        match books.placed.sessions.get(&session.id).map(|of| of.stage) {
            Some(at) if at == stage => return Err(MoveError::There),
            Some(_) => self.leave(&mut books, session.id, &[], &mut self.gate()),
            None => {}
        }
        self.place(&mut books, stage, session, copy)
    }

    fn place(&self, books: &mut Books, stage: usize, session: &Unit, copy: &Batch) -> Result<(), MoveError> {
        let result = self.try_to_place(books, stage, session, copy);
        *(if result.is_ok() { &mut books.moves.to_front } else { &mut books.moves.failed }) += 1;
        result
    }

    fn try_to_place(&self, books: &mut Books, stage: usize, session: &Unit, copy: &Batch) -> Result<(), MoveError> {
        let front = &self.fronts[stage];
        if front.is_retired() {
            return Err(MoveError::Retired);
        }
        let meters = self.check_copy(books, stage, session, copy)?;
        let mut gate = self.gate();
        self.close(&mut gate, stage);
        let result = front.target.apply_deferred(copy);
        if let Err(error) = result {
            if error.may_have_changed() {
                self.delete_singly(books, stage, undo(copy), &mut gate);
                return Err(MoveError::Failed(error));
            }
            books.placed.refused += 1;
            return Err(match error {
                ApplyError::Refused(full @ (RuleError::Full { .. } | RuleError::Masks { .. })) => MoveError::NoRoom(full),
                error => MoveError::Failed(error),
            });
        }
        // Shared buckets are there already.
        for (meter, index) in meters.into_iter().filter(|_| !self.shares_meters(stage)) {
            let state = buckets(&*self.base, meter, index);
            let carried = match (state, front.target.facets().meters) {
                (Some(state), Some(meters)) => meters.set_meter_state(meter, index, state),
                (None, _) => Err(TargetError(format!("{} does not tell the buckets of a meter", self.base.name()))),
                (_, None) => Err(TargetError(format!("{} does not take the buckets of a meter", front.target.name()))),
            };
            if let Err(error) = carried {
                self.delete(books, stage, undo(copy), &mut gate);
                return Err(MoveError::Buckets(error));
            }
        }
        let mut on_stage = OnStage::new(stage);
        on_stage.follow(self.base.program(), session.id, &copy.ops);
        books.placed.sessions.insert(session.id, on_stage);
        Ok(())
    }

    /// Moves a session to the base target. The session is there on return, with or without an error: an error says that its stage
    /// is retired, as it did not delete them.
    pub fn move_to_base(&self, id: u64) -> Result<(), MoveError> {
        let mut books = self.lock();
        let Some(stage) = books.placed.sessions.get(&id).map(|of| of.stage) else { return Err(MoveError::There) };
        self.leave(&mut books, id, &[], &mut self.gate());
        books.moves.to_base += 1;
        if self.fronts[stage].is_retired() { Err(MoveError::Retired) } else { Ok(()) }
    }

    /// Sessions that left a stage in front without being asked to, or did not come as the policy wants because it was out of service, since the
    /// last call; some may be back, or have ended.
    pub fn take_left(&self) -> Vec<u64> {
        std::mem::take(&mut self.lock().placed.left).into_iter().collect()
    }

    /// How often a stage has been taken out of service.
    pub fn retirements(&self) -> u64 {
        self.lock().retirements
    }

    /// Whether a stage in front gets no packets at the moment.
    pub fn is_retired(&self) -> bool {
        self.fronts.iter().any(Front::is_retired)
    }

    /// Whether that stage, counted from 0, gets no packets at the moment. The base target always does.
    pub fn is_stage_retired(&self, stage: usize) -> bool {
        self.fronts.get(stage).is_some_and(Front::is_retired)
    }

    /// Whether no stage in front gets packets.
    pub(crate) fn is_base_alone(&self) -> bool {
        self.fronts.iter().all(Front::is_retired)
    }

    /// Brings retired stages back into service: whatever one may hold is deleted, and it is given what all targets hold. No
    /// sessions return by that: they are moved. Call it periodically; an error says why it is not possible yet for the first of those that stay out.
    pub fn recover(&self) -> Result<(), RecoverError> {
        let mut books = self.lock();
        let mut result = Ok(());
        for stage in (0..self.fronts.len()).filter(|stage| self.is_stage_retired(*stage)) {
            result = result.and(self.recover_stage(&mut books, stage));
        }
        result
    }

    fn recover_stage(&self, books: &mut Books, stage: usize) -> Result<(), RecoverError> {
        let fast = &*self.fronts[stage].target;
        // It gets no packets, so nobody waits meanwhile.
        let program = self.base.program();
        // One that has lost what it held is empty then. Of another nobody knows what it holds.
        let recovery = fast.facets().recovery;
        let anew = recovery.is_some_and(|recovery| recovery.restart().is_ok());
        let deletions = if anew { Vec::new() } else { books.lost[stage].deletions(program, &books.shadow) };
        for op in deletions {
            match fast.apply(&Batch { ops: vec![op] }) {
                Ok(()) | Err(ApplyError::Refused(RuleError::Missing { .. })) => {}
                Err(error) => return Err(error.into()),
            }
        }
        for (id, table) in program.tables.iter().filter(|(id, _)| !program.is_ask(*id)) {
            let (held, constant) = (fast.table_stats(id).entries, table.entries.len() as u64);
            if held > constant {
                return Err(RecoverError::NotEmpty { table: table.name.clone(), entries: held - constant });
            }
        }
        books.lost[stage].perhaps_shared(&books.shadow);
        fast.apply(&books.lost[stage].rebuilding(&books.shadow))?;
        recovery.map_or(Ok(()), Recovery::serve)?;
        books.lost[stage] = Lost::default();
        let mut gate = self.gate();
        self.close(&mut gate, stage);
        self.fronts[stage].set_retired(false);
        Ok(())
    }

    /// A copy is good if it is neither more nor less than the session; gives its meters.
    fn check_copy(&self, books: &Books, stage: usize, session: &Unit, copy: &Batch) -> Result<Vec<MeterAt>, MoveError> {
        let unfit = |what: String| Err(MoveError::Unfit(what));
        let held = books.placed.held(session.id);
        if matches!(self.policy(), Policy::Dscps(..)) && !held.meters.is_empty() {
            return unfit("where packets are told apart by DSCP, a rate is policed in one place".into());
        }
        if held.direct_meters {
            return unfit("buckets of entries' own meters do not move".into());
        }
        if self.shuns_rates(stage) && !held.meters.is_empty() {
            return unfit(format!(
                "the {} target hands some packets of its sessions on, and a rate is policed in one place",
                self.fronts[stage].target.name()
            ));
        }
        // It would run packets of the session while the buckets are in flight.
        if self.is_ahead(stage) && !self.shares_meters(stage) && !held.meters.is_empty() {
            return unfit(format!("the {} target does not wait while rates move", self.fronts[stage].target.name()));
        }
        let (mut entries, mut meters) = (0, HashSet::new());
        for op in &copy.ops {
            match (part(self.base.program(), session.id, op), op) {
                (Part::Entry, Op::Insert(_)) => entries += 1,
                (Part::Meter, Op::Meter { meter, index, config: Some(_) }) => _ = meters.insert((*meter, *index)),
                _ => return unfit("a copy has entries of the session and rates of its meters, nothing else".into()),
            }
        }
        if entries == 0 || entries != held.entries {
            return unfit(format!("{entries} entries, but the session has {}", held.entries));
        }
        if meters.len() != held.meters.len() || !held.meters.iter().all(|at| meters.contains(at)) {
            return unfit(format!("{} meters, but the session has {}", meters.len(), held.meters.len()));
        }
        Ok(held.meters)
    }

    /// Takes a session from the stage in front that it is on, with its buckets but for those that have started over.
    pub(crate) fn leave<'a>(&'a self, books: &mut Books, id: u64, anew: &[MeterAt], gate: &mut Gate<'a>) {
        let Some(of) = books.placed.sessions.remove(&id) else { return };
        self.close(gate, of.stage);
        self.carry_back(&of, anew);
        let stage = of.stage;
        let ops = of.deletions(self.base.program());
        self.delete(books, stage, ops, gate);
    }

    /// Buckets of a session's meters, to the base target.
    fn carry_back(&self, of: &OnStage, anew: &[MeterAt]) {
        if self.shares_meters(of.stage) {
            return;
        }
        for (meter, index) in of.meters.iter().filter(|at| !anew.contains(at)) {
            // A target that lost its meters tells nothing: the base target's bucket goes on, and has filled meanwhile. A cell that is no
            // longer configured has no bucket to be set.
            if let (Some(state), Some(base)) = (buckets(&*self.fronts[of.stage].target, *meter, *index), self.base.facets().meters) {
                let _ = base.set_meter_state(*meter, *index, state);
            }
        }
    }

    /// Deletes on a stage what is there.
    pub(crate) fn delete<'a>(&'a self, books: &mut Books, stage: usize, ops: Vec<Op>, gate: &mut Gate<'a>) {
        if !ops.is_empty() && self.fronts[stage].target.apply(&Batch { ops: ops.clone() }).is_err() {
            self.delete_singly(books, stage, ops, gate);
        }
    }

    /// Deletes on a stage what may be there.
    fn delete_singly<'a>(&'a self, books: &mut Books, stage: usize, ops: Vec<Op>, gate: &mut Gate<'a>) {
        self.close(gate, stage);
        for op in &ops {
            match self.fronts[stage].target.apply(&Batch { ops: vec![op.clone()] }) {
                Ok(()) | Err(ApplyError::Refused(RuleError::Missing { .. })) => {}
                Err(error) => return self.retire(books, stage, &ops, &[], gate, &error),
            }
        }
    }

    /// From the next burst on the stage gets no packets. `undecided` may have been applied or not.
    pub(crate) fn retire<'a>(
        &'a self,
        books: &mut Books,
        stage: usize,
        undecided: &[Op],
        anew: &[MeterAt],
        gate: &mut Gate<'a>,
        why: &ApplyError,
    ) {
        self.close(gate, stage);
        let front = &self.fronts[stage];
        tracing::warn!("{} is retired: {why}", front.target.name());
        front.set_retired(true);
        books.retirements += 1;
        if let Some(recovery) = front.target.facets().recovery {
            recovery.retire();
        }
        let count = |counter, cell| front.target.counter(counter, cell);
        let lost = &mut books.lost[stage];
        lost.perhaps_shared(&books.shadow);
        undecided.iter().for_each(|op| lost.perhaps(op, count));
        let mut sessions = 0;
        for (id, of) in books.placed.sessions.extract_if(.., |_, of| of.stage == stage) {
            self.carry_back(&of, anew);
            of.deletions(self.base.program()).iter().for_each(|op| lost.perhaps(op, count));
            books.placed.left.insert(id);
            sessions += 1;
        }
        // One for all, as there may be a million of them.
        if sessions > 0 {
            books.decisions.note(Decision { id: 0, sessions, to: Place::Base, why: Why::OutOfService, outcome: Outcome::Done });
        }
    }
}

/// What takes a copy away.
fn undo(copy: &Batch) -> Vec<Op> {
    let undo = |op: &Op| match op {
        Op::Insert(e) => Some(Op::Delete(e.clone())),
        Op::Meter { meter, index, .. } => Some(Op::Meter { meter: *meter, index: *index, config: None }),
        _ => None,
    };
    copy.ops.iter().filter_map(undo).collect()
}
