//! Buffers: packets that the program says are to wait, by queue and in order of arrival.
//!
//! All workers share them, as a flow may move from one worker to another while its packets wait: they then stay in one row, in
//! order. Rows are spread over locks by the queue's number, so workers meet only where they buffer for the same few queues.
//!
//! Room is shared fairly: when it is full, the longest queue loses its newest packet to a shorter one, so receivers that
//! cannot be reached do not keep others from being woken; packets that waited too long are dropped.

use base::Packet;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::{AcqRel, Acquire, Relaxed, Release};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Locks that the rows are spread over.
pub(crate) const SHARDS: usize = 32;

/// How much may wait, and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferLimits {
    /// Packets of one queue.
    pub per_queue: usize,
    /// Packets in all.
    pub total: usize,
    /// What has waited for longer goes when [`crate::Engine::age_buffers`] comes by.
    pub max_age: Duration,
}

impl Default for BufferLimits {
    fn default() -> BufferLimits {
        BufferLimits { per_queue: 1024, total: 65536, max_age: Duration::from_secs(60) }
    }
}

/// The buffers of all workers, by queue.
pub(crate) struct Buffers {
    limits: BufferLimits,
    held: AtomicUsize,
    shards: [Mutex<Shard>; SHARDS],
    /// Queues whose buffering is being ended: see [`Buffers::end`].
    ending: AtomicUsize,
    /// Of each shard the length of its longest row: a hint where to look.
    longest: [AtomicUsize; SHARDS],
}

#[derive(Default)]
struct Shard {
    rows: HashMap<u32, VecDeque<Waiting>>,
    /// Rows by their length.
    by_len: BTreeSet<(usize, u32)>,
    /// Queues whose buffering is being ended.
    ending: BTreeSet<u32>,
}

struct Waiting {
    worker: usize,
    since_ns: u64,
    packet: Packet,
}

/// The packets of one queue, oldest first, each with the worker that buffered it.
pub(crate) type Row = VecDeque<(usize, Packet)>;

/// Why [`Buffers::push`] did not keep a packet.
pub(crate) enum NotKept {
    /// There is no room: its row is full, or all of them are together and it is among the longest.
    Full(Packet),
    /// The buffering of its queue is being ended. When that is over it goes through the program again, before any later packet of its flow. The
    /// other one made room for it, just before.
    Ending(Packet, Option<Packet>),
}

/// Queues whose buffering is being ended, until this is dropped.
pub(crate) struct Ending<'a> {
    buffers: &'a Buffers,
    queues: Vec<u32>,
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        for queue in &self.queues {
            self.buffers.shard(*queue).ending.remove(queue);
        }
        self.buffers.ending.fetch_sub(self.queues.len(), Release);
    }
}

/// What [`Buffers::push`] did with a packet that it kept.
pub(crate) struct Kept {
    /// Whether to notify the control plane: the first packet of its queue, or as many wait again. An earlier notification
    /// may have failed, or the queue may be buffered again.
    pub(crate) told: bool,
    /// Of the longest row, to make room.
    pub(crate) displaced: Option<Packet>,
}

impl Shard {
    fn len_of(&self, queue: u32) -> usize {
        self.rows.get(&queue).map_or(0, VecDeque::len)
    }

    fn set_len(&mut self, queue: u32, before: usize, after: usize) {
        self.by_len.remove(&(before, queue));
        if after > 0 {
            self.by_len.insert((after, queue));
        } else {
            self.rows.remove(&queue);
        }
    }

    fn longest(&self) -> (usize, u32) {
        self.by_len.last().copied().unwrap_or_default()
    }
}

impl Buffers {
    pub(crate) fn new(limits: BufferLimits) -> Buffers {
        Buffers { limits, held: AtomicUsize::new(0), ending: AtomicUsize::new(0), shards: Default::default(), longest: Default::default() }
    }

