//! Sets of numbers as runs of neighbours: of a million free numbers most lie side by side, so that what was in use once costs nothing.

use std::collections::BTreeMap;

/// A set of numbers. It takes memory by the gaps in it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Runs {
    /// First and last numbers of runs; no two touch.
    runs: BTreeMap<u64, u64>,
    count: u64,
}

impl Runs {
    /// The numbers below `end`.
    pub fn below(end: u64) -> Runs {
        Runs { runs: end.checked_sub(1).map(|last| (0, last)).into_iter().collect(), count: end }
    }

    /// How many numbers there are.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// How many runs they are in.
    pub fn runs(&self) -> usize {
        self.runs.len()
    }

    /// The run that has the number.
    fn run(&self, number: u64) -> Option<(u64, u64)> {
        self.runs.range(..=number).next_back().map(|(first, last)| (*first, *last)).filter(|(_, last)| number <= *last)
    }

    /// The first number from `from` on; after the greatest comes the least.
    pub fn next(&self, from: u64) -> Option<u64> {
        match self.run(from) {
            Some(_) => Some(from),
            None => self.runs.range(from..).next().or_else(|| self.runs.first_key_value()).map(|(first, _)| *first),
        }
    }

    /// Adds a number. Whether it was not there.
    pub fn insert(&mut self, number: u64) -> bool {
        if self.run(number).is_some() {
            return false;
        }
        let before = number.checked_sub(1).and_then(|before| self.run(before)).map(|(first, _)| first);
        let last = number.checked_add(1).and_then(|after| self.runs.remove(&after)).unwrap_or(number);
        self.runs.insert(before.unwrap_or(number), last);
        self.count += 1;
        true
    }

    /// Takes a number out. Whether it was there.
    pub fn remove(&mut self, number: u64) -> bool {
        let Some((first, last)) = self.run(number) else { return false };
        self.runs.remove(&first);
        if first < number {
            self.runs.insert(first, number - 1);
        }
        if number < last {
            self.runs.insert(number + 1, last);
        }
        self.count -= 1;
        true
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeSet;

    proptest! {
        /// The slow twin: a set of each number.
        #[test]
        fn runs_are_a_set(end in 0..40u64, steps in prop::collection::vec((prop_oneof![0..40u64, u64::MAX - 3..=u64::MAX], any::<bool>()), 1..120)) {
            let (mut runs, mut set) = (Runs::below(end), (0..end).collect::<BTreeSet<u64>>());
            for (number, insert) in steps {
                if insert {
                    prop_assert_eq!(runs.insert(number), set.insert(number));
                } else {
                    prop_assert_eq!(runs.remove(number), set.remove(&number));
                }
                prop_assert_eq!(runs.count(), set.len() as u64);
                let firsts = set.iter().filter(|n| n.checked_sub(1).is_none_or(|before| !set.contains(&before))).count();
                prop_assert_eq!(runs.runs(), firsts, "neighbours are one run");
                for from in [0, 1, 7, 39, 40, u64::MAX - 2, u64::MAX] {
                    prop_assert_eq!(runs.next(from), set.range(from..).next().or_else(|| set.first()).copied());
                }
            }
        }
    }
}
