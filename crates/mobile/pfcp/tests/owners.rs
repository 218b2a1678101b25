//! Who may say what on N4: associations, sessions and Node IDs belong to addresses, and each peer has its share and no more.

mod common;

use std::collections::BTreeSet;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use common::*;
use pfcp::codec::{AlternativeSmfIpAddress, Cause, FSeid, Group, Ie, Message, MessageType, NodeId, Volume, find};
use pfcp::config::{AllowedPeers, Config, Network, OnLoss, RequestPort};
use pfcp::rules::Seid;
use pfcp::stats::Drop;

const SECOND: Duration = Duration::from_secs(1);
const OTHER: SocketAddr = SocketAddr::new(IpAddr::V4(Ipv4Addr::new(127, 0, 0, 66)), 8805);

fn fqdn(name: &str) -> NodeId {
    NodeId::Fqdn(name.into())
}

fn setup_as(node_id: NodeId, started: u32) -> Group {
    vec![Ie::NodeId(node_id), Ie::RecoveryTimeStamp(started)]
}

/// What `from` is answered, if anything.
fn ask_from(bench: &mut Bench, from: SocketAddr, kind: MessageType, seid: Option<u64>, ies: Group) -> Option<Message> {
    bench.sequence += 1;
    let request = Message { seid, ..Message::node(kind, bench.sequence, ies) };
    bench.node.receive(from, &request.encode().unwrap(), bench.now, &mut bench.plane);
    let mut answers: Vec<_> = bench.sent().into_iter().filter(|(_, message)| !message.kind.is_request()).collect();
    assert!(answers.iter().all(|(to, _)| *to == from), "{answers:?}");
    answers.pop().map(|(_, answer)| answer)
}

fn cause_from(bench: &mut Bench, from: SocketAddr, kind: MessageType, seid: Option<u64>, ies: Group) -> Cause {
    ask_from(bench, from, kind, seid, ies).unwrap().cause().unwrap()
}

fn dropped(bench: &Bench, reason: Drop) -> u64 {
    bench.node.stats().dropped.get(&reason).copied().unwrap_or(0)
}

fn only(networks: &[&[&str]]) -> Vec<AllowedPeers> {
    let network = |text: &&str| {
        let (address, length) = text.split_once('/').unwrap_or((text, "32"));
        Network { address: address.parse().unwrap(), length: length.parse().unwrap() }
    };
    networks.iter().map(|entry| AllowedPeers { networks: entry.iter().map(network).collect(), together: entry.len() > 1 }).collect()
}

/// The honest SMF with one session, and everything that another address tries.
#[test]
fn another_address_can_neither_end_nor_change_nor_make_anything_in_an_association() {
    let mut bench = Bench::new();
    let (seid, _) = bench.establish(simple_session(7, 1, [10, 0, 0, 1], vec![]));
    let before = bench.plane.sessions.clone();
    let mine = || vec![Ie::NodeId(smf_node())];
    use MessageType::*;
    for (kind, of, ies, cause) in [
        (AssociationReleaseRequest, None, mine(), Cause::NO_ESTABLISHED_ASSOCIATION),
        (AssociationUpdateRequest, None, mine(), Cause::NO_ESTABLISHED_ASSOCIATION),
        (AssociationSetupRequest, None, setup_ies(SMF_STARTED), Cause::REQUEST_REJECTED),
        (AssociationSetupRequest, None, setup_ies(SMF_STARTED + 1), Cause::REQUEST_REJECTED),
        (SessionEstablishmentRequest, Some(0), simple_session(8, 2, [10, 0, 0, 2], vec![]), Cause::NO_ESTABLISHED_ASSOCIATION),
        (SessionModificationRequest, Some(seid), vec![far_to_gnb(2, 9, None)], Cause::NO_ESTABLISHED_ASSOCIATION),
        (SessionModificationRequest, Some(seid), vec![smf_seid(9)], Cause::NO_ESTABLISHED_ASSOCIATION),
        (SessionDeletionRequest, Some(seid), vec![], Cause::NO_ESTABLISHED_ASSOCIATION),
        // It is not told whether there is a session.
        (SessionModificationRequest, Some(seid ^ 1), vec![], Cause::NO_ESTABLISHED_ASSOCIATION),
        (SessionDeletionRequest, Some(seid ^ 1), vec![], Cause::NO_ESTABLISHED_ASSOCIATION),
    ] {
        let answer = ask_from(&mut bench, OTHER, kind, of, ies).unwrap();
        assert_eq!(answer.cause(), Some(cause), "{kind:?}");
        assert!(kind == SessionEstablishmentRequest || answer.seid.unwrap_or(0) == 0, "the SMF's SEID is not told: {answer:?}");
        assert_eq!(bench.plane.sessions, before);
        assert_eq!((bench.node.session_count(), bench.node.associations().count()), (1, 1));
    }
    assert_eq!(bench.node.stats().foreign, 8);
    // An association of its own gives it no more rights.
    assert!(cause_from(&mut bench, OTHER, AssociationSetupRequest, None, setup_as(fqdn("other"), 1)).is_accepted());
    assert_eq!(cause_from(&mut bench, OTHER, SessionDeletionRequest, Some(seid), vec![]), Cause::SESSION_CONTEXT_NOT_FOUND);
    let take = vec![Ie::NodeId(fqdn("other")), smf_seid(9)];
    assert_eq!(cause_from(&mut bench, OTHER, SessionModificationRequest, Some(seid), take), Cause::SESSION_CONTEXT_NOT_FOUND);
    assert!(bench.delete(seid).cause().unwrap().is_accepted());
}

