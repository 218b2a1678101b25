//! The Internet checksum (RFC 1071) and the pseudo headers that UDP and ICMPv6 add to it.

use std::net::{Ipv4Addr, Ipv6Addr};

/// Ones' complement sum of `bytes`, an odd last byte padded with zero (RFC 1071 §4.1).
pub fn sum(bytes: &[u8]) -> u32 {
    // Any word size and byte order gives the same folded sum (RFC 1071 §2, parts B and C): 32 bits at a time cannot overflow 64, and in the
    // machine's order compilers make vectors of them.
    let (words, rest) = bytes.as_chunks::<4>();
    let mut last = [0; 4];
    last[..rest.len()].copy_from_slice(rest);
    let all = words.iter().map(|word| u64::from(u32::from_ne_bytes(*word))).sum::<u64>() + u64::from(u32::from_ne_bytes(last));
    u32::from(u16::from_be(fold(all)))
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
        assert_eq!(sum(&[1, 2, 3]), 0x0402);
        assert_eq!(finish(sum(&[0xff; 65536])), 0);
    }
}
