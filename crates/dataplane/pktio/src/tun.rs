//! A TUN device as a port: user packets to and from the kernel, which routes them. Where there is no
//! dedicated interface.
//!
//! A packet that the kernel routes to the device becomes an Ethernet frame; a frame that is transmitted loses its Ethernet header. What
//! the kernel leaves to a device is done here: checksums are finished, and super-frames of segmentation offload cut into the packets that a wire
//! would have carried. Packets that follow one another in a flow are joined again where they are transmitted. There are no neighbours: all frames
//! go to and come from the far end's MAC address.
//!
//! A device that does not exist is created, which needs CAP_NET_ADMIN, and removed with the port. An existing one, created by
//! `ip tuntap add dev NAME mode tun user USER`, can be used by its owner without that, and stays. Its addresses are the kernel's own.
//! One queue: the first worker receives, all send. A device that is deleted is made again, by whichever of them notices first.
//!
//! The crate `tun-rs` sets up devices with calls that an owner without CAP_NET_ADMIN may not make, and segments packets into buffers of its own.

use std::fs::File;
use std::io::{self, ErrorKind, IoSlice, IoSliceMut, Read, Write};
use std::net::IpAddr;
use std::ops::Range;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, RawFd};
use std::sync::{Arc, Mutex, PoisonError};

use base::{HEADROOM, MAX_PACKET, Packet};
use socket2::{Domain, Socket, Type};

use crate::join::{MAX_FRAMES, MAX_HEADERS, Train};
use crate::segment::{Cut, Gso};
use crate::sys::net::{self, Query};
use crate::sys::tun::{self, Failed, VNET_HEADER};
use crate::{DeviceDrops, OUR_MAC, PEER_MAC, Port, PortError, checksum};

/// Ethernet header, in bytes.
const ETHERNET: usize = 14;
/// The longest packet of segmentation offload, in bytes: an IP packet.
const LONGEST: usize = 65_536;
/// Room in front of what exceeds a packet's buffer, so that the whole can be had in one piece.
const FRONT: usize = ETHERNET + MAX_PACKET;

/// Packets and bytes, from the IP header on, that the kernel has not counted: of a super-frame it counts one packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uncounted {
    /// Packets.
    pub packets: u64,
    /// Bytes: their headers.
    pub bytes: u64,
}

impl Uncounted {
    fn add(&mut self, packets: usize, headers: usize) {
        self.packets += packets as u64 - 1;
        self.bytes += (packets as u64 - 1) * (headers - ETHERNET) as u64;
    }
}

/// How a device is to be.
#[derive(Clone, Copy, Debug, Default)]
pub struct Options<'a> {
    /// The kernel's addresses on it, with prefix lengths in bits. Those that it has already may stay.
    pub addresses: &'a [(IpAddr, u8)],
    /// Its MTU in bytes; `None`: as it is.
    pub mtu: Option<u16>,
    /// The MTU in bytes of one that is made, where `mtu` does not say; `None`: the kernel's.
    pub mtu_if_made: Option<u16>,
    /// Longest super-frame of one that is made, in bytes. For a device by which programs of this host send, and none that is forwarded: longer ones that the
    /// kernel forwards it cuts into packets.
    pub gso_max_size: Option<u32>,
}

/// The device of all ports that are on it.
struct Shared {
    label: String,
    interface: String,
    addresses: Vec<(IpAddr, u8)>,
    mtu: Option<u16>,
    mtu_if_made: Option<u16>,
    gso_max_size: Option<u32>,
    current: Mutex<Current>,
}

struct Current {
    /// How often it was made again.
    number: u64,
    device: File,
    mtu: usize,
}

