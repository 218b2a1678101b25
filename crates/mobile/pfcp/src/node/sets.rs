//! Sets of sessions that a CP function deletes or hands over at once (§6.2.10, §6.2.11; TS 23.007 §23, TS 23.527 §4.6): those of an FQ-CSID, of a
//! Group ID, or of one of its addresses.
//!
//! A set is of one association: its CP function names no other's sessions. A hand-over says where reports go from now on; it is looked up
//! when there is one, so a million sessions take no longer than one.
//!
//! Left out: FQ-CSIDs of our own. We lose all sessions or none.

use std::collections::BTreeSet;
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::Node;
use super::associations::{node_id, unreadable};
use super::journal::Key;
use super::sessions::Session;
use crate::codec::{Cause, CsidNode, Group, Ie, Message, PeerAddress, find, number};
use crate::rules::Seid;
use crate::session::{Rejection, refuse_flaws, refuse_unsupported};
use crate::work::steps;

/// Sets of one association that are handed over, at most: some for each SMF of a set.
const MAX_HANDED_OVER: usize = 256;

/// Sets that a session is in, at most: those of each node on its way. And octets of a Group ID.
const MAX_SETS: usize = 16;
const MAX_GROUP_ID: usize = 64;

/// What sessions have in common.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub(crate) enum Set {
    /// A CSID of a node.
    Csid(CsidNode, u16),
    /// A Group ID.
    Group(Vec<u8>),
    /// An address of the CP function, in its F-SEID.
    CpAddress(IpAddr),
}

/// Where reports of a set's sessions go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct HandOver {
    pub(super) to: IpAddr,
    /// Since when; a session whose CP function tells its address later is that one's.
    pub(super) at: Duration,
}

/// The sets that a request puts a session in; of FQ-CSIDs and of Group IDs only those that it has.
pub(crate) fn sets(ies: &[Ie], before: &[Set]) -> Result<Vec<Set>, Rejection> {
    let has = |ie_type: u16| ies.iter().any(|ie| ie.ie_type() == ie_type);
    let (csids, groups) = (has(number::FqCsid), has(number::GroupId));
    let stays = |set: &&Set| if matches!(set, Set::Group(_)) { !groups } else { !csids };
    let mut sets: Vec<Set> = before.iter().filter(stays).cloned().collect();
    for ie in ies {
        match ie {
            Ie::FqCsid(these) => sets.extend(these.csids.iter().map(|csid| Set::Csid(these.node, *csid))),
            Ie::GroupId(id) if id.len() <= MAX_GROUP_ID => sets.push(Set::Group(id.clone())),
            Ie::GroupId(id) => return Err(Rejection::new(Cause::NO_RESOURCES, format!("a Group ID of {} octets", id.len()))),
            _ => {}
        }
    }
    if sets.len() > MAX_SETS {
        return Err(Rejection::new(Cause::NO_RESOURCES, format!("a session in more than {MAX_SETS} sets")));
    }
    Ok(sets)
}

impl Session {
    /// The sets that it is in.
    fn sets(&self) -> impl Iterator<Item = Set> + '_ {
        let addresses = self.cp.ipv4.map(IpAddr::V4).into_iter().chain(self.cp.ipv6.map(IpAddr::V6));
        self.context.sets.iter().cloned().chain(addresses.map(Set::CpAddress))
    }
}

impl Node {
    /// Session Set Deletion Request (§7.4.6): the CP function has lost these sessions.
    pub(super) fn delete_sets(&mut self, from: SocketAddr, request: &Message) -> Result<Group, Rejection> {
        let node_id = self.own_association(node_id(request)?, from)?;
        refuse_flaws(&request.ies)?;
        refuse_unsupported(&request.ies)?;
        let csids = request.ies.iter().filter_map(|ie| if let Ie::FqCsid(these) = ie { Some(these) } else { None });
        let mut named: BTreeSet<Seid> = BTreeSet::new();
        for these in csids.clone() {
            for csid in &these.csids {
                let range = (these.node, *csid, 0)..=(these.node, *csid, Seid::MAX);
                named.extend(self.csids.range(range).map(|(_, _, seid)| *seid));
            }
        }
        if csids.count() == 0 {
            return Err(unreadable(&request.ies, number::FqCsid));
        }
        if let Some(association) = self.associations.get_mut(&node_id) {
            named.retain(|seid| association.sessions.remove(seid));
        }
        // After a crash nothing is left to be done for them: nobody wants their usage.
        named.iter().for_each(|seid| self.journal.remove(Key::Session(*seid)));
        tracing::info!(%node_id, sessions = named.len(), "a set of sessions ends");
        self.sessions.end_set(named);
        Ok(vec![Ie::NodeId(self.config.node_id.clone()), Ie::Cause(Cause::REQUEST_ACCEPTED)])
    }

