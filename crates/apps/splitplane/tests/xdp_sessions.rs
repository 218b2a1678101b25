//! Does the daemon with XDP ahead of x86 treat one session as one, while its packets run here and there and the SMF changes it? As root, in
//! network namespaces of its own; every frame that comes out is compared, in order per session.

#[allow(dead_code)] // It is for other tests, too.
mod netns;

use netns::{NEXT_TUNNEL, PATIENCE, Testbed, testbed_or_skip};
use pfcp::codec::{GateStatus, Ie};
use std::fmt::Write;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use traffic::Tunnel;
use traffic::plan::rules::QER_DEFAULT;
use traffic::smf::Event;

/// It is always on x86.
const ON_X86: usize = 0;
const RATED: usize = 1;
/// kbit/s, up and down: the first lets a burst pass and hardly more, the second goes on.
const RATE_KBPS: (u64, u64) = (1, 400);
/// Bytes, of rates as low as these (`upf::lower::meter_config`).
const BURST: u64 = 16 * 1024;
/// DSCP of tunnels of sessions that the policy wants on x86.
const BASE_DSCP: u8 = 10;

/// Sessions are in XDP but for the first, and as long as their tunnels are not marked so.
fn planned() -> String {
    let rules = format!(
        "rules = [{{ ue = \"10.45.0.2/32\", then = \"base\" }}, {{ dscp = {BASE_DSCP}, then = \"base\" }}, {{ ue = \"10.45.0.0/16\", then = \"fast\" }}]"
    );
    Testbed::config("xdp", 1.0).replace("policy = { share = 1.0 }", &format!("policy = \"planned\"\n{rules}"))
}

/// One UE's rate is one wherever its packets run: the session moves to and fro, and no burst comes by moving.
#[test]
fn a_session_that_moves_has_one_bucket() {
    testbed_or_skip("a_session_that_moves_has_one_bucket", |bed| has_one_bucket(bed, &planned(), true));
}

/// IPv4 runs on x86 for want of room for the firewall while IPv6 runs in XDP; and the session moves as well.
#[test]
fn a_session_in_two_places_at_once_has_one_bucket() {
    // More combinations of two lengths of prefixes than XDP looks through.
    let lengths = (8..16).flat_map(|from| (8..17).map(move |to| (from, to)));
    let mut config = planned();
    for (from, to) in lengths {
        write!(config, "[[firewall]]\naction = \"deny\"\nfrom = \"11.0.0.0/{from}\"\nto = \"12.0.0.0/{to}\"\n").unwrap();
    }
    testbed_or_skip("a_session_in_two_places_at_once_has_one_bucket", move |bed| has_one_bucket(bed, &config, false));
}

