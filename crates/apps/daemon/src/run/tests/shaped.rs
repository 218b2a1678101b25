//! What waits for an MBR in a running UPF: are quotas, rules that change, several rates and the end of it all kept?

use super::queues::{Bench, LENGTH, N3, charged, of, ue, uplink};
use super::*;
use traffic::plan::{Charging, Filter, FlowPlan, Qos};

/// Bytes of a user's packet.
const USER: u64 = 20 + LENGTH as u64;
/// As long as may be: a worker of a busy machine that stands for less loses nothing.
const PATIENT: &str = "[qos]\nqueue_ms = 1000\ntarget_ms = 1000\n";

fn dropped(report: &crate::manage::report::Report, reason: &str) -> u64 {
    report.dropped.get(reason).map_or(0, |count| count.packets)
}

/// The numbers of what came of that DSCP, which must be in order.
fn in_order(came: &[Vec<u8>], dscp: u8) -> Vec<u16> {
    let numbers: Vec<u16> = came.iter().map(|frame| of(frame)).filter(|of| of.1 == dscp).map(|of| of.2).collect();
    assert!(numbers.windows(2).all(|pair| pair[0] < pair[1]), "{numbers:?}");
    numbers
}

/// What waits has taken nothing from a quota (TS 29.244 §5.2.2.2: usage is measured after QoS enforcement); when the quota is used up, what still waits is
/// dropped for that.
#[test]
fn a_quota_lasts_for_what_an_mbr_lets_pass_and_what_waits_is_not_charged() {
    const QUOTA: u64 = 60 * USER;
    let mut bench = Bench::start_with(81, None, PATIENT);
    let session = bench.session(0, |plan| {
        plan.qos.mbr_kbps = Some((4000, 4000));
        plan.charging = Charging { volume_threshold: None, period_s: None, volume_quota: Some(QUOTA) };
    });
    bench.send(&(0..200).map(|number| uplink(&session, 0, 0, number)).collect::<Vec<_>>());
    let report = bench.settle(200, |report| charged(report, 0).0 == report.ports["n6"].transmitted.packets);
    let sent = report.ports["n6"].transmitted.packets;
    in_order(&bench.collect(sent as usize), 0);
    let late = dropped(&report, "shaper_late");
    // A cell is filled with what is left of the quota and the longest packet of a port less a byte, of which ports in memory have some that are much longer than
    // these: so many pass until the agent, which reads the counters, stops them. What waits has taken nothing from it, and when it is filled again, what has
    // been taken is counted: the worker's bursts from before have ended. So nothing is added to that.
    let most = (QUOTA + u64::from(upf::config::MAX_MTU) - 1) / USER;
    assert!(sent <= most, "{sent} packets, at most {most}: {:?}", report.dropped);
    // And no fewer than the quota has, but for those that a worker that stood has lost.
    assert!(sent >= 60 || late > 100, "{sent} packets: {:?}", report.dropped);
    assert_eq!(dropped(&report, "quota_exhausted") + late + sent, 200, "{:?}", report.dropped);
    assert!(report.shaped.queued > 100, "{:?}", report.shaped);
    assert_eq!(charged(&report, 0), (sent, sent * USER));
    assert_eq!(bench.smf.delete(&session).unwrap().uplink_bytes, sent * USER);
    bench.stop();
}

