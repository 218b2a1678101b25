//! Where do requests of ours go when an address of a CP function does not answer? To another one that speaks for it: an SMF of a set names the others with
//! its association (Alternative SMF IP Address, §5.22, §8.2.129), and one of them takes a session over with its answer (CP F-SEID, §7.5.9.1) or by a
//! modification.
//!
//! A request that was given up goes to the next address under its sequence number: who has it already knows it again. Later ones do not go to
//! the silent address until it is heard again. When all addresses are silent the peer is out of reach, and each is tried anew.
//!
//! A SEID means a session only at the address that gave it: another SMF is sent the SEID 0 and the session's F-SEID as its Old CP F-SEID (§7.5.8.1,
//! §7.2.2.4.2).
//!
//! SMFs of a set that have an association each (MPAS, §5.22.3) say so by their SMF Set ID: then the others' addresses come behind those of the
//! association itself.

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use super::associations::Association;
use super::requests::{About, Waiting};
use super::{Node, Timer};
use crate::codec::{AlternativeSmfIpAddress, FSeid, Ie, Message, NodeId, decode, find};
use crate::stats::LogCause;

/// Addresses that are known to be silent, at most: beyond, all are tried anew. A CP function may name another for each of its sessions.
const MAX_SILENT: usize = 4096;

/// How often one request goes to another address: two that never answer it, and are heard in between, would send it to and fro.
const MAX_MOVES: u8 = 16;

impl Node {
    /// The address of an association that a request for `wanted` goes to: another one while that is silent.
    pub(super) fn heard_at(&self, association: &Association, wanted: SocketAddr) -> SocketAddr {
        let silent = self.silent.contains(&wanted.ip());
        let other = silent.then(|| self.elsewhere(association, wanted.ip())).flatten();
        other.map_or(wanted, |address| self.at_port(association, address, wanted.port()))
    }

    /// Somebody speaks from that address.
    pub(super) fn heard(&mut self, from: IpAddr) {
        self.silent.remove(&from);
    }

    /// The address to try instead of one that is silent: preferred ones (PPE) first.
    fn elsewhere(&self, association: &Association, silent: IpAddr) -> Option<IpAddr> {
        let fits = |address: &IpAddr| {
            *address != silent
                && address.is_ipv4() == silent.is_ipv4()
                && !self.silent.contains(address)
                && self.may_be_asked(*address)
                && !self.is_anothers(association, *address)
        };
        let others = self.others_of_set(association).filter(|(_, other)| other.lost_at.is_none()).flat_map(|(_, other)| other.addresses());
        association.addresses().chain(others).find(fits)
    }

    /// An address to try, with the port of the one before, or that of another association's requests.
    fn at_port(&self, association: &Association, address: IpAddr, port: u16) -> SocketAddr {
        let other = self.others_of_set(association).map(|(_, other)| other.peer).find(|peer| peer.ip() == address);
        other.unwrap_or(SocketAddr::new(address, port))
    }

    /// A request that was given up goes to another address of the same CP function, if it has one that is not silent too. Whether it does.
    pub(super) fn fail_over(&mut self, sequence: u32, waiting: &mut Option<Waiting>, now: Duration) -> bool {
        let Some(Waiting { to, about, moves, .. }) = waiting else { return false };
        let Some(association) = self.whose(about, *to).and_then(|node_id| self.associations.get(&node_id)) else { return false };
        let from = *to;
        let Some(address) = self.elsewhere(association, from.ip()).filter(|_| *moves < MAX_MOVES) else {
            // None answers: the next request tries the first one again.
            let others = self.others_of_set(association).flat_map(|(_, other)| other.addresses());
            let all: Vec<IpAddr> = association.addresses().chain(others).chain([from.ip()]).collect();
            self.silent.retain(|address| !all.contains(address));
            return false;
        };
        let to = self.at_port(association, address, from.port());
        if self.silent.len() >= MAX_SILENT {
            self.silent.clear();
        }
        self.silent.insert(from.ip());
        if let Some(left_out) = self.may_log(LogCause::Association, now) {
            tracing::warn!(silent = %from.ip(), %address, left_out, "an address of a CP function does not answer: its requests go to another one");
        }
        self.send_to(sequence, waiting, to, now);
        true
    }

