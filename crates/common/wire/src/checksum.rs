//! The Internet checksum (RFC 1071) and the pseudo headers that UDP and ICMPv6 add to it.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Ones' complement sum of `bytes`, an odd last byte padded with zero (RFC 1071 §4.1).
pub fn sum(bytes: &[u8]) -> u32 {
    let (pairs, rest) = bytes.as_chunks::<2>();
    let mut sum = 0u64;
    for pair in pairs {
        sum += u64::from(u16::from_be_bytes(*pair));
    }
    if let [last] = rest {
        sum += u64::from(*last) << 8;
    }
    u32::from(fold(sum))
}

/// Sum of an IPv4 pseudo header (RFC 768).
pub fn pseudo_ipv4(src: Ipv4Addr, dst: Ipv4Addr, protocol: u8, length: usize) -> u32 {
    sum(&src.octets()) + sum(&dst.octets()) + u32::from(protocol) + u32::from(fold(length as u64))
}

/// Sum of an IPv6 pseudo header (RFC 8200 §8.1).
pub fn pseudo_ipv6(src: Ipv6Addr, dst: Ipv6Addr, next_header: u8, length: usize) -> u32 {
    sum(&src.octets()) + sum(&dst.octets()) + u32::from(next_header) + u32::from(fold(length as u64))
}

/// Checksum field for the given sums: zero over correct data that includes its field.
pub fn finish(sums: u32) -> u16 {
    !fold(u64::from(sums))
}

fn fold(mut sum: u64) -> u16 {
    while sum > 0xffff {
        sum = (sum >> 16) + (sum & 0xffff);
    }
    sum as u16
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_example_of_rfc_1071() {
        assert_eq!(sum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), 0xddf2);
        assert_eq!(sum(&[0x12]), 0x1200);
        assert_eq!(finish(sum(&[0xff; 65536])), 0);
    }
}
