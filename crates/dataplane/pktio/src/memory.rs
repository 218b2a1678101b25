//! In-process ports: a pair joined by two bounded queues, and a source that repeats the same frames without end.
//!
//! A queue is a ring of packet buffers under one lock, taken once a burst. Nothing is allocated after opening unless a
//! packet outgrows its slot: `receive` swaps the caller's buffer with the slot's.

use std::collections::VecDeque;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use base::{MAX_PACKET, Packet};

use crate::{DeviceDrops, Port, PortError, TransmitOnly};

/// One end of a pair: what this end transmits, the other receives.
pub struct MemoryPort {
    name: String,
    incoming: Arc<Mutex<Queue>>,
    outgoing: Arc<Mutex<Queue>>,
    /// Whether it is the end that empties `incoming`; otherwise one more handle for sending.
    receives: bool,
    drops: DeviceDrops,
}

/// Two joined ports, `capacity` packets (at least 1) in each direction.
pub fn pair(name_a: &str, name_b: &str, capacity: usize) -> (MemoryPort, MemoryPort) {
    let to_b = Arc::new(Mutex::new(Queue::new(capacity)));
    let to_a = Arc::new(Mutex::new(Queue::new(capacity)));
    (port(format!("{name_a} (memory)"), &to_a, &to_b), port(format!("{name_b} (memory)"), &to_b, &to_a))
}

/// Packets in flight in one direction.
pub(crate) struct Queue {
    pub(crate) waiting: VecDeque<Packet>,
    /// Buffers to fill next: no allocation on the way.
    spare: Vec<Packet>,
    capacity: usize,
    /// Ports that fill this queue.
    pub(crate) writers: usize,
    /// The end that empties this queue was dropped.
    pub(crate) reader_gone: bool,
}

impl Queue {
    pub(crate) fn new(capacity: usize) -> Queue {
        let capacity = capacity.max(1);
        Queue { waiting: VecDeque::with_capacity(capacity), spare: Vec::new(), capacity, writers: 0, reader_gone: false }
    }

    /// Copies packets in, from the front, as many as fit; tells how many were taken and how many of them were too long.
    pub(crate) fn push(&mut self, packets: &[Packet]) -> (usize, u64) {
        let mut too_long = 0;
        let count = packets.len().min(self.capacity - self.waiting.len());
        for packet in &packets[..count] {
            // A packet in memory may exceed MAX_PACKET only if its owner broke the contract: count it, do not panic.
            if packet.len() > MAX_PACKET {
                too_long += 1;
                continue;
            }
            let mut slot = self.spare.pop().unwrap_or_else(|| Packet::empty(packet.len()));
            slot.set(packet.data());
            self.waiting.push_back(slot);
        }
        (count, too_long)
    }
}

/// A port between two queues.
pub(crate) fn port(name: String, incoming: &Arc<Mutex<Queue>>, outgoing: &Arc<Mutex<Queue>>) -> MemoryPort {
    lock(outgoing).writers += 1;
    MemoryPort { name, incoming: incoming.clone(), outgoing: outgoing.clone(), receives: true, drops: DeviceDrops::default() }
}

/// A lock whose holder panicked still guards a consistent queue: every change under it is one push or pop.
pub(crate) fn lock(queue: &Mutex<Queue>) -> MutexGuard<'_, Queue> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Port for MemoryPort {
    fn name(&self) -> &str {
        &self.name
    }

    fn receive(&mut self, packets: &mut [Packet]) -> Result<usize, PortError> {
        let mut queue = lock(&self.incoming);
        let count = packets.len().min(queue.waiting.len());
        for packet in &mut packets[..count] {
            let Some(arrived) = queue.waiting.pop_front() else { break };
            let port = packet.port;
            queue.spare.push(std::mem::replace(packet, arrived));
            packet.port = port;
        }
        Ok(count)
    }

    fn transmit(&mut self, packets: &[Packet]) -> Result<usize, PortError> {
        let mut queue = lock(&self.outgoing);
        if queue.reader_gone {
            // Like a cable pulled out: taken and lost, so that the sender does not spin.
            self.drops.tx_invalid += packets.len() as u64;
            return Ok(packets.len());
        }
        let (count, too_long) = queue.push(packets);
        self.drops.tx_invalid += too_long;
        Ok(count)
    }

    fn flush(&mut self) -> Result<(), PortError> {
        Ok(())
    }

    fn max_frame(&self) -> usize {
        MAX_PACKET
    }

    fn device_drops(&mut self) -> DeviceDrops {
        self.drops
    }

    /// The other end is closed and all it sent was received.
    fn finished(&self) -> bool {
        let queue = lock(&self.incoming);
        queue.writers == 0 && queue.waiting.is_empty()
    }

    fn transmitter(&self) -> Result<Option<Box<dyn Port>>, PortError> {
        lock(&self.outgoing).writers += 1;
        let (incoming, outgoing) = (self.incoming.clone(), self.outgoing.clone());
        let port = MemoryPort { name: self.name.clone(), incoming, outgoing, receives: false, drops: DeviceDrops::default() };
        Ok(Some(Box::new(TransmitOnly(port))))
    }

    fn waiting(&self) -> Option<usize> {
        Some(lock(&self.incoming).waiting.len())
    }
}

