//! How DPDK is started, and how its devices become ports of the workers.

use crate::config::dpdk::{Dpdk, device, settings};
use crate::config::{Driver, Port};
use cli::failure::Failure;

/// Starts DPDK, if a port asks for it.
pub fn start(ports: &[Port], dpdk: &Dpdk) -> Result<(), Failure> {
    if ports.iter().all(|port| port.driver != Driver::Dpdk) {
        return Ok(());
    }
    let settings = settings(ports, dpdk).map_err(|fault| Failure::Usage(format!("{}: {}", fault.key, fault.what)))?;
    dpdk::start(&settings).map_err(|e| Failure::Usage(e.to_string()))
}

/// The port's device, with a queue pair for each worker; and its MAC address.
pub fn open(port: &Port, workers: usize) -> Result<(Vec<dpdk::DpdkPort>, [u8; 6]), Failure> {
    let queues = u16::try_from(workers).map_err(|_| Failure::Usage(format!("port `{}`: too many workers", port.name)))?;
    let options = dpdk::Options { queues, mtu: port.mtu, mac: port.mac.map(|mac| mac.0), ..Default::default() };
    let device = device(port).map_err(|e| Failure::Usage(format!("port `{}`: {e}", port.name)))?;
    let ports = dpdk::open(&port.name, &device, options).map_err(|e| Failure::Usage(format!("port `{}`: {e}", port.name)))?;
    let mac = ports.first().map_or([0; 6], dpdk::DpdkPort::mac);
    Ok((ports, mac))
}
