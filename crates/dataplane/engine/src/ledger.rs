//! The ledger: the one place where every packet's fate is counted.
//!
//! Entries: received from ports, injected by the control plane, released from the buffer, copied by the program, returned by services.
//! Exits: transmitted (or waiting for a port's rate), buffered, punted, kept by services, dropped for a reason. The buffer is a service too, counted apart: its packets wait for
//! the control plane. [`Ledger::imbalance`] is zero whenever the workers are between bursts and
//! their rings are empty. Counts stay when a worker ends; the next one in its slot continues them.

use base::{DropReason, PortId};
use pktio::DeviceDrops;
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, PoisonError, RwLock};
use target_api::Count;

/// A pair of counters with one writer, its worker; read by anyone.
#[derive(Default)]
pub(crate) struct Cell {
    packets: AtomicU64,
    bytes: AtomicU64,
}

impl Cell {
    /// Adds packets of `bytes` in all. Only the owning worker calls this, so load and store do not race.
    pub(crate) fn add(&self, packets: usize, bytes: usize) {
        self.packets.store(self.packets.load(Relaxed) + packets as u64, Relaxed);
        self.bytes.store(self.bytes.load(Relaxed) + bytes as u64, Relaxed);
    }

    pub(crate) fn read(&self) -> Count {
        Count { packets: self.packets.load(Relaxed), bytes: self.bytes.load(Relaxed) }
    }
}

/// One worker's counters.
pub(crate) struct WorkerLedger {
    /// Of every port that this worker ever had: what one has counted stays when it goes.
    ports: RwLock<Vec<(PortId, Arc<PortCells>)>>,
    pub(crate) injected: Cell,
    pub(crate) released: Cell,
    pub(crate) copied: Cell,
    pub(crate) buffered: Cell,
    pub(crate) kept: Cell,
    pub(crate) returned: Cell,
    pub(crate) punted: Vec<Cell>,
    pub(crate) dropped: Vec<Cell>,
    pub(crate) burst_times: BurstTimes,
}

/// Steps of time in which bursts are counted: four for each power of two, the last one for all that is longer (4 s).
const STEPS: usize = 4 * 32;

/// Packets by the time that their burst took.
pub(crate) struct BurstTimes(Box<[AtomicU64]>);

impl BurstTimes {
    fn new() -> BurstTimes {
        BurstTimes((0..STEPS).map(|_| AtomicU64::new(0)).collect())
    }

    /// Counts the packets of a burst. Only the owning worker calls this.
    pub(crate) fn add(&self, packets: usize, took_ns: u64) {
        if let Some(cell) = self.0.get(step_of(took_ns)) {
            cell.store(cell.load(Relaxed) + packets as u64, Relaxed);
        }
    }

    /// By the nanoseconds below which they were: those that there are.
    pub(crate) fn read(&self) -> impl Iterator<Item = (u64, u64)> {
        let cells = self.0.iter().enumerate().map(|(step, cell)| (end_of(step), cell.load(Relaxed)));
        cells.filter(|(_, packets)| *packets > 0)
    }
}

/// The step of a time: its highest bit and the two below it.
fn step_of(ns: u64) -> usize {
    let ns = ns.max(4);
    let power = ns.ilog2();
    (4 * power as usize + (ns >> (power - 2) & 3) as usize).min(STEPS - 1)
}

/// Where a step ends, and the next one begins.
fn end_of(step: usize) -> u64 {
    let next = step as u64 + 1;
    // Times below 4 ns are counted as 4 ns.
    ((4 + next % 4) << (next / 4)) >> 2
}

#[derive(Default)]
pub(crate) struct PortCells {
    pub(crate) received: Cell,
    pub(crate) transmitted: Cell,
    pub(crate) rx_full: AtomicU64,
    pub(crate) rx_invalid: AtomicU64,
    pub(crate) tx_invalid: AtomicU64,
    /// Packets that wait for the port's rate now.
    pub(crate) waiting: AtomicU64,
    /// By reason, those received here that were dropped.
    dropped: Box<[Cell]>,
    /// By reason, those that were to leave here and were dropped.
    unsent: Box<[Cell]>,
}

