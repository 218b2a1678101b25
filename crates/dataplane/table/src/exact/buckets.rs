//! A bucketised cuckoo hash from a key's hash to the handles of entries that may have it. It never refuses an entry.
//!
//! A bucket is one cache line: eight 16-bit tags, compared at once, and eight handles. An entry lives in its home bucket or,
//! when that is full, in its alternate, whose number is the home's with some low bits flipped as the tag says; so
//! an entry can be moved between the two without reading its key. Both lie in the same group of 64 buckets (a
//! page). A bucket counts its entries that live elsewhere; where that is zero, as it mostly is, a miss costs one line.
//!
//! The array grows a group at a time (linear hashing): group `g` of `n` splits into `g` and `g + n`, entries of
//! other groups stay where they are. So one insert moves at most one group, whatever the size of the table. Growth begins at
//! 3/4 of the slots, where 64 buckets practically always suffice; an entry that finds no slot goes to a
//! short list that look-ups scan last, so that even then nothing is refused.
//!
//! # One writer beside many readers
//! A slot can be hidden from one of the two *sides* that look-ups are on. For look-ups on a side, what they may see changes only by
//! *moves* of an entry, within its group or to the new half of one. A move counts itself in [`Buckets::moves`], writes the copy, counts
//! itself again, and clears the original. So a reader that finds that count unchanged has missed nothing that
//! was there all the time; who finds it changed looks again.
//!
//! A look-up reads a slot's tag, then its handle, then whether it is hidden from its side. A slot is hidden before its handle is
//! written, and a slot that is cleared stays hidden, from both sides, until it is used again. So, but for moves, a bit that hides a slot from the side that
//! look-ups are on is never cleared, and whatever the handle was of, it is not taken for one that they may see.

use crate::TableError;
use pages::Region;
use std::sync::atomic::{AtomicPtr, AtomicU8, AtomicU16, AtomicU32, AtomicU64, AtomicUsize, Ordering, fence};

/// Entries of a bucket.
pub(super) const SLOTS: usize = 8;
/// Buckets of a group.
const GROUP: usize = 64;
/// Entries a group on average at which the array starts to grow: 3/4 of its slots.
const GROUP_LOAD: usize = GROUP * SLOTS * 3 / 4;
/// While growing, a group is split at every so many inserts: the load rises by 2 % until all are split.
const SPLIT_EVERY: u32 = 8;

/// One cache line of entries.
#[repr(C, align(64))]
pub(super) struct Bucket {
    /// From the entry's hash; 0 marks a free slot.
    tags: [AtomicU16; SLOTS],
    /// The entry; one more than there are slots, always 0, for an index that says "none".
    handles: [AtomicU32; SLOTS + 1],
    /// Entries whose home this is and that live in the other bucket or the list of strays.
    away: AtomicU32,
    /// By side, bit `i`: look-ups on that side do not see slot `i`.
    hidden: [AtomicU8; 2],
    /// Bit `i`: the home of the entry in slot `i` is its other bucket. For the writer alone.
    guests: AtomicU8,
}

/// What is known of an entry in here.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) struct Item {
    pub(super) hash: u64,
    pub(super) handle: u32,
    /// Bit `s`: hidden from side `s`.
    pub(super) hidden: u8,
}

/// Where an entry was found.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Slot { bucket: usize, slot: usize },
    Stray(usize),
}

/// What readers and the writer share.
pub(super) struct Buckets {
    region: Region,
    /// Buckets in use, a multiple of GROUP.
    live: AtomicUsize,
    /// Counts moves; see the top of this file.
    moves: AtomicU64,
    /// Entries that found both buckets full and no way to make room; null for none. A list is never changed, only replaced.
    strays: AtomicPtr<Vec<Item>>,
}

/// What the writer alone has; holding it mutably is what makes one the writer.
#[derive(Default)]
pub(super) struct Growth {
    /// Inserts since the last split.
    since_split: u32,
    /// Lists of strays that look-ups may still be in.
    #[expect(clippy::vec_box, reason = "look-ups hold the address of what is in the box")]
    retired: Vec<Box<Vec<Item>>>,
}

