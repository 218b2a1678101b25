//! A raw socket on one interface (packet(7)): works with any driver, needs CAP_NET_RAW only.
//!
//! A local sender (the far end of a veth, a virtual machine) may leave checksums unfinished and hand over super-frames of up to 64 KiB,
//! for its "device" to cut. The socket asks for the virtio header that tells so; checksums are finished and super-frames cut here,
//! so that what is delivered is what a wire would have carried. VLAN tags that the kernel took out are put back.
//!
//! What is sent and follows one another in a flow goes to the kernel as a super-frame again: it, or the device, cuts where the other end is not on this
//! host. So a burst of TCP costs as much as some packets, though the program sees each of them.
//!
//! The kernel's own stack sees the packets too: give the interface no address of its own, or the kernel answers for it
//! (ICMP port unreachable towards the sender, for one).

use std::collections::VecDeque;
use std::io;
use std::os::fd::RawFd;

use base::{HEADROOM, MAX_PACKET, Packet};

use crate::segment::{Cut, Gso};
use crate::sys::net::index_exists;
use crate::sys::packet_socket::{Arrival, BURST, PacketSocket, Refused, Takes};
use crate::{DeviceDrops, Interface, Port, PortError, TransmitOnly, checksum};

/// Frames that are asked for at once where few come, or super-frames: half a megabyte stays in the second-level cache.
const FEW: usize = 8;

/// How to open an [`AfPacket`] port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Options {
    /// Receive frames for other hosts' MAC addresses too.
    pub promiscuous: bool,
    /// Kernel's receive and send buffers, in bytes each.
    pub buffer_bytes: usize,
    /// Whether frames that follow one another in a flow go to the kernel as one.
    pub gso: bool,
}

impl Default for Options {
    fn default() -> Options {
        Options { promiscuous: false, buffer_bytes: 8 << 20, gso: true }
    }
}

