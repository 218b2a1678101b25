//! Whatever rules come in whatever order: the tables hold what the last rules say, and nothing else; nothing is lost or
//! counted twice; a refused batch leaves no trace.

use std::cmp::Reverse;
use std::collections::BTreeMap;
use std::net::Ipv4Addr;

use pfcp::rules::*;
use program::{ApplyError, RuleError};
use rand::Rng;
use upf::plane::{InUse, Plane};

use crate::model::Model;
use crate::plane::plane_of;
use crate::sessions::*;

type Random = testkit::Rng;

/// Rules of session `seid` that can be obeyed: PDRs over a few tunnels and the UE's addresses, FARs, QERs and URRs, all small.
fn rules(seid: u64, rng: &mut Random) -> SessionRules {
    let mut rules = SessionRules::default();
    for id in 1..=rng.random_range(1..4u32) {
        let far = match rng.random_range(0..5) {
            0 => buffer(),
            1 => Far { action: ApplyAction { drop: true, ..ApplyAction::default() }, forwarding: None, bar_id: None },
            2 => forward(Interface::Core, None),
            3 => forward(Interface::CpFunction, Some((9, SMF))),
            _ => forward(Interface::Access, Some((id, Ipv4Addr::new(10, 0, 3, rng.random_range(50..54))))),
        };
        // An idle UE's FAR keeps its tunnel.
        let far = if rng.random_bool(0.2) { Far { forwarding: far.forwarding, ..buffer() } } else { far };
        rules.fars.insert(id, far);
    }
    for id in 1..=3 {
        rules.qers.insert(id, qer(rng.random_bool(0.7).then(|| (rng.random_range(0..3) * 1000, 5000)), Some(id as u8)));
        let quota = VolumeLimit { total: Some(5000 * u64::from(id)), downlink: Some(8000), ..VolumeLimit::default() };
        let volume_quota = rng.random_bool(0.4).then_some(quota);
        rules.urrs.insert(id, Urr { exhausted: rng.random_bool(0.1), volume_quota, ..volume() });
    }
    if rng.random_bool(0.3) {
        rules.urrs.remove(&3);
    }
    let own = Ipv4Addr::new(10, 45, 0, seid as u8 + 2);
    let prefix = format!("fd00:45:0:{}::", seid + 1);
    for id in 1..=rng.random_range(0..7u16) {
        let v6 = rng.random_bool(0.3);
        let addresses = ue(rng.random_bool(0.8).then_some(own), v6.then_some(prefix.as_str()), true);
        let mut pdi = match rng.random_range(0..4) {
            0 | 1 => {
                let addresses = addresses.filter(|a| a.ipv4.is_some() || a.ipv6.is_some());
                Pdi { ue_ip: addresses.or(ue(Some(own), None, true)), ..pdi(Interface::Core) }
            }
            2 => Pdi {
                f_teid: Some(FTeid { teid: seid as u32 * 8 + rng.random_range(1..3), ipv4: N3 }),
                ue_ip: addresses,
                ..pdi(Interface::Access)
            },
            _ => Pdi { f_teid: Some(FTeid { teid: seid as u32 * 8 + rng.random_range(3..5), ipv4: N3 }), ..pdi(Interface::CpFunction) },
        };
        for _ in 0..rng.random_range(0..3) {
            let remote = [AddressMatch::Any, AddressMatch::Prefix(Ipv4Addr::new(192, 0, 2, 0).into(), 24)][rng.random_range(0..2)];
            let mut filter = flow([None, Some(6), Some(17)][rng.random_range(0..3)], remote);
            if let (true, Some(flow)) = (rng.random_bool(0.3), &mut filter.flow) {
                flow.remote_ports = vec![(80, 80), (1000, 2000)];
            }
            if rng.random_bool(0.2) {
                filter.tos = Some((0x28, 0xfc));
            }
            pdi.sdf_filters.push(filter);
        }
        if rng.random_bool(0.2) {
            pdi.qfis = vec![1, 2];
        }
        let far_id = rng.random_range(1..=rules.fars.len() as u32);
        let ids = |rng: &mut Random, of: Vec<u32>| of.into_iter().filter(|_| rng.random_bool(0.5)).collect();
        let mut pdr = pdr(rng.random_range(0..4), pdi, far_id);
        pdr.qer_ids = ids(rng, rules.qers.keys().copied().collect());
        pdr.urr_ids = ids(rng, rules.urrs.keys().copied().collect());
        rules.pdrs.insert(id, pdr);
    }
    // Downlink PDRs may leave the address to another PDR of the session.
    for id in 1..=rules.pdrs.len() as u16 {
        let others = rules.pdrs.iter().any(|(other, pdr)| *other != id && !addresses(pdr).is_empty());
        let pdr = rules.pdrs.get_mut(&id).unwrap();
        if pdr.pdi.source_interface == Interface::Core && others && rng.random_bool(0.4) {
            pdr.pdi.ue_ip = None;
        }
    }
    // And uplink PDRs the tunnel.
    for id in 1..=rules.pdrs.len() as u16 {
        let others = rules.pdrs.keys().any(|other| *other != id && tunnel_is_meant(*other, id, &rules));
        if rules.pdrs[&id].pdi.source_interface == Interface::Access && others && rng.random_bool(0.3) {
            rules.pdrs.get_mut(&id).unwrap().pdi.f_teid = None;
        }
    }
    rules
}

