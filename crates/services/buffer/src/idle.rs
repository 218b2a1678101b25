//! How do packets wait for a receiver that is idle? By queue and in order of arrival, until control code releases the queue, as a [`Shared`] service.
//!
//! All lanes share it, as a flow may move from one lane to another while its packets wait: they then stay in one row, in order. Rows are spread over locks
//! by the queue's number, so lanes meet only where they buffer for the same few queues.
//!
//! Room is shared fairly: when it is full, the longest queue loses its newest packet to a shorter one, so receivers that
//! cannot be reached do not keep others from being woken; packets that waited too long are dropped.

use ::service::{Access, Call, FIELDS_MAX, Field, Interface, Kept, Reason, SettingError, Shared, SharedDeployment};
use base::DropReason;
use std::collections::{BTreeSet, HashMap, VecDeque};
use std::sync::atomic::AtomicUsize;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

/// Locks that the rows are spread over; a [`Shared::poll`] looks at the rows of one.
pub const SHARDS: usize = 32;

/// There is no room: its row is full, or all of them are together and it is among the longest, or has made room for a shorter one.
pub const FULL: Reason = Reason::own(0);
/// It has waited for longer than [`Limits::max_age`].
pub const AGED: Reason = Reason::own(1);

/// Fields and reasons. `notify` is 1 where control code should hear that packets wait: of the first packet of a queue, or when as many wait again. What it was told
/// before may have been lost, or the queue may be buffered again.
pub static INTERFACE: Interface = Interface {
    name: "idle_buffer",
    request: &[Field { name: "queue", width: 32 }],
    answer: &[Field { name: "notify", width: 8 }],
    key: Some(0),
    reasons: &["buffer_full", "buffer_aged"],
    access: |_| Access::None,
    sends_own: false,
    check_setting: |index, _| Err(SettingError::Index { index, limit: 0 }),
};

/// How much may wait, and how long.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Packets of one queue.
    pub per_queue: usize,
    /// Packets in all.
    pub total: usize,
    /// What has waited for longer goes when [`Shared::poll`] comes by.
    pub max_age: Duration,
}

impl Default for Limits {
    fn default() -> Limits {
        Limits { per_queue: 1024, total: 65536, max_age: Duration::from_secs(60) }
    }
}

/// The rows of all lanes, by queue.
pub struct IdleBuffer {
    limits: Limits,
    held: AtomicUsize,
    shards: [Mutex<Shard>; SHARDS],
    /// Of each shard the length of its longest row: a hint where to look.
    longest: [AtomicUsize; SHARDS],
    /// The shard that [`Shared::poll`] looks at next.
    next: AtomicUsize,
}

#[derive(Default)]
struct Shard {
    rows: HashMap<u32, VecDeque<Waiting>, foldhash::fast::RandomState>,
    /// Rows by their length.
    by_len: BTreeSet<(usize, u32)>,
    /// Queues that are closed.
    closed: BTreeSet<u32>,
}

struct Waiting {
    since_ns: u64,
    kept: Kept,
}

impl Shard {
    fn is_closed(&self, queue: u32) -> bool {
        !self.closed.is_empty() && self.closed.contains(&queue)
    }

    fn len_of(&self, queue: u32) -> usize {
        self.rows.get(&queue).map_or(0, VecDeque::len)
    }

    fn set_len(&mut self, queue: u32, before: usize, after: usize) {
        if before > 0 {
            self.by_len.remove(&(before, queue));
        }
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

impl Shared for IdleBuffer {
    fn interface(&self) -> &'static Interface {
        &INTERFACE
    }

    fn call(&self, burst: &mut [Call], now_ns: u64, out: &mut Vec<Call>) {
        burst.iter_mut().for_each(|call| self.keep(call, now_ns, out));
    }

    fn set_closed(&self, queue: u32, closed: bool) {
        let mut shard = self.shard(queue);
        if closed {
            shard.closed.insert(queue)
        } else {
            shard.closed.remove(&queue)
        };
    }

    fn waiting(&self, queue: u32) -> usize {
        self.shard(queue).len_of(queue)
    }

    fn look(&self, queue: u32, each: &mut dyn FnMut(&Kept)) {
        self.shard(queue).rows.get(&queue).into_iter().flatten().for_each(|waiting| each(&waiting.kept));
    }

    fn take(&self, queue: u32, out: &mut Vec<Call>) {
        let mut shard = self.shard(queue);
        let row = shard.rows.remove(&queue).unwrap_or_default();
        shard.set_len(queue, row.len(), 0);
        self.note(queue as usize % SHARDS, &shard);
        self.held.fetch_sub(row.len(), Relaxed);
        out.extend(row.into_iter().map(|waiting| waiting.kept.into_call()));
    }

    fn take_all(&self, out: &mut Vec<Call>) {
        for (at, shard) in self.shards.iter().enumerate() {
            let mut shard = lock(shard);
            let rows = std::mem::take(&mut shard.rows);
            shard.by_len.clear();
            self.note(at, &shard);
            let before = out.len();
            out.extend(rows.into_values().flatten().map(|waiting| waiting.kept.into_call()));
            self.held.fetch_sub(out.len() - before, Relaxed);
        }
    }

    fn poll(&self, now_ns: u64, out: &mut Vec<Call>) {
        let until_ns = now_ns.saturating_sub(u64::try_from(self.limits.max_age.as_nanos()).unwrap_or(u64::MAX));
        let at = self.next.fetch_add(1, Relaxed) % SHARDS;
        let mut shard = lock(&self.shards[at]);
        let from = out.len();
        let queues: Vec<u32> = shard.rows.keys().copied().collect();
        for queue in queues {
            let Some(row) = shard.rows.get_mut(&queue) else { continue };
            let before = row.len();
            // In order of arrival, but for clocks of lanes that are some microseconds apart.
            let aged = row.iter().take_while(|waiting| waiting.since_ns < until_ns).count();
            out.extend(row.drain(..aged).map(|waiting| dropped(waiting, AGED)));
            if aged > 0 {
                shard.set_len(queue, before, before - aged);
            }
        }
        self.note(at, &shard);
        self.held.fetch_sub(out.len() - from, Relaxed);
    }

    fn as_drop(&self, reason: Reason) -> DropReason {
        match reason {
            FULL => DropReason::BUFFER_FULL,
            AGED => DropReason::BUFFER_AGED,
            other => other.as_drop(),
        }
    }
}

impl IdleBuffer {
    /// With nothing in it.
    pub fn new(limits: Limits) -> IdleBuffer {
        let (held, next) = (AtomicUsize::new(0), AtomicUsize::new(0));
        IdleBuffer { limits, held, shards: Default::default(), longest: Default::default(), next }
    }