#[test]
fn a_port_is_no_owner_and_a_peer_may_use_several() {
    let mut bench = Bench::with(Config { request_port: RequestPort::Source, ..config() });
    let (seid, _) = bench.establish(simple_session(7, 1, [10, 0, 0, 1], vec![]));
    bench.smf.set_port(40_000);
    assert!(bench.modify(seid, vec![far_to_gnb(2, 9, None)]).cause().unwrap().is_accepted());
    bench.smf.set_port(40_001);
    assert!(bench.delete(seid).cause().unwrap().is_accepted());
}

#[test]
fn a_stranger_gets_no_answer_whatever_it_sends() {
    let mut bench = Bench::with(Config { peers: only(&[&["127.0.0.4"], &["10.0.0.0/8"]]), ..config() });
    let stranger = SocketAddr::from(([127, 0, 0, 5], 8805));
    use MessageType::*;
    for kind in [HeartbeatRequest, AssociationSetupRequest, PfdManagementRequest, SessionDeletionRequest] {
        assert_eq!(ask_from(&mut bench, stranger, kind, None, setup_as(fqdn("x"), 1)), None);
    }
    bench.node.receive(stranger, &[0x40, 1, 0, 4, 0, 0, 9, 0], bench.now, &mut bench.plane);
    assert_eq!(bench.sent(), [], "not even that the version is another");
    assert_eq!(dropped(&bench, Drop::Stranger), 5);
    let neighbour = SocketAddr::from(([10, 1, 2, 3], 8805));
    assert!(ask_from(&mut bench, neighbour, HeartbeatRequest, None, vec![]).is_some());
}

#[test]
fn an_smf_that_moved_gets_its_node_id_back_when_the_old_address_is_silent() {
    let named = || setup_as(fqdn("smf.example"), SMF_STARTED + 60);
    let setup = MessageType::AssociationSetupRequest;
    for heartbeat_period in [None, Some(10 * SECOND)] {
        let mut bench = Bench::alone(Config { heartbeat_period, ..config() });
        assert!(cause_from(&mut bench, SMF, setup, None, setup_as(fqdn("smf.example"), SMF_STARTED)).is_accepted());
        let request = [vec![Ie::NodeId(fqdn("smf.example"))], simple_session(1, 1, [10, 0, 0, 1], vec![])[1..].to_vec()].concat();
        bench.establish(request);
        bench.sequence += 1;
        let octets = Message::node(setup, bench.sequence, named()).encode().unwrap();
        bench.node.receive(OTHER, &octets, bench.now, &mut bench.plane);
        let sent = bench.sent();
        let kinds: Vec<_> = sent.iter().map(|(to, message)| (*to, message.kind)).collect();
        assert_eq!(kinds, [(SMF, MessageType::HeartbeatRequest), (OTHER, MessageType::AssociationSetupResponse)]);
        // It lives: nothing happens.
        bench.answer(&sent[0].1, vec![Ie::RecoveryTimeStamp(SMF_STARTED)]);
        assert_eq!(bench.node.session_count(), 1);
        assert_eq!(cause_from(&mut bench, OTHER, setup, None, named()), Cause::REQUEST_REJECTED);
        bench.sent();
        // It does not answer: T1 three times.
        bench.pass(9 * SECOND);
        assert_eq!(bench.node.session_count(), 0);
        assert!(cause_from(&mut bench, OTHER, setup, None, named()).is_accepted());
        assert_eq!(bench.node.associations().next().unwrap().peer, OTHER);
    }
}

