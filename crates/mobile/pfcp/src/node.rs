//! The UP function's side of N4: what it does with each message, timer and event.
//!
//! [`Node`] has no socket and no clock. Its owner gives it datagrams ([`Node::receive`]), the time ([`Node::handle_timeout`]
//! at [`Node::next_deadline`]) and events of the user plane, and sends what [`Node::poll_transmit`] gives. Time is the
//! duration since the node began and never goes back.
//!
//! Not supported, and rejected as such: PFD management (TS 29.244 §6.2.5).

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;

use rand_chacha::ChaCha12Rng;
use rand_chacha::rand_core::{RngCore, SeedableRng};

use crate::codec::{self, Cause, CsidNode, DecodeError, FSeid, Group, Ie, Message, MessageType, NodeId, UpFeatures, find};
use crate::config::{Config, ConfigError, RequestPort};
use crate::pool::Pools;
use crate::rules::{Seid, SessionRules, UserPlane};
use crate::session::{Rejection, refuse_unsupported};
use crate::stats::{Drop, LogCause, LogLimit, LostUsage, MessageCounts, Stats};
use crate::usage::WallClock;
use crate::work::steps;

mod answers;
mod associations;
mod failover;
mod finals;
mod journal;
mod load;
mod paths;
mod peers;
mod reports;
mod requests;
mod restore;
mod sessions;
mod sets;
mod store;
mod watch;

use answers::Answers;
use associations::{Association, LostPeers};
use finals::{Ending, Finals};
use journal::Journal;
use load::Load;
use peers::{Budget, Peers, Rows};
use requests::{About, Requests, Waiting};
use store::Sessions;
use watch::Watch;

pub use journal::Change;
pub use restore::{Given, Read, Restored, Restoring, Saved, SavedError, Spent, Together};
pub(crate) use sets::{Set, sets};

/// Longest reason of a rejection in the log, in characters: some quote names of the peer's.
const MAX_WHY: usize = 300;

/// SARR of PFCP Association Release Request: the CP function is to release the association (§7.4.4.3).
const SARR: u8 = 1 << 0;

/// Limit of messages processed in one datagram.
const MAX_BUNDLED: usize = 16;

/// Timers that one call of [`Node::handle_timeout`] looks at, each of which may send a report: a millisecond's work. What is left is due at once, after
/// the messages that have come meanwhile.
const TIMERS_AT_ONCE: usize = 64;
/// What it spends on sessions that wait to be ended, in rules: some milliseconds' work.
const RULES_ENDED_AT_ONCE: usize = 256;

/// Sessions that wait to be ended that a request may end before their turn, to have their room.
const ENDED_FOR_A_REQUEST: usize = 16;

/// The PFCP agent of a UP function.
pub struct Node {
    config: Config,
    features: UpFeatures,
    associations: BTreeMap<NodeId, Association>,
    /// Peers whose associations have ended as they answered no heartbeats, until they associate again.
    lost_peers: LostPeers,
    sessions: Sessions,
    pools: Pools,
    /// Sessions by the peer tunnels that their FARs forward to.
    peer_tunnels: BTreeSet<(u32, Ipv4Addr, Seid)>,
    /// Sessions by the CSIDs that they were established with.
    csids: BTreeSet<(CsidNode, u16, Seid)>,
    /// What is to be looked at as packets are carried.
    watch: Watch,
    /// Final usage that is still to be reported.
    finals: Finals,
    /// Sessions whose last change the user plane refused; it is retried with each usage poll.
    unsettled: BTreeSet<Seid>,
    /// Addresses of CP functions that did not answer, while others of the same ones may.
    silent: BTreeSet<IpAddr>,
    timers: BTreeSet<(Duration, Timer)>,
    requests: Requests,
    answers: Answers,
    peers: Peers,
    error_budgets: ErrorBudgets,
    load: Load,
    transmit: VecDeque<(SocketAddr, Vec<u8>)>,
    /// What has changed that is kept for after a crash.
    journal: Journal,
    /// Peers that we asked for an association, and will ask again.
    /// And when each is asked again.
    wanted_peers: BTreeMap<SocketAddr, Option<Duration>>,
    sessions_made: u64,
    /// SEIDs come from it; `None`: they count.
    random: Option<ChaCha12Rng>,
    closing: bool,
    /// CP functions were asked to release their associations.
    leaving: bool,
    draining: bool,
    /// Records cannot be written for now.
    store_away: bool,
    /// Refusals for that, which need not wait for it.
    refusals: VecDeque<(SocketAddr, Vec<u8>)>,
    stats: Stats,
    log: LogLimit,
}

