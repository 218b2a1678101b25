//! Longest prefix match on the last field of a key, after fields that match exactly (a VRF, a network instance).
//!
//! The exact fields pick the root of a trie ([`Exact`]); the prefix field, up to 128 bits, is walked 6 bits a step. An IPv4
//! address takes at most 6 steps, a /64 of IPv6 11, each one cache line, and the lanes of a burst take a step each in
//! turn. A prefix costs 32 bytes a step that it shares with no other. The alternative with the fewest accesses, 2^24 direct
//! entries, would take 64 MiB a VRF; a hash a prefix length would take up to 129 look-ups.

mod trie;

use crate::records::{Records, RecordsAt};
use crate::sides::{Index, Sides};
use crate::{BURST, Exact, Shape, Table, TableError, View, check_key, check_shape, check_value, prefetch};
use std::ffi::c_void;
use trie::{Lanes, Trie};

/// Most entries of an [`Lpm`]: at up to 22 nodes each their numbers stay within 32 bits.
pub const MAX_LPM_CAPACITY: u64 = 1 << 25;

/// What an entry of an [`Lpm`] matches.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Prefix<'a> {
    /// A key whose bits after the prefix are zero. The prefix field is left-aligned in its bytes.
    pub key: &'a [u8],
    /// Bits of the prefix field that count; the exact fields are not counted here.
    pub prefix_len: u32,
}

impl Prefix<'_> {
    /// Whether it fits a table of that shape whose prefix field begins at byte `exact_len`.
    pub(crate) fn check(&self, shape: &Shape, exact_len: usize) -> Result<(), TableError> {
        check_key(shape, self.key)?;
        let bits = 8 * (shape.key_len - exact_len) as u32;
        if self.prefix_len > bits {
            return Err(TableError::Invalid(format!("a prefix of {} bits in a field of {bits}", self.prefix_len)));
        }
        if self.prefix_len < 128 && left_aligned(&self.key[exact_len..]) << self.prefix_len != 0 {
            return Err(TableError::Invalid(format!("bits after the prefix of {} are not zero", self.prefix_len)));
        }
        Ok(())
    }
}

/// A longest-prefix table. An entry's identity is its exact fields, prefix and prefix length.
pub struct Lpm {
    shape: Shape,
    /// Bytes before the prefix field.
    exact_len: usize,
    sides: Sides<Routes>,
    records: Records,
    len: u64,
}

/// From a key to a record's handle.
struct Routes {
    key_len: usize,
    exact_len: usize,
    /// From the exact fields to the root; without such fields there is one root.
    roots: Option<Exact>,
    only_root: u32,
    trie: Trie,
    records: RecordsAt,
}

/// Gives a prefix a handle, or another, or takes it away.
struct Change {
    key: Box<[u8]>,
    prefix_len: u32,
    to: Option<u32>,
}

impl Lpm {
    /// An empty table whose prefix field is the key's bytes from `exact_len` on, 1 to 16 of them. `seed` keys the
    /// hash of the exact fields.
    pub fn new(shape: Shape, exact_len: usize, seed: u64) -> Result<Lpm, TableError> {
        check_shape(&shape)?;
        check_prefix_field(&shape, exact_len)?;
        let records = Records::new(shape.value_len, shape.capacity)?;
        let routes = || Routes::new(&shape, exact_len, seed, records.places());
        let sides = Sides::new([routes()?, routes()?]);
        Ok(Lpm { shape, exact_len, sides, records, len: 0 })
    }

    fn find(&self, entry: Prefix<'_>) -> Option<u32> {
        entry.check(&self.shape, self.exact_len).ok()?;
        self.sides.latest().get(entry.key, entry.prefix_len)
    }

    fn change(&mut self, entry: Prefix<'_>, to: Option<u32>) {
        self.sides.change(Change { key: entry.key.into(), prefix_len: entry.prefix_len, to });
    }

    /// Takes back a record: when look-ups have ended that may read it, or at once if none ever could.
    fn retire(&mut self, entry: Prefix<'_>, handle: u32) {
        if self.sides.read().get(entry.key, entry.prefix_len) == Some(handle) {
            self.records.retire(handle);
        } else {
            self.records.release(handle);
        }
    }
}

