//! What CP functions are told of the node itself: its load, that it has too much to do, that it is about to leave, that a GTP-U path has failed.

mod common;

use std::collections::VecDeque;
use std::net::Ipv4Addr;
use std::time::Duration;

use common::*;
use pfcp::codec::{self, Cause, Ie, Message, MessageType, PeerAddress, find, number};
use pfcp::config::Config;

/// LOAD and OVRL of CP Function Features.
const LOAD: u8 = 1;
const OVRL: u8 = 2;

fn associate(bench: &mut Bench, features: u8) {
    let ies = vec![Ie::NodeId(smf_node()), Ie::RecoveryTimeStamp(SMF_STARTED), Ie::CpFunctionFeatures(vec![features])];
    assert_eq!(bench.ask(MessageType::AssociationSetupRequest, None, ies).cause(), Some(Cause::REQUEST_ACCEPTED));
}

fn session(n: u32) -> Vec<Ie> {
    simple_session(n.into(), n, [172, 16, (n >> 8) as u8, n as u8], vec![])
}

/// Sequence number and percent of Load or Overload Control Information.
fn metric(message: &Message, ie_type: u16) -> Option<(u32, u8)> {
    let group = groups(&message.ies, ie_type).first().copied()?;
    Some((*find!(group, SequenceNumber).unwrap(), *find!(group, Metric).unwrap()))
}

fn load(message: &Message) -> Option<(u32, u8)> {
    metric(message, number::LoadControlInformation)
}

fn reduction(message: &Message) -> Option<(u32, u8)> {
    metric(message, number::OverloadControlInformation)
}

#[test]
fn load_is_told_once_for_each_change_and_to_those_who_announce_that_they_want_it() {
    let mut bench = Bench::alone(Config { max_sessions: 200, ..config() });
    associate(&mut bench, LOAD);
    let mut told = Vec::new();
    for n in 1..=6 {
        told.push(load(&bench.establish(session(n)).1));
        bench.now += Duration::from_secs(1);
    }
    // Half a percent each; a part of one counts as one.
    assert_eq!(told.iter().map(|told| told.map(|(_, percent)| percent)).collect::<Vec<_>>(), [Some(1), None, Some(2), None, Some(3), None]);
    let sequences: Vec<u32> = told.into_iter().flatten().map(|(sequence, _)| sequence).collect();
    assert!(sequences.is_sorted_by(|a, b| a < b), "{sequences:?}");
    assert_eq!(bench.node.load(), (3, 0));
    // Nothing has changed since.
    let answer = bench.modify(999, vec![]);
    assert_eq!((answer.cause(), load(&answer)), (Some(Cause::SESSION_CONTEXT_NOT_FOUND), None));
    for features in [0, OVRL] {
        let mut bench = Bench::alone(Config { max_sessions: 2, ..config() });
        associate(&mut bench, features);
        assert_eq!(load(&bench.establish(session(1)).1), None);
        // One that changes its mind.
        let update = vec![Ie::NodeId(smf_node()), Ie::CpFunctionFeatures(vec![LOAD])];
        bench.ask(MessageType::AssociationUpdateRequest, None, update);
        assert_eq!(load(&bench.establish(session(2)).1).map(|(_, percent)| percent), Some(100));
    }
}

/// Messages that have room in the queue, those that the node gets done in a tick of 10 ms, and new sessions that users want then.
const ROOM: usize = 200;
const DONE: usize = 20;
const WANTED: usize = 60;
const TICK: Duration = Duration::from_millis(10);

#[derive(Debug, Default)]
struct Outcome {
    accepted: usize,
    rejected: usize,
    /// No room in the queue.
    lost: usize,
    longest_queue: usize,
    reductions: Vec<u8>,
}

