//! Bursts of datagrams through a UDP socket, each with its TTL and type of service.

use std::io;
use std::mem::{size_of, zeroed};
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, AsRawFd};

use base::{HEADROOM, MAX_PACKET, Packet};
use libc::{c_int, c_uint, cmsghdr, iovec, mmsghdr, sockaddr_in};

use super::{Plain, check, get_option, set_option};

/// Most datagrams a system call moves.
pub(crate) const BURST: usize = 64;
/// `struct sk_meminfo` of linux/sock_diag.h, as words; the last is what the socket dropped.
type MemInfo = [u32; 9];
// SAFETY: integers.
unsafe impl Plain for MemInfo {}
/// Room for two control messages of one word each; words for their alignment.
type Control = [u64; 8];

/// The scratch memory of bursts.
pub(crate) struct Datagrams {
    slots: Vec<Slot>,
    iovecs: Vec<[iovec; 2]>,
    messages: Vec<mmsghdr>,
}

// SAFETY: the raw pointers in `iovecs` and `messages` are rewritten before each system call and mean nothing between calls.
unsafe impl Send for Datagrams {}

struct Slot {
    address: sockaddr_in,
    control: Control,
    /// A datagram can exceed the buffer of a [`Packet`]: the rest lands here.
    spill: Box<[u8]>,
    /// Bytes that the packet's own buffer could take.
    room: usize,
}

/// What arrived in one slot.
pub(crate) struct Arrival {
    /// Bytes of the datagram; what exceeds the packet's buffer is in [`Datagrams::spill`].
    pub(crate) length: usize,
    /// Not all of it fitted.
    pub(crate) truncated: bool,
    pub(crate) from: SocketAddrV4,
    pub(crate) ttl: u8,
    pub(crate) tos: u8,
}

/// What is sent.
#[derive(Clone, Copy)]
pub(crate) struct Outgoing<'a> {
    pub(crate) to: SocketAddrV4,
    pub(crate) ttl: u8,
    pub(crate) tos: u8,
    pub(crate) payload: &'a [u8],
}

/// Readies a socket: it tells TTL and type of service of what arrives, sends with TTL 64 and without checksum, fragments what exceeds
/// the path instead of refusing it, and has buffers of that size if the kernel lets it.
pub(crate) fn prepare(socket: &impl AsFd, buffer_bytes: usize) -> io::Result<()> {
    let fd = socket.as_fd();
    let options = [
        (libc::IPPROTO_IP, libc::IP_RECVTTL, 1),
        (libc::IPPROTO_IP, libc::IP_RECVTOS, 1),
        (libc::IPPROTO_IP, libc::IP_TTL, c_int::from(TTL)),
        (libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_DONT),
        (libc::SOL_SOCKET, libc::SO_NO_CHECK, 1),
    ];
    for (level, name, value) in options {
        set_option::<c_int>(fd, level, name, value)?;
    }
    let bytes = c_int::try_from(buffer_bytes).unwrap_or(c_int::MAX);
    // The forcing form needs CAP_NET_ADMIN; less buffer costs packets under load, not correctness.
    for (force, plain) in [(libc::SO_RCVBUFFORCE, libc::SO_RCVBUF), (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF)] {
        let _ = set_option(fd, libc::SOL_SOCKET, force, bytes).or_else(|_| set_option(fd, libc::SOL_SOCKET, plain, bytes));
    }
    Ok(())
}

/// Datagrams that the kernel dropped at the socket, because its buffer was full or they were damaged; it wraps.
pub(crate) fn drops(socket: &impl AsFd) -> io::Result<u32> {
    get_option::<MemInfo>(socket.as_fd(), libc::SOL_SOCKET, libc::SO_MEMINFO).map(|info| info[8])
}

/// The TTL of what is sent without a control message.
const TTL: u8 = 64;

impl Datagrams {
    pub(crate) fn new() -> Datagrams {
        // SAFETY: sockaddr_in is integers.
        let address: sockaddr_in = unsafe { zeroed() };
        let slot = |_| Slot { address, control: [0; 8], spill: vec![0; MAX_PACKET].into_boxed_slice(), room: 0 };
        Datagrams {
            slots: (0..BURST).map(slot).collect(),
            iovecs: vec![[iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; 2]; BURST],
            // SAFETY: mmsghdr is integers and pointers; null is a value of all.
            messages: vec![unsafe { zeroed() }; BURST],
        }
    }

    /// Receives up to [`BURST`] datagrams into the buffers of `packets`, `offset` bytes behind [`HEADROOM`], and returns how many;
    /// never blocks. The packets' windows are not set: [`Datagrams::arrival`] tells the lengths.
    pub(crate) fn receive(&mut self, socket: &impl AsFd, packets: &mut [Packet], offset: usize) -> io::Result<usize> {
        let count = packets.len().min(BURST);
        for (i, packet) in packets[..count].iter_mut().enumerate() {
            let slot = &mut self.slots[i];
            let (buffer, _, _) = packet.buffer_mut();
            let window = buffer.get_mut(HEADROOM + offset..).unwrap_or_default();
            slot.room = window.len();
            self.iovecs[i] = [part(window), part(&mut slot.spill)];
            let message = &mut self.messages[i].msg_hdr;
            message.msg_name = (&raw mut slot.address).cast();
            message.msg_namelen = size_of::<sockaddr_in>() as _;
            message.msg_iov = self.iovecs[i].as_mut_ptr();
            message.msg_iovlen = 2;
            message.msg_control = slot.control.as_mut_ptr().cast();
            message.msg_controllen = size_of::<Control>() as _;
            message.msg_flags = 0;
        }
        let (fd, messages) = (socket.as_fd().as_raw_fd(), self.messages.as_mut_ptr());
        // SAFETY: `count` messages were just set up to point at packet buffers, spill buffers, addresses and control words, all
        // exclusively borrowed through `self` and `packets` for the length of the call, each with its true length.
        let received = unsafe { libc::recvmmsg(fd, messages, count as c_uint, libc::MSG_DONTWAIT as _, std::ptr::null_mut()) };
        Ok(check(received)? as usize)
    }

