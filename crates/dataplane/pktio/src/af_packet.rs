//! A raw socket on one interface (packet(7)): works with any driver, needs CAP_NET_RAW only.
//!
//! A local sender (the far end of a veth, a virtual machine) may leave checksums unfinished and hand over packets of up to 64 KiB,
//! for its "device" to cut. The socket asks for the virtio header that tells so; checksums are finished and packets cut here,
//! so that what is delivered is what a wire would have carried. VLAN tags that the kernel took out are put back.
//!
//! The kernel's own stack sees the packets too: give the interface no address of its own, or the kernel answers for it
//! (ICMP port unreachable towards the sender, for one).

use std::collections::VecDeque;
use std::io;
use std::os::fd::RawFd;

use base::{HEADROOM, MAX_PACKET, Packet};

use crate::segment::{self, Gso};
use crate::sys::net::index_exists;
use crate::sys::packet_socket::{Arrival, BURST, PacketSocket};
use crate::{DeviceDrops, Interface, Port, PortError, TransmitOnly, checksum};

/// How to open an [`AfPacket`] port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Receive frames for other hosts' MAC addresses too.
    pub promiscuous: bool,
    /// Kernel's receive and send buffers, in bytes each.
    pub buffer_bytes: usize,
}

impl Default for Options {
    fn default() -> Options {
        Options { promiscuous: false, buffer_bytes: 8 << 20 }
    }
}

/// See the file's top.
pub struct AfPacket {
    name: String,
    interface: Interface,
    options: Options,
    socket: PacketSocket,
    /// Frames cut out of oversized packets, and what came after them: delivered first, in order.
    pending: VecDeque<Vec<u8>>,
    drops: DeviceDrops,
    link: Link,
}

/// What we last heard of the interface.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
enum Link {
    Up,
    /// Down, or being removed: checked again at each idle receive.
    Down,
    Removed,
}

impl AfPacket {
    /// Opens `interface` as the port that the configuration calls `label` (`lan`).
    ///
    /// # Errors
    /// [`PortError::Config`] for a missing or downed interface, [`PortError::Permission`] without CAP_NET_RAW.
    pub fn open(label: &str, interface: &str, options: Options) -> Result<AfPacket, PortError> {
        let interface = Interface::find(label, interface)?.require_up()?;
        let socket =
            PacketSocket::open(interface.index, options.promiscuous, options.buffer_bytes).map_err(|(what, e)| match e.kind() {
                io::ErrorKind::PermissionDenied => {
                    PortError::Permission(format!("af_packet on `{}` needs CAP_NET_RAW: run as root or grant it", interface.name))
                }
                _ => PortError::io(format!("af_packet on `{}`: {what}", interface.name), e),
            })?;
        let name = format!("{label} (af_packet {})", interface.name);
        Ok(AfPacket { name, interface, options, socket, pending: VecDeque::new(), drops: DeviceDrops::default(), link: Link::Up })
    }

    /// The interface as it was when opened.
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    /// Delivers what an earlier burst left over.
    fn receive_pending(&mut self, packets: &mut [Packet]) -> usize {
        let count = packets.len().min(self.pending.len());
        for (packet, frame) in packets.iter_mut().zip(self.pending.drain(..count)) {
            packet.set(&frame);
        }
        count
    }

    /// Turns what arrived in slot `i` into a frame in `packets[at]` (or behind the pending ones); returns whether the place is taken.
    fn deliver(&mut self, packets: &mut [Packet], i: usize, at: usize) -> bool {
        const GSO_TCPV4: u8 = 1;
        const GSO_TCPV6: u8 = 4;
        const GSO_UDP: u8 = 5;
        const GSO_ECN: u8 = 0x80;
        let arrival = self.socket.arrival(i);
        if arrival.truncated {
            self.drops.rx_invalid += 1;
            return false;
        }
        let gso = match arrival.gso.0 & !GSO_ECN {
            0 => return self.deliver_one(packets, i, at, &arrival),
            GSO_TCPV4 | GSO_TCPV6 => Some(Gso::Tcp),
            GSO_UDP => Some(Gso::Udp),
            _ => None,
        };
        let whole = joined(&mut packets[i], arrival.length, self.socket.spill(i, arrival.length));
        let cut = match (gso, arrival.checksum) {
            (Some(gso), Some((layer4, _))) => segment::split(&whole, gso, layer4, arrival.gso.1),
            _ => None,
        };
        let Some(frames) = cut else {
            self.drops.rx_invalid += 1;
            return false;
        };
        for mut frame in frames {
            if let Some(tag) = arrival.vlan {
                insert_tag(&mut frame, tag);
            }
            if frame.len() > MAX_PACKET {
                self.drops.rx_invalid += 1;
            } else {
                self.pending.push_back(frame);
            }
        }
        // The place goes to the first frame that waits, unless frames of an earlier slot wait already.
        false
    }