impl Drop for MemoryPort {
    fn drop(&mut self) {
        lock(&self.outgoing).writers -= 1;
        if !self.receives {
            return;
        }
        let mut incoming = lock(&self.incoming);
        incoming.reader_gone = true;
        incoming.waiting.clear();
    }
}

/// Receives the same frames again and again, as fast as it is polled; counts and forgets what is transmitted.
/// For benches: no queue, no lock, one copy a packet.
pub struct LoopPort {
    name: String,
    frames: Vec<Box<[u8]>>,
    next: usize,
    remaining: u64,
    transmitted: u64,
}

impl LoopPort {
    /// Delivers `frames` in turn, `limit` packets in all (`None`: without end).
    ///
    /// # Errors
    /// [`PortError::Config`] if there is no frame, or one exceeds [`MAX_PACKET`].
    pub fn new(name: &str, frames: &[Vec<u8>], limit: Option<u64>) -> Result<LoopPort, PortError> {
        if frames.is_empty() {
            return Err(PortError::Config(format!("{name}: a loop port needs at least one frame")));
        }
        if let Some(i) = frames.iter().position(|frame| frame.len() > MAX_PACKET) {
            let len = frames[i].len();
            return Err(PortError::Config(format!("{name}: frame {} has {len} bytes, more than {MAX_PACKET}", i + 1)));
        }
        Ok(LoopPort {
            name: format!("{name} (loop)"),
            frames: frames.iter().map(|frame| frame.clone().into_boxed_slice()).collect(),
            next: 0,
            remaining: limit.unwrap_or(u64::MAX),
            transmitted: 0,
        })
    }

    /// Packets transmitted so far.
    pub fn transmitted(&self) -> u64 {
        self.transmitted
    }
}

impl Port for LoopPort {
    fn name(&self) -> &str {
        &self.name
    }

    fn receive(&mut self, packets: &mut [Packet]) -> Result<usize, PortError> {
        let count = packets.len().min(usize::try_from(self.remaining).unwrap_or(usize::MAX));
        for packet in &mut packets[..count] {
            packet.set(&self.frames[self.next]);
            self.next = if self.next + 1 == self.frames.len() { 0 } else { self.next + 1 };
        }
        if self.remaining != u64::MAX {
            self.remaining -= count as u64;
        }
        Ok(count)
    }

    fn transmit(&mut self, packets: &[Packet]) -> Result<usize, PortError> {
        self.transmitted += packets.len() as u64;
        Ok(packets.len())
    }

    fn flush(&mut self) -> Result<(), PortError> {
        Ok(())
    }

    fn max_frame(&self) -> usize {
        MAX_PACKET
    }

    fn device_drops(&mut self) -> DeviceDrops {
        DeviceDrops::default()
    }

    fn finished(&self) -> bool {
        self.remaining == 0
    }

