//! What no peer should send, and a user plane that fails: nothing panics, nothing leaks, and node and user plane agree.

mod common;

use std::collections::BTreeMap;
use std::time::Duration;

use common::*;
use pfcp::codec::{self, Ie, Message, MessageType, SdfFilter, Volume, find};
use pfcp::config::{Config, OnLoss};
use pfcp::rules::{CommitError, Seid, SessionRules};
use proptest::prelude::*;
use rand::RngCore;

/// Repeatable numbers; a failure prints the seed.
struct Random(testkit::Rng);

impl Random {
    fn next(&mut self) -> u64 {
        self.0.next_u64()
    }

    fn below(&mut self, end: usize) -> usize {
        (self.next() % end.max(1) as u64) as usize
    }

    fn one_in(&mut self, n: usize) -> bool {
        self.below(n) == 0
    }
}

/// Valid messages of every kind that a node handles.
fn messages() -> Vec<Message> {
    let flow = SdfFilter {
        flow_description: Some("permit out 17 from 10.0.0.0/8 53,100-200 to assigned".into()),
        tos: Some((0x20, 0xfc)),
        filter_id: Some(3),
        ..SdfFilter::default()
    };
    let volume = |total| Volume { total: Some(total), ..Volume::default() };
    let rich = simple_session(
        7,
        40,
        [10, 45, 0, 9],
        vec![
            pdr(
                3,
                0,
                vec![choose(Some(1)), labels("internet"), choose_ue(true, true, false), Ie::SdfFilter(flow), Ie::Qfi(5)],
                1,
                vec![decap(6), Ie::UrrId(1), Ie::QerId(1)],
            ),
            pdr(4, 1, vec![labels("internet"), choose_ue(true, true, true)], 2, vec![Ie::UrrId(1), Ie::UrrId(2), Ie::QerId(2)]),
            qer(1, 5),
            qer(2, 5),
            urr(1, 0x0103, vec![Ie::MeasurementPeriod(2), Ie::VolumeThreshold(volume(500)), Ie::VolumeQuota(volume(5000))]),
            urr(2, 0x0284, vec![Ie::LinkedUrrId(1), Ie::TimeThreshold(3), Ie::TimeQuota(10), Ie::EventThreshold(2), Ie::EventQuota(4)]),
            Ie::CreateBar(vec![Ie::BarId(1), Ie::DownlinkDataNotificationDelay(2)]),
        ],
    );
    let session = |kind, ies| Message::session(kind, 1, 1, ies);
    let csid = Ie::FqCsid(codec::FqCsid { node: codec::CsidNode::Number(7), csids: vec![1, 2], node_type: Some(2) });
    let ipv4 = Some(std::net::Ipv4Addr::new(127, 0, 0, 5));
    let alternative = Ie::AlternativeSmfIpAddress(codec::AlternativeSmfIpAddress { preferred: true, ipv4, ipv6: None });
    use MessageType::*;
    vec![
        Message::node(HeartbeatRequest, 1, vec![Ie::RecoveryTimeStamp(SMF_STARTED)]),
        Message::node(AssociationSetupRequest, 1, setup_ies(SMF_STARTED)),
        Message::node(AssociationUpdateRequest, 1, vec![Ie::NodeId(smf_node())]),
        session(SessionEstablishmentRequest, simple_session(5, 1, [10, 0, 0, 1], vec![])),
        session(SessionEstablishmentRequest, rich.clone()),
        session(SessionEstablishmentRequest, rich.clone()),
        session(SessionModificationRequest, vec![far_to_gnb(2, 9, Some(2)), smf_seid(8)]),
        session(SessionModificationRequest, vec![Ie::RemovePdr(vec![Ie::PdrId(3)]), Ie::RemoveUrr(vec![Ie::UrrId(1)])]),
        session(SessionModificationRequest, rich[6..].to_vec()),
        session(
            SessionModificationRequest,
            vec![
                Ie::UpdatePdr(vec![Ie::PdrId(1), Ie::Pdi(vec![Ie::SourceInterface(0), choose(Some(1)), choose_ue(true, false, false)])]),
                Ie::UpdateUrr(vec![Ie::UrrId(1), Ie::VolumeQuota(volume(100_000)), Ie::MeasurementPeriod(1)]),
                Ie::QueryUrr(vec![Ie::UrrId(2)]),
                Ie::PfcpSmReqFlags(7),
            ],
        ),
        session(SessionDeletionRequest, vec![]),
        Message::node(PfdManagementRequest, 1, vec![]),
        session(SessionModificationRequest, vec![csid.clone(), Ie::GroupId(vec![7; 9])]),
        Message::node(
            SessionSetModificationRequest,
            1,
            vec![Ie::NodeId(smf_node()), Ie::SessionChangeInfo(vec![csid.clone(), alternative])],
        ),
        Message::node(SessionSetDeletionRequest, 1, vec![Ie::NodeId(smf_node()), csid]),
        session(SessionReportResponse, vec![Ie::Cause(codec::Cause(1)), Ie::UpdateBarInReportResponse(vec![Ie::BarId(1)])]),
        Message::node(HeartbeatResponse, 1, vec![Ie::RecoveryTimeStamp(SMF_STARTED)]),
    ]
}

