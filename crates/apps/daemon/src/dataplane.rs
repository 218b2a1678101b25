//! The data plane as the user-plane agent sees it: the targets and the engine's workers behind `upf::plane::DataPlane`.

use crate::config::{self, Config, Share, Slice};
use crate::drainer::Drainer;
use crate::placement::Wishes;
use base::{BufferFate, Packet, PortId};
use engine::{Draining, Engine, Marks};
use offload::{Split, Unit};
use pfcp::rules::SessionRules;
use program::{ApplyError, Batch, CounterId, MeterId, Op};
use std::collections::{HashSet, VecDeque};
use std::convert::Infallible;
use std::sync::Arc;
use target::{Count, Target};
use target_xdp::Xdp;
use upf::lower::Treatment;
use upf::plane::{LastingCount, SessionInfo};

/// Parts of a unit that meters count in.
const NANO: u64 = 1_000_000_000;

/// What carries packets: x86 alone, or a fast target in front of it.
#[derive(Clone)]
pub enum Targets {
    /// One target that holds everything.
    Whole(Arc<dyn Target>),
    /// A fast one that holds some sessions, before it.
    Split(Arc<Split>),
}

impl Targets {
    /// The whole as one target.
    pub fn target(&self) -> Arc<dyn Target> {
        match self {
            Targets::Whole(target) => target.clone(),
            Targets::Split(split) => split.clone(),
        }
    }

    /// From now on the fast target passes every packet to the one behind it: its counters are final.
    pub fn retire_fast(&self) {
        if let Targets::Split(split) = self
            && let Some(recovery) = split.fast().facets().recovery
        {
            recovery.retire();
        }
    }

    fn apply(&self, criteria: &Unit, batch: &Batch) -> Result<(), ApplyError> {
        match self {
            Targets::Whole(target) => target.apply(batch),
            Targets::Split(split) => split.apply_session(criteria, batch),
        }
    }
}

/// The engine's workers and the targets whose lanes they run.
pub struct EngineAndTargets {
    targets: Targets,
    engine: Arc<Engine>,
    wishes: Wishes,
    /// Sessions that changed or ended since the last query; `None` until the first query.
    changed: Option<Vec<u64>>,
    /// Changes of what all sessions share that the base target has and a fast target ahead of the engine is yet to get, in order, each when its
    /// drain has finished: until then the fast target hands on.
    behind: VecDeque<(Option<Draining>, Batch)>,
    /// The fast target, where its counters outlast the process.
    lasting: Option<(u64, Arc<Xdp>)>,
    /// Where ports have rates: what workers know of PDR numbers, and the slices and shares of the file.
    queued: Option<(Arc<Marks>, Vec<Slice>, Vec<Share>)>,
    /// That guaranteed rates have no effect.
    has_warned: bool,
    _drainer: Option<Drainer>,
}

impl EngineAndTargets {
    /// Entries go to `targets`, packets to `engine`.
    pub fn new(targets: Targets, engine: Arc<Engine>) -> EngineAndTargets {
        let drainer = match &targets {
            Targets::Split(split) if split.fast_is_ahead() => Drainer::start(split.clone(), engine.clone()),
            _ => None,
        };
        EngineAndTargets {
            targets,
            engine,
            wishes: Wishes::default(),
            changed: None,
            behind: VecDeque::new(),
            lasting: None,
            queued: None,
            has_warned: false,
            _drainer: drainer,
        }
    }

    /// With the operator's choice of sessions for the fast target; without it there is none.
    pub fn with_wishes(self, wishes: Wishes) -> EngineAndTargets {
        EngineAndTargets { wishes, ..self }
    }

    /// With counters of the fast target that outlast this process, if they do.
    pub fn with_lasting(self, fast: Option<&Arc<Xdp>>) -> EngineAndTargets {
        let lasting = fast.and_then(|xdp| Some((xdp.epoch()?, xdp.clone())));
        EngineAndTargets { lasting, ..self }
    }

    /// With what workers know of packets that wait for a port's rate, and the slices and shares that these belong to.
    pub fn with_queues(self, marks: Option<Arc<Marks>>, config: &Config) -> EngineAndTargets {
        EngineAndTargets { queued: marks.map(|marks| (marks, config.slices.clone(), config.shares.clone())), ..self }
    }

