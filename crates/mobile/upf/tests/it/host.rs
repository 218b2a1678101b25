//! The host, frame by frame.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use base::PortId;
use program::Op;
use rand::{Rng, RngCore};
use upf::host::{Action, Host};
use upf::ids::{Ids, Reasons};
use wire::ethernet::{self, Frame, Mac};
use wire::gtpu::{self, Message};
use wire::icmp::Echo;
use wire::{arp, ipv4, ipv6, ndp, udp};

use crate::sessions::{GNB, N3, UE, network};

const N3_PORT: PortId = PortId(0);
const N6_PORT: PortId = PortId(128);
const N3_MAC: Mac = Mac([2, 0, 0, 0, 0, 3]);
const N6_MAC: Mac = Mac([2, 0, 0, 0, 0, 6]);
const PEER_MAC: Mac = Mac([2, 0, 0, 0, 0, 0x50]);
const ROUTER: Ipv4Addr = Ipv4Addr::new(10, 0, 6, 254);

fn s(seconds: u64) -> Duration {
    Duration::from_secs(seconds)
}

pub(crate) fn host() -> (Host, Reasons) {
    let ids = Ids::bind(&crate::program::upf(64)).unwrap();
    (Host::new(&network(), &ids), ids.reasons)
}

pub(crate) fn arp_reply(sender_mac: Mac, sender_ip: Ipv4Addr, target_mac: Mac, target_ip: Ipv4Addr) -> Vec<u8> {
    arp_frame(arp::Repr { operation: arp::Operation::Reply, sender_mac, sender_ip, target_mac, target_ip })
}

pub(crate) fn arp_request(sender_ip: Ipv4Addr, target_ip: Ipv4Addr) -> Vec<u8> {
    let operation = arp::Operation::Request;
    arp_frame(arp::Repr { operation, sender_mac: PEER_MAC, sender_ip, target_mac: Mac::default(), target_ip })
}

pub(crate) fn arp_frame(packet: arp::Repr) -> Vec<u8> {
    let mut frame = Vec::new();
    ethernet::Repr { dst: Mac::BROADCAST, src: packet.sender_mac, ethertype: ethernet::ARP }.emit(&mut frame);
    packet.emit(&mut frame);
    frame.resize(60, 0); // as Ethernet pads it
    frame
}

pub(crate) fn arp_of(frame: &[u8]) -> (ethernet::Repr, arp::Repr) {
    let frame = Frame::new_checked(frame).unwrap();
    (ethernet::Repr::parse(&frame), arp::Repr::parse(&arp::Packet::new_checked(frame.payload()).unwrap()).unwrap())
}

pub(crate) fn ipv4_frame(src: Ipv4Addr, dst: Ipv4Addr, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    ethernet::Repr { dst: N3_MAC, src: PEER_MAC, ethertype: ethernet::IPV4 }.emit(&mut frame);
    ipv4::Repr { src, dst, protocol, tos: 0, ttl: 64, payload_len: payload.len() }.emit(&mut frame);
    frame.extend_from_slice(payload);
    frame
}

pub(crate) fn gtpu_frame(src: Ipv4Addr, dst: Ipv4Addr, src_port: u16, message: &gtpu::Repr<'_>) -> Vec<u8> {
    let (mut payload, mut datagram) = (Vec::new(), Vec::new());
    message.emit(&mut payload);
    udp::Repr { src_port, dst_port: gtpu::PORT }.emit_ipv4(src, dst, &payload, &mut datagram);
    ipv4_frame(src, dst, ipv4::UDP, &datagram)
}

pub(crate) fn gtpu_of(frame: &[u8]) -> (ipv4::Packet<'_>, gtpu::Repr<'_>) {
    let ip = ipv4::Packet::new_checked(&frame[14..]).unwrap();
    let datagram = udp::Datagram::new_checked(ip.payload()).unwrap();
    datagram.verify_ipv4(ip.src(), ip.dst()).unwrap();
    (ip, gtpu::Repr::parse(&gtpu::Packet::new_checked(datagram.payload()).unwrap()).unwrap())
}