    /// One for lanes and control code to share.
    pub fn deploy(limits: Limits) -> Arc<SharedDeployment> {
        Arc::new(SharedDeployment::new(Arc::new(IdleBuffer::new(limits))))
    }

    fn keep(&self, call: &mut Call, now_ns: u64, out: &mut Vec<Call>) {
        let queue = queue_of(&call.fields);
        let mut shard = self.shard(queue);
        if shard.is_closed(queue) {
            return call.answer(&[]);
        }
        let row_len = shard.len_of(queue);
        if row_len >= self.limits.per_queue {
            return call.drop_for(FULL);
        }
        if self.held.fetch_add(1, Relaxed) >= self.limits.total {
            self.held.fetch_sub(1, Relaxed);
            drop(shard);
            // Its place, in whichever shard, goes to ours.
            let Some(displaced) = self.displace(row_len + 1) else { return call.drop_for(FULL) };
            out.push(displaced);
            shard = self.shard(queue);
            if shard.is_closed(queue) {
                // Since we looked.
                self.held.fetch_sub(1, Relaxed);
                return call.answer(&[]);
            }
        }
        let row = shard.rows.entry(queue).or_default();
        row.push_back(Waiting { since_ns: now_ns, kept: call.keep() });
        let len = row.len();
        shard.set_len(queue, len - 1, len);
        self.note(queue as usize % SHARDS, &shard);
        call.fields = [0; FIELDS_MAX];
        call.fields[0] = len.is_power_of_two().into();
    }

    /// Takes the newest packet of the longest row, if that is longer than `than`.
    fn displace(&self, than: usize) -> Option<Call> {
        let at = (0..SHARDS).max_by_key(|at| self.longest[*at].load(Relaxed))?;
        let mut shard = lock(&self.shards[at]);
        let (len, queue) = shard.longest();
        if len <= than {
            return None;
        }
        let newest = shard.rows.get_mut(&queue)?.pop_back()?;
        shard.set_len(queue, len, len - 1);
        self.note(at, &shard);
        Some(dropped(newest, FULL))
    }

    fn note(&self, at: usize, shard: &Shard) {
        self.longest[at].store(shard.longest().0, Relaxed);
    }

    fn shard(&self, queue: u32) -> MutexGuard<'_, Shard> {
        lock(&self.shards[queue as usize % SHARDS])
    }
}

/// A request's fields.
pub fn request(queue: u32) -> [u8; FIELDS_MAX] {
    let mut fields = [0; FIELDS_MAX];
    fields[..4].copy_from_slice(&queue.to_be_bytes());
    fields
}

fn queue_of(&[a, b, c, d, ..]: &[u8; FIELDS_MAX]) -> u32 {
    u32::from_be_bytes([a, b, c, d])
}

fn dropped(waiting: Waiting, reason: Reason) -> Call {
    let mut call = waiting.kept.into_call();
    call.drop_for(reason);
    call
}

