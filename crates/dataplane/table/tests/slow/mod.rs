//! The slow twins: the same tables as a list that is searched from front to back. Shapes, entries and values are valid: `limits.rs` has those that are not.
//!
//! The addresses that they return are read-only and valid until the next flip. No look-up may run during a change.

use std::ffi::c_void;
use table::{BURST, Prefix, Range, Rule, Shape, Table, TableError, View};

/// Twin of [`table::Exact`] and of [`table::Direct`].
pub(crate) type Exact = Slow<ExactMatch>;
/// Twin of [`table::Lpm`].
pub(crate) type Lpm = Slow<PrefixMatch>;
/// Twin of [`table::Ternary`].
pub(crate) type Ternary = Slow<RuleMatch>;

/// A table as a list of entries, in the order of their insertion; and the list as look-ups see it.
pub(crate) struct Slow<I> {
    shape: Shape,
    exact_len: usize,
    entries: Vec<(I, Box<[u8]>)>,
    current: Box<Current<I>>,
}

/// What look-ups see: all changes up to the last flip.
struct Current<I> {
    key_len: usize,
    entries: Vec<(I, Box<[u8]>)>,
}

/// What an entry of a kind of table matches, owned.
pub(crate) trait Identity: Clone + Send + Sync {
    /// The same, borrowed.
    type Match<'a>: Copy;
    /// Takes it over. `exact_len` is where an [`Lpm`]'s prefix field begins.
    fn own(entry: Self::Match<'_>, exact_len: usize) -> Self;
    /// Whether it is this one.
    fn is(&self, entry: Self::Match<'_>) -> bool;
    /// `None` if the key does not match, else how well: the greatest wins, of equals the first in the list.
    fn rank(&self, key: &[u8]) -> Option<u32>;
}

/// A key.
#[derive(Clone)]
pub(crate) struct ExactMatch(Vec<u8>);

/// A prefix.
#[derive(Clone)]
pub(crate) struct PrefixMatch {
    key: Vec<u8>,
    exact_len: usize,
    prefix_len: u32,
}

/// A rule.
#[derive(Clone)]
pub(crate) struct RuleMatch {
    value: Vec<u8>,
    mask: Vec<u8>,
    ranges: Vec<Range>,
    priority: u32,
}

impl<I> Slow<I> {
    /// An empty table.
    pub(crate) fn new(shape: Shape) -> Self {
        let current = Box::new(Current { key_len: shape.key_len, entries: Vec::new() });
        Slow { shape, exact_len: 0, entries: Vec::new(), current }
    }
}

impl Lpm {
    /// An empty table whose prefix field begins at byte `exact_len`.
    pub(crate) fn with_exact(shape: Shape, exact_len: usize) -> Lpm {
        Slow { exact_len, ..Self::new(shape) }
    }
}

impl<I: Identity> Slow<I> {
    fn position(&self, entry: I::Match<'_>) -> Option<usize> {
        self.entries.iter().position(|(identity, _)| identity.is(entry))
    }
}

impl<I: Identity> Table for Slow<I> {
    type Match<'a> = I::Match<'a>;

    fn shape(&self) -> Shape {
        self.shape
    }

    fn len(&self) -> u64 {
        self.entries.len() as u64
    }

    fn stage_insert(&mut self, entry: I::Match<'_>, value: &[u8]) -> Result<(), TableError> {
        if self.position(entry).is_some() {
            return Err(TableError::Exists);
        }
        if self.len() == self.shape.capacity {
            return Err(TableError::Full { capacity: self.shape.capacity });
        }
        self.entries.push((I::own(entry, self.exact_len), value.into()));
        Ok(())
    }

    fn stage_replace(&mut self, entry: I::Match<'_>, value: &[u8]) -> Result<(), TableError> {
        let at = self.position(entry).ok_or(TableError::Missing)?;
        self.entries[at].1 = value.into();
        Ok(())
    }

    fn stage_remove(&mut self, entry: I::Match<'_>) -> Result<(), TableError> {
        let at = self.position(entry).ok_or(TableError::Missing)?;
        self.entries.remove(at);
        Ok(())
    }

    fn flip(&mut self) {
        self.current.entries = self.entries.clone();
    }

    unsafe fn settle(&mut self) {}

    fn get(&self, entry: I::Match<'_>) -> Option<&[u8]> {
        self.position(entry).map(|at| &*self.entries[at].1)
    }

    fn view(&self) -> View {
        View { lookup: lookup_burst::<I>, table: (&raw const *self.current).cast(), exact: std::ptr::null() }
    }
}

/// The [`table::ffi::LookupFn`].
unsafe extern "C" fn lookup_burst<I: Identity>(table: *const c_void, keys: *const u8, stride: usize, n: usize, out: *mut *mut u8) -> u64 {
    // SAFETY: a view of ours; the table does not change meanwhile.
    let Current { key_len, entries } = unsafe { &*table.cast::<Current<I>>() };
    let mut hits = 0;
    for i in 0..n.min(BURST) {
        // SAFETY: the caller's key.
        let key = unsafe { std::slice::from_raw_parts(keys.add(i * stride), *key_len) };
        let mut best: Option<(u32, &[u8])> = None;
        for (identity, value) in entries {
            if let Some(rank) = identity.rank(key)
                && best.is_none_or(|(best, _)| rank > best)
            {
                best = Some((rank, value));
            }
        }
        // SAFETY: `out` takes `n` pointers.
        unsafe { *out.add(i) = best.map_or(std::ptr::null_mut(), |(_, value)| value.as_ptr().cast_mut()) };
        hits |= u64::from(best.is_some()) << i;
    }
    hits
}

impl Identity for ExactMatch {
    type Match<'a> = &'a [u8];

    fn own(key: &[u8], _: usize) -> Self {
        ExactMatch(key.into())
    }

    fn is(&self, key: &[u8]) -> bool {
        self.0 == key
    }

    fn rank(&self, key: &[u8]) -> Option<u32> {
        (self.0 == key).then_some(0)
    }
}

impl Identity for PrefixMatch {
    type Match<'a> = Prefix<'a>;

    fn own(prefix: Prefix<'_>, exact_len: usize) -> Self {
        PrefixMatch { key: prefix.key.into(), exact_len, prefix_len: prefix.prefix_len }
    }

    fn is(&self, prefix: Prefix<'_>) -> bool {
        self.key == prefix.key && self.prefix_len == prefix.prefix_len
    }

    fn rank(&self, key: &[u8]) -> Option<u32> {
        let bit = |bytes: &[u8], i: usize| bytes[i / 8] >> (7 - i % 8) & 1;
        let bits = 8 * self.exact_len + self.prefix_len as usize;
        (0..bits).all(|i| bit(&self.key, i) == bit(key, i)).then_some(self.prefix_len)
    }
}

impl Identity for RuleMatch {
    type Match<'a> = Rule<'a>;

    fn own(rule: Rule<'_>, _: usize) -> Self {
        RuleMatch { value: rule.value.into(), mask: rule.mask.into(), ranges: rule.ranges.into(), priority: rule.priority }
    }

    fn is(&self, rule: Rule<'_>) -> bool {
        self.value == rule.value && self.mask == rule.mask && self.ranges == rule.ranges && self.priority == rule.priority
    }

    fn rank(&self, key: &[u8]) -> Option<u32> {
        let masked = (0..key.len()).all(|i| key[i] & self.mask[i] == self.value[i]);
        let holds = |range: &Range| {
            let field = &key[range.offset..][..range.len];
            (range.low..=range.high).contains(&field.iter().fold(0, |sum, byte| sum << 8 | u128::from(*byte)))
        };
        (masked && self.ranges.iter().all(holds)).then_some(self.priority)
    }
}
