//! Responses kept for retransmitted requests (TS 29.244 §6.4): a request is not executed twice.
//!
//! Each address has its own limits of number and octets; beyond them its own oldest response is dropped, never another peer's.

use std::collections::{BTreeMap, HashMap, VecDeque};
use std::hash::{DefaultHasher, Hasher};
use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::codec::MessageType;

/// Octets of kept answers for one address at most: an answer with usage reports of many URRs has some 20,000.
const MAX_OCTETS_PER_PEER: usize = 8 << 20;

/// What a request is known by. The sequence number alone does not do: some peers begin at 0 for every release.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Key {
    peer: SocketAddr,
    kind: MessageType,
    sequence: u32,
}

struct Answer {
    key: Key,
    /// Hash of the request's octets, so that a reused sequence number is not taken for a retransmission.
    request: u64,
    octets: Vec<u8>,
    expires: Duration,
}

/// An answer as it is kept for after a crash.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Record {
    pub(super) number: u64,
    peer: SocketAddr,
    kind: u8,
    sequence: u32,
    request: u64,
    octets: Vec<u8>,
    /// When it was given.
    given: Duration,
}

impl Record {
    pub(super) fn octets(&self) -> &[u8] {
        &self.octets
    }

    pub(super) fn peer(&self) -> SocketAddr {
        self.peer
    }

    pub(super) fn given(&self) -> Duration {
        self.given
    }
}

/// Answers that are forgotten at a time: a millisecond's work.
const EXPIRED_AT_ONCE: usize = 2048;

/// Answers in the order in which they were given.
pub(super) struct Answers {
    kept: BTreeMap<u64, Answer>,
    next: u64,
    by_key: BTreeMap<Key, u64>,
    by_peer: HashMap<IpAddr, OfPeer>,
    lifetime: Duration,
    most: usize,
    most_per_peer: usize,
}

/// What one address has.
#[derive(Default)]
struct OfPeer {
    /// Oldest first; some are gone already.
    order: VecDeque<u64>,
    octets: usize,
}

impl Answers {
    pub(super) fn new(lifetime: Duration, most: usize, most_per_peer: usize) -> Answers {
        Answers { kept: BTreeMap::new(), next: 0, by_key: BTreeMap::new(), by_peer: HashMap::new(), lifetime, most, most_per_peer }
    }

    /// The answer given to the same request.
    pub(super) fn find(&self, peer: SocketAddr, kind: MessageType, sequence: u32, request: &[u8], now: Duration) -> Option<&[u8]> {
        let answer = self.kept.get(self.by_key.get(&Key { peer, kind, sequence })?)?;
        (answer.expires > now && answer.request == fingerprint(request)).then_some(&answer.octets)
    }

    /// Keeps an answer; its number, unless there is no room for it.
    pub(super) fn keep(
        &mut self,
        peer: SocketAddr,
        kind: MessageType,
        sequence: u32,
        request: &[u8],
        octets: Vec<u8>,
        now: Duration,
    ) -> Option<u64> {
        self.insert(Key { peer, kind, sequence }, fingerprint(request), octets, now)
    }

    /// The record of an answer, unless it is forgotten.
    pub(super) fn record(&self, number: u64) -> Option<Record> {
        let Answer { key, request, octets, expires } = self.kept.get(&number)?;
        let given = expires.saturating_sub(self.lifetime);
        Some(Record {
            number,
            peer: key.peer,
            kind: key.kind.number(),
            sequence: key.sequence,
            request: *request,
            octets: octets.clone(),
            given,
        })
    }

    /// The number of the oldest answer.
    pub(super) fn oldest(&self) -> Option<u64> {
        self.kept.first_key_value().map(|(number, _)| *number)
    }

    /// Whether an answer that was given before a crash was still kept at a time.
    pub(super) fn is_of_use(&self, record: &Record, at: Duration) -> bool {
        record.given.saturating_add(self.lifetime) > at
    }

    /// Whether its record has at least half of an answer's time left. In others the time without a node would count when there is another crash.
    pub(super) fn is_young(&self, record: &Record, at: Duration) -> bool {
        record.given.saturating_add(self.lifetime / 2) > at
    }

    /// Keeps an answer again that was given before a crash. To be called in the order of their numbers.
    pub(super) fn restore(&mut self, record: Record, now: Duration) {
        self.next = self.next.max(record.number);
        let key = Key { peer: record.peer, kind: record.kind.into(), sequence: record.sequence };
        self.insert(key, record.request, record.octets, now);
    }

    fn insert(&mut self, key: Key, request: u64, octets: Vec<u8>, now: Duration) -> Option<u64> {
        while let Some((&oldest, answer)) = self.kept.first_key_value()
            && (answer.expires <= now || self.kept.len() >= self.most)
        {
            self.remove(oldest);
        }
        if let Some(&before) = self.by_key.get(&key) {
            self.remove(before);
        }
        if self.most.min(self.most_per_peer) == 0 || octets.len() > MAX_OCTETS_PER_PEER {
            return None;
        }
        let address = key.peer.ip();
        while let Some(of_peer) = self.by_peer.get_mut(&address)
            && (of_peer.order.len() >= self.most_per_peer || of_peer.octets + octets.len() > MAX_OCTETS_PER_PEER)
            && let Some(oldest) = of_peer.order.pop_front()
        {
            self.remove(oldest);
        }
        let of_peer = self.by_peer.entry(address).or_default();
        of_peer.order.push_back(self.next);
        of_peer.octets += octets.len();
        self.by_key.insert(key, self.next);
        self.kept.insert(self.next, Answer { key, request, octets, expires: now + self.lifetime });
        self.next += 1;
        Some(self.next - 1)
    }

