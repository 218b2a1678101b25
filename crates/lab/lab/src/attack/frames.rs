//! Frames of attackers, each made from its number and seeded randomness: what the list names is here.

use super::users::{GNB, SERVER, datagram, tunnelled};
use rand::{Rng, RngCore};
use rand_chacha::ChaCha8Rng;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use traffic::SessionRecord;
use wire::ethernet::{self, Mac};
use wire::gtpu::{self, Message};
use wire::icmp::Echo;
use wire::{arp, ipv4, ipv6, ndp, udp};

/// The UPF's addresses.
pub(super) const N3: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 1);
pub(super) const N6: Ipv4Addr = Ipv4Addr::new(10, 6, 0, 1);
pub(super) const N6_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 6, 0, 0, 0, 0, 1);
pub(super) const SERVER_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 6, 0, 0, 0, 0, 2);
/// UDP port that the firewall denies, in both versions of IP.
pub(super) const DENIED_PORT: u16 = 9999;
/// One beside it, which it does not.
pub(super) const PERMITTED_PORT: u16 = 9998;
/// Bytes behind a padded packet's end.
pub(super) const PADDING: usize = 1300;
const STRANGER: Ipv4Addr = Ipv4Addr::new(10, 3, 0, 66);
const STRANGER_MAC: Mac = Mac([2, 0x66, 0x66, 0x66, 0x66, 0x66]);

/// What frames are made with.
#[derive(Clone)]
pub(super) struct Scene {
    /// The UPF's MAC address on the attacker's link.
    pub upf_mac: Mac,
    /// The attacker's own.
    pub own_mac: Mac,
    /// Honest users.
    pub honest: Vec<SessionRecord>,
    /// Users of the attacker's, with and without a rate.
    pub hostile: SessionRecord,
    pub rated: SessionRecord,
}

/// Appends frame `n` of an attack.
pub(super) type Make = fn(&Scene, &mut ChaCha8Rng, u64, &mut Vec<u8>);

impl Scene {
    fn ethernet(&self, ethertype: u16, out: &mut Vec<u8>) {
        ethernet::Repr { dst: self.upf_mac, src: self.own_mac, ethertype }.emit(out);
    }

    fn ipv4(&self, src: Ipv4Addr, dst: Ipv4Addr, protocol: u8, payload: &[u8], out: &mut Vec<u8>) {
        self.ethernet(ethernet::IPV4, out);
        ipv4::Repr { src, dst, protocol, tos: 0, ttl: 64, payload_len: payload.len() }.emit(out);
        out.extend_from_slice(payload);
    }

    /// To the UPF's tunnel endpoint.
    fn gtpu(&self, src: Ipv4Addr, message: &[u8], out: &mut Vec<u8>) {
        self.ethernet(ethernet::IPV4, out);
        ipv4::Repr { src, dst: N3, protocol: ipv4::UDP, tos: 0, ttl: 64, payload_len: udp::HEADER_LEN + message.len() }.emit(out);
        udp::Repr { src_port: gtpu::PORT, dst_port: gtpu::PORT }.emit_ipv4(src, N3, message, out);
    }

    /// A packet by the tunnel of a user.
    fn uplink(&self, user: &SessionRecord, packet: &[u8], out: &mut Vec<u8>) {
        self.gtpu(GNB, &tunnelled(user, packet), out);
    }

    fn one(&self, n: u64) -> &SessionRecord {
        &self.honest[n as usize % self.honest.len()]
    }
}

fn ue(user: &SessionRecord) -> Ipv4Addr {
    user.ue_ipv4.unwrap_or(Ipv4Addr::UNSPECIFIED)
}

fn ue_v6(user: &SessionRecord) -> Ipv6Addr {
    user.ue_ipv6_address().unwrap_or(Ipv6Addr::UNSPECIFIED)
}

fn random(rng: &mut ChaCha8Rng, most: usize) -> Vec<u8> {
    let mut bytes = vec![0; rng.random_range(0..=most)];
    rng.fill_bytes(&mut bytes);
    bytes
}

fn message(teid: u32, message: Message<'_>) -> Vec<u8> {
    let mut out = Vec::new();
    gtpu::Repr::new(teid, Some(0), message).emit(&mut out);
    out
}