/// Changes a message's elements: leaves out, repeats, swaps, moves between groups, replaces by others.
fn shuffle(ies: &mut Vec<Ie>, random: &mut Random) {
    if ies.is_empty() {
        return;
    }
    let (a, b) = (random.below(ies.len()), random.below(ies.len()));
    match random.below(5) {
        0 => drop(ies.remove(a)),
        1 => ies.insert(b, ies[a].clone()),
        2 => ies.swap(a, b),
        3 => {
            let inside = ies[b].children().to_vec();
            ies.extend(inside);
        }
        _ => match &mut ies[a] {
            Ie::CreatePdr(inside)
            | Ie::Pdi(inside)
            | Ie::CreateFar(inside)
            | Ie::CreateUrr(inside)
            | Ie::UpdateFar(inside)
            | Ie::UpdatePdr(inside)
            | Ie::UpdateUrr(inside) => shuffle(inside, random),
            Ie::PdrId(id) => *id = random.below(6) as u16,
            Ie::FarId(id) | Ie::UrrId(id) | Ie::QerId(id) => *id = random.below(4) as u32,
            Ie::MeasurementPeriod(s) | Ie::TimeQuota(s) | Ie::TimeThreshold(s) | Ie::EventQuota(s) | Ie::EventThreshold(s) => {
                *s = random.below(5) as u32
            }
            other => *other = Ie::Unknown { ie_type: other.ie_type(), octets: random.next().to_be_bytes()[..random.below(9)].to_vec() },
        },
    }
}

/// Flips, sets, inserts and cuts octets.
fn spoil(octets: &mut Vec<u8>, random: &mut Random) {
    for _ in 0..1 + random.below(5) {
        if octets.is_empty() {
            return;
        }
        let at = random.below(octets.len());
        match random.below(6) {
            0 => octets[at] = random.next() as u8,
            1 | 2 => octets[at] ^= 1 << random.below(8),
            3 => octets.insert(at, random.next() as u8),
            4 => drop(octets.remove(at)),
            _ if random.one_in(4) => octets.truncate(at),
            _ => octets[at] = [0, 1, 0x7f, 0xff][random.below(4)],
        }
    }
    // Half of the time the length fits again, so that the elements are reached.
    if octets.len() >= 4 && random.one_in(2) {
        let length = (octets.len() - 4) as u16;
        octets[2..4].copy_from_slice(&length.to_be_bytes());
    }
}

/// What node and user plane must have in common at any time.
fn agree(bench: &Bench) {
    let node: BTreeMap<Seid, SessionRules> = bench.node.sessions().map(|view| (view.seid, view.rules)).collect();
    let plane = bench.plane.sessions.clone();
    assert_eq!(node, plane);
    let of_associations: usize = bench.node.associations().map(|association| association.sessions).sum();
    assert_eq!(of_associations, node.len());
}

/// Ends everything, and checks that nothing is left behind.
fn end(mut bench: Bench) {
    bench.plane.failures.clear();
    let seids: Vec<Seid> = bench.plane.sessions.keys().copied().collect();
    for seid in seids {
        bench.node.receive(
            SMF,
            &Message::session(MessageType::SessionDeletionRequest, seid, 0xf0_0000 + seid as u32 % 0xffff, vec![]).encode().unwrap(),
            bench.now,
            &mut bench.plane,
        );
    }
    // An end that the user plane has refused it is told again with a poll.
    bench.node.poll_usage(bench.now, &mut bench.plane);
    // And those of an association that the last message ended end a few at a time.
    bench.pass(Duration::ZERO);
    agree(&bench);
    assert_eq!((bench.node.session_count(), bench.node.resources_in_use(), bench.plane.sessions.len()), (0, 0, 0));
    // What still waits for an answer is given up, at one alternative address after the other, and then there is nothing to do any more.
    bench.pass(Duration::from_secs(600));
    assert_eq!(bench.node.next_deadline(), None);
}

