//! A node that comes back from its records after a crash, at any moment.

mod common;

use std::collections::BTreeMap;
use std::time::Duration;

use common::*;
use pfcp::codec::{self, Cause, Group, Ie, Message, MessageType, Volume, find};
use pfcp::config::{Config, OnLoss};
use pfcp::node::{Read, Restored, Restoring, Saved, SavedError};
use pfcp::rules::{Counters, Seid, Usage};
use rand::Rng;

const LAG: Duration = Duration::from_secs(4);
const VOLTH: u32 = 1 << 1;

/// A node and what is kept of it: all that a crash leaves.
struct Kept {
    bench: Bench,
    records: BTreeMap<Vec<u8>, Vec<u8>>,
    config: Config,
}

fn recorded() -> Config {
    Config { records: Some(LAG), seed: Some([5; 32]), ..config() }
}

fn apply(records: &mut BTreeMap<Vec<u8>, Vec<u8>>, changes: Vec<pfcp::node::Change>) {
    for change in changes {
        match change.value {
            Some(value) => drop(records.insert(change.key, value)),
            None => drop(records.remove(&change.key)),
        }
    }
}

impl Kept {
    fn new(config: Config) -> Kept {
        let mut kept = Kept { bench: Bench::with(config.clone()), records: BTreeMap::new(), config };
        kept.write();
        kept
    }

    /// Writes what has changed, as is done before anything is sent.
    fn write(&mut self) {
        apply(&mut self.records, self.bench.node.take_changes());
    }

    fn try_restore(&self, records: &BTreeMap<Vec<u8>, Vec<u8>>) -> Result<(Bench, Restored), SavedError> {
        let saved = Saved::read(records.get(&Saved::key()).map(Vec::as_slice))?;
        let mut bench = Bench { plane: Recorder::default(), ..Bench::alone(self.config.clone()) };
        (bench.now, bench.smf, bench.sequence) = (self.bench.now, self.bench.smf, self.bench.sequence);
        let mut restoring = Restoring::begin(Config { started_at_ntp_s: 1, ..self.config.clone() }, &saved, bench.now).unwrap();
        for (key, value) in records {
            restoring.record(Read::new(key, value), &mut bench.plane);
        }
        let (node, restored) = restoring.finish(&mut bench.plane);
        bench.node = node;
        Ok((bench, restored))
    }

    /// Kills the node: what was not written is lost, with all that the user plane had.
    fn crash(&mut self) -> Restored {
        let (bench, restored) = self.try_restore(&self.records).unwrap();
        self.bench = bench;
        self.write();
        restored
    }

    fn establish(&mut self, ies: Group) -> Seid {
        let (seid, _) = self.bench.establish(ies);
        self.write();
        seid
    }

    /// All counters are looked at.
    fn checkpoint(&mut self) {
        let end = self.bench.now + LAG;
        while let Some(due) = self.bench.node.next_checkpoint().filter(|due| *due <= end) {
            self.bench.now = self.bench.now.max(due);
            self.bench.node.checkpoint(self.bench.now, &mut self.bench.plane);
        }
        self.write();
    }

    /// All that is seen of the node from outside.
    fn seen(&self) -> (Vec<String>, String, usize, BTreeMap<Seid, pfcp::rules::SessionRules>) {
        let node = &self.bench.node;
        let sessions = node.sessions().map(|session| format!("{session:?}")).collect();
        (sessions, format!("{:?}", node.associations().collect::<Vec<_>>()), node.resources_in_use(), self.bench.plane.sessions.clone())
    }
}

fn threshold(bytes: u64) -> Group {
    vec![Ie::VolumeThreshold(Volume { total: Some(bytes), uplink: None, downlink: None })]
}

fn chosen_session(cp_seid: u64) -> Group {
    vec![
        Ie::NodeId(smf_node()),
        smf_seid(cp_seid),
        pdr(1, 0, vec![choose(Some(1)), labels("internet"), choose_ue(true, true, false)], 1, vec![decap(0), Ie::UrrId(1)]),
        pdr(2, 1, vec![labels("internet"), choose_ue(true, true, true)], 2, vec![Ie::UrrId(1)]),
        far_to(1, 1),
        far_buffer(2),
        urr(1, VOLTH, threshold(1000)),
    ]
}

