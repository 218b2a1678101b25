//! What N4 sends, without ever waiting: the agent that waits for one peer makes all users wait.
//!
//! A message to a host that answers no ARP or neighbour discovery stays charged to the socket that sent it, for seconds; so does one that waits for a
//! device. So each peer has a socket of its own, a *lane*, and all other addresses, which anybody may forge, share a small one. A lane that is full
//! takes nothing: what is not sent is counted, and the peer or the node sends again (TS 29.244 clause 6.4). A quarter of each lane is for heartbeats
//! alone.
//!
//! Lanes send from N4's address and port, and receive nothing: they are in one `SO_REUSEPORT` group with the socket that is read, and the group's program
//! gives each datagram to the group's first socket. (Connected sockets would need no program, but would have to be read too, and a peer asks from any port.)
//! The socket that is read is bound without `SO_REUSEPORT`: a second daemon at the address still fails.
//!
//! A peer that answers no request is sent heartbeats and at most one other request a second until it is heard, new ones and those that are sent again in
//! turn: when the kernel gives a host up, each message to it costs an ICMP error, all of them at once. Those errors are not read: anybody may forge one.

use crate::n4::socket::is_heartbeat;
use cli::failure::Failure;
use nix::sys::socket::{setsockopt, sockopt};
use pfcp::codec::MessageType;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::{AddressFamily, SocketFlags, SocketType, bind, socket_with, sockopt as options};
use std::collections::HashMap;
use std::io::ErrorKind;
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Lanes of peers, at most: as many as associations. Of more, the one that was not used for longest is closed.
const LANES: usize = 256;
/// What a lane may have in flight, in octets as the kernel charges them: the system's limit (`net.core.wmem_max`) where that is less. A burst of answers fits.
const IN_FLIGHT: usize = 256 << 10;
/// The same of all other addresses together: some hundred refusals.
const IN_FLIGHT_TO_OTHERS: usize = 64 << 10;
/// What the kernel charges for a message besides its octets, about.
const CHARGED_BESIDES: usize = 768;
/// How long a peer that was sent a request may say nothing, answers and heartbeats included.
const SILENCE: Duration = Duration::from_secs(2);
/// From one request to a silent peer to the next of its kind, new or sent again: together one a second. So new reports that keep coming leave those
/// without an answer their turn (TS 29.244 clause 6.4). Heartbeats take none.
const PROBE: Duration = Duration::from_secs(2);

/// What is sent.
pub struct Output {
    /// The first of the group.
    first: Arc<UdpSocket>,
    lanes: Mutex<Lanes>,
    unsent: AtomicU64,
    /// When the last one that was not sent was logged.
    told: Mutex<Option<Instant>>,
}

struct Lanes {
    of_peers: HashMap<IpAddr, PeerLane>,
    of_others: Lane,
    /// Messages so far.
    turn: u64,
}

struct PeerLane {
    lane: Lane,
    silence: Silence,
    /// The latest sequence number of a request that was no heartbeat.
    newest: Option<u32>,
    last_turn: u64,
}

impl Output {
    /// Sends from the address of the socket that is read.
    ///
    /// # Errors
    /// If the kernel has no further socket.
    pub fn new(first: Arc<UdpSocket>) -> Result<Output, Failure> {
        let fail = |e: std::io::Error| Failure::Failed(format!("cannot open a socket to send by on N4: {e}"));
        options::set_socket_reuseport(&*first, true).map_err(|e| fail(e.into()))?;
        // The group begins with the second socket, and has a program from then on. What comes between the two is sent again.
        let of_others = Lane::open(&first, IN_FLIGHT_TO_OTHERS).map_err(fail)?;
        to_the_first(&first).map_err(fail)?;
        let lanes = Lanes { of_peers: HashMap::new(), of_others, turn: 0 };
        Ok(Output { first, lanes: Mutex::new(lanes), unsent: AtomicU64::new(0), told: Mutex::new(None) })
    }