impl Table for Lpm {
    type Match<'a> = Prefix<'a>;

    fn shape(&self) -> Shape {
        self.shape
    }

    fn len(&self) -> u64 {
        self.len
    }

    fn stage_insert(&mut self, entry: Prefix<'_>, value: &[u8]) -> Result<(), TableError> {
        entry.check(&self.shape, self.exact_len)?;
        check_value(&self.shape, value)?;
        if self.find(entry).is_some() {
            return Err(TableError::Exists);
        }
        let full = TableError::Full { capacity: self.shape.capacity };
        if self.len == self.shape.capacity {
            return Err(full);
        }
        let handle = self.records.alloc_with(value).ok_or(full)?;
        self.change(entry, Some(handle));
        self.len += 1;
        Ok(())
    }

    fn stage_replace(&mut self, entry: Prefix<'_>, value: &[u8]) -> Result<(), TableError> {
        check_value(&self.shape, value)?;
        let old = self.find(entry).ok_or(TableError::Missing)?;
        let handle = self.records.alloc_with(value).ok_or(TableError::Full { capacity: self.shape.capacity })?;
        self.change(entry, Some(handle));
        self.retire(entry, old);
        Ok(())
    }

    fn stage_remove(&mut self, entry: Prefix<'_>) -> Result<(), TableError> {
        let handle = self.find(entry).ok_or(TableError::Missing)?;
        self.change(entry, None);
        self.retire(entry, handle);
        self.len -= 1;
        Ok(())
    }

    fn flip(&mut self) {
        self.sides.flip();
    }

    unsafe fn settle(&mut self) {
        // SAFETY: the caller's promise is the same.
        unsafe { self.sides.settle() };
        self.records.free_retired();
    }

    fn get(&self, entry: Prefix<'_>) -> Option<&[u8]> {
        self.find(entry).map(|handle| self.records.value(handle))
    }

    fn view(&self) -> View {
        View { lookup: lookup_burst, table: self.sides.current().cast() }
    }
}

impl Routes {
    fn new(shape: &Shape, exact_len: usize, seed: u64, records: RecordsAt) -> Result<Routes, TableError> {
        let mut trie = Trie::default();
        let only_root = trie.add_root();
        let roots = match exact_len {
            0 => None,
            _ => Some(Exact::new(Shape { key_len: exact_len, value_len: 4, capacity: shape.capacity }, seed)?),
        };
        Ok(Routes { key_len: shape.key_len, exact_len, roots, only_root, trie, records })
    }

    fn root(&self, exact: &[u8]) -> Option<u32> {
        match &self.roots {
            None => Some(self.only_root),
            Some(roots) => roots.get(exact).and_then(|root| root.try_into().ok()).map(u32::from_le_bytes),
        }
    }

    fn get(&self, key: &[u8], prefix_len: u32) -> Option<u32> {
        let (exact, field) = key.split_at(self.exact_len);
        self.trie.get(self.root(exact)?, left_aligned(field), prefix_len)
    }
}

impl Index for Routes {
    type Change = Change;

    fn change(&mut self, Change { key, prefix_len, to }: &Change) {
        let (exact, field) = key.split_at(self.exact_len);
        let bits = left_aligned(field);
        let root = self.root(exact).unwrap_or_else(|| {
            let root = self.trie.add_root();
            if let Some(roots) = &mut self.roots {
                // There are no more roots than entries.
                roots.insert(exact, &root.to_le_bytes()).expect("room for a root of each entry");
            }
            root
        });
        match to {
            Some(handle) => self.trie.set(root, bits, *prefix_len, *handle),
            None => {
                self.trie.remove(root, bits, *prefix_len);
                if let Some(roots) = &mut self.roots
                    && self.trie.is_empty(root)
                {
                    self.trie.remove_root(root);
                    roots.remove(exact).expect("the root was found");
                }
            }
        }
    }
}

/// The [`crate::ffi::LookupFn`].
unsafe extern "C" fn lookup_burst(table: *const c_void, keys: *const u8, stride: usize, n: usize, out: *mut *mut u8) -> u64 {
    // SAFETY: a view of ours, in use as its contract says, which is also what `burst` asks for.
    unsafe { (*table.cast::<Routes>()).burst(keys, stride, n.min(BURST), out) }
}

