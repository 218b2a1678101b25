//! Usage reporting (TS 29.244 §5.2.2): each trigger, quotas and what follows them, the monitoring time, and final usage.

mod common;

use std::collections::BTreeSet;
use std::time::Duration;

use common::*;
use pfcp::codec::{ApplyActionFlags, Cause, FSeid, Group, Ie, Message, MessageType, NodeId, Triggers, Volume, find, number};
use pfcp::config::{Config, OnLoss};
use pfcp::rules::Seid;

const SECOND: Duration = Duration::from_secs(1);

// Reporting Triggers.
const VOLTH: u32 = 1 << 1;
const QUHTI: u32 = 1 << 3;
const START: u32 = 1 << 4;
const STOPT: u32 = 1 << 5;
const VOLQU: u32 = 1 << 8;
const TIMQU: u32 = 1 << 9;
const EVETH: u32 = 1 << 12;
const EVEQU: u32 = 1 << 13;
const QUVTI: u32 = 1 << 15;

// Usage Report Trigger, where it is another.
const MONIT: u32 = 1 << 12;
const REPORTED_EVETH: u32 = 1 << 15;
const REPORTED_EVEQU: u32 = 1 << 16;
const IMMER: u32 = 1 << 7;
const TERMR: u32 = 1 << 11;
const TEBUR: u32 = 1 << 17;
const REPORTED_QUVTI: u32 = 1 << 19;

// Measurement Information.
const INAM: u8 = 0x02;
const ISTM: u8 = 0x08;

fn total(bytes: u64) -> Volume {
    Volume { total: Some(bytes), ..Volume::default() }
}

/// A session of one URR.
fn session(bench: &mut Bench, triggers: u32, rest: Group) -> Seid {
    bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![urr(1, triggers, rest)])).0
}

/// Lets time pass as a daemon does: timers at their time, and a look at the counters each second.
fn run(bench: &mut Bench, seconds: u64) {
    for _ in 0..seconds {
        bench.pass(SECOND);
        bench.node.poll_usage(bench.now, &mut bench.plane);
    }
}

/// All that was sent, without what was sent again meanwhile.
fn sent_once(bench: &mut Bench) -> Vec<Message> {
    let mut sent: Vec<Message> = bench.sent().into_iter().map(|(_, message)| message).collect();
    let mut seen = BTreeSet::new();
    sent.retain(|message| seen.insert(message.sequence));
    sent
}

/// The usage reports sent, which are acknowledged.
fn reports(bench: &mut Bench) -> Vec<Group> {
    let mut reports = Vec::new();
    for message in sent_once(bench) {
        assert_eq!(message.kind, MessageType::SessionReportRequest);
        reports.extend(groups(&message.ies, number::UsageReportInReportRequest).into_iter().map(<[Ie]>::to_vec));
        bench.answer(&message, vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
    }
    reports
}

fn triggers(bench: &mut Bench) -> Vec<u32> {
    reports(bench).iter().map(|ies| find!(ies, UsageReportTrigger).unwrap().0).collect()
}

fn bytes(report: &[Ie]) -> u64 {
    find!(report, VolumeMeasurement).unwrap().bytes.total.unwrap()
}

fn is_exhausted(bench: &Bench, seid: Seid) -> bool {
    bench.plane.sessions[&seid].urrs[&1].exhausted
}

#[test]
fn the_start_and_the_stop_of_traffic_are_reported() {
    let mut bench = Bench::new();
    let seid = session(&mut bench, START | STOPT, vec![Ie::InactivityDetectionTime(20)]);
    run(&mut bench, 30);
    assert_eq!(triggers(&mut bench), [], "no traffic yet");
    bench.count(seid, 1, 100, 0);
    run(&mut bench, 1);
    assert_eq!(triggers(&mut bench), [START]);
    for n in 2..10 {
        bench.count(seid, 1, 100 * n, 0);
        run(&mut bench, 10);
    }
    assert_eq!(triggers(&mut bench), [], "it goes on");
    run(&mut bench, 9);
    assert_eq!(triggers(&mut bench), []);
    run(&mut bench, 12);
    assert_eq!(triggers(&mut bench), [STOPT]);
    run(&mut bench, 100);
    assert_eq!(triggers(&mut bench), [], "it has stopped once");
    bench.count(seid, 1, 5000, 0);
    run(&mut bench, 1);
    assert_eq!(triggers(&mut bench), [START], "it starts again");
}

#[test]
fn time_is_measured_from_the_first_packet_and_pauses_when_there_is_none() {
    let mut bench = Bench::new();
    let seid = session(&mut bench, 0, vec![Ie::InactivityDetectionTime(20)]);
    run(&mut bench, 100);
    bench.count(seid, 1, 100, 0);
    run(&mut bench, 100);
    bench.count(seid, 1, 200, 0);
    run(&mut bench, 5);
    let answer = bench.delete(seid);
    let report = groups(&answer.ies, number::UsageReportInDeletionResponse)[0];
    // 20 s until it paused, and 4 s since the packet was seen.
    assert_eq!(find!(report, DurationMeasurement), Some(&24));
    assert_eq!(bench.node.next_deadline(), None);
}

#[test]
fn a_time_quota_is_used_up_by_time_that_is_measured_only() {
    let mut bench = Bench::new();
    let seid = session(&mut bench, TIMQU, vec![Ie::TimeQuota(30), Ie::InactivityDetectionTime(10)]);
    run(&mut bench, 100);
    for n in 1..=2 {
        bench.count(seid, 1, 100 * n, 0);
        run(&mut bench, 60);
    }
    assert_eq!(triggers(&mut bench), [], "20 s of 30");
    bench.count(seid, 1, 300, 0);
    run(&mut bench, 11);
    assert_eq!(triggers(&mut bench), [TIMQU]);
    assert!(is_exhausted(&bench, seid));
}

/// A URR that counts events, for which 20 s without a packet end the traffic.
fn counting_events(bench: &mut Bench, triggers: u32, rest: Group) -> Seid {
    let ies = vec![Ie::UrrId(1), Ie::MeasurementMethod(6), Ie::ReportingTriggers(Triggers(triggers)), Ie::InactivityDetectionTime(20)];
    let rule = Ie::CreateUrr([ies, rest].concat());
    bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![rule])).0
}

/// Reports are answered after a minute, and not kept until then: requests are sent again for longer.
fn patient() -> Config {
    Config { n1: 30, ..config() }
}

/// Traffic starts so many times more; the time at which each start was noticed.
fn starts(bench: &mut Bench, seid: Seid, from: u64, count: u64) -> Vec<u32> {
    let mut times = Vec::new();
    for n in from..from + count {
        bench.count(seid, 1, 100 * (n + 1), 0);
        run(bench, 1);
        times.push(UPF_STARTED + bench.now.as_secs() as u32);
        run(bench, 40);
    }
    times
}

fn event_times(report: &[Ie]) -> Vec<u32> {
    report.iter().filter_map(|ie| if let Ie::TimeStamp(at) = ie { Some(*at) } else { None }).collect()
}

#[test]
fn events_are_reported_at_their_threshold_with_the_time_of_each() {
    let mut bench = Bench::with(patient());
    let seid = counting_events(&mut bench, EVETH, vec![Ie::EventThreshold(3)]);
    run(&mut bench, 100);
    let mut times = starts(&mut bench, seid, 0, 2);
    assert_eq!(triggers(&mut bench), [], "two of three");
    times.extend(starts(&mut bench, seid, 2, 1));
    let told = reports(&mut bench);
    assert_eq!(told.len(), 1, "{told:?}");
    assert_eq!((find!(told[0], UsageReportTrigger), event_times(&told[0])), (Some(&Triggers(REPORTED_EVETH)), times));
    // Packets of traffic that goes on are none.
    for n in 10..60 {
        bench.count(seid, 1, 1000 * n, 0);
        run(&mut bench, 5);
    }
    assert_eq!(triggers(&mut bench), []);
    let answer = bench.delete(seid);
    let last = groups(&answer.ies, number::UsageReportInDeletionResponse)[0];
    assert_eq!(event_times(last).len(), 1);
}

