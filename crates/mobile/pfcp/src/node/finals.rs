//! Usage that no CP function has acknowledged: final usage of sessions that ended without a request for it, and reports of sessions that nobody
//! answered. Reported at once if the CP function can be reached, or kept until it is heard again. A report that is sent again has the UR-SEQN that it had:
//! a CP function that got it before knows it by that (§5.2.2.3).
//!
//! A CP function that has restarted does not know the session, and may have given its SEID to another: nothing is reported to it then. That usage
//! is lost, and counted and logged as such.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, SocketAddr};
use std::ops::Bound;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::associations::Association;
use super::failover::{address_report, f_seid};
use super::journal::Key;
use super::requests::{OfUsage, Waiting};
use super::sessions::Session;
use super::sets::{HandOver, Set};
use super::{About, Node, Timer};
use crate::codec::{Cause, FSeid, Group, Ie, Message, MessageType, NodeId, decode, find};
use crate::rules::Seid;
use crate::stats::{LogCause, LostUsage};
use crate::work::steps;

/// Usage Report in Report Type (§8.2.21).
const USAR: u8 = 0x02;

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
    /// The address that has given the SEID.
    peer: SocketAddr,
    cp_seid: u64,
    /// Where it goes, if not there: the session was handed over. Known anew after a crash, or not.
    #[serde(skip)]
    to: Option<IpAddr>,
    /// Usage Report elements, encoded: sessions end by the million.
    reports: Vec<u8>,
    pub(super) count: u64,
}

/// For the log: whose it is.
impl std::fmt::Display for Final {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "CP SEID {:#x} of {}, {} reports", self.cp_seid, self.node_id, self.count)
    }
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

/// All of them. Their ids are in the order in which they came.
#[derive(Default)]
pub(super) struct Finals {
    all: BTreeMap<u64, (Place, Final)>,
    ready: BTreeMap<Lane, BTreeSet<u64>>,
    kept: BTreeMap<Until, BTreeSet<u64>>,
    kept_count: usize,
    /// Of each CP function.
    shares: BTreeMap<NodeId, Share>,
    by_session: BTreeSet<(Seid, u64)>,
    /// Whose turn was last.
    last: Option<Lane>,
    next_id: u64,
}

/// What one CP function has of the room.
#[derive(Default)]
struct Share {
    /// Of sessions that had not ended when the report was made, and of those that had.
    of_sessions: BTreeSet<u64>,
    finals: BTreeSet<u64>,
}

impl Share {
    fn len(&self) -> usize {
        self.of_sessions.len() + self.finals.len()
    }
}

#[derive(Clone, Debug)]
enum Place {
    Ready(Lane),
    Kept(Until),
}

/// Those to be sent take turns by it: what has no room holds up only what goes the same way.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
struct Lane {
    node_id: NodeId,
    address: IpAddr,
    /// It was sent before, and leaves room for what is new.
    again: bool,
}

/// When one that is kept is sent again.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Until {
    /// Its CP function is heard.
    Heard(NodeId),
    /// This address of it is heard: another SMF of the set does not know the session.
    HeardFrom(IpAddr),
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
        (f_seid(self.cp_seid, address), address)
    }

    pub(super) fn reports(&self) -> &[u8] {
        &self.reports
    }

    /// Where it goes.
    fn goes_to(&self) -> SocketAddr {
        self.to.map_or(self.peer, |to| SocketAddr::new(to, self.peer.port()))
    }

    fn lane(&self) -> Lane {
        Lane { node_id: self.node_id.clone(), address: self.goes_to().ip(), again: self.seid.is_some() }
    }
}

impl Finals {
    /// Those to be sent.
    pub(super) fn ready(&self) -> usize {
        self.all.len() - self.kept_count
    }

    /// Those kept for CP functions out of reach.
    pub(super) fn kept(&self) -> usize {
        self.kept_count
    }

    fn put(&mut self, this: Final, place: Place) {
        let id = this.id;
        let share = self.shares.entry(this.node_id.clone()).or_default();
        match this.seid {
            Some(seid) => {
                share.of_sessions.insert(id);
                self.by_session.insert((seid, id));
            }
            None => drop(share.finals.insert(id)),
        }
        match &place {
            Place::Ready(lane) => drop(self.ready.entry(lane.clone()).or_default().insert(id)),
            Place::Kept(until) => {
                self.kept.entry(until.clone()).or_default().insert(id);
                self.kept_count += 1;
            }
        }
        self.all.insert(id, (place, this));
    }

