//! Usage that no CP function has acknowledged: who is told it, in which order, how much of it is kept, and what is counted as lost.

mod common;

use std::net::SocketAddr;
use std::time::Duration;

use common::*;
use pfcp::codec::{AlternativeSmfIpAddress, Cause, FSeid, Group, Ie, MessageType, NodeId, Volume, find};
use pfcp::config::{Config, OnLoss};
use pfcp::rules::Seid;

const SECOND: Duration = Duration::from_secs(1);
const SECOND_SMF: [u8; 4] = [127, 0, 0, 9];
const VOLTH: u32 = 1 << 1;

fn threshold() -> Group {
    vec![urr(1, VOLTH, vec![Ie::VolumeThreshold(Volume { total: Some(1000), ..Volume::default() })])]
}

/// Sessions 1 to `count` of the first SMF.
fn sessions(bench: &mut Bench, count: u32) -> Vec<Seid> {
    (1..=count).map(|n| bench.establish(simple_session(n.into(), n, [10, 0, (n >> 8) as u8, n as u8], threshold())).0).collect()
}

fn second_node() -> NodeId {
    NodeId::Ipv4(SECOND_SMF.into())
}

/// What a second SMF does.
fn as_second<T>(bench: &mut Bench, act: impl FnOnce(&mut Bench) -> T) -> T {
    let first = std::mem::replace(&mut bench.smf, SocketAddr::from((SECOND_SMF, 8805)));
    let done = act(bench);
    bench.smf = first;
    done
}

fn set_up_second(bench: &mut Bench) {
    let ies = vec![Ie::NodeId(second_node()), Ie::RecoveryTimeStamp(SMF_STARTED)];
    let answer = as_second(bench, |bench| bench.ask(MessageType::AssociationSetupRequest, None, ies));
    assert_eq!(answer.cause(), Some(Cause::REQUEST_ACCEPTED));
}

fn release(bench: &mut Bench, node_id: NodeId) {
    bench.ask(MessageType::AssociationReleaseRequest, None, vec![Ie::NodeId(node_id)]);
    end_all(bench);
}

fn end_all(bench: &mut Bench) {
    while bench.node.sessions_ending() > 0 {
        bench.node.handle_timeout(bench.now, &mut bench.plane);
    }
}

/// Lets time pass as a daemon does.
fn run(bench: &mut Bench, seconds: u64) {
    for _ in 0..seconds {
        bench.pass(SECOND);
        bench.node.poll_usage(bench.now, &mut bench.plane);
    }
}

fn poll(bench: &mut Bench) {
    bench.node.poll_usage(bench.now, &mut bench.plane);
}

/// A message that says nothing of a restart.
fn speak(bench: &mut Bench) {
    bench.sequence += 1;
    let beat = pfcp::codec::Message::node(MessageType::HeartbeatRequest, bench.sequence, vec![]);
    bench.node.receive(bench.smf, &beat.encode().unwrap(), bench.now, &mut bench.plane);
}

