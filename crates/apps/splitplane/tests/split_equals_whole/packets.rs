//! Random frames, most of them made to hit what sessions and network are made of.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use base::{MAX_PACKET, PortId};
use pfcp::rules::*;
use rand::Rng;
use rand_chacha::ChaCha8Rng;

use crate::common::Frame;
use crate::user_packet::*;
use crate::world::*;

const IPV4: u16 = 0x0800;
const ARP: u16 = 0x0806;
const IPV6: u16 = 0x86dd;

const G_PDU: u8 = 255;

/// Bytes that lie behind users' packets, and nowhere else.
const TAIL: [u8; 8] = [0xd5, 0x1a, 0x33, 0x9c, 0x07, 0xe2, 0x5b, 0x60];

/// Where the user's packet of a frame that went on ends, by its own length: alone, or in a tunnel of ours. A frame of VXLAN has no more
/// than its length either.
fn user_end(frame: &[u8]) -> usize {
    let number = |at: usize| usize::from(u16::from_be_bytes([frame[at], frame[at + 1]]));
    let ours = [N3, N9].iter().any(|ip| frame.get(26..30) == Some(&ip.octets()));
    let mut user = 14;
    if number(12) == usize::from(IPV4) && ours && number(36) == 2152 {
        user = 50;
        // Numbers of the tunnel that it came by go on, with extension headers or without.
        if frame[42] & 7 != 0 {
            let mut next = if frame[42] & 4 != 0 { frame[53] } else { 0 };
            user = 54;
            while next != 0 {
                user += 4 * usize::from(frame[user]);
                next = frame[user - 1];
            }
        }
    }
    user + if frame[user] >> 4 == 4 { number(user + 2) } else { number(user + 4) + 40 }
}

/// What of a frame that went on shows that rare ways were gone.
pub(crate) fn shapes(came: &[u8], left: &[u8]) -> Vec<&'static str> {
    let has_tail = |bytes: &[u8]| bytes.windows(TAIL.len()).any(|w| w == TAIL);
    assert_eq!(user_end(left), left.len(), "what lay behind the user's packet went on: {left:02x?}");
    let mut shapes = Vec::new();
    if has_tail(came) && !has_tail(left) {
        shapes.push("bytes behind the user's packet");
    }
    // In Ethernet, IPv4 and UDP: flags, then the type of the first extension header, and of what follows a container.
    let tunnel = left.get(12..14) == Some(&[8, 0]) && left.get(36..38) == Some(&2152u16.to_be_bytes()) && left[23] == UDP;
    if tunnel && left.get(42).is_some_and(|flags| flags & 4 != 0) {
        let first = left.get(53).copied().unwrap_or(0);
        let next = if first == 0x85 { left.get(57).copied().unwrap_or(0) } else { first };
        if next != 0 {
            shapes.push("relayed extension headers");
        }
    }
    // A user's packet alone.
    if left.get(12..14) == Some(&IPV6.to_be_bytes()) && left.get(20).is_some_and(|next| [0, 43, 44, 60, 135, 139, 140].contains(next)) {
        shapes.push("IPv6 extension headers");
    }
    shapes
}

/// Where a frame comes in.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Side {
    Access,
    N9,
    Core,
}

