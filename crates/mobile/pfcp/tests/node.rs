//! Node related procedures and the transport: heartbeats, restarts, loss, retransmission, versions, what is not supported.

mod common;

use std::net::{IpAddr, SocketAddr};
use std::time::Duration;

use common::*;
use pfcp::codec::{self, AlternativeSmfIpAddress, Cause, FSeid, Ie, Message, MessageType, NodeId, UpFeatures, find};
use pfcp::config::{AllowedPeers, Config, Network, OnLoss, RequestPort};
use pfcp::rules::CommitError;
use pfcp::stats::Drop;

const SECOND: Duration = Duration::from_secs(1);

fn beating(on_loss: OnLoss) -> Config {
    Config { heartbeat_period: Some(10 * SECOND), on_loss, ..config() }
}

#[test]
fn a_heartbeat_is_answered_without_association() {
    let mut bench = Bench::alone(config());
    let answer = bench.ask(MessageType::HeartbeatRequest, None, vec![Ie::RecoveryTimeStamp(1)]);
    assert_eq!(answer.ies, [Ie::RecoveryTimeStamp(UPF_STARTED)]);
    // Even one without its mandatory element.
    let answer = bench.ask(MessageType::HeartbeatRequest, None, vec![]);
    assert_eq!(answer.kind, MessageType::HeartbeatResponse);
}

#[test]
fn our_heartbeats_go_on_while_answered() {
    let mut bench = Bench::with(beating(OnLoss::Release));
    for _ in 0..3 {
        bench.pass(10 * SECOND);
        let beat = bench.sent_one();
        assert_eq!((beat.kind, &beat.ies[..]), (MessageType::HeartbeatRequest, &[Ie::RecoveryTimeStamp(UPF_STARTED)][..]));
        bench.answer(&beat, vec![Ie::RecoveryTimeStamp(SMF_STARTED)]);
    }
    assert_eq!(bench.node.associations().count(), 1);
    assert_eq!(bench.node.stats().resent_requests, 0);
}

#[test]
fn a_silent_peer_is_lost_with_its_sessions() {
    let mut bench = Bench::with(beating(OnLoss::Release));
    bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![]));
    // T1 3 s, N1 3: sent at 10, 13, 16, given up at 19.
    bench.pass(Duration::from_millis(18_999));
    let beats = bench.sent();
    assert_eq!(beats.len(), 3);
    assert!(beats.iter().all(|beat| *beat == beats[0]), "a retransmission is the same message");
    assert_eq!(bench.node.session_count(), 1);
    bench.pass(Duration::from_millis(2));
    assert_eq!((bench.node.session_count(), bench.node.associations().count(), bench.plane.sessions.len()), (0, 0, 0));
    assert_eq!(bench.node.next_deadline(), None, "nothing is left to be done");
}

#[test]
fn a_peer_that_came_back_is_not_lost_for_the_heartbeat_before() {
    let mut bench = Bench::with(beating(OnLoss::Release));
    bench.pass(12 * SECOND);
    bench.sent();
    bench.ask(MessageType::AssociationSetupRequest, None, setup_ies(SMF_STARTED + 10));
    bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![]));
    // The heartbeat of 10 s is given up at 19 s, the new association's first goes out at 22 s.
    bench.pass(Duration::from_millis(10_500));
    assert_eq!((bench.node.session_count(), bench.node.stats().unanswered_requests), (1, 1));
    bench.pass(9 * SECOND);
    assert_eq!(bench.node.session_count(), 0);
}

