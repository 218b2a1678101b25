//! Is the work for a packet bounded, whatever is in it? Each parser on a packet's way meets its worst shapes, at lengths up to the longest; steps
//! are counted, no time is measured. The program's steps do not even depend on the length; only checksums and copies do, a byte once each.

use base::{MAX_PACKET, PortId};
use p4_interp::{Event, Mode, Tracer};
use std::net::Ipv4Addr;
use std::time::Duration;
use upf::host::Action;
use wire::ethernet::{self, Mac};
use wire::{gtpu, ipv4, ipv6, udp};

use crate::pipeline::World;
use crate::sessions::{GNB, N3, UE, open5gs_connected};

const N3_PORT: PortId = PortId(0);
const N6_PORT: PortId = PortId(128);
const PEER_MAC: Mac = Mac([2, 0, 0, 0, 0, 0x50]);
const FAR_AWAY: Ipv4Addr = Ipv4Addr::new(198, 51, 100, 7);
const TEID: u32 = 0x100;

/// Steps of the program (states, headers, look-ups, assignments, counters) for any packet. Three times what a user's packet takes in the common case:
/// parsers look at a few extension headers and give the packet up then.
const STEPS: u64 = 400;
/// Tables looked up, however long the packet is.
const LOOKUPS: u64 = 24;
/// What the host may do about one packet, and how many more bytes it may send than it got.
const ACTIONS: usize = 4;
const SENT_MORE: usize = 128;

#[derive(Default)]
struct Steps {
    all: u64,
    lookups: u64,
}

impl Tracer for Steps {
    const ON: bool = true;

    fn record(&mut self, event: Event) {
        self.all += 1;
        self.lookups += u64::from(matches!(event, Event::Lookup { .. }));
    }
}

