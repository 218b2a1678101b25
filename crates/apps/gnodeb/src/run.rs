//! Sockets, TUN devices and time around what has none: `splitplane gnb`, `splitplane ue` and `splitplane link`.
//!
//! | question | file |
//! |---|---|
//! | a gNodeB between N3, F1-U and radio | [`mod@gnb`] |
//! | the same of `p4/gnb.p4` | [`mod@pipeline`] |
//! | what stands in front of that, on an interface | `front` |
//! | UEs between their devices and the radio | [`mod@ue`] |
//! | a radio that loses, between two of them | [`mod@link`] |
//!
//! Each is one thread that waits for its sockets and for the next deadline, but for the program, which the engine runs. It ends when `goes_on` says so, which is asked every some
//! milliseconds.

mod control;
mod front;
pub mod gnb;
pub mod link;
pub mod pipeline;
pub mod ue;

use std::io::ErrorKind;
use std::net::{SocketAddr, UdpSocket};
use std::os::fd::BorrowedFd;
use std::time::Instant;

use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, PollTimeout, poll};
use nix::sys::socket::{setsockopt, sockopt};

/// How long nothing is looked at, at most, in ms.
const TICK_MS: u64 = 20;
/// Datagrams that are read from a socket before others have their turn.
const BURST: usize = 64;
/// Longest datagram: a PDU of the largest grant, behind its tags.
const MAX_DATAGRAM: usize = 10_240;
/// Socket buffers asked of the kernel, in bytes.
const SOCKET_BUFFER: usize = 8 << 20;

/// Why something cannot run; the text names the way out.
#[derive(Debug, thiserror::Error)]
pub enum RunError {
    /// An address that cannot be used.
    #[error("{what} {address}: {source}")]
    Socket {
        /// Which.
        what: &'static str,
        /// Its address.
        address: SocketAddr,
        /// Why not.
        #[source]
        source: std::io::Error,
    },
    /// A UE's device.
    #[error("{0}")]
    Device(#[from] traffic::ran::RanError),
    /// The link's options.
    #[error("{0}")]
    Link(#[from] ::link::ConfigError),
    /// Waiting for sockets.
    #[error("poll: {0}")]
    Poll(Errno),
    /// The program.
    #[error("{0}")]
    Pipeline(#[from] crate::pipeline::PipelineError),
    /// A port of the program.
    #[error("{0}")]
    Port(#[from] pktio::PortError),
    /// What runs the program.
    #[error("{0}")]
    Engine(#[from] engine::EngineError),
    /// A thread of it has ended by itself.
    #[error("{0} has failed: this is a bug")]
    Worker(String),
    /// Packets that came in, and are neither out, nor kept, nor counted as dropped.
    #[error("{packets} packets and {calls} calls of services are not accounted for: this is a bug")]
    Imbalance {
        /// Of the engine.
        packets: i64,
        /// Of services.
        calls: i64,
    },
    /// The control socket.
    #[error("{0}")]
    Control(String),
    /// No implementation of the ciphers.
    #[error("ciphering: {0}")]
    Ciphering(#[from] ciphering::Error),
}

/// Time since the start, as the nodes have it.
struct Clock(Instant);

impl Clock {
    fn start() -> Clock {
        Clock(Instant::now())
    }

    fn now_ns(&self) -> u64 {
        u64::try_from(self.0.elapsed().as_nanos()).unwrap_or(u64::MAX)
    }
}

fn open(what: &'static str, address: SocketAddr) -> Result<UdpSocket, RunError> {
    let fail = |source| RunError::Socket { what, address, source };
    let socket = UdpSocket::bind(address).map_err(fail)?;
    socket.set_nonblocking(true).map_err(fail)?;
    // With CAP_NET_ADMIN beyond the system's limit, without it up to it; less costs packets that the kernel counts.
    if setsockopt(&socket, sockopt::RcvBufForce, &SOCKET_BUFFER).is_err() {
        let _ = setsockopt(&socket, sockopt::RcvBuf, &SOCKET_BUFFER);
    }
    if setsockopt(&socket, sockopt::SndBufForce, &SOCKET_BUFFER).is_err() {
        let _ = setsockopt(&socket, sockopt::SndBuf, &SOCKET_BUFFER);
    }
    Ok(socket)
}

/// Waits until one can be read, the deadline is there, or a tick has passed.
fn wait(fds: &[BorrowedFd<'_>], deadline_ns: Option<u64>, now_ns: u64) -> Result<(), RunError> {
    let mut fds: Vec<PollFd<'_>> = fds.iter().map(|fd| PollFd::new(*fd, PollFlags::POLLIN)).collect();
    // Rounded up: a wait of less than a millisecond would be a loop without one. Rates may be saved up for longer.
    let ms = deadline_ns.map_or(TICK_MS, |deadline| deadline.saturating_sub(now_ns).div_ceil(1_000_000).min(TICK_MS));
    match poll(&mut fds, PollTimeout::from(ms as u8)) {
        Ok(_) | Err(Errno::EINTR) => Ok(()),
        Err(error) => Err(RunError::Poll(error)),
    }
}

/// Reads what has come to a socket, a burst at most.
fn receive(socket: &UdpSocket, buffer: &mut [u8], mut take: impl FnMut(&[u8], SocketAddr)) {
    for _ in 0..BURST {
        match socket.recv_from(buffer) {
            Ok((length, from)) => take(&buffer[..length], from),
            // An ICMP error of something that was sent, or nothing there: both end the burst.
            Err(error) if error.kind() == ErrorKind::Interrupted => {}
            Err(_) => return,
        }
    }
}

/// Sends a datagram. What the kernel does not take is lost, as on the way; the caller counts it.
fn send(socket: &UdpSocket, datagram: &[u8], to: SocketAddr, unsent: &mut u64) {
    if socket.send_to(datagram, to).is_err() {
        *unsent += 1;
    }
}
