//! A gNodeB without a radio: one GTP-U socket on N3, and for each UE a TUN device, so that unmodified programs bound to the
//! device or to the UE's address talk through the UPF. Every user packet is counted, or dropped for a reason that is counted.
//!
//! Two threads carry packets: [`uplink`] reads devices and sends datagrams, [`downlink`] receives datagrams and writes
//! devices. Without devices ([`Mode::Memory`]) the caller takes the devices' place with [`Ran::send`] and [`Ran::receive`].
//!
//! Not emulated: radio bearers, PDCP, reordering, QoS of the radio.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv6Addr, SocketAddrV4, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError, RwLock};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use base::Packet;
use nix::sys::epoll::{Epoll, EpollCreateFlags, EpollEvent, EpollFlags};
use nix::sys::socket::{setsockopt, sockopt};
use pktio::UdpPort;
use wire::gtpu;

use crate::record::SessionRecord;

mod downlink;
mod network;
pub mod report;
mod ue;
mod uplink;

pub use report::{Count, NodeReport, Report, UeReport};
pub use ue::DropReason;

pub use network::UeDevice;
use ue::{Link, Ue};

/// Longest user packet that is carried, in bytes: with GTP-U header and PDU session container, UDP, IPv4 and Ethernet it fits a port's packet.
const MAX_PACKET: usize = base::MAX_PACKET - 16 - pktio::udp::HEADERS;
/// Packets that are carried together at most.
const BURST: usize = 64;
/// Length of the Ethernet header in front of a device's packets, in bytes.
const ETHERNET: usize = 14;
/// How often a thread that waits looks whether it is to end.
const TICK: Duration = Duration::from_millis(100);
/// Socket buffers asked of the kernel, in bytes: a burst of a fast download must not be lost.
const SOCKET_BUFFER: usize = 64 << 20;

/// A gNodeB's configuration. [`Config::new`] gives usual values for all but the address.
#[derive(Clone, Debug)]
pub struct Config {
    /// Its N3 address, port 2152.
    pub local: SocketAddrV4,
    /// Devices or not.
    pub mode: Mode,
    /// Devices are called this and a number from 1.
    pub device_prefix: String,
    /// MTU of the devices: fits a tunnel over Ethernet.
    pub mtu: u16,
    /// UE `n` has the routing table of this number plus `n`, and rules of that priority.
    pub table_base: u32,
    /// Downlink packets without PDU session container, or with a QFI that the session has not, are dropped.
    pub check_containers: bool,
}

/// Where the UEs' packets come from and go to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// TUN devices; needs CAP_NET_ADMIN and iproute2.
    Devices,
    /// [`Ran::send`] and [`Ran::receive`].
    Memory,
}

impl Config {
    /// Devices `ue1`, `ue2`, ... with MTU 1400, tables from 14501, containers checked.
    pub fn new(local: SocketAddrV4) -> Config {
        Config { local, mode: Mode::Devices, device_prefix: "ue".into(), mtu: 1400, table_base: 14_500, check_containers: true }
    }
}

/// Why the gNodeB cannot do what it is asked; the text names the way out.
#[derive(Debug, thiserror::Error)]
pub enum RanError {
    /// The caller's fault, or the host lacks something.
    #[error("{0}")]
    Config(String),
    /// A capability is missing.
    #[error("{0}")]
    Permission(String),
    /// No answer in time.
    #[error("{0}")]
    NoAnswer(String),
    /// The system fails.
    #[error("{what}: {source}")]
    Io {
        /// What was being done.
        what: String,
        /// The system's error.
        #[source]
        source: std::io::Error,
    },
}

/// A UE of this gNodeB: its number from 1, as in its device's name.
pub type UeNumber = usize;

/// A running gNodeB. Dropping it ends its threads and takes devices and rules away; [`Ran::stop`] gives the report, too.
pub struct Ran {
    config: Config,
    shared: Arc<Shared>,
    threads: Vec<JoinHandle<()>>,
    /// Last counts of detached UEs.
    detached: Mutex<Vec<(UeNumber, UeReport)>>,
    next_number: Mutex<UeNumber>,
}

/// What the threads share.
struct Shared {
    socket: UdpSocket,
    local: SocketAddrV4,
    check_containers: bool,
    epoll: Epoll,
    ues: RwLock<BTreeMap<UeNumber, Arc<Ue>>>,
    /// By the TEID of the downlink tunnel.
    teids: RwLock<HashMap<u32, Arc<Ue>>>,
    node: NodeCounters,
    stopping: AtomicBool,
    echoes: (Mutex<EchoState>, Condvar),
}

