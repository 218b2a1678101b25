//! Longest prefix match on the last field of a key, after fields that match exactly (a VRF, a network instance).
//!
//! The exact fields pick a VRF ([`Exact`]). Where it has many routes, the first 16 bits of the prefix field, and then 8 more, select cells of
//! arrays; where it has few, and beyond those bits, a trie is walked, 6 bits a step ([`levels`], [`trie`]). All lanes of a burst take a
//! step each in turn, so that their cache misses overlap. Of a million routes of IPv4 that makes two cache misses a look-up with the record, 60 M
//! look-ups a second; the trie alone, with a step for all 6 bits, made 27 M. 2^24 direct entries would take 64 MiB a VRF; a hash a prefix
//! length would take up to 129 look-ups.

mod levels;
mod trie;

use crate::ffi::LookupFn;
use crate::records::{Records, RecordsAt};
use crate::sides::{Index, Sides};
use crate::{BURST, Exact, Shape, Table, TableError, View, check_key, check_shape, check_value};
use levels::Levels;
use std::ffi::c_void;
use trie::Lanes;

/// Most entries of an [`Lpm`]: the handles of twice as many fit the 27 bits that a cell has for them, and their nodes' numbers, up to
/// 22 an entry, 30 bits.
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
    /// Of each handle the prefix that has it in the latest side: its length and one, 0 for none, and its key. For [`Lpm::for_each`].
    prefixes: Vec<u8>,
    len: u64,
    lookup: LookupFn,
}

/// From a key to a record's handle.
struct Routes {
    key_len: usize,
    exact_len: usize,
    /// From the exact fields to the VRF's number; without such fields there is one VRF.
    vrfs: Option<Exact>,
    only_vrf: u32,
    levels: Levels,
    records: RecordsAt,
}

/// Sets, replaces or deletes a prefix's handle.
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
        Ok(Lpm { shape, exact_len, sides, records, prefixes: Vec::new(), len: 0, lookup: lookup_for(shape.key_len - exact_len) })
    }

    /// Calls `each` with every prefix and value, staged changes included, in no particular order.
    pub fn for_each(&self, mut each: impl FnMut(Prefix<'_>, &[u8])) {
        for (handle, known) in self.prefixes.chunks_exact(1 + self.shape.key_len).enumerate() {
            if let Some(prefix_len) = known[0].checked_sub(1) {
                each(Prefix { key: &known[1..], prefix_len: prefix_len.into() }, self.records.value(handle as u32));
            }
        }
    }

    /// Notes which prefix has a handle from now on.
    fn note(&mut self, handle: u32, entry: Option<Prefix<'_>>) {
        let stride = 1 + self.shape.key_len;
        let at = handle as usize * stride;
        if self.prefixes.len() < at + stride {
            self.prefixes.resize(at + stride, 0);
        }
        let known = &mut self.prefixes[at..at + stride];
        match entry {
            Some(Prefix { key, prefix_len }) => {
                // 128 bits at most.
                known[0] = prefix_len as u8 + 1;
                known[1..].copy_from_slice(key);
            }
            None => known[0] = 0,
        }
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
        self.note(handle, Some(entry));
        self.len += 1;
        Ok(())
    }

    fn stage_replace(&mut self, entry: Prefix<'_>, value: &[u8]) -> Result<(), TableError> {
        check_value(&self.shape, value)?;
        let old = self.find(entry).ok_or(TableError::Missing)?;
        let handle = self.records.alloc_with(value).ok_or(TableError::Full { capacity: self.shape.capacity })?;
        self.change(entry, Some(handle));
        self.note(old, None);
        self.note(handle, Some(entry));
        self.retire(entry, old);
        Ok(())
    }

    fn stage_remove(&mut self, entry: Prefix<'_>) -> Result<(), TableError> {
        let handle = self.find(entry).ok_or(TableError::Missing)?;
        self.change(entry, None);
        self.note(handle, None);
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
        View { lookup: self.lookup, table: self.sides.current().cast(), exact: std::ptr::null() }
    }
}

impl Routes {
    fn new(shape: &Shape, exact_len: usize, seed: u64, records: RecordsAt) -> Result<Routes, TableError> {
        let mut levels = Levels::new();
        let only_vrf = levels.add_vrf();
        let vrfs = match exact_len {
            0 => None,
            _ => Some(Exact::new(Shape { key_len: exact_len, value_len: 4, capacity: shape.capacity }, seed)?),
        };
        Ok(Routes { key_len: shape.key_len, exact_len, vrfs, only_vrf, levels, records })
    }

