//! Rate limits of messages and reports per peer address.
//!
//! [`Config::allows`](crate::config::Config::allows) decides whether a peer may use N4 at all, and for which association
//! [`Node::speaks_for`](super::Node::speaks_for) does.

use std::collections::BTreeMap;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::net::IpAddr;
use std::time::Duration;

use crate::codec::MessageType;
use crate::stats::MessageCounts;

/// A message longer than this counts once for each so many octets: work is in proportion to length.
const OCTETS_PER_MESSAGE: usize = 1500;

/// Messages per second from an address without association: enough to set one up and to receive rejections.
const UNASSOCIATED_PER_SECOND: u32 = 100;

/// Heartbeats a second, requests and responses, that an associated address may send besides its other messages.
const HEARTBEATS_PER_SECOND: u32 = 20;

/// A heartbeat is no longer than this: a time stamp, a source address, and room for what a later release adds.
const HEARTBEAT_OCTETS: usize = 128;

/// Rows of budgets that are shared by those whose hash is the same.
const ROWS: usize = 1024;

const SECOND: Duration = Duration::from_secs(1);

/// A budget of so many a second, and as many at once. It keeps the time up to which it is spent, which lies ahead of now by at
/// most a second.
#[derive(Clone, Copy, Default)]
pub(super) struct Budget {
    spent_until: Duration,
}

impl Budget {
    /// Spends `count` of `per_second`; whether there was so much left. One that is larger than a whole second's passes alone.
    pub(super) fn spend(&mut self, count: u32, per_second: u32, now: Duration) -> bool {
        let Some(each) = SECOND.checked_div(per_second) else { return false };
        let from = self.spent_until.max(now);
        let until = from + (each * count).min(SECOND);
        let enough = until <= now + SECOND;
        if enough {
            self.spent_until = until;
        }
        enough
    }
}

/// Budgets of addresses without an entry of their own: one for each hash. The hash is keyed, so that nobody can choose whose
/// budget to use up.
pub(super) struct Rows {
    key: u64,
    budgets: Vec<Budget>,
}

impl Rows {
    pub(super) fn new(key: u64) -> Rows {
        Rows { key, budgets: vec![Budget::default(); ROWS] }
    }

    pub(super) fn of(&mut self, who: impl Hash) -> &mut Budget {
        let mut hasher = DefaultHasher::new();
        hasher.write_u64(self.key);
        who.hash(&mut hasher);
        let row = hasher.finish() as usize % ROWS;
        &mut self.budgets[row]
    }
}

/// The addresses that associations were set up from, and what each has spent.
pub(super) struct Peers {
    associated: BTreeMap<IpAddr, Peer>,
    others: Rows,
}

struct Peer {
    associations: usize,
    messages: Budget,
    heartbeats: Budget,
    counts: MessageCounts,
}

impl Peers {
    pub(super) fn new(key: u64) -> Peers {
        Peers { associated: BTreeMap::new(), others: Rows::new(key) }
    }

    /// Associations that an address has set up.
    pub(super) fn associations(&self, address: IpAddr) -> usize {
        self.associated.get(&address).map_or(0, |peer| peer.associations)
    }

    /// The messages of an address with an association.
    pub(super) fn counts(&self, address: IpAddr) -> Option<&MessageCounts> {
        self.associated.get(&address).map(|peer| &peer.counts)
    }

    /// The same, to be changed.
    pub(super) fn counts_mut(&mut self, address: IpAddr) -> Option<&mut MessageCounts> {
        self.associated.get_mut(&address).map(|peer| &mut peer.counts)
    }

    pub(super) fn begin_association(&mut self, address: IpAddr) {
        // What it has spent stays spent: to release an association and set up another buys nothing.
        let messages = *self.others.of(address);
        let new = || Peer { associations: 0, messages, heartbeats: Budget::default(), counts: MessageCounts::default() };
        let peer = self.associated.entry(address).or_insert_with(new);
        peer.associations += 1;
    }

    pub(super) fn end_association(&mut self, address: IpAddr) {
        let Some(peer) = self.associated.get_mut(&address) else { return };
        peer.associations -= 1;
        if peer.associations == 0
            && let Some(peer) = self.associated.remove(&address)
        {
            *self.others.of(address) = peer.messages;
        }
    }

    /// Whether the next message of a datagram is within its sender's budget, of which it takes its part. `octets` are the rest of
    /// the datagram: the header is enough, nothing is decoded for a sender over its budget. A sender without association may have
    /// the rest of one that it speaks for, by that one's address `main`.
    pub(super) fn admits(
        &mut self,
        from: IpAddr,
        main: impl FnOnce() -> Option<IpAddr>,
        octets: &[u8],
        per_second: u32,
        now: Duration,
    ) -> bool {
        let claimed = octets.get(2..4).map_or(0, |length| 4 + usize::from(u16::from_be_bytes([length[0], length[1]])));
        let length = claimed.min(octets.len());
        let count = length.div_ceil(OCTETS_PER_MESSAGE).max(1) as u32;
        let peer = match self.associated.get_mut(&from) {
            Some(peer) => peer,
            None if self.others.of(from).spend(count, UNASSOCIATED_PER_SECOND, now) => return true,
            None => match main().and_then(|main| self.associated.get_mut(&main)) {
                Some(peer) => peer,
                None => return false,
            },
        };
        let kind = octets.get(1).map_or(MessageType::Other(0), |kind| MessageType::from(*kind));
        let heartbeat = matches!(kind, MessageType::HeartbeatRequest | MessageType::HeartbeatResponse) && length <= HEARTBEAT_OCTETS;
        (heartbeat && peer.heartbeats.spend(1, HEARTBEATS_PER_SECOND, now))
            || per_second == 0
            || peer.messages.spend(count, per_second, now)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_budget_gives_a_seconds_worth_at_once_and_then_so_many_a_second() {
        let mut budget = Budget::default();
        let at = |ms| Duration::from_millis(ms);
        let spent = |budget: &mut Budget, now| (0..100).filter(|_| budget.spend(1, 10, now)).count();
        assert_eq!(spent(&mut budget, at(0)), 10);
        assert_eq!(spent(&mut budget, at(99)), 0);
        assert_eq!(spent(&mut budget, at(300)), 3);
        assert_eq!(spent(&mut budget, at(100_000)), 10, "what was not spent does not add up");
        assert!(!Budget::default().spend(1, 0, at(0)));
        assert!(Budget::default().spend(50, 10, at(0)), "one large one passes alone");
    }

    #[test]
    fn a_long_message_counts_as_many() {
        let mut peers = Peers::new(1);
        let address = IpAddr::from([10, 0, 0, 1]);
        peers.begin_association(address);
        let long = [&[0x20, 50, 0xff, 0xf0][..], &[0; 0xfff0]].concat();
        let admitted =
            |peers: &mut Peers, octets: &[u8]| (0..1000).filter(|_| peers.admits(address, || None, octets, 440, Duration::ZERO)).count();
        assert_eq!(admitted(&mut peers, &long), 10, "44 for each");
    }
}
