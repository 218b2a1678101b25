//! The frames that the host sends: requests to neighbours, and replies.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use wire::ethernet::{self, Mac};
use wire::icmp::{Echo, Problem};
use wire::{arp, gtpu, ipv4, ipv6, ndp, udp};

use crate::config;
use crate::hops::HostPort;
use crate::host::Action;

/// Hop limit of our own packets.
const TTL: u8 = 64;

/// Asks for a neighbour's MAC address: everybody, or, to confirm it, only `mac`. Nothing if we have no address to ask from.
pub(crate) fn ask(port: &HostPort, ip: IpAddr, mac: Option<Mac>) -> Option<Action> {
    let mut frame = Vec::new();
    match ip {
        IpAddr::V4(target_ip) => {
            let source = source_for(port, ip);
            let sender_ip = match source {
                Some(IpAddr::V4(ip)) => ip,
                _ => Ipv4Addr::UNSPECIFIED,
            };
            let dst = mac.unwrap_or(Mac::BROADCAST);
            ethernet::Repr { dst, src: port.mac, ethertype: ethernet::ARP }.emit(&mut frame);
            let operation = arp::Operation::Request;
            arp::Repr { operation, sender_mac: port.mac, sender_ip, target_mac: Mac::default(), target_ip }.emit(&mut frame);
        }
        IpAddr::V6(target) => {
            let source = match source_for(port, ip) {
                Some(IpAddr::V6(ip)) => ip,
                _ => port.link_local?,
            };
            let destination = if mac.is_some() { target } else { ipv6::solicited_node(target) };
            let dst = mac.unwrap_or(Mac::ipv6_multicast(destination));
            let solicitation = ndp::Repr::Solicitation { target, source: Some(port.mac) };
            frame = neighbour_frame(port.mac, dst, source, destination, &solicitation);
        }
    }
    Some(Action::Transmit { port: port.id, frame })
}

/// Our address on the network of `ip`, else any of that version.
pub(crate) fn source_for(port: &HostPort, ip: IpAddr) -> Option<IpAddr> {
    let of_version = || port.addresses.iter().filter(|(own, _)| own.is_ipv4() == ip.is_ipv4());
    of_version().find(|a| config::contains(**a, ip)).or_else(|| of_version().next()).map(|(own, _)| *own)
}

/// Answers an ARP request.
pub(crate) fn arp_reply(port: &HostPort, request: &arp::Repr) -> Vec<u8> {
    let mut frame = Vec::new();
    ethernet::Repr { dst: request.sender_mac, src: port.mac, ethertype: ethernet::ARP }.emit(&mut frame);
    let reply = arp::Repr {
        operation: arp::Operation::Reply,
        sender_mac: port.mac,
        sender_ip: request.target_ip,
        target_mac: request.sender_mac,
        target_ip: request.sender_ip,
    };
    reply.emit(&mut frame);
    frame
}

/// Answers a neighbour solicitation (RFC 4861 §7.2.4); one from the unspecified address to all nodes.
pub(crate) fn advertisement(port: &HostPort, target: Ipv6Addr, asker: Ipv6Addr, asker_mac: Mac) -> Vec<u8> {
    let solicited = !asker.is_unspecified();
    let destination = if solicited { asker } else { ipv6::ALL_NODES };
    let dst = if solicited { asker_mac } else { Mac::ipv6_multicast(destination) };
    let advertisement = ndp::Repr::Advertisement { target, mac: Some(port.mac), solicited, router: true, override_known: true };
    neighbour_frame(port.mac, dst, target, destination, &advertisement)
}

/// Tells a port's network that an address is here: an ARP announcement (RFC 5227 §2.3), or an unsolicited advertisement (RFC 4861 §7.2.6).
pub(crate) fn announcement(port: &HostPort, own: IpAddr) -> Vec<u8> {
    match own {
        IpAddr::V4(own) => {
            let mut frame = Vec::new();
            ethernet::Repr { dst: Mac::BROADCAST, src: port.mac, ethertype: ethernet::ARP }.emit(&mut frame);
            let (operation, target_mac) = (arp::Operation::Request, Mac::default());
            arp::Repr { operation, sender_mac: port.mac, sender_ip: own, target_mac, target_ip: own }.emit(&mut frame);
            frame
        }
        IpAddr::V6(own) => advertisement(port, own, Ipv6Addr::UNSPECIFIED, Mac::default()),
    }
}

