//! From a key's hash to the handles of the entries that may have it: a bucketised cuckoo hash that never refuses.
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

use crate::TableError;
use crate::region::Region;

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
    pub(super) tags: [u16; SLOTS],
    /// The entry; one more than there are slots, always 0, for an index that says "none".
    pub(super) handles: [u32; SLOTS + 1],
    /// Bit `i`: the home of the entry in slot `i` is its other bucket.
    guests: u32,
    /// Entries whose home this is and that live in the other bucket or the list of strays.
    pub(super) away: u32,
}

/// Where an entry was found.
#[derive(Clone, Copy)]
pub(super) enum Place {
    Slot { bucket: usize, slot: usize },
    Stray(usize),
}

pub(super) struct Buckets {
    region: Region,
    /// Buckets in use, a multiple of GROUP. Between half of `mask + 1`, exclusive, and `mask + 1`.
    live: usize,
    /// Bucket numbers are hashes under this mask, one bit less for numbers that are not in use yet.
    mask: usize,
    /// Inserts since the last split.
    since_split: u32,
    /// Hash and handle of entries that found both buckets full and no way to make room.
    pub(super) strays: Vec<(u64, u32)>,
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

impl Bucket {
    /// Bit `i`: slot `i` has that tag. `tag` 0 gives the free slots.
    #[inline(always)]
    pub(super) fn matches(&self, tag: u16) -> u32 {
        #[cfg(target_arch = "x86_64")]
        // SAFETY: SSE2 is part of every x86_64; the load is of the 16 bytes of `tags`, in any alignment.
        unsafe {
            use std::arch::x86_64::*;
            let equal = _mm_cmpeq_epi16(_mm_loadu_si128(self.tags.as_ptr().cast()), _mm_set1_epi16(tag as i16));
            _mm_movemask_epi8(_mm_packs_epi16(equal, _mm_setzero_si128())) as u32
        }
        #[cfg(not(target_arch = "x86_64"))]
        {
            self.tags.iter().enumerate().map(|(i, t)| u32::from(*t == tag) << i).sum()
        }
    }

    /// The handle in the lowest slot of `matches`, 0 if there is none.
    #[inline(always)]
    pub(super) fn first(&self, matches: u32) -> u32 {
        // Bit 8 stands for the slot past the last, so the index is at most 8.
        self.handles[((matches | 1 << SLOTS).trailing_zeros() as usize).min(SLOTS)]
    }

    fn free_slot(&self) -> Option<usize> {
        let free = self.matches(0);
        (free != 0).then(|| free.trailing_zeros() as usize)
    }

    fn put(&mut self, slot: usize, tag: u16, handle: u32, guest: bool) {
        self.tags[slot] = tag;
        self.handles[slot] = handle;
        self.guests = self.guests & !(1 << slot) | u32::from(guest) << slot;
    }

    fn is_guest(&self, slot: usize) -> bool {
        self.guests >> slot & 1 == 1
    }

    fn clear(&mut self) {
        *self = Bucket { tags: [0; SLOTS], handles: [0; SLOTS + 1], guests: 0, away: 0 };
    }
}

impl Buckets {
    /// For up to `capacity` entries, starting with one group.
    pub(super) fn new(capacity: u32) -> Result<Buckets, TableError> {
        let groups = (capacity as usize).div_ceil(GROUP_LOAD).next_power_of_two();
        let region = Region::reserve(groups * GROUP * size_of::<Bucket>())?;
        Ok(Buckets { region, live: GROUP, mask: GROUP - 1, since_split: 0, strays: Vec::new() })
    }

    /// Number of the home bucket of a hash.
    #[inline(always)]
    pub(super) fn home(&self, hash: u64) -> usize {
        let bucket = hash as usize & self.mask;
        if bucket >= self.live { bucket & (self.mask >> 1) } else { bucket }
    }

    /// Address of a bucket, for a prefetch.
    #[inline(always)]
    pub(super) fn address(&self, bucket: usize) -> *const Bucket {
        self.region.start().cast::<Bucket>().wrapping_add(bucket)
    }

