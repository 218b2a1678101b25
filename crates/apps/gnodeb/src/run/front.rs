//! XDP on N3's interface, in front of the program: interfaces by the addresses that are configured, and the MAC addresses of radio units, which the kernel finds out.
//!
//! What XDP does not carry goes up the kernel's stack, as if it were not there, to the sockets of the program behind it.

use std::fmt::Display;
use std::net::{Ipv4Addr, SocketAddr};
use std::os::fd::{AsRawFd, OwnedFd};
use std::sync::Arc;
use std::time::{Duration, Instant};

use base::DropReason;
use nix::ifaddrs::getifaddrs;
use nix::sys::socket::{AddressFamily, MsgFlags, NetlinkAddr, SockFlag, SockProtocol, SockType, sendto, socket};
use p4_driver::objects::Objects;
use pktio::Interface;
use target_api::{Ahead, Target};
use target_xdp::{EntryPoints, Mode, Options, Xdp, sends_redirected};

use crate::config::Gnb;
use crate::counts::Drops;
use crate::front::{Front, Station, pdu_bytes};
use crate::pipeline::{Build, N3, PipelineError, RADIO};

/// How often the kernel's neighbours are looked at, and how often it is asked for those that are used.
const LOOK: Duration = Duration::from_millis(100);
const LOOKS_PER_QUESTION: u32 = 10;
/// The neighbours of the calling thread's network namespace.
const NEIGHBOURS: &str = "/proc/thread-self/net/arp";
/// Of a neighbour whose MAC address is known (ATF_COM).
const COMPLETE: u32 = 2;

/// XDP and its interfaces.
pub(super) struct OnInterfaces {
    xdp: Arc<Xdp>,
    n3: Interface,
    radio: Interface,
    netlink: OwnedFd,
    sends: bool,
    looked: Option<Instant>,
    looks: u32,
}

fn refused(why: impl Display) -> PipelineError {
    PipelineError::Front(why.to_string())
}

/// The interface that has an address.
fn interface(label: &str, address: Ipv4Addr) -> Result<Interface, PipelineError> {
    let mut all = getifaddrs().map_err(|e| refused(format!("asking for the interfaces' addresses: {e}")))?;
    let has = |of: &nix::ifaddrs::InterfaceAddress| of.address.is_some_and(|a| a.as_sockaddr_in().is_some_and(|a| a.ip() == address));
    let found = all.find(has).ok_or_else(|| refused(format!("{label}: no interface has the address {address}")))?;
    let interface = Interface::find(label, &found.interface_name).map_err(refused)?;
    match interface.up {
        true => Ok(interface),
        false => Err(refused(format!("{label}: interface {} is down", interface.name))),
    }
}

/// Compiles and loads the program's front, and attaches it. It carries nothing yet.
pub(super) fn load(config: &Gnb, build: &Build) -> Result<Option<(Front, OnInterfaces)>, PipelineError> {
    let Some(split) = config.split else { return Ok(None) };
    let (n3_address, radio) = config.n3.zip(config.radio).expect("a checked configuration has both");
    let SocketAddr::V4(radio_address) = radio.address else { unreachable!("a checked configuration has IPv4 addresses for the program") };
    let (n3, air) = (interface("n3", n3_address)?, interface("radio.address", *radio_address.ip())?);
    // A bearer's COUNT is read and written by one core at a time: a queue's packets are.
    if n3.rx_queues > 1 {
        let why = format!("n3: interface {} has {} receive queues, and a bearer has one COUNT", n3.name, n3.rx_queues);
        return Err(refused(format!("{why}: give it one (`ethtool -L {} combined 1`)", n3.name)));
    }
    let defines = [("FRONT".to_owned(), String::new())];
    let program = p4_driver::Program::compile_shipped("gnb.p4", &defines).map_err(refused)?;
    let Objects { shipped, cache } = build.objects.clone();
    // The seed keys the table's hashes: traffic must not be able to aim at one hash bucket. A table without room refuses: no bearer is elsewhere.
    let options =
        Options { seed: rand::random(), entry: EntryPoints::Interfaces, hand_on_full: false, shipped, cache, ..Options::default() };
    let text = program.xdp_text().map_err(refused)?;
    let xdp = Arc::new(Xdp::load(Arc::new(program.ir.program.clone()), text, &options).map_err(refused)?);
    let mode = xdp.attach(&n3.name, n3.index).map_err(refused)?;
    if mode == Mode::Generic {
        let why = "before the stack several cores may have a queue's packets, and a bearer has one COUNT";
        return Err(refused(format!("n3: the driver of {} does not run XDP: {why}", n3.name)));
    }
    let station = Station {
        n3: (n3_address, n3.mac),
        radio: (radio_address, air.mac),
        networks: air.addresses.clone(),
        pdu_bytes: pdu_bytes(radio.pdu_bytes, air.mtu),
        rate_bps: split.rate_bps,
    };
    let front = Front::new(xdp.clone(), station)?;
    let netlink = socket(AddressFamily::Netlink, SockType::Raw, SockFlag::SOCK_CLOEXEC, SockProtocol::NetlinkRoute)
        .map_err(|e| refused(format!("asking the kernel for neighbours: {e}")))?;
    let on = OnInterfaces { xdp, n3, radio: air, netlink, sends: false, looked: None, looks: 0 };
    Ok(Some((front, on)))
}

