//! Usage that no CP function has acknowledged: final usage of sessions that ended without a request for it, and reports of sessions that nobody
//! answered. Reported at once if the CP function can be reached, or kept until it is heard again. A report that is sent again has the UR-SEQN that it had:
//! a CP function that got it before knows it by that (§5.2.2.3).
//!
//! A CP function that has restarted does not know the session, and may have given its SEID to another: nothing is reported to it then. That usage
//! is lost, and counted and logged as such.

use std::collections::{BTreeMap, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::associations::{Association, cp_address};
use super::failover::address_report;
use super::journal::Key;
use super::requests::OfUsage;
use super::{About, Node};
use crate::codec::{Cause, FSeid, Group, Ie, Message, MessageType, NodeId, find};
use crate::rules::Seid;
use crate::stats::{LogCause, LostUsage};

/// Usage Report in Report Type (§8.2.21).
const USAR: u8 = 0x02;

/// Reports without room that are passed over for those of other CP functions, at one look.
const PASSED_OVER: usize = 16;

/// Of one session.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Final {
    /// Of its record, while it waits to be sent.
    id: u64,
    /// Its session, if that had not ended when the report was made.
    seid: Option<Seid>,
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
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Ending {
    /// It is there: it asked for it, or we shut down. Its recovery time stamp.
    Told(u32),
    /// It is out of reach. Its recovery time stamp.
    OutOfReach(u32),
    /// It does not know the sessions, for this reason.
    Unknown(Unknown),
}

/// Why a CP function does not know its sessions.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Unknown {
    /// It has restarted.
    Restarted,
    /// It says so.
    NotFound,
}

impl From<Unknown> for LostUsage {
    fn from(why: Unknown) -> LostUsage {
        match why {
            Unknown::Restarted => LostUsage::Restarted,
            Unknown::NotFound => LostUsage::NotFound,
        }
    }
}

/// All of them.
#[derive(Default)]
pub(super) struct Finals {
    /// To be sent.
    ready: VecDeque<Final>,
    /// Those of CP functions out of reach, or that did not answer.
    kept: BTreeMap<NodeId, VecDeque<Final>>,
    kept_count: usize,
    /// Sent and not answered.
    sent: usize,
    next_id: u64,
}

impl Final {
    pub(super) fn id(&self) -> u64 {
        self.id
    }

    pub(super) fn node_id(&self) -> &NodeId {
        &self.node_id
    }

    /// The CP F-SEID of its session, and the address that knows the session by it.
    pub(super) fn cp(&self) -> (FSeid, IpAddr) {
        let address = self.peer.ip();
        let ipv4 = if let IpAddr::V4(address) = address { Some(address) } else { None };
        let ipv6 = if let IpAddr::V6(address) = address { Some(address) } else { None };
        (FSeid { seid: self.cp_seid, ipv4, ipv6 }, address)
    }