/// How many buckets there are, as of one moment.
#[derive(Clone, Copy)]
pub(super) struct Extent {
    live: usize,
    mask: usize,
}

impl Extent {
    #[inline(always)]
    fn of(live: usize) -> Extent {
        Extent { live, mask: live.next_power_of_two() - 1 }
    }

    /// Number of the home bucket of a hash: the hash under the mask, one bit less for numbers that are not in use yet.
    #[inline(always)]
    pub(super) fn home(self, hash: u64) -> usize {
        let bucket = hash as usize & self.mask;
        if bucket >= self.live { bucket & (self.mask >> 1) } else { bucket }
    }
}

/// The tag of a hash; never 0.
#[inline(always)]
pub(super) fn tag_of(hash: u64) -> u16 {
    (hash >> 48) as u16 | 1
}

/// The other bucket that an entry of that tag may live in. Tags are odd, so it is another one.
#[inline(always)]
pub(super) fn alternate(bucket: usize, tag: u16) -> usize {
    bucket ^ (tag as usize & (GROUP - 1))
}

// As generated code reads it ([`crate::ffi::ExactIndex`]).
const _: () = {
    use std::mem::offset_of;
    assert!(offset_of!(Bucket, handles) == 16 && offset_of!(Bucket, hidden) == 56);
};

impl Bucket {
    /// Bit `i`: slot `i` has that tag. `tag` 0 gives the free slots.
    #[inline(always)]
    pub(super) fn matches(&self, tag: u16) -> u32 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: SSE2 is part of every x86_64. The load is of the 16 bytes of `tags`, aligned to 64; it is written in
        // assembly because it races with the writer's stores: each tag is old or new, as with atomic loads one by one.
        unsafe {
            use std::arch::x86_64::*;
            let tags: __m128i;
            std::arch::asm!("movdqa {tags}, xmmword ptr [{from}]", tags = lateout(xmm_reg) tags, from = in(reg) self.tags.as_ptr(),
                options(nostack, preserves_flags, readonly));
            let equal = _mm_cmpeq_epi16(tags, _mm_set1_epi16(tag as i16));
            _mm_movemask_epi8(_mm_packs_epi16(equal, _mm_setzero_si128())) as u32
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            self.tags.iter().enumerate().map(|(i, t)| u32::from(t.load(Ordering::Acquire) == tag) << i).sum()
        }
    }

    /// The handle in the lowest slot of `matches`; 0 if there is none, or it is hidden from that side.
    #[inline(always)]
    pub(super) fn first(&self, matches: u32, side: usize) -> u32 {
        // Bit 8 stands for the slot past the last, so the index is at most 8.
        let slot = ((matches | 1 << SLOTS).trailing_zeros() as usize).min(SLOTS);
        let handle = self.handles[slot].load(Ordering::Acquire);
        let hidden = u32::from(self.hidden[side].load(Ordering::Acquire)) >> slot & 1;
        handle & hidden.wrapping_sub(1)
    }

    /// Whether some entry whose home this is lives elsewhere.
    #[inline(always)]
    pub(super) fn has_away(&self) -> bool {
        self.away.load(Ordering::Acquire) != 0
    }

    /// Handle and hidden bits of a slot, in the order in which they must be read.
    fn entry(&self, slot: usize) -> (u32, u8) {
        let handle = self.handles[slot].load(Ordering::Acquire);
        let hidden = |side: usize| self.hidden[side].load(Ordering::Acquire) >> slot & 1;
        (handle, hidden(0) | hidden(1) << 1)
    }

    fn free_slot(&self) -> Option<usize> {
        let free = self.matches(0);
        (free != 0).then(|| free.trailing_zeros() as usize)
    }

    fn tag(&self, slot: usize) -> u16 {
        self.tags[slot].load(Ordering::Relaxed)
    }

    fn is_guest(&self, slot: usize) -> bool {
        self.guests.load(Ordering::Relaxed) >> slot & 1 == 1
    }

    fn put(&self, slot: usize, tag: u16, handle: u32, hidden: u8, guest: bool) {
        self.hide(slot, hidden);
        set_bit(&self.guests, slot, guest);
        self.handles[slot].store(handle, Ordering::Release);
        self.tags[slot].store(tag, Ordering::Release);
    }

    fn clear(&self, slot: usize) {
        self.hide(slot, 0b11);
        self.handles[slot].store(0, Ordering::Release);
        self.tags[slot].store(0, Ordering::Release);
        set_bit(&self.guests, slot, false);
    }

    fn hide(&self, slot: usize, hidden: u8) {
        for side in 0..2 {
            set_bit(&self.hidden[side], slot, hidden >> side & 1 == 1);
        }
    }

    fn count_away(&self, by: i32) {
        self.away.store(self.away.load(Ordering::Relaxed).wrapping_add_signed(by), Ordering::Release);
    }
}

