//! The entries that follow from the configuration alone: the data plane's first batch.

use std::collections::{BTreeMap, BTreeSet};
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use indexmap::IndexMap;
use program::{Batch, Entry, KeyMatch, MeterConfig, MeterId, Op, TableId};
use wire::ethernet::Mac;
use wire::ipv6;

use crate::config::{self, FirewallRule, NetworkConfig, Prefix, TrafficClass};
use crate::hops::Plan;
use crate::ids::Ids;
use crate::networks::{Networks, Vrf};

/// Stations, our own addresses, next hops, routes, firewall, classes and VXLAN of a configuration that validates.
pub fn initial(config: &NetworkConfig, ids: &Ids) -> Batch {
    let networks = Networks::new(config);
    let plan = Plan::new(config, &networks);
    let mut ops = beside_hops(config, &networks, ids);
    ops.extend(plan.ops(ids));
    Batch { ops }
}

/// The same without next hops and routes, which change while the UPF runs.
pub(crate) fn beside_hops(config: &NetworkConfig, networks: &Networks, ids: &Ids) -> Vec<Op> {
    let plan = Plan::new(config, networks);
    let mut ops = Vec::new();
    stations(config, &plan, networks, ids, &mut ops);
    vxlan_terminations(config, networks, ids, &mut ops);
    local_addresses(&plan, ids, &mut ops);
    for (i, rule) in config.firewall.iter().enumerate() {
        firewall_rule(rule, (config.firewall.len() - i) as u32, networks, ids, &mut ops);
    }
    let mut cell = 0;
    for (i, class) in config.traffic_classes.iter().enumerate() {
        traffic_class(class, (config.traffic_classes.len() - i) as u32, &mut cell, ids, &mut ops);
    }
    ops
}

/// What leads from the entries and rates of `before` to those of `after`, in an order in which each step can be taken: what leads to a next hop goes before it,
/// and comes after it.
pub(crate) fn difference(before: &[Op], after: &[Op], ids: &Ids) -> Batch {
    let entries = |ops: &[Op]| -> IndexMap<(TableId, Vec<KeyMatch>, u32), Entry> {
        let inserts = ops.iter().filter_map(|op| if let Op::Insert(entry) = op { Some(entry.clone()) } else { None });
        inserts.map(|entry| ((entry.table, entry.keys.clone(), entry.priority), entry)).collect()
    };
    let rates = |ops: &[Op]| -> IndexMap<(MeterId, u64), Option<MeterConfig>> {
        let meters =
            ops.iter().filter_map(|op| if let Op::Meter { meter, index, config } = op { Some(((*meter, *index), *config)) } else { None });
        meters.collect()
    };
    let (old, new) = (entries(before), entries(after));
    let is_hop = |entry: &&Entry| entry.table == ids.tables.nexthop;
    let gone = || old.iter().filter(|(key, _)| !new.contains_key(*key)).map(|(_, entry)| entry);
    let come = || new.iter().filter(|(key, _)| !old.contains_key(*key)).map(|(_, entry)| entry);
    let changed = new.iter().filter(|(key, entry)| old.get(*key).is_some_and(|of| of != *entry)).map(|(_, entry)| entry);
    let (old_rates, new_rates) = (rates(before), rates(after));
    let rate = |(meter, index): &(MeterId, u64), config| Op::Meter { meter: *meter, index: *index, config };
    // A rate that stays keeps its buckets.
    let set = new_rates.iter().filter(|(cell, config)| old_rates.get(*cell) != Some(*config)).map(|(cell, config)| rate(cell, *config));
    let unset = old_rates.keys().filter(|cell| !new_rates.contains_key(*cell)).map(|cell| rate(cell, None));
    let ops = gone().filter(|entry| !is_hop(entry)).cloned().map(Op::Delete);
    let ops = ops.chain(set).chain(come().filter(is_hop).cloned().map(Op::Insert)).chain(changed.cloned().map(Op::Modify));
    let ops = ops.chain(come().filter(|entry| !is_hop(entry)).cloned().map(Op::Insert));
    Batch { ops: ops.chain(gone().filter(is_hop).cloned().map(Op::Delete)).chain(unset).collect() }
}