pub(crate) fn ping(src: IpAddr, dst: IpAddr) -> Vec<u8> {
    let mut packet = Vec::new();
    let echo = Echo { reply: false, ident: [1, 2, 3, 4], data: b"ping" };
    let payload_len = echo.buffer_len();
    match (src, dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            ipv4::Repr { src, dst, protocol: ipv4::ICMP, tos: 0, ttl: 9, payload_len }.emit(&mut packet);
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            ipv6::Repr { src, dst, next_header: ipv6::ICMPV6, traffic_class: 0, hop_limit: 9, payload_len }.emit(&mut packet);
        }
        _ => unreachable!(),
    }
    echo.emit(src, dst, &mut packet);
    packet
}

pub(crate) fn framed(packet: &[u8]) -> Vec<u8> {
    let ethertype = if packet[0] >> 4 == 4 { ethernet::IPV4 } else { ethernet::IPV6 };
    let mut frame = Vec::new();
    ethernet::Repr { dst: N6_MAC, src: PEER_MAC, ethertype }.emit(&mut frame);
    frame.extend_from_slice(packet);
    frame
}

/// What `Action::Resolved` comes down to where no packet is on its way.
pub(crate) fn let_go(host: &mut Host, actions: Vec<Action>) -> Vec<Action> {
    let mut out = Vec::new();
    for action in actions {
        let Action::Resolved { number } = action else {
            out.push(action);
            continue;
        };
        let released = host.release(number, []);
        out.push(Action::Apply(released.batch));
        out.extend(released.packets.into_iter().map(|(port, frame)| Action::Reinject { port, frame }));
        out.extend(released.own.into_iter().map(|(port, frame)| Action::Transmit { port, frame }));
    }
    out
}

pub(crate) fn dropped(actions: &[Action]) -> &'static str {
    let [Action::Drop { reason }] = actions else { panic!("{actions:?}") };
    reason
}

fn transmitted(actions: &[Action], on: PortId) -> &[u8] {
    let [Action::Transmit { port, frame }] = actions else { panic!("{actions:?}") };
    assert_eq!(*port, on);
    frame
}

#[test]
fn arp_is_answered_for_our_addresses_and_pools_only() {
    let (mut host, r) = host();
    let actions = host.punt(&arp_request(GNB, N3), N3_PORT, r.arp, 0, s(1));
    let (eth, reply) = arp_of(transmitted(&actions, N3_PORT));
    assert_eq!((eth.dst, eth.src, reply.operation), (PEER_MAC, N3_MAC, arp::Operation::Reply));
    assert_eq!((reply.sender_mac, reply.sender_ip, reply.target_ip), (N3_MAC, N3, GNB));
    // A UE of the pool on N6.
    let asker = Ipv4Addr::new(10, 0, 6, 9);
    let actions = host.punt(&arp_request(asker, UE), N6_PORT, r.arp, 0, s(1));
    assert_eq!(arp_of(transmitted(&actions, N6_PORT)).1.sender_ip, UE);
    // Who asks is answered; what it says of itself is not taken down.
    let actions = host.punt(&arp_request(ROUTER, UE), N6_PORT, r.arp, 0, s(1));
    assert_eq!(arp_of(transmitted(&actions, N6_PORT)).1.sender_ip, UE);
    // Not on N3, not others, not for who asks for itself, not with our own address.
    assert_eq!(dropped(&host.punt(&arp_request(GNB, UE), N3_PORT, r.arp, 0, s(1))), "arp_not_for_us");
    assert_eq!(dropped(&host.punt(&arp_request(GNB, Ipv4Addr::new(10, 0, 3, 2)), N3_PORT, r.arp, 0, s(1))), "arp_not_for_us");
    assert_eq!(dropped(&host.punt(&arp_request(UE, UE), N6_PORT, r.arp, 0, s(1))), "arp_not_for_us");
    assert_eq!(dropped(&host.punt(&arp_request(N3, N3), N3_PORT, r.arp, 0, s(1))), "address_conflict");
    assert_eq!(dropped(&host.punt(&[0; 20], N3_PORT, r.arp, 0, s(1))), "ethertype");
    assert_eq!(dropped(&host.punt(&[0; 3], N3_PORT, r.arp, 0, s(1))), "frame_too_short");
    assert_eq!(dropped(&host.punt(&arp_request(GNB, N3), PortId(9), r.arp, 0, s(1))), "port_unknown");
}

