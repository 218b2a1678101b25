//! The configuration as those libraries have it that need no file: `upf`'s network and `pfcp`'s.

use super::{Config, Driver, FirewallAction, Prefix, RequestPort, Role, Route, TrafficClass};
use base::PortId;
use cli::failure::Failure;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};
use std::time::Duration;
use upf::config::Policing;

/// What the agent must know of a port.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Link {
    pub(crate) id: PortId,
    pub(crate) mac: [u8; 6],
    /// Longest IP packet, in bytes.
    pub(crate) mtu: u16,
}

/// The file's name of a key that [`upf::config`] names.
pub(crate) fn key_of_network(key: &str) -> String {
    const NAMES: [(&str, &str); 14] = [
        ("ports[", "port["),
        ("routes[", "route["),
        ("neighbours[", "neighbour["),
        ("traffic_classes[", "class["),
        ("vxlan.vnis[", "vxlan.network["),
        ("vxlan.remotes[", "vxlan.remote["),
        (".gtpu_endpoints", ".gtpu"),
        (".source_ports", ".from_ports"),
        (".destination_ports", ".to_ports"),
        (".source", ".from"),
        (".destination", ".to"),
        (".rate", ".rate_bps"),
        (".local_vtep", ".local"),
        (".remote_vtep", ".remote"),
    ];
    NAMES.iter().fold(key.to_owned(), |key, (theirs, ours)| key.replacen(theirs, ours, 1))
}

/// What this machine's kernel takes for its own, where users' packets go by its routes.
pub(crate) fn machine(config: &Config) -> Result<Vec<(IpAddr, u8)>, String> {
    match config.ports.iter().any(|port| port.driver == Driver::Tun) {
        true => pktio::machine::networks().map_err(|e| format!("which addresses this machine has is not known: {e}")),
        false => Ok(Vec::new()),
    }
}

/// With these ports, and what the [`machine`] has.
pub(crate) fn network_config(config: &Config, links: &[Link], machine: &[(IpAddr, u8)]) -> upf::config::NetworkConfig {
    let ports = config.ports.iter().zip(links).map(|(port, link)| upf::config::PortConfig {
        id: link.id,
        name: port.name.clone(),
        mac: link.mac,
        mtu: link.mtu,
        addresses: port.own_addresses().iter().map(|p| (p.address, p.len)).collect(),
        network_instance: port.network_instance.clone(),
        role: match port.role {
            Role::Access => upf::config::Role::Access,
            Role::Core => upf::config::Role::Core,
            Role::Both => upf::config::Role::Both,
            Role::Cp => upf::config::Role::CpFunction,
        },
        gtpu_endpoints: port.endpoints(),
        proxy_prefixes: Vec::new(),
        far_end: port.is_kernels().then_some(pktio::PEER_MAC),
        reachable: (port.driver == Driver::Tun).then(|| port.reachable.iter().map(|p| p.network()).collect()),
        default: port.default,
    });
    let id_of = |name: &str| config.ports.iter().zip(links).find(|(p, _)| p.name == name).map(|(_, link)| link.id).unwrap_or_default();
    upf::config::NetworkConfig {
        ports: ports.collect(),
        routes: config.routes.iter().map(route).chain(kernels_routes(config, links)).collect(),
        neighbours: config
            .neighbours
            .iter()
            .map(|n| upf::config::StaticNeighbour { port: id_of(&n.port), ip: n.ip, mac: n.mac.0 })
            .collect(),
        firewall: config
            .firewall
            .iter()
            .map(|rule| upf::config::FirewallRule {
                permit: rule.action == FirewallAction::Permit,
                source: rule.from.map(|p| p.network()),
                destination: rule.to.map(|p| p.network()),
                protocol: rule.protocol,
                destination_ports: rule.to_ports,
                ..Default::default()
            })
            .collect(),
        vxlan: config.vxlan.as_ref().map(|vxlan| upf::config::VxlanConfig {
            local_vteps: vxlan.local.clone(),
            vnis: vxlan.networks.iter().map(|n| (n.vni, n.network_instance.clone())).collect(),
            remotes: vxlan
                .remotes
                .iter()
                .map(|r| upf::config::VxlanRemote {
                    network_instance: r.network_instance.clone(),
                    gateway: r.gateway,
                    mac: r.mac.0,
                    port: id_of(&r.port),
                    vni: r.vni,
                    local_vtep: r.local,
                    remote_vtep: r.remote,
                    underlay_mac: r.underlay_mac.0,
                })
                .collect(),
        }),
        traffic_classes: config.classes.iter().map(|class| traffic_class(class, config.qos.class_policing())).collect(),
        zero_mbr_unlimited: config.n4.zero_mbr_unlimited,
        policing: config.qos.policing(),
        max_sessions: u32::try_from(config.n4.max_sessions).unwrap_or(u32::MAX),
        host: upf::config::HostLimits {
            answers_per_s: config.host.answers_per_s,
            error_indications_per_s: config.host.error_indications_per_s,
            icmp_errors_per_s: config.host.icmp_errors_per_s,
            neighbours_per_s: config.host.neighbours_per_s,
            gtpu_echo_s: config.host.gtpu_echo_s,
        },
        machine: machine.to_vec(),
    }
}

fn route(route: &Route) -> upf::config::Route {
    let via = upf::config::Via::Gateway(route.via);
    upf::config::Route { network_instance: route.network_instance.clone(), prefix: route.prefix.network(), via }
}

