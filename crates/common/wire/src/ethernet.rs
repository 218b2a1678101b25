//! Ethernet II frames without FCS.

use crate::{Error, Result, bytes, u16_at};

/// Bytes of the header.
pub const HEADER_LEN: usize = 14;
/// EtherType of IPv4.
pub const IPV4: u16 = 0x0800;
/// EtherType of ARP.
pub const ARP: u16 = 0x0806;
/// EtherType of IPv6.
pub const IPV6: u16 = 0x86dd;

/// A station's address.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Mac(pub [u8; 6]);

impl Mac {
    /// All stations.
    pub const BROADCAST: Mac = Mac([0xff; 6]);

    /// Whether it names one station: not a group, not zero.
    pub fn is_unicast(self) -> bool {
        self.0[0] & 1 == 0 && self.0 != [0; 6]
    }

    /// As a 48-bit number, as P4 has it.
    pub fn bits(self) -> u64 {
        self.0.iter().fold(0, |bits, b| bits << 8 | u64::from(*b))
    }

    /// The group that carries an IPv6 multicast address (RFC 2464 §7).
    pub fn ipv6_multicast(ip: std::net::Ipv6Addr) -> Mac {
        let o = ip.octets();
        Mac([0x33, 0x33, o[12], o[13], o[14], o[15]])
    }
}

impl std::fmt::Display for Mac {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let [a, b, c, d, e, g] = self.0;
        write!(f, "{a:02x}:{b:02x}:{c:02x}:{d:02x}:{e:02x}:{g:02x}")
    }
}

impl std::fmt::Debug for Mac {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

/// View of a frame.
#[derive(Clone, Copy, Debug)]
pub struct Frame<'a>(&'a [u8]);

impl<'a> Frame<'a> {
    /// At least a header.
    pub fn new_checked(data: &'a [u8]) -> Result<Frame<'a>> {
        if data.len() < HEADER_LEN {
            return Err(Error::Truncated("ethernet"));
        }
        Ok(Frame(data))
    }

    /// Destination.
    pub fn dst(&self) -> Mac {
        Mac(bytes(self.0, 0))
    }

    /// Source.
    pub fn src(&self) -> Mac {
        Mac(bytes(self.0, 6))
    }

    /// EtherType.
    pub fn ethertype(&self) -> u16 {
        u16_at(self.0, 12)
    }

    /// What follows the header, padding included.
    pub fn payload(&self) -> &'a [u8] {
        &self.0[HEADER_LEN..]
    }
}

/// Meaning of the header.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Destination.
    pub dst: Mac,
    /// Source.
    pub src: Mac,
    /// EtherType.
    pub ethertype: u16,
}

impl Repr {
    /// Reads a view.
    pub fn parse(frame: &Frame<'_>) -> Repr {
        Repr { dst: frame.dst(), src: frame.src(), ethertype: frame.ethertype() }
    }

    /// Appends the header.
    pub fn emit(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.dst.0);
        out.extend_from_slice(&self.src.0);
        out.extend_from_slice(&self.ethertype.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_header_survives() {
        let repr = Repr { dst: Mac::BROADCAST, src: Mac([2, 0, 0, 0, 0, 1]), ethertype: ARP };
        let mut out = Vec::new();
        repr.emit(&mut out);
        assert_eq!(out, [255, 255, 255, 255, 255, 255, 2, 0, 0, 0, 0, 1, 8, 6]);
        assert_eq!(Repr::parse(&Frame::new_checked(&out).unwrap()), repr);
        assert_eq!(Frame::new_checked(&out[..13]).unwrap_err(), Error::Truncated("ethernet"));
        assert_eq!(repr.src.bits(), 0x0200_0000_0001);
        assert_eq!(repr.src.to_string(), "02:00:00:00:00:01");
        assert_eq!(Mac::ipv6_multicast("ff02::1:ff12:3456".parse().unwrap()).to_string(), "33:33:ff:12:34:56");
    }
}