    /// The operator wants sessions elsewhere from now on; which of them change is noted from the next query on.
    pub fn place_by(&mut self, wishes: Wishes) {
        (self.wishes, self.changed) = (wishes, None);
    }

    /// Where the operator wants which sessions.
    pub fn wishes(&self) -> &Wishes {
        &self.wishes
    }

    /// Sessions that have changed or ended since the last call. From the first call on they are noted.
    pub fn take_changed(&mut self) -> Vec<u64> {
        self.changed.replace(Vec::new()).unwrap_or_default()
    }

    /// Name of the target that a session's packets run on.
    pub fn target_of(&self, seid: u64) -> String {
        match &self.targets {
            Targets::Whole(target) => target.name().to_owned(),
            Targets::Split(split) if split.is_on_fast(seid) => split.fast().name().to_owned(),
            Targets::Split(split) => split.base().name().to_owned(),
        }
    }

    /// Lets packets go that have waited for a neighbour, behind the change that lets later ones pass: what `take` gives, which is called when
    /// workers have reported all earlier packets. None of those is overtaken.
    pub fn release(&mut self, take: impl FnOnce() -> (Batch, Vec<Packet>)) -> Result<(), String> {
        let (mut released, mut refused) = (Batch::default(), None);
        let change = || {
            let (batch, packets) = take();
            refused = match &self.targets {
                // A target ahead of the engine gets the change later: until then it passes such packets to the slow path, behind the released ones.
                Targets::Split(split) if split.fast_is_ahead() => split.apply_to_base(&batch),
                targets => targets.target().apply(&batch),
            }
            .err();
            released = batch;
            // If the change was refused they come back here, and are counted there if that goes on.
            Ok::<_, Infallible>(packets)
        };
        let Ok(()) = self.engine.release(change).map_err(|gone| gone.to_string())?;
        if let Some(error) = refused {
            return Err(error.to_string());
        }
        if let Targets::Split(split) = &self.targets
            && split.fast_is_ahead()
        {
            // Earlier packets on the slow path have been sent then; later ones are counted by flow, and nothing overtakes them.
            let drain = self.engine.begin_drain().map_err(|gone| gone.to_string())?;
            self.behind.push_back((Some(drain), released));
        }
        Ok(())
    }

    /// Applies a change that belongs to no session, behind those that wait.
    pub fn apply(&mut self, batch: Batch) -> Result<(), ApplyError> {
        match &self.targets {
            Targets::Split(split) if !self.behind.is_empty() => {
                split.apply_to_base(&batch)?;
                self.behind.push_back((None, batch));
                Ok(())
            }
            targets => targets.target().apply(&batch),
        }
    }

    /// Gives the fast target the changes whose time has come; to be called now and then.
    pub fn poll(&mut self) {
        while self.behind.front().is_some_and(|(drain, _)| drain.as_ref().is_none_or(Draining::is_finished)) {
            self.catch_up(1);
        }
    }

    /// Gives it the first of them.
    fn catch_up(&mut self, most: usize) {
        let Targets::Split(split) = &self.targets else { return };
        self.behind.drain(..most).for_each(|(_, batch)| split.apply_to_fast(&batch));
    }

    /// A session's change comes behind those that wait and are about the same entries: there is nothing to wait for, as the session is
    /// the entries' first or last.
    fn before(&mut self, batch: &Batch) {
        let entry = |op: &Op| match op {
            Op::Insert(e) | Op::Modify(e) | Op::Delete(e) => Some((e.table, e.keys.clone(), e.priority)),
            _ => None,
        };
        if self.behind.is_empty() {
            return;
        }
        let changed: HashSet<_> = batch.ops.iter().filter_map(entry).collect();
        let meets = |batch: &Batch| batch.ops.iter().filter_map(entry).any(|entry| changed.contains(&entry));
        if let Some(last) = self.behind.iter().rposition(|(_, batch)| meets(batch)) {
            self.catch_up(last + 1);
        }
    }
}