    #[inline(always)]
    pub(super) fn bucket(&self, bucket: usize) -> &Bucket {
        debug_assert!(bucket < self.live);
        // SAFETY: bucket numbers come from `home` and `alternate`, which stay below `live`, and `live` buckets are within
        // the region; any bytes are a valid bucket, zeroes an empty one; changes need `&mut self`.
        unsafe { &*self.address(bucket) }
    }

    fn bucket_mut(&mut self, bucket: usize) -> &mut Bucket {
        debug_assert!(bucket < self.live);
        // SAFETY: as in `bucket`, and `&mut self` excludes every other reference.
        unsafe { &mut *self.address(bucket).cast_mut() }
    }

    /// The entry with that hash of which `is_it` holds, looking home, then in the alternate, then among the strays.
    pub(super) fn find(&self, hash: u64, is_it: impl Fn(u32) -> bool) -> Option<(Place, u32)> {
        let (home, tag) = (self.home(hash), tag_of(hash));
        let within = |number: usize| {
            let bucket = self.bucket(number);
            let mut matches = bucket.matches(tag);
            while matches != 0 {
                let slot = matches.trailing_zeros() as usize;
                if is_it(bucket.handles[slot]) {
                    return Some((Place::Slot { bucket: number, slot }, bucket.handles[slot]));
                }
                matches &= matches - 1;
            }
            None
        };
        let stray = || {
            let at = self.strays.iter().position(|(h, handle)| *h == hash && is_it(*handle))?;
            Some((Place::Stray(at), self.strays[at].1))
        };
        let elsewhere = self.bucket(home).away != 0;
        within(home).or_else(|| if elsewhere { within(alternate(home, tag)).or_else(stray) } else { None })
    }

    /// Adds an entry. `len` counts it already; `hash_of` gives the hash of any entry, for those that growth moves.
    pub(super) fn insert(&mut self, hash: u64, handle: u32, len: u32, hash_of: impl Fn(u32) -> u64) {
        self.grow(len, hash_of);
        self.place(hash, handle);
    }

    /// Takes an entry out.
    pub(super) fn remove(&mut self, hash: u64, place: Place) {
        let home = self.home(hash);
        match place {
            Place::Slot { bucket: number, slot } => {
                let bucket = self.bucket_mut(number);
                let guest = bucket.is_guest(slot);
                bucket.put(slot, 0, 0, false);
                if guest {
                    self.bucket_mut(home).away -= 1;
                }
            }
            Place::Stray(at) => {
                self.strays.swap_remove(at);
                self.bucket_mut(home).away -= 1;
            }
        }
        self.place_strays();
    }

    /// Puts an entry home, else into its alternate, else moves others until there is room, else among the strays.
    fn place(&mut self, hash: u64, handle: u32) {
        let (home, tag) = (self.home(hash), tag_of(hash));
        if let Some(slot) = self.bucket(home).free_slot() {
            return self.bucket_mut(home).put(slot, tag, handle, false);
        }
        let other = alternate(home, tag);
        if let Some(slot) = self.bucket(other).free_slot() {
            self.bucket_mut(other).put(slot, tag, handle, true);
            self.bucket_mut(home).away += 1;
            return;
        }
        let Some((bucket, slot)) = self.make_room(home, other) else {
            self.strays.push((hash, handle));
            self.bucket_mut(home).away += 1;
            return;
        };
        self.bucket_mut(bucket).put(slot, tag, handle, bucket != home);
        if bucket != home {
            self.bucket_mut(home).away += 1;
        }
    }

