//! Is anything lost when the daemon is killed? `kill -9` at random moments while an SMF establishes, modifies and deletes sessions: what it was
//! told is there after the next start, with the same recovery time stamp, SEIDs, TEIDs and addresses, and nothing is there besides.
//!
//! Some kills here. `make kills` does 500, which takes some minutes.

mod kept;

use kept::{Daemon, Smf, loopback};
use pfcp::codec::MessageType;
use rand::Rng;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

const KILLS: usize = 8;
/// Addresses that the pool gives.
const POOL: usize = 254;

#[test]
fn nothing_that_an_smf_was_told_is_lost_when_the_daemon_is_killed() {
    let kills = std::env::var("KILLS").map_or(KILLS, |kills| kills.parse().expect("KILLS is a number"));
    let mut random = testkit::rng(18);
    let mut smf = Smf::new();
    let gnb = UdpSocket::bind((loopback(23), 0)).unwrap();
    let mut daemon = Daemon::new(smf.upf);
    daemon.start();
    let stamp = smf.associate();
    smf.establish(None);
    smf.settle();
    let carrier = smf.next_seid;
    let (mut held, mut in_flight, mut slowest) = (Vec::new(), 0, Duration::ZERO);
    for kill in 0..kills {
        let before = smf.charged;
        smf.carry(&gnb, carrier, before);
        // It is for packets, and no request touches it meanwhile.
        let carries = smf.sessions.remove(&carrier).unwrap();
        let answers = random.random_range(1..300);
        smf.work(answers, &mut random);
        // Somewhere in what the daemon does for those in flight.
        let until = Instant::now() + Duration::from_micros(random.random_range(0..2000));
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        in_flight += smf.waiting.len();
        daemon.kill();
        let began = Instant::now();
        daemon.start();
        slowest = slowest.max(began.elapsed());
        // Requests without an answer are sent again: none may be executed twice.
        smf.settle();
        smf.sessions.insert(carrier, carries);
        smf.all_is_there(stamp);
        held.extend(smf.sessions.values().map(|session| session.teid));
        if (kill + 1) % 50 == 0 {
            println!("{} kills, {} answers, slowest start {slowest:?}", kill + 1, smf.answers);
        }
    }
    let before = smf.charged;
    smf.carry(&gnb, carrier, before);
    println!("{kills} kills, {} answers, {in_flight} requests in flight, slowest start {slowest:?}", smf.answers);
    assert!(in_flight > 0, "no request was in flight at any kill");

    // No address is lost: all are given out again. No TEID: those that sessions had can be asked for.
    let delete_all = |smf: &mut Smf| {
        for (cp_seid, session) in smf.sessions.clone() {
            smf.ask(MessageType::SessionDeletionRequest, Some(session.seid), cp_seid, Vec::new());
        }
    };
    delete_all(&mut smf);
    held.sort_unstable();
    held.dedup();
    for teid in held.into_iter().map(Some).chain(std::iter::repeat(None)).take(POOL) {
        smf.establish(teid);
        smf.settle();
    }
    assert_eq!(smf.sessions.len(), POOL);
    delete_all(&mut smf);
    let report = daemon.end();
    let n4 = report.split("\"n4\":").nth(1).unwrap_or_default();
    assert!(n4.contains("\"sessions\": 0,") && n4.contains("\"sessions_ending\": 0,"), "{report}");
}
