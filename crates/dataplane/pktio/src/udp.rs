//! A UDP socket as a port: datagrams through the kernel's network stack or on loopback, without root.
//!
//! A datagram that arrives becomes an Ethernet frame with IPv4 and UDP headers as the wire would have shown it (TTL and type of service
//! as they came, UDP checksum zero: absent, RFC 768; the kernel has verified it). A frame that is transmitted loses those headers; its payload goes to the
//! destination address and port written in them, with their TTL and type of service, from the socket's own address. IPv4 only.
//! Datagrams of one length that follow one another to one peer go through the kernel together.
//!
//! The kernel does the rest: it resolves neighbours, routes, reassembles fragments, and fragments what exceeds the path
//! MTU. For that DF is clear on the wire, whatever the frame says; a port with a configured MTU refuses longer packets
//! instead. ICMP errors about what was sent are the kernel's too: a peer that is not there costs its own packets and no others'.
//!
//! There is no link layer behind a socket, so the port answers ARP requests itself: every neighbour has the far end's MAC address.

use std::collections::VecDeque;
use std::io::ErrorKind;
use std::net::{Ipv4Addr, SocketAddr, SocketAddrV4, UdpSocket};
use std::os::fd::{AsRawFd, RawFd};

use base::{HEADROOM, MAX_PACKET, Packet};
use socket2::{Domain, Protocol, Socket, Type};

use crate::af_packet::swap_buffers;
use crate::sys::datagrams::{self, Arrival, BURST, Datagrams, Outgoing};
use crate::{DeviceDrops, OUR_MAC, PEER_MAC, Port, PortError, checksum};

/// Ethernet 14, IPv4 20, UDP 8 bytes: what is in front of a datagram in a frame.
pub const HEADERS: usize = 42;
/// Receive and send buffers asked of the kernel, in bytes; it may give less.
const SOCKET_BUFFER: usize = 8 << 20;

/// Messages that are asked for at once where few come, or datagrams that came together: half a megabyte stays in the second-level cache.
const FEW: usize = 8;
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
    max_frame: usize,
    datagrams: Datagrams,
    /// Whether datagrams are sent together.
    together: bool,
    /// Slots that wait, from datagrams that came together on, with what arrived in them, and how much of the first is delivered.
    parked: VecDeque<(usize, Arrival)>,
    delivered: usize,
    /// Messages that are asked for at once: a few, until more come.
    burst: usize,
    identification: u16,
    /// ARP replies that wait to be received.
    arp_replies: VecDeque<[u8; ARP_FRAME]>,
    drops: DeviceDrops,
    /// The kernel's count of what it dropped at the socket, when it was last asked.
    kernel_drops: u32,
}

impl UdpPort {
    /// Binds `local`, e.g. `192.0.2.1:2152`; port 0 takes a free one.
    /// `label` is the port's name in the configuration, e.g. `lan`; `mtu` the longest IP packet that is sent, in bytes, if it is to be
    /// less than the longest that we take.
    ///
    /// # Errors
    /// [`PortError::Config`] for a wildcard address (the destination of what arrives would be unknown), an address that is not
    /// this host's or is taken; [`PortError::Permission`] for a port below 1024 without CAP_NET_BIND_SERVICE.
    pub fn bind(label: &str, local: SocketAddrV4, mtu: Option<u16>) -> Result<UdpPort, PortError> {
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
        UdpPort::on_socket(label, socket.into(), mtu)
    }

    /// On a socket that is bound to an address of this host. The other arguments are those of [`UdpPort::bind`].
    ///
    /// # Errors
    /// [`PortError::Config`] for IPv6, else what the kernel says.
    pub fn on_socket(label: &str, socket: UdpSocket, mtu: Option<u16>) -> Result<UdpPort, PortError> {
        let what = || format!("{label} (udp)");
        socket.set_nonblocking(true).map_err(|e| PortError::io(what(), e))?;
        let together = datagrams::prepare(&socket, SOCKET_BUFFER).map_err(|e| PortError::io(what(), e))?;
        let local = match socket.local_addr() {
            Ok(SocketAddr::V4(address)) => address,
            Ok(other) => return Err(PortError::Config(format!("{label}: {other} is not IPv4"))),
            Err(e) => return Err(PortError::io(what(), e)),
        };
        let max_frame = mtu.map_or(MAX_PACKET, |mtu| (usize::from(mtu) + 14).min(MAX_PACKET));
        Ok(UdpPort::on(format!("{label} (udp {local})"), socket, local, OUR_MAC, max_frame, together))
    }

