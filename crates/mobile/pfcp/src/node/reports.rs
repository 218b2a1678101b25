//! Reports of the UP function: downlink data, refused tunnels and usage, in Session Report Requests
//! (TS 29.244 §5.2.2.3, §5.2.4, §7.5.8).

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::failover::address_report;
use super::requests::OfUsage;
use super::sessions::Activity;
use super::{About, Node, Timer};
use crate::codec::{self, Cause, FTeid, Group, Ie, Message, MessageType, find};
use crate::rules::{Seid, SessionRules, Usage, UserPlane};
use crate::session;
use crate::stats::{Drop, LogCause, LostUsage};
use crate::usage::{reporting, trigger};
use crate::work::steps;

/// Report Type (§8.2.21).
const DLDR: u8 = 0x01;
const USAR: u8 = 0x02;
const ERIR: u8 = 0x04;
const UPIR: u8 = 0x08;

/// DROBU of PFCPSRRsp-Flags (§8.2.43).
const DROBU: u8 = 0x01;

/// Unit of a BAR's notification delay (§8.2.28).
const DELAY_UNIT: Duration = Duration::from_millis(50);

/// Usage reports in one request: Open5GS reads so many, and passes over the rest. They fit an Ethernet frame.
const USAGE_REPORTS_PER_REQUEST: usize = 8;

/// How long a report waits if too many requests are without an answer.
const WAIT_FOR_ROOM: Duration = Duration::from_secs(1);

/// Limit of sessions notified of one refused tunnel.
const MAX_SESSIONS_PER_TUNNEL: usize = 64;

/// Error indication reports of one session a second: it has a tunnel or two, and one report is enough.
const ERROR_REPORTS_PER_SESSION: u32 = 2;

/// How many times the budget of one CP function all error indication reports together may be.
const ERROR_REPORTS_IN_ALL: u32 = 5;

/// How far a FAR's buffering has been reported to the CP function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Notice {
    /// It will be, unless the FAR is updated before.
    Waiting { at: Duration, pdr_id: u16 },
    /// It has been.
    Sent,
}

/// A usage report to be made.
struct Due {
    urr_id: u32,
    triggers: u32,
    counters: Usage,
}

impl Node {
    /// A downlink packet was buffered for a PDR: reported to its CP function once per buffering episode, after the BAR's delay
    /// (§5.2.4.2). An episode ends when the FAR is updated.
    pub fn downlink_data(&mut self, seid: Seid, pdr_id: u16, now: Duration) {
        if self.quota_asked_for(seid, pdr_id, now) {
            return;
        }
        let Some(mut session) = self.sessions.open(seid) else { return };
        let rules = &session.context.rules;
        let Some(far_id) = rules.pdrs.get(&pdr_id).and_then(|pdr| pdr.far_id) else { return };
        let Some(far) = rules.fars.get(&far_id) else { return };
        if !far.action.buffer || !far.action.notify || session.notices.contains_key(&far_id) {
            return;
        }
        let bar = far.bar_id.and_then(|bar_id| rules.bars.get(&bar_id));
        let delay = DELAY_UNIT * u32::from(bar.and_then(|bar| bar.notification_delay).unwrap_or(0));
        let at = now + delay;
        session.notices.insert(far_id, Notice::Waiting { at, pdr_id });
        drop(session);
        if delay.is_zero() {
            self.notify(seid, far_id, at, now);
        } else {
            self.timers.insert((at, Timer::Notify(seid, far_id)));
        }
    }

    /// A packet waits for a PDR because a quota of its URRs is of nothing: these are reported at once. Whether there are any.
    fn quota_asked_for(&mut self, seid: Seid, pdr_id: u16, now: Duration) -> bool {
        let Some(mut opened) = self.sessions.open_lazily(seid) else { return false };
        let session = &mut *opened;
        let rules = &session.context.rules;
        let mut any = false;
        for urr_id in rules.pdrs.get(&pdr_id).into_iter().flat_map(|pdr| &pdr.urr_ids) {
            let (Some(rule), Some(meter)) = (rules.urrs.get(urr_id), session.meters.get_mut(urr_id)) else { continue };
            if !meter.notice_stopped(rule, now) {
                continue;
            }
            any = true;
            // Reported by the next look at it.
            if let Some(before) = meter.deadline.replace(now) {
                self.timers.remove(&(before, Timer::Urr(seid, *urr_id)));
            }
            self.timers.insert((now, Timer::Urr(seid, *urr_id)));
        }
        any
    }