/// Only the writer writes, so this is no read-modify-write.
fn set_bit(byte: &AtomicU8, bit: usize, on: bool) {
    byte.store(byte.load(Ordering::Relaxed) & !(1 << bit) | u8::from(on) << bit, Ordering::Release);
}

impl Buckets {
    /// For up to `entries` entries, starting with one group.
    pub(super) fn new(entries: u64) -> Result<Buckets, TableError> {
        let groups = (entries as usize).div_ceil(GROUP_LOAD).next_power_of_two();
        let region = Region::reserve(groups * GROUP * size_of::<Bucket>())?;
        Ok(Buckets { region, live: GROUP.into(), moves: 0.into(), strays: AtomicPtr::default() })
    }

    /// Number of moves so far. What a look-up did not find between two equal counts was not there.
    #[inline(always)]
    pub(super) fn moves(&self) -> u64 {
        self.moves.load(Ordering::Acquire)
    }

    /// The same, after all that was read before.
    #[inline(always)]
    pub(super) fn moves_after(&self) -> u64 {
        fence(Ordering::Acquire);
        self.moves.load(Ordering::Relaxed)
    }

    #[inline(always)]
    pub(super) fn extent(&self) -> Extent {
        Extent::of(self.live.load(Ordering::Acquire))
    }

    /// For generated code: the first bucket, how many are in use, and the count of moves.
    pub(super) fn parts(&self) -> (*const u8, *const AtomicUsize, *const AtomicU64) {
        (self.region.start(), &raw const self.live, &raw const self.moves)
    }

    /// Address of a bucket, for a prefetch.
    #[inline(always)]
    pub(super) fn address(&self, bucket: usize) -> *const Bucket {
        self.region.start().cast::<Bucket>().wrapping_add(bucket)
    }

    #[inline(always)]
    pub(super) fn bucket(&self, bucket: usize) -> &Bucket {
        // SAFETY: bucket numbers come from an extent, or are those of the group that is being added, which is within the
        // region; any bytes are a valid bucket, zeroes an empty one; all of it is atomics.
        unsafe { &*self.address(bucket) }
    }

    /// Entries without a bucket.
    #[inline(always)]
    pub(super) fn strays(&self) -> &[Item] {
        let list = self.strays.load(Ordering::Acquire);
        // SAFETY: null, or a list that is freed only when no look-up that began before it was replaced still runs.
        unsafe { list.as_ref() }.map_or(&[], Vec::as_slice)
    }

    /// The entry with that hash of which `is_it(handle, hidden)` holds, looking home, then in the alternate, then among the strays.
    pub(super) fn find(&self, extent: Extent, hash: u64, is_it: impl Fn(u32, u8) -> bool) -> Option<(Place, u32)> {
        let (home, tag) = (extent.home(hash), tag_of(hash));
        let within = |number: usize| {
            let bucket = self.bucket(number);
            let mut matches = bucket.matches(tag);
            while matches != 0 {
                let slot = matches.trailing_zeros() as usize;
                let (handle, hidden) = bucket.entry(slot);
                if handle != 0 && is_it(handle, hidden) {
                    return Some((Place::Slot { bucket: number, slot }, handle));
                }
                matches &= matches - 1;
            }
            None
        };
        let stray = || {
            let strays = self.strays();
            let at = strays.iter().position(|s| s.hash == hash && is_it(s.handle, s.hidden))?;
            Some((Place::Stray(at), strays[at].handle))
        };
        within(home).or_else(|| if self.bucket(home).has_away() { within(alternate(home, tag)).or_else(stray) } else { None })
    }