#[test]
fn an_event_quota_is_used_up_by_its_last_event_and_a_new_one_counts_what_is_not_reported() {
    let mut bench = Bench::with(patient());
    let seid = counting_events(&mut bench, EVEQU, vec![Ie::EventQuota(2)]);
    starts(&mut bench, seid, 0, 1);
    assert_eq!((triggers(&mut bench), is_exhausted(&bench, seid)), (vec![], false));
    starts(&mut bench, seid, 1, 1);
    assert_eq!((triggers(&mut bench), is_exhausted(&bench, seid)), (vec![REPORTED_EVEQU], true));
    let renew = |events| vec![Ie::UpdateUrr(vec![Ie::UrrId(1), Ie::EventQuota(events)])];
    bench.modify(seid, renew(0));
    assert!(is_exhausted(&bench, seid), "one of nothing is used up at once");
    bench.modify(seid, renew(2));
    assert!(!is_exhausted(&bench, seid));
    starts(&mut bench, seid, 2, 1);
    // Granted anew before the first of the last two was reported: that one counts.
    bench.modify(seid, renew(2));
    starts(&mut bench, seid, 3, 1);
    assert_eq!((triggers(&mut bench), is_exhausted(&bench, seid)), (vec![REPORTED_EVEQU], true));
}

#[test]
fn events_before_and_after_the_monitoring_time_are_reported_apart() {
    let mut bench = Bench::with(patient());
    let at = UPF_STARTED + 5 + 100;
    let rest = vec![
        Ie::EventThreshold(9),
        Ie::EventQuota(9),
        Ie::MonitoringTime(at),
        Ie::SubsequentEventThreshold(1),
        Ie::SubsequentEventQuota(2),
    ];
    let seid = counting_events(&mut bench, EVETH | EVEQU, rest);
    let before = starts(&mut bench, seid, 0, 2);
    run(&mut bench, 30);
    assert_eq!(triggers(&mut bench), []);
    let after = starts(&mut bench, seid, 2, 1);
    let told = reports(&mut bench);
    let of = |report: &Group| (find!(report, UsageReportTrigger).unwrap().0, event_times(report));
    assert_eq!(told.iter().map(of).collect::<Vec<_>>(), [(MONIT, before), (REPORTED_EVETH, after)]);
    starts(&mut bench, seid, 3, 1);
    assert_eq!((triggers(&mut bench), is_exhausted(&bench, seid)), (vec![REPORTED_EVETH | REPORTED_EVEQU], true));
}

#[test]
fn of_many_events_the_times_of_the_first_are_told_and_all_count() {
    let mut bench = Bench::new();
    let seid = counting_events(&mut bench, EVETH, vec![Ie::EventThreshold(130)]);
    let times = starts(&mut bench, seid, 0, 130);
    let told = reports(&mut bench);
    assert_eq!((told.len(), event_times(&told[0])), (1, times[..100].to_vec()));
}

#[test]
fn a_quota_that_is_not_used_for_its_holding_time_is_over() {
    let mut bench = Bench::new();
    let seid = session(&mut bench, QUHTI | VOLQU, vec![Ie::VolumeQuota(total(1000)), Ie::QuotaHoldingTime(30)]);
    run(&mut bench, 25);
    bench.count(seid, 1, 100, 0);
    run(&mut bench, 29);
    assert_eq!((triggers(&mut bench), is_exhausted(&bench, seid)), (vec![], false));
    run(&mut bench, 10);
    assert_eq!((triggers(&mut bench), is_exhausted(&bench, seid)), (vec![QUHTI], true));
    run(&mut bench, 100);
    assert_eq!(triggers(&mut bench), []);
    // A new quota is held anew.
    bench.modify(seid, vec![Ie::UpdateUrr(vec![Ie::UrrId(1), Ie::VolumeQuota(total(1000))])]);
    assert!(!is_exhausted(&bench, seid));
    run(&mut bench, 29);
    assert_eq!(triggers(&mut bench), []);
    run(&mut bench, 10);
    assert_eq!(triggers(&mut bench), [QUHTI]);
}

#[test]
fn the_end_of_a_quotas_validity_is_reported_once_and_ends_the_quota() {
    let mut bench = Bench::new();
    let seid = session(&mut bench, QUVTI | VOLQU, vec![Ie::VolumeQuota(total(1000)), Ie::QuotaValidityTime(60)]);
    run(&mut bench, 59);
    assert_eq!(triggers(&mut bench), []);
    run(&mut bench, 1);
    assert_eq!((triggers(&mut bench), is_exhausted(&bench, seid)), (vec![REPORTED_QUVTI], true));
    run(&mut bench, 200);
    assert_eq!(triggers(&mut bench), []);
    // A new time does not bring back what is void; a new quota does.
    bench.modify(seid, vec![Ie::UpdateUrr(vec![Ie::UrrId(1), Ie::QuotaValidityTime(60)])]);
    assert!(is_exhausted(&bench, seid));
    bench.modify(seid, vec![Ie::UpdateUrr(vec![Ie::UrrId(1), Ie::VolumeQuota(total(1000))])]);
    assert!(!is_exhausted(&bench, seid));
    run(&mut bench, 61);
    assert_eq!((triggers(&mut bench), is_exhausted(&bench, seid)), (vec![REPORTED_QUVTI], true));
    // Where there is no quota, none ends.
    let mut bench = Bench::new();
    let seid = session(&mut bench, QUVTI, vec![Ie::QuotaValidityTime(60)]);
    run(&mut bench, 61);
    assert_eq!((triggers(&mut bench), is_exhausted(&bench, seid)), (vec![REPORTED_QUVTI], false));
}

/// Credit control's first answer is often a quota of nothing. Nothing passes, and the first packet that wants to is told, once (§5.2.2.2.1, §5.4.11).
#[test]
fn a_quota_of_nothing_stops_packets_and_its_first_packet_is_reported() {
    let direction = |uplink, downlink| Ie::VolumeQuota(Volume { total: None, uplink, downlink });
    for (quota, told) in [
        (Ie::VolumeQuota(total(0)), VOLQU),
        (direction(Some(0), None), VOLQU),
        (Ie::TimeQuota(0), TIMQU),
        (Ie::EventQuota(0), REPORTED_EVEQU),
    ] {
        for by_update in [false, true] {
            for asked in [0, START] {
                let mut bench = Bench::new();
                let mut request = simple_session(1, 1, [10, 0, 0, 1], vec![]);
                request[2] = pdr(1, 0, vec![given(1), ue([10, 0, 0, 1], false)], 1, vec![decap(0), Ie::UrrId(1)]);
                let rule = |rest: Group| urr(1, VOLQU | TIMQU | EVEQU | asked, rest);
                request.push(rule(if by_update { vec![] } else { vec![quota.clone()] }));
                let (seid, _) = bench.establish(request);
                if by_update {
                    // While packets flow.
                    bench.count(seid, 1, 1000, 0);
                    run(&mut bench, 2);
                    assert_eq!(triggers(&mut bench).len(), usize::from(asked != 0));
                    bench.modify(seid, vec![Ie::UpdateUrr(vec![Ie::UrrId(1), quota.clone()])]);
                }
                let state = |bench: &Bench| (bench.plane.sessions[&seid].urrs[&1].exhausted, bench.plane.sessions[&seid].urrs[&1].untold);
                assert_eq!(state(&bench), (true, true));
                run(&mut bench, 100);
                let idle = triggers(&mut bench);
                assert!(idle.iter().all(|triggers| triggers & told == 0), "no packet, no report: {idle:?}");
                bench.node.downlink_data(seid, 1, bench.now);
                bench.pass(Duration::ZERO);
                let start = if asked != 0 { START } else { 0 };
                assert_eq!((triggers(&mut bench), state(&bench)), (vec![told | start], (true, false)), "{quota:?} {by_update}");
                // Once, however many come, until the CP function gives another.
                bench.node.downlink_data(seid, 1, bench.now);
                run(&mut bench, 100);
                assert_eq!(triggers(&mut bench).into_iter().filter(|triggers| triggers & told != 0).count(), 0);
                bench.modify(seid, vec![Ie::UpdateUrr(vec![Ie::UrrId(1), quota.clone()])]);
                assert_eq!(state(&bench), (true, true));
                bench.node.downlink_data(seid, 1, bench.now);
                bench.pass(Duration::ZERO);
                assert_eq!(triggers(&mut bench)[0] & told, told);
            }
        }
    }
}