/// A random frame for the network, with these sessions.
pub(crate) fn frame(rng: &mut ChaCha8Rng, sessions: &BTreeMap<Seid, SessionRules>) -> Frame {
    let mut frame = match rng.random_range(0..100) {
        0..=35 => to_session(rng, sessions, true),
        36..=64 => to_session(rng, sessions, false),
        65..=67 => {
            let teid = if rng.random_bool(0.3) { TEID_NO_CLASS } else { rng.random_range(TEIDS_RANDOM) };
            let (src, user) = (ue_v4(1).into(), any_remote(rng));
            let inner = user_packet(rng, src, user, None, true);
            g_pdu(rng, Side::Access, N3, teid, None, &inner)
        }
        68..=70 => {
            // No such tunnel, or not our address.
            let endpoint = [N3, N3, N9, N6, Ipv4Addr::new(10, 0, 3, 77)][rng.random_range(0..5)];
            let user = any_remote(rng);
            let inner = user_packet(rng, ue_v4(1).into(), user, None, true);
            let teid = rng.random();
            g_pdu(rng, Side::Access, endpoint, teid, Some(1), &inner)
        }
        71..=74 => signalling(rng),
        75..=77 => arp(rng),
        78..=82 => to_us(rng),
        83..=85 => {
            // No such UE.
            let (dst, src) = if rng.random_bool(0.5) { (ue_v4(900).into(), any_v4(rng)) } else { (ue_v6(900, 1).into(), any_v6(rng)) };
            let packet = user_packet(rng, src, dst, None, false);
            plain(rng, Side::Core, &packet)
        }
        86..=87 => {
            let payload = vec![7; rng.random_range(0..80)];
            let ethertype = [0x8100, 0x88cc, 0x0805, IPV6 ^ 1, rng.random()][rng.random_range(0..5)];
            let side = side(rng);
            arrive(rng, side, ethertype, &payload)
        }
        88..=90 => broken_vxlan(rng, sessions),
        91 => fragmented_tunnel(rng),
        92..=93 => Frame { port: any_port(rng), bytes: (0..rng.random_range(0..200)).map(|_| rng.random()).collect() },
        94..=95 => {
            // Not an IP packet inside, or none at all.
            let (teid, garbage) = (known_teid(rng, sessions), (0..rng.random_range(0..60)).map(|_| rng.random()).collect::<Vec<u8>>());
            g_pdu(rng, Side::Access, N3, teid, None, &garbage)
        }
        _ => to_session(rng, sessions, true),
    };
    if rng.random_bool(0.12) {
        disturb(rng, &mut frame);
    }
    frame.bytes.truncate(MAX_PACKET);
    frame
}

/// What happens to frames on their way, and what attackers do.
fn disturb(rng: &mut ChaCha8Rng, frame: &mut Frame) {
    let len = frame.bytes.len().max(1);
    match rng.random_range(0..8) {
        0 | 1 => frame.bytes.truncate(rng.random_range(0..len)),
        2 => {
            // Ethernet's padding, or more.
            if rng.random_bool(0.5) {
                frame.bytes.extend(TAIL);
            }
            let padding = rng.random_range(1..64);
            frame.bytes.resize(frame.bytes.len() + padding, 0);
        }
        3 => frame.port = any_port(rng),
        // Most of what matters is in the first bytes.
        _ => {
            for _ in 0..rng.random_range(1..4) {
                let at = if rng.random_bool(0.8) { rng.random_range(0..len.min(100)) } else { rng.random_range(0..len) };
                if let Some(byte) = frame.bytes.get_mut(at) {
                    *byte ^= if rng.random_bool(0.5) { 1 << rng.random_range(0..8) } else { rng.random_range(1..=255) };
                }
            }
        }
    }
}

fn any_port(rng: &mut ChaCha8Rng) -> PortId {
    [PORT_N3, PORT_N9, PORT_N6, PORT_VXLAN, PORT_VXLAN_PLAIN, PortId(5), PortId(508)][rng.random_range(0..7)]
}

fn side(rng: &mut ChaCha8Rng) -> Side {
    [Side::Access, Side::N9, Side::Core][rng.random_range(0..3)]
}

fn any_v4(rng: &mut ChaCha8Rng) -> IpAddr {
    remote_v4(rng).into()
}

fn any_v6(rng: &mut ChaCha8Rng) -> IpAddr {
    remote_v6(rng).into()
}

fn any_remote(rng: &mut ChaCha8Rng) -> IpAddr {
    if rng.random_bool(0.6) { any_v4(rng) } else { any_v6(rng) }
}

fn known_teid(rng: &mut ChaCha8Rng, sessions: &BTreeMap<Seid, SessionRules>) -> u32 {
    let all = sessions.values().flat_map(|s| s.pdrs.values().filter_map(|p| p.pdi.f_teid));
    let all: Vec<FTeid> = all.collect();
    if all.is_empty() { 1 } else { all[rng.random_range(0..all.len())].teid }
}

