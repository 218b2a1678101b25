//! Next hops and routes that follow from the configuration alone, numbered for table `nexthop`.
//!
//! A changed configuration is another plan, in which what stays keeps its number ([`Plan::renewed`]): packets name next hops by it.

use std::collections::{BTreeMap, HashMap};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use base::PortId;
use indexmap::IndexMap;
use program::{Entry, KeyMatch, Op};
use wire::ethernet::Mac;

use crate::config::{self, NetworkConfig, Prefix, Via, VxlanRemote};
use crate::ids::Ids;
use crate::networks::{Networks, Vrf};

/// Bytes that VXLAN takes of the underlay's MTU: IPv4, UDP, VXLAN and the inner Ethernet header (RFC 7348 §5).
const VXLAN_OVERHEAD: u16 = 50;

/// A port as a host sees it.
#[derive(Clone, Debug)]
pub struct HostPort {
    /// Number.
    pub id: PortId,
    /// Our MAC address.
    pub mac: Mac,
    /// Longest IP packet, in bytes.
    pub mtu: u16,
    /// Network instance.
    pub vrf: Vrf,
    /// Our addresses and their networks.
    pub addresses: Vec<Prefix>,
    /// Our tunnel endpoints.
    pub endpoints: Vec<Ipv4Addr>,
    /// See [`config::PortConfig::proxy_prefixes`].
    pub proxy_prefixes: Vec<Prefix>,
    /// Networks whose hosts are neighbours: of the addresses, and of routes to the port itself.
    pub on_link: Vec<Prefix>,
    /// See [`config::PortConfig::far_end`].
    pub far_end: Option<Mac>,
    /// Our link-local address (RFC 4291 §2.5.1), where the port has IPv6.
    pub link_local: Option<Ipv6Addr>,
    /// See [`config::PortConfig::reachable`].
    pub reachable: Option<Vec<Prefix>>,
}

impl HostPort {
    /// Whether it carries VXLAN outside.
    pub fn is_vxlan(&self) -> bool {
        self.id.0 & 0x100 != 0
    }

    /// Whether an address of ours is here.
    pub fn has(&self, ip: IpAddr) -> bool {
        self.addresses.iter().any(|(own, _)| *own == ip) || self.link_local.is_some_and(|own| ip == own) || self.has_endpoint(ip)
    }

    /// Whether a tunnel endpoint of ours is here.
    pub fn has_endpoint(&self, ip: IpAddr) -> bool {
        self.endpoints.iter().any(|own| ip == *own)
    }

    /// Whether packets to an address of the port are its far end's, not ours.
    fn leaves_to_far_end(&self, ip: IpAddr) -> bool {
        self.reachable.iter().flatten().any(|prefix| config::contains(*prefix, ip))
    }

    /// Whether `ip` is a host of a network of the port, and not that network's own or broadcast address.
    pub fn reaches(&self, ip: IpAddr) -> bool {
        let host = |prefix: &&Prefix| {
            if !config::contains(**prefix, ip) {
                return false;
            }
            let wildcard = !config::prefix_mask(ip, prefix.1) & base::Bits::mask(config::width(ip).into());
            let host = config::bits(ip) & wildcard;
            // RFC 3021: networks of 31 bits have neither; IPv6 has no broadcast.
            !ip.is_ipv4() || wildcard <= 1 || (host != 0 && host != wildcard)
        };
        !self.is_vxlan() && !ip.is_multicast() && self.on_link.iter().find(host).is_some()
    }
}

/// What a number in table `nexthop` leads to.
#[derive(Clone, Debug)]
pub enum Hop {
    /// An address of ours in that network instance: punted.
    Local(Vrf),
    /// Any neighbour on the port that has no number of its own yet: punted.
    Glean {
        /// Network instance.
        vrf: Vrf,
        /// Position of the port.
        port: usize,
    },
    /// A router, or a neighbour whose MAC address is given.
    Neighbour {
        /// Network instance.
        vrf: Vrf,
        /// Position of the port.
        port: usize,
        /// Address.
        ip: IpAddr,
        /// MAC address, if given.
        mac: Option<Mac>,
    },
    /// Anything beyond a port without a link layer.
    FarEnd {
        /// Network instance.
        vrf: Vrf,
        /// Position of the port.
        port: usize,
        /// MAC address of the far end.
        mac: Mac,
    },
    /// The machine behind a port, which users do not reach: dropped.
    Machine,
    /// Behind VXLAN.
    Remote {
        /// Network instance.
        vrf: Vrf,
        /// Position of the port.
        port: usize,
        /// Where.
        remote: VxlanRemote,
    },
}

