//! A port with what waits to leave by it, as a worker or the master holds it.

use crate::control::Event;
use crate::ledger::{PortCells, WorkerLedger};
use base::{DropReason, Packet, PortId};
use pktio::Port;
use std::collections::VecDeque;
use std::sync::atomic::Ordering::Relaxed;
use target::BURST;

/// Attempts at a full transmit queue before a packet is dropped, a yield apart.
const TX_ATTEMPTS: u32 = 2000;
/// Mark in the port index: no such port.
pub(crate) const NO_PORT: u16 = u16::MAX;

/// A port and its transmit queue, `queue[..queued]`.
pub(crate) struct EnginePort {
    pub(crate) id: PortId,
    /// The device; none: packets leave by the master's.
    pub(crate) device: Option<Box<dyn Port>>,
    pub(crate) max_frame: usize,
    pub(crate) queue: Vec<Packet>,
    pub(crate) queued: usize,
    pub(crate) alive: bool,
}

impl EnginePort {
    pub(crate) fn new(id: PortId, device: Option<Box<dyn Port>>, max_frame: usize) -> EnginePort {
        EnginePort { id, device, max_frame, queue: burst(), queued: 0, alive: true }
    }

    /// A burst from the device, counted; a device that fails stays down, and the control plane is told once.
    pub(crate) fn receive(&mut self, packets: &mut [Packet], cells: &PortCells, owed: &mut VecDeque<Event>) -> usize {
        let Some(device) = self.device.as_mut().filter(|_| self.alive) else { return 0 };
        let n = match device.receive(packets) {
            Ok(n) => n,
            Err(e) => {
                tracing::error!(port = device.name(), "receive failed, port is down: {e}");
                self.alive = false;
                owed.push_back(Event::PortDown { port: self.id, why: e.to_string() });
                return 0;
            }
        };
        let mut bytes = 0;
        for packet in &mut packets[..n] {
            packet.port = self.id;
            bytes += packet.len();
        }
        if n > 0 {
            cells.received.add(n, bytes);
        }
        n
    }

    /// Takes a packet into the queue, leaving a spent buffer in its place; false if the port does not take such a frame, whose
    /// drop is then counted. A full queue must be transmitted before the next.
    pub(crate) fn enqueue(&mut self, packet: &mut Packet, ledger: &WorkerLedger) -> bool {
        if packet.len() > self.max_frame {
            ledger.count_drop(DropReason::TX_TOO_LONG, packet.len());
            return false;
        }
        // Buffers are exchanged, not copied.
        std::mem::swap(packet, &mut self.queue[self.queued]);
        self.queued += 1;
        true
    }

    /// Empties the queue: into the device, or, if the device stays full, into the drop count.
    pub(crate) fn transmit(&mut self, cells: &PortCells, ledger: &WorkerLedger, owed: &mut VecDeque<Event>) {
        let (mut sent, mut attempts) = (0, 0);
        while let Some(device) = self.device.as_mut().filter(|_| self.alive && sent < self.queued) {
            match device.transmit(&self.queue[sent..self.queued]).and_then(|n| device.flush().map(|()| n)) {
                Ok(0) => {
                    attempts += 1;
                    if attempts == TX_ATTEMPTS {
                        break;
                    }
                    std::thread::yield_now();
                }
                Ok(n) => {
                    cells.transmitted.add(n, self.queue[sent..sent + n].iter().map(Packet::len).sum());
                    sent += n;
                    attempts = 0;
                }
                Err(e) => {
                    tracing::error!(port = device.name(), "transmit failed, port is down: {e}");
                    self.alive = false;
                    owed.push_back(Event::PortDown { port: self.id, why: e.to_string() });
                }
            }
        }
        self.drop_queued(sent, DropReason::TX_FULL, ledger);
    }

    /// Asks the device to take what it has not taken yet; how many packets still wait. A device that fails takes no more, and says so
    /// when it is used next.
    pub(crate) fn send_rest(&mut self) -> usize {
        self.device.as_mut().map_or(0, |device| device.flush().map_or(0, |()| device.unsent()))
    }

    /// Drops what is queued from `first` on.
    pub(crate) fn drop_queued(&mut self, first: usize, reason: DropReason, ledger: &WorkerLedger) {
        self.queue[first..self.queued].iter().for_each(|packet| ledger.count_drop(reason, packet.len()));
        self.queued = 0;
    }

    pub(crate) fn note_device_drops(&mut self, cells: &PortCells) {
        let Some(device) = &mut self.device else { return };
        let drops = device.device_drops();
        cells.rx_full.store(drops.rx_full, Relaxed);
        cells.rx_invalid.store(drops.rx_invalid, Relaxed);
        cells.tx_invalid.store(drops.tx_invalid, Relaxed);
    }
}

/// Empty packets for a burst.
pub(crate) fn burst() -> Vec<Packet> {
    (0..BURST).map(|_| Packet::empty(0)).collect()
}

/// Port number to position: the first port of a number sends.
pub(crate) fn port_index(ports: &[EnginePort]) -> Vec<u16> {
    let mut index = vec![NO_PORT; 512];
    for (i, port) in ports.iter().enumerate().rev() {
        index[usize::from(port.id.0)] = i as u16;
    }
    index
}
