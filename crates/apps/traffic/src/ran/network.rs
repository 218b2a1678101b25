//! The host's side of a UE: a TUN device, its addresses, and routing such that programs bound to the device or to one of its
//! addresses use it. Addresses, routes and rules are made with `ip` (iproute2), everything in the network namespace of the
//! caller.

use std::io::Write;
use std::net::{Ipv4Addr, SocketAddrV4};
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::process::{Command, Stdio};
use std::sync::Mutex;

use base::Packet;
use pktio::{Port, PortError, TunPort, tun};

use super::report::Count;
use super::{ETHERNET, MAX_PACKET, RanError, lock};
use crate::record::SessionRecord;

/// Packets that may wait in a device: more than a TCP window of some megabytes, for a TUN device does not slow its sender
/// down, it drops.
const QUEUE_PACKETS: u32 = 10_000;

/// Super-frames of a device, in bytes: with a tunnel's headers in front of each packet they are no longer than a UDP datagram may be, 65,507 bytes, and so are
/// one super-frame again where they are sent.
const GSO_MAX_SIZE: u32 = 60_000;

/// A UE's device with what was set up for it. Dropping it takes all of it away. Packets have the Ethernet header of [`pktio::tun`] in front.
pub struct UeDevice {
    from: Mutex<TunPort>,
    to: Mutex<TunPort>,
    /// For [`UeDevice::send_one`].
    frame: Mutex<Packet>,
    readable: OwnedFd,
    pub(super) name: String,
    priority: u32,
}

impl UeDevice {
    /// Makes the device `name`, with rules of priority `table` and routes in the table of that number.
    ///
    /// # Errors
    /// [`RanError::Permission`] without CAP_NET_ADMIN; [`RanError::Config`] where the name is taken or iproute2 is missing.
    pub fn create(name: &str, mtu: u16, record: &SessionRecord, table: u32) -> Result<UeDevice, RanError> {
        if nix::net::if_::if_nametoindex(name).is_ok() {
            return Err(RanError::Config(format!("interface {name} exists already: stop its owner or choose another prefix")));
        }
        let options = tun::Options { gso_max_size: Some(GSO_MAX_SIZE), ..tun::Options::default() };
        let from = TunPort::open(name, name, options).map_err(|e| device_error(name, e))?;
        let to = from.try_clone().map_err(|e| device_error(name, e))?;
        let readable = from.as_fd().try_clone_to_owned().map_err(|source| RanError::Io { what: format!("device {name}"), source })?;
        let (from, to, frame) = (Mutex::new(from), Mutex::new(to), Mutex::new(Packet::empty(0)));
        let made = UeDevice { from, to, frame, readable, name: name.to_owned(), priority: table };
        // Left over from a process that was killed.
        made.remove_rules();
        made.configure(mtu, record)?;
        Ok(made)
    }

    /// The next packets that the kernel sends by the device, and how many; never blocks. More may wait here, for which the device is not readable,
    /// until none comes.
    ///
    /// # Errors
    /// [`PortError::Io`]: the device was set down, or taken away.
    pub fn receive(&self, packets: &mut [Packet]) -> Result<usize, PortError> {
        lock(&self.from).receive(packets)
    }

    /// Whether packets wait here for which the device is not readable.
    pub fn holds_packets(&self) -> bool {
        lock(&self.from).waiting() > 0
    }

    /// Gives the kernel packets, and tells of those that it refuses, by their places.
    pub fn send(&self, packets: &[Packet], mut refused: impl FnMut(usize)) {
        let mut sent = 0;
        while sent < packets.len() {
            match lock(&self.to).transmit_telling(&packets[sent..], |at| refused(sent + at)) {
                Ok(n) if n > 0 => sent += n,
                // The device takes no more, or is gone.
                _ => return (sent..packets.len()).for_each(refused),
            }
        }
    }

    fn configure(&self, mtu: u16, record: &SessionRecord) -> Result<(), RanError> {
        let (name, table) = (&self.name, self.priority);
        for (family, setting, value) in [
            ("ipv4", "rp_filter", "0"),
            ("ipv6", "accept_ra", "0"),
            ("ipv6", "autoconf", "0"),
            ("ipv6", "router_solicitations", "0"),
            ("ipv6", "accept_dad", "0"),
        ] {
            // A kernel without IPv6 has none of it.
            let _ = std::fs::write(format!("/proc/sys/net/{family}/conf/{name}/{setting}"), value);
        }
        let mut v4 = format!("link set dev {name} mtu {mtu} txqueuelen {QUEUE_PACKETS}\n");
        if std::path::Path::new("/proc/sys/net/ipv6").exists() {
            v4 += &format!("link set dev {name} addrgenmode none\n");
        }
        // Without multicast there are no membership reports either.
        v4 += &format!("link set dev {name} multicast off\nlink set dev {name} up\n");
        if let Some(address) = record.ue_ipv4 {
            v4 += &format!("address add {address}/32 dev {name}\n");
            v4 += &format!("route add default dev {name} src {address} table {table}\n");
            v4 += &format!("rule add priority {table} from {address} lookup {table}\n");
            v4 += &format!("rule add priority {table} oif {name} lookup {table}\n");
        }
        ip(&["-batch", "-"], &v4, true)?;
        if let (Some(prefix), Some(address)) = (record.ue_ipv6, record.ue_ipv6_address()) {
            let v6 = format!(
                "address add {address}/128 dev {name} nodad\n\
                 route add default dev {name} src {address} table {table}\n\
                 rule add priority {table} from {prefix}/64 lookup {table}\n\
                 rule add priority {table} oif {name} lookup {table}\n"
            );
            ip(&["-6", "-batch", "-"], &v6, true)?;
        }
        Ok(())
    }