    fn on(name: String, socket: UdpSocket, local: SocketAddrV4, mac: [u8; 6], max_frame: usize, together: bool) -> UdpPort {
        UdpPort {
            name,
            socket,
            local,
            mac,
            max_frame,
            datagrams: Datagrams::new(),
            together,
            parked: VecDeque::new(),
            delivered: 0,
            burst: FEW,
            identification: 0,
            arp_replies: VecDeque::new(),
            drops: DeviceDrops::default(),
            kernel_drops: 0,
        }
    }

    /// Another port on the same socket: for a second worker to send by.
    ///
    /// # Errors
    /// [`PortError::Io`] if the process may open no more files.
    pub fn try_clone(&self) -> Result<UdpPort, PortError> {
        let socket = self.socket.try_clone().map_err(|e| PortError::io(self.name.clone(), e))?;
        Ok(UdpPort::on(self.name.clone(), socket, self.local, self.mac, self.max_frame, self.together))
    }

    /// The socket: for what is no packet of a port. It never blocks.
    ///
    /// # Errors
    /// [`PortError::Io`] if the process may open no more files.
    pub fn socket(&self) -> Result<UdpSocket, PortError> {
        self.socket.try_clone().map_err(|e| PortError::io(self.name.clone(), e))
    }

    /// Address and port in use.
    pub fn local(&self) -> SocketAddrV4 {
        self.local
    }

    /// Whether datagrams that follow one another to one peer go to the kernel together, where it can; they do unless it is set.
    pub fn set_gso(&mut self, gso: bool) {
        self.together &= gso;
    }

    /// Our MAC address in the frames, [`OUR_MAC`] unless it is set.
    pub fn set_mac(&mut self, mac: [u8; 6]) {
        self.mac = mac;
    }

    /// Writes the headers in front of the datagram that lies behind room for them.
    fn write_headers(&mut self, frame: &mut [u8], arrival: &Arrival) {
        let length = arrival.length;
        frame[..6].copy_from_slice(&self.mac);
        frame[6..12].copy_from_slice(&PEER_MAC);
        frame[12..14].copy_from_slice(&[0x08, 0x00]);
        let (ip, udp) = frame[14..HEADERS].split_at_mut(20);
        ip.copy_from_slice(&[0x45, arrival.tos, 0, 0, 0, 0, 0, 0, arrival.ttl, 17, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]);
        ip[2..4].copy_from_slice(&((28 + length) as u16).to_be_bytes());
        ip[4..6].copy_from_slice(&self.identification.to_be_bytes());
        ip[12..16].copy_from_slice(&arrival.from.ip().octets());
        ip[16..20].copy_from_slice(&self.local.ip().octets());
        let sum = checksum::internet(ip);
        ip[10..12].copy_from_slice(&sum.to_be_bytes());
        udp[..2].copy_from_slice(&arrival.from.port().to_be_bytes());
        udp[2..4].copy_from_slice(&self.local.port().to_be_bytes());
        udp[4..6].copy_from_slice(&((8 + length) as u16).to_be_bytes());
        udp[6..8].fill(0);
        self.identification = self.identification.wrapping_add(1);
    }

    /// Turns what arrived in slot `i` into a frame in `packet`; returns whether it is one.
    fn deliver_one(&mut self, packet: &mut Packet, i: usize, arrival: &Arrival) -> bool {
        let length = HEADERS + arrival.length;
        if arrival.truncated || length > MAX_PACKET {
            self.drops.rx_invalid += 1;
            return false;
        }
        if packet.buffer_mut().0.len() >= HEADROOM + length {
            packet.set_window(HEADROOM, length);
        } else {
            let _ = self.datagrams.park(i, packet, HEADERS);
            packet.set_both(&[0; HEADERS], self.datagrams.parked(i, arrival.length));
        }
        self.write_headers(packet.data_mut(), arrival);
        true
    }

