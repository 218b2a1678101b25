//! From the UPF to the UEs' devices, and what else comes to the GTP-U socket (TS 29.281 §7).

use std::net::{IpAddr, SocketAddr, SocketAddrV4};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use base::Packet;
use pktio::{Port, UdpPort, udp};
use wire::gtpu::{self, Message, SessionContainer};
use wire::{ipv4, ipv6};

use super::ue::{DropReason, Link, Ue};
use super::{BURST, ETHERNET, NodeCounters, Shared, TICK, lock, read, write};
use crate::record::Tunnel;
use crate::router::advertised_prefix;

/// The thread that reads the GTP-U socket.
pub(super) fn run(shared: &Shared, mut port: UdpPort) {
    let mut packets = super::burst();
    while !shared.stopping.load(Ordering::Relaxed) {
        match port.receive(&mut packets) {
            Ok(0) => {
                let _ = pktio::wait(&port.fd().into_iter().collect::<Vec<_>>(), TICK);
            }
            Ok(n) => shared.datagrams(&mut packets[..n]),
            Err(error) => {
                tracing::debug!(%error, "GTP-U socket");
                std::thread::sleep(Duration::from_millis(1));
            }
        }
    }
}

impl Shared {
    /// Datagrams, as frames. They are counted when all else about them is.
    pub(super) fn datagrams(&self, packets: &mut [Packet]) {
        // Packets of one UE that follow one another go to its device together.
        let mut run: Option<(Arc<Ue>, usize)> = None;
        for i in 0..packets.len() {
            let user = self.handle(&packets[i]);
            if let Some((ue, first)) = run.take_if(|(ue, _)| user.as_ref().is_none_or(|(next, _)| next.number != ue.number)) {
                ue.take(&packets[first..i]);
            }
            if let Some((ue, at)) = user {
                let (start, length) = (packets[i].headroom() + at - ETHERNET, packets[i].len() - at);
                packets[i].set_window(start, ETHERNET + length);
                let ethertype = if packets[i].data()[ETHERNET] >> 4 == 4 { [0x08, 0x00] } else { [0x86, 0xdd] };
                packets[i].data_mut()[12..ETHERNET].copy_from_slice(&ethertype);
                run.get_or_insert((ue, i));
            }
        }
        if let Some((ue, first)) = run {
            ue.take(&packets[first..]);
        }
        self.node.datagrams.fetch_add(packets.len() as u64, Ordering::Relaxed);
    }

    /// One datagram. Of a user packet that is in order: whose it is, and where in the frame it begins, to whose end it goes.
    fn handle(&self, frame: &Packet) -> Option<(Arc<Ue>, usize)> {
        let parsed = udp::received(frame.data()).and_then(|(from, octets)| {
            let packet = gtpu::Packet::new_checked(octets).ok()?;
            Some((from, gtpu::Repr::parse(&packet).ok()?))
        });
        let Some((from, repr)) = parsed else {
            NodeCounters::count(&self.node.malformed);
            return None;
        };
        if let Message::GPdu { payload } = repr.message {
            let Some(ue) = self.owner(repr.teid) else {
                NodeCounters::count(&self.node.unknown_teid);
                self.refuse(repr.teid, from);
                return None;
            };
            return match accept(&ue, repr.session_container, payload, self.check_containers) {
                Ok(true) => {
                    let at = payload.as_ptr() as usize - frame.data().as_ptr() as usize;
                    Some((ue, at))
                }
                Ok(false) => None,
                Err(reason) => {
                    ue.dropped(reason, payload.len());
                    None
                }
            };
        }
        self.signalling(repr, from);
        None
    }

    fn signalling(&self, repr: gtpu::Repr<'_>, from: SocketAddrV4) {
        match repr.message {
            Message::GPdu { .. } => {}
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

/// Whether a user packet is one for the UE's device, and not the UE's own affair; why it is not in order.
fn accept(ue: &Ue, container: Option<SessionContainer>, payload: &[u8], check_containers: bool) -> Result<bool, DropReason> {
    let (to, protocol) = destination(payload).ok_or(DropReason::Malformed)?;
    let session = ue.session();
    if !session.owns(to) {
        // Neighbour discovery is not its user's.
        let prefix = if to.is_ipv6() && protocol == ipv6::ICMPV6 { advertised_prefix(payload) } else { None };
        return match prefix {
            Some(prefix) => {
                ue.advertised(prefix);
                Ok(false)
            }
            None => Err(DropReason::WrongDestination),
        };
    }
    if check_containers {
        match container {
            Some(SessionContainer::Uplink { .. }) => return Err(DropReason::UplinkContainer),
            Some(SessionContainer::Downlink { qfi, .. }) if !session.expects_qfi(Some(qfi)) => return Err(DropReason::WrongQfi),
            None if !session.expects_qfi(None) => return Err(DropReason::NoContainer),
            _ => {}
        }
    }
    Ok(true)
}

impl Ue {
    /// Takes user packets, behind Ethernet headers, that are in order.
    fn take(&self, packets: &[Packet]) {
        match &self.link {
            Link::Memory(queue) => {
                for packet in packets {
                    let user = &packet.data()[ETHERNET..];
                    if queue.push(user) {
                        self.downlink.add(user.len());
                    } else {
                        self.dropped(DropReason::QueueFull, user.len());
                    }
                }
            }
            Link::Device(device) => {
                let of = |packet: &Packet| packet.len() - ETHERNET;
                let mut refused = [false; BURST];
                device.send(packets, |at| refused[at] = true);
                let (mut taken, mut bytes) = (0, 0);
                for (packet, refused) in packets.iter().zip(refused) {
                    if refused {
                        self.dropped(DropReason::DeviceRefused, of(packet));
                    } else {
                        (taken, bytes) = (taken + 1, bytes + of(packet));
                    }
                }
                self.downlink.add_many(taken, bytes);
            }
        }
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
