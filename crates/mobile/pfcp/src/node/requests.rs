//! Our own requests that await a response.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::finals::Final;
use crate::codec::{MessageType, NodeId};
use crate::rules::Seid;

/// What a request of ours is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum About {
    /// Whether the peer that was associated at this time lives.
    Heartbeat(NodeId, Duration),
    /// An association that we want.
    Setup(SocketAddr),
    /// Our wish to end an association.
    Release,
    /// Packets are buffered under this FAR.
    DownlinkData(Seid, u32),
    /// Usage of a session that lives.
    Usage(Seid, Box<OfUsage>),
    /// The user plane of a session is inactive.
    Inactivity(Seid),
    /// Final usage of a session that has ended.
    Final(Box<Final>),
    /// A peer refused this tunnel.
    ErrorIndication(Seid, u32, Ipv4Addr),
    /// Something that all CP functions are told.
    NodeReport,
}

/// Whose usage a report tells, so that it can be kept if nobody answers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OfUsage {
    pub(super) node_id: NodeId,
    /// The CP function's recovery time stamp.
    pub(super) stamp: u32,
    /// Usage reports in it.
    pub(super) count: u64,
}

/// For the log: what it was and of whom, without what is in it.
impl std::fmt::Display for About {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            About::Heartbeat(node_id, _) => write!(f, "heartbeat of {node_id}"),
            About::Setup(_) => f.write_str("association setup"),
            About::Release => f.write_str("association release"),
            About::DownlinkData(seid, far_id) => write!(f, "downlink data of session {seid:#x}, FAR {far_id}"),
            About::Usage(seid, _) => write!(f, "usage of session {seid:#x}"),
            About::Inactivity(seid) => write!(f, "inactivity of session {seid:#x}"),
            About::Final(of) => write!(f, "final usage, {of}"),
            About::ErrorIndication(seid, teid, address) => write!(f, "error indication of {address}, TEID {teid:#x}, session {seid:#x}"),
            About::NodeReport => f.write_str("node report"),
        }
    }
}

impl About {
    /// Whether it is a report, of a session or of the node. What is about an association is sent again without being remembered.
    pub(super) fn is_report(&self) -> bool {
        !matches!(self, About::Heartbeat(..) | About::Setup(_) | About::Release)
    }

    /// Whether it is a report of a session.
    pub(super) fn is_of_session(&self) -> bool {
        self.is_report() && *self != About::NodeReport
    }

    /// The final usage in it.
    pub(super) fn of_final(&self) -> Option<&Final> {
        if let About::Final(this) = self { Some(this) } else { None }
    }

    /// Usage reports in it.
    pub(super) fn reports(&self) -> u64 {
        match self {
            About::Usage(_, of) => of.count,
            About::Final(this) => this.count,
            _ => 0,
        }
    }
}

/// A request without an answer.
pub(super) struct Waiting {
    pub(super) to: SocketAddr,
    pub(super) octets: Vec<u8>,
    pub(super) answer: MessageType,
    pub(super) about: About,
    /// When it is sent again, or given up.
    pub(super) deadline: Duration,
    pub(super) sends_left: u32,
    /// How often it went to another address.
    pub(super) moves: u8,
}

/// All of them, by sequence number.
pub(super) struct Requests {
    waiting: BTreeMap<u32, Waiting>,
    /// How many wait for each address.
    by_peer: HashMap<IpAddr, usize>,
    /// How many tell usage.
    usage: usize,
    /// Those that tell usage of a session that lived when they were sent.
    by_session: BTreeSet<(Seid, u32)>,
    next_sequence: u32,
    most: usize,
    most_per_peer: usize,
}

/// Sequence numbers have 24 bits.
const SEQUENCE_MASK: u32 = 0x00ff_ffff;

impl Requests {
    pub(super) fn new(most: usize, most_per_peer: usize) -> Requests {
        // Half of the numbers stay free, so that the next is soon found.
        let most = most.min(SEQUENCE_MASK as usize / 2);
        Requests {
            waiting: BTreeMap::new(),
            by_peer: HashMap::new(),
            usage: 0,
            by_session: BTreeSet::new(),
            next_sequence: 1,
            most,
            most_per_peer,
        }
    }

    /// A sequence number that is not in use, for a request to `to`; `None` if too many wait. Of what is about an association there
    /// is little, and it must not wait because reports do.
    pub(super) fn sequence(&mut self, to: IpAddr, about: &About) -> Option<u32> {
        if about.is_report() && self.is_full(to) {
            return None;
        }
        loop {
            let sequence = self.next_sequence;
            self.next_sequence = (sequence + 1) & SEQUENCE_MASK;
            if sequence != 0 && !self.waiting.contains_key(&sequence) {
                return Some(sequence);
            }
        }
    }

