//! Moving a session under traffic: make before break. Its packets, and its rates, are never in two places.
//!
//! The base target always holds every session, so a move creates or deletes a copy:
//! - *to fast* ([`Split::move_to_fast`]): the copy, all of it or nothing, with the buckets of its meters as they are on the base
//!   target; the next burst finds it;
//! - *to base* ([`Split::move_to_base`]): the buckets go back, and the copy is deleted.
//!
//! **In one process** a lane of the pair runs each burst to its end on both targets, and a move is made while no lane is within a burst
//! ([`Gate`]). So a packet of a flow is finished before the next one starts, and order, meters and counters hold. Counters are summed
//! over both targets, and their cells stay where they are.
//!
//! **A fast target ahead of the engine**, such as XDP or a chip, passes packets on through a queue. There a copy that takes
//! effect at once would let packets overtake those in the queue. So its entries are *pending* at first ([`target::Target::apply_deferred`]), and pass packets on
//! until those that came before them have been sent; from then on it counts what is in flight, flow by flow ([`target::InFlight`]).
//!
//! **Failures.** [`ApplyError::Refused`] and [`ApplyError::Unsupported`] change nothing. After [`ApplyError::Unknown`] it is not known what was
//! done. A session's copy is then deleted entry by entry; if that fails too, or if the
//! change was of what both hold, the fast target is *retired*: from the next burst on it gets no packets. [`Split::recover`] restarts or
//! empties it, installs again what both hold, and lets packets and moves return.
//!
//! **Rates.** Where the fast target shares its meters' cells with the base target ([`target::Meters::shares_meters`]), as XDP does with x86, there is one bucket
//! wherever packets run, and nothing to transfer. Sessions with rates do not move to a target ahead of the engine that does not share: it would run
//! packets while the buckets are in flight.
//!
//! What is lost with a target: the counts of a target that loses its memory, and the buckets of its meters,
//! which begin where the base target's were left when the session went. A daemon that is killed takes its fast targets along: the model
//! is in the process, and an XDP program is a link that ends with it. So it starts clean.

use crate::placed::{MeterAt, OnFast, Part, part};
use crate::policy::{PlacementCriteria, Policy};
use crate::shadow::Lost;
use crate::split::{Books, Split, buckets};
use parking_lot::{RwLock, RwLockWriteGuard};
use program::{ApplyError, Batch, Op, RuleError};
use std::collections::HashSet;
use std::sync::atomic::Ordering::Relaxed;
use target::{Recovery, TargetError};

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
    /// None: lanes run the base target alone, and a change of the fast one, which may take milliseconds, is not their business.
    lock: Option<&'a RwLock<()>>,
    closed: Option<RwLockWriteGuard<'a, ()>>,
}

impl Gate<'_> {
    /// On return no lane is within a burst of the pair.
    pub(crate) fn close(&mut self) {
        if let (Some(lock), None) = (self.lock, &self.closed) {
            self.closed = Some(lock.write());
        }
    }
}