#[test]
fn spoilt_messages_and_events_in_any_order() {
    let config = Config {
        on_loss: OnLoss::Keep(None),
        max_sessions: 40,
        max_outstanding: 200,
        max_answers: 500,
        answer_lifetime: Duration::from_secs(1),
        ..config()
    };
    let mut bench = Bench::with(config);
    let valid = messages();
    let mut random = Random(testkit::rng(0x5eed_0001));
    let (mut accepted, mut rejected) = (0u32, 0u32);
    for case in 0..100_000u32 {
        let mut message = valid[random.below(valid.len())].clone();
        message.sequence = case & 0xff_ffff;
        let seids: Vec<Seid> = bench.plane.sessions.keys().copied().collect();
        if let (Some(seid), false) = (message.seid.as_mut(), seids.is_empty()) {
            *seid = seids[random.below(seids.len())];
        }
        if random.one_in(3) {
            shuffle(&mut message.ies, &mut random);
        }
        let mut octets = message.encode().unwrap();
        if random.one_in(2) {
            spoil(&mut octets, &mut random);
        }
        if random.one_in(20) {
            bench.plane.failures.push(CommitError::NoResources("today".into()));
        }
        bench.node.receive(SMF, &octets, bench.now, &mut bench.plane);

        if let Some(seid) = seids.first() {
            let (seid, far) = (seids[random.below(seids.len())].max(*seid), random.below(6) as u16);
            match random.below(8) {
                0 => bench.node.downlink_data(seid, far, bench.now),
                1 => bench.node.error_indication(9, GNB.into(), bench.now),
                2 => {
                    let used = bench.plane.usage.entry((seid, 1)).or_default();
                    used.uplink_bytes += random.next() % 1000;
                    bench.node.poll_usage(bench.now, &mut bench.plane);
                }
                3 => bench.pass(Duration::from_millis(random.next() % 300)),
                _ => {}
            }
        }
        bench.plane.failures.clear();
        while let Some((_, octets)) = bench.node.poll_transmit() {
            let sent = codec::decode(&octets).expect("what we send can be read");
            assert!(!sent.ies.iter().any(|ie| matches!(ie, Ie::Invalid { .. } | Ie::Unknown { .. })), "{sent:?}");
            match sent.cause() {
                Some(cause) if cause.is_accepted() => accepted += 1,
                Some(_) => rejected += 1,
                None if sent.kind.is_request() && random.one_in(2) => bench.answer(&sent, vec![Ie::Cause(codec::Cause(1))]),
                None => {}
            }
        }
        if case % 100 == 0 {
            // What the user plane refused where no request could be rejected for it, it is told again here.
            bench.node.poll_usage(bench.now, &mut bench.plane);
            // Sessions whose association is over end a few at a time.
            bench.pass(Duration::ZERO);
            agree(&bench);
        }
    }
    assert!(accepted > 10_000 && rejected > 10_000, "the test reaches what it is to reach: {accepted} {rejected}");
    assert!(bench.node.stats().established > 1000);
    end(bench);
}

#[test]
fn octets_of_chance() {
    let mut bench = Bench::new();
    let mut random = Random(testkit::rng(77));
    for _ in 0..20_000 {
        let mut octets: Vec<u8> = (0..random.below(120)).map(|_| random.next() as u8).collect();
        if octets.len() > 8 {
            octets[0] = 0x20 | (random.next() & 3) as u8;
            octets[1] = [1, 5, 7, 9, 50, 52, 54, 57][random.below(8)];
            let length = (octets.len() - 4) as u16;
            octets[2..4].copy_from_slice(&length.to_be_bytes());
        }
        bench.node.receive(SMF, &octets, bench.now, &mut bench.plane);
        bench.sent();
    }
    agree(&bench);
}

/// One step against a node whose user plane may refuse.
#[derive(Clone, Debug)]
enum Step {
    Establish { teid: Option<u32>, address: Option<u8>, extra: Vec<Ie> },
    Modify { which: usize, ies: Vec<Ie> },
    Delete { which: usize },
}

