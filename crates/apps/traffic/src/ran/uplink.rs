//! From the UEs' devices to the UPF: user packets become G-PDUs with the session's tunnel and QoS flow.

use std::io::{ErrorKind, IoSlice};
use std::net::SocketAddrV4;
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::epoll::EpollEvent;
use nix::sys::socket::{ControlMessage, MsgFlags, MultiHeaders, SockaddrIn, sendmmsg};
use wire::gtpu::{self, SessionContainer};

use super::ue::{DropReason, Link, Ue};
use super::{BURST, MAX_PACKET, Shared, TICK, read};

/// Room in front of a user packet: GTP-U header, optional fields, PDU session container (TS 29.281 §5.1, TS 38.415 §5.5.2.2).
const HEADROOM: usize = 16;

/// The thread that reads the devices.
pub(super) fn run(shared: &Shared) {
    let mut batch = Batch::new();
    let mut events = [EpollEvent::empty(); BURST];
    while !shared.stopping.load(Ordering::Relaxed) {
        let ready = match shared.epoll.wait(&mut events, TICK.as_millis() as u16) {
            Ok(ready) => ready,
            Err(Errno::EINTR) => continue,
            Err(error) => {
                tracing::error!(%error, "epoll: no uplink packets are read any more");
                return;
            }
        };
        for event in &events[..ready] {
            let Some(ue) = read(&shared.ues).get(&(event.data() as usize)).cloned() else { continue };
            batch.read(shared, &ue);
        }
        batch.send(shared);
    }
}

/// Datagrams to be sent with one call.
struct Batch {
    /// [`HEADROOM`], then a user packet.
    slots: Vec<Box<[u8]>>,
    ready: Vec<Ready>,
    headers: MultiHeaders<SockaddrIn>,
    scratch: Vec<u8>,
}

/// A datagram in the slot of its position.
struct Ready {
    ue: Arc<Ue>,
    start: usize,
    end: usize,
    to: SocketAddrV4,
}

impl Batch {
    fn new() -> Batch {
        Batch {
            slots: (0..BURST).map(|_| vec![0; HEADROOM + MAX_PACKET].into_boxed_slice()).collect(),
            ready: Vec::with_capacity(BURST),
            headers: MultiHeaders::preallocate(BURST, None),
            scratch: Vec::with_capacity(HEADROOM),
        }
    }

    /// Reads what waits in a UE's device, a burst at most: the others have their turn.
    fn read(&mut self, shared: &Shared, ue: &Arc<Ue>) {
        let Link::Device(device) = &ue.link else { return };
        for _ in 0..BURST {
            if self.ready.len() == BURST {
                self.send(shared);
            }
            let slot = &mut self.slots[self.ready.len()];
            match device.receive(&mut slot[HEADROOM..]) {
                Ok(0) => return,
                Ok(length) => {
                    let end = HEADROOM + length;
                    let Some(to) = write_header(ue, &slot[HEADROOM..end], &mut self.scratch) else {
                        ue.dropped(DropReason::NotIp, length);
                        continue;
                    };
                    let start = HEADROOM - self.scratch.len();
                    slot[start..HEADROOM].copy_from_slice(&self.scratch);
                    self.ready.push(Ready { ue: ue.clone(), start, end, to });
                }
                Err(error) if error.kind() == ErrorKind::WouldBlock => return,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    // The device was set down, or taken away under us: others go on.
                    tracing::debug!(%error, device = device.name, "reading a device");
                    std::thread::sleep(Duration::from_millis(1));
                    return;
                }
            }
        }
    }

    /// Sends everything. A full socket makes us wait, an error costs the one packet that it is about.
    fn send(&mut self, shared: &Shared) {
        let mut first = 0;
        while first < self.ready.len() {
            let ready = &self.ready[first..];
            let slots = &self.slots[first..];
            let slices: Vec<[IoSlice<'_>; 1]> =
                ready.iter().zip(slots).map(|(one, slot)| [IoSlice::new(&slot[one.start..one.end])]).collect();
            let addresses: Vec<Option<SockaddrIn>> = ready.iter().map(|one| Some(one.to.into())).collect();
            let none: [ControlMessage<'_>; 0] = [];
            let fd = shared.socket.as_raw_fd();
            let sent = sendmmsg(fd, &mut self.headers, &slices, addresses, none, MsgFlags::empty()).map(|sent| sent.count());
            match sent {
                Ok(count) => {
                    for one in &ready[..count] {
                        one.ue.uplink.add(one.end - HEADROOM);
                    }
                    first += count;
                }
                Err(Errno::EINTR) => {}
                Err(Errno::EAGAIN | Errno::ENOBUFS) => std::thread::sleep(Duration::from_micros(100)),
                Err(error) => {
                    tracing::debug!(%error, to = %ready[0].to, "uplink packet not sent");
                    ready[0].ue.dropped(DropReason::SendFailed, ready[0].end - HEADROOM);
                    first += 1;
                }
            }
        }
        self.ready.clear();
    }
}

impl Shared {
    /// Sends one user packet, and counts it or its drop.
    pub(super) fn send_user_packet(&self, ue: &Ue, packet: &[u8]) -> bool {
        let mut datagram = Vec::with_capacity(HEADROOM + packet.len());
        let Some(to) = write_header(ue, packet, &mut datagram) else {
            ue.dropped(DropReason::NotIp, packet.len());
            return false;
        };
        datagram.extend(packet);
        let sent = self.socket.send_to(&datagram, to).is_ok();
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
        let Some(to) = write_header(ue, packet, &mut datagram) else { return false };
        datagram.extend(packet);
        self.socket.send_to(&datagram, to).is_ok()
    }
}

/// Writes the GTP-U header for a user packet; where the datagram goes. `None`: not IP, or too long for GTP-U.
fn write_header(ue: &Ue, packet: &[u8], out: &mut Vec<u8>) -> Option<SocketAddrV4> {
    let tos = match *packet {
        [first, second, ..] if first >> 4 == 4 => second,
        [first, second, ..] if first >> 4 == 6 => first << 4 | second >> 4,
        _ => return None,
    };
    let session = ue.session();
    out.clear();
    let container = session.qfi_of(tos).map(|qfi| SessionContainer::Uplink { qfi });
    gtpu::Repr::g_pdu(session.uplink.teid, container, &[]).emit(out);
    // The header's Length counts optional fields and payload (§5.1).
    let length = u16::try_from(out.len() - gtpu::HEADER_LEN + packet.len()).ok()?;
    out[2..4].copy_from_slice(&length.to_be_bytes());
    Some(SocketAddrV4::new(session.uplink.addr, gtpu::PORT))
}
