//! A packet in memory: bytes with room in front for encapsulation.

use crate::PortId;

/// Bytes kept free in front of a received packet: GTP-U/UDP/IPv6/VXLAN headers fit.
pub const HEADROOM: usize = 192;
/// Longest packet, Ethernet header included, that a port delivers, in bytes. Larger ones are dropped with a reason.
pub const MAX_PACKET: usize = 9216;
const BUFFER: usize = 2048;

/// One packet. The bytes live in a buffer with [`HEADROOM`] before them, so that a tunnel header is
/// written in front of the data without moving it.
#[derive(Clone)]
pub struct Packet {
    buf: Box<[u8]>,
    // Buffers are shorter than 4 GiB: half a line for the whole handle, as it is moved often.
    start: u32,
    len: u32,
    /// Port it came in by.
    pub port: PortId,
    /// Flow number by which a target ahead of the engine counts it as in flight (`target_api::InFlight::hand_on`); 0: none does.
    pub flow: u32,
    /// Of a packet that waits for a rate, or has waited: which of its meters it waits for, and what it takes of it.
    pub metered: Metered,
}

/// A meter that a packet waits for, by its number among those that the program executes for it, and the units that it takes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Metered(u16);

impl Metered {
    /// Numbers from 1.
    pub const MAX_NUMBER: u8 = 3;

    /// `None` if it is beyond [`Metered::MAX_NUMBER`] or takes more than a packet can have.
    pub fn new(number: u8, units: u16) -> Option<Metered> {
        (number <= Metered::MAX_NUMBER && usize::from(units) <= MAX_PACKET).then_some(Metered(u16::from(number) << 14 | units))
    }

    /// The meter's number; 0 of a packet that has not waited.
    #[inline]
    pub fn number(self) -> u8 {
        (self.0 >> 14) as u8
    }

    /// What it takes.
    #[inline]
    pub fn units(self) -> u16 {
        self.0 & 0x3fff
    }
}

impl Packet {
    /// A copy of `bytes`, with [`HEADROOM`] in front.
    ///
    /// # Panics
    /// If `bytes` is longer than [`MAX_PACKET`].
    pub fn new(bytes: &[u8], port: PortId) -> Packet {
        let mut packet = Packet::empty(bytes.len());
        packet.set(bytes);
        packet.port = port;
        packet
    }

    /// An empty packet whose buffer holds `capacity` bytes (at least 2048 with headroom) after the headroom.
    pub fn empty(capacity: usize) -> Packet {
        assert!(capacity <= MAX_PACKET, "packet of {capacity} bytes exceeds {MAX_PACKET}");
        let size = BUFFER.max(HEADROOM + capacity);
        Packet {
            buf: vec![0; size].into_boxed_slice(),
            start: HEADROOM as u32,
            len: 0,
            port: PortId::default(),
            flow: 0,
            metered: Metered::default(),
        }
    }

    /// As [`Packet::new`], in a buffer that is no longer than it must be: of what is kept for long, among many.
    ///
    /// # Panics
    /// As [`Packet::new`].
    pub fn compact(bytes: &[u8], port: PortId) -> Packet {
        assert!(bytes.len() <= MAX_PACKET, "packet of {} bytes exceeds {MAX_PACKET}", bytes.len());
        let mut buf = Vec::with_capacity(HEADROOM + bytes.len());
        buf.resize(HEADROOM, 0);
        buf.extend_from_slice(bytes);
        Packet { buf: buf.into_boxed_slice(), start: HEADROOM as u32, len: bytes.len() as u32, port, ..Packet::void() }
    }

    /// No bytes and no buffer, and no memory for either: what stays where a packet was moved out. [`Packet::set`] gives it a buffer.
    #[inline]
    pub fn void() -> Packet {
        Packet { buf: Box::default(), start: 0, len: 0, port: PortId::default(), flow: 0, metered: Metered::default() }
    }