/// A QoS flow's MFBR under its session's AMBR (TS 23.501 §5.7.1.8): a packet waits for one, then for the other, and takes from each once.
#[test]
fn a_flow_keeps_its_own_rate_and_with_the_others_that_of_the_session() {
    const AMBR_KBPS: u64 = 4000;
    const MFBR_KBPS: u64 = 1000;
    /// What a cell holds at least, in bytes.
    const BURST: u64 = 16 << 10;
    let mut bench = Bench::start_with(91, None, PATIENT);
    let session = bench.session(0, |plan| {
        let own = SessionPlan::new(Shape::Free5gc, plan.gnb);
        let names = plan.names.clone();
        *plan = SessionPlan { ue_ipv4: plan.ue_ipv4, names, uplink: Some(Tunnel { addr: N3, teid: 0x77 }), ..own };
        plan.qos.mbr_kbps = Some((AMBR_KBPS, AMBR_KBPS));
        plan.flows.push(FlowPlan {
            filters: vec![Filter { flow: None, dscp: Some(46) }],
            qos: Qos { mbr_kbps: Some((MFBR_KBPS, MFBR_KBPS)), qfi: Some(5), ..Qos::default() },
            precedence: 10,
        });
    });
    let frames: Vec<Packet> = (0..200).map(|number| uplink(&session, 0, if number % 4 == 0 { 46 } else { 0 }, number)).collect();
    let began = Instant::now();
    bench.send(&frames);
    let report = bench.settle(200, |report| charged(report, 0).0 == report.ports["n6"].transmitted.packets);
    let sent = report.ports["n6"].transmitted.packets;
    let came = bench.collect(sent as usize);
    let elapsed = began.elapsed().as_secs_f64();
    let (flow, rest) = (in_order(&came, 46).len() as u64, in_order(&came, 0).len() as u64);
    // Neither rate is exceeded, however fast or slow the machine is: a packet that took from a rate twice would be late, one that took nothing too early.
    for (bytes, kbps) in [(flow * USER, MFBR_KBPS), (sent * USER, AMBR_KBPS)] {
        let most = BURST as f64 + elapsed * kbps as f64 * 125.0 + USER as f64;
        assert!(bytes as f64 <= most, "{bytes} bytes at {kbps} kbit/s in {elapsed} s");
    }
    // Both rates had packets wait: of the flow's 50 no more than 17 go at once, of all 200 no more than 17.
    assert!(report.shaped.queued > 180, "{:?}", report.shaped);
    let late = dropped(&report, "shaper_late") + dropped(&report, "shaper_full");
    assert_eq!(late + flow + rest, 200, "{:?}", report.dropped);
    assert!(flow >= 17 && rest >= 100 || late > 50, "{flow} and {rest}: {:?}", report.dropped);
    assert_eq!(charged(&report, 0), (sent, sent * USER), "each once");
    bench.smf.delete(&session).unwrap();
    bench.stop();
}

#[test]
fn packets_that_wait_while_their_rate_changes_go_at_the_new_rate_or_are_counted() {
    let mut bench = Bench::start_with(101, None, PATIENT);
    let mut session = bench.session(0, |plan| plan.qos.mbr_kbps = Some((80, 80)));
    // A tenth of a second a packet: some go at once, ten wait, more than a queue of this rate takes come.
    let mut offered = 60;
    bench.send(&(0..60).map(|number| uplink(&session, 0, 0, number)).collect::<Vec<_>>());
    let first = bench.collect(1);
    bench.smf.set_rate(&mut session, (80_000, 80_000)).unwrap();
    let report = bench.settle(offered, |report| charged(report, 0).0 == report.ports["n6"].transmitted.packets);
    let mut sent = report.ports["n6"].transmitted.packets;
    in_order(&[first, bench.collect(sent as usize - 1)].concat(), 0);
    assert!(dropped(&report, "shaper_full") > 20 && report.shaped.queued >= 4, "{:?} {:?}", report.dropped, report.shaped);
    // At the new rate the queue takes them all.
    bench.send(&(0..60).map(|number| uplink(&session, 0, 0, number)).collect::<Vec<_>>());
    offered += 60;
    let before = (dropped(&report, "shaper_full"), sent);
    let report = bench.settle(offered, |report| charged(report, 0).0 == report.ports["n6"].transmitted.packets);
    sent = report.ports["n6"].transmitted.packets;
    in_order(&bench.collect((sent - before.1) as usize), 0);
    assert_eq!(dropped(&report, "shaper_full"), before.0, "{:?}", report.dropped);
    // Down to a second a packet, while ten times as many wait as go in the longest delay: what goes in that time is sent, the rest is counted.
    bench.smf.set_rate(&mut session, (800, 800)).unwrap();
    bench.send(&(0..60).map(|number| uplink(&session, 0, 0, number)).collect::<Vec<_>>());
    offered += 60;
    bench.collect(1);
    bench.smf.set_rate(&mut session, (8, 8)).unwrap();
    let report = bench.settle(offered, |report| charged(report, 0).0 == report.ports["n6"].transmitted.packets);
    assert!(dropped(&report, "shaper_late") > 0, "{:?}", report.dropped);
    let sent = report.ports["n6"].transmitted.packets;
    assert_eq!(charged(&report, 0), (sent, sent * USER));
    bench.smf.delete(&session).unwrap();
    bench.stop();
}

