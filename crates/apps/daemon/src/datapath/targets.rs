//! The data plane as the user-plane agent sees it: the targets and the engine's workers behind `upf::plane::DataPlane`.

use crate::config::{self, Config, Share, Slice};
use crate::datapath::placement::Wishes;
use crate::manage::report::SessionCount;
use base::{BufferFate, Packet, PortId};
use engine::{Engine, Marks};
use offload::{Drainer, Split};
use pfcp::rules::{SessionRules, Usage};
use program::{ApplyError, Batch, CounterId, MeterId};
use std::collections::BTreeSet;
use std::convert::Infallible;
use std::ops::Bound;
use std::sync::Arc;
use target_api::{Count, Target};
use target_xdp::Xdp;
use upf::lower::Treatment;
use upf::plane::{LastingCount, SessionInfo};

/// Ended sessions whose last counts are kept for the report.
const ENDED_KEPT: usize = 100_000;
/// Parts of a unit that meters count in.
const NANO: u64 = 1_000_000_000;

/// The engine's workers and the targets whose lanes they run.
pub struct EngineAndTargets {
    targets: Arc<Split>,
    engine: Arc<Engine>,
    wishes: Wishes,
    /// With a planner: sessions that have come, changed or ended, by whatever way, and the planner is yet to be told of.
    changed: Option<BTreeSet<u64>>,
    /// The last of them that it was told of: those behind it are next.
    told: u64,
    /// The fast target, where its counters outlast the process.
    lasting: Option<(u64, Arc<Xdp>)>,
    /// Where ports have rates: what workers know of PDR numbers, and the slices and shares of the file.
    queued: Option<(Arc<Marks>, Vec<Slice>, Vec<Share>)>,
    /// Last counts of sessions that have ended, and the target that the one that is ending is on.
    ended: Vec<SessionCount>,
    ends_on: String,
    /// That guaranteed rates have no effect.
    has_warned: bool,
    _drainer: Option<Drainer>,
}

impl EngineAndTargets {
    /// Entries go to `targets`, packets to `engine`.
    pub fn new(targets: Arc<Split>, engine: Arc<Engine>) -> EngineAndTargets {
        let drained = engine.clone();
        let drainer = Drainer::start(targets.clone(), move || drained.drain().is_ok());
        EngineAndTargets {
            targets,
            engine,
            wishes: Wishes::default(),
            changed: None,
            told: 0,
            lasting: None,
            queued: None,
            ended: Vec::new(),
            ends_on: String::new(),
            has_warned: false,
            _drainer: drainer,
        }
    }

    /// With the operator's choice of sessions for the fast target; without it there is none. Before the first session comes: a planner is to know of all.
    pub fn with_wishes(mut self, wishes: Wishes) -> EngineAndTargets {
        self.place_by(wishes);
        self
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

    /// The operator wants sessions elsewhere from now on; of those that there are the caller tells a new planner.
    pub fn place_by(&mut self, wishes: Wishes) {
        self.changed = wishes.are_planned().then(BTreeSet::new);
        self.wishes = wishes;
    }

    /// Where the operator wants which sessions.
    pub fn wishes(&self) -> &Wishes {
        &self.wishes
    }

    /// Some of the sessions that have come, changed or ended since they were last taken, in turns.
    pub fn take_changed(&mut self, most: usize) -> Vec<u64> {
        let Some(changed) = &mut self.changed else { return Vec::new() };
        let behind = changed.range((Bound::Excluded(self.told), Bound::Unbounded));
        let taken: Vec<u64> = behind.chain(changed.range(..=self.told)).copied().take(most).collect();
        taken.iter().for_each(|seid| _ = changed.remove(seid));
        self.told = taken.last().copied().unwrap_or(self.told);
        taken
    }

    /// Name of the target that a session's packets run on.
    pub fn target_of(&self, seid: u64) -> String {
        self.targets.target_of(seid).name().to_owned()
    }

    /// Sessions that have ended, as they were counted last: the first [`ENDED_KEPT`].
    pub fn ended(&self) -> &[SessionCount] {
        &self.ended
    }

    /// Lets packets go that have waited for a neighbour, behind the change that lets later ones pass: what `take` gives, which is called when
    /// workers have reported all earlier packets. None of those is overtaken.
    pub fn release(&mut self, take: impl FnOnce() -> (Batch, Vec<Packet>)) -> Result<(), String> {
        let (mut released, mut refused) = (Batch::default(), None);
        let change = || {
            let (batch, packets) = take();
            refused = self.targets.apply_before(&batch).err();
            released = batch;
            // If the change was refused they come back here, and are counted there if that goes on.
            Ok::<_, Infallible>(packets)
        };
        let Ok(()) = self.engine.release(change).map_err(|gone| gone.to_string())?;
        if let Some(error) = refused {
            return Err(error.to_string());
        }
        if self.targets.fast_is_ahead() {
            // Earlier packets on the slow path have been sent then; later ones are counted by flow, and nothing overtakes them.
            let drain = self.engine.begin_drain().map_err(|gone| gone.to_string())?;
            self.targets.apply_after(released, move || drain.is_finished());
        }
        Ok(())
    }

    /// Applies a change that belongs to no session.
    pub fn apply(&mut self, batch: &Batch) -> Result<(), ApplyError> {
        self.targets.apply(batch)
    }
}

impl upf::plane::DataPlane for EngineAndTargets {
    fn apply(&mut self, session: &SessionInfo, batch: &Batch, buffers: &[(u32, BufferFate)]) -> Result<(), ApplyError> {
        if session.ends && self.ended.len() < ENDED_KEPT {
            self.ends_on = self.target_of(session.seid);
        }
        let mut unit = self.wishes.of(session);
        if buffers.is_empty() {
            self.targets.apply_session(&unit, batch)?;
        } else {
            let apply = || {
                // Those workers stand while packets are let go, but a target ahead of them does not.
                unit.wakes = buffers.iter().any(|(pdr, fate)| *fate == BufferFate::Release && self.engine.waits(*pdr));
                self.targets.apply_session(&unit, batch)
            };
            self.engine.end_buffering(buffers, apply).unwrap_or_else(|gone| Err(ApplyError::Unknown(gone.to_string())))?;
        }
        if let Some(changed) = &mut self.changed {
            changed.insert(session.seid);
        }
        Ok(())
    }

