//! SMFs of a set that have an association each (MPAS, TS 29.244 §5.22.3): a session is served whichever of them asks, and outlives the one that made it.

mod common;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use common::*;
use pfcp::codec::{
    AlternativeSmfIpAddress, Cause, FSeid, Group, Ie, Message, MessageType, NodeId, PeerAddress, SmfSetId, UpFeatures, Volume, find, number,
};
use pfcp::config::{AllowedPeers, Config, Network};
use pfcp::node::{Read, Restoring, Saved};
use pfcp::rules::Seid;

const SECOND_SMF: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 5);
/// Of another set.
const FOREIGN: Ipv4Addr = Ipv4Addr::new(127, 0, 0, 6);
/// Says that it is of the set, and the operator lists it apart.
const APART: Ipv4Addr = Ipv4Addr::new(127, 1, 0, 9);
const SET: &str = "set1.smfset.5gc.mnc001.mcc001.3gppnetwork.org";
const ADDRESS: IpAddr = SMF.ip();

fn at(address: Ipv4Addr) -> SocketAddr {
    SocketAddr::new(address.into(), 8805)
}

fn set_id(name: &str) -> Ie {
    Ie::SmfSetId(SmfSetId(name.into()))
}

fn f_seid(seid: u64, address: Ipv4Addr) -> Ie {
    Ie::FSeid(FSeid { seid, ipv4: Some(address), ipv6: None })
}

fn ask(bench: &mut Bench, from: Ipv4Addr, kind: MessageType, seid: Option<Seid>, ies: Group) -> Message {
    let before = std::mem::replace(&mut bench.smf, at(from));
    let answer = bench.ask(kind, seid, ies);
    bench.smf = before;
    answer
}

fn set_up(bench: &mut Bench, from: Ipv4Addr, set: &str) {
    let ies = vec![Ie::NodeId(NodeId::Ipv4(from)), Ie::RecoveryTimeStamp(SMF_STARTED + 7), set_id(set)];
    let answer = ask(bench, from, MessageType::AssociationSetupRequest, None, ies);
    assert_eq!(answer.cause(), Some(Cause::REQUEST_ACCEPTED));
}

fn set_config() -> Config {
    let entry = |network: Ipv4Addr| AllowedPeers { networks: vec![Network { address: network.into(), length: 16 }], together: false };
    Config { peers: vec![entry(SECOND_SMF), entry(APART)], ..config() }
}

/// Two SMFs of a set, one of another, one that is listed apart, and a session of the first.
fn set_of_two(config: Config) -> (Bench, Seid) {
    let mut bench = Bench::alone(config);
    let answer = bench.ask(MessageType::AssociationSetupRequest, None, [setup_ies(SMF_STARTED), vec![set_id(SET)]].concat());
    let features = *find!(answer.ies, UpFunctionFeatures).unwrap();
    assert!(features.has(UpFeatures::SSET.and(UpFeatures::MPAS)));
    // Names do not tell cases apart.
    set_up(&mut bench, SECOND_SMF, &SET.to_uppercase());
    set_up(&mut bench, FOREIGN, "set2");
    set_up(&mut bench, APART, SET);
    let threshold = vec![Ie::VolumeThreshold(Volume { total: Some(1000), ..Volume::default() })];
    let (seid, _) = bench.establish(simple_session(1, 1, [10, 45, 0, 1], vec![urr(1, 1 << 1, threshold)]));
    (bench, seid)
}

fn respond(bench: &mut Bench, from: Ipv4Addr, request: &Message, ies: Group) {
    let answer = Message { kind: request.kind.response().unwrap(), ies, ..request.clone() };
    bench.node.receive(at(from), &answer.encode().unwrap(), bench.now, &mut bench.plane);
}

/// Where the usage report of the next threshold goes, copy after copy, until there is no more, and the last copy.
fn copies(bench: &mut Bench, seid: Seid, bytes: u64) -> (Vec<IpAddr>, Message) {
    bench.count(seid, 1, bytes, 0);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    let mut all = bench.sent();
    for _ in 0..30 {
        bench.pass(Duration::from_secs(1));
        all.extend(bench.sent());
    }
    all.retain(|(_, message)| message.kind == MessageType::SessionReportRequest);
    let last = all.last().unwrap().1.clone();
    let mut to: Vec<IpAddr> = all.into_iter().map(|(to, _)| to.ip()).collect();
    to.dedup();
    (to, last)
}

