//! The configuration file of `splitplane run`: one TOML file, checked whole before anything is opened.
//!
//! `docs/configuration.md` describes every key; `splitplane run --print-config` prints an example.

use crate::dpdk_ports::Dpdk;
use crate::failure::Failure;
use crate::placement::{HeavyConfig, Plan, RuleConfig};
use serde::Deserialize;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::path::{Path, PathBuf};

/// The file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// N4 and sessions.
    pub n4: N4,
    /// Interfaces.
    #[serde(rename = "port")]
    pub ports: Vec<Port>,
    /// Routes beyond the ports' own networks.
    #[serde(default, rename = "route")]
    pub routes: Vec<Route>,
    /// Neighbours that are not to be asked for by ARP or ND.
    #[serde(default, rename = "neighbour")]
    pub neighbours: Vec<Neighbour>,
    /// UE address pools.
    #[serde(default, rename = "pool")]
    pub pools: Vec<Pool>,
    /// Global firewall rules, first match wins.
    #[serde(default, rename = "firewall")]
    pub firewall: Vec<FirewallRule>,
    /// VXLAN overlays (RFC 7348) on ports with `vxlan = true`.
    pub vxlan: Option<Vxlan>,
    /// 5-tuple traffic classes, first match wins.
    #[serde(default, rename = "class")]
    pub classes: Vec<Class>,
    /// The targets.
    #[serde(default)]
    pub split: Split,
    /// Worker threads.
    #[serde(default)]
    pub workers: Workers,
    /// Buffers and compiler.
    #[serde(default)]
    pub engine: EngineConfig,
    /// How DPDK is started, for ports of its driver.
    #[serde(default)]
    pub dpdk: Dpdk,
    /// The program, if not the built-in `upf.p4`.
    pub program: Option<PathBuf>,
}

/// `[n4]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct N4 {
    /// UDP address to listen on; the port is 8805 by TS 29.244 §4.2.2.
    pub listen: SocketAddr,
    /// Node ID: an address or a domain name. Default: the listen address.
    pub node_id: Option<String>,
    /// Most sessions.
    #[serde(default = "default_sessions")]
    pub max_sessions: usize,
    /// Seconds between our heartbeats; 0: we send none.
    #[serde(default = "default_heartbeat")]
    pub heartbeat_s: u64,
    /// Read an MBR of 0 kbit/s as "no limit"; otherwise it lets nothing pass.
    #[serde(default)]
    pub zero_mbr_unlimited: bool,
    /// Where our own requests go: `standard` (port 8805) or `source` (where the association came from).
    #[serde(default)]
    pub request_port: RequestPort,
}

/// `n4.request_port`.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum RequestPort {
    /// 8805.
    #[default]
    Standard,
    /// The peer's own port.
    Source,
}

/// `[[port]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Port {
    /// Name in logs and counters.
    pub name: String,
    /// Driver.
    #[serde(default)]
    pub driver: Driver,
    /// Kernel interface, for af_xdp, af_packet and auto.
    pub interface: Option<String>,
    /// Local UDP address, for udp.
    pub listen: Option<SocketAddr>,
    /// Capture file to receive from, for pcap.
    pub input: Option<PathBuf>,
    /// Capture file to transmit into, for pcap.
    pub output: Option<PathBuf>,
    /// PCI address or virtual device, for dpdk.
    pub device: Option<String>,
    /// Longest IP packet in bytes, for dpdk; default: as the device has it.
    pub mtu: Option<u16>,
    /// Our MAC address; default: the interface's.
    pub mac: Option<Mac>,
    /// Whether frames come and go in VXLAN: the port is an underlay.
    #[serde(default)]
    pub vxlan: bool,
    /// What the port is for.
    pub role: Role,
    /// Network instance (TS 29.244 §8.2.4), which is also the routing table.
    pub network_instance: String,
    /// Our addresses, with their network's prefix length.
    #[serde(default)]
    pub addresses: Vec<Prefix>,
    /// Those of our IPv4 addresses that end GTP-U tunnels.
    #[serde(default)]
    pub gtpu: Vec<Ipv4Addr>,
}

