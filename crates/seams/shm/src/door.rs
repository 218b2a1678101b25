//! How do two processes meet? One listens at a path; the other connects, says who it is, and is given a region.
//!
//! Whoever connects must be of the same user as the listener, or root. All is without waiting: a lane looks at the door now and then.

use crate::Region;
use rustix::event::{PollFd, PollFlags, Timespec, poll};
use rustix::net::sockopt::socket_peercred;
use rustix::net::{
    RecvAncillaryBuffer, RecvAncillaryMessage, RecvFlags, ReturnFlags, SendAncillaryBuffer, SendAncillaryMessage, SendFlags, recvmsg,
    sendmsg,
};
use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::mem::MaybeUninit;
use std::os::fd::{BorrowedFd, OwnedFd};
use std::os::unix::fs::{FileTypeExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::time::Duration;

/// Bytes by which each side says who it is.
pub const HELLO_LEN: usize = 64;

/// A listener at a path, which it removes at its end.
pub struct Door {
    listener: UnixListener,
    path: PathBuf,
}

impl Door {
    /// Listens at `path`. A socket that nobody listens at any more is replaced.
    ///
    /// # Errors
    /// If another process listens there, something else lies there, or the folder does not permit it.
    pub fn listen(path: &Path) -> io::Result<Door> {
        let is_socket = std::fs::symlink_metadata(path).is_ok_and(|found| found.file_type().is_socket());
        if is_socket && UnixStream::connect(path).is_err_and(|error| error.kind() == ErrorKind::ConnectionRefused) {
            std::fs::remove_file(path)?;
        }
        let listener = UnixListener::bind(path)?;
        std::fs::set_permissions(path, std::fs::Permissions::from_mode(0o600))?;
        listener.set_nonblocking(true)?;
        Ok(Door { listener, path: path.to_owned() })
    }

    /// Whoever connects next, if somebody does, and its process. Others' users are turned away.
    pub fn accept(&self) -> Option<(UnixStream, i32)> {
        let (stream, _) = self.listener.accept().ok()?;
        stream.set_nonblocking(true).ok()?;
        let peer = socket_peercred(&stream).ok()?;
        let ours = rustix::process::geteuid();
        (peer.uid == ours || peer.uid.is_root()).then(|| (stream, peer.pid.as_raw_nonzero().get()))
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.path);
    }
}

/// What a look at a connection found.
#[derive(Debug, PartialEq, Eq)]
pub enum Heard {
    /// Nothing.
    Nothing,
    /// Some bytes.
    Bytes(usize),
    /// The other process has ended, or has closed it.
    Closed,
}

/// Reads what is there, without waiting.
pub fn hear(stream: &mut UnixStream, into: &mut [u8]) -> Heard {
    match stream.read(into) {
        Ok(0) => Heard::Closed,
        Ok(n) => Heard::Bytes(n),
        Err(error) if matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => Heard::Nothing,
        Err(_) => Heard::Closed,
    }
}

/// Wakes the other side, if it waits for the socket. A full socket has enough in it to wake it.
pub fn wake(stream: &mut UnixStream) {
    let _ = stream.write(&[0]);
}

/// Waits until there is something to read on one of them, or for so long.
pub fn wait(streams: &[BorrowedFd<'_>], at_most: Duration) {
    let mut polled: Vec<PollFd<'_>> = streams.iter().map(|stream| PollFd::from_borrowed_fd(*stream, PollFlags::IN)).collect();
    let timeout = Timespec { tv_sec: at_most.as_secs() as i64, tv_nsec: at_most.subsec_nanos().into() };
    let _ = poll(&mut polled, Some(&timeout));
}

/// Sends a region with a hello.
///
/// # Errors
/// What the kernel says.
pub fn send_region(stream: &UnixStream, hello: &[u8; HELLO_LEN], region: &Region) -> io::Result<()> {
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = SendAncillaryBuffer::new(&mut space);
    let fds = [region.fd()];
    ancillary.push(SendAncillaryMessage::ScmRights(&fds));
    let sent = sendmsg(stream, &[IoSlice::new(hello)], &mut ancillary, SendFlags::NOSIGNAL)?;
    if sent == HELLO_LEN { Ok(()) } else { Err(ErrorKind::WriteZero.into()) }
}

/// Waits for a region and its hello.
///
/// # Errors
/// If the other side closes the connection, or sends something else.
pub fn receive_region(stream: &UnixStream) -> io::Result<([u8; HELLO_LEN], OwnedFd)> {
    let mut hello = [0; HELLO_LEN];
    let mut space = [MaybeUninit::uninit(); rustix::cmsg_space!(ScmRights(1))];
    let mut ancillary = RecvAncillaryBuffer::new(&mut space);
    let received = recvmsg(stream, &mut [IoSliceMut::new(&mut hello)], &mut ancillary, RecvFlags::CMSG_CLOEXEC | RecvFlags::WAITALL)?;
    if received.bytes == 0 {
        return Err(ErrorKind::UnexpectedEof.into());
    }
    let mut fds = ancillary.drain().filter_map(|message| match message {
        RecvAncillaryMessage::ScmRights(fds) => Some(fds),
        _ => None,
    });
    let fd = fds.next().and_then(|mut fds| fds.next());
    let whole = received.bytes == HELLO_LEN && !received.flags.contains(ReturnFlags::CTRUNC);
    match fd {
        Some(fd) if whole => Ok((hello, fd)),
        _ => Err(io::Error::new(ErrorKind::InvalidData, "expected a region")),
    }
}
