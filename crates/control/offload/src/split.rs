//! The split: changes of sessions go to the base target, then to the fast one. How sessions move is in [`crate::moves`].

use crate::lane::SplitLane;
use crate::placed::{Part, Placed, part};
use crate::policy::{OutOfRange, PlacementCriteria, Policy};
use crate::shadow::{Lost, Shadow};
use crate::traffic::{LaneTraffic, Path, TargetTraffic};
use base::{Packet, Verdict};
use parking_lot::RwLock;
use program::{ApplyError, Batch, CounterId, Digest, Entry, KeyMatch, MeterId, Op, Program, TableId};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use target::{
    Ahead, BURST, Capabilities, Count, Digests, Facets, HeldEntry, Lane, MeterState, Meters, TableStats, Tables, Target, TargetError,
};

/// A fast target that holds some sessions, before a base target that holds all.
pub struct Split {
    pub(crate) fast: Box<dyn Target>,
    pub(crate) base: Box<dyn Target>,
    pub(crate) policy: Policy,
    books: Mutex<Books>,
    traffic: Mutex<Vec<Arc<LaneTraffic>>>,
    /// Set when the fast target refused something that both must hold, or does not say what it did: it then gets no packets.
    pub(crate) retired: Arc<AtomicBool>,
    pub(crate) gate: Arc<RwLock<()>>,
}