    /// Whether it has no buffer.
    #[inline]
    pub fn is_void(&self) -> bool {
        self.buf.is_empty()
    }

    /// Replaces the contents with a copy of `bytes`, headroom restored; the buffer grows if it must.
    #[inline]
    pub fn set(&mut self, bytes: &[u8]) {
        assert!(bytes.len() <= MAX_PACKET, "packet of {} bytes exceeds {MAX_PACKET}", bytes.len());
        if HEADROOM + bytes.len() > self.buf.len() {
            self.buf = vec![0; BUFFER.max(HEADROOM + bytes.len())].into_boxed_slice();
        }
        self.start = HEADROOM as u32;
        self.len = bytes.len() as u32;
        self.buf[HEADROOM..HEADROOM + bytes.len()].copy_from_slice(bytes);
    }

    /// As [`Packet::set`], of the bytes of both, one behind the other.
    ///
    /// # Panics
    /// If they are longer than [`MAX_PACKET`] together.
    #[inline]
    pub fn set_both(&mut self, front: &[u8], back: &[u8]) {
        let len = front.len() + back.len();
        assert!(len <= MAX_PACKET, "packet of {len} bytes exceeds {MAX_PACKET}");
        if HEADROOM + len > self.buf.len() {
            self.buf = vec![0; BUFFER.max(HEADROOM + len)].into_boxed_slice();
        }
        (self.start, self.len) = (HEADROOM as u32, len as u32);
        let (a, b) = self.buf[HEADROOM..HEADROOM + len].split_at_mut(front.len());
        a.copy_from_slice(front);
        b.copy_from_slice(back);
    }

    /// Changes the length at the end: new bytes are zero, and the buffer grows if it must. False, with nothing changed, if the packet would be longer than
    /// [`MAX_PACKET`].
    #[must_use]
    pub fn resize(&mut self, len: usize) -> bool {
        if len > MAX_PACKET {
            return false;
        }
        let (end, old_end) = (self.start as usize + len, self.end());
        if end > self.buf.len() {
            let mut grown = vec![0; end];
            grown[..old_end].copy_from_slice(&self.buf[..old_end]);
            self.buf = grown.into_boxed_slice();
        }
        if end > old_end {
            self.buf[old_end..end].fill(0);
        }
        self.len = len as u32;
        true
    }

    /// The packet's bytes, from the first header on.
    #[inline]
    pub fn data(&self) -> &[u8] {
        &self.buf[self.start as usize..self.end()]
    }

    /// The packet's bytes, to be written.
    #[inline]
    pub fn data_mut(&mut self) -> &mut [u8] {
        let end = self.end();
        &mut self.buf[self.start as usize..end]
    }

    #[inline]
    fn end(&self) -> usize {
        self.start as usize + self.len as usize
    }

    /// Length in bytes.
    #[inline]
    pub fn len(&self) -> usize {
        self.len as usize
    }

    /// Whether there are no bytes.
    #[inline]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    /// Bytes free before the first byte.
    #[inline]
    pub fn headroom(&self) -> usize {
        self.start as usize
    }

    /// Moves the bytes where there are fewer than `room` free before them, so that there are so many; the buffer grows if it must.
    pub fn make_room(&mut self, room: usize) {
        let (start, end, len) = (self.start as usize, self.end(), self.len as usize);
        if start >= room {
            return;
        }
        if room + len <= self.buf.len() {
            self.buf.copy_within(start..end, room);
        } else {
            let mut grown = vec![0; room + len];
            grown[room..].copy_from_slice(&self.buf[start..end]);
            self.buf = grown.into_boxed_slice();
        }
        self.start = room as u32;
    }

    /// The whole buffer, and where in it the packet starts and how long it is: for code that writes in
    /// place and then calls [`Packet::set_window`].
    #[inline]
    pub fn buffer_mut(&mut self) -> (&mut [u8], usize, usize) {
        (&mut self.buf, self.start as usize, self.len as usize)
    }