    /// Sends the Downlink Data Report that is due at `at`.
    pub(super) fn notify(&mut self, seid: Seid, far_id: u32, at: Duration, now: Duration) {
        let Some(mut session) = self.sessions.open(seid) else { return };
        let Some(Notice::Waiting { at: due, pdr_id }) = session.notices.get(&far_id).copied() else { return };
        if due != at {
            return;
        }
        session.notices.insert(far_id, Notice::Sent);
        drop(session);
        let ies = vec![Ie::ReportType(DLDR), Ie::DownlinkDataReport(vec![Ie::PdrId(pdr_id)])];
        if self.send_report(seid, ies, About::DownlinkData(seid, far_id), now) {
            self.stats.downlink_data_reports += 1;
        }
    }

    /// A GTP-U Error Indication came from `peer` for its tunnel `teid`: the CP functions of the sessions that forward to it
    /// get one report until they answer (§7.5.8.4), and not more often than the budgets of session, CP function and GTP-U peer
    /// allow. Who sends it can be anybody on N3: the caller has compared its source with `peer`.
    pub fn error_indication(&mut self, teid: u32, peer: IpAddr, now: Duration) {
        let IpAddr::V4(ipv4) = peer else { return };
        let sessions = self.peer_tunnels.range((teid, ipv4, 0)..=(teid, ipv4, Seid::MAX)).map(|(_, _, seid)| *seid);
        let seids: Vec<Seid> = sessions.take(MAX_SESSIONS_PER_TUNNEL).collect();
        if seids.is_empty() {
            return self.stats.drop(Drop::ErrorIndicationUnknown);
        }
        let each = self.config.error_indications_per_second;
        for seid in seids {
            let Some(mut session) = self.sessions.open(seid) else { continue };
            if session.refused_tunnels.contains(&(teid, ipv4)) {
                self.stats.drop(Drop::ErrorIndicationRepeated);
                continue;
            }
            let budgets = &mut self.error_budgets;
            // The narrowest first: a session that has spent its own takes nothing from others.
            let allowed = budgets.of_sessions.of(seid).spend(1, ERROR_REPORTS_PER_SESSION, now)
                && budgets.of_gtpu_peers.of(ipv4).spend(1, each, now)
                && budgets.of_cp_functions.of(session.peer.ip()).spend(1, each, now)
                && budgets.all.spend(1, each.saturating_mul(ERROR_REPORTS_IN_ALL), now);
            if !allowed {
                self.stats.drop(Drop::ErrorIndicationOverRate);
                continue;
            }
            session.refused_tunnels.insert((teid, ipv4));
            drop(session);
            let remote = Ie::FTeid(FTeid::Given { teid, ipv4: Some(ipv4), ipv6: None });
            let ies = vec![Ie::ReportType(ERIR), Ie::ErrorIndicationReport(vec![remote])];
            if self.send_report(seid, ies, About::ErrorIndication(seid, teid, ipv4), now) {
                self.stats.error_indication_reports += 1;
            }
        }
    }

    /// Looks at the URRs that the bytes carried since may have made due, and at sessions and URRs that wait for a packet; forgets old answers.
    /// Call it after [`next_poll`](Node::next_poll). At most [`max_polled`](crate::config::Config::max_polled) limits are looked at: the
    /// next call continues.
    pub fn poll_usage(&mut self, now: Duration, plane: &mut dyn UserPlane) {
        self.settle_again(plane);
        self.answers.expire(now);
        // Before the counters are read: they may have moved on, which only makes the next look come sooner.
        self.watch.advance(plane.carried(), now);
        let mut due: BTreeMap<Seid, BTreeSet<u32>> = BTreeMap::new();
        for (seid, urr_id) in self.watch.limits_to_look_at(self.config.max_polled) {
            due.entry(seid).or_default().insert(urr_id);
        }
        let mut sessions = Vec::new();
        for (seid, urr_id) in self.watch.awaiting_to_look_at() {
            match urr_id {
                Some(urr_id) => drop(due.entry(seid).or_default().insert(urr_id)),
                None => sessions.push(seid),
            }
        }
        for (seid, urr_ids) in due {
            self.look_at(seid, &urr_ids, now, plane);
        }
        for seid in sessions {
            self.look_at_activity(seid, now, plane);
        }
        self.send_finals(now);
    }