impl OnInterfaces {
    /// From now on it carries what it has entries for.
    pub(super) fn go_live(&mut self, front: &mut Front) -> Result<(), PipelineError> {
        self.tick(front);
        if !self.sends {
            let why = "does not send what XDP redirects to it; of a veth, turn GRO on at the far end (`ethtool -K NAME gro on`)";
            return Err(refused(format!("radio.address: interface {} {why}", self.radio.name)));
        }
        self.xdp.set_port(self.n3.index, Some((N3, 0))).map_err(refused)?;
        tracing::info!(n3 = self.n3.name, radio = self.radio.name, pdu_bytes = front.pdu_bytes(), "XDP is active");
        Ok(())
    }

    /// Carries nothing any more.
    pub(super) fn leave(&mut self) {
        if let Err(error) = self.xdp.detach(self.n3.index) {
            tracing::error!("{}: {error}", self.n3.name);
        }
    }

    /// Looks who is reached, now and then.
    pub(super) fn tick(&mut self, front: &mut Front) {
        if self.looked.is_some_and(|looked| looked.elapsed() < LOOK) {
            return;
        }
        let units = front.units();
        if self.looks.is_multiple_of(LOOKS_PER_QUESTION) {
            units.iter().for_each(|unit| self.ask(*unit));
            self.look_at_the_way_out();
        }
        (self.looked, self.looks) = (Some(Instant::now()), self.looks.wrapping_add(1));
        if units.is_empty() {
            return;
        }
        let text = std::fs::read_to_string(NEIGHBOURS).unwrap_or_default();
        for (unit, theirs) in text.lines().filter_map(|line| neighbour(line, &self.radio.name)).filter(|(unit, _)| units.contains(unit)) {
            if let Err(error) = front.reached(unit, theirs) {
                tracing::error!("bearers of the radio unit {unit} do not run in XDP: {error}");
            }
        }
    }

    /// What it would redirect to an interface that does not send it is handed on.
    fn look_at_the_way_out(&mut self) {
        // A kernel before 6.3 does not say: drivers that run programs send, and of a veth the operator is told by the manual.
        let sends = sends_redirected(self.radio.index).unwrap_or(true);
        if sends == self.sends {
            return;
        }
        match self.xdp.set_way_out(RADIO, sends.then_some(self.radio.index)) {
            Ok(()) => self.sends = sends,
            Err(error) => tracing::error!("{}: {error}", self.radio.name),
        }
        if !sends {
            tracing::warn!(
                "{}: the interface does not send what XDP redirects to it: bearers that are `fast` stand still",
                self.radio.name
            );
        }
    }

    /// Has the kernel find out, or check, a neighbour's MAC address: as if it had a packet for it (`ip neighbour add ... use`).
    fn ask(&self, unit: Ipv4Addr) {
        let message = question(unit, self.radio.index);
        if let Err(error) = sendto(self.netlink.as_raw_fd(), &message, &NetlinkAddr::new(0, 0), MsgFlags::MSG_DONTWAIT) {
            tracing::debug!("asking the kernel for the neighbour {unit}: {error}");
        }
    }