/// An IPv4 address, of a network's, by number.
fn host(network: [u8; 2], n: u64) -> Ipv4Addr {
    let [c, d] = ((n % 65_534 + 1) as u16).to_be_bytes();
    Ipv4Addr::new(network[0], network[1], c, d)
}

pub(super) fn random_frames(scene: &Scene, rng: &mut ChaCha8Rng, n: u64, out: &mut Vec<u8>) {
    let ethertype = [ethernet::IPV4, ethernet::IPV6, ethernet::ARP, 0x8100, 0x88cc][n as usize % 5];
    scene.ethernet(ethertype, out);
    out.extend(random(rng, 1500));
}

/// Right in IPv4 and UDP, random in GTP-U.
pub(super) fn random_gtpu(scene: &Scene, rng: &mut ChaCha8Rng, _: u64, out: &mut Vec<u8>) {
    scene.gtpu(GNB, &random(rng, 1400), out);
}

/// Of a user's tunnel, right but for some octets.
pub(super) fn mutated_gtpu(scene: &Scene, rng: &mut ChaCha8Rng, n: u64, out: &mut Vec<u8>) {
    let user = &scene.hostile;
    let mut message = tunnelled(user, &datagram((ue(user), 1), (SERVER, 9), &random(rng, 200)));
    for _ in 0..=n % 4 {
        let at = rng.random_range(0..message.len().min(48));
        message[at] = rng.random();
    }
    scene.gtpu(GNB, &message, out);
}

pub(super) fn gtpu_lengths(scene: &Scene, rng: &mut ChaCha8Rng, _: u64, out: &mut Vec<u8>) {
    let user = &scene.hostile;
    let mut message = tunnelled(user, &datagram((ue(user), 1), (SERVER, 9), &[0; 40]));
    message[2..4].copy_from_slice(&rng.random::<u16>().to_be_bytes());
    scene.gtpu(GNB, &message, out);
}

/// As many extension headers as a frame holds, of lengths that are right, 0 and beyond the end.
pub(super) fn gtpu_extensions(scene: &Scene, _: &mut ChaCha8Rng, n: u64, out: &mut Vec<u8>) {
    let mut message = vec![0x34, gtpu::message_type::G_PDU, 0, 0];
    message.extend(scene.hostile.uplink.teid.to_be_bytes());
    message.extend([0, 0, 0, 0x40]);
    let unit = [[1, 0, 0, 0x40], [0, 0, 0, 0x40], [255, 0, 0, 0x40], [1, 0, 0, 0xc0]][n as usize % 4];
    (0..340).for_each(|_| message.extend(unit));
    let length = (message.len() - 8) as u16;
    message[2..4].copy_from_slice(&length.to_be_bytes());
    scene.gtpu(GNB, &message, out);
}

pub(super) fn unknown_teids(scene: &Scene, rng: &mut ChaCha8Rng, _: u64, out: &mut Vec<u8>) {
    let mut user = scene.hostile.clone();
    user.uplink.teid = rng.random();
    scene.uplink(&user, &datagram((ue(&user), 1), (SERVER, 9), &[0; 40]), out);
}

/// By the attacker's tunnel, from an honest user's address.
pub(super) fn spoofed_users(scene: &Scene, _: &mut ChaCha8Rng, n: u64, out: &mut Vec<u8>) {
    scene.uplink(&scene.hostile, &datagram((ue(scene.one(n)), 1), (SERVER, 9), &[0; 40]), out);
}

/// From and to addresses that must never be on a wire (RFC 1122 §3.2.1.3, RFC 6890), and to our own, inside.
pub(super) fn martians_inside(scene: &Scene, _: &mut ChaCha8Rng, n: u64, out: &mut Vec<u8>) {
    let own = ue(&scene.hostile);
    let martians = [[127, 0, 0, 1], [224, 0, 0, 1], [0, 0, 0, 0], [255, 255, 255, 255], [239, 1, 2, 3], [240, 0, 0, 1]].map(Ipv4Addr::from);
    let martian = martians[n as usize % martians.len()];
    let (src, dst) = if n.is_multiple_of(2) { (own, martian) } else { (martian, SERVER) };
    scene.uplink(&scene.hostile, &datagram((src, 1), (dst, 9), &[0; 40]), out);
}