/// `port.driver`.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "snake_case")]
pub enum Driver {
    /// AF_XDP where it is to be had, else AF_PACKET.
    #[default]
    Auto,
    /// AF_XDP only.
    AfXdp,
    /// AF_PACKET only.
    AfPacket,
    /// A UDP socket on port 2152: N4-U, towards the SMF.
    Udp,
    /// Capture files.
    Pcap,
    /// A device of DPDK.
    Dpdk,
}

/// `port.role`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Role {
    /// N3 or N9: tunnels.
    Access,
    /// N6: plain IP.
    Core,
    /// One-armed: both.
    Both,
}

/// `[[route]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Route {
    /// Routing table.
    pub network_instance: String,
    /// Destination.
    pub prefix: Prefix,
    /// Next router.
    pub via: IpAddr,
}

/// `[[neighbour]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Neighbour {
    /// Port's name.
    pub port: String,
    /// Its address.
    pub ip: IpAddr,
    /// Its MAC address.
    pub mac: Mac,
}

/// `[[pool]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// For this network instance; none: for all without their own.
    pub network_instance: Option<String>,
    /// IPv4 network.
    pub ipv4: Option<Prefix>,
    /// IPv6 network.
    pub ipv6: Option<Prefix>,
}

/// `[[firewall]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FirewallRule {
    /// What happens.
    pub action: FirewallAction,
    /// Source network.
    pub from: Option<Prefix>,
    /// Destination network.
    pub to: Option<Prefix>,
    /// IP protocol number.
    pub protocol: Option<u8>,
    /// Destination ports, `[low, high]`.
    pub to_ports: Option<(u16, u16)>,
}

/// `firewall.action`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum FirewallAction {
    /// Let through.
    Permit,
    /// Drop as `firewall`.
    Deny,
}

/// `[vxlan]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Vxlan {
    /// Our tunnel endpoints.
    pub local: Vec<Ipv4Addr>,
    /// Overlays that we take part in.
    #[serde(rename = "network")]
    pub networks: Vec<VxlanNetwork>,
    /// Next hops behind other endpoints.
    #[serde(default, rename = "remote")]
    pub remotes: Vec<VxlanRemote>,
}

/// `[[vxlan.network]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VxlanNetwork {
    /// Number of the overlay, 24 bits.
    pub vni: u32,
    /// Its network instance.
    pub network_instance: String,
}

/// `[[vxlan.remote]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VxlanRemote {
    /// Network instance of the overlay.
    pub network_instance: String,
    /// Address of the next hop inside: what a route's `via` names.
    pub gateway: IpAddr,
    /// Its MAC address inside.
    pub mac: Mac,
    /// Name of the underlay's port.
    pub port: String,
    /// Number of the overlay.
    pub vni: u32,
    /// Our tunnel endpoint.
    pub local: Ipv4Addr,
    /// Its tunnel endpoint.
    pub remote: Ipv4Addr,
    /// MAC address of the underlay's next hop towards it.
    pub underlay_mac: Mac,
}

/// `[[class]]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Class {
    /// DSCP of the user's packet.
    pub dscp: Option<u8>,
    /// Source network (IPv4).
    pub from: Option<Prefix>,
    /// Destination network (IPv4).
    pub to: Option<Prefix>,
    /// IP protocol number.
    pub protocol: Option<u8>,
    /// Destination ports, `[low, high]`.
    pub to_ports: Option<(u16, u16)>,
    /// Queue, 0 (lowest) to 7.
    pub queue: u8,
    /// Rate of all packets of the class together, bit/s of user IP packets.
    pub rate_bps: Option<u64>,
    /// Burst in bytes; default: 50 ms of the rate.
    pub burst_bytes: Option<u64>,
}

/// `[split]`.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Split {
    /// The fast target in front of x86; none: x86 alone.
    pub fast: Option<FastTarget>,
    /// Entries that each session table of the fast target holds.
    pub capacity: Option<u64>,
    /// The chip whose model `asic` is: `tofino1`, `tofino2`, `nfp4000`, or a description (a .toml file). It then holds `capacity`
    /// sessions, or as many as its own program has room for; without a chip it is a table size and nothing else.
    pub chip: Option<String>,
    /// Which sessions or packets it takes.
    #[serde(default)]
    pub policy: Policy,
    /// These are for the policy `planned`: see [`Plan`].
    pub rules: Option<Vec<RuleConfig>>,
    /// As above.
    pub heavy: Option<HeavyConfig>,
    /// As above.
    pub updates_per_second: Option<u32>,
    /// As above.
    pub min_stay_ms: Option<u64>,
    /// As above.
    pub window_ms: Option<u64>,
    /// As above.
    pub margin: Option<f64>,
}

