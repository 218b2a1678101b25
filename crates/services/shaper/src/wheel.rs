//! Who is due? A wheel of [`SLOTS`] ticks of [`TICK_NS`], in which numbers stand by their times. Times beyond its horizon go to its last slot, and
//! who is due too early is put back by the caller.
//!
//! Taking the next one costs the same whatever the number of timers, and a pause of any length: occupied slots are bits of words. Numbers of a slot are in chunks of a
//! line of memory each: a list by number would cost a cache miss for each of a million, one after the other.

/// Length of a tick in ns.
pub const TICK_NS: u64 = 1 << 14;
/// Slots: a quarter of a second.
pub const SLOTS: u64 = 1 << 14;

const NONE: u32 = u32::MAX;
const WORDS: usize = SLOTS as usize / 64;
/// Numbers of a chunk.
const CHUNK: usize = 14;

/// Some numbers of a slot, one at least; or it is free.
#[repr(align(64))]
struct Chunk {
    numbers: [u32; CHUNK],
    len: u32,
    /// The next one of its slot, or of those that are free.
    next: u32,
}

/// Numbers, each linked at most once.
pub struct Wheel {
    /// Of each slot the chunk that has room, if one has.
    first: Box<[u32]>,
    occupied: [u64; WORDS],
    /// A bit for each word of `occupied`.
    words: [u64; WORDS / 64],
    chunks: Vec<Chunk>,
    free: u32,
    /// All slots of ticks before this one are empty.
    tick: u64,
    linked: usize,
}

impl Default for Wheel {
    fn default() -> Wheel {
        Wheel {
            first: vec![NONE; SLOTS as usize].into_boxed_slice(),
            occupied: [0; WORDS],
            words: [0; WORDS / 64],
            chunks: Vec::new(),
            free: NONE,
            tick: 0,
            linked: 0,
        }
    }
}

impl Wheel {
    /// Numbers that are linked.
    pub fn len(&self) -> usize {
        self.linked
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.linked == 0
    }

    /// Links a number, which is not linked, so that [`Wheel::take`] gives it at the first tick at or after that time; at once if the tick is past.
    pub fn link(&mut self, number: u32, at_ns: u64) {
        let tick = at_ns.div_ceil(TICK_NS).clamp(self.tick, self.tick.saturating_add(SLOTS - 1));
        let slot = (tick % SLOTS) as usize;
        match self.chunks.get_mut(self.first[slot] as usize) {
            Some(chunk) if (chunk.len as usize) < CHUNK => {
                chunk.numbers[chunk.len as usize] = number;
                chunk.len += 1;
            }
            _ => self.begin_chunk(slot, number),
        }
        self.occupied[slot / 64] |= 1 << (slot % 64);
        self.words[slot / 4096] |= 1 << (slot / 64 % 64);
        self.linked += 1;
    }

    fn begin_chunk(&mut self, slot: usize, number: u32) {
        let mut chunk = Chunk { numbers: [NONE; CHUNK], len: 1, next: self.first[slot] };
        chunk.numbers[0] = number;
        self.first[slot] = self.free;
        match self.chunks.get_mut(self.free as usize) {
            Some(free) => self.free = std::mem::replace(free, chunk).next,
            None => {
                self.first[slot] = self.chunks.len() as u32;
                self.chunks.push(chunk);
            }
        }
    }

    /// Takes one out that is due at `now_ns`: of those of a tick the one that was linked last.
    pub fn take(&mut self, now_ns: u64) -> Option<u32> {
        let tick = self.next_tick().filter(|tick| *tick <= now_ns / TICK_NS);
        let Some(tick) = tick else {
            // Nothing is linked before this: what is linked from now on has the whole horizon.
            self.tick = self.tick.max((now_ns / TICK_NS).min(self.next_tick().unwrap_or(u64::MAX)));
            return None;
        };
        self.tick = tick;
        let slot = (tick % SLOTS) as usize;
        let at = self.first[slot];
        let chunk = self.chunks.get_mut(at as usize)?;
        chunk.len -= 1;
        let number = chunk.numbers[chunk.len as usize];
        if chunk.len == 0 {
            self.first[slot] = std::mem::replace(&mut chunk.next, self.free);
            self.free = at;
            if self.first[slot] == NONE {
                self.occupied[slot / 64] &= !(1 << (slot % 64));
                if self.occupied[slot / 64] == 0 {
                    self.words[slot / 4096] &= !(1 << (slot / 64 % 64));
                }
            }
        }
        self.linked -= 1;
        Some(number)
    }