    /// One that counts and forgets by itself.
    fn transmitter(&self) -> Result<Option<Box<dyn Port>>, PortError> {
        let port = LoopPort { name: self.name.clone(), frames: Vec::new(), next: 0, remaining: 0, transmitted: 0 };
        Ok(Some(Box::new(TransmitOnly(port))))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::{HEADROOM, PortId};

    fn packets(n: usize) -> Vec<Packet> {
        (0..n)
            .map(|i| {
                let mut p = Packet::empty(0);
                p.port = PortId(i as u16 + 100);
                p
            })
            .collect()
    }

    #[test]
    fn packets_cross_in_order_and_keep_the_receivers_port() {
        let (mut a, mut b) = pair("a", "b", 8);
        let sent: Vec<Packet> = (0..5u8).map(|i| Packet::new(&[i; 20], PortId(7))).collect();
        assert_eq!(a.transmit(&sent).unwrap(), 5);
        let mut got = packets(8);
        assert_eq!(b.receive(&mut got).unwrap(), 5);
        for (i, packet) in got[..5].iter().enumerate() {
            assert_eq!((packet.data(), packet.headroom(), packet.port), (&[i as u8; 20][..], HEADROOM, PortId(i as u16 + 100)));
        }
        assert_eq!(b.receive(&mut got).unwrap(), 0);
        assert_eq!(a.receive(&mut got).unwrap(), 0, "what a sent does not come back to a");
    }

    #[test]
    fn a_full_queue_takes_only_what_fits() {
        let (mut a, mut b) = pair("a", "b", 3);
        let sent: Vec<Packet> = (0..5u8).map(|i| Packet::new(&[i], PortId(0))).collect();
        assert_eq!(a.transmit(&sent).unwrap(), 3);
        assert_eq!(a.transmit(&sent[3..]).unwrap(), 0);
        let mut got = packets(2);
        assert_eq!(b.receive(&mut got).unwrap(), 2);
        assert_eq!(a.transmit(&sent[3..]).unwrap(), 2);
        let mut got = packets(8);
        assert_eq!(b.receive(&mut got).unwrap(), 3);
        assert_eq!(got[..3].iter().map(|p| p.data()[0]).collect::<Vec<_>>(), [2, 3, 4]);
    }

    #[test]
    fn long_packets_pass_and_dropping_an_end_finishes_the_other() {
        let (mut a, mut b) = pair("a", "b", 4);
        let long = [Packet::new(&[9; MAX_PACKET], PortId(0))];
        assert_eq!(a.transmit(&long).unwrap(), 1);
        assert!(!b.finished());
        drop(a);
        assert!(!b.finished(), "one packet is still to be received");
        let mut got = packets(1);
        assert_eq!(b.receive(&mut got).unwrap(), 1);
        assert_eq!(got[0].data(), long[0].data());
        assert!(b.finished());
        assert_eq!(b.transmit(&long).unwrap(), 1);
        assert_eq!(b.device_drops().tx_invalid, 1);
    }

    #[test]
    fn two_threads_lose_nothing() {
        let (mut a, mut b) = pair("a", "b", 64);
        let sender = std::thread::spawn(move || {
            let mut next = 0u32;
            while next < 20_000 {
                let burst: Vec<Packet> = (next..(next + 32).min(20_000)).map(|i| Packet::new(&i.to_be_bytes(), PortId(0))).collect();
                let taken = a.transmit(&burst).unwrap();
                next += taken as u32;
                if taken == 0 {
                    std::thread::yield_now();
                }
            }
        });
        let (mut got, mut expected) = (packets(32), 0u32);
        while !b.finished() {
            let n = b.receive(&mut got).unwrap();
            for packet in &got[..n] {
                assert_eq!(packet.data(), expected.to_be_bytes());
                expected += 1;
            }
        }
        sender.join().unwrap();
        assert_eq!(expected, 20_000);
    }

    #[test]
    fn a_loop_repeats_and_ends() {
        let mut port = LoopPort::new("src", &[vec![1; 60], vec![2; 70]], Some(5)).unwrap();
        let mut got = packets(3);
        assert_eq!(port.receive(&mut got).unwrap(), 3);
        assert_eq!(got.iter().map(|p| p.len()).collect::<Vec<_>>(), [60, 70, 60]);
        assert_eq!(port.receive(&mut got).unwrap(), 2);
        assert!(port.finished());
        assert_eq!(port.receive(&mut got).unwrap(), 0);
        assert_eq!(port.transmit(&got).unwrap(), 3);
        assert_eq!(port.transmitted(), 3);
        assert!(LoopPort::new("src", &[], None).is_err());
        assert!(LoopPort::new("src", &[vec![0; MAX_PACKET + 1]], None).is_err());
    }
}
