//! Final usage of sessions that ended without a request for it: reported at once if the CP function can be reached, or kept until it can.
//!
//! A CP function that has restarted does not know the session, and may have given its SEID to another: nothing is reported to it then. That usage
//! is lost, and counted and logged as such.

use std::collections::{BTreeMap, VecDeque};
use std::net::SocketAddr;
use std::time::Duration;

use super::{About, Node};
use crate::codec::{Cause, Group, Ie, Message, MessageType, NodeId};

/// Usage Report in Report Type (§8.2.21).
const USAR: u8 = 0x02;

/// Of one session.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Final {
    node_id: NodeId,
    /// The CP function's recovery time stamp.
    stamp: u32,
    peer: SocketAddr,
    cp_seid: u64,
    /// Usage Report elements, encoded: sessions end by the million.
    reports: Vec<u8>,
    pub(super) count: u64,
}

/// How sessions ended, and so whether their CP function can be told.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Ending {
    /// It is there: it asked for it, or we shut down. Its recovery time stamp.
    Told(u32),
    /// It is out of reach. Its recovery time stamp.
    OutOfReach(u32),
    /// It does not know the sessions, for this reason.
    Unknown(&'static str),
}

/// Why a CP function does not know its sessions.
pub(super) const RESTARTED: &str = "cannot be reported: the CP function has restarted";
pub(super) const NOT_FOUND: &str = "cannot be reported: the CP function does not know the session";

/// All of them.
#[derive(Default)]
pub(super) struct Finals {
    /// To be sent.
    ready: VecDeque<Final>,
    /// Those of CP functions out of reach.
    kept: BTreeMap<NodeId, VecDeque<Final>>,
    kept_count: usize,
    /// Sent and not answered.
    sent: usize,
}

impl Finals {
    /// Those to be sent, and sent without an answer.
    pub(super) fn pending(&self) -> usize {
        self.ready.len() + self.sent
    }

    /// Those kept for CP functions out of reach.
    pub(super) fn kept(&self) -> usize {
        self.kept_count
    }
}

impl Node {
    /// Takes the final usage reports of a session, at least one.
    pub(super) fn final_usage(
        &mut self,
        ending: Ending,
        node_id: NodeId,
        peer: SocketAddr,
        cp_seid: u64,
        reports: Vec<Group>,
        now: Duration,
    ) {
        let count = reports.len() as u64;
        let ies = reports.into_iter().map(Ie::UsageReportInReportRequest).collect();
        let message = Message::session(MessageType::SessionReportRequest, cp_seid, 0, ies);
        let Ok(reports) = message.encode() else { return self.usage_lost(count, "is too long to be reported", now) };
        let this = |stamp| Final { node_id, stamp, peer, cp_seid, reports, count };
        match ending {
            Ending::Told(stamp) => self.finals.ready.push_back(this(stamp)),
            Ending::OutOfReach(stamp) => self.keep_final(this(stamp), now),
            Ending::Unknown(why) => self.usage_lost(count, why, now),
        }
    }

    fn usage_lost(&mut self, count: u64, why: &str, now: Duration) {
        self.stats.lost_usage_reports += count;
        if self.may_log(now) {
            tracing::warn!(reports = count, "final usage {why}");
        }
    }

    fn keep_final(&mut self, this: Final, now: Duration) {
        if self.closing {
            return self.usage_lost(this.count, "was not acknowledged before the end", now);
        }
        // As many as there may be sessions: each was one.
        if self.finals.kept_count >= self.config.max_sessions {
            return self.usage_lost(this.count, "cannot be kept: too much of it waits for CP functions out of reach", now);
        }
        self.finals.kept_count += 1;
        self.finals.kept.entry(this.node_id.clone()).or_default().push_back(this);
    }

    /// A CP function is associated: what was kept for it is sent, unless it has restarted.
    pub(super) fn send_kept_finals(&mut self, node_id: &NodeId, stamp: u32, peer: SocketAddr, now: Duration) {
        let kept = self.finals.kept.remove(node_id).unwrap_or_default();
        self.finals.kept_count -= kept.len();
        for this in kept {
            if this.stamp == stamp {
                self.finals.ready.push_back(Final { peer, ..this });
            } else {
                self.usage_lost(this.count, RESTARTED, now);
            }
        }
    }

    /// Sends what there is room for.
    pub(super) fn send_finals(&mut self, now: Duration) {
        while let Some(this) = self.finals.ready.pop_front() {
            if self.requests.is_full(this.peer.ip()) {
                self.finals.ready.push_front(this);
                return;
            }
            let Ok(message) = crate::codec::decode(&this.reports) else { continue };
            let ies = [vec![Ie::ReportType(USAR)], message.ies].concat();
            let (peer, count) = (this.peer, this.count);
            let message = Message::session(MessageType::SessionReportRequest, this.cp_seid, 0, ies);
            if self.request(peer, message, About::Final(Box::new(this)), now) {
                self.finals.sent += 1;
                self.stats.usage_reports += count;
            } else {
                self.usage_lost(count, "cannot be sent", now);
            }
        }
    }

    /// The response to a final report.
    pub(super) fn final_answered(&mut self, this: &Final, cause: Option<Cause>, now: Duration) {
        self.finals.sent = self.finals.sent.saturating_sub(1);
        if !cause.is_some_and(Cause::is_accepted) {
            self.usage_lost(this.count, "was rejected", now);
        }
    }

    /// Gives up the final reports that are not acknowledged: nobody waits for them any longer.
    pub fn abandon_final_reports(&mut self, now: Duration) {
        let sent = self.requests.finals();
        let ready: u64 = self.finals.ready.drain(..).map(|this| this.count).sum();
        self.finals.sent = 0;
        if sent + ready > 0 {
            self.usage_lost(sent + ready, "was not acknowledged before the end", now);
        }
    }

    /// A final report was given up: the CP function is out of reach.
    pub(super) fn final_unanswered(&mut self, this: Final, now: Duration) {
        self.finals.sent = self.finals.sent.saturating_sub(1);
        self.keep_final(this, now);
    }
}