/// A packet that a PDR of some session is to detect.
fn to_session(rng: &mut ChaCha8Rng, sessions: &BTreeMap<Seid, SessionRules>, by_tunnel: bool) -> Frame {
    let candidates = || sessions.iter().flat_map(|(seid, s)| s.pdrs.values().map(move |pdr| (*seid, pdr)));
    let candidates: Vec<(Seid, &Pdr)> = candidates().filter(|(_, pdr)| pdr.pdi.f_teid.is_some() == by_tunnel).collect();
    if candidates.is_empty() {
        return arp(rng);
    }
    let (seid, pdr) = candidates[rng.random_range(0..candidates.len())];
    // The address of the PDR's session, mostly of a version that it has.
    let ue_ip = pdr.pdi.ue_ip.unwrap_or_default();
    let v4 = match (ue_ip.ipv4, ue_ip.ipv6) {
        (Some(_), None) => rng.random_bool(0.95),
        (None, Some(_)) => rng.random_bool(0.05),
        _ => rng.random_bool(0.6),
    };
    let host = rng.random_range(1..4);
    let mut ue: IpAddr = if v4 { ue_v4(seid).into() } else { ue_v6(seid, host).into() };
    let filter = if pdr.pdi.sdf_filters.is_empty() || rng.random_bool(0.3) {
        None
    } else {
        Some(&pdr.pdi.sdf_filters[rng.random_range(0..pdr.pdi.sdf_filters.len())])
    };
    let remote = match filter.and_then(|f| f.flow.as_ref()).map(|f| f.remote) {
        Some(AddressMatch::Prefix(IpAddr::V4(net), len)) if v4 => {
            let host = rng.random::<u32>().checked_shr(len.into()).unwrap_or(0);
            Ipv4Addr::from(u32::from(net) | host).into()
        }
        Some(AddressMatch::Prefix(IpAddr::V6(net), len)) if !v4 => {
            let host = rng.random::<u128>().checked_shr(len.into()).unwrap_or(0);
            Ipv6Addr::from(u128::from(net) | host).into()
        }
        _ if v4 => any_v4(rng),
        _ => any_v6(rng),
    };
    let Some(tunnel) = pdr.pdi.f_teid else {
        let packet = user_packet(rng, remote, ue, filter, false);
        return plain(rng, Side::Core, &packet);
    };
    let qfi = match pdr.pdi.qfis.as_slice() {
        [] => rng.random_bool(0.6).then(|| rng.random_range(0..64)),
        qfis => rng.random_bool(0.9).then(|| qfis[rng.random_range(0..qfis.len())]),
    };
    if pdr.pdi.source_interface != Interface::Access {
        let inner = user_packet(rng, remote, ue, filter, false);
        let side = if tunnel.ipv4 == N9 { Side::N9 } else { Side::Access };
        return g_pdu(rng, side, tunnel.ipv4, tunnel.teid, qfi, &inner);
    }
    if rng.random_bool(0.05) {
        ue = if v4 { ue_v4(seid + 1).into() } else { ue_v6(seid + 1, 1).into() };
    }
    let inner = user_packet(rng, ue, remote, filter, true);
    g_pdu(rng, Side::Access, tunnel.ipv4, tunnel.teid, qfi, &inner)
}

