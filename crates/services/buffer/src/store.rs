//! What the service keeps, by small numbers: the windows of bearers hold these alone, so that a burst reads few lines of a cache for them.

use pages::{Array, prefetch_line};
use service::Kept;
use std::collections::VecDeque;
use std::num::NonZeroU32;

/// Smallest block for a copy, in bytes; each size is twice the one before.
const SMALLEST: usize = 64;
/// Sizes of blocks: the last holds the longest SDU and its route.
const SIZES: usize = 12;
/// Bytes of blocks that are made at a time.
const GROWTH: usize = 1 << 16;
/// In front of a copy: the route of its call.
const ROUTE: usize = 4;
/// Of a number: the block's place among those of its size.
const PLACE_BITS: u32 = 28;

const _: () = assert!(SMALLEST << (SIZES - 1) > u16::MAX as usize + ROUTE && SIZES <= 1 << (32 - PLACE_BITS));

/// Something that is kept.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Held {
    /// Its place, and one more.
    number: NonZeroU32,
    /// Bytes of its SDU.
    bytes: u16,
    is_copy: bool,
}

impl crate::Payload for Held {
    fn sdu_bytes(&self) -> usize {
        self.bytes.into()
    }
}

impl Held {
    fn new(place: usize, bytes: u16, is_copy: bool) -> Held {
        let number = u32::try_from(place + 1).ok().and_then(NonZeroU32::new).expect("fewer than 4 Gi are kept");
        Held { number, bytes, is_copy }
    }

    fn place(self) -> usize {
        self.number.get() as usize - 1
    }
}

/// Packets, and copies of SDUs. Places and blocks that are free are used in the order in which they became free, by a queue of their numbers: it is read and written from one end
/// to the other, and they, which have long left the caches, are only written.
#[derive(Default)]
pub(crate) struct Store {
    packets: Vec<Option<Kept>>,
    free: VecDeque<u32>,
    sizes: [Blocks; SIZES],
}

/// Blocks of one size. Their memory goes back when the last one is free.
#[derive(Default)]
struct Blocks {
    bytes: Array<u8>,
    free: VecDeque<u32>,
    used: usize,
}

impl Store {
    /// A packet, whose SDU has so many bytes.
    #[inline]
    pub(crate) fn keep(&mut self, kept: Kept, bytes: u16) -> Held {
        let Some(place) = self.free.pop_front() else {
            self.packets.push(Some(kept));
            return Held::new(self.packets.len() - 1, bytes, false);
        };
        self.packets[place as usize] = Some(kept);
        Held::new(place as usize, bytes, false)
    }

    /// A copy of an SDU that is in two pieces, and the route of its call.
    ///
    /// # Panics
    /// If it is longer than 16 bits say.
    #[inline]
    pub(crate) fn copy(&mut self, front: &[u8], back: &[u8], route: u32) -> Held {
        let bytes = front.len() + back.len();
        let (size, length) = size_of_block(ROUTE + bytes);
        let (at, block) = self.sizes[size].take(length);
        block[..ROUTE].copy_from_slice(&route.to_ne_bytes());
        block[ROUTE..ROUTE + front.len()].copy_from_slice(front);
        block[ROUTE + front.len()..ROUTE + bytes].copy_from_slice(back);
        Held::new(size << PLACE_BITS | at as usize, u16::try_from(bytes).expect("an SDU's length has 16 bits"), true)
    }

    /// Asks the cache for the blocks that copies of so many bytes each will be written to: stores to lines that are not there are made one after the other, and the processor waits
    /// for them.
    #[inline]
    pub(crate) fn prefetch(&self, copies: impl Iterator<Item = usize>) {
        let mut nth = [0; SIZES];
        for (size, length) in copies.filter(|bytes| *bytes <= u16::MAX.into()).map(|bytes| size_of_block(ROUTE + bytes)) {
            let blocks = &self.sizes[size];
            let block = blocks.free.get(nth[size]).and_then(|at| blocks.bytes.get(*at as usize * length..)?.get(..length));
            nth[size] += 1;
            block.into_iter().flat_map(|block| block.iter().step_by(64)).for_each(prefetch_line);
        }
    }

    /// A packet, if it is one.
    pub(crate) fn packet(&self, held: Held) -> Option<&Kept> {
        self.packets.get(held.place()).filter(|_| !held.is_copy)?.as_ref()
    }

    /// A copy and its route, if it is one.
    pub(crate) fn sdu(&self, held: Held) -> Option<(&[u8], u32)> {
        let (size, at) = (held.place() >> PLACE_BITS, held.place() & ((1 << PLACE_BITS) - 1));
        let blocks = self.sizes.get(size).filter(|_| held.is_copy)?;
        let (route, sdu) = blocks.bytes.get(at * (SMALLEST << size)..)?.split_first_chunk()?;
        Some((&sdu[..held.bytes.into()], u32::from_ne_bytes(*route)))
    }

