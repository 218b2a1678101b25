//! Node related procedures: heartbeats, and associations from setup to loss (TS 29.244 §6.2).

use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::finals::Unknown;
use super::load::Told;
use super::sets::{HandOver, Set};
use super::{About, AssociationView, Ending, Node, Timer};
use crate::codec::{Cause, FSeid, Group, Ie, IeType, Message, MessageType, Name, NodeId, SmfSetId, UserPlaneIpResource, find, number};
use crate::config::{Config, OnLoss};
use crate::rules::{Interface, Seid};
use crate::session::{Rejection, refuse_flaws, refuse_unsupported};
use crate::stats::{Drop, LogCause};
use crate::work::steps;

/// A changed recovery time stamp in a heartbeat counts once it has been the same for so long: a few peers write the time of
/// sending instead of the time of their start.
const STAMP_SETTLES: Duration = Duration::from_secs(2);

/// How long until a peer that we want is asked again, if heartbeats have no period.
const ASK_AGAIN: Duration = Duration::from_secs(10);

/// Alternative addresses of one CP function at most: an SMF set is smaller.
const MAX_ALTERNATIVES: usize = 16;

/// A CP function that we are associated with. What is skipped is known anew after a crash.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Association {
    /// Where requests to it go.
    pub peer: SocketAddr,
    /// Where its own come from.
    pub source: SocketAddr,
    /// Further addresses that speak for it: alternative SMF addresses, and whether each is a preferred one (PPE).
    alternatives: BTreeMap<IpAddr, bool>,
    /// The SMF set that it is of (SMF Set ID), in lower case.
    smf_set: Option<String>,
    /// Sets of its sessions that it has handed over.
    pub handed_over: BTreeMap<Set, HandOver>,
    recovery_ntp_s: u32,
    /// A time stamp in a heartbeat that is not the above, and when it was first seen.
    #[serde(skip)]
    other_stamp: Option<(u32, Duration)>,
    /// Its heartbeats have had several other time stamps: they say nothing of a restart.
    #[serde(skip)]
    stamps_vary: bool,
    #[serde(skip)]
    pub sessions: BTreeSet<Seid>,
    /// By which its sessions know whether it is over.
    pub number: u32,
    /// Since when it answers no heartbeats.
    pub lost_at: Option<Duration>,
    /// The first octet of its CP Function Features.
    pub cp_features: u8,
    /// What it knows of our load.
    #[serde(skip)]
    pub told: Told,
    pub since: Duration,
    /// When the next heartbeat is sent; `None` while one waits for its answer.
    #[serde(skip)]
    next_heartbeat: Option<Duration>,
    /// A heartbeat of ours waits for its answer.
    #[serde(skip)]
    asked: bool,
}

/// The address that an association was set up from for which `address` speaks too.
pub(super) fn main_address(associations: &BTreeMap<NodeId, Association>, config: &Config, address: IpAddr) -> Option<IpAddr> {
    associations.values().find(|association| association.is_of(address, config)).map(|association| association.source.ip())
}

/// Lost peers that are remembered: as many as an operator looks through. Of more the one that was lost first is forgotten.
const LOST_PEERS: usize = 128;

/// Peers that were lost and have not associated again. For operators: nothing is decided by them.
#[derive(Debug, Default)]
pub(super) struct LostPeers(BTreeMap<NodeId, LostPeer>);

#[derive(Clone, Copy, Debug)]
struct LostPeer {
    peer: SocketAddr,
    recovery_ntp_s: u32,
    since: Duration,
    lost_at: Duration,
}

impl LostPeers {
    fn note(&mut self, node_id: &NodeId, of: LostPeer) {
        self.0.insert(node_id.clone(), of);
        if self.0.len() > LOST_PEERS
            && let Some(first) = self.0.iter().min_by_key(|(_, of)| of.lost_at).map(|(node_id, _)| node_id.clone())
        {
            self.0.remove(&first);
        }
    }

    /// Keeps those with such an address.
    pub(super) fn retain(&mut self, keeps: impl Fn(IpAddr) -> bool) {
        self.0.retain(|_, of| keeps(of.peer.ip()));
    }

    pub(super) fn views(&self) -> impl Iterator<Item = AssociationView<'_>> {
        self.0.iter().map(|(node_id, LostPeer { peer, recovery_ntp_s, since, lost_at })| AssociationView {
            node_id,
            peer: *peer,
            recovery_ntp_s: *recovery_ntp_s,
            sessions: 0,
            lost_at: Some(*lost_at),
            since: *since,
        })
    }
}

