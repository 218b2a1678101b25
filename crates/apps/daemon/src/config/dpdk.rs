//! `[dpdk]`, and the devices of ports that DPDK drives.

use super::{Driver, Fault, Port};

/// `[dpdk]`: how DPDK is started, if a port asks for it.
#[derive(Clone, Debug, serde::Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Dpdk {
    /// Memory in huge pages (`true`), in normal ones (`false`); default: in huge ones if enough are free.
    pub huge_pages: Option<bool>,
    /// Memory for packets, in MiB.
    pub memory_mib: u32,
    /// Further options of DPDK's, of a list ([`dpdk::eal::ALLOWED`]).
    pub eal_args: Vec<String>,
}

impl Default for Dpdk {
    fn default() -> Dpdk {
        let settings = dpdk::Settings::default();
        Dpdk { huge_pages: settings.huge_pages, memory_mib: settings.memory_mib, eal_args: settings.eal_args }
    }
}

/// What can be known to be wrong before DPDK is started.
pub(crate) fn validate(ports: &[Port], dpdk: &Dpdk) -> Result<(), Fault> {
    settings(ports, dpdk).map(drop)
}

/// What DPDK is started with, for all ports of the driver.
pub(crate) fn settings(ports: &[Port], dpdk: &Dpdk) -> Result<dpdk::Settings, Fault> {
    let mut devices = Vec::new();
    for (i, port) in ports.iter().enumerate() {
        let of_dpdk = port.driver == Driver::Dpdk;
        if port.device.is_some() && !of_dpdk {
            return Err(Fault::new(format!("port[{i}].device"), "only for driver \"dpdk\""));
        }
        if port.mtu.is_some() && !of_dpdk && !port.is_kernels() {
            return Err(Fault::new(
                format!("port[{i}].mtu"),
                "only for drivers \"dpdk\", \"tun\" and \"udp\": others have the interface's",
            ));
        }
        if port.gso.is_some() && matches!(port.driver, Driver::AfXdp | Driver::Dpdk | Driver::Pcap) {
            return Err(Fault::new(format!("port[{i}].gso"), "only for drivers \"af_packet\", \"auto\", \"udp\" and \"tun\""));
        }
        if of_dpdk {
            devices.push(device(port).map_err(|e| Fault::new(format!("port[{i}].device"), e))?);
        }
    }
    let Dpdk { huge_pages, memory_mib, eal_args } = dpdk.clone();
    let settings = dpdk::Settings { huge_pages, memory_mib, eal_args, devices };
    dpdk::eal::check_settings(&settings).map_err(|e| Fault::new("dpdk", e.to_string()))?;
    Ok(settings)
}

pub(crate) fn device(port: &Port) -> Result<dpdk::Device, String> {
    let text = port.device.as_deref().ok_or("driver \"dpdk\" needs a PCI address or a virtual device")?;
    text.parse().map_err(|e: dpdk::Error| e.to_string())
}
