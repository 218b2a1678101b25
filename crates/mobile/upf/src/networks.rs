//! Network instances (TS 29.244 §8.2.4) as VRF numbers, and which one a rule means.
//!
//! Nothing here depends on the order of the ports: where a rule leaves open which instance it means, its tunnels and the routes
//! decide, or the port that the operator marked, or the rule is refused.

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

use indexmap::IndexMap;
use pfcp::rules::Interface;

use crate::config::{self, NetworkConfig, Prefix, Role};

/// Number of a network instance in the program: `meta.vrf`. From 1.
pub type Vrf = u16;

/// The network instances of a configuration.
#[derive(Clone, Debug)]
pub struct Networks {
    names: IndexMap<String, Vrf>,
    access: Side,
    core: Side,
    cp_function: Side,
    endpoints: Vec<(Vrf, Ipv4Addr)>,
    /// Destinations of IPv4 that have a way out, for tunnels' outer addresses.
    routes: Vec<(Vrf, Prefix)>,
}

/// The instances of one side.
#[derive(Clone, Debug, Default)]
struct Side {
    vrfs: BTreeSet<Vrf>,
    /// Those with a port that is marked.
    defaults: BTreeSet<Vrf>,
}

/// What tells instances of one side apart where a rule names none of them.
#[derive(Clone, Debug, Default)]
pub struct Clues {
    /// Instances of the session's own tunnels on that side.
    pub tunnels: BTreeSet<Vrf>,
    /// Where packets are sent: the far end of a tunnel.
    pub peer: Option<Ipv4Addr>,
}

/// Why a rule means no network instance.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// 5G VN groups are left out (TS 29.244 §5.23).
    #[error("interface 5G VN internal is not served")]
    VnInternal,
    /// The configuration has none for it.
    #[error("no port serves this interface")]
    NoPort,
    /// The SMF's configuration or ours must say which.
    #[error("it may mean any of \"{}\": name one, or mark a port `default = true`", .0.join("\", \""))]
    Ambiguous(Vec<String>),
}

impl Networks {
    /// Of a configuration that validates.
    pub fn new(config: &NetworkConfig) -> Networks {
        Networks::numbered(config, &IndexMap::new())
    }

    /// Of a configuration that validates and comes after this one: an instance that stays keeps its number, and a new one gets a number that none had.
    pub fn renewed(&self, config: &NetworkConfig) -> Networks {
        Networks::numbered(config, &self.names)
    }

    fn numbered(config: &NetworkConfig, kept: &IndexMap<String, Vrf>) -> Networks {
        let mut free = (1..=Vrf::MAX).filter(|vrf| !kept.values().any(|known| known == vrf));
        let mut number = |name: &String| kept.get(name).copied().or_else(|| free.next()).unwrap_or_default();
        let names: IndexMap<String, Vrf> = config.instance_names().into_iter().map(|name| (name.clone(), number(&name))).collect();
        let number = |name: &str| names.get(&name.to_lowercase()).copied();
        let (mut access, mut core, mut cp_function) = (Side::default(), Side::default(), Side::default());
        let (mut endpoints, mut routes) = (Vec::new(), Vec::new());
        for port in &config.ports {
            let Some(vrf) = number(&port.network_instance) else { continue };
            let sides: &mut [&mut Side] = match port.role {
                Role::Access => &mut [&mut access],
                Role::Core => &mut [&mut core],
                Role::Both => &mut [&mut access, &mut core],
                Role::CpFunction => &mut [&mut cp_function],
            };
            for side in sides {
                side.vrfs.insert(vrf);
                if port.default {
                    side.defaults.insert(vrf);
                }
            }
            endpoints.extend(port.gtpu_endpoints.iter().map(|ip| (vrf, *ip)));
            routes.extend(port.addresses.iter().map(|prefix| (vrf, *prefix)));
        }
        for (_, name) in config.vxlan.iter().flat_map(|v| &v.vnis) {
            let Some(vrf) = number(name) else { continue };
            if ![&access, &core, &cp_function].iter().any(|side| side.vrfs.contains(&vrf)) {
                access.vrfs.insert(vrf);
                core.vrfs.insert(vrf);
            }
        }
        let remotes = config.vxlan.iter().flat_map(|v| &v.remotes).map(|r| (&r.network_instance, (r.gateway, config::width(r.gateway))));
        let configured = config.routes.iter().map(|r| (&r.network_instance, r.prefix)).chain(remotes);
        routes.extend(configured.filter_map(|(name, prefix)| Some((number(name)?, prefix))));
        routes.retain(|(_, (ip, _))| ip.is_ipv4());
        Networks { access, core, cp_function, endpoints, routes, names }
    }

