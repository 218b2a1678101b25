//! Many sessions that end at once, or are due at once: in slices, and gone for N4 from the first moment.

mod common;

use std::time::Duration;

use common::*;
use pfcp::codec::{Cause, Ie, MessageType};
use pfcp::config::Config;
use pfcp::rules::{CommitError, RuleId, Seid};

const MANY: u32 = 1000;

/// An SMF with many sessions, of four rules each, of TEIDs and addresses of its choice.
fn bench() -> (Bench, Vec<Seid>) {
    let mut bench = Bench::with(Config { max_sessions: MANY as usize, ..config() });
    let session = |n: u32| simple_session(n.into(), n, [10, 45, (n >> 8) as u8, n as u8], vec![]);
    let seids = (1..=MANY).map(|n| bench.establish(session(n)).0).collect();
    (bench, seids)
}

fn associate_anew(bench: &mut Bench) {
    let answer = bench.ask(MessageType::AssociationSetupRequest, None, setup_ies(SMF_STARTED + 1));
    assert_eq!(answer.cause(), Some(Cause::REQUEST_ACCEPTED));
}

#[test]
fn n4_is_not_silent_while_the_sessions_of_an_association_end() {
    type End = fn(&mut Bench);
    let ends: [End; 4] = [
        associate_anew,
        |bench| drop(bench.ask(MessageType::AssociationReleaseRequest, None, vec![Ie::NodeId(smf_node())])),
        |bench| {
            bench.node.release_all(bench.now);
            assert_eq!(bench.sent_one().kind, MessageType::AssociationUpdateRequest);
        },
        // A peer that has restarted, as its heartbeats tell.
        |bench| {
            for _ in 0..2 {
                bench.ask(MessageType::HeartbeatRequest, None, vec![Ie::RecoveryTimeStamp(SMF_STARTED + 1)]);
                bench.now += Duration::from_secs(3);
            }
        },
    ];
    for end in ends {
        let (mut bench, seids) = bench();
        let commits = bench.plane.commits;
        end(&mut bench);
        assert_eq!(bench.plane.commits, commits, "the message that ends them is not the one that does the work");
        assert_eq!((bench.node.session_count(), bench.node.sessions().count()), (0, 0));
        assert_eq!(bench.node.sessions_ending(), MANY as usize);
        for seid in seids.iter().step_by(97) {
            assert!(bench.node.session(*seid).is_none());
            // The association is gone too, or there is another.
            let associated = bench.node.associations().count() > 0;
            let cause = if associated { Cause::SESSION_CONTEXT_NOT_FOUND } else { Cause::NO_ESTABLISHED_ASSOCIATION };
            assert_eq!(bench.modify(*seid, vec![]).cause(), Some(cause));
            assert_eq!(bench.delete(*seid).cause(), Some(cause));
            bench.node.downlink_data(*seid, 2, bench.now);
        }
        assert_eq!(bench.sent(), [], "no report of a session that is gone");
        let mut slices = 0;
        while bench.node.next_deadline() == Some(Duration::ZERO) {
            let commits = bench.plane.commits;
            bench.node.handle_timeout(bench.now, &mut bench.plane);
            // Four rules and itself are five, of 256.
            assert!((1..=52).contains(&(bench.plane.commits - commits)), "{} at once", bench.plane.commits - commits);
            let answer = bench.ask(MessageType::HeartbeatRequest, None, vec![Ie::RecoveryTimeStamp(SMF_STARTED + 1)]);
            assert_eq!(answer.kind, MessageType::HeartbeatResponse);
            slices += 1;
        }
        assert!(slices >= MANY / 52, "{slices} slices");
        assert_eq!((bench.plane.sessions.len(), bench.node.resources_in_use(), bench.node.sessions_ending()), (0, 0, 0));
        assert_eq!(bench.node.stats().ended, u64::from(MANY));
    }
}

#[test]
fn a_new_session_gets_the_tunnel_and_address_of_one_that_waits_to_be_ended() {
    let (mut bench, seids) = bench();
    associate_anew(&mut bench);
    let (seid, _) = bench.establish(simple_session(1, 700, [10, 45, 700_u32.to_be_bytes()[2], 700_u32.to_be_bytes()[3]], vec![]));
    assert!(!seids.contains(&seid), "the SEID is not one of those that wait");
    assert!(!bench.plane.sessions.contains_key(&seids[699]), "the one before has ended first");
    bench.pass(Duration::ZERO);
    assert_eq!(bench.plane.sessions.keys().copied().collect::<Vec<_>>(), [seid]);
    // The same with what only the user plane knows: here it says who has the key.
    let (mut bench, seids) = self::bench();
    bench.delete(seids[0]);
    associate_anew(&mut bench);
    bench.plane.failures = vec![CommitError::Taken { rule: RuleId::Pdr(2), by: seids[4], why: "taken".into() }];
    bench.establish(simple_session(1, 1, [172, 16, 0, 1], vec![]));
    assert!(!bench.plane.sessions.contains_key(&seids[4]));
    assert_eq!(bench.plane.sessions.len(), MANY as usize - 1);
}

#[test]
fn a_session_that_lives_is_not_ended_for_another() {
    let (mut bench, seids) = bench();
    bench.delete(seids[0]);
    let answer = bench.ask(MessageType::SessionEstablishmentRequest, Some(0), simple_session(1, 700, [10, 45, 9, 9], vec![]));
    assert_eq!(answer.cause(), Some(Cause::RULE_FAILURE));
    bench.plane.failures = vec![CommitError::Taken { rule: RuleId::Pdr(2), by: seids[4], why: "taken".into() }];
    let answer = bench.ask(MessageType::SessionEstablishmentRequest, Some(0), simple_session(1, 1, [10, 45, 0, 1], vec![]));
    assert_eq!(answer.cause(), Some(Cause::RULE_FAILURE));
    assert_eq!(bench.node.session_count(), MANY as usize - 1);
}

#[test]
fn sessions_that_wait_to_be_ended_give_their_room_to_new_ones() {
    let (mut bench, _) = bench();
    associate_anew(&mut bench);
    for n in 1..=MANY {
        bench.establish(simple_session(n.into(), 5000 + n, [10, 45, 100 + (n >> 8) as u8, n as u8], vec![]));
        assert!(bench.plane.sessions.len() <= MANY as usize, "both together are never more than may be");
    }
    bench.pass(Duration::ZERO);
    assert_eq!((bench.plane.sessions.len(), bench.node.session_count()), (MANY as usize, MANY as usize));
}

#[test]
fn timers_that_are_due_at_once_are_looked_at_in_slices() {
    let mut bench = Bench::with(Config { max_outstanding: 10_000, ..config() });
    for n in 1..=MANY {
        let periodic = vec![urr(1, 0x01, vec![Ie::MeasurementPeriod(60)])];
        bench.establish(simple_session(n.into(), n, [10, 45, (n >> 8) as u8, n as u8], periodic));
    }
    bench.now += Duration::from_secs(60);
    let mut reports = Vec::new();
    while bench.node.next_deadline().is_some_and(|at| at <= bench.now) {
        bench.node.handle_timeout(bench.now, &mut bench.plane);
        reports.push(bench.sent().len());
    }
    assert_eq!(reports.iter().sum::<usize>(), MANY as usize);
    assert!(reports.iter().all(|count| *count <= 64), "{reports:?}");
}
