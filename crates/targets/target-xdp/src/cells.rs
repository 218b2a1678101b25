//! Counter cells, a row for each core: read and cleared without a lock.

use crate::sys::Shared;
use cranelift_entity::EntityRef;
use program::CounterId;
use std::sync::atomic::Ordering;
use target_api::Count;

/// Counters, contexts and ledgers of all cores.
pub(crate) struct Cells {
    pub cpus: u32,
    pub contexts: Shared,
    pub context_len: usize,
    pub ledgers: Shared,
    pub counters: Vec<Shared>,
    pub sizes: Vec<u64>,
    pub registers: Vec<Shared>,
    /// The direct counter of each table.
    pub direct: Vec<Option<usize>>,
}

/// Bytes of a counter's cell.
pub(crate) const CELL: usize = 16;
/// A core's ledger: rows of packets and bytes, received and sent by port, and dropped by reason.
pub(crate) const ROW: usize = 16;
pub(crate) const PORTS: usize = 512;
pub(crate) const REASONS: usize = 256;
pub(crate) const LEDGER: usize = ROW * (PORTS + PORTS + REASONS);

impl Cells {
    pub(crate) fn sum(&self, counter: CounterId, index: u64) -> Count {
        let i = counter.index();
        let mut sum = Count::default();
        if self.sizes.get(i).is_none_or(|size| index >= *size) {
            return sum;
        }
        for cpu in 0..u64::from(self.cpus) {
            let at = 16 * (cpu * self.sizes[i] + index) as usize;
            sum.packets = sum.packets.wrapping_add(self.counters[i].long(at).load(Ordering::Relaxed));
            sum.bytes = sum.bytes.wrapping_add(self.counters[i].long(at + 8).load(Ordering::Relaxed));
        }
        sum
    }

    /// Has memory for a cell; without it packets that would count there are passed on.
    pub(crate) fn make_room(&self, counter: CounterId, index: u64) {
        let i = counter.index();
        if self.sizes.get(i).is_none_or(|size| index >= *size) {
            return;
        }
        for cpu in 0..u64::from(self.cpus) {
            let at = CELL * (cpu * self.sizes[i] + index) as usize;
            // It has been said in the log.
            if self.counters[i].make_room(at..at + CELL).is_err() {
                return;
            }
        }
    }

    pub(crate) fn clear(&self, counter: usize, index: u64) {
        for cpu in 0..u64::from(self.cpus) {
            let at = 16 * (cpu * self.sizes[counter] + index) as usize;
            self.counters[counter].long(at).store(0, Ordering::Relaxed);
            self.counters[counter].long(at + 8).store(0, Ordering::Relaxed);
        }
    }

    /// A row of the ledger, over all cores.
    pub(crate) fn ledger(&self, row: usize) -> Count {
        let at = |cpu: u32| cpu as usize * LEDGER + row * ROW;
        let long = |at: usize| self.ledgers.long(at).load(Ordering::Relaxed);
        let sum = |offset: usize| (0..self.cpus).map(|cpu| long(at(cpu) + offset)).fold(0, u64::wrapping_add);
        Count { packets: sum(0), bytes: sum(8) }
    }

    pub(crate) fn sum_contexts(&self, at: usize) -> u64 {
        let of = |cpu: u32| self.contexts.long(cpu as usize * self.context_len + at).load(Ordering::Relaxed);
        (0..self.cpus).map(of).fold(0, u64::wrapping_add)
    }
}
