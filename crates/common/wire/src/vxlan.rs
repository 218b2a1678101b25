//! VXLAN headers (RFC 7348 §5), and the frame around a frame.

use crate::ethernet::{self, Mac};
use crate::{Error, Result, ipv4, u32_at, udp};
use std::net::Ipv4Addr;

/// UDP port.
pub const PORT: u16 = 4789;
/// Bytes of the header.
pub const HEADER_LEN: usize = 8;

/// View of a header and the frame behind it.
#[derive(Clone, Copy, Debug)]
pub struct Packet<'a>(&'a [u8]);

impl<'a> Packet<'a> {
    /// All of the header there and the I flag set.
    pub fn new_checked(data: &'a [u8]) -> Result<Packet<'a>> {
        if data.len() < HEADER_LEN {
            return Err(Error::Truncated("vxlan"));
        }
        if data[0] & 0x08 == 0 {
            return Err(Error::Malformed("vxlan flags"));
        }
        Ok(Packet(data))
    }

    /// Overlay's number.
    pub fn vni(&self) -> u32 {
        u32_at(self.0, 4) >> 8
    }

    /// The frame inside.
    pub fn payload(&self) -> &'a [u8] {
        &self.0[HEADER_LEN..]
    }
}

/// What goes around a frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Repr {
    /// Underlay's next hop.
    pub dst_mac: Mac,
    /// Our address on the underlay.
    pub src_mac: Mac,
    /// Our tunnel endpoint.
    pub local_vtep: Ipv4Addr,
    /// The peer's tunnel endpoint.
    pub remote_vtep: Ipv4Addr,
    /// Overlay's number, 24 bits.
    pub vni: u32,
    /// Source port, for entropy.
    pub src_port: u16,
}

impl Repr {
    /// Appends the underlay's headers and `frame`.
    pub fn emit(&self, frame: &[u8], out: &mut Vec<u8>) {
        ethernet::Repr { dst: self.dst_mac, src: self.src_mac, ethertype: ethernet::IPV4 }.emit(out);
        let payload_len = udp::HEADER_LEN + HEADER_LEN + frame.len();
        let (src, dst) = (self.local_vtep, self.remote_vtep);
        ipv4::Repr { src, dst, protocol: ipv4::UDP, tos: 0, ttl: 64, payload_len }.emit(out);
        let mut vxlan = vec![0x08, 0, 0, 0];
        vxlan.extend_from_slice(&(self.vni << 8).to_be_bytes());
        vxlan.extend_from_slice(frame);
        udp::Repr { src_port: self.src_port, dst_port: PORT }.emit_ipv4(src, dst, &vxlan, out);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_frame_survives_its_tunnel() {
        let mac = Mac([2, 0, 0, 0, 0, 1]);
        let (a, b) = (Ipv4Addr::new(10, 0, 0, 1), Ipv4Addr::new(10, 0, 0, 2));
        let repr = Repr { dst_mac: mac, src_mac: mac, local_vtep: a, remote_vtep: b, vni: 0x123456, src_port: 0xc001 };
        let mut out = Vec::new();
        repr.emit(b"frame", &mut out);
        let ip = ipv4::Packet::new_checked(&out[14..]).unwrap();
        let udp = udp::Datagram::new_checked(ip.payload()).unwrap();
        assert_eq!((udp.dst_port(), udp.verify_ipv4(a, b)), (PORT, Ok(())));
        let vxlan = Packet::new_checked(udp.payload()).unwrap();
        assert_eq!((vxlan.vni(), vxlan.payload()), (0x123456, &b"frame"[..]));
    }
}
