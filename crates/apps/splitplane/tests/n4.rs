//! Does the running daemon do by N4 what its node does in tests of its own? Overload, a peer that is lost and comes back, a release with a
//! period of grace, N4 over IPv6.

mod kept;

use kept::{Daemon, Setup, Smf, loopback, until};
use pfcp::codec::{self, ApplyActionFlags, Cause, FTeid, Group, Ie, Message, MessageType, OuterHeaderRemoval, find};
use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv6Addr, UdpSocket};
use std::sync::Mutex;
use std::time::Instant;

/// Of this process's addresses tests make use one after the other.
static ADDRESSES: Mutex<()> = Mutex::new(());

/// LOAD is bit 1 of CP Function Features, OVRL bit 2 (TS 29.244 clause 8.2.58).
const OVRL: u8 = 2;

fn daemon(setup: Setup) -> Daemon {
    let mut daemon = Daemon::configured(setup, tempfile::tempdir().unwrap());
    daemon.start();
    daemon
}

/// An SMF that has three requests for each answer that it gets: three times as many as are done, however fast that is.
struct Flood<'a> {
    smf: &'a Smf,
    next: u32,
    /// Requests without an answer.
    waiting: BTreeMap<u32, Vec<u8>>,
    answers: usize,
    accepted: usize,
    rejected: usize,
    /// What it was told to keep back, in percent, and what it has kept back.
    told: Vec<u8>,
    kept_back: usize,
    debt: u32,
    /// Heartbeats: sent when so many answers had come of so many requests, and what of these was answered before each of them.
    heartbeat: Option<(u32, usize, usize)>,
    beats: usize,
    overtaken: Vec<(usize, usize)>,
}

/// Numbers of heartbeats are above those of sessions' requests.
const HEARTBEATS_FROM: u32 = 0x80_0000;
const REQUESTS_AN_ANSWER: usize = 3;
/// Requests in flight at the beginning, and most that are sent before answers are looked at.
const BURST: usize = 256;

impl<'a> Flood<'a> {
    fn new(smf: &'a Smf, first: u32) -> Flood<'a> {
        let (waiting, told, overtaken) = Default::default();
        let (answers, accepted, rejected, kept_back, debt, beats) = Default::default();
        Flood { smf, next: first, waiting, answers, accepted, rejected, told, kept_back, debt, heartbeat: None, beats, overtaken }
    }

    /// A session without UE address: of those there are as many as one likes.
    fn request(&self, sequence: u32) -> Vec<u8> {
        let choose = FTeid::Choose { ipv4: true, ipv6: false, choose_id: None };
        let pdi = vec![Ie::SourceInterface(0), Ie::FTeid(choose)];
        let removal = Ie::OuterHeaderRemoval(OuterHeaderRemoval { description: 0, extension_deletion: None });
        let to: Group = vec![Ie::DestinationInterface(1), Ie::NetworkInstance(codec::Name::Labels("internet".into()))];
        let ies = vec![
            Ie::NodeId(self.smf.node_id()),
            Ie::FSeid(self.smf.f_seid(sequence.into())),
            Ie::CreatePdr(vec![Ie::PdrId(1), Ie::Precedence(1), Ie::Pdi(pdi), Ie::FarId(1), removal]),
            Ie::CreateFar(vec![Ie::FarId(1), Ie::ApplyAction(ApplyActionFlags::FORW), Ie::ForwardingParameters(to)]),
        ];
        Message::session(MessageType::SessionEstablishmentRequest, 0, sequence, ies).encode().unwrap()
    }

    /// Has so many requests, and sends those that it is not to keep back.
    fn offer(&mut self, requests: usize) {
        for _ in 0..requests {
            self.debt += u32::from(self.told.last().copied().unwrap_or(0));
            if self.debt >= 100 {
                (self.debt, self.kept_back) = (self.debt - 100, self.kept_back + 1);
                continue;
            }
            self.send();
        }
    }

    fn send(&mut self) {
        let octets = self.request(self.next);
        self.smf.socket.send_to(&octets, self.smf.upf).unwrap();
        self.waiting.insert(self.next, octets);
        self.next += 1;
    }

    fn beat(&mut self) {
        if self.heartbeat.is_none() {
            let sequence = HEARTBEATS_FROM + self.beats as u32;
            let octets = Message::node(MessageType::HeartbeatRequest, sequence, vec![Ie::RecoveryTimeStamp(1)]).encode().unwrap();
            self.smf.socket.send_to(&octets, self.smf.upf).unwrap();
            self.heartbeat = Some((sequence, self.answers, self.waiting.len()));
        }
    }

    /// Takes all answers that are there, at least one unless none comes for a moment; how many of requests there were.
    fn take(&mut self) -> usize {
        let before = self.answers;
        let mut buffer = [0; 4096];
        for n in 0.. {
            self.smf.socket.set_nonblocking(n > 0).unwrap();
            let Ok(length) = self.smf.socket.recv(&mut buffer) else { break };
            self.note(&codec::decode(&buffer[..length]).unwrap());
        }
        self.smf.socket.set_nonblocking(false).unwrap();
        self.answers - before
    }

    fn note(&mut self, answer: &Message) {
        if answer.kind == MessageType::HeartbeatResponse {
            let Some((_, answers, waiting)) = self.heartbeat.take_if(|(sequence, ..)| *sequence == answer.sequence) else { return };
            self.beats += 1;
            self.overtaken.push((self.answers - answers, waiting));
            return;
        }
        for ie in &answer.ies {
            if let Ie::OverloadControlInformation(of) = ie {
                self.told.push(*find!(of, Metric).unwrap());
            }
        }
        if self.waiting.remove(&answer.sequence).is_none() {
            return;
        }
        self.answers += 1;
        match answer.cause() {
            Some(Cause::REQUEST_ACCEPTED) => self.accepted += 1,
            cause => {
                assert_eq!(cause, Some(Cause::CONGESTION), "{answer:?}");
                self.rejected += 1;
            }
        }
    }

    /// Waits for all answers; requests that the network or the UPF has dropped are sent again.
    fn settle(&mut self) {
        let end = Instant::now() + kept::PATIENCE;
        while !self.waiting.is_empty() || self.heartbeat.is_some() {
            if self.take() == 0 {
                let again: Vec<_> = self.waiting.values().take(BURST).cloned().collect();
                again.iter().for_each(|octets| _ = self.smf.socket.send_to(octets, self.smf.upf).unwrap());
                // So is the heartbeat.
                if self.heartbeat.take().is_some() {
                    self.beat();
                }
            }
            assert!(Instant::now() < end, "{} requests have no answer", self.waiting.len());
        }
    }
}

/// Fills the daemon's queue for as long as a condition says.
fn run(flood: &mut Flood<'_>, mut goes_on: impl FnMut(&Flood<'_>) -> bool) {
    let end = Instant::now() + kept::PATIENCE;
    flood.offer(BURST);
    while goes_on(flood) {
        assert!(Instant::now() < end, "{} accepted, {} rejected, told {:?}", flood.accepted, flood.rejected, flood.told);
        let answers = flood.take();
        flood.beat();
        flood.offer((answers * REQUESTS_AN_ANSWER).min(BURST));
        // Only an answer brings news.
        if flood.waiting.is_empty() {
            flood.send();
        }
    }
}

