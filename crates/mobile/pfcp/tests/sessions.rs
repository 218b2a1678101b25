//! Session requests: what is refused and how it is said, what is allocated, what is reported.

mod common;

use std::time::Duration;

use common::*;
use pfcp::codec::{
    ApplyActionFlags, Cause, FTeid, GateStatus, Group, Ie, MessageType, Name, OuterHeaderCreation, SdfFilter, Triggers, UeIpAddress,
    Volume, find, number,
};
use pfcp::config::{Config, UePool};
use pfcp::rules::{CommitError, OuterHeader, RuleId, Seid};

const SECOND: Duration = Duration::from_secs(1);
const VOLTH: u32 = 1 << 1;
const TIMTH: u32 = 1 << 2;
const LIUSA: u32 = 1 << 7;
const VOLQU: u32 = 1 << 8;
const TIMQU: u32 = 1 << 9;

/// Time is measured from the beginning.
const ISTM: u8 = 0x08;

fn total(bytes: u64) -> Volume {
    Volume { total: Some(bytes), ..Volume::default() }
}

/// What an answer says of a rejection.
fn verdict(answer: &pfcp::codec::Message) -> (u8, Option<u16>, Option<RuleId>) {
    (answer.cause().unwrap().0, find!(answer.ies, OffendingIe).copied(), find!(answer.ies, FailedRuleId).map(|failed| failed.0))
}

/// Removes elements of a type from an establishment, at the top or inside groups.
fn without(ies: Group, ie_type: u16) -> Group {
    let keep = |ie: &Ie| ie.ie_type() != ie_type;
    let inside = |ie: Ie| match ie {
        Ie::CreatePdr(ies) => Ie::CreatePdr(without(ies, ie_type)),
        Ie::CreateFar(ies) => Ie::CreateFar(without(ies, ie_type)),
        Ie::CreateUrr(ies) => Ie::CreateUrr(without(ies, ie_type)),
        Ie::CreateQer(ies) => Ie::CreateQer(without(ies, ie_type)),
        Ie::CreateBar(ies) => Ie::CreateBar(without(ies, ie_type)),
        Ie::Pdi(ies) => Ie::Pdi(without(ies, ie_type)),
        Ie::ForwardingParameters(ies) => Ie::ForwardingParameters(without(ies, ie_type)),
        other => other,
    };
    ies.into_iter().filter(keep).map(inside).collect()
}

#[test]
fn each_mandatory_element_is_missed_by_name() {
    let full = simple_session(1, 1, [10, 0, 0, 1], vec![urr(1, 0, vec![]), qer(1, 1), Ie::CreateBar(vec![Ie::BarId(1)])]);
    for (ie_type, cause) in [
        (number::NodeId, 66),
        (number::FSeid, 66),
        (number::CreatePdr, 66),
        (number::CreateFar, 66),
        (number::PdrId, 66),
        (number::Precedence, 66),
        (number::Pdi, 66),
        (number::SourceInterface, 66),
        (number::ApplyAction, 66),
        (number::DestinationInterface, 66),
        (number::UrrId, 66),
        (number::MeasurementMethod, 66),
        (number::ReportingTriggers, 66),
        (number::QerId, 66),
        (number::GateStatus, 66),
        (number::BarId, 66),
        // FAR ID is conditional in a PDR, which comes first, and mandatory in a FAR.
        (number::FarId, 67),
        (number::ForwardingParameters, 67),
    ] {
        let mut bench = Bench::new();
        let answer = bench.ask(MessageType::SessionEstablishmentRequest, Some(0), without(full.clone(), ie_type));
        assert_eq!(verdict(&answer), (cause, Some(ie_type), None));
        assert_eq!((bench.plane.commits, bench.node.resources_in_use()), (0, 0));
    }
    Bench::new().establish(full);
}

#[test]
fn wrong_elements_and_rules_are_refused_by_name() {
    let given_session = |rest: Vec<Ie>| simple_session(1, 1, [10, 0, 0, 1], rest);
    let raw = |ie_type, octets: &[u8]| Ie::Unknown { ie_type, octets: octets.to_vec() };
    let far = |action: u16, rest: Vec<Ie>| Ie::CreateFar([vec![Ie::FarId(9), Ie::ApplyAction(ApplyActionFlags(action))], rest].concat());
    let to = |ies: Vec<Ie>| Ie::ForwardingParameters([vec![Ie::DestinationInterface(0)], ies].concat());
    let flow = |text: &str| Ie::SdfFilter(SdfFilter { flow_description: Some(text.into()), ..SdfFilter::default() });
    let extra_pdr = |pdi: Vec<Ie>, rest: Vec<Ie>| pdr(9, 0, pdi, 1, rest);
    let v6_only = OuterHeaderCreation { description: 0x0200, teid: Some(1), ipv6: Some("::1".parse().unwrap()), ..Default::default() };
    let failed = |rule| (73, None, Some(rule));
    for (name, extra, wanted) in [
        ("length", vec![Ie::CreateQer(vec![Ie::QerId(1), raw(26, &[1, 2])])], (68, Some(26), None)),
        ("value", vec![raw(57, &[0; 9])], (69, Some(57), None)),
        ("no action", vec![far(0x08, vec![])], (69, Some(44), None)),
        ("two actions", vec![far(0x06, vec![to(vec![])])], (69, Some(44), None)),
        ("duplication", vec![far(0x12, vec![to(vec![])])], failed(RuleId::Far(9))),
        ("policy", vec![far(2, vec![to(vec![Ie::ForwardingPolicy(vec![1, b'x'])])])], (70, None, Some(RuleId::Far(9)))),
        ("IPv6 outer", vec![far(2, vec![to(vec![Ie::OuterHeaderCreation(v6_only)])])], failed(RuleId::Far(9))),
        ("redirection", vec![far(2, vec![to(vec![Ie::RedirectInformation(vec![0])])])], failed(RuleId::Far(9))),
        ("no such BAR", vec![far(4, vec![Ie::BarId(3)])], failed(RuleId::Far(9))),
        ("QFI", vec![extra_pdr(vec![Ie::Qfi(64)], vec![])], (69, Some(124), None)),
        ("TEID 0", vec![extra_pdr(vec![given(0)], vec![])], (69, Some(21), None)),
        ("flow", vec![extra_pdr(vec![flow("permit out ip from any")], vec![])], failed(RuleId::Pdr(9))),
        ("application", vec![extra_pdr(vec![Ie::ApplicationId(b"web".to_vec())], vec![])], failed(RuleId::Pdr(9))),
        ("predefined", vec![extra_pdr(vec![], vec![Ie::ActivatePredefinedRules(b"x".to_vec())])], failed(RuleId::Pdr(9))),
        ("no such QER", vec![extra_pdr(vec![], vec![Ie::QerId(5)])], failed(RuleId::Pdr(9))),
        ("no such URR", vec![extra_pdr(vec![], vec![Ie::UrrId(5)])], failed(RuleId::Pdr(9))),
        ("no such FAR", vec![pdr(9, 0, vec![], 99, vec![])], failed(RuleId::Pdr(9))),
        (
            "another's address",
            vec![extra_pdr(vec![Ie::FTeid(FTeid::Given { teid: 5, ipv4: Some(GNB), ipv6: None })], vec![])],
            failed(RuleId::Pdr(9)),
        ),
        ("two of one ID", vec![pdr(1, 1, vec![], 2, vec![])], failed(RuleId::Pdr(1))),
        ("traffic endpoint", vec![Ie::CreateTrafficEndpoint(vec![Ie::TrafficEndpointId(1)])], (76, Some(127), None)),
        ("Ethernet", vec![Ie::PdnType(5)], (76, Some(113), None)),
        ("no such network", vec![extra_pdr(vec![labels("x"), choose_ue(false, true, false)], vec![])], (75, Some(93), None)),
    ] {
        let mut bench = Bench::with(Config { ue_pools: config().ue_pools[1..].to_vec(), ..config() });
        let answer = bench.ask(MessageType::SessionEstablishmentRequest, Some(0), given_session(extra));
        assert_eq!(verdict(&answer), wanted, "{name}");
        assert_eq!((bench.plane.commits, bench.node.resources_in_use(), bench.node.session_count()), (0, 0, 0), "{name}");
        assert_eq!(answer.seid, Some(1), "{name}");
    }
}