#[test]
fn a_lost_peer_is_shown_as_lost_until_it_associates_again() {
    for on_loss in [OnLoss::Release, OnLoss::Keep(Some(10 * SECOND)), OnLoss::Keep(None)] {
        let mut bench = Bench::with(beating(on_loss));
        bench.pass(60 * SECOND);
        let shown = |bench: &Bench| {
            let all = bench.node.associations().chain(bench.node.lost_peers());
            all.map(|of| (of.peer, of.lost_at.is_some())).collect::<Vec<_>>()
        };
        assert_eq!(shown(&bench), [(SMF, true)], "{on_loss:?}");
        bench.sent();
        bench.ask(MessageType::AssociationSetupRequest, None, setup_ies(SMF_STARTED + 60));
        assert_eq!(shown(&bench), [(SMF, false)], "{on_loss:?}");
        // One that says goodbye is not lost.
        bench.ask(MessageType::AssociationReleaseRequest, None, vec![Ie::NodeId(smf_node())]);
        assert_eq!(shown(&bench), [], "{on_loss:?}");
    }
}

/// Each speaks for itself and vanishes.
#[test]
fn lost_peers_that_are_remembered_have_a_limit_and_those_that_are_no_longer_listed_are_forgotten() {
    let mut bench = Bench::with(beating(OnLoss::Release));
    for n in 0..400u32 {
        let node_id = Ie::NodeId(NodeId::Fqdn(format!("smf-{n}")));
        bench.ask(MessageType::AssociationSetupRequest, None, vec![node_id, Ie::RecoveryTimeStamp(SMF_STARTED)]);
        bench.pass(20 * SECOND);
        bench.sent();
    }
    let remembered: Vec<_> = bench.node.lost_peers().map(|of| of.node_id.clone()).collect();
    assert_eq!(remembered.len(), 128);
    assert!(remembered.contains(&NodeId::Fqdn("smf-398".into())) && !remembered.contains(&NodeId::Fqdn("smf-7".into())));
    bench.node.change(&Config { peers: Vec::new(), ..beating(OnLoss::Release) });
    assert_eq!(bench.node.lost_peers().count(), 0);
}

#[test]
fn sessions_of_a_lost_peer_can_be_kept_until_it_returns() {
    let mut bench = Bench::with(beating(OnLoss::Keep(None)));
    bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![]));
    bench.pass(20 * SECOND);
    bench.sent();
    assert!(bench.node.associations().next().unwrap().lost_at.is_some());
    assert_eq!(bench.node.session_count(), 1);
    let answer = bench.ask(MessageType::AssociationSetupRequest, None, setup_ies(SMF_STARTED));
    assert_eq!(find!(answer.ies, PfcpAsRspFlags), Some(&1), "sessions are retained");
    assert_eq!((bench.node.session_count(), bench.node.associations().next().unwrap().lost_at), (1, None));
    // A restarted one has nothing to keep.
    bench.ask(MessageType::AssociationSetupRequest, None, setup_ies(SMF_STARTED + 60));
    bench.pass(Duration::ZERO);
    assert_eq!(bench.node.session_count(), 0);
    assert_eq!(bench.node.resources_in_use(), 0);
}

#[test]
fn sessions_of_a_lost_peer_can_be_kept_for_a_time() {
    let mut bench = Bench::with(beating(OnLoss::Keep(Some(100 * SECOND))));
    bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![]));
    // Lost at 19 s, back at 50 s, lost again 9 s after the next heartbeat at 60 s.
    bench.pass(50 * SECOND);
    let beat = bench.sent().pop().unwrap().1;
    bench.answer(&beat, vec![Ie::RecoveryTimeStamp(SMF_STARTED)]);
    assert_eq!(bench.node.associations().next().unwrap().lost_at, None);
    bench.pass(110 * SECOND);
    assert_eq!((bench.node.session_count(), bench.node.stats().lost_associations), (1, 2), "the time begins anew");
    bench.pass(20 * SECOND);
    assert_eq!((bench.node.session_count(), bench.node.associations().count(), bench.node.resources_in_use()), (0, 0, 0));
}