    /// Number of a network instance.
    pub fn vrf(&self, name: &str) -> Option<Vrf> {
        self.names.get(&name.to_lowercase()).copied()
    }

    /// Name of a VRF.
    pub fn name(&self, vrf: Vrf) -> Option<&str> {
        self.names.iter().find(|(_, number)| **number == vrf).map(|(name, _)| name.as_str())
    }

    /// All VRFs.
    pub fn vrfs(&self) -> impl Iterator<Item = Vrf> {
        self.names.values().copied()
    }

    /// All our tunnel endpoints.
    pub fn all_endpoints(&self) -> impl Iterator<Item = Ipv4Addr> {
        self.endpoints.iter().map(|(_, ip)| *ip)
    }

    /// The VRF that a rule with this interface and network instance means.
    ///
    /// SMFs name the DNN on all sides, though it is a network of the core side only. So a name that is no instance of the rule's side
    /// tells nothing there, and the first of these that leaves one instance decides: there is only one; the session's own tunnels
    /// on that side end in one, from which there is a route to the peer; the longest route to the peer; a port that is marked
    /// `default`. Else the rule is refused: a guess would lose the packets, or put a UE into a foreign network.
    ///
    /// Tunnels to the CP function use the access side where no port is for the CP function.
    pub fn resolve(&self, interface: Interface, name: Option<&str>, clues: &Clues) -> Result<Vrf, ResolveError> {
        let side = match interface {
            Interface::Access => &self.access,
            Interface::CpFunction if self.cp_function.vrfs.is_empty() => &self.access,
            Interface::CpFunction => &self.cp_function,
            Interface::Core | Interface::SgiLan => &self.core,
            Interface::VnInternal => return Err(ResolveError::VnInternal),
        };
        let named = name.and_then(|n| self.vrf(n)).filter(|vrf| side.vrfs.contains(vrf));
        let of_tunnels = || {
            let reaches = |vrf: &&Vrf| clues.peer.is_none_or(|peer| self.route_len(**vrf, peer).is_some());
            one(clues.tunnels.intersection(&side.vrfs).filter(reaches))
        };
        let by_route = || {
            let lens = || side.vrfs.iter().filter_map(|vrf| Some((self.route_len(*vrf, clues.peer?)?, vrf)));
            let longest = lens().map(|(len, _)| len).max()?;
            one(lens().filter(|(len, _)| *len == longest).map(|(_, vrf)| vrf))
        };
        let decided = named.or_else(|| one(&side.vrfs)).or_else(of_tunnels).or_else(by_route).or_else(|| one(&side.defaults));
        decided.ok_or_else(|| self.undecided(side))
    }

    /// The candidates, for the operator who must change the SMF's or our configuration.
    fn undecided(&self, side: &Side) -> ResolveError {
        if side.vrfs.is_empty() {
            return ResolveError::NoPort;
        }
        let mut instances: Vec<String> = side.vrfs.iter().filter_map(|vrf| self.name(*vrf)).map(str::to_owned).collect();
        instances.sort_unstable();
        ResolveError::Ambiguous(instances)
    }

    /// Length of the longest prefix that leads from `vrf` to `peer`.
    fn route_len(&self, vrf: Vrf, peer: Ipv4Addr) -> Option<u8> {
        let fits = self.routes.iter().filter(|(v, prefix)| *v == vrf && config::contains(*prefix, IpAddr::V4(peer)));
        fits.map(|(_, prefix)| prefix.1).max()
    }

    /// Whether packets to `peer` find a way from `vrf`.
    pub fn has_route(&self, vrf: Vrf, peer: Ipv4Addr) -> bool {
        self.route_len(vrf, peer).is_some()
    }

    /// Our tunnel endpoints in a VRF, ascending.
    pub fn endpoints(&self, vrf: Vrf) -> BTreeSet<Ipv4Addr> {
        self.endpoints.iter().filter(|(v, _)| *v == vrf).map(|(_, ip)| *ip).collect()
    }

    /// The VRF of an endpoint of ours.
    pub fn endpoint_vrf(&self, endpoint: Ipv4Addr) -> Option<Vrf> {
        self.endpoints.iter().find(|(_, ip)| *ip == endpoint).map(|(vrf, _)| *vrf)
    }
}

/// The only one.
fn one<'a>(vrfs: impl IntoIterator<Item = &'a Vrf>) -> Option<Vrf> {
    let mut vrfs = vrfs.into_iter();
    vrfs.next().copied().filter(|_| vrfs.next().is_none())
}
