//! IPv6 headers (RFC 8200). Extension headers are payload.

use crate::{Error, Result, bytes, length_field, u16_at};
use std::net::Ipv6Addr;

/// Bytes of the header.
pub const HEADER_LEN: usize = 40;
/// Next header of ICMPv6.
pub const ICMPV6: u8 = 58;

/// View of a packet.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a>(&'a [u8]);

impl<'a> Packet<'a> {
    /// Version 6 and all of the declared length there; bytes beyond it are left out of the view.
    pub fn new_checked(data: &'a [u8]) -> Result<Packet<'a>> {
        if data.len() < HEADER_LEN {
            return Err(Error::Truncated("ipv6"));
        }
        if data[0] >> 4 != 6 {
            return Err(Error::Malformed("ipv6 version"));
        }
        let total_len = HEADER_LEN + usize::from(u16_at(data, 4));
        if data.len() < total_len {
            return Err(Error::Truncated("ipv6"));
        }
        Ok(Packet(&data[..total_len]))
    }

    /// Header and payload, without padding.
    pub fn bytes(&self) -> &'a [u8] {
        self.0
    }

    /// Traffic class.
    pub fn traffic_class(&self) -> u8 {
        (u16_at(self.0, 0) >> 4) as u8
    }

    /// Protocol of what follows.
    pub fn next_header(&self) -> u8 {
        self.0[6]
    }

    /// Hop limit.
    pub fn hop_limit(&self) -> u8 {
        self.0[7]
    }

    /// Source.
    pub fn src(&self) -> Ipv6Addr {
        Ipv6Addr::from(bytes::<16>(self.0, 8))
    }

    /// Destination.
    pub fn dst(&self) -> Ipv6Addr {
        Ipv6Addr::from(bytes::<16>(self.0, 24))
    }

    /// What follows the header.
    pub fn payload(&self) -> &'a [u8] {
        &self.0[HEADER_LEN..]
    }
}

/// Meaning of a header with flow label zero.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Source.
    pub src: Ipv6Addr,
    /// Destination.
    pub dst: Ipv6Addr,
    /// Protocol of what follows.
    pub next_header: u8,
    /// Traffic class.
    pub traffic_class: u8,
    /// Hop limit.
    pub hop_limit: u8,
    /// Bytes of the payload.
    pub payload_len: usize,
}

impl Repr {
    /// Reads a view.
    pub fn parse(packet: &Packet<'_>) -> Repr {
        Repr {
            src: packet.src(),
            dst: packet.dst(),
            next_header: packet.next_header(),
            traffic_class: packet.traffic_class(),
            hop_limit: packet.hop_limit(),
            payload_len: packet.payload().len(),
        }
    }

    /// Appends the header.
    ///
    /// # Limits
    /// A payload beyond 65,535 bytes gets the largest payload length.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&[0x60 | self.traffic_class >> 4, self.traffic_class << 4, 0, 0]);
        out.extend_from_slice(&length_field(self.payload_len));
        out.extend_from_slice(&[self.next_header, self.hop_limit]);
        out.extend_from_slice(&self.src.octets());
        out.extend_from_slice(&self.dst.octets());
    }
}

/// The group that solicitations for an address go to (RFC 4291 §2.7.1).
pub fn solicited_node(ip: Ipv6Addr) -> Ipv6Addr {
    let o = ip.octets();
    let low = u16::from_be_bytes([o[14], o[15]]);
    Ipv6Addr::new(0xff02, 0, 0, 0, 0, 1, 0xff00 | u16::from(o[13]), low)
}

/// All nodes of a link.
pub const ALL_NODES: Ipv6Addr = Ipv6Addr::new(0xff02, 0, 0, 0, 0, 0, 0, 1);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_survives() {
        let repr = Repr {
            src: "fd00::1".parse().unwrap(),
            dst: "fd00::2".parse().unwrap(),
            next_header: ICMPV6,
            traffic_class: 0xb8,
            hop_limit: 255,
            payload_len: 3,
        };
        let mut out = Vec::new();
        repr.emit(&mut out);
        assert_eq!(out[..8], [0x6b, 0x80, 0, 0, 0, 3, 58, 255]);
        out.extend_from_slice(&[1, 2, 3, 9]);
        let view = Packet::new_checked(&out).unwrap();
        assert_eq!((Repr::parse(&view), view.payload()), (repr, &[1u8, 2, 3][..]));
        assert_eq!(Packet::new_checked(&out[..42]).unwrap_err(), Error::Truncated("ipv6"));
    }

    #[test]
    fn solicited_node_groups() {
        let ip: Ipv6Addr = "2001:db8::4012:3456".parse().unwrap();
        assert_eq!(solicited_node(ip).to_string(), "ff02::1:ff12:3456");
    }
}