    /// Delivers what waits in slots behind the first `count` of `packets`, as far as there is room; how many are there then.
    fn deliver_parked(&mut self, packets: &mut [Packet], mut count: usize) -> usize {
        let room = packets.len();
        while let (Some(packet), Some((i, arrival))) = (packets.get_mut(count), self.parked.front().copied()) {
            let size = arrival.segment.unwrap_or(arrival.length);
            let waiting = (arrival.length - self.delivered).div_ceil(size.max(1)).max(1);
            if arrival.truncated || HEADERS + size > MAX_PACKET {
                self.drops.rx_invalid += waiting as u64;
                (_, self.delivered) = (self.parked.pop_front(), 0);
                continue;
            }
            if self.delivered == 0 && count > 0 && waiting > room - count {
                // It would be two trains where it was one.
                return count;
            }
            let all = self.datagrams.parked(i, arrival.length);
            let end = all.len().min(self.delivered + size);
            let octets = &all[self.delivered..end];
            packet.set_both(&[0; HEADERS], octets);
            let arrival = Arrival { length: octets.len(), ..arrival };
            if end == all.len() {
                (_, self.delivered) = (self.parked.pop_front(), 0);
            } else {
                self.delivered = end;
            }
            self.write_headers(packet.data_mut(), &arrival);
            count += 1;
        }
        count
    }

    /// What is no datagram: an ARP request is answered, all else is counted.
    fn refuse(&mut self, frame: &[u8]) {
        match arp_reply(frame, PEER_MAC).filter(|_| self.arp_replies.len() < ARP_REPLIES) {
            Some(reply) => self.arp_replies.push_back(reply),
            None => self.drops.tx_invalid += 1,
        }
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
        let packets = &mut packets[count..];
        if packets.is_empty() {
            return Ok(count);
        }
        if !self.parked.is_empty() {
            return Ok(count + self.deliver_parked(packets, 0));
        }
        let most = packets.len().min(self.burst);
        let arrived = match self.datagrams.receive(&self.socket, &mut packets[..most], HEADERS) {
            Ok(arrived) => arrived,
            // A signal, or an error about what was sent: nothing of what arrived is lost.
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted | ErrorKind::ConnectionRefused) => 0,
            Err(e) => return Err(PortError::io(format!("{}: receive", self.name), e)),
        };
        self.burst = if arrived < FEW { FEW } else { BURST };
        let mut good = 0;
        for i in 0..arrived {
            let arrival = self.datagrams.arrival(i);
            if arrival.segment.is_some() {
                // They need the places of those behind them.
                self.parked.extend((i..arrived).map(|i| (i, self.datagrams.park(i, &mut packets[i], HEADERS))));
                self.burst = FEW;
                return Ok(count + self.deliver_parked(packets, good));
            }
            if self.deliver_one(&mut packets[i], i, &arrival) {
                if i != good {
                    swap_buffers(packets, i, good);
                }
                good += 1;
            }
        }
        Ok(count + good)
    }

    fn transmit(&mut self, packets: &[Packet]) -> Result<usize, PortError> {
        Ok(self.transmit_telling(packets, |_| ()))
    }

    fn flush(&mut self) -> Result<(), PortError> {
        Ok(())
    }

    fn max_frame(&self) -> usize {
        self.max_frame
    }

    fn device_drops(&mut self) -> DeviceDrops {
        if let Ok(now) = datagrams::drops(&self.socket) {
            self.drops.rx_full += u64::from(now.wrapping_sub(self.kernel_drops));
            self.kernel_drops = now;
        }
        self.drops
    }

    fn fd(&self) -> Option<RawFd> {
        Some(self.socket.as_raw_fd())
    }
}