    /// Declares that the packet is now `len` bytes at `start` of its buffer.
    ///
    /// # Panics
    /// If that window is not inside the buffer.
    #[inline]
    pub fn set_window(&mut self, start: usize, len: usize) {
        let inside = start.checked_add(len).is_some_and(|end| end <= self.buf.len());
        assert!(inside, "window {start}+{len} outside a buffer of {}", self.buf.len());
        self.start = start as u32;
        self.len = len as u32;
    }
}

impl std::fmt::Debug for Packet {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Packet(port {}, {} B:", self.port, self.len)?;
        for b in self.data() {
            write!(f, " {b:02x}")?;
        }
        write!(f, ")")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Buffers and rings move it: it grew the slots of a million kept packets.
    #[test]
    fn the_handle_is_half_a_cache_line() {
        assert_eq!(size_of::<Packet>(), 32);
        assert_eq!(size_of::<Option<Packet>>(), 32);
    }

    #[test]
    fn a_packet_keeps_headroom_and_grows() {
        let mut p = Packet::new(&[1, 2, 3], PortId(4));
        assert_eq!((p.headroom(), p.data()), (HEADROOM, &[1u8, 2, 3][..]));
        p.set(&[7; 4000]);
        assert_eq!((p.headroom(), p.len()), (HEADROOM, 4000));
        p.set_both(&[1, 2], &[3; 5000]);
        assert_eq!((p.headroom(), p.len(), &p.data()[..4]), (HEADROOM, 5002, &[1u8, 2, 3, 3][..]));
        p.set_both(&[5, 6], &[7]);
        assert_eq!((p.headroom(), p.data()), (HEADROOM, &[5u8, 6, 7][..]));
        p.set(&[5, 6, 7]);
        p.make_room(HEADROOM);
        assert_eq!(p.headroom(), HEADROOM);
        p.make_room(300);
        assert_eq!((p.headroom(), p.data()), (300, &[5u8, 6, 7][..]));
        let mut tight = Packet::compact(&[8; 2000], PortId(1));
        tight.make_room(300);
        assert_eq!((tight.headroom(), tight.data()), (300, &[8u8; 2000][..]));
        p.set_window(HEADROOM - 8, 4008);
        assert_eq!(p.headroom(), HEADROOM - 8);
    }

    #[test]
    fn a_compact_packet_is_the_same_in_less_memory() {
        let mut p = Packet::compact(&[1, 2, 3], PortId(4));
        assert_eq!((p.data(), p.port, p.flow, p.metered), (&[1u8, 2, 3][..], PortId(4), 0, Metered::default()));
        assert_eq!((p.headroom(), p.buffer_mut().0.len()), (HEADROOM, HEADROOM + 3));
        assert!(p.resize(100) && p.data()[..3] == [1, 2, 3] && p.data()[3..] == [0; 97]);
        p.set(&[7; 4000]);
        assert_eq!((p.headroom(), p.len()), (HEADROOM, 4000));
    }

    #[test]
    fn a_packet_that_grows_at_its_end_has_zeros_there_and_no_old_bytes() {
        let mut p = Packet::new(&[7; 3000], PortId(4));
        assert!(p.resize(2) && p.resize(4));
        assert_eq!(p.data(), [7, 7, 0, 0]);
        assert!(p.resize(MAX_PACKET) && p.len() == MAX_PACKET && p.data()[2..].iter().all(|b| *b == 0));
        assert!(!p.resize(MAX_PACKET + 1) && p.len() == MAX_PACKET);
        let mut void = Packet::void();
        assert!(void.is_void() && void.is_empty() && void.data().is_empty());
        void.set(&[1, 2]);
        assert_eq!((void.headroom(), void.data(), void.is_void()), (HEADROOM, &[1u8, 2][..], false));
    }
}
