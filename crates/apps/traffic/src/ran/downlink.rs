//! From the UPF to the UEs' devices, and what else comes to the GTP-U socket (TS 29.281 §7).

use std::io::{ErrorKind, IoSliceMut};
use std::net::{IpAddr, SocketAddr, SocketAddrV4};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use nix::errno::Errno;
use nix::sys::socket::{MsgFlags, MultiHeaders, SockaddrIn, recvmmsg};
use wire::gtpu::{self, Message, SessionContainer};
use wire::{ipv4, ipv6};

use super::ue::{DropReason, Link, Ue};
use super::{BURST, MAX_PACKET, NodeCounters, Shared, lock, read, write};
use crate::record::Tunnel;
use crate::router::advertised_prefix;

/// Longest datagram that is received whole: a user packet and its headers.
const MAX_DATAGRAM: usize = MAX_PACKET + 64;

/// The thread that reads the GTP-U socket.
pub(super) fn run(shared: &Shared) {
    let mut slots: Vec<Box<[u8]>> = (0..BURST).map(|_| vec![0; MAX_DATAGRAM].into_boxed_slice()).collect();
    let mut headers = MultiHeaders::<SockaddrIn>::preallocate(BURST, None);
    let mut received: Vec<(usize, SocketAddrV4)> = Vec::with_capacity(BURST);
    while !shared.stopping.load(Ordering::Relaxed) {
        received.clear();
        {
            let mut slices: Vec<[IoSliceMut<'_>; 1]> = slots.iter_mut().map(|slot| [IoSliceMut::new(slot)]).collect();
            // The first is waited for, at most as long as the socket's timeout.
            match recvmmsg(shared.socket.as_raw_fd(), &mut headers, slices.iter_mut(), MsgFlags::MSG_WAITFORONE, None) {
                Ok(messages) => received.extend(messages.map(|message| {
                    let from = message.address.map_or(SocketAddrV4::new([0, 0, 0, 0].into(), 0), |a| SocketAddrV4::new(a.ip(), a.port()));
                    // Longer than a slot: cut, and so malformed.
                    (message.bytes, from)
                })),
                Err(Errno::EAGAIN | Errno::EINTR) => {}
                Err(error) => {
                    tracing::debug!(%error, "GTP-U socket");
                    std::thread::sleep(Duration::from_millis(1));
                }
            }
        }
        for ((length, from), slot) in received.iter().zip(&slots) {
            shared.datagram(&slot[..(*length).min(slot.len())], *from);
        }
    }
}

impl Shared {
    /// One datagram. It is counted when all else about it is.
    pub(super) fn datagram(&self, octets: &[u8], from: SocketAddrV4) {
        self.handle(octets, from);
        NodeCounters::count(&self.node.datagrams);
    }

    fn handle(&self, octets: &[u8], from: SocketAddrV4) {
        let repr = gtpu::Packet::new_checked(octets).and_then(|packet| gtpu::Repr::parse(&packet));
        let Ok(repr) = repr else { return NodeCounters::count(&self.node.malformed) };
        match repr.message {
            Message::GPdu { payload } => match self.owner(repr.teid) {
                Some(ue) => deliver(&ue, repr.session_container, payload, self.check_containers),
                None => {
                    NodeCounters::count(&self.node.unknown_teid);
                    self.refuse(repr.teid, from);
                }
            },
            Message::EndMarker => match self.owner(repr.teid) {
                Some(ue) => {
                    NodeCounters::count(&ue.end_markers);
                    // The path left is empty now (TS 29.281 §5.4.3); the path in use stays.
                    if ue.session().downlink.teid != repr.teid {
                        write(&self.teids).remove(&repr.teid);
                    }
                }
                None => NodeCounters::count(&self.node.unknown_teid),
            },
            Message::EchoRequest => {
                NodeCounters::count(&self.node.echo_requests);
                let mut out = Vec::new();
                gtpu::Repr::new(0, repr.sequence, Message::EchoResponse).emit(&mut out);
                let _ = self.socket.send_to(&out, SocketAddr::V4(from));
            }
            Message::EchoResponse => {
                NodeCounters::count(&self.node.echo_responses);
                let (state, answered) = &self.echoes;
                let mut state = lock(state);
                if let Some(waiting) = repr.sequence.and_then(|sequence| state.waiting.get_mut(&sequence)) {
                    *waiting = Some(IpAddr::V4(*from.ip()));
                    answered.notify_all();
                }
            }
            Message::ErrorIndication { teid, peer } => self.error_indication(teid, peer),
            Message::SupportedExtensionHeaders { .. } | Message::Other { .. } => NodeCounters::count(&self.node.other),
        }
    }

    fn owner(&self, teid: u32) -> Option<Arc<Ue>> {
        read(&self.teids).get(&teid).cloned()
    }

    /// Error Indication (§7.3.1): to the sender's GTP-U port, whatever port it sent from.
    fn refuse(&self, teid: u32, from: SocketAddrV4) {
        let mut out = Vec::new();
        let peer = IpAddr::V4(*self.local.ip());
        gtpu::Repr::new(0, Some(0), Message::ErrorIndication { teid, peer }).emit(&mut out);
        let _ = self.socket.send_to(&out, (*from.ip(), gtpu::PORT));
    }

    /// The UPF does not know a tunnel: the counter of the UEs that use it.
    fn error_indication(&self, teid: u32, peer: IpAddr) {
        let IpAddr::V4(addr) = peer else { return NodeCounters::count(&self.node.error_indications) };
        let ues = read(&self.ues);
        let mut concerned = ues.values().filter(|ue| ue.session().uplink == Tunnel { addr, teid }).peekable();
        if concerned.peek().is_none() {
            NodeCounters::count(&self.node.error_indications);
        }
        concerned.for_each(|ue| NodeCounters::count(&ue.error_indications));
    }
}

/// Gives a user packet to its UE, if it is in order.
fn deliver(ue: &Ue, container: Option<SessionContainer>, payload: &[u8], check_containers: bool) {
    match destination(payload) {
        None => return ue.dropped(DropReason::Malformed, payload.len()),
        Some((IpAddr::V6(to), ipv6::ICMPV6)) if !ue.session().owns(IpAddr::V6(to)) => {
            // Neighbour discovery is the UE's own affair, not its user's.
            if let Some(prefix) = advertised_prefix(payload) {
                return ue.advertised(prefix);
            }
            return ue.dropped(DropReason::WrongDestination, payload.len());
        }
        Some((to, _)) if !ue.session().owns(to) => return ue.dropped(DropReason::WrongDestination, payload.len()),
        Some(_) => {}
    }
    if check_containers {
        let wrong = match container {
            Some(SessionContainer::Uplink { .. }) => Some(DropReason::UplinkContainer),
            Some(SessionContainer::Downlink { qfi, .. }) => (!ue.session().expects_qfi(Some(qfi))).then_some(DropReason::WrongQfi),
            None => (!ue.session().expects_qfi(None)).then_some(DropReason::NoContainer),
        };
        if let Some(reason) = wrong {
            return ue.dropped(reason, payload.len());
        }
    }
    let taken = match &ue.link {
        Link::Memory(queue) => queue.push(payload).then_some(()).ok_or(DropReason::QueueFull),
        Link::Device(device) => loop {
            match device.send(payload) {
                Ok(()) => break Ok(()),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => {
                    tracing::debug!(%error, device = device.name, "writing a device");
                    break Err(DropReason::DeviceRefused);
                }
            }
        },
    };
    match taken {
        Ok(()) => ue.downlink.add(payload.len()),
        Err(reason) => ue.dropped(reason, payload.len()),
    }
}

/// Destination and protocol of a whole IP packet that is nothing but itself.
fn destination(payload: &[u8]) -> Option<(IpAddr, u8)> {
    match payload.first()? >> 4 {
        4 => {
            let packet = ipv4::Packet::new_checked(payload).ok()?;
            (packet.bytes().len() == payload.len()).then(|| (packet.dst().into(), packet.protocol()))
        }
        6 => {
            let packet = ipv6::Packet::new_checked(payload).ok()?;
            (packet.bytes().len() == payload.len()).then(|| (packet.dst().into(), packet.next_header()))
        }
        _ => None,
    }
}
