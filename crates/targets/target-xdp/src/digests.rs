//! Messages of `digest()`, read from the kernel's ring buffer.
//!
//! A record is, in words of the machine: the place in the program plus one (32 bits), how many values follow (32), and each value
//! as two words of 64 bits, the low one first; the first value is the receiver.

use crate::LoadError;
use crate::object::Object;
use aya::maps::{Map, MapData, RingBuf};
use program::Digest;

/// The ring, if the program sends any.
pub(crate) struct Digests {
    ring: Option<RingBuf<MapData>>,
}

impl Digests {
    /// Takes the ring out of the object.
    pub(crate) fn new(object: &mut Object) -> Result<Digests, LoadError> {
        let ring = match object.take_map("sp_digests") {
            Some(map @ Map::RingBuf(_)) => {
                Some(RingBuf::try_from(map).map_err(|e| LoadError::Kernel(format!("the ring of digests: {}", crate::object::chain(&e))))?)
            }
            _ => None,
        };
        Ok(Digests { ring })
    }

    /// At most `most` messages, the oldest first; they are removed.
    pub(crate) fn take(&mut self, most: usize) -> Vec<Digest> {
        let mut all = Vec::new();
        let Some(ring) = &mut self.ring else { return all };
        while all.len() < most
            && let Some(record) = ring.next()
        {
            all.extend(read(&record));
        }
        all
    }
}

/// A record; `None` if it is none of the program's.
fn read(record: &[u8]) -> Option<Digest> {
    let count = u32::from_ne_bytes(record.get(4..8)?.try_into().ok()?) as usize;
    let mut values = record.get(8..)?.chunks_exact(16).take(count).map(|v| {
        let word = |at: usize| u64::from_ne_bytes(v[at..at + 8].try_into().unwrap_or_default());
        u128::from(word(8)) << 64 | u128::from(word(0))
    });
    let receiver = values.next()?;
    let values: Vec<u128> = values.collect();
    (values.len() + 1 == count).then_some(Digest { receiver, values })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_record_is_read_whole_or_not_at_all() {
        let words: [u64; 4] = [7, 0, 1, 2];
        let mut record = [1u32.to_ne_bytes(), 2u32.to_ne_bytes()].concat();
        words.iter().for_each(|w| record.extend(w.to_ne_bytes()));
        assert_eq!(read(&record), Some(Digest { receiver: 7, values: vec![2 << 64 | 1] }));
        for len in 0..record.len() {
            assert_eq!(read(&record[..len]), None, "{len} bytes");
        }
    }
}