#[test]
fn a_rule_told_twice_alike_is_one_rule() {
    let mut bench = Bench::new();
    // As a CP function does that lists with each PDR what it names.
    let shared = || vec![Ie::QerId(1), Ie::UrrId(1)];
    let mut request = simple_session(1, 1, [10, 0, 0, 1], vec![qer(1, 1), urr(1, 0, vec![]), qer(1, 1), urr(1, 0, vec![])]);
    request[2] = pdr(1, 0, vec![given(1), ue([10, 0, 0, 1], false)], 1, shared());
    request[3] = pdr(2, 1, vec![ue([10, 0, 0, 1], true)], 2, shared());
    let (seid, _) = bench.establish(request);
    assert_eq!((bench.plane.sessions[&seid].qers.len(), bench.plane.sessions[&seid].urrs.len()), (1, 1));
}

#[test]
fn a_rule_told_twice_that_no_pdr_shares_is_refused_by_name() {
    let far = || Ie::CreateFar(vec![Ie::FarId(9), Ie::ApplyAction(ApplyActionFlags::BUFF_NOCP), Ie::BarId(9)]);
    let buffering = || Ie::CreateBar(vec![Ie::BarId(9)]);
    for (twice, besides, rule) in [
        (pdr(9, 0, vec![given(9)], 1, vec![]), vec![], RuleId::Pdr(9)),
        (far(), vec![buffering()], RuleId::Far(9)),
        (qer(9, 1), vec![], RuleId::Qer(9)),
        (urr(9, 0, vec![]), vec![], RuleId::Urr(9)),
        (buffering(), vec![], RuleId::Bar(9)),
        (buffering(), vec![far()], RuleId::Bar(9)),
    ] {
        let mut bench = Bench::new();
        let twice = [vec![twice.clone(), twice], besides].concat();
        let answer = bench.ask(MessageType::SessionEstablishmentRequest, Some(0), simple_session(1, 1, [10, 0, 0, 1], twice.clone()));
        assert_eq!((verdict(&answer), bench.node.resources_in_use()), ((73, None, Some(rule)), 0));
        let (seid, _) = bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![]));
        let before = bench.node.session(seid).unwrap().rules;
        assert_eq!(verdict(&bench.modify(seid, twice.clone())), (73, None, Some(rule)));
        assert_eq!(bench.node.session(seid).unwrap().rules, before);
        // Once is enough.
        assert_eq!(bench.modify(seid, twice[1..].to_vec()).cause(), Some(Cause::REQUEST_ACCEPTED));
    }
}

#[test]
fn too_many_rules_are_too_many() {
    let mut bench = Bench::with(Config { max_rules_per_session: 8, ..config() });
    let five = (1..=5).map(|id| qer(id, 1)).collect();
    let answer = bench.ask(MessageType::SessionEstablishmentRequest, Some(0), simple_session(1, 1, [10, 0, 0, 1], five));
    assert_eq!(answer.cause(), Some(Cause::NO_RESOURCES));
}

#[test]
fn the_user_plane_decides_in_the_end() {
    for (error, wanted) in [
        (CommitError::Rule { rule: RuleId::Far(2), why: "no".into() }, (73, None, Some(RuleId::Far(2)))),
        (CommitError::NoResources("full".into()), (75, None, None)),
        (CommitError::System("broken".into()), (77, None, None)),
    ] {
        let mut bench = Bench::new();
        let request = simple_session(
            1,
            1,
            [10, 0, 0, 1],
            vec![pdr(3, 0, vec![choose(None), labels("internet"), choose_ue(true, true, false)], 1, vec![])],
        );
        bench.plane.failures.push(error.clone());
        let answer = bench.ask(MessageType::SessionEstablishmentRequest, Some(0), request.clone());
        assert_eq!(verdict(&answer), wanted);
        assert_eq!((bench.node.session_count(), bench.node.resources_in_use()), (0, 0));

        let (seid, _) = bench.establish(request);
        let (held, rules) = (bench.node.resources_in_use(), bench.node.session(seid).unwrap().rules.clone());
        bench.plane.failures.push(error);
        let answer = bench.modify(seid, vec![Ie::RemovePdr(vec![Ie::PdrId(1)]), pdr(7, 0, vec![choose(None)], 1, vec![])]);
        assert_eq!(verdict(&answer), wanted);
        assert_eq!((bench.node.resources_in_use(), bench.node.session(seid).unwrap().rules), (held, rules.clone()));
    }
}

#[test]
fn a_tunnel_belongs_to_one_session_and_is_free_after_it() {
    let mut bench = Bench::new();
    let (first, _) = bench.establish(simple_session(1, 7, [10, 0, 0, 1], vec![]));
    let answer = bench.ask(MessageType::SessionEstablishmentRequest, Some(0), simple_session(2, 7, [10, 0, 0, 2], vec![]));
    assert_eq!(verdict(&answer), (73, None, Some(RuleId::Pdr(1))));
    // The PDR that had it is replaced by another in one request: the tunnel stays the session's.
    let replaced = vec![Ie::RemovePdr(vec![Ie::PdrId(1)]), pdr(3, 0, vec![given(7)], 1, vec![])];
    assert_eq!(bench.modify(first, replaced).cause(), Some(Cause::REQUEST_ACCEPTED));
    let moved = Ie::UpdatePdr(vec![Ie::PdrId(3), Ie::Pdi(vec![Ie::SourceInterface(0), given(8)])]);
    bench.modify(first, vec![moved]);
    bench.establish(simple_session(2, 7, [10, 0, 0, 2], vec![]));
}