/// A lock whose holder panicked still guards sound rows: every change under it is one push or removal.
fn lock(shard: &Mutex<Shard>) -> MutexGuard<'_, Shard> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use ::service::Outcome;
    use base::{Packet, PortId};

    struct Buffer {
        service: Arc<SharedDeployment>,
        caller: ::service::Caller,
    }

    /// What became of a packet that was given in.
    #[derive(Debug, PartialEq, Eq)]
    enum Given {
        Kept { notify: bool, displaced: usize },
        Full,
    }

    fn kept(notify: bool) -> Given {
        Given::Kept { notify, displaced: 0 }
    }

    impl Buffer {
        fn new(limits: Limits) -> Buffer {
            let service = IdleBuffer::deploy(limits);
            Buffer { caller: service.caller(), service }
        }

        fn push(&mut self, worker: u32, queue: u32, number: u8, now_ns: u64) -> Given {
            let mut burst = [Call::new(Packet::new(&[number], PortId(0)), 0, request(queue), worker)];
            self.caller.call(&mut burst, now_ns);
            let mut displaced = Vec::new();
            self.caller.poll(now_ns, &mut displaced);
            assert!(displaced.iter().all(|call| call.outcome == Outcome::Dropped(FULL)));
            match burst[0].outcome {
                Outcome::Kept => Given::Kept { notify: burst[0].fields[0] == 1, displaced: displaced.len() },
                Outcome::Dropped(FULL) if displaced.is_empty() => Given::Full,
                ref other => panic!("{other:?}"),
            }
        }

        /// Numbers and workers of what is released.
        fn release(&self, queue: u32) -> Vec<(u32, u8)> {
            self.service.release(queue).iter().map(|call| (call.tag, call.packet.data()[0])).collect()
        }
    }

    fn limits(per_queue: usize, total: usize) -> Limits {
        Limits { per_queue, total, ..Limits::default() }
    }

    #[test]
    fn rows_keep_order_and_both_limits_hold() {
        let mut b = Buffer::new(limits(2, 3));
        assert_eq!(b.push(0, 1, 1, 0), kept(true));
        assert_eq!(b.push(5, 1, 2, 0), kept(true));
        assert_eq!(b.push(0, 1, 3, 0), Given::Full, "row full");
        assert_eq!(b.push(0, 2, 4, 0), kept(true));
        assert_eq!(b.push(0, 2, 5, 0), Given::Full, "all full, and none is longer");
        assert_eq!(b.release(1), [(0, 1), (5, 2)]);
        assert_eq!(b.push(0, 1, 6, 0), kept(true), "an emptied row starts anew");
        assert_eq!(b.service.discard_all().len(), 2);
        assert!((1..4).all(|n| b.push(0, n, 7, 0) == kept(true)), "there is all room again");
    }

    #[test]
    fn a_growing_row_is_told_again_each_time_it_has_doubled() {
        let mut b = Buffer::new(limits(100, 100));
        let told = (1..=100).filter(|n| b.push(0, 1, *n, 0) == kept(true));
        assert_eq!(told.collect::<Vec<_>>(), [1, 2, 4, 8, 16, 32, 64]);
    }

    #[test]
    fn receivers_that_cannot_be_reached_do_not_keep_an_honest_one_from_its_places() {
        let mut b = Buffer::new(limits(1024, 65536));
        let mut lost = 0;
        for n in 0..70 * 1024u32 {
            match b.push(0, 1000 + n % 70, n as u8, 0) {
                Given::Kept { displaced, .. } => lost += displaced,
                Given::Full => lost += 1,
            }
        }
        assert_eq!(lost, 70 * 1024 - 65536);
        let before = b.release(1000);
        before.into_iter().for_each(|(worker, number)| assert_ne!(b.push(worker, 1000, number, 0), Given::Full));
        // As many as the others have, each in the place of a newest packet of a longest row.
        for n in 0..200u8 {
            assert!(matches!(b.push(0, 7, n, 0), Given::Kept { displaced: 1, .. }), "packet {n} of the honest queue");
        }
        assert!(b.release(7).into_iter().map(|(_, number)| number).eq(0..200));
        let rows: Vec<usize> = (1000..1070).map(|queue| b.release(queue).len()).collect();
        assert_eq!(rows.iter().sum::<usize>(), 65536 - 200);
        assert!(rows.iter().max().unwrap() - rows.iter().min().unwrap() <= 2, "{rows:?}");
        assert!(b.service.discard_all().is_empty());
        assert_eq!((b.service.counters().imbalance(), b.service.counters().waiting()), (0, 0));
    }

    #[test]
    fn what_has_waited_too_long_goes_and_its_row_is_told_anew() {
        const S: u64 = 1_000_000_000;
        let mut b = Buffer::new(Limits { max_age: Duration::from_secs(10), ..Limits::default() });
        for n in 0..20 {
            assert_ne!(b.push(0, 3, n, u64::from(n) * S), Given::Full);
        }
        let old = |b: &Buffer, now_s: u64| {
            let calls: Vec<Call> = (0..SHARDS).flat_map(|_| b.service.poll(now_s * S)).collect();
            assert!(calls.iter().all(|call| call.outcome == Outcome::Dropped(AGED)));
            calls.iter().map(|call| call.packet.data()[0]).collect::<Vec<_>>()
        };
        assert_eq!(old(&b, 10), []);
        assert_eq!(old(&b, 15), [0, 1, 2, 3, 4]);
        assert_eq!(b.service.waiting(3), 15);
        assert_eq!(old(&b, 100).len(), 15);
        assert_eq!(b.service.waiting(3), 0);
        assert_eq!(b.push(0, 3, 0, 100 * S), kept(true));
    }
}