/// An IP packet that matches the filter, if one is given; one in ten is odd.
fn user_packet(rng: &mut ChaCha8Rng, src: IpAddr, dst: IpAddr, filter: Option<&SdfFilter>, uplink: bool) -> Vec<u8> {
    let flow = filter.and_then(|f| f.flow.as_ref());
    let protocol = flow.and_then(|f| f.protocol).unwrap_or_else(|| l4_protocol(rng));
    let port = |rng: &mut ChaCha8Rng, ranges: Option<&Vec<(u16, u16)>>| match ranges.map(Vec::as_slice) {
        Some(ranges) if !ranges.is_empty() => {
            let (low, high) = ranges[rng.random_range(0..ranges.len())];
            rng.random_range(low..=high)
        }
        _ => l4_port(rng),
    };
    let remote = port(rng, flow.map(|f| &f.remote_ports));
    let local = port(rng, flow.map(|f| &f.local_ports));
    let (src_port, dst_port) = if uplink { (local, remote) } else { (remote, local) };
    let payload = transport(rng, protocol, src_port, dst_port);
    let mut packet = IpPacket::new(src, dst, protocol, payload);
    packet.tos = filter.and_then(|f| f.tos).map_or_else(|| tos(rng), |(value, _)| value);
    packet.flow_label = filter.and_then(|f| f.flow_label).unwrap_or_else(|| rng.random_range(0..4));
    if rng.random_bool(0.1) {
        packet.disturb(rng);
    }
    if rng.random_bool(0.15) {
        packet.extensions = extensions(rng);
    }
    if rng.random_bool(0.02) {
        let end = if rng.random_bool(0.5) { &mut packet.src } else { &mut packet.dst };
        *end = martian(rng, end.is_ipv4());
    }
    packet.emit()
}

fn g_pdu(rng: &mut ChaCha8Rng, side: Side, endpoint: Ipv4Addr, teid: u32, qfi: Option<u8>, inner: &[u8]) -> Frame {
    let message_type = if rng.random_bool(0.01) { rng.random() } else { G_PDU };
    let mut inner = inner.to_vec();
    if rng.random_bool(0.04) {
        inner.extend(TAIL);
        inner.resize(inner.len() + rng.random_range(0..40), 0);
    }
    let message = gtpu(rng, message_type, teid, qfi, &inner);
    tunnelled(rng, side, endpoint, &message)
}

/// A GTP-U message in UDP and IPv4; one in twenty of these is odd.
fn tunnelled(rng: &mut ChaCha8Rng, side: Side, endpoint: Ipv4Addr, message: &[u8]) -> Frame {
    let src_port = gtpu_source_port(rng);
    let peer = match rng.random_range(0..100) {
        0 => martian(rng, true),
        1 => endpoint.into(),
        _ => gnb(rng).into(),
    };
    let mut packet = IpPacket::new(peer, endpoint.into(), UDP, udp(src_port, 2152, message));
    if rng.random_bool(0.05) {
        packet.disturb(rng);
    }
    arrive(rng, side, IPV4, &packet.emit())
}

fn plain(rng: &mut ChaCha8Rng, side: Side, packet: &[u8]) -> Frame {
    let ethertype = if packet.first().is_some_and(|b| b >> 4 == 6) { IPV6 } else { IPV4 };
    arrive(rng, side, ethertype, packet)
}

/// A frame on a port of that side, now and then in VXLAN.
fn arrive(rng: &mut ChaCha8Rng, side: Side, ethertype: u16, payload: &[u8]) -> Frame {
    let by_vxlan = side != Side::N9 && rng.random_bool(0.12);
    let (port, vni) = match (side, by_vxlan) {
        (Side::Access, false) => (PORT_N3, 0),
        (Side::N9, _) => (PORT_N9, 0),
        (Side::Core, false) => (PORT_N6, 0),
        (Side::Access, true) => (PORT_VXLAN, VNI_ACCESS),
        (Side::Core, true) => (PORT_VXLAN_PLAIN, VNI_INTERNET),
    };
    let destination = match rng.random_range(0..100) {
        0 => [2, 0, 0, 0, 0, 99],
        1..=2 => [0xff; 6],
        _ => mac(port),
    };
    let frame = ethernet(destination, ethertype, payload);
    if !by_vxlan {
        return Frame { port, bytes: frame };
    }
    let vni = if rng.random_bool(0.05) { rng.random_range(0..1 << 24) } else { vni };
    let vtep = if rng.random_bool(0.03) { N3 } else { VTEP };
    in_vxlan(rng, port, vtep, vni, &frame)
}

