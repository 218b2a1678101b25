//! The network configuration: ports, addresses, routes, neighbours, firewall, classes, VXLAN.
//!
//! Plain values without a file format; [`NetworkConfig::validate`] gives one-line errors that name the key.
//! Network instances (TS 29.244 §8.2.4) become VRF numbers in [`crate::networks`].

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr};

use base::PortId;
use program::MeterConfig;

/// An address and a prefix length in bits.
pub type Prefix = (IpAddr, u8);

/// Everything of it. `Default` is empty and does not validate: a UPF needs a port.
#[derive(Clone, Debug, Default)]
pub struct NetworkConfig {
    /// The ports.
    pub ports: Vec<PortConfig>,
    /// Routes beside those to the ports' own networks, which are made by themselves.
    pub routes: Vec<Route>,
    /// Neighbours whose MAC address is given, not asked for.
    pub neighbours: Vec<StaticNeighbour>,
    /// Global rules, the first that matches decides; what none matches is permitted.
    pub firewall: Vec<FirewallRule>,
    /// 5-tuple classes, the first that matches decides.
    pub traffic_classes: Vec<TrafficClass>,
    /// VXLAN overlays.
    pub vxlan: Option<VxlanConfig>,
    /// Read an MBR of 0 kbit/s as "no limit", as some SMFs mean it for non-GBR flows; otherwise it lets nothing pass.
    pub zero_mbr_unlimited: bool,
    /// Sessions at most; 0: as many as the program's tables hold.
    pub max_sessions: u32,
    /// What the UPF does as a host, at most.
    pub host: HostLimits,
    /// Networks that the machine's kernel takes for its own: users' packets to them do not go to a port with [`PortConfig::reachable`], but for those.
    pub machine: Vec<Prefix>,
    /// How rates are policed.
    pub policing: Policing,
}

/// How a rate is policed: packets over it are dropped, and the burst says how much may come at once after a pause.
///
/// TCP meets a drop by halving what it has in flight and sends again after a round trip, or after 200 ms where it waits for a timer. What the
/// bucket gathers meanwhile is what it gets: a burst of less than that pause is a rate that TCP never reaches.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Policing {
    /// Burst in milliseconds of the rate, 1 to [`Policing::MAX_BURST_MS`].
    pub burst_ms: u32,
}

impl Policing {
    /// Longest burst: one minute of the rate.
    pub const MAX_BURST_MS: u32 = 60_000;
    /// Smallest burst in bytes, whatever the rate: the longest packets pass.
    pub const MIN_BURST: u64 = 16 * 1024;

    /// One rate in bytes a second and its burst in bytes, as a meter has them: at most what a meter takes.
    ///
    /// A rate of zero has no burst either: nothing passes.
    pub fn meter(self, rate: u64) -> MeterConfig {
        let burst = if rate == 0 { 0 } else { self.burst(rate) };
        MeterConfig { cir: rate, cbs: burst, pir: rate, pbs: burst }
    }

    /// Burst in bytes of a rate in bytes a second.
    pub fn burst(self, rate: u64) -> u64 {
        let burst = u128::from(rate) * u128::from(self.burst_ms) / 1000;
        u64::try_from(burst).unwrap_or(u64::MAX).clamp(Policing::MIN_BURST, program::MAX_BURST)
    }
}

impl Default for Policing {
    fn default() -> Policing {
        Policing { burst_ms: 250 }
    }
}

/// How much of what anybody can make the UPF do as a host it does, at most; for each port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct HostLimits {
    /// Answers of each kind in a second: ARP and neighbour discovery, ICMP echo, GTP-U echo. Those whom we know and strangers are counted apart.
    pub answers_per_s: u32,
    /// Error Indications (TS 29.281 §7.3.1) and notifications sent in a second, and so many taken.
    pub error_indications_per_s: u32,
    /// ICMP errors sent in a second; a tenth of them to one sender. 0: none.
    pub icmp_errors_per_s: u32,
    /// Hosts of our networks that are asked for the first time in a second, on all ports.
    pub neighbours_per_s: u32,
    /// Seconds between echo requests of ours to each GTP-U peer of sessions, 60 at least (TS 29.281 §7.2.1); 0: none.
    pub gtpu_echo_s: u32,
}

