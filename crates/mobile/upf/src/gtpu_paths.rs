//! Are the GTP-U peers of sessions there? Echo requests (TS 29.281 §7.2.1, TS 23.007 §20.3.1), where that is asked for.
//!
//! Each peer that sessions send tunnels to has its time; those of many peers are spread over a period. Left out: restart counters, which GTP-U does not
//! use (§7.2.2).

use std::collections::{BTreeMap, BTreeSet};
use std::net::Ipv4Addr;
use std::time::Duration;

use crate::networks::Vrf;

/// T3-RESPONSE and N3-REQUESTS: how long a response may take, and how often a request is sent before the path has failed.
const T3: Duration = Duration::from_secs(3);
const N3: u8 = 3;

/// Requests sent with one call of [`GtpuPaths::poll`], at most: what is left is sent with the next.
const AT_ONCE: usize = 64;

/// A peer in a network instance.
pub(crate) type Peer = (Vrf, Ipv4Addr);

/// All peers that are asked.
#[derive(Debug)]
pub(crate) struct GtpuPaths {
    period: Duration,
    paths: BTreeMap<Peer, Path>,
    due: BTreeSet<(Duration, Peer)>,
    next_sequence: u16,
    begun: u32,
}

#[derive(Debug)]
struct Path {
    due: Duration,
    /// The last request, if it has no response.
    waits_for: Option<u16>,
    /// Requests without a response, one after the other.
    missed: u8,
    failed: bool,
}

/// What comes of a poll.
#[derive(Debug, Default)]
pub(crate) struct Due {
    /// Echo requests to send, with their sequence numbers.
    pub(crate) requests: Vec<(Peer, u16)>,
    /// Peers that do not answer any more.
    pub(crate) failed: Vec<Ipv4Addr>,
}

impl GtpuPaths {
    /// Each peer is asked once in a period; none, if there is none.
    pub(crate) fn new(period: Duration) -> GtpuPaths {
        GtpuPaths { period, paths: BTreeMap::new(), due: BTreeSet::new(), next_sequence: 0, begun: 0 }
    }

    /// Sessions send to a peer from now on.
    pub(crate) fn begin(&mut self, peer: Peer, now: Duration) {
        if self.period.is_zero() {
            return;
        }
        self.begun = self.begun.wrapping_add(1);
        // By the golden ratio: any number of peers in a row is spread evenly.
        let share = u64::from(self.begun.wrapping_mul(0x9e37_79b9));
        let due = now + Duration::from_nanos((self.period.as_nanos() as u64 >> 32) * share);
        if let Some(before) = self.paths.insert(peer, Path { due, waits_for: None, missed: 0, failed: false }) {
            self.due.remove(&(before.due, peer));
        }
        self.due.insert((due, peer));
    }

    /// Goes on with another period. A path that has failed has failed until it answers.
    pub(crate) fn renew(&mut self, period: Duration, peers: impl Iterator<Item = Peer>, now: Duration) {
        if period == self.period {
            return;
        }
        let before = std::mem::replace(self, GtpuPaths::new(period));
        for peer in peers {
            self.begin(peer, now);
            let failed = before.paths.get(&peer).is_some_and(|path| path.failed);
            if let Some(path) = self.paths.get_mut(&peer).filter(|_| failed) {
                (path.failed, path.missed) = (true, N3);
            }
        }
    }

    /// No session sends to a peer any more.
    pub(crate) fn end(&mut self, peer: Peer) {
        if let Some(path) = self.paths.remove(&peer) {
            self.due.remove(&(path.due, peer));
        }
    }

    pub(crate) fn poll(&mut self, now: Duration) -> Due {
        let mut result = Due::default();
        while let Some((at, peer)) = self.due.first().copied().filter(|(at, _)| *at <= now)
            && result.requests.len() < AT_ONCE
        {
            self.due.remove(&(at, peer));
            let Some(path) = self.paths.get_mut(&peer) else { continue };
            path.missed += u8::from(path.waits_for.is_some() && path.missed < N3);
            if path.missed == N3 && !std::mem::replace(&mut path.failed, true) {
                result.failed.push(peer.1);
            }
            self.next_sequence = self.next_sequence.wrapping_add(1);
            path.waits_for = Some(self.next_sequence);
            // One that has failed is asked as seldom as one that works.
            path.due = now + if path.missed < N3 { T3 } else { self.period };
            self.due.insert((path.due, peer));
            result.requests.push((peer, self.next_sequence));
        }
        result
    }

    /// A response of a peer; whether it was asked, and whether its path works again.
    pub(crate) fn answered(&mut self, peer: Peer, sequence: Option<u16>, now: Duration) -> Option<bool> {
        let path = self.paths.get_mut(&peer).filter(|path| path.waits_for.is_some() && path.waits_for == sequence)?;
        let works_again = path.failed;
        self.due.remove(&(path.due, peer));
        *path = Path { due: now + self.period, waits_for: None, missed: 0, failed: false };
        self.due.insert((path.due, peer));
        Some(works_again)
    }
}
