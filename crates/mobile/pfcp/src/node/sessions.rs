//! Session related procedures: establishment, modification, deletion (TS 29.244 §6.3), each all or nothing.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::associations::unreadable;
use super::finals::Unknown;
use super::journal::Key;
use super::reports::Notice;
use super::{ENDED_FOR_A_REQUEST, Ending, Node, RULES_ENDED_AT_ONCE, RngCore, SessionView, Timer, Watch};
use crate::codec::{Cause, FSeid, Group, Ie, Message, NodeId, find, number};
use crate::rules::{CommitError, Seid, SessionRules, Usage, UserPlane, VolumeLimit};
use crate::session::{self, Change, Context, Rejection};
use crate::stats::{LogCause, LostUsage};
use crate::usage::{self, Meter, WallClock, trigger};

/// PURU of PFCPSDRsp-Flags: reports of usage are pending besides, and the CP function should wait for them (§5.2.2.3.1).
const PURU: u8 = 1 << 0;

/// Octets of a deletion's answer for usage that was reported before and not acknowledged: about half of what a datagram may have.
const ROOM_FOR_UNACKNOWLEDGED: usize = 30_000;

/// Sessions retried with one usage poll.
const UNSETTLED_AT_ONCE: usize = 256;

/// A session, as it is packed.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Session {
    /// Number of its association. First, so that it can be read alone.
    pub(super) association: u32,
    pub(super) cp: FSeid,
    pub(super) node_id: NodeId,
    /// Where reports go, and since when.
    pub(super) peer: SocketAddr,
    pub(super) peer_since: Duration,
    pub(super) context: Context,
    pub(super) meters: BTreeMap<u32, Meter>,
    /// FARs whose buffering was reported to the CP function, until it updates them.
    pub(super) notices: BTreeMap<u32, Notice>,
    /// Tunnels refused by their peers, reported and not answered yet.
    pub(super) refused_tunnels: BTreeSet<(u32, Ipv4Addr)>,
    /// What was last seen of its packets, where it has a user plane inactivity timer.
    pub(super) activity: Option<Activity>,
    pub(super) since: Duration,
}

/// Whether a session's user plane is active (§5.11.3).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub(super) struct Activity {
    /// Packets at the last look, and when they were last seen to have moved.
    pub(super) packets: u64,
    pub(super) moved_at: Duration,
    /// Inactivity has been reported; the next packet ends it.
    pub(super) told: bool,
    /// When it is looked at again; `None`: when there is a packet.
    pub(super) deadline: Option<Duration>,
}

impl Session {
    /// Makes what is looked at follow its URRs; `known`: counters that have just been read.
    pub(super) fn watch(
        &mut self,
        seid: Seid,
        known: &BTreeMap<u32, Usage>,
        now: Duration,
        watch: &mut Watch,
        timers: &mut BTreeSet<(Duration, Timer)>,
    ) {
        for (id, meter) in &mut self.meters {
            let Some(rule) = self.context.rules.urrs.get(id) else { continue };
            let left = |counters| meter.volume_left(rule, counters).filter(|left| *left < u64::MAX).map(|left| watch.deadline(left));
            let deadline = match known.get(id) {
                Some(counters) => left(*counters),
                // Usage only grows: what was far away before is no nearer than it was.
                None => left(Usage::default()).map(|_| meter.volume_deadline.unwrap_or(watch.deadline(0))),
            };
            watch.set_limit(seid, *id, std::mem::replace(&mut meter.volume_deadline, deadline), deadline);
            let awaits = meter.is_awaiting_traffic(rule);
            if std::mem::replace(&mut meter.awaits_traffic, awaits) != awaits {
                watch.set_awaiting((seid, Some(*id)), awaits);
            }
            let due = meter.due_at(rule, now);
            if due != meter.deadline {
                if let Some(at) = meter.deadline {
                    timers.remove(&(at, Timer::Urr(seid, *id)));
                }
                if let Some(at) = due {
                    timers.insert((at, Timer::Urr(seid, *id)));
                }
                meter.deadline = due;
            }
        }
    }