fn rule() -> impl Strategy<Value = Ie> {
    let id = 1u32..5;
    prop_oneof![
        (id.clone(), any::<bool>(), id.clone()).prop_map(|(n, mine, far)| {
            let tunnel = if mine { choose(Some(n as u8 % 2)) } else { given(n) };
            pdr(n as u16 + 2, 0, vec![tunnel], far, vec![])
        }),
        (id.clone(), any::<bool>()).prop_map(|(n, v6)| pdr(n as u16 + 2, 1, vec![labels("ims"), choose_ue(!v6, v6, true)], 2, vec![])),
        id.clone().prop_map(|n| far_to(n + 2, 1)),
        id.clone().prop_map(|n| qer(n, 1)),
        id.clone().prop_map(|n| urr(n, 1, vec![Ie::MeasurementPeriod(n)])),
        id.clone().prop_map(|n| Ie::RemovePdr(vec![Ie::PdrId(n as u16)])),
        id.clone().prop_map(|n| Ie::RemoveUrr(vec![Ie::UrrId(n)])),
        id.clone().prop_map(|n| Ie::RemoveFar(vec![Ie::FarId(n)])),
        id.clone().prop_map(|n| far_to_gnb(n, n, Some(2))),
        (id.clone(), any::<bool>()).prop_map(|(n, mine)| {
            let tunnel = if mine { choose(None) } else { given(n) };
            Ie::UpdatePdr(vec![Ie::PdrId(n as u16), Ie::Pdi(vec![Ie::SourceInterface(0), tunnel])])
        }),
    ]
}

fn step() -> impl Strategy<Value = (Step, bool)> {
    let step = prop_oneof![
        3 => (prop::option::of(1u32..8), prop::option::of(1u8..4), prop::collection::vec(rule(), 0..4))
            .prop_map(|(teid, address, extra)| Step::Establish { teid, address, extra }),
        6 => (any::<usize>(), prop::collection::vec(rule(), 1..5)).prop_map(|(which, ies)| Step::Modify { which, ies }),
        1 => any::<usize>().prop_map(|which| Step::Delete { which }),
    ];
    (step, prop::bool::weighted(0.2))
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(400))]

    /// A request that is not accepted has changed nothing: not the rules, not the pools, not the user plane.
    #[test]
    fn all_or_nothing(steps in prop::collection::vec(step(), 1..25)) {
        let mut bench = Bench::with(Config { teids: (1, 12), ..config() });
        for (step, fails) in steps {
            if fails {
                bench.plane.failures = vec![CommitError::System("no".into())];
            }
            let seids: Vec<Seid> = bench.node.sessions().map(|view| view.seid).collect();
            let of = |which: usize| seids.get(which % seids.len().max(1)).copied().unwrap_or(9999);
            let state = |bench: &Bench| {
                let sessions: Vec<(Seid, SessionRules)> = bench.node.sessions().map(|view| (view.seid, view.rules.clone())).collect();
                (sessions, bench.node.resources_in_use(), bench.node.next_deadline())
            };
            let before = state(&bench);
            let answer = match step {
                Step::Establish { teid, address, extra } => {
                    let mut ies = simple_session(1, 1, [10, 46, 0, address.unwrap_or(0)], extra);
                    let ue = |destination| address.map_or(choose_ue(true, false, destination), |a| ue([10, 46, 0, a], destination));
                    ies[2] = pdr(1, 0, vec![teid.map_or(choose(Some(0)), given), labels("ims"), ue(false)], 1, vec![]);
                    ies[3] = pdr(2, 1, vec![labels("ims"), ue(true)], 2, vec![]);
                    bench.ask(MessageType::SessionEstablishmentRequest, Some(0), ies)
                }
                Step::Modify { which, ies } => bench.modify(of(which), ies),
                Step::Delete { which } => bench.delete(of(which)),
            };
            bench.plane.failures.clear();
            if !answer.cause().unwrap().is_accepted() {
                prop_assert_eq!(before, state(&bench));
            }
            agree(&bench);
            // Every tunnel in the rules is held by its session alone.
            let mut owners = BTreeMap::new();
            for view in bench.node.sessions() {
                for f_teid in view.rules.pdrs.values().filter_map(|pdr| pdr.pdi.f_teid) {
                    prop_assert_eq!(*owners.entry((f_teid.teid, f_teid.ipv4)).or_insert(view.seid), view.seid);
                }
            }
            for seid in find!(answer.ies, FSeid).iter().map(|f_seid| f_seid.seid) {
                prop_assert!(bench.node.session(seid).is_some());
            }
        }
        end(bench);
    }
}
