//! Sets of sessions: deleted at once, or handed over to another CP function of the SMF set.

mod common;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use common::*;
use pfcp::codec::{
    AlternativeSmfIpAddress, Cause, CsidNode, FSeid, FqCsid, Group, Ie, Message, MessageType, NodeId, PeerAddress, Volume, find, number,
};
use pfcp::config::{AllowedPeers, Config, Network};
use pfcp::node::{Read, Restoring, Saved};
use pfcp::rules::Seid;

const SMF_ADDRESS: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 4);
/// Another SMF of the set, and one that N4 knows nothing of.
const OTHER: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 5);
const STRANGER: Ipv4Addr = Ipv4Addr::new(192, 0, 2, 1);
const VOLTH: u32 = 1 << 1;

fn csid(csids: &[u16]) -> Ie {
    Ie::FqCsid(FqCsid { node: CsidNode::Ipv4(SMF_ADDRESS), csids: csids.to_vec(), node_type: None })
}

fn group(id: &str) -> Ie {
    Ie::GroupId(id.into())
}

/// A session whose usage is reported after 1000 bytes.
fn session(n: u32, sets: Group) -> Group {
    let threshold = vec![Ie::VolumeThreshold(Volume { total: Some(1000), uplink: None, downlink: None })];
    simple_session(n.into(), n, [10, 45, (n >> 8) as u8, n as u8], [sets, vec![urr(1, VOLTH, threshold)]].concat())
}

fn bench() -> Bench {
    let peers = vec![AllowedPeers { networks: vec![Network { address: SMF_ADDRESS.into(), length: 8 }], together: false }];
    Bench::with(Config { peers, ..config() })
}

fn deletion(bench: &mut Bench, ies: Group) -> Message {
    bench.ask(MessageType::SessionSetDeletionRequest, None, [vec![Ie::NodeId(smf_node())], ies].concat())
}

fn alternative(address: Ipv4Addr) -> Ie {
    Ie::AlternativeSmfIpAddress(AlternativeSmfIpAddress { preferred: false, ipv4: Some(address), ipv6: None })
}

fn hand_over(bench: &mut Bench, set: Group, to: Ipv4Addr) -> Message {
    let info = Ie::SessionChangeInfo([set, vec![alternative(to)]].concat());
    bench.ask(MessageType::SessionSetModificationRequest, None, vec![Ie::NodeId(smf_node()), info])
}

/// Where each session's next usage report goes.
fn reporters(bench: &mut Bench, seids: &[Seid], bytes: &mut u64) -> Vec<IpAddr> {
    *bytes += 1000;
    let each = seids.iter().map(|seid| {
        bench.count(*seid, 1, *bytes, 0);
        bench.node.poll_usage(bench.now, &mut bench.plane);
        let mut sent = bench.sent();
        assert_eq!(sent.len(), 1, "{sent:?}");
        let (to, report) = sent.remove(0);
        let answer = Message { kind: MessageType::SessionReportResponse, ies: vec![Ie::Cause(Cause::REQUEST_ACCEPTED)], ..report };
        bench.node.receive(to, &answer.encode().unwrap(), bench.now, &mut bench.plane);
        to.ip()
    });
    each.collect()
}

