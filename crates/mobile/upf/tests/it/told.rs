//! Senders of what is not sent on: who is told what, from where, and who is not. And frames that are for all.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;

use pfcp::rules::*;
use upf::config::{HostLimits, NetworkConfig, PortConfig, StaticNeighbour, Via};
use upf::host::Action;
use wire::ethernet::{Frame, Mac};
use wire::gtpu::{self, Message};
use wire::{arp, icmp, ipv4, ipv6};

use crate::host::{arp_of, arp_request, framed, gtpu_frame, gtpu_of, ping};
use crate::pipeline::{N3_PORT, N6_PORT, World};
use crate::sessions::*;

const SERVER: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 7);
const SERVER_V6: Ipv6Addr = Ipv6Addr::new(0x2001, 0xdb8, 0, 0, 0, 0, 0, 7);
const UE_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 0x45, 0, 1, 0, 0, 0, 7);
const ROUTER: Mac = Mac([2, 0, 0, 0, 0, 0x50]);

/// [`network`], whose router of IPv6 is known.
fn world() -> World {
    World::of(&known())
}

fn known() -> NetworkConfig {
    let router = StaticNeighbour { port: N6_PORT, ip: "fd00:6::fe".parse().unwrap(), mac: ROUTER.0 };
    NetworkConfig { neighbours: vec![router], ..network() }
}

/// An IP packet of so many bytes without a transport that anybody looks into.
fn packet(src: IpAddr, dst: IpAddr, length: usize) -> Vec<u8> {
    const ESP: u8 = 50;
    let mut packet = Vec::new();
    match (src, dst) {
        (IpAddr::V4(src), IpAddr::V4(dst)) => {
            ipv4::Repr { src, dst, protocol: ESP, tos: 0, ttl: 9, payload_len: length - ipv4::HEADER_LEN }.emit(&mut packet);
        }
        (IpAddr::V6(src), IpAddr::V6(dst)) => {
            let payload_len = length - ipv6::HEADER_LEN;
            ipv6::Repr { src, dst, next_header: ESP, traffic_class: 0, hop_limit: 9, payload_len }.emit(&mut packet);
        }
        _ => unreachable!(),
    }
    packet.resize(length, 7);
    packet
}

/// With other bits for "don't fragment", "more fragments" and the offset.
fn with_fragment_field(mut packet: Vec<u8>, field: u16) -> Vec<u8> {
    packet[6..8].copy_from_slice(&field.to_be_bytes());
    packet[10..12].fill(0);
    let sum = wire::checksum::finish(wire::checksum::sum(&packet[..20]));
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet
}

fn uplink(user: &[u8]) -> Vec<u8> {
    gtpu_frame(GNB, N3, 2152, &gtpu::Repr::g_pdu(0x100, None, user))
}

/// Source, destination, type, code, the word behind the checksum and the packet that is quoted, of an ICMP message.
fn problem(packet: &[u8]) -> (IpAddr, IpAddr, u8, u8, u32, Vec<u8>) {
    let parts = |src: IpAddr, dst: IpAddr, message: icmp::Message<'_>| {
        let (word, about) = message.body().split_first_chunk::<4>().unwrap();
        (src, dst, message.message_type(), message.code(), u32::from_be_bytes(*word), about.to_vec())
    };
    if packet[0] >> 4 == 4 {
        let packet = ipv4::Packet::new_checked(packet).unwrap();
        assert!(packet.bytes().len() <= 576, "RFC 1812 §4.3.2.3");
        return parts(packet.src().into(), packet.dst().into(), icmp::Message::new_checked_v4(packet.payload()).unwrap());
    }
    let packet = ipv6::Packet::new_checked(packet).unwrap();
    assert!(packet.bytes().len() <= 1280, "RFC 4443 §2.4 (c)");
    let message = icmp::Message::new_checked_v6(packet.payload(), packet.src(), packet.dst()).unwrap();
    parts(packet.src().into(), packet.dst().into(), message)
}

/// The user's packet in the only frame sent, which goes into the UE's tunnel.
fn to_ue(world: &mut World) -> Vec<u8> {
    let (port, frame) = world.sent();
    let (outer, message) = gtpu_of(&frame);
    assert_eq!((port, outer.dst(), message.teid), (N3_PORT, GNB, 0x5001));
    let Message::GPdu { payload } = message.message else { panic!("{message:?}") };
    payload.to_vec()
}

