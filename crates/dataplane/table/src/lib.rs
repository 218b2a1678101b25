//! Match tables of the x86 data plane: exact, longest prefix, ternary with ranges, and direct; plus meters.
//!
//! Every table implements [`Table`]: control calls that change entries, and one burst look-up that generated code
//! calls through [`ffi`]. Each has a slow twin of the same interface, a linear scan
//! that is obviously right, in `tests/slow`; the tests drive both with the same calls and compare.
//!
//! # Keys and records
//! A key is `key_len` bytes, fields packed by the caller in whole bytes, most significant byte first where a field
//! has an order (prefixes, ranges). An entry owns a record of `value_len` bytes at an address that does not change
//! until the entry is replaced or removed; a look-up gives that address. It is aligned to 8 bytes. Of [`Exact`], key and record lie together, in one
//! cache line if the key (rounded up to 8 bytes) and the value are at most 64 bytes; of the other tables a record of
//! at most 64 bytes lies in one cache line.
//!
//! # One writer, many readers
//! Each table has two *sides* that differ only in the changes that are being made. A change is *staged*: [`Table::get`] and
//! [`Table::len`] know of it, look-ups do not. [`Table::flip`] makes all staged changes the content of the side that
//! [`Table::view`] then gives; [`Table::settle`], called when no look-up can be running on the side that was current before, makes the
//! two sides equal and frees what was removed. So a batch over several tables is: stage, flip each table, let readers know of the new views by one store
//! ([`Epoch`]), wait until each reader has begun a later burst or is idle ([`Presence`]), settle. Readers take no lock and never wait; a reader that keeps to the views that it took at
//! the start of a burst sees all of a batch or nothing.
//!
//! Records are never overwritten while a look-up may read them: a replaced entry gets a new record. [`Exact`] keeps one array of slots, of which some are
//! hidden from one side; the other tables keep two copies of their index and one set of records.
//!
//! [`Table::insert`], [`Table::replace`] and [`Table::remove`] do all steps at once, for a table without concurrent readers.
//!
//! # Bounds
//! A table declared for `capacity` entries holds exactly that many and refuses the next with [`TableError::Full`]; it
//! never evicts. What a batch removes is room for what it adds after. Address space is reserved at once, memory is used as entries are added. Memory of removed
//! entries is reused by the table, not returned to the system.

mod direct;
mod epoch;
mod exact;
pub mod ffi;
mod hash;
mod lpm;
mod meter;
mod records;
mod sides;
mod ternary;

pub use direct::Direct;
pub use epoch::{Burst, Epoch, Presence};
pub use exact::Exact;
pub use lpm::{Lpm, MAX_LPM_CAPACITY, Prefix};
pub use meter::{Colour, Meter};
pub use ternary::{Limits, Range, Rule, Ternary};

use pages::prefetch;
use std::ffi::c_void;

/// Most keys that one burst look-up takes.
pub const BURST: usize = 64;
/// Longest key in bytes.
pub const MAX_KEY_LEN: usize = 128;
/// Longest value in bytes.
pub const MAX_VALUE_LEN: usize = 256;
/// Most entries that a table may declare.
pub const MAX_CAPACITY: u64 = 1 << 28;

/// What a table is declared to hold.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Shape {
    /// Bytes of a key, 1 to [`MAX_KEY_LEN`].
    pub key_len: usize,
    /// Bytes of a value, 0 to [`MAX_VALUE_LEN`].
    pub value_len: usize,
    /// Entries that must fit, 1 to [`MAX_CAPACITY`].
    pub capacity: u64,
}