/// See the file's top.
pub struct TunPort {
    name: String,
    interface: String,
    shared: Arc<Shared>,
    /// Which device this is.
    number: u64,
    device: File,
    mac: [u8; 6],
    mtu: usize,
    /// [`FRONT`], and what of a packet does not fit a packet's buffer.
    memory: Box<[u8]>,
    /// A super-frame that is being cut, and where in `memory` it is.
    cut: Option<(Cut, Range<usize>)>,
    /// Whether packets that follow one another in a flow go to the kernel as one, and whether it takes those of UDP: since Linux 6.2.
    gso: bool,
    takes_udp: bool,
    drops: DeviceDrops,
    /// The kernel's count of what found the device's queue full, when it was last asked.
    kernel_drops: u64,
    /// Of what was received and transmitted by this port.
    uncounted: [Uncounted; 2],
    /// Whether the log says that the device takes nothing.
    told: bool,
}

impl TunPort {
    /// Makes or takes the device `interface`, and sees to it that it has the addresses and the MTU and is up.
    /// `label` is the port's name in the configuration, e.g. `wan`.
    ///
    /// # Errors
    /// [`PortError::Permission`] where CAP_NET_ADMIN is missing: the text says what may be done beforehand instead.
    /// [`PortError::Config`] if the interface is no TUN device of one queue, or another process has it.
    pub fn open(label: &str, interface: &str, options: Options<'_>) -> Result<TunPort, PortError> {
        let (device, mtu) = attach(label, interface, options)?;
        let current = device.try_clone().map_err(|e| PortError::io(format!("ports.{label}: TUN device `{interface}`"), e))?;
        let shared = Shared {
            label: label.to_owned(),
            interface: interface.to_owned(),
            addresses: options.addresses.to_vec(),
            mtu: options.mtu,
            mtu_if_made: options.mtu_if_made,
            gso_max_size: options.gso_max_size,
            current: Mutex::new(Current { number: 0, device: current, mtu }),
        };
        Ok(TunPort::on(Arc::new(shared), 0, device, mtu, OUR_MAC))
    }

    fn on(shared: Arc<Shared>, number: u64, device: File, mtu: usize, mac: [u8; 6]) -> TunPort {
        TunPort {
            name: format!("{} (tun {})", shared.label, shared.interface),
            interface: shared.interface.clone(),
            kernel_drops: queue_drops(&shared.interface).unwrap_or(0),
            shared,
            number,
            device,
            mac,
            mtu,
            memory: vec![0; FRONT + LONGEST].into_boxed_slice(),
            cut: None,
            gso: true,
            takes_udp: true,
            drops: DeviceDrops::default(),
            uncounted: Default::default(),
            told: false,
        }
    }

    /// Another port on the same device: for a second worker to send by.
    ///
    /// # Errors
    /// [`PortError::Io`] if the process may open no more files.
    pub fn try_clone(&self) -> Result<TunPort, PortError> {
        let device = self.device.try_clone().map_err(|e| PortError::io(self.name.clone(), e))?;
        Ok(TunPort { gso: self.gso, ..TunPort::on(self.shared.clone(), self.number, device, self.mtu, self.mac) })
    }

    /// The device that another port has made again, or one that is made now.
    fn again(&self) -> Result<TunPort, PortError> {
        let Shared { label, interface, addresses, mtu, mtu_if_made, gso_max_size, current } = &*self.shared;
        let mut current = current.lock().unwrap_or_else(PoisonError::into_inner);
        if current.number == self.number {
            let (device, mtu) =
                attach(label, interface, Options { addresses, mtu: *mtu, mtu_if_made: *mtu_if_made, gso_max_size: *gso_max_size })?;
            *current = Current { number: self.number + 1, device, mtu };
        }
        let device = current.device.try_clone().map_err(|e| PortError::io(self.name.clone(), e))?;
        Ok(TunPort { gso: self.gso, ..TunPort::on(self.shared.clone(), current.number, device, current.mtu, self.mac) })
    }

    /// What the kernel has not counted of what this port has received, and of what it has transmitted.
    pub fn uncounted(&self) -> [Uncounted; 2] {
        self.uncounted
    }

    /// Packets of a super-frame that wait to be received. The device is not readable for them.
    pub fn waiting(&self) -> usize {
        self.cut.as_ref().map_or(0, |(cut, _)| cut.left())
    }

    /// Whether packets that follow one another in a flow go to the kernel as one; they do unless it is set.
    pub fn set_gso(&mut self, gso: bool) {
        self.gso = gso;
    }