    /// When the next one is due.
    pub fn next_ns(&self) -> Option<u64> {
        self.next_tick().map(|tick| tick.saturating_mul(TICK_NS))
    }

    /// The first tick from `tick` on with an occupied slot.
    fn next_tick(&self) -> Option<u64> {
        if self.linked == 0 {
            return None;
        }
        let begin = (self.tick % SLOTS) as usize;
        let slot = self.from(begin).or_else(|| self.from(0))?;
        let ahead = (slot + SLOTS as usize - begin) % SLOTS as usize;
        Some(self.tick + ahead as u64)
    }

    /// The first occupied slot from that one on.
    fn from(&self, slot: usize) -> Option<usize> {
        let word = slot / 64;
        let here = self.occupied[word] & (u64::MAX << (slot % 64));
        if here != 0 {
            return Some(word * 64 + here.trailing_zeros() as usize);
        }
        let mut after = word + 1;
        while after < WORDS {
            let group = self.words[after / 64] & (u64::MAX << (after % 64));
            if group != 0 {
                let word = after / 64 * 64 + group.trailing_zeros() as usize;
                return Some(word * 64 + self.occupied[word].trailing_zeros() as usize);
            }
            after = (after / 64 + 1) * 64;
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng;
    use std::collections::BTreeMap;

    /// Chunks are used again: as many as there were at once.
    #[test]
    fn memory_is_for_what_is_linked_at_once() {
        let mut wheel = Wheel::default();
        for round in 0..1_000u64 {
            (0..100).for_each(|number| wheel.link(number, round * TICK_NS));
            let mut all: Vec<u32> = std::iter::from_fn(|| wheel.take(round * TICK_NS)).collect();
            all.sort_unstable();
            assert!(all.into_iter().eq(0..100));
            assert!(wheel.is_empty() && wheel.chunks.len() == 100usize.div_ceil(CHUNK), "{}", wheel.chunks.len());
        }
    }

    /// Beside a sorted map of times.
    #[test]
    fn all_come_out_in_the_order_of_their_ticks_and_none_before_its_time() {
        let mut rng = testkit::rng(17);
        for begin in [0, 5, u64::from(u32::MAX) * 1000] {
            let (mut wheel, mut twin, mut now) = (Wheel::default(), BTreeMap::<u64, Vec<u32>>::new(), begin);
            assert_eq!(wheel.take(now), None);
            let mut free: Vec<u32> = (0..300).collect();
            let (mut early, mut out) = (0, 0);
            for _ in 0..20_000 {
                if let Some(number) = free.pop() {
                    let ahead = if rng.random_bool(0.1) { rng.random_range(0..2_000_000_000) } else { rng.random_range(0..3_000_000) };
                    let tick = (now + ahead).div_ceil(TICK_NS);
                    wheel.link(number, now + ahead);
                    twin.entry(tick).or_default().push(number);
                    early += u32::from(ahead > SLOTS * TICK_NS);
                }
                let most = if rng.random_bool(0.01) { 1_000_000_000 } else { 100_000 };
                now += rng.random_range(0..most);
                while let Some(number) = wheel.take(now) {
                    let (&tick, _) = twin.iter().find(|(_, list)| list.contains(&number)).expect("it was linked");
                    if tick > now / TICK_NS {
                        // Beyond the horizon: put back.
                        wheel.link(number, tick * TICK_NS);
                        continue;
                    }
                    let list = twin.get_mut(&tick).unwrap();
                    list.retain(|n| *n != number);
                    if list.is_empty() {
                        twin.remove(&tick);
                    }
                    free.push(number);
                    out += 1;
                }
                assert!(twin.keys().next().is_none_or(|tick| *tick > now / TICK_NS), "one is overdue");
                assert_eq!(wheel.len(), twin.values().map(Vec::len).sum::<usize>());
                let next = wheel.next_ns();
                assert!(next.is_none_or(|at| at > now && at <= twin.keys().next().unwrap() * TICK_NS), "{next:?}");
            }
            assert!(out > 10_000 && early > 100, "{out} {early}");
        }
    }
}
