//! The steering hash: the same for all packets of a UE's address, uplink and downlink, so that
//! a UE's packets stay on one worker, with its order, buffers and meters' cache lines.
//!
//! What counts is the *inner* header: all UEs of a gNodeB come in one outer flow (TS 29.281 §4.4.2). Uplink it is the source,
//! downlink the destination; of IPv6 the first 64 bits, as a UE chooses the others itself (TS 23.501 §5.8.2.2). What is no
//! user packet (ARP, ND, path messages of GTP-U, fragments of tunnels) has the hash of no UE. A hash proves nothing: bytes that
//! the data plane is going to drop may have any.

use base::PortId;
use std::net::IpAddr;

/// Ports below this number take tunnels; what they may expect is in `p4/include/splitplane.p4`.
const PLAIN: u16 = 128;
/// From this number on frames come in VXLAN.
const VXLAN: u16 = 256;
const ETHERNET: usize = 14;
const IPV4: u16 = 0x0800;
const IPV6: u16 = 0x86dd;
const UDP: u8 = 17;
const GTPU_PORT: u16 = 2152;
const VXLAN_PORT: u16 = 4789;
/// Message type of user packets (TS 29.281 §6.1).
const G_PDU: u8 = 255;
/// Type of the extension header that tells the direction (TS 29.281 §5.2.1).
const SESSION_CONTAINER: u8 = 0x85;
/// Extension headers that are walked over, at most.
const EXTENSIONS: usize = 8;

/// What frames come in by a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Expects {
    /// GTP-U tunnels of ours.
    pub tunnels: bool,
    /// All of it in VXLAN.
    pub vxlan: bool,
}

/// What arrives on a port of this number. Other implementations of the hash (`gtpu_steering`, in the kernel) need it.
pub fn expects(port: PortId) -> Expects {
    let vxlan = port.0 >= VXLAN;
    Expects { tunnels: port.0 - if vxlan { VXLAN } else { 0 } < PLAIN, vxlan }
}

/// Hash of the UE's address of a frame that came in by `port`; all bits vary with it.
pub fn ue_hash(frame: &[u8], port: PortId) -> u32 {
    ue_bits(frame, port).map_or(0, mix)
}

/// The UE's address of a frame that came in by `port`, the interface part of IPv6 cleared; `None` if it carries none.
pub fn ue_address(frame: &[u8], port: PortId) -> Option<IpAddr> {
    Some(match ue_bits(frame, port)? {
        Ue::V4(bits) => IpAddr::V4(bits.into()),
        Ue::V6(bits) => IpAddr::V6((u128::from(bits) << 64).into()),
    })
}

#[derive(Clone, Copy)]
enum Ue {
    V4(u32),
    V6(u64),
}