impl Default for HostLimits {
    fn default() -> HostLimits {
        HostLimits { answers_per_s: 1000, error_indications_per_s: 100, icmp_errors_per_s: 1000, neighbours_per_s: 500, gtpu_echo_s: 0 }
    }
}

/// Which side a port serves: rules name it by their interface, and find the port's network instance by it.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Role {
    /// N3, N9 towards the access side.
    #[default]
    Access,
    /// N6, N9 towards the core side.
    Core,
    /// One-armed: access and core.
    Both,
    /// N4-U, towards the CP function. Without such a port, its tunnels use the access side.
    CpFunction,
}

/// A port. Its number says what the program expects there: 0-127 GTP-U and plain IP, 128-255 plain IP only,
/// 256-508 VXLAN outside and as the number less 256 inside. `Default` lacks what every port must have.
#[derive(Clone, Debug, Default)]
pub struct PortConfig {
    /// Number.
    pub id: PortId,
    /// Name for people, unique.
    pub name: String,
    /// Our MAC address on it.
    pub mac: [u8; 6],
    /// Longest IP packet, in bytes.
    pub mtu: u16,
    /// Our addresses and the prefix lengths of their networks.
    pub addresses: Vec<Prefix>,
    /// Network instance that packets arriving here belong to.
    pub network_instance: String,
    /// Side.
    pub role: Role,
    /// Addresses that tunnels end at; need not be on a network of the port.
    pub gtpu_endpoints: Vec<Ipv4Addr>,
    /// IPv4 networks that we answer ARP for, such as a pool of UEs that is on-link on N6. For IPv6, neighbours must have a
    /// route by us: solicited-node groups of a whole pool cannot be listed in an exact table.
    pub proxy_prefixes: Vec<Prefix>,
    /// The far end's MAC address on a port without a link layer, such as a socket: all frames go there, no neighbour is asked for.
    pub far_end: Option<[u8; 6]>,
    /// Where the far end is this machine's own kernel, which routes: networks with those addresses of the machine that users may send to. `None`: it is not.
    pub reachable: Option<Vec<Prefix>>,
    /// Its network instance is meant by rules of its side that leave open which instance they mean.
    pub default: bool,
}

/// A static route.
#[derive(Clone, Debug)]
pub struct Route {
    /// In which network instance.
    pub network_instance: String,
    /// Destinations, host bits zero.
    pub prefix: Prefix,
    /// Where to.
    pub via: Via,
}

/// Next hop of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Via {
    /// A router on a network of a port, or the `gateway` of a VXLAN remote.
    Gateway(IpAddr),
    /// Destinations are neighbours on that port.
    Connected(PortId),
}

/// A neighbour that is not asked for its MAC address.
#[derive(Clone, Copy, Debug)]
pub struct StaticNeighbour {
    /// Port.
    pub port: PortId,
    /// Address.
    pub ip: IpAddr,
    /// Its MAC address.
    pub mac: [u8; 6],
}

/// A firewall rule; what is `None` matches everything. A rule without addresses is for IPv4 and IPv6.
#[derive(Clone, Debug, Default)]
pub struct FirewallRule {
    /// Let pass, or drop.
    pub permit: bool,
    /// Network instance that the packet came in by.
    pub network_instance: Option<String>,
    /// Source of the user's packet.
    pub source: Option<Prefix>,
    /// Destination of the user's packet.
    pub destination: Option<Prefix>,
    /// IP protocol.
    pub protocol: Option<u8>,
    /// Source ports, inclusive.
    pub source_ports: Option<(u16, u16)>,
    /// Destination ports, inclusive.
    pub destination_ports: Option<(u16, u16)>,
}

/// A class of packets with its queue and rate; what is `None` matches everything.
#[derive(Clone, Debug, Default)]
pub struct TrafficClass {
    /// 4 or 6; addresses need 4.
    pub ip_version: Option<u8>,
    /// Type of service or traffic class: value and mask.
    pub tos: Option<(u8, u8)>,
    /// Source network (IPv4).
    pub source: Option<(Ipv4Addr, u8)>,
    /// Destination network (IPv4).
    pub destination: Option<(Ipv4Addr, u8)>,
    /// IP protocol.
    pub protocol: Option<u8>,
    /// Source ports, inclusive.
    pub source_ports: Option<(u16, u16)>,
    /// Destination ports, inclusive.
    pub destination_ports: Option<(u16, u16)>,
    /// Queue, 0 (lowest) to 7.
    pub queue: u8,
    /// Rate of user IP packets in bit/s and burst in bytes, shared by all packets of the class.
    pub rate: Option<(u64, u64)>,
}

