//! What does a standby know of the records in a shared store? A copy of all of them, which follows each batch that the active node writes: so that
//! a takeover reads little. It costs as much memory as the records are long.
//!
//! Batches have consecutive numbers. The stream of changes names the keys that a batch changed, and the values are read from the records themselves,
//! which are at least as new. Where a number is missing (the stream keeps the last ones only), all records are read again.

use super::replies::Connection;
use super::shared::{Keys, Trouble};
use std::collections::BTreeMap;
use std::time::Duration;

/// Records that are asked for at a time.
const AT_ONCE: usize = 1000;
/// Entries of the stream that are read at a time.
const ENTRIES: usize = 64;

/// A copy of the records, in the order of their keys.
pub(super) struct Replica {
    records: BTreeMap<Vec<u8>, Vec<u8>>,
    /// Octets of keys and values, and how many there may be: whoever writes the store must not fill this host's memory.
    octets: usize,
    most_octets: usize,
    /// The number of the last batch that is in it; `None`: nothing was read yet.
    number: Option<u64>,
}

/// Entries of a stream, by key: ids, and fields in turn with values.
type Streams = Vec<(Vec<u8>, Vec<(String, Vec<Vec<u8>>)>)>;

impl Replica {
    pub(super) fn new(most_octets: usize) -> Replica {
        Replica { records: BTreeMap::new(), octets: 0, most_octets, number: None }
    }

    pub(super) fn get(&self, key: &[u8]) -> Option<&Vec<u8>> {
        self.records.get(key)
    }

    pub(super) fn len(&self) -> usize {
        self.records.len()
    }

    /// All of them; none are left.
    pub(super) fn take(&mut self) -> BTreeMap<Vec<u8>, Vec<u8>> {
        self.octets = 0;
        std::mem::take(&mut self.records)
    }

    /// The number of the last batch that is in it.
    pub(super) fn number(&self) -> Option<u64> {
        self.number
    }

    /// Reads all records. What changes meanwhile is in the batches behind the number that is read first.
    pub(super) fn read_all(&mut self, connection: &mut Connection, keys: &Keys) -> Result<(), Trouble> {
        self.take();
        self.number = None;
        let number = redis::cmd("HGET").arg(&keys.fence).arg("batch").query::<Option<u64>>(connection)?.unwrap_or(0);
        let mut cursor = "0".to_owned();
        loop {
            let mut scan = redis::cmd("HSCAN");
            let (next, pairs): (String, Vec<Vec<u8>>) = scan.arg(&keys.records).arg(&cursor).arg("COUNT").arg(AT_ONCE).query(connection)?;
            let mut pairs = pairs.into_iter();
            while let (Some(key), Some(value)) = (pairs.next(), pairs.next()) {
                self.put(key, Some(value))?;
            }
            cursor = next;
            if cursor == "0" {
                self.number = Some(number);
                return Ok(());
            }
        }
    }

    /// Waits at most so long for a batch, and takes over those that there are, or all records again where one is missing. Whether there were any.
    pub(super) fn follow(&mut self, connection: &mut Connection, keys: &Keys, wait: Option<Duration>) -> Result<bool, Trouble> {
        let Some(mut number) = self.number else { return self.read_all(connection, keys).map(|()| true) };
        let mut read = redis::cmd("XREAD");
        read.arg("COUNT").arg(ENTRIES);
        if let Some(wait) = wait {
            // 0 is for ever.
            read.arg("BLOCK").arg(wait.as_millis().max(1) as u64);
        }
        read.arg("STREAMS").arg(&keys.changes).arg(format!("{number}-0"));
        let streams: Option<Streams> = read.query(connection)?;
        let mut changed = Vec::new();
        for (id, fields) in streams.into_iter().flatten().flat_map(|(_, entries)| entries) {
            match changed_keys(&id, &fields).filter(|(this, _)| Some(*this) == number.checked_add(1)) {
                Some((this, keys)) => {
                    number = this;
                    changed.extend(keys);
                }
                None => return self.read_all(connection, keys).map(|()| true),
            }
        }
        changed.sort_unstable();
        changed.dedup();
        let any = self.number != Some(number);
        for some in changed.chunks(AT_ONCE) {
            let mut values = redis::cmd("HMGET");
            values.arg(&keys.records);
            values.arg(some);
            let values: Vec<Option<Vec<u8>>> = values.query(connection)?;
            for (key, value) in some.iter().zip(values) {
                self.put(key.clone(), value)?;
            }
        }
        self.number = Some(number);
        Ok(any)
    }

    fn put(&mut self, key: Vec<u8>, value: Option<Vec<u8>>) -> Result<(), Trouble> {
        let length = key.len();
        let before = match value {
            Some(value) => {
                self.octets += length + value.len();
                self.records.insert(key, value)
            }
            None => self.records.remove(&key),
        };
        if let Some(before) = before {
            self.octets -= length + before.len();
        }
        if self.octets > self.most_octets {
            let most = self.most_octets >> 20;
            return Err(Trouble::Refused(format!(
                "its records are longer than {most} MiB, which `n4.max_sessions` sessions do not come to"
            )));
        }
        Ok(())
    }
}

/// The number of a batch, and the keys that it changed, of its entry in the stream.
fn changed_keys(id: &str, fields: &[Vec<u8>]) -> Option<(u64, Vec<Vec<u8>>)> {
    let number = id.strip_suffix("-0")?.parse().ok()?;
    let [_, keys] = fields else { return None };
    let (keys, rest) = postcard::take_from_bytes(keys).ok()?;
    rest.is_empty().then_some((number, keys))
}

/// The keys of a batch, as its entry in the stream has them.
pub(super) fn entry<'a>(keys: impl Iterator<Item = &'a Vec<u8>>) -> Vec<u8> {
    postcard::to_allocvec(&keys.collect::<Vec<_>>()).expect("memory takes any length")
}

/// For the fuzz target `store`: any octets as an entry of the stream.
pub fn read_entry(id: &str, octets: &[u8]) -> Option<Vec<Vec<u8>>> {
    changed_keys(id, &[Vec::new(), octets.to_vec()]).map(|(_, keys)| keys)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_entry_of_the_stream_is_read_whole_or_not_at_all() {
        let keys = vec![vec![0], vec![2, 0, 0, 0, 0, 0, 0, 0, 7], Vec::new()];
        let octets = entry(keys.iter());
        assert_eq!(read_entry("7-0", &octets), Some(keys));
        for id in ["7", "7-1", "-0", "x-0", "-7-0", "18446744073709551616-0", ""] {
            assert_eq!(read_entry(id, &octets), None, "{id}");
        }
        for cut in 0..octets.len() {
            assert_eq!(read_entry("7-0", &octets[..cut]), None, "{cut}");
        }
        assert_eq!(read_entry("7-0", &[&octets[..], &[0]].concat()), None);
        // A count that no memory has.
        assert_eq!(read_entry("7-0", &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1]), None);
    }
}
