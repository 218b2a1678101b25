//! Which devices of DPDK does a configuration ask for, and how do they become ports of the workers?

use crate::config::{Driver, Port};
use crate::failure::Failure;

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
pub fn validate(ports: &[Port], dpdk: &Dpdk) -> Result<(), String> {
    settings(ports, dpdk).map(drop)
}

/// What DPDK is started with, for all ports of the driver.
fn settings(ports: &[Port], dpdk: &Dpdk) -> Result<dpdk::Settings, String> {
    let mut devices = Vec::new();
    for port in ports {
        let of_dpdk = port.driver == Driver::Dpdk;
        for (key, there) in [("device", port.device.is_some()), ("mtu", port.mtu.is_some())] {
            if there && !of_dpdk {
                return Err(format!("port `{}`: `{key}` is for driver dpdk", port.name));
            }
        }
        if of_dpdk {
            devices.push(device(port)?);
        }
    }
    let Dpdk { huge_pages, memory_mib, eal_args } = dpdk.clone();
    let settings = dpdk::Settings { huge_pages, memory_mib, eal_args, devices };
    dpdk::eal::check_settings(&settings).map_err(|e| format!("dpdk: {e}"))?;
    Ok(settings)
}

fn device(port: &Port) -> Result<dpdk::Device, String> {
    let wrong = |what: &str| format!("port `{}`: {what}", port.name);
    let text = port.device.as_deref().ok_or_else(|| wrong("driver dpdk needs `device`"))?;
    text.parse().map_err(|e: dpdk::Error| wrong(&e.to_string()))
}

/// Starts DPDK, if a port asks for it.
pub fn start(ports: &[Port], dpdk: &Dpdk) -> Result<(), Failure> {
    if ports.iter().all(|port| port.driver != Driver::Dpdk) {
        return Ok(());
    }
    let settings = settings(ports, dpdk).map_err(Failure::Usage)?;
    dpdk::start(&settings).map_err(|e| Failure::Usage(e.to_string()))
}

/// The port's device, with a queue pair for each worker; and its MAC address.
pub fn open(port: &Port, workers: usize) -> Result<(Vec<dpdk::DpdkPort>, [u8; 6]), Failure> {
    let queues = u16::try_from(workers).map_err(|_| Failure::Usage(format!("port `{}`: too many workers", port.name)))?;
    let options = dpdk::Options { queues, mtu: port.mtu, mac: port.mac.map(|mac| mac.0), ..Default::default() };
    let device = device(port).map_err(Failure::Usage)?;
    let ports = dpdk::open(&port.name, &device, options).map_err(|e| Failure::Usage(format!("port `{}`: {e}", port.name)))?;
    let mac = ports.first().map_or([0; 6], dpdk::DpdkPort::mac);
    Ok((ports, mac))
}