/// Addresses of the SMF, of the UPF and in F-SEIDs.
#[test]
fn n4_runs_over_ipv6() {
    let [smf, other, upf] = ["2001:db8::4", "2001:db8::5", "2001:db8::7"].map(|address| address.parse().unwrap());
    let peers = vec![AllowedPeers { networks: vec![Network { address: IpAddr::V6(smf), length: 64 }], together: false }];
    let config = Config { address: IpAddr::V6(upf), heartbeat_period: Some(10 * SECOND), peers, ..config() };
    let mut bench = Bench { smf: SocketAddr::new(IpAddr::V6(smf), 8805), ..Bench::alone(config) };
    let alternative = AlternativeSmfIpAddress { preferred: false, ipv4: None, ipv6: Some(other) };
    let setup = vec![Ie::NodeId(NodeId::Ipv6(smf)), Ie::RecoveryTimeStamp(SMF_STARTED), Ie::AlternativeSmfIpAddress(alternative)];
    let answer = bench.ask(MessageType::AssociationSetupRequest, None, setup);
    assert_eq!(answer.cause(), Some(Cause::REQUEST_ACCEPTED));
    let mut session = simple_session(1, 1, [10, 0, 0, 1], vec![]);
    session[0] = Ie::NodeId(NodeId::Ipv6(smf));
    session[1] = Ie::FSeid(FSeid { seid: 1, ipv4: None, ipv6: Some(smf) });
    let (seid, answer) = bench.establish(session);
    assert_eq!(find!(answer.ies, FSeid), Some(&FSeid { seid, ipv4: None, ipv6: Some(upf) }));
    // Reports and heartbeats go there.
    bench.node.downlink_data(seid, 2, bench.now);
    let report = bench.sent();
    assert_eq!((report[0].0, report[0].1.kind, report.len()), (bench.smf, MessageType::SessionReportRequest, 1));
    bench.answer(&report[0].1, vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
    bench.pass(10 * SECOND);
    assert!(bench.sent().iter().any(|(to, message)| *to == bench.smf && message.kind == MessageType::HeartbeatRequest));
    // Where nobody answers they go to the SMF's other address.
    bench.pass(9 * SECOND);
    assert!(bench.sent().iter().any(|(to, message)| to.ip() == IpAddr::V6(other) && message.kind == MessageType::HeartbeatRequest));
    assert_eq!(bench.delete(seid).cause(), Some(Cause::REQUEST_ACCEPTED));
    let release = bench.ask(MessageType::AssociationReleaseRequest, None, vec![Ie::NodeId(NodeId::Ipv6(smf))]);
    assert_eq!(release.cause(), Some(Cause::REQUEST_ACCEPTED));
}

#[test]
fn a_setup_of_the_same_node_ends_its_sessions_unless_it_asks_to_keep_them() {
    let mut bench = Bench::new();
    bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![]));
    let keep = [setup_ies(SMF_STARTED), vec![Ie::SessionRetentionInformation(vec![])]].concat();
    bench.ask(MessageType::AssociationSetupRequest, None, keep);
    assert_eq!(bench.node.session_count(), 1);
    bench.ask(MessageType::AssociationSetupRequest, None, setup_ies(SMF_STARTED));
    bench.pass(Duration::ZERO);
    assert_eq!((bench.node.session_count(), bench.plane.sessions.len()), (0, 0));
}

#[test]
fn a_restart_shows_in_heartbeats_but_a_running_clock_does_not() {
    let mut bench = Bench::new();
    bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![]));
    let beat = |bench: &mut Bench, stamp| bench.ask(MessageType::HeartbeatRequest, None, vec![Ie::RecoveryTimeStamp(stamp)]);
    for s in 0..10 {
        beat(&mut bench, SMF_STARTED + 5 + s);
        bench.pass(5 * SECOND);
    }
    assert_eq!(bench.node.session_count(), 1);
    beat(&mut bench, SMF_STARTED + 100);
    bench.pass(SECOND);
    beat(&mut bench, SMF_STARTED + 100);
    assert_eq!(bench.node.session_count(), 1);
    bench.pass(SECOND);
    beat(&mut bench, SMF_STARTED + 100);
    assert_eq!((bench.node.session_count(), bench.node.stats().restarted_peers), (0, 1));
}

