//! A random network around the UPF: ports, routes, neighbours, firewall, classes, VXLAN; and entries that no SMF would ask
//! for, made by hand for the places of the program where they lead.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

use base::PortId;
use offload::Policy;
use program::{Batch, Entry, KeyMatch, Op, Program};
use rand::Rng;
use rand_chacha::ChaCha8Rng;
use target_asic::Chip;
use upf::config::*;
use upf::criteria::Criteria;
use upf::ids::Ids;

pub(crate) const N3: Ipv4Addr = Ipv4Addr::new(10, 0, 3, 1);
pub(crate) const N9: Ipv4Addr = Ipv4Addr::new(10, 0, 9, 1);
pub(crate) const N6: Ipv4Addr = Ipv4Addr::new(10, 0, 6, 1);
pub(crate) const N6_V6: Ipv6Addr = Ipv6Addr::new(0xfd00, 6, 0, 0, 0, 0, 0, 1);
pub(crate) const VTEP: Ipv4Addr = Ipv4Addr::new(10, 9, 9, 1);
/// Overlays of the access and core sides.
pub(crate) const VNI_ACCESS: u32 = 300;
pub(crate) const VNI_INTERNET: u32 = 700;
/// Ports: N3, N9, N6, and VXLAN underlays that are as the first and the third inside.
pub(crate) const PORT_N3: PortId = PortId(0);
pub(crate) const PORT_N9: PortId = PortId(1);
pub(crate) const PORT_N6: PortId = PortId(128);
pub(crate) const PORT_VXLAN: PortId = PortId(256);
pub(crate) const PORT_VXLAN_PLAIN: PortId = PortId(384);

/// Tunnels of the entries made by hand: [`by_hand`].
pub(crate) const TEID_NO_CLASS: u32 = 0xdead_0000;
pub(crate) const TEIDS_RANDOM: std::ops::RangeInclusive<u32> = 0xdead_0001..=0xdead_0008;

/// Networks of the internet whose next hop is not there.
const DEAD_ENDS: (Prefix, Prefix) =
    ((IpAddr::V4(Ipv4Addr::new(198, 18, 0, 0)), 15), (IpAddr::V6(Ipv6Addr::new(0x2001, 0xdb8, 0x5000, 0, 0, 0, 0, 0)), 48));

/// What a case is about. Where several targets police one rate each has a bucket of its own: rates are compared where
/// a rate's packets all run on one target.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Flavour {
    /// Rates of sessions and of traffic classes, and all sessions on x86.
    Rates,
    /// Rates of sessions, some of them on the chip, which may have little room; nobody need be asked for a MAC address.
    ChipRates,
    /// No rates, and a chip with little room.
    SmallChip,
}

pub(crate) struct World {
    pub flavour: Flavour,
    pub policy: Policy,
    /// Sessions of these are the policy's choice.
    pub chosen: [Criteria; 2],
    pub chip: Chip,
    pub config: NetworkConfig,
}

pub(crate) fn mac(port: PortId) -> [u8; 6] {
    let [high, low] = port.0.to_be_bytes();
    [2, 0, 0, 1, high, low]
}

/// Hosts of the internet, some in networks with routes of their own.
pub(crate) fn remote_v4(rng: &mut ChaCha8Rng) -> Ipv4Addr {
    let host = rng.random_range(1..6u8);
    match rng.random_range(0..12) {
        0 => Ipv4Addr::new(10, 0, 6, 40 + host),
        1 => Ipv4Addr::new(198, 18, 0, host),
        2 | 3 => Ipv4Addr::new(198, 51, 100, host),
        4 | 5 => Ipv4Addr::new(203, 0, rng.random_range(112..115), host),
        6 => rng.random::<u32>().into(),
        _ => Ipv4Addr::new(192, 0, 2, host),
    }
}

pub(crate) fn remote_v6(rng: &mut ChaCha8Rng) -> Ipv6Addr {
    let host = rng.random_range(1..6u16);
    match rng.random_range(0..8) {
        0 => Ipv6Addr::new(0xfd00, 6, 0, 0, 0, 0, 0, 0x40 + host),
        1 => Ipv6Addr::new(0x2001, 0xdb8, 0x5000, 0, 0, 0, 0, host),
        2 => rng.random::<u128>().into(),
        _ => Ipv6Addr::new(0x2001, 0xdb8, host, 0, 0, 0, 0, host),
    }
}