impl PortCells {
    fn new() -> PortCells {
        let row = || (0..256).map(|_| Cell::default()).collect();
        PortCells { dropped: row(), unsent: row(), ..PortCells::default() }
    }

    /// What devices have lost so far.
    pub(crate) fn lost(&self) -> DeviceDrops {
        let [rx_full, rx_invalid, tx_invalid] = [&self.rx_full, &self.rx_invalid, &self.tx_invalid].map(|cell| cell.load(Relaxed));
        DeviceDrops { rx_full, rx_invalid, tx_invalid }
    }
}

impl WorkerLedger {
    pub(crate) fn new() -> WorkerLedger {
        let row = || (0..256).map(|_| Cell::default()).collect();
        WorkerLedger {
            ports: RwLock::default(),
            injected: Cell::default(),
            released: Cell::default(),
            copied: Cell::default(),
            buffered: Cell::default(),
            kept: Cell::default(),
            returned: Cell::default(),
            punted: row(),
            dropped: row(),
            burst_times: BurstTimes::new(),
        }
    }

    /// Bytes of what has entered: received, injected, released, copied or returned.
    pub(crate) fn entered_bytes(&self) -> u64 {
        let others = [&self.injected, &self.released, &self.copied, &self.returned];
        let ports = self.ports.read().unwrap_or_else(PoisonError::into_inner);
        let received = ports.iter().map(|(_, cells)| &cells.received);
        received.chain(others).map(|cell| cell.bytes.load(Relaxed)).fold(0, u64::wrapping_add)
    }

    /// Where a device of a port counts from now on: behind one of that port that is gone, if there is such a one.
    pub(crate) fn cells(&self, id: PortId) -> Arc<PortCells> {
        let mut ports = self.ports.write().unwrap_or_else(PoisonError::into_inner);
        // Nobody else counts there.
        if let Some((_, cells)) = ports.iter().find(|(of, cells)| *of == id && Arc::strong_count(cells) == 1) {
            return cells.clone();
        }
        let cells = Arc::new(PortCells::new());
        ports.push((id, cells.clone()));
        cells
    }

    /// Counts a drop, and where the packet came in: none, if that port is gone.
    #[cold]
    pub(crate) fn count_received_drop(&self, cells: Option<&PortCells>, reason: DropReason, bytes: usize) {
        self.count_drop(reason, bytes);
        if let Some(cells) = cells {
            cells.dropped[reason.0 as usize].add(1, bytes);
        }
    }

    /// Counts a drop, and where the packet was to leave.
    #[cold]
    pub(crate) fn count_unsent(&self, cells: &PortCells, reason: DropReason, bytes: usize) {
        self.count_drop(reason, bytes);
        cells.unsent[reason.0 as usize].add(1, bytes);
    }

    /// Counts a drop.
    pub(crate) fn count_drop(&self, reason: DropReason, bytes: usize) {
        self.dropped[reason.0 as usize].add(1, bytes);
    }
}

/// Packets and bytes of one port, summed over workers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct PortCount {
    /// Frames received.
    pub received: Count,
    /// Frames transmitted.
    pub transmitted: Count,
    /// Frames that the device or kernel lost or refused before or after us.
    pub device: DeviceDrops,
    /// Packets that wait for the port's rate now.
    pub waiting: u64,
    /// Of those received, packets that program and workers dropped, by reason code. Those that a master thread drops, or a buffer that is emptied, are not among them.
    pub dropped: BTreeMap<u8, Count>,
    /// Packets that were to leave here and were dropped, by reason code: the port is down or full, or takes no such frame, or its queues dropped them.
    pub unsent: BTreeMap<u8, Count>,
}