#[test]
fn neighbours_are_asked_again_told_to_the_tables_and_given_up() {
    let (mut host, r) = host();
    // Packets for the router (next hop 3 in the golden text) wait in order.
    let packets = [framed(&ping(UE.into(), GNB.into())), framed(&ping(UE.into(), ROUTER.into()))];
    let actions = host.punt(&packets[0], N6_PORT, r.neighbour_unknown, 3, s(1));
    let (eth, request) = arp_of(transmitted(&actions, N6_PORT));
    assert_eq!((eth.dst, request.target_ip, request.sender_ip), (Mac::BROADCAST, ROUTER, Ipv4Addr::new(10, 0, 6, 1)));
    assert_eq!(host.punt(&packets[1], N6_PORT, r.neighbour_unknown, 3, s(1)), []);
    // The IPv6 router is asked by itself, and the IPv4 one again when it does not answer.
    let asked = host.poll(s(1));
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!(host.poll(s(2)).len(), 2);
    let reply = arp_reply(PEER_MAC, ROUTER, N6_MAC, Ipv4Addr::new(10, 0, 6, 1));
    let actions = host.punt(&reply, N6_PORT, r.arp, 0, s(2));
    let actions = let_go(&mut host, actions);
    let [Action::Apply(batch), Action::Reinject { port: N6_PORT, frame: first }, Action::Reinject { frame: second, .. }] = &actions[..]
    else {
        panic!("{actions:?}");
    };
    let [Op::Modify(entry)] = &batch.ops[..] else { panic!("{batch:?}") };
    assert_eq!(entry.args, [128, u128::from(N6_MAC.bits()), u128::from(PEER_MAC.bits()), 1500]);
    assert_eq!([first, second], [&packets[0], &packets[1]]);
    // Told again, nothing changes.
    assert_eq!(host.punt(&reply, N6_PORT, r.arp, 0, s(3)), []);
    // After a minute it is asked whether it is still there, at its address; then it is unresolved again.
    let asks = |actions: &[Action]| {
        let arps = actions.iter().filter(|a| matches!(a, Action::Transmit { frame, .. } if frame[12..14] == [8, 6]));
        arps.count()
    };
    assert_eq!(asks(&host.poll(s(61))), 0);
    let confirming = host.poll(s(62));
    let unicast = |a: &Action| matches!(a, Action::Transmit { frame, .. } if frame[..6] == PEER_MAC.0);
    assert!(confirming.iter().any(unicast), "{confirming:?}");
    assert_eq!((asks(&host.poll(s(63))), asks(&host.poll(s(64)))), (1, 1));
    let unresolved = host.poll(s(65));
    let modify = |a: &Action| matches!(a, Action::Apply(b) if matches!(&b.ops[..], [Op::Modify(e)] if e.args == [3]));
    assert!(unresolved.iter().any(modify), "{unresolved:?}");
}

#[test]
fn a_neighbour_that_does_not_answer_loses_what_waits() {
    let (mut host, r) = host();
    for _ in 0..600 {
        host.punt(&framed(&ping(UE.into(), GNB.into())), N6_PORT, r.neighbour_unknown, 3, s(1));
    }
    assert_eq!((host.fates().waiting, host.fates().dropped), (512, 88));
    let mut drops = 0;
    for t in 1..=4 {
        drops += host.poll(s(t)).iter().filter(|a| matches!(a, Action::Drop { reason: "neighbour_unreachable" })).count();
    }
    assert_eq!(drops, 512);
    assert_eq!((host.fates().waiting, host.fates().imbalance()), (0, 0));
    let late = host.punt(&framed(&ping(UE.into(), GNB.into())), N6_PORT, r.neighbour_unknown, 3, s(5));
    assert_eq!(dropped(&late), "neighbour_unreachable");
}