/// As a SIGTERM has it: sessions are released first, so what waits finds none and is counted as what comes to none; only what was sent is charged.
#[test]
fn packets_that_wait_when_the_upf_stops_are_counted() {
    let bench = Bench::start_with(111, None, PATIENT);
    let session = bench.session(0, |plan| plan.qos.mbr_kbps = Some((800, 800)));
    let Bench { upf, mut n3, mut n6, smf, .. } = bench;
    let ended = std::sync::atomic::AtomicBool::new(false);
    let (came_one, one_came) = std::sync::mpsc::channel();
    let report = std::thread::scope(|scope| {
        // Packets come until the end, so that some wait however slow the machine is.
        scope.spawn(|| {
            let mut burst: Vec<Packet> = (0..32).map(|_| Packet::empty(0)).collect();
            while !ended.load(Ordering::Relaxed) {
                let frames: Vec<Packet> = (0..8).map(|number| uplink(&session, 0, 0, number)).collect();
                n3.transmit(&frames).unwrap();
                if n6.receive(&mut burst).unwrap() > 0 {
                    let _ = came_one.send(());
                }
                std::thread::sleep(Duration::from_millis(1));
            }
        });
        one_came.recv_timeout(PATIENCE).expect("some are sent");
        // Until more have come than may go at once.
        let end = Instant::now() + PATIENCE;
        while upf.report(false).unwrap().shaped.queued < 20 {
            assert!(Instant::now() < end, "none waits");
            std::thread::yield_now();
        }
        let report = upf.stop();
        ended.store(true, Ordering::Relaxed);
        report
    });
    drop(smf);
    let report = report.unwrap();
    assert_eq!(report.imbalance, 0, "{report:?}");
    // Of those that came all that were not sent are dropped or punted, for a reason each.
    let counted: u64 = report.dropped.values().chain(report.punted.values()).map(|count| count.packets).sum();
    assert!(report.shaped.queued > report.shaped.sent.packets || counted > 0, "{:?}", report.shaped);
    assert_eq!(report.ports["n3"].received.packets, report.ports["n6"].transmitted.packets + counted, "{report:?}");
    let sent = report.ports["n6"].transmitted.packets;
    let of = report.sessions.iter().find(|session| session.ue_ipv4 == Some(ue(0))).unwrap();
    assert_eq!((of.uplink.packets, of.uplink.bytes), (sent, sent * USER), "{:?}", report.dropped);
}

/// Changes of a session whose packets wait, of each kind that there is: none is answered only when they have left, which takes a second.
#[test]
fn changes_of_a_session_are_answered_while_its_packets_wait() {
    type Change = fn(&Smf, &mut Session);
    let changes: [(&str, Change); 6] = [
        ("rate", |smf, session| smf.set_rate(session, (81, 80)).unwrap()),
        ("tunnel", |smf, session| smf.set_active(session, session.plan.gnb).unwrap()),
        ("idle and active", |smf, session| {
            smf.set_idle(session).unwrap();
            smf.set_active(session, session.plan.gnb).unwrap();
        }),
        ("path", |smf, session| smf.path_switch(session, session.plan.gnb).unwrap()),
        ("usage", |smf, session| drop(smf.query(session).unwrap())),
        ("flow", |smf, session| {
            let filters = vec![Filter { flow: None, dscp: Some(46) }];
            smf.add_flow(session, FlowPlan { filters, qos: Qos::default(), precedence: 10 }).unwrap();
            smf.remove_flow(session, 0).unwrap();
        }),
    ];
    let mut bench = Bench::start_with(121, None, PATIENT);
    // A tenth of a second a packet, and ten wait.
    let mut session = bench.session(0, |plan| plan.qos.mbr_kbps = Some((80, 80)));
    let waiting = |bench: &Bench| {
        let of = bench.upf.report(false).unwrap().shaped;
        // Others have not waited.
        let left: u64 = ["late", "codel", "longest"].iter().filter_map(|reason| of.dropped.get(*reason)).sum();
        of.queued - of.sent.packets - left
    };
    let (mut offered, mut sent) = (0, 0);
    for (name, change) in changes {
        // A busy machine may take longer for a change than the queue for a second's packets.
        let end = Instant::now() + PATIENCE;
        loop {
            bench.send(&(0..60).map(|number| uplink(&session, 0, 0, number)).collect::<Vec<_>>());
            offered += 60;
            while waiting(&bench) < 5 && Instant::now() < end {
                std::thread::yield_now();
            }
            change(&bench.smf, &mut session);
            let left = waiting(&bench);
            let report = bench.settle(offered, |report| charged(report, 0).0 == report.ports["n6"].transmitted.packets);
            let now = report.ports["n6"].transmitted.packets;
            in_order(&bench.collect((now - std::mem::replace(&mut sent, now)) as usize), 0);
            if left > 0 {
                break;
            }
            assert!(Instant::now() < end, "{name}: never answered while packets wait");
        }
    }
    bench.smf.delete(&session).unwrap();
    bench.stop();
}