    /// Looks at URRs of a session, and reports those that are due.
    pub(super) fn look_at(&mut self, seid: Seid, urr_ids: &BTreeSet<u32>, now: Duration, plane: &mut dyn UserPlane) {
        let Some(mut opened) = self.sessions.open_lazily(seid) else { return };
        let session = &mut *opened;
        let mut due = Vec::new();
        let mut known = BTreeMap::new();
        let (mut reopened, mut limited) = (false, false);
        for urr_id in urr_ids {
            let (Some(rule), Some(meter)) = (session.context.rules.urrs.get_mut(urr_id), session.meters.get_mut(urr_id)) else { continue };
            let counters = plane.usage(seid, *urr_id);
            known.insert(*urr_id, counters);
            reopened |= meter.pass_monitoring_time(rule, now, counters);
            limited |= rule.volume_quota.is_some();
            let triggers = meter.look(rule, now, counters);
            if triggers != 0 {
                due.push(Due { urr_id: *urr_id, triggers, counters });
            }
            // The timer that may have brought us here is gone.
            if let Some(at) = meter.deadline.take() {
                self.timers.remove(&(at, Timer::Urr(seid, *urr_id)));
            }
        }
        let refused = reopened.then(|| plane.commit(seid, Some(&session.context.rules)).err()).flatten();
        drop(opened);
        if let Some(error) = refused {
            self.unsettled.insert(seid);
            self.commit_failed(seid, &error, "does not let a session go on after its monitoring time", now);
        }
        let reported = self.report_usage(seid, due, &mut known, now, plane);
        if limited {
            // Of all URRs: one whose quota is used up leaves the packets to the others.
            let quotas = self.sessions.get(seid).map_or(Vec::new(), |session| session.quota_ends());
            self.limit_usage(seid, &quotas, now, plane);
        }
        self.watch(seid, &known, now);
        if reported {
            return;
        }
        // No room for a request: again in a while, whatever moves meanwhile.
        let Some(mut session) = self.sessions.open_lazily(seid) else { return };
        let at = now + WAIT_FOR_ROOM;
        for urr_id in urr_ids {
            let Some(meter) = session.meters.get_mut(urr_id) else { continue };
            if let Some(before) = meter.deadline.replace(at) {
                self.timers.remove(&(before, Timer::Urr(seid, *urr_id)));
            }
            self.watch.set_limit(seid, *urr_id, meter.volume_deadline.take(), None);
            self.timers.insert((at, Timer::Urr(seid, *urr_id)));
        }
    }

    /// A user plane inactivity timer begins, changes, or ends.
    pub(super) fn begin_activity(&mut self, seid: Seid, now: Duration, plane: &mut dyn UserPlane) {
        let Some(mut session) = self.sessions.open(seid) else { return };
        let before = session.activity.take();
        if session.context.rules.inactivity_s > 0 {
            session.activity = Some(Activity { packets: plane.packets(seid), moved_at: now, told: false, deadline: None });
        }
        drop(session);
        self.drop_activity(seid, before);
        self.look_at_activity(seid, now, plane);
    }

    pub(super) fn drop_activity(&mut self, seid: Seid, activity: Option<Activity>) {
        let Some(activity) = activity else { return };
        if let Some(at) = activity.deadline {
            self.timers.remove(&(at, Timer::Activity(seid)));
        }
        self.watch.set_awaiting((seid, None), false);
    }