impl Split {
    /// How sessions are moved, where the policy is `planned`.
    pub fn plan(&self) -> Plan {
        Plan {
            rules: self.rules.clone(),
            heavy: self.heavy.clone(),
            updates_per_second: self.updates_per_second,
            min_stay_ms: self.min_stay_ms,
            window_ms: self.window_ms,
            margin: self.margin,
        }
    }
}

/// `split.fast`.
#[derive(Clone, Copy, Debug, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum FastTarget {
    /// The model of a switch chip.
    Asic,
    /// The kernel's XDP hook on the ports' interfaces.
    Xdp,
}

/// `split.policy`.
#[derive(Clone, Debug, Default, Deserialize, PartialEq)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Policy {
    /// Nothing on the fast target.
    #[default]
    None,
    /// Sessions of UEs in these networks.
    Ues(Vec<Prefix>),
    /// Packets of these DSCPs.
    Dscps(Vec<u8>),
    /// This share of the sessions.
    Share(f64),
    /// Those that rules and rates say, moved while they live.
    Planned,
}

/// `[workers]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Workers {
    /// Worker threads at the start.
    pub count: usize,
    /// Who gives each packet to its worker, where there are several.
    pub steering: Steering,
    /// Fewest workers; default: `count`.
    pub min: Option<usize>,
    /// Most workers; default: `count`.
    pub max: Option<usize>,
    /// Whether UEs move to other workers where one is overloaded.
    pub rebalance: bool,
    /// Cores that the threads are pinned to, in turn.
    pub cores: Vec<usize>,
}

/// `workers.steering`.
#[derive(Clone, Copy, Debug, Default, Deserialize, PartialEq, Eq)]
#[serde(rename_all = "lowercase")]
pub enum Steering {
    /// A master thread, by the UE's address.
    #[default]
    Software,
    /// The interfaces: each worker polls its share of their receive queues.
    Port,
    /// A program in front of the interfaces' AF_XDP sockets, by the UE's address: each worker has a socket on every queue.
    Xdp,
}

impl Default for Workers {
    fn default() -> Workers {
        Workers { count: 1, steering: Steering::Software, min: None, max: None, rebalance: true, cores: Vec::new() }
    }
}

impl Workers {
    /// Fewest and most workers.
    pub fn range(&self) -> (usize, usize) {
        (self.min.unwrap_or(self.count), self.max.unwrap_or(self.count))
    }

    /// Workers that the ports are opened for: a master receives alone, and sockets of workers that may come are made at once.
    pub fn of_ports(&self) -> usize {
        match self.steering {
            _ if self.steered() => 1,
            Steering::Xdp => self.range().1,
            Steering::Software | Steering::Port => self.count,
        }
    }

    /// Whether a master is needed: one worker alone takes packets from the interfaces itself.
    pub fn steered(&self) -> bool {
        self.steering == Steering::Software && self.range().1 > 1
    }

    /// Checks the numbers, and that they go with each other.
    pub fn validate(&self) -> Result<(), String> {
        let (min, max) = self.range();
        if !(1..=64).contains(&self.count) {
            return Err(format!("workers.count {} is not between 1 and 64", self.count));
        }
        if min == 0 || max > 64 || !(min..=max).contains(&self.count) {
            return Err(format!("workers: min {min}, count {} and max {max} are not in order, or not between 1 and 64", self.count));
        }
        if self.steering == Steering::Port && (min, max) != (self.count, self.count) {
            return Err("workers.min and max: the number of workers changes only with steering = \"software\" or \"xdp\"".into());
        }
        Ok(())
    }
}

/// `[engine]`.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct EngineConfig {
    /// Packets that wait for one PDR in idle mode, at most.
    pub buffer_packets_per_pdr: usize,
    /// Packets that wait in all, at most.
    pub buffer_packets: usize,
    /// C compiler for the native target; default: `$CC`, else clang, else gcc.
    pub cc: Option<PathBuf>,
}

impl Default for EngineConfig {
    fn default() -> EngineConfig {
        EngineConfig { buffer_packets_per_pdr: 1024, buffer_packets: 65536, cc: None }
    }
}

