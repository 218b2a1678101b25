//! The user packet's DSCP, read from the frame before any target has parsed it.

use std::ops::Range;

/// Bytes before and of the fixed headers on the way to a user packet.
const ETHERNET: usize = 14;
const UDP: usize = 8;
const GTPU: usize = 8;
const GTPU_PORT: u16 = 2152;

/// DSCP of the user's IP packet: inside GTP-U if the frame is a tunnel's, else of the frame's own IP header.
/// `None` for anything else, and for what is too short or malformed.
pub(crate) fn user_dscp(frame: &[u8]) -> Option<u8> {
    let outer = frame.get(ETHERNET..)?;
    match be16(frame, 12)? {
        0x0800 => match tunnelled(outer) {
            Some(inner) => ip_dscp(outer.get(inner)?),
            None => ip_dscp(outer),
        },
        0x86dd => ip_dscp(outer),
        _ => None,
    }
}

/// Where in an IPv4 packet a G-PDU's payload lies (TS 29.281 §5.1, §5.2).
fn tunnelled(ip: &[u8]) -> Option<Range<usize>> {
    let header = usize::from(ip.first()? & 0xf) * 4;
    let whole = be16(ip, 6)? & 0x3fff == 0;
    if !whole || *ip.get(9)? != 17 || be16(ip, header + 2)? != GTPU_PORT {
        return None;
    }
    let gtpu = header + UDP;
    let flags = *ip.get(gtpu)?;
    if flags >> 4 != 3 || *ip.get(gtpu + 1)? != 255 {
        return None;
    }
    let mut at = gtpu + GTPU;
    if flags & 7 != 0 {
        let mut next = if flags & 4 != 0 { *ip.get(at + 3)? } else { 0 };
        at += 4;
        while next != 0 {
            let length = usize::from(*ip.get(at)?) * 4;
            if length == 0 {
                return None;
            }
            next = *ip.get(at + length - 1)?;
            at += length;
        }
    }
    Some(at..ip.len())
}

fn ip_dscp(ip: &[u8]) -> Option<u8> {
    match ip.first()? >> 4 {
        4 => Some(ip.get(1)? >> 2),
        6 => Some(((ip[0] << 4) | (ip.get(1)? >> 4)) >> 2),
        _ => None,
    }
}

fn be16(bytes: &[u8], at: usize) -> Option<u16> {
    Some(u16::from_be_bytes([*bytes.get(at)?, *bytes.get(at + 1)?]))
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

    fn ipv4(tos: u8, protocol: u8) -> Vec<u8> {
        let mut h = vec![0x45, tos, 0, 0, 0, 0, 0, 0, 64, protocol];
        h.resize(20, 0);
        h
    }

    #[test]
    fn reads_plain_and_tunnelled_packets() {
        assert_eq!(user_dscp(&frame(0x0800, &[&ipv4(46 << 2, 6)])), Some(46));
        let v6 = [0x6b, 0x80, 0, 0];
        assert_eq!(user_dscp(&frame(0x86dd, &[&v6])), Some(46));
        let udp = [8, 104, 8, 104, 0, 0, 0, 0];
        let plain = [0x30, 255, 0, 0, 0, 0, 0, 1];
        let psc = [0x34, 255, 0, 0, 0, 0, 0, 1, 0, 0, 0, 0x85, 1, 0x10, 9, 0];
        for gtpu in [&plain[..], &psc[..]] {
            let f = frame(0x0800, &[&ipv4(0, 17), &udp, gtpu, &ipv4(10 << 2, 6)]);
            assert_eq!(user_dscp(&f), Some(10));
            for cut in 0..f.len() {
                user_dscp(&f[..cut]);
            }
        }
        assert_eq!(user_dscp(&frame(0x0806, &[&[0; 28]])), None);
    }
}