    /// Our MAC address in the frames, [`OUR_MAC`] unless it is set.
    pub fn set_mac(&mut self, mac: [u8; 6]) {
        self.mac = mac;
    }

    fn write(&self, parts: &[IoSlice<'_>]) -> io::Result<()> {
        loop {
            match (&self.device).write_vectored(parts) {
                Err(e) if e.kind() == ErrorKind::Interrupted => {}
                other => return other.map(drop),
            }
        }
    }

    /// Writes packets as one super-frame.
    fn write_train(&self, packets: &[Packet], train: &Train) -> io::Result<()> {
        let mut headers = [0; MAX_HEADERS];
        train.write_headers(packets, &mut headers);
        let header = train.virtio_header(ETHERNET);
        let mut parts = [IoSlice::new(&[]); 2 + MAX_FRAMES];
        (parts[0], parts[1]) = (IoSlice::new(&header), IoSlice::new(&headers[ETHERNET..train.payload]));
        for (part, packet) in parts[2..].iter_mut().zip(&packets[..train.frames]) {
            *part = IoSlice::new(&packet.data()[train.payload..]);
        }
        self.write(&parts[..2 + train.frames])
    }

    /// Reads one packet into `packet` or, if it is to be cut, into our memory. `None`: nothing is there.
    fn read(&mut self, packet: &mut Packet) -> Result<Option<bool>, PortError> {
        let mut header = [0; VNET_HEADER];
        let (buffer, _, _) = packet.buffer_mut();
        let window = buffer.get_mut(HEADROOM + ETHERNET..).unwrap_or_default();
        let room = window.len().min(MAX_PACKET);
        let parts = &mut [IoSliceMut::new(&mut header), IoSliceMut::new(&mut window[..room]), IoSliceMut::new(&mut self.memory[FRONT..])];
        let length = match self.device.read_vectored(parts) {
            Ok(n) => n.saturating_sub(VNET_HEADER),
            Err(e) if matches!(e.kind(), ErrorKind::WouldBlock | ErrorKind::Interrupted) => return Ok(None),
            Err(e) => return Err(PortError::io(format!("{}: receive: the device is gone or in error", self.name), e)),
        };
        let offload = Offload::of(&header);
        let fits = length <= room && offload.gso.is_none();
        let front = length.min(room);
        let place = FRONT - front - ETHERNET..FRONT + length - front;
        let bytes = if fits {
            &mut buffer[HEADROOM..HEADROOM + ETHERNET + length]
        } else {
            self.memory[FRONT - front..FRONT].copy_from_slice(&window[..front]);
            &mut self.memory[place.clone()]
        };
        let Some(ethertype) = ethertype(&bytes[ETHERNET..]).filter(|_| !offload.unknown) else {
            self.drops.rx_invalid += 1;
            return Ok(Some(false));
        };
        bytes[..6].copy_from_slice(&self.mac);
        bytes[6..12].copy_from_slice(&PEER_MAC);
        bytes[12..14].copy_from_slice(&ethertype);
        if let Some((start, offset)) = offload.checksum.filter(|_| offload.gso.is_none()) {
            checksum::complete(bytes, start, offset);
        }
        match offload.gso {
            None if fits => packet.set_window(HEADROOM, ETHERNET + length),
            None if place.len() <= MAX_PACKET => packet.set(&self.memory[place]),
            None => {
                self.drops.rx_invalid += 1;
                return Ok(Some(false));
            }
            Some((gso, size)) => {
                let layer4 = offload.checksum.map_or(0, |(start, _)| start);
                let whole = &self.memory[place.clone()];
                match Cut::new(whole, gso, layer4, size) {
                    Some(cut) if cut.longest(whole) <= MAX_PACKET => {
                        self.uncounted[0].add(cut.left(), cut.headers());
                        self.cut = Some((cut, place));
                    }
                    Some(cut) => self.drops.rx_invalid += cut.left() as u64,
                    None => self.drops.rx_invalid += 1,
                }
                return Ok(Some(false));
            }
        }
        Ok(Some(true))
    }
}

/// Makes or takes the device and gives it what it lacks; its MTU.
fn attach(label: &str, interface: &str, options: Options<'_>) -> Result<(File, usize), PortError> {
    let query =
        Query::new(interface).ok_or_else(|| PortError::Config(format!("ports.{label}: no interface can be named `{interface}`")))?;
    let query = query.map_err(|e| PortError::io(format!("asking about interface `{interface}`"), e))?;
    let ours = query.index().is_err();
    let device = tun::attach_with_offloads(interface).map_err(|failed| explain(label, interface, failed))?;
    if ours {
        // The kernel must not add packets of its own: router solicitations, reports of multicast groups. One without IPv6 has none.
        let _ = std::fs::write(format!("/proc/sys/net/ipv6/conf/{interface}/addr_gen_mode"), "1");
        // A kernel that does not know it goes without.
        if let Some(bytes) = options.gso_max_size {
            let _ = query.index().and_then(|index| tell(&gso_max_size(index, bytes)));
        }
    }
    let mtu = options.mtu.or(options.mtu_if_made.filter(|_| ours));
    configure(&query, interface, Options { mtu, ..options })?;
    let mtu = query.mtu().map_err(|e| PortError::io(format!("asking about interface `{interface}`"), e))?;
    Ok((device, mtu))
}

/// What the kernel left undone of a packet, as places in its frame.
struct Offload {
    /// Start and offset of an unfinished checksum.
    checksum: Option<(usize, usize)>,
    /// The payload of its segments, in bytes.
    gso: Option<(Gso, usize)>,
    /// Something that we did not offer to do.
    unknown: bool,
}

impl Offload {
    /// Of a virtio header, in the host's byte order (virtio 1.2 §5.1.6, legacy interface).
    fn of(header: &[u8; VNET_HEADER]) -> Offload {
        const NEEDS_CSUM: u8 = 1;
        let word = |at: usize| usize::from(u16::from_ne_bytes([header[at], header[at + 1]]));
        let gso = Gso::of_virtio(header[1]);
        Offload {
            checksum: (header[0] & NEEDS_CSUM != 0).then(|| (word(6) + ETHERNET, word(8))),
            gso: gso.map(|gso| (gso, word(4))),
            unknown: gso.is_none() && header[1] != 0,
        }
    }
}

/// The EtherType of an IP packet.
fn ethertype(packet: &[u8]) -> Option<[u8; 2]> {
    match packet.first()? >> 4 {
        4 if packet.len() >= 20 => Some([0x08, 0x00]),
        6 if packet.len() >= 40 => Some([0x86, 0xdd]),
        _ => None,
    }
}

/// The IP packet in a frame, without what pads the frame.
fn packet_of(frame: &[u8]) -> Option<&[u8]> {
    let packet = frame.get(ETHERNET..)?;
    if ethertype(packet)? != frame[12..14] {
        return None;
    }
    let word = |at: usize| usize::from(u16::from_be_bytes([packet[at], packet[at + 1]]));
    match packet[0] >> 4 {
        4 => packet.get(..word(2)).filter(|p| p.len() >= 20),
        _ => packet.get(..40 + word(4)),
    }
}

impl AsFd for TunPort {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.device.as_fd()
    }
}

