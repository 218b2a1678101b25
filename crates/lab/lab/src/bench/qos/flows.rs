//! What do users send? Connections of the kernel's TCP, or datagrams over the rate, and beside them a probe every [`PROBE`]: a short datagram that
//! waits where the others wait, and tells how long.

use super::place::SERVER;
use super::{Cell, Load, stay_on_this_cpu};
use crate::demo::netns::{Namespace, Networks};
use cli::failure::Failure;
use rustix::net::sockopt;
use rustix::net::{AddressFamily, SocketType, bind, connect, socket};
use std::io::{ErrorKind, Read, Write};
use std::net::{Ipv4Addr, SocketAddrV4, TcpListener, TcpStream, UdpSocket};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// A probe's period: 300 of them in a window of six seconds, and 0.4 % of 5 Mbit/s.
const PROBE: Duration = Duration::from_millis(20);
/// Probes alone at first: how long the way is without a queue.
pub(super) const IDLE: Duration = Duration::from_millis(600);
/// How often threads look whether to end.
const LOOK: Duration = Duration::from_millis(50);
/// So many looks without a datagram after the senders have stopped: nothing is in flight any more.
const SILENT: u32 = 4;
/// How long a connection may take to be there.
const PATIENCE: Duration = Duration::from_secs(20);
/// How long a download may stand still: the kernel's timers double from loss to loss.
const STALLED: Duration = Duration::from_secs(60);
/// Bytes that connections carry, again and again: no power of two, so that no loss of whole buffers goes unseen.
const PATTERN_BYTES: usize = 65_521;
/// Payload of a datagram of [`Load::Udp`], and what IP and UDP add.
const DATAGRAM: usize = 1200;
const HEADERS: usize = 28;
/// Bytes of its IP packet.
pub(crate) const DATAGRAM_IP_BYTES: usize = DATAGRAM + HEADERS;
/// A probe's payload: its number, and when it was sent.
const PROBE_BYTES: usize = 16;
/// A socket that is not read for some time loses nothing.
const SOCKET_BYTES: usize = 8 << 20;
const PROBE_PORT: u16 = 7001;
const UDP_PORT: u16 = 7002;

/// What a cell got.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Measured {
    /// Of TCP's or UDP's payload, bits a second.
    pub payload_bps: f64,
    /// The same of IP packets, where that is known: datagrams.
    pub ip_bps: f64,
    /// What probes took longer than without load, 95th percentile, in ms; none: none came.
    pub delay_ms: Option<f64>,
    /// The 99th.
    pub delay_p99_ms: Option<f64>,
    pub probes_lost: u64,
    /// Bytes that were compared, or datagrams whose order was.
    pub verified: u64,
}

/// How long connections run before they are measured.
pub(in crate::bench) const WARM_UP: Duration = Duration::from_secs(1);

/// What connections carried in a window.
pub(in crate::bench) struct Carried<T> {
    /// Of TCP's payload, each compared.
    pub bytes: u64,
    pub seconds: f64,
    /// What was looked at when the window began and when it ended.
    pub before: T,
    pub after: T,
}

/// Connections of a user, as fast as they go, and what `look` sees at the ends of the window.
pub(in crate::bench) fn carry<T>(
    net: &Networks,
    user: Ipv4Addr,
    uplink: bool,
    flows: u16,
    window: Duration,
    look: impl Fn() -> T,
) -> Result<Carried<T>, Failure> {
    let (stop, counts) = (&AtomicBool::new(false), &Counts::default());
    std::thread::scope(|scope| {
        let work = || {
            let mut threads = Vec::new();
            for _ in 0..flows {
                let (sender, receiver) = connection(net, user, uplink, "cubic")?;
                threads.push(scope.spawn(move || send_stream(sender, stop)));
                threads.push(scope.spawn(move || receive_stream(receiver, stop, counts)));
            }
            std::thread::sleep(WARM_UP);
            let (began, before, from) = (Instant::now(), look(), counts.bytes.load(Relaxed));
            std::thread::sleep(window);
            let (bytes, after, seconds) = (counts.bytes.load(Relaxed) - from, look(), began.elapsed().as_secs_f64());
            stop.store(true, Relaxed);
            for thread in threads {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            }
            Ok(Carried { bytes, seconds, before, after })
        };
        let result = work();
        // Whatever failed: the others end too.
        stop.store(true, Relaxed);
        result
    })
}