    fn take(&mut self, id: u64) -> Option<Final> {
        let (place, this) = self.all.remove(&id)?;
        if let Some(share) = self.shares.get_mut(&this.node_id) {
            share.of_sessions.remove(&id);
            share.finals.remove(&id);
            if share.len() == 0 {
                self.shares.remove(&this.node_id);
            }
        }
        if let Some(seid) = this.seid {
            self.by_session.remove(&(seid, id));
        }
        match place {
            Place::Ready(lane) => take_from(&mut self.ready, lane, id),
            Place::Kept(until) => {
                self.kept_count -= 1;
                take_from(&mut self.kept, until, id);
            }
        }
        Some(this)
    }

    /// Which one makes room for another, where there is no more: the oldest of the CP function that has most, so that none takes the others' room.
    /// A session that lives will tell more; of one that ended this is the last that can be told.
    fn makes_room_for(&self, this: &Final) -> Option<u64> {
        steps(self.shares.len());
        let own = self.shares.get(&this.node_id);
        let most = self.shares.values().max_by_key(|share| share.len())?;
        if most.len() > own.map_or(0, Share::len) {
            return most.of_sessions.first().or_else(|| most.finals.first()).copied();
        }
        own.filter(|_| this.seid.is_none())?.of_sessions.first().copied()
    }

    /// Those that wait for the address that knows their session, of one CP function.
    fn waiting_for_owners(&self, node_id: &NodeId) -> Vec<u64> {
        let all = self.kept.iter().filter(|(until, _)| matches!(until, Until::HeardFrom(_))).flat_map(|(_, ids)| ids);
        all.filter(|id| self.all.get(id).is_some_and(|(_, this)| this.node_id == *node_id)).copied().collect()
    }

    /// Those of one session, oldest first.
    fn of_session(&self, seid: Seid) -> Vec<u64> {
        self.by_session.range((seid, 0)..=(seid, u64::MAX)).map(|(_, id)| *id).collect()
    }

    /// Those whose turn it is, beginning behind the one whose was last.
    fn turns(&self) -> VecDeque<Lane> {
        let Some(last) = &self.last else { return self.ready.keys().cloned().collect() };
        let behind = self.ready.range((Bound::Excluded(last), Bound::Unbounded));
        behind.chain(self.ready.range(..=last)).map(|(lane, _)| lane.clone()).collect()
    }

    /// The first of those that go one way.
    fn first(&self, lane: &Lane) -> Option<&Final> {
        let id = self.ready.get(lane)?.first()?;
        self.all.get(id).map(|(_, this)| this)
    }
}

fn take_from<K: Ord>(queues: &mut BTreeMap<K, BTreeSet<u64>>, key: K, id: u64) {
    let Some(queue) = queues.get_mut(&key) else { return };
    queue.remove(&id);
    if queue.is_empty() {
        queues.remove(&key);
    }
}

impl Node {
    /// Takes the final usage reports of a session, at least one. How many its CP function cannot be told, as it does not know the session: the caller says so.
    pub(super) fn final_usage(&mut self, ending: Ending, session: Session, reports: Vec<Group>, now: Duration) -> Option<(u64, Unknown)> {
        if let Ending::Unknown(why) = ending {
            self.count_lost(reports.len() as u64, why.into());
            return Some((reports.len() as u64, why));
        }
        let to = Some(self.reports_to(&session).ip()).filter(|to| *to != session.peer.ip());
        let Session { node_id, peer, cp, .. } = session;
        let cp_seid = cp.seid;
        let count = reports.len() as u64;
        let ies = reports.into_iter().map(Ie::UsageReportInReportRequest).collect();
        let message = Message::session(MessageType::SessionReportRequest, cp_seid, 0, ies);
        let Ok(reports) = message.encode() else {
            self.usage_lost(&format_args!("CP SEID {cp_seid:#x} of {node_id}"), count, LostUsage::TooLong, now);
            return None;
        };
        let this = |stamp| Final { id: 0, seid: None, node_id, stamp, peer, cp_seid, to, reports, count };
        match ending {
            Ending::Told(stamp) => self.final_ready(this(stamp), now),
            Ending::OutOfReach(stamp) => self.keep_final(this(stamp), now),
            Ending::Unknown(_) => {}
        }
        None
    }