    fn vrf(&self, exact: &[u8]) -> Option<u32> {
        match &self.vrfs {
            None => Some(self.only_vrf),
            Some(vrfs) => vrfs.get(exact).and_then(|vrf| vrf.try_into().ok()).map(u32::from_le_bytes),
        }
    }

    fn get(&self, key: &[u8], prefix_len: u32) -> Option<u32> {
        let (exact, field) = key.split_at(self.exact_len);
        self.levels.get(self.vrf(exact)?, left_aligned(field), prefix_len)
    }
}

impl Index for Routes {
    type Change = Change;

    fn change(&mut self, Change { key, prefix_len, to }: &Change) {
        let (exact, field) = key.split_at(self.exact_len);
        let bits = left_aligned(field);
        let vrf = self.vrf(exact).unwrap_or_else(|| {
            let vrf = self.levels.add_vrf();
            if let Some(vrfs) = &mut self.vrfs {
                // There are no more VRFs than entries.
                vrfs.insert(exact, &vrf.to_le_bytes()).expect("room for a VRF of each entry");
            }
            vrf
        });
        match to {
            Some(handle) => self.levels.set(vrf, bits, *prefix_len, *handle),
            None => {
                self.levels.remove(vrf, bits, *prefix_len);
                if let Some(vrfs) = &mut self.vrfs
                    && self.levels.is_empty(vrf)
                {
                    self.levels.remove_vrf(vrf);
                    vrfs.remove(exact).expect("the VRF was found");
                }
            }
        }
    }
}

/// The [`crate::ffi::LookupFn`] for fields of `LEN` bytes, or with 0 of any number.
unsafe extern "C" fn lookup_burst<const LEN: usize>(
    table: *const c_void,
    keys: *const u8,
    stride: usize,
    n: usize,
    out: *mut *mut u8,
) -> u64 {
    // SAFETY: a view of ours, in use as its contract says, which is also what `burst` asks for.
    unsafe { (*table.cast::<Routes>()).burst::<LEN>(keys, stride, n.min(BURST), out) }
}

/// The same for processors that count bits and shift by any register in one instruction.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "popcnt,lzcnt,bmi1,bmi2")]
unsafe extern "C" fn lookup_burst_bmi<const LEN: usize>(
    table: *const c_void,
    keys: *const u8,
    stride: usize,
    n: usize,
    out: *mut *mut u8,
) -> u64 {
    // SAFETY: as above.
    unsafe { (*table.cast::<Routes>()).burst::<LEN>(keys, stride, n.min(BURST), out) }
}

/// The one for this processor and a field of `len` bytes.
fn lookup_for(len: usize) -> LookupFn {
    #[cfg(target_arch = "x86_64")]
    if is_x86_feature_detected!("popcnt")
        && is_x86_feature_detected!("lzcnt")
        && is_x86_feature_detected!("bmi1")
        && is_x86_feature_detected!("bmi2")
    {
        return match len {
            4 => lookup_burst_bmi::<4>,
            16 => lookup_burst_bmi::<16>,
            _ => lookup_burst_bmi::<0>,
        };
    }
    match len {
        4 => lookup_burst::<4>,
        16 => lookup_burst::<16>,
        _ => lookup_burst::<0>,
    }
}

