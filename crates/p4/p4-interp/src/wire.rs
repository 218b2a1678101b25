//! Fields to and from bytes, most significant bit first.

/// `width` bits (at most 128) of `bytes` from bit `offset` on, counted from the first byte's top bit.
///
/// # Panics
/// If they are not all inside `bytes`.
pub(crate) fn get_bits(bytes: &[u8], offset: usize, width: u32) -> u128 {
    let (mut value, mut at, mut left) = (0u128, offset, width as usize);
    while left > 0 {
        let taken = (8 - at % 8).min(left);
        let chunk = (bytes[at / 8] >> (8 - at % 8 - taken)) & low_bits(taken);
        value = value << taken | u128::from(chunk);
        at += taken;
        left -= taken;
    }
    value
}

/// Writes the low `width` bits of `value` where [`get_bits`] reads them.
///
/// # Panics
/// If they are not all inside `bytes`.
pub(crate) fn put_bits(bytes: &mut [u8], offset: usize, width: u32, value: u128) {
    let (mut at, mut left) = (offset, width as usize);
    while left > 0 {
        let taken = (8 - at % 8).min(left);
        left -= taken;
        let shift = 8 - at % 8 - taken;
        let chunk = (value >> left) as u8 & low_bits(taken);
        let byte = &mut bytes[at / 8];
        *byte = (*byte & !(low_bits(taken) << shift)) | chunk << shift;
        at += taken;
    }
}

fn low_bits(n: usize) -> u8 {
    (0xffu16 >> (8 - n)) as u8
}

/// Fields put one behind the other, for checksums and hashes.
#[derive(Default)]
pub(crate) struct BitString {
    bytes: Vec<u8>,
    bits: usize,
}

impl BitString {
    /// Empties it; the memory stays.
    pub(crate) fn clear(&mut self) {
        self.bytes.clear();
        self.bits = 0;
    }

    /// Appends the low `width` bits of `value`.
    pub(crate) fn push(&mut self, value: u128, width: u32) {
        let end = self.bits + width as usize;
        self.bytes.resize(end.div_ceil(8), 0);
        put_bits(&mut self.bytes, self.bits, width, value);
        self.bits = end;
    }

    /// Appends whole bytes.
    pub(crate) fn push_bytes(&mut self, bytes: &[u8]) {
        if self.bits.is_multiple_of(8) {
            self.bytes.extend_from_slice(bytes);
            self.bits += 8 * bytes.len();
        } else {
            bytes.iter().for_each(|b| self.push(u128::from(*b), 8));
        }
    }

    /// The bytes, the last one filled up with zero bits.
    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_put_at_any_place_is_got_back_and_nothing_else_changes() {
        let value = 0x0123_4567_89ab_cdef_0011_2233_4455_6677u128;
        for background in [0u8, 0xff] {
            for offset in 0..16 {
                for width in 1..=128u32 {
                    let mut bytes = [background; 20];
                    let part = value & base::Bits::mask(width);
                    put_bits(&mut bytes, offset, width, value);
                    assert_eq!(get_bits(&bytes, offset, width), part, "{offset}+{width}");
                    if offset > 0 {
                        assert_eq!(get_bits(&bytes, 0, offset as u32), (u128::from(background) * 0x0101) & base::Bits::mask(offset as u32));
                    }
                    assert_eq!(get_bits(&bytes, offset + width as usize, 8), u128::from(background));
                }
            }
        }
    }

    #[test]
    fn the_first_bit_is_the_top_bit_of_the_first_byte() {
        assert_eq!(get_bits(&[0x80, 0x01], 0, 1), 1);
        assert_eq!(get_bits(&[0x80, 0x01], 15, 1), 1);
        assert_eq!(get_bits(&[0x45, 0x00], 4, 4), 5);
    }

    #[test]
    fn a_bit_string_keeps_odd_widths_together() {
        let mut s = BitString::default();
        s.push(0b101, 3);
        s.push_bytes(&[0xff]);
        s.push(1, 1);
        assert_eq!(s.bytes(), [0b1011_1111, 0b1111_0000]);
    }
}