/// A snapshot over all workers.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Ledger {
    /// By port.
    pub ports: BTreeMap<PortId, PortCount>,
    /// Packets that the control plane sent through the program or straight out.
    pub injected: Count,
    /// Packets that left the buffer.
    pub released: Count,
    /// Clones and multicast copies that programs made.
    pub copied: Count,
    /// Packets that entered the buffer.
    pub buffered: Count,
    /// Packets that a service kept.
    pub kept: Count,
    /// Packets that came back from a service that had kept them. Bytes are those that came back.
    pub returned: Count,
    /// Packets given to the control plane, by reason code.
    pub punted: BTreeMap<u8, Count>,
    /// Packets dropped, by reason code.
    pub dropped: BTreeMap<u8, Count>,
}

/// Adds those of a row of cells, by code, that have counted.
fn add_counted(cells: &[Cell], sums: &mut BTreeMap<u8, Count>) {
    for (code, cell) in cells.iter().enumerate() {
        let count = cell.read();
        if count.packets != 0 {
            *sums.entry(code as u8).or_default() += count;
        }
    }
}

impl Ledger {
    pub(crate) fn sum<'a>(workers: impl Iterator<Item = &'a WorkerLedger>) -> Ledger {
        let mut total = Ledger::default();
        for w in workers {
            for (id, cells) in w.ports.read().unwrap_or_else(PoisonError::into_inner).iter() {
                let port = total.ports.entry(*id).or_default();
                port.received += cells.received.read();
                port.transmitted += cells.transmitted.read();
                port.device.rx_full += cells.rx_full.load(Relaxed);
                port.device.rx_invalid += cells.rx_invalid.load(Relaxed);
                port.device.tx_invalid += cells.tx_invalid.load(Relaxed);
                port.waiting += cells.waiting.load(Relaxed);
                for (cells, sums) in [(&cells.dropped, &mut port.dropped), (&cells.unsent, &mut port.unsent)] {
                    add_counted(cells, sums);
                }
            }
            total.injected += w.injected.read();
            total.released += w.released.read();
            total.copied += w.copied.read();
            total.buffered += w.buffered.read();
            total.kept += w.kept.read();
            total.returned += w.returned.read();
            for (row, sums) in [(&w.punted, &mut total.punted), (&w.dropped, &mut total.dropped)] {
                add_counted(row, sums);
            }
        }
        total
    }

    /// Packets waiting in the buffer.
    pub fn waiting(&self) -> u64 {
        // Another worker may have released what one had buffered, and its count may have been read later.
        self.buffered.packets.saturating_sub(self.released.packets)
    }

    /// Packets that services keep.
    pub fn with_services(&self) -> u64 {
        self.kept.packets.saturating_sub(self.returned.packets)
    }

    /// Packets that came in and are not accounted for: zero when none is in a burst or in a ring, or there is a defect.
    pub fn imbalance(&self) -> i64 {
        let sum = |m: &BTreeMap<u8, Count>| m.values().map(|c| c.packets).sum::<u64>();
        let received: u64 = self.ports.values().map(|p| p.received.packets).sum();
        let transmitted: u64 = self.ports.values().map(|p| p.transmitted.packets + p.waiting).sum();
        let came = received + self.injected.packets + self.released.packets + self.copied.packets + self.returned.packets;
        let went = transmitted + self.buffered.packets + self.kept.packets + sum(&self.punted) + sum(&self.dropped);
        came as i64 - went as i64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_time_is_counted_in_the_step_that_it_is_in() {
        let mut before = 4;
        for step in step_of(4)..STEPS - 1 {
            let end = end_of(step);
            assert!(before < end && 4 * end <= 5 * before || before < 32, "{step}: {before} {end}");
            for ns in [before, end - 1] {
                assert_eq!(step_of(ns), step, "{ns}");
            }
            before = end;
        }
        assert_eq!(step_of(0), step_of(4));
        assert_eq!(step_of(u64::MAX), STEPS - 1);
        let times = BurstTimes::new();
        times.add(32, 1000);
        times.add(1, 1000);
        times.add(5, 80_000);
        assert_eq!(times.read().collect::<Vec<_>>(), [(1024, 33), (81_920, 5)]);
    }
}