impl Routes {
    unsafe fn burst(&self, keys: *const u8, stride: usize, n: usize, out: *mut *mut u8) -> u64 {
        let mut lanes = Lanes {
            node: [self.only_root; BURST],
            high: [0; BURST],
            low: [0; BURST],
            best: [0; BURST],
            active: std::array::from_fn(|i| i as u8),
            actives: n,
        };
        if let Some(roots) = &self.roots {
            let mut found = [std::ptr::null_mut(); BURST];
            // SAFETY: the exact fields are within the keys.
            let exact = |i: usize| unsafe { std::slice::from_raw_parts(keys.add(i * stride), self.exact_len) };
            // Mostly all keys of a burst are of one VRF: then one look-up does. 1 route: from 109 to 125 M look-ups a second.
            let first = if n > 0 { exact(0) } else { &[] };
            let alike = (1..n).all(|i| exact(i) == first);
            // SAFETY: a key's words include those of its first fields; the rest is the caller's contract.
            let mut hits = unsafe { roots.view().lookup_burst(keys, stride, if alike { n.min(1) } else { n }, found.as_mut_ptr()) };
            if alike && hits == 1 {
                let root = found[0];
                found[..n].fill(root);
                hits = u64::MAX;
            }
            lanes.actives = 0;
            for i in (0..n).filter(|i| hits >> i & 1 == 1) {
                // SAFETY: a record of `roots` is 4 bytes; nothing changes it while `&self` lasts.
                lanes.node[i] = u32::from_le_bytes(unsafe { found[i].cast::<[u8; 4]>().read() });
                lanes.active[lanes.actives] = i as u8;
                lanes.actives += 1;
            }
        }
        let field_len = self.key_len - self.exact_len;
        for i in 0..n {
            // SAFETY: the field lies within the caller's key.
            let bits = unsafe { load_left_aligned(keys.add(i * stride + self.exact_len), field_len) };
            (lanes.high[i], lanes.low[i]) = ((bits >> 64) as u64, bits as u64);
        }
        self.trie.walk(&mut lanes);
        for best in &lanes.best[..n] {
            prefetch(self.trie.result_address(*best));
        }
        let mut hits = 0;
        for (i, best) in lanes.best[..n].iter().enumerate() {
            let handle = self.trie.result(*best);
            // SAFETY: `out` takes `n` pointers.
            unsafe { *out.add(i) = self.records.found(handle) };
            hits |= u64::from(handle != 0) << i;
        }
        hits
    }
}

pub(crate) fn check_prefix_field(shape: &Shape, exact_len: usize) -> Result<(), TableError> {
    if shape.capacity > MAX_LPM_CAPACITY {
        return Err(TableError::Invalid(format!("a capacity of {} prefixes is over {MAX_LPM_CAPACITY}", shape.capacity)));
    }
    match shape.key_len.checked_sub(exact_len) {
        Some(1..=16) => Ok(()),
        _ => Err(TableError::Invalid(format!(
            "a prefix field from byte {exact_len} of a key of {} bytes is not 1 to 16 bytes",
            shape.key_len
        ))),
    }
}

/// A field of up to 16 bytes, most significant bit highest.
fn left_aligned(field: &[u8]) -> u128 {
    let mut bytes = [0; 16];
    bytes[..field.len()].copy_from_slice(field);
    u128::from_be_bytes(bytes)
}

/// The same for a field of `len` bytes at `field`.
///
/// # Safety
/// They are readable.
#[inline(always)]
unsafe fn load_left_aligned(field: *const u8, len: usize) -> u128 {
    // SAFETY: each arm reads `len` bytes.
    unsafe {
        match len {
            4 => u128::from(u32::from_be(field.cast::<u32>().read_unaligned())) << 96,
            8 => u128::from(u64::from_be(field.cast::<u64>().read_unaligned())) << 64,
            16 => u128::from_be(field.cast::<u128>().read_unaligned()),
            _ => left_aligned(std::slice::from_raw_parts(field, len)),
        }
    }
}
