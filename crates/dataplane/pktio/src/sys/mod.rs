//! What must be said to the kernel with raw pointers. The only unsafe code of the crate is in this folder; what it exports is safe.
//!
//! `net` asks about interfaces, `packet_socket` moves bursts through AF_PACKET, `datagrams` through UDP, `tun` attaches to a device, `bpf` loads the XDP program, `ring` is memory shared
//! with the kernel, `xsk` says who owns which of AF_XDP's frames.
#![allow(unsafe_code)]

pub(crate) mod bpf;
pub(crate) mod datagrams;
pub(crate) mod net;
pub(crate) mod packet_socket;
pub(crate) mod ring;
pub(crate) mod tun;
pub(crate) mod xsk;

use std::io;
use std::mem::{MaybeUninit, size_of};
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::time::Duration;

use libc::{c_int, c_void, socklen_t};

/// Sleeps until one of `fds` (see [`crate::Port::fd`]) is readable or in error, or `timeout` (millisecond steps, rounded up) is over.
/// Returns how many are; a signal ends the wait with 0.
///
/// # Errors
/// As poll(2): out of memory, too many descriptors.
pub fn wait(fds: &[RawFd], timeout: Duration) -> io::Result<usize> {
    let mut polled: Vec<libc::pollfd> = fds.iter().map(|&fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 }).collect();
    let milliseconds = c_int::try_from(timeout.as_nanos().div_ceil(1_000_000)).unwrap_or(c_int::MAX);
    // SAFETY: the pointer and count describe one live, exclusively borrowed array of pollfd.
    match check(unsafe { libc::poll(polled.as_mut_ptr(), polled.len() as libc::nfds_t, milliseconds) }) {
        Ok(ready) => Ok(ready as usize),
        Err(e) if e.kind() == io::ErrorKind::Interrupted => Ok(0),
        Err(e) => Err(e),
    }
}

/// A system call's result, with errno as the error.
fn check(result: c_int) -> io::Result<c_int> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(result) }
}

/// A new socket, closed on exec.
fn socket(domain: c_int, kind: c_int, protocol: c_int) -> io::Result<OwnedFd> {
    // SAFETY: no pointers are passed.
    let fd = check(unsafe { libc::socket(domain, kind | libc::SOCK_CLOEXEC, protocol) })?;
    // SAFETY: the descriptor was just opened and has no other owner.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// Types that any bytes are a value of, and that have no padding that would leak our memory to the kernel.
///
/// # Safety
/// The implementor holds only integers and arrays of them, `repr(C)`, without references or niches.
unsafe trait Plain: Copy {}
// SAFETY: integers.
unsafe impl Plain for c_int {}
// SAFETY: integers.
unsafe impl Plain for u32 {}

fn set_option<T: Plain>(fd: BorrowedFd<'_>, level: c_int, name: c_int, value: T) -> io::Result<()> {
    let value_ptr = (&raw const value).cast::<c_void>();
    // SAFETY: the pointer and length describe `value`, which outlives the call.
    check(unsafe { libc::setsockopt(fd.as_raw_fd(), level, name, value_ptr, size_of::<T>() as socklen_t) })?;
    Ok(())
}

/// Reads an option; a kernel that knows a shorter form of `T` leaves the rest zero.
fn get_option<T: Plain>(fd: BorrowedFd<'_>, level: c_int, name: c_int) -> io::Result<T> {
    let mut value = MaybeUninit::<T>::zeroed();
    let mut length = size_of::<T>() as socklen_t;
    // SAFETY: the kernel writes at most `length` bytes to `value`, which outlives the call.
    check(unsafe { libc::getsockopt(fd.as_raw_fd(), level, name, value.as_mut_ptr().cast::<c_void>(), &raw mut length) })?;
    // SAFETY: it was zeroed, and any bytes are a value of a `Plain` type.
    Ok(unsafe { value.assume_init() })
}

/// The pending asynchronous error of a socket, which this clears.
fn pending_error(fd: BorrowedFd<'_>) -> io::Result<()> {
    match get_option::<c_int>(fd, libc::SOL_SOCKET, libc::SO_ERROR)? {
        0 => Ok(()),
        code => Err(io::Error::from_raw_os_error(code)),
    }
}