    /// Frees a slot in one of two full buckets by moving entries to their other buckets, the shortest chain of moves
    /// first. Chains stay within the group, so a set of 64 bits remembers where the search has been.
    fn make_room(&mut self, first: usize, second: usize) -> Option<(usize, usize)> {
        struct Step {
            bucket: usize,
            /// The step and slot whose entry would move here.
            from: Option<(usize, usize)>,
        }
        let bit = |bucket: usize| 1u64 << (bucket % GROUP);
        let mut seen = bit(first) | bit(second);
        let mut steps = vec![Step { bucket: first, from: None }, Step { bucket: second, from: None }];
        let mut at = 0;
        while at < steps.len() {
            let here = steps[at].bucket;
            for slot in 0..SLOTS {
                let to = alternate(here, self.bucket(here).tags[slot]);
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
                    steps.push(Step { bucket: to, from: Some((at, slot)) });
                }
            }
            at += 1;
        }
        None
    }

    /// Moves an entry to a free slot of its other bucket.
    fn shift(&mut self, from: usize, from_slot: usize, to: usize, to_slot: usize) {
        let source = self.bucket_mut(from);
        let (tag, handle, guest) = (source.tags[from_slot], source.handles[from_slot], source.is_guest(from_slot));
        source.put(from_slot, 0, 0, false);
        if !guest {
            source.away += 1;
        }
        let target = self.bucket_mut(to);
        target.put(to_slot, tag, handle, !guest);
        if guest {
            target.away -= 1;
        }
    }

    /// Begins to double the array when `len` entries load it to 3/4, and splits the next group when one is due.
    fn grow(&mut self, len: u32, hash_of: impl Fn(u32) -> u64) {
        self.since_split += 1;
        if self.live == self.mask + 1 {
            if len as usize <= self.live / GROUP * GROUP_LOAD {
                return;
            }
            self.mask = self.mask << 1 | 1;
        } else if self.since_split < SPLIT_EVERY {
            return;
        }
        self.since_split = 0;
        self.split(hash_of);
    }

    /// Splits the group that is next in order in two.
    fn split(&mut self, hash_of: impl Fn(u32) -> u64) {
        // Strays count in their home's `away`, which is about to start anew for the group.
        let strays = std::mem::take(&mut self.strays);
        for (hash, _) in &strays {
            let home = self.home(*hash);
            self.bucket_mut(home).away -= 1;
        }
        let first = self.live - ((self.mask >> 1) + 1);
        let mut moved = Vec::with_capacity(GROUP * SLOTS);
        for number in first..first + GROUP {
            let bucket = self.bucket_mut(number);
            moved.extend(bucket.handles.iter().copied().filter(|h| *h != 0));
            bucket.clear();
        }
        self.live += GROUP;
        for handle in moved {
            self.place(hash_of(handle), handle);
        }
        for (hash, handle) in strays {
            self.place(hash, handle);
        }
    }

    /// Tries again to house the strays, after room was made.
    fn place_strays(&mut self) {
        for (hash, handle) in std::mem::take(&mut self.strays) {
            let home = self.home(hash);
            self.bucket_mut(home).away -= 1;
            self.place(hash, handle);
        }
    }