/// Tunnels from such addresses.
pub(super) fn martians_outside(scene: &Scene, _: &mut ChaCha8Rng, n: u64, out: &mut Vec<u8>) {
    let sources = [[127, 0, 0, 1], [224, 0, 0, 1], [0, 0, 0, 0], [255, 255, 255, 255], [10, 3, 0, 1]].map(Ipv4Addr::from);
    let user = &scene.hostile;
    scene.gtpu(sources[n as usize % sources.len()], &tunnelled(user, &datagram((ue(user), 1), (SERVER, 9), &[0; 40])), out);
}

/// Loose source route (RFC 791) and routing header of type 0 (RFC 5095).
pub(super) fn source_routes(scene: &Scene, _: &mut ChaCha8Rng, n: u64, out: &mut Vec<u8>) {
    let user = &scene.hostile;
    let packet = if n.is_multiple_of(2) {
        let mut packet = datagram((ue(user), 1), (SERVER, 9), &[0; 40]);
        packet.splice(20..20, [131, 7, 4, 10, 45, 0, 2, 0]);
        packet[0] = 0x47;
        let length = packet.len() as u16;
        packet[2..4].copy_from_slice(&length.to_be_bytes());
        packet[10..12].fill(0);
        let sum = wire::checksum::finish(wire::checksum::sum(&packet[..28]));
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
        packet
    } else {
        let mut header = vec![17, 2, 0, 1, 0, 0, 0, 0];
        header.extend(ue_v6(scene.one(n)).octets());
        behind(user, 43, &header, PERMITTED_PORT)
    };
    scene.uplink(user, &packet, out);
}

/// An IPv6 packet with an extension header, UDP behind it.
fn behind(user: &SessionRecord, next_header: u8, header: &[u8], port: u16) -> Vec<u8> {
    let udp = [&[0, 1][..], &port.to_be_bytes(), &[0, 12, 0, 0, 1, 2, 3, 4]].concat();
    let (src, dst) = (ue_v6(user), SERVER_V6);
    let mut udp = udp;
    let sum = wire::checksum::finish(wire::checksum::pseudo_ipv6(src, dst, ipv4::UDP, udp.len()) + wire::checksum::sum(&udp));
    udp[6..8].copy_from_slice(&sum.to_be_bytes());
    let mut packet = Vec::new();
    let payload_len = header.len() + udp.len();
    ipv6::Repr { src, dst, next_header, traffic_class: 0, hop_limit: 64, payload_len }.emit(&mut packet);
    packet.extend_from_slice(header);
    packet.extend(udp);
    packet
}

/// To a port that the firewall denies, behind extension headers: hop-by-hop, destination options, an atomic fragment, all of them.
pub(super) fn denied_behind_headers(scene: &Scene, _: &mut ChaCha8Rng, n: u64, out: &mut Vec<u8>) {
    let padding = [1, 4, 0, 0, 0, 0];
    let packet = match n % 4 {
        0 => behind(&scene.hostile, 0, &[&[17, 0][..], &padding].concat(), DENIED_PORT),
        1 => behind(&scene.hostile, 60, &[&[17, 0][..], &padding].concat(), DENIED_PORT),
        2 => behind(&scene.hostile, 44, &[17, 0, 0, 0, 0, 0, 0, 9], DENIED_PORT),
        _ => behind(&scene.hostile, 0, &[&[60, 0][..], &padding, &[44, 0], &padding, &[17, 0, 0, 0, 0, 0, 0, 9]].concat(), DENIED_PORT),
    };
    scene.uplink(&scene.hostile, &packet, out);
}

/// To the port beside it, without any: the firewall lets it pass.
pub(super) fn permitted(scene: &Scene, _: &mut ChaCha8Rng, _: u64, out: &mut Vec<u8>) {
    let mut packet = behind(&scene.hostile, ipv4::UDP, &[], PERMITTED_PORT);
    std::mem::swap(&mut packet, out);
    let mut frame = Vec::new();
    scene.uplink(&scene.hostile, out, &mut frame);
    *out = frame;
}