/// VXLAN (RFC 7348): ports 256 and up are its underlay. The underlay's neighbours are given, not asked for.
#[derive(Clone, Debug, Default)]
pub struct VxlanConfig {
    /// Our tunnel endpoints.
    pub local_vteps: Vec<Ipv4Addr>,
    /// Overlays that we take part in, and their network instances.
    pub vnis: Vec<(u32, String)>,
    /// Next hops in overlays.
    pub remotes: Vec<VxlanRemote>,
}

/// A next hop in an overlay.
#[derive(Clone, Debug)]
pub struct VxlanRemote {
    /// Network instance of the overlay.
    pub network_instance: String,
    /// Its address inside: what a route's gateway names.
    pub gateway: IpAddr,
    /// Its MAC address inside.
    pub mac: [u8; 6],
    /// Port of the underlay.
    pub port: PortId,
    /// Overlay number, 24 bits.
    pub vni: u32,
    /// Our tunnel endpoint.
    pub local_vtep: Ipv4Addr,
    /// Its tunnel endpoint.
    pub remote_vtep: Ipv4Addr,
    /// MAC address of the underlay's next hop towards it.
    pub underlay_mac: [u8; 6],
}

/// A configuration that cannot work: one line that names the key.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct ConfigError(pub String);

fn fail<T>(key: impl std::fmt::Display, why: impl std::fmt::Display) -> Result<T, ConfigError> {
    Err(ConfigError(format!("{key}: {why}")))
}

/// Longest IP packet that fits a frame of [`base::MAX_PACKET`].
pub const MAX_MTU: u16 = (base::MAX_PACKET - wire::ethernet::HEADER_LEN) as u16;

impl NetworkConfig {
    /// Checks everything that can be checked without the program.
    pub fn validate(&self) -> Result<(), ConfigError> {
        self.validate_ports()?;
        self.validate_vxlan()?;
        self.validate_routes()?;
        self.validate_neighbours()?;
        for (i, rule) in self.firewall.iter().enumerate() {
            self.validate_firewall_rule(rule).map_err(|why| ConfigError(format!("firewall[{i}]{why}")))?;
        }
        for (i, class) in self.traffic_classes.iter().enumerate() {
            validate_class(class).map_err(|why| ConfigError(format!("traffic_classes[{i}]{why}")))?;
        }
        for (side, roles) in [("access", [Role::Access, Role::Both]), ("core", [Role::Core, Role::Both]), ("cp", [Role::CpFunction; 2])] {
            let marked = self.ports.iter().filter(|p| p.default && roles.contains(&p.role));
            let instances: BTreeSet<String> = marked.map(|p| p.network_instance.to_lowercase()).collect();
            if instances.len() > 1 {
                return fail("ports", format_args!("ports of several network instances are the default of the {side} side"));
            }
        }
        Ok(())
    }

    /// All network instances, lower case, in the order of first mention: ports, then VNIs.
    pub fn instance_names(&self) -> indexmap::IndexSet<String> {
        let ports = self.ports.iter().map(|p| p.network_instance.to_lowercase());
        let vnis = self.vxlan.iter().flat_map(|v| &v.vnis).map(|(_, name)| name.to_lowercase());
        ports.chain(vnis).collect()
    }