/// See the file's top.
pub struct AfPacket {
    name: String,
    interface: Interface,
    options: Options,
    socket: PacketSocket,
    /// Slots of the socket that wait, from a super-frame on, and what arrived in them: delivered first, in order.
    parked: VecDeque<(usize, Arrival)>,
    /// The first of them, if it is being cut.
    cut: Option<Cut>,
    /// Frames that are asked for at once: a few, until more come.
    burst: usize,
    takes: Takes,
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
        let takes = Takes { tcp: options.gso, udp: options.gso };
        let (drops, link) = (DeviceDrops::default(), Link::Up);
        Ok(AfPacket { name, interface, options, socket, parked: VecDeque::new(), cut: None, burst: FEW, takes, drops, link })
    }

    /// The interface as it was when opened.
    pub fn interface(&self) -> &Interface {
        &self.interface
    }

    /// Turns what arrived in slot `i` into a frame in `packets[i]`; returns whether it is one.
    fn deliver_one(&mut self, packet: &mut Packet, i: usize, arrival: &Arrival) -> bool {
        let tag_len = if arrival.vlan.is_some() { 4 } else { 0 };
        if arrival.truncated || arrival.length + tag_len > MAX_PACKET {
            self.drops.rx_invalid += 1;
            return false;
        }
        if packet.buffer_mut().0.len() >= HEADROOM + arrival.length {
            packet.set_window(HEADROOM, arrival.length);
        } else {
            let _ = self.socket.park(i, packet);
            packet.set(self.socket.parked(i, arrival.length));
        }
        finish(packet, arrival);
        true
    }

    /// Delivers what waits in slots behind the first `count` of `packets`, a super-frame cut into frames, as far as there is room; how many are there then.
    fn deliver_parked(&mut self, packets: &mut [Packet], mut count: usize) -> usize {
        while let Some((i, arrival)) = self.parked.front().filter(|_| count < packets.len()) {
            let whole = self.socket.parked(*i, arrival.length);
            if let Some(cut) = &mut self.cut {
                if cut.next_into(whole, &mut packets[count]) {
                    if let Some(tag) = arrival.vlan {
                        insert_tag(&mut packets[count], tag);
                    }
                    count += 1;
                    continue;
                }
                self.cut = None;
            } else if arrival.gso.0 == 0 && arrival.length + 4 <= MAX_PACKET && !arrival.truncated {
                packets[count].set(whole);
                finish(&mut packets[count], arrival);
                count += 1;
            } else {
                match begin_cut(whole, arrival) {
                    // It would be two trains where it was one.
                    Some(cut) if count > 0 && cut.left() > packets.len() - count => return count,
                    Some(cut) if cut.longest(whole) + 4 <= MAX_PACKET => {
                        self.cut = Some(cut);
                        continue;
                    }
                    Some(cut) => self.drops.rx_invalid += cut.left() as u64,
                    None => self.drops.rx_invalid += 1,
                }
            }
            self.parked.pop_front();
        }
        count
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
        if !self.parked.is_empty() {
            return Ok(self.deliver_parked(packets, 0));
        }
        let burst = packets.len().min(self.burst);
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
        self.burst = if arrived < FEW { FEW } else { BURST };
        let mut count = 0;
        for i in 0..arrived {
            let arrival = self.socket.arrival(i);
            if arrival.gso.0 != 0 {
                // Its frames need the places of those behind it.
                self.parked.extend((i..arrived).map(|i| (i, self.socket.park(i, &mut packets[i]))));
                self.burst = FEW;
                return Ok(self.deliver_parked(packets, count));
            }
            if self.deliver_one(&mut packets[i], i, &arrival) {
                if i != count {
                    swap_buffers(packets, i, count);
                }
                count += 1;
            }
        }
        Ok(count)
    }

    fn transmit(&mut self, packets: &[Packet]) -> Result<usize, PortError> {
        let mut sent = 0;
        while sent < packets.len() {
            match self.socket.transmit(&packets[sent..], self.takes) {
                Ok(n) => sent += n,
                Err(Refused { error: e, packets: refused, train }) => match (e.raw_os_error(), e.kind()) {
                    (_, io::ErrorKind::WouldBlock) => break,
                    (_, io::ErrorKind::Interrupted) => {}
                    // An older kernel: UDP is segmented since Linux 6.2.
                    (Some(libc::EINVAL), _) if let Some(gso) = train => {
                        tracing::info!(port = %self.name, "the kernel takes no super-frames of {gso:?}: packets go one by one");
                        match gso {
                            Gso::Tcp => self.takes.tcp = false,
                            Gso::Udp => self.takes.udp = false,
                        }
                    }
                    // Too long or too short for the interface, or refused by its queue: lost, and the next one has its own chance.
                    (Some(libc::EMSGSIZE | libc::EINVAL | libc::ENOBUFS), _) => {
                        self.drops.tx_invalid += refused as u64;
                        sent += refused;
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
        let options = Options { buffer_bytes: 4096, ..self.options };
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

/// Finishes what the sender left to its device.
fn finish(packet: &mut Packet, arrival: &Arrival) {
    if let Some((start, offset)) = arrival.checksum {
        checksum::complete(packet.data_mut(), start, offset);
    }
    if let Some(tag) = arrival.vlan {
        insert_tag(packet, tag);
    }
}

/// How the super-frame `whole` is cut. `None`: it is none, or we cannot.
fn begin_cut(whole: &[u8], arrival: &Arrival) -> Option<Cut> {
    let gso = Gso::of_virtio(arrival.gso.0)?;
    let (layer4, _) = arrival.checksum.filter(|_| !arrival.truncated)?;
    Cut::new(whole, gso, layer4, arrival.gso.1)
}

/// Puts a VLAN tag behind the MAC addresses (IEEE 802.1Q).
fn insert_tag(packet: &mut Packet, [tpid, tci]: [u16; 2]) {
    let len = packet.len();
    if len >= 12 && packet.resize(len + 4) {
        let frame = packet.data_mut();
        frame.copy_within(12..len, 16);
        let ([a, b], [c, d]) = (tpid.to_be_bytes(), tci.to_be_bytes());
        frame[12..16].copy_from_slice(&[a, b, c, d]);
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
        let mut packet = Packet::new(&(0..20).collect::<Vec<u8>>(), PortId(0));
        insert_tag(&mut packet, [0x88a8, 0x0123]);
        let frame = packet.data();
        assert_eq!(frame[..12], (0..12).collect::<Vec<u8>>());
        assert_eq!(frame[12..16], [0x88, 0xa8, 0x01, 0x23]);
        assert_eq!(frame[16..], (12..20).collect::<Vec<u8>>());
        let mut short = Packet::new(&[1; 11], PortId(0));
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