#[test]
fn hosts_of_a_network_get_a_number_and_a_route_at_the_first_packet() {
    let (mut host, r) = host();
    let on_link: Ipv4Addr = "10.0.6.77".parse().unwrap();
    // Uplink: the packet comes in a tunnel on N3; its own destination is what is routed. 6 is N6's common number.
    let user = ping(UE.into(), on_link.into());
    let container = Some(gtpu::SessionContainer::Uplink { qfi: 1 });
    let packet = gtpu_frame(GNB, N3, 2152, &gtpu::Repr::g_pdu(5, container, &user));
    let actions = host.punt(&packet, N3_PORT, r.neighbour_unknown, 6, s(1));
    let [Action::Apply(batch), Action::Transmit { port: N6_PORT, frame }] = &actions[..] else { panic!("{actions:?}") };
    assert_eq!(arp_of(frame).1.target_ip, on_link);
    let [Op::Insert(nexthop), Op::Insert(route)] = &batch.ops[..] else { panic!("{batch:?}") };
    assert_eq!(route.args, nexthop.args);
    let known = arp_reply(PEER_MAC, on_link, N6_MAC, Ipv4Addr::new(10, 0, 6, 1));
    let actions = host.punt(&known, N6_PORT, r.arp, 0, s(1));
    let actions = let_go(&mut host, actions);
    assert!(matches!(&actions[..], [Action::Apply(_), Action::Reinject { port: N3_PORT, frame }] if *frame == packet));
    // Broadcast, and what is not of that network, are nobody.
    for nobody in ["10.0.6.255", "10.0.6.0", "10.0.7.1", "224.0.0.1"] {
        let user = ping(UE.into(), nobody.parse().unwrap());
        let packet = gtpu_frame(GNB, N3, 2152, &gtpu::Repr::g_pdu(5, None, &user));
        assert_eq!(dropped(&host.punt(&packet, N3_PORT, r.neighbour_unknown, 6, s(1))), "not_on_link", "{nobody}");
    }
    // One that never answers goes, with its entries.
    let silent: Ipv4Addr = "10.0.6.78".parse().unwrap();
    host.punt(&framed(&ping(UE.into(), silent.into())), N6_PORT, r.neighbour_unknown, 6, s(2));
    let count = host.neighbour_count();
    let all: Vec<Action> = (2..=11).flat_map(|t| host.poll(s(t))).collect();
    let deletes = |a: &Action| matches!(a, Action::Apply(b) if matches!(&b.ops[..], [Op::Delete(_), Op::Delete(_)]));
    assert_eq!((all.iter().filter(|a| deletes(a)).count(), host.neighbour_count()), (1, count - 1));
}

#[test]
fn a_scan_of_a_network_does_not_fill_the_table() {
    let mut config = network();
    config.ports[1].addresses[0] = ("10.6.0.1".parse().unwrap(), 16);
    config.routes.remove(0);
    let ids = Ids::bind(&crate::program::upf(64)).unwrap();
    let (mut host, r) = (Host::new(&config, &ids), ids.reasons);
    let (mut refused, mut too_many) = (0, 0);
    for i in 2..6000u32 {
        let ip = Ipv4Addr::from(u32::from(Ipv4Addr::new(10, 6, 0, 0)) + i);
        let now = s(1) + Duration::from_millis(u64::from(i / 20));
        let actions = host.punt(&framed(&ping(UE.into(), ip.into())), N6_PORT, r.neighbour_unknown, 5, now);
        refused += u32::from(actions == [Action::Drop { reason: "neighbours_full" }]);
        too_many += u32::from(actions == [Action::Drop { reason: "neighbour_rate" }]);
    }
    let count = host.neighbour_count();
    assert!(refused + too_many > 5000 && refused > 50 && too_many > 4000 && count < 600, "{refused} refused, {too_many} too many, {count}");
    // Room for tunnel peers is left.
    assert_eq!(host.hold_peers([(1, GNB)]).unwrap().ops.len(), 2);
    (1..40).for_each(|t| drop(host.poll(s(t))));
    assert!(host.neighbour_count() < 5);
}