#[test]
fn an_address_as_node_id_is_that_addresss_own() {
    let mut bench = Bench::alone(config());
    let setup = MessageType::AssociationSetupRequest;
    // Behind NAT a peer's own address is not the one that we see.
    assert!(cause_from(&mut bench, OTHER, setup, None, setup_ies(SMF_STARTED)).is_accepted());
    // But who has it comes first.
    assert!(cause_from(&mut bench, SMF, setup, None, setup_ies(SMF_STARTED)).is_accepted());
    assert_eq!((bench.node.associations().count(), bench.node.associations().next().unwrap().peer), (1, SMF));
    assert_eq!(cause_from(&mut bench, OTHER, setup, None, setup_ies(SMF_STARTED)), Cause::REQUEST_REJECTED);
}

#[test]
fn a_node_id_of_all_zeros_is_known_by_its_address() {
    let mut bench = Bench::alone(config());
    let zero = || NodeId::Ipv4(Ipv4Addr::UNSPECIFIED);
    let setup = MessageType::AssociationSetupRequest;
    for from in [SMF, OTHER] {
        assert!(cause_from(&mut bench, from, setup, None, setup_as(zero(), 1)).is_accepted());
    }
    assert_eq!(bench.node.associations().count(), 2);
    let session = [vec![Ie::NodeId(zero())], simple_session(1, 1, [10, 0, 0, 1], vec![])[1..].to_vec()].concat();
    bench.establish(session);
    let release = MessageType::AssociationReleaseRequest;
    assert!(cause_from(&mut bench, OTHER, release, None, vec![Ie::NodeId(zero())]).is_accepted());
    assert_eq!((bench.node.session_count(), bench.node.associations().count()), (1, 1));
    assert!(cause_from(&mut bench, SMF, release, None, vec![Ie::NodeId(zero())]).is_accepted());
    assert_eq!(bench.node.session_count(), 0);
    // One that was set up under a name is meant as well.
    assert!(cause_from(&mut bench, SMF, setup, None, setup_as(fqdn("smf"), 1)).is_accepted());
    assert!(cause_from(&mut bench, SMF, release, None, vec![Ie::NodeId(zero())]).is_accepted());
}

/// RFC 1035 §2.3.3. An SMF may write its name in its association and in its sessions as different releases of its configuration have it.
#[test]
fn a_domain_name_as_node_id_is_the_same_in_whatever_case() {
    let mut bench = Bench::alone(config());
    bench.ask(MessageType::AssociationSetupRequest, None, setup_as(fqdn("smf.Example.org"), 1));
    let named = |name: &str, n: u32| {
        [vec![Ie::NodeId(fqdn(name))], simple_session(n.into(), n, [10, 0, 0, n as u8], vec![])[1..].to_vec()].concat()
    };
    for (n, name) in (1..).zip(["smf.Example.org", "SMF.example.ORG", "smf.example.org"]) {
        bench.establish(named(name, n));
    }
    // A setup of the same name in another case is the same SMF's, whose sessions it ends, and nobody else's.
    assert_eq!(
        cause_from(&mut bench, OTHER, MessageType::AssociationSetupRequest, None, setup_as(fqdn("SMF.EXAMPLE.ORG"), 1)),
        Cause::REQUEST_REJECTED
    );
    assert_eq!(bench.node.associations().count(), 1);
    let release = |name: &str| vec![Ie::NodeId(fqdn(name))];
    assert!(bench.ask(MessageType::AssociationReleaseRequest, None, release("Smf.Example.Org")).cause().unwrap().is_accepted());
    assert_eq!((bench.node.associations().count(), bench.node.session_count()), (0, 0));
}

