//! Who looks at packets, and what workers have copied for that.

use super::Agent;
use crate::manage::capture::story::{ENTRIES, Live, Part};
use crate::manage::capture::{LookQuery, whose};
use base::{PortId, Verdict, VerdictKind};
use engine::{Looking, Seen};
use offload::planner::{Outcome, Place, Why};
use offload::{Decision, Split};
use pfcp::rules::Seid;
use std::collections::BTreeSet;
use std::net::IpAddr;
use std::time::{Duration, Instant};
use upf::whose::Whose;

/// Who does not ask for so long is forgotten.
const FORGOTTEN: Duration = Duration::from_secs(5);
/// Packets of an answer.
const PART: usize = 128;

/// Who looks, with the agent.
pub struct Look {
    id: u32,
    /// For the audit log.
    who: String,
    /// Packets that were fetched.
    fetched: u64,
    looking: Looking,
    asked: Instant,
    ue: Option<IpAddr>,
}

impl Agent {
    /// Begins to look; who looked until now sees no more. The number to ask with.
    pub(crate) fn look(&mut self, query: &LookQuery, who: String) -> u32 {
        let which: fn(&Verdict) -> bool = if query.dropped { |verdict| verdict.kind == VerdictKind::Drop } else { |_| true };
        let ue = query.ue;
        let wanted = move |frame: &[u8], _: PortId| ue.is_none_or(|ue| Whose::read(frame).is_some_and(|whose| whose.is_of(ue)));
        self.end_look("somebody else looks");
        let looking = self.datapath.engine.look(query.count as usize, which, Box::new(wanted));
        let id = rand::random();
        self.look = Some(Look { id, who, fetched: 0, looking, asked: Instant::now(), ue });
        self.keep_looked_at();
        id
    }

    /// What was seen since the last call, a part of it.
    pub(crate) fn seen(&mut self, id: u32, story: bool) -> Result<Part, String> {
        let Some(look) = self.look.as_mut().filter(|look| look.id == id) else {
            return Err("somebody else looks at packets now, or this was not asked for in time".into());
        };
        look.asked = Instant::now();
        let seen: Vec<Seen> = look.looking.seen.try_iter().take(PART).collect();
        look.fetched += seen.len() as u64;
        let (left, missed) = (look.looking.left() as u64, look.looking.missed());
        let live = if story && !seen.is_empty() { self.live(&seen) } else { Live::default() };
        let targets = self.datapath.targets.targets().map(|target| target.name().to_owned()).collect();
        let ports = self.datapath.ports.iter().map(|port| (port.id, port.name.clone())).collect();
        Ok(Part { seen, left, missed, ports, targets, live, ir: self.ir.clone().filter(|_| story) })
    }

    /// As [`Agent::end_look`], of who looks by this number.
    pub(crate) fn end_look_of(&mut self, id: u32) {
        if self.look.as_ref().is_some_and(|look| look.id == id) {
            self.end_look("told to");
        }
    }

    /// Nobody looks any more: sessions go back to where placement wants them. Whose packets were shown to whom is in the audit log, as the beginning is.
    pub(crate) fn end_look(&mut self, why: &str) {
        let Some(Look { ue, who, fetched, .. }) = self.look.take() else { return };
        let value = format!("ended after {fetched} packets of {}", whose(ue));
        tracing::info!(target: "audit", who, what = "look", value, outcome = why, "audit: look ended");
        if ue.is_some() && self.datapath.targets.fast_is_ahead() {
            self.placing.reconsidering = Some(None);
        }
    }

    /// Forgets who has not asked for a while. Sessions that are looked at stay on the base target.
    pub(crate) fn look_tick(&mut self) {
        match &self.look {
            Some(look) if look.asked.elapsed() >= FORGOTTEN => self.end_look("not asked for any more"),
            Some(_) => self.keep_looked_at(),
            None => {}
        }
    }

    fn keep_looked_at(&mut self) {
        let split = &self.datapath.targets;
        let Some(Look { ue: Some(ue), .. }) = self.look.as_ref().filter(|_| split.fast_is_ahead()) else { return };
        for seid in self.sessions_of(*ue) {
            // An error says that the fast target is out of service: the session is on the base target anyhow.
            if split.is_on_fast(seid) {
                let _ = split.move_to_base(seid);
                split.decided(Decision::new(seid, Place::Base, Why::LookedAt, Outcome::Done));
            }
        }
    }

    /// Whether a session is on the base target because it is looked at.
    pub(crate) fn is_looked_at(&self, seid: Seid, split: &Split) -> bool {
        let Some(Look { ue: Some(ue), .. }) = &self.look else { return false };
        split.fast_is_ahead() && self.sessions_of(*ue).contains(&seid)
    }

    fn sessions_of(&self, address: IpAddr) -> Vec<Seid> {
        match address {
            IpAddr::V4(address) => self.datapath.plane.sessions_of_ue_ipv4(address),
            IpAddr::V6(address) => self.datapath.plane.sessions_of_ue_ipv6(address),
        }
    }

    /// Entries by which the story of these packets is told: of their sessions, and all that sessions share.
    fn live(&self, seen: &[Seen]) -> Live {
        let mut sessions = BTreeSet::new();
        for whose in seen.iter().filter_map(|seen| Whose::read(&seen.packet)) {
            sessions.extend(whose.teid.map(|teid| self.datapath.plane.sessions_of_teid(teid)).unwrap_or_default());
            sessions.extend([whose.src, whose.dst].into_iter().flat_map(|address| self.sessions_of(address)));
        }
        let ops = sessions.into_iter().filter_map(|seid| self.datapath.plane.copy(seid)).flat_map(|copy| copy.ops).collect();
        let mut live = Live { ops, cut: Vec::new() };
        live.add_shared(&*self.datapath.targets, ENTRIES);
        live
    }
}
