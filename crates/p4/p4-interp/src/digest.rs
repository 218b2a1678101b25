//! The hash algorithms of v1model over a byte string: checksums (RFC 1071), CRCs, exclusive or, identity.

use p4_ir::HashAlgorithm;

/// The digest of `data`. Data of an odd number of bytes counts as if a zero byte followed, where 16 bits are summed.
pub(crate) fn digest(algorithm: HashAlgorithm, data: &[u8]) -> u128 {
    match algorithm {
        HashAlgorithm::Csum16 => csum16(data).into(),
        HashAlgorithm::Xor16 => words(data).fold(0, |a, w| a ^ w).into(),
        HashAlgorithm::Crc16 => crc16(data).into(),
        HashAlgorithm::Crc32 => crc32(data).into(),
        // The first eight bytes as a number, as BMv2 takes them.
        HashAlgorithm::Identity => data.iter().take(8).fold(0, |a, b| a << 8 | u128::from(*b)),
    }
}

/// The complement of the one's complement sum of 16-bit words (RFC 1071 §1).
fn csum16(data: &[u8]) -> u16 {
    let mut sum = words(data).fold(0u64, |a, w| a + u64::from(w));
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

fn words(data: &[u8]) -> impl Iterator<Item = u16> + '_ {
    data.chunks(2).map(|c| u16::from(c[0]) << 8 | u16::from(c.get(1).copied().unwrap_or(0)))
}

/// CRC-16/ARC: polynomial 0x8005 reflected, starting from zero.
fn crc16(data: &[u8]) -> u16 {
    data.iter().fold(0, |crc, byte| (0..8).fold(crc ^ u16::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xa001 } else { crc >> 1 }))
}

/// CRC-32 (IEEE 802.3 §3.2.9): polynomial 0x04c11db7 reflected, starting from and complemented with all ones.
fn crc32(data: &[u8]) -> u32 {
    !data
        .iter()
        .fold(!0, |crc, byte| (0..8).fold(crc ^ u32::from(*byte), |crc, _| if crc & 1 == 1 { crc >> 1 ^ 0xedb8_8320 } else { crc >> 1 }))
}

#[cfg(test)]
mod tests {
    use super::*;

    const CHECK: &[u8] = b"123456789";

    #[test]
    fn the_published_check_values() {
        assert_eq!(digest(HashAlgorithm::Crc16, CHECK), 0xbb3d);
        assert_eq!(digest(HashAlgorithm::Crc32, CHECK), 0xcbf4_3926);
        // RFC 1071 §3's example: the sum is ddf2.
        assert_eq!(digest(HashAlgorithm::Csum16, &[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), 0x220d);
        assert_eq!(digest(HashAlgorithm::Csum16, &[0x01]), 0xfeff);
        assert_eq!(digest(HashAlgorithm::Csum16, &[]), 0xffff);
        assert_eq!(digest(HashAlgorithm::Xor16, &[0x12, 0x34, 0xff]), 0xed34);
        assert_eq!(digest(HashAlgorithm::Identity, CHECK), 0x3132_3334_3536_3738);
    }
}
