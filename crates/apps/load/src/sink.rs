//! What is a frame that has arrived? Read to its end: what the device made of a packet must be whole, and be the session's.

use crate::Direction;
use crate::plan::Plan;
use crate::tag::Tag;
use std::net::Ipv4Addr;
use wire::ethernet::Mac;
use wire::{arp, ethernet, gtpu, ipv4, udp};

/// What it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Received {
    /// A packet of ours, in its session's tunnel and with its session's addresses; its length on the core side, check sequence
    /// included, in bytes.
    Ours(Tag, usize),
    /// A packet of ours that has another session's address or TEID, or went the wrong way.
    Misdelivered(Tag),
    /// ARP, for the side to answer.
    Arp(arp::Repr),
    /// A GTP-U echo request (TS 29.281 §7.2.1), to be answered.
    Echo {
        /// Who asked.
        from: Ipv4Addr,
        /// By which station.
        mac: Mac,
        /// Its sequence number.
        sequence: Option<u16>,
    },
    /// The device does not know a tunnel of ours (TS 29.281 §7.3.1).
    ErrorIndication,
    /// Anything else.
    Foreign,
}

/// Reads a frame that came in on the side where packets of that direction arrive.
pub fn read(frame: &[u8], plan: &Plan, arriving: Direction) -> Received {
    match try_read(frame, plan, arriving) {
        Some(received) => received,
        None => Received::Foreign,
    }
}

fn try_read(frame: &[u8], plan: &Plan, arriving: Direction) -> Option<Received> {
    let frame = ethernet::Frame::new_checked(frame).ok()?;
    if frame.ethertype() == ethernet::ARP {
        return arp::Repr::parse(&arp::Packet::new_checked(frame.payload()).ok()?).ok().map(Received::Arp);
    }
    if frame.ethertype() != ethernet::IPV4 {
        return None;
    }
    let packet = ipv4::Packet::new_checked(frame.payload()).ok()?;
    if arriving == Direction::Up || !plan.tunnels {
        return user(packet, plan, arriving, None);
    }
    let datagram = datagram(&packet)?;
    if datagram.dst_port() != gtpu::PORT || packet.dst() != plan.gnb {
        return None;
    }
    let message = gtpu::Packet::new_checked(datagram.payload()).ok()?;
    match message.message_type() {
        gtpu::message_type::G_PDU => user(ipv4::Packet::new_checked(message.payload()).ok()?, plan, arriving, Some(message.teid())),
        gtpu::message_type::ECHO_REQUEST => Some(Received::Echo { from: packet.src(), mac: frame.src(), sequence: message.sequence() }),
        gtpu::message_type::ERROR_INDICATION => Some(Received::ErrorIndication),
        _ => None,
    }
}

/// A user's packet, and the TEID of the tunnel that it came in.
fn user(packet: ipv4::Packet<'_>, plan: &Plan, arriving: Direction, teid: Option<u32>) -> Option<Received> {
    let tag = Tag::parse(datagram(&packet)?.payload())?;
    let session = plan.session(tag.sequence);
    let ends = if arriving == Direction::Up { (session.ue, plan.dn) } else { (plan.dn, session.ue) };
    let right = tag.direction == arriving && (packet.src(), packet.dst()) == ends && teid.is_none_or(|teid| teid == session.downlink_teid);
    Some(if right { Received::Ours(tag, packet.bytes().len() + crate::plan::ETHERNET) } else { Received::Misdelivered(tag) })
}

fn datagram<'a>(packet: &ipv4::Packet<'a>) -> Option<udp::Datagram<'a>> {
    (packet.protocol() == ipv4::UDP && !packet.is_fragment()).then_some(())?;
    udp::Datagram::new_checked(packet.payload()).ok()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frames::Maker;
    use crate::plan::Sizes;
    use base::Packet;
    use proptest::prelude::*;

    fn plan() -> Plan {
        let sessions = Plan::counted(3, Ipv4Addr::new(10, 45, 0, 2), 100, 200, Some(9)).unwrap();
        let address = |n| Ipv4Addr::new(10, n, 0, 2);
        Plan { sessions, tunnels: true, gnb: address(3), upf: Ipv4Addr::new(10, 3, 0, 1), dn: address(6) }
    }

    fn plain(sequence: u64) -> (Tag, Vec<u8>) {
        let tag = Tag { trial: 1, direction: Direction::Up, reply: false, sequence, time_ns: 9 };
        let mut packet = Packet::empty(0);
        let mut plan = plan();
        plan.tunnels = false;
        Maker::new(&plan, Direction::Up, Sizes::Fixed(64), Mac([2; 6]), Mac([4; 6])).write(&plan, &tag, &mut packet);
        (tag, packet.data().to_vec())
    }

    #[test]
    fn a_packet_with_another_sessions_address_is_misdelivered() {
        let (tag, frame) = plain(1);
        assert_eq!(read(&frame, &plan(), Direction::Up), Received::Ours(tag, 64));
        // Session 2's address in place of session 1's, with the right checksum: that of a frame of session 2 but for the number.
        let (other, mut swapped) = plain(2);
        let number = 14 + 28 + 4..14 + 28 + 10;
        swapped[number.clone()].copy_from_slice(&frame[number]);
        assert_eq!(read(&swapped, &plan(), Direction::Up), Received::Misdelivered(Tag { sequence: 1, ..other }));
        // It came back on the side where it was sent.
        let mut plain_plan = plan();
        plain_plan.tunnels = false;
        assert_eq!(read(&frame, &plain_plan, Direction::Down), Received::Misdelivered(tag));
        let mut broken = frame.clone();
        broken[14 + 10] ^= 1;
        assert_eq!(read(&broken, &plan(), Direction::Up), Received::Foreign, "a wrong checksum");
    }

    /// The fuzzer starts from frames that are taken, and not from noise.
    #[test]
    fn the_fuzzers_first_frames_are_what_they_are_called() {
        let read_seed = |bytes: &[u8], arriving| read(bytes, &plan(), arriving);
        let tag = |direction| Tag { trial: 1, direction, reply: false, sequence: 4, time_ns: 1000 };
        let seed = |name: &str| {
            let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../fuzz/corpus/load").join(name);
            std::fs::read(&path).unwrap_or_else(|e| panic!("{}: {e}", path.display()))
        };
        assert_eq!(read_seed(&seed("up"), Direction::Up), Received::Ours(tag(Direction::Up), 64));
        assert_eq!(read_seed(&seed("down_in_its_tunnel"), Direction::Down), Received::Ours(tag(Direction::Down), 64));
        let echo = Received::Echo { from: plan().upf, mac: Mac([2, 0, 0, 0, 0, 6]), sequence: Some(7) };
        assert_eq!(read_seed(&seed("echo_request"), Direction::Down), echo);
        let mut plain = plan();
        plain.tunnels = false;
        assert_eq!(read(&seed("down"), &plain, Direction::Down), Received::Ours(tag(Direction::Down), 64));
    }

    proptest! {
        /// Whatever arrives: no panic, and only whole packets count.
        #[test]
        fn hostile_frames_are_foreign(sequence: u64, cut in 0usize..60, at in 0usize..60, value: u8) {
            let (_, frame) = plain(sequence & 0xffff);
            prop_assert_eq!(read(&frame[..cut], &plan(), Direction::Up), Received::Foreign);
            let mut changed = frame.clone();
            changed[at] = value;
            for direction in Direction::BOTH {
                let _ = read(&changed, &plan(), direction);
            }
        }
    }
}
