//! Idle-mode buffers: packets of a PDR whose FAR says BUFF, in order of arrival (TS 29.244 §5.2.3.1, §5.2.4).
//!
//! All workers share them, as a flow may move from one worker to another while its packets wait: they then stay in one row, in
//! order. Rows are spread over locks by PDR number, so workers meet only where they buffer for the same few PDRs.

use base::Packet;
use std::collections::{HashMap, VecDeque};
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Locks that the rows are spread over.
const SHARDS: usize = 32;

/// How much may wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct BufferLimits {
    /// Packets of one PDR.
    pub per_pdr: usize,
    /// Packets in all.
    pub total: usize,
}

impl Default for BufferLimits {
    fn default() -> BufferLimits {
        BufferLimits { per_pdr: 1024, total: 65536 }
    }
}

/// The buffers of all workers, by PDR number.
pub(crate) struct Buffers {
    limits: BufferLimits,
    held: AtomicUsize,
    shards: [Mutex<HashMap<u32, Row>>; SHARDS],
}

/// The packets of one PDR, oldest first, each with the worker that buffered it.
pub(crate) type Row = VecDeque<(usize, Packet)>;

/// What [`Buffers::push`] did.
pub(crate) enum Pushed {
    /// Kept, and the control plane is to be told: the first of its row, or as many wait again. What it was told before
    /// may have come to nothing (a report that nobody answered), or the FAR has been told anew to buffer and notify.
    Told,
    /// Kept.
    Kept,
    /// Refused; the packet comes back.
    Full(Packet),
}

impl Buffers {
    pub(crate) fn new(limits: BufferLimits) -> Buffers {
        Buffers { limits, held: AtomicUsize::new(0), shards: Default::default() }
    }

    pub(crate) fn push(&self, worker: usize, pdr: u32, packet: Packet) -> Pushed {
        let mut shard = self.shard(pdr);
        let row_len = shard.get(&pdr).map_or(0, Row::len);
        if row_len >= self.limits.per_pdr {
            return Pushed::Full(packet);
        }
        if self.held.fetch_add(1, Relaxed) >= self.limits.total {
            self.held.fetch_sub(1, Relaxed);
            return Pushed::Full(packet);
        }
        shard.entry(pdr).or_default().push_back((worker, packet));
        if (row_len + 1).is_power_of_two() { Pushed::Told } else { Pushed::Kept }
    }

    /// The flows by which a target ahead counted packets of a PDR that wait, one for each packet that has one.
    pub(crate) fn flows(&self, pdr: u32) -> Vec<u32> {
        let shard = self.shard(pdr);
        shard.get(&pdr).into_iter().flatten().map(|(_, packet)| packet.flow).filter(|flow| *flow != 0).collect()
    }

    /// All packets of a PDR; they wait no longer.
    pub(crate) fn take(&self, pdr: u32) -> Row {
        let row = self.shard(pdr).remove(&pdr).unwrap_or_default();
        self.held.fetch_sub(row.len(), Relaxed);
        row
    }

    /// Everything, at the end.
    pub(crate) fn take_all(&self) -> Vec<Packet> {
        let rows = self.shards.iter().flat_map(|shard| std::mem::take(&mut *lock(shard)).into_values());
        let all: Vec<Packet> = rows.flatten().map(|(_, packet)| packet).collect();
        self.held.fetch_sub(all.len(), Relaxed);
        all
    }

    fn shard(&self, pdr: u32) -> MutexGuard<'_, HashMap<u32, Row>> {
        lock(&self.shards[pdr as usize % SHARDS])
    }
}

/// A lock whose holder panicked still guards sound rows: every change under it is one push or removal.
fn lock(shard: &Mutex<HashMap<u32, Row>>) -> MutexGuard<'_, HashMap<u32, Row>> {
    shard.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::PortId;

    #[test]
    fn rows_keep_order_and_both_limits_hold() {
        let b = Buffers::new(BufferLimits { per_pdr: 2, total: 3 });
        let p = |n: u8| Packet::new(&[n], PortId(0));
        assert!(matches!(b.push(0, 1, p(1)), Pushed::Told));
        assert!(matches!(b.push(5, 1, p(2)), Pushed::Told));
        assert!(matches!(b.push(0, 1, p(3)), Pushed::Full(_)), "row full");
        assert!(matches!(b.push(0, 2, p(4)), Pushed::Told));
        assert!(matches!(b.push(0, 2, p(5)), Pushed::Full(_)), "all full");
        assert_eq!(b.take(1).iter().map(|(worker, p)| (*worker, p.data()[0])).collect::<Vec<_>>(), [(0, 1), (5, 2)]);
        assert!(matches!(b.push(0, 1, p(6)), Pushed::Told), "an emptied row starts anew");
        assert_eq!(b.take_all().len(), 2);
        assert!((1..4).all(|n| matches!(b.push(0, n, p(7)), Pushed::Told)), "there is all room again");
    }

    #[test]
    fn a_growing_row_is_told_again_each_time_it_has_doubled() {
        let b = Buffers::new(BufferLimits { per_pdr: 100, total: 100 });
        let told = (1..=100).filter(|n| matches!(b.push(0, 1, Packet::new(&[*n], PortId(0))), Pushed::Told));
        assert_eq!(told.collect::<Vec<_>>(), [1, 2, 4, 8, 16, 32, 64]);
    }
}