    /// Final usage that was recorded before a crash.
    pub(super) fn final_again(&mut self, this: Final, now: Duration) {
        let lives = this.seid.is_some_and(|seid| self.sessions.get(seid).is_some());
        match self.associations.get(&this.node_id).map(|association| association.ending()) {
            Some(Ending::Told(stamp)) if stamp == this.stamp || lives => self.final_ready(this, now),
            Some(Ending::Told(_)) => self.usage_lost(&this, this.count, LostUsage::Restarted, now),
            _ => self.keep_final(this, now),
        }
    }

    fn final_ready(&mut self, this: Final, now: Duration) {
        let lane = this.lane();
        self.put_final(this, Place::Ready(lane), now);
    }

    fn keep_final(&mut self, this: Final, now: Duration) {
        let until = Until::Heard(this.node_id.clone());
        self.put_final(this, Place::Kept(until), now);
    }

    /// Enters one under a new id, if there is room: all of it may be the final usage of as many sessions as there may be.
    fn put_final(&mut self, mut this: Final, place: Place, now: Duration) {
        if self.finals.all.len() >= self.config.max_sessions {
            let Some(dropped) = self.finals.makes_room_for(&this).and_then(|id| self.finals.take(id)) else {
                return self.usage_lost(&this, this.count, LostUsage::Full, now);
            };
            self.journal.remove(Key::Final(dropped.id));
            self.usage_lost(&dropped, dropped.count, LostUsage::Full, now);
        }
        self.finals.next_id += 1;
        this.id = self.finals.next_id;
        self.journal.put(Key::Final(this.id), &this);
        self.finals.put(this, place);
    }

    /// `of`: whose it is, for the log.
    pub(super) fn usage_lost(&mut self, of: &dyn std::fmt::Display, count: u64, why: LostUsage, now: Duration) {
        self.count_lost(count, why);
        if let Some(left_out) = self.may_log(LogCause::Usage, now) {
            tracing::warn!(%of, reports = count, left_out, "usage {}", why.text());
        }
    }

    /// As [`Node::usage_lost`], where the log says so otherwise.
    pub(super) fn count_lost(&mut self, count: u64, why: LostUsage) {
        self.stats.lost_usage_reports += count;
        *self.stats.lost_usage.entry(why).or_default() += count;
    }

    /// A report of a session's usage that nobody answered, or that there was no room to send: kept until its CP function is heard again.
    pub(super) fn keep_usage(&mut self, seid: Seid, of: OfUsage, to: SocketAddr, message: Message, now: Duration) {
        match self.of_usage(seid, of, to, message) {
            Ok(this) => self.keep_final(this, now),
            Err(count) => self.usage_lost(&format_args!("session {seid:#x}"), count, LostUsage::TooLong, now),
        }
    }

    /// A report that another SMF of the set rejected, as it does not know the session: kept until the address that has it is heard.
    pub(super) fn keep_usage_for(&mut self, owner: IpAddr, seid: Seid, of: &OfUsage, from: SocketAddr, octets: &[u8], now: Duration) {
        let this = decode(octets).map_err(|_| of.count).and_then(|message| self.of_usage(seid, of.clone(), from, message));
        match this {
            Ok(this) => self.put_final(this, Place::Kept(Until::HeardFrom(owner)), now),
            Err(count) => self.usage_lost(&format_args!("session {seid:#x}"), count, LostUsage::TooLong, now),
        }
    }

    /// The usage that a report told, as that of the CP function that has its session now; or how many reports cannot be encoded.
    fn of_usage(&self, seid: Seid, of: OfUsage, to: SocketAddr, message: Message) -> Result<Final, u64> {
        let OfUsage { mut node_id, mut stamp, count } = of;
        let session = self.sessions.get(seid);
        if let Some(session) = &session {
            (node_id, stamp) = (session.node_id.clone(), self.stamp_of(&session.node_id).unwrap_or(stamp));
        }
        // Of a session that has ended meanwhile the report itself says whose it was.
        let own = find!(message.ies, FSeid).copied();
        let (cp_seid, peer) = match (session, own) {
            (Some(session), _) => (session.cp.seid, session.peer),
            (None, Some(own)) => (own.seid, SocketAddr::new(self.report_address(&own, to, &node_id).ip(), to.port())),
            (None, None) => (message.seid.unwrap_or(0), to),
        };
        let ies = message.ies.into_iter().filter(|ie| matches!(ie, Ie::UsageReportInReportRequest(_))).collect();
        let reports = Message::session(MessageType::SessionReportRequest, cp_seid, 0, ies).encode().map_err(|_| count)?;
        Ok(Final { id: 0, seid: Some(seid), node_id, stamp, peer, cp_seid, to: None, reports, count })
    }

