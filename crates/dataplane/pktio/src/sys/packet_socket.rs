//! Bursts through an AF_PACKET socket, with the virtio header that tells of unfinished checksums and oversized packets.

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use base::{HEADROOM, Packet};
use libc::{c_int, c_uint, iovec, mmsghdr, sockaddr_ll, socklen_t};

use super::{Plain, check, get_option, set_option, socket};

/// Most packets a system call moves.
pub(crate) const BURST: usize = 64;
/// `struct virtio_net_hdr`.
const VNET_HEADER: usize = 10;
/// A packet can exceed the buffer of a [`Packet`] when the sender left segmentation to its device: the rest lands here.
/// 64 KiB with headers, beyond the least that a packet's buffer holds.
const SPILL: usize = 65_536 + 256;

/// A raw socket bound to one interface, and the scratch memory of its bursts.
pub(crate) struct PacketSocket {
    fd: OwnedFd,
    slots: Vec<Slot>,
    iovecs: Vec<[iovec; 3]>,
    messages: Vec<mmsghdr>,
}

// SAFETY: the raw pointers in `iovecs` and `messages` are rewritten before each system call and mean nothing between calls.
unsafe impl Send for PacketSocket {}

struct Slot {
    header: [u8; VNET_HEADER],
    /// One control message with `tpacket_auxdata`; words for its alignment.
    control: [u64; 8],
    spill: Box<[u8]>,
    /// Bytes that the packet's own buffer could take.
    room: usize,
}

/// What arrived in one slot.
pub(crate) struct Arrival {
    /// Length of the packet; what exceeds the packet's buffer is in [`PacketSocket::spill`].
    pub(crate) length: usize,
    /// Not all of it fitted.
    pub(crate) truncated: bool,
    /// Start and offset of a checksum left unfinished.
    pub(crate) checksum: Option<(usize, usize)>,
    /// `VIRTIO_NET_HDR_GSO_` type (0: none) and payload bytes of a segment.
    pub(crate) gso: (u8, usize),
    /// TPID and TCI of a VLAN tag that the kernel took out of the frame.
    pub(crate) vlan: Option<[u16; 2]>,
}

#[repr(C)]
#[derive(Clone, Copy)]
struct TpacketStats {
    packets: c_uint,
    drops: c_uint,
}
// SAFETY: integers.
unsafe impl Plain for TpacketStats {}

#[repr(C)]
#[derive(Clone, Copy)]
struct PacketMreq {
    ifindex: c_int,
    kind: u16,
    length: u16,
    address: [u8; 8],
}
// SAFETY: integers.
unsafe impl Plain for PacketMreq {}