fn default_sessions() -> usize {
    262_144
}

fn default_heartbeat() -> u64 {
    10
}

/// An address and a prefix length: `10.0.0.1/24`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Prefix {
    /// Address, host bits as written.
    pub address: IpAddr,
    /// Length in bits.
    pub len: u8,
}

impl TryFrom<String> for Prefix {
    type Error = String;

    fn try_from(text: String) -> Result<Prefix, String> {
        let wrong = || format!("`{text}` is not an address with a prefix length, such as 10.0.0.0/8 or 2001:db8::/32");
        let (address, len) = text.split_once('/').ok_or_else(wrong)?;
        let address: IpAddr = address.parse().map_err(|_| wrong())?;
        let len: u8 = len.parse().map_err(|_| wrong())?;
        if len > if address.is_ipv4() { 32 } else { 128 } {
            return Err(wrong());
        }
        Ok(Prefix { address, len })
    }
}

impl Prefix {
    /// The network: host bits cleared.
    pub fn network(self) -> (IpAddr, u8) {
        let address = match self.address {
            IpAddr::V4(a) => IpAddr::V4(Ipv4Addr::from(u32::from(a) & u32::MAX.checked_shl(32 - u32::from(self.len)).unwrap_or(0))),
            IpAddr::V6(a) => IpAddr::V6(Ipv6Addr::from(u128::from(a) & u128::MAX.checked_shl(128 - u32::from(self.len)).unwrap_or(0))),
        };
        (address, self.len)
    }
}

/// A MAC address: `02:00:00:00:00:01`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(try_from = "String")]
pub struct Mac(pub [u8; 6]);

impl TryFrom<String> for Mac {
    type Error = String;

    fn try_from(text: String) -> Result<Mac, String> {
        let wrong = || format!("`{text}` is not a MAC address, such as 02:00:00:00:00:01");
        let mut mac = [0; 6];
        let mut parts = text.split(':');
        for byte in &mut mac {
            *byte = parts.next().filter(|p| p.len() == 2).and_then(|p| u8::from_str_radix(p, 16).ok()).ok_or_else(wrong)?;
        }
        if parts.next().is_some() { Err(wrong()) } else { Ok(Mac(mac)) }
    }
}

impl Config {
    /// Reads and checks a file. The error names file, line and key.
    pub fn load(path: &Path) -> Result<Config, Failure> {
        let text = std::fs::read_to_string(path).map_err(|e| Failure::Usage(format!("cannot read {}: {e}", path.display())))?;
        Config::parse(&text).map_err(|e| Failure::Usage(format!("{}: {e}", path.display())))
    }

    /// Checks a file's text.
    pub fn parse(text: &str) -> Result<Config, String> {
        let config: Config = toml::from_str(text).map_err(|e| {
            let line = e.span().map(|s| text.bytes().take(s.start).filter(|b| *b == b'\n').count() + 1);
            match line {
                Some(line) => format!("line {line}: {}", e.message().replace('\n', ": ")),
                None => e.message().replace('\n', ": "),
            }
        })?;
        config.validate()?;
        Ok(config)
    }

