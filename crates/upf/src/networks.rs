//! Network instances (TS 29.244 §8.2.4) as VRF numbers, and which one a rule means.

use std::net::Ipv4Addr;

use indexmap::IndexSet;
use pfcp::rules::Interface;

use crate::config::{NetworkConfig, Role};

/// Number of a network instance in the program: `meta.vrf`. From 1.
pub type Vrf = u16;

/// The network instances of a configuration.
#[derive(Clone, Debug)]
pub struct Networks {
    /// Position is VRF number less 1.
    names: IndexSet<String>,
    /// Instances with a port on the access side, in order; then overlays.
    access: Vec<Vrf>,
    /// Instances with a port on the core side, in order; then overlays.
    core: Vec<Vrf>,
    cp_function: Option<Vrf>,
    endpoints: Vec<(Vrf, Ipv4Addr)>,
}

impl Networks {
    /// Of a configuration that validates.
    pub fn new(config: &NetworkConfig) -> Networks {
        let names = config.instance_names();
        let number = |name: &str| names.get_index_of(&name.to_lowercase()).map(|i| i as Vrf + 1);
        let (mut access, mut core, mut endpoints) = (Vec::new(), Vec::new(), Vec::new());
        for port in &config.ports {
            let Some(vrf) = number(&port.network_instance) else { continue };
            if port.role != Role::Core && !access.contains(&vrf) {
                access.push(vrf);
            }
            if port.role != Role::Access && !core.contains(&vrf) {
                core.push(vrf);
            }
            endpoints.extend(port.gtpu_endpoints.iter().map(|ip| (vrf, *ip)));
        }
        for (_, name) in config.vxlan.iter().flat_map(|v| &v.vnis) {
            let Some(vrf) = number(name) else { continue };
            if !access.contains(&vrf) && !core.contains(&vrf) {
                access.push(vrf);
                core.push(vrf);
            }
        }
        let cp_function = config.cp_function_network_instance.as_deref().and_then(number);
        Networks { access, core, cp_function, endpoints, names }
    }

    /// Number of a network instance.
    pub fn vrf(&self, name: &str) -> Option<Vrf> {
        self.names.get_index_of(&name.to_lowercase()).map(|i| i as Vrf + 1)
    }

    /// Name of a VRF.
    pub fn name(&self, vrf: Vrf) -> Option<&str> {
        self.names.get_index(usize::from(vrf).checked_sub(1)?).map(String::as_str)
    }

    /// All VRFs.
    pub fn vrfs(&self) -> impl Iterator<Item = Vrf> + use<> {
        1..=self.names.len() as Vrf
    }

    /// The VRF that a rule with this interface and network instance means.
    ///
    /// SMFs name the DNN on both sides, though it is a network of the core side only: a name that is no instance of
    /// that side therefore means the side's default (its first). On the core side this is taken only where
    /// there is one instance: with several, a guess would put a UE into a foreign network.
    pub fn resolve(&self, interface: Interface, name: Option<&str>) -> Result<Vrf, String> {
        let candidates = match interface {
            Interface::Access => &self.access,
            Interface::CpFunction => match self.cp_function {
                Some(vrf) => return Ok(vrf),
                None => &self.access,
            },
            Interface::Core | Interface::SgiLan => &self.core,
            Interface::VnInternal => return Err("interface 5G VN internal is not served".into()),
        };
        let named = name.and_then(|n| self.vrf(n)).filter(|vrf| candidates.contains(vrf));
        let Some(default) = candidates.first().copied() else {
            return Err(format!("no port serves interface {interface:?}"));
        };
        match (named, name) {
            (Some(vrf), _) => Ok(vrf),
            (None, Some(name)) if candidates.len() > 1 && matches!(interface, Interface::Core | Interface::SgiLan) => {
                Err(format!("network instance \"{name}\" is not configured on the core side"))
            }
            _ => Ok(default),
        }
    }

    /// Our tunnel endpoints in a VRF.
    pub fn endpoints(&self, vrf: Vrf) -> impl Iterator<Item = Ipv4Addr> + '_ {
        self.endpoints.iter().filter(move |(v, _)| *v == vrf).map(|(_, ip)| *ip)
    }

    /// The VRF of an endpoint of ours.
    pub fn endpoint_vrf(&self, endpoint: Ipv4Addr) -> Option<Vrf> {
        self.endpoints.iter().find(|(_, ip)| *ip == endpoint).map(|(vrf, _)| *vrf)
    }
}