    /// Where its volume quotas end, by URR.
    pub(super) fn quota_ends(&self) -> Vec<(u32, VolumeLimit)> {
        let ends = |(id, meter): (&u32, &Meter)| Some((*id, meter.quota_ends(self.context.rules.urrs.get(id)?)?));
        self.meters.iter().filter_map(ends).collect()
    }

    pub(super) fn into_view(self, seid: Seid) -> SessionView {
        let Session { cp, node_id, peer, context, since, .. } = self;
        SessionView { seid, cp, node_id, peer, rules: context.rules, dnn: context.dnn, since }
    }
}

impl Node {
    /// Session Establishment Request (§6.3.2).
    pub(super) fn establish(
        &mut self,
        from: SocketAddr,
        request: &Message,
        now: Duration,
        plane: &mut dyn UserPlane,
    ) -> Result<Group, Rejection> {
        let told = |rejection: Rejection| if session::restores(&request.ies) { rejection.of_restoration() } else { rejection };
        for _ in 0..ENDED_FOR_A_REQUEST {
            match self.try_to_establish(from, request, now, plane) {
                Err(rejection) if self.make_room(&rejection, now, plane) => {}
                outcome => return outcome.map_err(told),
            }
        }
        self.try_to_establish(from, request, now, plane).map_err(told)
    }

    fn try_to_establish(
        &mut self,
        from: SocketAddr,
        request: &Message,
        now: Duration,
        plane: &mut dyn UserPlane,
    ) -> Result<Group, Rejection> {
        let ies = &request.ies;
        let node_id = find!(ies, NodeId).ok_or_else(|| unreadable(ies, number::NodeId))?;
        let cp = *find!(ies, FSeid).ok_or_else(|| unreadable(ies, number::FSeid))?;
        let node_id = self.own_association(node_id, from)?;
        self.refuse_anothers_f_seid(&cp, from, &node_id)?;
        let association = self.associations.get(&node_id).map_or(0, |association| association.number);
        if self.closing {
            return Err(Rejection::new(Cause::REQUEST_REJECTED, "shutting down".into()));
        }
        // The cause by which an SMF chooses another UP function.
        if self.draining {
            return Err(Rejection::new(Cause::NO_RESOURCES, "draining: the operator wants no new sessions".into()));
        }
        if self.sessions.len() + self.sessions.waiting() >= self.config.max_sessions {
            return Err(Rejection::new(Cause::NO_RESOURCES, format!("{} sessions already", self.config.max_sessions)));
        }
        self.refuse_in_congestion()?;
        self.refuse_too_many_sessions(&node_id)?;
        let seid = self.next_seid();
        let mut taking = self.pools.begin(seid);
        let mut change = session::establish(ies, self.config.max_rules_per_session, &mut taking)?;
        if self.config.reverses_sd(from.ip()) {
            // The first octet is the most significant one (TS 23.003 §28.4.2); this peer means the last.
            let sd = change.context.rules.s_nssai.as_mut().and_then(|(_, sd)| sd.as_mut());
            sd.into_iter().for_each(|sd| *sd = sd.swap_bytes() >> 8);
        }
        plane.commit(seid, Some(&change.context.rules)).map_err(refused)?;
        taking.keep(&mut change.context.held);

        let peer = self.report_address(&cp, from, &node_id);
        let session = Session {
            association,
            cp,
            node_id: node_id.clone(),
            peer,
            peer_since: now,
            context: Context::default(),
            meters: BTreeMap::new(),
            notices: BTreeMap::new(),
            refused_tunnels: BTreeSet::new(),
            activity: None,
            since: now,
        };
        self.sessions.begin(seid, session);
        if let Some(association) = self.associations.get_mut(&node_id) {
            association.sessions.insert(seid);
        }
        let created = std::mem::take(&mut change.created);
        self.settle(seid, change, now, plane);
        self.stats.established += 1;
        tracing::debug!(seid = format!("{seid:#x}"), cp_seid = format!("{:#x}", cp.seid), %peer, "session established");

        let (ipv4, ipv6) = match self.config.address {
            IpAddr::V4(address) => (Some(address), None),
            IpAddr::V6(address) => (None, Some(address)),
        };
        let mut answer =
            vec![Ie::NodeId(self.config.node_id.clone()), Ie::Cause(Cause::REQUEST_ACCEPTED), Ie::FSeid(FSeid { seid, ipv4, ipv6 })];
        answer.extend(created.into_iter().map(Ie::CreatedPdr));
        Ok(answer)
    }

