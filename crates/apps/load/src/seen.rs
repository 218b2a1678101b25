//! Has a packet arrived before, or late? A window of the last million numbers, a bit each: exact within it.

/// Numbers that are remembered: a tenth of a second at 10 million packets a second. A power of two.
const WINDOW: u64 = 1 << 20;

/// What a number is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// New, and the highest so far.
    InOrder,
    /// New, after a higher one.
    Reordered,
    /// It was there before.
    Duplicate,
    /// So far behind the highest that nobody remembers whether it was there.
    TooLate,
}

/// The numbers that have arrived.
pub struct Seen {
    words: Vec<u64>,
    /// One more than the highest.
    next: u64,
}

impl Default for Seen {
    fn default() -> Seen {
        Seen { words: vec![0; (WINDOW / 64) as usize], next: 0 }
    }
}

impl Seen {
    /// Nothing has arrived.
    pub fn clear(&mut self) {
        self.words.fill(0);
        self.next = 0;
    }

    /// Another number.
    pub fn note(&mut self, number: u64) -> Arrival {
        if number >= self.next {
            if number - self.next >= WINDOW {
                self.words.fill(0);
            } else {
                self.skip(number);
            }
            self.set_bit(number);
            self.next = number + 1;
            return Arrival::InOrder;
        }
        if self.next - number > WINDOW {
            return Arrival::TooLate;
        }
        let (word, bit) = place(number);
        if self.words[word] & bit != 0 {
            return Arrival::Duplicate;
        }
        self.set_bit(number);
        Arrival::Reordered
    }

    fn set_bit(&mut self, number: u64) {
        let (word, bit) = place(number);
        self.words[word] |= bit;
    }

    /// Nothing from the next number up to this one has arrived: whole words at once, as a loss may be long.
    fn skip(&mut self, until: u64) {
        let mut at = self.next;
        while at < until {
            let (word, bit) = place(at);
            if bit == 1 && until - at >= 64 {
                self.words[word] = 0;
                at += 64;
            } else {
                self.words[word] &= !bit;
                at += 1;
            }
        }
    }
}

fn place(number: u64) -> (usize, u64) {
    let at = number % WINDOW;
    ((at / 64) as usize, 1 << (at % 64))
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    #[test]
    fn what_left_the_window_is_too_late_and_its_place_is_free() {
        let mut seen = Seen::default();
        assert_eq!(seen.note(5), Arrival::InOrder);
        assert_eq!(seen.note(5), Arrival::Duplicate);
        assert_eq!(seen.note(5 + WINDOW), Arrival::InOrder, "the same bit");
        assert_eq!(seen.note(5), Arrival::TooLate);
        assert_eq!(seen.note(6), Arrival::Reordered);
        assert_eq!(seen.note(6), Arrival::Duplicate);
        assert_eq!(seen.note(10 * WINDOW), Arrival::InOrder);
        assert_eq!(seen.note(9 * WINDOW + 1), Arrival::Reordered, "nothing of before is left");
        seen.clear();
        assert_eq!(seen.note(0), Arrival::InOrder);
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(64))]

        /// Beside a set of all numbers.
        #[test]
        fn a_window_knows_what_a_set_knows(
            steps in prop::collection::vec((0u64..200, prop::sample::select(vec![0u64, 0, 0, 1, 3, 70, 300, WINDOW - 1, WINDOW, WINDOW + 1])), 1..200)
        ) {
            let (mut seen, mut all, mut highest) = (Seen::default(), BTreeSet::new(), 0u64);
            for (back, ahead) in steps {
                let number = (highest + ahead).saturating_sub(back);
                let expected = match all.last() {
                    Some(last) if number <= *last && last - number >= WINDOW => Arrival::TooLate,
                    Some(last) if number <= *last => if all.contains(&number) { Arrival::Duplicate } else { Arrival::Reordered },
                    _ => Arrival::InOrder,
                };
                prop_assert_eq!(seen.note(number), expected);
                all.insert(number);
                highest = highest.max(number);
            }
        }
    }
}
