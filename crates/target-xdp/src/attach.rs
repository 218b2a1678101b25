//! The program on interfaces.

use crate::LoadError;
use crate::object::{Object, chain};
use aya::maps::xdp::DevMap;
use aya::programs::XdpFlags;
use base::PortId;

/// Where the program runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Mode {
    /// In the driver, before the kernel has made anything of the frame.
    Native,
    /// In front of the kernel's network stack: slow, for interfaces whose driver cannot.
    Generic,
}

/// An attached interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attached {
    /// Its number.
    pub ifindex: u32,
    /// Where the program runs.
    pub mode: Mode,
}

/// `sp_ports` has that many.
const MOST_INTERFACES: u32 = 1024;

/// Attaches `sp_xdp` by a link, which the kernel removes with the process.
pub fn attach(object: &mut Object, interface: &str, port: PortId) -> Result<Attached, LoadError> {
    let fail = |error: String| LoadError::Attach { interface: interface.to_owned(), error };
    let ifindex = ifindex(interface).ok_or_else(|| fail("there is no such interface".into()))?;
    set_port(object, ifindex, Some(port)).map_err(|e| fail(e.to_string()))?;
    // Replies leave by the interface that they came by, so it is a way out too.
    set_way_out(object, port, ifindex).map_err(|e| fail(e.to_string()))?;
    let program = object.program("sp_xdp")?;
    let mode = match program.attach_to_if_index(ifindex, XdpFlags::DRV_MODE) {
        Ok(_) => Mode::Native,
        Err(native) => {
            program.attach_to_if_index(ifindex, XdpFlags::SKB_MODE).map_err(|e| fail(chain(&e)))?;
            tracing::warn!("{interface}: its driver does not run XDP ({}): packets take the slow way", chain(&native));
            Mode::Generic
        }
    };
    Ok(Attached { ifindex, mode })
}

/// Writes `sp_ports`.
pub fn set_port(object: &Object, ifindex: u32, port: Option<PortId>) -> Result<(), LoadError> {
    if ifindex >= MOST_INTERFACES {
        return Err(LoadError::Io(format!("interface number {ifindex} is beyond {MOST_INTERFACES}")));
    }
    let ports = object.shared("sp_ports", MOST_INTERFACES.into(), 8)?;
    let value = port.map_or(0, |p| u64::from(p.0) + 1);
    ports.long(8 * ifindex as usize).store(value, std::sync::atomic::Ordering::Release);
    Ok(())
}

/// Writes `sp_out`.
pub fn set_way_out(object: &mut Object, port: PortId, ifindex: u32) -> Result<(), LoadError> {
    let map = object.ebpf().map_mut("sp_out").ok_or_else(|| LoadError::Layout("no map sp_out".into()))?;
    let mut map = DevMap::try_from(map).map_err(|e| LoadError::Kernel(chain(&e)))?;
    map.set(port.0.into(), ifindex, None, 0).map_err(|e| LoadError::Kernel(chain(&e)))
}

fn ifindex(name: &str) -> Option<u32> {
    let text = std::fs::read_to_string(format!("/sys/class/net/{name}/ifindex")).ok()?;
    if name.contains('/') { None } else { text.trim().parse().ok() }
}