    /// Session Modification Request (§6.3.3).
    pub(super) fn modify(
        &mut self,
        from: SocketAddr,
        request: &Message,
        now: Duration,
        plane: &mut dyn UserPlane,
    ) -> Result<Group, Rejection> {
        for _ in 0..ENDED_FOR_A_REQUEST {
            match self.try_to_modify(from, request, now, plane) {
                Err(rejection) if self.make_room(&rejection, now, plane) => {}
                outcome => return outcome,
            }
        }
        self.try_to_modify(from, request, now, plane)
    }

    fn try_to_modify(&mut self, from: SocketAddr, request: &Message, now: Duration, plane: &mut dyn UserPlane) -> Result<Group, Rejection> {
        let seid = request.seid.unwrap_or(0);
        let clock = self.clock();
        self.own_session(seid, from)?;
        let takes_over = self.new_owner(seid, from, &request.ies)?;
        let peer = self.new_peer(seid, takes_over.as_ref(), from, &request.ies)?;
        let mut opened = self.sessions.open(seid).ok_or_else(|| not_found(seid))?;
        let session = &mut *opened;
        let mut taking = self.pools.begin(seid);
        let mut change = session::modify(&session.context, &request.ies, self.config.max_rules_per_session, &mut taking)?;

        // A URR that is removed and created again with the same ID has its last usage read here: the commit does not see the removal.
        let reborn = change.urrs_removed.intersection(&change.urrs_begun);
        change.counted = reborn.map(|id| (*id, plane.usage(seid, *id))).collect();
        let mut finals: BTreeMap<u32, Usage> = change.counted.clone();
        let rules = &change.context.rules;
        match (*rules != session.context.rules, change.drop_buffered) {
            // With the change, not before it: one that is refused drops nothing.
            (true, true) => finals.extend(plane.commit_dropping(seid, rules).map_err(refused)?),
            (true, false) => finals.extend(plane.commit(seid, Some(rules)).map_err(refused)?),
            (false, true) => plane.drop_buffered(seid),
            (false, false) => {}
        }
        taking.keep(&mut change.context.held);

        let mut answer = vec![Ie::Cause(Cause::REQUEST_ACCEPTED)];
        answer.extend(std::mem::take(&mut change.created).into_iter().map(Ie::CreatedPdr));
        let old_urrs = &session.context.rules.urrs;
        // The end of a URR, or of its last PDR, is the end of what it measured (§8.2.41).
        let ended = change.urrs_removed.union(&change.urrs_dissociated).map(|id| (*id, trigger::TERMR));
        let mut reported: BTreeMap<u32, u32> = ended.collect();
        change.urrs_queried.iter().for_each(|id| *reported.entry(*id).or_default() |= trigger::IMMER);
        for (id, triggers) in reported {
            let (Some(rule), Some(meter)) = (old_urrs.get(&id), session.meters.get_mut(&id)) else { continue };
            let counters = finals.get(&id).copied().unwrap_or_else(|| plane.usage(seid, id));
            for mut report in meter.report(id, rule, triggers, now, counters, clock) {
                report.extend(change.query_reference.filter(|_| triggers & trigger::IMMER != 0).map(Ie::QueryUrrReference));
                answer.push(Ie::UsageReportInModificationResponse(report));
                self.stats.usage_reports += 1;
            }
        }
        usage::fit_event_times(&mut answer);
        if let Some(cp) = change.cp {
            session.cp = cp;
        }
        if let Some(peer) = peer {
            (session.peer, session.peer_since) = (peer, now);
        }
        drop(opened);
        let moves = takes_over.is_some() || peer.is_some();
        if let Some(node_id) = takes_over {
            self.move_session(seid, node_id);
        }
        if moves {
            self.usage_follows(seid);
        }
        self.stats.absent_removals += change.absent;
        let end_markers = std::mem::take(&mut change.end_markers);
        self.settle(seid, change, now, plane);
        for tunnel in end_markers {
            plane.send_end_marker(tunnel);
        }
        self.stats.modified += 1;
        Ok(answer)
    }