#[test]
fn echo_requests_are_answered() {
    let (mut host, r) = host();
    let gateway: IpAddr = "10.45.0.1".parse().unwrap();
    // From N6, straight back.
    let actions = host.punt(&framed(&ping(ROUTER.into(), gateway)), N6_PORT, r.host, 0, s(1));
    let frame = transmitted(&actions, N6_PORT);
    let ip = ipv4::Packet::new_checked(&frame[14..]).unwrap();
    assert_eq!((frame[..6].to_vec(), IpAddr::V4(ip.src()), ip.dst(), ip.ttl()), (PEER_MAC.0.to_vec(), gateway, ROUTER, 64));
    assert_eq!(ip.payload()[..1], [0]);
    // From a UE, through the pipeline. 2 is the number of N6's own addresses.
    let uplink = gtpu_frame(GNB, N3, 2152, &gtpu::Repr::g_pdu(5, None, &ping(UE.into(), gateway)));
    let actions = host.punt(&uplink, N3_PORT, r.neighbour_unknown, 2, s(1));
    let [Action::Reinject { port: N6_PORT, frame }] = &actions[..] else { panic!("{actions:?}") };
    assert_eq!(frame[..6], N6_MAC.0);
    assert_eq!(ipv4::Packet::new_checked(&frame[14..]).unwrap().dst(), UE);
    // IPv6 both ways.
    let (ours, ue): (IpAddr, IpAddr) = ("fd00:6::1".parse().unwrap(), "fd00:45:0:1::7".parse().unwrap());
    let actions = host.punt(&framed(&ping("fd00:6::fe".parse().unwrap(), ours)), N6_PORT, r.host, 0, s(1));
    let ip = ipv6::Packet::new_checked(&transmitted(&actions, N6_PORT)[14..]).unwrap();
    assert_eq!((IpAddr::V6(ip.src()), ip.payload()[0]), (ours, 129));
    let uplink = gtpu_frame(GNB, N3, 2152, &gtpu::Repr::g_pdu(5, None, &ping(ue, ours)));
    assert!(matches!(&host.punt(&uplink, N3_PORT, r.neighbour_unknown, 2, s(1))[..], [Action::Reinject { port: N6_PORT, .. }]));
    // Not for others, and only so many.
    assert_eq!(dropped(&host.punt(&framed(&ping(ROUTER.into(), UE.into())), N6_PORT, r.host, 0, s(1))), "address_not_ours");
    let flood: Vec<_> = (0..1100).flat_map(|_| host.punt(&framed(&ping(ROUTER.into(), gateway)), N6_PORT, r.host, 0, s(1))).collect();
    assert_eq!(flood.iter().filter(|a| matches!(a, Action::Drop { reason: "echo_rate" })).count(), 102);
    // Nor do others take what is for UEs.
    let uplink = gtpu_frame(GNB, N3, 2152, &gtpu::Repr::g_pdu(5, None, &ping(ue, ours)));
    assert!(matches!(&host.punt(&uplink, N3_PORT, r.neighbour_unknown, 2, s(1))[..], [Action::Reinject { port: N6_PORT, .. }]));
}

#[test]
fn neighbour_solicitations_are_answered() {
    let (mut host, r) = host();
    let (target, asker): (Ipv6Addr, Ipv6Addr) = ("fd00:6::1".parse().unwrap(), "fd00:6::9".parse().unwrap());
    let solicitation = |src: Ipv6Addr, hop_limit, source| {
        let dst = ipv6::solicited_node(target);
        let mut body = Vec::new();
        ndp::Repr::Solicitation { target, source }.emit(src, dst, &mut body);
        let mut packet = Vec::new();
        ipv6::Repr { src, dst, next_header: ipv6::ICMPV6, traffic_class: 0, hop_limit, payload_len: body.len() }.emit(&mut packet);
        packet.extend_from_slice(&body);
        framed(&packet)
    };
    let advertised = |frame: &[u8]| {
        let ip = ipv6::Packet::new_checked(&frame[14..]).unwrap();
        let message = wire::icmp::Message::new_checked_v6(ip.payload(), ip.src(), ip.dst()).unwrap();
        (ip.dst(), ip.hop_limit(), ndp::Repr::parse(&message).unwrap().unwrap())
    };
    let actions = host.punt(&solicitation(asker, 255, Some(PEER_MAC)), N6_PORT, r.host, 0, s(1));
    let mac = Some(N6_MAC);
    let expected = ndp::Repr::Advertisement { target, mac, solicited: true, router: true, override_known: true };
    assert_eq!(advertised(transmitted(&actions, N6_PORT)), (asker, 255, expected));
    // Somebody tries our address: all nodes are told.
    let actions = host.punt(&solicitation(Ipv6Addr::UNSPECIFIED, 255, None), N6_PORT, r.host, 0, s(1));
    let expected = ndp::Repr::Advertisement { target, mac, solicited: false, router: true, override_known: true };
    assert_eq!(advertised(transmitted(&actions, N6_PORT)), (ipv6::ALL_NODES, 255, expected));
    // Through a router: a forgery.
    let forged = solicitation(asker, 254, Some(PEER_MAC));
    assert_eq!(dropped(&host.punt(&forged, N6_PORT, r.host, 0, s(1))), "neighbour_discovery_malformed");
    // The router's answer resolves next hop 4.
    let router: Ipv6Addr = "fd00:6::fe".parse().unwrap();
    assert_eq!(host.punt(&framed(&ping(UE.into(), GNB.into())), N6_PORT, r.neighbour_unknown, 4, s(1)).len(), 1);
    let mut body = Vec::new();
    ndp::Repr::Advertisement { target: router, mac: Some(PEER_MAC), solicited: true, router: true, override_known: false }
        .emit(router, target, &mut body);
    let mut packet = Vec::new();
    let payload_len = body.len();
    ipv6::Repr { src: router, dst: target, next_header: ipv6::ICMPV6, traffic_class: 0, hop_limit: 255, payload_len }.emit(&mut packet);
    packet.extend_from_slice(&body);
    let actions = host.punt(&framed(&packet), N6_PORT, r.host, 0, s(1));
    let actions = let_go(&mut host, actions);
    assert!(matches!(&actions[..], [Action::Apply(_), Action::Reinject { .. }]), "{actions:?}");
}