#[test]
fn a_quota_of_nothing_that_is_replaced_before_a_packet_comes_is_not_reported() {
    let mut bench = Bench::new();
    let seid = session(&mut bench, VOLQU, vec![Ie::VolumeQuota(total(0))]);
    bench.modify(seid, vec![Ie::UpdateUrr(vec![Ie::UrrId(1), Ie::VolumeQuota(total(1000))])]);
    assert!(!is_exhausted(&bench, seid));
    bench.node.downlink_data(seid, 2, bench.now);
    bench.count(seid, 1, 500, 0);
    run(&mut bench, 1);
    let sent = sent_once(&mut bench);
    assert!(sent.iter().all(|message| find!(message.ies, DownlinkDataReport).is_some()), "the idle UE is paged: {sent:?}");
    bench.count(seid, 1, 1000, 0);
    run(&mut bench, 1);
    assert_eq!(triggers(&mut bench), [VOLQU]);
}

/// The FAR for quota action has the packets from the first on: they pass, and the first is told.
#[test]
fn a_quota_of_nothing_with_a_far_for_quota_action_is_reported_with_its_first_packet() {
    let mut bench = Bench::new();
    let seid = session(&mut bench, VOLQU, vec![Ie::VolumeQuota(total(0)), Ie::FarId(2)]);
    run(&mut bench, 10);
    assert_eq!(triggers(&mut bench), []);
    bench.count(seid, 1, 100, 0);
    run(&mut bench, 1);
    assert_eq!((triggers(&mut bench), bench.plane.sessions[&seid].urrs[&1].untold), (vec![VOLQU], false));
    bench.count(seid, 1, 1000, 0);
    run(&mut bench, 100);
    assert_eq!(triggers(&mut bench), []);
}

/// §8.2.41: TERMR also where a URR is dissociated from its last PDR.
#[test]
fn a_urr_that_loses_its_last_pdr_is_reported_in_that_response() {
    let with = |id: u16, rest: Group| pdr(id, 0, vec![given(id.into())], 1, rest);
    let of = |id: u32| Ie::UrrId(id);
    let update = |id: u16, urrs: Group| Ie::UpdatePdr([vec![Ie::PdrId(id)], urrs].concat());
    let remove = |id: u16| Ie::RemovePdr(vec![Ie::PdrId(id)]);
    let none = || Ie::Invalid { ie_type: number::UrrId, octets: vec![], flaw: pfcp::codec::Flaw::Length };
    // Triggers by URR. PDRs 3 and 4 have URR 1, 4 and 5 have URR 2; 3 has no other.
    for (ies, wanted) in [
        (vec![remove(3)], vec![]),
        (vec![remove(3), remove(4)], vec![(1, TERMR)]),
        (vec![remove(4), remove(5), remove(3)], vec![(1, TERMR), (2, TERMR)]),
        (vec![update(3, vec![of(3)]), update(4, vec![of(3)])], vec![(1, TERMR)]),
        (vec![update(3, vec![none()]), update(4, vec![of(2)])], vec![(1, TERMR)]),
        (vec![remove(3), update(4, vec![of(2)]), update(5, vec![of(1)])], vec![]),
        // One that is queried too is one report, and one that is removed too is told by its removal.
        (vec![remove(5), update(4, vec![of(1)]), Ie::QueryUrr(vec![of(2)])], vec![(2, TERMR | IMMER)]),
        (vec![remove(3), remove(4), Ie::RemoveUrr(vec![of(1)])], vec![(1, TERMR)]),
        // A PDR that comes in the place of the last one has it.
        (vec![remove(3), remove(4), with(6, vec![of(1)])], vec![]),
        (vec![remove(3), remove(4), with(4, vec![of(1), of(2)])], vec![]),
    ] {
        let mut bench = Bench::new();
        let rules = vec![with(3, vec![of(1)]), with(4, vec![of(1), of(2)]), with(5, vec![of(2)])];
        let urrs = (1..=3).map(|id| urr(id, VOLTH, vec![Ie::VolumeThreshold(total(10_000))])).collect();
        let (seid, _) = bench.establish(simple_session(1, 1, [10, 0, 0, 1], [rules, urrs].concat()));
        (1..=3).for_each(|id| bench.count(seid, id, 100 * u64::from(id), 0));
        let answer = bench.modify(seid, ies.clone());
        let told = groups(&answer.ies, number::UsageReportInModificationResponse);
        let seen: Vec<_> =
            told.iter().map(|report| (*find!(report, UrrId).unwrap(), find!(report, UsageReportTrigger).unwrap().0)).collect();
        assert_eq!(seen, wanted, "{ies:?}: {answer:?}");
        assert!(told.iter().all(|report| bytes(report) == 100 * u64::from(*find!(report, UrrId).unwrap())));
        // What was told is not told again.
        let answer = bench.delete(seid);
        for report in groups(&answer.ies, number::UsageReportInDeletionResponse) {
            let id = *find!(report, UrrId).unwrap();
            assert_eq!(bytes(report), if seen.iter().any(|(of, _)| *of == id) { 0 } else { 100 * u64::from(id) });
        }
    }
}

/// §5.2.2.2.1: the measurement goes on, whatever FAR has the packets.
#[test]
fn what_a_far_for_quota_action_lets_pass_is_reported_and_counts_against_the_next_quota() {
    let mut bench = Bench::new();
    let seid = session(&mut bench, VOLQU, vec![Ie::VolumeQuota(total(1000)), Ie::FarId(2)]);
    bench.count(seid, 1, 1000, 0);
    run(&mut bench, 1);
    assert_eq!((triggers(&mut bench), is_exhausted(&bench, seid)), (vec![1 << 8], true));
    bench.count(seid, 1, 1300, 0);
    run(&mut bench, 10);
    assert_eq!(triggers(&mut bench), []);
    bench.modify(seid, vec![Ie::UpdateUrr(vec![Ie::UrrId(1), Ie::VolumeQuota(total(1000))])]);
    bench.count(seid, 1, 1900, 0);
    run(&mut bench, 1);
    assert_eq!(triggers(&mut bench), [], "900 of 1000");
    bench.count(seid, 1, 2000, 0);
    run(&mut bench, 1);
    let told = reports(&mut bench);
    assert_eq!(find!(told[0], VolumeMeasurement).unwrap().bytes.total, Some(1000));
}