    /// Session Deletion Request (§6.3.4).
    pub(super) fn delete(
        &mut self,
        from: SocketAddr,
        request: &Message,
        now: Duration,
        plane: &mut dyn UserPlane,
    ) -> Result<Group, Rejection> {
        let seid = request.seid.unwrap_or(0);
        let clock = self.clock();
        self.own_session(seid, from)?;
        session::refuse_unsupported(&request.ies)?;
        let mut opened = self.sessions.open(seid).ok_or_else(|| not_found(seid))?;
        let finals: BTreeMap<u32, Usage> = plane.commit(seid, None).map_err(refused)?.into_iter().collect();
        let mut answer = vec![Ie::Cause(Cause::REQUEST_ACCEPTED)];
        let session = &mut *opened;
        for (id, rule) in &session.context.rules.urrs {
            let Some(meter) = session.meters.get_mut(id) else { continue };
            let counters = finals.get(id).copied().unwrap_or_default();
            let reports = meter.report(*id, rule, trigger::TERMR, now, counters, clock);
            self.stats.usage_reports += reports.len() as u64;
            answer.extend(reports.into_iter().map(Ie::UsageReportInDeletionResponse));
        }
        drop(opened);
        usage::fit_event_times(&mut answer);
        // Behind the last usage: an SMF in use reads eight reports.
        let (before, pending) = self.unacknowledged(seid, ROOM_FOR_UNACKNOWLEDGED);
        answer.extend(before.into_iter().map(Ie::UsageReportInDeletionResponse));
        if pending {
            answer.push(Ie::PfcpSdRspFlags(PURU));
        }
        self.forget_session(seid);
        Ok(answer)
    }

    /// Refuses a request from a peer that may not act for the session's association, as if the session did not
    /// exist.
    fn own_session(&mut self, seid: Seid, from: SocketAddr) -> Result<(), Rejection> {
        let owner = self.sessions.look(seid).map(|session| session.node_id.clone());
        if owner.as_ref().is_some_and(|owner| self.controls(from.ip(), owner)) {
            return Ok(());
        }
        self.stats.foreign += u64::from(owner.is_some());
        // Without an association there is no session either, whatever its SEID (table 8.2.1-1).
        if !self.may_act(from.ip()) {
            return Err(Rejection::new(Cause::NO_ESTABLISHED_ASSOCIATION, format!("no association with {}", from.ip())));
        }
        let owner = owner.ok_or_else(|| not_found(seid))?;
        Err(Rejection::new(Cause::SESSION_CONTEXT_NOT_FOUND, format!("session {seid:#x} is of {owner:?}, not of {}", from.ip())))
    }

    /// The Node ID of a modification: that of a CP function of the same SMF set which takes the session over (§5.22). It must be
    /// associated, and the request's sender must speak for it as well as for the association that the session is in, or one of its SMF set.
    fn new_owner(&mut self, seid: Seid, from: SocketAddr, ies: &[Ie]) -> Result<Option<NodeId>, Rejection> {
        let Some(named) = find!(ies, NodeId) else { return Ok(None) };
        let node_id = self.own_association(named, from)?;
        let here = self.sessions.look(seid).is_some_and(|session| session.node_id == node_id);
        if !here {
            self.refuse_too_many_sessions(&node_id)?;
        }
        Ok((!here).then_some(node_id))
    }

    /// Where reports go from now on, if a modification has a CP F-SEID.
    fn new_peer(&mut self, seid: Seid, new_owner: Option<&NodeId>, from: SocketAddr, ies: &[Ie]) -> Result<Option<SocketAddr>, Rejection> {
        let Some(cp) = find!(ies, FSeid) else { return Ok(None) };
        let node_id = match new_owner {
            Some(node_id) => node_id.clone(),
            None => self.sessions.look(seid).ok_or_else(|| not_found(seid))?.node_id.clone(),
        };
        self.refuse_anothers_f_seid(cp, from, &node_id)?;
        Ok(Some(self.report_address(cp, from, &node_id)))
    }

    pub(super) fn move_session(&mut self, seid: Seid, node_id: NodeId) {
        let Some(mut session) = self.sessions.open(seid) else { return };
        if let Some(association) = self.associations.get_mut(&session.node_id) {
            association.sessions.remove(&seid);
        }
        if let Some(association) = self.associations.get_mut(&node_id) {
            association.sessions.insert(seid);
            session.association = association.number;
        }
        session.node_id = node_id;
    }

