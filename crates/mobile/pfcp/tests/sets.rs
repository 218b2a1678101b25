//! Sets of sessions: deleted at once, or handed over to another CP function of the SMF set.

mod common;

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, SocketAddr};

use common::*;
use pfcp::codec::{
    AlternativeSmfIpAddress, Cause, CsidNode, FSeid, FqCsid, Group, Ie, Message, MessageType, NodeId, PeerAddress, Volume, number,
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