/// §5.22, §6.2.6.1: a CP function may have several addresses, given by itself or by the configuration.
#[test]
fn alternative_addresses_and_addresses_of_one_entry_speak_for_their_association() {
    let named = AlternativeSmfIpAddress { preferred: false, ipv4: Some(Ipv4Addr::new(127, 0, 0, 66)), ipv6: None };
    let alternative = vec![Ie::AlternativeSmfIpAddress(named)];
    let update = [vec![Ie::NodeId(smf_node())], alternative.clone()].concat();
    for (peers, in_setup, in_update) in [
        (only(&[&["0.0.0.0/0"]]), alternative, vec![]),
        (only(&[&["0.0.0.0/0"]]), vec![], update),
        (only(&[&["127.0.0.4", "127.0.0.66"]]), vec![], vec![]),
    ] {
        let mut bench = Bench::alone(Config { peers, ..config() });
        bench.ask(MessageType::AssociationSetupRequest, None, [setup_ies(SMF_STARTED), in_setup].concat());
        if !in_update.is_empty() {
            bench.ask(MessageType::AssociationUpdateRequest, None, in_update);
        }
        let (seid, _) = bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![]));
        bench.smf = OTHER;
        bench.establish(simple_session(2, 2, [10, 0, 0, 2], vec![]));
        // The F-SEID moves with it, and so do reports.
        let cp = FSeid { seid: 5, ipv4: Some(Ipv4Addr::new(127, 0, 0, 66)), ipv6: None };
        assert!(bench.modify(seid, vec![Ie::FSeid(cp)]).cause().unwrap().is_accepted());
        bench.node.downlink_data(seid, 2, bench.now);
        let (to, report) = bench.sent().remove(0);
        assert_eq!((to, report.seid), (OTHER, Some(5)));
        assert!(bench.delete(seid).cause().unwrap().is_accepted());
        let seid = bench.node.sessions().next().unwrap().seid;
        let from = SocketAddr::from(([127, 0, 0, 67], 8805));
        let foreign = ask_from(&mut bench, from, MessageType::SessionDeletionRequest, Some(seid), vec![]);
        assert!(foreign.is_none_or(|answer| answer.cause() == Some(Cause::NO_ESTABLISHED_ASSOCIATION)));
    }
}

#[test]
fn a_session_goes_over_to_another_smf_of_its_set_with_all_that_hangs_on_it() {
    let mut bench = Bench::with(Config { peers: only(&[&["127.0.0.4", "127.0.0.66"]]), ..config() });
    let (seid, _) = bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![]));
    let setup = MessageType::AssociationSetupRequest;
    let take = || vec![Ie::NodeId(fqdn("second")), smf_seid(9)];
    let modify = MessageType::SessionModificationRequest;
    assert_eq!(cause_from(&mut bench, OTHER, modify, Some(seid), take()), Cause::NO_ESTABLISHED_ASSOCIATION);
    assert!(cause_from(&mut bench, OTHER, setup, None, setup_as(fqdn("second"), 1)).is_accepted());
    assert!(cause_from(&mut bench, OTHER, modify, Some(seid), take()).is_accepted());
    assert_eq!(bench.node.session(seid).unwrap().node_id, fqdn("second"));
    // The first one's end is no longer the session's.
    let release = MessageType::AssociationReleaseRequest;
    assert!(cause_from(&mut bench, SMF, release, None, vec![Ie::NodeId(smf_node())]).is_accepted());
    assert_eq!(bench.node.session_count(), 1);
    assert!(cause_from(&mut bench, OTHER, release, None, vec![Ie::NodeId(fqdn("second"))]).is_accepted());
    bench.pass(Duration::ZERO);
    assert_eq!((bench.node.session_count(), bench.plane.sessions.len()), (0, 0));
}

/// An F-SEID names where reports go: never to one who is no peer, nor to many, nor to ourselves.
#[test]
fn reports_go_to_no_third_party() {
    let peers = only(&[&["127.0.0.4"], &["127.0.0.7"], &["127.0.0.9"], &["224.0.0.0/4"]]);
    for (named, reported_to) in [
        // A peer's, which nothing says may act for this one.
        ([127, 0, 0, 9], [127, 0, 0, 4]),
        ([127, 0, 0, 4], [127, 0, 0, 4]),
        // Behind NAT, or a victim's.
        ([192, 168, 77, 1], [127, 0, 0, 4]),
        ([224, 0, 0, 1], [127, 0, 0, 4]),
        (UPF.octets(), [127, 0, 0, 4]),
    ] {
        for in_modification in [false, true] {
            let mut bench = Bench::with(Config { peers: peers.clone(), ..config() });
            let cp = Ie::FSeid(FSeid { seid: 3, ipv4: Some(named.into()), ipv6: None });
            let mut request = simple_session(1, 1, [10, 0, 0, 1], vec![]);
            if !in_modification {
                request[1] = cp.clone();
            }
            let (seid, _) = bench.establish(request);
            if in_modification {
                bench.modify(seid, vec![cp]);
            }
            bench.node.downlink_data(seid, 2, bench.now);
            assert_eq!(bench.sent()[0].0.ip(), IpAddr::from(reported_to), "{named:?}");
        }
    }
}