    fn stamp_of(&self, node_id: &NodeId) -> Option<u32> {
        self.associations.get(node_id).map(|association| association.identity().0)
    }

    /// A session's CP function is another one, or is elsewhere: what is left to be told of the session is told to it.
    pub(super) fn usage_follows(&mut self, seid: Seid) {
        let ids = self.finals.of_session(seid);
        if ids.is_empty() {
            return;
        }
        let Some(session) = self.sessions.get(seid) else { return };
        for id in ids {
            let Some(mut this) = self.finals.take(id) else { continue };
            self.aim(&mut this, &session);
            self.journal.put(Key::Final(id), &this);
            let lane = this.lane();
            self.finals.put(this, Place::Ready(lane));
        }
    }

    /// Makes usage of a session that lives go where the session's reports go.
    fn aim(&self, this: &mut Final, session: &Session) {
        this.stamp = self.stamp_of(&session.node_id).unwrap_or(this.stamp);
        this.node_id.clone_from(&session.node_id);
        (this.peer, this.cp_seid) = (session.peer, session.cp.seid);
        this.to = Some(self.reports_to(session).ip()).filter(|to| *to != session.peer.ip());
    }

    /// Sets of a CP function's sessions were handed over: what waits for the address that has given their SEIDs, which may never be heard again, is
    /// told to who has them now. Of a session that has ended it is not known which sets it was in, if not by that address: it is tried once.
    pub(super) fn usage_handed_over(&mut self, node_id: &NodeId, sets: &[(Set, HandOver)]) {
        for id in self.finals.waiting_for_owners(node_id) {
            let Some(mut this) = self.finals.take(id) else { continue };
            let place = Place::Kept(Until::HeardFrom(this.peer.ip()));
            match this.seid.and_then(|seid| self.sessions.get(seid)) {
                Some(session) => self.aim(&mut this, &session),
                None => {
                    let by_address = Set::CpAddress(this.peer.ip());
                    let named = sets.iter().find(|(set, _)| *set == by_address).or(sets.first());
                    this.to = named.map(|(_, hand_over)| hand_over.to).filter(|to| *to != this.peer.ip());
                }
            }
            if this.to.is_none() {
                self.finals.put(this, place);
                continue;
            }
            self.journal.put(Key::Final(id), &this);
            let lane = this.lane();
            self.finals.put(this, Place::Ready(lane));
        }
    }

    /// What of a session that is being deleted no CP function has acknowledged: for the answer, so far as there is `room`, in octets. And whether some
    /// is pending besides: a request that has just been sent for the first time is taken for one that arrives, and what had no room is sent.
    pub(super) fn unacknowledged(&mut self, seid: Seid, mut room: usize) -> (Vec<Group>, bool) {
        let (mut reports, mut pending) = (Vec::new(), false);
        let mut add = |octets: &[u8]| {
            let ies = decode(octets).map_or(Vec::new(), |message| message.ies);
            reports
                .extend(ies.into_iter().filter_map(|ie| if let Ie::UsageReportInReportRequest(report) = ie { Some(report) } else { None }));
        };
        for sequence in self.requests.usage_of(seid) {
            let first = self.config.n1 - 1;
            let Some(waiting) = self.requests.get_mut(sequence) else { continue };
            if (waiting.sends_left == first && waiting.moves == 0) || waiting.octets.len() > room {
                pending = true;
                continue;
            }
            room -= waiting.octets.len();
            if let Some(waiting) = self.requests.remove(sequence) {
                self.timers.remove(&(waiting.deadline, Timer::Resend(sequence)));
                self.forget_request(sequence, &waiting.about);
                add(&waiting.octets);
            }
        }
        for id in self.finals.of_session(seid) {
            match self.finals.all.get(&id) {
                Some((_, this)) if this.reports.len() <= room => room -= this.reports.len(),
                _ => {
                    pending = true;
                    continue;
                }
            }
            if let Some(this) = self.finals.take(id) {
                self.journal.remove(Key::Final(id));
                add(&this.reports);
            }
        }
        (reports, pending)
    }

