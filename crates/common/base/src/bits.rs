//! A value of P4's `bit<W>`: a width and the bits, always reduced modulo 2^W.

/// Widest `bit<W>` or `int<W>` that the system carries today, in bits.
pub const MAX_WIDTH: u32 = 128;

/// A `bit<width>` value. Invariant: no bit at or above `width` is set.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord, Default)]
pub struct Bits {
    value: u128,
    width: u32,
}

impl Bits {
    /// `value` modulo 2^`width`.
    ///
    /// # Panics
    /// If `width` exceeds [`MAX_WIDTH`]: the type checker refuses such types first.
    pub fn new(width: u32, value: u128) -> Bits {
        assert!(width <= MAX_WIDTH, "bit<{width}> is wider than {MAX_WIDTH}");
        Bits { value: value & Self::mask(width), width }
    }

    /// All ones in the low `width` bits (`width` up to 128).
    pub fn mask(width: u32) -> u128 {
        if width >= 128 { u128::MAX } else { (1u128 << width) - 1 }
    }

    /// The bits as an unsigned number.
    pub fn value(self) -> u128 {
        self.value
    }

    /// The bits as a two's complement number, for `int<W>`.
    pub fn signed(self) -> i128 {
        if self.width == 0 {
            return 0;
        }
        let shift = 128 - self.width;
        ((self.value << shift) as i128) >> shift
    }

    /// Width in bits.
    pub fn width(self) -> u32 {
        self.width
    }

    /// Whether any bit is set; a `bool` is a `Bits` of width 1.
    pub fn is_true(self) -> bool {
        self.value != 0
    }
}

impl From<bool> for Bits {
    fn from(b: bool) -> Bits {
        Bits::new(1, b as u128)
    }
}

/// P4's own notation: `16w0x800`.
impl std::fmt::Display for Bits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}w{:#x}", self.width, self.value)
    }
}

impl std::fmt::Debug for Bits {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{self}")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_wrap_at_their_width() {
        assert_eq!(Bits::new(8, 0x1ff).value(), 0xff);
        assert_eq!(Bits::new(128, u128::MAX).value(), u128::MAX);
        assert_eq!(Bits::new(0, 7).value(), 0);
    }

    #[test]
    fn signed_reads_twos_complement() {
        assert_eq!(Bits::new(8, 0xff).signed(), -1);
        assert_eq!(Bits::new(8, 0x7f).signed(), 127);
        assert_eq!(Bits::new(128, u128::MAX).signed(), -1);
    }
}