impl Port for TunPort {
    fn name(&self) -> &str {
        &self.name
    }

    fn receive(&mut self, packets: &mut [Packet]) -> Result<usize, PortError> {
        let mut count = 0;
        // What is refused or cut takes no place: bound the work of one call nevertheless.
        for _ in 0..packets.len() {
            match &mut self.cut {
                // It would be two trains where it was one.
                Some((cut, _)) if count > 0 && cut.left() > packets.len() - count => break,
                Some((cut, place)) => {
                    while count < packets.len() && cut.next_into(&self.memory[place.clone()], &mut packets[count]) {
                        count += 1;
                    }
                    if cut.left() > 0 {
                        break;
                    }
                    self.cut = None;
                }
                None => match self.read(&mut packets[count])? {
                    None => break,
                    Some(taken) => count += usize::from(taken),
                },
            }
            if count == packets.len() {
                break;
            }
        }
        Ok(count)
    }

    fn transmit(&mut self, packets: &[Packet]) -> Result<usize, PortError> {
        self.transmit_telling(packets, |_| ())
    }

    fn flush(&mut self) -> Result<(), PortError> {
        Ok(())
    }

    fn max_frame(&self) -> usize {
        (self.mtu + ETHERNET).min(MAX_PACKET)
    }

    fn device_drops(&mut self) -> DeviceDrops {
        if let Some(now) = queue_drops(&self.interface) {
            self.drops.rx_full += now.saturating_sub(self.kernel_drops);
            self.kernel_drops = now;
        }
        self.drops
    }

