//! Packed sessions: each is one allocation of the bytes that it needs, and is unpacked on use, so that a million fit.
//!
//! Unpacked, a session is mostly the empty fields of its maps. Packing and unpacking cost CPU time; `splitplane-lab bench n4` shows both. So the last
//! value that was opened stays unpacked until another one is: a message looks at its session several times, and unpacks and packs it once.
//! The map over sessions is a B-tree: it grows a node at a time, while a hash table of a million would stall to move all of them.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Debug;
use std::ops::{Bound, Deref, DerefMut};

use serde::Serialize;
use serde::de::DeserializeOwned;

/// Values by number, packed.
pub struct PackedMap<T> {
    /// Of the open value, bytes that may be out of date.
    packed: BTreeMap<u64, Box<[u8]>>,
    unpacked: Option<Unpacked<T>>,
    scratch: Vec<u8>,
    /// What was put, changed and taken out since somebody asked; `None`: nobody does.
    touched: Option<Touched>,
}

/// The value that was opened last.
struct Unpacked<T> {
    key: u64,
    value: T,
    /// Its bytes are out of date.
    changed: bool,
}

/// Numbers whose values are no longer what they were.
#[derive(Default)]
struct Touched {
    now: BTreeSet<u64>,
    /// Changed [lazily](PackedMap::open_lazily).
    later: BTreeSet<u64>,
}

/// A value of a [`PackedMap`], unpacked. What is changed in it is kept when it is dropped.
pub struct Open<'a, T: Packable> {
    unpacked: &'a mut Unpacked<T>,
    touched: &'a mut Option<Touched>,
    changed: bool,
    lazily: bool,
}

/// What can be packed: anything that serde reads back as it wrote it.
pub trait Packable: Serialize + DeserializeOwned + Clone + PartialEq + Debug {}

impl<T: Serialize + DeserializeOwned + Clone + PartialEq + Debug> Packable for T {}

impl Touched {
    fn note(&mut self, key: u64) {
        self.later.remove(&key);
        self.now.insert(key);
    }
}

impl<T> Default for PackedMap<T> {
    fn default() -> Self {
        PackedMap { packed: BTreeMap::new(), unpacked: None, scratch: Vec::new(), touched: None }
    }
}

impl<T: Packable> PackedMap<T> {
    /// How many there are.
    pub fn len(&self) -> usize {
        self.packed.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.packed.is_empty()
    }

    /// Whether there is one of this number.
    pub fn contains(&self, key: u64) -> bool {
        self.packed.contains_key(&key)
    }

    /// A copy of the value.
    pub fn get(&self, key: u64) -> Option<T> {
        self.packed.get(&key).map(|bytes| self.value(key, bytes))
    }

    fn value(&self, key: u64, bytes: &[u8]) -> T {
        self.unpacked.as_ref().filter(|open| open.key == key).map_or_else(|| unpack(bytes), |open| open.value.clone())
    }

    /// The value, for as long as no other is looked at.
    pub fn look(&mut self, key: u64) -> Option<&T> {
        self.unpack(key).map(|open| &open.value)
    }

    /// A part of the value: its first fields, as a type of these alone. Cheaper than all of it, unless it is open and has changed.
    pub fn prefix<P: DeserializeOwned>(&self, key: u64) -> Option<P> {
        match &self.unpacked {
            Some(open) if open.key == key && open.changed => Some(unpack(&pack(&open.value, Vec::new()))),
            _ => self.packed.get(&key).map(|bytes| unpack(bytes)),
        }
    }

    /// The bytes of the value.
    pub fn packed(&mut self, key: u64) -> Option<&[u8]> {
        if self.unpacked.as_ref().is_some_and(|open| open.key == key) {
            self.pack_open();
        }
        self.packed.get(&key).map(|bytes| &**bytes)
    }

    /// Unpacks a value, unless that is the one that is.
    fn unpack(&mut self, key: u64) -> Option<&mut Unpacked<T>> {
        if self.unpacked.as_ref().is_none_or(|open| open.key != key) {
            let value = unpack(self.packed.get(&key)?);
            self.pack_open();
            self.unpacked = Some(Unpacked { key, value, changed: false });
        }
        self.unpacked.as_mut()
    }

    /// Brings the bytes of the open value up to date.
    fn pack_open(&mut self) {
        if let Some(open) = self.unpacked.take_if(|open| open.changed) {
            self.put(open.key, &open.value);
            self.unpacked = Some(Unpacked { changed: false, ..open });
        }
    }

    /// From now on it is noted which values change.
    pub fn note_changes(&mut self) {
        self.touched.get_or_insert_default();
    }

    /// The numbers whose values have changed since the last call, lazily changed ones excepted.
    pub fn take_touched(&mut self) -> BTreeSet<u64> {
        self.touched.as_mut().map(|touched| std::mem::take(&mut touched.now)).unwrap_or_default()
    }

    /// Has up to `most` of the lazily changed ones taken with the next call; whether there are more.
    pub fn hurry(&mut self, most: usize) -> bool {
        let Some(touched) = &mut self.touched else { return false };
        touched.now.extend((0..most).map_while(|_| touched.later.pop_first()));
        !touched.later.is_empty()
    }