/// SplitMix64's finaliser, and of that the upper half: neighbouring addresses fall far apart.
fn mix(ue: Ue) -> u32 {
    let mut x = match ue {
        Ue::V4(bits) => u64::from(bits),
        Ue::V6(bits) => bits,
    }
    .wrapping_add(0x9e37_79b9_7f4a_7c15);
    x = (x ^ (x >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    ((x ^ (x >> 31)) >> 32) as u32
}

fn ue_bits(frame: &[u8], port: PortId) -> Option<Ue> {
    let Expects { tunnels, vxlan } = expects(port);
    let frame = if vxlan { vxlan_inner(frame)? } else { frame };
    let ethertype = u16_at(frame, 12)?;
    let packet = frame.get(ETHERNET..)?;
    if ethertype == IPV6 {
        // No tunnels of ours are in IPv6: user packets on N6, or on a one-armed port.
        return address(packet, End::Destination);
    }
    if ethertype != IPV4 {
        return None;
    }
    match udp_payload(packet, GTPU_PORT).filter(|_| tunnels) {
        Some(message) => tunnelled(message),
        None => address(packet, End::Destination),
    }
}

/// The UE of a GTP-U message (TS 29.281 §5.1).
fn tunnelled(message: &[u8]) -> Option<Ue> {
    let flags = *message.first()?;
    if *message.get(1)? != G_PDU {
        return None;
    }
    let mut at = 8;
    // Without a container: uplink, as on N3 and N9 of older gNodeBs; N9 downlink has one.
    let mut end = End::Source;
    if flags & 0x07 != 0 {
        at += 4;
        let mut next = if flags & 0x04 != 0 { *message.get(11)? } else { 0 };
        for _ in 0..EXTENSIONS {
            if next == 0 {
                break;
            }
            let length = usize::from(*message.get(at)?) * 4;
            if next == SESSION_CONTAINER && message.get(at + 1)? >> 4 == 0 {
                // DL PDU SESSION INFORMATION (TS 38.415 §5.5.2.1): from another UPF, towards the UE.
                end = End::Destination;
            }
            next = *message.get((at + length).checked_sub(1)?)?;
            at += length;
        }
    }
    address(message.get(at..)?, end)
}

#[derive(Clone, Copy)]
enum End {
    Source,
    Destination,
}

/// An address of an IP packet.
fn address(packet: &[u8], end: End) -> Option<Ue> {
    let at = |source, destination| match end {
        End::Source => source,
        End::Destination => destination,
    };
    match packet.first()? >> 4 {
        4 => packet.get(at(12, 16)..)?.first_chunk().map(|bytes| Ue::V4(u32::from_be_bytes(*bytes))),
        6 => packet.get(at(8, 24)..)?.first_chunk().map(|bytes| Ue::V6(u64::from_be_bytes(*bytes))),
        _ => None,
    }
}

/// What an unfragmented IPv4 packet carries to this UDP port.
fn udp_payload(packet: &[u8], port: u16) -> Option<&[u8]> {
    let header_len = usize::from(*packet.first()? & 15) * 4;
    let unfragmented = u16_at(packet, 6)? & 0x3fff == 0;
    (*packet.get(9)? == UDP && unfragmented && u16_at(packet, header_len + 2)? == port).then_some(())?;
    packet.get(header_len + 8..)
}

/// The frame inside a VXLAN packet (RFC 7348 §5).
fn vxlan_inner(frame: &[u8]) -> Option<&[u8]> {
    (u16_at(frame, 12)? == IPV4).then_some(())?;
    udp_payload(frame.get(ETHERNET..)?, VXLAN_PORT)?.get(8..)
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|b| u16::from_be_bytes(*b))
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;
    use rand::seq::IndexedRandom;
    use wire::gtpu::SessionContainer;

    const N3: PortId = PortId(0);
    const N6: PortId = PortId(128);

    /// The slow twin: by the checked views, for packets that are sound.
    fn slow(frame: &[u8], port: PortId) -> Option<IpAddr> {
        let frame = wire::ethernet::Frame::new_checked(frame).ok()?;
        if port.0 >= VXLAN {
            let ip = wire::ipv4::Packet::new_checked(frame.payload()).ok()?;
            let udp = wire::udp::Datagram::new_checked(ip.payload()).ok()?;
            let vxlan = wire::vxlan::Packet::new_checked(udp.payload()).ok()?;
            return slow(vxlan.payload(), PortId(port.0 - VXLAN));
        }
        let prefix = |a: std::net::Ipv6Addr| IpAddr::V6((u128::from(a) >> 64 << 64).into());
        if let Ok(ip) = wire::ipv6::Packet::new_checked(frame.payload()) {
            return Some(prefix(ip.dst()));
        }
        let ip = wire::ipv4::Packet::new_checked(frame.payload()).ok()?;
        let udp = wire::udp::Datagram::new_checked(ip.payload()).ok();
        let Some(udp) =
            udp.filter(|u| port.0 < PLAIN && ip.protocol() == wire::ipv4::UDP && !ip.is_fragment() && u.dst_port() == GTPU_PORT)
        else {
            return Some(IpAddr::V4(ip.dst()));
        };
        let gtpu = wire::gtpu::Packet::new_checked(udp.payload()).ok()?;
        if gtpu.message_type() != G_PDU {
            return None;
        }
        let down = gtpu.extensions().flatten().any(|(kind, content)| {
            kind == SESSION_CONTAINER && matches!(SessionContainer::parse(content), Ok(SessionContainer::Downlink { .. }))
        });
        if let Ok(ip) = wire::ipv4::Packet::new_checked(gtpu.payload()) {
            return Some(IpAddr::V4(if down { ip.dst() } else { ip.src() }));
        }
        let ip = wire::ipv6::Packet::new_checked(gtpu.payload()).ok()?;
        Some(prefix(if down { ip.dst() } else { ip.src() }))
    }

    fn ipv4(src: [u8; 4], dst: [u8; 4], protocol: u8, payload: &[u8]) -> Vec<u8> {
        let mut p = vec![0x45, 0, 0, 0, 0, 0, 0, 0, 64, protocol, 0, 0];
        p.extend(src);
        p.extend(dst);
        let total_len = (20 + payload.len()) as u16;
        p[2..4].copy_from_slice(&total_len.to_be_bytes());
        let checksum = wire::checksum::finish(wire::checksum::sum(&p));
        p[10..12].copy_from_slice(&checksum.to_be_bytes());
        p.extend(payload);
        p
    }

    fn ipv6(src: u128, dst: u128, payload: &[u8]) -> Vec<u8> {
        let mut p = vec![0x60, 0, 0, 0, 0, 0, 59, 64];
        p[4..6].copy_from_slice(&(payload.len() as u16).to_be_bytes());
        p.extend(src.to_be_bytes());
        p.extend(dst.to_be_bytes());
        p.extend(payload);
        p
    }

    fn udp(dst_port: u16, payload: &[u8]) -> Vec<u8> {
        let mut p = vec![0x12, 0x34];
        p.extend(dst_port.to_be_bytes());
        p.extend(((8 + payload.len()) as u16).to_be_bytes());
        p.extend([0, 0]);
        p.extend(payload);
        p
    }

    fn ethernet(packet: &[u8]) -> Vec<u8> {
        let mut frame = vec![2; 12];
        frame.extend(if packet[0] >> 4 == 4 { IPV4 } else { IPV6 }.to_be_bytes());
        frame.extend(packet);
        frame
    }

    fn tunnel(container: Option<SessionContainer>, inner: &[u8]) -> Vec<u8> {
        let mut message = Vec::new();
        wire::gtpu::Repr::g_pdu(7, container, inner).emit(&mut message);
        ethernet(&ipv4([10, 3, 0, 2], [10, 3, 0, 1], UDP, &udp(GTPU_PORT, &message)))
    }

    fn vxlan(frame: &[u8]) -> Vec<u8> {
        let mut payload = vec![8, 0, 0, 0, 0, 0, 9, 0];
        payload.extend(frame);
        ethernet(&ipv4([10, 9, 0, 2], [10, 9, 0, 1], UDP, &udp(VXLAN_PORT, &payload)))
    }

    #[test]
    fn both_directions_of_a_ue_meet() {
        let (ue, server) = ([10, 45, 0, 7], [192, 0, 2, 1]);
        let uplink = tunnel(Some(SessionContainer::Uplink { qfi: 9 }), &ipv4(ue, server, 6, &[1; 20]));
        let downlink = ethernet(&ipv4(server, ue, 6, &[1; 20]));
        let from_another_upf =
            tunnel(Some(SessionContainer::Downlink { qfi: 9, rqi: false, ppi: None }), &ipv4(server, ue, UDP, &udp(GTPU_PORT, &[0; 8])));
        let old = tunnel(None, &ipv4(ue, server, 6, &[1; 20]));
        for (frame, port) in [(&uplink, N3), (&downlink, N6), (&from_another_upf, N3), (&old, N3), (&downlink, N3)] {
            assert_eq!(ue_address(frame, port), Some(IpAddr::from(ue)));
            assert_eq!(ue_address(&vxlan(frame), PortId(port.0 + VXLAN)), Some(IpAddr::from(ue)));
            assert_eq!(ue_hash(frame, port), ue_hash(&downlink, N6));
        }
        let (ue, server) = (0x2001_0db8_0045_0001_u128 << 64, 0x2001_0db8_ffff_0000_u128 << 64);
        let uplink = tunnel(Some(SessionContainer::Uplink { qfi: 9 }), &ipv6(ue | 77, server, &[]));
        assert_eq!(ue_hash(&uplink, N3), ue_hash(&ethernet(&ipv6(server, ue | 88, &[])), N6));
        // A user's own traffic to port 2152 on N6 is user data.
        let own = ethernet(&ipv4([192, 0, 2, 1], [10, 45, 0, 7], UDP, &udp(GTPU_PORT, &[0x30, 255, 0, 0, 0, 0, 0, 0])));
        assert_eq!(ue_address(&own, N6), Some(IpAddr::from([10, 45, 0, 7])));
    }

    #[test]
    fn what_is_no_user_packet_has_one_hash() {
        let mut echo = Vec::new();
        wire::gtpu::Repr::new(0, Some(1), wire::gtpu::Message::EchoRequest).emit(&mut echo);
        let echo = ethernet(&ipv4([10, 3, 0, 2], [10, 3, 0, 1], UDP, &udp(GTPU_PORT, &echo)));
        let mut arp = vec![2; 42];
        arp[12..14].copy_from_slice(&[8, 6]);
        for frame in [&echo[..], &arp, &[], &[0; 13]] {
            assert_eq!((ue_address(frame, N3), ue_hash(frame, N3)), (None, 0));
        }
    }

    #[test]
    fn neighbouring_ues_spread_over_buckets() {
        let mut buckets = [0; 64];
        for n in 0..6400u32 {
            let frame = ethernet(&ipv4([192, 0, 2, 1], (0x0a2d_0000 + n).to_be_bytes(), 6, &[]));
            buckets[ue_hash(&frame, N6) as usize % 64] += 1;
        }
        let (least, most) = (buckets.iter().min().unwrap(), buckets.iter().max().unwrap());
        assert!(*least > 60 && *most < 140, "{least} to {most} of 100");
    }

    /// Random sound packets, against the slow twin; then random damage, which must only not panic.
    #[test]
    fn it_agrees_with_the_checked_views() {
        let mut rng = testkit::rng(11);
        let (mut found, mut none) = (0, 0);
        for _ in 0..20_000 {
            let inner = if rng.random() {
                let payload = if rng.random() { udp(*[GTPU_PORT, VXLAN_PORT, 53].choose(&mut rng).unwrap(), &[0; 30]) } else { vec![5; 9] };
                ipv4(rng.random(), rng.random(), *[6, UDP].choose(&mut rng).unwrap(), &payload)
            } else {
                ipv6(rng.random(), rng.random(), &[6; 12])
            };
            let container = match rng.random_range(0..3) {
                0 => None,
                1 => Some(SessionContainer::Uplink { qfi: 1 }),
                _ => Some(SessionContainer::Downlink { qfi: 1, rqi: rng.random(), ppi: rng.random::<bool>().then_some(3) }),
            };
            let mut frame = if rng.random() { tunnel(container, &inner) } else { ethernet(&inner) };
            let mut port = *[N3, N6].choose(&mut rng).unwrap();
            if rng.random_range(0..4) == 0 {
                frame = vxlan(&frame);
                port.0 += VXLAN;
            }
            let expected = slow(&frame, port);
            let path_message = expected.is_none();
            assert_eq!(ue_address(&frame, port), expected, "{port} {frame:02x?}");
            found += usize::from(!path_message);
            none += usize::from(path_message);
            for _ in 0..3 {
                let at = rng.random_range(0..frame.len());
                frame[at] = rng.random();
            }
            frame.truncate(rng.random_range(0..=frame.len()));
            ue_hash(&frame, port);
        }
        assert!(found > 15_000, "{found} addresses, {none} none");
    }
}