    /// Reports a session that has had no packet for the time of its user plane inactivity timer, once (§5.11.3).
    pub(super) fn look_at_activity(&mut self, seid: Seid, now: Duration, plane: &mut dyn UserPlane) {
        let Some(mut session) = self.sessions.open_lazily(seid) else { return };
        let limit = Duration::from_secs(session.context.rules.inactivity_s.into());
        let Some(activity) = &mut session.activity else { return };
        let packets = plane.packets(seid);
        if packets != activity.packets {
            (activity.packets, activity.moved_at, activity.told) = (packets, now, false);
        }
        let is_over = now.saturating_sub(activity.moved_at) >= limit && !activity.told;
        activity.told |= is_over;
        let looks_again = (activity.moved_at + limit).min(now + (limit / 4).max(Duration::from_secs(1)));
        let deadline = (!activity.told).then_some(looks_again);
        if let Some(at) = std::mem::replace(&mut activity.deadline, deadline) {
            self.timers.remove(&(at, Timer::Activity(seid)));
        }
        drop(session);
        if let Some(at) = deadline {
            self.timers.insert((at, Timer::Activity(seid)));
        }
        self.watch.set_awaiting((seid, None), deadline.is_none());
        if !is_over {
            return;
        }
        if self.send_report(seid, vec![Ie::ReportType(UPIR)], About::Inactivity(seid), now) {
            self.stats.inactivity_reports += 1;
        }
        let Some(mut opened) = self.sessions.open(seid) else { return };
        let session = &mut *opened;
        let urrs = &session.context.rules.urrs;
        let asked = session.meters.iter_mut().filter_map(|(id, meter)| meter.notice_inactivity(urrs.get(id)?).then_some(*id));
        let asked: BTreeSet<u32> = asked.collect();
        drop(opened);
        if !asked.is_empty() {
            self.look_at(seid, &asked, now, plane);
        }
    }

    /// Sends usage reports, those of linked URRs with them, and stops the packets of URRs whose quota is used up. Not done if
    /// there is no room for a request: the measurement continues and is reported later. A quota is enforced in any case.
    fn report_usage(
        &mut self,
        seid: Seid,
        mut due: Vec<Due>,
        known: &mut BTreeMap<u32, Usage>,
        now: Duration,
        plane: &mut dyn UserPlane,
    ) -> bool {
        let clock = self.clock();
        let of_quota = |due: &Due| due.triggers & trigger::QUOTAS != 0;
        let Some(peer) = self.sessions.get(seid).filter(|_| !due.is_empty()).map(|session| self.reports_to(&session)) else { return true };
        let is_full = self.requests.is_full(peer.ip());
        if is_full && !due.iter().any(of_quota) {
            return false;
        }
        let Some(mut opened) = self.sessions.open(seid) else { return true };
        let session = &mut *opened;
        let mut stops = false;
        for urr_id in due.iter().filter(|due| of_quota(due)).map(|due| due.urr_id) {
            if let Some(rule) = session.context.rules.urrs.get_mut(&urr_id).filter(|rule| rule.has_quota()) {
                let before = std::mem::replace(&mut rule.exhausted, true) && !std::mem::take(&mut rule.untold);
                stops |= !before;
            }
        }
        let refused = if stops { plane.commit(seid, Some(&session.context.rules)).err() } else { None };
        let mut reports: Vec<Group> = Vec::new();
        if is_full {
            for Due { urr_id, triggers, .. } in due {
                if let Some(meter) = session.meters.get_mut(&urr_id) {
                    meter.postpone(triggers);
                }
            }
        } else {
            add_linked(&session.context.rules, &mut due, |urr_id| {
                let counters = plane.usage(seid, urr_id);
                known.insert(urr_id, counters);
                counters
            });
            for Due { urr_id, triggers, counters } in due {
                let (Some(rule), Some(meter)) = (session.context.rules.urrs.get(&urr_id), session.meters.get_mut(&urr_id)) else {
                    continue;
                };
                reports.extend(meter.report(urr_id, rule, triggers, now, counters, clock));
            }
        }
        drop(opened);
        if let Some(error) = refused {
            self.unsettled.insert(seid);
            self.commit_failed(seid, &error, "does not stop a session whose quota is used up", now);
        }
        for chunk in reports.chunks(USAGE_REPORTS_PER_REQUEST) {
            let mut ies = vec![Ie::ReportType(USAR)];
            ies.extend(chunk.iter().cloned().map(Ie::UsageReportInReportRequest));
            self.send_usage(seid, ies, chunk.len() as u64, now);
        }
        !is_full
    }