/// Requests that an SMF has which obeys: some thousands, so that the queue comes to rest where it keeps back what is too much.
const OFFERED: usize = 8000;
/// New sessions that are to be rejected of one that does not.
const REJECTED: usize = 200;

#[test]
fn an_smf_that_obeys_keeps_the_daemon_within_its_queue_and_another_one_is_rejected() {
    let _alone = ADDRESSES.lock();
    let mut smf = Smf::new();
    let daemon = daemon(Setup::on_loopback(smf.upf));
    let associate = |smf: &mut Smf, features: u8| {
        let setup = vec![Ie::NodeId(smf.node_id()), Ie::RecoveryTimeStamp(1), Ie::CpFunctionFeatures(vec![features])];
        smf.ask(MessageType::AssociationSetupRequest, None, 0, setup);
    };
    associate(&mut smf, OVRL);
    let mut obeys = Flood::new(&smf, 1000);
    run(&mut obeys, |flood| flood.accepted + flood.rejected + flood.kept_back + flood.waiting.len() < OFFERED);
    obeys.settle();
    let most = obeys.told.iter().max().copied();
    println!("obeys: {} accepted, {} kept back, told {most:?} % at most; {} heartbeats", obeys.accepted, obeys.kept_back, obeys.beats);
    assert_eq!(obeys.rejected, 0, "told {:?}", obeys.told);
    assert!(obeys.kept_back > 0 && most.is_some_and(|most| most >= 10), "told {:?}", obeys.told);
    let report = daemon.report();
    assert_eq!((report.n4["rejected"], report.n4["established"]), (0, obeys.accepted as u64));
    assert_eq!(report.n4.get("dropped_queue_full"), None);
    let next = obeys.next;
    until("it has nothing to do", || daemon.report().n4["overload_reduction_percent"] == 0);

    associate(&mut smf, 0);
    let mut ignores = Flood::new(&smf, next);
    let mut reduction = 0;
    run(&mut ignores, |flood| {
        reduction = reduction.max(daemon.report().n4["overload_reduction_percent"]);
        flood.rejected < REJECTED
    });
    ignores.settle();
    let report = daemon.report();
    println!("ignores: {} accepted, {} rejected, at {reduction} %; {} heartbeats", ignores.accepted, ignores.rejected, ignores.beats);
    assert!(ignores.told.is_empty(), "it does not know the feature: {:?}", ignores.told);
    assert!(reduction >= 80, "new sessions are rejected from 7/8 of the queue on: {reduction} %");
    // One whose answer did not reach us may have been asked for, and rejected, again.
    assert!(report.n4_rejected[&Cause::CONGESTION.text()] >= ignores.rejected as u64, "{:?}", report.n4_rejected);
    // Each was answered, those behind a long queue too, before much that had come before it.
    let behind: Vec<_> = ignores.overtaken.iter().filter(|(_, waiting)| *waiting >= 2000).collect();
    assert!(!behind.is_empty() && behind.iter().all(|(answered, waiting)| answered < waiting), "{:?}", ignores.overtaken);
    until("it has nothing to do", || daemon.report().n4["overload_reduction_percent"] == 0);
    smf.establish_all([None]);
}