fn usage(world: &mut World) -> [u64; 4] {
    let Usage { uplink_packets, uplink_bytes, downlink_packets, downlink_bytes, .. } = world.plane.usage(1, 1);
    [uplink_packets, uplink_bytes, downlink_packets, downlink_bytes]
}

/// Of the 1600 bytes of N3's MTU the tunnel takes 44 (RFC 1191 §3, RFC 8201 §4).
#[test]
fn a_sender_in_the_data_network_is_told_what_fits_the_tunnel() {
    let mut world = world();
    world.commit(1, Some(&open5gs_connected()));
    let cases: [(IpAddr, IpAddr, IpAddr, u8, u8); 2] = [
        (SERVER.into(), UE.into(), Ipv4Addr::new(10, 0, 6, 1).into(), 3, 4),
        (SERVER_V6.into(), UE_V6.into(), "fd00:6::1".parse().unwrap(), 2, 0),
    ];
    for (server, ue, ours, message_type, code) in cases {
        let long = packet(server, ue, 1557);
        world.receive(N6_PORT, &framed(&long));
        let (port, frame) = world.sent();
        let view = Frame::new_checked(&frame).unwrap();
        assert_eq!((port, view.dst()), (N6_PORT, ROUTER), "by the route to the sender");
        let (src, dst, t, c, fits, about) = problem(&frame[14..]);
        assert_eq!((src, dst, t, c, fits), (ours, server, message_type, code, 1556));
        assert!(about.len() >= 500 && long.starts_with(&about), "as it came");
        world.receive(N6_PORT, &framed(&packet(server, ue, fits as usize)));
        assert_eq!(world.sent().1.len(), 14 + 1600);
    }
    assert_eq!(usage(&mut world), [0, 0, 2, 2 * 1556], "what did not fit is not charged");
}

#[test]
fn a_ue_is_told_what_fits_the_data_network() {
    let mut world = world();
    world.commit(1, Some(&open5gs_connected()));
    let cases: [(IpAddr, IpAddr, IpAddr, u8, u8); 2] = [
        (UE.into(), SERVER.into(), Ipv4Addr::new(10, 0, 6, 1).into(), 3, 4),
        (UE_V6.into(), SERVER_V6.into(), "fd00:6::1".parse().unwrap(), 2, 0),
    ];
    for (ue, server, ours, message_type, code) in cases {
        let long = packet(ue, server, 1501);
        world.receive(N3_PORT, &uplink(&long));
        let answer = to_ue(&mut world);
        let (src, dst, t, c, fits, about) = problem(&answer);
        assert_eq!((src, dst, t, c, fits), (ours, ue, message_type, code, 1500));
        assert!(long.starts_with(&about));
        assert_eq!(usage(&mut world)[..2], [0, 0]);
    }
    world.receive(N3_PORT, &uplink(&packet(UE.into(), SERVER.into(), 1500)));
    assert_eq!(world.sent().0, N6_PORT);
}

#[test]
fn senders_of_packets_whose_ttl_has_ended_are_told() {
    let mut world = world();
    world.commit(1, Some(&open5gs_connected()));
    let last_hop = |mut packet: Vec<u8>| {
        match packet[0] >> 4 {
            4 => packet[8] = 1,
            _ => packet[7] = 1,
        }
        if packet[0] >> 4 == 4 { with_fragment_field(packet, 0) } else { packet }
    };
    for (ue, server, message_type) in [(IpAddr::from(UE), IpAddr::from(SERVER), 11), (UE_V6.into(), SERVER_V6.into(), 3)] {
        let sent = last_hop(packet(ue, server, 100));
        world.receive(N3_PORT, &uplink(&sent));
        let (_, dst, t, code, word, about) = problem(&to_ue(&mut world));
        assert_eq!((dst, t, code, word, about), (ue, message_type, 0, 0, sent));
        let sent = last_hop(packet(server, ue, 100));
        world.receive(N6_PORT, &framed(&sent));
        let (port, frame) = world.sent();
        let (_, dst, t, code, word, about) = problem(&frame[14..]);
        assert_eq!((port, dst, t, code, word, about), (N6_PORT, server, message_type, 0, 0, sent));
    }
    // To ourselves the last hop is no hop too many.
    world.receive(N3_PORT, &uplink(&last_hop(ping(UE.into(), "10.45.0.1".parse().unwrap()))));
    assert_eq!(to_ue(&mut world)[20], 0, "an echo reply");
}