    /// Sends usage reports of a session, or keeps them.
    fn send_usage(&mut self, seid: Seid, ies: Group, count: u64, now: Duration) {
        self.stats.usage_reports += count;
        let of = format_args!("session {seid:#x}");
        let Some(session) = self.sessions.get(seid) else { return self.usage_lost(&of, count, LostUsage::NotFound, now) };
        let stamp = self.associations.get(&session.node_id).map_or(0, |association| association.identity().0);
        let (of, to) = (OfUsage { node_id: session.node_id.clone(), stamp, count }, self.reports_to(&session));
        if self.requests.is_full(to.ip()) {
            let message = Message::session(MessageType::SessionReportRequest, session.cp.seid, 0, ies);
            return self.keep_usage(seid, of, to, message, now);
        }
        if !self.send_report(seid, ies, About::Usage(seid, Box::new(of)), now) {
            self.usage_lost(&format_args!("session {seid:#x}"), count, LostUsage::TooLong, now);
        }
    }

    /// Sends a Session Report Request.
    fn send_report(&mut self, seid: Seid, ies: Group, about: About, now: Duration) -> bool {
        let Some(session) = self.sessions.get(seid) else { return false };
        let peer = self.reports_to(&session);
        let mut message = Message::session(MessageType::SessionReportRequest, session.cp.seid, 0, ies);
        address_report(&mut message, session.cp, session.peer.ip(), peer.ip());
        let sent = self.request(peer, message, about.clone(), now);
        if !sent {
            self.report_unanswered(about);
        }
        sent
    }

    /// Session Report Response (§7.5.9).
    pub(super) fn report_answered(
        &mut self,
        about: About,
        octets: &[u8],
        from: SocketAddr,
        response: &Message,
        now: Duration,
        plane: &mut dyn UserPlane,
    ) {
        let (About::DownlinkData(seid, _) | About::Usage(seid, _) | About::ErrorIndication(seid, ..) | About::Inactivity(seid)) = about
        else {
            return;
        };
        // What another SMF of the set does not know, its own may: of a session that has ended meanwhile the report says which that is.
        let own = || codec::decode(octets).ok().and_then(|message| find!(message.ies, FSeid).copied());
        let owner = match (self.sessions.get(seid), &about) {
            (Some(session), _) => Some(session.peer.ip()),
            (None, About::Usage(_, of)) => own().map(|own| self.report_address(&own, from, &of.node_id).ip()),
            (None, _) => None,
        };
        let owner = owner.filter(|owner| *owner != from.ip());
        let ends = response.cause() == Some(Cause::SESSION_CONTEXT_NOT_FOUND) && owner.is_none();
        let lost_before = self.stats.lost_usage_reports;
        match (&about, owner) {
            (About::Usage(_, of), Some(owner)) if response.cause() == Some(Cause::SESSION_CONTEXT_NOT_FOUND) => {
                self.keep_usage_for(owner, seid, of, from, octets, now);
            }
            // Said with the end of the session.
            (About::Usage(_, of), _) if ends => self.count_lost(of.count, LostUsage::NotFound),
            (About::Usage(_, of), _) => self.usage_answered(&about, of.count, response.cause(), now),
            _ => {}
        }
        let Some(cause) = response.cause() else { return self.drop_datagram(from, Drop::BadResponse, now) };
        if let About::ErrorIndication(_, teid, ipv4) = about
            && let Some(mut session) = self.sessions.open(seid)
        {
            session.refused_tunnels.remove(&(teid, ipv4));
        }
        if ends {
            // The CP function does not know the session: nobody would ever delete it.
            self.end(seid, now, plane);
            let reports = self.stats.lost_usage_reports - lost_before;
            if let Some(left_out) = self.may_log(LogCause::Response, now) {
                let seid = format!("{seid:#x}");
                tracing::warn!(%from, seid, reports, left_out, "the CP function does not know this session: it is deleted, and its usage cannot be reported");
            }
            return;
        }
        if !cause.is_accepted() {
            if let Some(left_out) = self.may_log(LogCause::Response, now) {
                tracing::warn!(%from, seid = format!("{seid:#x}"), cause = cause.text(), left_out, "the CP function rejected a report");
            }
            return;
        }
        if let Some(cp) = find!(response.ies, FSeid).copied()
            && let Some(node_id) = self.sessions.get(seid).map(|session| session.node_id)
            && self.refuse_anothers_f_seid(&cp, from, &node_id).is_ok()
        {
            // Another SMF of the set has taken it over (§5.22, §7.5.9.1).
            let peer = self.report_address(&cp, from, &node_id);
            if let Some(mut session) = self.sessions.open(seid) {
                (session.cp, session.peer, session.peer_since) = (cp, peer, now);
            }
            self.goes_to_other_of_set(seid, from);
            self.usage_follows(seid);
        }
        if find!(response.ies, PfcpSrRspFlags).is_some_and(|flags| flags & DROBU != 0) {
            plane.drop_buffered(seid);
        }
        let Some(mut session) = self.sessions.open(seid) else { return };
        let Some(rules) = session::update_bars(&session.context.rules, &response.ies) else { return };
        match plane.commit(seid, Some(&rules)) {
            Ok(_) => session.context.rules = rules,
            Err(error) => {
                drop(session);
                self.commit_failed(seid, &error, "refuses a BAR", now);
            }
        }
    }