#[test]
fn sessions_of_a_peer_that_is_lost_go_on_until_it_is_back() {
    let _alone = ADDRESSES.lock();
    let mut smf = Smf::new();
    let n4 = format!("listen = \"{}\"\nheartbeat_s = 1\nkeep_lost_s = 600", smf.upf);
    let mut daemon = daemon(Setup { n4, ..Setup::on_loopback(smf.upf) });
    let stamp = smf.associate();
    smf.establish_all([None; 3]);
    let gnb = UdpSocket::bind((loopback(23), 0)).unwrap();
    smf.carry(&gnb, 1, 0);
    smf.answers_heartbeats = false;
    until("it is lost", || {
        smf.receive();
        daemon.report().peers.iter().any(|peer| peer.lost)
    });
    let seid = smf.sessions[&1].seid;
    let before = daemon.session(seid).session.uplink.packets;
    smf.send_packets(&gnb, 1);
    until("packets pass", || daemon.session(seid).session.uplink.packets == before + 5);
    daemon.has_what_was_told(&smf);
    smf.answers_heartbeats = true;
    until("it is back", || {
        smf.receive();
        daemon.report().peers.iter().all(|peer| !peer.lost)
    });
    smf.all_is_there(stamp);
    // Those that were carried meanwhile are charged.
    smf.are_charged(1, 500);
    daemon.end();
}

#[test]
fn sessions_of_a_peer_that_stays_lost_end() {
    let _alone = ADDRESSES.lock();
    let mut smf = Smf::new();
    let n4 = format!("listen = \"{}\"\nheartbeat_s = 1\nkeep_lost_s = 1", smf.upf);
    let mut daemon = daemon(Setup { n4, ..Setup::on_loopback(smf.upf) });
    smf.associate();
    smf.establish_all([None; 3]);
    smf.answers_heartbeats = false;
    until("its sessions end", || {
        smf.receive();
        daemon.report().n4["sessions"] == 0
    });
    assert_eq!(daemon.report().n4["ended"], 3);
    // It may begin again.
    smf.answers_heartbeats = true;
    smf.sessions.clear();
    smf.associate();
    smf.establish_all([None; 254]);
    daemon.end();
}

#[test]
fn a_daemon_that_is_stopped_gives_peers_the_time_to_release_their_associations() {
    let _alone = ADDRESSES.lock();
    let mut smf = Smf::new();
    let n4 = format!("listen = \"{}\"\nheartbeat_s = 0\ngraceful_release_s = 600", smf.upf);
    let mut daemon = daemon(Setup { n4, ..Setup::on_loopback(smf.upf) });
    smf.associate();
    smf.establish_all([None; 3]);
    let gnb = UdpSocket::bind((loopback(23), 0)).unwrap();
    daemon.signal("-TERM");
    until("it asks for a release", || {
        smf.receive();
        !smf.asked.is_empty()
    });
    let asked = smf.asked.remove(0);
    assert_eq!(asked.kind, MessageType::AssociationUpdateRequest);
    assert_eq!(find!(asked.ies, PfcpAssociationReleaseRequest), Some(&1));
    assert!(find!(asked.ies, GracefulReleasePeriod).is_some());
    let accepted = vec![Ie::NodeId(smf.node_id()), Ie::Cause(Cause::REQUEST_ACCEPTED)];
    smf.answer(&asked, MessageType::AssociationUpdateResponse, accepted);
    // Sessions go on, until the SMF has ended them.
    smf.carry(&gnb, 1, 0);
    smf.delete_all();
    let release = vec![Ie::NodeId(smf.node_id())];
    smf.ask(MessageType::AssociationReleaseRequest, None, 0, release);
    assert_eq!(daemon.ended(), Some(0), "{}", daemon.log());
}

#[test]
fn an_smf_speaks_ipv6() {
    let _alone = ADDRESSES.lock();
    let own = || UdpSocket::bind((Ipv6Addr::LOCALHOST, 0)).unwrap();
    let upf = own().local_addr().unwrap();
    let n4 = format!("listen = \"{upf}\"\nheartbeat_s = 1");
    let mut daemon = daemon(Setup { n4, ..Setup::on_loopback(upf) });
    let mut smf = Smf::at(own(), upf, loopback(21));
    let stamp = smf.associate();
    smf.establish_all([None; 3]);
    smf.all_is_there(stamp);
    let gnb = UdpSocket::bind((loopback(23), 0)).unwrap();
    smf.carry(&gnb, 1, 0);
    let local = IpAddr::from(Ipv6Addr::LOCALHOST);
    assert!(daemon.report().peers.iter().all(|peer| peer.address.contains(&local.to_string())), "{:?}", daemon.report().peers);
    until("it asks whether we are there", || {
        smf.receive();
        daemon.report().n4_messages.get("HeartbeatResponse").is_some_and(|of| of.received > 0)
    });
    smf.delete_all();
    daemon.end();
}
