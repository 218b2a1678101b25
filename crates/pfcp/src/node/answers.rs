//! Answers kept for requests that come again (TS 29.244 §6.4): a retransmitted request is not executed twice.

use std::collections::{HashMap, VecDeque};
use std::hash::{DefaultHasher, Hasher};
use std::net::SocketAddr;
use std::time::Duration;

use crate::codec::MessageType;

/// What a request is known by. The sequence number alone does not do: some peers begin at 0 for every release.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Key {
    kind: MessageType,
    sequence: u32,
}

struct Answer {
    /// Hash of the request's octets, so that a reused sequence number is not taken for a retransmission.
    request: u64,
    octets: Vec<u8>,
    expires: Duration,
}

/// Answers by peer, oldest first out.
pub(super) struct Answers {
    by_peer: HashMap<SocketAddr, HashMap<Key, Answer>>,
    order: VecDeque<(Duration, SocketAddr, Key)>,
    lifetime: Duration,
    most: usize,
}

impl Answers {
    pub fn new(lifetime: Duration, most: usize) -> Answers {
        Answers { by_peer: HashMap::new(), order: VecDeque::new(), lifetime, most }
    }

    /// The answer given to the same request.
    pub fn find(&self, peer: SocketAddr, kind: MessageType, sequence: u32, request: &[u8], now: Duration) -> Option<&[u8]> {
        let answer = self.by_peer.get(&peer)?.get(&Key { kind, sequence })?;
        (answer.expires > now && answer.request == fingerprint(request)).then_some(&answer.octets)
    }

    /// Keeps an answer.
    pub fn keep(&mut self, peer: SocketAddr, kind: MessageType, sequence: u32, request: &[u8], octets: Vec<u8>, now: Duration) {
        while self.order.front().is_some_and(|(expires, ..)| *expires <= now || self.order.len() >= self.most) {
            self.drop_oldest();
        }
        if self.most == 0 {
            return;
        }
        let (key, expires) = (Key { kind, sequence }, now + self.lifetime);
        self.by_peer.entry(peer).or_default().insert(key, Answer { request: fingerprint(request), octets, expires });
        self.order.push_back((expires, peer, key));
    }

    /// Forgets a peer's answers: it has begun anew.
    pub fn forget(&mut self, peer: SocketAddr) {
        self.by_peer.remove(&peer);
    }

    fn drop_oldest(&mut self) {
        let Some((expires, peer, key)) = self.order.pop_front() else { return };
        let Some(answers) = self.by_peer.get_mut(&peer) else { return };
        // A newer answer under the same key has its own place in the order.
        if answers.get(&key).is_some_and(|answer| answer.expires == expires) {
            answers.remove(&key);
        }
        if answers.is_empty() {
            self.by_peer.remove(&peer);
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
        let mut answers = Answers::new(Duration::from_secs(10), 4);
        answers.keep(peer, KIND, 1, b"request", b"answer".to_vec(), Duration::ZERO);
        let find = |answers: &Answers, request: &[u8], s| answers.find(peer, KIND, 1, request, Duration::from_secs(s)).map(<[u8]>::to_vec);
        assert_eq!(find(&answers, b"request", 9), Some(b"answer".to_vec()));
        assert_eq!(find(&answers, b"another", 9), None);
        assert_eq!(find(&answers, b"request", 10), None);
        answers.forget(peer);
        assert_eq!(find(&answers, b"request", 1), None);
    }

    #[test]
    fn there_are_never_more_than_the_limit() {
        let mut answers = Answers::new(Duration::from_secs(10), 4);
        for n in 0..100 {
            let peer = SocketAddr::from(([192, 0, 2, n as u8], 8805));
            answers.keep(peer, KIND, n % 3, &[], vec![], Duration::from_secs(u64::from(n / 10)));
            assert!(answers.order.len() <= 4);
            assert!(answers.by_peer.values().map(HashMap::len).sum::<usize>() <= 4);
        }
    }
}