/// A SEID means a session at the address that gave it: an SMF that names another's would have that one page, charge and drop users of its own.
#[test]
fn a_cp_f_seid_of_another_smf_is_refused_wherever_it_is_sent() {
    let at = |seid, address: [u8; 4]| Ie::FSeid(FSeid { seid, ipv4: Some(address.into()), ipv6: None });
    let both = Ie::FSeid(FSeid { seid: 3, ipv4: Some([127, 0, 0, 66].into()), ipv6: Some("::1".parse().unwrap()) });
    let named =
        vec![Ie::AlternativeSmfIpAddress(AlternativeSmfIpAddress { preferred: true, ipv4: Some([127, 0, 0, 4].into()), ipv6: None })];
    // The victim is associated before the other names its address, or only then.
    for victim_first in [true, false] {
        let mut bench = Bench::alone(config());
        let victim = |bench: &mut Bench| {
            assert!(bench.ask(MessageType::AssociationSetupRequest, None, setup_ies(SMF_STARTED)).cause().unwrap().is_accepted())
        };
        if victim_first {
            victim(&mut bench);
        }
        let setup = [setup_as(fqdn("other"), 1), named.clone()].concat();
        assert!(cause_from(&mut bench, OTHER, MessageType::AssociationSetupRequest, None, setup).is_accepted());
        if !victim_first {
            victim(&mut bench);
        }
        let establish = MessageType::SessionEstablishmentRequest;
        let threshold = urr(1, 1 << 1, vec![Ie::VolumeThreshold(Volume { total: Some(1000), ..Volume::default() })]);
        let session = |cp: &Ie| {
            [vec![Ie::NodeId(fqdn("other")), cp.clone()], simple_session(1, 9, [10, 0, 0, 9], vec![threshold.clone()])[2..].to_vec()]
                .concat()
        };
        let refused = ask_from(&mut bench, OTHER, establish, Some(0), session(&at(7, [127, 0, 0, 4]))).unwrap();
        assert_eq!((refused.cause(), find!(refused.ies, OffendingIe)), (Some(Cause::MANDATORY_IE_INCORRECT), Some(&57)));
        assert!(cause_from(&mut bench, OTHER, establish, Some(0), session(&both)).is_accepted());
        let seid = bench.node.sessions().next().unwrap().seid;
        let modify = MessageType::SessionModificationRequest;
        let moved = vec![at(7, [127, 0, 0, 4]), far_to_gnb(2, 9, None)];
        assert_eq!(cause_from(&mut bench, OTHER, modify, Some(seid), moved), Cause::MANDATORY_IE_INCORRECT);
        assert_eq!(bench.node.session(seid).unwrap().cp.seid, 3);
        // In a response it has no effect, nor has a redirection (§7.5.9.1).
        let reported =
            |bench: &mut Bench| bench.sent().into_iter().find(|(_, message)| message.kind == MessageType::SessionReportRequest).unwrap();
        let reply = |bench: &mut Bench, request: &Message, ies: Group| {
            let answer = Message { kind: request.kind.response().unwrap(), ies, ..request.clone() };
            bench.node.receive(OTHER, &answer.encode().unwrap(), bench.now, &mut bench.plane);
        };
        bench.count(seid, 1, 1000, 0);
        bench.node.poll_usage(bench.now, &mut bench.plane);
        let (to, report) = reported(&mut bench);
        assert_eq!(to, OTHER);
        reply(&mut bench, &report, vec![Ie::Cause(Cause::REQUEST_ACCEPTED), at(7, [127, 0, 0, 4])]);
        bench.node.downlink_data(seid, 2, bench.now);
        let (to, report) = reported(&mut bench);
        assert_eq!((to, report.seid), (OTHER, Some(3)));
        reply(&mut bench, &report, [vec![Ie::Cause(Cause::REDIRECTION_REQUESTED)], named.clone()].concat());
        assert_eq!(bench.sent(), []);
        // Nor does a hand-over name it, nor does one that is silent pass its reports on to it.
        let sets = vec![Ie::NodeId(fqdn("other")), Ie::SessionChangeInfo([vec![Ie::GroupId(b"all".to_vec())], named.clone()].concat())];
        assert_eq!(cause_from(&mut bench, OTHER, MessageType::SessionSetModificationRequest, None, sets), Cause::REQUEST_REJECTED);
        bench.count(seid, 1, 2000, 0);
        bench.node.poll_usage(bench.now, &mut bench.plane);
        for _ in 0..30 {
            bench.pass(SECOND);
            assert!(bench.sent().iter().all(|(to, _)| *to == OTHER));
        }
        assert_eq!(bench.node.stats().foreign, 4);
    }
}