    fn refuse_too_many_sessions(&self, node_id: &NodeId) -> Result<(), Rejection> {
        let Some(address) = self.associations.get(node_id).map(|association| association.source.ip()) else { return Ok(()) };
        let of_peer = self.associations.values().filter(|association| association.source.ip() == address);
        let count: usize = of_peer.map(|association| association.sessions.len()).sum();
        if count >= self.config.max_sessions_per_peer {
            return Err(Rejection::new(Cause::NO_RESOURCES, format!("{address} has {count} sessions already")));
        }
        Ok(())
    }

    /// Ends a session that waits for it, where a request was rejected for want of what that one holds; whether there was one.
    fn make_room(&mut self, rejection: &Rejection, now: Duration, plane: &mut dyn UserPlane) -> bool {
        let in_the_way = match rejection.holder {
            Some(holder) => Some(holder).filter(|seid| self.sessions.is_waiting(*seid)),
            None if rejection.cause == Cause::NO_RESOURCES => self.next_waiting(),
            None => None,
        };
        in_the_way.is_some_and(|seid| self.end_session(seid, now, plane) > 0)
    }

    /// Ends some of the sessions that wait for it.
    pub(super) fn end_some(&mut self, now: Duration, plane: &mut dyn UserPlane) {
        let mut spent = 0;
        while spent < RULES_ENDED_AT_ONCE
            && let Some(seid) = self.next_waiting()
        {
            spent += self.end_session(seid, now, plane);
        }
    }

    /// The next session to be ended.
    fn next_waiting(&mut self) -> Option<Seid> {
        self.sessions.next_waiting(|number| self.journal.remove(Key::Association(number)))
    }

    /// Ends a session without a request for it: the rules that it had, and one for itself; 0 if there was none.
    pub(super) fn end_session(&mut self, seid: Seid, now: Duration, plane: &mut dyn UserPlane) -> usize {
        let (rules, lost) = self.end(seid, now, plane);
        if let Some((count, why)) = lost
            && let Some(left_out) = self.may_log(LogCause::Usage, now)
        {
            tracing::warn!(seid = format!("{seid:#x}"), reports = count, left_out, "usage {}", LostUsage::from(why).text());
        }
        rules
    }

    /// Likewise; and how many reports its CP function cannot be told, for the log.
    pub(super) fn end(&mut self, seid: Seid, now: Duration, plane: &mut dyn UserPlane) -> (usize, Option<(u64, Unknown)>) {
        if !self.sessions.is_used(seid) {
            return (0, None);
        }
        let finals = match plane.commit(seid, None) {
            Ok(finals) => finals,
            Err(error) => {
                self.unsettled.insert(seid);
                self.commit_failed(seid, &error, "does not let go of a session", now);
                // Its packets may still pass: what has been counted so far is what can be told.
                let urrs = self.sessions.get_any(seid).map_or(Vec::new(), |session| session.context.rules.urrs.into_keys().collect());
                urrs.into_iter().map(|id| (id, plane.usage(seid, id))).collect()
            }
        };
        let lost = self.report_finals(seid, finals, now);
        (self.forget_session(seid), lost)
    }

    /// Has the final usage of a session reported that ends without a request for it (TEBUR). Of what was not used nothing is reported. How many reports its CP
    /// function cannot be told, as it does not know the session.
    fn report_finals(&mut self, seid: Seid, finals: Vec<(u32, Usage)>, now: Duration) -> Option<(u64, Unknown)> {
        let mut session = self.sessions.get_any(seid)?;
        let clock = self.clock();
        let mut reports = Vec::new();
        for (id, counters) in finals {
            let (Some(rule), Some(meter)) = (session.context.rules.urrs.get(&id), session.meters.get_mut(&id)) else { continue };
            if meter.has_usage(counters) {
                reports.extend(meter.report(id, rule, trigger::TEBUR, now, counters, clock));
            }
        }
        if reports.is_empty() {
            return None;
        }
        // Of an association that lives, a session ends so only because its CP function does not know it.
        let ending = self.sessions.ending(session.association).unwrap_or(Ending::Unknown(Unknown::NotFound));
        self.final_usage(ending, session, reports, now)
    }