#[test]
fn choose_ids_share_within_a_request_and_side() {
    let mut bench = Bench::new();
    let mut request = simple_session(1, 1000, [10, 0, 0, 1], vec![]);
    request.extend([
        pdr(10, 0, vec![choose(Some(1))], 1, vec![]),
        pdr(11, 0, vec![choose(Some(1))], 1, vec![]),
        pdr(12, 0, vec![choose(Some(2))], 1, vec![]),
        pdr(13, 0, vec![choose(None)], 1, vec![]),
        pdr(14, 0, vec![choose(None)], 1, vec![]),
    ]);
    let (seid, answer) = bench.establish(request);
    let created = groups(&answer.ies, number::CreatedPdr);
    let mut teids: Vec<u32> = Vec::new();
    for ies in created {
        let Some(FTeid::Given { teid, .. }) = find!(ies, FTeid) else { panic!("{ies:?}") };
        teids.push(*teid);
    }
    assert_eq!(teids[0], teids[1]);
    let mut each = teids[1..].to_vec();
    each.sort_unstable();
    each.dedup();
    assert_eq!(each.len(), 4);
    // On the other side the same ID of a later request is another tunnel.
    let answer = bench.modify(seid, vec![pdr(15, 1, vec![choose(Some(1))], 1, vec![])]);
    let other = find!(groups(&answer.ies, number::CreatedPdr)[0], FTeid).copied();
    assert_ne!(other, Some(FTeid::Given { teid: teids[0], ipv4: Some(N3), ipv6: None }));
    bench.delete(seid);
    assert_eq!(bench.node.resources_in_use(), 0);
}

#[test]
fn ue_addresses_are_chosen_once_for_a_session_from_the_pool_of_its_network() {
    let mut bench = Bench::new();
    let request = |cp_seid, network: &str| {
        vec![
            Ie::NodeId(smf_node()),
            smf_seid(cp_seid),
            pdr(1, 0, vec![choose(None), choose_ue(true, true, false)], 1, vec![decap(0)]),
            pdr(2, 1, vec![labels(network), choose_ue(true, true, true)], 2, vec![]),
            far_to(1, 1),
            far_buffer(2),
            Ie::ApnDnn(pfcp::codec::Name::Labels(network.into())),
        ]
    };
    let (seid, answer) = bench.establish(request(1, "Internet"));
    let created = groups(&answer.ies, number::CreatedPdr);
    let addresses: Vec<UeIpAddress> = created.iter().map(|ies| *find!(ies, UeIpAddress).unwrap()).collect();
    assert_eq!((addresses[0].ipv4, addresses[0].ipv6), (addresses[1].ipv4, addresses[1].ipv6));
    assert_eq!(addresses[0].ipv4, Some([10, 45, 0, 1].into()));
    assert_eq!(addresses[0].ipv6, Some("2001:db8:45:1::".parse().unwrap()));
    assert!(!addresses[0].destination && addresses[1].destination);
    let view = bench.node.session(seid).unwrap();
    assert_eq!(
        (view.ue_ipv4(), view.ue_ipv6(), view.dnn.as_deref()),
        (vec![[10, 45, 0, 1].into()], vec![("2001:db8:45:1::".parse().unwrap(), 64)], Some("internet"))
    );

    // The small pool of IMS has two addresses and no IPv6.
    assert_eq!(bench.ask(MessageType::SessionEstablishmentRequest, Some(0), request(2, "ims")).cause(), Some(Cause::NO_RESOURCES));
    let v4_only = |ies: Group| -> Group {
        let pdr_of = |ie: Ie| match ie {
            Ie::CreatePdr(ies) => Ie::CreatePdr(
                ies.into_iter()
                    .map(|ie| match ie {
                        Ie::Pdi(ies) => Ie::Pdi(
                            ies.into_iter()
                                .map(|ie| if let Ie::UeIpAddress(_) = ie { choose_ue(true, false, false) } else { ie })
                                .collect(),
                        ),
                        ie => ie,
                    })
                    .collect(),
            ),
            ie => ie,
        };
        ies.into_iter().map(pdr_of).collect()
    };
    let (third, _) = bench.establish(v4_only(request(3, "ims")));
    bench.establish(v4_only(request(4, "ims")));
    let full = bench.ask(MessageType::SessionEstablishmentRequest, Some(0), v4_only(request(5, "ims")));
    assert_eq!(full.cause(), Some(Cause::NO_RESOURCES));
    bench.delete(third);
    bench.establish(v4_only(request(5, "ims")));
}

/// §5.21.3: the address is the session's. An F-TEID's network instance says where its tunnel is, and has no users' addresses.
#[test]
fn a_ue_address_is_chosen_where_the_session_is_whichever_pdr_asks() {
    let pool = |name: &str, network: [u8; 4]| UePool { network_instance: Some(name.into()), ipv4: Some((network.into(), 24)), ipv6: None };
    let pools = vec![pool("internet", [10, 45, 0, 0]), pool("ims", [10, 46, 0, 0])];
    let choose_address = |destination| choose_ue(true, false, destination);
    let up = |more: Group| pdr(1, 0, [vec![choose(None), labels("access")], more].concat(), 1, vec![decap(0)]);
    let down = |more: Group| pdr(2, 1, [vec![labels("internet")], more].concat(), 2, vec![]);
    for both_ways in [
        // Both ask, or either; in whatever order.
        vec![up(vec![choose_address(false)]), down(vec![choose_address(true)])],
        vec![down(vec![choose_address(true)]), up(vec![choose_address(false)])],
        vec![up(vec![choose_address(false)]), down(vec![])],
        vec![down(vec![]), up(vec![choose_address(false)])],
        vec![up(vec![]), down(vec![choose_address(true)])],
        // The SMF's own tunnel is none that it asks for.
        vec![pdr(1, 0, vec![given(7), labels("access"), choose_address(false)], 1, vec![]), down(vec![])],
        // The DNN says so where no PDR does; a PDR's network instance counts more.
        vec![up(vec![choose_address(false)]), pdr(2, 1, vec![], 2, vec![]), Ie::ApnDnn(Name::Labels("internet".into()))],
        vec![up(vec![choose_address(false)]), down(vec![]), Ie::ApnDnn(Name::Labels("ims".into()))],
        // An SMF that names it with the tunnel alone.
        vec![pdr(1, 0, vec![choose(None), labels("internet"), choose_address(false)], 1, vec![]), pdr(2, 1, vec![], 2, vec![])],
    ] {
        let mut bench = Bench::with(Config { ue_pools: pools.clone(), ..config() });
        let request = [vec![Ie::NodeId(smf_node()), smf_seid(1), far_to(1, 1), far_buffer(2)], both_ways.clone()].concat();
        let (seid, answer) = bench.establish(request);
        let told = groups(&answer.ies, number::CreatedPdr).into_iter().filter_map(|ies| find!(ies, UeIpAddress)?.ipv4);
        assert!(told.clone().count() > 0 && told.clone().all(|told| told.octets() == [10, 45, 0, 1]), "{both_ways:?}: {answer:?}");
        // A later QoS flow has the same one, and another session another.
        let flow = pdr(3, 0, vec![choose(None), labels("access"), choose_address(false)], 1, vec![]);
        let answer = bench.modify(seid, vec![flow]);
        assert_eq!(find!(groups(&answer.ies, number::CreatedPdr)[0], UeIpAddress).unwrap().ipv4, Some([10, 45, 0, 1].into()));
        assert_eq!(bench.node.session(seid).unwrap().ue_ipv4(), [std::net::Ipv4Addr::new(10, 45, 0, 1)]);
        bench.delete(seid);
        assert_eq!(bench.node.resources_in_use(), 0);
    }
}