    fn validate(&self) -> Result<(), String> {
        if self.n4.listen.ip().is_unspecified() {
            return Err(format!("n4.listen {}: name one address, it goes into the F-SEIDs that peers answer to", self.n4.listen));
        }
        if let Some(name) = &self.n4.node_id {
            let label = |l: &str| (1..=63).contains(&l.len()) && l.bytes().all(|b| b.is_ascii_alphanumeric() || b == b'-' || b == b'_');
            if name.parse::<IpAddr>().is_err() && (name.len() > 253 || !name.split('.').all(label)) {
                return Err(format!("n4.node_id `{name}` is neither an address nor a domain name"));
            }
        }
        if self.n4.max_sessions == 0 {
            return Err("n4.max_sessions is 0".into());
        }
        if self.ports.is_empty() {
            return Err("no [[port]]: a UPF needs at least one of role access and one of role core".into());
        }
        if self.ports.len() > 64 {
            return Err("more than 64 ports".into());
        }
        for (i, port) in self.ports.iter().enumerate() {
            let key = format!("port `{}`", port.name);
            if port.name.is_empty() || self.ports[..i].iter().any(|p| p.name == port.name) {
                return Err(format!("{key}: names must be there and differ"));
            }
            if port.interface.is_some() && self.ports[..i].iter().any(|p| p.interface == port.interface) && port.driver != Driver::Pcap {
                return Err(format!("{key}: its interface is another port's already"));
            }
            match port.driver {
                Driver::Udp if port.listen.is_none() => return Err(format!("{key}: driver udp needs `listen`")),
                Driver::Udp => {}
                Driver::Pcap if port.input.is_none() && port.output.is_none() => {
                    return Err(format!("{key}: driver pcap needs `input` or `output`"));
                }
                Driver::Pcap => {}
                Driver::Dpdk if port.interface.is_some() => return Err(format!("{key}: driver dpdk takes `device`, not `interface`")),
                Driver::Dpdk => {}
                _ if port.interface.is_none() => return Err(format!("{key}: needs `interface`")),
                _ => {}
            }
            for address in &port.gtpu {
                if !port.addresses.iter().any(|p| p.address == IpAddr::V4(*address)) {
                    return Err(format!("{key}: gtpu address {address} is not among its addresses"));
                }
            }
        }
        crate::dpdk_ports::validate(&self.ports, &self.dpdk)?;
        for role in [Role::Access, Role::Core] {
            if !self.ports.iter().any(|p| p.role == role || p.role == Role::Both) {
                return Err(format!("no port of role {}", if role == Role::Access { "access" } else { "core" }));
            }
        }
        if !self.ports.iter().any(|p| !p.gtpu.is_empty()) {
            return Err("no port has a `gtpu` address, so there is nowhere for tunnels to end".into());
        }
        let vnis = self.vxlan.iter().flat_map(|v| &v.networks).map(|n| &n.network_instance);
        let instances: Vec<&String> = self.ports.iter().map(|p| &p.network_instance).chain(vnis).collect();
        let known = |ni: &str| instances.iter().any(|known| known.eq_ignore_ascii_case(ni));
        if self.vxlan.is_none() && self.ports.iter().any(|p| p.vxlan) {
            return Err("a port has `vxlan = true`, but there is no [vxlan]".into());
        }
        for remote in self.vxlan.iter().flat_map(|v| &v.remotes) {
            if !self.ports.iter().any(|p| p.name == remote.port && p.vxlan) {
                return Err(format!("vxlan.remote {}: `{}` is no port with `vxlan = true`", remote.gateway, remote.port));
            }
        }
        for route in &self.routes {
            if !known(&route.network_instance) {
                return Err(format!("route {:?}: no port has network_instance `{}`", route.prefix.address, route.network_instance));
            }
            if route.prefix.address.is_ipv4() != route.via.is_ipv4() {
                return Err(format!("route {}: `via` is of the other IP version", route.prefix.address));
            }
        }
        for neighbour in &self.neighbours {
            if !self.ports.iter().any(|p| p.name == neighbour.port) {
                return Err(format!("neighbour {}: no port `{}`", neighbour.ip, neighbour.port));
            }
        }
        self.workers.validate()?;
        if self.workers.steering == Steering::Xdp {
            // The others can receive by one worker and send by all.
            let fits = |p: &Port| p.takes_xdp() || matches!(p.driver, Driver::AfPacket | Driver::Udp);
            if let Some(port) = self.ports.iter().find(|p| !fits(p)) {
                return Err(format!("workers.steering = \"xdp\": port `{}` has a driver that XDP cannot steer beside", port.name));
            }
            if !self.ports.iter().any(Port::takes_xdp) {
                return Err("workers.steering = \"xdp\": no port has driver auto or af_xdp".into());
            }
        }
        if self.workers.count > 1 && self.workers.steering == Steering::Port && self.ports.iter().any(|p| p.driver == Driver::Pcap) {
            return Err("workers.count: capture files are read by one worker, unless steering is \"software\"".into());
        }
        for (i, class) in self.classes.iter().enumerate() {
            let wrong = |what: &str| Err(format!("class {}: {what}", i + 1));
            if class.queue > 7 || class.dscp.is_some_and(|d| d > 63) {
                return wrong("`queue` goes to 7 and `dscp` to 63");
            }
            if class.from.iter().chain(&class.to).any(|p| p.address.is_ipv6()) {
                return wrong("`from` and `to` are IPv4 networks");
            }
            if class.rate_bps.is_some() && self.split.fast.is_some() {
                return wrong("a rate is policed in one place: it cannot be had with split.fast");
            }
        }
        if self.split.chip.is_some() && self.split.fast != Some(FastTarget::Asic) {
            return Err("split.chip is set, but split.fast is not \"asic\"".into());
        }
        if self.split.fast == Some(FastTarget::Xdp) {
            if !self.ports.iter().any(Port::takes_xdp) {
                return Err("split.fast = \"xdp\": no port has driver auto or af_xdp".into());
            }
            if matches!(self.split.policy, Policy::Dscps(_)) {
                return Err("split.policy: packets are chosen by DSCP behind XDP: with split.fast = \"xdp\" choose sessions".into());
            }
        }
        if self.split.fast.is_none() && self.split.policy != Policy::None {
            return Err("split.policy is set, but split.fast is not".into());
        }
        self.split.policy.to_offload().validate().map_err(|e| format!("split.policy: {e}"))?;
        self.split.plan().validate(self.split.policy == Policy::Planned).map_err(|e| format!("split.{e}"))
    }
}