#[test]
fn gtpu_path_messages() {
    let (mut host, r) = host();
    // Echo: from any port, back to it, with its number.
    let request = gtpu_frame(GNB, N3, 40000, &gtpu::Repr::new(0, Some(0x1234), Message::EchoRequest));
    let actions = host.punt(&request, N3_PORT, r.gtpu_signalling, 0, s(1));
    let frame = transmitted(&actions, N3_PORT);
    let (ip, response) = gtpu_of(frame);
    assert_eq!((ip.src(), ip.dst(), response), (N3, GNB, gtpu::Repr::new(0, Some(0x1234), Message::EchoResponse)));
    assert_eq!(frame[36..38], 40000u16.to_be_bytes());
    // Recovery IE: type 14, value 0 (TS 29.281 §7.2.2).
    assert_eq!(frame[frame.len() - 2..], [14, 0]);
    // Error indications come in, from peers of sessions...
    host.hold_peers([(1, GNB)]).unwrap();
    let message = Message::ErrorIndication { teid: 0x5001, peer: GNB.into() };
    let indication = gtpu_frame(GNB, N3, 2152, &gtpu::Repr::new(0, Some(0), message));
    assert_eq!(host.punt(&indication, N3_PORT, r.gtpu_signalling, 0, s(1)), [Action::ErrorIndication { peer: GNB, teid: 0x5001 }]);
    // ...and go out for an unknown tunnel, never for anything but a G-PDU.
    assert_eq!(dropped(&host.punt(&indication, N3_PORT, r.unknown_teid, 0, s(1))), "gtpu_malformed");
    let stray = gtpu_frame(GNB, N3, 2152, &gtpu::Repr::g_pdu(0xabcd, None, b"x"));
    let actions = host.punt(&stray, N3_PORT, r.unknown_teid, 0, s(1));
    let [sent @ .., Action::Drop { reason: "unknown_teid" }] = &actions[..] else { panic!("{actions:?}") };
    let (ip, indication) = gtpu_of(transmitted(sent, N3_PORT));
    let message = Message::ErrorIndication { teid: 0xabcd, peer: N3.into() };
    assert_eq!((ip.dst(), indication), (GNB, gtpu::Repr::new(0, Some(0), message)));
    let stray = gtpu_frame(GNB, N3, 5555, &gtpu::Repr::g_pdu(0xabcd, None, b"x"));
    let actions = host.punt(&stray, N3_PORT, r.unknown_teid, 0, s(1));
    assert_eq!(gtpu_of(transmitted(&actions[..1], N3_PORT)).1.udp_port, Some(5555));
    let flood: Vec<_> = (0..200).flat_map(|_| host.punt(&stray, N3_PORT, r.unknown_teid, 0, s(1))).collect();
    assert_eq!(flood.iter().filter(|a| matches!(a, Action::Drop { reason: "error_indication_rate" })).count(), 102);
    // End markers are handed on; the rest is counted.
    let signal = |host: &mut Host, message| {
        let frame = gtpu_frame(GNB, N3, 2152, &gtpu::Repr::new(7, None, message));
        host.punt(&frame, N3_PORT, r.gtpu_signalling, 0, s(1))
    };
    assert_eq!(signal(&mut host, Message::EndMarker), [Action::EndMarker { endpoint: N3, teid: 7, container: None }]);
    assert_eq!(dropped(&signal(&mut host, Message::EchoResponse)), "gtpu_echo_response");
    assert_eq!(dropped(&signal(&mut host, Message::Other { message_type: 77 })), "gtpu_unknown_message");
    // An extension header that must be understood and is not: we tell which ones we know.
    let mut unknown = gtpu::Repr::new(7, None, Message::EndMarker);
    unknown.session_container = Some(gtpu::SessionContainer::Uplink { qfi: 1 });
    let mut payload = Vec::new();
    unknown.emit(&mut payload);
    payload[11] = 0xc1;
    let mut datagram = Vec::new();
    udp::Repr { src_port: 2152, dst_port: 2152 }.emit_ipv4(GNB, N3, &payload, &mut datagram);
    let actions = host.punt(&ipv4_frame(GNB, N3, ipv4::UDP, &datagram), N3_PORT, r.gtpu_signalling, 0, s(3));
    let [sent @ .., Action::Drop { reason: "gtpu_extension_not_supported" }] = &actions[..] else { panic!("{actions:?}") };
    let notification = gtpu_of(transmitted(sent, N3_PORT)).1;
    assert_eq!(notification.message, Message::SupportedExtensionHeaders { types: &[0x85, 0x40] });
}

