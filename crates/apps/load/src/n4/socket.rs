//! A UDP socket that sends and receives many datagrams with a system call.

use crate::Error;
use nix::errno::Errno;
use nix::poll::{PollFd, PollFlags, ppoll};
use nix::sys::socket::{MsgFlags, MultiHeaders, recvmmsg, sendmmsg, setsockopt, sockopt};
use nix::sys::time::TimeSpec;
use std::io::{IoSlice, IoSliceMut};
use std::net::{IpAddr, SocketAddr, UdpSocket};
use std::os::fd::{AsFd, AsRawFd};
use std::time::Duration;

/// Datagrams that a system call moves, at most.
pub(crate) const BURST: usize = 64;
/// An answer to a session request is shorter. What is longer is cut, and is no PFCP then.
const LONGEST: usize = 4096;
/// Answers that come while we do something else.
const BUFFER: usize = 4 << 20;

/// Connected to the UPF: others are not heard.
pub(crate) struct Socket {
    socket: UdpSocket,
    upf: SocketAddr,
    send: MultiHeaders<()>,
    receive: MultiHeaders<()>,
    buffers: Vec<Vec<u8>>,
    lengths: Vec<usize>,
}

impl Socket {
    /// # Errors
    /// [`Error::Usage`] if the addresses cannot be used.
    pub(crate) fn open(local: SocketAddr, upf: SocketAddr) -> Result<Socket, Error> {
        if local.is_ipv4() != upf.is_ipv4() {
            return Err(Error::Usage(format!("--local {local} and --upf {upf} are of unlike IP versions")));
        }
        let socket = UdpSocket::bind(local).map_err(|e| Error::Usage(format!("--local {local}: {e}")))?;
        let connected = socket.connect(upf).and_then(|()| socket.set_nonblocking(true));
        connected.map_err(|e| Error::Usage(format!("--upf {upf}: {e}")))?;
        // Less than asked is no fault: what is lost is sent again, and counted.
        let _ = setsockopt(&socket, sockopt::RcvBuf, &BUFFER).and_then(|()| setsockopt(&socket, sockopt::SndBuf, &BUFFER));
        let headers = || MultiHeaders::preallocate(BURST, None);
        Ok(Socket { socket, upf, send: headers(), receive: headers(), buffers: vec![vec![0; LONGEST]; BURST], lengths: Vec::new() })
    }

    /// Our address, as the UPF sees it.
    pub(crate) fn address(&self) -> Result<IpAddr, Error> {
        self.socket.local_addr().map(|local| local.ip()).map_err(|e| self.failed(&e))
    }

    /// Sends the first of the datagrams, up to [`BURST`]; how many.
    pub(crate) fn send(&mut self, datagrams: &[Vec<u8>]) -> Result<usize, Error> {
        let datagrams = &datagrams[..datagrams.len().min(BURST)];
        let slices: Vec<[IoSlice<'_>; 1]> = datagrams.iter().map(|datagram| [IoSlice::new(datagram)]).collect();
        let to = [None; BURST];
        let sent = sendmmsg(self.socket.as_raw_fd(), &mut self.send, &slices, &to[..slices.len()], [], MsgFlags::MSG_DONTWAIT);
        match sent.map(Iterator::count) {
            // No room: what is in the kernel goes first.
            Err(Errno::EAGAIN | Errno::ENOBUFS | Errno::EINTR) => Ok(0),
            sent => sent.map_err(|e| self.failed(&e)),
        }
    }

    /// Receives what is there, up to [`BURST`] datagrams, which [`Socket::received`] gives; how many.
    pub(crate) fn receive(&mut self) -> Result<usize, Error> {
        self.lengths.clear();
        let mut slices: Vec<[IoSliceMut<'_>; 1]> = self.buffers.iter_mut().map(|buffer| [IoSliceMut::new(buffer)]).collect();
        let received = recvmmsg(self.socket.as_raw_fd(), &mut self.receive, slices.iter_mut(), MsgFlags::MSG_DONTWAIT, None);
        match received {
            Ok(messages) => self.lengths.extend(messages.map(|message| message.bytes)),
            Err(Errno::EAGAIN | Errno::EINTR) => {}
            Err(e) => return Err(self.failed(&e)),
        }
        Ok(self.lengths.len())
    }

    /// A datagram of the last call of [`Socket::receive`].
    pub(crate) fn received(&self, n: usize) -> &[u8] {
        &self.buffers[n][..self.lengths[n]]
    }

    /// Waits until there is a datagram, or room to send one if `wants_room`, or for so long.
    pub(crate) fn wait(&self, wants_room: bool, at_most: Duration) {
        let events = if wants_room { PollFlags::POLLIN | PollFlags::POLLOUT } else { PollFlags::POLLIN };
        // An error shows with the next call.
        let _ = ppoll(&mut [PollFd::new(self.socket.as_fd(), events)], Some(TimeSpec::from_duration(at_most)), None);
    }

    fn failed(&self, error: &dyn std::fmt::Display) -> Error {
        Error::Failed(format!("N4 with {}: {error}", self.upf))
    }
}