/// Why a table was not made or not changed. A refused change leaves the table as it was.
#[derive(Clone, PartialEq, Eq, Debug, thiserror::Error)]
pub enum TableError {
    /// An insert of what exists.
    #[error("the table already holds that entry")]
    Exists,
    /// A change or removal of what does not exist.
    #[error("the table holds no such entry")]
    Missing,
    /// The declared capacity is in use.
    #[error("the table is full at {capacity} entries")]
    Full {
        /// Entries that fit.
        capacity: u64,
    },
    /// The shape, match or value is not one this table can hold.
    #[error("{0}")]
    Invalid(String),
    /// The system gave no address space.
    #[error("no address space of {bytes} bytes for a table")]
    Memory {
        /// How much was asked for.
        bytes: usize,
    },
}

impl From<pages::NoMemory> for TableError {
    fn from(none: pages::NoMemory) -> TableError {
        TableError::Memory { bytes: none.bytes }
    }
}

/// What a reader looks up in: one side of a table.
#[derive(Clone, Copy)]
pub struct View {
    /// The function that reads it.
    pub lookup: ffi::LookupFn,
    /// Its first argument. Of an exact table the lowest bit is the side.
    pub table: *const c_void,
    /// How generated code looks up by itself, under the contract of [`View::lookup_burst`]; null for other tables than [`Exact`].
    pub exact: *const ffi::ExactIndex,
}

// SAFETY: two addresses; `View::lookup_burst` says what its caller answers for.
unsafe impl Send for View {}
// SAFETY: as above.
unsafe impl Sync for View {}

impl View {
    /// Looks up `n` keys, `keys + i * stride` being the `i`-th, and writes to `out[i]` the address of the record that
    /// matches, null on a miss. Returns the hits as bits, key 0 lowest. Keys past [`BURST`] are ignored.
    ///
    /// # Safety
    /// At each key, [`padded`]`(key_len)` bytes are readable (what is past `key_len` does not matter), and `out` takes `n`
    /// pointers. From when the view was taken to the last use of `exact` or of a record's address the table lives, and is neither settled
    /// after a flip that came later than the view, nor changed at once ([`Table::insert`] and its like).
    pub unsafe fn lookup_burst(self, keys: *const u8, stride: usize, n: usize, out: *mut *mut u8) -> u64 {
        // SAFETY: the caller's promise.
        unsafe { (self.lookup)(self.table, keys, stride, n, out) }
    }
}

/// A match table. `Match` is what identifies an entry: the key, a [`Prefix`], or a [`Rule`].
pub trait Table: Send + Sync {
    /// What an entry matches; its identity.
    type Match<'a>: Copy;

    /// What the table was declared to hold.
    fn shape(&self) -> Shape;

    /// Number of entries, staged changes included.
    fn len(&self) -> u64;