#[test]
fn associations_end_only_for_those_who_have_them() {
    let mut bench = Bench::new();
    let stranger = vec![Ie::NodeId(NodeId::Fqdn("smf.example".into()))];
    for kind in [MessageType::AssociationReleaseRequest, MessageType::AssociationUpdateRequest] {
        let answer = bench.ask(kind, None, stranger.clone());
        assert_eq!(answer.cause(), Some(Cause::NO_ESTABLISHED_ASSOCIATION));
        assert_eq!(find!(answer.ies, NodeId), Some(&NodeId::Ipv4(UPF)));
    }
    let answer = bench.ask(MessageType::AssociationUpdateRequest, None, vec![Ie::NodeId(smf_node())]);
    assert_eq!(answer.cause(), Some(Cause::REQUEST_ACCEPTED));
}

#[test]
fn a_setup_without_its_mandatory_elements_says_which() {
    let mut bench = Bench::alone(config());
    for (ies, cause, offending) in [
        (vec![], Cause::MANDATORY_IE_MISSING, 60),
        (vec![Ie::NodeId(smf_node())], Cause::MANDATORY_IE_MISSING, 96),
        (vec![Ie::Unknown { ie_type: 60, octets: vec![9] }], Cause::MANDATORY_IE_INCORRECT, 60),
        (vec![Ie::NodeId(smf_node()), Ie::Unknown { ie_type: 96, octets: vec![9] }], Cause::INVALID_LENGTH, 96),
    ] {
        let answer = bench.ask(MessageType::AssociationSetupRequest, None, ies);
        assert_eq!((answer.cause(), find!(answer.ies, OffendingIe)), (Some(cause), Some(&offending)));
        assert!(find!(answer.ies, NodeId).is_some() && find!(answer.ies, RecoveryTimeStamp).is_some());
    }
    assert_eq!(bench.node.associations().count(), 0);
}

#[test]
fn a_retransmitted_request_is_not_executed_twice() {
    let mut bench = Bench::new();
    let request = Message::session(MessageType::SessionEstablishmentRequest, 0, 99, simple_session(1, 1, [10, 0, 0, 1], vec![]));
    let octets = request.encode().unwrap();
    let first = bench.ask_octets(&octets);
    assert_eq!(bench.ask_octets(&octets), first);
    assert_eq!((bench.node.session_count(), bench.plane.commits, bench.node.stats().repeated_answers), (1, 1, 1));
    // Another request under the same number is another request.
    let other = Message { ies: simple_session(2, 2, [10, 0, 0, 2], vec![]), ..request };
    bench.ask_octets(&other.encode().unwrap());
    assert_eq!(bench.node.session_count(), 2);
}

#[test]
fn what_is_not_supported_is_said() {
    let mut bench = Bench::new();
    for kind in [MessageType::PfdManagementRequest, MessageType::NodeReportRequest, MessageType::SessionReportRequest] {
        let answer = bench.ask(kind, None, vec![]);
        assert_eq!(answer.cause(), Some(Cause::SERVICE_NOT_SUPPORTED), "{kind:?}");
        assert_eq!(find!(answer.ies, NodeId).is_some(), kind != MessageType::SessionReportRequest);
    }
}

#[test]
fn another_version_is_told_ours() {
    let mut bench = Bench::new();
    let octets = [0x40, 1, 0, 4, 0, 0, 9, 0];
    bench.node.receive(SMF, &octets, bench.now, &mut bench.plane);
    assert_eq!(bench.sent_one(), Message::node(MessageType::VersionNotSupportedResponse, 9, vec![]));
    // But not as an answer to the same.
    bench.node.receive(SMF, &[0x40, 11, 0, 4, 0, 0, 9, 0], bench.now, &mut bench.plane);
    assert!(bench.sent().is_empty());
    assert_eq!(bench.node.stats().dropped[&Drop::Version], 2);
}