    /// Adds an entry. `len` counts it already; `hash_of` gives the hash of any entry, for those that growth moves.
    pub(super) fn insert(&self, growth: &mut Growth, item: Item, len: u32, hash_of: impl Fn(u32) -> u64) {
        self.grow(growth, len, hash_of);
        self.place(growth, self.extent().home(item.hash), item);
    }

    /// From which sides an entry is hidden.
    pub(super) fn hidden(&self, place: Place) -> u8 {
        match place {
            Place::Slot { bucket, slot } => self.bucket(bucket).entry(slot).1,
            Place::Stray(at) => self.strays()[at].hidden,
        }
    }

    /// Changes from which sides an entry is hidden.
    pub(super) fn hide(&self, growth: &mut Growth, place: Place, hidden: u8) {
        match place {
            Place::Slot { bucket, slot } => self.bucket(bucket).hide(slot, hidden),
            Place::Stray(at) => {
                let mut strays = self.strays().to_vec();
                strays[at].hidden = hidden;
                self.set_strays(growth, strays);
            }
        }
    }

    /// Where the entry with that hash and handle is.
    pub(super) fn locate(&self, hash: u64, handle: u32) -> Option<Place> {
        self.find(self.extent(), hash, |other, _| other == handle).map(|(place, _)| place)
    }

    /// Removes an entry that no reader can see.
    pub(super) fn remove(&self, growth: &mut Growth, hash: u64, place: Place) {
        let home = self.extent().home(hash);
        match place {
            Place::Slot { bucket: number, slot } => {
                let bucket = self.bucket(number);
                let guest = bucket.is_guest(slot);
                bucket.clear(slot);
                if guest {
                    self.bucket(home).count_away(-1);
                }
            }
            Place::Stray(at) => {
                let mut strays = self.strays().to_vec();
                strays.swap_remove(at);
                self.set_strays(growth, strays);
                self.bucket(home).count_away(-1);
            }
        }
        if !self.strays().is_empty() {
            self.house_strays(growth);
        }
    }

    /// Frees what look-ups that have ended since may have read.
    ///
    /// # Safety
    /// No look-up runs that began before the last call of another function with this `growth`.
    pub(super) unsafe fn free_retired(&self, growth: &mut Growth) {
        growth.retired.clear();
    }

    /// Puts an entry home, else into its alternate, else moves others until there is room, else among the strays.
    fn place(&self, growth: &mut Growth, home: usize, item: Item) {
        if !self.place_in_bucket(home, item) {
            self.bucket(home).count_away(1);
            let strays = self.strays().iter().copied().chain([item]).collect();
            self.set_strays(growth, strays);
        }
    }

    fn place_in_bucket(&self, home: usize, item: Item) -> bool {
        let Item { hash, handle, hidden } = item;
        let tag = tag_of(hash);
        if let Some(slot) = self.bucket(home).free_slot() {
            self.bucket(home).put(slot, tag, handle, hidden, false);
            return true;
        }
        let other = alternate(home, tag);
        let place = self.bucket(other).free_slot().map(|slot| (other, slot)).or_else(|| self.make_room(home, other));
        let Some((bucket, slot)) = place else { return false };
        if bucket != home {
            self.bucket(home).count_away(1);
        }
        self.bucket(bucket).put(slot, tag, handle, hidden, bucket != home);
        true
    }

    fn set_strays(&self, growth: &mut Growth, strays: Vec<Item>) {
        let new = if strays.is_empty() { std::ptr::null_mut() } else { Box::into_raw(Box::new(strays)) };
        let old = self.strays.swap(new, Ordering::AcqRel);
        if !old.is_null() {
            // SAFETY: it came from a box, here, and left `strays` just now.
            growth.retired.push(unsafe { Box::from_raw(old) });
        }
    }

