//! A configuration that changes while the UPF runs: the tables are as after a start with it, and what is known stays known.

use std::net::IpAddr;
use std::time::Duration;

use base::PortId;
use pfcp::rules::{FTeid, Interface, Pdi, SessionRules, UserPlane};
use program::{ApplyError, Entry, KeyMatch, Op, RuleError};
use rand::Rng;
use rand::seq::IndexedRandom;
use upf::config::{FirewallRule, NetworkConfig, PortConfig, Route, StaticNeighbour, TrafficClass, Via};
use upf::host::Action;
use upf::plane::Plane;
use wire::ethernet::Mac;

use crate::host::arp_reply;
use crate::model::Model;
use crate::program as by_hand;
use crate::sessions::{GNB, N3, UE, forward, network, pdi, pdr, ue};

const N6: PortId = PortId(128);
const ROUTER_MAC: Mac = Mac([2, 0, 0, 0, 0, 0xfe]);

fn ip(text: &str) -> IpAddr {
    text.parse().unwrap()
}

fn plane_of(config: &NetworkConfig) -> Plane<Model> {
    let program = by_hand::upf(64);
    let mut plane = Plane::new(config, &program, Model::new(program.clone())).unwrap();
    let initial = plane.initial_batch().clone();
    plane.data_mut().apply(&initial).unwrap();
    plane
}

/// As the daemon does it; what the host wants done.
fn change(plane: &mut Plane<Model>, config: &NetworkConfig) -> Vec<Action> {
    let renewal = plane.prepare(config).unwrap();
    plane.data_mut().apply(&renewal.batch).unwrap();
    plane.renew(renewal, Duration::from_secs(9))
}

/// What a packet to an address meets: longest prefix, then the next hop's action, and where that sends it.
fn met(plane: &Plane<Model>, vrf: u128, to: IpAddr) -> Option<(String, Vec<u128>)> {
    let ids = plane.ids();
    let (table, bits, width) = match to {
        IpAddr::V4(to) => (ids.tables.route_ipv4, u128::from(u32::from(to)), 32),
        IpAddr::V6(to) => (ids.tables.route_ipv6, u128::from(to), 128),
    };
    let entries = || plane.data().tables.values();
    let fits = |entry: &&Entry| match entry.keys[..] {
        [KeyMatch::Exact(of), KeyMatch::Lpm { value, prefix_len }] => {
            let shift = width - prefix_len;
            of == vrf && (prefix_len == 0 || value >> shift == bits >> shift)
        }
        _ => false,
    };
    let len = |entry: &&Entry| if let KeyMatch::Lpm { prefix_len, .. } = entry.keys[1] { prefix_len } else { 0 };
    let route = entries().filter(|entry| entry.table == table).filter(fits).max_by_key(len)?;
    let hop = entries().find(|entry| entry.table == ids.tables.nexthop && entry.keys == [KeyMatch::Exact(route.args[0])])?;
    // The number is another after a start.
    let args = if hop.action == ids.actions.unresolved { Vec::new() } else { hop.args.clone() };
    Some((format!("{:?}", hop.action), args))
}

#[test]
fn a_router_that_is_known_stays_known_when_routes_change() {
    let mut plane = plane_of(&network());
    let r = plane.ids().reasons;
    let answer = arp_reply(ROUTER_MAC, "10.0.6.254".parse().unwrap(), Mac([2, 0, 0, 0, 0, 6]), "10.0.6.1".parse().unwrap());
    plane.poll(Duration::from_secs(1));
    let actions = plane.punt(&answer, N6, r.arp, 0, Duration::from_secs(1));
    for action in actions {
        if let Action::Resolved { number } = action {
            let released = plane.host_and_data().0.release(number, []);
            plane.data_mut().apply(&released.batch).unwrap();
        }
    }
    let by_default = met(&plane, 2, ip("8.8.8.8")).unwrap();
    assert!(by_default.1.contains(&ROUTER_MAC.bits().into()), "{by_default:?}");
    let before = plane.data().tables.clone();

    let mut config = network();
    config
        .routes
        .insert(0, Route { network_instance: "internet".into(), prefix: (ip("203.0.113.0"), 24), via: Via::Gateway(ip("10.0.6.9")) });
    config.firewall = vec![FirewallRule { destination: Some((ip("203.0.113.9"), 32)), ..FirewallRule::default() }];
    let actions = change(&mut plane, &config);
    assert_eq!(met(&plane, 2, ip("8.8.8.8")), Some(by_default.clone()), "it is not asked for again");
    assert!(met(&plane, 2, ip("203.0.113.1")).unwrap().1.is_empty(), "not known yet");
    let asks = |action: &Action| matches!(action, Action::Transmit { port: N6, frame } if frame[38..42] == [10, 0, 6, 9]);
    assert!(actions.iter().any(asks), "the new router is asked for before there are packets to it: {actions:?}");

    change(&mut plane, &network());
    assert_eq!(met(&plane, 2, ip("203.0.113.1")), Some(by_default));
    // The router of the route that is gone is a neighbour as any other: a next hop and a route to itself.
    let more: Vec<&Entry> = plane.data().tables.iter().filter(|(key, _)| !before.contains_key(*key)).map(|(_, entry)| entry).collect();
    assert_eq!((more.len(), plane.data().tables.len()), (2, before.len() + 2), "{more:?}");
}