    /// The next sequence number to be tried.
    pub(super) fn next_sequence(&self) -> u32 {
        self.next_sequence
    }

    /// Goes on at another sequence number.
    pub(super) fn skip_to(&mut self, sequence: u32) {
        self.next_sequence = sequence & SEQUENCE_MASK;
    }

    /// Whether a request from before a crash can wait again under its sequence number.
    pub(super) fn has_room(&self, sequence: u32) -> bool {
        (1..=SEQUENCE_MASK).contains(&sequence) && !self.waiting.contains_key(&sequence) && self.waiting.len() < self.most
    }

    /// Whether no more reports may be sent to an address before one is answered or given up.
    pub(super) fn is_full(&self, to: IpAddr) -> bool {
        self.waiting.len() >= self.most || self.by_peer.get(&to).is_some_and(|count| *count >= self.most_per_peer)
    }

    /// Whether a report that was given up before may be sent to an address again: half of what may wait is for new ones.
    pub(super) fn has_room_again(&self, to: IpAddr) -> bool {
        let waiting = self.by_peer.get(&to).copied().unwrap_or(0);
        self.waiting.len() < self.most.div_ceil(2) && waiting < self.most_per_peer.div_ceil(2)
    }

    /// Reports of usage without an answer.
    pub(super) fn usage(&self) -> usize {
        self.usage
    }

    /// Who is to answer them.
    pub(super) fn usage_awaited_from(&self) -> BTreeSet<IpAddr> {
        self.waiting.values().filter(|waiting| waiting.about.reports() > 0).map(|waiting| waiting.to.ip()).collect()
    }

    /// Reports of one session's usage without an answer, by sequence number.
    pub(super) fn usage_of(&self, seid: Seid) -> Vec<u32> {
        self.by_session.range((seid, 0)..=(seid, u32::MAX)).map(|(_, sequence)| *sequence).collect()
    }

    /// Takes all reports of usage.
    pub(super) fn take_usage(&mut self) -> Vec<(u32, Waiting)> {
        let all = self.waiting.iter().filter(|(_, waiting)| waiting.about.reports() > 0);
        let sequences: Vec<u32> = all.map(|(sequence, _)| *sequence).collect();
        sequences.into_iter().filter_map(|sequence| Some((sequence, self.remove(sequence)?))).collect()
    }

    pub(super) fn insert(&mut self, sequence: u32, waiting: Waiting) {
        *self.by_peer.entry(waiting.to.ip()).or_default() += 1;
        self.usage += usize::from(waiting.about.reports() > 0);
        if let About::Usage(seid, _) = &waiting.about {
            self.by_session.insert((*seid, sequence));
        }
        self.waiting.insert(sequence, waiting);
    }

    /// Takes the request that a response is for.
    pub(super) fn answered(&mut self, sequence: u32, kind: MessageType, from: IpAddr) -> Option<Waiting> {
        let fits =
            |waiting: &Waiting| (waiting.answer == kind || kind == MessageType::VersionNotSupportedResponse) && waiting.to.ip() == from;
        if self.waiting.get(&sequence).is_some_and(fits) { self.remove(sequence) } else { None }
    }

    /// The peer that a request sets up an association with.
    pub(super) fn sets_up(&self, sequence: u32) -> Option<SocketAddr> {
        if let About::Setup(peer) = self.waiting.get(&sequence)?.about { Some(peer) } else { None }
    }

    /// Whether an association with a peer is asked for without an answer yet.
    pub(super) fn is_setting_up(&self, peer: SocketAddr) -> bool {
        self.waiting.values().any(|waiting| waiting.about == About::Setup(peer))
    }

    pub(super) fn get_mut(&mut self, sequence: u32) -> Option<&mut Waiting> {
        self.waiting.get_mut(&sequence)
    }

    pub(super) fn remove(&mut self, sequence: u32) -> Option<Waiting> {
        let waiting = self.waiting.remove(&sequence)?;
        self.usage -= usize::from(waiting.about.reports() > 0);
        if let About::Usage(seid, _) = &waiting.about {
            self.by_session.remove(&(*seid, sequence));
        }
        if let Some(count) = self.by_peer.get_mut(&waiting.to.ip()) {
            *count -= 1;
            if *count == 0 {
                self.by_peer.remove(&waiting.to.ip());
            }
        }
        Some(waiting)
    }
}
