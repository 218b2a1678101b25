//! Between the master and one worker: a ring of packets there, a ring of packets and spent buffers back, and a load gauge.
//!
//! Each ring has one writer and one reader and no lock. Packets move, their bytes stay where they are; a buffer that has
//! been sent goes back to be filled again, so that nothing is allocated while packets flow.

use crate::steer::BUCKETS;
use base::{Packet, PortId};
use rtrb::{Consumer, Producer, RingBuffer};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64};
use target_api::BURST;

/// The port of what goes back to the master as a spent buffer, not as a packet.
pub(crate) const SPENT: PortId = PortId::DROP;
/// Spent buffers that a worker keeps for itself.
const KEPT: usize = 2 * BURST;

/// A worker's gauges. Each field has one writer.
pub(crate) struct Gauge {
    /// Packets of the ring that the worker is done with: sent, buffered, punted, dropped, or in `shaped`. What it did with them is visible
    /// to who reads this (acquire).
    pub(crate) done: AtomicU64,
    /// For each bucket its packets that wait with the worker for a rate. What became of the others is visible to who reads this (acquire).
    pub(crate) shaped: Box<[AtomicU32]>,
    /// Packets received, from ring or ports.
    pub(crate) packets: AtomicU64,
    /// Time not spent waiting, in nanoseconds.
    pub(crate) busy_ns: AtomicU64,
    /// Packets that waited in its ports' queues when it looked last.
    pub(crate) waiting: AtomicU64,
    /// Odd from before the program counts a burst until packets of it that wait for a port's rate are taken off again.
    pub(crate) charging: AtomicU64,
    /// The worker sleeps, or is about to, and wants a command when packets come.
    pub(crate) sleeping: AtomicBool,
    /// Packets put into the ring (written by the master).
    pub(crate) pushed: AtomicU64,
}

/// The worker's side.
pub(crate) struct WorkerEnd {
    packets: Consumer<Packet>,
    back: Producer<Packet>,
    /// Spent buffers.
    spent: Vec<Packet>,
    /// Packets taken from the ring.
    pub(crate) taken: u64,
}

/// The master's side.
pub(crate) struct MasterEnd {
    /// `None` once the master has detached the worker, which sees the closed channel.
    pub(crate) packets: Option<Producer<Packet>>,
    pub(crate) back: Consumer<Packet>,
}

/// Rings for `capacity` packets. The way back is longer: what the worker has and what is put in before the master looks
/// again fit, so that a worker waits for room only after it released many packets from buffers.
pub(crate) fn rings(capacity: usize) -> (MasterEnd, WorkerEnd) {
    let (to_worker, packets) = RingBuffer::new(capacity);
    let (back, from_worker) = RingBuffer::new(2 * capacity + 16 * BURST);
    (MasterEnd { packets: Some(to_worker), back: from_worker }, WorkerEnd { packets, back, spent: Vec::with_capacity(4 * BURST), taken: 0 })
}

impl MasterEnd {
    /// The way to the worker, if it is still there.
    pub(crate) fn way(&mut self) -> Option<&mut Producer<Packet>> {
        self.packets.as_mut().filter(|packets| !packets.is_abandoned())
    }
}

impl WorkerEnd {
    /// Takes a burst.
    pub(crate) fn receive(&mut self, packets: &mut [Packet]) -> usize {
        let n = packets.len().min(self.packets.slots());
        let Ok(chunk) = self.packets.read_chunk(n) else { return 0 };
        for (slot, packet) in packets.iter_mut().zip(chunk) {
            self.spent.push(std::mem::replace(slot, packet));
        }
        self.taken += n as u64;
        n
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.packets.is_empty()
    }

    /// The master has ended, or has detached this worker, and all that it sent was received.
    pub(crate) fn ended(&self) -> bool {
        self.packets.is_abandoned() && self.packets.is_empty()
    }

    /// A buffer to put in the place of one that goes away.
    pub(crate) fn buffer(&mut self) -> Packet {
        self.spent.pop().unwrap_or_else(|| Packet::empty(0))
    }

    /// Whether the master has sent all that it was given.
    pub(crate) fn is_sent(&self) -> bool {
        self.back.slots() == self.back.buffer().capacity()
    }

    /// Gives packets to the master to send by `port`, as many as there is room for; `None` if there is no master any more.
    pub(crate) fn send(&mut self, packets: &mut [Packet], port: PortId) -> Option<usize> {
        if self.back.is_abandoned() {
            return None;
        }
        let n = packets.len().min(self.back.slots());
        let Ok(chunk) = self.back.write_chunk_uninit(n) else { return Some(0) };
        let spent = &mut self.spent;
        Some(chunk.fill_from_iter(packets[..n].iter_mut().map(|slot| {
            let mut packet = std::mem::replace(slot, spent.pop().unwrap_or_else(|| Packet::empty(0)));
            packet.port = port;
            packet
        })))
    }

    /// Gives spent buffers back, as far as there is room; the others are freed.
    pub(crate) fn give_back(&mut self) {
        let many = self.spent.len().saturating_sub(KEPT);
        let room = many.min(self.back.slots());
        if let Ok(chunk) = self.back.write_chunk_uninit(room) {
            let spent = self.spent.drain(self.spent.len() - room..);
            chunk.fill_from_iter(spent.map(|mut packet| {
                packet.port = SPENT;
                packet
            }));
        }
        self.spent.truncate(4 * KEPT);
    }
}

/// A gauge for a new worker.
pub(crate) fn gauge() -> Arc<crossbeam_utils::CachePadded<Gauge>> {
    let shaped = (0..BUCKETS).map(|_| AtomicU32::new(0)).collect();
    let [done, packets, busy_ns, waiting, charging, pushed] = std::array::from_fn(|_| AtomicU64::new(0));
    Arc::new(Gauge { done, shaped, packets, busy_ns, waiting, charging, sleeping: AtomicBool::new(false), pushed }.into())
}

pub(crate) type SharedGauge = Arc<crossbeam_utils::CachePadded<Gauge>>;