/// What may be reported of error indications.
struct ErrorBudgets {
    of_sessions: Rows,
    of_gtpu_peers: Rows,
    of_cp_functions: Rows,
    all: Budget,
}

/// What is to be done at a time.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
enum Timer {
    /// Send a request again, or give it up.
    Resend(u32),
    /// Send a heartbeat.
    Heartbeat(NodeId),
    /// Ask for an association again.
    Associate(SocketAddr),
    /// A peer that was lost at this time has not come back.
    Abandon(NodeId, Duration),
    /// The notification delay of a FAR is over.
    Notify(Seid, u32),
    /// A URR is due by time.
    Urr(Seid, u32),
    /// Whether a session's user plane is still active.
    Activity(Seid),
}

/// A session, for the live view: as it was when it was asked for.
#[derive(Clone, Debug)]
pub struct SessionView {
    /// Our SEID.
    pub seid: Seid,
    /// The CP function's F-SEID.
    pub cp: FSeid,
    /// Node ID of the CP function.
    pub node_id: NodeId,
    /// Where reports go.
    pub peer: SocketAddr,
    /// Its rules.
    pub rules: SessionRules,
    /// DNN, if the CP function sent it; lower case.
    pub dnn: Option<String>,
    /// When it was established.
    pub since: Duration,
}

/// An association, for the live view.
#[derive(Clone, Debug)]
pub struct AssociationView<'a> {
    /// The peer's Node ID.
    pub node_id: &'a NodeId,
    /// Where requests to it go.
    pub peer: SocketAddr,
    /// The peer's recovery time stamp, NTP seconds.
    pub recovery_ntp_s: u32,
    /// Sessions of it.
    pub sessions: usize,
    /// Since when it answers no heartbeats. Without [`OnLoss::Keep`](crate::config::OnLoss::Keep) the association is over then.
    pub lost_at: Option<Duration>,
    /// When it was set up.
    pub since: Duration,
}

impl Node {
    /// A node without associations.
    pub fn new(config: Config) -> Result<Node, ConfigError> {
        config.validate()?;
        let mut random = config.seed.map(ChaCha12Rng::from_seed);
        let mut key = || random.as_mut().map_or(0, RngCore::next_u64);
        let mut node = Node {
            features: config.features(),
            associations: BTreeMap::new(),
            lost_peers: LostPeers::default(),
            sessions: Sessions::default(),
            pools: Pools::new(&config),
            peer_tunnels: BTreeSet::new(),
            csids: BTreeSet::new(),
            watch: Watch::default(),
            finals: Finals::default(),
            unsettled: BTreeSet::new(),
            silent: BTreeSet::new(),
            timers: BTreeSet::new(),
            requests: Requests::new(config.max_outstanding, config.max_outstanding_per_peer),
            answers: Answers::new(config.answer_lifetime, config.max_answers, config.max_answers_per_peer),
            peers: Peers::new(key()),
            error_budgets: ErrorBudgets {
                of_sessions: Rows::new(key()),
                of_gtpu_peers: Rows::new(key()),
                of_cp_functions: Rows::new(key()),
                all: Budget::default(),
            },
            load: Load::default(),
            transmit: VecDeque::new(),
            wanted_peers: BTreeMap::new(),
            sessions_made: 0,
            random,
            closing: false,
            leaving: false,
            draining: false,
            store_away: false,
            refusals: VecDeque::new(),
            stats: Stats::default(),
            log: LogLimit::default(),
            journal: Journal::new(config.records),
            config,
        };
        if node.journal.is_on() {
            node.sessions.note_changes();
            node.note_node(Duration::ZERO);
        }
        Ok(node)
    }

    /// Whether [`Node::change`] can be called with this configuration: what is wrong with a pool, by its position.
    ///
    /// # Errors
    /// If addresses of a pool that would go are in use and a new pool has them, or if the first pool would come or the last one go: what is announced to peers
    /// follows from that.
    pub fn check_change(&self, config: &Config) -> Result<(), (usize, String)> {
        if config.ue_pools.is_empty() != self.config.ue_pools.is_empty() {
            return Err((
                0,
                "the first pool comes, and the last one goes, with a restart: peers are told of UE address allocation when they associate"
                    .into(),
            ));
        }
        self.pools.check_ue_pools(&config.ue_pools)
    }