/// Where the kernel routes, everything goes that has no route of its own.
fn kernels_routes(config: &Config, links: &[Link]) -> Vec<upf::config::Route> {
    let v4 = (IpAddr::V4(Ipv4Addr::UNSPECIFIED), 0);
    let v6 = (IpAddr::V6(Ipv6Addr::UNSPECIFIED), 0);
    let mut routes = Vec::new();
    for (port, link) in config.ports.iter().zip(links).filter(|(port, _)| port.is_kernels()) {
        let given = |prefix| {
            let same = |r: &&Route| r.network_instance.eq_ignore_ascii_case(&port.network_instance) && r.prefix.network() == prefix;
            config.routes.iter().find(same).is_some()
        };
        let wanted: &[_] = if port.driver == Driver::Tun { &[v4, v6] } else { &[v4] };
        routes.extend(wanted.iter().filter(|prefix| !given(**prefix)).map(|prefix| upf::config::Route {
            network_instance: port.network_instance.clone(),
            prefix: *prefix,
            via: upf::config::Via::Connected(link.id),
        }));
    }
    routes
}

fn traffic_class(class: &TrafficClass, policing: Policing) -> upf::config::TrafficClass {
    let network = |prefix: &Option<Prefix>| match prefix.as_ref().map(|p| p.network()) {
        Some((IpAddr::V4(address), len)) => Some((address, len)),
        _ => None,
    };
    upf::config::TrafficClass {
        // Addresses tell the version; without them the traffic class is for both.
        ip_version: (class.from.is_some() || class.to.is_some()).then_some(4),
        tos: class.dscp.map(|dscp| (dscp << 2, 0xfc)),
        source: network(&class.from),
        destination: network(&class.to),
        protocol: class.protocol,
        source_ports: None,
        destination_ports: class.to_ports,
        queue: class.queue,
        rate: class.rate_bps.map(|rate| (rate, class.burst_bytes.unwrap_or_else(|| policing.burst(rate / 8)).max(Policing::MIN_BURST))),
    }
}

pub(crate) fn pfcp_config(config: &Config) -> Result<pfcp::config::Config, Failure> {
    use pfcp::codec::NodeId;
    let node_id = match config.n4.node_id.as_deref() {
        None => match config.n4.listen.ip() {
            IpAddr::V4(a) => NodeId::Ipv4(a),
            IpAddr::V6(a) => NodeId::Ipv6(a),
        },
        Some(text) => match text.parse() {
            Ok(IpAddr::V4(a)) => NodeId::Ipv4(a),
            Ok(IpAddr::V6(a)) => NodeId::Ipv6(a),
            Err(_) => NodeId::Fqdn(text.to_owned()),
        },
    };
    // The socket's, once it is bound.
    let started_at_ntp_s = 0;
    let mut out = pfcp::config::Config::new(node_id, config.n4.listen.ip(), started_at_ntp_s);
    for port in &config.ports {
        let interface = match port.role {
            Role::Access => Some(pfcp::rules::Interface::Access),
            Role::Cp => Some(pfcp::rules::Interface::CpFunction),
            Role::Both | Role::Core => None,
        };
        out.gtpu.extend(port.endpoints().into_iter().map(|ipv4| pfcp::config::GtpuAddress {
            ipv4,
            network_instance: Some(port.network_instance.to_lowercase()),
            interface,
            default: port.default,
        }));
    }
    // Where SEIDs and TEIDs come from: the system's randomness, seen by nobody else.
    out.seed = Some(rand::random());
    out.peers = super::peers::allowed(&config.n4).peers;
    out.sd_reversed = config.n4.sd_reversed.iter().flat_map(|entry| entry.networks()).copied().collect();
    out.max_sessions = config.n4.max_sessions;
    out.max_sessions_per_peer = config.n4.max_sessions_per_peer.unwrap_or(config.n4.max_sessions);
    out.max_associations_per_peer = config.n4.max_associations_per_peer;
    out.messages_per_second = config.n4.messages_per_second;
    out.max_outstanding_per_peer = config.n4.max_outstanding_per_peer;
    out.max_answers_per_peer = config.n4.max_answers_per_peer;
    out.error_indications_per_second = config.n4.error_indications_per_second;
    out.heartbeat_period = (config.n4.heartbeat_s > 0).then(|| Duration::from_secs(config.n4.heartbeat_s));
    if config.n4.keep_lost_s > 0 {
        out.on_loss = pfcp::config::OnLoss::Keep(Some(Duration::from_secs(config.n4.keep_lost_s)));
    }
    out.records = config.n4.store.as_ref().map(|store| Duration::from_secs(store.counters_within_s));
    out.request_port = match config.n4.request_port {
        RequestPort::Standard => pfcp::config::RequestPort::Standard,
        RequestPort::Source => pfcp::config::RequestPort::Source,
    };
    for pool in &config.pools {
        let wrong = |what: &str| Failure::Usage(format!("pool.{what}: wrong IP version"));
        let ipv4 = match pool.ipv4.map(|p| p.network()) {
            Some((IpAddr::V4(a), len)) => Some((a, len)),
            None => None,
            Some(_) => return Err(wrong("ipv4")),
        };
        let ipv6 = match pool.ipv6.map(|p| p.network()) {
            Some((IpAddr::V6(a), len)) => Some((a, len)),
            None => None,
            Some(_) => return Err(wrong("ipv6")),
        };
        let network_instance = pool.network_instance.as_ref().map(|n| n.to_lowercase());
        out.ue_pools.push(pfcp::config::UePool { network_instance, ipv4, ipv6 });
    }
    Ok(out)
}