    /// Counts a refusal of the user plane for which no request can be rejected.
    pub(super) fn commit_failed(&mut self, seid: Seid, error: &CommitError, what: &str, now: Duration) {
        self.stats.commit_failures += 1;
        if let Some(left_out) = self.may_log(LogCause::UserPlane, now) {
            tracing::error!(seid = format!("{seid:#x}"), ?error, left_out, "the user plane {what}");
        }
    }

    /// Tells the user plane again what it has refused though no request could be rejected for it.
    pub(super) fn settle_again(&mut self, plane: &mut dyn UserPlane) {
        let mut refused =
            |seid: &Seid| plane.commit(*seid, self.sessions.get(*seid).map(|session| session.context.rules).as_ref()).is_err();
        let told: Vec<Seid> = self.unsettled.iter().take(UNSETTLED_AT_ONCE).copied().collect();
        for seid in told.into_iter().filter(|seid| !refused(seid)) {
            self.unsettled.remove(&seid);
        }
    }

    /// Makes what hangs on a session's rules follow them: pools, meters, notices, indexes, timers.
    fn settle(&mut self, seid: Seid, change: Change, now: Duration, plane: &mut dyn UserPlane) {
        let Some(mut opened) = self.sessions.open(seid) else { return };
        let session = &mut *opened;
        let mut context = change.context;
        for held in session::unused(&context.held, &context.rules) {
            context.held.remove(&held);
            self.pools.give_back(held);
        }
        let before = std::mem::replace(&mut session.context, context);
        let sets = (before.sets != session.context.sets).then(|| session.context.sets.clone());
        let rules = &session.context.rules;
        let inactivity_s = rules.inactivity_s;

        let clock = WallClock { started_at_ntp_s: self.config.started_at_ntp_s };
        for id in &change.urrs_removed {
            drop_meter(&mut session.meters, &mut self.timers, &mut self.watch, seid, *id);
            self.journal.end_urr(seid, *id);
        }
        let mut known = BTreeMap::new();
        for id in &change.urrs_begun {
            let Some(rule) = rules.urrs.get(id) else { continue };
            // Counters of a URR begin at 0, but those of one created again with the same ID where its last report ended.
            let counters = change.counted.get(id).copied().unwrap_or_default();
            known.insert(*id, counters);
            session.meters.insert(*id, Meter::new(rule, now, counters, clock));
            self.journal.begin_urr(seid, *id, 0);
        }
        for (id, renewed) in change.urrs_renewed {
            if let (Some(meter), Some(rule)) = (session.meters.get_mut(&id), rules.urrs.get(&id)) {
                let counters = plane.usage(seid, id);
                known.insert(id, counters);
                meter.renew(rule, renewed, now, counters, clock);
            }
        }
        for (id, count_packets) in change.urrs_count_packets {
            if let Some(meter) = session.meters.get_mut(&id) {
                meter.count_packets = count_packets;
            }
        }
        let stale: Vec<u32> =
            session.notices.keys().filter(|id| change.fars_touched.contains(id) || !rules.fars.contains_key(id)).copied().collect();
        for far_id in stale {
            if let Some(Notice::Waiting { at, .. }) = session.notices.remove(&far_id) {
                self.timers.remove(&(at, Timer::Notify(seid, far_id)));
            }
        }
        session.refused_tunnels.clear();
        let quotas = session.quota_ends();

        let (old, new) = (peer_tunnels(&before.rules), peer_tunnels(rules));
        for (teid, ipv4) in old.difference(&new) {
            self.peer_tunnels.remove(&(*teid, *ipv4, seid));
        }
        for (teid, ipv4) in new.difference(&old) {
            self.peer_tunnels.insert((*teid, *ipv4, seid));
        }
        let urrs: Vec<u32> = if plane.outlasts() { rules.urrs.keys().copied().collect() } else { Vec::new() };
        drop(opened);
        self.note_cells(seid, &urrs, plane);
        if let Some(sets) = sets {
            self.note_sets(seid, &before.sets, &sets);
        }
        self.limit_usage(seid, &quotas, now, plane);
        self.watch(seid, &known, now);
        if before.rules.inactivity_s != inactivity_s {
            self.begin_activity(seid, now, plane);
        }
    }