impl Routes {
    #[inline(always)]
    unsafe fn burst<const LEN: usize>(&self, keys: *const u8, stride: usize, n: usize, out: *mut *mut u8) -> u64 {
        let mut lanes = Lanes {
            node: [self.only_vrf; BURST],
            high: [0; BURST],
            low: [0; BURST],
            best: [0; BURST],
            active: std::array::from_fn(|i| i as u8),
            actives: n,
        };
        let field_len = if LEN > 0 { LEN } else { self.key_len - self.exact_len };
        for i in 0..n {
            // SAFETY: the field lies within the caller's key.
            let bits = unsafe { load_left_aligned(keys.add(i * stride + self.exact_len), field_len) };
            (lanes.high[i], lanes.low[i]) = ((bits >> 64) as u64, bits as u64);
        }
        match &self.vrfs {
            None => self.levels.look_up_in::<LEN>(self.only_vrf, &mut lanes),
            // SAFETY: the caller's keys.
            Some(vrfs) if unsafe { are_alike(keys, stride, n, self.exact_len) } => {
                let mut found = [std::ptr::null_mut()];
                // SAFETY: a key's words include those of its first fields; the rest is the caller's contract.
                if unsafe { vrfs.view().lookup_burst(keys, stride, n.min(1), found.as_mut_ptr()) } == 1 {
                    // SAFETY: a record of `vrfs` is 4 bytes; nothing changes it while `&self` lasts.
                    self.levels.look_up_in::<LEN>(u32::from_le_bytes(unsafe { found[0].cast::<[u8; 4]>().read() }), &mut lanes);
                }
            }
            Some(vrfs) => {
                let mut found = [std::ptr::null_mut(); BURST];
                // SAFETY: as above.
                let hits = unsafe { vrfs.view().lookup_burst(keys, stride, n, found.as_mut_ptr()) };
                lanes.actives = 0;
                for i in (0..n).filter(|i| hits >> i & 1 == 1) {
                    // SAFETY: as above.
                    lanes.node[i] = u32::from_le_bytes(unsafe { found[i].cast::<[u8; 4]>().read() });
                    lanes.active[lanes.actives] = i as u8;
                    lanes.actives += 1;
                }
                self.levels.look_up::<LEN>(&mut lanes);
            }
        }
        self.levels.prefetch_found(&lanes.best[..n]);
        let mut hits = 0;
        for (i, best) in lanes.best[..n].iter().enumerate() {
            let handle = self.levels.handle(*best);
            // SAFETY: `out` takes `n` pointers.
            unsafe { *out.add(i) = self.records.found(handle) };
            hits |= u64::from(handle != 0) << i;
        }
        hits
    }
}

/// Whether all keys begin with the same `len` bytes: mostly a burst is of one VRF.
///
/// # Safety
/// There are `n` keys of at least `len` bytes, padded to words.
#[inline(always)]
unsafe fn are_alike(keys: *const u8, stride: usize, n: usize, len: usize) -> bool {
    let mut differ = 0;
    for at in (0..len).step_by(8) {
        let mask = u64::from_le(u64::MAX >> (64 - 8 * (len - at).min(8)));
        // SAFETY: a key's words can be read.
        let word = |i: usize| unsafe { keys.add(i * stride + at).cast::<u64>().read_unaligned() } & mask;
        for i in 1..n {
            differ |= word(i) ^ word(0);
        }
    }
    differ == 0
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

#[cfg(test)]
mod tests {
    use super::*;
    use rand::{Rng, SeedableRng, rngs::StdRng};

    /// The functions for this processor and width find what the ones for any do, in one VRF and in several.
    #[test]
    fn all_look_up_functions_agree() {
        let mut rng = StdRng::seed_from_u64(8);
        let mut table = Lpm::new(Shape { key_len: 8, value_len: 8, capacity: 2_000 }, 4, 3).unwrap();
        for i in 0..2_000u64 {
            let len = rng.random_range(4..=32);
            let net = rng.random::<u32>() >> 12 << 8 & u32::MAX << (32 - len);
            let key = (i % 3) << 32 | u64::from(net);
            let _ = table.insert(Prefix { key: &key.to_be_bytes(), prefix_len: len }, &key.to_le_bytes());
        }
        let (mut hits, mut misses) = (0, 0);
        for round in 0..200u64 {
            let keys: [[u8; 8]; BURST] = std::array::from_fn(|_| {
                let vrf = if round % 2 == 0 { round / 2 % 3 } else { rng.random_range(0..4) };
                (vrf << 32 | u64::from(rng.random::<u32>() >> rng.random_range(0..8))).to_be_bytes()
            });
            let view = table.view();
            let answers = [view.lookup, lookup_burst::<4>, lookup_burst::<0>].map(|lookup| {
                let mut out = [std::ptr::null_mut(); BURST];
                // SAFETY: keys of 8 bytes, room for their records, in a table that does not change.
                (unsafe { lookup(view.table, keys.as_ptr().cast(), 8, BURST, out.as_mut_ptr()) }, out)
            });
            assert!(answers.iter().all(|answer| *answer == answers[0]));
            hits += answers[0].0.count_ones();
            misses += answers[0].0.count_zeros();
        }
        assert!(table.len() > 1_000 && hits > 1_000 && misses > 1_000, "{} routes, {hits} hits, {misses} misses", table.len());
    }
}
