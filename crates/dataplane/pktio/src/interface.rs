//! What the host knows of a network interface, and turning off its offloads.
//!
//! All questions are answered for the calling thread's network namespace.

use std::io::{Error, ErrorKind};
use std::net::IpAddr;

use crate::PortError;
use crate::sys::net::{self, Query};

pub use crate::sys::net::index_exists;

/// An Ethernet interface, as it was when asked.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Interface {
    /// Name, e.g. `veth0`.
    pub name: String,
    /// Kernel's number: stays with the interface when it is renamed, is never given to another.
    pub index: u32,
    /// Hardware address.
    pub mac: [u8; 6],
    /// Longest payload of a frame, in bytes, without the Ethernet header.
    pub mtu: usize,
    /// Whether it is administratively up.
    pub up: bool,
    /// Driver, e.g. `veth`; empty if it has no ethtool interface.
    pub driver: String,
    /// Receive queues in use; 1 if the driver does not say.
    pub rx_queues: u32,
    /// Addresses with prefix lengths in bits.
    pub addresses: Vec<(IpAddr, u8)>,
}

impl Interface {
    /// Looks up `name`. `label` is the port's name in the configuration (`lan`), for error texts.
    ///
    /// # Errors
    /// [`PortError::Config`] if there is no such interface, or it does not carry Ethernet frames.
    pub fn find(label: &str, name: &str) -> Result<Interface, PortError> {
        const ARPHRD_ETHER: u16 = 1;
        const ARPHRD_LOOPBACK: u16 = 772;
        let missing = || PortError::Config(format!("no interface `{name}`: create it or change ports.{label}.interface"));
        let failed = |e: Error| match e.raw_os_error() {
            Some(libc::ENODEV | libc::ENXIO) => missing(),
            _ => PortError::io(format!("asking about interface `{name}`"), e),
        };
        let query = Query::new(name).ok_or_else(missing)?.map_err(failed)?;
        let index = query.index().map_err(failed)?;
        let (kind, mac) = query.hardware().map_err(failed)?;
        if kind != ARPHRD_ETHER && kind != ARPHRD_LOOPBACK {
            let text = format!("interface `{name}` does not carry Ethernet (hardware type {kind}): change ports.{label}.interface");
            return Err(PortError::Config(text));
        }
        Ok(Interface {
            name: name.to_owned(),
            index,
            mac,
            mtu: query.mtu().map_err(failed)?,
            up: query.flags().map_err(failed)? & libc::IFF_UP != 0,
            driver: query.driver().unwrap_or_default(),
            rx_queues: query.rx_queues().unwrap_or(1).max(1),
            addresses: net::addresses(name).map_err(failed)?,
        })
    }

    /// Longest frame that fits the MTU, Ethernet header included, in bytes.
    pub(crate) fn max_frame(&self) -> usize {
        self.mtu + 14
    }

    /// Refuses an interface that is down: the daemon would wait without end and without a message.
    pub(crate) fn require_up(self) -> Result<Interface, PortError> {
        if self.up {
            return Ok(self);
        }
        Err(PortError::Config(format!("interface `{0}` is down: run `ip link set {0} up`", self.name)))
    }
}

/// The MTU of an interface of any kind; `None` if there is none of that name.
pub fn mtu(name: &str) -> Option<usize> {
    Query::new(name)?.ok()?.mtu().ok()
}

