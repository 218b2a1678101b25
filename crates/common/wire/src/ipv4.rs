//! IPv4 headers (RFC 791). Options are skipped.

use crate::{Error, Result, bytes, checksum, length_field, u16_at};
use std::net::Ipv4Addr;

/// Bytes of the header without options.
pub const HEADER_LEN: usize = 20;
/// Protocol number of ICMP.
pub const ICMP: u8 = 1;
/// Protocol number of TCP.
pub const TCP: u8 = 6;
/// Protocol number of UDP.
pub const UDP: u8 = 17;

/// View of a packet whose header is sound.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a> {
    data: &'a [u8],
    header_len: usize,
}

impl<'a> Packet<'a> {
    /// Version 4, all of the header there with the right checksum, all of the declared length there.
    /// Bytes beyond the declared length (Ethernet padding) are left out of the view.
    pub fn new_checked(data: &'a [u8]) -> Result<Packet<'a>> {
        if data.len() < HEADER_LEN {
            return Err(Error::Truncated("ipv4"));
        }
        if data[0] >> 4 != 4 {
            return Err(Error::Malformed("ipv4 version"));
        }
        let header_len = usize::from(data[0] & 15) * 4;
        let total_len = usize::from(u16_at(data, 2));
        if header_len < HEADER_LEN || total_len < header_len {
            return Err(Error::Malformed("ipv4 length"));
        }
        if data.len() < total_len {
            return Err(Error::Truncated("ipv4"));
        }
        if checksum::finish(checksum::sum(&data[..header_len])) != 0 {
            return Err(Error::Checksum("ipv4"));
        }
        Ok(Packet { data: &data[..total_len], header_len })
    }

    /// Header and payload, without padding.
    pub fn bytes(&self) -> &'a [u8] {
        self.data
    }

    /// Type of service.
    pub fn tos(&self) -> u8 {
        self.data[1]
    }

    /// Identification.
    pub fn identification(&self) -> u16 {
        u16_at(self.data, 4)
    }

    /// Whether it is a fragment of a larger packet.
    pub fn is_fragment(&self) -> bool {
        u16_at(self.data, 6) & 0x3fff != 0
    }

    /// Whether it is a fragment other than the first, which has no header of its payload's protocol.
    pub fn is_later_fragment(&self) -> bool {
        u16_at(self.data, 6) & 0x1fff != 0
    }

    /// Whether routers may not fragment it.
    pub fn dont_fragment(&self) -> bool {
        u16_at(self.data, 6) & 0x4000 != 0
    }

    /// Time to live.
    pub fn ttl(&self) -> u8 {
        self.data[8]
    }

    /// Protocol of the payload.
    pub fn protocol(&self) -> u8 {
        self.data[9]
    }

    /// Source.
    pub fn src(&self) -> Ipv4Addr {
        Ipv4Addr::from(bytes::<4>(self.data, 12))
    }

    /// Destination.
    pub fn dst(&self) -> Ipv4Addr {
        Ipv4Addr::from(bytes::<4>(self.data, 16))
    }

    /// What follows header and options.
    pub fn payload(&self) -> &'a [u8] {
        &self.data[self.header_len..]
    }
}

/// Meaning of a header without options, not a fragment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Source.
    pub src: Ipv4Addr,
    /// Destination.
    pub dst: Ipv4Addr,
    /// Protocol of the payload.
    pub protocol: u8,
    /// Type of service.
    pub tos: u8,
    /// Time to live.
    pub ttl: u8,
    /// Bytes of the payload.
    pub payload_len: usize,
}

impl Repr {
    /// Reads a view; fragments are refused.
    pub fn parse(packet: &Packet<'_>) -> Result<Repr> {
        if packet.is_fragment() {
            return Err(Error::Malformed("ipv4 fragment"));
        }
        Ok(Repr {
            src: packet.src(),
            dst: packet.dst(),
            protocol: packet.protocol(),
            tos: packet.tos(),
            ttl: packet.ttl(),
            payload_len: packet.payload().len(),
        })
    }

    /// Appends the header, "don't fragment" set.
    ///
    /// # Limits
    /// A payload beyond 65,515 bytes gets the largest total length.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let start = out.len();
        out.extend_from_slice(&[0x45, self.tos]);
        out.extend_from_slice(&length_field(HEADER_LEN + self.payload_len));
        out.extend_from_slice(&[0, 0, 0x40, 0, self.ttl, self.protocol, 0, 0]);
        out.extend_from_slice(&self.src.octets());
        out.extend_from_slice(&self.dst.octets());
        let sum = checksum::finish(checksum::sum(&out[start..]));
        out[start + 10..start + 12].copy_from_slice(&sum.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const HEADER: [u8; 20] = [0x45, 0, 0, 22, 0, 0, 0x40, 0, 64, 17, 0x26, 0xd5, 10, 0, 0, 1, 10, 0, 0, 2];

    #[test]
    fn a_header_survives_and_padding_is_left_out() {
        let repr =
            Repr { src: Ipv4Addr::new(10, 0, 0, 1), dst: Ipv4Addr::new(10, 0, 0, 2), protocol: UDP, tos: 0, ttl: 64, payload_len: 2 };
        let mut out = Vec::new();
        repr.emit(&mut out);
        assert_eq!(out, HEADER);
        out.extend_from_slice(&[1, 2, 0, 0, 0]);
        let view = Packet::new_checked(&out).unwrap();
        assert_eq!((view.payload(), Repr::parse(&view)), (&[1u8, 2][..], Ok(repr)));
    }

    #[test]
    fn what_is_unsound_is_refused() {
        let mut bytes = [HEADER.as_slice(), &[0, 0]].concat();
        assert!(Packet::new_checked(&bytes).is_ok());
        assert_eq!(Packet::new_checked(&bytes[..21]).unwrap_err(), Error::Truncated("ipv4"));
        bytes[8] = 63;
        assert_eq!(Packet::new_checked(&bytes).unwrap_err(), Error::Checksum("ipv4"));
        bytes[0] = 0x44;
        assert_eq!(Packet::new_checked(&bytes).unwrap_err(), Error::Malformed("ipv4 length"));
        bytes[0] = 0x65;
        assert_eq!(Packet::new_checked(&bytes).unwrap_err(), Error::Malformed("ipv4 version"));
    }
}