fn neighbour_frame(src_mac: Mac, dst_mac: Mac, src: Ipv6Addr, dst: Ipv6Addr, message: &ndp::Repr) -> Vec<u8> {
    let mut body = Vec::new();
    message.emit(src, dst, &mut body);
    let mut frame = Vec::new();
    ethernet::Repr { dst: dst_mac, src: src_mac, ethertype: ethernet::IPV6 }.emit(&mut frame);
    // RFC 4861 §7.1: 255 proves that no router was between.
    let payload_len = body.len();
    ipv6::Repr { src, dst, next_header: ipv6::ICMPV6, traffic_class: 0, hop_limit: 255, payload_len }.emit(&mut frame);
    frame.extend_from_slice(&body);
    frame
}

/// Answers an echo request that went from `src` to `dst`; both are of one IP version.
pub(crate) fn echo_reply(src_mac: Mac, dst_mac: Mac, src: IpAddr, dst: IpAddr, request: &Echo<'_>) -> Vec<u8> {
    let mut frame = Vec::new();
    let echo = Echo { reply: true, ..*request };
    let payload_len = echo.buffer_len();
    match (src, dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            ethernet::Repr { dst: dst_mac, src: src_mac, ethertype: ethernet::IPV4 }.emit(&mut frame);
            ipv4::Repr { src: dst, dst: src, protocol: ipv4::ICMP, tos: 0, ttl: TTL, payload_len }.emit(&mut frame);
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            ethernet::Repr { dst: dst_mac, src: src_mac, ethertype: ethernet::IPV6 }.emit(&mut frame);
            let next_header = ipv6::ICMPV6;
            ipv6::Repr { src: dst, dst: src, next_header, traffic_class: 0, hop_limit: TTL, payload_len }.emit(&mut frame);
        }
        _ => return frame,
    }
    echo.emit(dst, src, &mut frame);
    frame
}

/// Tells the sender of a packet why it was not sent on; all addresses are of one IP version.
pub(crate) fn problem(src_mac: Mac, dst_mac: Mac, src: IpAddr, dst: IpAddr, problem: Problem, about: &[u8]) -> Vec<u8> {
    /// RFC 1812 §4.3.2.5: internetwork control.
    const TOS: u8 = 0xc0;
    let mut frame = Vec::new();
    let payload_len = problem.buffer_len(about, src.is_ipv6());
    match (src, dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            ethernet::Repr { dst: dst_mac, src: src_mac, ethertype: ethernet::IPV4 }.emit(&mut frame);
            ipv4::Repr { src, dst, protocol: ipv4::ICMP, tos: TOS, ttl: TTL, payload_len }.emit(&mut frame);
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            ethernet::Repr { dst: dst_mac, src: src_mac, ethertype: ethernet::IPV6 }.emit(&mut frame);
            let next_header = ipv6::ICMPV6;
            ipv6::Repr { src, dst, next_header, traffic_class: TOS, hop_limit: TTL, payload_len }.emit(&mut frame);
        }
        _ => return frame,
    }
    problem.emit(src, dst, about, &mut frame);
    frame
}

/// A GTP-U message from port 2152 of an endpoint of ours.
pub(crate) fn gtpu_frame(macs: (Mac, Mac), src: Ipv4Addr, dst: Ipv4Addr, dst_port: u16, message: &gtpu::Repr<'_>) -> Vec<u8> {
    let mut payload = Vec::new();
    message.emit(&mut payload);
    let mut frame = Vec::new();
    let (src_mac, dst_mac) = macs;
    ethernet::Repr { dst: dst_mac, src: src_mac, ethertype: ethernet::IPV4 }.emit(&mut frame);
    let payload_len = udp::HEADER_LEN + payload.len();
    ipv4::Repr { src, dst, protocol: ipv4::UDP, tos: 0, ttl: TTL, payload_len }.emit(&mut frame);
    udp::Repr { src_port: gtpu::PORT, dst_port }.emit_ipv4(src, dst, &payload, &mut frame);
    frame
}
