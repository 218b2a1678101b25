//! Bursts of datagrams through a UDP socket, each with its TTL and type of service. Datagrams of one length to or from one peer go through the kernel
//! together, as segments of one (UDP_SEGMENT and UDP_GRO of udp(7)).

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
/// Room for three control messages of one word each; words for their alignment.
type Control = [u64; 9];
/// UDP payload of one IPv4 packet at most, in bytes, and UDP_MAX_SEGMENTS of Linux before 6.9.
const MAX_DATAGRAM: usize = 65_507;
const MAX_SEGMENTS: usize = 64;
/// In front of what exceeds a packet's buffer is room for what lies in it, so that the whole can be had in one piece.
const FRONT: usize = MAX_PACKET;

/// The scratch memory of bursts.
pub(crate) struct Datagrams {
    slots: Vec<Slot>,
    iovecs: Vec<iovec>,
    messages: Vec<mmsghdr>,
}

// SAFETY: the raw pointers in `iovecs` and `messages` are rewritten before each system call and mean nothing between calls.
unsafe impl Send for Datagrams {}

struct Slot {
    address: sockaddr_in,
    control: Control,
    /// [`FRONT`], and what exceeds the packet's own buffer behind it.
    memory: Box<[u8]>,
    /// Bytes that the packet's own buffer could take.
    room: usize,
}

/// What arrived in one slot.
#[derive(Clone, Copy)]
pub(crate) struct Arrival {
    /// Bytes of the datagram, or of all that came together; what exceeds the packet's buffer is in the slot's memory.
    pub(crate) length: usize,
    /// Of datagrams that came together: bytes of each but the last.
    pub(crate) segment: Option<usize>,
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

/// Readies a socket: it tells TTL and type of service of what arrives, sends with TTL 64, fragments what exceeds the path instead of refusing it,
/// receives datagrams together, and has buffers of that size if the kernel lets it. Whether it sends datagrams together.
pub(crate) fn prepare(socket: &impl AsFd, buffer_bytes: usize) -> io::Result<bool> {
    let fd = socket.as_fd();
    let options = [
        (libc::IPPROTO_IP, libc::IP_RECVTTL, 1),
        (libc::IPPROTO_IP, libc::IP_RECVTOS, 1),
        (libc::IPPROTO_IP, libc::IP_TTL, c_int::from(TTL)),
        (libc::IPPROTO_IP, libc::IP_MTU_DISCOVER, libc::IP_PMTUDISC_DONT),
    ];
    for (level, name, value) in options {
        set_option::<c_int>(fd, level, name, value)?;
    }
    // Before Linux 5.0 they come one by one; before 4.18 they must be sent so.
    let _ = set_option::<c_int>(fd, libc::SOL_UDP, libc::UDP_GRO, 1);
    let segments = set_option::<c_int>(fd, libc::SOL_UDP, libc::UDP_SEGMENT, 0).is_ok();
    let bytes = c_int::try_from(buffer_bytes).unwrap_or(c_int::MAX);
    // The forcing form needs CAP_NET_ADMIN; less buffer costs packets under load, not correctness.
    for (force, plain) in [(libc::SO_RCVBUFFORCE, libc::SO_RCVBUF), (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF)] {
        let _ = set_option(fd, libc::SOL_SOCKET, force, bytes).or_else(|_| set_option(fd, libc::SOL_SOCKET, plain, bytes));
    }
    Ok(segments)
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
        let slot = |_| Slot { address, control: [0; 9], memory: vec![0; FRONT + MAX_DATAGRAM].into_boxed_slice(), room: 0 };
        Datagrams {
            slots: (0..BURST).map(slot).collect(),
            iovecs: vec![iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; 2 * BURST],
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
            slot.room = window.len().min(FRONT);
            let parts = &mut self.iovecs[2 * i..][..2];
            parts.copy_from_slice(&[part(&mut window[..slot.room]), part(&mut slot.memory[FRONT..])]);
            let message = &mut self.messages[i].msg_hdr;
            message.msg_name = (&raw mut slot.address).cast();
            message.msg_namelen = size_of::<sockaddr_in>() as _;
            message.msg_iov = parts.as_mut_ptr();
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
        let (mut ttl, mut tos, mut segment) = (TTL, 0, None);
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
                // SAFETY: as said.
                (libc::SOL_UDP, libc::UDP_GRO) if bytes >= 4 => segment = Some(unsafe { data.cast::<c_int>().read_unaligned() }),
                _ => {}
            }
            // SAFETY: as for the first one.
            at = unsafe { libc::CMSG_NXTHDR(&raw const message.msg_hdr, at) };
        }
        let ip = Ipv4Addr::from(u32::from_be(slot.address.sin_addr.s_addr));
        Arrival {
            length: message.msg_len as usize,
            segment: segment.and_then(|bytes| usize::try_from(bytes).ok()).filter(|bytes| *bytes > 0),
            truncated: message.msg_hdr.msg_flags & libc::MSG_TRUNC != 0,
            from: SocketAddrV4::new(ip, u16::from_be(slot.address.sin_port)),
            ttl,
            tos,
        }
    }

    /// Moves what of slot `i` lies in `packet`, the one given to [`Datagrams::receive`] with that `offset`, in front of the rest. What
    /// arrived, for there will be no asking behind the next call.
    pub(crate) fn park(&mut self, i: usize, packet: &mut Packet, offset: usize) -> Arrival {
        let arrival = self.arrival(i);
        let slot = &mut self.slots[i];
        let front = slot.room.min(arrival.length);
        if front > 0 {
            slot.memory[FRONT - front..FRONT].copy_from_slice(&packet.buffer_mut().0[HEADROOM + offset..][..front]);
        }
        arrival
    }

    /// All of slot `i`, which is parked.
    pub(crate) fn parked(&self, i: usize, length: usize) -> &[u8] {
        let slot = &self.slots[i];
        let begin = FRONT - slot.room.min(length);
        &slot.memory[begin..(begin + length).min(slot.memory.len())]
    }

    /// Sends up to [`BURST`] datagrams and returns how many were taken, at least one; never blocks. With `together`, those of one length to one
    /// peer go as one. The error is about the first, or the first that went together: how many those are stands beside it.
    pub(crate) fn send(&mut self, socket: &impl AsFd, datagrams: &[Outgoing<'_>], together: bool) -> Result<usize, (io::Error, usize)> {
        let datagrams = &datagrams[..datagrams.len().min(BURST)];
        let (mut sent, mut count) = (0, 0);
        let mut lengths = [0; BURST];
        while sent < datagrams.len() {
            let first = &datagrams[sent];
            let same = if together { alike(&datagrams[sent..]) } else { 1 };
            for (part, datagram) in self.iovecs[sent..].iter_mut().zip(&datagrams[sent..sent + same]) {
                *part = iovec { iov_base: datagram.payload.as_ptr().cast_mut().cast(), iov_len: datagram.payload.len() };
            }
            let slot = &mut self.slots[count];
            slot.address.sin_family = libc::AF_INET as _;
            slot.address.sin_port = first.to.port().to_be();
            slot.address.sin_addr.s_addr = u32::from(*first.to.ip()).to_be();
            let message = &mut self.messages[count].msg_hdr;
            message.msg_name = (&raw mut slot.address).cast();
            message.msg_namelen = size_of::<sockaddr_in>() as _;
            message.msg_iov = self.iovecs[sent..].as_mut_ptr();
            message.msg_iovlen = same as _;
            message.msg_control = std::ptr::null_mut();
            message.msg_controllen = 0;
            message.msg_flags = 0;
            let segment = (same > 1).then_some((libc::SOL_UDP, libc::UDP_SEGMENT, Word::Half(first.payload.len() as u16)));
            let usual = (first.ttl, first.tos) == (TTL, 0);
            let ttl = (!usual).then_some((libc::IPPROTO_IP, libc::IP_TTL, Word::Whole(c_int::from(first.ttl))));
            let tos = (!usual).then_some((libc::IPPROTO_IP, libc::IP_TOS, Word::Whole(c_int::from(first.tos))));
            put_control(message, &mut slot.control, [ttl, tos, segment]);
            lengths[count] = same;
            sent += same;
            count += 1;
        }
        // SAFETY: `count` messages point at payloads borrowed for the call, which a send only reads, and at addresses and control words of
        // `self`.
        let done =
            unsafe { libc::sendmmsg(socket.as_fd().as_raw_fd(), self.messages.as_mut_ptr(), count as c_uint, libc::MSG_DONTWAIT as _) };
        match check(done) {
            Ok(done) => Ok(lengths[..done as usize].iter().sum()),
            Err(e) => Err((e, lengths[0])),
        }
    }
}

