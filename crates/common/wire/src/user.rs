//! Where in a frame is the user's packet, and what does it say of congestion? For those who look before or behind the program that parses it.
//!
//! Not here: frames inside VXLAN, whose outer header alone is seen.

use crate::{checksum, ethernet, gtpu, ipv4, ipv6, udp, vxlan};

/// The user's IP packet: inside GTP-U if the frame is a G-PDU (TS 29.281 §5.1, §6.1), else the frame's own. `None` for anything else, and for what is too
/// short or malformed.
pub fn packet(frame: &[u8]) -> Option<&[u8]> {
    let frame = ethernet::Frame::new_checked(frame).ok()?;
    match frame.ethertype() {
        ethernet::IPV4 => {
            let packet = ipv4::Packet::new_checked(frame.payload()).ok()?;
            Some(tunnelled(&packet).unwrap_or(frame.payload()))
        }
        ethernet::IPV6 => Some(frame.payload()),
        _ => None,
    }
}

fn tunnelled<'a>(outer: &ipv4::Packet<'a>) -> Option<&'a [u8]> {
    let datagram = datagram(outer)?;
    if datagram.dst_port() != gtpu::PORT {
        return None;
    }
    let message = gtpu::Packet::new_checked(datagram.payload()).ok()?;
    (message.message_type() == gtpu::message_type::G_PDU).then(|| message.payload())
}

fn datagram<'a>(packet: &ipv4::Packet<'a>) -> Option<udp::Datagram<'a>> {
    if packet.is_fragment() || packet.protocol() != ipv4::UDP {
        return None;
    }
    udp::Datagram::new_checked(packet.payload()).ok()
}

/// What a frame says of the treatment that it is to get.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Class {
    /// DSCP of the frame's own IP header (RFC 2474 §3): of a tunnel's, where there is one.
    pub dscp: Option<u8>,
    /// QFI of the PDU session container (TS 38.415 §5.5.3.3) of a G-PDU.
    pub qfi: Option<u8>,
}

/// The class of a frame; nothing of what is malformed.
pub fn class(frame: &[u8]) -> Class {
    let Ok(frame) = ethernet::Frame::new_checked(frame) else { return Class::default() };
    match frame.ethertype() {
        ethernet::IPV4 => {
            let Ok(packet) = ipv4::Packet::new_checked(frame.payload()) else { return Class::default() };
            Class { dscp: Some(packet.tos() >> 2), qfi: qfi(&packet) }
        }
        ethernet::IPV6 => {
            let dscp = ipv6::Packet::new_checked(frame.payload()).ok().map(|packet| packet.traffic_class() >> 2);
            Class { dscp, qfi: None }
        }
        _ => Class::default(),
    }
}

fn qfi(outer: &ipv4::Packet<'_>) -> Option<u8> {
    let datagram = datagram(outer).filter(|datagram| datagram.dst_port() == gtpu::PORT)?;
    let message = gtpu::Packet::new_checked(datagram.payload()).ok()?;
    let (_, content) = message.extensions().map_while(Result::ok).find(|(kind, _)| *kind == gtpu::extension_type::PDU_SESSION_CONTAINER)?;
    gtpu::SessionContainer::parse(content).ok().map(|container| container.qfi())
}

/// A hash of the user's packet that all packets of a connection have alike: of protocol, addresses and, of TCP, UDP and SCTP, ports. A fragment's ports are not
/// looked at (RFC 8200 §4.5): only its first has any. 0 for what is no IP packet.
pub fn connection(frame: &[u8]) -> u32 {
    let Some(user) = packet(frame) else { return 0 };
    let (protocol, addresses, payload) = match user.first().map(|byte| byte >> 4) {
        Some(4) => {
            let Ok(packet) = ipv4::Packet::new_checked(user) else { return 0 };
            (packet.protocol(), &user[12..20], if packet.is_fragment() { &[] } else { packet.payload() })
        }
        // Behind extension headers no ports are looked for.
        Some(6) => {
            let Ok(packet) = ipv6::Packet::new_checked(user) else { return 0 };
            (packet.next_header(), &user[8..40], packet.payload())
        }
        _ => return 0,
    };
    // TCP, UDP, SCTP.
    let ports = if matches!(protocol, 6 | 17 | 132) { payload.get(..4).unwrap_or_default() } else { &[] };
    let words = addresses.as_chunks().0.iter().chain(ports.as_chunks().0).map(|word| u64::from(u32::from_be_bytes(*word)));
    // Each word is multiplied in turn, so that both directions and neighbouring addresses differ; the upper bits have all of it.
    let hash = words.fold(u64::from(protocol), |hash, word| (hash ^ word).wrapping_mul(0x9e37_79b9_7f4a_7c15).rotate_left(29));
    (hash.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 32) as u32
}

