//! UDP headers (RFC 768).

use crate::{Error, Result, checksum, length_field, u16_at};
use std::net::Ipv4Addr;

/// Bytes of the header.
pub const HEADER_LEN: usize = 8;

/// View of a datagram.
#[derive(Clone, Copy, Debug)]
pub struct Datagram<'a>(&'a [u8]);

impl<'a> Datagram<'a> {
    /// All of the declared length there; bytes beyond it are left out of the view. The checksum is looked at by
    /// [`Datagram::verify_ipv4`].
    pub fn new_checked(data: &'a [u8]) -> Result<Datagram<'a>> {
        if data.len() < HEADER_LEN {
            return Err(Error::Truncated("udp"));
        }
        let length = usize::from(u16_at(data, 4));
        if length < HEADER_LEN {
            return Err(Error::Malformed("udp length"));
        }
        if data.len() < length {
            return Err(Error::Truncated("udp"));
        }
        Ok(Datagram(&data[..length]))
    }

    /// Checks the checksum over IPv4; zero means that there is none.
    pub fn verify_ipv4(&self, src: Ipv4Addr, dst: Ipv4Addr) -> Result<()> {
        let pseudo = checksum::pseudo_ipv4(src, dst, crate::ipv4::UDP, self.0.len());
        if u16_at(self.0, 6) != 0 && checksum::finish(pseudo + checksum::sum(self.0)) != 0 {
            return Err(Error::Checksum("udp"));
        }
        Ok(())
    }

    /// Source port.
    pub fn src_port(&self) -> u16 {
        u16_at(self.0, 0)
    }

    /// Destination port.
    pub fn dst_port(&self) -> u16 {
        u16_at(self.0, 2)
    }

    /// What follows the header.
    pub fn payload(&self) -> &'a [u8] {
        &self.0[HEADER_LEN..]
    }
}

/// Meaning of a header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Source port.
    pub src_port: u16,
    /// Destination port.
    pub dst_port: u16,
}

impl Repr {
    /// Reads a view.
    pub fn parse(datagram: &Datagram<'_>) -> Repr {
        Repr { src_port: datagram.src_port(), dst_port: datagram.dst_port() }
    }

    /// Appends header and payload, with the checksum for these addresses.
    ///
    /// # Limits
    /// A payload beyond 65,527 bytes gets the largest length.
    pub fn emit_ipv4(&self, src: Ipv4Addr, dst: Ipv4Addr, payload: &[u8], out: &mut Vec<u8>) {
        let start = out.len();
        let length = HEADER_LEN + payload.len();
        out.extend_from_slice(&self.src_port.to_be_bytes());
        out.extend_from_slice(&self.dst_port.to_be_bytes());
        out.extend_from_slice(&length_field(length));
        out.extend_from_slice(&[0, 0]);
        out.extend_from_slice(payload);
        let pseudo = checksum::pseudo_ipv4(src, dst, crate::ipv4::UDP, length);
        // A sum of zero is sent as its other form: zero itself means "no checksum".
        let sum = match checksum::finish(pseudo + checksum::sum(&out[start..])) {
            0 => 0xffff,
            sum => sum,
        };
        out[start + 6..start + 8].copy_from_slice(&sum.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_datagram_survives() {
        let (a, b) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
        let mut out = Vec::new();
        Repr { src_port: 2152, dst_port: 2152 }.emit_ipv4(a, b, &[1, 2, 3], &mut out);
        let view = Datagram::new_checked(&out).unwrap();
        assert_eq!((view.payload(), view.verify_ipv4(a, b)), (&[1u8, 2, 3][..], Ok(())));
        out[8] ^= 1;
        assert_eq!(Datagram::new_checked(&out).unwrap().verify_ipv4(a, b), Err(Error::Checksum("udp")));
        out[6..8].fill(0);
        assert_eq!(Datagram::new_checked(&out).unwrap().verify_ipv4(a, b), Ok(()));
        assert_eq!(Datagram::new_checked(&out[..10]).unwrap_err(), Error::Truncated("udp"));
        out[5] = 7;
        assert_eq!(Datagram::new_checked(&out).unwrap_err(), Error::Malformed("udp length"));
    }
}