    /// Frees a slot in one of two full buckets by moving entries to their other buckets, the shortest chain of moves
    /// first. Chains stay within the group, so a set of 64 bits remembers where the search has been.
    fn make_room(&self, first: usize, second: usize) -> Option<(usize, usize)> {
        #[derive(Clone, Copy)]
        struct Step {
            bucket: usize,
            /// The step and slot whose entry would move here.
            from: Option<(usize, usize)>,
        }
        let bit = |bucket: usize| 1u64 << (bucket % GROUP);
        let mut seen = bit(first) | bit(second);
        let mut steps = [Step { bucket: first, from: None }; GROUP];
        steps[1].bucket = second;
        let (mut at, mut end) = (0, 2);
        while at < end {
            let here = steps[at].bucket;
            for slot in 0..SLOTS {
                let to = alternate(here, self.bucket(here).tag(slot));
                if let Some(free) = self.bucket(to).free_slot() {
                    // Back along the chain: each move frees the slot that the move before it fills.
                    let (mut to, mut free, mut from) = (to, free, Some((at, slot)));
                    while let Some((step, slot)) = from {
                        self.shift(steps[step].bucket, slot, to, free);
                        (to, free, from) = (steps[step].bucket, slot, steps[step].from);
                    }
                    return Some((to, free));
                }
                if seen & bit(to) == 0 {
                    seen |= bit(to);
                    steps[end] = Step { bucket: to, from: Some((at, slot)) };
                    end += 1;
                }
            }
            at += 1;
        }
        None
    }

    /// Moves an entry to a free slot of its other bucket.
    fn shift(&self, from: usize, from_slot: usize, to: usize, to_slot: usize) {
        let (source, target) = (self.bucket(from), self.bucket(to));
        let (handle, hidden) = source.entry(from_slot);
        let guest = source.is_guest(from_slot);
        if !guest {
            source.count_away(1);
        }
        self.count_move();
        target.put(to_slot, source.tag(from_slot), handle, hidden, !guest);
        self.count_move();
        source.clear(from_slot);
        if guest {
            target.count_away(-1);
        }
    }

    /// Before the copy is written, as the slot that it goes to may have hidden something, and between the copy and the clearing of the original.
    fn count_move(&self) {
        // Only the writer writes. The stores that follow have release order, so who sees one of them sees the count too.
        self.moves.store(self.moves.load(Ordering::Relaxed) + 1, Ordering::Release);
    }

    /// Begins to double the array when `len` entries load it to 3/4, and splits the next group when one is due.
    fn grow(&self, growth: &mut Growth, len: u32, hash_of: impl Fn(u32) -> u64) {
        growth.since_split += 1;
        let live = self.live.load(Ordering::Relaxed);
        if live.is_power_of_two() {
            if len as usize <= live / GROUP * GROUP_LOAD {
                return;
            }
        } else if growth.since_split < SPLIT_EVERY {
            return;
        }
        growth.since_split = 0;
        self.split(growth, live, hash_of);
    }

    /// Splits the group that is next in order in two: copies to the new half what belongs there, lets look-ups know of it,
    /// clears the originals.
    fn split(&self, growth: &mut Growth, live: usize, hash_of: impl Fn(u32) -> u64) {
        let (old, new) = (Extent::of(live), Extent::of(live + GROUP));
        let first = live - (new.mask >> 1) - 1;
        let mut moved = [(0, 0); GROUP * SLOTS];
        let mut moves = 0;
        for number in first..first + GROUP {
            let bucket = self.bucket(number);
            for slot in 0..SLOTS {
                let (handle, hidden) = bucket.entry(slot);
                if handle == 0 {
                    continue;
                }
                let hash = hash_of(handle);
                if new.home(hash) >= live {
                    self.place(growth, new.home(hash), Item { hash, handle, hidden });
                    moved[moves] = (number, slot);
                    moves += 1;
                }
            }
        }
        // Those that became strays just now have been counted at their new home.
        let is_moved = |stray: &Item| moved[..moves].iter().any(|(b, s)| self.bucket(*b).entry(*s).0 == stray.handle);
        let rehomed: Vec<u64> = self.strays().iter().filter(|s| new.home(s.hash) >= live && !is_moved(s)).map(|s| s.hash).collect();
        for hash in &rehomed {
            self.bucket(new.home(*hash)).count_away(1);
        }
        self.live.store(live + GROUP, Ordering::Release);
        self.count_move();
        for hash in &rehomed {
            self.bucket(old.home(*hash)).count_away(-1);
        }
        for (number, slot) in &moved[..moves] {
            let bucket = self.bucket(*number);
            if bucket.is_guest(*slot) {
                self.bucket(alternate(*number, bucket.tag(*slot))).count_away(-1);
            }
            bucket.clear(*slot);
        }
        // There is room now for some that were guests.
        for number in first..first + GROUP {
            for slot in (0..SLOTS).filter(|slot| self.bucket(number).is_guest(*slot)) {
                let home = alternate(number, self.bucket(number).tag(slot));
                if let Some(free) = self.bucket(home).free_slot() {
                    self.shift(number, slot, home, free);
                }
            }
        }
        if !self.strays().is_empty() {
            self.house_strays(growth);
        }
    }