/// Each configuration after each other; refused operations are errors of the model.
#[test]
fn after_any_changes_packets_go_as_after_a_start() {
    let mut random = testkit::rng(0x51);
    let routers = ["10.0.6.254", "10.0.6.9", "10.0.6.8"].map(ip);
    let prefixes =
        [("0.0.0.0", 0), ("203.0.113.0", 24), ("203.0.113.128", 25), ("10.0.6.9", 32), ("10.0.6.16", 28)].map(|(p, len)| (ip(p), len));
    let destinations = [
        "8.8.8.8",
        "203.0.113.1",
        "203.0.113.200",
        "10.0.6.9",
        "10.0.6.8",
        "10.0.6.20",
        "10.0.6.77",
        "10.0.6.1",
        "10.0.9.1",
        "10.0.9.20",
        "198.51.100.9",
    ]
    .map(ip);
    let mut plane = plane_of(&network());
    let mut changes = 0;
    for _ in 0..300 {
        let mut config = network();
        config.routes.clear();
        // Ports come, in front of others, and go; one may take another's addresses.
        let n6 = if random.random_bool(0.7) { N6 } else { PortId(130) };
        (config.ports[1].id, config.ports[1].mac[4]) = (n6, n6.0 as u8);
        if random.random_bool(0.5) {
            config.ports.insert(1, second_port());
            config.routes.push(Route {
                network_instance: "internet".into(),
                prefix: (ip("198.51.100.0"), 24),
                via: Via::Gateway(ip("10.0.9.254")),
            });
        }
        for prefix in prefixes {
            if random.random_bool(0.6) {
                let via = Via::Gateway(*routers.choose(&mut random).unwrap());
                config.routes.push(Route { network_instance: "internet".into(), prefix, via });
            }
        }
        for (n, router) in routers.iter().enumerate() {
            if random.random_bool(0.3) {
                config.neighbours.push(StaticNeighbour {
                    port: n6,
                    ip: *router,
                    mac: [2, 0, 0, 0, 9, n as u8 + random.random_range(0..2)],
                });
            }
        }
        for n in 0..random.random_range(0..4u8) {
            config.firewall.push(FirewallRule { permit: n % 2 == 0, protocol: Some(random.random_range(0..3)), ..FirewallRule::default() });
            let rate = random.random_bool(0.5).then(|| (8_000_000 * u64::from(random.random_range(1..3u8)), 20_000));
            config.traffic_classes.push(TrafficClass { protocol: Some(n), rate, ..TrafficClass::default() });
        }
        let before = plane.data().tables.clone();
        change(&mut plane, &config);
        changes += usize::from(plane.data().tables != before);
        let fresh = plane_of(&config);
        for to in destinations {
            let is_fixed = |hop: &(String, Vec<u128>)| !hop.1.is_empty();
            let (now, then) = (met(&plane, 2, to), met(&fresh, 2, to));
            // A MAC address that was given once is believed until it is confirmed.
            let same = now == then || now.as_ref().is_some_and(is_fixed) && then.as_ref().is_some_and(|hop| !is_fixed(hop));
            assert!(same, "{to}: {now:?}, after a start {then:?}: {config:#?}");
        }
        let others = |plane: &Plane<Model>| {
            let t = &plane.ids().tables;
            let of_hops = [t.nexthop, t.route_ipv4, t.route_ipv6];
            let rest = plane.data().tables.iter().filter(|(_, entry)| !of_hops.contains(&entry.table));
            (rest.map(|(key, entry)| (key.clone(), entry.clone())).collect::<Vec<_>>(), plane.data().meters.clone())
        };
        assert_eq!(others(&plane), others(&fresh));
        // Somebody's packets make neighbours in between.
        let (host, data) = plane.host_and_data();
        if random.random_bool(0.5)
            && let Ok(held) = host.hold_peers([(2, "10.0.6.8".parse().unwrap()), (2, "10.0.6.77".parse().unwrap())])
        {
            data.apply(&program::Batch { ops: held.ops.clone() }).unwrap();
        }
    }
    assert!(changes > 200, "{changes}");
}