    /// The value, to be changed.
    pub fn open(&mut self, key: u64) -> Option<Open<'_, T>> {
        self.unpack(key)?;
        let unpacked = self.unpacked.as_mut()?;
        Some(Open { unpacked, touched: &mut self.touched, changed: false, lazily: false })
    }

    /// The value, to be changed in what may be forgotten for a while.
    pub fn open_lazily(&mut self, key: u64) -> Option<Open<'_, T>> {
        let mut opened = self.open(key)?;
        opened.lazily = true;
        Some(opened)
    }

    /// Puts a value there, in place of the one before.
    pub fn insert(&mut self, key: u64, value: &T) {
        self.unpacked.take_if(|open| open.key == key);
        self.put(key, value);
        if let Some(touched) = &mut self.touched {
            touched.note(key);
        }
    }

    /// Puts a value there that is opened next: it is packed after that.
    pub fn insert_open(&mut self, key: u64, value: T) {
        self.unpacked.take_if(|open| open.key == key);
        self.pack_open();
        self.packed.entry(key).or_default();
        self.unpacked = Some(Unpacked { key, value, changed: true });
        if let Some(touched) = &mut self.touched {
            touched.note(key);
        }
    }

    fn put(&mut self, key: u64, value: &T) {
        self.scratch.clear();
        self.scratch = pack(value, std::mem::take(&mut self.scratch));
        debug_assert_eq!(&unpack::<T>(&self.scratch), value, "what was packed is not what is unpacked");
        self.packed.insert(key, self.scratch.as_slice().into());
    }

    /// Takes the value out.
    pub fn remove(&mut self, key: u64) -> Option<T> {
        self.unpack(key)?;
        let open = self.unpacked.take()?;
        self.discard(key);
        Some(open.value)
    }

    /// Drops the value.
    pub fn discard(&mut self, key: u64) {
        self.unpacked.take_if(|open| open.key == key);
        if self.packed.remove(&key).is_some()
            && let Some(touched) = &mut self.touched
        {
            touched.note(key);
        }
    }

    /// All numbers, ascending.
    pub fn keys(&self) -> impl Iterator<Item = u64> + '_ {
        self.packed.keys().copied()
    }

    /// Copies of the values behind a number, by ascending number; `None`: of all.
    pub fn iter_after(&self, after: Option<u64>) -> impl Iterator<Item = (u64, T)> + '_ {
        let from = after.map_or(Bound::Unbounded, Bound::Excluded);
        self.packed.range((from, Bound::Unbounded)).map(|(key, bytes)| (*key, self.value(*key, bytes)))
    }

    /// The first number after `key`.
    pub fn next_key(&self, key: u64) -> Option<u64> {
        self.packed.range((Bound::Excluded(key), Bound::Unbounded)).next().map(|(key, _)| *key)
    }
}

/// Behind what is there.
fn pack<T: Serialize>(value: &T, to: Vec<u8>) -> Vec<u8> {
    postcard::to_extend(value, to).expect("memory takes any length, and no type of ours hides its own")
}

fn unpack<T: DeserializeOwned>(bytes: &[u8]) -> T {
    postcard::take_from_bytes(bytes).expect("written by `pack`").0
}

impl<T: Packable> Deref for Open<'_, T> {
    type Target = T;

    fn deref(&self) -> &T {
        &self.unpacked.value
    }
}

impl<T: Packable> DerefMut for Open<'_, T> {
    fn deref_mut(&mut self) -> &mut T {
        (self.changed, self.unpacked.changed) = (true, true);
        &mut self.unpacked.value
    }
}

impl<T: Packable> Drop for Open<'_, T> {
    fn drop(&mut self) {
        if !self.changed {
            return;
        }
        let key = self.unpacked.key;
        if let Some(touched) = self.touched {
            match self.lazily {
                true if !touched.now.contains(&key) => drop(touched.later.insert(key)),
                true => {}
                false => touched.note(key),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[derive(Clone, Debug, PartialEq, serde::Serialize, serde::Deserialize)]
    struct Value {
        first: u32,
        second: Option<String>,
        third: BTreeMap<u16, Vec<u64>>,
    }

    proptest! {
        /// The slow twin: a map of the values as they are.
        #[test]
        fn what_is_put_in_comes_out(steps in prop::collection::vec((0..6u64, any::<u32>(), prop::option::of("[a-z]{0,9}"), 0..5u8), 1..60)) {
            let (mut packed, mut plain) = (PackedMap::<Value>::default(), BTreeMap::new());
            for (key, first, second, step) in steps {
                match step {
                    0 | 4 => {
                        let third = [(first as u16, vec![u64::from(first); (first % 9) as usize])].into();
                        let value = Value { first, second, third };
                        match step {
                            0 => packed.insert(key, &value),
                            _ => packed.insert_open(key, value.clone()),
                        }
                        plain.insert(key, value);
                    }
                    1 => prop_assert_eq!(packed.remove(key), plain.remove(&key)),
                    2 => {
                        if let Some(mut value) = packed.open(key) {
                            value.second = second.clone();
                            value.third.insert(7, Vec::new());
                        }
                        if let Some(value) = plain.get_mut(&key) {
                            value.second = second;
                            value.third.insert(7, Vec::new());
                        }
                    }
                    _ => prop_assert_eq!(packed.look(key), plain.get(&key)),
                }
                // Of the one that was opened, and of another.
                if step == 3 {
                    let other = u64::from(first % 6);
                    let bytes = plain.get(&other).map(|value| pack(value, Vec::new()));
                    prop_assert_eq!(packed.packed(other), bytes.as_deref());
                }
                prop_assert_eq!(packed.get(key), plain.get(&key).cloned());
                prop_assert_eq!(packed.prefix::<u32>(key), plain.get(&key).map(|value| value.first));
                prop_assert_eq!(packed.next_key(key), plain.range(key + 1..).next().map(|(key, _)| *key));
                prop_assert_eq!((packed.len(), packed.contains(key)), (plain.len(), plain.contains_key(&key)));
                prop_assert!(packed.iter_after(None).eq(plain.clone()));
            }
        }
    }
}