#[test]
fn an_address_of_the_smfs_choice_in_our_pool_is_not_given_to_another() {
    let mut bench = Bench::with(Config {
        ue_pools: vec![UePool { network_instance: None, ipv4: Some(([10, 45, 0, 0].into(), 30)), ipv6: None }],
        ..config()
    });
    bench.establish(simple_session(1, 1, [10, 45, 0, 1], vec![]));
    let answer = bench.ask(MessageType::SessionEstablishmentRequest, Some(0), simple_session(2, 2, [10, 45, 0, 1], vec![]));
    assert_eq!(verdict(&answer), (73, None, Some(RuleId::Pdr(1))));
    let mut request = simple_session(3, 3, [0; 4], vec![]);
    request[2] = pdr(1, 0, vec![given(3), choose_ue(true, false, false)], 1, vec![]);
    request[3] = pdr(2, 1, vec![choose_ue(true, false, true)], 2, vec![]);
    let (seid, _) = bench.establish(request);
    assert_eq!(bench.node.session(seid).unwrap().ue_ipv4(), [std::net::Ipv4Addr::new(10, 45, 0, 2)]);
}

#[test]
fn a_filter_by_id_is_the_filter_with_that_id() {
    let mut bench = Bench::new();
    let full =
        SdfFilter { flow_description: Some("permit out 17 from any to assigned 53".into()), filter_id: Some(4), ..Default::default() };
    let bare = SdfFilter { filter_id: Some(4), ..SdfFilter::default() };
    let extra = vec![pdr(3, 1, vec![Ie::SdfFilter(bare)], 2, vec![]), pdr(4, 0, vec![Ie::SdfFilter(full)], 1, vec![])];
    let (seid, _) = bench.establish(simple_session(1, 1, [10, 0, 0, 1], extra));
    let rules = bench.node.session(seid).unwrap().rules;
    assert_eq!(rules.pdrs[&3].pdi.sdf_filters, rules.pdrs[&4].pdi.sdf_filters);
    // One that is told later is meant from then on.
    let early = pdr(5, 1, vec![Ie::SdfFilter(SdfFilter { filter_id: Some(9), ..Default::default() })], 2, vec![]);
    assert_eq!(bench.modify(seid, vec![early]).cause(), Some(Cause::REQUEST_ACCEPTED));
    let filters = |bench: &Bench| bench.node.session(seid).unwrap().rules.pdrs[&5].pdi.sdf_filters.clone();
    assert!(filters(&bench)[0].is_bare());
    let late =
        SdfFilter { flow_description: Some("permit out 6 from any to assigned 80".into()), filter_id: Some(9), ..Default::default() };
    bench.modify(seid, vec![pdr(6, 0, vec![Ie::SdfFilter(late)], 1, vec![])]);
    assert_eq!(filters(&bench)[0].flow.as_ref().unwrap().protocol, Some(6));
}

/// Some SMFs send such ones with each PDR, and peers pass over them.
#[test]
fn an_sdf_filter_that_says_nothing_restricts_nothing() {
    let mut bench = Bench::new();
    let of = |flow: Option<&str>| Ie::SdfFilter(SdfFilter { flow_description: flow.map(str::to_owned), ..SdfFilter::default() });
    let extra = vec![
        pdr(3, 1, vec![of(None)], 2, vec![]),
        pdr(4, 1, vec![of(Some(""))], 2, vec![]),
        pdr(5, 1, vec![of(None), of(Some("permit out 17 from any to assigned"))], 2, vec![]),
    ];
    let (seid, _) = bench.establish(simple_session(1, 1, [10, 0, 0, 1], extra));
    let filters = |bench: &Bench| [3, 4, 5].map(|id| bench.node.session(seid).unwrap().rules.pdrs[&id].pdi.sdf_filters.len());
    assert_eq!(filters(&bench), [0, 0, 1]);
    // An update to one takes the others away.
    bench.modify(seid, vec![Ie::UpdatePdr(vec![Ie::PdrId(5), Ie::Pdi(vec![Ie::SourceInterface(1), ue([10, 0, 0, 1], true), of(None)])])]);
    assert_eq!(filters(&bench), [0, 0, 0]);
}

#[test]
fn rules_that_are_not_there_cannot_change() {
    let mut bench = Bench::new();
    let (seid, _) = bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![]));
    for (ie, rule) in [
        (Ie::UpdatePdr(vec![Ie::PdrId(9)]), RuleId::Pdr(9)),
        (Ie::UpdateFar(vec![Ie::FarId(9)]), RuleId::Far(9)),
        (Ie::UpdateQer(vec![Ie::QerId(9)]), RuleId::Qer(9)),
        (Ie::UpdateUrr(vec![Ie::UrrId(9)]), RuleId::Urr(9)),
        (Ie::UpdateBar(vec![Ie::BarId(9)]), RuleId::Bar(9)),
        (Ie::QueryUrr(vec![Ie::UrrId(9)]), RuleId::Urr(9)),
        // A FAR that a PDR still uses.
        (Ie::RemoveFar(vec![Ie::FarId(1)]), RuleId::Pdr(1)),
    ] {
        assert_eq!(verdict(&bench.modify(seid, vec![ie])), (73, None, Some(rule)));
    }
    assert_eq!(bench.plane.commits, 1);
}

/// An SMF in use sends a removal again under another sequence number while the first answer is on its way.
#[test]
fn the_removal_of_a_rule_that_is_not_there_is_done_already() {
    let mut bench = Bench::new();
    let far = Ie::CreateFar(vec![Ie::FarId(9), Ie::ApplyAction(ApplyActionFlags::BUFF_NOCP), Ie::BarId(9)]);
    let extra = vec![
        pdr(9, 0, vec![given(9)], 9, vec![Ie::QerId(9), Ie::UrrId(9)]),
        far,
        qer(9, 1),
        urr(9, 0, vec![]),
        Ie::CreateBar(vec![Ie::BarId(9)]),
    ];
    let (seid, _) = bench.establish(simple_session(1, 1, [10, 0, 0, 1], extra));
    let kinds = || {
        vec![
            Ie::RemovePdr(vec![Ie::PdrId(9)]),
            Ie::RemoveFar(vec![Ie::FarId(9)]),
            Ie::RemoveQer(vec![Ie::QerId(9)]),
            Ie::RemoveUrr(vec![Ie::UrrId(9)]),
            Ie::RemoveBar(vec![Ie::BarId(9)]),
        ]
    };
    let first = bench.modify(seid, kinds());
    assert_eq!((first.cause(), groups(&first.ies, number::UsageReportInModificationResponse).len()), (Some(Cause::REQUEST_ACCEPTED), 1));
    let (rules, commits) = (bench.node.session(seid).unwrap().rules, bench.plane.commits);
    assert_eq!(bench.node.stats().absent_removals, 0);
    for again in [kinds()].into_iter().chain(kinds().into_iter().map(|ie| vec![ie])) {
        let answer = bench.modify(seid, again);
        assert_eq!(answer.ies, [Ie::Cause(Cause::REQUEST_ACCEPTED)]);
    }
    assert_eq!((bench.node.session(seid).unwrap().rules, bench.plane.commits), (rules, commits));
    assert_eq!(bench.node.stats().absent_removals, 10);
    // What else the request asks for is done, or not, as it would be without.
    let with = |ie: Ie| [kinds(), vec![ie]].concat();
    assert_eq!(bench.modify(seid, with(far_to_gnb(2, 7, None))).cause(), Some(Cause::REQUEST_ACCEPTED));
    assert_eq!(verdict(&bench.modify(seid, with(Ie::RemoveFar(vec![Ie::FarId(1)])))), (73, None, Some(RuleId::Pdr(1))));
    assert_eq!(bench.node.stats().absent_removals, 15, "what is refused is not counted");
    // An element without the rule's ID names none.
    assert_eq!(verdict(&bench.modify(seid, vec![Ie::RemoveUrr(vec![])])), (66, Some(81), None));
}

