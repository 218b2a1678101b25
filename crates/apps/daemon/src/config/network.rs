//! What lies behind the ports: `[[route]]`, `[[neighbour]]`, `[[pool]]`, `[[firewall]]`, `[vxlan]` and `[[class]]`.

use super::{Mac, Prefix};
use serde::Deserialize;
use std::net::{IpAddr, Ipv4Addr};

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

/// `[[class]]`: packets of a 5-tuple share a rate.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrafficClass {
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
    /// Queue of ports with a rate that the packets wait in, 1 to 7; 0: that of their QoS flow or DSCP.
    #[serde(default)]
    pub queue: u8,
    /// Rate of all packets of the traffic class together, bit/s of user IP packets.
    pub rate_bps: Option<u64>,
    /// Burst in bytes; default: as `[qos]` says.
    pub burst_bytes: Option<u64>,
}