    /// Tries again to house the strays, after room was made. A list without those that found room replaces the old one.
    fn house_strays(&self, growth: &mut Growth) {
        let extent = self.extent();
        let strays = self.strays().to_vec();
        let mut left = Vec::new();
        let mut housed = Vec::new();
        self.count_move();
        for item in strays {
            let home = extent.home(item.hash);
            if self.place_in_bucket(home, item) { housed.push(home) } else { left.push(item) }
        }
        if !housed.is_empty() {
            self.count_move();
            self.set_strays(growth, left);
            for home in housed {
                self.bucket(home).count_away(-1);
            }
        }
    }

    /// Every entry's handle and hidden bits, in no order that means anything.
    pub(super) fn entries(&self) -> impl Iterator<Item = (u32, u8)> + '_ {
        let live = self.live.load(Ordering::Relaxed);
        let housed = (0..live).flat_map(move |b| (0..SLOTS).map(move |slot| self.bucket(b).entry(slot)).filter(|(handle, _)| *handle != 0));
        housed.chain(self.strays().iter().map(|s| (s.handle, s.hidden)))
    }

    /// Panics unless tags, guests and counts agree with the entries' hashes.
    #[cfg(test)]
    pub(super) fn check(&self, hash_of: impl Fn(u32) -> u64) {
        let extent = self.extent();
        let mut away = vec![0; extent.live];
        for number in 0..extent.live {
            let bucket = self.bucket(number);
            assert_eq!(bucket.handles[SLOTS].load(Ordering::Relaxed), 0);
            for slot in 0..SLOTS {
                let (handle, _) = bucket.entry(slot);
                assert_eq!(bucket.tag(slot) == 0, handle == 0);
                if handle == 0 {
                    assert!(!bucket.is_guest(slot));
                    continue;
                }
                let hash = hash_of(handle);
                assert_eq!(bucket.tag(slot), tag_of(hash));
                let home = extent.home(hash);
                assert_eq!(number, if bucket.is_guest(slot) { alternate(home, tag_of(hash)) } else { home });
                away[home] += u32::from(bucket.is_guest(slot));
            }
        }
        for stray in self.strays() {
            assert_eq!(stray.hash, hash_of(stray.handle));
            away[extent.home(stray.hash)] += 1;
        }
        assert!((0..extent.live).all(|b| self.bucket(b).away.load(Ordering::Relaxed) == away[b]));
        let mut handles: Vec<u32> = self.entries().map(|(handle, _)| handle).collect();
        handles.sort_unstable();
        assert!(handles.windows(2).all(|pair| pair[0] != pair[1]), "an entry is there twice");
    }

    /// Number of entries that are not at home.
    #[cfg(test)]
    pub(super) fn away(&self) -> u64 {
        (0..self.extent().live).map(|b| u64::from(self.bucket(b).away.load(Ordering::Relaxed))).sum()
    }
}