#[test]
fn removed_and_queried_urrs_are_reported() {
    let mut bench = Bench::new();
    let mut request = simple_session(1, 1, [10, 0, 0, 1], vec![urr(1, 0, vec![]), urr(2, 0, vec![]), urr(3, 0, vec![])]);
    request[2] = pdr(1, 0, vec![given(1)], 1, vec![Ie::UrrId(1), Ie::UrrId(2)]);
    let (seid, _) = bench.establish(request);
    for id in 1..=3 {
        bench.count(seid, id, 100 * u64::from(id), 0);
    }
    bench.node.poll_usage(bench.now, &mut bench.plane);
    bench.now += 10 * SECOND;
    let answer = bench.modify(seid, vec![Ie::RemoveUrr(vec![Ie::UrrId(1)]), Ie::QueryUrr(vec![Ie::UrrId(2)]), Ie::QueryUrrReference(77)]);
    let reports = groups(&answer.ies, number::UsageReportInModificationResponse);
    let told: Vec<_> = reports
        .iter()
        .map(|ies| {
            (
                *find!(ies, UrrId).unwrap(),
                find!(ies, UsageReportTrigger).unwrap().0,
                find!(ies, VolumeMeasurement).unwrap().bytes.total,
                find!(ies, QueryUrrReference).copied(),
            )
        })
        .collect();
    assert_eq!(told, [(1, 1 << 11, Some(100), None), (2, 1 << 7, Some(200), Some(77))]);
    assert_eq!(find!(reports[0], DurationMeasurement), Some(&10));
    assert_eq!(bench.plane.sessions[&seid].pdrs[&1].urr_ids, [2]);
    // A query alone changes nothing in the user plane.
    let commits = bench.plane.commits;
    let answer = bench.modify(seid, vec![Ie::PfcpSmReqFlags(0x04)]);
    assert_eq!(groups(&answer.ies, number::UsageReportInModificationResponse).len(), 2, "QAURR");
    assert_eq!(bench.plane.commits, commits);
    // Removed and made anew in one request: the old one is reported and the new one begins at nothing.
    bench.count(seid, 2, 250, 0);
    let answer = bench.modify(seid, vec![Ie::RemoveUrr(vec![Ie::UrrId(2)]), urr(2, 0, vec![])]);
    let report = groups(&answer.ies, number::UsageReportInModificationResponse)[0];
    assert_eq!(find!(report, VolumeMeasurement).unwrap().bytes.total, Some(50));
    let answer = bench.delete(seid);
    let report = groups(&answer.ies, number::UsageReportInDeletionResponse)[0];
    assert_eq!((find!(report, UrrId), find!(report, UrSeqn)), (Some(&2), Some(&0)));
}

/// The usage report triggers of the one report sent.
fn triggers_sent(bench: &mut Bench) -> Vec<(u32, u32)> {
    let report = bench.sent_one();
    let usages = groups(&report.ies, number::UsageReportInReportRequest);
    let told = usages.iter().map(|ies| (*find!(ies, UrrId).unwrap(), find!(ies, UsageReportTrigger).unwrap().0)).collect();
    bench.answer(&report, vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
    told
}

#[test]
fn a_volume_quota_stops_packets_until_it_is_renewed() {
    let mut bench = Bench::new();
    let quota = urr(1, VOLQU, vec![Ie::VolumeQuota(total(1000))]);
    let (seid, _) = bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![quota]));
    bench.count(seid, 1, 600, 400);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    assert_eq!(triggers_sent(&mut bench), [(1, VOLQU)]);
    assert!(bench.plane.sessions[&seid].urrs[&1].exhausted);
    bench.count(seid, 1, 600, 500);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    assert!(bench.sent().is_empty());
    bench.modify(seid, vec![Ie::UpdateUrr(vec![Ie::UrrId(1), Ie::VolumeQuota(total(1000))])]);
    assert!(!bench.plane.sessions[&seid].urrs[&1].exhausted);
    bench.count(seid, 1, 1100, 899);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    assert!(bench.sent().is_empty());
    bench.count(seid, 1, 1100, 900);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    assert_eq!(triggers_sent(&mut bench), [(1, VOLQU)]);
    // A quota of nothing.
    bench.modify(seid, vec![Ie::UpdateUrr(vec![Ie::UrrId(1), Ie::VolumeQuota(total(0))])]);
    assert!(bench.plane.sessions[&seid].urrs[&1].exhausted);
}

#[test]
fn time_thresholds_and_quotas() {
    let mut bench = Bench::new();
    let limits = urr(1, TIMTH | TIMQU, vec![Ie::TimeThreshold(20), Ie::TimeQuota(50), Ie::MeasurementInformation(ISTM)]);
    let linked = urr(2, LIUSA, vec![Ie::LinkedUrrId(1)]);
    let (seid, _) = bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![limits, linked]));
    bench.pass(Duration::from_millis(19_999));
    assert!(bench.sent().is_empty());
    bench.pass(Duration::from_millis(1));
    assert_eq!(triggers_sent(&mut bench), [(1, TIMTH), (2, 1 << 10)]);
    bench.pass(20 * SECOND);
    assert_eq!(triggers_sent(&mut bench), [(1, TIMTH), (2, 1 << 10)]);
    bench.pass(10 * SECOND);
    assert_eq!(triggers_sent(&mut bench), [(1, TIMQU), (2, 1 << 10)]);
    assert!(bench.plane.sessions[&seid].urrs[&1].exhausted);
    bench.modify(seid, vec![Ie::UpdateUrr(vec![Ie::UrrId(1), Ie::TimeQuota(100), Ie::ReportingTriggers(Triggers(TIMQU))])]);
    assert!(!bench.plane.sessions[&seid].urrs[&1].exhausted);
    bench.pass(99 * SECOND);
    assert!(bench.sent().is_empty());
    bench.pass(SECOND);
    assert_eq!(triggers_sent(&mut bench), [(1, TIMQU), (2, 1 << 10)]);
    bench.delete(seid);
    assert_eq!(bench.node.next_deadline(), None);
}