    fn fd(&self) -> Option<RawFd> {
        Some(self.device.as_raw_fd())
    }

    fn reopen(&self) -> Option<Result<Box<dyn Port>, PortError>> {
        Some(self.again().map(|port| Box::new(port) as Box<dyn Port>))
    }
}

impl TunPort {
    /// As [`Port::transmit`], and tells which packets the device has refused, by their places: counted, and lost.
    ///
    /// # Errors
    /// [`PortError::Io`] if the device is gone.
    pub fn transmit_telling(&mut self, packets: &[Packet], mut refused: impl FnMut(usize)) -> Result<usize, PortError> {
        let mut sent = 0;
        while sent < packets.len() {
            let rest = &packets[sent..];
            let train = if self.gso { Train::find(rest) } else { None };
            let train = train.filter(|train| train.gso == Gso::Tcp || self.takes_udp);
            let count = train.map_or(1, |train| train.frames);
            let written = match &train {
                Some(train) => self.write_train(rest, train),
                None => match packet_of(rest[0].data()) {
                    Some(bytes) => self.write(&[IoSlice::new(&[0; VNET_HEADER]), IoSlice::new(bytes)]),
                    None => {
                        self.drops.tx_invalid += 1;
                        refused(sent);
                        Ok(())
                    }
                },
            };
            match written {
                Ok(()) => {
                    self.told = false;
                    if let Some(train) = &train {
                        self.uncounted[1].add(train.frames, train.payload);
                    }
                }
                Err(e) if e.kind() == ErrorKind::WouldBlock => return Ok(sent),
                Err(e) if e.raw_os_error() == Some(libc::EINVAL) && train.is_some_and(|train| train.gso == Gso::Udp) => {
                    tracing::info!(port = %self.name, "the kernel takes no super-frames of UDP: packets go one by one");
                    self.takes_udp = false;
                    continue;
                }
                Err(e) if e.raw_os_error() == Some(libc::EBADFD) => {
                    return Err(PortError::io(format!("{}: transmit: the device is gone", self.name), e));
                }
                // Down, or what the kernel does not take: this packet's fate.
                Err(e) => {
                    self.drops.tx_invalid += count as u64;
                    (sent..sent + count).for_each(&mut refused);
                    if !std::mem::replace(&mut self.told, true) {
                        tracing::warn!(port = %self.name, error = %e, "the device accepts no packets: is it up?");
                    }
                }
            }
            sent += count;
        }
        Ok(sent)
    }
}

/// Packets that the kernel had for the device and dropped, its queue being full: the transmit side's `drop` of proc_net_dev(5).
fn queue_drops(interface: &str) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/net/dev").ok()?;
    dropped(&text, interface)
}

fn dropped(text: &str, interface: &str) -> Option<u64> {
    let line = |line: &str| line.trim_start().strip_prefix(interface)?.strip_prefix(':').map(str::to_owned);
    text.lines().find_map(line)?.split_whitespace().nth(11)?.parse().ok()
}