impl Association {
    /// Whether an address speaks for it.
    pub(super) fn is_of(&self, address: IpAddr, config: &Config) -> bool {
        self.source.ip() == address || self.alternatives.contains_key(&address) || config.are_together(self.source.ip(), address)
    }

    /// Whether an address is its own, that of its association.
    fn is_at(&self, address: IpAddr) -> bool {
        [self.peer.ip(), self.source.ip()].contains(&address)
    }

    /// Its alternative addresses if these speak for it too.
    pub(super) fn with_alternatives(&self, addresses: impl Iterator<Item = IpAddr>) -> Result<BTreeMap<IpAddr, bool>, Rejection> {
        let before = self.alternatives.iter().map(|(address, preferred)| (*address, *preferred));
        let all: BTreeMap<IpAddr, bool> = addresses.map(|address| (address, false)).chain(before).collect();
        if all.len() > MAX_ALTERNATIVES {
            return Err(too_many_alternatives());
        }
        Ok(all)
    }

    /// Addresses speak for it from now on.
    pub(super) fn speak_too(&mut self, alternatives: BTreeMap<IpAddr, bool>) {
        self.alternatives = alternatives;
    }

    /// All addresses that it may be reached at: preferred ones, other alternatives, its own.
    pub(super) fn addresses(&self) -> impl Iterator<Item = IpAddr> + '_ {
        let alternatives =
            |preferred: bool| self.alternatives.iter().filter(move |(_, this)| **this == preferred).map(|(address, _)| *address);
        alternatives(true).chain(alternatives(false)).chain([self.peer.ip()])
    }

    /// The peer's recovery time stamp, and where requests to it go.
    pub(super) fn identity(&self) -> (u32, SocketAddr) {
        (self.recovery_ntp_s, self.peer)
    }

    /// Whether its last heartbeat was that of one that has restarted, which is not certain yet: its SEIDs may be other sessions' now.
    pub(super) fn seems_restarted(&self) -> bool {
        self.other_stamp.is_some() && !self.stamps_vary
    }

    /// How its sessions end if it ends now, and its peer has not restarted.
    pub(super) fn ending(&self) -> Ending {
        if self.lost_at.is_some() { Ending::OutOfReach(self.recovery_ntp_s) } else { Ending::Told(self.recovery_ntp_s) }
    }

    /// Whether one from a record can be of a node that has run for less than `most`.
    pub(super) fn is_plausible(&self, most: Duration) -> bool {
        [Some(self.since), self.lost_at].into_iter().flatten().all(|time| time < most)
    }

    pub(super) fn view<'a>(&self, node_id: &'a NodeId) -> AssociationView<'a> {
        AssociationView {
            node_id,
            peer: self.peer,
            recovery_ntp_s: self.recovery_ntp_s,
            sessions: self.sessions.len(),
            lost_at: self.lost_at,
            since: self.since,
        }
    }
}

impl Node {
    /// Heartbeat Request (§6.2.2): answered for every sender.
    pub(super) fn heartbeat(&mut self, from: SocketAddr, request: &Message, now: Duration) -> Group {
        if let Some(stamp) = find!(request.ies, RecoveryTimeStamp).copied() {
            steps(self.associations.len());
            let here = |(node_id, association): (&NodeId, &Association)| (association.source == from).then(|| node_id.clone());
            let nodes: Vec<NodeId> = self.associations.iter().filter_map(here).collect();
            // Several nodes behind one address and port cannot be told apart here.
            if let [node_id] = &nodes[..] {
                self.stamp_seen(node_id, stamp, now);
            }
        }
        vec![Ie::RecoveryTimeStamp(self.config.started_at_ntp_s)]
    }