#[test]
fn a_session_is_served_for_another_smf_of_the_set_and_for_no_other() {
    let (mut bench, seid) = set_of_two(set_config());
    let modify = MessageType::SessionModificationRequest;
    for stranger in [FOREIGN, APART] {
        for ies in [vec![], vec![Ie::NodeId(NodeId::Ipv4(stranger)), f_seid(9, stranger)]] {
            let answer = ask(&mut bench, stranger, modify, Some(seid), ies);
            // It is not told whether there is one.
            assert_eq!((answer.cause(), answer.seid), (Some(Cause::SESSION_CONTEXT_NOT_FOUND), Some(0)), "{stranger}");
        }
        let answer = ask(&mut bench, stranger, MessageType::SessionDeletionRequest, Some(seid), vec![]);
        assert_eq!(answer.cause(), Some(Cause::SESSION_CONTEXT_NOT_FOUND));
    }
    bench.count(seid, 1, 100, 0);
    let answer = ask(&mut bench, SECOND_SMF, modify, Some(seid), vec![Ie::QueryUrr(vec![Ie::UrrId(1)])]);
    assert_eq!((answer.cause(), answer.seid), (Some(Cause::REQUEST_ACCEPTED), Some(1)));
    assert_eq!(groups(&answer.ies, number::UsageReportInModificationResponse).len(), 1);
    assert_eq!(bench.node.session(seid).unwrap().node_id, smf_node(), "it stays with the first until that is told otherwise");
    // What is the first one's own is not the set's.
    let own = vec![Ie::NodeId(smf_node())];
    for kind in [MessageType::AssociationReleaseRequest, MessageType::AssociationUpdateRequest] {
        assert_eq!(ask(&mut bench, SECOND_SMF, kind, None, own.clone()).cause(), Some(Cause::NO_ESTABLISHED_ASSOCIATION));
    }
    let establishment = simple_session(2, 2, [10, 45, 0, 2], vec![]);
    let answer = ask(&mut bench, SECOND_SMF, MessageType::SessionEstablishmentRequest, Some(0), establishment);
    assert_eq!(answer.cause(), Some(Cause::NO_ESTABLISHED_ASSOCIATION));
    // It takes the session over, which the end of the first is nothing to then.
    let taken = vec![Ie::NodeId(NodeId::Ipv4(SECOND_SMF)), f_seid(77, SECOND_SMF)];
    assert_eq!(ask(&mut bench, SECOND_SMF, modify, Some(seid), taken).cause(), Some(Cause::REQUEST_ACCEPTED));
    bench.ask(MessageType::AssociationReleaseRequest, None, own);
    bench.pass(Duration::from_secs(1));
    assert_eq!((bench.node.session_count(), bench.sent()), (1, vec![]));
    let answer = ask(&mut bench, SECOND_SMF, MessageType::SessionDeletionRequest, Some(seid), vec![]);
    assert_eq!((answer.cause(), answer.seid), (Some(Cause::REQUEST_ACCEPTED), Some(77)));
    assert_eq!((bench.node.session_count(), bench.node.resources_in_use(), bench.node.stats().lost_usage_reports), (0, 0, 0));
}