#[test]
fn many_volume_limits_are_looked_at_in_turns() {
    let mut bench = Bench::with(Config { max_polled: 3, ..config() });
    let mut seids = Vec::new();
    for n in 1..=10u32 {
        let threshold = urr(1, VOLTH, vec![Ie::VolumeThreshold(total(10)), Ie::MeasurementInformation(ISTM)]);
        let (seid, _) = bench.establish(simple_session(n.into(), n, [10, 0, 0, n as u8], vec![threshold]));
        bench.count(seid, 1, 10, 0);
        seids.push(seid);
    }
    let mut reports = Vec::new();
    for _ in 0..4 {
        bench.node.poll_usage(bench.now, &mut bench.plane);
        let sent = bench.sent();
        assert!(sent.len() <= 3);
        reports.extend(sent);
    }
    assert_eq!(reports.len(), 10);
    for (_, report) in reports {
        bench.answer(&report, vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
    }
    // A silent SMF: what is reported and never answered is kept.
    bench.count(seids[0], 1, 20, 0);
    for _ in 0..4 {
        bench.node.poll_usage(bench.now, &mut bench.plane);
    }
    bench.pass(10 * SECOND);
    assert_eq!(bench.sent().len(), 3, "sent, and twice again");
    assert_eq!((bench.node.stats().lost_usage_reports, bench.node.final_reports_kept()), (0, 1));
    assert_eq!(bench.node.stats().usage_reports, 11);
}

#[test]
fn reports_wait_while_too_many_are_without_an_answer() {
    let mut bench = Bench::with(Config { max_outstanding: 2, ..config() });
    for n in 1..=5u32 {
        let periodic = urr(1, 1, vec![Ie::MeasurementPeriod(30)]);
        let (seid, _) = bench.establish(simple_session(n.into(), n, [10, 0, 0, n as u8], vec![periodic]));
        bench.count(seid, 1, n.into(), 0);
    }
    let mut told = Vec::new();
    bench.pass(30 * SECOND);
    for _ in 0..3 {
        for (_, report) in bench.sent() {
            let usage = find!(report.ies, UsageReportInReportRequest).unwrap();
            told.push(find!(usage, VolumeMeasurement).unwrap().bytes.total);
            bench.answer(&report, vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
        }
        bench.pass(SECOND);
    }
    assert_eq!(told, [1, 2, 3, 4, 5].map(Some));
    assert_eq!((bench.node.stats().lost_usage_reports, bench.node.stats().usage_reports), (0, 5));
    // But a quota ends though nobody can be told.
    let quota = urr(1, VOLQU, vec![Ie::VolumeQuota(total(10))]);
    let (seid, _) = bench.establish(simple_session(6, 6, [10, 0, 0, 6], vec![quota]));
    bench.pass(30 * SECOND);
    bench.count(seid, 1, 10, 0);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    assert!(bench.plane.sessions[&seid].urrs[&1].exhausted);
    let commits = bench.plane.commits;
    // And is reported when there is room, as one that has ended, once.
    let mut told = Vec::new();
    for _ in 0..5 {
        for (_, report) in bench.sent() {
            let usage = find!(report.ies, UsageReportInReportRequest).unwrap();
            if find!(usage, UsageReportTrigger) == Some(&Triggers(1 << 8)) {
                told.push((report.seid, find!(usage, VolumeMeasurement).unwrap().bytes.total));
            }
            bench.answer(&report, vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
        }
        bench.pass(2 * SECOND);
    }
    assert_eq!(told, [(Some(6), Some(10))]);
    assert_eq!((bench.node.stats().lost_usage_reports, bench.plane.commits), (0, commits));
}

#[test]
fn the_end_of_a_quota_that_was_not_reported_is_forgotten_when_another_is_given() {
    let mut bench = Bench::with(Config { max_outstanding: 1, ..config() });
    let periodic = urr(1, 1, vec![Ie::MeasurementPeriod(30)]);
    let (seid, _) = bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![periodic]));
    bench.count(seid, 1, 5, 0);
    let quota = urr(1, VOLQU, vec![Ie::VolumeQuota(total(10))]);
    let (seid, _) = bench.establish(simple_session(2, 2, [10, 0, 0, 2], vec![quota]));
    bench.pass(30 * SECOND);
    let first = bench.sent_one();
    bench.count(seid, 1, 10, 0);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    assert!(bench.plane.sessions[&seid].urrs[&1].exhausted);
    bench.modify(seid, vec![Ie::UpdateUrr(vec![Ie::UrrId(1), Ie::VolumeQuota(total(1000))])]);
    assert!(!bench.plane.sessions[&seid].urrs[&1].exhausted);
    bench.answer(&first, vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
    bench.pass(2 * SECOND);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    assert_eq!(bench.sent(), []);
    assert!(!bench.plane.sessions[&seid].urrs[&1].exhausted);
}

#[test]
fn the_notification_delay_of_a_bar_is_kept_and_an_update_takes_the_report_back() {
    let mut bench = Bench::new();
    let mut request = simple_session(1, 1, [10, 0, 0, 1], vec![Ie::CreateBar(vec![Ie::BarId(1), Ie::DownlinkDataNotificationDelay(4)])]);
    request[5] = Ie::CreateFar(vec![Ie::FarId(2), Ie::ApplyAction(ApplyActionFlags::BUFF_NOCP), Ie::BarId(1)]);
    let (seid, _) = bench.establish(request);
    bench.node.downlink_data(seid, 2, bench.now);
    bench.pass(Duration::from_millis(199));
    assert!(bench.sent().is_empty());
    bench.pass(Duration::from_millis(1));
    let report = bench.sent_one();
    // The response changes the delay and drops what is buffered.
    bench.answer(
        &report,
        vec![
            Ie::Cause(Cause::REQUEST_ACCEPTED),
            Ie::PfcpSrRspFlags(1),
            Ie::UpdateBarInReportResponse(vec![Ie::BarId(1), Ie::DownlinkDataNotificationDelay(10)]),
        ],
    );
    assert_eq!(bench.plane.drops, [seid]);
    assert_eq!(bench.plane.sessions[&seid].bars[&1].notification_delay, Some(10));

    let idle = || Ie::UpdateFar(vec![Ie::FarId(2), Ie::ApplyAction(ApplyActionFlags::BUFF_NOCP)]);
    bench.modify(seid, vec![idle()]);
    bench.node.downlink_data(seid, 2, bench.now);
    bench.pass(Duration::from_millis(499));
    bench.modify(seid, vec![far_to_gnb(2, 9, None)]);
    bench.pass(SECOND);
    assert!(bench.sent().is_empty(), "the UE was reached before the delay was over");
    bench.node.downlink_data(seid, 2, bench.now);
    assert!(bench.sent().is_empty(), "a FAR that forwards has nothing to report");
    // DROBU with the change to idle.
    bench.modify(seid, vec![idle(), Ie::PfcpSmReqFlags(0x01)]);
    assert_eq!(bench.plane.drops, [seid, seid]);
}

#[test]
fn a_report_that_nobody_answered_is_made_again_with_the_next_packet() {
    let mut bench = Bench::new();
    let (seid, _) = bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![]));
    bench.node.downlink_data(seid, 2, bench.now);
    bench.pass(10 * SECOND);
    assert_eq!(bench.sent().len(), 3);
    bench.node.downlink_data(seid, 2, bench.now);
    assert_eq!(bench.sent().len(), 1);
    for (unknown_seid, pdr_id) in [(999, 2), (seid, 99), (seid, 1)] {
        bench.node.downlink_data(unknown_seid, pdr_id, bench.now);
    }
    assert!(bench.sent().is_empty());
}