#[test]
fn a_set_that_the_cp_function_has_lost_ends_and_no_other_session() {
    let mut bench = bench();
    let seids: Vec<Seid> = (1..=300).map(|n| bench.establish(session(n, vec![csid(&[(n % 3) as u16])])).0).collect();
    let (alone, _) = bench.establish(session(400, vec![]));
    // Another CP function gives its sessions the same numbers.
    let other = NodeId::Ipv4(OTHER);
    let first = std::mem::replace(&mut bench.smf, SocketAddr::new(OTHER.into(), 8805));
    bench.ask(MessageType::AssociationSetupRequest, None, vec![Ie::NodeId(other.clone()), Ie::RecoveryTimeStamp(SMF_STARTED)]);
    let mut ies = session(500, vec![csid(&[1])]);
    ies[0] = Ie::NodeId(other);
    ies[1] = Ie::FSeid(FSeid { seid: 500, ipv4: Some(OTHER), ipv6: None });
    let (others, _) = bench.establish(ies);
    bench.smf = first;
    for seid in &seids {
        bench.count(*seid, 1, 500, 0);
    }
    let answer = deletion(&mut bench, vec![csid(&[1, 7]), csid(&[2])]);
    assert_eq!(answer.ies, [Ie::NodeId(NodeId::Ipv4(UPF)), Ie::Cause(Cause::REQUEST_ACCEPTED)]);
    // For N4 at once, in the user plane one after the other.
    assert_eq!((bench.node.session_count(), bench.node.sessions_ending(), bench.node.sessions().count()), (102, 200, 102));
    assert_eq!(bench.modify(seids[0], vec![]).cause(), Some(Cause::SESSION_CONTEXT_NOT_FOUND));
    assert_eq!(bench.delete(seids[1]).cause(), Some(Cause::SESSION_CONTEXT_NOT_FOUND));
    bench.pass(std::time::Duration::from_millis(1));
    assert_eq!((bench.plane.sessions.len(), bench.node.sessions_ending(), bench.sent()), (102, 0, vec![]), "nobody wants their usage");
    assert_eq!(bench.node.stats().lost_usage_reports, 200);
    for seid in [seids[2], alone] {
        assert_eq!(bench.modify(seid, vec![]).cause(), Some(Cause::REQUEST_ACCEPTED));
    }
    assert!(bench.node.session(others).is_some());
    // A modification may put a session in another set, and takes it out of that before.
    bench.modify(alone, vec![csid(&[9])]);
    bench.modify(seids[2], vec![csid(&[9])]);
    assert_eq!(deletion(&mut bench, vec![csid(&[0])]).cause(), Some(Cause::REQUEST_ACCEPTED));
    assert_eq!(bench.node.session_count(), 3);
    // The association ends while some wait.
    deletion(&mut bench, vec![csid(&[9])]);
    assert_eq!((bench.node.session_count(), bench.node.sessions_ending()), (1, 101));
    bench.ask(MessageType::AssociationReleaseRequest, None, vec![Ie::NodeId(smf_node())]);
    bench.pass(std::time::Duration::from_millis(1));
    assert_eq!((bench.node.session_count(), bench.node.sessions_ending(), bench.plane.sessions.len()), (1, 0, 1));
    assert_eq!(bench.node.resources_in_use(), 1);
}

#[test]
fn reports_of_a_set_that_was_handed_over_go_to_the_cp_function_that_took_it() {
    let mut bench = bench();
    let sets = [vec![csid(&[1])], vec![group("a")], vec![], vec![csid(&[2]), group("b")]];
    let seids: Vec<Seid> = (1..).zip(sets).map(|(n, sets)| bench.establish(session(n, sets)).0).collect();
    let (old, new) = (IpAddr::V4(SMF_ADDRESS), IpAddr::V4(OTHER));
    let mut bytes = 0;
    assert_eq!(reporters(&mut bench, &seids, &mut bytes), [old; 4]);
    let answer = hand_over(&mut bench, vec![csid(&[1]), group("b")], OTHER);
    assert_eq!(answer.ies, [Ie::NodeId(NodeId::Ipv4(UPF)), Ie::Cause(Cause::REQUEST_ACCEPTED)]);
    assert_eq!(reporters(&mut bench, &seids, &mut bytes), [new, old, old, new]);
    // By the address of the one that is gone, which all have.
    let cp = Ie::CpIpAddress(PeerAddress { ipv4: Some(SMF_ADDRESS), ipv6: None });
    assert_eq!(hand_over(&mut bench, vec![cp], OTHER).cause(), Some(Cause::REQUEST_ACCEPTED));
    assert_eq!(reporters(&mut bench, &seids, &mut bytes), [new; 4]);
    // The new one speaks for them, and what it says of its address later counts.
    let first = std::mem::replace(&mut bench.smf, SocketAddr::new(new, 8805));
    bench.now += std::time::Duration::from_secs(1);
    let f_seid = |address| Ie::FSeid(FSeid { seid: 77, ipv4: Some(address), ipv6: None });
    assert_eq!(bench.modify(seids[1], vec![f_seid(SMF_ADDRESS)]).cause(), Some(Cause::REQUEST_ACCEPTED));
    bench.smf = first;
    assert_eq!(reporters(&mut bench, &seids, &mut bytes), [new, old, new, new]);
}