impl PacketSocket {
    /// A socket that sees what arrives by the interface with this index, and not what this host sends there.
    /// The error names the step that failed.
    pub(crate) fn open(index: u32, promiscuous: bool, buffer_bytes: usize) -> Result<PacketSocket, (&'static str, io::Error)> {
        // Protocol 0 receives nothing until bind: no packet of another interface slips in.
        let fd = socket(libc::AF_PACKET, libc::SOCK_RAW | libc::SOCK_NONBLOCK, 0).map_err(|e| ("opening a packet socket", e))?;
        let on = |name, what| set_option::<c_int>(fd.as_fd(), libc::SOL_PACKET, name, 1).map_err(|e| (what, e));
        on(libc::PACKET_VNET_HDR, "asking for offload headers")?;
        on(libc::PACKET_AUXDATA, "asking for VLAN tags")?;
        on(libc::PACKET_IGNORE_OUTGOING, "ignoring our own packets (Linux 4.20 or later)")?;
        if promiscuous {
            let request = PacketMreq { ifindex: index as c_int, kind: libc::PACKET_MR_PROMISC as u16, length: 0, address: [0; 8] };
            set_option(fd.as_fd(), libc::SOL_PACKET, libc::PACKET_ADD_MEMBERSHIP, request).map_err(|e| ("entering promiscuous mode", e))?;
        }
        let bytes = c_int::try_from(buffer_bytes).unwrap_or(c_int::MAX);
        // The forcing form needs CAP_NET_ADMIN; less buffer is no reason to fail.
        for (force, plain) in [(libc::SO_RCVBUFFORCE, libc::SO_RCVBUF), (libc::SO_SNDBUFFORCE, libc::SO_SNDBUF)] {
            let _ =
                set_option(fd.as_fd(), libc::SOL_SOCKET, force, bytes).or_else(|_| set_option(fd.as_fd(), libc::SOL_SOCKET, plain, bytes));
        }
        // SAFETY: sockaddr_ll is integers.
        let mut address: sockaddr_ll = unsafe { zeroed() };
        address.sll_family = libc::AF_PACKET as u16;
        address.sll_protocol = (libc::ETH_P_ALL as u16).to_be();
        address.sll_ifindex = index as c_int;
        let length = size_of::<sockaddr_ll>() as socklen_t;
        // SAFETY: pointer and length describe `address`.
        check(unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), length) }).map_err(|e| ("binding", e))?;
        let slot = |_| Slot { header: [0; VNET_HEADER], control: [0; 8], spill: vec![0; SPILL].into_boxed_slice(), room: 0 };
        Ok(PacketSocket {
            fd,
            slots: (0..BURST).map(slot).collect(),
            iovecs: vec![[iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; 3]; BURST],
            // SAFETY: mmsghdr is integers and pointers; null is a value of all.
            messages: vec![unsafe { zeroed() }; BURST],
        })
    }

    /// Receives up to [`BURST`] packets into the buffers of `packets`, from [`HEADROOM`] on, and returns how many; never blocks.
    /// The packets' windows are not set: [`PacketSocket::arrival`] tells the lengths.
    pub(crate) fn receive(&mut self, packets: &mut [Packet]) -> io::Result<usize> {
        let count = packets.len().min(BURST);
        for (i, packet) in packets[..count].iter_mut().enumerate() {
            let slot = &mut self.slots[i];
            let (buffer, _, _) = packet.buffer_mut();
            let window = buffer.get_mut(HEADROOM..).unwrap_or_default();
            slot.room = window.len();
            self.iovecs[i] = [part(&mut slot.header), part(window), part(&mut slot.spill)];
            let message = &mut self.messages[i].msg_hdr;
            message.msg_iov = self.iovecs[i].as_mut_ptr();
            message.msg_iovlen = 3;
            message.msg_control = slot.control.as_mut_ptr().cast();
            message.msg_controllen = size_of_val(&slot.control) as _;
            message.msg_flags = 0;
        }
        let messages = self.messages.as_mut_ptr();
        // SAFETY: `count` messages were just set up to point at the headers, packet buffers, spill buffers and control words, all
        // exclusively borrowed through `self` and `packets` for the length of the call, each with its true length.
        let received =
            unsafe { libc::recvmmsg(self.fd.as_raw_fd(), messages, count as c_uint, libc::MSG_DONTWAIT as _, std::ptr::null_mut()) };
        Ok(check(received)? as usize)
    }

    /// What the last [`PacketSocket::receive`] left in slot `i`.
    pub(crate) fn arrival(&self, i: usize) -> Arrival {
        const NEEDS_CSUM: u8 = 1;
        let (slot, message) = (&self.slots[i], &self.messages[i]);
        let header = &slot.header;
        // Without a promised byte order the header is in the host's (virtio 1.2 §5.1.6, legacy interface).
        let word = |at: usize| usize::from(u16::from_ne_bytes([header[at], header[at + 1]]));
        Arrival {
            length: (message.msg_len as usize).saturating_sub(VNET_HEADER),
            truncated: message.msg_hdr.msg_flags & libc::MSG_TRUNC != 0 || (message.msg_len as usize) < VNET_HEADER,
            checksum: (header[0] & NEEDS_CSUM != 0).then(|| (word(6), word(8))),
            gso: (header[1], word(4)),
            vlan: vlan(&message.msg_hdr),
        }
    }

    /// What of slot `i` did not fit into its packet's buffer, if `length` bytes arrived.
    pub(crate) fn spill(&self, i: usize, length: usize) -> &[u8] {
        let slot = &self.slots[i];
        &slot.spill[..length.saturating_sub(slot.room).min(slot.spill.len())]
    }

    /// Sends up to [`BURST`] packets and returns how many were taken, at least one; never blocks.
    /// The error is about the first packet.
    pub(crate) fn transmit(&mut self, packets: &[Packet]) -> io::Result<usize> {
        static NO_OFFLOAD: [u8; VNET_HEADER] = [0; VNET_HEADER];
        let count = packets.len().min(BURST);
        for (i, packet) in packets[..count].iter().enumerate() {
            let data = packet.data();
            let parts = &mut self.iovecs[i];
            parts[0] = iovec { iov_base: NO_OFFLOAD.as_ptr().cast_mut().cast(), iov_len: VNET_HEADER };
            parts[1] = iovec { iov_base: data.as_ptr().cast_mut().cast(), iov_len: data.len() };
            let message = &mut self.messages[i].msg_hdr;
            message.msg_iov = parts.as_mut_ptr();
            message.msg_iovlen = 2;
            message.msg_control = std::ptr::null_mut();
            message.msg_controllen = 0;
            message.msg_flags = 0;
        }
        // SAFETY: `count` messages point at two parts each, a static header and a packet's bytes borrowed for the call, which a send
        // only reads.
        let sent = unsafe { libc::sendmmsg(self.fd.as_raw_fd(), self.messages.as_mut_ptr(), count as c_uint, libc::MSG_DONTWAIT as _) };
        Ok(check(sent)? as usize)
    }

    /// Packets that the kernel dropped because the receive buffer was full, since the last call.
    pub(crate) fn drops(&self) -> io::Result<u64> {
        get_option::<TpacketStats>(self.fd.as_fd(), libc::SOL_PACKET, libc::PACKET_STATISTICS).map(|stats| u64::from(stats.drops))
    }

    pub(crate) fn raw_fd(&self) -> RawFd {
        self.fd.as_raw_fd()
    }
}