/// What a next hop is, whatever its number: the same in two plans for the same overlays.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Identity {
    /// [`Hop::Local`].
    Local(Vrf),
    /// [`Hop::Glean`] and [`Hop::FarEnd`].
    Port(PortId),
    /// [`Hop::Neighbour`].
    Neighbour(Vrf, IpAddr),
    /// [`Hop::Machine`].
    Machine,
    /// [`Hop::Remote`]: its position in the configuration.
    Remote(usize),
}

/// All of it.
#[derive(Clone, Debug, Default)]
pub struct Plan {
    /// Ports in the order of the configuration.
    pub ports: Vec<HostPort>,
    /// By number, from 1.
    pub hops: BTreeMap<u16, Hop>,
    /// Next hop numbers of routes.
    pub routes: IndexMap<(Vrf, Prefix), u16>,
    numbers: HashMap<Identity, u16>,
}

/// There are more next hops than numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("all next hops are in use")]
pub struct NoNextHop;

/// Where numbers of a plan come from.
struct Numbering<'a> {
    kept: &'a HashMap<Identity, u16>,
    free: &'a mut dyn Iterator<Item = u16>,
    /// There were too few.
    exhausted: bool,
}

impl Plan {
    /// Of a configuration that validates.
    pub fn new(config: &NetworkConfig, networks: &Networks) -> Plan {
        let mut numbering = Numbering { kept: &HashMap::new(), free: &mut (1..=u16::MAX), exhausted: false };
        Plan::numbered(config, networks, &mut numbering)
    }

    /// Of a configuration with the same overlays, after this one: what has a number in `kept` has it in the new plan, and what is new gets one
    /// of `free`.
    pub fn renewed(
        config: &NetworkConfig,
        networks: &Networks,
        kept: &HashMap<Identity, u16>,
        free: &mut dyn Iterator<Item = u16>,
    ) -> Result<Plan, NoNextHop> {
        let mut numbering = Numbering { kept, free, exhausted: false };
        let plan = Plan::numbered(config, networks, &mut numbering);
        if numbering.exhausted { Err(NoNextHop) } else { Ok(plan) }
    }

    fn numbered(config: &NetworkConfig, networks: &Networks, numbering: &mut Numbering) -> Plan {
        let ports = config.ports.iter().map(|p| host_port(p, networks, config)).collect();
        let mut plan = Plan { ports, ..Plan::default() };
        plan.add_local(networks, numbering);
        plan.add_machine(&config.machine, numbering);
        plan.add_remotes(config, networks, numbering);
        plan.add_neighbours(config, numbering);
        plan.add_configured_routes(config, networks, numbering);
        plan.add_connected(numbering);
        plan
    }

    /// The hop of a number.
    pub fn hop(&self, number: u16) -> Option<&Hop> {
        self.hops.get(&number)
    }

    /// Numbers by what has them.
    pub fn numbers(&self) -> &HashMap<Identity, u16> {
        &self.numbers
    }

    /// The route to an address: longest prefix.
    pub fn route(&self, vrf: Vrf, ip: IpAddr) -> Option<u16> {
        let fits = self.routes.iter().filter(|((v, prefix), _)| *v == vrf && config::contains(*prefix, ip));
        fits.max_by_key(|((_, prefix), _)| prefix.1).map(|(_, number)| *number)
    }

    /// Position of a port.
    pub fn position(&self, id: PortId) -> Option<usize> {
        self.ports.iter().position(|port| port.id == id)
    }

    /// The port on whose network `ip` is a neighbour without a number of its own.
    pub fn on_link(&self, vrf: Vrf, ip: IpAddr) -> Option<usize> {
        match self.hop(self.route(vrf, ip)?)? {
            Hop::Glean { port, .. } => Some(*port).filter(|port| self.ports[*port].reaches(ip)),
            _ => None,
        }
    }

    /// The number of a next hop that may be there already.
    fn number(&mut self, identity: Identity, numbering: &mut Numbering, hop: impl FnOnce() -> Hop) -> u16 {
        if let Some(number) = self.numbers.get(&identity) {
            return *number;
        }
        let number = numbering.kept.get(&identity).copied().or_else(|| numbering.free.next());
        numbering.exhausted |= number.is_none();
        let number = number.unwrap_or_default();
        self.hops.insert(number, hop());
        self.numbers.insert(identity, number);
        number
    }

    /// Packets to an address of ours come to the host, whatever way they came.
    fn add_local(&mut self, networks: &Networks, numbering: &mut Numbering) {
        for vrf in networks.vrfs() {
            let number = self.number(Identity::Local(vrf), numbering, || Hop::Local(vrf));
            for port in self.ports.iter().filter(|p| p.vrf == vrf) {
                let endpoints = port.endpoints.iter().map(|ip| IpAddr::V4(*ip));
                for ip in port.addresses.iter().map(|(ip, _)| *ip).chain(endpoints).filter(|ip| !port.leaves_to_far_end(*ip)) {
                    self.routes.insert((vrf, (ip, config::width(ip))), number);
                }
            }
        }
    }

