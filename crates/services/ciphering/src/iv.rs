//! What do the algorithms start from? COUNT, BEARER and DIRECTION as each of them arranges it in its first 16 bytes.

use crate::{Direction, Job};

/// The inputs that are the same for all algorithms.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Inputs {
    pub count: u32,
    pub bearer: u8,
    pub direction: Direction,
}

impl Inputs {
    pub(crate) fn of(job: &Job<'_>) -> Inputs {
        Inputs { count: job.count, bearer: job.bearer, direction: job.direction }
    }

    /// COUNT || BEARER || DIRECTION || 26 zeros: what CTR's first block begins with, and what CMAC has before the message
    /// (TS 33.401 §B.1.3, §B.2.3). ZUC's f8 has it twice (TS 35.221 §3.3).
    pub(crate) fn half(self) -> [u8; 8] {
        self.half_word().to_be_bytes()
    }

    /// As a word.
    #[inline]
    pub(crate) fn half_word(self) -> u64 {
        u64::from(self.count) << 32 | u64::from(self.bearer) << 27 | u64::from(self.direction.bit()) << 26
    }

    /// AES-CTR's first block.
    #[inline]
    pub(crate) fn ctr(self) -> [u8; 16] {
        (u128::from(self.half_word()) << 64).to_be_bytes()
    }

    /// The same for SNOW 3G's and ZUC's f8: IV3 || IV2 || IV1 || IV0 (TS 35.215 §4.4).
    #[inline]
    pub(crate) fn f8(self) -> [u8; 16] {
        let half = u128::from(self.half_word());
        (half << 64 | half).to_be_bytes()
    }

    /// SNOW 3G's and ZUC's f9 alike, with FRESH = BEARER || 27 zeros (TS 35.215 §4.5, TS 33.401 §B.2.2, TS 35.221 §4.3).
    pub(crate) fn f9(self) -> [u8; 16] {
        let fresh = u32::from(self.bearer) << 27;
        let bit = u32::from(self.direction.bit());
        let words = [self.count, fresh, self.count ^ bit << 31, fresh ^ bit << 15];
        words.iter().fold(0u128, |all, word| all << 32 | u128::from(*word)).to_be_bytes()
    }
}