/// Congestion experienced (RFC 3168 §5).
const CE: u8 = 3;

/// Whether the user's packet may be marked instead of dropped: ECT(0) or ECT(1) (RFC 3168 §5). Not of VXLAN, whose receiver would not see the mark.
pub fn takes_marks(frame: &[u8]) -> bool {
    let Some(user) = packet(frame) else { return false };
    let overlay = |p: &ipv4::Packet<'_>| datagram(p).is_some_and(|d| d.dst_port() == vxlan::PORT);
    let field = match user.first().map(|byte| byte >> 4) {
        Some(4) => ipv4::Packet::new_checked(user).ok().filter(|p| !overlay(p)).map(|p| p.tos()),
        Some(6) => ipv6::Packet::new_checked(user).ok().map(|p| p.traffic_class()),
        _ => None,
    };
    field.is_some_and(|field| field & CE != 0)
}

/// Marks the user's packet as having met congestion, if it [takes marks](takes_marks). The checksum of a tunnel's UDP header around it becomes 0, none.
pub fn mark(frame: &mut [u8]) {
    if !takes_marks(frame) {
        return;
    }
    let Some(at) = packet(frame).map(|user| user.as_ptr().addr() - frame.as_ptr().addr()) else { return };
    if at > ethernet::HEADER_LEN {
        // In a tunnel: behind the outer IPv4 header is UDP, whose checksum covers what changes.
        let udp = ethernet::HEADER_LEN + usize::from(frame[ethernet::HEADER_LEN] & 0xf) * 4;
        frame[udp + 6..udp + 8].fill(0);
    }
    if frame[at] >> 4 == 6 {
        frame[at + 1] |= CE << 4;
        return;
    }
    frame[at + 1] |= CE;
    let header = &mut frame[at..];
    let length = usize::from(header[0] & 0xf) * 4;
    header[10..12].fill(0);
    let sum = checksum::finish(checksum::sum(&header[..length]));
    header[10..12].copy_from_slice(&sum.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(ethertype: u16, packet: &[u8]) -> Vec<u8> {
        [&[0; 12][..], &ethertype.to_be_bytes(), packet].concat()
    }

    fn v4(tos: u8, protocol: u8, payload: &[u8]) -> Vec<u8> {
        let mut h = vec![0x45, tos, 0, 0, 0, 0, 0, 0, 64, protocol];
        h.resize(20, 0);
        h[2..4].copy_from_slice(&((20 + payload.len()) as u16).to_be_bytes());
        let sum = checksum::finish(checksum::sum(&h));
        h[10..12].copy_from_slice(&sum.to_be_bytes());
        [h, payload.to_vec()].concat()
    }

    fn v6(class: u8) -> Vec<u8> {
        let mut h = vec![0x60 | class >> 4, class << 4, 0, 0, 0, 4, 59, 64];
        h.resize(44, 1);
        h
    }

    fn udp(port: u16, payload: &[u8]) -> Vec<u8> {
        let length = (8 + payload.len()) as u16;
        [&[8, 104][..], &port.to_be_bytes(), &length.to_be_bytes(), &[0xab, 0xcd], payload].concat()
    }

    fn tunnel(user: &[u8]) -> Vec<u8> {
        let mut gtpu = vec![0x30, 255, 0, user.len() as u8, 0, 0, 0, 1];
        gtpu.extend(user);
        frame(0x0800, &v4(2, 17, &udp(gtpu::PORT, &gtpu)))
    }

    #[test]
    fn the_users_header_alone_is_marked_and_its_checksum_holds() {
        for ect in [1, 2, 3] {
            for user in [v4(0xb8 | ect, 6, &[7; 9]), v6(0xb8 | ect)] {
                let v6 = user[0] >> 4 == 6;
                for before in [frame(if v6 { 0x86dd } else { 0x0800 }, &user), tunnel(&user)] {
                    let mut after = before.clone();
                    assert!(takes_marks(&before));
                    mark(&mut after);
                    let marked = packet(&after).unwrap();
                    let class = if v6 {
                        ipv6::Packet::new_checked(marked).unwrap().traffic_class()
                    } else {
                        ipv4::Packet::new_checked(marked).unwrap().tos()
                    };
                    assert_eq!(class, 0xbb);
                    let at = before.len() - user.len();
                    let changed: Vec<usize> = (0..before.len()).filter(|i| before[*i] != after[*i]).collect();
                    let allowed = |i: &usize| [at + 1, at + 10, at + 11].contains(i) || at > 14 && [14 + 26, 14 + 27].contains(i);
                    assert!(changed.iter().all(allowed), "{changed:?} of a packet at {at}");
                }
            }
        }
    }

    #[test]
    fn the_class_is_that_of_the_frames_own_header_and_of_its_qos_flow() {
        let of = |dscp, qfi| Class { dscp, qfi };
        assert_eq!(class(&frame(0x0800, &v4(0xb8 | 2, 6, &[1]))), of(Some(46), None));
        assert_eq!(class(&frame(0x86dd, &v6(0x28))), of(Some(10), None));
        assert_eq!(class(&tunnel(&v4(0xb8, 6, &[1]))), of(Some(0), None), "not the user's");
        let mut message = Vec::new();
        let container = gtpu::SessionContainer::Downlink { qfi: 9, rqi: true, ppi: Some(3) };
        gtpu::Repr::g_pdu(1, Some(container), &v4(0, 6, &[1])).emit(&mut message);
        let whole = frame(0x0800, &v4(0x88, 17, &udp(gtpu::PORT, &message)));
        assert_eq!(class(&whole), of(Some(34), Some(9)));
        for length in 0..whole.len() {
            assert!(matches!(class(&whole[..length]), Class { dscp: None | Some(34), qfi: None }));
        }
    }

    #[test]
    fn packets_of_a_connection_have_one_hash_in_a_tunnel_and_outside_and_those_of_others_another() {
        let ports = |n: u16| [&n.to_be_bytes()[..], &[1, 187], &[9; 20]].concat();
        let of_v6 = |n: u16| {
            let mut packet = v6(0);
            packet.truncate(40);
            (packet[5], packet[6]) = (24, 17);
            [packet, ports(n)].concat()
        };
        let mut seen = std::collections::BTreeSet::new();
        for n in 0..100 {
            for (ethertype, user, marked) in [
                (0x0800, v4(0, 6, &ports(n)), v4(3, 6, &ports(n))),
                (0x0800, v4(0, 17, &ports(n)), v4(1, 17, &ports(n))),
                (0x86dd, of_v6(n), of_v6(n)),
            ] {
                let hash = connection(&frame(ethertype, &user));
                assert_eq!((connection(&tunnel(&user)), connection(&frame(ethertype, &marked))), (hash, hash));
                assert!(seen.insert(hash), "{n}");
            }
        }
        // As queues take them: by the remainder.
        let mut queues = [0; 16];
        seen.iter().for_each(|hash| queues[*hash as usize % 16] += 1);
        assert!(queues.iter().all(|n| (5..50).contains(n)), "{queues:?}");
        // No ports: ICMP, ESP, what is cut short; and fragments, which must follow each other.
        assert_eq!(connection(&frame(0x0800, &v4(0, 1, &ports(1)))), connection(&frame(0x0800, &v4(0, 1, &ports(2)))));
        assert_eq!(connection(&frame(0x0800, &v4(0, 17, &[1]))), connection(&frame(0x0800, &v4(0, 17, &[]))));
        let fragment = |n, offset: u16| {
            let mut packet = v4(0, 17, &ports(n));
            packet[6..8].copy_from_slice(&(0x2000 | offset).to_be_bytes());
            packet[10..12].fill(0);
            let sum = checksum::finish(checksum::sum(&packet[..20]));
            packet[10..12].copy_from_slice(&sum.to_be_bytes());
            packet
        };
        let [first, second] = [(1, 0), (2, 100)].map(|(n, offset)| connection(&frame(0x0800, &fragment(n, offset))));
        assert_eq!(first, second);
        assert_eq!(connection(&frame(0x0806, &[0; 28])), 0);
    }

    #[test]
    fn what_does_not_understand_marks_stays_as_it_is() {
        let overlay = v4(2, 17, &udp(vxlan::PORT, &[8; 60]));
        for before in
            [frame(0x0800, &v4(0xb8, 6, &[1])), tunnel(&v4(0, 6, &[1])), frame(0x86dd, &v6(0)), frame(0x0800, &overlay), vec![1; 60]]
        {
            let mut after = before.clone();
            mark(&mut after);
            assert!(!takes_marks(&before) && before == after);
        }
    }

    #[test]
    fn nothing_is_found_beyond_the_end_of_what_is_cut_or_random() {
        let whole = tunnel(&v4(1, 6, &[1; 30]));
        for cut in 0..whole.len() {
            let mut part = whole[..cut].to_vec();
            mark(&mut part);
            connection(&part);
        }
        for seed in 0..5000u32 {
            let mut bytes = whole.clone();
            let (at, value) = (seed as usize * 31 % bytes.len(), (seed.wrapping_mul(2_654_435_761) >> 24) as u8);
            bytes[at] = value;
            mark(&mut bytes);
            connection(&bytes);
            assert_eq!(bytes.len(), whole.len());
        }
    }
}