    /// Session Set Modification Request (§7.4.7): another CP function of the SMF set takes these sessions over.
    pub(super) fn hand_over_sets(&mut self, from: SocketAddr, request: &Message, now: Duration) -> Result<Group, Rejection> {
        let node_id = self.own_association(node_id(request)?, from)?;
        refuse_flaws(&request.ies)?;
        refuse_unsupported(&request.ies)?;
        let mut handed_over = Vec::new();
        for ie in &request.ies {
            let Ie::SessionChangeInfo(ies) = ie else { continue };
            let to = *find!(ies, AlternativeSmfIpAddress).ok_or_else(|| unreadable(ies, number::AlternativeSmfIpAddress))?;
            let to = self.usable(to.ipv4.map(IpAddr::V4), to.ipv6.map(IpAddr::V6), from)?;
            if self.associations.get(&node_id).is_some_and(|own| self.is_anothers(own, to)) {
                self.stats.foreign += 1;
                return Err(not_usable(Some(to)));
            }
            let before = handed_over.len();
            steps(ies.len());
            handed_over.extend(sets(ies, &[])?.into_iter().map(|set| (set, to)));
            for ie in ies {
                let Ie::CpIpAddress(PeerAddress { ipv4, ipv6 }) = ie else { continue };
                let addresses = ipv4.map(IpAddr::V4).into_iter().chain(ipv6.map(IpAddr::V6));
                handed_over.extend(addresses.map(|address| (Set::CpAddress(address), to)));
            }
            if handed_over.len() == before {
                let why = "neither FQ-CSID nor Group ID nor CP IP Address".into();
                return Err(Rejection { offending: Some(number::FqCsid), ..Rejection::new(Cause::CONDITIONAL_IE_MISSING, why) });
            }
        }
        if handed_over.is_empty() {
            return Err(unreadable(&request.ies, number::SessionChangeInfo));
        }
        // The one that takes over may have an association of its own: it speaks for the sessions of all of its SMF set (§5.22.3).
        let (mut all, mut alternatives) = (Vec::new(), None);
        if let Some(own) = self.associations.get(&node_id) {
            for (node_id, association) in self.others_of_set(own).chain([(&node_id, own)]) {
                let new = handed_over.iter().filter(|(set, _)| !association.handed_over.contains_key(set)).count();
                if association.handed_over.len() + new > MAX_HANDED_OVER {
                    let why = format!("more than {MAX_HANDED_OVER} sets handed over");
                    return Err(Rejection { offending: Some(number::SessionChangeInfo), ..Rejection::new(Cause::NO_RESOURCES, why) });
                }
                all.push(node_id.clone());
            }
            // What it names speaks for its own association, and so for the set's sessions, but not for the others' associations.
            let speaks = |to: &IpAddr| self.other_of_set_at(own, *to).is_some();
            alternatives = Some(own.with_alternatives(handed_over.iter().map(|(_, to)| *to).filter(|to| !speaks(to)))?);
        }
        if let (Some(own), Some(alternatives)) = (self.associations.get_mut(&node_id), alternatives) {
            own.speak_too(alternatives);
        }
        let these: Vec<(Set, HandOver)> = handed_over.into_iter().map(|(set, to)| (set, HandOver { to, at: now })).collect();
        for node_id in all {
            if let Some(association) = self.associations.get_mut(&node_id) {
                association.handed_over.extend(these.iter().cloned());
            }
            self.usage_handed_over(&node_id, &these);
            self.note_association(&node_id);
        }
        Ok(vec![Ie::NodeId(self.config.node_id.clone()), Ie::Cause(Cause::REQUEST_ACCEPTED)])
    }

    /// An address that requests of ours may go to, of the family that we are spoken to in if there are two.
    pub(super) fn usable(&self, ipv4: Option<IpAddr>, ipv6: Option<IpAddr>, from: SocketAddr) -> Result<IpAddr, Rejection> {
        let address = if from.is_ipv4() { ipv4.or(ipv6) } else { ipv6.or(ipv4) };
        address.filter(|address| self.may_be_asked(*address)).ok_or_else(|| not_usable(address))
    }

    /// Where reports of a session go now.
    pub(super) fn reports_to(&self, session: &Session) -> SocketAddr {
        let Some(association) = self.associations.get(&session.node_id) else { return session.peer };
        if association.handed_over.is_empty() {
            return self.heard_at(association, session.peer);
        }
        // The address may have become another CP function's since.
        let holds = |hand_over: &&HandOver| hand_over.at >= session.peer_since && !self.is_anothers(association, hand_over.to);
        let newer = |set| association.handed_over.get(&set).filter(holds);
        let newest = session.sets().filter_map(newer).max_by_key(|hand_over| hand_over.at);
        let wanted = newest.map_or(session.peer, |hand_over| SocketAddr::new(hand_over.to, session.peer.port()));
        self.heard_at(association, wanted)
    }

    /// Makes the index of sessions by their CSIDs follow a session's sets.
    pub(super) fn note_sets(&mut self, seid: Seid, before: &[Set], now: &[Set]) {
        for set in before.iter().filter(|set| !now.contains(set)) {
            if let Set::Csid(node, csid) = set {
                self.csids.remove(&(*node, *csid, seid));
            }
        }
        for set in now {
            if let Set::Csid(node, csid) = set {
                self.csids.insert((*node, *csid, seid));
            }
        }
    }
}

fn not_usable(address: Option<IpAddr>) -> Rejection {
    let named = address.map_or("none".into(), |address| address.to_string());
    let why = format!("Alternative SMF IP Address {named}: no address in n4.peers of this CP function or its set");
    Rejection { offending: Some(number::AlternativeSmfIpAddress), ..Rejection::new(Cause::REQUEST_REJECTED, why) }
}