/// Of a user with a rate: small packets with much behind their end.
pub(super) fn padded(scene: &Scene, _: &mut ChaCha8Rng, _: u64, out: &mut Vec<u8>) {
    let mut packet = datagram((ue(&scene.rated), 1), (SERVER, 9), &[]);
    packet.extend([0; PADDING]);
    scene.uplink(&scene.rated, &packet, out);
}

/// Fragments of tunnels, and tunnels of fragments.
pub(super) fn fragments(scene: &Scene, rng: &mut ChaCha8Rng, n: u64, out: &mut Vec<u8>) {
    let cut = |packet: &mut [u8], offset: u16| {
        packet[6..8].copy_from_slice(&(0x2000 | offset & 0x1fff).to_be_bytes());
        packet[10..12].fill(0);
        let sum = wire::checksum::finish(wire::checksum::sum(&packet[..20]));
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
    };
    let mut inner = datagram((ue(&scene.hostile), 1), (SERVER, 9), &[0; 40]);
    if n.is_multiple_of(2) {
        cut(&mut inner, rng.random());
        scene.uplink(&scene.hostile, &inner, out);
    } else {
        scene.uplink(&scene.hostile, &inner, out);
        cut(&mut out[14..], rng.random());
    }
}

pub(super) fn gtpu_echoes(scene: &Scene, _: &mut ChaCha8Rng, _: u64, out: &mut Vec<u8>) {
    scene.gtpu(STRANGER, &message(0, Message::EchoRequest), out);
}

/// From a stranger, about the tunnels of honest users.
pub(super) fn error_indications(scene: &Scene, _: &mut ChaCha8Rng, n: u64, out: &mut Vec<u8>) {
    let teid = scene.one(n).downlink.teid;
    scene.gtpu(STRANGER, &message(0, Message::ErrorIndication { teid, peer: IpAddr::V4(GNB) }), out);
}

/// From a stranger, for honest and for unknown tunnels.
pub(super) fn end_markers(scene: &Scene, rng: &mut ChaCha8Rng, n: u64, out: &mut Vec<u8>) {
    let teid = if n.is_multiple_of(2) { scene.one(n).uplink.teid } else { rng.random() };
    scene.gtpu(STRANGER, &message(teid, Message::EndMarker), out);
}

fn arp(scene: &Scene, sender_mac: Mac, sender_ip: Ipv4Addr, target_ip: Ipv4Addr, out: &mut Vec<u8>) {
    ethernet::Repr { dst: Mac::BROADCAST, src: scene.own_mac, ethertype: ethernet::ARP }.emit(out);
    arp::Repr { operation: arp::Operation::Request, sender_mac, sender_ip, target_mac: Mac::default(), target_ip }.emit(out);
}

/// A stranger asks in the gNodeB's name.
pub(super) fn arp_spoof_gnb(scene: &Scene, _: &mut ChaCha8Rng, _: u64, out: &mut Vec<u8>) {
    arp(scene, STRANGER_MAC, GNB, N3, out);
}

/// A stranger asks in the N6 router's name.
pub(super) fn arp_spoof_router(scene: &Scene, _: &mut ChaCha8Rng, _: u64, out: &mut Vec<u8>) {
    arp(scene, STRANGER_MAC, SERVER, N6, out);
}

/// Requests from all addresses of N3's network.
pub(super) fn arp_flood(scene: &Scene, rng: &mut ChaCha8Rng, n: u64, out: &mut Vec<u8>) {
    // Not in the name of the gNodeB, whose address is the last one's.
    let sender = Ipv4Addr::new(10, 3, 0, (3 + n % 250) as u8);
    arp(scene, Mac([2, 0x66, 0, rng.random(), rng.random(), rng.random()]), sender, N3, out);
}

/// Solicitations from more addresses than any table holds.
pub(super) fn nd_flood(scene: &Scene, rng: &mut ChaCha8Rng, _: u64, out: &mut Vec<u8>) {
    let src = Ipv6Addr::new(0x2001, 0xdb8, 6, 0, 0x66, rng.random(), rng.random(), rng.random());
    let mut body = Vec::new();
    ndp::Repr::Solicitation { target: N6_V6, source: Some(scene.own_mac) }.emit(src, N6_V6, &mut body);
    scene.ethernet(ethernet::IPV6, out);
    let payload_len = body.len();
    ipv6::Repr { src, dst: N6_V6, next_header: ipv6::ICMPV6, traffic_class: 0, hop_limit: 255, payload_len }.emit(out);
    out.extend(body);
}