#[test]
fn usage_before_and_after_the_monitoring_time_is_reported_apart() {
    let mut bench = Bench::new();
    let at = UPF_STARTED + 5 + 100;
    let rest = vec![
        Ie::VolumeThreshold(total(10_000)),
        Ie::MonitoringTime(at),
        Ie::SubsequentVolumeThreshold(total(300)),
        Ie::SubsequentVolumeQuota(total(700)),
        Ie::VolumeQuota(total(100_000)),
    ];
    let seid = session(&mut bench, VOLTH | VOLQU, rest);
    bench.count(seid, 1, 0, 1000);
    run(&mut bench, 100);
    assert_eq!(triggers(&mut bench), [], "the monitoring time alone is no reason to report");
    bench.count(seid, 1, 0, 1299);
    run(&mut bench, 10);
    assert_eq!(triggers(&mut bench), []);
    bench.count(seid, 1, 0, 1300);
    run(&mut bench, 1);
    let told = reports(&mut bench);
    let of = |report: &Group| (find!(report, UsageReportTrigger).unwrap().0, bytes(report), find!(report, UsageInformation).copied());
    assert_eq!(told.iter().map(of).collect::<Vec<_>>(), [(MONIT, 1000, Some(1)), (VOLTH, 300, Some(2))]);
    assert_eq!((find!(told[0], EndTime), find!(told[1], StartTime)), (Some(&at), Some(&at)));
    assert_eq!((find!(told[0], UrSeqn), find!(told[1], UrSeqn)), (Some(&0), Some(&1)));
    // The subsequent quota counts from the monitoring time.
    bench.count(seid, 1, 0, 1699);
    run(&mut bench, 1);
    assert_eq!(triggers(&mut bench), [VOLTH]);
    bench.count(seid, 1, 0, 1700);
    run(&mut bench, 1);
    assert_eq!((triggers(&mut bench), is_exhausted(&bench, seid)), (vec![VOLQU], true));
}

/// Where the user plane was last told that the total of URR 1 ends.
fn end_of(bench: &Bench, seid: Seid) -> Option<u64> {
    bench.plane.limits.get(&(seid, 1)).and_then(|limit| limit.total)
}

#[test]
fn the_user_plane_is_told_where_a_quota_ends_whenever_that_changes() {
    let mut bench = Bench::new();
    let rest = vec![
        Ie::VolumeQuota(total(1000)),
        Ie::VolumeThreshold(total(600)),
        Ie::MonitoringTime(UPF_STARTED + 5 + 100),
        Ie::SubsequentVolumeQuota(total(5000)),
    ];
    let seid = session(&mut bench, VOLTH | VOLQU, rest);
    assert_eq!(end_of(&bench, seid), Some(1000));
    bench.count(seid, 1, 200, 450);
    run(&mut bench, 1);
    assert_eq!((triggers(&mut bench), end_of(&bench, seid)), (vec![VOLTH], Some(1000)));
    // A new one counts from the last report.
    bench.count(seid, 1, 300, 450);
    bench.modify(seid, vec![Ie::UpdateUrr(vec![Ie::UrrId(1), Ie::VolumeQuota(total(2000))])]);
    assert_eq!(end_of(&bench, seid), Some(650 + 2000));
    // One that is switched off limits nothing, and what comes meanwhile is not of the quota.
    let set = |information| vec![Ie::UpdateUrr(vec![Ie::UrrId(1), Ie::MeasurementInformation(information)])];
    bench.plane.limits.clear();
    bench.modify(seid, set(INAM));
    bench.count(seid, 1, 9300, 450);
    run(&mut bench, 1);
    assert_eq!(end_of(&bench, seid), None);
    bench.modify(seid, set(0));
    assert_eq!(end_of(&bench, seid), Some(9000 + 650 + 2000));
    // From the monitoring time on there is another.
    run(&mut bench, 100);
    assert_eq!(end_of(&bench, seid), Some(9750 + 5000));
    triggers(&mut bench);
    // What is used up is ended by the commit alone; the next one is told of again.
    bench.plane.limits.clear();
    bench.count(seid, 1, 14_400, 450);
    run(&mut bench, 1);
    assert_eq!((triggers(&mut bench).contains(&(VOLTH | VOLQU)), is_exhausted(&bench, seid), end_of(&bench, seid)), (true, true, None));
    bench.modify(seid, vec![Ie::UpdateUrr(vec![Ie::UrrId(1), Ie::VolumeQuota(total(70))])]);
    assert_eq!(end_of(&bench, seid), Some(14_850 + 70));
}

#[test]
fn a_quota_used_up_leaves_the_packets_to_the_other_urrs_quotas() {
    let mut bench = Bench::new();
    let quota = |id, bytes| urr(id, VOLQU, vec![Ie::VolumeQuota(total(bytes))]);
    let (seid, _) = bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![quota(1, 100), quota(2, 5000)]));
    bench.plane.limits.clear();
    bench.count(seid, 1, 100, 0);
    run(&mut bench, 1);
    assert_eq!(triggers(&mut bench), [VOLQU]);
    let told: Vec<_> = bench.plane.limits.iter().map(|((_, urr_id), limit)| (*urr_id, limit.total)).collect();
    assert_eq!(told, [(2, Some(5000))]);
}

#[test]
fn a_measurement_that_is_inactive_measures_nothing() {
    let mut bench = Bench::new();
    let seid = session(&mut bench, VOLTH, vec![Ie::VolumeThreshold(total(500)), Ie::MeasurementInformation(ISTM)]);
    bench.count(seid, 1, 100, 0);
    run(&mut bench, 10);
    let set = |information| Ie::UpdateUrr(vec![Ie::UrrId(1), Ie::MeasurementInformation(information)]);
    bench.modify(seid, vec![set(ISTM | INAM)]);
    bench.count(seid, 1, 9000, 0);
    run(&mut bench, 50);
    assert_eq!(triggers(&mut bench), []);
    bench.modify(seid, vec![set(ISTM)]);
    bench.count(seid, 1, 9399, 0);
    run(&mut bench, 10);
    assert_eq!(triggers(&mut bench), []);
    bench.count(seid, 1, 9400, 0);
    run(&mut bench, 1);
    let told = reports(&mut bench);
    assert_eq!((bytes(&told[0]), find!(told[0], DurationMeasurement)), (500, Some(&21)));
}

#[test]
fn a_far_for_quota_action_must_be_there() {
    let mut bench = Bench::new();
    let quota = |far_id| urr(1, VOLQU, vec![Ie::VolumeQuota(total(1)), Ie::FarId(far_id)]);
    let answer = bench.ask(MessageType::SessionEstablishmentRequest, Some(0), simple_session(1, 1, [10, 0, 0, 1], vec![quota(9)]));
    assert_eq!(answer.cause(), Some(Cause::RULE_FAILURE));
    let (seid, _) = bench.establish(simple_session(1, 1, [10, 0, 0, 1], vec![quota(2)]));
    assert_eq!(bench.plane.sessions[&seid].urrs[&1].quota_far_id, Some(2));
    let answer = bench.modify(seid, vec![Ie::RemoveFar(vec![Ie::FarId(2)]), Ie::RemovePdr(vec![Ie::PdrId(2)])]);
    assert_eq!(answer.cause(), Some(Cause::RULE_FAILURE), "it is still named");
}