    /// What the last [`Datagrams::receive`] left in slot `i`.
    pub(crate) fn arrival(&self, i: usize) -> Arrival {
        let (slot, message) = (&self.slots[i], &self.messages[i]);
        let (mut ttl, mut tos) = (TTL, 0);
        // SAFETY: the kernel filled the control buffer that the message still points to and set its length.
        let mut at = unsafe { libc::CMSG_FIRSTHDR(&raw const message.msg_hdr) };
        while !at.is_null() {
            // SAFETY: non-null: a whole header lies in the buffer.
            let header: &cmsghdr = unsafe { &*at };
            // SAFETY: CMSG_LEN only computes.
            let bytes = (header.cmsg_len as usize).saturating_sub(unsafe { libc::CMSG_LEN(0) } as usize);
            // SAFETY: the data lie behind the header; it is read only where its length was looked at.
            let data = unsafe { libc::CMSG_DATA(at) };
            match (header.cmsg_level, header.cmsg_type) {
                // SAFETY: as said.
                (libc::IPPROTO_IP, libc::IP_TTL) if bytes >= 4 => ttl = unsafe { data.cast::<c_int>().read_unaligned() } as u8,
                // SAFETY: as said.
                (libc::IPPROTO_IP, libc::IP_TOS) if bytes >= 1 => tos = unsafe { data.read() },
                _ => {}
            }
            // SAFETY: as for the first one.
            at = unsafe { libc::CMSG_NXTHDR(&raw const message.msg_hdr, at) };
        }
        let ip = Ipv4Addr::from(u32::from_be(slot.address.sin_addr.s_addr));
        Arrival {
            length: message.msg_len as usize,
            truncated: message.msg_hdr.msg_flags & libc::MSG_TRUNC != 0,
            from: SocketAddrV4::new(ip, u16::from_be(slot.address.sin_port)),
            ttl,
            tos,
        }
    }

    /// What of slot `i` did not fit into its packet's buffer, if `length` bytes arrived.
    pub(crate) fn spill(&self, i: usize, length: usize) -> &[u8] {
        let slot = &self.slots[i];
        &slot.spill[..length.saturating_sub(slot.room).min(slot.spill.len())]
    }

    /// Sends up to [`BURST`] datagrams and returns how many were taken, at least one; never blocks. The error is about the first.
    pub(crate) fn send(&mut self, socket: &impl AsFd, datagrams: &[Outgoing<'_>]) -> io::Result<usize> {
        let count = datagrams.len().min(BURST);
        for (i, datagram) in datagrams[..count].iter().enumerate() {
            let slot = &mut self.slots[i];
            slot.address.sin_family = libc::AF_INET as _;
            slot.address.sin_port = datagram.to.port().to_be();
            slot.address.sin_addr.s_addr = u32::from(*datagram.to.ip()).to_be();
            self.iovecs[i][0] = iovec { iov_base: datagram.payload.as_ptr().cast_mut().cast(), iov_len: datagram.payload.len() };
            let message = &mut self.messages[i].msg_hdr;
            message.msg_name = (&raw mut slot.address).cast();
            message.msg_namelen = size_of::<sockaddr_in>() as _;
            message.msg_iov = self.iovecs[i].as_mut_ptr();
            message.msg_iovlen = 1;
            message.msg_control = std::ptr::null_mut();
            message.msg_controllen = 0;
            message.msg_flags = 0;
            if (datagram.ttl, datagram.tos) != (TTL, 0) {
                put_control(message, &mut slot.control, [(libc::IP_TTL, datagram.ttl), (libc::IP_TOS, datagram.tos)]);
            }
        }
        // SAFETY: `count` messages point at one part each, a payload borrowed for the call, which a send only reads, and at
        // addresses and control words of `self`.
        let sent =
            unsafe { libc::sendmmsg(socket.as_fd().as_raw_fd(), self.messages.as_mut_ptr(), count as c_uint, libc::MSG_DONTWAIT as _) };
        Ok(check(sent)? as usize)
    }
}

/// Control messages of level IP with one word each.
fn put_control(message: &mut libc::msghdr, control: &mut Control, values: [(c_int, u8); 2]) {
    *control = [0; 8];
    message.msg_control = control.as_mut_ptr().cast();
    // SAFETY: CMSG_SPACE and CMSG_LEN only compute.
    let (space, whole) = unsafe { (libc::CMSG_SPACE(size_of::<c_int>() as c_uint), libc::CMSG_LEN(size_of::<c_int>() as c_uint)) };
    message.msg_controllen = (space as usize * values.len()) as _;
    // SAFETY: the control buffer has room for two such messages (64 bytes of 48), and the message points to it.
    let mut at = unsafe { libc::CMSG_FIRSTHDR(message) };
    for (name, value) in values {
        // SAFETY: at the header of a message that lies in the buffer: the first, or the one behind it.
        unsafe {
            (*at).cmsg_level = libc::IPPROTO_IP;
            (*at).cmsg_type = name;
            (*at).cmsg_len = whole as _;
            libc::CMSG_DATA(at).cast::<c_int>().write_unaligned(c_int::from(value));
            at = libc::CMSG_NXTHDR(message, at);
        }
    }
}

fn part(bytes: &mut [u8]) -> iovec {
    iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() }
}