fn explain(label: &str, interface: &str, failed: Failed) -> PortError {
    let no_device = "load the kernel's module tun (`modprobe tun`), or give the container the device";
    match failed {
        Failed::Open(e) if e.kind() == ErrorKind::NotFound => PortError::Config(format!("ports.{label}: no /dev/net/tun: {no_device}")),
        Failed::Open(e) if e.kind() == ErrorKind::PermissionDenied => {
            PortError::Permission(format!("ports.{label}: /dev/net/tun is not ours to open: `chmod 666 /dev/net/tun`, or run as root"))
        }
        Failed::Open(e) => PortError::io(format!("ports.{label}: /dev/net/tun"), e),
        Failed::Attach(e) => match (e.raw_os_error(), e.kind()) {
            (_, ErrorKind::PermissionDenied) => PortError::Permission(format!(
                "ports.{label}: making the TUN device `{interface}` needs CAP_NET_ADMIN; without it, have it made beforehand: \
                 `ip tuntap add dev {interface} mode tun user $(id -un)`"
            )),
            (Some(libc::EBUSY), _) => {
                PortError::Config(format!("ports.{label}: another process has the TUN device `{interface}`: stop it"))
            }
            (Some(libc::EINVAL), _) => PortError::Config(format!(
                "ports.{label}: `{interface}` is there and is no TUN device of one queue: delete it or choose another name"
            )),
            _ => PortError::io(format!("ports.{label}: TUN device `{interface}`"), e),
        },
        Failed::Offload(e) => PortError::io(format!("ports.{label}: TUN device `{interface}`: offloads"), e),
    }
}

/// Gives the device what it lacks. What it has, it may have without our being allowed to give it.
fn configure(query: &Query, interface: &str, options: Options<'_>) -> Result<(), PortError> {
    let asking = |e| PortError::io(format!("asking about interface `{interface}`"), e);
    let refused = |order: String| {
        move |e: io::Error| match e.kind() {
            ErrorKind::PermissionDenied => {
                PortError::Permission(format!("setting up `{interface}` needs CAP_NET_ADMIN; without it, beforehand: `{order}`"))
            }
            _ => PortError::io(format!("`{order}`"), e),
        }
    };
    if let Some(mtu) = options.mtu
        && query.mtu().map_err(asking)? != usize::from(mtu)
    {
        query.set_mtu(mtu).map_err(refused(format!("ip link set {interface} mtu {mtu}")))?;
    }
    let there = net::addresses(interface).map_err(asking)?;
    for (address, length) in options.addresses.iter().filter(|wanted| !there.contains(wanted)) {
        let order = format!("ip address add {address}/{length} dev {interface}");
        query.index().and_then(|index| tell(&new_address(index, *address, *length))).map_err(refused(order))?;
    }
    if query.flags().map_err(asking)? & libc::IFF_UP == 0 {
        query.set_up().map_err(refused(format!("ip link set {interface} up")))?;
    }
    Ok(())
}

/// One order to the kernel and its answer (rtnetlink(7)): the crate `rtnetlink` brings an async runtime along.
fn tell(message: &[u8]) -> io::Result<()> {
    let mut socket = Socket::new(Domain::from(libc::AF_NETLINK), Type::RAW, None)?;
    socket.send(message)?;
    let mut answer = [0; 256];
    let n = socket.read(&mut answer)?;
    // struct nlmsghdr, then struct nlmsgerr, whose first word is 0 or an error less than that.
    match answer[..n].get(16..20).map(|code| i32::from_ne_bytes([code[0], code[1], code[2], code[3]])) {
        Some(0) => Ok(()),
        Some(code) => Err(io::Error::from_raw_os_error(-code)),
        None => Err(io::Error::from(ErrorKind::UnexpectedEof)),
    }
}

/// RTM_NEWADDR.
fn new_address(index: u32, address: IpAddr, length: u8) -> Vec<u8> {
    const CREATE_REPLACE: u16 = 0x400 | 0x100;
    const IFA_F_NODAD: u8 = 0x02;
    let (family, bytes, flags) = match address {
        IpAddr::V4(ip) => (libc::AF_INET, ip.octets().to_vec(), 0),
        IpAddr::V6(ip) => (libc::AF_INET6, ip.octets().to_vec(), IFA_F_NODAD),
    };
    let mut body = vec![family as u8, length, flags, 0];
    body.extend(index.to_ne_bytes());
    for kind in [libc::IFA_LOCAL, libc::IFA_ADDRESS] {
        body.extend(((bytes.len() + 4) as u16).to_ne_bytes());
        body.extend(kind.to_ne_bytes());
        body.extend(&bytes);
    }
    message(libc::RTM_NEWADDR, CREATE_REPLACE, &body)
}

