//! Reading tables back: what a target holds, some entries at a time, in an order that all targets share.

use crate::Count;
use program::{Entry, KeyMatch, TableId};
use std::cmp::Ordering;
use std::collections::BinaryHeap;

/// An entry as a target holds it.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct HeldEntry {
    /// The entry.
    pub entry: Entry,
    /// Its direct counter, summed over all lanes; `None` if the table has none.
    pub count: Option<Count>,
}

/// A target that tells what its tables hold.
pub trait Tables: Send + Sync {
    /// The first `most` entries of a table behind the place of `after`, the program's own included, ordered by keys and then by priority.
    /// Fewer than `most`: there are no more. `after` itself need not be held any more; its action does not matter.
    ///
    /// Between two calls entries may come and go: those that are there all the time are given once, in any case. Lanes do not wait for
    /// a call; batches may, for as long as it takes to look at each entry of the table. So ask for thousands at a time.
    fn entries(&self, table: TableId, after: Option<&Entry>, most: usize) -> Vec<HeldEntry>;
}

/// Entries that [`all_entries`] asks for at a time.
const CHUNK: usize = 1 << 14;

/// All entries of a table, in the order of [`Tables::entries`].
pub fn all_entries(tables: &dyn Tables, table: TableId) -> impl Iterator<Item = HeldEntry> {
    in_chunks(tables, table, CHUNK)
}

/// The same with another number of entries at a time, 1 at least.
pub fn in_chunks(tables: &dyn Tables, table: TableId, chunk: usize) -> impl Iterator<Item = HeldEntry> {
    let chunk = chunk.max(1);
    let mut next = Some(tables.entries(table, None, chunk));
    std::iter::from_fn(move || {
        let entries = next.take()?;
        next = entries.last().filter(|_| entries.len() == chunk).map(|last| tables.entries(table, Some(&last.entry), chunk));
        Some(entries)
    })
    .flatten()
}

/// Picks the entries that [`Tables::entries`] gives from all of a table's, in whatever order they come.
pub struct Picker<'a, T> {
    after: Option<&'a Entry>,
    most: usize,
    /// The last of those picked on top.
    picked: BinaryHeap<Picked<T>>,
}

/// An entry's identity and what else its table has of it.
pub struct Picked<T> {
    /// As [`Entry::keys`].
    pub keys: Vec<KeyMatch>,
    /// As [`Entry::priority`].
    pub priority: u32,
    /// The rest.
    pub rest: T,
}

impl<'a, T> Picker<'a, T> {
    /// Arguments are those of [`Tables::entries`].
    pub fn new(after: Option<&'a Entry>, most: usize) -> Picker<'a, T> {
        Picker { after, most, picked: BinaryHeap::new() }
    }

    /// One of the table's entries. `rest` is called if it is picked for now.
    pub fn offer(&mut self, keys: &[KeyMatch], priority: u32, rest: impl FnOnce() -> T) {
        let place = (keys, priority);
        let behind = self.after.is_none_or(|after| place > (&after.keys[..], after.priority));
        let before = self.picked.len() < self.most || self.picked.peek().is_some_and(|last| place < last.place());
        if behind && before {
            self.picked.push(Picked { keys: keys.to_vec(), priority, rest: rest() });
            if self.picked.len() > self.most {
                self.picked.pop();
            }
        }
    }

    /// Those picked, in order.
    pub fn finish(self) -> Vec<Picked<T>> {
        self.picked.into_sorted_vec()
    }
}

impl<T> Picked<T> {
    fn place(&self) -> (&[KeyMatch], u32) {
        (&self.keys, self.priority)
    }
}

impl<T> Ord for Picked<T> {
    fn cmp(&self, other: &Picked<T>) -> Ordering {
        self.place().cmp(&other.place())
    }
}

impl<T> PartialOrd for Picked<T> {
    fn partial_cmp(&self, other: &Picked<T>) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl<T> PartialEq for Picked<T> {
    fn eq(&self, other: &Picked<T>) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl<T> Eq for Picked<T> {}