fn in_vxlan(rng: &mut ChaCha8Rng, port: PortId, vtep: Ipv4Addr, vni: u32, frame: &[u8]) -> Frame {
    let mut packet = IpPacket::new(Ipv4Addr::new(10, 9, 9, 3).into(), vtep.into(), UDP, udp(0xc123, 4789, &vxlan(vni, frame)));
    if rng.random_bool(0.05) {
        packet.disturb(rng);
    }
    Frame { port, bytes: ethernet(mac(port), IPV4, &packet.emit()) }
}

/// VXLAN in VXLAN, VXLAN where there is none, none where there should be.
fn broken_vxlan(rng: &mut ChaCha8Rng, sessions: &BTreeMap<Seid, SessionRules>) -> Frame {
    let inner = to_session(rng, sessions, true);
    let port = [PORT_VXLAN, PORT_VXLAN_PLAIN][rng.random_range(0..2)];
    match rng.random_range(0..3) {
        0 => Frame { port, bytes: [&mac(port)[..], inner.bytes.get(6..).unwrap_or_default()].concat() },
        1 => in_vxlan(rng, PORT_N3, VTEP, VNI_ACCESS, &inner.bytes),
        _ => {
            let once = in_vxlan(rng, port, VTEP, VNI_ACCESS, &inner.bytes);
            in_vxlan(rng, port, VTEP, VNI_ACCESS, &once.bytes)
        }
    }
}

/// Echo, Error Indication, End Marker and unknown messages.
fn signalling(rng: &mut ChaCha8Rng) -> Frame {
    let message_type = [1, 2, 26, 31, 254, rng.random()][rng.random_range(0..6)];
    let payload = if rng.random_bool(0.5) { vec![14, 0] } else { (0..rng.random_range(0..20)).map(|_| rng.random()).collect() };
    let teid = if message_type == 254 { rng.random_range(16..200) } else { 0 };
    let message = gtpu(rng, message_type, teid, None, &payload);
    let endpoint = [N3, N3, N3, N6][rng.random_range(0..4)];
    tunnelled(rng, Side::Access, endpoint, &message)
}

/// The first part of a tunnel's packet, or a later one.
fn fragmented_tunnel(rng: &mut ChaCha8Rng) -> Frame {
    let message = gtpu(rng, G_PDU, 16, None, &[0x45; 60]);
    let mut packet = IpPacket::new(gnb(rng).into(), N3.into(), UDP, udp(2152, 2152, &message));
    packet.fragment = if rng.random_bool(0.5) { (true, 0) } else { (false, 9) };
    arrive(rng, Side::Access, IPV4, &packet.emit())
}

/// What a neighbour that was asked for its MAC address says, if it says anything: some never do.
pub(crate) fn answer(port: PortId, question: &[u8]) -> Option<Frame> {
    let question = wire::ethernet::Frame::new_checked(question).ok()?;
    let sender_mac = |last: u8| wire::ethernet::Mac([2, 0, 0, 7, 0, last]);
    if question.ethertype() == ARP {
        let asked = wire::arp::Repr::parse(&wire::arp::Packet::new_checked(question.payload()).ok()?).ok()?;
        let last = asked.target_ip.octets()[3];
        let answers = asked.operation == wire::arp::Operation::Request && !last.is_multiple_of(8);
        let (sender_ip, target_mac, target_ip) = (asked.target_ip, asked.sender_mac, asked.sender_ip);
        let answer =
            wire::arp::Repr { operation: wire::arp::Operation::Reply, sender_mac: sender_mac(last), sender_ip, target_mac, target_ip };
        let mut payload = Vec::new();
        answer.emit(&mut payload);
        payload.resize(46, 0);
        return answers.then(|| Frame { port, bytes: ethernet(target_mac.0, ARP, &payload) });
    }
    let packet = wire::ipv6::Packet::new_checked(question.payload()).ok()?;
    let message = wire::icmp::Message::new_checked_v6(packet.payload(), packet.src(), packet.dst()).ok()?;
    let Some(wire::ndp::Repr::Solicitation { target, .. }) = wire::ndp::Repr::parse(&message).ok()? else { return None };
    let last = target.octets()[15];
    let mac = Some(sender_mac(last));
    let told = wire::ndp::Repr::Advertisement { target, mac, solicited: true, router: true, override_known: true };
    let mut payload = Vec::new();
    told.emit(target, packet.src(), &mut payload);
    let packet = IpPacket { ttl: 255, ..IpPacket::new(target.into(), packet.src().into(), ICMPV6, payload) };
    (!last.is_multiple_of(8)).then(|| Frame { port, bytes: ethernet(question.src().0, IPV6, &packet.emit()) })
}

