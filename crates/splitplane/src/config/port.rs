//! `[[port]]`: interfaces and other ways in and out.

use super::{Mac, Prefix};
use serde::Deserialize;
use std::net::{Ipv4Addr, SocketAddr};
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
    /// Kernel interface, for af_xdp, af_packet and auto.
    pub interface: Option<String>,
    /// Local UDP address, for udp.
    pub listen: Option<SocketAddr>,
    /// Capture file to receive from, for pcap.
    pub input: Option<PathBuf>,
    /// Capture file to transmit into, for pcap.
    pub output: Option<PathBuf>,
    /// PCI address or virtual device, for dpdk.
    pub device: Option<String>,
    /// Longest IP packet in bytes, for dpdk; default: as the device has it.
    pub mtu: Option<u16>,
    /// Our MAC address; default: the interface's.
    pub mac: Option<Mac>,
    /// Whether frames come and go in VXLAN: the port is an underlay.
    #[serde(default)]
    pub vxlan: bool,
    /// What the port is for.
    pub role: Role,
    /// Network instance (TS 29.244 §8.2.4), which is also the routing table.
    pub network_instance: String,
    /// Our addresses, with their network's prefix length.
    #[serde(default)]
    pub addresses: Vec<Prefix>,
    /// Those of our IPv4 addresses that end GTP-U tunnels.
    #[serde(default)]
    pub gtpu: Vec<Ipv4Addr>,
}

/// `port.driver`.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Driver {
    /// AF_XDP where it is to be had, else AF_PACKET.
    #[default]
    Auto,
    /// AF_XDP only.
    AfXdp,
    /// AF_PACKET only.
    AfPacket,
    /// A UDP socket on port 2152: N4-U, towards the SMF.
    Udp,
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
}

impl Port {
    /// Whether XDP can run on its interface, and AF_XDP get the rest.
    pub fn takes_xdp(&self) -> bool {
        matches!(self.driver, Driver::Auto | Driver::AfXdp)
    }
}