fn part(bytes: &mut [u8]) -> iovec {
    iovec { iov_base: bytes.as_mut_ptr().cast(), iov_len: bytes.len() }
}

/// TPID and TCI out of the control message, if there was a tag.
fn vlan(message: &libc::msghdr) -> Option<[u16; 2]> {
    const TP_STATUS_VLAN_VALID: u32 = 1 << 4;
    const TP_STATUS_VLAN_TPID_VALID: u32 = 1 << 6;
    // SAFETY: the kernel filled the control buffer that the message still points to and set its length.
    let control = unsafe { libc::CMSG_FIRSTHDR(message) };
    if control.is_null() {
        return None;
    }
    // SAFETY: non-null: a whole header lies in the buffer.
    let header = unsafe { &*control };
    // SAFETY: CMSG_LEN only computes.
    let whole = unsafe { libc::CMSG_LEN(size_of::<libc::tpacket_auxdata>() as c_uint) } as usize;
    if header.cmsg_level != libc::SOL_PACKET || header.cmsg_type != libc::PACKET_AUXDATA || (header.cmsg_len as usize) < whole {
        return None;
    }
    // SAFETY: the message was just checked to hold this structure of integers.
    let data = unsafe { libc::CMSG_DATA(control).cast::<libc::tpacket_auxdata>().read_unaligned() };
    if data.tp_status & TP_STATUS_VLAN_VALID == 0 {
        return None;
    }
    let tpid = if data.tp_status & TP_STATUS_VLAN_TPID_VALID != 0 { data.tp_vlan_tpid } else { 0x8100 };
    Some([tpid, data.tp_vlan_tci])
}