/// How many datagrams from the first on can go together: to one peer, all of one length, of which the last may be shorter.
fn alike(datagrams: &[Outgoing<'_>]) -> usize {
    let first = &datagrams[0];
    let size = first.payload.len();
    let (mut count, mut bytes) = (1, size);
    for next in &datagrams[1..] {
        let length = next.payload.len();
        let same = (next.to, next.ttl, next.tos) == (first.to, first.ttl, first.tos);
        if !same || length == 0 || length > size || bytes + length > MAX_DATAGRAM || count == MAX_SEGMENTS {
            break;
        }
        (count, bytes) = (count + 1, bytes + length);
        if length < size {
            break;
        }
    }
    count
}

/// What a control message carries.
#[derive(Clone, Copy)]
enum Word {
    Half(u16),
    Whole(c_int),
}

/// Control messages, by level and type.
fn put_control(message: &mut libc::msghdr, control: &mut Control, values: [Option<(c_int, c_int, Word)>; 3]) {
    let count = values.iter().flatten().count();
    if count == 0 {
        return;
    }
    *control = Default::default();
    message.msg_control = control.as_mut_ptr().cast();
    // SAFETY: CMSG_SPACE only computes.
    let space = unsafe { libc::CMSG_SPACE(size_of::<c_int>() as c_uint) };
    message.msg_controllen = (space as usize * count) as _;
    // SAFETY: the control buffer has room for three such messages (72 bytes), and the message points to it.
    let mut at = unsafe { libc::CMSG_FIRSTHDR(message) };
    for (level, name, word) in values.into_iter().flatten() {
        // SAFETY: at the header of a message that lies in the buffer: the first, or the one behind it.
        unsafe {
            (*at).cmsg_level = level;
            (*at).cmsg_type = name;
            match word {
                Word::Half(value) => {
                    (*at).cmsg_len = libc::CMSG_LEN(size_of::<u16>() as c_uint) as _;
                    libc::CMSG_DATA(at).cast::<u16>().write_unaligned(value);
                }
                Word::Whole(value) => {
                    (*at).cmsg_len = libc::CMSG_LEN(size_of::<c_int>() as c_uint) as _;
                    libc::CMSG_DATA(at).cast::<c_int>().write_unaligned(value);
                }
            }
            at = libc::CMSG_NXTHDR(message, at);
        }
    }
}

fn part(bytes: &mut [u8]) -> iovec {
    iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() }
}
