//! What N4 receives: messages in order of arrival, but heartbeats first. What it sends: [`crate::n4::output`].
//!
//! An SMF that requests thousands of sessions at once must not consider its UPF dead (TS 29.244 clause 6.2.2): a Heartbeat Request waits
//! only for the message that is being processed, not for those that are queued. So nothing waits in the socket either: what the queue has no room for
//! is dropped and counted here, and its sender sends it again (clause 6.4).

use cli::failure::Failure;
use crossbeam_channel::{Receiver, TrySendError, bounded};
use std::net::{SocketAddr, UdpSocket};
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

/// Messages in the queue, at most.
const QUEUED: usize = 4096;
/// Heartbeat Requests in a queue of their own, at most; what comes then is queued with the others.
const HEARTBEATS: usize = 256;
/// Octet 2 of a Heartbeat Request and of its response (TS 29.244 table 7.3-1).
const HEARTBEAT_REQUEST: u8 = 1;
const HEARTBEAT_RESPONSE: u8 = 2;
/// Longest UDP payload, in bytes.
const LONGEST: usize = 65_536;

/// A message, with its sender or where it goes.
pub type Datagram = (SocketAddr, Vec<u8>);

/// Whether a datagram of ours is a heartbeat.
pub fn is_heartbeat(octets: &[u8]) -> bool {
    matches!(octets.get(1), Some(&(HEARTBEAT_REQUEST | HEARTBEAT_RESPONSE)))
}

/// What has come and is not processed.
pub struct Datagrams {
    /// Heartbeat Requests.
    pub heartbeats: Receiver<Datagram>,
    /// All else.
    pub others: Receiver<Datagram>,
}

impl Datagrams {
    /// Reads `socket` on a thread of its own, so that the agent can wait for several things at once; counts what there is no room for. The thread ends
    /// with the first message after this value is dropped.
    pub fn read(socket: Arc<UdpSocket>, dropped: Arc<AtomicU64>) -> Result<Datagrams, Failure> {
        let (others, others_out) = bounded(QUEUED);
        let (heartbeats, heartbeats_out) = bounded(HEARTBEATS);
        let read = move || {
            let mut buffer = vec![0; LONGEST];
            loop {
                let (from, octets) = match socket.recv_from(&mut buffer) {
                    Ok((n, from)) => (from, buffer[..n].to_vec()),
                    // A peer that is not listening (ICMP port unreachable) must not end N4.
                    Err(e) => {
                        tracing::debug!("N4 socket: {e}");
                        std::thread::sleep(Duration::from_millis(1));
                        continue;
                    }
                };
                let mut datagram = (from, octets);
                if datagram.1.get(1) == Some(&HEARTBEAT_REQUEST) {
                    datagram = match heartbeats.try_send(datagram) {
                        Ok(()) => continue,
                        Err(TrySendError::Full(datagram) | TrySendError::Disconnected(datagram)) => datagram,
                    };
                }
                match others.try_send(datagram) {
                    Ok(()) => {}
                    Err(TrySendError::Full(_)) => drop(dropped.fetch_add(1, Ordering::Relaxed)),
                    Err(TrySendError::Disconnected(_)) => return,
                }
            }
        };
        std::thread::Builder::new().name("n4".into()).spawn(read).map_err(|e| Failure::Failed(format!("cannot start N4: {e}")))?;
        Ok(Datagrams { heartbeats: heartbeats_out, others: others_out })
    }

    /// Messages that wait, and how many have room to.
    pub fn backlog(&self) -> (usize, usize) {
        (self.others.len(), QUEUED)
    }

    /// The next message, if there is one.
    pub fn try_next(&self) -> Option<Datagram> {
        self.heartbeats.try_recv().or_else(|_| self.others.try_recv()).ok()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 4,096 session requests that were queued were processed before it: more than a second.
    #[test]
    fn a_heartbeat_does_not_wait_for_requests_that_are_queued() {
        let socket = Arc::new(UdpSocket::bind("127.0.0.1:0").unwrap());
        let (peer, upf) = (UdpSocket::bind("127.0.0.1:0").unwrap(), socket.local_addr().unwrap());
        let datagrams = Datagrams::read(socket, Arc::default()).unwrap();
        let mut sent = Vec::new();
        for kind in [50, 50, HEARTBEAT_REQUEST, 50, HEARTBEAT_REQUEST, 5] {
            sent.push(vec![0x20, kind, 0, 4, 0, 0, sent.len() as u8, 0]);
            peer.send_to(sent.last().unwrap(), upf).unwrap();
        }
        // What is no message is for the node to refuse and count.
        for octets in [Vec::new(), vec![0x20]] {
            peer.send_to(&octets, upf).unwrap();
            sent.push(octets);
        }
        while datagrams.heartbeats.len() + datagrams.others.len() < sent.len() {
            std::thread::yield_now();
        }
        let taken: Vec<Vec<u8>> = std::iter::from_fn(|| datagrams.try_next()).map(|(_, octets)| octets).collect();
        assert_eq!(taken, [2, 4, 0, 1, 3, 5, 6, 7].map(|n: usize| sent[n].clone()));
    }

    #[test]
    fn heartbeats_beyond_their_queue_are_not_lost() {
        let socket = Arc::new(UdpSocket::bind("127.0.0.1:0").unwrap());
        let (peer, upf) = (UdpSocket::bind("127.0.0.1:0").unwrap(), socket.local_addr().unwrap());
        let datagrams = Datagrams::read(socket, Arc::default()).unwrap();
        for n in 0..HEARTBEATS + 2 {
            peer.send_to(&[0x20, HEARTBEAT_REQUEST, 0, 4, 0, 0, 0, 0], upf).unwrap();
            while datagrams.heartbeats.len() + datagrams.others.len() <= n {
                std::thread::yield_now();
            }
        }
        assert_eq!((datagrams.heartbeats.len(), datagrams.others.len()), (HEARTBEATS, 2));
    }
    /// What did not fit waited in the socket, and heartbeats behind it.
    #[test]
    fn a_heartbeat_does_not_wait_behind_a_queue_that_is_full() {
        let socket = Arc::new(UdpSocket::bind("127.0.0.1:0").unwrap());
        let (peer, upf) = (UdpSocket::bind("127.0.0.1:0").unwrap(), socket.local_addr().unwrap());
        let dropped = Arc::new(AtomicU64::new(0));
        let datagrams = Datagrams::read(socket, dropped.clone()).unwrap();
        let read = || datagrams.others.len() as u64 + dropped.load(Ordering::Relaxed);
        for n in 0..QUEUED as u64 + 100 {
            peer.send_to(&[0x20, 50, 0, 4, 0, 0, 0, 0], upf).unwrap();
            // The kernel would drop what is sent too fast.
            while read() + 64 < n {
                std::thread::yield_now();
            }
        }
        peer.send_to(&[0x20, HEARTBEAT_REQUEST, 0, 4, 0, 0, 0, 0], upf).unwrap();
        assert_eq!(datagrams.heartbeats.recv_timeout(Duration::from_secs(60)).unwrap().1[1], HEARTBEAT_REQUEST);
        assert_eq!((datagrams.others.len(), dropped.load(Ordering::Relaxed), datagrams.backlog().0), (QUEUED, 100, QUEUED));
    }
}