    /// Takes over, of a configuration that is valid and was checked, while sessions live: pools of UE addresses, addresses that tunnels end at, who may speak,
    /// limits for each peer, and what becomes of the sessions of a peer that is lost. The user plane has refused that an address goes which sessions
    /// have tunnels at.
    pub fn change(&mut self, config: &Config) {
        self.pools.set_ue_pools(&config.ue_pools);
        self.pools.set_gtpu(&config.gtpu);
        self.config.gtpu.clone_from(&config.gtpu);
        let Config { peers, max_sessions_per_peer, max_associations_per_peer, messages_per_second, .. } = config;
        (self.config.ue_pools, self.config.peers) = (config.ue_pools.clone(), peers.clone());
        (self.config.max_sessions_per_peer, self.config.max_associations_per_peer) = (*max_sessions_per_peer, *max_associations_per_peer);
        self.config.messages_per_second = *messages_per_second;
        (self.config.error_indications_per_second, self.config.on_loss) = (config.error_indications_per_second, config.on_loss);
        // Nobody waits for one that the operator does not list any more.
        let config = &self.config;
        self.lost_peers.retain(|address| config.allows(address));
    }

    /// Handles a datagram from a peer; `now` is the time since the node began.
    pub fn receive(&mut self, from: SocketAddr, bytes: &[u8], now: Duration, plane: &mut dyn UserPlane) {
        self.stats.received += 1;
        if !self.config.allows(from.ip()) {
            return self.drop_stranger(from, now);
        }
        self.heard(from.ip());
        let mut rest = bytes;
        for _ in 0..MAX_BUNDLED {
            let main = || associations::main_address(&self.associations, &self.config, from.ip());
            if !self.peers.admits(from.ip(), main, rest, self.config.messages_per_second, now) {
                return self.drop_datagram(from, Drop::OverRate, now);
            }
            match codec::decode_first(rest) {
                Ok((message, after)) if message.follow_on || after.is_empty() => {
                    let octets = &rest[..rest.len() - after.len()];
                    self.message(from, &message, octets, now, plane);
                    rest = after;
                }
                // Octets that no message claims: the Length is wrong (§7.6.2).
                Ok(_) => return self.drop_datagram(from, Drop::Length, now),
                Err(error) => return self.undecodable(from, error, now),
            }
            if rest.is_empty() {
                return;
            }
        }
        self.drop_datagram(from, Drop::Bundle, now);
    }

    /// The next datagram to send, with its destination. To be called until it gives `None` after every other call.
    pub fn poll_transmit(&mut self) -> Option<(SocketAddr, Vec<u8>)> {
        let next = self.transmit.pop_front();
        self.stats.sent += u64::from(next.is_some());
        next
    }

    /// Whether records cannot be written for now. Then requests that would change anything are refused: [`Node::poll_refusal`].
    pub fn set_store_away(&mut self, away: bool) {
        self.store_away = away;
    }

    /// The next refusal to send: unlike what [`Node::poll_transmit`] gives it waits for no records, as nothing has changed.
    pub fn poll_refusal(&mut self) -> Option<(SocketAddr, Vec<u8>)> {
        let next = self.refusals.pop_front();
        self.stats.sent += u64::from(next.is_some());
        next
    }

    /// When [`Node::handle_timeout`] wants to be called next.
    pub fn next_deadline(&self) -> Option<Duration> {
        if self.sessions.waiting() > 0 {
            return Some(Duration::ZERO);
        }
        self.timers.first().map(|(at, _)| *at)
    }