    /// Whether a request that would be sent again is withdrawn. What its CP function has restarted since, or seems to have, is not told a report: the
    /// SEID may be another session's now. Nor is anybody told what other reports say of a session that is over.
    pub(super) fn withdrawn(&mut self, sequence: u32, now: Duration) -> bool {
        let Some(waiting) = self.requests.get_mut(sequence) else { return false };
        let (node_id, stamp) = match &waiting.about {
            About::Usage(_, of) => (&of.node_id, of.stamp),
            About::Final(this) => (&this.node_id, this.stamp),
            About::DownlinkData(seid, _) | About::ErrorIndication(seid, ..) | About::Inactivity(seid) => {
                let is_over = self.sessions.get(*seid).is_none();
                if is_over && let Some(waiting) = self.requests.remove(sequence) {
                    self.forget_request(sequence, &waiting.about);
                }
                return is_over;
            }
            About::Heartbeat(..) | About::Setup(_) | About::Release | About::NodeReport => return false,
        };
        let Some(association) = self.associations.get(node_id) else { return false };
        let has_restarted = association.identity().0 != stamp;
        if !has_restarted && !association.seems_restarted() {
            return false;
        }
        let Some(Waiting { to, octets, about, .. }) = self.requests.remove(sequence) else { return false };
        self.forget_request(sequence, &about);
        match about {
            // It lives with another CP function of the set.
            About::Usage(seid, of) if !has_restarted || self.sessions.get(seid).is_some() => match decode(&octets) {
                Ok(message) => {
                    self.keep_usage(seid, *of, to, message, now);
                    if has_restarted {
                        self.usage_follows(seid);
                    }
                }
                Err(_) => self.usage_lost(&format_args!("session {seid:#x}"), of.count, LostUsage::TooLong, now),
            },
            About::Final(this) if !has_restarted => self.keep_final(*this, now),
            about => self.usage_lost(&about, about.reports(), LostUsage::Restarted, now),
        }
        true
    }

    /// A CP function speaks from an address: what is kept for it is sent again, unless it has restarted, or seems to have.
    pub(super) fn send_kept_to(&mut self, from: IpAddr, message: &Message, now: Duration) {
        if self.finals.kept_count == 0 || message.kind == MessageType::VersionNotSupportedResponse {
            return;
        }
        let stamp = find!(message.ies, RecoveryTimeStamp).copied();
        let knows = |association: &Association| match stamp {
            Some(stamp) => stamp == association.identity().0,
            None => !association.seems_restarted(),
        };
        let here = |until: &&Until| {
            let Until::Heard(node_id) = until else { return false };
            let Some(association) = self.associations.get(node_id) else { return false };
            // Another SMF of the set has a time stamp of its own.
            association.is_of(from, &self.config) && knows(association)
                || self.other_of_set_at(association, from).and_then(|other| self.associations.get(&other)).is_some_and(knows)
        };
        let heard: Vec<Until> = self.finals.kept.keys().filter(here).cloned().collect();
        let one = Until::HeardFrom(from);
        let of_one = self.finals.kept.get(&one).and_then(BTreeSet::first).and_then(|id| self.finals.all.get(id));
        let one = of_one.and_then(|(_, this)| self.associations.get(&this.node_id)).is_some_and(knows).then_some(one);
        for until in heard.into_iter().chain(one) {
            let ids = self.finals.kept.get(&until).cloned().unwrap_or_default();
            self.send_kept(ids, now);
        }
    }

    /// A CP function is associated: what was kept for it is sent, unless it has restarted.
    pub(super) fn send_kept_finals(&mut self, node_id: &NodeId, now: Duration) {
        let mut ids = self.finals.kept.get(&Until::Heard(node_id.clone())).cloned().unwrap_or_default();
        ids.extend(self.finals.waiting_for_owners(node_id));
        self.send_kept(ids, now);
    }

    fn send_kept(&mut self, ids: BTreeSet<u64>, now: Duration) {
        for id in ids {
            let Some(mut this) = self.finals.take(id) else { continue };
            let session = this.seid.and_then(|seid| self.sessions.get(seid));
            match (session, self.associations.get(&this.node_id)) {
                // It lives, and so its CP function has not restarted.
                (Some(session), _) => self.aim(&mut this, &session),
                (None, Some(association)) if association.identity().0 != this.stamp => {
                    self.journal.remove(Key::Final(id));
                    self.usage_lost(&this, this.count, LostUsage::Restarted, now);
                    continue;
                }
                // It is elsewhere now. Another of its addresses is no reason: a SEID means a session only at the one that has given it.
                (None, Some(association)) if !association.is_of(this.peer.ip(), &self.config) => this.peer = association.identity().1,
                (None, _) => {}
            }
            let lane = this.lane();
            self.finals.put(this, Place::Ready(lane));
        }
    }

