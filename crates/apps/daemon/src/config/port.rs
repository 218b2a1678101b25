//! `[[port]]`: interfaces and other ways in and out.

use super::{Fault, Mac, Prefix};
use serde::Deserialize;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::path::PathBuf;

/// `[[port]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Port {
    /// Name in logs and counters.
    pub name: String,
    /// Driver.
    #[serde(default)]
    pub driver: Driver,
    /// Kernel interface, for af_xdp, af_packet, auto and tun.
    pub interface: Option<String>,
    /// Local UDP address, for udp: what GTP-U is sent to.
    pub listen: Option<SocketAddr>,
    /// Capture file to receive from, for pcap.
    pub input: Option<PathBuf>,
    /// Capture file to transmit into, for pcap.
    pub output: Option<PathBuf>,
    /// PCI address or virtual device, for dpdk.
    pub device: Option<String>,
    /// Longest IP packet in bytes, for dpdk, tun and udp; default: the device's, for udp the longest that we take.
    pub mtu: Option<u16>,
    /// Whether packets that follow one another in a flow go to the kernel as one, which it or the device cuts again, for af_packet, auto, udp and tun;
    /// default: yes.
    pub gso: Option<bool>,
    /// Our MAC address; default: the interface's.
    pub mac: Option<Mac>,
    /// Whether frames come and go in VXLAN: the port is an underlay.
    #[serde(default)]
    pub vxlan: bool,
    /// What the port is for.
    pub role: Role,
    /// Network instance (TS 29.244 §8.2.4), which is also the routing table.
    pub network_instance: String,
    /// Our addresses, with their network's prefix length; for tun the kernel's own on the device.
    #[serde(default)]
    pub addresses: Vec<Prefix>,
    /// Those of our IPv4 addresses that end GTP-U tunnels; for udp the one of `listen`.
    #[serde(default)]
    pub gtpu: Vec<Ipv4Addr>,
    /// For tun: networks with those addresses of this machine that users may reach.
    #[serde(default)]
    pub reachable: Vec<Prefix>,
    /// Whether rules of its side that leave open which network instance they mean, mean this port's.
    #[serde(default)]
    pub default: bool,
    /// What it may send, in kbit/s of frames: above it packets wait in queues. None: as fast as the device takes them.
    pub rate_kbps: Option<u64>,
}

/// `port.driver`.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Driver {
    /// AF_XDP if it is available, else AF_PACKET.
    #[default]
    Auto,
    /// AF_XDP only.
    AfXdp,
    /// AF_PACKET only.
    AfPacket,
    /// A UDP socket on port 2152, behind the kernel's own network: N3, N4-U.
    Udp,
    /// A TUN device, behind which the kernel routes: N6.
    Tun,
    /// Capture files.
    Pcap,
    /// A device of DPDK.
    Dpdk,
}

/// `port.role`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// N3 or N9: tunnels.
    Access,
    /// N6: plain IP.
    Core,
    /// One-armed: both.
    Both,
    /// N4-U: tunnels of the SMF itself.
    Cp,
}

impl Role {
    /// As in the configuration.
    pub fn name(self) -> &'static str {
        match self {
            Role::Access => "access",
            Role::Core => "core",
            Role::Both => "both",
            Role::Cp => "cp",
        }
    }
}

impl Port {
    /// Whether the kernel's own network is behind it: it routes, resolves neighbours and fragments there.
    pub fn is_kernels(&self) -> bool {
        matches!(self.driver, Driver::Udp | Driver::Tun)
    }

    /// Where tunnels end.
    pub fn endpoints(&self) -> Vec<Ipv4Addr> {
        match (self.driver, self.listen) {
            (Driver::Udp, Some(SocketAddr::V4(listen))) => vec![*listen.ip()],
            _ => self.gtpu.clone(),
        }
    }

    /// Our own addresses, as a host on the port's network; on a TUN device they are the kernel's too.
    pub fn own_addresses(&self) -> Vec<Prefix> {
        match (self.driver, self.listen) {
            (Driver::Udp, Some(listen)) if self.addresses.is_empty() => vec![Prefix { address: listen.ip(), len: 32 }],
            _ => self.addresses.clone(),
        }
    }

    /// Whether the keys of driver udp fit each other; `key` gives a key its full name.
    pub(super) fn check_udp(&self, key: impl Fn(&str) -> String) -> Result<(), Fault> {
        let fault = |name: &str, what: &str| Err(Fault::new(key(name), what));
        let Some(listen) = self.listen else { return fault("listen", "driver \"udp\" needs an address and port") };
        let own = listen.ip();
        if !own.is_ipv4() {
            return fault("listen", "expected an IPv4 address: tunnels are on IPv4");
        }
        if own.is_unspecified() {
            return fault("listen", "expected one address of this machine: it goes into the F-TEIDs that peers send to");
        }
        if listen.port() != 2152 {
            return fault("listen", "expected port 2152, which GTP-U is sent to (TS 29.281 §4.4.2)");
        }
        if self.interface.is_some() {
            return fault("interface", "driver \"udp\" takes `listen` instead: the kernel routes");
        }
        if self.role == Role::Core {
            return fault("role", "expected \"access\", \"both\" or \"cp\": driver \"udp\" carries tunnels");
        }
        if let Some(n) = self.addresses.iter().position(|p| p.address != own) {
            return fault(&format!("addresses[{n}]"), "expected the address of `listen`: a socket has no other");
        }
        match self.gtpu.iter().position(|ip| IpAddr::V4(*ip) != own) {
            Some(n) => fault(&format!("gtpu[{n}]"), "expected the address of `listen`: a socket has no other"),
            None => Ok(()),
        }
    }

    /// Whether the keys of driver tun fit each other.
    pub(super) fn check_tun(&self, key: impl Fn(&str) -> String) -> Result<(), Fault> {
        let name = self.interface.as_deref().unwrap_or_default();
        if !(1..=15).contains(&name.len()) || name.bytes().any(|b| b == b'/' || b == b'%' || !b.is_ascii_graphic()) {
            return Err(Fault::new(key("interface"), "expected the name of a TUN device, 1 to 15 characters without spaces, `/` and `%`"));
        }
        if self.role != Role::Core {
            return Err(Fault::new(key("role"), "expected \"core\": driver \"tun\" carries users' packets"));
        }
        Ok(())
    }

    /// Whether XDP can run on its interface, and AF_XDP get the rest.
    pub fn takes_xdp(&self) -> bool {
        matches!(self.driver, Driver::Auto | Driver::AfXdp)
    }
}
