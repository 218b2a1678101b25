//! The user packet's DSCP, read from the frame before any target has parsed it: for placement by DSCP.

use wire::{ipv4, ipv6, user};

/// DSCP of the user's IP packet ([`user::packet`]). `None` for what is no IP packet, too short or malformed.
pub fn user_dscp(frame: &[u8]) -> Option<u8> {
    ip_dscp(user::packet(frame)?)
}

fn ip_dscp(packet: &[u8]) -> Option<u8> {
    match packet.first()? >> 4 {
        4 => Some(ipv4::Packet::new_checked(packet).ok()?.tos() >> 2),
        6 => Some(ipv6::Packet::new_checked(packet).ok()?.traffic_class() >> 2),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn frame(ethertype: u16, rest: &[&[u8]]) -> Vec<u8> {
        let mut f = vec![0; 12];
        f.extend(ethertype.to_be_bytes());
        rest.iter().for_each(|r| f.extend(*r));
        f
    }

    fn ipv4(tos: u8, protocol: u8, payload: &[u8]) -> Vec<u8> {
        let mut h = vec![0x45, tos, 0, 0, 0, 0, 0, 0, 64, protocol];
        h.resize(20, 0);
        h[2..4].copy_from_slice(&((20 + payload.len()) as u16).to_be_bytes());
        let sum = wire::checksum::finish(wire::checksum::sum(&h));
        h[10..12].copy_from_slice(&sum.to_be_bytes());
        h.extend(payload);
        h
    }

    #[test]
    fn reads_plain_and_tunnelled_packets() {
        assert_eq!(user_dscp(&frame(0x0800, &[&ipv4(46 << 2, 6, &[])])), Some(46));
        let mut v6 = vec![0x6b, 0x80, 0, 0, 0, 0, 59, 64];
        v6.resize(40, 0);
        assert_eq!(user_dscp(&frame(0x86dd, &[&v6])), Some(46));
        let user = ipv4(10 << 2, 6, &[]);
        let plain = [0x30, 255, 0, 20, 0, 0, 0, 1];
        let psc = [0x34, 255, 0, 28, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0x10, 9, 0];
        for gtpu in [&plain[..], &psc[..]] {
            let mut udp = vec![8, 104, 8, 104, 0, (8 + gtpu.len() + user.len()) as u8, 0, 0];
            udp.extend(gtpu);
            udp.extend(&user);
            let f = frame(0x0800, &[&ipv4(0, 17, &udp)]);
            assert_eq!(user_dscp(&f), Some(10));
            for cut in 0..f.len() {
                assert_eq!(user_dscp(&f[..cut]), None);
            }
        }
        assert_eq!(user_dscp(&frame(0x0806, &[&[0; 28]])), None);
    }
}