/// An SMF whose users want three times as many sessions as the node gets done, in the last two of four seconds.
fn flood(features: u8) -> Outcome {
    let mut bench = Bench::alone(Config { max_sessions: 1_000_000, max_answers: 100, ..config() });
    associate(&mut bench, features);
    let (mut queue, mut outcome, mut keeps_back) = (VecDeque::new(), Outcome::default(), 0_usize);
    let (mut n, mut share) = (0, 0);
    for tick in 0..400 {
        let counts = tick >= 200;
        for _ in 0..WANTED {
            // Of each hundred it keeps as many back as it was told, evenly.
            share += 100 - keeps_back;
            if share < 100 {
                continue;
            }
            share -= 100;
            n += 1;
            let request = Message { seid: Some(0), ..Message::node(MessageType::SessionEstablishmentRequest, n & 0xff_ffff, session(n)) };
            match queue.len() < ROOM {
                true => queue.push_back(request.encode().unwrap()),
                false => outcome.lost += usize::from(counts),
            }
        }
        outcome.longest_queue = outcome.longest_queue.max(if counts { queue.len() } else { 0 });
        for _ in 0..DONE {
            bench.node.note_backlog(queue.len(), ROOM, bench.now);
            let Some(request) = queue.pop_front() else { break };
            let answer = bench.ask_octets(&request);
            match answer.cause() {
                Some(Cause::REQUEST_ACCEPTED) => {
                    outcome.accepted += usize::from(counts);
                    let seid = find!(answer.ies, FSeid).unwrap().seid;
                    bench.delete(seid);
                }
                cause => {
                    assert_eq!(cause, Some(Cause::CONGESTION));
                    outcome.rejected += usize::from(counts);
                }
            }
            if let Some((_, percent)) = reduction(&answer) {
                assert_eq!(features & OVRL, OVRL);
                keeps_back = percent.into();
                outcome.reductions.push(percent);
            }
        }
        bench.now += TICK;
    }
    outcome
}

#[test]
fn a_cp_function_that_obeys_keeps_a_node_with_too_much_to_do_within_its_queue() {
    let obeys = flood(OVRL);
    // All that it gets done are sessions, and nothing is lost.
    assert_eq!((obeys.lost, obeys.rejected), (0, 0), "{obeys:?}");
    assert!(obeys.accepted >= 195 * DONE && obeys.longest_queue < ROOM * 9 / 10, "{obeys:?}");
    assert!(obeys.reductions.iter().any(|percent| (60..=80).contains(percent)), "two of three are too many: {obeys:?}");
    let ignores = flood(0);
    assert!(ignores.lost > 300 * DONE && ignores.longest_queue == ROOM && ignores.reductions.is_empty(), "{ignores:?}");
    assert!(ignores.rejected > 0, "new sessions are rejected while the queue is nearly full: {ignores:?}");
}

#[test]
fn while_messages_queue_up_new_sessions_are_rejected_and_others_go_on() {
    let mut bench = Bench::alone(config());
    associate(&mut bench, OVRL);
    let (seid, answer) = bench.establish(session(1));
    assert_eq!(reduction(&answer), None);
    bench.node.note_backlog(900, 1000, bench.now);
    let answer = bench.ask(MessageType::SessionEstablishmentRequest, Some(0), session(2));
    assert_eq!(answer.cause(), Some(Cause::CONGESTION));
    let (first, percent) = reduction(&answer).unwrap();
    assert_eq!((percent, bench.node.load().1), (90, 90));
    let information = groups(&answer.ies, number::OverloadControlInformation)[0];
    assert_eq!(find!(information, Timer), Some(&5), "valid for five times two seconds");
    let answer = bench.modify(seid, vec![far_to_gnb(2, 7, None)]);
    assert_eq!((answer.cause(), reduction(&answer)), (Some(Cause::REQUEST_ACCEPTED), None), "told once");
    // Told again before it is no longer valid.
    bench.now += Duration::from_secs(6);
    bench.node.note_backlog(900, 1000, bench.now);
    let (second, percent) = reduction(&bench.modify(seid, vec![])).unwrap();
    assert!(second > first && percent == 90);
    // And when it is over, which it is by and by.
    for _ in 0..9 {
        bench.now += Duration::from_millis(100);
        bench.node.note_backlog(0, 1000, bench.now);
    }
    let (third, percent) = reduction(&bench.establish(session(2)).1).unwrap();
    assert!(third > second && percent == 0);
}