    fn apply_together(&mut self, sessions: &[SessionInfo], batch: &Batch) -> Option<Result<(), ApplyError>> {
        // A fast target is asked for each session whether it takes it.
        if self.targets.fast().is_some() {
            return None;
        }
        let outcome = self.targets.apply(batch);
        if let (Ok(()), Some(changed)) = (&outcome, &mut self.changed) {
            changed.extend(sessions.iter().map(|session| session.seid));
        }
        Some(outcome)
    }

    fn ended(&mut self, session: &SessionInfo, carried: Usage) {
        if self.ended.len() < ENDED_KEPT {
            let target = std::mem::take(&mut self.ends_on);
            self.ended.push(SessionCount { ended: true, ..session_count(session, target, carried) });
        }
    }

    fn has_queues(&self) -> bool {
        self.queued.is_some()
    }

    fn treat(&mut self, rules: Option<&SessionRules>, treatments: &[(u32, Option<Treatment>)]) {
        let Some((marks, slices, shares)) = &self.queued else { return };
        if treatments.iter().any(|(_, treatment)| treatment.is_none()) {
            // What has been counted under them and waits is taken off while their numbers are known.
            self.engine.between_bursts(|| ());
        }
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
        let Count { packets, bytes } = self.targets.counter(counter, cell);
        let or_none = |n: u64| if n.cast_signed() < 0 { 0 } else { n };
        Count { packets: or_none(packets), bytes: or_none(bytes) }
    }

    fn charged(&mut self, counter: CounterId, cell: u64) -> Count {
        match self.queued {
            Some(_) => self.engine.clone().between_bursts(|| self.count(counter, cell)),
            None => self.count(counter, cell),
        }
    }

    fn epoch(&self) -> Option<u64> {
        self.lasting.as_ref().map(|(epoch, _)| *epoch)
    }

    fn lasting_count(&mut self, counter: CounterId, cell: u64) -> Option<LastingCount> {
        let (_, xdp) = self.lasting.as_ref()?;
        // Of one out of service some of its count may be of a session before.
        if self.targets.is_retired() {
            return None;
        }
        Some(LastingCount { lasting: xdp.counter(counter, cell), rest: self.targets.base().counter(counter, cell) })
    }

    fn meter_left(&mut self, meter: MeterId, cell: u64) -> Option<u64> {
        // A fast target that does not share its cells holds less than this says.
        Some(self.targets.base().facets().meters?.meter_state(meter, cell)?.peak / NANO)
    }

    fn carried(&mut self) -> Option<u64> {
        // Ahead first: a packet that it passes on is counted by the engine later.
        let ahead = self.targets.fast().and_then(|fast| fast.facets().ahead);
        let ahead = ahead.map_or(0, |ahead| ahead.carried().received.values().map(|count| count.bytes).sum());
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

/// What a session has carried, and on which target it is.
pub(crate) fn session_count(session: &SessionInfo, target: String, carried: Usage) -> SessionCount {
    SessionCount {
        seid: session.seid,
        ue_ipv4: session.ue_ipv4s.first().copied(),
        ue_ipv6: session.ue_ipv6s.first().copied(),
        target,
        uplink: count(carried.uplink_packets, carried.uplink_bytes),
        downlink: count(carried.downlink_packets, carried.downlink_bytes),
        ended: false,
    }
}

fn count(packets: u64, bytes: u64) -> crate::manage::report::Count {
    crate::manage::report::Count { packets, bytes }
}
