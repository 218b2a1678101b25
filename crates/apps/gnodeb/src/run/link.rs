//! A radio that loses, between two UDP peers: what comes to one socket leaves by the other, when the link of its direction lets it.

use std::net::{SocketAddr, UdpSocket};
use std::os::fd::AsFd;

use ::link::{Config, Link};
use serde::{Deserialize, Serialize};

use super::{Clock, MAX_DATAGRAM, RunError, open, receive, send, wait};

/// One end: our address there, and the peer that sends to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct End {
    /// Ours.
    pub address: SocketAddr,
    /// Whom datagrams come from and go to.
    pub peer: SocketAddr,
}

/// What one direction has counted, in datagrams.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Direction {
    /// That came.
    pub sent: u64,
    /// That were given to the other end.
    pub arrived: u64,
    /// For which the queue had no room.
    pub queue: u64,
    /// Lost.
    pub lost: u64,
    /// From others than the peer: dropped.
    pub wrong_source: u64,
    /// That the kernel did not take.
    pub unsent: u64,
}

/// Both ends, and a link each way.
pub struct RunningLink {
    ends: [Half; 2],
}

struct Half {
    socket: UdpSocket,
    peer: SocketAddr,
    /// What comes here goes by it.
    link: Link<Vec<u8>>,
    wrong_source: u64,
    unsent: u64,
}

impl RunningLink {
    /// Opens both sockets. Directions lose other packets: the seed of the second is another.
    ///
    /// # Errors
    /// [`RunError`].
    pub fn start(ends: [End; 2], config: Config, seed: u64) -> Result<RunningLink, RunError> {
        let half = |end: End, seed| {
            let link = Link::new(config, seed)?;
            Ok::<_, RunError>(Half { socket: open("link", end.address)?, peer: end.peer, link, wrong_source: 0, unsent: 0 })
        };
        let [a, b] = ends;
        Ok(RunningLink { ends: [half(a, seed)?, half(b, seed.wrapping_add(1))?] })
    }

    /// Carries datagrams while `goes_on` says so; what each direction has counted.
    ///
    /// # Errors
    /// [`RunError::Poll`].
    pub fn run(mut self, goes_on: &mut dyn FnMut() -> bool) -> Result<[Direction; 2], RunError> {
        let clock = Clock::start();
        let mut buffer = vec![0; MAX_DATAGRAM];
        while goes_on() {
            let deadline = self.ends.iter().filter_map(|end| end.link.next_arrival()).min();
            wait(&[self.ends[0].socket.as_fd(), self.ends[1].socket.as_fd()], deadline, clock.now_ns())?;
            let now = clock.now_ns();
            for end in &mut self.ends {
                let Half { socket, peer, link, wrong_source, .. } = end;
                receive(socket, &mut buffer, |datagram, from| {
                    if from == *peer {
                        // The link counts what it drops.
                        let _ = link.send(datagram.to_vec(), datagram.len(), now);
                    } else {
                        *wrong_source += 1;
                    }
                });
            }
            let [a, b] = &mut self.ends;
            a.pass_to(b, now);
            b.pass_to(a, now);
        }
        Ok(self.ends.map(|end| {
            let counted = end.link.counters();
            Direction {
                sent: counted.sent,
                arrived: counted.arrived,
                queue: counted.queue,
                lost: counted.lost,
                wrong_source: end.wrong_source,
                unsent: end.unsent,
            }
        }))
    }
}

impl Half {
    fn pass_to(&mut self, other: &Half, now_ns: u64) {
        while let Some(datagram) = self.link.receive(now_ns) {
            send(&other.socket, &datagram, other.peer, &mut self.unsent);
        }
    }
}