#[test]
fn a_graceful_release_lets_sessions_go_on_until_the_cp_function_has_moved_them() {
    let mut bench = Bench::new();
    let (seid, _) = bench.establish(session(1));
    bench.node.begin_release(Duration::from_secs(90), bench.now);
    let asked = bench.sent_one();
    assert_eq!(asked.kind, MessageType::AssociationUpdateRequest);
    assert_eq!(find!(asked.ies, PfcpAssociationReleaseRequest), Some(&1));
    assert_eq!(find!(asked.ies, GracefulReleasePeriod), Some(&(1 << 5 | 2)), "twice a minute: no shorter than what was asked for");
    bench.answer(&asked, vec![Ie::NodeId(smf_node()), Ie::Cause(Cause::REQUEST_ACCEPTED)]);
    // No new ones, but the old one goes on.
    let answer = bench.ask(MessageType::SessionEstablishmentRequest, Some(0), session(2));
    assert_eq!(answer.cause(), Some(Cause::NO_RESOURCES));
    assert_eq!(bench.modify(seid, vec![far_to_gnb(2, 7, None)]).cause(), Some(Cause::REQUEST_ACCEPTED));
    assert_eq!(bench.delete(seid).cause(), Some(Cause::REQUEST_ACCEPTED));
    let answer = bench.ask(MessageType::AssociationReleaseRequest, None, vec![Ie::NodeId(smf_node())]);
    assert_eq!(answer.cause(), Some(Cause::REQUEST_ACCEPTED));
    assert_eq!(bench.node.associations().count(), 0);
    let answer = bench.ask(MessageType::AssociationSetupRequest, None, setup_ies(SMF_STARTED));
    assert_eq!(answer.cause(), Some(Cause::NO_RESOURCES));
    bench.node.associate(SMF, bench.now);
    assert_eq!(bench.sent(), [], "nor does it ask for one");
}

#[test]
fn cp_functions_are_told_of_a_gtpu_path_that_fails_and_works_again() {
    let mut bench = Bench::new();
    for works in [false, true] {
        bench.node.gtpu_path(GNB, works, bench.now);
        let report = bench.sent_one();
        assert_eq!((report.kind, report.seid), (MessageType::NodeReportRequest, None));
        let remote = Ie::RemoteGtpuPeer(PeerAddress { ipv4: Some(GNB), ipv6: None });
        let expected = match works {
            false => [Ie::NodeReportType(1), Ie::UserPlanePathFailureReport(vec![remote])],
            true => [Ie::NodeReportType(2), Ie::UserPlanePathRecoveryReport(vec![remote])],
        };
        assert_eq!(report.ies[1..], expected);
        // Until there is an answer.
        bench.pass(Duration::from_secs(3));
        assert_eq!(bench.sent_one(), report);
        bench.answer(&report, vec![Ie::NodeId(smf_node()), Ie::Cause(Cause::REQUEST_ACCEPTED)]);
        bench.pass(Duration::from_secs(30));
        assert_eq!(bench.sent(), []);
    }
    assert_eq!((bench.node.stats().node_reports, bench.node.stats().unanswered_requests), (2, 0));
    let mut alone = Bench::alone(config());
    alone.node.gtpu_path(Ipv4Addr::new(192, 0, 2, 1), false, alone.now);
    assert_eq!(alone.sent(), []);
    // What only a UP function sends is no request that a CP function makes.
    let answer = bench.ask(MessageType::NodeReportRequest, None, vec![Ie::NodeId(smf_node())]);
    assert_eq!(answer.cause(), Some(Cause::SERVICE_NOT_SUPPORTED));
}

#[test]
fn a_timer_is_the_shortest_that_is_long_enough() {
    for (seconds, octet) in
        [(0, 0), (1, 1), (62, 31), (63, 1 << 5 | 2), (1860, 1 << 5 | 31), (1861, 2 << 5 | 4), (36_000 * 31, 4 << 5 | 31)]
    {
        assert_eq!(codec::timer(Duration::from_secs(seconds)), octet, "{seconds} s");
    }
    assert_eq!(codec::timer(Duration::from_millis(1)), 1);
    assert_eq!(codec::timer(Duration::from_secs(36_000 * 31 + 1)), 7 << 5, "without end");
}