pub(crate) fn ue_v4(session: u64) -> Ipv4Addr {
    Ipv4Addr::new(10, 45, (session >> 8) as u8, session as u8)
}

/// The /64's number, and an address in it.
pub(crate) fn ue_v6(session: u64, host: u16) -> Ipv6Addr {
    Ipv6Addr::new(0xfd00, 0x45, 0, session as u16, 0, 0, 0, host)
}

/// gNodeBs, some of them behind VXLAN.
pub(crate) fn gnb(rng: &mut ChaCha8Rng) -> Ipv4Addr {
    match rng.random_range(0..4) {
        0 => Ipv4Addr::new(10, 77, 0, rng.random_range(1..4)),
        _ => Ipv4Addr::new(10, 0, 3, rng.random_range(50..60)),
    }
}

pub(crate) const PORTS: [u16; 7] = [53, 80, 443, 2152, 4789, 5000, 6000];

/// Ports that filters and packets have in common.
pub(crate) fn l4_port(rng: &mut ChaCha8Rng) -> u16 {
    if rng.random_bool(0.2) { rng.random() } else { PORTS[rng.random_range(0..PORTS.len())].wrapping_add(rng.random_range(0..3)) }
}

pub(crate) fn l4_ports(rng: &mut ChaCha8Rng) -> (u16, u16) {
    let low = l4_port(rng);
    match rng.random_range(0..3) {
        0 => (low, low),
        1 => (low, low.saturating_add(rng.random_range(0..2000))),
        _ => (low.saturating_sub(rng.random_range(0..500)), low),
    }
}

pub(crate) fn l4_protocol(rng: &mut ChaCha8Rng) -> u8 {
    [17, 17, 17, 6, 6, 132, 1, 58, 50][rng.random_range(0..9)]
}

impl World {
    pub(crate) fn new(rng: &mut ChaCha8Rng) -> World {
        let flavour = [Flavour::Rates, Flavour::ChipRates, Flavour::SmallChip, Flavour::SmallChip][rng.random_range(0..4)];
        let dscps: Vec<u8> = (0..rng.random_range(1..5)).map(|_| [0, 0, 10, 26, 34, 46][rng.random_range(0..6)]).collect();
        let share = Policy::Share([1.0, rng.random_range(0.2..1.0)][rng.random_range(0..2)]);
        let len = rng.random_range(26..32);
        let chosen = [(prefix_v4(ue_v4(rng.random_range(1..40)), len).0, len), (ue_v6(0, 0).into(), rng.random_range(56..64))];
        let chosen = chosen.map(|ue| Criteria { ue: Some(ue), ..Criteria::default() });
        let policy = match (flavour, rng.random_range(0..4)) {
            (Flavour::Rates, _) => Policy::None,
            (_, 0) => Policy::Dscps(dscps, upf::dscp::user_dscp),
            (_, 1) => Policy::Chosen,
            (_, 2) => Policy::Planned,
            _ => share,
        };
        let small = flavour == Flavour::SmallChip || flavour == Flavour::ChipRates && rng.random_bool(0.5);
        let session_entries = if small { rng.random_range(1..40) } else { 1 << 20 };
        let config = network(rng, flavour);
        World { flavour, policy, chosen, chip: Chip { session_entries }, config }
    }

    /// Whether sessions have maximum bit rates.
    pub(crate) fn rates(&self) -> bool {
        self.flavour != Flavour::SmallChip
    }
}

fn v4(a: u8, b: u8, c: u8, d: u8) -> IpAddr {
    Ipv4Addr::new(a, b, c, d).into()
}

fn v6(text: &str) -> IpAddr {
    text.parse().unwrap_or_else(|e| panic!("{text}: {e}"))
}

