//! Which ports does a text name? `DRIVER:WHAT`, with the drivers of the daemon.

use crate::Error;
use pktio::{Port, af_packet, interface::Interface};
use std::net::SocketAddrV4;
use std::str::FromStr;
use wire::ethernet::Mac;

/// A device, not opened.
#[derive(Clone, Debug, PartialEq)]
pub enum Device {
    /// `auto:eth1`: AF_XDP where the interface has it, or else AF_PACKET.
    Auto(String),
    /// `af_xdp:eth1`.
    AfXdp(String),
    /// `af_packet:eth1`.
    AfPacket(String),
    /// `dpdk:0000:03:00.0`, `dpdk:net_tap0,iface=tap0`.
    Dpdk(dpdk::Device),
    /// `udp:10.3.0.2:2152`.
    Udp(SocketAddrV4),
    /// `tun:sp-n6`.
    Tun(String),
}

impl FromStr for Device {
    type Err = String;

    fn from_str(text: &str) -> Result<Device, String> {
        const EXPECTED: &str = "expected auto:IF, af_xdp:IF, af_packet:IF, dpdk:DEVICE, udp:ADDRESS:PORT or tun:IF";
        let (driver, what) = text.split_once(':').filter(|(_, what)| !what.is_empty()).ok_or(EXPECTED)?;
        Ok(match driver {
            "auto" => Device::Auto(what.to_owned()),
            "af_xdp" => Device::AfXdp(what.to_owned()),
            "af_packet" => Device::AfPacket(what.to_owned()),
            "dpdk" => Device::Dpdk(what.parse().map_err(|e: dpdk::Error| e.to_string())?),
            "udp" => Device::Udp(what.parse().map_err(|_| "udp: expected an IPv4 address and a port".to_owned())?),
            "tun" => Device::Tun(what.to_owned()),
            _ => return Err(EXPECTED.to_owned()),
        })
    }
}

/// An open device.
pub struct Opened {
    /// Its receive queues; the first one sends.
    pub ports: Vec<Box<dyn Port>>,
    /// Our MAC address on it.
    pub mac: Mac,
    /// The far end's, where there are no neighbours to ask.
    pub next_hop: Option<Mac>,
}

/// Opens both sides.
///
/// # Errors
/// [`Error::Port`]: no such interface, it is down, or a capability lacks; [`Error::Usage`] if DPDK cannot be started.
pub fn open(devices: [&Device; 2]) -> Result<[Opened; 2], Error> {
    let of_dpdk: Vec<dpdk::Device> =
        devices.iter().filter_map(|device| if let Device::Dpdk(device) = device { Some(device.clone()) } else { None }).collect();
    if !of_dpdk.is_empty() {
        let settings = dpdk::Settings { devices: of_dpdk, ..dpdk::Settings::default() };
        dpdk::start(&settings).map_err(|e| Error::Usage(e.to_string()))?;
    }
    let [access, core] = devices;
    Ok([open_one("access", access)?, open_one("core", core)?])
}

/// Packets, not super-frames, are what a device is tested with: each goes to the kernel alone.
const GSO: bool = false;

fn open_one(label: &str, device: &Device) -> Result<Opened, Error> {
    let neighbours = |ports: Vec<Box<dyn Port>>, interface: &str| -> Result<Opened, Error> {
        Ok(Opened { ports, mac: Mac(Interface::find(label, interface)?.mac), next_hop: None })
    };
    let alone = |port: Box<dyn Port>| Opened { ports: vec![port], mac: Mac(pktio::OUR_MAC), next_hop: Some(Mac(pktio::PEER_MAC)) };
    Ok(match device {
        Device::Auto(interface) => {
            let opened = pktio::open_best(label, interface, 1, Default::default(), GSO)?;
            neighbours(opened.ports.into_iter().flatten().collect(), interface)?
        }
        Device::AfXdp(interface) => {
            let queues = pktio::open_queues(label, interface, 1, Default::default())?;
            neighbours(queues.into_iter().flatten().map(|port| Box::new(port) as Box<dyn Port>).collect(), interface)?
        }
        Device::AfPacket(interface) => {
            let options = af_packet::Options { gso: GSO, ..af_packet::Options::default() };
            neighbours(vec![Box::new(pktio::AfPacket::open(label, interface, options)?)], interface)?
        }
        Device::Dpdk(device) => {
            let ports = dpdk::open(label, device, dpdk::Options::default()).map_err(|e| Error::Usage(e.to_string()))?;
            let mac = Mac(ports.first().map_or([0; 6], dpdk::DpdkPort::mac));
            Opened { ports: ports.into_iter().map(|port| Box::new(port) as Box<dyn Port>).collect(), mac, next_hop: None }
        }
        Device::Udp(local) => {
            let mut port = pktio::UdpPort::bind(label, *local, None)?;
            port.set_gso(GSO);
            alone(Box::new(port))
        }
        Device::Tun(interface) => {
            let mut port = pktio::TunPort::open(label, interface, pktio::tun::Options::default())?;
            port.set_gso(GSO);
            alone(Box::new(port))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn devices_are_named_by_driver() {
        let device = |text: &str| text.parse::<Device>();
        assert_eq!(device("af_packet:eth1"), Ok(Device::AfPacket("eth1".into())));
        assert_eq!(device("udp:10.3.0.2:2152"), Ok(Device::Udp("10.3.0.2:2152".parse().unwrap())));
        assert!(matches!(device("dpdk:0000:03:00.0"), Ok(Device::Dpdk(_))));
        for wrong in ["eth1", "af_packet:", "udp:10.3.0.2", "wifi:eth1", "dpdk:../x", ""] {
            assert!(device(wrong).is_err(), "{wrong}");
        }
    }
}
