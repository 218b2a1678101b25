//! What a UPF must make of a frame, computed without the UPF, its program, or the crate that parses its headers: plain bytes
//! and sums, to compare outputs with.
//!
//! For sessions without filters whose downlink FAR forwards: the frames of [`crate::synth`].

use std::net::Ipv4Addr;

use crate::record::SessionRecord;

/// The UPF's configured surroundings.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Upf {
    /// Its GTP-U address.
    pub n3_addr: Ipv4Addr,
    /// Its MAC address on N3.
    pub n3_mac: [u8; 6],
    /// The MAC address of the next hop to the gNodeBs.
    pub gnb_mac: [u8; 6],
    /// Its MAC address on N6.
    pub n6_mac: [u8; 6],
    /// The MAC address of the next hop on N6.
    pub dn_mac: [u8; 6],
}

/// Why a frame must not come out.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Refused {
    /// The TTL or hop limit does not allow another hop.
    TtlExpired,
    /// The frame is none of those that this file knows.
    NotOurs,
}

impl Upf {
    /// The frame on N3 for one from N6: in the session's tunnel, with its QoS flow.
    /// `tunnel_tos` is the outer header's type of service (Transport Level Marking; 0 where none is asked for).
    pub fn downlink(&self, session: &SessionRecord, frame: &[u8], tunnel_tos: u8) -> Result<Vec<u8>, Refused> {
        let user = routed(frame.get(14..).ok_or(Refused::NotOurs)?)?;
        let container: &[u8] = match session.qfi {
            // No sequence number, no N-PDU number, then the container: one unit, downlink, QFI, nothing after it.
            Some(qfi) => &[0, 0, 0, 0x85, 1, 0x00, qfi, 0],
            None => &[],
        };
        let gtpu_len = container.len() + user.len();
        let mut out = Vec::with_capacity(14 + 36 + gtpu_len);
        out.extend(self.gnb_mac);
        out.extend(self.n3_mac);
        out.extend([0x08, 0x00]);
        let total = (gtpu_len + 36) as u16;
        let mut outer = [0x45, tunnel_tos, 0, 0, 0, 0, 0x40, 0, 64, 17, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0];
        outer[2..4].copy_from_slice(&total.to_be_bytes());
        outer[12..16].copy_from_slice(&self.n3_addr.octets());
        outer[16..20].copy_from_slice(&session.downlink.addr.octets());
        let sum = internet_checksum(&outer);
        outer[10..12].copy_from_slice(&sum.to_be_bytes());
        out.extend(outer);
        out.extend([0x08, 0x68, 0x08, 0x68]);
        out.extend(((gtpu_len + 16) as u16).to_be_bytes());
        out.extend([0, 0]);
        out.extend([if container.is_empty() { 0x30 } else { 0x34 }, 255]);
        out.extend((gtpu_len as u16).to_be_bytes());
        out.extend(session.downlink.teid.to_be_bytes());
        out.extend(container);
        out.extend(user);
        Ok(out)
    }

    /// The frame on N6 for one from N3: out of its tunnel.
    pub fn uplink(&self, session: &SessionRecord, frame: &[u8]) -> Result<Vec<u8>, Refused> {
        let user = unwrapped(session, frame).ok_or(Refused::NotOurs)?;
        let user = routed(user)?;
        let mut out = Vec::with_capacity(14 + user.len());
        out.extend(self.dn_mac);
        out.extend(self.n6_mac);
        out.extend(if user[0] >> 4 == 4 { [0x08, 0x00] } else { [0x86, 0xdd] });
        out.extend(user);
        Ok(out)
    }
}

/// The user's packet in a frame of the session's uplink tunnel. Walks extension headers (TS 29.281 §5.2.1).
fn unwrapped<'a>(session: &SessionRecord, frame: &'a [u8]) -> Option<&'a [u8]> {
    let ip = frame.get(14..)?;
    let udp = ip.get(usize::from(ip.first()? & 15) * 4..)?;
    let gtpu = udp.get(8..)?;
    let addressed = ip.get(16..20)? == session.uplink.addr.octets() && gtpu.get(4..8)? == session.uplink.teid.to_be_bytes();
    if frame[12..14] != [0x08, 0x00]
        || ip[9] != 17
        || udp[2..4] != 2152u16.to_be_bytes()
        || gtpu[0] & 0xf0 != 0x30
        || gtpu[1] != 255
        || !addressed
    {
        return None;
    }
    let length = usize::from(u16::from_be_bytes([gtpu[2], gtpu[3]]));
    let gtpu = gtpu.get(..8 + length)?;
    let mut at = 8;
    if gtpu[0] & 7 != 0 {
        let mut next = if gtpu[0] & 4 != 0 { *gtpu.get(11)? } else { 0 };
        at = 12;
        while next != 0 {
            let units = usize::from(*gtpu.get(at)?);
            at += units.max(1) * 4;
            next = *gtpu.get(at - 1)?;
        }
    }
    gtpu.get(at..)
}

/// The user's packet one hop on: TTL less one, IPv4 checksum recomputed over the whole header, trailing bytes removed.
fn routed(packet: &[u8]) -> Result<Vec<u8>, Refused> {
    let length = |at: usize, more: usize| Some(usize::from(u16::from_be_bytes([*packet.get(at)?, *packet.get(at + 1)?])) + more);
    let length = if packet.first().is_some_and(|first| first >> 4 == 6) { length(4, 40) } else { length(2, 0) };
    let mut packet = length.and_then(|length| packet.get(..length)).ok_or(Refused::NotOurs)?.to_vec();
    match packet.first().map(|first| first >> 4) {
        Some(4) => {
            let header_len = usize::from(packet[0] & 15) * 4;
            if header_len < 20 || packet.len() < header_len {
                return Err(Refused::NotOurs);
            }
            packet[8] = packet[8].checked_sub(1).filter(|ttl| *ttl > 0).ok_or(Refused::TtlExpired)?;
            packet[10..12].fill(0);
            let sum = internet_checksum(&packet[..header_len]);
            packet[10..12].copy_from_slice(&sum.to_be_bytes());
        }
        Some(6) => {
            packet[7] = packet[7].checked_sub(1).filter(|limit| *limit > 0).ok_or(Refused::TtlExpired)?;
        }
        _ => return Err(Refused::NotOurs),
    }
    Ok(packet)
}