/// The network of an address.
fn prefix_v4(ip: Ipv4Addr, len: u8) -> Prefix {
    let mask = u32::MAX.checked_shl(32 - u32::from(len)).unwrap_or(0);
    (Ipv4Addr::from(u32::from(ip) & mask).into(), len)
}

fn prefix_v6(ip: Ipv6Addr, len: u8) -> Prefix {
    let mask = u128::MAX.checked_shl(128 - u32::from(len)).unwrap_or(0);
    (Ipv6Addr::from(u128::from(ip) & mask).into(), len)
}

fn network(rng: &mut ChaCha8Rng, flavour: Flavour) -> NetworkConfig {
    // Small, so that packets are too big; or so large that the buffer's end is what stops them.
    let mtu = if rng.random_bool(0.5) { 1600 } else { upf::config::MAX_MTU };
    let port = |id: PortId, name: &str, instance: &str, role, addresses: &[Prefix], endpoints: &[Ipv4Addr]| PortConfig {
        id,
        name: name.into(),
        mac: mac(id),
        mtu,
        addresses: addresses.to_vec(),
        network_instance: instance.into(),
        role,
        gtpu_endpoints: endpoints.to_vec(),
        proxy_prefixes: vec![],
        ..PortConfig::default()
    };
    let ports = vec![
        port(PORT_N3, "n3", "access", Role::Access, &[(N3.into(), 24), (v6("fd00:3::1"), 64)], &[N3]),
        port(PORT_N9, "n9", "n9", Role::Both, &[(N9.into(), 24)], &[N9]),
        // As if the kernel routed there.
        PortConfig { reachable: Some(vec![]), ..port(PORT_N6, "n6", "internet", Role::Core, &[(N6.into(), 24), (N6_V6.into(), 64)], &[]) },
        port(PORT_VXLAN, "underlay", "access", Role::Access, &[], &[]),
        port(PORT_VXLAN_PLAIN, "underlay-n6", "internet", Role::Core, &[], &[]),
    ];
    let remote = |name: &str, gateway: IpAddr, port: PortId, vni, n| VxlanRemote {
        network_instance: name.into(),
        gateway,
        mac: [2, 0, 0, 2, 0, n],
        port,
        vni,
        local_vtep: VTEP,
        remote_vtep: Ipv4Addr::new(10, 9, 9, 2 + n),
        underlay_mac: [2, 0, 0, 3, 0, n],
    };
    let vxlan = VxlanConfig {
        local_vteps: vec![VTEP],
        vnis: vec![(VNI_ACCESS, "access".into()), (VNI_INTERNET, "internet".into())],
        remotes: vec![
            remote("access", v4(10, 77, 0, 254), PORT_VXLAN, VNI_ACCESS, 1),
            remote("internet", v4(10, 88, 0, 254), PORT_VXLAN_PLAIN, VNI_INTERNET, 2),
            remote("internet", v6("fd00:88::fe"), PORT_VXLAN_PLAIN, VNI_INTERNET, 3),
        ],
    };
    let mut neighbours: Vec<StaticNeighbour> = Vec::new();
    let mut neighbour =
        |port: PortId, ip: IpAddr| neighbours.push(StaticNeighbour { port, ip, mac: [2, 0, 0, 4, port.0 as u8, neighbours.len() as u8] });
    (50..54).for_each(|n| neighbour(PORT_N3, v4(10, 0, 3, n)));
    neighbour(PORT_N3, v4(10, 0, 3, 9));
    (20..22).for_each(|n| neighbour(PORT_N9, v4(10, 0, 9, n)));

    let route =
        |instance: &str, prefix: Prefix, gateway: IpAddr| Route { network_instance: instance.into(), prefix, via: Via::Gateway(gateway) };
    let mut routes = vec![route("access", (v4(10, 77, 0, 0), 16), v4(10, 77, 0, 254))];
    let remotes = [v4(10, 88, 0, 254), v6("fd00:88::fe")];
    (250..253).for_each(|n| neighbour(PORT_N6, v4(10, 0, 6, n)));
    neighbour(PORT_N6, v6("fd00:6::fa"));
    routes.push(route("internet", (v4(192, 0, 2, 0), 24), v4(10, 0, 6, 250)));
    routes.push(route("internet", (v6("2001:db8::"), 32), v6("fd00:6::fa")));
    if rng.random_bool(0.7) {
        routes.push(route("internet", (v4(0, 0, 0, 0), 0), v4(10, 0, 6, rng.random_range(250..=254))));
    }
    if rng.random_bool(0.7) {
        routes.push(route("internet", (v6("::"), 0), [v6("fd00:6::fa"), v6("fd00:6::fe"), remotes[1]][rng.random_range(0..3)]));
    }
    for _ in 0..rng.random_range(0..30) {
        let wide = rng.random_bool(0.3);
        let (prefix, gateway) = if rng.random_bool(0.6) {
            let gateway = if rng.random_bool(0.3) { remotes[0] } else { v4(10, 0, 6, rng.random_range(248..=254)) };
            (prefix_v4(remote_v4(rng), if wide { rng.random_range(0..=32) } else { rng.random_range(20..=32) }), gateway)
        } else {
            let gateway = if rng.random_bool(0.3) { remotes[1] } else { [v6("fd00:6::fa"), v6("fd00:6::fe")][rng.random_range(0..2)] };
            (prefix_v6(remote_v6(rng), if wide { rng.random_range(0..=128) } else { rng.random_range(32..=128) }), gateway)
        };
        let by_hand = [DEAD_ENDS.0, DEAD_ENDS.1];
        if !by_hand.contains(&prefix) && routes.iter().all(|r| r.network_instance != "internet" || r.prefix != prefix) {
            routes.push(route("internet", prefix, gateway));
        }
    }
    let firewall = (0..rng.random_range(0..12)).map(|_| firewall_rule(rng)).collect();
    let traffic_classes = (0..rng.random_range(0..8)).map(|_| traffic_class(rng, flavour == Flavour::Rates)).collect();
    NetworkConfig {
        ports,
        routes,
        neighbours,
        firewall,
        traffic_classes,
        vxlan: Some(vxlan),
        zero_mbr_unlimited: rng.random_bool(0.3),
        policing: Default::default(),
        max_sessions: 0,
        host: Default::default(),
        machine: vec![(v4(192, 0, 2, 5), 32), (v6("2001:db8:5::5"), 128)],
    }
}