    /// Association Setup Request (§6.2.6.2.2).
    pub(super) fn setup(&mut self, from: SocketAddr, request: &Message, now: Duration) -> Result<Group, Rejection> {
        let node_id = self.identity(node_id(request)?, from);
        let stamp = match find!(request.ies, RecoveryTimeStamp) {
            Some(stamp) => *stamp,
            None => return Err(unreadable(&request.ies, number::RecoveryTimeStamp)),
        };
        if self.closing {
            return Err(Rejection::new(Cause::REQUEST_REJECTED, "shutting down".into()));
        }
        if self.draining && !self.associations.contains_key(&node_id) {
            return Err(Rejection::new(Cause::NO_RESOURCES, "draining: the operator wants no new associations".into()));
        }
        refuse_flaws(&request.ies)?;
        refuse_unsupported(&request.ies)?;
        let retain = find!(request.ies, SessionRetentionInformation).is_some();
        let alternatives = alternatives(&request.ies)?;
        self.refuse_anothers(&node_id, from, now)?;
        let peer = self.request_address(from.ip(), from);
        let retained = self.associated(&node_id, from, peer, stamp, retain, now)?;
        if let Some(association) = self.associations.get_mut(&node_id) {
            association.alternatives = alternatives;
            association.smf_set = smf_set(&request.ies);
            association.cp_features = cp_features(&request.ies).unwrap_or(0);
        }
        self.warn_of_set_apart(&node_id, now);
        self.note_association(&node_id);
        let mut ies = vec![
            Ie::NodeId(self.config.node_id.clone()),
            Ie::Cause(Cause::REQUEST_ACCEPTED),
            Ie::RecoveryTimeStamp(self.config.started_at_ntp_s),
            Ie::UpFunctionFeatures(self.features),
        ];
        if self.config.announce_ip_resources {
            ies.extend(self.config.gtpu.iter().map(|address| {
                Ie::UserPlaneIpResourceInformation(UserPlaneIpResource {
                    teid_range: None,
                    ipv4: Some(address.ipv4),
                    ipv6: None,
                    // Not both: a widespread parser fails on the interface after a network instance.
                    source_interface: address.interface.filter(|_| address.network_instance.is_none()).map(interface_number),
                    network_instance: address.network_instance.clone().map(Name::Labels),
                })
            }));
        }
        if retained {
            ies.push(Ie::PfcpAsRspFlags(0x01)); // PSREI
        }
        Ok(ies)
    }

    /// Asks a CP function for an association, and again until there is one (§6.2.6.3).
    pub fn associate(&mut self, peer: SocketAddr, now: Duration) {
        if let Entry::Vacant(new) = self.wanted_peers.entry(peer) {
            new.insert(None);
            self.send_setup(peer, now);
        }
    }

    /// Association Update Request (§6.2.7): a CP function tells its features and its alternative addresses, which replace those given before.
    pub(super) fn update(&mut self, from: SocketAddr, request: &Message) -> Result<Group, Rejection> {
        let node_id = self.own_association(node_id(request)?, from)?;
        refuse_flaws(&request.ies)?;
        refuse_unsupported(&request.ies)?;
        let alternatives = alternatives(&request.ies)?;
        if let Some(association) = self.associations.get_mut(&node_id) {
            if !alternatives.is_empty() {
                association.alternatives = alternatives;
            }
            association.cp_features = cp_features(&request.ies).unwrap_or(association.cp_features);
        }
        self.note_association(&node_id);
        Ok(vec![Ie::NodeId(self.config.node_id.clone()), Ie::Cause(Cause::REQUEST_ACCEPTED), Ie::UpFunctionFeatures(self.features)])
    }

    /// Association Release Request (§6.2.8): its sessions end too.
    pub(super) fn release(&mut self, from: SocketAddr, request: &Message, now: Duration) -> Result<Group, Rejection> {
        let node_id = self.own_association(node_id(request)?, from)?;
        // It is there, though it may have been thought lost: it is told the final usage.
        let stamp = self.associations.get(&node_id).map(|association| association.recovery_ntp_s);
        self.end_association(&node_id, stamp);
        if let Some(left_out) = self.may_log(LogCause::Association, now) {
            tracing::info!(%node_id, left_out, "association released");
        }
        Ok(vec![Ie::NodeId(self.config.node_id.clone()), Ie::Cause(Cause::REQUEST_ACCEPTED)])
    }

    /// The Node ID that a peer means: one that writes 0.0.0.0 or :: is known by its address, that of its association if it has just one. Domain names do not
    /// tell cases apart (RFC 1035 §2.3.3).
    pub(super) fn identity(&self, node_id: &NodeId, from: SocketAddr) -> NodeId {
        if let NodeId::Fqdn(name) = node_id {
            return NodeId::Fqdn(name.to_ascii_lowercase());
        }
        if !matches!(node_id, NodeId::Ipv4(address) if address.is_unspecified())
            && !matches!(node_id, NodeId::Ipv6(address) if address.is_unspecified())
        {
            return node_id.clone();
        }
        let mut here = self.associations.iter().filter(|(_, association)| association.source.ip() == from.ip());
        match (here.next(), here.next(), from.ip()) {
            (Some((node_id, _)), None, _) => node_id.clone(),
            (_, _, IpAddr::V4(address)) => NodeId::Ipv4(address),
            (_, _, IpAddr::V6(address)) => NodeId::Ipv6(address),
        }
    }