    /// Rules outlive their device: two for each IP version.
    fn remove_rules(&self) {
        let line = format!("rule delete priority {}\n", self.priority).repeat(2);
        for family in [&["-force", "-batch", "-"][..], &["-6", "-force", "-batch", "-"]] {
            let _ = ip(family, &line, false);
        }
    }

    /// Gives the kernel one packet, from its IP header on. False: it refuses it.
    pub fn send_one(&self, packet: &[u8]) -> bool {
        let ethertype = match packet.first() {
            Some(first) if first >> 4 == 4 => [0x08, 0x00],
            _ => [0x86, 0xdd],
        };
        if packet.len() > MAX_PACKET {
            return false;
        }
        let mut header = [0; ETHERNET];
        header[12..].copy_from_slice(&ethertype);
        let mut frame = lock(&self.frame);
        frame.set_both(&header, packet);
        let mut taken = true;
        self.send(std::slice::from_ref(&frame), |_| taken = false);
        taken
    }

    /// What the kernel counts for the device: sent, received, dropped on sending. Of a super-frame the packets are counted for which it stands.
    pub fn kernel_counts(&self) -> Option<(Count, Count, u64)> {
        // Not from /sys, which may show another network namespace.
        let text = std::fs::read_to_string("/proc/thread-self/net/dev").ok()?;
        let line = text.lines().find_map(|line| line.trim_start().strip_prefix(&self.name)?.strip_prefix(':'))?;
        let numbers: Vec<u64> = line.split_ascii_whitespace().map_while(|word| word.parse().ok()).collect();
        let [rx_bytes, rx_packets, _, _, _, _, _, _, tx_bytes, tx_packets, _, tx_dropped, ..] = numbers[..] else { return None };
        let of = |packets, bytes, more: tun::Uncounted| Count { packets: packets + more.packets, bytes: bytes + more.bytes };
        let ([sent, _], [_, received]) = (lock(&self.from).uncounted(), lock(&self.to).uncounted());
        Some((of(tx_packets, tx_bytes, sent), of(rx_packets, rx_bytes, received), tx_dropped))
    }
}

impl AsFd for UeDevice {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.readable.as_fd()
    }
}

impl Drop for UeDevice {
    fn drop(&mut self) {
        // Device, addresses and routes go with its descriptor.
        self.remove_rules();
    }
}

/// Datagrams that the kernel dropped for our UDP socket.
pub(super) fn socket_drops(local: SocketAddrV4) -> Option<u64> {
    let text = std::fs::read_to_string("/proc/thread-self/net/udp").ok()?;
    let wanted = format!("{:08X}:{:04X}", u32::from_ne_bytes(local.ip().octets()), local.port());
    let line = text.lines().find(|line| line.split_ascii_whitespace().nth(1) == Some(&wanted))?;
    line.split_ascii_whitespace().next_back()?.parse().ok()
}

/// Why there is no GTP-U socket.
pub(super) fn bind_error(local: SocketAddrV4, error: std::io::Error) -> RanError {
    match error.kind() {
        std::io::ErrorKind::AddrNotAvailable => {
            RanError::Config(format!("{} is not an address of this host or namespace: add it to the N3 interface", local.ip()))
        }
        std::io::ErrorKind::AddrInUse => RanError::Config(format!("{local} is taken by another process")),
        _ => RanError::Io { what: format!("GTP-U socket {local}"), source: error },
    }
}
fn device_error(name: &str, error: PortError) -> RanError {
    match error {
        PortError::Permission(_) => {
            RanError::Permission(format!("making the device {name} needs CAP_NET_ADMIN and /dev/net/tun: run as root"))
        }
        other => RanError::from(other),
    }
}

impl From<PortError> for RanError {
    fn from(error: PortError) -> RanError {
        match error {
            PortError::Io { what, source } => RanError::Io { what, source },
            PortError::Permission(why) => RanError::Permission(why),
            PortError::Config(why) | PortError::Held(why) => RanError::Config(why),
        }
    }
}

/// Runs `ip` with commands on its standard input.
fn ip(args: &[&str], commands: &str, must_succeed: bool) -> Result<(), RanError> {
    let failed = |what: String| RanError::Config(format!("setting up addresses and routes: {what}"));
    let mut child = Command::new("ip")
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::piped())
        .spawn()
        .map_err(|e| failed(format!("cannot run `ip`: {e}; install iproute2")))?;
    if let Some(mut stdin) = child.stdin.take() {
        stdin.write_all(commands.as_bytes()).map_err(|e| failed(format!("`ip` does not read: {e}")))?;
    }
    let output = child.wait_with_output().map_err(|e| failed(format!("`ip`: {e}")))?;
    if output.status.success() || !must_succeed {
        return Ok(());
    }
    // iproute2 tells the fault and, after it, the line of the batch.
    let text = String::from_utf8_lossy(&output.stderr);
    let line = text.lines().find_map(|line| line.strip_prefix("Command failed -:")?.parse::<usize>().ok());
    let command = line.and_then(|line| commands.lines().nth(line.saturating_sub(1))).unwrap_or("?");
    Err(failed(format!("`ip {command}`: {}", text.lines().next().unwrap_or("no message"))))
}

/// For `Ipv4Addr::UNSPECIFIED` a socket would send from whatever address the route has.
pub(super) fn check_local(local: SocketAddrV4) -> Result<(), RanError> {
    if *local.ip() == Ipv4Addr::UNSPECIFIED {
        return Err(RanError::Config("the gNodeB's address must be one of this host's, not 0.0.0.0".into()));
    }
    Ok(())
}