fn has_one_bucket(mut bed: Testbed, config: &str, alone: bool) {
    let daemon = bed.start_daemon(&format!("{config}[qos]\nmode = \"police\"\n"));
    bed.connect();
    let begin = Instant::now();
    bed.establish_with(2, |n, plan| {
        if n == RATED {
            (plan.qos.mbr_kbps, plan.dscp) = (Some(RATE_KBPS), Some(BASE_DSCP));
        }
    });
    // A part of the burst on x86, where it begins.
    (0..8).for_each(|_| bed.step(&[RATED], usize::MAX));
    bed.fence(ON_X86);
    assert_eq!((bed.n6.came(RATED).packets, bed.n3.came(RATED).packets, bed.ran_in_xdp()), (8, 8, (0, 0)));
    let (mut on_x86, mut in_xdp) = (16, (0, 0));
    let least_dropped = if alone { 300 } else { 50 };
    for round in 0..24 {
        // How much runs in XDP depends on how busy the machine is: as many rounds as it takes.
        if round >= 6 && in_xdp.0 > 20 && in_xdp.1 > least_dropped {
            break;
        }
        let fast = round % 2 == 0;
        bed.sessions[RATED].plan.dscp = Some(if fast { 0 } else { BASE_DSCP });
        bed.set_active(RATED);
        bed.until(RATED, fast, |bed| bed.fence(ON_X86));
        // More than a burst each way, so that there are drops however slow we are; no more at once than a queue of the kernel's holds.
        for _ in 0..4 {
            let before = bed.ran_in_xdp();
            (0..32).for_each(|_| bed.step(&[RATED], usize::MAX));
            bed.fence(ON_X86);
            let after = bed.ran_in_xdp();
            let ran = (after.0 - before.0, after.1 - before.1);
            in_xdp = (in_xdp.0 + ran.0, in_xdp.1 + ran.1);
            on_x86 += 64 - ran.0 - ran.1;
            assert!(fast || ran == (0, 0), "{ran:?} in XDP, but the session is not");
        }
    }
    let elapsed = begin.elapsed();
    let offered = bed.offered.clone();
    let charged = bed.delete_sessions();
    let report = daemon.stop();
    assert_eq!(report["imbalance"], 0, "{report:#}");
    // It is dropped for its rate and nothing else, and only what passed is charged.
    let (up, down) = (bed.n6.came(RATED), bed.n3.came(RATED));
    let dropped = offered[RATED].packets.0 + offered[RATED].packets.1 - up.packets - down.packets;
    let reasons: Vec<_> = report["dropped"].as_object().unwrap().iter().map(|(name, count)| (name.as_str(), &count["packets"])).collect();
    assert_eq!(reasons, [("rate_exceeded", &dropped.into())]);
    assert_eq!(charged[&bed.ue(RATED)], (up.bytes, down.bytes));
    assert_eq!(charged[&bed.ue(ON_X86)], offered[ON_X86].bytes);
    // A full bucket but for the packet that did not fit, and what has flown in since, once.
    for (name, passed, offered, kbps) in
        [("uplink", up.bytes, offered[RATED].bytes.0, RATE_KBPS.0), ("downlink", down.bytes, offered[RATED].bytes.1, RATE_KBPS.1)]
    {
        let most = BURST + (elapsed.as_secs_f64() * kbps as f64 * 125.0).ceil() as u64;
        assert!(offered > 10 * BURST, "{name}: {offered} bytes offered");
        assert!((BURST - 1500..=most).contains(&passed), "{name}: {passed} bytes of {offered} passed, {most} at most in {elapsed:?}");
    }
    println!("{dropped} dropped, {up:?} up, {down:?} down; {on_x86} on x86, {in_xdp:?} sent and dropped in XDP; {elapsed:?}");
    let (sent, dropped) = in_xdp;
    assert!(on_x86 > 300 && sent > 20 && dropped > least_dropped, "{on_x86} on x86, {in_xdp:?} in XDP");
}

/// kbit/s, up and down, of a session whose packets wait.
const SHAPED_KBPS: u64 = 200;