    /// Forgets some of the answers that have expired: with those that nobody asks for again their memory goes too.
    pub(super) fn expire(&mut self, now: Duration) {
        for _ in 0..EXPIRED_AT_ONCE {
            let Some((&oldest, _)) = self.kept.first_key_value().filter(|(_, answer)| answer.expires <= now) else { return };
            self.remove(oldest);
        }
    }

    /// Forgets the responses kept for a peer that has restarted.
    pub(super) fn forget(&mut self, peer: SocketAddr) {
        let first = Key { peer, kind: MessageType::HeartbeatRequest, sequence: 0 };
        let last = Key { peer, kind: MessageType::Other(u8::MAX), sequence: u32::MAX };
        let numbers: Vec<u64> = self.by_key.range(first..=last).map(|(_, number)| *number).collect();
        numbers.into_iter().for_each(|number| self.remove(number));
    }

    fn remove(&mut self, number: u64) {
        let Some(answer) = self.kept.remove(&number) else { return };
        self.by_key.remove(&answer.key);
        let address = answer.key.peer.ip();
        let Some(of_peer) = self.by_peer.get_mut(&address) else { return };
        of_peer.octets -= answer.octets.len();
        while of_peer.order.front().is_some_and(|number| !self.kept.contains_key(number)) {
            of_peer.order.pop_front();
        }
        if of_peer.order.is_empty() {
            self.by_peer.remove(&address);
        }
    }
}

fn fingerprint(octets: &[u8]) -> u64 {
    let mut hasher = DefaultHasher::new();
    hasher.write(octets);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    const KIND: MessageType = MessageType::SessionDeletionRequest;

    #[test]
    fn the_same_request_is_found_until_it_expires() {
        let peer = "192.0.2.1:8805".parse().unwrap();
        let mut answers = Answers::new(Duration::from_secs(10), 4, 4);
        answers.keep(peer, KIND, 1, b"request", b"answer".to_vec(), Duration::ZERO);
        let find = |answers: &Answers, request: &[u8], s| answers.find(peer, KIND, 1, request, Duration::from_secs(s)).map(<[u8]>::to_vec);
        assert_eq!(find(&answers, b"request", 9), Some(b"answer".to_vec()));
        assert_eq!(find(&answers, b"another", 9), None);
        assert_eq!(find(&answers, b"request", 10), None);
        answers.forget(peer);
        assert_eq!(find(&answers, b"request", 1), None);
    }

    #[test]
    fn answers_that_have_expired_go_without_another_message() {
        let mut answers = Answers::new(Duration::from_secs(10), 8192, 8192);
        for sequence in 0..5000 {
            let peer = format!("192.0.2.{}:8805", sequence % 5).parse().unwrap();
            answers.keep(peer, KIND, sequence, b"request", b"answer".to_vec(), Duration::from_millis(sequence.into()));
        }
        answers.expire(Duration::from_secs(10) - Duration::from_millis(1));
        assert_eq!(answers.kept.len(), 5000);
        answers.expire(Duration::from_millis(10_999));
        assert_eq!(answers.kept.len(), 4000);
        for _ in 0..3 {
            answers.expire(Duration::from_secs(20));
        }
        assert_eq!((answers.kept.len(), answers.by_key.len(), answers.by_peer.len()), (0, 0, 0));
    }

    #[test]
    fn there_are_never_more_than_the_limit() {
        let mut answers = Answers::new(Duration::from_secs(10), 4, 3);
        for n in 0..100 {
            let peer = SocketAddr::from(([192, 0, 2, n as u8 % 7], 8805));
            answers.keep(peer, KIND, n % 3, &[], vec![0; 5], Duration::from_secs(u64::from(n / 10)));
            assert!(answers.kept.len() <= 4 && answers.by_key.len() == answers.kept.len());
            assert!(answers.by_peer.values().all(|of_peer| of_peer.order.len() <= 3));
            assert_eq!(answers.by_peer.values().map(|of_peer| of_peer.octets).sum::<usize>(), answers.kept.len() * 5);
        }
    }

    #[test]
    fn one_peers_answers_take_no_others_place() {
        let (honest, other) = (SocketAddr::from(([192, 0, 2, 1], 8805)), SocketAddr::from(([192, 0, 2, 2], 8805)));
        let mut answers = Answers::new(Duration::from_secs(10), 100, 10);
        answers.keep(honest, KIND, 1, b"request", b"answer".to_vec(), Duration::ZERO);
        for n in 0..1000 {
            answers.keep(other, KIND, n, &[], vec![0; 4 << 20], Duration::ZERO);
        }
        assert!(answers.find(honest, KIND, 1, b"request", Duration::ZERO).is_some());
        assert!(answers.find(other, KIND, 999, &[], Duration::ZERO).is_some());
        assert!(answers.by_peer[&other.ip()].octets <= MAX_OCTETS_PER_PEER);
    }
}