#[test]
fn a_hand_over_and_the_end_of_a_set_survive_a_crash() {
    let config = Config { records: Some(std::time::Duration::from_secs(1)), ..config() };
    let mut bench = Bench::with(config.clone());
    let seids: Vec<Seid> = (1..=4).map(|n| bench.establish(session(n, vec![csid(&[n as u16])])).0).collect();
    hand_over(&mut bench, vec![csid(&[1])], OTHER);
    let mut records: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
    bench.count(seids[2], 1, 500, 0);
    bench.node.checkpoint_all(bench.now, &mut bench.plane);
    assert_eq!(deletion(&mut bench, vec![csid(&[3])]).cause(), Some(Cause::REQUEST_ACCEPTED));
    for change in bench.node.take_changes() {
        match change.value {
            Some(value) => drop(records.insert(change.key, value)),
            None => drop(records.remove(&change.key)),
        }
    }
    let saved = Saved::read(records.get(&Saved::key()).map(Vec::as_slice)).unwrap();
    bench.plane = Recorder::default();
    let mut restoring = Restoring::begin(config, &saved, bench.now).unwrap();
    records.iter().for_each(|(key, value)| restoring.record(Read::new(key, value), &mut bench.plane));
    let (node, restored) = restoring.finish(&mut bench.plane);
    bench.node = node;
    assert_eq!((restored.sessions, restored.damaged, bench.node.session_count()), (3, 0, 3));
    assert_eq!(reporters(&mut bench, &[seids[0], seids[1]], &mut 0), [IpAddr::V4(OTHER), IpAddr::V4(SMF_ADDRESS)]);
    deletion(&mut bench, vec![csid(&[2])]);
    assert_eq!((bench.node.session_count(), bench.node.sessions_ending()), (2, 1));
}

#[test]
fn what_names_no_set_or_no_cp_function_is_refused_and_changes_nothing() {
    let mut bench = bench();
    let (seid, _) = bench.establish(session(1, vec![csid(&[1]), group("a")]));
    let refusal = |answer: &Message| {
        (answer.cause().unwrap(), answer.ies.iter().find_map(|ie| if let Ie::OffendingIe(ie) = ie { Some(*ie) } else { None }))
    };
    assert_eq!(refusal(&deletion(&mut bench, vec![])), (Cause::MANDATORY_IE_MISSING, Some(number::FqCsid)));
    let cut = Ie::Unknown { ie_type: number::FqCsid, octets: vec![0x01, 127, 0, 0, 4, 0] };
    assert_eq!(refusal(&deletion(&mut bench, vec![cut])), (Cause::INVALID_LENGTH, Some(number::FqCsid)));
    let kind = Ie::Unknown { ie_type: number::FqCsid, octets: vec![0x31, 127, 0, 0, 4, 0, 1] };
    assert_eq!(refusal(&deletion(&mut bench, vec![kind])), (Cause::MANDATORY_IE_INCORRECT, Some(number::FqCsid)));
    let strangers = bench.ask(MessageType::SessionSetDeletionRequest, None, vec![Ie::NodeId(NodeId::Ipv4(STRANGER)), csid(&[1])]);
    assert_eq!(refusal(&strangers).0, Cause::NO_ESTABLISHED_ASSOCIATION);
    let modification = |bench: &mut Bench, ies: Group| {
        refusal(&bench.ask(MessageType::SessionSetModificationRequest, None, [vec![Ie::NodeId(smf_node())], ies].concat()))
    };
    assert_eq!(modification(&mut bench, vec![]), (Cause::MANDATORY_IE_MISSING, Some(number::SessionChangeInfo)));
    let without_address = Ie::SessionChangeInfo(vec![csid(&[1])]);
    assert_eq!(modification(&mut bench, vec![without_address]), (Cause::MANDATORY_IE_MISSING, Some(number::AlternativeSmfIpAddress)));
    let without_set = Ie::SessionChangeInfo(vec![alternative(OTHER)]);
    let good = Ie::SessionChangeInfo(vec![csid(&[1]), alternative(OTHER)]);
    assert_eq!(modification(&mut bench, vec![good, without_set]), (Cause::CONDITIONAL_IE_MISSING, Some(number::FqCsid)));
    // Reports would go to whom a peer names.
    assert_eq!(
        refusal(&hand_over(&mut bench, vec![csid(&[1])], STRANGER)),
        (Cause::REQUEST_REJECTED, Some(number::AlternativeSmfIpAddress))
    );
    let many = (0..18).map(|n| Ie::SessionChangeInfo(vec![csid(&[n]), alternative(Ipv4Addr::new(127, 0, 1, n as u8))])).collect();
    assert_eq!(modification(&mut bench, many), (Cause::NO_RESOURCES, Some(number::AlternativeSmfIpAddress)));
    assert_eq!(reporters(&mut bench, &[seid], &mut 0), [IpAddr::V4(SMF_ADDRESS)]);
    // No session is in more sets than there is reason for.
    let many = (0..2).map(|_| csid(&(0..10).collect::<Vec<u16>>())).collect();
    assert_eq!(bench.modify(seid, many).cause(), Some(Cause::NO_RESOURCES));
    assert_eq!(bench.modify(seid, vec![Ie::GroupId(vec![1; 65])]).cause(), Some(Cause::NO_RESOURCES));
}