/// Turns off offloads that let an interface deliver packets that no wire would carry: checksums left to the device, packets beyond
/// the MTU, VLAN tags beside the frame. The same as `ethtool -K NAME rx off tx off sg off tso off ufo off gso off gro off lro off
/// rxvlan off txvlan off`; returns the names of what was on and now is off.
///
/// For a veth, what matters is the *sending* end: a peer's kernel leaves checksums unfinished because *its* end offers tx checksums.
/// [`crate::AfPacket`] mends such packets itself; [`crate::AfXdp`] does on veth.
///
/// # Errors
/// [`PortError::Config`] if there is no such interface, [`PortError::Permission`] without CAP_NET_ADMIN. A feature that the device cannot
/// change is left as it is.
pub fn disable_offloads(name: &str) -> Result<Vec<&'static str>, PortError> {
    // Name, get and set command of linux/ethtool.h. Segmentation before what it depends on.
    const SWITCHES: [(&str, u32, u32); 7] = [
        ("tso", 0x1e, 0x1f),
        ("ufo", 0x21, 0x22),
        ("gso", 0x23, 0x24),
        ("gro", 0x2b, 0x2c),
        ("sg", 0x18, 0x19),
        ("tx", 0x16, 0x17),
        ("rx", 0x14, 0x15),
    ];
    const GET_FLAGS: u32 = 0x25;
    const SET_FLAGS: u32 = 0x26;
    const FLAGS: [(&str, u32); 3] = [("lro", 1 << 15), ("txvlan", 1 << 7), ("rxvlan", 1 << 8)];
    let missing = || PortError::Config(format!("no interface `{name}`: create it"));
    let failed = |e: Error| match (e.raw_os_error(), e.kind()) {
        (Some(libc::ENODEV), _) => missing(),
        (_, ErrorKind::PermissionDenied) => PortError::Permission(format!("turning off offloads of `{name}` needs CAP_NET_ADMIN")),
        _ => PortError::io(format!("turning off offloads of `{name}`"), e),
    };
    let fixed = |e: &Error| matches!(e.raw_os_error(), Some(libc::EOPNOTSUPP | libc::EINVAL));
    let query = Query::new(name).ok_or_else(missing)?.map_err(failed)?;
    query.index().map_err(failed)?;
    let mut changed = Vec::new();
    for (feature, get, set) in SWITCHES {
        if query.ethtool_get(get).unwrap_or(0) == 0 {
            continue;
        }
        match query.ethtool_set(set, 0) {
            Ok(()) if query.ethtool_get(get).unwrap_or(0) == 0 => changed.push(feature),
            Ok(()) => {}
            Err(e) if fixed(&e) => {}
            Err(e) => return Err(failed(e)),
        }
    }
    for (feature, bit) in FLAGS {
        let flags = query.ethtool_get(GET_FLAGS).unwrap_or(0);
        if flags & bit == 0 {
            continue;
        }
        match query.ethtool_set(SET_FLAGS, flags & !bit) {
            Ok(()) if query.ethtool_get(GET_FLAGS).unwrap_or(0) & bit == 0 => changed.push(feature),
            Ok(()) => {}
            Err(e) if fixed(&e) => {}
            Err(e) => return Err(failed(e)),
        }
    }
    Ok(changed)
}

/// Turns generic receive offload on. A veth then takes what an XDP program at the far end redirects to its own end.
///
/// # Errors
/// As [`disable_offloads`]; and [`PortError::Io`] if the device cannot.
pub fn enable_gro(name: &str) -> Result<(), PortError> {
    const SET_GRO: u32 = 0x2c;
    let missing = || PortError::Config(format!("no interface `{name}`: create it"));
    let query = Query::new(name).ok_or_else(missing)?.map_err(|e| PortError::io(format!("asking about interface `{name}`"), e))?;
    query.ethtool_set(SET_GRO, 1).map_err(|e| match (e.raw_os_error(), e.kind()) {
        (Some(libc::ENODEV), _) => missing(),
        (_, ErrorKind::PermissionDenied) => PortError::Permission(format!("turning on GRO of `{name}` needs CAP_NET_ADMIN")),
        _ => PortError::io(format!("turning on GRO of `{name}`"), e),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loopback_is_known() {
        let lo = Interface::find("lan", "lo").unwrap();
        assert_eq!((lo.name.as_str(), lo.mac), ("lo", [0; 6]));
        assert!(lo.mtu >= 1500 && lo.index > 0 && lo.rx_queues >= 1);
        if lo.up {
            assert!(lo.addresses.contains(&(IpAddr::from([127, 0, 0, 1]), 8)), "{:?}", lo.addresses);
        }
    }

    #[test]
    fn names_that_cannot_be_are_missing_interfaces() {
        for name in ["", "no-such-if0", "a/b", "with space", "name-of-sixteen-", "nul\0"] {
            let error = Interface::find("lan", name).unwrap_err();
            assert!(matches!(error, PortError::Config(_)));
            assert_eq!(error.to_string(), format!("no interface `{name}`: create it or change ports.lan.interface"));
            assert!(matches!(disable_offloads(name), Err(PortError::Config(_))));
        }
    }
}