/// In N6's network instance.
fn second_port() -> PortConfig {
    let addresses = vec![(ip("10.0.9.1"), 24)];
    PortConfig { id: PortId(129), name: "n6b".into(), mac: [2, 0, 0, 0, 0, 9], addresses, ..network().ports[1].clone() }
}

/// In a network instance of its own, in front of all others.
fn other_access(config: &mut NetworkConfig) {
    let (addresses, gtpu_endpoints) = (vec![(ip("10.0.7.1"), 24)], vec!["10.0.7.1".parse().unwrap()]);
    let network_instance = "roaming".to_owned();
    let port = PortConfig {
        id: PortId(1),
        name: "n9".into(),
        mac: [2, 0, 0, 0, 0, 7],
        addresses,
        gtpu_endpoints,
        network_instance,
        ..network().ports[0].clone()
    };
    config.ports.insert(0, port);
}

#[test]
fn a_network_instance_comes_and_goes_and_the_others_keep_their_numbers() {
    let mut plane = plane_of(&network());
    let before = (plane.data().tables.clone(), met(&plane, 2, ip("8.8.8.8")));
    let mut config = network();
    other_access(&mut config);
    let actions = change(&mut plane, &config);
    assert_eq!(met(&plane, 2, ip("8.8.8.8")), before.1, "N6 has the number that it had");
    assert!(met(&plane, 3, ip("10.0.7.9")).is_some(), "the new one has its own");
    assert!(plane.data().tables.values().any(|entry| entry.table == plane.ids().tables.station && entry.keys[0] == KeyMatch::Exact(1)));
    let announced: Vec<&Action> =
        actions.iter().filter(|action| matches!(action, Action::Transmit { port: PortId(1), frame } if frame[12..14] == [8, 6])).collect();
    assert_eq!(announced.len(), 1, "its neighbours are told: {actions:?}");
    change(&mut plane, &network());
    assert_eq!(plane.data().tables, before.0);
}

#[test]
fn what_sessions_live_by_does_not_go() {
    let without = |name: &str| {
        let mut config = network();
        other_access(&mut config);
        config.ports.push(second_port());
        config.ports.retain(|port| port.name != name);
        if name == "n6" {
            config.routes.clear();
        }
        config
    };
    let mut plane = plane_of(&without("none"));
    let tunnel = |teid| Some(FTeid { teid, ipv4: N3 });
    let mut rules = SessionRules::default();
    let up = Pdi { f_teid: tunnel(0x10), ue_ip: ue(Some(UE), None, false), ..pdi(Interface::Access) };
    let down = Pdi { network_instance: Some("internet".into()), ue_ip: ue(Some(UE), None, true), ..pdi(Interface::Core) };
    rules.pdrs.insert(1, pdr(100, up, 1));
    rules.pdrs.insert(2, pdr(100, down, 2));
    rules.fars.insert(1, forward(Interface::Core, None));
    rules.fars.insert(2, forward(Interface::Access, Some((0x20, GNB))));
    plane.commit(1, Some(&rules)).unwrap();
    let refused = |plane: &Plane<Model>, name: &str| plane.prepare(&without(name)).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(refused(&plane, "n3").contains("tunnels at 10.0.3.1"), "{}", refused(&plane, "n3"));
    // Of two ports to the network one may go, and so may the one that no session uses.
    assert_eq!(refused(&plane, "n6b") + &refused(&plane, "n9"), "");
    let mut alone = without("n6b");
    alone.ports.retain(|port| port.name != "n6");
    alone.routes.clear();
    let error = plane.prepare(&alone).err().map(|e| e.to_string()).unwrap_or_default();
    assert!(error.contains("\"internet\", whose last port would go"), "{error}");
    plane.commit(1, None).unwrap();
    assert_eq!(refused(&plane, "n3"), "");
    plane.prepare(&alone).unwrap();
}

#[test]
fn a_change_that_has_no_room_changes_nothing() {
    let mut plane = plane_of(&network());
    let mut config = network();
    for n in 0..3 {
        config.firewall.push(FirewallRule { protocol: Some(n), ..FirewallRule::default() });
    }
    let before = plane.data().tables.clone();
    let full = RuleError::Full { op: 2, table: "firewall_v4".into(), capacity: 2 };
    plane.data_mut().refuse_after = Some((2, ApplyError::Refused(full)));
    let renewal = plane.prepare(&config).unwrap();
    assert!(matches!(renewal.batch.ops[0], Op::Insert(_)));
    plane.data_mut().apply(&renewal.batch).unwrap_err();
    drop(renewal);
    change(&mut plane, &network());
    assert_eq!(plane.data().tables, before);
}