    /// A report that is to go to another SMF of the set, as the one that was asked says. Whether it does.
    pub(super) fn redirected(&mut self, waiting: &mut Option<Waiting>, from: SocketAddr, response: &Message, now: Duration) -> bool {
        let named = find!(response.ies, AlternativeSmfIpAddress);
        let Some(AlternativeSmfIpAddress { ipv4, ipv6, .. }) =
            named.filter(|_| response.cause() == Some(crate::codec::Cause::REDIRECTION_REQUESTED))
        else {
            return false;
        };
        let Ok(address) = self.usable(ipv4.map(IpAddr::V4), ipv6.map(IpAddr::V6), from) else { return false };
        let is_anothers = |of: &Waiting| {
            let own = self.whose(&of.about, of.to).and_then(|node_id| self.associations.get(&node_id));
            own.is_some_and(|association| self.is_anothers(association, address))
        };
        let fits = |of: &&Waiting| of.about.is_report() && of.to.ip() != address && of.moves < MAX_MOVES && !is_anothers(of);
        let Some(port) = waiting.as_ref().filter(fits).map(|of| of.to.port()) else { return false };
        self.send_to(response.sequence, waiting, SocketAddr::new(address, port), now);
        true
    }

    /// Sends a request that waited for one address to another, under its number.
    fn send_to(&mut self, sequence: u32, waiting: &mut Option<Waiting>, to: SocketAddr, now: Duration) {
        let Some(mut waiting) = waiting.take() else { return };
        let before = std::mem::replace(&mut waiting.to, to);
        (waiting.sends_left, waiting.deadline) = (self.config.n1 - 1, now + self.config.t1);
        waiting.moves += 1;
        if waiting.about.is_of_session()
            && let Ok(mut message) = decode(&waiting.octets)
        {
            let (own, peer) = self.session_of(&waiting.about).unwrap_or_else(|| self.session_in(&message, &waiting.about, before));
            address_report(&mut message, own, peer, to.ip());
            // As long as before, but for one element.
            waiting.octets = message.encode().unwrap_or(waiting.octets);
        }
        self.stats.failovers += 1;
        self.timers.insert((waiting.deadline, Timer::Resend(sequence)));
        self.transmit.push_back((to, waiting.octets.clone()));
        self.note_request(sequence, &waiting);
        self.requests.insert(sequence, waiting);
    }

    /// The CP F-SEID of the session that a report is about, and the address that knows it by that.
    fn session_of(&self, about: &About) -> Option<(FSeid, IpAddr)> {
        match about {
            About::DownlinkData(seid, _) | About::Usage(seid, _) | About::Inactivity(seid) | About::ErrorIndication(seid, ..) => {
                self.sessions.get(*seid).map(|session| (session.cp, session.peer.ip()))
            }
            About::Final(this) => Some(this.cp()),
            About::Setup(_) | About::Release | About::Heartbeat(..) | About::NodeReport => None,
        }
    }

    /// As [`Node::session_of`], of a session that has ended since: what its report to `to` says.
    fn session_in(&self, report: &Message, about: &About, to: SocketAddr) -> (FSeid, IpAddr) {
        let at = |own: &FSeid| self.whose(about, to).map_or(to.ip(), |node_id| self.report_address(own, to, &node_id).ip());
        match find!(report.ies, FSeid) {
            Some(own) => (*own, at(own)),
            None => (f_seid(report.seid.unwrap_or(0), to.ip()), to.ip()),
        }
    }

    /// The association that a request to an address is for, if it may go to another one.
    fn whose(&self, about: &About, to: SocketAddr) -> Option<NodeId> {
        match about {
            About::Setup(_) | About::Release => None,
            About::Heartbeat(node_id, since) => {
                Some(node_id).filter(|node_id| self.associations.get(node_id).is_some_and(|of| of.since == *since)).cloned()
            }
            About::DownlinkData(seid, _) | About::Inactivity(seid) | About::ErrorIndication(seid, ..) => {
                self.sessions.get(*seid).map(|session| session.node_id)
            }
            About::Usage(seid, of) => Some(self.sessions.get(*seid).map_or_else(|| of.node_id.clone(), |session| session.node_id)),
            About::Final(this) => Some(this.node_id().clone()),
            About::NodeReport => {
                let mut all = self.associations.iter();
                all.find(|(_, association)| association.is_of(to.ip(), &self.config)).map(|(node_id, _)| node_id.clone())
            }
        }
    }
}

/// The F-SEID of a session by the address that has given its SEID.
pub(super) fn f_seid(seid: u64, address: IpAddr) -> FSeid {
    let ipv4 = if let IpAddr::V4(address) = address { Some(address) } else { None };
    let ipv6 = if let IpAddr::V6(address) = address { Some(address) } else { None };
    FSeid { seid, ipv4, ipv6 }
}

/// Makes a report one for an address: by the SEID that this has given, or as another SMF's session.
pub(super) fn address_report(message: &mut Message, own: FSeid, peer: IpAddr, to: IpAddr) {
    message.ies.retain(|ie| !matches!(ie, Ie::FSeid(_)));
    if to == peer {
        message.seid = Some(own.seid);
    } else {
        message.seid = Some(0);
        message.ies.push(Ie::FSeid(own));
    }
}
