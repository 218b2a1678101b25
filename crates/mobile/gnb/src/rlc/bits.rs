//! Which sequence numbers of a window are there? One bit each, 64 looked at with one step.

/// A ring of bits. Numbers are counts that wrap at 32 bits; two that are apart by less than the ring's length have bits of their own.
pub(super) struct Bits {
    words: Box<[u64]>,
}

impl Bits {
    /// All clear; for at least `least` numbers.
    pub(super) fn new(least: u32) -> Bits {
        Bits { words: vec![0; least.next_power_of_two().max(64) as usize / 64].into() }
    }

    /// Word and bit of a number.
    #[inline]
    fn place(&self, count: u32) -> (usize, u32) {
        ((count >> 6) as usize & (self.words.len() - 1), count & 63)
    }

    #[inline]
    pub(super) fn get(&self, count: u32) -> bool {
        let (word, bit) = self.place(count);
        self.words[word] >> bit & 1 != 0
    }

    #[inline]
    pub(super) fn set(&mut self, count: u32) {
        let (word, bit) = self.place(count);
        self.words[word] |= 1 << bit;
    }

    #[inline]
    pub(super) fn clear(&mut self, count: u32) {
        let (word, bit) = self.place(count);
        self.words[word] &= !(1 << bit);
    }

    /// The first of `len` numbers from `from` on whose bit is `value`.
    #[inline]
    pub(super) fn find(&self, from: u32, len: u32, value: bool) -> Option<u32> {
        let mut offset = 0;
        while offset < len {
            let (word, bit) = self.place(from.wrapping_add(offset));
            let found = (self.words[word] ^ if value { 0 } else { u64::MAX }) >> bit;
            if found != 0 {
                let hit = offset + found.trailing_zeros();
                return (hit < len).then(|| from.wrapping_add(hit));
            }
            offset += 64 - bit;
        }
        None
    }

    /// The last of `len` numbers from `from` on whose bit is set.
    pub(super) fn find_last(&self, from: u32, len: u32) -> Option<u32> {
        let mut left = len;
        while left > 0 {
            let (word, bit) = self.place(from.wrapping_add(left - 1));
            let found = self.words[word] << (63 - bit);
            if found != 0 {
                let back = found.leading_zeros();
                return (back < left).then(|| from.wrapping_add(left - 1 - back));
            }
            left = left.saturating_sub(bit + 1);
        }
        None
    }

    /// Clears `len` numbers from `from` on.
    #[inline]
    pub(super) fn clear_range(&mut self, from: u32, len: u32) {
        let mut offset = 0;
        while offset < len {
            let (word, bit) = self.place(from.wrapping_add(offset));
            let bits = (64 - bit).min(len - offset);
            self.words[word] &= !(u64::MAX >> (64 - bits) << bit);
            offset += bits;
        }
    }

    pub(super) fn clear_all(&mut self) {
        self.words.fill(0);
    }
}

#[cfg(test)]
mod tests {
    use rand::Rng;

    use super::*;

    /// The twin: one bool a number.
    #[test]
    fn a_ring_of_words_does_what_a_list_of_bools_does() {
        let mut rng = testkit::rng(1);
        let (mut found, mut absent) = (0, 0);
        for len in [64, 128, 1024] {
            let (mut bits, mut twin) = (Bits::new(len), vec![false; len as usize]);
            // Numbers wrap within the test.
            let mut base = u32::MAX - 3 * len;
            let at = |count: u32| (count % len) as usize;
            for _ in 0..20_000 {
                base = base.wrapping_add(rng.random_range(0..8));
                let from = base.wrapping_add(rng.random_range(0..len));
                let run = rng.random_range(0..=len - from.wrapping_sub(base));
                let range = || (0..run).map(|offset| from.wrapping_add(offset));
                match rng.random_range(0..6) {
                    0 | 1 => range().take(70).for_each(|count| {
                        bits.set(count);
                        twin[at(count)] = true;
                    }),
                    2 => {
                        bits.clear(from);
                        twin[at(from)] = false;
                    }
                    3 => {
                        bits.clear_range(from, run);
                        range().for_each(|count| twin[at(count)] = false);
                    }
                    4 => {
                        let value = rng.random();
                        let expected = range().find(|count| twin[at(*count)] == value);
                        assert_eq!(bits.find(from, run, value), expected);
                        *(if expected.is_some() { &mut found } else { &mut absent }) += 1;
                    }
                    _ => assert_eq!(bits.find_last(from, run), range().rev().find(|count| twin[at(*count)])),
                }
                assert_eq!(bits.get(from), twin[at(from)]);
            }
        }
        assert!(found > 1000 && absent > 100, "found {found}, absent {absent}");
    }
}
