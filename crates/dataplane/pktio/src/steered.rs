//! An in-process device with several receive queues that steers by itself: the testable twin of a NIC with an indirection table.
//!
//! [`device`] gives the queues, one for each worker, and the far end, whose packets are put into the queues by hash and table.
//! What all queues transmit arrives at the far end, in the order in which it was transmitted.

use std::sync::{Arc, Mutex, PoisonError};

use base::{Packet, PortId};

use crate::memory::{MemoryPort, Queue, lock, port};
use crate::{DeviceDrops, Port, PortError, Steering};

/// Hash of a frame that came in by a port: equal for all packets of one flow, and spread over all its bits.
pub type SteerFn = fn(&[u8], PortId) -> u32;

/// Most buckets of a device.
const MAX_BUCKETS: usize = 1 << 12;

/// Opens a device of `queues` receive queues of `capacity` packets each, numbered `id` in the data plane, which steers
/// `buckets` values of `hash`. Bucket `b` begins at queue `b % queues`.
///
/// # Errors
/// [`PortError::Config`] if there is no queue, or if `buckets` is not a power of two up to 4096.
pub fn device(
    name: &str,
    id: PortId,
    queues: usize,
    buckets: usize,
    capacity: usize,
    hash: SteerFn,
) -> Result<(Vec<SteeredPort>, SteeredFar), PortError> {
    if queues == 0 || queues > buckets {
        return Err(PortError::Config(format!("{name}: {queues} queues for {buckets} buckets")));
    }
    if !buckets.is_power_of_two() || buckets > MAX_BUCKETS {
        return Err(PortError::Config(format!("{name}: {buckets} buckets are not a power of two up to {MAX_BUCKETS}")));
    }
    let rings: Vec<Arc<Mutex<Queue>>> = (0..queues).map(|_| Arc::new(Mutex::new(Queue::new(capacity)))).collect();
    let out = Arc::new(Mutex::new(Queue::new(capacity * queues)));
    let table = Arc::new(Table { queues, queue_of: Mutex::new((0..buckets).map(|b| (b % queues) as u16).collect()) });
    let near = rings.iter().enumerate().map(|(queue, ring)| {
        lock(ring).writers += 1;
        SteeredPort { port: port(format!("{name} queue {queue} (memory)"), ring, &out), queue: queue as u16, table: table.clone() }
    });
    let near = near.collect();
    let nothing = Arc::new(Mutex::new(Queue::new(1)));
    Ok((near, SteeredFar { out: port(format!("{name} far end (memory)"), &out, &nothing), id, rings, table, hash }))
}

/// The indirection table. Its lock is held while a packet is put into a queue, so that an assignment is between two packets.
struct Table {
    queues: usize,
    queue_of: Mutex<Vec<u16>>,
}

impl Steering for Table {
    fn buckets(&self) -> usize {
        self.queue_of.lock().unwrap_or_else(PoisonError::into_inner).len()
    }

    fn queues(&self) -> usize {
        self.queues
    }

    fn assign(&self, moves: &[(u16, u16)]) -> Result<(), PortError> {
        let mut table = self.queue_of.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((bucket, queue)) = moves.iter().find(|(b, q)| usize::from(*b) >= table.len() || usize::from(*q) >= self.queues) {
            return Err(PortError::Config(format!("there is no bucket {bucket} or no queue {queue}")));
        }
        moves.iter().for_each(|(bucket, queue)| table[usize::from(*bucket)] = *queue);
        Ok(())
    }

    /// An assignment is between two packets.
    fn settle(&self) -> Result<(), PortError> {
        Ok(())
    }
}

/// One receive queue, for one worker.
pub struct SteeredPort {
    port: MemoryPort,
    queue: u16,
    table: Arc<Table>,
}

impl Port for SteeredPort {
    fn name(&self) -> &str {
        self.port.name()
    }

    fn receive(&mut self, packets: &mut [Packet]) -> Result<usize, PortError> {
        self.port.receive(packets)
    }

    fn transmit(&mut self, packets: &[Packet]) -> Result<usize, PortError> {
        self.port.transmit(packets)
    }

    fn flush(&mut self) -> Result<(), PortError> {
        self.port.flush()
    }

    fn max_frame(&self) -> usize {
        self.port.max_frame()
    }

    fn device_drops(&mut self) -> DeviceDrops {
        self.port.device_drops()
    }

    fn finished(&self) -> bool {
        self.port.finished()
    }