const PREFERRED: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 77);

/// A node whose SMF is one of a set of three, with sessions of the first one.
fn set_of_three(heartbeats: bool) -> (Bench, Vec<Seid>) {
    let peers = vec![AllowedPeers { networks: vec![Network { address: SMF_ADDRESS.into(), length: 8 }], together: false }];
    let heartbeat_period = heartbeats.then_some(Duration::from_secs(60));
    let mut bench = Bench::alone(Config { peers, heartbeat_period, ..config() });
    let preferred = AlternativeSmfIpAddress { preferred: true, ipv4: Some(PREFERRED), ipv6: None };
    // One that the operator does not allow is not asked.
    let others = vec![alternative(Ipv4Addr::new(9, 9, 9, 9)), alternative(OTHER), Ie::AlternativeSmfIpAddress(preferred)];
    bench.ask(MessageType::AssociationSetupRequest, None, [setup_ies(SMF_STARTED), others].concat());
    let seids = (1..=3).map(|n| bench.establish(session(n, vec![])).0).collect();
    (bench, seids)
}

/// Usage reports that a session's next threshold makes: where each copy goes until there is no more of it.
fn copies(bench: &mut Bench, seid: Seid, bytes: u64) -> (Vec<IpAddr>, Message) {
    bench.count(seid, 1, bytes, 0);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    let mut all = bench.sent();
    for _ in 0..30 {
        bench.pass(Duration::from_secs(1));
        all.extend(bench.sent());
    }
    let reports: Vec<_> = all.into_iter().filter(|(_, message)| message.kind == MessageType::SessionReportRequest).collect();
    for (to, message) in &reports {
        // Under its number; a SEID means nothing at another address.
        assert!((message.sequence, message.kind) == (reports[0].1.sequence, reports[0].1.kind), "{reports:?}");
        let own = *to == reports[0].0;
        assert_eq!((message.seid == Some(0), find!(message.ies, FSeid).is_some()), (!own, !own), "{message:?}");
    }
    let mut to: Vec<IpAddr> = reports.iter().map(|(to, _)| to.ip()).collect();
    to.dedup();
    (to, reports[0].1.clone())
}

/// A report of the first session for an SMF that has not given its SEID.
fn for_another(report: &Message) -> Message {
    let old = FSeid { seid: 1, ipv4: Some(SMF_ADDRESS), ipv6: None };
    Message { seid: Some(0), ies: [report.ies.clone(), vec![Ie::FSeid(old)]].concat(), ..report.clone() }
}