/// Our MAC address, broadcast, and the groups that IPv6 neighbours ask in (RFC 4861 §7.2.1).
fn stations(config: &NetworkConfig, plan: &Plan, networks: &Networks, ids: &Ids, ops: &mut Vec<Op>) {
    for port in &plan.ports {
        // Where 127.0.0.0/8 is a network of ours, packets come from there.
        let own = port.addresses.iter().map(|(ip, _)| *ip);
        let routed = config.routes.iter().filter(|route| networks.vrf(&route.network_instance) == Some(port.vrf)).map(|route| route.prefix);
        let loopback = own.chain(routed.filter(|(_, len)| *len >= 8).map(|(ip, _)| ip)).any(|ip| ip.is_ipv4() && ip.is_loopback());
        let action = if loopback { ids.actions.station_loopback } else { ids.actions.station_route };
        let mut macs = BTreeMap::from([(port.mac, action), (Mac::BROADCAST, ids.actions.station_group)]);
        macs.extend(ipv6_groups(port).into_iter().map(|ip| (Mac::ipv6_multicast(ip), ids.actions.station_group)));
        ops.extend(macs.into_iter().map(|(mac, action)| {
            let keys = vec![KeyMatch::Exact(port.id.0.into()), KeyMatch::Exact(mac.bits().into())];
            Op::Insert(Entry { table: ids.tables.station, keys, priority: 0, action, args: vec![port.vrf.into()] })
        }));
    }
}

/// The multicast groups that a port listens to: none without IPv6.
fn ipv6_groups(port: &crate::hops::HostPort) -> BTreeSet<Ipv6Addr> {
    let own = port.addresses.iter().filter_map(|(ip, _)| match ip {
        IpAddr::V6(ip) => Some(*ip),
        IpAddr::V4(_) => None,
    });
    let mut groups: BTreeSet<Ipv6Addr> = own.chain(port.link_local).map(ipv6::solicited_node).collect();
    if !groups.is_empty() {
        groups.insert(ipv6::ALL_NODES);
    }
    groups
}

fn vxlan_terminations(config: &NetworkConfig, networks: &Networks, ids: &Ids, ops: &mut Vec<Op>) {
    let Some(vxlan) = &config.vxlan else { return };
    for vtep in vxlan.local_vteps.iter().collect::<BTreeSet<_>>() {
        for (vni, name) in &vxlan.vnis {
            let Some(vrf) = networks.vrf(name) else { continue };
            ops.push(Op::Insert(Entry {
                table: ids.tables.vxlan_termination,
                keys: vec![KeyMatch::Exact(u32::from(*vtep).into()), KeyMatch::Exact((*vni).into())],
                priority: 0,
                action: ids.actions.vxlan_route,
                args: vec![vrf.into()],
            }));
        }
    }
}

fn local_addresses(plan: &Plan, ids: &Ids, ops: &mut Vec<Op>) {
    let (mut v4, mut v6) = (BTreeSet::<(Vrf, Ipv4Addr, bool)>::new(), BTreeSet::<(Vrf, Ipv6Addr)>::new());
    for port in &plan.ports {
        v4.extend(port.endpoints.iter().map(|ip| (port.vrf, *ip, true)));
        for (ip, _) in &port.addresses {
            match ip {
                IpAddr::V4(ip) => v4.extend([(port.vrf, *ip, false)]),
                IpAddr::V6(ip) => v6.extend([(port.vrf, *ip)]),
            }
        }
        v6.extend(ipv6_groups(port).into_iter().chain(port.link_local).map(|ip| (port.vrf, ip)));
    }
    for &(vrf, ip, endpoint) in &v4 {
        if !endpoint && v4.contains(&(vrf, ip, true)) {
            continue;
        }
        ops.push(Op::Insert(Entry {
            table: ids.tables.local_ipv4,
            keys: vec![KeyMatch::Exact(vrf.into()), KeyMatch::Exact(u32::from(ip).into())],
            priority: 0,
            action: if endpoint { ids.actions.gtpu_endpoint } else { ids.actions.host_v4 },
            args: vec![],
        }));
    }
    for (vrf, ip) in v6 {
        let address = KeyMatch::Ternary { value: ip.into(), mask: u128::MAX };
        ops.push(Op::Insert(Entry {
            table: ids.tables.local_ipv6,
            keys: vec![KeyMatch::Exact(vrf.into()), address],
            priority: 1,
            action: ids.actions.host_v6,
            args: vec![],
        }));
    }
}