    /// Tells the user plane where volume quotas end.
    pub(super) fn limit_usage(&mut self, seid: Seid, quotas: &[(u32, VolumeLimit)], now: Duration, plane: &mut dyn UserPlane) {
        for (urr_id, ends) in quotas {
            if let Err(error) = plane.limit_usage(seid, *urr_id, *ends) {
                self.commit_failed(seid, &error, "does not limit a session to its quota", now);
            }
        }
    }

    /// Makes what is looked at follow a session's URRs; `known`: counters that have just been read.
    pub(super) fn watch(&mut self, seid: Seid, known: &BTreeMap<u32, Usage>, now: Duration) {
        if let Some(mut session) = self.sessions.open_lazily(seid) {
            session.watch(seid, known, now, &mut self.watch, &mut self.timers);
        }
    }

    /// The number of its rules, and one.
    fn forget_session(&mut self, seid: Seid) -> usize {
        let Some(mut session) = self.sessions.remove(seid) else { return 0 };
        let rules = &session.context.rules;
        let rules_count = rules.pdrs.len() + rules.fars.len() + rules.qers.len() + rules.urrs.len() + rules.bars.len();
        for held in std::mem::take(&mut session.context.held) {
            self.pools.give_back(held);
        }
        for (teid, ipv4) in peer_tunnels(&session.context.rules) {
            self.peer_tunnels.remove(&(teid, ipv4, seid));
        }
        self.note_sets(seid, &session.context.sets, &[]);
        for id in session.context.rules.urrs.keys() {
            drop_meter(&mut session.meters, &mut self.timers, &mut self.watch, seid, *id);
            self.journal.end_urr(seid, *id);
        }
        self.drop_activity(seid, session.activity.take());
        for (far_id, notice) in session.notices {
            if let Notice::Waiting { at, .. } = notice {
                self.timers.remove(&(at, Timer::Notify(seid, far_id)));
            }
        }
        if let Some(association) = self.associations.get_mut(&session.node_id) {
            association.sessions.remove(&seid);
        }
        self.stats.ended += 1;
        rules_count + 1
    }

    /// A SEID that no session has.
    fn next_seid(&mut self) -> Seid {
        loop {
            self.sessions_made += 1;
            // Random, not scrambled: from however many of them, no other can be computed.
            let seid = self.random.as_mut().map_or(self.sessions_made, RngCore::next_u64);
            if seid != 0 && !self.sessions.is_used(seid) {
                return seid;
            }
        }
    }
}

fn drop_meter(meters: &mut BTreeMap<u32, Meter>, timers: &mut BTreeSet<(Duration, Timer)>, watch: &mut Watch, seid: Seid, urr_id: u32) {
    let Some(meter) = meters.remove(&urr_id) else { return };
    if let Some(at) = meter.deadline {
        timers.remove(&(at, Timer::Urr(seid, urr_id)));
    }
    watch.set_limit(seid, urr_id, meter.volume_deadline, None);
    if meter.awaits_traffic {
        watch.set_awaiting((seid, Some(urr_id)), false);
    }
}

fn not_found(seid: Seid) -> Rejection {
    Rejection::new(Cause::SESSION_CONTEXT_NOT_FOUND, format!("no session {seid:#x}"))
}

/// The rejection for what the user plane refused.
fn refused(error: CommitError) -> Rejection {
    match error {
        CommitError::Rule { rule, why } => Rejection::rule(rule, why),
        CommitError::Taken { rule, by, why } => Rejection::unavailable(rule, Some(by), why),
        CommitError::NoResources(why) => Rejection::new(Cause::NO_RESOURCES, why),
        CommitError::System(why) => Rejection::new(Cause::SYSTEM_FAILURE, why),
    }
}

/// The tunnels that a session's FARs forward to.
pub(super) fn peer_tunnels(rules: &SessionRules) -> BTreeSet<(u32, Ipv4Addr)> {
    let outer = rules.fars.values().filter_map(|far| far.forwarding.as_ref()?.outer_header);
    outer.map(|header| (header.teid, header.ipv4)).collect()
}
