//! Checks what a configuration needs of this machine: addresses, interfaces, the compiler, cores. Nothing stays open.

use super::{Config, Driver, FastTarget, Fault, Port, Role};
use std::net::{SocketAddr, UdpSocket};

/// What GTP-U puts around a user's packet: IPv4 20, UDP 8, GTP-U 8 and its PDU session container 8 bytes.
const TUNNEL: usize = 44;
/// A TUN device's MTU, unless somebody changes it; and the least that a port may have.
const USUAL_MTU: u16 = 1500;
const MIN_MTU: u16 = 576;

impl Config {
    /// Looks whether the machine has what the file names; with objects that were compiled ahead it needs no compiler but one that is asked for. What
    /// works but is hardly meant comes back as warnings.
    pub fn check_machine(&self, has_objects: bool) -> Result<Vec<String>, Fault> {
        // A node that may be a standby has its addresses when it serves.
        if self.shared_store().is_none() {
            address("n4.listen", self.n4.listen)?;
        }
        self.check_compilers(has_objects)?;
        self.check_cores()?;
        self.check_interfaces()
    }

    fn check_compilers(&self, has_objects: bool) -> Result<(), Fault> {
        let key = if self.engine.cc.is_some() { "engine.cc" } else { "" };
        if self.engine.cc.is_some() || !has_objects {
            target_x86::compiler(self.engine.cc.as_deref()).map_err(|e| Fault::new(key, e.to_string()))?;
        }
        if self.split.fast == Some(FastTarget::Xdp) && !has_objects {
            target_xdp::compiler(None).map_err(|e| Fault::new("split.fast", e.to_string()))?;
        }
        Ok(())
    }

    fn check_cores(&self) -> Result<(), Fault> {
        let Ok(allowed) = rustix::thread::sched_getaffinity(None) else { return Ok(()) };
        let there: Vec<usize> = (0..rustix::thread::CpuSet::MAX_CPU).filter(|core| allowed.is_set(*core)).collect();
        match self.workers.cores.iter().position(|core| !there.contains(core)) {
            Some(i) => {
                let shown: Vec<String> = there.iter().take(16).map(usize::to_string).collect();
                let more = if there.len() > 16 { ", ..." } else { "" };
                let what = format!("expected a core that this process may run on: {}{more}", shown.join(", "));
                Err(Fault::new(format!("workers.cores[{i}]"), what))
            }
            None => Ok(()),
        }
    }

    /// Whether the machine has what a port names; its MTU, where that is known before it is opened.
    pub(crate) fn check_port(&self, at: usize) -> Result<Option<usize>, Fault> {
        let port = &self.ports[at];
        if port.driver == Driver::Udp
            && self.shared_store().is_none()
            && let Some(listen) = port.listen
        {
            address(&format!("port[{at}].listen"), listen)?;
        }
        match (&port.interface, port.driver) {
            (Some(name), Driver::Auto | Driver::AfXdp | Driver::AfPacket) => {
                let key = format!("port[{at}].interface");
                let found = pktio::Interface::find(&port.name, name);
                let interface = found.map_err(|_| Fault::new(&key, "expected an Ethernet interface of this machine"))?;
                if !interface.up {
                    return Err(Fault::new(&key, format!("it is down: run `ip link set {name} up`")));
                }
                Ok(Some(interface.mtu))
            }
            (_, Driver::Dpdk | Driver::Udp) => Ok(port.mtu.map(usize::from)),
            // One that is made fits N3.
            (Some(name), Driver::Tun) => Ok(port.mtu.map(usize::from).or_else(|| pktio::interface::mtu(name))),
            _ => Ok(None),
        }
    }

    fn check_interfaces(&self) -> Result<Vec<String>, Fault> {
        // Longest IP packets by side.
        let (mut access, mut core) = (Vec::new(), Vec::new());
        for (i, port) in self.ports.iter().enumerate() {
            let Some(mtu) = self.check_port(i)? else { continue };
            if port.role != Role::Core {
                access.push((i, mtu));
            }
            // A one-armed port has one MTU for both, which nothing can mend.
            if port.role == Role::Core {
                core.push(mtu);
            }
        }
        let longest = core.into_iter().max().unwrap_or(0);
        let short = access.into_iter().filter(|(_, mtu)| *mtu < longest + TUNNEL);
        let warning = |(i, mtu): (usize, usize)| {
            let what = format!(
                "its MTU is {mtu}, and N6 has packets of {longest} bytes that need {} in a tunnel: senders of more than {} bytes are told that it \
                 does not fit, and what may be fragmented is dropped",
                longest + TUNNEL,
                mtu.saturating_sub(TUNNEL)
            );
            self.source.show(&Fault::new(format!("port[{i}].interface"), what))
        };
        Ok(short.map(warning).collect())
    }
}

/// The longest of users' packets that fits the tunnels of all these ports, in bytes, as far as their MTU is known.
pub(crate) fn longest_user_packet(ports: &[Port]) -> Option<u16> {
    let mtu = |port: &Port| match (&port.interface, port.driver) {
        (Some(name), Driver::Auto | Driver::AfXdp | Driver::AfPacket) => pktio::interface::mtu(name),
        _ => port.mtu.map(usize::from),
    };
    let shortest = ports.iter().filter(|port| port.role != Role::Core).filter_map(mtu).min()?;
    u16::try_from(shortest.saturating_sub(TUNNEL)).ok().filter(|fits| (MIN_MTU..USUAL_MTU).contains(fits))
}

/// Whether an address is this machine's; its port may be in use.
fn address(key: &str, address: SocketAddr) -> Result<(), Fault> {
    match UdpSocket::bind((address.ip(), 0)) {
        Err(e) if e.kind() == std::io::ErrorKind::AddrNotAvailable => {
            Err(Fault::new(key, "it is not an address of this machine; `ip address` shows those"))
        }
        _ => Ok(()),
    }
}
