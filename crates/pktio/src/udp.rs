//! A UDP socket as a port: GTP-U towards the SMF (N4-U) without a raw interface of its own.
//!
//! A datagram that arrives becomes an Ethernet frame with IPv4 and UDP headers as the wire would have shown it (TTL 64, UDP
//! checksum zero: absent, RFC 768). A frame that is transmitted loses those headers; its payload goes to the destination address and
//! port written in them, from the socket's own address. IPv4 only.
//!
//! There is no link layer behind a socket, so the port answers ARP requests itself: every neighbour has the peer's MAC address.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::os::fd::{AsRawFd, RawFd};

use base::{MAX_PACKET, Packet};
use socket2::{Domain, Protocol, Socket, Type};

use crate::{DeviceDrops, Port, PortError, checksum};

/// Ethernet 14, IPv4 20, UDP 8.
const HEADERS: usize = 42;
/// Receive and send buffers asked of the kernel, in bytes; it may give less.
const SOCKET_BUFFER: usize = 4 << 20;

/// Ethernet 14, ARP for IPv4 28 (RFC 826).
const ARP_FRAME: usize = 42;
/// ARP replies that wait at most; a request beyond is refused like any frame that cannot be sent.
const ARP_REPLIES: usize = 64;

/// See the file's top.
pub struct UdpPort {
    name: String,
    socket: UdpSocket,
    local: SocketAddrV4,
    mac: [u8; 6],
    peer_mac: [u8; 6],
    /// A datagram is received behind room for its headers. One byte more than fits a packet tells that it was too long.
    scratch: Box<[u8; MAX_PACKET + 1]>,
    identification: u16,
    /// ARP replies that wait to be received.
    arp_replies: VecDeque<[u8; ARP_FRAME]>,
    drops: DeviceDrops,
}

impl UdpPort {
    /// Binds `local`, e.g. `192.0.2.1:2152`; port 0 takes a free one.
    /// `label` is the port's name in the configuration, e.g. `n4u`.
    ///
    /// # Errors
    /// [`PortError::Config`] for a wildcard address (the destination of what arrives would be unknown), an address that is not
    /// this host's or is taken; [`PortError::Permission`] for a port below 1024 without CAP_NET_BIND_SERVICE.
    pub fn bind(label: &str, local: SocketAddrV4) -> Result<UdpPort, PortError> {
        if local.ip().is_unspecified() {
            return Err(PortError::Config(format!("ports.{label}: bind {local} to one address of this host, not to 0.0.0.0")));
        }
        let what = || format!("{label} (udp {local})");
        let socket = Socket::new(Domain::IPV4, Type::DGRAM, Some(Protocol::UDP)).map_err(|e| PortError::io(what(), e))?;
        socket.bind(&SocketAddr::V4(local).into()).map_err(|e| match e.kind() {
            ErrorKind::AddrNotAvailable => {
                PortError::Config(format!("{local} is not an address of this host: add it or change ports.{label}"))
            }
            ErrorKind::AddrInUse => {
                PortError::Config(format!("{local} is taken by another socket: stop its owner or change ports.{label}"))
            }
            ErrorKind::PermissionDenied => PortError::Permission(format!("binding {local} for {label} needs CAP_NET_BIND_SERVICE")),
            _ => PortError::io(what(), e),
        })?;
        socket.set_nonblocking(true).map_err(|e| PortError::io(what(), e))?;
        // Smaller buffers cost packets under load, not correctness.
        let _ = socket.set_recv_buffer_size(SOCKET_BUFFER);
        let _ = socket.set_send_buffer_size(SOCKET_BUFFER);
        let socket: UdpSocket = socket.into();
        let local = match socket.local_addr() {
            Ok(SocketAddr::V4(address)) => address,
            Ok(other) => return Err(PortError::Config(format!("{label}: {other} is not IPv4"))),
            Err(e) => return Err(PortError::io(what(), e)),
        };
        Ok(UdpPort {
            name: format!("{label} (udp {local})"),
            socket,
            local,
            mac: [2, 0, 0, 0, 0, 1],
            peer_mac: [2, 0, 0, 0, 0, 2],
            scratch: Box::new([0; MAX_PACKET + 1]),
            identification: 0,
            arp_replies: VecDeque::new(),
            drops: DeviceDrops::default(),
        })
    }