/// RTM_NEWLINK: super-frames of a device at most so long, in bytes.
fn gso_max_size(index: u32, bytes: u32) -> Vec<u8> {
    const IFLA_GSO_MAX_SIZE: u16 = 41;
    let mut body = vec![0; 4];
    body.extend(index.to_ne_bytes());
    body.extend([0; 8]);
    body.extend(8u16.to_ne_bytes());
    body.extend(IFLA_GSO_MAX_SIZE.to_ne_bytes());
    body.extend(bytes.to_ne_bytes());
    message(libc::RTM_NEWLINK, 0, &body)
}

/// A request that is to be acknowledged.
fn message(kind: u16, flags: u16, body: &[u8]) -> Vec<u8> {
    const REQUEST_ACK: u16 = 0x01 | 0x04;
    let mut message = ((body.len() + 16) as u32).to_ne_bytes().to_vec();
    message.extend(kind.to_ne_bytes());
    message.extend((REQUEST_ACK | flags).to_ne_bytes());
    message.extend([0; 8]);
    message.extend(body);
    message
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn frames_are_packets_behind_an_ethernet_header_without_padding() {
        let mut frame = vec![2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1, 8, 0, 0x45, 0, 0, 21];
        frame.extend([0; 16]);
        frame.extend([9, 0xee, 0xee]);
        assert_eq!(packet_of(&frame), Some(&frame[14..35]));
        frame[13] = 6;
        assert_eq!(packet_of(&frame), None, "ARP");
        frame[12..15].copy_from_slice(&[0x86, 0xdd, 0x60]);
        frame.extend([0; 40]);
        frame[18..20].copy_from_slice(&[0, 3]);
        assert_eq!(packet_of(&frame), Some(&frame[14..57]));
        frame[18..20].copy_from_slice(&[0, 200]);
        assert_eq!(packet_of(&frame), None, "longer than the frame");
        for length in 0..frame.len() {
            assert!(packet_of(&frame[..length]).is_none());
        }
    }

    #[test]
    fn the_kernels_count_of_a_device_is_its_own_line() {
        let text =
            "Inter-| Receive | Transmit\n face |bytes\n  tun10: 1 2 3 4 5 6 7 8 9 10 11 12 13\n   tun1: 1 0 0 0 0 0 0 0 0 0 0 77 0 0 0 0\n";
        assert_eq!((dropped(text, "tun1"), dropped(text, "tun10"), dropped(text, "tun")), (Some(77), Some(12), None));
    }

    #[test]
    fn an_address_is_ordered_in_the_kernels_form() {
        let v4 = new_address(7, "10.45.0.1".parse().unwrap(), 16);
        assert_eq!((v4.len(), v4[0], v4[16], v4[17]), (40, 40, 2, 16));
        assert_eq!(v4[20..24], 7u32.to_ne_bytes());
        assert_eq!((&v4[28..32], &v4[36..40]), (&[10, 45, 0, 1][..], &[10, 45, 0, 1][..]));
        assert_eq!(new_address(7, "fd00::1".parse().unwrap(), 64).len(), 64);
    }

    #[test]
    fn what_the_kernel_leaves_undone_is_read_from_its_header() {
        let mut header = [0u8; VNET_HEADER];
        assert!(Offload::of(&header).checksum.is_none() && Offload::of(&header).gso.is_none());
        header[0] = 1;
        header[1] = 0x81;
        header[4..6].copy_from_slice(&1360u16.to_ne_bytes());
        header[6..8].copy_from_slice(&20u16.to_ne_bytes());
        header[8..10].copy_from_slice(&16u16.to_ne_bytes());
        let offload = Offload::of(&header);
        assert!(matches!(offload, Offload { checksum: Some((34, 16)), gso: Some((Gso::Tcp, 1360)), unknown: false }));
        header[1] = 3;
        assert!(Offload::of(&header).unknown);
    }
}