    /// What is sent to this address goes by a lane of its own from now on, if it is a peer's.
    pub fn know(&self, address: IpAddr, is_peer: impl FnOnce() -> bool) {
        let mut lanes = self.lanes();
        if lanes.of_peers.contains_key(&address) || !is_peer() {
            return;
        }
        // Without a socket it shares that of the others.
        let Ok(lane) = Lane::open(&self.first, IN_FLIGHT) else { return };
        if lanes.of_peers.len() >= LANES {
            let longest = lanes.of_peers.iter().min_by_key(|(_, peer)| peer.last_turn).map(|(address, _)| *address);
            longest.map(|address| lanes.of_peers.remove(&address));
        }
        let last_turn = lanes.turn;
        lanes.of_peers.insert(address, PeerLane { lane, silence: Silence::default(), newest: None, last_turn });
    }

    /// A message has come from this address.
    pub fn heard(&self, address: IpAddr) {
        if let Some(peer) = self.lanes().of_peers.get_mut(&address) {
            peer.silence = Silence::default();
        }
    }

    /// Whether a peer has not answered a request that it was sent so long ago.
    pub fn is_silent(&self, address: IpAddr, at_least: Duration) -> bool {
        let lanes = self.lanes();
        lanes.of_peers.get(&address).and_then(|peer| peer.silence.since).is_some_and(|since| since.elapsed() >= at_least)
    }

    /// Sends a message, without waiting; one that is not sent is counted and logged.
    pub fn send(&self, to: SocketAddr, octets: &[u8]) {
        let Err(why) = self.lanes().send(to, octets) else { return };
        let in_all = self.unsent.fetch_add(1, Ordering::Relaxed) + 1;
        let Ok(mut told) = self.told.lock() else { return };
        // Who sends to us chooses where answers go: not a line for each.
        if told.is_none_or(|at| at.elapsed() >= Duration::from_secs(1)) {
            *told = Some(Instant::now());
            tracing::warn!(%to, in_all, "cannot send a PFCP message: {why}");
        }
    }

    /// Messages that were not sent.
    pub fn unsent(&self) -> u64 {
        self.unsent.load(Ordering::Relaxed)
    }

    fn lanes(&self) -> std::sync::MutexGuard<'_, Lanes> {
        self.lanes.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Lanes {
    fn send(&mut self, to: SocketAddr, octets: &[u8]) -> Result<(), String> {
        self.turn += 1;
        let sent = match self.of_peers.get_mut(&to.ip()) {
            None => self.of_others.send(to, octets),
            Some(peer) => {
                peer.last_turn = self.turn;
                if is_request(octets) && !peer.admits(octets, Instant::now()) {
                    return Err("the peer answers nothing, and is sent few reports until it does".into());
                }
                peer.lane.send(to, octets)
            }
        };
        sent.map_err(|e| match e.kind() {
            ErrorKind::WouldBlock => "earlier ones wait in the kernel: no host has that address, or the link is down".into(),
            _ => e.to_string(),
        })
    }
}

impl PeerLane {
    /// Whether it may be sent this request.
    fn admits(&mut self, octets: &[u8], now: Instant) -> bool {
        if is_heartbeat(octets) {
            self.silence.since.get_or_insert(now);
            return true;
        }
        let sequence = sequence(octets);
        let again = self.newest.is_some_and(|newest| is_until(sequence, newest));
        if !again {
            self.newest = Some(sequence);
        }
        self.silence.admits(again, now)
    }
}

/// A socket that only sends, and how full it is.
struct Lane {
    socket: UdpSocket,
    /// What may be in flight, in octets as the kernel charges them.
    room: usize,
    /// What was sent since half of the room was last found free, at most so much of it is still in flight.
    since_look: usize,
}

impl Lane {
    /// One more of the group of `first`.
    fn open(first: &UdpSocket, in_flight: usize) -> std::io::Result<Lane> {
        let local = first.local_addr()?;
        let family = if local.is_ipv4() { AddressFamily::INET } else { AddressFamily::INET6 };
        let socket = socket_with(family, SocketType::DGRAM, SocketFlags::CLOEXEC | SocketFlags::NONBLOCK, None)?;
        options::set_socket_reuseport(&socket, true)?;
        // The kernel doubles it, for what it charges besides octets.
        options::set_socket_send_buffer_size(&socket, in_flight / 2)?;
        let room = options::socket_send_buffer_size(&socket)?;
        bind(&socket, &local)?;
        Ok(Lane { socket: socket.into(), room, since_look: 0 })
    }