/// Users send to every address of N6's network: each is a neighbour to be asked for.
pub(super) fn unresolved_neighbours(scene: &Scene, rng: &mut ChaCha8Rng, n: u64, out: &mut Vec<u8>) {
    let user = &scene.hostile;
    let packet = if n.is_multiple_of(2) {
        datagram((ue(user), 1), (Ipv4Addr::new(10, 6, 0, (3 + n / 2 % 250) as u8), 9), &[0; 40])
    } else {
        let dst = Ipv6Addr::new(0x2001, 0xdb8, 6, 0, 0x77, rng.random(), rng.random(), rng.random());
        let mut packet = Vec::new();
        ipv6::Repr { src: ue_v6(user), dst, next_header: 59, traffic_class: 0, hop_limit: 64, payload_len: 0 }.emit(&mut packet);
        packet
    };
    scene.uplink(user, &packet, out);
}

/// Echo requests to the UPF, from any host on the link.
pub(super) fn icmp_echoes(scene: &Scene, _: &mut ChaCha8Rng, n: u64, out: &mut Vec<u8>) {
    let mut echo = Vec::new();
    let data = [0; 56];
    let (src, dst) = (host([10, 6], 3 + n % 250), N6);
    let request = Echo { reply: false, ident: (n as u32).to_be_bytes(), data: &data };
    request.emit(src.into(), dst.into(), &mut echo);
    scene.ipv4(src, dst, ipv4::ICMP, &echo, out);
}

fn downlink(scene: &Scene, src: Ipv4Addr, dst: Ipv4Addr, out: &mut Vec<u8>) {
    scene.ethernet(ethernet::IPV4, out);
    out.extend(datagram((src, 1), (dst, 9), &[0; 40]));
}

/// Every address that a UE may have, but the honest.
pub(super) fn scan_of_users(scene: &Scene, _: &mut ChaCha8Rng, n: u64, out: &mut Vec<u8>) {
    downlink(scene, SERVER, host([10, 45], 1000 + n % 60_000), out);
}

/// To the attacker's own user, from addresses that must never be on a wire (RFC 1812 §5.3.7).
pub(super) fn martians_to_users(scene: &Scene, _: &mut ChaCha8Rng, n: u64, out: &mut Vec<u8>) {
    let sources = [[127, 0, 0, 1], [224, 0, 0, 1], [0, 0, 0, 0], [255, 255, 255, 255], [240, 0, 0, 1]].map(Ipv4Addr::from);
    downlink(scene, sources[n as usize % sources.len()], ue(&scene.hostile), out);
}

/// To the attacker's own user, from our own address: no martian, but a forged address like any other, which a filter keeps out (RFC 1812 §5.3.8).
pub(super) fn own_source_to_users(scene: &Scene, _: &mut ChaCha8Rng, _: u64, out: &mut Vec<u8>) {
    downlink(scene, N6, ue(&scene.hostile), out);
}

/// To honest users: TTL 0 and 1, first fragments, options, tunnels within user data.
pub(super) fn odd_packets_to_users(scene: &Scene, rng: &mut ChaCha8Rng, n: u64, out: &mut Vec<u8>) {
    let user = scene.one(n);
    downlink(scene, SERVER, ue(user), out);
    let packet = &mut out[14..];
    match n % 4 {
        0 => packet[8] = 0,
        1 => packet[8] = 1,
        2 => packet[6..8].copy_from_slice(&(rng.random::<u16>() & 0x3fff).to_be_bytes()),
        _ => packet[22..24].copy_from_slice(&gtpu::PORT.to_be_bytes()),
    }
    packet[10..12].fill(0);
    let sum = wire::checksum::finish(wire::checksum::sum(&packet[..20]));
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
}

/// 64-byte packets to honest users as fast as they go: what any host of the internet may send.
pub(super) fn flood_of_users(scene: &Scene, _: &mut ChaCha8Rng, n: u64, out: &mut Vec<u8>) {
    downlink(scene, SERVER, ue(scene.one(n)), out);
}