/// RFC 1122 §3.2.2, RFC 4443 §2.4 (e): errors, and fragments other than the first. And IPv4 packets that may be fragmented owe nothing to their sender.
#[test]
fn no_error_answers_an_error_a_later_fragment_or_what_may_be_fragmented() {
    let mut world = world();
    world.commit(1, Some(&open5gs_connected()));
    let icmp_of = |message_type: u8, v6: bool| {
        let mut packet = if v6 { packet(SERVER_V6.into(), UE_V6.into(), 1557) } else { packet(SERVER.into(), UE.into(), 1557) };
        let (protocol, message) = if v6 { (6, 40) } else { (9, 20) };
        packet[protocol] = if v6 { ipv6::ICMPV6 } else { ipv4::ICMP };
        packet[message] = message_type;
        if v6 { packet } else { with_fragment_field(packet, 0x4000) }
    };
    // Behind a header of destination options of eight bytes.
    let behind_options = |mut packet: Vec<u8>| {
        let message = packet[40];
        packet[6] = 60;
        packet[40..48].copy_from_slice(&[ipv6::ICMPV6, 0, 1, 4, 0, 0, 0, 0]);
        packet[48] = message;
        packet
    };
    let later_fragment_v6 = |mut packet: Vec<u8>| {
        packet[6] = 44;
        packet[40..48].copy_from_slice(&[50, 0, 0x05, 0x98, 0, 0, 0, 1]);
        packet
    };
    let long = || packet(SERVER.into(), UE.into(), 1557);
    let silent = [
        icmp_of(3, false),
        icmp_of(11, false),
        icmp_of(42, false),
        icmp_of(2, true),
        icmp_of(137, true),
        behind_options(icmp_of(1, true)),
        later_fragment_v6(packet(SERVER_V6.into(), UE_V6.into(), 1557)),
        with_fragment_field(long(), 0x4001),
        with_fragment_field(long(), 0),
        with_fragment_field(long(), 0x2000),
    ];
    for (n, packet) in silent.iter().enumerate() {
        world.receive(N6_PORT, &framed(packet));
        assert_eq!(world.dropped(), "too_big", "{n}");
    }
    for packet in [icmp_of(8, false), icmp_of(128, true), behind_options(icmp_of(128, true)), with_fragment_field(long(), 0x6000)] {
        world.receive(N6_PORT, &framed(&packet));
        world.sent();
    }
    assert_eq!(world.plane.host_and_data().0.fates().imbalance(), 0);
}

#[test]
fn errors_are_bounded_and_one_sender_does_not_take_all() {
    let mut network = network();
    network.host = HostLimits { icmp_errors_per_s: 100, ..HostLimits::default() };
    let mut world = World::of(&network);
    world.commit(1, Some(&open5gs_connected()));
    let told = |world: &mut World, from: Ipv4Addr, count: usize| {
        (0..count).for_each(|_| world.receive(N6_PORT, &framed(&packet(from.into(), UE.into(), 1557))));
        let told = world.sent.len();
        assert_eq!(world.dropped.len(), count - told);
        assert!(world.dropped.iter().all(|reason| reason == "too_big"));
        world.sent.clear();
        world.dropped.clear();
        told
    };
    assert_eq!(told(&mut world, SERVER, 1000), 10);
    assert_eq!(told(&mut world, Ipv4Addr::new(198, 51, 100, 8), 1), 1);
    let others = (1..=200).map(|n| told(&mut world, Ipv4Addr::new(203, 0, 113, n), 5)).sum::<usize>();
    assert_eq!(others, 100 - 11);
    world.now += Duration::from_secs(1);
    assert_eq!(told(&mut world, SERVER, 1000), 10);
    // Nobody, if so wished.
    network.host.icmp_errors_per_s = 0;
    let mut world = World::of(&network);
    world.commit(1, Some(&open5gs_connected()));
    assert_eq!(told(&mut world, SERVER, 10), 0);
}