fn respond(bench: &mut Bench, from: Ipv4Addr, report: &Message, ies: Group) {
    let answer = Message { kind: MessageType::SessionReportResponse, ies, ..report.clone() };
    bench.node.receive(SocketAddr::new(from.into(), 8805), &answer.encode().unwrap(), bench.now, &mut bench.plane);
}

/// §5.22: the CP function named others of its set with the association.
#[test]
fn reports_go_to_another_smf_of_the_set_while_the_one_that_has_the_session_does_not_answer() {
    let (mut bench, seids) = set_of_three(false);
    let accepted = || Ie::Cause(Cause::REQUEST_ACCEPTED);
    // Nobody answers: preferred ones first, then others, and it is kept.
    let (to, late) = copies(&mut bench, seids[0], 1000);
    assert_eq!(to, [SMF_ADDRESS, PREFERRED, OTHER].map(IpAddr::from));
    assert_eq!((bench.node.stats().lost_usage_reports, bench.node.final_reports_kept()), (0, 1));
    respond(&mut bench, OTHER, &late, vec![accepted()]);
    bench.node.receive(SMF, &[], bench.now, &mut bench.plane);
    // One of them is heard: it is sent again to whom the session is with.
    bench.node.poll_usage(bench.now, &mut bench.plane);
    let again = bench.sent();
    assert_eq!((again.len(), again[0].0.ip(), &again[0].1.ies), (1, IpAddr::from(SMF_ADDRESS), &late.ies));
    respond(&mut bench, SMF_ADDRESS, &again[0].1, vec![accepted()]);
    assert_eq!((bench.node.stats().lost_usage_reports, bench.node.final_reports_kept()), (0, 0));
    // The preferred one answers, and takes the session over with another F-SEID.
    let mut bytes = 2000;
    bench.count(seids[0], 1, bytes, 0);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    let first = bench.sent_one();
    bench.pass(Duration::from_secs(9));
    let all = bench.sent();
    let (to, report) = all.last().unwrap();
    assert_eq!((to.ip(), report), (IpAddr::from(PREFERRED), &for_another(&first)));
    let cp = FSeid { seid: 0xbeef, ipv4: Some(PREFERRED), ipv6: None };
    respond(&mut bench, PREFERRED, &first, vec![accepted(), Ie::FSeid(cp)]);
    assert_eq!(bench.node.session(seids[0]).unwrap().cp, cp);
    // The other sessions' reports go there at once, as theirs.
    assert_eq!(reporters(&mut bench, &seids, &mut bytes), [IpAddr::from(PREFERRED); 3]);
    bench.count(seids[0], 1, 9000, 0);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    let report = bench.sent_one();
    assert_eq!(report.seid, Some(0xbeef));
    respond(&mut bench, PREFERRED, &report, vec![accepted()]);
    // The first one is heard again: what it has not given away is reported to it.
    bytes = 20_000;
    bench.ask(MessageType::HeartbeatRequest, None, vec![Ie::RecoveryTimeStamp(SMF_STARTED)]);
    assert_eq!(reporters(&mut bench, &seids, &mut bytes), [PREFERRED, SMF_ADDRESS, SMF_ADDRESS].map(IpAddr::from));
}

#[test]
fn a_report_goes_where_the_smf_that_was_asked_sends_it() {
    let (mut bench, seids) = set_of_three(false);
    bench.count(seids[0], 1, 1000, 0);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    let report = bench.sent_one();
    let redirected = |to| vec![Ie::Cause(Cause::REDIRECTION_REQUESTED), alternative(to)];
    respond(&mut bench, SMF_ADDRESS, &report, redirected(OTHER));
    assert_eq!(bench.sent(), [(SocketAddr::new(OTHER.into(), 8805), for_another(&report))]);
    // Not to one that the operator does not allow, nor to itself.
    respond(&mut bench, OTHER, &report, redirected(OTHER));
    assert_eq!(bench.sent(), []);
    bench.count(seids[1], 1, 1000, 0);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    let report = bench.sent_one();
    respond(&mut bench, SMF_ADDRESS, &report, redirected(Ipv4Addr::new(9, 9, 9, 9)));
    assert_eq!((bench.sent(), bench.node.stats().failovers), (vec![], 1));
}