    /// Every entry's handle, in no order that means anything.
    pub(super) fn handles(&self) -> impl Iterator<Item = u32> + '_ {
        let housed = (0..self.live).flat_map(|b| self.bucket(b).handles.iter().copied().filter(|h| *h != 0));
        housed.chain(self.strays.iter().map(|s| s.1))
    }

    /// Panics unless tags, guests and counts agree with the entries' hashes.
    #[cfg(test)]
    pub(super) fn check(&self, hash_of: impl Fn(u32) -> u64) {
        let mut away = vec![0; self.live];
        for number in 0..self.live {
            let bucket = self.bucket(number);
            assert_eq!(bucket.handles[SLOTS], 0);
            for slot in 0..SLOTS {
                assert_eq!(bucket.tags[slot] == 0, bucket.handles[slot] == 0);
                if bucket.handles[slot] == 0 {
                    assert!(!bucket.is_guest(slot));
                    continue;
                }
                let hash = hash_of(bucket.handles[slot]);
                assert_eq!(bucket.tags[slot], tag_of(hash));
                let home = self.home(hash);
                assert_eq!(number, if bucket.is_guest(slot) { alternate(home, tag_of(hash)) } else { home });
                away[home] += u32::from(bucket.is_guest(slot));
            }
        }
        for (hash, handle) in &self.strays {
            assert_eq!(*hash, hash_of(*handle));
            away[self.home(*hash)] += 1;
        }
        assert!((0..self.live).all(|b| self.bucket(b).away == away[b]));
    }

    /// Share of entries that are not at home.
    #[cfg(test)]
    pub(super) fn away(&self) -> u64 {
        (0..self.live).map(|b| u64::from(self.bucket(b).away)).sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Hashes that are all alike end up as strays, and come home one after the other as room is made.
    #[test]
    fn equal_hashes_are_never_refused() {
        let mut buckets = Buckets::new(100).unwrap();
        let hash = 0x1234_5678_9abc_def0;
        for handle in 1..=100 {
            buckets.insert(hash, handle, handle, |_| hash);
            buckets.check(|_| hash);
        }
        assert_eq!(buckets.strays.len(), 100 - 2 * SLOTS);
        for handle in 1..=100 {
            let (place, found) = buckets.find(hash, |h| h == handle).unwrap();
            assert_eq!(found, handle);
            buckets.remove(hash, place);
            buckets.check(|_| hash);
            assert!(buckets.find(hash, |h| h == handle).is_none());
        }
        assert_eq!(buckets.handles().count(), 0);
    }

    /// Strays outlive the growth of the array, whichever group is being split.
    #[test]
    fn strays_survive_growth() {
        let key = crate::hash::HashKey::new(4);
        // The first 40 entries are alike, the others spread.
        let hash_of = |handle: u32| key.of(&[u64::from(handle.max(40))]);
        let mut buckets = Buckets::new(5_000).unwrap();
        let mut strays = 0;
        for handle in 1..=5_000 {
            buckets.insert(hash_of(handle), handle, handle, hash_of);
            buckets.check(hash_of);
            strays = strays.max(buckets.strays.len());
            if handle % 100 == 0 {
                assert!((1..=handle).all(|h| buckets.find(hash_of(h), |other| other == h).is_some()));
            }
        }
        assert!(strays >= 40 - 2 * SLOTS && buckets.live >= 8 * GROUP);
        for handle in (1..=5_000).rev() {
            let (place, _) = buckets.find(hash_of(handle), |other| other == handle).unwrap();
            buckets.remove(hash_of(handle), place);
        }
        buckets.check(hash_of);
        assert_eq!((buckets.handles().count(), buckets.away()), (0, 0));
    }

    /// Homes all in one bucket but tags that differ: the chain of moves reaches the whole group.
    #[test]
    fn chains_of_moves_fill_the_group() {
        let mut buckets = Buckets::new(GROUP_LOAD as u32).unwrap();
        let hash_of = |handle: u32| (u64::from(handle) << 49) | u64::from(handle % 4);
        for handle in 1..=300 {
            buckets.insert(hash_of(handle), handle, handle, hash_of);
            buckets.check(hash_of);
        }
        for handle in 1..=300 {
            assert!(buckets.find(hash_of(handle), |h| h == handle).is_some());
        }
        assert!(buckets.away() > 200);
    }

    /// At the load where growth begins and throughout it, chance leaves practically nobody without a bucket.
    #[test]
    fn growth_leaves_no_strays_and_few_guests() {
        let key = crate::hash::HashKey::new(3);
        let hash_of = |handle: u32| key.of(&[u64::from(handle)]);
        let capacity = 400_000;
        let mut buckets = Buckets::new(capacity).unwrap();
        for handle in 1..=capacity {
            buckets.insert(hash_of(handle), handle, handle, hash_of);
            assert!(buckets.strays.is_empty(), "stray at {handle}");
            if handle % 50_000 == 0 {
                buckets.check(hash_of);
                assert!(buckets.away() * 6 < u64::from(handle), "{} of {handle} are not at home", buckets.away());
            }
        }
    }
}