#[test]
fn octets_that_are_no_message_are_counted_by_reason() {
    let mut bench = Bench::new();
    let good = Message::node(MessageType::HeartbeatRequest, 1, vec![]).encode().unwrap();
    let unknown = Message::node(MessageType::Other(200), 1, vec![]).encode().unwrap();
    let response = Message::node(MessageType::HeartbeatResponse, 1, vec![]).encode().unwrap();
    for (octets, reason) in [
        (vec![], Drop::TooShort),
        (good[..5].to_vec(), Drop::TooShort),
        ([&good[..], &[1]].concat(), Drop::Length),
        (unknown, Drop::UnknownType),
        (response, Drop::UnmatchedResponse),
    ] {
        let before = bench.node.stats().dropped.get(&reason).copied().unwrap_or(0);
        bench.node.receive(SMF, &octets, bench.now, &mut bench.plane);
        assert_eq!(bench.node.stats().dropped[&reason], before + 1, "{reason:?}");
        assert!(bench.sent().is_empty());
    }
}

#[test]
fn bundled_messages_are_each_answered() {
    let mut bench = Bench::new();
    let mut first = Message::node(MessageType::HeartbeatRequest, 1, vec![Ie::RecoveryTimeStamp(SMF_STARTED)]);
    let second = Message { sequence: 2, ..first.clone() };
    first.follow_on = true;
    let both = [first.encode().unwrap(), second.encode().unwrap()].concat();
    bench.node.receive(SMF, &both, bench.now, &mut bench.plane);
    assert_eq!(bench.sent().iter().map(|(_, m)| m.sequence).collect::<Vec<_>>(), [1, 2]);
}

#[test]
fn an_association_that_we_want_is_asked_for_until_it_is_there() {
    let mut bench = Bench::alone(beating(OnLoss::Release));
    bench.node.associate(SMF, bench.now);
    let setup = bench.sent_one();
    assert!(find!(setup.ies, UpFunctionFeatures).unwrap().has(UpFeatures::FTUP));
    bench.pass(19 * SECOND);
    // Given up after 9 s and begun again 10 s later.
    let again = bench.sent();
    assert_eq!(again.len(), 3, "{again:?}");
    let setup = &again[2].1;
    bench.answer(setup, vec![Ie::NodeId(smf_node()), Ie::Cause(Cause::REQUEST_ACCEPTED), Ie::RecoveryTimeStamp(SMF_STARTED)]);
    assert_eq!(bench.node.associations().count(), 1);
    bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![]));
    // Lost, and asked for anew.
    bench.pass(60 * SECOND);
    assert_eq!(bench.node.session_count(), 0);
    assert_eq!(bench.sent().last().unwrap().1.kind, MessageType::AssociationSetupRequest);
}

#[test]
fn a_peers_messages_are_counted_from_its_first_on() {
    use MessageType::{AssociationSetupRequest, AssociationSetupResponse, HeartbeatRequest, HeartbeatResponse};
    let mut theirs = Bench::new();
    theirs.ask(HeartbeatRequest, None, vec![Ie::RecoveryTimeStamp(SMF_STARTED)]);
    let mut ours = Bench::alone(config());
    ours.node.associate(SMF, ours.now);
    let setup = ours.sent_one();
    ours.answer(&setup, vec![Ie::NodeId(smf_node()), Ie::Cause(Cause::REQUEST_ACCEPTED), Ie::RecoveryTimeStamp(SMF_STARTED)]);
    let of = |bench: &Bench| {
        let counts = bench.node.messages_of(&smf_node()).unwrap().clone();
        [counts.received, counts.sent].map(|kinds| kinds.into_iter().collect::<Vec<_>>())
    };
    assert_eq!(
        of(&theirs),
        [[(HeartbeatRequest, 1), (AssociationSetupRequest, 1)], [(HeartbeatResponse, 1), (AssociationSetupResponse, 1)]]
    );
    assert_eq!(of(&ours), [[(AssociationSetupResponse, 1)], [(AssociationSetupRequest, 1)]]);
}