/// Echo Requests of ours.
#[derive(Default)]
struct EchoState {
    next: u16,
    /// By sequence number, who has answered.
    waiting: HashMap<u16, Option<IpAddr>>,
}

#[derive(Default)]
struct NodeCounters {
    datagrams: AtomicU64,
    malformed: AtomicU64,
    unknown_teid: AtomicU64,
    echo_requests: AtomicU64,
    echo_responses: AtomicU64,
    error_indications: AtomicU64,
    other: AtomicU64,
}

impl Ran {
    /// Opens the GTP-U socket, attaches the UEs, and starts.
    ///
    /// # Errors
    /// [`RanError::Permission`] without CAP_NET_ADMIN for devices; [`RanError::Config`] where the address is not this host's,
    /// iproute2 is missing, a device name is taken, or two sessions have one downlink TEID.
    pub fn start(config: Config, sessions: &[SessionRecord]) -> Result<Ran, RanError> {
        network::check_local(config.local)?;
        if !(1280..=MAX_PACKET as u16).contains(&config.mtu) {
            return Err(RanError::Config(format!("MTU {}: must be at least 1280 (IPv6) and at most {MAX_PACKET}", config.mtu)));
        }
        // Interface names have 15 bytes at most.
        if config.device_prefix.is_empty()
            || config.device_prefix.len() > 9
            || !config.device_prefix.bytes().all(|b| b.is_ascii_alphanumeric())
        {
            return Err(RanError::Config(format!("`{}` is no prefix of device names: 1 to 9 letters and digits", config.device_prefix)));
        }
        let io = |what: &str| {
            let what = format!("{what} {}", config.local);
            move |source: std::io::Error| RanError::Io { what, source }
        };
        let socket = UdpSocket::bind(config.local).map_err(|e| network::bind_error(config.local, e))?;
        let downlink = UdpPort::on_socket("n3", socket, None)?;
        let (uplink, socket, local) = (downlink.try_clone()?, downlink.socket()?, downlink.local());
        // With CAP_NET_ADMIN beyond the system's limit, without it up to it; less is no fault, it is counted where it costs.
        if setsockopt(&socket, sockopt::RcvBufForce, &SOCKET_BUFFER).is_err() {
            let _ = setsockopt(&socket, sockopt::RcvBuf, &SOCKET_BUFFER);
        }
        if setsockopt(&socket, sockopt::SndBufForce, &(4 << 20)).is_err() {
            let _ = setsockopt(&socket, sockopt::SndBuf, &(4 << 20));
        }
        let epoll = Epoll::new(EpollCreateFlags::EPOLL_CLOEXEC).map_err(|e| io("epoll for")(e.into()))?;
        let shared = Arc::new(Shared {
            socket,
            local,
            check_containers: config.check_containers,
            epoll,
            ues: RwLock::default(),
            teids: RwLock::default(),
            node: NodeCounters::default(),
            stopping: AtomicBool::new(false),
            echoes: Default::default(),
        });
        let mut ran = Ran { config, shared, threads: Vec::new(), detached: Mutex::default(), next_number: Mutex::new(1) };
        for session in sessions {
            ran.attach(session)?;
        }
        let spawn = |name: &str, run: fn(&Shared, UdpPort), port: UdpPort, shared: Arc<Shared>| {
            let thread = std::thread::Builder::new().name(name.into()).spawn(move || run(&shared, port));
            thread.map_err(|source| RanError::Io { what: "starting a thread".into(), source })
        };
        ran.threads.push(spawn("ran-downlink", downlink::run, downlink, ran.shared.clone())?);
        if ran.config.mode == Mode::Devices {
            ran.threads.push(spawn("ran-uplink", uplink::run, uplink, ran.shared.clone())?);
        }
        Ok(ran)
    }

    /// Address and port in use.
    pub fn local(&self) -> SocketAddrV4 {
        self.shared.local
    }