#[test]
fn vxlan_answers_go_back_inside_it() {
    let mut config = network();
    let mut overlay = config.ports[1].clone();
    overlay.id = PortId(256 + 128);
    overlay.name = "overlay".into();
    overlay.network_instance = "tenant".into();
    overlay.addresses = vec![("10.9.0.1".parse().unwrap(), 24)];
    config.ports.push(overlay);
    let remote = upf::config::VxlanRemote {
        network_instance: "tenant".into(),
        gateway: "10.9.0.2".parse().unwrap(),
        mac: PEER_MAC.0,
        port: PortId(384),
        vni: 77,
        local_vtep: Ipv4Addr::new(172, 16, 0, 1),
        remote_vtep: Ipv4Addr::new(172, 16, 0, 2),
        underlay_mac: [2, 0, 0, 0, 9, 9],
    };
    config.vxlan =
        Some(upf::config::VxlanConfig { local_vteps: vec![remote.local_vtep], vnis: vec![(77, "tenant".into())], remotes: vec![remote] });
    config.routes.push(upf::config::Route {
        network_instance: "tenant".into(),
        prefix: ("0.0.0.0".parse().unwrap(), 0),
        via: upf::config::Via::Gateway("10.9.0.2".parse().unwrap()),
    });
    config.firewall.push(upf::config::FirewallRule {
        destination: Some(("10.66.0.0".parse().unwrap(), 16)),
        destination_ports: Some((22, 23)),
        ..Default::default()
    });
    config.traffic_classes.push(upf::config::TrafficClass {
        protocol: Some(17),
        source: Some(("192.0.2.0".parse().unwrap(), 24)),
        queue: 5,
        rate: Some((8_000_000, 20_000)),
        ..Default::default()
    });
    config.validate().unwrap();
    let program = crate::program::upf(64);
    let ids = Ids::bind(&program).unwrap();
    let mut model = crate::model::Model::new(program);
    model.apply(&upf::static_rules::initial(&config, &ids)).unwrap();
    let all = ["station port=384", "vxlan", "firewall", "traffic", "nexthop", "route_ipv4"];
    testkit::assert_golden("tests/golden/vxlan.txt", &model.dump(&all));

    let mut host = Host::new(&config, &ids);
    let request = arp_request(Ipv4Addr::new(10, 9, 0, 2), Ipv4Addr::new(10, 9, 0, 1));
    let actions = host.punt(&request, PortId(384), ids.reasons.arp, 0, s(1));
    let frame = transmitted(&actions, PortId(384));
    let ip = ipv4::Packet::new_checked(&frame[14..]).unwrap();
    let datagram = udp::Datagram::new_checked(ip.payload()).unwrap();
    let inside = wire::vxlan::Packet::new_checked(datagram.payload()).unwrap();
    assert_eq!((ip.dst(), datagram.dst_port(), inside.vni()), (Ipv4Addr::new(172, 16, 0, 2), 4789, 77));
    assert_eq!(arp_of(inside.payload()).1.sender_ip, Ipv4Addr::new(10, 9, 0, 1));
}