    fn send(&mut self, to: SocketAddr, octets: &[u8]) -> std::io::Result<()> {
        // A look is a system call, so there is one for a quarter of the room.
        if self.since_look > self.room / 4 {
            if self.is_half_free() {
                self.since_look = 0;
            } else if !is_heartbeat(octets) {
                return Err(ErrorKind::WouldBlock.into());
            }
        }
        self.since_look += octets.len() + CHARGED_BESIDES;
        self.socket.send_to(octets, to).map(drop)
    }

    /// Which is when the kernel says that a datagram socket can be written.
    fn is_half_free(&self) -> bool {
        let mut fds = [PollFd::new(&self.socket, PollFlags::OUT)];
        poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).is_ok() && fds[0].revents().contains(PollFlags::OUT)
    }
}

/// Has the group of a socket give all that comes to its first one.
fn to_the_first(socket: &UdpSocket) -> std::io::Result<()> {
    let mut return_0 = [libc::sock_filter { code: (libc::BPF_RET | libc::BPF_K) as u16, jt: 0, jf: 0, k: 0 }];
    let program = libc::sock_fprog { len: 1, filter: return_0.as_mut_ptr() };
    Ok(setsockopt(socket, sockopt::AttachReusePortCbpf, &program)?)
}

/// Whether it is one that must be answered. An answer of ours says nothing about a peer that waits for more of them.
fn is_request(octets: &[u8]) -> bool {
    octets.get(1).is_some_and(|kind| MessageType::from(*kind).is_request())
}

/// The sequence number of a message of ours, which is behind the SEID if there is one (TS 29.244 clause 7.2.2).
fn sequence(octets: &[u8]) -> u32 {
    let at = if octets.first().is_some_and(|flags| flags & 1 == 1) { 12 } else { 4 };
    octets.get(at..at + 3).map_or(0, |number| number.iter().fold(0, |high, octet| high << 8 | u32::from(*octet)))
}

/// Whether a sequence number is another one, or was given before it. They have 24 bits and begin again.
fn is_until(sequence: u32, newest: u32) -> bool {
    newest.wrapping_sub(sequence) & 0x00ff_ffff < 0x0080_0000
}

/// Whether a peer answers.
#[derive(Default)]
struct Silence {
    /// When it was sent the first request that it has not answered.
    since: Option<Instant>,
    /// When it was last sent a new one, and one again.
    probed: [Option<Instant>; 2],
}