/// One user's counts while it runs.
#[derive(Default)]
struct Counts {
    bytes: AtomicU64,
    verified: AtomicU64,
    /// (when sent, how long on the way), in ns.
    probes: Mutex<Vec<(u64, u64)>>,
}

/// Those of these that the kernel has: CUBIC and BBR.
pub(super) fn congestion_controls() -> Result<Vec<&'static str>, Failure> {
    let path = "/proc/sys/net/ipv4/tcp_available_congestion_control";
    let there = std::fs::read_to_string(path).map_err(|e| Failure::Usage(format!("{path}: {e}")))?;
    Ok(["cubic", "bbr"].into_iter().filter(|name| there.split_whitespace().any(|word| word == *name)).collect())
}

/// Runs these users together: probes alone, then everything, of which the last `window` is measured.
pub(super) fn run(net: &Networks, users: &[(Ipv4Addr, Cell)], warm_up: Duration, window: Duration) -> Result<Vec<Measured>, Failure> {
    let (began, stop) = (Instant::now(), &AtomicBool::new(false));
    let counts: &Vec<Counts> = &users.iter().map(|_| Counts::default()).collect();
    let probes: &Vec<Way> = &users.iter().map(|(ue, cell)| Way::open(net, *ue, *cell, PROBE_PORT)).collect::<Result<Vec<_>, _>>()?;
    std::thread::scope(|scope| {
        let work = || {
            let mut threads = Vec::new();
            for (probe, counts) in probes.iter().zip(counts) {
                threads.push(scope.spawn(move || probe.receive_probes(stop, began, counts)));
            }
            threads.push(scope.spawn(move || send_probes(probes, stop, began)));
            std::thread::sleep(IDLE);
            let loaded_ns = began.elapsed().as_nanos() as u64;
            for ((ue, cell), counts) in users.iter().zip(counts) {
                match cell.load {
                    Load::Tcp { congestion, flows } => {
                        for _ in 0..flows {
                            let (sender, receiver) = connection(net, *ue, cell.uplink, congestion)?;
                            threads.push(scope.spawn(move || send_stream(sender, stop)));
                            threads.push(scope.spawn(move || receive_stream(receiver, stop, counts)));
                        }
                    }
                    Load::Udp { over_percent } => {
                        let way = Way::open(net, *ue, *cell, UDP_PORT)?;
                        let rate_bps = cell.rate_bps() * (100 + over_percent) / 100;
                        let to_send = way.sender.try_clone().map_err(|e| failed("a socket", &e))?;
                        let to = way.to;
                        threads.push(scope.spawn(move || way.receive_datagrams(stop, counts)));
                        threads.push(scope.spawn(move || send_datagrams(to_send, to, rate_bps, stop).map(drop)));
                    }
                }
            }
            std::thread::sleep(warm_up);
            let before: Vec<u64> = counts.iter().map(|counts| counts.bytes.load(Relaxed)).collect();
            let from = Instant::now();
            std::thread::sleep(window);
            let after: Vec<u64> = counts.iter().map(|counts| counts.bytes.load(Relaxed)).collect();
            let seconds = from.elapsed().as_secs_f64();
            stop.store(true, Relaxed);
            for thread in threads {
                thread.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
            }
            let from_ns = (from - began).as_nanos() as u64;
            let measured = users.iter().zip(counts).zip(before.iter().zip(&after)).map(|(((_, cell), counts), (before, after))| {
                let payload_bps = (after - before) as f64 * 8.0 / seconds;
                counts.measured(cell, payload_bps, loaded_ns, from_ns, window)
            });
            Ok(measured.collect())
        };
        let result = work();
        // Whatever failed: the others end too.
        stop.store(true, Relaxed);
        result
    })
}