#[test]
fn an_inactive_user_plane_is_reported_until_there_is_a_packet() {
    let mut bench = Bench::new();
    let request = simple_session(7, 1, [10, 0, 0, 1], vec![Ie::UserPlaneInactivityTimer(60)]);
    let (seid, _) = bench.establish(request);
    let told = |bench: &mut Bench| {
        let mut count = 0;
        for message in sent_once(bench) {
            assert_eq!((message.kind, message.seid), (MessageType::SessionReportRequest, Some(7)));
            assert_eq!(find!(message.ies, ReportType), Some(&0x08), "UPIR");
            bench.answer(&message, vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
            count += 1;
        }
        count
    };
    run(&mut bench, 50);
    bench.count(seid, 1, 100, 0);
    run(&mut bench, 59);
    assert_eq!(told(&mut bench), 0);
    run(&mut bench, 20);
    assert_eq!(told(&mut bench), 1);
    run(&mut bench, 500);
    assert_eq!(told(&mut bench), 0);
    bench.count(seid, 1, 200, 0);
    run(&mut bench, 80);
    assert_eq!(told(&mut bench), 1);
    // The timer ends.
    bench.modify(seid, vec![Ie::UserPlaneInactivityTimer(0)]);
    bench.count(seid, 1, 300, 0);
    run(&mut bench, 500);
    assert_eq!((told(&mut bench), bench.node.next_deadline()), (0, None));
}

/// Looks at counters would be counted by `usage`: the plane says what it carried, and the node asks for nothing it need not.
#[test]
fn usage_is_reported_with_an_inactive_user_plane_of_the_urrs_that_ask_for_it() {
    const UPINT: u32 = 1 << 17;
    let urrs = vec![Ie::UserPlaneInactivityTimer(60), urr(1, UPINT, vec![]), urr(2, 0, vec![])];
    let mut bench = Bench::with(Config { max_outstanding: 1, ..config() });
    let (seid, _) = bench.establish(simple_session(7, 1, [10, 0, 0, 1], urrs));
    run(&mut bench, 10);
    bench.count(seid, 1, 100, 0);
    bench.count(seid, 2, 100, 0);
    // There is room for one report: the other comes after its answer.
    let mut inactive = Vec::new();
    while inactive.is_empty() {
        run(&mut bench, 1);
        inactive = sent_once(&mut bench);
    }
    assert_eq!((inactive.len(), find!(inactive[0].ies, ReportType)), (1, Some(&0x08)));
    bench.answer(&inactive[0], vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
    run(&mut bench, 2);
    let usage = sent_once(&mut bench);
    assert_eq!((usage.len(), find!(usage[0].ies, ReportType)), (1, Some(&0x02)));
    bench.answer(&usage[0], vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
    let told = groups(&usage[0].ies, number::UsageReportInReportRequest);
    assert_eq!(told.len(), 1);
    assert_eq!(find!(told[0], UrrId), Some(&1));
    assert_eq!((find!(told[0], UsageReportTrigger).unwrap().0, bytes(told[0])), (1 << 21, 100));
    run(&mut bench, 300);
    assert!(sent_once(&mut bench).is_empty(), "once");
}

#[test]
fn an_idle_urr_is_not_looked_at_and_a_limit_not_before_it_can_be_reached() {
    let mut bench = Bench::new();
    bench.plane.carried = Some(0);
    let seid = session(&mut bench, VOLQU, vec![Ie::VolumeQuota(total(1000)), Ie::MeasurementInformation(ISTM)]);
    // The plane is wrong about what it carried: so it is seen whether the node looked.
    bench.count(seid, 1, 5000, 0);
    for carried in [0, 10, 999] {
        bench.plane.carried = Some(carried);
        run(&mut bench, 10);
        assert_eq!(triggers(&mut bench), [], "{carried} bytes carried");
    }
    bench.plane.carried = Some(1000);
    run(&mut bench, 1);
    assert_eq!(triggers(&mut bench), [VOLQU]);
}

#[test]
fn the_nearer_a_limit_the_sooner_is_the_next_poll() {
    let mut bench = Bench::new();
    bench.plane.carried = Some(0);
    session(&mut bench, VOLQU, vec![Ie::VolumeQuota(total(2_000_000)), Ie::MeasurementInformation(ISTM)]);
    let mut poll = |carried: u64| {
        bench.plane.carried = Some(carried);
        bench.now += Duration::from_millis(10);
        bench.node.poll_usage(bench.now, &mut bench.plane);
        bench.node.next_poll()
    };
    assert_eq!(poll(0), Duration::from_millis(50));
    // 100 MB/s.
    assert_eq!(poll(1_000_000), Duration::from_millis(10));
    assert_eq!(poll(1_500_000), Duration::from_millis(5));
    assert_eq!(poll(1_950_000), Duration::from_millis(1));
    assert_eq!(poll(1_950_000), Duration::from_millis(5), "nothing moves, but a burst may come");
}

/// Polls when the node wants to, with so many bytes a microsecond of a session meanwhile; what it has used then.
fn flow(bench: &mut Bench, seid: Seid, used: u64, bytes_per_us: u64) -> u64 {
    let time = bench.node.next_poll();
    let bytes = bytes_per_us * time.as_micros() as u64;
    bench.now += time;
    bench.plane.carried = bench.plane.carried.map(|carried| carried + bytes);
    bench.count(seid, 1, used + bytes, 0);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    used + bytes
}

/// At any rate that was there before: of a higher one nobody knows, up to 50 ms.
#[test]
fn a_quota_is_passed_by_the_bytes_of_a_millisecond_at_most_or_of_five_after_a_pause() {
    const QUOTA: u64 = 200_000_000;
    for (gbps, pauses) in [(1, false), (10, false), (40, false), (1, true), (10, true), (40, true)] {
        let mut bench = Bench::new();
        bench.plane.carried = Some(0);
        let seid = session(&mut bench, VOLQU, vec![Ie::VolumeQuota(total(QUOTA)), Ie::MeasurementInformation(ISTM)]);
        let bytes_per_us = gbps * 125;
        // Packets of others.
        for _ in 0..3 {
            bench.now += Duration::from_millis(50);
            bench.plane.carried = bench.plane.carried.map(|carried| carried + bytes_per_us * 50_000);
            bench.node.poll_usage(bench.now, &mut bench.plane);
        }
        let (mut used, mut polls) = (0, 0);
        while !is_exhausted(&bench, seid) {
            if pauses && (QUOTA - 3000 * bytes_per_us..QUOTA).contains(&used) {
                for _ in 0..100 {
                    flow(&mut bench, seid, used, 0);
                }
            }
            used = flow(&mut bench, seid, used, bytes_per_us);
            polls += 1;
        }
        let most = bytes_per_us * if pauses { 5000 } else { 1000 };
        assert!((QUOTA..=QUOTA + most).contains(&used), "{gbps} Gbit/s: {} bytes too many of {most}", used - QUOTA);
        assert!(polls < 100, "{polls} polls: seldom while the quota is far");
    }
}

/// What the SMF is told when a session with usage ends by itself.
fn with_usage(config: Config) -> (Bench, Seid) {
    let mut bench = Bench::with(config);
    let seid = session(&mut bench, 0, vec![]);
    bench.count(seid, 1, 300, 700);
    (bench, seid)
}

fn final_report(message: &Message) -> (u32, u64) {
    assert_eq!((message.kind, message.seid, find!(message.ies, ReportType)), (MessageType::SessionReportRequest, Some(1), Some(&2)));
    let usage = groups(&message.ies, number::UsageReportInReportRequest)[0];
    (find!(usage, UsageReportTrigger).unwrap().0, bytes(usage))
}

fn end_all(bench: &mut Bench) {
    while bench.node.sessions_ending() > 0 {
        bench.node.handle_timeout(bench.now, &mut bench.plane);
    }
}

#[test]
fn the_final_usage_is_reported_when_the_upf_shuts_down_and_it_was_thrown_away() {
    let (mut bench, _) = with_usage(config());
    bench.node.release_all(bench.now);
    assert_eq!(bench.sent_one().kind, MessageType::AssociationUpdateRequest);
    end_all(&mut bench);
    let report = bench.sent_one();
    assert_eq!(final_report(&report), (TEBUR, 1000));
    assert_eq!(bench.node.final_reports_pending(), 1);
    bench.answer(&report, vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
    assert_eq!((bench.node.final_reports_pending(), bench.node.stats().lost_usage_reports), (0, 0));
}

#[test]
fn a_final_report_at_shutdown_that_nobody_acknowledges_is_given_up_and_counted() {
    let (mut bench, _) = with_usage(config());
    bench.node.release_all(bench.now);
    end_all(&mut bench);
    bench.pass(20 * SECOND);
    // It may still be heard: until nobody waits for it.
    assert_eq!((bench.node.final_reports_pending(), bench.node.stats().lost_usage_reports), (1, 0));
    bench.node.abandon_final_reports(bench.now);
    assert_eq!((bench.node.final_reports_pending(), bench.node.stats().lost_usage_reports), (0, 1));
}

#[test]
fn the_final_usage_is_reported_when_an_association_is_released() {
    let (mut bench, _) = with_usage(config());
    bench.ask(MessageType::AssociationReleaseRequest, None, vec![Ie::NodeId(smf_node())]);
    end_all(&mut bench);
    let report = bench.sent_one();
    assert_eq!(final_report(&report), (TEBUR, 1000));
    // It was lost on its way, and again: it is kept, and sent when the SMF is there again.
    bench.pass(20 * SECOND);
    bench.sent();
    assert_eq!((bench.node.final_reports_pending(), bench.node.final_reports_kept()), (0, 1));
    let setup = Message::node(MessageType::AssociationSetupRequest, 900, setup_ies(SMF_STARTED)).encode().unwrap();
    bench.ask_octets(&setup);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    let report = bench.sent_one();
    assert_eq!(final_report(&report), (TEBUR, 1000));
    bench.answer(&report, vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
    assert_eq!((bench.node.final_reports_pending(), bench.node.final_reports_kept(), bench.node.stats().lost_usage_reports), (0, 0, 0));
}

#[test]
fn the_final_usage_for_a_lost_peer_is_kept_until_it_returns_and_not_told_to_one_that_restarted() {
    for (stamp, reported) in [(SMF_STARTED, true), (SMF_STARTED + 50, false)] {
        let (mut bench, _) = with_usage(Config { heartbeat_period: Some(10 * SECOND), on_loss: OnLoss::Release, ..config() });
        bench.pass(60 * SECOND);
        bench.sent();
        assert_eq!((bench.node.session_count(), bench.node.final_reports_kept()), (0, 1));
        bench.ask(MessageType::AssociationSetupRequest, None, setup_ies(stamp));
        bench.node.poll_usage(bench.now, &mut bench.plane);
        let sent = bench.sent();
        assert_eq!((sent.len(), bench.node.final_reports_kept()), (usize::from(reported), 0));
        assert_eq!(bench.node.stats().lost_usage_reports, u64::from(!reported));
        assert!(sent.iter().all(|(_, message)| final_report(message) == (TEBUR, 1000)));
    }
}

#[test]
fn a_session_of_which_nothing_is_left_to_tell_ends_in_silence() {
    let mut bench = Bench::new();
    let seid = session(&mut bench, VOLTH, vec![Ie::VolumeThreshold(total(1000))]);
    bench.count(seid, 1, 1000, 0);
    run(&mut bench, 1);
    assert_eq!(triggers(&mut bench), [VOLTH]);
    bench.ask(MessageType::AssociationReleaseRequest, None, vec![Ie::NodeId(smf_node())]);
    end_all(&mut bench);
    assert_eq!(bench.sent(), []);
}

#[test]
fn what_was_accepted_without_effect_is_refused_by_name() {
    let raw = |ie_type, octets: &[u8]| Ie::Unknown { ie_type, octets: octets.to_vec() };
    let in_urr = |rest: Group| urr(1, 0, rest);
    let in_qer = |ie: Ie| {
        let Ie::CreateQer(mut ies) = qer(1, 1) else { unreachable!() };
        ies.push(ie);
        Ie::CreateQer(ies)
    };
    for (name, extra, offending) in [
        ("dropped DL traffic threshold", in_urr(vec![raw(72, &[1, 0, 0, 0, 0, 0, 0, 0, 9])]), 72),
        ("dropped DL traffic", urr(1, 1 << 6, vec![]), number::ReportingTriggers),
        ("time quota mechanism", in_urr(vec![raw(115, &[0, 0, 0, 0, 9])]), 115),
        ("additional monitoring time", in_urr(vec![raw(147, &[])]), 147),
        ("envelope closure", urr(1, 1 << 10, vec![]), number::ReportingTriggers),
        ("multicast join", urr(1, 1 << 14, vec![]), number::ReportingTriggers),
        ("SSPOC", in_urr(vec![Ie::MeasurementInformation(0x20)]), number::MeasurementInformation),
        ("packet rate", in_qer(raw(94, &[0])), 94),
        ("DL flow level marking", in_qer(raw(97, &[1, 0, 0])), 97),
        ("paging policy indicator", in_qer(Ie::PagingPolicyIndicator(1)), 158),
        ("averaging window", in_qer(Ie::AveragingWindow(2000)), 157),
        ("trace", raw(152, &[0; 8]), 152),
        ("SRR", raw(212, &[]), 212),
        ("MAR", raw(165, &[]), 165),
    ] {
        let mut bench = Bench::new();
        let request = simple_session(1, 1, [10, 0, 0, 1], vec![extra]);
        let answer = bench.ask(MessageType::SessionEstablishmentRequest, Some(0), request);
        assert_eq!(answer.cause(), Some(Cause::SERVICE_NOT_SUPPORTED), "{name}");
        assert_eq!(find!(answer.ies, OffendingIe), Some(&offending), "{name}");
        assert_eq!((bench.plane.commits, bench.node.resources_in_use()), (0, 0), "{name}");
    }
    // Nor is it accepted with an association or in a change of a session.
    let mut bench = Bench::new();
    let seid = session(&mut bench, 0, vec![]);
    let answer = bench.modify(seid, vec![raw(199, &[])]);
    assert_eq!((answer.cause(), find!(answer.ies, OffendingIe)), (Some(Cause::SERVICE_NOT_SUPPORTED), Some(&199)));
    let answer = bench.modify(seid, vec![Ie::PfcpSmReqFlags(0x08)]);
    assert_eq!((answer.cause(), find!(answer.ies, OffendingIe)), (Some(Cause::SERVICE_NOT_SUPPORTED), Some(&number::PfcpSmReqFlags)));
    let action = Ie::UpdateFar(vec![Ie::FarId(2), Ie::ApplyAction(ApplyActionFlags(0x0202))]);
    assert_eq!(bench.modify(seid, vec![action]).cause(), Some(Cause::RULE_FAILURE));
    let answer = bench.ask(MessageType::AssociationSetupRequest, None, [setup_ies(SMF_STARTED), vec![raw(238, &[])]].concat());
    assert_eq!((answer.cause(), find!(answer.ies, OffendingIe)), (Some(Cause::SERVICE_NOT_SUPPORTED), Some(&238)));
    // What no release has that we know of is skipped, and counted (§7.6.6).
    assert_eq!(bench.modify(seid, vec![raw(999, &[1])]).cause(), Some(Cause::REQUEST_ACCEPTED));
    assert_eq!(bench.node.stats().unknown_elements, 1);
}

#[test]
fn a_holding_time_whose_end_is_not_asked_for_is_never_due() {
    let mut bench = Bench::new();
    let seid = session(&mut bench, VOLQU, vec![Ie::VolumeQuota(total(10_000)), Ie::QuotaHoldingTime(10)]);
    bench.count(seid, 1, 1000, 0);
    run(&mut bench, 100);
    assert!(bench.node.next_deadline().is_none_or(|at| at > bench.now), "a time that has passed again and again");
    assert_eq!(triggers(&mut bench), []);
    assert!(!is_exhausted(&bench, seid));
}

#[test]
fn a_urr_that_is_created_again_as_it_is_goes_on() {
    let mut bench = Bench::new();
    let rest = || vec![Ie::VolumeThreshold(total(1000))];
    let seid = session(&mut bench, VOLTH, rest());
    bench.count(seid, 1, 1000, 0);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    assert_eq!(reports(&mut bench).iter().map(|report| bytes(report)).collect::<Vec<_>>(), [1000]);
    let answer = bench.modify(seid, vec![urr(1, VOLTH, rest())]);
    assert_eq!(answer.cause(), Some(Cause::REQUEST_ACCEPTED));
    bench.count(seid, 1, 1500, 0);
    let answer = bench.delete(seid);
    let last = groups(&answer.ies, number::UsageReportInDeletionResponse)[0];
    assert_eq!((bytes(last), find!(last, UrSeqn)), (500, Some(&1)));
}

#[test]
fn what_is_carried_while_a_urr_is_made_anew_is_in_its_next_report() {
    let mut bench = Bench::new();
    let seid = session(&mut bench, VOLTH, vec![Ie::VolumeThreshold(total(10_000))]);
    bench.count(seid, 1, 1000, 0);
    bench.plane.carried_meanwhile = 300;
    let answer = bench.modify(seid, vec![Ie::RemoveUrr(vec![Ie::UrrId(1)]), urr(1, VOLTH, vec![Ie::VolumeThreshold(total(20_000))])]);
    bench.plane.carried_meanwhile = 0;
    let last = groups(&answer.ies, number::UsageReportInModificationResponse)[0];
    assert_eq!(bytes(last), 1000);
    let answer = bench.delete(seid);
    assert_eq!(bytes(groups(&answer.ies, number::UsageReportInDeletionResponse)[0]), 300);
}

#[test]
fn links_are_followed_whatever_the_numbers_of_the_urrs() {
    const LIUSA: u32 = 1 << 7;
    for chain in [[3, 2, 1], [1, 2, 3], [2, 3, 1]] {
        let mut bench = Bench::new();
        let due = urr(chain[0], VOLTH, vec![Ie::VolumeThreshold(total(100))]);
        let linked = chain.windows(2).map(|pair| urr(pair[1], LIUSA, vec![Ie::LinkedUrrId(pair[0])]));
        let (seid, _) = bench.establish(simple_session(1, 1, [10, 0, 0, 1], [due].into_iter().chain(linked).collect()));
        bench.count(seid, chain[0], 100, 0);
        bench.node.poll_usage(bench.now, &mut bench.plane);
        let ids: BTreeSet<u32> = reports(&mut bench).iter().map(|report| *find!(report, UrrId).unwrap()).collect();
        assert_eq!(ids, BTreeSet::from([1, 2, 3]), "{chain:?}");
    }
}

#[test]
fn two_updates_of_one_urr_in_a_request_both_have_effect() {
    let mut bench = Bench::new();
    let seid = session(&mut bench, VOLQU, vec![Ie::VolumeQuota(total(1000))]);
    bench.count(seid, 1, 1000, 0);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    assert_eq!(triggers(&mut bench), [VOLQU]);
    let update = |ie| Ie::UpdateUrr(vec![Ie::UrrId(1), ie]);
    bench.modify(seid, vec![update(Ie::VolumeQuota(total(500))), update(Ie::QuotaHoldingTime(30))]);
    assert!(!is_exhausted(&bench, seid));
    bench.count(seid, 1, 1400, 0);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    assert!(!is_exhausted(&bench, seid), "the new quota counts from the old one's end");
}

#[test]
fn usage_that_the_smf_rejects_is_counted_as_lost() {
    let mut bench = Bench::new();
    let seid = session(&mut bench, VOLTH, vec![Ie::VolumeThreshold(total(1000))]);
    for (used, answer) in
        [(1000, vec![Ie::Cause(Cause::REQUEST_REJECTED)]), (2000, vec![]), (3000, vec![Ie::Cause(Cause::SESSION_CONTEXT_NOT_FOUND)])]
    {
        bench.count(seid, 1, used, 0);
        bench.node.poll_usage(bench.now, &mut bench.plane);
        let report = bench.sent_one();
        bench.answer(&report, answer);
        assert_eq!(bench.node.stats().lost_usage_reports, used / 1000);
    }
}

/// As many URRs as a session can have, each with more events than can be told.
#[test]
fn an_answer_with_the_events_of_many_urrs_fits_a_datagram() {
    let mut bench = Bench::new();
    let rule = |id| {
        let ies = vec![Ie::UrrId(id), Ie::MeasurementMethod(6), Ie::ReportingTriggers(Triggers(EVETH)), Ie::InactivityDetectionTime(20)];
        Ie::CreateUrr([ies, vec![Ie::EventThreshold(1_000_000)]].concat())
    };
    const URRS: u32 = 240;
    let (seid, _) = bench.establish(simple_session(1, 1, [10, 0, 0, 1], (1..=URRS).map(rule).collect()));
    for n in 0..100 {
        (1..=URRS).for_each(|id| bench.count(seid, id, 100 * (n + 1), 0));
        run(&mut bench, 2);
        run(&mut bench, 40);
    }
    let answer = bench.delete(seid);
    let last = groups(&answer.ies, number::UsageReportInDeletionResponse);
    assert_eq!(last.len(), URRS as usize);
    assert!(last.iter().all(|report| event_times(report).len() == 4), "{:?}", last[0]);
}

#[test]
fn a_peer_that_was_thought_lost_and_releases_its_association_is_told_the_final_usage() {
    let on_loss = OnLoss::Keep(None);
    let (mut bench, _) = with_usage(Config { heartbeat_period: Some(10 * SECOND), on_loss, ..config() });
    bench.pass(40 * SECOND);
    bench.sent();
    bench.ask(MessageType::AssociationReleaseRequest, None, vec![Ie::NodeId(smf_node())]);
    end_all(&mut bench);
    let report = bench.sent_one();
    assert_eq!(final_report(&report), (TEBUR, 1000));
}

#[test]
fn final_usage_that_was_not_acknowledged_is_sent_again_when_the_peer_answers_a_heartbeat() {
    let (mut bench, _) = with_usage(Config { heartbeat_period: Some(30 * SECOND), ..config() });
    // A new association without the sessions of the one before.
    bench.ask(MessageType::AssociationSetupRequest, None, setup_ies(SMF_STARTED));
    end_all(&mut bench);
    assert_eq!(final_report(&bench.sent_one()), (TEBUR, 1000));
    bench.pass(20 * SECOND);
    bench.sent();
    assert_eq!((bench.node.final_reports_pending(), bench.node.final_reports_kept()), (0, 1));
    bench.pass(10 * SECOND);
    let heartbeat = bench.sent_one();
    assert_eq!(heartbeat.kind, MessageType::HeartbeatRequest);
    bench.answer(&heartbeat, vec![Ie::RecoveryTimeStamp(SMF_STARTED)]);
    bench.node.handle_timeout(bench.now, &mut bench.plane);
    let report = bench.sent_one();
    assert_eq!(final_report(&report), (TEBUR, 1000));
    bench.answer(&report, vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
    assert_eq!((bench.node.final_reports_kept(), bench.node.stats().lost_usage_reports), (0, 0));
}

/// Answers all that was sent, and gives what the reports in it told: UR-SEQN and bytes.
fn take_reports(bench: &mut Bench) -> Vec<(u32, u64)> {
    reports(bench).iter().map(|report| (*find!(report, UrSeqn).unwrap(), bytes(report))).collect()
}

/// How many reports were lost, and why.
fn lost(bench: &Bench) -> Vec<(&'static str, u64)> {
    let stats = bench.node.stats();
    assert_eq!(stats.lost_usage.values().sum::<u64>(), stats.lost_usage_reports);
    stats.lost_usage.iter().map(|(why, count)| (why.name(), *count)).collect()
}

/// A threshold of 1000 bytes is passed, and nobody answers the report.
fn unanswered(config: Config) -> (Bench, Seid) {
    let mut bench = Bench::with(config);
    let seid = session(&mut bench, VOLTH, vec![Ie::VolumeThreshold(total(1000))]);
    bench.count(seid, 1, 1000, 0);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    run(&mut bench, 20);
    assert_eq!(sent_once(&mut bench).len(), 1);
    assert_eq!((bench.node.final_reports_kept(), lost(&bench)), (1, vec![]));
    (bench, seid)
}

#[test]
fn usage_that_nobody_answered_is_kept_and_sent_again_when_the_peer_answers_anything() {
    let (mut bench, seid) = unanswered(config());
    // Nobody is asked again while nothing is heard.
    run(&mut bench, 100);
    assert_eq!(bench.sent(), []);
    bench.count(seid, 1, 2500, 0);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    assert_eq!(take_reports(&mut bench), [(1, 1500)]);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    assert_eq!(take_reports(&mut bench), [(0, 1000)]);
    run(&mut bench, 100);
    assert_eq!((bench.sent(), bench.node.final_reports_kept(), lost(&bench)), (vec![], 0, vec![]));
    assert_eq!(bench.node.stats().usage_reports, 2, "each counts once");
}

#[test]
fn kept_usage_is_sent_to_a_peer_that_is_heard_unless_it_has_restarted() {
    let (mut bench, _) = unanswered(config());
    let heartbeat = |bench: &mut Bench, stamp: u32| {
        bench.ask(MessageType::HeartbeatRequest, None, vec![Ie::RecoveryTimeStamp(stamp)]);
        bench.node.poll_usage(bench.now, &mut bench.plane);
    };
    heartbeat(&mut bench, SMF_STARTED + 7);
    assert_eq!((bench.sent(), bench.node.final_reports_kept()), (vec![], 1));
    heartbeat(&mut bench, SMF_STARTED);
    // Again without an answer: again kept.
    run(&mut bench, 20);
    assert_eq!((sent_once(&mut bench).len(), bench.node.final_reports_kept()), (1, 1));
    heartbeat(&mut bench, SMF_STARTED);
    assert_eq!((take_reports(&mut bench), bench.node.final_reports_kept(), lost(&bench)), (vec![(0, 1000)], 0, vec![]));
    // One that restarted does not know the session.
    let (mut bench, _) = unanswered(config());
    bench.ask(MessageType::AssociationSetupRequest, None, setup_ies(SMF_STARTED + 9));
    end_all(&mut bench);
    assert_eq!((bench.sent(), bench.node.final_reports_kept(), lost(&bench)), (vec![], 0, vec![("restarted", 1)]));
}

#[test]
fn kept_usage_of_a_session_is_told_in_the_answer_to_its_deletion() {
    let (mut bench, seid) = unanswered(config());
    let answer = bench.delete(seid);
    assert_eq!(groups(&answer.ies, number::UsageReportInDeletionResponse).len(), 2, "{answer:?}");
    run(&mut bench, 20);
    assert_eq!((bench.sent(), bench.node.final_reports_pending(), lost(&bench)), (vec![], 0, vec![]));
}

#[test]
fn of_usage_that_nobody_answers_no_more_is_kept_than_there_may_be_sessions_and_the_rest_is_counted() {
    let (mut bench, seid) = unanswered(Config { max_sessions: 3, ..config() });
    for n in 2..=5 {
        bench.count(seid, 1, 1000 * n, 0);
        bench.node.poll_usage(bench.now, &mut bench.plane);
        run(&mut bench, 20);
        assert_eq!(bench.node.final_reports_kept(), 3.min(n as usize));
    }
    bench.sent();
    assert_eq!(lost(&bench), [("full", 2)]);
    bench.ask(MessageType::HeartbeatRequest, None, vec![]);
    let mut told = Vec::new();
    for _ in 0..5 {
        bench.node.poll_usage(bench.now, &mut bench.plane);
        told.extend(take_reports(&mut bench));
    }
    assert_eq!((told, bench.node.final_reports_kept()), (vec![(0, 1000), (1, 1000), (2, 1000)], 0));
}

#[test]
fn kept_usage_that_is_sent_again_leaves_room_for_new_reports() {
    const SESSIONS: u32 = 12;
    let mut bench = Bench::with(Config { max_outstanding_per_peer: 4, ..config() });
    let seids: Vec<Seid> = (1..=SESSIONS)
        .map(|n| {
            let threshold = urr(1, VOLTH, vec![Ie::VolumeThreshold(total(1000))]);
            bench.establish(simple_session(n.into(), n, [10, 0, 0, n as u8], vec![threshold])).0
        })
        .collect();
    seids.iter().for_each(|seid| bench.count(*seid, 1, 1000, 0));
    // Four at a time, each given up.
    run(&mut bench, 60);
    assert_eq!((sent_once(&mut bench).len(), bench.node.final_reports_kept()), (SESSIONS as usize, SESSIONS as usize));
    bench.ask(MessageType::HeartbeatRequest, None, vec![]);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    assert_eq!(sent_once(&mut bench).len(), 2, "half of four");
    bench.count(seids[5], 1, 2000, 0);
    bench.count(seids[6], 1, 2000, 0);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    let new = sent_once(&mut bench);
    assert_eq!(new.len(), 2);
    for report in &new {
        assert_eq!(find!(groups(&report.ies, number::UsageReportInReportRequest)[0], UrSeqn), Some(&1));
        bench.answer(report, vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
    }
    let mut told = 0;
    for _ in 0..30 {
        run(&mut bench, 1);
        told += take_reports(&mut bench).len();
    }
    // The two that were taken off above were sent again until they were given up, and kept.
    run(&mut bench, 20);
    bench.ask(MessageType::HeartbeatRequest, None, vec![]);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    told += take_reports(&mut bench).len();
    assert_eq!((told, bench.node.final_reports_kept(), lost(&bench)), (SESSIONS as usize, 0, vec![]));
}

#[test]
fn final_usage_for_which_a_peer_has_no_room_does_not_hold_up_that_of_another() {
    let mut bench = Bench::with(Config { max_outstanding_per_peer: 1, ..config() });
    let first = session(&mut bench, VOLTH, vec![Ie::VolumeThreshold(total(1000))]);
    let smf = bench.smf;
    bench.smf = "127.0.0.9:8805".parse().unwrap();
    let other = NodeId::Ipv4([127, 0, 0, 9].into());
    bench.ask(MessageType::AssociationSetupRequest, None, vec![Ie::NodeId(other.clone()), Ie::RecoveryTimeStamp(SMF_STARTED)]);
    let mut request = simple_session(2, 2, [10, 0, 0, 2], vec![urr(1, VOLTH, vec![Ie::VolumeThreshold(total(1000))])]);
    request[0] = Ie::NodeId(other.clone());
    request[1] = Ie::FSeid(FSeid { seid: 2, ipv4: Some([127, 0, 0, 9].into()), ipv6: None });
    let (second, _) = bench.establish(request);
    // The first peer has not answered yet when its association ends.
    bench.count(first, 1, 1000, 0);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    let waiting = bench.sent_one();
    bench.count(first, 1, 1300, 0);
    bench.count(second, 1, 400, 0);
    // Its final usage is the first that is to be sent.
    let here = std::mem::replace(&mut bench.smf, smf);
    bench.ask(MessageType::AssociationReleaseRequest, None, vec![Ie::NodeId(smf_node())]);
    end_all(&mut bench);
    bench.smf = here;
    bench.ask(MessageType::AssociationReleaseRequest, None, vec![Ie::NodeId(other)]);
    bench.smf = smf;
    let mut told = Vec::new();
    for _ in 0..3 {
        end_all(&mut bench);
        bench.node.poll_usage(bench.now, &mut bench.plane);
        for (to, message) in bench.sent() {
            told.push((to.ip().to_string(), reports_of(&message)));
        }
    }
    assert_eq!(told, [("127.0.0.9".to_owned(), vec![400])]);
    bench.answer(&waiting, vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
    bench.node.poll_usage(bench.now, &mut bench.plane);
    assert_eq!(reports_of(&bench.sent_one()), [300]);
}

/// The bytes that each usage report of a message tells.
fn reports_of(message: &Message) -> Vec<u64> {
    groups(&message.ies, number::UsageReportInReportRequest).into_iter().map(bytes).collect()
}