/// Requests and replies, for our addresses and others.
fn arp(rng: &mut ChaCha8Rng) -> Frame {
    let side = side(rng);
    let (ours, port, theirs) = match side {
        Side::Access => (N3, PORT_N3, Ipv4Addr::new(10, 0, 3, rng.random_range(50..60))),
        Side::N9 => (N9, PORT_N9, Ipv4Addr::new(10, 0, 9, rng.random_range(20..24))),
        Side::Core => (N6, PORT_N6, Ipv4Addr::new(10, 0, 6, rng.random_range(1..255))),
    };
    // An answer names who has asked.
    let (operation, target_mac) = match rng.random_bool(0.5) {
        true => (wire::arp::Operation::Request, wire::ethernet::Mac::default()),
        false => (wire::arp::Operation::Reply, wire::ethernet::Mac(mac(port))),
    };
    let sender_mac = wire::ethernet::Mac([2, 0, 0, 7, 0, theirs.octets()[3]]);
    let packet = wire::arp::Repr { operation, sender_mac, sender_ip: theirs, target_mac, target_ip: ours };
    let mut payload = Vec::new();
    packet.emit(&mut payload);
    payload.resize(46, 0);
    arrive(rng, side, ARP, &payload)
}

/// Pings and others to our own addresses, neighbour discovery.
fn to_us(rng: &mut ChaCha8Rng) -> Frame {
    let payload = {
        let protocol = [1, UDP, TCP][rng.random_range(0..3)];
        (protocol, transport(rng, protocol, 4000, 2152))
    };
    let (side, packet) = match rng.random_range(0..5) {
        0 => (Side::Access, IpPacket::new(gnb(rng).into(), N3.into(), payload.0, payload.1)),
        1 => (Side::Core, IpPacket::new(any_v4(rng), N6.into(), payload.0, payload.1)),
        2 => (Side::N9, IpPacket::new(Ipv4Addr::new(10, 0, 9, 20).into(), N9.into(), payload.0, payload.1)),
        3 => (Side::Core, IpPacket::new(any_v6(rng), N6_V6.into(), payload.0, payload.1)),
        _ => {
            let target: Ipv6Addr = if rng.random_bool(0.7) { N6_V6 } else { remote_v6(rng) };
            let src = Ipv6Addr::new(0xfd00, 6, 0, 0, 0, 0, 0, 0xfe);
            let router_mac = wire::ethernet::Mac([2, 0, 0, 8, 0, 1]);
            let (message, dst, to) = match rng.random_bool(0.6) {
                true => {
                    let group = wire::ipv6::solicited_node(target);
                    (
                        wire::ndp::Repr::Solicitation { target, source: Some(router_mac) },
                        group,
                        wire::ethernet::Mac::ipv6_multicast(group).0,
                    )
                }
                false => {
                    let told = wire::ndp::Repr::Advertisement {
                        target: src,
                        mac: Some(router_mac),
                        solicited: true,
                        router: true,
                        override_known: true,
                    };
                    (told, N6_V6, mac(PORT_N6))
                }
            };
            let mut payload = Vec::new();
            message.emit(src, dst, &mut payload);
            let packet = IpPacket { ttl: 255, ..IpPacket::new(src.into(), dst.into(), ICMPV6, payload) };
            let bytes = ethernet(to, IPV6, &packet.emit());
            return Frame { port: PORT_N6, bytes };
        }
    };
    plain(rng, side, &packet.emit())
}