impl UdpPort {
    /// As [`Port::transmit`], and tells which packets were refused, by their places: counted, and lost.
    pub fn transmit_telling(&mut self, packets: &[Packet], mut refused: impl FnMut(usize)) -> usize {
        // Up to where datagrams go one by one, because the path does not take them together.
        let (mut sent, mut alone) = (0, 0);
        while sent < packets.len() {
            let together = self.together && sent >= alone;
            let until = if sent < alone { alone } else { packets.len() };
            let run: Vec<Outgoing<'_>> = packets[sent..until].iter().take(BURST).map_while(|p| datagram(p.data())).collect();
            if run.is_empty() {
                self.refuse(packets[sent].data());
                refused(sent);
                sent += 1;
                continue;
            }
            match self.datagrams.send(&self.socket, &run, together) {
                Ok(n) => sent += n,
                Err((e, _)) if e.kind() == ErrorKind::WouldBlock => break,
                // A signal, or an error about an earlier datagram, which the kernel now has reported: this one was not tried.
                Err((e, _)) if matches!(e.kind(), ErrorKind::Interrupted | ErrorKind::ConnectionRefused) => {}
                // Longer than the path takes: the kernel fragments what goes alone, and no segments.
                Err((e, n)) if n > 1 && matches!(e.raw_os_error(), Some(libc::EMSGSIZE | libc::EINVAL | libc::EIO)) => alone = sent + n,
                // No route, too long for any datagram, refused by a firewall: this packet's fate, not the port's.
                Err((e, n)) => {
                    tracing::debug!(port = %self.name, to = %run[0].to, error = %e, "datagram refused");
                    self.drops.tx_invalid += n as u64;
                    (sent..sent + n).for_each(&mut refused);
                    sent += n;
                }
            }
        }
        sent
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

/// Ethernet, IPv4 and UDP headers for a datagram of `length` bytes to `to`, as a port sends it: the addresses of the sender are the port's to fill in.
pub fn headers(to: SocketAddrV4, length: usize) -> [u8; HEADERS] {
    let mut headers = [0; HEADERS];
    headers[..6].copy_from_slice(&PEER_MAC);
    headers[6..12].copy_from_slice(&OUR_MAC);
    headers[12..16].copy_from_slice(&[0x08, 0x00, 0x45, 0]);
    headers[16..18].copy_from_slice(&((28 + length) as u16).to_be_bytes());
    headers[22..24].copy_from_slice(&[64, 17]);
    headers[30..34].copy_from_slice(&to.ip().octets());
    headers[36..38].copy_from_slice(&to.port().to_be_bytes());
    headers[38..40].copy_from_slice(&((8 + length) as u16).to_be_bytes());
    headers
}

/// The sender and the payload of a frame that a port has received. `None` for anything but a datagram.
pub fn received(frame: &[u8]) -> Option<(SocketAddrV4, &[u8])> {
    let payload = datagram(frame)?.payload;
    let address = Ipv4Addr::new(frame[26], frame[27], frame[28], frame[29]);
    Some((SocketAddrV4::new(address, u16::from_be_bytes([frame[34], frame[35]])), payload))
}

/// The datagram of an Ethernet frame that holds one whole IPv4 UDP datagram; `None` for anything else.
fn datagram(frame: &[u8]) -> Option<Outgoing<'_>> {
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
    let to = SocketAddrV4::new(address, u16::from_be_bytes([udp[2], udp[3]]));
    // A TTL of 0 is none that a host may send (RFC 1122 §3.2.1.7), and the kernel's sign for its own choice.
    (ip[8] != 0).then_some(Outgoing { to, ttl: ip[8], tos: ip[1], payload })
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
        let mut port = UdpPort::bind("n4u", loopback(0), None).unwrap();
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

    /// A worker's packet is void when a service has kept it.
    #[test]
    fn a_datagram_is_received_into_a_packet_whose_buffer_was_kept() {
        let mut port = UdpPort::bind("n4u", loopback(0), None).unwrap();
        let peer = UdpSocket::bind(loopback(0)).unwrap();
        for sent in [&b"echo request"[..], b"", &[7; 3000]] {
            peer.send_to(sent, port.local()).unwrap();
            let mut packets = [Packet::void()];
            crate::wait(&[port.fd().unwrap()], Duration::from_secs(20)).unwrap();
            assert_eq!(port.receive(&mut packets).unwrap(), 1);
            assert_eq!(&packets[0].data()[HEADERS..], sent);
            assert_eq!(packets[0].data()[12..15], [8, 0, 0x45]);
        }
    }

    #[test]
    fn datagrams_become_frames_and_frames_datagrams() {
        let mut port = UdpPort::bind("n4u", loopback(0), None).unwrap();
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
        let mut port = UdpPort::bind("n4u", loopback(0), None).unwrap();
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

    fn frame_to(to: SocketAddr, ttl: u8, tos: u8, payload: &[u8]) -> Packet {
        let SocketAddr::V4(to) = to else { panic!("{to}") };
        let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, tos];
        frame.extend(((28 + payload.len()) as u16).to_be_bytes());
        frame.extend([0, 0, 0x40, 0, ttl, 17, 0, 0, 127, 0, 0, 1]);
        frame.extend(to.ip().octets());
        frame.extend([8, 104]);
        frame.extend(to.port().to_be_bytes());
        frame.extend(((8 + payload.len()) as u16).to_be_bytes());
        frame.extend([0, 0]);
        frame.extend(payload);
        Packet::new(&frame, PortId(0))
    }

    #[test]
    fn ttl_and_type_of_service_go_through_both_ways() {
        let (mut a, mut b) = (UdpPort::bind("a", loopback(0), None).unwrap(), UdpPort::bind("b", loopback(0), None).unwrap());
        let to = SocketAddr::V4(b.local());
        for (ttl, tos) in [(64, 0), (64, 0xb8), (7, 0), (255, 0x28)] {
            assert_eq!(a.transmit(&[frame_to(to, ttl, tos, b"x")]).unwrap(), 1);
            let packet = receive_one(&mut b);
            assert_eq!((packet.data()[22], packet.data()[15]), (ttl, tos));
            assert_eq!(checksum::internet(&packet.data()[14..34]), 0);
        }
    }

    #[test]
    fn a_burst_keeps_its_order_around_what_cannot_be_sent() {
        let (mut a, mut b) = (UdpPort::bind("a", loopback(0), None).unwrap(), UdpPort::bind("b", loopback(0), None).unwrap());
        let to = SocketAddr::V4(b.local());
        let unroutable = SocketAddr::from(([255, 255, 255, 255], 2152));
        let mut packets: Vec<Packet> = (0..100u8).map(|n| frame_to(to, 64, n & 4, &[n])).collect();
        packets.insert(70, frame_to(unroutable, 64, 0, b"broadcast"));
        packets.insert(50, Packet::new(&[0xff; 60], PortId(0)));
        packets.insert(0, frame_to(to, 0, 0, b"expired"));
        assert_eq!(a.transmit(&packets).unwrap(), 103);
        assert_eq!(a.device_drops(), DeviceDrops { tx_invalid: 3, ..DeviceDrops::default() });
        let mut seen = Vec::new();
        let mut burst: Vec<Packet> = (0..48).map(|_| Packet::empty(0)).collect();
        while seen.len() < 100 {
            crate::wait(&[b.fd().unwrap()], Duration::from_secs(5)).unwrap();
            let n = b.receive(&mut burst).unwrap();
            assert!(n > 0, "only {} of 100 came", seen.len());
            seen.extend(burst[..n].iter().map(|p| p.data()[42]));
        }
        assert_eq!(seen, (0..100).collect::<Vec<u8>>());
        assert_eq!(b.device_drops(), DeviceDrops::default());
    }

    #[test]
    fn a_peer_that_is_not_there_costs_nobody_elses_packets() {
        let (mut a, mut b) = (UdpPort::bind("a", loopback(0), None).unwrap(), UdpPort::bind("b", loopback(0), None).unwrap());
        let closed = UdpSocket::bind(loopback(0)).unwrap().local_addr().unwrap();
        let there = SocketAddr::V4(b.local());
        for n in 0..20u8 {
            // The kernel tells of the first by an ICMP error before the second is sent.
            assert_eq!(a.transmit(&[frame_to(closed, 64, 0, b"lost"), frame_to(there, 64, 0, &[n])]).unwrap(), 2);
            assert_eq!(receive_one(&mut b).data()[42], n);
            assert_eq!(a.receive(&mut [Packet::empty(0)]).unwrap(), 0);
        }
        assert_eq!(a.device_drops(), DeviceDrops::default());
    }

    #[test]
    fn what_the_socket_has_no_room_for_is_counted() {
        let mut port = UdpPort::bind("lan", loopback(0), None).unwrap();
        let peer = UdpSocket::bind(loopback(0)).unwrap();
        socket2::SockRef::from(&port.socket).set_recv_buffer_size(4096).unwrap();
        for _ in 0..200 {
            peer.send_to(&[7; 1000], port.local()).unwrap();
        }
        let mut packets: Vec<Packet> = (0..64).map(|_| Packet::empty(0)).collect();
        let mut came = 0;
        loop {
            match port.receive(&mut packets).unwrap() {
                0 => break,
                n => came += n as u64,
            }
        }
        assert!(came > 0 && came < 200, "{came}");
        assert_eq!(port.device_drops().rx_full, 200 - came);
        assert_eq!(port.device_drops().rx_full, 200 - came, "counted once");
    }

    #[test]
    fn errors_name_address_and_setting() {
        let wildcard = UdpPort::bind("n4u", SocketAddrV4::new(Ipv4Addr::UNSPECIFIED, 2152), None).err().unwrap();
        assert!(wildcard.to_string().contains("ports.n4u"), "{wildcard}");
        let first = UdpPort::bind("n4u", loopback(0), None).unwrap();
        let taken = UdpPort::bind("n4u", first.local(), None).err().unwrap();
        assert!(taken.to_string().contains("taken"), "{taken}");
        let foreign = UdpPort::bind("n4u", SocketAddrV4::new(Ipv4Addr::new(192, 0, 2, 77), 0), None).err().unwrap();
        assert!(foreign.to_string().contains("192.0.2.77") && foreign.to_string().contains("ports.n4u"), "{foreign}");
    }
}