    /// Keeps it no longer; a packet is given back.
    #[inline]
    pub(crate) fn release(&mut self, held: Held) -> Option<Kept> {
        if !held.is_copy {
            self.free.push_back(held.place() as u32);
            return self.packets.get_mut(held.place())?.take();
        }
        self.sizes[held.place() >> PLACE_BITS].release(held.place() as u32 & ((1 << PLACE_BITS) - 1));
        None
    }
}

/// Which blocks hold so many bytes, and how long they are.
#[inline]
fn size_of_block(bytes: usize) -> (usize, usize) {
    let length = bytes.max(SMALLEST).next_power_of_two();
    ((length / SMALLEST).trailing_zeros() as usize, length)
}

impl Blocks {
    #[inline]
    fn take(&mut self, length: usize) -> (u32, &mut [u8]) {
        if self.free.is_empty() {
            self.grow(length);
        }
        let at = self.free.pop_front().expect("there are more now");
        self.used += 1;
        (at, &mut self.bytes[at as usize * length..][..length])
    }

    #[cold]
    fn grow(&mut self, length: usize) {
        let (there, more) = (self.bytes.len() / length, (GROWTH / length).max(1));
        assert!(there + more < 1 << PLACE_BITS, "fewer than 256 Mi copies of one size are kept");
        self.bytes.grow(more * length, 0);
        self.free.extend((there..there + more).map(|at| at as u32));
    }

    #[inline]
    fn release(&mut self, at: u32) {
        self.used -= 1;
        if self.used == 0 && self.bytes.len() > GROWTH {
            *self = Blocks::default();
        } else {
            self.free.push_back(at);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{Packet, PortId};
    use proptest::prelude::*;
    use service::Call;
    use std::collections::BTreeMap;

    #[test]
    fn what_is_held_is_eight_bytes_and_none_is_no_more() {
        assert_eq!((size_of::<Held>(), size_of::<Option<Held>>()), (8, 8));
        for (bytes, expected) in [(0, (0, 64)), (64, (0, 64)), (65, (1, 128)), (9300, (8, 16_384)), (65_539, (11, 131_072))] {
            assert_eq!(size_of_block(bytes), expected);
        }
    }

    proptest! {
        /// The slow twin: a map of copies of the bytes.
        #[test]
        fn what_is_kept_is_there_until_it_is_released(
            steps in prop::collection::vec((0..4u8, 0..5usize, 0..40_000usize, any::<u32>(), any::<prop::sample::Index>()), 1..200)
        ) {
            let (mut store, mut twin) = (Store::default(), BTreeMap::new());
            for (n, (step, front, back, route, which)) in steps.into_iter().enumerate() {
                let back = if step == 0 { back } else { back % 300 };
                let bytes: Vec<u8> = (0..front + back).map(|i| (i * 7 + n) as u8).collect();
                match step {
                    0 | 1 => {
                        let held = store.copy(&bytes[..front], &bytes[front..], route);
                        prop_assert!(twin.insert((held.number, true), (held, bytes, route)).is_none());
                    }
                    2 => {
                        let kept = Call::new(Packet::new(&bytes[..back.min(9000)], PortId(1)), 0, [0; service::FIELDS_MAX], route).keep();
                        let held = store.keep(kept, back as u16);
                        prop_assert!(twin.insert((held.number, false), (held, bytes, route)).is_none());
                    }
                    _ if !twin.is_empty() => {
                        let key = *which.get(&twin.keys().copied().collect::<Vec<_>>());
                        let (held, _, route) = twin.remove(&key).expect("it is one of them");
                        let released = store.release(held);
                        prop_assert_eq!(released.map(|kept| kept.tag()), (!held.is_copy).then_some(route));
                    }
                    _ => {}
                }
                for (held, bytes, route) in twin.values() {
                    prop_assert_eq!(store.sdu(*held), held.is_copy.then_some((&bytes[..], *route)));
                    prop_assert_eq!(store.packet(*held).map(Kept::tag), (!held.is_copy).then_some(*route));
                }
            }
        }
    }

    #[test]
    fn memory_goes_back_with_the_last_copy() {
        let mut store = Store::default();
        let all: Vec<Held> = (0..4000).map(|_| store.copy(b"", &[1; 100], 0)).collect();
        assert!(store.sizes[1].bytes.len() >= 4000 * 128);
        all.into_iter().for_each(|held| drop(store.release(held)));
        assert_eq!((store.sizes[1].bytes.len(), store.sizes[1].free.len()), (0, 0));
    }
}