/// Between two tunnels nobody knows the sender's network.
#[test]
fn what_is_relayed_from_tunnel_to_tunnel_and_does_not_fit_is_dropped() {
    let mut world = world();
    let mut rules = open5gs_connected();
    rules.fars.insert(2, forward(Interface::Access, Some((0x900, GNB))));
    world.commit(1, Some(&rules));
    world.receive(N3_PORT, &uplink(&packet(UE.into(), SERVER.into(), 1557)));
    assert_eq!(world.dropped(), "too_big");
}

/// RFC 1812 §5.3.4, RFC 1122 §3.3.6: somebody would get them by both ways, or anybody on the link could have them multiplied.
#[test]
fn a_frame_to_all_or_to_a_group_with_a_packet_for_one_host_goes_nowhere() {
    let mut world = world();
    world.commit(1, Some(&open5gs_connected()));
    let all_nodes = Mac([0x33, 0x33, 0, 0, 0, 1]);
    let mut to = |mac: Mac, port, mut frame: Vec<u8>| {
        frame[..6].copy_from_slice(&mac.0);
        world.receive(port, &frame);
        world.dropped()
    };
    let downlink = || framed(&packet(SERVER.into(), UE.into(), 100));
    assert_eq!(to(Mac::BROADCAST, N6_PORT, downlink()), "link_broadcast");
    assert_eq!(to(all_nodes, N6_PORT, downlink()), "link_broadcast");
    assert_eq!(to(all_nodes, N6_PORT, framed(&packet(SERVER_V6.into(), UE_V6.into(), 100))), "link_broadcast");
    assert_eq!(to(Mac::BROADCAST, N3_PORT, uplink(&packet(UE.into(), SERVER.into(), 100))), "link_broadcast");
    // To ourselves neither.
    assert_eq!(to(Mac::BROADCAST, N6_PORT, framed(&ping(SERVER.into(), "10.45.0.1".parse().unwrap()))), "link_broadcast");
    let echo = gtpu::Repr::new(0, Some(7), Message::EchoRequest);
    assert_eq!(to(Mac::BROADCAST, N3_PORT, gtpu_frame(GNB, N3, 2152, &echo)), "link_broadcast");
    assert_eq!(usage(&mut world), [0; 4]);
}

/// N6 by a TUN device: the kernel routes, and would take packets to addresses of its own.
fn behind_tun(reachable: &[&str]) -> NetworkConfig {
    let prefix = |(ip, len): (&str, u8)| (ip.parse::<IpAddr>().unwrap(), len);
    let mut network = network();
    let n6 = network.ports[1].clone();
    network.ports[1] = PortConfig {
        addresses: [("10.45.0.1", 16), ("fd00:45::1", 48)].map(prefix).to_vec(),
        proxy_prefixes: Vec::new(),
        far_end: Some([2, 0, 0, 0, 0, 2]),
        reachable: Some(reachable.iter().map(|ip| prefix((*ip, if ip.contains(':') { 128 } else { 32 }))).collect()),
        ..n6
    };
    network.routes.iter_mut().for_each(|route| route.via = Via::Connected(N6_PORT));
    network.machine =
        [("10.45.0.1", 32), ("192.0.2.9", 32), ("10.45.255.255", 32), ("fd00:45::1", 128), ("fd00:45::", 128), ("10.0.3.0", 24)]
            .map(prefix)
            .to_vec();
    network
}

