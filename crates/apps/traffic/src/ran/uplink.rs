//! From the UEs' devices to the UPF: user packets become G-PDUs with the session's tunnel and QoS flow.

use std::io::ErrorKind;
use std::net::SocketAddrV4;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use base::Packet;
use nix::errno::Errno;
use nix::sys::epoll::EpollEvent;
use pktio::UdpPort;
use pktio::udp::{self, HEADERS};
use wire::gtpu::{self, SessionContainer};

use super::ue::{DropReason, Link, Ue};
use super::{BURST, ETHERNET, Shared, TICK, read};
use crate::record::SessionRecord;

/// How long a full socket is left alone.
const FULL: Duration = Duration::from_micros(100);

/// The thread that reads the devices.
pub(super) fn run(shared: &Shared, port: UdpPort) {
    let mut batch = Batch::new(port);
    let mut events = [EpollEvent::empty(); BURST];
    // UEs whose devices have more than they show.
    let mut more: Vec<Arc<Ue>> = Vec::new();
    while !shared.stopping.load(Ordering::Relaxed) {
        let timeout = if more.is_empty() { TICK.as_millis() as u16 } else { 0 };
        let ready = match shared.epoll.wait(&mut events, timeout) {
            Ok(ready) => ready,
            Err(Errno::EINTR) => continue,
            Err(error) => {
                tracing::error!(%error, "epoll: no uplink packets are read any more");
                return;
            }
        };
        let mut turn = std::mem::take(&mut more);
        for event in &events[..ready] {
            let Some(ue) = read(&shared.ues).get(&(event.data() as usize)).cloned() else { continue };
            if turn.iter().all(|other| other.number != ue.number) {
                turn.push(ue);
            }
        }
        for ue in turn {
            if batch.read(&ue) {
                more.push(ue);
            }
        }
        batch.send();
    }
}

/// Datagrams to be sent with one call.
struct Batch {
    port: UdpPort,
    packets: Vec<Packet>,
    /// Whose the first packets are, and how long without headers: those that are to be sent.
    ready: Vec<(Arc<Ue>, usize)>,
    scratch: Vec<u8>,
}

impl Batch {
    fn new(port: UdpPort) -> Batch {
        Batch { port, packets: super::burst(), ready: Vec::with_capacity(BURST), scratch: Vec::new() }
    }

    /// Reads what waits in a UE's device, little more than a burst: the others have their turn. Whether more waits that the device does not show.
    fn read(&mut self, ue: &Arc<Ue>) -> bool {
        let Link::Device(device) = &ue.link else { return false };
        let mut left: usize = BURST;
        while left > 0 {
            // A super-frame's packets go on together.
            if self.ready.len() > BURST / 4 {
                self.send();
            }
            let first = self.ready.len();
            let count = match device.receive(&mut self.packets[first..]) {
                Ok(0) => return device.holds_packets(),
                Ok(count) => count,
                Err(error) => {
                    // The device was set down, or taken away under us: others go on.
                    tracing::debug!(%error, device = device.name, "reading a device");
                    std::thread::sleep(Duration::from_millis(1));
                    return false;
                }
            };
            left = left.saturating_sub(count);
            let session = ue.session();
            for i in first..first + count {
                let length = self.packets[i].len() - ETHERNET;
                if encapsulate(&session, &mut self.packets[i], &mut self.scratch) {
                    self.packets.swap(self.ready.len(), i);
                    self.ready.push((ue.clone(), length));
                } else {
                    ue.dropped(DropReason::NotIp, length);
                }
            }
        }
        device.holds_packets()
    }

    /// Sends everything. A full socket makes us wait, an error costs the packets that it is about.
    fn send(&mut self) {
        let (mut first, mut refused) = (0, [false; BURST]);
        while first < self.ready.len() {
            let sent = self.port.transmit_telling(&self.packets[first..self.ready.len()], |at| refused[first + at] = true);
            if sent == 0 {
                std::thread::sleep(FULL);
            }
            first += sent;
        }
        for ((ue, length), refused) in self.ready.drain(..).zip(refused) {
            if refused {
                ue.dropped(DropReason::SendFailed, length);
            } else {
                ue.uplink.add(length);
            }
        }
    }
}

/// Puts a user packet, behind an Ethernet header, into the session's tunnel. False: GTP-U cannot carry it.
fn encapsulate(session: &SessionRecord, packet: &mut Packet, scratch: &mut Vec<u8>) -> bool {
    let user = packet.len() - ETHERNET;
    let Some(to) = write_header(session, &packet.data()[ETHERNET..], scratch) else { return false };
    let tunnel = HEADERS + scratch.len();
    packet.make_room(tunnel);
    let (buffer, start, _) = packet.buffer_mut();
    let begin = start + ETHERNET - tunnel;
    buffer[begin..begin + HEADERS].copy_from_slice(&udp::headers(to, scratch.len() + user));
    buffer[begin + HEADERS..begin + tunnel].copy_from_slice(scratch);
    packet.set_window(begin, tunnel + user);
    true
}

impl Shared {
    /// Sends one user packet, and counts it or its drop.
    pub(super) fn send_user_packet(&self, ue: &Ue, packet: &[u8]) -> bool {
        let mut datagram = Vec::with_capacity(packet.len() + 16);
        let Some(to) = write_header(&ue.session(), packet, &mut datagram) else {
            ue.dropped(DropReason::NotIp, packet.len());
            return false;
        };
        datagram.extend(packet);
        let sent = self.send(&datagram, to);
        if sent {
            ue.uplink.add(packet.len());
        } else {
            ue.dropped(DropReason::SendFailed, packet.len());
        }
        sent
    }

    /// Sends a packet of the UE's own protocols, not a user packet.
    pub(super) fn send_signalling(&self, ue: &Ue, packet: &[u8]) -> bool {
        let mut datagram = Vec::new();
        let Some(to) = write_header(&ue.session(), packet, &mut datagram) else { return false };
        datagram.extend(packet);
        self.send(&datagram, to)
    }

    /// Sends a datagram, waiting for a full socket.
    fn send(&self, datagram: &[u8], to: SocketAddrV4) -> bool {
        loop {
            match self.socket.send_to(datagram, to) {
                Err(e) if e.kind() == ErrorKind::WouldBlock => std::thread::sleep(FULL),
                sent => return sent.is_ok(),
            }
        }
    }
}

/// Writes the GTP-U header for a user packet; where the datagram goes. `None`: not IP, or too long for GTP-U.
fn write_header(session: &SessionRecord, packet: &[u8], out: &mut Vec<u8>) -> Option<SocketAddrV4> {
    let tos = match *packet {
        [first, second, ..] if first >> 4 == 4 => second,
        [first, second, ..] if first >> 4 == 6 => first << 4 | second >> 4,
        _ => return None,
    };
    out.clear();
    let container = session.qfi_of(tos).map(|qfi| SessionContainer::Uplink { qfi });
    gtpu::Repr::g_pdu(session.uplink.teid, container, &[]).emit(out);
    // The header's Length counts optional fields and payload (§5.1).
    let length = u16::try_from(out.len() - gtpu::HEADER_LEN + packet.len()).ok()?;
    out[2..4].copy_from_slice(&length.to_be_bytes());
    Some(SocketAddrV4::new(session.uplink.addr, gtpu::PORT))
}