#[test]
fn one_peer_cannot_take_all_associations_and_sessions() {
    let limits = Config { max_associations_per_peer: 3, max_sessions_per_peer: 2, ..config() };
    let mut bench = Bench::alone(limits);
    let setup = MessageType::AssociationSetupRequest;
    let causes: Vec<Cause> = (0..5).map(|n| cause_from(&mut bench, OTHER, setup, None, setup_as(fqdn(&format!("n{n}")), 1))).collect();
    assert_eq!(causes[..], [&[Cause::REQUEST_ACCEPTED; 3][..], &[Cause::NO_RESOURCES; 2]].concat());
    // Again under a name that it has is no more.
    assert!(cause_from(&mut bench, OTHER, setup, None, setup_as(fqdn("n1"), 2)).is_accepted());
    let own = |seid| Ie::FSeid(FSeid { seid, ipv4: Some([127, 0, 0, 66].into()), ipv6: None });
    let session = |node: NodeId, n: u32| {
        [vec![Ie::NodeId(node), own(n.into())], simple_session(n.into(), n, [10, 0, 0, n as u8], vec![])[2..].to_vec()].concat()
    };
    let establish = MessageType::SessionEstablishmentRequest;
    let causes: Vec<Cause> =
        (0..3).map(|n| cause_from(&mut bench, OTHER, establish, Some(0), session(fqdn(&format!("n{n}")), n + 1))).collect();
    assert_eq!(causes, [Cause::REQUEST_ACCEPTED, Cause::REQUEST_ACCEPTED, Cause::NO_RESOURCES]);
    // Others have theirs.
    bench.ask(setup, None, setup_ies(SMF_STARTED));
    bench.establish(simple_session(50, 50, [10, 0, 0, 50], vec![]));
    // What ends makes room.
    assert!(cause_from(&mut bench, OTHER, MessageType::AssociationReleaseRequest, None, vec![Ie::NodeId(fqdn("n0"))]).is_accepted());
    assert!(cause_from(&mut bench, OTHER, setup, None, setup_as(fqdn("n9"), 1)).is_accepted());
    assert!(cause_from(&mut bench, OTHER, establish, Some(0), session(fqdn("n9"), 9)).is_accepted());
}

#[test]
fn a_flood_of_messages_is_cut_and_heartbeats_and_others_are_not() {
    let mut bench = Bench::with(Config { messages_per_second: 50, ..config() });
    let delete = MessageType::SessionDeletionRequest;
    let answered = |bench: &mut Bench, count: usize| (0..count).filter(|_| ask_from(bench, SMF, delete, Some(1), vec![]).is_some()).count();
    // One was for the association.
    bench.now += SECOND;
    assert_eq!(answered(&mut bench, 500), 50);
    assert_eq!(dropped(&bench, Drop::OverRate), 450);
    assert!(ask_from(&mut bench, SMF, MessageType::HeartbeatRequest, None, vec![Ie::RecoveryTimeStamp(SMF_STARTED)]).is_some());
    assert!(ask_from(&mut bench, OTHER, MessageType::AssociationSetupRequest, None, setup_as(fqdn("other"), 1)).is_some());
    bench.now += SECOND / 10;
    assert_eq!(answered(&mut bench, 500), 5);
    // To begin anew buys nothing, and heartbeats have an end too.
    let again = ask_from(&mut bench, SMF, MessageType::AssociationSetupRequest, None, setup_ies(SMF_STARTED));
    assert_eq!(again, None);
    let beats = (0..500).filter(|_| ask_from(&mut bench, SMF, MessageType::HeartbeatRequest, None, vec![]).is_some()).count();
    assert!((15..=25).contains(&beats), "{beats}");
    // Who has no association has less.
    let third = SocketAddr::from(([127, 0, 0, 99], 8805));
    let mut bench = Bench::alone(config());
    let beats = (0..5000).filter(|_| ask_from(&mut bench, third, MessageType::HeartbeatRequest, None, vec![]).is_some()).count();
    assert_eq!(beats, 100);
}