    /// Stages a new entry, whose record will hold `value`.
    ///
    /// # Panics
    /// This, and the other two that stage, between a flip and its settling.
    fn stage_insert(&mut self, entry: Self::Match<'_>, value: &[u8]) -> Result<(), TableError>;

    /// Stages another value for an entry that exists.
    fn stage_replace(&mut self, entry: Self::Match<'_>, value: &[u8]) -> Result<(), TableError>;

    /// Stages the removal of an entry.
    fn stage_remove(&mut self, entry: Self::Match<'_>) -> Result<(), TableError>;

    /// Makes the staged changes part of the view that is given from now on.
    ///
    /// # Panics
    /// If an earlier flip has not settled.
    fn flip(&mut self);

    /// Ends what [`Table::flip`] began.
    ///
    /// # Safety
    /// No look-up runs on a view that was taken before the flip, and no address that one gave is in use.
    unsafe fn settle(&mut self);

    /// The value of the entry of this identity, staged changes included.
    fn get(&self, entry: Self::Match<'_>) -> Option<&[u8]>;

    /// The current side: all but what has been staged since the last flip.
    fn view(&self) -> View;

    /// Adds an entry at once. No other thread may be looking up ([`View::lookup_burst`]).
    fn insert(&mut self, entry: Self::Match<'_>, value: &[u8]) -> Result<(), TableError> {
        self.stage_insert(entry, value)?;
        self.commit();
        Ok(())
    }

    /// Changes the value of an entry at once; as [`Table::insert`].
    fn replace(&mut self, entry: Self::Match<'_>, value: &[u8]) -> Result<(), TableError> {
        self.stage_replace(entry, value)?;
        self.commit();
        Ok(())
    }

    /// Removes an entry at once; as [`Table::insert`].
    fn remove(&mut self, entry: Self::Match<'_>) -> Result<(), TableError> {
        self.stage_remove(entry)?;
        self.commit();
        Ok(())
    }

    /// Makes what is staged current at once; as [`Table::insert`].
    fn commit(&mut self) {
        self.flip();
        // SAFETY: who looks up in another thread has promised ([`View::lookup_burst`]) that this is not called meanwhile.
        unsafe { self.settle() }
    }

    /// Whether there is no entry.
    fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// [`View::lookup_burst`] over slices, in the current view.
    ///
    /// # Panics
    /// If `out` is longer than [`BURST`] or `keys` is too short for it.
    fn lookup_many(&self, keys: &[u8], stride: usize, out: &mut [*mut u8]) -> u64 {
        let n = out.len();
        assert!(n <= BURST, "a burst is at most {BURST} keys");
        let need = n.saturating_sub(1).checked_mul(stride).and_then(|at| at.checked_add(padded(self.shape().key_len)));
        assert!(n == 0 || need.is_some_and(|need| need <= keys.len()), "keys of a burst are too short");
        // SAFETY: the assertions above are the contract; `&self` excludes changes at once and settling.
        unsafe { self.view().lookup_burst(keys.as_ptr(), stride, n, out.as_mut_ptr()) }
    }

    /// The value that `key` matches in the current view. `None` also for a key of another length.
    fn lookup(&self, key: &[u8]) -> Option<&[u8]> {
        let shape = self.shape();
        if key.len() != shape.key_len {
            return None;
        }
        let mut buffer = [0; padded(MAX_KEY_LEN)];
        buffer[..key.len()].copy_from_slice(key);
        let mut out = [std::ptr::null_mut()];
        self.lookup_many(&buffer, 0, &mut out);
        // SAFETY: a record that is not null has `value_len` bytes and lives as long as `&self` keeps the entry.
        (!out[0].is_null()).then(|| unsafe { std::slice::from_raw_parts(out[0], shape.value_len) })
    }
}

/// Bytes that must be readable at a key of `key_len` bytes: keys are read in words of 8.
pub const fn padded(key_len: usize) -> usize {
    key_len.next_multiple_of(8)
}

fn check_shape(shape: &Shape) -> Result<(), TableError> {
    let Shape { key_len, value_len, capacity } = *shape;
    if !(1..=MAX_KEY_LEN).contains(&key_len) {
        return Err(TableError::Invalid(format!("a key of {key_len} bytes is not 1 to {MAX_KEY_LEN}")));
    }
    if value_len > MAX_VALUE_LEN {
        return Err(TableError::Invalid(format!("a value of {value_len} bytes is over {MAX_VALUE_LEN}")));
    }
    if !(1..=MAX_CAPACITY).contains(&capacity) {
        return Err(TableError::Invalid(format!("a capacity of {capacity} entries is not 1 to {MAX_CAPACITY}")));
    }
    Ok(())
}

fn check_value(shape: &Shape, value: &[u8]) -> Result<(), TableError> {
    if value.len() != shape.value_len {
        return Err(TableError::Invalid(format!("a value of {} bytes in a table of {}-byte values", value.len(), shape.value_len)));
    }
    Ok(())
}

fn check_key(shape: &Shape, key: &[u8]) -> Result<(), TableError> {
    if key.len() != shape.key_len {
        return Err(TableError::Invalid(format!("a key of {} bytes in a table of {}-byte keys", key.len(), shape.key_len)));
    }
    Ok(())
}
