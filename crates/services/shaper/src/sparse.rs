//! Where does a number for each of very many ids stand, of which few are used at a time? In chunks, which are made when the first of their ids is used: the ids of a
//! million sessions' queues take hundreds of MiB at once otherwise.

/// Ids of a chunk: 16 KiB.
const CHUNK: usize = 4096;

/// Numbers by id, 0 until they are set.
pub(crate) struct Sparse {
    chunks: Box<[Option<Box<[u32; CHUNK]>>]>,
    len: u32,
}

impl Sparse {
    /// For the ids from 0 to `len`, exclusive.
    pub(crate) fn new(len: u32) -> Sparse {
        Sparse { chunks: (0..(len as usize).div_ceil(CHUNK)).map(|_| None).collect(), len }
    }

    /// How many ids there are.
    pub(crate) fn len(&self) -> u32 {
        self.len
    }

    /// The number of an id; 0 of one that there is not.
    pub(crate) fn get(&self, id: u32) -> u32 {
        self.chunks.get(id as usize / CHUNK).and_then(Option::as_ref).map_or(0, |chunk| chunk[id as usize % CHUNK])
    }

    /// Sets it. A chunk stays when all of it is 0 again: its queues are used again.
    ///
    /// # Panics
    /// If there is no such id.
    pub(crate) fn set(&mut self, id: u32, number: u32) {
        assert!(id < self.len, "id {id} of {}", self.len);
        let chunk = &mut self.chunks[id as usize / CHUNK];
        if number != 0 || chunk.is_some() {
            chunk.get_or_insert_with(|| Box::new([0; CHUNK]))[id as usize % CHUNK] = number;
        }
    }

    /// All are 0 again, and the chunks are gone.
    pub(crate) fn clear(&mut self) {
        self.chunks.fill_with(|| None);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use rand::Rng as _;
    use std::collections::BTreeMap;

    #[test]
    fn numbers_are_those_of_a_map_and_chunks_come_with_their_first() {
        let mut rng = testkit::rng(7);
        let len = 10 * CHUNK as u32 + 5;
        let (mut sparse, mut map, mut set) = (Sparse::new(len), BTreeMap::new(), 0);
        assert_eq!((sparse.len(), sparse.chunks.len()), (len, 11));
        sparse.set(3, 0);
        assert!(sparse.chunks.iter().all(Option::is_none));
        for round in 0..20_000 {
            // The upper half is used last.
            let id = rng.random_range(0..if round < 10_000 { len / 2 } else { len });
            let number = rng.random_range(0..3);
            sparse.set(id, number);
            map.insert(id, number);
            set += u32::from(number != 0);
            let other = rng.random_range(0..len + CHUNK as u32);
            assert_eq!(sparse.get(other), map.get(&other).copied().unwrap_or(0), "{other}");
            if round == 9_999 {
                assert!(sparse.chunks[6..].iter().all(Option::is_none));
            }
        }
        assert!(set > 10_000 && map.iter().all(|(id, number)| sparse.get(*id) == *number));
        sparse.clear();
        assert!((0..len).all(|id| sparse.get(id) == 0));
    }
}