    fn deliver_one(&mut self, packets: &mut [Packet], i: usize, at: usize, arrival: &Arrival) -> bool {
        let tag_len = if arrival.vlan.is_some() { 4 } else { 0 };
        if arrival.length + tag_len > MAX_PACKET {
            self.drops.rx_invalid += 1;
            return false;
        }
        let fits = packets[i].buffer_mut().0.len() >= HEADROOM + arrival.length;
        if !fits || arrival.vlan.is_some() {
            let mut whole = joined(&mut packets[i], arrival.length, self.socket.spill(i, arrival.length));
            if let Some((start, offset)) = arrival.checksum {
                checksum::complete(&mut whole, start, offset);
            }
            if let Some(tag) = arrival.vlan {
                insert_tag(&mut whole, tag);
            }
            packets[i].set(&whole);
        } else {
            packets[i].set_window(HEADROOM, arrival.length);
            if let Some((start, offset)) = arrival.checksum {
                checksum::complete(packets[i].data_mut(), start, offset);
            }
        }
        if !self.pending.is_empty() {
            self.pending.push_back(packets[i].data().to_vec());
            return false;
        }
        if i != at {
            swap_buffers(packets, i, at);
        }
        true
    }

    /// The interface reported down or gone: which of the two?
    fn ask_link(&mut self) -> Result<(), PortError> {
        if !index_exists(self.interface.index) {
            self.link = Link::Removed;
            return Err(self.removed());
        }
        if self.link == Link::Up {
            tracing::warn!(port = %self.name, "interface is down");
            self.link = Link::Down;
        }
        Ok(())
    }

    fn removed(&self) -> PortError {
        PortError::io(
            format!("{}: interface `{}` was removed while in use", self.name, self.interface.name),
            io::Error::from_raw_os_error(libc::ENXIO),
        )
    }
}

impl Port for AfPacket {
    fn name(&self) -> &str {
        &self.name
    }

    fn receive(&mut self, packets: &mut [Packet]) -> Result<usize, PortError> {
        if packets.is_empty() {
            return Ok(0);
        }
        if !self.pending.is_empty() {
            return Ok(self.receive_pending(packets));
        }
        let burst = packets.len().min(BURST);
        let packets = &mut packets[..burst];
        let arrived = match self.socket.receive(packets) {
            Ok(arrived) => arrived,
            Err(e) => {
                return match (e.raw_os_error(), e.kind()) {
                    (_, io::ErrorKind::WouldBlock) if self.link == Link::Up => Ok(0),
                    (_, io::ErrorKind::WouldBlock) | (Some(libc::ENETDOWN), _) => self.ask_link().map(|()| 0),
                    (_, io::ErrorKind::Interrupted) => Ok(0),
                    // The kernel could not describe the packet's offloads (a tunnel's, say) and dropped it.
                    (Some(libc::EINVAL), _) => {
                        self.drops.rx_invalid += 1;
                        Ok(0)
                    }
                    (Some(libc::ENXIO | libc::ENODEV), _) => Err(self.removed()),
                    _ => Err(PortError::io(format!("{}: receive", self.name), e)),
                };
            }
        };
        if self.link == Link::Down {
            tracing::info!(port = %self.name, "interface is up again");
            self.link = Link::Up;
        }
        let mut count = 0;
        for i in 0..arrived {
            if self.deliver(packets, i, count) {
                count += 1;
            }
        }
        if !self.pending.is_empty() {
            count += self.receive_pending(&mut packets[count..]);
        }
        Ok(count)
    }

