//! Sessions and frames for SWX, and what must come out: written from the standards, not from the specifications, so that the two check each other.
//!
//! The frames are those of `splitplane-lab bench upf`: 64-byte Ethernet frames (with their check sequence) of the user.

use std::collections::HashMap;
use std::net::Ipv4Addr;

use super::Direction;

/// What the pipeline must know of a session. The tunnel is to a gNodeB and uses a PDU Session Container.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Session {
    /// The UE's address: key of the downlink, checked in the uplink.
    pub ue: Ipv4Addr,
    /// TEID of the tunnel's end at the UPF: key of the uplink.
    pub uplink_teid: u32,
    /// TEID of the tunnel's end at the gNodeB.
    pub downlink_teid: u32,
    /// The gNodeB's address.
    pub gnb: Ipv4Addr,
    /// The UPF's address on N3.
    pub upf: Ipv4Addr,
    /// QoS flow, 6 bits.
    pub qfi: u8,
    /// Destination and source MAC address of what leaves.
    pub macs: ([u8; 6], [u8; 6]),
}

const ETHERNET: usize = 14;
const TUNNEL: usize = 44;
const SERVER: Ipv4Addr = Ipv4Addr::new(10, 6, 0, 2);
const UPF: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 1);

/// `count` sessions whose numbers do not follow each other.
pub fn sessions(count: u32) -> Vec<Session> {
    let session = |i: u32| Session {
        ue: Ipv4Addr::from(u32::from(Ipv4Addr::new(10, 64, 0, 0)) + i),
        // An odd factor: a permutation of all TEIDs.
        uplink_teid: (i + 1).wrapping_mul(0x9e37_79b1),
        downlink_teid: (i + 1).wrapping_mul(0x85eb_ca6b),
        gnb: Ipv4Addr::from(u32::from(Ipv4Addr::new(10, 3, 1, 0)) + i % 200),
        upf: UPF,
        qfi: (i % 63 + 1) as u8,
        macs: ([2, 0, 0, 0, 9, (i % 200) as u8], [2, 0, 0, 0, 3, 1]),
    };
    (0..count).map(session).collect()
}

/// `count` frames that hit the sessions in an order without a pattern; `user_len` bytes of user's IP packet each, at least 28.
pub fn frames(direction: Direction, sessions: &[Session], count: usize, user_len: usize) -> Vec<Vec<u8>> {
    let mut state = 0x2545_f491_4f6c_dd1d_u64;
    let mut next = || {
        // Xorshift (Marsaglia 2003).
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        state
    };
    let mut frame = |number: usize| {
        let session = &sessions[(next() % sessions.len().max(1) as u64) as usize];
        let macs = [[2, 0, 0, 0, 3, 1], [2, 0, 0, 0, 9, 9]];
        match direction {
            Direction::Downlink => ethernet(macs, &user_packet(SERVER, session.ue, user_len, number)),
            Direction::Uplink => {
                let user = user_packet(session.ue, SERVER, user_len, number);
                // PDU type 1: uplink (TS 38.415 §5.5.2.2).
                ethernet(macs, &tunnel(session.gnb, session.upf, session.uplink_teid, [1, 0x10, session.qfi, 0], &user))
            }
        }
    };
    (0..count).map(&mut frame).collect()
}

/// What is to become of frames: sessions by the keys of both directions.
pub struct Expectation {
    direction: Direction,
    sessions: HashMap<u32, Session>,
}

impl Expectation {
    /// Of these sessions.
    pub fn new(direction: Direction, sessions: &[Session]) -> Expectation {
        let key = |s: &Session| if direction == Direction::Downlink { u32::from(s.ue) } else { s.uplink_teid };
        Expectation { direction, sessions: sessions.iter().map(|s| (key(s), *s)).collect() }
    }

    /// The frame that must leave for `frame`, one of [`frames`]' form; `None`: it must be dropped.
    pub fn output(&self, frame: &[u8]) -> Option<Vec<u8>> {
        let packet = frame.get(ETHERNET..).filter(|_| frame[12..14] == [8, 0])?;
        match self.direction {
            Direction::Downlink => {
                let session = self.sessions.get(&be32(packet, 16)?)?;
                let container = [1, 0, session.qfi, 0];
                let out = tunnel(session.upf, session.gnb, session.downlink_teid, container, packet);
                Some(ethernet([session.macs.0, session.macs.1], &out))
            }
            Direction::Uplink => {
                let session = self.sessions.get(&be32(packet, 32)?)?;
                let user = packet.get(TUNNEL..)?;
                let fits = be32(user, 12)? == u32::from(session.ue) && packet[42] == session.qfi;
                fits.then(|| ethernet([session.macs.0, session.macs.1], user))
            }
        }
    }

