//! The ledger: the one place where every packet's fate is counted.
//!
//! Entries: received from ports, injected by the control plane, released from the buffer, copied by the program, returned by services.
//! Exits: transmitted, buffered, punted, kept by services, dropped for a reason. The buffer is a service too, counted apart: its packets wait for
//! the control plane. [`Ledger::imbalance`] is zero whenever the workers are between bursts and
//! their rings are empty. Counts stay when a worker ends; the next one in its slot continues them.

use base::{DropReason, PortId};
use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use target::Count;

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
    pub(crate) ports: Vec<(PortId, PortCells)>,
    pub(crate) injected: Cell,
    pub(crate) released: Cell,
    pub(crate) copied: Cell,
    pub(crate) buffered: Cell,
    pub(crate) kept: Cell,
    pub(crate) returned: Cell,
    pub(crate) punted: Vec<Cell>,
    pub(crate) dropped: Vec<Cell>,
}

#[derive(Default)]
pub(crate) struct PortCells {
    pub(crate) received: Cell,
    pub(crate) transmitted: Cell,
    pub(crate) rx_full: AtomicU64,
    pub(crate) rx_invalid: AtomicU64,
    pub(crate) tx_invalid: AtomicU64,
    /// By reason, those received here that the program dropped.
    dropped: Box<[AtomicU64]>,
}

impl PortCells {
    fn new() -> PortCells {
        PortCells { dropped: (0..256).map(|_| AtomicU64::new(0)).collect(), ..PortCells::default() }
    }
}

impl WorkerLedger {
    pub(crate) fn new(ports: impl Iterator<Item = PortId>) -> WorkerLedger {
        let row = || (0..256).map(|_| Cell::default()).collect();
        WorkerLedger {
            ports: ports.map(|id| (id, PortCells::new())).collect(),
            injected: Cell::default(),
            released: Cell::default(),
            copied: Cell::default(),
            buffered: Cell::default(),
            kept: Cell::default(),
            returned: Cell::default(),
            punted: row(),
            dropped: row(),
        }
    }

    /// Bytes of what has entered: received, injected, released, copied or returned.
    pub(crate) fn entered_bytes(&self) -> u64 {
        let others = [&self.injected, &self.released, &self.copied, &self.returned];
        let received = self.ports.iter().map(|(_, cells)| &cells.received);
        received.chain(others).map(|cell| cell.bytes.load(Relaxed)).fold(0, u64::wrapping_add)
    }

    /// Counts a packet of a port's that the program drops.
    #[cold]
    pub(crate) fn count_program_drop(&self, port: PortId, reason: DropReason, bytes: usize) {
        self.count_drop(reason, bytes);
        if let Some((_, cells)) = self.ports.iter().find(|(id, _)| *id == port) {
            let cell = &cells.dropped[reason.0 as usize];
            cell.store(cell.load(Relaxed) + 1, Relaxed);
        }
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
    pub device: pktio::DeviceDrops,
    /// Of those received, packets that the program dropped, by reason code. What workers do not receive themselves is not among them.
    pub dropped: BTreeMap<u8, u64>,
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

impl Ledger {
    pub(crate) fn sum<'a>(workers: impl Iterator<Item = &'a WorkerLedger>) -> Ledger {
        let mut total = Ledger::default();
        for w in workers {
            for (id, cells) in &w.ports {
                let port = total.ports.entry(*id).or_default();
                port.received += cells.received.read();
                port.transmitted += cells.transmitted.read();
                port.device.rx_full += cells.rx_full.load(Relaxed);
                port.device.rx_invalid += cells.rx_invalid.load(Relaxed);
                port.device.tx_invalid += cells.tx_invalid.load(Relaxed);
                for (code, cell) in cells.dropped.iter().enumerate() {
                    let packets = cell.load(Relaxed);
                    if packets != 0 {
                        *port.dropped.entry(code as u8).or_default() += packets;
                    }
                }
            }
            total.injected += w.injected.read();
            total.released += w.released.read();
            total.copied += w.copied.read();
            total.buffered += w.buffered.read();
            total.kept += w.kept.read();
            total.returned += w.returned.read();
            for (row, sum) in [(&w.punted, &mut total.punted), (&w.dropped, &mut total.dropped)] {
                for (code, cell) in row.iter().enumerate() {
                    let count = cell.read();
                    if count.packets != 0 {
                        *sum.entry(code as u8).or_default() += count;
                    }
                }
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
        let transmitted: u64 = self.ports.values().map(|p| p.transmitted.packets).sum();
        let came = received + self.injected.packets + self.released.packets + self.copied.packets + self.returned.packets;
        let went = transmitted + self.buffered.packets + self.kept.packets + sum(&self.punted) + sum(&self.dropped);
        came as i64 - went as i64
    }
}