/// What is over a session's rate waits on x86, and so does all that comes to the session until nothing waits: none is overtaken, each is charged once, and
/// behind them the session runs in XDP again.
#[test]
fn packets_over_a_rate_wait_on_x86_and_the_session_returns_to_xdp() {
    testbed_or_skip("packets_over_a_rate_wait_on_x86_and_the_session_returns_to_xdp", |mut bed| {
        // Long queues, so that a busy machine loses little.
        let daemon = bed.start_daemon(&format!("{}[qos]\nqueue_ms = 1000\ntarget_ms = 1000\n", planned()));
        bed.connect();
        let begin = Instant::now();
        bed.establish_with(2, |n, plan| {
            if n == RATED {
                plan.qos.mbr_kbps = Some((SHAPED_KBPS, SHAPED_KBPS));
            }
        });
        // All that was sent has come to x86, and nothing waits there any more.
        let settle = |bed: &mut Testbed| {
            bed.pass_through(ON_X86);
            let end = Instant::now() + PATIENCE;
            while waiting(&daemon.report()) > 0 {
                assert!(Instant::now() < end, "packets wait for ever");
                bed.collect_some();
            }
            bed.fence(ON_X86);
        };
        let mut waited = 0;
        for round in 0..12 {
            let before = bed.ran_in_xdp().0;
            bed.until(RATED, true, settle);
            assert!(bed.ran_in_xdp().0 > before, "round {round}");
            // More than the bucket holds, and than it gains meanwhile even if the sender takes half a second.
            for _ in 0..128 {
                bed.step(&[RATED], usize::MAX);
            }
            settle(&mut bed);
            waited = daemon.report()["shaped"]["queued"].as_u64().unwrap();
            if round >= 3 && waited > 200 {
                break;
            }
        }
        let elapsed = begin.elapsed();
        let (offered, in_xdp) = (bed.offered.clone(), bed.ran_in_xdp());
        let charged = bed.delete_sessions();
        let report = daemon.stop();
        let (up, down) = (bed.n6.came(RATED), bed.n3.came(RATED));
        println!("{waited} waited, {in_xdp:?} sent and dropped in XDP; {up:?} up and {down:?} down of {:?}; {elapsed:?}", offered[RATED]);
        assert_eq!(report["imbalance"], 0, "{report:#}");
        assert_eq!(charged[&bed.ue(RATED)], (up.bytes, down.bytes));
        assert_eq!(charged[&bed.ue(ON_X86)], offered[ON_X86].bytes);
        // A busy machine may be late for some; nothing is dropped for its rate at once.
        let dropped = offered[RATED].packets.0 + offered[RATED].packets.1 - up.packets - down.packets;
        let reasons = report["dropped"].as_object().unwrap();
        assert!(reasons.keys().all(|reason| reason.starts_with("shaper_")), "{reasons:?}");
        assert_eq!(reasons.values().map(|count| count["packets"].as_u64().unwrap()).sum::<u64>(), dropped);
        assert!(in_xdp.0 > 100 && waited > 100, "{in_xdp:?} in XDP, {waited} waited");
        for passed in [up.bytes, down.bytes] {
            let most = BURST + (elapsed.as_secs_f64() * SHAPED_KBPS as f64 * 125.0).ceil() as u64;
            assert!(passed <= most, "{passed} bytes passed, {most} at most in {elapsed:?}");
        }
    });
}

/// kbit/s, up and down, of a session that moves while its packets wait.
const WAITING_KBPS: u64 = 1000;
/// Its packets under way in each direction: some 0.5 s of its rate.
const WAITING: usize = 200;
/// How often it moves each way while packets wait in both directions, at least.
const FULL_MOVES: [u64; 2] = [6, 6];