#[test]
fn reports_go_to_another_smf_of_the_set_which_takes_the_session_with_its_answer() {
    let (mut bench, seid) = set_of_two(set_config());
    bench.count(seid, 1, 1000, 0);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    let first = bench.sent_one();
    assert_eq!(first.seid, Some(1));
    bench.pass(Duration::from_secs(9));
    let (to, report) = bench.sent().pop().unwrap();
    let own = FSeid { seid: 1, ipv4: Some(Ipv4Addr::new(127, 0, 0, 4)), ipv6: None };
    assert_eq!((to, report.seid, report.sequence, find!(report.ies, FSeid)), (at(SECOND_SMF), Some(0), first.sequence, Some(&own)));
    respond(&mut bench, SECOND_SMF, &report, vec![Ie::Cause(Cause::REQUEST_ACCEPTED), f_seid(88, SECOND_SMF)]);
    let session = bench.node.session(seid).unwrap();
    assert_eq!((session.node_id, session.cp.seid, session.peer), (NodeId::Ipv4(SECOND_SMF), 88, at(SECOND_SMF)));
    // The first one's association ends, and the session goes on; its reports are the second's.
    bench.ask(MessageType::AssociationReleaseRequest, None, vec![Ie::NodeId(smf_node())]);
    bench.pass(Duration::from_secs(1));
    assert_eq!(bench.node.session_count(), 1);
    bench.count(seid, 1, 2000, 0);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    let report = bench.sent_one();
    assert_eq!(report.seid, Some(88));
    respond(&mut bench, SECOND_SMF, &report, vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
    assert_eq!(bench.node.stats().lost_usage_reports, 0);
}

#[test]
fn usage_that_no_smf_of_the_set_answers_is_told_to_the_first_that_is_heard() {
    let (mut bench, seid) = set_of_two(set_config());
    let (to, _) = copies(&mut bench, seid, 1000);
    assert_eq!(to, [ADDRESS, SECOND_SMF.into()], "neither another set's nor one that is listed apart");
    assert_eq!((bench.node.final_reports_kept(), bench.node.stats().lost_usage_reports), (1, 0));
    for stranger in [FOREIGN, APART] {
        ask(&mut bench, stranger, MessageType::HeartbeatRequest, None, vec![]);
        bench.node.poll_usage(bench.now, &mut bench.plane);
        assert_eq!((bench.sent(), bench.node.final_reports_kept()), (vec![], 1));
    }
    ask(&mut bench, SECOND_SMF, MessageType::HeartbeatRequest, None, vec![Ie::RecoveryTimeStamp(SMF_STARTED + 7)]);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    for _ in 0..30 {
        for (to, report) in bench.sent() {
            if to == at(SECOND_SMF) {
                respond(&mut bench, SECOND_SMF, &report, vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
            }
        }
        bench.pass(Duration::from_secs(1));
    }
    assert_eq!((bench.node.final_reports_kept(), bench.node.final_reports_pending(), bench.node.stats().lost_usage_reports), (0, 0, 0));
}

/// TS 23.527: sessions of a set outlive an SMF of it.
#[test]
fn sessions_of_an_smf_that_is_gone_stay_while_another_of_its_set_answers() {
    let (mut bench, seid) = set_of_two(Config { heartbeat_period: Some(Duration::from_secs(60)), ..set_config() });
    let pass = |bench: &mut Bench, answers: bool| {
        for _ in 0..400 {
            bench.pass(Duration::from_secs(1));
            for (to, message) in bench.sent().into_iter().filter(|(_, message)| message.kind == MessageType::HeartbeatRequest) {
                if answers && to == at(SECOND_SMF) {
                    respond(bench, SECOND_SMF, &message, vec![Ie::RecoveryTimeStamp(SMF_STARTED + 7)]);
                }
            }
        }
    };
    pass(&mut bench, true);
    // The others' associations are lost: they answer nothing.
    assert_eq!((bench.node.associations().count(), bench.node.stats().lost_associations, bench.node.stats().restarted_peers), (2, 2, 0));
    let answer = ask(&mut bench, SECOND_SMF, MessageType::SessionModificationRequest, Some(seid), vec![]);
    assert_eq!(answer.cause(), Some(Cause::REQUEST_ACCEPTED));
    pass(&mut bench, false);
    assert_eq!((bench.node.session_count(), bench.node.associations().count()), (0, 0));
}

#[test]
fn an_smf_takes_over_all_sessions_of_another_of_its_set_by_that_ones_address() {
    for from in [SECOND_SMF, FOREIGN, APART] {
        let (mut bench, seid) = set_of_two(set_config());
        let cp = Ie::CpIpAddress(PeerAddress { ipv4: Some(Ipv4Addr::new(127, 0, 0, 4)), ipv6: None });
        let to = Ie::AlternativeSmfIpAddress(AlternativeSmfIpAddress { preferred: false, ipv4: Some(from), ipv6: None });
        let ies = vec![Ie::NodeId(NodeId::Ipv4(from)), Ie::SessionChangeInfo(vec![cp, to])];
        let answer = ask(&mut bench, from, MessageType::SessionSetModificationRequest, None, ies);
        assert_eq!(answer.cause(), Some(Cause::REQUEST_ACCEPTED));
        bench.count(seid, 1, 1000, 0);
        bench.node.poll_usage(bench.now, &mut bench.plane);
        let reported_to = bench.sent().remove(0).0;
        // Another's request is of its own sessions.
        assert_eq!(reported_to, if from == SECOND_SMF { at(SECOND_SMF) } else { SMF }, "{from}");
        // What speaks for the set's sessions does not speak for the association, nor does what it names.
        let third = Ipv4Addr::new(127, 0, 0, 99);
        let cp = Ie::CpIpAddress(PeerAddress { ipv4: Some(Ipv4Addr::new(127, 0, 0, 4)), ipv6: None });
        let to = Ie::AlternativeSmfIpAddress(AlternativeSmfIpAddress { preferred: false, ipv4: Some(third), ipv6: None });
        let ies = vec![Ie::NodeId(NodeId::Ipv4(from)), Ie::SessionChangeInfo(vec![cp, to])];
        ask(&mut bench, from, MessageType::SessionSetModificationRequest, None, ies);
        let answer = ask(&mut bench, third, MessageType::SessionModificationRequest, Some(seid), vec![]);
        assert_eq!(answer.cause().unwrap().is_accepted(), from == SECOND_SMF);
        let answer = ask(&mut bench, third, MessageType::AssociationReleaseRequest, None, vec![Ie::NodeId(smf_node())]);
        assert_eq!(answer.cause(), Some(Cause::NO_ESTABLISHED_ASSOCIATION));
        let answer = ask(&mut bench, from, MessageType::AssociationReleaseRequest, None, vec![Ie::NodeId(smf_node())]);
        assert_eq!(answer.cause(), Some(Cause::NO_ESTABLISHED_ASSOCIATION));
    }
}

#[test]
fn a_set_survives_a_crash() {
    let config = Config { records: Some(Duration::from_secs(1)), ..set_config() };
    let (mut bench, seid) = set_of_two(config.clone());
    bench.node.checkpoint_all(bench.now, &mut bench.plane);
    let mut records: BTreeMap<Vec<u8>, Vec<u8>> = BTreeMap::new();
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
    assert_eq!((restored.sessions, restored.damaged), (1, 0));
    let modify = MessageType::SessionModificationRequest;
    assert_eq!(ask(&mut bench, FOREIGN, modify, Some(seid), vec![]).cause(), Some(Cause::SESSION_CONTEXT_NOT_FOUND));
    assert_eq!(ask(&mut bench, SECOND_SMF, modify, Some(seid), vec![]).cause(), Some(Cause::REQUEST_ACCEPTED));
}

#[test]
fn a_set_is_left_by_a_setup_without_it_and_a_name_that_is_none_is_refused() {
    let (mut bench, seid) = set_of_two(set_config());
    let setup = |ies: Group| [vec![Ie::NodeId(NodeId::Ipv4(SECOND_SMF)), Ie::RecoveryTimeStamp(SMF_STARTED + 7)], ies].concat();
    for octets in [vec![], vec![0], vec![0, 5, b'a'], vec![0xff; 4]] {
        let broken = Ie::Unknown { ie_type: number::SmfSetId, octets };
        let answer = ask(&mut bench, SECOND_SMF, MessageType::AssociationSetupRequest, None, setup(vec![broken]));
        assert_eq!(find!(answer.ies, OffendingIe), Some(&number::SmfSetId), "{answer:?}");
        assert_eq!(answer.cause(), Some(Cause::MANDATORY_IE_INCORRECT));
    }
    let modify = MessageType::SessionModificationRequest;
    assert_eq!(ask(&mut bench, SECOND_SMF, modify, Some(seid), vec![]).cause(), Some(Cause::REQUEST_ACCEPTED));
    // As go-pfcp writes it, without the spare octet, and then none.
    let without_spare =
        Ie::Unknown { ie_type: number::SmfSetId, octets: b"\x04set1\x06smfset\x035gc\x06mnc001\x06mcc001\x0b3gppnetwork\x03org".to_vec() };
    for (ies, cause) in [(vec![without_spare], Cause::REQUEST_ACCEPTED), (vec![], Cause::SESSION_CONTEXT_NOT_FOUND)] {
        ask(&mut bench, SECOND_SMF, MessageType::AssociationSetupRequest, None, setup(ies));
        assert_eq!(ask(&mut bench, SECOND_SMF, modify, Some(seid), vec![]).cause(), Some(cause));
    }
}