    /// Does what is due at `now`: retransmissions, heartbeats, delayed notifications, periodic and timed reports, and the end of
    /// sessions whose association is over. A bounded part of it: [`Node::next_deadline`] says whether there is more.
    pub fn handle_timeout(&mut self, now: Duration, plane: &mut dyn UserPlane) {
        self.end_some(now, plane);
        let mut due = Vec::new();
        while let Some((at, _)) = self.timers.first()
            && *at <= now
            && due.len() < TIMERS_AT_ONCE
        {
            due.extend(self.timers.pop_first());
        }
        let mut timed_urrs: BTreeMap<Seid, BTreeSet<u32>> = BTreeMap::new();
        for (at, timer) in due {
            match timer {
                Timer::Resend(sequence) => self.resend(sequence, now),
                Timer::Heartbeat(node_id) => self.send_heartbeat(node_id, now),
                Timer::Associate(peer) => self.send_setup(peer, now),
                Timer::Abandon(node_id, lost_at) => self.abandon(&node_id, lost_at, now),
                Timer::Notify(seid, far_id) => self.notify(seid, far_id, at, now),
                Timer::Urr(seid, urr_id) => {
                    timed_urrs.entry(seid).or_default().insert(urr_id);
                }
                Timer::Activity(seid) => self.look_at_activity(seid, now, plane),
            }
        }
        for (seid, urr_ids) in timed_urrs {
            self.look_at(seid, &urr_ids, now, plane);
        }
        self.send_finals(now);
    }

    /// Asks all CP functions to release their associations within `period` (§6.2.7.3), and takes no new associations and sessions. Sessions go on
    /// meanwhile, until none are left: then, or when the time is over, [`Node::release_all`].
    pub fn begin_release(&mut self, period: Duration, now: Duration) {
        (self.leaving, self.draining) = (true, true);
        let peers: Vec<SocketAddr> = self.associations.values().map(|association| association.peer).collect();
        for peer in peers {
            let period = Ie::GracefulReleasePeriod(codec::timer(period));
            let ies = vec![Ie::NodeId(self.config.node_id.clone()), Ie::PfcpAssociationReleaseRequest(SARR), period];
            self.request(peer, Message::node(MessageType::AssociationUpdateRequest, 0, ies), About::Release, now);
        }
    }

    /// Ends all sessions and asks the peers to release the associations; new ones are rejected from now on. Sessions are gone for N4
    /// at once, and end in the user plane with the calls of [`Node::handle_timeout`] until [`Node::sessions_ending`] is 0. Their final
    /// usage is reported meanwhile; it is acknowledged when [`Node::final_reports_pending`] is 0.
    pub fn release_all(&mut self, now: Duration) {
        self.closing = true;
        let mut ended = Vec::new();
        for association in self.associations.values_mut() {
            let before = std::mem::replace(&mut association.number, self.sessions.begin_association());
            let ending = association.ending();
            self.sessions.end_association(before, std::mem::take(&mut association.sessions), ending);
            ended.push(before);
        }
        ended.into_iter().for_each(|number| self.note_end(number));
        let node_ids: Vec<NodeId> = self.associations.keys().cloned().collect();
        node_ids.iter().for_each(|node_id| self.note_association(node_id));
        let peers: Vec<SocketAddr> = self.associations.values().map(|association| association.peer).collect();
        for peer in peers {
            let ies = vec![Ie::NodeId(self.config.node_id.clone()), Ie::PfcpAssociationReleaseRequest(SARR)];
            self.request(peer, Message::node(MessageType::AssociationUpdateRequest, 0, ies), About::Release, now);
        }
    }

    /// The session of a SEID of ours.
    pub fn session(&self, seid: Seid) -> Option<SessionView> {
        self.sessions.get(seid).map(|session| session.into_view(seid))
    }

    /// All sessions in the order of their SEIDs.
    pub fn sessions(&self) -> impl Iterator<Item = SessionView> {
        self.sessions_after(None)
    }

    /// Those behind a SEID, in the order of their SEIDs; `None`: all.
    pub fn sessions_after(&self, after: Option<Seid>) -> impl Iterator<Item = SessionView> {
        self.sessions.iter_after(after).map(|(seid, session)| session.into_view(seid))
    }

    /// Number of sessions.
    pub fn session_count(&self) -> usize {
        self.sessions.len()
    }

    /// Number of sessions that are gone for N4 and wait to be ended in the user plane.
    pub fn sessions_ending(&self) -> usize {
        self.sessions.waiting()
    }

    /// Reports of usage, final or not, that are to be sent or not acknowledged yet. From [`Node::release_all`] on those that are kept count too:
    /// then the number falls as reports are acknowledged, and not because one was given up.
    pub fn final_reports_pending(&self) -> usize {
        let kept = if self.closing { self.finals.kept() } else { 0 };
        self.finals.ready() + self.requests.usage() + kept
    }

    /// Addresses that reports of usage were sent to which are not acknowledged yet.
    pub fn usage_awaited_from(&self) -> BTreeSet<IpAddr> {
        self.requests.usage_awaited_from()
    }