    /// What may be meant to be otherwise, a line each: sides with several network instances, of which rules may leave open which they
    /// mean.
    pub fn doubts(&self) -> Vec<String> {
        let side = |name: &str, interface: &str, roles: &[Role], tells: &str| {
            let ports = || self.ports.iter().filter(|p| roles.contains(&p.role));
            let instances: BTreeSet<String> = ports().map(|p| p.network_instance.to_lowercase()).collect();
            if instances.len() < 2 || ports().any(|p| p.default) {
                return None;
            }
            let mut list: Vec<String> = ports().map(|p| format!("{} ({})", p.name, p.network_instance)).collect();
            list.sort();
            Some(format!(
                "several network instances on the {name} side: {}. A rule of interface {interface} that names none of them {tells}: \
                 let the SMF name one, or mark a port `default = true`",
                list.join(", ")
            ))
        };
        let by_peer = "goes by its session's tunnels and by the route to its peer, and where these leave it open it is refused, as an F-TEID to be chosen is";
        let access = side("access", "Access", &[Role::Access, Role::Both], by_peer);
        let core = side("core", "Core", &[Role::Core, Role::Both], "is refused");
        let cp_function = side("cp", "CP-function", &[Role::CpFunction], by_peer);
        access.into_iter().chain(core).chain(cp_function).collect()
    }

    fn validate_ports(&self) -> Result<(), ConfigError> {
        if self.ports.is_empty() {
            return fail("ports", "none given");
        }
        let (mut ids, mut names) = (BTreeSet::new(), BTreeSet::new());
        let (mut endpoints, mut addresses) = (BTreeSet::new(), BTreeSet::new());
        for (i, p) in self.ports.iter().enumerate() {
            let key = |field: &str| format!("ports[{i}].{field}");
            if p.id.0 > PortId::MAX || !ids.insert(p.id) {
                return fail(key("id"), format_args!("{} is given twice or above {}", p.id, PortId::MAX));
            }
            if p.name.is_empty() || !names.insert(&p.name) {
                return fail(key("name"), format_args!("\"{}\" is empty or given twice", p.name));
            }
            check_unicast_mac(p.mac).or_else(|why| fail(key("mac"), why))?;
            if let Some(mac) = p.far_end {
                check_unicast_mac(mac).or_else(|why| fail(key("far_end"), why))?;
            }
            if p.mtu < 576 || p.mtu > MAX_MTU {
                return fail(key("mtu"), format_args!("{} is not in 576..={MAX_MTU}", p.mtu));
            }
            if p.network_instance.is_empty() {
                return fail(key("network_instance"), "empty");
            }
            for (ip, len) in &p.addresses {
                check_unicast(*ip).or_else(|why| fail(key("addresses"), why))?;
                if *len > width(*ip) || *len == 0 {
                    return fail(key("addresses"), format_args!("{ip}/{len}: prefix length is not in 1..={}", width(*ip)));
                }
                if !addresses.insert((p.network_instance.to_lowercase(), *ip)) {
                    return fail(key("addresses"), format_args!("{ip} is given twice in its network instance"));
                }
            }
            for ip in &p.gtpu_endpoints {
                check_unicast(IpAddr::V4(*ip)).or_else(|why| fail(key("gtpu_endpoints"), why))?;
                if p.id.0 & 0x80 != 0 {
                    return fail(key("gtpu_endpoints"), format_args!("GTP-U is not parsed on port {} (128-255, 384-508)", p.id));
                }
                // Tunnels are looked up by endpoint and TEID alone, whatever network instance they come by.
                if !endpoints.insert(*ip) {
                    return fail(key("gtpu_endpoints"), format_args!("{ip} is given twice"));
                }
            }
            for prefix in &p.proxy_prefixes {
                check_prefix(*prefix).or_else(|why| fail(key("proxy_prefixes"), why))?;
            }
        }
        Ok(())
    }