    /// Whether tunnels are put on.
    pub fn is_downlink(&self) -> bool {
        self.direction == Direction::Downlink
    }

    /// The session that a frame is of.
    pub fn session(&self, frame: &[u8]) -> Option<&Session> {
        let packet = frame.get(ETHERNET..)?;
        self.sessions.get(&be32(packet, if self.direction == Direction::Downlink { 16 } else { 32 })?)
    }
}

fn be32(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..at + 4).and_then(|b| b.try_into().ok()).map(u32::from_be_bytes)
}

fn ethernet(macs: [[u8; 6]; 2], packet: &[u8]) -> Vec<u8> {
    [&macs[0][..], &macs[1][..], &[8, 0][..], packet].concat()
}

/// IPv4 and UDP, `len` bytes in all, told apart by `number`.
fn user_packet(source: Ipv4Addr, destination: Ipv4Addr, len: usize, number: usize) -> Vec<u8> {
    let mut packet = ipv4(source, destination, len, (number & 0xffff) as u16);
    packet.extend([0x13, 0x88, 0x13, 0x89]);
    packet.extend(((len - 20) as u16).to_be_bytes());
    packet.extend([0, 0]);
    packet.extend((packet.len()..len).map(|i| (i ^ number) as u8));
    packet
}

/// A header without options (RFC 791), with its checksum.
fn ipv4(source: Ipv4Addr, destination: Ipv4Addr, len: usize, identification: u16) -> Vec<u8> {
    let mut header = vec![0x45, 0];
    header.extend((len as u16).to_be_bytes());
    header.extend(identification.to_be_bytes());
    header.extend([0, 0, 64, 17, 0, 0]);
    header.extend(source.octets());
    header.extend(destination.octets());
    let checksum = checksum(&header);
    header[10..12].copy_from_slice(&checksum.to_be_bytes());
    header
}

/// RFC 1071, the slow way.
fn checksum(bytes: &[u8]) -> u16 {
    let mut sum: u32 = bytes.chunks(2).map(|pair| u32::from(pair[0]) << 8 | u32::from(*pair.get(1).unwrap_or(&0))).sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

/// IPv4, UDP, GTP-U with a PDU Session Container of four bytes around a packet.
fn tunnel(source: Ipv4Addr, destination: Ipv4Addr, teid: u32, container: [u8; 4], packet: &[u8]) -> Vec<u8> {
    let mut out = ipv4(source, destination, packet.len() + TUNNEL, 0);
    for port in [2152u16, 2152] {
        out.extend(port.to_be_bytes());
    }
    out.extend(((packet.len() + 24) as u16).to_be_bytes());
    out.extend([0, 0, 0x34, 0xff]);
    out.extend(((packet.len() + 8) as u16).to_be_bytes());
    out.extend(teid.to_be_bytes());
    out.extend([0, 0, 0, 0x85]);
    out.extend(container);
    out.extend(packet);
    out
}

/// Checksum of the outer header with a length of zero: what the pipeline adds the length to.
pub(super) fn base_checksum(session: &Session) -> u16 {
    let mut header = ipv4(session.upf, session.gnb, 0, 0);
    header[10..12].copy_from_slice(&[0, 0]);
    checksum(&header)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_goes_into_the_tunnel_comes_out_of_it() {
        let sessions = sessions(100);
        let user = frames(Direction::Downlink, &sessions, 50, 46);
        let down = Expectation::new(Direction::Downlink, &sessions);
        for frame in &user {
            assert_eq!(frame.len(), 60);
            let out = down.output(frame).unwrap();
            assert_eq!((out.len(), checksum(&out[14..34]), &out[58..]), (104, 0, &frame[14..]));
        }
        let tunnelled = frames(Direction::Uplink, &sessions, 50, 46);
        let up = Expectation::new(Direction::Uplink, &sessions);
        for frame in &tunnelled {
            assert_eq!(up.output(frame).unwrap()[14..], frame[58..]);
            let mut other = frame.clone();
            other[14 + 42] ^= 1;
            assert_eq!(up.output(&other), None, "another QFI");
        }
    }
}