#[test]
fn a_message_of_a_bundle_counts_as_one() {
    let mut bench = Bench::with(Config { messages_per_second: 3, ..config() });
    bench.now += SECOND;
    let mut one = Message::session(MessageType::SessionDeletionRequest, 1, 1, vec![]);
    one.follow_on = true;
    let bundle = one.encode().unwrap().repeat(5);
    bench.node.receive(SMF, &bundle, bench.now, &mut bench.plane);
    assert_eq!((bench.sent().len(), dropped(&bench, Drop::OverRate)), (3, 1));
}

#[test]
fn a_peer_that_answers_no_reports_does_not_use_up_the_places_of_others() {
    let limits = Config {
        max_outstanding: 8,
        max_outstanding_per_peer: 4,
        heartbeat_period: Some(10 * SECOND),
        on_loss: OnLoss::Keep(None),
        ..config()
    };
    let mut bench = Bench::with(limits);
    assert!(cause_from(&mut bench, OTHER, MessageType::AssociationSetupRequest, None, setup_as(fqdn("other"), 1)).is_accepted());
    let silent: Vec<Seid> = (1..=6).map(|n| bench.establish(simple_session(n.into(), n, [10, 0, 0, n as u8], vec![])).0).collect();
    for seid in silent {
        bench.node.downlink_data(seid, 2, bench.now);
    }
    assert_eq!((bench.sent().len(), dropped(&bench, Drop::Outstanding)), (4, 2));
    bench.smf = OTHER;
    let cp = FSeid { seid: 9, ipv4: Some(Ipv4Addr::new(127, 0, 0, 66)), ipv6: None };
    let request = [vec![Ie::NodeId(fqdn("other")), Ie::FSeid(cp)], simple_session(9, 9, [10, 0, 0, 9], vec![])[2..].to_vec()].concat();
    let (seid, _) = bench.establish(request);
    bench.node.downlink_data(seid, 2, bench.now);
    assert_eq!(bench.sent().len(), 1, "the other's report has its place");
    // Nor does it cost the silent one its heartbeats.
    bench.pass(10 * SECOND);
    let beats = bench.sent().into_iter().filter(|(to, message)| *to == SMF && message.kind == MessageType::HeartbeatRequest).count();
    assert_eq!(beats, 1);
}

#[test]
fn seids_and_teids_repeat_with_their_seed_and_are_unlike_those_of_another() {
    let numbers = |seed: u8| {
        let mut bench = Bench::with(Config { seed: Some([seed; 32]), ..config() });
        let mut numbers = Vec::new();
        for n in 1..=50u32 {
            let mut request = simple_session(n.into(), n, [10, 0, 0, n as u8], vec![]);
            request[2] = pdr(1, 0, vec![choose(None), ue([10, 0, 0, n as u8], false)], 1, vec![decap(0)]);
            let (seid, _) = bench.establish(request);
            let f_teid = bench.plane.sessions[&seid].pdrs[&1].pdi.f_teid.unwrap();
            numbers.push((seid, f_teid.teid));
            bench.delete(seid);
        }
        numbers
    };
    let first = numbers(1);
    assert_eq!(first, numbers(1));
    let all: Vec<(Seid, u32)> = [first.clone(), numbers(2)].concat();
    assert_eq!(all.iter().map(|(seid, _)| *seid).collect::<BTreeSet<_>>().len(), 100);
    assert_eq!(first.iter().map(|(_, teid)| *teid).collect::<BTreeSet<_>>().len(), 50, "a TEID is not soon used again");
    // The attack that worked: one SEID inverted through the scrambling gives its neighbours.
    let unscrambled: BTreeSet<u64> = first.iter().map(|(seid, _)| unscrambled(*seid)).collect();
    let gaps: Vec<u64> = unscrambled.iter().zip(unscrambled.iter().skip(1)).map(|(a, b)| b - a).collect();
    assert!(gaps.iter().all(|gap| *gap > 1 << 20), "{gaps:?}");
    // All bits are used, in both.
    let bits = |numbers: &mut dyn Iterator<Item = u64>| numbers.fold(0, |all, number| all | number);
    assert_eq!(bits(&mut first.iter().map(|(seid, _)| *seid)), u64::MAX);
    assert_eq!(bits(&mut first.iter().map(|(_, teid)| u64::from(*teid))), u32::MAX.into());
}