/// A session moves to XDP and back while its packets wait for its rates in both directions, now and then with an empty queue in between. None is overtaken,
/// none is lost but for those that a busy machine is late for, none comes twice, each is charged once, and the rates are not exceeded; and behind them it runs in
/// XDP. That each takes of its rate once is compared by time in `offload`'s `shaped.rs`; here the share of the rate is printed.
#[test]
fn a_session_moves_to_xdp_and_back_while_its_packets_wait() {
    testbed_or_skip("a_session_moves_to_xdp_and_back_while_its_packets_wait", |mut bed| {
        let daemon = bed.start_daemon(&format!("{}[qos]\nqueue_ms = 1000\ntarget_ms = 1000\n", planned()));
        bed.connect();
        bed.n3.any_dscp = true;
        let begin = Instant::now();
        bed.establish_with(2, |n, plan| {
            if n == RATED {
                (plan.qos.mbr_kbps, plan.dscp) = (Some((WAITING_KBPS, WAITING_KBPS)), Some(BASE_DSCP));
            }
        });
        let ue = bed.ue(RATED).to_string();
        // The session's target, and how many packets wait.
        let look = |daemon: &netns::Daemon| {
            let report = daemon.report();
            let session = report["sessions"].as_array().unwrap().iter().find(|of| of["ue_ipv4"] == ue.as_str()).unwrap();
            (session["target"].as_str().unwrap().to_owned(), waiting(&report))
        };
        let settle = |bed: &mut Testbed, daemon: &netns::Daemon| {
            bed.pass_through(ON_X86);
            let end = Instant::now() + PATIENCE;
            while look(daemon).1 > 0 {
                assert!(Instant::now() < end, "packets wait for ever");
                bed.collect_some();
            }
            bed.fence(ON_X86);
        };
        let (mut full, mut returned, mut best) = ([0; 2], 0, 0f64);
        for round in 0..60 {
            if full[0] >= FULL_MOVES[0] && full[1] >= FULL_MOVES[1] && returned >= 2 {
                break;
            }
            let (started, before) = (Instant::now(), bed.n6.came(RATED).bytes + bed.n3.came(RATED).bytes);
            for (way, target, dscp) in [(0, "xdp", 0), (1, "x86", BASE_DSCP)] {
                bed.sessions[RATED].plan.dscp = Some(dscp);
                let (smf, mut session) = (bed.smf(), bed.sessions[RATED].clone());
                // Packets go on coming meanwhile, so that some wait in both directions before it moves and behind it.
                (0..2 * WAITING).for_each(|_| bed.step(&[RATED], WAITING));
                let (waited, never_empty) = while_packets_come(&mut bed, || {
                    let waited_before = look(&daemon).1 > 20;
                    let gnb = session.plan.gnb;
                    smf.set_active(&mut session, gnb).unwrap();
                    let end = Instant::now() + PATIENCE;
                    loop {
                        let (at, waits) = look(&daemon);
                        if at == target {
                            return waited_before && waits > 20;
                        }
                        assert!(Instant::now() < end, "the session stays on {at}");
                    }
                });
                bed.sessions[RATED] = session;
                full[way] += u64::from(waited && never_empty);
                // Sent to it where it is now, behind those that wait.
                (0..40).for_each(|_| bed.step(&[RATED], WAITING));
                if way == 0 && round % 4 == 3 {
                    settle(&mut bed, &daemon);
                    bed.until(RATED, true, |bed| settle(bed, &daemon));
                    returned += 1;
                }
            }
            let passed = bed.n6.came(RATED).bytes + bed.n3.came(RATED).bytes - before;
            best = best.max(passed as f64 / (started.elapsed().as_secs_f64() * 2.0 * WAITING_KBPS as f64 * 125.0));
        }
        settle(&mut bed, &daemon);
        let elapsed = begin.elapsed();
        let (offered, in_xdp) = (bed.offered.clone(), bed.ran_in_xdp());
        let charged = bed.delete_sessions();
        let report = daemon.stop();
        let (up, down) = (bed.n6.came(RATED), bed.n3.came(RATED));
        println!(
            "moves to XDP and back with full queues: {full:?}; {returned} returns; best {best:.3} of the rate; {in_xdp:?} in XDP; {up:?} up, {down:?} down of {:?}; {}; {elapsed:?}",
            offered[RATED], report["shaped"]
        );
        assert!(full[0] >= FULL_MOVES[0] && full[1] >= FULL_MOVES[1] && returned >= 2, "{full:?}, {returned} returns");
        assert_eq!(report["imbalance"], 0, "{report:#}");
        assert_eq!(charged[&bed.ue(RATED)], (up.bytes, down.bytes));
        assert_eq!(charged[&bed.ue(ON_X86)], offered[ON_X86].bytes);
        let dropped = offered[RATED].packets.0 + offered[RATED].packets.1 - up.packets - down.packets;
        let reasons = report["dropped"].as_object().unwrap();
        assert!(reasons.keys().all(|reason| reason.starts_with("shaper_")), "{reasons:?}");
        assert_eq!(reasons.values().map(|count| count["packets"].as_u64().unwrap()).sum::<u64>(), dropped);
        assert!(in_xdp.0 >= returned, "{in_xdp:?} in XDP");
        for passed in [up.bytes, down.bytes] {
            let most = BURST + (elapsed.as_secs_f64() * WAITING_KBPS as f64 * 125.0).ceil() as u64;
            assert!(passed <= most, "{passed} bytes passed, {most} at most in {elapsed:?}");
        }
    });
}

/// Packets of the rated session both ways until that is done; and whether some were under way in both directions whenever one was sent.
fn while_packets_come<T: Send>(bed: &mut Testbed, work: impl FnOnce() -> T + Send) -> (T, bool) {
    std::thread::scope(|scope| {
        let work = scope.spawn(work);
        let mut never_empty = true;
        while !work.is_finished() {
            never_empty &= bed.waits_both_ways(RATED);
            bed.step(&[RATED], WAITING);
        }
        (work.join().unwrap(), never_empty)
    })
}

