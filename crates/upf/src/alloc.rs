//! Numbers given out and taken back: PDR numbers, groups, usage and meter cells, shared filter sets.

use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

use crate::filters::FilterSet;

/// Numbers from 1. Those given back are used again in the order of their return, so that a number rests as long as
/// others are free: what still carries it (a packet on its way) is rarely taken for the next owner's.
#[derive(Debug)]
pub struct NumberPool {
    what: &'static str,
    next: u32,
    last: u32,
    free: VecDeque<u32>,
}

impl NumberPool {
    /// Numbers 1 to `last`.
    pub fn new(what: &'static str, last: u32) -> NumberPool {
        NumberPool { what, next: 1, last, free: VecDeque::new() }
    }

    /// A number, or what has run out.
    pub fn take(&mut self) -> Result<u32, String> {
        // A few numbers rest before they are used again, while there are unused ones.
        if self.next <= self.last && self.free.len() < 64 {
            self.next += 1;
            return Ok(self.next - 1);
        }
        self.free.pop_front().ok_or_else(|| format!("all {} {} are in use", self.last, self.what))
    }

    /// Takes a number back that [`NumberPool::take`] gave.
    pub fn give_back(&mut self, number: u32) {
        debug_assert!(number != 0 && number < self.next, "{} {number} were never given out", self.what);
        self.free.push_back(number);
    }

    /// Numbers in use.
    pub fn used(&self) -> usize {
        self.next as usize - 1 - self.free.len()
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
    pub fn hold(&mut self, content: &Arc<FilterSet>) -> Result<(u16, bool), String> {
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
        assert_eq!(pool.take(), Err("all 3 cells are in use".into()));
        pool.give_back(3);
        pool.give_back(1);
        assert_eq!((pool.used(), pool.take(), pool.take(), pool.used()), (1, Ok(3), Ok(1), 3));
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