    /// A session that an SMF has taken over which has an association of its own is with that from now on: it goes on when the one before is over.
    fn goes_to_other_of_set(&mut self, seid: Seid, from: SocketAddr) {
        let node_id = self.sessions.get(seid).map(|session| session.node_id);
        let Some(association) = node_id.and_then(|node_id| self.associations.get(&node_id)) else { return };
        if association.is_of(from.ip(), &self.config) {
            return;
        }
        if let Some(node_id) = self.other_of_set_at(association, from.ip()) {
            self.move_session(seid, node_id);
        }
    }

    /// A report was given up.
    pub(super) fn report_unanswered(&mut self, about: About) {
        match about {
            // The next packet makes a new one.
            About::DownlinkData(seid, far_id) => {
                if let Some(mut session) = self.sessions.open(seid) {
                    session.notices.remove(&far_id);
                }
            }
            About::ErrorIndication(seid, teid, ipv4) => {
                if let Some(mut session) = self.sessions.open(seid) {
                    session.refused_tunnels.remove(&(teid, ipv4));
                }
            }
            // The next inactivity, after a packet, is reported again. Usage is kept.
            About::Inactivity(_)
            | About::Usage(..)
            | About::Heartbeat(..)
            | About::Setup(_)
            | About::Release
            | About::Final(_)
            | About::NodeReport => {}
        }
    }
}

/// Adds the URRs that are reported because one is that they are linked to, and those linked to these in turn (LIUSA).
fn add_linked(rules: &SessionRules, due: &mut Vec<Due>, mut usage: impl FnMut(u32) -> Usage) {
    let mut followers: BTreeMap<u32, Vec<u32>> = BTreeMap::new();
    for (urr_id, rule) in rules.urrs.iter().filter(|(_, rule)| rule.triggers & reporting::LIUSA != 0) {
        steps(rule.linked.len());
        rule.linked.iter().for_each(|id| followers.entry(*id).or_default().push(*urr_id));
    }
    let mut reported: BTreeSet<u32> = due.iter().map(|due| due.urr_id).collect();
    let mut at = 0;
    while let Some(urr_id) = due.get(at).map(|due| due.urr_id) {
        at += 1;
        for urr_id in followers.remove(&urr_id).into_iter().flatten().filter(|id| reported.insert(*id)) {
            due.push(Due { urr_id, triggers: trigger::LIUSA, counters: usage(urr_id) });
        }
    }
}