impl Counts {
    /// `loaded_ns`: when the probes were no longer alone; `from_ns`: when the window began.
    fn measured(&self, cell: &Cell, payload_bps: f64, loaded_ns: u64, from_ns: u64, window: Duration) -> Measured {
        let probes = self.probes.lock().unwrap_or_else(PoisonError::into_inner);
        let until_ns = from_ns + window.as_nanos() as u64;
        let of = |from: u64, until: u64| {
            let mut delays: Vec<u64> = probes.iter().filter(|(at, _)| (from..until).contains(at)).map(|(_, delay)| *delay).collect();
            delays.sort_unstable();
            delays
        };
        let (alone, loaded) = (of(0, loaded_ns), of(from_ns, until_ns));
        let at = |delays: &[u64], percent: usize| delays.get((delays.len() * percent / 100).min(delays.len().saturating_sub(1))).copied();
        let added = |percent| at(&loaded, percent).zip(at(&alone, 50)).map(|(loaded, alone)| loaded.saturating_sub(alone) as f64 / 1e6);
        let ip = if cell.load.is_udp() { (DATAGRAM + HEADERS) as f64 / DATAGRAM as f64 } else { 0.0 };
        Measured {
            payload_bps,
            ip_bps: payload_bps * ip,
            delay_ms: added(95),
            delay_p99_ms: added(99),
            probes_lost: (window.as_nanos() / PROBE.as_nanos()).saturating_sub(loaded.len() as u128) as u64,
            verified: self.verified.load(Relaxed),
        }
    }
}

/// Sockets for datagrams in the direction of a cell.
struct Way {
    sender: UdpSocket,
    to: SocketAddrV4,
    receiver: UdpSocket,
}

impl Way {
    fn open(net: &Networks, ue: Ipv4Addr, cell: Cell, port: u16) -> Result<Way, Failure> {
        // Each user has a port of its own at the server, which has one address.
        let [_, _, high, low] = ue.octets();
        let port = port + (u16::from(high) << 8 | u16::from(low)) * 4;
        let bind = |namespace: &Namespace, address| {
            let socket = namespace.inside(|| UdpSocket::bind((address, port)))?.map_err(|e| failed("a socket for datagrams", &e))?;
            sockopt::set_socket_recv_buffer_size_force(&socket, SOCKET_BYTES).map_err(|e| failed("a socket's buffer", &e))?;
            socket.set_read_timeout(Some(LOOK)).map_err(|e| failed("a socket's time limit", &e))?;
            Ok::<_, Failure>(socket)
        };
        let (at_ue, at_server) = (bind(&net.ran, ue)?, bind(&net.dn, SERVER)?);
        let (sender, receiver, to) = if cell.uplink { (at_ue, at_server, SERVER) } else { (at_server, at_ue, ue) };
        Ok(Way { sender, to: SocketAddrV4::new(to, port), receiver })
    }

    fn receive(&self, stop: &AtomicBool, mut take: impl FnMut(&[u8]) -> Result<(), Failure>) -> Result<(), Failure> {
        let mut buffer = [0; 2048];
        // What is in flight at the end must not arrive in the next run, whose users have the same addresses and ports.
        let mut silent = 0;
        while silent < SILENT {
            match self.receiver.recv(&mut buffer) {
                Ok(length) => {
                    silent = 0;
                    take(&buffer[..length])?;
                }
                Err(e) if timed_out(&e) => silent += u32::from(stop.load(Relaxed)),
                Err(e) => return Err(failed("receiving datagrams", &e)),
            }
        }
        Ok(())
    }

    fn receive_probes(&self, stop: &AtomicBool, began: Instant, counts: &Counts) -> Result<(), Failure> {
        let mut last = 0;
        self.receive(stop, |datagram| {
            let now_ns = began.elapsed().as_nanos() as u64;
            check_order(datagram, &mut last)?;
            let sent_ns = number(datagram, 8);
            let mut probes = counts.probes.lock().unwrap_or_else(PoisonError::into_inner);
            probes.push((sent_ns, now_ns.saturating_sub(sent_ns)));
            Ok(())
        })
    }

    fn receive_datagrams(&self, stop: &AtomicBool, counts: &Counts) -> Result<(), Failure> {
        let mut last = 0;
        self.receive(stop, |datagram| {
            check_order(datagram, &mut last)?;
            counts.bytes.fetch_add(datagram.len() as u64, Relaxed);
            counts.verified.fetch_add(1, Relaxed);
            Ok(())
        })
    }
}

/// Numbers count from 1 and rise; `last` is the last one so far.
fn check_order(datagram: &[u8], last: &mut u64) -> Result<(), Failure> {
    let now = number(datagram, 0);
    if now <= *last {
        let how = if now == *last { "twice" } else { "late" };
        return Err(Failure::Failed(format!("datagram {now} came {how}: {last} was there already")));
    }
    *last = now;
    Ok(())
}