/// TS 23.527 §4.6: sessions of a set outlive an SMF of it.
#[test]
fn a_peer_is_lost_when_no_smf_of_its_set_answers_heartbeats() {
    let (mut bench, _) = set_of_three(true);
    let mut to = Vec::new();
    let mut heartbeats = |bench: &mut Bench, answers: Option<Ipv4Addr>| {
        for _ in 0..120 {
            bench.pass(Duration::from_secs(1));
            for (peer, message) in bench.sent().into_iter().filter(|(_, message)| message.kind == MessageType::HeartbeatRequest) {
                to.push(peer.ip());
                if answers.is_some_and(|answers| peer.ip() == answers) {
                    // An SMF of the set has a time stamp of its own.
                    let answer =
                        Message { kind: MessageType::HeartbeatResponse, ies: vec![Ie::RecoveryTimeStamp(SMF_STARTED + 9)], ..message };
                    bench.node.receive(peer, &answer.encode().unwrap(), bench.now, &mut bench.plane);
                }
            }
        }
        to.dedup();
        std::mem::take(&mut to)
    };
    assert_eq!(heartbeats(&mut bench, Some(OTHER)), [SMF_ADDRESS, PREFERRED, OTHER].map(IpAddr::from));
    assert_eq!((bench.node.session_count(), bench.node.associations().count()), (3, 1));
    heartbeats(&mut bench, None);
    assert_eq!((bench.node.session_count(), bench.node.stats().lost_associations), (0, 1));
}

#[test]
fn two_smfs_that_send_a_report_to_each_other_do_not_do_so_for_ever() {
    let (mut bench, seids) = set_of_three(false);
    bench.count(seids[0], 1, 1000, 0);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    let report = bench.sent_one();
    let mut asked = SMF_ADDRESS;
    let mut moves = 0;
    loop {
        let other = if asked == SMF_ADDRESS { OTHER } else { SMF_ADDRESS };
        respond(&mut bench, asked, &report, vec![Ie::Cause(Cause::REDIRECTION_REQUESTED), alternative(other)]);
        let sent = bench.sent();
        let Some((to, message)) = sent.first() else { break };
        assert_eq!(to.ip(), IpAddr::from(other));
        // Whoever gave the SEID is asked by it.
        assert_eq!(*message, if other == SMF_ADDRESS { report.clone() } else { for_another(&report) });
        asked = other;
        moves += 1;
        assert!(moves < 100, "no end");
    }
    assert_eq!((moves, bench.node.stats().lost_usage_reports), (16, 1));
}

