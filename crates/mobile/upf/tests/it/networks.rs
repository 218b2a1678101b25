//! Which network instance a rule means: by interface, tunnels and routes, never by the order of the ports.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr};

use base::PortId;
use pfcp::rules::*;
use rand::Rng;
use rand::seq::SliceRandom;
use upf::config::*;
use upf::lower::{Act, Context, Numbers, outline};
use upf::networks::{Clues, Networks};

use crate::sessions::*;

const N9: Ipv4Addr = Ipv4Addr::new(10, 0, 9, 1);
const N4U: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 7);

fn port(id: u16, role: Role, instance: &str, address: Ipv4Addr, len: u8) -> PortConfig {
    let gtpu_endpoints = if role == Role::Core { vec![] } else { vec![address] };
    PortConfig {
        id: PortId(id),
        name: format!("port{id}"),
        mac: [2, 0, 0, 0, 1, id as u8],
        mtu: 1600,
        addresses: vec![(IpAddr::V4(address), len)],
        network_instance: instance.into(),
        role,
        gtpu_endpoints,
        ..PortConfig::default()
    }
}

/// N3, N9 towards other gNodeBs, N4-U and N6.
fn ports() -> Vec<PortConfig> {
    vec![
        port(0, Role::Access, "access", N3, 24),
        port(1, Role::Access, "transport", N9, 24),
        port(2, Role::CpFunction, "cp", N4U, 8),
        port(128, Role::Core, "internet", Ipv4Addr::new(10, 0, 6, 1), 24),
    ]
}

fn permutations<T: Clone>(of: &[T]) -> Vec<Vec<T>> {
    if of.is_empty() {
        return vec![vec![]];
    }
    let mut all = Vec::new();
    for i in 0..of.len() {
        let mut rest = of.to_vec();
        let first = rest.remove(i);
        all.extend(permutations(&rest).into_iter().map(|tail| [vec![first.clone()], tail].concat()));
    }
    all
}

/// By PDR: our end of the tunnel that its packets leave by, and the network instance; or the refusal.
fn ways(ports: Vec<PortConfig>, rules: &SessionRules) -> Result<BTreeMap<u16, (Ipv4Addr, String)>, CommitError> {
    let config = NetworkConfig { ports, ..NetworkConfig::default() };
    config.validate().unwrap();
    let context = Context::new(&config);
    let entries = outline(rules, &context)?.entries(&Numbers::default());
    let way = |act| match act {
        Act::SetPdr(p) => Some((p.tunnel_src, context.networks.name(p.out_vrf).unwrap_or("none").to_owned())),
        Act::Classify(..) => None,
    };
    Ok(entries.iter().filter_map(|e| Some((e.pdr_id, way(e.act)?))).collect())
}

/// As Open5GS sends it: the DNN is the network instance of every rule.
fn with_dnn(gnb: Ipv4Addr) -> SessionRules {
    let mut rules = open5gs_connected();
    rules.fars.insert(1, forward(Interface::Access, Some((0x5001, gnb))));
    rules.fars.insert(3, forward(Interface::CpFunction, Some((0x777, Ipv4Addr::new(127, 0, 0, 4)))));
    for far in rules.fars.values_mut() {
        far.forwarding.as_mut().unwrap().network_instance = Some("internet".into());
    }
    rules
}

#[test]
fn downlink_was_lost_when_the_port_towards_the_smf_stood_first() {
    let mut with_one_access_port = ports();
    with_one_access_port.remove(1);
    for ports in permutations(&with_one_access_port) {
        let order: Vec<String> = ports.iter().map(|p| p.network_instance.clone()).collect();
        let ways = ways(ports, &with_dnn(GNB)).unwrap();
        assert_eq!(ways[&1], (N3, "access".into()), "{order:?}");
        assert_eq!(ways[&4], (N4U, "cp".into()), "{order:?}");
    }
}

#[test]
fn of_several_access_ports_the_sessions_own_tunnels_and_the_route_to_the_peer_decide() {
    for ports in permutations(&ports()) {
        // The session's tunnel is on N3, and the gNodeB is there.
        assert_eq!(ways(ports.clone(), &with_dnn(GNB)).unwrap()[&1], (N3, "access".into()));
        // It is there no more, after a handover: N3 has no route to it.
        assert_eq!(ways(ports.clone(), &with_dnn(Ipv4Addr::new(10, 0, 9, 50))).unwrap()[&1], (N9, "transport".into()));
        let nowhere = ways(ports, &with_dnn(Ipv4Addr::new(203, 0, 113, 1))).unwrap_err();
        let CommitError::Rule { rule: RuleId::Far(1), why } = nowhere else { panic!("{nowhere:?}") };
        assert!(why.starts_with("destination interface ") && why.contains("network instance \"internet\": "), "{why}");
        assert!(why.ends_with("it may mean any of \"access\", \"transport\": name one, or mark a port `default = true`"), "{why}");
    }
}