    fn transmit(&mut self, packets: &[Packet]) -> Result<usize, PortError> {
        let mut sent = 0;
        while sent < packets.len() {
            match self.socket.transmit(&packets[sent..]) {
                Ok(n) => sent += n,
                Err(e) => match (e.raw_os_error(), e.kind()) {
                    (_, io::ErrorKind::WouldBlock) => break,
                    (_, io::ErrorKind::Interrupted) => {}
                    // Too long or too short for the interface, or refused by its queue: lost, and the next one has its own chance.
                    (Some(libc::EMSGSIZE | libc::EINVAL | libc::ENOBUFS), _) => {
                        self.drops.tx_invalid += 1;
                        sent += 1;
                    }
                    (Some(libc::ENETDOWN), _) => {
                        self.ask_link()?;
                        self.drops.tx_invalid += (packets.len() - sent) as u64;
                        return Ok(packets.len());
                    }
                    (Some(libc::ENXIO | libc::ENODEV), _) => {
                        self.link = Link::Removed;
                        return Err(self.removed());
                    }
                    _ => return Err(PortError::io(format!("{}: transmit", self.name), e)),
                },
            }
        }
        Ok(sent)
    }

    /// A socket of its own, whose receive queue is never read and so need not be kept.
    fn transmitter(&self) -> Result<Option<Box<dyn Port>>, PortError> {
        let label = self.name.split(" (").next().unwrap_or_default();
        let options = Options { buffer_bytes: 4096, ..Options::default() };
        Ok(Some(Box::new(TransmitOnly(AfPacket::open(label, &self.interface.name, options)?))))
    }

    fn reopen(&self) -> Option<Result<Box<dyn Port>, PortError>> {
        let label = self.name.split(" (").next().unwrap_or_default();
        Some(AfPacket::open(label, &self.interface.name, self.options).map(|port| Box::new(port) as Box<dyn Port>))
    }

    fn flush(&mut self) -> Result<(), PortError> {
        Ok(())
    }

    fn max_frame(&self) -> usize {
        self.interface.max_frame().min(MAX_PACKET)
    }

    fn device_drops(&mut self) -> DeviceDrops {
        if let Ok(new) = self.socket.drops() {
            self.drops.rx_full += new;
        }
        self.drops
    }

    fn fd(&self) -> Option<RawFd> {
        Some(self.socket.raw_fd())
    }
}

/// The whole of a packet of which the buffer holds the front and `spill` the rest.
fn joined(packet: &mut Packet, length: usize, spill: &[u8]) -> Vec<u8> {
    let front = &packet.buffer_mut().0[HEADROOM..];
    let front = &front[..front.len().min(length)];
    [front, spill].concat()
}

/// Puts a VLAN tag behind the MAC addresses (IEEE 802.1Q).
fn insert_tag(frame: &mut Vec<u8>, [tpid, tci]: [u16; 2]) {
    if frame.len() >= 12 {
        let ([a, b], [c, d]) = (tpid.to_be_bytes(), tci.to_be_bytes());
        frame.splice(12..12, [a, b, c, d]);
    }
}

/// Moves a packet to an earlier place without copying; each place keeps its port.
pub(crate) fn swap_buffers(packets: &mut [Packet], a: usize, b: usize) {
    packets.swap(a, b);
    let port = packets[a].port;
    packets[a].port = packets[b].port;
    packets[b].port = port;
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::PortId;

    #[test]
    fn a_tag_goes_behind_the_addresses() {
        let mut frame: Vec<u8> = (0..20).collect();
        insert_tag(&mut frame, [0x88a8, 0x0123]);
        assert_eq!(frame[..12], (0..12).collect::<Vec<u8>>());
        assert_eq!(frame[12..16], [0x88, 0xa8, 0x01, 0x23]);
        assert_eq!(frame[16..], (12..20).collect::<Vec<u8>>());
        let mut short = vec![1; 11];
        insert_tag(&mut short, [0x8100, 1]);
        assert_eq!(short.len(), 11);
    }

    #[test]
    fn swapping_keeps_ports_in_place() {
        let mut packets = [Packet::new(&[1], PortId(1)), Packet::new(&[2, 2], PortId(2))];
        swap_buffers(&mut packets, 0, 1);
        assert_eq!((packets[0].data(), packets[0].port), (&[2u8, 2][..], PortId(1)));
        assert_eq!((packets[1].data(), packets[1].port), (&[1u8][..], PortId(2)));
    }

    #[test]
    fn errors_name_the_interface_and_the_setting() {
        let error = AfPacket::open("wan", "no-such-if0", Options::default()).err().unwrap();
        assert_eq!(error.to_string(), "no interface `no-such-if0`: create it or change ports.wan.interface");
    }
}