/// Packets that wait for rates, by a report: as it was some milliseconds ago.
fn waiting(report: &serde_json::Value) -> u64 {
    let count = |value: &serde_json::Value| value.as_u64().unwrap();
    let dropped = report["shaped"]["dropped"].as_object().unwrap();
    let late: u64 = dropped.iter().filter(|(why, _)| !["queue_full", "full"].contains(&why.as_str())).map(|(_, n)| count(n)).sum();
    count(&report["shaped"]["queued"]) - count(&report["shaped"]["sent"]["packets"]) - late
}

const BUSY: usize = 2;
const ALL: [usize; 4] = [0, 1, 2, 3];
/// Of each session, in each direction.
const IN_FLIGHT: usize = 16;
/// Of the busy one while it wakes: with the others' no more than a queue of the kernel's holds (256, veth).
const IN_FLIGHT_WAKING: usize = 200;

/// Changes of a session that are timed.
const REQUESTS: usize = 2000;
/// More than from one look at what was handed on to the next.
const IDLE: Duration = Duration::from_millis(450);

/// Traffic of all, both ways, until that is done. It may raise how many packets of the busy session are under way.
fn meanwhile<T: Send>(bed: &mut Testbed, work: impl FnOnce(&AtomicUsize) -> T + Send) -> T {
    let most = AtomicUsize::new(IN_FLIGHT);
    let mut traffic = |most: usize| {
        bed.step(&[0, 1, 3], IN_FLIGHT);
        bed.step(&[BUSY], most);
    };
    (0..20).for_each(|_| traffic(IN_FLIGHT));
    let done = std::thread::scope(|scope| {
        let work = scope.spawn(|| work(&most));
        while !work.is_finished() {
            traffic(most.load(Ordering::Relaxed));
        }
        work.join().unwrap()
    });
    (0..20).for_each(|_| traffic(IN_FLIGHT));
    done
}

fn downlink_gate(open: bool) -> pfcp::codec::Group {
    let gates = GateStatus { uplink_open: true, downlink_open: open };
    vec![Ie::UpdateQer(vec![Ie::QerId(QER_DEFAULT), Ie::GateStatus(gates)])]
}

