//! Where in a table is a flow? The hashes of P4's v1model, so that a program and its twin here find the same place.
//!
//! CRCs of one polynomial with different salts differ by a constant and would put the same flows together in both ways of a table; two
//! polynomials are as good as independent here. Neither keeps an attacker from choosing flows that collide.

use crc::{CRC_16_ARC, CRC_32_ISO_HDLC, Crc, Table};

const CRC16: Crc<u16, Table<16>> = Crc::<u16, Table<16>>::new(&CRC_16_ARC);
const CRC32: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISO_HDLC);

/// A flow, hashed both ways.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Hashed {
    /// v1model's `crc16` of the key's bytes.
    pub crc16: u16,
    /// v1model's `crc32`.
    pub crc32: u32,
}

/// Of a key's bytes: those of a 5-tuple, say.
pub fn of_bytes(key: &[u8]) -> Hashed {
    Hashed { crc16: CRC16.checksum(key), crc32: CRC32.checksum(key) }
}

/// Of a key of eight bytes, the most significant first.
pub fn of(key: u64) -> Hashed {
    of_bytes(&key.to_be_bytes())
}

#[cfg(test)]
mod tests {
    #[test]
    fn hashes_are_those_of_v1model() {
        // The check values of the algorithms' catalogue, which crate `p4-interp` is tested with too.
        let hashed = super::of_bytes(b"123456789");
        assert_eq!((hashed.crc16, hashed.crc32), (0xbb3d, 0xcbf4_3926));
    }
}