fn firewall_rule(rule: &FirewallRule, priority: u32, networks: &Networks, ids: &Ids, ops: &mut Vec<Op>) {
    let vrf = rule.network_instance.as_deref().and_then(|name| networks.vrf(name));
    let version = rule.source.or(rule.destination).map(|(ip, _)| ip.is_ipv4());
    for (table, v4) in [(ids.tables.firewall_v4, true), (ids.tables.firewall_v6, false)] {
        if version.is_some_and(|version| version != v4) {
            continue;
        }
        ops.push(Op::Insert(Entry {
            table,
            keys: vec![
                ternary(vrf.map(u128::from), 0xffff),
                prefix(rule.source),
                prefix(rule.destination),
                ternary(rule.protocol.map(u128::from), 0xff),
                ports(rule.source_ports),
                ports(rule.destination_ports),
            ],
            priority,
            action: if rule.permit { ids.actions.permit } else { ids.actions.deny },
            args: vec![],
        }));
    }
}

fn traffic_class(class: &TrafficClass, priority: u32, cell: &mut u64, ids: &Ids, ops: &mut Vec<Op>) {
    let mut meter = 0;
    if let Some((rate_bps, burst)) = class.rate {
        *cell += 1;
        meter = *cell;
        let rate = rate_bps / 8;
        let config = MeterConfig { cir: rate, cbs: burst, pir: rate, pbs: burst };
        ops.push(Op::Meter { meter: ids.class_rate, index: meter, config: Some(config) });
    }
    let addressed = class.source.is_some() || class.destination.is_some();
    let version = class.ip_version.or(addressed.then_some(4));
    let tos = class.tos.map_or((0, 0), |(value, mask)| (value & mask, mask));
    ops.push(Op::Insert(Entry {
        table: ids.tables.traffic_class,
        keys: vec![
            ternary(version.map(u128::from), 0xf),
            KeyMatch::Ternary { value: tos.0.into(), mask: tos.1.into() },
            prefix(class.source.map(|(ip, len)| (ip.into(), len))),
            prefix(class.destination.map(|(ip, len)| (ip.into(), len))),
            ternary(class.protocol.map(u128::from), 0xff),
            ports(class.source_ports),
            ports(class.destination_ports),
        ],
        priority,
        action: ids.actions.set_class,
        args: vec![class.queue.into(), meter.into()],
    }));
}

fn ternary(value: Option<u128>, mask: u128) -> KeyMatch {
    value.map_or(KeyMatch::Ternary { value: 0, mask: 0 }, |value| KeyMatch::Ternary { value, mask })
}

fn prefix(prefix: Option<Prefix>) -> KeyMatch {
    prefix.map_or(KeyMatch::Ternary { value: 0, mask: 0 }, |(ip, len)| {
        let mask = config::prefix_mask(ip, len);
        KeyMatch::Ternary { value: config::bits(ip) & mask, mask }
    })
}

fn ports(ports: Option<(u16, u16)>) -> KeyMatch {
    let (low, high) = ports.unwrap_or((0, u16::MAX));
    KeyMatch::Range { low: low.into(), high: high.into() }
}