/// The reports among all that was sent, answered or not: to whom, the SEID and the bytes that each tells.
fn told(bench: &mut Bench, answered: bool) -> Vec<([u8; 4], u64, u64)> {
    let mut told = Vec::new();
    for (to, message) in bench.sent() {
        if message.kind != MessageType::SessionReportRequest {
            continue;
        }
        let std::net::IpAddr::V4(address) = to.ip() else { panic!("{to}") };
        let usage = find!(message.ies, UsageReportInReportRequest).unwrap();
        told.push((address.octets(), message.seid.unwrap(), find!(usage, VolumeMeasurement).unwrap().bytes.total.unwrap()));
        if answered {
            let smf = std::mem::replace(&mut bench.smf, to);
            bench.answer(&message, vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
            bench.smf = smf;
        }
    }
    told
}

/// Answers all reports until no more come.
fn take_all(bench: &mut Bench) -> Vec<([u8; 4], u64, u64)> {
    let mut all = Vec::new();
    loop {
        poll(bench);
        let these = told(bench, true);
        if these.is_empty() {
            return all;
        }
        all.extend(these);
    }
}

/// How many reports were lost, and why.
fn lost(bench: &Bench) -> Vec<(&'static str, u64)> {
    let stats = bench.node.stats();
    assert_eq!(stats.lost_usage.values().sum::<u64>(), stats.lost_usage_reports);
    stats.lost_usage.iter().map(|(why, count)| (why.name(), *count)).collect()
}

/// Its SEIDs may be other sessions' now.
#[test]
fn usage_that_waits_for_room_is_not_told_to_a_peer_that_has_restarted_meanwhile() {
    let mut bench = Bench::with(Config { max_outstanding_per_peer: 1, ..config() });
    for seid in sessions(&mut bench, 3) {
        bench.count(seid, 1, 400, 0);
    }
    release(&mut bench, smf_node());
    assert_eq!(told(&mut bench, false), [([127, 0, 0, 4], 1, 400)]);
    let answer = bench.ask(MessageType::AssociationSetupRequest, None, setup_ies(SMF_STARTED + 9));
    assert_eq!(answer.cause(), Some(Cause::REQUEST_ACCEPTED));
    poll(&mut bench);
    assert_eq!(lost(&bench), [("restarted", 2)]);
    run(&mut bench, 20);
    assert_eq!(told(&mut bench, false), [], "nor what was sent before");
    speak(&mut bench);
    assert_eq!((take_all(&mut bench), bench.node.final_reports_kept(), lost(&bench)), (vec![], 0, vec![("restarted", 3)]));
}

/// Of a session that lived when it was told, and of one that had ended.
#[test]
fn usage_in_flight_is_not_sent_again_to_a_peer_that_has_restarted() {
    let mut bench = Bench::new();
    set_up_second(&mut bench);
    let mut seids = sessions(&mut bench, 2);
    let mut request = simple_session(77, 77, [10, 1, 0, 77], threshold());
    request[0] = Ie::NodeId(second_node());
    request[1] = Ie::FSeid(FSeid { seid: 77, ipv4: Some(SECOND_SMF.into()), ipv6: None });
    seids.push(as_second(&mut bench, |bench| bench.establish(request).0));
    seids[1..].iter().for_each(|seid| bench.count(*seid, 1, 400, 0));
    bench.count(seids[0], 1, 1000, 0);
    poll(&mut bench);
    assert_eq!(told(&mut bench, false), [([127, 0, 0, 4], 1, 1000)]);
    bench.node.downlink_data(seids[0], 2, bench.now);
    assert_eq!(bench.sent().len(), 1, "a report of its data");
    release(&mut bench, smf_node());
    assert_eq!(told(&mut bench, false), [([127, 0, 0, 4], 2, 400)]);
    as_second(&mut bench, |bench| release(bench, second_node()));
    assert_eq!(told(&mut bench, false), [(SECOND_SMF, 77, 400)]);
    run(&mut bench, 2);
    bench.sent();
    bench.ask(MessageType::AssociationSetupRequest, None, setup_ies(SMF_STARTED + 9));
    set_up_second(&mut bench);
    bench.sent();
    // The restarted one begins at 1 again.
    let new = bench.establish(simple_session(1, 1, [10, 2, 0, 1], threshold())).0;
    bench.pass(5 * SECOND);
    let sent = told(&mut bench, true);
    assert!(!sent.is_empty() && sent.iter().all(|(to, seid, _)| (*to, *seid) == (SECOND_SMF, 77)), "{sent:?}");
    run(&mut bench, 60);
    assert_eq!((bench.sent(), lost(&bench), bench.node.final_reports_pending()), (vec![], vec![("restarted", 2)], 0));
    assert!(bench.node.session(new).is_some());
}

/// A heartbeat may be delayed, or a bad clock's: that is known later.
#[test]
fn usage_in_flight_waits_while_its_peer_seems_to_have_restarted() {
    let mut bench = Bench::new();
    let seids = sessions(&mut bench, 2);
    bench.count(seids[0], 1, 1000, 0);
    bench.count(seids[1], 1, 1000, 0);
    poll(&mut bench);
    assert_eq!(told(&mut bench, false).len(), 2);
    bench.ask(MessageType::HeartbeatRequest, None, vec![Ie::RecoveryTimeStamp(SMF_STARTED + 7)]);
    run(&mut bench, 20);
    assert_eq!((told(&mut bench, false), bench.node.final_reports_kept(), lost(&bench)), (vec![], 2, vec![]));
    bench.ask(MessageType::HeartbeatRequest, None, vec![Ie::RecoveryTimeStamp(SMF_STARTED)]);
    let mut told = take_all(&mut bench);
    told.sort_unstable();
    assert_eq!((told, lost(&bench)), (vec![([127, 0, 0, 4], 1, 1000), ([127, 0, 0, 4], 2, 1000)], vec![]));
}

/// The reports of a session's deletion, and whether others are pending (PURU, §5.2.2.3.1).
fn deletion(bench: &mut Bench, seid: Seid) -> (Vec<(u32, u64)>, bool) {
    let answer = bench.delete(seid);
    assert_eq!(answer.cause(), Some(Cause::REQUEST_ACCEPTED));
    let each = answer.ies.iter().filter_map(|ie| if let Ie::UsageReportInDeletionResponse(usage) = ie { Some(usage) } else { None });
    let each = each.map(|usage| (*find!(usage, UrSeqn).unwrap(), find!(usage, VolumeMeasurement).unwrap().bytes.total.unwrap()));
    (each.collect(), find!(answer.ies, PfcpSdRspFlags) == Some(&1))
}

/// The first message of an SMF after an outage may be a deletion. All that it asks for is there.
#[test]
fn the_answer_to_a_deletion_tells_what_nobody_acknowledged() {
    // Given up, or sent again without an answer.
    for seconds in [20, 4] {
        let mut bench = Bench::new();
        let seid = sessions(&mut bench, 2)[0];
        bench.count(seid, 1, 1000, 0);
        poll(&mut bench);
        run(&mut bench, seconds);
        told(&mut bench, false);
        bench.count(seid, 1, 1300, 0);
        assert_eq!(bench.node.final_reports_pending() + bench.node.final_reports_kept(), 1);
        assert_eq!(deletion(&mut bench, seid), (vec![(1, 300), (0, 1000)], false), "after {seconds} s");
        run(&mut bench, 60);
        speak(&mut bench);
        assert_eq!((take_all(&mut bench), lost(&bench)), (vec![], vec![]));
        assert_eq!((bench.node.final_reports_pending(), bench.node.final_reports_kept()), (0, 0));
    }
}

/// It crosses the deletion, most likely, and an SMF in use would count it twice.
#[test]
fn a_report_that_was_just_sent_is_pending_at_a_deletion() {
    let mut bench = Bench::new();
    let seid = sessions(&mut bench, 1)[0];
    bench.count(seid, 1, 1000, 0);
    poll(&mut bench);
    let (_, report) = bench.sent().remove(0);
    bench.count(seid, 1, 1300, 0);
    assert_eq!(deletion(&mut bench, seid), (vec![(1, 300)], true));
    bench.answer(&report, vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
    run(&mut bench, 60);
    assert_eq!((told(&mut bench, false), lost(&bench), bench.node.final_reports_pending()), (vec![], vec![], 0));
}

#[test]
fn what_has_no_room_in_the_answer_to_a_deletion_is_sent() {
    let mut bench = Bench::new();
    let seid = sessions(&mut bench, 1)[0];
    for n in 1..=600 {
        bench.count(seid, 1, 1000 * n, 0);
        poll(&mut bench);
        bench.pass(20 * SECOND);
    }
    told(&mut bench, false);
    assert_eq!(bench.node.final_reports_kept(), 600);
    let (told, pending) = deletion(&mut bench, seid);
    // Of its last usage, which was nothing, there is a report too.
    assert!(pending && told.len() > 200 && told[0] == (600, 0), "{} told", told.len());
    speak(&mut bench);
    bench.sent();
    let rest = take_all(&mut bench);
    let all: u64 = told.iter().map(|(_, bytes)| bytes).chain(rest.iter().map(|(_, _, bytes)| bytes)).sum();
    assert_eq!((told.len() + rest.len(), all, lost(&bench)), (601, 600_000, vec![]));
}

#[test]
fn one_peer_does_not_take_the_room_of_anothers_usage() {
    let mut bench = Bench::with(Config { max_sessions: 3, ..config() });
    set_up_second(&mut bench);
    let mut seids = sessions(&mut bench, 1);
    let mut request = simple_session(77, 77, [10, 1, 0, 77], threshold());
    request[0] = Ie::NodeId(second_node());
    request[1] = Ie::FSeid(FSeid { seid: 77, ipv4: Some(SECOND_SMF.into()), ipv6: None });
    seids.push(as_second(&mut bench, |bench| bench.establish(request).0));
    for n in 1..=5 {
        bench.count(seids[0], 1, 1000 * n, 0);
        run(&mut bench, 20);
    }
    assert_eq!((bench.node.final_reports_kept(), lost(&bench)), (3, vec![("full", 2)]));
    bench.count(seids[1], 1, 1500, 0);
    run(&mut bench, 20);
    told(&mut bench, false);
    // The oldest of who has most.
    assert_eq!((bench.node.final_reports_kept(), lost(&bench)), (3, vec![("full", 3)]));
    // And that one takes no room of it, alive or ended.
    bench.count(seids[0], 1, 6000, 0);
    run(&mut bench, 20);
    bench.count(seids[0], 1, 6200, 0);
    bench.sent();
    release(&mut bench, smf_node());
    run(&mut bench, 20);
    told(&mut bench, false);
    as_second(&mut bench, speak);
    assert_eq!(take_all(&mut bench), [(SECOND_SMF, 77, 1500)]);
    bench.ask(MessageType::AssociationSetupRequest, None, setup_ies(SMF_STARTED));
    let left = take_all(&mut bench);
    assert!(left.contains(&([127, 0, 0, 4], 1, 200)) && left.len() == 2, "{left:?}");
}

#[test]
fn kept_usage_is_not_told_to_a_peer_whose_heartbeat_was_that_of_one_that_restarted() {
    let mut bench = Bench::new();
    let seid = sessions(&mut bench, 1)[0];
    bench.count(seid, 1, 1000, 0);
    run(&mut bench, 20);
    told(&mut bench, false);
    assert_eq!(bench.node.final_reports_kept(), 1);
    bench.ask(MessageType::HeartbeatRequest, None, vec![Ie::RecoveryTimeStamp(SMF_STARTED + 7)]);
    speak(&mut bench);
    poll(&mut bench);
    assert_eq!((told(&mut bench, true), bench.node.final_reports_kept()), (vec![], 1));
    // One that writes another time with each heartbeat has not restarted.
    bench.ask(MessageType::HeartbeatRequest, None, vec![Ie::RecoveryTimeStamp(SMF_STARTED + 8)]);
    speak(&mut bench);
    assert_eq!((take_all(&mut bench), lost(&bench)), (vec![([127, 0, 0, 4], 1, 1000)], vec![]));
}

#[test]
fn much_usage_for_a_peer_that_answers_no_reports_does_not_hold_up_anothers() {
    let mut bench = Bench::with(Config { max_outstanding_per_peer: 1, ..config() });
    set_up_second(&mut bench);
    let mut seids = sessions(&mut bench, 40);
    let mut request = simple_session(77, 77, [10, 1, 0, 77], threshold());
    request[0] = Ie::NodeId(second_node());
    request[1] = Ie::FSeid(FSeid { seid: 77, ipv4: Some(SECOND_SMF.into()), ipv6: None });
    seids.push(as_second(&mut bench, |bench| bench.establish(request).0));
    seids.iter().for_each(|seid| bench.count(*seid, 1, 400, 0));
    release(&mut bench, smf_node());
    assert_eq!(told(&mut bench, false), [([127, 0, 0, 4], 1, 400)]);
    as_second(&mut bench, |bench| bench.ask(MessageType::AssociationReleaseRequest, None, vec![Ie::NodeId(second_node())]));
    end_all(&mut bench);
    poll(&mut bench);
    assert_eq!(told(&mut bench, true), [(SECOND_SMF, 77, 400)]);
    // The order of one peer's is kept.
    run(&mut bench, 10);
    let rest: Vec<u64> = told(&mut bench, false).into_iter().map(|(_, seid, _)| seid).collect();
    assert!(rest.is_sorted() && rest.contains(&2), "{rest:?}");
}

#[test]
fn usage_of_a_peer_that_answers_heartbeats_and_no_reports_is_bounded_too() {
    let mut bench = Bench::with(Config { max_sessions: 3, max_outstanding_per_peer: 2, ..config() });
    let seid = sessions(&mut bench, 1)[0];
    for n in 1..=20 {
        bench.count(seid, 1, 1000 * n, 0);
        poll(&mut bench);
        run(&mut bench, 20);
        speak(&mut bench);
        let waiting = bench.node.final_reports_pending() + bench.node.final_reports_kept();
        assert!(waiting <= 3 + 2, "{waiting} after {n} rounds");
    }
    told(&mut bench, false);
    run(&mut bench, 40);
    told(&mut bench, false);
    speak(&mut bench);
    let told = take_all(&mut bench).len() as u64;
    let full = lost(&bench);
    assert_eq!((bench.node.final_reports_pending(), bench.node.final_reports_kept()), (0, 0));
    assert_eq!(full, [("full", bench.node.stats().usage_reports - told)]);
    assert!(full[0].1 >= 10, "{full:?}");
}

#[test]
fn a_session_that_another_smf_took_over_takes_its_unanswered_usage_with_it() {
    let mut bench = Bench::alone(config());
    let named = AlternativeSmfIpAddress { preferred: false, ipv4: Some(SECOND_SMF.into()), ipv6: None };
    let setup = |started| [setup_ies(started), vec![Ie::AlternativeSmfIpAddress(named)]].concat();
    bench.ask(MessageType::AssociationSetupRequest, None, setup(SMF_STARTED));
    set_up_second(&mut bench);
    let seid = sessions(&mut bench, 1)[0];
    bench.count(seid, 1, 1000, 0);
    poll(&mut bench);
    assert_eq!(told(&mut bench, false), [([127, 0, 0, 4], 1, 1000)]);
    let cp = FSeid { seid: 99, ipv4: Some(SECOND_SMF.into()), ipv6: None };
    let answer = as_second(&mut bench, |bench| bench.modify(seid, vec![Ie::NodeId(second_node()), Ie::FSeid(cp)]));
    assert_eq!(answer.cause(), Some(Cause::REQUEST_ACCEPTED));
    // Nobody answers, and the first one restarts: that is not the session's end.
    run(&mut bench, 60);
    told(&mut bench, false);
    assert_eq!(bench.node.final_reports_kept(), 1);
    bench.ask(MessageType::AssociationSetupRequest, None, setup(SMF_STARTED + 9));
    end_all(&mut bench);
    assert_eq!((bench.node.session_count(), bench.node.final_reports_kept(), lost(&bench)), (1, 1, vec![]));
    as_second(&mut bench, speak);
    bench.sent();
    assert_eq!(take_all(&mut bench), [(SECOND_SMF, 99, 1000)]);
    assert_eq!((bench.node.final_reports_kept(), lost(&bench)), (0, vec![]));
}

#[test]
fn at_shutdown_usage_without_an_answer_is_waited_for_and_counted_if_nobody_answers() {
    for answered in [true, false] {
        for kept in [false, true] {
            let mut bench = Bench::new();
            let seid = sessions(&mut bench, 1)[0];
            bench.count(seid, 1, 1000, 0);
            poll(&mut bench);
            if kept {
                run(&mut bench, 20);
                told(&mut bench, false);
                assert_eq!(bench.node.final_reports_kept(), 1);
            }
            bench.node.release_all(bench.now);
            end_all(&mut bench);
            assert_eq!(bench.node.final_reports_pending(), 1, "kept: {kept}");
            if answered {
                speak(&mut bench);
                poll(&mut bench);
                assert_eq!(told(&mut bench, true), [([127, 0, 0, 4], 1, 1000)]);
                assert_eq!((bench.node.final_reports_pending(), lost(&bench)), (0, vec![]));
            } else {
                bench.node.abandon_final_reports(bench.now);
                assert_eq!((bench.node.final_reports_pending(), lost(&bench)), (0, vec![("end", 1)]));
                run(&mut bench, 40);
                assert_eq!(lost(&bench), [("end", 1)], "once");
            }
        }
    }
}

/// The daemon waits as long as the number falls.
#[test]
fn at_shutdown_what_is_pending_falls_by_what_is_acknowledged_alone() {
    let mut bench = Bench::with(Config { max_outstanding_per_peer: 4, ..config() });
    for seid in sessions(&mut bench, 40) {
        bench.count(seid, 1, 400, 0);
    }
    bench.node.release_all(bench.now);
    end_all(&mut bench);
    for _ in 0..100 {
        run(&mut bench, 1);
        assert_eq!(bench.node.final_reports_pending(), 40);
    }
    bench.sent();
    speak(&mut bench);
    poll(&mut bench);
    let acknowledged = told(&mut bench, true).len();
    assert!(acknowledged > 0);
    assert_eq!((bench.node.final_reports_pending(), lost(&bench)), (40 - acknowledged, vec![]));
    bench.node.abandon_final_reports(bench.now);
    assert_eq!(lost(&bench), [("end", 40 - acknowledged as u64)]);
}

#[test]
fn reports_of_a_session_that_lived_do_not_take_the_room_of_final_usage() {
    let limits = Config { max_sessions: 3, heartbeat_period: Some(200 * SECOND), on_loss: OnLoss::Release, ..config() };
    let mut bench = Bench::with(limits);
    let seids = sessions(&mut bench, 3);
    for n in 1..=3 {
        bench.count(seids[0], 1, 1000 * n, 0);
        run(&mut bench, 20);
    }
    assert_eq!(bench.node.final_reports_kept(), 3);
    for (seid, used) in seids.iter().zip([3200, 500, 600]) {
        bench.count(*seid, 1, used, 0);
    }
    run(&mut bench, 200);
    assert_eq!((bench.node.session_count(), bench.node.final_reports_kept(), lost(&bench)), (0, 3, vec![("full", 3)]));
    bench.sent();
    bench.ask(MessageType::AssociationSetupRequest, None, setup_ies(SMF_STARTED));
    let mut bytes: Vec<u64> = take_all(&mut bench).into_iter().map(|(_, _, bytes)| bytes).collect();
    bytes.sort_unstable();
    assert_eq!(bytes, [200, 500, 600]);
}