    pub(super) fn reports(&self) -> &[u8] {
        &self.reports
    }
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
        let Ok(reports) = message.encode() else { return self.usage_lost(count, LostUsage::TooLong, now) };
        let this = |stamp| Final { id: 0, seid: None, node_id, stamp, peer, cp_seid, reports, count };
        match ending {
            Ending::Told(stamp) => self.final_ready(this(stamp)),
            Ending::OutOfReach(stamp) => self.keep_final(this(stamp), now),
            Ending::Unknown(why) => self.usage_lost(count, why.into(), now),
        }
    }

    /// Final usage that was recorded before a crash.
    pub(super) fn final_again(&mut self, this: Final, now: Duration) {
        match self.associations.get(&this.node_id).map(|association| association.ending()) {
            Some(Ending::Told(stamp)) if stamp == this.stamp => self.final_ready(this),
            Some(Ending::Told(_)) => self.usage_lost(this.count, LostUsage::Restarted, now),
            _ => self.keep_final(this, now),
        }
    }

    /// A report that was sent before a crash, and will be again.
    pub(super) fn finals_sent(&mut self, about: &About) {
        self.finals.sent += usize::from(matches!(about, About::Final(_)));
    }

    fn final_ready(&mut self, mut this: Final) {
        self.record_final(&mut this);
        self.finals.ready.push_back(this);
    }

    fn record_final(&mut self, this: &mut Final) {
        self.finals.next_id += 1;
        this.id = self.finals.next_id;
        self.journal.put(Key::Final(this.id), this);
    }

    pub(super) fn usage_lost(&mut self, count: u64, why: LostUsage, now: Duration) {
        self.stats.lost_usage_reports += count;
        *self.stats.lost_usage.entry(why).or_default() += count;
        if let Some(left_out) = self.may_log(LogCause::Usage, now) {
            tracing::warn!(reports = count, left_out, "usage {}", why.text());
        }
    }

    /// A report of a session's usage that nobody answered, or that there was no room to send: kept until its CP function is heard again.
    pub(super) fn keep_usage(&mut self, seid: Seid, of: OfUsage, to: SocketAddr, message: Message, now: Duration) {
        let OfUsage { node_id, stamp, count } = of;
        // Of a session that has ended meanwhile the report itself says whose it was.
        let own = find!(message.ies, FSeid).copied();
        let (cp_seid, peer) = match (self.sessions.get(seid), own) {
            (Some(session), _) => (session.cp.seid, session.peer),
            (None, Some(own)) => (own.seid, SocketAddr::new(cp_address(&own, to), to.port())),
            (None, None) => (message.seid.unwrap_or(0), to),
        };
        let ies = message.ies.into_iter().filter(|ie| matches!(ie, Ie::UsageReportInReportRequest(_))).collect();
        let Ok(reports) = Message::session(MessageType::SessionReportRequest, cp_seid, 0, ies).encode() else {
            return self.usage_lost(count, LostUsage::TooLong, now);
        };
        self.keep_final(Final { id: 0, seid: Some(seid), node_id, stamp, peer, cp_seid, reports, count }, now);
    }

    /// A CP function speaks from an address: what is kept for it is sent again, unless its message says that it has restarted.
    pub(super) fn send_kept_to(&mut self, from: IpAddr, message: &Message, now: Duration) {
        if self.finals.kept_count == 0 || message.kind == MessageType::VersionNotSupportedResponse {
            return;
        }
        let stamp = find!(message.ies, RecoveryTimeStamp);
        let here = |node_id: &&NodeId| self.associations.get(*node_id).is_some_and(|association| association.is_of(from, &self.config));
        let heard: Vec<NodeId> = self.finals.kept.keys().filter(here).cloned().collect();
        for node_id in heard {
            let Some((own, peer)) = self.associations.get(&node_id).map(Association::identity) else { continue };
            if stamp.is_none_or(|stamp| *stamp == own) {
                self.send_kept_finals(&node_id, own, peer, now);
            }
        }
    }

    fn keep_final(&mut self, mut this: Final, now: Duration) {
        if self.closing {
            return self.usage_lost(this.count, LostUsage::End, now);
        }
        // As many as there may be sessions, whose final usage all of it may be.
        if self.finals.kept_count >= self.config.max_sessions {
            return self.usage_lost(this.count, LostUsage::Full, now);
        }
        self.record_final(&mut this);
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
                self.journal.remove(Key::Final(this.id));
                self.usage_lost(this.count, LostUsage::Restarted, now);
            }
        }
    }

    /// Sends what there is room for. What waits for one CP function does not hold up another's.
    pub(super) fn send_finals(&mut self, now: Duration) {
        let mut passed_over = Vec::new();
        while passed_over.len() < PASSED_OVER
            && let Some(this) = self.finals.ready.pop_front()
        {
            let session = this.seid.and_then(|seid| self.sessions.get(seid).map(|session| (seid, session)));
            let peer = match &session {
                Some((_, session)) => self.reports_to(session),
                None => self.associations.get(&this.node_id).map_or(this.peer, |association| self.heard_at(association, this.peer)),
            };
            // What was given up before leaves room for what is new.
            if self.requests.is_full(peer.ip()) || (this.seid.is_some() && !self.requests.has_room_again(peer.ip())) {
                passed_over.push(this);
                continue;
            }
            self.journal.remove(Key::Final(this.id));
            let Ok(message) = crate::codec::decode(&this.reports) else { continue };
            let ies = [vec![Ie::ReportType(USAR)], message.ies].concat();
            let (count, is_new) = (this.count, this.seid.is_none());
            let (about, own, at) = match session {
                // Its CP function may be another now.
                Some((seid, session)) => {
                    let of = OfUsage { node_id: this.node_id, stamp: this.stamp, count };
                    (About::Usage(seid, Box::new(of)), session.cp, session.peer.ip())
                }
                None => {
                    let (own, at) = this.cp();
                    (About::Final(Box::new(this)), own, at)
                }
            };
            let mut message = Message::session(MessageType::SessionReportRequest, own.seid, 0, ies);
            address_report(&mut message, own, at, peer.ip());
            let is_final = about.of_final().is_some();
            if self.request(peer, message, about, now) {
                self.finals.sent += usize::from(is_final);
                self.stats.usage_reports += if is_new { count } else { 0 };
            } else {
                self.usage_lost(count, LostUsage::TooLong, now);
            }
        }
        passed_over.into_iter().rev().for_each(|this| self.finals.ready.push_front(this));
    }

    /// The response to a final report.
    pub(super) fn final_answered(&mut self, this: &Final, cause: Option<Cause>, now: Duration) {
        self.finals.sent = self.finals.sent.saturating_sub(1);
        self.usage_answered(this.count, cause, now);
    }

    /// The response to a report of usage.
    pub(super) fn usage_answered(&mut self, count: u64, cause: Option<Cause>, now: Duration) {
        match cause {
            Some(cause) if cause.is_accepted() => {}
            Some(Cause::SESSION_CONTEXT_NOT_FOUND) => self.usage_lost(count, LostUsage::NotFound, now),
            _ => self.usage_lost(count, LostUsage::Rejected, now),
        }
    }

    /// Gives up the final reports that are not acknowledged: nobody waits for them any longer.
    pub fn abandon_final_reports(&mut self, now: Duration) {
        let sent = self.requests.finals();
        let mut ready = 0;
        while let Some(this) = self.finals.ready.pop_front() {
            self.journal.remove(Key::Final(this.id));
            ready += this.count;
        }
        self.finals.sent = 0;
        if sent + ready > 0 {
            self.usage_lost(sent + ready, LostUsage::End, now);
        }
    }

    /// A final report was given up: the CP function is out of reach.
    pub(super) fn final_unanswered(&mut self, this: Final, now: Duration) {
        self.finals.sent = self.finals.sent.saturating_sub(1);
        self.keep_final(this, now);
    }
}