impl Drop for Buckets {
    fn drop(&mut self) {
        let list = std::mem::replace(self.strays.get_mut(), std::ptr::null_mut());
        if !list.is_null() {
            // SAFETY: it came from a box, and there are no look-ups any more.
            drop(unsafe { Box::from_raw(list) });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn insert(buckets: &Buckets, growth: &mut Growth, hash: u64, handle: u32, hash_of: impl Fn(u32) -> u64) {
        buckets.insert(growth, Item { hash, handle, hidden: 0 }, handle, hash_of);
        // SAFETY: there are no other look-ups.
        unsafe { buckets.free_retired(growth) }
    }

    /// Hashes that are all alike end up as strays, and come home one after the other as room is made.
    #[test]
    fn equal_hashes_are_never_refused() {
        let (buckets, mut growth) = (Buckets::new(100).unwrap(), Growth::default());
        let hash = 0x1234_5678_9abc_def0;
        for handle in 1..=100 {
            insert(&buckets, &mut growth, hash, handle, |_| hash);
            buckets.check(|_| hash);
        }
        assert_eq!(buckets.strays().len(), 100 - 2 * SLOTS);
        for handle in 1..=100 {
            let place = buckets.locate(hash, handle).unwrap();
            buckets.remove(&mut growth, hash, place);
            buckets.check(|_| hash);
            assert!(buckets.locate(hash, handle).is_none());
        }
        assert_eq!(buckets.entries().count(), 0);
    }

    /// Strays outlive the growth of the array, whichever group is being split.
    #[test]
    fn strays_survive_growth() {
        let key = crate::hash::HashKey::new(4);
        // The first 40 entries are alike, the others spread.
        let hash_of = |handle: u32| key.of(&[u64::from(handle.max(40))]);
        let (buckets, mut growth) = (Buckets::new(5_000).unwrap(), Growth::default());
        let mut strays = 0;
        for handle in 1..=5_000 {
            insert(&buckets, &mut growth, hash_of(handle), handle, hash_of);
            buckets.check(hash_of);
            strays = strays.max(buckets.strays().len());
            if handle % 100 == 0 {
                assert!((1..=handle).all(|h| buckets.locate(hash_of(h), h).is_some()));
            }
        }
        assert!(strays >= 40 - 2 * SLOTS && buckets.extent().live >= 8 * GROUP);
        for handle in (1..=5_000).rev() {
            let place = buckets.locate(hash_of(handle), handle).unwrap();
            buckets.remove(&mut growth, hash_of(handle), place);
        }
        buckets.check(hash_of);
        assert_eq!((buckets.entries().count(), buckets.away()), (0, 0));
    }

    /// Homes all in one bucket but tags that differ: the chain of moves reaches the whole group.
    #[test]
    fn chains_of_moves_fill_the_group() {
        let (buckets, mut growth) = (Buckets::new(GROUP_LOAD as u64).unwrap(), Growth::default());
        let hash_of = |handle: u32| (u64::from(handle) << 49) | u64::from(handle % 4);
        for handle in 1..=300 {
            insert(&buckets, &mut growth, hash_of(handle), handle, hash_of);
            buckets.check(hash_of);
        }
        for handle in 1..=300 {
            assert!(buckets.locate(hash_of(handle), handle).is_some());
        }
        assert!(buckets.away() > 200);
        assert!(buckets.moves() > 0);
    }

    /// At the load where growth begins and throughout it, practically every entry finds a bucket.
    #[test]
    fn growth_leaves_no_strays_and_few_guests() {
        let key = crate::hash::HashKey::new(3);
        let hash_of = |handle: u32| key.of(&[u64::from(handle)]);
        let capacity = 400_000;
        let (buckets, mut growth) = (Buckets::new(capacity.into()).unwrap(), Growth::default());
        for handle in 1..=capacity {
            insert(&buckets, &mut growth, hash_of(handle), handle, hash_of);
            assert!(buckets.strays().is_empty(), "stray at {handle}");
            if handle % 50_000 == 0 {
                buckets.check(hash_of);
                assert!(buckets.away() * 6 < u64::from(handle), "{} of {handle} are not at home", buckets.away());
            }
        }
    }
}