/// Whether an uplink PDR that names no tunnel means that of another one: what goes back to the access side has tunnels of its own.
fn tunnel_is_meant(of: u16, by: u16, rules: &SessionRules) -> bool {
    let back = |pdr: &Pdr| rules.fars[&pdr.far_id.unwrap()].forwarding.as_ref().is_some_and(|to| to.destination == Interface::Access);
    let (of, by) = (&rules.pdrs[&of], &rules.pdrs[&by]);
    of.pdi.f_teid.is_some() && of.pdi.source_interface == Interface::Access && back(of) == back(by)
}

/// IP versions that a PDR has an address of the UE of.
fn addresses(pdr: &Pdr) -> Vec<u8> {
    let ue = pdr.pdi.ue_ip.unwrap_or_default();
    ue.ipv4.map(|_| 4).into_iter().chain(ue.ipv6.map(|_| 6)).collect()
}

/// The tables of all sessions as text, with the numbers that were given out replaced by the order of their appearance:
/// the same for the same rules, whatever came before.
fn without_numbers(plane: &Plane<Model>, seids: impl Iterator<Item = u64>) -> String {
    use upf::lower::{Act, Key};
    let mut names: BTreeMap<(&'static str, u32), usize> = BTreeMap::new();
    let mut name = |kind, number: u32| match number {
        0 => 0,
        _ => {
            let next = names.len() + 1;
            *names.entry((kind, number)).or_insert(next)
        }
    };
    let data = plane.data();
    let mut text = String::new();
    for seid in seids {
        // Sorted by what does not depend on numbers: classes follow the look-up that leads to them.
        let entries = plane.entries(seid);
        for lookup in entries.iter().filter(|e| matches!(e.key, Key::Lookup(_))) {
            let mut say = |text: &mut String, entry: &upf::lower::SessionEntry| match entry.act {
                Act::SetPdr(mut p) => {
                    p.pdr = name("pdr", p.pdr) as u32;
                    p.usage = name("usage", p.usage) as u32;
                    let rates = p.meters.map(|cell| data.meters.get(&("mbr".to_owned(), cell.into())));
                    assert!(p.meters.iter().zip(&rates).all(|(cell, rate)| (*cell == 0) == rate.is_none()));
                    *text += &format!("{p:?} {rates:?}\n")
                        .replace(&format!("{:?}", p.meters), &format!("{:?}", p.meters.map(|m| name("meter", m))));
                }
                Act::Classify(_, set) => {
                    let filters = data
                        .tables
                        .iter()
                        .filter(|((table, keys, _), _)| table.starts_with("sdf") && keys[0] == program::KeyMatch::Exact(set.into()));
                    for ((table, keys, priority), e) in filters {
                        *text += &format!("  {table} {:?} {priority} {:?}\n", &keys[1..], e.args);
                    }
                }
            };
            text += &format!("{:?}\n", lookup.key);
            say(&mut text, lookup);
            if let Act::Classify(group, _) = lookup.act {
                for class in entries.iter().filter(|e| matches!(e.key, Key::Class(g, _) if g == group)) {
                    text += &format!("  class {:?} ", if let Key::Class(_, c) = class.key { c } else { 0 });
                    say(&mut text, class);
                }
            }
        }
    }
    text
}

/// Every entry of a session is in the tables, every entry of the session tables is a session's, no sdf entry is nobody's.
fn check_tables(plane: &Plane<Model>, seids: impl Iterator<Item = u64>) {
    let data = plane.data();
    let mut expected = 0;
    let mut sets = std::collections::BTreeSet::new();
    for entry in seids.flat_map(|seid| plane.entries(seid)) {
        let e = entry.entry(plane.ids());
        let found = data.tables.get(&(data.program.tables[e.table].name.clone(), e.keys.clone(), 0));
        assert_eq!(found, Some(&e));
        expected += 1;
        if let upf::lower::Act::Classify(_, set) = entry.act {
            sets.insert(set);
        }
    }
    let count = |prefix: &str| data.tables.keys().filter(|(table, ..)| table.starts_with(prefix)).count();
    assert_eq!(count("pdr_by"), expected);
    let used: std::collections::BTreeSet<_> = data
        .tables
        .keys()
        .filter(|(table, ..)| table.starts_with("sdf"))
        .map(|(_, keys, _)| if let program::KeyMatch::Exact(set) = keys[0] { set as u16 } else { 0 })
        .collect();
    assert_eq!(used, sets);
    assert_eq!(plane.in_use().filter_sets, sets.len());
    assert_eq!(plane.in_use().meter_cells, data.meters.len());
}

#[test]
fn differences_lead_to_what_the_last_rules_say() {
    let mut rng = testkit::rng(2);
    for _ in 0..60 {
        let mut plane = plane_of(256);
        let mut last: BTreeMap<u64, SessionRules> = BTreeMap::new();
        for _ in 0..25 {
            let seid = rng.random_range(0..4);
            let new = rng.random_bool(0.85).then(|| rules(seid, &mut rng));
            if rng.random_bool(0.3) {
                let error = [ApplyError::Unknown("no".into()), RuleError::Full { op: 0, table: "t".into(), capacity: 1 }.into()];
                plane.data_mut().refuse_after = Some((rng.random_range(0..12), error[rng.random_range(0..2)].clone()));
            }
            let before = (plane.in_use(), plane.data().tables.clone(), plane.data().meters.clone(), plane.host().neighbour_count());
            match plane.commit(seid, new.as_ref()) {
                Ok(_) => drop(match new {
                    Some(new) => last.insert(seid, new),
                    None => last.remove(&seid),
                }),
                Err(error) => {
                    assert!(matches!(error, CommitError::System(_) | CommitError::NoResources(_)), "{error:?}");
                    let after = (plane.in_use(), plane.data().tables.clone(), plane.data().meters.clone(), plane.host().neighbour_count());
                    assert!(before == after, "a refused commit left a trace");
                }
            }
            plane.data_mut().refuse_after = None;
            check_tables(&plane, last.keys().copied());
        }
        let mut anew = plane_of(256);
        for (seid, rules) in &last {
            anew.commit(*seid, Some(rules)).unwrap();
        }
        let texts = [&plane, &anew].map(|p| without_numbers(p, last.keys().copied()));
        assert_eq!(texts[0], texts[1]);
        let mut resources = [&plane, &anew].map(|p| p.in_use());
        resources.iter_mut().for_each(|r| r.sessions = 0);
        assert_eq!(resources[0], resources[1]);
        for seid in 0..4 {
            plane.commit(seid, None).unwrap();
        }
        assert_eq!(plane.in_use(), InUse::default());
        check_tables(&plane, std::iter::empty());
    }
}

#[test]
fn usage_is_neither_lost_nor_counted_twice() {
    let mut rng = testkit::rng(3);
    for _ in 0..60 {
        let mut plane = plane_of(256);
        let mut current: Option<SessionRules> = None;
        // What each URR must have counted, and the usage that was last told.
        let mut truth: BTreeMap<u32, Usage> = BTreeMap::new();
        // What the session has carried, whatever counts it.
        let mut carried = Usage::default();
        for _ in 0..30 {
            let new = rng.random_bool(0.9).then(|| rules(0, &mut rng));
            if rng.random_bool(0.2) {
                plane.data_mut().refuse_after = Some((rng.random_range(0..6), ApplyError::Unknown("no".into())));
            }
            if let Ok(finals) = plane.commit(0, new.as_ref()) {
                let left: Vec<(u32, Usage)> = truth
                    .iter()
                    .filter(|(id, _)| !new.as_ref().is_some_and(|n| n.urrs.contains_key(id)))
                    .map(|(id, u)| (*id, *u))
                    .collect();
                assert_eq!(finals, left);
                truth.retain(|id, _| !left.iter().any(|(gone, _)| gone == id));
                if let Some(new) = &new {
                    new.urrs.keys().for_each(|id| {
                        truth.entry(*id).or_default();
                    });
                }
                if new.is_none() {
                    carried = Usage::default();
                }
                current = new;
            }
            plane.data_mut().refuse_after = None;
            // Packets match PDRs: each is counted in the PDR's cell, and by all of its URRs.
            let entries = plane.entries(0).to_vec();
            for _ in 0..rng.random_range(0..10) {
                let (Some(rules), false) = (&current, entries.is_empty()) else { break };
                let entry = entries[rng.random_range(0..entries.len())];
                let upf::lower::Act::SetPdr(p) = entry.act else { continue };
                let pdr = &rules.pdrs[&entry.pdr_id];
                assert_ne!(p.usage, 0, "all packets are counted, whether a URR counts them or not");
                let bytes = rng.random_range(20..1500);
                *plane.data_mut().counters.entry(p.usage.into()).or_default() += target_api::Count { packets: 1, bytes };
                let uplink = pdr.pdi.source_interface == Interface::Access;
                let count = |usage: &mut Usage| match uplink {
                    true => (usage.uplink_bytes, usage.uplink_packets) = (usage.uplink_bytes + bytes, usage.uplink_packets + 1),
                    false => (usage.downlink_bytes, usage.downlink_packets) = (usage.downlink_bytes + bytes, usage.downlink_packets + 1),
                };
                pdr.urr_ids.iter().for_each(|urr_id| count(truth.get_mut(urr_id).unwrap()));
                count(&mut carried);
            }
            assert_eq!(plane.carried_by(0), current.is_some().then_some(carried));
            for urr_id in 1..=3 {
                assert_eq!(plane.usage(0, urr_id), truth.get(&urr_id).copied().unwrap_or_default());
            }
        }
    }
}

/// Slow twin of the lowering: which PDR a packet matches, read from the rules alone.
#[test]
fn packets_find_the_pdr_that_the_rules_say() {
    let mut rng = testkit::rng(4);
    let mut matched = 0;
    for _ in 0..400 {
        let rules = rules(0, &mut rng);
        let mut plane = plane_of(256);
        plane.commit(0, Some(&rules)).unwrap();
        for _ in 0..40 {
            let packet = Packet::random(&mut rng);
            let expected = packet.expected(&rules);
            let found = packet.look_up(plane.data()).and_then(|number| plane.pdr(number)).map(|(_, id)| id);
            assert_eq!(found, expected, "{packet:?}\n{rules:#?}");
            matched += u32::from(expected.is_some());
        }
    }
    assert!(matched > 2000, "{matched}");
}

/// What the pipeline knows of a packet when it looks for the PDR.
#[derive(Debug)]
struct Packet {
    /// By a tunnel of ours, else to the UE.
    teid: Option<u32>,
    v6: bool,
    protocol: u8,
    remote: Ipv4Addr,
    remote_port: u16,
    tos: u8,
    qfi: u8,
    /// The side that sends, for packets in tunnels.
    from_ue: bool,
}

impl Packet {
    fn random(rng: &mut Random) -> Packet {
        let teid = rng.random_bool(0.6).then(|| rng.random_range(1..5));
        Packet {
            teid,
            v6: rng.random_bool(0.3),
            protocol: [6, 17, 1][rng.random_range(0..3)],
            remote: [Ipv4Addr::new(192, 0, 2, 7), Ipv4Addr::new(8, 8, 8, 8)][rng.random_range(0..2)],
            remote_port: [80, 1500, 9][rng.random_range(0..3)],
            tos: [0, 0x28, 0x2b][rng.random_range(0..3)],
            qfi: if teid.is_some() { rng.random_range(0..4) } else { 0 },
            // Tunnels 1 and 2 are from the access side, 3 and 4 from the CP function: see `rules`.
            from_ue: teid.is_some_and(|t| t < 3),
        }
    }

    fn expected(&self, rules: &SessionRules) -> Option<u16> {
        let matching: Vec<_> = rules.pdrs.iter().filter(|(id, pdr)| self.matches(**id, pdr, rules)).collect();
        let (waiting, ready): (Vec<_>, Vec<_>) = matching.into_iter().partition(|(_, pdr)| {
            let far = &rules.fars[&pdr.far_id.unwrap()];
            let tunnel = far.forwarding.as_ref().is_some_and(|to| to.destination != Interface::Access || to.outer_header.is_some());
            pdr.pdi.source_interface != Interface::Access && far.action.buffer && !tunnel
        });
        let first = ready.into_iter().min_by_key(|(id, pdr)| (pdr.precedence, **id));
        let (id, pdr) = first.or_else(|| waiting.into_iter().min_by_key(|(id, pdr)| (Reverse(pdr.precedence), **id)))?;
        (!self.spoofed(pdr, rules)).then_some(*id)
    }

    /// From the UE towards the core, of an IP version that the UE has no address of.
    fn spoofed(&self, pdr: &Pdr, rules: &SessionRules) -> bool {
        let far = &rules.fars[&pdr.far_id.unwrap()];
        let to_core = far.action.forward && far.forwarding.as_ref().unwrap().destination == Interface::Core;
        let own = pdr.pdi.ue_ip.filter(|ue| ue.ipv4.is_some() || ue.ipv6.is_some());
        let all = rules.pdrs.values().filter_map(|p| p.pdi.ue_ip);
        let known: Vec<UeIp> = own.map_or_else(|| all.collect(), |ue| vec![ue]);
        let (v4, v6) = (known.iter().any(|ue| ue.ipv4.is_some()), known.iter().any(|ue| ue.ipv6.is_some()));
        pdr.pdi.source_interface == Interface::Access && to_core && !(if self.v6 { v6 } else { v4 })
    }

    fn matches(&self, id: u16, pdr: &Pdr, rules: &SessionRules) -> bool {
        let version = if self.v6 { 6 } else { 4 };
        let own = addresses(pdr);
        let by_address = pdr.pdi.source_interface == Interface::Core;
        let meant = |other: &u16| tunnel_is_meant(*other, id, rules) && rules.pdrs[other].pdi.f_teid.map(|t| t.teid) == self.teid;
        let key = match pdr.pdi.f_teid {
            None if !by_address => rules.pdrs.keys().any(meant),
            tunnel => tunnel.map(|t| t.teid) == self.teid,
        };
        let version = match own.is_empty() {
            true => !by_address || rules.pdrs.values().any(|pdr| addresses(pdr).contains(&version)),
            false => own.contains(&version),
        };
        key && version
            // Without a tunnel there is no QFI to match.
            && (by_address || pdr.pdi.qfis.is_empty() || pdr.pdi.qfis.contains(&self.qfi))
            && (pdr.pdi.sdf_filters.is_empty() || pdr.pdi.sdf_filters.iter().any(|f| self.passes(f)))
    }

    fn passes(&self, filter: &SdfFilter) -> bool {
        let flow = filter.flow.as_ref().unwrap();
        let remote = match flow.remote {
            AddressMatch::Prefix(..) => !self.v6 && self.remote.octets()[..3] == [192, 0, 2],
            _ => true,
        };
        let ports = flow.remote_ports.is_empty() || flow.remote_ports.iter().any(|(l, h)| (*l..=*h).contains(&self.remote_port));
        remote && ports && flow.protocol.is_none_or(|p| p == self.protocol) && filter.tos.is_none_or(|(v, m)| self.tos & m == v)
    }

    /// As `p4/include/session.p4` does. A source check that would fail stands for a miss: of the wrong IP version.
    fn look_up(&self, data: &Model) -> Option<u32> {
        use program::KeyMatch::Exact;
        let find = |table: &str, keys: Vec<program::KeyMatch>| data.tables.get(&(table.to_owned(), keys, 0));
        let ue = Ipv4Addr::new(10, 45, 0, 2);
        let prefix = u128::from("fd00:45:0:1::".parse::<std::net::Ipv6Addr>().unwrap());
        let first = match (self.teid, self.v6) {
            (Some(teid), _) => find("pdr_by_teid", vec![Exact(u32::from(N3).into()), Exact(teid.into())]),
            (None, false) => find("pdr_by_ue_ipv4", vec![Exact(2), Exact(u32::from(ue).into())]),
            (None, true) => find("pdr_by_ue_ipv6", vec![Exact(2), Exact(prefix >> 64)]),
        }?;
        let rule = if first.args.len() == 2 {
            let class = self.class(data, first.args[1])?;
            find("pdr_by_class", vec![Exact(first.args[0]), Exact(class)])?
        } else {
            first
        };
        let checked = rule.args[2] & 2 != 0;
        if checked && (if self.v6 { rule.args[8] } else { rule.args[7] }) == 0 {
            return None;
        }
        Some(rule.args[0] as u32)
    }

    fn class(&self, data: &Model, set: u128) -> Option<u128> {
        let ue = if self.v6 {
            u128::from("fd00:45:0:1::5".parse::<std::net::Ipv6Addr>().unwrap())
        } else {
            u32::from(Ipv4Addr::new(10, 45, 0, 2)).into()
        };
        let far = if self.v6 { u128::from("2001:db8::1".parse::<std::net::Ipv6Addr>().unwrap()) } else { u32::from(self.remote).into() };
        let (src, dst, src_port, dst_port) = if self.from_ue { (ue, far, 7, self.remote_port) } else { (far, ue, self.remote_port, 7) };
        // Out of a tunnel the program takes the destination for the remote side, whoever sends.
        let (remote, local, remote_port, local_port) =
            if self.teid.is_some() { (dst, src, dst_port, src_port) } else { (src, dst, src_port, dst_port) };
        let common = [set, remote, local, self.protocol.into(), remote_port.into(), local_port.into(), self.tos.into()];
        let values = if self.v6 { [&common[..], &[0, self.qfi.into()]].concat() } else { [&common[..], &[self.qfi.into()]].concat() };
        let table = if self.v6 { "sdf_ipv6" } else { "sdf_ipv4" };
        let hit = |keys: &[program::KeyMatch]| {
            keys.iter().zip(&values).all(|(key, v)| match *key {
                program::KeyMatch::Exact(value) => value == *v,
                program::KeyMatch::Ternary { value, mask } => v & mask == value,
                program::KeyMatch::Range { low, high } => (low..=high).contains(v),
                _ => false,
            })
        };
        let hits = data.tables.iter().filter(|((name, keys, _), _)| name == table && hit(keys));
        hits.max_by_key(|((_, _, priority), _)| *priority).map(|(_, e)| e.args[0])
    }
}