    /// Adds a UE with one session.
    pub fn attach(&self, session: &SessionRecord) -> Result<UeNumber, RanError> {
        session.validate().map_err(|why| RanError::Config(format!("session {:#x}: {why}", session.seid)))?;
        if session.downlink.addr != *self.shared.local.ip() {
            return Err(RanError::Config(format!(
                "session {:#x}: its downlink tunnel ends at {}, this gNodeB is {}",
                session.seid,
                session.downlink.addr,
                self.shared.local.ip()
            )));
        }
        let mut next = lock(&self.next_number);
        let number = *next;
        if read(&self.shared.teids).contains_key(&session.downlink.teid) {
            return Err(RanError::Config(format!(
                "session {:#x}: downlink TEID {} is another session's",
                session.seid, session.downlink.teid
            )));
        }
        let link = match self.config.mode {
            Mode::Memory => Link::memory(),
            Mode::Devices => {
                let name = format!("{}{number}", self.config.device_prefix);
                let table = self.config.table_base.saturating_add(number as u32);
                Link::Device(Box::new(UeDevice::create(&name, self.config.mtu, session, table)?))
            }
        };
        let ue = Arc::new(Ue::new(number, session.clone(), link));
        write(&self.shared.teids).insert(session.downlink.teid, ue.clone());
        write(&self.shared.ues).insert(number, ue.clone());
        if let Link::Device(device) = &ue.link {
            let event = EpollEvent::new(EpollFlags::EPOLLIN, number as u64);
            if let Err(error) = self.shared.epoll.add(device, event) {
                self.shared.forget(&ue);
                return Err(RanError::Io { what: format!("device {}", device.name), source: error.into() });
            }
        }
        *next += 1;
        Ok(number)
    }

    /// Removes a UE, its device and its rules; its last counts, which stay in the report.
    pub fn detach(&self, number: UeNumber) -> Result<UeReport, RanError> {
        let ue = self.ue(number)?;
        if let Link::Device(device) = &ue.link {
            let _ = self.shared.epoll.delete(device);
        }
        self.shared.forget(&ue);
        // A thread may still carry a burst of its packets.
        let deadline = Instant::now() + 2 * TICK;
        while Arc::strong_count(&ue) > 1 && Instant::now() < deadline {
            std::thread::sleep(Duration::from_millis(1));
        }
        let report = ue.report();
        lock(&self.detached).push((number, report.clone()));
        Ok(report)
    }

    /// The numbers of all UEs.
    pub fn ues(&self) -> Vec<UeNumber> {
        read(&self.shared.ues).keys().copied().collect()
    }

    /// The name of a UE's device.
    pub fn device(&self, number: UeNumber) -> Option<String> {
        let ues = read(&self.shared.ues);
        if let Link::Device(device) = &ues.get(&number)?.link { Some(device.name.clone()) } else { None }
    }

    /// Gives a UE another session's tunnels, after a handover within or to this gNodeB. Packets on the downlink tunnel left are
    /// taken until its End Marker comes (TS 38.413 §8.4.4).
    pub fn switch(&self, number: UeNumber, session: &SessionRecord) -> Result<(), RanError> {
        session.validate().map_err(|why| RanError::Config(format!("session {:#x}: {why}", session.seid)))?;
        let ue = self.ue(number)?;
        let mut teids = write(&self.shared.teids);
        if teids.get(&session.downlink.teid).is_some_and(|owner| owner.number != number) {
            return Err(RanError::Config(format!(
                "session {:#x}: downlink TEID {} is another session's",
                session.seid, session.downlink.teid
            )));
        }
        teids.insert(session.downlink.teid, ue.clone());
        ue.set_session(session.clone());
        Ok(())
    }

    /// Sends an uplink packet of a UE, as if its device had; for [`Mode::Memory`], possible in both.
    /// Whether it was sent; if not, the drop is counted.
    pub fn send(&self, number: UeNumber, packet: &[u8]) -> Result<bool, RanError> {
        let ue = self.ue(number)?;
        Ok(self.shared.send_user_packet(&ue, packet))
    }

    /// The next downlink packet of a UE ([`Mode::Memory`]); `None` if none came in time.
    pub fn receive(&self, number: UeNumber, timeout: Duration) -> Result<Option<Vec<u8>>, RanError> {
        let ue = self.ue(number)?;
        match &ue.link {
            Link::Memory(queue) => Ok(queue.pop(timeout)),
            Link::Device(device) => Err(RanError::Config(format!("packets of UE {number} go to its device {}", device.name))),
        }
    }

