//! The pair of targets.

use crate::dscp::user_dscp;
use crate::policy::{Policy, SessionFacts};
use crate::traffic::{LaneTraffic, Path, TargetTraffic};
use base::{Packet, Verdict, VerdictKind};
use program::{Batch, CounterId, Digest, Entry, KeyMatch, Op, Program, RuleError, TableId};
use std::collections::{HashMap, HashSet};
use std::sync::atomic::{AtomicBool, Ordering::Relaxed};
use std::sync::{Arc, Mutex, MutexGuard};
use target::{BURST, Capabilities, Count, Extra, Lane, TableStats, Target};

/// A fast target that holds some sessions, before a base target that holds all.
pub struct Split {
    fast: Box<dyn Target>,
    base: Box<dyn Target>,
    policy: Policy,
    placed: Mutex<Placed>,
    traffic: Mutex<Vec<Arc<LaneTraffic>>>,
    /// Set when the fast target refused something that both must hold: it then gets no more packets.
    retired: Arc<AtomicBool>,
}

/// Where the sessions are.
#[derive(Default)]
struct Placed {
    /// Those on the fast target, with the identities of their entries there.
    sessions: HashMap<u64, HashSet<Identity>>,
    /// Entries of each session in `@split` tables of the base target. A session goes on the fast target with its first ones or
    /// never: with a part of them there its packets, and so its rates, would be in two places.
    held: HashMap<u64, u64>,
    refused: u64,
}

impl Placed {
    /// Notes a batch of the base target; tells whether the session had entries before it.
    fn hold(&mut self, seid: u64, ops: &[Op], split: impl Fn(&Op) -> bool) -> bool {
        let before = self.held.get(&seid).copied().unwrap_or(0);
        let after = ops.iter().filter(|op| split(op)).fold(before, |held, op| match op {
            Op::Insert(_) => held + 1,
            Op::Delete(_) => held.saturating_sub(1),
            _ => held,
        });
        match after {
            0 => self.held.remove(&seid),
            _ => self.held.insert(seid, after),
        };
        before > 0
    }
}

type Identity = (TableId, Vec<KeyMatch>, u32);

fn identity(e: &Entry) -> Identity {
    (e.table, e.keys.clone(), e.priority)
}

impl Split {
    /// Puts `fast` in front of `base`. Both must run the same program, and `fast` must be able to hold a subset.
    pub fn new(fast: Box<dyn Target>, base: Box<dyn Target>, policy: Policy) -> Result<Split, String> {
        if fast.program().name != base.program().name {
            return Err(format!("targets run different programs: {} and {}", fast.program().name, base.program().name));
        }
        if !fast.capabilities().subset {
            return Err(format!("target {} cannot hold a subset of the sessions", fast.name()));
        }
        policy.validate()?;
        Ok(Split { fast, base, policy, placed: Mutex::default(), traffic: Mutex::default(), retired: Arc::default() })
    }

    /// Applies the changes of one session: all of it on the base target, or an error and nothing; and, if the policy
    /// wants the session on the fast target and it has room, there too.
    pub fn apply_session(&self, session: &SessionFacts, batch: &Batch) -> Result<(), RuleError> {
        let mut placed = self.lock();
        self.base.apply(batch)?;
        self.follow(&mut placed, session, batch);
        Ok(())
    }

    /// Sessions that have entries on the fast target.
    pub fn sessions_on_fast(&self) -> usize {
        self.lock().sessions.len()
    }

    /// Whether this session has.
    pub fn is_on_fast(&self, seid: u64) -> bool {
        self.lock().sessions.contains_key(&seid)
    }

    /// Sessions that the policy wanted there but that found no room.
    pub fn refused_by_fast(&self) -> u64 {
        self.lock().refused
    }

    /// The fast target.
    pub fn fast(&self) -> &dyn Target {
        &*self.fast
    }

    /// The base target.
    pub fn base(&self) -> &dyn Target {
        &*self.base
    }

    /// What each target has carried.
    pub fn traffic(&self) -> TargetTraffic {
        let mut total = TargetTraffic::new();
        for lane in self.traffic.lock().unwrap_or_else(|e| e.into_inner()).iter() {
            lane.sum_into(&mut total);
        }
        total
    }

    /// Brings the fast target after the base target. Nothing that fails here is an error of the caller: the base
    /// target has it all.
    fn follow(&self, placed: &mut Placed, session: &SessionFacts, batch: &Batch) {
        let program = self.base.program();
        let split = |op: &Op| match op {
            Op::Insert(e) | Op::Modify(e) | Op::Delete(e) | Op::EntryMeter { entry: e, .. } => program.tables[e.table].split,
            _ => false,
        };
        let known = placed.hold(session.seid, &batch.ops, split);
        if self.retired.load(Relaxed) {
            return;
        }
        let shared = Batch { ops: batch.ops.iter().filter(|op| !split(op)).cloned().collect() };
        if !self.policy.keeps(session)
            && let Some(entries) = placed.sessions.remove(&session.seid)
        {
            self.remove(entries);
        }
        let already = placed.sessions.contains_key(&session.seid);
        let has_split = batch.ops.iter().any(split);
        let take = has_split && (already || (!known && self.policy.wants(session)));

        if take {
            match self.fast.apply(batch) {
                Ok(()) => {
                    let entries = placed.sessions.entry(session.seid).or_default();
                    for op in batch.ops.iter().filter(|op| split(op)) {
                        match op {
                            Op::Insert(e) => drop(entries.insert(identity(e))),
                            Op::Delete(e) => drop(entries.remove(&identity(e))),
                            _ => {}
                        }
                    }
                    if entries.is_empty() {
                        placed.sessions.remove(&session.seid);
                    }
                    return;
                }
                Err(error) => {
                    placed.refused += 1;
                    tracing::debug!(seid = session.seid, "{} has no room: {error}", self.fast.name());
                    if let Some(entries) = placed.sessions.remove(&session.seid) {
                        self.remove(entries);
                    }
                }
            }
        }
        if !shared.ops.is_empty()
            && let Err(error) = self.fast.apply(&shared)
        {
            tracing::warn!("{} cannot follow and gets no more packets: {error}", self.fast.name());
            self.retired.store(true, Relaxed);
            placed.sessions.clear();
        }
    }

