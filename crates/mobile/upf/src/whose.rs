//! Whose packet is a frame? Its user's addresses and tunnel, read before any target has parsed it: for who looks at one user's packets.

use std::net::IpAddr;

use wire::{ethernet, gtpu, ipv4, ipv6, udp, user};

/// The user's IP packet of a frame: inside GTP-U if it is a G-PDU, else the frame's own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Whose {
    /// Its source.
    pub src: IpAddr,
    /// Its destination.
    pub dst: IpAddr,
    /// Of the tunnel that it came by.
    pub teid: Option<u32>,
}

impl Whose {
    /// `None` for what is no IP packet, too short or malformed.
    pub fn read(frame: &[u8]) -> Option<Whose> {
        let packet = user::packet(frame)?;
        let (src, dst) = match packet.first()? >> 4 {
            4 => ipv4::Packet::new_checked(packet).ok().map(|p| (p.src().into(), p.dst().into()))?,
            6 => ipv6::Packet::new_checked(packet).ok().map(|p| (p.src().into(), p.dst().into()))?,
            _ => return None,
        };
        Some(Whose { src, dst, teid: teid(frame) })
    }

    /// Whether it is to or from this address of a UE: of IPv6 the /64 counts.
    pub fn is_of(&self, ue: IpAddr) -> bool {
        let same = |address: IpAddr| match (address, ue) {
            (IpAddr::V6(a), IpAddr::V6(b)) => u128::from(a) >> 64 == u128::from(b) >> 64,
            (a, b) => a == b,
        };
        same(self.src) || same(self.dst)
    }
}

fn teid(frame: &[u8]) -> Option<u32> {
    let frame = ethernet::Frame::new_checked(frame).ok().filter(|frame| frame.ethertype() == ethernet::IPV4)?;
    let outer = ipv4::Packet::new_checked(frame.payload()).ok().filter(|p| p.protocol() == ipv4::UDP && !p.is_fragment())?;
    let datagram = udp::Datagram::new_checked(outer.payload()).ok().filter(|d| d.dst_port() == gtpu::PORT)?;
    let message = gtpu::Packet::new_checked(datagram.payload()).ok()?;
    (message.message_type() == gtpu::message_type::G_PDU).then(|| message.teid())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ipv4(protocol: u8, payload: &[u8]) -> Vec<u8> {
        let mut packet = Vec::new();
        let (src, dst) = ([10, 45, 0, 2].into(), [8, 8, 8, 8].into());
        ipv4::Repr { src, dst, protocol, tos: 0, ttl: 64, payload_len: payload.len() }.emit(&mut packet);
        packet.extend(payload);
        packet
    }

    fn frame(ethertype: u16, packet: &[u8]) -> Vec<u8> {
        [&[0; 12][..], &ethertype.to_be_bytes(), packet].concat()
    }

    #[test]
    fn users_and_tunnels_are_found_and_what_is_cut_is_nobodys() {
        let user = ipv4(253, &[7; 20]);
        let plain = Whose { src: [10, 45, 0, 2].into(), dst: [8, 8, 8, 8].into(), teid: None };
        assert_eq!(Whose::read(&frame(0x0800, &user)), Some(plain));
        assert!(plain.is_of([10, 45, 0, 2].into()) && plain.is_of([8, 8, 8, 8].into()) && !plain.is_of([10, 45, 0, 3].into()));
        let gtpu = [&[0x30, 255, 0, 40, 0, 0, 0, 9][..], &user].concat();
        let udp = [&[8, 104, 8, 104, 0, 8 + gtpu.len() as u8, 0, 0][..], &gtpu].concat();
        let tunnelled = frame(0x0800, &ipv4(17, &udp));
        assert_eq!(Whose::read(&tunnelled), Some(Whose { teid: Some(9), ..plain }));
        for cut in 0..tunnelled.len() {
            assert_eq!(Whose::read(&tunnelled[..cut]), None, "{cut}");
        }
        assert_eq!(Whose::read(&frame(0x0806, &[0; 28])), None);
        let near = Whose { src: "2001:db8:45:1::7".parse().unwrap(), dst: "2001:db8:7::1".parse().unwrap(), teid: None };
        assert!(near.is_of("2001:db8:45:1::".parse().unwrap()) && !near.is_of("2001:db8:45:2::7".parse().unwrap()));
    }
}
