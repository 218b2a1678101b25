//! How is a frame made at full rate? A template for each size, of which a packet's own fields are filled in: UE, TEID, QFI, number, time.
//! The IPv4 header's checksum is that of the template's words and the UE's.
//!
//! User packets are UDP to port 7 (echo, RFC 2544 Appendix C.2.6.4), without checksum (RFC 768).

use crate::Direction;
use crate::plan::{ETHERNET, Plan, Session, Sizes};
use crate::tag::{self, Tag};
use base::Packet;
use std::net::Ipv4Addr;
use wire::ethernet::Mac;
use wire::{checksum, ethernet, gtpu, ipv4};

/// The port of the far end.
const ECHO: u16 = 7;
/// UEs' ports: this one and 16,383 after it, by session, so that hashes of ports tell sessions apart.
const FIRST_UE_PORT: u16 = 49_152;
/// IPv4 and UDP.
pub(crate) const USER_HEADERS: usize = 28;

/// Makes the frames of one direction.
pub struct Maker {
    direction: Direction,
    sizes: Sizes,
    templates: Vec<Template>,
}

/// A frame but for what is a packet's own.
struct Template {
    bytes: Vec<u8>,
    /// Where the user's packet begins.
    user_at: usize,
    /// Sum of its IPv4 header without the UE's address.
    sum: u32,
}

impl Maker {
    /// For frames between these stations.
    pub fn new(plan: &Plan, direction: Direction, sizes: Sizes, from: Mac, to: Mac) -> Maker {
        let template = |size: usize| Template::new(plan, direction, size - ETHERNET, from, to);
        Maker { direction, sizes, templates: sizes.all().into_iter().map(template).collect() }
    }

    /// Makes the frame of a tag; its length on the core side, check sequence included, in bytes.
    #[inline]
    pub fn write(&self, plan: &Plan, tag: &Tag, packet: &mut Packet) -> usize {
        let sessions = plan.sessions.len();
        let session = plan.session(tag.sequence);
        let template = &self.templates[self.sizes.of(tag.sequence, sessions)];
        packet.set(&template.bytes);
        let number = (tag.sequence % sessions as u64) as u16;
        template.fill(packet.data_mut(), self.direction, session, FIRST_UE_PORT | number & 0x3fff, tag);
        template.bytes.len() - template.user_at + ETHERNET
    }

    /// The longest frame, as a port has it.
    pub fn longest(&self) -> usize {
        self.templates.iter().map(|template| template.bytes.len()).max().unwrap_or(0)
    }
}

impl Template {
    fn new(plan: &Plan, direction: Direction, user_len: usize, from: Mac, to: Mac) -> Template {
        let nobody = Ipv4Addr::UNSPECIFIED;
        let (src, dst) = if direction == Direction::Up { (nobody, plan.dn) } else { (plan.dn, nobody) };
        let mut user = Vec::with_capacity(user_len);
        ipv4::Repr { src, dst, protocol: ipv4::UDP, tos: 0, ttl: 64, payload_len: user_len - 20 }.emit(&mut user);
        user[10..12].fill(0);
        let sum = checksum::sum(&user);
        let (src_port, dst_port) = if direction == Direction::Up { (FIRST_UE_PORT, ECHO) } else { (ECHO, FIRST_UE_PORT) };
        user.extend(src_port.to_be_bytes());
        user.extend(dst_port.to_be_bytes());
        user.extend(((user_len - 20) as u16).to_be_bytes());
        user.resize(user_len, 0);
        let mut bytes = Vec::new();
        ethernet::Repr { dst: to, src: from, ethertype: ethernet::IPV4 }.emit(&mut bytes);
        if plan.tunnels && direction == Direction::Up {
            let container = plan.sessions.first().and_then(|session| session.qfi).map(|_| [1, 0x10, 0, 0]);
            let container = container.as_ref().map_or(&[][..], |container| &container[..]);
            let message = gtpu::g_pdu(1, gtpu::extension_type::PDU_SESSION_CONTAINER, container, &user);
            tunnel(&mut bytes, plan.gnb, plan.upf, &message);
        } else {
            bytes.extend(&user);
        }
        Template { user_at: bytes.len() - user.len(), bytes, sum }
    }