    fn validate_routes(&self) -> Result<(), ConfigError> {
        let names = self.instance_names();
        let mut seen = BTreeSet::new();
        for (i, r) in self.routes.iter().enumerate() {
            let key = |field: &str| format!("routes[{i}].{field}");
            let name = r.network_instance.to_lowercase();
            if !names.contains(&name) {
                return fail(key("network_instance"), format_args!("no port or VNI has {}", r.network_instance));
            }
            check_prefix(r.prefix).or_else(|why| fail(key("prefix"), why))?;
            if !seen.insert((name.clone(), r.prefix)) {
                return fail(key("prefix"), format_args!("{}/{} is given twice", r.prefix.0, r.prefix.1));
            }
            match r.via {
                Via::Gateway(gateway) => {
                    if gateway.is_ipv4() != r.prefix.0.is_ipv4() {
                        return fail(key("via"), format_args!("gateway {gateway} is of the other IP version"));
                    }
                    let on_link = self.ports.iter().any(|p| {
                        p.network_instance.to_lowercase() == name && p.addresses.iter().any(|a| contains(*a, gateway) && a.0 != gateway)
                    });
                    let remote = self.vxlan.iter().flat_map(|v| &v.remotes);
                    let remote = remote.into_iter().any(|v| v.gateway == gateway && v.network_instance.to_lowercase() == name);
                    if !on_link && !remote {
                        return fail(key("via"), format_args!("gateway {gateway} is on no network of {}", r.network_instance));
                    }
                }
                Via::Connected(port) => match self.ports.iter().find(|p| p.id == port) {
                    None => return fail(key("via"), format_args!("no port {port}")),
                    Some(p) if p.network_instance.to_lowercase() != name => {
                        return fail(key("via"), format_args!("port {port} is in network instance {}", p.network_instance));
                    }
                    Some(p) if p.id.0 & 0x100 != 0 => {
                        return fail(key("via"), format_args!("neighbours on VXLAN port {port} must be gateways"));
                    }
                    Some(_) => {}
                },
            }
        }
        Ok(())
    }

    fn validate_neighbours(&self) -> Result<(), ConfigError> {
        let mut seen = BTreeSet::new();
        for (i, n) in self.neighbours.iter().enumerate() {
            let key = |field: &str| format!("neighbours[{i}].{field}");
            if !self.ports.iter().any(|p| p.id == n.port) {
                return fail(key("port"), format_args!("no port {}", n.port));
            }
            check_unicast(n.ip).or_else(|why| fail(key("ip"), why))?;
            check_unicast_mac(n.mac).or_else(|why| fail(key("mac"), why))?;
            if !seen.insert((n.port, n.ip)) {
                return fail(key("ip"), format_args!("{} is given twice", n.ip));
            }
        }
        Ok(())
    }

    fn validate_vxlan(&self) -> Result<(), ConfigError> {
        let Some(vxlan) = &self.vxlan else { return Ok(()) };
        let mut vnis = BTreeSet::new();
        for (i, (vni, name)) in vxlan.vnis.iter().enumerate() {
            if *vni > 0xff_ffff || !vnis.insert(*vni) {
                return fail(format_args!("vxlan.vnis[{i}]"), format_args!("{vni} is given twice or wider than 24 bits"));
            }
            if name.is_empty() {
                return fail(format_args!("vxlan.vnis[{i}]"), "network instance is empty");
            }
        }
        let mut gateways = BTreeSet::new();
        for (i, r) in vxlan.remotes.iter().enumerate() {
            let key = |field: &str| format!("vxlan.remotes[{i}].{field}");
            let name = r.network_instance.to_lowercase();
            if !vxlan.vnis.iter().any(|(vni, n)| *vni == r.vni && n.to_lowercase() == name) {
                return fail(key("vni"), format_args!("{} is no overlay of {}", r.vni, r.network_instance));
            }
            if !self.ports.iter().any(|p| p.id == r.port && p.id.0 & 0x100 != 0) {
                return fail(key("port"), format_args!("no VXLAN port {}", r.port));
            }
            if !vxlan.local_vteps.contains(&r.local_vtep) {
                return fail(key("local_vtep"), format_args!("{} is not in vxlan.local_vteps", r.local_vtep));
            }
            check_unicast(r.gateway).or_else(|why| fail(key("gateway"), why))?;
            check_unicast(IpAddr::V4(r.remote_vtep)).or_else(|why| fail(key("remote_vtep"), why))?;
            check_unicast_mac(r.mac).or_else(|why| fail(key("mac"), why))?;
            check_unicast_mac(r.underlay_mac).or_else(|why| fail(key("underlay_mac"), why))?;
            if !gateways.insert((name, r.gateway)) {
                return fail(key("gateway"), format_args!("{} is given twice", r.gateway));
            }
        }
        Ok(())
    }