impl Split {
    /// Open.
    pub(crate) fn gate(&self) -> Gate<'_> {
        Gate { lock: (!self.fast_is_ahead()).then_some(&*self.gate), closed: None }
    }

    /// Moves a session to the fast target. `copy` is the whole session: the insertion of each of its entries in `@split` tables, and the
    /// configuration of each of its meters. What both targets hold, such as filters, exists already.
    pub fn move_to_fast(&self, session: &PlacementCriteria, copy: &Batch) -> Result<(), MoveError> {
        let mut books = self.lock();
        if self.retired.load(Relaxed) {
            return Err(MoveError::Retired);
        }
        if books.placed.sessions.contains_key(&session.seid) {
            return Err(MoveError::There);
        }
        let meters = self.check_copy(&books, session, copy)?;
        let mut gate = self.gate();
        gate.close();
        let result = self.fast.apply_deferred(copy);
        if let Err(error) = result {
            if error.may_have_changed() {
                self.delete_singly(&mut books, undo(copy), &mut gate);
                return Err(MoveError::Failed(error));
            }
            books.placed.refused += 1;
            return Err(match error {
                ApplyError::Refused(full @ (RuleError::Full { .. } | RuleError::Masks { .. })) => MoveError::NoRoom(full),
                error => MoveError::Failed(error),
            });
        }
        // Shared buckets are there already.
        for (meter, index) in meters.into_iter().filter(|_| !self.shares_meters()) {
            let state = buckets(&*self.base, meter, index);
            let carried = match (state, self.fast.facets().meters) {
                (Some(state), Some(meters)) => meters.set_meter_state(meter, index, state),
                (None, _) => Err(TargetError(format!("{} does not tell the buckets of a meter", self.base.name()))),
                (_, None) => Err(TargetError(format!("{} does not take the buckets of a meter", self.fast.name()))),
            };
            if let Err(error) = carried {
                self.delete(&mut books, undo(copy), &mut gate);
                return Err(MoveError::Buckets(error));
            }
        }
        let mut on_fast = OnFast::default();
        on_fast.follow(self.base.program(), session.seid, &copy.ops);
        books.placed.sessions.insert(session.seid, on_fast);
        Ok(())
    }

    /// Moves a session to the base target. The session is there on return, with or without an error: an error says that the fast target
    /// is retired, as it did not delete them.
    pub fn move_to_base(&self, seid: u64) -> Result<(), MoveError> {
        let mut books = self.lock();
        if !books.placed.sessions.contains_key(&seid) {
            return Err(MoveError::There);
        }
        self.leave(&mut books, seid, &[], &mut self.gate());
        if self.retired.load(Relaxed) { Err(MoveError::Retired) } else { Ok(()) }
    }

    /// Sessions that left the fast target without being asked to, or did not come as the policy wants because it was out of service, since the
    /// last call; some may be back, or have ended.
    pub fn take_left(&self) -> Vec<u64> {
        std::mem::take(&mut self.lock().placed.left).into_iter().collect()
    }

    /// How often the fast target has been taken out of service.
    pub fn retirements(&self) -> u64 {
        self.lock().retirements
    }

    /// Whether the fast target gets no packets at the moment.
    pub fn is_retired(&self) -> bool {
        self.retired.load(Relaxed)
    }

    /// Brings a retired fast target back into service: whatever it may hold is deleted, and it is given what both targets hold. No
    /// sessions return by that: they are moved. Call it periodically; an error says why it is not possible yet.
    pub fn recover(&self) -> Result<(), RecoverError> {
        let mut books = self.lock();
        if !self.retired.load(Relaxed) {
            return Ok(());
        }
        // It gets no packets, so nobody waits meanwhile.
        let program = self.base.program();
        // One that has lost what it held is empty then. Of another nobody knows what it holds.
        let recovery = self.fast.facets().recovery;
        let anew = recovery.is_some_and(|recovery| recovery.restart().is_ok());
        let deletions = if anew { Vec::new() } else { books.lost.deletions(program, &books.shadow) };
        for op in deletions {
            match self.fast.apply(&Batch { ops: vec![op] }) {
                Ok(()) | Err(ApplyError::Refused(RuleError::Missing { .. })) => {}
                Err(error) => return Err(error.into()),
            }
        }
        for (id, table) in &program.tables {
            let (held, constant) = (self.fast.table_stats(id).entries, table.entries.len() as u64);
            if held > constant {
                return Err(RecoverError::NotEmpty { table: table.name.clone(), entries: held - constant });
            }
        }
        let books = &mut *books;
        books.lost.perhaps_shared(&books.shadow);
        self.fast.apply(&books.lost.rebuilding(&books.shadow))?;
        recovery.map_or(Ok(()), Recovery::serve)?;
        books.lost = Lost::default();
        let mut gate = self.gate();
        gate.close();
        self.retired.store(false, Relaxed);
        Ok(())
    }

    /// A copy is good if it is neither more nor less than the session; gives its meters.
    fn check_copy(&self, books: &Books, session: &PlacementCriteria, copy: &Batch) -> Result<Vec<MeterAt>, MoveError> {
        let unfit = |what: String| Err(MoveError::Unfit(what));
        let held = books.placed.held(session.seid);
        if matches!(self.policy, Policy::Dscps(..)) && !held.meters.is_empty() {
            return unfit("where packets are told apart by DSCP, a rate is policed in one place".into());
        }
        if held.direct_meters {
            return unfit("buckets of entries' own meters do not move".into());
        }
        if self.shuns_rates() && !held.meters.is_empty() {
            return unfit(format!(
                "the {} target hands some packets of its sessions on, and a rate is policed in one place",
                self.fast.name()
            ));
        }
        // It would run packets of the session while the buckets are in flight.
        if self.fast_is_ahead() && !self.shares_meters() && !held.meters.is_empty() {
            return unfit(format!("the {} target does not wait while rates move", self.fast.name()));
        }
        let (mut entries, mut meters) = (0, HashSet::new());
        for op in &copy.ops {
            match (part(self.base.program(), session.seid, op), op) {
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

    /// Takes a session from the fast target, with its buckets but for those that have started over.
    pub(crate) fn leave(&self, books: &mut Books, seid: u64, anew: &[MeterAt], gate: &mut Gate) {
        gate.close();
        let Some(of) = books.placed.sessions.remove(&seid) else { return };
        self.carry_back(&of, anew);
        let ops = of.deletions(self.base.program());
        self.delete(books, ops, gate);
    }

    /// Buckets of a session's meters, to the base target.
    fn carry_back(&self, of: &OnFast, anew: &[MeterAt]) {
        if self.shares_meters() {
            return;
        }
        for (meter, index) in of.meters.iter().filter(|at| !anew.contains(at)) {
            // A target that lost its meters tells nothing: the base target's bucket goes on, and has filled meanwhile. A cell that is no
            // longer configured has no bucket to be set.
            if let (Some(state), Some(base)) = (buckets(&*self.fast, *meter, *index), self.base.facets().meters) {
                let _ = base.set_meter_state(*meter, *index, state);
            }
        }
    }

    /// Deletes on the fast target what is there.
    pub(crate) fn delete(&self, books: &mut Books, ops: Vec<Op>, gate: &mut Gate) {
        if !ops.is_empty() && self.fast.apply(&Batch { ops: ops.clone() }).is_err() {
            self.delete_singly(books, ops, gate);
        }
    }

    /// Deletes on the fast target what may be there.
    fn delete_singly(&self, books: &mut Books, ops: Vec<Op>, gate: &mut Gate) {
        gate.close();
        for op in &ops {
            match self.fast.apply(&Batch { ops: vec![op.clone()] }) {
                Ok(()) | Err(ApplyError::Refused(RuleError::Missing { .. })) => {}
                Err(error) => return self.retire(books, &ops, &[], gate, &error),
            }
        }
    }

    /// From the next burst on the fast target gets no packets. `undecided` may have been applied or not.
    pub(crate) fn retire(&self, books: &mut Books, undecided: &[Op], anew: &[MeterAt], gate: &mut Gate, why: &ApplyError) {
        gate.close();
        tracing::warn!("{} is retired: {why}", self.fast.name());
        self.retired.store(true, Relaxed);
        books.retirements += 1;
        if let Some(recovery) = self.fast.facets().recovery {
            recovery.retire();
        }
        let count = |counter, cell| self.fast.counter(counter, cell);
        let lost = &mut books.lost;
        lost.perhaps_shared(&books.shadow);
        undecided.iter().for_each(|op| lost.perhaps(op, count));
        for (seid, of) in std::mem::take(&mut books.placed.sessions) {
            self.carry_back(&of, anew);
            of.deletions(self.base.program()).iter().for_each(|op| lost.perhaps(op, count));
            books.placed.left.insert(seid);
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