#[test]
fn requests_go_where_the_configuration_says() {
    let source = "127.0.0.4:40000".parse().unwrap();
    for (request_port, port) in [(RequestPort::Standard, codec::PORT), (RequestPort::Source, 40000)] {
        let mut bench = Bench::alone(Config { request_port, ..config() });
        bench.smf = source;
        bench.ask(MessageType::AssociationSetupRequest, None, setup_ies(SMF_STARTED));
        let (seid, _) = bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![]));
        bench.node.downlink_data(seid, 2, bench.now);
        assert_eq!(bench.sent()[0].0.port(), port);
    }
}

#[test]
fn shutting_down_ends_all_and_takes_nothing_new() {
    let mut bench = Bench::new();
    bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![]));
    bench.node.release_all(bench.now);
    let farewell = bench.sent_one();
    assert_eq!((farewell.kind, find!(farewell.ies, PfcpAssociationReleaseRequest)), (MessageType::AssociationUpdateRequest, Some(&1)));
    bench.pass(Duration::ZERO);
    assert_eq!((bench.plane.sessions.len(), bench.node.resources_in_use()), (0, 0));
    let answer = bench.ask(MessageType::SessionEstablishmentRequest, Some(0), simple_session(1, 1, [10, 0, 0, 1], vec![]));
    assert_eq!(answer.cause(), Some(Cause::REQUEST_REJECTED));
}

#[test]
fn a_user_plane_that_does_not_let_go_is_counted() {
    let mut bench = Bench::new();
    let (seid, _) = bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![]));
    bench.plane.failures.push(CommitError::System("busy".into()));
    assert_eq!(bench.delete(seid).cause(), Some(Cause::SYSTEM_FAILURE));
    assert_eq!(bench.node.session_count(), 1, "a deletion that failed can be asked for again");
    bench.plane.failures.push(CommitError::System("busy".into()));
    bench.ask(MessageType::AssociationReleaseRequest, None, vec![Ie::NodeId(smf_node())]);
    bench.pass(Duration::ZERO);
    assert_eq!((bench.node.session_count(), bench.node.stats().commit_failures, bench.plane.sessions.len()), (0, 1, 1));
    // It is told again.
    bench.node.poll_usage(bench.now, &mut bench.plane);
    assert_eq!(bench.plane.sessions.len(), 0);
}

#[test]
fn limits_of_associations_and_sessions() {
    let mut bench = Bench::with(Config { max_associations: 1, max_sessions: 1, ..config() });
    let other = vec![Ie::NodeId(NodeId::Fqdn("other".into())), Ie::RecoveryTimeStamp(1)];
    assert_eq!(bench.ask(MessageType::AssociationSetupRequest, None, other).cause(), Some(Cause::NO_RESOURCES));
    bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![]));
    let second = bench.ask(MessageType::SessionEstablishmentRequest, Some(0), simple_session(2, 2, [10, 0, 0, 2], vec![]));
    assert_eq!(second.cause(), Some(Cause::NO_RESOURCES));
}

#[test]
fn a_peer_that_stays_lost_is_asked_for_an_association_by_one_request_at_a_time() {
    let config = Config { heartbeat_period: Some(Duration::from_secs(10)), on_loss: OnLoss::Keep(None), ..config() };
    let mut bench = Bench::with(config);
    bench.node.associate(SMF, bench.now);
    bench.pass(Duration::from_secs(3600));
    bench.sent();
    bench.pass(Duration::from_secs(100));
    let setups = bench.sent().iter().filter(|(_, message)| message.kind == MessageType::AssociationSetupRequest).count();
    // Each three times in nine seconds, and ten seconds without.
    assert!((6..=21).contains(&setups), "{setups}");
}

#[test]
fn our_setup_is_not_sent_again_once_the_peer_has_set_up_its_own() {
    let mut bench = Bench::alone(config());
    bench.node.associate(SMF, bench.now);
    assert_eq!(bench.sent_one().kind, MessageType::AssociationSetupRequest);
    bench.ask(MessageType::AssociationSetupRequest, None, setup_ies(SMF_STARTED));
    bench.pass(Duration::from_secs(60));
    let again = bench.sent().into_iter().filter(|(_, message)| message.kind == MessageType::AssociationSetupRequest).count();
    assert_eq!(again, 0);
}
