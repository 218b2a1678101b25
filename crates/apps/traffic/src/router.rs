//! Router solicitations and advertisements (RFC 4861 §4.1, §4.2) as whole IPv6 packets: what a UE and its SMF say to each other.

use std::net::Ipv6Addr;

use wire::{checksum, icmp, ipv6};

/// ICMPv6 types (RFC 4861 §4.1, §4.2).
const ROUTER_SOLICITATION: u8 = 133;
const ROUTER_ADVERTISEMENT: u8 = 134;
/// What neighbour discovery must come with: it shows that no router has forwarded it (RFC 4861 §6.1).
const HOP_LIMIT: u8 = 255;
/// Our link-local address in every session.
const ROUTER: Ipv6Addr = Ipv6Addr::new(0xfe80, 0, 0, 0, 0, 0, 0, 1);
/// MTU advertised to UEs (RFC 4861 §4.6.4): fits a tunnel over Ethernet.
const LINK_MTU: u32 = 1400;
/// Router lifetime, in seconds; the longest there is (RFC 4861 §6.2.1).
const LIFETIME_S: u16 = 9000;

/// Where the answer to a valid router solicitation goes (RFC 4861 §6.1.1): its sender, or all nodes.
pub(crate) fn solicitation(payload: &[u8]) -> Option<Ipv6Addr> {
    let packet = ipv6::Packet::new_checked(payload).ok()?;
    if packet.hop_limit() != HOP_LIMIT || packet.next_header() != ipv6::ICMPV6 {
        return None;
    }
    let message = icmp::Message::new_checked_v6(packet.payload(), packet.src(), packet.dst()).ok()?;
    if message.message_type() != ROUTER_SOLICITATION || message.code() != 0 || message.body().len() < 4 {
        return None;
    }
    let all_nodes = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);
    Some(if packet.src().is_unspecified() { all_nodes } else { packet.src() })
}

/// An IPv6 packet with a router advertisement (RFC 4861 §4.2) for one /64, which the UE may make its address of (A flag) and
/// has for itself (no L flag, TS 23.501 §5.8.2.2.3).
pub(crate) fn advertisement(prefix: Ipv6Addr, to: Ipv6Addr) -> Vec<u8> {
    let mut message = vec![ROUTER_ADVERTISEMENT, 0, 0, 0, 64, 0];
    message.extend(LIFETIME_S.to_be_bytes());
    message.extend([0; 8]);
    // Prefix information (§4.6.2): valid and preferred without end.
    message.extend([3, 4, 64, 0x40]);
    message.extend([0xff; 8]);
    message.extend([0; 4]);
    message.extend(prefix.octets());
    message.extend([5, 1, 0, 0]);
    message.extend(LINK_MTU.to_be_bytes());
    let pseudo = checksum::pseudo_ipv6(ROUTER, to, ipv6::ICMPV6, message.len());
    let sum = checksum::finish(pseudo + checksum::sum(&message));
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    let header =
        ipv6::Repr { src: ROUTER, dst: to, next_header: ipv6::ICMPV6, traffic_class: 0, hop_limit: HOP_LIMIT, payload_len: message.len() };
    let mut out = Vec::with_capacity(ipv6::HEADER_LEN + message.len());
    header.emit(&mut out);
    out.extend(message);
    out
}

/// An IPv6 packet with a router solicitation, as a UE sends it.
pub(crate) fn solicit(from: Ipv6Addr) -> Vec<u8> {
    let to = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 2);
    let mut message = vec![ROUTER_SOLICITATION, 0, 0, 0, 0, 0, 0, 0];
    let pseudo = checksum::pseudo_ipv6(from, to, ipv6::ICMPV6, message.len());
    let sum = checksum::finish(pseudo + checksum::sum(&message));
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    let header =
        ipv6::Repr { src: from, dst: to, next_header: ipv6::ICMPV6, traffic_class: 0, hop_limit: HOP_LIMIT, payload_len: message.len() };
    let mut out = Vec::new();
    header.emit(&mut out);
    out.extend(message);
    out
}

/// The /64 of a valid router advertisement (RFC 4861 §6.1.2).
pub(crate) fn advertised_prefix(payload: &[u8]) -> Option<Ipv6Addr> {
    let packet = ipv6::Packet::new_checked(payload).ok()?;
    let link_local = packet.src().octets()[..2] == [0xfe, 0x80];
    if packet.hop_limit() != HOP_LIMIT || packet.next_header() != ipv6::ICMPV6 || !link_local {
        return None;
    }
    let message = icmp::Message::new_checked_v6(packet.payload(), packet.src(), packet.dst()).ok()?;
    if message.message_type() != ROUTER_ADVERTISEMENT || message.code() != 0 {
        return None;
    }
    let mut options = message.body().get(12..)?;
    while let [kind, units, ..] = *options {
        let length = usize::from(units) * 8;
        let option = options.get(..length).filter(|option| !option.is_empty())?;
        if let (3, 32, 64) = (kind, length, option[2]) {
            let mut prefix = [0; 16];
            prefix[..8].copy_from_slice(&option[16..24]);
            return Some(prefix.into());
        }
        options = &options[length..];
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn solicitations_and_advertisements_fit_together() {
        let ue: Ipv6Addr = "fe80::7".parse().unwrap();
        let prefix: Ipv6Addr = "2001:db8:45:9::".parse().unwrap();
        assert_eq!(solicitation(&solicit(ue)), Some(ue));
        assert_eq!(solicitation(&solicit(Ipv6Addr::UNSPECIFIED)).unwrap().to_string(), "ff02::1");
        let advertisement = advertisement(prefix, ue);
        assert_eq!(advertised_prefix(&advertisement), Some(prefix));
        assert_eq!(advertisement[7], 255);
    }

    #[test]
    fn altered_messages_are_refused() {
        let ue: Ipv6Addr = "fe80::7".parse().unwrap();
        let (asked, told) = (solicit(ue), advertisement("2001:db8::".parse().unwrap(), ue));
        for i in 0..asked.len() {
            let mut asked = asked.clone();
            asked[i] ^= 0x81;
            // The flow label and traffic class are covered by nothing.
            if !(i < 4 && solicitation(&asked).is_some()) {
                assert_eq!(solicitation(&asked), None, "byte {i}");
            }
            assert_eq!(solicitation(&asked[..i]), None);
        }
        for i in 4..told.len() {
            let mut told = told.clone();
            told[i] ^= 0x81;
            assert_eq!(advertised_prefix(&told), None, "byte {i}");
            assert_eq!(advertised_prefix(&told[..i]), None);
        }
    }
}