    /// Another port on the same socket: for a second worker to send by.
    ///
    /// # Errors
    /// [`PortError::Io`] if the process may open no more files.
    pub fn try_clone(&self) -> Result<UdpPort, PortError> {
        let socket = self.socket.try_clone().map_err(|e| PortError::io(self.name.clone(), e))?;
        Ok(UdpPort {
            name: self.name.clone(),
            socket,
            local: self.local,
            mac: self.mac,
            peer_mac: self.peer_mac,
            scratch: Box::new([0; MAX_PACKET + 1]),
            identification: 0,
            arp_replies: VecDeque::new(),
            drops: DeviceDrops::default(),
        })
    }

    /// Address and port in use.
    pub fn local(&self) -> SocketAddrV4 {
        self.local
    }

    /// MAC addresses of synthesised frames: ours as destination, the peer's as source. Locally administered ones by default
    /// (02:00:00:00:00:01 and :02).
    pub fn set_macs(&mut self, mac: [u8; 6], peer_mac: [u8; 6]) {
        (self.mac, self.peer_mac) = (mac, peer_mac);
    }

    /// Writes the headers in front of the datagram of `length` bytes that lies behind them in `scratch`.
    fn write_headers(&mut self, from: SocketAddrV4, length: usize) {
        let frame = &mut self.scratch[..HEADERS];
        frame[..6].copy_from_slice(&self.mac);
        frame[6..12].copy_from_slice(&self.peer_mac);
        frame[12..14].copy_from_slice(&[0x08, 0x00]);
        let (ip, udp) = frame[14..].split_at_mut(20);
        ip.copy_from_slice(&[0x45, 0, 0, 0, 0, 0, 0, 0, 64, 17, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        ip[2..4].copy_from_slice(&((28 + length) as u16).to_be_bytes());
        ip[4..6].copy_from_slice(&self.identification.to_be_bytes());
        ip[12..16].copy_from_slice(&from.ip().octets());
        ip[16..20].copy_from_slice(&self.local.ip().octets());
        let sum = checksum::internet(ip);
        ip[10..12].copy_from_slice(&sum.to_be_bytes());
        udp[..2].copy_from_slice(&from.port().to_be_bytes());
        udp[2..4].copy_from_slice(&self.local.port().to_be_bytes());
        udp[4..6].copy_from_slice(&((8 + length) as u16).to_be_bytes());
        udp[6..8].fill(0);
        self.identification = self.identification.wrapping_add(1);
    }
}

impl Port for UdpPort {
    fn name(&self) -> &str {
        &self.name
    }

    fn receive(&mut self, packets: &mut [Packet]) -> Result<usize, PortError> {
        let mut count = 0;
        while count < packets.len()
            && let Some(reply) = self.arp_replies.pop_front()
        {
            packets[count].set(&reply);
            count += 1;
        }
        // Datagrams that are refused do not take a slot: bound the work of one call all the same.
        let room = packets.len() - count;
        for _ in 0..room {
            let (length, from) = match self.socket.recv_from(&mut self.scratch[HEADERS..]) {
                Ok(got) => got,
                Err(e) if e.kind() == ErrorKind::WouldBlock => break,
                // An ICMP error about something we sent earlier, or a signal: nothing was lost.
                Err(e) if matches!(e.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionRefused) => continue,
                Err(e) => return Err(PortError::io(format!("{}: receive", self.name), e)),
            };
            let SocketAddr::V4(from) = from else { continue };
            if HEADERS + length > MAX_PACKET {
                self.drops.rx_invalid += 1;
                continue;
            }
            self.write_headers(from, length);
            packets[count].set(&self.scratch[..HEADERS + length]);
            count += 1;
        }
        Ok(count)
    }

    fn transmit(&mut self, packets: &[Packet]) -> Result<usize, PortError> {
        for (i, packet) in packets.iter().enumerate() {
            let Some((to, payload)) = datagram(packet.data()) else {
                match arp_reply(packet.data(), self.peer_mac).filter(|_| self.arp_replies.len() < ARP_REPLIES) {
                    Some(reply) => self.arp_replies.push_back(reply),
                    None => self.drops.tx_invalid += 1,
                }
                continue;
            };
            match self.socket.send_to(payload, to) {
                Ok(_) => {}
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(i),
                // No route, too long for a path whose MTU is known, refused by a firewall: this packet's fate, not the port's.
                Err(e) => {
                    tracing::debug!(port = %self.name, %to, error = %e, "datagram refused");
                    self.drops.tx_invalid += 1;
                }
            }
        }
        Ok(packets.len())
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

    fn fd(&self) -> Option<RawFd> {
        Some(self.socket.as_raw_fd())
    }
}

/// The reply of the neighbour that an ARP request asks for (RFC 826); `None` for anything else.
fn arp_reply(frame: &[u8], mac: [u8; 6]) -> Option<[u8; ARP_FRAME]> {
    const REQUEST: [u8; 10] = [0x08, 0x06, 0, 1, 0x08, 0, 6, 4, 0, 1];
    let request: &[u8; ARP_FRAME] = frame.first_chunk()?;
    if request[12..22] != REQUEST {
        return None;
    }
    let mut reply = *request;
    let (sender, target) = (&request[22..32], &request[38..42]);
    reply[..6].copy_from_slice(&sender[..6]);
    reply[6..12].copy_from_slice(&mac);
    reply[21] = 2;
    reply[22..28].copy_from_slice(&mac);
    reply[28..32].copy_from_slice(target);
    reply[32..42].copy_from_slice(sender);
    Some(reply)
}

/// Destination and payload of an Ethernet frame that holds one whole IPv4 UDP datagram; `None` for anything else.
fn datagram(frame: &[u8]) -> Option<(SocketAddrV4, &[u8])> {
    let ip = frame.get(14..)?;
    if frame[12..14] != [0x08, 0x00] || ip.len() < 20 || ip[0] >> 4 != 4 || ip[9] != 17 {
        return None;
    }
    let header_len = usize::from(ip[0] & 0x0f) * 4;
    let total = usize::from(u16::from_be_bytes([ip[2], ip[3]]));
    let fragment = u16::from_be_bytes([ip[6], ip[7]]) & 0x3fff;
    if header_len < 20 || fragment != 0 || total < header_len + 8 {
        return None;
    }
    let udp = ip.get(header_len..total)?;
    let length = usize::from(u16::from_be_bytes([udp[4], udp[5]]));
    let payload = udp.get(8..length)?;
    let address = Ipv4Addr::new(ip[16], ip[17], ip[18], ip[19]);
    Some((SocketAddrV4::new(address, u16::from_be_bytes([udp[2], udp[3]])), payload))
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::PortId;
    use std::time::Duration;

    fn loopback(port: u16) -> SocketAddrV4 {
        SocketAddrV4::new(Ipv4Addr::LOCALHOST, port)
    }

    fn receive_one(port: &mut UdpPort) -> Packet {
        let mut packets = [Packet::empty(0), Packet::empty(0)];
        for _ in 0..100 {
            crate::wait(&[port.fd().unwrap()], Duration::from_millis(20)).unwrap();
            let n = port.receive(&mut packets).unwrap();
            if n > 0 {
                assert_eq!(n, 1);
                let [first, _] = packets;
                return first;
            }
        }
        panic!("nothing arrived");
    }

    #[test]
    fn arp_requests_are_answered_for_every_neighbour() {
        let mut port = UdpPort::bind("n4u", loopback(0)).unwrap();
        let mut request = vec![0xff; 6];
        request.extend([2, 0, 0, 0, 0, 1, 8, 6, 0, 1, 8, 0, 6, 4, 0, 1]);
        request.extend([2, 0, 0, 0, 0, 1, 127, 0, 0, 1]);
        request.extend([0, 0, 0, 0, 0, 0, 127, 0, 0, 9]);
        assert_eq!(port.transmit(&[Packet::new(&request, PortId(0))]).unwrap(), 1);
        let mut packets = [Packet::empty(0)];
        assert_eq!(port.receive(&mut packets).unwrap(), 1);
        let reply = packets[0].data();
        assert_eq!(reply[..12], [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2]);
        assert_eq!(reply[20..42], [0, 2, 2, 0, 0, 0, 0, 2, 127, 0, 0, 9, 2, 0, 0, 0, 0, 1, 127, 0, 0, 1]);
        request[21] = 2;
        port.transmit(&[Packet::new(&request, PortId(0)), Packet::new(&[0; 20], PortId(0))]).unwrap();
        assert_eq!(port.device_drops().tx_invalid, 2, "a reply and a stump are not answered");
    }

    #[test]
    fn datagrams_become_frames_and_frames_datagrams() {
        let mut port = UdpPort::bind("n4u", loopback(0)).unwrap();
        let peer = UdpSocket::bind(loopback(0)).unwrap();
        let SocketAddr::V4(peer_address) = peer.local_addr().unwrap() else { panic!() };
        peer.send_to(b"echo request", port.local()).unwrap();
        let packet = receive_one(&mut port);
        let frame = packet.data();
        assert_eq!(frame[..14], [2, 0, 0, 0, 0, 1, 2, 0, 0, 0, 0, 2, 8, 0]);
        assert_eq!(checksum::internet(&frame[14..34]), 0);
        assert_eq!(frame[26..34], [127, 0, 0, 1, 127, 0, 0, 1]);
        assert_eq!(frame[34..36], peer_address.port().to_be_bytes());
        assert_eq!(frame[36..38], port.local().port().to_be_bytes());
        assert_eq!(frame[38..42], [0, 20, 0, 0]);
        assert_eq!(&frame[42..], b"echo request");

        // The same frame with the ports swapped goes back to the peer; Ethernet padding is not payload.
        let mut answer = frame.to_vec();
        answer[34..36].copy_from_slice(&port.local().port().to_be_bytes());
        answer[36..38].copy_from_slice(&peer_address.port().to_be_bytes());
        answer.extend([0; 6]);
        assert_eq!(port.transmit(&[Packet::new(&answer, PortId(0))]).unwrap(), 1);
        peer.set_read_timeout(Some(Duration::from_secs(5))).unwrap();
        let mut buffer = [0; 100];
        let (n, from) = peer.recv_from(&mut buffer).unwrap();
        assert_eq!((&buffer[..n], from), (&b"echo request"[..], SocketAddr::V4(port.local())));
        assert_eq!(port.device_drops(), DeviceDrops::default());
    }

    #[test]
    fn long_datagrams_and_odd_frames_are_counted() {
        let mut port = UdpPort::bind("n4u", loopback(0)).unwrap();
        let peer = UdpSocket::bind(loopback(0)).unwrap();
        peer.send_to(&[1; MAX_PACKET - HEADERS + 1], port.local()).unwrap();
        peer.send_to(&[1; 60_000], port.local()).unwrap();
        peer.send_to(&[2; MAX_PACKET - HEADERS], port.local()).unwrap();
        let packet = loop {
            let mut packets = [Packet::empty(0), Packet::empty(0), Packet::empty(0)];
            crate::wait(&[port.fd().unwrap()], Duration::from_millis(20)).unwrap();
            if port.receive(&mut packets).unwrap() == 1 {
                let [first, ..] = packets;
                break first;
            }
        };
        assert_eq!(packet.len(), MAX_PACKET);
        assert_eq!(port.device_drops().rx_invalid, 2);

        let good = checksum::tests::udp_frame(&[3; 30], false);
        for len in 0..good.len() {
            assert!(datagram(&good[..len]).is_none(), "{len} bytes");
        }
        assert!(datagram(&good).is_some());
        let refused = [Packet::new(&good[..30], PortId(0)), Packet::new(&[0xff; 64], PortId(0))];
        assert_eq!(port.transmit(&refused).unwrap(), 2);
        assert_eq!(port.device_drops().tx_invalid, 2);
        for at in 14..42 {
            for value in 0..=255 {
                let mut mutated = good.clone();
                mutated[at] = value;
                let _ = datagram(&mutated);
            }
        }
    }

    #[test]
    fn errors_name_address_and_setting() {
        let wildcard = UdpPort::bind("n4u", SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 2152)).err().unwrap();
        assert!(wildcard.to_string().contains("ports.n4u"), "{wildcard}");
        let first = UdpPort::bind("n4u", loopback(0)).unwrap();
        let taken = UdpPort::bind("n4u", first.local()).err().unwrap();
        assert!(taken.to_string().contains("taken"), "{taken}");
        let foreign = UdpPort::bind("n4u", SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 77), 0)).err().unwrap();
        assert!(foreign.to_string().contains("192.0.2.77") && foreign.to_string().contains("ports.n4u"), "{foreign}");
    }
}