    /// Reports of usage, final or not, that wait for a CP function that is out of reach or did not answer.
    pub fn final_reports_kept(&self) -> usize {
        self.finals.kept()
    }

    /// When [`Node::poll_usage`] wants to be called next, from its last call on: the sooner the nearer a volume limit is.
    pub fn next_poll(&self) -> Duration {
        self.watch.next_poll()
    }

    /// All associations in the order of their Node IDs.
    pub fn associations(&self) -> impl Iterator<Item = AssociationView<'_>> {
        self.associations.iter().map(|(node_id, association)| association.view(node_id))
    }

    /// Whether an address is that of a peer: a CP function that we are associated with, or want to be, is reached there.
    pub fn is_peer(&self, address: IpAddr) -> bool {
        let associated = |of: &Association| of.peer.ip() == address || of.is_of(address, &self.config);
        self.associations.values().any(associated) || self.wanted_peers.keys().any(|peer| peer.ip() == address)
    }

    /// Peers that were lost and whose associations are over: they have not associated again.
    pub fn lost_peers(&self) -> impl Iterator<Item = AssociationView<'_>> {
        self.lost_peers.views()
    }

    /// Messages of an association's peer, by the address that it was set up from.
    pub fn messages_of(&self, node_id: &NodeId) -> Option<&MessageCounts> {
        self.peers.counts(self.associations.get(node_id)?.source.ip())
    }

    /// Refuses new associations and sessions from now on, or takes them again. Those that there are go on.
    pub fn set_draining(&mut self, on: bool) {
        self.draining = on;
    }

    /// Whether new associations and sessions are refused.
    pub fn is_draining(&self) -> bool {
        self.draining
    }

    /// What was counted.
    pub fn stats(&self) -> &Stats {
        &self.stats
    }

    /// The features that we announce.
    pub fn features(&self) -> UpFeatures {
        self.features
    }

    /// TEIDs and UE addresses that sessions hold.
    pub fn resources_in_use(&self) -> usize {
        self.pools.in_use()
    }

    /// One message of a datagram.
    fn message(&mut self, from: SocketAddr, message: &Message, octets: &[u8], now: Duration, plane: &mut dyn UserPlane) {
        let known = self.peers.counts(from.ip()).is_some();
        self.count(from.ip(), |counts| counts.receive(message.kind));
        self.send_kept_to(from.ip(), message, now);
        let Some(answer) = message.kind.response() else {
            match message.kind {
                MessageType::Other(_) => self.drop_datagram(from, Drop::UnknownType, now),
                _ => self.response(from, message, now, plane),
            }
            if let Some(counts) = self.peers.counts_mut(from.ip()).filter(|_| !known) {
                // An association that this node has asked for.
                counts.send(MessageType::AssociationSetupRequest);
                counts.receive(message.kind);
            }
            return;
        };
        if self.is_repeatable(from, message)
            && let Some(octets) = self.answers.find(from, message.kind, message.sequence, octets, now)
        {
            self.transmit.push_back((from, octets.to_vec()));
            self.stats.repeated_answers += 1;
            return;
        }
        self.stats.unknown_elements += unknown_elements(&message.ies);
        // One who does not speak for a session is not told whether there is one.
        let cp_seid = |node: &mut Node| {
            let session = node.sessions.look(message.seid?)?;
            let (node_id, cp) = (session.node_id.clone(), session.cp.seid);
            node.controls(from.ip(), &node_id).then_some(cp)
        };
        let cp_seid_before = cp_seid(self);
        let refused = self.store_away && message.kind != MessageType::HeartbeatRequest;
        let outcome = match message.kind {
            MessageType::HeartbeatRequest => Ok(self.heartbeat(from, message, now)),
            _ if refused => Err(Rejection::new(Cause::SYSTEM_FAILURE, "the shared store is not reached".into())),
            MessageType::AssociationSetupRequest => self.setup(from, message, now),
            MessageType::AssociationUpdateRequest => self.update(from, message),
            MessageType::AssociationReleaseRequest => self.release(from, message, now),
            MessageType::SessionSetDeletionRequest => self.delete_sets(from, message),
            MessageType::SessionSetModificationRequest => self.hand_over_sets(from, message, now),
            MessageType::SessionEstablishmentRequest => self.establish(from, message, now, plane),
            MessageType::SessionModificationRequest => self.modify(from, message, now, plane),
            MessageType::SessionDeletionRequest => self.delete(from, message, now, plane),
            // PFD management: its element is named.
            _ => refuse_unsupported(&message.ies)
                .and_then(|()| Err(Rejection::new(Cause::SERVICE_NOT_SUPPORTED, format!("{:?}", message.kind)))),
        };
        if let Some(counts) = self.peers.counts_mut(from.ip()).filter(|_| !known) {
            counts.receive(message.kind);
        }
        let mut ies = match outcome {
            Ok(ies) => ies,
            Err(rejection) => self.rejected(from, message, &rejection, now),
        };
        if answer.is_session_related() {
            self.add_load(&mut ies, from, now);
        }
        // To the CP function's SEID, or 0 where it is not known (§7.2.2.4.2). A session that began, ended or moved to another
        // SEID with this request is addressed by what the request says or by what was.
        let seid = match message.kind {
            MessageType::SessionEstablishmentRequest => find!(message.ies, FSeid).map(|f_seid| f_seid.seid),
            _ => cp_seid(self).or(cp_seid_before),
        };
        let response = Message {
            kind: answer,
            seid: answer.is_session_related().then_some(seid.unwrap_or(0)),
            sequence: message.sequence,
            // The sender's choice of priority holds for the whole exchange.
            priority: message.priority,
            follow_on: false,
            ies,
        };
        match response.encode() {
            // The same request may be accepted later.
            Ok(answer) if refused => {
                self.refusals.push_back((from, answer));
                self.count(from.ip(), |counts| counts.send(response.kind));
            }
            Ok(answer) => {
                if message.kind != MessageType::HeartbeatRequest {
                    let number = self.answers.keep(from, message.kind, message.sequence, octets, answer.clone(), now);
                    self.note_answer(number);
                }
                self.transmit.push_back((from, answer));
                self.count(from.ip(), |counts| counts.send(response.kind));
            }
            Err(_) => self.drop_datagram(from, Drop::TooLong, now),
        }
    }

    /// Counts a message, for the node and for its peer.
    fn count(&mut self, peer: IpAddr, count: impl Fn(&mut MessageCounts)) {
        count(&mut self.stats.messages);
        self.peers.counts_mut(peer).map(count);
    }

    /// Whether an answer that was given once can be given again. An association that was set up or released meanwhile makes a
    /// repeated setup or release a new one: some peers number each release 0.
    fn is_repeatable(&self, from: SocketAddr, message: &Message) -> bool {
        let associated = find!(message.ies, NodeId).is_some_and(|node_id| self.associations.contains_key(&self.identity(node_id, from)));
        match message.kind {
            MessageType::AssociationSetupRequest => associated,
            MessageType::AssociationReleaseRequest => !associated,
            _ => true,
        }
    }

    /// The elements of a rejection.
    fn rejected(&mut self, from: SocketAddr, request: &Message, rejection: &Rejection, now: Duration) -> Group {
        let kind = request.kind;
        self.count(from.ip(), |counts| counts.reject(rejection.cause));
        if let Some(left_out) = self.may_log(LogCause::Rejected(rejection.cause), now) {
            // Who, what and why. The text may quote what the peer sent: as a field it is escaped.
            let node_id = find!(request.ies, NodeId).map(NodeId::to_string).unwrap_or_default();
            let seid = request.seid.map(|seid| format!("{seid:#x}")).unwrap_or_default();
            let why: String = rejection.why.chars().take(MAX_WHY).collect();
            let (cause, offending) = (rejection.cause.text(), rejection.offending);
            tracing::warn!(%from, node_id, ?kind, seid, cause, why, offending, rule = ?rejection.failed, left_out, "request rejected");
        }
        let mut ies = Vec::new();
        // The responses that have a Node ID have it also here: an SMF in use drops a rejection without it.
        if !matches!(
            kind,
            MessageType::SessionModificationRequest | MessageType::SessionDeletionRequest | MessageType::SessionReportRequest
        ) {
            ies.push(Ie::NodeId(self.config.node_id.clone()));
        }
        ies.push(Ie::Cause(rejection.cause));
        ies.extend(rejection.offending.map(Ie::OffendingIe));
        ies.extend(rejection.failed.map(|rule| Ie::FailedRuleId(codec::FailedRuleId(rule))));
        if kind == MessageType::AssociationSetupRequest {
            ies.push(Ie::RecoveryTimeStamp(self.config.started_at_ntp_s));
        }
        ies
    }

    /// A response to a request of ours.
    fn response(&mut self, from: SocketAddr, message: &Message, now: Duration, plane: &mut dyn UserPlane) {
        let Some(waiting) = self.requests.answered(message.sequence, message.kind, from.ip()) else {
            return self.drop_datagram(from, Drop::UnmatchedResponse, now);
        };
        self.timers.remove(&(waiting.deadline, Timer::Resend(message.sequence)));
        let mut waiting = Some(waiting);
        if self.redirected(&mut waiting, from, message, now) {
            return;
        }
        let Some(waiting) = waiting else { return };
        self.forget_request(message.sequence, &waiting.about);
        if message.kind == MessageType::VersionNotSupportedResponse {
            return self.unanswered(waiting, now);
        }
        match waiting.about {
            About::Heartbeat(node_id, since) => self.heartbeat_answered(&node_id, since, from.ip(), message, now),
            About::Setup(peer) => self.setup_answered(peer, from, message, now),
            About::Release | About::NodeReport => {}
            About::Final(this) => self.final_answered(*this, from.ip(), message.cause(), now),
            about @ (About::DownlinkData(..) | About::Usage(..) | About::ErrorIndication(..) | About::Inactivity(_)) => {
                self.report_answered(about, &waiting.octets, from, message, now, plane)
            }
        }
    }

    /// Sends a request, and again until it is answered or given up. Whether it was sent.
    fn request(&mut self, to: SocketAddr, mut message: Message, about: About, now: Duration) -> bool {
        let answer = message.kind.response();
        let (Some(sequence), Some(answer)) = (self.requests.sequence(to.ip(), &about), answer) else {
            self.stats.drop(Drop::Outstanding);
            return false;
        };
        message.sequence = sequence;
        let Ok(octets) = message.encode() else {
            self.stats.drop(Drop::TooLong);
            return false;
        };
        let deadline = now + self.config.t1;
        self.timers.insert((deadline, Timer::Resend(sequence)));
        self.transmit.push_back((to, octets.clone()));
        self.count(to.ip(), |counts| counts.send(message.kind));
        let waiting = Waiting { to, octets, answer, about, deadline, sends_left: self.config.n1 - 1, moves: 0 };
        self.note_request(sequence, &waiting);
        self.requests.insert(sequence, waiting);
        true
    }

    fn resend(&mut self, sequence: u32, now: Duration) {
        // An SMF that is associated meanwhile may take a second setup for a new one, and drop the sessions that it has just made (§6.2.6).
        if let Some(peer) = self.requests.sets_up(sequence)
            && self.is_associated(peer)
        {
            self.requests.remove(sequence);
            return;
        }
        if self.withdrawn(sequence, now) {
            return;
        }
        let Some(waiting) = self.requests.get_mut(sequence) else { return };
        if let Some(left) = waiting.sends_left.checked_sub(1) {
            waiting.sends_left = left;
            waiting.deadline = now + self.config.t1;
            self.timers.insert((waiting.deadline, Timer::Resend(sequence)));
            self.transmit.push_back((waiting.to, waiting.octets.clone()));
            self.stats.resent_requests += 1;
            return;
        }
        let mut waiting = self.requests.remove(sequence);
        if !self.fail_over(sequence, &mut waiting, now)
            && let Some(waiting) = waiting
        {
            self.forget_request(sequence, &waiting.about);
            self.unanswered(waiting, now);
        }
    }

    /// A request was given up.
    fn unanswered(&mut self, waiting: Waiting, now: Duration) {
        let Waiting { to, octets, about, .. } = waiting;
        self.stats.unanswered_requests += 1;
        if let Some(left_out) = self.may_log(LogCause::Response, now) {
            tracing::warn!(%to, %about, left_out, "no response to a request of ours");
        }
        match about {
            About::Heartbeat(node_id, since) => self.lost(&node_id, since, now),
            About::Setup(peer) => self.ask_again(peer, now),
            About::Release | About::NodeReport => {}
            About::Final(this) => self.final_unanswered(*this, now),
            About::Usage(seid, of) => match codec::decode(&octets) {
                Ok(message) => self.keep_usage(seid, *of, to, message, now),
                Err(_) => self.usage_lost(&format_args!("session {seid:#x}"), of.count, LostUsage::TooLong, now),
            },
            About::DownlinkData(..) | About::ErrorIndication(..) | About::Inactivity(_) => self.report_unanswered(about),
        }
    }

    fn undecodable(&mut self, from: SocketAddr, error: DecodeError, now: Duration) {
        match error {
            // A response to a response would make two nodes talk forever.
            DecodeError::Version { kind, sequence, .. } if MessageType::from(kind) != MessageType::VersionNotSupportedResponse => {
                self.stats.drop(Drop::Version);
                let answer = Message::node(MessageType::VersionNotSupportedResponse, sequence, Vec::new());
                if let Ok(octets) = answer.encode() {
                    self.transmit.push_back((from, octets));
                }
            }
            error => self.drop_datagram(from, error.into(), now),
        }
    }

    /// A sender that is not allowed gets no response: its address may be forged, and it must not learn that we exist.
    fn drop_stranger(&mut self, from: SocketAddr, now: Duration) {
        self.stats.drop(Drop::Stranger);
        if let Some(left_out) = self.may_log(LogCause::Dropped(Drop::Stranger), now) {
            tracing::warn!(%from, left_out, "dropped: the sender is not in n4.peers");
        }
    }

    fn drop_datagram(&mut self, from: SocketAddr, reason: Drop, now: Duration) {
        self.stats.drop(reason);
        if let Some(left_out) = self.may_log(LogCause::Dropped(reason), now) {
            tracing::warn!(%from, reason = reason.name(), left_out, "N4 message dropped");
        }
    }

    /// Whether a line may be logged: then how many of its cause were left out before it.
    fn may_log(&mut self, cause: LogCause, now: Duration) -> Option<u64> {
        let allowed = self.log.allows(cause, now);
        self.stats.suppressed_logs += u64::from(allowed.is_none());
        allowed
    }

    fn clock(&self) -> WallClock {
        WallClock { started_at_ntp_s: self.config.started_at_ntp_s }
    }

    /// Where reports to a session's CP function go: to its F-SEID's address, if that is one that may act for its association, else to where
    /// its request came from. So reports cannot be directed at a third party, and a peer behind NAT gets them.
    fn report_address(&self, cp: &FSeid, from: SocketAddr, node_id: &NodeId) -> SocketAddr {
        let address = associations::cp_address(cp, from);
        let own = || self.associations.get(node_id).is_some_and(|association| !self.is_anothers(association, address));
        let usable = address == from.ip() || (self.may_be_asked(address) && self.controls(address, node_id) && own());
        self.request_address(if usable { address } else { from.ip() }, from)
    }

    /// Whether requests of ours may go to an address that a peer names.
    fn may_be_asked(&self, address: IpAddr) -> bool {
        self.config.allows(address) && is_host(address) && address != self.config.address
    }

    /// Where requests go to a peer whose own came from `source`, at `address`.
    fn request_address(&self, address: IpAddr, source: SocketAddr) -> SocketAddr {
        match self.config.request_port {
            RequestPort::Standard => SocketAddr::new(address, codec::PORT),
            RequestPort::Source => SocketAddr::new(address, source.port()),
        }
    }
}

/// Elements at any depth that the codec's table does not have.
fn unknown_elements(ies: &[Ie]) -> u64 {
    steps(ies.len());
    ies.iter().map(|ie| u64::from(codec::fate(ie.ie_type()).is_none()) + unknown_elements(ie.children())).sum()
}

/// Whether an address can be one host's.
fn is_host(address: IpAddr) -> bool {
    let broadcast = address == IpAddr::V4(Ipv4Addr::BROADCAST);
    !address.is_unspecified() && !address.is_multicast() && !broadcast
}

impl SessionView {
    /// The UE's IPv4 addresses, each once.
    pub fn ue_ipv4(&self) -> Vec<Ipv4Addr> {
        let addresses = self.rules.pdrs.values().filter_map(|pdr| pdr.pdi.ue_ip?.ipv4);
        addresses.collect::<BTreeSet<_>>().into_iter().collect()
    }

    /// The UE's IPv6 prefixes, each once.
    pub fn ue_ipv6(&self) -> Vec<(Ipv6Addr, u8)> {
        let prefixes = self.rules.pdrs.values().filter_map(|pdr| pdr.pdi.ue_ip?.ipv6);
        prefixes.collect::<BTreeSet<_>>().into_iter().collect()
    }
}