#[test]
fn users_do_not_reach_the_machine_behind_a_tun_device_unless_it_is_wanted() {
    let sends = |world: &mut World, to: &str| {
        let to: IpAddr = to.parse().unwrap();
        let ue = if to.is_ipv4() { IpAddr::from(UE) } else { UE_V6.into() };
        world.receive(N3_PORT, &uplink(&packet(ue, to, 100)));
        match world.sent.is_empty() {
            true => world.dropped(),
            false => format!("port {}", world.sent().0.0),
        }
    };
    let mut world = World::of(&behind_tun(&[]));
    world.commit(1, Some(&open5gs_connected()));
    for own in ["192.0.2.9", "10.45.255.255", "fd00:45::", "10.0.3.77"] {
        assert_eq!(sends(&mut world, own), "machine_address", "{own}");
    }
    // The gateway is there for who looks whether it is: it answers echo, and serves nothing.
    for own in ["10.45.0.1", "fd00:45::1"] {
        assert_eq!(sends(&mut world, own), "protocol_not_served", "{own}");
        let own: IpAddr = own.parse().unwrap();
        let ue = if own.is_ipv4() { IpAddr::from(UE) } else { UE_V6.into() };
        world.receive(N3_PORT, &uplink(&ping(ue, own)));
        assert_eq!(to_ue(&mut world)[if own.is_ipv4() { 20 } else { 40 }], if own.is_ipv4() { 0 } else { 129 });
    }
    for others in ["198.51.100.7", "10.45.0.3", "2001:db8::7"] {
        assert_eq!(sends(&mut world, others), "port 128", "{others}");
    }
    // Those that are wanted, and none else.
    let mut world = World::of(&behind_tun(&["10.45.0.1", "10.0.3.7", "fd00:45::1"]));
    world.commit(1, Some(&open5gs_connected()));
    for wanted in ["10.45.0.1", "10.0.3.7", "fd00:45::1"] {
        assert_eq!(sends(&mut world, wanted), "port 128", "{wanted}");
    }
    for own in ["192.0.2.9", "10.0.3.8", "fd00:45::"] {
        assert_eq!(sends(&mut world, own), "machine_address", "{own}");
    }
}

/// The machine gets an address while the UPF runs.
#[test]
fn an_address_that_the_machine_gets_is_kept_from_users_at_once() {
    let before = behind_tun(&[]);
    let mut world = World::of(&before);
    world.commit(1, Some(&open5gs_connected()));
    let mut after = before;
    after.machine.push(("203.0.113.5".parse().unwrap(), 32));
    let packet = uplink(&packet(UE.into(), "203.0.113.5".parse().unwrap(), 100));
    world.receive(N3_PORT, &packet);
    assert_eq!(world.sent().0, N6_PORT);
    let renewal = world.plane.prepare(&after).unwrap();
    world.plane.data_mut().machine.apply(&renewal.batch).unwrap();
    world.plane.renew(renewal, world.now);
    world.receive(N3_PORT, &packet);
    assert_eq!(world.dropped(), "machine_address");
}

/// N6's network has the UEs' addresses: its hosts ask who has them (RFC 1027).
#[test]
fn arp_for_a_ue_is_answered_where_its_network_is_and_while_it_has_a_session() {
    let mut network = network();
    network.ports[1].proxy_prefixes.clear();
    network.ports[1].addresses[1].1 = 16;
    let mut world = World::of(&network);
    let who_has = |ip: Ipv4Addr| arp_request(Ipv4Addr::new(10, 45, 0, 250), ip);
    let ask = |world: &mut World, port, ip| {
        let actions = world.plane.punt(&who_has(ip), port, world.plane.ids().reasons.arp, 0, Duration::from_secs(1));
        match &actions[..] {
            [Action::Transmit { port, frame }] => {
                let (_, reply) = arp_of(frame);
                assert_eq!((reply.operation, reply.sender_ip, reply.sender_mac), (arp::Operation::Reply, ip, Mac([2, 0, 0, 0, 0, 6])));
                format!("answered on port {}", port.0)
            }
            [Action::Drop { reason }] => (*reason).to_owned(),
            other => panic!("{other:?}"),
        }
    };
    assert_eq!(ask(&mut world, N6_PORT, UE), "arp_not_for_us");
    world.commit(1, Some(&open5gs_connected()));
    assert_eq!(ask(&mut world, N6_PORT, UE), "answered on port 128");
    assert_eq!(ask(&mut world, N6_PORT, Ipv4Addr::new(10, 45, 0, 3)), "arp_not_for_us", "nobody has it");
    assert_eq!(ask(&mut world, N3_PORT, UE), "arp_not_for_us", "another network");
    world.commit(1, None);
    assert_eq!(ask(&mut world, N6_PORT, UE), "arp_not_for_us");
    assert_eq!(world.plane.host_and_data().0.fates().imbalance(), 0);
}