fn firewall_rule(rng: &mut ChaCha8Rng) -> FirewallRule {
    let v6 = rng.random_bool(0.4);
    let address = |rng: &mut ChaCha8Rng, ue: bool| match (v6, ue) {
        (false, true) => prefix_v4(ue_v4(rng.random_range(1..40)), rng.random_range(26..=32)),
        (false, false) => prefix_v4(remote_v4(rng), rng.random_range(22..=32)),
        (true, true) => prefix_v6(ue_v6(rng.random_range(1..40), 1), rng.random_range(60..=64)),
        (true, false) => prefix_v6(remote_v6(rng), rng.random_range(40..=128)),
    };
    let (source, destination) = match rng.random_range(0..4) {
        0 => (None, Some(address(rng, false))),
        1 => (Some(address(rng, false)), None),
        2 => (Some(address(rng, true)), Some(address(rng, false))),
        _ => (None, None),
    };
    let narrow = source.is_none() && destination.is_none();
    FirewallRule {
        permit: rng.random_bool(0.4),
        network_instance: rng.random_bool(0.4).then(|| ["access", "internet"][rng.random_range(0..2)].into()),
        source,
        destination,
        protocol: rng.random_bool(0.4).then(|| l4_protocol(rng)),
        source_ports: rng.random_bool(0.2).then(|| l4_ports(rng)),
        destination_ports: (narrow || rng.random_bool(0.3)).then(|| l4_ports(rng)),
    }
}

