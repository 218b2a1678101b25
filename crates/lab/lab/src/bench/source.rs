//! A port whose packets go to sessions drawn at random from millions, at the cost of a copy and four stores a packet.
//!
//! Frames made beforehand would be too many: 15 million sessions of 104 bytes go through the caches more often than the tables that
//! are to be measured. So one frame is copied, and address or TEID and the checksum are patched in, from a list of numbers that is
//! read in order.

use super::sessions::{self, Direction};
use base::{MAX_PACKET, Packet};
use pktio::{DeviceDrops, Port, PortError};
use std::sync::Arc;

/// Where a number goes, in a frame of a direction.
#[derive(Clone, Copy)]
struct Patch {
    /// The UE's address.
    ue: usize,
    /// Checksum of the header that it is in.
    checksum: usize,
    /// The TEID.
    teid: Option<usize>,
}

/// Frames of a direction, one for each number of the list, for ever.
pub struct SessionPort {
    template: Vec<u8>,
    patch: Patch,
    /// One's complement sum of the user's IPv4 header without checksum and UE address.
    sum: u32,
    numbers: Arc<[u32]>,
    next: usize,
}

impl SessionPort {
    /// Begins at `start` of the list, which must not be empty; numbers are sessions.
    pub fn new(direction: Direction, numbers: Arc<[u32]>, start: usize) -> SessionPort {
        let template = sessions::frame(direction, 0);
        let ip = sessions::user_offset(direction);
        let (ue, teid) = match direction {
            Direction::Downlink => (ip + 16, None),
            Direction::Uplink => (ip + 12, Some(ip - 12)),
        };
        let patch = Patch { ue, checksum: ip + 10, teid };
        let mut header = template[ip..ip + 20].to_vec();
        header[10..12].fill(0);
        header[ue - ip..ue - ip + 4].fill(0);
        let sum = header.chunks_exact(2).map(|c| u32::from(u16::from_be_bytes([c[0], c[1]]))).sum();
        let next = start % numbers.len();
        SessionPort { template, patch, sum, numbers, next }
    }

    /// The frame of a session, into `packet`.
    #[inline]
    fn fill(&self, packet: &mut Packet, n: u32) {
        packet.set(&self.template);
        let frame = packet.data_mut();
        let ue = sessions::ue(n);
        let sum = self.sum + (ue >> 16) + (ue & 0xffff);
        let sum = (sum >> 16) + (sum & 0xffff);
        let sum = !((sum >> 16) + sum) as u16;
        frame[self.patch.ue..self.patch.ue + 4].copy_from_slice(&ue.to_be_bytes());
        frame[self.patch.checksum..self.patch.checksum + 2].copy_from_slice(&sum.to_be_bytes());
        if let Some(teid) = self.patch.teid {
            frame[teid..teid + 4].copy_from_slice(&sessions::teid(n).to_be_bytes());
        }
    }
}

impl Port for SessionPort {
    fn name(&self) -> &str {
        "sessions (memory)"
    }

    fn receive(&mut self, packets: &mut [Packet]) -> Result<usize, PortError> {
        for packet in packets.iter_mut() {
            self.fill(packet, self.numbers[self.next]);
            self.next += 1;
            if self.next == self.numbers.len() {
                self.next = 0;
            }
        }
        Ok(packets.len())
    }

    fn transmit(&mut self, packets: &[Packet]) -> Result<usize, PortError> {
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
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::PortId;

    #[test]
    fn a_patched_frame_is_the_frame_of_its_session() {
        let numbers: Arc<[u32]> = (0..2000u32).map(|i| i.wrapping_mul(0x9e37_79b9) % 15_000_000).chain([0, 0xffff, 0x7f_ffff]).collect();
        for direction in [Direction::Downlink, Direction::Uplink] {
            let mut port = SessionPort::new(direction, numbers.clone(), 0);
            for n in numbers.iter() {
                let mut packet = [Packet::new(&[], PortId(0))];
                assert_eq!(port.receive(&mut packet).unwrap(), 1);
                assert_eq!(packet[0].data(), sessions::frame(direction, *n), "{direction} {n}");
            }
        }
    }
}