fn number(datagram: &[u8], at: usize) -> u64 {
    datagram.get(at..at + 8).and_then(|octets| octets.try_into().ok()).map_or(0, u64::from_be_bytes)
}

fn send_probes(ways: &[Way], stop: &AtomicBool, began: Instant) -> Result<(), Failure> {
    stay_on_this_cpu()?;
    for n in 1u64.. {
        for way in ways {
            let mut probe = [0; PROBE_BYTES];
            probe[..8].copy_from_slice(&n.to_be_bytes());
            probe[8..].copy_from_slice(&(began.elapsed().as_nanos() as u64).to_be_bytes());
            // One that a full device does not take is lost.
            let _ = way.sender.send_to(&probe, way.to);
        }
        std::thread::sleep((began + PROBE * n as u32).saturating_duration_since(Instant::now()));
        if stop.load(Relaxed) {
            break;
        }
    }
    Ok(())
}

/// Datagrams of that rate of IP packets, evenly; how many.
fn send_datagrams(socket: UdpSocket, to: SocketAddrV4, rate_bps: u64, stop: &AtomicBool) -> Result<u64, Failure> {
    let of_ip = ((DATAGRAM + HEADERS) * 8) as u64;
    stay_on_this_cpu()?;
    let per_second = rate_bps / of_ip;
    let (began, mut datagram) = (Instant::now(), [0; DATAGRAM]);
    let mut n = 0u64;
    while !stop.load(Relaxed) {
        while n < began.elapsed().as_micros() as u64 * per_second / 1_000_000 {
            n += 1;
            datagram[..8].copy_from_slice(&n.to_be_bytes());
            let _ = socket.send_to(&datagram, to);
        }
        std::thread::sleep(Duration::from_micros(500));
    }
    Ok(n)
}

/// What has become of datagrams to a user.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Datagrams {
    pub sent: u64,
    pub received: u64,
    /// Of those, the ones that later ones had overtaken.
    pub overtaken: u64,
}

/// Datagrams to a user, of that rate of IP packets, until `stop`. They may overtake each other.
pub(crate) fn datagrams(net: &Networks, ue: Ipv4Addr, rate_bps: u64, stop: &AtomicBool) -> Result<Datagrams, Failure> {
    let cell = Cell { rate_mbps: 0, rtt_ms: 0, uplink: false, load: Load::Udp { over_percent: 0 } };
    let way = Way::open(net, ue, cell, UDP_PORT)?;
    let sender = way.sender.try_clone().map_err(|e| failed("a socket", &e))?;
    let to = way.to;
    let mut got = Datagrams::default();
    std::thread::scope(|scope| {
        let sending = scope.spawn(move || send_datagrams(sender, to, rate_bps, stop));
        let mut last = 0;
        let received = way.receive(stop, |datagram| {
            let now = number(datagram, 0);
            got.received += 1;
            got.overtaken += u64::from(now <= last);
            last = last.max(now);
            Ok(())
        });
        got.sent = sending.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        received
    })?;
    Ok(got)
}

/// Bytes that the server sends to a user over a connection of its own, each of which is compared; from the connection's first packet to the last byte.
pub(crate) fn download(net: &Networks, ue: Ipv4Addr, bytes: usize) -> Result<Duration, Failure> {
    let began = Instant::now();
    let (mut sender, mut receiver) = connection(net, ue, false, "cubic")?;
    let pattern = pattern();
    std::thread::scope(|scope| {
        // It lives until the last byte has come: its end discards what is not acknowledged.
        let sender = &mut sender;
        let of_sender = &pattern;
        let sending =
            scope.spawn(move || transfer(bytes, |at| sender.write(&of_sender[at % PATTERN_BYTES..][..PATTERN_BYTES.min(bytes - at)])));
        let mut buffer = vec![0; PATTERN_BYTES];
        let received = transfer(bytes, |at| {
            let n = receiver.read(&mut buffer)?;
            match buffer[..n] == pattern[at % PATTERN_BYTES..][..n] {
                true => Ok(n),
                false => Err(std::io::Error::other("it carried bytes that nobody sent")),
            }
        });
        let took = began.elapsed();
        sending.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))?;
        received.map(|()| took)
    })
}