    /// Has a UE ask for its router (RFC 4861 §6.3.7) and waits for the advertised prefix. Neither message goes through the
    /// device. An error if no advertisement comes, or one of another prefix than the session's.
    pub fn solicit(&self, number: UeNumber, timeout: Duration) -> Result<Ipv6Addr, RanError> {
        const RETRY: Duration = Duration::from_secs(1);
        let ue = self.ue(number)?;
        let session = ue.session();
        let Some(expected) = session.ue_ipv6 else {
            return Err(RanError::Config(format!("UE {number} has no IPv6 prefix to ask for")));
        };
        // Interface identifiers are the network's to give (TS 23.501 §5.8.2.2.3); the number serves.
        let source = Ipv6Addr::from(0xfe80_u128 << 112 | number as u128);
        let solicitation = crate::router::solicit(source);
        let deadline = Instant::now() + timeout;
        ue.forget_prefix();
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            if left.is_zero() {
                return Err(RanError::NoAnswer(format!("UE {number}: no router advertisement in {timeout:.1?}")));
            }
            if self.shared.send_signalling(&ue, &solicitation) {
                ue.router_solicitations.fetch_add(1, Ordering::Relaxed);
            }
            match ue.wait_prefix(left.min(RETRY)) {
                Some(prefix) if prefix == expected => return Ok(prefix),
                Some(prefix) => {
                    return Err(RanError::Config(format!("UE {number}: the router advertises {prefix}/64, the session has {expected}/64")));
                }
                None => {}
            }
        }
    }

    /// Sends an Echo Request to a GTP-U peer (TS 29.281 §7.2.1) and waits for the response; the time it took.
    pub fn echo(&self, peer: std::net::Ipv4Addr, timeout: Duration) -> Result<Duration, RanError> {
        let (state, answered) = &self.shared.echoes;
        let mut state = lock(state);
        state.next = state.next.wrapping_add(1);
        let sequence = state.next;
        let mut out = Vec::new();
        gtpu::Repr::new(0, Some(sequence), gtpu::Message::EchoRequest).emit(&mut out);
        let began = Instant::now();
        let sent = self.shared.socket.send_to(&out, (peer, gtpu::PORT));
        sent.map_err(|source| RanError::Io { what: format!("sending to {peer}"), source })?;
        state.waiting.insert(sequence, None);
        let unanswered = |state: &mut EchoState| state.waiting.get(&sequence) != Some(&Some(IpAddr::V4(peer)));
        let result = answered.wait_timeout_while(state, timeout, unanswered);
        let (mut state, waited) = result.unwrap_or_else(PoisonError::into_inner);
        state.waiting.remove(&sequence);
        if waited.timed_out() {
            return Err(RanError::NoAnswer(format!("{peer} does not answer GTP-U echo requests in {timeout:.1?}")));
        }
        Ok(began.elapsed())
    }

    /// The counters now. Exact when no packet is in flight.
    pub fn report(&self) -> Report {
        let load = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        let node = &self.shared.node;
        let mut ues = lock(&self.detached).clone();
        ues.extend(read(&self.shared.ues).iter().map(|(number, ue)| (*number, ue.report())));
        ues.sort_by_key(|(number, _)| *number);
        Report {
            ues: ues.into_iter().map(|(_, report)| report).collect(),
            node: NodeReport {
                datagrams: load(&node.datagrams),
                socket_drops: network::socket_drops(self.shared.local),
                malformed: load(&node.malformed),
                unknown_teid: load(&node.unknown_teid),
                echo_requests: load(&node.echo_requests),
                echo_responses: load(&node.echo_responses),
                error_indications: load(&node.error_indications),
                other: load(&node.other),
            },
        }
    }

    /// Ends the threads, then reports, then takes devices and rules away.
    pub fn stop(mut self) -> Report {
        self.join();
        self.report()
    }

    fn ue(&self, number: UeNumber) -> Result<Arc<Ue>, RanError> {
        read(&self.shared.ues).get(&number).cloned().ok_or_else(|| RanError::Config(format!("there is no UE {number}")))
    }

    fn join(&mut self) {
        self.shared.stopping.store(true, Ordering::Relaxed);
        for thread in self.threads.drain(..) {
            if thread.join().is_err() {
                tracing::error!("a thread of the gNodeB has panicked");
            }
        }
    }
}

impl Drop for Ran {
    fn drop(&mut self) {
        self.join();
    }
}

impl Shared {
    fn forget(&self, ue: &Ue) {
        write(&self.ues).remove(&ue.number);
        write(&self.teids).retain(|_, owner| owner.number != ue.number);
    }
}

impl NodeCounters {
    fn count(counter: &AtomicU64) {
        counter.fetch_add(1, Ordering::Relaxed);
    }
}

/// Empty packets of a burst.
fn burst() -> Vec<Packet> {
    (0..BURST).map(|_| Packet::empty(0)).collect()
}

/// Locks whose holders panicked: every change under them is one insertion or removal.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read<T>(lock: &RwLock<T>) -> std::sync::RwLockReadGuard<'_, T> {
    lock.read().unwrap_or_else(PoisonError::into_inner)
}

fn write<T>(lock: &RwLock<T>) -> std::sync::RwLockWriteGuard<'_, T> {
    lock.write().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests;