/// A frame of a shape, as long as asked for or a little less.
type Shape = (&'static str, PortId, fn(usize) -> Vec<u8>);

fn frame(dst: u8, ethertype: u16, packet: &[u8]) -> Vec<u8> {
    let mut frame = Vec::new();
    ethernet::Repr { dst: Mac([2, 0, 0, 0, 0, dst]), src: PEER_MAC, ethertype }.emit(&mut frame);
    frame.extend_from_slice(packet);
    frame
}

fn v4(src: Ipv4Addr, dst: Ipv4Addr, protocol: u8, payload: &[u8]) -> Vec<u8> {
    let mut packet = Vec::new();
    ipv4::Repr { src, dst, protocol, tos: 0, ttl: 64, payload_len: payload.len() }.emit(&mut packet);
    packet.extend_from_slice(payload);
    packet
}

/// In a tunnel's UDP.
fn tunnel(message: &[u8]) -> Vec<u8> {
    let mut datagram = Vec::new();
    udp::Repr { src_port: gtpu::PORT, dst_port: gtpu::PORT }.emit_ipv4(GNB, N3, message, &mut datagram);
    frame(3, ethernet::IPV4, &v4(GNB, N3, ipv4::UDP, &datagram))
}

/// A message with these units of extension headers as often as they fit, and something behind them.
fn extensions(kind: u8, unit: &[u8], length: usize, payload: &[u8]) -> Vec<u8> {
    let mut message = vec![0x34, kind, 0, 0];
    message.extend(TEID.to_be_bytes());
    message.extend([0, 0, 0, 0x40]);
    while message.len() + unit.len() + payload.len() + 42 <= length {
        message.extend(unit);
    }
    if let Some(last) = message.last_mut() {
        *last = 0;
    }
    message.extend(payload);
    let content = (message.len() - 8) as u16;
    message[2..4].copy_from_slice(&content.to_be_bytes());
    message
}

fn user_v4() -> Vec<u8> {
    let mut datagram = Vec::new();
    udp::Repr { src_port: 1, dst_port: 2 }.emit_ipv4(UE, FAR_AWAY, &[0; 8], &mut datagram);
    v4(UE, FAR_AWAY, ipv4::UDP, &datagram)
}

/// An IPv6 packet with these extension headers (type of the first, unit with the type of the next) as often as they fit.
fn v6_headers(first: u8, unit: &[u8], length: usize) -> Vec<u8> {
    let mut headers = Vec::new();
    while headers.len() + unit.len() + 8 + 40 + 14 <= length {
        headers.extend(unit);
    }
    if let Some(last) = headers.len().checked_sub(unit.len()) {
        headers[last] = ipv4::UDP;
    }
    headers.extend([0, 1, 0, 2, 0, 8, 0, 0]);
    let (src, dst) = ("2001:db8::7".parse().unwrap(), "fd00:45:0:1::9".parse().unwrap());
    let mut packet = Vec::new();
    ipv6::Repr { src, dst, next_header: first, traffic_class: 0, hop_limit: 64, payload_len: headers.len() }.emit(&mut packet);
    packet.extend(headers);
    packet
}

/// As from the UE, in its tunnel.
fn in_tunnel(mut packet: Vec<u8>) -> Vec<u8> {
    let (src, dst): ([u8; 16], [u8; 16]) = (packet[8..24].try_into().unwrap(), packet[24..40].try_into().unwrap());
    packet[8..24].copy_from_slice(&dst);
    packet[24..40].copy_from_slice(&src);
    let mut message = vec![0x30, 255];
    message.extend((packet.len() as u16).to_be_bytes());
    message.extend(TEID.to_be_bytes());
    message.extend(packet);
    tunnel(&message)
}

/// The longest IPv4 header, of options that do nothing.
fn v4_options(length: usize) -> Vec<u8> {
    let mut packet = v4(FAR_AWAY, UE, ipv4::UDP, &vec![0; length.saturating_sub(80)]);
    packet.splice(20..20, [1; 40]);
    packet[0] = 0x4f;
    let total = packet.len() as u16;
    packet[2..4].copy_from_slice(&total.to_be_bytes());
    packet[10..12].fill(0);
    let sum = wire::checksum::finish(wire::checksum::sum(&packet[..60]));
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet
}

/// A solicitation with as many options as fit.
fn solicitation(length: usize) -> Vec<u8> {
    let (src, dst) = ("fd00:6::77".parse().unwrap(), "fd00:6::1".parse().unwrap());
    let mut body = vec![135, 0, 0, 0, 0, 0, 0, 0];
    body.extend(std::net::Ipv6Addr::octets(&dst));
    while body.len() + 8 + 54 <= length {
        body.extend([1, 1, 2, 0, 0, 0, 0, 9]);
    }
    let sum = wire::checksum::finish(wire::checksum::pseudo_ipv6(src, dst, ipv6::ICMPV6, body.len()) + wire::checksum::sum(&body));
    body[2..4].copy_from_slice(&sum.to_be_bytes());
    let mut packet = Vec::new();
    ipv6::Repr { src, dst, next_header: ipv6::ICMPV6, traffic_class: 0, hop_limit: 255, payload_len: body.len() }.emit(&mut packet);
    packet.extend(body);
    packet
}

const SHAPES: &[Shape] = &[
    ("a user's packet", N3_PORT, |_| {
        let mut message = vec![0x30, 255, 0, 36, 0, 0, 1, 0];
        message.extend(user_v4());
        tunnel(&message)
    }),
    ("GTP-U extension headers of 4 bytes", N3_PORT, |n| tunnel(&extensions(255, &[1, 0, 0, 0x40], n, &user_v4()))),
    ("GTP-U extension headers of 4 bytes, all containers", N3_PORT, |n| tunnel(&extensions(255, &[1, 0x10, 9, 0x85], n, &user_v4()))),
    ("GTP-U extension headers of 1020 bytes", N3_PORT, |n| {
        let mut unit = vec![0; 1020];
        (unit[0], unit[1019]) = (255, 0x40);
        tunnel(&extensions(255, &unit, n, &user_v4()))
    }),
    ("an echo request behind extension headers", N3_PORT, |n| tunnel(&extensions(1, &[1, 0, 0, 0x40], n, &[]))),
    ("an error indication of elements without content", N3_PORT, |n| {
        let elements = [255, 0, 0].repeat(n.saturating_sub(60) / 3);
        tunnel(&extensions(26, &[1, 0, 0, 0x40], 62, &elements))
    }),
    ("hop-by-hop options to a user", N6_PORT, |n| frame(6, ethernet::IPV6, &v6_headers(0, &[0, 0, 1, 4, 0, 0, 0, 0], n))),
    ("destination options to a user", N6_PORT, |n| frame(6, ethernet::IPV6, &v6_headers(60, &[60, 0, 1, 4, 0, 0, 0, 0], n))),
    ("fragment headers to a user", N6_PORT, |n| frame(6, ethernet::IPV6, &v6_headers(44, &[44, 0, 0, 0, 0, 0, 0, 9], n))),
    ("routing headers to a user", N6_PORT, |n| frame(6, ethernet::IPV6, &v6_headers(43, &[43, 0, 0, 0, 0, 0, 0, 0], n))),
    ("destination options from a user", N3_PORT, |n| in_tunnel(v6_headers(60, &[60, 0, 1, 4, 0, 0, 0, 0], n.saturating_sub(44)))),
    ("fragment headers from a user", N3_PORT, |n| in_tunnel(v6_headers(44, &[44, 0, 0, 0, 0, 0, 0, 9], n.saturating_sub(44)))),
    ("IPv4 options to a user", N6_PORT, |n| frame(6, ethernet::IPV4, &v4_options(n))),
    ("IPv4 to a user", N6_PORT, |n| frame(6, ethernet::IPV4, &v4(FAR_AWAY, UE, 59, &vec![0; n.saturating_sub(40)]))),
    ("neighbour solicitation with options", N6_PORT, |n| frame(6, ethernet::IPV6, &solicitation(n))),
    ("ARP with much behind it", N6_PORT, |n| {
        frame(6, ethernet::ARP, &[&[0, 1, 8, 0, 6, 4, 0, 1][..], &vec![7; n.saturating_sub(22)]].concat())
    }),
    ("zeros", N3_PORT, |n| vec![0; n]),
];

const LENGTHS: [usize; 4] = [128, 1024, 4096, MAX_PACKET];

#[test]
fn no_packet_takes_many_steps_of_the_program_however_long_it_is() {
    let mut world = World::new();
    world.commit(1, Some(&open5gs_connected()));
    let mut deepest = 0;
    for (name, port, make) in SHAPES {
        for length in LENGTHS {
            let frame = make(length);
            assert!(frame.len() <= MAX_PACKET, "{name}: {} bytes", frame.len());
            let mut steps = Steps::default();
            world.plane.data_mut().machine.process_traced(&frame, *port, 1_000_000_000, Mode::Whole, &mut steps);
            println!("{name}, {} bytes: {} steps, {} look-ups", frame.len(), steps.all, steps.lookups);
            assert!(steps.all <= STEPS, "{name}, {} bytes: {} steps, {STEPS} at most", frame.len(), steps.all);
            assert!(steps.lookups <= LOOKUPS, "{name}, {} bytes: {} look-ups", frame.len(), steps.lookups);
            deepest = deepest.max(steps.all);
        }
    }
    // The shapes reach what they are for: extension headers that are walked, and the whole pipeline.
    assert!(deepest > 100, "{deepest} steps at most");
}

#[test]
fn the_host_does_a_few_things_about_a_packet_and_sends_hardly_more_than_it_got() {
    let mut world = World::new();
    world.commit(1, Some(&open5gs_connected()));
    let reasons = world.plane.data_mut().machine.ir().program.reasons.len() as u8;
    let mut answered = 0;
    for (name, port, make) in SHAPES {
        for (n, length) in LENGTHS.into_iter().enumerate() {
            let frame = make(length);
            for reason in 0..=reasons {
                // The host does not trust the pipeline to have understood it: each packet, for each reason.
                let now = Duration::from_secs(2 + n as u64);
                let actions = world.plane.punt(&frame, *port, reason, 1, now);
                assert!(actions.len() <= ACTIONS, "{name}, reason {reason}: {actions:?}");
                let sent: usize = actions.iter().map(|a| if let Action::Transmit { frame, .. } = a { frame.len() } else { 0 }).sum();
                assert!(sent <= frame.len() + SENT_MORE, "{name}, reason {reason}: {sent} bytes sent for {}", frame.len());
                answered += usize::from(sent > 0);
            }
        }
    }
    assert!(answered > 0, "the host never sent anything");
}

#[test]
fn extension_headers_of_a_message_are_walked_once_each() {
    for unit in [&[1, 0, 0, 0x40][..], &[1, 0, 0, 0x7f]] {
        let message = extensions(255, unit, 65_535, &[]);
        let view = gtpu::Packet::new_checked(&message).unwrap();
        // The shortest has 4 bytes, and none that claims nothing is passed over for ever.
        assert_eq!(view.extensions().count(), (message.len() - 12) / 4);
        let mut endless = message.clone();
        endless[12] = 0;
        assert!(gtpu::Packet::new_checked(&endless).is_err());
    }
}