/// The inverse of the scrambling that SEIDs once had (xor-shift 30, multiply, twice, xor-shift 31).
fn unscrambled(mut x: u64) -> u64 {
    let undo_shift = |x: u64, shift: u32| x ^ (x >> shift) ^ (x.checked_shr(2 * shift).unwrap_or(0));
    let inverse = |odd: u64| (0..6).fold(odd, |inverse, _| inverse.wrapping_mul(2u64.wrapping_sub(odd.wrapping_mul(inverse))));
    x = undo_shift(x, 31);
    for odd in [0x94d0_49bb_1331_11eb_u64, 0xbf58_476d_1ce4_e5b9] {
        x = undo_shift(x.wrapping_mul(inverse(odd)), 30);
    }
    x
}

#[test]
fn a_flood_of_error_indications_is_a_trickle_of_reports() {
    let mut bench = Bench::new();
    let seids: Vec<Seid> = (1..=1000u32)
        .map(|n| {
            bench.now += SECOND / 1000;
            let (seid, _) = bench.establish(simple_session(n.into(), n, [10, 0, (n >> 8) as u8, n as u8], vec![]));
            bench.modify(seid, vec![far_to_gnb(2, n, None)]);
            seid
        })
        .collect();
    bench.sent();
    // Three seconds of a stranger that tries all tunnels, and an SMF that answers each report at once.
    let mut reports: Vec<u64> = Vec::new();
    for _ in 0..30 {
        bench.now += SECOND / 10;
        for teid in 1..=4000 {
            bench.node.error_indication(teid, GNB.into(), bench.now);
            for (_, report) in bench.sent() {
                reports.push(report.seid.unwrap());
                bench.answer(&report, vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
            }
        }
    }
    assert!((400..=800).contains(&reports.len()), "200 at once, and 200 a second: {}", reports.len());
    assert_eq!(bench.node.stats().error_indication_reports, reports.len() as u64);
    assert!(reports.iter().all(|seid| reports.iter().filter(|other| *other == seid).count() <= 8), "2 a second for each session");
    assert_eq!(dropped(&bench, Drop::ErrorIndicationUnknown), 30 * 3000);
    assert_eq!(dropped(&bench, Drop::ErrorIndicationOverRate), 30 * 1000 - reports.len() as u64);
    assert_eq!(bench.node.session_count(), seids.len());
    // Another GTP-U peer's tunnel of another SMF is reported all the same.
    bench.smf = OTHER;
    bench.ask(MessageType::AssociationSetupRequest, None, setup_as(fqdn("other"), 1));
    let cp = FSeid { seid: 9, ipv4: Some(Ipv4Addr::new(127, 0, 0, 66)), ipv6: None };
    let request = [vec![Ie::NodeId(fqdn("other")), Ie::FSeid(cp)], simple_session(9, 5000, [10, 9, 9, 9], vec![])[2..].to_vec()].concat();
    let (seid, _) = bench.establish(request);
    let there = pfcp::codec::OuterHeaderCreation::gtpu_ipv4(7, Ipv4Addr::new(192, 168, 1, 200));
    let to = Ie::UpdateForwardingParameters(vec![Ie::DestinationInterface(0), Ie::OuterHeaderCreation(there)]);
    bench.modify(seid, vec![Ie::UpdateFar(vec![Ie::FarId(2), Ie::ApplyAction(pfcp::codec::ApplyActionFlags::FORW), to])]);
    bench.node.error_indication(7, Ipv4Addr::new(192, 168, 1, 200).into(), bench.now);
    assert_eq!(bench.sent().len(), 1);
}

#[test]
fn a_repeated_error_indication_is_counted_and_not_reported() {
    let mut bench = Bench::new();
    let (seid, _) = bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![]));
    bench.modify(seid, vec![far_to_gnb(2, 7, None)]);
    for _ in 0..5 {
        bench.node.error_indication(7, GNB.into(), bench.now);
    }
    assert_eq!((bench.sent().len(), dropped(&bench, Drop::ErrorIndicationRepeated)), (1, 4));
}