    /// Users' packets do not reach the machine that routes behind a port, but where that is wanted.
    fn add_machine(&mut self, machine: &[Prefix], numbering: &mut Numbering) {
        for port in 0..self.ports.len() {
            let HostPort { vrf, reachable: Some(reachable), .. } = self.ports[port].clone() else { continue };
            for prefix in &reachable {
                let number = self.glean(vrf, port, numbering);
                self.routes.entry((vrf, *prefix)).or_insert(number);
            }
            let within = |prefix: &Prefix| reachable.iter().any(|wider| wider.1 <= prefix.1 && config::contains(*wider, prefix.0));
            for prefix in machine.iter().filter(|prefix| !within(prefix)) {
                let number = self.number(Identity::Machine, numbering, || Hop::Machine);
                self.routes.entry((vrf, *prefix)).or_insert(number);
            }
        }
    }

    fn add_remotes(&mut self, config: &NetworkConfig, networks: &Networks, numbering: &mut Numbering) {
        for (at, remote) in config.vxlan.iter().flat_map(|v| &v.remotes).enumerate() {
            let port = self.ports.iter().position(|p| p.id == remote.port);
            let (Some(vrf), Some(port)) = (networks.vrf(&remote.network_instance), port) else { continue };
            let number = self.number(Identity::Remote(at), numbering, || Hop::Remote { vrf, port, remote: remote.clone() });
            self.routes.entry((vrf, (remote.gateway, config::width(remote.gateway)))).or_insert(number);
        }
    }

    fn add_neighbours(&mut self, config: &NetworkConfig, numbering: &mut Numbering) {
        for n in &config.neighbours {
            let Some(port) = self.ports.iter().position(|p| p.id == n.port) else { continue };
            self.neighbour(self.ports[port].vrf, port, n.ip, Some(Mac(n.mac)), numbering);
        }
    }

    /// The number of a neighbour, with a route to itself.
    fn neighbour(&mut self, vrf: Vrf, port: usize, ip: IpAddr, mac: Option<Mac>, numbering: &mut Numbering) -> u16 {
        let number = self.number(Identity::Neighbour(vrf, ip), numbering, || Hop::Neighbour { vrf, port, ip, mac });
        self.routes.entry((vrf, (ip, config::width(ip)))).or_insert(number);
        number
    }

    fn add_configured_routes(&mut self, config: &NetworkConfig, networks: &Networks, numbering: &mut Numbering) {
        for route in &config.routes {
            let Some(vrf) = networks.vrf(&route.network_instance) else { continue };
            let number = match route.via {
                Via::Connected(port) => self.ports.iter().position(|p| p.id == port).map(|port| self.glean(vrf, port, numbering)),
                Via::Gateway(ip) => self.gateway(vrf, ip, numbering),
            };
            if let Some(number) = number {
                self.routes.insert((vrf, route.prefix), number);
            }
        }
    }

    fn gateway(&mut self, vrf: Vrf, ip: IpAddr, numbering: &mut Numbering) -> Option<u16> {
        let is = |hop: &Hop| matches!(hop, Hop::Remote { vrf: v, remote, .. } if (*v, remote.gateway) == (vrf, ip));
        if let Some((number, _)) = self.hops.iter().find(|(_, hop)| is(hop)) {
            return Some(*number);
        }
        let on = |p: &HostPort| p.vrf == vrf && p.addresses.iter().any(|a| config::contains(*a, ip));
        let port = self.ports.iter().position(on)?;
        // Who is behind a far end is the kernel's business, routers too.
        let own = self.ports[port].far_end.is_none();
        Some(if own { self.neighbour(vrf, port, ip, None, numbering) } else { self.glean(vrf, port, numbering) })
    }

    /// The number of all on the port that have none of their own.
    fn glean(&mut self, vrf: Vrf, port: usize, numbering: &mut Numbering) -> u16 {
        let HostPort { id, far_end, .. } = self.ports[port];
        self.number(Identity::Port(id), numbering, || match far_end {
            Some(mac) => Hop::FarEnd { vrf, port, mac },
            None => Hop::Glean { vrf, port },
        })
    }

    fn add_connected(&mut self, numbering: &mut Numbering) {
        for port in 0..self.ports.len() {
            if self.ports[port].is_vxlan() {
                continue;
            }
            let vrf = self.ports[port].vrf;
            for (ip, len) in self.ports[port].addresses.clone() {
                if len < config::width(ip) {
                    let number = self.glean(vrf, port, numbering);
                    self.routes.entry((vrf, (config::network((ip, len)), len))).or_insert(number);
                }
            }
        }
    }
}

