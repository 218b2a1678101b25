//! ARP for IPv4 over Ethernet (RFC 826).

use crate::ethernet::Mac;
use crate::{Error, Result, bytes, u16_at};
use std::net::Ipv4Addr;

/// Bytes of a packet.
pub const LEN: usize = 28;

/// What an ARP packet asks or says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operation {
    /// Who has the target address?
    Request,
    /// The sender has its address.
    Reply,
}

/// View of a packet for IPv4 over Ethernet.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a>(&'a [u8]);

impl<'a> Packet<'a> {
    /// Long enough, and about IPv4 over Ethernet.
    pub fn new_checked(data: &'a [u8]) -> Result<Packet<'a>> {
        if data.len() < LEN {
            return Err(Error::Truncated("arp"));
        }
        if data[..6] != [0, 1, 8, 0, 6, 4] {
            return Err(Error::Malformed("arp types"));
        }
        Ok(Packet(data))
    }

    /// Operation code: 1 request, 2 reply.
    pub fn operation(&self) -> u16 {
        u16_at(self.0, 6)
    }

    /// Sender's MAC address.
    pub fn sender_mac(&self) -> Mac {
        Mac(bytes(self.0, 8))
    }

    /// Sender's IP address.
    pub fn sender_ip(&self) -> Ipv4Addr {
        Ipv4Addr::from(bytes::<4>(self.0, 14))
    }

    /// Target's MAC address.
    pub fn target_mac(&self) -> Mac {
        Mac(bytes(self.0, 18))
    }

    /// Target's IP address.
    pub fn target_ip(&self) -> Ipv4Addr {
        Ipv4Addr::from(bytes::<4>(self.0, 24))
    }
}

/// Meaning of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Request or reply.
    pub operation: Operation,
    /// Sender's MAC address.
    pub sender_mac: Mac,
    /// Sender's IP address; unspecified in a probe (RFC 5227).
    pub sender_ip: Ipv4Addr,
    /// Target's MAC address; zero in a request.
    pub target_mac: Mac,
    /// Target's IP address.
    pub target_ip: Ipv4Addr,
}

impl Repr {
    /// Reads a view; other operations are refused.
    pub fn parse(packet: &Packet<'_>) -> Result<Repr> {
        let operation = match packet.operation() {
            1 => Operation::Request,
            2 => Operation::Reply,
            _ => return Err(Error::Malformed("arp operation")),
        };
        if !packet.sender_mac().is_unicast() {
            return Err(Error::Malformed("arp sender"));
        }
        Ok(Repr {
            operation,
            sender_mac: packet.sender_mac(),
            sender_ip: packet.sender_ip(),
            target_mac: packet.target_mac(),
            target_ip: packet.target_ip(),
        })
    }

    /// Appends the packet.
    pub fn emit(&self, out: &mut Vec<u8>) {
        let operation = match self.operation {
            Operation::Request => 1,
            Operation::Reply => 2,
        };
        out.extend_from_slice(&[0, 1, 8, 0, 6, 4, 0, operation]);
        out.extend_from_slice(&self.sender_mac.0);
        out.extend_from_slice(&self.sender_ip.octets());
        out.extend_from_slice(&self.target_mac.0);
        out.extend_from_slice(&self.target_ip.octets());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_survives() {
        let repr = Repr {
            operation: Operation::Request,
            sender_mac: Mac([2, 0, 0, 0, 0, 1]),
            sender_ip: Ipv4Addr::new(10, 0, 0, 1),
            target_mac: Mac::default(),
            target_ip: Ipv4Addr::new(10, 0, 0, 2),
        };
        let mut out = Vec::new();
        repr.emit(&mut out);
        let expected = [0, 1, 8, 0, 6, 4, 0, 1, 2, 0, 0, 0, 0, 1, 10, 0, 0, 1, 0, 0, 0, 0, 0, 0, 10, 0, 0, 2];
        assert_eq!(out, expected);
        assert_eq!(Repr::parse(&Packet::new_checked(&out).unwrap()), Ok(repr));
        for cut in 0..LEN {
            assert!(Packet::new_checked(&out[..cut]).is_err());
        }
        out[7] = 3;
        assert_eq!(Repr::parse(&Packet::new_checked(&out).unwrap()), Err(Error::Malformed("arp operation")));
    }
}