#[test]
fn hostile_frames_never_panic() {
    let (mut host, r) = host();
    let mut rng = testkit::rng(1);
    let user = ping(UE.into(), GNB.into());
    let seeds = [
        arp_request(GNB, N3),
        framed(&ping(ROUTER.into(), "10.45.0.1".parse().unwrap())),
        framed(&ping("fd00:6::fe".parse().unwrap(), "fd00:6::1".parse().unwrap())),
        gtpu_frame(GNB, N3, 1, &gtpu::Repr::g_pdu(5, Some(gtpu::SessionContainer::Uplink { qfi: 1 }), &user)),
        gtpu_frame(GNB, N3, 1, &gtpu::Repr::new(0, Some(0), Message::ErrorIndication { teid: 1, peer: GNB.into() })),
    ];
    let mut outcomes = 0;
    for round in 0..60_000u32 {
        let mut frame = seeds[rng.random_range(0..seeds.len())].clone();
        for _ in 0..rng.random_range(0..4) {
            let at = rng.random_range(0..frame.len());
            frame[at] = rng.next_u32() as u8;
        }
        frame.truncate(rng.random_range(frame.len() / 2..=frame.len()));
        let port = [N3_PORT, N6_PORT][rng.random_range(0..2)];
        let reason = [r.arp, r.host, r.gtpu_signalling, r.unknown_teid, r.neighbour_unknown, 99][rng.random_range(0..6)];
        let now = Duration::from_millis(u64::from(round));
        outcomes += host.punt(&frame, port, reason, rng.random_range(0..12), now).len();
        if round % 100 == 0 {
            host.poll(now);
        }
    }
    assert!(outcomes > 30_000, "{outcomes}");
    let fates = host.fates();
    assert_eq!((fates.punted, fates.imbalance()), (60_000, 0), "{fates:?}");
    assert!(fates.answered > 1000 && fates.dropped > 10_000, "{fates:?}");
}

#[test]
fn a_takeover_tells_each_network_where_our_addresses_are_now_three_times() {
    let (mut host, _) = host();
    // Routers are asked for meanwhile.
    let announced = |actions: Vec<Action>| {
        let mut seen = Vec::new();
        for action in actions {
            let Action::Transmit { port, frame } = action else { continue };
            match Frame::new_checked(&frame).unwrap().ethertype() {
                ethernet::ARP => {
                    let (eth, packet) = arp_of(&frame);
                    if packet.sender_ip != packet.target_ip {
                        continue;
                    }
                    // An announcement, by which switches learn too (RFC 5227 §2.3).
                    assert_eq!((eth.dst, eth.src, packet.operation), (Mac::BROADCAST, packet.sender_mac, arp::Operation::Request));
                    seen.push((port, IpAddr::V4(packet.sender_ip), packet.sender_mac));
                }
                _ => {
                    let ip = ipv6::Packet::new_checked(&frame[14..]).unwrap();
                    let message = wire::icmp::Message::new_checked_v6(ip.payload(), ip.src(), ip.dst()).unwrap();
                    let Some(ndp::Repr::Advertisement { target, mac, solicited: false, override_known: true, .. }) =
                        ndp::Repr::parse(&message).unwrap()
                    else {
                        continue;
                    };
                    assert_eq!(ip.dst(), ipv6::ALL_NODES);
                    seen.push((port, target.into(), mac.unwrap()));
                }
            }
        }
        seen
    };
    assert_eq!(announced(host.poll(s(1))), [], "a usual start announces nothing");
    let first = announced(host.announce(s(1)));
    assert!(first.contains(&(N3_PORT, N3.into(), N3_MAC)), "{first:?}");
    assert!(first.contains(&(N6_PORT, "fd00:6::1".parse().unwrap(), N6_MAC)), "{first:?}");
    for (at, expected) in [(2, &[][..]), (3, &first), (4, &[]), (5, &first), (7, &[]), (9, &[])] {
        assert_eq!(announced(host.poll(s(at))), expected, "at {at} s");
    }
}