fn traffic_class(rng: &mut ChaCha8Rng, rates: bool) -> TrafficClass {
    let v4 = rng.random_bool(0.5);
    let network = |(ip, len): Prefix| match ip {
        IpAddr::V4(ip) => (ip, len),
        IpAddr::V6(_) => (Ipv4Addr::UNSPECIFIED, 0),
    };
    let source = (v4 && rng.random_bool(0.5)).then(|| network(prefix_v4(remote_v4(rng), rng.random_range(22..=32))));
    let destination = (v4 && rng.random_bool(0.5)).then(|| network(prefix_v4(remote_v4(rng), rng.random_range(22..=32))));
    TrafficClass {
        ip_version: if v4 { rng.random_bool(0.5).then_some(4) } else { rng.random_bool(0.5).then_some(6) },
        tos: rng.random_bool(0.5).then(|| (tos(rng), [0xfc, 0xff, 0xe0][rng.random_range(0..3)])),
        source,
        destination,
        protocol: rng.random_bool(0.3).then(|| l4_protocol(rng)),
        source_ports: rng.random_bool(0.2).then(|| l4_ports(rng)),
        destination_ports: rng.random_bool(0.3).then(|| l4_ports(rng)),
        queue: rng.random_range(0..8),
        rate: rates.then(|| (rng.random_range(8_000..400_000), rng.random_range(1500..3_000))),
    }
}

pub(crate) fn tos(rng: &mut ChaCha8Rng) -> u8 {
    match rng.random_range(0..4) {
        0 => 0,
        1 => rng.random(),
        _ => [10, 26, 34, 46][rng.random_range(0..4)] << 2 | rng.random_range(0..4),
    }
}

/// Entries that lead where the control plane never leads a packet: to a class without PDR, to a next hop that is not there,
/// and to rules of random arguments.
pub(crate) fn by_hand(rng: &mut ChaCha8Rng, program: &Program, ids: &Ids) -> Batch {
    let (tables, actions) = (&ids.tables, &ids.actions);
    let exact = |values: &[u128]| values.iter().map(|v| KeyMatch::Exact(*v)).collect::<Vec<_>>();
    let mut ops = Vec::new();
    let mut insert = |table, keys, priority, action, args| ops.push(Op::Insert(Entry { table, keys, priority, action, args }));
    let set: u128 = 65_000;
    insert(tables.pdr_by_teid, exact(&[u32::from(N3).into(), TEID_NO_CLASS.into()]), 0, actions.classify, vec![999_999, set]);
    for table in [tables.sdf_ipv4, tables.sdf_ipv6] {
        let any = program.tables[table].keys[1..].iter().map(|key| match key.kind {
            program::MatchKind::Range => KeyMatch::Range { low: 0, high: base::Bits::mask(key.width) },
            _ => KeyMatch::Ternary { value: 0, mask: 0 },
        });
        let keys = std::iter::once(KeyMatch::Exact(set)).chain(any).collect();
        insert(table, keys, 1, actions.set_filter, vec![7]);
    }
    let vrf = |n: u128| KeyMatch::Exact(n);
    // The internet is the third network instance.
    for (ip, len) in [DEAD_ENDS.0, DEAD_ENDS.1] {
        let (table, value) = match ip {
            IpAddr::V4(ip) => (tables.route_ipv4, u32::from(ip).into()),
            IpAddr::V6(ip) => (tables.route_ipv6, u128::from(ip)),
        };
        insert(table, vec![vrf(3), KeyMatch::Lpm { value, prefix_len: len.into() }], 0, actions.set_nexthop, vec![4000]);
    }
    for teid in TEIDS_RANDOM {
        let params = &program.actions[actions.set_pdr].params;
        let args = params.iter().map(|p| match p.name.as_str() {
            "disposition" if rng.random_bool(0.8) => 0,
            // Beyond the end; cell 0 stands for none.
            "meter_1" | "meter_2" | "meter_3" => [0, 1 << 30, u32::MAX.into()][rng.random_range(0..3)],
            "out_vrf" => rng.random_range(0..4),
            "encapsulation" => rng.random_range(0..6),
            "flags" => rng.random_range(0..4),
            "tunnel_dst" => u128::from(u32::from(gnb(rng))),
            _ => rng.random::<u128>() & base::Bits::mask(p.width),
        });
        let args = args.collect();
        insert(tables.pdr_by_teid, exact(&[u32::from(N3).into(), teid.into()]), 0, actions.set_pdr, args);
    }
    Batch { ops }
}