    /// Sends what there is room for, in turns. What waits for one CP function does not hold up another's.
    pub(super) fn send_finals(&mut self, now: Duration) {
        let mut turns = self.finals.turns();
        while let Some(lane) = turns.pop_front() {
            if self.send_first(&lane, now) {
                self.finals.last = Some(lane.clone());
                turns.push_back(lane);
            }
        }
    }

    /// Sends the first of those that go one way; whether there may be room for another.
    fn send_first(&mut self, lane: &Lane, now: Duration) -> bool {
        let Some(this) = self.finals.first(lane) else { return false };
        let session = this.seid.and_then(|seid| self.sessions.get(seid).map(|session| (seid, session)));
        let association = self.associations.get(&this.node_id);
        if session.is_none() && association.is_some_and(|association| association.identity().0 != this.stamp) {
            let id = this.id;
            let Some(this) = self.finals.take(id) else { return false };
            self.journal.remove(Key::Final(id));
            self.usage_lost(&this, this.count, LostUsage::Restarted, now);
            return true;
        }
        let peer = match &session {
            Some((_, session)) => self.reports_to(session),
            None => association.map_or(this.goes_to(), |association| self.heard_at(association, this.goes_to())),
        };
        // What was given up before leaves room for what is new.
        if association.is_some_and(Association::seems_restarted)
            || self.requests.is_full(peer.ip())
            || (lane.again && !self.requests.has_room_again(peer.ip()))
        {
            return false;
        }
        let id = this.id;
        let Some(this) = self.finals.take(id) else { return false };
        self.journal.remove(Key::Final(id));
        let (count, is_new) = (this.count, this.seid.is_none());
        let Ok(message) = decode(&this.reports) else {
            self.usage_lost(&this, count, LostUsage::TooLong, now);
            return true;
        };
        let ies = [vec![Ie::ReportType(USAR)], message.ies].concat();
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
        let of = about.to_string();
        if self.request(peer, message, about, now) {
            self.stats.usage_reports += if is_new { count } else { 0 };
        } else {
            self.usage_lost(&of, count, LostUsage::TooLong, now);
        }
        true
    }

    /// The response to a report of usage.
    pub(super) fn usage_answered(&mut self, of: &dyn std::fmt::Display, count: u64, cause: Option<Cause>, now: Duration) {
        match cause {
            Some(cause) if cause.is_accepted() => {}
            Some(Cause::SESSION_CONTEXT_NOT_FOUND) => self.usage_lost(of, count, LostUsage::NotFound, now),
            _ => self.usage_lost(of, count, LostUsage::Rejected, now),
        }
    }

    /// The response to a final report. What another SMF of the set does not know, the one that had the session may.
    pub(super) fn final_answered(&mut self, mut this: Final, from: IpAddr, cause: Option<Cause>, now: Duration) {
        let owner = this.peer.ip();
        if cause == Some(Cause::SESSION_CONTEXT_NOT_FOUND) && owner != from {
            this.to = None;
            return self.put_final(this, Place::Kept(Until::HeardFrom(owner)), now);
        }
        self.usage_answered(&this, this.count, cause, now);
    }

    /// Gives up all usage that is not acknowledged: nobody waits for it any longer.
    pub fn abandon_final_reports(&mut self, now: Duration) {
        let mut count = 0;
        for (sequence, waiting) in self.requests.take_usage() {
            self.timers.remove(&(waiting.deadline, Timer::Resend(sequence)));
            self.forget_request(sequence, &waiting.about);
            count += waiting.about.reports();
        }
        for (id, (_, this)) in std::mem::take(&mut self.finals.all) {
            self.journal.remove(Key::Final(id));
            count += this.count;
        }
        self.finals = Finals { next_id: self.finals.next_id, ..Finals::default() };
        if count > 0 {
            self.usage_lost(&"all sessions", count, LostUsage::End, now);
        }
    }

    /// A final report was given up: the CP function is out of reach.
    pub(super) fn final_unanswered(&mut self, this: Final, now: Duration) {
        self.keep_final(this, now);
    }
}