fn host_port(port: &config::PortConfig, networks: &Networks, config: &NetworkConfig) -> HostPort {
    let connected = config.routes.iter().filter(|r| r.via == Via::Connected(port.id)).map(|r| r.prefix);
    HostPort {
        id: port.id,
        mtu: port.mtu,
        mac: Mac(port.mac),
        vrf: networks.vrf(&port.network_instance).unwrap_or_default(),
        addresses: port.addresses.clone(),
        endpoints: port.gtpu_endpoints.clone(),
        proxy_prefixes: port.proxy_prefixes.clone(),
        far_end: port.far_end.map(Mac),
        on_link: port.addresses.iter().copied().chain(connected).collect(),
        reachable: port.reachable.clone(),
        link_local: port.addresses.iter().any(|(ip, _)| ip.is_ipv6()).then(|| link_local(Mac(port.mac))),
    }
}

/// Link-local address from the modified EUI-64 of a MAC address (RFC 4291 appendix A).
fn link_local(mac: Mac) -> Ipv6Addr {
    let [a, b, c, d, e, f] = mac.0;
    let pair = |high, low| u16::from_be_bytes([high, low]);
    Ipv6Addr::new(0xfe80, 0, 0, 0, pair(a ^ 2, b), pair(c, 0xff), pair(0xfe, d), pair(e, f))
}

/// Entry of table `route_ipv4` or `route_ipv6`.
pub fn route_entry(vrf: Vrf, (ip, len): Prefix, number: u16, ids: &Ids) -> Entry {
    let table = if ip.is_ipv4() { ids.tables.route_ipv4 } else { ids.tables.route_ipv6 };
    let prefix = KeyMatch::Lpm { value: config::bits(ip), prefix_len: len.into() };
    let keys = vec![KeyMatch::Exact(vrf.into()), prefix];
    Entry { table, keys, priority: 0, action: ids.actions.set_nexthop, args: vec![number.into()] }
}

/// Entry of table `nexthop`: `send` with a MAC address, else `unresolved`.
pub fn nexthop_entry(number: u16, port: &HostPort, mac: Option<Mac>, ids: &Ids) -> Entry {
    let (action, args) = match mac {
        Some(mac) => (ids.actions.send, vec![port.id.0.into(), port.mac.bits().into(), mac.bits().into(), port.mtu.into()]),
        None => (ids.actions.unresolved, vec![number.into()]),
    };
    Entry { table: ids.tables.nexthop, keys: vec![KeyMatch::Exact(number.into())], priority: 0, action, args }
}

impl Plan {
    /// Inserts of all next hops and routes.
    pub fn ops(&self, ids: &Ids) -> Vec<Op> {
        let hops = self.hops.iter().map(|(number, hop)| self.hop_entry(*number, hop, ids));
        hops.chain(self.route_entries(ids)).map(Op::Insert).collect()
    }

    /// Entry of table `nexthop`, as it is at the start.
    pub fn hop_entry(&self, number: u16, hop: &Hop, ids: &Ids) -> Entry {
        let keys = vec![KeyMatch::Exact(number.into())];
        match hop {
            Hop::Local(_) | Hop::Glean { .. } => {
                let (action, args) = (ids.actions.unresolved, vec![number.into()]);
                Entry { table: ids.tables.nexthop, keys, priority: 0, action, args }
            }
            Hop::Machine => {
                let (action, args) = (ids.actions.nexthop_drop, vec![ids.reasons.machine_address.into()]);
                Entry { table: ids.tables.nexthop, keys, priority: 0, action, args }
            }
            Hop::Neighbour { port, mac, .. } => nexthop_entry(number, &self.ports[*port], *mac, ids),
            Hop::FarEnd { port, mac, .. } => nexthop_entry(number, &self.ports[*port], Some(*mac), ids),
            Hop::Remote { port, remote, .. } => {
                let port = &self.ports[*port];
                let args = vec![
                    port.id.0.into(),
                    port.mac.bits().into(),
                    Mac(remote.mac).bits().into(),
                    remote.vni.into(),
                    u32::from(remote.local_vtep).into(),
                    u32::from(remote.remote_vtep).into(),
                    port.mac.bits().into(),
                    Mac(remote.underlay_mac).bits().into(),
                    port.mtu.saturating_sub(VXLAN_OVERHEAD).into(),
                ];
                Entry { table: ids.tables.nexthop, keys, priority: 0, action: ids.actions.send_vxlan, args }
            }
        }
    }

    /// Entries of the routes.
    pub fn route_entries(&self, ids: &Ids) -> impl Iterator<Item = Entry> {
        self.routes.iter().map(|((vrf, prefix), number)| route_entry(*vrf, *prefix, *number, ids))
    }
}
