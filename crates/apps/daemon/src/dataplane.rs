//! The data plane as the user-plane agent sees it: the targets and the engine's workers behind `upf::plane::DataPlane`.

use base::{Packet, PortId};
use engine::{BufferFate, Engine};
use offload::{SessionFacts, Split};
use program::{ApplyError, Batch, CounterId};
use std::convert::Infallible;
use std::net::IpAddr;
use std::sync::Arc;
use target::{Ahead, Count, Target};
use upf::plane::SessionInfo;

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

    fn apply(&self, facts: &SessionFacts, batch: &Batch) -> Result<(), ApplyError> {
        match self {
            Targets::Whole(target) => target.apply(batch),
            Targets::Split(split) => split.apply_session(facts, batch),
        }
    }
}

/// Targets and workers.
pub struct DataPlane {
    targets: Targets,
    engine: Arc<Engine>,
    /// Sessions that changed or ended since the last query; `None` until the first query.
    changed: Option<Vec<u64>>,
    ticks: u32,
}

/// What the crate `offload` looks at.
pub fn facts(session: &SessionInfo) -> SessionFacts {
    let v4 = session.ue_ipv4s.iter().map(|a| IpAddr::V4(*a));
    let v6 = session.ue_ipv6s.iter().map(|a| IpAddr::V6(*a));
    SessionFacts {
        seid: session.seid,
        ue_addresses: v4.chain(v6).collect(),
        metered: session.has_meters,
        teids: session.teids.clone(),
        slice: session.s_nssai.map(|(sst, sd)| offload::Slice { sst, sd }),
        dscps: session.dscps.clone(),
        qfis: session.qfis.clone(),
        wakes: false,
    }
}

/// Ticks of the agent between two drains of the slow path, each of which takes some milliseconds if there is anything to wait for.
const TICKS_BETWEEN: u32 = 2;

impl DataPlane {
    /// Entries go to `targets`, packets to `engine`.
    pub fn new(targets: Targets, engine: Arc<Engine>) -> DataPlane {
        DataPlane { targets, engine, changed: None, ticks: 0 }
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

    /// Drains the slow path now and then for a target ahead of the engine, which then uses its pending entries.
    pub fn follow_handed_on(&mut self) {
        self.ticks = self.ticks.wrapping_add(1);
        let Some(fast) = self.fast_ahead().filter(|_| self.ticks.is_multiple_of(TICKS_BETWEEN)) else { return };
        let Some(drain) = fast.begin_drain() else { return };
        // An engine that has stopped hands nothing out.
        if self.engine.drain().is_ok() {
            fast.finish_drain(drain);
        }
    }

    /// The fast target, if it meets packets before the engine does.
    fn fast_ahead(&self) -> Option<&dyn Ahead> {
        match &self.targets {
            Targets::Split(split) => split.fast().facets().ahead,
            Targets::Whole(_) => None,
        }
    }

    /// Lets packets go that have waited for a neighbour, behind the change that lets later ones pass: what `take` gives, which is called when
    /// workers have reported all earlier packets. None of those is overtaken.
    pub fn release(&self, take: impl FnOnce() -> (Batch, Vec<Packet>)) -> Result<(), String> {
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
            self.engine.drain().map_err(|gone| gone.to_string())?;
            split.apply_to_fast(&released);
        }
        Ok(())
    }

    fn change(&self, session: &SessionInfo, batch: &Batch, buffers: &[(u32, BufferFate)]) -> Result<(), ApplyError> {
        let mut facts = facts(session);
        if buffers.is_empty() {
            return self.targets.apply(&facts, batch);
        }
        let apply = || {
            // Workers stand while packets are let go, but a target ahead of them does not.
            facts.wakes = buffers.iter().any(|(pdr, fate)| *fate == BufferFate::Release && self.engine.waits(*pdr));
            self.targets.apply(&facts, batch)
        };
        self.engine.settle(buffers, apply).unwrap_or_else(|gone| Err(ApplyError::Unknown(gone.to_string())))
    }
}

impl upf::plane::DataPlane for DataPlane {
    fn commit(&mut self, session: &SessionInfo, batch: &Batch, buffers: &[(u32, upf::plane::BufferFate)]) -> Result<(), ApplyError> {
        let fates: Vec<(u32, BufferFate)> = buffers
            .iter()
            .map(|(pdr, fate)| match fate {
                upf::plane::BufferFate::Release => (*pdr, BufferFate::Release),
                upf::plane::BufferFate::Discard => (*pdr, BufferFate::Discard),
            })
            .collect();
        self.change(session, batch, &fates)?;
        if let Some(changed) = &mut self.changed {
            changed.push(session.seid);
        }
        Ok(())
    }

    fn count(&mut self, counter: CounterId, cell: u64) -> Count {
        self.targets.target().counter(counter, cell)
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