    fn waiting(&self) -> Option<usize> {
        self.port.waiting()
    }

    fn steering(&self) -> Option<(u16, Arc<dyn Steering>)> {
        Some((self.queue, self.table.clone()))
    }
}

/// The other end of the device's cable.
pub struct SteeredFar {
    out: MemoryPort,
    id: PortId,
    rings: Vec<Arc<Mutex<Queue>>>,
    table: Arc<Table>,
    hash: SteerFn,
}

impl Port for SteeredFar {
    fn name(&self) -> &str {
        self.out.name()
    }

    fn receive(&mut self, packets: &mut [Packet]) -> Result<usize, PortError> {
        self.out.receive(packets)
    }

    /// Stops at the first packet whose queue is full: nothing is overtaken.
    fn transmit(&mut self, packets: &[Packet]) -> Result<usize, PortError> {
        let table = self.table.queue_of.lock().unwrap_or_else(PoisonError::into_inner);
        for (i, packet) in packets.iter().enumerate() {
            let bucket = (self.hash)(packet.data(), self.id) as usize & (table.len() - 1);
            let mut ring = lock(&self.rings[usize::from(table[bucket])]);
            if !ring.reader_gone && ring.push(std::slice::from_ref(packet)).0 == 0 {
                return Ok(i);
            }
        }
        Ok(packets.len())
    }

    fn flush(&mut self) -> Result<(), PortError> {
        Ok(())
    }

    fn max_frame(&self) -> usize {
        self.out.max_frame()
    }

    fn device_drops(&mut self) -> DeviceDrops {
        self.out.device_drops()
    }

    fn finished(&self) -> bool {
        self.out.finished()
    }
}

impl Drop for SteeredFar {
    fn drop(&mut self) {
        self.rings.iter().for_each(|ring| lock(ring).writers -= 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn first_byte(frame: &[u8], _: PortId) -> u32 {
        frame[0].into()
    }

    fn numbers(port: &mut dyn Port) -> Vec<u8> {
        let mut got: Vec<Packet> = (0..16).map(|_| Packet::empty(0)).collect();
        let n = port.receive(&mut got).unwrap();
        got[..n].iter().map(|p| p.data()[0]).collect()
    }

    #[test]
    fn packets_go_to_the_queue_of_their_bucket_and_all_queues_send() {
        let (mut near, mut far) = device("dev", PortId(3), 2, 4, 8, first_byte).unwrap();
        let packets: Vec<Packet> = (0..8u8).map(|n| Packet::new(&[n; 20], PortId(0))).collect();
        assert_eq!(far.transmit(&packets).unwrap(), 8);
        assert_eq!(near[1].waiting(), Some(4));
        assert_eq!((numbers(&mut near[0]), numbers(&mut near[1])), (vec![0, 2, 4, 6], vec![1, 3, 5, 7]));
        let (queue, steering) = near[1].steering().unwrap();
        assert_eq!((queue, steering.buckets(), steering.queues()), (1, 4, 2));
        steering.assign(&[(0, 1), (1, 0)]).unwrap();
        assert!(steering.assign(&[(2, 1), (4, 0)]).is_err() && steering.assign(&[(2, 1), (3, 2)]).is_err(), "all or nothing");
        assert_eq!(far.transmit(&packets).unwrap(), 8);
        assert_eq!((numbers(&mut near[0]), numbers(&mut near[1])), (vec![1, 2, 5, 6], vec![0, 3, 4, 7]));
        assert_eq!(near[1].transmit(&packets[..2]).unwrap() + near[0].transmit(&packets[2..3]).unwrap(), 3);
        assert_eq!(numbers(&mut far), [0, 1, 2]);
        drop(far);
        assert!(near[0].finished());
    }

    #[test]
    fn a_full_queue_stops_the_sender_where_it_is() {
        let (mut near, mut far) = device("dev", PortId(3), 2, 2, 2, first_byte).unwrap();
        let packets: Vec<Packet> = [0, 1, 0, 0, 1].iter().map(|n| Packet::new(&[*n], PortId(0))).collect();
        assert_eq!(far.transmit(&packets).unwrap(), 3);
        assert_eq!(numbers(&mut near[0]), [0, 0]);
        assert_eq!(far.transmit(&packets[3..]).unwrap(), 2);
        assert!(device("dev", PortId(3), 2, 3, 2, first_byte).is_err() && device("dev", PortId(3), 0, 4, 2, first_byte).is_err());
    }
}