#[test]
fn a_session_that_the_smf_does_not_know_ends() {
    let mut bench = Bench::new();
    let (seid, _) = bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![]));
    bench.node.downlink_data(seid, 2, bench.now);
    let report = bench.sent_one();
    bench.answer(&report, vec![Ie::Cause(Cause::SESSION_CONTEXT_NOT_FOUND)]);
    assert_eq!((bench.node.session_count(), bench.plane.sessions.len(), bench.node.resources_in_use()), (0, 0, 0));
}

#[test]
fn a_refused_tunnel_is_reported_to_its_sessions_until_they_answer() {
    let mut bench = Bench::new();
    let (seid, _) = bench.establish(simple_session(5, 1, [10, 0, 0, 1], vec![]));
    bench.modify(seid, vec![far_to_gnb(2, 0x77, None)]);
    bench.node.error_indication(0x78, GNB.into(), bench.now);
    bench.node.error_indication(0x77, N3.into(), bench.now);
    assert!(bench.sent().is_empty());
    bench.node.error_indication(0x77, GNB.into(), bench.now);
    bench.node.error_indication(0x77, GNB.into(), bench.now);
    let report = bench.sent_one();
    assert_eq!((report.seid, find!(report.ies, ReportType)), (Some(5), Some(&4)));
    let remote = find!(report.ies, ErrorIndicationReport).unwrap();
    assert_eq!(remote[..], [Ie::FTeid(FTeid::Given { teid: 0x77, ipv4: Some(GNB), ipv6: None })]);
    bench.answer(&report, vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
    bench.node.error_indication(0x77, GNB.into(), bench.now);
    assert_eq!(bench.sent().len(), 1);
    // After a path switch the old tunnel is nobody's.
    bench.modify(seid, vec![far_to_gnb(2, 0x79, None)]);
    bench.node.error_indication(0x77, GNB.into(), bench.now);
    assert!(bench.sent().is_empty());
}

#[test]
fn an_f_seid_can_change() {
    let mut bench = Bench::new();
    let (seid, _) = bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![]));
    let answer = bench.modify(seid, vec![smf_seid(42)]);
    assert_eq!(answer.seid, Some(42));
    bench.node.downlink_data(seid, 2, bench.now);
    assert_eq!(bench.sent_one().seid, Some(42));
    assert_eq!(bench.node.sessions().next().unwrap().cp.seid, 42);
}

/// §5.6.3: an element of no length is to be removed, one that is not there stays.
#[test]
fn elements_of_no_length_are_removed_and_those_not_named_stay() {
    let mut bench = Bench::new();
    let null = |ie_type| Ie::Unknown { ie_type, octets: vec![] };
    let limits = vec![Ie::VolumeThreshold(Volume { total: Some(9), ..Volume::default() }), Ie::MeasurementPeriod(60), Ie::TimeQuota(5)];
    let rest = vec![qer(1, 5), urr(1, 1, limits), Ie::CreateBar(vec![Ie::BarId(1), Ie::SuggestedBufferingPacketsCount(7)])];
    let mut request = simple_session(1, 1, [10, 0, 0, 1], rest);
    request[2] = pdr(1, 0, vec![given(1), ue([10, 0, 0, 1], false), Ie::Qfi(5)], 1, vec![decap(0), Ie::UrrId(1), Ie::QerId(1)]);
    request[3] = pdr(2, 1, vec![labels("internet"), ue([10, 0, 0, 1], true)], 2, vec![Ie::UrrId(1), Ie::QerId(1)]);
    let (seid, _) = bench.establish(request);
    bench.modify(seid, vec![far_to_gnb(2, 9, None)]);
    let before = bench.plane.sessions[&seid].clone();

    // Nothing is named: nothing changes.
    let updates = vec![
        Ie::UpdatePdr(vec![Ie::PdrId(1)]),
        Ie::UpdateFar(vec![Ie::FarId(2)]),
        Ie::UpdateQer(vec![Ie::QerId(1)]),
        Ie::UpdateUrr(vec![Ie::UrrId(1)]),
        Ie::UpdateBar(vec![Ie::BarId(1)]),
    ];
    assert_eq!(bench.modify(seid, updates).cause(), Some(Cause::REQUEST_ACCEPTED));
    assert_eq!(bench.plane.sessions[&seid], before);

    let pdi = vec![Ie::SourceInterface(0), null(number::Qfi)];
    let updates = vec![
        Ie::UpdatePdr(vec![Ie::PdrId(1), Ie::Pdi(pdi), null(number::UrrId), null(number::QerId)]),
        Ie::UpdatePdr(vec![Ie::PdrId(2), null(number::UrrId)]),
        Ie::UpdateFar(vec![Ie::FarId(2), Ie::UpdateForwardingParameters(vec![null(number::OuterHeaderCreation)])]),
        Ie::UpdateQer(vec![Ie::QerId(1), null(number::Mbr)]),
        Ie::UpdateUrr(vec![Ie::UrrId(1), null(number::VolumeThreshold), null(number::TimeQuota)]),
        Ie::UpdateBar(vec![Ie::BarId(1), null(number::SuggestedBufferingPacketsCount)]),
    ];
    assert_eq!(bench.modify(seid, updates).cause(), Some(Cause::REQUEST_ACCEPTED));
    let mut expected = before.clone();
    let first = expected.pdrs.get_mut(&1).unwrap();
    (first.urr_ids, first.qer_ids, first.pdi.qfis) = (vec![], vec![], vec![]);
    expected.pdrs.get_mut(&2).unwrap().urr_ids.clear();
    expected.fars.get_mut(&2).unwrap().forwarding.as_mut().unwrap().outer_header = None;
    expected.qers.get_mut(&1).unwrap().mbr_kbps = None;
    let rule = expected.urrs.get_mut(&1).unwrap();
    (rule.volume_threshold, rule.time_quota_s) = (None, None);
    expected.bars.get_mut(&1).unwrap().suggested_packets = None;
    assert_eq!(bench.plane.sessions[&seid], expected);

    // What a rule cannot be without is not removed, and in a Create no length is a fault.
    for (update, offending) in [
        (Ie::UpdatePdr(vec![Ie::PdrId(1), null(number::Precedence)]), number::Precedence),
        (Ie::UpdateFar(vec![Ie::FarId(2), null(number::ApplyAction)]), number::ApplyAction),
        (Ie::UpdateQer(vec![Ie::QerId(1), null(number::GateStatus)]), number::GateStatus),
        (Ie::UpdateUrr(vec![Ie::UrrId(1), null(number::MeasurementMethod)]), number::MeasurementMethod),
        (Ie::UpdateUrr(vec![null(number::UrrId)]), number::UrrId),
        (Ie::UpdatePdr(vec![Ie::PdrId(1), Ie::Pdi(vec![null(number::SourceInterface)])]), number::SourceInterface),
        (
            Ie::CreateQer(vec![Ie::QerId(2), Ie::GateStatus(GateStatus { uplink_open: true, downlink_open: true }), null(number::Mbr)]),
            number::Mbr,
        ),
    ] {
        let answer = bench.modify(seid, vec![update.clone()]);
        assert!(answer.cause().is_some_and(|cause| !cause.is_accepted()), "{update:?}");
        assert_eq!(find!(answer.ies, OffendingIe), Some(&offending), "{update:?}");
        assert_eq!(bench.plane.sessions[&seid], expected, "{update:?}");
    }
}