    fn remove(&self, entries: HashSet<Identity>) {
        let program = self.base.program();
        let ops = entries
            .into_iter()
            .map(|(table, keys, priority)| {
                Op::Delete(Entry { table, keys, priority, action: program.tables[table].default_action.0, args: Vec::new() })
            })
            .collect();
        if let Err(error) = self.fast.apply(&Batch { ops }) {
            tracing::warn!("{} does not let go of a session and gets no more packets: {error}", self.fast.name());
            self.retired.store(true, Relaxed);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Placed> {
        self.placed.lock().unwrap_or_else(|e| e.into_inner())
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
    fn apply(&self, batch: &Batch) -> Result<(), RuleError> {
        self.apply_session(&SessionFacts::default(), batch)
    }

    fn lane(&self, index: usize) -> Box<dyn Lane> {
        let traffic = Arc::new(LaneTraffic::new());
        self.traffic.lock().unwrap_or_else(|e| e.into_inner()).push(traffic.clone());
        let dscps = match &self.policy {
            Policy::Dscps(list) => Some(list.iter().fold(0u64, |set, d| set | 1 << d)),
            _ => None,
        };
        Box::new(SplitLane {
            fast: self.fast.lane(index),
            base: self.base.lane(index),
            dscps,
            traffic,
            retired: self.retired.clone(),
            picked: Vec::with_capacity(BURST),
            packets: (0..BURST).map(|_| Packet::empty(0)).collect(),
            verdicts: vec![Verdict::default(); BURST],
        })
    }

    fn counter(&self, counter: CounterId, index: u64) -> Count {
        let mut sum = self.base.counter(counter, index);
        sum += self.fast.counter(counter, index);
        sum
    }

    fn table_stats(&self, table: TableId) -> TableStats {
        let base = self.base.table_stats(table);
        let fast = self.fast.table_stats(table);
        // A miss on the fast target is not one of the pair where the base target is asked again.
        let misses = if self.program().tables[table].split { base.misses } else { base.misses + fast.misses };
        TableStats { hits: base.hits + fast.hits, misses, ..base }
    }

    fn take_digests(&self, into: &mut Vec<Digest>) {
        self.fast.take_digests(into);
        self.base.take_digests(into);
    }

    fn lost_digests(&self) -> u64 {
        self.fast.lost_digests() + self.base.lost_digests()
    }
}

struct SplitLane {
    fast: Box<dyn Lane>,
    base: Box<dyn Lane>,
    /// The DSCPs that try the fast target, as a set of bits; `None`: all do.
    dscps: Option<u64>,
    traffic: Arc<LaneTraffic>,
    retired: Arc<AtomicBool>,
    picked: Vec<usize>,
    packets: Vec<Packet>,
    verdicts: Vec<Verdict>,
}

impl Lane for SplitLane {
    fn take_extra(&mut self, into: &mut Vec<Extra>) {
        // The fast target hands packets that are to be copied on to the base target.
        self.base.take_extra(into);
    }

    fn process(&mut self, packets: &mut [Packet], verdicts: &mut [Verdict], now_ns: u64) {
        assert!(packets.len() == verdicts.len() && packets.len() <= BURST);
        // As received: a target may change them.
        let mut lengths = [0; BURST];
        lengths.iter_mut().zip(&*packets).for_each(|(length, packet)| *length = packet.len());

        self.picked.clear();
        if !self.retired.load(Relaxed) {
            let fast = |p: &Packet| self.dscps.is_none_or(|set| user_dscp(p.data()).is_some_and(|d| set >> d & 1 == 1));
            self.picked.extend((0..packets.len()).filter(|i| fast(&packets[*i])));
        }
        verdicts.fill(Verdict::next());
        self.run(Path::Fast, packets, verdicts, &lengths, now_ns);

        self.picked.clear();
        self.picked.extend((0..packets.len()).filter(|i| verdicts[*i].kind == VerdictKind::Next));
        self.run(Path::Base, packets, verdicts, &lengths, now_ns);
    }
}

impl SplitLane {
    /// Runs the picked packets, in their order, through one target.
    fn run(&mut self, path: Path, packets: &mut [Packet], verdicts: &mut [Verdict], lengths: &[usize], now_ns: u64) {
        let n = self.picked.len();
        if n == 0 {
            return;
        }
        for (slot, i) in self.picked.iter().enumerate() {
            std::mem::swap(&mut packets[*i], &mut self.packets[slot]);
        }
        let lane = if path == Path::Fast { &mut self.fast } else { &mut self.base };
        lane.process(&mut self.packets[..n], &mut self.verdicts[..n], now_ns);
        for (slot, i) in self.picked.iter().enumerate() {
            std::mem::swap(&mut packets[*i], &mut self.packets[slot]);
            verdicts[*i] = self.verdicts[slot];
            if verdicts[*i].kind != VerdictKind::Next {
                self.traffic.add(path, packets[*i].port, lengths[*i]);
            }
        }
    }
}