/// The SMF hands a session over, lets it fall idle and wakes it, and closes and opens its gate, while it and others have traffic. No packet
/// is lost but for the closed gate, none is overtaken, none takes a tunnel that was left before it was sent, and all are charged.
#[test]
fn a_busy_session_is_handed_over_paged_and_gated() {
    testbed_or_skip("a_busy_session_is_handed_over_paged_and_gated", |mut bed| {
        let daemon = bed.start_daemon(&planned());
        bed.connect();
        bed.establish(ALL.len() as u32);
        let mut events = bed.smf().events().unwrap();
        let (mut handovers, mut pages) = (Vec::new(), 0);
        for round in 0..16 {
            bed.until(BUSY, true, Testbed::collect_all);
            let (smf, mut session) = (bed.smf(), bed.sessions[BUSY].clone());
            let left = session.plan.gnb;
            let next = Tunnel { teid: left.teid + NEXT_TUNNEL, ..left };
            match round % 4 {
                0 | 1 => {
                    bed.n3.expect_tunnel(BUSY, next.teid);
                    meanwhile(&mut bed, |_| smf.path_switch(&mut session, next).unwrap());
                    handovers.push(left.teid);
                }
                2 => {
                    bed.n3.expect_tunnel(BUSY, next.teid);
                    let (session, events) = (&mut session, &mut events);
                    meanwhile(&mut bed, move |most| {
                        smf.set_idle(session).unwrap();
                        let event = events.recv_timeout(PATIENCE);
                        assert!(matches!(event, Ok(Event::DownlinkData { .. })), "{event:?}");
                        // By then what waits counts as left (`daemon::datapath::drainer`), and must be counted anew.
                        std::thread::sleep(IDLE);
                        // Packets come as fast as they can while those that wait leave.
                        most.store(IN_FLIGHT_WAKING, Ordering::Relaxed);
                        smf.set_active(session, next).unwrap();
                    });
                    pages += 1;
                }
                _ => {
                    bed.n3.may_lose(BUSY, true);
                    meanwhile(&mut bed, |_| smf.modify(&session, downlink_gate(false)).unwrap());
                    bed.fence(ON_X86);
                    let came = bed.n3.came(BUSY);
                    (0..20).for_each(|_| bed.step(&[BUSY], IN_FLIGHT));
                    bed.fence(ON_X86);
                    assert_eq!(bed.n3.came(BUSY), came, "a closed gate");
                    meanwhile(&mut bed, |_| smf.modify(&session, downlink_gate(true)).unwrap());
                    bed.fence(ON_X86);
                    bed.n3.may_lose(BUSY, false);
                }
            }
            // What is sent from now on goes the new way.
            bed.sessions[BUSY] = session;
            (0..20).for_each(|_| bed.step(&ALL, IN_FLIGHT));
            bed.collect_all();
        }
        bed.fence(ON_X86);
        // One by each tunnel that was left, and nothing came by it afterwards.
        assert_eq!(bed.n3.end_markers, handovers);
        assert!(events.try_iter().all(|e| !matches!(e, Event::DownlinkData { .. })), "one report for each time that it was idle");
        let offered = bed.offered.clone();
        let charged = bed.delete_sessions();
        let report = daemon.stop();
        let came = bed.n3.came(BUSY);
        let lost = offered[BUSY].packets.1 - came.packets;
        let reasons: Vec<_> =
            report["dropped"].as_object().unwrap().iter().map(|(name, count)| (name.as_str(), &count["packets"])).collect();
        assert_eq!((&report["imbalance"], reasons), (&0.into(), vec![("gate_closed", &lost.into())]), "{report:#}");
        for (n, offered) in offered.iter().enumerate() {
            let down = if n == BUSY { came.bytes } else { offered.bytes.1 };
            assert_eq!(charged[&bed.ue(n)], (offered.bytes.0, down), "session {n}");
        }
        let packets = |name: &str| report["targets"][name]["downlink"]["packets"].as_u64().unwrap();
        let waited = report["buffered"]["packets"].as_u64().unwrap();
        println!("downlink {} in XDP, {} on x86; {waited} waited, {lost} dropped", packets("xdp"), packets("x86"));
        assert!(waited >= pages && report["buffered"] == report["released"] && lost >= 4 * 20, "{report:#}");
        assert!(packets("xdp") > 500 && packets("x86") > 100, "{report:#}");
    });
}

/// Changes of a session while the kernel hands packets on, and while what it has handed on is drained, again and again. The time from request to
/// answer is printed, not judged: it is the machine's too.
#[test]
fn an_smf_is_answered_while_packets_in_flight_are_drained() {
    testbed_or_skip("an_smf_is_answered_while_packets_in_flight_are_drained", |mut bed| {
        let daemon = bed.start_daemon(&planned());
        bed.connect();
        bed.establish(ALL.len() as u32);
        let (smf, session) = (bed.smf(), bed.sessions[0].clone());
        let mut took: Vec<Duration> = meanwhile(&mut bed, |_| {
            let request = |_| {
                let begin = Instant::now();
                smf.modify(&session, downlink_gate(true)).unwrap();
                begin.elapsed()
            };
            (0..REQUESTS).map(request).collect()
        });
        bed.fence(ON_X86);
        bed.collect_all();
        took.sort_unstable();
        let at = |share: usize| took[(took.len() - 1) * share / 100].as_micros();
        println!("N4 under XDP load: {REQUESTS} requests, p50 {} us, p99 {} us, longest {} us", at(50), at(99), at(100));
        let report = daemon.stop();
        assert_eq!(report["imbalance"], 0, "{report:#}");
        let modified = report["n4"]["modified"].as_u64().unwrap();
        assert!(modified >= REQUESTS as u64, "{modified} changes");
        let slow_path = report["targets"]["xdp"]["slow_path"].as_u64().unwrap();
        assert!(slow_path > 100, "{slow_path} packets were handed on meanwhile");
    });
}
