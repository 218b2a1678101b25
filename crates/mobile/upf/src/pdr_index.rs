//! Index from PDR number to session. The program's numbers are dense, so this is an array, in chunks that are freed when empty.

use pfcp::rules::Seid;

/// Numbers in a chunk.
const CHUNK: usize = 1024;

/// Session and PDR ID of each PDR number in use.
#[derive(Default)]
pub(crate) struct PdrIndex {
    chunks: Vec<Option<Box<Chunk>>>,
}

struct Chunk {
    seids: [Seid; CHUNK],
    ids: [u16; CHUNK],
    /// A bit for each number in use.
    used: [u64; CHUNK / 64],
}

impl Chunk {
    const EMPTY: Chunk = Chunk { seids: [0; CHUNK], ids: [0; CHUNK], used: [0; CHUNK / 64] };

    fn has(&self, at: usize) -> bool {
        self.used[at / 64] >> (at % 64) & 1 == 1
    }
}

fn place(number: u32) -> (usize, usize) {
    (number as usize / CHUNK, number as usize % CHUNK)
}

impl PdrIndex {
    /// Session and PDR ID of a number.
    pub(crate) fn get(&self, number: u32) -> Option<(Seid, u16)> {
        let (chunk, at) = place(number);
        let chunk = self.chunks.get(chunk)?.as_ref()?;
        chunk.has(at).then(|| (chunk.seids[at], chunk.ids[at]))
    }

    /// Assigns a number to a session's PDR, whatever its previous owner.
    pub(crate) fn insert(&mut self, number: u32, seid: Seid, id: u16) {
        let (chunk, at) = place(number);
        if chunk >= self.chunks.len() {
            self.chunks.resize_with(chunk + 1, || None);
        }
        let chunk = self.chunks[chunk].get_or_insert_with(|| Box::new(Chunk::EMPTY));
        (chunk.seids[at], chunk.ids[at]) = (seid, id);
        chunk.used[at / 64] |= 1 << (at % 64);
    }

    /// Takes a number back, if it is in use.
    pub(crate) fn remove(&mut self, number: u32) {
        let (index, at) = place(number);
        let Some(place) = self.chunks.get_mut(index) else { return };
        let Some(chunk) = place else { return };
        chunk.used[at / 64] &= !(1 << (at % 64));
        if chunk.used.iter().all(|word| *word == 0) {
            *place = None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::BTreeMap;

    proptest! {
        /// The slow twin: a map.
        #[test]
        fn an_index_is_a_map(steps in prop::collection::vec((prop::sample::select(vec![0, 1, 63, 64, 1023, 1024, 5000, 70_000]), any::<u64>(), any::<u16>(), any::<bool>()), 1..60)) {
            let (mut index, mut map) = (PdrIndex::default(), BTreeMap::new());
            for (number, seid, id, insert) in steps {
                if insert {
                    index.insert(number, seid, id);
                    map.insert(number, (seid, id));
                } else {
                    index.remove(number);
                    map.remove(&number);
                }
                for number in [0, 1, 2, 63, 64, 65, 1023, 1024, 5000, 70_000, 99_999] {
                    prop_assert_eq!(index.get(number), map.get(&number).copied());
                }
            }
            for number in map.keys() {
                index.remove(*number);
            }
            prop_assert!(index.chunks.iter().all(Option::is_none), "empty chunks are freed");
        }
    }
}