    fn validate_firewall_rule(&self, rule: &FirewallRule) -> Result<(), String> {
        if let Some(name) = &rule.network_instance
            && !self.instance_names().contains(&name.to_lowercase())
        {
            return Err(format!(".network_instance: no port or VNI has {name}"));
        }
        for (key, prefix) in [("source", rule.source), ("destination", rule.destination)] {
            if let Some(prefix) = prefix {
                check_prefix(prefix).map_err(|why| format!(".{key}: {why}"))?;
            }
        }
        if let (Some(s), Some(d)) = (rule.source, rule.destination)
            && s.0.is_ipv4() != d.0.is_ipv4()
        {
            return Err(".destination: of another IP version than the source".into());
        }
        check_ports("source_ports", rule.source_ports)?;
        check_ports("destination_ports", rule.destination_ports)
    }
}

fn validate_class(class: &TrafficClass) -> Result<(), String> {
    if class.ip_version.is_some_and(|v| v != 4 && v != 6) {
        return Err(".ip_version: not 4 or 6".into());
    }
    for (key, prefix) in [("source", class.source), ("destination", class.destination)] {
        if let Some((ip, len)) = prefix {
            check_prefix((IpAddr::V4(ip), len)).map_err(|why| format!(".{key}: {why}"))?;
            if class.ip_version == Some(6) {
                return Err(format!(".{key}: an IPv4 network with ip_version 6"));
            }
        }
    }
    check_ports("source_ports", class.source_ports)?;
    check_ports("destination_ports", class.destination_ports)?;
    if class.queue > 7 {
        return Err(format!(".queue: {} is above 7", class.queue));
    }
    match class.rate {
        Some((_, burst)) if burst < 1500 => Err(format!(".rate: a burst of {burst} bytes passes no full packet (1500)")),
        _ => Ok(()),
    }
}

fn check_ports(key: &str, ports: Option<(u16, u16)>) -> Result<(), String> {
    match ports {
        Some((low, high)) if low > high => Err(format!(".{key}: {low}-{high} is empty")),
        _ => Ok(()),
    }
}

fn check_unicast(ip: IpAddr) -> Result<(), ConfigError> {
    let broadcast = matches!(ip, IpAddr::V4(v4) if v4.is_broadcast());
    if ip.is_unspecified() || ip.is_multicast() || broadcast {
        return Err(ConfigError(format!("{ip} is no host's address")));
    }
    Ok(())
}

fn check_unicast_mac(mac: [u8; 6]) -> Result<(), ConfigError> {
    if mac[0] & 1 != 0 || mac == [0; 6] {
        return Err(ConfigError(format!("{} is no station's address", wire::ethernet::Mac(mac))));
    }
    Ok(())
}

fn check_prefix((ip, len): Prefix) -> Result<(), ConfigError> {
    if len > width(ip) {
        return Err(ConfigError(format!("{ip}/{len}: longer than {} bits", width(ip))));
    }
    if network((ip, len)) != ip {
        return Err(ConfigError(format!("{ip}/{len}: host bits are not zero")));
    }
    Ok(())
}

/// Bits of an address.
pub(crate) fn width(ip: IpAddr) -> u8 {
    if ip.is_ipv4() { 32 } else { 128 }
}

/// The address as a number, and as the width says.
pub(crate) fn bits(ip: IpAddr) -> u128 {
    match ip {
        IpAddr::V4(ip) => u128::from(u32::from(ip)),
        IpAddr::V6(ip) => u128::from(ip),
    }
}

/// One bits where the prefix is. `len` may not exceed the width.
pub(crate) fn prefix_mask(ip: IpAddr, len: u8) -> u128 {
    let width = u32::from(width(ip));
    base::Bits::mask(width) & !base::Bits::mask(width - u32::from(len))
}

/// The address with its host bits zero.
pub(crate) fn network((ip, len): Prefix) -> IpAddr {
    let value = bits(ip) & prefix_mask(ip, len);
    match ip {
        IpAddr::V4(_) => IpAddr::V4(Ipv4Addr::from(value as u32)),
        IpAddr::V6(_) => IpAddr::V6(value.into()),
    }
}

/// Whether `ip` is in the network of `prefix`.
pub(crate) fn contains(prefix: Prefix, ip: IpAddr) -> bool {
    ip.is_ipv4() == prefix.0.is_ipv4() && network((ip, prefix.1)) == network(prefix)
}