    /// Whether `from` may speak for the association of a Node ID: it was set up from that address, or the address is an
    /// alternative one (§6.2.6) or one that the configuration says is the same CP function's. Ports do not count, a peer may use
    /// several. A CP function may have several addresses in one association (§6.2.6.1), but what it does not name is not told
    /// from a stranger's.
    pub(super) fn speaks_for(&self, from: SocketAddr, node_id: &NodeId) -> bool {
        self.associations.get(node_id).is_some_and(|association| association.is_of(from.ip(), &self.config))
    }

    /// Associations of the other SMFs of its set, which have associations of their own (§5.22.3). An SMF Set ID is believed within one entry of
    /// `n4.peers`.
    pub(super) fn others_of_set<'a>(&'a self, association: &'a Association) -> impl Iterator<Item = (&'a NodeId, &'a Association)> {
        let set = association.smf_set.as_ref();
        steps(set.map_or(0, |_| self.associations.len()));
        let all = set.into_iter().flat_map(|_| &self.associations);
        all.filter(move |(_, other)| {
            other.smf_set.as_ref() == set
                && other.number != association.number
                && self.config.are_in_one_entry(other.source.ip(), association.source.ip())
        })
    }

    /// Says that an SMF is not taken for one of a set, as the operator lists the others apart: nothing in an answer tells its own operator.
    fn warn_of_set_apart(&mut self, node_id: &NodeId, now: Duration) {
        let Some(association) = self.associations.get(node_id).filter(|association| association.smf_set.is_some()) else { return };
        steps(self.associations.len());
        let apart = self.associations.iter().find(|(_, other)| {
            other.smf_set == association.smf_set && !self.config.are_in_one_entry(other.source.ip(), association.source.ip())
        });
        let Some(other) = apart.map(|(other, _)| other.clone()) else { return };
        if let Some(left_out) = self.may_log(LogCause::Association, now) {
            tracing::warn!(%node_id, %other, left_out, "SMFs of one set (SMF Set ID) do not act for each other's sessions: n4.peers must have both in one network or list");
        }
    }

    /// Whether `from` may act for the sessions of an association: it speaks for it, or for that of another SMF of its set.
    pub(super) fn controls(&self, from: IpAddr, node_id: &NodeId) -> bool {
        let Some(association) = self.associations.get(node_id) else { return false };
        association.is_of(from, &self.config) || self.other_of_set_at(association, from).is_some()
    }

    /// Whether an address may act for any association.
    pub(super) fn may_act(&self, from: IpAddr) -> bool {
        main_address(&self.associations, &self.config, from).is_some()
    }

    /// Whether an address is that of a CP function which may not act for an association: one of another association, not of its SMF set. That a peer names the
    /// address (Alternative SMF IP Address, CP F-SEID) does not make it the peer's: what is told there under a SEID of the peer's would be about a session of the other.
    pub(super) fn is_anothers(&self, association: &Association, address: IpAddr) -> bool {
        if association.is_at(address) || self.config.are_together(association.source.ip(), address) {
            return false;
        }
        steps(self.associations.len());
        self.associations.values().any(|other| other.is_at(address))
            && !self.others_of_set(association).any(|(_, other)| other.is_at(address))
    }

    /// Refuses a CP F-SEID at the address of a CP function that may not act for the association. One at nobody's address is that of a peer behind NAT: see
    /// [`Node::report_address`].
    pub(super) fn refuse_anothers_f_seid(&mut self, cp: &FSeid, from: SocketAddr, node_id: &NodeId) -> Result<(), Rejection> {
        let Some(association) = self.associations.get(node_id) else { return Ok(()) };
        let mut named = cp.ipv4.map(IpAddr::V4).into_iter().chain(cp.ipv6.map(IpAddr::V6)).filter(|address| *address != from.ip());
        let Some(address) = named.find(|address| self.is_anothers(association, *address)) else { return Ok(()) };
        self.stats.foreign += 1;
        let why =
            format!("CP F-SEID: {address} is another CP function's, which n4.peers does not list as one with {}", association.source.ip());
        Err(Rejection::incorrect(number::FSeid, why))
    }

    /// The association of another SMF of the set that an address speaks for.
    pub(super) fn other_of_set_at(&self, association: &Association, address: IpAddr) -> Option<NodeId> {
        let mut others = self.others_of_set(association);
        others.find(|(_, other)| other.is_of(address, &self.config)).map(|(node_id, _)| node_id.clone())
    }

    /// The association that a request of `from` is about. Another's is refused as one that is not there (§7.6.5).
    pub(super) fn own_association(&mut self, node_id: &NodeId, from: SocketAddr) -> Result<NodeId, Rejection> {
        let node_id = self.identity(node_id, from);
        let Some(association) = self.associations.get(&node_id) else { return Err(no_association(&node_id)) };
        if self.speaks_for(from, &node_id) {
            return Ok(node_id);
        }
        self.stats.foreign += 1;
        let why = format!(
            "{node_id:?} is associated from {}; if {} is the same CP function, n4.peers must have both in one entry",
            association.source.ip(),
            from.ip()
        );
        Err(Rejection::new(Cause::NO_ESTABLISHED_ASSOCIATION, why))
    }

    /// Refuses a setup with a Node ID that is another's: it stays with the address that it is associated from, as long as that
    /// address answers. An IP address as Node ID is the address's own.
    fn refuse_anothers(&mut self, node_id: &NodeId, from: SocketAddr, now: Duration) -> Result<(), Rejection> {
        let Some(before) = self.associations.get(node_id) else { return Ok(()) };
        let own = match (node_id, from.ip()) {
            (NodeId::Ipv4(named), IpAddr::V4(address)) => *named == address,
            (NodeId::Ipv6(named), IpAddr::V6(address)) => *named == address,
            _ => false,
        };
        if own || before.lost_at.is_some() || self.silent.contains(&before.peer.ip()) || self.speaks_for(from, node_id) {
            return Ok(());
        }
        self.stats.foreign += 1;
        let why = format!("{node_id:?} is associated from {}, which is asked whether it lives", before.source.ip());
        // It may have moved and come back under a new address: then the old one does not answer, and its next try succeeds.
        if !before.asked {
            self.send_heartbeat(node_id.clone(), now);
        }
        Err(Rejection::new(Cause::REQUEST_REJECTED, why))
    }

    /// Whether there is an association with a peer that is not lost.
    pub(super) fn is_associated(&self, peer: SocketAddr) -> bool {
        self.associations.values().any(|association| association.peer == peer && association.lost_at.is_none())
    }

    pub(super) fn send_setup(&mut self, peer: SocketAddr, now: Duration) {
        if self.closing || self.leaving || self.is_associated(peer) || self.requests.is_setting_up(peer) {
            return;
        }
        let ies = vec![
            Ie::NodeId(self.config.node_id.clone()),
            Ie::RecoveryTimeStamp(self.config.started_at_ntp_s),
            Ie::UpFunctionFeatures(self.features),
        ];
        if !self.request(peer, Message::node(MessageType::AssociationSetupRequest, 0, ies), About::Setup(peer), now) {
            self.ask_again(peer, now);
        }
    }

    /// Association Setup Response to ours.
    pub(super) fn setup_answered(&mut self, peer: SocketAddr, from: SocketAddr, response: &Message, now: Duration) {
        let (Some(cause), Some(node_id), Some(stamp)) =
            (response.cause(), find!(response.ies, NodeId).cloned(), find!(response.ies, RecoveryTimeStamp).copied())
        else {
            self.drop_datagram(from, Drop::BadResponse, now);
            return self.ask_again(peer, now);
        };
        let node_id = self.identity(&node_id, from);
        let accepted = cause.is_accepted()
            && self.refuse_anothers(&node_id, from, now).is_ok()
            && self.associated(&node_id, from, peer, stamp, true, now).is_ok();
        if !accepted {
            if let Some(left_out) = self.may_log(LogCause::Association, now) {
                tracing::warn!(%peer, cause = cause.text(), left_out, "association refused");
            }
            return self.ask_again(peer, now);
        }
        if let Some(association) = self.associations.get_mut(&node_id) {
            association.smf_set = smf_set(&response.ies);
            association.cp_features = cp_features(&response.ies).unwrap_or(0);
            match alternatives(&response.ies) {
                Ok(told) if !told.is_empty() => association.alternatives = told,
                _ => {}
            }
        }
        self.warn_of_set_apart(&node_id, now);
        self.note_association(&node_id);
    }

    pub(super) fn ask_again(&mut self, peer: SocketAddr, now: Duration) {
        if let Some(next) = self.wanted_peers.get_mut(&peer) {
            let at = now + self.config.heartbeat_period.unwrap_or(ASK_AGAIN);
            if let Some(before) = next.replace(at) {
                self.timers.remove(&(before, Timer::Associate(peer)));
            }
            self.timers.insert((at, Timer::Associate(peer)));
        }
    }

    pub(super) fn send_heartbeat(&mut self, node_id: NodeId, now: Duration) {
        let Some(association) = self.associations.get_mut(&node_id) else { return };
        if let Some(at) = association.next_heartbeat.take() {
            self.timers.remove(&(at, Timer::Heartbeat(node_id.clone())));
        }
        association.asked = true;
        let Some(association) = self.associations.get(&node_id) else { return };
        let peer = self.heard_at(association, association.peer);
        let about = About::Heartbeat(node_id.clone(), association.since);
        let ies = vec![Ie::RecoveryTimeStamp(self.config.started_at_ntp_s)];
        if !self.request(peer, Message::node(MessageType::HeartbeatRequest, 0, ies), about, now) {
            if let Some(association) = self.associations.get_mut(&node_id) {
                association.asked = false;
            }
            self.schedule_heartbeat(&node_id, now);
        }
    }

    /// Heartbeat Response to ours, sent in the association that began at `since`.
    pub(super) fn heartbeat_answered(&mut self, node_id: &NodeId, since: Duration, from: IpAddr, response: &Message, now: Duration) {
        let before = self.associations.get(node_id);
        let of_another = before.is_some_and(|association| !association.is_at(from) && self.other_of_set_at(association, from).is_some());
        let Some(association) = self.associations.get_mut(node_id).filter(|association| association.since == since) else { return };
        let lost_at = association.lost_at.take();
        association.asked = false;
        // Another SMF of the set has a time stamp of its own.
        let is_own = association.is_at(from) || !(of_another || association.alternatives.contains_key(&from));
        if lost_at.is_some() {
            self.note_association(node_id);
        }
        self.schedule_heartbeat(node_id, now);
        if let Some(stamp) = find!(response.ies, RecoveryTimeStamp).copied().filter(|_| is_own) {
            self.stamp_seen(node_id, stamp, now);
        }
    }

    /// A peer has not answered the heartbeats of the association that began at `since`. If it has set up another meanwhile,
    /// that one has heartbeats of its own.
    pub(super) fn lost(&mut self, node_id: &NodeId, since: Duration, now: Duration) {
        let Some(association) = self.associations.get_mut(node_id).filter(|association| association.since == since) else { return };
        association.asked = false;
        let (peer, sessions) = (association.peer, association.sessions.len());
        let is_news = association.lost_at.is_none();
        let lost_at = *association.lost_at.get_or_insert(now);
        if is_news {
            self.stats.lost_associations += 1;
            if let Some(left_out) = self.may_log(LogCause::Association, now) {
                tracing::warn!(%node_id, sessions, left_out, "association lost: the peer answers no heartbeats");
            }
        }
        match self.config.on_loss {
            OnLoss::Release => self.give_up(node_id),
            OnLoss::Keep(_) => {
                self.note_association(node_id);
                self.schedule_heartbeat(node_id, now);
                self.schedule_abandoning(node_id, lost_at);
            }
        }
        self.ask_again(peer, now);
    }

    /// The sessions of a peer that was lost at a time are kept for so long, if not for good.
    pub(super) fn schedule_abandoning(&mut self, node_id: &NodeId, lost_at: Duration) {
        if let OnLoss::Keep(Some(time)) = self.config.on_loss {
            self.timers.insert((lost_at + time, Timer::Abandon(node_id.clone(), lost_at)));
        }
    }

    /// Gives up an association that is out of reach since `lost_at` without a break.
    pub(super) fn abandon(&mut self, node_id: &NodeId, lost_at: Duration, now: Duration) {
        let Some(association) = self.associations.get(node_id).filter(|association| association.lost_at == Some(lost_at)) else { return };
        let (peer, sessions) = (association.peer, association.sessions.len());
        if let Some(left_out) = self.may_log(LogCause::Association, now) {
            tracing::warn!(%node_id, sessions, left_out, "a lost peer has not come back: its sessions are released");
        }
        self.give_up(node_id);
        self.ask_again(peer, now);
    }

    /// Ends the association of a lost peer, which is remembered as such.
    fn give_up(&mut self, node_id: &NodeId) {
        if let Some(Association { peer, recovery_ntp_s, since, lost_at: Some(lost_at), .. }) = self.associations.get(node_id) {
            let of = LostPeer { peer: *peer, recovery_ntp_s: *recovery_ntp_s, since: *since, lost_at: *lost_at };
            self.lost_peers.note(node_id, of);
        }
        self.end_association(node_id, None);
    }

    /// Enters an association, and ends the sessions of the one before, unless the peer has not restarted and wants them kept
    /// or was only out of reach. Whether sessions are kept.
    fn associated(
        &mut self,
        node_id: &NodeId,
        source: SocketAddr,
        peer: SocketAddr,
        recovery_ntp_s: u32,
        retain: bool,
        now: Duration,
    ) -> Result<bool, Rejection> {
        let before = self.associations.get(node_id);
        // Sessions keep their owner; a new address for their Node ID starts over.
        let same = self.speaks_for(source, node_id);
        let kept = same && before.is_some_and(|before| before.recovery_ntp_s == recovery_ntp_s && (retain || before.lost_at.is_some()));
        if before.is_none_or(|before| before.source.ip() != source.ip())
            && self.peers.associations(source.ip()) >= self.config.max_associations_per_peer
        {
            return Err(Rejection::new(
                Cause::NO_RESOURCES,
                format!("{} has {} associations already", source.ip(), self.config.max_associations_per_peer),
            ));
        }
        if before.is_none() && self.associations.len() >= self.config.max_associations {
            return Err(Rejection::new(Cause::NO_RESOURCES, format!("{} associations already", self.associations.len())));
        }
        let (number, sessions) = match self.associations.get_mut(node_id) {
            // The old one ends without them, and its number stays theirs.
            Some(before) if kept => {
                let number = std::mem::replace(&mut before.number, self.sessions.begin_association());
                (number, std::mem::take(&mut before.sessions))
            }
            _ => (self.sessions.begin_association(), BTreeSet::new()),
        };
        // One that goes on keeps its addresses until it tells others.
        let alternatives = self.associations.get_mut(node_id).filter(|_| kept).map(|before| std::mem::take(&mut before.alternatives));
        let before = self.associations.get(node_id).filter(|before| before.recovery_ntp_s != recovery_ntp_s);
        if let Some(sessions) = before.map(|before| before.sessions.len()) {
            self.restarted(node_id, sessions, now);
        }
        self.end_association(node_id, Some(recovery_ntp_s));
        self.answers.forget(source);
        if let Some(left_out) = self.may_log(LogCause::Association, now) {
            tracing::info!(%node_id, %peer, kept = sessions.len(), left_out, "associated");
        }
        let association = Association {
            peer,
            source,
            alternatives: alternatives.unwrap_or_default(),
            smf_set: None,
            handed_over: BTreeMap::new(),
            recovery_ntp_s,
            other_stamp: None,
            stamps_vary: false,
            sessions,
            number,
            lost_at: None,
            cp_features: 0,
            told: Told::default(),
            since: now,
            next_heartbeat: None,
            asked: false,
        };
        self.peers.begin_association(source.ip());
        self.lost_peers.0.remove(node_id);
        self.associations.insert(node_id.clone(), association);
        self.note_association(node_id);
        self.schedule_heartbeat(node_id, now);
        self.send_kept_finals(node_id, now);
        Ok(kept)
    }

    /// Says that a peer has restarted, by which its sessions are released.
    fn restarted(&mut self, node_id: &NodeId, sessions: usize, now: Duration) {
        if let Some(left_out) = self.may_log(LogCause::Association, now) {
            tracing::warn!(%node_id, sessions, left_out, "peer has restarted: its sessions are released");
        }
    }

    /// Ends an association; whether there was one. Its sessions are gone for N4, and end one after the other. `stamp`: the peer's recovery time
    /// stamp now, if it has told another.
    fn end_association(&mut self, node_id: &NodeId, stamp: Option<u32>) -> bool {
        let Some(association) = self.associations.remove(node_id) else { return false };
        self.peers.end_association(association.source.ip());
        if let Some(at) = association.next_heartbeat {
            self.timers.remove(&(at, Timer::Heartbeat(node_id.clone())));
        }
        let ending = match stamp {
            None => association.ending(),
            // One that sets up again is there, though it was lost before.
            Some(stamp) if stamp == association.recovery_ntp_s => Ending::Told(stamp),
            Some(_) => Ending::Unknown(Unknown::Restarted),
        };
        self.sessions.end_association(association.number, association.sessions, ending);
        self.note_end(association.number);
        true
    }

    pub(super) fn schedule_heartbeat(&mut self, node_id: &NodeId, now: Duration) {
        let (Some(period), Some(association)) = (self.config.heartbeat_period, self.associations.get_mut(node_id)) else { return };
        let timer = Timer::Heartbeat(node_id.clone());
        if let Some(at) = association.next_heartbeat.replace(now + period) {
            self.timers.remove(&(at, timer.clone()));
        }
        self.timers.insert((now + period, timer));
    }

    /// A peer that has restarted has lost its sessions: so do we, and the association (TS 23.527 §4.3).
    fn stamp_seen(&mut self, node_id: &NodeId, stamp: u32, now: Duration) {
        let Some(association) = self.associations.get_mut(node_id) else { return };
        if stamp == association.recovery_ntp_s {
            (association.other_stamp, association.stamps_vary) = (None, false);
            return;
        }
        match association.other_stamp {
            Some((seen, at)) if seen == stamp => {
                if now.saturating_sub(at) >= STAMP_SETTLES {
                    let (peer, sessions) = (association.peer, association.sessions.len());
                    self.stats.restarted_peers += 1;
                    self.restarted(node_id, sessions, now);
                    self.end_association(node_id, Some(stamp));
                    self.ask_again(peer, now);
                }
            }
            before => {
                association.stamps_vary |= before.is_some();
                association.other_stamp = Some((stamp, now));
            }
        }
    }
}

