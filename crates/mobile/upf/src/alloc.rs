//! Allocation of numbers: PDR numbers, groups, usage and meter cells, shared filter sets.

use std::collections::HashMap;
use std::sync::Arc;

use pfcp::runs::Runs;

use crate::filters::FilterSet;

/// Numbers from 1. Released ones are reused round robin, so that a number rests for a full round: a packet in flight that still
/// carries it is rarely taken for the next owner's. Free numbers are kept as runs: a million that are released
/// one after the other are a few in the end.
#[derive(Debug)]
pub struct NumberPool {
    what: &'static str,
    next: u32,
    last: u32,
    /// Released ones.
    free: Runs,
    /// Where the circle is.
    cursor: u32,
}

/// All numbers of a kind are in use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("all {last} {what} are in use")]
pub struct Exhausted {
    /// The kind, in the plural.
    pub what: &'static str,
    /// How many there are.
    pub last: u32,
}

/// Released numbers that rest while there are unused ones.
const RESTING: u64 = 64;

impl NumberPool {
    /// Numbers 1 to `last`.
    pub fn new(what: &'static str, last: u32) -> NumberPool {
        NumberPool { what, next: 1, last, free: Runs::default(), cursor: 0 }
    }

    /// A number that is free.
    pub fn take(&mut self) -> Result<u32, Exhausted> {
        // A few numbers rest before they are used again, while there are unused ones.
        if self.next <= self.last && self.free.count() < RESTING {
            self.next += 1;
            return Ok(self.next - 1);
        }
        let number = self.free.next(self.cursor.into()).ok_or(Exhausted { what: self.what, last: self.last })?;
        self.free.remove(number);
        // As it was given back.
        let number = number as u32;
        self.cursor = number + 1;
        Ok(number)
    }

    /// Takes a number back that [`NumberPool::take`] gave.
    pub fn give_back(&mut self, number: u32) {
        debug_assert!(number != 0 && number < self.next, "{} {number} were never given out", self.what);
        self.free.insert(number.into());
    }

    /// Numbers in use.
    pub fn used(&self) -> usize {
        (self.next - 1) as usize - self.free.count() as usize
    }
}

/// Filter sets, one for each content, counted by their users.
#[derive(Debug)]
pub struct FilterSets {
    numbers: NumberPool,
    by_content: HashMap<Arc<FilterSet>, u16>,
    by_number: HashMap<u16, (Arc<FilterSet>, u32)>,
}

impl Default for FilterSets {
    fn default() -> FilterSets {
        let numbers = NumberPool::new("filter sets", u32::from(u16::MAX));
        FilterSets { numbers, by_content: HashMap::new(), by_number: HashMap::new() }
    }
}

impl FilterSets {
    /// One more user of a set: its number, and whether it is new (its entries must be inserted).
    pub fn hold(&mut self, content: &Arc<FilterSet>) -> Result<(u16, bool), Exhausted> {
        if let Some(number) = self.by_content.get(content) {
            if let Some((_, users)) = self.by_number.get_mut(number) {
                *users += 1;
            }
            return Ok((*number, false));
        }
        let number = self.numbers.take()? as u16; // the pool ends at u16::MAX
        self.by_content.insert(content.clone(), number);
        self.by_number.insert(number, (content.clone(), 1));
        Ok((number, true))
    }

    /// One user less. The content, if that was the last: its entries are no longer needed.
    pub fn release(&mut self, number: u16) -> Option<Arc<FilterSet>> {
        let (content, users) = self.by_number.get_mut(&number)?;
        *users -= 1;
        if *users > 0 {
            return None;
        }
        let content = content.clone();
        self.by_number.remove(&number);
        self.by_content.remove(&content);
        self.numbers.give_back(u32::from(number));
        Some(content)
    }

    /// Content and number of users of a set.
    pub fn get(&self, number: u16) -> Option<(&Arc<FilterSet>, u32)> {
        self.by_number.get(&number).map(|(content, users)| (content, *users))
    }

    /// Sets in use.
    pub fn used(&self) -> usize {
        self.numbers.used()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_come_back_and_run_out() {
        let mut pool = NumberPool::new("cells", 3);
        assert_eq!([pool.take(), pool.take(), pool.take()], [Ok(1), Ok(2), Ok(3)]);
        assert_eq!(pool.take().unwrap_err().to_string(), "all 3 cells are in use");
        pool.give_back(3);
        pool.give_back(1);
        assert_eq!((pool.used(), pool.take(), pool.take(), pool.used()), (1, Ok(1), Ok(3), 3));
    }

    #[test]
    fn a_number_that_was_released_is_not_the_next_one_given() {
        let mut pool = NumberPool::new("cells", 1000);
        let mut given: Vec<u32> = Vec::new();
        for _ in 0..1000 {
            given.push(pool.take().unwrap());
            pool.give_back(*given.last().unwrap());
        }
        let rested = |of: &[u32]| !of[..RESTING as usize - 1].contains(&of[RESTING as usize - 1]);
        assert!(given.windows(RESTING as usize).all(rested), "{given:?}");
        assert_eq!(given.iter().max(), Some(&(RESTING as u32)), "few numbers are used");
    }

    /// Against a set of what is out; and what comes back in any order is one run in the end.
    #[test]
    fn no_number_is_given_out_twice_and_free_ones_cost_nothing() {
        use rand::Rng;
        use rand::seq::SliceRandom;
        let mut rng = testkit::rng(7);
        let mut pool = NumberPool::new("cells", 500);
        let mut out = Vec::new();
        let mut refused = 0;
        for round in 0..20_000 {
            if out.is_empty() || rng.random_range(0..4) < if round % 4000 < 2000 { 3 } else { 1 } {
                match pool.take() {
                    Ok(number) => {
                        assert!((1..=500).contains(&number) && !out.contains(&number));
                        out.push(number);
                    }
                    Err(_) => {
                        assert_eq!(out.len(), 500);
                        refused += 1;
                    }
                }
            } else {
                pool.give_back(out.swap_remove(rng.random_range(0..out.len())));
            }
            assert_eq!(pool.used(), out.len());
        }
        assert!(refused > 0);
        out.shuffle(&mut rng);
        out.into_iter().for_each(|number| pool.give_back(number));
        assert_eq!((pool.used(), pool.free.runs()), (0, 1));
    }

    #[test]
    fn equal_sets_are_one() {
        let (a, b) = (Arc::new(FilterSet::default()), Arc::new(FilterSet::default()));
        let mut sets = FilterSets::default();
        assert_eq!((sets.hold(&a), sets.hold(&b)), (Ok((1, true)), Ok((1, false))));
        assert_eq!(sets.release(1), None);
        assert_eq!(sets.release(1), Some(a));
        assert_eq!(sets.used(), 0);
    }
}