#[test]
fn a_tunnel_to_where_no_route_leads_is_refused_with_its_interface_and_instance() {
    let mut one = ports();
    one.remove(1);
    let refused = ways(one, &with_dnn(Ipv4Addr::new(203, 0, 113, 1))).unwrap_err();
    let CommitError::Rule { rule: RuleId::Far(1), why } = refused else { panic!("{refused:?}") };
    assert!(why.starts_with("destination interface ") && why.contains("network instance \"internet\": "), "{why}");
    assert!(why.ends_with("no route to 203.0.113.1 in network instance \"access\""), "{why}");
}

#[test]
fn a_side_with_several_instances_is_doubted_unless_a_port_is_marked() {
    let config = |ports| NetworkConfig { ports, ..NetworkConfig::default() };
    let doubts = config(ports()).doubts();
    assert_eq!(doubts.len(), 1, "{doubts:?}");
    assert!(doubts[0].contains("access side: port0 (access), port1 (transport)"), "{doubts:?}");
    let mut marked = ports();
    marked[1].default = true;
    assert_eq!(config(marked.clone()).doubts(), Vec::<String>::new());
    let networks = Networks::new(&config(marked.clone()));
    assert_eq!(networks.resolve(Interface::Access, Some("internet"), &Clues::default()), Ok(networks.vrf("transport").unwrap()));
    marked[0].default = true;
    assert!(config(marked).validate().unwrap_err().to_string().contains("default of the access side"));
}

/// Ports at random, asked at random: every order gives the same answer, and there are answers and refusals.
#[test]
fn no_order_of_ports_changes_what_a_rule_means() {
    let mut rng = testkit::rng(0x0dde4);
    let (mut decided, mut refused) = (0, 0);
    for _ in 0..300 {
        let mut ports: Vec<PortConfig> = (0..rng.random_range(2..6u16))
            .map(|n| {
                let role = [Role::Access, Role::Core, Role::Both, Role::CpFunction][rng.random_range(0..4)];
                let id = if role == Role::Core { 128 + n } else { n };
                let instance = ["a", "b", "c", "d"][rng.random_range(0..4)];
                let mut port = port(id, role, instance, Ipv4Addr::new(10, 0, n as u8, 1), [8, 16, 24][rng.random_range(0..3)]);
                port.default = rng.random_bool(0.1);
                port
            })
            .collect();
        let config = |ports: &[PortConfig]| NetworkConfig { ports: ports.to_vec(), ..NetworkConfig::default() };
        if config(&ports).validate().is_err() {
            continue;
        }
        let interface = [Interface::Access, Interface::Core, Interface::CpFunction, Interface::SgiLan][rng.random_range(0..4)];
        let name = [None, Some("a"), Some("internet")][rng.random_range(0..3)];
        let peer = rng.random_bool(0.6).then(|| Ipv4Addr::new(10, 0, rng.random_range(0..6), 9));
        let own = rng.random_bool(0.5).then(|| ports[rng.random_range(0..ports.len())].network_instance.clone());
        let answer = |ports: &[PortConfig]| {
            let networks = Networks::new(&config(ports));
            let clues = Clues { tunnels: own.iter().filter_map(|name| networks.vrf(name)).collect(), peer };
            let vrf = networks.resolve(interface, name, &clues)?;
            let endpoints = networks.endpoints(vrf);
            Ok::<_, upf::networks::ResolveError>((
                networks.name(vrf).unwrap().to_owned(),
                endpoints,
                peer.is_some_and(|peer| networks.has_route(vrf, peer)),
            ))
        };
        let first = answer(&ports);
        *(if first.is_ok() { &mut decided } else { &mut refused }) += 1;
        for _ in 0..6 {
            ports.shuffle(&mut rng);
            assert_eq!(answer(&ports), first, "{ports:?}");
        }
    }
    assert!(decided > 50 && refused > 30, "{decided} decided, {refused} refused");
}