    /// Keeps a packet that came at `now_ns`, or gives it back.
    pub(crate) fn push(&self, worker: usize, queue: u32, packet: Packet, now_ns: u64) -> Result<Kept, NotKept> {
        let (row_len, ending) = {
            let shard = self.shard(queue);
            (shard.len_of(queue), shard.ending.contains(&queue))
        };
        if ending {
            return Err(NotKept::Ending(packet, None));
        }
        if row_len >= self.limits.per_queue {
            return Err(NotKept::Full(packet));
        }
        let mut displaced = None;
        if self.held.fetch_add(1, Relaxed) >= self.limits.total {
            self.held.fetch_sub(1, Relaxed);
            // Its place goes to ours.
            displaced = self.displace(row_len + 1);
            if displaced.is_none() {
                return Err(NotKept::Full(packet));
            }
        }
        let mut shard = self.shard(queue);
        if shard.ending.contains(&queue) {
            // Since we looked.
            self.held.fetch_sub(1, Relaxed);
            return Err(NotKept::Ending(packet, displaced));
        }
        let row = shard.rows.entry(queue).or_default();
        row.push_back(Waiting { worker, since_ns: now_ns, packet });
        let len = row.len();
        shard.set_len(queue, len - 1, len);
        self.note(queue as usize % SHARDS, &shard);
        Ok(Kept { told: len.is_power_of_two(), displaced })
    }

    /// Takes the newest packet of the longest row, if that is longer than `than`.
    fn displace(&self, than: usize) -> Option<Packet> {
        let at = (0..SHARDS).max_by_key(|at| self.longest[*at].load(Relaxed))?;
        let mut shard = lock(&self.shards[at]);
        let (len, queue) = shard.longest();
        if len <= than {
            return None;
        }
        let newest = shard.rows.get_mut(&queue)?.pop_back()?;
        shard.set_len(queue, len, len - 1);
        self.note(at, &shard);
        Some(newest.packet)
    }

    fn note(&self, at: usize, shard: &Shard) {
        self.longest[at].store(shard.longest().0, Relaxed);
    }

    /// From now on nothing is added to these queues, until what this returns is dropped: what is in them is all that waits.
    pub(crate) fn end(&self, queues: impl IntoIterator<Item = u32>) -> Ending<'_> {
        let mut queues: Vec<u32> = queues.into_iter().collect();
        queues.sort_unstable();
        queues.dedup();
        self.ending.fetch_add(queues.len(), AcqRel);
        for queue in &queues {
            self.shard(*queue).ending.insert(*queue);
        }
        Ending { buffers: self, queues }
    }

    /// Whether the buffering of some queue is being ended.
    pub(crate) fn is_ending(&self) -> bool {
        self.ending.load(Acquire) > 0
    }

    /// The packets of a queue, oldest first, each with the worker that buffered it.
    pub(crate) fn for_each(&self, queue: u32, mut each: impl FnMut(usize, &Packet)) {
        self.shard(queue).rows.get(&queue).into_iter().flatten().for_each(|waiting| each(waiting.worker, &waiting.packet));
    }

    /// Whether packets of a queue wait.
    pub(crate) fn waits(&self, queue: u32) -> bool {
        self.shard(queue).rows.contains_key(&queue)
    }

    /// All packets of a queue; they wait no longer.
    pub(crate) fn take(&self, queue: u32) -> Row {
        let mut shard = self.shard(queue);
        let row = shard.rows.remove(&queue).unwrap_or_default();
        shard.set_len(queue, row.len(), 0);
        self.note(queue as usize % SHARDS, &shard);
        self.held.fetch_sub(row.len(), Relaxed);
        row.into_iter().map(|waiting| (waiting.worker, waiting.packet)).collect()
    }

    /// Packets of one shard (below [`SHARDS`]) that have waited for longer than they may; they wait no longer.
    pub(crate) fn take_old(&self, at: usize, now_ns: u64) -> Vec<Packet> {
        let until_ns = now_ns.saturating_sub(u64::try_from(self.limits.max_age.as_nanos()).unwrap_or(u64::MAX));
        let mut shard = lock(&self.shards[at]);
        let mut old = Vec::new();
        let queues: Vec<u32> = shard.rows.keys().copied().collect();
        for queue in queues {
            let Some(row) = shard.rows.get_mut(&queue) else { continue };
            let before = row.len();
            // In order of arrival, but for clocks of workers that are some microseconds apart.
            let aged = row.iter().take_while(|waiting| waiting.since_ns < until_ns).count();
            old.extend(row.drain(..aged).map(|waiting| waiting.packet));
            let after = row.len();
            if after < before {
                shard.set_len(queue, before, after);
            }
        }
        self.note(at, &shard);
        self.held.fetch_sub(old.len(), Relaxed);
        old
    }

    /// Everything, at the end.
    pub(crate) fn take_all(&self) -> Vec<Packet> {
        let rows = self.shards.iter().flat_map(|shard| std::mem::take(&mut *lock(shard)).rows.into_values());
        let all: Vec<Packet> = rows.flatten().map(|waiting| waiting.packet).collect();
        self.longest.iter().for_each(|longest| longest.store(0, Relaxed));
        self.held.fetch_sub(all.len(), Relaxed);
        all
    }

    fn shard(&self, queue: u32) -> MutexGuard<'_, Shard> {
        lock(&self.shards[queue as usize % SHARDS])
    }
}