impl Port {
    /// Whether XDP can run on its interface, and AF_XDP get the rest.
    pub fn takes_xdp(&self) -> bool {
        matches!(self.driver, Driver::Auto | Driver::AfXdp)
    }
}

impl Policy {
    /// The policy in the terms of the crate `offload`.
    pub fn to_offload(&self) -> offload::Policy {
        match self {
            Policy::None => offload::Policy::None,
            Policy::Ues(list) => offload::Policy::Ues(list.iter().map(|p| p.network()).collect()),
            Policy::Dscps(list) => offload::Policy::Dscps(list.clone()),
            Policy::Share(share) => offload::Policy::Share(*share),
            Policy::Planned => offload::Policy::Planned,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GOOD: &str = r#"
[n4]
listen = "127.0.0.1:8805"
[[port]]
name = "n3"
interface = "eth0"
role = "access"
network_instance = "access"
addresses = ["10.3.0.1/24"]
gtpu = ["10.3.0.1"]
[[port]]
name = "n6"
interface = "eth1"
role = "core"
network_instance = "internet"
addresses = ["10.6.0.1/24"]
[[route]]
network_instance = "internet"
prefix = "0.0.0.0/0"
via = "10.6.0.2"
[split]
fast = "asic"
policy = { share = 0.5 }
"#;

    #[test]
    fn a_good_file_is_read() {
        let c = Config::parse(GOOD).unwrap();
        assert_eq!(c.split.policy, Policy::Share(0.5));
        assert_eq!(c.ports[1].driver, Driver::Auto);
    }

    #[test]
    fn devices_of_dpdk_are_read_and_are_each_one_ports() {
        let text = GOOD.replace("interface = \"eth1\"", "driver = \"dpdk\"\ndevice = \"0000:01:00.0\"\nmtu = 1600");
        let text = text.replace("interface = \"eth0\"", "driver = \"dpdk\"\ndevice = \"net_memif0,role=server,socket=/run/n3.sock\"");
        let text = format!("{text}\n[dpdk]\nhuge_pages = false\neal_args = [\"--iova-mode=va\"]\n");
        let c = Config::parse(&text).unwrap();
        assert_eq!((c.ports[1].driver, c.ports[1].mtu, c.dpdk.huge_pages, c.dpdk.memory_mib), (Driver::Dpdk, Some(1600), Some(false), 256));
        let error = Config::parse(&text.replace("0000:01:00.0", "net_memif0,role=client")).unwrap_err();
        assert!(error.contains("device `net_memif0` is there twice"), "{error}");
    }

    #[test]
    fn xdp_needs_an_interface_that_it_can_run_on() {
        let text = GOOD.replace("\"asic\"", "\"xdp\"");
        assert_eq!(Config::parse(&text).unwrap().split.fast, Some(FastTarget::Xdp));
        let text = text.replace("interface = ", "driver = \"af_packet\"\ninterface = ");
        assert_eq!(Config::parse(&text).unwrap_err(), "split.fast = \"xdp\": no port has driver auto or af_xdp");
    }

    /// Each fault gives one line that names the key.
    #[test]
    fn faults_are_named() {
        for (from, to, message) in [
            ("10.3.0.1/24", "10.3.0.1/33", "not an address with a prefix length"),
            ("gtpu = [\"10.3.0.1\"]", "gtpu = [\"10.3.0.9\"]", "10.3.0.9 is not among its addresses"),
            ("role = \"core\"", "role = \"access\"", "no port of role core"),
            ("interface = \"eth1\"", "", "port `n6`: needs `interface`"),
            ("name = \"n6\"", "name = \"n3\"", "names must be there and differ"),
            ("network_instance = \"internet\"\nprefix", "network_instance = \"none\"\nprefix", "no port has network_instance `none`"),
            ("via = \"10.6.0.2\"", "via = \"2001:db8::1\"", "other IP version"),
            ("share = 0.5", "share = 1.5", "share 1.5"),
            ("role = \"core\"", "role = \"core\"\nvxlan = true", "there is no [vxlan]"),
            ("127.0.0.1:8805", "0.0.0.0:8805", "name one address"),
            ("listen = ", "node_id = \"a..b\"\nlisten = ", "neither an address nor a domain name"),
            ("listen = ", "max_sessions = 0\nlisten = ", "max_sessions is 0"),
            ("interface = \"eth1\"", "interface = \"eth0\"", "another port's already"),
            ("fast = \"asic\"", "", "split.fast is not"),
            ("fast = \"asic\"", "fast = \"xdp\"\nchip = \"tofino1\"", "split.chip is set, but split.fast is not \"asic\""),
            ("fast = \"asic\"", "fast = \"fpga\"", "unknown variant `fpga`"),
            ("fast = \"asic\"\npolicy = { share = 0.5 }", "fast = \"xdp\"\npolicy = { dscps = [46] }", "chosen by DSCP behind XDP"),
            ("listen = ", "lisen = ", "unknown field `lisen`"),
            ("role = \"core\"", "role = \"core\"\nmac = \"1:2\"", "not a MAC address"),
            ("[split]", "[[class]]\nqueue = 8\n[split]", "class 1: `queue` goes to 7"),
            ("[split]", "[[class]]\nqueue = 1\nrate_bps = 1000000\n[split]", "cannot be had with split.fast"),
            ("interface = \"eth1\"", "driver = \"dpdk\"", "port `n6`: driver dpdk needs `device`"),
            ("interface = \"eth1\"", "driver = \"dpdk\"\ninterface = \"eth1\"", "takes `device`, not `interface`"),
            ("interface = \"eth1\"", "driver = \"dpdk\"\ndevice = \"--help\"", "port `n6`: device `--help`: neither a PCI address"),
            ("interface = \"eth1\"", "driver = \"dpdk\"\ndevice = \"net_null0,size=64 --vdev=x\"", "port `n6`: device `net_null0"),
            ("interface = \"eth1\"", "interface = \"eth1\"\nmtu = 1500", "`mtu` is for driver dpdk"),
            ("[split]", "[dpdk]\neal_args = [\"--vdev=net_null0\"]\n[split]", "dpdk: eal_args: `--vdev=net_null0`"),
            ("[split]", "[dpdk]\nmemory_mib = 0\n[split]", "dpdk: memory_mib 0"),
            ("[split]", "[dpdk]\nhuge = true\n[split]", "unknown field `huge`"),
            ("[split]", "[workers]\ncount = 0\n[split]", "workers.count 0"),
            ("[split]", "[workers]\ncount = 2\nmax = 1\n[split]", "not in order"),
            ("[split]", "[workers]\nmax = 65\n[split]", "not between 1 and 64"),
            ("[split]", "[workers]\nsteering = \"port\"\nmax = 2\n[split]", "changes only with"),
            (
                "[split]",
                "[[port]]\nname = \"x\"\ndriver = \"pcap\"\ninput = \"x\"\nrole = \"core\"\nnetwork_instance = \"y\"\n[workers]\nsteering = \"xdp\"\n[split]",
                "port `x` has a driver",
            ),
            ("[split]", "[engine]\nworkers = 2\n[split]", "unknown field `workers`"),
        ] {
            assert!(GOOD.contains(from), "{from}");
            let error = Config::parse(&GOOD.replace(from, to)).unwrap_err();
            assert!(error.contains(message) && !error.contains('\n'), "{to}: {error}");
        }
    }
}
