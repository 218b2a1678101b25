//! Steering in the kernel: an XDP program that finds the address by which a packet is steered, hashes it, looks its bucket up in a
//! table, and redirects the frame to that worker's socket.
//!
//! The address is an IP packet's destination, or an end of the packet in a tunnel. How to read tunnels, the caller says ([`Tunnels`]).
//!
//! What keeps links and paths alive has a socket of its own on each queue ([`urgent`]): users' packets that fill their ring do not
//! displace it, nor does a flood of it displace them. None of it is steered, so no order is lost.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, OwnedFd};

use crate::code::{Code, Instruction, Label, R, Size};
use crate::sys::bpf;

/// What frames an interface carries.
#[derive(Clone, Copy, Debug, Default)]
pub struct Frames {
    /// Tunnels that end here: the address is in the packet inside.
    pub tunnels: Option<Tunnels>,
    /// All of it in VXLAN.
    pub vxlan: bool,
}

/// A tunnel protocol over UDP and IPv4, as code that finds its way in a message of it. On entry [`AT`] is the message's offset in the
/// frame. R0 to R5 are free.
#[derive(Clone, Copy, Debug)]
pub struct Tunnels {
    /// Destination port of its messages.
    pub udp_port: u16,
    /// Leaves the offset of the packet inside in [`AT`], and which end of it counts in [`END`]; or goes to the label, if there is no packet.
    pub inner: fn(&mut Code, none: Label),
    /// Goes to the first label with a message that keeps a path alive, to the second with any other.
    pub urgent: fn(&mut Code, yes: Label, no: Label),
}

/// Buckets of the table: as many as the engine has where it steers itself.
pub(crate) const BUCKETS: usize = 512;

const XDP_PASS: i32 = 2;
const REDIRECT_MAP: i32 = 51;
/// Places in `struct xdp_md`.
const DATA: i16 = 0;
const DATA_END: i16 = 4;
const RX_QUEUE_INDEX: i16 = 16;

const IPV4: i32 = 0x0800;
const ARP: i32 = 0x0806;
const IPV6: i32 = 0x86dd;
const UDP: i32 = 17;
const ICMPV6: i32 = 58;
/// Neighbour discovery: router solicitation to redirect, which no router has passed on (RFC 4861 §4, §6.1).
const ND_FIRST: i32 = 133;
const ND_BEYOND: i32 = 138;
const ND_HOP_LIMIT: i32 = 255;
const VXLAN_PORT: i32 = 4789;

// Registers with one meaning throughout; R0 to R3 are for a step or two.
/// What a step finds; in the end the hash.
const FOUND: R = R(0);
/// Where in the packet a step reads, after [`need`].
pub const HERE: R = R(2);
/// Which address counts: 0 the source, 1 the destination.
pub const END: R = R(5);
/// Offset in the frame.
pub const AT: R = R(6);
const START: R = R(7);
const FRAME_END: R = R(8);
const CONTEXT: R = R(9);

/// Every frame to a socket of the queue it came by: `sockets` has socket `n * queues + queue`, where `n` is 1 for what is [`urgent`], else 0. Without a
/// socket, to the kernel.
pub(crate) fn by_queue(frames: Frames, sockets: BorrowedFd<'_>, queues: u32) -> Vec<Instruction> {
    let mut c = Code::default();
    let (of_reserve, found) = (c.label(), c.label());
    begin(&mut c);
    urgent(&mut c, frames, of_reserve);
    c.set(R(2), 0);
    c.jump(found);
    c.place(of_reserve);
    c.set(R(2), 1);
    c.place(found);
    redirect(&mut c, sockets, queues);
    c.finish()
}