/// A lock whose holder panicked still guards sound rows: every change under it is one push or removal.
fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::PortId;

    fn buffers(per_queue: usize, total: usize) -> Buffers {
        Buffers::new(BufferLimits { per_queue, total, ..BufferLimits::default() })
    }

    fn p(n: u8) -> Packet {
        Packet::new(&[n], PortId(0))
    }

    #[test]
    fn rows_keep_order_and_both_limits_hold() {
        let b = buffers(2, 3);
        let told = |kept: Result<Kept, NotKept>| kept.is_ok_and(|kept| kept.told && kept.displaced.is_none());
        assert!(told(b.push(0, 1, p(1), 0)));
        assert!(told(b.push(5, 1, p(2), 0)));
        assert!(b.push(0, 1, p(3), 0).is_err(), "row full");
        assert!(told(b.push(0, 2, p(4), 0)));
        assert!(b.push(0, 2, p(5), 0).is_err(), "all full, and none is longer");
        assert_eq!(b.take(1).iter().map(|(worker, p)| (*worker, p.data()[0])).collect::<Vec<_>>(), [(0, 1), (5, 2)]);
        assert!(told(b.push(0, 1, p(6), 0)), "an emptied row starts anew");
        assert_eq!(b.take_all().len(), 2);
        assert!((1..4).all(|n| told(b.push(0, n, p(7), 0))), "there is all room again");
    }

    #[test]
    fn a_growing_row_is_told_again_each_time_it_has_doubled() {
        let b = buffers(100, 100);
        let told = (1..=100).filter(|n| b.push(0, 1, p(*n), 0).is_ok_and(|kept| kept.told));
        assert_eq!(told.collect::<Vec<_>>(), [1, 2, 4, 8, 16, 32, 64]);
    }

    #[test]
    fn receivers_that_cannot_be_reached_do_not_keep_an_honest_one_from_its_places() {
        let b = buffers(1024, 65536);
        let mut lost = 0;
        for n in 0..70 * 1024u32 {
            match b.push(0, 1000 + n % 70, p(n as u8), 0) {
                Ok(kept) => lost += usize::from(kept.displaced.is_some()),
                Err(_) => lost += 1,
            }
        }
        assert_eq!(lost, 70 * 1024 - 65536);
        let before = b.take(1000);
        before.into_iter().for_each(|(worker, packet)| assert!(b.push(worker, 1000, packet, 0).is_ok()));
        // As many as the others have, each in the place of a newest packet of a longest row.
        for n in 0..200u8 {
            let kept = b.push(0, 7, p(n), 0).unwrap_or_else(|_| panic!("packet {n} of the honest queue is refused"));
            assert!(kept.displaced.is_some());
        }
        let order: Vec<u8> = b.take(7).iter().map(|(_, packet)| packet.data()[0]).collect();
        assert!(order.into_iter().eq(0..200));
        let rows: Vec<usize> = (1000..1070).map(|queue| b.take(queue).len()).collect();
        assert_eq!(rows.iter().sum::<usize>(), 65536 - 200);
        assert!(rows.iter().max().unwrap() - rows.iter().min().unwrap() <= 2, "{rows:?}");
        assert!(b.take_all().is_empty());
    }

    #[test]
    fn what_has_waited_too_long_goes_and_its_row_is_told_anew() {
        const S: u64 = 1_000_000_000;
        let b = Buffers::new(BufferLimits { max_age: Duration::from_secs(10), ..BufferLimits::default() });
        for n in 0..20 {
            assert!(b.push(0, 3, p(n), u64::from(n) * S).is_ok());
        }
        let old = |now_s: u64| (0..SHARDS).flat_map(|at| b.take_old(at, now_s * S)).map(|packet| packet.data()[0]).collect::<Vec<_>>();
        assert_eq!(old(10), []);
        assert_eq!(old(15), [0, 1, 2, 3, 4]);
        assert!(b.waits(3));
        assert_eq!(old(100).len(), 15);
        assert!(!b.waits(3) && b.push(0, 3, p(0), 100 * S).is_ok_and(|kept| kept.told));
    }
}
