//! Is anything lost when the daemon is killed? `kill -9` at random moments under traffic, while an SMF establishes, modifies and deletes sessions, and
//! while the daemon starts and reads its store. What the SMF was told is there after the next start: recovery time stamp, SEIDs, TEIDs, addresses
//! and tunnels, and nothing is there besides. Packets that are not charged are of the time that the daemon says.
//!
//! Some kills here. `make kills` does 500, which takes some minutes.

mod kept;

use kept::{COUNTERS_WITHIN_S, Daemon, PACKET, PATIENCE, Smf, Stream, Watch, loopback};
use pfcp::codec::{Ie, MessageType};
use rand::Rng;
use std::net::UdpSocket;
use std::time::{Duration, Instant};

const KILLS: usize = 8;
/// Addresses that the pool gives.
const POOL: usize = 254;
/// From one packet of the stream to the next.
const PERIOD: Duration = Duration::from_millis(2);
/// The log has tenths of a second.
const TENTH: Duration = Duration::from_millis(100);

#[test]
fn nothing_that_an_smf_was_told_is_lost_when_the_daemon_is_killed() {
    let kills = std::env::var("KILLS").map_or(KILLS, |kills| kills.parse().expect("KILLS is a number"));
    let mut random = testkit::rng(18);
    let mut smf = Smf::new();
    let gnb = UdpSocket::bind((loopback(23), 0)).unwrap();
    let mut daemon = Daemon::new(smf.upf);
    daemon.start();
    let stamp = smf.associate();
    smf.establish_all([None, None]);
    // One is for packets that are counted one by one, the other for those that come all the time; no request of the work is about them.
    let (carrier, streamed) = (1, 2);
    let ours: Vec<_> = [carrier, streamed].map(|cp_seid| (cp_seid, smf.sessions[&cp_seid].clone())).into();
    let of_stream = ours[1].1.seid;
    let packet = smf.packet_of(streamed);
    let from = UdpSocket::bind((loopback(23), 0)).unwrap();
    let stream = Stream::start(from, (smf.n3, 2152).into(), PERIOD, move |_| packet.clone());
    let watch = Watch::start(&daemon, of_stream);
    let (mut in_flight, mut in_starts, mut slowest) = (0, 0, Duration::ZERO);
    // Rounds in which more than before had to come back of what was counted, bytes that did not, and the most that was behind the store.
    let (mut came_back, mut uncharged, mut longest) = (0, 0, Duration::ZERO);
    // What was counted of the daemon that is killed next when it had started, and when that was; and what at least had come back then.
    let (mut lives_since, mut after_start, mut floor) = (Instant::now(), 0, 0);
    for kill in 0..kills {
        let before = smf.charged;
        smf.carry(&gnb, carrier, before);
        smf.sessions.retain(|cp_seid, _| ![carrier, streamed].contains(cp_seid));
        // Now and then the counters are written in between.
        let pause = Duration::from_millis(random.random_range(0..2 * 1000 * COUNTERS_WITHIN_S));
        for (answers, pause) in [(300, pause), (100, Duration::ZERO)] {
            let answers = random.random_range(1..answers);
            smf.work(answers, &mut random);
            std::thread::sleep(pause);
        }
        // Somewhere in what the daemon does for those in flight.
        let until = Instant::now() + Duration::from_micros(random.random_range(0..2000));
        while Instant::now() < until {
            std::hint::spin_loop();
        }
        in_flight += smf.waiting.len();
        daemon.kill();
        let (killed, sent_before) = (Instant::now(), stream.sent());
        let said = daemon.uncounted().len();
        if random.random_bool(0.3) {
            daemon.begin();
            std::thread::sleep(slowest.mul_f64(random.random()));
            daemon.kill();
            in_starts += 1;
        }
        let began = Instant::now();
        daemon.start();
        slowest = slowest.max(began.elapsed());
        // It was away for some of the time of which it says that packets may be missing. What was counted before that is there.
        // A start that was cut off may have said so first; then it is since that one that the last start says so.
        let uncounted = daemon.uncounted()[said..].iter().max().copied().expect("it came back") + TENTH;
        let since = if daemon.uncounted().len() > said + 1 { killed } else { began };
        let counted = |to: Instant| watch.counted(lives_since, to).unwrap_or(after_start);
        // Packets came between its start and the first look at it: what that saw need not be there if all of its life is uncounted. What came back
        // before is.
        let until = since.checked_sub(uncounted).filter(|until| *until >= lives_since);
        let (must_be, was) = (until.map_or(floor, counted), counted(killed));
        let is = daemon.session(of_stream).session.uplink.bytes;
        assert!(is >= must_be, "{is} bytes came back of {must_be} that were counted {uncounted:?} before the start, {was} before the kill");
        came_back += usize::from(must_be > after_start);
        uncharged += was.saturating_sub(is);
        longest = longest.max(uncounted.saturating_sub(since - killed));
        // No more came since than were sent, but for one whose sending was not noted yet.
        let since_start = (stream.sent() - sent_before + 1) * PACKET as u64;
        (after_start, lives_since, floor) = (is, Instant::now(), must_be.max(is.saturating_sub(since_start)));
        // Requests without an answer are sent again: none may be executed twice.
        smf.settle();
        smf.sessions.extend(ours.iter().cloned());
        smf.all_is_there(stamp);
        daemon.has_what_was_told(&smf);
        daemon.has_them_in_front(&smf);
        if (kill + 1) % 50 == 0 {
            println!("{} kills, {} answers, slowest start {slowest:?}", kill + 1, smf.answers);
        }
    }
    let before = smf.charged;
    smf.carry(&gnb, carrier, before);
    println!(
        "{kills} kills, {in_starts} more while it started, {} answers, {in_flight} requests in flight, slowest start {slowest:?}; {} packets sent, \
         {} uncharged that were seen counted, counters {longest:?} behind at most, {came_back} times newer ones came back; {} TEIDs were held",
        smf.answers,
        stream.sent(),
        uncharged / PACKET as u64,
        smf.held.len(),
    );
    assert!(in_flight > 0, "no request was in flight at any kill");
    assert!(came_back > 0, "at no kill counters had been written since the start before");
    // As configured, as far as a busy machine lets the daemon's threads run.
    assert!(longest < Duration::from_secs(COUNTERS_WITHIN_S) + PATIENCE / 4, "counters are {longest:?} behind");

    // Each packet is charged once at most, and nothing that the daemon counts is left out.
    let sent = stream.end();
    drop(watch);
    let mut counted = None;
    kept::until("all packets of the stream are counted", || {
        let now = daemon.session(of_stream).session.uplink.bytes;
        counted.replace(now) == Some(now)
    });
    let charged_before = smf.charged;
    smf.ask(MessageType::SessionModificationRequest, Some(of_stream), streamed, vec![Ie::QueryUrr(vec![Ie::UrrId(1)])]);
    let charged = smf.charged - charged_before;
    assert_eq!(Some(charged), counted);
    assert!(charged > 0 && charged <= sent * PACKET as u64, "{charged} bytes are charged of {sent} packets");

    // No TEID is lost: each that a session had can be asked for. No address: all are given out again.
    smf.delete_all();
    let held: Vec<_> = smf.held.iter().copied().map(Some).collect();
    for teids in held.chunks(POOL).chain([&[None; POOL][..]]) {
        smf.establish_all(teids.iter().copied());
        assert_eq!(smf.sessions.len(), teids.len());
        daemon.has_what_was_told(&smf);
        smf.delete_all();
    }
    let report = daemon.end();
    let n4 = report.split("\"n4\":").nth(1).unwrap_or_default();
    assert!(n4.contains("\"sessions\": 0,") && n4.contains("\"sessions_ending\": 0,"), "{report}");
}