fn reported(message: &Message) -> u64 {
    let reports = message.ies.iter().filter(|ie| {
        matches!(ie, Ie::UsageReportInReportRequest(_) | Ie::UsageReportInModificationResponse(_) | Ie::UsageReportInDeletionResponse(_))
    });
    reports.filter_map(|ie| find!(ie.children(), VolumeMeasurement)?.bytes.total).sum()
}

#[test]
fn a_node_that_crashes_at_any_moment_comes_back_as_it_was() {
    for seed in 0..20 {
        let mut random = testkit::rng(seed);
        let mut kept = Kept::new(recorded());
        let mut seids: Vec<Seid> = Vec::new();
        let (mut counted, mut charged, mut crashes) = (0, 0, 0);
        for step in 1..120_u64 {
            let pick = (!seids.is_empty()).then(|| random.random_range(0..seids.len()));
            match (random.random_range(0..7), pick) {
                (0 | 1, _) | (_, None) => seids.push(kept.establish(chosen_session(step))),
                (2, Some(n)) => {
                    let answer = kept.bench.modify(seids[n], vec![far_to_gnb(2, step as u32, None)]);
                    assert_eq!(answer.cause(), Some(Cause::REQUEST_ACCEPTED));
                }
                (3, Some(n)) => {
                    let answer = kept.bench.delete(seids.swap_remove(n));
                    assert_eq!(answer.cause(), Some(Cause::REQUEST_ACCEPTED));
                    charged += reported(&answer);
                }
                (4, Some(n)) => {
                    let usage = kept.bench.plane.usage.entry((seids[n], 1)).or_default();
                    let bytes = random.random_range(1..400) * 100;
                    *usage = Usage { uplink_bytes: usage.uplink_bytes + bytes, uplink_packets: usage.uplink_packets + 1, ..*usage };
                    counted += bytes;
                    // What is reported then, and the counters, are recorded in time.
                    kept.bench.node.poll_usage(kept.bench.now, &mut kept.bench.plane);
                    kept.checkpoint();
                }
                (5, Some(_)) => kept.bench.pass(Duration::from_millis(random.random_range(0..1500))),
                _ => {
                    kept.write();
                    let before = kept.seen();
                    let restored = kept.crash();
                    crashes += 1;
                    assert_eq!(kept.seen(), before);
                    assert_eq!((restored.sessions, restored.damaged, restored.refused), (seids.len(), 0, 0));
                }
            }
            kept.write();
            for (_, message) in kept.bench.sent() {
                // Sent again after a crash, a report is known by its sequence number.
                charged += reported(&message);
                kept.bench.answer(&message, vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
            }
            kept.write();
        }
        assert!(crashes > 5, "{crashes}");
        for seid in seids {
            charged += reported(&kept.bench.delete(seid));
        }
        assert_eq!(charged, counted, "seed {seed}");
        assert_eq!((kept.bench.node.resources_in_use(), kept.bench.plane.sessions.len()), (0, 0));
        kept.write();
        let left: Vec<u8> = kept.records.keys().map(|key| key[0]).filter(|kind| ![0, 1, 5].contains(kind)).collect();
        assert!(left.is_empty(), "records of sessions that are gone: {left:?}");
    }
}

/// The SMF asks again, for it got no answer, and had two sessions here.
#[test]
fn a_request_that_is_sent_again_across_a_crash_is_not_executed_twice() {
    let mut kept = Kept::new(recorded());
    let request = Message { seid: Some(0), ..Message::node(MessageType::SessionEstablishmentRequest, 77, chosen_session(1)) };
    let octets = request.encode().unwrap();
    kept.bench.node.receive(kept.bench.smf, &octets, kept.bench.now, &mut kept.bench.plane);
    kept.write();
    let (_, answer) = kept.bench.node.poll_transmit().unwrap();
    kept.crash();
    let again = kept.bench.ask_octets(&octets);
    assert_eq!(again, codec::decode(&answer).unwrap());
    assert_eq!((kept.bench.node.session_count(), kept.bench.node.stats().repeated_answers), (1, 1));
    // Nor a deletion, whose answer has the usage.
    let seid = find!(again.ies, FSeid).unwrap().seid;
    kept.bench.count(seid, 1, 500, 0);
    let request = Message { seid: Some(seid), ..Message::node(MessageType::SessionDeletionRequest, 78, vec![]) }.encode().unwrap();
    let deleted = kept.bench.ask_octets(&request);
    kept.write();
    kept.crash();
    assert_eq!(kept.bench.ask_octets(&request), deleted);
    assert_eq!(reported(&deleted), 500);
}

/// A request that changes nothing.
fn modification(sequence: u32, seid: Seid) -> Vec<u8> {
    let request = Message { seid: Some(seid), ..Message::node(MessageType::SessionModificationRequest, sequence, vec![]) };
    request.encode().unwrap()
}

/// The time without a node counts at no crash: not at the second one either, which comes as soon as the node is back, and not at a third one.
#[test]
fn an_answer_outlasts_pauses_however_many_crashes_there_are() {
    let mut kept = Kept::new(recorded());
    let seid = kept.establish(chosen_session(1));
    kept.bench.count(seid, 1, 500, 0);
    let request = Message { seid: Some(seid), ..Message::node(MessageType::SessionDeletionRequest, 78, vec![]) }.encode().unwrap();
    let deleted = kept.bench.ask_octets(&request);
    kept.write();
    for _ in 0..3 {
        kept.bench.now += 2 * kept.config.answer_lifetime;
        // Killed before it has written anything, too.
        kept.bench = kept.try_restore(&kept.records).unwrap().0;
        kept.crash();
        kept.bench.now += kept.config.answer_lifetime / 3;
        kept.checkpoint();
    }
    assert_eq!(kept.bench.ask_octets(&request), deleted);
    assert_eq!((reported(&deleted), kept.bench.node.stats().repeated_answers), (500, 1));
    // Then it is as old as any.
    kept.bench.now += kept.config.answer_lifetime;
    kept.checkpoint();
    kept.crash();
    assert_eq!(kept.bench.ask_octets(&request).cause(), Some(Cause::SESSION_CONTEXT_NOT_FOUND));
}

#[test]
fn answers_that_are_written_together_are_one_record_until_the_last_of_them_expires() {
    let mut kept = Kept::new(recorded());
    let seid = kept.establish(chosen_session(1));
    let of_answers = |kept: &Kept| kept.records.keys().filter(|key| key[0] == 5).count();
    let before = of_answers(&kept);
    for sequence in 100..110 {
        kept.bench.ask_octets(&modification(sequence, seid));
        kept.bench.now += Duration::from_millis(100);
    }
    kept.write();
    assert_eq!(of_answers(&kept), before + 1);
    kept.crash();
    kept.bench.ask_octets(&modification(104, seid));
    assert_eq!(kept.bench.node.stats().repeated_answers, 1);
    kept.bench.now += kept.config.answer_lifetime;
    kept.bench.node.poll_usage(kept.bench.now, &mut kept.bench.plane);
    kept.write();
    assert_eq!(of_answers(&kept), 0);
    // The time in which nobody was there does not count: a peer that goes on asking has its request executed once. Numbers go on.
    kept.bench.ask_octets(&modification(200, seid));
    kept.write();
    kept.bench.now += 2 * kept.config.answer_lifetime;
    kept.crash();
    assert_eq!(of_answers(&kept), 1);
    kept.bench.ask_octets(&modification(200, seid));
    assert_eq!(kept.bench.node.stats().repeated_answers, 1);
    kept.bench.now += kept.config.answer_lifetime;
    kept.bench.node.poll_usage(kept.bench.now, &mut kept.bench.plane);
    kept.write();
    assert_eq!(of_answers(&kept), 0);
    // One that had expired before is gone, though its record was there.
    kept.bench.ask_octets(&modification(202, seid));
    kept.write();
    let records: Vec<_> = kept.records.iter().filter(|(key, _)| key[0] == 5).map(|(key, value)| (key.clone(), value.clone())).collect();
    kept.bench.now += kept.config.answer_lifetime;
    kept.checkpoint();
    kept.records.extend(records);
    kept.crash();
    assert_eq!(of_answers(&kept), 0);
    kept.bench.ask_octets(&modification(201, seid));
    kept.write();
    kept.crash();
    kept.bench.ask_octets(&modification(201, seid));
    assert_eq!(kept.bench.node.stats().repeated_answers, 1);
}

/// A peer that has restarted may number its requests as before, and means others.
#[test]
fn an_answer_that_was_forgotten_with_its_association_does_not_come_back() {
    let mut kept = Kept::new(recorded());
    let seid = kept.establish(chosen_session(1));
    let request = modification(100, seid);
    assert_eq!(kept.bench.ask_octets(&request).cause(), Some(Cause::REQUEST_ACCEPTED));
    kept.write();
    kept.bench.now += Duration::from_secs(1);
    let answer = kept.bench.ask(MessageType::AssociationSetupRequest, None, setup_ies(SMF_STARTED + 1));
    assert_eq!(answer.cause(), Some(Cause::REQUEST_ACCEPTED));
    kept.write();
    kept.crash();
    assert_eq!(kept.bench.ask_octets(&request).cause(), Some(Cause::SESSION_CONTEXT_NOT_FOUND));
}

#[test]
fn the_recovery_time_stamp_stays_and_time_goes_on() {
    let mut kept = Kept::new(recorded());
    kept.establish(chosen_session(1));
    kept.bench.pass(Duration::from_secs(100));
    kept.checkpoint();
    kept.bench.now += Duration::from_secs(7);
    let restored = kept.crash();
    assert!(restored.uncounted >= Duration::from_secs(7) && restored.uncounted <= Duration::from_secs(7) + LAG, "{restored:?}");
    let answer = kept.bench.ask(MessageType::HeartbeatRequest, None, vec![Ie::RecoveryTimeStamp(SMF_STARTED)]);
    assert_eq!(find!(answer.ies, RecoveryTimeStamp), Some(&UPF_STARTED));
    let saved = Saved::read(kept.records.get(&Saved::key()).map(Vec::as_slice)).unwrap();
    assert_eq!((saved.recovery_ntp_s(), saved.written_at()), (UPF_STARTED, kept.bench.now));
}

#[test]
fn a_quota_goes_on_across_a_crash() {
    let mut kept = Kept::new(recorded());
    let quota = Ie::VolumeQuota(Volume { total: Some(1000), uplink: None, downlink: None });
    let mut session = simple_session(1, 9, [10, 45, 0, 9], vec![urr(1, 1 << 8, vec![quota])]);
    for ie in &mut session {
        if let Ie::CreatePdr(ies) = ie {
            ies.push(Ie::UrrId(1));
        }
    }
    let seid = kept.establish(session);
    kept.bench.count(seid, 1, 600, 0);
    kept.checkpoint();
    // The last of it is not recorded in time.
    kept.bench.count(seid, 1, 700, 0);
    kept.crash();
    assert_eq!(kept.bench.plane.usage[&(seid, 1)].uplink_bytes, 600);
    kept.bench.count(seid, 1, 900, 0);
    kept.bench.node.poll_usage(kept.bench.now, &mut kept.bench.plane);
    assert_eq!(kept.bench.sent(), []);
    kept.bench.count(seid, 1, 1000, 0);
    kept.bench.node.poll_usage(kept.bench.now, &mut kept.bench.plane);
    assert_eq!(reported(&kept.bench.sent_one()), 1000);
    kept.write();
    kept.crash();
    assert!(kept.bench.plane.sessions[&seid].urrs[&1].exhausted, "packets do not pass again");
}

/// They are read again where they go on counting while the node is away: which they are must be known without a look at all counters.
#[test]
fn counters_that_outlast_the_process_are_recorded_with_each_change_of_their_cells() {
    let mut kept = Kept::new(recorded());
    kept.bench.plane.epoch = Some(3);
    let seid = kept.establish(chosen_session(1));
    kept.crash();
    let of = |kept: &Kept| {
        let (of, urr_id, Counters { usage, lasting }) = kept.bench.plane.returned[0].clone();
        assert_eq!((of, urr_id, kept.bench.plane.returned.len()), (seid, 1, 1));
        (usage.uplink_bytes, lasting.map(|lasting| (lasting.epoch, lasting.cells[0].bytes)))
    };
    assert_eq!(of(&kept), (0, Some((3, 0))));
    // The next process has cells of its own, whether they have counted or not.
    kept.bench.plane.epoch = Some(4);
    kept.bench.node.record_all(kept.bench.now, &mut kept.bench.plane);
    kept.write();
    kept.crash();
    assert_eq!(of(&kept), (0, Some((4, 0))));
    kept.bench.plane.epoch = Some(5);
    kept.bench.count(seid, 1, 700, 0);
    let answer = kept.bench.modify(seid, vec![far_to_gnb(2, 7, None)]);
    assert_eq!(answer.cause(), Some(Cause::REQUEST_ACCEPTED));
    kept.write();
    kept.crash();
    assert_eq!(of(&kept), (700, Some((5, 700))));
    kept.bench.plane.epoch = Some(6);
    kept.bench.node.record_all(kept.bench.now, &mut kept.bench.plane);
    kept.bench.delete(seid);
    kept.write();
    assert_eq!(kept.records.keys().filter(|key| key[0] == 2).count(), 0, "no record is left");
}

#[test]
fn a_report_without_an_answer_is_sent_again_under_its_sequence_number() {
    let mut kept = Kept::new(recorded());
    let seid = kept.establish(chosen_session(1));
    kept.bench.count(seid, 1, 1500, 0);
    kept.bench.node.poll_usage(kept.bench.now, &mut kept.bench.plane);
    kept.write();
    let report = kept.bench.sent_one();
    let restored = kept.crash();
    assert_eq!(restored.reports, 1);
    kept.bench.pass(Duration::from_millis(1));
    assert_eq!(kept.bench.sent_one(), report);
    kept.bench.answer(&report, vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
    kept.write();
    assert_eq!(kept.crash().reports, 0);
    // The next has another number than any that was used shortly before.
    kept.bench.count(seid, 1, 3000, 0);
    kept.bench.node.poll_usage(kept.bench.now, &mut kept.bench.plane);
    let next = kept.bench.sent_one();
    assert!(next.sequence > report.sequence + 1000 && reported(&next) == 1500, "{next:?}");
}

#[test]
fn usage_that_nobody_answered_is_kept_across_a_crash_under_its_number() {
    let mut kept = Kept::new(recorded());
    let seid = kept.establish(chosen_session(1));
    kept.bench.count(seid, 1, 1500, 0);
    kept.bench.node.poll_usage(kept.bench.now, &mut kept.bench.plane);
    kept.bench.pass(Duration::from_secs(20));
    let first = kept.bench.sent().remove(0).1;
    kept.write();
    assert_eq!(kept.bench.node.final_reports_kept(), 1);
    let restored = kept.crash();
    assert_eq!((restored.sessions, restored.reports), (1, 1));
    // Whether it is heard now is not known: it is asked once.
    kept.bench.node.poll_usage(kept.bench.now, &mut kept.bench.plane);
    kept.bench.pass(Duration::from_secs(20));
    let again = kept.bench.sent().remove(0).1;
    assert_eq!((&again.ies, again.seid), (&first.ies, first.seid), "the same UR-SEQN");
    kept.write();
    assert_eq!((kept.crash().reports, kept.bench.node.session_count()), (1, 1));
    kept.bench.node.poll_usage(kept.bench.now, &mut kept.bench.plane);
    let report = kept.bench.sent_one();
    assert_eq!(report.ies, first.ies);
    kept.bench.answer(&report, vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
    kept.write();
    assert_eq!((kept.crash().reports, kept.bench.node.final_reports_kept()), (0, 0));
}

#[test]
fn final_usage_for_a_peer_out_of_reach_is_kept_across_a_crash() {
    let config = Config { heartbeat_period: Some(Duration::from_secs(10)), on_loss: OnLoss::Release, ..recorded() };
    let mut kept = Kept::new(config);
    let seid = kept.establish(chosen_session(1));
    kept.bench.count(seid, 1, 400, 0);
    kept.bench.pass(Duration::from_secs(60));
    kept.bench.sent();
    kept.write();
    assert_eq!((kept.bench.node.session_count(), kept.bench.node.final_reports_kept()), (0, 1));
    let restored = kept.crash();
    assert_eq!((restored.sessions, restored.reports, kept.bench.node.final_reports_kept()), (0, 1, 1));
    let answer = kept.bench.ask(MessageType::AssociationSetupRequest, None, setup_ies(SMF_STARTED));
    assert_eq!(answer.cause(), Some(Cause::REQUEST_ACCEPTED));
    kept.bench.node.poll_usage(kept.bench.now, &mut kept.bench.plane);
    kept.write();
    assert_eq!(reported(&kept.bench.sent_one()), 400);
    // Sent, and not acknowledged.
    assert_eq!(kept.crash().reports, 1);
    kept.bench.pass(Duration::from_millis(1));
    let again = kept.bench.sent_one();
    assert_eq!(reported(&again), 400);
    kept.bench.answer(&again, vec![Ie::Cause(Cause::REQUEST_ACCEPTED)]);
    kept.write();
    assert_eq!((kept.crash().reports, kept.bench.node.final_reports_pending()), (0, 0));
}

#[test]
fn sessions_that_wait_to_be_ended_end_after_a_crash_too() {
    let mut kept = Kept::new(recorded());
    for n in 1..=200 {
        kept.establish(chosen_session(n));
    }
    kept.bench.ask(MessageType::AssociationReleaseRequest, None, vec![Ie::NodeId(smf_node())]);
    kept.bench.node.handle_timeout(kept.bench.now, &mut kept.bench.plane);
    kept.write();
    let left = kept.bench.node.sessions_ending();
    assert!((1..200).contains(&left), "{left}");
    let restored = kept.crash();
    assert_eq!((restored.sessions, kept.bench.node.sessions_ending(), kept.bench.node.session_count()), (left, left, 0));
    kept.bench.pass(Duration::from_secs(1));
    assert_eq!((kept.bench.node.sessions_ending(), kept.bench.node.resources_in_use(), kept.bench.plane.sessions.len()), (0, 0, 0));
    kept.write();
    assert!(kept.records.keys().all(|key| [0, 5].contains(&key[0])), "{:?}", kept.records.keys());
}

#[test]
fn a_damaged_record_costs_what_it_is_of_and_no_more() {
    let mut kept = Kept::new(recorded());
    let seids: Vec<Seid> = (1..=3).map(|n| kept.establish(chosen_session(n))).collect();
    kept.bench.count(seids[0], 1, 500, 0);
    kept.checkpoint();
    for (key, value) in &kept.records {
        for damage in [vec![], value[..value.len() - 1].to_vec(), [&value[..], &[0]].concat(), vec![0xff; value.len()]] {
            let mut records = kept.records.clone();
            records.insert(key.clone(), damage);
            match (key[0], kept.try_restore(&records)) {
                (0, result) => assert!(result.is_err()),
                (1, result) => assert_eq!(result.unwrap().0.node.session_count(), 0, "their association is not known"),
                (2, result) if key.len() == 9 => {
                    let (bench, restored) = result.unwrap();
                    assert_eq!((restored.sessions, bench.node.session_count()), (2, 2));
                    assert!(restored.damaged >= 1);
                }
                (_, result) => {
                    let (bench, restored) = result.unwrap();
                    assert_eq!((restored.damaged, bench.node.session_count(), bench.node.resources_in_use()), (1, 3, 9));
                }
            }
        }
    }
    let mut records = kept.records.clone();
    records.insert(vec![9, 9], vec![1]);
    let (bench, restored) = kept.try_restore(&records).unwrap();
    assert_eq!((restored.damaged, restored.sessions), (1, 3));
    // Records that are of no use go.
    let seid = seids[1];
    let key = [&[2][..], &seid.to_be_bytes()].concat();
    records.insert(key.clone(), vec![7]);
    drop(bench);
    let mut bench = kept.try_restore(&records).unwrap().0;
    apply(&mut records, bench.node.take_changes());
    assert!(!records.contains_key(&key));
}

#[test]
fn a_session_that_no_longer_fits_the_configuration_is_left_out_and_counted() {
    let mut kept = Kept::new(recorded());
    for n in 1..=3 {
        kept.establish(chosen_session(n));
    }
    kept.config.ue_pools.clear();
    let restored = kept.crash();
    assert_eq!((restored.sessions, restored.refused), (0, 3));
    assert!(restored.first_refusal.unwrap().contains("Ipv4"));
    assert_eq!((kept.bench.node.resources_in_use(), kept.bench.plane.sessions.len()), (0, 0));
    assert!(kept.records.keys().all(|key| key[0] != 2));
    kept.config = Config { max_sessions: 1, ..recorded() };
    kept.establish(simple_session(4, 4, [10, 99, 0, 1], vec![]));
    assert_eq!(kept.crash().sessions, 1);
}

#[test]
fn records_of_another_release_are_refused_by_name() {
    let kept = Kept::new(recorded());
    let mut record = kept.records[&Saved::key()].clone();
    record[0] = 0x7f;
    assert_eq!(Saved::read(Some(&record)), Err(SavedError::Version(127)));
    assert_eq!(Saved::read(None), Err(SavedError::Missing));
    assert_eq!(Saved::read(Some(&[0x80])), Err(SavedError::Damaged));
}

/// Whoever changes what is packed reads old records wrongly, unless the version is another.
#[test]
fn the_layout_of_records_is_that_of_their_version() {
    let mut kept = Kept::new(recorded());
    let seid = kept.establish(chosen_session(1));
    kept.bench.modify(seid, vec![far_to_gnb(2, 7, None), qer(1, 9)]);
    kept.bench.count(seid, 1, 1500, 0);
    kept.bench.node.poll_usage(kept.bench.now, &mut kept.bench.plane);
    kept.checkpoint();
    let hex = |octets: &[u8]| octets.iter().map(|octet| format!("{octet:02x}")).collect::<String>();
    let lines: Vec<String> = kept.records.iter().map(|(key, value)| format!("{} {}", hex(key), hex(value))).collect();
    let text = format!("If this changes, raise VERSION in src/node/journal.rs.\n{}\n", lines.join("\n"));
    testkit::assert_golden("tests/records.expected", &text);
}

/// A shared server answers nothing while it writes a batch, and the lease goes on.
#[test]
fn counters_of_many_sessions_are_written_in_slices_at_a_planned_stop() {
    const SESSIONS: u32 = 5000;
    let mut kept = Kept::new(Config { max_sessions_per_peer: SESSIONS as usize, ..recorded() });
    for n in 0..SESSIONS {
        let address = [10, 9, (n >> 8) as u8, n as u8];
        let seid = kept.establish(simple_session(n.into(), n + 1, address, vec![urr(1, 0, vec![])]));
        kept.bench.count(seid, 1, 1000, 0);
    }
    let node = &mut kept.bench.node;
    node.begin_checkpoint();
    let (mut slices, mut all) = (Vec::new(), 0);
    let mut more = true;
    while more {
        more = node.checkpoint_slice(kept.bench.now, &mut kept.bench.plane);
        let changes = node.take_changes();
        all += changes.iter().filter(|change| change.key.len() == 13).count();
        slices.push(changes.len());
    }
    assert_eq!(all, SESSIONS as usize);
    assert!(slices.len() >= 3 && slices.iter().all(|slice| *slice < 4500), "{slices:?}");
    assert!(node.take_changes().is_empty());
}

#[test]
fn a_node_without_records_notes_nothing() {
    let mut bench = Bench::new();
    bench.establish(chosen_session(1));
    assert_eq!((bench.node.take_changes(), bench.node.next_checkpoint()), (vec![], None));
}

#[test]
fn while_records_cannot_be_written_requests_are_refused_at_once_and_change_nothing() {
    let mut kept = Kept::new(recorded());
    let seid = kept.establish(chosen_session(1));
    let answered = modification(90, seid);
    let answer = kept.bench.ask_octets(&answered);
    kept.write();
    let Kept { bench, .. } = &mut kept;
    bench.node.set_store_away(true);
    for octets in [
        modification(91, seid),
        Message::session(MessageType::SessionDeletionRequest, seid, 92, vec![]).encode().unwrap(),
        Message::session(MessageType::SessionEstablishmentRequest, 0, 93, chosen_session(2)).encode().unwrap(),
        Message::node(MessageType::AssociationSetupRequest, 94, setup_ies(7)).encode().unwrap(),
    ] {
        bench.node.receive(bench.smf, &octets, bench.now, &mut bench.plane);
        assert_eq!(bench.node.poll_transmit(), None);
        let (to, refusal) = bench.node.poll_refusal().unwrap();
        let refusal = codec::decode(&refusal).unwrap();
        assert_eq!((to, refusal.cause()), (bench.smf, Some(Cause::SYSTEM_FAILURE)), "{refusal:?}");
        assert_eq!((bench.node.poll_refusal(), bench.node.take_changes().len()), (None, 0));
    }
    assert_eq!((bench.node.session_count(), bench.node.associations().count()), (1, 1));
    // What was done before has the answer that it had, and heartbeats go on.
    assert_eq!(bench.ask_octets(&answered), answer);
    bench.ask(MessageType::HeartbeatRequest, None, vec![Ie::RecoveryTimeStamp(1)]);
    bench.node.set_store_away(false);
    // The refusal was not kept for retransmissions.
    assert_eq!(bench.ask_octets(&modification(91, seid)).cause(), Some(Cause::REQUEST_ACCEPTED));
}