/// The Node ID of a request, which is mandatory in all node related ones but heartbeats.
pub(super) fn node_id(request: &Message) -> Result<&NodeId, Rejection> {
    find!(request.ies, NodeId).ok_or_else(|| unreadable(&request.ies, number::NodeId))
}

/// The alternative SMF addresses of a request, and whether each is preferred.
fn alternatives(ies: &[Ie]) -> Result<BTreeMap<IpAddr, bool>, Rejection> {
    let mut addresses = BTreeMap::new();
    for ie in ies {
        let Ie::AlternativeSmfIpAddress(this) = ie else { continue };
        let named = this.ipv4.map(IpAddr::V4).into_iter().chain(this.ipv6.map(IpAddr::V6));
        addresses.extend(named.map(|address| (address, this.preferred)));
    }
    if addresses.len() > MAX_ALTERNATIVES {
        return Err(too_many_alternatives());
    }
    Ok(addresses)
}

/// The SMF set of a request's sender. Domain names do not tell cases apart (RFC 1035 §2.3.3).
fn smf_set(ies: &[Ie]) -> Option<String> {
    find!(ies, SmfSetId).map(|SmfSetId(name)| name.to_ascii_lowercase())
}

fn too_many_alternatives() -> Rejection {
    let why = format!("more than {MAX_ALTERNATIVES} alternative addresses");
    Rejection { offending: Some(number::AlternativeSmfIpAddress), ..Rejection::new(Cause::NO_RESOURCES, why) }
}