impl upf::plane::DataPlane for EngineAndTargets {
    fn apply(&mut self, session: &SessionInfo, batch: &Batch, buffers: &[(u32, BufferFate)]) -> Result<(), ApplyError> {
        self.before(batch);
        let mut criteria = self.wishes.of(session);
        if buffers.is_empty() {
            self.targets.apply(&criteria, batch)?;
        } else {
            let apply = || {
                // Those workers stand while packets are let go, but a target ahead of them does not.
                criteria.wakes = buffers.iter().any(|(pdr, fate)| *fate == BufferFate::Release && self.engine.waits(*pdr));
                self.targets.apply(&criteria, batch)
            };
            self.engine.end_buffering(buffers, apply).unwrap_or_else(|gone| Err(ApplyError::Unknown(gone.to_string())))?;
        }
        if let Some(changed) = &mut self.changed {
            changed.push(session.seid);
        }
        Ok(())
    }

    fn apply_together(&mut self, sessions: &[SessionInfo], batch: &Batch) -> Option<Result<(), ApplyError>> {
        // A fast target is asked for each session whether it takes it.
        let Targets::Whole(target) = &self.targets else { return None };
        let outcome = target.apply(batch);
        if let (Ok(()), Some(changed)) = (&outcome, &mut self.changed) {
            changed.extend(sessions.iter().map(|session| session.seid));
        }
        Some(outcome)
    }

    fn has_queues(&self) -> bool {
        self.queued.is_some()
    }

    fn treat(&mut self, rules: Option<&SessionRules>, treatments: &[(u32, Option<Treatment>)]) {
        let Some((marks, slices, shares)) = &self.queued else { return };
        let slice = rules.map_or(0, |rules| config::slice::number(slices, rules));
        let weight = rules.map_or(1, |rules| config::share::weight(shares, rules));
        for (number, treatment) in treatments {
            let treatment = treatment.map(|of| {
                let guaranteed_kbps = u32::try_from(of.guaranteed_kbps).unwrap_or(u32::MAX);
                engine::Treatment { cell: of.usage, slice, flow: of.flow, weight, guaranteed_kbps }
            });
            marks.set(*number, treatment);
        }
    }

    fn cannot_guarantee(&mut self, seid: u64) {
        // Every voice call has one: the first tells the operator what to do.
        if !std::mem::replace(&mut self.has_warned, true) {
            tracing::warn!(
                session = format!("{seid:#x}"),
                "guaranteed bit rates (GBR) have no effect: no port has rate_kbps, so nothing waits where they are held; said for the first session only"
            );
        }
    }

    fn count(&mut self, counter: CounterId, cell: u64) -> Count {
        // What waits for a port is taken off a moment after it was counted, and may be of a cell that was given to others since.
        let Count { packets, bytes } = self.targets.target().counter(counter, cell);
        let or_none = |n: u64| if n.cast_signed() < 0 { 0 } else { n };
        Count { packets: or_none(packets), bytes: or_none(bytes) }
    }

    fn epoch(&self) -> Option<u64> {
        self.lasting.as_ref().map(|(epoch, _)| *epoch)
    }

    fn lasting_count(&mut self, counter: CounterId, cell: u64) -> Option<LastingCount> {
        let (_, xdp) = self.lasting.as_ref()?;
        // Of one out of service some of its count may be of a session before.
        let Targets::Split(split) = &self.targets else { return None };
        if split.is_retired() {
            return None;
        }
        Some(LastingCount { lasting: xdp.counter(counter, cell), rest: split.base().counter(counter, cell) })
    }

    fn meter_left(&mut self, meter: MeterId, cell: u64) -> Option<u64> {
        // A fast target that does not share its cells holds less than this says.
        let base = match &self.targets {
            Targets::Whole(target) => &**target,
            Targets::Split(split) => split.base(),
        };
        Some(base.facets().meters?.meter_state(meter, cell)?.peak / NANO)
    }

    fn carried(&mut self) -> Option<u64> {
        // Ahead first: a packet that it passes on is counted by the engine later.
        let ahead = match &self.targets {
            Targets::Split(split) => {
                split.fast().facets().ahead.map_or(0, |ahead| ahead.carried().received.values().map(|count| count.bytes).sum())
            }
            Targets::Whole(_) => 0,
        };
        Some(self.engine.entered_bytes().wrapping_add(ahead))
    }

    fn transmit(&mut self, port: PortId, frame: Vec<u8>) {
        if frame.len() > base::MAX_PACKET {
            tracing::warn!("a frame of {} bytes is too long to send", frame.len());
            return;
        }
        if let Err(gone) = self.engine.transmit(port, Packet::new(&frame, port)) {
            tracing::warn!("cannot send a frame: {gone}");
        }
    }
}