#[test]
fn a_session_that_another_smf_of_the_set_does_not_know_goes_on() {
    let (mut bench, seids) = set_of_three(false);
    bench.count(seids[0], 1, 1000, 0);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    let report = bench.sent_one();
    bench.pass(Duration::from_secs(9));
    assert_eq!(bench.sent().last().unwrap().0.ip(), IpAddr::from(PREFERRED));
    respond(&mut bench, PREFERRED, &report, vec![Ie::Cause(Cause::SESSION_CONTEXT_NOT_FOUND)]);
    assert!(bench.node.session(seids[0]).is_some());
    // Its own may know it: its usage is told when that is heard, and not to the other one again.
    let speak = |bench: &mut Bench, from: Ipv4Addr| {
        let beat = Message::node(MessageType::HeartbeatRequest, 4000, vec![]);
        bench.node.receive(SocketAddr::new(from.into(), 8805), &beat.encode().unwrap(), bench.now, &mut bench.plane);
        bench.node.poll_usage(bench.now, &mut bench.plane);
        let sent = bench.sent().into_iter();
        sent.filter(|(_, message)| message.kind == MessageType::SessionReportRequest).collect::<Vec<_>>()
    };
    assert_eq!(speak(&mut bench, PREFERRED), []);
    assert_eq!((bench.node.stats().lost_usage_reports, bench.node.final_reports_kept()), (0, 1));
    let sent = speak(&mut bench, SMF_ADDRESS);
    let [(to, again)] = &sent[..] else { panic!("{sent:?}") };
    assert_eq!((to.ip(), again.seid, &again.ies), (IpAddr::from(SMF_ADDRESS), Some(1), &report.ies));
    respond(&mut bench, SMF_ADDRESS, again, vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
    assert_eq!((bench.node.stats().lost_usage_reports, bench.node.final_reports_kept(), bench.node.final_reports_pending()), (0, 0, 0));
}

/// Reports among what is sent after `from` has spoken.
fn reports_after(bench: &mut Bench, from: Ipv4Addr) -> Vec<(IpAddr, Message)> {
    bench.sequence += 1;
    let beat = Message::node(MessageType::HeartbeatRequest, bench.sequence, vec![]);
    bench.node.receive(SocketAddr::new(from.into(), 8805), &beat.encode().unwrap(), bench.now, &mut bench.plane);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    let reports = bench.sent().into_iter().filter(|(_, message)| message.kind == MessageType::SessionReportRequest);
    reports.map(|(to, message)| (to.ip(), message)).collect()
}

fn alternative_preferred() -> Ie {
    Ie::AlternativeSmfIpAddress(AlternativeSmfIpAddress { preferred: true, ipv4: Some(PREFERRED), ipv6: None })
}

/// Lets time pass until a report goes to an address.
fn until_sent_to(bench: &mut Bench, to: Ipv4Addr) -> Message {
    for _ in 0..60 {
        let sent = bench.sent();
        if let Some((_, report)) =
            sent.into_iter().find(|(at, message)| at.ip() == IpAddr::from(to) && message.kind == MessageType::SessionReportRequest)
        {
            return report;
        }
        bench.pass(Duration::from_secs(1));
    }
    panic!("nothing is sent to {to}");
}

/// Its session ended before, or while it was in flight.
#[test]
fn final_usage_that_another_smf_of_the_set_does_not_know_is_told_to_the_one_that_had_the_session() {
    for in_flight in [false, true] {
        let (mut bench, seids) = set_of_three(false);
        bench.count(seids[0], 1, if in_flight { 1000 } else { 400 }, 0);
        bench.node.poll_usage(bench.now, &mut bench.plane);
        assert_eq!(bench.sent().len(), usize::from(in_flight));
        bench.ask(MessageType::AssociationReleaseRequest, None, vec![Ie::NodeId(smf_node())]);
        // The association lives on with others of the set.
        bench.pass(Duration::from_millis(1));
        let others = vec![alternative(OTHER), alternative_preferred()];
        bench.node.receive(
            SocketAddr::new(SMF_ADDRESS.into(), 8805),
            &Message::node(MessageType::AssociationSetupRequest, 900, [setup_ies(SMF_STARTED), others].concat()).encode().unwrap(),
            bench.now,
            &mut bench.plane,
        );
        let report = until_sent_to(&mut bench, PREFERRED);
        assert_eq!((report.seid, find!(report.ies, FSeid).unwrap().seid), (Some(0), 1));
        respond(&mut bench, PREFERRED, &report, vec![Ie::Cause(Cause::SESSION_CONTEXT_NOT_FOUND)]);
        assert_eq!((bench.node.stats().lost_usage_reports, bench.node.final_reports_kept()), (0, 1), "in flight: {in_flight}");
        assert_eq!(reports_after(&mut bench, PREFERRED), []);
        let sent = reports_after(&mut bench, SMF_ADDRESS);
        let [(to, again)] = &sent[..] else { panic!("{sent:?}") };
        assert_eq!((*to, again.seid, find!(again.ies, FSeid)), (IpAddr::from(SMF_ADDRESS), Some(1), None));
        // If that one does not know it either, nobody does.
        let cause = if in_flight { Cause::REQUEST_ACCEPTED } else { Cause::SESSION_CONTEXT_NOT_FOUND };
        respond(&mut bench, SMF_ADDRESS, again, vec![Ie::Cause(cause)]);
        assert_eq!((bench.node.stats().lost_usage_reports, bench.node.final_reports_kept()), (u64::from(!in_flight), 0));
    }
}

/// The address that has given the SEID is never heard again.
#[test]
fn usage_that_waits_for_an_smf_is_told_to_the_one_that_its_sessions_are_handed_over_to() {
    for ended in [false, true] {
        let (mut bench, seids) = set_of_three(false);
        bench.count(seids[0], 1, 1000, 0);
        bench.node.poll_usage(bench.now, &mut bench.plane);
        let report = until_sent_to(&mut bench, PREFERRED);
        respond(&mut bench, PREFERRED, &report, vec![Ie::Cause(Cause::SESSION_CONTEXT_NOT_FOUND)]);
        if ended {
            bench.ask(MessageType::AssociationReleaseRequest, None, vec![Ie::NodeId(smf_node())]);
            bench.pass(Duration::from_secs(1));
            let ies = [setup_ies(SMF_STARTED), vec![alternative(OTHER)]].concat();
            bench.node.receive(
                SMF,
                &Message::node(MessageType::AssociationSetupRequest, 999, ies).encode().unwrap(),
                bench.now,
                &mut bench.plane,
            );
            bench.node.poll_usage(bench.now, &mut bench.plane);
            // It is heard, so it is asked; and is silent again.
            let again = until_sent_to(&mut bench, OTHER);
            respond(&mut bench, OTHER, &again, vec![Ie::Cause(Cause::SESSION_CONTEXT_NOT_FOUND)]);
        }
        bench.sent();
        assert_eq!((bench.node.final_reports_kept(), bench.node.final_reports_pending()), (1, 0), "ended: {ended}");
        let third = Ipv4Addr::new(127, 0, 0, 88);
        let cp = Ie::CpIpAddress(PeerAddress { ipv4: Some(SMF_ADDRESS), ipv6: None });
        let info = Ie::SessionChangeInfo(vec![cp, alternative(third)]);
        let request = Message::node(MessageType::SessionSetModificationRequest, 1000, vec![Ie::NodeId(smf_node()), info]);
        bench.node.receive(SocketAddr::new(OTHER.into(), 8805), &request.encode().unwrap(), bench.now, &mut bench.plane);
        bench.node.poll_usage(bench.now, &mut bench.plane);
        let told = until_sent_to(&mut bench, third);
        let own = FSeid { seid: 1, ipv4: Some(SMF_ADDRESS), ipv6: None };
        assert_eq!((told.seid, find!(told.ies, FSeid)), (Some(0), Some(&own)));
        respond(&mut bench, third, &told, vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
        bench.pass(Duration::from_secs(60));
        assert_eq!((bench.sent(), bench.node.stats().lost_usage_reports, bench.node.final_reports_kept()), (vec![], 0, 0));
    }
}

/// The SEID is of the first one.
#[test]
fn final_usage_of_a_session_that_was_handed_over_is_told_as_anothers() {
    let (mut bench, seids) = set_of_three(false);
    let cp = Ie::CpIpAddress(PeerAddress { ipv4: Some(SMF_ADDRESS), ipv6: None });
    hand_over(&mut bench, vec![cp], OTHER);
    bench.count(seids[0], 1, 400, 0);
    bench.node.release_all(bench.now);
    bench.pass(Duration::from_secs(1));
    let told = until_sent_to(&mut bench, OTHER);
    assert_eq!((told.seid, find!(told.ies, FSeid).unwrap().seid), (Some(0), 1));
}

/// What waits for an SMF that comes back as a new one is counted, and does not wait for ever.
#[test]
fn usage_that_waits_for_an_smf_which_has_restarted_is_lost_and_counted() {
    let (mut bench, seids) = set_of_three(false);
    bench.count(seids[0], 1, 1000, 0);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    let report = until_sent_to(&mut bench, PREFERRED);
    respond(&mut bench, PREFERRED, &report, vec![Ie::Cause(Cause::SESSION_CONTEXT_NOT_FOUND)]);
    assert_eq!(bench.node.final_reports_kept(), 1);
    bench.ask(MessageType::AssociationSetupRequest, None, setup_ies(SMF_STARTED + 9));
    bench.pass(Duration::from_secs(60));
    assert_eq!((bench.sent(), bench.node.stats().lost_usage_reports, bench.node.final_reports_kept()), (vec![], 1, 0));
}
