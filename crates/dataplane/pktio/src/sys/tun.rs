//! Attaching to a TUN device (tuntap of linux/if_tun.h).

use std::fs::{File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::os::unix::fs::OpenOptionsExt;

use libc::{c_int, c_short, c_ulong, ifreq};

use super::check;
use super::net::name_chars;

const TUNSETIFF: c_ulong = 0x4004_54ca;
const TUNSETOFFLOAD: c_ulong = 0x4004_54d0;
const TUNSETVNETHDRSZ: c_ulong = 0x4004_54d8;
/// Unfinished checksums and TCP segmentation, with ECN; and segmentation of UDP, since Linux 6.2.
const TCP_OFFLOADS: c_ulong = 0x01 | 0x02 | 0x04 | 0x08;
const UDP_OFFLOADS: c_ulong = 0x20 | 0x40;
/// `struct virtio_net_hdr` without the number of buffers.
pub(crate) const VNET_HEADER: usize = 10;

/// The step that failed.
pub(crate) enum Failed {
    /// Opening /dev/net/tun.
    Open(io::Error),
    /// Making the device, or attaching to it.
    Attach(io::Error),
    /// Asking for offloads.
    Offload(io::Error),
}

/// The device of that name, made if it is not there: packets without a link layer, each as TUNSETIFF's further `flags` say. Never blocks.
pub(crate) fn attach(name: &str, flags: c_int) -> Result<File, Failed> {
    let mut options = OpenOptions::new();
    let device = options.read(true).write(true).custom_flags(libc::O_NONBLOCK | libc::O_CLOEXEC).open("/dev/net/tun");
    let device = device.map_err(Failed::Open)?;
    // SAFETY: ifreq is integers and a union of integers and pointers; zero is a value of all.
    let mut request: ifreq = unsafe { std::mem::zeroed() };
    request.ifr_name = name_chars(name).ok_or_else(|| Failed::Attach(io::Error::from_raw_os_error(libc::EINVAL)))?;
    request.ifr_ifru.ifru_flags = (libc::IFF_TUN | libc::IFF_NO_PI | flags) as c_short;
    // SAFETY: TUNSETIFF reads and writes the ifreq, which outlives the call.
    check(unsafe { libc::ioctl(device.as_raw_fd(), TUNSETIFF as _, &raw mut request) }).map_err(Failed::Attach)?;
    Ok(device)
}

/// As [`attach`], with offloads: each packet is behind a virtio header.
pub(crate) fn attach_with_offloads(name: &str) -> Result<File, Failed> {
    let device = attach(name, libc::IFF_VNET_HDR)?;
    let mut size = VNET_HEADER as c_int;
    // SAFETY: TUNSETVNETHDRSZ reads one integer, which outlives the call. An earlier owner may have left another size behind.
    check(unsafe { libc::ioctl(device.as_raw_fd(), TUNSETVNETHDRSZ as _, &raw mut size) }).map_err(Failed::Offload)?;
    // SAFETY: TUNSETOFFLOAD takes its flags by value.
    let offload = |flags: c_ulong| check(unsafe { libc::ioctl(device.as_raw_fd(), TUNSETOFFLOAD as _, flags) });
    offload(TCP_OFFLOADS | UDP_OFFLOADS).or_else(|_| offload(TCP_OFFLOADS)).map_err(Failed::Offload)?;
    Ok(device)
}
