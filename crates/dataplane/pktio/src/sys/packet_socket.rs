//! Bursts through an AF_PACKET socket, with the virtio header that tells of unfinished checksums and super-frames.

use std::io;
use std::mem::{size_of, zeroed};
use std::os::fd::{AsFd, AsRawFd, OwnedFd, RawFd};

use base::{HEADROOM, MAX_PACKET, Packet};
use libc::{c_int, c_uint, iovec, mmsghdr, sockaddr_ll, socklen_t};

use super::{Plain, check, get_option, set_option, socket};
use crate::join::{MAX_HEADERS, Train};
use crate::segment::Gso;

/// Most packets a system call moves.
pub(crate) const BURST: usize = 64;
/// `struct virtio_net_hdr`.
const VNET_HEADER: usize = 10;
/// A frame can exceed the buffer of a [`Packet`] when the sender left segmentation to its device: the rest lands in a slot's memory.
/// 64 KiB with headers, beyond the least that a packet's buffer holds.
const SPILL: usize = 65_536 + 256;
/// In front of that is room for what lies in the packet's buffer, so that the whole can be had in one piece.
const FRONT: usize = MAX_PACKET;
/// Parts of one message: of one that arrives header, packet and spill; of one that leaves two, and a train's head and one for each packet.
const PARTS: usize = 3;

/// A raw socket bound to one interface, and the scratch memory of its bursts.
pub(crate) struct PacketSocket {
    fd: OwnedFd,
    slots: Vec<Slot>,
    iovecs: Vec<iovec>,
    messages: Vec<mmsghdr>,
    /// The virtio headers and the frame headers of trains that leave, by message.
    heads: Vec<[u8; VNET_HEADER + MAX_HEADERS]>,
}

/// Which trains the kernel takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Takes {
    pub(crate) tcp: bool,
    pub(crate) udp: bool,
}

/// Nothing was sent.
pub(crate) struct Refused {
    /// About the first message.
    pub(crate) error: io::Error,
    /// The packets in it.
    pub(crate) packets: usize,
    /// What it was, if it was a train.
    pub(crate) train: Option<Gso>,
}

// SAFETY: the raw pointers in `iovecs` and `messages` are rewritten before each system call and mean nothing between calls.
unsafe impl Send for PacketSocket {}

struct Slot {
    header: [u8; VNET_HEADER],
    /// One control message with `tpacket_auxdata`; words for its alignment.
    control: [u64; 8],
    /// [`FRONT`], and what exceeds the packet's own buffer behind it.
    memory: Box<[u8]>,
    /// Bytes that the packet's own buffer could take.
    room: usize,
}

/// What arrived in one slot.
pub(crate) struct Arrival {
    /// Length of the frame; what exceeds the packet's buffer is in the slot's memory.
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
        let slot = |_| Slot { header: [0; VNET_HEADER], control: [0; 8], memory: vec![0; FRONT + SPILL].into_boxed_slice(), room: 0 };
        Ok(PacketSocket {
            fd,
            slots: (0..BURST).map(slot).collect(),
            iovecs: vec![iovec { iov_base: std::ptr::null_mut(), iov_len: 0 }; PARTS * BURST],
            // SAFETY: mmsghdr is integers and pointers; null is a value of all.
            messages: vec![unsafe { zeroed() }; BURST],
            heads: vec![[0; VNET_HEADER + MAX_HEADERS]; BURST],
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
            slot.room = window.len().min(FRONT);
            let parts = &mut self.iovecs[i * PARTS..][..PARTS];
            parts.copy_from_slice(&[part(&mut slot.header), part(&mut window[..slot.room]), part(&mut slot.memory[FRONT..])]);
            let message = &mut self.messages[i].msg_hdr;
            message.msg_iov = parts.as_mut_ptr();
            message.msg_iovlen = PARTS as _;
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

    /// Moves what of slot `i`'s frame lies in `packet`, the one given to [`PacketSocket::receive`], in front of the rest. What arrived, for there will
    /// be no asking behind the next call.
    pub(crate) fn park(&mut self, i: usize, packet: &mut Packet) -> Arrival {
        let arrival = self.arrival(i);
        let slot = &mut self.slots[i];
        let front = slot.room.min(arrival.length);
        if front > 0 {
            slot.memory[FRONT - front..FRONT].copy_from_slice(&packet.buffer_mut().0[HEADROOM..][..front]);
        }
        arrival
    }

    /// The whole frame of slot `i`, which is parked.
    pub(crate) fn parked(&self, i: usize, length: usize) -> &[u8] {
        let slot = &self.slots[i];
        let begin = FRONT - slot.room.min(length);
        &slot.memory[begin..(begin + length).min(slot.memory.len())]
    }

    /// Sends up to [`BURST`] packets and returns how many were taken, at least one; never blocks. Packets that follow one another in a flow are sent
    /// as a train, if the kernel takes such.
    pub(crate) fn transmit(&mut self, packets: &[Packet], takes: Takes) -> Result<usize, Refused> {
        static NO_OFFLOAD: [u8; VNET_HEADER] = [0; VNET_HEADER];
        let packets = &packets[..packets.len().min(BURST)];
        let (mut first, mut part, mut count) = (0, 0, 0);
        let mut trains = [(0u8, None); BURST];
        let piece = |bytes: &[u8]| iovec { iov_base: bytes.as_ptr().cast_mut().cast(), iov_len: bytes.len() };
        while first < packets.len() {
            let packet = packets[first].data();
            let train = if takes.tcp || takes.udp { Train::find(&packets[first..]) } else { None };
            let train = train.filter(|train| if train.gso == Gso::Tcp { takes.tcp } else { takes.udp });
            let begin = part;
            let covered = if let Some(train) = &train {
                let head = &mut self.heads[count];
                let (virtio, headers) = head.split_at_mut(VNET_HEADER);
                virtio.copy_from_slice(&train.virtio_header(0));
                if let Some(headers) = headers.first_chunk_mut() {
                    train.write_headers(&packets[first..], headers);
                }
                self.iovecs[part] = piece(&head[..VNET_HEADER + train.payload]);
                for (place, packet) in self.iovecs[part + 1..].iter_mut().zip(&packets[first..][..train.frames]) {
                    *place = piece(&packet.data()[train.payload..]);
                }
                part += 1 + train.frames;
                train.frames
            } else {
                self.iovecs[part] = piece(&NO_OFFLOAD);
                self.iovecs[part + 1] = piece(packet);
                part += 2;
                1
            };
            let message = &mut self.messages[count].msg_hdr;
            message.msg_iov = self.iovecs[begin..part].as_mut_ptr();
            message.msg_iovlen = (part - begin) as _;
            message.msg_control = std::ptr::null_mut();
            message.msg_controllen = 0;
            message.msg_flags = 0;
            trains[count] = (covered as u8, train.map(|train| train.gso));
            first += covered;
            count += 1;
        }
        // SAFETY: `count` messages point at headers of `self` or a static header, and at bytes of packets borrowed for the call, which a send
        // only reads.
        let sent = unsafe { libc::sendmmsg(self.fd.as_raw_fd(), self.messages.as_mut_ptr(), count as c_uint, libc::MSG_DONTWAIT as _) };
        match check(sent) {
            Ok(sent) => Ok(trains[..sent as usize].iter().map(|(packets, _)| usize::from(*packets)).sum()),
            Err(error) => Err(Refused { error, packets: usize::from(trains[0].0), train: trains[0].1 }),
        }
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