/// RFC 1071, with a carry after each addition.
pub(crate) fn internet_checksum(bytes: &[u8]) -> u16 {
    let mut sum = 0u16;
    for (i, byte) in bytes.iter().enumerate() {
        let word = if i % 2 == 0 { u16::from(*byte) << 8 } else { u16::from(*byte) };
        let (added, carry) = sum.overflowing_add(word);
        sum = added + u16::from(carry);
    }
    !sum
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::record::Tunnel;
    use wire::{ethernet, gtpu, ipv4, udp};

    fn session() -> SessionRecord {
        SessionRecord {
            seid: 1,
            ue_ipv4: Some(Ipv4Addr::new(10, 45, 0, 2)),
            ue_ipv6: None,
            uplink: Tunnel { addr: Ipv4Addr::new(10, 3, 0, 1), teid: 0x0102_0304 },
            downlink: Tunnel { addr: Ipv4Addr::new(10, 3, 0, 2), teid: 0x0a0b_0c0d },
            qfi: Some(9),
            flows: Vec::new(),
        }
    }

    const UPF: Upf = Upf { n3_addr: Ipv4Addr::new(10, 3, 0, 1), n3_mac: [2; 6], gnb_mac: [4; 6], n6_mac: [6; 6], dn_mac: [8; 6] };

    fn user(ttl: u8) -> Vec<u8> {
        let mut packet = Vec::new();
        let (src, dst) = (Ipv4Addr::new(10, 6, 0, 2), Ipv4Addr::new(10, 45, 0, 2));
        ipv4::Repr { src, dst, protocol: 17, tos: 0, ttl, payload_len: 12 }.emit(&mut packet);
        udp::Repr { src_port: 1, dst_port: 2 }.emit_ipv4(src, dst, b"abcd", &mut packet);
        packet
    }

    /// The crate that everybody else parses with reads what this file wrote.
    #[test]
    fn downlink_frames_are_sound() {
        let frame = [&[0; 12][..], &[8, 0], &user(64)].concat();
        let out = UPF.downlink(&session(), &frame, 0xb8).unwrap();
        let ethernet = ethernet::Frame::new_checked(&out).unwrap();
        assert_eq!((ethernet.dst().0, ethernet.src().0), ([4; 6], [2; 6]));
        let ip = ipv4::Packet::new_checked(ethernet.payload()).unwrap();
        assert_eq!((ip.src(), ip.dst(), ip.tos()), (UPF.n3_addr, session().downlink.addr, 0xb8));
        let datagram = udp::Datagram::new_checked(ip.payload()).unwrap();
        assert_eq!((datagram.src_port(), datagram.dst_port()), (2152, 2152));
        let repr = gtpu::Repr::parse(&gtpu::Packet::new_checked(datagram.payload()).unwrap()).unwrap();
        let container = gtpu::SessionContainer::Downlink { qfi: 9, rqi: false, ppi: None };
        assert_eq!(repr, gtpu::Repr::g_pdu(0x0a0b_0c0d, Some(container), &user(63)));
        let without = UPF.downlink(&SessionRecord { qfi: None, ..session() }, &frame, 0).unwrap();
        assert_eq!(out.len() - without.len(), 8);
    }

    #[test]
    fn uplink_frames_come_out_of_any_tunnel_header() {
        for (sequence, container) in [(None, None), (Some(7), None), (None, Some(9)), (Some(1), Some(1))] {
            let container = container.map(|qfi| gtpu::SessionContainer::Uplink { qfi });
            let mut datagram = Vec::new();
            let packet = user(64);
            let repr = gtpu::Repr { sequence, ..gtpu::Repr::g_pdu(0x0102_0304, container, &packet) };
            repr.emit(&mut datagram);
            let (src, dst) = (session().downlink.addr, session().uplink.addr);
            let mut frame = [&[0; 12][..], &[8, 0]].concat();
            ipv4::Repr { src, dst, protocol: 17, tos: 0, ttl: 64, payload_len: 8 + datagram.len() }.emit(&mut frame);
            udp::Repr { src_port: 2152, dst_port: 2152 }.emit_ipv4(src, dst, &datagram, &mut frame);
            let out = UPF.uplink(&session(), &frame).unwrap();
            assert_eq!(out, [&[8; 6][..], &[6; 6], &[8, 0], &user(63)].concat());
            for cut in 0..frame.len() {
                assert_eq!(UPF.uplink(&session(), &frame[..cut]), Err(Refused::NotOurs), "{cut}");
            }
        }
    }

    #[test]
    fn the_last_hop_is_not_taken() {
        for ttl in [0, 1] {
            let frame = [&[0; 12][..], &[8, 0], &user(ttl)].concat();
            assert_eq!(UPF.downlink(&session(), &frame, 0), Err(Refused::TtlExpired));
        }
        assert_eq!(UPF.downlink(&session(), b"short", 0), Err(Refused::NotOurs));
    }

    #[test]
    fn the_example_of_rfc_1071() {
        assert_eq!(internet_checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
    }
}