/// Has `go_on` move on from a byte of so many until all are done. It is given up when nothing moves for [`STALLED`].
fn transfer(bytes: usize, mut go_on: impl FnMut(usize) -> std::io::Result<usize>) -> Result<(), Failure> {
    let (mut at, mut moved) = (0, Instant::now());
    while at < bytes {
        match go_on(at) {
            Ok(0) => return Err(Failure::Failed(format!("a download ended after {at} bytes of {bytes}"))),
            Ok(n) => (at, moved) = (at + n, Instant::now()),
            Err(e) if timed_out(&e) && moved.elapsed() < STALLED => {}
            Err(e) => return Err(failed(&format!("a download, after {at} bytes of {bytes}"), &e)),
        }
    }
    Ok(())
}

/// A connection of the user's to the server: (who sends, who receives).
fn connection(net: &Networks, ue: Ipv4Addr, uplink: bool, congestion: &str) -> Result<(TcpStream, TcpStream), Failure> {
    let listener = net.dn.inside(|| TcpListener::bind((SERVER, 0)))?.map_err(|e| failed("a server's socket", &e))?;
    let address = listener.local_addr().map_err(|e| failed("a server's socket", &e))?;
    let of_user = || -> std::io::Result<TcpStream> {
        let user = socket(AddressFamily::INET, SocketType::STREAM, None)?;
        sockopt::set_socket_timeout(&user, sockopt::Timeout::Send, Some(PATIENCE))?;
        sockopt::set_tcp_congestion(&user, congestion)?;
        bind(&user, &SocketAddrV4::new(ue, 0))?;
        connect(&user, &address)?;
        Ok(TcpStream::from(user))
    };
    sockopt::set_tcp_congestion(&listener, congestion).map_err(|e| failed("congestion control", &e))?;
    let user = net.ran.inside(of_user)?.map_err(|e| failed("a user's connection", &e))?;
    let (server, _) = listener.accept().map_err(|e| failed("a user's connection", &e))?;
    for end in [&user, &server] {
        end.set_read_timeout(Some(LOOK))
            .and_then(|()| end.set_write_timeout(Some(LOOK)))
            .map_err(|e| failed("a socket's time limit", &e))?;
        // What is not sent when a cell ends must not be sent in the next one.
        sockopt::set_socket_linger(end, Some(Duration::ZERO)).map_err(|e| failed("a socket's end", &e))?;
    }
    Ok(if uplink { (user, server) } else { (server, user) })
}

/// [`PATTERN_BYTES`] bytes, twice: as many from any place in the first half.
fn pattern() -> Vec<u8> {
    let once = (0..PATTERN_BYTES as u32).map(|i| (i.wrapping_mul(2_654_435_761) >> 23) as u8);
    once.clone().chain(once).collect()
}

fn send_stream(mut socket: TcpStream, stop: &AtomicBool) -> Result<(), Failure> {
    let (pattern, mut at) = (pattern(), 0);
    while !stop.load(Relaxed) {
        match socket.write(&pattern[at..at + PATTERN_BYTES]) {
            Ok(n) => at = (at + n) % PATTERN_BYTES,
            Err(e) if timed_out(&e) => {}
            // The receiver has ended, or we are about to.
            Err(_) if stop.load(Relaxed) => break,
            Err(e) => return Err(failed("a connection's sender", &e)),
        }
    }
    Ok(())
}

fn receive_stream(mut socket: TcpStream, stop: &AtomicBool, counts: &Counts) -> Result<(), Failure> {
    let (pattern, mut at) = (pattern(), 0);
    let mut buffer = vec![0; PATTERN_BYTES];
    while !stop.load(Relaxed) {
        match socket.read(&mut buffer) {
            Ok(0) => break,
            Ok(n) => {
                if buffer[..n] != pattern[at..at + n] {
                    return Err(Failure::Failed("a connection carried bytes that nobody sent".into()));
                }
                at = (at + n) % PATTERN_BYTES;
                counts.bytes.fetch_add(n as u64, Relaxed);
                counts.verified.fetch_add(n as u64, Relaxed);
            }
            Err(e) if timed_out(&e) => {}
            Err(_) if stop.load(Relaxed) => break,
            Err(e) => return Err(failed("a connection's receiver", &e)),
        }
    }
    Ok(())
}

fn timed_out(e: &std::io::Error) -> bool {
    matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut | ErrorKind::Interrupted)
}

fn failed(what: &str, e: &dyn std::fmt::Display) -> Failure {
    Failure::Failed(format!("{what}: {e}"))
}