/// Every frame to a socket of its queue: that of the worker that `table` has for its bucket. `sockets` has socket
/// `worker * queues + queue`, behind all `workers` what is [`urgent`]; without a socket, to the kernel.
pub(crate) fn by_address(frames: Frames, table: BorrowedFd<'_>, sockets: BorrowedFd<'_>, queues: u32, workers: u32) -> Vec<Instruction> {
    let mut c = Code::default();
    let (of_reserve, found) = (c.label(), c.label());
    begin(&mut c);
    urgent(&mut c, frames, of_reserve);
    hash(&mut c, frames);
    c.and_value(FOUND, BUCKETS as i32 - 1);
    c.shift_left(FOUND, 2);
    c.table(R(1), table.as_raw_fd());
    c.add(R(1), FOUND);
    c.load(Size::U32, R(2), R(1), 0);
    c.jump(found);
    c.place(of_reserve);
    c.set(R(2), workers as i32);
    c.place(found);
    redirect(&mut c, sockets, queues);
    c.finish()
}

/// The end: to socket `R2 * queues + queue`.
fn redirect(c: &mut Code, sockets: BorrowedFd<'_>, queues: u32) {
    c.load(Size::U32, R(3), CONTEXT, RX_QUEUE_INDEX);
    // Queues that came after the sockets.
    let pass = c.label();
    c.jump_from(R(3), queues as i32, pass);
    c.multiply_value(R(2), queues as i32);
    c.add(R(2), R(3));
    c.map(R(1), sockets.as_raw_fd());
    // The action if the map has no entry (Linux 5.3).
    c.set(R(3), XDP_PASS);
    c.call(REDIRECT_MAP);
    c.exit();
    c.place(pass);
    c.set(R(0), XDP_PASS);
    c.exit();
}

/// The program's first half alone, for comparing it.
pub struct AddressHash(OwnedFd);

impl AddressHash {
    /// Loads it: needs CAP_BPF and CAP_NET_ADMIN.
    ///
    /// # Errors
    /// What the kernel says.
    pub fn load(frames: Frames) -> io::Result<AddressHash> {
        let mut c = Code::default();
        begin(&mut c);
        hash(&mut c, frames);
        c.exit();
        Ok(AddressHash(bpf::load(&c.finish())?))
    }

    /// The hash that the kernel finds for a frame of 14 to some 3,500 bytes.
    ///
    /// # Errors
    /// What the kernel says: it runs no shorter or longer frames.
    pub fn of(&self, frame: &[u8]) -> io::Result<u32> {
        bpf::test_run(self.0.as_fd(), frame)
    }
}

/// The context, and where the frame is.
fn begin(c: &mut Code) {
    c.copy(CONTEXT, R(1));
    c.load(Size::U32, START, CONTEXT, DATA);
    c.load(Size::U32, FRAME_END, CONTEXT, DATA_END);
    c.set(AT, 0);
}

/// On to `yes` with what keeps links and paths alive: ARP, neighbour discovery, and what [`Tunnels::urgent`] says.
/// `sp_is_urgent` of the emitted BPF is the same.
fn urgent(c: &mut Code, frames: Frames, yes: Label) {
    let (no, six) = (c.label(), c.label());
    ethertype(c, no);
    c.jump_if(FOUND, ARP, yes);
    c.jump_if(FOUND, IPV6, six);
    if let Some(tunnels) = frames.tunnels {
        c.jump_unless(FOUND, IPV4, no);
        c.add_value(AT, 14);
        udp_payload(c, tunnels.udp_port.into(), no);
        (tunnels.urgent)(c, yes, no);
    } else {
        c.jump(no);
    }
    c.place(six);
    // Ethernet, the header of IPv6, and the type.
    need(c, 14 + 40 + 1, no);
    c.load(Size::U8, R(1), HERE, 14 + 6);
    c.jump_unless(R(1), ICMPV6, no);
    c.load(Size::U8, R(1), HERE, 14 + 7);
    c.jump_unless(R(1), ND_HOP_LIMIT, no);
    c.load(Size::U8, R(1), HERE, 14 + 40);
    c.jump_from(R(1), ND_BEYOND, no);
    c.jump_from(R(1), ND_FIRST, yes);
    c.place(no);
    c.set(AT, 0);
}

