//! The keyed hash of a key read as 8-byte words.
//!
//! Whoever picks the keys (a peer its TEIDs, a subscriber its addresses) does not know the seed, so cannot aim at one
//! bucket. One 64x64-bit multiplication a word, folded to 64 bits, and one to finish.

/// Secret constants of one table.
#[derive(Clone, Copy)]
pub(crate) struct HashKey {
    start: u64,
    multiplier: u64,
    finish: u64,
}

impl HashKey {
    /// Spreads a seed over the constants (the increments and multipliers of splitmix64).
    pub(crate) fn new(seed: u64) -> HashKey {
        let mut state = seed;
        let mut next = || {
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        };
        let start = next();
        // Odd, so that no key bit is shifted out; dense, so that each reaches the upper half of the product.
        let mut multiplier = next() | 1;
        while !(24..=40).contains(&multiplier.count_ones()) {
            multiplier = next() | 1;
        }
        HashKey { start, multiplier, finish: next() }
    }

    /// A key for which all hashes are 0, to see what depends on the hash being good.
    #[cfg(test)]
    pub(crate) fn constant() -> HashKey {
        HashKey { start: 0, multiplier: 0, finish: 0 }
    }

    /// For generated code, which computes the same: start, multiplier, finish.
    pub(crate) fn parts(&self) -> [u64; 3] {
        [self.start, self.multiplier, self.finish]
    }

    /// Hash of a key's words, low bits as good as high ones.
    #[inline(always)]
    pub(crate) fn of(&self, words: &[u64]) -> u64 {
        let mut hash = self.start;
        for word in words {
            hash = fold(hash ^ word, self.multiplier);
        }
        fold(hash ^ self.finish, self.multiplier)
    }
}

/// Both halves of the product, xored.
#[inline(always)]
fn fold(a: u64, b: u64) -> u64 {
    let product = u128::from(a) * u128::from(b);
    product as u64 ^ (product >> 64) as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Keys as they come (counting up, in the high half, in strides) must fill 4096 bins, by each part of the hash that the
    /// tables use, about as chance would: chi-squared over 4095 degrees of freedom is 4095 +- 90 for a random function.
    #[test]
    fn structured_keys_spread() {
        for seed in 0..8 {
            let key = HashKey::new(seed);
            for pattern in 0..4u32 {
                for part in [0, 12, 24, 48] {
                    let mut bins = [0u32; 4096];
                    let n = 1u64 << 16;
                    for i in 0..n {
                        let word = match pattern {
                            0 => i,
                            1 => i << 32,
                            2 => i * 4096,
                            _ => i.swap_bytes(),
                        };
                        bins[(key.of(&[word]) >> part) as usize & 4095] += 1;
                    }
                    let mean = n as f64 / 4096.0;
                    let chi: f64 = bins.iter().map(|b| (f64::from(*b) - mean).powi(2) / mean).sum();
                    assert!(chi < 4095.0 + 9.0 * 90.0, "seed {seed} pattern {pattern} part {part}: chi-squared {chi}");
                }
            }
        }
    }

    #[test]
    fn every_key_bit_and_the_seed_matter() {
        let words = [0x0123_4567_89ab_cdef_u64, 42, 7];
        let key = HashKey::new(1);
        for bit in 0..192 {
            let mut other = words;
            other[bit / 64] ^= 1 << (bit % 64);
            let changed = (key.of(&words) ^ key.of(&other)).count_ones();
            assert!((10..=54).contains(&changed), "bit {bit} changes {changed} bits of the hash");
        }
        assert_ne!(key.of(&words), HashKey::new(2).of(&words));
    }
}