/// A session that we chose TEID and address for, or one with these that is to be restored.
fn restorable(cp_seid: u64, had: Option<(u32, [u8; 4])>, flags: Option<u8>) -> Group {
    let (tunnel, up, down) = match had {
        Some((teid, address)) => (given(teid), ue(address, false), ue(address, true)),
        None => (choose(Some(1)), choose_ue(true, false, false), choose_ue(true, false, true)),
    };
    let rules = vec![
        Ie::ApnDnn(Name::Labels("internet".into())),
        pdr(1, 0, vec![tunnel, up], 1, vec![decap(0)]),
        pdr(2, 1, vec![down], 2, vec![]),
        far_to(1, 1),
        far_buffer(2),
    ];
    [vec![Ie::NodeId(smf_node()), smf_seid(cp_seid)], flags.map(Ie::PfcpSeReqFlags).into_iter().collect(), rules].concat()
}

/// TEID and UE address of a session.
fn holds(bench: &Bench, seid: Seid) -> (u32, [u8; 4]) {
    let pdi = &bench.node.session(seid).unwrap().rules.pdrs[&1].pdi;
    (pdi.f_teid.unwrap().teid, pdi.ue_ip.unwrap().ipv4.unwrap().octets())
}

#[test]
fn an_smf_restores_its_sessions_after_our_restart_with_the_teids_and_addresses_that_they_had() {
    const RESTI: u8 = 1;
    let mut before = Bench::with(Config { seed: Some([1; 32]), ..config() });
    let had: Vec<_> = (1..=30)
        .map(|n| {
            let (seid, _) = before.establish(restorable(n, None, None));
            holds(&before, seid)
        })
        .collect();
    // All is forgotten but the configuration.
    let mut bench = Bench::with(Config { seed: Some([2; 32]), started_at_ntp_s: UPF_STARTED + 100, ..config() });
    for (n, had) in (1..).zip(&had) {
        let (seid, _) = bench.establish(restorable(n, Some(*had), Some(RESTI)));
        assert_eq!(holds(&bench, seid), *had);
    }
    // They are not given to others.
    for n in 31..=60 {
        let (seid, _) = bench.establish(restorable(n, None, None));
        let (teid, address) = holds(&bench, seid);
        assert!(had.iter().all(|(had_teid, had_address)| *had_teid != teid && *had_address != address));
    }
    let all = (bench.node.session_count(), bench.node.resources_in_use(), bench.plane.commits);
    assert_eq!((all.0, all.1), (60, 120));
    // What is another's now is not to be had, nor what was never ours; the cause says whether it was asked to be restored.
    let free = had[0].0 ^ 0x5555_0000;
    let foreign = Ie::FTeid(FTeid::Given { teid: free, ipv4: Some([10, 9, 9, 9].into()), ipv6: None });
    let elsewhere = |flags: Option<u8>| {
        let mut request = restorable(99, Some((free, [10, 45, 99, 9])), flags);
        for ie in &mut request {
            if let Ie::CreatePdr(ies) = ie
                && let Some(Ie::Pdi(pdi)) = ies.iter_mut().find(|ie| matches!(ie, Ie::Pdi(_)))
                && let Some(teid) = pdi.iter_mut().find(|ie| matches!(ie, Ie::FTeid(_)))
            {
                *teid = foreign.clone();
            }
        }
        request
    };
    let taken_teid = |flags: Option<u8>| restorable(99, Some((had[0].0, [10, 45, 99, 9])), flags);
    let taken_address = |flags: Option<u8>| restorable(99, Some((free, had[0].1)), flags);
    for request in [&elsewhere as &dyn Fn(Option<u8>) -> Group, &taken_teid, &taken_address] {
        let answer = bench.ask(MessageType::SessionEstablishmentRequest, Some(0), request(Some(RESTI)));
        assert_eq!((answer.cause(), find!(answer.ies, FailedRuleId).is_none()), (Some(Cause::RESTORATION_FAILURE), true));
        let answer = bench.ask(MessageType::SessionEstablishmentRequest, Some(0), request(None));
        assert_eq!((answer.cause(), find!(answer.ies, FailedRuleId).is_some()), (Some(Cause::RULE_FAILURE), true));
    }
    assert_eq!((bench.node.session_count(), bench.node.resources_in_use(), bench.plane.commits), all);
    // A session that has what is to be restored, and waits to be ended, makes room.
    bench.ask(MessageType::AssociationReleaseRequest, None, vec![Ie::NodeId(smf_node())]);
    bench.ask(MessageType::AssociationSetupRequest, None, setup_ies(SMF_STARTED));
    let (seid, _) = bench.establish(restorable(1, Some(had[0]), Some(RESTI)));
    assert_eq!(holds(&bench, seid), had[0]);
}

#[test]
fn a_change_that_is_refused_has_not_dropped_what_is_buffered() {
    const DROBU: u8 = 1;
    let mut bench = Bench::new();
    let (seid, _) = bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![]));
    let forwards = || vec![Ie::PfcpSmReqFlags(DROBU), far_to_gnb(2, 7, None)];
    // By us.
    let answer = bench.modify(seid, [forwards(), vec![far_to_gnb(77, 7, None)]].concat());
    assert_eq!((answer.cause(), bench.plane.drops.len()), (Some(Cause::RULE_FAILURE), 0));
    // By the user plane.
    bench.plane.failures.push(CommitError::NoResources("full".into()));
    let answer = bench.modify(seid, forwards());
    assert_eq!((answer.cause(), bench.plane.drops.len()), (Some(Cause::NO_RESOURCES), 0));
    assert!(bench.plane.sessions[&seid].fars[&2].action.buffer);
    // With the change, and without one.
    let answer = bench.modify(seid, forwards());
    assert_eq!((answer.cause(), &bench.plane.drops[..]), (Some(Cause::REQUEST_ACCEPTED), &[seid][..]));
    let commits = bench.plane.commits;
    bench.modify(seid, vec![Ie::PfcpSmReqFlags(DROBU)]);
    assert_eq!((bench.plane.commits, &bench.plane.drops[..]), (commits, &[seid, seid][..]));
}

#[test]
fn flags_of_a_modification_are_obeyed_with_the_message_and_with_a_far() {
    const DROBU: u8 = 1;
    const SNDEM: u8 = 2;
    let mut bench = Bench::new();
    let (seid, _) = bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![]));
    bench.modify(seid, vec![far_to_gnb(2, 7, None)]);
    bench.modify(seid, vec![Ie::PfcpSmReqFlags(SNDEM), far_to_gnb(2, 8, None)]);
    assert_eq!(bench.plane.end_markers, [OuterHeader { teid: 7, ipv4: GNB }]);
    bench.modify(seid, vec![far_to_gnb(2, 9, Some(SNDEM | DROBU))]);
    assert_eq!(bench.plane.end_markers[1..], [OuterHeader { teid: 8, ipv4: GNB }]);
    assert_eq!(bench.plane.drops, [seid]);
}