/// Why two targets are no pair.
#[derive(Clone, Debug, PartialEq, thiserror::Error)]
pub enum SplitError {
    /// Entries of one would mean something else in the other. With equal names: built with other options, or from another version of the source.
    #[error("targets run different programs: {fast} and {base}: compile both from one source with the same options")]
    Programs {
        /// Name and fingerprint of the fast target's.
        fast: String,
        /// Name and fingerprint of the base target's.
        base: String,
    },
    /// The fast target holds all or nothing.
    #[error("target {0} cannot hold a subset of the sessions")]
    NoSubset(String),
    /// A value of the policy is out of range: the operator's fault.
    #[error(transparent)]
    Policy(#[from] OutOfRange),
    /// The fast target was used before.
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

/// What is known of both. One change at a time.
#[derive(Default)]
pub(crate) struct Books {
    pub(crate) placed: Placed,
    pub(crate) shadow: Shadow,
    /// While the fast target is retired.
    pub(crate) lost: Lost,
    pub(crate) retirements: u64,
}

impl Split {
    /// Puts `fast` in front of `base`. Both must run the same program; `fast` must be able to hold a subset, and be empty.
    pub fn new(fast: Box<dyn Target>, base: Box<dyn Target>, policy: Policy) -> Result<Split, SplitError> {
        let (ours, its) = (fast.program(), base.program());
        if !ours.is_same(its) {
            let named = |p: &Program| format!("{} ({})", p.name, p.fingerprint);
            return Err(SplitError::Programs { fast: named(ours), base: named(its) });
        }
        if !fast.capabilities().subset {
            return Err(SplitError::NoSubset(fast.name().to_owned()));
        }
        policy.validate()?;
        // Whoever filled it is gone, and nobody knows whose entries they are.
        for (id, table) in &fast.program().tables {
            let entries = fast.table_stats(id).entries.saturating_sub(table.entries.len() as u64);
            if entries > 0 {
                return Err(SplitError::NotEmpty { target: fast.name().to_owned(), table: table.name.clone(), entries });
            }
        }
        Ok(Split { fast, base, policy, books: Mutex::default(), traffic: Mutex::default(), retired: Arc::default(), gate: Arc::default() })
    }

    /// Applies the changes of one session: all of it on the base target, or an error and nothing; and, if the policy
    /// wants the session on the fast target and it has room, there too.
    pub fn apply_session(&self, session: &PlacementCriteria, batch: &Batch) -> Result<(), ApplyError> {
        let mut books = self.lock();
        self.base.apply(batch)?;
        self.follow(&mut books, session, batch);
        Ok(())
    }

    /// The first half of a change of what all sessions share (a next hop): from now on the base target has it, or with an error neither target. Until
    /// [`Split::apply_to_fast`] follows, with nothing in between, the fast target continues as before.
    pub fn apply_to_base(&self, batch: &Batch) -> Result<(), ApplyError> {
        self.base.apply(batch)
    }

    /// The second half.
    pub fn apply_to_fast(&self, batch: &Batch) {
        self.follow(&mut self.lock(), &PlacementCriteria::default(), batch);
    }

    /// Sessions that have entries on the fast target.
    pub fn sessions_on_fast(&self) -> usize {
        self.lock().placed.sessions.len()
    }

    /// Whether this session has.
    pub fn is_on_fast(&self, seid: u64) -> bool {
        self.lock().placed.sessions.contains_key(&seid)
    }

    /// Sessions that were to be there but that found no room.
    pub fn refused_by_fast(&self) -> u64 {
        self.lock().placed.refused
    }

    /// The fast target.
    pub fn fast(&self) -> &dyn Target {
        &*self.fast
    }

    /// The base target.
    pub fn base(&self) -> &dyn Target {
        &*self.base
    }

    /// Traffic of each target.
    pub fn traffic(&self) -> TargetTraffic {
        let mut total = TargetTraffic::new();
        for lane in self.traffic.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            lane.sum_into(&mut total);
        }
        for (port, count) in self.fast.facets().ahead.map(Ahead::carried).unwrap_or_default().received {
            *total.entry((Path::Fast, port)).or_default() += count;
        }
        total
    }

    /// Whether the fast target is ahead of the engine: its misses come to the lanes for the base target only.
    pub fn fast_is_ahead(&self) -> bool {
        self.fast.facets().ahead.is_some()
    }

    /// Whether the session, as it is now, may be on the fast target: one with a rate only if all its packets run there.
    pub(crate) fn may_hold(&self, session: &PlacementCriteria) -> bool {
        self.policy.keeps(session) && !(session.metered && self.shuns_rates())
    }

    /// Whether a session with a rate must stay away: some of its packets would be policed elsewhere.
    pub(crate) fn shuns_rates(&self) -> bool {
        self.fast.capabilities().selective && !self.shares_meters()
    }

    /// Whether both execute the same cells of meters: a rate is policed in one place, wherever packets run.
    pub(crate) fn shares_meters(&self) -> bool {
        self.fast.facets().meters.is_some_and(Meters::shares_meters)
    }

    /// Brings the fast target after the base target. Nothing that fails here is an error of the caller: the base
    /// target has it all.
    fn follow(&self, books: &mut Books, session: &PlacementCriteria, batch: &Batch) {
        let (program, seid) = (self.base.program(), session.seid);
        let is = |op: &Op, what: Part| part(program, seid, op) == what;
        let before = books.placed.hold(program, seid, &batch.ops);
        let shared = Batch { ops: batch.ops.iter().filter(|op| is(op, Part::Shared)).cloned().collect() };
        shared.ops.iter().for_each(|op| books.shadow.follow(op));
        if self.retired.load(Relaxed) {
            if self.policy.wants(session) && self.may_hold(session) && books.placed.held(seid).entries > 0 {
                books.placed.left.insert(seid);
            }
            return shared.ops.iter().for_each(|op| books.lost.perhaps(op, |counter, cell| self.fast.counter(counter, cell)));
        }
        // Meters that start over with this batch: their buckets are full, wherever they are.
        let anew: Vec<_> = batch
            .ops
            .iter()
            .filter_map(|op| match op {
                Op::Meter { meter, index, .. } => Some((*meter, *index)),
                _ => None,
            })
            .collect();
        let mut gate = self.gate();
        if !self.may_hold(session) && books.placed.sessions.contains_key(&seid) {
            self.leave(books, seid, &anew, &mut gate);
        }
        let already = books.placed.sessions.contains_key(&seid);
        // A session comes with its first entries or by a move, and with all its meters: with a part of them there its packets,
        // and so its rates, would be in two places.
        let whole = before.entries == 0 && before.meters.iter().all(|at| anew.contains(at));
        let comes = whole && batch.ops.iter().any(|op| is(op, Part::Entry)) && self.policy.wants(session) && self.may_hold(session);
        if !self.retired.load(Relaxed) && (already && batch.ops.iter().any(|op| !is(op, Part::Shared)) || comes) {
            gate.close();
            let applied = if session.wakes { self.fast.apply_deferred(batch) } else { self.fast.apply(batch) };
            match applied {
                Ok(()) => {
                    let on_fast = books.placed.sessions.entry(seid).or_default();
                    on_fast.follow(program, seid, &batch.ops);
                    if on_fast.entries.is_empty() {
                        let rest = books.placed.sessions.remove(&seid).unwrap_or_default();
                        self.delete(books, rest.deletions(program), &mut gate);
                    }
                    return;
                }
                Err(error) => {
                    books.placed.refused += 1;
                    tracing::debug!(seid, "{} does not take it: {error}", self.fast.name());
                    if error.may_have_changed() {
                        if comes {
                            books.placed.left.insert(seid);
                        }
                        return self.retire(books, &batch.ops, &anew, &mut gate, &error);
                    }
                    if already {
                        self.leave(books, seid, &anew, &mut gate);
                        books.placed.left.insert(seid);
                    }
                }
            }
        }
        // It may have been retired on the way here, by a session that it did not let go.
        if self.retired.load(Relaxed) {
            shared.ops.iter().for_each(|op| books.lost.perhaps(op, |counter, cell| self.fast.counter(counter, cell)));
        } else if !shared.ops.is_empty()
            && let Err(error) = if session.wakes { self.fast.apply_deferred(&shared) } else { self.fast.apply(&shared) }
        {
            self.retire(books, &shared.ops, &anew, &mut gate, &error);
        }
    }

    pub(crate) fn lock(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Target for Split {
    fn name(&self) -> &str {
        "split"
    }

    fn capabilities(&self) -> Capabilities {
        Capabilities { modelled: self.fast.capabilities().modelled || self.base.capabilities().modelled, ..self.base.capabilities() }
    }

    fn program(&self) -> &Arc<Program> {
        self.base.program()
    }

    /// Changes that belong to no session go to both.
    fn apply(&self, batch: &Batch) -> Result<(), ApplyError> {
        self.apply_session(&PlacementCriteria::default(), batch)
    }

    fn apply_deferred(&self, batch: &Batch) -> Result<(), ApplyError> {
        self.apply_session(&PlacementCriteria { wakes: true, ..PlacementCriteria::default() }, batch)
    }

    fn lane(&self, index: usize) -> Box<dyn Lane> {
        let traffic = Arc::new(LaneTraffic::new());
        self.traffic.lock().unwrap_or_else(PoisonError::into_inner).push(traffic.clone());
        let dscps = match &self.policy {
            Policy::Dscps(list, of) => Some((list.iter().fold(0u64, |set, d| set | 1 << d), *of)),
            _ => None,
        };
        Box::new(SplitLane {
            fast: self.fast.lane(index),
            base: self.base.lane(index),
            dscps,
            traffic,
            retired: self.retired.clone(),
            ahead: self.fast_is_ahead(),
            gate: self.gate.clone(),
            picked: Vec::with_capacity(BURST),
            packets: (0..BURST).map(|_| Packet::empty(0)).collect(),
            verdicts: vec![Verdict::default(); BURST],
        })
    }

    fn counter(&self, counter: CounterId, index: u64) -> Count {
        let mut sum = self.base.counter(counter, index);
        let mut fast = self.fast.counter(counter, index);
        if self.retired.load(Relaxed)
            && let Some(before) = self.lock().lost.cleared.get(&(counter, index))
        {
            fast.packets = fast.packets.saturating_sub(before.packets);
            fast.bytes = fast.bytes.saturating_sub(before.bytes);
        }
        sum += fast;
        sum
    }

    fn table_stats(&self, table: TableId) -> TableStats {
        let base = self.base.table_stats(table);
        let fast = self.fast.table_stats(table);
        // A miss on the fast target is not one of the pair where the base target is asked again.
        let misses = if self.program().tables[table].split { base.misses } else { base.misses + fast.misses };
        TableStats { hits: base.hits + fast.hits, misses, ..base }
    }

    /// What a lane of the pair does not do by itself: packets in flight are the fast target's, a cell's buckets those of the place where its
    /// session's packets run, messages come from both. A register has cells in both, of which no sum tells anything. The pair does not go
    /// out of service: the base target holds everything, and [`Split::recover`] brings the fast one back.
    fn facets(&self) -> Facets<'_> {
        let (fast, base) = (self.fast.facets(), self.base.facets());
        Facets {
            ahead: fast.ahead,
            recovery: None,
            meters: base.meters.map(|_| self as &dyn Meters),
            registers: None,
            digests: fast.digests.or(base.digests).map(|_| self as &dyn Digests),
            tables: base.tables.map(|_| self as &dyn Tables),
        }
    }
}

/// Of a pair whose base target tells its entries.
impl Tables for Split {
    /// Those of the base target, which holds all. What the fast target has counted for its copies is added while they are there.
    fn entries(&self, table: TableId, after: Option<&Entry>, most: usize) -> Vec<HeldEntry> {
        // A session's move deletes its copies, and what it comes to hold is not whole before it ends.
        let _books = self.lock();
        let mut held = self.base.facets().tables.map_or_else(Vec::new, |base| base.entries(table, after, most));
        let counted = held.first().is_some_and(|first| first.count.is_some());
        // What a retired one holds nobody knows.
        let fast = self.fast.facets().tables.filter(|_| counted && !self.retired.load(Relaxed));
        // As many of a part of the same entries reach at least as far.
        let mut copies = fast.map_or_else(Vec::new, |fast| fast.entries(table, after, most)).into_iter().peekable();
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
        let on_fast = self.lock().placed.sessions.values().any(|of| of.meters.contains(&(meter, index)));
        if on_fast { &*self.fast } else { &*self.base }
    }

    fn digests(&self) -> impl Iterator<Item = &dyn Digests> {
        [self.fast.facets().digests, self.base.facets().digests].into_iter().flatten()
    }
}

/// The buckets of a meter's cell, if the target tells them.
pub(crate) fn buckets(target: &dyn Target, meter: MeterId, index: u64) -> Option<MeterState> {
    target.facets().meters?.meter_state(meter, index)
}