/// The first octet of CP Function Features.
fn cp_features(ies: &[Ie]) -> Option<u8> {
    find!(ies, CpFunctionFeatures).map(|octets| octets.first().copied().unwrap_or(0))
}

/// Why a mandatory element could not be read: it is malformed, or missing.
pub(super) fn unreadable(ies: &[Ie], ie_type: IeType) -> Rejection {
    let flaw = ies.iter().find_map(|ie| match ie {
        Ie::Invalid { ie_type: this, flaw, .. } if *this == ie_type => Some(*flaw),
        _ => None,
    });
    flaw.map_or_else(|| Rejection::missing(ie_type), |flaw| Rejection::flaw(ie_type, flaw))
}

pub(super) fn no_association(node_id: &NodeId) -> Rejection {
    Rejection::new(Cause::NO_ESTABLISHED_ASSOCIATION, format!("no association with {node_id:?}"))
}

/// The number of a Source Interface (§8.2.2).
fn interface_number(interface: Interface) -> u8 {
    match interface {
        Interface::Access => 0,
        Interface::Core => 1,
        Interface::SgiLan => 2,
        Interface::CpFunction => 3,
        Interface::VnInternal => 4,
    }
}

/// The IP address that reports to a session's CP function go to: of the family that we are spoken to in, if it has one.
pub(super) fn cp_address(cp: &crate::codec::FSeid, from: SocketAddr) -> IpAddr {
    let (v4, v6) = (cp.ipv4.map(IpAddr::V4), cp.ipv6.map(IpAddr::V6));
    let wanted = if from.is_ipv4() { v4.or(v6) } else { v6.or(v4) };
    wanted.unwrap_or(from.ip())
}
