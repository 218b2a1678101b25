//! What may each part of each variable hold at one point of a body? A set of numbers: which assignments may have set it, or whether a header is
//! valid.

use std::collections::HashMap;
use std::rc::Rc;

/// Nothing has set it.
pub(super) const UNSET: u32 = u32::MAX;
/// Something has that is not followed.
pub(super) const KNOWN: u32 = u32::MAX - 1;
/// The header is valid.
pub(super) const VALID: u32 = u32::MAX - 2;
/// The header is invalid.
pub(super) const INVALID: u32 = u32::MAX - 3;

/// Parts that are not in the map are set, and headers may be both: so little is kept, as most is so.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct State {
    /// `None`: no way leads here.
    facts: Option<HashMap<u32, Rc<[u32]>>>,
}

impl State {
    pub(super) fn start() -> State {
        State { facts: Some(HashMap::new()) }
    }

    pub(super) fn reached(&self) -> bool {
        self.facts.is_some()
    }

    /// Only `value` sets the part; `None`: something that is not followed.
    pub(super) fn set(&mut self, slot: u32, value: Option<u32>) {
        let Some(facts) = &mut self.facts else { return };
        match value {
            Some(v) => facts.insert(slot, Rc::new([v])),
            None => facts.remove(&slot),
        };
    }

    /// `value` sets some of the part; it is not unset any more.
    pub(super) fn add(&mut self, slot: u32, value: Option<u32>) {
        let Some(facts) = &mut self.facts else { return };
        let Some(old) = facts.get(&slot) else { return };
        if matches!(**old, [VALID] | [INVALID]) {
            return;
        }
        let new: Vec<u32> = old.iter().copied().filter(|v| *v != UNSET).collect();
        let new = union(&new, &[value.unwrap_or(KNOWN)]);
        facts.insert(slot, new.into());
    }

    /// A header's validity.
    pub(super) fn header(&mut self, slot: u32, validity: u32) {
        self.set(slot, Some(validity));
    }

    /// What is known of a header is known of another one.
    pub(super) fn copy(&mut self, from: u32, to: u32, slots: u32) {
        let Some(facts) = &mut self.facts else { return };
        for i in 0..slots {
            match facts.get(&(from + i)).cloned() {
                Some(f) => facts.insert(to + i, f),
                None => facts.remove(&(to + i)),
            };
        }
    }

    pub(super) fn may(&self, slot: u32, value: u32) -> bool {
        self.facts.as_ref().and_then(|f| f.get(&slot)).is_some_and(|set| set.contains(&value))
    }

    pub(super) fn only(&self, slot: u32, value: u32) -> bool {
        self.facts.as_ref().and_then(|f| f.get(&slot)).is_some_and(|set| **set == [value])
    }

    /// The assignments that may have set a part.
    pub(super) fn definitions(&self, slot: u32) -> impl Iterator<Item = u32> + 'static {
        let set = self.facts.as_ref().and_then(|f| f.get(&slot)).cloned();
        let n = set.as_ref().map_or(0, |s| s.len());
        (0..n).filter_map(move |i| set.as_ref().map(|s| s[i])).filter(|v| *v < INVALID)
    }

    /// Two ways meet.
    pub(super) fn merge(&mut self, other: State) {
        let Some(theirs) = other.facts else { return };
        let Some(ours) = &mut self.facts else {
            self.facts = Some(theirs);
            return;
        };
        for (slot, set) in ours.iter_mut() {
            match theirs.get(slot) {
                Some(other) if Rc::ptr_eq(set, other) || set == other => {}
                Some(other) => *set = union(set, other).into(),
                None => *set = union(set, unknown(set)).into(),
            }
        }
        for (slot, set) in theirs {
            ours.entry(slot).or_insert_with(|| union(&set, unknown(&set)).into());
        }
    }
}

/// What a part that is not in the map may hold, beside one that holds `set`.
fn unknown(set: &[u32]) -> &'static [u32] {
    if set.iter().any(|v| matches!(*v, VALID | INVALID)) { &[INVALID, VALID] } else { &[KNOWN] }
}

/// Sorted sets.
fn union(a: &[u32], b: &[u32]) -> Vec<u32> {
    let mut all: Vec<u32> = a.iter().chain(b).copied().collect();
    all.sort_unstable();
    all.dedup();
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ways_that_meet_hold_what_each_may_hold() {
        let mut a = State::start();
        let mut b = State::start();
        a.set(0, Some(UNSET));
        a.set(1, Some(7));
        b.set(1, Some(3));
        a.header(2, INVALID);
        a.merge(b);
        assert!(a.may(0, UNSET) && !a.only(0, UNSET), "the other way has set it");
        assert_eq!(a.definitions(1).collect::<Vec<_>>(), [3, 7]);
        assert!(a.may(2, INVALID) && a.may(2, VALID));
        let mut dead = State::default();
        dead.set(0, Some(1));
        assert!(!dead.reached());
        let before = a.clone();
        a.merge(dead);
        assert_eq!(a, before, "no way leads there");
    }

    #[test]
    fn what_is_set_in_part_is_not_unset() {
        let mut a = State::start();
        a.set(0, Some(UNSET));
        a.add(0, Some(5));
        assert_eq!(a.definitions(0).collect::<Vec<_>>(), [5]);
        assert!(!a.may(0, UNSET));
    }
}