/// Leaves the hash in `FOUND`.
fn hash(c: &mut Code, frames: Frames) {
    let (none, mix, done) = (c.label(), c.label(), c.label());
    if frames.vxlan {
        ethertype(c, none);
        c.jump_unless(FOUND, IPV4, none);
        c.add_value(AT, 14);
        udp_payload(c, VXLAN_PORT, none);
        c.add_value(AT, 8);
        need(c, 0, none);
    }
    let (plain, inner) = (c.label(), c.label());
    ethertype(c, none);
    c.add_value(AT, 14);
    c.set(END, 1);
    c.jump_if(FOUND, IPV6, inner);
    c.jump_unless(FOUND, IPV4, none);
    if let Some(tunnels) = frames.tunnels {
        udp_payload(c, tunnels.udp_port.into(), plain);
        (tunnels.inner)(c, none);
        c.jump(inner);
    }
    c.place(plain);
    c.place(inner);
    address(c, mix, none);
    c.place(none);
    c.set(FOUND, 0);
    c.jump(done);
    c.place(mix);
    split_mix(c);
    c.place(done);
}

/// The frame's EtherType, if it is so long.
fn ethertype(c: &mut Code, none: Label) {
    need(c, 14, none);
    c.load(Size::U16, FOUND, HERE, 12);
    c.network(FOUND, 16);
}

/// From an IPv4 packet on to what it carries to a UDP port, unfragmented; or elsewhere, with `AT` as it was.
fn udp_payload(c: &mut Code, port: i32, otherwise: Label) {
    need(c, 10, otherwise);
    c.load(Size::U8, R(1), HERE, 9);
    c.jump_unless(R(1), UDP, otherwise);
    c.load(Size::U16, R(1), HERE, 6);
    c.network(R(1), 16);
    c.and_value(R(1), 0x3fff);
    c.jump_unless(R(1), 0, otherwise);
    c.load(Size::U8, R(1), HERE, 0);
    c.and_value(R(1), 15);
    c.shift_left(R(1), 2);
    c.add(R(1), AT);
    need_at(c, R(1), 8, otherwise);
    c.load(Size::U16, R(3), HERE, 2);
    c.network(R(3), 16);
    c.jump_unless(R(3), port, otherwise);
    c.copy(AT, R(1));
    c.add_value(AT, 8);
}

/// The address at `END` of an IP packet into `FOUND`; of IPv6 the first 64 bits.
fn address(c: &mut Code, found: Label, none: Label) {
    let six = c.label();
    need(c, 1, none);
    c.load(Size::U8, R(1), HERE, 0);
    c.shift_right(R(1), 4);
    c.jump_if(R(1), 6, six);
    c.jump_unless(R(1), 4, none);
    // At 12 or 16.
    c.shift_left(END, 2);
    c.add(AT, END);
    c.add_value(AT, 12);
    need(c, 4, none);
    c.load(Size::U32, FOUND, HERE, 0);
    c.network(FOUND, 32);
    c.jump(found);
    c.place(six);
    // At 8 or 24.
    c.shift_left(END, 4);
    c.add(AT, END);
    c.add_value(AT, 8);
    need(c, 8, none);
    c.load(Size::U64, FOUND, HERE, 0);
    c.network(FOUND, 64);
    c.jump(found);
}

/// SplitMix64's finaliser, and of that the upper half.
fn split_mix(c: &mut Code) {
    c.set_long(R(1), 0x9e37_79b9_7f4a_7c15);
    c.add(FOUND, R(1));
    for (by, factor) in [(30, Some(0xbf58_476d_1ce4_e5b9)), (27, Some(0x94d0_49bb_1331_11eb)), (31, None)] {
        c.copy(R(1), FOUND);
        c.shift_right(R(1), by);
        c.xor(FOUND, R(1));
        if let Some(factor) = factor {
            c.set_long(R(1), factor);
            c.multiply(FOUND, R(1));
        }
    }
    c.shift_right(FOUND, 32);
}

/// [`HERE`] is where [`AT`] says; on to `otherwise` if the frame has not so many bytes from there.
pub fn need(c: &mut Code, bytes: i32, otherwise: Label) {
    need_at(c, AT, bytes, otherwise);
}

fn need_at(c: &mut Code, at: R, bytes: i32, otherwise: Label) {
    c.copy(HERE, START);
    c.add(HERE, at);
    c.copy(R(3), HERE);
    c.add_value(R(3), bytes);
    c.jump_if_above(R(3), FRAME_END, otherwise);
}