    /// Adds what it has dropped.
    pub(super) fn drops(&self, drops: &mut Drops) {
        for (reason, count) in self.xdp.carried().dropped.into_iter().filter(|(_, count)| count.packets > 0) {
            let DropReason(code) = reason;
            *drops.entry(format!("front.{}", self.xdp.program().reason_name(code))).or_default() += count.packets;
        }
    }

    /// Packets that were neither sent nor dropped: zero when none is on the way, or there is a defect.
    pub(super) fn imbalance(&self) -> i64 {
        let carried = self.xdp.carried();
        let sum = |of: &mut dyn Iterator<Item = target_api::Count>| of.map(|count| count.packets as i64).sum::<i64>();
        let received = sum(&mut carried.received.into_values());
        received - sum(&mut carried.sent.into_values()) - sum(&mut carried.dropped.into_values())
    }
}

/// A line of the kernel's table: of a neighbour on that interface whose MAC address is known.
fn neighbour(line: &str, interface: &str) -> Option<(Ipv4Addr, [u8; 6])> {
    let mut fields = line.split_ascii_whitespace();
    let address = fields.next()?.parse().ok()?;
    let flags = u32::from_str_radix(fields.nth(1)?.strip_prefix("0x")?, 16).ok()?;
    let text = fields.next()?;
    if flags & COMPLETE == 0 || fields.nth(1)? != interface {
        return None;
    }
    let mut mac = [0; 6];
    let mut bytes = text.split(':');
    for byte in &mut mac {
        *byte = u8::from_str_radix(bytes.next()?, 16).ok()?;
    }
    (bytes.next().is_none() && mac != [0; 6]).then_some((address, mac))
}

/// RTM_NEWNEIGH with NTF_USE (rtnetlink(7)): a header, `struct ndmsg`, and the address as the attribute NDA_DST.
fn question(unit: Ipv4Addr, index: u32) -> Vec<u8> {
    const RTM_NEWNEIGH: u16 = 28;
    const REQUEST_CREATE: u16 = 0x1 | 0x400;
    const AF_INET: u8 = 2;
    const NTF_USE: u8 = 1;
    const NDA_DST: u16 = 1;
    const LENGTH: u32 = 16 + 12 + 8;
    let mut out = LENGTH.to_ne_bytes().to_vec();
    out.extend(RTM_NEWNEIGH.to_ne_bytes());
    out.extend(REQUEST_CREATE.to_ne_bytes());
    out.extend([0; 8]);
    out.extend([AF_INET, 0, 0, 0]);
    out.extend(index.to_ne_bytes());
    out.extend([0, 0, NTF_USE, 0]);
    out.extend(8u16.to_ne_bytes());
    out.extend(NDA_DST.to_ne_bytes());
    out.extend(unit.octets());
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_neighbour_is_read_when_its_mac_address_is_known_there() {
        let line =
            |flags: &str, mac: &str, device: &str| format!("10.4.0.7         0x1         {flags}         {mac}     *        {device}");
        let known = line("0x2", "02:00:00:00:00:1f", "radio");
        assert_eq!(neighbour(&known, "radio"), Some((Ipv4Addr::new(10, 4, 0, 7), [2, 0, 0, 0, 0, 0x1f])));
        assert_eq!(neighbour(&line("0x6", "02:00:00:00:00:1f", "radio"), "radio").unwrap().1[5], 0x1f, "a permanent one");
        for other in [
            line("0x0", "00:00:00:00:00:00", "radio"),
            line("0x2", "02:00:00:00:00:1f", "n3"),
            line("0x2", "02:00:00:00:00", "radio"),
            line("0x2", "02:00:00:00:00:1f:00", "radio"),
            "IP address       HW type     Flags       HW address            Mask     Device".to_owned(),
            String::new(),
        ] {
            assert_eq!(neighbour(&other, "radio"), None, "{other}");
        }
    }
}
