//! Requests of ours that wait for their response.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use crate::codec::{MessageType, NodeId};
use crate::rules::Seid;

/// What a request of ours is for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum About {
    /// Whether the peer that was associated at this time lives.
    Heartbeat(NodeId, Duration),
    /// An association that we want.
    Setup(SocketAddr),
    /// Our wish to end an association.
    Release,
    /// Packets are buffered under this FAR.
    DownlinkData(Seid, u32),
    /// So many usage reports.
    Usage(Seid, u64),
    /// A peer refused this tunnel.
    ErrorIndication(Seid, u32, Ipv4Addr),
}

/// A request without an answer.
pub(super) struct Waiting {
    pub to: SocketAddr,
    pub octets: Vec<u8>,
    pub answer: MessageType,
    pub about: About,
    /// When it is sent again, or given up.
    pub deadline: Duration,
    pub sends_left: u32,
}

/// All of them, by sequence number.
pub(super) struct Requests {
    waiting: BTreeMap<u32, Waiting>,
    next_sequence: u32,
    most: usize,
}

/// Sequence numbers have 24 bits.
const SEQUENCE_MASK: u32 = 0x00ff_ffff;

impl Requests {
    pub fn new(most: usize) -> Requests {
        Requests { waiting: BTreeMap::new(), next_sequence: 1, most: most.min(SEQUENCE_MASK as usize) }
    }

    /// A sequence number that is not in use; `None` if too many requests wait.
    pub fn sequence(&mut self) -> Option<u32> {
        if self.is_full() {
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

    /// Whether no more may be sent before one is answered or given up.
    pub fn is_full(&self) -> bool {
        self.waiting.len() >= self.most
    }

    pub fn insert(&mut self, sequence: u32, waiting: Waiting) {
        self.waiting.insert(sequence, waiting);
    }

    /// Takes the request that a response is for.
    pub fn answered(&mut self, sequence: u32, kind: MessageType, from: IpAddr) -> Option<Waiting> {
        let fits =
            |waiting: &Waiting| (waiting.answer == kind || kind == MessageType::VersionNotSupportedResponse) && waiting.to.ip() == from;
        if self.waiting.get(&sequence).is_some_and(fits) { self.waiting.remove(&sequence) } else { None }
    }

    pub fn get_mut(&mut self, sequence: u32) -> Option<&mut Waiting> {
        self.waiting.get_mut(&sequence)
    }

    pub fn remove(&mut self, sequence: u32) -> Option<Waiting> {
        self.waiting.remove(&sequence)
    }
}