    #[inline]
    fn fill(&self, frame: &mut [u8], direction: Direction, session: &Session, ue_port: u16, tag: &Tag) {
        if self.user_at > 14 {
            // TEID, and the QFI two bytes before the end of the container.
            const TEID_AT: usize = 14 + 28 + 4;
            frame[TEID_AT..TEID_AT + 4].copy_from_slice(&session.uplink_teid.to_be_bytes());
            if let Some(qfi) = session.qfi {
                frame[self.user_at - 2] = qfi;
            }
        }
        let user = &mut frame[self.user_at..];
        let ue = session.ue.octets();
        let (address_at, port_at) = if direction == Direction::Up { (12, 20) } else { (16, 22) };
        user[address_at..address_at + 4].copy_from_slice(&ue);
        user[port_at..port_at + 2].copy_from_slice(&ue_port.to_be_bytes());
        let sum =
            checksum::finish(self.sum + u32::from(u16::from_be_bytes([ue[0], ue[1]])) + u32::from(u16::from_be_bytes([ue[2], ue[3]])));
        user[10..12].copy_from_slice(&sum.to_be_bytes());
        tag.emit(&mut user[USER_HEADERS..USER_HEADERS + tag::LEN]);
    }
}

/// Appends IPv4 and UDP headers without a checksum of UDP's (TS 29.281 §4.4.2.0 has both ports), and the message.
pub(crate) fn tunnel(out: &mut Vec<u8>, src: Ipv4Addr, dst: Ipv4Addr, message: &[u8]) {
    ipv4::Repr { src, dst, protocol: ipv4::UDP, tos: 0, ttl: 64, payload_len: message.len() + 8 }.emit(out);
    out.extend(gtpu::PORT.to_be_bytes());
    out.extend(gtpu::PORT.to_be_bytes());
    out.extend(((message.len() + 8) as u16).to_be_bytes());
    out.extend([0, 0]);
    out.extend(message);
}

#[cfg(test)]
mod tests {
    use super::*;
    use wire::udp;

    #[test]
    fn frames_are_sound_and_their_sizes_are_those_of_rfc_2544() {
        let address = |n| Ipv4Addr::new(10, n, 0, 1);
        for (tunnels, qfi) in [(true, Some(9)), (true, None), (false, None)] {
            let sessions = Plan::counted(300, Ipv4Addr::new(10, 45, 255, 200), 0x0100_0000, 1, qfi).unwrap();
            let plan = Plan { sessions, tunnels, gnb: address(2), upf: address(3), dn: address(6) };
            for direction in Direction::BOTH {
                for size in crate::plan::RFC2544_SIZES {
                    let maker = Maker::new(&plan, direction, Sizes::Fixed(size), Mac([2; 6]), Mac([4; 6]));
                    for sequence in [0, 299, 300, 77_777] {
                        let tag = Tag { trial: 3, direction, reply: false, sequence, time_ns: 5 };
                        let mut packet = Packet::empty(0);
                        assert_eq!(maker.write(&plan, &tag, &mut packet), size);
                        let session = plan.sessions[(sequence % 300) as usize];
                        let frame = ethernet::Frame::new_checked(packet.data()).unwrap();
                        assert_eq!((frame.dst(), frame.src()), (Mac([4; 6]), Mac([2; 6])));
                        let mut user = ipv4::Packet::new_checked(frame.payload()).unwrap();
                        let in_tunnel = tunnels && direction == Direction::Up;
                        if in_tunnel {
                            assert_eq!((user.src(), user.dst()), (plan.gnb, plan.upf));
                            let outer = udp::Datagram::new_checked(user.payload()).unwrap();
                            let message = gtpu::Packet::new_checked(outer.payload()).unwrap();
                            let message = gtpu::Repr::parse(&message).unwrap();
                            assert_eq!(message.teid, session.uplink_teid);
                            assert_eq!(message.session_container.map(|c| c.qfi()), qfi);
                            let gtpu::Message::GPdu { payload } = message.message else { panic!("{message:?}") };
                            user = ipv4::Packet::new_checked(payload).unwrap();
                        }
                        assert_eq!(packet.len(), size - 4 + if in_tunnel { plan.tunnel_bytes() } else { 0 });
                        let ends = if direction == Direction::Up { (session.ue, plan.dn) } else { (plan.dn, session.ue) };
                        assert_eq!((user.src(), user.dst(), user.bytes().len()), (ends.0, ends.1, size - ETHERNET));
                        let datagram = udp::Datagram::new_checked(user.payload()).unwrap();
                        datagram.verify_ipv4(user.src(), user.dst()).unwrap();
                        assert_eq!(Tag::parse(datagram.payload()), Some(tag));
                    }
                }
            }
        }
    }
}