impl Silence {
    /// Whether it may be sent one more request: a new one, or one again.
    fn admits(&mut self, again: bool, now: Instant) -> bool {
        let silent = now.saturating_duration_since(*self.since.get_or_insert(now)) >= SILENCE;
        let probed = &mut self.probed[usize::from(again)];
        let admitted = !silent || probed.is_none_or(|at| now.saturating_duration_since(at) >= PROBE);
        if admitted {
            *probed = Some(now);
        }
        admitted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEARTBEAT: [u8; 12] = [0x20, 1, 0, 8, 0, 0, 1, 0, 0, 96, 0, 0];
    const REPORT: [u8; 16] = [0x21, 56, 0, 12, 0, 0, 0, 0, 0, 0, 0, 1, 0, 0, 1, 0];

    fn output(address: &str) -> (Output, Arc<UdpSocket>) {
        let first = Arc::new(UdpSocket::bind((address, 0)).unwrap());
        (Output::new(first.clone()).unwrap(), first)
    }

    #[test]
    fn a_peer_that_answers_no_request_is_sent_one_now_and_then_until_it_is_heard() {
        let (mut silence, began) = (Silence::default(), Instant::now());
        let at = |ms| began + Duration::from_millis(ms);
        let mut admitted = |ms: [u64; 4]| ms.map(|ms| silence.admits(false, at(ms)));
        assert_eq!(admitted([0, 1, 1000, 1999]), [true; 4]);
        assert_eq!(admitted([2000, 2500, 3998, 3999]), [false, false, false, true]);
        assert_eq!(admitted([4000, 4001, 5998, 5999]), [false, false, false, true]);
        silence = Silence::default();
        assert!(silence.admits(false, at(6000)));
    }

    /// Each second there is a new report, just before the one of three seconds before is sent again: the new ones had every turn.
    #[test]
    fn new_reports_leave_those_that_a_silent_peer_has_not_answered_their_turn() {
        let (mut silence, began) = (Silence::default(), Instant::now());
        let mut sent = Vec::new();
        for second in 0..100 {
            let now = began + Duration::from_secs(second);
            sent.extend([false, true].into_iter().filter(|again| (!again || second >= 3) && silence.admits(*again, now)));
            // The first is sent again when its time has come.
            assert_eq!(sent.contains(&true), second >= 3);
        }
        let again = sent.iter().filter(|again| **again).count();
        assert!(again >= 48 && sent.len() <= 102, "{again} of {} were sent again", sent.len());
    }

    #[test]
    fn a_request_is_one_again_if_a_later_one_was_given_its_number_before() {
        assert_eq!((sequence(&HEARTBEAT), sequence(&REPORT), sequence(&REPORT[..12])), (1, 1, 0));
        let of = |pairs: [(u32, u32); 4]| pairs.map(|(sequence, newest)| is_until(sequence, newest));
        assert_eq!(of([(5, 5), (4, 5), (1, 0x7f_ffff), (0xff_ffff, 1)]), [true; 4]);
        assert_eq!(of([(6, 5), (1, 0xff_ffff), (0x80_0000, 0), (0x80_0001, 1)]), [false; 4]);
    }

    #[test]
    fn a_silent_peer_is_sent_heartbeats_and_answers_all_the_same() {
        let (output, _first) = output("127.0.0.1");
        let smf = UdpSocket::bind("127.0.0.1:0").unwrap();
        let to = smf.local_addr().unwrap();
        output.know(to.ip(), || true);
        output.send(to, &REPORT);
        let silent = Silence { since: Instant::now().checked_sub(SILENCE), probed: [None; 2] };
        output.lanes().of_peers.get_mut(&to.ip()).unwrap().silence = silent;
        let answer = [0x20, 6, 0, 4, 0, 0, 1, 0];
        // The heartbeat takes no report's turn; the second report has none.
        for octets in [&HEARTBEAT[..], &REPORT, &REPORT, &answer] {
            output.send(to, octets);
        }
        output.heard(to.ip());
        output.send(to, &REPORT);
        let mut buffer = [0; 64];
        let kinds = [(); 5].map(|()| smf.recv(&mut buffer).map(|_| buffer[1]).unwrap());
        assert_eq!((kinds, output.unsent()), ([56, 1, 56, 6, 56], 1));
    }

    #[test]
    fn lanes_send_from_the_address_that_is_read_and_receive_nothing() {
        for address in ["127.0.0.1", "::1"] {
            let (output, first) = output(address);
            let upf = first.local_addr().unwrap();
            first.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
            let peers: Vec<UdpSocket> = (0..64).map(|_| UdpSocket::bind((address, 0)).unwrap()).collect();
            for (n, peer) in peers.iter().enumerate() {
                output.know(upf.ip(), || n >= 32);
                output.send(peer.local_addr().unwrap(), &HEARTBEAT);
                let mut octets = [0; 64];
                assert_eq!(peer.recv_from(&mut octets).unwrap(), (HEARTBEAT.len(), upf));
                peer.send_to(&REPORT, upf).unwrap();
                assert_eq!(first.recv_from(&mut octets).unwrap(), (REPORT.len(), peer.local_addr().unwrap()));
            }
            assert_eq!((output.unsent(), output.lanes().of_peers.len()), (0, 1));
        }
    }

    #[test]
    fn another_daemon_cannot_have_an_address_that_lanes_send_from() {
        let (_output, first) = output("127.0.0.1");
        assert_eq!(UdpSocket::bind(first.local_addr().unwrap()).unwrap_err().kind(), ErrorKind::AddrInUse);
    }

    #[test]
    fn of_more_peers_than_there_are_lanes_the_one_that_was_not_used_for_longest_shares_with_strangers() {
        let (output, _) = output("127.0.0.1");
        let address = |n: usize| IpAddr::from([127, 1, (n >> 8) as u8, n as u8]);
        for n in 0..LANES {
            output.know(address(n), || true);
            output.send(SocketAddr::new(address(n), 9), &HEARTBEAT);
        }
        output.send(SocketAddr::new(address(0), 9), &HEARTBEAT);
        output.know(address(LANES), || true);
        let lanes = output.lanes();
        let has = |n| lanes.of_peers.contains_key(&address(n));
        assert_eq!((lanes.of_peers.len(), has(0), has(1), has(2), has(LANES)), (LANES, true, false, true, true));
    }

    /// The agent slept in the kernel until ARP was given up for the first of them, three seconds.
    #[test]
    fn hosts_that_are_not_there_cost_no_other_peer_a_message() {
        let name = "hosts_that_are_not_there_cost_no_other_peer_a_message";
        if !testkit::root_or_skip(name) {
            return;
        }
        let net = Namespace::create(&testkit::unique_name("n4"));
        net.inside(|| {
            let listen = |n| UdpSocket::bind(SocketAddr::from(([10, 9, 0, n], 0))).unwrap();
            let first = Arc::new(listen(1));
            let output = Output::new(first.clone()).unwrap();
            let honest = listen(2);
            let to = honest.local_addr().unwrap();
            output.know(to.ip(), || true);
            let absent = |n: u16| SocketAddr::from(([10, 9, 1 + (n >> 8) as u8, n as u8], 8805));
            let silent = absent(0);
            output.know(silent.ip(), || true);
            let mut buffer = [0; 64];
            for n in 0..2000 {
                // Addresses that were forged, a peer whose host is gone, and the one that is there.
                output.send(absent(1 + n % 1000), &HEARTBEAT);
                output.send(silent, &REPORT);
                output.send(to, &REPORT);
                assert_eq!(honest.recv(&mut buffer).unwrap(), REPORT.len());
                output.heard(to.ip());
            }
            // Of what has no host a few hundred wait in the kernel.
            assert!((2000..4000).contains(&output.unsent()), "{}", output.unsent());
            let heartbeats = (0..100).filter(|_| output.lanes().send(silent, &HEARTBEAT).is_ok()).count();
            assert_eq!(heartbeats, 100, "what is kept for them");
        });
    }

    /// A namespace with a link that no host is on: 10.9.0.1 and 10.9.0.2 are here.
    struct Namespace(String);

    impl Namespace {
        fn create(name: &str) -> Namespace {
            let ip = |arguments: &str| {
                let done = std::process::Command::new("ip").args(arguments.split(' ')).status().unwrap();
                assert!(done.success(), "ip {arguments}");
            };
            ip(&format!("netns add {name}"));
            let namespace = Namespace(name.to_owned());
            ip(&format!("-n {name} link add n4 type veth peer name far"));
            for (what, of) in [
                ("link set lo", "up"),
                ("link set far", "up"),
                ("link set n4", "up"),
                ("address add 10.9.0.1/16 dev", "n4"),
                ("address add 10.9.0.2/16 dev", "n4"),
            ] {
                ip(&format!("-n {name} {what} {of}"));
            }
            namespace
        }

        fn inside(&self, run: impl FnOnce() + Send) {
            let file = std::fs::File::open(format!("/run/netns/{}", self.0)).unwrap();
            let there = || {
                let network = rustix::thread::LinkNameSpaceType::Network;
                rustix::thread::move_into_link_name_space(std::os::fd::AsFd::as_fd(&file), Some(network)).unwrap();
                run();
            };
            std::thread::scope(|scope| scope.spawn(there).join()).unwrap();
        }
    }

    impl Drop for Namespace {
        fn drop(&mut self) {
            let _ = std::process::Command::new("ip").args(["netns", "delete", &self.0]).status();
        }
    }
}
